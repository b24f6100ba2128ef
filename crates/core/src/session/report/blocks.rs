//! Splits a text of an agent into blocks: headings, paragraphs, list items, and table rows. Code
//! and quotes are not the agent's own words, so their text is omitted.
//!
//! This is a line reader rather than a Markdown parser: agents indent as they like, mix list
//! markers, and write headings as bold lines, and every line must cost the same however deeply it
//! is nested.

use super::ELLIPSIS;

/// A block of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReportBlock {
    pub(super) kind: ReportBlockKind,
    /// The text on one line: runs of white space become one space, code blocks inside become `[…]`.
    pub(super) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportBlockKind {
    /// The level, from 1 to 6; a bold line is below all of them.
    Heading(u8),
    Paragraph,
    Item {
        /// Columns before the marker.
        indent: usize,
        /// The number of an ordered item: 2 for `2.`.
        number: Option<u32>,
        /// Whether its box is checked; `None` without a box.
        check: Option<bool>,
    },
    Row,
    /// Code or a quote: not the agent's own words.
    Other,
}

/// The maximum number of blocks. Only the end of a longer text is kept.
const BLOCKS_MAX: usize = 4_000;

/// The level of a heading that is a bold line.
const BOLD_LEVEL: u8 = 7;

/// An open code fence: its character and length.
type Fence = (u8, usize);

#[derive(Default)]
struct BlockParser {
    blocks: Vec<ReportBlock>,
    fence: Option<Fence>,
    /// Whether the next line of text can continue the last block.
    is_open: bool,
    is_after_blank: bool,
}

/// Returns the blocks of a text, in order.
pub(super) fn parse_blocks(text: &str) -> Vec<ReportBlock> {
    let mut reader = BlockParser::default();
    for line in text.lines() {
        reader.line(line);
    }
    for block in &mut reader.blocks {
        if block.kind == ReportBlockKind::Paragraph && is_bold_line(&block.text) {
            block.kind = ReportBlockKind::Heading(BOLD_LEVEL);
        }
    }
    reader.blocks.retain(|block| !block.text.is_empty());
    let first = reader.blocks.len().saturating_sub(BLOCKS_MAX);
    reader.blocks.split_off(first)
}

impl BlockParser {
    fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        let indent = indent(line);
        if let Some(open) = self.fence {
            if closes(trimmed, open) {
                self.fence = None;
            }
            return;
        }
        if let Some(fence) = fence(trimmed) {
            self.fence = Some(fence);
            self.elide_code();
        } else if trimmed.is_empty() {
            self.is_after_blank = true;
        } else if trimmed.starts_with('>') {
            self.other_block();
        } else if is_rule(trimmed) {
            self.is_open = false;
        } else if let Some((level, title)) = heading(trimmed) {
            self.push(ReportBlockKind::Heading(level), title);
            self.is_open = false;
        } else if trimmed.starts_with('|') {
            self.table_row(trimmed);
        } else if let Some((kind, rest)) = item(trimmed, indent) {
            self.push(kind, rest);
        } else {
            self.text_line(trimmed, indent);
        }
    }

    fn push(&mut self, kind: ReportBlockKind, text: &str) {
        let mut block = ReportBlock { kind, text: String::new() };
        append(&mut block.text, text);
        self.blocks.push(block);
        self.is_open = true;
        self.is_after_blank = false;
    }

    /// Handles a line of running text: it continues the item or paragraph above it, or starts a
    /// paragraph.
    fn text_line(&mut self, text: &str, indent: usize) {
        let is_after_blank = std::mem::take(&mut self.is_after_blank);
        let belongs = self.is_open
            && self.blocks.last().is_some_and(|last| match last.kind {
                ReportBlockKind::Item { indent: outer, .. } => !is_after_blank || indent > outer,
                ReportBlockKind::Paragraph => !is_after_blank,
                ReportBlockKind::Heading(_) | ReportBlockKind::Row | ReportBlockKind::Other => {
                    false
                }
            });
        match self.blocks.last_mut() {
            Some(last) if belongs => append(&mut last.text, text),
            _ => self.push(ReportBlockKind::Paragraph, text),
        }
    }

    /// Omits a code block: inside an item it becomes `[…]`, elsewhere a separate block.
    fn elide_code(&mut self) {
        match self.blocks.last_mut().filter(|_| self.is_open) {
            Some(ReportBlock { kind: ReportBlockKind::Item { .. }, text }) => {
                append(text, ELLIPSIS);
            }
            _ => self.other_block(),
        }
    }

    fn other_block(&mut self) {
        if self.blocks.last().is_none_or(|last| last.kind != ReportBlockKind::Other) {
            self.push(ReportBlockKind::Other, ELLIPSIS);
        }
        self.is_open = false;
    }

    /// Handles a table row. The row above the separator line only names the columns, so it is
    /// dropped.
    fn table_row(&mut self, line: &str) {
        let is_separator = line.contains('-') && line.chars().all(|c| " |:-".contains(c));
        if !is_separator {
            let cells = line.trim_matches('|').trim();
            self.push(ReportBlockKind::Row, cells);
            return;
        }
        if self.blocks.last().is_some_and(|last| last.kind == ReportBlockKind::Row) {
            self.blocks.pop();
        }
        self.is_open = false;
    }
}

/// Appends words, with one space between them.
fn append(text: &mut String, more: &str) {
    for word in more.split_whitespace() {
        if word == ELLIPSIS && text.ends_with(ELLIPSIS) {
            continue;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
}

/// Counts the columns before the first character; a tab counts as four.
fn indent(line: &str) -> usize {
    let blank = line.chars().take_while(|c| c.is_whitespace());
    blank.map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

fn fence(line: &str) -> Option<Fence> {
    let first = *line.as_bytes().first().filter(|byte| b"`~".contains(byte))?;
    let length = line.bytes().take_while(|byte| *byte == first).count();
    // "```x``` is" on one line is inline code.
    let is_fence = length >= 3 && (first == b'~' || !line[length..].contains('`'));
    is_fence.then_some((first, length))
}

fn closes(line: &str, (character, length): Fence) -> bool {
    line.len() >= length && line.bytes().all(|byte| byte == character)
}

fn is_rule(line: &str) -> bool {
    let first = line.as_bytes()[0];
    b"-*_=".contains(&first) && line.len() >= 3 && line.bytes().all(|byte| byte == first)
}

fn heading(line: &str) -> Option<(u8, &str)> {
    let title = line.trim_start_matches('#');
    let level =
        u8::try_from(line.len() - title.len()).ok().filter(|level| (1..=6).contains(level))?;
    title.strip_prefix(' ').map(|title| (level, title))
}

/// Whether a paragraph is a heading written in bold: `**Issues**`, `**Issues:**`.
fn is_bold_line(text: &str) -> bool {
    let inner = text.trim_end_matches(':').strip_prefix("**").and_then(|t| t.strip_suffix("**"));
    inner.is_some_and(|inner| !inner.is_empty() && !inner.contains("**") && inner.len() <= 120)
}

/// Returns the kind and text of a list item.
fn item(line: &str, indent: usize) -> Option<(ReportBlockKind, &str)> {
    if let Some(rest) = line.strip_prefix(['☐', '☑', '✅', '☒']) {
        let check = Some(!line.starts_with('☐'));
        return Some((ReportBlockKind::Item { indent, number: None, check }, rest.trim()));
    }
    let (number, rest) = marker(line)?;
    let (check, rest) = match rest.get(..3) {
        Some("[ ]") => (Some(false), &rest[3..]),
        Some("[x]" | "[X]") => (Some(true), &rest[3..]),
        _ => match rest.strip_prefix('☐') {
            Some(rest) => (Some(false), rest),
            None => (None, rest),
        },
    };
    // `[ ](url)` is a link.
    let is_box = check.is_none() || rest.is_empty() || rest.starts_with(' ');
    is_box.then_some((ReportBlockKind::Item { indent, number, check }, rest.trim()))
}

/// Returns the number of a list marker and the text after it.
fn marker(line: &str) -> Option<(Option<u32>, &str)> {
    // `**2. Title** …` is an item too, and keeps its markup.
    if let Some(bold) = line.strip_prefix("**") {
        let number = numbered(bold)?.0;
        return (!is_bold_line(line)).then_some((number, line));
    }
    if let Some(rest) = line.strip_prefix(['-', '*', '+', '•', '·', '–']) {
        return rest.starts_with([' ', '\t']).then(|| (None, rest.trim_start()));
    }
    numbered(line)
}

fn numbered(line: &str) -> Option<(Option<u32>, &str)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let number = line.get(..digits).filter(|_| (1..=3).contains(&digits))?.parse().ok();
    let rest = line[digits..].strip_prefix(['.', ')', '、'])?;
    let is_marker =
        rest.is_empty() || rest.starts_with([' ', '\t']) || line[digits..].starts_with('、');
    is_marker.then(|| (number, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let shown: Vec<String> = parse_blocks(text)
            .iter()
            .map(|block| match block.kind {
                ReportBlockKind::Heading(_) => format!("# {}", block.text),
                ReportBlockKind::Paragraph => format!("p {}", block.text),
                ReportBlockKind::Row => format!("| {}", block.text),
                ReportBlockKind::Other => "other".to_owned(),
                ReportBlockKind::Item { indent, number, check } => {
                    let number = number.map(|number| number.to_string()).unwrap_or_default();
                    let check = check.map(|is_checked| if is_checked { "x" } else { "o" });
                    format!("{indent}-{number}{} {}", check.unwrap_or_default(), block.text)
                }
            })
            .collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn lines_are_grouped_into_blocks() {
        check("One\ntwo\n\nthree", &["p One two", "p three"]);
        check("## Issues\ntext", &["# Issues", "p text"]);
        check("**Issues:**\n\n1. a", &["# **Issues:**", "0-1 a"]);
        check("**Cause:** the cache", &["p **Cause:** the cache"]);
        check("#hashtag", &["p #hashtag"]);
        check("> quoted\n> more\nmine\n---\nmore", &["other", "p mine", "p more"]);
        check("**1. One** - a\n**2. Two** - b", &["0-1 **1. One** - a", "0-2 **2. Two** - b"]);
        check("1.5 seconds", &["p 1.5 seconds"]);
        check("2024. That year", &["p 2024. That year"]);
    }

    #[test]
    fn an_item_keeps_its_paragraphs_but_not_its_code() {
        let text = "1. Title\n   ```go\n   - code\n   ```\n   Why.\n\n   More.\n2. Next\n   - deep";
        check(text, &["0-1 Title […] Why. More.", "0-2 Next", "3- deep"]);
        check("- a\n\nafter", &["0- a", "p after"]);
        check("- a\nlazy", &["0- a lazy"]);
    }

    #[test]
    fn an_unclosed_fence_hides_the_rest() {
        check("a\n```\n- b\n", &["p a", "other"]);
        check("a\n````\n```\n- b\n````\nc", &["p a", "other", "p c"]);
    }

    #[test]
    fn boxes_are_recognized_in_every_list_style() {
        check(
            "- [ ] a\n* [x] b\n1. [ ] c\n☐ d\n✅ e",
            &["0-o a", "0-x b", "0-1o c", "0-o d", "0-x e"],
        );
        check("- [ ](https://example.org)", &["p - [ ](https://example.org)"]);
    }

    #[test]
    fn table_rows_exclude_the_header_row() {
        check("| A | B |\n|---|:-:|\n| 1 | 2 |\n", &["| 1 | 2"]);
    }
}
