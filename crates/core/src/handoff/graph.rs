//! The graph: how handoffs are connected, and what is wrong with it.
//!
//! Each document is read once, for what it tells ([`Facts`]); what its header refers to is asked of
//! whoever knows the files. The rest is found here: who names whom in the text, who cites the same
//! file, what turns in a circle, what leads nowhere and what stands alone.

mod cycle;
mod facts;
mod forest;
mod part;
mod suffix;

pub use facts::{Facts, Reference, Word};
pub use forest::{Line, Seen};
pub use part::Part;

use crate::format::header::Status;
use crate::text::id::{HandoffKey, Names};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use suffix::{Found, Suffixes};

/// A file that more handoffs than these cite says nothing about any two of them.
pub const SHARING_MAX: usize = 5;

/// How two handoffs are connected. Each is read as a sentence: `from` mentions `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
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

impl Kind {
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
pub struct Node {
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

impl Node {
    /// Whether there is nothing left to do; a note never ends.
    pub fn is_ended(&self) -> bool {
        self.status.is_some_and(|status| !status.is_open())
    }
}

/// A line of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Told {
    /// Which document.
    pub by: usize,
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
    pub kind: Kind,
    /// The relationship as it is written, or the files that both cite.
    pub details: Vec<String>,
    /// Where it is said; what two documents share is said in both.
    pub told: Option<Told>,
}

impl Edge {
    /// Its ends, the one that came first before the one that came of it; `None` where neither did.
    /// Whoever mentions another one learned from it.
    pub fn flow(&self) -> Option<(usize, usize)> {
        match self.kind {
            Kind::Upstream => Some((self.from, self.to)),
            Kind::Downstream | Kind::Supersedes | Kind::Mentions => Some((self.to, self.from)),
            Kind::Shares => None,
        }
    }
}

/// What a reference leads to, for whoever knows the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lead {
    /// A document, by its path from the root of the project.
    Document(String),
    /// Something else that is there, or that nobody looks at.
    Artifact(String),
    /// Nothing.
    Missing,
    /// Any of these keys.
    Several(Vec<String>),
}

/// A reference that leads to no single thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dangling {
    /// Where it is said.
    pub told: Told,
    /// As what.
    pub kind: Kind,
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
pub struct Shared {
    /// Their paths as they are cited.
    pub files: Vec<String>,
    /// Who cites all of them.
    pub cited_by: Vec<usize>,
}

/// Handoffs and what connects them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The handoffs, by key.
    pub nodes: Vec<Node>,
    /// The connections, in the order of their ends.
    pub edges: Vec<Edge>,
    /// References that lead nowhere.
    pub dangling: Vec<Dangling>,
    /// Files that connect nobody, because so many cite them.
    pub hubs: Vec<Hub>,
}

impl Graph {
    /// Puts together what all documents tell. `lead` says what a reference leads to.
    pub fn of(mut facts: Vec<Facts>, lead: impl Fn(&Facts, &Reference) -> Lead) -> Self {
        facts.sort_by(|a, b| (&a.key, &a.path).cmp(&(&b.key, &b.path)));
        let mut drawn = Drawn::new(&facts);
        for (index, one) in facts.iter().enumerate() {
            drawn.refer(index, one, &lead);
            drawn.mention(index, one, &lead);
        }
        let hubs = drawn.share(&facts);
        let Drawn { edges, mut dangling, .. } = drawn;
        dangling.sort_by(|a, b| (a.told, &a.written).cmp(&(b.told, &b.written)));
        let edges: Vec<Edge> = edges.into_values().collect();
        let joined = joined(&edges);
        let nodes = facts.into_iter().enumerate().map(|(index, facts)| Node {
            key: facts.key,
            title: facts.title,
            status: facts.status,
            path: facts.path,
            is_orphan: !joined.contains(&index),
        });
        Self { nodes: nodes.collect(), edges, dangling, hubs }
    }

    /// Files that connect handoffs: those that the same ones cite together.
    pub fn shared(&self) -> Vec<Shared> {
        let mut by_file: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for edge in self.edges.iter().filter(|edge| edge.kind == Kind::Shares) {
            for file in &edge.details {
                by_file.entry(file).or_default().extend([edge.from, edge.to]);
            }
        }
        let mut together: BTreeMap<Vec<usize>, Vec<String>> = BTreeMap::new();
        for (file, cited_by) in by_file {
            together.entry(cited_by.into_iter().collect()).or_default().push(file.to_owned());
        }
        let shared = together.into_iter().map(|(cited_by, files)| Shared { files, cited_by });
        shared.collect()
    }

    /// The nodes that no connection here leads to or away from.
    pub fn unconnected(&self) -> Vec<usize> {
        let joined = joined(&self.edges);
        (0..self.nodes.len()).filter(|node| !joined.contains(node)).collect()
    }
}

/// Everything at either end of an edge; an edge back to itself connects nobody.
fn joined(edges: &[Edge]) -> HashSet<usize> {
    let apart = edges.iter().filter(|edge| edge.from != edge.to);
    apart.flat_map(|edge| [edge.from, edge.to]).collect()
}

/// The graph while it is drawn.
struct Drawn {
    names: Names,
    by_path: HashMap<String, usize>,
    by_ending: Suffixes,
    folders: HashSet<String>,
    notes: HashSet<usize>,
    edges: BTreeMap<(usize, usize, Kind), Edge>,
    dangling: Vec<Dangling>,
    /// What is built on or led to without being a handoff, and by whom.
    artifacts: Vec<(String, usize)>,
}

impl Drawn {
    fn new(facts: &[Facts]) -> Self {
        let mut by_ending = Suffixes::default();
        for (index, one) in facts.iter().enumerate() {
            by_ending.add(&one.path, index);
        }
        let by_path = facts.iter().enumerate().map(|(index, one)| (one.path.clone(), index));
        let notes = (0..facts.len()).filter(|index| facts[*index].status.is_none());
        Self {
            names: Names::of(facts.iter().map(|one| &one.key)),
            by_path: by_path.collect(),
            by_ending,
            folders: facts.iter().map(|one| folder(&one.path).to_owned()).collect(),
            notes: notes.collect(),
            edges: BTreeMap::new(),
            dangling: Vec::new(),
            artifacts: Vec::new(),
        }
    }

    fn draw(
        &mut self,
        from: usize,
        to: usize,
        kind: Kind,
        detail: Option<&str>,
        told: Option<Told>,
    ) {
        let new = || Edge { from, to, kind, details: Vec::new(), told };
        let edge = self.edges.entry((from, to, kind)).or_insert_with(new);
        if let Some(detail) = detail.filter(|detail| !edge.details.iter().any(|d| d == detail)) {
            edge.details.push(detail.to_owned());
        }
    }

    /// What the header refers to.
    fn refer(&mut self, by: usize, facts: &Facts, lead: &impl Fn(&Facts, &Reference) -> Lead) {
        for reference in &facts.references {
            let told = Told { by, line: reference.line };
            let candidates = match lead(facts, reference) {
                Lead::Document(path) if self.by_path.contains_key(&path) => {
                    let (other, kind) = (self.by_path[&path], reference.kind);
                    let (from, to) = match reference.is_about_the_other {
                        true => (other, by),
                        false => (by, other),
                    };
                    self.draw(from, to, kind, reference.relationship.as_deref(), Some(told));
                    continue;
                }
                Lead::Document(path) | Lead::Artifact(path) => {
                    self.artifacts.push((path, by));
                    continue;
                }
                Lead::Missing => Vec::new(),
                Lead::Several(keys) => keys,
            };
            let (kind, written) = (reference.kind, reference.written.clone());
            self.dangling.push(Dangling { told, kind, written, candidates });
        }
    }

    /// What the text names.
    fn mention(&mut self, by: usize, facts: &Facts, lead: &impl Fn(&Facts, &Reference) -> Lead) {
        for word in &facts.words {
            let told = Told { by, line: word.line };
            if let Some(other) = self.named(facts, word) {
                if other != by {
                    self.draw(by, other, Kind::Mentions, None, Some(told));
                }
                continue;
            }
            // A path into a folder of handoffs that is not there was one once, or was mistyped.
            let reference = Reference::mention(word);
            if word.is_path()
                && word.text.contains('/')
                && self.folders.contains(folder(&word.text))
                && lead(facts, &reference) == Lead::Missing
            {
                let (kind, written) = (reference.kind, reference.written);
                self.dangling.push(Dangling { told, kind, written, candidates: Vec::new() });
            }
        }
    }

    /// The handoff that a word names.
    fn named(&self, facts: &Facts, word: &Word) -> Option<usize> {
        if !word.is_path() {
            let found = self.names.find(&word.text)?;
            let is_meant = word.is_distinctive() || !self.notes.contains(&found);
            return Some(found).filter(|_| is_meant);
        }
        let beside = match folder(&facts.path) {
            "" => word.text.clone(),
            folder => format!("{folder}/{}", word.text),
        };
        let exact = self.by_path.get(&beside).or_else(|| self.by_path.get(&word.text));
        // `README.md` may be any; `market-page-perf.md` is one.
        let by_ending = || match self.by_ending.find(&word.text) {
            Found::One(index) if word.text.contains('/') || word.is_distinctive() => Some(index),
            Found::One(_) | Found::None | Found::Several => None,
        };
        exact.copied().or_else(by_ending)
    }

    /// Who cites the same file. Gives back the files that too many cite.
    fn share(&mut self, facts: &[Facts]) -> Vec<Hub> {
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
        for (file, cited_by) in suffix::as_one(&cited) {
            let cited_by: Vec<usize> = cited_by.into_iter().collect();
            if cited_by.len() > SHARING_MAX {
                hubs.push(Hub { file: file.to_owned(), cited_by });
                continue;
            }
            for (nth, one) in cited_by.iter().enumerate() {
                for other in &cited_by[nth + 1..] {
                    self.draw(*one, *other, Kind::Shares, Some(file), None);
                }
            }
        }
        hubs.sort_by_key(|hub| std::cmp::Reverse(hub.cited_by.len()));
        hubs
    }

    /// Whether a cited file is one of the handoffs: then it is mentioned, not shared.
    fn is_handoff(&self, facts: &Facts, file: &str) -> bool {
        let word = Word { text: file.to_owned(), line: 0, is_marked: true };
        word.is_path() && self.named(facts, &word).is_some()
    }
}

/// The folder of a path.
fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests;
