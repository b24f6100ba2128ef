//! Searching: which words a document has and where, what was typed as a query, what of a prompt is
//! worth looking for, and why a document was found.
//!
//! Whatever finds documents, an index or a reading of all of them, asks here what a word is and how
//! a hit ranks, so both give the same answer.

mod match_excerpt;
mod matching;
mod named;
mod query;
mod relevance;

pub use match_excerpt::{MatchExcerpt, match_excerpts};
pub use matching::{Tier, term_zone, tier};
pub use named::candidate_names;
pub use query::{PREFIX_LENGTH_MIN, Query, QueryError, TERMS_MAX};
pub use relevance::{Relevance, ScoredTerm, common_threshold, term_points};

use crate::handoff::Handoff;
use crate::session::checkpoint::{Highlight, HighlightKind, SessionSummary};
use crate::text::redact::CleanText;
use crate::text::words::{FoldedWord, words};
use crate::text::yaml::{YamlNode, YamlValue};

/// Stands between two texts of one zone, so that no phrase reaches from one into the next. No query
/// has it: it is no letter.
const BARRIER: &str = "\u{e000}";

/// Fields that are told apart by filters, or that nobody searches for.
const NOT_SEARCHED: [&str; 9] =
    ["id", "uid", "title", "description", "kind", "status", "created", "updated", "at_commit"];

/// Keys of entries that hold times, texts' ids and the like.
const NOT_SEARCHED_INSIDE: [&str; 5] = ["at", "by", "was", "made", "verb"];

/// Where in a document a word stands, the weightiest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Zone {
    /// In its title, its description or its id.
    Name,
    /// In what its header tells.
    Header,
    /// In its body.
    Body,
}

/// One text of a document, without secrets.
#[derive(Clone, Debug)]
pub struct SearchText {
    /// The field of the header that holds it, or `body`.
    pub field: String,
    /// Where that stands.
    pub zone: Zone,
    /// What it says.
    pub text: String,
    words: Vec<FoldedWord>,
}

impl SearchText {
    /// A text of a field, in which secrets are removed.
    pub fn new(field: &str, zone: Zone, text: &str) -> Self {
        let text = CleanText::redact(text).0.as_str().to_owned();
        Self { field: field.to_owned(), zone, words: words(&text), text }
    }

    /// Its words, folded.
    pub fn words(&self) -> &[FoldedWord] {
        &self.words
    }
}

/// The texts of a handoff that are searched, the weightiest first.
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

/// The texts of a captured session that are searched, the weightiest first.
pub fn session_texts(gist: &SessionSummary) -> Vec<SearchText> {
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
    let mut parts: Vec<SearchText> = gist.items.iter().map(part).collect();
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
            let told = |key: &str| !NOT_SEARCHED_INSIDE.contains(&key);
            for entry in entries.iter().filter(|entry| told(&entry.key.value)) {
                collect_texts(&entry.node, field, parts);
            }
        }
    }
}

/// The words of each zone in a row, as an index takes them.
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
