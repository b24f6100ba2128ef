//! The JSON results of commands without a view module of their own.

use midstride_core::text::id::BlobHash;
use serde::Serialize;

/// A rule of the checker.
#[derive(Serialize)]
pub(crate) struct RuleJson {
    pub(crate) code: &'static str,
    pub(crate) severity: String,
    pub(crate) title: &'static str,
    pub(crate) why: &'static str,
    pub(crate) mend: &'static str,
}

/// A project that was set up.
#[derive(Serialize)]
pub(crate) struct InitJson {
    pub(crate) configuration: String,
    pub(crate) handoffs: String,
    pub(crate) already: bool,
    pub(crate) merge_driver: Option<String>,
}

/// The result of `midstride sync`.
#[derive(Serialize)]
pub(crate) struct SyncJson {
    pub(crate) remote: String,
    pub(crate) handoffs: usize,
    pub(crate) received: usize,
    pub(crate) sent: usize,
    pub(crate) kept_back: usize,
    pub(crate) forgotten: Vec<super::forget::TombstoneJson>,
    pub(crate) tasks: TaskSyncJson,
}

/// The result of a task sync.
#[derive(Serialize)]
pub(crate) struct TaskSyncJson {
    pub(crate) here: usize,
    pub(crate) received: usize,
    pub(crate) sent: usize,
    pub(crate) skipped: usize,
    pub(crate) early: usize,
    pub(crate) withheld: bool,
}

/// The result of merging a file.
#[derive(Serialize)]
pub(crate) struct MergeJson {
    pub(crate) path: String,
    pub(crate) conflicts: Vec<String>,
    pub(crate) redacted: Vec<String>,
    pub(crate) replaced: Option<BlobHash>,
}

/// The result of sharing a handoff.
#[derive(Serialize)]
pub(crate) struct ShareJson {
    pub(crate) key: String,
    pub(crate) path: String,
}

/// The result of `midstride fmt`.
#[derive(Serialize)]
pub(crate) struct FmtJson {
    pub(crate) looked_at: usize,
    pub(crate) changed: Vec<String>,
    pub(crate) refused: Vec<RefusalJson>,
}

/// A refused action and its hint.
#[derive(Serialize)]
pub(crate) struct RefusalJson {
    pub(crate) message: String,
    pub(crate) hints: Vec<String>,
}
