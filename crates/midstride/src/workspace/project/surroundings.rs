//! What lies around a document, for the judge.

use super::{DocumentPlace, Project, StoredHandoff};
use crate::sys::files;
use crate::sys::files::is_markdown;
use crate::sys::ids::sha256;
use crate::workspace::folder::FolderLayout;
use midstride_core::handoff::check::{CheckContext, PathAccess, ReferencedArtifact};
use midstride_core::handoff::graph::ReferenceTarget;
use midstride_core::text::id::HandoffKey;
use std::path::{Path, PathBuf};

/// What a reference leads to, before anybody reads it.
pub(super) enum ResolvedReference {
    /// Nothing is there.
    Missing,
    /// Something is there that nobody judges.
    Plain,
    /// A document.
    Document(DocumentPlace),
}

impl ResolvedReference {
    pub(super) fn into_document(self) -> Option<DocumentPlace> {
        match self {
            Self::Document(spot) => Some(spot),
            Self::Missing | Self::Plain => None,
        }
    }
}

/// The surroundings of one document.
pub(super) struct DocumentSurroundings<'p> {
    project: &'p Project,
    /// Folders that references count from, the nearest first; below the root of the project.
    bases: Vec<PathBuf>,
    /// The document itself, where one is judged.
    own_path: Option<PathBuf>,
}

impl<'p> DocumentSurroundings<'p> {
    pub(super) fn new(project: &'p Project, shelved: &StoredHandoff) -> Self {
        Self {
            own_path: Some(shelved.path.clone()),
            ..Self::for_place(project, &shelved.document_place())
        }
    }

    /// The surroundings of a place, for whoever judges nothing.
    pub(super) fn for_place(project: &'p Project, spot: &DocumentPlace) -> Self {
        let shelf = spot.folder.map(|index| &project.folders[index]);
        let pipeline = shelf.and_then(|shelf| shelf.reference_base()).map(Path::to_owned);
        let folder = spot.relative_path.parent().map(Path::to_owned);
        let bases = pipeline.into_iter().chain(folder).chain([PathBuf::new()]).collect();
        Self { project, bases, own_path: None }
    }

    pub(super) fn for_root(project: &'p Project) -> Self {
        Self { project, bases: vec![PathBuf::new()], own_path: None }
    }

    /// The document that is referred to, by a path or by its key.
    pub(super) fn find(&self, reference: &str) -> Option<StoredHandoff> {
        self.project.read(&self.target(reference).into_document()?).ok()
    }

    /// What is referred to, by a path or by its key.
    pub(super) fn target(&self, reference: &str) -> ResolvedReference {
        if is_url(reference) {
            return ResolvedReference::Plain;
        }
        match self.locate(reference) {
            Some(path) if is_markdown(&path) => ResolvedReference::Document(self.place_for(path)),
            Some(_) => ResolvedReference::Plain,
            None => match self.project.catalog().find(reference) {
                Some(spot) => ResolvedReference::Document(spot.clone()),
                None if self.has_folder(reference) => ResolvedReference::Plain,
                None => ResolvedReference::Missing,
            },
        }
    }

    /// The document that is referred to, by its path or by the key that its place stands for; found
    /// without reading any other.
    pub(super) fn find_nearby(&self, reference: &str) -> Option<DocumentPlace> {
        if is_url(reference) {
            return None;
        }
        if let Some(path) = self.locate(reference) {
            return is_markdown(&path).then(|| self.place_for(path));
        }
        let key = HandoffKey::parse(reference)?;
        self.project.folders.iter().enumerate().find_map(|(index, shelf)| {
            let inside = shelf.path_of(&key);
            let is_there = shelf.layout() == FolderLayout::Own && shelf.root().has_file(&inside);
            is_there.then_some(DocumentPlace { folder: Some(index), relative_path: inside })
        })
    }

    /// What a reference leads to, without reading it.
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
        if let Some(spot) = self.project.catalog().find(reference) {
            return ReferenceTarget::Document(
                self.project.display_path(spot).display().to_string(),
            );
        }
        let several: Vec<String> =
            self.project.catalog().keys_of_id(reference).map(ToString::to_string).collect();
        match (self.has_folder(reference), several.is_empty()) {
            (true, _) => ReferenceTarget::Artifact(reference.to_owned()),
            (false, true) => ReferenceTarget::Missing,
            (false, false) => ReferenceTarget::Ambiguous(several),
        }
    }

    fn place_for(&self, path: PathBuf) -> DocumentPlace {
        let shelf = self.project.folders.iter().position(|shelf| {
            shelf.root().path() == self.project.root.path() && shelf.contains(&path)
        });
        DocumentPlace { folder: shelf, relative_path: path }
    }

    /// Where a file that is referred to lies, below the root.
    fn locate(&self, reference: &str) -> Option<PathBuf> {
        let path = Path::new(reference.split('#').next().unwrap_or(reference));
        self.bases.iter().find_map(|base| {
            files::normalize(&base.join(path)).filter(|path| self.project.root.has_file(path))
        })
    }

    fn has_folder(&self, reference: &str) -> bool {
        let there = |base: &PathBuf| {
            files::normalize(&base.join(reference))
                .is_some_and(|path| self.project.root.has_folder(&path))
        };
        self.bases.iter().any(there)
    }
}

impl CheckContext for DocumentSurroundings<'_> {
    fn artifact(&self, reference: &str) -> ReferencedArtifact {
        match self.target(reference) {
            ResolvedReference::Plain => ReferencedArtifact::Plain,
            ResolvedReference::Missing => ReferencedArtifact::Missing,
            ResolvedReference::Document(spot) => {
                let path = self.project.display_path(&spot);
                let itself = self.own_path.as_ref() == Some(&path);
                if itself {
                    circular_artifact(&path)
                } else {
                    self.project.upstream_artifact(&spot)
                }
            }
        }
    }

    fn has_handoff(&self, id: &str) -> bool {
        self.project.catalog().find(id).is_some() || self.locate(id).is_some()
    }

    fn source_hash(&self, path: &str) -> Option<String> {
        let bytes = self.project.root.read(&self.locate(path)?).ok()?;
        Some(sha256(&bytes))
    }

    fn path_access(&self, path: &str) -> PathAccess {
        let (root, path) = (&self.project.root, Path::new(path));
        // As a briefing looks at it: what it would leave out is told here.
        if root.has_file(path) {
            PathAccess::Readable
        } else if root.links_outside(path) {
            PathAccess::Outside
        } else {
            PathAccess::Missing
        }
    }
}

/// What lies on the web is not looked at.
fn is_url(reference: &str) -> bool {
    reference.contains("://")
}

/// A document that builds on the one that asks.
pub(super) fn circular_artifact(path: &Path) -> ReferencedArtifact {
    let why = "it builds on this document in turn".to_owned();
    ReferencedArtifact::Incomplete { name: path.display().to_string(), why }
}
