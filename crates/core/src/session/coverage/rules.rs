//! The rules: what a statement has to say about an item.

use super::item::{Failure, NamedBy, Quoted, Subject};
use super::statement::{Place, Statement};
use super::words::{is_failing, is_reverting, key_words};
use super::{Item, Told, What};
use std::collections::BTreeSet;

/// Half of the key words of a text make a paraphrase, and at least so many.
const SHARED_MIN: usize = 2;
/// Of a long text so many are enough.
const SHARED_MAX: usize = 6;
/// So many words of its own has a statement that says more than what happened.
const OWN_WORDS_MIN: usize = 2;
/// A reverted file prints nothing to compare with, so its statement says more.
const REVERT_WORDS_MIN: usize = 3;
/// So many words that a failed command printed are something of the failure: one (`branch`) may be
/// anywhere.
const PRINTED_MIN: usize = 2;

/// An item, with the statement that says most about it.
pub(super) fn item(subject: &Subject<'_>, statements: &[Statement]) -> Item {
    let mut item = Item {
        what: subject.what,
        name: subject.name.clone(),
        seen: subject.highlight.seen.clone(),
        told: Told::Missing,
        at: None,
    };
    for statement in statements {
        let told = told(subject, statement);
        if told > item.told {
            (item.told, item.at) = (told, Some(statement.at));
        }
    }
    item
}

fn told(subject: &Subject<'_>, statement: &Statement) -> Told {
    let covered = |is_named: bool| if is_named { Told::Covered } else { Told::Missing };
    match &subject.by {
        NamedBy::Words(text) => covered(names(text, subject.what, statement)),
        NamedBy::Id(id, text) => {
            covered(statement.has_row(id) || names(text, subject.what, statement))
        }
        NamedBy::Path(rows) => {
            let is_named = rows.iter().any(|row| statement.has_row(row));
            match is_named && subject.what == What::RevertedEdit {
                true => reverted(&subject.name, statement),
                false => covered(is_named),
            }
        }
        NamedBy::Failure(failure) => failed(failure, statement),
    }
}

/// Whether a statement quotes a text, or shares its key words.
fn names(text: &Quoted, what: What, statement: &Statement) -> bool {
    if text.rows.iter().any(|row| row.len() > 1 && statement.has_row(row)) {
        return true;
    }
    let shared = text.keys.iter().filter(|word| statement.has(word)).count();
    match text.keys.len() {
        0 => false,
        // One word may be anywhere; where the user's words have a place, it is meant.
        1 => shared == 1 && (what == What::OpenTask || statement.place != Place::Prose),
        many => shared >= many.div_ceil(2).clamp(SHARED_MIN, SHARED_MAX),
    }
}

/// A statement about a reverted file says that it was reverted, and something of its own.
fn reverted(path: &str, statement: &Statement) -> Told {
    let is_about = statement.is_reverting || statement.place == Place::Trouble;
    match is_about && says_more(statement, &key_words(path), REVERT_WORDS_MIN) {
        true => Told::Covered,
        false if is_about => Told::Named,
        false => Told::Missing,
    }
}

/// A statement about a failure names something of it, and says something of its own.
fn failed(failure: &Failure, statement: &Statement) -> Told {
    let is_called =
        |name: &Vec<String>| statement.has_row(name) && (name.len() > 1 || statement.is_failing);
    let is_named = failure.names.iter().any(is_called);
    let is_trouble = statement.is_failing || statement.place == Place::Trouble;
    let has_evidence = (is_named || is_trouble) && has_evidence(failure, is_named, statement);
    // Of a failure that printed nothing, its command is all there is to name.
    let is_silent = failure.identifiers.is_empty() && failure.printed.is_empty();
    let is_proven = has_evidence || (is_silent && is_named && is_trouble);
    match is_proven && says_more(statement, &failure.known, OWN_WORDS_MIN) {
        true => Told::Covered,
        false if is_named || has_evidence => Told::Named,
        false => Told::Missing,
    }
}

/// Whether a statement names something that a failed command printed. Where it names the command too,
/// half of what little it printed is enough.
fn has_evidence(failure: &Failure, is_named: bool, statement: &Statement) -> bool {
    let has_identifier = failure.identifiers.iter().any(|row| statement.has_row(row));
    let printed = failure.printed.iter().filter(|word| statement.has(word)).count();
    let half = (failure.printed.len() / 2).clamp(1, PRINTED_MIN);
    has_identifier || printed >= if is_named { half } else { PRINTED_MIN }
}

/// Whether a statement has so many words that are not the item's own. Numbers and ids say nothing by
/// themselves.
fn says_more(statement: &Statement, known: &BTreeSet<String>, least: usize) -> bool {
    let is_own = |word: &&String| {
        let is_number = word.contains(|c: char| c.is_ascii_digit());
        !is_number && !known.contains(*word) && !is_failing(word) && !is_reverting(word)
    };
    statement.place != Place::Code && statement.keys.iter().filter(is_own).count() >= least
}
