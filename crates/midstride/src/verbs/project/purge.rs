//! Take everything away that midstride keeps for a project: handoffs, ledger, index, log, earlier
//! texts, permissions.
//!
//! What is looked at first is exactly what goes. Links are not followed, and what several working
//! trees or projects of a repository share stays until the last of them is purged.

use crate::store::ledger::{
    Ledger as _, LedgerFolder, LedgerState, SqliteLedger, StreamId, WaitPolicy,
};
use crate::sys::files::{self, FileError, Root};
use crate::sys::git::{GitError, Repository};
use crate::verbs::handoff::merge_driver::{DriverError, has_driver, remove_driver};
use crate::workspace::permission::{GrantKind, PermissionError, PermissionStore};
use crate::workspace::project::{CONFIGURATION, FOLDER, HANDOFFS, Project};
use crate::workspace::settings::is_template;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What goes, and what stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgePlan {
    /// The root of the project.
    pub root: PathBuf,
    /// The folders that go with everything in them.
    pub folders: Vec<PurgedFolder>,
    /// The handoffs that lie in them.
    pub handoffs: Vec<PurgedFile>,
    /// Other files in them that somebody may miss: git does not have them as they are.
    pub others: Vec<PurgedFile>,
    /// How many tasks the ledger has; none where it stays or cannot be read.
    pub tasks: Option<usize>,
    /// How many sessions were captured.
    pub sessions: Option<usize>,
    /// The references of git that go.
    pub references: Vec<String>,
    /// Whether git merges with midstride so far.
    pub has_driver: bool,
    /// How many permissions this person gave here.
    pub permissions: usize,
    /// Who else uses what lies beside git. Where there is somebody, all of that stays.
    pub still_used_by: Vec<PathBuf>,
    /// Documents elsewhere, which are somebody else's: each shelf with how many lie there.
    pub other_folders: Vec<(PathBuf, usize)>,
}

/// A folder that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgedFolder {
    /// Where it is.
    pub path: PathBuf,
    /// How many files lie in it.
    pub files: usize,
    /// Whether it is a link, which goes without what it leads to.
    pub is_link: bool,
}

/// A file that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurgedFile {
    /// The path as a person would write it from the root of the project.
    pub path: PathBuf,
    /// Whether git can bring it back.
    pub git_state: GitFileState,
}

/// What nothing brings back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnrecoverableData {
    /// Files that git does not have as they are.
    pub files: usize,
    /// Tasks.
    pub tasks: usize,
    /// Captured sessions.
    pub sessions: usize,
    /// Whether texts go that handoffs had before.
    pub has_earlier_texts: bool,
    /// Whether a ledger goes that cannot be read: nobody knows what is in it.
    pub has_unread_ledger: bool,
}

impl UnrecoverableData {
    /// Whether everything can be had again.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether the commit that is checked out has a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitFileState {
    /// As it is.
    Committed,
    /// As it was before.
    Changed,
    /// Not at all.
    Missing,
}

/// Why everything is as it was, or not all of it is gone.
#[derive(Debug, thiserror::Error)]
pub enum PurgeError {
    /// Something was written since it was shown.
    #[error("what lies in this project was changed meanwhile")]
    Changed,
    /// Whoever asks is no person, or a permission could not be taken back.
    #[error(transparent)]
    Permission(#[from] PermissionError),
    /// The merge driver could not be taken out.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// Git did not say what it has, or did not remove a reference.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file could not be read or removed.
    #[error(transparent)]
    File(#[from] FileError),
}

impl PurgePlan {
    /// Whether there is nothing to take away.
    pub fn is_empty(&self) -> bool {
        let counted = self.references.len() + self.permissions + usize::from(self.has_driver);
        self.folders.is_empty() && counted == 0
    }

    /// What nothing brings back: files that git does not have as they are, and what the ledger and the
    /// references alone have. A session may have outlived its transcript.
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

/// Looks at what would go. Nothing is changed.
pub fn plan_purge(project: &Project) -> Result<PurgePlan, PurgeError> {
    let still_used_by = still_used_by(project)?;
    let is_last = still_used_by.is_empty();
    let mut purge = PurgePlan {
        root: project.root().path().to_owned(),
        folders: Vec::new(),
        handoffs: Vec::new(),
        others: Vec::new(),
        tasks: None,
        sessions: None,
        references: Vec::new(),
        // Its configuration is one for all working trees.
        has_driver: is_last && has_driver(project)?,
        permissions: 0,
        still_used_by,
        other_folders: find_other_folders(project),
    };
    let committed = committed_files(project)?;
    for (root, name) in own_folders(project, is_last) {
        purge.scan_folder(project, &root, &name, &committed)?;
    }
    if is_last {
        (purge.tasks, purge.sessions) = count_in_ledger(project).unzip();
        let references = project.repository().map(Repository::our_references).transpose()?;
        purge.references = references.unwrap_or_default();
        purge.permissions = count_permissions(project)?;
    }
    Ok(purge)
}

/// Takes away what was shown. Cut short, it is finished by asking once more.
pub fn purge(project: &Project, shown: &PurgePlan) -> Result<(), PurgeError> {
    let permissions = PermissionStore::for_environment(project.environment());
    permissions.require_user()?;
    let now = plan_purge(project)?;
    // Hooks of sessions that run write their log meanwhile; nobody would miss that.
    let of = |purge: &PurgePlan| {
        (purge.handoffs.clone(), purge.others.clone(), purge.still_used_by.clone())
    };
    if of(&now) != of(shown) {
        return Err(PurgeError::Changed);
    }
    if shown.has_driver {
        remove_driver(project)?;
    }
    let is_last = shown.still_used_by.is_empty();
    remove_configurations(project, is_last)?;
    if let Some(repository) = project.repository().filter(|_| is_last) {
        repository.remove_our_references()?;
    }
    for (root, name) in own_folders(project, is_last) {
        if let Ok(root) = Root::open(&root) {
            root.remove_tree(&name)?;
        }
    }
    if is_last {
        for kind in [GrantKind::Proof, GrantKind::Configuration] {
            permissions.revoke_all(kind, &project.identity())?;
        }
    }
    Ok(())
}

/// Removes the configurations first: hooks are silent then, and write nothing into what is removed.
fn remove_configurations(project: &Project, is_last: bool) -> Result<(), FileError> {
    for (root, name) in own_folders(project, is_last) {
        let Some(root) = Root::open(&root).ok().filter(|root| !root.is_link(&name)) else {
            continue;
        };
        for file in ["config.toml", "private/config.toml"] {
            root.remove_tree(&name.join(file))?;
        }
    }
    Ok(())
}

/// The folders that are ours, each as a root that nothing leaves and a path below it.
fn own_folders(project: &Project, is_last: bool) -> Vec<(PathBuf, PathBuf)> {
    let mut places = vec![(project.root().path().to_owned(), PathBuf::from(FOLDER))];
    if !is_last {
        return places;
    }
    let ledger = LedgerFolder::for_project(project);
    for folder in [project.private_path(), ledger.path().to_owned()] {
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
        project: &Project,
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
            let path = whole.strip_prefix(project.root().path()).unwrap_or(&whole).to_owned();
            match file_kind(project, &root, inside) {
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
    /// Somebody wrote it, or may have.
    Other,
    /// We wrote it. What cannot be made again of it is counted apart.
    Own,
}

fn file_kind(project: &Project, root: &Root, inside: &Path) -> FileKind {
    let whole = root.path().join(inside);
    // What was kept before there was git lies in the second one.
    let private = [project.private_path(), project.root().path().join(FOLDER).join("private")];
    let shelves = private.iter().map(|folder| folder.join("handoffs"));
    let mut shelves = shelves.chain([project.root().path().join(HANDOFFS)]);
    if files::is_markdown(&whole) && shelves.any(|shelf| whole.starts_with(shelf)) {
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

/// How the commit that is checked out has the files of our folder, by their whole paths.
fn committed_files(project: &Project) -> Result<BTreeMap<PathBuf, GitFileState>, GitError> {
    let Some((repository, commit)) =
        project.repository().and_then(|git| Some((git, git.head_commit()?)))
    else {
        return Ok(BTreeMap::new());
    };
    let top = repository.work_tree();
    let folder = project.root().path().join(FOLDER);
    let listed = repository.files_at(&commit)?.files;
    let is_ours = |(name, _): &(String, Option<String>)| {
        let path = top.join(name);
        // A path with a line end cannot be asked for; it counts as missing, which is the safe side.
        path.starts_with(&folder) && files::is_file(&path) && !name.contains('\n')
    };
    let (names, ids): (Vec<String>, Vec<Option<String>>) =
        listed.into_iter().filter(is_ours).unzip();
    let now = repository.hash_files(&names)?;
    let compared = names.iter().zip(ids).zip(now).map(|((name, then), now)| {
        let is_same = then.as_ref() == Some(&now);
        (top.join(name), if is_same { GitFileState::Committed } else { GitFileState::Changed })
    });
    Ok(compared.collect())
}

/// Other working trees that have our folder too, or share a private set-up, and other projects in this
/// one.
fn still_used_by(project: &Project) -> Result<Vec<PathBuf>, GitError> {
    let Some(repository) = project.repository() else { return Ok(Vec::new()) };
    let (top, root) = (repository.work_tree(), project.root().path());
    let inside = root.strip_prefix(top).unwrap_or(Path::new(""));
    let trees = repository.work_trees().into_iter().map(|tree| tree.join(inside));
    // What was set up in private is for every working tree, and lies in none of them.
    let is_private = files::is_file(&project.private_path().join("config.toml"));
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

/// How many tasks and captured sessions the ledger has; it is not made where there is none.
fn count_in_ledger(project: &Project) -> Option<(usize, usize)> {
    match SqliteLedger::health(project).state {
        LedgerState::Missing => return Some((0, 0)),
        LedgerState::Newer { .. } | LedgerState::Unusable(_) => return None,
        LedgerState::Readable { .. } => {}
    }
    let ledger = SqliteLedger::open(project, WaitPolicy::Command).ok()?;
    let below = |prefix| ledger.last_per_stream(prefix).ok().map(|streams| streams.len());
    Some((below(StreamId::TASKS)?, below(StreamId::SESSIONS)?))
}

fn count_permissions(project: &Project) -> Result<usize, PermissionError> {
    let permissions = PermissionStore::for_environment(project.environment());
    let mut given = 0;
    for kind in [GrantKind::Proof, GrantKind::Configuration] {
        given += permissions.in_project(kind, &project.identity())?.len();
    }
    Ok(given)
}

/// Shelves that are not ours, where something lies on them.
fn find_other_folders(project: &Project) -> Vec<(PathBuf, usize)> {
    let ours = [project.root().path().join(HANDOFFS), project.private_path()];
    let without_git = project.root().path().join(FOLDER);
    let shelves = project.folders().iter().filter_map(|shelf| {
        let path = shelf.root().path().join(shelf.path());
        let is_ours = ours.iter().chain([&without_git]).any(|folder| path.starts_with(folder));
        let documents = shelf.documents().ok()?.len();
        (!is_ours && documents > 0).then_some((path, documents))
    });
    shelves.collect()
}
