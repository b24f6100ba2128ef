//! What a document says, statement by statement: an entry of the header, a paragraph, an item of a
//! list with what is below it, a row of a table. A statement is one or more sentences.

use super::words::stem;
use crate::handoff::Handoff;
use crate::markdown::BlockKind;
use crate::search;
use crate::section::{Meaning, Section};
use crate::span::{At, Span};
use crate::yaml::{Node, Value};
use std::collections::HashMap;
use std::ops::Range;

/// Header fields that say something in running text.
const PLAIN: [&str; 3] = ["title", "description", "context_summary"];
/// Header fields that hold facts and lists: what stands there is named, never explained.
const FACTS: [&str; 4] = ["state", "boot", "proofs", "measurements"];

/// A word of a sentence.
#[derive(Clone, Debug)]
pub(super) struct Token {
    /// As it is compared.
    pub stem: String,
    /// Without case and marks.
    pub word: String,
    /// Whether it is written as code.
    pub is_code: bool,
    /// Whether it is written with a capital.
    pub is_capital: bool,
    /// Whether a comma or the like comes before it.
    pub after_pause: bool,
    /// Whether a colon, a dash or a bracket comes before it: what follows says more about what was said.
    pub after_colon: bool,
    /// Whether it is a part of a longer name, such as a path or an option.
    pub is_part: bool,
    /// Whether it goes on in a name that began before it.
    pub goes_on: bool,
}

/// A sentence.
#[derive(Clone, Debug)]
pub(super) struct Sentence {
    /// Its bytes, or those of the value it is from.
    pub at: Span,
    /// Its words.
    pub tokens: Vec<Token>,
    /// The statement it belongs to.
    pub statement: usize,
    /// Whether it stands where a cause or a consequence is asked for.
    pub is_reason: bool,
}

/// What sort of statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Running text, or an item.
    Plain,
    /// A row of a table, or an entry of the header: its parts belong together.
    Entry,
    /// An entry about what was tried and was wrong.
    WrongTurn,
    /// An entry about what was decided.
    Decision,
    /// Code, a heading, or facts that a program wrote: things are named there.
    Facts,
}

/// A statement.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// What sort.
    pub sort: Sort,
    /// Its bytes.
    pub at: Span,
    /// Its sentences.
    pub(super) sentences: Range<usize>,
    /// The sentence that is the heading above it.
    pub heading: Option<usize>,
}

/// Everything a document says.
#[derive(Debug, Default)]
pub(super) struct Text {
    pub(super) sentences: Vec<Sentence>,
    pub(super) statements: Vec<Statement>,
    /// Which sentences have a word.
    having: HashMap<String, Vec<usize>>,
}

impl Text {
    /// Reads a document.
    pub(super) fn of(handoff: &Handoff<'_>) -> Self {
        let mut text = Self::default();
        text.header(handoff);
        text.body(handoff);
        for (number, sentence) in text.sentences.iter().enumerate() {
            for token in &sentence.tokens {
                let having = text.having.entry(token.stem.clone()).or_default();
                if having.last() != Some(&number) {
                    having.push(number);
                }
            }
        }
        text
    }

    /// The sentences that have a word.
    pub(super) fn having(&self, stem: &str) -> &[usize] {
        self.having.get(stem).map(Vec::as_slice).unwrap_or_default()
    }

    /// The statement of a sentence.
    pub(super) fn statement_of(&self, sentence: usize) -> &Statement {
        &self.statements[self.sentences[sentence].statement]
    }

    fn header(&mut self, handoff: &Handoff<'_>) {
        for one in handoff.wrong_turns() {
            let reasons = [one.why_wrong, one.replaced_by];
            self.entry(Sort::WrongTurn, one.at, one.tried, &[], reasons);
        }
        for one in handoff.decisions() {
            let reasons = [one.rationale, None];
            self.entry(Sort::Decision, one.at, one.decision, &one.alternatives, reasons);
        }
        for one in handoff.questions() {
            self.entry(Sort::Entry, one.at, one.question, &[], [one.context, one.answer]);
        }
        for one in handoff.deviations() {
            let Some(at) = one.deviation.map(|text| text.at) else { continue };
            self.entry(Sort::Entry, at, one.deviation, &[], [one.reason, one.impact]);
        }
        for one in handoff.assumptions() {
            self.entry(Sort::Entry, one.at, one.assumption, &[], [None, None]);
        }
        for landmine in handoff.landmines() {
            self.entry(Sort::Plain, landmine.at, Some(landmine), &[], [None, None]);
        }
        let Some(header) = handoff.header() else { return };
        for said in PLAIN.iter().filter_map(|name| header.text(name)) {
            self.entry(Sort::Plain, said.at, Some(said), &[], [None, None]);
        }
        for node in FACTS.iter().filter_map(|name| header.get(name)) {
            self.facts(node);
        }
    }

    fn entry(
        &mut self,
        sort: Sort,
        at: Span,
        subject: Option<At<&str>>,
        besides: &[At<&str>],
        reasons: [Option<At<&str>>; 2],
    ) {
        self.open(sort, at, None);
        for said in subject.iter().chain(besides) {
            self.say(said.value, said.at, false);
        }
        for reason in reasons.iter().flatten() {
            self.say(reason.value, reason.at, true);
        }
        self.close();
    }

    fn facts(&mut self, node: &Node) {
        match &node.value {
            Value::Text(_) => {
                let said = node.text();
                self.entry(Sort::Facts, node.at, said, &[], [None, None]);
            }
            Value::List(items) => items.iter().for_each(|item| self.facts(&item.node)),
            Value::Map(entries) => entries.iter().for_each(|entry| self.facts(&entry.node)),
            Value::Null | Value::Unreadable(_) => {}
        }
    }

    fn body(&mut self, handoff: &Handoff<'_>) {
        let document = handoff.document();
        let text = document.text();
        let sections = document.sections();
        let mut headings: Vec<Option<usize>> = Vec::new();
        for section in sections {
            self.open(Sort::Facts, section.title.at, None);
            headings.push(Some(self.sentences.len()));
            self.say(&section.title.value, section.title.at, tells_why(section));
            if self.statements.last().is_some_and(|one| one.sentences.is_empty()) {
                headings.pop();
                headings.push(None);
            }
            self.close();
        }
        for block in document.blocks() {
            let above = sections.iter().position(|section| section.own.contains(block.at));
            let heading = above.and_then(|above| headings[above]);
            match block.kind {
                BlockKind::Table => self.table(text, block.at, heading),
                BlockKind::Paragraph | BlockKind::Item => {
                    self.open(Sort::Plain, block.at, heading);
                    self.say_at(block.at.of(text), block.at.start);
                    self.close();
                }
                BlockKind::Code => {
                    self.open(Sort::Facts, block.at, heading);
                    for (from, line) in lines(block.at.of(text)) {
                        let at = Span::new(from, from + line.len()).shifted(block.at.start);
                        self.push(line, at, false, true);
                    }
                    self.close();
                }
                BlockKind::Html => {}
            }
        }
    }

    /// Each row of a table is a statement; a column may ask for the cause.
    fn table(&mut self, text: &str, table: Span, heading: Option<usize>) {
        let mut asks: Vec<bool> = Vec::new();
        for (number, (from, line)) in lines(table.of(text)).enumerate() {
            let at = Span::new(from, from + line.len()).shifted(table.start);
            let row = line.trim().trim_matches('|');
            if row.chars().all(|c| matches!(c, '-' | ':' | '|' | ' ')) {
                continue;
            }
            if number == 0 {
                asks = row.split('|').map(asks_why).collect();
                continue;
            }
            self.open(Sort::Entry, at, heading);
            for (column, cell) in row.split('|').enumerate() {
                let is_reason = asks.get(column).copied().unwrap_or(false);
                self.say(cell, at, is_reason);
            }
            self.close();
        }
    }

    fn open(&mut self, sort: Sort, at: Span, heading: Option<usize>) {
        let next = self.sentences.len();
        self.statements.push(Statement { sort, at, sentences: next..next, heading });
    }

    fn close(&mut self) {
        if self.statements.last().is_some_and(|one| one.sentences.is_empty()) {
            self.statements.pop();
        }
    }

    /// A value of the header: its sentences all stand where the value stands.
    fn say(&mut self, said: &str, at: Span, is_reason: bool) {
        for (from, to, is_code) in sentences(said) {
            self.push(&said[from..to], at, is_reason, is_code);
        }
    }

    fn say_at(&mut self, said: &str, start: usize) {
        for (from, to, is_code) in sentences(said) {
            self.push(&said[from..to], Span::new(from, to).shifted(start), false, is_code);
        }
    }

    fn push(&mut self, said: &str, at: Span, is_reason: bool, is_code: bool) {
        let tokens = tokens(said, is_code);
        let Some(last) = self.statements.len().checked_sub(1) else { return };
        if !tokens.is_empty() {
            self.sentences.push(Sentence { at, tokens, statement: last, is_reason });
            self.statements[last].sentences.end = self.sentences.len();
        }
    }
}

/// Whether what stands below a heading is a cause by the heading's word.
fn tells_why(section: &Section) -> bool {
    matches!(section.meaning, Some(Meaning::RootCauses | Meaning::WrongTurns))
        || asks_why(&section.title.value)
}

fn asks_why(title: &str) -> bool {
    const ASKING: [&str; 9] = [
        "why",
        "cause",
        "reason",
        "rationale",
        "consequence",
        "lesson",
        "because",
        "fix",
        "effect",
    ];
    let asking: Vec<String> = ASKING.iter().map(|word| stem(word)).collect();
    search::words(title).iter().any(|word| asking.contains(&stem(&word.text)))
}

/// The words of a sentence, with what can be seen of them.
pub(super) fn tokens(said: &str, is_code: bool) -> Vec<Token> {
    let token = |word: search::Word| {
        let before = &said[..word.at.start];
        let ticks = before.bytes().filter(|byte| *byte == b'`').count();
        let pause = before.trim_end().ends_with([',', ';', ':', '—', '–', '(']);
        // Marks of code may stand between: `failed: `lazy_html` is missing`.
        let colon = before.trim_end_matches(['`', '*', ' ']).ends_with([':', '—', '–', '(']);
        let goes_on = is_link(before.chars().rev());
        let is_option = before.ends_with("--");
        Token {
            stem: stem(&word.text),
            is_code: is_code || ticks % 2 == 1,
            is_capital: word.at.of(said).starts_with(char::is_uppercase),
            after_pause: pause,
            after_colon: colon,
            is_part: is_option || goes_on || is_link(said[word.at.end..].chars()),
            goes_on,
            word: word.text,
        }
    };
    search::words(said).into_iter().map(token).collect()
}

/// Whether the next letters link a word to another one, as in `src/a_b.rs`.
fn is_link(letters: impl Iterator<Item = char>) -> bool {
    let is_sign = |c: &char| matches!(c, '/' | '.' | '_' | ':' | '\\' | '@' | '=');
    let mut letters = letters.peekable();
    let mut signs = 0;
    while letters.next_if(is_sign).is_some() {
        signs += 1;
    }
    signs > 0 && letters.next().is_some_and(char::is_alphanumeric)
}

/// Lines with where they begin.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = 0;
    text.split_inclusive('\n').map(move |line| {
        let from = next;
        next += line.len();
        (from, line.trim_end())
    })
}

/// Where sentences begin and end, and whether they are code. An item, a blank line and a fence end
/// one too.
fn sentences(text: &str) -> Vec<(usize, usize, bool)> {
    let mut found = Vec::new();
    let (mut from, mut is_fenced) = (0, false);
    for (start, line) in lines(text) {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        if is_fence || is_fenced || begins(line) {
            found.push((from, start, is_fenced));
            from = start;
        }
        is_fenced ^= is_fence;
        if !is_fenced && !is_fence {
            for end in ends(line) {
                found.push((from, start + end, false));
                from = start + end;
            }
        }
    }
    found.push((from, text.len(), is_fenced));
    found
}

/// Whether a line begins something new.
fn begins(line: &str) -> bool {
    let line = line.trim_start();
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['.', ')']);
    line.is_empty() || line.starts_with(['-', '*', '+', '>']) || numbered
}

/// Where sentences end in a line: behind a sign that is followed by something other than a small
/// letter, outside code.
fn ends(line: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut is_code = false;
    let mut letters = line.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        is_code ^= letter == '`';
        let after = at + letter.len_utf8();
        let next = line[after..].trim_start().chars().next();
        let spaced = letters.peek().is_none_or(|(_, next)| next.is_whitespace());
        let is_end = match letter {
            '.' | '!' | '?' => spaced && next.is_none_or(|next| !next.is_lowercase()),
            '。' | '！' | '？' => true,
            _ => false,
        };
        if is_end && !is_code {
            found.push(after);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<&str> {
        let all = sentences(text).into_iter().map(|(from, to, _)| text[from..to].trim());
        all.filter(|sentence| !sentence.is_empty()).collect()
    }

    #[test]
    fn sentences_end_where_people_end_them() {
        let text = "It broke, e.g. here. `a. B` went on\nover the line. 2 left";
        assert_eq!(
            split(text),
            ["It broke, e.g. here.", "`a. B` went on\nover the line.", "2 left"]
        );
        assert_eq!(split("- one\n  - two\n    more\n"), ["- one", "- two\n    more"]);
        assert_eq!(split("- one\n  ```\n  a. B\n  ```\n"), ["- one", "```", "a. B", "```"]);
    }

    #[test]
    fn a_word_is_found_in_its_other_forms() {
        for (one, other) in [("pages", "page"), ("purging", "purged"), ("dropped", "drop")] {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
        assert_ne!(stem("cache"), stem("cash"));
        assert_eq!(stem("bus"), "bus");
    }
}
