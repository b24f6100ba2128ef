//! Checks startup steps: each one is valid, and the files that a session is asked to read exist.

use super::{CheckContext, PathAccess};
use crate::format::finding::{Code, Finding};
use crate::format::header::StartupKind;
use crate::handoff::Handoff;

pub(super) fn check(handoff: &Handoff<'_>, context: &dyn CheckContext, out: &mut Vec<Finding>) {
    let steps = handoff.startup_steps();
    for entry in steps.rejected {
        let what = entry.text.map_or("(no text)", |text| text.trim().lines().next().unwrap_or(""));
        let message = format!("invalid startup step under `{}`: {what}", entry.key);
        out.push(Finding::new(Code::InvalidStartupStep, entry.at, message).with_hint(entry.reason));
    }
    // A closed handoff is history: no session starts from it, and its files may have moved.
    if !handoff.status().is_open() {
        return;
    }
    for step in steps.entries.iter().filter(|step| step.kind == StartupKind::Read) {
        let path = step.text.value.trim();
        let message = match context.path_access(path) {
            PathAccess::Readable => continue,
            PathAccess::Missing => format!("`{path}` does not exist in the project"),
            PathAccess::Outside => format!("`{path}` points outside the project through a symlink"),
        };
        out.push(Finding::new(Code::StartupFileMissing, step.text.at, message));
    }
}
