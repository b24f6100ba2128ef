//! `midstride task mission`.

use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, NewMission};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Capture how the work as a whole stands, for whoever takes it over
///
/// The last capture counts; earlier ones are kept. Decisions and questions carry over until you drop
/// them. Next actions, mode and iteration carry over until you give new ones. The status of tasks is
/// never captured: it is read from the tasks. `midstride brief --as mission` prints everything.
#[derive(Debug, clap::Args)]
pub(crate) struct TaskMissionArgs {
    /// What was decided, and by whom; may be given several times
    #[arg(long, value_name = "TEXT", value_parser = super::super::parse_sentence, allow_hyphen_values = true)]
    decision: Vec<String>,

    /// What is not known; may be given several times
    #[arg(long, value_name = "TEXT", value_parser = super::super::parse_sentence, allow_hyphen_values = true)]
    question: Vec<String>,

    /// What to do next, in order; replaces the list of the state before
    #[arg(long, value_name = "TEXT", value_parser = super::super::parse_sentence, allow_hyphen_values = true)]
    next: Vec<String>,

    /// How it is being worked
    #[arg(long, value_name = "MODE", value_parser = super::super::parse_text, allow_hyphen_values = true)]
    mode: Option<String>,

    /// The iteration the work is in
    #[arg(long, value_name = "NUMBER")]
    iteration: Option<u64>,

    /// Drop a decision of the state before, by its number; may be given several times
    #[arg(long, value_name = "NUMBER")]
    drop_decision: Vec<usize>,

    /// Drop a question of the state before, by its number; may be given several times
    #[arg(long, value_name = "NUMBER")]
    drop_question: Vec<usize>,

    /// Begin anew: nothing of the state before goes on
    #[arg(long, conflicts_with_all = ["drop_decision", "drop_question"])]
    fresh: bool,

    /// Who captures it
    #[arg(long, value_name = "WHO", value_parser = super::super::parse_text)]
    by: Option<String>,

    /// List what was captured so far, the newest first, and capture nothing
    #[arg(long, conflicts_with_all = ["decision", "question", "next", "mode", "iteration", "drop_decision", "drop_question", "fresh", "by"])]
    history: bool,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn mission(
    ui: &mut Ui,
    store: &Store,
    args: TaskMissionArgs,
) -> Result<CliOutcome, Diagnostic> {
    if args.history {
        return history(ui, store, args.json);
    }
    let new = NewMission {
        decisions: args.decision,
        questions: args.question,
        next: args.next,
        mode: args.mode,
        iteration: args.iteration,
        fresh: args.fresh,
        dropped_decisions: args.drop_decision,
        dropped_questions: args.drop_question,
    };
    let (state, redacted) = verbs::record_mission(store, &new, args.by.as_deref())?;
    if args.json {
        ui.print_json(&view::mission::mission_json(Some(&state)))?;
        return Ok(CliOutcome::Clean);
    }
    ui.print(&view::mission::history(std::slice::from_ref(&state)))?;
    super::super::report_redacted(ui, &redacted)?;
    ui.say("Next: midstride brief --as mission")?;
    Ok(CliOutcome::Clean)
}

fn history(ui: &mut Ui, store: &Store, json: bool) -> Result<CliOutcome, Diagnostic> {
    let states = verbs::missions(store)?;
    if json {
        let newest_first = states.iter().rev();
        ui.print_json(
            &newest_first.map(|s| view::mission::mission_json(Some(s))).collect::<Vec<_>>(),
        )?;
    } else if states.is_empty() {
        ui.say("No mission state was captured. Next: midstride task mission --next \"...\"")?;
    } else {
        ui.print(&view::mission::history(&states))?;
    }
    Ok(CliOutcome::Clean)
}
