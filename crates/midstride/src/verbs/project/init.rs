//! Sets up a project: a folder and a configuration.

use crate::sys::files::FileError;
use crate::workspace::settings::TEMPLATE;
use crate::workspace::{CONFIGURATION, HANDOFFS, SetupMode, Workspace};
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
}

/// Why a project could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// It is already set up the other way.
    #[error("this project is set up already, with `{}`", .0.display())]
    OtherSetup(PathBuf),
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
    // You trust what you set up yourself. Only the user can trust an existing setup, not an agent.
    if !already || workspace.environment().automation.is_none() {
        workspace.mark_set_up()?;
    }
    // Sessions from before the setup are not recovered.
    crate::verbs::session::sessions::installed_since(workspace)?;
    Ok(InitOutcome { configuration, handoffs, was_set_up: already })
}
