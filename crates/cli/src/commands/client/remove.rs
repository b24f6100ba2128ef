//! `midstride client remove`.

use super::{Outcome, Target, go};
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use midstride::install::Plan;
use midstride::settings::Environment;
use midstride::verbs;
use midstride_core::session::Client;

/// Take midstride out of a client
///
/// Exactly what was inserted goes. A file that nobody wrote since is again what it was, byte for
/// byte; in one that was edited since, every edit stays. Handoffs, checkpoints and everything else
/// that midstride keeps are not touched.
#[derive(Debug, clap::Args)]
pub(crate) struct RemoveArgs {
    #[command(flatten)]
    target: Target,
}

pub(super) fn remove(
    ui: &mut Ui,
    environment: &Environment,
    args: &RemoveArgs,
) -> Result<Outcome, Diagnostic> {
    let target = &args.target;
    let scope = target.scope(environment)?;
    let clients = target.clients(environment)?;
    let plan = |client: &Client| verbs::remove_from_client(environment, *client, &scope);
    let plans: Vec<Plan> = clients.iter().map(plan).collect::<Result<_, _>>()?;
    let done = go(ui, environment, target, &plans, "Take this out?")?;
    if done {
        ui.say("Done. Handoffs and checkpoints are as they were; sessions that run keep their hooks until they end.")?;
    }
    Ok(if done || target.dry_run { Outcome::Clean } else { Outcome::Findings })
}
