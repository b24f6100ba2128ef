//! What came of proofs that were run.

use super::recorded::{self, RecordedJson};
use super::{heading, one_line, shell_word, shown_path, tame};
use midstride::verbs::{Ran, State, Verification, Verified};
use midstride::workspace::project::{Project, Shelved};
use midstride_core::handoff::proof::{Number, ProofSpec, TrialOutcome};
use serde::Serialize;

/// So many lines tell why something broke.
const LINES_SHOWN: usize = 8;
/// Who waited so long wants to know how long.
const LONG_SECONDS: u64 = 10;

#[derive(Serialize)]
pub(crate) struct VerifyJson {
    handoffs: Vec<HandoffJson>,
}

#[derive(Serialize)]
struct HandoffJson {
    key: String,
    path: String,
    proofs: Vec<ProofJson>,
    recorded: Option<RecordedJson>,
    not_recorded: Option<String>,
    untold: Option<String>,
}

#[derive(Serialize)]
struct ProofJson {
    number: usize,
    claim: Option<String>,
    test: Option<serde_json::Value>,
    state: &'static str,
    why: Option<String>,
    exit: Option<i32>,
    measured: Option<String>,
    milliseconds: Option<u128>,
    output: Option<String>,
}

pub(crate) fn json(project: &Project, all: &[(&Shelved, Verification)]) -> VerifyJson {
    let one = |(shelved, done): &(&Shelved, Verification)| HandoffJson {
        key: shelved.handoff(project).key().to_string(),
        path: shelved.path.display().to_string(),
        proofs: done.proofs.iter().map(proof_json).collect(),
        recorded: match &done.recorded {
            Some(Ok(recorded)) => Some(recorded::json(project, shelved, recorded, &done.reason)),
            Some(Err(_)) | None => None,
        },
        not_recorded: match &done.recorded {
            Some(Err(error)) => Some(error.to_string()),
            Some(Ok(_)) | None => None,
        },
        untold: done.untold.clone(),
    };
    VerifyJson { handoffs: all.iter().map(one).collect() }
}

fn proof_json(proof: &Verified) -> ProofJson {
    let ran = match &proof.state {
        State::Ran(ran) => Some(ran),
        State::NotAllowed | State::NotUnderstood(_) | State::NotRun(_) => None,
    };
    ProofJson {
        number: proof.number,
        claim: proof.claim.clone(),
        test: proof.test.as_ref().map(ProofSpec::data),
        state: word(&proof.state),
        why: why(&proof.state),
        exit: ran.and_then(|ran| ran.exit),
        measured: ran.and_then(|ran| ran.measured.as_ref()).map(Number::to_string),
        milliseconds: ran.map(|ran| ran.time.as_millis()),
        output: ran.map(|ran| ran.output.clone()),
    }
}

fn word(state: &State) -> &'static str {
    match state {
        State::Ran(ran) => ran.outcome.recorded_outcome().word(),
        State::NotAllowed => "not_allowed",
        State::NotUnderstood(_) => "not_understood",
        State::NotRun(_) => "not_run",
    }
}

fn why(state: &State) -> Option<String> {
    match state {
        State::Ran(Ran { outcome: TrialOutcome::Broken(why), .. }) | State::NotRun(why) => {
            Some(why.clone())
        }
        State::Ran(Ran { outcome: TrialOutcome::TimedOut, limit, .. }) => {
            Some(format!("it was stopped after {} s", limit.as_secs()))
        }
        State::NotUnderstood(why) => Some(why.to_string()),
        State::Ran(Ran { outcome: TrialOutcome::Holds, .. }) | State::NotAllowed => None,
    }
}

/// What came of one proof, with what is wrong below it; the first one stands under its handoff.
pub(crate) fn text(project: &Project, shelved: &Shelved, proof: &Verified, first: bool) -> String {
    let key = shelved.handoff(project).key().to_string();
    let path = shown_path(project, &shelved.path);
    let mut out = if first { heading(&tame(&format!("{key}  {path}"))) } else { String::new() };
    out.push_str(&line(proof));
    if let Some(why) = why(&proof.state) {
        out.push_str(&below(&tame(&why)));
    }
    if matches!(proof.state, State::NotAllowed) {
        let next = format!("midstride allow {} {}", shell_word(&key), proof.number);
        out.push_str(&below(&next));
    }
    if let State::Ran(ran) = &proof.state
        && ran.outcome != TrialOutcome::Holds
    {
        let lines = tame(&ran.output);
        let lines: Vec<&str> = lines.trim_end().lines().collect();
        let shown = &lines[lines.len().saturating_sub(LINES_SHOWN)..];
        out.push_str(&shown.iter().map(|line| below(&format!("| {line}"))).collect::<String>());
    }
    out
}

fn line(proof: &Verified) -> String {
    let claim = proof.claim.as_deref();
    let command = proof.test.as_ref().map(|test| test.command.as_str());
    let claim = one_line(claim.or(command).unwrap_or("(no claim)"), usize::MAX);
    let state = word(&proof.state).replace('_', " ");
    let ran = match &proof.state {
        State::Ran(ran) => {
            let long = ran.time.as_secs() >= LONG_SECONDS;
            let number = ran.measured.as_ref().map(Number::to_string);
            let time = long.then(|| format!("{} s", ran.time.as_secs()));
            let facts: Vec<String> = number.into_iter().chain(time).collect();
            if facts.is_empty() { String::new() } else { format!("  ({})", facts.join(", ")) }
        }
        State::NotAllowed | State::NotUnderstood(_) | State::NotRun(_) => String::new(),
    };
    format!("{:>3}. {state:<14}  {claim}{ran}\n", proof.number)
}

fn below(text: &str) -> String {
    text.lines().map(|line| format!("{:21}{line}\n", "")).collect()
}
