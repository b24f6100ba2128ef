//! Reads files from the working tree or from a commit.

use crate::sys::files::{self, FileError, FileProblem, Root};
use crate::sys::git::{
    FileListing, GitObject, IgnoreReader, LogEntry, OBJECT_BYTES_MAX, ObjectReader, Repository,
};
use crate::workspace::Workspace;
use midstride_core::handoff::citation::Citation;
use midstride_core::handoff::code_text::CodeText;
use midstride_core::handoff::drift::{CitationDoubt, StatementWords, choose_file};
use midstride_core::text::id::{BlobHash, CommitId};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The state of the code that documents are checked against.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CodeState {
    /// The current files, committed or not.
    WorkTree,
    /// The files of a commit.
    Commit(CommitId),
}

/// What is at a path.
#[derive(Clone, Debug)]
pub(super) enum PathContent {
    Missing,
    Folder,
    /// `text` is `None` if the file is binary, too large, or stored in Git LFS.
    File {
        text: Option<Arc<CodeText>>,
    },
    /// It cannot be read.
    Unreadable(CitationDoubt),
}

impl PathContent {
    pub(super) fn exists(&self) -> bool {
        matches!(self, Self::Folder | Self::File { .. })
    }

    fn into_text(self) -> Option<Arc<CodeText>> {
        match self {
            Self::File { text } => text,
            Self::Missing | Self::Folder | Self::Unreadable(_) => None,
        }
    }
}

/// The result of resolving a path in a document.
pub(super) enum PathMatch {
    /// Exactly one file or folder matches.
    Unique(String),
    /// Several files match.
    Ambiguous(Vec<String>),
    Missing,
}

/// Reads code and caches everything it reads.
pub(super) struct CodeCache<'p> {
    pub(super) workspace: &'p Workspace,
    top: Root,
    /// The project root relative to the top, with a trailing slash.
    root_prefix: String,
    objects: Mutex<Option<ObjectReader>>,
    ignores: Mutex<IgnoreCheck>,
    /// For a commit, the commits up to it that changed each path, newest first.
    histories: Mutex<HashMap<CommitId, HashMap<String, Vec<CommitId>>>>,
    contents: Mutex<HashMap<(CodeState, String), PathContent>>,
    /// The texts of blobs by id.
    blobs: Mutex<HashMap<BlobHash, Option<Arc<CodeText>>>>,
    /// The blob ids of files that git does not have yet.
    hashed_files: Mutex<HashMap<String, BlobHash>>,
    listings: Mutex<HashMap<CodeState, Arc<FileListing>>>,
    /// The files of the first state that the second does not have.
    missing: Mutex<HashMap<(CodeState, CodeState), Arc<MissingFiles>>>,
    /// The paths of each state by file name.
    names: Mutex<HashMap<CodeState, Arc<PathsByName>>>,
    shallow_boundary: OnceLock<BTreeSet<CommitId>>,
    is_partial_clone: OnceLock<bool>,
    /// Which commits exist.
    commits: Mutex<HashMap<CommitId, bool>>,
    /// The first error from git.
    git_error: OnceLock<String>,
}

type PathsByName = HashMap<String, Vec<String>>;

/// Paths and their blobs.
pub(super) type MissingFiles = Vec<(String, Option<BlobHash>)>;

/// Which paths git ignores.
#[derive(Default)]
struct IgnoreCheck {
    reader: Option<IgnoreReader>,
    known: HashMap<String, bool>,
}

/// How many files with the same name are read to choose one.
const CHOICES_MAX: usize = 50;

/// How many commits are searched for an older version of a file.
const OLDER_COMMITS_MAX: usize = 200;

impl<'p> CodeCache<'p> {
    pub(super) fn open(workspace: &'p Workspace) -> Result<Self, FileError> {
        let root = workspace.root().path();
        let top = workspace.repository().map_or(root, |repository| repository.work_tree());
        let below = root.strip_prefix(top).ok().and_then(Path::to_str).unwrap_or_default();
        Ok(Self {
            workspace,
            top: Root::open(top)?,
            root_prefix: if below.is_empty() { String::new() } else { format!("{below}/") },
            objects: Mutex::default(),
            ignores: Mutex::default(),
            histories: Mutex::default(),
            contents: Mutex::default(),
            blobs: Mutex::default(),
            hashed_files: Mutex::default(),
            listings: Mutex::default(),
            missing: Mutex::default(),
            names: Mutex::default(),
            shallow_boundary: OnceLock::new(),
            is_partial_clone: OnceLock::new(),
            commits: Mutex::default(),
            git_error: OnceLock::new(),
        })
    }

    /// The top of the working tree, or the project root without git.
    pub(super) fn top(&self) -> &Root {
        &self.top
    }

    /// What is at a path below the top.
    pub(super) fn content_at(&self, state: &CodeState, path: &str) -> PathContent {
        // A path that leads out of the tree counts as missing, and git would stop answering. Git's
        // own files are not code.
        if !is_inside(path) {
            return PathContent::Missing;
        }
        let key = (state.clone(), path.to_owned());
        if let Some(content) = lock(&self.contents).get(&key) {
            return content.clone();
        }
        let content = match state {
            CodeState::Commit(_) if self.is_not_listed(state, path) => PathContent::Missing,
            CodeState::WorkTree => self.read_from_work_tree(path),
            CodeState::Commit(commit) => self.read_from_commit(commit, path),
        };
        lock(&self.contents).insert(key, content.clone());
        content
    }

    /// Whether the listing of a state, if it is loaded, shows that nothing is at a path.
    /// Asking git costs much more.
    fn is_not_listed(&self, state: &CodeState, path: &str) -> bool {
        lock(&self.listings).get(state).is_some_and(|listed| !listed.may_have(path))
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
                    // In an initialized submodule, the file would have been found.
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
            | FileProblem::Untrusted
            | FileProblem::Other(_) => PathContent::Unreadable(CitationDoubt::Unreadable),
        }
    }

    fn read_from_commit(&self, commit: &CommitId, path: &str) -> PathContent {
        let name = |path: &str| format!("{commit}:{path}");
        match self.object(&name(path)) {
            Some(GitObject::Blob { bytes, .. }) => {
                PathContent::File { text: bytes.and_then(|bytes| decode_text(&bytes)) }
            }
            Some(GitObject::Tree { .. } | GitObject::Other) => PathContent::Folder,
            None if self.is_not_fetched(commit, path) => {
                PathContent::Unreadable(CitationDoubt::PartialClone)
            }
            None if self.object(&name(".gitmodules")).is_none() => PathContent::Missing,
            None => self.submodule_content(&CodeState::Commit(commit.clone()), path),
        }
    }

    /// Whether a commit has a file whose content is not in this clone.
    fn is_not_fetched(&self, commit: &CommitId, path: &str) -> bool {
        let is_partial = self
            .is_partial_clone
            .get_or_init(|| self.workspace.repository().is_some_and(Repository::is_partial_clone));
        *is_partial && self.list_files(&CodeState::Commit(commit.clone())).files.contains_key(path)
    }

    /// A submodule is a folder; its files cannot be read from here.
    fn submodule_content(&self, state: &CodeState, path: &str) -> PathContent {
        let listed = self.list_files(state);
        match listed.submodule_of(path) {
            Some(module) => PathContent::Unreadable(CitationDoubt::Submodule(module.to_owned())),
            None if listed.submodules.contains(path) => PathContent::Folder,
            None => PathContent::Missing,
        }
    }

    /// The text of a blob, if it is in this repository.
    pub(super) fn blob(&self, id: &BlobHash) -> Option<Arc<CodeText>> {
        if let Some(known) = lock(&self.blobs).get(id) {
            return known.clone();
        }
        let text = self.object(id.as_str()).and_then(|object| match object {
            GitObject::Blob { bytes, .. } => decode_text(&bytes?),
            GitObject::Tree { .. } | GitObject::Other => None,
        });
        lock(&self.blobs).insert(id.clone(), text.clone());
        text
    }

    /// Whether a commit is in this repository.
    pub(super) fn has_commit(&self, id: &CommitId) -> bool {
        if let Some(known) = lock(&self.commits).get(id) {
            return *known;
        }
        let exists = self.object(&format!("{id}^{{commit}}")).is_some();
        lock(&self.commits).insert(id.clone(), exists);
        exists
    }

    fn object(&self, name: &str) -> Option<GitObject> {
        let repository = self.workspace.repository()?;
        let mut objects = lock(&self.objects);
        if objects.is_none() {
            *objects = self.remember_git_error(repository.objects());
        }
        let answer = objects.as_mut()?.get(name);
        if answer.is_err() {
            // The process has exited; the next call starts another.
            *objects = None;
        }
        self.remember_git_error(answer)?
    }

    /// Whether git ignores a path. A path that git cannot check is not ignored.
    pub(super) fn is_ignored(&self, path: &str) -> bool {
        let Some(repository) = self.workspace.repository() else { return false };
        let mut ignores = lock(&self.ignores);
        if let Some(known) = ignores.known.get(path) {
            return *known;
        }
        if ignores.reader.is_none() {
            ignores.reader = repository.ignore_reader().ok();
        }
        let answer = ignores.reader.as_mut().map(|reader| reader.is_ignored(path));
        if answer.as_ref().is_some_and(Result::is_err) {
            // The process exits at a path below a symbolic link; the next call starts another.
            ignores.reader = None;
        }
        let is_ignored = answer.and_then(Result::ok).unwrap_or(false);
        ignores.known.insert(path.to_owned(), is_ignored);
        is_ignored
    }

    /// The commits at or before a commit that changed a path, newest first.
    pub(super) fn commits_that_changed(&self, commit: &CommitId, path: &str) -> Vec<CommitId> {
        let Some(repository) = self.workspace.repository() else { return Vec::new() };
        let mut histories = lock(&self.histories);
        let history = histories.entry(commit.clone()).or_insert_with(|| {
            // Without these commits, the origin is the one that is known already.
            let log = repository.changes_up_to(commit, OLDER_COMMITS_MAX).unwrap_or_default();
            let mut by_path: HashMap<String, Vec<CommitId>> = HashMap::new();
            for LogEntry { commit, paths, .. } in log {
                for path in paths {
                    by_path.entry(path).or_default().push(commit.clone());
                }
            }
            by_path
        });
        history.get(path).cloned().unwrap_or_default()
    }

    /// Returns git's answer and remembers the first error.
    fn remember_git_error<T>(&self, answer: Result<T, impl std::fmt::Display>) -> Option<T> {
        answer.map_err(|error| self.git_error.get_or_init(|| error.to_string())).ok()
    }

    /// The doubt to report if git failed: a file that was not found may still exist.
    pub(super) fn git_doubt(&self) -> Option<CitationDoubt> {
        self.git_error.get().cloned().map(CitationDoubt::Git)
    }

    /// The commits of a shallow clone whose parents are missing.
    pub(super) fn shallow_boundary(&self) -> &BTreeSet<CommitId> {
        self.shallow_boundary.get_or_init(|| {
            self.workspace.repository().map(Repository::shallow_commits).unwrap_or_default()
        })
    }

    /// The files in a state. Empty without git.
    pub(super) fn list_files(&self, state: &CodeState) -> Arc<FileListing> {
        // Holds the lock while listing, so that git runs once.
        let mut listings = lock(&self.listings);
        if let Some(listed) = listings.get(state) {
            return Arc::clone(listed);
        }
        let listed = self.workspace.repository().and_then(|repository| match state {
            CodeState::WorkTree => self.remember_git_error(repository.files_in_work_tree()),
            CodeState::Commit(commit) => self.remember_git_error(repository.files_at(commit)),
        });
        let listed = Arc::new(listed.unwrap_or_default());
        listings.insert(state.clone(), Arc::clone(&listed));
        listed
    }

    /// The files of one state that another does not have.
    pub(super) fn missing_files(&self, before: &CodeState, now: &CodeState) -> Arc<MissingFiles> {
        let key = (before.clone(), now.clone());
        if let Some(known) = lock(&self.missing).get(&key) {
            return Arc::clone(known);
        }
        let (was, is) = (self.list_files(before), self.list_files(now));
        // Git lists a file that is deleted in the working tree only.
        let is_deleted =
            |path: &str| *now == CodeState::WorkTree && !self.top.exists(Path::new(path));
        let is_missing = |path: &str| !is.files.contains_key(path) || is_deleted(path);
        let missing = was.files.iter().filter(|(path, _)| is_missing(path));
        let missing = missing.map(|(path, blob)| (path.clone(), blob.clone())).collect();
        Arc::clone(lock(&self.missing).entry(key).or_insert(Arc::new(missing)))
    }

    /// Resolves a path in a document to a path below the top: relative to the project root, to the
    /// top or to the folder of the document, or the only file whose path ends with it. `document`
    /// is an absolute path.
    fn resolve_path(&self, document: &Path, written: &str, state: &CodeState) -> PathMatch {
        let root = self.workspace.root().path().to_str();
        let inside = root.and_then(|root| written.strip_prefix(root)?.strip_prefix('/'));
        let written = inside.unwrap_or(written);
        let from_root = format!("{}{written}", self.root_prefix);
        let mut candidates = vec![from_root, written.to_owned()];
        if let Some(folder) = self.document_folder(document) {
            candidates.push(format!("{folder}/{written}"));
        }
        let mut candidates = candidates.iter().filter_map(|path| normalize_path(path));
        let there =
            candidates.find(|path| !matches!(self.content_at(state, path), PathContent::Missing));
        there.map_or_else(|| self.resolve_suffix(written, state), PathMatch::Unique)
    }

    /// Resolves the path of a citation. The topmost folder of a drawing may be the project itself.
    /// Of several files with the name, the cited lines and the identifiers in `statement` may fit
    /// only one.
    pub(super) fn resolve_citation(
        &self,
        document: &Path,
        citation: &Citation<'_>,
        statement: &StatementWords<'_>,
        state: &CodeState,
    ) -> PathMatch {
        let found = self.resolve_path(document, &citation.path, state);
        let found = match (found, citation.path_below_root()) {
            (PathMatch::Missing, Some(path)) => self.resolve_path(document, path, state),
            (found, _) => found,
        };
        match found {
            PathMatch::Ambiguous(mut paths) if paths.len() <= CHOICES_MAX => {
                let texts: Vec<Option<Arc<CodeText>>> =
                    paths.iter().map(|path| self.content_at(state, path).into_text()).collect();
                match choose_file(&texts, citation.lines, statement) {
                    Some(chosen) => PathMatch::Unique(paths.swap_remove(chosen)),
                    None => PathMatch::Ambiguous(paths),
                }
            }
            found @ (PathMatch::Unique(_) | PathMatch::Ambiguous(_) | PathMatch::Missing) => found,
        }
    }

    /// The path below the top to use if nothing matches: relative to the project root.
    pub(super) fn path_from_top(&self, written: &str) -> String {
        normalize_path(&format!("{}{written}", self.root_prefix))
            .unwrap_or_else(|| written.to_owned())
    }

    fn resolve_suffix(&self, written: &str, state: &CodeState) -> PathMatch {
        let Some(end) = normalize_path(written).filter(|_| !written.ends_with('/')) else {
            return PathMatch::Missing;
        };
        let names = self.paths_by_name(state);
        let name = end.rsplit('/').next().unwrap_or(&end);
        let end = format!("/{end}");
        let ending = names.get(name).into_iter().flatten().filter(|path| path.ends_with(&end));
        let ending: Vec<String> =
            ending.filter(|path| self.content_at(state, path).exists()).cloned().collect();
        match &ending[..] {
            [] => PathMatch::Missing,
            [only] => PathMatch::Unique(only.clone()),
            _ => PathMatch::Ambiguous(ending),
        }
    }

    fn paths_by_name(&self, state: &CodeState) -> Arc<PathsByName> {
        let listed = self.list_files(state);
        let mut names = lock(&self.names);
        let by_name = names.entry(state.clone()).or_insert_with(|| {
            let mut by_name = PathsByName::new();
            for path in listed.files.keys() {
                let name = path.rsplit('/').next().unwrap_or(path);
                by_name.entry(name.to_owned()).or_default().push(path.clone());
            }
            Arc::new(by_name)
        });
        Arc::clone(by_name)
    }

    /// The blob ids of files in the working tree. Filters from the repository's configuration are
    /// not run, because they are commands. Git may store other line endings.
    pub(super) fn blob_ids(&self, paths: &[String]) -> HashMap<String, BlobHash> {
        let Some(repository) = self.workspace.repository().filter(|_| !paths.is_empty()) else {
            return HashMap::new();
        };
        let is_new = |path: &&String| !lock(&self.hashed_files).contains_key(*path);
        let new: Vec<String> = paths.iter().filter(is_new).cloned().collect();
        let ids = match new.is_empty() {
            true => Vec::new(),
            false => self.remember_git_error(repository.hash_files(&new)).unwrap_or_default(),
        };
        let own = |(path, id): (String, BlobHash)| {
            let id = self.id_without_carriage_returns(repository, &path, &id).unwrap_or(id);
            (path, id)
        };
        let ids: Vec<(String, BlobHash)> = new.into_iter().zip(ids).map(own).collect();
        let mut hashed = lock(&self.hashed_files);
        hashed.extend(ids);
        paths.iter().filter_map(|path| Some((path.clone(), hashed.get(path)?.clone()))).collect()
    }

    fn id_without_carriage_returns(
        &self,
        repository: &Repository,
        path: &str,
        id: &BlobHash,
    ) -> Option<BlobHash> {
        let PathContent::File { text: Some(text) } = self.content_at(&CodeState::WorkTree, path)
        else {
            return None;
        };
        let has_returns = text.contains("\r\n") && self.object(id.as_str()).is_none();
        let plain = has_returns.then(|| text.replace("\r\n", "\n"))?;
        Some(repository.hash_blob(plain.as_bytes()))
    }

    /// The folder of a document below the top, if it is there.
    fn document_folder(&self, document: &Path) -> Option<String> {
        document.strip_prefix(self.top.path()).ok()?.parent()?.to_str().map(str::to_owned)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a path stays below the top and outside git's own files.
pub(super) fn is_inside(path: &str) -> bool {
    let is_gits = path.split('/').any(|part| part == ".git");
    normalize_path(path).as_deref() == Some(path) && !path.starts_with('/') && !is_gits
}

/// Normalizes a path the way git writes it, without dots; `None` if it is empty or leads out.
fn normalize_path(path: &str) -> Option<String> {
    let tidy = files::normalize(Path::new(path)).filter(|path| !path.as_os_str().is_empty());
    tidy?.to_str().map(str::to_owned)
}

/// The beginning of a Git LFS pointer file.
const LFS_PREFIX: &[u8] = b"version https://git-lfs.github.com/spec/";
/// A null byte within this many bytes makes a file binary; git uses the same limit.
const BINARY_CHECK_BYTES: usize = 8000;

/// The text of a file; `None` if it is not text.
fn decode_text(bytes: &[u8]) -> Option<Arc<CodeText>> {
    let is_binary = bytes.iter().take(BINARY_CHECK_BYTES).any(|byte| *byte == 0);
    let text = || Arc::new(CodeText::new(String::from_utf8_lossy(bytes)));
    (!is_binary && !bytes.starts_with(LFS_PREFIX)).then(text)
}
