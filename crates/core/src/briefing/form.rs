//! How much of a text a page quotes: all of it, or its beginning and its end.

use super::visible::Visible;

/// Marks the place where something was left out of a quote.
const ELLIPSIS: &str = "[…]";

/// A text of one word is a name: a path that is truncated is another path.
const NAME_LENGTH_MAX: usize = 240;

/// Below this length a quote keeps only its beginning.
const BOTH_ENDS_MIN: usize = 120;

/// A text without lines that say nothing: empty ones, and rules between paragraphs.
pub(super) fn without_empty_lines(text: &str) -> String {
    let is_rule = |line: &str| line.len() >= 3 && line.chars().all(|c| "-*_=".contains(c));
    let lines = text.lines().map(str::trim_end);
    let lines = lines.filter(|line| !line.trim().is_empty() && !is_rule(line.trim()));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a text is a name.
pub(super) fn is_name(text: &str) -> bool {
    text.len() <= NAME_LENGTH_MAX && !text.contains(char::is_whitespace)
}

/// A text within a number of characters. A longer one keeps its beginning and its end: what a text
/// is about comes first, and what follows from it comes last.
pub(super) fn within(text: &str, characters_max: usize) -> Visible {
    let text = text.trim();
    let characters_max = if is_name(text) { NAME_LENGTH_MAX } else { characters_max };
    let whole = Visible::of(text, characters_max);
    if whole.cut == 0 {
        return whole;
    }
    let room = characters_max.saturating_sub(ELLIPSIS.len() + 2);
    let end_room = if characters_max < BOTH_ENDS_MIN { 0 } else { room * 2 / 5 };
    let start = before_a_gap(&whole.text, room - end_room);
    let end = end_of(text, end_room);
    let kept = start.chars().count() + end.chars().count();
    let between = if start.ends_with('\n') { "" } else { " " };
    let end = if end.is_empty() { end } else { format!(" {end}") };
    let cut = text.chars().count().saturating_sub(kept);
    Visible { text: format!("{start}{between}{ELLIPSIS}{end}"), cut }
}

/// The beginning of a text, up to the end of a word.
fn before_a_gap(text: &str, characters: usize) -> &str {
    let end = text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    if end == text.len() || text[end..].starts_with(char::is_whitespace) {
        return head.trim_end();
    }
    match head.rfind(char::is_whitespace) {
        // A word as long as half of the room is cut: nothing else would be left.
        Some(at) if at * 2 > head.len() => head[..at].trim_end(),
        Some(_) | None => head,
    }
}

/// The end of a text, from the start of a word.
fn end_of(text: &str, characters: usize) -> String {
    if characters == 0 {
        return String::new();
    }
    let from = text.char_indices().rev().nth(characters - 1).map_or(0, |(at, _)| at);
    let tail = &text[from..];
    let starts_a_word = text[..from].ends_with(char::is_whitespace);
    let tail = match tail.find(char::is_whitespace).filter(|_| !starts_a_word) {
        Some(at) if at * 2 < tail.len() => &tail[at..],
        Some(_) | None => tail,
    };
    Visible::of(tail, characters).text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, characters_max: usize, expected: &str) {
        let found = within(text, characters_max);
        assert_eq!(found.text, expected);
        assert_eq!(found.cut == 0, text.trim() == expected, "a truncation is counted");
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
        let found = within(&text, 140).text;
        assert!(found.starts_with("The purge runs hourly. It logs."), "{found}");
        assert!(found.contains(" […] "), "{found}");
        assert!(found.ends_with("So warm it first."), "{found}");
        assert!(found.chars().count() <= 140, "{found}");
    }

    #[test]
    fn a_name_is_whole() {
        let path = format!("src/{}/page.rs", "deep/".repeat(30));
        check(&path, 70, &path);
    }
}
