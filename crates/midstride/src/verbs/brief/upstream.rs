//! Collects briefing items from the handoffs a stage builds on.

use super::clean_path;
use crate::workspace::{StoredHandoff, Workspace};
use midstride_core::brief::BriefItem;
use midstride_core::brief::items::upstream_items;
use std::collections::HashSet;
use std::path::PathBuf;

/// The redacted items of every handoff a stage builds on. Skips handoffs already in the briefing.
pub(super) fn collect_upstream_items(
    workspace: &Workspace,
    stored: &StoredHandoff,
    briefed: &mut HashSet<PathBuf>,
) -> Vec<BriefItem> {
    if stored.handoff(workspace).stage().is_none() {
        return Vec::new();
    }
    let upstream = workspace.upstream_handoffs(stored).into_iter();
    let new = upstream.filter(|one| briefed.insert(one.path.clone()));
    let mut items: Vec<BriefItem> = new
        .flat_map(|one| upstream_items(&one.handoff(workspace), &clean_path(workspace, &one)))
        .collect();
    for item in &mut items {
        item.text = workspace.clean(&item.text).0.as_str().to_owned();
    }
    items
}
