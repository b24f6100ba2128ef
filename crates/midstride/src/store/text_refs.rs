//! The names of the references that keep texts from being garbage-collected. The project's repository
//! and our own one use the same names.

use crate::sys::ids::sha256;
use midstride_core::text::id::Uid;

/// Prefix of the refs to texts of committed handoffs, which `midstride sync` shares. In our own
/// repository, they wait for the commit of their handoff.
pub(crate) const SHARED: &str = "refs/midstride/handoffs";
/// Prefix of the refs to texts that stay on this machine even if their handoff is committed later. They
/// are in our own repository; earlier versions kept them in the project's.
pub(crate) const PRIVATE: &str = "refs/midstride-private/handoffs";

/// A longer uid is replaced by its hash in file names.
const PLAIN_UID_LENGTH_MAX: usize = 64;

/// A uid as a file name and as part of a ref name: unchanged if it is plain, else its hash. Two
/// uids never share a name, even on file systems that ignore case.
pub(crate) fn uid_file_name(uid: &Uid) -> String {
    let uid = uid.as_str().trim();
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    if !uid.is_empty() && uid.len() <= PLAIN_UID_LENGTH_MAX && uid.bytes().all(plain) {
        return uid.to_owned();
    }
    // A plain uid never starts with an underscore.
    format!("_{}", sha256(uid.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_uid_has_a_unique_file_name() {
        for plain in ["0195b9d2-4c00-7000-8000-000000000001", "one", "a-b"] {
            assert_eq!(uid_file_name(&Uid::new(plain)), plain);
        }
        let long = "a".repeat(300);
        let uids = ["a-b", "a/b", "a.b", "a b", "A-b", "a_b", "ä", "..", "", &long, &long[1..]];
        let names: std::collections::BTreeSet<String> =
            uids.iter().map(|uid| uid_file_name(&Uid::new(*uid)).to_lowercase()).collect();
        assert_eq!(names.len(), uids.len());
        assert!(names.iter().all(|name| name.len() <= 65), "{names:?}");
        assert_eq!(uid_file_name(&Uid::new(" one\n")), "one");
    }
}
