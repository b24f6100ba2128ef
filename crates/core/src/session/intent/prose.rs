//! Splits a prompt into the sentences that the user wrote, without pasted text.

use std::ops::Range;

/// A heading and this many lines count as a document.
const DOCUMENT_LINES_MIN: usize = 6;
/// This many list items, table rows and labels count as a document even without a heading.
const STRUCTURED_LINES_MIN: usize = 12;
/// From this length on, an editor may have wrapped a line.
const WRAPPED_MIN: usize = 60;

/// A sentence written by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sentence {
    /// Its bytes in the prompt, without a bullet.
    pub(super) range: Range<usize>,
    /// Its words in lower case, separated by single spaces, with a space at the end. Commas, colons
    /// and dashes become a separate word `,`.
    pub(super) words: String,
    /// Whether it ends with a question mark.
    pub(super) is_question: bool,
    /// Whether it is an item of a list.
    pub(super) is_item: bool,
}

/// The parsed text of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prose {
    /// The user's own sentences.
    pub(super) sentences: Vec<Sentence>,
    /// Whether the prompt also has a pasted document.
    pub(super) is_document: bool,
}

/// Splits a prompt into the user's own sentences.
pub(super) fn parse_prose(text: &str) -> Prose {
    let lines = own_lines(text);
    let document = document_start(text, &lines);
    let own = &lines[..document.unwrap_or(lines.len())];
    Prose { sentences: sentences(text, own), is_document: document.is_some() }
}

/// Every line outside fences, quotes, logs and markup.
fn own_lines(text: &str) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let (mut at, mut in_fence) = (0, false);
    for line in text.split_inclusive('\n') {
        let range = at..at + line.trim_end().len();
        at += line.len();
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            in_fence = !in_fence;
        } else if !in_fence && !is_pasted(line) {
            lines.push(range);
        }
    }
    lines
}

/// Whether a line is a quote, code or the output of a program.
fn is_pasted(line: &str) -> bool {
    const OUTPUT: &str = "traceback (|file \"|npm err|npm warn|error:|error[|warning:|fatal:|\
        panic:|panicked at|thread '|note:|-->|caused by:|--- fail|exit code";
    // Sentences start with these words too: `at Object.run (x.js:1:2)`, `at noon`.
    const LEVELS: &str = "at |error |info |warn |debug |fail ";
    let start = line.trim_start();
    let begins = |marks: &str| {
        let has = |mark: &str| {
            start.get(..mark.len()).is_some_and(|head| head.eq_ignore_ascii_case(mark))
        };
        marks.split('|').any(has)
    };
    let is_indented = line.starts_with('\t') || line.starts_with("    ");
    let is_quoted = start.starts_with(['>', '<', '|', '$', '+', '│', '├', '❯', '➜']);
    // Programs print the exception type first: `ValueError: …`.
    let kind = start.split([':', ' ']).next().unwrap_or_default();
    let is_exception = kind.len() > 5 && (kind.ends_with("Error") || kind.ends_with("Exception"));
    let has_code = start.contains([';', '{', '}', '(', '[', '=']);
    let is_shouted = start.len() > 4 && start.as_bytes()[..4].iter().all(u8::is_ascii_uppercase);
    is_quoted
        || is_exception
        || is_dated(start)
        || begins(OUTPUT)
        || (begins(LEVELS) && (has_code || is_shouted))
        || (is_indented && (has_code || start.starts_with("at ")))
}

/// Whether a line starts with a date or a time, like log lines.
fn is_dated(line: &str) -> bool {
    let line = line.trim_start_matches('[');
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let after = line.as_bytes().get(digits).copied();
    match digits {
        4 => matches!(after, Some(b'-' | b'/')),
        2 => after == Some(b':') && line.as_bytes().get(3).is_some_and(u8::is_ascii_digit),
        _ => false,
    }
}

/// The index of the line where a pasted document starts.
fn document_start(text: &str, lines: &[Range<usize>]) -> Option<usize> {
    let line = |range: &Range<usize>| text[range.clone()].trim_start();
    let filled = lines.iter().filter(|range| !line(range).is_empty()).count();
    let is_structured = |range: &&Range<usize>| {
        let line = line(range);
        item_start(line) > 0 || line.starts_with("**") || is_heading(line)
    };
    let heading = lines.iter().position(|range| is_heading(line(range)));
    let structured = lines.iter().filter(is_structured).count();
    match heading {
        Some(at) if filled >= DOCUMENT_LINES_MIN => Some(at),
        _ if structured >= STRUCTURED_LINES_MIN => {
            lines.iter().position(|range| is_structured(&range))
        }
        Some(_) | None => None,
    }
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    rest.len() < line.len() && rest.starts_with(' ')
}

/// How many bytes of a line are the bullet or number of a list item.
fn item_start(line: &str) -> usize {
    let bullet = "- [ ] |- [x] |- |* |• ".split('|').find(|mark| line.starts_with(mark));
    if let Some(bullet) = bullet {
        return bullet.len();
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let is_number = (1..=2).contains(&digits);
    let rest = &line[digits..];
    if is_number && (rest.starts_with(". ") || rest.starts_with(") ")) { digits + 2 } else { 0 }
}

fn sentences(text: &str, lines: &[Range<usize>]) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut lines = lines.iter().peekable();
    while let Some(line) = lines.next() {
        let mut range = line.clone();
        // A sentence continues on the next line if an editor wrapped it.
        while let Some(next) = lines.next_if(|next| continues_on_next_line(text, &range, next)) {
            range.end = next.end;
        }
        let indent = text[range.clone()].len() - text[range.clone()].trim_start().len();
        range.start += indent;
        let bullet = item_start(&text[range.clone()]);
        range.start += bullet;
        split_line(text, range, bullet > 0, &mut found);
    }
    found
}

fn continues_on_next_line(text: &str, line: &Range<usize>, next: &Range<usize>) -> bool {
    let (this, next_line) = (&text[line.clone()], &text[next.clone()]);
    let last = this.rsplit('\n').next().unwrap_or_default();
    let is_adjacent = text[line.end..next.start].bytes().filter(|byte| *byte == b'\n').count() == 1;
    is_adjacent
        && last.len() >= WRAPPED_MIN
        && !this.ends_with(['.', '!', '?', ':', ';'])
        && next_line.starts_with(|c: char| c.is_lowercase())
}

fn split_line(text: &str, line: Range<usize>, is_item: bool, found: &mut Vec<Sentence>) {
    let mut start = line.start;
    let mut chars = text[line.clone()].char_indices().peekable();
    while let Some((at, letter)) = chars.next() {
        let end = line.start + at + letter.len_utf8();
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match letter {
            '。' | '！' | '？' => true,
            '!' | '?' => next.is_none_or(char::is_whitespace),
            '.' => next.is_none_or(char::is_whitespace) && !is_abbreviation(&text[start..end]),
            _ => false,
        };
        if ends || next.is_none() {
            push(text, start..end, is_item, found);
            start = end;
        }
    }
}

fn is_abbreviation(text: &str) -> bool {
    // An ellipsis is a pause, not the end of a sentence.
    "e.g.|i.e.|etc.|vs.|z.B.|bzw.|..".split('|').any(|short| text.ends_with(short))
}

fn push(text: &str, range: Range<usize>, is_item: bool, found: &mut Vec<Sentence>) {
    let sentence = &text[range.clone()];
    let start = range.start + sentence.len() - sentence.trim_start().len();
    let end = start + sentence.trim().len();
    let words = words(sentence);
    if words.chars().any(char::is_alphanumeric) {
        let is_question = text[start..end].ends_with(['?', '？']);
        found.push(Sentence { range: start..end, words, is_question, is_item });
    }
}

/// The words of a sentence; see [`Sentence::words`].
pub(super) fn words(sentence: &str) -> String {
    let mut words = String::with_capacity(sentence.len() + 8);
    let mut chars = sentence.chars().peekable();
    while let Some(letter) = chars.next() {
        let letter = if letter == '.' && chars.next_if_eq(&'.').is_some() { '…' } else { letter };
        let before_word = chars.peek().is_some_and(|next| next.is_alphanumeric());
        let in_word = words.ends_with(|c: char| !c.is_whitespace() && c != ',');
        match letter {
            '’' | '‘' | '\'' if in_word && before_word => words.push('\''),
            '.' if in_word && (before_word || chars.peek() == Some(&'/')) => words.push('.'),
            '-' | ':' if in_word && before_word => words.push(letter),
            '/' | '_' | '@' | '#' | '+' => words.push(letter),
            '…' | ',' | ';' | ':' | '—' | '–' | '-' | '，' | '、' | '：' | '；' => {
                end_word(&mut words);
                if !words.ends_with(", ") && !words.is_empty() {
                    words.push_str(", ");
                }
            }
            letter if letter.is_alphanumeric() => words.extend(letter.to_lowercase()),
            _ => end_word(&mut words),
        }
    }
    end_word(&mut words);
    words
}

fn end_word(words: &mut String) {
    if !words.is_empty() && !words.ends_with(' ') {
        words.push(' ');
    }
}

/// Whether the words start with a phrase.
pub(super) fn starts(words: &str, phrase: &str) -> bool {
    words.strip_prefix(phrase).is_some_and(|rest| rest.starts_with(' '))
}

/// Whether the words start with one of several phrases, separated by `|`.
pub(super) fn starts_any(words: &str, phrases: &str) -> bool {
    phrases.split('|').any(|phrase| starts(words, phrase))
}

/// Whether the words contain a phrase.
pub(super) fn has(words: &str, phrase: &str) -> bool {
    let is_here = |rest: &str| rest.strip_prefix(phrase).is_some_and(|rest| rest.starts_with(' '));
    // A phrase starts at a word boundary; checking only those is faster than a full search per
    // phrase.
    is_here(words) || words.match_indices(' ').any(|(at, _)| is_here(&words[at + 1..]))
}

/// Whether the words contain one of several phrases.
pub(super) fn has_any(words: &str, phrases: &str) -> bool {
    phrases.split('|').any(|phrase| has(words, phrase))
}

/// Like `starts_any`, for languages that do not separate words.
pub(super) fn starts_with_any(words: &str, phrases: &str) -> bool {
    phrases.split('|').any(|phrase| words.starts_with(phrase))
}

/// Whether a word or phrase is one of several.
pub(super) fn is_one_of(word: &str, phrases: &str) -> bool {
    phrases.split('|').any(|phrase| phrase == word)
}

/// The words after a phrase they start with, if any.
pub(super) fn after_any<'w>(words: &'w str, phrases: &str) -> Option<&'w str> {
    let phrase = phrases.split('|').find(|phrase| starts(words, phrase))?;
    Some(words[phrase.len()..].trim_start())
}

/// The first word.
pub(super) fn first(words: &str) -> &str {
    words.split(' ').next().unwrap_or_default()
}

/// The words without introductory fillers.
pub(super) fn without_lead(words: &str) -> &str {
    const LEAD: &str = ",|ok|okay|k|well|so|and|but|also|aha|please|pls|plz|hey|hi|hello|yes|yeah|\
        yep|alright|right|sorry|btw|by the way|fyi|then|just|bitte|por favor|s'il te plaît|\
        пожалуйста|i think|imo|man|dude|bro|claude|one more thing|another thing|for the record|\
        to be clear|seems like|looks like|it seems|seems|general note";
    let mut rest = words;
    loop {
        let after = match is_interjection(first(rest)) {
            true => Some(rest[first(rest).len()..].trim_start()),
            false => after_any(rest, LEAD),
        };
        match after {
            Some(after) if !after.is_empty() => rest = after,
            Some(_) | None => return rest,
        }
    }
}

/// Whether a word is a sound such as "hmm", "uhhh" or "mmk", of any length.
fn is_interjection(word: &str) -> bool {
    let mut letters: Vec<char> = word.chars().collect();
    letters.dedup();
    let sounds = "hm|uh|um|mk|ah|oh|er|mh|uhm|ehm|mhm";
    letters.len() <= 3 && is_one_of(&letters.into_iter().collect::<String>(), sounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lowercased_and_separated() {
        for (sentence, expected) in [
            ("No, use the other file!", "no , use the other file "),
            ("Don’t touch `web/` - ever", "don't touch web/ , ever "),
            ("hmm... src/main.rs: no", "hmm , src/main.rs , no "),
            ("不对，应该用另一个", "不对 , 应该用另一个 "),
            ("always-on (really)", "always-on really "),
            ("", ""),
        ] {
            assert_eq!(words(sentence), expected, "{sentence}");
        }
    }

    #[test]
    fn only_the_sentences_of_the_user_are_found() {
        let check = |text: &str, expected: &[&str]| {
            let prose = parse_prose(text);
            let found: Vec<&str> =
                prose.sentences.iter().map(|sentence| &text[sentence.range.clone()]).collect();
            assert_eq!(found, expected, "{text}");
        };
        check(
            "Stop. Use main.rs, e.g. line 4! Why?",
            &["Stop.", "Use main.rs, e.g. line 4!", "Why?"],
        );
        check("Rules:\n- never rebase\n2. no mocks", &["Rules:", "never rebase", "no mocks"]);
        check("look:\n```\nnever do this\n```\nany idea?", &["look:", "any idea?"]);
        check("> never ship on fridays\nanswer her", &["answer her"]);
        check("ValueError: do not\n    raise x()\nwhat now?", &["what now?"]);
        check("2026-01-02 stop\nhm", &["hm"]);
        let plan = "do this:\n# Plan\n\n- never a\n- never b\n- c\n- d\n- e\n";
        check(plan, &["do this:"]);
        assert!(parse_prose(plan).is_document);
        let wrapped =
            "never edit the files that are generated by the build, because they are\nreplaced";
        check(wrapped, &[wrapped]);
    }
}
