//! The words that coverage knows, in one place: what joins a thing to its cause, what says nothing,
//! and what a reader must see beside a name to know what is meant. Words are compared without case,
//! marks and endings.

use super::statement::Token;
use crate::search;
use std::collections::{HashMap, HashSet};

/// What stands before a cause or a consequence: something must follow.
#[rustfmt::skip] // a line per thought, not per word
pub(super) const BEFORE: &[&str] = &[
    "because", "since", "due to", "owing to", "thanks to", "on account of", "given that",
    "caused by", "causes", "the cause", "cause", "root cause", "the reason", "reason", "the culprit", "why",
    "turned out", "turns out", "explained by", "comes from", "came from", "stems from", "goes back to",
    "so that", "in order to", "to avoid", "to prevent", "otherwise", "or else", "unless", "until",
    "had to", "led to", "leads to", "resulted in", "results in",
    "which means", "means that", "meant that", "meaning that", "this means",
    "fails when", "failed when", "fails if", "breaks when", "broke when", "breaks if", "only when", "as soon as",
    "fixed by", "solved by", "cured by", "the fix", "the lesson", "lesson", "consequence", "the effect", "impact",
    "blocked by", "waits for", "waiting for", "depends on", "forced", "forces", "prevents", "prevented",
    // German
    "weil", "aufgrund", "wegen", "damit", "ursache", "grund", "führte zu", "liegt daran", "lag daran", "musste",
    // French, Spanish, Italian, Portuguese
    "parce que", "à cause", "afin de", "la raison", "porque", "debido a", "para que", "la razón",
    "perché", "a causa", "affinché", "por causa", "devido a",
];

/// What stands between a cause and its consequence, either of which may come first.
#[rustfmt::skip] // a line per thought, not per word
pub(super) const BETWEEN: &[&str] = &[
    "therefore", "thus", "hence", "consequently", "as a result", "for this reason", "for that reason",
    "that is why", "this is why", "which is why", "that s why", "instead", "rather than",
    "deshalb", "daher", "darum", "sodass", "stattdessen", "donc", "por eso", "quindi", "perciò", "portanto",
];

/// The same, where a comma or the like comes first: `…, so the pages stay`.
pub(super) const AFTER_PAUSE: &[&str] = &["so"];

/// Words that any explanation of anything could have.
pub(super) const HOLLOW: &str = "\
 ability able accordingly achieve action actual actually adapt address adequate adjust adjusted adjustment affect agent \
 aim along already although amount analysis appear application apply approach appropriate area arise around aspect \
 assistant attempt attention available base based basis become begin behave behavior behaviour believe benefit big \
 bit broad broke broken build building case cause cautious certain certainly challenge choice circumstance claim clean cleanup \
 clear clearly codebase command common complete completed completely complex component concern condition configuration configure \
 consequence consequently consider consideration consistent context continue conversation correct correction \
 course current currently deal decide decision deemed default deliver demand depend design desire detail \
 determine development difference different difficult difficulty direct discover discuss document due during easy edit effect \
 effort either encounter end enough ensure entire environment especially essential etc event eventually evident \
 exact exactly exist exit expect expectation expected experience explain explained explanation extra face fact factor fail failed \
 failing fails failure feature final finally finish flow follow following forward found full fully function functionality further \
 general generally generic given goal great handle handled happen happened happening hard hence high however idea identify impact \
 implementation important improvement include incorrect indeed information initial input instead intend intended internal \
 investigate investigation involve item itself job kind lack large latter lead learn lesson level likely list listed little \
 long lot low main major manner matter mean meaning measure meet mention method minor missing mistake mode modification modify \
 moment move namely natural necessary necessity needed normal note number obvious obviously occur occurred old open operation \
 optimal order original otherwise outcome output overall part particular pass passed path perform perhaps \
 phase piece place plan point possible practice present previous previously prior probably proceed process produce \
 progress project proper properly prove provide purpose quality quick quite raise rather reach real reality reason reasonable \
 record refactor refer reflect regard related relevant remain report require required requirement resolve resolved \
 respect respective result return revert reverted review revise run running satisfied satisfy scope section \
 seem sense sequence session several short shown significant similar simple simply single situation small \
 solution solve somehow sometimes specific specification stage stand standard state status step stop straightforward stuff subsequent \
 succeed success successful successfully suitable support system target technical technique temporary tests therefore thorough \
 thought thus time tool tooling total touch track transition tried trouble true turn type typical unable unclear underlying \
 unexpected unfortunately unknown unsuitable unwanted user usual usually valid value various verify version via view \
 wanted whatever whether whole wish word workflow write \
 bugs calls changes changing checks codes errors examples files fixed fixes folders helped issues lines looked needs problems \
 questions reads tasks tested things worked writes asked added updated improves improving outdated clarity maintainable \
 maintainability readability readable robust robustness consistency stay ";

/// Longer words that only hold others together; in every language most of the short ones do.
pub(super) const SMALL: &str = " \
 that this these those with from were been being which when where while would could should does have they them their \
 there than then must only each every into onto over under before behind between without what will shall upon within \
 during against among \
 beim wird werden wurde eine einen einem einer jede jedes jedem nicht sich oder dass nach dans avec pour cette para como della ";

/// Things and states that any failure has: one of them alone is no cause.
pub(super) const ANYTHING: &str = "\
 anybody anyone anything app bad bug buggy busy choice code compile compilation conflict defect dependency everybody everyone \
 everything execution fault faulty fine flaky flaw glitch good hiccup improper incomplete inconsistent install installation \
 insufficient invalid issue library log logic misconfiguration misconfigured mismatch nobody none odd off package problem \
 program quirk regression repo repository script setup software somebody someone something strange suite syntax test trace \
 unavailable unstable unsuccessful useless way weird \
 alles etwas nichts niemand ";

/// Says of what stands before it how it is: `the linker was absent`.
pub(super) const IS: &str = " is are was were isn aren wasn weren be been has have had hasn haven hadn did does didn doesn do don \
 can cannot could couldn will won would gone down \
 ist sind war waren hat hatte hatten kann konnte wird wurde est sont etait avait era esta estaba habia stato foi ";

/// Says of what stands beside it that it is not there: `no linker`, `the linker is missing`.
pub(super) const LACKS: &str = " no not without lack lacks lacked lacking missing absent need needs needed require requires required unset \
 expired fehlt fehlte fehlten fehlend kein keine keinen ohne nicht manque manquait sans pas falta faltaba sin manca mancava senza falta sem ";

/// What tells that a file is named for what went wrong with it.
pub(super) const FAILING: &[&str] = &[
    "fail",
    "error",
    "broke",
    "broken",
    "break",
    "red",
    "crash",
    "panic",
    "wrong",
    "exit",
    "refuse",
    "abort",
    "hang",
    "stuck",
    "timeout",
    "fehler",
    "fehlgeschlagen",
];

/// What tells that a change was taken back.
pub(super) const TAKEN_BACK: &[&str] = &[
    "revert",
    "undo",
    "undid",
    "undone",
    "restore",
    "back",
    "drop",
    "discard",
    "abandon",
    "reset",
    "wrong",
    "mistake",
    "withdrawn",
    "instead",
    "rückgängig",
    "zurück",
    "annulé",
];

/// What tells that somebody decided.
pub(super) const DECIDED: &[&str] = &[
    "user",
    "chose",
    "chosen",
    "choose",
    "decide",
    "decision",
    "answer",
    "want",
    "ask",
    "approve",
    "reject",
    "refuse",
    "allow",
    "prefer",
    "agree",
    "nutzer",
    "entschied",
];

/// What tells that something is still to be done.
pub(super) const TO_DO: &[&str] = &[
    "next", "task", "todo", "open", "remain", "left", "pending", "still", "continue", "progress",
    "begin", "begun", "start", "offen", "nächste",
];

/// What tells that an agent is meant.
pub(super) const AGENT: &[&str] =
    &["agent", "subagent", "worker", "explorer", "background", "flight", "delegate", "spawn"];

/// Without its ending, so that `pages`, `paged` and `page` are one word.
pub(super) fn stem(word: &str) -> String {
    const ENDINGS: [&str; 5] = ["ing", "ed", "es", "s", "e"];
    const LEFT_MIN: usize = 3;
    let shorter = ENDINGS.iter().find_map(|ending| {
        word.strip_suffix(ending).filter(|rest| rest.chars().count() >= LEFT_MIN)
    });
    let Some(shorter) = shorter.filter(|_| word.chars().all(char::is_alphabetic)) else {
        return word.to_owned();
    };
    // `running` and `run`, `dropped` and `drop`.
    let mut letters = shorter.chars().rev();
    let is_doubled = letters.next().zip(letters.next()).is_some_and(|(one, other)| one == other);
    match shorter.char_indices().last() {
        Some((at, _)) if is_doubled && word.len() - shorter.len() > 1 => shorter[..at].to_owned(),
        Some(_) | None => shorter.to_owned(),
    }
}

/// Words that say nothing, as they are compared.
pub(super) struct Hollow(HashSet<String>);

impl Hollow {
    pub(super) fn new() -> Self {
        Self(HOLLOW.split_whitespace().map(stem).collect())
    }

    pub(super) fn has(&self, stem: &str) -> bool {
        self.0.contains(stem)
    }
}

/// What joins a thing to its cause, as it is compared.
pub(super) struct Joints {
    by_first: HashMap<String, Vec<Joint>>,
}

/// One way to join a thing to its cause.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    rest: Vec<String>,
    after_pause: bool,
    /// Whether the cause or consequence has to follow it.
    pub(super) is_before: bool,
}

impl Joints {
    pub(super) fn new() -> Self {
        let mut by_first: HashMap<String, Vec<Joint>> = HashMap::new();
        for (table, is_before, after_pause) in
            [(BEFORE, true, false), (BETWEEN, false, false), (AFTER_PAUSE, false, true)]
        {
            for phrase in table {
                let mut words = search::words(phrase).into_iter().map(|word| word.text);
                let Some(first) = words.next() else { continue };
                let joint = Joint { rest: words.collect(), after_pause, is_before };
                by_first.entry(first).or_default().push(joint);
            }
        }
        Self { by_first }
    }

    /// What joins at the first of these words: how many words it takes, and what it is.
    pub(super) fn at(&self, tokens: &[Token]) -> Option<(usize, &Joint)> {
        let first = tokens.first().filter(|token| !token.is_code)?;
        let fits = |joint: &&Joint| {
            let mut rest = tokens[1..].iter().map(|token| &token.word);
            joint.rest.iter().all(|word| rest.next() == Some(word))
                && (!joint.after_pause || first.after_pause)
        };
        let fitting = self.by_first.get(&first.word)?.iter().filter(fits);
        fitting.map(|joint| (1 + joint.rest.len(), joint)).max_by_key(|(length, _)| *length)
    }
}
