//! Where a file went that is not at its path any more.

use super::code_state::{CodeCache, CodeState, PathContent};
use super::origin::ResolvedOrigin;
use midstride_core::handoff::drift::{CitationDoubt, SIMILARITY_MIN, similarity};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

/// So many files are compared in search of one that was renamed and changed.
const CANDIDATES_MAX: usize = 1000;

/// What became of the search.
pub(super) enum RenameOutcome {
    Found(String),
    NotFound,
    /// Not found, and not everything was looked at.
    Inconclusive(CitationDoubt),
}

/// A file that is not at its path any more.
struct MissingFile<'b> {
    path: &'b str,
    blob: Option<&'b str>,
    text: Option<&'b str>,
}

impl CodeCache<'_> {
    /// The path that a file has now: one with the same text, or the one with the most similar text
    /// among those that were not there before.
    pub(super) fn find_renamed(
        &self,
        base: &ResolvedOrigin,
        blob: Option<&str>,
        text: Option<&str>,
        now: &CodeState,
    ) -> RenameOutcome {
        let was = MissingFile { path: &base.path, blob, text };
        let found = self.find_most_similar(&was, self.new_files(base.state.as_ref(), now), now);
        match (&found, &base.state) {
            // What stood beside the file until it went is no new name of it. Git is asked only here:
            // it may have to look through the whole history.
            (RenameOutcome::Found(_), None) => {
                let before = self.state_before_removal(&base.path, now);
                self.find_most_similar(&was, self.new_files(before.as_ref(), now), now)
            }
            _ => found,
        }
    }

    fn find_most_similar(
        &self,
        was: &MissingFile<'_>,
        mut candidates: Vec<String>,
        now: &CodeState,
    ) -> RenameOutcome {
        candidates.sort_by_cached_key(|path| similarity_key(was.path, path));
        if let Some(path) = was.blob.and_then(|blob| self.find_by_blob(blob, &candidates, now)) {
            return RenameOutcome::Found(path);
        }
        let Some(text) = was.text else { return RenameOutcome::NotFound };
        let compared = candidates.len().min(CANDIDATES_MAX);
        let mut best: Option<(usize, &String)> = None;
        for path in &candidates[..compared] {
            let PathContent::File { text: Some(other) } = self.content_at(now, path) else {
                continue;
            };
            // The rest of a text that is twice as long cannot make up for it.
            if text.len().min(other.len()) * 2 < text.len().max(other.len()) {
                continue;
            }
            let alike = similarity(text, &other);
            if alike >= SIMILARITY_MIN && best.is_none_or(|(most, _)| alike > most) {
                best = Some((alike, path));
            }
        }
        match best {
            Some((_, path)) => RenameOutcome::Found(path.clone()),
            None if compared < candidates.len() => {
                let candidates = candidates.len();
                RenameOutcome::Inconclusive(CitationDoubt::RenamesTruncated {
                    compared,
                    candidates,
                })
            }
            None => RenameOutcome::NotFound,
        }
    }

    /// Files that are there now and were not before, as far as that is known.
    fn new_files(&self, before: Option<&CodeState>, now: &CodeState) -> Vec<String> {
        let before = before.map(|ground| self.list_files(ground));
        let is_new =
            |path: &&String| before.as_ref().is_none_or(|before| !before.files.contains_key(*path));
        self.list_files(now).files.keys().filter(is_new).cloned().collect()
    }

    /// The last state that had a file, if the history tells.
    fn state_before_removal(&self, path: &str, now: &CodeState) -> Option<CodeState> {
        let repository = self.project.repository()?;
        let has = |ground: &CodeState| self.content_at(ground, path).exists();
        let newest = match now {
            CodeState::WorkTree => CodeState::Commit(repository.head_commit()?),
            CodeState::Commit(commit) => CodeState::Commit(commit.clone()),
        };
        let CodeState::Commit(commit) = &newest else { return None };
        if has(&newest) {
            return Some(newest);
        }
        repository.before_last_change(commit, path).map(CodeState::Commit).filter(has)
    }

    fn find_by_blob(&self, blob: &str, candidates: &[String], now: &CodeState) -> Option<String> {
        let ids = self.current_blob_ids(candidates, now);
        let is_same = |path: &&String| ids.get(*path).is_some_and(|id| id == blob);
        let mut same = candidates.iter().filter(is_same);
        same.find(|path| self.content_at(now, path).exists()).cloned()
    }

    /// The ids of the texts of files; those that git does not keep yet are hashed.
    fn current_blob_ids(&self, paths: &[String], now: &CodeState) -> HashMap<String, String> {
        let listed = self.list_files(now);
        let (known, unknown): (Vec<&String>, Vec<&String>) =
            paths.iter().partition(|path| listed.files.get(*path).is_some_and(Option::is_some));
        let known = known
            .into_iter()
            .filter_map(|path| Some((path.clone(), listed.files.get(path)?.clone()?)));
        let unknown: Vec<String> = unknown
            .into_iter()
            .filter(|path| matches!(self.content_at(now, path), PathContent::File { .. }))
            .take(CANDIDATES_MAX)
            .cloned()
            .collect();
        known.chain(self.blob_ids(&unknown)).collect()
    }
}

/// The likelier ones come first: the same name, the same name in other letters, the same ending.
fn similarity_key(from: &str, to: &str) -> (bool, bool, bool, String) {
    let name = |path: &str| Path::new(path).file_name().map(OsStr::to_ascii_lowercase);
    let ending = |path: &str| Path::new(path).extension().map(OsStr::to_owned);
    (
        !from.eq_ignore_ascii_case(to),
        name(from) != name(to),
        ending(from) != ending(to),
        to.to_owned(),
    )
}
