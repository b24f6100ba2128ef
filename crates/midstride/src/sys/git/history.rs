//! File listings, blame and commit history.

use super::run::GitReach;
use super::{GitError, Repository};
use crate::sys::files;
use jiff::Timestamp;
use midstride_core::text::id::{BlobHash, CommitId};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The files of a commit or of the working tree, by path from its root.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileListing {
    /// The files, with their blob ids if git has them.
    pub files: BTreeMap<String, Option<BlobHash>>,
    /// The paths of submodules.
    pub submodules: BTreeSet<String>,
}

/// A commit and which of the requested paths it changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The commit id.
    pub commit: CommitId,
    /// When it was committed.
    pub time: Timestamp,
    /// The first line of its message.
    pub subject: String,
    /// The changed paths.
    pub paths: Vec<String>,
}

impl Repository {
    /// The files of a commit.
    pub(crate) fn files_at(&self, commit: &CommitId) -> Result<FileListing, GitError> {
        let listed = self.run(&["ls-tree", "-r", "-z", "--full-tree", commit.as_str()], b"")?;
        let mut out = FileListing::default();
        for entry in split_nul(&listed) {
            // `<mode> <type> <id>\t<path>`
            out.add(&entry, 2);
        }
        Ok(out)
    }

    /// The files of the working tree: tracked files with their staged blobs, and untracked files.
    pub(crate) fn files_in_work_tree(&self) -> Result<FileListing, GitError> {
        let mut out = FileListing::default();
        for entry in
            split_nul(&self.run_within(GitReach::Index, &["ls-files", "-z", "--stage"], b"")?)
        {
            // `<mode> <id> <stage>\t<path>`
            out.add(&entry, 1);
        }
        let new = ["ls-files", "-z", "--others", "--exclude-standard"];
        for path in split_nul(&self.run_within(GitReach::Index, &new, b"")?) {
            out.files.entry(path).or_insert(None);
        }
        Ok(out)
    }

    /// The blob ids of files below the working tree, without filters.
    pub(crate) fn hash_files(&self, paths: &[String]) -> Result<Vec<BlobHash>, GitError> {
        let read = |path: &String| files::read_named(&self.work_tree.join(path));
        if let Ok(read) = paths.iter().map(read).collect::<Result<Vec<_>, _>>() {
            return Ok(read.iter().map(|bytes| self.hash_blob(bytes)).collect());
        }
        // Git reads files of any size, and says what is wrong with the others.
        let asked: String = paths.iter().map(|path| format!("{path}\n")).collect();
        let ids = self.run(&["hash-object", "--no-filters", "--stdin-paths"], asked.as_bytes())?;
        Ok(String::from_utf8_lossy(&ids).lines().map(BlobHash::new).collect())
    }

    /// For each line of a text at a path, the commit that wrote it, or `None` if it is not
    /// committed yet. Empty if no commit has the file.
    pub(crate) fn blame_lines(
        &self,
        path: &Path,
        text: &[u8],
    ) -> Result<Vec<Option<CommitId>>, GitError> {
        let asked = ["blame", "--porcelain", "-w", "--contents", "-", "--"].map(OsStr::new);
        let blamed = match self.run(&[&asked[..], &[path.as_os_str()]].concat(), text) {
            Ok(blamed) => blamed,
            Err(GitError::Refused { message, .. })
                if ["no such path", "no such ref"].iter().any(|why| message.contains(why)) =>
            {
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        };
        let mut writers = Vec::new();
        for line in String::from_utf8_lossy(&blamed).lines() {
            // `<commit> <old line> <new line>[ <count>]` precedes every line.
            let mut words = line.split(' ');
            let id = words.next().filter(|id| matches!(id.len(), 40 | 64));
            let id = id.filter(|id| id.bytes().all(|byte| byte.is_ascii_hexdigit()));
            let (Some(id), Some(_), Some(now)) = (id, words.next(), words.next()) else { continue };
            let Ok(now) = now.parse::<usize>() else { continue };
            writers.resize(now.max(writers.len()), None);
            writers[now - 1] = (!id.bytes().all(|byte| byte == b'0')).then(|| CommitId::new(id));
        }
        Ok(writers)
    }

    /// The last commit up to `tip` that was made before a time.
    pub(crate) fn commit_before(&self, time: Timestamp, tip: &str) -> Option<CommitId> {
        let before = format!("--before={}", time.as_second());
        let id = self.run(&["rev-list", "-1", &before, tip, "--"], b"").ok()?;
        let id = String::from_utf8_lossy(&id).trim().to_owned();
        (!id.is_empty()).then(|| CommitId::new(id))
    }

    /// The commits since a time that changed some paths, newest first.
    pub(crate) fn changes_since(
        &self,
        since: Timestamp,
        paths: &BTreeSet<String>,
    ) -> Result<Vec<LogEntry>, GitError> {
        let since = format!("--since={}", since.as_second());
        let asked = ["log", "--no-merges", "-z", "--name-only", "--no-renames", &since];
        let asked = asked.into_iter().chain([LOG_FORMAT, "--"]).map(OsString::from);
        // `literal` keeps git from treating a path as a pattern.
        let asked_for = paths.iter().filter(|_| paths.len() <= ASKED_PATHS_MAX);
        let asked_for = asked_for.map(|path| OsString::from(format!(":(top,literal){path}")));
        let log = self.run(&asked.chain(asked_for).collect::<Vec<_>>(), b"")?;
        Ok(log_entries(&log, &|path| paths.contains(path)))
    }

    /// The last commits up to one, newest first, with the paths they changed.
    pub(crate) fn changes_up_to(
        &self,
        commit: &CommitId,
        at_most: usize,
    ) -> Result<Vec<LogEntry>, GitError> {
        let most = format!("-{at_most}");
        let asked = ["log", "--no-merges", "-z", "--name-only", "--no-renames", LOG_FORMAT];
        let log = self.run(&[&asked[..], &[&most, commit.as_str(), "--"]].concat(), b"")?;
        Ok(log_entries(&log, &|_| true))
    }

    /// A commit with the paths it changed; a merge has none.
    pub(crate) fn log_entry(&self, commit: &CommitId) -> Result<Option<LogEntry>, GitError> {
        let asked = ["log", "-1", "-z", "--name-only", "--no-renames", LOG_FORMAT];
        let log = self.run(&[&asked[..], &[commit.as_str(), "--"]].concat(), b"")?;
        Ok(all_log_entries(&log, &|_| true).into_iter().next())
    }

    /// When a commit was first made. A rebase keeps this time.
    pub(crate) fn author_time(&self, commit: &CommitId) -> Option<Timestamp> {
        let asked = ["log", "-1", "--format=%at", commit.as_str(), "--"];
        let time = self.run(&asked, b"").ok()?;
        Timestamp::from_second(String::from_utf8_lossy(&time).trim().parse().ok()?).ok()
    }

    /// The latest commits that added or removed a blob, newest first, with the affected paths.
    pub(crate) fn commits_with(
        &self,
        blob: &BlobHash,
        at_most: usize,
    ) -> Result<Vec<LogEntry>, GitError> {
        let (object, most) = (format!("--find-object={blob}"), format!("-{at_most}"));
        let asked = ["log", "--all", "--reflog", "-m", "-z", "--name-only", "--no-renames"];
        let rest = [LOG_FORMAT, &object, &most];
        let log = self.run(&[&asked[..], &rest].concat(), b"")?;
        Ok(log_entries(&log, &|_| true))
    }

    /// The paths at which a blob is staged.
    pub(crate) fn staged_at(&self, blob: &BlobHash) -> Result<Vec<String>, GitError> {
        let here = self.files_in_work_tree()?.files.into_iter();
        Ok(here.filter(|(_, id)| id.as_ref() == Some(blob)).map(|(path, _)| path).collect())
    }

    /// Whether this is a shallow clone.
    pub(crate) fn is_shallow(&self) -> bool {
        files::is_file(&self.shallow_file())
    }

    /// The commits whose parents are missing in a shallow clone.
    pub(crate) fn shallow_commits(&self) -> BTreeSet<CommitId> {
        let listed = files::read_small(&self.shallow_file()).ok().flatten().unwrap_or_default();
        listed.lines().map(|id| CommitId::new(id.trim())).collect()
    }

    fn shallow_file(&self) -> PathBuf {
        self.common_dir.join("shallow")
    }

    /// The parent of the last commit at or before `up_to` that changed a path.
    pub(crate) fn before_last_change(&self, up_to: &CommitId, path: &str) -> Option<CommitId> {
        let path = format!(":(top,literal){path}");
        let log = self.run(&["log", "-1", "--format=%P", up_to.as_str(), "--", &path], b"").ok()?;
        String::from_utf8_lossy(&log).split_whitespace().next().map(CommitId::new)
    }

    /// The last commit that added a file.
    pub(crate) fn added_by(&self, up_to: &CommitId, path: &str) -> Option<CommitId> {
        let path = format!(":(top,literal){path}");
        let words = ["log", "-1", "--diff-filter=A", "--format=%H", up_to.as_str(), "--", &path];
        let log = self.run(&words, b"").ok()?;
        String::from_utf8_lossy(&log).split_whitespace().next().map(CommitId::new)
    }
}

impl Repository {
    /// The time of the last commit that changed a file, in seconds. `None` if the file is not
    /// tracked or differs from the committed version.
    pub(crate) fn changed_at(&self, path: &str) -> Option<i64> {
        let path = format!(":(top,literal){path}");
        let text = |arguments: &[&str]| self.run(arguments, b"").ok();
        // Without this check, git would search the entire history for an untracked file.
        let tracked = text(&["ls-files", "-z", "--", &path])?;
        let changed = text(&["diff", "--name-only", "-z", "HEAD", "--", &path])?;
        if tracked.is_empty() || !changed.is_empty() {
            return None;
        }
        let log = text(&["log", "-1", "--format=%ct", "--", &path])?;
        String::from_utf8_lossy(&log).trim().parse().ok()
    }
}

impl FileListing {
    /// Adds an entry `<words>\t<path>`. The first word is the mode; `id_at` is the index of the id.
    fn add(&mut self, entry: &str, id_at: usize) {
        let Some((words, path)) = entry.split_once('\t') else { return };
        let words: Vec<&str> = words.split(' ').collect();
        if words.first() == Some(&SUBMODULE) {
            self.submodules.insert(path.to_owned());
        } else {
            let id = words.get(id_at).map(|id| BlobHash::new(*id));
            self.files.insert(path.to_owned(), id);
        }
    }

    /// Whether a file, a folder or a submodule can be at a path. A link may lead there.
    pub(crate) fn may_have(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        let is_folder = || {
            let next = self.files.range(folder.clone()..).next();
            next.is_some_and(|(file, _)| file.starts_with(&folder))
        };
        let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
        let above = |end: usize| &path[..end];
        let is_listed = |end: usize| {
            self.files.contains_key(above(end)) || self.submodules.contains(above(end))
        };
        ends.into_iter().any(is_listed) || is_folder()
    }

    /// Whether git tracks a file.
    pub(crate) fn is_tracked(&self, path: &str) -> bool {
        self.files.get(path).is_some_and(Option::is_some)
    }

    /// The submodule that contains a path.
    pub(crate) fn submodule_of(&self, path: &str) -> Option<&str> {
        let inside = |module: &&String| {
            path.strip_prefix(module.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        self.submodules.iter().find(inside).map(String::as_str)
    }
}

/// The log format. The leading byte 1 distinguishes commits from paths.
const LOG_FORMAT: &str = "--format=%x01%H %ct %s";

/// Maximum number of paths passed to git, which compares every path with every pattern. With more,
/// it is faster to list all changes and filter them here.
const ASKED_PATHS_MAX: usize = 16;

/// The file mode of a submodule.
const SUBMODULE: &str = "160000";

/// Splits bytes at null bytes and skips empty parts.
fn split_nul(bytes: &[u8]) -> Vec<String> {
    let parts = bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

/// Parses commits with those of their paths that are wanted. Skips commits without any.
fn log_entries(log: &[u8], wanted: &dyn Fn(&str) -> bool) -> Vec<LogEntry> {
    let mut entries = all_log_entries(log, wanted);
    entries.retain(|entry| !entry.paths.is_empty());
    entries
}

/// Also the commits without such a path: merges and empty commits.
fn all_log_entries(log: &[u8], wanted: &dyn Fn(&str) -> bool) -> Vec<LogEntry> {
    let mut entries: Vec<LogEntry> = Vec::new();
    for part in split_nul(log) {
        match part.split_once('\u{1}') {
            Some((_, head)) => entries.extend(log_entry(head)),
            None => {
                let path = part.trim_start_matches('\n').to_owned();
                if let Some(entry) = entries.last_mut().filter(|_| wanted(&path)) {
                    entry.paths.push(path);
                }
            }
        }
    }
    entries
}

fn log_entry(head: &str) -> Option<LogEntry> {
    let mut words = head.splitn(3, ' ');
    let (commit, time) = (CommitId::new(words.next()?), words.next()?.parse().ok()?);
    let time = Timestamp::from_second(time).ok()?;
    let subject = words.next().unwrap_or_default().trim_end().to_owned();
    Some(LogEntry { commit, time, subject, paths: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::FileListing;

    #[test]
    fn a_listing_shows_what_cannot_exist() {
        let mut listed = FileListing::default();
        for path in ["link", "src-old/a.rs", "src/a.rs"] {
            listed.files.insert(path.to_owned(), None);
        }
        listed.submodules.insert("vendor/lib".to_owned());
        for path in ["src", "src/a.rs", "src/a.rs/b", "link/b.rs", "vendor", "vendor/lib/c.rs"] {
            assert_eq!(listed.may_have(path), path != "vendor", "{path}");
        }
        for path in ["src/b.rs", "sr", "a.rs", "lin", "vendor/libs"] {
            assert!(!listed.may_have(path), "{path}");
        }
    }
}
