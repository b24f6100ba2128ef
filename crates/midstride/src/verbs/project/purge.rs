//! Take everything away that midstride keeps for a project: handoffs, ledger, index, log, earlier
//! texts, permissions.
//!
//! What is looked at first is exactly what goes. Links are not followed, and what several working
//! trees or projects of a repository share stays until the last of them is purged.

use crate::store::ledger::{Ledger as _, LedgerState, Patience, Place, SqliteLedger, StreamId};
use crate::sys::files::{self, FileError, Root};
use crate::sys::git::{GitError, Repository};
use crate::verbs::handoff::merge_driver::{DriverError, has_driver, remove_driver};
use crate::workspace::permission::{Kind, PermissionError, Permissions};
use crate::workspace::project::{CONFIGURATION, FOLDER, HANDOFFS, Project};
use crate::workspace::settings::is_template;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What goes, and what stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purge {
    /// The root of the project.
    pub root: PathBuf,
    /// The folders that go with everything in them.
    pub folders: Vec<Folder>,
    /// The handoffs that lie in them.
    pub handoffs: Vec<Doomed>,
    /// Other files in them that somebody may miss: git does not have them as they are.
    pub others: Vec<Doomed>,
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
    pub shelves: Vec<(PathBuf, usize)>,
}

/// A folder that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    /// How many files lie in it.
    pub files: usize,
    /// Whether it is a link, which goes without what it leads to.
    pub is_link: bool,
}

/// A file that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doomed {
    /// The path as a person would write it from the root of the project.
    pub path: PathBuf,
    /// Whether git can bring it back.
    pub in_git: InGit,
}

/// What nothing brings back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Irreplaceable {
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

impl Irreplaceable {
    /// Whether everything can be had again.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether the commit that is checked out has a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InGit {
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

impl Purge {
    /// Whether there is nothing to take away.
    pub fn is_empty(&self) -> bool {
        let counted = self.references.len() + self.permissions + usize::from(self.has_driver);
        self.folders.is_empty() && counted == 0
    }

    /// What nothing brings back: files that git does not have as they are, and what the ledger and the
    /// references alone have. A session may have outlived its transcript.
    pub fn irreplaceable(&self) -> Irreplaceable {
        let is_last = self.still_used_by.is_empty();
        let all = self.handoffs.iter().chain(&self.others);
        Irreplaceable {
            files: all.filter(|file| file.in_git != InGit::Committed).count(),
            tasks: self.tasks.unwrap_or_default(),
            sessions: self.sessions.unwrap_or_default(),
            has_earlier_texts: !self.references.is_empty(),
            has_unread_ledger: is_last && self.tasks.is_none(),
        }
    }
}

/// Looks at what would go. Nothing is changed.
pub fn plan_purge(project: &Project) -> Result<Purge, PurgeError> {
    let still_used_by = still_used_by(project)?;
    let is_last = still_used_by.is_empty();
    let mut purge = Purge {
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
        shelves: shelves(project),
    };
    let committed = committed(project)?;
    for (root, name) in places(project, is_last) {
        purge.look(project, &root, &name, &committed)?;
    }
    if is_last {
        (purge.tasks, purge.sessions) = counted(project).unzip();
        let references = project.repository().map(Repository::our_references).transpose()?;
        purge.references = references.unwrap_or_default();
        purge.permissions = permissions(project)?;
    }
    Ok(purge)
}

/// Takes away what was shown. Cut short, it is finished by asking once more.
pub fn purge(project: &Project, shown: &Purge) -> Result<(), PurgeError> {
    let permissions = Permissions::of(project.environment());
    permissions.ask_for_a_person()?;
    let now = plan_purge(project)?;
    // Hooks of sessions that run write their log meanwhile; nobody would miss that.
    let of =
        |purge: &Purge| (purge.handoffs.clone(), purge.others.clone(), purge.still_used_by.clone());
    if of(&now) != of(shown) {
        return Err(PurgeError::Changed);
    }
    if shown.has_driver {
        remove_driver(project)?;
    }
    let is_last = shown.still_used_by.is_empty();
    silence(project, is_last)?;
    if let Some(repository) = project.repository().filter(|_| is_last) {
        repository.remove_our_references()?;
    }
    for (root, name) in places(project, is_last) {
        if let Ok(root) = Root::open(&root) {
            root.remove_tree(&name)?;
        }
    }
    if is_last {
        for kind in [Kind::Proof, Kind::Configuration] {
            permissions.revoke_all(kind, &project.identity())?;
        }
    }
    Ok(())
}

/// Removes the configurations first: hooks are silent then, and write nothing into what is removed.
fn silence(project: &Project, is_last: bool) -> Result<(), FileError> {
    for (root, name) in places(project, is_last) {
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
fn places(project: &Project, is_last: bool) -> Vec<(PathBuf, PathBuf)> {
    let mut places = vec![(project.root().path().to_owned(), PathBuf::from(FOLDER))];
    if !is_last {
        return places;
    }
    let ledger = Place::of(project);
    for folder in [project.private_path(), ledger.path().to_owned()] {
        let (Some(above), Some(name)) = (folder.parent(), folder.file_name()) else { continue };
        let is_known = |(root, inside): &(PathBuf, PathBuf)| folder.starts_with(root.join(inside));
        if !places.iter().any(is_known) {
            places.push((above.to_owned(), PathBuf::from(name)));
        }
    }
    places
}

impl Purge {
    fn look(
        &mut self,
        project: &Project,
        root: &Path,
        name: &Path,
        committed: &BTreeMap<PathBuf, InGit>,
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
            let in_git = committed.get(&whole).copied().unwrap_or(InGit::Missing);
            let path = whole.strip_prefix(project.root().path()).unwrap_or(&whole).to_owned();
            match kind(project, &root, inside) {
                FileKind::Handoff => self.handoffs.push(Doomed { path, in_git }),
                FileKind::Other => self.others.push(Doomed { path, in_git }),
                FileKind::Own => {}
            }
        }
        self.folders.push(Folder { path, files: files.len(), is_link });
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

fn kind(project: &Project, root: &Root, inside: &Path) -> FileKind {
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
fn committed(project: &Project) -> Result<BTreeMap<PathBuf, InGit>, GitError> {
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
    let now = repository.ids_of_files(&names)?;
    let compared = names.iter().zip(ids).zip(now).map(|((name, then), now)| {
        let is_same = then.as_ref() == Some(&now);
        (top.join(name), if is_same { InGit::Committed } else { InGit::Changed })
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
    let listed = repository.files_here()?.files.into_keys();
    let projects = listed.filter_map(|name| {
        let path = top.join(name);
        path.ends_with(CONFIGURATION).then(|| path.parent()?.parent().map(Path::to_owned)).flatten()
    });
    let mut others: Vec<PathBuf> = trees
        .chain(projects.filter(|other| files::is_folder(&other.join(FOLDER))))
        .map(|other| files::real(&other))
        .filter(|other| *other != files::real(root))
        .collect();
    others.sort();
    others.dedup();
    Ok(others)
}

/// How many tasks and captured sessions the ledger has; it is not made where there is none.
fn counted(project: &Project) -> Option<(usize, usize)> {
    match SqliteLedger::facts(project).state {
        LedgerState::Missing => return Some((0, 0)),
        LedgerState::Newer { .. } | LedgerState::Unusable(_) => return None,
        LedgerState::Fine { .. } => {}
    }
    let ledger = SqliteLedger::open(project, Patience::Command).ok()?;
    let below = |prefix| ledger.last_below(prefix).ok().map(|streams| streams.len());
    Some((below(StreamId::TASKS)?, below(StreamId::SESSIONS)?))
}

fn permissions(project: &Project) -> Result<usize, PermissionError> {
    let permissions = Permissions::of(project.environment());
    let mut given = 0;
    for kind in [Kind::Proof, Kind::Configuration] {
        given += permissions.in_project(kind, &project.identity())?.len();
    }
    Ok(given)
}

/// Shelves that are not ours, where something lies on them.
fn shelves(project: &Project) -> Vec<(PathBuf, usize)> {
    let ours = [project.root().path().join(HANDOFFS), project.private_path()];
    let without_git = project.root().path().join(FOLDER);
    let shelves = project.shelves().iter().filter_map(|shelf| {
        let path = shelf.root().path().join(shelf.inside());
        let is_ours = ours.iter().chain([&without_git]).any(|folder| path.starts_with(folder));
        let documents = shelf.documents().ok()?.len();
        (!is_ours && documents > 0).then_some((path, documents))
    });
    shelves.collect()
}
