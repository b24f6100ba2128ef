//! Checks whether the upstream documents of a handoff are complete. Each document is checked once,
//! regardless of how many depend on it and how they refer to it.

use super::Catalog;
use super::surroundings::{DocumentSurroundings, ResolvedReference, circular_artifact};
use crate::workspace::{DocumentPlace, StoredHandoff, Workspace};
use midstride_core::handoff::check::{CheckContext, PathAccess, ReferencedArtifact, check};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Maximum number of upstream documents to read for a stage. A built-in pipeline has five before
/// its end.
const UPSTREAM_MAX: usize = 8;

/// A document whose upstream documents are still being checked. The walk uses this explicit stack
/// instead of recursion, because a chain can be as long as there are documents.
struct UpstreamNode {
    stored: StoredHandoff,
    upstream: Vec<DocumentPlace>,
    /// The lowest stack position that its result depends on.
    lowest: usize,
    /// The number of provisional results when it was pushed.
    provisional_count: usize,
}

/// One walk upstream from a document.
struct UpstreamWalk<'c> {
    catalog: &'c Catalog<'c>,
    waiting: Vec<UpstreamNode>,
    places: HashMap<PathBuf, usize>,
    /// Documents that are incomplete if others on the stack are, because they form a cycle with
    /// them; each with the lowest stack position that it depends on.
    provisional: Vec<(PathBuf, ReferencedArtifact, usize)>,
}

impl Workspace {
    /// The upstream handoffs of a document, nearest first: those that it names, then those that
    /// they name. Hooks use this, so no other documents are read.
    pub(crate) fn upstream_handoffs(&self, stored: &StoredHandoff) -> Vec<StoredHandoff> {
        let catalog = Catalog::new(self);
        let mut seen = HashSet::from([stored.path.clone()]);
        let mut found: Vec<StoredHandoff> = Vec::new();
        let mut next = catalog.named_upstream_places(stored);
        let mut at = 0;
        while found.len() < UPSTREAM_MAX {
            for place in std::mem::take(&mut next) {
                if found.len() < UPSTREAM_MAX && seen.insert(self.display_path(&place)) {
                    let read = self.read(&place).ok();
                    found.extend(read.filter(|one| one.handoff(self).is_handoff()));
                }
            }
            let Some(one) = found.get(at) else { break };
            next = catalog.named_upstream_places(one);
            at += 1;
        }
        found
    }
}

impl Catalog<'_> {
    fn named_upstream_places(&self, stored: &StoredHandoff) -> Vec<DocumentPlace> {
        let context = DocumentSurroundings::new(self, stored);
        let dependencies = stored.handoff(self.workspace).dependencies().upstream;
        let artifacts = dependencies.iter().filter_map(|dependency| dependency.artifact);
        artifacts.filter_map(|artifact| context.find_nearby(artifact.value.trim())).collect()
    }

    /// The state of a document as an upstream, checked on first use. Documents that depend on each
    /// other are never complete, because none of them can be the first.
    pub(super) fn upstream_artifact(&self, place: &DocumentPlace) -> ReferencedArtifact {
        let path = self.workspace.display_path(place);
        if let Some(known) = self.known_artifact(&path) {
            return known;
        }
        let walk = UpstreamWalk {
            catalog: self,
            waiting: Vec::new(),
            places: HashMap::new(),
            provisional: Vec::new(),
        };
        walk.walk_from(place);
        self.known_artifact(&path).unwrap_or(ReferencedArtifact::Missing)
    }
}

impl UpstreamWalk<'_> {
    fn walk_from(mut self, place: &DocumentPlace) {
        self.visit(place);
        while let Some(last) = self.waiting.last_mut() {
            match last.upstream.pop() {
                Some(place) => self.visit(&place),
                None => self.check_last(),
            }
        }
    }

    /// Pushes a document onto the stack, unless its result is already known.
    fn visit(&mut self, document: &DocumentPlace) {
        let path = self.catalog.workspace.display_path(document);
        if self.catalog.known_artifact(&path).is_some() {
            return;
        }
        let found = self.provisional.iter().find(|(known, _, _)| *known == path);
        let depends_on = found.map(|(_, _, lowest)| *lowest);
        if let Some(place) = self.places.get(&path).copied().or(depends_on) {
            return self.depend_on(place);
        }
        let Ok(stored) = self.catalog.workspace.read(document) else {
            return self.catalog.remember_artifact(path, ReferencedArtifact::Missing);
        };
        if !stored.handoff(self.catalog.workspace).is_handoff() {
            return self.catalog.remember_artifact(path, ReferencedArtifact::Plain);
        }
        let context = DocumentSurroundings::new(self.catalog, &stored);
        let upstream = upstream_places(self.catalog.workspace, &stored, &context);
        let (lowest, since) = (self.waiting.len(), self.provisional.len());
        self.places.insert(path, lowest);
        self.waiting.push(UpstreamNode { stored, upstream, lowest, provisional_count: since });
    }

    fn depend_on(&mut self, place: usize) {
        if let Some(last) = self.waiting.last_mut() {
            last.lowest = last.lowest.min(place);
        }
    }

    /// Checks the document at the top of the stack. Its upstream is known as far as possible.
    fn check_last(&mut self) {
        let Some(last) = self.waiting.pop() else { return };
        let handoff = last.stored.handoff(self.catalog.workspace);
        let context = DocumentSurroundings::new(self.catalog, &last.stored);
        let seen = WalkSurroundings { walk: self, around: &context };
        let verdict = check(&handoff, &self.catalog.workspace.settings.stages, None, &seen);
        let name = handoff.key().to_string();
        let path = last.stored.path.clone();
        self.places.remove(&path);
        match verdict.incomplete_reason() {
            // It is complete although the documents it depends on were taken for incomplete, so it
            // is complete in any case. Drop the provisional results that took it for incomplete;
            // they are checked again on demand.
            None => {
                self.provisional.truncate(last.provisional_count);
                self.catalog.remember_artifact(path, ReferencedArtifact::Complete);
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
                    self.catalog.remember_artifact(path, artifact);
                }
            }
        }
    }

    fn known_result(&self, path: &Path) -> Option<ReferencedArtifact> {
        let provisional = || self.provisional.iter().find(|(known, _, _)| known == path);
        self.catalog
            .known_artifact(path)
            .or_else(|| provisional().map(|(_, found, _)| found.clone()))
    }
}

/// The upstream documents of a document.
fn upstream_places(
    workspace: &Workspace,
    stored: &StoredHandoff,
    context: &DocumentSurroundings<'_>,
) -> Vec<DocumentPlace> {
    let dependencies = stored.handoff(workspace).dependencies().upstream;
    let artifacts = dependencies.iter().filter_map(|dependency| dependency.artifact);
    let targets = artifacts.map(|artifact| context.target(artifact.value.trim()));
    targets.filter_map(ResolvedReference::into_document).collect()
}

/// The context of a document during the walk, with the results found so far.
struct WalkSurroundings<'w> {
    walk: &'w UpstreamWalk<'w>,
    around: &'w DocumentSurroundings<'w>,
}

impl CheckContext for WalkSurroundings<'_> {
    fn artifact(&self, reference: &str) -> ReferencedArtifact {
        match self.around.target(reference) {
            ResolvedReference::Plain => ReferencedArtifact::Plain,
            ResolvedReference::Missing => ReferencedArtifact::Missing,
            ResolvedReference::Document(place) => {
                let path = self.walk.catalog.workspace.display_path(&place);
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
