//! Checks, commits and outside effects of a session.
//!
//! The stored format is stable: fields may be added, but never change their meaning.

use super::item::Provenance;
use crate::session::shell::{CheckKind, CheckResult, EffectKind, EffectResult};
use crate::text::id::CommitId;
use serde::{Deserialize, Serialize};

/// A run of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRun {
    /// The record that started it.
    pub seen: Provenance,
    /// The record of its end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended: Option<Provenance>,
    /// What it checks.
    pub kind: CheckKind,
    /// The simple command, as typed.
    pub command: String,
    /// The directory it ran in, if not the session's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub folder: Option<String>,
    /// How it ended.
    pub result: CheckResult,
    /// The most telling lines of the failure, best first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub why: Vec<String>,
}

/// A commit that the session made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCommit {
    /// The record of the commit.
    pub seen: Provenance,
    /// The id, as much of it as the output shows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<CommitId>,
    /// The first line of its message.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subject: Option<String>,
    /// The rest of its message, without trailers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub body: Option<String>,
    /// The branch it was made on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// How many files it changed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub files: Option<u64>,
    /// What was merged, for a merge whose commit was not shown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub merged: Option<String>,
    /// The directory it was made in, if not the session's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub folder: Option<String>,
    /// Whether it still exists.
    #[serde(default)]
    pub state: CommitState,
    /// The push that published it, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pushed: Option<PushRecord>,
}

/// Whether a commit still exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommitState {
    /// It exists, according to the transcript.
    #[default]
    Made,
    /// `--amend` replaced it.
    Amended,
    /// A reset, a rebase or a deleted branch may have removed it.
    Dropped,
    /// It is in a scratch repository that the session created.
    Scratch,
}

/// Where a commit was pushed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushRecord {
    /// The record of the push.
    pub seen: Provenance,
    /// The remote and its branch, where the output shows them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<String>,
}

/// An effect of the session outside the project's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The record of the call.
    pub seen: Provenance,
    /// The kind of effect.
    pub kind: EffectKind,
    /// The action, in the words of its tool: `git push`, `gh pr create`, `linear create_issue`.
    pub action: String,
    /// The simple command as typed, or the tool where it was not a command.
    pub command: String,
    /// How it ended.
    pub result: EffectResult,
    /// The target: a branch, a number, a package.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target: Option<String>,
    /// The title that it was given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub title: Option<String>,
    /// The URL that the output shows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub url: Option<String>,
    /// The unchecked boxes in the text it wrote. None where it wrote no text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub boxes: Option<Vec<String>>,
    /// The most telling lines of the failure, best first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub why: Vec<String>,
}

/// A merge, rebase, cherry-pick or pull that stopped on conflicts, or a commit that was not made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitConflict {
    /// The record in which it stopped.
    pub seen: Provenance,
    /// The simple command, as typed.
    pub command: String,
    /// The message below the subject of a commit that was not made.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub body: Option<String>,
    /// The lines that name the conflicts or the reason.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub why: Vec<String>,
    /// The record in which it was committed, continued or aborted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub settled: Option<Provenance>,
}

/// A file change that no edit tool of the session made: a command made it, or an agent, as the
/// client reported it while the agent ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndirectEdit {
    /// The record of the change.
    pub seen: Provenance,
    /// The file. None where it is unknown which files changed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// The command, as typed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
}
