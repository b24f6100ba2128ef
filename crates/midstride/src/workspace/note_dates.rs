//! When notes were last changed. Git is more reliable than file times, because a clone makes every
//! file look new. Only commands ask git; hooks use the cached answers.

use crate::sys::files::FileStamp;
use crate::sys::git::Repository;
use crate::workspace::{DocumentPlace, Workspace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The cache of git's answers, in the private folder.
const FILE: &str = "note-dates.json";
/// Maximum number of notes to ask git about at once, because each one takes a process.
const ASKED_MAX: usize = 12;
/// Maximum number of cached answers.
const KEPT_MAX: usize = 1_000;

/// When notes were last changed.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NoteDates {
    /// By displayed path.
    committed: BTreeMap<PathBuf, CommittedDate>,
}

/// Git's answer about a file, and the metadata of the file at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CommittedDate {
    /// The time of the last commit that changed it, in seconds. `None` if git does not know the
    /// file or has a different version.
    at: Option<i64>,
    modified: i64,
    size: i64,
}

impl CommittedDate {
    fn matches(&self, stamp: &FileStamp) -> bool {
        (self.modified, self.size) == (stamp.modified, stamp.size)
    }
}

/// A time in seconds, and whether it comes from git. A file time may be that of a copy.
pub(crate) struct NoteDate {
    pub(crate) seconds: i64,
    pub(crate) is_from_git: bool,
}

impl NoteDates {
    /// Reads the cache, or returns an empty one if it cannot be read.
    pub(crate) fn read(workspace: &Workspace) -> Self {
        let folder = workspace.private().ok().flatten();
        let bytes = folder.and_then(|folder| folder.read(Path::new(FILE)).ok());
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// When the note at a place was last changed.
    pub(crate) fn date_of(&self, workspace: &Workspace, place: &DocumentPlace) -> Option<NoteDate> {
        let stamp = workspace.stamp(place)?;
        let known =
            self.committed.get(&workspace.display_path(place)).filter(|one| one.matches(&stamp));
        let committed = known.and_then(|one| one.at);
        let second = committed.unwrap_or_else(|| stamp.modified.div_euclid(1_000_000_000));
        Some(NoteDate { seconds: second, is_from_git: committed.is_some() })
    }

    /// Asks git about notes that are new or changed since the last answer, and caches the results.
    pub(crate) fn refresh_from_git(&mut self, workspace: &Workspace, places: &[&DocumentPlace]) {
        let Some(repository) = workspace.repository() else { return };
        let unknown = places.iter().filter_map(|place| {
            let (path, stamp) = (workspace.display_path(place), workspace.stamp(place)?);
            let is_known = self.committed.get(&path).is_some_and(|one| one.matches(&stamp));
            (!is_known).then_some((path, stamp))
        });
        let unknown: Vec<(PathBuf, FileStamp)> = unknown.take(ASKED_MAX).collect();
        if unknown.is_empty() {
            return;
        }
        for (path, stamp) in unknown {
            let at = path_in_work_tree(workspace, repository, &path)
                .and_then(|it| repository.changed_at(&it));
            let FileStamp { modified, size, .. } = stamp;
            self.committed.insert(path, CommittedDate { at, modified, size });
        }
        while self.committed.len() > KEPT_MAX {
            self.committed.pop_first();
        }
        // If the cache cannot be written, git is asked again next time.
        let json = serde_json::to_vec(self).unwrap_or_default();
        let folder = workspace.private().ok().flatten();
        let _ = folder.map(|folder| folder.put_without_sync(Path::new(FILE), &json));
    }
}

/// The path relative to the working tree for a displayed path.
fn path_in_work_tree(
    workspace: &Workspace,
    repository: &Repository,
    shown: &Path,
) -> Option<String> {
    let whole = workspace.root().path().join(shown);
    whole.strip_prefix(repository.work_tree()).ok()?.to_str().map(str::to_owned)
}
