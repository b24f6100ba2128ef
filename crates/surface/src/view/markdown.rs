//! Renders the Markdown of a document for a terminal: headings, lists, code, tables and bold words,
//! with words wrapped. Other text inside a line stays as it was written, so that it can be copied and
//! searched for.

use super::{heading, shown_width, wrap};
use anstyle::{AnsiColor, Style};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The space before each line of code.
const CODE_INDENT: &str = "    ";
/// What separates two columns of a table.
const COLUMN_SEPARATOR: &str = "  ";
/// The narrowest text, however deeply it is nested.
const WIDTH_MIN: usize = 16;
/// The length of the marks around bold text.
const BOLD_MARK: usize = 2;

/// Renders a Markdown text that is safe to print.
pub(crate) fn render(source: &str, width: usize) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    let mut renderer = MarkdownRenderer { source, width, ..MarkdownRenderer::default() };
    for (event, at) in Parser::new_ext(source, options).into_offset_iter() {
        renderer.render_event(event, at);
    }
    renderer.out
}

/// A container of other blocks.
#[derive(Debug)]
struct MarkdownContainer {
    /// What the first line in it begins with; taken when it is written.
    first: Option<String>,
    /// What the other lines begin with.
    rest: String,
}

#[derive(Debug, Default)]
struct MarkdownRenderer<'s> {
    source: &'s str,
    width: usize,
    out: String,
    containers: Vec<MarkdownContainer>,
    /// The numbers of the next items; `None` for lists without numbers.
    lists: Vec<Option<u64>>,
    /// The text of the current block.
    text: String,
    /// Where the next part of the text begins in the source, if the last one was in the same line.
    next: Option<usize>,
    /// Where bold text begins in the text of the current block.
    bold_from: Option<usize>,
    /// Whether the current block is code or HTML, whose line ends stay.
    is_verbatim: bool,
    table: Vec<Vec<String>>,
}

impl MarkdownRenderer<'_> {
    fn render_event(&mut self, event: Event<'_>, at: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(&tag, &at),
            Event::End(tag) => self.end(tag, &at),
            Event::Text(text) if self.is_verbatim => self.text.push_str(&text),
            Event::Html(text) => self.text.push_str(&text),
            Event::SoftBreak => {
                let follows_label =
                    starts_with_label(self.source.get(at.end..).unwrap_or_default());
                self.break_line(if follows_label { '\n' } else { ' ' });
            }
            Event::HardBreak => self.break_line('\n'),
            Event::TaskListMarker(is_done) => {
                self.text.push_str(if is_done { "[x] " } else { "[ ] " });
            }
            Event::Rule => {
                let width = self.text_width();
                self.write_lines(&["─".repeat(width)]);
                self.end_block();
            }
            Event::Text(_)
            | Event::Code(_)
            | Event::InlineHtml(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_) => self.push_source(&at),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other tags are shown by what is in them")]
    fn start(&mut self, tag: &Tag<'_>, at: &Range<usize>) {
        match tag {
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) | Tag::HtmlBlock => {
                self.flush_text();
                self.is_verbatim = true;
            }
            Tag::BlockQuote(_) => self.open(Some("> ".to_owned()), "> "),
            Tag::List(first) => {
                self.flush_text();
                self.lists.push(*first);
            }
            Tag::Item => {
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    Some(None) | None => "- ".to_owned(),
                };
                let rest = " ".repeat(marker.width());
                self.open(Some(marker), &rest);
            }
            Tag::TableHead | Tag::TableRow => self.table.push(Vec::new()),
            Tag::Strong => {
                // What is written before the marks, such as those of another style, stays.
                self.push_source(&(at.start..at.start));
                self.next = Some(at.start + BOLD_MARK);
                self.bold_from.get_or_insert(self.text.len());
            }
            Tag::Emphasis | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. } => {
                self.next.get_or_insert(at.start);
            }
            _ => {}
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other tags are shown by what is in them")]
    fn end(&mut self, tag: TagEnd, at: &Range<usize>) {
        match tag {
            TagEnd::Paragraph => {
                self.flush_text();
                self.end_block();
            }
            TagEnd::Heading(_) => {
                let text = std::mem::take(&mut self.text);
                let lines = wrap(&text, self.text_width());
                let lines: Vec<String> =
                    lines.iter().map(|line| heading(line).trim_end().to_owned()).collect();
                self.write_lines(&lines);
                self.end_block();
            }
            TagEnd::CodeBlock => {
                let width = self.text_width().saturating_sub(CODE_INDENT.len()).max(WIDTH_MIN);
                let style = Style::new().fg_color(Some(AnsiColor::Cyan.into()));
                let code = self.take_verbatim();
                let lines = code.lines().flat_map(|line| wrap_code(line, width));
                let lines: Vec<String> = lines
                    .map(|line| match line.is_empty() {
                        true => line,
                        false => format!("{CODE_INDENT}{style}{line}{style:#}"),
                    })
                    .collect();
                self.write_lines(&lines);
                self.end_block();
            }
            TagEnd::HtmlBlock => {
                let (html, width) = (self.take_verbatim(), self.text_width());
                let lines: Vec<String> =
                    html.lines().flat_map(|line| wrap_code(line, width)).collect();
                self.write_lines(&lines);
                self.end_block();
            }
            TagEnd::Item => {
                self.flush_text();
                self.write_pending_marker();
                self.containers.pop();
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.end_block();
            }
            TagEnd::BlockQuote(_) => {
                let blank = format!("\n{}\n", self.line_start().trim_end());
                if self.out.ends_with(&blank) {
                    self.out.truncate(self.out.len() - blank.len() + 1);
                }
                self.containers.pop();
                self.end_block();
            }
            TagEnd::TableCell => {
                let text = std::mem::take(&mut self.text);
                self.next = None;
                if let Some(row) = self.table.last_mut() {
                    row.push(text.trim().to_owned());
                }
            }
            TagEnd::Table => {
                let rows = std::mem::take(&mut self.table);
                let lines = table_lines(&rows, self.text_width());
                self.write_lines(&lines);
                self.end_block();
            }
            TagEnd::Strong => {
                let end = at.end.saturating_sub(BOLD_MARK);
                self.push_source(&(end..end));
                self.next = Some(at.end);
                if let Some(from) = self.bold_from.take() {
                    let words = self.text.split_off(from);
                    self.text.push_str(&bold_words(&words));
                }
            }
            TagEnd::Emphasis | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image => {
                self.push_source(&(at.end..at.end));
            }
            _ => {}
        }
    }

    /// Adds a part of a line as it was written, with the marks before it.
    fn push_source(&mut self, at: &Range<usize>) {
        let from = self.next.unwrap_or(at.start).min(at.end);
        let written = self.source.get(from..at.end).unwrap_or_default();
        self.text.push_str(&written.replace('\n', " "));
        self.next = Some(at.end);
    }

    /// Ends a line of the source. Marks of containers may begin the next one.
    fn break_line(&mut self, end: char) {
        self.text.push(end);
        self.next = None;
    }

    fn open(&mut self, first: Option<String>, rest: &str) {
        self.flush_text();
        self.containers.push(MarkdownContainer { first, rest: rest.to_owned() });
    }

    fn take_verbatim(&mut self) -> String {
        self.is_verbatim = false;
        std::mem::take(&mut self.text)
    }

    /// What a line inside the containers begins with.
    fn line_start(&self) -> String {
        self.containers.iter().map(|container| container.rest.as_str()).collect()
    }

    /// The width that is left inside the containers.
    fn text_width(&self) -> usize {
        self.width.saturating_sub(self.line_start().width()).max(WIDTH_MIN)
    }

    /// Writes the text of the current block.
    fn flush_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        self.next = None;
        if !text.trim().is_empty() {
            let lines = wrap(&text, self.text_width());
            self.write_lines(&lines);
        }
    }

    /// An item without text still has its marker.
    fn write_pending_marker(&mut self) {
        if self.containers.last().is_some_and(|container| container.first.is_some()) {
            self.write_lines(&[String::new()]);
        }
    }

    fn write_lines(&mut self, lines: &[String]) {
        for line in lines {
            let mut start = String::new();
            for container in &mut self.containers {
                start.push_str(&container.first.take().unwrap_or_else(|| container.rest.clone()));
            }
            self.out.push_str(format!("{start}{line}").trim_end());
            self.out.push('\n');
        }
        self.next = None;
    }

    /// Separates blocks by one blank line. Inside lists, that is left to the end of the list.
    fn end_block(&mut self) {
        if !self.lists.is_empty() {
            return;
        }
        let blank = format!("{}\n", self.line_start().trim_end());
        if !self.out.ends_with(&format!("\n{blank}")) {
            self.out.push_str(&blank);
        }
    }
}

/// Makes each word bold, so that lines can break between them.
fn bold_words(text: &str) -> String {
    let bold = Style::new().bold();
    let words = text.split_inclusive(char::is_whitespace).map(|part| {
        let word = part.trim_end();
        match word.is_empty() {
            true => part.to_owned(),
            false => format!("{bold}{word}{bold:#}{}", &part[word.len()..]),
        }
    });
    words.collect()
}

/// Whether a line begins with a bold label, as in `**From:** Leah`. Such lines are a list in
/// themselves.
fn starts_with_label(text: &str) -> bool {
    let line = text.trim_start().lines().next().unwrap_or_default();
    let bold = line.strip_prefix("**").and_then(|rest| rest.split_once("**"));
    bold.is_some_and(|(label, after)| label.ends_with(':') || after.starts_with(':'))
}

/// Breaks a line of code that is too long, between words where it can.
fn wrap_code(line: &str, width: usize) -> Vec<String> {
    let line = line.replace('\t', "    ");
    let mut lines = Vec::new();
    let mut rest = line.trim_end();
    while rest.width() > width {
        let end = prefix_length(rest, width);
        let indent = rest.len() - rest.trim_start().len();
        let space = rest[..end].rfind(' ').filter(|space| *space > indent);
        let (head, tail) = rest.split_at(space.unwrap_or(end));
        lines.push(head.trim_end().to_owned());
        rest = tail.trim_start();
    }
    lines.push(rest.to_owned());
    lines
}

/// The length in bytes of the longest start that fits; at least one character.
fn prefix_length(text: &str, width: usize) -> usize {
    let mut used = 0;
    for (index, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > width && index > 0 {
            return index;
        }
    }
    text.len()
}

/// The lines of a table. The first row is the heading; cells that do not fit are wrapped between
/// words. If not even the longest words fit beside each other, each row becomes a list.
fn table_lines(rows: &[Vec<String>], width: usize) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |row: &[String], index: usize| row.get(index).cloned().unwrap_or_default();
    let widest = |width_of: fn(&str) -> usize| {
        let width = |index: usize| rows.iter().map(|row| width_of(&cell(row, index))).max();
        (0..columns).map(|index| width(index).unwrap_or(0)).collect::<Vec<usize>>()
    };
    let mut widths = widest(shown_width);
    let longest_words = widest(|text| text.split_whitespace().map(shown_width).max().unwrap_or(0));
    let gaps = COLUMN_SEPARATOR.len() * columns.saturating_sub(1);
    if longest_words.iter().sum::<usize>() + gaps > width {
        return row_lists(rows, width);
    }
    while widths.iter().sum::<usize>() + gaps > width {
        let shrinkable = widths.iter_mut().zip(&longest_words).filter(|(one, word)| **one > **word);
        let Some((largest, _)) = shrinkable.max() else { break };
        *largest -= 1;
    }
    let mut lines = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<Vec<String>> =
            (0..columns).map(|index| wrap(&cell(row, index), widths[index])).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..height {
            let parts = cells.iter().zip(&widths).map(|(lines, width)| {
                let text = lines.get(at).map_or("", String::as_str);
                format!("{text}{}", " ".repeat(width.saturating_sub(shown_width(text))))
            });
            let line = parts.collect::<Vec<_>>().join(COLUMN_SEPARATOR);
            let line = line.trim_end();
            lines.push(if number == 0 {
                heading(line).trim_end().to_owned()
            } else {
                line.to_owned()
            });
        }
        if number == 0 {
            let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            lines.push(rules.join(COLUMN_SEPARATOR));
        }
    }
    lines
}

/// The rows of a table that is too wide: each cell in its own lines, after the name of its column.
fn row_lists(rows: &[Vec<String>], width: usize) -> Vec<String> {
    let Some((head, rows)) = rows.split_first() else { return Vec::new() };
    let mut lines = Vec::new();
    for row in rows {
        let mut mark = "- ";
        for (index, cell) in row.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let name = head.get(index).filter(|name| !name.is_empty());
            let text = name.map_or_else(|| cell.clone(), |name| format!("{name}: {cell}"));
            for line in wrap(&text, width.saturating_sub(mark.len())) {
                lines.push(format!("{mark}{line}"));
                mark = "  ";
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "\
## Diagnosis

The page reads **every company** of a city,
see `shop/views.py:12`
and [the trace](trace.html).

1. Measure it first
   - with the index
   - without
2. Paginate in the database, which needs one more query for each page that is shown

> Quoted words of somebody
> go on here.

```sh
cargo test --all
  very --long --command --with --many --options --that --do --not --fit
```

| name | cost |
|---|---:|
| cold render of a market page | 14 s |
| warm | 1 s |

- [x] done
- [ ] open
";

    const RENDERED: &str = "\
Diagnosis

The page reads every company of a city,
see `shop/views.py:12` and [the
trace](trace.html).

1. Measure it first
   - with the index
   - without
2. Paginate in the database, which needs
   one more query for each page that is
   shown

> Quoted words of somebody go on here.

    cargo test --all
      very --long --command --with
    --many --options --that --do --not
    --fit

name                          cost
────────────────────────────  ────
cold render of a market page  14 s
warm                          1 s

- [x] done
- [ ] open

";

    fn plain(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("\u{1b}[") {
            out.push_str(before);
            rest = after.split_once('m').map_or("", |(_, rest)| rest);
        }
        out + rest
    }

    #[test]
    fn blocks_are_rendered_and_words_wrapped() {
        assert_eq!(plain(&render(SAMPLE, 40)), RENDERED);
        let bold = anstyle::Style::new().bold();
        assert!(render(SAMPLE, 40).starts_with(&format!("{bold}Diagnosis{bold:#}\n")));
    }

    #[test]
    fn nothing_is_wider_than_the_terminal_and_no_word_is_lost() {
        let words = |text: &str| -> Vec<String> {
            text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect()
        };
        for width in [30, 40, 80, 120] {
            let shown = plain(&render(SAMPLE, width));
            for line in shown.lines() {
                assert!(line.width() <= width, "{width}: {line}");
            }
            let shown = words(&shown);
            let missing =
                words(SAMPLE).into_iter().find(|word| !shown.contains(word) && word != "sh");
            assert_eq!(missing, None, "{width}");
        }
    }
    #[test]
    fn bold_words_are_bold_and_labels_keep_their_lines() {
        let bold = Style::new().bold();
        let shown = render("**From:** Leah\n**To:** the next\nsession\n", 40);
        assert_eq!(
            shown,
            format!("{bold}From:{bold:#} Leah\n{bold}To:{bold:#} the next session\n\n")
        );
        let shown = render("It is now **very slow** and ***odd***, `**kept**`", 16);
        assert_eq!(plain(&shown), "It is now very\nslow and *odd*,\n`**kept**`\n\n");
        assert!(shown.contains(&format!("{bold}very{bold:#}\n{bold}slow{bold:#}")), "{shown}");
    }

    #[test]
    fn a_table_never_breaks_words_and_becomes_a_list_if_they_do_not_fit() {
        let table = "| file | **reason** |\n|---|---|\n| src/channels/terminal.ex | reads |\n";
        assert_eq!(
            plain(&render(table, 40)),
            "file                      reason\n\
             ────────────────────────  ──────\n\
             src/channels/terminal.ex  reads\n\n"
        );
        assert_eq!(
            plain(&render(table, 30)),
            "- file:\n  src/channels/terminal.ex\n  reason: reads\n\n"
        );
    }
}
