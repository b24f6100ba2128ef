//! Texts in one line.

/// A line has no more characters than this, unless it is the path of a file.
const LINE_LENGTH_MAX: usize = 200;

/// The first line of a text that says something, if it is not too long.
pub(super) fn line_of(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(LINE_LENGTH_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.len() < text.len() => format!("{line} …"),
        None => line.to_owned(),
    }
}

/// A request as the reports after it name it.
pub(crate) fn request_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line_of(&words)
}
