//! Renders tables whose columns line up in any script.

use super::one_line;
use midstride_core::text::id::TITLE_ID_LENGTH_MAX;
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
    let widths = column_widths(columns, rows);
    let shown = fitting_columns(columns, &widths, width, LAST_WIDTH_MIN);
    render(columns, rows, &widths, &shown, width)
}

/// Renders a table whose first column has ids of handoffs. Ids never get more width than the last
/// column: a longer one is cut, and its start still names the handoff.
pub(crate) fn id_table(columns: &[Column], rows: &[Vec<String>], width: usize) -> TextTable {
    let mut widths = column_widths(columns, rows);
    let id_width = widths[0];
    // An old, long id does not push out more columns than a new one.
    widths[0] = id_width.min(TITLE_ID_LENGTH_MAX);
    let shown = fitting_columns(columns, &widths, width, widths[0].max(LAST_WIDTH_MIN));
    let others = used_width(&shown, &widths) - widths[0];
    widths[0] = id_width.min(first_width_max(width.saturating_sub(others)));
    let mut rows = rows.to_vec();
    for id in rows.iter_mut().filter_map(|row| row.first_mut()) {
        *id = one_line(id, widths[0]);
    }
    render(columns, &rows, &widths, &shown, width)
}

fn column_widths(columns: &[Column], rows: &[Vec<String>]) -> Vec<usize> {
    let width = |(index, column): (usize, &Column)| {
        let cells = rows.iter().filter_map(|row| row.get(index));
        cells.map(|cell| cell.width()).chain([column.name.width()]).max().unwrap_or(0)
    };
    columns.iter().enumerate().map(width).collect()
}

fn render(
    columns: &[Column],
    rows: &[Vec<String>],
    widths: &[usize],
    shown: &[usize],
    width: usize,
) -> TextTable {
    let pick = |row: &[String]| shown.iter().map(|at| row[*at].clone()).collect::<Vec<String>>();
    let head: Vec<String> = columns.iter().map(|column| column.name.to_owned()).collect();
    let left = width.saturating_sub(used_width(shown, widths)).max(LAST_WIDTH_MIN);
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

/// The maximum width of the first column, of the width that it shares with the last one.
pub(super) fn first_width_max(shared: usize) -> usize {
    (shared / 2).max(LAST_WIDTH_MIN)
}

/// The columns that leave enough width for the last one.
fn fitting_columns(
    columns: &[Column],
    widths: &[usize],
    width: usize,
    last_min: usize,
) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    while used_width(&shown, widths) + last_min > width {
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
    #[test]
    fn an_id_never_gets_more_width_than_the_title() {
        let columns = [
            Column { name: "ID", drop_order: None },
            Column { name: "AGE", drop_order: Some(0) },
            Column { name: "TITLE", drop_order: None },
        ];
        let row = |id: &str| vec![id.to_owned(), "12 d".to_owned(), "t".repeat(200)];
        for length in [5, 24, 25, 49, 100] {
            for width in 1..200 {
                let table = id_table(&columns, &[row(&"i".repeat(length))], width);
                let line = table.text.lines().last().unwrap();
                let [id, title] = ['i', 't'].map(|letter| line.matches(letter).count());
                assert!(id <= title + 1, "{length} in {width}: {line}");
                assert!(id == length || line.contains("i…"), "{length} in {width}: {line}");
                assert!(width < 43 || line.width() <= width, "{length} in {width}: {line}");
                assert!(id == length || length > 24 || width < 50, "{length} in {width}: {line}");
            }
        }
    }
}
