//! Explanations: sentences that join something to its cause or its consequence, in words of their
//! own, and what they may be about.
//!
//! A program cannot tell whether an explanation is true. It can tell that none is there: nothing
//! joins, nothing is said but names, the session is quoted, the words would fit anything, or the
//! same words are used for everything.

use super::clause::Clauses;
use super::facts::Facts;
use super::statement::{Sentence, Sort, Statement, Text};
use super::words::{Hollow, Joints, SMALL};
use crate::search::is_telling;
use crate::span::Span;
use std::collections::{BTreeSet, HashSet};

/// So many words of its own has an explanation that uses words of the session.
const WORDS_MIN: usize = 3;
/// So many has one that uses none of them.
const WORDS_MIN_UNRELATED: usize = 4;
/// So many words stand behind `because` and the like.
const WORDS_BEHIND_MIN: usize = 2;
/// One explanation is about so many things: what happened, and often what caused it happened too.
const ROOM_MIN: usize = 2;
/// However much it says, it is about no more.
const ROOM_MAX: usize = 3;
/// What is said in so many statements about different things is said about none of them.
const REPEATED_MIN: usize = 3;
/// So much in common, in percent, is the same explanation.
const SAME_PERCENT: usize = 60;
/// In running text one word in so many is a small one.
const SMALL_WORD_EVERY: usize = 8;
/// And a sentence has so many of them; what is written into a field may be shorter.
const SMALL_WORDS_MIN: usize = 2;
/// In running text causes and consequences are not nearer to each other than so many words.
const JOINT_EVERY: usize = 6;
/// Nobody reads more than this.
const EXPLANATIONS_MAX: usize = 2_000;

/// A cause or a consequence that a document tells.
#[derive(Debug)]
pub(super) struct Explanation {
    /// Where it stands.
    pub(super) at: Span,
    /// The sentences that name what it is about; none: it counts only as a repetition.
    pub(super) reach: Vec<usize>,
    /// How many things it can be about.
    pub(super) room: usize,
    statement: usize,
    substance: BTreeSet<String>,
}

/// What is seen of a sentence, word by word.
pub(super) struct Marks {
    /// Whether the word is the session's own.
    pub(super) quoted: Vec<bool>,
    /// Whether the word joins.
    pub(super) joining: Vec<bool>,
    /// Behind which words something was joined, and whether a cause has to follow there.
    pub(super) joints: Vec<(usize, bool)>,
}

impl Marks {
    fn of(sentence: &Sentence, facts: &Facts, joints: &Joints) -> Self {
        let tokens = &sentence.tokens;
        let stems: Vec<String> = tokens.iter().map(|token| token.stem.clone()).collect();
        let quoted = facts.quoted(&stems);
        let mut joining = vec![false; tokens.len()];
        let mut found = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let joint = joints.at(&tokens[at..]).filter(|_| !quoted[at]);
            let length = joint.map_or(1, |(length, _)| length);
            if let Some((length, joint)) = joint {
                joining[at..at + length].fill(true);
                found.push((at + length, joint.is_before));
            }
            at += length;
        }
        Self { quoted, joining, joints: found }
    }

    /// Whether there are more joints than running text has.
    pub(super) fn are_crowded(&self) -> bool {
        self.joints.len() > 1 + self.joining.len() / JOINT_EVERY
    }
}

/// Reads explanations.
pub(super) struct Reader<'a> {
    text: &'a Text,
    facts: &'a Facts,
    hollow: &'a Hollow,
    clauses: Clauses,
    /// The words that name things, sentence by sentence.
    names: &'a [HashSet<String>],
    marks: Vec<Marks>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        text: &'a Text,
        facts: &'a Facts,
        hollow: &'a Hollow,
        names: &'a [HashSet<String>],
    ) -> Self {
        let joints = Joints::new();
        let marks = text.sentences.iter().map(|one| Marks::of(one, facts, &joints)).collect();
        Self { text, facts, hollow, clauses: Clauses::new(), names, marks }
    }

    /// Every explanation of the document, those that are the same together.
    pub(super) fn read(&self) -> Vec<Vec<Explanation>> {
        let mut found = Vec::new();
        for (number, statement) in self.text.statements.iter().enumerate() {
            if statement.sort != Sort::Facts && found.len() < EXPLANATIONS_MAX {
                self.in_statement(number, statement, &mut found);
            }
        }
        let mut groups = alike(found);
        groups.retain(|group| {
            let statements: HashSet<usize> = group.iter().map(|one| one.statement).collect();
            statements.len() < REPEATED_MIN
        });
        groups
    }

    fn in_statement(&self, number: usize, statement: &Statement, found: &mut Vec<Explanation>) {
        let all = statement.sentences.clone();
        let is_below_why = statement.heading.is_some_and(|above| self.sentence(above).is_reason);
        let reasons: Vec<usize> =
            all.clone().filter(|one| is_below_why || self.sentence(*one).is_reason).collect();
        let before = found.len();
        if !reasons.is_empty() {
            let reach = self.reach(statement, all.clone().collect());
            found.extend(self.explanation(number, statement.at, &reasons, reach));
        }
        for one in all.clone() {
            if let Some(said) = self.joined(one, statement) {
                let reach = self.reach(statement, near(one, statement));
                found.extend(self.explanation(number, self.sentence(one).at, &said, reach));
            }
        }
        if found.len() == before {
            let short = |one| self.short(number, one, reasons.contains(&one), statement);
            found.extend(all.filter_map(short));
        }
    }

    /// A cause in few words: it is about one thing.
    fn short(
        &self,
        number: usize,
        one: usize,
        is_asked_for: bool,
        statement: &Statement,
    ) -> Option<Explanation> {
        let (sentence, marks) = (self.sentence(one), &self.marks[one]);
        let near =
            if is_asked_for { statement.sentences.clone().collect() } else { near(one, statement) };
        let reach = self.reach(statement, near);
        let named: HashSet<&str> =
            reach.iter().flat_map(|one| &self.names[*one]).map(String::as_str).collect();
        let own = |stem: &str| !named.contains(stem) && !self.hollow.has(stem);
        let substance = self.clauses.cause(sentence, marks, is_asked_for, own);
        let (at, statement) = (sentence.at, number);
        (!substance.is_empty()).then_some(Explanation { at, reach, room: 1, statement, substance })
    }

    fn sentence(&self, number: usize) -> &Sentence {
        &self.text.sentences[number]
    }

    fn reach(&self, statement: &Statement, mut near: Vec<usize>) -> Vec<usize> {
        near.extend(statement.heading);
        near.sort_unstable();
        near.dedup();
        near.retain(|sentence| !self.names[*sentence].is_empty());
        near
    }

    /// The sentences that tell a cause or a consequence, where a sentence joins one to a thing.
    fn joined(&self, one: usize, statement: &Statement) -> Option<Vec<usize>> {
        let tokens = &self.sentence(one).tokens;
        let found = &self.marks[one].joints;
        if self.marks[one].are_crowded() {
            return None;
        }
        let is_last = one + 1 == statement.sentences.end;
        let is_first = one == statement.sentences.start;
        let joins = |(behind, is_before): &(usize, bool)| {
            let told = self.substance(one, *behind).len();
            match (is_before, *behind == tokens.len()) {
                // `The reason:` and what it is in the next line.
                (true, true) if !is_last => Some(vec![one, one + 1]),
                (true, _) => (told >= WORDS_BEHIND_MIN).then(|| vec![one]),
                (false, _) if is_first => Some(vec![one]),
                (false, _) => Some(vec![one - 1, one]),
            }
        };
        // Where several join, the one that says the most counts.
        found.iter().filter_map(joins).max_by_key(Vec::len)
    }

    /// The words of a sentence from one on that say something and are its own.
    fn substance(&self, sentence: usize, from: usize) -> BTreeSet<&str> {
        let marks = &self.marks[sentence];
        let tokens = self.sentence(sentence).tokens.iter().enumerate().skip(from);
        tokens
            .filter(|(at, _)| !marks.quoted[*at] && !marks.joining[*at])
            .map(|(_, token)| token)
            // A name is one word; numbers and ids tell nothing by themselves.
            .filter(|token| !token.goes_on && !token.word.contains(|c: char| c.is_ascii_digit()))
            .filter(|token| is_telling(&token.word) && !self.hollow.has(&token.stem))
            .map(|token| token.stem.as_str())
            .collect()
    }

    fn explanation(
        &self,
        statement: usize,
        at: Span,
        said: &[usize],
        reach: Vec<usize>,
    ) -> Option<Explanation> {
        let named: HashSet<&str> =
            reach.iter().flat_map(|one| &self.names[*one]).map(String::as_str).collect();
        if !self.is_running_text(said, &named) {
            return None;
        }
        let words = said.iter().flat_map(|one| self.substance(*one, 0));
        let substance: BTreeSet<&str> = words.filter(|word| !named.contains(word)).collect();
        let is_related = substance.iter().any(|word| self.facts.know(word));
        let least = if is_related { WORDS_MIN } else { WORDS_MIN_UNRELATED };
        let room = (substance.len() / least).clamp(ROOM_MIN, ROOM_MAX);
        let enough = substance.len() >= least;
        let substance = substance.into_iter().map(str::to_owned).collect();
        enough.then_some(Explanation { at, reach, room, statement, substance })
    }

    /// Whether small words stand between the others, as they do when somebody says something.
    fn is_running_text(&self, said: &[usize], named: &HashSet<&str>) -> bool {
        let tokens = || {
            let all = said
                .iter()
                .flat_map(|one| self.sentence(*one).tokens.iter().zip(&self.marks[*one].joining));
            let own = all.filter(|(_, is_joining)| !**is_joining).map(|(token, _)| token);
            own.filter(|token| !token.is_code && !named.contains(token.stem.as_str()))
        };
        let small = tokens().filter(|token| !token.is_part && is_small(&token.word)).count();
        let is_asked_for = said.iter().all(|one| self.sentence(*one).is_reason);
        let least = if is_asked_for { 1 } else { SMALL_WORDS_MIN };
        small >= least && small * SMALL_WORD_EVERY >= tokens().count()
    }
}

/// The sentences that an explanation in one of them may be about.
fn near(one: usize, statement: &Statement) -> Vec<usize> {
    match statement.sort {
        Sort::Plain => {
            let before = one.saturating_sub(1).max(statement.sentences.start);
            vec![statement.sentences.start, before, one]
        }
        Sort::Entry | Sort::WrongTurn | Sort::Decision | Sort::Facts => {
            statement.sentences.clone().collect()
        }
    }
}

pub(super) fn is_small(word: &str) -> bool {
    const SHORT: usize = 3;
    let is_short = word.chars().count() <= SHORT && word.chars().all(char::is_alphabetic);
    is_short || SMALL.contains(&format!(" {word} "))
}

/// Puts together what is said in nearly the same words.
fn alike(explanations: Vec<Explanation>) -> Vec<Vec<Explanation>> {
    let mut groups: Vec<Vec<Explanation>> = Vec::new();
    for one in explanations {
        let is_like = |group: &Vec<Explanation>| {
            group.iter().any(|other| are_alike(&one.substance, &other.substance))
        };
        let (like, mut others): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_like);
        others.push(like.into_iter().flatten().chain([one]).collect());
        groups = others;
    }
    groups
}

fn are_alike(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let (less, more) = (one.len().min(other.len()), one.len().max(other.len()));
    if less * 100 < more * SAME_PERCENT {
        return false;
    }
    let shared = one.intersection(other).count();
    shared * 100 >= (one.len() + other.len() - shared) * SAME_PERCENT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_small_words_are_known_by_their_blanks() {
        for word in SMALL.split_whitespace() {
            assert!(is_small(word), "{word}");
        }
    }
}
