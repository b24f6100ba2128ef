//! Causes in few words: `failed: lazy_html was missing`, `because the linker was absent`.
//!
//! Counting words does not tell them from `failed: it failed`. What does: behind the joint stands a
//! thing of its own, neither the name of what happened nor something that any failure has, and it is
//! said of that thing how it is or that it is not there.

use super::explanation::{Marks, is_small};
use super::statement::{Sentence, Token};
use super::words::{ANYTHING, FAILING, IS, LACKS, TAKEN_BACK, stem};
use crate::search::is_telling;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

/// Who writes more has room for a whole explanation.
const WORDS_MAX: usize = 16;
/// `no such linker`: so near to a thing stands what says that it is not there.
const BESIDE_MAX: usize = 2;

/// Reads causes in few words.
pub(super) struct Clauses {
    /// What any failure has.
    anything: HashSet<String>,
    /// Behind one of these a colon joins.
    went_wrong: HashSet<String>,
}

impl Clauses {
    pub(super) fn new() -> Self {
        let went_wrong = FAILING.iter().chain(TAKEN_BACK).map(|word| stem(word));
        let anything = ANYTHING.split_whitespace().chain(FAILING.iter().copied()).map(stem);
        Self { anything: anything.collect(), went_wrong: went_wrong.collect() }
    }

    /// The things that a sentence gives as a cause or a consequence; none where it gives none.
    pub(super) fn cause(
        &self,
        sentence: &Sentence,
        marks: &Marks,
        is_asked_for: bool,
        own: impl Fn(&str) -> bool,
    ) -> BTreeSet<String> {
        if marks.are_crowded() || sentence.tokens.len() > WORDS_MAX {
            return BTreeSet::new();
        }
        let is_thing = |at: &usize| {
            let token = &sentence.tokens[*at];
            !marks.quoted[*at] && !marks.joining[*at] && own(&token.stem) && self.is_thing(token)
        };
        let mut told = BTreeSet::new();
        for clause in self.clauses(&sentence.tokens, marks, is_asked_for) {
            let said = &sentence.tokens[clause.clone()];
            let things = clause.clone().filter(is_thing);
            let things = things.filter(|at| is_said_of(said, at - clause.start));
            told.extend(things.map(|at| sentence.tokens[at].stem.clone()));
        }
        told
    }

    /// The parts of a sentence that may tell a cause or a consequence.
    fn clauses(&self, tokens: &[Token], marks: &Marks, is_asked_for: bool) -> Vec<Range<usize>> {
        let end = tokens.len();
        let next_joint = |from: usize| (from..end).find(|at| marks.joining[*at]).unwrap_or(end);
        let mut clauses = Vec::new();
        for (behind, is_before) in &marks.joints {
            clauses.push(*behind..next_joint(*behind));
            if !is_before {
                clauses.push(0..next_joint(0));
            }
        }
        clauses.extend(self.behind_colon(tokens).map(|from| from..next_joint(from)));
        if is_asked_for {
            clauses.push(0..end);
        }
        clauses
    }

    /// Where a colon joins: behind something that went wrong.
    fn behind_colon(&self, tokens: &[Token]) -> Option<usize> {
        let wrong = tokens.iter().position(|token| self.went_wrong.contains(&token.stem))?;
        let behind = tokens.iter().skip(wrong + 1).position(|token| token.after_colon)?;
        Some(wrong + 1 + behind)
    }

    /// Whether a word is a thing that not any failure has.
    fn is_thing(&self, token: &Token) -> bool {
        let is_name = token.is_code || token.is_part;
        let is_plain = !token.goes_on && !token.word.contains(|c: char| c.is_ascii_digit());
        is_plain
            && is_telling(&token.word)
            && (is_name || !is_small(&token.word))
            && !self.anything.contains(&token.stem)
            && !is_in(IS, token)
            && !is_in(LACKS, token)
    }
}

/// Whether a clause says of one of its words how it is.
fn is_said_of(clause: &[Token], thing: usize) -> bool {
    let says = |(at, token): (usize, &Token)| {
        let is_beside = at > thing || (at < thing && thing - at <= BESIDE_MAX);
        !token.is_part && ((is_beside && is_in(LACKS, token)) || (at > thing && is_in(IS, token)))
    };
    clause.iter().enumerate().any(says)
}

fn is_in(list: &str, token: &Token) -> bool {
    list.contains(&format!(" {} ", token.word))
}
