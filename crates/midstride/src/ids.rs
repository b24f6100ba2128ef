//! New identities: version 7, so that they sort by the time they were made.

use jiff::Timestamp;
use uuid::{NoContext, Uuid};

/// A uid that nobody else has.
pub fn new_uid(now: Timestamp) -> String {
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let nanoseconds = u32::try_from(now.subsec_nanosecond()).unwrap_or_default();
    let moment = uuid::Timestamp::from_unix(NoContext, seconds, nanoseconds);
    Uuid::new_v7(moment).to_string()
}
