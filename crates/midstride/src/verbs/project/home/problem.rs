//! Problems that keep midstride from capturing or briefing sessions.

use crate::clients::Client;
use crate::clients::hook_switch::is_switched_off;
use crate::clients::install::InstallScope;
use crate::sys::env::are_hooks_switched_off;
use crate::verbs::client::{client_status, find_clients};
use crate::workspace::{Access, SetupMode, Workspace};

/// A problem with a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HomeProblem {
    /// There are documents that the user has not trusted.
    Untrusted {
        /// How many documents are withheld.
        documents: usize,
    },
    /// The user has no state folder, so that midstride cannot record whose the private store is.
    NoStateFolder,
    /// The project switches hooks off.
    HooksOff,
    /// The environment switches hooks off.
    HooksOffInEnvironment,
    /// These clients run no hooks of midstride.
    NoHooks(Vec<&'static dyn Client>),
    /// The client skips hooks that the user has not trusted.
    UntrustedHooks(&'static dyn Client),
    /// Ended sessions are not captured to their end.
    Uncaptured {
        /// How many.
        sessions: usize,
    },
}

/// The problem that documents, or all of the private store, are not passed on.
pub(super) fn access_problem(access: Access) -> Option<HomeProblem> {
    match access {
        Access::Granted => None,
        Access::Untrusted { documents: 0 } => Some(HomeProblem::NoStateFolder),
        Access::Own { withheld: documents } | Access::Untrusted { documents } => {
            Some(HomeProblem::Untrusted { documents })
        }
    }
}

/// The problems that keep sessions from being captured. `last` is the client of the last one, and
/// `used` are the clients of all of them.
pub(super) fn capture_problems(
    workspace: &Workspace,
    last: Option<&'static dyn Client>,
    used: &[&'static dyn Client],
    uncaptured: usize,
) -> Vec<HomeProblem> {
    if workspace.setup() == SetupMode::NotSetUp {
        return Vec::new();
    }
    let mut problems = Vec::new();
    if is_switched_off(workspace) {
        problems.push(HomeProblem::HooksOff);
    } else if are_hooks_switched_off() {
        problems.push(HomeProblem::HooksOffInEnvironment);
    }
    problems.extend(hook_problems(workspace, last, used));
    if uncaptured > 0 {
        problems.push(HomeProblem::Uncaptured { sessions: uncaptured });
    }
    problems
}

/// Finds clients that run no hooks: the one of the last session, or all that are present.
fn hook_problems(
    workspace: &Workspace,
    last: Option<&'static dyn Client>,
    used: &[&'static dyn Client],
) -> Vec<HomeProblem> {
    let environment = workspace.environment();
    let scopes = [InstallScope::User, InstallScope::Project(workspace.root().path().to_owned())];
    let (mut with_hooks, mut without_hooks, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for (client, _, is_present) in find_clients(environment) {
        let statuses = scopes.iter().map(|scope| client_status(environment, client, scope));
        // What cannot be read is not a proof that hooks are missing. `doctor` reports it.
        let Ok(statuses) = statuses.collect::<Result<Vec<_>, _>>() else { continue };
        let mut installed = statuses.iter().filter(|one| one.has_hooks() || one.has_plugin);
        let is_trusted = |(trusted, all): (usize, usize)| trusted == all;
        match installed.next() {
            Some(first) => {
                with_hooks.push(client);
                let mut trusts = std::iter::once(first).chain(installed);
                let runs = trusts.any(|one| one.trusted_hooks().is_none_or(is_trusted));
                // A client that the user does not use here has nothing to capture.
                if !runs && used.contains(&client) {
                    problems.push(HomeProblem::UntrustedHooks(client));
                }
            }
            None if is_present => without_hooks.push(client),
            None => {}
        }
    }
    if !with_hooks.is_empty() {
        without_hooks.retain(|client| Some(*client) == last);
    }
    if !without_hooks.is_empty() {
        problems.push(HomeProblem::NoHooks(without_hooks));
    }
    problems
}
