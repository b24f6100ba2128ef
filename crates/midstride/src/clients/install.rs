//! Installs midstride into clients: the entries it needs in their files, as data, and how they are
//! added and removed.
//!
//! A plan contains the new text of each file before anything is written. An install record has what
//! was inserted, not what was there before. Removing it restores the original bytes if the file was
//! not edited since, and otherwise removes only midstride's entries.

mod claude_code;
mod client_file;
mod client_settings;
mod codex;
mod entry;
mod hook_trust;
mod json;
mod on_path;
mod plan;
mod plugin;
mod record;
mod skill;
mod splice;
mod status;
#[cfg(test)]
mod tests;
mod toml;

pub use client_settings::{ClientSettings, SavePermission};

pub(crate) use client_settings::read_client_settings;
pub(crate) use entry::ConfigEntry;
pub use hook_trust::HookTrust;
pub(crate) use on_path::find_client_program;
pub use on_path::{ClientProgram, PathLookup, find_on_path};
pub use plan::{FileChange, InstallNote, InstallPlan};
pub use plugin::plugin_files;
pub(crate) use status::read_install_status;
pub use status::{FileInstallStatus, HookStatus, InstallStatus};

use crate::sys::env::{Automation, Environment};
use crate::sys::files::FileError;
use client_file::ClientFile;
use midstride_core::session::ClientName;
use serde::{Deserialize, Serialize};
use splice::Splice;
use std::path::{Path, PathBuf};

/// The MCP tools that only read.
const READ_TOOLS: [&str; 4] = ["brief", "get", "search", "check"];
/// The MCP tools with which an agent saves its session, its tasks and its workflow state.
/// Everything stays in the project, and earlier texts are kept.
const SAVE_TOOLS: [&str; 5] = ["save", "tasks", "state_save", "state_load", "state_update"];

/// The name of midstride's MCP server in a client.
const SERVER: &str = "midstride";

/// Who it is installed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallScope {
    /// For this user, in every project.
    User,
    /// For everyone in the project with this root.
    Project(PathBuf),
}

impl InstallScope {
    fn root(&self) -> Option<&Path> {
        match self {
            Self::User => None,
            Self::Project(root) => Some(root),
        }
    }

    /// A file that an install record names.
    fn client_file(&self, path: &Path) -> ClientFile {
        let below = self.root().and_then(|root| Some((root, path.strip_prefix(root).ok()?)));
        match below {
            Some((root, below)) => ClientFile::in_project(root, below),
            None => ClientFile::for_user(path.to_owned()),
        }
    }
}

/// Which of midstride's tools a client may use without asking. A greater value allows more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum AllowedTools {
    /// None: the client asks each time, and a headless session cannot use them.
    #[default]
    Nothing,
    /// Tools that only read.
    Read,
    /// Tools that read, and tools that save.
    Save,
}

impl AllowedTools {
    /// The names of the tools on the server.
    pub fn tools(self) -> Vec<&'static str> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Read => READ_TOOLS.to_vec(),
            Self::Save => READ_TOOLS.into_iter().chain(SAVE_TOOLS).collect(),
        }
    }
}

/// What is written only on request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstallOptions {
    /// Tools to allow without asking; `None` keeps what was allowed before.
    pub allow: Option<AllowedTools>,
    /// Makes Codex run the hooks without the user's review.
    pub trust_hooks: bool,
}

/// What midstride wants in a file of a client.
#[derive(Clone, Debug)]
struct TargetFile {
    file: ClientFile,
    content: TargetContent,
}

#[derive(Clone, Debug)]
enum TargetContent {
    /// Entries in a file that others write too.
    Entries(Vec<ConfigEntry>),
    /// A file that belongs to midstride.
    WholeFile(&'static str),
}

/// A text with inserted entries.
#[derive(Clone, Debug, Default)]
struct EntryInsertion {
    text: String,
    splices: Vec<Splice>,
    /// The entries that were missing.
    entries: Vec<ConfigEntry>,
    /// The keys of objects and lists created for them.
    made: Vec<Vec<String>>,
    filled: Vec<FilledContainer>,
}

/// An object, list or null of the user's that was empty before entries were inserted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FilledContainer {
    keys: Vec<String>,
    was: String,
}

/// Why a text is left unchanged.
#[derive(Debug)]
enum ClientFileError {
    Unreadable(String),
    Unexpected { at: String, found: String, wanted: &'static str },
    Unverified(String),
}

impl ClientFileError {
    fn unexpected(keys: &[String], found: &str, wanted: &'static str) -> Self {
        let at =
            if keys.is_empty() { "the top".to_owned() } else { format!("`{}`", keys.join(".")) };
        Self::Unexpected { at, found: found.to_owned(), wanted }
    }

    fn with_path(self, path: &Path) -> InstallError {
        let path = path.to_owned();
        match self {
            Self::Unreadable(message) => InstallError::Unreadable { path, message },
            Self::Unexpected { at, found, wanted } => {
                InstallError::Unexpected { path, at, found, wanted }
            }
            Self::Unverified(what) => InstallError::Unverified { path, what },
        }
    }
}

/// Why nothing was installed or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// A file of the client cannot be parsed.
    #[error("`{}` cannot be read: {message}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        message: String,
    },
    /// Something else is where the entries belong.
    #[error("{at} in `{}` is {found}, {wanted} is expected there", path.display())]
    Unexpected {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        at: String,
        /// What is there.
        found: String,
        /// What is expected.
        wanted: &'static str,
    },
    /// The edit would have changed more than intended.
    #[error("`{}` cannot be changed without harm to {what}", path.display())]
    Unverified {
        /// The file.
        path: PathBuf,
        /// What would have been damaged.
        what: String,
    },
    /// There is no home folder to install to.
    #[error("there is no home folder")]
    NoHome,
    /// An install record is damaged.
    #[error("the receipt `{}` cannot be read", .0.display())]
    DamagedRecord(PathBuf),
    /// Only the user can grant permissions, not an agent.
    #[error("this runs in {0}; a person has to do it")]
    RunByAgent(Automation),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// All files midstride wants in a client, in display order.
fn target_files(
    environment: &Environment,
    client: ClientName,
    scope: &InstallScope,
    options: InstallOptions,
) -> Result<Vec<TargetFile>, InstallError> {
    let wanted = match client {
        ClientName::ClaudeCode => claude_code::target_files(environment, scope, options),
        ClientName::Codex => codex::target_files(environment, scope, options)?,
    };
    wanted.ok_or(InstallError::NoHome)
}

/// Plans an installation.
pub(crate) fn plan_add(
    environment: &Environment,
    client: ClientName,
    scope: &InstallScope,
    options: InstallOptions,
) -> Result<InstallPlan, InstallError> {
    let is_permission =
        options.allow.is_some_and(|allow| allow != AllowedTools::Nothing) || options.trust_hooks;
    match environment.automation {
        // The other entries only make clients call midstride; these remove prompts to the user.
        Some(inside) if is_permission => Err(InstallError::RunByAgent(inside)),
        Some(_) | None => plan::add(environment, client, scope, options),
    }
}

/// Plans a removal.
pub(crate) fn plan_remove(
    environment: &Environment,
    client: ClientName,
    scope: &InstallScope,
) -> Result<InstallPlan, InstallError> {
    plan::remove(environment, client, scope)
}
