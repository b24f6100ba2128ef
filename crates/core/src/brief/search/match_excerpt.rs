//! Why a document was found: the text that has the words, cut to a line, with the words marked.

use super::SearchText;
use super::matching::find_term;
use crate::text::span::{Span, line_end, line_start};
use crate::text::words::SearchTerm;

/// How much of a text is shown.
const EXCERPT_BYTES: usize = 120;
/// How much of it stands before the first word.
const BEFORE_BYTES: usize = 40;

/// A text that has what was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchExcerpt {
    /// The field of the header, or `body`.
    pub field: String,
    /// A line of its text.
    pub excerpt: String,
    /// The words in that line.
    pub marks: Vec<Span>,
    /// Whether the text goes on before and behind the line.
    pub truncated: (bool, bool),
}

/// For each term the weightiest text that has it, each text once.
pub fn match_excerpts(terms: &[&SearchTerm], parts: &[SearchText]) -> Vec<MatchExcerpt> {
    let mut left: Vec<&SearchTerm> = terms.to_vec();
    let mut found = Vec::new();
    for part in parts {
        let here = |term: &&&SearchTerm| !find_term(term, part.words()).is_empty();
        let first = left
            .iter()
            .filter(here)
            .map(|term| find_term(term, part.words())[0])
            .min_by_key(|span| span.start);
        let Some(first) = first else { continue };
        left.retain(|term| !here(&term));
        found.push(excerpt(part, first, terms));
    }
    found
}

fn excerpt(part: &SearchText, first: Span, terms: &[&SearchTerm]) -> MatchExcerpt {
    let text = part.text.as_str();
    let line = Span::new(line_start(text, first.start), line_end(text, first.end));
    let before = text.ceil_char_boundary(first.start.saturating_sub(BEFORE_BYTES)).max(line.start);
    // A word is shown whole or not at all.
    let word = text[before..first.start].find(char::is_whitespace).unwrap_or(0);
    let start = if before == line.start { before } else { before + word };
    let after = text.floor_char_boundary((start + EXCERPT_BYTES).max(first.end)).min(line.end);
    let word = text[first.end..after].rfind(char::is_whitespace);
    let end = if after == line.end { after } else { first.end + word.unwrap_or(after - first.end) };
    let shown = &text[start..end];
    let start = start + (shown.len() - shown.trim_start().len());
    let shown = shown.trim();
    let end = start + shown.len();
    let whole = Span::new(start, end);
    let all = terms.iter().flat_map(|term| find_term(term, part.words()));
    let mut marks: Vec<Span> = all.filter(|span| whole.contains(*span)).collect();
    marks.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    marks.dedup_by(|next, kept| next.start < kept.end);
    MatchExcerpt {
        field: part.field.clone(),
        // Each byte keeps its place.
        excerpt: shown.replace(['\n', '\r', '\t'], " "),
        marks: marks.into_iter().map(|at| Span::new(at.start - start, at.end - start)).collect(),
        truncated: (!text[..start].trim().is_empty(), !text[end..].trim().is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brief::search::{Query, Zone};

    fn shown(typed: &str, texts: &[&str]) -> Vec<String> {
        let query = Query::parse(typed).unwrap();
        let parts: Vec<SearchText> =
            texts.iter().map(|text| SearchText::new("body", Zone::Body, text)).collect();
        let mark = |why: MatchExcerpt| {
            let mut text = why.excerpt.clone();
            for mark in why.marks.iter().rev() {
                text.insert(mark.end, ']');
                text.insert(mark.start, '[');
            }
            text
        };
        match_excerpts(&query.terms().iter().collect::<Vec<_>>(), &parts)
            .into_iter()
            .map(mark)
            .collect()
    }

    #[test]
    fn the_line_that_has_the_words_is_shown_with_the_words_marked() {
        assert_eq!(
            shown("größe", &["Zuerst\nDie Größe, die GROSSE größe\nDanach"]),
            ["Die [Größe], die GROSSE [größe]"]
        );
        assert_eq!(shown("a \"b c\"", &["x a", "b c", "a b c"]), ["x [a]", "[b c]"]);
        let long = format!("{}needle {}", "before ".repeat(50), "after ".repeat(50));
        let line = &shown("needle", &[&long])[0];
        assert!(line.contains("before [needle] after") && line.len() < 130, "{line}");
        assert!(line.starts_with("before") && line.ends_with("after"), "{line}");
        let wide = "é".repeat(200);
        assert_eq!(shown(&wide, &[&wide]), [format!("[{wide}]")]);
    }
}
