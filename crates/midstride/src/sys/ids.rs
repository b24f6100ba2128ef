//! Ids: time-ordered uids, the next free feature number, and content hashes.

use jiff::Timestamp;
use midstride_core::text::id::FeatureNumber;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};
use uuid::{NoContext, Uuid};

/// A new unique id that sorts by time.
pub(crate) fn new_uid(now: Timestamp) -> String {
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let nanoseconds = u32::try_from(now.subsec_nanosecond()).unwrap_or_default();
    let moment = uuid::Timestamp::from_unix(NoContext, seconds, nanoseconds);
    Uuid::new_v7(moment).to_string()
}

/// A new random id.
pub(crate) fn random_id() -> String {
    Uuid::new_v4().to_string()
}

/// A deterministic uid for something that has none: equal parts give the same uid.
pub(crate) fn uid_of(parts: &[&str]) -> String {
    let hash = Sha256::digest(parts.join("\0").as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string()
}

/// One more than the highest feature number in any of these names. The caller must hold a lock, so
/// that no other process gets the same number.
pub(crate) fn next_feature(names: &[String]) -> FeatureNumber {
    let taken = names.iter().filter_map(|name| FeatureNumber::parse(name));
    taken.max().unwrap_or(FeatureNumber(0)).next()
}

/// The SHA-1 of bytes in lowercase hexadecimal, for the objects of git.
pub fn sha1(bytes: &[u8]) -> String {
    Sha1::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The SHA-256 of bytes in lowercase hexadecimal, for content that git does not hash.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_feature_number_is_one_above_the_highest() {
        assert_eq!(next_feature(&[]), FeatureNumber(1));
        let taken = ["feat-007", "feat-041-x.md", "notes.md"];
        assert_eq!(next_feature(&taken.map(str::to_owned)), FeatureNumber(42));
    }
}
