//! Trust what a configuration reaches for outside of its project, as it is now.

use crate::workspace::permission::{Grant, GrantKind, PermissionError, PermissionStore};
use crate::workspace::project::{OutsideFolder, Project};
use std::path::PathBuf;

/// What would act in a project, and whether this person trusts it.
#[derive(Clone, Debug)]
pub struct TrustStatus {
    /// The configuration; none where there is none.
    pub configuration: Option<PathBuf>,
    /// The shelves that it names outside the root.
    pub outside_folders: Vec<OutsideFolder>,
    /// Whether it is trusted as it is.
    pub is_trusted: bool,
}

/// What the configuration of a project reaches for.
pub fn trust_status(project: &Project) -> TrustStatus {
    let source = project.settings().source.as_ref();
    TrustStatus {
        configuration: source.map(|(path, _)| path.clone()),
        outside_folders: project.outside_folders(),
        is_trusted: project.trusts_configuration(),
    }
}

/// Trusts the configuration as it is; says whether there is one.
pub fn trust(project: &Project) -> Result<bool, PermissionError> {
    let Some(bound) = project.configuration_key() else { return Ok(false) };
    let reach = trust_status(project);
    let shelves: Vec<String> = reach.outside_folders.into_iter().map(|shelf| shelf.name).collect();
    let path = reach.configuration.unwrap_or_default();
    let granted = Grant {
        about: path.display().to_string(),
        shown: shelves.join(", "),
        at: Some(project.environment().clock.now()),
    };
    PermissionStore::for_environment(project.environment()).grant(&bound, &granted)?;
    Ok(true)
}

/// Takes the trust back, also of what the configuration said before; says whether there was any.
pub fn distrust(project: &Project) -> Result<bool, PermissionError> {
    let permissions = PermissionStore::for_environment(project.environment());
    Ok(permissions.revoke_all(GrantKind::Configuration, &project.identity())? > 0)
}

/// What was trusted in this project, also where the configuration was changed since.
pub fn trusted_configurations(project: &Project) -> Result<Vec<Grant>, PermissionError> {
    PermissionStore::for_environment(project.environment())
        .in_project(GrantKind::Configuration, &project.identity())
}
