//! Scans text for secrets: one pass finds prefixes that may start a secret, then the grammar of
//! each prefix decides.

use super::hit::SecretCandidate;
use super::name::SecretNames;
use super::prefix_matcher::PrefixMatcher;
use super::table::{RuleTable, SecretRule};
use super::value::ValueChecker;
use super::{Redaction, assignment, key_block, prose, url};
use crate::text::span::Span;
use std::borrow::Cow;
use std::ops::Range;

/// The maximum number of bytes of a UTF-8 character.
pub(super) const LETTER_BYTES_MAX: usize = 4;

/// What a prefix may start.
#[derive(Clone, Copy, Debug)]
enum Trigger {
    Rule(usize),
    KeyBlock(&'static str),
    Url(&'static str),
    Name,
}

/// All rules, prepared for scanning.
#[derive(Debug)]
pub(super) struct Scanner {
    rules: Vec<SecretRule>,
    names: SecretNames,
    values: ValueChecker,
    beginnings: PrefixMatcher,
    triggers: Vec<Trigger>,
}

impl Scanner {
    /// Creates a scanner with the shipped rules and `others`.
    pub(super) fn new(others: Vec<SecretRule>) -> Self {
        let mut table = RuleTable::shipped();
        let (names, values) =
            (SecretNames::new(&table), ValueChecker::new(|list| table.words(list)));
        let roots = table.words("roots");
        let rules: Vec<SecretRule> = table.rules.drain(..).chain(others).collect();
        let roots: Vec<String> = roots.iter().flat_map(|root| spellings(root)).collect();
        let of_rules = rules.iter().enumerate();
        let of_rules = of_rules.map(|(index, rule)| (&*rule.begins, Trigger::Rule(index)));
        let of_blocks = key_block::PREFIXES.map(|begins| (begins, Trigger::KeyBlock(begins)));
        let of_urls = url::PREFIXES.map(|begins| (begins, Trigger::Url(begins)));
        let of_names = roots.iter().map(|root| (root.as_str(), Trigger::Name));
        let all = of_rules.chain(of_blocks).chain(of_urls).chain(of_names);
        let (begins, triggers): (Vec<&str>, Vec<Trigger>) = all.unzip();
        let beginnings = PrefixMatcher::new(begins.into_iter());
        Self { rules, names, values, beginnings, triggers }
    }

    /// Finds all secrets whose prefix starts in `range`.
    pub(super) fn find(&self, text: &[u8], range: Range<usize>) -> Vec<Redaction> {
        let to = text.len().min(range.end + self.beginnings.longest_prefix());
        let mut found = Vec::new();
        self.beginnings.for_each_match(&text[range.start..to], |at, place| {
            let at = range.start + at;
            if at < range.end {
                found.extend(self.check(text, at, self.triggers[place]));
            }
        });
        found
    }

    /// The first prefix in `range` that has to wait for more text: a private key whose end is
    /// missing, or any prefix at or after `from`.
    pub(super) fn first_pending(
        &self,
        text: &[u8],
        range: Range<usize>,
        from: usize,
    ) -> Option<usize> {
        let mut first: Option<usize> = None;
        self.beginnings.for_each_match(&text[range.clone()], |at, place| {
            let at = range.start + at;
            let open = match self.triggers[place] {
                Trigger::KeyBlock(begins) => {
                    key_block::is_open(SecretCandidate::new(text, at), begins)
                }
                Trigger::Rule(_) | Trigger::Url(_) | Trigger::Name => false,
            };
            if first.is_none() && (at >= from || open) {
                first = Some(at);
            }
        });
        first
    }

    fn check(&self, text: &[u8], at: usize, trigger: Trigger) -> Option<Redaction> {
        let hit = SecretCandidate::new(text, at);
        let (kind, range) = match trigger {
            Trigger::Rule(index) => {
                let rule = &self.rules[index];
                (rule.kind.clone(), rule.find(hit, &self.values)?)
            }
            Trigger::KeyBlock(begins) => ("private-key".into(), key_block::find(hit, begins)?),
            Trigger::Url(begins) => ("url-password".into(), url::find(hit, begins, &self.values)?),
            Trigger::Name => {
                let assigned = assignment::find(hit, &self.names, &self.values);
                let (kind, range) =
                    assigned.or_else(|| prose::find(hit, &self.names, &self.values))?;
                (Cow::Borrowed(kind), range)
            }
        };
        if hit.is_in_mark(hit.at) || hit.is_in_mark(range.start) {
            return None;
        }
        let base = at - hit.at;
        let at = whole_letters(text, range.start + base..range.end + base);
        Some(Redaction { kind, at })
    }
}

/// Extends a range to the end of a UTF-8 character. A value truncated at its maximum length may end
/// inside one.
fn whole_letters(text: &[u8], range: Range<usize>) -> Span {
    let continues = |byte: &&u8| **byte & 0xc0 == 0x80;
    if text[range.clone()].last().is_none_or(u8::is_ascii) {
        return Span::new(range.start, range.end);
    }
    let behind = text[range.end..].iter().take(LETTER_BYTES_MAX - 1).take_while(continues);
    Span::new(range.start, range.end + behind.count())
}

/// The spellings of a word in names: `token`, `Token`, `TOKEN`.
fn spellings(root: &str) -> [String; 3] {
    let upper = root.to_ascii_uppercase();
    let title = format!("{}{}", &upper[..1], &root[1..]);
    [root.to_owned(), title, upper]
}

/// The rank of a kind when several rules match one value. The lowest rank wins: provider rules are
/// the most specific.
fn rank(kind: &str) -> u8 {
    match kind {
        "high-entropy" => 4,
        "secret" => 3,
        "password" => 2,
        "api-key" | "url-password" | "bearer-token" | "authorization" => 1,
        _ => 0,
    }
}

/// Sorts by position, then by how specific the rule is.
pub(super) fn sort_redactions(found: &mut [Redaction]) {
    found.sort_by(|one, other| {
        let order = |found: &Redaction| (found.at.start, rank(&found.kind));
        order(one).cmp(&order(other)).then(other.at.end.cmp(&one.at.end))
    });
}

/// Merges overlapping redactions, so that no part of either secret remains.
pub(super) fn merge_overlapping(mut found: Vec<Redaction>) -> Vec<Redaction> {
    sort_redactions(&mut found);
    let mut joined: Vec<Redaction> = Vec::new();
    for next in found {
        match joined.last_mut().filter(|last| next.at.start < last.at.end) {
            Some(last) => last.at.end = last.at.end.max(next.at.end),
            None => joined.push(next),
        }
    }
    joined
}
