//! The graph of handoffs: how they are connected, and which references are broken.
//!
//! Each document is read once into [`LinkFacts`]. The caller resolves the references in headers,
//! because it knows the files. This module finds the rest: mentions, shared files, cycles, dangling
//! references and orphans.

mod cycle;
mod facts;
mod forest;
mod subgraph;
mod suffix;

pub use facts::{LinkFacts, NameCandidate, Reference};
pub use forest::{LinePlacement, TreeLine};
pub use subgraph::SubgraphQuery;

use crate::format::header::Status;
use crate::text::id::{HandoffKey, HandoffNames};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use suffix::{SuffixIndex, SuffixMatch};

/// A file that more handoffs than this cite does not connect them.
const SHARING_MAX: usize = 5;

/// How two handoffs are connected. Each kind reads as a sentence: `from` mentions `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// `to` says that it builds on `from`.
    Upstream,
    /// `to` says that it leads to `from`.
    Downstream,
    /// `from` replaced `to`.
    Supersedes,
    /// The text of `from` names `to`.
    Mentions,
    /// Both cite the same file.
    Shares,
}

impl EdgeKind {
    /// Every kind, the strongest first.
    pub const ALL: [Self; 5] =
        [Self::Upstream, Self::Downstream, Self::Supersedes, Self::Mentions, Self::Shares];

    /// Whether it says which of the two came first.
    pub fn is_strong(self) -> bool {
        matches!(self, Self::Upstream | Self::Downstream | Self::Supersedes)
    }

    /// The word for this kind.
    pub fn word(self) -> &'static str {
        match self {
            Self::Upstream => "upstream",
            Self::Downstream => "downstream",
            Self::Supersedes => "supersedes",
            Self::Mentions => "mentions",
            Self::Shares => "shares",
        }
    }
}

/// A handoff in the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// The handoff's key.
    pub key: HandoffKey,
    /// The title, or the summary if it has no title.
    pub title: Option<String>,
    /// The status; `None` for a note.
    pub status: Option<Status>,
    /// The path, relative to the project root.
    pub path: String,
    /// Whether nothing connects it with another handoff.
    pub is_orphan: bool,
}

impl GraphNode {
    /// Whether it is closed. A note is never closed.
    pub fn is_closed(&self) -> bool {
        self.status.is_some_and(|status| !status.is_open())
    }
}

/// The line of a document that contains a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReferenceLocation {
    /// The index of the document's node.
    pub node: usize,
    /// The line, counted from one.
    pub line: usize,
}

/// A connection between two nodes, given by their indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The subject of the sentence.
    pub from: usize,
    /// The object of the sentence.
    pub to: usize,
    /// How they are connected.
    pub kind: EdgeKind,
    /// The relationship as it is written, or the files that both cite.
    pub details: Vec<String>,
    /// Where the document says so; `None` for shared files, which both documents cite.
    pub location: Option<ReferenceLocation>,
}

impl Edge {
    /// The two ends, earlier handoff first; `None` if the edge has no order. A handoff that
    /// mentions another came after it.
    pub fn flow(&self) -> Option<(usize, usize)> {
        match self.kind {
            EdgeKind::Upstream => Some((self.from, self.to)),
            EdgeKind::Downstream | EdgeKind::Supersedes | EdgeKind::Mentions => {
                Some((self.to, self.from))
            }
            EdgeKind::Shares => None,
        }
    }
}

/// What a reference resolves to, as reported by the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferenceTarget {
    /// A document, by its path relative to the project root.
    Document(String),
    /// Something else that exists or is not checked.
    Artifact(String),
    /// Nothing.
    Missing,
    /// Several handoffs, by their keys.
    Ambiguous(Vec<String>),
}

/// A reference that resolves to nothing or to several handoffs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DanglingReference {
    /// Where the reference is.
    pub location: ReferenceLocation,
    /// The kind of reference.
    pub kind: EdgeKind,
    /// The reference as written.
    pub written: String,
    /// The possible targets, if there is more than one.
    pub candidates: Vec<String>,
}

/// A file that too many handoffs cite to connect them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hub {
    /// The path as cited.
    pub file: String,
    /// The handoffs that cite it.
    pub cited_by: Vec<usize>,
}

/// Files that exactly these handoffs cite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedFiles {
    /// The paths as cited.
    pub files: Vec<String>,
    /// The handoffs that cite all of them.
    pub cited_by: Vec<usize>,
}

/// All handoffs and the connections between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The handoffs, sorted by key.
    pub nodes: Vec<GraphNode>,
    /// The connections, sorted by their ends.
    pub edges: Vec<Edge>,
    /// References that do not resolve to one target.
    pub dangling: Vec<DanglingReference>,
    /// Files that too many handoffs cite to connect them.
    pub hubs: Vec<Hub>,
}

impl Graph {
    /// Builds the graph from the facts of all documents. `resolve` returns the target of a
    /// reference.
    pub fn build(
        mut facts: Vec<LinkFacts>,
        resolve: impl Fn(&LinkFacts, &Reference) -> ReferenceTarget,
    ) -> Self {
        facts.sort_by(|a, b| (&a.key, &a.path).cmp(&(&b.key, &b.path)));
        let mut builder = GraphBuilder::new(&facts);
        for (index, one) in facts.iter().enumerate() {
            builder.add_references(index, one, &resolve);
            builder.add_mentions(index, one, &resolve);
        }
        let hubs = builder.add_shared_files(&facts);
        let GraphBuilder { edges, mut dangling, .. } = builder;
        dangling.sort_by(|a, b| (a.location, &a.written).cmp(&(b.location, &b.written)));
        let edges: Vec<Edge> = edges.into_values().collect();
        let connected = connected_nodes(&edges);
        let nodes = facts.into_iter().enumerate().map(|(index, facts)| GraphNode {
            key: facts.key,
            title: facts.title,
            status: facts.status,
            path: facts.path,
            is_orphan: !connected.contains(&index),
        });
        Self { nodes: nodes.collect(), edges, dangling, hubs }
    }

    /// The files that connect handoffs, grouped by the handoffs that cite them.
    pub fn shared_files(&self) -> Vec<SharedFiles> {
        let mut by_file: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for edge in self.edges.iter().filter(|edge| edge.kind == EdgeKind::Shares) {
            for file in &edge.details {
                by_file.entry(file).or_default().extend([edge.from, edge.to]);
            }
        }
        let mut together: BTreeMap<Vec<usize>, Vec<String>> = BTreeMap::new();
        for (file, cited_by) in by_file {
            together.entry(cited_by.into_iter().collect()).or_default().push(file.to_owned());
        }
        let shared = together.into_iter().map(|(cited_by, files)| SharedFiles { files, cited_by });
        shared.collect()
    }

    /// The nodes without an edge in this graph.
    pub fn unconnected(&self) -> Vec<usize> {
        let connected = connected_nodes(&self.edges);
        (0..self.nodes.len()).filter(|node| !connected.contains(node)).collect()
    }
}

/// All nodes with an edge to another node. Edges to itself do not count.
fn connected_nodes(edges: &[Edge]) -> HashSet<usize> {
    let apart = edges.iter().filter(|edge| edge.from != edge.to);
    apart.flat_map(|edge| [edge.from, edge.to]).collect()
}

/// The graph under construction.
struct GraphBuilder {
    names: HandoffNames,
    by_path: HashMap<String, usize>,
    by_suffix: SuffixIndex,
    folders: HashSet<String>,
    notes: HashSet<usize>,
    edges: BTreeMap<(usize, usize, EdgeKind), Edge>,
    dangling: Vec<DanglingReference>,
    /// Artifacts that are not handoffs, each with the node that refers to it.
    artifacts: Vec<(String, usize)>,
}

impl GraphBuilder {
    fn new(facts: &[LinkFacts]) -> Self {
        let mut by_suffix = SuffixIndex::default();
        for (index, one) in facts.iter().enumerate() {
            by_suffix.add(&one.path, index);
        }
        let by_path = facts.iter().enumerate().map(|(index, one)| (one.path.clone(), index));
        let notes = (0..facts.len()).filter(|index| facts[*index].status.is_none());
        Self {
            names: HandoffNames::new(facts.iter().map(|one| &one.key)),
            by_path: by_path.collect(),
            by_suffix,
            folders: facts.iter().map(|one| parent_folder(&one.path).to_owned()).collect(),
            notes: notes.collect(),
            edges: BTreeMap::new(),
            dangling: Vec::new(),
            artifacts: Vec::new(),
        }
    }

    fn add_edge(
        &mut self,
        from: usize,
        to: usize,
        kind: EdgeKind,
        detail: Option<&str>,
        location: Option<ReferenceLocation>,
    ) {
        let new = || Edge { from, to, kind, details: Vec::new(), location };
        let edge = self.edges.entry((from, to, kind)).or_insert_with(new);
        if let Some(detail) = detail.filter(|detail| !edge.details.iter().any(|d| d == detail)) {
            edge.details.push(detail.to_owned());
        }
    }

    /// Adds the references in the header.
    fn add_references(
        &mut self,
        by: usize,
        facts: &LinkFacts,
        resolve: &impl Fn(&LinkFacts, &Reference) -> ReferenceTarget,
    ) {
        for reference in &facts.references {
            let location = ReferenceLocation { node: by, line: reference.line };
            let candidates = match resolve(facts, reference) {
                ReferenceTarget::Document(path) if self.by_path.contains_key(&path) => {
                    let (other, kind) = (self.by_path[&path], reference.kind);
                    let (from, to) = match reference.is_reversed {
                        true => (other, by),
                        false => (by, other),
                    };
                    self.add_edge(
                        from,
                        to,
                        kind,
                        reference.relationship.as_deref(),
                        Some(location),
                    );
                    continue;
                }
                ReferenceTarget::Document(path) | ReferenceTarget::Artifact(path) => {
                    self.artifacts.push((path, by));
                    continue;
                }
                ReferenceTarget::Missing => Vec::new(),
                ReferenceTarget::Ambiguous(keys) => keys,
            };
            let (kind, written) = (reference.kind, reference.written.clone());
            self.dangling.push(DanglingReference { location, kind, written, candidates });
        }
    }

    /// Adds the handoffs that the text mentions.
    fn add_mentions(
        &mut self,
        by: usize,
        facts: &LinkFacts,
        resolve: &impl Fn(&LinkFacts, &Reference) -> ReferenceTarget,
    ) {
        for word in &facts.candidates {
            let location = ReferenceLocation { node: by, line: word.line };
            if let Some(other) = self.find_named(facts, word) {
                if other != by {
                    self.add_edge(by, other, EdgeKind::Mentions, None, Some(location));
                }
                continue;
            }
            // A missing path in a folder with handoffs is probably a deleted handoff or a typo.
            let reference = Reference::from_candidate(word);
            if word.is_path()
                && word.text.contains('/')
                && self.folders.contains(parent_folder(&word.text))
                && resolve(facts, &reference) == ReferenceTarget::Missing
            {
                let (kind, written) = (reference.kind, reference.written);
                self.dangling.push(DanglingReference {
                    location,
                    kind,
                    written,
                    candidates: Vec::new(),
                });
            }
        }
    }

    /// The handoff that a word names.
    fn find_named(&self, facts: &LinkFacts, word: &NameCandidate) -> Option<usize> {
        if !word.is_path() {
            let found = self.names.find(&word.text)?;
            let is_meant = word.is_distinctive() || !self.notes.contains(&found);
            return Some(found).filter(|_| is_meant);
        }
        let beside = match parent_folder(&facts.path) {
            "" => word.text.clone(),
            folder => format!("{folder}/{}", word.text),
        };
        let exact = self.by_path.get(&beside).or_else(|| self.by_path.get(&word.text));
        // `README.md` is ambiguous; `market-page-perf.md` names one file.
        let by_ending = || match self.by_suffix.find(&word.text) {
            SuffixMatch::One(index) if word.text.contains('/') || word.is_distinctive() => {
                Some(index)
            }
            SuffixMatch::One(_) | SuffixMatch::None | SuffixMatch::Ambiguous => None,
        };
        exact.copied().or_else(by_ending)
    }

    /// Adds edges between handoffs that cite the same file. Returns the files that too many cite.
    fn add_shared_files(&mut self, facts: &[LinkFacts]) -> Vec<Hub> {
        let mut cited: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (index, one) in facts.iter().enumerate() {
            for file in one.files.iter().filter(|file| !self.is_handoff(one, file)) {
                cited.entry(file).or_default().insert(index);
            }
        }
        let artifacts = std::mem::take(&mut self.artifacts);
        for (artifact, by) in &artifacts {
            cited.entry(artifact).or_default().insert(*by);
        }
        let mut hubs = Vec::new();
        for (file, cited_by) in suffix::merge_suffixes(&cited) {
            let cited_by: Vec<usize> = cited_by.into_iter().collect();
            if cited_by.len() > SHARING_MAX {
                hubs.push(Hub { file: file.to_owned(), cited_by });
                continue;
            }
            for (nth, one) in cited_by.iter().enumerate() {
                for other in &cited_by[nth + 1..] {
                    self.add_edge(*one, *other, EdgeKind::Shares, Some(file), None);
                }
            }
        }
        hubs.sort_by_key(|hub| std::cmp::Reverse(hub.cited_by.len()));
        hubs
    }

    /// Whether a cited file is a handoff. That is a mention, not a shared file.
    fn is_handoff(&self, facts: &LinkFacts, file: &str) -> bool {
        let word = NameCandidate { text: file.to_owned(), line: 0, is_backquoted: true };
        word.is_path() && self.find_named(facts, &word).is_some()
    }
}

/// The folder of a path.
fn parent_folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests;
