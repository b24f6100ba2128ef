//! A repository that drifts away from its documents, and what is true about it.
//!
//! One number makes all of it: files, documents that cite them in every form, and then moves,
//! renames, edits, squashes and rebases. Every line and every file has an identity here, and the
//! truth is told by identities alone; nothing is compared, so that no comparison is trusted.

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
use midstride::code::drift::CodeState;
use midstride::workspace::project::Project;
use random::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use world::Tree;

/// A repository made from a number.
pub struct DriftingRepo {
    sandbox: Sandbox,
    open: fn(&Path) -> Project,
    random: Random,
    /// The working tree.
    tree: Tree,
    /// The commits of the branch, oldest first.
    history: Vec<Commit>,
    /// The files of every commit that was ever made and is still here.
    commits: BTreeMap<String, Tree>,
    /// Texts that git still has.
    kept: BTreeSet<String>,
    papers: Vec<Paper>,
    /// The paths of the first commit.
    first_paths: BTreeSet<String>,
    /// The last identity that was given away.
    last_id: u64,
    /// What happened, for whoever looks into a failure.
    told: Vec<String>,
}

#[derive(Clone)]
struct Commit {
    id: String,
    tree: Tree,
}

impl DriftingRepo {
    /// Makes a repository, its documents, and lets it drift. `open` gives the project in a folder.
    pub fn of(seed: u64, open: fn(&Path) -> Project) -> Self {
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

    /// The project as it is now.
    pub fn project(&self) -> Project {
        (self.open)(self.sandbox.root())
    }

    /// What is true about every citation, against the working tree or against the newest commit.
    pub fn expected(&self, at_head: bool) -> (CodeState, Vec<Expected>) {
        let head = self.history.last().expect("there is always a commit");
        let (ground, tree) = match at_head {
            true => (CodeState::Commit(head.id.clone()), &head.tree),
            false => (CodeState::WorkTree, &self.tree),
        };
        (ground, self.papers.iter().flat_map(|paper| self.truth_of(paper, tree)).collect())
    }

    /// What happened to it, a line each.
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
