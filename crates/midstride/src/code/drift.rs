//! Drift: what documents say about the code, compared with the code as it is.
//!
//! Places that are where they were are judged without git; one process gives the texts of the past,
//! and the files there are get listed only where one is missing.

mod anchoring;
mod baseline;
mod ground;
mod memory;
mod overtaken;
mod rename;

pub use anchoring::Anew;
pub use ground::Ground;
pub use overtaken::Cited;

use crate::sys::files::FileError;
use crate::workspace::project::{Project, Shelved};
use baseline::{Base, Baselines, Was};
use ground::{Grounds, Look};
use memory::Memory;
pub(crate) use memory::judged_before;
use midstride_core::handoff::anchor::{CitedLines, HashedLines, keyed_citations};
use midstride_core::handoff::citation::{Citation, LineRange};
use midstride_core::handoff::drift::{
    CitationCheck, CitationDoubt, CitationOrigin, CitationStatus, CitedLineMatch, CodeLocation,
    LineChange, match_by_hash, match_by_text, replacement_lines,
};
use midstride_core::text::span::Spanned;
use rename::Renamed;
use std::sync::Arc;

/// Judges documents against one state of the repository.
pub struct Drift<'p> {
    grounds: Grounds<'p>,
    now: Ground,
    /// A commit is compared with seldom; the working tree again and again.
    memory: Option<Memory>,
}

impl<'p> Drift<'p> {
    /// A judge for the documents of a project.
    pub fn against(project: &'p Project, now: Ground) -> Result<Self, FileError> {
        let memory = (now == Ground::WorkTree).then(|| Memory::of(project));
        Ok(Self { grounds: Grounds::of(project)?, now, memory })
    }

    /// What has happened to every place that a document names.
    pub fn judge(&self, shelved: &Shelved) -> Vec<CitationCheck> {
        let remembered = self.memory.as_ref().and_then(|m| m.recall(&self.grounds, shelved));
        if let Some(judged) = remembered {
            return judged;
        }
        let judged = self.judge_anew(shelved);
        if let Some(memory) = self.memory.as_ref().filter(|_| !judged.is_empty()) {
            memory.learn(&self.grounds, shelved, &judged);
        }
        judged
    }

    fn judge_anew(&self, shelved: &Shelved) -> Vec<CitationCheck> {
        let citations = keyed_citations(&shelved.document);
        if citations.is_empty() {
            return Vec::new();
        }
        let baselines = Baselines::of(&self.grounds, shelved, &self.now);
        let judge = |(key, citation)| {
            let base = baselines.of_citation(&key, &citation);
            let Fate { verdict, now, change, why } = self.fate(&citation, &base);
            let file_changed = now.as_ref().is_some_and(|now| self.is_other_file(&base, &now.path));
            CitationCheck {
                place: Spanned::new(citation.written.value.to_owned(), citation.written.at),
                statement: citation.statement,
                status: verdict,
                location: now,
                origin: base.baseline,
                change,
                file_changed,
                doubt: why,
            }
        };
        citations.into_iter().map(judge).collect()
    }

    /// Whether a file is known to have another text in git than it had.
    fn is_other_file(&self, base: &Base, path: &str) -> bool {
        match &base.was {
            Was::File { blob: Some(blob), .. } => {
                let listed = self.grounds.listed(&self.now);
                listed.files.get(path).and_then(Option::as_ref).is_some_and(|id| id != blob)
            }
            Was::File { blob: None, text: Some(was), .. } => {
                let look = self.grounds.look(&self.now, path);
                matches!(look, Look::File { text: Some(now) } if now != *was)
            }
            Was::File { .. } | Was::Nothing | Was::Folder | Was::Unknown(_) => false,
        }
    }

    fn fate(&self, citation: &Citation<'_>, base: &Base) -> Fate {
        let look = self.grounds.look(&self.now, &base.path);
        match (&base.was, &look) {
            (Was::Unknown(doubt), _) => unknown(citation, base, &look, doubt),
            (Was::Nothing, _) => Fate::of(CitationStatus::NeverExisted),
            (_, Look::Hidden(doubt)) => Fate::not_judged(doubt.clone()),
            (Was::Folder, look) if look.is_there() => {
                Fate::at(CitationStatus::Intact, &base.path, None)
            }
            (Was::Folder, _) => Fate::of(CitationStatus::Deleted),
            (Was::File { .. }, Look::File { text }) => {
                self.in_file(citation, base, &base.path, text.as_ref(), CitationStatus::Moved)
            }
            (Was::File { .. }, Look::Folder | Look::Nothing) => self.missing(citation, base),
        }
    }

    fn missing(&self, citation: &Citation<'_>, base: &Base) -> Fate {
        let Was::File { blob, .. } = &base.was else { return Fate::of(CitationStatus::Deleted) };
        let text = self.text_of(&base.was);
        match self.grounds.renamed(base, blob.as_deref(), text.as_deref(), &self.now) {
            // Who has no list of files finds nothing in it.
            Renamed::No | Renamed::Unsure(_) if self.grounds.trouble().is_some() => {
                Fate { why: self.grounds.trouble(), ..Fate::of(CitationStatus::Unchecked) }
            }
            Renamed::No if self.grounds.project.repository().is_none() => Fate {
                why: Some(CitationDoubt::RenamesNotSearched),
                ..Fate::of(CitationStatus::Deleted)
            },
            Renamed::No => Fate::of(CitationStatus::Deleted),
            Renamed::Unsure(doubt) => {
                Fate { why: Some(doubt), ..Fate::of(CitationStatus::Deleted) }
            }
            Renamed::To(path) => {
                let Look::File { text } = self.grounds.look(&self.now, &path) else {
                    return Fate::at(CitationStatus::Renamed, &path, None);
                };
                self.in_file(citation, base, &path, text.as_ref(), CitationStatus::Renamed)
            }
        }
    }

    /// What became of the lines of a file that is there; `found` is the verdict where they stand
    /// elsewhere now.
    fn in_file(
        &self,
        citation: &Citation<'_>,
        base: &Base,
        path: &str,
        now: Option<&Arc<str>>,
        found: CitationStatus,
    ) -> Fate {
        let in_place =
            if found == CitationStatus::Renamed { found } else { CitationStatus::Intact };
        let Some(lines) = citation.lines else { return Fate::at(in_place, path, None) };
        let Some(now) = now else {
            let fate = Fate::at(in_place, path, Some(lines));
            return Fate { why: Some(CitationDoubt::PathOnly), ..fate };
        };
        let Was::File { cited, had_twin, .. } = &base.was else {
            return Fate::at(in_place, path, None);
        };
        match self.lines_now(&base.was, (*cited, *had_twin), now, lines) {
            Some(CitedLineMatch::InPlace) => Fate::at(in_place, path, Some(lines)),
            Some(CitedLineMatch::Moved(there)) => Fate::at(found, path, Some(there)),
            Some(CitedLineMatch::Missing) => self.changed(&base.was, path, now, lines),
            None => {
                let fate = Fate::at(in_place, path, Some(lines));
                Fate { why: Some(CitationDoubt::PathOnly), ..fate }
            }
        }
    }

    /// Where lines are now; `None` where nothing tells what they were.
    fn lines_now(
        &self,
        was: &Was,
        (cited, had_twin): (Option<CitedLines>, bool),
        now: &str,
        lines: LineRange,
    ) -> Option<CitedLineMatch> {
        if cited.is_some() && HashedLines::cited_in(now, lines) == cited {
            return Some(CitedLineMatch::InPlace);
        }
        match (self.text_of(was), cited) {
            (Some(base), _) => Some(match_by_text(&base, now, lines)),
            (None, Some(cited)) => Some(match_by_hash(now, lines, cited, had_twin)),
            (None, None) => None,
        }
    }

    fn changed(&self, was: &Was, path: &str, now: &str, lines: LineRange) -> Fate {
        let base = self.text_of(was);
        let there = base.as_ref().and_then(|base| replacement_lines(base, now, lines));
        let change = base.map(|base| LineChange {
            before: self.shortened(&base, lines),
            after: there.map(|there| self.shortened(now, there)),
        });
        Fate { change, ..Fate::at(CitationStatus::Changed, path, there) }
    }

    /// What some lines say, in one line that fits into a message, without secrets: it is kept.
    fn shortened(&self, text: &str, lines: LineRange) -> String {
        const LETTERS_MAX: usize = 60;
        let said = text.lines().skip(lines.first - 1).take(lines.count()).map(str::trim);
        let said = said.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        let said = self.grounds.project.clean(&said).0.as_str().to_owned();
        if said.chars().count() <= LETTERS_MAX {
            return said;
        }
        said.chars().take(LETTERS_MAX - 1).chain(['…']).collect()
    }

    fn text_of(&self, was: &Was) -> Option<Arc<str>> {
        let Was::File { blob, text, .. } = was else { return None };
        text.clone().or_else(|| self.grounds.blob(blob.as_deref()?))
    }
}

/// Without anything to compare with, a path that is there is there, and no more is known.
fn unknown(citation: &Citation<'_>, base: &Base, look: &Look, doubt: &CitationDoubt) -> Fate {
    if base.baseline == CitationOrigin::None && look.is_there() && citation.lines.is_none() {
        return Fate::at(CitationStatus::Intact, &base.path, None);
    }
    Fate::not_judged(doubt.clone())
}

/// What a judgement says beside what it is about.
struct Fate {
    verdict: CitationStatus,
    now: Option<CodeLocation>,
    change: Option<LineChange>,
    why: Option<CitationDoubt>,
}

impl Fate {
    fn of(verdict: CitationStatus) -> Self {
        Self { verdict, now: None, change: None, why: None }
    }

    fn at(verdict: CitationStatus, path: &str, lines: Option<LineRange>) -> Self {
        let now = Some(CodeLocation { path: path.to_owned(), lines });
        Self { now, ..Self::of(verdict) }
    }

    fn not_judged(doubt: CitationDoubt) -> Self {
        Self { why: Some(doubt), ..Self::of(CitationStatus::Unchecked) }
    }
}
