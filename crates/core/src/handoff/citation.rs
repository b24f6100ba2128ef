//! Finds citations: repository paths and lines that a document names.
//!
//! A citation is recognized by its form alone, in the header's statements and in the body's prose.
//! This module does not check whether the path exists or ever existed.

use crate::format::document::Document;
use crate::format::generated_section::{self, GeneratedSection};
use crate::text::markdown::MarkdownBlockKind;
use crate::text::span::{Span, Spanned};
use crate::text::yaml::{YamlNode, YamlValue};

/// A path in the repository that a document names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation<'d> {
    /// The citation as written, including its lines.
    pub written: Spanned<&'d str>,
    /// The path as written.
    pub path: &'d str,
    /// The cited lines, if any.
    pub lines: Option<LineRange>,
    /// The text that cites it: a paragraph, a list item, a table row or an entry of the header.
    pub statement: Span,
}

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

impl Citation<'_> {
    /// The citation with other lines, in the same notation.
    fn with_lines(&self, lines: LineRange) -> String {
        let suffix = &self.written.value[self.path.len()..];
        let LineRange { first, last } = lines;
        let sign = if suffix.starts_with('#') { '#' } else { ':' };
        match (suffix[1..].starts_with('L'), last > first) {
            (true, true) => format!("{}{sign}L{first}-L{last}", self.path),
            (true, false) => format!("{}{sign}L{first}", self.path),
            (false, _) => format!("{}{sign}{lines}", self.path),
        }
    }

    /// Whether it is only a file name, without a folder or lines. `Next.js` looks like one too.
    pub fn is_bare_name(&self) -> bool {
        self.lines.is_none() && !self.path.contains('/')
    }

    /// Whether it cites a folder.
    pub fn is_folder(&self) -> bool {
        self.path.ends_with('/')
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

/// Rewrites the line numbers of the citations at the given spans; `None` if that would change
/// anything else.
pub fn update_lines(document: &Document, moved: &[(Span, LineRange)]) -> Option<Document> {
    let before = citations(document);
    let mut text = String::with_capacity(document.text().len());
    let mut from = 0;
    for citation in &before {
        let to = moved.iter().find(|(at, _)| *at == citation.written.at);
        if let Some((at, lines)) = to {
            text.push_str(Span::new(from, at.start).slice(document.text()));
            text.push_str(&citation.with_lines(*lines));
            from = at.end;
        }
    }
    text.push_str(&document.text()[from..]);
    let after = Document::parse(text.as_bytes());
    let same_paths = {
        let after = citations(&after);
        after.len() == before.len()
            && before.iter().zip(&after).all(|(before, after)| before.path == after.path)
    };
    let sound = after.findings().len() <= document.findings().len();
    (same_paths && sound && document.is_exact()).then_some(after)
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
        YamlValue::Text(_) => collect_from_prose(text, node.at, &[], |_| statement, found),
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
        collect_from_prose(text, heading, &code, |_| heading, found);
    }
    for block in document.blocks().iter().filter(|block| is_live(block.at)) {
        match block.kind {
            MarkdownBlockKind::Paragraph | MarkdownBlockKind::Item | MarkdownBlockKind::Table => {
                let statement = |at: Span| statement_around(text, block.at, block.kind, at);
                collect_from_prose(text, block.at, &code, statement, found);
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

/// The part of a block that a citation belongs to: its table row, its list item with the lines that
/// follow it, or else the whole block.
fn statement_around(text: &str, block: Span, kind: MarkdownBlockKind, at: Span) -> Span {
    let begins = |line: &str| match kind {
        MarkdownBlockKind::Table => true,
        MarkdownBlockKind::Paragraph
        | MarkdownBlockKind::Item
        | MarkdownBlockKind::Code
        | MarkdownBlockKind::Html => is_item(line),
    };
    let (mut from, mut next) = (block.start, block.start);
    for line in block.slice(text).split_inclusive('\n') {
        if begins(line) {
            if next > at.start {
                return Span::new(from, next);
            }
            from = next;
        }
        next += line.len();
    }
    Span::new(from, block.end)
}

/// Whether a line begins a list item.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let after_marker = line
        .strip_prefix(['-', '*', '+'])
        .or_else(|| line.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(['.', ')']));
    after_marker.is_some_and(|rest| rest.starts_with([' ', '\t']))
}

/// Collects the citations in a piece of prose.
fn collect_from_prose<'d>(
    text: &'d str,
    at: Span,
    code: &[Span],
    statement: impl Fn(Span) -> Span,
    found: &mut Vec<Citation<'d>>,
) {
    let mut start = at.start;
    for word in at.slice(text).split(|c: char| !is_path_char(c)) {
        let here = Span::new(start, start + word.len());
        start = here.end + text[here.end..].chars().next().map_or(0, char::len_utf8);
        if !word.contains(['.', '/', ':']) || code.iter().any(|code| code.contains(here)) {
            continue;
        }
        let Some((written, path, lines)) = parse_place(word) else { continue };
        let from = here.start + (written.as_ptr() as usize - word.as_ptr() as usize);
        let written = Spanned::new(written, Span::new(from, from + written.len()));
        found.push(Citation { written, path, lines, statement: statement(written.at) });
    }
}

/// Characters that occur in a path, or that show that a word is not one.
fn is_path_char(c: char) -> bool {
    c.is_alphanumeric() || "_-./@+~#:[]*?<>{}$%\\…–".contains(c)
}

/// Parses a word as a citation: the text as written, its path and its lines.
fn parse_place(word: &str) -> Option<(&str, &str, Option<LineRange>)> {
    let word = trim_word(word);
    if word.contains("://") {
        return None;
    }
    let path_end = word.find([':', '#']).unwrap_or(word.len());
    let (path, rest) = word.split_at(path_end);
    let (lines, length) =
        parse_lines(rest).map_or((None, 0), |(lines, length)| (Some(lines), length));
    let written = &word[..path_end + length];
    is_path(path, lines.is_some()).then_some((written, path, lines))
}

/// A word without emphasis, brackets and sentence punctuation around it.
fn trim_word(word: &str) -> &str {
    let mut word = word.trim_matches(['*', '<', '>', '–', '…', '?']);
    if let Some(inner) = word.strip_prefix('[') {
        word = inner.strip_suffix(']').unwrap_or(inner);
    }
    if word.matches(']').count() > word.matches('[').count() {
        word = word.trim_end_matches(']');
    }
    let word = word.trim_end_matches(['.', ':', '#', '?', '*', '-', '+']);
    word.strip_prefix("./").unwrap_or(word)
}

/// Parses `:12`, `:12-14`, `:12:5`, `#L12` or `#L12-L14` into lines and the length of the match.
fn parse_lines(rest: &str) -> Option<(LineRange, usize)> {
    let digits = rest.strip_prefix("#L").or_else(|| {
        let rest = rest.strip_prefix(':')?;
        Some(rest.strip_prefix('L').unwrap_or(rest))
    })?;
    let (first, rest_after) = parse_number(digits)?;
    let last = rest_after
        .strip_prefix(['-', '–'])
        .and_then(|rest_after| parse_number(rest_after.strip_prefix('L').unwrap_or(rest_after)));
    let (last, rest_after) = last.unwrap_or((first, rest_after));
    // Column ranges (`L1C2`) and backward ranges cannot be rewritten safely.
    let is_whole = first > 0 && last >= first && !rest_after.starts_with('C');
    is_whole.then_some((LineRange { first, last }, rest.len() - rest_after.len()))
}

/// Larger numbers are not line numbers.
const LINES_MAX: usize = 9_999_999;

fn parse_number(text: &str) -> Option<(usize, &str)> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = text.split_at(digits);
    let number = number.parse().ok().filter(|number| *number <= LINES_MAX)?;
    Some((number, rest))
}

/// File names without an extension. They count as paths only inside a folder.
const EXTENSIONLESS_FILES: [&str; 6] =
    ["Makefile", "Dockerfile", "Justfile", "justfile", "Rakefile", "LICENSE"];

/// Whether a word has the form of a path.
fn is_path(path: &str, at_lines: bool) -> bool {
    let not_in_paths = |c: char| "*?<>{}$%\\…–:#".contains(c);
    let trimmed = path.trim_end_matches('/');
    if path.contains(not_in_paths) || path.contains("...") || path.contains("//") {
        return false;
    }
    if path.starts_with('~') || !path.contains(char::is_alphabetic) {
        return false;
    }
    let (folder, name) = trimmed.rsplit_once('/').unwrap_or(("", trimmed));
    if path.ends_with('/') {
        // `/api/users/` is a URL path.
        return !at_lines && !path.starts_with('/') && !name.contains('@');
    }
    if folder.is_empty() && (path.starts_with('/') || name.contains('@')) {
        return false;
    }
    let Some((stem, ending)) = name.rsplit_once('.') else {
        return (at_lines || EXTENSIONLESS_FILES.contains(&name)) && !folder.is_empty();
    };
    let is_hidden = stem.is_empty();
    let plausible = ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.len() <= 12
        && ending.chars().all(|c| c.is_ascii_alphanumeric() || (is_hidden && "-_".contains(c)));
    let is_product_name = ending == "js" && stem.starts_with(char::is_uppercase);
    plausible
        && (!folder.is_empty()
            || at_lines
            || is_hidden
            || (is_known_extension(ending) && !is_product_name))
}

/// Extensions that make a bare name a file. Inside a folder, any plausible extension does.
const EXTENSIONS: &[&str] = &[
    "rs", "py", "ts", "tsx", "js", "jsx", "mjs", "go", "java", "kt", "c", "h", "cc", "cpp", "hpp",
    "cs", "rb", "php", "swift", "scala", "sql", "sh", "toml", "yaml", "yml", "json", "md", "html",
    "css", "scss", "vue", "svelte", "ex", "exs", "erl", "lua", "zig", "proto", "tf", "xml", "lock",
    "ini", "cfg", "conf", "env", "txt", "rst", "ipynb", "r", "jl", "dart", "m", "mm", "pl",
];

/// Whether this extension makes a bare name a file.
pub(crate) fn is_known_extension(ending: &str) -> bool {
    EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let document = Document::parse(text.as_bytes());
        let found = citations(&document);
        let shown = |citation: &Citation<'_>| {
            assert_eq!(citation.written.at.slice(text), citation.written.value);
            assert!(citation.statement.contains(citation.written.at), "{citation:?}");
            match citation.lines {
                Some(lines) => format!("{} @{lines}", citation.path),
                None => citation.path.to_owned(),
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
            "src/{a,b}.rs",
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
    fn code_blocks_and_comments_contain_no_citations() {
        let text = "- one\n\n  ```sh\n  cat src/a.rs\n  ```\n\n```\nsrc/b.rs:1\n```\n\n<!-- src/c.rs -->\n";
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
        let moved: Vec<(Span, LineRange)> = citations(&document)
            .iter()
            .filter(|citation| citation.path == "a.rs")
            .map(|citation| (citation.written.at, to))
            .collect();
        let after = update_lines(&document, &moved).unwrap();
        let expected = text.replace("a.rs:3", "a.rs:12").replace("#L3", "#L12");
        assert_eq!(after.text(), expected);
        assert_eq!(update_lines(&document, &[]).unwrap().text(), text);
    }

    #[test]
    fn updated_lines_keep_the_original_notation() {
        let text = "a.rs:1 and [x](b.rs#L2-L3) and c.rs#L4 and d.rs:L5";
        let document = Document::parse(text.as_bytes());
        let to = LineRange { first: 8, last: 9 };
        let written: Vec<String> = citations(&document).iter().map(|c| c.with_lines(to)).collect();
        assert_eq!(written, ["a.rs:8-9", "b.rs#L8-L9", "c.rs#L8-L9", "d.rs:L8-L9"]);
        let one = LineRange { first: 8, last: 8 };
        assert_eq!(citations(&document)[2].with_lines(one), "c.rs#L8");
    }
}
