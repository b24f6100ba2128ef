//! Commits that changed what documents cite since they were last changed themselves.

use super::Drift;
use crate::sys::git::LogEntry;
use crate::workspace::project::Shelved;
use jiff::Timestamp;
use midstride_core::handoff::drift::{CitationCheck, LaterCommit};
use std::collections::BTreeSet;

/// What is asked about one document.
#[derive(Clone, Debug)]
pub struct Cited {
    /// When the document was last changed.
    since: Timestamp,
    /// Its own path below the working tree.
    own: Option<String>,
    /// Files it cites that were changed.
    paths: BTreeSet<String>,
}

impl Drift<'_> {
    /// What to ask about a document that was last changed at a moment; `None` where nothing it cites was changed.
    pub fn cited(
        &self,
        shelved: &Shelved,
        since: Timestamp,
        judged: &[CitationCheck],
    ) -> Option<Cited> {
        let project = self.grounds.project;
        let changed = judged.iter().filter(|one| one.file_changed);
        let paths: BTreeSet<String> =
            changed.filter_map(|one| Some(one.location.as_ref()?.path.clone())).collect();
        let own = project.path_in_work_tree(shelved);
        let own = own.and_then(|path| path.to_str().map(str::to_owned));
        (!paths.is_empty()).then_some(Cited { since, own, paths })
    }

    /// The later commits for each of some documents, newest first; git is asked once for all.
    pub fn later_commits(&self, asked: &[Cited]) -> Vec<Vec<LaterCommit>> {
        let nothing = || asked.iter().map(|_| Vec::new()).collect();
        let Some(repository) = self.grounds.project.repository() else { return nothing() };
        let Some(since) = asked.iter().map(|cited| cited.since).min() else { return nothing() };
        let all = |cited: &Cited| cited.paths.iter().chain(&cited.own).cloned().collect::<Vec<_>>();
        let paths: BTreeSet<String> = asked.iter().flat_map(all).collect();
        let Ok(log) = repository.changes_since(since, &paths) else { return nothing() };
        asked.iter().map(|cited| cited.later(&log)).collect()
    }
}

impl Cited {
    fn later(&self, log: &[LogEntry]) -> Vec<LaterCommit> {
        let is_own = |path: &String| self.own.as_ref() == Some(path);
        log.iter()
            .filter(|entry| entry.time > self.since)
            // What came together with the document, it knew.
            .filter(|entry| !entry.paths.iter().any(is_own))
            .filter(|entry| entry.paths.iter().any(|path| self.paths.contains(path)))
            .map(|entry| LaterCommit { id: entry.commit.clone(), subject: entry.subject.clone() })
            .collect()
    }
}
