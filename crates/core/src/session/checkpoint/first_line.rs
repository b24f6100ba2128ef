//! Shortens texts to one line.

use crate::text::hidden;

/// The maximum length of a line, in characters.
const LINE_LENGTH_MAX: usize = 200;

/// The first non-empty line of a text, truncated if it is too long.
pub(super) fn line_of(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(LINE_LENGTH_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.len() < text.len() => format!("{line} …"),
        None => line.to_owned(),
    }
}

/// A request in one line, as the reports after it quote it.
pub(crate) fn request_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line_of(&words)
}

/// The title of a session with this goal: the first line that says something, without Markdown
/// markers. All pages and lists use it.
pub(crate) fn title_of(goal: &str) -> Option<String> {
    let text = hidden::visible_text(goal);
    let lines = text.lines().map(|line| line.trim_start_matches(['#', '*', '-', '>', ' ']).trim());
    // A line such as "Do this:" only leads in.
    let mut lines = lines.filter(|line| !line.is_empty() && !line.ends_with(':'));
    lines.next().map(str::to_owned)
}

/// A title as lists store it.
pub(crate) fn short_title(title: String) -> String {
    const LENGTH_MAX: usize = 100;
    match title.char_indices().nth(LENGTH_MAX) {
        Some((end, _)) => format!("{}…", &title[..end]),
        None => title,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_skips_lead_ins_and_markers() {
        let plan = "Implement the following plan:\n\n# Drain the queue\n\n## Context\n";
        assert_eq!(title_of(plan).as_deref(), Some("Drain the queue"));
        assert_eq!(title_of("\n- fix it").as_deref(), Some("fix it"));
        assert_eq!(title_of("Do this:\n"), None);
        assert_eq!(short_title("a".repeat(101)), format!("{}…", "a".repeat(100)));
        assert_eq!(short_title("a".repeat(100)), "a".repeat(100));
    }
}
