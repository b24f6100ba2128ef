//! Quoting of untrusted text: in straight quotes or backticks within a generated line, or in
//! separate lines after a marker. Quoted text never starts a line of the page.

use super::visible::VisibleText;
use crate::text::tokens;

/// The marker before each line of a quoted text.
const MARKER: &str = ">";

/// Maximum length of a name, such as a source, a branch or a role.
const NAME_LENGTH_MAX: usize = 100;

/// Maximum length of a generated line.
const LINE_LENGTH_MAX: usize = 600;

/// Quotes a text in one line with at most this many characters.
pub(crate) fn inline(text: &str, characters_max: usize) -> String {
    let inside = short_label(text, characters_max).replace(['"', '“', '”', '„', '‟'], "'");
    // A single backtick would open code after the quote.
    let pairs = inside.matches('`').count().is_multiple_of(2) && !inside.contains("``");
    format!("\"{}\"", if pairs { inside } else { inside.replace('`', "'") })
}

/// Quotes a command, a path or other code in backticks, in one line with at most this many
/// characters.
pub(crate) fn code(text: &str, characters_max: usize) -> String {
    format!("`{}`", short_label(text, characters_max).replace('`', "'"))
}

/// A name, quoted unless it is plain, and shortened until it fits the number of tokens.
pub(super) fn plain_or_quoted(text: &str, tokens_max: u64) -> String {
    /// A shorter name is useless.
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

/// The name of a source without its kind: `handoff market-page-perf` becomes `market-page-perf`.
/// Returns `None` if there is no name.
pub(super) fn source(text: &str) -> Option<String> {
    let name = ["handoff ", "note "].iter().find_map(|kind| text.strip_prefix(kind));
    let name = name.unwrap_or(text).trim();
    let is_phrase = ["session ", "tasks", "mission", "this project"];
    if is_phrase.iter().any(|phrase| text.starts_with(phrase)) && is_plain(&name.replace(' ', "")) {
        return Some(label(name));
    }
    (!name.is_empty()).then(|| plain_or_quoted(name, u64::MAX))
}

/// A name in one line, without quotes.
pub(super) fn label(text: &str) -> String {
    short_label(text, NAME_LENGTH_MAX)
}

/// An address. A long one is cut after a path segment.
pub(crate) fn address(text: &str) -> String {
    let label = label(text);
    match label.strip_suffix('…').and_then(|cut| cut.rfind('/')) {
        Some(at) if !label[..at].ends_with(['/', ':']) => format!("{}/…", &label[..at]),
        Some(_) | None => label,
    }
}

/// The beginning of a text in one line, without quotes.
pub(super) fn short_label(text: &str, length: usize) -> String {
    let VisibleText { text, characters_truncated: cut } = VisibleText::single_line(text, length);
    if cut > 0 { format!("{}…", text.trim_end()) } else { text }
}

/// A generated line. Quoted parts are already sanitized; anything else in it is sanitized here.
pub(super) fn line(text: &str) -> String {
    short_label(text, LINE_LENGTH_MAX)
}

/// Quotes a visible text in separate lines.
pub(super) fn block(text: &str) -> String {
    let line = |line: &str| match line {
        "" => format!("{MARKER}\n"),
        line => format!("{MARKER} {line}\n"),
    };
    text.split('\n').map(line).collect()
}

/// A midstride command as typed. Returns `None` if a word contains special characters or the
/// command is too long: ids are untrusted.
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
    fn quoted_text_cannot_close_its_quote() {
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
    fn only_plain_words_form_a_command() {
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
