//! Quotes: what somebody else wrote is in straight quotes or backticks in a line of ours, or in lines
//! of its own behind a marker. A line of a quoted text never begins a line of the page.

use super::visible::VisibleText;
use crate::text::tokens;

/// What stands before each line of a quoted text.
const MARKER: &str = ">";

/// A name of something: a source, a branch, a role.
const NAME_LENGTH_MAX: usize = 100;

/// A line of ours has no more characters than this.
const LINE_LENGTH_MAX: usize = 600;

/// Somebody else's text in quotes, in one line of at most so many characters.
pub(crate) fn inline(text: &str, characters_max: usize) -> String {
    let inside = short_label(text, characters_max).replace(['"', '“', '”', '„', '‟'], "'");
    // A backtick that is alone would open code behind the quote.
    let pairs = inside.matches('`').count().is_multiple_of(2) && !inside.contains("``");
    format!("\"{}\"", if pairs { inside } else { inside.replace('`', "'") })
}

/// A command, a path or another piece of code in backticks, in one line of at most so many characters.
pub(crate) fn code(text: &str, characters_max: usize) -> String {
    format!("`{}`", short_label(text, characters_max).replace('`', "'"))
}

/// A name as it is where it cannot be mistaken for anything else, in quotes otherwise; as short as it
/// takes to cost no more than so many tokens.
pub(super) fn plain_or_quoted(text: &str, tokens_max: u64) -> String {
    /// Less says nothing.
    const LENGTH_MIN: usize = 8;
    let mut length = NAME_LENGTH_MAX;
    loop {
        let label = short_label(text, length);
        let name = if is_plain(&label) { label } else { inline(text, length) };
        if length <= LENGTH_MIN || tokens::estimate(&name) <= tokens_max {
            return name;
        }
        length /= 2;
    }
}

fn is_plain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/@#+-…".contains(c);
    !text.is_empty() && text.chars().all(plain)
}

/// The name of a source without its kind: `handoff market-page-perf` is `market-page-perf`. None where
/// there is nothing to name.
pub(super) fn source(text: &str) -> Option<String> {
    let name = ["handoff ", "note "].iter().find_map(|kind| text.strip_prefix(kind));
    let name = name.unwrap_or(text).trim();
    let is_phrase = ["session ", "tasks", "mission", "this project"];
    if is_phrase.iter().any(|phrase| text.starts_with(phrase)) && is_plain(&name.replace(' ', "")) {
        return Some(label(name));
    }
    (!name.is_empty()).then(|| plain_or_quoted(name, u64::MAX))
}

/// A name as it can be told in a line, without quotation marks.
pub(super) fn label(text: &str) -> String {
    short_label(text, NAME_LENGTH_MAX)
}

/// An address. One that is too long ends behind a part of its path.
pub(crate) fn address(text: &str) -> String {
    let label = label(text);
    match label.strip_suffix('…').and_then(|cut| cut.rfind('/')) {
        Some(at) if !label[..at].ends_with(['/', ':']) => format!("{}/…", &label[..at]),
        Some(_) | None => label,
    }
}

/// The beginning of a text in one line, without quotation marks.
pub(super) fn short_label(text: &str, length: usize) -> String {
    let VisibleText { text, characters_truncated: cut } = VisibleText::single_line(text, length);
    if cut > 0 { format!("{}…", text.trim_end()) } else { text }
}

/// A line of ours. What is quoted in it was made visible; should anything else be in it, it opens
/// nothing.
pub(super) fn line(text: &str) -> String {
    short_label(text, LINE_LENGTH_MAX)
}

/// A visible text in lines of its own.
pub(super) fn block(text: &str) -> String {
    let line = |line: &str| match line {
        "" => format!("{MARKER}\n"),
        line => format!("{MARKER} {line}\n"),
    };
    text.split('\n').map(line).collect()
}

/// A command of ours as it is typed. None where a word could be more than a word: an id may be as long
/// and as strange as somebody made it.
pub(super) fn command(words: &[String]) -> Option<String> {
    const LENGTH_MAX: usize = 200;
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/@:=,+-".contains(c);
    let is_word = |word: &String| !word.is_empty() && word.chars().all(plain);
    let is_ours = words.first().is_some_and(|first| first == "midstride");
    let typed = words.join(" ");
    (is_ours && words.iter().all(is_word) && typed.len() <= LENGTH_MAX).then_some(typed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_closes_its_own_quote() {
        assert_eq!(inline("a” b “c„ \"d\"", 99), "\"a' b 'c' 'd'\"");
        assert_eq!(inline("run `x` and `y`", 99), "\"run `x` and `y`\"");
        assert_eq!(inline("run `x", 99), "\"run 'x\"");
        assert_eq!(code("run `x`\nnow", 99), "`run 'x' now`");
        assert_eq!(block("a\n\n> b"), "> a\n>\n> > b\n");
        assert_eq!(plain_or_quoted("feat/x-1", 99), "feat/x-1");
        assert_eq!(plain_or_quoted("feat/`x`\n- y", 99), "\"feat/`x` - y\"");
        assert_eq!(source("handoff market-page-perf").as_deref(), Some("market-page-perf"));
        assert_eq!(source("handoff a b").as_deref(), Some("\"a b\""));
        assert_eq!(source("session 1f3a09c2").as_deref(), Some("session 1f3a09c2"));
    }

    #[test]
    fn only_plain_words_are_a_command() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let shown = command(&words("midstride show market-page-perf@2"));
        assert_eq!(shown.as_deref(), Some("midstride show market-page-perf@2"));
        for text in ["midstride show $(id)", "midstride show x;y", "rm -rf x", "midstride  x", ""] {
            assert_eq!(command(&words(text)), None, "{text}");
        }
        assert_eq!(command(&["midstride".into(), "show it to me".into()]), None);
        assert_eq!(command(&["midstride".into(), "x".repeat(300)]), None);
    }
}
