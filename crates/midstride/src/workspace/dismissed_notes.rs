//! The notes that the user keeps out of briefings, by path. The list is in the private folder, so it is
//! never committed.

use crate::sys::files::FileError;
use crate::workspace::{DocumentPlace, Workspace};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The list, in the private folder.
const FILE: &str = "dismissed-notes.json";

/// The notes that the user keeps out of briefings.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DismissedNotes {
    /// When each was dismissed, by displayed path.
    notes: BTreeMap<PathBuf, Timestamp>,
}

impl DismissedNotes {
    /// Reads the list, or returns an empty one if it cannot be read.
    pub(crate) fn read(workspace: &Workspace) -> Self {
        let folder = workspace.private().ok().flatten();
        let bytes = folder.and_then(|folder| folder.read(Path::new(FILE)).ok());
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Whether the note at a place is dismissed.
    pub(crate) fn contains(&self, workspace: &Workspace, place: &DocumentPlace) -> bool {
        !self.notes.is_empty() && self.notes.contains_key(&workspace.display_path(place))
    }

    /// The notes and when each was dismissed.
    pub(crate) fn into_notes(self) -> BTreeMap<PathBuf, Timestamp> {
        self.notes
    }

    /// Dismisses a note, or briefs sessions from it again. Returns whether that changed anything.
    pub(crate) fn change(
        workspace: &Workspace,
        path: &Path,
        dismiss: bool,
    ) -> Result<bool, FileError> {
        let mut all = Self::read(workspace);
        let has_changed = match dismiss {
            true if all.notes.contains_key(path) => false,
            true => {
                all.notes.insert(path.to_owned(), workspace.environment().clock.now());
                true
            }
            false => all.notes.remove(path).is_some(),
        };
        if has_changed {
            let json = serde_json::to_vec_pretty(&all).unwrap_or_default();
            workspace.make_private()?.put(Path::new(FILE), &json)?;
        }
        Ok(has_changed)
    }
}
