//! Reads the lines behind a cited path: `:12`, `#L3-L5`, `:620,790,917`, `:~130`, ` (lines 88-98)`.
//!
//! A list is read whole, or it is marked as incomplete: `check --fix` must not update some numbers
//! of a list and leave the others.

use super::continuation::{is_counted, may_continue};
use crate::text::span::Span;

/// A range of lines in a file, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineRange {
    /// The first line.
    pub first: usize,
    /// The last line.
    pub last: usize,
}

impl LineRange {
    /// The number of lines.
    pub fn count(self) -> usize {
        self.last - self.first + 1
    }

    /// Whether the other range is inside this one.
    pub fn contains(self, other: &Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }

    /// A range of the same length that starts at another line.
    #[must_use]
    pub fn starting_at(self, first: usize) -> Self {
        Self { first, last: first + self.count() - 1 }
    }
}

/// Formats as `12` or `12-14`.
impl std::fmt::Display for LineRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.first)?;
        if self.last > self.first { write!(f, "-{}", self.last) } else { Ok(()) }
    }
}

/// One entry of a list of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineItem {
    /// Its span, with a `~` or `L` in front.
    pub(super) at: Span,
    pub(super) lines: LineRange,
    /// Whether the author says that the number is not exact.
    pub(super) is_approximate: bool,
}

/// The lines behind a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineList {
    /// At least one entry. Spans start at the end of the path.
    pub(super) items: Vec<LineItem>,
    /// Whether the text behind the last entry cannot belong to the list.
    pub(super) is_complete: bool,
    /// Whether the lines are attached to the path, as in `a.rs:12`. If they follow in words, they
    /// do not show that the word before is a path.
    pub(super) is_attached: bool,
}

/// Reads the lines at the start of `rest`, which begins where the path ends.
pub(super) fn read_lines(rest: &str) -> Option<LineList> {
    let list = match attached_start(rest) {
        Some(start) => read_more_in_words(rest, read_list(rest, start, false)?),
        None => {
            let (start, is_approximate) = worded_start(rest)?;
            let list = read_list(rest, start, is_approximate)?;
            if is_elsewhere(rest, list.items.last()?.at.end) {
                return None;
            }
            LineList { is_attached: false, ..list }
        }
    };
    let end = skip_column(rest, list.items.last()?.at.end);
    Some(LineList { is_complete: list.is_complete && !may_continue(&rest[end..]), ..list })
}

/// Whether the line before `end` is in another file: `a.rs, line 20 of b.rs`.
fn is_elsewhere(rest: &str, end: usize) -> bool {
    [" of ", " in "].iter().any(|word| rest[end..].starts_with(word))
}

/// Renders a range in the notation of an entry, such as `L12-L14` or `~130`.
pub(super) fn render_like(written: &str, lines: LineRange) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    let start = written.find(is_digit).unwrap_or(written.len());
    let end = skip(written, start, is_digit);
    let second = written.trim_end_matches(is_digit).len();
    let (before, LineRange { first, last }) = (&written[..start], lines);
    if last == first {
        return format!("{before}{first}");
    }
    let between = match written.get(end..second) {
        Some(between) => between,
        None if before.ends_with('L') => "-L",
        None => "-",
    };
    format!("{before}{first}{between}{last}")
}

/// Where the first entry starts in `:12` or `#L12`.
fn attached_start(rest: &str) -> Option<usize> {
    let is_lines = rest.starts_with("#L") || rest.starts_with(':');
    is_lines.then_some(1)
}

/// Words for a number that is not exact.
const APPROXIMATE_WORDS: [&str; 6] =
    ["~", "around ", "about ", "near ", "approx. ", "approximately "];

/// Where the first entry starts in `` ` (lines 88-98)``, and whether it is called approximate.
fn worded_start(rest: &str) -> Option<(usize, bool)> {
    let mut at = skip(rest, 0, |c| "`*_\"')".contains(c));
    at = skip_one(rest, at, &[",", ":"]);
    let spaces = skip(rest, at, |c| c == ' ' || c == '\n');
    if spaces == at || rest[at..spaces].matches('\n').count() > 1 {
        return None;
    }
    at = skip_one(rest, spaces, &["(", "["]);
    let word = skip_one(rest, at, &APPROXIMATE_WORDS);
    let after = ["lines ", "line ", "Lines ", "Line "]
        .iter()
        .find_map(|name| rest[word..].starts_with(name).then_some(word + name.len()))
        .or_else(|| rest[word..].starts_with('L').then_some(word))?;
    let is_item =
        rest[after..].trim_start_matches(['~', 'L']).starts_with(|c: char| c.is_ascii_digit());
    is_item.then_some((after, word > at))
}

/// Adds the lines in words to attached ones: `a.rs:12 (lines 12-20)`.
fn read_more_in_words(rest: &str, mut list: LineList) -> LineList {
    let Some(end) = list.items.last().map(|item| item.at.end).filter(|_| list.is_complete) else {
        return list;
    };
    let more = worded_start(&rest[end..])
        .and_then(|(start, is_approximate)| read_list(rest, end + start, is_approximate));
    if let Some(more) = more {
        list.items.extend(more.items);
        list.is_complete = more.is_complete;
    }
    list
}

/// Reads entries from `start` on, for as long as they can only be lines.
fn read_list(rest: &str, start: usize, is_approximate: bool) -> Option<LineList> {
    let mut first = read_item(rest, start)?;
    first.is_approximate |= is_approximate;
    let mut items = vec![first];
    let mut end = skip_column(rest, first.at.end);
    let is_complete = loop {
        match next_item(rest, end) {
            NextItem::Item(item) => {
                end = item.at.end;
                items.push(item);
            }
            NextItem::None => break ends_here(rest, end),
            NextItem::Unclear => break false,
        }
    };
    Some(LineList { items, is_complete, is_attached: true })
}

/// Larger numbers are not line numbers.
const LINES_MAX: usize = 9_999_999;
/// Marks between the two numbers of a range.
const DASHES: [char; 4] = ['-', '–', '—', '…'];

/// Reads `12`, `12-14`, `L12-L14`, `~130` or, inside backticks, ``12`–`14``.
fn read_item(rest: &str, start: usize) -> Option<LineItem> {
    let is_approximate = rest[start..].starts_with('~');
    let number_at = skip_one(rest, skip_one(rest, start, &["~"]), &["L"]);
    let (first, end) = read_number(rest, number_at)?;
    let second = rest[end..].strip_prefix(DASHES).or_else(|| {
        // Both numbers have their own backticks.
        rest[end..].strip_prefix('`')?.strip_prefix(DASHES)?.strip_prefix('`')
    });
    let second = second.and_then(|after| {
        let after = rest.len() - after.len();
        read_number(rest, skip_one(rest, after, &["L"]))
    });
    let (last, end) = second.unwrap_or((first, end));
    // Column ranges (`L1C2`) and backward ranges cannot be rewritten safely.
    let is_whole = first > 0 && last >= first && !rest[end..].starts_with('C');
    let at = Span::new(start, end);
    is_whole.then_some(LineItem { at, lines: LineRange { first, last }, is_approximate })
}

fn read_number(rest: &str, at: usize) -> Option<(usize, usize)> {
    let end = skip(rest, at, |c| c.is_ascii_digit());
    let number = rest[at..end].parse().ok().filter(|number| *number <= LINES_MAX)?;
    Some((number, end))
}

/// The end of `:12:5`, whose last number is a column.
fn skip_column(rest: &str, at: usize) -> usize {
    let column = skip_one(rest, at, &[":"]);
    let end = skip(rest, column, |c| c.is_ascii_digit());
    if column > at && end > column { end } else { at }
}

/// What follows an entry.
enum NextItem {
    Item(LineItem),
    None,
    /// Another number follows, and it may or may not be a line.
    Unclear,
}

/// Separators that make the next number an entry, and those that leave it open: in `a.rs:10, 20
/// users`, 20 is no line.
const TIGHT: [&str; 5] = [",", ";", "/", "+", "&"];
const LOOSE: [&str; 9] = [", and ", ", ", "; ", " and ", " & ", " + ", " / ", " or ", ",\n"];
/// Separators behind which only `:20` is an entry.
const BRACKETS: [&str; 4] = [" (and ", " (also ", " (", " ["];
/// Words between the two numbers of a range.
const RANGE_WORDS: [&str; 6] = [" - ", " – ", " — ", " to ", " through ", " until "];

fn next_item(rest: &str, end: usize) -> NextItem {
    let follows = |separator: &&&str| rest[end..].starts_with(**separator);
    if let Some(separator) = TIGHT.iter().find(follows)
        && let Some(item) = read_item(rest, skip_one(rest, end + separator.len(), &[":"]))
    {
        return counted_or(rest, item);
    }
    if let Some(word) = RANGE_WORDS.iter().find(follows) {
        let is_number = read_number(rest, end + word.len()).is_some();
        return if is_number { NextItem::Unclear } else { NextItem::None };
    }
    // `a.rs:10`, `:20` has its own backticks.
    let open = skip_one(rest, end, &["`"]);
    let starts = |separator: &&&str| rest[open..].starts_with(**separator);
    if let Some(bracket) = BRACKETS.iter().find(starts) {
        let colon = skip_one(rest, open + bracket.len(), &["`"]);
        let item = rest[colon..].starts_with(':').then(|| read_item(rest, colon + 1)).flatten();
        return item.map_or(NextItem::None, NextItem::Item);
    }
    let Some(separator) = LOOSE.iter().find(starts) else {
        return NextItem::None;
    };
    let item_at = skip(rest, open + separator.len(), |c| c == ' ');
    let worded = skip_one(rest, item_at, &["lines ", "line "]);
    if worded > item_at {
        return match read_item(rest, worded) {
            Some(item) if is_elsewhere(rest, item.at.end) => NextItem::Unclear,
            Some(item) => NextItem::Item(item),
            None => NextItem::None,
        };
    }
    let ticked = skip_one(rest, item_at, &["`"]);
    let has_ticks = open > end || rest[ticked..].starts_with(':');
    let item_at = if has_ticks { ticked } else { item_at };
    let number_at = skip_one(rest, item_at, &[":"]);
    let is_marked = number_at > item_at || rest[item_at..].starts_with(['~', 'L']);
    let closed_before = open > end;
    match read_item(rest, number_at) {
        Some(item) if is_marked => NextItem::Item(item),
        Some(item)
            if !closed_before && (item.lines.count() > 1 || ends_list(rest, item.at.end)) =>
        {
            counted_or(rest, item)
        }
        Some(_) if closed_before && item_at == open + separator.len() => NextItem::None,
        Some(_) => NextItem::Unclear,
        None => NextItem::None,
    }
}

/// The next entry, unless its number counts something: `a.rs:10, 20-30 ms`.
fn counted_or(rest: &str, item: LineItem) -> NextItem {
    if is_counted(&rest[item.at.end..]) { NextItem::Unclear } else { NextItem::Item(item) }
}

/// Whether a list ends behind a number, so that the number is no part of a sentence.
fn ends_list(rest: &str, end: usize) -> bool {
    let after = rest[end..].trim_start_matches(' ');
    let is_closed =
        after.is_empty() || after.starts_with(['`', ')', ']', '|', ';', '"', '*', '—', '–']);
    let goes_on = || LOOSE.iter().chain(&TIGHT).any(|separator| rest[end..].starts_with(separator));
    let is_stop = |mark: &str| {
        let after = rest[end..].strip_prefix(mark);
        after.is_some_and(|after| after.is_empty() || after.starts_with(char::is_whitespace))
    };
    is_closed || goes_on() || is_stop(".") || is_stop(":")
}

/// Whether the text behind the last entry shows that nothing is missing.
fn ends_here(rest: &str, end: usize) -> bool {
    let mut after = rest[end..].chars();
    match (after.next(), after.next()) {
        (None, _) => true,
        (Some(c), _) if c.is_whitespace() || "`)]}>|\"'*;!?…".contains(c) => true,
        (Some(',' | '.' | ':'), next) => {
            next.is_none_or(|next| !next.is_alphanumeric() && next != '.')
        }
        (Some('—'), next) => next.is_none_or(|next| !next.is_ascii_digit()),
        (Some(_), _) => false,
    }
}

fn skip(text: &str, from: usize, is_skipped: impl Fn(char) -> bool) -> usize {
    text.len() - text[from..].trim_start_matches(is_skipped).len()
}

/// The end of the first of these strings that follows, or `from`.
fn skip_one(text: &str, from: usize, strings: &[&str]) -> usize {
    let found = strings.iter().find(|string| text[from..].starts_with(**string));
    from + found.map_or(0, |string| string.len())
}
