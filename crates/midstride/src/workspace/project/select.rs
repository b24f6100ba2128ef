//! The documents that a person means by names, paths and folders.

use super::{DocumentPlace, FindError, Project, StoredHandoff};
use crate::sys::files::{self, FileError, FileProblem};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Markdown in a folder that no shelf knows is looked for this far down.
const DEPTH: usize = 12;

/// What was selected, and what of it could not be read.
#[derive(Debug, Default)]
pub struct DocumentSelection {
    /// The documents, each once.
    pub documents: Vec<StoredHandoff>,
    /// What could not be read.
    pub unread: Vec<FileError>,
}

impl Project {
    /// The documents of these names; all of them where none is given.
    pub fn select(&self, names: &[String]) -> Result<DocumentSelection, FindError> {
        let mut results = Vec::new();
        for name in names {
            results.extend(self.select_one(name)?);
        }
        if names.is_empty() {
            results = self.read_all();
        }
        let mut selection = DocumentSelection::default();
        let mut seen: HashSet<PathBuf> = HashSet::new();
        for result in results {
            match result {
                Ok(shelved) if seen.insert(shelved.path.clone()) => {
                    selection.documents.push(shelved);
                }
                Ok(_) => {}
                Err(error) => selection.unread.push(error),
            }
        }
        Ok(selection)
    }

    /// A handoff by its name, else everything in a folder, else a handoff by the start of its name.
    fn select_one(&self, name: &str) -> Result<Vec<Result<StoredHandoff, FileError>>, FindError> {
        let folder = self.environment.folder.join(name);
        if name.is_empty() || !files::is_folder(&folder) || self.catalog().find(name).is_some() {
            return self.find(name).map(|shelved| vec![Ok(shelved)]);
        }
        if files::is_markdown(&folder) {
            return Err(FileError { path: folder, problem: FileProblem::IsFolder }.into());
        }
        let outside = || FindError::Outside(name.to_owned());
        let spot = self.place_of_path(Path::new(name)).ok_or_else(outside)?;
        Ok(self.places_in_folder(&spot)?.iter().map(|spot| self.read(spot)).collect())
    }

    /// The documents on the shelves of a folder; where it has none, all Markdown in it.
    fn places_in_folder(&self, folder: &DocumentPlace) -> Result<Vec<DocumentPlace>, FileError> {
        let root = folder.folder.map_or(&self.root, |index| self.folders[index].root());
        let here = |index: &usize| {
            let shelf = &self.folders[*index];
            shelf.root().path() == root.path()
                && (shelf.is_in(&folder.relative_path) || shelf.contains(&folder.relative_path))
        };
        let mut spots = Vec::new();
        for index in (0..self.folders.len()).filter(here) {
            let documents = self.folders[index].documents()?;
            let inside =
                documents.into_iter().filter(|path| path.starts_with(&folder.relative_path));
            spots.extend(
                inside.map(|inside| DocumentPlace { folder: Some(index), relative_path: inside }),
            );
        }
        if spots.is_empty() {
            let found = root.markdown_below(&folder.relative_path, DEPTH)?;
            spots.extend(
                found
                    .into_iter()
                    .map(|inside| DocumentPlace { folder: folder.folder, relative_path: inside }),
            );
        }
        Ok(spots)
    }
}
