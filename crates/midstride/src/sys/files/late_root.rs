//! A folder that may be created after the program started.

use super::{FileError, FileProblem, Root};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A root that is opened on first use, once its folder exists.
#[derive(Debug)]
pub struct LateRoot {
    path: PathBuf,
    root: OnceLock<Root>,
    /// The folder it is in and its path there, if it did not exist at first.
    parent: Option<(Root, PathBuf)>,
}

impl LateRoot {
    /// The folder at `path` beneath `parent`, whether or not it exists.
    pub fn below(parent: Root, path: &Path) -> Self {
        Self {
            path: parent.path().join(path),
            root: OnceLock::new(),
            parent: Some((parent, path.to_owned())),
        }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder, or `NotFound` as long as it does not exist.
    pub fn get(&self) -> Result<&Root, FileError> {
        if let Some(root) = self.root.get() {
            return Ok(root);
        }
        // A link to nothing is no folder yet.
        let opened = match &self.parent {
            Some((parent, path)) if super::is_folder(&self.path) => parent.open_below(path)?,
            Some(_) | None => None,
        };
        let missing = || FileError { path: self.path.clone(), problem: FileProblem::NotFound };
        let opened = opened.ok_or_else(missing)?;
        Ok(self.root.get_or_init(|| opened))
    }
}

impl From<Root> for LateRoot {
    fn from(root: Root) -> Self {
        Self { path: root.path().to_owned(), root: OnceLock::from(root), parent: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::files::ScratchFolder;

    #[test]
    fn a_folder_is_opened_once_it_exists() {
        let scratch = ScratchFolder::new("midstride-late-root").unwrap();
        let parent = Root::open(scratch.path()).unwrap();
        let late = LateRoot::below(Root::open(scratch.path()).unwrap(), Path::new("later"));
        assert!(late.get().unwrap_err().is_missing());
        parent.make_below(Path::new("later")).unwrap();
        late.get().unwrap().put(Path::new("a"), b"text").unwrap();
        assert_eq!(parent.read(Path::new("later/a")).unwrap(), b"text");
        assert_eq!(late.path(), scratch.path().join("later"));
        scratch.remove().unwrap();
    }

    #[test]
    fn a_link_that_leads_out_is_refused() {
        let scratch = ScratchFolder::new("midstride-late-link").unwrap();
        let inner = scratch.path().join("inner");
        Root::make(&inner).unwrap();
        let late = LateRoot::below(Root::open(&inner).unwrap(), Path::new("later"));
        std::os::unix::fs::symlink(scratch.path(), inner.join("later")).unwrap();
        assert!(matches!(late.get().unwrap_err().problem, FileProblem::Outside));
        scratch.remove().unwrap();
    }
}
