//! `midstride client remove`.

use super::purge::ProjectPurge;
use super::{CliOutcome, ClientTarget, apply_plans, show_plans};
use crate::ui::Ui;
use midstride::clients::Client;
use midstride::clients::install::InstallPlan;
use midstride::sys::env::Environment;
use midstride::verbs;
use midstride_surface::diagnostic::Diagnostic;

/// Take midstride out of a client
///
/// Exactly what was inserted goes. A file that nobody wrote since is again what it was, byte for
/// byte; in one that was edited since, every edit stays. Handoffs, checkpoints and everything else
/// that midstride keeps are not touched.
///
/// With `--purge` what midstride keeps for this project goes as well: the folder `.midstride` with its
/// handoffs, ledger, index, log, earlier texts, and the permissions that you gave here. All of it is
/// listed first, with what git does not have. Documents in other folders stay, as does what other
/// projects and worktrees use. Agents cannot do it, and it needs a terminal. With `--project` midstride stays
/// installed for your other projects.
#[derive(Debug, clap::Args)]
pub(crate) struct ClientRemoveArgs {
    #[command(flatten)]
    target: ClientTarget,

    /// Delete what midstride keeps for this project, handoffs too
    #[arg(long)]
    purge: bool,

    /// With `--purge --yes`: also what git does not have, which nothing brings back
    #[arg(long, requires = "purge")]
    uncommitted: bool,
}

pub(super) fn remove(
    ui: &mut Ui,
    environment: &Environment,
    args: &ClientRemoveArgs,
) -> Result<CliOutcome, Diagnostic> {
    let target = &args.target;
    let scope = target.scope(environment)?;
    let clients = match args.purge && target.all {
        // There may be data without an installed client.
        true => ClientTarget::detected_clients(environment),
        false => target.clients(environment)?,
    };
    let plan =
        |client: &&'static dyn Client| verbs::remove_from_client(environment, *client, &scope);
    let plans: Vec<InstallPlan> = clients.iter().map(plan).collect::<Result<_, _>>()?;
    let purging = args.purge.then(|| ProjectPurge::plan(environment, target)).transpose()?;
    match &purging {
        Some(purging) => purging.show(ui, target, &plans)?,
        None => show_plans(ui, target, &plans)?,
    }
    if target.dry_run {
        return Ok(CliOutcome::Clean);
    }
    if let Some(purging) = &purging {
        purging.check_confirmed(target, args.uncommitted)?;
    }
    if !apply_plans(ui, environment, target, &plans, "Take this out?")? {
        return Ok(CliOutcome::Findings);
    }
    match purging {
        Some(purging) => purging.delete(ui, target),
        None => {
            ui.say("Done. Handoffs and checkpoints are as they were; sessions that run keep their hooks until they end.")?;
            Ok(CliOutcome::Clean)
        }
    }
}
