//! Any three texts, merged: the same whichever side is called ours, and readable afterwards. The
//! bytes are cut in three at `\0`; what is missing is the text before it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use midstride_core::handoff::merge::{SideIds, merge, side_by_side};
use midstride_core::text::id::BlobHash;
use midstride_fuzz::{judge, read};

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(3, |byte| *byte == 0);
    let base = read(parts.next().unwrap_or_default());
    let one = read(parts.next().unwrap_or(base.text().as_bytes()));
    let other = read(parts.next().unwrap_or(base.text().as_bytes()));
    if ![&base, &one, &other].into_iter().all(|document| document.is_exact()) {
        return;
    }
    let (first, second) = (BlobHash::new("aa"), BlobHash::new("bb"));
    let here = SideIds { one: &first, other: &second };
    let there = SideIds { one: &second, other: &first };
    for base in [Some(&base), None] {
        let merged = merge(base, &one, &other, Some(here));
        assert_eq!(merged, merge(base, &other, &one, Some(there)), "merging is not symmetric");
        let merged = merged.unwrap_or_else(|_| side_by_side(&one, &other));
        judge(&read(merged.text.as_bytes()));
    }
});
