//! Events about the proofs of a handoff.

use super::family::EventFamily;
use crate::text::id::CommitId;
use serde::{Deserialize, Serialize};

/// An event about a proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
#[non_exhaustive]
pub enum ProofEvent {
    /// Its command was run.
    #[serde(rename = "proof.ran")]
    Ran {
        /// The key of the handoff.
        key: String,
        /// The number of the proof, counted from one.
        number: usize,
        /// The claim.
        claim: Option<String>,
        /// The command.
        command: String,
        /// The folder it ran in, relative to the project root.
        directory: String,
        /// The outcome: `holds`, `broken` or `timed_out`.
        outcome: String,
        /// Why it is broken.
        why: Option<String>,
        /// The exit code; `None` if a signal or the timeout ended it.
        exit: Option<i32>,
        /// The number measured from its output.
        measured: Option<String>,
        /// How long it ran, in milliseconds.
        milliseconds: u64,
        /// The commit that was checked out.
        commit: Option<CommitId>,
        /// The end of its output, without secrets.
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
