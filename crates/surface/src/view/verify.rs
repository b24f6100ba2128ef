//! Renders the results of proof runs.

use super::recorded_change::{self, RecordedChangeJson};
use super::{display_path, heading, one_line, sanitize, shell_word};
use crate::json::JsonAnswer;
use midstride::verbs::{ProofRecording, TrialReport, Verification, VerifiedProof, VerifyState};
use midstride::workspace::{StoredHandoff, Workspace};
use midstride_core::handoff::proof::{Number, ProofSpec, TrialOutcome};
use serde::Serialize;

/// The maximum number of output lines shown for a failed proof.
const LINES_SHOWN: usize = 8;
/// The run time from which it is shown.
const LONG_SECONDS: u64 = 10;

/// The result of running proofs.
#[derive(Serialize)]
pub struct VerifyJson {
    handoffs: Vec<VerifiedHandoffJson>,
}

impl JsonAnswer for VerifyJson {
    const SCHEMA: &'static str = "verify/1";
}

#[derive(Serialize)]
struct VerifiedHandoffJson {
    key: String,
    path: String,
    proofs: Vec<VerifiedProofJson>,
    recorded: Option<RecordedChangeJson>,
    not_recorded: Option<String>,
    untold: Option<String>,
}

#[derive(Serialize)]
struct VerifiedProofJson {
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

/// The JSON for handoffs whose proofs ran.
pub fn json(workspace: &Workspace, all: &[(&StoredHandoff, Verification)]) -> VerifyJson {
    let one = |(stored, done): &(&StoredHandoff, Verification)| VerifiedHandoffJson {
        key: stored.handoff(workspace).key().to_string(),
        path: stored.path.display().to_string(),
        proofs: done.proofs.iter().map(proof_json).collect(),
        recorded: match &done.recording {
            ProofRecording::Recorded(recorded) => {
                Some(recorded_change::json(workspace, stored, recorded, &done.reason))
            }
            ProofRecording::Failed(_) | ProofRecording::Skipped => None,
        },
        not_recorded: match &done.recording {
            ProofRecording::Failed(error) => Some(error.to_string()),
            ProofRecording::Recorded(_) | ProofRecording::Skipped => None,
        },
        untold: done.ledger_error.as_ref().map(ToString::to_string),
    };
    VerifyJson { handoffs: all.iter().map(one).collect() }
}

fn proof_json(proof: &VerifiedProof) -> VerifiedProofJson {
    let ran = match &proof.state {
        VerifyState::Executed(ran) => Some(ran),
        VerifyState::NotAllowed | VerifyState::NotUnderstood(_) | VerifyState::NotExecuted(_) => {
            None
        }
    };
    VerifiedProofJson {
        number: proof.number,
        claim: proof.claim.clone(),
        test: proof.test.as_ref().map(ProofSpec::data),
        state: state_word(&proof.state),
        why: failure_reason(&proof.state),
        exit: ran.and_then(|ran| ran.exit),
        measured: ran.and_then(|ran| ran.measured.as_ref()).map(Number::to_string),
        milliseconds: ran.map(|ran| ran.time.as_millis()),
        output: ran.map(|ran| ran.output.clone()),
    }
}

fn state_word(state: &VerifyState) -> &'static str {
    match state {
        VerifyState::Executed(ran) => ran.outcome.recorded_outcome().word(),
        VerifyState::NotAllowed => "not_allowed",
        VerifyState::NotUnderstood(_) => "not_understood",
        VerifyState::NotExecuted(_) => "not_run",
    }
}

fn failure_reason(state: &VerifyState) -> Option<String> {
    match state {
        VerifyState::Executed(TrialReport { outcome: TrialOutcome::Broken(why), .. }) => {
            Some(why.to_string())
        }
        VerifyState::NotExecuted(why) => Some(why.to_string()),
        VerifyState::Executed(TrialReport { outcome: TrialOutcome::TimedOut, limit, .. }) => {
            Some(format!("it was stopped after {} s", limit.as_secs()))
        }
        VerifyState::NotUnderstood(why) => Some(why.to_string()),
        VerifyState::Executed(TrialReport { outcome: TrialOutcome::Holds, .. })
        | VerifyState::NotAllowed => None,
    }
}

/// The result of a proof, with what went wrong below it. The first proof gets a heading with its
/// handoff.
pub fn text(
    workspace: &Workspace,
    stored: &StoredHandoff,
    proof: &VerifiedProof,
    first: bool,
) -> String {
    let key = stored.handoff(workspace).key().to_string();
    let path = display_path(workspace, &stored.path);
    let mut out = if first { heading(&sanitize(&format!("{key}  {path}"))) } else { String::new() };
    out.push_str(&line(proof));
    if let Some(why) = failure_reason(&proof.state) {
        out.push_str(&detail_lines(&sanitize(&why)));
    }
    if matches!(proof.state, VerifyState::NotAllowed) {
        let next = format!("midstride trust {} {}", shell_word(&key), proof.number);
        out.push_str(&detail_lines(&next));
    }
    if let VerifyState::Executed(ran) = &proof.state
        && ran.outcome != TrialOutcome::Holds
    {
        let lines = sanitize(&ran.output);
        let lines: Vec<&str> = lines.trim_end().lines().collect();
        let shown = &lines[lines.len().saturating_sub(LINES_SHOWN)..];
        out.push_str(
            &shown.iter().map(|line| detail_lines(&format!("| {line}"))).collect::<String>(),
        );
    }
    out
}

fn line(proof: &VerifiedProof) -> String {
    let claim = proof.claim.as_deref();
    let command = proof.test.as_ref().map(|test| test.command.as_str());
    let claim = one_line(claim.or(command).unwrap_or("(no claim)"), usize::MAX);
    let state = state_word(&proof.state).replace('_', " ");
    let ran = match &proof.state {
        VerifyState::Executed(ran) => {
            let long = ran.time.as_secs() >= LONG_SECONDS;
            let number = ran.measured.as_ref().map(Number::to_string);
            let time = long.then(|| format!("{} s", ran.time.as_secs()));
            let facts: Vec<String> = number.into_iter().chain(time).collect();
            if facts.is_empty() { String::new() } else { format!("  ({})", facts.join(", ")) }
        }
        VerifyState::NotAllowed | VerifyState::NotUnderstood(_) | VerifyState::NotExecuted(_) => {
            String::new()
        }
    };
    format!("{:>3}. {state:<14}  {claim}{ran}\n", proof.number)
}

fn detail_lines(text: &str) -> String {
    text.lines().map(|line| format!("{:21}{line}\n", "")).collect()
}
