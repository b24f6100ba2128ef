//! The version of the format. A writer refuses what it does not understand; readers read on.

use crate::format::finding::{Code, Finding};
use crate::format::header::Header;

/// The version this library writes. A document without one is of version 1.
pub const FORMAT_VERSION: u32 = 1;

/// The finding for a document from the future.
pub(super) fn newer_format_finding(header: &Header) -> Option<Finding> {
    let written = header.fields().get("format")?.text()?;
    // What is not a number is not an older version either.
    let version: f64 = written.value.trim().parse().unwrap_or(f64::INFINITY);
    (version > f64::from(FORMAT_VERSION)).then(|| {
        let message = format!(
            "format {} is newer than {FORMAT_VERSION}, the newest known here",
            written.value
        );
        Finding::new(Code::NewerFormat, written.at, message).with_hint("update midstride")
    })
}
