//! Boot actions are what they are said to be; whatever else stands there is acted on by nobody. What
//! a session is asked to read has to be there.

use super::{Reading, Surroundings};
use crate::format::finding::{Code, Finding};
use crate::format::header::BootKind;
use crate::handoff::Handoff;

pub(super) fn rules(handoff: &Handoff<'_>, around: &dyn Surroundings, out: &mut Vec<Finding>) {
    let boot = handoff.boot();
    for entry in boot.refused {
        let what = entry.text.map_or("(no text)", |text| text.trim().lines().next().unwrap_or(""));
        let message = format!("no boot action under `{}`: {what}", entry.key);
        out.push(Finding::new(Code::NoBootAction, entry.at, message).think(entry.why));
    }
    // What is over is history: nobody starts from it, and its files may have moved on.
    if !handoff.status().is_open() {
        return;
    }
    for action in boot.actions.iter().filter(|action| action.kind == BootKind::Read) {
        let path = action.text.value.trim();
        let message = match around.reading(path) {
            Reading::Here => continue,
            Reading::Missing => format!("there is no file `{path}` in the project"),
            Reading::Outside => format!("`{path}` leads out of the project"),
        };
        out.push(Finding::new(Code::NothingToRead, action.text.at, message));
    }
}
