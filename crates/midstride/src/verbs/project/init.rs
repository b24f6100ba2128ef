//! Sets up a project: a folder and a configuration.

use crate::sys::files::FileError;
use crate::workspace::permission::PermissionError;
use crate::workspace::settings::TEMPLATE;
use crate::workspace::{Access, CONFIGURATION, HANDOFFS, SetupMode, Workspace};
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
    /// Whether sessions are briefed from its documents, or `trust` is needed first.
    pub access: Access,
}

/// Why a project could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// It is already set up the other way.
    #[error("this project is set up already, with `{}`", .0.display())]
    OtherSetup(PathBuf),
    /// The trust record could not be written.
    #[error(transparent)]
    Trust(#[from] PermissionError),
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Sets up a project. Existing files are not changed.
pub fn init(workspace: &Workspace, private: bool) -> Result<InitOutcome, InitError> {
    let committed_file = workspace.root().path().join(CONFIGURATION);
    let private_file = workspace.private_path().join("config.toml");
    let (configuration, handoffs) = if private {
        (private_file.clone(), workspace.private_path().join("handoffs"))
    } else {
        (committed_file.clone(), workspace.root().path().join(HANDOFFS))
    };
    let already = match (workspace.setup(), private) {
        (SetupMode::NotSetUp, _) => false,
        (SetupMode::Committed, false) | (SetupMode::Private, true) => true,
        (SetupMode::Committed, true) => return Err(InitError::OtherSetup(committed_file)),
        (SetupMode::Private, false) => return Err(InitError::OtherSetup(private_file)),
    };
    if !already && private {
        let root = workspace.make_private()?;
        root.create(Path::new("config.toml"), TEMPLATE.as_bytes())?;
        root.make_below(Path::new("handoffs"))?;
    } else if !already {
        workspace.root().create(Path::new(CONFIGURATION), TEMPLATE.as_bytes())?;
        workspace.root().make_below(Path::new(HANDOFFS))?;
    }
    // The user trusts what they set up. An agent can set up a project, but only one without documents
    // is trusted then: there is nothing in it that others wrote.
    let is_user = workspace.environment().automation.is_none();
    let may_trust = is_user || workspace.access() == Access::Granted;
    if may_trust && workspace.environment().state.is_some() {
        workspace.record_trust()?;
    }
    // Sessions from before the setup are not recovered.
    crate::verbs::session::sessions::installed_since(workspace)?;
    Ok(InitOutcome { configuration, handoffs, was_set_up: already, access: workspace.access() })
}
