//! Git repositories: discovery, the current branch, objects, and the git command line.
//!
//! Finding the repository and its commit reads files and starts no process, because hooks do it.

mod authorship;
mod branches;
mod cat_file;
mod check_ignore;
mod configuration;
mod exchange;
mod file_tree;
mod head;
mod history;
mod index;
mod loose_object;
mod merge_file;
mod move_blobs;
mod objects;
mod own_repository;
mod programs;
mod reflog;
mod remote_tips;
mod removal;
mod run;
mod status;
mod tree_entries;
mod version;

pub use authorship::GitAuthor;
pub use branches::{BranchState, Branches};
pub(crate) use cat_file::OBJECT_BYTES_MAX;
pub use cat_file::{GitObject, LazyObjectReader, ObjectReader};
pub(crate) use check_ignore::IgnoreReader;
pub(crate) use configuration::{user_editor, user_name};
pub use exchange::{ExchangeReport, RefExchange};
pub(crate) use file_tree::{FetchedTree, TreeFile};
pub(crate) use history::FileListing;
pub use history::LogEntry;
pub(crate) use index::ConflictSides;
pub(crate) use merge_file::{MergedLines, merge_lines};
pub use objects::KeptBlobs;
pub(crate) use remote_tips::advertised_ids;
pub use removal::RemovalOutcome;
pub(crate) use run::LOCAL_VARIABLES;
pub use run::{GitError, demo_command};
pub(crate) use status::file_size_and_time;
pub use version::{GitVersion, OLDEST_VERSION, installed_version};

use crate::sys::files::{self, FileError};
use programs::ConfiguredPrograms;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A repository with a working tree, or a bare one of our own.
#[derive(Clone, Debug)]
pub struct Repository {
    /// The root of the working tree; the git directory of a bare repository.
    work_tree: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    /// Whether it is a bare repository that midstride created for itself.
    is_own: bool,
    /// The programs in its configuration, once it was read.
    programs: Arc<OnceLock<ConfiguredPrograms>>,
}

impl Repository {
    /// The repository whose working tree contains `start`. Fails if that is unknown because a file
    /// could not be read: without its repository, a project would look like another one.
    pub fn discover(start: &Path) -> Result<Option<Self>, FileError> {
        start.ancestors().find_map(|folder| Self::open_at(folder).transpose()).transpose()
    }

    /// The bare repository that contains `start`, unless a working tree is closer. A `.git` folder
    /// belongs to the working tree around it, so it does not count as bare.
    pub(crate) fn find_bare(start: &Path) -> Result<Option<&Path>, FileError> {
        let is_bare = |folder: &Path| {
            files::is_file(&folder.join("HEAD"))
                && files::is_folder(&folder.join("objects"))
                && files::is_folder(&folder.join("refs"))
        };
        for folder in start.ancestors() {
            if Self::open_at(folder)?.is_some() {
                break;
            }
            if is_bare(folder) && !folder.iter().any(|name| name == ".git") {
                return Ok(Some(folder));
            }
        }
        Ok(None)
    }

    /// The repository whose working tree has its root here.
    fn open_at(work_tree: &Path) -> Result<Option<Self>, FileError> {
        let dot_git = work_tree.join(".git");
        let git_dir = if files::is_folder(&dot_git) {
            dot_git
        } else {
            let text = files::read_if_possible(&dot_git)?;
            match text.as_deref().and_then(|text| text.strip_prefix("gitdir:")) {
                Some(path) => work_tree.join(path.trim()),
                None => return Ok(None),
            }
        };
        if files::read_if_possible(&git_dir.join("HEAD"))?.is_none() {
            return Ok(None);
        }
        let common = files::read_if_possible(&git_dir.join("commondir"))?;
        let common_dir = match common {
            Some(path) => files::canonical(&git_dir.join(path.trim())),
            None => git_dir.clone(),
        };
        let (work_tree, programs) = (work_tree.to_owned(), Arc::default());
        Ok(Some(Self { work_tree, git_dir, common_dir, is_own: false, programs }))
    }

    /// The root of the working tree.
    pub fn work_tree(&self) -> &Path {
        &self.work_tree
    }

    /// The git directory of this working tree.
    pub(crate) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git directory that all worktrees of the repository share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Whether the git directory belongs to this working tree: it is the folder `.git` in it, or the
    /// repository lists this working tree as one of its own. A `.git` file, a link or a `commondir`
    /// file can name the git directory of any other repository.
    pub(crate) fn owns_work_tree(&self) -> bool {
        let dot_git = files::canonical(&self.work_tree).join(".git");
        let git_dir = files::canonical(&self.git_dir);
        let common_dir = files::canonical(&self.common_dir);
        if git_dir == common_dir {
            return git_dir == dot_git;
        }
        let is_listed = git_dir.parent() == Some(common_dir.join("worktrees").as_path());
        let listed = files::read_small(&git_dir.join("gitdir")).ok().flatten();
        is_listed && listed.is_some_and(|path| files::canonical(Path::new(path.trim())) == dot_git)
    }

    /// The roots of all worktrees of the repository.
    pub(crate) fn work_trees(&self) -> Vec<PathBuf> {
        let mut tops = vec![self.work_tree.clone(), self.main_work_tree().to_owned()];
        let folder = files::Root::open(&self.common_dir.join("worktrees"));
        let names = folder.and_then(|folder| folder.entries(Path::new(""))).unwrap_or_default();
        for entry in names.iter().filter(|entry| entry.is_folder) {
            let file = self.common_dir.join("worktrees").join(&entry.name).join("gitdir");
            let Ok(Some(text)) = files::read_small(&file) else { continue };
            tops.extend(Path::new(text.trim()).parent().map(Path::to_owned));
        }
        tops.sort();
        tops.dedup();
        tops
    }

    /// The checked-out branch, or `None` if `HEAD` is detached.
    pub fn branch(&self) -> Option<String> {
        self.read_branch().ok()?
    }

    /// The same, but fails if it cannot be read.
    pub(crate) fn read_branch(&self) -> Result<Option<String>, FileError> {
        let head = files::read_small(&self.git_dir.join("HEAD"))?.unwrap_or_default();
        Ok(head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned))
    }

    /// The root of the main working tree; this one may be a linked worktree.
    pub fn main_work_tree(&self) -> &Path {
        match self.common_dir.parent() {
            Some(parent) if self.common_dir.ends_with(".git") => parent,
            _ => &self.work_tree,
        }
    }
}
