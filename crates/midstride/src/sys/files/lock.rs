//! A lock between processes, released when the guard is dropped or its process exits.

use super::{FileError, Root};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// The guard of a lock.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock with this name beneath a root.
    pub fn acquire(root: &Root, name: &str) -> Result<Self, FileError> {
        let (path, file) = open(root, name)?;
        file.lock().map(|()| Self { _file: file }).map_err(|error| root.error(&path, error))
    }

    /// Waits for the lock of the folder itself, which leaves no file in it.
    pub(crate) fn acquire_folder(root: &Root) -> Result<Self, FileError> {
        let here = Path::new("");
        let file = root.lock_folder(here).map_err(|error| root.error(here, error))?;
        Ok(Self { _file: file })
    }

    /// Acquires the lock, unless another process holds it.
    pub(crate) fn try_acquire(root: &Root, name: &str) -> Result<Option<Self>, FileError> {
        let (path, file) = open(root, name)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(root.error(&path, error)),
        }
    }
}

fn open(root: &Root, name: &str) -> Result<(PathBuf, File), FileError> {
    let path = PathBuf::from("locks").join(format!("{name}.lock"));
    root.make_folder(Path::new("locks"))?;
    let options = root.creating().append(true).clone();
    let file = root.dir.open_with(&path, &options).map_err(|error| root.error(&path, error))?;
    Ok((path, file.into_std()))
}
