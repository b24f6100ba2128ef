//! A temporary folder that only its owner can access.
#![expect(clippy::disallowed_methods, reason = "the one module for this")]

use super::{FileError, FileProblem};
use std::fs::File;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// A temporary folder. It is not removed on drop, so that its files survive a failure.
#[derive(Debug)]
pub struct ScratchFolder {
    path: PathBuf,
}

impl ScratchFolder {
    /// Creates a folder whose name starts with `name`.
    pub fn new(name: &str) -> Result<Self, FileError> {
        let base = std::env::temp_dir();
        for attempt in 0..1000_u32 {
            let path = base.join(format!("{name}-{}-{attempt}", std::process::id()));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(FileError::new(path, error)),
            }
        }
        Err(FileError { path: base.join(name), problem: FileProblem::Exists })
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file in the folder and returns its path.
    pub fn write(&self, inside: impl AsRef<Path>, bytes: &[u8]) -> Result<PathBuf, FileError> {
        let path = self.path.join(inside);
        let write = || -> io::Result<()> {
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(&path, bytes)
        };
        write().map_err(|error| FileError::new(path.clone(), error))?;
        Ok(path)
    }

    /// A file with these bytes, open for reading, that is in no folder any more.
    pub fn unlisted_file(bytes: &[u8]) -> Result<File, FileError> {
        let scratch = Self::new("midstride-text")?;
        let path = scratch.write("text", bytes)?;
        let file = File::open(&path).map_err(|error| FileError::new(path, error))?;
        scratch.remove()?;
        Ok(file)
    }

    /// Removes the folder with all its contents.
    pub fn remove(self) -> Result<(), FileError> {
        std::fs::remove_dir_all(&self.path).map_err(|error| FileError::new(self.path, error))
    }
}
