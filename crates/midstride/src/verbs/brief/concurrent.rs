//! Lists other active sessions for a session that starts.

use super::BriefRequest;
use super::ledger_facts::LedgerFacts;
use crate::clients::active_sessions::{ActiveSession, find_active_sessions};
use crate::sys::files;
use crate::workspace::Workspace;
use crate::workspace::observation::last_work_tree;
use midstride_core::brief::items::{self, concurrent_session_items};
use midstride_core::brief::{BriefItem, BriefOccasion};
use midstride_core::session::checkpoint::{HighlightKind, SessionSummary};
use midstride_core::session::shell::join_folder;
use std::path::Path;

/// One item per other active session. Not after a compaction, because the session got them when it
/// started, and not for prompts or agents.
pub(super) fn collect_concurrent_session_items(
    workspace: &Workspace,
    asked: &BriefRequest,
    work: &LedgerFacts,
) -> Vec<BriefItem> {
    let is_wanted = asked.only.is_none()
        && match asked.occasion {
            None
            | Some(
                BriefOccasion::Startup
                | BriefOccasion::Clear
                | BriefOccasion::Resume
                | BriefOccasion::Continue,
            ) => true,
            Some(
                BriefOccasion::Summary
                | BriefOccasion::Compact
                | BriefOccasion::Prompt
                | BriefOccasion::Agent,
            ) => false,
        };
    if !is_wanted {
        return Vec::new();
    }
    let own = [asked.session.as_ref(), workspace.environment().session.as_ref()];
    let others = find_active_sessions(workspace, &own);
    if others.is_empty() {
        return Vec::new();
    }
    let left = work
        .summary
        .as_ref()
        .map(|summary| uncommitted_files(workspace, summary))
        .unwrap_or_default();
    let here = files::canonical(workspace.root().path());
    let seen = |one: ActiveSession| {
        let is_of_page =
            work.summary.as_ref().is_some_and(|summary| summary.session == one.session);
        let both = |path: &&String| !is_of_page && one.edited.contains(path);
        items::ConcurrentSession {
            client_title: one.client.title(),
            other_work_tree: (one.root != here)
                .then(|| clean(workspace, &one.root.to_string_lossy())),
            branch: one.branch.as_deref().map(|branch| clean(workspace, branch)),
            last_active: one.active,
            is_page_subject: is_of_page,
            shared_files: left.iter().filter(both).cloned().collect(),
            session: one.session,
        }
    };
    concurrent_session_items(&others.into_iter().map(seen).collect::<Vec<_>>())
}

fn clean(workspace: &Workspace, text: &str) -> String {
    workspace.clean(text).0.as_str().to_owned()
}

/// The files a session changed, relative to the project root, without those committed since
/// according to the last observation.
fn uncommitted_files(workspace: &Workspace, summary: &SessionSummary) -> Vec<String> {
    let root = files::canonical(workspace.root().path());
    let state = last_work_tree(workspace);
    let is_uncommitted = |path: &String| {
        let has = |name: &str| name == path || name.ends_with('/') && path.starts_with(name);
        state.as_ref().is_none_or(|state| {
            state.more > 0 || state.uncommitted.iter().any(|file| has(&file.path))
        })
    };
    let changed = summary.of_kind(HighlightKind::Changed).filter_map(|one| {
        let whole = join_folder(summary.folder.as_deref(), &one.text);
        Some(Path::new(&whole).strip_prefix(&root).ok()?.to_str()?.to_owned())
    });
    changed.filter(is_uncommitted).collect()
}
