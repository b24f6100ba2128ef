mod simulation;

use super::{CliOutcome, report_unread};
use crate::ui::Ui;
use midstride::clients::hook_log;
use midstride::clients::install::find_on_path;
use midstride::clients::{self, Client};
use midstride::store::Store;
use midstride::sys::env::are_hooks_switched_off;
use midstride::sys::git::installed_version;
use midstride::verbs::{self, ClientFacts};
use midstride::workspace::Workspace;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;
use midstride_surface::view::doctor::{Diagnosis, OffSwitch};
use midstride_surface::view::session_cost::SessionCost;

/// Check that midstride works
///
/// For each client, shows what is installed, which hooks ran in this project, when they ran, how
/// long they took, and whether the client trusts them. Also shows what midstride costs and how the
/// project is set up, and simulates a session in a temporary folder. If something is wrong, says
/// what to do and exits with 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride doctor
  midstride doctor --no-simulation --json")]
pub(crate) struct DoctorArgs {
    /// Rebuild the search index first
    #[arg(long)]
    reindex: bool,

    /// Skip the simulation
    #[arg(long)]
    no_simulation: bool,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Examines everything. `cost` is what the tools and skills add to a session.
pub(crate) fn doctor(
    ui: &mut Ui,
    store: &Store,
    args: &DoctorArgs,
    cost: SessionCost,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let mut outcome = CliOutcome::Clean;
    if let Some(exclusion) = workspace.exclusion().filter(|_| args.reindex) {
        return Err(exclusion.into());
    }
    // The configuration decides what is indexed. If it is broken, that is reported below.
    if args.reindex && workspace.broken_configuration().is_none() {
        let done = verbs::reindex(store, &mut |done, all| ui.show_progress("indexing", done, all))?;
        ui.say(&view::doctor::reindex_text(&done))?;
        outcome = report_unread(ui, workspace, done.unread)?;
    }
    // Asking the clients for their versions and simulating a session takes a second.
    Ui::show_status("checking the clients");
    let diagnosis = diagnose(store, !args.no_simulation, cost);
    Ui::show_status("");
    let problems = view::doctor::problems(&diagnosis).into_iter();
    // The messages quote files that others wrote.
    let problems: Vec<_> = problems.map(|(message, hint)| (ui.clean(&message), hint)).collect();
    if args.json {
        ui.print_json(&view::doctor::json(&diagnosis, &problems))?;
    } else {
        ui.print(&view::doctor::text(&diagnosis, &problems, Ui::width()))?;
    }
    let found = outcome == CliOutcome::Clean && !problems.is_empty();
    Ok(if found { CliOutcome::Findings } else { outcome })
}

fn diagnose(store: &Store, simulates: bool, cost: SessionCost) -> Diagnosis {
    let workspace = store.workspace();
    let examined = verbs::examine(store);
    let report = workspace.private_folder_in_use().map(|folder| hook_log::read_report(&folder));
    let (log, log_problem) = match report.unwrap_or_else(|| Ok(hook_log::HookLogReport::default()))
    {
        Ok(log) => (log, None),
        Err(error) => (hook_log::HookLogReport::default(), Some(error.to_string())),
    };
    let user_log = hook_log::user_folder(workspace.environment()).and_then(|folder| {
        Some((folder.join(hook_log::FILE), hook_log::read_report(&folder).ok()?))
    });
    let clients = verbs::examine_clients(workspace, &log);
    let now = workspace.environment().clock.now();
    let steps = simulates.then(|| simulation::simulate(&clients_to_simulate(&clients), now));
    Diagnosis {
        project: examined,
        withheld: workspace.access().withheld(),
        store_owner: workspace.store_owner(),
        private_folder: workspace.private_path(),
        unread_stores: workspace.unread_stores(),
        off_switch: off_reason(workspace),
        clients,
        on_path: find_on_path(),
        git: installed_version(),
        hook_log: log,
        log_problem,
        user_log,
        idle: verbs::measure_idle_cost(store),
        session_cost: cost,
        steps,
    }
}

fn off_reason(workspace: &Workspace) -> Option<OffSwitch> {
    if are_hooks_switched_off() {
        return Some(OffSwitch::Variable);
    }
    if let Some(exclusion) = workspace.exclusion() {
        return Some(OffSwitch::Excluded(exclusion.clone()));
    }
    verbs::is_switched_off(workspace).then_some(OffSwitch::Project)
}

/// The clients this user has, or all if there are none yet.
fn clients_to_simulate(clients: &[ClientFacts]) -> Vec<&'static dyn Client> {
    let is_used = |facts: &&ClientFacts| facts.is_found() || facts.is_installed();
    let used: Vec<&'static dyn Client> =
        clients.iter().filter(is_used).map(|facts| facts.client).collect();
    if used.is_empty() { clients::ALL.to_vec() } else { used }
}
