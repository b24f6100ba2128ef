//! Finds the new path of a file that was renamed.

use super::origin::ResolvedOrigin;
use crate::code::code_state::{CodeCache, CodeState, PathContent};
use midstride_core::handoff::drift::{
    CitationDoubt, SIMILARITY_MIN, is_handoff_of_note, is_same_family, similarity,
};
use midstride_core::text::id::BlobHash;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

/// How many files are compared to find one that was renamed and edited.
const CANDIDATES_MAX: usize = 1000;

/// The result of the search.
#[derive(Clone)]
pub(super) enum RenameOutcome {
    Found(String),
    NotFound,
    /// Not found, but not all files were compared.
    Inconclusive(CitationDoubt),
}

/// A file that is no longer at its path.
struct MissingFile<'b> {
    path: &'b str,
    blob: Option<&'b BlobHash>,
    text: Option<&'b str>,
}

impl CodeCache<'_> {
    /// The new path of a file: one with the same content, or the one with the most similar text
    /// among files that did not exist before.
    pub(super) fn find_renamed(
        &self,
        base: &ResolvedOrigin,
        blob: Option<&BlobHash>,
        text: Option<&str>,
        now: &CodeState,
    ) -> RenameOutcome {
        let was = MissingFile { path: &base.path, blob, text };
        let found = self.find_most_similar(&was, self.new_files(base.state.as_ref(), now), now);
        match (&found, &base.state) {
            // A file that existed next to the old one is not its new name. Git runs only here,
            // because it may have to search the whole history.
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
            // A file with another kind of content only quotes the missing one.
            if **other != *text && !is_same_family(was.path, path) {
                continue;
            }
            // A text twice as long cannot be similar enough.
            if text.len().min(other.len()) * 2 < text.len().max(other.len()) {
                continue;
            }
            let score = similarity(text, &other);
            let is_better = score >= SIMILARITY_MIN && best.is_none_or(|(most, _)| score > most);
            if is_better && !is_handoff_of_note(text, &other) {
                best = Some((score, path));
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

    /// Files that exist now and did not exist before; all files if that is unknown.
    fn new_files(&self, before: Option<&CodeState>, now: &CodeState) -> Vec<String> {
        let before = before.map(|state| self.list_files(state));
        let is_new =
            |path: &&String| before.as_ref().is_none_or(|before| !before.files.contains_key(*path));
        self.list_files(now).files.keys().filter(is_new).cloned().collect()
    }

    /// The last state that had a file, if the history has one.
    fn state_before_removal(&self, path: &str, now: &CodeState) -> Option<CodeState> {
        let repository = self.workspace.repository()?;
        let has = |state: &CodeState| self.content_at(state, path).exists();
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

    fn find_by_blob(
        &self,
        blob: &BlobHash,
        candidates: &[String],
        now: &CodeState,
    ) -> Option<String> {
        let ids = self.current_blob_ids(candidates, now);
        let is_same = |path: &&String| ids.get(*path).is_some_and(|id| id == blob);
        let mut same = candidates.iter().filter(is_same);
        same.find(|path| self.content_at(now, path).exists()).cloned()
    }

    /// The blob ids of files; those that git does not have yet are hashed.
    fn current_blob_ids(&self, paths: &[String], now: &CodeState) -> HashMap<String, BlobHash> {
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

/// Sorts likelier candidates first: the same path in other case, the same file name, the same
/// extension.
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
