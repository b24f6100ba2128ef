//! Drift: what has happened to a place since a document named it.
//!
//! What decides is the text that was cited, never a commit: squashed and rebased histories judge
//! the same.

mod findings;
mod possibly_done;

pub use findings::findings;
pub use possibly_done::{HandoffActivity, LaterCommit, QUIET_DAYS};

use crate::handoff::anchor::{CitedLines, HashedLines};
use crate::handoff::citation::LineRange;
use crate::text::span::{Span, Spanned};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::HashMap;
use std::fmt;

/// What has happened to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CitationStatus {
    /// It is as it was.
    Intact,
    /// Its lines stand elsewhere in the file.
    Moved,
    /// Its lines say something else, or are gone.
    Changed,
    /// The file has another path.
    Renamed,
    /// It is gone.
    Deleted,
    /// It was not there when it was named.
    NeverExisted,
    /// Nothing tells.
    Unchecked,
}

impl CitationStatus {
    /// Every verdict.
    pub const ALL: [Self; 7] = [
        Self::Intact,
        Self::Moved,
        Self::Changed,
        Self::Renamed,
        Self::Deleted,
        Self::NeverExisted,
        Self::Unchecked,
    ];

    /// The word for programs.
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

/// One citation, judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CitationCheck {
    /// The place as it is written.
    pub place: Spanned<String>,
    /// What is said about it.
    pub statement: Span,
    /// What has happened to it.
    pub status: CitationStatus,
    /// Where it is now, if it is somewhere.
    pub location: Option<CodeLocation>,
    /// What it was compared with.
    pub origin: CitationOrigin,
    /// What changed lines were and are, shortened, where both are at hand.
    pub change: Option<LineChange>,
    /// Whether anything in the file was changed, here or elsewhere, and committed.
    pub file_changed: bool,
    /// Why nothing can be told, or only a part.
    pub doubt: Option<CitationDoubt>,
}

/// A path, and lines of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLocation {
    /// From the top of the working tree.
    pub path: String,
    /// The lines.
    pub lines: Option<LineRange>,
}

/// `src/market.py:12-14`
impl fmt::Display for CodeLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        self.lines.map_or(Ok(()), |lines| write!(f, ":{lines}"))
    }
}

/// What a citation was compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CitationOrigin {
    /// What its anchor says.
    Anchor,
    /// The commit that wrote the line it stands in.
    Blame(String),
    /// The commit that the header names.
    AtCommit(String),
    /// The line is not committed yet: it was just written.
    JustWritten,
    /// Nothing.
    None,
}

impl CitationOrigin {
    /// Reads what [`Self::told`] tells.
    pub fn parse(word: &str, commit: Option<String>) -> Option<Self> {
        let known = match (word, commit) {
            ("blame", Some(commit)) => Self::Blame(commit),
            ("at_commit", Some(commit)) => Self::AtCommit(commit),
            ("anchor", None) => Self::Anchor,
            ("just_written", None) => Self::JustWritten,
            ("none", None) => Self::None,
            _ => return None,
        };
        Some(known)
    }

    /// The word for programs, and the commit where there is one.
    pub fn word_and_commit(&self) -> (&'static str, Option<&str>) {
        match self {
            Self::Anchor => ("anchor", None),
            Self::Blame(commit) => ("blame", Some(commit)),
            Self::AtCommit(commit) => ("at_commit", Some(commit)),
            Self::JustWritten => ("just_written", None),
            Self::None => ("none", None),
        }
    }
}

/// What lines were, and what stands in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineChange {
    /// The lines that were cited.
    pub before: String,
    /// What stands there now.
    pub after: Option<String>,
}

/// What keeps a citation from being judged, or from being judged wholly.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CitationDoubt {
    /// Nothing tells what stood there.
    NoOrigin,
    /// The commit is not here, because only a part of the history is.
    Shallow(String),
    /// The line was written by this commit or before it, and what was before it is not here.
    ShallowEnd(String),
    /// The commit is not here any more.
    MissingCommit(String),
    /// It lies in another repository, which is not here or whose past is not looked into.
    Submodule(String),
    /// It leads out of the repository, or may not be read.
    Unreadable,
    /// So many files could be meant.
    Ambiguous(usize),
    /// Git did not answer.
    Git(String),
    /// Outside git nobody knows which files are new.
    RenamesNotSearched,
    /// The file is judged by its path: it is no text, too large, or kept elsewhere.
    PathOnly,
    /// The search for a new name ended early.
    RenamesTruncated {
        /// How many files were compared.
        compared: usize,
        /// How many there were.
        candidates: usize,
    },
}

impl fmt::Display for CitationDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |commit: &str| commit.chars().take(12).collect::<String>();
        match self {
            Self::NoOrigin => f.write_str("nothing tells what stood there when it was written"),
            Self::Shallow(commit) => {
                write!(f, "commit {} is not in this shallow clone", short(commit))
            }
            Self::ShallowEnd(commit) => {
                write!(f, "the history in this shallow clone ends at {}", short(commit))
            }
            Self::MissingCommit(commit) => write!(f, "commit {} is not here", short(commit)),
            Self::Submodule(path) => write!(f, "submodule `{path}` cannot be looked into"),
            Self::Unreadable => f.write_str("it leads out of the repository, or may not be read"),
            Self::Ambiguous(files) => write!(f, "{files} files are called so"),
            Self::Git(why) => f.write_str(why),
            Self::RenamesNotSearched => f.write_str("without git, nobody looks for a new name"),
            Self::PathOnly => f.write_str("judged by its path only"),
            Self::RenamesTruncated { compared, candidates } => {
                write!(f, "only {compared} of {candidates} files were looked at for a new name")
            }
        }
    }
}

/// Where cited lines are now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CitedLineMatch {
    /// Where they were.
    InPlace,
    /// Elsewhere in the file.
    Moved(LineRange),
    /// Nowhere.
    Missing,
}

impl CitedLineMatch {
    fn new(place: LineRange, cited: LineRange) -> Self {
        if place == cited { Self::InPlace } else { Self::Moved(place) }
    }
}

/// Where cited lines are now, told by their hash and by what stood around them. Where others said
/// the same, the only ones that are left may be those.
pub fn match_by_hash(
    now: &str,
    lines: LineRange,
    cited: CitedLines,
    had_twin: bool,
) -> CitedLineMatch {
    let hashed = HashedLines::new(now);
    match unambiguous_match(now, &hashed, lines, cited, had_twin) {
        Some(place) => CitedLineMatch::new(place, lines),
        // Equal lines are still there; nothing tells that they are others.
        None if hashed.find_all(cited.text, lines.count()).contains(&lines) => {
            CitedLineMatch::InPlace
        }
        None => CitedLineMatch::Missing,
    }
}

/// The one place where cited lines can be: between the same neighbours, or the only one that has
/// them, if they say enough. One of several is a guess, which nobody should write into a document.
fn unambiguous_match(
    now: &str,
    hashed: &HashedLines,
    lines: LineRange,
    cited: CitedLines,
    had_twin: bool,
) -> Option<LineRange> {
    let places = hashed.find_all(cited.text, lines.count());
    let is_near = |place: &&LineRange| hashed.cited(**place).is_some_and(|there| there == cited);
    let near: Vec<&LineRange> = places.iter().filter(is_near).collect();
    match (&near[..], &places[..]) {
        _ if near.contains(&&lines) => Some(lines),
        ([place], _) => Some(**place),
        ([], [place]) if !had_twin => is_distinctive(now, *place).then_some(*place),
        _ => None,
    }
}

/// Where the lines of a text are in another one that was made of it.
pub fn match_by_text(base: &str, now: &str, lines: LineRange) -> CitedLineMatch {
    let (old, new) = (trimmed_lines(base), trimmed_lines(now));
    let Some(first) = lines.first.checked_sub(1).filter(|_| lines.last <= old.len()) else {
        return CitedLineMatch::Missing;
    };
    let mut kept = Vec::new();
    for op in capture_diff_slices(Algorithm::Histogram, &old, &new) {
        let DiffOp::Equal { old_index, new_index, len } = op else { continue };
        if old_index <= first && lines.last <= old_index + len {
            let there = new_index + (first - old_index) + 1;
            return CitedLineMatch::new(lines.starting_at(there), lines);
        }
        kept.push(LineRange { first: new_index + 1, last: new_index + len });
    }
    // A block that was taken elsewhere is gone and new to a diff.
    let cited = HashedLines::cited_in(base, lines);
    let place =
        cited.and_then(|cited| unambiguous_match(now, &HashedLines::new(now), lines, cited, false));
    // What stood there before is another one that says the same.
    let is_new = |place: &LineRange| !kept.iter().any(|kept| kept.contains(place));
    place.filter(is_new).map_or(CitedLineMatch::Missing, |place| CitedLineMatch::new(place, lines))
}

fn trimmed_lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).collect()
}

/// Whether lines say enough to be known by themselves; a brace stands everywhere.
fn is_distinctive(text: &str, lines: LineRange) -> bool {
    const LETTERS_MIN: usize = 4;
    let lines = text.lines().skip(lines.first - 1).take(lines.count());
    lines.flat_map(str::chars).filter(|c| c.is_alphanumeric()).count() >= LETTERS_MIN
}

/// The lines of `now` that stand where `lines` stood in `base`, for showing what became of them.
pub fn replacement_lines(base: &str, now: &str, lines: LineRange) -> Option<LineRange> {
    let (old, new) = (trimmed_lines(base), trimmed_lines(now));
    let (first, last) = (lines.first.checked_sub(1)?, lines.last);
    let (mut from, mut to) = (0, new.len());
    for op in capture_diff_slices(Algorithm::Histogram, &old, &new) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            // The last line before them, and the first behind them, that are still there.
            if old_index < first {
                from = new_index + len.min(first - old_index);
            }
            if old_index + len > last && to == new.len() {
                to = new_index + last.saturating_sub(old_index);
            }
        }
    }
    (from < to).then_some(LineRange { first: from + 1, last: to })
}

/// How much of two texts is the same, in percent of the larger one.
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

/// From here on a file is taken for another one under a new name; the same as git's.
pub const SIMILARITY_MIN: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: usize, last: usize) -> LineRange {
        LineRange { first, last }
    }

    const TEXT: &str = "fn one() {\n    call();\n}\n\nfn two() {\n    other();\n}\n";

    /// By text and by hash: both have to say the same.
    fn found(now: &str, lines: LineRange) -> CitedLineMatch {
        let cited = HashedLines::new(TEXT).cited(lines).unwrap();
        let has_twin = HashedLines::new(TEXT).find_all(cited.text, lines.count()).len() > 1;
        let by_hash = match_by_hash(now, lines, cited, has_twin);
        assert_eq!(match_by_text(TEXT, now, lines), by_hash, "{now}");
        by_hash
    }

    #[test]
    fn lines_are_followed() {
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
    fn equal_lines_are_told_apart_by_what_stands_around_them() {
        // The closing brace of `two`, with a function before it that closes where it closed.
        let now = format!(
            "fn zero() {{\n    nothing();\n    at();\n    all();\n    here();\n    x();\n}}\n{TEXT}"
        );
        assert_eq!(found(&now, range(7, 7)), CitedLineMatch::Moved(range(14, 14)));
    }

    #[test]
    fn a_block_that_was_taken_elsewhere_is_found() {
        let now = "fn two() {\n    other();\n}\n\nfn one() {\n    call();\n}\n";
        assert_eq!(match_by_text(TEXT, now, range(1, 2)), CitedLineMatch::Moved(range(5, 6)));
        assert_eq!(match_by_text(TEXT, now, range(5, 6)), CitedLineMatch::Moved(range(1, 2)));
    }

    #[test]
    fn a_weak_line_in_a_block_that_was_taken_elsewhere_is_known_by_its_neighbours() {
        let text = "fn a() {\n    one();\n}\nfn b() {\n    two();\n    deux();\n}\nfn c() {\n    three();\n    trois();\n}\n";
        let now = "fn b() {\n    two();\n    deux();\n}\nfn c() {\n    three();\n    trois();\n}\nfn a() {\n    one();\n}\n";
        assert_eq!(match_by_text(text, now, range(7, 7)), CitedLineMatch::Moved(range(4, 4)));
        // Moved between other neighbours, it is any brace.
        let alone = "}\nfn b() {\n    zwei();\n";
        assert_eq!(
            match_by_hash(
                alone,
                range(7, 7),
                HashedLines::cited_in(text, range(7, 7)).unwrap(),
                true
            ),
            CitedLineMatch::Missing
        );
    }

    #[test]
    fn one_of_several_equal_lines_is_never_guessed() {
        let text = "alpha\n    return Err(error.into());\nbeta\n";
        let cited = HashedLines::cited_in(text, range(2, 2)).unwrap();
        let twice =
            "gamma\ndelta\n    return Err(error.into());\nx\n    return Err(error.into());\n";
        assert_eq!(match_by_hash(twice, range(2, 2), cited, false), CitedLineMatch::Missing);
        // One was changed; the other one, which said the same, is none of it.
        let other = "gamma\ndelta\nx\ny\n    return Err(error.into());\n";
        assert_eq!(match_by_hash(other, range(2, 2), cited, true), CitedLineMatch::Missing);
        assert_eq!(
            match_by_hash(other, range(2, 2), cited, false),
            CitedLineMatch::Moved(range(5, 5))
        );
        // The first of two goes; the other one is none of it.
        let both = format!("{text}x\ny\n    return Err(error.into());\nz\n");
        let now = both.replacen("    return Err(error.into());\n", "", 1);
        assert_eq!(match_by_text(&both, &now, range(2, 2)), CitedLineMatch::Missing);
        assert_eq!(
            match_by_text(text, "n\n    return Err(error.into());\n", range(2, 2)),
            CitedLineMatch::InPlace
        );
    }

    #[test]
    fn what_took_the_place_of_lines_is_shown() {
        let now = TEXT.replace("    call();\n", "    told();\n    twice();\n");
        assert_eq!(replacement_lines(TEXT, &now, range(2, 2)), Some(range(2, 3)));
        let gone = TEXT.replace("    call();\n", "");
        assert_eq!(replacement_lines(TEXT, &gone, range(2, 2)), None);
        let at_end = TEXT.replace("    other();\n}\n", "    new();\n");
        assert_eq!(replacement_lines(TEXT, &at_end, range(6, 7)), Some(range(6, 6)));
    }

    #[test]
    fn similar_texts_are_known() {
        assert_eq!(similarity(TEXT, TEXT), 100);
        assert_eq!(similarity("", ""), 100);
        assert_eq!(similarity(TEXT, ""), 0);
        let half = similarity(TEXT, &TEXT.replace("call", "told"));
        assert!((SIMILARITY_MIN..100).contains(&half), "{half}");
    }
}
