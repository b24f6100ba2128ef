//! Files that a session read or changed, and changes that were taken back.

use super::item::Seen;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// More files than this are counted, not named.
const FILES_MAX: usize = 20_000;
/// So many changes of a file are compared with later ones.
const COMPARED_MAX: usize = 64;
/// So many changes of a file are named by their records.
const NAMED_MAX: usize = 200;

/// A change of one file, as a tool was called for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// It was written whole.
    Write {
        /// The file.
        path: String,
        /// The hash of what was written, and how long that is; none where it is not told.
        content: Option<(u64, u64)>,
    },
    /// A part was replaced.
    Edit {
        /// The file.
        path: String,
        /// The hashes of what was there and of what took its place.
        parts: Vec<(u64, u64)>,
    },
    /// It was deleted.
    Delete {
        /// The file.
        path: String,
    },
}

impl Change {
    /// The file.
    pub fn path(&self) -> &str {
        match self {
            Self::Write { path, .. } | Self::Edit { path, .. } | Self::Delete { path } => path,
        }
    }
}

/// A file that a session touched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touched {
    /// How often it was read.
    pub reads: u64,
    /// How often it was written whole.
    pub writes: u64,
    /// How often a part of it was replaced.
    pub edits: u64,
    /// How often it was deleted.
    pub deletions: u64,
    /// The first record that tells of it.
    pub first: Option<Seen>,
    /// The records that changed it; of very many, the latest.
    pub changed: Vec<Seen>,
    /// Where a change of it was taken back.
    pub reverted: Vec<Seen>,
    /// What it should hold: the hash and the length of what was written last. None where only
    /// parts of it were replaced since.
    pub content: Option<(u64, u64)>,
    /// Whether it should be gone.
    pub deleted: bool,
    recent: Vec<(u64, u64)>,
}

impl Touched {
    /// Whether the session changed it.
    pub fn is_changed(&self) -> bool {
        self.writes + self.edits + self.deletions > 0
    }

    fn change(&mut self, change: &Change, seen: &Seen) {
        self.deleted = false;
        match change {
            Change::Write { content, .. } => {
                self.writes += 1;
                let new = content.map_or(0, |(hash, _)| hash);
                if let Some((old, _)) = self.content {
                    self.compare((old, new), seen);
                }
                self.content = *content;
            }
            Change::Edit { parts, .. } => {
                self.edits += 1;
                self.content = None;
                for part in parts {
                    self.compare(*part, seen);
                }
            }
            Change::Delete { .. } => {
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

    /// What turns an earlier change round takes it back.
    fn compare(&mut self, (old, new): (u64, u64), seen: &Seen) {
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

    fn revert(&mut self, seen: &Seen) {
        if self.reverted.last() != Some(seen) && self.reverted.len() < NAMED_MAX {
            self.reverted.push(seen.clone());
        }
    }
}

/// Files by their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// Each with what was done to it.
    pub by_path: BTreeMap<String, Touched>,
    /// How often a file was touched that there was no room for.
    pub left_out: u64,
}

impl Files {
    fn at(&mut self, path: String, seen: &Seen) -> Option<&mut Touched> {
        if self.by_path.len() >= FILES_MAX && !self.by_path.contains_key(&path) {
            self.left_out += 1;
            return None;
        }
        let touched = self.by_path.entry(path).or_default();
        touched.first.get_or_insert_with(|| seen.clone());
        Some(touched)
    }

    /// When a file was changed last, as far as records say when.
    pub fn last_change(&self) -> Option<Timestamp> {
        let last = |touched: &Touched| touched.changed.last().and_then(|seen| seen.at);
        self.by_path.values().filter_map(last).max()
    }

    pub(super) fn read(&mut self, path: String, seen: &Seen) {
        if let Some(touched) = self.at(path, seen) {
            touched.reads += 1;
        }
    }

    pub(super) fn change(&mut self, change: &Change, seen: &Seen) {
        if let Some(touched) = self.at(change.path().to_owned(), seen) {
            touched.change(change, seen);
        }
    }

    /// A command of git put files back.
    pub(super) fn put_back(&mut self, command: &str, seen: &Seen) {
        let Some(named) = put_back(command) else { return };
        for (path, touched) in &mut self.by_path {
            let is_named = named.is_empty()
                || named.iter().any(|name| {
                    let name = name.trim_start_matches("./");
                    path == name || path.ends_with(&format!("/{name}"))
                });
            if touched.is_changed() && is_named {
                touched.revert(seen);
                touched.content = None;
                touched.deleted = false;
            }
        }
    }

    /// Files that were changed, with their paths.
    pub fn changed(&self) -> impl Iterator<Item = (&str, &Touched)> {
        let all = self.by_path.iter();
        all.filter(|(_, touched)| touched.is_changed()).map(|(path, touched)| (&**path, touched))
    }

    /// Files that were changed by records between two lines.
    pub(super) fn changed_between(&self, after: u64, before: u64) -> Vec<String> {
        const PATHS_MAX: usize = 20;
        let within = |seen: &Seen| seen.number > after && seen.number < before;
        let changed = self.changed().filter(|(_, touched)| touched.changed.iter().any(within));
        changed.map(|(path, _)| path.to_owned()).take(PATHS_MAX).collect()
    }

    pub(super) fn take_in(&mut self, other: &Self, relabel: &dyn Fn(&Seen) -> Seen) {
        self.left_out += other.left_out;
        for (path, theirs) in &other.by_path {
            let Some(first) = &theirs.first else { continue };
            let Some(ours) = self.at(path.clone(), &relabel(first)) else { continue };
            ours.reads += theirs.reads;
            ours.writes += theirs.writes;
            ours.edits += theirs.edits;
            ours.deletions += theirs.deletions;
            ours.changed.extend(theirs.changed.iter().map(relabel));
            ours.reverted.extend(theirs.reverted.iter().map(relabel));
            if theirs.is_changed() {
                // Nobody knows who was last.
                ours.content =
                    if ours.changed.len() == theirs.changed.len() { theirs.content } else { None };
                ours.deleted = theirs.deleted;
            }
        }
    }
}

/// The files that a command puts back as git has them: all of them where none is named.
fn put_back(command: &str) -> Option<Vec<&str>> {
    for (at, _) in command.match_indices("git ") {
        let one = command[at..].split([';', '|', '&', '\n']).next().unwrap_or_default();
        let words: Vec<&str> = one.split_whitespace().collect();
        let rest = || words.iter().skip(2).copied();
        let paths = || rest().filter(|word| !word.starts_with('-')).collect::<Vec<_>>();
        match words.get(1).copied() {
            Some("reset") if rest().any(|word| word == "--hard") => return Some(Vec::new()),
            Some("checkout") if rest().any(|word| word == ".") => return Some(Vec::new()),
            Some("restore") if rest().any(|word| word == ".") => return Some(Vec::new()),
            Some("restore") if !rest().any(|word| word == "--staged") && !paths().is_empty() => {
                return Some(paths());
            }
            Some("checkout") => {
                let behind: Vec<&str> = rest().skip_while(|word| *word != "--").skip(1).collect();
                if !behind.is_empty() {
                    return Some(behind);
                }
            }
            Some(_) | None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Source;

    fn seen(number: u64) -> Seen {
        let record = format!("r{number}");
        Seen { record, number, at: None, source: Source::Observed, agent: None }
    }

    fn edit(old: u64, new: u64) -> Change {
        Change::Edit { path: "src/a.rs".into(), parts: vec![(old, new)] }
    }

    #[test]
    fn a_change_that_is_turned_round_was_taken_back() {
        let mut files = Files::default();
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

    #[test]
    fn what_git_puts_back_was_taken_back() {
        assert_eq!(put_back("cd x && git checkout -- src/a.rs; ls"), Some(vec!["src/a.rs"]));
        assert_eq!(put_back("git reset --hard HEAD~1"), Some(vec![]));
        assert_eq!(put_back("git restore ./src/a.rs && make"), Some(vec!["./src/a.rs"]));
        for other in ["git checkout main", "git restore --staged a", "git commit -m 'git '", "ls"] {
            assert_eq!(put_back(other), None, "{other}");
        }
        let mut files = Files::default();
        files.change(&edit(1, 2), &seen(1));
        files.read("src/b.rs".into(), &seen(2));
        files.put_back("git restore a.rs", &seen(3));
        assert_eq!(files.by_path["src/a.rs"].reverted, [seen(3)]);
        assert!(files.by_path["src/b.rs"].reverted.is_empty());
    }
}
