//! Allow the commands of proofs, each exactly as it is shown, and take that back.

use crate::workspace::permission::{
    Grant, GrantKind, PermissionError, PermissionKey, PermissionStore,
};
use crate::workspace::project::{Project, StoredHandoff};
use midstride_core::handoff::proof::{ProofSpec, ProofSpecError, numbered_proofs};

/// A proof, and whether this person allowed it.
#[derive(Clone, Debug)]
pub struct AllowableProof {
    /// Counted from one, in the order of the document.
    pub number: usize,
    /// What is claimed.
    pub claim: Option<String>,
    /// What would be run, or why it cannot be.
    pub test: Result<ProofSpec, ProofSpecError>,
    /// Whether it is allowed.
    pub is_allowed: bool,
}

/// Why nothing was allowed.
#[derive(Debug, thiserror::Error)]
pub enum AllowError {
    /// There are fewer proofs.
    #[error("`{key}` has no proof {number}")]
    NoProof {
        /// The handoff.
        key: String,
        /// What was asked for.
        number: usize,
        /// The numbers that there are.
        has: Vec<usize>,
    },
    /// It could not be kept.
    #[error(transparent)]
    Permission(#[from] PermissionError),
}

/// The proofs of a handoff with what this person allowed; one of them where a number is given.
pub fn allowable_proofs(
    project: &Project,
    shelved: &StoredHandoff,
    only: Option<usize>,
) -> Result<Vec<AllowableProof>, AllowError> {
    let permissions = PermissionStore::for_environment(project.environment());
    let all = numbered_proofs(&shelved.handoff(project)).into_iter().map(|numbered| {
        let bound = numbered.spec.as_ref().ok().map(|test| bind_permission(project, shelved, test));
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
        let key = shelved.handoff(project).key().to_string();
        return Err(AllowError::NoProof { key, number, has });
    }
    Ok(chosen)
}

/// What a permission for a proof is bound to.
fn bind_permission(project: &Project, shelved: &StoredHandoff, test: &ProofSpec) -> PermissionKey {
    let handoff = shelved.handoff(project);
    let place = || format!("{} {}", handoff.key(), shelved.path.display());
    let identity = handoff.uid().map_or_else(place, |uid| uid.value.trim().to_owned());
    PermissionKey::proof(&project.identity(), &identity, test)
}

/// Whether somebody may be asked at all.
pub fn check_may_allow(project: &Project) -> Result<(), PermissionError> {
    PermissionStore::for_environment(project.environment()).require_user()
}

/// Allows a proof exactly as it is.
pub fn allow(
    project: &Project,
    shelved: &StoredHandoff,
    test: &ProofSpec,
) -> Result<(), PermissionError> {
    let environment = project.environment();
    let granted = Grant {
        about: shelved.handoff(project).key().to_string(),
        shown: project.clean(&test.command).0.as_str().to_owned(),
        at: Some(environment.clock.now()),
    };
    PermissionStore::for_environment(environment)
        .grant(&bind_permission(project, shelved, test), &granted)
}

/// Takes a permission back; says whether there was one.
pub fn disallow(
    project: &Project,
    shelved: &StoredHandoff,
    test: &ProofSpec,
) -> Result<bool, PermissionError> {
    PermissionStore::for_environment(project.environment())
        .revoke(&bind_permission(project, shelved, test))
}

/// Takes back all that is allowed in this project, also of proofs that were changed since.
pub fn disallow_all(project: &Project) -> Result<usize, PermissionError> {
    PermissionStore::for_environment(project.environment())
        .revoke_all(GrantKind::Proof, &project.identity())
}

/// What is allowed in this project, also of proofs that were changed since.
pub fn allowed_proofs(project: &Project) -> Result<Vec<Grant>, PermissionError> {
    PermissionStore::for_environment(project.environment())
        .in_project(GrantKind::Proof, &project.identity())
}
