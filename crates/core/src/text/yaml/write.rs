//! Writes values as YAML in one strict form.

use super::YamlData;
use crate::text::hidden::{is_hidden, is_shaping_hint};

/// The maximum width of a list in brackets. A wider list gets one line per item.
const FLOW_WIDTH_MAX: usize = 80;

/// The quotes of the previous scalar, so that a new value keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuoteStyle {
    /// Quotes only if they are needed.
    Auto,
    /// Single quotes if they can represent the text.
    SingleQuoted,
    /// Double quotes.
    DoubleQuoted,
}

/// Lists that grow with every change, so each item is written on one line.
const ONE_LINE_ITEMS: [&str; 1] = ["revisions"];

/// Formats `key: value`, with nested values on the following lines. Ends with a line break.
pub(crate) fn block_entry(key: &str, value: &YamlData, indent: usize) -> String {
    let mut out = String::new();
    write_entry(&mut out, key, value, indent);
    out
}

/// Formats what follows the colon of `key: value`. Ends with a line break.
pub(crate) fn block_value(key: &str, value: &YamlData, indent: usize) -> String {
    let mut out = String::new();
    write_value(&mut out, key, value, indent);
    out
}

/// Formats `- value`, an item of the list `key`, with nested values on the following lines. Ends with
/// a line break.
pub(crate) fn block_item(key: &str, value: &YamlData, indent: usize) -> String {
    let mut out = String::new();
    write_item(&mut out, key, value, indent);
    out
}

fn write_entry(out: &mut String, key: &str, value: &YamlData, indent: usize) {
    pad(out, indent);
    write_entry_inline(out, key, value, indent);
}

/// Writes an entry whose indentation is already written.
fn write_entry_inline(out: &mut String, key: &str, value: &YamlData, indent: usize) {
    out.push_str(&inline_scalar(key, QuoteStyle::Auto, false));
    out.push(':');
    write_value(out, key, value, indent);
}

/// Writes the value of an entry, starting after its colon.
fn write_value(out: &mut String, key: &str, value: &YamlData, indent: usize) {
    match value {
        YamlData::Null => out.push('\n'),
        YamlData::Map(entries) if !entries.is_empty() => {
            out.push('\n');
            for (key, value) in entries {
                write_entry(out, key, value, indent + 2);
            }
        }
        YamlData::List(items) if !items.is_empty() => match short_list(items) {
            Some(list) => {
                out.push(' ');
                out.push_str(&list);
                out.push('\n');
            }
            None => {
                out.push('\n');
                for value in items {
                    write_item(out, key, value, indent + 2);
                }
            }
        },
        YamlData::Text(_) | YamlData::Bare(_) | YamlData::List(_) | YamlData::Map(_) => {
            out.push(' ');
            write_leaf(out, value, indent);
        }
    }
}

fn write_item(out: &mut String, list: &str, value: &YamlData, indent: usize) {
    pad(out, indent);
    out.push('-');
    match value {
        YamlData::Null => out.push_str(" ~\n"),
        YamlData::Map(entries) if !entries.is_empty() && !ONE_LINE_ITEMS.contains(&list) => {
            for (position, (key, value)) in entries.iter().enumerate() {
                if position == 0 {
                    out.push(' ');
                    write_entry_inline(out, key, value, indent + 2);
                } else {
                    write_entry(out, key, value, indent + 2);
                }
            }
        }
        YamlData::Text(_) | YamlData::Bare(_) | YamlData::List(_) | YamlData::Map(_) => {
            out.push(' ');
            write_leaf(out, value, indent);
        }
    }
}

/// Writes a value that starts on the current line.
fn write_leaf(out: &mut String, value: &YamlData, indent: usize) {
    match value {
        YamlData::Text(text) => out.push_str(&scalar(text, QuoteStyle::Auto, indent + 2)),
        YamlData::Null | YamlData::Bare(_) | YamlData::List(_) | YamlData::Map(_) => {
            out.push_str(&flow(value));
        }
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
}

fn short_list(items: &[YamlData]) -> Option<String> {
    let scalars = items.iter().all(|item| match item {
        YamlData::Text(text) => !text.contains([' ', '\n']),
        YamlData::Bare(_) => true,
        YamlData::Null | YamlData::List(_) | YamlData::Map(_) => false,
    });
    let list = scalars.then(|| flow(&YamlData::List(items.to_vec())))?;
    (list.chars().count() <= FLOW_WIDTH_MAX).then_some(list)
}

/// Formats a value on one line. Lists and mappings go in brackets.
pub fn flow(value: &YamlData) -> String {
    match value {
        YamlData::Null => "~".to_owned(),
        YamlData::Bare(text) => text.clone(),
        YamlData::Text(text) => inline_scalar(text, QuoteStyle::Auto, true),
        YamlData::List(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        YamlData::Map(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| {
                    format!("{}: {}", inline_scalar(key, QuoteStyle::Auto, true), flow(value))
                })
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// Formats a text as a scalar in block context. Multi-line text becomes a `|` block indented by
/// `indent`.
pub(crate) fn scalar(text: &str, form: QuoteStyle, indent: usize) -> String {
    if text.contains('\n') && fits_block(text) {
        let chomp = if text.ends_with('\n') { "" } else { "-" };
        let mut out = format!("|{chomp}\n");
        for line in text.lines() {
            if !line.is_empty() {
                pad(&mut out, indent);
                out.push_str(line);
            }
            out.push('\n');
        }
        return out;
    }
    inline_scalar(text, form, false)
}

/// Whether a `|` block reads back as exactly this text.
fn fits_block(text: &str) -> bool {
    let one_end = !text.ends_with("\n\n") && text != "\n";
    let first_is_flush = !text.starts_with([' ', '\t', '\n']);
    let clean_lines = text.lines().all(|line| line.is_empty() || !line.trim().is_empty());
    one_end && first_is_flush && clean_lines && text.chars().all(|c| c == '\n' || is_printable(c))
}

/// Formats a text on one line, quoted if needed or if it was quoted before.
fn inline_scalar(text: &str, form: QuoteStyle, in_brackets: bool) -> String {
    let single_works = text.chars().all(is_printable) && !text.contains('\n');
    match form {
        QuoteStyle::Auto if is_plain_safe(text, in_brackets) => text.to_owned(),
        QuoteStyle::SingleQuoted if single_works => format!("'{}'", text.replace('\'', "''")),
        QuoteStyle::Auto | QuoteStyle::SingleQuoted | QuoteStyle::DoubleQuoted => {
            double_quoted(text)
        }
    }
}

fn double_quoted(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_printable(c) => out.push(c),
            c => write!(out, "\\U{:08X}", u32::from(c)).expect("a string takes any text"),
        }
    }
    out.push('"');
    out
}

/// Whether a character is written as it is. Invisible characters are escaped, except joiners and
/// variation selectors, which some scripts and emoji need.
fn is_printable(c: char) -> bool {
    let joins = matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
    joins || !(is_hidden(c) || is_shaping_hint(c))
}

/// Whether every YAML reader reads the text back unchanged without quotes.
fn is_plain_safe(text: &str, in_brackets: bool) -> bool {
    const INDICATORS: &str = "-?:,[]{}#&*!|>'\"%@`=<.~+";
    let Some(first) = text.chars().next() else {
        return false;
    };
    let trimmed = text.trim() == text && text.chars().all(is_printable);
    let starts_well = !INDICATORS.contains(first) || starts_like_a_path(text);
    let colons = text.contains(": ") || text.ends_with(':');
    let brackets = in_brackets && (text.contains(['[', ']', '{', '}', ',']) || text.contains(':'));
    trimmed
        && starts_well
        && !colons
        && !text.contains(" #")
        && !brackets
        && !reads_as_non_text(text)
}

/// Whether a leading indicator is harmless because of what follows: `./path`, `.claude/x`, `<b>`.
fn starts_like_a_path(text: &str) -> bool {
    let second = text.chars().nth(1);
    (text.starts_with('.') && text.contains('/') && !text.starts_with(".."))
        || (text.starts_with('<') && second.is_some_and(char::is_alphanumeric))
}

/// Whether YAML readers take a plain scalar for something other than text.
pub(super) fn reads_as_non_text(text: &str) -> bool {
    const WORDS: [&str; 13] = [
        "null", "true", "false", "yes", "no", "on", "off", "y", "n", ".nan", ".inf", "-.inf", "nan",
    ];
    let lower = text.to_ascii_lowercase();
    // Numbers, dates and times. Commit hashes and uids contain other letters.
    let number = text.starts_with(|c: char| c.is_ascii_digit())
        && (text.chars().all(|c| c.is_ascii_digit() || "eE._:+-TtZz ".contains(c))
            || text.starts_with("0x")
            || text.starts_with("0o"));
    WORDS.contains(&lower.as_str()) || number
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}
