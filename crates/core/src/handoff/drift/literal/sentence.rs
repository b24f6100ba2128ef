//! The sentences of a statement, and whether one says itself that something is gone.

use crate::handoff::drift::statement::prose_words;
use crate::text::span::Span;

/// The sentences of a statement, in order. A full stop inside a name or a number does not end one.
pub fn sentences(text: &str, statement: Span) -> Vec<Span> {
    let slice = statement.slice(text);
    let mut sentences = Vec::new();
    let mut from = 0;
    let mut marks = slice.match_indices(['.', '!', '?', ';']).peekable();
    while let Some((at, mark)) = marks.next() {
        let end = at + mark.len();
        let rest = &slice[end..];
        let is_last_mark = marks.peek().is_none_or(|(next, _)| *next != end);
        if is_last_mark && rest.starts_with(char::is_whitespace) {
            sentences.push(Span::new(from, end).shifted(statement.start));
            from = end;
        }
    }
    sentences.push(Span::new(from, slice.len()).shifted(statement.start));
    sentences
}

/// Words with which a sentence says that something is not there any more.
const GONE_WORDS: [&str; 22] = [
    "removed",
    "removes",
    "deleted",
    "deletes",
    "dropped",
    "drops",
    "renamed",
    "renames",
    "replaced",
    "replaces",
    "moved",
    "moves",
    "migrated",
    "extracted",
    "superseded",
    "retired",
    "gone",
    "formerly",
    "previously",
    "was",
    "were",
    "had",
];

pub(super) fn says_gone(sentence: &str) -> bool {
    ["~~", "→", "->", "=>", "no longer"].iter().any(|mark| sentence.contains(mark))
        || prose_words(sentence)
            .any(|word| GONE_WORDS.iter().any(|gone| word.eq_ignore_ascii_case(gone)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_split_at_the_end_of_sentences() {
        let text = "x `src/a.ts` has 3.5 rows... Really? Yes; see b.rs.";
        let spans = sentences(text, Span::new(2, text.len()));
        let found: Vec<&str> = spans.iter().map(|span| span.slice(text)).collect();
        assert_eq!(found, ["`src/a.ts` has 3.5 rows...", " Really?", " Yes;", " see b.rs."]);
        assert_eq!(sentences("", Span::new(0, 0)), [Span::new(0, 0)]);
    }
}
