//! Long, growing files of other programs: listed with their sizes and read in pieces.

use super::{FileError, FileProblem, Root};
use cap_std::fs::MetadataExt as _;
use jiff::Timestamp;
use std::fs::{DirEntry, File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was modified.
    pub changed: Option<Timestamp>,
    /// When it was created, if the file system knows.
    pub created: Option<Timestamp>,
    /// The inode number. A file that replaced another one has a different number.
    pub inode: u64,
}

/// A file that is read in pieces.
#[derive(Debug)]
pub(crate) struct FileStream {
    file: File,
    path: PathBuf,
    entry: FolderEntry,
}

/// The entries with matching names in a folder of another program, sorted by name. Empty if there
/// is no such folder. Other entries are not examined: there can be thousands, and a client waits.
/// Links are followed anywhere, because the folder belongs to the user.
pub(crate) fn list_folder(
    folder: &Path,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<FolderEntry>, FileError> {
    let failed = |error| FileError::new(folder.to_owned(), error);
    let entries = match std::fs::read_dir(folder).map_err(failed) {
        Ok(entries) => entries,
        Err(FileError { problem: FileProblem::NotFound | FileProblem::NotFolder, .. }) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| is_wanted(name)) else { continue };
        // It may have been deleted in the meantime.
        let Some(metadata) = entry_metadata(folder, &entry) else { continue };
        found.push(entry_from_metadata(name.to_owned(), &metadata));
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

/// The metadata of an entry. Looking it up relative to the open folder is cheaper than by its full
/// path.
fn entry_metadata(folder: &Path, entry: &DirEntry) -> Option<Metadata> {
    #[cfg(test)]
    looked_at::count();
    let metadata = entry.metadata().ok()?;
    let is_link = metadata.file_type().is_symlink();
    if is_link { std::fs::metadata(folder.join(entry.file_name())).ok() } else { Some(metadata) }
}

/// The metadata of a file or folder of another program, or `None` if it does not exist.
pub(crate) fn read_entry(path: &Path) -> Option<FolderEntry> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    std::fs::metadata(path).ok().map(|metadata| entry_from_metadata(name, &metadata))
}

fn entry_from_metadata(name: String, metadata: &Metadata) -> FolderEntry {
    let changed = metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    let born = metadata.created().ok().and_then(|time| Timestamp::try_from(time).ok());
    let (is_folder, bytes, inode) = (metadata.is_dir(), metadata.len(), metadata.ino());
    FolderEntry { name, is_folder, bytes, changed, created: born, inode }
}

impl Root {
    /// The entries of a folder, sorted by name. Empty if there is no such folder. Skips names that
    /// are not UTF-8, because the programs whose files we read do not create any.
    pub fn entries(&self, folder: &Path) -> Result<Vec<FolderEntry>, FileError> {
        let failed = |error| self.error(folder, error);
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let entries = match self.dir.read_dir(here).map_err(failed) {
            Ok(entries) => entries,
            Err(FileError { problem: FileProblem::NotFound | FileProblem::NotFolder, .. }) => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            // It may have been deleted in the meantime.
            let Ok(metadata) = self.dir.metadata(folder.join(&name)) else { continue };
            let changed = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
            let changed = changed.and_then(|time| Timestamp::try_from(time).ok());
            let (is_folder, bytes, inode) = (metadata.is_dir(), metadata.len(), metadata.ino());
            // The creation time is not needed here.
            let born = None;
            found.push(FolderEntry { name, is_folder, bytes, changed, created: born, inode });
        }
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }
}

impl FileStream {
    /// Opens a file of another program or one that the user named. Links are followed.
    pub(crate) fn open(path: &Path) -> Result<Self, FileError> {
        let failed = |error| FileError::new(path.to_owned(), error);
        // Check the type before opening: opening a pipe would block until another process writes to
        // it.
        let metadata = std::fs::metadata(path).map_err(failed)?;
        if !metadata.is_file() {
            let problem =
                if metadata.is_dir() { FileProblem::IsFolder } else { FileProblem::NotFile };
            return Err(FileError { path: path.to_owned(), problem });
        }
        let file = File::open(path).map_err(failed)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(Self {
            file,
            path: path.to_owned(),
            entry: entry_from_metadata(name.into_owned(), &metadata),
        })
    }

    /// Its metadata when it was opened.
    pub(crate) fn entry(&self) -> &FolderEntry {
        &self.entry
    }

    /// Its size when it was opened.
    pub(crate) fn bytes(&self) -> u64 {
        self.entry.bytes
    }

    /// The bytes in a range, up to the end of the file.
    pub(crate) fn read_range(&mut self, from: u64, to: u64) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        let read = |file: &mut File, bytes: &mut Vec<u8>| -> io::Result<()> {
            file.seek(SeekFrom::Start(from))?;
            file.take(to.saturating_sub(from)).read_to_end(bytes)?;
            Ok(())
        };
        read(&mut self.file, &mut bytes).map_err(|error| self.error(error))?;
        Ok(bytes)
    }

    /// Passes the bytes from an offset to `to`, or to the end of the file, to `each` in chunks.
    pub(crate) fn each_chunk(
        &mut self,
        from: u64,
        to: Option<u64>,
        each: &mut dyn FnMut(&[u8]),
    ) -> Result<(), FileError> {
        const BUFFER: usize = 256 << 10;
        let mut left = to.map_or(u64::MAX, |to| to.saturating_sub(from));
        self.file.seek(SeekFrom::Start(from)).map_err(|error| self.error(error))?;
        let mut buffer = vec![0; BUFFER];
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(BUFFER).min(BUFFER);
            let count = match self.file.read(&mut buffer[..most]) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.error(error)),
            };
            each(&buffer[..count]);
            left -= u64::try_from(count).unwrap_or(left);
        }
        Ok(())
    }

    fn error(&self, error: io::Error) -> FileError {
        FileError::new(self.path.clone(), error)
    }
}

/// Counts how many folder entries this thread examined.
#[cfg(test)]
pub(crate) mod looked_at {
    use std::cell::Cell;

    thread_local! {
        static COUNT: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn count() {
        COUNT.set(COUNT.get() + 1);
    }

    pub(crate) fn during<T>(act: impl FnOnce() -> T) -> (T, usize) {
        let before = COUNT.get();
        let done = act();
        (done, COUNT.get() - before)
    }
}
