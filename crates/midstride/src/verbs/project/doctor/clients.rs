//! How each client stands: whether it is there, what it has of ours, and what its hooks did here.

use crate::clients::hook_log::{HookLogReport, HookStats};
use crate::clients::hook_switch::OffTimes;
use crate::clients::install::{
    ClientProgram, ClientSettings, InstallError, InstallScope, InstallStatus, find_client_program,
    read_client_settings,
};
use crate::clients::{TranscriptInfo, transcripts};
use crate::verbs::client::{client_status, find_clients};
use crate::workspace::project::Project;
use midstride_core::session::Client;
use std::path::PathBuf;

/// What there is to say about a client.
#[derive(Debug)]
pub struct ClientFacts {
    /// The client.
    pub client: Client,
    /// The folder that it keeps for this user.
    pub folder: Option<PathBuf>,
    /// Whether that is there.
    pub has_folder: bool,
    /// Its program, where one is on the PATH.
    pub program: Option<ClientProgram>,
    /// What it has of ours, for the user and in the project.
    pub statuses: Vec<InstallStatus>,
    /// Why that could not be found out.
    pub problems: Vec<InstallError>,
    /// What its own settings say about hooks and saving.
    pub own_settings: ClientSettings,
    /// What its hooks did in this project.
    pub hook_stats: Vec<HookStats>,
    /// Sessions that began after its hooks were first called here, and called none.
    pub unhooked: Vec<String>,
}

impl ClientFacts {
    /// Whether this user seems to use it.
    pub fn is_found(&self) -> bool {
        self.has_folder || self.program.is_some()
    }

    /// Whether something of ours is there.
    pub fn is_installed(&self) -> bool {
        self.statuses.iter().any(|one| one.is_installed() || one.has_plugin)
    }
}

/// Looks at every client; `told` is what the log of the project tells.
pub fn examine_clients(project: &Project, told: &HookLogReport) -> Vec<ClientFacts> {
    let environment = project.environment();
    let scopes = [InstallScope::User, InstallScope::Project(project.root().path().to_owned())];
    let look = |(client, folder, has_folder): (Client, Option<PathBuf>, bool)| {
        let (mut standings, mut problems) = (Vec::new(), Vec::new());
        for scope in &scopes {
            match client_status(environment, client, scope) {
                Ok(standing) => standings.push(standing),
                Err(problem) => problems.push(problem),
            }
        }
        let ours = told.hooks.iter().filter(|one| one.client == client.name());
        ClientFacts {
            client,
            folder,
            has_folder,
            program: find_client_program(client),
            statuses: standings,
            problems,
            own_settings: read_client_settings(environment, client, project.root().path()),
            hook_stats: ours.cloned().collect(),
            unhooked: find_unhooked_sessions(project, client, told),
        }
    };
    find_clients(environment).into_iter().map(look).collect()
}

/// Sessions that began after hooks were first called, and called none. What began while hooks were
/// switched off is left out.
fn find_unhooked_sessions(project: &Project, client: Client, told: &HookLogReport) -> Vec<String> {
    let Some(called) = told.callers.get(client.name()) else { return Vec::new() };
    let off = OffTimes::for_project(project);
    let (found, _) = transcripts(project, Some(client));
    let is_unhooked = |one: &&TranscriptInfo| {
        let is_later = one.began.is_some_and(|began| began > called.since && !off.contains(began));
        is_later && !called.sessions.contains(&one.session)
    };
    found.iter().filter(is_unhooked).map(|one| one.session.clone()).collect()
}
