//! Tests of the contract: the engine in memory passes the suite, and decisions are retried.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod decisions;
mod memory;
