//! Drift: what happened to a cited path or line range since the document cited it.
//!
//! The check compares the cited text, never commits, so squashed and rebased histories give the
//! same result.

mod choice;
mod findings;
mod line_tracker;
mod literal;
mod other_repository;
mod possibly_done;
mod rename;
mod statement;

pub use choice::choose_file;
pub use findings::findings;
pub use line_tracker::LineTracker;
pub use literal::{CitedFile, LiteralDrift, find_literal_drift, sentences};
pub use other_repository::other_repository_finding;
pub use possibly_done::{HandoffActivity, LaterCommit};
pub use rename::{
    NameDistance, RenamePair, RenamePairs, choose_rename, is_handoff_of_note, is_same_family,
};
pub use statement::StatementWords;

use crate::handoff::anchor::CitedLines;
use crate::handoff::citation::LineRange;
use crate::handoff::code_text::CodeText;
use crate::text::id::CommitId;
use crate::text::span::{Span, Spanned};
use std::collections::HashMap;
use std::fmt;

/// What happened to a cited place, as a plain word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CitationStatus {
    /// Unchanged.
    Intact,
    /// The lines moved within the file.
    Moved,
    /// The lines were changed or removed.
    Changed,
    /// The file was renamed.
    Renamed,
    /// The file or folder was deleted.
    Deleted,
    /// It did not exist when it was cited.
    NeverExisted,
    /// There is nothing to compare with.
    Unchecked,
}

impl CitationStatus {
    /// Every status.
    pub const ALL: [Self; 7] = [
        Self::Intact,
        Self::Moved,
        Self::Changed,
        Self::Renamed,
        Self::Deleted,
        Self::NeverExisted,
        Self::Unchecked,
    ];

    /// The word used in JSON output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Intact => "intact",
            Self::Moved => "moved",
            Self::Changed => "changed",
            Self::Renamed => "renamed",
            Self::Deleted => "deleted",
            Self::NeverExisted => "never_there",
            Self::Unchecked => "not_judged",
        }
    }
}

/// What happened to a cited place, and where it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CitationOutcome {
    /// Unchanged.
    Intact(CodeLocation),
    /// The lines moved to this location in the same file.
    Moved(CodeLocation),
    /// The lines were changed or removed.
    Changed {
        /// The file, and the lines that replaced the cited ones, if any.
        location: CodeLocation,
        /// Changed lines before and after, shortened, where both texts are available.
        change: Option<LineChange>,
    },
    /// The file was renamed; the place is here now.
    Renamed(CodeLocation),
    /// The file or folder was deleted.
    Deleted,
    /// It did not exist when it was cited.
    NeverExisted,
    /// There is nothing to compare with.
    Unchecked,
}

impl CitationOutcome {
    /// Combines a status with its location and change. Returns `None` if they contradict each
    /// other, such as a status that needs a location and has none.
    pub fn from_parts(
        status: CitationStatus,
        location: Option<CodeLocation>,
        change: Option<LineChange>,
    ) -> Option<Self> {
        let outcome = match (status, location, change) {
            (CitationStatus::Intact, Some(location), None) => Self::Intact(location),
            (CitationStatus::Moved, Some(location), None) => Self::Moved(location),
            (CitationStatus::Changed, Some(location), change) => Self::Changed { location, change },
            (CitationStatus::Renamed, Some(location), None) => Self::Renamed(location),
            (CitationStatus::Deleted, None, None) => Self::Deleted,
            (CitationStatus::NeverExisted, None, None) => Self::NeverExisted,
            (CitationStatus::Unchecked, None, None) => Self::Unchecked,
            _ => return None,
        };
        Some(outcome)
    }

    /// The plain status.
    pub fn status(&self) -> CitationStatus {
        match self {
            Self::Intact(_) => CitationStatus::Intact,
            Self::Moved(_) => CitationStatus::Moved,
            Self::Changed { .. } => CitationStatus::Changed,
            Self::Renamed(_) => CitationStatus::Renamed,
            Self::Deleted => CitationStatus::Deleted,
            Self::NeverExisted => CitationStatus::NeverExisted,
            Self::Unchecked => CitationStatus::Unchecked,
        }
    }

    /// Where the place is now, if it still exists.
    pub fn location(&self) -> Option<&CodeLocation> {
        match self {
            Self::Intact(location)
            | Self::Moved(location)
            | Self::Changed { location, .. }
            | Self::Renamed(location) => Some(location),
            Self::Deleted | Self::NeverExisted | Self::Unchecked => None,
        }
    }

    /// The changed lines, if both texts are available.
    pub fn change(&self) -> Option<&LineChange> {
        match self {
            Self::Changed { change, .. } => change.as_ref(),
            Self::Intact(_)
            | Self::Moved(_)
            | Self::Renamed(_)
            | Self::Deleted
            | Self::NeverExisted
            | Self::Unchecked => None,
        }
    }
}

/// The result of checking one citation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitationCheck {
    /// The citation as written.
    pub place: Spanned<String>,
    /// The span of the statement that cites it.
    pub statement: Span,
    /// What happened to it.
    pub outcome: CitationOutcome,
    /// What it was compared with.
    pub origin: CitationOrigin,
    /// Whether any committed change touched the file, at these lines or elsewhere.
    pub file_changed: bool,
    /// Why the check is impossible or incomplete.
    pub doubt: Option<CitationDoubt>,
    /// Whether `check --fix` can write its current lines.
    pub is_fixable: bool,
    /// What its sentence says about the file and is not true any more.
    pub literals: Vec<LiteralDrift>,
}

impl CitationCheck {
    /// The current lines in the cited file, if the place did not change.
    pub fn current_lines(&self) -> Option<LineRange> {
        match &self.outcome {
            CitationOutcome::Intact(location) | CitationOutcome::Moved(location) => {
                location.lines.filter(|_| location.is_in_cited_file(&self.place.value))
            }
            CitationOutcome::Changed { .. }
            | CitationOutcome::Renamed(_)
            | CitationOutcome::Deleted
            | CitationOutcome::NeverExisted
            | CitationOutcome::Unchecked => None,
        }
    }
}

/// A path and optional lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLocation {
    /// The path, relative to the root of the working tree.
    pub path: String,
    /// The lines, if any.
    pub lines: Option<LineRange>,
}

/// Formats as `src/market.py:12-14`.
impl fmt::Display for CodeLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        self.lines.map_or(Ok(()), |lines| write!(f, ":{lines}"))
    }
}

/// What a citation was compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CitationOrigin {
    /// The anchor of the citation.
    Anchor,
    /// The commit that wrote the line that contains the citation.
    Blame(CommitId),
    /// The commit in the header's `at_commit`.
    AtCommit(CommitId),
    /// The last commit before the date of the document. Only paths are compared with it.
    Dated(CommitId),
    /// The working tree: the line with the citation is not committed yet.
    JustWritten,
    /// Nothing.
    None,
}

impl CitationOrigin {
    /// Parses the word and commit returned by [`Self::word_and_commit`].
    pub fn parse(word: &str, commit: Option<CommitId>) -> Option<Self> {
        let known = match (word, commit) {
            ("blame", Some(commit)) => Self::Blame(commit),
            ("at_commit", Some(commit)) => Self::AtCommit(commit),
            ("date", Some(commit)) => Self::Dated(commit),
            ("anchor", None) => Self::Anchor,
            ("just_written", None) => Self::JustWritten,
            ("none", None) => Self::None,
            _ => return None,
        };
        Some(known)
    }

    /// The word used in JSON output, and the commit if there is one.
    pub fn word_and_commit(&self) -> (&'static str, Option<&CommitId>) {
        match self {
            Self::Anchor => ("anchor", None),
            Self::Blame(commit) => ("blame", Some(commit)),
            Self::AtCommit(commit) => ("at_commit", Some(commit)),
            Self::Dated(commit) => ("date", Some(commit)),
            Self::JustWritten => ("just_written", None),
            Self::None => ("none", None),
        }
    }
}

/// Cited lines before and after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineChange {
    /// The lines as they were when cited.
    pub before: String,
    /// The lines that replaced them, if any.
    pub after: Option<String>,
}

impl LineChange {
    /// Shortens two texts to the part where they differ. `None` if they do not: only whitespace
    /// changed, or a redacted value.
    pub fn shortened(before: &str, after: Option<&str>) -> Option<Self> {
        let Some(after) = after else {
            return Some(Self { before: excerpt(before, 0), after: None });
        };
        let same = before.chars().zip(after.chars()).take_while(|(one, other)| one == other);
        let same = same.count();
        let is_long = before.chars().count().max(after.chars().count()) > EXCERPT_CHARS_MAX;
        // Some text before the difference shows where it is.
        let from = if is_long { same.saturating_sub(EXCERPT_CHARS_MAX / 3) } else { 0 };
        let (before, after) = (excerpt(before, from), excerpt(after, from));
        (before != after).then_some(Self { before, after: Some(after) })
    }
}

/// How many characters of a changed line fit in a message.
const EXCERPT_CHARS_MAX: usize = 60;

/// A part of a text that fits in a message.
fn excerpt(text: &str, from: usize) -> String {
    let rest: Vec<char> = text.chars().skip(from).take(EXCERPT_CHARS_MAX + 1).collect();
    let is_cut = rest.len() > EXCERPT_CHARS_MAX;
    let kept = if is_cut { EXCERPT_CHARS_MAX - 1 } else { rest.len() };
    let lead = (from > 0).then_some('…');
    lead.into_iter().chain(rest.into_iter().take(kept)).chain(is_cut.then_some('…')).collect()
}

/// Why a citation cannot be checked, or only in part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CitationDoubt {
    /// There is no record of what was cited.
    NoOrigin,
    /// Nothing has this path, and there is no record that anything had it.
    UnknownPath,
    /// The commit is missing because the clone is shallow.
    Shallow(CommitId),
    /// The line comes from this boundary commit of a shallow clone or an earlier one.
    ShallowEnd(CommitId),
    /// The commit no longer exists in this repository.
    MissingCommit(CommitId),
    /// The path is in a submodule that is not checked out or whose history is not searched.
    Submodule(String),
    /// The path leaves the repository or cannot be read.
    Unreadable,
    /// The number of files that match the name.
    Ambiguous(usize),
    /// Git failed, with this message.
    Git(String),
    /// Without git, new files cannot be recognized.
    RenamesNotSearched,
    /// The lines that the origin has there are blank, or braces only. The author meant others.
    BlankLines,
    /// The path did not exist when it was cited, and does not exist now.
    NoSuchPath,
    /// The file had fewer lines when it was cited, and has fewer now.
    NoSuchLines,
    /// The content is missing because the clone is partial.
    PartialClone,
    /// Git ignores the path, so a missing file may exist in other clones.
    Ignored,
    /// Only the path was checked: the file is binary, too large, or stored elsewhere.
    PathOnly,
    /// The search for a renamed file stopped early.
    RenamesTruncated {
        /// The number of files that were compared.
        compared: usize,
        /// The number of candidate files.
        candidates: usize,
    },
    /// This new file is similar, but is taken as the new name of another missing file.
    OtherRename(String),
}

impl fmt::Display for CitationDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |commit: &CommitId| commit.as_str().chars().take(12).collect::<String>();
        match self {
            Self::NoOrigin => f.write_str("there is no record of the cited code"),
            Self::UnknownPath => f.write_str("no file exists at this path"),
            Self::Shallow(commit) => {
                write!(f, "commit {} is not in this shallow clone", short(commit))
            }
            Self::ShallowEnd(commit) => {
                write!(f, "the history in this shallow clone ends at {}", short(commit))
            }
            Self::MissingCommit(commit) => {
                write!(f, "commit {} is not in this repository", short(commit))
            }
            Self::Submodule(path) => write!(f, "submodule `{path}` is not available"),
            Self::Unreadable => f.write_str("it is outside the repository or unreadable"),
            Self::Ambiguous(files) => write!(f, "ambiguous: {files} files have this name"),
            Self::Git(why) => f.write_str(why),
            Self::RenamesNotSearched => {
                f.write_str("midstride does not search for renames without git")
            }
            Self::BlankLines => f.write_str("the cited lines are blank or contain only braces"),
            Self::NoSuchPath => f.write_str("it did not exist when this was written"),
            Self::NoSuchLines => f.write_str("it is past the end of the file"),
            Self::PartialClone => f.write_str("its content is not in this partial clone"),
            Self::Ignored => f.write_str("git ignores it, so it may exist elsewhere"),
            Self::PathOnly => f.write_str("only its path was checked"),
            Self::RenamesTruncated { compared, candidates } => {
                write!(f, "only {compared} of {candidates} files were searched for a rename")
            }
            Self::OtherRename(path) => {
                write!(
                    f,
                    "`{path}` is similar, but another missing file matches it as well or better"
                )
            }
        }
    }
}

/// How far approximate lines may move and still be about right.
const APPROXIMATE_LINES: usize = 5;

/// Where cited lines are now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CitedLineMatch {
    /// At the same lines.
    InPlace,
    /// At other lines of the file.
    Moved(LineRange),
    /// Not in the file.
    Missing,
}

impl CitedLineMatch {
    fn new(place: LineRange, cited: LineRange) -> Self {
        if place == cited { Self::InPlace } else { Self::Moved(place) }
    }

    /// The match for lines that the author called approximate. `None` if nothing can be said: the
    /// statement may be about a line nearby.
    pub fn for_approximate(self, cited: LineRange) -> Option<Self> {
        match self {
            Self::Moved(place) if place.first.abs_diff(cited.first) <= APPROXIMATE_LINES => {
                Some(Self::InPlace)
            }
            Self::InPlace | Self::Moved(_) => Some(self),
            Self::Missing => None,
        }
    }
}

/// Finds cited lines by their hash and the hash of their neighbors.
///
/// `had_twin` says that other lines had the same text, so a single remaining match may be the twin.
pub fn match_by_hash(
    now: &CodeText,
    lines: LineRange,
    cited: CitedLines,
    had_twin: bool,
) -> CitedLineMatch {
    match unambiguous_match(now, lines, cited, had_twin) {
        Some(place) => CitedLineMatch::new(place, lines),
        // Equal lines are still at the cited position, and nothing shows that they are different
        // ones.
        None if now.hashed().find_all(cited.text, lines.count()).contains(&lines) => {
            CitedLineMatch::InPlace
        }
        None => CitedLineMatch::Missing,
    }
}

/// The one range where the cited lines can be: between the same neighbors, or the only match, if
/// the text is distinctive. With several matches it returns `None`: `check --fix` writes the result
/// into documents, so it must not guess.
fn unambiguous_match(
    now: &CodeText,
    lines: LineRange,
    cited: CitedLines,
    had_twin: bool,
) -> Option<LineRange> {
    let hashed = now.hashed();
    let places = hashed.find_all(cited.text, lines.count());
    let is_near = |place: &&LineRange| hashed.cited(**place).is_some_and(|there| there == cited);
    let near: Vec<&LineRange> = places.iter().filter(is_near).collect();
    match (&near[..], &places[..]) {
        _ if near.contains(&&lines) => Some(lines),
        ([place], _) => Some(**place),
        ([], [place]) if !had_twin => is_distinctive(now.slice(*place)).then_some(*place),
        _ => None,
    }
}

/// Whether lines have enough letters and digits to be recognized alone. A closing brace does not.
fn is_distinctive(lines: &str) -> bool {
    const LETTERS_MIN: usize = 4;
    lines.chars().filter(|c| c.is_alphanumeric()).count() >= LETTERS_MIN
}

/// How similar two texts are, in percent of the larger one.
pub fn similarity(one: &str, other: &str) -> usize {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for line in one.lines() {
        *left.entry(line.trim_end()).or_default() += 1;
    }
    let mut same = 0;
    for line in other.lines() {
        if let Some(count) = left.get_mut(line.trim_end()).filter(|count| **count > 0) {
            *count -= 1;
            same += line.len() + 1;
        }
    }
    let larger = one.len().max(other.len());
    (same * 100).checked_div(larger).unwrap_or(100).min(100)
}

/// From this similarity on, a new file counts as a rename. Git uses the same default.
pub const SIMILARITY_MIN: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::anchor::HashedLines;
    use std::sync::Arc;

    fn range(first: usize, last: usize) -> LineRange {
        LineRange { first, last }
    }

    fn code(text: &str) -> Arc<CodeText> {
        Arc::new(CodeText::new(text))
    }

    fn match_by_text(base: &str, now: &str, lines: LineRange) -> CitedLineMatch {
        LineTracker::new(&code(base), &code(now)).find(lines)
    }

    fn replacement_lines(base: &str, now: &str, lines: LineRange) -> Option<LineRange> {
        LineTracker::new(&code(base), &code(now)).replacement(lines)
    }

    fn match_by_hash(now: &str, lines: LineRange, cited: CitedLines, twin: bool) -> CitedLineMatch {
        super::match_by_hash(&code(now), lines, cited, twin)
    }

    const TEXT: &str = "fn one() {\n    call();\n}\n\nfn two() {\n    other();\n}\n";

    #[test]
    fn a_repeated_line_counts_as_often_as_both_texts_have_it() {
        assert_eq!(similarity("a\n", "a\na\n"), 50);
        assert_eq!(similarity("a\na\n", "a\n"), 50);
        assert_eq!(similarity("a\na\n", "a\na\n"), 100);
    }

    /// Matches by text and by hash, which have to agree.
    fn found(now: &str, lines: LineRange) -> CitedLineMatch {
        let cited = HashedLines::new(TEXT).cited(lines).unwrap();
        let has_twin = HashedLines::new(TEXT).find_all(cited.text, lines.count()).len() > 1;
        let by_hash = match_by_hash(now, lines, cited, has_twin);
        assert_eq!(match_by_text(TEXT, now, lines), by_hash, "{now}");
        by_hash
    }

    #[test]
    fn lines_are_tracked_across_edits() {
        assert_eq!(found(TEXT, range(2, 2)), CitedLineMatch::InPlace);
        assert_eq!(
            found(&format!("// new\n{TEXT}"), range(2, 2)),
            CitedLineMatch::Moved(range(3, 3))
        );
        assert_eq!(found(&TEXT.replace("call()", "told()"), range(2, 2)), CitedLineMatch::Missing);
        assert_eq!(found(&TEXT.replace("call()", "told()"), range(5, 6)), CitedLineMatch::InPlace);
        assert_eq!(found(&TEXT.replace('\n', " \r\n"), range(1, 7)), CitedLineMatch::InPlace);
        assert_eq!(found("", range(2, 2)), CitedLineMatch::Missing);
    }

    #[test]
    fn equal_lines_are_distinguished_by_their_neighbors() {
        // `zero` closes at line 7, where the brace of `two` was cited.
        let now = format!(
            "fn zero() {{\n    nothing();\n    at();\n    all();\n    here();\n    x();\n}}\n{TEXT}"
        );
        assert_eq!(found(&now, range(7, 7)), CitedLineMatch::Moved(range(14, 14)));
    }

    #[test]
    fn a_moved_block_is_found() {
        let now = "fn two() {\n    other();\n}\n\nfn one() {\n    call();\n}\n";
        assert_eq!(match_by_text(TEXT, now, range(1, 2)), CitedLineMatch::Moved(range(5, 6)));
        assert_eq!(match_by_text(TEXT, now, range(5, 6)), CitedLineMatch::Moved(range(1, 2)));
    }

    #[test]
    fn a_short_line_in_a_moved_block_is_found_by_its_neighbors() {
        let text = "fn a() {\n    one();\n}\nfn b() {\n    two();\n    deux();\n}\nfn c() {\n    three();\n    trois();\n}\n";
        let now = "fn b() {\n    two();\n    deux();\n}\nfn c() {\n    three();\n    trois();\n}\nfn a() {\n    one();\n}\n";
        assert_eq!(match_by_text(text, now, range(7, 7)), CitedLineMatch::Moved(range(4, 4)));
        // Between other neighbors, it could be any brace.
        let alone = "}\nfn b() {\n    zwei();\n";
        assert_eq!(
            match_by_hash(alone, range(7, 7), code(text).cited(range(7, 7)).unwrap(), true),
            CitedLineMatch::Missing
        );
    }

    #[test]
    fn one_of_several_equal_lines_is_never_guessed() {
        let text = "alpha\n    return Err(error.into());\nbeta\n";
        let cited = code(text).cited(range(2, 2)).unwrap();
        let twice =
            "gamma\ndelta\n    return Err(error.into());\nx\n    return Err(error.into());\n";
        assert_eq!(match_by_hash(twice, range(2, 2), cited, false), CitedLineMatch::Missing);
        // The cited line was changed; its twin is not a match.
        let other = "gamma\ndelta\nx\ny\n    return Err(error.into());\n";
        assert_eq!(match_by_hash(other, range(2, 2), cited, true), CitedLineMatch::Missing);
        assert_eq!(
            match_by_hash(other, range(2, 2), cited, false),
            CitedLineMatch::Moved(range(5, 5))
        );
        // The first of two is deleted; the other is not a match.
        let both = format!("{text}x\ny\n    return Err(error.into());\nz\n");
        let now = both.replacen("    return Err(error.into());\n", "", 1);
        assert_eq!(match_by_text(&both, &now, range(2, 2)), CitedLineMatch::Missing);
        assert_eq!(
            match_by_text(text, "n\n    return Err(error.into());\n", range(2, 2)),
            CitedLineMatch::InPlace
        );
    }

    #[test]
    fn replaced_lines_are_shown() {
        let now = TEXT.replace("    call();\n", "    told();\n    twice();\n");
        assert_eq!(replacement_lines(TEXT, &now, range(2, 2)), Some(range(2, 3)));
        let gone = TEXT.replace("    call();\n", "");
        assert_eq!(replacement_lines(TEXT, &gone, range(2, 2)), None);
        let at_end = TEXT.replace("    other();\n}\n", "    new();\n");
        assert_eq!(replacement_lines(TEXT, &at_end, range(6, 7)), Some(range(6, 6)));
    }

    #[test]
    fn a_change_shows_where_the_texts_differ() {
        let long = "let total = rows.iter().map(|row| row.price * row.count).sum::<f64>() + ";
        let (before, after) = (format!("{long}shipping;"), format!("{long}postage;"));
        let change = LineChange::shortened(&before, Some(&after)).unwrap();
        assert_eq!(change.before, "…unt).sum::<f64>() + shipping;");
        assert_eq!(change.after.as_deref(), Some("…unt).sum::<f64>() + postage;"));
        assert_eq!(LineChange::shortened("a b", Some("a b")), None);
        let removed = LineChange::shortened(&before, None).unwrap();
        assert_eq!(removed.before.chars().count(), EXCERPT_CHARS_MAX);
        // One text ends where the other goes further.
        let change = LineChange::shortened(long, Some(&before)).unwrap();
        assert_ne!(Some(&change.before), change.after.as_ref());
    }

    fn location(lines: Option<LineRange>) -> CodeLocation {
        CodeLocation { path: "src/market.py".to_owned(), lines }
    }

    #[test]
    fn every_outcome_can_be_rebuilt_from_its_parts() {
        let change = LineChange { before: "a".to_owned(), after: None };
        let at = || location(Some(range(2, 3)));
        let outcomes = [
            CitationOutcome::Intact(at()),
            CitationOutcome::Moved(at()),
            CitationOutcome::Changed { location: at(), change: Some(change) },
            CitationOutcome::Renamed(location(None)),
            CitationOutcome::Deleted,
            CitationOutcome::NeverExisted,
            CitationOutcome::Unchecked,
        ];
        assert_eq!(outcomes.each_ref().map(CitationOutcome::status), CitationStatus::ALL);
        for outcome in outcomes {
            let parts = (outcome.location().cloned(), outcome.change().cloned());
            let rebuilt = CitationOutcome::from_parts(outcome.status(), parts.0, parts.1);
            assert_eq!(rebuilt, Some(outcome));
        }
    }

    #[test]
    fn contradicting_parts_are_rejected() {
        let change = LineChange { before: "a".to_owned(), after: None };
        for status in CitationStatus::ALL {
            let needs_location = matches!(
                status,
                CitationStatus::Intact
                    | CitationStatus::Moved
                    | CitationStatus::Changed
                    | CitationStatus::Renamed
            );
            let wrong = (!needs_location).then(|| location(None));
            assert_eq!(CitationOutcome::from_parts(status, wrong, None), None, "{status:?}");
            if status != CitationStatus::Changed {
                let right = needs_location.then(|| location(None));
                let with_change = CitationOutcome::from_parts(status, right, Some(change.clone()));
                assert_eq!(with_change, None, "{status:?}");
            }
        }
    }

    #[test]
    fn similarity_is_a_percentage() {
        assert_eq!(similarity(TEXT, TEXT), 100);
        assert_eq!(similarity("", ""), 100);
        assert_eq!(similarity(TEXT, ""), 0);
        let half = similarity(TEXT, &TEXT.replace("call", "told"));
        assert!((SIMILARITY_MIN..100).contains(&half), "{half}");
    }
}
