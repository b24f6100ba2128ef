//! `midstride client list`.

use super::CliOutcome;
use crate::ui::Ui;
use midstride::clients::install::{InstallScope, find_on_path};
use midstride::sys::env::Environment;
use midstride::verbs;
use midstride::workspace::Workspace;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// List clients and what is installed in them
///
/// For each client, shows whether it was found, what is installed for you and in this project, what
/// is missing or changed, and other programs' entries that use midstride's names. For Codex, also
/// shows whether the hooks are trusted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride client list
  midstride client list --json")]
pub(crate) struct ClientListArgs {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn list(
    ui: &mut Ui,
    environment: &Environment,
    args: &ClientListArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = Workspace::discover_ignoring_settings(environment.clone()).ok();
    let workspace =
        workspace.map(|workspace| InstallScope::Project(workspace.root().path().to_owned()));
    let scopes: Vec<InstallScope> = [InstallScope::User].into_iter().chain(workspace).collect();
    let mut clients = Vec::new();
    for (client, folder, is_found) in verbs::find_clients(environment) {
        let mut statuses = Vec::new();
        for scope in &scopes {
            statuses.push(verbs::client_status(environment, client, scope)?);
        }
        clients.push(view::client::ClientListing { client, folder, is_found, statuses });
    }
    let path = find_on_path();
    if args.json {
        ui.print_json(&view::client::list_json(&clients, &path))?;
    } else {
        ui.print(&view::client::list(&clients, &path))?;
    }
    Ok(CliOutcome::Clean)
}
