//! `midstride client remove`.

use super::purge::ProjectPurge;
use super::{CliOutcome, ClientTarget, apply_plans, show_plans};
use crate::ui::Ui;
use midstride::clients::Client;
use midstride::clients::install::InstallPlan;
use midstride::sys::env::Environment;
use midstride::verbs;
use midstride_surface::diagnostic::Diagnostic;

/// Remove midstride from a client
///
/// Removes exactly what was added. A file that has not changed since is restored byte for byte; a
/// file that has changed keeps all other edits. Handoffs and captured sessions are kept.
///
/// With `--purge`, also deletes what midstride stores for this project: the `.midstride` folder
/// with its handoffs, the ledger, the index, the log, earlier revisions, and the permissions that
/// you granted here. Lists everything first, including what git does not have. Keeps documents in
/// other folders and anything that other projects and worktrees use. You must confirm at a
/// terminal. With `--project`, midstride stays installed for your other projects.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride client remove claude-code --yes
  midstride client remove --all --dry-run")]
pub(crate) struct ClientRemoveArgs {
    #[command(flatten)]
    target: ClientTarget,

    /// Delete what midstride stores for this project, including handoffs
    #[arg(long)]
    purge: bool,

    /// With `--purge --yes`, delete even what git does not have; cannot be undone
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
        Some(purging) => purging.show(ui, environment, target, &plans)?,
        None => show_plans(ui, environment, target, &plans)?,
    }
    if target.dry_run {
        return Ok(CliOutcome::Clean);
    }
    if let Some(purging) = &purging {
        purging.check_confirmed(target, args.uncommitted)?;
    }
    if !apply_plans(ui, environment, target, &plans, "Remove midstride from")? {
        return Ok(CliOutcome::Findings);
    }
    match purging {
        Some(purging) => purging.delete(ui, target),
        None => {
            ui.say("Done. Handoffs and checkpoints were not changed; running sessions keep their hooks until they end.")?;
            Ok(CliOutcome::Clean)
        }
    }
}
