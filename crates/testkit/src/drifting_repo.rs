//! Generates a repository that drifts away from its documents, with the true status of every
//! citation.
//!
//! A seed determines everything: the files, the documents that cite them in every form, and then
//! moves, renames, edits, squashes and rebases. Every line and every file has an identity, and the
//! truth is derived from identities alone, never by comparing texts, because text comparison is
//! what the tests check.

mod cited;
mod document;
mod follow;
mod happening;
mod history;
mod random;
mod truth;
mod world;

pub use truth::Expected;

use crate::Sandbox;
use document::Paper;
use midstride::code::CodeState;
use midstride::store::Store;
use midstride_core::text::id::CommitId;
use random::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use world::Tree;

/// A repository generated from a seed.
pub struct DriftingRepo {
    sandbox: Sandbox,
    open: fn(&Path) -> Store,
    random: Random,
    /// The working tree.
    tree: Tree,
    /// The commits of the branch, oldest first.
    history: Vec<Commit>,
    /// The files of every commit that git still has.
    commits: BTreeMap<CommitId, Tree>,
    /// The texts that git still has.
    kept: BTreeSet<String>,
    papers: Vec<Paper>,
    /// The paths of the first commit.
    first_paths: BTreeSet<String>,
    /// The last identity that was assigned.
    last_id: u64,
    /// A log of what happened, for debugging failures.
    told: Vec<String>,
}

#[derive(Clone)]
struct Commit {
    id: CommitId,
    tree: Tree,
}

impl DriftingRepo {
    /// Generates a repository with documents and lets it drift. `open` opens the project in a
    /// folder.
    pub fn of(seed: u64, open: fn(&Path) -> Store) -> Self {
        let mut repo = Self {
            sandbox: Sandbox::new("midstride"),
            open,
            random: Random::of(seed),
            tree: Tree::new(),
            history: Vec::new(),
            commits: BTreeMap::new(),
            kept: BTreeSet::new(),
            papers: Vec::new(),
            first_paths: BTreeSet::new(),
            last_id: 0,
            told: Vec::new(),
        };
        repo.begin();
        repo.first_paths = repo.tree.keys().cloned().collect();
        repo.write_papers();
        let count = repo.random.between(4, 16);
        for _ in 0..count {
            repo.let_something_happen();
        }
        repo
    }

    /// The project in its current state.
    pub fn store(&self) -> Store {
        (self.open)(self.sandbox.root())
    }

    /// The expected status of every citation, against the working tree or the newest commit.
    pub fn expected(&self, at_head: bool) -> (CodeState, Vec<Expected>) {
        let head = self.history.last().expect("there is always a commit");
        let (ground, tree) = match at_head {
            true => (CodeState::Commit(head.id.clone()), &head.tree),
            false => (CodeState::WorkTree, &self.tree),
        };
        (ground, self.papers.iter().flat_map(|paper| self.truth_of(paper, tree)).collect())
    }

    /// What happened to the repository, one event per line.
    pub fn story(&self) -> String {
        self.told.join("\n")
    }

    fn tell(&mut self, what: impl Into<String>) {
        self.told.push(what.into());
    }

    fn new_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }
}
