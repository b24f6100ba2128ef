use super::CliOutcome;
use crate::ui::Ui;
use midstride::verbs::{self, AllowableProof};
use midstride::workspace::{StoredHandoff, Workspace};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::text::sanitize;
use midstride_surface::view::{self, permission};

/// Allow the proof commands of a handoff to run
///
/// Shows each command exactly as it would run and asks at the terminal. A permission covers this
/// project, the handoff, the command, its folder, its timeout and the expected result; any change asks
/// again. It does not cover scripts that the command calls. Permissions are stored outside the
/// repository, and agents cannot grant them.
#[derive(Debug, clap::Args)]
pub(crate) struct AllowArgs {
    /// The handoff: an id, the start of one, `id/stage`, or a path
    #[arg(required_unless_present_any = ["list", "revoke"])]
    handoff: Option<String>,

    /// Number of one proof, as in `midstride show`
    #[arg(value_name = "PROOF")]
    number: Option<usize>,

    /// All proofs of the handoff
    #[arg(long, conflicts_with = "number")]
    all: bool,

    /// Answer yes; needs a number or `--all`, and a terminal
    #[arg(long)]
    yes: bool,

    /// Revoke permissions; without a handoff, all in this project
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,

    /// List what is allowed in this project
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
            ui.say(&format!("Revoked {}.", view::count(revoked, "permission")))?;
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
        ui.say("Already allowed.")?;
        return Ok(());
    }
    let environment = workspace.environment();
    if args.yes && args.number.is_none() && !args.all {
        return Err(Diagnostic::new("`--yes` needs the number of a proof, or `--all`"));
    }
    Ui::consent_by_presence(environment)?;
    ui.say("A permission does not cover scripts that a command calls. Read them too.")?;
    for proof in proofs {
        ui.say(permission::proof_text(proof).trim_end())?;
        let Ok(test) = &proof.test else { continue };
        if proof.is_allowed {
            continue;
        }
        if let Some(consent) = Ui::ask_consent(environment, "Allow exactly this?", args.yes)? {
            verbs::allow(workspace, stored, test, &consent)?;
            ui.say(&format!("Proof {} is allowed.", proof.number))?;
        }
    }
    Ok(())
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
            ui.say(&format!("Proof {} is no longer allowed.", proof.number))?;
        }
    }
    Ok(())
}
