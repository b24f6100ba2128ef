//! Which documents are likely the newest, told without reading them.

use crate::files::Stamp;
use crate::project::{Project, Spot, on_all_cores};
use std::ffi::OsStr;

/// Of more documents than this the times are not looked at while a client waits: that alone would
/// take too long. Their names decide.
const TIMED_MAX: usize = 20_000;
/// Documents that were written within the same ten minutes likely came with one checkout, and their
/// times say nothing about them.
const CHECKOUT_NANOSECONDS: i64 = 600 * 1_000_000_000;

/// What is greater is likely newer. Names that begin with a date or a number tell where times do not.
pub(super) fn age<'s>(stamp: Option<&Stamp>, spot: &'s Spot) -> (Option<i64>, &'s OsStr) {
    let modified = stamp.map(|stamp| stamp.modified / CHECKOUT_NANOSECONDS);
    (modified, spot.inside().as_os_str())
}

/// Whether there is time to look at so many files.
pub(super) fn can_be_timed(documents: usize, is_limited: bool) -> bool {
    !is_limited || documents <= TIMED_MAX
}

/// Sorts documents, the newest first.
pub(super) fn sort(project: &Project, spots: Vec<Spot>) -> Vec<Spot> {
    let stamps = match can_be_timed(spots.len(), true) {
        true => on_all_cores(&spots, |spot| project.stamp(spot)),
        false => vec![None; spots.len()],
    };
    let mut timed: Vec<(Option<Stamp>, Spot)> = stamps.into_iter().zip(spots).collect();
    timed.sort_unstable_by(|(stamp, spot), (other_stamp, other)| {
        age(other_stamp.as_ref(), other).cmp(&age(stamp.as_ref(), spot))
    });
    timed.into_iter().map(|(_, spot)| spot).collect()
}
