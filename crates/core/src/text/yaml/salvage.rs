//! Recovers as much as possible from text that is not valid YAML as a whole.
//!
//! A conflict marker is treated as a comment, a tab in the indentation as two spaces. If the text
//! still does not parse, each block is parsed on its own.

use super::tree::{self, TreeError};
use super::{ParsedYaml, YamlEntry, YamlNode, YamlProblem, YamlProblemKind, YamlStyle, YamlValue};
use crate::text::span::{Span, Spanned};

/// The minimum number of repeated characters in a conflict marker.
pub(crate) const MARKER_LENGTH: usize = 7;
/// How deep blocks are split: top-level blocks and the blocks below them (fields of `handoff:`).
const BLOCK_DEPTH: usize = 2;

/// Parses `text`, which starts `base` bytes into the file.
pub(super) fn parse(text: &str, base: usize) -> ParsedYaml {
    let markers = conflict_markers(text);
    let unmarked = (!markers.is_empty()).then(|| without_markers(text));
    let text = unmarked.as_deref().unwrap_or(text);
    let mut reading = match tree::build(text, base) {
        Ok((root, comments)) => ParsedYaml { root, comments, problems: Vec::new() },
        Err(_) => match TabExpansion::new(text) {
            Some(spaced) => spaced.parse(base),
            None => parse_by_blocks(text, base),
        },
    };
    reading.problems.extend(markers.into_iter().map(|at| YamlProblem {
        kind: YamlProblemKind::ConflictMarker,
        at: at.shifted(base),
        message: "unresolved merge conflict".to_owned(),
    }));
    reading
}

/// Parses each block on its own.
fn parse_by_blocks(text: &str, base: usize) -> ParsedYaml {
    let mut salvage = BlockSalvage { comments: Vec::new(), problems: Vec::new() };
    let entries = salvage.blocks(text, base, BLOCK_DEPTH);
    let start = entries.first().map_or(base, |entry| entry.key.at.start);
    let end = entries.last().map_or(base, |entry| entry.node.at.end);
    ParsedYaml {
        root: block_node(YamlValue::Map(entries), Span::new(start, end)),
        comments: salvage.comments,
        problems: salvage.problems,
    }
}

fn block_node(value: YamlValue, at: Span) -> YamlNode {
    YamlNode { value, at, style: YamlStyle::Block, tagged: false }
}

/// A text with each tab of its indentation expanded to two spaces, and a map back to the original
/// offsets.
struct TabExpansion {
    text: String,
    /// For each byte of the expanded text, and for its end, the original offset.
    origin: Vec<usize>,
    first_tab: Span,
}

impl TabExpansion {
    /// Returns `None` if no line is indented with a tab.
    fn new(text: &str) -> Option<Self> {
        let mut spaced = String::with_capacity(text.len());
        let mut origin = Vec::with_capacity(text.len());
        let mut first_tab = None;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
            for (offset, letter) in line.char_indices() {
                let byte = at + offset;
                if letter == '\t' && offset < indent {
                    first_tab = first_tab.or(Some(Span::new(at, at + indent)));
                    spaced.push_str("  ");
                    origin.extend([byte, byte]);
                } else {
                    spaced.push(letter);
                    origin.extend(byte..byte + letter.len_utf8());
                }
            }
            at += line.len();
        }
        origin.push(text.len());
        first_tab.map(|first_tab| Self { text: spaced, origin, first_tab })
    }

    fn parse(&self, base: usize) -> ParsedYaml {
        let mut reading = match tree::build(&self.text, 0) {
            Ok((root, comments)) => ParsedYaml { root, comments, problems: Vec::new() },
            Err(_) => parse_by_blocks(&self.text, 0),
        };
        let back = |at: usize| self.origin[at.min(self.origin.len() - 1)] + base;
        let back_span = |span: Span| Span::new(back(span.start), back(span.end));
        remap_spans(&mut reading.root, &back);
        reading.comments.iter_mut().for_each(|comment| *comment = back_span(*comment));
        reading.problems.iter_mut().for_each(|problem| problem.at = back_span(problem.at));
        reading.problems.push(YamlProblem {
            kind: YamlProblemKind::Tab,
            at: self.first_tab.shifted(base),
            message: "this line is indented with a tab; YAML needs spaces".to_owned(),
        });
        reading
    }
}

/// Maps every offset in a tree with `back`.
fn remap_spans(node: &mut YamlNode, back: &impl Fn(usize) -> usize) {
    node.at = Span::new(back(node.at.start), back(node.at.end));
    match &mut node.value {
        YamlValue::List(items) => {
            for item in items {
                item.dash = item.dash.map(back);
                remap_spans(&mut item.node, back);
            }
        }
        YamlValue::Map(entries) => {
            for entry in entries {
                entry.key.at = Span::new(back(entry.key.at.start), back(entry.key.at.end));
                remap_spans(&mut entry.node, back);
            }
        }
        YamlValue::Null | YamlValue::Text(_) | YamlValue::Unreadable(_) => {}
    }
}

struct BlockSalvage {
    comments: Vec<Span>,
    problems: Vec<YamlProblem>,
}

impl BlockSalvage {
    /// Parses each block of `text` on its own. A block that fails is split one level deeper.
    fn blocks(&mut self, text: &str, base: usize, depth: usize) -> Vec<YamlEntry> {
        let blocks = split_blocks(text);
        let first = blocks.first().map_or(text.len(), |block| block.start);
        self.comment_lines(&text[..first], base);
        blocks
            .into_iter()
            .flat_map(|block| self.block(block.slice(text), base + block.start, depth))
            .collect()
    }

    fn block(&mut self, text: &str, base: usize, depth: usize) -> Vec<YamlEntry> {
        let stopped = match tree::build(text, base) {
            Ok((YamlNode { value: YamlValue::Map(entries), .. }, comments)) => {
                self.comments.extend(comments);
                return entries;
            }
            Ok((YamlNode { value: YamlValue::Null, .. }, comments)) => {
                self.comments.extend(comments);
                return Vec::new();
            }
            Ok((node, _)) => TreeError {
                at: node.at.start,
                message: "a key and a colon are missing here".to_owned(),
            },
            Err(stopped) => stopped,
        };
        let Some((key, rest)) = parse_key_line(text, base) else {
            self.report_syntax(stopped, base, text);
            return Vec::new();
        };
        if depth > 1 && rest.opens_block {
            let children = self.blocks(&text[rest.start..], base + rest.start, depth - 1);
            if !children.is_empty() {
                let start = children[0].key.at.start;
                let end = children.last().map_or(start, |child| child.node.at.end);
                let node = block_node(YamlValue::Map(children), Span::new(start, end));
                return vec![YamlEntry { key, node }];
            }
        }
        self.report_syntax(stopped, base, text);
        let at = Span::new(base + rest.start, base + text.trim_end().len().max(rest.start));
        let value = YamlValue::Unreadable(text[rest.start..].trim_end().to_owned());
        vec![YamlEntry { key, node: block_node(value, at) }]
    }

    /// Collects the comments before the first block.
    fn comment_lines(&mut self, text: &str, base: usize) {
        let mut at = base;
        for line in text.split_inclusive('\n') {
            let content = line.trim();
            if content.starts_with('#') {
                let start = at + line.len() - line.trim_start().len();
                self.comments.push(Span::new(start, start + content.len()));
            }
            at += line.len();
        }
    }

    fn report_syntax(&mut self, stopped: TreeError, base: usize, block: &str) {
        let at = stopped.at.clamp(base, base + block.trim_end().len());
        let end = block[at - base..].find('\n').map_or(base + block.trim_end().len(), |n| at + n);
        self.problems.push(YamlProblem {
            kind: YamlProblemKind::Syntax,
            at: Span::new(at, end.max(at)),
            message: stopped.message,
        });
    }
}

/// Where the value of a `key:` line starts, and whether it is a block on the following lines.
struct KeyLineValue {
    start: usize,
    opens_block: bool,
}

/// Parses the key on the first line of a block.
fn parse_key_line(text: &str, base: usize) -> Option<(Spanned<String>, KeyLineValue)> {
    let line_end = text.find('\n').unwrap_or(text.len());
    let line = &text[..line_end];
    let indent = line.len() - line.trim_start().len();
    let colon = line.find(':')?;
    let key = line[indent..colon].trim_end();
    let bare = key.trim_matches(['"', '\'']);
    if bare.is_empty() || !bare.chars().all(|c| c.is_alphanumeric() || "_-. ".contains(c)) {
        return None;
    }
    let after = line[colon + 1..].trim_start();
    let opens = (after.is_empty() || after.starts_with('#')) && line_end < text.len();
    let start = if opens { line_end + 1 } else { colon + 1 };
    let at = Span::new(base + indent, base + indent + key.len());
    Some((Spanned::new(bare.to_owned(), at), KeyLineValue { start, opens_block: opens }))
}

/// Splits a text into blocks. A block runs from a line at the outermost indentation to the next
/// such line.
fn split_blocks(text: &str) -> Vec<Span> {
    let mut outer: Option<usize> = None;
    let mut starts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_start();
        let indent = line.len() - content.len();
        let counts = !content.trim_end().is_empty() && !content.starts_with('#');
        let limit = *outer.get_or_insert(if counts { indent } else { usize::MAX });
        if !counts && limit == usize::MAX {
            outer = None;
        }
        if counts && indent <= limit && !content.starts_with("- ") && content.trim_end() != "-" {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| Span::new(*start, end)).collect()
}

/// The span of the `<<<<<<<` line of each unfinished merge that also has `=======` and `>>>>>>>`.
pub fn conflict_markers(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    if !text.contains("<<<<<<<") {
        return found;
    }
    let mut opened: Option<(Span, bool)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let span = Span::new(at, at + line.trim_end().len());
        match (marker_character(line), opened) {
            (Some('<'), _) => opened = Some((span, false)),
            (Some('='), Some((start, _))) => opened = Some((start, true)),
            (Some('>'), Some((start, true))) => {
                found.push(start);
                opened = None;
            }
            (Some(_) | None, _) => {}
        }
        at += line.len();
    }
    found
}

fn marker_character(line: &str) -> Option<char> {
    let first = line.chars().next().filter(|c| matches!(c, '<' | '|' | '=' | '>'))?;
    let run = line.chars().take_while(|c| *c == first).count();
    let rest = &line[run..];
    (run >= MARKER_LENGTH && (rest.trim().is_empty() || rest.starts_with(' '))).then_some(first)
}

/// Turns marker lines into comments without moving any byte.
fn without_markers(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| match marker_character(line) {
            Some(_) => format!("#{}", &line[1..]),
            None => line.to_owned(),
        })
        .collect()
}
