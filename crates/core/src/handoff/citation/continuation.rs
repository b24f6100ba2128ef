//! Decides whether the text behind a list of lines may continue the list.
//!
//! There are more ways to write a list than midstride reads, and `check --fix` must not update some
//! of its numbers and leave the others. So a number shortly behind the last entry counts as another
//! entry, unless something shows that it is not a line.

use super::path::{expand_path, is_path, is_path_char, trim_word, word_end};

/// How many words can separate two lines, as in `20 up to and including 90`.
const CONNECTOR_WORDS_MAX: usize = 4;

/// Words for lines. A number behind one is a line at any distance in the sentence.
const LINE_WORDS: [&str; 4] = ["line", "lines", "ln", "loc"];

/// Words behind a number that show that it counts something. Words that are also verbs are not here:
/// in `20 and 90 calls it`, 90 is a line.
const UNITS: &[&str] = &[
    "ms",
    "s",
    "sec",
    "secs",
    "seconds",
    "min",
    "mins",
    "minutes",
    "hour",
    "hours",
    "day",
    "days",
    "week",
    "weeks",
    "month",
    "months",
    "year",
    "years",
    "kb",
    "mb",
    "gb",
    "tb",
    "kib",
    "mib",
    "gib",
    "bit",
    "bits",
    "byte",
    "bytes",
    "px",
    "percent",
    "times",
    "line",
    "lines",
    "loc",
    "row",
    "rows",
    "char",
    "chars",
    "character",
    "characters",
    "token",
    "tokens",
    "user",
    "users",
    "caller",
    "callers",
    "item",
    "items",
    "entry",
    "entries",
    "more",
    "other",
    "others",
];

/// Words before a number that show what it numbers.
const NUMBERED: &[&str] = &[
    "step",
    "phase",
    "stage",
    "task",
    "issue",
    "pr",
    "ticket",
    "port",
    "version",
    "status",
    "code",
    "http",
    "error",
    "option",
    "section",
    "chapter",
    "table",
    "figure",
    "item",
    "rule",
    "node",
    "python",
    "level",
    "sprint",
    "milestone",
    "round",
    "attempt",
];

/// Verbs whose object is an amount.
const AMOUNT_VERBS: &[&str] = &["has", "have", "had", "returns", "returned", "takes", "took"];

/// Words that end with a period inside a sentence.
const ABBREVIATIONS: &[&str] =
    &["approx", "bzw", "ca", "cf", "e.g", "i.e", "incl", "l", "ll", "no", "nos", "resp", "vgl"];

/// Whether the text behind a list of lines may contain another entry.
pub(super) fn may_continue(rest: &str) -> bool {
    ContinuationReader {
        rest,
        at: 0,
        words: 0,
        last_word: None,
        last_mark: None,
        is_in_code: false,
    }
    .run()
}

/// Reads on until a number is found, or the sentence or the file that it is about ends.
struct ContinuationReader<'t> {
    rest: &'t str,
    at: usize,
    /// How many words were read.
    words: usize,
    /// The word that was just read.
    last_word: Option<&'t str>,
    /// The mark that was just read, behind that word.
    last_mark: Option<char>,
    is_in_code: bool,
}

impl<'t> ContinuationReader<'t> {
    fn run(mut self) -> bool {
        // The next backtick closes the code that contains the citation.
        self.is_in_code = self.rest.starts_with('`');
        while let Some(c) = self.rest[self.at..].chars().next() {
            if self.ends_sentence(c) || self.is_other_path() {
                return false;
            }
            if c.is_ascii_digit() {
                if self.reads_line_number() {
                    return true;
                }
            } else if c.is_alphabetic() || c == '_' {
                if self.reads_lettered_number() {
                    return true;
                }
            } else if self.reads_marked_number(c) {
                return true;
            }
        }
        false
    }

    fn behind(&self, length: usize) -> &'t str {
        &self.rest[self.at + length..]
    }

    /// Whether the sentence or the paragraph ends here.
    fn ends_sentence(&self, c: char) -> bool {
        if c == '\n' {
            let line = self.behind(1).lines().next();
            return line.is_some_and(|line| line.trim().is_empty());
        }
        if !matches!(c, '.' | '!' | '?') {
            return false;
        }
        let after = self.behind(1).trim_start_matches(['`', '"', '\'', ')', ']', '*', '_']);
        let next = after.trim_start();
        let is_abbreviation = || {
            let word = self.last_word.filter(|_| c == '.' && self.last_mark.is_none());
            word.is_some_and(|word| is_one_of(word, ABBREVIATIONS))
        };
        after.len() > next.len() && !next.starts_with(char::is_lowercase) && !is_abbreviation()
    }

    /// Whether another path starts here. The numbers behind it are lines of that file.
    fn is_other_path(&self) -> bool {
        let before = self.rest[..self.at].chars().next_back();
        let is_start = before.is_none_or(|c| !is_path_char(c));
        is_start && is_path_word(&self.behind(0)[..word_end(self.behind(0), 0)])
    }

    /// Reads a number; returns whether it may be a line.
    fn reads_line_number(&mut self) -> bool {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let text = self.behind(0);
        let first = digits(text);
        let mut end = first;
        // `90-120`, `1,200`, `1.5` and `2026-03-21` are read whole.
        while let Some(c) = text[end..].chars().next().filter(|c| ".,:/-–—_".contains(*c)) {
            let more = digits(&text[end + c.len_utf8()..]);
            if more == 0 {
                break;
            }
            end += c.len_utf8() + more;
        }
        let number = &text[..end];
        let is_date = first == 4 && number.matches('-').count() == 2;
        let is_zero = text[..first].bytes().all(|byte| byte == b'0');
        let is_named = self.last_mark.is_none_or(|mark| mark == '`')
            && self
                .last_word
                .is_some_and(|word| is_one_of(word, NUMBERED) || is_one_of(word, AMOUNT_VERBS));
        let is_value = self.last_mark == Some('=') && self.last_word.is_some();
        let is_amount = self.last_mark.is_some_and(|mark| "#$€£".contains(mark));
        let is_line_word = self.last_word.is_some_and(|word| is_one_of(word, &LINE_WORDS));
        let is_line = !(number.contains('.')
            || is_date
            || is_zero
            || is_named
            || is_value
            || is_amount
            || is_counted(&text[end..]));
        let is_near = self.words <= CONNECTOR_WORDS_MAX;
        let is_elsewhere = is_line_word && is_in_other_file(&text[end..]);
        self.at += end;
        // `3rd` and `90ms` are words.
        let letters = self.behind(0).len()
            - self.behind(0).trim_start_matches(|c: char| c.is_alphanumeric()).len();
        self.at += letters;
        self.add_word(None);
        is_line && !is_elsewhere && (is_near || is_line_word)
    }

    /// Reads a word; returns whether it is a line such as `L90`.
    fn reads_lettered_number(&mut self) -> bool {
        let word = &self.behind(0)[..self.word_length()];
        let number = word.strip_prefix(['L', 'l']).unwrap_or_default();
        let is_number = number.starts_with(|c: char| c.is_ascii_digit())
            && number.chars().all(|c| c.is_ascii_digit() || "-L".contains(c));
        self.at += word.len();
        self.add_word(Some(word));
        is_number && self.words <= CONNECTOR_WORDS_MAX + 1
    }

    /// The length of a word such as `and/or`, `utf-8` or, in code, `sleep(300`.
    fn word_length(&self) -> usize {
        let text = self.behind(0);
        let mut end = 0;
        while let Some(c) = text[end..].chars().next() {
            let is_joint = "-./'’".contains(c) || (self.is_in_code && "([=".contains(c));
            let goes_on = |next: char| next.is_alphanumeric() || next == '_';
            let is_part = goes_on(c)
                || (is_joint && text[end + c.len_utf8()..].chars().next().is_some_and(goes_on));
            if !is_part {
                break;
            }
            end += c.len_utf8();
        }
        end
    }

    /// Reads a mark; returns whether a line such as `:90` starts here.
    fn reads_marked_number(&mut self, c: char) -> bool {
        let before = self.rest[..self.at].chars().next_back();
        let is_line = c == ':' && before.is_some_and(|c| !c.is_alphanumeric()) && {
            let number = self.behind(1).trim_start_matches(['~', 'L']);
            let after = number.trim_start_matches(|c: char| c.is_ascii_digit());
            // `:100:` is an emoji.
            after.len() < number.len() && !after.starts_with(':')
        };
        if c == '`' {
            self.is_in_code = !self.is_in_code;
        }
        if !c.is_whitespace() {
            self.last_mark = Some(c);
        }
        self.at += c.len_utf8();
        is_line
    }

    fn add_word(&mut self, word: Option<&'t str>) {
        if !word.is_some_and(|word| is_one_of(word, &LINE_WORDS)) {
            self.words += 1;
        }
        (self.last_word, self.last_mark) = (word, None);
    }
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Whether a word is a path, with or without lines.
fn is_path_word(word: &str) -> bool {
    let word = trim_word(word);
    let path = &word[..word.find([':', '#']).unwrap_or(word.len())];
    let lines = word[path.len()..].trim_start_matches([':', '#', 'L', '~']);
    let at_lines = lines.starts_with(|c: char| c.is_ascii_digit());
    let paths = expand_path(path);
    !paths.is_empty() && paths.iter().all(|path| is_path(path, at_lines))
}

/// Whether a number is an amount, by the text behind it: `%`, `ms`, ` KB`, ` times`, `-line`.
pub(super) fn is_counted(after: &str) -> bool {
    let glued: &str = word_at(after);
    if !glued.is_empty() {
        // `90f` and `90ff` are lines.
        return !matches!(glued, "f" | "ff");
    }
    let spaced = after.strip_prefix(['-', ' ', '\n', '\u{a0}']).unwrap_or(after);
    spaced.starts_with(['%', '°', '×']) || is_one_of(word_at(spaced), UNITS)
}

/// The word at the start of a text.
fn word_at(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches(char::is_alphabetic).len()]
}

/// Whether the text behind a line names the file that has it: ` of b.rs`.
fn is_in_other_file(after: &str) -> bool {
    [" of ", " in "].iter().filter_map(|word| after.strip_prefix(word)).any(|file| {
        let file = file.trim_start_matches(['`', '*', '"']);
        is_path_word(&file[..word_end(file, 0)])
    })
}

#[cfg(test)]
mod tests {
    use super::may_continue;

    #[test]
    fn a_number_shortly_behind_a_line_may_be_another_line() {
        for rest in [
            " thru 30",
            " bis 30",
            " up to and including 90",
            ", also 90",
            " as well as line 90",
            " [90, 217]",
            "`–`30`",
            "|90",
            "…30",
            " → 30",
            " (see L90)",
            " resp. 90",
            " (300 ms) and 90",
            " et 90ff.",
            " and 90 calls it",
            " opens the file that is read later, and `:90` closes it",
            " opens the file that is read later, and line 90 closes it",
        ] {
            assert!(may_continue(rest), "{rest}");
        }
    }

    #[test]
    fn numbers_that_are_no_lines_do_not_continue_a_list() {
        for rest in [
            "",
            " is slow",
            " takes 300 ms",
            " (90%)",
            " retries 3 times",
            ", 1.5 s",
            " since v2 or 1.2.3",
            " (2026-03-21)",
            " (#123)",
            " (step 3)",
            " returns 404",
            "` calls `sleep(300)`",
            " with timeout = 300",
            ". 90 users saw it",
            ". Line 90 is slow",
            " is slow. Line 90 is not",
            " and b.rs:90",
            " and `b.rs` line 90",
            " and line 90 of `b.rs`",
            " is the 2nd",
            " and 12 more",
            " is where the rows of the last run are read, 90 of them",
            "\n\n90",
        ] {
            assert!(!may_continue(rest), "{rest}");
        }
    }
}
