//! Installs midstride into a client, removes it again, and reports the status of the clients.

use crate::clients::install::{
    self, InstallError, InstallNote, InstallOptions, InstallPlan, InstallScope, InstallStatus,
};
use crate::clients::{self, Client};
use crate::sys::env::Environment;
use crate::sys::files;
use crate::workspace::Workspace;
use std::path::PathBuf;

/// Plans adding midstride to a client. Writes nothing yet.
pub fn add_to_client(
    environment: &Environment,
    client: &'static dyn Client,
    scope: &InstallScope,
    wishes: InstallOptions,
) -> Result<InstallPlan, InstallError> {
    let mut plan = install::plan_add(environment, client, scope, wishes)?;
    let here = install::read_install_status(environment, client, scope)?;
    let there = other_scope(environment, scope)
        .and_then(|other| install::read_install_status(environment, client, &other).ok());
    if there.is_some_and(|there| there.has_hooks() && here.duplicates_hooks_of(&there)) {
        plan.notes.push(InstallNote::DuplicateHooks(client));
    }
    Ok(plan)
}

/// The other scope that applies in this folder.
fn other_scope(environment: &Environment, scope: &InstallScope) -> Option<InstallScope> {
    match scope {
        InstallScope::Project(_) => Some(InstallScope::User),
        InstallScope::User => {
            let workspace = Workspace::discover_ignoring_settings(environment.clone()).ok()?;
            Some(InstallScope::Project(workspace.root().path().to_owned()))
        }
    }
}

/// Plans removing midstride from a client. Writes nothing yet.
pub fn remove_from_client(
    environment: &Environment,
    client: &'static dyn Client,
    scope: &InstallScope,
) -> Result<InstallPlan, InstallError> {
    install::plan_remove(environment, client, scope)
}

/// Applies a plan: all of it, or nothing.
pub fn apply_plan(environment: &Environment, plan: &InstallPlan) -> Result<(), InstallError> {
    plan.apply(environment)
}

/// The installation status of a client.
pub fn client_status(
    environment: &Environment,
    client: &'static dyn Client,
    scope: &InstallScope,
) -> Result<InstallStatus, InstallError> {
    install::read_install_status(environment, client, scope)
}

/// Every client with its folder for this user, and whether the folder exists.
pub fn find_clients(
    environment: &Environment,
) -> Vec<(&'static dyn Client, Option<PathBuf>, bool)> {
    let found = |client: &'static dyn Client| {
        let folder = client.home(environment);
        let is_there = folder.as_deref().is_some_and(files::is_folder);
        (client, folder, is_there)
    };
    clients::ALL.into_iter().map(found).collect()
}
