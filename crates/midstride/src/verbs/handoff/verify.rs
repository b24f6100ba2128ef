//! Runs the proofs the user allowed, and reports the results.

use crate::journal::{RecordedRevision, RevisionInfo};
use crate::store::Store;
use crate::store::ledger::{AppendError, LedgerError, LocalLedger as _, StreamId};
use crate::store::reconcile::ReconcileError;
use crate::sys::env::{Automation, proof_variables};
use crate::sys::files::{self, FileError};
use crate::sys::ids::new_uid;
use crate::sys::process::{self, ProcessLimits, ProcessReport, run_bounded};
use crate::verbs::handoff::apply::{ApplyError, apply};
use crate::verbs::handoff::proof_permission::{AllowError, AllowableProof, allowable_proofs};
use crate::workspace::{DocumentSelection, FindError, StoredHandoff, Workspace};
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::Handoff;
use midstride_core::handoff::lifecycle::{self, CompletedProof, MeasurementSide, TrialContext};
use midstride_core::handoff::proof::{
    Number, ProofSpec, ProofSpecError, Trial, TrialEnd, TrialOutcome, TrialResult, strip_escapes,
};
use midstride_core::text::id::CommitId;
use midstride_core::work::event::{Envelope, Event, ProofEvent};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The timeout for a command that sets none.
pub const TIMEOUT_SECONDS: u64 = 120;
/// How much output is read.
const OUTPUT_BYTES_MAX: usize = 1 << 20;
/// How much of the end of the output is kept.
const TAIL_BYTES_MAX: usize = 2 << 10;

/// Which proofs to run, and how.
#[derive(Clone, Debug, Default)]
pub struct VerifyRequest {
    /// Only this proof.
    pub only: Option<usize>,
    /// Overrides the timeout of every proof.
    pub timeout: Option<Duration>,
    /// Whether and how to record the results in the document.
    pub record: Option<RecordOptions>,
}

/// How to record results in the document.
#[derive(Clone, Debug, Default)]
pub struct RecordOptions {
    /// Which side of a measurement this is.
    pub side: Option<MeasurementSide>,
    /// The author of the record.
    pub by: Option<String>,
}

/// The results for one handoff.
#[derive(Debug)]
pub struct Verification {
    /// The proofs, in document order.
    pub proofs: Vec<VerifiedProof>,
    /// Whether the results were recorded in the document.
    pub recording: ProofRecording,
    /// The reason in that revision.
    pub reason: String,
    /// Why the ledger could not be updated.
    pub ledger_error: Option<ProofLedgerError>,
}

/// Whether the results were recorded in the document.
#[derive(Debug)]
pub enum ProofRecording {
    /// The caller did not ask for it, or no proof ran.
    Skipped,
    /// In this revision.
    Recorded(RecordedRevision),
    /// The document could not be changed.
    Failed(ApplyError),
}

impl From<Result<RecordedRevision, ApplyError>> for ProofRecording {
    fn from(applied: Result<RecordedRevision, ApplyError>) -> Self {
        match applied {
            Ok(recorded) => Self::Recorded(recorded),
            Err(error) => Self::Failed(error),
        }
    }
}

/// Why runs could not be recorded in the ledger.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProofLedgerError {
    /// The document could not be read again.
    #[error(transparent)]
    File(#[from] FileError),
    /// The handoff has no uid, so the ledger cannot refer to it.
    #[error("the handoff has no uid yet; `--record` adds one")]
    NoUid,
    /// The ledger could not be opened.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The ledger could not be reconciled with the document.
    #[error(transparent)]
    Reconcile(#[from] ReconcileError),
    /// The runs could not be appended.
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// The result of one proof.
#[derive(Debug)]
pub struct VerifiedProof {
    /// Its number, from one, in document order.
    pub number: usize,
    /// The claim.
    pub claim: Option<String>,
    /// The command.
    pub test: Option<ProofSpec>,
    /// Its result.
    pub state: VerifyState,
}

/// The state of a proof.
#[derive(Debug)]
pub enum VerifyState {
    /// It ran.
    Executed(TrialReport),
    /// The user did not allow it.
    NotAllowed,
    /// Its specification is invalid.
    NotUnderstood(ProofSpecError),
    /// It could not start.
    NotExecuted(ProofStartError),
}

/// Why a proof could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProofStartError {
    /// This midstride itself runs in a proof.
    #[error("a proof cannot run other proofs")]
    InsideProof,
    /// The folder it runs in does not exist.
    #[error("there is no `{0}` folder in the project")]
    NoFolder(String),
    /// The folder it runs in could not be opened.
    #[error(transparent)]
    File(#[from] FileError),
    /// The shell could not be started.
    #[error("could not start the shell: {0}")]
    Shell(io::Error),
}

/// A proof that ran.
#[derive(Clone, Debug)]
pub struct TrialReport {
    /// The outcome.
    pub outcome: TrialOutcome,
    /// The exit code; `None` after a signal or a timeout.
    pub exit: Option<i32>,
    /// The number found in its output.
    pub measured: Option<Number>,
    /// How long it ran.
    pub time: Duration,
    /// Its timeout.
    pub limit: Duration,
    /// The end of its output, redacted.
    pub output: String,
}

/// The progress of a verification.
#[derive(Clone, Copy, Debug)]
pub enum VerifyProgress<'p> {
    /// A proof is running, with this timeout.
    Executing(&'p AllowableProof, Duration),
    /// A proof is done.
    Done(&'p VerifiedProof),
}

/// The open handoffs that have proofs.
pub fn verifiable_handoffs(workspace: &Workspace) -> Result<DocumentSelection, FindError> {
    let mut selection = workspace.select(&[])?;
    selection.documents.retain(|stored| {
        let handoff = stored.handoff(workspace);
        handoff.status().is_open() && !handoff.proofs().is_empty()
    });
    Ok(selection)
}

/// Runs the allowed proofs, records the results in the ledger and, if requested, in the document.
/// Calls `watch` and writes to the ledger after each proof, so that a later failure does not lose
/// earlier results.
pub fn verify(
    store: &Store,
    stored: &StoredHandoff,
    asked: &VerifyRequest,
    watch: &mut dyn FnMut(VerifyProgress<'_>),
) -> Result<Verification, AllowError> {
    let workspace = store.workspace();
    let mut proofs = Vec::new();
    let mut ledger_error = None;
    // A document without a uid cannot be referenced in the ledger. Its first revision gives it one.
    let can_tell = stored.handoff(workspace).uid().is_some();
    for proof in allowable_proofs(workspace, stored, asked.only)? {
        let state = verify_proof(workspace, &proof, asked.timeout, watch);
        let AllowableProof { number, claim, test, .. } = proof;
        let verified = VerifiedProof { number, claim, test: test.ok(), state };
        if can_tell && matches!(verified.state, VerifyState::Executed(_)) {
            let appended = append_to_ledger(store, stored, std::slice::from_ref(&verified));
            ledger_error = appended.err().or(ledger_error);
        }
        watch(VerifyProgress::Done(&verified));
        proofs.push(verified);
    }
    let proven = completed_proofs(&proofs);
    let reason = reason(&proven);
    let record = asked.record.as_ref().filter(|_| !proven.is_empty());
    let recording = match record {
        Some(record) => record_in_document(store, stored, &proven, record, reason.clone()).into(),
        None => ProofRecording::Skipped,
    };
    if !can_tell && !proven.is_empty() {
        ledger_error = append_to_ledger(store, stored, &proofs).err();
    }
    Ok(Verification { proofs, recording, reason, ledger_error })
}

fn verify_proof(
    workspace: &Workspace,
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
    if workspace.environment().automation() == Some(Automation::Proof) {
        return VerifyState::NotExecuted(ProofStartError::InsideProof);
    }
    let own = Duration::from_secs(test.timeout.unwrap_or(TIMEOUT_SECONDS));
    let limit = timeout.unwrap_or(own);
    watch(VerifyProgress::Executing(proof, Duration::ZERO));
    match execute(workspace, test, limit, &mut |time| watch(VerifyProgress::Executing(proof, time)))
    {
        Ok(bounded) => VerifyState::Executed(evaluate(workspace, test, &bounded, limit)),
        Err(why) => VerifyState::NotExecuted(why),
    }
}

fn execute(
    workspace: &Workspace,
    test: &ProofSpec,
    limit: Duration,
    watch: &mut dyn FnMut(Duration),
) -> Result<ProcessReport, ProofStartError> {
    let folder = working_folder(workspace, &test.directory)?;
    let mut command = process::command("/bin/sh");
    command.arg("-c").arg(&test.command).current_dir(folder);
    command.env_clear().envs(proof_variables());
    let bounds = ProcessLimits { time: limit, output_bytes: OUTPUT_BYTES_MAX };
    run_bounded(command, bounds, watch).map_err(ProofStartError::Shell)
}

/// The folder a command runs in. A link that leads out of the project is refused.
fn working_folder(workspace: &Workspace, directory: &str) -> Result<PathBuf, ProofStartError> {
    let root = workspace.root();
    if directory.is_empty() {
        return Ok(root.path().to_owned());
    }
    let below = root.open_below(Path::new(directory))?;
    let below = below.ok_or_else(|| ProofStartError::NoFolder(directory.to_owned()))?;
    Ok(files::canonical(below.path()))
}

fn evaluate(
    workspace: &Workspace,
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
    // Redact all of it before truncating: a secret may begin before the part that is kept.
    let output = tail(workspace.clean(&output).0.as_str()).to_owned();
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

/// The revision's reason, such as `verified: 1 holds, 2 broken`.
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
    store: &Store,
    stored: &StoredHandoff,
    proven: &[CompletedProof],
    record: &RecordOptions,
    reason: String,
) -> Result<RecordedRevision, ApplyError> {
    let workspace = store.workspace();
    let environment = workspace.environment();
    let occasion = TrialContext {
        at: environment.clock.now(),
        by: Some(environment.author(record.by.as_deref())),
        commit: current_commit(workspace),
    };
    let decide = |handoff: &Handoff<'_>| lifecycle::verify(handoff, proven, record.side, &occasion);
    let change = RevisionInfo::by_verb(RevisionVerb::Verify, reason, record.by.clone());
    apply(store, stored, &decide, &change)
}

fn current_commit(workspace: &Workspace) -> Option<CommitId> {
    workspace.repository().and_then(crate::sys::git::Repository::head_commit)
}

/// Records the runs in the ledger. Reads the document again, because recording may have given it a
/// uid.
fn append_to_ledger(
    store: &Store,
    stored: &StoredHandoff,
    proofs: &[VerifiedProof],
) -> Result<(), ProofLedgerError> {
    let workspace = store.workspace();
    let now = workspace.reread(stored)?;
    let handoff = now.handoff(workspace);
    let uid = handoff.uid().ok_or(ProofLedgerError::NoUid)?;
    let events: Vec<Envelope> =
        proofs.iter().filter_map(|proof| ledger_event(workspace, &handoff, proof)).collect();
    let ledger = store.ledger()?;
    // What the document records came first.
    store.reconcile(ledger, &now)?;
    let stream = StreamId::handoff(&uid);
    ledger.append_missing(&[(stream, events)])?;
    Ok(())
}

fn ledger_event(
    workspace: &Workspace,
    handoff: &Handoff<'_>,
    proof: &VerifiedProof,
) -> Option<Envelope> {
    let (VerifyState::Executed(ran), Some(test)) = (&proof.state, &proof.test) else { return None };
    let clean = |text: &str| tail(workspace.clean(text).0.as_str()).to_owned();
    let why = match &ran.outcome {
        TrialOutcome::Broken(why) => Some(clean(&why.to_string())),
        TrialOutcome::Holds | TrialOutcome::TimedOut => None,
    };
    let environment = workspace.environment();
    let now = environment.clock.now();
    Some(Envelope {
        id: new_uid(now),
        time: now,
        source: clean(&environment.author(None)),
        received_from: None,
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
            commit: current_commit(workspace),
            output: ran.output.clone(),
        }),
    })
}
