//! Finds the new path of a file that was renamed.

use super::origin::ResolvedOrigin;
use crate::code::code_state::{CodeCache, CodeState, MissingFiles, PathContent};
use crate::sys::git::FileListing;
use midstride_core::handoff::code_text::CodeText;
use midstride_core::handoff::drift::{
    CitationDoubt, NameDistance, RenamePair, RenamePairs, SIMILARITY_MIN, choose_rename,
    is_handoff_of_note, is_same_family, similarity,
};
use midstride_core::text::id::{BlobHash, CommitId};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

/// How many files are compared to find one that was renamed and edited.
const CANDIDATES_MAX: usize = 1000;

/// The result of the search.
#[derive(Clone)]
pub(super) enum RenameOutcome {
    Found(String),
    NotFound,
    /// Not found, but it may exist.
    Inconclusive(CitationDoubt),
}

/// A file that is no longer at its path.
#[derive(Clone)]
struct MissingFile {
    path: String,
    blob: Option<BlobHash>,
    text: Option<Arc<CodeText>>,
}

impl CodeCache<'_> {
    /// The new path of a file: one with the same content, or the one with the most similar text
    /// among files that did not exist before. A file that another missing one matches better is not
    /// its new path.
    pub(super) fn find_renamed(
        &self,
        base: &ResolvedOrigin,
        blob: Option<&BlobHash>,
        text: Option<&Arc<CodeText>>,
        now: &CodeState,
    ) -> RenameOutcome {
        let was = MissingFile { path: base.path.clone(), blob: blob.cloned(), text: text.cloned() };
        let found = PossibleRenames::new(self, &was, base.state.as_ref(), now).choose();
        match (&found, &base.state) {
            // A file that existed next to the old one is not its new name. Git runs only here,
            // because it may have to search the whole history.
            (RenameOutcome::Found(_), None) => {
                let before = self.state_before_removal(&base.path, now);
                PossibleRenames::new(self, &was, before.as_ref(), now).choose()
            }
            _ => found,
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
        let has = |state: &CodeState| self.content_at(state, path).exists();
        let commit = self.newest_commit(now)?;
        let newest = CodeState::Commit(commit.clone());
        if has(&newest) {
            return Some(newest);
        }
        let before = self.workspace.repository()?.before_last_change(&commit, path);
        before.map(CodeState::Commit).filter(has)
    }

    /// The files of the commit that added a file, if the history has one.
    fn files_when_added(&self, path: &str, now: &CodeState) -> Option<Arc<FileListing>> {
        let commit = self.workspace.repository()?.added_by(&self.newest_commit(now)?, path)?;
        Some(self.list_files(&CodeState::Commit(commit)))
    }

    fn newest_commit(&self, now: &CodeState) -> Option<CommitId> {
        match now {
            CodeState::WorkTree => self.workspace.repository()?.head_commit(),
            CodeState::Commit(commit) => Some(commit.clone()),
        }
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

/// The new files that missing files can be, compared when they are asked for.
struct PossibleRenames<'c> {
    code: &'c CodeCache<'c>,
    now: &'c CodeState,
    was: &'c MissingFile,
    /// Files that exist now and did not exist before.
    new: Vec<String>,
    /// Their blobs.
    new_blobs: OnceCell<HashMap<String, BlobHash>>,
    before: Option<CodeState>,
    /// Files that existed before and do not exist now, with their blobs.
    missing: OnceCell<MissingFiles>,
    /// The files of the commits that added new files.
    when_added: RefCell<HashMap<String, Option<Arc<FileListing>>>>,
    from: RefCell<HashMap<String, Arc<Vec<RenamePair>>>>,
    to: RefCell<HashMap<String, Arc<Vec<RenamePair>>>>,
}

impl<'c> PossibleRenames<'c> {
    fn new(
        code: &'c CodeCache<'c>,
        was: &'c MissingFile,
        before: Option<&CodeState>,
        now: &'c CodeState,
    ) -> Self {
        Self {
            code,
            now,
            was,
            new: code.new_files(before, now),
            new_blobs: OnceCell::new(),
            before: before.cloned(),
            missing: OnceCell::new(),
            when_added: RefCell::default(),
            from: RefCell::default(),
            to: RefCell::default(),
        }
    }

    fn choose(&self) -> RenameOutcome {
        let (candidates, compared) = (self.new.len(), self.new.len().min(CANDIDATES_MAX));
        match choose_rename(self, &self.was.path) {
            Some(path) => RenameOutcome::Found(path),
            None if compared < candidates && self.was.text.is_some() => {
                RenameOutcome::Inconclusive(CitationDoubt::RenamesTruncated {
                    compared,
                    candidates,
                })
            }
            None => match self.pairs_from(&self.was.path).iter().min() {
                Some(pair) => {
                    RenameOutcome::Inconclusive(CitationDoubt::OtherRename(pair.to.clone()))
                }
                None => RenameOutcome::NotFound,
            },
        }
    }

    /// Whether a file was still there in the commit that added the other.
    fn coexisted(&self, pair: &RenamePair) -> bool {
        let mut known = self.when_added.borrow_mut();
        let listing = known
            .entry(pair.to.clone())
            .or_insert_with(|| self.code.files_when_added(&pair.to, self.now));
        listing.as_ref().is_some_and(|listing| listing.files.contains_key(&pair.from))
    }

    fn new_blobs(&self) -> &HashMap<String, BlobHash> {
        self.new_blobs.get_or_init(|| {
            let mut paths = self.new.clone();
            paths
                .sort_by_cached_key(|path| (NameDistance::new(&self.was.path, path), path.clone()));
            self.code.current_blob_ids(&paths, self.now)
        })
    }

    fn missing(&self) -> &MissingFiles {
        self.missing.get_or_init(|| {
            let mut missing = vec![(self.was.path.clone(), self.was.blob.clone())];
            if let Some(before) = &self.before {
                let listed = self.code.missing_files(before, self.now);
                let others = listed.iter().filter(|(path, _)| *path != self.was.path);
                missing.extend(others.cloned());
            }
            missing
        })
    }

    /// The new files with this content.
    fn new_with(&self, blob: &BlobHash) -> Vec<&String> {
        let blobs = self.new_blobs();
        let is_same = |path: &&String| {
            blobs.get(*path) == Some(blob) && self.code.content_at(self.now, path).exists()
        };
        self.new.iter().filter(is_same).collect()
    }

    /// The missing files with this content.
    fn missing_with(&self, blob: &BlobHash) -> Vec<&String> {
        let same = self.missing().iter().filter(|(_, other)| other.as_ref() == Some(blob));
        same.map(|(path, _)| path).collect()
    }

    fn missing_file(&self, path: &str) -> MissingFile {
        if path == self.was.path {
            return self.was.clone();
        }
        let known = self.missing().iter().find(|(other, _)| other == path);
        let blob = known.and_then(|(_, blob)| blob.clone());
        let text = blob.as_ref().and_then(|blob| self.code.blob(blob));
        MissingFile { path: path.to_owned(), blob, text }
    }

    /// Pairs two files if their texts are similar enough.
    fn similar_pair(&self, was: &MissingFile, to: &str) -> Option<RenamePair> {
        let text: &str = was.text.as_ref()?;
        let PathContent::File { text: Some(other) } = self.code.content_at(self.now, to) else {
            return None;
        };
        // A file with another kind of content only quotes the missing one.
        if **other != *text && !is_same_family(&was.path, to) {
            return None;
        }
        // A text twice as long cannot be similar enough.
        if text.len().min(other.len()) * 2 < text.len().max(other.len()) {
            return None;
        }
        let score = similarity(text, &other);
        let is_pair = score >= SIMILARITY_MIN && !is_handoff_of_note(text, &other);
        is_pair.then(|| RenamePair::new(&was.path, to, score))
    }

    fn compare_from(&self, missing: &str) -> Vec<RenamePair> {
        let was = self.missing_file(missing);
        let same = was.blob.as_ref().map(|blob| self.new_with(blob)).unwrap_or_default();
        let rivals = || was.blob.as_ref().map_or(0, |blob| self.missing_with(blob).len());
        let mut pairs: Vec<RenamePair> =
            same.iter().map(|to| RenamePair::new(missing, to, RenamePair::SAME_CONTENT)).collect();
        // There is one for each missing file with this content.
        if !pairs.is_empty() && rivals() <= pairs.len() {
            return pairs;
        }
        let others = nearest(missing, self.new.iter().filter(|path| !same.contains(path)));
        pairs.extend(others.into_iter().filter_map(|to| self.similar_pair(&was, to)));
        pairs
    }

    fn compare_to(&self, new: &str) -> Vec<RenamePair> {
        let blob = self.new_blobs().get(new);
        let same = blob.map(|blob| self.missing_with(blob)).unwrap_or_default();
        let copies = blob.map_or(0, |blob| self.new_with(blob).len());
        let mut pairs: Vec<RenamePair> =
            same.iter().map(|from| RenamePair::new(from, new, RenamePair::SAME_CONTENT)).collect();
        // There is a missing file for each new one with this content.
        if !pairs.is_empty() && copies <= pairs.len() {
            if !same.contains(&&self.was.path) {
                pairs.extend(self.similar_pair(self.was, new));
            }
            return pairs;
        }
        let is_other = |path: &&String| {
            !same.contains(path) && (is_same_family(path, new) || **path == self.was.path)
        };
        let others = nearest(new, self.missing().iter().map(|(path, _)| path).filter(is_other));
        let pair = |from: &String| self.similar_pair(&self.missing_file(from), new);
        pairs.extend(others.into_iter().filter_map(pair));
        pairs
    }
}

impl RenamePairs for PossibleRenames<'_> {
    fn pairs_from(&self, missing: &str) -> Arc<Vec<RenamePair>> {
        remembered(&self.from, missing, || self.compare_from(missing))
    }

    fn pairs_to(&self, new: &str) -> Arc<Vec<RenamePair>> {
        remembered(&self.to, new, || self.compare_to(new))
    }

    fn is_possible(&self, pair: &RenamePair) -> bool {
        let rivals = self.pairs_to(&pair.to);
        // Git runs only if there are several. A file that was copied first and deleted later is one
        // that moved, unless another moved there at once.
        rivals.len() < 2
            || !self.coexisted(pair)
            || rivals.iter().all(|rival| self.coexisted(rival))
    }
}

/// The pairs of a file, compared once.
fn remembered(
    known: &RefCell<HashMap<String, Arc<Vec<RenamePair>>>>,
    path: &str,
    compare: impl FnOnce() -> Vec<RenamePair>,
) -> Arc<Vec<RenamePair>> {
    if let Some(pairs) = known.borrow().get(path) {
        return Arc::clone(pairs);
    }
    let pairs = Arc::new(compare());
    known.borrow_mut().insert(path.to_owned(), Arc::clone(&pairs));
    pairs
}

/// The files to compare with one: those with the most similar names.
fn nearest<'p>(to: &str, paths: impl Iterator<Item = &'p String>) -> Vec<&'p String> {
    let mut paths: Vec<&String> = paths.collect();
    paths.sort_by_cached_key(|path| (NameDistance::new(to, path), (*path).clone()));
    paths.truncate(CANDIDATES_MAX);
    paths
}
