//! The rules: what a statement has to say about an item.

use super::statement::{Statement, StatementKind};
use super::subject::{FailureEvidence, QuotableText, Subject, SubjectReference};
use super::words::{is_failing, is_reverting, key_words};
use super::{CoverageItem, CoverageKind, CoverageLevel};
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
pub(super) fn coverage_item(subject: &Subject<'_>, statements: &[Statement]) -> CoverageItem {
    let mut item = CoverageItem {
        kind: subject.kind,
        name: subject.name.clone(),
        seen: subject.highlight.seen.clone(),
        level: CoverageLevel::Missing,
        at: None,
    };
    for statement in statements {
        let told = coverage_level(subject, statement);
        if told > item.level {
            (item.level, item.at) = (told, Some(statement.at));
        }
    }
    item
}

fn coverage_level(subject: &Subject<'_>, statement: &Statement) -> CoverageLevel {
    let covered =
        |is_named: bool| if is_named { CoverageLevel::Covered } else { CoverageLevel::Missing };
    match &subject.reference {
        SubjectReference::Words(text) => covered(mentions(text, subject.kind, statement)),
        SubjectReference::Id(id, text) => {
            covered(statement.has_row(id) || mentions(text, subject.kind, statement))
        }
        SubjectReference::Path(rows) => {
            let is_named = rows.iter().any(|row| statement.has_row(row));
            match is_named && subject.kind == CoverageKind::RevertedEdit {
                true => level_of_revert(&subject.name, statement),
                false => covered(is_named),
            }
        }
        SubjectReference::Failure(failure) => level_of_failure(failure, statement),
    }
}

/// Whether a statement quotes a text, or shares its key words.
fn mentions(text: &QuotableText, what: CoverageKind, statement: &Statement) -> bool {
    if text.rows.iter().any(|row| row.len() > 1 && statement.has_row(row)) {
        return true;
    }
    let shared = text.keys.iter().filter(|word| statement.has(word)).count();
    match text.keys.len() {
        0 => false,
        // One word may be anywhere; where the user's words have a place, it is meant.
        1 => {
            shared == 1
                && (what == CoverageKind::OpenTask || statement.kind != StatementKind::Prose)
        }
        many => shared >= many.div_ceil(2).clamp(SHARED_MIN, SHARED_MAX),
    }
}

/// A statement about a reverted file says that it was reverted, and something of its own.
fn level_of_revert(path: &str, statement: &Statement) -> CoverageLevel {
    let is_about = statement.is_reverting || statement.kind == StatementKind::Trouble;
    match is_about && has_own_words(statement, &key_words(path), REVERT_WORDS_MIN) {
        true => CoverageLevel::Covered,
        false if is_about => CoverageLevel::Named,
        false => CoverageLevel::Missing,
    }
}

/// A statement about a failure names something of it, and says something of its own.
fn level_of_failure(failure: &FailureEvidence, statement: &Statement) -> CoverageLevel {
    let is_called =
        |name: &Vec<String>| statement.has_row(name) && (name.len() > 1 || statement.is_failing);
    let is_named = failure.names.iter().any(is_called);
    let is_trouble = statement.is_failing || statement.kind == StatementKind::Trouble;
    let has_evidence = (is_named || is_trouble) && has_evidence(failure, is_named, statement);
    // Of a failure that printed nothing, its command is all there is to name.
    let is_silent = failure.identifiers.is_empty() && failure.printed.is_empty();
    let is_proven = has_evidence || (is_silent && is_named && is_trouble);
    match is_proven && has_own_words(statement, &failure.known, OWN_WORDS_MIN) {
        true => CoverageLevel::Covered,
        false if is_named || has_evidence => CoverageLevel::Named,
        false => CoverageLevel::Missing,
    }
}

/// Whether a statement names something that a failed command printed. Where it names the command too,
/// half of what little it printed is enough.
fn has_evidence(failure: &FailureEvidence, is_named: bool, statement: &Statement) -> bool {
    let has_identifier = failure.identifiers.iter().any(|row| statement.has_row(row));
    let printed = failure.printed.iter().filter(|word| statement.has(word)).count();
    let half = (failure.printed.len() / 2).clamp(1, PRINTED_MIN);
    has_identifier || printed >= if is_named { half } else { PRINTED_MIN }
}

/// Whether a statement has so many words that are not the item's own. Numbers and ids say nothing by
/// themselves.
fn has_own_words(statement: &Statement, known: &BTreeSet<String>, least: usize) -> bool {
    let is_own = |word: &&String| {
        let is_number = word.contains(|c: char| c.is_ascii_digit());
        !is_number && !known.contains(*word) && !is_failing(word) && !is_reverting(word)
    };
    statement.kind != StatementKind::Code && statement.keys.iter().filter(is_own).count() >= least
}
