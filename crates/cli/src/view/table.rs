//! Columns that line up, in any script.

use unicode_width::UnicodeWidthStr as _;

/// Rows below a head; the last column is as wide as it likes.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let widths: Vec<usize> = (0..head.len())
        .map(|column| {
            cells(column).map(|cell| cell.width()).chain([head[column].width()]).max().unwrap_or(0)
        })
        .collect();
    let dim = anstyle::Style::new().dimmed();
    let head: Vec<String> = head.iter().map(|name| (*name).to_owned()).collect();
    let mut out = format!("{dim}{}{dim:#}\n", line(&head, &widths));
    for row in rows {
        out.push_str(&line(row, &widths));
        out.push('\n');
    }
    out
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut out = String::new();
    for (cell, width) in row.iter().zip(widths) {
        out.push_str(cell);
        out.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width()) + 2));
    }
    out.trim_end().to_owned()
}
