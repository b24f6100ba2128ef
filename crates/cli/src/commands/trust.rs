use super::CliOutcome;
use crate::ui::Ui;
use midstride::verbs;
use midstride::workspace::Workspace;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::permission;

/// Trust the handoffs and the configuration of this project
///
/// No surface briefs a session from handoffs that came with a clone before you trust the project;
/// `midstride init` trusts a project that you set up. A repository that was moved, restored or cloned
/// again has to be trusted again.
///
/// A configuration can name folders outside the project and redaction rules. They take effect once you
/// trust exactly that file. midstride reads only Markdown in such folders and follows no link further
/// out. Trust is stored outside the repository, and agents cannot grant it.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Answer yes; still needs a terminal
    #[arg(long, conflicts_with_all = ["revoke", "list"])]
    yes: bool,

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
    } else if !reach.needs_trust() && workspace.is_trusted() {
        ui.say("The configuration needs no trust: it names no folder outside the project and no redaction rule.")?;
    } else {
        if !workspace.is_trusted() {
            ui.say("This project is not trusted yet: sessions are not briefed from its handoffs.")?;
        }
        if reach.needs_trust() {
            ui.say(permission::trust_status_text(workspace, &reach).trim_end())?;
        }
        if reach.is_trusted {
            ui.say("Trusted already.")?;
        } else {
            grant(ui, workspace, args.yes)?;
        }
    }
    let now = verbs::trust_status(workspace);
    if args.json {
        ui.print_json(&permission::trust_status_json(&now))?;
    }
    let nothing = !now.needs_trust() && workspace.is_trusted();
    let done = args.revoke || now.is_trusted || nothing;
    Ok(if done { CliOutcome::Clean } else { CliOutcome::Findings })
}

fn grant(ui: &mut Ui, workspace: &Workspace, yes: bool) -> Result<(), Diagnostic> {
    if let Some(consent) = Ui::ask_consent(workspace.environment(), "Trust this project?", yes)? {
        verbs::trust(workspace, &consent)?;
        ui.say("Trusted, until the configuration changes.")?;
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
