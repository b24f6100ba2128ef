//! Whether what documents build on is complete: each document is judged once, however many build on
//! it and however it is named.

use super::surroundings::{Around, Target, in_turn};
use super::{Project, Shelved, Spot};
use midstride_core::handoff::check::{CheckContext, PathAccess, ReferencedArtifact, check};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// How many documents are read for what a stage builds on. A pipeline of ours has five before its end.
const BUILDS_ON_MAX: usize = 8;

/// A document that waits for those that it builds on. They are walked without recursion: a chain may
/// be as long as there are documents.
struct Waiting {
    shelved: Shelved,
    upstream: Vec<Spot>,
    /// The lowest place in the line of the waiting that its judgement hangs on.
    lowest: usize,
    /// How many were found incomplete for now when it came.
    since: usize,
}

/// One walk up from a document.
struct Walk<'p> {
    project: &'p Project,
    waiting: Vec<Waiting>,
    places: HashMap<PathBuf, usize>,
    /// Documents that are incomplete if those are that still wait and that they build on in a circle;
    /// with the lowest place that they hang on.
    for_now: Vec<(PathBuf, ReferencedArtifact, usize)>,
}

impl Project {
    /// The handoffs that a document builds on, the nearest first: those that it names, then those
    /// that they name. A hook asks for them, so no other document is read to find one.
    pub fn builds_on(&self, shelved: &Shelved) -> Vec<Shelved> {
        let mut seen = HashSet::from([shelved.path.clone()]);
        let mut found: Vec<Shelved> = Vec::new();
        let mut next = self.named_upstream(shelved);
        let mut at = 0;
        while found.len() < BUILDS_ON_MAX {
            for spot in std::mem::take(&mut next) {
                if found.len() < BUILDS_ON_MAX && seen.insert(self.shown(&spot)) {
                    let read = self.read(&spot).ok();
                    found.extend(read.filter(|one| one.handoff(self).is_handoff()));
                }
            }
            let Some(one) = found.get(at) else { break };
            next = self.named_upstream(one);
            at += 1;
        }
        found
    }

    fn named_upstream(&self, shelved: &Shelved) -> Vec<Spot> {
        let around = Around::new(self, shelved);
        let dependencies = shelved.handoff(self).dependencies().upstream;
        let artifacts = dependencies.iter().filter_map(|dependency| dependency.artifact);
        artifacts.filter_map(|artifact| around.nearby(artifact.value.trim())).collect()
    }

    /// What a document is as an upstream, judged the first time somebody asks. Documents that build
    /// on each other are not complete: none of them can be the first.
    pub(super) fn as_upstream(&self, spot: &Spot) -> ReferencedArtifact {
        let path = self.shown(spot);
        if let Some(known) = self.known_artifact(&path) {
            return known;
        }
        let walk = Walk {
            project: self,
            waiting: Vec::new(),
            places: HashMap::new(),
            for_now: Vec::new(),
        };
        walk.up_from(spot);
        self.known_artifact(&path).unwrap_or(ReferencedArtifact::Missing)
    }
}

impl Walk<'_> {
    fn up_from(mut self, spot: &Spot) {
        self.visit(spot);
        while let Some(last) = self.waiting.last_mut() {
            match last.upstream.pop() {
                Some(spot) => self.visit(&spot),
                None => self.judge_last(),
            }
        }
    }

    /// Lets a document wait, unless it is known already what it is.
    fn visit(&mut self, spot: &Spot) {
        let path = self.project.shown(spot);
        if self.project.known_artifact(&path).is_some() {
            return;
        }
        let found = self.for_now.iter().find(|(known, _, _)| *known == path);
        let hangs_on = found.map(|(_, _, lowest)| *lowest);
        if let Some(place) = self.places.get(&path).copied().or(hangs_on) {
            return self.hang_on(place);
        }
        let Ok(shelved) = self.project.read(spot) else {
            return self.project.know_artifact(path, ReferencedArtifact::Missing);
        };
        if !shelved.handoff(self.project).is_handoff() {
            return self.project.know_artifact(path, ReferencedArtifact::Plain);
        }
        let around = Around::new(self.project, &shelved);
        let upstream = upstream(self.project, &shelved, &around);
        let (lowest, since) = (self.waiting.len(), self.for_now.len());
        self.places.insert(path, lowest);
        self.waiting.push(Waiting { shelved, upstream, lowest, since });
    }

    fn hang_on(&mut self, place: usize) {
        if let Some(last) = self.waiting.last_mut() {
            last.lowest = last.lowest.min(place);
        }
    }

    /// Judges the last of the waiting, whose upstream is known as far as it can be.
    fn judge_last(&mut self) {
        let Some(last) = self.waiting.pop() else { return };
        let handoff = last.shelved.handoff(self.project);
        let around = Around::new(self.project, &last.shelved);
        let seen = Seen { walk: self, around: &around };
        let verdict = check(&handoff, &self.project.settings.stages, None, &seen);
        let name = handoff.key().to_string();
        let path = last.shelved.path.clone();
        self.places.remove(&path);
        match verdict.incomplete_reason() {
            // Complete while those it hangs on were taken for incomplete: complete whatever they are.
            // Those that took it for incomplete are judged again when somebody asks.
            None => {
                self.for_now.truncate(last.since);
                self.project.know_artifact(path, ReferencedArtifact::Complete);
            }
            Some(why) => {
                self.for_now.push((
                    path,
                    ReferencedArtifact::Incomplete { name, why },
                    last.lowest,
                ));
                if last.lowest < self.waiting.len() {
                    self.hang_on(last.lowest);
                    return;
                }
                for (path, artifact, _) in self.for_now.drain(last.since..) {
                    self.project.know_artifact(path, artifact);
                }
            }
        }
    }

    fn found(&self, path: &Path) -> Option<ReferencedArtifact> {
        let for_now = || self.for_now.iter().find(|(known, _, _)| known == path);
        self.project.known_artifact(path).or_else(|| for_now().map(|(_, found, _)| found.clone()))
    }
}

/// The documents that a document builds on.
fn upstream(project: &Project, shelved: &Shelved, around: &Around<'_>) -> Vec<Spot> {
    let dependencies = shelved.handoff(project).dependencies().upstream;
    let artifacts = dependencies.iter().filter_map(|dependency| dependency.artifact);
    let targets = artifacts.map(|artifact| around.target(artifact.value.trim()));
    targets.filter_map(Target::into_document).collect()
}

/// The surroundings of a document on the walk: of what it builds on, what was found so far.
struct Seen<'w> {
    walk: &'w Walk<'w>,
    around: &'w Around<'w>,
}

impl CheckContext for Seen<'_> {
    fn artifact(&self, reference: &str) -> ReferencedArtifact {
        match self.around.target(reference) {
            Target::Plain => ReferencedArtifact::Plain,
            Target::Missing => ReferencedArtifact::Missing,
            Target::Document(spot) => {
                let path = self.walk.project.shown(&spot);
                self.walk.found(&path).unwrap_or_else(|| in_turn(&path))
            }
        }
    }

    fn has_handoff(&self, id: &str) -> bool {
        self.around.has_handoff(id)
    }

    fn source_hash(&self, path: &str) -> Option<String> {
        self.around.source_hash(path)
    }

    fn path_access(&self, path: &str) -> PathAccess {
        self.around.path_access(path)
    }
}
