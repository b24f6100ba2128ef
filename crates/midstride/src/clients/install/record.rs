//! Install records: what was inserted where. They are in the user's state folder, outside every
//! repository, and contain no text of others, because client settings can contain secrets.

use crate::clients::client::Client;
use crate::clients::config::splice::Splice;
use crate::clients::config::{
    AllowedTools, ConfigEntry, FilledContainer, InstallError, InstallOptions, InstallScope,
};
use crate::sys::env::Environment;
use crate::sys::files::{FileError, FileProblem, Lock, Root};
use crate::sys::ids::sha256;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The folder of the records, below the state folder.
const FOLDER: &str = "midstride/clients";

/// What was installed in one client for one scope.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InstallRecord {
    /// The version that installed it.
    pub(super) version: String,
    /// When it was installed.
    pub(super) at: String,
    /// The project, if it was installed for one.
    pub(super) project: Option<PathBuf>,
    pub(super) allow_read_tools: bool,
    /// Missing in records of older versions.
    #[serde(default)]
    pub(super) allow_save_tools: bool,
    pub(super) trust_hooks: bool,
    /// Missing in records of older versions.
    #[serde(default)]
    pub(super) status_line: bool,
    pub(super) files: Vec<FileInsertion>,
}

/// What was inserted in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileInsertion {
    pub(super) path: PathBuf,
    /// SHA-256 of the previous text; `None` if there was no file.
    pub(super) before: Option<String>,
    /// SHA-256 of the new text.
    pub(super) after: String,
    pub(super) splices: Vec<Splice>,
    pub(super) entries: Vec<ConfigEntry>,
    /// The keys of objects and lists created for the entries.
    pub(super) made: Vec<Vec<String>>,
    /// Containers that were empty before.
    pub(super) filled: Vec<FilledContainer>,
    /// Folders created for the file, outermost first.
    pub(super) folders: Vec<PathBuf>,
}

impl InstallRecord {
    pub(super) fn options(&self) -> InstallOptions {
        let allow = match (self.allow_read_tools, self.allow_save_tools) {
            (_, true) => AllowedTools::Save,
            (true, false) => AllowedTools::Read,
            (false, false) => AllowedTools::Nothing,
        };
        let Self { trust_hooks, status_line, .. } = *self;
        InstallOptions { allow: Some(allow), trust_hooks, status_line }
    }

    pub(super) fn insertion_in(&self, path: &Path) -> Option<&FileInsertion> {
        self.files.iter().find(|file| file.path == path)
    }
}

impl FileInsertion {
    /// Whether the whole file belongs to midstride.
    pub(super) fn is_whole(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The file with the install record of one client and scope.
pub(super) struct InstallRecordFile {
    folder: PathBuf,
    name: PathBuf,
}

impl InstallRecordFile {
    pub(super) fn for_client(
        environment: &Environment,
        client: &'static dyn Client,
        scope: &InstallScope,
    ) -> Result<Self, InstallError> {
        let state = environment.state.as_ref().ok_or(InstallError::NoHome)?;
        let whose = match scope.root() {
            None => "user".to_owned(),
            Some(root) => sha256(root.as_os_str().as_encoded_bytes()),
        };
        let name = PathBuf::from(format!("{}-{whose}.json", client.name()));
        Ok(Self { folder: state.join(FOLDER), name })
    }

    /// Takes the lock for writing, so that record and files stay consistent.
    pub(super) fn lock(&self) -> Result<Lock, InstallError> {
        Ok(Lock::acquire(&Root::make_owner_only(&self.folder)?, "writing")?)
    }

    pub(super) fn read(&self) -> Result<Option<InstallRecord>, InstallError> {
        let bytes = match Root::open(&self.folder).and_then(|folder| folder.read(&self.name)) {
            Ok(bytes) => bytes,
            Err(FileError { problem: FileProblem::NotFound, .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let damaged = |_| InstallError::DamagedRecord(self.folder.join(&self.name));
        serde_json::from_slice(&bytes).map(Some).map_err(damaged)
    }

    /// Saves a record, or removes the saved one if given `None`.
    pub(super) fn save(&self, record: Option<&InstallRecord>) -> Result<(), InstallError> {
        let folder = Root::make_owner_only(&self.folder)?;
        let Some(record) = record else {
            return match folder.read(&self.name).and_then(|old| folder.remove(&self.name, &old)) {
                Err(FileError { problem: FileProblem::NotFound, .. }) | Ok(()) => Ok(()),
                Err(error) => Err(error.into()),
            };
        };
        let text = serde_json::to_string_pretty(record).expect("an install record has only text");
        Ok(folder.put_owner_only(&self.name, format!("{text}\n").as_bytes())?)
    }
}
