mod proofs;

use super::CliOutcome;
use crate::ui::Ui;
use midstride::verbs;
use midstride::workspace::Workspace;
use midstride_surface::diagnostic::{Diagnostic, ErrorCode};
use midstride_surface::view::{self, trust_listing};

/// Trust this project, or the proof commands of a handoff
///
/// Without a handoff, trusts this project's documents and configuration. Sessions are not briefed
/// from its documents until you trust them, here or when `setup` or `init` asks. First lists every
/// document with its git author, private stores from elsewhere, folders outside the project,
/// redaction rules and proof commands. git does not verify author names, so `--author` helps you
/// check the list, but midstride still asks. Trust the project again after its configuration
/// changes, or after the repository is moved or cloned again.
///
/// With a handoff, shows each proof command exactly as it would run and asks whether to allow it.
/// The permission covers the command, its folder, its timeout and the expected result; if any of
/// these change, midstride asks again. The permission does not cover scripts that the command
/// calls.
///
/// With `--remote`, also trusts later clones of the same remote without asking, if a branch or tag
/// on the remote has exactly the clone's documents. Trust is stored outside the repository. Agents
/// cannot grant it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride trust
  midstride trust --list
  midstride trust market 1
  midstride trust market --all
  midstride trust market --revoke")]
pub(crate) struct TrustArgs {
    /// Trust the proof commands of this handoff
    handoff: Option<String>,

    /// Number of one proof, as in `midstride show`
    #[arg(value_name = "PROOF")]
    number: Option<usize>,

    /// All proofs of the handoff
    #[arg(long, requires = "handoff", conflicts_with = "number")]
    all: bool,

    /// Answer yes; still requires a terminal
    #[arg(long, conflicts_with_all = ["revoke", "list"])]
    yes: bool,

    /// Trust later clones of the same remote too
    #[arg(long, conflicts_with_all = ["handoff", "revoke", "list"])]
    remote: bool,

    /// Refuse unless this author wrote every document
    #[arg(long, value_name = "EMAIL", conflicts_with_all = ["handoff", "revoke", "list"])]
    author: Option<String>,

    /// Revoke trust; without a handoff, revoke all of it
    #[arg(long, conflicts_with = "list")]
    revoke: bool,

    /// List what you trust in this project
    #[arg(long, conflicts_with = "handoff")]
    list: bool,

    /// Print as JSON
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
    if let Some(name) = &args.handoff {
        return proofs::trust_proofs(ui, workspace, name, args);
    }
    if args.revoke {
        revoke(ui, workspace)?;
    } else {
        trust_project(ui, workspace, args)?;
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

/// Revokes the trust in the project and every permission to run a proof.
fn revoke(ui: &mut Ui, workspace: &Workspace) -> Result<(), Diagnostic> {
    let was = verbs::distrust(workspace)?;
    ui.say(if was {
        "This project is no longer trusted."
    } else {
        "This project was not trusted."
    })?;
    let proofs = verbs::disallow_all(workspace)?;
    if proofs > 0 {
        ui.say(&format!("Revoked {}.", view::count(proofs, "proof command")))?;
    }
    Ok(())
}

fn trust_project(ui: &mut Ui, workspace: &Workspace, args: &TrustArgs) -> Result<(), Diagnostic> {
    let reach = verbs::trust_status(workspace);
    if !reach.needs_trust() && workspace.is_trusted() && !args.remote {
        ui.say("This project is already trusted:")?;
        return say_grants(ui, workspace);
    }
    if !workspace.is_trusted() {
        ui.say("This project is not trusted yet, so sessions are not briefed from its handoffs.")?;
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
        ui.say("Already trusted.")?;
    } else if !reach.needs_trust() && is_vouched(ui, workspace)? {
        let consent = Ui::consent_by_presence(workspace.environment())?;
        verbs::trust(workspace, &consent)?;
        ui.say("Trusted: the remote has exactly these documents.")?;
    } else {
        grant(ui, workspace, args)?;
    }
    Ok(())
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
    let reach_is_used = verbs::trust_status(workspace).needs_trust();
    let question = format!("Trust {}?", workspace.root().path().display());
    if let Some(consent) = Ui::ask_consent(environment, &question, args.yes)? {
        let outcome = verbs::trust(workspace, &consent)?;
        ui.say(match reach_is_used {
            true => "Trusted. midstride asks again after the configuration changes.",
            false => "Trusted. This includes documents that are added later.",
        })?;
        for path in outcome.taken_stores.iter().chain(&outcome.merged_stores) {
            ui.say(&format!("Reclaimed the private store {}", path.display()))?;
        }
        if args.remote {
            let url = verbs::trust_remote(workspace, &consent)?;
            let no_remote = || {
                Diagnostic::with_code(
                    ErrorCode::NotSetUp,
                    "this clone has no remote that midstride can query",
                )
            };
            let url = url.ok_or_else(no_remote)?;
            ui.say(&format!(
                "If the remote has their documents, midstride will trust later clones of {url} without asking."
            ))?;
        }
    }
    Ok(())
}

/// Lists what the user trusts: documents, the remote, configurations and proof commands.
fn list(ui: &mut Ui, workspace: &Workspace, json: bool) -> Result<CliOutcome, Diagnostic> {
    let grants = verbs::trust_grants(workspace)?;
    let listing = verbs::trust_listing(workspace);
    if json {
        ui.print_json(&trust_listing::grants_json(&grants, &listing))?;
    } else if grants.is_empty() {
        ui.say("Nothing is trusted in this project.")?;
    } else {
        ui.print(&trust_listing::grants_text(&grants, &listing))?;
    }
    Ok(CliOutcome::Clean)
}

/// Says what is trusted already, and how to revoke it.
fn say_grants(ui: &mut Ui, workspace: &Workspace) -> Result<(), Diagnostic> {
    let grants = verbs::trust_grants(workspace)?;
    let listing = verbs::trust_listing(workspace);
    ui.say(trust_listing::grants_text(&grants, &listing).trim_end())?;
    ui.say("To revoke this, run `midstride trust --revoke`")?;
    Ok(())
}
