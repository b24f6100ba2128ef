//! Trust what a configuration reaches for outside of its project, as it is now.

use crate::workspace::permission::{Granted, Kind, PermissionError, Permissions};
use crate::workspace::project::{Outside, Project};
use std::path::PathBuf;

/// What would act in a project, and whether this person trusts it.
#[derive(Clone, Debug)]
pub struct Reach {
    /// The configuration; none where there is none.
    pub configuration: Option<PathBuf>,
    /// The shelves that it names outside the root.
    pub shelves: Vec<Outside>,
    /// Whether it is trusted as it is.
    pub is_trusted: bool,
}

/// What the configuration of a project reaches for.
pub fn reach(project: &Project) -> Reach {
    let source = project.settings().source.as_ref();
    Reach {
        configuration: source.map(|(path, _)| path.clone()),
        shelves: project.outside(),
        is_trusted: project.is_trusted(),
    }
}

/// Trusts the configuration as it is; says whether there is one.
pub fn trust(project: &Project) -> Result<bool, PermissionError> {
    let Some(bound) = project.bound_configuration() else { return Ok(false) };
    let reach = reach(project);
    let shelves: Vec<String> = reach.shelves.into_iter().map(|shelf| shelf.name).collect();
    let path = reach.configuration.unwrap_or_default();
    let granted = Granted {
        about: path.display().to_string(),
        shown: shelves.join(", "),
        at: Some(project.environment().clock.now()),
    };
    Permissions::of(project.environment()).grant(&bound, &granted)?;
    Ok(true)
}

/// Takes the trust back, also of what the configuration said before; says whether there was any.
pub fn distrust(project: &Project) -> Result<bool, PermissionError> {
    let permissions = Permissions::of(project.environment());
    Ok(permissions.revoke_all(Kind::Configuration, &project.identity())? > 0)
}

/// What was trusted in this project, also where the configuration was changed since.
pub fn trusted(project: &Project) -> Result<Vec<Granted>, PermissionError> {
    Permissions::of(project.environment()).in_project(Kind::Configuration, &project.identity())
}
