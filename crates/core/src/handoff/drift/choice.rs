//! Chooses one of several files that have a cited name.

use super::statement::StatementWords;
use crate::handoff::citation::LineRange;
use crate::handoff::code_text::CodeText;
use std::sync::Arc;

/// The number of the only file that has the cited lines, or of the only one that has an identifier
/// of the statement there. `None` if several fit.
pub fn choose_file(
    texts: &[Option<Arc<CodeText>>],
    lines: Option<LineRange>,
    statement: &StatementWords<'_>,
) -> Option<usize> {
    let has_lines = |text: &CodeText| lines.is_none_or(|lines| text.line_count() >= lines.last);
    let fitting: Vec<(usize, &CodeText)> = texts
        .iter()
        .enumerate()
        .filter_map(|(number, text)| Some((number, &**text.as_ref()?)))
        .filter(|(_, text)| has_lines(text))
        .collect();
    // A file that cannot be read may be the cited one.
    if let ([(only, _)], true) = (&fitting[..], texts.iter().all(Option::is_some)) {
        return Some(*only);
    }
    let is_named =
        |text: &CodeText| statement.names_any_in(lines.map_or(&**text, |lines| text.slice(lines)));
    let mut named = fitting.iter().filter(|(_, text)| is_named(text));
    named.next().filter(|_| named.next().is_none()).map(|(number, _)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_file_that_fits_is_chosen() {
        let code = |text: &str| Some(Arc::new(CodeText::new(text)));
        let texts = [code("fn load_rows() {}\n"), code("fn open() {}\nfn shut() {}\n")];
        let lines = |first, last| Some(LineRange { first, last });
        let choose_file = |texts: &[Option<Arc<CodeText>>], lines, statement| {
            super::choose_file(texts, lines, &StatementWords::new(statement))
        };
        assert_eq!(choose_file(&texts, lines(2, 2), "It is slow."), Some(1));
        assert_eq!(choose_file(&texts, lines(1, 1), "It is slow."), None);
        assert_eq!(choose_file(&texts, lines(1, 1), "`load_rows` is slow."), Some(0));
        assert_eq!(choose_file(&texts, None, "`shut()` is slow."), Some(1));
        assert_eq!(choose_file(&texts, None, "`load_rows` calls `open`."), None);
        assert_eq!(choose_file(&[code("a\nb\n"), None], lines(2, 2), "It is."), None);
        assert_eq!(choose_file(&texts, lines(9, 9), "It is slow."), None);
    }
}
