//! Renders a purge plan: which project data is deleted for good, and what remains.

use super::client::InstallPlanJson;
use super::{count, heading, indent, sanitize, shell_path};
use crate::json::JsonAnswer;
use midstride::clients::Client;
use midstride::verbs::{GitFileState, PurgePlan, PurgedFile, PurgedFolder, UnrecoverableData};
use serde::Serialize;
use std::path::Path;

/// The plan, shown before anything is deleted.
pub fn text(purge: &PurgePlan) -> String {
    let stays = remaining_text(purge);
    let stays = if stays.is_empty() {
        stays
    } else {
        format!("{}{}", heading("Not deleted"), indent(&stays))
    };
    if purge.is_empty() {
        let alone = if purge.still_used_by.is_empty() { "" } else { " that is not shared" };
        return format!("This project has no midstride data{alone}.\n{stays}");
    }
    let mut lines: Vec<String> = purge.folders.iter().map(folder_line).collect();
    lines.extend(handoffs_line(&purge.handoffs));
    let lost = |one: &&PurgedFile| one.git_state != GitFileState::Committed;
    lines.extend(purge.handoffs.iter().filter(lost).map(file_line));
    lines.extend(purge.others.iter().filter(lost).map(file_line));
    lines.extend(ledger_line(purge));
    if !purge.references.is_empty() {
        lines.push(format!(
            "{} in git to earlier handoff revisions",
            count(purge.references.len(), "reference")
        ));
    }
    if purge.has_driver {
        lines.push("the merge driver, in .gitattributes and in git's configuration".to_owned());
    }
    if purge.permissions > 0 {
        lines.push(format!("{} that you granted here", count(purge.permissions, "permission")));
    }
    format!(
        "{}{}{stays}",
        heading(&format!("To be deleted in {}", path_text(&purge.root))),
        indent(&lines.join("\n"))
    )
}

fn path_text(path: &Path) -> String {
    sanitize(&path.display().to_string())
}

fn folder_line(folder: &PurgedFolder) -> String {
    match folder.is_link {
        true => format!("{}: a link; its target is kept", path_text(&folder.path)),
        false => format!("{}: {}", path_text(&folder.path), count(folder.files, "file")),
    }
}

/// The number of handoffs to delete, with how many of them git has in another version or not at
/// all.
fn handoffs_line(handoffs: &[PurgedFile]) -> Option<String> {
    let of = |wanted: GitFileState| handoffs.iter().filter(|one| one.git_state == wanted).count();
    let states = [GitFileState::Committed, GitFileState::Changed, GitFileState::Missing];
    let parts = states.into_iter().filter(|state| of(*state) > 0);
    let parts: Vec<String> =
        parts.map(|state| format!("{} {}", of(state), git_state_text(state))).collect();
    let all = count(handoffs.len(), "handoff");
    (!handoffs.is_empty()).then(|| format!("{all}: {}", parts.join(", ")))
}

fn git_state_text(state: GitFileState) -> &'static str {
    match state {
        GitFileState::Committed => "committed",
        GitFileState::Changed => "changed since the commit",
        GitFileState::Missing => "not in git",
    }
}

fn file_line(file: &PurgedFile) -> String {
    format!("  {}: {}", path_text(&file.path), git_state_text(file.git_state))
}

fn ledger_line(purge: &PurgePlan) -> Option<String> {
    match (purge.tasks, purge.sessions) {
        _ if !purge.still_used_by.is_empty() => None,
        (Some(0), Some(0)) => None,
        (Some(tasks), Some(sessions)) => {
            let sessions = count(sessions, "captured session");
            Some(format!("{} and {sessions}, in the ledger", count(tasks, "task")))
        }
        (_, _) => Some("the ledger, which cannot be read, so its contents are unknown".to_owned()),
    }
}

fn remaining_text(purge: &PurgePlan) -> String {
    let shelf = |(shelf, documents): &(std::path::PathBuf, usize)| {
        format!("{}: {}\n", path_text(shelf), count(*documents, "document"))
    };
    let mut out: String = purge.other_folders.iter().map(shelf).collect();
    if let Some(others) = shared_with(&purge.still_used_by) {
        out.push_str(&format!(
            "private handoffs, ledger, index, log and earlier revisions: {others}; purging the last of these projects deletes them\n"
        ));
    }
    if !purge.references.is_empty() {
        out.push_str("data that `midstride sync` sent to a remote\n");
    }
    out
}

/// The other projects that share the data; a few of them by name.
fn shared_with(used_by: &[std::path::PathBuf]) -> Option<String> {
    const NAMED_MAX: usize = 3;
    let mut named: Vec<String> =
        used_by.iter().take(NAMED_MAX).map(|other| path_text(other)).collect();
    let more = used_by.len().saturating_sub(NAMED_MAX);
    if more > 0 {
        named.push(format!("{more} more"));
    }
    let has = if named.len() == 1 { "has" } else { "have" };
    let shares = if named.len() == 1 { "shares" } else { "share" };
    let named = match named.split_last()? {
        (one, []) => one.clone(),
        (last, others) => format!("{} and {last}", others.join(", ")),
    };
    Some(format!("{named} also {has} midstride and {shares} them"))
}

/// The data that cannot be restored.
pub fn lost_items(lost: &UnrecoverableData) -> String {
    let counted = [(lost.files, "file"), (lost.tasks, "task"), (lost.sessions, "captured session")];
    let counted = counted.into_iter().filter(|(number, _)| *number > 0);
    let mut lost_things: Vec<String> = counted.map(|(number, what)| count(number, what)).collect();
    if lost.has_earlier_texts {
        lost_things.push("earlier handoff revisions".to_owned());
    }
    if lost.has_unread_ledger {
        lost_things.push("a ledger that cannot be read".to_owned());
    }
    match lost_things.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => lost_things.join(", "),
    }
}

/// How to restore what git has.
pub fn restore_hints(purge: &PurgePlan) -> Vec<String> {
    let is_kept = |one: &PurgedFile| one.git_state != GitFileState::Missing;
    let has_commit = purge.handoffs.iter().chain(&purge.others).any(is_kept);
    if !has_commit {
        return Vec::new();
    }
    vec![
        format!(
            "To restore committed files: git -C {} restore .midstride",
            shell_path(&purge.root)
        ),
        "The deletion is not committed: clones of this repository keep these files until you commit it."
            .to_owned(),
    ]
}

/// Says that a client still has midstride installed in the project.
pub fn leftover_client(client: &'static dyn Client) -> String {
    let (name, typed) = (client.title(), client.name());
    format!(
        "{name} still has midstride installed in this project. Next: midstride client remove {typed} --project"
    )
}

/// What a removal with `--purge` deletes.
#[derive(Serialize)]
pub struct RemovalJson {
    clients: Vec<InstallPlanJson>,
    purge: PurgeJson,
}

impl JsonAnswer for RemovalJson {
    const SCHEMA: &'static str = "purge/1";
}

#[derive(Serialize)]
struct PurgeJson {
    root: String,
    folders: Vec<PurgedFolderJson>,
    handoffs: Vec<PurgedFileJson>,
    other_files: Vec<PurgedFileJson>,
    irreplaceable: UnrecoverableDataJson,
    tasks: Option<usize>,
    sessions: Option<usize>,
    references: Vec<String>,
    merge_driver: bool,
    permissions: usize,
    still_used_by: Vec<String>,
    shelves_that_stay: Vec<String>,
}

#[derive(Serialize)]
struct UnrecoverableDataJson {
    files: usize,
    tasks: usize,
    sessions: usize,
    earlier_texts: bool,
    unread_ledger: bool,
}

impl UnrecoverableDataJson {
    fn new(lost: &UnrecoverableData) -> Self {
        Self {
            files: lost.files,
            tasks: lost.tasks,
            sessions: lost.sessions,
            earlier_texts: lost.has_earlier_texts,
            unread_ledger: lost.has_unread_ledger,
        }
    }
}

#[derive(Serialize)]
struct PurgedFolderJson {
    path: String,
    files: usize,
    is_link: bool,
}

#[derive(Serialize)]
struct PurgedFileJson {
    path: String,
    in_git: &'static str,
}

/// The JSON for a removal: the changes to the clients, and what a purge deletes.
pub fn json(clients: Vec<InstallPlanJson>, purge: &PurgePlan) -> RemovalJson {
    let text = |path: &Path| path.display().to_string();
    let doomed = |file: &PurgedFile| PurgedFileJson {
        path: text(&file.path),
        in_git: match file.git_state {
            GitFileState::Committed => "committed",
            GitFileState::Changed => "changed",
            GitFileState::Missing => "missing",
        },
    };
    let folder = |folder: &PurgedFolder| PurgedFolderJson {
        path: text(&folder.path),
        files: folder.files,
        is_link: folder.is_link,
    };
    let purge = PurgeJson {
        root: text(&purge.root),
        folders: purge.folders.iter().map(folder).collect(),
        handoffs: purge.handoffs.iter().map(doomed).collect(),
        other_files: purge.others.iter().map(doomed).collect(),
        irreplaceable: UnrecoverableDataJson::new(&purge.unrecoverable()),
        tasks: purge.tasks,
        sessions: purge.sessions,
        references: purge.references.clone(),
        merge_driver: purge.has_driver,
        permissions: purge.permissions,
        still_used_by: purge.still_used_by.iter().map(|path| text(path)).collect(),
        shelves_that_stay: purge.other_folders.iter().map(|(path, _)| text(path)).collect(),
    };
    RemovalJson { clients, purge }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_three_projects_that_share_data_are_named() {
        let shared = |count: usize| {
            let used_by: Vec<_> = (0..count).map(|one| format!("/p{one}").into()).collect();
            shared_with(&used_by)
        };
        assert_eq!(shared(0), None);
        assert_eq!(shared(1).unwrap(), "/p0 also has midstride and shares them");
        assert_eq!(shared(2).unwrap(), "/p0 and /p1 also have midstride and share them");
        let many = "/p0, /p1, /p2 and 16 more also have midstride and share them";
        assert_eq!(shared(19).unwrap(), many);
    }
}
