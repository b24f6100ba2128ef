//! Anchors: what stood at the places that a document names when it named them.
//!
//! They lie in a comment at the end of the body, a line each, sorted. An anchor belongs to a place
//! and to what is said about it: who changes the statement names the place anew. Line numbers are
//! no part of the statement, so that bringing them up to date changes nothing else.

use crate::format::document::Document;
use crate::handoff::citation::{Citation, LineRange, citations};
use crate::text::edit::Edit;
use crate::text::markdown::MarkdownBlockKind;
use crate::text::span::Span;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// What an anchor belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnchorKey {
    /// The place as it is written.
    pub place: String,
    /// The hash of what is said about it.
    pub statement: String,
}

/// What stood at a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnchorTarget {
    /// There was no such place.
    Missing,
    /// A folder.
    Folder,
    /// A file.
    File {
        /// The id of its text, where git can tell it.
        blob: Option<String>,
        /// The lines that were named.
        lines: Option<CitedLines>,
        /// Whether other lines of the file said the same.
        has_twin: bool,
    },
}

/// Lines that can be found again without their text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CitedLines {
    /// The hash of the lines.
    pub text: u64,
    /// The hash of the lines around them, which tells equal lines apart.
    pub near: u64,
}

/// One anchor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Anchor {
    /// What it belongs to.
    pub key: AnchorKey,
    /// Where the place was found, if not where it is written.
    pub path: Option<String>,
    /// What stood there.
    pub target: AnchorTarget,
}

/// The lines of a file, each as its hash; the ends of lines do not count.
#[derive(Clone, Debug)]
pub struct HashedLines(Vec<u64>);

/// Spreads the hashes of lines over the hash of all of them; any odd number does.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;
/// So many lines before and behind tell equal lines apart.
const CONTEXT_LINES: usize = 2;

impl HashedLines {
    /// The lines of a text.
    pub fn new(text: &str) -> Self {
        Self(text.lines().map(hash_line).collect())
    }

    /// Lines as they can be found again; `None` where there are not so many.
    pub fn cited(&self, lines: LineRange) -> Option<CitedLines> {
        let start = lines.first.checked_sub(1)?;
        let behind = self.0.get(lines.last..)?;
        let text = combine_hashes(self.0.get(start..lines.last)?);
        let before = &self.0[start.saturating_sub(CONTEXT_LINES)..start];
        let near =
            combine_hashes(&[before, &[0], &behind[..behind.len().min(CONTEXT_LINES)]].concat());
        Some(CitedLines { text, near })
    }

    /// The same for lines of a text of which no more is needed.
    pub fn cited_in(text: &str, lines: LineRange) -> Option<CitedLines> {
        let skipped = lines.first.checked_sub(1)?.saturating_sub(CONTEXT_LINES);
        let wanted = text.lines().skip(skipped).take(lines.last + CONTEXT_LINES - skipped);
        let seen = Self(wanted.map(hash_line).collect());
        seen.cited(LineRange { first: lines.first - skipped, last: lines.last - skipped })
    }

    /// Where `count` lines of this hash stand, counted from one.
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
            let gone = lines[first - 1].wrapping_mul(leading);
            hash = hash.wrapping_sub(gone).wrapping_mul(BASE).wrapping_add(*next);
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

/// The citations of a document, each with what its anchor belongs to.
pub fn keyed_citations(document: &Document) -> Vec<(AnchorKey, Citation<'_>)> {
    let all = citations(document);
    let mut statements: BTreeMap<Span, String> = BTreeMap::new();
    for citation in &all {
        statements
            .entry(citation.statement)
            .or_insert_with(|| statement_hash(document.text(), citation.statement, &all));
    }
    let key = |citation: &Citation<'_>| AnchorKey {
        place: citation.written.value.to_owned(),
        statement: statements[&citation.statement].clone(),
    };
    all.iter().map(|citation| (key(citation), citation.clone())).collect()
}

/// The hash of the words of a statement, without the numbers of lines: quotes, bullets and breaks
/// say nothing about the place.
fn statement_hash(text: &str, statement: Span, all: &[Citation<'_>]) -> String {
    let mut said = String::new();
    let mut from = statement.start;
    for citation in all.iter().filter(|citation| statement.contains(citation.written.at)) {
        let path_end = citation.written.at.start + citation.path.len();
        said.push_str(Span::new(from, path_end).slice(text));
        from = citation.written.at.end;
    }
    said.push_str(Span::new(from, statement.end).slice(text));
    let words = said.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    format!("{:012x}", short_hash(words.join(" ").as_bytes()) >> 16)
}

/// How the comment begins; the number is the version of its lines.
const BEGIN: &str = "<!-- midstride:anchors ";
const VERSION: &str = "1";
const END: &str = "-->";
/// Between the place and where it was found.
const FOUND_AT: &str = " = ";
const NOTHING: &str = "nothing";
const FOLDER: &str = "folder";
const UNKNOWN: &str = "-";
/// Behind lines that stood in the file more than once.
const TWIN: &str = "/twin";

/// The anchors of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anchors {
    at: Option<Span>,
    /// A newer midstride wrote them; they are left alone.
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

    /// Every anchor.
    pub fn all(&self) -> impl Iterator<Item = &Anchor> {
        self.list.iter()
    }

    /// The anchor of a place in a statement.
    pub fn find(&self, key: &AnchorKey) -> Option<&Anchor> {
        self.list.iter().find(|anchor| anchor.key == *key)
    }

    /// Where they stand.
    pub fn at(&self) -> Option<Span> {
        self.at
    }

    /// The edit that gives a document these anchors and no others; `None` where it has them.
    pub fn replace(&self, document: &Document, with: &BTreeSet<Anchor>) -> Option<Edit> {
        // An empty comment is none.
        let is_right = self.list == *with && self.at.is_some() != with.is_empty();
        if self.is_newer || is_right {
            return None;
        }
        let at = self.at.unwrap_or(Span::empty(document.body().end));
        let before = &document.text()[document.body().start..at.start];
        Some(Edit::Body(at, render_comment(with, before, document.line_break())))
    }
}

/// A document without its anchors, for whoever compares what is said; `None` where it has none, or
/// a newer midstride wrote them.
pub fn without_anchors(document: &Document) -> Option<Document> {
    let edit = Anchors::from_document(document).replace(document, &BTreeSet::new())?;
    document.edit(&[edit]).ok().map(|(document, _)| document)
}

/// A text with anchors behind it.
pub fn append_anchors(text: &str, anchors: &BTreeSet<Anchor>, line_break: &str) -> String {
    format!("{text}{}", render_comment(anchors, text, line_break))
}

/// The anchors of two texts of one handoff: what either added stays, what either dropped goes.
pub fn merge_anchors(base: &Anchors, one: &Anchors, other: &Anchors) -> BTreeSet<Anchor> {
    let (one, other, base) = (&one.list, &other.list, &base.list);
    let kept = one.intersection(other);
    kept.chain(one.difference(base)).chain(other.difference(base)).cloned().collect()
}

/// The comment as it is written behind a text.
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
    let stood = match &anchor.target {
        AnchorTarget::Missing => NOTHING.to_owned(),
        AnchorTarget::Folder => FOLDER.to_owned(),
        AnchorTarget::File { blob, lines, has_twin } => {
            let blob = blob.as_deref().unwrap_or(UNKNOWN);
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
    format!("{statement} {stood} {place}{}", path.unwrap_or_default())
}

fn parse_line(line: &str) -> Option<Anchor> {
    let (statement, rest) = line.trim().split_once(' ')?;
    let (stood, place) = rest.split_once(' ')?;
    let (place, path) = match place.split_once(FOUND_AT) {
        Some((place, path)) => (place, Some(path.to_owned())),
        None => (place, None),
    };
    let key = AnchorKey { place: place.to_owned(), statement: statement.to_owned() };
    Some(Anchor { key, path, target: parse_target(stood)? })
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
    Some(AnchorTarget::File { blob: blob.map(str::to_owned), lines, has_twin })
}

/// Whether a place can be written into a line of the comment and read back.
pub fn can_be_stored(place: &str) -> bool {
    !place.contains(END) && !place.contains(FOUND_AT) && !place.contains(['\n', '\r'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchor(place: &str, stood: AnchorTarget) -> Anchor {
        let key = AnchorKey { place: place.into(), statement: "0123456789ab".into() };
        Anchor { key, path: None, target: stood }
    }

    fn file(blob: Option<&str>, lines: Option<CitedLines>, has_twin: bool) -> AnchorTarget {
        AnchorTarget::File { blob: blob.map(str::to_owned), lines, has_twin }
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
    fn anchors_read_back_as_they_were_written() {
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
    fn lines_are_found_again_wherever_they_stand() {
        let text = "one\ntwo\nthree\nfour\none \ntwo\t\n";
        let lines = HashedLines::new(text);
        let cited = lines.cited(LineRange { first: 1, last: 2 }).unwrap();
        let places = lines.find_all(cited.text, 2);
        assert_eq!(places.iter().map(|lines| lines.first).collect::<Vec<_>>(), [1, 5]);
        assert_ne!(lines.cited(places[1]).unwrap().near, cited.near);
        assert_eq!(lines.cited(LineRange { first: 6, last: 7 }), None);
        for first in 1..=7 {
            for last in first..=7 {
                let range = LineRange { first, last };
                assert_eq!(HashedLines::cited_in(text, range), lines.cited(range), "{range}");
            }
        }
        assert!(lines.find_all(cited.text, 7).is_empty());
        assert!(lines.find_all(cited.text, 0).is_empty());
    }

    #[test]
    fn what_either_side_did_to_the_anchors_is_merged() {
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
