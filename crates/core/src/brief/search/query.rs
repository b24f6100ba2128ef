//! Parses a search query into terms that a document must all contain.

use crate::text::words::SearchTerm;

/// Minimum length of a prefix. A shorter one matches too much.
pub const PREFIX_LENGTH_MIN: usize = 3;
/// Maximum number of terms. More than this is a text, not a query.
const TERMS_MAX: usize = 32;

/// A query: terms that a document must all contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    terms: Vec<SearchTerm>,
}

/// Why a query cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// It contains no letter or digit.
    #[error("no words to search for")]
    Empty,
    /// A prefix is too short.
    #[error("`{0}` is too short: a prefix needs at least {PREFIX_LENGTH_MIN} letters")]
    ShortPrefix(String),
    /// It has more than `TERMS_MAX` terms.
    #[error("too many words: {0}; the maximum is {TERMS_MAX}")]
    TooMany(usize),
}

impl Query {
    /// Parses `word`, `"a phrase"` and `prefix*`, in any order and number. An identifier or a path
    /// becomes a phrase of its words.
    pub fn parse(typed: &str) -> Result<Self, QueryError> {
        let mut terms: Vec<SearchTerm> = Vec::new();
        // The odd parts are inside quotes. An unclosed quote extends to the end.
        for (number, text) in typed.split('"').enumerate() {
            if number % 2 == 1 {
                terms.extend(SearchTerm::from_text(text));
                continue;
            }
            for chunk in text.split_whitespace() {
                terms.extend(parse_term(chunk)?);
            }
        }
        let mut seen = std::collections::HashSet::new();
        terms.retain(|term| seen.insert(term.clone()));
        match terms.len() {
            0 => Err(QueryError::Empty),
            many if many > TERMS_MAX => Err(QueryError::TooMany(many)),
            _ => Ok(Self { terms }),
        }
    }

    /// The terms; never empty.
    pub fn terms(&self) -> &[SearchTerm] {
        &self.terms
    }
}

fn parse_term(chunk: &str) -> Result<Option<SearchTerm>, QueryError> {
    let begin = chunk.strip_suffix('*');
    let Some(mut term) = SearchTerm::from_text(begin.unwrap_or(chunk)) else {
        return Ok(None);
    };
    // A `*` marks a prefix only directly after a letter or digit.
    let last_char = begin.and_then(|begin| begin.chars().next_back());
    term.prefix = last_char.is_some_and(char::is_alphanumeric);
    let last = term.words.last().map_or(0, |word| word.chars().count());
    if term.prefix && last < PREFIX_LENGTH_MIN {
        return Err(QueryError::ShortPrefix(chunk.to_owned()));
    }
    Ok(Some(term))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(typed: &str) -> String {
        let term = |term: &SearchTerm| {
            format!("{}{}", term.words.join("+"), if term.prefix { "*" } else { "" })
        };
        match Query::parse(typed) {
            Ok(query) => query.terms().iter().map(term).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn words_phrases_and_prefixes_are_parsed() {
        assert_eq!(shown("Cache  purge cache"), "cache purge");
        assert_eq!(shown("slow \"cache purge\" mark*"), "slow cache+purge mark*");
        assert_eq!(shown("src/feed/reader.py"), "src+feed+reader+py");
        assert_eq!(shown("\"never closed"), "never+closed");
        assert_eq!(shown("feed/rea*"), "feed+rea*");
    }

    #[test]
    fn search_engine_syntax_is_treated_as_plain_words() {
        assert_eq!(shown("title: NEAR(a b, 2) AND -c ^d"), "title near+a b 2 and c d");
        assert_eq!(shown("a* b"), "`a*` is too short: a prefix needs at least 3 letters");
        assert_eq!(shown("日本*"), "`日本*` is too short: a prefix needs at least 3 letters");
        assert_eq!(shown(" \"\" * --"), "no words to search for");
        assert_eq!(
            shown(&(0..40).map(|n| format!("w{n} ")).collect::<String>()),
            "too many words: 40; the maximum is 32"
        );
    }
}
