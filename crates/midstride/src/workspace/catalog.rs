//! The handoffs of a project at one moment: their keys, and which of them are complete. Checks and
//! references between documents are answered from it.

mod surroundings;
mod upstream;

use super::{DocumentPlace, StoredHandoff, Workspace};
use crate::sys::files::FileError;
use midstride_core::format::document::Document;
use midstride_core::handoff::check::{self, CheckFindings, ReferencedArtifact};
use midstride_core::handoff::graph::ReferenceTarget;
use midstride_core::handoff::{Handoff, Location};
use midstride_core::text::id::{HandoffKey, HandoffNames};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use surroundings::DocumentSurroundings;

/// The handoffs of a project at one moment. Reads documents on first use and each one once, so it
/// does not see what is written afterwards.
#[derive(Debug)]
pub struct Catalog<'w> {
    workspace: &'w Workspace,
    keys: OnceLock<CatalogKeys>,
    /// What is known about documents as upstream of others, by path.
    artifacts: Mutex<HashMap<PathBuf, ReferencedArtifact>>,
}

/// The keys of all documents and their places.
#[derive(Debug)]
struct CatalogKeys {
    entries: Vec<(HandoffKey, DocumentPlace)>,
    names: HandoffNames,
}

impl CatalogKeys {
    fn new(entries: Vec<(HandoffKey, DocumentPlace)>) -> Self {
        let names = HandoffNames::new(entries.iter().map(|(key, _)| key));
        Self { entries, names }
    }
}

impl<'w> Catalog<'w> {
    /// An empty catalog, filled on first use.
    pub fn new(workspace: &'w Workspace) -> Self {
        Self { workspace, keys: OnceLock::new(), artifacts: Mutex::default() }
    }

    fn keys(&self) -> &CatalogKeys {
        self.keys.get_or_init(|| {
            let entry = |stored: StoredHandoff| self.entry(&stored);
            let read = self.workspace.map_all(entry);
            CatalogKeys::new(read.into_iter().filter_map(Result::ok).collect())
        })
    }

    fn entry(&self, stored: &StoredHandoff) -> (HandoffKey, DocumentPlace) {
        (stored.handoff(self.workspace).key(), stored.document_place())
    }

    /// Reads all documents and maps each one. Collects their keys on the way, so that later lookups
    /// by name do not read them again.
    pub(crate) fn map_all<T: Send>(
        &self,
        each: impl Fn(StoredHandoff) -> T + Sync,
    ) -> Vec<Result<(DocumentPlace, T), FileError>> {
        let mut entries = Vec::new();
        let read = self.workspace.map_all(|stored| (self.entry(&stored), each(stored)));
        let done = read.into_iter().map(|result| {
            result.map(|(entry, done)| {
                let place = entry.1.clone();
                entries.push(entry);
                (place, done)
            })
        });
        let done = done.collect();
        self.keys.get_or_init(|| CatalogKeys::new(entries));
        done
    }

    /// The place of the handoff with this key, or with this id if only one has it.
    pub(super) fn find(&self, name: &str) -> Option<&DocumentPlace> {
        let keys = self.keys();
        keys.names.find(name).map(|index| &keys.entries[index].1)
    }

    /// The keys of all handoffs with this id.
    fn keys_of_id(&self, id: &str) -> impl Iterator<Item = &HandoffKey> {
        let keys = self.keys();
        keys.names.all_with_id(id).iter().map(|index| &keys.entries[*index].0)
    }

    fn known_artifact(&self, path: &Path) -> Option<ReferencedArtifact> {
        self.known_artifacts().get(path).cloned()
    }

    fn remember_artifact(&self, path: PathBuf, artifact: ReferencedArtifact) {
        self.known_artifacts().insert(path, artifact);
    }

    fn known_artifacts(&self) -> MutexGuard<'_, HashMap<PathBuf, ReferencedArtifact>> {
        self.artifacts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks a document in its context.
    pub fn check(&self, stored: &StoredHandoff) -> CheckFindings {
        let (context, workspace) = (DocumentSurroundings::new(self, stored), self.workspace);
        let (handoff, stages) = (stored.handoff(workspace), &workspace.settings.stages);
        check::check(&handoff, stages, stored.place_key.as_ref(), &context)
    }

    /// Checks a document that is not stored yet.
    pub(crate) fn check_text(&self, document: &Document) -> CheckFindings {
        let (context, location) = (DocumentSurroundings::for_root(self), Location::default());
        let stages = &self.workspace.settings.stages;
        check::check(&Handoff::new(document, &location, stages), stages, None, &context)
    }

    /// Checks the description of a pull request.
    pub fn check_pull_request(&self, document: &Document) -> CheckFindings {
        check::check_pull_request(document, &DocumentSurroundings::for_root(self))
    }

    /// What a reference in the document at a place leads to, resolved as in a check.
    pub(crate) fn resolve_reference(
        &self,
        place: &DocumentPlace,
        reference: &str,
    ) -> ReferenceTarget {
        DocumentSurroundings::for_place(self, place).resolve(reference)
    }

    /// The document that a reference in the document at a place leads to. Reads no document.
    pub(crate) fn find_nearby(
        &self,
        place: &DocumentPlace,
        reference: &str,
    ) -> Option<DocumentPlace> {
        DocumentSurroundings::for_place(self, place).find_nearby(reference)
    }

    /// The design that a piece of work implements: its upstream design document, or else the
    /// document itself.
    pub fn design_of(&self, stored: &StoredHandoff) -> PathBuf {
        let context = DocumentSurroundings::new(self, stored);
        let handoff = stored.handoff(self.workspace);
        let upstream = handoff.dependencies().upstream;
        let artifacts = upstream.iter().filter_map(|dependency| dependency.artifact);
        let mut found = artifacts.filter_map(|artifact| context.find(artifact.value.trim()));
        let design = found.find(|found| found.handoff(self.workspace).stage() == Some("design"));
        design.map_or_else(|| stored.path.clone(), |design| design.path)
    }
}
