//! The JSON results of commands without a view module of their own.

use super::{display_path, findings, forget};
use crate::json::{JsonAnswer, JsonItem};
use midstride::verbs::{
    InitOutcome, MergeDriverChange, MergeOutcome, SyncOutcome, TaskSyncOutcome,
};
use midstride::workspace::Workspace;
use midstride_core::format::finding::Code;
use midstride_core::text::id::BlobHash;
use serde::Serialize;
use std::path::Path;

/// A rule of the checker.
#[derive(Serialize)]
pub struct RuleJson {
    code: &'static str,
    severity: &'static str,
    title: &'static str,
    why: &'static str,
    mend: &'static str,
}

impl JsonItem for RuleJson {
    const LIST_SCHEMA: &'static str = "codes/1";
}

/// `midstride explain --json`, for one code.
pub fn rule_json(code: Code) -> RuleJson {
    let rule = code.rule();
    RuleJson {
        code: rule.code,
        severity: findings::severity_json(rule.severity),
        title: rule.title,
        why: rule.why,
        mend: rule.fix,
    }
}

/// A project that was set up.
#[derive(Serialize)]
pub struct InitJson {
    configuration: String,
    handoffs: String,
    already: bool,
    merge_driver: Option<String>,
}

impl JsonAnswer for InitJson {
    const SCHEMA: &'static str = "init/1";
}

/// `midstride init --json`. `driver` is the change to the merge driver, if one was requested.
pub fn init_json(
    workspace: &Workspace,
    done: &InitOutcome,
    driver: Option<&MergeDriverChange>,
) -> InitJson {
    InitJson {
        configuration: display_path(workspace, &done.configuration),
        handoffs: display_path(workspace, &done.handoffs),
        already: done.was_set_up,
        merge_driver: driver.and_then(|driver| driver.command.clone()),
    }
}

/// The result of `midstride sync`.
#[derive(Serialize)]
pub struct SyncJson {
    remote: String,
    handoffs: usize,
    received: usize,
    sent: usize,
    kept_back: usize,
    proposals: Vec<forget::TombstoneJson>,
    tasks: TaskSyncJson,
}

impl JsonAnswer for SyncJson {
    const SCHEMA: &'static str = "sync/1";
}

/// The result of a task sync.
#[derive(Serialize)]
struct TaskSyncJson {
    here: usize,
    received: usize,
    sent: usize,
    skipped: usize,
    newer: usize,
    early: usize,
    withheld: bool,
}

/// `midstride sync --json`.
pub fn sync_json(synced: &SyncOutcome) -> SyncJson {
    let SyncOutcome { remote, exchanged, tasks, proposals, tombstones_sent: _ } = synced;
    let TaskSyncOutcome { here, received, sent, skipped, newer, early, is_withheld: withheld } =
        *tasks;
    SyncJson {
        remote: remote.clone(),
        handoffs: exchanged.handoffs,
        received: exchanged.received,
        sent: exchanged.sent,
        kept_back: exchanged.held_back,
        proposals: proposals.iter().map(forget::json).collect(),
        tasks: TaskSyncJson { here, received, sent, skipped, newer, early, withheld },
    }
}

/// The result of merging a file.
#[derive(Serialize)]
pub struct MergeJson {
    path: String,
    conflicts: Vec<String>,
    redacted: Vec<String>,
    replaced: Option<BlobHash>,
}

impl JsonAnswer for MergeJson {
    const SCHEMA: &'static str = "merge/1";
}

/// `midstride merge --json`, for the file at `path`.
pub fn merge_json(path: &Path, merged: &MergeOutcome) -> MergeJson {
    MergeJson {
        path: path.display().to_string(),
        conflicts: merged.conflicts.clone(),
        redacted: merged.redacted.iter().map(|secret| secret.kind.to_string()).collect(),
        replaced: merged.replaced.clone(),
    }
}

/// The result of sharing a handoff.
#[derive(Serialize)]
pub struct ShareJson {
    key: String,
    path: String,
}

impl JsonAnswer for ShareJson {
    const SCHEMA: &'static str = "share/1";
}

/// `midstride share --json`. `path` is the path of the handoff in the committed folder.
pub fn share_json(key: String, path: &Path) -> ShareJson {
    ShareJson { key, path: path.display().to_string() }
}

/// The result of `midstride fmt`.
#[derive(Serialize)]
pub struct FmtJson {
    looked_at: usize,
    changed: Vec<String>,
    refused: Vec<RefusalJson>,
}

impl JsonAnswer for FmtJson {
    const SCHEMA: &'static str = "fmt/1";
}

/// A refused action and its hint.
#[derive(Serialize)]
struct RefusalJson {
    message: String,
    hints: Vec<String>,
}

/// `midstride fmt --json`. A refusal is a message and its hints.
pub fn fmt_json(
    document_count: usize,
    changed: Vec<String>,
    refused: impl Iterator<Item = (String, Vec<String>)>,
) -> FmtJson {
    let refused = refused.map(|(message, hints)| RefusalJson { message, hints });
    FmtJson { looked_at: document_count, changed, refused: refused.collect() }
}
