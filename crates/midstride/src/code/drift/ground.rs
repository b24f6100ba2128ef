//! What is there: in the working tree, or in a commit.

use crate::sys::files::{self, FileError, Problem, Root};
use crate::sys::git::{Listed, OBJECT_BYTES_MAX, Object, Objects, Repository};
use crate::workspace::project::Project;
use midstride_core::handoff::drift::CitationDoubt;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What documents are judged against.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ground {
    /// The files as they are now, committed or not.
    WorkTree,
    /// The files of a commit.
    Commit(String),
}

/// What is at a path.
#[derive(Clone, Debug)]
pub(super) enum Look {
    Nothing,
    Folder,
    /// Without a text where it is none, is too large, or is kept elsewhere.
    File {
        text: Option<Arc<str>>,
    },
    /// It cannot be looked at.
    Hidden(CitationDoubt),
}

impl Look {
    pub(super) fn is_there(&self) -> bool {
        matches!(self, Self::Folder | Self::File { .. })
    }
}

/// What a path in a document leads to.
pub(super) enum Meant {
    /// The one that is there.
    At(String),
    /// Any of so many.
    Several(usize),
    Nothing,
}

/// Everything that is looked at on the way, each thing once.
pub(super) struct Grounds<'p> {
    pub(super) project: &'p Project,
    top: Root,
    /// The root of the project below the top, with a slash behind it.
    root_below: String,
    objects: Mutex<Option<Objects>>,
    looks: Mutex<HashMap<(Ground, String), Look>>,
    listings: Mutex<HashMap<Ground, Arc<Listed>>>,
    oldest_here: OnceLock<BTreeSet<String>>,
    /// What git said the first time it did not answer.
    trouble: OnceLock<String>,
}

impl<'p> Grounds<'p> {
    pub(super) fn of(project: &'p Project) -> Result<Self, FileError> {
        let root = project.root().path();
        let top = project.repository().map_or(root, |repository| repository.work_tree());
        let below = root.strip_prefix(top).ok().and_then(Path::to_str).unwrap_or_default();
        Ok(Self {
            project,
            top: Root::open(top)?,
            root_below: if below.is_empty() { String::new() } else { format!("{below}/") },
            objects: Mutex::default(),
            looks: Mutex::default(),
            listings: Mutex::default(),
            oldest_here: OnceLock::new(),
            trouble: OnceLock::new(),
        })
    }

    /// The top of the working tree, or the root of the project.
    pub(super) fn top(&self) -> &Root {
        &self.top
    }

    /// What is at a path below the top.
    pub(super) fn look(&self, ground: &Ground, path: &str) -> Look {
        // One that leads out is none, git would not answer any more; git's own files are no code.
        let is_gits = path.split('/').any(|part| part == ".git");
        if normal(path).as_deref() != Some(path) || is_gits {
            return Look::Nothing;
        }
        let key = (ground.clone(), path.to_owned());
        if let Some(look) = held(&self.looks).get(&key) {
            return look.clone();
        }
        let look = match ground {
            Ground::WorkTree => self.look_here(path),
            Ground::Commit(commit) => self.look_into(commit, path),
        };
        held(&self.looks).insert(key, look.clone());
        look
    }

    fn look_here(&self, path: &str) -> Look {
        let error = match self.top.read_up_to(Path::new(path), OBJECT_BYTES_MAX) {
            Ok(bytes) => return Look::File { text: text(&bytes) },
            Err(error) => error,
        };
        match error.problem {
            Problem::IsFolder => Look::Folder,
            Problem::TooLarge(_) => Look::File { text: None },
            Problem::NotFound | Problem::NotFolder => {
                match self.listed(&Ground::WorkTree).submodule_of(path) {
                    // One that is here would have shown it.
                    Some(module) if !self.top.has(&Path::new(module).join(".git")) => {
                        Look::Hidden(CitationDoubt::Submodule(module.to_owned()))
                    }
                    _ => Look::Nothing,
                }
            }
            Problem::Exists
            | Problem::NotFile
            | Problem::Denied
            | Problem::ReadOnly
            | Problem::WouldBeTooLarge(_)
            | Problem::Outside
            | Problem::LinkLoop
            | Problem::Full
            | Problem::Changed
            | Problem::Gone
            | Problem::Other(_) => Look::Hidden(CitationDoubt::Unreadable),
        }
    }

    fn look_into(&self, commit: &str, path: &str) -> Look {
        let name = |path: &str| format!("{commit}:{path}");
        match self.object(&name(path)) {
            Some(Object::Blob { bytes, .. }) => {
                Look::File { text: bytes.and_then(|bytes| text(&bytes)) }
            }
            Some(Object::Other) => Look::Folder,
            None if self.object(&name(".gitmodules")).is_none() => Look::Nothing,
            None => self.look_for_submodule(&Ground::Commit(commit.to_owned()), path),
        }
    }

    /// Another repository is a folder; what lies in it cannot be seen from here.
    fn look_for_submodule(&self, ground: &Ground, path: &str) -> Look {
        let listed = self.listed(ground);
        match listed.submodule_of(path) {
            Some(module) => Look::Hidden(CitationDoubt::Submodule(module.to_owned())),
            None if listed.submodules.contains(path) => Look::Folder,
            None => Look::Nothing,
        }
    }

    /// The text of a blob, where it is here.
    pub(super) fn blob(&self, id: &str) -> Option<Arc<str>> {
        match self.object(id)? {
            Object::Blob { bytes, .. } => text(&bytes?),
            Object::Other => None,
        }
    }

    /// Whether a commit is here.
    pub(super) fn has_commit(&self, id: &str) -> bool {
        self.object(&format!("{id}^{{commit}}")).is_some()
    }

    fn object(&self, name: &str) -> Option<Object> {
        let repository = self.project.repository()?;
        let mut objects = held(&self.objects);
        if objects.is_none() {
            *objects = self.answered(repository.objects());
        }
        let answer = objects.as_mut()?.get(name);
        if answer.is_err() {
            // A process that has ended answers nothing any more; the next question starts another.
            *objects = None;
        }
        self.answered(answer)?
    }

    /// What git answered; that it did not is kept in mind.
    fn answered<T>(&self, answer: Result<T, impl std::fmt::Display>) -> Option<T> {
        answer.map_err(|error| self.trouble.get_or_init(|| error.to_string())).ok()
    }

    /// Why nothing that is not there can be believed not to be, if git did not answer.
    pub(super) fn trouble(&self) -> Option<CitationDoubt> {
        self.trouble.get().cloned().map(CitationDoubt::Git)
    }

    /// The commits whose parents are not here.
    pub(super) fn oldest_here(&self) -> &BTreeSet<String> {
        self.oldest_here.get_or_init(|| {
            self.project.repository().map(Repository::oldest_here).unwrap_or_default()
        })
    }

    /// The files there are. Without git nothing is listed.
    pub(super) fn listed(&self, ground: &Ground) -> Arc<Listed> {
        // Held until it is listed, so that git is asked once.
        let mut listings = held(&self.listings);
        if let Some(listed) = listings.get(ground) {
            return Arc::clone(listed);
        }
        let listed = self.project.repository().and_then(|repository| match ground {
            Ground::WorkTree => self.answered(repository.files_here()),
            Ground::Commit(commit) => self.answered(repository.files_at(commit)),
        });
        let listed = Arc::new(listed.unwrap_or_default());
        listings.insert(ground.clone(), Arc::clone(&listed));
        listed
    }

    /// The path below the top that a document, which lies at a whole path, means: from the root of
    /// the project or the top, from its own folder, or the only one that ends so.
    pub(super) fn meant(&self, document: &Path, written: &str, ground: &Ground) -> Meant {
        let root = self.project.root().path().to_str();
        let inside = root.and_then(|root| written.strip_prefix(root)?.strip_prefix('/'));
        let written = inside.unwrap_or(written);
        let from_root = format!("{}{written}", self.root_below);
        let mut candidates = vec![from_root, written.to_owned()];
        if let Some(folder) = self.folder_of(document) {
            candidates.push(format!("{folder}/{written}"));
        }
        let mut candidates = candidates.iter().filter_map(|path| normal(path));
        let there = candidates.find(|path| !matches!(self.look(ground, path), Look::Nothing));
        there.map_or_else(|| self.ending_with(written, ground), Meant::At)
    }

    /// The path that is meant if there is none: from the root of the project.
    pub(super) fn below_top(&self, written: &str) -> String {
        normal(&format!("{}{written}", self.root_below)).unwrap_or_else(|| written.to_owned())
    }

    fn ending_with(&self, written: &str, ground: &Ground) -> Meant {
        let Some(end) = normal(written).filter(|_| !written.ends_with('/')) else {
            return Meant::Nothing;
        };
        let end = format!("/{end}");
        let listed = self.listed(ground);
        let ending = listed.files.keys().filter(|path| path.ends_with(&end));
        let ending: Vec<&String> =
            ending.filter(|path| self.look(ground, path).is_there()).collect();
        match &ending[..] {
            [] => Meant::Nothing,
            [only] => Meant::At((*only).clone()),
            several => Meant::Several(several.len()),
        }
    }

    /// The ids that the texts of files in the working tree have in git. Filters that the repository
    /// is configured with are not run: they are commands. Git may keep the ends of lines otherwise.
    pub(super) fn ids_of(&self, paths: &[String]) -> HashMap<String, String> {
        let Some(repository) = self.project.repository().filter(|_| !paths.is_empty()) else {
            return HashMap::new();
        };
        let ids = self.answered(repository.ids_of_files(paths)).unwrap_or_default();
        let own = |(path, id): (&String, String)| {
            let id = self.id_without_returns(repository, path, &id).unwrap_or(id);
            (path.clone(), id)
        };
        paths.iter().zip(ids).map(own).collect()
    }

    fn id_without_returns(&self, repository: &Repository, path: &str, id: &str) -> Option<String> {
        let Look::File { text: Some(text) } = self.look(&Ground::WorkTree, path) else {
            return None;
        };
        let has_returns = text.contains("\r\n") && self.object(id).is_none();
        let plain = has_returns.then(|| text.replace("\r\n", "\n"))?;
        repository.id_of_blob(plain.as_bytes()).ok()
    }

    /// The folder of a document below the top, if it lies there.
    fn folder_of(&self, document: &Path) -> Option<String> {
        document.strip_prefix(self.top.path()).ok()?.parent()?.to_str().map(str::to_owned)
    }
}

pub(super) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A path as git writes it, without dots; `None` where it leads out, or nowhere.
fn normal(path: &str) -> Option<String> {
    let tidy = files::tidy(Path::new(path)).filter(|path| !path.as_os_str().is_empty());
    tidy?.to_str().map(str::to_owned)
}

/// How a file begins whose text git keeps elsewhere.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/";
/// A file with a null byte among the first so many is no text; the same as git's.
const LOOKED_AT: usize = 8000;

/// The text of a file; `None` where it is none.
fn text(bytes: &[u8]) -> Option<Arc<str>> {
    let is_binary = bytes.iter().take(LOOKED_AT).any(|byte| *byte == 0);
    (!is_binary && !bytes.starts_with(LFS)).then(|| String::from_utf8_lossy(bytes).into())
}
