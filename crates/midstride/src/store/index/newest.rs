//! Which documents are likely the newest, told without reading them.

use crate::sys::files::{FileError, Look, Stamp};
use crate::workspace::project::{Looked, Project, Spot};
use std::ffi::OsStr;

/// Of more documents than this the times are not looked at while a client waits: that alone would
/// take too long. Their names decide.
pub(super) const TIMED_MAX: usize = 20_000;
/// Documents that were written within the same ten minutes likely came with one checkout, and their
/// times say nothing about them.
const CHECKOUT_NANOSECONDS: i64 = 600 * 1_000_000_000;

/// What is greater is likely newer. Names that begin with a date or a number tell where times do not.
pub(super) fn age(stamp: Option<Stamp>, spot: &Spot) -> (Option<i64>, &OsStr) {
    let modified = stamp.map(|stamp| stamp.modified / CHECKOUT_NANOSECONDS);
    (modified, spot.inside().as_os_str())
}

/// All documents, the newest first, and what could not be looked at.
pub(super) fn newest_first(project: &Project) -> (Vec<Spot>, Vec<FileError>) {
    let Looked { mut documents, unread, .. } = project.look(Look::UpTo(TIMED_MAX));
    let is_timed = documents.iter().all(|(_, stamp)| stamp.is_timed());
    let timed = |stamp: &Stamp| Some(*stamp).filter(|_| is_timed);
    documents.sort_unstable_by(|(spot, stamp), (other, other_stamp)| {
        age(timed(other_stamp), other).cmp(&age(timed(stamp), spot))
    });
    (documents.into_iter().map(|(spot, _)| spot).collect(), unread)
}
