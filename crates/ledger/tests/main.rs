//! Tests of the contract: the engine in memory passes the suite, and decisions are retried.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod decisions;
mod memory;
