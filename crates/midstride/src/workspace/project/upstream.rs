//! Whether what documents build on is complete: each document is judged once, however many build on
//! it and however it is named.

use super::surroundings::{DocumentSurroundings, ResolvedReference, circular_artifact};
use super::{DocumentPlace, Project, StoredHandoff};
use midstride_core::handoff::check::{CheckContext, PathAccess, ReferencedArtifact, check};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// How many documents are read for what a stage builds on. A pipeline of ours has five before its end.
const UPSTREAM_MAX: usize = 8;

/// A document that waits for those that it builds on. They are walked without recursion: a chain may
/// be as long as there are documents.
struct UpstreamNode {
    shelved: StoredHandoff,
    upstream: Vec<DocumentPlace>,
    /// The lowest place in the line of the waiting that its judgement hangs on.
    lowest: usize,
    /// How many were found incomplete for now when it came.
    provisional_count: usize,
}

/// One walk up from a document.
struct UpstreamWalk<'p> {
    project: &'p Project,
    waiting: Vec<UpstreamNode>,
    places: HashMap<PathBuf, usize>,
    /// Documents that are incomplete if those are that still wait and that they build on in a circle;
    /// with the lowest place that they hang on.
    provisional: Vec<(PathBuf, ReferencedArtifact, usize)>,
}

impl Project {
    /// The handoffs that a document builds on, the nearest first: those that it names, then those
    /// that they name. A hook asks for them, so no other document is read to find one.
    pub fn upstream_handoffs(&self, shelved: &StoredHandoff) -> Vec<StoredHandoff> {
        let mut seen = HashSet::from([shelved.path.clone()]);
        let mut found: Vec<StoredHandoff> = Vec::new();
        let mut next = self.named_upstream_places(shelved);
        let mut at = 0;
        while found.len() < UPSTREAM_MAX {
            for spot in std::mem::take(&mut next) {
                if found.len() < UPSTREAM_MAX && seen.insert(self.display_path(&spot)) {
                    let read = self.read(&spot).ok();
                    found.extend(read.filter(|one| one.handoff(self).is_handoff()));
                }
            }
            let Some(one) = found.get(at) else { break };
            next = self.named_upstream_places(one);
            at += 1;
        }
        found
    }

    fn named_upstream_places(&self, shelved: &StoredHandoff) -> Vec<DocumentPlace> {
        let around = DocumentSurroundings::new(self, shelved);
        let dependencies = shelved.handoff(self).dependencies().upstream;
        let artifacts = dependencies.iter().filter_map(|dependency| dependency.artifact);
        artifacts.filter_map(|artifact| around.find_nearby(artifact.value.trim())).collect()
    }

    /// What a document is as an upstream, judged the first time somebody asks. Documents that build
    /// on each other are not complete: none of them can be the first.
    pub(super) fn upstream_artifact(&self, spot: &DocumentPlace) -> ReferencedArtifact {
        let path = self.display_path(spot);
        if let Some(known) = self.known_artifact(&path) {
            return known;
        }
        let walk = UpstreamWalk {
            project: self,
            waiting: Vec::new(),
            places: HashMap::new(),
            provisional: Vec::new(),
        };
        walk.walk_from(spot);
        self.known_artifact(&path).unwrap_or(ReferencedArtifact::Missing)
    }
}

impl UpstreamWalk<'_> {
    fn walk_from(mut self, spot: &DocumentPlace) {
        self.visit(spot);
        while let Some(last) = self.waiting.last_mut() {
            match last.upstream.pop() {
                Some(spot) => self.visit(&spot),
                None => self.check_last(),
            }
        }
    }

    /// Lets a document wait, unless it is known already what it is.
    fn visit(&mut self, spot: &DocumentPlace) {
        let path = self.project.display_path(spot);
        if self.project.known_artifact(&path).is_some() {
            return;
        }
        let found = self.provisional.iter().find(|(known, _, _)| *known == path);
        let hangs_on = found.map(|(_, _, lowest)| *lowest);
        if let Some(place) = self.places.get(&path).copied().or(hangs_on) {
            return self.depend_on(place);
        }
        let Ok(shelved) = self.project.read(spot) else {
            return self.project.remember_artifact(path, ReferencedArtifact::Missing);
        };
        if !shelved.handoff(self.project).is_handoff() {
            return self.project.remember_artifact(path, ReferencedArtifact::Plain);
        }
        let around = DocumentSurroundings::new(self.project, &shelved);
        let upstream = upstream_places(self.project, &shelved, &around);
        let (lowest, since) = (self.waiting.len(), self.provisional.len());
        self.places.insert(path, lowest);
        self.waiting.push(UpstreamNode { shelved, upstream, lowest, provisional_count: since });
    }

    fn depend_on(&mut self, place: usize) {
        if let Some(last) = self.waiting.last_mut() {
            last.lowest = last.lowest.min(place);
        }
    }

    /// Judges the last of the waiting, whose upstream is known as far as it can be.
    fn check_last(&mut self) {
        let Some(last) = self.waiting.pop() else { return };
        let handoff = last.shelved.handoff(self.project);
        let around = DocumentSurroundings::new(self.project, &last.shelved);
        let seen = WalkSurroundings { walk: self, around: &around };
        let verdict = check(&handoff, &self.project.settings.stages, None, &seen);
        let name = handoff.key().to_string();
        let path = last.shelved.path.clone();
        self.places.remove(&path);
        match verdict.incomplete_reason() {
            // Complete while those it hangs on were taken for incomplete: complete whatever they are.
            // Those that took it for incomplete are judged again when somebody asks.
            None => {
                self.provisional.truncate(last.provisional_count);
                self.project.remember_artifact(path, ReferencedArtifact::Complete);
            }
            Some(why) => {
                self.provisional.push((
                    path,
                    ReferencedArtifact::Incomplete { name, why },
                    last.lowest,
                ));
                if last.lowest < self.waiting.len() {
                    self.depend_on(last.lowest);
                    return;
                }
                for (path, artifact, _) in self.provisional.drain(last.provisional_count..) {
                    self.project.remember_artifact(path, artifact);
                }
            }
        }
    }

    fn known_result(&self, path: &Path) -> Option<ReferencedArtifact> {
        let for_now = || self.provisional.iter().find(|(known, _, _)| known == path);
        self.project.known_artifact(path).or_else(|| for_now().map(|(_, found, _)| found.clone()))
    }
}

/// The documents that a document builds on.
fn upstream_places(
    project: &Project,
    shelved: &StoredHandoff,
    around: &DocumentSurroundings<'_>,
) -> Vec<DocumentPlace> {
    let dependencies = shelved.handoff(project).dependencies().upstream;
    let artifacts = dependencies.iter().filter_map(|dependency| dependency.artifact);
    let targets = artifacts.map(|artifact| around.target(artifact.value.trim()));
    targets.filter_map(ResolvedReference::into_document).collect()
}

/// The surroundings of a document on the walk: of what it builds on, what was found so far.
struct WalkSurroundings<'w> {
    walk: &'w UpstreamWalk<'w>,
    around: &'w DocumentSurroundings<'w>,
}

impl CheckContext for WalkSurroundings<'_> {
    fn artifact(&self, reference: &str) -> ReferencedArtifact {
        match self.around.target(reference) {
            ResolvedReference::Plain => ReferencedArtifact::Plain,
            ResolvedReference::Missing => ReferencedArtifact::Missing,
            ResolvedReference::Document(spot) => {
                let path = self.walk.project.display_path(&spot);
                self.walk.known_result(&path).unwrap_or_else(|| circular_artifact(&path))
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
