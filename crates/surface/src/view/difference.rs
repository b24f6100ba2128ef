//! Renders the difference between two texts: by words for users, unified for tools.

use super::{heading, sanitize};
use crate::json::JsonAnswer;
use midstride_core::format::document::Document;
use midstride_core::handoff::anchor;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use std::borrow::Cow;

/// Two revisions compared.
#[derive(Serialize)]
pub struct DifferenceJson {
    from: String,
    to: String,
    differs: bool,
    unified: String,
}

impl JsonAnswer for DifferenceJson {
    const SCHEMA: &'static str = "diff/1";
}

/// The number of context lines, the same as in git.
const CONTEXT: usize = 3;

/// The JSON for a comparison of two texts and their names.
pub fn json(old: &str, new: &str, names: (String, String)) -> DifferenceJson {
    let unified = unified_diff(old, new, &names);
    DifferenceJson { from: names.0, to: names.1, differs: old != new, unified }
}

/// A unified diff, as git prints it.
pub fn unified_diff(old: &str, new: &str, names: &(String, String)) -> String {
    let difference = TextDiff::from_lines(old, new);
    let mut unified = difference.unified_diff();
    unified.context_radius(CONTEXT).header(&names.0, &names.1).to_string()
}

/// The changed lines, with removed words as `[-word-]` and added words as `{+word+}`, so that it is
/// readable without color.
pub fn word_diff(old: &str, new: &str, names: &(String, String)) -> String {
    let mut out = heading(&format!("{} → {}", names.0, names.1));
    let [old, new] = [old, new].map(without_anchors);
    let lines = TextDiff::from_lines(old.as_ref(), new.as_ref());
    for group in lines.grouped_ops(CONTEXT) {
        out.push_str("  …\n");
        for operation in group {
            let before: String =
                operation.old_range().filter_map(|line| lines.old_slice(line)).collect();
            let after: String =
                operation.new_range().filter_map(|line| lines.new_slice(line)).collect();
            out.push_str(&mark_changes(&before, &after));
        }
    }
    out
}

/// Removes anchors, which only programs need.
fn without_anchors(text: &str) -> Cow<'_, str> {
    let plain = anchor::without_anchors(&Document::parse(text.as_bytes()));
    plain.map_or(Cow::Borrowed(text), |plain| Cow::Owned(plain.text().to_owned()))
}

fn mark_changes(before: &str, after: &str) -> String {
    let mut pieces: Vec<(ChangeTag, String)> = Vec::new();
    for change in TextDiff::from_words(before, after).iter_all_changes() {
        match pieces.last_mut() {
            Some((tag, text)) if *tag == change.tag() => text.push_str(change.value()),
            Some(_) | None => pieces.push((change.tag(), change.value().to_owned())),
        }
    }
    let text: String = pieces.iter().map(|(tag, text)| mark_piece(*tag, &sanitize(text))).collect();
    text.split_inclusive('\n').map(|line| format!("  {line}")).collect()
}

/// Marks a run of words. The marks are inside each line, around its visible part.
fn mark_piece(tag: ChangeTag, text: &str) -> String {
    let (style, open, close) = match tag {
        ChangeTag::Equal => return text.to_owned(),
        ChangeTag::Delete => (anstyle::AnsiColor::Red.on_default(), "[-", "-]"),
        ChangeTag::Insert => (anstyle::AnsiColor::Green.on_default(), "{+", "+}"),
    };
    let mark = |line: &str| {
        let seen = line.trim();
        if seen.is_empty() {
            // Removed whitespace needs no mark; the words around it show it.
            return if tag == ChangeTag::Insert { line.to_owned() } else { String::new() };
        }
        let lead = &line[..line.len() - line.trim_start().len()];
        let trail = &line[line.trim_end().len()..];
        format!("{lead}{style}{open}{seen}{close}{style:#}{trail}")
    };
    text.split_inclusive('\n').map(mark).collect()
}
