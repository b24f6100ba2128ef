//! Renders tables whose columns line up in any script.

use super::one_line;
use unicode_width::UnicodeWidthStr as _;

/// The space between two columns.
pub(super) const COLUMN_GAP: usize = 2;

/// The minimum width of the last column, however narrow the terminal is.
const LAST_WIDTH_MIN: usize = 20;

/// The width of a line without a terminal.
const FILE_WIDTH: usize = 150;

/// The maximum width of a line, given the width of the terminal, if there is one.
pub(crate) fn line_width(terminal: Option<usize>) -> usize {
    terminal.unwrap_or(FILE_WIDTH)
}

/// A column of a table.
pub(crate) struct Column {
    /// The heading of the column.
    pub(crate) name: &'static str,
    /// A narrow terminal drops the column with the lowest number first; `None` is never dropped.
    pub(crate) drop_order: Option<u8>,
}

/// A table, and the columns that did not fit.
pub struct TextTable {
    /// The heading and the rows.
    pub text: String,
    /// The headings of the columns that did not fit.
    pub omitted_columns: Vec<&'static str>,
}

/// Renders a table. The last column gets the remaining width.
pub(crate) fn table(columns: &[Column], rows: &[Vec<String>], width: usize) -> TextTable {
    let widths: Vec<usize> = (0..columns.len())
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            let head = columns[column].name.width();
            cells.map(|cell| cell.width()).chain([head]).max().unwrap_or(0)
        })
        .collect();
    let shown = fitting_columns(columns, &widths, width);
    let pick = |row: &[String]| shown.iter().map(|at| row[*at].clone()).collect::<Vec<String>>();
    let head: Vec<String> = columns.iter().map(|column| column.name.to_owned()).collect();
    let left = width.saturating_sub(used_width(&shown, &widths)).max(LAST_WIDTH_MIN);
    let widths: Vec<usize> = shown.iter().map(|at| widths[*at]).collect();
    let dim = anstyle::Style::new().dimmed();
    let mut text = format!("{dim}{}{dim:#}\n", row_line(&pick(&head), &widths));
    for row in rows {
        let mut row = pick(row);
        if let Some(last) = row.last_mut() {
            *last = one_line(last, left);
        }
        text.push_str(&row_line(&row, &widths));
        text.push('\n');
    }
    let is_out = |at: &usize| !shown.contains(at);
    let left_out = (0..columns.len()).filter(is_out).map(|at| columns[at].name).collect();
    TextTable { text, omitted_columns: left_out }
}

/// The columns that leave enough width for the last one.
fn fitting_columns(columns: &[Column], widths: &[usize], width: usize) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    while used_width(&shown, widths) + LAST_WIDTH_MIN > width {
        let spare = shown.iter().filter_map(|at| Some((columns[*at].drop_order?, *at))).min();
        let Some((_, spare)) = spare else { break };
        shown.retain(|at| *at != spare);
    }
    shown
}

/// The width of all columns before the last one.
fn used_width(shown: &[usize], widths: &[usize]) -> usize {
    shown.iter().rev().skip(1).map(|at| widths[*at] + COLUMN_GAP).sum()
}

fn row_line(row: &[String], widths: &[usize]) -> String {
    let mut out = String::new();
    for (cell, width) in row.iter().zip(widths) {
        out.push_str(cell);
        out.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width()) + COLUMN_GAP));
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_dropped_in_order_and_named() {
        let column = |name, spared| Column { name, drop_order: spared };
        let columns =
            [column("ID", None), column("A", Some(1)), column("B", Some(0)), column("T", None)];
        let row: Vec<String> = ["x", "1", "2", "a title"].map(str::to_owned).into();
        let shown = |width| {
            let table = table(&columns, std::slice::from_ref(&row), width);
            (table.text.lines().last().unwrap_or_default().to_owned(), table.omitted_columns)
        };
        assert_eq!(shown(30), ("x   1  2  a title".to_owned(), vec![]));
        assert_eq!(shown(29), ("x   1  a title".to_owned(), vec!["B"]));
        assert_eq!(shown(26), ("x   a title".to_owned(), vec!["A", "B"]));
        assert_eq!(shown(1), ("x   a title".to_owned(), vec!["A", "B"]));
    }
}
