//! Literal drift: an identifier, number, version or line count that a sentence gives about a file
//! that it cites, which was right when it was written and is not now.
//!
//! Only what the cited file had at the origin counts, so a literal that is about something else is
//! found only by chance. What is common enough for that chance is not a literal.

mod sentence;
mod stated;

pub use sentence::sentences;

use crate::handoff::code_text::{CodeText, versions};
use crate::text::span::{Span, Spanned};
use sentence::says_gone;
use stated::{StatedLiteral, stated_literals};

/// A literal that a file no longer has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiteralDrift {
    /// The literal as written.
    pub literal: Spanned<String>,
    /// Whether it is the number of lines of the file.
    pub is_line_count: bool,
    /// The value that replaced it, if there is one.
    pub now: Option<String>,
}

/// A file that a sentence cites, at the origin and now; `None` where it does not exist.
#[derive(Clone, Copy, Debug)]
pub struct CitedFile<'c> {
    /// The text at the origin.
    pub was: Option<&'c CodeText>,
    /// The current text.
    pub is: Option<&'c CodeText>,
}

/// Finds the literals of a sentence that exactly one of the cited files had, and none has now. Each
/// has the number of that file.
pub fn find_literal_drift(
    text: &str,
    sentence: Span,
    files: &[CitedFile<'_>],
) -> Vec<(usize, LiteralDrift)> {
    // Its author knew.
    if says_gone(sentence.slice(text)) {
        return Vec::new();
    }
    let mut found: Vec<(usize, LiteralDrift)> = Vec::new();
    for Spanned { value: literal, at } in stated_literals(text, sentence) {
        let had = |file: &CitedFile<'_>| file.was.is_some_and(|was| literal.is_true_of(was));
        let has = |file: &CitedFile<'_>| file.is.is_some_and(|is| literal.may_be_true_of(is));
        let is_known = |(_, other): &(usize, LiteralDrift)| other.literal.value == at.slice(text);
        // Nearly all literals still hold, and this does not search the texts.
        if files.iter().any(has) || found.iter().any(is_known) {
            continue;
        }
        let mut holders = files.iter().enumerate().filter(|(_, file)| had(file));
        let (Some((number, file)), None) = (holders.next(), holders.next()) else { continue };
        let Some(is) = file.is else { continue };
        let drift = LiteralDrift {
            literal: Spanned::new(at.slice(text).to_owned(), at),
            is_line_count: matches!(literal, StatedLiteral::LineCount(_)),
            now: literal.current_value(is),
        };
        found.push((number, drift));
    }
    found
}

impl StatedLiteral<'_> {
    /// Whether a text has the literal as the sentence states it.
    fn is_true_of(&self, text: &CodeText) -> bool {
        match self {
            Self::LineCount(count) => is_line_count(text, *count),
            Self::Number(word) => text.has_word(word),
            // Any other version in a file may be about anything, such as a release.
            Self::Version(version) => own_version(text) == Some(version),
            Self::Assigned { name, number } => assigned_numbers(text, name) == [*number],
            Self::Identifier { name, exact, is_distinctive } => {
                text.has_word(name) && (*is_distinctive || text.contains(*exact))
            }
        }
    }

    /// Whether the literal may still hold: a part of it is enough.
    fn may_be_true_of(&self, text: &CodeText) -> bool {
        match self {
            Self::LineCount(count) => is_line_count(text, *count),
            Self::Number(word) | Self::Version(word) => text.may_have_word(word),
            // Without exactly one other number, it may be written in another way.
            Self::Assigned { name, number } => match assigned_numbers(text, name)[..] {
                [now] => now == *number,
                _ => text.may_have_word(name),
            },
            Self::Identifier { name, .. } => text.may_have_word(name),
        }
    }

    fn current_value(&self, is: &CodeText) -> Option<String> {
        match self {
            Self::LineCount(_) => Some(is.line_count().to_string()),
            Self::Assigned { name, .. } => {
                assigned_numbers(is, name).first().map(|now| (*now).to_owned())
            }
            Self::Version(_) => own_version(is).map(str::to_owned),
            Self::Number(_) | Self::Identifier { .. } => None,
        }
    }
}

/// Whether a file has this many lines. `wc -l` does not count a last line without a line break.
fn is_line_count(text: &CodeText, count: usize) -> bool {
    let lines = text.line_count();
    lines == count || (lines == count + 1 && !text.ends_with('\n'))
}

/// The version that a manifest gives its package: the first line that starts with the key.
fn own_version(manifest: &str) -> Option<&str> {
    manifest.lines().find_map(|line| {
        let key = line.trim_start().trim_start_matches('"');
        let rest = key.strip_prefix("version")?.trim_start_matches('"').trim_start();
        versions(rest.strip_prefix([':', '='])?).next()
    })
}

/// The distinct numbers that a text assigns to a name, as `NAME = 14` or `name: 14`.
fn assigned_numbers<'t>(text: &'t CodeText, name: &str) -> Vec<&'t str> {
    let mut found: Vec<&str> = Vec::new();
    if !text.may_have_word(name) {
        return found;
    }
    let text: &str = text;
    for (at, _) in text.match_indices(name) {
        let before = text[..at].chars().next_back();
        let number = stated::assigned_number(&text[at + name.len()..]);
        let is_whole = !before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        if let Some(number) = number.filter(|number| is_whole && !found.contains(number)) {
            found.push(number);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is reported about `text`, a sentence that cites one file.
    fn drift(text: &str, was: &str, is: &str) -> Vec<(String, Option<String>)> {
        let (was, is) = (CodeText::new(was), CodeText::new(is));
        let files = [CitedFile { was: Some(&was), is: Some(&is) }];
        find_literal_drift(text, Span::new(0, text.len()), &files)
            .into_iter()
            .map(|(_, found)| (found.literal.value, found.now))
            .collect()
    }

    fn gone(literal: &str) -> Vec<(String, Option<String>)> {
        vec![(literal.to_owned(), None)]
    }

    fn changed(literal: &str, now: &str) -> Vec<(String, Option<String>)> {
        vec![(literal.to_owned(), Some(now.to_owned()))]
    }

    #[test]
    fn an_identifier_that_is_gone_is_reported() {
        let was = "const id = Bun.randomUUIDv5(name);\n";
        let is = "const id = uuid(name);\n";
        let text = "Replace `Bun.randomUUIDv5` in `src/a.ts`.";
        assert_eq!(drift(text, was, is), gone("Bun.randomUUIDv5"));
        assert_eq!(drift(text, was, was), []);
        // It never was there, or is written in another way now.
        assert_eq!(drift(text, is, is), []);
        assert_eq!(drift(text, was, "const { randomUUIDv5 } = Bun;\n"), []);
    }

    #[test]
    fn only_distinctive_words_are_identifiers() {
        let was = "load_rows(); loadRows(); open(); main; TIMEOUT; a1b2c3d4; Table.open();\n";
        for literal in ["load_rows", "loadRows()", "open()", "Table.open"] {
            let text = format!("`{literal}` in `src/a.ts` is slow");
            assert_eq!(drift(&text, was, "nothing"), gone(literal), "{literal}");
        }
        for literal in ["main", "open", "TIMEOUT", "a1b2c3d4", "src/b.ts", "npm run load_rows"] {
            let text = format!("`{literal}` in `src/a.ts` is slow");
            assert_eq!(drift(&text, was, "nothing"), [], "{literal}");
        }
        assert_eq!(drift("load_rows in src/a.ts is slow", was, "nothing"), []);
    }

    #[test]
    fn a_line_count_is_compared_with_the_file() {
        let lines = |count: usize| "x\n".repeat(count);
        for text in ["`runtime.ts` is 97 lines", "runtime.ts (97 LOC)", "The 97-line `runtime.ts`"]
        {
            assert_eq!(drift(text, &lines(97), &lines(112)), changed("97", "112"), "{text}");
            assert_eq!(drift(text, &lines(97), &lines(97)), []);
            assert_eq!(drift(text, &lines(96), &lines(112)), []);
        }
        for text in
            ["runtime.ts is ~97 lines", "runtime.ts has about 97 lines", "lines 97 of runtime.ts"]
        {
            assert_eq!(drift(text, &lines(97), &lines(112)), [], "{text}");
        }
        assert_eq!(drift("a.ts has 1,200 lines", &lines(1200), &lines(3)), changed("1,200", "3"));
    }

    #[test]
    fn versions_and_numbers_are_compared() {
        let text = "`package.json` is at version 0.0.22";
        let was = "{\n  \"version\": \"0.0.22\"\n}\n";
        assert_eq!(drift(text, was, &was.replace("22", "30")), changed("0.0.22", "0.0.30"));
        assert_eq!(drift(text, was, "{\n  \"name\": \"shop\"\n}\n"), gone("0.0.22"));
        assert_eq!(drift(text, "{\"b\": \"0.0.22\"}", "{\"b\": \"0.1.0\"}"), []);
        assert_eq!(drift(text, was, "{\n  \"version\": \"0.0.30\", \"b\": \"0.0.22\"\n}\n"), []);
        let text = "`MAX_RETRIES = 14` in `src/a.ts`";
        assert_eq!(
            drift(
                text,
                "const MAX_RETRIES = 14;",
                "const MAX_RETRIES: u8 = 20; // MAX_RETRIES = 20"
            ),
            changed("MAX_RETRIES = 14", "20")
        );
        assert_eq!(drift(text, "MAX_RETRIES = 14", "MAX_RETRIES = limits.retries"), []);
        assert_eq!(drift("Port `8443` in `a.ts`", "listen(8443)", "listen(port)"), gone("8443"));
        for number in ["14", "2026"] {
            let text = format!("Since `{number}`, `a.ts` is slow");
            assert_eq!(drift(&text, "14 2026", ""), [], "{number}");
        }
    }

    #[test]
    fn a_sentence_that_says_so_itself_is_left_alone() {
        let (was, is) = ("load_rows()", "x");
        for text in [
            "`src/a.ts` no longer has `load_rows`",
            "Removed `load_rows` from `src/a.ts`",
            "`load_rows` → `read_rows` in `src/a.ts`",
            "~~`load_rows` in `src/a.ts`~~",
        ] {
            assert_eq!(drift(text, was, is), [], "{text}");
        }
    }

    #[test]
    fn of_several_files_exactly_one_had_it() {
        let text = "Move `load_rows` from `a.ts` to `b.ts`";
        let [rows, empty] = ["load_rows()", ""].map(CodeText::new);
        let file = |was, is| CitedFile { was: Some(was), is };
        let find = |files: &[CitedFile<'_>]| {
            let found = find_literal_drift(text, Span::new(0, text.len()), files);
            found.into_iter().map(|(number, _)| number).collect::<Vec<_>>()
        };
        assert_eq!(find(&[file(&empty, Some(&empty)), file(&rows, Some(&empty))]), [1]);
        assert_eq!(find(&[file(&rows, Some(&empty)), file(&rows, Some(&empty))]), [0_usize; 0]);
        // It is where it belongs now.
        assert_eq!(find(&[file(&rows, Some(&empty)), file(&empty, Some(&rows))]), [0_usize; 0]);
        assert_eq!(find(&[file(&rows, None)]), [0_usize; 0]);
    }
}
