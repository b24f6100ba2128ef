//! Scans text for secrets: one pass finds prefixes that may start a secret, then the grammar of
//! each prefix decides.

use super::hidden::{SEQUENCE_BYTES_MAX, StrippedText, hidden_places};
use super::hit::{AFTER_BYTES_MAX, BEFORE_BYTES_MAX, SecretCandidate, TAIL_BYTES_MAX};
use super::name::SecretNames;
use super::prefix_matcher::PrefixMatcher;
use super::table::{RuleTable, SecretRule};
use super::value::ValueChecker;
use super::{Redaction, assignment, curl, key_block, key_tail, lines, manifest, prose, url};
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
    /// The end line of a private key whose first line may be missing.
    KeyTail(&'static str),
    Manifest,
    Curl,
    Url(&'static str),
    Name,
}

impl Trigger {
    /// How far the rules of this trigger look back.
    fn before_bytes_max(self) -> usize {
        match self {
            Self::KeyTail(_) | Self::Manifest => TAIL_BYTES_MAX,
            Self::Rule(_) | Self::KeyBlock(_) | Self::Curl | Self::Url(_) | Self::Name => {
                BEFORE_BYTES_MAX
            }
        }
    }
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
        let mut roots: Vec<String> = roots.iter().flat_map(|root| spellings(root)).collect();
        roots.dedup();
        let of_rules = rules.iter().enumerate();
        let of_rules = of_rules.map(|(index, rule)| (&*rule.begins, Trigger::Rule(index)));
        let of_blocks = key_block::PREFIXES.map(|begins| (begins, Trigger::KeyBlock(begins)));
        let of_urls = url::PREFIXES.map(|begins| (begins, Trigger::Url(begins)));
        let of_names = roots.iter().map(|root| (root.as_str(), Trigger::Name));
        let of_tails = [(key_tail::PREFIX, Trigger::KeyTail(key_tail::PREFIX))];
        let of_manifests = [(manifest::PREFIX, Trigger::Manifest)];
        let all = of_rules.chain(of_blocks).chain(of_tails).chain(of_manifests);
        let of_commands = [(curl::PREFIX, Trigger::Curl)];
        let all = all.chain(of_commands).chain(of_urls).chain(of_names);
        let (begins, triggers): (Vec<&str>, Vec<Trigger>) = all.unzip();
        let beginnings = PrefixMatcher::new(begins.into_iter());
        Self { rules, names, values, beginnings, triggers }
    }

    /// Finds all secrets whose prefix starts in `range`: in the text as it is, and where it contains
    /// terminal sequences or invisible characters, also in the text without them.
    pub(super) fn find(&self, text: &[u8], range: Range<usize>) -> Vec<Redaction> {
        let to = text.len().min(range.end + self.beginnings.longest_prefix());
        let mut found = Vec::new();
        self.beginnings.for_each_match(&text[range.start..to], |at, place| {
            let at = range.start + at;
            if at < range.end {
                let trigger = self.triggers[place];
                let hit = SecretCandidate::new(text, at, trigger.before_bytes_max());
                found.extend(self.check(hit, trigger).into_iter().map(|(kind, range)| {
                    let base = at - hit.at;
                    let range = range.start + base..range.end + base;
                    redaction(text, kind, trim_hidden(text, range))
                }));
            }
        });
        self.for_each_split(text, range, |visible, hit, base, trigger| {
            found.extend(self.check(hit, trigger).into_iter().map(|(kind, range)| {
                let range = range.start + base..range.end + base;
                redaction(text, kind, visible.original_range(&range))
            }));
        });
        found
    }

    /// Calls `met` for each prefix in `range` near which the text contains something hidden, with
    /// the candidate in the visible text and the offset of its text there. A candidate sees the
    /// same bytes of the original as it would without anything hidden.
    fn for_each_split(
        &self,
        text: &[u8],
        range: Range<usize>,
        mut met: impl FnMut(&StrippedText, SecretCandidate<'_>, usize, Trigger),
    ) {
        let places = hidden_places(text, around(text, &range, 0));
        let (Some(first), Some(last)) = (places.first(), places.last()) else { return };
        let start = range.start.max(first.saturating_sub(AFTER_BYTES_MAX));
        let range = start..range.end.min(last + TAIL_BYTES_MAX + 1).max(start);
        let visible = StrippedText::new(text, around(text, &range, SEQUENCE_BYTES_MAX));
        self.beginnings.for_each_match(&visible.text, |at, place| {
            let original = visible.original_offset(at);
            let trigger = self.triggers[place];
            let seen = original.saturating_sub(trigger.before_bytes_max())
                ..text.len().min(original + AFTER_BYTES_MAX);
            let next = places.partition_point(|place| *place < seen.start);
            let is_split = places.get(next).is_some_and(|place| *place < seen.end);
            if !range.contains(&original) || !is_split {
                return;
            }
            let base = visible.visible_offset(seen.start);
            let end = visible.visible_offset(seen.end);
            let is_whole = seen.end == text.len() || at + self.beginnings.longest_prefix() <= end;
            if is_whole {
                let hit = SecretCandidate { text: &visible.text[base..end], at: at - base };
                met(&visible, hit, base, trigger);
            }
        });
    }

    /// The first prefix in `range` that has to wait for more text: a private key whose end is
    /// missing, or any prefix in lines that may continue. `text` must end with a complete line.
    pub(super) fn first_pending(&self, text: &[u8], range: Range<usize>) -> Option<usize> {
        let mut first: Option<usize> = None;
        let mut meet = |at: usize| first = Some(first.map_or(at, |first| first.min(at)));
        let from = lines::pending_from(text).unwrap_or(text.len());
        held_from(text).into_iter().for_each(&mut meet);
        self.beginnings.for_each_match(&text[range.clone()], |at, place| {
            let at = range.start + at;
            let trigger = self.triggers[place];
            let hit = SecretCandidate::new(text, at, trigger.before_bytes_max());
            if at >= from || is_open(hit, trigger) {
                meet(at);
            }
        });
        let mut from = None;
        self.for_each_split(text, range, |visible, hit, base, trigger| {
            let from = *from.get_or_insert_with(|| {
                lines::pending_from(&visible.text).unwrap_or(visible.text.len())
            });
            if base + hit.at >= from || is_open(hit, trigger) {
                meet(visible.original_offset(base + hit.at));
            }
        });
        first
    }

    /// The kinds and the ranges of the secrets at this candidate.
    fn check(
        &self,
        hit: SecretCandidate<'_>,
        trigger: Trigger,
    ) -> Vec<(Cow<'static, str>, Range<usize>)> {
        let mut found = self.check_one(hit, trigger).map_or(Vec::new(), |found| vec![found]);
        let (kind, values) = match trigger {
            Trigger::Manifest => ("kubernetes-secret", manifest::find(hit, &self.values)),
            Trigger::Curl => ("command-password", curl::find(hit, &self.values)),
            Trigger::Rule(_)
            | Trigger::KeyBlock(_)
            | Trigger::KeyTail(_)
            | Trigger::Url(_)
            | Trigger::Name => ("", Vec::new()),
        };
        found.extend(values.into_iter().map(|range| (Cow::Borrowed(kind), range)));
        found.retain(|(_, range)| !hit.is_in_mark(hit.at) && !hit.is_in_mark(range.start));
        found
    }

    /// The kind and the range of the secret at this candidate, if it has one at most.
    fn check_one(
        &self,
        hit: SecretCandidate<'_>,
        trigger: Trigger,
    ) -> Option<(Cow<'static, str>, Range<usize>)> {
        Some(match trigger {
            Trigger::Rule(index) => {
                let rule = &self.rules[index];
                (rule.kind.clone(), rule.find(hit, &self.values)?)
            }
            Trigger::KeyBlock(begins) => ("private-key".into(), key_block::find(hit, begins)?),
            Trigger::KeyTail(begins) => ("private-key".into(), key_tail::find(hit, begins)?),
            Trigger::Url(begins) => ("url-password".into(), url::find(hit, begins, &self.values)?),
            Trigger::Name => {
                let assigned = assignment::find(hit, &self.names, &self.values);
                let (kind, range) =
                    assigned.or_else(|| prose::find(hit, &self.names, &self.values))?;
                if url::is_in_user_info(hit.text, range.start) {
                    return None;
                }
                (Cow::Borrowed(kind), range)
            }
            Trigger::Curl | Trigger::Manifest => return None,
        })
    }
}

/// What candidates in a range can see, with `more` bytes on both sides.
fn around(text: &[u8], range: &Range<usize>, more: usize) -> Range<usize> {
    let start = range.start.saturating_sub(TAIL_BYTES_MAX + more);
    start..text.len().min(range.end + AFTER_BYTES_MAX + more)
}

/// Whether a private key or a manifest that starts here may still be completed by text to come.
fn is_open(hit: SecretCandidate<'_>, trigger: Trigger) -> bool {
    match trigger {
        Trigger::KeyBlock(begins) => key_block::is_open(hit, begins),
        Trigger::Manifest => manifest::is_open(hit),
        Trigger::KeyTail(_)
        | Trigger::Rule(_)
        | Trigger::Curl
        | Trigger::Url(_)
        | Trigger::Name => false,
    }
}

/// The offset from which lines have to wait, in the text as it is or without what is hidden in it.
fn held_from(text: &[u8]) -> Option<usize> {
    let tail = text.len().saturating_sub(TAIL_BYTES_MAX)..text.len();
    let held = lines::held_from(text);
    if hidden_places(text, tail.clone()).is_empty() {
        return held;
    }
    let visible = StrippedText::new(text, tail);
    let seen = lines::held_from(&visible.text).map(|at| visible.original_offset(at));
    held.into_iter().chain(seen).min()
}

fn redaction(text: &[u8], kind: Cow<'static, str>, range: Range<usize>) -> Redaction {
    Redaction { kind, at: whole_letters(text, range) }
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

/// Removes terminal sequences and invisible characters from both ends of a range, so that the color
/// of a value stays.
fn trim_hidden(text: &[u8], range: Range<usize>) -> Range<usize> {
    if hidden_places(text, range.clone()).is_empty() {
        return range;
    }
    let visible = StrippedText::new(text, range.clone());
    let trimmed = visible.original_range(&(0..visible.text.len()));
    if trimmed.is_empty() { range } else { trimmed }
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
