//! A lock between processes, released when the guard is dropped or its process exits.

use super::{FileError, Root};
use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The guard of a lock.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Closing the file is not enough: a child process that another thread is just starting still has
    /// it open, and would hold the lock until it runs its program.
    fn drop(&mut self) {
        // It is released when all handles are closed, too.
        let _ = self.file.unlock();
    }
}

impl Lock {
    /// Waits for the lock of an open file or folder.
    pub(super) fn wait(file: File) -> io::Result<Self> {
        file.lock().map(|()| Self { file })
    }

    /// Writes what changed in the locked folder to the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Replaces what the file of the lock says about its holder.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.file.set_len(0)?;
        (&self.file).write_all(bytes)
    }

    /// What the file of a lock says about its holder.
    pub(crate) fn read(root: &Root, name: &str) -> Result<Vec<u8>, FileError> {
        root.read(&path(name))
    }

    /// Waits for the lock with this name beneath a root.
    pub fn acquire(root: &Root, name: &str) -> Result<Self, FileError> {
        let (path, file) = open(root, name)?;
        Self::wait(file).map_err(|error| root.error(&path, error))
    }

    /// Waits for the lock of the folder itself, which leaves no file in it.
    pub(crate) fn acquire_folder(root: &Root) -> Result<Self, FileError> {
        let here = Path::new("");
        root.lock_folder(here).map_err(|error| root.error(here, error))
    }

    /// Acquires the lock, unless another process holds it.
    pub(crate) fn try_acquire(root: &Root, name: &str) -> Result<Option<Self>, FileError> {
        let (path, file) = open(root, name)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(root.error(&path, error)),
        }
    }
}

fn path(name: &str) -> PathBuf {
    PathBuf::from("locks").join(format!("{name}.lock"))
}

fn open(root: &Root, name: &str) -> Result<(PathBuf, File), FileError> {
    let path = path(name);
    root.make_folder(Path::new("locks"))?;
    let options = root.creating().append(true).clone();
    let file = root.dir.open_with(&path, &options).map_err(|error| root.error(&path, error))?;
    Ok((path, file.into_std()))
}
