//! The two forms of a text: the short one that leads, and the long one where there is room.

use super::visible::Visible;

/// A short form is one line, and no longer than this.
pub(super) const SHORT_LENGTH_MAX: usize = 140;

/// A point that is one of many is told in a few words.
pub(super) const GATHERED_LENGTH_MAX: usize = 70;

/// The first line of a text, or the first sentences of it where the line is long.
pub(super) fn short(text: &str, characters_max: usize) -> Visible {
    let whole = Visible::of(text, characters_max * 2);
    let line = whole.text.lines().next().unwrap_or_default();
    let end = line.char_indices().nth(characters_max);
    let Some((end, _)) = end else { return part(&whole, line, "") };
    let head = &line[..end];
    match sentence_end(head) {
        Some(end) => part(&whole, &head[..end], ""),
        None => part(&whole, at_a_word(head), "…"),
    }
}

/// The beginning of a text, with what is missing counted.
fn part(whole: &Visible, kept: &str, mark: &str) -> Visible {
    let left = whole.text[kept.len()..].chars().count();
    Visible { text: format!("{kept}{mark}"), cut: whole.cut + left }
}

/// A long form, cut between words.
pub(super) fn long(text: &str, characters_max: usize) -> Visible {
    let whole = Visible::of(text, characters_max);
    if whole.cut == 0 {
        return whole;
    }
    part(&whole, at_a_word(&whole.text), "…")
}

/// Where the last whole sentence ends, if it is not a very short one.
fn sentence_end(head: &str) -> Option<usize> {
    const LENGTH_MIN: usize = 20;
    let marks = [". ", "! ", "? ", "。", "！", "？"];
    let ends = marks.iter().filter_map(|mark| {
        let ends = head.match_indices(mark).map(|(at, mark)| at + mark.trim_end().len());
        ends.last()
    });
    ends.max().filter(|end| *end >= LENGTH_MIN)
}

/// Without the word that was cut, where that leaves most of it.
fn at_a_word(head: &str) -> &str {
    match head.rfind(char::is_whitespace) {
        Some(at) if at * 2 > head.len() => head[..at].trim_end(),
        _ => head,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: &Visible, text: &str, cut: usize) {
        assert_eq!(*found, Visible { text: text.to_owned(), cut });
    }

    #[test]
    fn a_short_form_is_a_line_a_sentence_or_some_words() {
        check(&short("Warm the cache.", 40), "Warm the cache.", 0);
        check(&short("Warm the cache.\n\nThen measure.", 40), "Warm the cache.", 15);
        let two = "The purge job runs hourly. It also evicts pages that nobody changed.";
        check(&short(two, 40), "The purge job runs hourly.", 42);
        check(&short("one two three four five six", 12), "one two…", 19);
        check(&short(&"x".repeat(100), 10), "xxxxxxxxxx…", 90);
    }

    #[test]
    fn a_long_form_ends_at_a_word() {
        check(&long("one two three", 99), "one two three", 0);
        check(&long("one two three", 10), "one two…", 6);
    }
}
