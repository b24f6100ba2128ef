//! What happens to the proofs of a handoff.

use super::family::EventFamily;
use serde::{Deserialize, Serialize};

/// What happened to a proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum ProofEvent {
    /// Its command was run.
    #[serde(rename = "proof.ran")]
    Ran {
        /// The handoff.
        key: String,
        /// Which proof of it, counted from one.
        number: usize,
        /// What is claimed.
        claim: Option<String>,
        /// The command.
        command: String,
        /// Where it ran, from the root of the project.
        directory: String,
        /// What came of it: `holds`, `broken`, `timed_out`.
        outcome: String,
        /// Why it is broken.
        why: Option<String>,
        /// The exit code; none where a signal or the clock ended it.
        exit: Option<i32>,
        /// The number in its output.
        measured: Option<String>,
        /// How long it ran.
        milliseconds: u64,
        /// The commit that was checked out.
        commit: Option<String>,
        /// The end of what it wrote, without secrets.
        output: String,
    },
}

impl EventFamily for ProofEvent {
    const NAME: &'static str = "proof";
    const VERSION: u32 = 1;

    fn kind(&self) -> &'static str {
        match self {
            Self::Ran { .. } => "proof.ran",
        }
    }
}
