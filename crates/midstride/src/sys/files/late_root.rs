//! A folder that may be created after the program started.

use super::{FileError, FileProblem, Root};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Opens a folder, if it exists.
type OpenFolder = Box<dyn Fn() -> Result<Option<Root>, FileError> + Send + Sync>;

/// A root that is opened on first use, once its folder exists.
pub struct LateRoot {
    path: PathBuf,
    root: OnceLock<Root>,
    /// Why it cannot be opened now.
    missing: fn() -> FileProblem,
    open: OpenFolder,
}

impl LateRoot {
    /// The folder at `path`, which `open` opens once it exists.
    pub fn new(
        path: PathBuf,
        open: impl Fn() -> Result<Option<Root>, FileError> + Send + Sync + 'static,
    ) -> Self {
        let missing = || FileProblem::NotFound;
        Self { path, root: OnceLock::new(), missing, open: Box::new(open) }
    }

    /// A folder that is not trusted. It is never opened.
    pub(crate) fn untrusted(path: PathBuf) -> Self {
        Self { missing: || FileProblem::Untrusted, ..Self::new(path, || Ok(None)) }
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
        let missing = || FileError { path: self.path.clone(), problem: (self.missing)() };
        let opened = (self.open)()?.ok_or_else(missing)?;
        Ok(self.root.get_or_init(|| opened))
    }
}

impl From<Root> for LateRoot {
    fn from(root: Root) -> Self {
        let late = Self::new(root.path().to_owned(), || Ok(None));
        Self { root: OnceLock::from(root), ..late }
    }
}

impl fmt::Debug for LateRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LateRoot")
            .field("path", &self.path)
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::files::ScratchFolder;

    #[test]
    fn a_folder_is_opened_once_it_exists() {
        let scratch = ScratchFolder::new("midstride-late-root").unwrap();
        let (parent, theirs) = (Root::open(scratch.path()).unwrap(), scratch.path().to_owned());
        let open = move || Root::open(&theirs)?.open_below(Path::new("later"));
        let late = LateRoot::new(scratch.path().join("later"), open);
        assert!(late.get().unwrap_err().is_missing());
        parent.make_below(Path::new("later")).unwrap();
        late.get().unwrap().put(Path::new("a"), b"text").unwrap();
        assert_eq!(parent.read(Path::new("later/a")).unwrap(), b"text");
        assert_eq!(late.path(), scratch.path().join("later"));
        scratch.remove().unwrap();
    }

    #[test]
    fn an_untrusted_folder_is_never_opened() {
        let scratch = ScratchFolder::new("midstride-late-untrusted").unwrap();
        let late = LateRoot::untrusted(scratch.path().to_owned());
        let refused = late.get().unwrap_err();
        assert!(matches!(refused.problem, FileProblem::Untrusted) && refused.is_missing());
        scratch.remove().unwrap();
    }
}
