//! How things look: the text and the JSON shape of each thing that is shown.

pub(crate) mod findings;
pub(crate) mod handoff;
pub(crate) mod inbox;
pub(crate) mod list;
pub(crate) mod pull_request;
pub(crate) mod reference;
pub(crate) mod table;

use midstride::project::Project;
use std::path::Path;

/// A path as a person would write it from the root of the project.
pub(crate) fn shown_path(project: &Project, path: &Path) -> String {
    let short = path.strip_prefix(project.root().path()).unwrap_or(path);
    short.display().to_string()
}

/// `1 document`, `2 documents`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

/// The first line of a text, cut to a width with an ellipsis.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    use unicode_width::UnicodeWidthChar as _;
    let line = text.trim().lines().next().unwrap_or_default();
    let mut used = 0;
    let mut out = String::new();
    for c in line.chars() {
        used += c.width().unwrap_or(0);
        if used > width.saturating_sub(1) && out.len() + c.len_utf8() < line.len() {
            out.push('…');
            return out;
        }
        out.push(c);
    }
    out
}

/// Text below a heading, indented by two.
pub(crate) fn indented(text: &str) -> String {
    text.lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") })
        .collect()
}

/// A heading for people.
pub(crate) fn heading(text: &str) -> String {
    let bold = anstyle::Style::new().bold();
    format!("{bold}{text}{bold:#}\n")
}
