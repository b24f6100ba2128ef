//! The doors, against the real thing: a file system and git.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests look from outside")]

mod files;
mod git;
mod journal;
