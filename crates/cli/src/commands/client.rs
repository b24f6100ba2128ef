mod add;
mod list;
mod purge;
mod remove;

pub(crate) use add::report_path_problem;

use super::CliOutcome;
use crate::ui::Ui;
use clap::Subcommand;
use midstride::clients::install::{InstallPlan, InstallScope};
use midstride::clients::{self, Client};
use midstride::sys::env::Environment;
use midstride::verbs;
use midstride::workspace::Workspace;
use midstride_surface::diagnostic::{Diagnostic, ErrorCode};
use midstride_surface::json::JsonList;
use midstride_surface::view;

/// Install or remove midstride in your agents
///
/// Each client gets hooks that call `midstride`, the midstride MCP server, and the `handoff` and
/// `continue` commands. `add` and `remove` show each file change first and preserve comments,
/// formatting and other entries.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride client list
  midstride client add claude-code --dry-run")]
pub(crate) struct ClientArgs {
    #[command(subcommand)]
    command: ClientCommand,
}

#[derive(Debug, Subcommand)]
enum ClientCommand {
    Add(add::ClientAddArgs),
    Remove(remove::ClientRemoveArgs),
    List(list::ClientListArgs),
}

/// Which clients, and for whom.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("which").required(true)))]
struct ClientTarget {
    /// Client names
    #[arg(value_parser = super::client_parser(), value_name = "CLIENT", group = "which")]
    clients: Vec<&'static dyn Client>,

    /// Every client found on this machine
    #[arg(long, group = "which")]
    all: bool,

    /// For you, in every project [default]
    #[arg(long, conflicts_with = "project")]
    user: bool,

    /// For everyone on this project, in files you can commit
    #[arg(long)]
    project: bool,

    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,

    /// Only show what would change
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,

    /// Print what changes as JSON
    #[arg(long)]
    json: bool,
}

impl ClientTarget {
    /// The clients that are found on this machine.
    fn detected_clients(environment: &Environment) -> Vec<&'static dyn Client> {
        let found = verbs::find_clients(environment).into_iter();
        found.filter(|found| found.2).map(|found| found.0).collect()
    }

    fn clients(&self, environment: &Environment) -> Result<Vec<&'static dyn Client>, Diagnostic> {
        if !self.all {
            return Ok(self.clients.clone());
        }
        let found = Self::detected_clients(environment);
        if found.is_empty() {
            let (variables, first) = (clients::home_variables(), clients::ALL[0].name());
            return Err(Diagnostic::with_code(
                ErrorCode::NotFound,
                "no client found on this machine",
            )
            .hint(format!(
                "start a client once, or specify one with `midstride client add {first}`; if its home folder is in another location, set {variables}"
            )));
        }
        Ok(found)
    }

    fn scope(&self, environment: &Environment) -> Result<InstallScope, Diagnostic> {
        if !self.project {
            return Ok(InstallScope::User);
        }
        let workspace = Workspace::discover_ignoring_settings(environment.clone())?;
        Ok(InstallScope::Project(workspace.root().path().to_owned()))
    }
}

pub(crate) fn client(
    ui: &mut Ui,
    environment: &Environment,
    args: ClientArgs,
) -> Result<CliOutcome, Diagnostic> {
    match args.command {
        ClientCommand::Add(args) => add::add(ui, environment, &args),
        ClientCommand::Remove(args) => remove::remove(ui, environment, &args),
        ClientCommand::List(args) => list::list(ui, environment, &args),
    }
}

/// Shows the plans, and what they leave unchanged.
fn show_plans(
    ui: &mut Ui,
    environment: &Environment,
    target: &ClientTarget,
    plans: &[InstallPlan],
) -> Result<(), Diagnostic> {
    for note in plans.iter().flat_map(|plan| &plan.notes) {
        let (message, hint) = view::client::note(note);
        ui.warn(&Diagnostic::new(message).hint(hint))?;
    }
    if target.json {
        return Ok(ui.print_json(&JsonList::from_iter(view::client::plans_json(plans)))?);
    }
    let changes = view::client::changes(plans);
    if target.dry_run {
        ui.print(&changes)?;
    } else {
        ui.show_lines(environment, &changes)?;
    }
    for line in view::client::summary(plans) {
        ui.say(&line)?;
    }
    Ok(())
}

/// Applies plans if the user or `--yes` confirms. Returns whether they were applied.
fn apply_plans(
    ui: &mut Ui,
    environment: &Environment,
    target: &ClientTarget,
    plans: &[InstallPlan],
    verb: &str,
) -> Result<bool, Diagnostic> {
    let changing = plans.iter().filter(|plan| !plan.changes.is_empty());
    let clients: Vec<&str> = changing.map(|plan| plan.client.title()).collect();
    if !clients.is_empty() && !target.yes {
        if !Ui::is_interactive() {
            return Err(Diagnostic::with_code(
                ErrorCode::RequiresUser,
                "cannot prompt: no terminal",
            )
            .hint("pass `--yes`"));
        }
        if !ui.confirm(&format!("{verb} {}?", clients.join(", ")))? {
            ui.say("Nothing was changed.")?;
            return Ok(false);
        }
    }
    for plan in plans {
        verbs::apply_plan(environment, plan)?;
    }
    Ok(true)
}
