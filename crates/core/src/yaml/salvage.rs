//! What to do when the text is not YAML as a whole.
//!
//! Marks that were left in it are looked through without moving a byte: a conflict marker counts
//! as a comment, a tab in the indentation as a space. If it still does not parse, every block is
//! parsed alone.

use super::tree::{self, Stopped};
use super::{Entry, Node, Problem, ProblemKind, Reading, Style, Value};
use crate::span::{At, Span};

/// How many of its character a conflict marker has at the least.
pub const MARKER_LENGTH: usize = 7;
/// Top-level blocks, and the blocks below them: the fields of `handoff:`.
const BLOCK_DEPTH: usize = 2;

/// Reads `text`, which stands `base` bytes into the file.
pub(super) fn read(text: &str, base: usize) -> Reading {
    let mut problems: Vec<Problem> = conflict_markers(text)
        .into_iter()
        .map(|at| Problem {
            kind: ProblemKind::ConflictMarker,
            at: at.shifted(base),
            message: "a merge was left unfinished here".to_owned(),
        })
        .collect();
    let looked_through = (!problems.is_empty()).then(|| without_markers(text));
    let text = looked_through.as_deref().unwrap_or(text);

    if let Ok((root, comments)) = tree::build(text, base) {
        return Reading { root, comments, problems };
    }
    let tabs = tab_indentation(text);
    let spaced = (!tabs.is_empty()).then(|| without_tabs(text));
    if let Some(first) = tabs.first() {
        problems.push(Problem {
            kind: ProblemKind::Tab,
            at: first.shifted(base),
            message: "YAML is indented with spaces, this line with a tab".to_owned(),
        });
    }
    let text = spaced.as_deref().unwrap_or(text);
    if let Ok((root, comments)) = tree::build(text, base) {
        return Reading { root, comments, problems };
    }
    let mut salvage = Salvage { comments: Vec::new(), problems };
    let entries = salvage.blocks(text, base, BLOCK_DEPTH);
    let start = entries.first().map_or(base, |entry| entry.key.at.start);
    let end = entries.last().map_or(base, |entry| entry.node.at.end);
    Reading {
        root: Node { value: Value::Map(entries), at: Span::new(start, end), style: Style::Block },
        comments: salvage.comments,
        problems: salvage.problems,
    }
}

struct Salvage {
    comments: Vec<Span>,
    problems: Vec<Problem>,
}

impl Salvage {
    /// Parses each block of `text` alone; a block that fails is tried one level deeper.
    fn blocks(&mut self, text: &str, base: usize, depth: usize) -> Vec<Entry> {
        split_blocks(text)
            .into_iter()
            .flat_map(|block| self.block(block.of(text), base + block.start, depth))
            .collect()
    }

    fn block(&mut self, text: &str, base: usize, depth: usize) -> Vec<Entry> {
        let stopped = match tree::build(text, base) {
            Ok((Node { value: Value::Map(entries), .. }, comments)) => {
                self.comments.extend(comments);
                return entries;
            }
            Ok((Node { value: Value::Null, .. }, comments)) => {
                self.comments.extend(comments);
                return Vec::new();
            }
            Ok((node, _)) => Stopped {
                at: node.at.start,
                message: "a key and a colon are missing here".to_owned(),
            },
            Err(stopped) => stopped,
        };
        let Some((key, rest)) = key_line(text, base) else {
            self.syntax(stopped, base, text);
            return Vec::new();
        };
        if depth > 1 && rest.opens {
            let children = self.blocks(&text[rest.start..], base + rest.start, depth - 1);
            if !children.is_empty() {
                let start = children[0].key.at.start;
                let end = children.last().map_or(start, |child| child.node.at.end);
                let value = Value::Map(children);
                let node = Node { value, at: Span::new(start, end), style: Style::Block };
                return vec![Entry { key, node }];
            }
        }
        self.syntax(stopped, base, text);
        let at = Span::new(base + rest.start, base + text.trim_end().len().max(rest.start));
        vec![Entry { key, node: Node { value: Value::Unreadable, at, style: Style::Block } }]
    }

    fn syntax(&mut self, stopped: Stopped, base: usize, block: &str) {
        let at = stopped.at.clamp(base, base + block.trim_end().len());
        let end = block[at - base..].find('\n').map_or(base + block.trim_end().len(), |n| at + n);
        self.problems.push(Problem {
            kind: ProblemKind::Syntax,
            at: Span::new(at, end.max(at)),
            message: stopped.message,
        });
    }
}

/// Where the value of a `key:` line starts, and whether it opens a block on the next lines.
struct Rest {
    start: usize,
    opens: bool,
}

/// The key of the first line of a block.
fn key_line(text: &str, base: usize) -> Option<(At<String>, Rest)> {
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
    Some((At::new(bare.to_owned(), at), Rest { start, opens }))
}

/// A block runs from a line at the outermost indentation to the next such line.
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

/// The first line of each unfinished merge: `<<<<<<<`, with its `=======` and `>>>>>>>` behind it.
pub fn conflict_markers(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut opened: Option<(Span, bool)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let span = Span::new(at, at + line.trim_end().len());
        match (marker(line), opened) {
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

fn marker(line: &str) -> Option<char> {
    let first = line.chars().next().filter(|c| matches!(c, '<' | '|' | '=' | '>'))?;
    let run = line.chars().take_while(|c| *c == first).count();
    let rest = &line[run..];
    (run >= MARKER_LENGTH && (rest.trim().is_empty() || rest.starts_with(' '))).then_some(first)
}

/// Turns marker lines into comments, byte for byte in place.
fn without_markers(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| match marker(line) {
            Some(_) => format!("#{}", &line[1..]),
            None => line.to_owned(),
        })
        .collect()
}

/// The indentation of each line that has a tab in it.
fn tab_indentation(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        if line[..indent].contains('\t') {
            found.push(Span::new(at, at + indent));
        }
        at += line.len();
    }
    found
}

fn without_tabs(text: &str) -> String {
    let mut spaced = text.to_owned();
    for span in tab_indentation(text) {
        spaced.replace_range(span.range(), &" ".repeat(span.len()));
    }
    spaced
}
