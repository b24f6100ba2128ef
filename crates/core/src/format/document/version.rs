//! The format version. midstride reads documents with a newer version but does not edit them.

use crate::format::finding::{Code, Finding};
use crate::format::header::Header;

/// The version that this library writes. A document without a version has version 1.
pub const FORMAT_VERSION: u32 = 1;

/// The finding for a document with a newer format version.
pub(super) fn newer_format_finding(header: &Header) -> Option<Finding> {
    let written = header.fields().get("format")?.text()?;
    // Treat a version that is not a number as newer, because it cannot be an older one.
    let version: f64 = written.value.trim().parse().unwrap_or(f64::INFINITY);
    (version > f64::from(FORMAT_VERSION)).then(|| {
        let message = format!(
            "format {} is newer than {FORMAT_VERSION}, the newest format that this version of \
             midstride supports",
            written.value
        );
        Finding::new(Code::NewerFormat, written.at, message).with_hint("update midstride")
    })
}
