//! When notes were last changed. Their files say it, and git says it better: after a clone every
//! file is new. Only commands ask git; hooks use what the last command was told.

use crate::sys::files::FileStamp;
use crate::sys::git::Repository;
use crate::workspace::project::{DocumentPlace, Project};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where the answers of git are kept, in the private folder.
const FILE: &str = "note-dates.json";
/// How many notes git is asked about at once: each is a process.
const ASKED_MAX: usize = 12;
/// How many answers are kept.
const KEPT_MAX: usize = 1_000;

/// When notes were last changed.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NoteDates {
    /// By the path as it is shown.
    committed: BTreeMap<PathBuf, CommittedDate>,
}

/// What git said about a file, and how the file looked then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CommittedDate {
    /// The moment of the last commit that changed it, in seconds; none where git does not know it,
    /// or knows another text.
    at: Option<i64>,
    modified: i64,
    size: i64,
}

impl CommittedDate {
    fn matches(&self, stamp: &FileStamp) -> bool {
        (self.modified, self.size) == (stamp.modified, stamp.size)
    }
}

/// A moment in seconds, and whether git knows it: a file may be new because it was copied.
pub(crate) struct NoteDate {
    pub(crate) seconds: i64,
    pub(crate) is_from_git: bool,
}

impl NoteDates {
    /// What was kept; nothing where it cannot be read.
    pub(crate) fn read(project: &Project) -> Self {
        let folder = project.private().ok().flatten();
        let bytes = folder.and_then(|folder| folder.read(Path::new(FILE)).ok());
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// When the note at a place was last changed.
    pub(crate) fn date_of(&self, project: &Project, spot: &DocumentPlace) -> Option<NoteDate> {
        let stamp = project.stamp(spot)?;
        let known =
            self.committed.get(&project.display_path(spot)).filter(|one| one.matches(&stamp));
        let committed = known.and_then(|one| one.at);
        let second = committed.unwrap_or_else(|| stamp.modified.div_euclid(1_000_000_000));
        Some(NoteDate { seconds: second, is_from_git: committed.is_some() })
    }

    /// Asks git about notes that it was not asked about as they are, and keeps what it says.
    pub(crate) fn refresh_from_git(&mut self, project: &Project, spots: &[&DocumentPlace]) {
        let Some(repository) = project.repository() else { return };
        let unknown = spots.iter().filter_map(|spot| {
            let (path, stamp) = (project.display_path(spot), project.stamp(spot)?);
            let is_known = self.committed.get(&path).is_some_and(|one| one.matches(&stamp));
            (!is_known).then_some((path, stamp))
        });
        let unknown: Vec<(PathBuf, FileStamp)> = unknown.take(ASKED_MAX).collect();
        if unknown.is_empty() {
            return;
        }
        for (path, stamp) in unknown {
            let at = path_in_work_tree(project, repository, &path)
                .and_then(|it| repository.changed_at(&it));
            let FileStamp { modified, size, .. } = stamp;
            self.committed.insert(path, CommittedDate { at, modified, size });
        }
        while self.committed.len() > KEPT_MAX {
            self.committed.pop_first();
        }
        // What cannot be kept is asked again.
        let json = serde_json::to_vec(self).unwrap_or_default();
        let folder = project.private().ok().flatten();
        let _ = folder.map(|folder| folder.put_without_sync(Path::new(FILE), &json));
    }
}

/// A shown path as it counts from the top of the working tree.
fn path_in_work_tree(project: &Project, repository: &Repository, shown: &Path) -> Option<String> {
    let whole = project.root().path().join(shown);
    whole.strip_prefix(repository.work_tree()).ok()?.to_str().map(str::to_owned)
}
