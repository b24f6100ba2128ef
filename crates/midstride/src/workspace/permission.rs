//! The user's permissions: approved proof commands and trusted configurations.
//!
//! A permission is a file in the user's state folder, named by the hash of everything it is bound
//! to. If any of that changes, the file does not match and nothing is allowed.

use crate::sys::env::Environment;
use crate::sys::files::{FileError, FileProblem, Root};
use crate::sys::ids::sha256;
use crate::workspace::consent::{ConsentError, UserConsent};
use jiff::Timestamp;
use midstride_core::handoff::proof::ProofSpec;
use midstride_core::text::redact::CleanText;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The folder of the permission files, below the state folder.
const FOLDER: &str = "midstride/permissions";

/// Why a permission was not granted or revoked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PermissionError {
    /// The user could not be asked.
    #[error(transparent)]
    Consent(#[from] ConsentError),
    /// There is no home folder to store it in.
    #[error("there is no home directory to store permissions in")]
    NoHome,
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Everything that a permission is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PermissionKey {
    kind: GrantKind,
    project: String,
    /// The hash of all of it.
    hash: String,
}

/// The kind of permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GrantKind {
    /// A command of a proof.
    Proof,
    /// What a configuration accesses outside of its project.
    Configuration,
}

impl GrantKind {
    fn word(self) -> &'static str {
        match self {
            Self::Proof => "proof",
            Self::Configuration => "configuration",
        }
    }
}

impl PermissionKey {
    /// The key for a proof of a handoff in a project.
    pub(crate) fn proof(project: &str, handoff: &str, test: &ProofSpec) -> Self {
        Self::new(GrantKind::Proof, project, &json!({ "handoff": handoff, "proof": test.data() }))
    }

    /// The key for a project's configuration, by the hash of its text.
    pub(crate) fn configuration(project: &str, hash: &str) -> Self {
        Self::new(GrantKind::Configuration, project, &json!({ "configuration": hash }))
    }

    fn new(kind: GrantKind, project: &str, to: &Value) -> Self {
        let all = json!({ "kind": kind.word(), "project": project, "to": to });
        let hash = sha256(all.to_string().as_bytes());
        Self { kind, project: project.to_owned(), hash }
    }

    fn file_name(&self) -> PathBuf {
        PathBuf::from(format!("{}.json", self.hash))
    }
}

/// A permission that was granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The handoff or configuration file, by its name at the time.
    pub about: String,
    /// What is allowed, as shown to the user.
    pub shown: String,
    /// When it was granted.
    pub at: Option<Timestamp>,
}

/// The user's permissions.
#[derive(Clone, Debug)]
pub(crate) struct PermissionStore {
    folder: Option<PathBuf>,
}

impl PermissionStore {
    /// The permissions of the user who started the process.
    pub(crate) fn for_environment(environment: &Environment) -> Self {
        let folder = environment.state.as_ref().map(|state| state.join(FOLDER));
        Self { folder }
    }

    fn open(&self) -> Option<Root> {
        Root::open(self.folder.as_ref()?).ok()
    }

    /// Whether exactly this is allowed.
    pub(crate) fn allows(&self, bound: &PermissionKey) -> bool {
        let file = self.open().and_then(|folder| read(&folder, &bound.file_name()));
        file.is_some_and(|file| file["bound"] == bound.hash.as_str())
    }

    /// Grants exactly this, and records how it was shown to the user.
    pub(crate) fn grant(
        &self,
        bound: &PermissionKey,
        granted: &Grant,
        _consent: &UserConsent,
    ) -> Result<(), PermissionError> {
        let folder = Root::make_owner_only(self.folder.as_ref().ok_or(PermissionError::NoHome)?)?;
        let clean = |text: &str| CleanText::redact(text).0.as_str().to_owned();
        let text = json!({
            "bound": bound.hash,
            "kind": bound.kind.word(),
            "project": bound.project,
            "about": clean(&granted.about),
            "shown": clean(&granted.shown),
            "at": granted.at.map(|at| at.to_string()),
        });
        Ok(folder.put_owner_only(&bound.file_name(), format!("{text:#}\n").as_bytes())?)
    }

    /// Revokes a permission. Returns whether it existed.
    pub(crate) fn revoke(&self, bound: &PermissionKey) -> Result<bool, PermissionError> {
        let Some(folder) = self.open() else { return Ok(false) };
        remove(&folder, &bound.file_name())
    }

    /// Revokes all permissions of a kind in a project. Returns their number.
    pub(crate) fn revoke_all(
        &self,
        kind: GrantKind,
        project: &str,
    ) -> Result<usize, PermissionError> {
        let Some(folder) = self.open() else { return Ok(0) };
        let mut revoked = 0;
        for (name, _) in in_project(&folder, kind, project)? {
            revoked += usize::from(remove(&folder, &name)?);
        }
        Ok(revoked)
    }

    /// The permissions of a kind in a project, sorted by subject.
    pub(crate) fn in_project(
        &self,
        kind: GrantKind,
        project: &str,
    ) -> Result<Vec<Grant>, PermissionError> {
        let Some(folder) = self.open() else { return Ok(Vec::new()) };
        let files = in_project(&folder, kind, project)?;
        let mut found: Vec<Grant> =
            files.iter().filter_map(|(_, file)| parse_grant(file)).collect();
        found.sort_by(|a, b| (&a.about, &a.shown).cmp(&(&b.about, &b.shown)));
        Ok(found)
    }
}

/// Reads a permission file. Ignores files that another user could have written.
fn read(folder: &Root, name: &Path) -> Option<Value> {
    let bytes = folder.is_owner_only(name).then(|| folder.read(name).ok()).flatten()?;
    serde_json::from_slice(&bytes).ok()
}

fn in_project(
    folder: &Root,
    kind: GrantKind,
    project: &str,
) -> Result<Vec<(PathBuf, Value)>, FileError> {
    let files = folder.names(".json")?.into_iter();
    let files = files.filter_map(|name| read(folder, &name).map(|file| (name, file)));
    let here = |file: &Value| file["kind"] == kind.word() && file["project"] == project;
    Ok(files.filter(|(_, file)| here(file)).collect())
}

fn remove(folder: &Root, name: &Path) -> Result<bool, PermissionError> {
    match folder.read(name).and_then(|bytes| folder.remove(name, &bytes)) {
        Ok(()) => Ok(true),
        Err(FileError { problem: FileProblem::NotFound, .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn parse_grant(file: &Value) -> Option<Grant> {
    let text = |name: &str| file.get(name).and_then(Value::as_str).map(str::to_owned);
    let at = text("at").and_then(|at| at.parse().ok());
    Some(Grant { about: text("about")?, shown: text("shown")?, at })
}
