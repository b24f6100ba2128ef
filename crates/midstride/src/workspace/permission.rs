//! What this person allowed: commands of proofs, and configurations that reach out of their project.
//!
//! A permission is a file in the user's state folder, named by the hash of all that it is bound to.
//! Whatever of it changes, there is no such file, and nothing is allowed.

use crate::sys::files::{FileError, FileProblem, Root};
use crate::sys::ids::sha256;
use crate::workspace::settings::{Automation, Environment};
use jiff::Timestamp;
use midstride_core::handoff::proof::ProofSpec;
use midstride_core::text::redact::CleanText;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Where they lie, below the state folder.
const FOLDER: &str = "midstride/permissions";

/// Why nothing was allowed, or taken back.
#[derive(Debug, thiserror::Error)]
pub enum PermissionError {
    /// Whoever asks is no person.
    #[error("this runs in {0}; a person has to do it")]
    RequiresUser(Automation),
    /// There is nowhere to keep it.
    #[error("there is no home folder to keep it in")]
    NoHome,
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// All that a permission is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionKey {
    kind: GrantKind,
    project: String,
    /// The hash of all of it.
    hash: String,
}

/// What is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantKind {
    /// A command of a proof.
    Proof,
    /// What a configuration reaches for outside of its project.
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
    /// A proof of a handoff in a project.
    pub(crate) fn proof(project: &str, handoff: &str, test: &ProofSpec) -> Self {
        Self::new(GrantKind::Proof, project, &json!({ "handoff": handoff, "proof": test.data() }))
    }

    /// The configuration of a project, by the hash of its text.
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

/// A permission that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The handoff, or the file of the configuration, as it was called then.
    pub about: String,
    /// What is allowed, as it was shown.
    pub shown: String,
    /// When.
    pub at: Option<Timestamp>,
}

/// The permissions of this person.
#[derive(Clone, Debug)]
pub struct PermissionStore {
    folder: Option<PathBuf>,
    automation: Option<Automation>,
}

impl PermissionStore {
    /// Those of whoever started the process.
    pub fn for_environment(environment: &Environment) -> Self {
        let folder = environment.state.as_ref().map(|state| state.join(FOLDER));
        Self { folder, automation: environment.automation }
    }

    fn open(&self) -> Option<Root> {
        Root::open(self.folder.as_ref()?).ok()
    }

    /// Whether exactly this is allowed.
    pub fn allows(&self, bound: &PermissionKey) -> bool {
        let file = self.open().and_then(|folder| read(&folder, &bound.file_name()));
        file.is_some_and(|file| file["bound"] == bound.hash.as_str())
    }

    /// Allows exactly this, and says under which name it was shown.
    pub fn grant(&self, bound: &PermissionKey, granted: &Grant) -> Result<(), PermissionError> {
        self.require_user()?;
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

    /// Takes it back; says whether it was there.
    pub fn revoke(&self, bound: &PermissionKey) -> Result<bool, PermissionError> {
        let Some(folder) = self.open() else { return Ok(false) };
        remove(&folder, &bound.file_name())
    }

    /// Takes back everything of a kind in a project; says how much that was.
    pub fn revoke_all(&self, kind: GrantKind, project: &str) -> Result<usize, PermissionError> {
        let Some(folder) = self.open() else { return Ok(0) };
        let mut revoked = 0;
        for (name, _) in in_project(&folder, kind, project)? {
            revoked += usize::from(remove(&folder, &name)?);
        }
        Ok(revoked)
    }

    /// What is allowed in a project, sorted by what it is about.
    pub fn in_project(
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

    /// Nobody allows anything to themselves.
    pub fn require_user(&self) -> Result<(), PermissionError> {
        self.automation.map_or(Ok(()), |inside| Err(PermissionError::RequiresUser(inside)))
    }
}

/// A file of ours. One that somebody else could have written does not count.
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
