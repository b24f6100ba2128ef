//! `midstride client list`.

use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use midstride::clients::install::{Scope, on_path};
use midstride::verbs;
use midstride::workspace::project::Project;
use midstride::workspace::settings::Environment;

/// Tell into which clients midstride is installed
///
/// For each client whether it is found, what of midstride is there for you and in this project, what
/// is missing, what is called like midstride's and is not, what was changed since, and for Codex
/// whether the hooks are trusted.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn list(
    ui: &mut Ui,
    environment: &Environment,
    args: &ListArgs,
) -> Result<Outcome, Diagnostic> {
    let project = Project::discover_anyway(environment.clone()).ok();
    let project = project.map(|project| Scope::Project(project.root().path().to_owned()));
    let scopes: Vec<Scope> = [Scope::User].into_iter().chain(project).collect();
    let mut clients = Vec::new();
    for (client, folder, is_found) in verbs::found_clients(environment) {
        let mut standings = Vec::new();
        for scope in &scopes {
            standings.push(verbs::client_standing(environment, client, scope)?);
        }
        clients.push(view::client::Listed { client, folder, is_found, standings });
    }
    let path = on_path();
    if args.json {
        ui.json(&view::client::list_json(&clients, &path))?;
    } else {
        ui.print(&view::client::list(&clients, &path))?;
    }
    Ok(Outcome::Clean)
}
