//! Files: opened beneath a root, written whole or not at all, with the path in every error.
//!
//! A [`Root`] is a folder that nothing leaves: a path with `..` in it, an absolute path or a link
//! that leads out is refused by the system call that opens it, not by a check before.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

mod lock;
mod scan;
mod scratch;
mod stream;
mod tree;

pub use lock::Lock;
pub use scan::{FileStamp, FolderScan, ScanDetail};
pub use scratch::ScratchFolder;
#[cfg(test)]
pub(crate) use stream::looked_at;
pub use stream::{FileStream, FolderEntry, list_folder, read_entry};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _, PermissionsExt as _};
use std::fmt;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// A larger file is no handoff.
pub const FILE_BYTES_MAX: u64 = 16 << 20;
/// Folders below folders below folders: deeper is a mistake.
const DEPTH_MAX: usize = 12;
/// What others may do with a file; nothing, in one that is for its owner.
const OTHERS_MODE: u32 = 0o077;
/// What the names of drafts end with; they begin with a dot.
const DRAFT_SUFFIX: &str = ".tmp";
/// Links to links: as many as the system follows.
const LINKS_MAX: usize = 40;
/// `ELOOP`, which the standard library has no stable name for.
const TOO_MANY_LINKS: i32 = 40;

/// What went wrong with a file, and where.
#[derive(Debug)]
pub struct FileError {
    /// The path as a person would write it.
    pub path: PathBuf,
    /// What went wrong.
    pub problem: FileProblem,
}

/// What can go wrong with a file.
#[derive(Debug)]
pub enum FileProblem {
    /// Nothing is there.
    NotFound,
    /// Something is there already.
    Exists,
    /// A folder is in the place of a file.
    IsFolder,
    /// A file is in the place of a folder.
    NotFolder,
    /// A pipe, a socket or a device.
    NotFile,
    /// The file or folder may not be read or changed.
    Denied,
    /// The file is marked as read-only.
    ReadOnly,
    /// A link or path leads out of the root.
    Outside,
    /// Links lead in a circle.
    LinkLoop,
    /// Over [`FILE_BYTES_MAX`].
    TooLarge(u64),
    /// It would be over [`FILE_BYTES_MAX`], and nobody could read it again.
    WouldBeTooLarge(u64),
    /// No room is left.
    DiskFull,
    /// Somebody else changed the file meanwhile.
    Changed,
    /// Somebody else deleted the file meanwhile.
    Deleted,
    /// Anything else.
    Other(io::Error),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.problem {
            FileProblem::NotFound => write!(f, "`{path}` does not exist"),
            FileProblem::Exists => write!(f, "`{path}` exists already"),
            FileProblem::IsFolder => write!(f, "`{path}` is a folder, a file is expected there"),
            FileProblem::NotFile => write!(f, "`{path}` is no ordinary file"),
            FileProblem::NotFolder => write!(f, "`{path}` lies below something that is no folder"),
            FileProblem::Denied => write!(f, "`{path}` may not be accessed"),
            FileProblem::ReadOnly => write!(f, "`{path}` is read-only"),
            FileProblem::Outside => write!(f, "`{path}` leads out of the project"),
            FileProblem::LinkLoop => write!(f, "the links of `{path}` lead in a circle"),
            FileProblem::TooLarge(size) => {
                write!(f, "`{path}` has {size} bytes, at most {FILE_BYTES_MAX} are read")
            }
            FileProblem::WouldBeTooLarge(size) => {
                write!(f, "`{path}` would have {size} bytes, and at most {FILE_BYTES_MAX} are read")
            }
            FileProblem::DiskFull => write!(f, "there is no room left to write `{path}`"),
            FileProblem::Changed => write!(f, "`{path}` was changed by somebody else meanwhile"),
            FileProblem::Deleted => write!(f, "`{path}` was deleted meanwhile"),
            FileProblem::Other(error) => write!(f, "`{path}`: {error}"),
        }
    }
}

impl std::error::Error for FileError {}

impl FileError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self.problem {
            FileProblem::Exists => "choose another id, or edit the one that is there",
            FileProblem::IsFolder | FileProblem::NotFolder | FileProblem::NotFile => {
                "move it away, then try again"
            }
            FileProblem::Denied => "check who owns it and its permissions",
            FileProblem::ReadOnly => "make it writable with `chmod u+w`, then try again",
            FileProblem::Outside => {
                "midstride stays inside the project: move the file in, or name it from there"
            }
            FileProblem::LinkLoop => "remove the link",
            FileProblem::TooLarge(_) => "move the material into files of its own and refer to them",
            FileProblem::WouldBeTooLarge(_) => {
                "nothing was changed; move the material into files of its own and refer to them"
            }
            FileProblem::DiskFull => "make room and try again; nothing was changed",
            FileProblem::Changed => "look at it again, then repeat the command",
            FileProblem::Deleted => {
                "bring it back, for instance with `git restore`, then repeat the command"
            }
            FileProblem::NotFound | FileProblem::Other(_) => return None,
        })
    }

    /// Whether something else than a file is there.
    pub fn is_not_a_file(&self) -> bool {
        matches!(self.problem, FileProblem::IsFolder | FileProblem::NotFile)
    }

    /// The same about a file that was there before.
    pub(crate) fn into_deleted(self) -> Self {
        let gone = matches!(self.problem, FileProblem::NotFound);
        if gone { Self { problem: FileProblem::Deleted, ..self } } else { self }
    }

    /// Whether nothing is there.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.problem, FileProblem::NotFound | FileProblem::Deleted)
    }

    fn new(path: PathBuf, error: io::Error) -> Self {
        let problem = match (error.kind(), error.raw_os_error()) {
            (_, Some(TOO_MANY_LINKS)) => FileProblem::LinkLoop,
            (io::ErrorKind::NotFound, _) => FileProblem::NotFound,
            (io::ErrorKind::AlreadyExists, _) => FileProblem::Exists,
            (io::ErrorKind::IsADirectory, _) => FileProblem::IsFolder,
            (io::ErrorKind::NotADirectory, _) => FileProblem::NotFolder,
            (io::ErrorKind::ReadOnlyFilesystem, _) => FileProblem::ReadOnly,
            // The door's own refusal has no number of the operating system.
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

/// Refuses to write what could not be read again.
pub(crate) fn check_size(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let problem = FileProblem::WouldBeTooLarge(size);
    if size > FILE_BYTES_MAX { Err(FileError { path: path.to_owned(), problem }) } else { Ok(()) }
}

/// A folder that nothing leaves.
#[derive(Debug)]
pub struct Root {
    dir: Dir,
    path: PathBuf,
}

impl Root {
    /// Opens a folder.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let dir = Dir::open_ambient_dir(path, ambient_authority());
        let dir = dir.map_err(|error| FileError::new(path.to_owned(), error))?;
        Ok(Self { dir, path: path.to_owned() })
    }

    /// Opens a folder, making it and the folders above it where they are missing.
    pub fn make(path: &Path) -> Result<Self, FileError> {
        std::fs::create_dir_all(path).map_err(|error| FileError::new(path.to_owned(), error))?;
        Self::open(path)
    }

    /// The same for a folder that nobody else may look into.
    pub fn make_owner_only(path: &Path) -> Result<Self, FileError> {
        let failed = |error| FileError::new(path.to_owned(), error);
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        let only_owner = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(path, only_owner).map_err(failed)?;
        Self::open(path)
    }

    /// Opens a folder beneath this one, where it exists.
    pub fn open_below(&self, path: &Path) -> Result<Option<Self>, FileError> {
        match self.dir.open_dir(path) {
            Ok(dir) => Ok(Some(Self { dir, path: self.path.join(path) })),
            Err(error) => match self.error(path, error) {
                FileError { problem: FileProblem::NotFound | FileProblem::NotFolder, .. } => {
                    Ok(None)
                }
                other => Err(other),
            },
        }
    }

    /// Opens a folder beneath this one, making it where it is missing.
    pub fn make_below(&self, path: &Path) -> Result<Self, FileError> {
        self.make_folder(path)?;
        let dir = self.dir.open_dir(path).map_err(|error| self.error(path, error))?;
        Ok(Self { dir, path: self.path.join(path) })
    }

    /// Where it is.
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

    /// Reads a file that has at most so many bytes.
    pub fn read_up_to(&self, path: &Path, bytes_max: u64) -> Result<Vec<u8>, FileError> {
        let failed = |error| self.error(path, error);
        // Looked at before it is opened: opening a pipe would wait for somebody to write to it.
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
        // It may have grown since; the limit holds all the same.
        file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// Whether something is there, links followed beneath the root.
    pub fn exists(&self, path: &Path) -> bool {
        self.dir.metadata(path).is_ok()
    }

    /// Why something that is there cannot be read; `None` where it can, or where nothing is.
    pub fn access_error(&self, path: &Path) -> Option<FileError> {
        match self.dir.metadata(path) {
            Ok(metadata) if metadata.is_file() || metadata.is_dir() => None,
            Ok(_) => Some(FileError { path: self.path.join(path), problem: FileProblem::NotFile }),
            Err(error) => Some(self.error(path, error)).filter(|error| {
                !matches!(error.problem, FileProblem::NotFound | FileProblem::NotFolder)
            }),
        }
    }

    /// Whether a file is there, links followed beneath the root.
    pub fn has_file(&self, path: &Path) -> bool {
        self.dir.metadata(path).is_ok_and(|metadata| metadata.is_file())
    }

    /// Whether a folder is there.
    pub fn has_folder(&self, path: &Path) -> bool {
        self.dir.metadata(path).is_ok_and(|metadata| metadata.is_dir())
    }

    /// Whether a link on the way leads out of the root.
    pub fn links_outside(&self, path: &Path) -> bool {
        let refused = |error| matches!(self.error(path, error).problem, FileProblem::Outside);
        self.dir.metadata(path).is_err_and(refused)
    }

    /// Writes a new file whole; refuses if something is there already.
    pub fn create(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        self.create_with(path, bytes, None)
    }

    /// The same for a file that nobody else may read.
    pub fn create_owner_only(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        self.create_with(path, bytes, Some(0o600))
    }

    fn create_with(&self, path: &Path, bytes: &[u8], mode: Option<u32>) -> Result<(), FileError> {
        let failed = |error| self.error(path, error);
        check_size(&self.path.join(path), bytes)?;
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            self.make_folder(parent)?;
        }
        let folder = self.lock_folder(path).map_err(failed)?;
        let draft = self.draft_with(path, bytes, mode, Durability::Synced)?;
        // A link fails where something is there, so two that create one file have one winner.
        self.dir.hard_link(&draft.path, &self.dir, path).map_err(failed)?;
        drop(draft);
        folder.sync_all().map_err(failed)
    }

    /// Removes a file, if it still has the content `old`.
    pub fn remove(&self, path: &Path, old: &[u8]) -> Result<(), FileError> {
        let failed = |error| self.error(path, error);
        let folder = self.lock_folder(path).map_err(failed)?;
        if self.read(path)? != old {
            return Err(FileError { path: self.path.join(path), problem: FileProblem::Changed });
        }
        self.dir.remove_file(path).map_err(failed)?;
        folder.sync_all().map_err(failed)
    }

    /// Writes a file whole, whatever was there; for files of our own.
    pub fn put(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        let failed = |error| self.error(path, error);
        let folder = self.lock_folder(path).map_err(failed)?;
        let draft = self.draft(path, bytes)?;
        self.dir.rename(&draft.path, &self.dir, path).map_err(failed)?;
        draft.keep();
        folder.sync_all().map_err(failed)
    }

    /// The same for what can be made again: nobody waits until it is on the disk. Whoever reads it
    /// knows a file that is not whole.
    pub fn put_without_sync(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        let _folder = self.lock_folder(path).map_err(|error| self.error(path, error))?;
        self.replace_without_sync(path, bytes)
    }

    /// Changes such a file in one step: nobody else writes it between what `change` is given and what
    /// it gives back, which is not written where it gives none. Others wait meanwhile, so it is quick.
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

    /// Writes a file whole, whatever was there, that nobody else may read.
    pub fn put_owner_only(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        let failed = |error| self.error(path, error);
        let folder = self.lock_folder(path).map_err(failed)?;
        let draft = self.draft_with(path, bytes, Some(0o600), Durability::Synced)?;
        self.dir.rename(&draft.path, &self.dir, path).map_err(failed)?;
        draft.keep();
        folder.sync_all().map_err(failed)
    }

    /// Whether an ordinary file is there that only its owner can read and write.
    pub fn is_owner_only(&self, path: &Path) -> bool {
        let only_owner = |mode: u32| mode & OTHERS_MODE == 0;
        let metadata = self.dir.symlink_metadata(path);
        metadata.is_ok_and(|file| file.is_file() && only_owner(file.permissions().mode()))
    }

    /// Writes to a file for the sake of whoever watches it. It is neither whole nor lasting.
    pub fn touch(&self, path: &Path) -> Result<(), FileError> {
        let options = OpenOptions::new().create(true).write(true).clone();
        let touched = self.dir.open_with(path, &options).and_then(|mut file| file.write_all(b"."));
        touched.map_err(|error| self.error(path, error))
    }

    /// Adds to the end of a file, in one write: what several add at once stands there one after the
    /// other. Nobody waits until it is on the disk.
    pub fn append(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        let options = OpenOptions::new().create(true).append(true).clone();
        let added = self.dir.open_with(path, &options).and_then(|mut file| file.write_all(bytes));
        added.map_err(|error| self.error(path, error))
    }

    fn make_folder(&self, folder: &Path) -> Result<(), FileError> {
        let failed = |error| self.error(folder, error);
        match self.dir.metadata(folder) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.dir.create_dir_all(folder).map_err(failed)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Replaces a file whole, if it still has the content `old`.
    pub fn replace(&self, path: &Path, old: &[u8], new: &[u8]) -> Result<(), FileError> {
        let failed = |error| self.error(path, error);
        check_size(&self.path.join(path), new)?;
        // Behind a link the file itself is replaced, and the link stays.
        let path = self.resolve_links(path).map_err(|error| failed(error).into_deleted())?;
        let path = path.as_path();
        let metadata = self.dir.metadata(path).map_err(|error| failed(error).into_deleted())?;
        if metadata.permissions().readonly() {
            return Err(FileError { path: self.path.join(path), problem: FileProblem::ReadOnly });
        }
        // Nobody's change comes between the comparison and the exchange.
        let folder = self.lock_folder(path).map_err(failed)?;
        let draft = self.draft(path, new)?;
        self.dir.set_permissions(&draft.path, metadata.permissions()).map_err(failed)?;
        if self.read(path).map_err(FileError::into_deleted)? != old {
            return Err(FileError { path: self.path.join(path), problem: FileProblem::Changed });
        }
        self.dir.rename(&draft.path, &self.dir, path).map_err(failed)?;
        draft.keep();
        folder.sync_all().map_err(failed)
    }

    /// The file that a path leads to. Asked name by name: the system tells the path of an open
    /// file as well, but for one that is replaced meanwhile it is a name that nothing has.
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

    /// The new content, on disk beside its place. Whoever asks for it holds the lock of the folder,
    /// so a draft that is there already is one that somebody left who was killed.
    fn draft(&self, path: &Path, bytes: &[u8]) -> Result<DraftFile<'_>, FileError> {
        self.draft_with(path, bytes, None, Durability::Synced)
    }

    fn draft_with(
        &self,
        path: &Path,
        bytes: &[u8],
        mode: Option<u32>,
        lasting: Durability,
    ) -> Result<DraftFile<'_>, FileError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let place = path.with_file_name(format!(".{name}{DRAFT_SUFFIX}"));
        let draft = DraftFile { root: self, path: place, is_kept: false };
        let write = || -> io::Result<()> {
            match self.dir.remove_file(&draft.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
            let mut options = OpenOptions::new().write(true).create_new(true).clone();
            if let Some(mode) = mode {
                options.mode(mode);
            }
            let mut file = self.dir.open_with(&draft.path, &options)?;
            file.write_all(bytes)?;
            if lasting == Durability::Synced { file.sync_all() } else { Ok(()) }
        };
        write().map_err(|error| self.error(path, error))?;
        Ok(draft)
    }

    /// The folder of a file. Whoever writes in it waits here for the others; the lock is gone with
    /// the handle, or with the process.
    fn lock_folder(&self, path: &Path) -> io::Result<std::fs::File> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        // Opened as a file: the handle of a folder is for walking, and can be neither synced nor
        // locked.
        let folder = self.dir.open(parent.unwrap_or(Path::new(".")))?.into_std();
        folder.lock()?;
        Ok(folder)
    }

    /// The names of the files right here that end like this, sorted; hidden ones are left out.
    pub fn names(&self, ending: &str) -> Result<Vec<PathBuf>, FileError> {
        let failed = |error| self.error(Path::new(""), error);
        let mut found = Vec::new();
        for entry in self.dir.entries().map_err(failed)? {
            let name = PathBuf::from(entry.map_err(failed)?.file_name());
            let shown = name.to_string_lossy();
            if shown.ends_with(ending) && !shown.starts_with('.') {
                found.push(name);
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Removes the drafts right here that somebody left who was killed: whoever writes one holds the
    /// lock of the folder meanwhile.
    pub fn remove_drafts(&self) -> Result<(), FileError> {
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

    /// Gives a file another name in the same root.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<(), FileError> {
        self.dir.rename(from, &self.dir, to).map_err(|error| self.error(from, error))
    }

    /// The files below a folder whose name ends with `.md`, sorted; links to folders are not
    /// followed, so nothing is found twice and no circle is walked.
    pub fn markdown_below(&self, folder: &Path, depth: usize) -> Result<Vec<PathBuf>, FileError> {
        Ok(self.scan_below(folder, depth, ScanDetail::Names)?.into_paths())
    }
}

/// Whether a file has to be there after the machine went down.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Durability {
    Synced,
    Unsynced,
}

/// A file that goes away unless it is kept.
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
            // Nothing can be done about a draft that will not go; it has a telling name.
            let _ = self.root.dir.remove_file(&self.path);
        }
    }
}

/// Reads any file a person named, outside of any root.
pub fn read_named(path: &Path) -> Result<Vec<u8>, FileError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let Some(name) = path.file_name() else {
        return Err(FileError { path: path.to_owned(), problem: FileProblem::IsFolder });
    };
    let root = Root::open(parent.unwrap_or(Path::new(".")))?;
    root.read(Path::new(name)).map_err(|error| FileError { path: path.to_owned(), ..error })
}

/// A file that a person named, to be read piece by piece, however long it is.
pub fn open_named(path: &Path) -> Result<impl io::Read + use<>, FileError> {
    let failed = |error| FileError::new(path.to_owned(), error);
    let file = std::fs::File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(FileError { path: path.to_owned(), problem: FileProblem::IsFolder });
    }
    Ok(file)
}

/// The text of a small file of git's or our own; `None` where it is not there.
pub fn read_small(path: &Path) -> Result<Option<String>, FileError> {
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

/// Whether a folder is at a path.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// Whether a file is at a path.
pub fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// Whether anything is at a path.
pub fn exists(path: &Path) -> bool {
    path.exists()
}

/// How long ago a file was changed; `None` where it is not there.
pub fn age(path: &Path) -> Option<Duration> {
    std::fs::metadata(path).ok()?.modified().ok()?.elapsed().ok()
}

/// How large a file is; `None` where it is not there.
pub fn size(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().map(|metadata| metadata.len())
}

/// Removes a file of our own; one that is gone already is no error.
pub fn remove_if_exists(path: &Path) -> Result<(), FileError> {
    match remove(path) {
        Err(FileError { problem: FileProblem::NotFound, .. }) | Ok(()) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Removes a file of git's or our own.
pub fn remove(path: &Path) -> Result<(), FileError> {
    std::fs::remove_file(path).map_err(|error| FileError::new(path.to_owned(), error))
}

/// The file that links lead to from a path, also where it is not there yet.
pub fn resolve_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

/// Removes a folder of our own, if nothing is in it.
pub fn remove_empty_folder(path: &Path) {
    // One that has something in it, or is gone, is left as it is.
    let _ = std::fs::remove_dir(path);
}

/// Whether a file is at a path that can be started.
pub fn is_executable(path: &Path) -> bool {
    const STARTS: u32 = 0o111;
    let metadata = std::fs::metadata(path);
    metadata.is_ok_and(|file| file.is_file() && file.permissions().mode() & STARTS != 0)
}

/// The path without links and dots, as far as it exists.
pub fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Whether a path has the ending that handoffs have.
pub fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "md")
}

/// A relative path without dots; `None` where it would lead out of where it starts.
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

/// Whether a relative path stays where it starts.
pub fn stays_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}
