//! Builds a tree of spanned nodes from parser events.
//!
//! It corrects the parser's spans: the parser reports an empty value before its colon, starts block
//! scalars after their indicator, ends them in the text that follows, and gives block collections
//! no end.

use super::{YamlEntry, YamlItem, YamlNode, YamlStyle, YamlValue};
use crate::text::span::{Span, Spanned};
use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, StructureStyle};
use std::collections::HashMap;

/// The maximum nesting. No real header is nested deeper, and the limit protects the stack.
const NESTING_MAX: usize = 64;
/// The maximum number of nodes. Aliases copy their target, so a few lines could otherwise exhaust
/// memory.
const NODES_MAX: usize = 200_000;

/// The root node and the comments, or the error that stopped the parser.
pub(super) type TreeResult = Result<(YamlNode, Vec<Span>), TreeError>;

/// The error that stopped the parser.
pub(super) struct TreeError {
    /// The offset in the whole file.
    pub(super) at: usize,
    /// The message, as a sentence without its period.
    pub(super) message: String,
}

/// Parses `text`, which starts `base` bytes into the file.
pub(super) fn build(text: &str, base: usize) -> TreeResult {
    let mut options = granit_parser::Options::default();
    options.flow_nesting_limit = NESTING_MAX;
    options.block_nesting_limit = NESTING_MAX;
    options.emit_unresolved_aliases = true;
    options.max_buffered_comment_events = usize::MAX;
    let mut builder = TreeBuilder {
        parser: Parser::new_from_str_with_options(text, options),
        text,
        base,
        consumed_to: 0,
        comments: Vec::new(),
        anchors: HashMap::new(),
        nodes: 0,
    };
    let root = builder.document()?;
    Ok((root, builder.comments))
}

struct TreeBuilder<'t> {
    parser: Parser<'t, granit_parser::StrInput<'t>>,
    text: &'t str,
    base: usize,
    /// How far content has been consumed. Indicators such as `-` and `|` are searched from here.
    consumed_to: usize,
    comments: Vec<Span>,
    anchors: HashMap<usize, YamlNode>,
    nodes: usize,
}

impl<'t> TreeBuilder<'t> {
    fn document(&mut self) -> Result<YamlNode, TreeError> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (Event::StreamEnd | Event::DocumentEnd, _) => {
                    return Ok(YamlNode::absent(self.base));
                }
                (event, at) => {
                    let root = self.node(event, at)?;
                    return self.finish(root);
                }
            }
        }
    }

    /// Consumes the rest of the stream to collect comments. Only the end may follow the root.
    fn finish(&mut self, root: YamlNode) -> Result<YamlNode, TreeError> {
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(root),
                (Event::DocumentEnd, _) => {}
                (_, at) => return Err(self.error_at(at.start, "a second document starts here")),
            }
        }
    }

    /// The next event that is not a comment, with its span in `self.text`.
    fn next(&mut self) -> Result<(Event<'t>, Span), TreeError> {
        loop {
            let (event, span) = match self.parser.next() {
                Some(Ok(next)) => next,
                Some(Err(error)) => return Err(self.parser_error(&error)),
                None => return Ok((Event::StreamEnd, Span::empty(self.text.len()))),
            };
            let range = span.byte_range().unwrap_or(self.consumed_to..self.consumed_to);
            let at = Span::new(range.start, range.end);
            if let Event::Comment(..) = event {
                self.comments.push(at.shifted(self.base));
            } else {
                return Ok((event, at));
            }
        }
    }

    fn node(&mut self, event: Event<'t>, at: Span) -> Result<YamlNode, TreeError> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(self.error_at(at.start, "too many values for a header"));
        }
        let tagged = event.tag().is_some();
        let (mut node, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => (self.scalar(&text, style, at), anchor),
            Event::SequenceStart(style, anchor, _) => (self.list(style, at)?, anchor),
            Event::MappingStart(style, anchor, _) => (self.map(style, at)?, anchor),
            Event::Alias(id) => (self.alias(id, at)?, 0),
            Event::UnresolvedAlias(_) => {
                return Err(self.error_at(at.start, "the name after `*` is not defined"));
            }
            Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd
            | Event::MappingEnd
            | Event::SequenceEnd
            | Event::Anchor(..)
            | Event::Comment(..)
            | _ => return Err(self.error_at(at.start, "a value is missing here")),
        };
        node.tagged = tagged;
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, at: Span) -> YamlNode {
        let (style, at) = match style {
            ScalarStyle::Plain if at.is_empty() => return self.empty_value(at),
            ScalarStyle::Plain => (YamlStyle::Plain, at),
            ScalarStyle::SingleQuoted => (YamlStyle::SingleQuoted, at),
            ScalarStyle::DoubleQuoted => (YamlStyle::DoubleQuoted, at),
            ScalarStyle::Literal | ScalarStyle::Folded => self.block_scalar(at),
        };
        self.consumed_to = self.consumed_to.max(at.end);
        let null = style == YamlStyle::Plain && matches!(text, "" | "~" | "null" | "Null" | "NULL");
        let value = if null { YamlValue::Null } else { YamlValue::Text(text.to_owned()) };
        YamlNode { value, at: at.shifted(self.base), style, tagged: false }
    }

    /// Places an empty value after its colon, because the parser reports it before the colon.
    fn empty_value(&mut self, at: Span) -> YamlNode {
        let rest = &self.text[at.start.min(self.text.len())..];
        let spaces = rest.len() - rest.trim_start_matches(' ').len();
        let after_colon = rest[spaces..].starts_with(':').then_some(at.start + spaces + 1);
        let place = after_colon.unwrap_or(at.start);
        self.consumed_to = self.consumed_to.max(place);
        YamlNode::absent(place + self.base)
    }

    /// The style and the span of a block scalar, from its indicator to its last line.
    fn block_scalar(&self, at: Span) -> (YamlStyle, Span) {
        let before = &self.text[self.consumed_to.min(at.start)..at.start];
        let indicator = before.find(['|', '>']).map(|offset| self.consumed_to + offset);
        let start = indicator.unwrap_or(at.start);
        let head_end = self.text[start..].find('\n').map_or(self.text.len(), |end| start + end);
        let keeps = self.text[start..head_end].split('#').next().is_some_and(|s| s.contains('+'));
        let written = &self.text[start..at.end.max(start)];
        let end = if keeps {
            written.rfind('\n').map_or(written.len(), |last| last + 1)
        } else {
            written.trim_end().len()
        };
        (YamlStyle::BlockScalar { keeps }, Span::new(start, start + end))
    }

    fn list(&mut self, style: StructureStyle, at: Span) -> Result<YamlNode, TreeError> {
        let flow = style == StructureStyle::Flow;
        let mut items: Vec<YamlItem> = Vec::new();
        if flow {
            self.consumed_to = self.consumed_to.max(at.end);
        }
        loop {
            let (event, item_at) = self.next()?;
            if event == Event::SequenceEnd {
                let end = self.close(flow, item_at);
                let first = items.first().and_then(|item| item.dash);
                let start = first.unwrap_or(at.start + self.base);
                let style = if flow { YamlStyle::Flow } else { YamlStyle::Block };
                let value = YamlValue::List(items);
                return Ok(YamlNode { value, at: Span::new(start, end), style, tagged: false });
            }
            let dash = if flow { None } else { self.dash(item_at.start) };
            if let Some(dash) = dash {
                self.consumed_to = self.consumed_to.max(dash + 1);
            }
            let node = self.node(event, item_at)?;
            items.push(YamlItem { dash: dash.map(|dash| dash + self.base), node });
        }
    }

    /// The offset of the `-` of a block item: the first one after the consumed text that is not in
    /// a comment.
    fn dash(&self, before: usize) -> Option<usize> {
        let mut at = self.consumed_to;
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

    fn map(&mut self, style: StructureStyle, at: Span) -> Result<YamlNode, TreeError> {
        let flow = style == StructureStyle::Flow;
        let mut entries: Vec<YamlEntry> = Vec::new();
        if flow {
            self.consumed_to = self.consumed_to.max(at.end);
        }
        loop {
            let (event, key_at) = self.next()?;
            if event == Event::MappingEnd {
                let end = self.close(flow, key_at);
                let first = entries.first().map(|entry| entry.key.at.start);
                let start = if flow { None } else { first }.unwrap_or(at.start + self.base);
                let style = if flow { YamlStyle::Flow } else { YamlStyle::Block };
                let value = YamlValue::Map(entries);
                return Ok(YamlNode { value, at: Span::new(start, end), style, tagged: false });
            }
            let key_node = self.node(event, key_at)?;
            let key = match key_node.value {
                YamlValue::Text(text) => text,
                YamlValue::Null
                | YamlValue::List(_)
                | YamlValue::Map(_)
                | YamlValue::Unreadable(_) => {
                    let at = key_node.at;
                    self.text[at.start - self.base..at.end - self.base].to_owned()
                }
            };
            let (event, value_at) = self.next()?;
            let node = self.node(event, value_at)?;
            entries.push(YamlEntry { key: Spanned::new(key, key_node.at), node });
        }
    }

    /// The end of a collection: its closing bracket, or the end of its last value.
    fn close(&mut self, flow: bool, at: Span) -> usize {
        if flow {
            self.consumed_to = self.consumed_to.max(at.end);
        }
        self.consumed_to + self.base
    }

    fn alias(&mut self, id: usize, at: Span) -> Result<YamlNode, TreeError> {
        let Some(target) = self.anchors.get(&id) else {
            return Err(self.error_at(at.start, "the name after `*` refers to itself"));
        };
        self.nodes += node_count(target);
        self.consumed_to = self.consumed_to.max(at.end);
        if self.nodes > NODES_MAX {
            return Err(
                self.error_at(at.start, "the `*` aliases expand to too many values for a header")
            );
        }
        let value = self.anchors[&id].value.clone();
        Ok(YamlNode { value, at: at.shifted(self.base), style: YamlStyle::Alias, tagged: false })
    }

    fn error_at(&self, at: usize, message: &str) -> TreeError {
        TreeError { at: at + self.base, message: message.to_owned() }
    }

    fn parser_error(&self, error: &ScanError) -> TreeError {
        let at = error.marker().byte_offset().unwrap_or(self.consumed_to).min(self.text.len());
        #[expect(clippy::wildcard_enum_match_arm, reason = "the parser's own words will do")]
        let message = match error.kind() {
            ErrorKind::MappingValueNotAllowed => {
                "unquoted text contains a colon and a space; quote the text".to_owned()
            }
            ErrorKind::InvalidQuotedScalarIndent => "a quote is not closed".to_owned(),
            ErrorKind::TabInPlainScalar => "a tab is used where YAML needs spaces".to_owned(),
            _ => error.info(),
        };
        TreeError { at: at + self.base, message }
    }
}

fn node_count(node: &YamlNode) -> usize {
    match &node.value {
        YamlValue::List(items) => {
            1 + items.iter().map(|item| node_count(&item.node)).sum::<usize>()
        }
        YamlValue::Map(entries) => {
            1 + entries.iter().map(|entry| node_count(&entry.node)).sum::<usize>()
        }
        YamlValue::Null | YamlValue::Text(_) | YamlValue::Unreadable(_) => 1,
    }
}
