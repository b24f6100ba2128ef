//! `midstride task mission`.

use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, NewMission};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::json::JsonList;
use midstride_surface::view;

/// Record the state of the whole mission
///
/// Adds to the last recorded state; earlier states are kept. Decisions and questions stay until you
/// drop them. Next actions, mode and iteration stay until you set new ones. `midstride brief --as
/// mission` prints the state along with task status.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride task mission --next 'Fix the build' --decision 'Redis, because it is there'
  midstride task mission --history")]
pub(crate) struct TaskMissionArgs {
    /// A decision, and who made it; may be repeated
    #[arg(long, value_name = "TEXT", value_parser = super::super::parse_sentence, allow_hyphen_values = true)]
    decision: Vec<String>,

    /// An open question; may be repeated
    #[arg(long, value_name = "TEXT", value_parser = super::super::parse_sentence, allow_hyphen_values = true)]
    question: Vec<String>,

    /// What to do next, in order; replaces the earlier list
    #[arg(long, value_name = "TEXT", value_parser = super::super::parse_sentence, allow_hyphen_values = true)]
    next: Vec<String>,

    /// How you work
    #[arg(long, value_name = "MODE", value_parser = super::super::parse_text, allow_hyphen_values = true)]
    mode: Option<String>,

    /// The iteration
    #[arg(long, value_name = "NUMBER")]
    iteration: Option<u64>,

    /// Drop an earlier decision, by its number; may be repeated
    #[arg(long, value_name = "NUMBER")]
    drop_decision: Vec<usize>,

    /// Drop an earlier question, by its number; may be repeated
    #[arg(long, value_name = "NUMBER")]
    drop_question: Vec<usize>,

    /// Start with an empty state
    #[arg(long, conflicts_with_all = ["drop_decision", "drop_question"])]
    fresh: bool,

    /// The author
    #[arg(long, value_name = "WHO", value_parser = super::super::parse_text)]
    by: Option<String>,

    /// List recorded states, newest first
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
            &newest_first.map(|s| view::mission::mission_json(Some(s))).collect::<JsonList<_>>(),
        )?;
    } else if states.is_empty() {
        ui.say("No mission state was captured. Next: midstride task mission --next \"...\"")?;
    } else {
        ui.print(&view::mission::history(&states))?;
    }
    Ok(CliOutcome::Clean)
}
