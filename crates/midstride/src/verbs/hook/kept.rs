//! What hooks of a session keep for the next one. It is lost without harm: something is said twice.

use crate::files::{FileError, Problem, Root};
use crate::project::Project;
use crate::settings::SessionName;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where it lies, with what is never committed.
const FOLDER: &str = "hooks";
/// Of more sessions than these, what the oldest kept goes.
const SESSIONS_MAX: usize = 64;
/// A larger file is none of ours.
const BYTES_MAX: u64 = 1 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Kept {
    /// What the session was told after a compaction.
    pub(super) told: Option<String>,
    /// The summary that was compared, by its SHA-256.
    pub(super) compared: Option<String>,
    /// What that one lost, for the next prompt.
    pub(super) missing: Option<String>,
    /// Whether the agent was reminded.
    pub(super) nudged: bool,
    /// Whether it was found out if there is something to remind it of.
    pub(super) weighed: bool,
    /// How often in a row it was kept from stopping.
    pub(super) blocked: u8,
    /// Whether its client said that it ended.
    pub(super) ended: bool,
}

impl Kept {
    pub(super) fn read(project: &Project, session: &SessionName) -> Self {
        let folder = project.private().ok().flatten();
        let folder = folder.and_then(|folder| folder.below(Path::new(FOLDER)).ok().flatten());
        let bytes = folder.and_then(|folder| folder.read_up_to(&name(session), BYTES_MAX).ok());
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    pub(super) fn write(&self, project: &Project, session: &SessionName) -> Result<(), FileError> {
        let folder: Root = project.make_private()?.make_below(Path::new(FOLDER))?;
        let text = serde_json::to_string(self).unwrap_or_default();
        folder.put_passing(&name(session), project.clean(&text).0.as_str().as_bytes())
    }

    /// Removes what a session kept.
    pub(super) fn remove(project: &Project, session: &SessionName) -> Result<(), FileError> {
        let Some(private) = project.private()? else { return Ok(()) };
        let Some(folder) = private.below(Path::new(FOLDER))? else { return Ok(()) };
        match crate::files::remove(&folder.path().join(name(session))) {
            Err(FileError { problem: Problem::NotFound, .. }) | Ok(()) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes what the sessions kept that wrote longest ago, so that only so many are left.
    pub(super) fn bound(project: &Project) -> Result<(), FileError> {
        let Some(private) = project.private()? else { return Ok(()) };
        let Some(folder) = private.below(Path::new(FOLDER))? else { return Ok(()) };
        let names = folder.names(".json")?;
        let Some(over) = names.len().checked_sub(SESSIONS_MAX).filter(|over| *over > 0) else {
            return Ok(());
        };
        let written = |name: &PathBuf| folder.stamp(name).map_or(0, |stamp| stamp.modified);
        let mut names = names;
        names.sort_by_cached_key(written);
        for name in &names[..over] {
            match crate::files::remove(&folder.path().join(name)) {
                // Another session that starts does the same.
                Err(FileError { problem: Problem::NotFound, .. }) | Ok(()) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The names of a session have no letter that leads out of the folder.
fn name(session: &SessionName) -> PathBuf {
    PathBuf::from(format!("{}.{}.json", session.client, session.id))
}
