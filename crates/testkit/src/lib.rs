//! Shared helpers for midstride's tests: sandboxes, real repositories and snapshots of the output.
//!
//! Every test is isolated: it has its own folder, its own HOME, an empty environment and a fixed
//! clock. Nothing here is used outside tests.
#![expect(clippy::disallowed_methods, reason = "tests look at the program from outside")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::return_self_not_must_use, reason = "a chain may end anywhere in a test")]

mod bless;
mod corpus;
mod drifting_repo;
mod model_server;
mod random;
pub mod real_client;
mod repo;
mod sandbox;
pub mod secrets;
mod transcripts;

pub use bless::assert_page;
pub use corpus::{corpus, fixtures, markdown_below, repository_root};
pub use drifting_repo::{DriftingRepo, Expected};
pub use model_server::{ModelServer, Request, Turn};
pub use random::Random;
pub use sandbox::{NOW, Run, Sandbox, SandboxUser, json_items};
pub use transcripts::{client, cursor, parse_cursor};
