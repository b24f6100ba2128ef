use super::{CliOutcome, report_recorded, report_unread};
use crate::ui::Ui;
use clap::ValueEnum;
use midstride::store::Store;
use midstride::sys::files::FileError;
use midstride::verbs::{
    self, AllowableProof, ProofRecording, RecordOptions, Verification, VerifyProgress,
    VerifyRequest, VerifyState,
};
use midstride::workspace::{DocumentSelection, StoredHandoff, Workspace};
use midstride_core::handoff::lifecycle::MeasurementSide;
use midstride_core::handoff::proof::TrialOutcome as Proven;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::text::sanitize;
use midstride_surface::view;
use std::time::Duration;

/// Re-run the proof commands you have approved
///
/// Without a handoff, runs the commands of all open handoffs. Each command runs in its own process
/// group, with no input, no secrets in its environment, and a time limit. Exits with 0 if every
/// proof holds; 1 if any proof is broken, too slow, not allowed, not understood or missing; and 2
/// if any proof could not be run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride verify market
  midstride verify market --only 1 --record")]
pub(crate) struct VerifyArgs {
    /// Id, id prefix, `id/stage`, or path
    handoff: Option<String>,

    /// Only the proof with this number
    #[arg(long, value_name = "PROOF", requires = "handoff")]
    only: Option<usize>,

    /// Record the results and measurements in the document
    #[arg(long)]
    record: bool,

    /// Which number to record [default: `before` if the measurement has none yet, else `after`]
    #[arg(long = "as", value_enum, value_name = "SIDE", requires = "record")]
    side: Option<MeasurementSideArg>,

    /// Who is running it
    #[arg(long, value_name = "WHO", value_parser = super::parse_text, requires = "record")]
    by: Option<String>,

    /// Time limit for each command
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MeasurementSideArg {
    /// The number before the work
    Before,
    /// The number after it
    After,
}

pub(crate) fn verify(
    ui: &mut Ui,
    store: &Store,
    args: &VerifyArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let (chosen, unread) = select_handoffs(workspace, args.handoff.as_deref())?;
    let asked = VerifyRequest {
        only: args.only,
        timeout: args.timeout.map(Duration::from_secs),
        record: args
            .record
            .then(|| RecordOptions { side: args.side.map(side), by: args.by.clone() }),
    };
    let mut all = Vec::new();
    for stored in &chosen {
        let mut shown = 0;
        let mut printed = Ok(());
        let done = verbs::verify(store, stored, &asked, &mut |progress| match progress {
            VerifyProgress::Executing(proof, time) => {
                Ui::show_status(&progress_line(workspace, stored, proof, time));
            }
            VerifyProgress::Done(proof) => {
                Ui::show_status("");
                if !args.json && printed.is_ok() {
                    printed = ui.print(&view::verify::text(workspace, stored, proof, shown == 0));
                }
                shown += 1;
            }
        })?;
        printed?;
        if !args.json {
            report(ui, workspace, stored, &done)?;
        }
        all.push((stored, done));
    }
    if args.json {
        ui.print_json(&view::verify::json(workspace, &all))?;
    } else if all.iter().all(|(_, done)| done.proofs.is_empty()) {
        ui.say(&no_proofs_message(
            workspace,
            args.handoff.is_some().then(|| chosen.first()).flatten(),
        ))?;
    }
    let could_read_all = report_unread(ui, workspace, unread)? == CliOutcome::Clean;
    let outcome = overall_outcome(&all, args.handoff.is_some());
    Ok(if could_read_all { outcome } else { CliOutcome::Incomplete })
}

fn side(side: MeasurementSideArg) -> MeasurementSide {
    match side {
        MeasurementSideArg::Before => MeasurementSide::Before,
        MeasurementSideArg::After => MeasurementSide::After,
    }
}

/// The named handoff, or all open ones with proofs.
fn select_handoffs(
    workspace: &Workspace,
    name: Option<&str>,
) -> Result<(Vec<StoredHandoff>, Vec<FileError>), Diagnostic> {
    if let Some(name) = name {
        return Ok((vec![workspace.find(name)?], Vec::new()));
    }
    let DocumentSelection { documents, unread } = verbs::verifiable_handoffs(workspace)?;
    Ok((documents, unread))
}

fn no_proofs_message(workspace: &Workspace, named: Option<&StoredHandoff>) -> String {
    match named {
        Some(stored) => {
            let key = stored.handoff(workspace).key().to_string();
            format!("{} has no proofs, so nothing was verified.", sanitize(&key))
        }
        None => "No open handoff has proofs.".to_owned(),
    }
}

fn progress_line(
    workspace: &Workspace,
    stored: &StoredHandoff,
    proof: &AllowableProof,
    time: Duration,
) -> String {
    let key = stored.handoff(workspace).key().to_string();
    let command = proof.test.as_ref().map_or("", |test| test.command.as_str());
    let text = format!("{key} {}: {} s  {command}", proof.number, time.as_secs());
    view::one_line(&text, Ui::width().unwrap_or(80).saturating_sub(1))
}

fn report(
    ui: &mut Ui,
    workspace: &Workspace,
    stored: &StoredHandoff,
    done: &Verification,
) -> Result<(), Diagnostic> {
    match &done.recording {
        ProofRecording::Recorded(recorded) => {
            report_recorded(ui, workspace, stored, recorded, &done.reason, false)?;
        }
        // The results are printed above, so a failure to record them is only a warning.
        ProofRecording::Failed(error) => ui.warn(&Diagnostic::new(error.to_string()))?,
        ProofRecording::Skipped => {}
    }
    if let Some(why) = &done.ledger_error {
        ui.warn(&Diagnostic::new(format!("the ledger was not updated: {why}")))?;
    }
    Ok(())
}

fn overall_outcome(all: &[(&StoredHandoff, Verification)], named: bool) -> CliOutcome {
    let not_written =
        all.iter().any(|(_, done)| matches!(done.recording, ProofRecording::Failed(_)));
    let states = || all.iter().flat_map(|(_, done)| &done.proofs).map(|proof| &proof.state);
    let not_run = states().any(|state| matches!(state, VerifyState::NotExecuted(_)));
    let holds = |state: &VerifyState| match state {
        VerifyState::Executed(ran) => ran.outcome == Proven::Holds,
        VerifyState::NotAllowed | VerifyState::NotUnderstood(_) | VerifyState::NotExecuted(_) => {
            false
        }
    };
    match (not_written || not_run, states().all(holds)) {
        (true, _) => CliOutcome::Incomplete,
        // A named handoff without proofs counts as findings.
        (false, true) if states().next().is_some() || !named => CliOutcome::Clean,
        (false, _) => CliOutcome::Findings,
    }
}
