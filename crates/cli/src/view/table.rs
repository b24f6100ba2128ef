//! Columns that line up, in any script.

use super::one_line;
use unicode_width::UnicodeWidthStr as _;

/// Between two columns.
const GAP: usize = 2;

/// The last column keeps at least this, however narrow the terminal is.
const LAST_WIDTH_MIN: usize = 20;

/// Rows below a head; the last column gets what is left of the width.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>], width: usize) -> String {
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let widths: Vec<usize> = (0..head.len())
        .map(|column| {
            cells(column).map(|cell| cell.width()).chain([head[column].width()]).max().unwrap_or(0)
        })
        .collect();
    let used: usize = widths.iter().rev().skip(1).map(|column| column + GAP).sum();
    let left = width.saturating_sub(used).max(LAST_WIDTH_MIN);
    let dim = anstyle::Style::new().dimmed();
    let head: Vec<String> = head.iter().map(|name| (*name).to_owned()).collect();
    let mut out = format!("{dim}{}{dim:#}\n", line(&head, &widths));
    for row in rows {
        let mut row = row.clone();
        if let Some(last) = row.last_mut() {
            *last = one_line(last, left);
        }
        out.push_str(&line(&row, &widths));
        out.push('\n');
    }
    out
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut out = String::new();
    for (cell, width) in row.iter().zip(widths) {
        out.push_str(cell);
        out.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width()) + GAP));
    }
    out.trim_end().to_owned()
}
