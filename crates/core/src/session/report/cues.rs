//! Classifies a sentence by its cue words.
//!
//! The word lists are short and name no project: a cause, a denial, a choice, something left to do.
//! How specific a sentence is matters more than which cue it has.

use super::ItemKind;
use super::sentences::{has_any, is_dense, starts_with_any, words};
use std::collections::HashMap;
use std::sync::LazyLock;

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
    "for later", "until later", "pending", "deferred", "blocked by", "not committed", "not pushed", "needs to be", "left to do", "left as is",
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

/// Phrases that say that a choice was made. Others only compare or propose.
#[rustfmt::skip]
const CHOICE: &[&str] = &[
    "decided", "chose", "went with", "opted", "settled on", "agreed to", "i kept", "we kept", "by design", "on purpose",
    "intentional", "intentionally", "entschieden", "décidé", "decidi", "decidido", "决定",
];

/// Words that deny or limit something: a statement about the code that a reader would not guess.
#[rustfmt::skip]
const FINDING: &[&str] = &[
    "not", "no", "never", "cannot", "can't", "doesn't", "don't", "didn't", "isn't", "aren't", "wasn't", "weren't", "won't",
    "without", "only", "still", "already", "missing", "lacks", "lost", "fails", "failed", "failing", "wrong", "incorrect", "incorrectly",
    "stale", "broken", "unused", "unsafe", "silently", "mismatch", "duplicate", "duplicates", "conflict", "conflicts", "race", "bug",
    "nothing", "none", "but", "however", "requires", "must", "unlike",
    "nicht", "kein", "keine", "nur", "pas", "jamais", "nunca", "sin", "não", "sem", "没有", "不", "ない",
];

/// Openings of sentences that announce what the agent does now.
#[rustfmt::skip]
const STEP: &[&str] = &[
    "let's", "next i", "next we", "i'll", "i will", "i'm going to", "i am going to", "i need to", "i should", "time to",
    "need to", "proceeding", "starting", "continuing", "moving on", "going to",
    "jetzt", "ich werde", "als nächstes", "maintenant", "je vais", "ahora", "voy a", "agora", "vou", "现在", "接下来", "让我", "次に",
];

/// Words after "now" that start a statement rather than an instruction: "Now the build passes."
#[rustfmt::skip]
const STATED: &[&str] = &[
    "the", "it", "this", "that", "these", "all", "both", "a", "an", "i", "we", "you", "there", "with", "our", "`", "everything",
    "only", "each", "when", "since", "in", "they", "its", "no",
];

/// Openings that only connect; the words after them decide.
#[rustfmt::skip]
const CONNECTIVE: &[&str] = &["ok", "okay", "so", "and", "also", "alright", "right", "well", "good", "great", "perfect", "yes", "got it", "next", "now"];

/// Words after a step opening that do not continue the work: "I'll wait."
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
    "clean", "green", "works", "working", "ready", "fails", "failing", "failed", "blocked", "stuck", "in progress",
    "not committed", "uncommitted", "closed", "removed", "added", "renamed",
    "fertig", "erledigt", "terminé", "listo", "hecho", "concluído", "pronto", "完成", "完了",
];

/// Outcomes that mean the work is not done.
#[rustfmt::skip]
const UNFINISHED: &[&str] = &[
    "fails", "fail", "failing", "failed", "blocked", "stuck", "in progress", "uncommitted", "not", "still",
];

/// The number of leading words in which an outcome counts; a later one is usually about something
/// else.
const OUTCOME_WORDS: usize = 9;

const HYPOTHETICAL: &[&str] =
    &["might", "would", "could", "should", "if", "once", "i'd", "we'd", "here's", "here is"];

/// Words that mark a heading or lead-in as a question or a supposition.
const SUPPOSING: &[&str] = &["whether", "if", "might", "could", "would", "may", "unless", "either"];

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

/// A cue found in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SentenceCue {
    Cause,
    DeadEnd,
    Open,
    Decision,
    Finding,
    Outcome,
    Hypothetical,
    Check,
    Passed,
    LetMe,
    LetMeKnow,
    Tried,
    But,
    EverythingIs,
}

const CUES: &[(SentenceCue, &[&str])] = &[
    (SentenceCue::Cause, CAUSE),
    (SentenceCue::DeadEnd, DEAD_END),
    (SentenceCue::Open, OPEN),
    (SentenceCue::Decision, DECISION),
    (SentenceCue::Finding, FINDING),
    (SentenceCue::Outcome, OUTCOME),
    (SentenceCue::Hypothetical, HYPOTHETICAL),
    (SentenceCue::Check, CHECKS),
    (SentenceCue::Passed, PASSED),
    (SentenceCue::LetMe, &["let me", "i need to"]),
    (SentenceCue::LetMeKnow, &["let me know"]),
    (SentenceCue::Tried, &["tried"]),
    (SentenceCue::But, &["but"]),
    (SentenceCue::EverythingIs, &["everything is"]),
];

/// Phrases by their first word, so that one pass over a sentence finds all of them. Phrases in
/// scripts without spaces are stored under the empty word.
static PHRASES: LazyLock<HashMap<&str, Vec<(&str, SentenceCue)>>> = LazyLock::new(|| {
    let mut index: HashMap<&str, Vec<(&str, SentenceCue)>> = HashMap::new();
    for (mark, phrases) in CUES {
        for phrase in *phrases {
            let first = phrase.split(' ').next().filter(|_| !phrase.chars().any(is_dense));
            index.entry(first.unwrap_or_default()).or_default().push((phrase, *mark));
        }
    }
    index
});

/// The cues found in a sentence, as a bit set.
#[derive(Clone, Copy, Default)]
struct CueSet(u32);

impl CueSet {
    fn find(words: &str) -> Self {
        let mut marks = Self::default();
        let mut at = 0;
        for word in words.split_inclusive(' ') {
            let rest = &words[at..];
            at += word.len();
            for (phrase, mark) in PHRASES.get(word.trim_end()).into_iter().flatten() {
                if starts_with_any(rest, &[phrase]) {
                    marks.0 |= 1 << *mark as u32;
                }
            }
        }
        if words.chars().any(is_dense) {
            let dense = PHRASES.get("").into_iter().flatten();
            let found = dense.filter(|(phrase, _)| words.contains(phrase));
            marks.0 |= found.fold(0, |bits, (_, mark)| bits | 1 << *mark as u32);
        }
        marks
    }

    fn has(self, mark: SentenceCue) -> bool {
        self.0 & 1 << mark as u32 != 0
    }
}

/// A sentence with its cues, each looked up once.
pub(super) struct CuedSentence {
    pub(super) words: String,
    cues: CueSet,
}

impl CuedSentence {
    pub(super) fn parse(sentence: &str) -> Self {
        let words = words(sentence);
        let cues = CueSet::find(&words);
        Self { words, cues }
    }

    /// Returns the kind its cues imply, if any.
    pub(super) fn kind(&self) -> Option<ItemKind> {
        if self.cues.has(SentenceCue::Tried) && self.cues.has(SentenceCue::But) {
            return Some(ItemKind::DeadEnd);
        }
        let rows = [
            (ItemKind::DeadEnd, SentenceCue::DeadEnd),
            (ItemKind::Cause, SentenceCue::Cause),
            (ItemKind::OpenItem, SentenceCue::Open),
            (ItemKind::Decision, SentenceCue::Decision),
            (ItemKind::Finding, SentenceCue::Finding),
        ];
        rows.iter().find(|(_, mark)| self.cues.has(*mark)).map(|(kind, _)| *kind)
    }

    /// Whether it says that a choice was made. A question or a supposition does not.
    pub(super) fn is_choice(&self) -> bool {
        let words = self.words.split_inclusive(' ').scan(0, |at, word| {
            let from = *at;
            *at += word.len();
            Some(&self.words[from..])
        });
        let is_supposed = self.cues.has(SentenceCue::Hypothetical);
        !is_supposed && { words }.any(|rest| starts_with_any(rest, CHOICE))
    }

    /// Counts the kinds of cues: a choice with its reason beats a choice alone.
    pub(super) fn count(&self) -> usize {
        let counted = [
            SentenceCue::Cause,
            SentenceCue::DeadEnd,
            SentenceCue::Open,
            SentenceCue::Decision,
            SentenceCue::Finding,
        ];
        counted.iter().filter(|mark| self.cues.has(**mark)).count()
    }

    /// Whether it announces the agent's next action: "Let me run the tests.", "Now apply it."
    pub(super) fn is_step(&self) -> bool {
        let mut rest = self.words.trim_start();
        let mut is_now = false;
        while let Some(connective) = CONNECTIVE.iter().find(|word| starts_with_any(rest, &[word])) {
            is_now = *connective == "now";
            rest = rest[connective.len()..].trim_start();
        }
        let lets = self.cues.has(SentenceCue::LetMe) && !self.cues.has(SentenceCue::LetMeKnow);
        let opening = STEP.iter().find(|phrase| starts_with_any(rest, &[phrase]));
        let is_waiting =
            opening.is_some_and(|opening| starts_with_any(&rest[opening.len()..], WAIT));
        let is_instruction = is_now && !rest.is_empty() && !starts_with_any(rest, STATED);
        lets || opening.is_some() && !is_waiting || opening.is_none() && is_instruction
    }

    /// Whether it states the outcome of the work.
    pub(super) fn is_outcome(&self) -> bool {
        if self.cues.has(SentenceCue::Hypothetical) {
            return false;
        }
        let is_early = || {
            let first: String = self.words.split_inclusive(' ').take(OUTCOME_WORDS).collect();
            CueSet::find(&first).has(SentenceCue::Outcome)
        };
        let is_stated = self.cues.has(SentenceCue::Outcome) && is_early();
        (is_stated || self.cues.has(SentenceCue::EverythingIs)) && !self.is_step()
    }

    /// Whether it says that something is not done, or does not work.
    pub(super) fn is_unfinished(&self) -> bool {
        has_any(&self.words, UNFINISHED)
    }

    /// Whether it is hypothetical.
    pub(super) fn is_hypothetical(&self) -> bool {
        has_any(&self.words, SUPPOSING)
    }

    /// Whether the agent says that it continues: "Let me commit it."
    pub(super) fn announces_more(&self) -> bool {
        let is_now = starts_with_any(&self.words, &["now"]);
        (is_now || self.cues.has(SentenceCue::LetMe)) && self.is_step()
    }

    /// Whether it only says that checks passed.
    pub(super) fn is_passed_check(&self) -> bool {
        self.cues.has(SentenceCue::Passed) && self.cues.has(SentenceCue::Check)
    }

    /// Whether it opens like praise, politeness or an announcement.
    pub(super) fn is_polite(&self) -> bool {
        starts_with_any(&self.words, POLITE)
    }

    /// Whether it says that something was done: a past tense among the first four words.
    pub(super) fn is_done(&self) -> bool {
        let mut first = self.words.split_whitespace().take(4);
        first.any(|word| {
            word.len() > 4 && word.ends_with("ed")
                || ["made", "wrote", "built", "ran", "now"].contains(&word)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cue_words_decide_the_kind() {
        let check = |text: &str, expected: Option<ItemKind>| {
            assert_eq!(CuedSentence::parse(text).kind(), expected, "{text}");
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
    fn announced_steps_are_not_statements() {
        let check = |text: &str, expected: bool| {
            assert_eq!(CuedSentence::parse(text).is_step(), expected, "{text}");
        };
        check("Let me run the tests.", true);
        check("Good. Now apply the fixes.", true);
        check("OK, so next I'll rename it.", true);
        check("Now let me look at the queue.", true);
        check("I'll wait for the review.", false);
        check("Let me know if it helps.", false);
        check("Now that the lock is gone, it passes.", false);
        check("Now the `lock` is unused.", false);
        check("Good question, let me commit first.", true);
        check("Then the error is real.", false);
        check("The lock is gone now.", false);
    }
}
