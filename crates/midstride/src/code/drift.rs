//! Drift: checks what documents say about the code against the current code.
//!
//! Citations whose lines have not moved are checked without git. One git process reads the old
//! texts, and the file listing is only read when a cited file is missing.

mod cache;
mod later_commits;
mod origin;
mod rename;

pub(crate) use later_commits::LaterCommitsQuery;

use super::code_state::{CodeCache, CodeState, PathContent, is_inside};
use crate::store::Store;
use crate::sys::files::FileError;
use crate::workspace::StoredHandoff;
use cache::CheckCache;
pub(crate) use cache::cached_results;
use midstride_core::handoff::anchor::{AnchorKey, CitedLines, HashedLines, keyed_citations};
use midstride_core::handoff::citation::{Citation, LineRange, renumberable};
use midstride_core::handoff::drift::{
    CitationCheck, CitationDoubt, CitationOrigin, CitationOutcome, CitedLineMatch, CodeLocation,
    LineChange, has_content, match_by_hash, match_by_text, replacement_lines,
};
use midstride_core::text::span::{Span, Spanned};
use origin::{OriginContent, OriginResolver, ResolvedOrigin};
use rename::RenameOutcome;
use std::collections::HashSet;
use std::sync::Arc;

/// Checks documents against one state of the repository.
pub(crate) struct DriftChecker<'p> {
    code: CodeCache<'p>,
    now: CodeState,
    /// Set for the working tree only: it is checked repeatedly, a commit rarely.
    cache: Option<CheckCache<'p>>,
}

impl<'p> DriftChecker<'p> {
    /// Creates a checker for the documents of a project.
    pub(crate) fn new(store: &'p Store, now: CodeState) -> Result<Self, FileError> {
        let cache = (now == CodeState::WorkTree).then(|| CheckCache::new(store));
        Ok(Self { code: CodeCache::open(store.workspace())?, now, cache })
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
        let check_one = |(key, citation): &(AnchorKey, Citation<'_>)| {
            let base = baselines.resolve(key, citation);
            let CitationResult { outcome, doubt } = self.check_citation(citation, &base);
            let file_changed =
                outcome.location().is_some_and(|now| self.is_file_changed(&base, &now.path));
            CitationCheck {
                place: Spanned::new(citation.written.value.to_string(), citation.written.at),
                statement: citation.statement,
                outcome,
                origin: base.origin,
                file_changed,
                doubt,
                is_fixable: false,
            }
        };
        let mut checks: Vec<CitationCheck> = citations.iter().map(check_one).collect();
        let citations: Vec<Citation<'_>> = citations.into_iter().map(|(_, one)| one).collect();
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
                matches!(look, PathContent::File { text: Some(now) } if now != *was)
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
        match self.code.find_renamed(base, blob.as_ref(), text.as_deref(), &self.now) {
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

    /// Checks the cited lines in an existing file with the text `now`.
    fn check_in_file(
        &self,
        citation: &Citation<'_>,
        base: &ResolvedOrigin,
        file: CurrentFile<'_>,
        now: Option<&Arc<str>>,
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
            || self.origin_text(&base.content).is_none_or(|text| has_content(&text, lines))
    }

    /// Finds the current position of lines; `None` if neither their old text nor its hash is known.
    fn locate_lines(
        &self,
        was: &OriginContent,
        (cited, had_twin): (Option<CitedLines>, bool),
        now: &str,
        lines: LineRange,
    ) -> Option<CitedLineMatch> {
        if cited.is_some() && HashedLines::cited_in(now, lines) == cited {
            return Some(CitedLineMatch::InPlace);
        }
        match (self.origin_text(was), cited) {
            (Some(base), _) => Some(match_by_text(&base, now, lines)),
            (None, Some(cited)) => Some(match_by_hash(now, lines, cited, had_twin)),
            (None, None) => None,
        }
    }

    fn changed_lines(
        &self,
        was: &OriginContent,
        path: &str,
        now: &str,
        lines: LineRange,
    ) -> CitationOutcome {
        let base = self.origin_text(was);
        let there = base.as_ref().and_then(|base| replacement_lines(base, now, lines));
        let change = base.map(|base| LineChange {
            before: self.excerpt(&base, lines),
            after: there.map(|there| self.excerpt(now, there)),
        });
        CitationOutcome::Changed { location: location(path, there), change }
    }

    /// Some lines as one line that fits in a message. Secrets are redacted, because it is cached.
    fn excerpt(&self, text: &str, lines: LineRange) -> String {
        const LETTERS_MAX: usize = 60;
        let excerpt = text.lines().skip(lines.first - 1).take(lines.count()).map(str::trim);
        let excerpt = excerpt.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        let excerpt = self.code.workspace.clean(&excerpt).0.as_str().to_owned();
        if excerpt.chars().count() <= LETTERS_MAX {
            return excerpt;
        }
        excerpt.chars().take(LETTERS_MAX - 1).chain(['…']).collect()
    }

    fn origin_text(&self, was: &OriginContent) -> Option<Arc<str>> {
        let OriginContent::File { blob, text, .. } = was else { return None };
        text.clone().or_else(|| self.code.blob(blob.as_ref()?))
    }
}

/// What is still missing about a place that did not exist when it was cited. Code blocks show
/// commands and plans, so nothing is missing in them.
fn still_missing(citation: &Citation<'_>, look: &PathContent) -> Option<CitationDoubt> {
    let has_lines = |text: &str, lines: LineRange| text.lines().count() >= lines.last;
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
