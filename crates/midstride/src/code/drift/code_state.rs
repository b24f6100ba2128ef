//! What is there: in the working tree, or in a commit.

use crate::sys::files::{self, FileError, FileProblem, Root};
use crate::sys::git::{FileListing, GitObject, OBJECT_BYTES_MAX, ObjectReader, Repository};
use crate::workspace::project::Project;
use midstride_core::handoff::drift::CitationDoubt;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What documents are judged against.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CodeState {
    /// The files as they are now, committed or not.
    WorkTree,
    /// The files of a commit.
    Commit(String),
}

/// What is at a path.
#[derive(Clone, Debug)]
pub(super) enum PathContent {
    Missing,
    Folder,
    /// Without a text where it is none, is too large, or is kept elsewhere.
    File {
        text: Option<Arc<str>>,
    },
    /// It cannot be looked at.
    Unreadable(CitationDoubt),
}

impl PathContent {
    pub(super) fn exists(&self) -> bool {
        matches!(self, Self::Folder | Self::File { .. })
    }
}

/// What a path in a document leads to.
pub(super) enum PathMatch {
    /// The one that is there.
    Unique(String),
    /// Any of so many.
    Ambiguous(usize),
    Missing,
}

/// Everything that is looked at on the way, each thing once.
pub(super) struct CodeCache<'p> {
    pub(super) project: &'p Project,
    top: Root,
    /// The root of the project below the top, with a slash behind it.
    root_prefix: String,
    objects: Mutex<Option<ObjectReader>>,
    contents: Mutex<HashMap<(CodeState, String), PathContent>>,
    listings: Mutex<HashMap<CodeState, Arc<FileListing>>>,
    shallow_boundary: OnceLock<BTreeSet<String>>,
    /// What git said the first time it did not answer.
    git_error: OnceLock<String>,
}

impl<'p> CodeCache<'p> {
    pub(super) fn open(project: &'p Project) -> Result<Self, FileError> {
        let root = project.root().path();
        let top = project.repository().map_or(root, |repository| repository.work_tree());
        let below = root.strip_prefix(top).ok().and_then(Path::to_str).unwrap_or_default();
        Ok(Self {
            project,
            top: Root::open(top)?,
            root_prefix: if below.is_empty() { String::new() } else { format!("{below}/") },
            objects: Mutex::default(),
            contents: Mutex::default(),
            listings: Mutex::default(),
            shallow_boundary: OnceLock::new(),
            git_error: OnceLock::new(),
        })
    }

    /// The top of the working tree, or the root of the project.
    pub(super) fn top(&self) -> &Root {
        &self.top
    }

    /// What is at a path below the top.
    pub(super) fn content_at(&self, ground: &CodeState, path: &str) -> PathContent {
        // One that leads out is none, git would not answer any more; git's own files are no code.
        let is_gits = path.split('/').any(|part| part == ".git");
        if normalize_path(path).as_deref() != Some(path) || is_gits {
            return PathContent::Missing;
        }
        let key = (ground.clone(), path.to_owned());
        if let Some(look) = lock(&self.contents).get(&key) {
            return look.clone();
        }
        let look = match ground {
            CodeState::WorkTree => self.read_from_work_tree(path),
            CodeState::Commit(commit) => self.read_from_commit(commit, path),
        };
        lock(&self.contents).insert(key, look.clone());
        look
    }

    fn read_from_work_tree(&self, path: &str) -> PathContent {
        let error = match self.top.read_up_to(Path::new(path), OBJECT_BYTES_MAX) {
            Ok(bytes) => return PathContent::File { text: decode_text(&bytes) },
            Err(error) => error,
        };
        match error.problem {
            FileProblem::IsFolder => PathContent::Folder,
            FileProblem::TooLarge(_) => PathContent::File { text: None },
            FileProblem::NotFound | FileProblem::NotFolder => {
                match self.list_files(&CodeState::WorkTree).submodule_of(path) {
                    // One that is here would have shown it.
                    Some(module) if !self.top.exists(&Path::new(module).join(".git")) => {
                        PathContent::Unreadable(CitationDoubt::Submodule(module.to_owned()))
                    }
                    _ => PathContent::Missing,
                }
            }
            FileProblem::Exists
            | FileProblem::NotFile
            | FileProblem::Denied
            | FileProblem::ReadOnly
            | FileProblem::WouldBeTooLarge(_)
            | FileProblem::Outside
            | FileProblem::LinkLoop
            | FileProblem::DiskFull
            | FileProblem::Changed
            | FileProblem::Deleted
            | FileProblem::Other(_) => PathContent::Unreadable(CitationDoubt::Unreadable),
        }
    }

    fn read_from_commit(&self, commit: &str, path: &str) -> PathContent {
        let name = |path: &str| format!("{commit}:{path}");
        match self.object(&name(path)) {
            Some(GitObject::Blob { bytes, .. }) => {
                PathContent::File { text: bytes.and_then(|bytes| decode_text(&bytes)) }
            }
            Some(GitObject::Other) => PathContent::Folder,
            None if self.object(&name(".gitmodules")).is_none() => PathContent::Missing,
            None => self.submodule_content(&CodeState::Commit(commit.to_owned()), path),
        }
    }

    /// Another repository is a folder; what lies in it cannot be seen from here.
    fn submodule_content(&self, ground: &CodeState, path: &str) -> PathContent {
        let listed = self.list_files(ground);
        match listed.submodule_of(path) {
            Some(module) => PathContent::Unreadable(CitationDoubt::Submodule(module.to_owned())),
            None if listed.submodules.contains(path) => PathContent::Folder,
            None => PathContent::Missing,
        }
    }

    /// The text of a blob, where it is here.
    pub(super) fn blob(&self, id: &str) -> Option<Arc<str>> {
        match self.object(id)? {
            GitObject::Blob { bytes, .. } => decode_text(&bytes?),
            GitObject::Other => None,
        }
    }

    /// Whether a commit is here.
    pub(super) fn has_commit(&self, id: &str) -> bool {
        self.object(&format!("{id}^{{commit}}")).is_some()
    }

    fn object(&self, name: &str) -> Option<GitObject> {
        let repository = self.project.repository()?;
        let mut objects = lock(&self.objects);
        if objects.is_none() {
            *objects = self.remember_git_error(repository.objects());
        }
        let answer = objects.as_mut()?.get(name);
        if answer.is_err() {
            // A process that has ended answers nothing any more; the next question starts another.
            *objects = None;
        }
        self.remember_git_error(answer)?
    }

    /// What git answered; that it did not is kept in mind.
    fn remember_git_error<T>(&self, answer: Result<T, impl std::fmt::Display>) -> Option<T> {
        answer.map_err(|error| self.git_error.get_or_init(|| error.to_string())).ok()
    }

    /// Why nothing that is not there can be believed not to be, if git did not answer.
    pub(super) fn git_doubt(&self) -> Option<CitationDoubt> {
        self.git_error.get().cloned().map(CitationDoubt::Git)
    }

    /// The commits whose parents are not here.
    pub(super) fn shallow_boundary(&self) -> &BTreeSet<String> {
        self.shallow_boundary.get_or_init(|| {
            self.project.repository().map(Repository::shallow_commits).unwrap_or_default()
        })
    }

    /// The files there are. Without git nothing is listed.
    pub(super) fn list_files(&self, ground: &CodeState) -> Arc<FileListing> {
        // Held until it is listed, so that git is asked once.
        let mut listings = lock(&self.listings);
        if let Some(listed) = listings.get(ground) {
            return Arc::clone(listed);
        }
        let listed = self.project.repository().and_then(|repository| match ground {
            CodeState::WorkTree => self.remember_git_error(repository.files_in_work_tree()),
            CodeState::Commit(commit) => self.remember_git_error(repository.files_at(commit)),
        });
        let listed = Arc::new(listed.unwrap_or_default());
        listings.insert(ground.clone(), Arc::clone(&listed));
        listed
    }

    /// The path below the top that a document, which lies at a whole path, means: from the root of
    /// the project or the top, from its own folder, or the only one that ends so.
    pub(super) fn resolve_path(
        &self,
        document: &Path,
        written: &str,
        ground: &CodeState,
    ) -> PathMatch {
        let root = self.project.root().path().to_str();
        let inside = root.and_then(|root| written.strip_prefix(root)?.strip_prefix('/'));
        let written = inside.unwrap_or(written);
        let from_root = format!("{}{written}", self.root_prefix);
        let mut candidates = vec![from_root, written.to_owned()];
        if let Some(folder) = self.document_folder(document) {
            candidates.push(format!("{folder}/{written}"));
        }
        let mut candidates = candidates.iter().filter_map(|path| normalize_path(path));
        let there =
            candidates.find(|path| !matches!(self.content_at(ground, path), PathContent::Missing));
        there.map_or_else(|| self.resolve_suffix(written, ground), PathMatch::Unique)
    }

    /// The path that is meant if there is none: from the root of the project.
    pub(super) fn path_from_top(&self, written: &str) -> String {
        normalize_path(&format!("{}{written}", self.root_prefix))
            .unwrap_or_else(|| written.to_owned())
    }

    fn resolve_suffix(&self, written: &str, ground: &CodeState) -> PathMatch {
        let Some(end) = normalize_path(written).filter(|_| !written.ends_with('/')) else {
            return PathMatch::Missing;
        };
        let end = format!("/{end}");
        let listed = self.list_files(ground);
        let ending = listed.files.keys().filter(|path| path.ends_with(&end));
        let ending: Vec<&String> =
            ending.filter(|path| self.content_at(ground, path).exists()).collect();
        match &ending[..] {
            [] => PathMatch::Missing,
            [only] => PathMatch::Unique((*only).clone()),
            several => PathMatch::Ambiguous(several.len()),
        }
    }

    /// The ids that the texts of files in the working tree have in git. Filters that the repository
    /// is configured with are not run: they are commands. Git may keep the ends of lines otherwise.
    pub(super) fn blob_ids(&self, paths: &[String]) -> HashMap<String, String> {
        let Some(repository) = self.project.repository().filter(|_| !paths.is_empty()) else {
            return HashMap::new();
        };
        let ids = self.remember_git_error(repository.hash_files(paths)).unwrap_or_default();
        let own = |(path, id): (&String, String)| {
            let id = self.id_without_carriage_returns(repository, path, &id).unwrap_or(id);
            (path.clone(), id)
        };
        paths.iter().zip(ids).map(own).collect()
    }

    fn id_without_carriage_returns(
        &self,
        repository: &Repository,
        path: &str,
        id: &str,
    ) -> Option<String> {
        let PathContent::File { text: Some(text) } = self.content_at(&CodeState::WorkTree, path)
        else {
            return None;
        };
        let has_returns = text.contains("\r\n") && self.object(id).is_none();
        let plain = has_returns.then(|| text.replace("\r\n", "\n"))?;
        repository.hash_blob(plain.as_bytes()).ok()
    }

    /// The folder of a document below the top, if it lies there.
    fn document_folder(&self, document: &Path) -> Option<String> {
        document.strip_prefix(self.top.path()).ok()?.parent()?.to_str().map(str::to_owned)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A path as git writes it, without dots; `None` where it leads out, or nowhere.
fn normalize_path(path: &str) -> Option<String> {
    let tidy = files::normalize(Path::new(path)).filter(|path| !path.as_os_str().is_empty());
    tidy?.to_str().map(str::to_owned)
}

/// How a file begins whose text git keeps elsewhere.
const LFS_PREFIX: &[u8] = b"version https://git-lfs.github.com/spec/";
/// A file with a null byte among the first so many is no text; the same as git's.
const BINARY_CHECK_BYTES: usize = 8000;

/// The text of a file; `None` where it is none.
fn decode_text(bytes: &[u8]) -> Option<Arc<str>> {
    let is_binary = bytes.iter().take(BINARY_CHECK_BYTES).any(|byte| *byte == 0);
    (!is_binary && !bytes.starts_with(LFS_PREFIX)).then(|| String::from_utf8_lossy(bytes).into())
}
