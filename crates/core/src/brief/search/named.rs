//! Finds words in a prompt that may name a document: paths, file names and ids.

use std::collections::HashSet;

/// Maximum number of names. A prompt with more is probably a list of something else.
const NAMES_MAX: usize = 16;
/// Maximum length of a name.
const LENGTH_MAX: usize = 200;

/// The words of a prompt that may name a document, in order and without duplicates. A name contains
/// a separator or a digit, which ordinary words do not.
pub fn candidate_names(prompt: &str) -> Vec<&str> {
    let mut seen = HashSet::new();
    let words = prompt.split_whitespace().flat_map(|word| word.split(['(', ')', '[', ']', ',']));
    let words = words.map(trimmed).filter(|word| is_name(word));
    words.filter(|word| seen.insert(*word)).take(NAMES_MAX).collect()
}

/// Removes quotes, the `@` of a mention and sentence punctuation from a word.
fn trimmed(word: &str) -> &str {
    let inner = |c: char| c.is_alphanumeric() || "_./~-".contains(c);
    let word = word.trim_matches(|c: char| !inner(c));
    word.trim_end_matches(['.', '-']).trim_start_matches("./")
}

fn is_name(word: &str) -> bool {
    let separated = word.contains(['-', '_', '/', '.']);
    let numbered = word.contains(|c: char| c.is_ascii_digit());
    let has_letters = word.contains(char::is_alphabetic);
    has_letters && (separated || numbered) && word.len() <= LENGTH_MAX && !word.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_names_paths_files_and_ids() {
        let check = |prompt: &str, expected: &[&str]| assert_eq!(candidate_names(prompt), expected);
        check(
            "Continue the handoff from docs/handoffs/2026-03-01_login.md.",
            &["docs/handoffs/2026-03-01_login.md"],
        );
        check("@HANDOFF.md go on, please", &["HANDOFF.md"]);
        check(
            "resume `market-page-perf`, then \"feat-042/design\"!",
            &["market-page-perf", "feat-042/design"],
        );
        check("read (./notes/next.md) and y2038", &["notes/next.md", "y2038"]);
        check("what should I do next? 42 - https://a.b/c.md", &[]);
    }
}
