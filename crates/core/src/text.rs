//! Text as values: bytes and spans, ids, times, tokens, YAML and Markdown, edits, redaction.

pub mod edit;
pub mod hidden;
pub mod id;
pub mod markdown;
pub mod redact;
pub mod span;
pub mod time;
pub mod tokens;
pub mod words;
pub mod yaml;
