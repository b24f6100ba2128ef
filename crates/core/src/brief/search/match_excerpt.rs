//! Excerpts that show why a document matched, cut to one line with the matching words marked.

use super::SearchText;
use super::matching::find_term;
use crate::text::span::{Span, line_end, line_start};
use crate::text::words::SearchTerm;

/// Maximum length of an excerpt.
const EXCERPT_BYTES: usize = 120;
/// Maximum length before the first match.
const BEFORE_BYTES: usize = 40;

/// An excerpt of a text that matches a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchExcerpt {
    /// The header field, or `body`.
    pub field: String,
    /// The excerpt, on one line.
    pub excerpt: String,
    /// The matching words in the excerpt.
    pub marks: Vec<Span>,
    /// Whether the text continues before and after the excerpt.
    pub truncated: (bool, bool),
}

/// For each term, an excerpt of the highest-weighted text that contains it. Each text appears once.
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
    // Cut only between words.
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
        // Each replacement keeps the byte length, so that the marks stay valid.
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
    fn an_excerpt_shows_the_matching_line_with_marks() {
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
