//! Install midstride into a client, take it out again, and see how the clients stand.

use crate::clients::install::{self, InstallError, Note, Plan, Scope, Standing, Wishes};
use crate::sys::files;
use crate::workspace::project::Project;
use crate::workspace::settings::Environment;
use midstride_core::session::Client;
use std::path::PathBuf;

/// What adding midstride to a client changes. Nothing is written yet.
pub fn add_to_client(
    environment: &Environment,
    client: Client,
    scope: &Scope,
    wishes: Wishes,
) -> Result<Plan, InstallError> {
    let mut plan = install::plan_add(environment, client, scope, wishes)?;
    let here = install::standing(environment, client, scope)?;
    let there = other_scope(environment, scope)
        .and_then(|other| install::standing(environment, client, &other).ok());
    if there.is_some_and(|there| there.has_hooks() && here.adds_to(&there)) {
        plan.notes.push(Note::Twice(client));
    }
    Ok(plan)
}

/// The scope that holds in this folder besides one.
fn other_scope(environment: &Environment, scope: &Scope) -> Option<Scope> {
    match scope {
        Scope::Project(_) => Some(Scope::User),
        Scope::User => {
            let project = Project::discover_anyway(environment.clone()).ok()?;
            Some(Scope::Project(project.root().path().to_owned()))
        }
    }
}

/// What taking midstride out of a client changes. Nothing is written yet.
pub fn remove_from_client(
    environment: &Environment,
    client: Client,
    scope: &Scope,
) -> Result<Plan, InstallError> {
    install::plan_remove(environment, client, scope)
}

/// Writes what was planned: all of it, or nothing.
pub fn carry_out(environment: &Environment, plan: &Plan) -> Result<(), InstallError> {
    plan.carry_out(environment)
}

/// How a client stands.
pub fn client_standing(
    environment: &Environment,
    client: Client,
    scope: &Scope,
) -> Result<Standing, InstallError> {
    install::standing(environment, client, scope)
}

/// Every client with the folder that it keeps for this user, and whether that is there.
pub fn found_clients(environment: &Environment) -> Vec<(Client, Option<PathBuf>, bool)> {
    let folder = |client| match client {
        Client::ClaudeCode => environment.claude.clone(),
        Client::Codex => environment.codex.clone(),
    };
    let found = |client| {
        let folder: Option<PathBuf> = folder(client);
        let is_there = folder.as_deref().is_some_and(files::is_folder);
        (client, folder, is_there)
    };
    Client::ALL.into_iter().map(found).collect()
}
