//! Reads a question in prose: `[BLOCKING]` marks one that the work waits for, and
//! `~~…~~ **RESOLVED**: …` one that has its answer.

use super::node::{block_node, text_node};
use crate::text::span::Spanned;
use crate::text::yaml::{YamlEntry, YamlNode, YamlValue};

/// Words that say that a question is settled.
const SETTLED: [&str; 6] = ["resolved", "answered", "decided", "closed", "done", "fixed"];

/// Markup around a word.
const MARKUP: [char; 5] = ['*', '_', '[', ']', ' '];

/// The question as a header states it, and whether that is everything the text says.
pub(super) fn question_node(text: &Spanned<String>) -> (YamlNode, bool) {
    let at = text.at;
    let read = QuestionText::read(&text.value);
    let mut fields = vec![("question", read.question.to_owned())];
    fields.extend(read.blocking.map(|blocks| ("blocking", blocks.to_string())));
    fields.extend(read.answer.map(|answer| ("answer", answer.to_owned())));
    let entries = fields.into_iter().map(|(name, value)| YamlEntry {
        key: Spanned::new(name.to_owned(), at),
        node: text_node(value, at),
    });
    (block_node(YamlValue::Map(entries.collect()), at), read.is_complete)
}

#[derive(Debug, PartialEq, Eq)]
struct QuestionText<'t> {
    question: &'t str,
    blocking: Option<bool>,
    answer: Option<&'t str>,
    is_complete: bool,
}

impl<'t> QuestionText<'t> {
    fn read(text: &'t str) -> Self {
        let (text, is_checked) = split_checkbox(text.trim());
        let (text, is_marked) = split_blocking(text);
        let (open, answer, is_complete) = match split_struck(text) {
            Some((struck, rest)) => match settled_answer(rest) {
                Some(answer) => (struck, Some(answer), true),
                // The author reworded the question.
                None => (rest, None, false),
            },
            None => match split_settled(text) {
                Some((question, answer)) => (question, Some(answer), true),
                None => (text, None, true),
            },
        };
        let (question, blocking) = split_blocking(open);
        let blocking = blocking.or(is_marked);
        let answer = answer.or_else(|| is_checked.then_some("resolved"));
        Self { question, blocking, answer, is_complete }
    }
}

/// Splits `[x] text`; an empty box is no answer.
fn split_checkbox(text: &str) -> (&str, bool) {
    for (mark, is_checked) in [("[ ] ", false), ("[x] ", true), ("[X] ", true)] {
        if let Some(rest) = text.strip_prefix(mark) {
            return (rest.trim_start(), is_checked);
        }
    }
    (text, false)
}

/// Splits `~~struck~~ rest`, with or without emphasis around the struck text.
fn split_struck(text: &str) -> Option<(&str, &str)> {
    let (struck, rest) =
        text.trim_start_matches(['*', '_']).strip_prefix("~~")?.split_once("~~")?;
    Some((struck.trim(), rest.trim()))
}

/// The answer behind a struck question: nothing more, or a word that says it is settled.
fn settled_answer(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(['→', '✅', '✓', '✔', '\u{fe0f}', '—', '–', '-', ':', ' ']);
    let rest_plain = rest.trim_start_matches(MARKUP);
    if rest_plain.is_empty() {
        return Some("resolved");
    }
    let end = rest_plain.find(|c: char| !c.is_alphabetic()).unwrap_or(rest_plain.len());
    let is_settled = SETTLED.iter().any(|word| rest_plain[..end].eq_ignore_ascii_case(word));
    let marks = ['*', '_', '[', ']', ' ', ':', '—', '–', '-', '.'];
    let answer = rest_plain[end..].trim_start_matches(marks).trim();
    is_settled.then_some(if answer.is_empty() { "resolved" } else { answer })
}

/// Splits `question **RESOLVED**: answer` and `[RESOLVED] question`. Prose that speaks of what is to
/// be resolved does not count.
fn split_settled(text: &str) -> Option<(&str, &str)> {
    let lower = text.to_ascii_lowercase();
    for word in SETTLED {
        if let Some(rest) = lower.strip_prefix(&format!("[{word}]")) {
            return Some((text[text.len() - rest.len()..].trim(), "resolved"));
        }
        let mark = format!("**{word}");
        if let Some(at) = lower.find(&mark) {
            let behind = text[at + mark.len()..].trim_start_matches('*');
            let answer = behind.trim_start_matches([':', '*', ' ']);
            let question = text[..at].trim();
            if behind.starts_with(':') && !question.is_empty() && !answer.is_empty() {
                return Some((question, answer));
            }
        }
    }
    None
}

/// Splits off `[BLOCKING]` or `[NON-BLOCKING]` at the start or the end.
fn split_blocking(text: &str) -> (&str, Option<bool>) {
    const TAGS: [(&str, bool); 4] = [
        ("blocking", true),
        ("non-blocking", false),
        ("nonblocking", false),
        ("non blocking", false),
    ];
    let text = text.trim();
    for (tag, blocks) in TAGS {
        for (open, close) in
            [("**[", "]**"), ("[", "]"), ("**(", ")**"), ("(", ")"), ("**", "**"), ("", ":")]
        {
            let mark = format!("{open}{tag}{close}");
            let is_at = |at: usize| {
                text.get(at..at + mark.len()).is_some_and(|part| part.eq_ignore_ascii_case(&mark))
            };
            if is_at(0) {
                let rest = text[mark.len()..].trim_start_matches([':', ' ', '—', '–', '-']);
                return (rest, Some(blocks));
            }
            if let Some(at) = text.len().checked_sub(mark.len()).filter(|at| *at > 0)
                && !open.is_empty()
                && is_at(at)
            {
                return (text[..at].trim_end(), Some(blocks));
            }
        }
    }
    (text, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (&str, Option<bool>, Option<&str>) {
        let read = QuestionText::read(text);
        (read.question, read.blocking, read.answer)
    }

    #[test]
    fn a_mark_says_whether_a_question_blocks() {
        for text in [
            "[BLOCKING] Who pays?",
            "**[Blocking]** Who pays?",
            "(BLOCKING) Who pays?",
            "BLOCKING: Who pays?",
            "**BLOCKING**: Who pays?",
            "Who pays? [BLOCKING]",
            "[ ] [BLOCKING] Who pays?",
        ] {
            assert_eq!(read(text), ("Who pays?", Some(true), None), "{text}");
        }
        assert_eq!(read("[NON-BLOCKING] Who pays?"), ("Who pays?", Some(false), None));
        for text in ["Who pays?", "Is the blocking call [1] slow?", "Blocking or not?"] {
            assert_eq!(read(text), (text, None, None));
        }
    }

    #[test]
    fn a_settled_question_has_an_answer() {
        let blocked = ("How does it sign in?", Some(true), Some("mTLS on both sides"));
        for text in [
            "~~[BLOCKING] How does it sign in?~~ **RESOLVED**: mTLS on both sides",
            "~~[BLOCKING] How does it sign in?~~ RESOLVED — mTLS on both sides",
            "[BLOCKING] ~~How does it sign in?~~ **Resolved:** mTLS on both sides",
            "[BLOCKING] How does it sign in? **RESOLVED**: mTLS on both sides",
        ] {
            assert_eq!(read(text), blocked, "{text}");
        }
        assert_eq!(read("~~Who pays?~~"), ("Who pays?", None, Some("resolved")));
        assert_eq!(read("~~Who pays?~~ ✅ DONE"), ("Who pays?", None, Some("resolved")));
        assert_eq!(read("[x] Who pays?"), ("Who pays?", None, Some("resolved")));
        assert_eq!(read("[RESOLVED] Who pays?"), ("Who pays?", None, Some("resolved")));
    }

    #[test]
    fn a_question_that_is_not_settled_stays_open() {
        for text in [
            "[BLOCKING] Must it be RESOLVED before the merge?",
            "[BLOCKING] Is the conflict resolved: by whom?",
            "[BLOCKING] ~~Who pays~~ Who pays for storage?",
            "[BLOCKING] UNRESOLVED: who pays?",
            "[BLOCKING] Has anyone **decided** who pays?",
            "[BLOCKING] Is a [resolved] task final?",
        ] {
            let (_, blocking, answer) = read(text);
            assert_eq!((blocking, answer), (Some(true), None), "{text}");
        }
    }
}
