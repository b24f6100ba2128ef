//! Parses a Markdown body into headings and blocks, each with its byte span.

use crate::text::span::{Span, Spanned};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// A block of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownBlock {
    /// The kind of block.
    pub kind: MarkdownBlockKind,
    /// Its span in the whole file.
    pub at: Span,
}

/// The kind of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkdownBlockKind {
    /// A paragraph outside lists.
    Paragraph,
    /// An item of a top-level list, including nested blocks.
    Item,
    /// Code, fenced or indented.
    Code,
    /// A table.
    Table,
    /// HTML, comments included.
    Html,
}

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The level, from 1 to 6.
    pub level: u8,
    /// The text without markup, with the span of the heading.
    pub title: Spanned<String>,
}

/// The headings and blocks of a body, in text order.
#[derive(Clone, Debug, Default)]
pub struct MarkdownBody {
    /// Headings outside quotes and lists.
    pub headings: Vec<Heading>,
    /// Everything that is not a heading.
    pub blocks: Vec<MarkdownBlock>,
    /// The spans of all code, including inline code. This text is not prose.
    pub code: Vec<Span>,
}

/// Parses the Markdown at `within` in `text`.
pub fn parse(text: &str, within: Span) -> MarkdownBody {
    let mut reader =
        MarkdownReader { out: MarkdownBody::default(), lists: 0, quotes: 0, heading: None };
    let parser = Parser::new_ext(within.slice(text), Options::ENABLE_TABLES);
    for (event, range) in parser.into_offset_iter() {
        reader.event(event, Span::new(range.start, range.end).shifted(within.start));
    }
    reader.out
}

struct MarkdownReader {
    out: MarkdownBody,
    lists: usize,
    quotes: usize,
    heading: Option<Heading>,
}

impl MarkdownReader {
    fn event(&mut self, event: Event<'_>, at: Span) {
        match event {
            Event::Start(tag) => self.start(&tag, at),
            Event::End(end) => self.end(end),
            Event::Code(text) => {
                self.push_title(&text);
                self.out.code.push(at);
            }
            Event::Text(text) => self.push_title(&text),
            Event::SoftBreak | Event::HardBreak => self.push_title(" "),
            Event::Html(_)
            | Event::InlineHtml(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::Rule
            | Event::TaskListMarker(_) => {}
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "every other tag is text inside a block")]
    fn start(&mut self, tag: &Tag<'_>, at: Span) {
        let outermost = self.lists == 0;
        let kind = match tag {
            Tag::Heading { level, .. } if outermost && self.quotes == 0 => {
                let title = Spanned::new(String::new(), at);
                self.heading = Some(Heading { level: *level as u8, title });
                return;
            }
            Tag::List(_) => {
                self.lists += 1;
                return;
            }
            Tag::BlockQuote(_) => {
                self.quotes += 1;
                return;
            }
            Tag::Item if self.lists == 1 => MarkdownBlockKind::Item,
            Tag::Paragraph if outermost => MarkdownBlockKind::Paragraph,
            Tag::CodeBlock(_) => {
                self.out.code.push(at);
                MarkdownBlockKind::Code
            }
            Tag::Table(_) if outermost => MarkdownBlockKind::Table,
            Tag::HtmlBlock if outermost => MarkdownBlockKind::Html,
            _ => return,
        };
        if outermost || kind == MarkdownBlockKind::Item {
            self.out.blocks.push(MarkdownBlock { kind, at });
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "every other end changes nothing here")]
    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::List(_) => self.lists = self.lists.saturating_sub(1),
            TagEnd::BlockQuote(_) => self.quotes = self.quotes.saturating_sub(1),
            TagEnd::Heading(_) => {
                if let Some(mut heading) = self.heading.take() {
                    heading.title.value = heading.title.value.trim().to_owned();
                    self.out.headings.push(heading);
                }
            }
            _ => {}
        }
    }

    fn push_title(&mut self, text: &str) {
        if let Some(heading) = &mut self.heading {
            heading.title.value.push_str(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_blocks_have_their_byte_spans() {
        let text = "intro\n\n# One `two`\n\n- a\n  - b\n- c\n\n```sh\n# no heading\n```\n";
        let blocks = parse(text, Span::new(0, text.len()));
        assert_eq!(blocks.headings.len(), 1);
        assert_eq!(blocks.headings[0].title.value, "One two");
        assert_eq!(blocks.headings[0].title.at.slice(text).trim_end(), "# One `two`");
        let kinds: Vec<MarkdownBlockKind> = blocks.blocks.iter().map(|block| block.kind).collect();
        let expected = [
            MarkdownBlockKind::Paragraph,
            MarkdownBlockKind::Item,
            MarkdownBlockKind::Item,
            MarkdownBlockKind::Code,
        ];
        assert_eq!(kinds, expected);
        assert_eq!(blocks.blocks[1].at.slice(text), "- a\n  - b\n");
    }

    #[test]
    fn a_heading_in_a_list_or_quote_is_ignored() {
        let text = "> # quoted\n\n- # listed\n\nSetext\n======\n";
        let blocks = parse(text, Span::new(0, text.len()));
        let titles: Vec<&str> = blocks.headings.iter().map(|h| h.title.value.as_str()).collect();
        assert_eq!(titles, ["Setext"]);
    }
}
