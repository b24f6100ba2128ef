//! Parses tree objects as git stores them.

use midstride_core::text::id::BlobHash;
use std::collections::BTreeSet;

/// The blobs of a tree that are named after their own id, as in the trees that midstride writes.
pub(super) fn self_named_blobs(raw: &[u8], id_bytes: usize) -> BTreeSet<BlobHash> {
    let own = tree_entries(raw, id_bytes).into_iter();
    own.filter(|(mode, name, id)| mode == "100644" && name == id)
        .map(|(_, _, id)| BlobHash::new(id))
        .collect()
}

/// Parses `<mode> <name>\0<id>…` into mode, name and id.
pub(super) fn tree_entries(mut raw: &[u8], id_bytes: usize) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    while let Some(end) = raw.iter().position(|byte| *byte == 0) {
        let head = String::from_utf8_lossy(&raw[..end]).into_owned();
        let Some(id) = raw.get(end + 1..end + 1 + id_bytes) else { break };
        let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        raw = &raw[end + 1 + id_bytes..];
        if let Some((mode, name)) = head.split_once(' ') {
            found.push((mode.to_owned(), name.to_owned(), id));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_entries_are_parsed() {
        let raw = b"100644 aa00\0\xaa\x0040000 x y\0\x00\x01100644 b\0";
        let found = tree_entries(raw, 2);
        let text = |(mode, name, id): &(String, String, String)| format!("{mode} {name} {id}");
        let found: Vec<String> = found.iter().map(text).collect();
        assert_eq!(found, ["100644 aa00 aa00", "40000 x y 0001"], "what is cut off is left out");
        assert_eq!(self_named_blobs(raw, 2), BTreeSet::from([BlobHash::new("aa00")]));
    }
}
