//! Splits text into sentences, and finds the words and identifiers in them.

use super::code_spans::code_spans;

/// Abbreviations whose final dot does not end a sentence.
const ABBREVIATIONS: [&str; 12] = [
    "e.g.", "i.e.", "vs.", "etc.", "cf.", "approx.", "no.", "z.b.", "d.h.", "bzw.", "ca.", "p.ex.",
];

/// The maximum number of sentences per text; the rest counts as one more.
const SENTENCES_MAX: usize = 1_000;
/// The number of bytes searched for words. The beginning of a statement is enough to classify it.
const WORDS_BYTES_MAX: usize = 2_000;

/// Returns the sentences of a text, each a slice of it.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut spans = code_spans(text).into_iter().peekable();
    let mut found = Vec::new();
    let mut from = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        while spans.peek().is_some_and(|span| span.1 <= at) {
            spans.next();
        }
        let is_code = spans.peek().is_some_and(|span| span.0 <= at);
        let mut end = at + character.len_utf8();
        if is_code || !matches!(character, '.' | '!' | '?' | '。' | '！' | '？') {
            continue;
        }
        // Emphasis, quotes, and brackets right after the mark belong to the sentence.
        while let Some((_, closing)) =
            characters.next_if(|(_, next)| "*_\"')”’».!?".contains(*next))
        {
            end += closing.len_utf8();
        }
        if found.len() < SENTENCES_MAX && ends(text, from, end, character) {
            found.push(text[from..end].trim());
            from = end;
        }
    }
    found.push(text[from..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

fn ends(text: &str, from: usize, end: usize, sign: char) -> bool {
    if matches!(sign, '。' | '！' | '？') {
        return true;
    }
    let mut rest = text[end..].chars();
    if rest.next().is_some_and(|next| !next.is_whitespace()) {
        return false;
    }
    if rest.next().is_some_and(char::is_lowercase) {
        return false;
    }
    let word = text[from..end].rsplit(char::is_whitespace).next().unwrap_or_default();
    let is_number = word.trim_end_matches('.').bytes().all(|byte| byte.is_ascii_digit());
    let is_short = word.len() <= 6 && ABBREVIATIONS.contains(&word.to_lowercase().as_str());
    let is_ordinal = sign == '.' && is_number && word.len() <= 3;
    !is_short && !is_ordinal
}

/// Returns the words of a text for phrase lookup: lower case, one space around each, a code span as
/// one backtick, and no other punctuation.
pub(super) fn words(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(WORDS_BYTES_MAX)];
    let mut out = String::with_capacity(text.len() + 2);
    out.push(' ');
    let mut from = 0;
    for (start, end) in code_spans(text) {
        push_words(&mut out, &text[from..start]);
        out.push_str("` ");
        from = end;
    }
    push_words(&mut out, &text[from..]);
    out
}

fn push_words(out: &mut String, text: &str) {
    let is_sign = |c: char| !(c.is_alphanumeric() || "'’-[]/".contains(c));
    for word in text.split(is_sign).filter(|word| !word.is_empty()) {
        out.extend(
            word.chars().flat_map(char::to_lowercase).map(|c| if c == '’' { '\'' } else { c }),
        );
        out.push(' ');
    }
}

/// Whether one of the phrases occurs in words as returned by [`words`]. A phrase in a script
/// without spaces may occur anywhere.
pub(super) fn has_any(words: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| {
        let is_here =
            |rest: &str| rest.strip_prefix(phrase).is_some_and(|rest| rest.starts_with(' '));
        match phrase.chars().any(is_dense) {
            true => words.contains(phrase),
            // A phrase starts where a word does; a substring search per phrase would cost more.
            false => words.match_indices(' ').any(|(at, _)| is_here(&words[at + 1..])),
        }
    })
}

/// Whether a character belongs to a script without spaces between words.
pub(super) fn is_dense(character: char) -> bool {
    let code = u32::from(character);
    matches!(code, 0x0e00..=0x0eff | 0x2e80..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff | 0xff00..=0xffef)
}

/// Whether the words start with one of the phrases.
pub(super) fn starts_with_any(words: &str, phrases: &[&str]) -> bool {
    let words = words.trim_start();
    phrases.iter().any(|phrase| {
        let rest = words.strip_prefix(phrase);
        rest.is_some_and(|rest| rest.starts_with(' ') || phrase.chars().any(is_dense))
    })
}

/// Returns the names, paths, ids, numbers, and code snippets in a text. They make a statement
/// specific, and show whether another text already has it.
pub(crate) fn identifiers(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    for (start, end) in code_spans(text) {
        found.extend(text[from..start].split_whitespace().filter_map(identifier));
        found.push(text[start..end].trim_matches('`').trim());
        from = end;
    }
    found.extend(text[from..].split_whitespace().filter_map(identifier));
    found
}

/// Whether a line contains a name as a whole word.
pub(crate) fn has_word(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
    })
}

/// Returns a word without surrounding punctuation, if it is an identifier.
fn identifier(word: &str) -> Option<&str> {
    let word = word.trim_matches(|c: char| !(c.is_alphanumeric() || "#/._-".contains(c)));
    let word = word.trim_end_matches(['.', '-']);
    is_identifier(word).then_some(word)
}

/// Whether a word is a code name, path, id, or number rather than a natural-language word.
fn is_identifier(word: &str) -> bool {
    let mut before = ' ';
    let mut has_hump = false;
    for c in word.chars() {
        has_hump |= before.is_lowercase() && c.is_uppercase();
        before = c;
    }
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let inner = word.trim_matches(['.', '/', '_', '-']);
    let is_joined = inner.contains(['_', '/']) || inner.contains("::") || has_extension(inner);
    word.len() > 1 && (has_hump || has_digit || is_joined || word.starts_with("--"))
        || word.starts_with('#') && has_digit
}

fn has_extension(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && (1..=5).contains(&extension.len()) && extension.is_ascii()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_split_as_a_reader_would() {
        let check = |text: &str, expected: &[&str]| assert_eq!(sentences(text), expected, "{text}");
        check("It broke, e.g. Here. `a. B` went on.", &["It broke, e.g. Here.", "`a. B` went on."]);
        check("**It fails.** Why?", &["**It fails.**", "Why?"]);
        check("See v1.2 or main.rs. Then", &["See v1.2 or main.rs.", "Then"]);
        check("缓存失效。测试失败。", &["缓存失效。", "测试失败。"]);
        check("Is it 3. Or not", &["Is it 3. Or not"]);
        check("Wait... then go", &["Wait... then go"]);
        check("", &[]);
    }

    #[test]
    fn phrases_match_whole_words() {
        let words = words("Don’t use `because`: it's **not** done");
        assert_eq!(words, " don't use ` it's not done ");
        assert!(has_any(&words, &["not done"]));
        assert!(!has_any(&words, &["because", "one", "no"]));
        assert!(has_any(&super::words("原因是缓存"), &["原因"]));
    }

    #[test]
    fn names_paths_and_numbers_are_identifiers() {
        let check =
            |text: &str, expected: &[&str]| assert_eq!(identifiers(text), expected, "{text}");
        check("All good, nothing to do. And so on", &[]);
        check("`a b` fails in src/lib.rs with readAll,", &["a b", "src/lib.rs", "readAll"]);
        check("(see #12), pass --force", &["#12", "--force"]);
        check("3 of 12 tests of the go-git check", &["12"]);
    }
}
