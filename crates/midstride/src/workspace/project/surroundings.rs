//! What lies around a document, for the judge.

use super::{Project, Shelved, Spot};
use crate::sys::files;
use crate::sys::files::is_markdown;
use crate::sys::ids::sha256;
use crate::workspace::shelf::Layout;
use midstride_core::handoff::check::{CheckContext, PathAccess, ReferencedArtifact};
use midstride_core::handoff::graph::ReferenceTarget;
use midstride_core::text::id::HandoffKey;
use std::path::{Path, PathBuf};

/// What a reference leads to, before anybody reads it.
pub(super) enum Target {
    /// Nothing is there.
    Missing,
    /// Something is there that nobody judges.
    Plain,
    /// A document.
    Document(Spot),
}

impl Target {
    pub(super) fn into_document(self) -> Option<Spot> {
        match self {
            Self::Document(spot) => Some(spot),
            Self::Missing | Self::Plain => None,
        }
    }
}

/// The surroundings of one document.
pub(super) struct Around<'p> {
    project: &'p Project,
    /// Folders that references count from, the nearest first; below the root of the project.
    bases: Vec<PathBuf>,
    /// The document itself, where one is judged.
    own: Option<PathBuf>,
}

impl<'p> Around<'p> {
    pub(super) fn new(project: &'p Project, shelved: &Shelved) -> Self {
        Self { own: Some(shelved.path.clone()), ..Self::at(project, &shelved.spot()) }
    }

    /// The surroundings of a place, for whoever judges nothing.
    pub(super) fn at(project: &'p Project, spot: &Spot) -> Self {
        let shelf = spot.shelf.map(|index| &project.shelves[index]);
        let pipeline = shelf.and_then(|shelf| shelf.base()).map(Path::to_owned);
        let folder = spot.inside.parent().map(Path::to_owned);
        let bases = pipeline.into_iter().chain(folder).chain([PathBuf::new()]).collect();
        Self { project, bases, own: None }
    }

    pub(super) fn at_root(project: &'p Project) -> Self {
        Self { project, bases: vec![PathBuf::new()], own: None }
    }

    /// The document that is referred to, by a path or by its key.
    pub(super) fn find(&self, reference: &str) -> Option<Shelved> {
        self.project.read(&self.target(reference).into_document()?).ok()
    }

    /// What is referred to, by a path or by its key.
    pub(super) fn target(&self, reference: &str) -> Target {
        if is_on_the_web(reference) {
            return Target::Plain;
        }
        match self.locate(reference) {
            Some(path) if is_markdown(&path) => Target::Document(self.spot(path)),
            Some(_) => Target::Plain,
            None => match self.project.catalog().find(reference) {
                Some(spot) => Target::Document(spot.clone()),
                None if self.has_folder(reference) => Target::Plain,
                None => Target::Missing,
            },
        }
    }

    /// The document that is referred to, by its path or by the key that its place stands for; found
    /// without reading any other.
    pub(super) fn nearby(&self, reference: &str) -> Option<Spot> {
        if is_on_the_web(reference) {
            return None;
        }
        if let Some(path) = self.locate(reference) {
            return is_markdown(&path).then(|| self.spot(path));
        }
        let key = HandoffKey::parse(reference)?;
        self.project.shelves.iter().enumerate().find_map(|(index, shelf)| {
            let inside = shelf.path_of(&key);
            let is_there = shelf.layout() == Layout::Own && shelf.root().has_file(&inside);
            is_there.then_some(Spot { shelf: Some(index), inside })
        })
    }

    /// What a reference leads to, without reading it.
    pub(super) fn lead(&self, reference: &str) -> ReferenceTarget {
        if is_on_the_web(reference) {
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
            return ReferenceTarget::Document(self.project.shown(spot).display().to_string());
        }
        let several: Vec<String> =
            self.project.catalog().keys_of_id(reference).map(ToString::to_string).collect();
        match (self.has_folder(reference), several.is_empty()) {
            (true, _) => ReferenceTarget::Artifact(reference.to_owned()),
            (false, true) => ReferenceTarget::Missing,
            (false, false) => ReferenceTarget::Ambiguous(several),
        }
    }

    fn spot(&self, path: PathBuf) -> Spot {
        let shelf = self.project.shelves.iter().position(|shelf| {
            shelf.root().path() == self.project.root.path() && shelf.holds(&path)
        });
        Spot { shelf, inside: path }
    }

    /// Where a file that is referred to lies, below the root.
    fn locate(&self, reference: &str) -> Option<PathBuf> {
        let path = Path::new(reference.split('#').next().unwrap_or(reference));
        self.bases.iter().find_map(|base| {
            files::tidy(&base.join(path)).filter(|path| self.project.root.has_file(path))
        })
    }

    fn has_folder(&self, reference: &str) -> bool {
        let there = |base: &PathBuf| {
            files::tidy(&base.join(reference))
                .is_some_and(|path| self.project.root.has_folder(&path))
        };
        self.bases.iter().any(there)
    }
}

impl CheckContext for Around<'_> {
    fn artifact(&self, reference: &str) -> ReferencedArtifact {
        match self.target(reference) {
            Target::Plain => ReferencedArtifact::Plain,
            Target::Missing => ReferencedArtifact::Missing,
            Target::Document(spot) => {
                let path = self.project.shown(&spot);
                let itself = self.own.as_ref() == Some(&path);
                if itself { in_turn(&path) } else { self.project.as_upstream(&spot) }
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
        } else if root.leads_out(path) {
            PathAccess::Outside
        } else {
            PathAccess::Missing
        }
    }
}

/// What lies on the web is not looked at.
fn is_on_the_web(reference: &str) -> bool {
    reference.contains("://")
}

/// A document that builds on the one that asks.
pub(super) fn in_turn(path: &Path) -> ReferencedArtifact {
    let why = "it builds on this document in turn".to_owned();
    ReferencedArtifact::Incomplete { name: path.display().to_string(), why }
}
