//! Shortens a text in its middle.

use super::ELLIPSIS;
use super::code_spans::code_spans;
use super::sentences::is_dense;

/// Shortens a text to at most `characters_max` characters. Returns the whole text if it fits, else
/// its beginning and end with `[…]` between. Never cuts inside a code span, a URL, or a path.
pub fn shorten(text: &str, characters_max: usize) -> String {
    match text.chars().nth(characters_max) {
        None => text.to_owned(),
        Some(_) => CutPoints::find(text).shorten(text, characters_max),
    }
}

/// The places where a text can be cut, for callers that try several lengths.
#[derive(Clone, Debug)]
pub(crate) struct CutPoints(Vec<CutPoint>);

impl CutPoints {
    /// Finds the cut points of a text.
    pub(crate) fn find(text: &str) -> Self {
        Self(cut_points(text))
    }

    /// Returns the beginning and end of the text, in at most `characters_max` characters.
    pub(crate) fn shorten(&self, text: &str, characters_max: usize) -> String {
        let marker = ELLIPSIS.chars().count();
        if characters_max < marker {
            return String::new();
        }
        // The beginning says what the text is about, so it gets more space than the end.
        let space = characters_max.saturating_sub(marker + 2);
        let borders = self.0.iter().copied();
        let head = text[..best_cut(text, borders.clone(), space * 3 / 5, false)].trim_end();
        let head = without_marker(head);
        let rest = space - head.chars().count().min(space);
        let from = best_cut(text, borders.rev(), rest, true).max(head.len());
        let tail = text[from..].trim_start();
        let parts = [head, ELLIPSIS, tail];
        parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ")
    }
}

/// Drops a list marker that ends the beginning of a text. Its item was cut, and the end of the text
/// would read as that item.
fn without_marker(head: &str) -> &str {
    let (before, last) = head.rsplit_once('\n').unwrap_or(("", head));
    let marker = last.trim_start();
    let number = marker.strip_suffix(['.', ')']).unwrap_or("x");
    let is_marker = matches!(marker, "-" | "*" | "+") || number.bytes().all(|b| b.is_ascii_digit());
    if is_marker { before.trim_end() } else { head }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CutStrength {
    Word,
    Clause,
    Sentence,
}

#[derive(Clone, Copy, Debug)]
struct CutPoint {
    at: usize,
    strength: CutStrength,
}

/// Returns where to cut: at the strongest border that leaves little space unused, else at the
/// outermost one.
fn best_cut(
    text: &str,
    borders: impl Iterator<Item = CutPoint>,
    space: usize,
    from_end: bool,
) -> usize {
    let nothing = if from_end { text.len() } else { 0 };
    let (mut taken, mut last) = (0, nothing);
    let (mut outermost, mut strongest): (usize, Option<CutPoint>) = (nothing, None);
    for border in borders {
        let piece = if from_end { &text[border.at..last] } else { &text[last..border.at] };
        taken += piece.chars().count();
        last = border.at;
        // Leading white space of the end is trimmed, so it does not count.
        let blank = usize::from(from_end && text[border.at..].starts_with(char::is_whitespace));
        if taken > space + blank {
            break;
        }
        outermost = border.at;
        let is_stronger = strongest.is_none_or(|best| border.strength >= best.strength);
        if taken * 5 > space * 2 && is_stronger {
            strongest = Some(border);
        }
    }
    strongest.map_or(outermost, |border| border.at)
}

/// Returns the cut points of a text: between words outside code spans, and between characters of
/// scripts written without spaces.
fn cut_points(text: &str) -> Vec<CutPoint> {
    let mut spans = code_spans(text).into_iter().peekable();
    let mut found = Vec::new();
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        while spans.peek().is_some_and(|span| span.1 <= at) {
            spans.next();
        }
        let is_code = spans.peek().is_some_and(|span| span.0 < at && at < span.1);
        if !is_code && !before.is_whitespace() {
            let is_dense =
                is_dense(before) && (is_dense(character) || !character.is_alphanumeric());
            if character.is_whitespace() || is_dense {
                let is_line_end = character == '\n';
                let strength = if is_line_end { CutStrength::Sentence } else { strength(before) };
                found.push(CutPoint { at, strength });
            }
        }
        before = character;
    }
    found
}

fn strength(before: char) -> CutStrength {
    match before {
        '.' | '!' | '?' | '。' | '！' | '？' => CutStrength::Sentence,
        ',' | ';' | ':' | '—' | '–' | ')' | '、' | '，' | '；' | '：' => {
            CutStrength::Clause
        }
        _ => CutStrength::Word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_long_text_is_omitted() {
        let check = |text: &str, characters_max: usize, expected: &str| {
            let short = shorten(text, characters_max);
            assert_eq!(short, expected, "{text} {characters_max}");
            assert!(short.chars().count() <= characters_max);
        };
        check("short", 5, "short");
        check("one two three four five six", 20, "one two […] five six");
        check(
            "It fails. The reason is long and winding, so the cache stays.",
            40,
            "It fails. […] so the cache stays.",
        );
        check(
            "run `cargo test --all --locked` again and again, then stop",
            30,
            "run […] then stop",
        );
        check(
            "see https://example.org/a/b/c/d/e/f/g for the details of it",
            30,
            "see […] for the details of it",
        );
        check("缓存没有失效，因为键没有变化。所以测试失败了。", 16, "缓存没有失效 […] 试失败了。");
        check(
            "Two ways:\n1. a path that is very long indeed\n2. do nothing",
            30,
            "Two ways: […] 2. do nothing",
        );
        check(
            "Which one do you prefer? There are several ways.\n- Way 1: a lock\n- Way 2: none",
            50,
            "Which one do you prefer? […] - Way 2: none",
        );
        check("aaaaaaaaaaaaaaaaaaaaaaaaaaaa", 10, "[…]");
        check("abc def", 2, "");
    }
}
