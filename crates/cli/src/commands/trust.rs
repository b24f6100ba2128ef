use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view::permission;
use midstride::verbs;
use midstride::workspace::project::Project;

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
    project: &Project,
    args: &TrustArgs,
) -> Result<Outcome, Diagnostic> {
    if args.list {
        return list(ui, project, args.json);
    }
    let reach = verbs::reach(project);
    if args.revoke {
        let was = verbs::distrust(project)?;
        ui.say(if was { "It is not trusted any more." } else { "It was not trusted." })?;
    } else if reach.shelves.is_empty() && project.is_at_home() {
        ui.say("Nothing here reaches out of the project; there is nothing to trust.")?;
    } else {
        if !project.is_at_home() {
            ui.say("Somebody else set this project up. Sessions are told of its handoffs once you trust it.")?;
        }
        if !reach.shelves.is_empty() {
            ui.say(permission::reach(project, &reach).trim_end())?;
        }
        if reach.is_trusted {
            ui.say("Trusted already.")?;
        } else {
            grant(ui, project, args.yes)?;
        }
    }
    let now = verbs::reach(project);
    if args.json {
        ui.json(&permission::reach_json(&now))?;
    }
    let nothing = now.shelves.is_empty() && project.is_at_home();
    let done = args.revoke || now.is_trusted || nothing;
    Ok(if done { Outcome::Clean } else { Outcome::Findings })
}

fn grant(ui: &mut Ui, project: &Project, yes: bool) -> Result<(), Diagnostic> {
    verbs::may_allow(project)?;
    if !yes && !Ui::is_watched() {
        return Err(Diagnostic::new("nobody is there to be asked")
            .hint("start it in a terminal, or say `--yes`"));
    }
    if yes || ui.ask("Read these handoffs?")? {
        verbs::trust(project)?;
        ui.say("Trusted, until the configuration changes.")?;
    }
    Ok(())
}

fn list(ui: &mut Ui, project: &Project, json: bool) -> Result<Outcome, Diagnostic> {
    let granted = verbs::trusted(project)?;
    if json {
        ui.json(&permission::granted_json(&granted))?;
    } else if granted.is_empty() {
        ui.say("Nothing is trusted in this project.")?;
    } else {
        ui.print(&permission::granted(&granted))?;
    }
    Ok(Outcome::Clean)
}
