//! Allows the commands of proofs, each exactly as shown, and revokes that.

use crate::workspace::consent::UserConsent;
use crate::workspace::permission::{
    Grant, GrantKind, PermissionError, PermissionKey, PermissionStore,
};
use crate::workspace::{StoredHandoff, Workspace};
use midstride_core::handoff::proof::{ProofSpec, ProofSpecError, numbered_proofs};

/// A proof, and whether the user allowed it.
#[derive(Clone, Debug)]
pub struct AllowableProof {
    /// Its number, from one, in document order.
    pub number: usize,
    /// The claim.
    pub claim: Option<String>,
    /// The command to run, or why it cannot run.
    pub test: Result<ProofSpec, ProofSpecError>,
    /// Whether it is allowed.
    pub is_allowed: bool,
}

/// Why nothing was allowed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AllowError {
    /// No proof has this number.
    #[error("`{key}` has no proof {number}")]
    NoProof {
        /// The handoff.
        key: String,
        /// The number that was given.
        number: usize,
        /// The numbers that exist.
        has: Vec<usize>,
    },
    /// The permission could not be stored.
    #[error(transparent)]
    Permission(#[from] PermissionError),
}

/// The proofs of a handoff and whether the user allowed them. Only one if `only` is given.
pub fn allowable_proofs(
    workspace: &Workspace,
    stored: &StoredHandoff,
    only: Option<usize>,
) -> Result<Vec<AllowableProof>, AllowError> {
    let permissions = PermissionStore::for_environment(workspace.environment());
    let all = numbered_proofs(&stored.handoff(workspace)).into_iter().map(|numbered| {
        let bound =
            numbered.spec.as_ref().ok().map(|test| bind_permission(workspace, stored, test));
        AllowableProof {
            number: numbered.number,
            claim: numbered.proof.claim.map(|claim| claim.value.trim().to_owned()),
            is_allowed: bound.is_some_and(|bound| permissions.allows(&bound)),
            test: numbered.spec,
        }
    });
    let all: Vec<AllowableProof> = all.collect();
    let Some(number) = only else { return Ok(all) };
    let has = all.iter().map(|proof| proof.number).collect();
    let chosen: Vec<AllowableProof> =
        all.into_iter().filter(|proof| proof.number == number).collect();
    if chosen.is_empty() {
        let key = stored.handoff(workspace).key().to_string();
        return Err(AllowError::NoProof { key, number, has });
    }
    Ok(chosen)
}

/// The key that a permission for a proof is bound to.
fn bind_permission(
    workspace: &Workspace,
    stored: &StoredHandoff,
    test: &ProofSpec,
) -> PermissionKey {
    let handoff = stored.handoff(workspace);
    let place = || format!("{} {}", handoff.key(), stored.path.display());
    let identity = handoff.uid().map_or_else(place, |uid| uid.to_string());
    PermissionKey::proof(&workspace.identity(), &identity, test)
}

/// Allows a proof exactly as it is now.
pub fn allow(
    workspace: &Workspace,
    stored: &StoredHandoff,
    test: &ProofSpec,
    consent: &UserConsent,
) -> Result<(), PermissionError> {
    let environment = workspace.environment();
    let granted = Grant {
        about: stored.handoff(workspace).key().to_string(),
        shown: workspace.clean(&test.command).0.as_str().to_owned(),
        at: Some(environment.clock.now()),
    };
    PermissionStore::for_environment(environment).grant(
        &bind_permission(workspace, stored, test),
        &granted,
        consent,
    )
}

/// Revokes a permission. Returns whether there was one.
pub fn disallow(
    workspace: &Workspace,
    stored: &StoredHandoff,
    test: &ProofSpec,
) -> Result<bool, PermissionError> {
    PermissionStore::for_environment(workspace.environment())
        .revoke(&bind_permission(workspace, stored, test))
}

/// Revokes all proof permissions of this project, including those for proofs changed since.
pub fn disallow_all(workspace: &Workspace) -> Result<usize, PermissionError> {
    PermissionStore::for_environment(workspace.environment())
        .revoke_all(GrantKind::Proof, &workspace.identity())
}
