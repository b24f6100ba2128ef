//! File access beneath a root, with atomic writes and the path in every error.
//!
//! A [`Root`] is a folder that no access can escape: the system call that opens a file refuses
//! paths with `..`, absolute paths and links that lead out, so there is no separate check to race
//! with.
#![expect(clippy::disallowed_methods, reason = "the one module for this")]

mod late_root;
mod lock;
mod scan;
mod scratch;
mod stream;
mod tree;

pub use late_root::LateRoot;
pub use lock::Lock;
pub use scan::{FileStamp, FolderScan, ScanDetail};
pub use scratch::ScratchFolder;
pub use stream::FolderEntry;
#[cfg(test)]
pub(crate) use stream::looked_at;
pub(crate) use stream::{FileStream, list_folder, read_entry};

use cap_std::ambient_authority;
use cap_std::fs::{
    Dir, DirBuilder, DirBuilderExt as _, OpenOptions, OpenOptionsExt as _, Permissions,
    PermissionsExt as _,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Maximum size of a file that is read. A larger file is not a handoff.
pub const FILE_BYTES_MAX: u64 = 16 << 20;
/// Maximum depth of nested folders to scan. Deeper nesting is a mistake.
const DEPTH_MAX: usize = 12;
/// The permission of a group to write.
const GROUP_WRITE: u32 = 0o020;
/// The mode of a folder that only its owner can access.
const OWNER_FOLDER_MODE: u32 = 0o700;
/// The mode of a file that only its owner can access.
const OWNER_MODE: u32 = 0o600;
/// The permission bits of a mode, without the type of the file.
const PERMISSION_BITS: u32 = 0o7777;
/// The permission bits of other users, all cleared in owner-only files.
const OTHERS_MODE: u32 = 0o077;
/// The name of a draft file. A folder has at most one, because its writer holds the lock of the folder,
/// and so the next writer replaces what a killed process left.
const DRAFT_NAME: &str = ".midstride.tmp";
/// The suffix of draft files of earlier versions, whose names start with a dot.
const DRAFT_SUFFIX: &str = ".tmp";
/// Maximum number of links to follow, as in Linux.
const LINKS_MAX: usize = 40;
/// `ELOOP`, which has no stable name in the standard library.
const TOO_MANY_LINKS: i32 = 40;

/// A file error with its path.
#[derive(Debug)]
pub struct FileError {
    /// The path as a user would write it.
    pub path: PathBuf,
    /// What went wrong.
    pub problem: FileProblem,
}

/// What can go wrong with a file.
#[derive(Debug)]
pub enum FileProblem {
    /// It does not exist.
    NotFound,
    /// It already exists.
    Exists,
    /// It is a folder, not a file.
    IsFolder,
    /// It is below something that is not a folder.
    NotFolder,
    /// It is a pipe, a socket or a device.
    NotFile,
    /// Access is denied.
    Denied,
    /// The file is read-only.
    ReadOnly,
    /// A link or path leads out of the root.
    Outside,
    /// The links form a cycle.
    LinkLoop,
    /// It is larger than [`FILE_BYTES_MAX`].
    TooLarge(u64),
    /// It would be larger than [`FILE_BYTES_MAX`], and could not be read again.
    WouldBeTooLarge(u64),
    /// The disk is full.
    DiskFull,
    /// Another program changed the file in the meantime.
    Changed,
    /// Another program deleted the file in the meantime.
    Deleted,
    /// It came from elsewhere, and the user has not trusted it.
    Untrusted,
    /// Any other error.
    Other(io::Error),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.problem {
            FileProblem::NotFound => write!(f, "`{path}` does not exist"),
            FileProblem::Exists => write!(f, "`{path}` already exists"),
            FileProblem::IsFolder => write!(f, "`{path}` is a folder, not a file"),
            FileProblem::NotFile => write!(f, "`{path}` is not a regular file"),
            FileProblem::NotFolder => write!(f, "a parent of `{path}` is not a folder"),
            FileProblem::Denied => write!(f, "no permission to access `{path}`"),
            FileProblem::ReadOnly => write!(f, "`{path}` is read-only"),
            FileProblem::Outside => write!(f, "`{path}` points outside the project"),
            FileProblem::LinkLoop => write!(f, "`{path}` contains a symlink loop"),
            FileProblem::TooLarge(size) => {
                write!(f, "`{path}` is {size} bytes; the maximum is {FILE_BYTES_MAX}")
            }
            FileProblem::WouldBeTooLarge(size) => {
                write!(f, "`{path}` would be {size} bytes; the maximum is {FILE_BYTES_MAX}")
            }
            FileProblem::DiskFull => write!(f, "no space left to write `{path}`"),
            FileProblem::Changed => write!(f, "another process changed `{path}` in the meantime"),
            FileProblem::Deleted => write!(f, "`{path}` was deleted in the meantime"),
            FileProblem::Untrusted => write!(f, "`{path}` came from elsewhere and is not trusted"),
            FileProblem::Other(error) => write!(f, "`{path}`: {error}"),
        }
    }
}

impl std::error::Error for FileError {}

impl FileError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self.problem {
            FileProblem::Exists => "choose another id, or edit the existing file",
            FileProblem::IsFolder | FileProblem::NotFolder | FileProblem::NotFile => {
                "move it out of the way, then try again"
            }
            FileProblem::Denied => "check its owner and permissions",
            FileProblem::ReadOnly => "make it writable with `chmod u+w`, then try again",
            FileProblem::Outside => {
                "midstride stays inside the project; move the file into the project"
            }
            FileProblem::LinkLoop => "remove the link",
            FileProblem::TooLarge(_) => {
                "move some of the content into separate files and link to them"
            }
            FileProblem::WouldBeTooLarge(_) => {
                "nothing was changed; move some of the content into separate files and link to them"
            }
            FileProblem::DiskFull => "free some disk space and try again; nothing was changed",
            FileProblem::Changed => "review the change, then run the command again",
            FileProblem::Deleted => {
                "restore the file, for example with `git restore`, then run the command again"
            }
            FileProblem::Untrusted => {
                "if it is yours, trust it with `midstride trust` in a terminal"
            }
            FileProblem::NotFound | FileProblem::Other(_) => return None,
        })
    }

    /// Whether the path is something other than a regular file.
    pub fn is_not_a_file(&self) -> bool {
        matches!(self.problem, FileProblem::IsFolder | FileProblem::NotFile)
    }

    /// The same error for a file that existed before.
    pub(crate) fn into_deleted(self) -> Self {
        let gone = matches!(self.problem, FileProblem::NotFound);
        if gone { Self { problem: FileProblem::Deleted, ..self } } else { self }
    }

    /// Whether the file does not exist, or has to be treated so.
    pub(crate) fn is_missing(&self) -> bool {
        let problem = &self.problem;
        matches!(problem, FileProblem::NotFound | FileProblem::Deleted | FileProblem::Untrusted)
    }

    /// What was read, or `None` if it is missing or may not be read. Fails if the disk does.
    pub(crate) fn unless_disk_fails<T>(read: Result<T, Self>) -> Result<Option<T>, Self> {
        match read {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_disk_failure() => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Whether the system could not answer, so that it is unknown whether the file exists.
    pub(crate) fn is_disk_failure(&self) -> bool {
        match &self.problem {
            FileProblem::DiskFull => true,
            FileProblem::Other(error) => error.kind() != io::ErrorKind::InvalidData,
            FileProblem::NotFound
            | FileProblem::Exists
            | FileProblem::IsFolder
            | FileProblem::NotFolder
            | FileProblem::NotFile
            | FileProblem::Denied
            | FileProblem::ReadOnly
            | FileProblem::Outside
            | FileProblem::LinkLoop
            | FileProblem::TooLarge(_)
            | FileProblem::WouldBeTooLarge(_)
            | FileProblem::Changed
            | FileProblem::Deleted
            | FileProblem::Untrusted => false,
        }
    }

    pub(super) fn new(path: PathBuf, error: io::Error) -> Self {
        let problem = match (error.kind(), error.raw_os_error()) {
            (_, Some(TOO_MANY_LINKS)) => FileProblem::LinkLoop,
            (io::ErrorKind::NotFound, _) => FileProblem::NotFound,
            (io::ErrorKind::AlreadyExists, _) => FileProblem::Exists,
            (io::ErrorKind::IsADirectory, _) => FileProblem::IsFolder,
            (io::ErrorKind::NotADirectory, _) => FileProblem::NotFolder,
            (io::ErrorKind::ReadOnlyFilesystem, _) => FileProblem::ReadOnly,
            // cap-std's own refusal has no OS error number.
            (io::ErrorKind::PermissionDenied, None) => FileProblem::Outside,
            (io::ErrorKind::PermissionDenied, Some(_)) => FileProblem::Denied,
            (
                io::ErrorKind::StorageFull
                | io::ErrorKind::QuotaExceeded
                | io::ErrorKind::FileTooLarge,
                _,
            ) => FileProblem::DiskFull,
            _ => FileProblem::Other(error),
        };
        Self { path, problem }
    }
}

/// Refuses to write a file that would be too large to read again.
pub(crate) fn check_size(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let problem = FileProblem::WouldBeTooLarge(size);
    if size > FILE_BYTES_MAX { Err(FileError { path: path.to_owned(), problem }) } else { Ok(()) }
}

/// A folder that no access can escape.
#[derive(Debug)]
pub struct Root {
    dir: Dir,
    path: PathBuf,
    /// Whether only the owner can access what is created below it, regardless of the umask.
    is_private: bool,
}

impl Root {
    /// Opens a folder.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let dir = Dir::open_ambient_dir(path, ambient_authority());
        let dir = dir.map_err(|error| FileError::new(path.to_owned(), error))?;
        Ok(Self { dir, path: path.to_owned(), is_private: false })
    }

    /// Opens a folder and creates it and its parents if they are missing.
    pub fn make(path: &Path) -> Result<Self, FileError> {
        std::fs::create_dir_all(path).map_err(|error| FileError::new(path.to_owned(), error))?;
        Self::open(path)
    }

    /// The same for a folder that only its owner can access.
    pub(crate) fn make_owner_only(path: &Path) -> Result<Self, FileError> {
        let failed = |error| FileError::new(path.to_owned(), error);
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(OWNER_FOLDER_MODE)
            .create(path)
            .map_err(failed)?;
        let only_owner = std::fs::Permissions::from_mode(OWNER_FOLDER_MODE);
        std::fs::set_permissions(path, only_owner).map_err(failed)?;
        Ok(Self::open(path)?.into_private())
    }

    /// The same folder, for data of the user: only the owner can access the files and folders that are
    /// created below it.
    pub(crate) fn into_private(self) -> Self {
        Self { is_private: true, ..self }
    }

    /// Opens a folder for data of the user and creates it if it is missing. Takes the access of others
    /// to an existing one away.
    pub(crate) fn make_private(path: &Path) -> Result<Self, FileError> {
        let Ok(root) = Self::open(path) else {
            return Self::make_owner_only(path);
        };
        let failed = |error| FileError::new(path.to_owned(), error);
        let mode = root.dir.dir_metadata().map_err(failed)?.permissions().mode();
        if mode & OTHERS_MODE != 0 {
            // What the owner may do stays: the folder may be read-only on purpose.
            let only_owner = std::fs::Permissions::from_mode(mode & !OTHERS_MODE);
            std::fs::set_permissions(path, only_owner).map_err(failed)?;
        }
        Ok(root.into_private())
    }

    /// Makes sure that only the owner can access a file that another library opens. Creates it empty
    /// if it is missing. Does nothing if this is not a folder for data of the user.
    pub(crate) fn prepare_private(&self, path: &Path) -> Result<(), FileError> {
        let failed = |error| self.error(path, error);
        if !self.is_private {
            return Ok(());
        }
        let mode = match self.dir.metadata(path) {
            Ok(metadata) => metadata.permissions().mode(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let options = self.creating().append(true).clone();
                return self.dir.open_with(path, &options).map(|_| ()).map_err(failed);
            }
            Err(error) => return Err(failed(error)),
        };
        match mode & OTHERS_MODE {
            0 => Ok(()),
            _ => {
                let only_owner = Permissions::from_mode(OWNER_MODE);
                let file = self.dir.open(path).map_err(failed)?;
                file.set_permissions(only_owner).map_err(failed)
            }
        }
    }

    /// Opens a folder beneath this one, or returns `None` if it does not exist.
    pub(crate) fn open_below(&self, path: &Path) -> Result<Option<Self>, FileError> {
        match self.dir.open_dir(path) {
            Ok(dir) => {
                let (path, is_private) = (self.path.join(path), self.is_private);
                Ok(Some(Self { dir, path, is_private }))
            }
            Err(error) => match self.error(path, error) {
                FileError { problem: FileProblem::NotFound | FileProblem::NotFolder, .. } => {
                    Ok(None)
                }
                other => Err(other),
            },
        }
    }

    /// Opens a folder beneath this one and creates it if it is missing.
    pub(crate) fn make_below(&self, path: &Path) -> Result<Self, FileError> {
        self.make_folder(path)?;
        let dir = self.dir.open_dir(path).map_err(|error| self.error(path, error))?;
        Ok(Self { dir, path: self.path.join(path), is_private: self.is_private })
    }

    /// The path of the root.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn error(&self, path: &Path, error: io::Error) -> FileError {
        FileError::new(self.path.join(path), error)
    }

    /// Reads a file.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        self.read_up_to(path, FILE_BYTES_MAX)
    }

    /// Reads a file of at most `bytes_max` bytes.
    pub(crate) fn read_up_to(&self, path: &Path, bytes_max: u64) -> Result<Vec<u8>, FileError> {
        let failed = |error| self.error(path, error);
        // Check the type before opening: opening a pipe would block until another process writes to
        // it.
        let metadata = self.dir.metadata(path).map_err(failed)?;
        if !metadata.is_file() {
            let problem =
                if metadata.is_dir() { FileProblem::IsFolder } else { FileProblem::NotFile };
            return Err(FileError { path: self.path.join(path), problem });
        }
        let file = self.dir.open(path).map_err(failed)?;
        if metadata.len() > bytes_max {
            let problem = FileProblem::TooLarge(metadata.len());
            return Err(FileError { path: self.path.join(path), problem });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
        // The file may have grown since, so enforce the limit here too.
        file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// Whether something exists at a path, following links beneath the root.
    pub fn exists(&self, path: &Path) -> bool {
        self.dir.metadata(path).is_ok()
    }

    /// The same, for decisions that must not rest on a failing disk. What may not be accessed counts as
    /// missing.
    pub(crate) fn try_exists(&self, path: &Path) -> Result<bool, FileError> {
        match self.dir.metadata(path) {
            Ok(_) => Ok(true),
            Err(error) => match self.error(path, error) {
                error if error.is_disk_failure() => Err(error),
                _ => Ok(false),
            },
        }
    }

    /// Why something that exists cannot be read, or `None` if it can be read or does not exist.
    pub(crate) fn access_error(&self, path: &Path) -> Option<FileError> {
        match self.dir.metadata(path) {
            Ok(metadata) if metadata.is_file() || metadata.is_dir() => None,
            Ok(_) => Some(FileError { path: self.path.join(path), problem: FileProblem::NotFile }),
            Err(error) => Some(self.error(path, error)).filter(|error| {
                !matches!(error.problem, FileProblem::NotFound | FileProblem::NotFolder)
            }),
        }
    }

    /// Whether a file exists, following links beneath the root.
    pub(crate) fn has_file(&self, path: &Path) -> bool {
        self.dir.metadata(path).is_ok_and(|metadata| metadata.is_file())
    }

    /// Whether a folder exists.
    pub fn has_folder(&self, path: &Path) -> bool {
        self.dir.metadata(path).is_ok_and(|metadata| metadata.is_dir())
    }

    /// Whether a link in the path leads out of the root.
    pub(crate) fn links_outside(&self, path: &Path) -> bool {
        let refused = |error| matches!(self.error(path, error).problem, FileProblem::Outside);
        self.dir.metadata(path).is_err_and(refused)
    }

    /// Atomically creates a file. Fails if something already exists.
    pub fn create(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        self.create_with(path, bytes, None)
    }

    /// The same for a file that only its owner can access.
    pub(crate) fn create_owner_only(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        self.create_with(path, bytes, Some(OWNER_MODE))
    }

    fn create_with(&self, path: &Path, bytes: &[u8], mode: Option<u32>) -> Result<(), FileError> {
        let failed = |error| self.error(path, error);
        check_size(&self.path.join(path), bytes)?;
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            self.make_folder(parent)?;
        }
        let folder = self.lock_folder(path).map_err(failed)?;
        let draft = self.draft_with(path, bytes, mode, Durability::Synced)?;
        // Hard-linking fails if the target exists, so that only one of two concurrent creators
        // succeeds.
        self.dir.hard_link(&draft.path, &self.dir, path).map_err(failed)?;
        drop(draft);
        folder.sync().map_err(failed)
    }

    /// Removes a file if its content is still `old`.
    pub fn remove(&self, path: &Path, old: &[u8]) -> Result<(), FileError> {
        let failed = |error| self.error(path, error);
        let folder = self.lock_folder(path).map_err(failed)?;
        if self.read(path)? != old {
            return Err(FileError { path: self.path.join(path), problem: FileProblem::Changed });
        }
        self.dir.remove_file(path).map_err(failed)?;
        folder.sync().map_err(failed)
    }

    /// Atomically writes a file, replacing any existing one. For midstride's own files.
    pub fn put(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        let failed = |error| self.error(path, error);
        let folder = self.lock_folder(path).map_err(failed)?;
        let draft = self.draft(path, bytes)?;
        self.dir.rename(&draft.path, &self.dir, path).map_err(failed)?;
        draft.keep();
        folder.sync().map_err(failed)
    }

    /// The same without syncing, for files that can be recreated. Readers must recognize an
    /// incomplete file.
    pub(crate) fn put_without_sync(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        let _folder = self.lock_folder(path).map_err(|error| self.error(path, error))?;
        self.replace_without_sync(path, bytes)
    }

    /// Changes such a file under a lock: `change` gets the current content and returns the new one,
    /// or `None` to leave the file unchanged. Other writers wait, so `change` must be quick.
    pub fn update_without_sync<T>(
        &self,
        path: &Path,
        bytes_max: u64,
        change: impl FnOnce(Option<Vec<u8>>) -> (Option<Vec<u8>>, T),
    ) -> Result<T, FileError> {
        let _folder = self.lock_folder(path).map_err(|error| self.error(path, error))?;
        let (bytes, given) = change(self.read_up_to(path, bytes_max).ok());
        if let Some(bytes) = bytes {
            self.replace_without_sync(path, &bytes)?;
        }
        Ok(given)
    }

    fn replace_without_sync(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        let draft = self.draft_with(path, bytes, None, Durability::Unsynced)?;
        let exchanged = self.dir.rename(&draft.path, &self.dir, path);
        exchanged.map_err(|error| self.error(path, error))?;
        draft.keep();
        Ok(())
    }

    /// Atomically writes a file that only its owner can access, replacing any existing one.
    pub(crate) fn put_owner_only(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        let failed = |error| self.error(path, error);
        let folder = self.lock_folder(path).map_err(failed)?;
        let draft = self.draft_with(path, bytes, Some(OWNER_MODE), Durability::Synced)?;
        self.dir.rename(&draft.path, &self.dir, path).map_err(failed)?;
        draft.keep();
        folder.sync().map_err(failed)
    }

    /// Whether a regular file exists that only its owner can access.
    pub(crate) fn is_owner_only(&self, path: &Path) -> bool {
        let only_owner = |mode: u32| mode & OTHERS_MODE == 0;
        let metadata = self.dir.symlink_metadata(path);
        metadata.is_ok_and(|file| file.is_file() && only_owner(file.permissions().mode()))
    }

    /// Writes to a file to notify its watchers. The write is neither atomic nor synced.
    pub fn touch(&self, path: &Path) -> Result<(), FileError> {
        let options = self.creating().write(true).clone();
        let touched = self.dir.open_with(path, &options).and_then(|mut file| file.write_all(b"."));
        touched.map_err(|error| self.error(path, error))
    }

    /// Appends to a file in one write, so that concurrent appends do not mix. Does not sync.
    pub fn append(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        let options = self.creating().append(true).clone();
        let added = self.dir.open_with(path, &options).and_then(|mut file| file.write_all(bytes));
        added.map_err(|error| self.error(path, error))
    }

    /// Options to open a file that may not exist yet.
    fn creating(&self) -> OpenOptions {
        let mut options = OpenOptions::new().create(true).clone();
        if self.is_private {
            options.mode(OWNER_MODE);
        }
        options
    }

    fn make_folder(&self, folder: &Path) -> Result<(), FileError> {
        let failed = |error| self.error(folder, error);
        match self.dir.metadata(folder) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.dir.create_dir_with(folder, &self.folder_builder()).map_err(failed)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Options to create a folder and its parents.
    fn folder_builder(&self) -> DirBuilder {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        if self.is_private {
            builder.mode(OWNER_FOLDER_MODE);
        }
        builder
    }

    /// Atomically replaces a file if its content is still `old`.
    pub fn replace(&self, path: &Path, old: &[u8], new: &[u8]) -> Result<(), FileError> {
        let failed = |error| self.error(path, error);
        check_size(&self.path.join(path), new)?;
        // If the path is a link, replace its target and keep the link.
        let path = self.resolve_links(path).map_err(|error| failed(error).into_deleted())?;
        let path = path.as_path();
        let metadata = self.dir.metadata(path).map_err(|error| failed(error).into_deleted())?;
        if metadata.permissions().readonly() {
            return Err(FileError { path: self.path.join(path), problem: FileProblem::ReadOnly });
        }
        // The lock keeps other midstride processes from writing between the comparison and the
        // rename.
        let folder = self.lock_folder(path).map_err(failed)?;
        let mode = metadata.permissions().mode() & PERMISSION_BITS;
        let mode = if self.is_private { mode & !OTHERS_MODE } else { mode };
        let draft = self.draft_with(path, new, Some(mode), Durability::Synced)?;
        if self.read(path).map_err(FileError::into_deleted)? != old {
            return Err(FileError { path: self.path.join(path), problem: FileProblem::Changed });
        }
        self.dir.rename(&draft.path, &self.dir, path).map_err(failed)?;
        draft.keep();
        folder.sync().map_err(failed)
    }

    /// The file that a path leads to. Resolves one link at a time: the system could return the path
    /// of an open file, but that path is invalid if the file is replaced in the meantime.
    fn resolve_links(&self, path: &Path) -> io::Result<PathBuf> {
        let mut path = path.to_owned();
        for _ in 0..LINKS_MAX {
            if !self.dir.symlink_metadata(&path)?.is_symlink() {
                return Ok(path);
            }
            let target = self.dir.read_link(&path)?;
            path = path.parent().unwrap_or(Path::new("")).join(target);
        }
        Err(io::Error::from_raw_os_error(TOO_MANY_LINKS))
    }

    /// Writes the new content to a draft file next to its destination. The caller holds the lock of
    /// the folder, so an existing draft was left by a killed process.
    fn draft(&self, path: &Path, bytes: &[u8]) -> Result<DraftFile<'_>, FileError> {
        self.draft_with(path, bytes, None, Durability::Synced)
    }

    fn draft_with(
        &self,
        path: &Path,
        bytes: &[u8],
        mode: Option<u32>,
        durability: Durability,
    ) -> Result<DraftFile<'_>, FileError> {
        let draft_path = path.with_file_name(DRAFT_NAME);
        let draft = DraftFile { root: self, path: draft_path, is_kept: false };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let older_draft = path.with_file_name(format!(".{name}{DRAFT_SUFFIX}"));
        let write = || -> io::Result<()> {
            for stale in [&draft.path, &older_draft] {
                match self.dir.remove_file(stale) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    Ok(()) | Err(_) => {}
                }
            }
            let mut options = OpenOptions::new().write(true).create_new(true).clone();
            if let Some(mode) = mode.or(self.is_private.then_some(OWNER_MODE)) {
                options.mode(mode);
            }
            let mut file = self.dir.open_with(&draft.path, &options)?;
            if let Some(mode) = mode {
                // The umask does not apply here. The handle is used because cap-std changes the mode of
                // a path through `/proc`, and panics if that fails.
                file.set_permissions(Permissions::from_mode(mode))?;
            }
            file.write_all(bytes)?;
            if durability == Durability::Synced { file.sync_all() } else { Ok(()) }
        };
        write().map_err(|error| self.error(path, error))?;
        Ok(draft)
    }

    /// Opens and locks the folder of a file, so that only one process writes in it. The lock is
    /// released with the handle or when the process exits.
    fn lock_folder(&self, path: &Path) -> io::Result<Lock> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        // Opened as a file, because a cap-std folder handle can be neither synced nor locked.
        Lock::wait(self.dir.open(parent.unwrap_or(Path::new(".")))?.into_std())
    }

    /// The names of files in this folder with a suffix, sorted. Hidden files are skipped.
    pub fn names(&self, suffix: &str) -> Result<Vec<PathBuf>, FileError> {
        let failed = |error| self.error(Path::new(""), error);
        let mut found = Vec::new();
        for entry in self.dir.entries().map_err(failed)? {
            let name = PathBuf::from(entry.map_err(failed)?.file_name());
            let shown = name.to_string_lossy();
            if shown.ends_with(suffix) && !shown.starts_with('.') {
                found.push(name);
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Removes the draft that a killed process left in a folder, unless a writer holds its lock.
    pub(crate) fn remove_stale_draft(&self, folder: &Path) {
        let path = folder.join(DRAFT_NAME);
        if self.dir.symlink_metadata(&path).is_err() {
            return;
        }
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let Ok(lock) = self.dir.open(here).map(cap_std::fs::File::into_std) else { return };
        if lock.try_lock().is_ok() {
            // If it cannot be removed, the next writer reports why.
            let _ = self.dir.remove_file(&path);
            let _ = lock.unlock();
        }
    }

    /// Removes drafts in this folder that killed processes left behind. Holding the lock of the
    /// folder guarantees that no draft is in use.
    pub(crate) fn remove_drafts(&self) -> Result<(), FileError> {
        let failed = |error| self.error(Path::new(""), error);
        let _folder = self.lock_folder(Path::new("")).map_err(failed)?;
        for entry in self.dir.entries().map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let shown = name.to_string_lossy();
            if shown.starts_with('.') && shown.ends_with(DRAFT_SUFFIX) {
                self.dir.remove_file(&name).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Atomically writes a file that is never changed, through a draft with a given name, for folders
    /// where git cleans up temporary files. Nothing is locked, so the name of the draft must be unique.
    /// If a group shares the root, it can read the file and write in a new folder.
    pub(crate) fn put_through(
        &self,
        draft: &Path,
        path: &Path,
        bytes: &[u8],
    ) -> Result<(), FileError> {
        const TRIES_MAX: usize = 10;
        let failed = |error| self.error(path, error);
        let mode = if self.is_private { OWNER_MODE } else { 0o444 };
        let options = OpenOptions::new().write(true).create_new(true).mode(mode).clone();
        let mut file = self.dir.open_with(draft, &options).map_err(failed)?;
        let draft = DraftFile { root: self, path: draft.to_owned(), is_kept: false };
        let mut write = || -> io::Result<()> {
            file.write_all(bytes)?;
            file.sync_all()?;
            let is_shared = self.dir.dir_metadata()?.permissions().mode() & GROUP_WRITE != 0;
            let share = |path: &Path, bits: u32| -> io::Result<()> {
                let file = self.dir.open(path)?;
                let mode = (file.metadata()?.permissions().mode() | bits) & PERMISSION_BITS;
                file.set_permissions(Permissions::from_mode(mode))
            };
            if is_shared {
                share(&draft.path, 0o040)?;
            }
            for _ in 0..TRIES_MAX {
                if let Some(folder) = path.parent().filter(|folder| !self.has_folder(folder)) {
                    self.dir.create_dir_with(folder, &self.folder_builder())?;
                    if is_shared {
                        share(folder, 0o2070)?;
                    }
                }
                match self.dir.rename(&draft.path, &self.dir, path) {
                    // Git removed the folder while it was empty.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    renamed => return renamed,
                }
            }
            Err(io::ErrorKind::NotFound.into())
        };
        write().map_err(failed)?;
        draft.keep();
        Ok(())
    }

    /// Sets the time of a file to now. Returns `false` if there is no such file or it is not ours.
    pub(crate) fn refresh(&self, path: &Path) -> bool {
        let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
        let times = rustix::fs::Timestamps { last_access: now, last_modification: now };
        let file = self.dir.open(path);
        file.is_ok_and(|file| rustix::fs::futimens(&file, &times).is_ok())
    }

    /// Renames a file within the root.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<(), FileError> {
        self.dir.rename(from, &self.dir, to).map_err(|error| self.error(from, error))
    }

    /// The `.md` files below a folder, sorted. Links to folders are not followed, so nothing is
    /// found twice and cycles are impossible.
    pub fn markdown_below(&self, folder: &Path, depth: usize) -> Result<Vec<PathBuf>, FileError> {
        Ok(self.scan_below(folder, depth, ScanDetail::Names)?.into_paths())
    }
}

/// Whether a file must survive a crash of the machine.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Durability {
    Synced,
    Unsynced,
}

/// A draft file that is removed on drop unless it is kept.
struct DraftFile<'r> {
    root: &'r Root,
    path: PathBuf,
    is_kept: bool,
}

impl DraftFile<'_> {
    fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for DraftFile<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            // Tried twice, because nothing writes to the folder of a client again and would replace
            // it. If both fail, the draft stays. Its name identifies it.
            let removed = self.root.dir.remove_file(&self.path);
            let _ = removed.or_else(|_| self.root.dir.remove_file(&self.path));
        }
    }
}

/// Reads a file that the user named, outside of any root.
pub fn read_named(path: &Path) -> Result<Vec<u8>, FileError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let Some(name) = path.file_name() else {
        return Err(FileError { path: path.to_owned(), problem: FileProblem::IsFolder });
    };
    let root = Root::open(parent.unwrap_or(Path::new(".")))?;
    root.read(Path::new(name)).map_err(|error| FileError { path: path.to_owned(), ..error })
}

/// Opens a file of any size that the user named, for reading in pieces.
pub fn open_named(path: &Path) -> Result<impl io::Read + use<>, FileError> {
    let failed = |error| FileError::new(path.to_owned(), error);
    let file = std::fs::File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(FileError { path: path.to_owned(), problem: FileProblem::IsFolder });
    }
    Ok(file)
}

/// The text of a small file of git or midstride, or `None` if it does not exist.
pub(crate) fn read_small(path: &Path) -> Result<Option<String>, FileError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) => match FileError::new(path.to_owned(), error) {
            FileError {
                problem: FileProblem::NotFound | FileProblem::NotFolder | FileProblem::IsFolder,
                ..
            } => Ok(None),
            other => Err(other),
        },
    }
}

/// The same, or `None` if it is not text or not accessible. Fails if the disk does: then it is unknown
/// whether the file exists.
pub(crate) fn read_if_possible(path: &Path) -> Result<Option<String>, FileError> {
    Ok(FileError::unless_disk_fails(read_small(path))?.flatten())
}

/// Whether there is a folder at a path.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// Whether there is a file at a path.
pub fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// Whether anything exists at a path.
pub fn exists(path: &Path) -> bool {
    path.exists()
}

/// The time since a file was modified, or `None` if it does not exist.
pub fn age(path: &Path) -> Option<Duration> {
    std::fs::metadata(path).ok()?.modified().ok()?.elapsed().ok()
}

/// What identifies a folder in addition to its path. A copy, a restored folder and a new one at the same path
/// differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FolderIdentity {
    device: u64,
    inode: u64,
    /// When it was created, in nanoseconds, if the file system records it.
    created: Option<u64>,
}

/// The identity of a folder, or `None` if it does not exist.
pub(crate) fn folder_identity(path: &Path) -> Option<FolderIdentity> {
    let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_dir)?;
    let created = metadata.created().ok();
    let created = created.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let created = created.and_then(|since| u64::try_from(since.as_nanos()).ok());
    Some(FolderIdentity { device: metadata.dev(), inode: metadata.ino(), created })
}

/// The size of a file, or `None` if it does not exist.
pub fn size(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|metadata| metadata.len())
}

/// Removes one of midstride's own files. Succeeds if it does not exist.
pub(crate) fn remove_if_exists(path: &Path) -> Result<(), FileError> {
    match remove(path) {
        Err(FileError { problem: FileProblem::NotFound, .. }) | Ok(()) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Removes a file of git or midstride.
pub fn remove(path: &Path) -> Result<(), FileError> {
    std::fs::remove_file(path).map_err(|error| FileError::new(path.to_owned(), error))
}

/// The file that a path leads to through links, even if it does not exist yet.
pub(crate) fn resolve_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

/// Removes one of midstride's own folders if it is empty.
pub(crate) fn remove_empty_folder(path: &Path) {
    // This fails for a folder that is not empty or does not exist, which is intended.
    let _ = std::fs::remove_dir(path);
}

/// Whether there is an executable file at a path.
pub(crate) fn is_executable(path: &Path) -> bool {
    const STARTS: u32 = 0o111;
    let metadata = std::fs::metadata(path);
    metadata.is_ok_and(|file| file.is_file() && file.permissions().mode() & STARTS != 0)
}

/// The canonical path, or the path itself if it does not exist.
pub fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Whether a path has the extension of handoffs.
pub fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "md")
}

/// A relative path without dots, or `None` if it would lead out of its base.
pub fn normalize(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => out.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !out.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(out)
}

/// Whether a relative path stays within its base.
pub(crate) fn stays_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}
