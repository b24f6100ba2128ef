//! The two forms of a text: the short one that leads, and the long one where there is room.

use super::visible::Visible;

/// A short form is one line, and no longer than this.
pub(super) const SHORT_LENGTH_MAX: usize = 140;

/// A point that is one of many is told in a few words.
pub(super) const GATHERED_LENGTH_MAX: usize = 70;

/// A text of one word is a name: a path that is cut is another path.
const NAME_LENGTH_MAX: usize = 240;

/// So much of a text is left at least, so that whoever wrote it knows it again.
const KNOWN_LENGTH: usize = 60;

/// Whether a text is a name.
pub(super) fn is_name(text: &str) -> bool {
    text.len() <= NAME_LENGTH_MAX && !text.contains(char::is_whitespace)
}

/// The first line of a text, or the first sentences of it where the line is long.
pub(super) fn short(text: &str, characters_max: usize) -> Visible {
    let characters_max = if is_name(text) { NAME_LENGTH_MAX } else { characters_max };
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

/// Where the last whole sentence ends, if it is not a short one.
fn sentence_end(head: &str) -> Option<usize> {
    let marks = [". ", "! ", "? ", "。", "！", "？"];
    let ends = marks.iter().filter_map(|mark| {
        let ends = head.match_indices(mark).map(|(at, mark)| at + mark.trim_end().len());
        ends.last()
    });
    ends.max().filter(|end| is_known_by(&head[..*end]))
}

/// Without the word that was cut, where that leaves enough of it.
fn at_a_word(head: &str) -> &str {
    let before = head.rfind(char::is_whitespace).map(|at| head[..at].trim_end());
    before.filter(|before| is_known_by(before)).unwrap_or(head)
}

fn is_known_by(beginning: &str) -> bool {
    beginning.chars().count() >= KNOWN_LENGTH
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
        let sentence = "The purge job runs hourly, and evicts pages that nobody changed.";
        check(&short(&format!("{sentence} It also logs."), 70), sentence, 14);
        let words = "one two three four five six seven eight nine ten eleven twelve";
        check(&short(&format!("{words} thirteen fourteen"), 70), &format!("{words}…"), 18);
        check(&short(&format!("x {}", "y".repeat(98)), 10), "x yyyyyyyy…", 90);
    }

    #[test]
    fn enough_is_left_to_know_it_by() {
        let early = format!("Stop. Do not touch it! {}", "x".repeat(90));
        check(&short(&early, 70), &format!("{}…", &early[..70]), 43);
        check(&long(&early, 70), &format!("{}…", &early[..70]), 43);
    }

    #[test]
    fn a_name_is_whole() {
        let path = format!("src/{}/page.rs", "deep/".repeat(30));
        check(&short(&path, 70), &path, 0);
        check(&short(&"x".repeat(300), 10), "xxxxxxxxxx…", 290);
    }

    #[test]
    fn a_long_form_ends_at_a_word() {
        check(&long("one two three", 99), "one two three", 0);
        let words = "one two three four five six seven eight nine ten eleven twelve";
        check(&long(&format!("{words} thirteen"), 66), &format!("{words}…"), 9);
    }
}
