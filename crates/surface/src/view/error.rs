//! Renders an error for programs.

use crate::json::JsonAnswer;
use serde::Serialize;

/// An error.
#[derive(Serialize)]
pub struct ErrorJson<'e> {
    code: &'static str,
    message: &'e str,
    hint: Option<String>,
}

impl JsonAnswer for ErrorJson<'_> {
    const SCHEMA: &'static str = "error/1";
}

/// The JSON for an error. Several hints are one text, in a line each.
pub fn json<'e>(
    code: &'static str,
    message: &'e str,
    hints: impl Iterator<Item = &'e str>,
) -> ErrorJson<'e> {
    let hints: Vec<&str> = hints.collect();
    let hint = (!hints.is_empty()).then(|| hints.join("\n"));
    ErrorJson { code, message, hint }
}
