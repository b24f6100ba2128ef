//! Reports the status of each client: whether it is present, what midstride installed, and what its
//! hooks did here.

use crate::clients::hook_log::{HookLogReport, HookStats};
use crate::clients::hook_switch::OffTimes;
use crate::clients::install::{
    ClientProgram, ClientSettings, InstallError, InstallScope, InstallStatus, find_client_program,
};
use crate::clients::{Client, TranscriptInfo, transcripts};
use crate::verbs::client::{client_status, find_clients};
use crate::workspace::Workspace;
use midstride_core::text::id::SessionId;
use std::path::PathBuf;

/// The report on a client.
#[derive(Debug)]
pub struct ClientFacts {
    /// The client.
    pub client: &'static dyn Client,
    /// Its folder for this user.
    pub folder: Option<PathBuf>,
    /// Whether that folder exists.
    pub has_folder: bool,
    /// Its program, if it is on the PATH.
    pub program: Option<ClientProgram>,
    /// What midstride installed, for the user and in the project.
    pub statuses: Vec<InstallStatus>,
    /// Why that could not be determined.
    pub problems: Vec<InstallError>,
    /// What the client's own settings say about hooks and saving.
    pub own_settings: ClientSettings,
    /// What its hooks did in this project.
    pub hook_stats: Vec<HookStats>,
    /// Sessions that began after its first hook call here but called no hook.
    pub unhooked: Vec<SessionId>,
}

impl ClientFacts {
    /// Whether this user seems to use the client.
    pub fn is_found(&self) -> bool {
        self.has_folder || self.program.is_some()
    }

    /// Whether anything of midstride is installed.
    pub fn is_installed(&self) -> bool {
        self.statuses.iter().any(|one| one.is_installed() || one.has_plugin)
    }
}

/// Examines every client. `log` is the report on the project's hook log.
pub fn examine_clients(workspace: &Workspace, log: &HookLogReport) -> Vec<ClientFacts> {
    let environment = workspace.environment();
    let scopes = [InstallScope::User, InstallScope::Project(workspace.root().path().to_owned())];
    let look = |(client, folder, has_folder): (&'static dyn Client, Option<PathBuf>, bool)| {
        let (mut statuses, mut problems) = (Vec::new(), Vec::new());
        for scope in &scopes {
            match client_status(environment, client, scope) {
                Ok(status) => statuses.push(status),
                Err(problem) => problems.push(problem),
            }
        }
        let ours = log.hooks.iter().filter(|one| one.client == client.name());
        ClientFacts {
            client,
            folder,
            has_folder,
            program: find_client_program(client),
            statuses,
            problems,
            own_settings: client.settings(environment, workspace.root().path()),
            hook_stats: ours.cloned().collect(),
            unhooked: find_unhooked_sessions(workspace, client, log),
        }
    };
    find_clients(environment).into_iter().map(look).collect()
}

/// Sessions that began after the first hook call but called no hook. Sessions that began while
/// hooks were switched off are omitted.
fn find_unhooked_sessions(
    workspace: &Workspace,
    client: &'static dyn Client,
    log: &HookLogReport,
) -> Vec<SessionId> {
    let Some(called) = log.callers.get(client.name()) else { return Vec::new() };
    let off = OffTimes::for_project(workspace);
    let (found, _) = transcripts(workspace, Some(client));
    let is_unhooked = |one: &&TranscriptInfo| {
        let is_later = one.began.is_some_and(|began| began > called.since && !off.contains(began));
        is_later && !called.sessions.contains(&one.session)
    };
    found.iter().filter(is_unhooked).map(|one| one.session.clone()).collect()
}
