//! Allow the commands of proofs, each exactly as it is shown, and take that back.

use crate::workspace::permission::{Bound, Granted, Kind, PermissionError, Permissions};
use crate::workspace::project::{Project, Shelved};
use midstride_core::handoff::proof::{ProofSpec, ProofSpecError, numbered_proofs};

/// A proof, and whether this person allowed it.
#[derive(Clone, Debug)]
pub struct Allowable {
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
pub fn allowable(
    project: &Project,
    shelved: &Shelved,
    only: Option<usize>,
) -> Result<Vec<Allowable>, AllowError> {
    let permissions = Permissions::of(project.environment());
    let all = numbered_proofs(&shelved.handoff(project)).into_iter().map(|numbered| {
        let bound = numbered.spec.as_ref().ok().map(|test| bound(project, shelved, test));
        Allowable {
            number: numbered.number,
            claim: numbered.proof.claim.map(|claim| claim.value.trim().to_owned()),
            is_allowed: bound.is_some_and(|bound| permissions.allow(&bound)),
            test: numbered.spec,
        }
    });
    let all: Vec<Allowable> = all.collect();
    let Some(number) = only else { return Ok(all) };
    let has = all.iter().map(|proof| proof.number).collect();
    let chosen: Vec<Allowable> = all.into_iter().filter(|proof| proof.number == number).collect();
    if chosen.is_empty() {
        let key = shelved.handoff(project).key().to_string();
        return Err(AllowError::NoProof { key, number, has });
    }
    Ok(chosen)
}

/// What a permission for a proof is bound to.
fn bound(project: &Project, shelved: &Shelved, test: &ProofSpec) -> Bound {
    let handoff = shelved.handoff(project);
    let place = || format!("{} {}", handoff.key(), shelved.path.display());
    let identity = handoff.uid().map_or_else(place, |uid| uid.value.trim().to_owned());
    Bound::proof(&project.identity(), &identity, test)
}

/// Whether somebody may be asked at all.
pub fn may_allow(project: &Project) -> Result<(), PermissionError> {
    Permissions::of(project.environment()).ask_for_a_person()
}

/// Allows a proof exactly as it is.
pub fn allow(
    project: &Project,
    shelved: &Shelved,
    test: &ProofSpec,
) -> Result<(), PermissionError> {
    let environment = project.environment();
    let granted = Granted {
        about: shelved.handoff(project).key().to_string(),
        shown: project.clean(&test.command).0.as_str().to_owned(),
        at: Some(environment.clock.now()),
    };
    Permissions::of(environment).grant(&bound(project, shelved, test), &granted)
}

/// Takes a permission back; says whether there was one.
pub fn disallow(
    project: &Project,
    shelved: &Shelved,
    test: &ProofSpec,
) -> Result<bool, PermissionError> {
    Permissions::of(project.environment()).revoke(&bound(project, shelved, test))
}

/// Takes back all that is allowed in this project, also of proofs that were changed since.
pub fn disallow_all(project: &Project) -> Result<usize, PermissionError> {
    Permissions::of(project.environment()).revoke_all(Kind::Proof, &project.identity())
}

/// What is allowed in this project, also of proofs that were changed since.
pub fn allowed(project: &Project) -> Result<Vec<Granted>, PermissionError> {
    Permissions::of(project.environment()).in_project(Kind::Proof, &project.identity())
}
