//! Looking for secrets: one pass over the text for letters that may begin one, then the grammar of
//! whatever they may begin.

use super::hit::Hit;
use super::name::Names;
use super::table::{Rule, Table};
use super::value::Values;
use super::{Redaction, assignment, key_block, url};
use crate::span::Span;
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

/// Building the faster automaton pays for itself on texts as long as this.
const LONG_TEXT_BYTES_MIN: usize = 256 << 10;

/// A letter of UTF-8 has no more bytes.
pub(super) const LETTER_BYTES_MAX: usize = 4;

/// What letters may begin.
#[derive(Clone, Copy, Debug)]
enum Trigger {
    Rule(usize),
    KeyBlock(&'static str),
    Url(&'static str),
    Name,
}

/// The rules, ready to be looked for.
#[derive(Debug)]
pub(super) struct Scanner {
    rules: Vec<Rule>,
    names: Names,
    values: Values,
    begins: Vec<String>,
    triggers: Vec<Trigger>,
    small: OnceLock<AhoCorasick>,
    fast: OnceLock<AhoCorasick>,
}

impl Scanner {
    /// The rules that ship with midstride, and others.
    pub(super) fn new(others: Vec<Rule>) -> Self {
        let mut table = Table::shipped();
        let (names, values) = (Names::new(&table), Values::new(&table));
        let roots = table.words("roots");
        let rules: Vec<Rule> = table.rules.drain(..).chain(others).collect();
        let of_rules = rules.iter().enumerate();
        let of_rules =
            of_rules.map(|(index, rule)| (rule.begins.to_string(), Trigger::Rule(index)));
        let of_blocks =
            key_block::BEGINS.map(|begins| (begins.to_owned(), Trigger::KeyBlock(begins)));
        let of_urls = url::BEGINS.map(|begins| (begins.to_owned(), Trigger::Url(begins)));
        let of_names =
            roots.iter().flat_map(|root| spellings(root)).map(|word| (word, Trigger::Name));
        let all = of_rules.chain(of_blocks).chain(of_urls).chain(of_names);
        let (begins, triggers) = all.unzip();
        let (small, fast) = (OnceLock::new(), OnceLock::new());
        Self { rules, names, values, begins, triggers, small, fast }
    }

    fn automaton(&self, length: usize) -> &AhoCorasick {
        let build = |kind| {
            let mut builder = AhoCorasick::builder();
            let builder = builder.match_kind(MatchKind::Standard).kind(Some(kind));
            builder.build(&self.begins).expect("a few hundred short words")
        };
        if length < LONG_TEXT_BYTES_MIN {
            self.small.get_or_init(|| build(AhoCorasickKind::NoncontiguousNFA))
        } else {
            self.fast.get_or_init(|| build(AhoCorasickKind::DFA))
        }
    }

    /// The longest letters that may begin a secret.
    pub(super) fn begins_bytes_max(&self) -> usize {
        self.begins.iter().map(String::len).max().unwrap_or_default()
    }

    /// Everything that looks like a secret and whose letters begin in a range of the text.
    pub(super) fn find(&self, text: &[u8], range: Range<usize>) -> Vec<Redaction> {
        let to = text.len().min(range.end + self.begins_bytes_max());
        let part = &text[range.start..to];
        let mut found = Vec::new();
        for met in self.automaton(part.len()).find_overlapping_iter(part) {
            let at = range.start + met.start();
            if at < range.end {
                found.extend(self.judge(text, at, self.triggers[met.pattern().as_usize()]));
            }
        }
        found
    }

    fn judge(&self, text: &[u8], at: usize, trigger: Trigger) -> Option<Redaction> {
        let hit = Hit::new(text, at);
        let (kind, range) = match trigger {
            Trigger::Rule(index) => {
                let rule = &self.rules[index];
                (rule.kind.clone(), rule.find(hit, &self.values)?)
            }
            Trigger::KeyBlock(begins) => ("private-key".into(), key_block::find(hit, begins)?),
            Trigger::Url(begins) => ("url-password".into(), url::find(hit, begins, &self.values)?),
            Trigger::Name => {
                let (kind, range) = assignment::find(hit, &self.names, &self.values)?;
                (Cow::Borrowed(kind), range)
            }
        };
        if hit.is_in_mark() {
            return None;
        }
        let base = at - hit.at;
        let at = whole_letters(text, range.start + base..range.end + base);
        Some(Redaction { kind, at })
    }
}

/// A value that was cut for its length does not end inside a letter.
fn whole_letters(text: &[u8], range: Range<usize>) -> Span {
    let goes_on = |byte: &&u8| **byte & 0xc0 == 0x80;
    if text[range.clone()].last().is_none_or(u8::is_ascii) {
        return Span::new(range.start, range.end);
    }
    let behind = text[range.end..].iter().take(LETTER_BYTES_MAX - 1).take_while(goes_on);
    Span::new(range.start, range.end + behind.count())
}

/// As names are written: `token`, `Token`, `TOKEN`.
fn spellings(root: &str) -> [String; 3] {
    let shouted = root.to_ascii_uppercase();
    let title = format!("{}{}", &shouted[..1], &root[1..]);
    [root.to_owned(), title, shouted]
}

/// What a value is called that several rules recognise: a rule of a provider knows best.
fn rank(kind: &str) -> u8 {
    match kind {
        "high-entropy" => 4,
        "secret" => 3,
        "password" => 2,
        "api-key" | "url-password" | "bearer-token" | "authorization" => 1,
        _ => 0,
    }
}

/// Orders what was found: by place, and at one place by who knows best.
pub(super) fn sort(found: &mut [Redaction]) {
    found.sort_by(|one, other| {
        let order = |found: &Redaction| (found.at.start, rank(&found.kind));
        order(one).cmp(&order(other)).then(other.at.end.cmp(&one.at.end))
    });
}

/// Joins what overlaps, so that nothing of either is left.
pub(super) fn join(mut found: Vec<Redaction>) -> Vec<Redaction> {
    sort(&mut found);
    let mut joined: Vec<Redaction> = Vec::new();
    for next in found {
        match joined.last_mut().filter(|last| next.at.start < last.at.end) {
            Some(last) => last.at.end = last.at.end.max(next.at.end),
            None => joined.push(next),
        }
    }
    joined
}
