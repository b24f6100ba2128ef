//! Splits a document into statements: header entries, paragraphs, list items with what is below
//! them, table rows, and code blocks.

use super::words::{is_failing, is_reverting, key_words, stems};
use crate::format::header::StartupKind;
use crate::format::section::SectionMeaning;
use crate::handoff::Handoff;
use crate::text::markdown::MarkdownBlockKind;
use crate::text::span::{Span, Spanned};
use crate::text::yaml::YamlNode;
use std::collections::{BTreeSet, HashSet};

/// Header fields that hold prose.
const PROSE: [&str; 3] = ["title", "description", "context_summary"];
/// Separates a heading from the text below it, so that no sequence of words spans both.
const GAP: &str = "";

/// The kind of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatementKind {
    /// Running text.
    Prose,
    /// An entry of a list that has a meaning: a constraint, a decision, a question …
    Entry,
    /// An entry about a problem that occurred or will occur.
    Trouble,
    /// Code, which names things but does not explain them.
    Code,
}

/// A statement of a document.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// Its position in the document.
    pub(super) at: Span,
    /// Its kind.
    pub(super) kind: StatementKind,
    /// Whether it says that something failed.
    pub(super) is_failing: bool,
    /// Whether it says that something was reverted.
    pub(super) is_reverting: bool,
    /// Its stemmed words in order, after those of the heading above it.
    words: Vec<String>,
    set: HashSet<String>,
    /// Its own key words, without those of the heading.
    pub(super) keys: BTreeSet<String>,
}

impl Statement {
    fn new(kind: StatementKind, at: Span, heading: &str, parts: &[&str]) -> Self {
        let mut words = stems(heading);
        for part in parts {
            words.push(GAP.to_owned());
            words.extend(stems(part));
        }
        Self {
            at,
            kind,
            is_failing: words.iter().any(|word| is_failing(word)),
            is_reverting: words.iter().any(|word| is_reverting(word)),
            set: words.iter().cloned().collect(),
            keys: parts.iter().flat_map(|part| key_words(part)).collect(),
            words,
        }
    }

    /// Whether it contains a word.
    pub(super) fn has(&self, word: &str) -> bool {
        self.set.contains(word)
    }

    /// Whether it contains these words in sequence.
    pub(super) fn has_row(&self, row: &[String]) -> bool {
        match row {
            [] => false,
            [one] => self.has(one),
            [first, ..] => self.has(first) && self.words.windows(row.len()).any(|had| had == row),
        }
    }
}

/// Returns all statements of a document.
pub(super) fn all_statements(handoff: &Handoff<'_>) -> Vec<Statement> {
    let mut found = Vec::new();
    add_header_statements(handoff, &mut found);
    add_body_statements(handoff, &mut found);
    found
}

fn add_header_statements(handoff: &Handoff<'_>, found: &mut Vec<Statement>) {
    let mut say = |place, at, parts: &[Option<Spanned<&str>>]| {
        let parts: Vec<&str> = parts.iter().flatten().map(|part| part.value).collect();
        found.push(Statement::new(place, at, "", &parts));
    };
    for one in handoff.wrong_turns() {
        say(StatementKind::Trouble, one.at, &[one.tried, one.why_wrong, one.replaced_by]);
    }
    for one in handoff.landmines() {
        say(StatementKind::Trouble, one.at, &[Some(one)]);
    }
    for one in handoff.decisions() {
        let alternatives = one.alternatives.iter().copied().map(Some);
        let parts: Vec<_> = [one.decision, one.rationale].into_iter().chain(alternatives).collect();
        say(StatementKind::Entry, one.at, &parts);
    }
    for one in handoff.questions() {
        say(StatementKind::Entry, one.at, &[one.question, one.context, one.answer]);
    }
    for one in handoff.deviations() {
        let Some(at) = one.deviation.map(|text| text.at) else { continue };
        say(StatementKind::Entry, at, &[one.deviation, one.reason, one.impact]);
    }
    for one in handoff.assumptions() {
        say(StatementKind::Entry, one.at, &[one.assumption]);
    }
    // midstride itself lists the skills, documents, and tasks to restore.
    let boot = handoff.node("boot").and_then(|boot| boot.get(StartupKind::Constraint.key()));
    for one in boot.into_iter().flat_map(YamlNode::items).filter_map(YamlNode::text) {
        say(StatementKind::Entry, one.at, &[Some(one)]);
    }
    let Some(header) = handoff.header() else { return };
    for field in PROSE.iter().filter_map(|name| header.text(name)) {
        say(StatementKind::Prose, field.at, &[Some(field)]);
    }
}

fn add_body_statements(handoff: &Handoff<'_>, found: &mut Vec<Statement>) {
    let document = handoff.document();
    let text = document.text();
    for block in document.blocks() {
        let section = document.sections().iter().find(|section| section.own.contains(block.at));
        let heading = section.map_or("", |section| section.title.value.as_str());
        let place = match section.and_then(|section| section.meaning) {
            Some(SectionMeaning::WrongTurns | SectionMeaning::RootCauses) => StatementKind::Trouble,
            _ if block.kind == MarkdownBlockKind::Item => StatementKind::Entry,
            _ => StatementKind::Prose,
        };
        match block.kind {
            MarkdownBlockKind::Paragraph | MarkdownBlockKind::Item => {
                found.push(Statement::new(place, block.at, heading, &[block.at.slice(text)]));
            }
            MarkdownBlockKind::Code => {
                found.push(Statement::new(
                    StatementKind::Code,
                    block.at,
                    "",
                    &[block.at.slice(text)],
                ));
            }
            MarkdownBlockKind::Table => {
                for (at, row) in rows(text, block.at) {
                    found.push(Statement::new(place, at, heading, &[row]));
                }
            }
            MarkdownBlockKind::Html => {}
        }
    }
}

/// Returns the rows of a table, without the separator between its head and body.
fn rows(text: &str, table: Span) -> impl Iterator<Item = (Span, &str)> {
    let mut next = table.start;
    let lines = table.slice(text).split_inclusive('\n').map(move |line| {
        let start = next;
        next += line.len();
        let row = line.trim_end();
        (Span::new(start, start + row.len()), row)
    });
    lines.filter(|(_, row)| row.contains(char::is_alphanumeric))
}
