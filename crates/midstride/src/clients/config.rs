//! The files of clients that midstride adds entries to: what goes into them, and how it is added and
//! removed without touching the rest.

pub(crate) mod client_file;
pub(crate) mod client_settings;
pub(crate) mod entry;
mod hook_trust;
pub(crate) mod json;
pub(crate) mod skill;
pub(crate) mod splice;
pub(crate) mod toml;

pub(crate) use client_file::ClientFile;
pub use client_settings::{ClientSettings, SavePermission};
pub(crate) use entry::ConfigEntry;
pub use hook_trust::HookTrust;

use crate::sys::env::Automation;
use crate::sys::files::FileError;
use serde::{Deserialize, Serialize};
use splice::Splice;
use std::path::{Path, PathBuf};

/// The MCP tools that only read.
const READ_TOOLS: [&str; 4] = ["brief", "get", "search", "check"];
/// The MCP tools with which an agent saves its session, its tasks and its workflow state.
/// Everything stays in the project, and earlier texts are kept.
const SAVE_TOOLS: [&str; 5] = ["save", "tasks", "state_save", "state_load", "state_update"];

/// The name of midstride's MCP server in a client.
pub(crate) const SERVER: &str = "midstride";

/// Who it is installed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallScope {
    /// For this user, in every project.
    User,
    /// For everyone in the project with this root.
    Project(PathBuf),
}

impl InstallScope {
    pub(crate) fn root(&self) -> Option<&Path> {
        match self {
            Self::User => None,
            Self::Project(root) => Some(root),
        }
    }

    /// A file that an install record names.
    pub(crate) fn client_file(&self, path: &Path) -> ClientFile {
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
    /// Makes a client that asks for trust run the hooks without the user's review.
    pub trust_hooks: bool,
    /// Shows midstride's status line, in a client that has one.
    pub status_line: bool,
}

/// What midstride wants in a file of a client.
#[derive(Clone, Debug)]
pub struct TargetFile {
    pub(crate) file: ClientFile,
    pub(crate) content: TargetContent,
}

/// What a file of a client must contain.
#[derive(Clone, Debug)]
pub(crate) enum TargetContent {
    /// Entries in a file that others write too.
    Entries(Vec<ConfigEntry>),
    /// A file that belongs to midstride.
    WholeFile(&'static str),
}

/// A text with inserted entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct EntryInsertion {
    pub(crate) text: String,
    pub(crate) splices: Vec<Splice>,
    /// The entries that were missing.
    pub(crate) entries: Vec<ConfigEntry>,
    /// The keys of objects and lists created for them.
    pub(crate) made: Vec<Vec<String>>,
    pub(crate) filled: Vec<FilledContainer>,
}

/// An object, list or null of the user's that was empty before entries were inserted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FilledContainer {
    pub(crate) keys: Vec<String>,
    pub(crate) was: String,
}

/// Why a text is left unchanged.
#[derive(Debug)]
pub(crate) enum ClientFileError {
    Unreadable(String),
    Unexpected { at: String, found: String, wanted: &'static str },
    Unverified(String),
}

impl ClientFileError {
    pub(crate) fn unexpected(keys: &[String], found: &str, wanted: &'static str) -> Self {
        let at =
            if keys.is_empty() { "the top".to_owned() } else { format!("`{}`", keys.join(".")) };
        Self::Unexpected { at, found: found.to_owned(), wanted }
    }

    pub(crate) fn with_path(self, path: &Path) -> InstallError {
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
    #[error("{at} in `{}` is {found}, but must be {wanted}", path.display())]
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
    #[error("`{}` cannot be changed without damage to {what}", path.display())]
    Unverified {
        /// The file.
        path: PathBuf,
        /// What would have been damaged.
        what: String,
    },
    /// There is no home folder to install to.
    #[error("there is no home directory")]
    NoHome,
    /// An install record is damaged.
    #[error("the install record `{}` cannot be read", .0.display())]
    DamagedRecord(PathBuf),
    /// Only the user can grant permissions, not an agent.
    #[error("this command requires the user, but it is running inside {0}")]
    RunByAgent(Automation),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}
