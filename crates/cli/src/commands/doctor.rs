mod simulation;

use super::{Outcome, tell_unread};
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use crate::view::doctor::{Diagnosis, Off};
use midstride::clients::hook_log;
use midstride::clients::install::on_path;
use midstride::verbs::{self, ClientFacts};
use midstride::workspace::project::Project;
use midstride::workspace::settings::switch_is_off;
use midstride_core::session::Client;

/// Tell whether midstride works, and what is wrong
///
/// For each client what is installed, which hooks really fired in this project, when, how long they
/// took, how many tokens they told, and whether the client trusts them; what midstride costs; how the
/// project is set up. A session is simulated in a temporary folder: it starts, is compacted and ends,
/// and nothing of yours is read or written for it. Ends with 1 where something is wrong, and says what
/// to do about it.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Make the index of `search` anew first
    #[arg(long)]
    reindex: bool,

    /// Leave the simulation out
    #[arg(long)]
    no_simulation: bool,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Looks at everything; `tools` is what the list of our tools costs a session, in tokens.
pub(crate) fn doctor(
    ui: &mut Ui,
    project: &Project,
    args: &DoctorArgs,
    tools: u64,
) -> Result<Outcome, Diagnostic> {
    let mut outcome = Outcome::Clean;
    // What would be indexed stands in the configuration; that it is broken is told below.
    if args.reindex && project.broken_configuration().is_none() {
        let done = verbs::reindex(project, &mut |done, all| ui.progress("indexing", done, all))?;
        ui.say(&view::doctor::reindexed(&done))?;
        outcome = tell_unread(ui, project, done.unread)?;
    }
    // The clients are asked for their versions, and a session is played: that takes a second.
    Ui::busy("looking at the clients");
    let diagnosis = diagnose(project, !args.no_simulation, tools);
    Ui::busy("");
    let problems = view::doctor::problems(&diagnosis).into_iter();
    // They quote files of others.
    let problems: Vec<_> = problems.map(|(message, hint)| (ui.clean(&message), hint)).collect();
    if args.json {
        ui.json(&view::doctor::json(&diagnosis, &problems))?;
    } else {
        ui.print(&view::doctor::text(&diagnosis, &problems))?;
    }
    let found = outcome == Outcome::Clean && !problems.is_empty();
    Ok(if found { Outcome::Findings } else { outcome })
}

fn diagnose(project: &Project, simulates: bool, tools: u64) -> Diagnosis {
    let examined = verbs::examine(project);
    let (told, log_problem) = match hook_log::told(&project.private_path()) {
        Ok(told) => (told, None),
        Err(error) => (hook_log::Told::default(), Some(error.to_string())),
    };
    let clients = verbs::examine_clients(project, &told);
    let now = project.environment().clock.now();
    let steps = simulates.then(|| simulation::simulate(&simulated(&clients), now));
    Diagnosis {
        examined,
        is_at_home: project.is_at_home(),
        off: off(project),
        clients,
        on_path: on_path(),
        told,
        log_problem,
        idle: verbs::idle(project),
        tools,
        steps,
    }
}

fn off(project: &Project) -> Option<Off> {
    if switch_is_off() {
        return Some(Off::Variable);
    }
    verbs::is_switched_off(project).then_some(Off::Project)
}

/// The clients that this user has; all of them where there is none yet.
fn simulated(clients: &[ClientFacts]) -> Vec<Client> {
    let is_used = |facts: &&ClientFacts| facts.is_found() || facts.is_installed();
    let used: Vec<Client> = clients.iter().filter(is_used).map(|facts| facts.client).collect();
    if used.is_empty() { Client::ALL.to_vec() } else { used }
}
