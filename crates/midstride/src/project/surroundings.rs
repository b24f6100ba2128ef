//! What lies around a document, for the judge.

use super::{Project, Shelved, Spot};
use crate::files::is_markdown;
use crate::ids::sha256;
use midstride_core::check::{Artifact, Surroundings, check};
use midstride_core::graph::Lead;
use std::path::{Path, PathBuf};

/// An upstream of an upstream of an upstream: further up nobody looks.
const UPSTREAM_MAX: usize = 8;

/// The surroundings of one document.
pub(super) struct Around<'p> {
    project: &'p Project,
    /// Folders that references count from, the nearest first; below the root of the project.
    bases: Vec<PathBuf>,
    /// The documents on the way here, each building on the next.
    way: Vec<PathBuf>,
}

impl<'p> Around<'p> {
    pub(super) fn new(project: &'p Project, shelved: &Shelved) -> Self {
        Self { way: vec![shelved.path.clone()], ..Self::at(project, &shelved.spot()) }
    }

    /// The surroundings of a place, for whoever judges nothing.
    pub(super) fn at(project: &'p Project, spot: &Spot) -> Self {
        let shelf = spot.shelf.map(|index| &project.shelves[index]);
        let pipeline = shelf.and_then(|shelf| shelf.base()).map(Path::to_owned);
        let folder = spot.inside.parent().map(Path::to_owned);
        let bases = pipeline.into_iter().chain(folder).chain([PathBuf::new()]).collect();
        Self { project, bases, way: Vec::new() }
    }

    pub(super) fn at_root(project: &'p Project) -> Self {
        Self { project, bases: vec![PathBuf::new()], way: Vec::new() }
    }

    /// The document that is referred to, by a path or by its key.
    pub(super) fn find(&self, reference: &str) -> Option<Shelved> {
        if let Some(path) = self.locate(reference) {
            return is_markdown(&path).then(|| self.read(path)).flatten();
        }
        let spot = self.project.catalog().find(reference)?;
        self.project.read(spot).ok()
    }

    /// What a reference leads to, without reading it.
    pub(super) fn lead(&self, reference: &str) -> Lead {
        if is_on_the_web(reference) {
            return Lead::Artifact(reference.to_owned());
        }
        if let Some(path) = self.locate(reference) {
            let shown = path.display().to_string();
            return if is_markdown(&path) { Lead::Document(shown) } else { Lead::Artifact(shown) };
        }
        if let Some(spot) = self.project.catalog().find(reference) {
            return Lead::Document(self.project.shown(spot).display().to_string());
        }
        let several: Vec<String> =
            self.project.catalog().keys_of_id(reference).map(ToString::to_string).collect();
        match (self.has_folder(reference), several.is_empty()) {
            (true, _) => Lead::Artifact(reference.to_owned()),
            (false, true) => Lead::Missing,
            (false, false) => Lead::Several(several),
        }
    }

    fn read(&self, path: PathBuf) -> Option<Shelved> {
        let shelf = self.project.shelves.iter().position(|shelf| {
            shelf.root().path() == self.project.root.path() && shelf.holds(&path)
        });
        self.project.read(&Spot { shelf, inside: path }).ok()
    }

    /// Where a file that is referred to lies, below the root.
    fn locate(&self, reference: &str) -> Option<PathBuf> {
        let path = Path::new(reference.split('#').next().unwrap_or(reference));
        self.bases
            .iter()
            .find_map(|base| tidy(&base.join(path)).filter(|path| self.project.root.has_file(path)))
    }

    fn has_folder(&self, reference: &str) -> bool {
        let there = |base: &PathBuf| {
            tidy(&base.join(reference)).is_some_and(|path| self.project.root.has_folder(&path))
        };
        self.bases.iter().any(there)
    }

    /// Judges what a document builds on, and what that builds on in turn.
    fn judge(&self, shelved: &Shelved) -> Artifact {
        let handoff = shelved.handoff(self.project);
        if !handoff.is_handoff() {
            return Artifact::Plain;
        }
        let name = handoff.key().to_string();
        if self.way.contains(&shelved.path) {
            let why = "it builds on this document in turn".to_owned();
            return Artifact::Incomplete { name, why };
        }
        if self.way.len() > UPSTREAM_MAX {
            return Artifact::Complete;
        }
        let mut around = Self::new(self.project, shelved);
        around.way.splice(0..0, self.way.iter().cloned());
        let verdict = check(&handoff, &self.project.settings.stages, None, &around);
        verdict.incomplete().map_or(Artifact::Complete, |why| Artifact::Incomplete { name, why })
    }
}

impl Surroundings for Around<'_> {
    fn artifact(&self, reference: &str) -> Artifact {
        if is_on_the_web(reference) {
            return Artifact::Plain;
        }
        match self.locate(reference) {
            Some(path) if !is_markdown(&path) => Artifact::Plain,
            // What many build on is judged once. Further up, the way there matters.
            Some(path) if self.way.len() == 1 && !self.way.contains(&path) => {
                let judged =
                    || self.read(path.clone()).map_or(Artifact::Missing, |s| self.judge(&s));
                self.project.judged_once(&path, judged)
            }
            Some(path) => self.read(path).map_or(Artifact::Missing, |shelved| self.judge(&shelved)),
            None => match self.find(reference) {
                Some(shelved) => self.judge(&shelved),
                None if self.has_folder(reference) => Artifact::Plain,
                None => Artifact::Missing,
            },
        }
    }

    fn knows(&self, id: &str) -> bool {
        self.project.catalog().find(id).is_some() || self.locate(id).is_some()
    }

    fn source_hash(&self, path: &str) -> Option<String> {
        let bytes = self.project.root.read(&self.locate(path)?).ok()?;
        Some(sha256(&bytes))
    }
}

/// What lies on the web is not looked at.
fn is_on_the_web(reference: &str) -> bool {
    reference.contains("://")
}

/// The path without dots; `None` where it would leave the root.
fn tidy(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::Normal(name) => out.push(name),
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                if !out.pop() {
                    return None;
                }
            }
            std::path::Component::RootDir | std::path::Component::Prefix(_) => return None,
        }
    }
    Some(out)
}
