//! Where a file went that is not at its path any more.

use super::baseline::Base;
use super::ground::{Ground, Grounds, Look};
use midstride_core::handoff::drift::{CitationDoubt, SIMILARITY_MIN, similarity};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

/// So many files are compared in search of one that was renamed and changed.
const CANDIDATES_MAX: usize = 1000;

/// What became of the search.
pub(super) enum Renamed {
    To(String),
    No,
    /// Not found, and not everything was looked at.
    Unsure(CitationDoubt),
}

/// A file that is not at its path any more.
struct Lost<'b> {
    path: &'b str,
    blob: Option<&'b str>,
    text: Option<&'b str>,
}

impl Grounds<'_> {
    /// The path that a file has now: one with the same text, or the one with the most similar text
    /// among those that were not there before.
    pub(super) fn renamed(
        &self,
        base: &Base,
        blob: Option<&str>,
        text: Option<&str>,
        now: &Ground,
    ) -> Renamed {
        let was = Lost { path: &base.path, blob, text };
        let found = self.found_among(&was, self.new_files(base.ground.as_ref(), now), now);
        match (&found, &base.ground) {
            // What stood beside the file until it went is no new name of it. Git is asked only here:
            // it may have to look through the whole history.
            (Renamed::To(_), None) => {
                let before = self.before_it_went(&base.path, now);
                self.found_among(&was, self.new_files(before.as_ref(), now), now)
            }
            _ => found,
        }
    }

    fn found_among(&self, was: &Lost<'_>, mut candidates: Vec<String>, now: &Ground) -> Renamed {
        candidates.sort_by_cached_key(|path| likeness(was.path, path));
        if let Some(path) = was.blob.and_then(|blob| self.with_blob(blob, &candidates, now)) {
            return Renamed::To(path);
        }
        let Some(text) = was.text else { return Renamed::No };
        let compared = candidates.len().min(CANDIDATES_MAX);
        let mut best: Option<(usize, &String)> = None;
        for path in &candidates[..compared] {
            let Look::File { text: Some(other) } = self.look(now, path) else { continue };
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
            Some((_, path)) => Renamed::To(path.clone()),
            None if compared < candidates.len() => {
                let candidates = candidates.len();
                Renamed::Unsure(CitationDoubt::RenamesTruncated { compared, candidates })
            }
            None => Renamed::No,
        }
    }

    /// Files that are there now and were not before, as far as that is known.
    fn new_files(&self, before: Option<&Ground>, now: &Ground) -> Vec<String> {
        let before = before.map(|ground| self.listed(ground));
        let is_new =
            |path: &&String| before.as_ref().is_none_or(|before| !before.files.contains_key(*path));
        self.listed(now).files.keys().filter(is_new).cloned().collect()
    }

    /// The last state that had a file, if the history tells.
    fn before_it_went(&self, path: &str, now: &Ground) -> Option<Ground> {
        let repository = self.project.repository()?;
        let has = |ground: &Ground| self.look(ground, path).is_there();
        let newest = match now {
            Ground::WorkTree => Ground::Commit(repository.head_commit()?),
            Ground::Commit(commit) => Ground::Commit(commit.clone()),
        };
        let Ground::Commit(commit) = &newest else { return None };
        if has(&newest) {
            return Some(newest);
        }
        repository.before_last_change(commit, path).map(Ground::Commit).filter(has)
    }

    fn with_blob(&self, blob: &str, candidates: &[String], now: &Ground) -> Option<String> {
        let ids = self.ids(candidates, now);
        let is_same = |path: &&String| ids.get(*path).is_some_and(|id| id == blob);
        let mut same = candidates.iter().filter(is_same);
        same.find(|path| self.look(now, path).is_there()).cloned()
    }

    /// The ids of the texts of files; those that git does not keep yet are hashed.
    fn ids(&self, paths: &[String], now: &Ground) -> HashMap<String, String> {
        let listed = self.listed(now);
        let (known, unknown): (Vec<&String>, Vec<&String>) =
            paths.iter().partition(|path| listed.files.get(*path).is_some_and(Option::is_some));
        let known = known
            .into_iter()
            .filter_map(|path| Some((path.clone(), listed.files.get(path)?.clone()?)));
        let unknown: Vec<String> = unknown
            .into_iter()
            .filter(|path| matches!(self.look(now, path), Look::File { .. }))
            .take(CANDIDATES_MAX)
            .cloned()
            .collect();
        known.chain(self.ids_of(&unknown)).collect()
    }
}

/// The likelier ones come first: the same name, the same name in other letters, the same ending.
fn likeness(from: &str, to: &str) -> (bool, bool, bool, String) {
    let name = |path: &str| Path::new(path).file_name().map(OsStr::to_ascii_lowercase);
    let ending = |path: &str| Path::new(path).extension().map(OsStr::to_owned);
    (
        !from.eq_ignore_ascii_case(to),
        name(from) != name(to),
        ending(from) != ending(to),
        to.to_owned(),
    )
}
