//! What one document tells about its connections; which others there are is not known here.

use super::Kind;
use crate::format::document::Document;
use crate::format::header::{Dependency, Status};
use crate::handoff::Handoff;
use crate::handoff::citation::{citations, code_blocks, is_ending, statements};
use crate::text::id::HandoffKey;
use crate::text::markdown::BlockKind;
use crate::text::span::{At, Span};
use crate::text::yaml::{Node, Value};
use std::collections::{BTreeMap, BTreeSet};

/// How the path of a document ends.
const ENDING: &str = ".md";

/// What one document tells.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Its key.
    pub key: HandoffKey,
    /// What it is called: its title, else its summary.
    pub title: Option<String>,
    /// Where its life stands; a note says nothing about that.
    pub status: Option<Status>,
    /// Its path, from the root of the project.
    pub path: String,
    /// What its header refers to.
    pub references: Vec<Reference>,
    /// Words of its text that may name another handoff, each once.
    pub words: Vec<Word>,
    /// Files that it cites, each once.
    pub files: Vec<String>,
}

/// What a header refers to.
#[derive(Clone, Debug)]
pub struct Reference {
    /// As what.
    pub kind: Kind,
    /// Whether the other one is the subject of the sentence: that it is upstream, or supersedes.
    pub is_about_the_other: bool,
    /// A path or a name, as it is written.
    pub written: String,
    /// How they are connected, as it is written.
    pub relationship: Option<String>,
    /// The line, from one.
    pub line: usize,
}

impl Reference {
    pub(super) fn mention(word: &Word) -> Self {
        Self {
            kind: Kind::Mentions,
            is_about_the_other: false,
            written: word.text.clone(),
            relationship: None,
            line: word.line,
        }
    }
}

/// A word that may name a handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word, without the dots by which a path goes up.
    pub text: String,
    /// The line where it stands first, from one.
    pub line: usize,
    /// Whether it stands between backquotes: a common word is then meant as a name.
    pub is_marked: bool,
}

impl Word {
    /// Whether it has the form of a path to a document.
    pub(super) fn is_path(&self) -> bool {
        self.text.len() > ENDING.len() && self.text.ends_with(ENDING)
    }

    /// Whether nobody writes it without meaning the name: `market-page-perf`, `feat-042`, but
    /// neither `search` nor `follow-up`.
    pub(super) fn is_distinctive(&self) -> bool {
        let name = self.text.strip_suffix(ENDING).unwrap_or(&self.text);
        let parts = name.split(['-', '_', '.', '/']).filter(|part| !part.is_empty()).count();
        let has_digit = name.contains(|c: char| c.is_ascii_digit());
        name.contains(char::is_alphabetic) && (parts > 2 || (parts == 2 && has_digit))
    }

    fn may_be_a_name(&self) -> bool {
        let is_other_file = || {
            let ending = self.text.rsplit_once('.').map_or("", |(_, ending)| ending);
            self.text.matches('/').count() > 1 || is_ending(ending)
        };
        self.is_path() || ((self.is_marked || self.is_distinctive()) && !is_other_file())
    }
}

impl Facts {
    /// What a handoff tells that lies at a path.
    pub fn of(handoff: &Handoff<'_>, path: String) -> Self {
        let document = handoff.document();
        let files: BTreeSet<String> = citations(document)
            .iter()
            .filter(|citation| !citation.is_folder())
            .map(|citation| without_dots(citation.path))
            // `.map` and `.js` are mostly no files at all.
            .filter(|path| !path.rsplit('/').next().unwrap_or(path).starts_with('.'))
            .map(str::to_owned)
            .collect();
        Self {
            key: handoff.key(),
            title: handoff.title().or(handoff.summary()).map(str::to_owned),
            status: handoff.has_status().then(|| handoff.status()),
            path,
            references: references(handoff),
            words: words(document),
            files: files.into_iter().collect(),
        }
    }
}

fn references(handoff: &Handoff<'_>) -> Vec<Reference> {
    let document = handoff.document();
    let line = |text: At<&str>| document.position(text.at.start).line;
    let dependency = |kind: Kind, dependency: Dependency<'_>| {
        let artifact = dependency.artifact.filter(|artifact| !artifact.value.trim().is_empty())?;
        let relationship = dependency.relationship.map(|text| text.value.trim().to_owned());
        let replaces = kind == Kind::Upstream && relationship.as_deref() == Some("supersedes");
        Some(Reference {
            kind: if replaces { Kind::Supersedes } else { kind },
            is_about_the_other: !replaces,
            written: artifact.value.trim().to_owned(),
            // The kind says it already.
            relationship: relationship.filter(|_| !replaces),
            line: line(artifact),
        })
    };
    let dependencies = handoff.dependencies();
    let upstream = dependencies.upstream.into_iter().filter_map(|d| dependency(Kind::Upstream, d));
    let downstream =
        dependencies.downstream.into_iter().filter_map(|d| dependency(Kind::Downstream, d));
    let successor = handoff.superseded_by().filter(|text| !text.value.trim().is_empty());
    let successor = successor.map(|text| Reference {
        kind: Kind::Supersedes,
        is_about_the_other: true,
        written: text.value.trim().to_owned(),
        relationship: None,
        line: line(text),
    });
    upstream.chain(downstream).chain(successor).collect()
}

/// The words of the header's statements and of the body's prose. History and anchors are neither.
fn words(document: &Document) -> Vec<Word> {
    let mut pieces: Vec<Span> = Vec::new();
    for statement in statements(document) {
        texts_in(statement, &mut pieces);
    }
    pieces.extend(document.sections().iter().map(|section| section.title.at));
    let is_prose = |kind: BlockKind| match kind {
        BlockKind::Paragraph | BlockKind::Item | BlockKind::Table => true,
        BlockKind::Code | BlockKind::Html => false,
    };
    pieces.extend(document.blocks().iter().filter(|b| is_prose(b.kind)).map(|block| block.at));
    let code = code_blocks(document);
    let mut found: BTreeMap<String, Word> = BTreeMap::new();
    for (at, is_marked) in pieces.into_iter().flat_map(|piece| words_in(document.text(), piece)) {
        let text = without_dots(at.of(document.text()));
        let word = Word { text: text.to_owned(), line: 0, is_marked };
        if !word.may_be_a_name() || code.iter().any(|code| code.contains(at)) {
            continue;
        }
        let line = document.position(at.start).line;
        let known = found.entry(text.to_owned()).or_insert(Word { line, ..word });
        known.is_marked |= is_marked;
    }
    found.into_values().collect()
}

fn texts_in(node: &Node, pieces: &mut Vec<Span>) {
    match &node.value {
        Value::Text(_) => pieces.push(node.at),
        Value::List(items) => items.iter().for_each(|item| texts_in(&item.node, pieces)),
        Value::Map(entries) => entries.iter().for_each(|entry| texts_in(&entry.node, pieces)),
        Value::Null | Value::Unreadable(_) => {}
    }
}

/// The words of a piece of text that may be names, and whether each is all that stands between two
/// backquotes.
fn words_in(text: &str, piece: Span) -> Vec<(Span, bool)> {
    let belongs = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let mut out = Vec::new();
    let mut start = piece.start;
    for word in piece.of(text).split(|c: char| !belongs(c)) {
        let end = start + word.len();
        let trimmed = word.trim_end_matches(['.', '-', '/']);
        let before = text.as_bytes()[..start].last();
        // Most words are neither marked nor made of parts: they are passed by at once.
        let has_parts = trimmed.bytes().any(|byte| b"-_./".contains(&byte));
        if has_parts || (before == Some(&b'`') && !trimmed.is_empty()) {
            let behind = text[end..].trim_start_matches(|c: char| c == '@' || c.is_ascii_digit());
            let is_marked = before == Some(&b'`') && behind.starts_with('`');
            out.push((Span::new(start, start + trimmed.len()), is_marked));
        }
        start = end + text[end..].chars().next().map_or(0, char::len_utf8);
    }
    out
}

/// A path without the dots it begins with.
fn without_dots(path: &str) -> &str {
    let mut path = path;
    while let Some(rest) = path.strip_prefix("./").or_else(|| path.strip_prefix("../")) {
        path = rest;
    }
    path
}
