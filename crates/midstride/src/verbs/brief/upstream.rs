//! Collects briefing items from the handoffs a stage builds on.

use super::clean_path;
use crate::workspace::project::{Project, StoredHandoff};
use midstride_core::brief::BriefItem;
use midstride_core::brief::items::upstream_items;
use std::collections::HashSet;
use std::path::PathBuf;

/// The redacted items of every handoff a stage builds on. Skips handoffs already in the briefing.
pub(super) fn collect_upstream_items(
    project: &Project,
    stored: &StoredHandoff,
    briefed: &mut HashSet<PathBuf>,
) -> Vec<BriefItem> {
    if stored.handoff(project).stage().is_none() {
        return Vec::new();
    }
    let upstream = project.upstream_handoffs(stored).into_iter();
    let new = upstream.filter(|one| briefed.insert(one.path.clone()));
    let mut items: Vec<BriefItem> = new
        .flat_map(|one| upstream_items(&one.handoff(project), &clean_path(project, &one)))
        .collect();
    for item in &mut items {
        item.text = project.clean(&item.text).0.as_str().to_owned();
    }
    items
}
