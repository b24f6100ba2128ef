//! `midstride trust HANDOFF`: the proof commands of a handoff.

use super::TrustArgs;
use crate::commands::CliOutcome;
use crate::ui::Ui;
use midstride::verbs::{self, AllowableProof};
use midstride::workspace::{StoredHandoff, Workspace};
use midstride_surface::diagnostic::{Diagnostic, ErrorCode};
use midstride_surface::text::sanitize;
use midstride_surface::view::{self, permission};

pub(super) fn trust_proofs(
    ui: &mut Ui,
    workspace: &Workspace,
    name: &str,
    args: &TrustArgs,
) -> Result<CliOutcome, Diagnostic> {
    let stored = workspace.find(name)?;
    let mut proofs = verbs::allowable_proofs(workspace, &stored, args.number)?;
    let key = stored.handoff(workspace).key().to_string();
    if proofs.is_empty() {
        if args.json {
            ui.print_json(&permission::proof_permissions_json(&key, &proofs))?;
        }
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

fn grant(
    ui: &mut Ui,
    workspace: &Workspace,
    stored: &StoredHandoff,
    args: &TrustArgs,
    proofs: &[AllowableProof],
) -> Result<(), Diagnostic> {
    if proofs.iter().all(|proof| proof.is_allowed) {
        ui.say("Already allowed.")?;
        return Ok(());
    }
    let environment = workspace.environment();
    if args.yes && args.number.is_none() && !args.all {
        return Err(Diagnostic::with_code(
            ErrorCode::Usage,
            "`--yes` requires a proof number or `--all`",
        ));
    }
    Ui::consent_by_presence(environment)?;
    ui.say("A permission does not cover scripts that a command calls. Read them too.")?;
    for proof in proofs {
        ui.say(permission::proof_text(proof).trim_end())?;
        let Ok(test) = &proof.test else { continue };
        if proof.is_allowed {
            continue;
        }
        let question = format!("Allow proof {} exactly as shown?", proof.number);
        if let Some(consent) = Ui::ask_consent(environment, &question, args.yes)? {
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
