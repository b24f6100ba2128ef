//! Integration tests of the core: properties of documents and sessions, and the schema against an
//! independent validator.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests read fixtures")]

mod briefing;
mod checkpoint;
mod coverage;
mod findings;
mod graph;
mod instructions;
mod intent;
mod judgement;
mod merge;
mod pages;
mod properties;
mod redact;
mod redaction;
mod report;
mod schema;
mod session_facts;
mod tasks;
mod tokens;
mod transcripts;
mod versions;
mod work;
