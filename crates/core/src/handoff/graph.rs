//! The graph: how handoffs are connected, and what is wrong with it.
//!
//! Each document is read once, for what it tells ([`Facts`]); what its header refers to is asked of
//! whoever knows the files. The rest is found here: who names whom in the text, who cites the same
//! file, what turns in a circle, what leads nowhere and what stands alone.

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

/// A file that more handoffs than these cite says nothing about any two of them.
pub const SHARING_MAX: usize = 5;

/// How two handoffs are connected. Each is read as a sentence: `from` mentions `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// `from` is what `to` says that it builds on.
    Upstream,
    /// `from` is what `to` says that it leads to.
    Downstream,
    /// `from` took the place of `to`.
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

    /// Whether it says which of two came first.
    pub fn is_strong(self) -> bool {
        matches!(self, Self::Upstream | Self::Downstream | Self::Supersedes)
    }

    /// The word for it.
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
    /// Its key.
    pub key: HandoffKey,
    /// What it is called.
    pub title: Option<String>,
    /// Where its life stands; a note says nothing about that.
    pub status: Option<Status>,
    /// Its path, from the root of the project.
    pub path: String,
    /// Whether nothing at all connects it with another one.
    pub is_orphan: bool,
}

impl GraphNode {
    /// Whether there is nothing left to do; a note never ends.
    pub fn is_closed(&self) -> bool {
        self.status.is_some_and(|status| !status.is_open())
    }
}

/// A line of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReferenceLocation {
    /// Which document.
    pub node: usize,
    /// The line, from one.
    pub line: usize,
}

/// A connection; its ends are positions among the nodes.
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
    /// Where it is said; what two documents share is said in both.
    pub location: Option<ReferenceLocation>,
}

impl Edge {
    /// Its ends, the one that came first before the one that came of it; `None` where neither did.
    /// Whoever mentions another one learned from it.
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

/// What a reference leads to, for whoever knows the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferenceTarget {
    /// A document, by its path from the root of the project.
    Document(String),
    /// Something else that is there, or that nobody looks at.
    Artifact(String),
    /// Nothing.
    Missing,
    /// Any of these keys.
    Ambiguous(Vec<String>),
}

/// A reference that leads to no single thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DanglingReference {
    /// Where it is said.
    pub location: ReferenceLocation,
    /// As what.
    pub kind: EdgeKind,
    /// What is written there.
    pub written: String,
    /// What it may mean, where that is more than one.
    pub candidates: Vec<String>,
}

/// A file that so many cite that it connects nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hub {
    /// Its path as it is cited.
    pub file: String,
    /// Who cites it.
    pub cited_by: Vec<usize>,
}

/// Files that some handoffs cite, and no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedFiles {
    /// Their paths as they are cited.
    pub files: Vec<String>,
    /// Who cites all of them.
    pub cited_by: Vec<usize>,
}

/// Handoffs and what connects them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The handoffs, by key.
    pub nodes: Vec<GraphNode>,
    /// The connections, in the order of their ends.
    pub edges: Vec<Edge>,
    /// References that lead nowhere.
    pub dangling: Vec<DanglingReference>,
    /// Files that connect nobody, because so many cite them.
    pub hubs: Vec<Hub>,
}

impl Graph {
    /// Puts together what all documents tell. `lead` says what a reference leads to.
    pub fn build(
        mut facts: Vec<LinkFacts>,
        lead: impl Fn(&LinkFacts, &Reference) -> ReferenceTarget,
    ) -> Self {
        facts.sort_by(|a, b| (&a.key, &a.path).cmp(&(&b.key, &b.path)));
        let mut drawn = GraphBuilder::new(&facts);
        for (index, one) in facts.iter().enumerate() {
            drawn.add_references(index, one, &lead);
            drawn.add_mentions(index, one, &lead);
        }
        let hubs = drawn.add_shared_files(&facts);
        let GraphBuilder { edges, mut dangling, .. } = drawn;
        dangling.sort_by(|a, b| (a.location, &a.written).cmp(&(b.location, &b.written)));
        let edges: Vec<Edge> = edges.into_values().collect();
        let joined = connected_nodes(&edges);
        let nodes = facts.into_iter().enumerate().map(|(index, facts)| GraphNode {
            key: facts.key,
            title: facts.title,
            status: facts.status,
            path: facts.path,
            is_orphan: !joined.contains(&index),
        });
        Self { nodes: nodes.collect(), edges, dangling, hubs }
    }

    /// Files that connect handoffs: those that the same ones cite together.
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

    /// The nodes that no connection here leads to or away from.
    pub fn unconnected(&self) -> Vec<usize> {
        let joined = connected_nodes(&self.edges);
        (0..self.nodes.len()).filter(|node| !joined.contains(node)).collect()
    }
}

/// Everything at either end of an edge; an edge back to itself connects nobody.
fn connected_nodes(edges: &[Edge]) -> HashSet<usize> {
    let apart = edges.iter().filter(|edge| edge.from != edge.to);
    apart.flat_map(|edge| [edge.from, edge.to]).collect()
}

/// The graph while it is drawn.
struct GraphBuilder {
    names: HandoffNames,
    by_path: HashMap<String, usize>,
    by_suffix: SuffixIndex,
    folders: HashSet<String>,
    notes: HashSet<usize>,
    edges: BTreeMap<(usize, usize, EdgeKind), Edge>,
    dangling: Vec<DanglingReference>,
    /// What is built on or led to without being a handoff, and by whom.
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
        told: Option<ReferenceLocation>,
    ) {
        let new = || Edge { from, to, kind, details: Vec::new(), location: told };
        let edge = self.edges.entry((from, to, kind)).or_insert_with(new);
        if let Some(detail) = detail.filter(|detail| !edge.details.iter().any(|d| d == detail)) {
            edge.details.push(detail.to_owned());
        }
    }

    /// What the header refers to.
    fn add_references(
        &mut self,
        by: usize,
        facts: &LinkFacts,
        lead: &impl Fn(&LinkFacts, &Reference) -> ReferenceTarget,
    ) {
        for reference in &facts.references {
            let told = ReferenceLocation { node: by, line: reference.line };
            let candidates = match lead(facts, reference) {
                ReferenceTarget::Document(path) if self.by_path.contains_key(&path) => {
                    let (other, kind) = (self.by_path[&path], reference.kind);
                    let (from, to) = match reference.is_reversed {
                        true => (other, by),
                        false => (by, other),
                    };
                    self.add_edge(from, to, kind, reference.relationship.as_deref(), Some(told));
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
            self.dangling.push(DanglingReference { location: told, kind, written, candidates });
        }
    }

    /// What the text names.
    fn add_mentions(
        &mut self,
        by: usize,
        facts: &LinkFacts,
        lead: &impl Fn(&LinkFacts, &Reference) -> ReferenceTarget,
    ) {
        for word in &facts.candidates {
            let told = ReferenceLocation { node: by, line: word.line };
            if let Some(other) = self.find_named(facts, word) {
                if other != by {
                    self.add_edge(by, other, EdgeKind::Mentions, None, Some(told));
                }
                continue;
            }
            // A path into a folder of handoffs that is not there was one once, or was mistyped.
            let reference = Reference::from_candidate(word);
            if word.is_path()
                && word.text.contains('/')
                && self.folders.contains(parent_folder(&word.text))
                && lead(facts, &reference) == ReferenceTarget::Missing
            {
                let (kind, written) = (reference.kind, reference.written);
                self.dangling.push(DanglingReference {
                    location: told,
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
        // `README.md` may be any; `market-page-perf.md` is one.
        let by_ending = || match self.by_suffix.find(&word.text) {
            SuffixMatch::One(index) if word.text.contains('/') || word.is_distinctive() => {
                Some(index)
            }
            SuffixMatch::One(_) | SuffixMatch::None | SuffixMatch::Ambiguous => None,
        };
        exact.copied().or_else(by_ending)
    }

    /// Who cites the same file. Gives back the files that too many cite.
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

    /// Whether a cited file is one of the handoffs: then it is mentioned, not shared.
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
