//! Drift: checks what documents say about the code against the current code.
//!
//! Citations whose lines have not moved are checked without git. One git process reads the old
//! texts, and the file listing is only read when a cited file is missing.

mod cache;
mod later_commits;
mod literals;
mod origin;
mod rename;

pub(crate) use later_commits::LaterCommitsQuery;

use super::code_state::{CodeCache, CodeState, PathContent, is_inside, lock};
use crate::store::Store;
use crate::sys::files::FileError;
use crate::workspace::StoredHandoff;
use cache::CheckCache;
pub(crate) use cache::cached_results;
use midstride_core::handoff::anchor::{AnchorKey, CitedLines, keyed_citations};
use midstride_core::handoff::citation::{Citation, LineRange, renumberable};
use midstride_core::handoff::code_text::CodeText;
use midstride_core::handoff::drift::{
    CitationCheck, CitationDoubt, CitationOrigin, CitationOutcome, CitedLineMatch, CodeLocation,
    LineChange, LineTracker, match_by_hash,
};
use midstride_core::text::id::BlobHash;
use midstride_core::text::span::{Span, Spanned};
use origin::{OriginContent, OriginResolver, ResolvedOrigin};
use rename::RenameOutcome;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

/// Checks documents against one state of the repository.
pub(crate) struct DriftChecker<'p> {
    code: CodeCache<'p>,
    now: CodeState,
    /// Set for the working tree only: it is checked repeatedly, a commit rarely.
    cache: Option<CheckCache<'p>>,
    /// What was compared once, by the addresses of the texts.
    trackers: Mutex<HashMap<(usize, usize), Arc<LineTracker>>>,
    same: Mutex<HashMap<(usize, usize), bool>>,
    renames: Mutex<HashMap<RenameKey, RenameOutcome>>,
}

/// A missing file: its path, the state it comes from, its blob and the address of its text.
type RenameKey = (String, Option<CodeState>, Option<BlobHash>, Option<usize>);

impl<'p> DriftChecker<'p> {
    /// Creates a checker for the documents of a project.
    pub(crate) fn new(store: &'p Store, now: CodeState) -> Result<Self, FileError> {
        let cache = (now == CodeState::WorkTree).then(|| CheckCache::new(store));
        let code = CodeCache::open(store.workspace())?;
        Ok(Self {
            code,
            now,
            cache,
            trackers: Mutex::default(),
            same: Mutex::default(),
            renames: Mutex::default(),
        })
    }

    /// Checks every citation of a document.
    pub(crate) fn check(&self, stored: &StoredHandoff) -> Vec<CitationCheck> {
        let cached = self.cache.as_ref().and_then(|m| m.lookup(&self.code, stored));
        if let Some(checks) = cached {
            return checks;
        }
        let checks = self.check_uncached(stored);
        if let Some(cache) = self.cache.as_ref().filter(|_| !checks.is_empty()) {
            cache.remember(&self.code, stored, &checks);
        }
        checks
    }

    fn check_uncached(&self, stored: &StoredHandoff) -> Vec<CitationCheck> {
        let citations = keyed_citations(&stored.document);
        if citations.is_empty() {
            return Vec::new();
        }
        let baselines = OriginResolver::new(&self.code, stored, &self.now);
        let bases: Vec<ResolvedOrigin> =
            citations.iter().map(|(key, citation)| baselines.resolve(key, citation)).collect();
        let check_one = |((_, citation), base): (&(AnchorKey, Citation<'_>), &ResolvedOrigin)| {
            let CitationResult { outcome, doubt } = self.check_citation(citation, base);
            let file_changed =
                outcome.location().is_some_and(|now| self.is_file_changed(base, &now.path));
            CitationCheck {
                place: Spanned::new(citation.written.value.to_string(), citation.written.at),
                statement: citation.statement,
                outcome,
                origin: base.origin.clone(),
                file_changed,
                doubt,
                is_fixable: false,
                literals: Vec::new(),
            }
        };
        let mut checks: Vec<CitationCheck> = citations.iter().zip(&bases).map(check_one).collect();
        let citations: Vec<Citation<'_>> = citations.into_iter().map(|(_, one)| one).collect();
        self.add_literals(stored.document.text(), &citations, &bases, &mut checks);
        let located: HashSet<Span> = checks
            .iter()
            .filter(|check| check.current_lines().is_some())
            .map(|check| check.place.at)
            .collect();
        let fixable = renumberable(&citations, |one| located.contains(&one.written.at));
        for (check, is_fixable) in checks.iter_mut().zip(fixable) {
            check.is_fixable = is_fixable;
        }
        checks
    }

    /// Whether the content of a file is known to differ from its content at the origin.
    fn is_file_changed(&self, base: &ResolvedOrigin, path: &str) -> bool {
        match &base.content {
            OriginContent::File { blob: Some(blob), .. } => {
                let listed = self.code.list_files(&self.now);
                listed.files.get(path).and_then(Option::as_ref).is_some_and(|id| id != blob)
            }
            OriginContent::File { blob: None, text: Some(was), .. } => {
                let look = self.code.content_at(&self.now, path);
                matches!(look, PathContent::File { text: Some(now) } if !self.is_same(was, &now))
            }
            OriginContent::File { .. }
            | OriginContent::Missing
            | OriginContent::Folder
            | OriginContent::Unknown(_) => false,
        }
    }

    fn check_citation(&self, citation: &Citation<'_>, base: &ResolvedOrigin) -> CitationResult {
        let look = self.code.content_at(&self.now, &base.path);
        match (&base.content, &look) {
            (OriginContent::Unknown(doubt), _) => {
                check_without_origin(citation, base, &look, doubt)
            }
            (OriginContent::Missing, look) => CitationResult {
                outcome: CitationOutcome::NeverExisted,
                doubt: still_missing(citation, look).filter(|_| is_inside(&base.path)),
            },
            (_, PathContent::Unreadable(doubt)) => {
                CitationResult::new(CitationOutcome::Unchecked, doubt.clone())
            }
            (OriginContent::Folder, look) if look.exists() => {
                CitationOutcome::Intact(location(&base.path, None)).into()
            }
            (OriginContent::Folder, _) => CitationOutcome::Deleted.into(),
            (OriginContent::File { .. }, PathContent::File { text }) => {
                let file = CurrentFile { path: &base.path, is_renamed: false };
                self.check_in_file(citation, base, file, text.as_ref())
            }
            (OriginContent::File { .. }, PathContent::Folder | PathContent::Missing) => {
                self.check_missing_file(citation, base)
            }
        }
    }

    fn check_missing_file(&self, citation: &Citation<'_>, base: &ResolvedOrigin) -> CitationResult {
        let OriginContent::File { blob, .. } = &base.content else {
            return CitationOutcome::Deleted.into();
        };
        if self.code.is_ignored(&base.path) {
            return CitationResult::new(CitationOutcome::Unchecked, CitationDoubt::Ignored);
        }
        let text = self.origin_text(&base.content);
        match self.find_rename(base, blob.as_ref(), text.as_ref()) {
            // A search that failed proves nothing about the file.
            RenameOutcome::NotFound | RenameOutcome::Inconclusive(_)
                if self.code.git_doubt().is_some() =>
            {
                CitationResult { outcome: CitationOutcome::Unchecked, doubt: self.code.git_doubt() }
            }
            RenameOutcome::NotFound if self.code.workspace.repository().is_none() => {
                CitationResult::new(CitationOutcome::Deleted, CitationDoubt::RenamesNotSearched)
            }
            RenameOutcome::NotFound => CitationOutcome::Deleted.into(),
            RenameOutcome::Inconclusive(doubt) => {
                CitationResult::new(CitationOutcome::Deleted, doubt)
            }
            RenameOutcome::Found(path) => {
                let file = CurrentFile { path: &path, is_renamed: true };
                let PathContent::File { text } = self.code.content_at(&self.now, &path) else {
                    return file.in_place(None).into();
                };
                self.check_in_file(citation, base, file, text.as_ref())
            }
        }
    }

    /// Searches for a renamed file, once for all its citations.
    fn find_rename(
        &self,
        base: &ResolvedOrigin,
        blob: Option<&BlobHash>,
        text: Option<&Arc<CodeText>>,
    ) -> RenameOutcome {
        let text_key = text.map(|text| Arc::as_ptr(text) as usize);
        let key = (base.path.clone(), base.state.clone(), blob.cloned(), text_key);
        if let Some(known) = lock(&self.renames).get(&key) {
            return known.clone();
        }
        let found = self.code.find_renamed(base, blob, text, &self.now);
        lock(&self.renames).insert(key, found.clone());
        found
    }

    /// Whether two versions of a file are equal. The texts stay in the cache, so their addresses
    /// stay theirs.
    fn is_same(&self, one: &Arc<CodeText>, other: &Arc<CodeText>) -> bool {
        let key = (Arc::as_ptr(one) as usize, Arc::as_ptr(other) as usize);
        key.0 == key.1 || *lock(&self.same).entry(key).or_insert_with(|| ***one == ***other)
    }

    /// Checks the cited lines in an existing file with the text `now`.
    fn check_in_file(
        &self,
        citation: &Citation<'_>,
        base: &ResolvedOrigin,
        file: CurrentFile<'_>,
        now: Option<&Arc<CodeText>>,
    ) -> CitationResult {
        let Some(lines) = citation.lines else {
            return file.in_place(None).into();
        };
        // A date is not exact enough for lines.
        if matches!(base.origin, CitationOrigin::Dated(_)) {
            return CitationResult::new(file.in_place(Some(lines)), CitationDoubt::PathOnly);
        }
        let Some(now) = now else {
            return CitationResult::new(file.in_place(Some(lines)), CitationDoubt::PathOnly);
        };
        let OriginContent::File { cited, had_twin, .. } = &base.content else {
            return file.in_place(None).into();
        };
        let found = self.locate_lines(&base.content, (*cited, *had_twin), now, lines);
        let found = match citation.is_approximate() {
            true => found.and_then(|found| found.for_approximate(lines)),
            false => found,
        };
        match found {
            Some(CitedLineMatch::InPlace) => file.in_place(Some(lines)).into(),
            // The document cites a line that says nothing, so its author saw another version.
            Some(_) if !self.is_meaningful(base, lines) => match file.is_renamed {
                true => CitationResult::new(file.in_place(None), CitationDoubt::BlankLines),
                false => CitationResult::new(CitationOutcome::Unchecked, CitationDoubt::BlankLines),
            },
            Some(CitedLineMatch::Moved(there)) => file.moved(there).into(),
            Some(CitedLineMatch::Missing) => {
                self.changed_lines(&base.content, file.path, now, lines).into()
            }
            None => CitationResult::new(file.in_place(Some(lines)), CitationDoubt::PathOnly),
        }
    }

    /// Whether the cited lines identify a place. An anchor was recorded from the text that the
    /// author saw; a commit may be newer than that text.
    fn is_meaningful(&self, base: &ResolvedOrigin, lines: LineRange) -> bool {
        base.origin == CitationOrigin::Anchor
            || self.origin_text(&base.content).is_none_or(|text| text.has_content(lines))
    }

    /// Finds the current position of lines; `None` if neither their old text nor its hash is known.
    fn locate_lines(
        &self,
        was: &OriginContent,
        (cited, had_twin): (Option<CitedLines>, bool),
        now: &Arc<CodeText>,
        lines: LineRange,
    ) -> Option<CitedLineMatch> {
        if cited.is_some() && now.cited(lines) == cited {
            return Some(CitedLineMatch::InPlace);
        }
        match (self.origin_text(was), cited) {
            (Some(base), _) => Some(self.tracker(&base, now).find(lines)),
            (None, Some(cited)) => Some(match_by_hash(now, lines, cited, had_twin)),
            (None, None) => None,
        }
    }

    fn changed_lines(
        &self,
        was: &OriginContent,
        path: &str,
        now: &Arc<CodeText>,
        lines: LineRange,
    ) -> CitationOutcome {
        let base = self.origin_text(was);
        let there = base.as_ref().and_then(|base| self.tracker(base, now).replacement(lines));
        let change = base.and_then(|base| {
            let before = self.one_line(base.slice(lines));
            let after = there.map(|there| self.one_line(now.slice(there)));
            LineChange::shortened(&before, after.as_deref())
        });
        CitationOutcome::Changed { location: location(path, there), change }
    }

    /// Some lines as one line. Secrets are redacted, because it is cached.
    fn one_line(&self, lines: &str) -> String {
        let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
        let line = lines.collect::<Vec<_>>().join(" ");
        self.code.workspace.clean(&line).0.as_str().to_owned()
    }

    /// The difference between two versions, computed once.
    fn tracker(&self, base: &Arc<CodeText>, now: &Arc<CodeText>) -> Arc<LineTracker> {
        let key = (Arc::as_ptr(base) as usize, Arc::as_ptr(now) as usize);
        // The tracker keeps both texts, so their addresses stay theirs.
        let mut trackers = lock(&self.trackers);
        let new = || Arc::new(LineTracker::new(base, now));
        Arc::clone(trackers.entry(key).or_insert_with(new))
    }

    fn origin_text(&self, was: &OriginContent) -> Option<Arc<CodeText>> {
        let OriginContent::File { blob, text, .. } = was else { return None };
        text.clone().or_else(|| self.code.blob(blob.as_ref()?))
    }
}

/// What is still missing about a place that did not exist when it was cited. Code blocks show
/// commands and plans, so nothing is missing in them.
fn still_missing(citation: &Citation<'_>, look: &PathContent) -> Option<CitationDoubt> {
    let has_lines = |text: &CodeText, lines: LineRange| text.line_count() >= lines.last;
    match (look, citation.lines) {
        _ if citation.is_in_code() => None,
        (PathContent::Missing, _) => Some(CitationDoubt::NoSuchPath),
        (PathContent::File { text: Some(text) }, Some(lines)) if !has_lines(text, lines) => {
            Some(CitationDoubt::NoSuchLines)
        }
        _ => None,
    }
}

/// Without an origin, only the existence of the path can be checked.
fn check_without_origin(
    citation: &Citation<'_>,
    base: &ResolvedOrigin,
    look: &PathContent,
    doubt: &CitationDoubt,
) -> CitationResult {
    if base.origin == CitationOrigin::None && look.exists() && citation.lines.is_none() {
        return CitationOutcome::Intact(location(&base.path, None)).into();
    }
    // It may be no path at all.
    let is_unknown = *doubt == CitationDoubt::NoOrigin && !look.exists();
    let doubt = if is_unknown { &CitationDoubt::UnknownPath } else { doubt };
    CitationResult::new(CitationOutcome::Unchecked, doubt.clone())
}

/// The result of a check, without the citation it is about.
struct CitationResult {
    outcome: CitationOutcome,
    doubt: Option<CitationDoubt>,
}

impl CitationResult {
    fn new(outcome: CitationOutcome, doubt: CitationDoubt) -> Self {
        Self { outcome, doubt: Some(doubt) }
    }
}

impl From<CitationOutcome> for CitationResult {
    fn from(outcome: CitationOutcome) -> Self {
        Self { outcome, doubt: None }
    }
}

/// The file that contains the cited place now.
#[derive(Clone, Copy)]
struct CurrentFile<'p> {
    path: &'p str,
    is_renamed: bool,
}

impl CurrentFile<'_> {
    /// The outcome for a place that did not move within the file.
    fn in_place(self, lines: Option<LineRange>) -> CitationOutcome {
        let location = location(self.path, lines);
        match self.is_renamed {
            true => CitationOutcome::Renamed(location),
            false => CitationOutcome::Intact(location),
        }
    }

    /// The outcome for lines that moved within the file.
    fn moved(self, lines: LineRange) -> CitationOutcome {
        let location = location(self.path, Some(lines));
        match self.is_renamed {
            true => CitationOutcome::Renamed(location),
            false => CitationOutcome::Moved(location),
        }
    }
}

fn location(path: &str, lines: Option<LineRange>) -> CodeLocation {
    CodeLocation { path: path.to_owned(), lines }
}
