//! Whether the user trusts a project: the one decision that every surface asks for before it passes on
//! what documents say.
//!
//! Trust is a file in the user's state folder, named by the hash of the repository's path. It names the
//! device, the inode and the creation time of the git directory, so a repository that was moved,
//! restored, unpacked or cloned again is not the one that was trusted. Nothing inside the repository
//! is read to decide.

use super::Workspace;
use crate::sys::files::{self, FileError, FileProblem, FolderIdentity, Root};
use crate::sys::ids::sha256;
use crate::workspace::consent::UserConsent;
use crate::workspace::permission::{PermissionError, PermissionStore};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The folder of the trust records, below the state folder.
const FOLDER: &str = "midstride/trust";

/// Whether a surface may pass on what the documents of a project say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The user trusts the project, or it has no documents.
    Granted,
    /// Documents came from elsewhere and the user has not trusted them.
    Untrusted {
        /// How many documents there are.
        documents: usize,
    },
}

/// A trust record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TrustRecord {
    /// The git directory, or the root of a project without git.
    path: String,
    /// The working tree, if the git directory is not the usual one of that tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    work_tree: Option<String>,
    /// The identity of the git directory, or of the root.
    #[serde(flatten)]
    identity: FolderIdentity,
    /// When the user trusted it.
    at: String,
}

/// The subject of a trust record.
struct TrustSubject {
    path: PathBuf,
    work_tree: Option<PathBuf>,
}

impl TrustSubject {
    fn file_name(&self) -> PathBuf {
        let work_tree = self.work_tree.as_deref().unwrap_or(Path::new(""));
        let name = format!("{}\0{}", self.path.display(), work_tree.display());
        PathBuf::from(format!("{}.json", sha256(name.as_bytes())))
    }

    fn record(&self, at: String) -> Option<TrustRecord> {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        Some(TrustRecord {
            path: shown(&self.path),
            work_tree: self.work_tree.as_deref().map(shown),
            identity: files::folder_identity(&self.path)?,
            at,
        })
    }
}

impl Workspace {
    /// Whether surfaces may pass on what the documents of this project say.
    pub fn access(&self) -> Access {
        if self.is_trusted() {
            return Access::Granted;
        }
        match self.document_places().iter().filter(|place| place.is_ok()).count() {
            0 => Access::Granted,
            documents => Access::Untrusted { documents },
        }
    }

    /// Whether the user trusts this project.
    pub fn is_trusted(&self) -> bool {
        let subject = self.trust_subject();
        let Some(found) = self.trust_folder().and_then(|folder| read(&folder, &subject)) else {
            return false;
        };
        subject.record(found.at.clone()).is_some_and(|current| current == found)
    }

    /// Records that the user trusts this project.
    pub(crate) fn record_trust(&self, _consent: &UserConsent) -> Result<(), PermissionError> {
        let state = self.environment.state.as_ref().ok_or(PermissionError::NoHome)?;
        let folder = Root::make_owner_only(&state.join(FOLDER))?;
        let subject = self.trust_subject();
        let missing = || FileError { path: subject.path.clone(), problem: FileProblem::NotFound };
        let record = subject.record(self.environment.clock.now().to_string());
        let record = serde_json::to_value(record.ok_or_else(missing)?).unwrap_or_default();
        Ok(folder.put_owner_only(&subject.file_name(), format!("{record:#}\n").as_bytes())?)
    }

    /// Removes the trust record. Returns whether there was one.
    pub(crate) fn remove_trust(&self) -> Result<bool, PermissionError> {
        let Some(folder) = self.trust_folder() else { return Ok(false) };
        let path = folder.path().join(self.trust_subject().file_name());
        let existed = files::exists(&path);
        files::remove_if_exists(&path)?;
        Ok(existed)
    }

    fn trust_folder(&self) -> Option<Root> {
        Root::open(&self.environment.state.as_ref()?.join(FOLDER)).ok()
    }

    fn trust_subject(&self) -> TrustSubject {
        match &self.repository {
            // A `.git` file or link can point into any repository, also into a trusted one.
            Some(git) if !git.owns_work_tree() => TrustSubject {
                path: files::canonical(git.common_dir()),
                work_tree: Some(files::canonical(git.work_tree())),
            },
            Some(git) => TrustSubject { path: files::canonical(git.common_dir()), work_tree: None },
            None => TrustSubject { path: files::canonical(self.root.path()), work_tree: None },
        }
    }

    /// Whether the user trusts the current configuration, and the project it belongs to.
    pub(crate) fn trusts_configuration(&self) -> bool {
        let permissions = PermissionStore::for_environment(&self.environment);
        let key = self.configuration_key();
        key.is_some_and(|key| permissions.allows(&key)) && self.is_trusted()
    }
}

/// Reads a record. Ignores files that another user could have written.
fn read(folder: &Root, subject: &TrustSubject) -> Option<TrustRecord> {
    let name = subject.file_name();
    let bytes = folder.is_owner_only(&name).then(|| folder.read(&name).ok()).flatten()?;
    serde_json::from_slice(&bytes).ok()
}
