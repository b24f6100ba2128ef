//! Which documents are likely the newest, told without reading them.

use crate::sys::files::{FileError, FileStamp, ScanDetail};
use crate::workspace::project::{DocumentPlace, DocumentScan, Project};
use std::ffi::OsStr;

/// Of more documents than this the times are not looked at while a client waits: that alone would
/// take too long. Their names decide.
pub(super) const TIMED_MAX: usize = 20_000;
/// Documents that were written within the same ten minutes likely came with one checkout, and their
/// times say nothing about them.
const CHECKOUT_NANOSECONDS: i64 = 600 * 1_000_000_000;

/// What is greater is likely newer. Names that begin with a date or a number tell where times do not.
pub(super) fn recency_key(stamp: Option<FileStamp>, spot: &DocumentPlace) -> (Option<i64>, &OsStr) {
    let modified = stamp.map(|stamp| stamp.modified / CHECKOUT_NANOSECONDS);
    (modified, spot.relative_path().as_os_str())
}

/// All documents, the newest first, and what could not be looked at.
pub(super) fn newest_first(project: &Project) -> (Vec<DocumentPlace>, Vec<FileError>) {
    let DocumentScan { mut documents, unread, .. } =
        project.scan(ScanDetail::MetadataUpTo(TIMED_MAX));
    let is_timed = documents.iter().all(|(_, stamp)| stamp.has_time());
    let timed = |stamp: &FileStamp| Some(*stamp).filter(|_| is_timed);
    documents.sort_unstable_by(|(spot, stamp), (other, other_stamp)| {
        recency_key(timed(other_stamp), other).cmp(&recency_key(timed(stamp), spot))
    });
    (documents.into_iter().map(|(spot, _)| spot).collect(), unread)
}
