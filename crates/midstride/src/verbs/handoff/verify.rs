//! Run the proofs that this person allowed, and tell what came of them.

use crate::journal::{RecordedRevision, RevisionInfo};
use crate::store::ledger::{Ledger as _, SqliteLedger, StreamId, WaitPolicy};
use crate::sys::files;
use crate::sys::ids::new_uid;
use crate::sys::process::{self, ProcessLimits, ProcessReport, run_bounded};
use crate::verbs::handoff::allow::{AllowError, AllowableProof, allowable_proofs};
use crate::verbs::handoff::apply::{ApplyError, apply};
use crate::workspace::project::{Project, StoredHandoff};
use crate::workspace::settings::{Automation, proof_variables};
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::Handoff;
use midstride_core::handoff::lifecycle::{self, CompletedProof, MeasurementSide, TrialContext};
use midstride_core::handoff::proof::{
    Number, ProofSpec, ProofSpecError, Trial, TrialEnd, TrialOutcome, TrialResult, strip_escapes,
};
use midstride_core::work::event::{Envelope, Event, ProofEvent};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A command that says nothing else is stopped after so many seconds.
pub const TIMEOUT_SECONDS: u64 = 120;
/// More of an output is not looked at.
const OUTPUT_BYTES_MAX: usize = 1 << 20;
/// More of an output is not kept.
const TAIL_BYTES_MAX: usize = 2 << 10;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct VerifyRequest {
    /// Only this proof.
    pub only: Option<usize>,
    /// Stop each command after this time, whatever its proof says.
    pub timeout: Option<Duration>,
    /// Write what came of it into the document.
    pub record: Option<RecordOptions>,
}

/// How it is written into the document.
#[derive(Clone, Debug, Default)]
pub struct RecordOptions {
    /// Which number of a measurement it is.
    pub side: Option<MeasurementSide>,
    /// Who ran it.
    pub by: Option<String>,
}

/// What came of the proofs of one handoff.
#[derive(Debug)]
pub struct Verification {
    /// In the order of the document.
    pub proofs: Vec<VerifiedProof>,
    /// What was written into the document, or why not; none where nothing was to be.
    pub recorded: Option<Result<RecordedRevision, ApplyError>>,
    /// The reason of that revision.
    pub reason: String,
    /// Why the ledger does not know of it.
    pub ledger_error: Option<String>,
}

/// What came of one proof.
#[derive(Clone, Debug)]
pub struct VerifiedProof {
    /// Counted from one, in the order of the document.
    pub number: usize,
    /// What is claimed.
    pub claim: Option<String>,
    /// What is run.
    pub test: Option<ProofSpec>,
    /// Where it stands.
    pub state: VerifyState,
}

/// Where a proof stands.
#[derive(Clone, Debug)]
pub enum VerifyState {
    /// It was run.
    Executed(TrialReport),
    /// Nobody allowed it.
    NotAllowed,
    /// It is not clear what to run.
    NotUnderstood(ProofSpecError),
    /// It could not be run.
    NotExecuted(String),
}

/// A proof that was run.
#[derive(Clone, Debug)]
pub struct TrialReport {
    /// What came of it.
    pub outcome: TrialOutcome,
    /// The exit code; none where a signal or the clock ended it.
    pub exit: Option<i32>,
    /// The number in its output.
    pub measured: Option<Number>,
    /// How long it ran.
    pub time: Duration,
    /// After how long it would have been stopped.
    pub limit: Duration,
    /// The end of what it wrote, without secrets.
    pub output: String,
}

/// How far a verification has come.
#[derive(Clone, Copy, Debug)]
pub enum VerifyProgress<'p> {
    /// A proof runs, and for how long.
    Executing(&'p AllowableProof, Duration),
    /// This came of a proof.
    Done(&'p VerifiedProof),
}

/// Runs what is allowed, tells the ledger, and writes it into the document where that is wanted.
/// `watch` is told of each proof as it goes, and so is the ledger: what a later one does cannot take
/// back what is known of an earlier one.
pub fn verify(
    project: &Project,
    shelved: &StoredHandoff,
    asked: &VerifyRequest,
    watch: &mut dyn FnMut(VerifyProgress<'_>),
) -> Result<Verification, AllowError> {
    let mut proofs = Vec::new();
    let mut untold = None;
    // The first revision gives a document its uid; before it, nobody can say what was proven.
    let can_tell = shelved.handoff(project).uid().is_some();
    for proof in allowable_proofs(project, shelved, asked.only)? {
        let state = verify_proof(project, &proof, asked.timeout, watch);
        let AllowableProof { number, claim, test, .. } = proof;
        let verified = VerifiedProof { number, claim, test: test.ok(), state };
        if can_tell && matches!(verified.state, VerifyState::Executed(_)) {
            let told = append_to_ledger(project, shelved, std::slice::from_ref(&verified));
            untold = told.err().or(untold);
        }
        watch(VerifyProgress::Done(&verified));
        proofs.push(verified);
    }
    let proven = completed_proofs(&proofs);
    let reason = reason(&proven);
    let record = asked.record.as_ref().filter(|_| !proven.is_empty());
    let recorded =
        record.map(|record| record_in_document(project, shelved, &proven, record, reason.clone()));
    if !can_tell && !proven.is_empty() {
        untold = append_to_ledger(project, shelved, &proofs).err();
    }
    Ok(Verification { proofs, recorded, reason, ledger_error: untold })
}

fn verify_proof(
    project: &Project,
    proof: &AllowableProof,
    timeout: Option<Duration>,
    watch: &mut dyn FnMut(VerifyProgress<'_>),
) -> VerifyState {
    let test = match &proof.test {
        Ok(test) => test,
        Err(why) => return VerifyState::NotUnderstood(why.clone()),
    };
    if !proof.is_allowed {
        return VerifyState::NotAllowed;
    }
    if project.environment().automation == Some(Automation::Proof) {
        return VerifyState::NotExecuted(
            "a proof runs no proofs, or there could be no end of them".to_owned(),
        );
    }
    let own = Duration::from_secs(test.timeout.unwrap_or(TIMEOUT_SECONDS));
    let limit = timeout.unwrap_or(own);
    watch(VerifyProgress::Executing(proof, Duration::ZERO));
    match execute(project, test, limit, &mut |time| watch(VerifyProgress::Executing(proof, time))) {
        Ok(bounded) => VerifyState::Executed(evaluate(project, test, &bounded, limit)),
        Err(why) => VerifyState::NotExecuted(why),
    }
}

fn execute(
    project: &Project,
    test: &ProofSpec,
    limit: Duration,
    watch: &mut dyn FnMut(Duration),
) -> Result<ProcessReport, String> {
    let folder = working_folder(project, &test.directory)?;
    let mut command = process::command("/bin/sh");
    command.arg("-c").arg(&test.command).current_dir(folder);
    command.env_clear().envs(proof_variables());
    let bounds = ProcessLimits { time: limit, output_bytes: OUTPUT_BYTES_MAX };
    run_bounded(command, bounds, watch).map_err(|error| format!("it could not be started: {error}"))
}

/// Where a command runs. A link that leads out of the project is refused by the system.
fn working_folder(project: &Project, directory: &str) -> Result<PathBuf, String> {
    let root = project.root();
    if directory.is_empty() {
        return Ok(root.path().to_owned());
    }
    let below = root.open_below(Path::new(directory)).map_err(|error| error.to_string())?;
    let below = below.ok_or_else(|| format!("there is no folder `{directory}` in the project"))?;
    Ok(files::canonical(below.path()))
}

fn evaluate(
    project: &Project,
    test: &ProofSpec,
    bounded: &ProcessReport,
    limit: Duration,
) -> TrialReport {
    let output = strip_escapes(&bounded.output.text());
    let run =
        Trial { end: bounded.ended, output: &output, dropped_bytes: bounded.output.dropped() };
    let TrialResult { outcome, number } = test.evaluate(&run);
    let exit = match bounded.ended {
        TrialEnd::Exit(code) => Some(code),
        TrialEnd::Signal(_) | TrialEnd::TimedOut => None,
    };
    // Looked through whole: a secret may begin before the end that is kept.
    let output = tail(project.clean(&output).0.as_str()).to_owned();
    TrialReport { outcome, exit, measured: number, time: bounded.time, limit, output }
}

fn tail(text: &str) -> &str {
    let from = text.len().saturating_sub(TAIL_BYTES_MAX);
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    &text[from..]
}

fn completed_proofs(proofs: &[VerifiedProof]) -> Vec<CompletedProof> {
    let ran = proofs.iter().filter_map(|proof| match (&proof.state, &proof.test) {
        (VerifyState::Executed(ran), Some(test)) => Some(CompletedProof {
            number: proof.number,
            spec: test.clone(),
            outcome: ran.outcome.recorded_outcome(),
            measured: ran.measured.clone(),
        }),
        _ => None,
    });
    ran.collect()
}

/// `verified: 1 holds, 2 broken`
fn reason(proven: &[CompletedProof]) -> String {
    use midstride_core::format::header::RecordedOutcome::{Broken, Holds, TimedOut};
    let parts = [(Holds, "holds"), (Broken, "broken"), (TimedOut, "timed out")];
    let parts = parts.into_iter().filter_map(|(outcome, word)| {
        let number = proven.iter().filter(|run| run.outcome == outcome).count();
        (number > 0).then(|| format!("{number} {word}"))
    });
    format!("verified: {}", parts.collect::<Vec<String>>().join(", "))
}

fn record_in_document(
    project: &Project,
    shelved: &StoredHandoff,
    proven: &[CompletedProof],
    record: &RecordOptions,
    reason: String,
) -> Result<RecordedRevision, ApplyError> {
    let environment = project.environment();
    let occasion = TrialContext {
        at: environment.clock.now(),
        by: record.by.clone().or_else(|| environment.user.clone()),
        commit: current_commit(project),
    };
    let decide = |handoff: &Handoff<'_>| lifecycle::verify(handoff, proven, record.side, &occasion);
    let change = RevisionInfo::by_verb(RevisionVerb::Verify, reason, record.by.clone());
    apply(project, shelved, &decide, &change)
}

fn current_commit(project: &Project) -> Option<String> {
    project.repository().and_then(crate::sys::git::Repository::head_commit)
}

/// Tells the ledger what was run. What was written into the document gave it a uid.
fn append_to_ledger(
    project: &Project,
    shelved: &StoredHandoff,
    proofs: &[VerifiedProof],
) -> Result<(), String> {
    let now = project.reread(shelved).map_err(|error| error.to_string())?;
    let handoff = now.handoff(project);
    let Some(uid) = handoff.uid() else {
        return Err("the handoff has no uid yet; `--record` gives it one".to_owned());
    };
    let events: Vec<Envelope> =
        proofs.iter().filter_map(|proof| ledger_event(project, &handoff, proof)).collect();
    let ledger =
        SqliteLedger::open(project, WaitPolicy::Command).map_err(|error| error.to_string())?;
    // What the document tells came before.
    project.reconcile(&ledger, &now).map_err(|error| error.to_string())?;
    let stream = StreamId::handoff(uid.value.trim());
    ledger.append_missing(&[(stream, events)]).map(|_| ()).map_err(|error| error.to_string())
}

fn ledger_event(
    project: &Project,
    handoff: &Handoff<'_>,
    proof: &VerifiedProof,
) -> Option<Envelope> {
    let (VerifyState::Executed(ran), Some(test)) = (&proof.state, &proof.test) else { return None };
    let clean = |text: &str| tail(project.clean(text).0.as_str()).to_owned();
    let why = match &ran.outcome {
        TrialOutcome::Broken(why) => Some(clean(why)),
        TrialOutcome::Holds | TrialOutcome::TimedOut => None,
    };
    let environment = project.environment();
    let now = environment.clock.now();
    Some(Envelope {
        id: new_uid(now),
        time: now,
        source: clean(environment.user.as_deref().unwrap_or("midstride")),
        event: Event::Proof(ProofEvent::Ran {
            key: clean(&handoff.key().to_string()),
            number: proof.number,
            claim: proof.claim.as_deref().map(clean),
            command: clean(&test.command),
            directory: clean(&test.directory),
            outcome: ran.outcome.recorded_outcome().word().to_owned(),
            why,
            exit: ran.exit,
            measured: ran.measured.as_ref().map(Number::to_string),
            milliseconds: u64::try_from(ran.time.as_millis()).unwrap_or(u64::MAX),
            commit: current_commit(project),
            output: ran.output.clone(),
        }),
    })
}
