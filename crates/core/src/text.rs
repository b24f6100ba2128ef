//! Text primitives: spans, ids, times, token estimates, YAML, Markdown, edits and redaction.

pub mod edit;
pub mod hidden;
pub mod id;
pub mod markdown;
pub mod portable;
pub mod redact;
pub mod since;
pub mod span;
pub mod time;
pub mod tokens;
pub mod words;
pub mod yaml;
