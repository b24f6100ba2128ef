//! Reads paths in code blocks: plain text, shell, Markdown, and drawings of folder trees.
//!
//! Only paths are read. Line numbers in output are history: `src/a.rs:10: error` stays true.

use super::path::is_path;
use crate::text::span::Span;

/// Languages of fenced blocks that contain prose, commands or output rather than code.
const PLAIN_LANGUAGES: [&str; 19] = [
    "",
    "text",
    "txt",
    "plain",
    "plaintext",
    "console",
    "sh",
    "bash",
    "shell",
    "zsh",
    "fish",
    "shellsession",
    "shell-session",
    "sh-session",
    "terminal",
    "md",
    "markdown",
    "tree",
    "none",
];

/// A code block that is read for paths.
pub(super) enum ReadableCode {
    /// The lines of a fenced block without its fences.
    Lines(Span),
    /// The paths in a drawing of a folder tree.
    Tree(Vec<TreePath>),
}

/// A path in a drawing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TreePath {
    /// The whole path.
    pub(super) path: String,
    /// The length of the topmost folder in the path. It may be the name of the project.
    pub(super) root_length: usize,
    /// The span of the name in its line.
    pub(super) at: Span,
    /// The line.
    pub(super) line: Span,
}

/// What can be read in the code at `at`.
pub(super) fn readable_code(text: &str, at: Span) -> Option<ReadableCode> {
    let block = at.slice(text);
    let opening = block.lines().next().unwrap_or_default().trim_start();
    let language = opening.strip_prefix("```").or_else(|| opening.strip_prefix("~~~"));
    let inner = match language {
        Some(_) => inner_lines(text, at),
        None => at,
    };
    if is_drawing(inner.slice(text)) {
        return Some(ReadableCode::Tree(read_tree(text, inner)));
    }
    let language = language?.trim_matches(['`', '~', ' ']);
    let language = language.split([' ', '{', ',', ':']).next().unwrap_or_default();
    let is_plain = PLAIN_LANGUAGES.contains(&language.to_lowercase().as_str());
    is_plain.then_some(ReadableCode::Lines(inner))
}

/// The lines between the fences.
fn inner_lines(text: &str, at: Span) -> Span {
    let block = at.slice(text);
    let start = block.find('\n').map_or(block.len(), |end| end + 1);
    let trimmed = block.trim_end();
    let last = trimmed.rfind('\n').map_or(0, |end| end + 1);
    let closing = trimmed[last..].trim_start();
    let is_closed = last >= start && (closing.starts_with("```") || closing.starts_with("~~~"));
    let end = if is_closed { last } else { block.len() };
    Span::new(at.start + start.min(end), at.start + end)
}

const BRANCHES: [&str; 6] = ["├─", "└─", "╰─", "|--", "`--", "+--"];

/// Whether a text draws a folder tree.
fn is_drawing(text: &str) -> bool {
    let is_branch = |line: &str| {
        let line = line.trim_start_matches([' ', '│', '|', '\u{a0}']);
        BRANCHES.iter().any(|branch| line.starts_with(branch))
    };
    text.lines().filter(|line| is_branch(line)).count() >= 2
}

/// Reads the paths of a drawing.
fn read_tree(text: &str, within: Span) -> Vec<TreePath> {
    let entries = tree_entries(text, within);
    let mut found = Vec::new();
    // The folders above the current entry, with their columns.
    let mut above: Vec<(usize, String)> = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        above.retain(|(column, _)| *column < entry.column);
        let next = entries.get(number + 1);
        let has_children = next.is_some_and(|next| next.column > entry.column);
        let folders: String = above.iter().map(|(_, name)| name.as_str()).collect();
        let name = entry.name.strip_prefix("./").unwrap_or(entry.name);
        let is_folder = has_children || name.ends_with('/');
        let name = match name {
            // The drawing starts at the current folder.
            "" | "." => String::new(),
            name if is_folder && !name.ends_with('/') => format!("{name}/"),
            name => name.to_owned(),
        };
        let path = format!("{folders}{name}");
        if is_folder {
            above.push((entry.column, name));
        }
        let root_length = above.first().map_or(0, |(_, root)| root.len());
        if entry.column > 0 && is_path(&path, false) {
            let root_length = if root_length < path.len() { root_length } else { 0 };
            found.push(TreePath { path, root_length, at: entry.at, line: entry.line });
        }
    }
    found
}

/// A line of a drawing.
struct TreeEntry<'t> {
    /// Where the name starts, in characters.
    column: usize,
    name: &'t str,
    at: Span,
    line: Span,
}

fn tree_entries(text: &str, within: Span) -> Vec<TreeEntry<'_>> {
    let mut start = within.start;
    let mut entries = Vec::new();
    for line in within.slice(text).split_inclusive('\n') {
        let span = Span::new(start, start + line.trim_end().len());
        start += line.len();
        let is_frame = |c: char| " \t\u{a0}│├└╰─|`+-".contains(c);
        let lead = line.len() - line.trim_start_matches(is_frame).len();
        let name = line[lead..].split([' ', '\t', '\n', '\r']).next().unwrap_or_default();
        if name.is_empty() || name.starts_with(['#', '(', '…']) {
            continue;
        }
        let column = line[..lead].chars().count();
        let at = Span::new(span.start + lead, span.start + lead + name.len());
        entries.push(TreeEntry { column, name, at, line: span });
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        let tree = read_tree(text, Span::new(0, text.len()));
        let is_at = |one: &TreePath| {
            one.path.trim_end_matches('/').ends_with(one.at.slice(text).trim_end_matches('/'))
        };
        assert!(tree.iter().all(is_at), "{tree:?}");
        tree.into_iter().map(|one| one.path).collect()
    }

    #[test]
    fn a_drawing_has_whole_paths() {
        let text = "crates/\n├── core/\n│   ├── lib.rs   # the rules\n│   └── text/\n│       └── span.rs\n├── cli\n│   └── main.rs\n└── Cargo.toml\n";
        let expected = [
            "crates/core/",
            "crates/core/lib.rs",
            "crates/core/text/",
            "crates/core/text/span.rs",
            "crates/cli/",
            "crates/cli/main.rs",
            "crates/Cargo.toml",
        ];
        assert_eq!(paths(text), expected);
    }

    #[test]
    fn a_drawing_may_start_at_the_current_folder() {
        let text = ".\n|-- src/\n|   `-- a.rs\n`-- b.toml\n";
        assert_eq!(paths(text), ["src/", "src/a.rs", "b.toml"]);
    }

    #[test]
    fn the_language_decides_whether_a_block_is_read() {
        let readable = |text: &str| match readable_code(text, Span::new(0, text.len())) {
            Some(ReadableCode::Lines(at)) => at.slice(text).to_owned(),
            Some(ReadableCode::Tree(tree)) => tree.into_iter().map(|one| one.path).collect(),
            None => "-".to_owned(),
        };
        assert_eq!(readable("```\nsrc/a.rs\n```\n"), "src/a.rs\n");
        assert_eq!(readable("~~~Bash title\ncat src/a.rs\n~~~"), "cat src/a.rs\n");
        assert_eq!(readable("```text\nnot closed"), "not closed");
        assert_eq!(readable("```rust\nmod a;\n```\n"), "-");
        assert_eq!(readable("    indented\n    code\n"), "-");
        assert_eq!(readable("```rust\nx/\n├── a.rs\n└── b.rs\n```\n"), "x/a.rsx/b.rs");
        assert_eq!(readable("```"), "");
    }
}
