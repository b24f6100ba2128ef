use super::CliOutcome;
use crate::ui::Ui;
use midstride::verbs;
use midstride::workspace::Workspace;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::{permission, trust_listing};

/// Trust the handoffs and the configuration of this project
///
/// No surface briefs a session from handoffs that came with a clone before you trust the project;
/// `midstride init` trusts a project that you set up. A repository that was moved, restored or cloned
/// again has to be trusted again.
///
/// Before it asks, it lists every document with its author in git, private stores that came from
/// elsewhere, folders and redaction rules of the configuration, and commands of proofs. git does not
/// check author names, so `--author` helps you to read the list and does not replace the question.
///
/// With `--remote`, later clones of the same remote need no question if the remote itself has exactly
/// these documents in a branch or tag. midstride asks the remote outside of the repository, and compares
/// the hashes of the documents with what the remote has.
///
/// A configuration can name folders outside the project and redaction rules. They take effect once you
/// trust exactly that file. midstride reads only Markdown in such folders and follows no link further
/// out. Trust is stored outside the repository, and agents cannot grant it.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Answer yes; still needs a terminal
    #[arg(long, conflicts_with_all = ["revoke", "list"])]
    yes: bool,

    /// Trust later clones of the same remote too
    #[arg(long, conflicts_with_all = ["revoke", "list"])]
    remote: bool,

    /// Refuse unless this author wrote every document
    #[arg(long, value_name = "EMAIL", conflicts_with_all = ["revoke", "list"])]
    author: Option<String>,

    /// Revoke the trust
    #[arg(long, conflicts_with = "list")]
    revoke: bool,

    /// List what is trusted in this project
    #[arg(long)]
    list: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn trust(
    ui: &mut Ui,
    workspace: &Workspace,
    args: &TrustArgs,
) -> Result<CliOutcome, Diagnostic> {
    if args.list {
        return list(ui, workspace, args.json);
    }
    let reach = verbs::trust_status(workspace);
    if args.revoke {
        let was = verbs::distrust(workspace)?;
        ui.say(if was { "It is not trusted any more." } else { "It was not trusted." })?;
    } else if !reach.needs_trust() && workspace.is_trusted() && !args.remote {
        ui.say("The configuration needs no trust: it names no folder outside the project and no redaction rule.")?;
    } else {
        if !workspace.is_trusted() {
            ui.say("This project is not trusted yet: sessions are not briefed from its handoffs.")?;
        }
        let listing = verbs::trust_listing(workspace);
        if let Some(email) = &args.author {
            listing.require_author(email)?;
        }
        let listed = trust_listing::trust_listing_text(workspace, &reach, &listing);
        if !listed.is_empty() {
            ui.say(listed.trim_end())?;
        }
        if reach.is_trusted && !args.remote {
            ui.say("Trusted already.")?;
        } else if !reach.needs_trust() && is_vouched(ui, workspace)? {
            let consent = Ui::consent_by_presence(workspace.environment())?;
            verbs::trust(workspace, &consent)?;
            ui.say("Trusted: the remote has exactly these documents.")?;
        } else {
            grant(ui, workspace, args)?;
        }
    }
    let now = verbs::trust_status(workspace);
    if args.json {
        let listing = verbs::trust_listing(workspace);
        ui.print_json(&trust_listing::trust_listing_json(&now, &listing))?;
    }
    let nothing = !now.needs_trust() && workspace.is_trusted();
    let done = args.revoke || now.is_trusted || nothing;
    Ok(if done { CliOutcome::Clean } else { CliOutcome::Findings })
}

/// Whether the trusted remote of this clone has the same documents.
fn is_vouched(ui: &mut Ui, workspace: &Workspace) -> Result<bool, Diagnostic> {
    let Some(url) = verbs::trusted_remote(workspace) else { return Ok(false) };
    match verbs::is_vouched_by_remote(workspace) {
        Ok(true) => return Ok(true),
        Ok(false) => ui.say(&format!("{url} does not have exactly these documents."))?,
        Err(error) => ui.warn(&error.into())?,
    }
    Ok(false)
}

fn grant(ui: &mut Ui, workspace: &Workspace, args: &TrustArgs) -> Result<(), Diagnostic> {
    let environment = workspace.environment();
    if let Some(consent) = Ui::ask_consent(environment, "Trust this project?", args.yes)? {
        let outcome = verbs::trust(workspace, &consent)?;
        ui.say("Trusted, until the configuration changes.")?;
        for path in outcome.taken_stores.iter().chain(&outcome.merged_stores) {
            ui.say(&format!("Took back the private store {}", path.display()))?;
        }
        if args.remote {
            let url = verbs::trust_remote(workspace, &consent)?;
            let no_remote = || Diagnostic::new("this clone has no remote that midstride can ask");
            let url = url.ok_or_else(no_remote)?;
            ui.say(&format!("Later clones of {url} need no question if it has their documents."))?;
        }
    }
    Ok(())
}

fn list(ui: &mut Ui, workspace: &Workspace, json: bool) -> Result<CliOutcome, Diagnostic> {
    let granted = verbs::trusted_configurations(workspace)?;
    if json {
        ui.print_json(&permission::grants_json(&granted))?;
    } else if granted.is_empty() {
        ui.say("Nothing is trusted in this project.")?;
    } else {
        ui.print(&permission::grants_text(&granted))?;
    }
    Ok(CliOutcome::Clean)
}
