use super::{CliOutcome, report_unread};
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs;
use midstride::workspace::{SetupMode, Workspace};
use midstride_surface::diagnostic::{Diagnostic, unread_store};
use midstride_surface::view::home::{self as view, HomeContext};

/// Show this project at a glance
///
/// Shows the last session and how to reopen it, unfinished work, what is waiting on you, open
/// handoffs, tasks in progress or ready, problems, and the next command to run, in at most 24
/// lines. `--json` prints complete lists. Outside a repository, or with `--all`, lists every
/// repository with unfinished work.
#[derive(Debug, clap::Args)]
#[command(
    visible_alias = "st",
    after_help = "Examples:
  midstride status
  midstride status --all
  midstride status --json"
)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) home: HomeArgs,
}

// The same options without a command. A doc comment here would replace the one of the program.
#[derive(Debug, clap::Args)]
pub(crate) struct HomeArgs {
    /// List every repository with unfinished work
    #[arg(long)]
    all: bool,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

impl HomeArgs {
    /// The first option that was given.
    pub(crate) fn given_option(&self) -> Option<&'static str> {
        let given = [("--json", self.json), ("--all", self.all)];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }
}

pub(crate) fn status(
    ui: &mut Ui,
    store: &Store,
    args: &HomeArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let is_project = workspace.repository().is_some() || workspace.setup() != SetupMode::NotSetUp;
    if args.all || !is_project {
        return list_projects(ui, workspace, args.json);
    }
    if let Some(exclusion) = workspace.exclusion() {
        return Err(exclusion.into());
    }
    let home = verbs::home(store)?;
    match args.json {
        true => ui.print_json(&view::json(&home))?,
        false => ui.print(&view::text(&home, &home_context(workspace)))?,
    }
    for path in workspace.unread_stores() {
        ui.warn(&unread_store(&path))?;
    }
    if let Some(error) = home.ledger_error {
        ui.warn(&Diagnostic::from(error).hint("sessions and tasks are not included"))?;
    }
    report_unread(ui, workspace, home.unread)
}

/// Lists every repository with unfinished work.
fn list_projects(ui: &mut Ui, workspace: &Workspace, json: bool) -> Result<CliOutcome, Diagnostic> {
    let projects = verbs::unfinished_projects(workspace.environment());
    match (json, projects.is_empty()) {
        (true, _) => ui.print_json(&view::all_json(&projects))?,
        (false, true) => {
            ui.say("No repository with unfinished work. Next: midstride setup")?;
        }
        (false, false) => ui.print(&view::all_text(&projects, &home_context(workspace)))?,
    }
    Ok(CliOutcome::Clean)
}

fn home_context(workspace: &Workspace) -> HomeContext {
    let environment = workspace.environment();
    HomeContext { now: environment.clock.now(), home: environment.home.clone(), width: Ui::width() }
}
