//! The commands that meet faults, and what each has to leave behind.

use super::bench::Bench;
use serde_json::json;

/// The session that was captured before.
pub(super) const CAPTURED: &str = "5e550001-4c00-7000-8000-00000000aaaa";
/// The session that the hook captures.
pub(super) const ENDING: &str = "5e550002-4c00-7000-8000-00000000bbbb";
/// A word that is in the text to forget only, and that no redaction rule matches.
pub(super) const FORGOTTEN: &str = "zanzibarquux";
/// The subject of the added task.
pub(super) const SUBJECT: &str = "measure the cold start";

/// A command that writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scenario {
    New,
    Revise,
    Save,
    Resolve,
    TaskAdd,
    Sync,
    Forget,
    ClientAdd,
    Capture,
}

impl Scenario {
    /// What is typed after the name of the program.
    pub(super) fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::New => &["new", "Third", "--id", "third", "--body", "-"],
            Self::Revise => &["edit", "first", "--reason", "it moved on", "--body", "-"],
            Self::Save => &[
                "save",
                "--session",
                CAPTURED,
                "--id",
                "saved",
                "--summary",
                "The cache is warm.",
                "--accept",
                "the rest is in the tasks",
            ],
            Self::Resolve => &["resolve", "first", "--outcome", "The page is fast."],
            Self::TaskAdd => &["task", "add", SUBJECT],
            Self::Sync => &["sync"],
            Self::Forget => &["forget", "second@2", "--reason", "a word", "--yes"],
            Self::ClientAdd => &["client", "add", "claude-code", "codex", "--yes"],
            Self::Capture => &["hook", "claude-code"],
        }
    }

    /// Whether it asks the user at a terminal.
    pub(super) fn needs_consent(self) -> bool {
        self == Self::Forget
    }

    /// Whether it is complete when everything is as it leaves it. Others add something with a random
    /// id, or remove something.
    pub(super) fn is_exact(self) -> bool {
        !matches!(self, Self::TaskAdd | Self::Forget | Self::Capture)
    }

    /// What it reads from standard input.
    pub(super) fn input(self, bench: &Bench) -> String {
        match self {
            Self::New => "The third text.\n".repeat(200),
            Self::Revise => "The next text.\n".repeat(200),
            Self::Capture => json!({
                "session_id": ENDING,
                "transcript_path": bench.transcript(ENDING),
                "cwd": bench.sandbox().root(),
                "hook_event_name": "SessionEnd",
                "reason": "other",
            })
            .to_string(),
            Self::Save
            | Self::Resolve
            | Self::TaskAdd
            | Self::Sync
            | Self::Forget
            | Self::ClientAdd => String::new(),
        }
    }
}
