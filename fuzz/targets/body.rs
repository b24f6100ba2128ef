//! Any bytes as a whole file: read and judged, and formatted where a section was meant as header.
#![no_main]

use libfuzzer_sys::fuzz_target;
use midstride_fuzz::{format, judge, read};

fuzz_target!(|bytes: &[u8]| {
    let document = read(bytes);
    format(&document);
    judge(&document);
});
