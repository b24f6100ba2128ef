//! Shortens a text for quoting on a page: all of it, or its beginning and its end.

use super::visible::VisibleText;
use crate::session::report::{CutPoints, ELLIPSIS};
use std::borrow::Cow;
use std::cell::OnceCell;

/// Maximum length of a name, which is a text of one word. Names are not shortened, because a
/// truncated path is a different path.
const NAME_LENGTH_MAX: usize = 240;

/// Minimum length of a quote that keeps both its beginning and its end.
const BOTH_ENDS_MIN: usize = 100;

/// The lines of a text with content: no empty lines, no rules between paragraphs or below the head
/// of a table.
pub(super) fn content_lines(text: &str) -> impl Iterator<Item = &str> {
    let is_rule = |line: &str| line.len() >= 3 && line.chars().all(|c| "-*_=|: ".contains(c));
    let lines = text.lines().map(str::trim_end);
    lines.filter(move |line| !line.trim().is_empty() && !is_rule(line.trim()))
}

/// The lines of a text with content, without markup. Code is unchanged.
pub(super) fn plain_text(text: &str) -> String {
    let mut is_code = false;
    let plain = |line| {
        let is_fence = str::trim_start(line).starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence { Cow::Borrowed(line) } else { strip_markup(line) }
    };
    content_lines(text).map(plain).collect::<Vec<_>>().join("\n")
}

/// Removes the markers around strong text and around a table row. `**Root cause**` becomes `Root
/// cause`; `2**3`, `src/**/*.rs` and code are unchanged.
pub(super) fn strip_markup(line: &str) -> Cow<'_, str> {
    let row = line.trim().strip_prefix('|').and_then(|row| row.strip_suffix('|'));
    let line = row.filter(|row| row.contains(" | ")).map_or(line, str::trim);
    if !line.contains(STRONG) {
        return line.into();
    }
    let (mut plain, mut written, mut opened) = (String::with_capacity(line.len()), 0, None);
    for (at, is_opening) in strong_marks(line) {
        match opened.take() {
            None if is_opening => opened = Some(at),
            Some(start) if !is_opening => {
                plain.extend([&line[written..start], &line[start + STRONG.len()..at]]);
                written = at + STRONG.len();
            }
            None | Some(_) => {}
        }
    }
    plain.push_str(&line[written..]);
    plain.into()
}

const STRONG: &str = "**";

/// The positions of strong markers outside of code and whether each one opens. A marker touches a
/// word on one side, and a space, a bracket or punctuation on the other.
fn strong_marks(line: &str) -> Vec<(usize, bool)> {
    let is_outside = |c: Option<char>| {
        c.is_none_or(|c| c.is_whitespace() || "()[]{}\"'“”‘’.,;:!?—–-|>".contains(c))
    };
    let is_word = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace() && c != '*' && c != '/');
    let mut is_code = false;
    let mut found = Vec::new();
    for (at, c) in line.char_indices() {
        is_code ^= c == '`';
        if is_code || !line[at..].starts_with(STRONG) {
            continue;
        }
        let before = line[..at].chars().next_back();
        let after = line[at + STRONG.len()..].chars().next();
        match (is_outside(before) && is_word(after), is_word(before) && is_outside(after)) {
            (true, false) => found.push((at, true)),
            (false, true) => found.push((at, false)),
            // Between two quotes or brackets it can be either.
            (true, true) => {
                let is_opening = found.last().is_none_or(|(_, is_opening)| !is_opening);
                found.push((at, is_opening));
            }
            (false, false) => {}
        }
    }
    found
}

/// Whether a text is a name.
pub(super) fn is_name(text: &str) -> bool {
    text.len() <= NAME_LENGTH_MAX && !text.contains(char::is_whitespace)
}

/// Shortens a visible text to a number of characters. It keeps the beginning, which says what the
/// text is about, and the end, which says what follows from it.
pub(super) fn shorten(
    text: &str,
    cuts: &OnceCell<CutPoints>,
    characters_max: usize,
) -> VisibleText {
    let characters_max = if is_name(text) { NAME_LENGTH_MAX } else { characters_max };
    if characters_max < BOTH_ENDS_MIN || text.chars().nth(characters_max).is_none() {
        return truncate(text, characters_max);
    }
    let short = cuts.get_or_init(|| CutPoints::find(text)).shorten(text, characters_max);
    // A very long word leaves little of the text unless the word itself is cut.
    let is_little = short.chars().count() * 2 < characters_max;
    let start = is_little.then(|| truncate(text, characters_max));
    start
        .filter(|start| start.text.len() > short.len())
        .unwrap_or_else(|| with_truncation_count(text, short))
}

/// The beginning of a visible text within a number of characters.
pub(super) fn truncate(text: &str, characters_max: usize) -> VisibleText {
    if text.chars().nth(characters_max).is_none() {
        return VisibleText { text: text.to_owned(), characters_truncated: 0 };
    }
    let start = cut_at_word(text, characters_max.saturating_sub(ELLIPSIS.len() + 2));
    let before = if start.is_empty() { "" } else { " " };
    with_truncation_count(text, format!("{start}{before}{ELLIPSIS}"))
}

/// A shortened text with the number of characters that were removed.
fn with_truncation_count(text: &str, short: String) -> VisibleText {
    let kept = short.chars().count().saturating_sub(ELLIPSIS.chars().count());
    VisibleText {
        characters_truncated: text.chars().count().saturating_sub(kept).max(1),
        text: short,
    }
}

/// The beginning of a text, cut after a word.
fn cut_at_word(text: &str, characters: usize) -> &str {
    let end = text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    if end == text.len() || text[end..].starts_with(char::is_whitespace) {
        return head.trim_end();
    }
    let at = head.rfind(char::is_whitespace).unwrap_or_default();
    // Cut inside a word that takes at least half of the length, because little else would remain.
    // Never cut an address: the result would be a different address.
    let is_dropped = at * 2 > head.len() || head[at..].contains("://");
    if is_dropped { head[..at].trim_end() } else { head }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, characters_max: usize, expected: &str) {
        let found = shorten(text, &OnceCell::new(), characters_max);
        assert_eq!(found.text, expected);
        assert_eq!(found.characters_truncated == 0, text == expected, "a truncation is counted");
    }

    #[test]
    fn a_text_that_fits_is_unchanged() {
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
        let found = shorten(&text, &OnceCell::new(), 140).text;
        assert!(found.starts_with("The purge runs hourly. It logs."), "{found}");
        assert!(found.contains(" […] "), "{found}");
        assert!(found.ends_with("So warm it first."), "{found}");
        assert!(found.chars().count() <= 140, "{found}");
    }

    #[test]
    fn an_address_is_never_cut() {
        let address = format!("https://example.com/{}", "run/".repeat(40));
        check(&format!("Why does it fail? {address}"), 120, "Why does it fail? […]");
        check(&format!("{address} Why?"), 130, "[…] Why?");
        let between = format!("Look at {address} and say why the job fails on every second day.");
        let found = shorten(&between, &OnceCell::new(), 130).text;
        assert_eq!(found, "Look at […] and say why the job fails on every second day.");
    }

    #[test]
    fn truncating_keeps_only_the_beginning() {
        let text = "# Plan\nMove the lock into the queue, and drain it. Then the details follow.";
        assert_eq!(truncate(text, 50).text, "# Plan\nMove the lock into the queue, and […]");
        assert_eq!(truncate(text, 500).text, text);
    }

    #[test]
    fn markup_is_removed_outside_of_code() {
        let check = |text: &str, expected: &str| assert_eq!(strip_markup(text), expected);
        check("**Root cause**: `drain()` waits.", "Root cause: `drain()` waits.");
        check("1. **`page.rs`** — **never** cut", "1. `page.rs` — never cut");
        check(
            "It takes `**kwargs`, and 2 ** 3 is 2 ** 3.",
            "It takes `**kwargs`, and 2 ** 3 is 2 ** 3.",
        );
        check("**open", "**open");
        check("| a.rs | lock |", "a.rs | lock");
        for text in
            ["a || b", "|x - y|", "a**2 + b**2 = c**2", "src/**/*.ts,test/**/*.ts", "f(**a,**b)"]
        {
            check(text, text);
        }
        let code = "```\n| a | b |\n**x**\n```";
        assert_eq!(plain_text(code), code);
    }

    #[test]
    fn a_rule_below_the_head_of_a_table_is_removed() {
        let table = "| File | Change |\n|------|:-----:|\n| a.rs | lock |";
        let lines: Vec<&str> = content_lines(table).collect();
        assert_eq!(lines, ["| File | Change |", "| a.rs | lock |"]);
    }

    #[test]
    fn a_name_is_never_cut() {
        let path = format!("src/{}/page.rs", "deep/".repeat(30));
        check(&path, 70, &path);
    }
}
