//! Anchors record what a cited path or line range contained when the document cited it.
//!
//! Anchors live in an HTML comment at the end of the body, one per line, sorted. An anchor belongs
//! to a citation and to the statement around it: a changed statement gets a new anchor. Line
//! numbers are not part of the statement's hash, so updating them keeps the anchor.

use crate::format::document::Document;
use crate::handoff::citation::{Citation, LineRange, citations};
use crate::text::edit::Edit;
use crate::text::id::BlobHash;
use crate::text::markdown::MarkdownBlockKind;
use crate::text::span::Span;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Identifies the citation that an anchor belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnchorKey {
    /// The cited place as written.
    pub place: String,
    /// The hash of the statement that cites it.
    pub statement: String,
}

/// What a cited place pointed to when the anchor was recorded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnchorTarget {
    /// Nothing existed there.
    Missing,
    /// A folder.
    Folder,
    /// A file.
    File {
        /// The git blob id of the file, where git knows it.
        blob: Option<BlobHash>,
        /// The cited lines.
        lines: Option<CitedLines>,
        /// Whether other lines of the file had the same text.
        has_twin: bool,
    },
}

/// Hashes of cited lines, enough to find them again without storing their text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CitedLines {
    /// The hash of the lines.
    pub text: u64,
    /// The hash of the lines around them, which distinguishes equal lines.
    pub near: u64,
}

/// The recorded target of one citation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Anchor {
    /// The citation it belongs to.
    pub key: AnchorKey,
    /// The path where the file was found, if it differs from the written path.
    pub path: Option<String>,
    /// What the citation pointed to.
    pub target: AnchorTarget,
}

/// The lines of a file, each as a hash. Line endings and trailing whitespace do not count.
#[derive(Clone, Debug)]
pub struct HashedLines(Vec<u64>);

/// The base of the rolling hash over line hashes. Any odd number works.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

impl HashedLines {
    /// How many lines before and after the cited lines go into the `near` hash.
    pub(crate) const CONTEXT_LINES: usize = 2;

    /// Hashes the lines of a text.
    pub fn new(text: &str) -> Self {
        Self(text.lines().map(hash_line).collect())
    }

    /// The hashes of a line range; `None` if the file is too short.
    pub fn cited(&self, lines: LineRange) -> Option<CitedLines> {
        let start = lines.first.checked_sub(1)?;
        let after = self.0.get(lines.last..)?;
        let text = combine_hashes(self.0.get(start..lines.last)?);
        let before = &self.0[start.saturating_sub(Self::CONTEXT_LINES)..start];
        let near = combine_hashes(
            &[before, &[0], &after[..after.len().min(Self::CONTEXT_LINES)]].concat(),
        );
        Some(CitedLines { text, near })
    }

    /// Every range of `count` lines with this hash, counted from one.
    pub fn find_all(&self, text: u64, count: usize) -> Vec<LineRange> {
        let lines = &self.0;
        if count == 0 || count > lines.len() {
            return Vec::new();
        }
        let leading = (1..count).fold(1u64, |power, _| power.wrapping_mul(BASE));
        let mut hash = combine_hashes(&lines[..count]);
        let mut found = Vec::new();
        for first in 1.. {
            if hash == text {
                found.push(LineRange { first, last: first + count - 1 });
            }
            let Some(next) = lines.get(first + count - 1) else { break };
            let removed = lines[first - 1].wrapping_mul(leading);
            hash = hash.wrapping_sub(removed).wrapping_mul(BASE).wrapping_add(*next);
        }
        found
    }
}

fn hash_line(line: &str) -> u64 {
    short_hash(line.trim_end().as_bytes())
}

fn combine_hashes(lines: &[u64]) -> u64 {
    lines.iter().fold(0, |hash, line| hash.wrapping_mul(BASE).wrapping_add(*line))
}

fn short_hash(bytes: &[u8]) -> u64 {
    let digest = Sha256::digest(bytes);
    digest.iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

/// The citations of a document, each with the key of its anchor.
pub fn keyed_citations(document: &Document) -> Vec<(AnchorKey, Citation<'_>)> {
    let all = citations(document);
    let mut numbers: BTreeMap<Span, BTreeSet<Span>> = BTreeMap::new();
    for citation in &all {
        numbers.entry(citation.statement).or_default().extend(citation.lines_at());
    }
    let hash = |(statement, numbers): (&Span, &BTreeSet<Span>)| {
        (*statement, statement_hash(document.text(), *statement, numbers))
    };
    let statements: BTreeMap<Span, String> = numbers.iter().map(hash).collect();
    let key = |citation: &Citation<'_>| AnchorKey {
        place: citation.written.value.clone().into_owned(),
        statement: statements[&citation.statement].clone(),
    };
    all.into_iter().map(|citation| (key(&citation), citation)).collect()
}

/// The hash of the words of a statement, without line numbers. Quotes, bullets and line breaks do
/// not change what a statement says about the place.
fn statement_hash(text: &str, statement: Span, numbers: &BTreeSet<Span>) -> String {
    let mut statement_text = String::new();
    let mut from = statement.start;
    for number in numbers {
        statement_text.push_str(Span::new(from, number.start).slice(text));
        from = number.end;
    }
    statement_text.push_str(Span::new(from, statement.end).slice(text));
    let words =
        statement_text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    format!("{:012x}", short_hash(words.join(" ").as_bytes()) >> 16)
}

/// How the comment begins. The version number follows.
const BEGIN: &str = "<!-- midstride:anchors ";
const VERSION: &str = "1";
const END: &str = "-->";
/// Separates the written place from the path where it was found.
const FOUND_AT: &str = " = ";
const NOTHING: &str = "nothing";
const FOLDER: &str = "folder";
const UNKNOWN: &str = "-";
/// Marks lines whose text occurred more than once in the file.
const TWIN: &str = "/twin";

/// The anchors of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anchors {
    at: Option<Span>,
    /// A newer midstride wrote them, so this version leaves them alone.
    is_newer: bool,
    list: BTreeSet<Anchor>,
}

impl Anchors {
    /// Reads the anchors of a document.
    pub fn from_document(document: &Document) -> Self {
        let text = document.text();
        let comment = document.blocks().iter().rev().find(|block| {
            block.kind == MarkdownBlockKind::Html
                && block.at.slice(text).trim_start().starts_with(BEGIN)
        });
        let Some(comment) = comment else { return Self::default() };
        let mut lines = comment.at.slice(text).trim_start()[BEGIN.len()..].lines();
        let newer = lines.next().is_none_or(|version| version.trim() != VERSION);
        let lines = lines.filter(|_| !newer).take_while(|line| line.trim() != END);
        Self { at: Some(comment.at), is_newer: newer, list: lines.filter_map(parse_line).collect() }
    }

    /// All anchors, in sorted order.
    pub fn all(&self) -> impl Iterator<Item = &Anchor> {
        self.list.iter()
    }

    /// The anchor with this key.
    pub fn find(&self, key: &AnchorKey) -> Option<&Anchor> {
        let first = Anchor { key: key.clone(), path: None, target: AnchorTarget::Missing };
        self.list.range(first..).next().filter(|anchor| anchor.key == *key)
    }

    /// The span of the anchor comment.
    pub fn at(&self) -> Option<Span> {
        self.at
    }

    /// The edit that replaces the anchors of a document; `None` if it already has exactly these.
    pub fn replace(&self, document: &Document, with: &BTreeSet<Anchor>) -> Option<Edit> {
        // An empty comment has to be removed.
        let is_current = self.list == *with && self.at.is_some() != with.is_empty();
        if self.is_newer || is_current {
            return None;
        }
        let at = self.at.unwrap_or(Span::empty(document.body().end));
        let before = &document.text()[document.body().start..at.start];
        Some(Edit::Body(at, render_comment(with, before, document.line_break())))
    }
}

/// A document without its anchors, for comparing content; `None` if it has no anchors or a newer
/// midstride wrote them.
pub fn without_anchors(document: &Document) -> Option<Document> {
    let edit = Anchors::from_document(document).replace(document, &BTreeSet::new())?;
    document.edit(&[edit]).ok().map(|(document, _)| document)
}

/// A text with an anchor comment appended.
pub(crate) fn append_anchors(text: &str, anchors: &BTreeSet<Anchor>, line_break: &str) -> String {
    format!("{text}{}", render_comment(anchors, text, line_break))
}

/// Three-way merge of anchors: keeps what either side added and drops what either side removed.
pub(crate) fn merge_anchors(base: &Anchors, one: &Anchors, other: &Anchors) -> BTreeSet<Anchor> {
    let (one, other, base) = (&one.list, &other.list, &base.list);
    let kept = one.intersection(other);
    kept.chain(one.difference(base)).chain(other.difference(base)).cloned().collect()
}

/// The anchor comment, with the blank line it needs after `before`.
fn render_comment(anchors: &BTreeSet<Anchor>, before: &str, line_break: &str) -> String {
    if anchors.is_empty() {
        return String::new();
    }
    let lead = match before {
        "" => String::new(),
        _ if before == line_break || before.ends_with(&line_break.repeat(2)) => String::new(),
        _ if before.ends_with(line_break) => line_break.to_owned(),
        _ => line_break.repeat(2),
    };
    let lines: String = anchors.iter().map(|anchor| render_line(anchor) + line_break).collect();
    format!("{lead}{BEGIN}{VERSION}{line_break}{lines}{END}{line_break}")
}

fn render_line(anchor: &Anchor) -> String {
    let target = match &anchor.target {
        AnchorTarget::Missing => NOTHING.to_owned(),
        AnchorTarget::Folder => FOLDER.to_owned(),
        AnchorTarget::File { blob, lines, has_twin } => {
            let blob = blob.as_ref().map_or(UNKNOWN, BlobHash::as_str);
            let twin = if *has_twin { TWIN } else { "" };
            match lines {
                Some(CitedLines { text, near }) => {
                    format!("{blob}/{text:016x}/{near:016x}{twin}")
                }
                None => blob.to_owned(),
            }
        }
    };
    let path = anchor.path.as_ref().map(|path| format!("{FOUND_AT}{path}"));
    let AnchorKey { place, statement } = &anchor.key;
    format!("{statement} {target} {place}{}", path.unwrap_or_default())
}

fn parse_line(line: &str) -> Option<Anchor> {
    let (statement, rest) = line.trim().split_once(' ')?;
    let (target_word, place) = rest.split_once(' ')?;
    let (place, path) = match place.split_once(FOUND_AT) {
        Some((place, path)) => (place, Some(path.to_owned())),
        None => (place, None),
    };
    let key = AnchorKey { place: place.to_owned(), statement: statement.to_owned() };
    Some(Anchor { key, path, target: parse_target(target_word)? })
}

fn parse_target(word: &str) -> Option<AnchorTarget> {
    match word {
        NOTHING => return Some(AnchorTarget::Missing),
        FOLDER => return Some(AnchorTarget::Folder),
        _ => {}
    }
    let (word, has_twin) = match word.strip_suffix(TWIN) {
        Some(word) => (word, true),
        None => (word, false),
    };
    let mut parts = word.split('/');
    let blob = parts.next().filter(|blob| *blob != UNKNOWN);
    let is_id = |blob: &&str| !blob.is_empty() && blob.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !blob.as_ref().is_none_or(is_id) {
        return None;
    }
    let number = |part: Option<&str>| u64::from_str_radix(part?, 16).ok();
    let lines = match (number(parts.next()), number(parts.next())) {
        (Some(text), Some(near)) => Some(CitedLines { text, near }),
        (None, _) => None,
        (Some(_), None) => return None,
    };
    Some(AnchorTarget::File { blob: blob.map(BlobHash::new), lines, has_twin })
}

/// Whether a place survives a round trip through a line of the comment.
pub fn can_be_stored(place: &str) -> bool {
    !place.contains(END) && !place.contains(FOUND_AT) && !place.contains(['\n', '\r'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor(place: &str, target: AnchorTarget) -> Anchor {
        let key = AnchorKey { place: place.into(), statement: "0123456789ab".into() };
        Anchor { key, path: None, target }
    }

    fn file(blob: Option<&str>, lines: Option<CitedLines>, has_twin: bool) -> AnchorTarget {
        AnchorTarget::File { blob: blob.map(BlobHash::new), lines, has_twin }
    }

    fn some() -> BTreeSet<Anchor> {
        let lines = Some(CitedLines { text: 7, near: u64::MAX });
        let mut elsewhere = anchor("b.rs", file(Some("ab12"), None, false));
        elsewhere.path = Some("src/b with space.rs".into());
        BTreeSet::from([
            anchor("src/a.rs:3", file(None, lines, false)),
            anchor("src/a.rs:4", file(Some("ab12"), lines, true)),
            anchor("src/new.rs", AnchorTarget::Missing),
            anchor("src/", AnchorTarget::Folder),
            elsewhere,
        ])
    }

    fn with(text: &str, anchors: &BTreeSet<Anchor>) -> Document {
        let document = Document::parse(text.as_bytes());
        let edit = Anchors::from_document(&document).replace(&document, anchors);
        edit.map_or(document.clone(), |edit| document.edit(&[edit]).unwrap().0)
    }

    #[test]
    fn anchors_survive_a_round_trip() {
        for text in ["---\nhandoff:\n  id: a\n---\nText\n", "Text", "a\r\n\r\nb\r\n", "a\n\n", ""] {
            let document = with(text, &some());
            assert_eq!(Anchors::from_document(&document).list, some(), "{}", document.text());
            assert_eq!(with(document.text(), &some()).text(), document.text());
            let without = with(document.text(), &BTreeSet::new());
            assert_eq!(without.text().trim_end(), text.trim_end());
        }
    }

    #[test]
    fn anchors_of_a_newer_version_are_left_alone() {
        let text = "Text\n\n<!-- midstride:anchors 2\nwhatever\n-->\n";
        assert_eq!(with(text, &some()).text(), text);
    }

    #[test]
    fn a_statement_keeps_its_key_when_only_line_numbers_change() {
        let keys = |text: &str| -> Vec<AnchorKey> {
            let document = Document::parse(text.as_bytes());
            keyed_citations(&document).into_iter().map(|(key, _)| key).collect()
        };
        let one = keys("The loop in a.rs:10 calls\nb.rs:20 twice.\n");
        let moved = keys("The loop in a.rs:12 calls b.rs:20\ntwice.\n");
        assert_eq!(one[1], moved[1]);
        assert_eq!(one[0].statement, moved[0].statement);
        assert_ne!(one[0].place, moved[0].place);
        assert_ne!(keys("The loop in a.rs:10 calls b.rs:20 once.\n")[1], one[1]);
    }

    #[test]
    fn lines_are_found_wherever_they_moved() {
        let text = "one\ntwo\nthree\nfour\none \ntwo\t\n";
        let lines = HashedLines::new(text);
        let cited = lines.cited(LineRange { first: 1, last: 2 }).unwrap();
        let places = lines.find_all(cited.text, 2);
        assert_eq!(places.iter().map(|lines| lines.first).collect::<Vec<_>>(), [1, 5]);
        assert_ne!(lines.cited(places[1]).unwrap().near, cited.near);
        assert_eq!(lines.cited(LineRange { first: 6, last: 7 }), None);
        assert!(lines.find_all(cited.text, 7).is_empty());
        assert!(lines.find_all(cited.text, 0).is_empty());
    }

    #[test]
    fn additions_and_removals_of_both_sides_are_merged() {
        let of = |names: &[&str]| Anchors {
            at: None,
            is_newer: false,
            list: names.iter().map(|name| anchor(name, AnchorTarget::Missing)).collect(),
        };
        let merged =
            merge_anchors(&of(&["a", "b", "c"]), &of(&["a", "c", "d"]), &of(&["a", "b", "e"]));
        let names: Vec<&str> = merged.iter().map(|anchor| anchor.key.place.as_str()).collect();
        assert_eq!(names, ["a", "d", "e"]);
    }
}
