//! What a stage is briefed with of the handoffs that it builds on.

use super::clean_path;
use crate::workspace::project::{Project, StoredHandoff};
use midstride_core::brief::BriefItem;
use midstride_core::brief::items::upstream_items;
use std::collections::HashSet;
use std::path::PathBuf;

/// The items of every handoff that a stage builds on, without secrets. One that was briefed before
/// is not briefed again.
pub(super) fn collect_upstream_items(
    project: &Project,
    shelved: &StoredHandoff,
    briefed: &mut HashSet<PathBuf>,
) -> Vec<BriefItem> {
    if shelved.handoff(project).stage().is_none() {
        return Vec::new();
    }
    let upstream = project.upstream_handoffs(shelved).into_iter();
    let new = upstream.filter(|one| briefed.insert(one.path.clone()));
    let mut points: Vec<BriefItem> = new
        .flat_map(|one| upstream_items(&one.handoff(project), &clean_path(project, &one)))
        .collect();
    for point in &mut points {
        point.text = project.clean(&point.text).0.as_str().to_owned();
    }
    points
}
