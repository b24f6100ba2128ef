use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use clap::ValueEnum;
use midstride::journal::Change;
use midstride::project::Project;
use midstride_core::handoff::Handoff;
use midstride_core::life::{self, ReviewVerdict};

/// Record that somebody called a handoff into question, and what came of it
#[derive(Debug, clap::Args)]
pub(crate) struct ReviewArgs {
    /// The handoff: an id, the start of one, `id/stage`, or a path
    handoff: String,

    /// Who looked at it
    #[arg(long, value_name = "WHO")]
    by: String,

    /// What was called into question
    #[arg(long, value_name = "TEXT")]
    challenged: String,

    /// What came of it
    #[arg(long, value_enum)]
    verdict: VerdictArg,

    /// Print what was recorded as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum VerdictArg {
    /// The handoff was right
    Held,
    /// Something in it was wrong; revise it next
    Corrected,
    /// It was wrong
    Rejected,
}

pub(crate) fn review(
    ui: &mut Ui,
    project: &Project,
    args: &ReviewArgs,
) -> Result<Outcome, Diagnostic> {
    let shelved = project.find(&args.handoff)?;
    let handoff = shelved.handoff(project);
    let verdict = match args.verdict {
        VerdictArg::Held => ReviewVerdict::Held,
        VerdictArg::Corrected => ReviewVerdict::Corrected,
        VerdictArg::Rejected => ReviewVerdict::Rejected,
    };
    let now = project.environment().clock.now();
    let decide =
        |handoff: &Handoff<'_>| Ok(life::review(handoff, &args.by, &args.challenged, verdict, now));
    let reason = format!("reviewed: {} ({})", args.challenged, verdict.word());
    let key = handoff.key();
    let change = Change { reason, by: Some(args.by.clone()) };
    let outcome = super::live(ui, project, &shelved, &decide, &change, args.json)?;
    if verdict == ReviewVerdict::Corrected && !args.json {
        ui.say(&format!("Next: midstride revise {key} --reason \"{}\"", args.challenged))?;
    }
    Ok(outcome)
}
