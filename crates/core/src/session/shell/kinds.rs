//! What commands are, as it is stored.

use serde::{Deserialize, Serialize};

/// What a check checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// Tests.
    Test,
    /// Style: linters, and formatters that only check.
    Lint,
    /// Types.
    Types,
    /// Whether it compiles.
    Build,
    /// A task or script of the project that is none of these.
    Script,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckResult {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// Neither its status nor its output says it.
    Unknown,
}

/// What kind of thing is done outside of the project's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectKind {
    /// Commits or tags go to a remote.
    Push,
    /// A pull request is opened, changed, merged or closed.
    PullRequest,
    /// An issue is opened, changed or closed.
    Issue,
    /// A comment is written.
    Comment,
    /// A review thread is answered.
    Reply,
    /// A review is given, or a review thread is resolved.
    Review,
    /// A release is made or changed.
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
    /// What a tool of a server changes, as its name says.
    pub fn from_tool_action(action: &str) -> Self {
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

/// How something outside ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectResult {
    /// It was done.
    Done,
    /// It failed.
    Failed,
    /// Neither its status nor its output says it.
    Unknown,
}
