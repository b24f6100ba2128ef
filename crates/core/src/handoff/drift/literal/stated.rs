//! The literals that a sentence states.

use crate::handoff::code_text::versions;
use crate::handoff::drift::statement::is_place;
use crate::text::span::{Span, Spanned};

/// A literal that a sentence states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatedLiteral<'t> {
    /// The number of lines of a file.
    LineCount(usize),
    /// A number in inline code.
    Number(&'t str),
    /// A version.
    Version(&'t str),
    /// A number with its name, in inline code.
    Assigned { name: &'t str, number: &'t str },
    /// An identifier in inline code.
    Identifier {
        /// Its last part: `open` in `Table::open()`.
        name: &'t str,
        /// What else proves that a text has it, where the name alone is too common.
        exact: &'t str,
        is_distinctive: bool,
    },
}

/// A sentence with more literals is a list, and hardly about one file.
const LITERALS_MAX: usize = 32;

pub(super) fn stated_literals(text: &str, sentence: Span) -> Vec<Spanned<StatedLiteral<'_>>> {
    let mut found = Vec::new();
    let mut start = sentence.start;
    // Inline code is every second part between backticks.
    for (number, part) in sentence.slice(text).split('`').enumerate() {
        let at = Span::new(start, start + part.len());
        match number % 2 {
            0 => {
                found.extend(line_counts(part, at.start));
                found.extend(stated_versions(part, at.start));
            }
            _ => found.extend(code_literal(part).map(|literal| Spanned::new(literal, at))),
        }
        start = at.end + 1;
    }
    if found.len() > LITERALS_MAX { Vec::new() } else { found }
}

fn stated_versions(part: &str, start: usize) -> impl Iterator<Item = Spanned<StatedLiteral<'_>>> {
    versions(part).map(move |version| {
        let from = start + version.as_ptr() as usize - part.as_ptr() as usize;
        Spanned::new(StatedLiteral::Version(version), Span::new(from, from + version.len()))
    })
}

/// The literal that inline code is as a whole.
fn code_literal(code: &str) -> Option<StatedLiteral<'_>> {
    let code = code.trim();
    if is_place(code) {
        return None;
    }
    if code.bytes().all(|byte| byte.is_ascii_digit()) {
        return is_distinctive_number(code).then_some(StatedLiteral::Number(code));
    }
    if let Some(version) = versions(code).next()
        && matches!(code.strip_suffix(version), Some("" | "v"))
    {
        return Some(StatedLiteral::Version(version));
    }
    let name_end = code.find(|c: char| !is_word_char(c)).unwrap_or(code.len());
    let (name, rest) = code.split_at(name_end);
    if let Some(number) = assigned_number(rest)
        && rest.ends_with(number)
        && is_name(name)
    {
        return Some(StatedLiteral::Assigned { name, number });
    }
    identifier(code)
}

/// The number in `= 14`, `: 14` or `: u32 = 14`, behind a name.
pub(super) fn assigned_number(behind: &str) -> Option<&str> {
    let rest = behind.trim_start_matches(['"', '\'', ' ']);
    let rest = match rest.strip_prefix(':').filter(|rest| !rest.starts_with(':')) {
        Some(typed) => {
            let typed = typed.trim_start_matches(' ');
            let end = typed.find(|c: char| !is_word_char(c)).unwrap_or(typed.len());
            let is_type = typed.starts_with(char::is_alphabetic);
            match is_type {
                true => typed[end..].trim_start_matches(' ').strip_prefix('=')?,
                false => typed,
            }
        }
        None => rest.strip_prefix('=').filter(|rest| !rest.starts_with(['=', '>']))?,
    };
    let rest = rest.trim_start_matches(' ');
    let end = rest.find(|c: char| !is_word_char(c)).unwrap_or(rest.len());
    let number = &rest[..end];
    let is_decimal = rest[end..]
        .strip_prefix('.')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    (is_number && !is_decimal && number.starts_with(|c: char| c.is_ascii_digit())).then_some(number)
}

/// Reads `load_rows`, `Table::open()` and `Bun.randomUUIDv5(…)`.
fn identifier(code: &str) -> Option<StatedLiteral<'_>> {
    let (path, is_call) = match code.split_once('(') {
        Some((path, arguments)) if arguments.ends_with(')') => (path, true),
        Some(_) => return None,
        None => (code, false),
    };
    let is_separator = |c: char| matches!(c, '.' | ':' | '#');
    let mut names = path.split(is_separator).filter(|name| !name.is_empty());
    if !path.split(is_separator).all(|name| name.is_empty() || is_name(name)) || is_hash(path) {
        return None;
    }
    let name = names.next_back()?;
    let is_qualified = names.next().is_some() && !path.ends_with(is_separator);
    if name.len() < NAME_BYTES_MIN {
        return None;
    }
    let is_distinctive = is_distinctive(name);
    // The opening parenthesis belongs to a call.
    let exact = if is_qualified { path } else { &code[..(path.len() + 1).min(code.len())] };
    (is_distinctive || is_qualified || is_call).then_some(StatedLiteral::Identifier {
        name,
        exact,
        is_distinctive,
    })
}

/// Shorter names occur everywhere.
const NAME_BYTES_MIN: usize = 4;

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(is_word_char)
}

/// Whether a name is made of several words, so that it is no word of the language.
fn is_distinctive(name: &str) -> bool {
    let inner = name.trim_matches('_');
    let is_camel = inner
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    name.len() >= NAME_BYTES_MIN && (inner.contains('_') || is_camel)
}

/// Years are in dates, and small numbers are everywhere.
fn is_distinctive_number(number: &str) -> bool {
    number.len() >= 4
        && !(number.len() == 4 && (number.starts_with("19") || number.starts_with("20")))
}

fn is_hash(word: &str) -> bool {
    word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Words that say that a number is not exact.
const APPROXIMATE_WORDS: [&str; 11] = [
    "about",
    "around",
    "roughly",
    "approximately",
    "over",
    "under",
    "than",
    "nearly",
    "almost",
    "first",
    "last",
];

/// Finds `97 lines`, `97-line` and `97 LOC` in prose.
fn line_counts(part: &str, start: usize) -> Vec<Spanned<StatedLiteral<'_>>> {
    let mut found = Vec::new();
    for unit in ["line", "LOC"] {
        for (at, _) in part.match_indices(unit) {
            let behind = part[at + unit.len()..].trim_start_matches('s');
            let before = part[..at].strip_suffix([' ', '-']);
            let Some(before) = before.filter(|_| !behind.starts_with(char::is_alphanumeric)) else {
                continue;
            };
            let number = trailing_number(before);
            let count = number.replace(',', "").parse().ok();
            let lead = &before[..before.len() - number.len()];
            let last_word = lead.split_whitespace().next_back().unwrap_or_default().to_lowercase();
            let is_part =
                lead.ends_with(|c: char| c.is_alphanumeric() || "~≈<>+-–.:#/=,".contains(c));
            if let Some(count) =
                count.filter(|_| !is_part && !APPROXIMATE_WORDS.contains(&last_word.as_str()))
            {
                let at = Span::new(start + lead.len(), start + before.len());
                found.push(Spanned::new(StatedLiteral::LineCount(count), at));
            }
        }
    }
    found
}

/// The number at the end of a text, with its thousands separators.
fn trailing_number(text: &str) -> &str {
    let lead = text.trim_end_matches(|c: char| c.is_ascii_digit() || c == ',');
    text[lead.len()..].trim_start_matches(',')
}
