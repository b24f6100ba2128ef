//! Full-text search: indexed words, queries, prompt terms, and the excerpts that explain a match.
//!
//! Both the index and the full scan use these definitions of words and ranking, so they return the
//! same results.

mod match_excerpt;
mod matching;
mod named;
mod query;
mod relevance;

pub use match_excerpt::{MatchExcerpt, match_excerpts};
pub use matching::{Tier, term_zone, tier};
pub use named::candidate_names;
pub use query::{PREFIX_LENGTH_MIN, Query, QueryError};
pub use relevance::{Relevance, ScoredTerm, common_threshold, term_points};

use crate::handoff::Handoff;
use crate::session::checkpoint::{Highlight, HighlightKind, SessionSummary};
use crate::text::redact::CleanText;
use crate::text::words::{FoldedWord, words};
use crate::text::yaml::{YamlNode, YamlValue};

/// Separates two texts of one zone, so that no phrase matches across them. It is not a letter, so
/// no query contains it.
const BARRIER: &str = "\u{e000}";

/// Header fields that have filters of their own or that are not useful to search.
const NOT_SEARCHED: [&str; 9] =
    ["id", "uid", "title", "description", "kind", "status", "created", "updated", "at_commit"];

/// Keys inside entries that hold times, ids and similar values.
const NOT_SEARCHED_INSIDE: [&str; 5] = ["at", "by", "was", "made", "verb"];

/// The part of a document that contains a word, highest weight first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Zone {
    /// The title, description or id.
    Name,
    /// The other header fields.
    Header,
    /// The body.
    Body,
}

/// One text of a document, with secrets redacted.
#[derive(Clone, Debug)]
pub struct SearchText {
    /// The header field that holds the text, or `body`.
    pub field: String,
    /// The zone of that field.
    pub zone: Zone,
    /// The text.
    pub text: String,
    words: Vec<FoldedWord>,
}

impl SearchText {
    /// Creates a text of a field, with secrets redacted.
    pub fn new(field: &str, zone: Zone, text: &str) -> Self {
        let text = CleanText::redact(text).0.as_str().to_owned();
        Self { field: field.to_owned(), zone, words: words(&text), text }
    }

    /// The words of the text, folded.
    pub fn words(&self) -> &[FoldedWord] {
        &self.words
    }
}

/// The searchable texts of a handoff, highest weight first.
pub fn handoff_texts(handoff: &Handoff<'_>) -> Vec<SearchText> {
    let mut parts = Vec::new();
    let key = handoff.key().to_string();
    let names = [
        ("title", handoff.title()),
        ("description", handoff.description()),
        ("id", Some(key.as_str())),
    ];
    for (field, text) in names {
        parts.extend(text.map(|text| SearchText::new(field, Zone::Name, text)));
    }
    let entries = handoff.header().map(|header| header.fields().entries()).unwrap_or_default();
    for entry in entries.iter().filter(|e| !NOT_SEARCHED.contains(&e.key.value.as_str())) {
        collect_texts(&entry.node, &entry.key.value, &mut parts);
    }
    let document = handoff.document();
    parts.push(SearchText::new("body", Zone::Body, document.body().slice(document.text())));
    parts
}

/// The searchable texts of a captured session, highest weight first.
pub fn session_texts(summary: &SessionSummary) -> Vec<SearchText> {
    const AT_LENGTH: [HighlightKind; 4] = [
        HighlightKind::Report,
        HighlightKind::Remark,
        HighlightKind::Summary,
        HighlightKind::Message,
    ];
    let zone = |kind| {
        if kind == HighlightKind::Goal {
            return Zone::Name;
        }
        if AT_LENGTH.contains(&kind) { Zone::Body } else { Zone::Header }
    };
    let part = |item: &Highlight| {
        let parts = [Some(&item.text), item.detail.as_ref(), item.remark.as_ref()];
        let text = parts.into_iter().flatten().map(String::as_str).collect::<Vec<_>>();
        SearchText::new(item.kind.word(), zone(item.kind), text.join("\n").trim_end())
    };
    let mut parts: Vec<SearchText> = summary.items.iter().map(part).collect();
    parts.sort_by_key(|part| part.zone);
    parts
}

fn collect_texts(node: &YamlNode, field: &str, parts: &mut Vec<SearchText>) {
    match &node.value {
        YamlValue::Null => {}
        YamlValue::Text(text) | YamlValue::Unreadable(text) => {
            parts.push(SearchText::new(field, Zone::Header, text));
        }
        YamlValue::List(items) => {
            for item in items {
                collect_texts(&item.node, field, parts);
            }
        }
        YamlValue::Map(entries) => {
            let is_searched = |key: &str| !NOT_SEARCHED_INSIDE.contains(&key);
            for entry in entries.iter().filter(|entry| is_searched(&entry.key.value)) {
                collect_texts(&entry.node, field, parts);
            }
        }
    }
}

/// The words of each zone as one string, in the form the index stores.
pub fn index_columns(parts: &[SearchText]) -> [String; 3] {
    [Zone::Name, Zone::Header, Zone::Body].map(|zone| {
        let mut column = String::new();
        for part in parts.iter().filter(|part| part.zone == zone) {
            for word in &part.words {
                column.push_str(&word.text);
                column.push(' ');
            }
            column.push_str(BARRIER);
            column.push(' ');
        }
        column
    })
}
