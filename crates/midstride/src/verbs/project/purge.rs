//! Purges everything midstride keeps for a project: handoffs, ledger, index, log, earlier texts and
//! permissions.
//!
//! Exactly what was shown is removed. Links are not followed. What several working trees or
//! projects of a repository share stays until the last of them is purged.

use crate::store::Store;
use crate::store::ledger::{Ledger as _, LedgerFolder, LedgerHealth, LedgerState, StreamId};
use crate::sys::files::{self, FileError, Root};
use crate::sys::git::GitError;
use crate::verbs::handoff::merge_driver::{DriverError, has_driver, remove_driver};
use crate::workspace::consent::UserConsent;
use crate::workspace::permission::{GrantKind, PermissionError, PermissionStore};
use crate::workspace::settings::is_template;
use crate::workspace::{CONFIGURATION, FOLDER, HANDOFFS, PRIVATE_CONFIGURATION, Workspace};
use midstride_core::text::id::BlobHash;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a purge removes, and what it keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgePlan {
    /// The root of the project.
    pub root: PathBuf,
    /// The folders that are removed with everything in them.
    pub folders: Vec<PurgedFolder>,
    /// The handoffs in those folders.
    pub handoffs: Vec<PurgedFile>,
    /// Other files in those folders that git does not have in their current state.
    pub others: Vec<PurgedFile>,
    /// How many tasks the ledger has; `None` if it is kept or cannot be read.
    pub tasks: Option<usize>,
    /// How many captured sessions the ledger has.
    pub sessions: Option<usize>,
    /// The git references that are removed.
    pub references: Vec<String>,
    /// Whether git's merge driver is set up to use midstride.
    pub has_driver: bool,
    /// How many permissions the user granted here.
    pub permissions: usize,
    /// Other working trees or projects that use the shared data. If there are any, that data is
    /// kept.
    pub still_used_by: Vec<PathBuf>,
    /// Folders of handoffs that midstride does not own, with their document counts.
    pub other_folders: Vec<(PathBuf, usize)>,
}

/// A folder that is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgedFolder {
    /// Its path.
    pub path: PathBuf,
    /// How many files it has.
    pub files: usize,
    /// Whether it is a link. Its target is kept.
    pub is_link: bool,
}

/// A file that is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgedFile {
    /// Its path, relative to the project root.
    pub path: PathBuf,
    /// Whether git can restore it.
    pub git_state: GitFileState,
}

/// What cannot be restored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnrecoverableData {
    /// Files that git does not have in their current state.
    pub files: usize,
    /// Tasks.
    pub tasks: usize,
    /// Captured sessions.
    pub sessions: usize,
    /// Whether earlier texts of handoffs are removed.
    pub has_earlier_texts: bool,
    /// Whether a ledger that cannot be read is removed. Its contents are unknown.
    pub has_unread_ledger: bool,
}

impl UnrecoverableData {
    /// Whether everything can be restored.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether the checked-out commit has a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitFileState {
    /// It has this content.
    Committed,
    /// It has other content.
    Changed,
    /// It does not have the file.
    Missing,
}

/// Why nothing was removed, or not everything.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PurgeError {
    /// Files changed since the plan was shown.
    #[error("files in this project changed after the plan was shown")]
    Changed,
    /// A permission could not be revoked.
    #[error(transparent)]
    Permission(#[from] PermissionError),
    /// The merge driver could not be removed.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A git command failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file could not be read or removed.
    #[error(transparent)]
    File(#[from] FileError),
}

impl PurgePlan {
    /// Whether there is nothing to remove.
    pub fn is_empty(&self) -> bool {
        let counted = self.references.len() + self.permissions + usize::from(self.has_driver);
        self.folders.is_empty() && counted == 0
    }

    /// What cannot be restored: files git does not have in their current state, and what only the
    /// ledger and the references have. A captured session may be all that is left of a deleted
    /// transcript.
    pub fn unrecoverable(&self) -> UnrecoverableData {
        let is_last = self.still_used_by.is_empty();
        let all = self.handoffs.iter().chain(&self.others);
        UnrecoverableData {
            files: all.filter(|file| file.git_state != GitFileState::Committed).count(),
            tasks: self.tasks.unwrap_or_default(),
            sessions: self.sessions.unwrap_or_default(),
            has_earlier_texts: !self.references.is_empty(),
            has_unread_ledger: is_last && self.tasks.is_none(),
        }
    }
}

/// Plans a purge without changing anything.
pub fn plan_purge(store: &Store) -> Result<PurgePlan, PurgeError> {
    let workspace = store.workspace();
    let still_used_by = still_used_by(workspace)?;
    let is_last = still_used_by.is_empty();
    let mut purge = PurgePlan {
        root: workspace.root().path().to_owned(),
        folders: Vec::new(),
        handoffs: Vec::new(),
        others: Vec::new(),
        tasks: None,
        sessions: None,
        references: Vec::new(),
        // All working trees share the driver's configuration.
        has_driver: is_last && has_driver(workspace)?,
        permissions: 0,
        still_used_by,
        other_folders: find_other_folders(workspace),
    };
    let committed = committed_files(workspace)?;
    for (root, name) in own_folders(workspace, is_last) {
        purge.scan_folder(workspace, &root, &name, &committed)?;
    }
    if is_last {
        (purge.tasks, purge.sessions) = count_in_ledger(store).unzip();
        for repository in workspace.repository().into_iter().chain(store.own_texts()) {
            purge.references.extend(repository.our_references()?);
        }
        purge.permissions = count_permissions(workspace)?;
    }
    Ok(purge)
}

/// Removes what the plan shows. If interrupted, running it again finishes the work.
pub fn purge(store: &Store, shown: &PurgePlan, _consent: &UserConsent) -> Result<(), PurgeError> {
    let workspace = store.workspace();
    let permissions = PermissionStore::for_environment(workspace.environment());
    let now = plan_purge(store)?;
    // Hooks of running sessions may write their log meanwhile. That is not worth an error.
    let of = |purge: &PurgePlan| {
        (purge.handoffs.clone(), purge.others.clone(), purge.still_used_by.clone())
    };
    if of(&now) != of(shown) {
        return Err(PurgeError::Changed);
    }
    if shown.has_driver {
        remove_driver(workspace)?;
    }
    let is_last = shown.still_used_by.is_empty();
    remove_configurations(workspace, is_last)?;
    if let Some(repository) = workspace.repository().filter(|_| is_last) {
        repository.remove_our_references()?;
    }
    for (root, name) in own_folders(workspace, is_last) {
        if let Ok(root) = Root::open(&root) {
            root.remove_tree(&name)?;
        }
    }
    if is_last {
        for kind in [GrantKind::Proof, GrantKind::Configuration] {
            permissions.revoke_all(kind, &workspace.identity())?;
        }
    }
    Ok(())
}

/// Removes the configurations first, so that hooks become silent and write nothing into removed
/// folders.
fn remove_configurations(workspace: &Workspace, is_last: bool) -> Result<(), FileError> {
    for (root, name) in own_folders(workspace, is_last) {
        let Some(root) = Root::open(&root).ok().filter(|root| !root.is_link(&name)) else {
            continue;
        };
        for file in ["config.toml", "private/config.toml"] {
            root.remove_tree(&name.join(file))?;
        }
    }
    Ok(())
}

/// The folders midstride owns, each as a root that is never left and a path below it.
fn own_folders(workspace: &Workspace, is_last: bool) -> Vec<(PathBuf, PathBuf)> {
    let mut places = vec![(workspace.root().path().to_owned(), PathBuf::from(FOLDER))];
    if !is_last {
        return places;
    }
    let ledger = LedgerFolder::for_project(workspace);
    let private = [workspace.private_path(), ledger.path().to_owned()];
    for folder in private.into_iter().chain(workspace.stores_set_aside()) {
        let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else { continue };
        let is_known = |(root, inside): &(PathBuf, PathBuf)| folder.starts_with(root.join(inside));
        if !places.iter().any(is_known) {
            places.push((above.to_owned(), PathBuf::from(name)));
        }
    }
    places
}

impl PurgePlan {
    fn scan_folder(
        &mut self,
        workspace: &Workspace,
        root: &Path,
        name: &Path,
        committed: &BTreeMap<PathBuf, GitFileState>,
    ) -> Result<(), FileError> {
        if !files::is_folder(root) {
            return Ok(());
        }
        let root = Root::open(root)?;
        let files = root.files_below(name)?;
        let (path, is_link) = (root.path().join(name), root.is_link(name));
        if files.is_empty() && !root.has_folder(name) {
            return Ok(());
        }
        for inside in files.iter().filter(|_| !is_link) {
            let whole = root.path().join(inside);
            let in_git = committed.get(&whole).copied().unwrap_or(GitFileState::Missing);
            let path = whole.strip_prefix(workspace.root().path()).unwrap_or(&whole).to_owned();
            match file_kind(workspace, &root, inside) {
                FileKind::Handoff => self.handoffs.push(PurgedFile { path, git_state: in_git }),
                FileKind::Other => self.others.push(PurgedFile { path, git_state: in_git }),
                FileKind::Own => {}
            }
        }
        self.folders.push(PurgedFolder { path, files: files.len(), is_link });
        Ok(())
    }
}

enum FileKind {
    Handoff,
    /// A file the user wrote, or may have written.
    Other,
    /// A file midstride wrote. Data in it that cannot be rebuilt is counted separately.
    Own,
}

fn file_kind(workspace: &Workspace, root: &Root, inside: &Path) -> FileKind {
    let whole = root.path().join(inside);
    // The second folder has what was kept before the project had git.
    let private = [workspace.private_path(), workspace.root().path().join(FOLDER).join("private")];
    let folders = private.iter().map(|folder| folder.join("handoffs"));
    let mut folders = folders.chain([workspace.root().path().join(HANDOFFS)]);
    if files::is_markdown(&whole) && folders.any(|handoff_folder| whole.starts_with(handoff_folder))
    {
        return FileKind::Handoff;
    }
    let is_configuration = inside.file_name().is_some_and(|name| name == "config.toml");
    let is_fresh = || root.read(inside).is_ok_and(|bytes| is_template(&bytes));
    match private.iter().any(|folder| whole.starts_with(folder)) {
        _ if is_configuration && is_fresh() => FileKind::Own,
        true if !is_configuration => FileKind::Own,
        true | false => FileKind::Other,
    }
}

/// The state of the folder's files in the checked-out commit, by full path.
fn committed_files(workspace: &Workspace) -> Result<BTreeMap<PathBuf, GitFileState>, GitError> {
    let Some((repository, commit)) =
        workspace.repository().and_then(|git| Some((git, git.head_commit()?)))
    else {
        return Ok(BTreeMap::new());
    };
    let top = repository.work_tree();
    let folder = workspace.root().path().join(FOLDER);
    let listed = repository.files_at(&commit)?.files;
    let is_ours = |(name, _): &(String, Option<BlobHash>)| {
        let path = top.join(name);
        // Git cannot be asked for a path with a line break. It counts as missing, which is the safe
        // choice.
        path.starts_with(&folder) && files::is_file(&path) && !name.contains('\n')
    };
    let (names, ids): (Vec<String>, Vec<Option<BlobHash>>) =
        listed.into_iter().filter(is_ours).unzip();
    let now = repository.hash_files(&names)?;
    let compared = names.iter().zip(ids).zip(now).map(|((name, then), now)| {
        let is_same = then.as_ref() == Some(&now);
        (top.join(name), if is_same { GitFileState::Committed } else { GitFileState::Changed })
    });
    Ok(compared.collect())
}

/// Other working trees with a midstride folder or the same private setup, and other projects in
/// this one.
fn still_used_by(workspace: &Workspace) -> Result<Vec<PathBuf>, GitError> {
    let Some(repository) = workspace.repository() else { return Ok(Vec::new()) };
    let (top, root) = (repository.work_tree(), workspace.root().path());
    let inside = root.strip_prefix(top).unwrap_or(Path::new(""));
    let trees = repository.work_trees().into_iter().map(|tree| tree.join(inside));
    // A private setup applies to every working tree and is stored in none of them.
    let is_private = files::is_file(&workspace.private_path().join(PRIVATE_CONFIGURATION));
    let is_used = |other: &PathBuf| {
        files::is_folder(&other.join(FOLDER)) || (is_private && files::is_folder(other))
    };
    let trees = trees.filter(is_used);
    let listed = repository.files_in_work_tree()?.files.into_keys();
    let projects = listed.filter_map(|name| {
        let path = top.join(name);
        path.ends_with(CONFIGURATION).then(|| path.parent()?.parent().map(Path::to_owned)).flatten()
    });
    let mut others: Vec<PathBuf> = trees
        .chain(projects.filter(|other| files::is_folder(&other.join(FOLDER))))
        .map(|other| files::canonical(&other))
        .filter(|other| *other != files::canonical(root))
        .collect();
    others.sort();
    others.dedup();
    Ok(others)
}

/// How many tasks and captured sessions the ledger has. Does not create a ledger.
fn count_in_ledger(store: &Store) -> Option<(usize, usize)> {
    let workspace = store.workspace();
    match LedgerHealth::read(workspace).state {
        LedgerState::Missing => return Some((0, 0)),
        LedgerState::Newer { .. } | LedgerState::Unusable(_) => return None,
        LedgerState::Readable { .. } => {}
    }
    let ledger = store.ledger().ok()?;
    let below = |prefix| ledger.last_per_stream(prefix).ok().map(|streams| streams.len());
    Some((below(StreamId::TASKS)?, below(StreamId::SESSIONS)?))
}

fn count_permissions(workspace: &Workspace) -> Result<usize, PermissionError> {
    let permissions = PermissionStore::for_environment(workspace.environment());
    let mut given = 0;
    for kind in [GrantKind::Proof, GrantKind::Configuration] {
        given += permissions.in_project(kind, &workspace.identity())?.len();
    }
    Ok(given)
}

/// Folders midstride does not own that have documents.
fn find_other_folders(workspace: &Workspace) -> Vec<(PathBuf, usize)> {
    let ours = [workspace.root().path().join(HANDOFFS), workspace.private_path()];
    let without_git = workspace.root().path().join(FOLDER);
    let folders = workspace.folders().iter().filter_map(|handoff_folder| {
        let path = handoff_folder.root_path().join(handoff_folder.path());
        let is_ours = ours.iter().chain([&without_git]).any(|folder| path.starts_with(folder));
        let documents = handoff_folder.documents().ok()?.len();
        (!is_ours && documents > 0).then_some((path, documents))
    });
    folders.collect()
}
