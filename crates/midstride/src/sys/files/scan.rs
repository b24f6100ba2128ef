//! How files look from outside, without reading them: enough to know whether one was changed.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use super::{DEPTH_MAX, FileError, FileProblem, Root, is_markdown};
use cap_std::fs::{DirEntry, Metadata, MetadataExt as _};
use std::os::unix::fs::DirEntryExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Within the same tick of its clock, a file system cannot tell two changes apart; the coarsest
/// ones tick every two seconds.
const TICK: Duration = Duration::from_secs(2);

/// How closely to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanDetail {
    /// At names and which file each one is: a file that was written in place looks the same.
    Names,
    /// At times and sizes too.
    Metadata,
    /// At times and sizes of so many files, at the names of the others.
    MetadataUpTo(usize),
}

/// How a file or folder looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStamp {
    /// When its content was changed, in nanoseconds; people can set it.
    pub modified: i64,
    /// When anything about it was changed, in nanoseconds; nobody can set it.
    pub changed: i64,
    /// Its size.
    pub size: i64,
    /// Which file it is.
    pub inode: i64,
    /// Whether a change from now on would be seen: the last one is older than a tick.
    pub is_settled: bool,
}

impl FileStamp {
    fn from_metadata(metadata: &Metadata) -> Self {
        let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000) + rest;
        let changed = nanoseconds(metadata.ctime(), metadata.ctime_nsec());
        let modified = nanoseconds(metadata.mtime(), metadata.mtime_nsec());
        let tick = SystemTime::now()
            .checked_sub(TICK)
            .and_then(|tick| tick.duration_since(SystemTime::UNIX_EPOCH).ok());
        let tick = tick.and_then(|tick| i64::try_from(tick.as_nanos()).ok()).unwrap_or(0);
        Self {
            modified,
            changed,
            size: i64::try_from(metadata.len()).unwrap_or(i64::MAX),
            inode: metadata.ino().cast_signed(),
            is_settled: changed.max(modified) < tick,
        }
    }

    /// Whether its time is known.
    pub fn has_time(&self) -> bool {
        self.changed != 0
    }

    /// Whether it is the same file, and looks the same.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.modified, self.changed, self.size, self.inode)
            == (other.modified, other.changed, other.size, other.inode)
    }
}

/// What was seen below a folder.
#[derive(Debug, Default)]
pub struct FolderScan {
    /// Files whose name ends with `.md`, in any order.
    pub files: Vec<(PathBuf, FileStamp)>,
    /// The folders that were looked into. One that is not there has an empty stamp.
    pub folders: Vec<(PathBuf, FileStamp)>,
}

impl FolderScan {
    /// The files alone, sorted.
    pub fn into_paths(self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = self.files.into_iter().map(|(path, _)| path).collect();
        paths.sort_unstable();
        paths
    }
}

impl Root {
    /// How something beneath the root looks, links followed; `None` where it is not there.
    pub fn stamp(&self, path: &Path) -> Option<FileStamp> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        self.dir.metadata(path).ok().as_ref().map(FileStamp::from_metadata)
    }

    /// Looks at the Markdown files below a folder; links to folders are not followed, so nothing is
    /// found twice and no circle is walked.
    pub fn scan_below(
        &self,
        folder: &Path,
        depth: usize,
        look: ScanDetail,
    ) -> Result<FolderScan, FileError> {
        let mut seen = FolderScan::default();
        self.walk(folder, depth.min(DEPTH_MAX), look, &mut seen)?;
        Ok(seen)
    }

    fn walk(
        &self,
        folder: &Path,
        depth: usize,
        look: ScanDetail,
        seen: &mut FolderScan,
    ) -> Result<(), FileError> {
        let failed = |error| self.error(folder, error);
        // Before its names are read: a change meanwhile is seen next time.
        seen.folders.push((folder.to_owned(), self.stamp(folder).unwrap_or_default()));
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let entries = match self.dir.read_dir(here).map_err(failed) {
            Ok(entries) => entries,
            Err(FileError { problem: FileProblem::NotFound | FileProblem::NotFolder, .. }) => {
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let hidden = name.as_encoded_bytes().starts_with(b".");
            let path = folder.join(&name);
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                if depth > 1 && !hidden {
                    self.walk(&path, depth - 1, look, seen)?;
                }
            } else if !hidden && is_markdown(&path) {
                // A pipe or a device too: reading it is refused, and that is said.
                let stamp = match look {
                    // What a link leads to is looked at, not the link.
                    _ if kind.is_symlink() => self.stamp(&path).unwrap_or_default(),
                    ScanDetail::Names => stamp_from_name(&entry),
                    ScanDetail::MetadataUpTo(most) if seen.files.len() >= most => {
                        stamp_from_name(&entry)
                    }
                    ScanDetail::Metadata | ScanDetail::MetadataUpTo(_) => {
                        stamp_from_metadata(&entry)
                    }
                };
                seen.files.push((path, stamp));
            }
        }
        Ok(())
    }
}

/// What its folder tells about a file: nothing is known of its time.
fn stamp_from_name(entry: &DirEntry) -> FileStamp {
    FileStamp { inode: entry.ino().cast_signed(), ..FileStamp::default() }
}

/// A file that is gone again has an empty stamp, and reading it says so.
fn stamp_from_metadata(entry: &DirEntry) -> FileStamp {
    entry.metadata().ok().as_ref().map(FileStamp::from_metadata).unwrap_or_default()
}
