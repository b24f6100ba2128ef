//! Any bytes between two fences: read, formatted and judged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use midstride_fuzz::{format, judge, read};

fuzz_target!(|bytes: &[u8]| {
    let document = read(&[b"---\n", bytes, b"\n---\nbody"].concat());
    format(&document);
    judge(&document);
});
