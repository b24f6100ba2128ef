//! Boot actions are what they are said to be; whatever else stands there is acted on by nobody. What
//! a session is asked to read has to be there.

use super::{CheckContext, PathAccess};
use crate::format::finding::{Code, Finding};
use crate::format::header::StartupKind;
use crate::handoff::Handoff;

pub(super) fn check(handoff: &Handoff<'_>, around: &dyn CheckContext, out: &mut Vec<Finding>) {
    let boot = handoff.startup_steps();
    for entry in boot.rejected {
        let what = entry.text.map_or("(no text)", |text| text.trim().lines().next().unwrap_or(""));
        let message = format!("no boot action under `{}`: {what}", entry.key);
        out.push(Finding::new(Code::InvalidStartupStep, entry.at, message).with_hint(entry.reason));
    }
    // What is over is history: nobody starts from it, and its files may have moved on.
    if !handoff.status().is_open() {
        return;
    }
    for action in boot.entries.iter().filter(|action| action.kind == StartupKind::Read) {
        let path = action.text.value.trim();
        let message = match around.path_access(path) {
            PathAccess::Readable => continue,
            PathAccess::Missing => format!("there is no file `{path}` in the project"),
            PathAccess::Outside => format!("`{path}` leads out of the project"),
        };
        out.push(Finding::new(Code::StartupFileMissing, action.text.at, message));
    }
}
