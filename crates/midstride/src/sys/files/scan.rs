//! Scans folders for Markdown files and records metadata, to detect changes without reading files.
#![expect(clippy::disallowed_methods, reason = "the one module for this")]

use super::{DEPTH_MAX, DRAFT_NAME, FileError, FileProblem, Root, is_markdown};
use cap_std::fs::{DirEntry, Metadata, MetadataExt as _};
use std::os::unix::fs::DirEntryExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The coarsest timestamp resolution of a file system. Two changes within it look the same.
const TICK: Duration = Duration::from_secs(2);

/// How much metadata to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanDetail {
    /// Names and inodes only. A file that was modified in place looks unchanged.
    Names,
    /// Times and sizes too.
    Metadata,
    /// Times and sizes of this many files, and only names of the others.
    MetadataUpTo(usize),
}

/// The metadata of a file or folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStamp {
    /// The modification time in nanoseconds. Programs can set it.
    pub modified: i64,
    /// The change time in nanoseconds. Programs cannot set it.
    pub changed: i64,
    /// The size in bytes.
    pub size: i64,
    /// The inode number.
    pub inode: i64,
    /// Whether a later change would be detected, because the last one is older than the timestamp
    /// resolution.
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

    /// Whether its times are known.
    pub(crate) fn has_time(&self) -> bool {
        self.changed != 0
    }

    /// Whether it is the same file with the same metadata.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.modified, self.changed, self.size, self.inode)
            == (other.modified, other.changed, other.size, other.inode)
    }
}

/// The result of scanning a folder.
#[derive(Debug, Default)]
pub struct FolderScan {
    /// Files whose name ends with `.md`, in any order.
    pub files: Vec<(PathBuf, FileStamp)>,
    /// The scanned folders. A folder that does not exist has an empty stamp.
    pub folders: Vec<(PathBuf, FileStamp)>,
}

impl FolderScan {
    /// The paths of the files, sorted.
    pub(crate) fn into_paths(self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = self.files.into_iter().map(|(path, _)| path).collect();
        paths.sort_unstable();
        paths
    }
}

impl Root {
    /// The metadata of a path beneath the root, following links, or `None` if it does not exist.
    pub(crate) fn stamp(&self, path: &Path) -> Option<FileStamp> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        self.dir.metadata(path).ok().as_ref().map(FileStamp::from_metadata)
    }

    /// Scans the Markdown files below a folder, and removes drafts that killed processes left there.
    /// Links to folders are not followed, so nothing is found twice and cycles are impossible.
    pub(crate) fn scan_below(
        &self,
        folder: &Path,
        depth: usize,
        detail: ScanDetail,
    ) -> Result<FolderScan, FileError> {
        let mut seen = FolderScan::default();
        self.walk(folder, depth.min(DEPTH_MAX), detail, &mut seen)?;
        Ok(seen)
    }

    fn walk(
        &self,
        folder: &Path,
        depth: usize,
        detail: ScanDetail,
        seen: &mut FolderScan,
    ) -> Result<(), FileError> {
        let failed = |error| self.error(folder, error);
        // Taken before reading the entries, so that a concurrent change is detected next time.
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
                    self.walk(&path, depth - 1, detail, seen)?;
                }
            } else if !hidden && is_markdown(&path) {
                // This includes pipes and devices: reading one fails with an error, which is
                // reported.
                let stamp = match detail {
                    // For a link, use the metadata of its target.
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
            } else if hidden && name == DRAFT_NAME {
                self.remove_stale_draft(folder);
            }
        }
        Ok(())
    }
}

/// The stamp of a file from its folder entry alone, without times.
fn stamp_from_name(entry: &DirEntry) -> FileStamp {
    FileStamp { inode: entry.ino().cast_signed(), ..FileStamp::default() }
}

/// A file that was deleted in the meantime gets an empty stamp. Reading it reports the error.
fn stamp_from_metadata(entry: &DirEntry) -> FileStamp {
    entry.metadata().ok().as_ref().map(FileStamp::from_metadata).unwrap_or_default()
}
