//! How files look from outside, without reading them: enough to know whether one was changed.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use super::{DEPTH_MAX, FileError, Problem, Root, is_markdown};
use cap_std::fs::{DirEntry, Metadata, MetadataExt as _};
use std::os::unix::fs::DirEntryExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Within the same tick of its clock, a file system cannot tell two changes apart; the coarsest
/// ones tick every two seconds.
const TICK: Duration = Duration::from_secs(2);

/// How closely to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// At names and which file each one is: a file that was written in place looks the same.
    Names,
    /// At times and sizes too.
    Closely,
    /// At times and sizes of so many files, at the names of the others.
    UpTo(usize),
}

/// How a file or folder looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// When its content was changed, in nanoseconds; people can set it.
    pub modified: i64,
    /// When anything about it was changed, in nanoseconds; nobody can set it.
    pub changed: i64,
    /// Its size.
    pub size: i64,
    /// Which file it is.
    pub inode: i64,
    /// Whether a change from now on would be seen: the last one is older than a tick.
    pub settled: bool,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
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
            settled: changed.max(modified) < tick,
        }
    }

    /// Whether its time is known.
    pub fn is_timed(&self) -> bool {
        self.changed != 0
    }

    /// Whether it is the same file, and looks the same.
    pub fn same(&self, other: &Self) -> bool {
        (self.modified, self.changed, self.size, self.inode)
            == (other.modified, other.changed, other.size, other.inode)
    }
}

/// What was seen below a folder.
#[derive(Debug, Default)]
pub struct Seen {
    /// Files whose name ends with `.md`, in any order.
    pub files: Vec<(PathBuf, Stamp)>,
    /// The folders that were looked into. One that is not there has an empty stamp.
    pub folders: Vec<(PathBuf, Stamp)>,
}

impl Seen {
    /// The files alone, sorted.
    pub fn paths(self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = self.files.into_iter().map(|(path, _)| path).collect();
        paths.sort_unstable();
        paths
    }
}

impl Root {
    /// How something beneath the root looks, links followed; `None` where it is not there.
    pub fn stamp(&self, path: &Path) -> Option<Stamp> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        self.dir.metadata(path).ok().as_ref().map(Stamp::of)
    }

    /// Looks at the Markdown files below a folder; links to folders are not followed, so nothing is
    /// found twice and no circle is walked.
    pub fn look_below(&self, folder: &Path, depth: usize, look: Look) -> Result<Seen, FileError> {
        let mut seen = Seen::default();
        self.walk(folder, depth.min(DEPTH_MAX), look, &mut seen)?;
        Ok(seen)
    }

    fn walk(
        &self,
        folder: &Path,
        depth: usize,
        look: Look,
        seen: &mut Seen,
    ) -> Result<(), FileError> {
        let failed = |error| self.error(folder, error);
        // Before its names are read: a change meanwhile is seen next time.
        seen.folders.push((folder.to_owned(), self.stamp(folder).unwrap_or_default()));
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let entries = match self.dir.read_dir(here).map_err(failed) {
            Ok(entries) => entries,
            Err(FileError { problem: Problem::NotFound | Problem::NotFolder, .. }) => return Ok(()),
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
                    Look::Names => by_name(&entry),
                    Look::UpTo(most) if seen.files.len() >= most => by_name(&entry),
                    Look::Closely | Look::UpTo(_) => stamp_of(&entry),
                };
                seen.files.push((path, stamp));
            }
        }
        Ok(())
    }
}

/// What its folder tells about a file: nothing is known of its time.
fn by_name(entry: &DirEntry) -> Stamp {
    Stamp { inode: entry.ino().cast_signed(), ..Stamp::default() }
}

/// A file that is gone again has an empty stamp, and reading it says so.
fn stamp_of(entry: &DirEntry) -> Stamp {
    entry.metadata().ok().as_ref().map(Stamp::of).unwrap_or_default()
}
