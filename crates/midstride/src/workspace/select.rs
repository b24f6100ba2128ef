//! Selects documents by names, paths and folders that the user typed.

use super::{Catalog, DocumentPlace, FindError, StoredHandoff, Workspace};
use crate::sys::files::{self, FileError, FileProblem};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Maximum depth for Markdown in a folder that is not a handoff folder.
const DEPTH: usize = 12;

/// The selected documents, and what could not be read.
#[derive(Debug, Default)]
pub struct DocumentSelection {
    /// The documents, without duplicates.
    pub documents: Vec<StoredHandoff>,
    /// What could not be read.
    pub unread: Vec<FileError>,
}

impl Workspace {
    /// The documents with these names, or all documents if no name is given.
    pub fn select(&self, names: &[String]) -> Result<DocumentSelection, FindError> {
        let catalog = Catalog::new(self);
        let mut results = Vec::new();
        for name in names {
            results.extend(self.select_one(&catalog, name)?);
        }
        if names.is_empty() {
            results = self.read_all();
        }
        let mut selection = DocumentSelection::default();
        let mut seen: HashSet<PathBuf> = HashSet::new();
        for result in results {
            match result {
                Ok(stored) if seen.insert(stored.path.clone()) => {
                    selection.documents.push(stored);
                }
                Ok(_) => {}
                Err(error) => selection.unread.push(error),
            }
        }
        Ok(selection)
    }

    /// A handoff by name, else everything in a folder, else a handoff by the start of its name.
    fn select_one(
        &self,
        catalog: &Catalog<'_>,
        name: &str,
    ) -> Result<Vec<Result<StoredHandoff, FileError>>, FindError> {
        let folder = self.environment.folder.join(name);
        if name.is_empty() || !files::is_folder(&folder) || catalog.find(name).is_some() {
            return self.find(name).map(|stored| vec![Ok(stored)]);
        }
        if files::is_markdown(&folder) {
            return Err(FileError { path: folder, problem: FileProblem::IsFolder }.into());
        }
        let outside = || FindError::Outside(name.to_owned());
        let place = self.place_of_path(Path::new(name)).ok_or_else(outside)?;
        Ok(self.places_in_folder(&place)?.iter().map(|place| self.read(place)).collect())
    }

    /// The documents of the handoff folders in a folder, or all Markdown in it if there are none.
    fn places_in_folder(&self, folder: &DocumentPlace) -> Result<Vec<DocumentPlace>, FileError> {
        let root = self.root_of(folder)?;
        let here = |index: &usize| {
            let handoff_folder = &self.folders[*index];
            handoff_folder.root_path() == root.path()
                && (handoff_folder.is_in(&folder.relative_path)
                    || handoff_folder.contains(&folder.relative_path))
        };
        let mut places = Vec::new();
        for index in (0..self.folders.len()).filter(here) {
            let documents = self.folders[index].documents()?;
            let inside =
                documents.into_iter().filter(|path| path.starts_with(&folder.relative_path));
            places.extend(
                inside.map(|inside| DocumentPlace { folder: Some(index), relative_path: inside }),
            );
        }
        if places.is_empty() {
            let found = root.markdown_below(&folder.relative_path, DEPTH)?;
            places.extend(
                found
                    .into_iter()
                    .map(|inside| DocumentPlace { folder: folder.folder, relative_path: inside }),
            );
        }
        Ok(places)
    }
}
