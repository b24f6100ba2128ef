//! Files that a session read or changed, and reverted changes.

use super::item::Provenance;
use crate::session::shell::{FileStep, join_folder};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The maximum number of files that are listed. Further ones are only counted.
const FILES_MAX: usize = 20_000;
/// How many changes of a file are compared with later ones.
const COMPARED_MAX: usize = 64;
/// How many changes of a file are listed with their records.
const NAMED_MAX: usize = 200;

/// A change of one file by a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolFileChange {
    /// The whole file was written.
    Write {
        /// The file.
        path: String,
        /// The hash and length of the new content. None where the record does not give it.
        content: Option<(u64, u64)>,
    },
    /// A part was replaced.
    Edit {
        /// The file.
        path: String,
        /// The hashes of the old and new text of each part.
        parts: Vec<(u64, u64)>,
    },
    /// It was deleted.
    Delete {
        /// The file.
        path: String,
    },
}

impl ToolFileChange {
    /// The file.
    pub fn path(&self) -> &str {
        match self {
            Self::Write { path, .. } | Self::Edit { path, .. } | Self::Delete { path } => path,
        }
    }
}

/// A file that a session touched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedFile {
    /// How often it was read.
    pub reads: u64,
    /// How often it was written whole.
    pub writes: u64,
    /// How often a part of it was replaced.
    pub edits: u64,
    /// How often it was deleted.
    pub deletions: u64,
    /// The first record that mentions it.
    pub first: Option<Provenance>,
    /// The records that changed it; the latest ones if there are many.
    pub changed: Vec<Provenance>,
    /// The records in which a change was reverted.
    pub reverted: Vec<Provenance>,
    /// The expected content: the hash and length of the last full write. None if only parts were
    /// replaced since.
    pub content: Option<(u64, u64)>,
    /// Whether the session deleted it.
    pub deleted: bool,
    /// What a command did to it since the last change.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub put_away: Option<FileRemoval>,
    recent: Vec<(u64, u64)>,
}

/// What a command of the session did to a file. A file that such a command removed does not count
/// as missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRemoval {
    /// The record of the command.
    pub seen: Provenance,
    /// What the command did.
    pub how: FileRemovalKind,
    /// The path it was moved to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<String>,
}

/// How a command removed a file or its changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileRemovalKind {
    /// It was removed.
    Removed,
    /// It was moved.
    Moved,
    /// Its changes were reverted to what git has.
    Restored,
    /// Its changes were stashed.
    Stashed,
    /// Another branch was checked out.
    Switched,
    /// Untracked files were removed.
    Cleaned,
}

impl TouchedFile {
    /// Whether the session changed it.
    pub fn is_changed(&self) -> bool {
        self.writes + self.edits + self.deletions > 0
    }

    fn change(&mut self, change: &ToolFileChange, seen: &Provenance) {
        self.deleted = false;
        self.put_away = None;
        match change {
            ToolFileChange::Write { content, .. } => {
                self.writes += 1;
                let new = content.map_or(0, |(hash, _)| hash);
                if let Some((old, _)) = self.content {
                    self.compare((old, new), seen);
                }
                self.content = *content;
            }
            ToolFileChange::Edit { parts, .. } => {
                self.edits += 1;
                self.content = None;
                for part in parts {
                    self.compare(*part, seen);
                }
            }
            ToolFileChange::Delete { .. } => {
                self.deletions += 1;
                self.content = None;
                self.deleted = true;
            }
        }
        if self.changed.len() >= NAMED_MAX {
            self.changed.remove(0);
        }
        self.changed.push(seen.clone());
    }

    /// Records a change, or a revert if it is the inverse of an earlier change.
    fn compare(&mut self, (old, new): (u64, u64), seen: &Provenance) {
        if let Some(at) = self.recent.iter().rposition(|earlier| *earlier == (new, old)) {
            self.recent.remove(at);
            self.revert(seen);
            return;
        }
        if self.recent.len() >= COMPARED_MAX {
            self.recent.remove(0);
        }
        self.recent.push((old, new));
    }

    fn note_removal(&mut self, how: FileRemovalKind, to: Option<String>, seen: &Provenance) {
        let is_gone = matches!(how, FileRemovalKind::Removed | FileRemovalKind::Moved);
        if is_gone && self.is_changed() && self.changed.len() < NAMED_MAX {
            self.changed.push(seen.clone());
        }
        if how == FileRemovalKind::Restored {
            self.revert(seen);
        }
        self.content = None;
        self.deleted = is_gone;
        self.put_away = Some(FileRemoval { seen: seen.clone(), how, to });
    }

    fn revert(&mut self, seen: &Provenance) {
        if self.reverted.last() != Some(seen) && self.reverted.len() < NAMED_MAX {
            self.reverted.push(seen.clone());
        }
    }
}

/// Touched files by path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedFiles {
    /// What was done to each file.
    pub by_path: BTreeMap<String, TouchedFile>,
    /// How many accesses to further files were omitted.
    pub left_out: u64,
}

impl TouchedFiles {
    fn entry(&mut self, path: String, seen: &Provenance) -> Option<&mut TouchedFile> {
        if self.by_path.len() >= FILES_MAX && !self.by_path.contains_key(&path) {
            self.left_out += 1;
            return None;
        }
        let touched = self.by_path.entry(path).or_default();
        touched.first.get_or_insert_with(|| seen.clone());
        Some(touched)
    }

    /// When a file was last changed, if records have timestamps.
    pub fn last_change(&self) -> Option<Timestamp> {
        let last = |touched: &TouchedFile| touched.changed.last().and_then(|seen| seen.at);
        self.by_path.values().filter_map(last).max()
    }

    pub(super) fn read(&mut self, path: String, seen: &Provenance) {
        if let Some(touched) = self.entry(path, seen) {
            touched.reads += 1;
        }
    }

    pub(super) fn change(&mut self, change: &ToolFileChange, seen: &Provenance) {
        if let Some(touched) = self.entry(change.path().to_owned(), seen) {
            touched.change(change, seen);
        }
    }

    /// Applies a command that removed, moved or stashed files. `folder` is where it ran.
    pub(super) fn apply_step(&mut self, step: &FileStep, folder: Option<&str>, seen: &Provenance) {
        match step {
            FileStep::Remove(paths) => {
                self.for_each_named(paths, folder, &mut |_, touched, _| {
                    touched.note_removal(FileRemovalKind::Removed, None, seen);
                });
            }
            FileStep::Move { from, to } => {
                self.for_each_named(from, folder, &mut |path, touched, named| {
                    let to = moved_path(path, named, to, from.len() > 1);
                    touched.note_removal(FileRemovalKind::Moved, Some(to), seen);
                });
            }
            FileStep::Restore(paths) if paths.is_empty() => self.restore_all(seen),
            FileStep::Restore(paths) => {
                self.for_each_named(paths, folder, &mut |_, touched, _| {
                    if touched.is_changed() {
                        touched.note_removal(FileRemovalKind::Restored, None, seen);
                    }
                });
            }
            FileStep::Stash => self.remove_each_changed(FileRemovalKind::Stashed, seen),
            FileStep::Switch => self.remove_each_changed(FileRemovalKind::Switched, seen),
            FileStep::Clean => {
                for touched in self.by_path.values_mut().filter(|touched| touched.writes > 0) {
                    touched.note_removal(FileRemovalKind::Cleaned, None, seen);
                }
            }
            FileStep::Write(_) | FileStep::Rewrite => {}
            FileStep::Unstash => {
                let is_stashed = |touched: &&mut TouchedFile| {
                    touched
                        .put_away
                        .as_ref()
                        .is_some_and(|away| away.how == FileRemovalKind::Stashed)
                };
                for touched in self.by_path.values_mut().filter(is_stashed) {
                    touched.put_away = None;
                }
            }
        }
    }

    /// Whether changes are stashed: a check now does not check the session's changes.
    pub(super) fn has_stashed(&self) -> bool {
        let is_stashed = |away: &FileRemoval| away.how == FileRemovalKind::Stashed;
        self.by_path.values().any(|touched| touched.put_away.as_ref().is_some_and(is_stashed))
    }

    fn restore_all(&mut self, seen: &Provenance) {
        for touched in self.by_path.values_mut().filter(|touched| touched.is_changed()) {
            touched.note_removal(FileRemovalKind::Restored, None, seen);
        }
    }

    fn remove_each_changed(&mut self, how: FileRemovalKind, seen: &Provenance) {
        let is_there = |touched: &&mut TouchedFile| touched.is_changed() && !touched.deleted;
        for touched in self.by_path.values_mut().filter(is_there) {
            touched.note_removal(how, None, seen);
        }
    }

    fn for_each_named(
        &mut self,
        names: &[String],
        folder: Option<&str>,
        look: &mut dyn FnMut(&str, &mut TouchedFile, &str),
    ) {
        for name in names.iter().filter(|name| !name.contains('$') && name.len() > 1) {
            let name = name.trim_start_matches("./").trim_end_matches('/');
            let whole = join_folder(folder, name);
            for (path, touched) in &mut self.by_path {
                if is_named(path, &whole) || (folder.is_none() && is_named_end(path, name)) {
                    look(path, touched, &whole);
                }
            }
        }
    }

    /// Iterates over the changed files with their paths.
    pub fn changed(&self) -> impl Iterator<Item = (&str, &TouchedFile)> {
        let all = self.by_path.iter();
        all.filter(|(_, touched)| touched.is_changed()).map(|(path, touched)| (&**path, touched))
    }

    /// The files changed by records between two lines.
    pub(super) fn changed_between(&self, after: u64, before: u64) -> Vec<String> {
        const PATHS_MAX: usize = 20;
        let within = |seen: &Provenance| seen.number > after && seen.number < before;
        let changed = self.changed().filter(|(_, touched)| touched.changed.iter().any(within));
        changed.map(|(path, _)| path.to_owned()).take(PATHS_MAX).collect()
    }

    pub(super) fn merge_agent(
        &mut self,
        other: &Self,
        relabel: &dyn Fn(&Provenance) -> Provenance,
    ) {
        self.left_out += other.left_out;
        for (path, theirs) in &other.by_path {
            let Some(first) = &theirs.first else { continue };
            let Some(ours) = self.entry(path.clone(), &relabel(first)) else { continue };
            ours.reads += theirs.reads;
            ours.writes += theirs.writes;
            ours.edits += theirs.edits;
            ours.deletions += theirs.deletions;
            ours.changed.extend(theirs.changed.iter().map(relabel));
            ours.reverted.extend(theirs.reverted.iter().map(relabel));
            if theirs.is_changed() {
                // The order of the two changes is unknown.
                ours.content =
                    if ours.changed.len() == theirs.changed.len() { theirs.content } else { None };
                ours.deleted = theirs.deleted;
                ours.put_away = theirs.put_away.clone();
            }
        }
    }
}

/// Whether a path is the file `name`, or inside the directory `name`.
fn is_named(path: &str, name: &str) -> bool {
    if let Some((before, after)) = name.split_once('*') {
        // A pattern does not match across directories.
        let middle = path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        return middle.is_some_and(|middle| !middle.contains('/') || name.contains("**"));
    }
    path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Like `is_named`, where the command's working directory is unknown.
fn is_named_end(path: &str, name: &str) -> bool {
    path == name || path.ends_with(&format!("/{name}")) || path.contains(&format!("/{name}/"))
}

/// The new path of a file after it or its directory was moved.
fn moved_path(path: &str, named: &str, to: &str, is_folder: bool) -> String {
    let to_folder = to.trim_end_matches('/');
    let below = path.strip_prefix(named).unwrap_or_default();
    let name = named.rsplit('/').next().unwrap_or(named);
    match is_folder || to.ends_with('/') {
        true => format!("{to_folder}/{name}{below}"),
        false => format!("{to_folder}{below}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Attribution;

    fn seen(number: u64) -> Provenance {
        let record = format!("r{number}");
        Provenance { record, number, at: None, source: Attribution::Observed, agent: None }
    }

    fn edit(old: u64, new: u64) -> ToolFileChange {
        ToolFileChange::Edit { path: "src/a.rs".into(), parts: vec![(old, new)] }
    }

    #[test]
    fn an_inverse_change_counts_as_a_revert() {
        let mut files = TouchedFiles::default();
        for (number, change) in [edit(1, 2), edit(3, 4), edit(2, 1), edit(1, 2)].iter().enumerate()
        {
            files.change(change, &seen(number as u64));
        }
        let touched = &files.by_path["src/a.rs"];
        assert_eq!(touched.reverted, [seen(2)]);
        assert_eq!(touched.edits, 4);
        assert_eq!(files.changed_between(0, 2), ["src/a.rs"]);
        assert!(files.changed_between(3, 9).is_empty());
    }

    fn after(line: &str) -> TouchedFiles {
        let mut files = TouchedFiles::default();
        files.change(&edit(1, 2), &seen(1));
        files.change(
            &ToolFileChange::Write { path: "/p/src/new.rs".into(), content: None },
            &seen(2),
        );
        files.read("/p/src/b.rs".into(), &seen(3));
        for command in &crate::session::shell::ShellLine::parse(line).commands {
            if let Some(step) = crate::session::shell::file_step(command) {
                files.apply_step(&step, Some("/p"), &seen(4));
            }
        }
        files
    }

    #[test]
    fn files_removed_by_commands_are_recorded() {
        let table = [
            ("rm src/new.rs", Some(FileRemovalKind::Removed), None),
            ("rm -r src", Some(FileRemovalKind::Removed), None),
            ("rm src/*.rs", Some(FileRemovalKind::Removed), None),
            ("git mv src/new.rs src/old.rs", Some(FileRemovalKind::Moved), Some("src/old.rs")),
            ("mv src lib", Some(FileRemovalKind::Moved), Some("lib/new.rs")),
            ("mv src lib/", Some(FileRemovalKind::Moved), Some("lib/src/new.rs")),
            ("git stash", Some(FileRemovalKind::Stashed), None),
            ("git stash; git stash pop", None, None),
            ("git checkout main", Some(FileRemovalKind::Switched), None),
            ("git reset --hard", Some(FileRemovalKind::Restored), None),
            ("rm src/other.rs", None, None),
            ("git restore src/b.rs", None, None),
        ];
        for (line, how, to) in table {
            let files = after(line);
            let away = files.by_path["/p/src/new.rs"].put_away.as_ref();
            assert_eq!(away.map(|away| away.how), how, "{line}");
            assert_eq!(away.and_then(|away| away.to.as_deref()), to, "{line}");
            let is_gone = matches!(how, Some(FileRemovalKind::Removed | FileRemovalKind::Moved));
            assert_eq!(files.by_path["/p/src/new.rs"].deleted, is_gone, "{line}");
        }
        assert_eq!(after("git reset --hard").by_path["/p/src/new.rs"].reverted, [seen(4)]);
        assert!(after("git reset --hard").by_path["/p/src/b.rs"].reverted.is_empty());
    }
}
