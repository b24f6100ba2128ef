//! Reads the links of one document, without knowing which other documents exist.

use super::EdgeKind;
use crate::format::document::Document;
use crate::format::header::{Dependency, Status};
use crate::handoff::Handoff;
use crate::handoff::citation::{citations, code_blocks, is_known_extension, statements};
use crate::text::id::HandoffKey;
use crate::text::markdown::MarkdownBlockKind;
use crate::text::span::{Span, Spanned};
use crate::text::yaml::{YamlNode, YamlValue};
use std::collections::{BTreeMap, BTreeSet};

/// The file extension of documents.
const EXTENSION: &str = ".md";

/// What one document says about itself and its links.
#[derive(Clone, Debug)]
pub struct LinkFacts {
    /// The handoff's key.
    pub key: HandoffKey,
    /// The title, or the summary if it has no title.
    pub title: Option<String>,
    /// The status; `None` for a note.
    pub status: Option<Status>,
    /// The path, relative to the project root.
    pub path: String,
    /// The references in its header.
    pub references: Vec<Reference>,
    /// Words in its text that may name another handoff, each once.
    pub candidates: Vec<NameCandidate>,
    /// Files that it cites, each once.
    pub files: Vec<String>,
}

/// A reference in a header.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The kind of reference.
    pub kind: EdgeKind,
    /// Whether the referenced document is the `from` of the edge.
    pub is_reversed: bool,
    /// The path or name, as written.
    pub written: String,
    /// The relationship, as written.
    pub relationship: Option<String>,
    /// The line, counted from one.
    pub line: usize,
}

impl Reference {
    pub(super) fn from_candidate(word: &NameCandidate) -> Self {
        Self {
            kind: EdgeKind::Mentions,
            is_reversed: false,
            written: word.text.clone(),
            relationship: None,
            line: word.line,
        }
    }
}

/// A word that may name a handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameCandidate {
    /// The word, without a leading `./` or `../`.
    pub text: String,
    /// The line where it first occurs, counted from one.
    pub line: usize,
    /// Whether it is in backquotes. Then even a common word counts as a name.
    pub is_backquoted: bool,
}

impl NameCandidate {
    /// Whether it has the form of a path to a document.
    pub(super) fn is_path(&self) -> bool {
        self.text.len() > EXTENSION.len() && self.text.ends_with(EXTENSION)
    }

    /// Whether the word is unlikely to be ordinary prose: `market-page-perf` and `feat-042`, but
    /// neither `search` nor `follow-up`.
    pub(super) fn is_distinctive(&self) -> bool {
        let name = self.text.strip_suffix(EXTENSION).unwrap_or(&self.text);
        let parts = name.split(['-', '_', '.', '/']).filter(|part| !part.is_empty()).count();
        let has_digit = name.contains(|c: char| c.is_ascii_digit());
        name.contains(char::is_alphabetic) && (parts > 2 || (parts == 2 && has_digit))
    }

    pub(super) fn may_be_name(&self) -> bool {
        let is_other_file = || {
            let ending = self.text.rsplit_once('.').map_or("", |(_, ending)| ending);
            self.text.matches('/').count() > 1 || is_known_extension(ending)
        };
        self.is_path() || ((self.is_backquoted || self.is_distinctive()) && !is_other_file())
    }
}

impl LinkFacts {
    /// Reads the links of the handoff at this path.
    pub fn from_handoff(handoff: &Handoff<'_>, path: String) -> Self {
        let document = handoff.document();
        let files: BTreeSet<String> = citations(document)
            .iter()
            .filter(|citation| !citation.is_folder() && !citation.is_in_code())
            .map(|citation| without_dots(&citation.path))
            // `.map` and `.js` are usually method names and extensions, not files.
            .filter(|path| !path.rsplit('/').next().unwrap_or(path).starts_with('.'))
            .map(str::to_owned)
            .collect();
        Self {
            key: handoff.key(),
            title: handoff.title().or(handoff.summary()).map(str::to_owned),
            status: handoff.has_status().then(|| handoff.status()),
            path,
            references: header_references(handoff),
            candidates: name_candidates(document),
            files: files.into_iter().collect(),
        }
    }
}

fn header_references(handoff: &Handoff<'_>) -> Vec<Reference> {
    let document = handoff.document();
    let line = |text: Spanned<&str>| document.position(text.at.start).line;
    let dependency = |kind: EdgeKind, dependency: Dependency<'_>| {
        let artifact = dependency.artifact.filter(|artifact| !artifact.value.trim().is_empty())?;
        let relationship = dependency.relationship.map(|text| text.value.trim().to_owned());
        let supersedes =
            kind == EdgeKind::Upstream && relationship.as_deref() == Some("supersedes");
        Some(Reference {
            kind: if supersedes { EdgeKind::Supersedes } else { kind },
            is_reversed: !supersedes,
            written: artifact.value.trim().to_owned(),
            // The kind `Supersedes` already says it.
            relationship: relationship.filter(|_| !supersedes),
            line: line(artifact),
        })
    };
    let dependencies = handoff.dependencies();
    let upstream =
        dependencies.upstream.into_iter().filter_map(|d| dependency(EdgeKind::Upstream, d));
    let downstream =
        dependencies.downstream.into_iter().filter_map(|d| dependency(EdgeKind::Downstream, d));
    let successor = handoff.superseded_by().filter(|text| !text.value.trim().is_empty());
    let successor = successor.map(|text| Reference {
        kind: EdgeKind::Supersedes,
        is_reversed: true,
        written: text.value.trim().to_owned(),
        relationship: None,
        line: line(text),
    });
    upstream.chain(downstream).chain(successor).collect()
}

/// Candidate words in the header's statements and the body's prose, not in history or anchors.
fn name_candidates(document: &Document) -> Vec<NameCandidate> {
    let mut pieces: Vec<Span> = Vec::new();
    for statement in statements(document) {
        collect_text_spans(statement, &mut pieces);
    }
    pieces.extend(document.sections().iter().map(|section| section.title.at));
    let is_prose = |kind: MarkdownBlockKind| match kind {
        MarkdownBlockKind::Paragraph | MarkdownBlockKind::Item | MarkdownBlockKind::Table => true,
        MarkdownBlockKind::Code | MarkdownBlockKind::Html => false,
    };
    pieces.extend(document.blocks().iter().filter(|b| is_prose(b.kind)).map(|block| block.at));
    let code = code_blocks(document);
    let mut found: BTreeMap<String, NameCandidate> = BTreeMap::new();
    for (at, is_marked) in
        pieces.into_iter().flat_map(|piece| candidate_spans(document.text(), piece))
    {
        let text = without_dots(at.slice(document.text()));
        let word = NameCandidate { text: text.to_owned(), line: 0, is_backquoted: is_marked };
        if !word.may_be_name() || code.iter().any(|code| code.contains(at)) {
            continue;
        }
        let line = document.position(at.start).line;
        let known = found.entry(text.to_owned()).or_insert(NameCandidate { line, ..word });
        known.is_backquoted |= is_marked;
    }
    found.into_values().collect()
}

fn collect_text_spans(node: &YamlNode, pieces: &mut Vec<Span>) {
    match &node.value {
        YamlValue::Text(_) => pieces.push(node.at),
        YamlValue::List(items) => {
            for item in items {
                collect_text_spans(&item.node, pieces);
            }
        }
        YamlValue::Map(entries) => {
            for entry in entries {
                collect_text_spans(&entry.node, pieces);
            }
        }
        YamlValue::Null | YamlValue::Unreadable(_) => {}
    }
}

/// The words in a piece of text that may be names, and whether each fills a pair of backquotes.
fn candidate_spans(text: &str, piece: Span) -> Vec<(Span, bool)> {
    let belongs = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let mut out = Vec::new();
    let mut start = piece.start;
    for word in piece.slice(text).split(|c: char| !belongs(c)) {
        let end = start + word.len();
        let trimmed = word.trim_end_matches(['.', '-', '/']);
        let before = text.as_bytes()[..start].last();
        // Most words are neither in backquotes nor have parts, so skip them early.
        let has_parts = trimmed.bytes().any(|byte| b"-_./".contains(&byte));
        if has_parts || (before == Some(&b'`') && !trimmed.is_empty()) {
            let after = text[end..].trim_start_matches(|c: char| c == '@' || c.is_ascii_digit());
            let is_marked = before == Some(&b'`') && after.starts_with('`');
            out.push((Span::new(start, start + trimmed.len()), is_marked));
        }
        start = end + text[end..].chars().next().map_or(0, char::len_utf8);
    }
    out
}

/// A path without leading `./` and `../`.
fn without_dots(path: &str) -> &str {
    let mut path = path;
    while let Some(rest) = path.strip_prefix("./").or_else(|| path.strip_prefix("../")) {
        path = rest;
    }
    path
}
