//! Boot actions are what they are said to be; whatever else stands there is acted on by nobody.

use crate::finding::{Code, Finding};
use crate::handoff::Handoff;

pub(super) fn rules(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    for entry in handoff.boot().refused {
        let what = entry.text.map_or("(no text)", |text| text.trim().lines().next().unwrap_or(""));
        let message = format!("no boot action under `{}`: {what}", entry.key);
        out.push(Finding::new(Code::NoBootAction, entry.at, message).think(entry.why));
    }
}
