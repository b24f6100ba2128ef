use super::CliOutcome;
use crate::ui::Ui;
use midstride::verbs;
use midstride::workspace::Workspace;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::permission;

/// Trust this project: what others wrote, and what its configuration reaches for outside of it
///
/// Handoffs that came with a clone are told to no session before you trusted them; `midstride init`
/// trusts what it set up itself.
///
/// A configuration can name shelves outside the project. They are read only once you trusted exactly
/// that file; a change is asked again. Even then only Markdown is read there, and no link leads
/// further out. Trust lies outside the repository, and an agent's own shell cannot give it.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Do not ask
    #[arg(long, conflicts_with_all = ["revoke", "list"])]
    yes: bool,

    /// Take the trust back
    #[arg(long, conflicts_with = "list")]
    revoke: bool,

    /// Show what was trusted in this project
    #[arg(long)]
    list: bool,

    /// Print it as JSON
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
            ui.say("Somebody else set this project up. Sessions are told of its handoffs once you trust it.")?;
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
    verbs::check_may_allow(workspace)?;
    if !yes && !Ui::is_interactive() {
        return Err(Diagnostic::new("nobody is there to be asked")
            .hint("start it in a terminal, or say `--yes`"));
    }
    if yes || ui.confirm("Trust this configuration?")? {
        verbs::trust(workspace)?;
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
