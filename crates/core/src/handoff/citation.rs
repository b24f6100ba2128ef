//! Finds citations: repository paths and lines that a document names.
//!
//! A citation is recognized by its form alone, in the header's statements and in the body's prose.
//! This module does not check whether the path exists or ever existed.

mod code;
mod continuation;
mod lines;
mod path;

pub use lines::LineRange;
pub(crate) use path::is_known_extension;

use crate::format::document::Document;
use crate::format::generated_section::{self, GeneratedSection};
use crate::text::markdown::MarkdownBlockKind;
use crate::text::span::{Span, Spanned};
use crate::text::yaml::{YamlNode, YamlValue};
use code::{ReadableCode, TreePath, readable_code};
use lines::{LineItem, LineList, read_lines, render_like};
use path::{expand_path, is_path, trim_word, word_end};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

/// A path in the repository that a document names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation<'d> {
    /// The citation as written, including its lines. Each entry of `a.rs:3,7` and `{a,b}.rs` is
    /// its own citation, written out: `a.rs:7`, `b.rs`.
    pub written: Spanned<Cow<'d, str>>,
    /// The path as written.
    pub path: Cow<'d, str>,
    /// The cited lines, if any.
    pub lines: Option<LineRange>,
    /// How the lines are written.
    notation: Option<LineNotation>,
    /// Where the citation was found.
    source: CitationSource,
    /// The text that cites it: a paragraph, a list item, a table row or an entry of the header.
    pub statement: Span,
}

/// Where a citation was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CitationSource {
    Prose,
    /// A fenced block of plain text, shell or Markdown.
    Code,
    /// A drawing of a folder tree, with the length of its topmost folder in the path.
    Drawing(usize),
}

/// How the lines of a citation are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LineNotation {
    /// The numbers themselves.
    at: Span,
    /// The path with all its lines.
    list: Span,
    /// Whether midstride understands all of the list, and the list is about one file.
    is_understood: bool,
    is_approximate: bool,
}

impl Citation<'_> {
    /// Whether it is only a file name, without a folder or lines. `Next.js` looks like one too.
    pub fn is_bare_name(&self) -> bool {
        self.lines.is_none() && !self.path.contains('/')
    }

    /// Whether it cites a folder.
    pub fn is_folder(&self) -> bool {
        self.path.ends_with('/')
    }

    /// Whether it says that its lines are not exact, as in `a.rs:~130`.
    pub fn is_approximate(&self) -> bool {
        self.notation.is_some_and(|notation| notation.is_approximate)
    }

    /// Whether it is in a code block.
    pub fn is_in_code(&self) -> bool {
        self.source != CitationSource::Prose
    }

    /// The path below the topmost folder of a drawing, which may be the project itself.
    pub fn path_below_root(&self) -> Option<&str> {
        match self.source {
            CitationSource::Drawing(root) => self.path.get(root..).filter(|_| root > 0),
            CitationSource::Prose | CitationSource::Code => None,
        }
    }

    /// The span of its lines. They are not part of what the statement says.
    pub(crate) fn lines_at(&self) -> Option<Span> {
        self.notation.map(|notation| notation.at)
    }
}

/// Header fields that make statements about the repository.
const STATEMENT_FIELDS: [&str; 12] = [
    "title",
    "description",
    "context_summary",
    "decisions_made",
    "wrong_turns",
    "open_questions",
    "assumptions",
    "landmines",
    "measurements",
    "implements",
    "deviations",
    "boot",
];

/// All citations in a document, in text order.
pub fn citations(document: &Document) -> Vec<Citation<'_>> {
    let mut found = Vec::new();
    for field in statements(document) {
        collect_from_field(document.text(), field, &mut found);
    }
    collect_from_body(document, &mut found);
    found.sort_by_key(|citation| citation.written.at);
    found
}

/// For each citation, whether its lines can be rewritten. A list of lines is rewritten as a whole,
/// so the current lines of all its entries have to be known.
pub fn renumberable(
    citations: &[Citation<'_>],
    is_located: impl Fn(&Citation<'_>) -> bool,
) -> Vec<bool> {
    let is_open = |citation: &&Citation<'_>| {
        citation.notation.is_some_and(|notation| !notation.is_understood || !is_located(citation))
    };
    let list = |citation: &Citation<'_>| citation.notation.map(|notation| notation.list);
    let open: HashSet<Span> = citations.iter().filter(is_open).filter_map(list).collect();
    citations.iter().map(|one| list(one).is_some_and(|list| !open.contains(&list))).collect()
}

/// Writes the current lines of citations. `located` has the lines of every citation whose place is
/// known now, by its span. Returns how many lines changed; `None` if writing them would change
/// anything else.
pub fn update_lines(
    document: &Document,
    located: &BTreeMap<Span, LineRange>,
) -> Option<(Document, usize)> {
    let before = citations(document);
    let renumberable = renumberable(&before, |one| located.contains_key(&one.written.at));
    let wanted: Vec<Option<LineRange>> = before
        .iter()
        .zip(renumberable)
        .map(|(one, is_written)| match located.get(&one.written.at) {
            Some(lines) if is_written => Some(*lines),
            _ => one.lines,
        })
        .collect();
    let mut text = String::with_capacity(document.text().len());
    let (mut from, mut updated) = (0, 0);
    for (citation, lines) in before.iter().zip(&wanted) {
        let Some((notation, lines)) = citation.notation.zip(*lines) else { continue };
        if Some(lines) != citation.lines && notation.at.start >= from {
            text.push_str(Span::new(from, notation.at.start).slice(document.text()));
            text.push_str(&render_like(notation.at.slice(document.text()), lines));
            from = notation.at.end;
            updated += 1;
        }
    }
    text.push_str(&document.text()[from..]);
    let after = Document::parse(text.as_bytes());
    let is_as_wanted = {
        let after = citations(&after);
        let paths = before.iter().map(|one| &one.path);
        after.len() == before.len()
            && after
                .iter()
                .zip(paths.zip(&wanted))
                .all(|(after, (path, lines))| after.path == *path && after.lines == *lines)
    };
    let sound = after.findings().len() <= document.findings().len();
    (is_as_wanted && sound && document.is_exact()).then_some((after, updated))
}

/// The header nodes that make statements about the repository.
pub(crate) fn statements(document: &Document) -> Vec<&YamlNode> {
    let Some(header) = document.handoff_header() else {
        return Vec::new();
    };
    let fields = STATEMENT_FIELDS.iter().filter_map(|name| header.fields().get(name));
    let proofs = header.fields().get("proofs").map(YamlNode::items).unwrap_or_default();
    fields.chain(proofs.into_iter().filter_map(|proof| proof.get("claim"))).collect()
}

/// Collects citations from a header field. Each entry of a list is its own statement.
fn collect_from_field<'d>(text: &'d str, field: &'d YamlNode, found: &mut Vec<Citation<'d>>) {
    match &field.value {
        YamlValue::List(items) => {
            for item in items {
                collect_from_node(text, &item.node, item.node.at, found);
            }
        }
        YamlValue::Map(entries) => {
            for entry in entries {
                collect_from_field(text, &entry.node, found);
            }
        }
        YamlValue::Text(_) | YamlValue::Null | YamlValue::Unreadable(_) => {
            collect_from_node(text, field, field.at, found);
        }
    }
}

fn collect_from_node<'d>(
    text: &'d str,
    node: &'d YamlNode,
    statement: Span,
    found: &mut Vec<Citation<'d>>,
) {
    match &node.value {
        YamlValue::Text(_) => {
            let source = CitationSource::Prose;
            collect_from_words(text, node.at, source, &[], |_| statement, found);
        }
        YamlValue::List(items) => {
            for item in items {
                collect_from_node(text, &item.node, statement, found);
            }
        }
        YamlValue::Map(entries) => {
            for entry in entries {
                collect_from_node(text, &entry.node, statement, found);
            }
        }
        YamlValue::Null | YamlValue::Unreadable(_) => {}
    }
}

fn collect_from_body<'d>(document: &'d Document, found: &mut Vec<Citation<'d>>) {
    let text = document.text();
    let code = code_blocks(document);
    // The facts section is history: later code changes do not make it wrong.
    let facts = GeneratedSection::find(document, generated_section::GeneratedSectionKind::Facts)
        .map(|facts| facts.at);
    let is_live = |at: Span| !facts.is_some_and(|facts| facts.contains(at));
    for heading in
        document.sections().iter().map(|section| section.title.at).filter(|at| is_live(*at))
    {
        collect_from_words(text, heading, CitationSource::Prose, &code, |_| heading, found);
    }
    for block in code.iter().filter(|at| is_live(**at)) {
        match readable_code(text, *block) {
            Some(ReadableCode::Lines(at)) => {
                let line = |place: Span| line_around(text, at, place);
                collect_from_words(text, at, CitationSource::Code, &[], line, found);
            }
            Some(ReadableCode::Tree(paths)) => {
                found.extend(paths.into_iter().map(Citation::from_drawing));
            }
            None => {}
        }
    }
    for block in document.blocks().iter().filter(|block| is_live(block.at)) {
        match block.kind {
            MarkdownBlockKind::Paragraph | MarkdownBlockKind::Item | MarkdownBlockKind::Table => {
                for part in statements_in(text, block.at, block.kind) {
                    for at in cells_in(text, part, block.kind) {
                        let source = CitationSource::Prose;
                        collect_from_words(text, at, source, &code, |_| part, found);
                    }
                }
            }
            MarkdownBlockKind::Code | MarkdownBlockKind::Html => {}
        }
    }
}

/// Multi-line code that is not part of a sentence.
pub(crate) fn code_blocks(document: &Document) -> Vec<Span> {
    let is_block = |code: &Span| {
        let written = code.slice(document.text()).trim_start();
        written.starts_with("```") || written.starts_with("~~~") || written.contains('\n')
    };
    document.code().iter().copied().filter(is_block).collect()
}

/// The statements of a block: its table rows, its list items with the lines that follow them, or
/// else the whole block.
fn statements_in(text: &str, block: Span, kind: MarkdownBlockKind) -> Vec<Span> {
    let begins = |line: &str| match kind {
        MarkdownBlockKind::Table => true,
        MarkdownBlockKind::Paragraph
        | MarkdownBlockKind::Item
        | MarkdownBlockKind::Code
        | MarkdownBlockKind::Html => is_item(line),
    };
    let mut parts = Vec::new();
    let (mut from, mut next) = (block.start, block.start);
    for line in block.slice(text).split_inclusive('\n') {
        if begins(line) && next > from {
            parts.push(Span::new(from, next));
            from = next;
        }
        next += line.len();
    }
    parts.push(Span::new(from, block.end));
    parts
}

/// The parts of a statement in which a list of lines ends: the cells of a table row, or else the
/// whole statement.
fn cells_in(text: &str, statement: Span, kind: MarkdownBlockKind) -> Vec<Span> {
    if kind != MarkdownBlockKind::Table {
        return vec![statement];
    }
    let row = statement.slice(text);
    let is_edge = |(at, _): &(usize, &str)| !row[..*at].ends_with('\\');
    let edges = row.match_indices('|').filter(is_edge).map(|(at, _)| statement.start + at);
    let mut from = statement.start;
    let mut cells = Vec::new();
    for edge in edges.chain([statement.end]) {
        cells.push(Span::new(from, edge));
        from = edge + 1;
    }
    cells
}

/// The line of a text that contains a place.
fn line_around(text: &str, within: Span, at: Span) -> Span {
    let start =
        text[within.start..at.start].rfind('\n').map_or(within.start, |end| within.start + end + 1);
    let end = text[at.end..within.end].find('\n').map_or(within.end, |end| at.end + end);
    Span::new(start, end)
}

/// Whether a line begins a list item.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let after_marker = line
        .strip_prefix(['-', '*', '+'])
        .or_else(|| line.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(['.', ')']));
    after_marker.is_some_and(|rest| rest.starts_with([' ', '\t']))
}

/// Collects the citations in prose or plain code, except in `skipped` spans, which are sorted.
fn collect_from_words<'d>(
    text: &'d str,
    at: Span,
    source: CitationSource,
    skipped: &[Span],
    statement: impl Fn(Span) -> Span,
    found: &mut Vec<Citation<'d>>,
) {
    let within = &text[..at.end];
    let mut start = at.start;
    while start < at.end {
        let end = word_end(within, start);
        let here = Span::new(start, end);
        start = end + within[end..].chars().next().map_or(0, char::len_utf8);
        let word = here.slice(within);
        if !word.contains(['.', '/', ':']) || is_inside(skipped, here) {
            continue;
        }
        if let Some(place) = CitedPlace::read(within, here, source) {
            // What was read as lines is not read again.
            start = start.max(place.lines.as_ref().map_or(0, |lines| place.list_at(lines).end));
            let statement = statement(place.at);
            place.add_citations(within, statement, found);
        }
    }
}

/// A path with its lines, as written.
struct CitedPlace<'d> {
    /// The span of the path.
    at: Span,
    /// One path, or several if the word has alternatives in braces.
    paths: Vec<Cow<'d, str>>,
    lines: Option<LineList>,
    source: CitationSource,
}

/// Whether one of the sorted spans contains a span.
fn is_inside(sorted: &[Span], at: Span) -> bool {
    let before = sorted.partition_point(|span| span.start <= at.start);
    sorted[..before].last().is_some_and(|span| span.contains(at))
}

impl<'d> Citation<'d> {
    fn from_drawing(drawn: TreePath) -> Self {
        let path: Cow<'d, str> = Cow::Owned(drawn.path);
        Self {
            written: Spanned::new(path.clone(), drawn.at),
            path,
            lines: None,
            notation: None,
            source: CitationSource::Drawing(drawn.root_length),
            statement: drawn.line,
        }
    }
}

impl<'d> CitedPlace<'d> {
    /// Reads the word at `word` and the lines behind it.
    fn read(text: &'d str, word: Span, source: CitationSource) -> Option<Self> {
        let trimmed = trim_word(word.slice(text));
        if trimmed.contains("://") {
            return None;
        }
        let start = word.start + (trimmed.as_ptr() as usize - word.slice(text).as_ptr() as usize);
        let path = &trimmed[..trimmed.find([':', '#']).unwrap_or(trimmed.len())];
        let at = Span::new(start, start + path.len());
        let lines = read_lines(&text[at.end..]);
        let is_attached = lines.as_ref().is_some_and(|lines| lines.is_attached);
        let paths = expand_path(path);
        let are_paths = !paths.is_empty() && paths.iter().all(|path| is_path(path, is_attached));
        // A folder has no lines, and lines in output are history.
        let has_lines = !path.ends_with('/') && source == CitationSource::Prose;
        let lines = lines.filter(|_| has_lines);
        are_paths.then_some(Self { at, paths, lines, source })
    }

    /// The span of the path with all its lines.
    fn list_at(&self, lines: &LineList) -> Span {
        let end = lines.items.last().map_or(0, |item| item.at.end);
        Span::new(self.at.start, self.at.end + end)
    }

    /// Adds a citation for each path and each entry of the list.
    fn add_citations(self, text: &'d str, statement: Span, found: &mut Vec<Citation<'d>>) {
        let Some(lines) = &self.lines else {
            found.extend(self.paths.into_iter().map(|path| Citation {
                written: Spanned::new(path.clone(), self.at),
                path,
                lines: None,
                notation: None,
                source: self.source,
                statement,
            }));
            return;
        };
        for path in &self.paths {
            for (number, item) in lines.items.iter().enumerate() {
                let notation = LineNotation {
                    at: item.at.shifted(self.at.end),
                    list: self.list_at(lines),
                    is_understood: lines.is_complete && self.paths.len() == 1,
                    is_approximate: item.is_approximate,
                };
                let written = self.written(text, path, item, number == 0 && lines.is_attached);
                let lines = Some(item.lines);
                let (path, notation, source) = (path.clone(), Some(notation), self.source);
                found.push(Citation { written, path, lines, notation, source, statement });
            }
        }
    }

    /// One entry of the list as its own citation.
    fn written(
        &self,
        text: &'d str,
        path: &str,
        item: &LineItem,
        is_next_to_path: bool,
    ) -> Spanned<Cow<'d, str>> {
        let at = item.at.shifted(self.at.end);
        let is_single = self.paths.len() == 1;
        let has_ticks = at.slice(text).contains('`');
        if is_next_to_path && is_single {
            let at = Span::new(self.at.start, at.end);
            let written = match has_ticks {
                true => Cow::Owned(at.slice(text).replace('`', "")),
                false => Cow::Borrowed(at.slice(text)),
            };
            return Spanned::new(written, at);
        }
        Spanned::new(Cow::Owned(format!("{path}:{}", at.slice(text).replace('`', ""))), at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn found(text: &str) -> Vec<String> {
        let document = Document::parse(text.as_bytes());
        let found = citations(&document);
        let shown = |citation: &Citation<'_>| {
            assert!(citation.statement.contains(citation.written.at), "{citation:?}");
            match citation.lines {
                Some(lines) => format!("{} @{lines}", citation.path),
                None => citation.path.to_string(),
            }
        };
        found.iter().map(shown).collect()
    }

    #[test]
    fn paths_are_recognized_by_their_form() {
        let text = "# About src/head.rs\n\nSee `src/market.py:120-124`, (app/[slug]/page.tsx), \
            **lib/a.go:7**, [there](docs/x.md#L10-L12) and [src/b.rs:3].\n\nAlso tests/t.py::test_x, \
            market.py:9:4, crates/core/, ci/Makefile, .gitignore; ./run.sh, `Cargo.toml` and bin/go:4.";
        let expected = [
            "src/head.rs",
            "src/market.py @120-124",
            "app/[slug]/page.tsx",
            "lib/a.go @7",
            "docs/x.md @10-12",
            "src/b.rs @3",
            "tests/t.py",
            "market.py @9",
            "crates/core/",
            "ci/Makefile",
            ".gitignore",
            "run.sh",
            "Cargo.toml",
            "bin/go @4",
        ];
        assert_eq!(found(text), expected);
    }

    #[test]
    fn words_that_only_resemble_paths_are_ignored() {
        for word in [
            "https://x.org/a/b.py:12",
            "and/or",
            "Node.js",
            "self.items",
            "e.g.",
            "v1.2.3",
            "12:30",
            "src/*.rs",
            "src/{a}.rs",
            "src/${a,b}.rs",
            "<name>/x.rs",
            "~/.ssh/config",
            "$HOME/x.sh",
            "me@example.com",
            "localhost:8080",
            "127.0.0.1:80",
            "/api/users/",
            "a//b.py",
            "C:\\x\\y.py",
            "1/2",
            "...",
        ] {
            assert_eq!(found(&format!("Look at {word} here.")), Vec::<String>::new(), "{word}");
        }
    }

    #[test]
    fn invalid_line_numbers_are_ignored() {
        let text = "a.rs:18446744073709551615 b.rs:0 c.rs:9-3 d.rs#L1C2-L2C3 e.rs:12-ish f.rs:3:9";
        assert_eq!(found(text), ["a.rs", "b.rs", "c.rs", "d.rs", "e.rs @12", "f.rs @3"]);
    }

    #[test]
    fn plain_code_blocks_contain_paths() {
        let text = "- one\n\n  ```sh\n  cat src/a.rs\n  ```\n\n```\nsrc/b.rs:1: error\n```\n\n~~~md\nSee src/{c,d}.rs\n~~~\n";
        assert_eq!(found(text), ["src/a.rs", "src/b.rs", "src/c.rs", "src/d.rs"]);
        let text = "```\napp/\n├── src/\n│   └── a.rs\n└── b.toml\n```\n";
        let document = Document::parse(text.as_bytes());
        let below: Vec<String> = citations(&document)
            .iter()
            .map(|one| one.path_below_root().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(below, ["src/", "src/a.rs", "b.toml"]);
    }

    #[test]
    fn source_code_and_comments_contain_no_citations() {
        let text = "- one\n\n  ```py\n  open(\"src/a.rs\")\n  ```\n\n<!-- src/c.rs -->\n\n    src/d.rs\n    src/e.rs\n";
        assert_eq!(found(text), Vec::<String>::new());
    }

    #[test]
    fn header_statements_contain_citations() {
        let text = "---\nhandoff:\n  id: src/not.rs\n  decisions_made:\n    - decision: Use src/a.rs:3\n      \
            rationale: \"as in `src/b.rs:4`\"\n  landmines: [src/c.rs]\n  proofs:\n    - claim: src/d.rs \
            holds\n      run: cat src/not.rs\n---\n";
        assert_eq!(found(text), ["src/a.rs @3", "src/b.rs @4", "src/c.rs", "src/d.rs"]);
        let document = Document::parse(text.as_bytes());
        let all = citations(&document);
        assert_eq!(all[0].statement, all[1].statement);
        assert_ne!(all[1].statement, all[2].statement);
    }

    #[test]
    fn each_list_item_and_table_row_is_a_statement() {
        let text = "- a.rs:1 is\n  slow\n  - b.rs:2\n- c.rs:3\n\n| x | y |\n|---|---|\n| d.rs:4 | e.rs:5 |\n| f.rs:6 | |\n\nOne\ng.rs:7 two.\n";
        let document = Document::parse(text.as_bytes());
        let all = citations(&document);
        let statements: Vec<&str> =
            all.iter().map(|c| c.statement.slice(text).trim_end()).collect();
        let row = "| d.rs:4 | e.rs:5 |";
        let expected = [
            "- a.rs:1 is\n  slow",
            "  - b.rs:2",
            "- c.rs:3",
            row,
            row,
            "| f.rs:6 | |",
            "One\ng.rs:7 two.",
        ];
        assert_eq!(statements, expected);
    }

    #[test]
    fn line_numbers_are_updated_in_header_and_body() {
        let text =
            "---\nhandoff:\n  landmines: [\"a.rs:3, b.rs:9\"]\n---\nSee a.rs#L3 and a.rs:3.\n";
        let document = Document::parse(text.as_bytes());
        let to = LineRange { first: 12, last: 12 };
        let located = |path: &str| located(&document, |one| (one.path == path).then_some(to));
        let (after, updated) = update_lines(&document, &located("a.rs")).unwrap();
        let expected = text.replace("a.rs:3", "a.rs:12").replace("#L3", "#L12");
        assert_eq!((after.text(), updated), (expected.as_str(), 3));
        let (same, updated) = update_lines(&document, &located("none.rs")).unwrap();
        assert_eq!((same.text(), updated), (text, 0));
    }

    /// The current lines of citations, by span.
    fn located(
        document: &Document,
        lines: impl Fn(&Citation<'_>) -> Option<LineRange>,
    ) -> BTreeMap<Span, LineRange> {
        let all = citations(document);
        all.iter().filter_map(|one| Some((one.written.at, lines(one)?))).collect()
    }

    fn with_lines(text: &str, lines: impl Fn(&Citation<'_>) -> Option<LineRange>) -> String {
        let document = Document::parse(text.as_bytes());
        let (after, _) = update_lines(&document, &located(&document, lines)).unwrap();
        after.text().to_owned()
    }

    #[test]
    fn updated_lines_keep_the_original_notation() {
        let text = "a.rs:1 and [x](b.rs#L2-L3) and c.rs#L4, d.rs:L5, e.rs:~6 and f.rs (line 7)";
        let to = |first, last| with_lines(text, |_| Some(LineRange { first, last }));
        let range = "a.rs:8-9 and [x](b.rs#L8-L9) and c.rs#L8-L9, d.rs:L8-L9, e.rs:~8-9 and f.rs (line 8-9)";
        assert_eq!(to(8, 9), range);
        let one = "a.rs:8 and [x](b.rs#L8) and c.rs#L8, d.rs:L8, e.rs:~8 and f.rs (line 8)";
        assert_eq!(to(8, 8), one);
    }

    #[test]
    fn every_number_of_a_line_list_is_cited() {
        let cases = [
            ("o.ts:620,790,917", "o.ts @620;o.ts @790;o.ts @917"),
            ("`o.ts:10-20, 30-40`", "o.ts @10-20;o.ts @30-40"),
            ("o.ts:10, 20 and 30.", "o.ts @10;o.ts @20;o.ts @30"),
            ("(o.ts:L10, L20)", "o.ts @10;o.ts @20"),
            ("`o.ts:10`, `:20` and `:30-31`", "o.ts @10;o.ts @20;o.ts @30-31"),
            ("o.ts:10/20", "o.ts @10;o.ts @20"),
            ("o.ts:~130", "o.ts @130"),
            ("`o.ts` (lines 88-98)", "o.ts @88-98"),
            ("**src/o.ts**, line 88", "src/o.ts @88"),
            ("o.ts (around line 130)", "o.ts @130"),
            ("o.ts (L5-7, L9)", "o.ts @5-7;o.ts @9"),
            ("o.ts:12 (lines 12-20)", "o.ts @12;o.ts @12-20"),
            ("o.ts:12, p.ts:13", "o.ts @12;p.ts @13"),
            ("o.ts line 20 and line 90", "o.ts @20;o.ts @90"),
            ("o.ts:20, line 90 and lines 95-97", "o.ts @20;o.ts @90;o.ts @95-97"),
            ("o.ts:20 (and :90, :217)", "o.ts @20;o.ts @90;o.ts @217"),
            ("o.ts:20 [:90]", "o.ts @20;o.ts @90"),
            ("o.ts:20…30", "o.ts @20-30"),
            ("`o.ts:20`–`30`", "o.ts @20-30"),
            ("o.ts:20;90", "o.ts @20;o.ts @90"),
            ("o.ts:20 and line 90 of p.ts", "o.ts @20;p.ts"),
            ("| a |\n|---|\n| o.ts:20 | 90 |", "o.ts @20"),
            ("o.ts, line 20 of p.ts", "o.ts;p.ts"),
            ("`o.ts` (97 lines)", "o.ts"),
            ("o.ts:10, 20 users saw it", "o.ts @10"),
            ("`o.ts:10`, 20 users saw it", "o.ts @10"),
            ("`o.ts` lines: 97", "o.ts"),
            ("o.ts. Line 20 is", "o.ts"),
        ];
        for (text, expected) in cases {
            assert_eq!(found(text).join(";"), expected, "{text}");
        }
    }

    #[test]
    fn alternatives_in_braces_are_citations() {
        let cases = [
            ("src/{a,b}.ts", "src/a.ts;src/b.ts"),
            ("`src/{a, b/c}.{ts,js}:4`", "src/a.ts @4;src/a.js @4;src/b/c.ts @4;src/b/c.js @4"),
            ("{user,order}.py are", "user.py;order.py"),
            ("crates/{core,cli}/", "crates/core/;crates/cli/"),
            ("{ \"a\": 1, \"b\": 2 }.x", ""),
            ("src/{a,{b,c}}.ts", ""),
            ("f(${a,b}.ts)", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(found(text).join(";"), expected, "{text}");
        }
    }

    #[test]
    fn a_line_list_is_updated_whole_or_not_at_all() {
        let later = |by: usize| {
            move |one: &Citation<'_>| one.lines.map(|lines| lines.starting_at(lines.first + by))
        };
        for (text, expected) in [
            ("o.ts:620,790,917", "o.ts:625,795,922"),
            ("`o.ts:10-20, 30-40`", "`o.ts:15-25, 35-45`"),
            ("`o.ts` (lines 88–98)", "`o.ts` (lines 93–103)"),
            ("o.ts:~130 and `:140`", "o.ts:~135 and `:145`"),
            ("o.ts:12: error", "o.ts:17: error"),
            ("o.ts:12:5", "o.ts:17:5"),
            ("o.ts:12—which", "o.ts:17—which"),
            ("o.ts line 20 and line 90", "o.ts line 25 and line 95"),
            ("o.ts:20 (and :90, :217)", "o.ts:25 (and :95, :222)"),
            ("o.ts:20…30", "o.ts:25…35"),
            ("`o.ts:20`–`30`", "`o.ts:25`–`35`"),
            ("o.ts:20;90", "o.ts:25;95"),
            ("o.ts:20 takes 300 ms", "o.ts:25 takes 300 ms"),
            ("o.ts:20. 90 users saw it", "o.ts:25. 90 users saw it"),
            ("`o.ts:10`, 20 users saw it", "`o.ts:15`, 20 users saw it"),
            ("| a | b |\n|---|---|\n|o.ts:20|90|", "| a | b |\n|---|---|\n|o.ts:25|90|"),
            ("- o.ts:20\n- 90 is odd", "- o.ts:25\n- 90 is odd"),
        ] {
            assert_eq!(with_lines(text, later(5)), expected);
        }
        for unclear in [
            "o.ts:10, 20 users saw it",
            "o.ts:10 - 20",
            "o.ts:10 to 20",
            "o.ts:10-ish",
            "o.ts:10ff",
            "o.ts:10+",
            "o.ts:10..20",
            "o.ts:10→20",
            "o.ts:10,x",
            "`o.ts:10`, `20`",
            "{o,p}.ts:10",
            "o.ts:20|90",
            "o.ts:20 → 30",
            "o.ts:20 thru 30",
            "o.ts:20 bis 30",
            "o.ts:20 up to line 30",
            "o.ts:20 down to 30",
            "o.ts:20, also 90",
            "o.ts:20 as well as 90",
            "o.ts:20 [90, 217]",
            "`o.ts:20` reads the rows, and `:90` writes them",
            "o.ts:20, 20-30 ms",
            "o.ts:20 and line 90 in total",
        ] {
            assert_eq!(with_lines(unclear, later(5)), unclear);
        }
        // The place of one entry is unknown.
        let only_first = |one: &Citation<'_>| later(5)(one).filter(|lines| lines.first == 625);
        assert_eq!(with_lines("o.ts:620,790,917", only_first), "o.ts:620,790,917");
        assert_eq!(with_lines("o.ts:620 o.ts:790", only_first), "o.ts:625 o.ts:790");
    }

    /// Text between two lines of a list: marks and up to four words.
    fn connector() -> impl Strategy<Value = String> {
        let pieces = select(vec![
            " ", " ", "`", ",", ", ", ";", ":", "…", "–", "—", "-", "->", "→", "|", "/", "&", "+",
            "(", ")", "[", "]", "~", "*", "\"", "'", "<", ">", "\\", " and ", " or ", " to ",
            " bis ", " also ", " line ", " lines ", " et ", " plus ", "\nand ", " resp. ",
        ]);
        prop::collection::vec(pieces, 1..5).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn all_numbers_of_a_list_are_updated_or_none(
            connector in connector(),
            around in select(vec![("See src/o.ts:", "."), ("`src/o.ts:", "` is"), ("`src/o.ts` line ", "")]),
        ) {
            // `20:90` is a line and a column.
            prop_assume!(connector != ":");
            let (before, after) = around;
            let list = |first: usize, second: usize| {
                format!("{before}{first}{connector}{second}{after}\n")
            };
            let text = list(20, 90);
            let later = |one: &Citation<'_>| one.lines.map(|lines| lines.starting_at(lines.first + 7));
            let updated = with_lines(&text, later);
            prop_assert!(updated == text || updated == list(27, 97), "{updated}");
        }
    }
}
