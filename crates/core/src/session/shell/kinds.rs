//! The kinds and results of checks and external effects, as they are stored.

use serde::{Deserialize, Serialize};

/// The kind of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// Tests.
    Test,
    /// Linters, and formatters in check mode.
    Lint,
    /// Type checkers.
    Types,
    /// Builds.
    Build,
    /// A project task or script that is none of these.
    Script,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckResult {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// Neither the exit status nor the output says.
    Unknown,
}

/// The kind of a change outside the project's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectKind {
    /// Commits or tags are pushed to a remote.
    Push,
    /// A pull request is opened, changed, merged or closed.
    PullRequest,
    /// An issue is opened, changed or closed.
    Issue,
    /// A comment is posted.
    Comment,
    /// A reply is posted to a review thread.
    Reply,
    /// A review is submitted, or a review thread is resolved.
    Review,
    /// A release is created or changed.
    Release,
    /// A package or image is published.
    Publish,
    /// Something is deployed, or infrastructure is changed.
    Deployment,
    /// A database is migrated.
    Migration,
    /// Anything else.
    Other,
}

impl EffectKind {
    /// Returns the kind of change an MCP tool makes, inferred from its name.
    pub(crate) fn from_tool_action(action: &str) -> Self {
        let lower = action.to_ascii_lowercase();
        let names = [
            ("comment", Self::Comment),
            ("reply", Self::Reply),
            ("review", Self::Review),
            ("pull_request", Self::PullRequest),
            ("merge_request", Self::PullRequest),
            ("issue", Self::Issue),
            ("ticket", Self::Issue),
            ("release", Self::Release),
            ("deploy", Self::Deployment),
            ("migration", Self::Migration),
        ];
        names
            .into_iter()
            .find(|(name, _)| lower.contains(name))
            .map_or(Self::Other, |(_, kind)| kind)
    }
}

/// The result of an external effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectResult {
    /// It was done.
    Done,
    /// It failed.
    Failed,
    /// Neither the exit status nor the output says.
    Unknown,
}
