//! Installing into clients: what midstride wants in their files, as data, and how it gets in and out.
//!
//! A plan says what each file becomes before anything is written. A receipt remembers what was
//! inserted, not what was there: taking it out again gives back the bytes that were there where
//! nobody wrote since, and touches nothing but our entries where somebody did.

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

pub use client_settings::{ClientSettings, SavePermission, read_client_settings};
pub use entry::{ConfigEntry, EntryValue};
pub use hook_trust::HookTrust;
pub use on_path::{ClientProgram, PathLookup, find_client_program, find_on_path};
pub use plan::{FileChange, InstallNote, InstallPlan};
pub use plugin::plugin_files;
pub use status::{FileInstallStatus, HookStatus, InstallStatus, read_install_status};

use crate::sys::files::FileError;
use crate::workspace::settings::{Automation, Environment};
use client_file::ClientFile;
use midstride_core::session::Client;
use serde::{Deserialize, Serialize};
use splice::Splice;
use std::path::{Path, PathBuf};

/// The tools of the MCP server that only read.
const READ_TOOLS: [&str; 4] = ["brief", "get", "search", "check"];
/// The tools with which an agent saves what it knows: its session, its tasks, its workflow state. All of it
/// stays in the project, and earlier texts are kept.
const SAVE_TOOLS: [&str; 5] = ["save", "tasks", "state_save", "state_load", "state_update"];

/// Our name among the servers of a client.
const SERVER: &str = "midstride";

/// For whom it is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallScope {
    /// For this user, in every project.
    User,
    /// For everybody in the project of this folder.
    Project(PathBuf),
}

impl InstallScope {
    fn root(&self) -> Option<&Path> {
        match self {
            Self::User => None,
            Self::Project(root) => Some(root),
        }
    }

    /// A file that a receipt names.
    fn client_file(&self, path: &Path) -> ClientFile {
        let below = self.root().and_then(|root| Some((root, path.strip_prefix(root).ok()?)));
        match below {
            Some((root, below)) => ClientFile::in_project(root, below),
            None => ClientFile::for_user(path.to_owned()),
        }
    }
}

/// Which of midstride's own tools a client may use without asking. More is greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum AllowedTools {
    /// None: the client asks each time, and a headless session cannot use them.
    #[default]
    Nothing,
    /// Those that only read.
    Read,
    /// Those that read, and those that save.
    Save,
}

impl AllowedTools {
    /// The tools, by their names on the server.
    pub fn tools(self) -> Vec<&'static str> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Read => READ_TOOLS.to_vec(),
            Self::Save => READ_TOOLS.into_iter().chain(SAVE_TOOLS).collect(),
        }
    }
}

/// What is written only for who asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstallOptions {
    /// The tools that may be used without asking; without a choice, those that were allowed before.
    pub allow: Option<AllowedTools>,
    /// Codex runs our hooks without the user's review.
    pub trust_hooks: bool,
}

/// What is wanted in a file of a client.
#[derive(Clone, Debug)]
struct TargetFile {
    file: ClientFile,
    content: TargetContent,
}

#[derive(Clone, Debug)]
enum TargetContent {
    /// Entries in a file that others write as well.
    Entries(Vec<ConfigEntry>),
    /// A file of our own.
    WholeFile(&'static str),
}

/// A text that entries were put into.
#[derive(Clone, Debug, Default)]
struct EntryInsertion {
    text: String,
    splices: Vec<Splice>,
    /// Those that were not there already.
    entries: Vec<ConfigEntry>,
    /// The keys of objects and lists that were made for them.
    made: Vec<Vec<String>>,
    filled: Vec<FilledContainer>,
}

/// Something of somebody else that was empty, or null, before entries came into it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FilledContainer {
    keys: Vec<String>,
    was: String,
}

/// Why a text is left as it is.
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

/// Why nothing was installed, or taken out.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// A file of the client is not what its name says.
    #[error("`{}` cannot be read: {message}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        message: String,
    },
    /// Something else stands where our entries belong.
    #[error("{at} in `{}` is {found}, {wanted} is expected there", path.display())]
    Unexpected {
        /// The file.
        path: PathBuf,
        /// Where in it.
        at: String,
        /// What stands there.
        found: String,
        /// What should.
        wanted: &'static str,
    },
    /// The edit would have changed more than it should.
    #[error("`{}` cannot be changed without harm to {what}", path.display())]
    Unverified {
        /// The file.
        path: PathBuf,
        /// What would have been harmed.
        what: String,
    },
    /// There is nowhere to install to.
    #[error("there is no home folder")]
    NoHome,
    /// A receipt of ours is damaged.
    #[error("the receipt `{}` cannot be read", .0.display())]
    DamagedRecord(PathBuf),
    /// Permissions are given by a person.
    #[error("this runs in {0}; a person has to do it")]
    RunByAgent(Automation),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Everything that is wanted of a client, in the order in which it is shown.
fn target_files(
    environment: &Environment,
    client: Client,
    scope: &InstallScope,
    wishes: InstallOptions,
) -> Result<Vec<TargetFile>, InstallError> {
    let wanted = match client {
        Client::ClaudeCode => claude_code::target_files(environment, scope, wishes),
        Client::Codex => codex::target_files(environment, scope, wishes)?,
    };
    wanted.ok_or(InstallError::NoHome)
}

/// Plans what is to be added.
pub(crate) fn plan_add(
    environment: &Environment,
    client: Client,
    scope: &InstallScope,
    wishes: InstallOptions,
) -> Result<InstallPlan, InstallError> {
    let is_permission =
        wishes.allow.is_some_and(|allow| allow != AllowedTools::Nothing) || wishes.trust_hooks;
    match environment.automation {
        // The rest only makes midstride be called; these take questions away from the user.
        Some(inside) if is_permission => Err(InstallError::RunByAgent(inside)),
        Some(_) | None => plan::add(environment, client, scope, wishes),
    }
}

/// Plans what is to be taken out.
pub(crate) fn plan_remove(
    environment: &Environment,
    client: Client,
    scope: &InstallScope,
) -> Result<InstallPlan, InstallError> {
    plan::remove(environment, client, scope)
}
