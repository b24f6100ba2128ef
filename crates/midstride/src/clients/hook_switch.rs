//! Switches hooks off and on, and remembers when they were off: sessions from that time are not
//! picked up later.

use crate::sys::files::{self, FileError, Root};
use crate::workspace::Workspace;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file that switches hooks off in a project.
const OFF_FILE: &str = "off";
/// The file that makes the next session start without a briefing.
pub(crate) const SKIP_NEXT_FILE: &str = "skip-next-briefing";
const FILE: &str = "off-times.json";
/// Older entries are dropped.
const TIMES_MAX: usize = 100;
/// midstride does not write larger files.
const BYTES_MAX: u64 = 1 << 20;

/// Periods with hooks off, as start and end, earliest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OffTimes(Vec<(Timestamp, Timestamp)>);

impl OffTimes {
    /// The recorded periods of a project, including the current one if its hooks are off.
    pub(crate) fn for_project(workspace: &Workspace) -> Self {
        let Some(folder) = workspace.private().ok().flatten() else { return Self::default() };
        let mut times = Self::read(&folder);
        if let Ok(since) = folder.read(Path::new(OFF_FILE)) {
            times.0.extend(parse_start(&since).map(|began| (began, Timestamp::MAX)));
        }
        times
    }

    fn read(folder: &Root) -> Self {
        let bytes = folder.read_up_to(Path::new(FILE), BYTES_MAX);
        bytes.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Whether hooks were off at a time.
    pub(crate) fn contains(&self, time: Timestamp) -> bool {
        self.0.iter().any(|(from, to)| (*from..=*to).contains(&time))
    }
}

/// Records the period from the start in the off file until now.
fn record_off_time(workspace: &Workspace, folder: &Root, since: &[u8]) -> Result<(), FileError> {
    let now = workspace.environment().clock.now();
    // Older versions left the file empty.
    let Some(began) = parse_start(since) else { return Ok(()) };
    let mut times = OffTimes::read(folder);
    times.0.push((began, now));
    let over = times.0.len().saturating_sub(TIMES_MAX);
    times.0.drain(..over);
    folder.put(Path::new(FILE), serde_json::to_string(&times).unwrap_or_default().as_bytes())
}

fn parse_start(since: &[u8]) -> Option<Timestamp> {
    std::str::from_utf8(since).ok()?.trim().parse().ok()
}

/// Whether the hooks of a project are switched off.
pub fn is_switched_off(workspace: &Workspace) -> bool {
    workspace.private().ok().flatten().is_some_and(|folder| folder.exists(Path::new(OFF_FILE)))
}

/// Switches the hooks of a project on or off; returns whether that changed anything. The off period
/// is recorded, so that sessions from that time are picked up only on request.
pub fn switch_hooks(workspace: &Workspace, on: bool) -> Result<bool, FileError> {
    let folder = workspace.make_private()?;
    let file = Path::new(OFF_FILE);
    match (folder.exists(file), on) {
        (true, true) => {
            record_off_time(workspace, &folder, &folder.read(file)?)?;
            files::remove(&folder.path().join(file)).map(|()| true)
        }
        (false, false) => {
            let now = workspace.environment().clock.now().to_string();
            folder.put(file, now.as_bytes()).map(|()| true)
        }
        (true, false) | (false, true) => Ok(false),
    }
}

/// Makes the next session start without a briefing; returns whether that was not already set.
pub fn skip_next_briefing(workspace: &Workspace) -> Result<bool, FileError> {
    let folder = workspace.make_private()?;
    let file = Path::new(SKIP_NEXT_FILE);
    let is_new = !folder.exists(file);
    if is_new {
        folder.put(file, b"")?;
    }
    Ok(is_new)
}
