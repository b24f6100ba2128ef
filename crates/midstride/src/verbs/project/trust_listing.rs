//! What trust in a project would allow: whose documents are read, which commands they have, and whether
//! the remote that a clone came from has the same documents.

use crate::sys::git::{GitAuthor, GitError, Repository, advertised_ids};
use crate::verbs::handoff::proof_permission::allowable_proofs;
use crate::workspace::consent::UserConsent;
use crate::workspace::permission::PermissionError;
use crate::workspace::trusted_remotes::TrustedRemotes;
use crate::workspace::{SetupMode, StoredHandoff, Workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How many commits of a remote are compared with a clone at most.
const COMPARED_TIPS_MAX: usize = 200;

/// What trust would allow.
#[derive(Clone, Debug, Default)]
pub struct TrustListing {
    /// The documents that sessions are briefed from, by path.
    pub documents: Vec<ListedDocument>,
    /// The commands of their proofs. Each needs its own permission.
    pub proofs: Vec<ListedProof>,
    /// The user's address in their own git configuration.
    pub user_email: Option<String>,
}

/// A document that came with the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedDocument {
    /// Its path, as a user would write it.
    pub path: PathBuf,
    /// The authors of its commits. Empty if no commit has it.
    pub authors: Vec<GitAuthor>,
    /// Whether its content is not the one of the checked-out commit.
    pub is_changed: bool,
}

/// A command that a document has as proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedProof {
    /// The handoff.
    pub key: String,
    /// The command.
    pub command: String,
    /// Whether the user allowed it.
    pub is_allowed: bool,
}

/// Why an author's documents are not trusted.
#[derive(Debug, thiserror::Error)]
#[error("some documents here were not written by {email} alone")]
pub struct OtherAuthors {
    /// The address that was given.
    pub email: String,
    /// The others, with the number of their documents.
    pub others: Vec<(GitAuthor, usize)>,
    /// How many documents are not committed, or changed since.
    pub unknown: usize,
}

/// Lists what trust in a project would allow.
pub fn trust_listing(workspace: &Workspace) -> TrustListing {
    let documents = read_documents(workspace);
    let repository = workspace.repository();
    let paths = documents.iter().map(|stored| workspace.path_in_work_tree(stored));
    let paths: Vec<Option<PathBuf>> = paths.collect();
    let folders = paths.iter().flatten().map(|path| folder_of(path)).collect();
    let authors = repository.and_then(|git| git.authors(&folders).ok()).unwrap_or_default();
    let mut head = repository.and_then(|git| git.proven_commit(git.head_commit()?.as_str()));
    let listed = documents.iter().zip(&paths).map(|(stored, path)| {
        let mut is_committed =
            |path: &Path| head.as_mut().is_some_and(|head| head.has_file(path, &stored.bytes));
        ListedDocument {
            path: stored.path.clone(),
            authors: path.as_deref().and_then(|path| find(&authors, path)).unwrap_or_default(),
            is_changed: !path.as_deref().is_some_and(&mut is_committed),
        }
    });
    TrustListing {
        documents: listed.collect(),
        proofs: documents.iter().flat_map(|stored| proofs(workspace, stored)).collect(),
        user_email: repository.and_then(Repository::user_email),
    }
}

/// The documents that are not in a private store of the user, by path.
fn read_documents(workspace: &Workspace) -> Vec<StoredHandoff> {
    let places = workspace.document_places().into_iter().filter_map(Result::ok);
    let others = places.filter(|place| !workspace.is_own(place));
    let mut read: Vec<StoredHandoff> =
        others.filter_map(|place| workspace.read(&place).ok()).collect();
    read.sort_by(|one, other| one.path.cmp(&other.path));
    read
}

fn folder_of(path: &Path) -> String {
    path.parent().unwrap_or(Path::new("")).to_string_lossy().into_owned()
}

fn find(authors: &BTreeMap<String, BTreeSet<GitAuthor>>, path: &Path) -> Option<Vec<GitAuthor>> {
    Some(authors.get(path.to_str()?)?.iter().cloned().collect())
}

fn proofs(workspace: &Workspace, stored: &StoredHandoff) -> Vec<ListedProof> {
    let key = stored.handoff(workspace).key().to_string();
    let all = allowable_proofs(workspace, stored, None).unwrap_or_default().into_iter();
    let runnable = all.filter_map(|proof| Some((proof.test.ok()?, proof.is_allowed)));
    runnable
        .map(|(test, is_allowed)| ListedProof {
            key: key.clone(),
            command: test.command,
            is_allowed,
        })
        .collect()
}

impl TrustListing {
    /// Fails unless every document is by this author alone. Author lines can be forged, so this never
    /// replaces the user's consent.
    pub fn require_author(&self, email: &str) -> Result<(), OtherAuthors> {
        let mut others: BTreeMap<GitAuthor, usize> = BTreeMap::new();
        let foreign = self.documents.iter().flat_map(|document| &document.authors);
        for author in foreign.filter(|author| author.email != email) {
            *others.entry(author.clone()).or_default() += 1;
        }
        let is_unknown =
            |document: &&ListedDocument| document.authors.is_empty() || document.is_changed;
        let unknown = self.documents.iter().filter(is_unknown).count();
        if others.is_empty() && unknown == 0 {
            return Ok(());
        }
        Err(OtherAuthors { email: email.to_owned(), others: others.into_iter().collect(), unknown })
    }
}

/// The URL of the remote that this clone came from, if the user trusts it.
pub fn trusted_remote(workspace: &Workspace) -> Option<String> {
    let url = workspace.repository()?.origin_url()?;
    TrustedRemotes::for_environment(workspace.environment()).contains(&url).then_some(url)
}

/// Remembers the remote that this clone came from. Returns its URL, or `None` if there is none that can
/// be asked.
pub fn trust_remote(
    workspace: &Workspace,
    consent: &UserConsent,
) -> Result<Option<String>, PermissionError> {
    let Some(url) = workspace.repository().and_then(Repository::origin_url) else {
        return Ok(None);
    };
    TrustedRemotes::for_environment(workspace.environment()).add(&url, consent)?;
    Ok(Some(url))
}

/// Whether the trusted remote that this clone names has every document and the configuration, exactly
/// as they are here, in one of its branches or tags. Asks the remote.
pub fn is_vouched_by_remote(workspace: &Workspace) -> Result<bool, GitError> {
    let Some((repository, url)) = workspace.repository().zip(trusted_remote(workspace)) else {
        return Ok(false);
    };
    let documents = read_documents(workspace).into_iter();
    let named = documents.map(|stored| (workspace.path_in_work_tree(&stored), stored.bytes));
    // A document outside of the working tree did not come with the clone.
    let files = named.filter_map(|(path, bytes)| Some((path?, bytes)));
    let files: Vec<(PathBuf, Vec<u8>)> = files.chain(configuration(workspace)).collect();
    let head = repository.head_commit();
    let mut tips = advertised_ids(&url)?;
    tips.sort_by_key(|tip| head.as_ref().is_none_or(|head| head.as_str() != tip));
    let has_all = |tip: &String| {
        let tree = repository.proven_commit(tip);
        tree.is_some_and(|mut tree| files.iter().all(|(path, bytes)| tree.has_file(path, bytes)))
    };
    Ok(!files.is_empty() && tips.iter().take(COMPARED_TIPS_MAX).any(has_all))
}

/// The configuration in the working tree and its content.
fn configuration(workspace: &Workspace) -> Option<(PathBuf, Vec<u8>)> {
    if workspace.setup() != SetupMode::Committed {
        return None;
    }
    let (path, _) = workspace.settings().source.as_ref()?;
    let inside = path.strip_prefix(workspace.root().path()).ok()?;
    let in_tree = path.strip_prefix(workspace.repository()?.work_tree()).ok()?;
    Some((in_tree.to_owned(), workspace.root().read(inside).ok()?))
}
