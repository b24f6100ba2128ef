use super::CliOutcome;
use crate::ui::Ui;
use midstride::verbs::{self, AllowableProof};
use midstride::workspace::{StoredHandoff, Workspace};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::text::sanitize;
use midstride_surface::view::{self, permission};

/// Allow the commands of a handoff's proofs to be run
///
/// Each is shown exactly as it would be run. A permission is bound to this project, the handoff, the
/// command, its folder, its timeout and what is expected; whatever of it changes is asked again. It
/// does not cover what the command calls: a script that it starts can change. Permissions lie
/// outside the repository, and an agent's own shell cannot give one.
#[derive(Debug, clap::Args)]
pub(crate) struct AllowArgs {
    /// The handoff: an id, the start of one, `id/stage`, or a path
    #[arg(required_unless_present_any = ["list", "revoke"])]
    handoff: Option<String>,

    /// The number of one proof, as `midstride show` counts them
    #[arg(value_name = "PROOF")]
    number: Option<usize>,

    /// All proofs of the handoff
    #[arg(long, conflicts_with = "number")]
    all: bool,

    /// Do not ask; needs a number or `--all`
    #[arg(long)]
    yes: bool,

    /// Take back what was allowed; without a handoff all of it, in this project
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,

    /// Show what is allowed in this project
    #[arg(long, conflicts_with_all = ["handoff", "number", "all", "yes", "revoke"])]
    list: bool,

    /// Print the proofs, or with `--list` the permissions, as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn allow(
    ui: &mut Ui,
    workspace: &Workspace,
    args: &AllowArgs,
) -> Result<CliOutcome, Diagnostic> {
    let Some(name) = &args.handoff else {
        if args.revoke {
            let revoked = verbs::disallow_all(workspace)?;
            ui.say(&format!("{} taken back.", view::count(revoked, "permission")))?;
        }
        return list(ui, workspace, args.json);
    };
    let stored = workspace.find(name)?;
    let mut proofs = verbs::allowable_proofs(workspace, &stored, args.number)?;
    let key = stored.handoff(workspace).key().to_string();
    if proofs.is_empty() {
        ui.say(&format!("{} has no proofs.", sanitize(&key)))?;
        return Ok(CliOutcome::Clean);
    }
    if args.revoke {
        revoke(ui, workspace, &stored, &proofs)?;
    } else {
        grant(ui, workspace, &stored, args, &proofs)?;
    }
    proofs = verbs::allowable_proofs(workspace, &stored, args.number)?;
    if args.json {
        ui.print_json(&permission::proof_permissions_json(&key, &proofs))?;
    } else if !args.revoke && proofs.iter().any(|proof| proof.is_allowed) {
        ui.say(&format!("Next: midstride verify {}", view::shell_word(&key)))?;
    }
    let done = proofs.iter().all(|proof| proof.is_allowed != args.revoke);
    Ok(if done { CliOutcome::Clean } else { CliOutcome::Findings })
}

fn list(ui: &mut Ui, workspace: &Workspace, json: bool) -> Result<CliOutcome, Diagnostic> {
    let granted = verbs::allowed_proofs(workspace)?;
    if json {
        ui.print_json(&permission::grants_json(&granted))?;
    } else if granted.is_empty() {
        ui.say("Nothing is allowed in this project.")?;
    } else {
        ui.print(&permission::grants_text(&granted))?;
    }
    Ok(CliOutcome::Clean)
}

fn grant(
    ui: &mut Ui,
    workspace: &Workspace,
    stored: &StoredHandoff,
    args: &AllowArgs,
    proofs: &[AllowableProof],
) -> Result<(), Diagnostic> {
    if proofs.iter().all(|proof| proof.is_allowed) {
        ui.say("Allowed already.")?;
        return Ok(());
    }
    verbs::check_may_allow(workspace)?;
    ui.say("A permission does not cover what a command calls: look at its scripts too.")?;
    for proof in proofs {
        ui.say(permission::proof_text(proof).trim_end())?;
        let Ok(test) = &proof.test else { continue };
        if !proof.is_allowed && confirm(ui, args)? {
            verbs::allow(workspace, stored, test)?;
            ui.say(&format!("Proof {} is allowed.", proof.number))?;
        }
    }
    Ok(())
}

/// Asks the user to confirm what was just shown.
fn confirm(ui: &mut Ui, args: &AllowArgs) -> Result<bool, Diagnostic> {
    let unasked = args.yes && (args.number.is_some() || args.all);
    if unasked {
        return Ok(true);
    }
    if args.yes || !Ui::is_interactive() {
        return Err(Diagnostic::new("nobody is there to be asked")
            .hint("start it in a terminal, or say which: `--yes` with a number or with `--all`"));
    }
    Ok(ui.confirm("Allow exactly this?")?)
}

fn revoke(
    ui: &mut Ui,
    workspace: &Workspace,
    stored: &StoredHandoff,
    proofs: &[AllowableProof],
) -> Result<(), Diagnostic> {
    for proof in proofs {
        let Ok(test) = &proof.test else { continue };
        if verbs::disallow(workspace, stored, test)? {
            ui.say(&format!("Proof {} is not allowed any more.", proof.number))?;
        }
    }
    Ok(())
}
