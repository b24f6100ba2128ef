//! The trust record of a project: whether the user trusts its documents, and which private stores are
//! the user's own.
//!
//! A record is a file in the user's state folder, named by the hash of the repository's path. It names
//! the device, the inode and the creation time of the git directory, so a repository that was moved,
//! restored, unpacked or cloned again is not the one that was recorded. Nothing inside the repository
//! is read to decide.

use super::Workspace;
use crate::sys::env::Environment;
use crate::sys::files::{self, FileError, FileProblem, FolderIdentity, Lock, Root};
use crate::sys::git::Repository;
use crate::sys::ids::sha256;
use crate::workspace::consent::UserConsent;
use crate::workspace::permission::{Grant, PermissionError, PermissionStore};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The folder of the trust records, below the state folder.
const FOLDER: &str = "midstride/trust";
/// The lock of all records. A writer changes what another one wrote.
const LOCK: &str = "records";

/// A trust record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TrustRecord {
    /// The git directory, or the root of a project without git.
    path: String,
    /// The working tree, if the git directory is not the usual one of that tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    work_tree: Option<String>,
    /// The identity of the git directory, or of the root.
    #[serde(flatten)]
    identity: FolderIdentity,
    /// When the user trusted the documents, if they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    /// The ids of the private stores that are the user's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) stores: Vec<String>,
}

/// The subject of a trust record.
#[derive(Clone, Debug)]
pub(super) struct TrustSubject {
    /// The user's state folder, if there is one.
    state: Option<PathBuf>,
    path: PathBuf,
    work_tree: Option<PathBuf>,
}

impl TrustSubject {
    /// The git directory of a repository.
    pub(super) fn repository(state: Option<&Path>, git: &Repository) -> Self {
        // A `.git` file or link can point into any repository, also into a trusted one.
        let work_tree = (!git.owns_work_tree()).then(|| files::canonical(git.work_tree()));
        let path = files::canonical(git.common_dir());
        Self { state: state.map(Path::to_owned), path, work_tree }
    }

    /// A folder without git.
    pub(super) fn folder(state: Option<&Path>, folder: &Path) -> Self {
        let path = files::canonical(folder);
        Self { state: state.map(Path::to_owned), path, work_tree: None }
    }

    /// Whether records can be written.
    pub(super) fn can_be_recorded(&self) -> bool {
        self.state.is_some()
    }

    /// Whether the git directory belongs to the working tree it is used from.
    pub(super) fn owns_work_tree(&self) -> bool {
        self.work_tree.is_none()
    }

    fn file_name(&self) -> PathBuf {
        let work_tree = self.work_tree.as_deref().unwrap_or(Path::new(""));
        let name = format!("{}\0{}", self.path.display(), work_tree.display());
        PathBuf::from(format!("{}.json", sha256(name.as_bytes())))
    }

    /// A record that grants nothing yet.
    fn empty_record(&self) -> Option<TrustRecord> {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        Some(TrustRecord {
            path: shown(&self.path),
            work_tree: self.work_tree.as_deref().map(shown),
            identity: files::folder_identity(&self.path)?,
            at: None,
            stores: Vec::new(),
        })
    }

    /// The record, if it is about the folder that is there now. Ignores files that another user could
    /// have written. Fails if the disk does: then it is unknown what the user trusted.
    pub(super) fn read(&self) -> Result<Option<TrustRecord>, FileError> {
        let Some(state) = &self.state else { return Ok(None) };
        let folder = FileError::unless_disk_fails(Root::open(&state.join(FOLDER)))?;
        let Some(folder) = folder else { return Ok(None) };
        let name = self.file_name();
        let bytes = FileError::unless_disk_fails(folder.read(&name))?;
        let Some(bytes) = bytes.filter(|_| folder.is_owner_only(&name)) else { return Ok(None) };
        let found = serde_json::from_slice::<TrustRecord>(&bytes).ok();
        Ok(found.zip(self.empty_record()).and_then(|(found, now)| {
            let current = TrustRecord { at: found.at.clone(), stores: found.stores.clone(), ..now };
            (current == found).then_some(found)
        }))
    }

    /// Keeps other processes from changing records.
    pub(super) fn lock(&self) -> Result<LockedRecords<'_>, FileError> {
        let state = self.state.as_ref().ok_or_else(|| self.error(FileProblem::Untrusted))?;
        let folder = Root::make_owner_only(&state.join(FOLDER))?;
        let turn = Lock::acquire(&folder, LOCK)?;
        Ok(LockedRecords { subject: self, folder, _turn: turn })
    }

    fn error(&self, problem: FileProblem) -> FileError {
        FileError { path: self.path.clone(), problem }
    }
}

/// The records while no other process changes them.
pub(super) struct LockedRecords<'s> {
    subject: &'s TrustSubject,
    folder: Root,
    _turn: Lock,
}

impl LockedRecords<'_> {
    /// Changes the record of the subject.
    pub(super) fn change(&self, change: impl FnOnce(&mut TrustRecord)) -> Result<(), FileError> {
        let missing = || self.subject.error(FileProblem::NotFound);
        let record = self.subject.read()?.or_else(|| self.subject.empty_record());
        let mut record = record.ok_or_else(missing)?;
        change(&mut record);
        let text = serde_json::to_value(record).unwrap_or_default();
        self.folder.put_owner_only(&self.subject.file_name(), format!("{text:#}\n").as_bytes())
    }
}

/// The folders of all projects on record that still exist: midstride created a private store there, or
/// the user trusts them.
pub(crate) fn recorded_projects(environment: &Environment) -> Vec<PathBuf> {
    let Some(state) = &environment.state else { return Vec::new() };
    let Ok(folder) = Root::open(&state.join(FOLDER)) else { return Vec::new() };
    let names = folder.names(".json").unwrap_or_default().into_iter();
    let read = |name: PathBuf| {
        let bytes = folder.read(&name).ok().filter(|_| folder.is_owner_only(&name))?;
        serde_json::from_slice::<TrustRecord>(&bytes).ok()
    };
    let mut projects: Vec<PathBuf> =
        names.filter_map(read).filter_map(|record| record.project_folder()).collect();
    projects.sort();
    projects.dedup();
    projects
}

impl TrustRecord {
    /// The folder of the project, if it is still the one that was recorded.
    fn project_folder(&self) -> Option<PathBuf> {
        let path = Path::new(&self.path);
        files::folder_identity(path).filter(|now| *now == self.identity)?;
        let above = path.parent().filter(|_| path.ends_with(".git"));
        let folder = self.work_tree.as_deref().map(Path::new).or(above).unwrap_or(path);
        files::is_folder(folder).then(|| folder.to_owned())
    }
}

impl Workspace {
    /// Whether the user trusts the documents of this project.
    pub fn is_trusted(&self) -> bool {
        self.trusted_at().is_some()
    }

    /// When the user trusted the documents of this project, as recorded; `None` if they did not.
    fn trusted_at(&self) -> Option<String> {
        self.trust_subject().read().ok().flatten()?.at
    }

    /// The grant for the documents of this project, if the user trusts them.
    pub(crate) fn document_grant(&self) -> Option<Grant> {
        let at = self.trusted_at()?.parse().ok();
        let about = self.root.path().display().to_string();
        Some(Grant { about, shown: String::new(), at })
    }

    /// Records that the user trusts this project.
    pub(crate) fn record_trust(&self, _consent: &UserConsent) -> Result<(), PermissionError> {
        if self.environment.state.is_none() {
            return Err(PermissionError::NoHome);
        }
        let now = self.environment.clock.now().to_string();
        Ok(self.trust_subject().lock()?.change(|record| record.at = Some(now))?)
    }

    /// Takes the trust in the documents back. Returns whether there was any. The private store stays
    /// the user's own.
    pub(crate) fn remove_trust(&self) -> Result<bool, PermissionError> {
        let was_trusted = self.is_trusted();
        if was_trusted {
            self.trust_subject().lock()?.change(|record| record.at = None)?;
        }
        Ok(was_trusted)
    }

    fn trust_subject(&self) -> TrustSubject {
        let state = self.environment.state.as_deref();
        match &self.repository {
            Some(git) => TrustSubject::repository(state, git),
            None => TrustSubject::folder(state, self.root.path()),
        }
    }

    /// Whether the user trusts the current configuration, and the project it belongs to.
    pub(crate) fn trusts_configuration(&self) -> bool {
        let permissions = PermissionStore::for_environment(&self.environment);
        let key = self.configuration_key();
        key.is_some_and(|key| permissions.allows(&key)) && self.is_trusted()
    }
}
