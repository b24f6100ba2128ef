//! The rules that decide how much a statement says about an item.

use super::statement::{Statement, StatementKind};
use super::subject::{FailureEvidence, QuotableText, Subject, SubjectReference};
use super::words::{is_failing, is_reverting, key_words};
use super::{CoverageItem, CoverageKind, CoverageLevel};
use std::collections::BTreeSet;

/// The minimum number of shared key words for a paraphrase, which shares at least half of them.
const SHARED_MIN: usize = 2;
/// The number of shared key words that is enough for a long text.
const SHARED_MAX: usize = 6;
/// The minimum number of new words in a statement that says more than what happened.
const OWN_WORDS_MIN: usize = 2;
/// The same minimum for a reverted file. It prints nothing to compare with, so its statement must
/// say more.
const REVERT_WORDS_MIN: usize = 3;
/// The minimum number of words printed by a failed command that a statement must share. A single
/// one, such as `branch`, may occur anywhere.
const PRINTED_MIN: usize = 2;

/// Returns an item with the statement that says most about it.
pub(super) fn coverage_item(subject: &Subject<'_>, statements: &[Statement]) -> CoverageItem {
    let mut item = CoverageItem {
        kind: subject.kind,
        name: subject.name.clone(),
        seen: subject.highlight.seen.clone(),
        level: CoverageLevel::Missing,
        at: None,
    };
    for statement in statements {
        let level = coverage_level(subject, statement);
        if level > item.level {
            (item.level, item.at) = (level, Some(statement.at));
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

/// Whether a statement quotes a text or shares its key words.
fn mentions(text: &QuotableText, what: CoverageKind, statement: &Statement) -> bool {
    if text.rows.iter().any(|row| row.len() > 1 && statement.has_row(row)) {
        return true;
    }
    let shared = text.keys.iter().filter(|word| statement.has(word)).count();
    match text.keys.len() {
        0 => false,
        // A single word may occur anywhere, so it counts only for a task, or outside prose.
        1 => {
            shared == 1
                && (what == CoverageKind::OpenTask || statement.kind != StatementKind::Prose)
        }
        many => shared >= many.div_ceil(2).clamp(SHARED_MIN, SHARED_MAX),
    }
}

/// Returns the level of a statement about a reverted file: it must say that the file was reverted,
/// and add something new.
fn level_of_revert(path: &str, statement: &Statement) -> CoverageLevel {
    let is_about = statement.is_reverting || statement.kind == StatementKind::Trouble;
    match is_about && has_own_words(statement, &key_words(path), REVERT_WORDS_MIN) {
        true => CoverageLevel::Covered,
        false if is_about => CoverageLevel::Named,
        false => CoverageLevel::Missing,
    }
}

/// Returns the level of a statement about a failure: it must name something of the failure, and add
/// something new.
fn level_of_failure(failure: &FailureEvidence, statement: &Statement) -> CoverageLevel {
    let is_called =
        |name: &Vec<String>| statement.has_row(name) && (name.len() > 1 || statement.is_failing);
    let is_named = failure.names.iter().any(is_called);
    let is_trouble = statement.is_failing || statement.kind == StatementKind::Trouble;
    let has_evidence = (is_named || is_trouble) && has_evidence(failure, is_named, statement);
    // If a failure printed nothing, a statement can only name its command.
    let is_silent = failure.identifiers.is_empty() && failure.printed.is_empty();
    let is_proven = has_evidence || (is_silent && is_named && is_trouble);
    match is_proven && has_own_words(statement, &failure.known, OWN_WORDS_MIN) {
        true => CoverageLevel::Covered,
        false if is_named || has_evidence => CoverageLevel::Named,
        false => CoverageLevel::Missing,
    }
}

/// Whether a statement names something that a failed command printed. If it names the command too,
/// half of the few printed words are enough.
fn has_evidence(failure: &FailureEvidence, is_named: bool, statement: &Statement) -> bool {
    let has_identifier = failure.identifiers.iter().any(|row| statement.has_row(row));
    let printed = failure.printed.iter().filter(|word| statement.has(word)).count();
    let half = (failure.printed.len() / 2).clamp(1, PRINTED_MIN);
    has_identifier || printed >= if is_named { half } else { PRINTED_MIN }
}

/// Whether a statement has at least `least` words that are not the item's own. Numbers and ids do
/// not count, because they say nothing by themselves.
fn has_own_words(statement: &Statement, known: &BTreeSet<String>, least: usize) -> bool {
    let is_own = |word: &&String| {
        let is_number = word.contains(|c: char| c.is_ascii_digit());
        !is_number && !known.contains(*word) && !is_failing(word) && !is_reverting(word)
    };
    statement.kind != StatementKind::Code && statement.keys.iter().filter(is_own).count() >= least
}
