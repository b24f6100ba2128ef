//! Estimates which documents are the newest without reading them.

use crate::sys::files::{FileError, FileStamp, ScanDetail};
use crate::workspace::{DocumentPlace, DocumentScan, Workspace};
use std::ffi::OsStr;

/// With more documents than this, file times are not read while a client waits, because that alone
/// would take too long. Names decide instead.
pub(super) const TIMED_MAX: usize = 20_000;
/// Documents written within the same ten minutes likely came from one checkout, so their times say
/// nothing about their age.
const CHECKOUT_NANOSECONDS: i64 = 600 * 1_000_000_000;

/// A sort key: a greater key is likely newer. Names that start with a date or a number decide where
/// times do not.
pub(super) fn recency_key(stamp: Option<FileStamp>, spot: &DocumentPlace) -> (Option<i64>, &OsStr) {
    let modified = stamp.map(|stamp| stamp.modified / CHECKOUT_NANOSECONDS);
    (modified, spot.relative_path().as_os_str())
}

/// All documents, newest first, and the errors of those that could not be read.
pub(super) fn newest_first(workspace: &Workspace) -> (Vec<DocumentPlace>, Vec<FileError>) {
    let DocumentScan { mut documents, unread, .. } =
        workspace.scan(ScanDetail::MetadataUpTo(TIMED_MAX));
    let is_timed = documents.iter().all(|(_, stamp)| stamp.has_time());
    let timed = |stamp: &FileStamp| Some(*stamp).filter(|_| is_timed);
    documents.sort_unstable_by(|(spot, stamp), (other, other_stamp)| {
        recency_key(timed(other_stamp), other).cmp(&recency_key(timed(stamp), spot))
    });
    (documents.into_iter().map(|(spot, _)| spot).collect(), unread)
}
