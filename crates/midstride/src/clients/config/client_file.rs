//! A file of a client: where it is, and how it is read and replaced.

use super::InstallError;
use crate::sys::files::{self, FileError, FileProblem, Root};
use std::path::{Path, PathBuf};

/// A file that may or may not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFile {
    path: PathBuf,
    /// The folder that links must not leave; `None` for user files, which may be links to anywhere.
    root: Option<PathBuf>,
}

impl ClientFile {
    /// A file of the user.
    pub(crate) fn for_user(path: PathBuf) -> Self {
        Self { path, root: None }
    }

    /// A file of a project, which may be untrusted: links must stay inside the project.
    pub(crate) fn in_project(root: &Path, path: impl AsRef<Path>) -> Self {
        Self { path: root.join(path), root: Some(root.to_owned()) }
    }

    pub(crate) fn join(&self, below: &Path) -> Self {
        Self { path: self.path.join(below), root: self.root.clone() }
    }

    /// The path as the user knows it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The text; `None` if there is no file.
    pub(crate) fn read(&self) -> Result<Option<String>, InstallError> {
        let (root, path) = self.open()?;
        let bytes = match root.read(&path) {
            Ok(bytes) => bytes,
            Err(FileError { problem: FileProblem::NotFound, .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let not_text = |_| InstallError::Unreadable {
            path: self.path.clone(),
            message: "it is not UTF-8".to_owned(),
        };
        String::from_utf8(bytes).map(Some).map_err(not_text)
    }

    /// Replaces one text with another, if the file still has the first.
    pub(crate) fn replace(
        &self,
        before: Option<&str>,
        after: Option<&str>,
    ) -> Result<(), FileError> {
        let (root, path) = self.open()?;
        match (before, after) {
            (None, None) => Ok(()),
            // A client's user settings must not be readable by others.
            (None, Some(after)) if self.root.is_none() => {
                root.create_owner_only(&path, after.as_bytes())
            }
            (None, Some(after)) => root.create(&path, after.as_bytes()),
            (Some(before), Some(after)) => root.replace(&path, before.as_bytes(), after.as_bytes()),
            (Some(before), None) => root.remove(&path, before.as_bytes()),
        }
    }

    /// The folders that have to be created for it, outermost first.
    pub(crate) fn missing_folders(&self) -> Vec<PathBuf> {
        let above = self.path.ancestors().skip(1);
        let mut missing: Vec<PathBuf> =
            above.take_while(|folder| !files::exists(folder)).map(Path::to_owned).collect();
        missing.reverse();
        missing
    }

    /// The folders between the project root and the file; empty for a user file.
    pub(crate) fn folders_in_project(&self) -> Vec<PathBuf> {
        let Some(root) = &self.root else { return Vec::new() };
        let above = self.path.ancestors().skip(1);
        above.take_while(|folder| *folder != root).map(Path::to_owned).collect()
    }

    /// The innermost existing folder, and the path below it.
    fn open(&self) -> Result<(Root, PathBuf), FileError> {
        if let Some(root) = &self.root {
            let path = self.path.strip_prefix(root).unwrap_or(&self.path);
            return Ok((Root::open(root)?, path.to_owned()));
        }
        let path = files::canonical(&files::resolve_links(&self.path));
        let folder = path.ancestors().skip(1).find(|folder| files::is_folder(folder));
        let folder = folder.unwrap_or(Path::new("/"));
        let below = path.strip_prefix(folder).unwrap_or(&path).to_owned();
        Ok((Root::open(folder)?, below))
    }
}
