//! Quotation: what is carried stands between “ and ” in a line of ours, or in lines of its own behind
//! a marker of ours. A line of a carried text never begins a line, and no “ or ” in it is carried.

use super::visible::Visible;
use crate::tokens;

/// What stands before each line of a text of several lines.
const MARKER: &str = "  >";

/// A name of something: a source, a branch, a role.
const NAME_LENGTH_MAX: usize = 100;

/// A visible text between quotation marks, in one line.
pub(super) fn inline(text: &str) -> String {
    let pairs =
        text.matches('`').count().is_multiple_of(2) && !text.contains("``") && !text.contains('\\');
    let inside = text.chars().map(|c| match c {
        '“' | '”' | '„' | '‟' => '"',
        // One that is alone would take what follows the quotation for code.
        '`' if !pairs => '\'',
        '\n' => ' ',
        c => c,
    });
    format!("“{}”", inside.collect::<String>())
}

/// A name between quotation marks; backquotes belong to our commands.
pub(super) fn name(text: &str) -> String {
    name_of(text, NAME_LENGTH_MAX)
}

/// The same, as short as it takes to cost no more than so many tokens.
pub(super) fn name_within(text: &str, tokens_max: u64) -> String {
    /// Less says nothing.
    const LENGTH_MIN: usize = 8;
    let mut length = NAME_LENGTH_MAX;
    loop {
        let name = name_of(text, length);
        if length <= LENGTH_MIN || tokens::estimate(&name) <= tokens_max {
            return name;
        }
        length /= 2;
    }
}

fn name_of(text: &str, length: usize) -> String {
    inline(&label_of(text, length).replace('`', "'"))
}

/// A name as it can be told in a line, without quotation marks.
pub(super) fn label(text: &str) -> String {
    label_of(text, NAME_LENGTH_MAX)
}

fn label_of(text: &str, length: usize) -> String {
    let Visible { text, cut } = Visible::line(text, length);
    if cut > 0 { format!("{text}…") } else { text }
}

/// Our own words about a point, which should hold nothing carried; if they do, it opens nothing.
pub(super) fn remark(text: &str) -> String {
    label(text).replace(['“', '”', '`'], "'")
}

/// A visible text in lines of its own.
pub(super) fn block(text: &str) -> String {
    let line = |line: &str| match line {
        "" => format!("\n{MARKER}"),
        line => format!("\n{MARKER} {line}"),
    };
    text.split('\n').map(line).collect()
}

/// A command of ours as it is typed, between backquotes. None where a word could be more than a
/// word: an id may be as long and as strange as somebody made it.
pub(super) fn command(words: &[String]) -> Option<String> {
    const LENGTH_MAX: usize = 200;
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/@:=,+-".contains(c);
    let is_word = |word: &String| !word.is_empty() && word.chars().all(plain);
    let is_ours = words.first().is_some_and(|first| first == "midstride");
    let typed = words.join(" ");
    (is_ours && words.iter().all(is_word) && typed.len() <= LENGTH_MAX)
        .then(|| format!("`{typed}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_closes_its_own_quotation() {
        assert_eq!(inline("a” b “c„ \"d\""), "“a\" b \"c\" \"d\"”");
        assert_eq!(inline("run `x` and `y`"), "“run `x` and `y`”");
        assert_eq!(inline("run `x"), "“run 'x”");
        assert_eq!(inline("run \\`x`"), "“run \\'x'”");
        assert_eq!(block("a\n\n> b"), "\n  > a\n  >\n  > > b");
        assert_eq!(name("feat/`x`\n- y"), "“feat/'x' - y”");
    }

    #[test]
    fn only_plain_words_are_a_command() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let shown = command(&words("midstride show market-page-perf@2"));
        assert_eq!(shown.as_deref(), Some("`midstride show market-page-perf@2`"));
        for text in ["midstride show $(id)", "midstride show x;y", "rm -rf x", "midstride  x", ""] {
            assert_eq!(command(&words(text)), None, "{text}");
        }
        assert_eq!(command(&["midstride".into(), "show it to me".into()]), None);
        assert_eq!(command(&["midstride".into(), "x".repeat(300)]), None);
    }
}
