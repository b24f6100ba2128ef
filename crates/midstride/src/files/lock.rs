//! A lock between processes; it is gone when the guard, or its process, is gone.

use super::{FileError, Root};
use cap_std::fs::OpenOptions;
use std::path::{Path, PathBuf};

/// Held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: std::fs::File,
}

impl Lock {
    /// Waits for the lock of a name beneath a root.
    pub fn hold(root: &Root, name: &str) -> Result<Self, FileError> {
        let path = PathBuf::from("locks").join(format!("{name}.lock"));
        root.make_folder(Path::new("locks"))?;
        let options = OpenOptions::new().create(true).append(true).clone();
        let take = || -> std::io::Result<std::fs::File> {
            let file = root.dir.open_with(&path, &options)?.into_std();
            file.lock()?;
            Ok(file)
        };
        take().map(|file| Self { _file: file }).map_err(|error| root.error(&path, error))
    }
}
