//! Finds plan documents in the folders where users and tools keep them.

use crate::sys::files;
use crate::workspace::Workspace;
use midstride_core::session::report::is_checked_off;
use std::path::{Path, PathBuf};

/// Folders in which every document is a plan.
const FOLDERS: [&str; 5] =
    ["docs/plans", "docs/superpowers/plans", "thoughts/shared/plans", "plans", ".claude/plans"];
/// Folders where only the file name identifies a plan.
const MIXED: [&str; 3] = ["docs", "docs/superpowers/specs", ""];
/// Each feature has a folder with a `plan.md` below this one.
const SPECS: &str = "specs";
/// Documents that describe a folder.
const NO_PLANS: [&str; 4] = ["readme.md", "index.md", "template.md", "changelog.md"];
const PLANS_MAX: usize = 50;
/// How many plans the next session reads first.
const FIRST_MAX: usize = 5;
/// The size of the largest file that is read.
const BYTES_MAX: u64 = 1 << 20;

/// The plan documents of a project, by folder and name.
pub(in crate::verbs) fn plan_documents(workspace: &Workspace) -> Vec<String> {
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in FOLDERS {
        found.extend(documents(workspace, folder, |name| !NO_PLANS.contains(&name)));
    }
    found.extend(specs(workspace));
    for folder in MIXED {
        found.extend(documents(workspace, folder, is_plan));
    }
    found.truncate(PLANS_MAX);
    let clean = |path: PathBuf| workspace.clean(&path.display().to_string()).0.as_str().to_owned();
    found.into_iter().map(clean).collect()
}

/// Whether a document in a mixed folder is a plan, by its lowercase name: one of its words is
/// `plan`, or it ends with `-impl` or `-design`.
fn is_plan(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    words.any(|word| word == "plan") || name.ends_with("-impl.md") || name.ends_with("-design.md")
}

fn documents(workspace: &Workspace, folder: &str, is_plan: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = workspace.root().entries(Path::new(folder)).unwrap_or_default();
    let is_document = |name: &str| files::is_markdown(Path::new(name)) && is_plan(name);
    let plans =
        entries.into_iter().filter(|one| !one.is_folder && is_document(&one.name.to_lowercase()));
    plans.map(|one| Path::new(folder).join(one.name)).collect()
}

/// All `specs/<feature>/plan.md`.
fn specs(workspace: &Workspace) -> Vec<PathBuf> {
    let entries = workspace.root().entries(Path::new(SPECS)).unwrap_or_default();
    let features = entries.into_iter().filter(|one| one.is_folder).take(PLANS_MAX);
    let plans = features.map(|one| Path::new(SPECS).join(one.name).join("plan.md"));
    plans.filter(|path| workspace.root().has_file(path)).collect()
}

/// The unfinished plans the next session reads first, newest first.
pub(in crate::verbs) fn plans_to_read(workspace: &Workspace) -> Vec<String> {
    let mut dated: Vec<_> = plan_documents(workspace)
        .into_iter()
        .filter(|path| is_open(workspace, path))
        .map(|path| {
            let entry = files::read_entry(&workspace.root().path().join(&path));
            (entry.and_then(|entry| entry.changed), path)
        })
        .collect();
    // With equal times the name decides, because names often begin with a date.
    dated.sort_by(|one, other| other.cmp(one));
    dated.into_iter().take(FIRST_MAX).map(|(_, path)| path).collect()
}

/// Whether a plan has work left: an unchecked box, or no boxes at all.
fn is_open(workspace: &Workspace, path: &str) -> bool {
    let bytes = workspace.root().read_up_to(Path::new(path), BYTES_MAX).unwrap_or_default();
    !is_checked_off(&String::from_utf8_lossy(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_recognized_by_file_name() {
        for name in
            ["plan.md", "cache-plan.md", "plan-2.md", "2026-01-01-cache-impl.md", "cache-design.md"]
        {
            assert!(is_plan(name), "{name}");
        }
        for name in [
            "readme.md",
            "design.md",
            "implementation.md",
            "redesign-notes.md",
            "explanation.md",
            "planet.md",
            "airplane-mode.md",
        ] {
            assert!(!is_plan(name), "{name}");
        }
    }
}
