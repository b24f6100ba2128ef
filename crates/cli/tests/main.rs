//! Tests of the program as users run it, and checks of the whole repository.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests look from outside")]

mod commands;
mod completion;
mod concurrency;
mod demo;
mod docs;
mod documents;
mod findings;
mod guide;
mod hostile;
mod killed;
mod mcp;
mod old_versions;
mod places;
mod real_clients;
mod robustness;
mod seed;
mod tidy;
mod torture;
mod transcripts;
mod under_strace;

use midstride_testkit::Sandbox;

/// An empty folder in which the program can run.
fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_midstride"))
}
