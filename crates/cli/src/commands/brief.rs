use super::{Outcome, tell_unread};
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use clap::ValueEnum;
use midstride::project::{Project, Selection};
use midstride::verbs::{self, Board};

/// Print what whoever takes the work over has to know
///
/// As a mission: where all tasks stand now, what was decided, what is open and what to do next, from
/// the last `midstride task mission`, from the tasks and from the open handoffs.
#[derive(Debug, clap::Args)]
pub(crate) struct BriefArgs {
    /// As what
    #[arg(long = "as", value_enum, value_name = "FORM")]
    form: Option<Form>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    Mission,
}

pub(crate) fn brief(
    ui: &mut Ui,
    project: &Project,
    args: &BriefArgs,
) -> Result<Outcome, Diagnostic> {
    match args.form {
        Some(Form::Mission) => mission(ui, project, args.json),
        None => Err(Diagnostic::new("a briefing as what?")
            .hint("midstride brief --as mission tells where the whole work stands")
            .hint("midstride show ID tells one handoff")),
    }
}

fn mission(ui: &mut Ui, project: &Project, json: bool) -> Result<Outcome, Diagnostic> {
    let states = verbs::missions(project)?;
    let tasks = Board::open(project)?.tasks;
    let Selection { documents, unread } = project.select(&[])?;
    let briefing = view::mission::Briefing {
        mission: states.last(),
        tasks: &tasks,
        binding: view::mission::binding(project, &documents),
        questions: view::task::questions(project, &documents),
    };
    match json {
        true => ui.json(&view::mission::json(&briefing))?,
        false => ui.print(&view::mission::text(&briefing))?,
    }
    if states.is_empty() && !json {
        ui.say("No mission state was captured; this is what the tasks and handoffs tell.")?;
        ui.say("Next: midstride task mission --decision \"...\" --next \"...\"")?;
    }
    tell_unread(ui, project, unread)
}
