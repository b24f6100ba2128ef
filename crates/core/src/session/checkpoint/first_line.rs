//! Shortens texts to one line.

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
