//! Commits that changed what documents cite since they were last changed themselves.

use super::DriftChecker;
use crate::sys::git::LogEntry;
use crate::workspace::project::StoredHandoff;
use jiff::Timestamp;
use midstride_core::handoff::drift::{CitationCheck, LaterCommit};
use std::collections::BTreeSet;

/// What is asked about one document.
#[derive(Clone, Debug)]
pub struct LaterCommitsQuery {
    /// When the document was last changed.
    since: Timestamp,
    /// Its own path below the working tree.
    own_path: Option<String>,
    /// Files it cites that were changed.
    changed_paths: BTreeSet<String>,
}

impl DriftChecker<'_> {
    /// What to ask about a document that was last changed at a moment; `None` where nothing it cites was changed.
    pub fn later_commits_query(
        &self,
        shelved: &StoredHandoff,
        since: Timestamp,
        judged: &[CitationCheck],
    ) -> Option<LaterCommitsQuery> {
        let project = self.code.project;
        let changed = judged.iter().filter(|one| one.file_changed);
        let paths: BTreeSet<String> =
            changed.filter_map(|one| Some(one.location.as_ref()?.path.clone())).collect();
        let own = project.path_in_work_tree(shelved);
        let own = own.and_then(|path| path.to_str().map(str::to_owned));
        (!paths.is_empty()).then_some(LaterCommitsQuery {
            since,
            own_path: own,
            changed_paths: paths,
        })
    }

    /// The later commits for each of some documents, newest first; git is asked once for all.
    pub fn later_commits(&self, asked: &[LaterCommitsQuery]) -> Vec<Vec<LaterCommit>> {
        let nothing = || asked.iter().map(|_| Vec::new()).collect();
        let Some(repository) = self.code.project.repository() else { return nothing() };
        let Some(since) = asked.iter().map(|cited| cited.since).min() else { return nothing() };
        let all = |cited: &LaterCommitsQuery| {
            cited.changed_paths.iter().chain(&cited.own_path).cloned().collect::<Vec<_>>()
        };
        let paths: BTreeSet<String> = asked.iter().flat_map(all).collect();
        let Ok(log) = repository.changes_since(since, &paths) else { return nothing() };
        asked.iter().map(|cited| cited.matching_commits(&log)).collect()
    }
}

impl LaterCommitsQuery {
    fn matching_commits(&self, log: &[LogEntry]) -> Vec<LaterCommit> {
        let is_own = |path: &String| self.own_path.as_ref() == Some(path);
        log.iter()
            .filter(|entry| entry.time > self.since)
            // What came together with the document, it knew.
            .filter(|entry| !entry.paths.iter().any(is_own))
            .filter(|entry| entry.paths.iter().any(|path| self.changed_paths.contains(path)))
            .map(|entry| LaterCommit { id: entry.commit.clone(), subject: entry.subject.clone() })
            .collect()
    }
}
