//! What a session did with the project and outside of it: checks, commits, outside effects. These
//! are stored: a field is added, never given another meaning.

use super::item::Provenance;
use crate::session::shell::{CheckKind, CheckResult, EffectKind, EffectResult};
use serde::{Deserialize, Serialize};

/// A run of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRun {
    /// Where it was started.
    pub seen: Provenance,
    /// Where its end is told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended: Option<Provenance>,
    /// What it checks.
    pub kind: CheckKind,
    /// The simple command, as typed.
    pub command: String,
    /// The folder it ran in, where it is not the session's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub folder: Option<String>,
    /// How it ended.
    pub result: CheckResult,
    /// The most telling lines of a failure, the best first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub why: Vec<String>,
}

/// A commit that the session made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCommit {
    /// Where it was made.
    pub seen: Provenance,
    /// Its id, as far as it was shown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    /// The first line of its message.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subject: Option<String>,
    /// What its message says below that, without trailers.
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
    /// The folder it was made in, where it is not the session's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub folder: Option<String>,
    /// What became of it.
    #[serde(default)]
    pub state: CommitState,
    /// Where it went, once it was pushed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pushed: Option<PushRecord>,
}

/// What became of a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommitState {
    /// It exists, as far as the transcript shows.
    #[default]
    Made,
    /// `--amend` replaced it.
    Amended,
    /// A reset, a rebase or a deleted branch may have removed it.
    Dropped,
    /// It is in a repository that the session made for a trial.
    Scratch,
}

/// Where a commit was pushed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushRecord {
    /// Where that is told.
    pub seen: Provenance,
    /// The remote and the branch there, where they are shown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<String>,
}

/// Something the session did outside of the project's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Where it was done.
    pub seen: Provenance,
    /// What kind of thing.
    pub kind: EffectKind,
    /// What was done, in the words of its tool: `git push`, `gh pr create`, `linear create_issue`.
    pub action: String,
    /// The simple command, as typed; the tool, where it was no command.
    pub command: String,
    /// How it ended.
    pub result: EffectResult,
    /// What it was done to: a branch, a number, a package.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target: Option<String>,
    /// The title that it was given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub title: Option<String>,
    /// The address that the output shows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub url: Option<String>,
    /// The unchecked boxes of the text that was written; none where no text was written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub boxes: Option<Vec<String>>,
    /// The most telling lines of a failure, the best first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub why: Vec<String>,
}

/// A merge, rebase, cherry-pick or pull that stopped on conflicts, or a commit that was not made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitConflict {
    /// Where it stopped.
    pub seen: Provenance,
    /// The simple command, as typed.
    pub command: String,
    /// What the message of a commit that was not made says below its subject.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub body: Option<String>,
    /// The lines that name the conflicts, or say why.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub why: Vec<String>,
    /// Where it was committed, continued or aborted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub settled: Option<Provenance>,
}

/// A change of files that no tool of the session itself made: a command did, or an agent, as the
/// client told it while the agent worked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndirectEdit {
    /// Where that is told.
    pub seen: Provenance,
    /// The file; none where it is not known which ones.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// The command, as typed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
}
