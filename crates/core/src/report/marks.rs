//! What a sentence says, by the words that mark it.
//!
//! Few words, all of them about how things hang together and none about a project: a cause, a denial,
//! a choice, something left. How specific a sentence is decides more than which mark it has.

use super::ItemKind;
use super::sentences::{has_any, position, starts_with_any};

#[rustfmt::skip]
const CAUSE: &[&str] = &[
    "because", "root cause", "root issue", "turns out", "turned out", "the reason", "caused by", "causes", "due to",
    "happens when", "happens if", "that's why", "which is why", "as a result of", "the cause", "stems from",
    "which means", "this means", "the problem is", "the issue is", "the bug is", "the bug was", "the issue was", "the problem was",
    "weil", "ursache", "aufgrund", "parce que", "à cause", "porque", "debido", "devido", "因为", "由于", "原因", "のため",
];

#[rustfmt::skip]
const DEAD_END: &[&str] = &[
    "didn't work", "did not work", "reverted", "abandoned", "gave up", "dead end", "rolled back", "no luck",
    "doesn't solve", "didn't help", "did not help", "not viable",
    "funktionierte nicht", "n'a pas fonctionné", "no funcionó", "não funcionou", "没有用", "うまくいかな",
];

#[rustfmt::skip]
const OPEN: &[&str] = &[
    "not yet", "still need", "still needs", "still to do", "remaining", "remains", "todo", "follow-up", "followup", "follow up",
    "out of scope", "was not run", "were not run", "not tested", "untested", "not verified", "unverified",
    "not been tested", "not been run", "haven't tested", "haven't run", "have not tested", "have not run",
    "couldn't run", "could not run", "couldn't verify", "could not verify", "can't verify",
    "later", "pending", "deferred", "blocked by", "uncommitted", "not committed", "not pushed", "needs to be", "left to",
    "noch nicht", "pas encore", "todavía no", "aún no", "ainda não", "尚未", "还没", "まだ",
];

#[rustfmt::skip]
const DECISION: &[&str] = &[
    "decided", "chose", "chosen", "instead of", "rather than", "kept", "i'll use", "we should", "went with", "took the",
    "opted", "prefer", "preferred", "lean toward", "leaning toward", "in favor of", "agreed", "intentional", "intentionally",
    "by design", "the fix is", "the fix was", "the fix should", "the simplest", "simplest fix", "resolved by", "fixed by", "on purpose",
    "statt", "stattdessen", "entschieden", "au lieu de", "décidé", "en lugar de", "en vez de", "decidi", "decidido",
    "而不是", "决定", "代わりに",
];

/// A statement about the code that a reader would not guess: it denies or limits something.
#[rustfmt::skip]
const FINDING: &[&str] = &[
    "not", "no", "never", "cannot", "can't", "doesn't", "don't", "didn't", "isn't", "aren't", "wasn't", "weren't", "won't",
    "without", "only", "still", "already", "missing", "lacks", "lost", "fails", "failed", "failing", "wrong", "incorrect", "incorrectly",
    "stale", "broken", "unused", "unsafe", "silently", "mismatch", "duplicate", "duplicates", "conflict", "conflicts", "race", "bug",
    "nothing", "none", "but", "however", "requires", "must", "unlike",
    "nicht", "kein", "keine", "nur", "pas", "jamais", "nunca", "sin", "não", "sem", "没有", "不", "ない",
];

/// Openings of sentences that say what the agent does right now.
#[rustfmt::skip]
const STEP: &[&str] = &[
    "let me", "let's", "now", "next", "i'll", "i will", "i'm going to", "i am going to", "i need to", "i should", "first",
    "then", "time to", "need to", "proceeding", "starting", "continuing", "moving on", "going to",
    "jetzt", "ich werde", "als nächstes", "maintenant", "je vais", "ahora", "voy a", "agora", "vou", "现在", "接下来", "让我", "次に",
];

/// Openings that only connect: what follows them decides.
#[rustfmt::skip]
const CONNECTIVE: &[&str] = &["ok", "okay", "so", "and", "also", "alright", "right", "well", "good", "great", "perfect", "yes", "got it"];

/// Things an agent says it will do that do not go on with the work.
const WAIT: &[&str] = &["wait", "leave", "stop", "hold", "be", "let"];

/// Openings of sentences that say nothing by themselves.
#[rustfmt::skip]
const POLITE: &[&str] = &[
    "good", "great", "nice", "perfect", "excellent", "thanks", "thank you", "you're right", "you are right", "sorry", "sure",
    "got it", "understood", "ok", "okay", "yes", "yeah", "done", "here's", "here is", "here are", "let me know", "feel free",
    "hope this", "happy to", "want me", "everything", "all", "looks good", "lgtm", "ship it", "clean", "this is correct",
];

#[rustfmt::skip]
const OUTCOME: &[&str] = &[
    "done", "pushed", "committed", "merged", "fixed", "created", "opened", "filed", "deployed", "released", "published",
    "complete", "completed", "finished", "implemented", "resolved", "addressed", "replied", "updated", "passes", "pass", "passed", "passing",
    "clean", "green", "works", "working", "ready", "verified", "fails", "failing", "failed", "blocked", "stuck", "in progress",
    "not committed", "uncommitted", "closed", "removed", "added", "renamed",
    "fertig", "erledigt", "terminé", "listo", "hecho", "concluído", "pronto", "完成", "完了",
];

const CHECKS: &[&str] = &[
    "tests",
    "test",
    "lint",
    "checks",
    "build",
    "suite",
    "ci",
    "compiles",
    "clippy",
    "type check",
];
const PASSED: &[&str] =
    &["pass", "passes", "passed", "passing", "clean", "green", "succeeded", "succeeds"];

/// The kind that the words of a sentence mark, if any.
pub(super) fn kind(words: &str) -> Option<ItemKind> {
    let tried = position(words, "tried").and_then(|at| position(&words[at..], "but"));
    let rows = [
        (ItemKind::Cause, CAUSE),
        (ItemKind::OpenItem, OPEN),
        (ItemKind::Decision, DECISION),
        (ItemKind::Finding, FINDING),
    ];
    match tried {
        Some(_) => Some(ItemKind::DeadEnd),
        None if has_any(words, DEAD_END) => Some(ItemKind::DeadEnd),
        None => rows.iter().find(|(_, marks)| has_any(words, marks)).map(|(kind, _)| *kind),
    }
}

/// How many kinds of marks the words have: a choice with its reason beats a choice.
pub(super) fn marks(words: &str) -> usize {
    let rows = [CAUSE, DEAD_END, OPEN, DECISION, FINDING];
    rows.iter().filter(|marks| has_any(words, marks)).count()
}

/// Whether a sentence announces the agent's next action: "Let me run the tests.", "Now the lint."
pub(super) fn is_step(words: &str) -> bool {
    let mut rest = words.trim_start();
    while let Some(connective) = CONNECTIVE.iter().find(|word| starts_with_any(rest, &[word])) {
        rest = rest[connective.len()..].trim_start();
    }
    let Some(opening) = STEP.iter().find(|phrase| starts_with_any(rest, &[phrase])) else {
        return false;
    };
    let after = &rest[opening.len()..];
    !starts_with_any(after, WAIT)
        && !starts_with_any(rest, &["let me know", "now that", "first time"])
}

/// Whether a sentence says where the work is.
pub(super) fn is_outcome(words: &str) -> bool {
    !is_step(words) && has_any(words, OUTCOME)
}

/// Whether a sentence only says that checks passed.
pub(super) fn is_passed_check(words: &str) -> bool {
    has_any(words, PASSED) && has_any(words, CHECKS)
}

/// Whether a sentence opens like praise, politeness or an announcement.
pub(super) fn is_polite(words: &str) -> bool {
    starts_with_any(words, POLITE)
}

/// Whether something was done: a past tense among the first words.
pub(super) fn is_done(words: &str) -> bool {
    let mut first = words.split_whitespace().take(4);
    first.any(|word| {
        word.len() > 4 && word.ends_with("ed")
            || ["made", "wrote", "built", "ran", "now"].contains(&word)
    })
}

#[cfg(test)]
mod tests {
    use super::super::sentences::words;
    use super::*;

    #[test]
    fn marks_tell_kinds_apart() {
        let check = |text: &str, expected: Option<ItemKind>| {
            assert_eq!(kind(&words(text)), expected, "{text}");
        };
        check("The queue stalls because the lock is held", Some(ItemKind::Cause));
        check("I tried a bigger buffer, but it stalled", Some(ItemKind::DeadEnd));
        check("The Windows build was not run", Some(ItemKind::OpenItem));
        check("Kept the old name", Some(ItemKind::Decision));
        check("`close()` is never called", Some(ItemKind::Finding));
        check("Der Test läuft nicht, weil der Port fehlt", Some(ItemKind::Cause));
        check("缓存没有失效", Some(ItemKind::Finding));
        check("Added a helper", None);
    }

    #[test]
    fn steps_are_told_from_statements() {
        let check =
            |text: &str, expected: bool| assert_eq!(is_step(&words(text)), expected, "{text}");
        check("Let me run the tests.", true);
        check("Good. Now apply the fixes.", true);
        check("OK, so next I'll rename it.", true);
        check("I'll wait for the review.", false);
        check("Let me know if it helps.", false);
        check("Now that the lock is gone, it passes.", false);
        check("The lock is gone now.", false);
    }
}
