//! Parser events → a tree of spanned nodes.
//!
//! The parser's spans are mended on the way: an empty value is reported before its colon, block
//! scalars start after their indicator and end in whatever follows, and block collections have no
//! end of their own.

use super::{Entry, Item, Node, Style, Value};
use crate::text::span::{At, Span};
use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StructureStyle};
use std::collections::HashMap;

/// Deeper nesting is no header but an attack on the stack.
const NESTING_MAX: usize = 64;
/// Aliases copy what they name; a few lines of them could otherwise fill the memory.
const NODES_MAX: usize = 200_000;

/// A tree, or what stopped the parser and where.
pub(super) type Built = Result<(Node, Vec<Span>), Stopped>;

/// What stopped the parser.
pub(super) struct Stopped {
    /// The byte of the whole file.
    pub(super) at: usize,
    /// What is wrong, as a sentence without its full stop.
    pub(super) message: String,
}

/// Parses `text`, which stands `base` bytes into the file.
pub(super) fn build(text: &str, base: usize) -> Built {
    let mut options = granit_parser::Options::default();
    options.flow_nesting_limit = NESTING_MAX;
    options.block_nesting_limit = NESTING_MAX;
    options.emit_unresolved_aliases = true;
    options.max_buffered_comment_events = usize::MAX;
    let mut builder = Builder {
        parser: Parser::new_from_str_with_options(text, options),
        text,
        base,
        seen_to: 0,
        comments: Vec::new(),
        anchors: HashMap::new(),
        nodes: 0,
    };
    let root = builder.document()?;
    Ok((root, builder.comments))
}

struct Builder<'t> {
    parser: Parser<'t, granit_parser::StrInput<'t>>,
    text: &'t str,
    base: usize,
    /// How far the text has been consumed by real content, so that indicators can be found after it.
    seen_to: usize,
    comments: Vec<Span>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
}

impl<'t> Builder<'t> {
    fn document(&mut self) -> Result<Node, Stopped> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd | Event::DocumentEnd, _) => return Ok(Node::absent(self.base)),
                (event, at) => {
                    let root = self.node(event, at)?;
                    return self.end(root);
                }
            }
        }
    }

    /// Nothing but the end may follow the root; its comments are still collected.
    fn end(&mut self, root: Node) -> Result<Node, Stopped> {
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(root),
                (Event::DocumentEnd, _) => {}
                (_, at) => return Err(self.stop(at.start, "a second document starts here")),
            }
        }
    }

    /// The next event that is not a comment, with its bytes in `self.text`.
    fn next(&mut self) -> Result<(Event<'t>, Span), Stopped> {
        loop {
            let (event, span) = match self.parser.next() {
                Some(Ok(next)) => next,
                Some(Err(error)) => return Err(self.refused(&error)),
                None => return Ok((Event::StreamEnd, Span::empty(self.text.len()))),
            };
            let range = span.byte_range().unwrap_or(self.seen_to..self.seen_to);
            let at = Span::new(range.start, range.end);
            if let Event::Comment(..) = event {
                self.comments.push(at.shifted(self.base));
            } else {
                return Ok((event, at));
            }
        }
    }

    fn node(&mut self, event: Event<'t>, at: Span) -> Result<Node, Stopped> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(self.stop(at.start, "this says more than a header can hold"));
        }
        let tagged = event.tag().is_some();
        let (mut node, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => (self.scalar(&text, style, at), anchor),
            Event::SequenceStart(style, anchor, _) => (self.list(style, at)?, anchor),
            Event::MappingStart(style, anchor, _) => (self.map(style, at)?, anchor),
            Event::Alias(id) => (self.alias(id, at)?, 0),
            Event::UnresolvedAlias(_) => {
                return Err(self.stop(at.start, "this name after `*` is defined nowhere before"));
            }
            Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd
            | Event::MappingEnd
            | Event::SequenceEnd
            | Event::Anchor(..)
            | Event::Comment(..)
            | _ => return Err(self.stop(at.start, "a value is missing here")),
        };
        node.tagged = tagged;
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, at: Span) -> Node {
        let (style, at) = match style {
            ScalarStyle::Plain if at.is_empty() => return self.nothing(at),
            ScalarStyle::Plain => (Style::Plain, at),
            ScalarStyle::SingleQuoted => (Style::SingleQuoted, at),
            ScalarStyle::DoubleQuoted => (Style::DoubleQuoted, at),
            ScalarStyle::Literal | ScalarStyle::Folded => self.block_scalar(at),
        };
        self.seen_to = self.seen_to.max(at.end);
        let null = style == Style::Plain && matches!(text, "" | "~" | "null" | "Null" | "NULL");
        let value = if null { Value::Null } else { Value::Text(text.to_owned()) };
        Node { value, at: at.shifted(self.base), style, tagged: false }
    }

    /// An empty value: it belongs behind the colon or dash that announces it.
    fn nothing(&mut self, at: Span) -> Node {
        let rest = &self.text[at.start.min(self.text.len())..];
        let spaces = rest.len() - rest.trim_start_matches(' ').len();
        let after_colon = rest[spaces..].starts_with(':').then_some(at.start + spaces + 1);
        let place = after_colon.unwrap_or(at.start);
        self.seen_to = self.seen_to.max(place);
        Node::absent(place + self.base)
    }

    /// From the indicator to the last line that belongs to the scalar.
    fn block_scalar(&self, at: Span) -> (Style, Span) {
        let before = &self.text[self.seen_to.min(at.start)..at.start];
        let indicator = before.find(['|', '>']).map(|offset| self.seen_to + offset);
        let start = indicator.unwrap_or(at.start);
        let head_end = self.text[start..].find('\n').map_or(self.text.len(), |end| start + end);
        let keeps = self.text[start..head_end].split('#').next().is_some_and(|s| s.contains('+'));
        let written = &self.text[start..at.end.max(start)];
        let end = if keeps {
            written.rfind('\n').map_or(written.len(), |last| last + 1)
        } else {
            written.trim_end().len()
        };
        (Style::BlockScalar { keeps }, Span::new(start, start + end))
    }

    fn list(&mut self, style: StructureStyle, at: Span) -> Result<Node, Stopped> {
        let flow = style == StructureStyle::Flow;
        let mut items: Vec<Item> = Vec::new();
        if flow {
            self.seen_to = self.seen_to.max(at.end);
        }
        loop {
            let (event, item_at) = self.next()?;
            if event == Event::SequenceEnd {
                let end = self.close(flow, item_at);
                let first = items.first().and_then(|item| item.dash);
                let start = first.unwrap_or(at.start + self.base);
                let style = if flow { Style::Flow } else { Style::Block };
                let value = Value::List(items);
                return Ok(Node { value, at: Span::new(start, end), style, tagged: false });
            }
            let dash = if flow { None } else { self.dash(item_at.start) };
            if let Some(dash) = dash {
                self.seen_to = self.seen_to.max(dash + 1);
            }
            let node = self.node(event, item_at)?;
            items.push(Item { dash: dash.map(|dash| dash + self.base), node });
        }
    }

    /// The `-` of a block item: the first one behind what was read, comments aside.
    fn dash(&self, before: usize) -> Option<usize> {
        let mut at = self.seen_to;
        let bytes = self.text.as_bytes();
        while at <= before && at < bytes.len() {
            match bytes[at] {
                b'-' => return Some(at),
                b'#' => at = crate::text::span::line_end(self.text, at),
                _ => at += 1,
            }
        }
        None
    }

    fn map(&mut self, style: StructureStyle, at: Span) -> Result<Node, Stopped> {
        let flow = style == StructureStyle::Flow;
        let mut entries: Vec<Entry> = Vec::new();
        if flow {
            self.seen_to = self.seen_to.max(at.end);
        }
        loop {
            let (event, key_at) = self.next()?;
            if event == Event::MappingEnd {
                let end = self.close(flow, key_at);
                let first = entries.first().map(|entry| entry.key.at.start);
                let start = if flow { None } else { first }.unwrap_or(at.start + self.base);
                let style = if flow { Style::Flow } else { Style::Block };
                let value = Value::Map(entries);
                return Ok(Node { value, at: Span::new(start, end), style, tagged: false });
            }
            let key_node = self.node(event, key_at)?;
            let key = match key_node.value {
                Value::Text(text) => text,
                Value::Null | Value::List(_) | Value::Map(_) | Value::Unreadable(_) => {
                    let at = key_node.at;
                    self.text[at.start - self.base..at.end - self.base].to_owned()
                }
            };
            let (event, value_at) = self.next()?;
            let node = self.node(event, value_at)?;
            entries.push(Entry { key: At::new(key, key_node.at), node });
        }
    }

    /// The end of a collection: its bracket, or the end of what was last read in it.
    fn close(&mut self, flow: bool, at: Span) -> usize {
        if flow {
            self.seen_to = self.seen_to.max(at.end);
        }
        self.seen_to + self.base
    }

    fn alias(&mut self, id: usize, at: Span) -> Result<Node, Stopped> {
        let Some(target) = self.anchors.get(&id) else {
            return Err(self.stop(at.start, "this name after `*` is still being defined"));
        };
        self.nodes += count(target);
        self.seen_to = self.seen_to.max(at.end);
        if self.nodes > NODES_MAX {
            return Err(self.stop(at.start, "the names after `*` expand to more than a header"));
        }
        let value = self.anchors[&id].value.clone();
        Ok(Node { value, at: at.shifted(self.base), style: Style::Alias, tagged: false })
    }

    fn stop(&self, at: usize, message: &str) -> Stopped {
        Stopped { at: at + self.base, message: message.to_owned() }
    }

    fn refused(&self, error: &ScanError) -> Stopped {
        let at = error.marker().byte_offset().unwrap_or(self.seen_to).min(self.text.len());
        #[expect(clippy::wildcard_enum_match_arm, reason = "the parser's own words will do")]
        let message = match error.kind() {
            ErrorKind::MappingValueNotAllowed => {
                "a colon and a space inside plain text: put the text in quotes".to_owned()
            }
            ErrorKind::InvalidQuotedScalarIndent => "a quote is not closed".to_owned(),
            ErrorKind::TabInPlainScalar => "a tab stands where YAML wants spaces".to_owned(),
            _ => error.info(),
        };
        Stopped { at: at + self.base, message }
    }
}

fn count(node: &Node) -> usize {
    match &node.value {
        Value::List(items) => 1 + items.iter().map(|item| count(&item.node)).sum::<usize>(),
        Value::Map(entries) => 1 + entries.iter().map(|entry| count(&entry.node)).sum::<usize>(),
        Value::Null | Value::Text(_) | Value::Unreadable(_) => 1,
    }
}
