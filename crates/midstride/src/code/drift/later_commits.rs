//! Finds commits that changed cited files after the document itself last changed.

use super::DriftChecker;
use crate::sys::git::LogEntry;
use crate::workspace::StoredHandoff;
use jiff::Timestamp;
use midstride_core::handoff::drift::{CitationCheck, LaterCommit};
use std::collections::BTreeSet;

/// A query for the later commits of one document.
#[derive(Clone, Debug)]
pub(crate) struct LaterCommitsQuery {
    /// When the document last changed.
    since: Timestamp,
    /// Its own path in the working tree.
    own_path: Option<String>,
    /// Cited files that changed.
    changed_paths: BTreeSet<String>,
}

impl DriftChecker<'_> {
    /// The query for a document that last changed at `since`; `None` if no file it cites has
    /// changed.
    pub(crate) fn later_commits_query(
        &self,
        stored: &StoredHandoff,
        since: Timestamp,
        checks: &[CitationCheck],
    ) -> Option<LaterCommitsQuery> {
        let workspace = self.code.workspace;
        let changed = checks.iter().filter(|one| one.file_changed);
        let paths: BTreeSet<String> =
            changed.filter_map(|one| Some(one.outcome.location()?.path.clone())).collect();
        let own = workspace.path_in_work_tree(stored);
        let own = own.and_then(|path| path.to_str().map(str::to_owned));
        (!paths.is_empty()).then_some(LaterCommitsQuery {
            since,
            own_path: own,
            changed_paths: paths,
        })
    }

    /// The later commits of each document, newest first. Runs git once for all.
    pub(crate) fn later_commits(&self, queries: &[LaterCommitsQuery]) -> Vec<Vec<LaterCommit>> {
        let nothing = || queries.iter().map(|_| Vec::new()).collect();
        let Some(repository) = self.code.workspace.repository() else { return nothing() };
        let Some(since) = queries.iter().map(|query| query.since).min() else { return nothing() };
        let all = |query: &LaterCommitsQuery| {
            query.changed_paths.iter().chain(&query.own_path).cloned().collect::<Vec<_>>()
        };
        let paths: BTreeSet<String> = queries.iter().flat_map(all).collect();
        let Ok(log) = repository.changes_since(since, &paths) else { return nothing() };
        queries.iter().map(|query| query.matching_commits(&log)).collect()
    }
}

impl LaterCommitsQuery {
    fn matching_commits(&self, log: &[LogEntry]) -> Vec<LaterCommit> {
        let is_own = |path: &String| self.own_path.as_ref() == Some(path);
        log.iter()
            .filter(|entry| entry.time > self.since)
            // The document already covers changes committed together with it.
            .filter(|entry| !entry.paths.iter().any(is_own))
            .filter(|entry| entry.paths.iter().any(|path| self.changed_paths.contains(path)))
            .map(|entry| LaterCommit { id: entry.commit.clone(), subject: entry.subject.clone() })
            .collect()
    }
}
