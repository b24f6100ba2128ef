//! Writing values as YAML: one strict way, whatever the reader accepts.

use super::Data;
use crate::text::hidden::{hides, only_shapes};

/// The widest a list may get in brackets before it takes a line per item.
const FLOW_WIDTH_MAX: usize = 80;

/// Which quotes a scalar had before, so that a new value keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// No quotes unless they are needed.
    Free,
    /// Single quotes where they can hold the text.
    SingleQuoted,
    /// Double quotes.
    DoubleQuoted,
}

/// `key: value`, with everything that belongs to it on the following lines; ends with a line break.
pub fn block_entry(key: &str, value: &Data, indent: usize) -> String {
    let mut out = String::new();
    entry(&mut out, key, value, indent);
    out
}

/// `- value`, with everything that belongs to it on the following lines; ends with a line break.
pub fn block_item(value: &Data, indent: usize) -> String {
    let mut out = String::new();
    item(&mut out, value, indent);
    out
}

fn entry(out: &mut String, key: &str, value: &Data, indent: usize) {
    pad(out, indent);
    entry_here(out, key, value, indent);
}

/// An entry whose indentation is written already.
fn entry_here(out: &mut String, key: &str, value: &Data, indent: usize) {
    out.push_str(&inline(key, Form::Free, false));
    out.push(':');
    match value {
        Data::Null => out.push('\n'),
        Data::Map(entries) if !entries.is_empty() => {
            out.push('\n');
            for (key, value) in entries {
                entry(out, key, value, indent + 2);
            }
        }
        Data::List(items) if !items.is_empty() => match short_list(items) {
            Some(list) => {
                out.push(' ');
                out.push_str(&list);
                out.push('\n');
            }
            None => {
                out.push('\n');
                for value in items {
                    item(out, value, indent + 2);
                }
            }
        },
        Data::Text(_) | Data::Bare(_) | Data::List(_) | Data::Map(_) => {
            out.push(' ');
            leaf(out, value, indent);
        }
    }
}

fn item(out: &mut String, value: &Data, indent: usize) {
    pad(out, indent);
    out.push('-');
    match value {
        Data::Null => out.push_str(" ~\n"),
        Data::Map(entries) if !entries.is_empty() => {
            for (position, (key, value)) in entries.iter().enumerate() {
                if position == 0 {
                    out.push(' ');
                    entry_here(out, key, value, indent + 2);
                } else {
                    entry(out, key, value, indent + 2);
                }
            }
        }
        Data::Text(_) | Data::Bare(_) | Data::List(_) | Data::Map(_) => {
            out.push(' ');
            leaf(out, value, indent);
        }
    }
}

/// A value that starts on the current line.
fn leaf(out: &mut String, value: &Data, indent: usize) {
    match value {
        Data::Text(text) => out.push_str(&scalar(text, Form::Free, indent + 2)),
        Data::Null | Data::Bare(_) | Data::List(_) | Data::Map(_) => out.push_str(&flow(value)),
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
}

fn short_list(items: &[Data]) -> Option<String> {
    let scalars = items.iter().all(|item| match item {
        Data::Text(text) => !text.contains([' ', '\n']),
        Data::Bare(_) => true,
        Data::Null | Data::List(_) | Data::Map(_) => false,
    });
    let list = scalars.then(|| flow(&Data::List(items.to_vec())))?;
    (list.chars().count() <= FLOW_WIDTH_MAX).then_some(list)
}

/// A value on one line, in brackets where it has parts.
pub fn flow(value: &Data) -> String {
    match value {
        Data::Null => "~".to_owned(),
        Data::Bare(text) => text.clone(),
        Data::Text(text) => inline(text, Form::Free, true),
        Data::List(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Data::Map(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", inline(key, Form::Free, true), flow(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// A text as a scalar in block context; several lines become a `|` block indented by `indent`.
pub fn scalar(text: &str, form: Form, indent: usize) -> String {
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
    inline(text, form, false)
}

/// Whether a `|` block gives back exactly this text.
fn fits_block(text: &str) -> bool {
    let one_end = !text.ends_with("\n\n") && text != "\n";
    let first_is_flush = !text.starts_with([' ', '\t', '\n']);
    let clean_lines = text.lines().all(|line| line.is_empty() || !line.trim().is_empty());
    one_end && first_is_flush && clean_lines && text.chars().all(|c| c == '\n' || printable(c))
}

/// A text on one line, in quotes where they are needed or were there before.
fn inline(text: &str, form: Form, in_brackets: bool) -> String {
    let single_works = text.chars().all(printable) && !text.contains('\n');
    match form {
        Form::Free if plain_works(text, in_brackets) => text.to_owned(),
        Form::SingleQuoted if single_works => format!("'{}'", text.replace('\'', "''")),
        Form::Free | Form::SingleQuoted | Form::DoubleQuoted => double_quoted(text),
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
            c if printable(c) => out.push(c),
            c => write!(out, "\\U{:08X}", u32::from(c)).expect("a string takes any text"),
        }
    }
    out.push('"');
    out
}

/// What is not seen is spelled out, but for what joins letters and signs that people write.
fn printable(c: char) -> bool {
    let joins = matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
    joins || !(hides(c) || only_shapes(c))
}

/// Whether the text reads back as itself without quotes, for us and for any other YAML reader.
fn plain_works(text: &str, in_brackets: bool) -> bool {
    const INDICATORS: &str = "-?:,[]{}#&*!|>'\"%@`=<.~+";
    let Some(first) = text.chars().next() else {
        return false;
    };
    let trimmed = text.trim() == text && text.chars().all(printable);
    let starts_well = !INDICATORS.contains(first) || starts_like_a_path(text);
    let colons = text.contains(": ") || text.ends_with(':');
    let brackets = in_brackets && (text.contains(['[', ']', '{', '}', ',']) || text.contains(':'));
    trimmed && starts_well && !colons && !text.contains(" #") && !brackets && !reads_otherwise(text)
}

/// `./path`, `.claude/x`, `<b>`: indicators that are none when a word follows.
fn starts_like_a_path(text: &str) -> bool {
    let second = text.chars().nth(1);
    (text.starts_with('.') && text.contains('/') && !text.starts_with(".."))
        || (text.starts_with('<') && second.is_some_and(char::is_alphanumeric))
}

/// Words that YAML readers take for something other than text.
pub(super) fn reads_otherwise(text: &str) -> bool {
    const WORDS: [&str; 13] = [
        "null", "true", "false", "yes", "no", "on", "off", "y", "n", ".nan", ".inf", "-.inf", "nan",
    ];
    let lower = text.to_ascii_lowercase();
    // Numbers, dates and times; a commit or a uid has other letters in it.
    let number = text.starts_with(|c: char| c.is_ascii_digit())
        && (text.chars().all(|c| c.is_ascii_digit() || "eE._:+-TtZz ".contains(c))
            || text.starts_with("0x")
            || text.starts_with("0o"));
    WORDS.contains(&lower.as_str()) || number
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}
