//! How much of a text a page quotes: all of it, or its beginning and its end.

use super::visible::Visible;
use crate::report::{Cuts, ELLIPSIS};
use std::borrow::Cow;
use std::cell::OnceCell;

/// A text of one word is a name: a path that is truncated is another path.
const NAME_LENGTH_MAX: usize = 240;

/// Below this length a quote keeps only its beginning.
const BOTH_ENDS_MIN: usize = 100;

/// The lines of a text that say something: neither empty ones, nor rules between paragraphs or below the
/// head of a table.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let is_rule = |line: &str| line.len() >= 3 && line.chars().all(|c| "-*_=|: ".contains(c));
    let lines = text.lines().map(str::trim_end);
    lines.filter(move |line| !line.trim().is_empty() && !is_rule(line.trim()))
}

/// A line without marks that say nothing: those around strong words and around the row of a table.
/// `**Root cause**` is `Root cause`. Code, and stars that surround no words, are as they were.
pub(super) fn plain(line: &str) -> Cow<'_, str> {
    const MARK: &str = "**";
    let row = line.trim().strip_prefix('|').and_then(|row| row.strip_suffix('|'));
    let line = row.map(str::trim).filter(|row| !row.is_empty()).unwrap_or(line);
    if !line.contains(MARK) {
        return line.into();
    }
    let is_text = |at: &usize| line[..*at].matches('`').count().is_multiple_of(2);
    let marks: Vec<usize> = line.match_indices(MARK).map(|(at, _)| at).filter(is_text).collect();
    let mut plain = String::with_capacity(line.len());
    let mut written = 0;
    for pair in marks.chunks_exact(2) {
        let inside = &line[pair[0] + MARK.len()..pair[1]];
        if !inside.is_empty() && inside.trim() == inside {
            plain.extend([&line[written..pair[0]], inside]);
            written = pair[1] + MARK.len();
        }
    }
    plain.push_str(&line[written..]);
    plain.into()
}

/// Whether a text is a name.
pub(super) fn is_name(text: &str) -> bool {
    text.len() <= NAME_LENGTH_MAX && !text.contains(char::is_whitespace)
}

/// A visible text within a number of characters. A longer one keeps its beginning and its end: what a
/// text is about comes first, and what follows from it comes last.
pub(super) fn within(text: &str, cuts: &OnceCell<Cuts>, characters_max: usize) -> Visible {
    let characters_max = if is_name(text) { NAME_LENGTH_MAX } else { characters_max };
    if characters_max < BOTH_ENDS_MIN || text.chars().nth(characters_max).is_none() {
        return beginning(text, characters_max);
    }
    let short = cuts.get_or_init(|| Cuts::of(text)).shorten(text, characters_max);
    // A very long word leaves little of the text, unless it is cut.
    let is_little = short.chars().count() * 2 < characters_max;
    let start = is_little.then(|| beginning(text, characters_max));
    start.filter(|start| start.text.len() > short.len()).unwrap_or_else(|| cut_to(text, short))
}

/// The beginning of a visible text within a number of characters.
pub(super) fn beginning(text: &str, characters_max: usize) -> Visible {
    if text.chars().nth(characters_max).is_none() {
        return Visible { text: text.to_owned(), cut: 0 };
    }
    let start = before_a_gap(text, characters_max.saturating_sub(ELLIPSIS.len() + 2));
    let before = if start.is_empty() { "" } else { " " };
    cut_to(text, format!("{start}{before}{ELLIPSIS}"))
}

/// What is left of a text, with how much of it is not there.
fn cut_to(text: &str, short: String) -> Visible {
    let kept = short.chars().count().saturating_sub(ELLIPSIS.chars().count());
    Visible { cut: text.chars().count().saturating_sub(kept).max(1), text: short }
}

/// The beginning of a text, up to the end of a word.
fn before_a_gap(text: &str, characters: usize) -> &str {
    let end = text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    if end == text.len() || text[end..].starts_with(char::is_whitespace) {
        return head.trim_end();
    }
    let at = head.rfind(char::is_whitespace).unwrap_or_default();
    // A word as long as half of the room is cut: nothing else would be left. An address that is cut is
    // another address.
    let is_dropped = at * 2 > head.len() || head[at..].contains("://");
    if is_dropped { head[..at].trim_end() } else { head }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, characters_max: usize, expected: &str) {
        let found = within(text, &OnceCell::new(), characters_max);
        assert_eq!(found.text, expected);
        assert_eq!(found.cut == 0, text == expected, "a truncation is counted");
    }

    #[test]
    fn a_text_that_fits_is_whole() {
        check("Warm the cache.", 40, "Warm the cache.");
        check("Warm the cache.\n\nThen measure.", 40, "Warm the cache.\n\nThen measure.");
    }

    #[test]
    fn a_short_quote_keeps_its_beginning() {
        let text = "one two three four five six seven eight nine ten eleven twelve";
        check(text, 30, "one two three four five […]");
        check(&format!("x {}", "y".repeat(300)), 20, "x yyyyyyyyyyy […]");
    }

    #[test]
    fn a_longer_quote_keeps_its_end_too() {
        let text = format!("The purge runs hourly. {}So warm it first.", "It logs. ".repeat(40));
        let found = within(&text, &OnceCell::new(), 140).text;
        assert!(found.starts_with("The purge runs hourly. It logs."), "{found}");
        assert!(found.contains(" […] "), "{found}");
        assert!(found.ends_with("So warm it first."), "{found}");
        assert!(found.chars().count() <= 140, "{found}");
    }

    #[test]
    fn an_address_is_whole_or_not_there() {
        let address = format!("https://example.com/{}", "run/".repeat(40));
        check(&format!("Why does it fail? {address}"), 120, "Why does it fail? […]");
        check(&format!("{address} Why?"), 130, "[…] Why?");
        let between = format!("Look at {address} and say why the job fails on every second day.");
        let found = within(&between, &OnceCell::new(), 130).text;
        assert_eq!(found, "Look at […] and say why the job fails on every second day.");
    }

    #[test]
    fn a_beginning_has_no_end() {
        let text = "# Plan\nMove the lock into the queue, and drain it. Then the details follow.";
        assert_eq!(beginning(text, 50).text, "# Plan\nMove the lock into the queue, and […]");
        assert_eq!(beginning(text, 500).text, text);
    }

    #[test]
    fn marks_that_say_nothing_are_gone() {
        let check = |text: &str, expected: &str| assert_eq!(plain(text), expected);
        check("**Root cause**: `drain()` waits.", "Root cause: `drain()` waits.");
        check("1. **`page.rs`** — **never** cut", "1. `page.rs` — never cut");
        check(
            "It takes `**kwargs`, and 2 ** 3 is 2 ** 3.",
            "It takes `**kwargs`, and 2 ** 3 is 2 ** 3.",
        );
        check("**open", "**open");
        check("| a.rs | lock |", "a.rs | lock");
        check("a || b", "a || b");
    }

    #[test]
    fn a_rule_below_the_head_of_a_table_says_nothing() {
        let table = "| File | Change |\n|------|:-----:|\n| a.rs | lock |";
        let lines: Vec<&str> = lines(table).collect();
        assert_eq!(lines, ["| File | Change |", "| a.rs | lock |"]);
    }

    #[test]
    fn a_name_is_whole() {
        let path = format!("src/{}/page.rs", "deep/".repeat(30));
        check(&path, 70, &path);
    }
}
