//! Measures how well prompts are classified (corrections, limits, and prompts without work of their
//! own) against labels made by hand. See `fixtures/README.md`.
//!
//! A hash of the text splits each list in two. The rules are developed on one half; the other shows
//! whether they hold for unseen prompts. `MIDSTRIDE_SHOW_MISSING=1` lists the errors in the first
//! half.

use crate::transcripts::read;
use midstride_core::session::intent::{PromptContext, correction, is_trivial, limits};
use midstride_core::session::{Correction, Request, Session, hash};
use midstride_testkit::{corpus, fixtures};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// The classes of prompts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Question {
    Correction,
    Limits,
    Trivial,
}

/// How many were found, how many of these are correct, and how many there are.
#[derive(Clone, Copy, Default)]
struct Score {
    found: usize,
    right: usize,
    all: usize,
}

impl Score {
    fn add(&mut self, found: &BTreeSet<String>, wanted: &BTreeSet<String>) {
        self.found += found.len();
        self.right += found.intersection(wanted).count();
        self.all += wanted.len();
    }

    fn precision(self) -> usize {
        (self.right * 100).checked_div(self.found).unwrap_or(100)
    }

    fn recall(self) -> usize {
        (self.right * 100).checked_div(self.all).unwrap_or(100)
    }
}

/// The classification of a prompt, by the labels or by the program.
struct Said {
    correction: bool,
    limits: BTreeSet<String>,
    trivial: bool,
}

#[derive(Default)]
struct Measure(BTreeMap<(Question, &'static str), Score>);

impl Measure {
    fn add(&mut self, text: &str, found: &Said, wanted: &Said) {
        let is_ours = hash(text.as_bytes()).is_multiple_of(2);
        let show = is_ours && std::env::var_os("MIDSTRIDE_SHOW_MISSING").is_some();
        let one = |is: bool| is.then(|| "yes".to_owned()).into_iter().collect::<BTreeSet<_>>();
        for (question, found, wanted) in [
            (Question::Correction, one(found.correction), one(wanted.correction)),
            (Question::Limits, found.limits.clone(), wanted.limits.clone()),
            (Question::Trivial, one(found.trivial), one(wanted.trivial)),
        ] {
            let name = match question {
                Question::Correction => "correction",
                Question::Limits => "limits",
                Question::Trivial => "trivial",
            };
            for half in ["whole", if is_ours { "developed on" } else { "held out" }] {
                self.0.entry((question, half)).or_default().add(&found, &wanted);
            }
            if show && found != wanted {
                show_miss(name, &found, &wanted, text);
            }
        }
    }

    #[expect(clippy::print_stdout, reason = "the measure is read with --nocapture")]
    fn check(&self, question: Question, precision_min: usize, recall_min: usize) {
        for ((asked, half), score) in &self.0 {
            if *asked == question {
                let Score { found, right, all } = *score;
                println!(
                    "{half}: {right} of {found} found are right ({} %), {right} of {all} are found ({} %)",
                    score.precision(),
                    score.recall()
                );
            }
        }
        let whole = self.0[&(question, "whole")];
        assert!(whole.precision() >= precision_min, "{} % are right", whole.precision());
        assert!(whole.recall() >= recall_min, "{} % are found", whole.recall());
    }
}

#[expect(clippy::print_stdout, reason = "asked for with MIDSTRIDE_SHOW_MISSING")]
fn show_miss(name: &str, found: &BTreeSet<String>, wanted: &BTreeSet<String>, text: &str) {
    println!("{name}: found {found:?}, wanted {wanted:?}: {text:?}");
}

fn labels(name: &str) -> Vec<Value> {
    let labels = std::fs::read_to_string(fixtures("labels").join(name)).unwrap();
    labels.lines().map(|label| serde_json::from_str(label).unwrap()).collect()
}

fn wanted(label: &Value) -> Said {
    let limits = label["limits"].as_array().unwrap().iter();
    Said {
        correction: label["correction"].as_bool().unwrap(),
        limits: limits.map(|limit| limit.as_str().unwrap().to_owned()).collect(),
        trivial: label["trivial"].as_bool().unwrap(),
    }
}

/// The prompts in this repository's fixtures.
fn ours() -> Measure {
    let mut measure = Measure::default();
    for label in labels("prompts.jsonl") {
        let text = label["text"].as_str().unwrap();
        let stopped = match label["after"].as_str() {
            Some("interrupt") => Some(Correction::AfterInterrupt),
            Some("rejection") => Some(Correction::AfterRejection),
            _ => None,
        };
        let is_first = label["first"].as_bool().unwrap();
        let found = Said {
            correction: correction(text, PromptContext { is_first, stopped, previous: None })
                .is_some(),
            limits: limits(text).into_iter().map(|limit| limit.text).collect(),
            trivial: is_trivial(text),
        };
        measure.add(text, &found, &wanted(&label));
    }
    measure
}

#[test]
fn corrections_in_fixtures_are_found() {
    ours().check(Question::Correction, 85, 85);
}

#[test]
fn limits_in_fixtures_are_found() {
    ours().check(Question::Limits, 90, 70);
}

#[test]
fn prompts_without_work_in_fixtures_are_found() {
    ours().check(Question::Trivial, 85, 85);
}

/// The prompts of the corpus, as the fold reads them from their transcripts.
fn of_corpus() -> Measure {
    let folder = corpus("fidelity");
    let folder = folder.parent().unwrap();
    let mut measure = Measure::default();
    let mut sessions: BTreeMap<String, (Vec<u8>, Session)> = BTreeMap::new();
    for label in labels("corpus-prompts.jsonl") {
        let file = label["file"].as_str().unwrap();
        let (bytes, session) = sessions.entry(file.to_owned()).or_insert_with(|| {
            let bytes = std::fs::read(folder.join(file)).unwrap();
            let is_codex = file.contains("codex") || file.contains("rollout");
            let session = read(if is_codex { "codex" } else { "claude-code" }, &bytes);
            (bytes, session)
        });
        let request = labeled(&label, bytes, session);
        let found = Said {
            correction: request.correction.is_some(),
            limits: request.limits.iter().cloned().collect(),
            trivial: request.trivial,
        };
        measure.add(&request.text, &found, &wanted(&label));
    }
    measure
}

/// The request that a label is about: the one of its record, or the one that was typed there and
/// reached the agent later.
fn labeled<'s>(label: &Value, bytes: &[u8], session: &'s Session) -> &'s Request {
    let number = |name: &str| usize::try_from(label[name].as_u64().unwrap()).unwrap();
    let line = bytes.split(|byte| *byte == b'\n').nth(number("record") - 1).unwrap();
    let range = &line[number("from")..number("to")];
    let digest: String = Sha256::digest(range).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, label["sha256"].as_str().unwrap(), "the file changed: {label}");
    let text: String =
        serde_json::from_str(&format!("\"{}\"", std::str::from_utf8(range).unwrap())).unwrap();
    let mut requests = session.requests.iter();
    let record = label["record"].as_u64().unwrap();
    let found = requests.find(|request| request.seen.number == record);
    found.or_else(|| session.requests.iter().find(|request| request.text == text)).unwrap()
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn prompts_of_the_corpus_are_classified_correctly() {
    let measure = of_corpus();
    measure.check(Question::Correction, 85, 85);
    measure.check(Question::Trivial, 85, 85);
    measure.check(Question::Limits, 90, 70);
}
