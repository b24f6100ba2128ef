//! `midstride client add`.

use super::{CliOutcome, ClientTarget, apply_plans, show_plans};
use crate::ui::Ui;
use clap::ValueEnum;
use midstride::clients::Client;
use midstride::clients::install::{
    AllowedTools, InstallOptions, InstallPlan, PathLookup, find_on_path,
};
use midstride::sys::env::Environment;
use midstride::verbs;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Explains the choice.
const ACCESS_PROMPT: &str = "\
Which midstride tools may the client use without asking you?
  save  read handoffs, and save sessions, tasks and workflow states in the project
  read  only read handoffs (brief, get, search, check)
  none  ask each time; headless sessions cannot save
Press Enter to keep your current choice (`none` until you choose).
To revoke the choice, run `midstride client add --allow none` or `midstride client remove`.";

/// Install midstride in a client
///
/// Adds hooks, the MCP server and the `handoff` and `continue` skills. Replaces nothing, and
/// running it again changes nothing. An agent may run this with `--yes`, because that only makes
/// the client call midstride, but not with `--allow` or `--trust-hooks`. `midstride client remove`
/// reverts the installation. Does not write to CLAUDE.md or AGENTS.md.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride client add claude-code --yes
  midstride client add --all --dry-run")]
pub(crate) struct ClientAddArgs {
    #[command(flatten)]
    target: ClientTarget,

    /// midstride tools that the client may use without asking
    ///
    /// `--allow none` revokes everything you allowed before, and `--allow read` revokes only
    /// saving. Without this option, midstride asks at a terminal and otherwise keeps your earlier
    /// choice. Headless sessions (`claude -p`, `codex exec`) can use only the tools that are
    /// allowed.
    #[arg(long, value_enum, value_name = "WHAT")]
    allow: Option<ToolAccessArg>,

    /// Same as `--allow read`
    #[arg(long, hide = true, conflicts_with = "allow")]
    allow_read_tools: bool,

    /// Trust these hooks in Codex; otherwise Codex asks once
    #[arg(long)]
    trust_hooks: bool,
}

/// A tool access argument.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ToolAccessArg {
    /// Nothing
    None,
    /// Reading handoffs: brief, get, search, check
    Read,
    /// Reading, and saving sessions, tasks and workflow states
    Save,
}

impl From<ToolAccessArg> for AllowedTools {
    fn from(typed: ToolAccessArg) -> Self {
        match typed {
            ToolAccessArg::None => Self::Nothing,
            ToolAccessArg::Read => Self::Read,
            ToolAccessArg::Save => Self::Save,
        }
    }
}

pub(super) fn add(
    ui: &mut Ui,
    environment: &Environment,
    args: &ClientAddArgs,
) -> Result<CliOutcome, Diagnostic> {
    let target = &args.target;
    let scope = target.scope(environment)?;
    let clients = target.clients(environment)?;
    let allow = match args.allow {
        Some(typed) => Some(typed.into()),
        None if args.allow_read_tools => Some(AllowedTools::Read),
        None => ask_access(ui, environment, target)?,
    };
    let wishes =
        InstallOptions { allow, trust_hooks: args.trust_hooks, ..InstallOptions::default() };
    let plan =
        |client: &&'static dyn Client| verbs::add_to_client(environment, *client, &scope, wishes);
    let plans: Vec<InstallPlan> = clients.iter().map(plan).collect::<Result<_, _>>()?;
    show_plans(ui, environment, target, &plans)?;
    if target.dry_run {
        report_path_problem(ui)?;
        return Ok(CliOutcome::Clean);
    }
    if !apply_plans(ui, environment, target, &plans, "Add midstride to")? {
        return Ok(CliOutcome::Findings);
    }
    report_path_problem(ui)?;
    for client in clients {
        let status = verbs::client_status(environment, client, &scope)?;
        for line in view::client::install_remarks(&status) {
            ui.say(&line)?;
        }
    }
    Ok(CliOutcome::Clean)
}

/// Asks a user at a terminal. Without an answer, the earlier choice stays.
fn ask_access(
    ui: &mut Ui,
    environment: &Environment,
    target: &ClientTarget,
) -> Result<Option<AllowedTools>, Diagnostic> {
    let is_asked = !target.yes && !target.dry_run && Ui::is_interactive();
    if !is_asked || environment.automation().is_some() {
        return Ok(None);
    }
    ui.say(ACCESS_PROMPT)?;
    let typed = ui.prompt("MCP tools to allow [save/read/none]:")?.unwrap_or_default();
    Ok(match typed.trim().to_lowercase().as_str() {
        "save" | "s" => Some(AllowedTools::Save),
        "read" | "r" => Some(AllowedTools::Read),
        "none" | "n" => Some(AllowedTools::Nothing),
        _ => None,
    })
}

/// Warns if `midstride` is not on the PATH, because clients call it by name.
pub(crate) fn report_path_problem(ui: &mut Ui) -> Result<(), Diagnostic> {
    let (message, hint) = match find_on_path() {
        PathLookup::Same(_) => return Ok(()),
        found @ (PathLookup::Other(..) | PathLookup::Missing) => view::client::path_problem(&found),
    };
    ui.warn(&Diagnostic::new(message).hint(hint))?;
    Ok(())
}
