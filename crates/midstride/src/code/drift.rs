//! Drift: checks what documents say about the code against the current code.
//!
//! Citations whose lines have not moved are checked without git. One git process reads the old
//! texts, and the file listing is only read when a cited file is missing.

mod cache;
mod later_commits;
mod origin;
mod rename;

pub use later_commits::LaterCommitsQuery;

use super::code_state::{CodeCache, CodeState, PathContent};
use crate::store::Store;
use crate::sys::files::FileError;
use crate::workspace::StoredHandoff;
use cache::CheckCache;
pub(crate) use cache::cached_results;
use midstride_core::handoff::anchor::{CitedLines, HashedLines, keyed_citations};
use midstride_core::handoff::citation::{Citation, LineRange};
use midstride_core::handoff::drift::{
    CitationCheck, CitationDoubt, CitationOrigin, CitationStatus, CitedLineMatch, CodeLocation,
    LineChange, match_by_hash, match_by_text, replacement_lines,
};
use midstride_core::text::span::Spanned;
use origin::{OriginContent, OriginResolver, ResolvedOrigin};
use rename::RenameOutcome;
use std::sync::Arc;

/// Checks documents against one state of the repository.
pub struct DriftChecker<'p> {
    code: CodeCache<'p>,
    now: CodeState,
    /// Set for the working tree only: it is checked repeatedly, a commit rarely.
    cache: Option<CheckCache<'p>>,
}

impl<'p> DriftChecker<'p> {
    /// Creates a checker for the documents of a project.
    pub fn new(store: &'p Store, now: CodeState) -> Result<Self, FileError> {
        let cache = (now == CodeState::WorkTree).then(|| CheckCache::new(store));
        Ok(Self { code: CodeCache::open(store.workspace())?, now, cache })
    }

    /// Checks every citation of a document.
    pub fn check(&self, stored: &StoredHandoff) -> Vec<CitationCheck> {
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
        let check_one = |(key, citation)| {
            let base = baselines.resolve(&key, &citation);
            let CitationResult { verdict, now, change, doubt } =
                self.check_citation(&citation, &base);
            let file_changed =
                now.as_ref().is_some_and(|now| self.is_file_changed(&base, &now.path));
            CitationCheck {
                place: Spanned::new(citation.written.value.to_owned(), citation.written.at),
                statement: citation.statement,
                status: verdict,
                location: now,
                origin: base.origin,
                change,
                file_changed,
                doubt,
            }
        };
        citations.into_iter().map(check_one).collect()
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
            (OriginContent::Missing, _) => CitationResult::new(CitationStatus::NeverExisted),
            (_, PathContent::Unreadable(doubt)) => CitationResult::unchecked(doubt.clone()),
            (OriginContent::Folder, look) if look.exists() => {
                CitationResult::located(CitationStatus::Intact, &base.path, None)
            }
            (OriginContent::Folder, _) => CitationResult::new(CitationStatus::Deleted),
            (OriginContent::File { .. }, PathContent::File { text }) => {
                self.check_in_file(citation, base, &base.path, text.as_ref(), CitationStatus::Moved)
            }
            (OriginContent::File { .. }, PathContent::Folder | PathContent::Missing) => {
                self.check_missing_file(citation, base)
            }
        }
    }

    fn check_missing_file(&self, citation: &Citation<'_>, base: &ResolvedOrigin) -> CitationResult {
        let OriginContent::File { blob, .. } = &base.content else {
            return CitationResult::new(CitationStatus::Deleted);
        };
        let text = self.origin_text(&base.content);
        match self.code.find_renamed(base, blob.as_deref(), text.as_deref(), &self.now) {
            // A search that failed proves nothing about the file.
            RenameOutcome::NotFound | RenameOutcome::Inconclusive(_)
                if self.code.git_doubt().is_some() =>
            {
                CitationResult {
                    doubt: self.code.git_doubt(),
                    ..CitationResult::new(CitationStatus::Unchecked)
                }
            }
            RenameOutcome::NotFound if self.code.workspace.repository().is_none() => {
                CitationResult {
                    doubt: Some(CitationDoubt::RenamesNotSearched),
                    ..CitationResult::new(CitationStatus::Deleted)
                }
            }
            RenameOutcome::NotFound => CitationResult::new(CitationStatus::Deleted),
            RenameOutcome::Inconclusive(doubt) => CitationResult {
                doubt: Some(doubt),
                ..CitationResult::new(CitationStatus::Deleted)
            },
            RenameOutcome::Found(path) => {
                let PathContent::File { text } = self.code.content_at(&self.now, &path) else {
                    return CitationResult::located(CitationStatus::Renamed, &path, None);
                };
                self.check_in_file(citation, base, &path, text.as_ref(), CitationStatus::Renamed)
            }
        }
    }

    /// Checks the cited lines in an existing file; `found` is the status if they are elsewhere now.
    fn check_in_file(
        &self,
        citation: &Citation<'_>,
        base: &ResolvedOrigin,
        path: &str,
        now: Option<&Arc<str>>,
        found: CitationStatus,
    ) -> CitationResult {
        let in_place =
            if found == CitationStatus::Renamed { found } else { CitationStatus::Intact };
        let Some(lines) = citation.lines else {
            return CitationResult::located(in_place, path, None);
        };
        let Some(now) = now else {
            let fate = CitationResult::located(in_place, path, Some(lines));
            return CitationResult { doubt: Some(CitationDoubt::PathOnly), ..fate };
        };
        let OriginContent::File { cited, had_twin, .. } = &base.content else {
            return CitationResult::located(in_place, path, None);
        };
        match self.locate_lines(&base.content, (*cited, *had_twin), now, lines) {
            Some(CitedLineMatch::InPlace) => CitationResult::located(in_place, path, Some(lines)),
            Some(CitedLineMatch::Moved(there)) => CitationResult::located(found, path, Some(there)),
            Some(CitedLineMatch::Missing) => self.changed_lines(&base.content, path, now, lines),
            None => {
                let fate = CitationResult::located(in_place, path, Some(lines));
                CitationResult { doubt: Some(CitationDoubt::PathOnly), ..fate }
            }
        }
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
    ) -> CitationResult {
        let base = self.origin_text(was);
        let there = base.as_ref().and_then(|base| replacement_lines(base, now, lines));
        let change = base.map(|base| LineChange {
            before: self.excerpt(&base, lines),
            after: there.map(|there| self.excerpt(now, there)),
        });
        CitationResult { change, ..CitationResult::located(CitationStatus::Changed, path, there) }
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
        text.clone().or_else(|| self.code.blob(blob.as_deref()?))
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
        return CitationResult::located(CitationStatus::Intact, &base.path, None);
    }
    CitationResult::unchecked(doubt.clone())
}

/// The result of a check, without the citation it is about.
struct CitationResult {
    verdict: CitationStatus,
    now: Option<CodeLocation>,
    change: Option<LineChange>,
    doubt: Option<CitationDoubt>,
}

impl CitationResult {
    fn new(verdict: CitationStatus) -> Self {
        Self { verdict, now: None, change: None, doubt: None }
    }

    fn located(verdict: CitationStatus, path: &str, lines: Option<LineRange>) -> Self {
        let now = Some(CodeLocation { path: path.to_owned(), lines });
        Self { now, ..Self::new(verdict) }
    }

    fn unchecked(doubt: CitationDoubt) -> Self {
        Self { doubt: Some(doubt), ..Self::new(CitationStatus::Unchecked) }
    }
}
