//! Rendering: the text and the JSON shape of everything the program shows.

pub mod advance;
pub mod brief;
mod citation;
pub mod client;
pub mod command_result;
pub mod config;
pub mod continuation;
pub mod coverage;
pub mod data;
mod delivery;
pub mod demo;
pub mod difference;
pub mod dismissable;
pub mod doctor;
pub mod error;
pub mod events;
pub mod findings;
pub mod forget;
pub mod graph;
pub mod handoff;
pub mod history;
pub mod home;
pub mod list;
pub mod log;
mod markdown;
pub mod mission;
pub mod permission;
pub mod pull_request;
pub mod purge;
pub mod recorded_change;
mod review;
pub mod revision;
pub mod save;
pub mod search;
pub mod session;
pub mod session_cost;
pub mod setup;
pub mod state;
pub mod status_line;
pub mod table;
pub mod task;
mod trust;
pub mod trust_listing;
pub mod verify;
pub mod why;

use crate::text::sanitize;
use midstride::workspace::Workspace;
use midstride_core::handoff::Handoff;
use midstride_core::text::hidden::{self, is_invisible};
use midstride_core::text::redact::CleanText;
use std::path::{Path, PathBuf};
use unicode_width::UnicodeWidthStr as _;

/// Where a hint is shown, which decides how it is worded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// A terminal, where users type commands.
    Terminal,
    /// An MCP client, where agents call tools.
    Tools,
}

/// A path relative to the current directory; `path` is relative to the project root.
pub fn display_path(workspace: &Workspace, path: &Path) -> String {
    let whole = workspace.root().path().join(path);
    let here = &workspace.environment().folder;
    let Ok(below_root) = here.strip_prefix(workspace.root().path()) else {
        return whole.display().to_string();
    };
    if let Ok(below) = whole.strip_prefix(here) {
        return below.display().to_string();
    }
    // Go up to the root and down again. A path outside the project is shown in full.
    let Ok(from_root) = whole.strip_prefix(workspace.root().path()) else {
        return whole.display().to_string();
    };
    let up: PathBuf = below_root.components().map(|_| "..").collect();
    up.join(from_root).display().to_string()
}

/// `1 document`, `2 documents`.
pub fn count(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

/// `once`, `twice`, `3 times`.
pub(crate) fn times(number: usize) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

/// The first line of a text, truncated to a width with an ellipsis. Secrets are redacted before
/// that, because half of a secret is not recognized as one.
pub fn one_line(text: &str, width: usize) -> String {
    use unicode_width::UnicodeWidthChar as _;
    let first_line = |text: &str| text.trim().lines().next().unwrap_or_default().to_owned();
    let text = sanitize(text);
    let line = first_line(&text);
    if line.len() <= width {
        return line;
    }
    let line = first_line(CleanText::redact(&text).0.as_str());
    let mut used = 0;
    let mut out = String::new();
    for c in line.chars() {
        used += c.width().unwrap_or(0);
        if used > width.saturating_sub(1) && out.len() + c.len_utf8() < line.len() {
            out.push('…');
            return out;
        }
        out.push(c);
    }
    out
}

/// A name that fits into a line, whatever characters it contains.
pub(crate) fn inline_name(text: &str) -> String {
    hidden::visible_line(text)
}

/// The title of a handoff in a list, or else the start of its summary.
pub(crate) fn display_title(handoff: &Handoff<'_>, width: usize) -> String {
    one_line(handoff.title().or(handoff.summary()).unwrap_or("(no title)"), width)
}

/// Escapes invisible characters in a text: terminal controls, direction marks and characters
/// without width.
pub(crate) fn escape_hidden(text: &str) -> String {
    let shown = |c: char| {
        if is_invisible(c) || c == '\t' { c.escape_default().to_string() } else { c.to_string() }
    };
    text.chars().map(shown).collect()
}

/// Quotes a word for a POSIX shell if it needs quotes. Every suggested command goes through here.
pub fn shell_word(text: &str) -> String {
    let text = sanitize(text);
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Quotes a path for a POSIX shell.
pub(crate) fn shell_path(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

/// Indents a text by two spaces.
pub(crate) fn indent(text: &str) -> String {
    text.lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") })
        .collect()
}

/// A heading in bold.
pub fn heading(text: &str) -> String {
    let bold = anstyle::Style::new().bold();
    format!("{bold}{text}{bold:#}\n")
}

/// A size in the unit that fits.
pub(crate) fn size(bytes: u64) -> String {
    const KILOBYTE: u64 = 1 << 10;
    const MEGABYTE: u64 = 1 << 20;
    match bytes {
        0..KILOBYTE => format!("{bytes} bytes"),
        KILOBYTE..MEGABYTE => format!("{} KB", bytes.div_ceil(KILOBYTE)),
        _ => format!("{} MB", bytes.div_ceil(MEGABYTE)),
    }
}

/// Wraps a text to a width. A longer word gets its own line.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.trim().lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && shown_width(&line) + 1 + shown_width(word) > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// The width of a text on the terminal, without the colors in it.
fn shown_width(text: &str) -> usize {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().map_or(0, str::width);
    let after = parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest).width());
    first + after.sum::<usize>()
}

/// Wraps the lines that are too long. What continues a line is indented as its text is, and quoted if
/// it is quoted.
pub fn wrap_lines(text: &str, width: usize) -> String {
    const WIDTH_MIN: usize = 8;
    let mut out = String::new();
    for line in text.trim_end().lines() {
        if shown_width(line) <= width {
            out.push_str(&format!("{line}\n"));
            continue;
        }
        let plain = line.trim_start_matches(' ');
        let mark = ["> ", "- "].into_iter().find(|mark| plain.starts_with(mark)).unwrap_or("");
        let start = &line[..line.len() - plain.len() + mark.len()];
        let rest = start.replace('-', " ");
        let lines = wrap(&plain[mark.len()..], width.saturating_sub(start.width()).max(WIDTH_MIN));
        for (number, line) in lines.iter().enumerate() {
            out.push_str(&format!("{}{line}\n", if number == 0 { start } else { &rest }));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped() {
        assert_eq!(escape_hidden("ls -l\nrm ä"), "ls -l\nrm ä");
        assert_eq!(escape_hidden("a\u{1b}[2K\rb\tc"), "a\\u{1b}[2K\\rb\\tc");
        assert_eq!(escape_hidden("a\u{202e}b\u{200b}c\u{9b}"), "a\\u{202e}b\\u{200b}c\\u{9b}");
    }

    #[test]
    fn quoted_words_survive_a_shell() {
        for plain in ["market-page-perf", "feat-042/request@2", "docs/a_b.md", "14,290%"] {
            assert_eq!(shell_word(plain), plain);
        }
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("say \"hi\" $(id)"), "'say \"hi\" $(id)'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word("~/a b;c&d|e*f?g#h!"), "'~/a b;c&d|e*f?g#h!'");
        assert_eq!(shell_word("\u{1b}[31m"), "'\u{fffd}[31m'");
    }

    #[test]
    fn long_lines_are_wrapped_with_their_indent_or_quote() {
        let text =
            "- one two three four\n  fits  well\n> five six seven eight\n\n  nine ten eleven";
        let wrapped = "- one two three\n  four\n  fits  well\n> five six seven\n> eight\n\n  nine ten\n  eleven\n";
        assert_eq!(wrap_lines(text, 16), wrapped);
        assert_eq!(wrap_lines(text, 80), format!("{text}\n"));
    }

    #[test]
    fn text_is_wrapped_between_words() {
        assert_eq!(wrap("one two three\nfour", 8), ["one two", "three", "four"]);
        assert_eq!(wrap("a verylongword b", 5), ["a", "verylongword", "b"]);
        assert_eq!(wrap("城市 的 页面", 5), ["城市", "的", "页面"]);
        assert!(wrap(" \n", 5).is_empty());
    }
}
