//! Sets up a project: a folder and a configuration.

use crate::sys::files::FileError;
use crate::workspace::consent::{ConsentError, UserConsent};
use crate::workspace::permission::PermissionError;
use crate::workspace::settings::TEMPLATE;
use crate::workspace::{
    Access, CONFIGURATION, HANDOFFS, PRIVATE_CONFIGURATION, SetupMode, Workspace,
};
use std::path::{Path, PathBuf};

/// The result of setting up a project.
#[derive(Debug)]
pub struct InitOutcome {
    /// The configuration.
    pub configuration: PathBuf,
    /// The folder for new handoffs.
    pub handoffs: PathBuf,
    /// Whether it was already set up this way.
    pub was_set_up: bool,
    /// Whether the user trusts it, so that sessions are briefed from its documents.
    pub is_trusted: bool,
}

/// Why a project could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// It is already set up the other way.
    #[error("this project is already set up, with `{}`", .0.display())]
    OtherSetup(PathBuf),
    /// The trust record could not be written.
    #[error(transparent)]
    Trust(#[from] PermissionError),
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Sets up a project, and trusts it if the user agreed. Existing files are not changed.
pub fn init(
    workspace: &Workspace,
    private: bool,
    consent: Option<&UserConsent>,
) -> Result<InitOutcome, InitError> {
    check_caller(workspace)?;
    let committed_file = workspace.root().path().join(CONFIGURATION);
    let private_file = workspace.private_path().join(PRIVATE_CONFIGURATION);
    let (configuration, handoffs) = if private {
        (private_file.clone(), workspace.private_path().join("handoffs"))
    } else {
        (committed_file.clone(), workspace.root().path().join(HANDOFFS))
    };
    let has_private_file =
        workspace.private()?.is_some_and(|folder| folder.exists(Path::new(PRIVATE_CONFIGURATION)));
    let already = match (workspace.setup(), private) {
        (SetupMode::Committed, false) => true,
        (SetupMode::Committed, true) => return Err(InitError::OtherSetup(committed_file)),
        (_, false) if has_private_file => return Err(InitError::OtherSetup(private_file)),
        (SetupMode::NotSetUp | SetupMode::Private, false) => false,
        (SetupMode::NotSetUp | SetupMode::Private, true) => has_private_file,
    };
    if !already && private {
        let root = workspace.make_private()?;
        root.create(Path::new(PRIVATE_CONFIGURATION), TEMPLATE.as_bytes())?;
        root.make_below(Path::new("handoffs"))?;
    } else if !already {
        workspace.root().create(Path::new(CONFIGURATION), TEMPLATE.as_bytes())?;
        workspace.root().make_below(Path::new(HANDOFFS))?;
    }
    if let Some(consent) = consent.filter(|_| workspace.environment().state.is_some()) {
        workspace.record_trust(consent)?;
    }
    // Sessions from before the setup are not recovered.
    crate::verbs::session::sessions::installed_since(workspace)?;
    let is_trusted = workspace.is_trusted();
    Ok(InitOutcome { configuration, handoffs, was_set_up: already, is_trusted })
}

/// An agent can set up a project, but not a clone with documents that the user has not trusted.
fn check_caller(workspace: &Workspace) -> Result<(), InitError> {
    match (workspace.access(), workspace.environment().automation()) {
        (Access::Untrusted { .. } | Access::Own { .. }, Some(automation)) => {
            Err(PermissionError::from(ConsentError::RequiresUser(automation)).into())
        }
        (Access::Untrusted { .. } | Access::Own { .. }, None) | (Access::Granted, _) => Ok(()),
    }
}
