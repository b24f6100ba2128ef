//! `midstride client add`.

use super::{Outcome, Target, carry_out, show};
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use midstride::install::{OnPath, Plan, Wishes, on_path};
use midstride::settings::Environment;
use midstride::verbs;
use midstride_core::session::Client;

/// Install midstride into a client
///
/// Hooks, the MCP server and the skills `midstride-handoff` and `midstride-continue` are put beside
/// what is there; nothing is replaced, and a second time changes nothing. An agent may run this with
/// `--yes`: it only makes midstride be called. What takes questions away from you, `--allow-read-tools`
/// and `--trust-hooks`, it may not. Nothing is written into CLAUDE.md or AGENTS.md.
#[derive(Debug, clap::Args)]
pub(crate) struct AddArgs {
    #[command(flatten)]
    target: Target,

    /// Let the client use the tools that only read without asking: brief, get, search and check
    #[arg(long)]
    allow_read_tools: bool,

    /// Tell Codex that you trust these hooks; without it Codex asks you once
    #[arg(long)]
    trust_hooks: bool,
}

pub(super) fn add(
    ui: &mut Ui,
    environment: &Environment,
    args: &AddArgs,
) -> Result<Outcome, Diagnostic> {
    let target = &args.target;
    let scope = target.scope(environment)?;
    let clients = target.clients(environment)?;
    let wishes = Wishes {
        allow_read_tools: args.allow_read_tools || wants_read_tools(ui, environment, target)?,
        trust_hooks: args.trust_hooks,
    };
    let plan = |client: &Client| verbs::add_to_client(environment, *client, &scope, wishes);
    let plans: Vec<Plan> = clients.iter().map(plan).collect::<Result<_, _>>()?;
    show(ui, target, &plans)?;
    if target.dry_run {
        tell_path(ui)?;
        return Ok(Outcome::Clean);
    }
    if !carry_out(ui, environment, target, &plans, "Write this?")? {
        return Ok(Outcome::Findings);
    }
    tell_path(ui)?;
    for client in clients {
        let standing = verbs::client_standing(environment, client, &scope)?;
        for line in view::client::after_adding(&standing) {
            ui.say(&line)?;
        }
    }
    Ok(Outcome::Clean)
}

/// A question of its own, for a person who sits there.
fn wants_read_tools(
    ui: &mut Ui,
    environment: &Environment,
    target: &Target,
) -> Result<bool, Diagnostic> {
    let is_asked = !target.yes && !target.dry_run && Ui::is_watched();
    if !is_asked || environment.inside.is_some() {
        return Ok(false);
    }
    Ok(ui.ask(
        "May it use midstride's tools that only read (brief, get, search, check) without asking?",
    )?)
}

/// Clients call midstride by its name.
fn tell_path(ui: &mut Ui) -> Result<(), Diagnostic> {
    let (message, hint) = match on_path() {
        OnPath::Same(_) => return Ok(()),
        found @ (OnPath::Other(..) | OnPath::Missing) => view::client::path_problem(&found),
    };
    Diagnostic::new(message).hint(hint).warn(ui)?;
    Ok(())
}
