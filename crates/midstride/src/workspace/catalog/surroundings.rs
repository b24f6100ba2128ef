//! The context of a document for checks: what its references lead to.

use super::Catalog;
use crate::sys::files;
use crate::sys::files::is_markdown;
use crate::sys::ids::sha256;
use crate::workspace::folder::FolderLayout;
use crate::workspace::{DocumentPlace, StoredHandoff};
use midstride_core::handoff::check::{CheckContext, PathAccess, ReferencedArtifact};
use midstride_core::handoff::graph::ReferenceTarget;
use midstride_core::text::id::HandoffKey;
use std::path::{Path, PathBuf};

/// The target of a reference, before it is read.
pub(super) enum ResolvedReference {
    /// It does not exist.
    Missing,
    /// It exists but is not checked.
    Plain,
    /// A document.
    Document(DocumentPlace),
}

impl ResolvedReference {
    pub(super) fn into_document(self) -> Option<DocumentPlace> {
        match self {
            Self::Document(place) => Some(place),
            Self::Missing | Self::Plain => None,
        }
    }
}

/// The context of one document.
pub(super) struct DocumentSurroundings<'c> {
    catalog: &'c Catalog<'c>,
    /// Folders that references are relative to, nearest first, below the project root.
    bases: Vec<PathBuf>,
    /// The path of the document itself, if it is being checked.
    own_path: Option<PathBuf>,
}

impl<'c> DocumentSurroundings<'c> {
    pub(super) fn new(catalog: &'c Catalog<'c>, stored: &StoredHandoff) -> Self {
        Self {
            own_path: Some(stored.path.clone()),
            ..Self::for_place(catalog, &stored.document_place())
        }
    }

    /// The context of a place, for resolving references without a check.
    pub(super) fn for_place(catalog: &'c Catalog<'c>, place: &DocumentPlace) -> Self {
        let handoff_folder = place.folder.map(|index| &catalog.workspace.folders[index]);
        let pipeline =
            handoff_folder.and_then(|folder| folder.reference_base()).map(Path::to_owned);
        let folder = place.relative_path.parent().map(Path::to_owned);
        let bases = pipeline.into_iter().chain(folder).chain([PathBuf::new()]).collect();
        Self { catalog, bases, own_path: None }
    }

    pub(super) fn for_root(catalog: &'c Catalog<'c>) -> Self {
        Self { catalog, bases: vec![PathBuf::new()], own_path: None }
    }

    /// The referenced document, by path or key.
    pub(super) fn find(&self, reference: &str) -> Option<StoredHandoff> {
        self.catalog.workspace.read(&self.target(reference).into_document()?).ok()
    }

    /// The target of a reference, by path or key.
    pub(super) fn target(&self, reference: &str) -> ResolvedReference {
        if is_url(reference) {
            return ResolvedReference::Plain;
        }
        match self.locate(reference) {
            Some(path) if is_markdown(&path) => ResolvedReference::Document(self.place_for(path)),
            Some(_) => ResolvedReference::Plain,
            None => match self.catalog.find(reference) {
                Some(place) => ResolvedReference::Document(place.clone()),
                None if self.has_folder(reference) => ResolvedReference::Plain,
                None => ResolvedReference::Missing,
            },
        }
    }

    /// The referenced document, by path or by the key that its place stands for. Reads no other
    /// document.
    pub(super) fn find_nearby(&self, reference: &str) -> Option<DocumentPlace> {
        if is_url(reference) {
            return None;
        }
        if let Some(path) = self.locate(reference) {
            return is_markdown(&path).then(|| self.place_for(path));
        }
        let key = HandoffKey::parse(reference)?;
        self.catalog.workspace.folders.iter().enumerate().find_map(|(index, folder)| {
            let inside = folder.path_of(&key);
            let is_there = folder.layout() == FolderLayout::Own && folder.exists(&inside);
            is_there.then_some(DocumentPlace { folder: Some(index), relative_path: inside })
        })
    }

    /// The target of a reference, without reading it.
    pub(super) fn resolve(&self, reference: &str) -> ReferenceTarget {
        if is_url(reference) {
            return ReferenceTarget::Artifact(reference.to_owned());
        }
        if let Some(path) = self.locate(reference) {
            let shown = path.display().to_string();
            return if is_markdown(&path) {
                ReferenceTarget::Document(shown)
            } else {
                ReferenceTarget::Artifact(shown)
            };
        }
        if let Some(place) = self.catalog.find(reference) {
            return ReferenceTarget::Document(
                self.catalog.workspace.display_path(place).display().to_string(),
            );
        }
        let several: Vec<String> =
            self.catalog.keys_of_id(reference).map(ToString::to_string).collect();
        match (self.has_folder(reference), several.is_empty()) {
            (true, _) => ReferenceTarget::Artifact(reference.to_owned()),
            (false, true) => ReferenceTarget::Missing,
            (false, false) => ReferenceTarget::Ambiguous(several),
        }
    }

    fn place_for(&self, path: PathBuf) -> DocumentPlace {
        let folder = self.catalog.workspace.folders.iter().position(|folder| {
            folder.root_path() == self.catalog.workspace.root.path() && folder.contains(&path)
        });
        DocumentPlace { folder, relative_path: path }
    }

    /// The path of a referenced file, below the root.
    fn locate(&self, reference: &str) -> Option<PathBuf> {
        let path = Path::new(reference.split('#').next().unwrap_or(reference));
        self.bases.iter().find_map(|base| {
            files::normalize(&base.join(path))
                .filter(|path| self.catalog.workspace.root.has_file(path))
        })
    }

    fn has_folder(&self, reference: &str) -> bool {
        let there = |base: &PathBuf| {
            files::normalize(&base.join(reference))
                .is_some_and(|path| self.catalog.workspace.root.has_folder(&path))
        };
        self.bases.iter().any(there)
    }
}

impl CheckContext for DocumentSurroundings<'_> {
    fn artifact(&self, reference: &str) -> ReferencedArtifact {
        match self.target(reference) {
            ResolvedReference::Plain => ReferencedArtifact::Plain,
            ResolvedReference::Missing => ReferencedArtifact::Missing,
            ResolvedReference::Document(place) => {
                let path = self.catalog.workspace.display_path(&place);
                let itself = self.own_path.as_ref() == Some(&path);
                if itself {
                    circular_artifact(&path)
                } else {
                    self.catalog.upstream_artifact(&place)
                }
            }
        }
    }

    fn has_handoff(&self, id: &str) -> bool {
        self.catalog.find(id).is_some() || self.locate(id).is_some()
    }

    fn source_hash(&self, path: &str) -> Option<String> {
        let bytes = self.catalog.workspace.root.read(&self.locate(path)?).ok()?;
        Some(sha256(&bytes))
    }

    fn path_access(&self, path: &str) -> PathAccess {
        let (root, path) = (&self.catalog.workspace.root, Path::new(path));
        // Uses the same test as a briefing, so that a check reports what a briefing would omit.
        if root.has_file(path) {
            PathAccess::Readable
        } else if root.links_outside(path) {
            PathAccess::Outside
        } else {
            PathAccess::Missing
        }
    }
}

/// Whether a reference is a URL, which is never checked.
fn is_url(reference: &str) -> bool {
    reference.contains("://")
}

/// The result for a document that depends on the one being checked.
pub(super) fn circular_artifact(path: &Path) -> ReferencedArtifact {
    let why = "it in turn builds on this document".to_owned();
    ReferencedArtifact::Incomplete { name: path.display().to_string(), why }
}
