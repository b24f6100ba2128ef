//! What a command did, for programs.

use serde::Serialize;

/// A rule of the judge.
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

/// Texts that were exchanged.
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

/// Tasks that were exchanged.
#[derive(Serialize)]
pub(crate) struct TaskSyncJson {
    pub(crate) here: usize,
    pub(crate) received: usize,
    pub(crate) sent: usize,
    pub(crate) skipped: usize,
    pub(crate) early: usize,
    pub(crate) withheld: bool,
}

/// A file that was merged.
#[derive(Serialize)]
pub(crate) struct MergeJson {
    pub(crate) path: String,
    pub(crate) conflicts: Vec<String>,
    pub(crate) redacted: Vec<String>,
    pub(crate) replaced: Option<String>,
}

/// A handoff that was shared.
#[derive(Serialize)]
pub(crate) struct ShareJson {
    pub(crate) key: String,
    pub(crate) path: String,
}

/// Documents that were brought into the strict form.
#[derive(Serialize)]
pub(crate) struct FmtJson {
    pub(crate) looked_at: usize,
    pub(crate) changed: Vec<String>,
    pub(crate) refused: Vec<RefusalJson>,
}

/// Something that was not done, and what to do about it.
#[derive(Serialize)]
pub(crate) struct RefusalJson {
    pub(crate) message: String,
    pub(crate) hints: Vec<String>,
}
