//! A project: its root, its repository, its shelves, and the handoffs on them.

mod catalog;
mod find_handoff;
mod outside_folders;
mod select;
mod skipped_setting;
mod surroundings;
mod upstream;

pub use find_handoff::FindError;
pub use outside_folders::OutsideFolder;
pub use select::DocumentSelection;
pub use skipped_setting::SkippedSetting;

use crate::sys::files::{self, FileError, FileProblem, FileStamp, Root, ScanDetail};
use crate::sys::git::Repository;
use crate::workspace::folder::{FolderLayout, HandoffFolder, claude_memory, is_archived};
use crate::workspace::settings::{CLAUDE_MEMORY, Environment, Settings, SettingsError};
use catalog::Catalog;
use midstride_core::format::document::Document;
use midstride_core::handoff::check::{CheckFindings, ReferencedArtifact, check};
use midstride_core::handoff::graph::ReferenceTarget;
use midstride_core::handoff::{Handoff, Location};
use midstride_core::text::id::HandoffKey;
use midstride_core::text::redact::{CleanText, Redaction, RedactionRules};
use outside_folders::is_outside;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The folder of ours in a project.
pub const FOLDER: &str = ".midstride";
/// The committed shelf.
pub const HANDOFFS: &str = ".midstride/handoffs";
/// What is never committed, where there is no git.
const PRIVATE: &str = ".midstride/private";
/// What is never committed, in the git directory.
const PRIVATE_IN_GIT: &str = "midstride";
/// The configuration.
pub const CONFIGURATION: &str = ".midstride/config.toml";

/// A project and everything it takes to work in it.
#[derive(Debug)]
pub struct Project {
    root: Root,
    repository: Option<Repository>,
    environment: Environment,
    settings: Settings,
    /// Why the configuration holds for nothing.
    settings_error: Option<SettingsError>,
    setup: SetupMode,
    folders: Vec<HandoffFolder>,
    skipped_settings: Vec<SkippedSetting>,
    catalog: OnceLock<Catalog>,
    rules: OnceLock<RedactionRules>,
    artifacts: Mutex<HashMap<PathBuf, ReferencedArtifact>>,
}

/// How a project was set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupMode {
    /// Not at all; documents that lie around are read all the same.
    NotSetUp,
    /// With a folder that is committed.
    Committed,
    /// Only in the git directory: nothing is committed.
    Private,
}

/// A document and where it lies.
#[derive(Debug)]
pub struct StoredHandoff {
    /// The path as a person would write it from the root of the project.
    pub path: PathBuf,
    /// The bytes as they were read.
    pub bytes: Vec<u8>,
    /// What they say.
    pub document: Document,
    /// What the place tells.
    pub location: Location,
    /// The key that the place stands for.
    pub place_key: Option<HandoffKey>,
    folder: Option<usize>,
    relative_path: PathBuf,
}

impl StoredHandoff {
    /// The path below the root of its shelf.
    pub(crate) fn relative_path(&self) -> &Path {
        &self.relative_path
    }

    pub(crate) fn document_place(&self) -> DocumentPlace {
        DocumentPlace { folder: self.folder, relative_path: self.relative_path.clone() }
    }

    /// What it would be with another text.
    #[must_use]
    pub fn with_text(self, bytes: Vec<u8>) -> Self {
        Self { document: Document::parse(&bytes), bytes, ..self }
    }

    /// The document seen as a handoff.
    pub fn handoff<'d>(&'d self, project: &'d Project) -> Handoff<'d> {
        Handoff::new(&self.document, &self.location, &project.settings.stages)
    }
}

/// The place of a document that was not read yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DocumentPlace {
    folder: Option<usize>,
    relative_path: PathBuf,
}

impl DocumentPlace {
    /// The path below the root of its shelf.
    pub(crate) fn relative_path(&self) -> &Path {
        &self.relative_path
    }

    /// Whether it lies in a folder of what is over.
    pub(crate) fn is_archived(&self) -> bool {
        is_archived(&self.relative_path)
    }
}

/// What the shelves look like from outside.
#[derive(Debug, Default)]
pub(crate) struct DocumentScan {
    /// The documents, each once.
    pub(crate) documents: Vec<(DocumentPlace, FileStamp)>,
    /// The folders they lie in.
    pub(crate) folders: Vec<(DocumentPlace, FileStamp)>,
    /// The shelves that could not be looked at.
    pub(crate) unread: Vec<FileError>,
}

/// Why a project could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// A file or folder could not be opened.
    #[error(transparent)]
    File(#[from] FileError),
    /// The configuration could not be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// There is a repository, but none of its files.
    #[error("`{}` is a bare repository: it has no files to work on", .0.display())]
    Bare(PathBuf),
}

impl Project {
    /// Opens the project that holds the folder the process was started in.
    pub fn discover(environment: Environment) -> Result<Self, ProjectError> {
        let mut project = Self::discover_ignoring_settings(environment)?;
        project.settings_error.take().map_or(Ok(project), |broken| Err(broken.into()))
    }

    /// The same with a configuration that cannot be used: it is as if nothing were configured. For
    /// what has to work all the same: looking what is wrong, switching off, taking out.
    pub fn discover_ignoring_settings(environment: Environment) -> Result<Self, ProjectError> {
        let folder = environment.folder.clone();
        if let Some(bare) = Repository::find_bare(&folder) {
            return Err(ProjectError::Bare(bare.to_owned()));
        }
        let repository = Repository::discover(&folder);
        let top = repository.as_ref().map(|repository| repository.work_tree().to_owned());
        let has_folder = |path: &&Path| files::is_folder(&path.join(FOLDER));
        let within = |path: &&Path| top.as_ref().is_none_or(|top| path.starts_with(top));
        let own = folder.ancestors().take_while(within).find(has_folder).map(Path::to_owned);
        let root = Root::open(&own.or(top).unwrap_or(folder))?;
        Self::open(root, repository, environment)
    }

    fn open(
        root: Root,
        repository: Option<Repository>,
        environment: Environment,
    ) -> Result<Self, ProjectError> {
        let private_roots = open_private(&root, repository.as_ref())?;
        let private_file = Path::new("config.toml");
        let (read, set_up) = if root.has_folder(Path::new(FOLDER))
            && root.exists(Path::new(CONFIGURATION))
        {
            (Settings::read(&root, Path::new(CONFIGURATION)), SetupMode::Committed)
        } else if let Some(folder) = private_roots.iter().find(|folder| folder.exists(private_file))
        {
            (Settings::read(folder, private_file), SetupMode::Private)
        } else {
            (Ok(Settings::standard()), SetupMode::NotSetUp)
        };
        let (settings, broken) = match read {
            Ok(settings) => (settings, None),
            Err(broken) => (Settings::standard(), Some(broken)),
        };
        let mut project = Self {
            root,
            repository,
            environment,
            settings,
            settings_error: broken,
            setup: set_up,
            folders: Vec::new(),
            skipped_settings: Vec::new(),
            catalog: OnceLock::new(),
            rules: OnceLock::new(),
            artifacts: Mutex::default(),
        };
        if let Some(error) = project.root.access_error(Path::new(CONFIGURATION)) {
            project.skipped_settings.push(SkippedSetting::Configuration(error.to_string()));
        }
        project.add_folders(private_roots)?;
        let Settings { source, unknown, .. } = &project.settings;
        let file = source.as_ref().map(|(path, _)| path.clone()).unwrap_or_default();
        let unknown = unknown.iter().cloned();
        let unknown = unknown.map(|key| SkippedSetting::UnknownKey { key, file: file.clone() });
        project.skipped_settings.extend(unknown);
        Ok(project)
    }

    fn add_folders(&mut self, private: Vec<Root>) -> Result<(), ProjectError> {
        let own_root = Root::open(self.root.path())?;
        self.folders.push(HandoffFolder::new(FolderLayout::Own, own_root, HANDOFFS));
        for root in private {
            self.folders.push(HandoffFolder::new(FolderLayout::Own, root, "handoffs"));
        }
        for name in self.settings.folders.clone() {
            if name == CLAUDE_MEMORY {
                self.add_memory_folder();
                continue;
            }
            let inside = name.trim_end_matches("/**").trim_end_matches('/');
            if is_outside(inside) {
                self.add_outside_folder(inside);
                continue;
            }
            if let Some((outer, only)) = inside.split_once("/**/") {
                let root = Root::open(self.root.path())?;
                self.folders.push(HandoffFolder::nested(root, outer, only));
                continue;
            }
            let pipeline = Path::new(inside).file_name().is_some_and(|name| name == "pipeline");
            let layout = if pipeline { FolderLayout::Pipeline } else { FolderLayout::Folder };
            let root = Root::open(self.root.path())?;
            self.settings.stages.has_pipeline |= pipeline && root.has_folder(Path::new(inside));
            self.folders.push(HandoffFolder::new(layout, root, inside));
        }
        for inside in &self.settings.note_places {
            // Most projects have few of them, and a hook has no time to look for each.
            if self.root.exists(Path::new(inside)) {
                let root = Root::open(self.root.path())?;
                self.folders.push(HandoffFolder::notes(root, inside));
            }
        }
        Ok(())
    }

    /// Claude Code keeps one memory for all worktrees of a repository.
    fn add_memory_folder(&mut self) {
        let Some(claude) = &self.environment.claude else {
            return;
        };
        let top = self.repository.as_ref().map_or(self.root.path(), Repository::main_work_tree);
        if let Ok(root) = Root::open(&claude_memory::folder(claude, &files::canonical(top))) {
            self.folders.push(HandoffFolder::new(FolderLayout::Memory, root, ""));
        }
    }

    /// What tells this project from all others on the machine; its worktrees share it.
    pub(crate) fn identity(&self) -> String {
        let repository = self.repository.as_ref().map(Repository::common_dir);
        files::canonical(repository.unwrap_or(self.root.path())).to_string_lossy().into_owned()
    }

    /// The root folder.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The repository it lies in.
    pub fn repository(&self) -> Option<&Repository> {
        self.repository.as_ref()
    }

    /// What the process was started with.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// What is recognised as a secret here.
    pub fn rules(&self) -> &RedactionRules {
        if !self.has_added_rules() {
            return RedactionRules::shipped();
        }
        let added = &self.settings.redact;
        self.rules.get_or_init(|| {
            RedactionRules::with_custom(added).expect("the settings were read with them")
        })
    }

    /// Whether the project calls more a secret than everybody does.
    pub fn has_added_rules(&self) -> bool {
        !self.settings.redact.is_empty()
    }

    /// A text without its secrets, and what was taken out.
    pub fn clean(&self, text: &str) -> (CleanText, Vec<Redaction>) {
        self.rules().clean(text)
    }

    /// A text in JSON from which everything was taken out that everybody calls a secret: only what the
    /// project calls one besides is looked for.
    pub fn clean_with_added_rules(&self, json: String) -> (String, Vec<Redaction>) {
        if !self.has_added_rules() {
            return (json, Vec::new());
        }
        let (clean, redacted) = self.rules().clean_json(&json);
        (clean.as_str().to_owned(), redacted)
    }

    /// What is configured.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Why the configuration cannot be used, where the project was opened anyway.
    pub fn broken_configuration(&self) -> Option<&SettingsError> {
        self.settings_error.as_ref()
    }

    /// How it was set up.
    pub fn setup(&self) -> SetupMode {
        self.setup
    }

    /// Its shelves.
    pub fn folders(&self) -> &[HandoffFolder] {
        &self.folders
    }

    /// What is configured but not read, and why.
    pub fn skipped_settings(&self) -> &[SkippedSetting] {
        &self.skipped_settings
    }

    /// Where what is never committed lies, or would lie.
    pub fn private_path(&self) -> PathBuf {
        match &self.repository {
            Some(repository) => repository.common_dir().join(PRIVATE_IN_GIT),
            None => self.root.path().join(PRIVATE),
        }
    }

    /// The folder for what is never committed, where there is one.
    pub(crate) fn private(&self) -> Result<Option<Root>, FileError> {
        // What was kept before there was git comes last.
        Ok(open_private(&self.root, self.repository.as_ref())?.into_iter().next())
    }

    /// The folder for what is never committed, made where it is missing. Without git it lies in the
    /// project, and is told to git in case there is one later.
    pub fn make_private(&self) -> Result<Root, FileError> {
        match &self.repository {
            Some(repository) => Root::make(&repository.common_dir().join(PRIVATE_IN_GIT)),
            None => {
                let root = self.root.make_below(Path::new(PRIVATE))?;
                let ignore = Path::new(".gitignore");
                // Looked for first: to find out by writing it costs a search milliseconds.
                if root.exists(ignore) {
                    return Ok(root);
                }
                match root.create(ignore, b"*\n") {
                    Ok(()) | Err(FileError { problem: FileProblem::Exists, .. }) => Ok(root),
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// The folder for what is never committed, where it was made before there was git.
    pub(crate) fn private_folder_without_git(&self) -> Result<Option<Root>, FileError> {
        self.root.open_below(Path::new(PRIVATE))
    }

    /// The places of all documents, and the shelves that could not be looked at. A document that
    /// lies on two shelves is named once.
    pub fn document_places(&self) -> Vec<Result<DocumentPlace, FileError>> {
        let DocumentScan { documents, unread, .. } = self.scan(ScanDetail::Names);
        let mut spots: Vec<DocumentPlace> = documents.into_iter().map(|(spot, _)| spot).collect();
        spots.sort_unstable_by(|a, b| {
            (a.folder, &a.relative_path).cmp(&(b.folder, &b.relative_path))
        });
        spots.into_iter().map(Ok).chain(unread.into_iter().map(Err)).collect()
    }

    /// The same, with how everything looks from outside.
    pub(crate) fn scan(&self, look: ScanDetail) -> DocumentScan {
        let mut looked = DocumentScan::default();
        let mut seen = std::collections::HashSet::new();
        for (index, shelf) in self.folders.iter().enumerate() {
            let found = match shelf.scan(look) {
                Ok(found) => found,
                Err(error) => {
                    looked.unread.push(error);
                    continue;
                }
            };
            let here = found.files.into_iter();
            // As bytes: a path is compared part by part, which takes ten times as long.
            let whole = |inside: &Path| shelf.root().path().join(inside).into_os_string();
            let here = here.filter(|(inside, _)| seen.insert(whole(inside)));
            let spot = |inside| DocumentPlace { folder: Some(index), relative_path: inside };
            looked.documents.extend(here.map(|(inside, stamp)| (spot(inside), stamp)));
            let folders = found.folders.into_iter();
            looked.folders.extend(folders.map(|(inside, stamp)| (spot(inside), stamp)));
        }
        looked
    }

    /// How the file or folder at a place looks from outside.
    pub(crate) fn stamp(&self, spot: &DocumentPlace) -> Option<FileStamp> {
        self.root_of(spot).stamp(&spot.relative_path)
    }

    fn root_of(&self, spot: &DocumentPlace) -> &Root {
        spot.folder.map_or(&self.root, |index| self.folders[index].root())
    }

    /// The root of a place and the path below it.
    pub(crate) fn root_and_path<'s>(&'s self, spot: &'s DocumentPlace) -> (&'s Path, &'s Path) {
        (self.root_of(spot).path(), &spot.relative_path)
    }

    /// The place at a path below the root of a shelf.
    pub(crate) fn place_below(&self, root: &Path, inside: &Path) -> Option<DocumentPlace> {
        let holds = |shelf: &HandoffFolder| shelf.root().path() == root && shelf.contains(inside);
        let shelf = self.folders.iter().position(holds)?;
        Some(DocumentPlace { folder: Some(shelf), relative_path: inside.to_owned() })
    }

    /// Reads the document at a place.
    pub fn read(&self, spot: &DocumentPlace) -> Result<StoredHandoff, FileError> {
        Ok(self.stored_handoff(spot.clone(), self.bytes(spot)?))
    }

    /// The bytes of the document at a place.
    pub(crate) fn bytes(&self, spot: &DocumentPlace) -> Result<Vec<u8>, FileError> {
        self.root_of(spot).read(&spot.relative_path)
    }

    /// A document with its place, from bytes that were read elsewhere.
    pub(crate) fn stored_handoff(&self, spot: DocumentPlace, bytes: Vec<u8>) -> StoredHandoff {
        let document = Document::parse(&bytes);
        let shelf = spot.folder.map(|index| &self.folders[index]);
        let whereabouts = match shelf {
            Some(shelf) => shelf.location_of(&spot.relative_path, &self.settings.stages),
            None => Location { stem: stem(&spot.relative_path), stage: None },
        };
        let place = shelf.and_then(|shelf| shelf.key_for_path(&spot.relative_path));
        let path = self.display_path(&spot);
        let DocumentPlace { folder: shelf, relative_path: inside } = spot;
        StoredHandoff {
            path,
            bytes,
            document,
            location: whereabouts,
            place_key: place,
            folder: shelf,
            relative_path: inside,
        }
    }

    /// The path of a place as a person would write it.
    pub fn display_path(&self, spot: &DocumentPlace) -> PathBuf {
        let whole = self.root_of(spot).path().join(&spot.relative_path);
        whole.strip_prefix(self.root.path()).map(Path::to_owned).unwrap_or(whole)
    }

    /// Reads every document, each on whichever core is free, in the order of the shelves.
    pub fn read_all(&self) -> Vec<Result<StoredHandoff, FileError>> {
        self.map_all(|shelved| shelved)
    }

    /// Reads every document and does something with it, each on whichever core is free.
    pub fn map_all<T: Send>(
        &self,
        each: impl Fn(StoredHandoff) -> T + Sync,
    ) -> Vec<Result<T, FileError>> {
        self.map_matching(|_| true, each)
    }

    /// The same with those documents only whose bytes are wanted.
    pub fn map_matching<T: Send>(
        &self,
        wanted: impl Fn(&[u8]) -> bool + Sync,
        each: impl Fn(StoredHandoff) -> T + Sync,
    ) -> Vec<Result<T, FileError>> {
        let (spots, unread): (Vec<_>, Vec<_>) =
            self.document_places().into_iter().partition(Result::is_ok);
        let spots: Vec<DocumentPlace> = spots.into_iter().filter_map(Result::ok).collect();
        let done = map_on_all_cores(&spots, |spot| {
            let bytes = self.bytes(spot)?;
            Ok(wanted(&bytes).then(|| each(self.stored_handoff(spot.clone(), bytes))))
        });
        let unread = unread.into_iter().filter_map(Result::err).map(Err);
        done.into_iter().filter_map(Result::transpose).chain(unread).collect()
    }

    /// A document at a path that a person named, which need not lie on a shelf.
    pub fn place_of_path(&self, path: &Path) -> Option<DocumentPlace> {
        let whole = files::canonical(&self.environment.folder.join(path));
        for (index, shelf) in self.folders.iter().enumerate() {
            if let Ok(inside) = whole.strip_prefix(files::canonical(shelf.root().path()))
                && shelf.contains(inside)
            {
                return Some(DocumentPlace {
                    folder: Some(index),
                    relative_path: inside.to_owned(),
                });
            }
        }
        let inside = whole.strip_prefix(files::canonical(self.root.path())).ok()?.to_owned();
        Some(DocumentPlace { folder: None, relative_path: inside })
    }

    /// The staged documents, as they would be committed.
    pub fn staged(
        &self,
        repository: &Repository,
    ) -> Result<Vec<StoredHandoff>, crate::sys::git::GitError> {
        let staged = repository.staged_markdown()?;
        let spots = staged.into_iter().filter_map(|(path, bytes)| {
            let whole = repository.work_tree().join(path);
            let inside = whole.strip_prefix(self.root.path()).ok()?.to_owned();
            let shelf = self.folders.iter().position(|shelf| {
                shelf.root().path() == self.root.path() && shelf.contains(&inside)
            })?;
            Some((DocumentPlace { folder: Some(shelf), relative_path: inside }, bytes))
        });
        Ok(spots.map(|(spot, bytes)| self.stored_handoff(spot, bytes)).collect())
    }

    /// The path of a document below the working tree of the repository; `None` where it lies
    /// elsewhere, or there is no repository.
    pub(crate) fn path_in_work_tree(&self, shelved: &StoredHandoff) -> Option<PathBuf> {
        let whole = self.root.path().join(&shelved.path);
        whole.strip_prefix(self.repository.as_ref()?.work_tree()).map(Path::to_owned).ok()
    }

    /// Reads a document once more, which was there before.
    pub fn reread(&self, shelved: &StoredHandoff) -> Result<StoredHandoff, FileError> {
        self.read(&shelved.document_place()).map_err(FileError::into_deleted)
    }

    /// The private shelf, if a document lies on it.
    pub(crate) fn private_folder_of(&self, shelved: &StoredHandoff) -> Option<&HandoffFolder> {
        let shelf = &self.folders[shelved.folder?];
        let private = [self.private_path(), self.root.path().join(PRIVATE)];
        private.iter().any(|path| shelf.root().path() == path).then_some(shelf)
    }

    /// Judges a document in its surroundings.
    pub fn check(&self, shelved: &StoredHandoff) -> CheckFindings {
        let around = surroundings::DocumentSurroundings::new(self, shelved);
        check(&shelved.handoff(self), &self.settings.stages, shelved.place_key.as_ref(), &around)
    }

    fn known_artifact(&self, path: &Path) -> Option<ReferencedArtifact> {
        self.known_artifacts().get(path).cloned()
    }

    fn remember_artifact(&self, path: PathBuf, artifact: ReferencedArtifact) {
        self.known_artifacts().insert(path, artifact);
    }

    fn known_artifacts(&self) -> MutexGuard<'_, HashMap<PathBuf, ReferencedArtifact>> {
        self.artifacts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a reference in the document at a place leads to, found as the judge finds it.
    pub fn resolve_reference(&self, spot: &DocumentPlace, reference: &str) -> ReferenceTarget {
        surroundings::DocumentSurroundings::for_place(self, spot).resolve(reference)
    }

    /// The design that a piece of work carries out: what it builds on, if that is one; else the
    /// document itself.
    pub fn design_of(&self, shelved: &StoredHandoff) -> PathBuf {
        let around = surroundings::DocumentSurroundings::new(self, shelved);
        let handoff = shelved.handoff(self);
        let upstream = handoff.dependencies().upstream;
        let artifacts = upstream.iter().filter_map(|dependency| dependency.artifact);
        let mut found = artifacts.filter_map(|artifact| around.find(artifact.value.trim()));
        let design = found.find(|found| found.handoff(self).stage() == Some("design"));
        design.map_or_else(|| shelved.path.clone(), |design| design.path)
    }

    /// Judges a document that lies nowhere yet.
    pub fn check_text(&self, document: &Document) -> CheckFindings {
        let (around, whereabouts) =
            (surroundings::DocumentSurroundings::for_root(self), Location::default());
        let handoff = Handoff::new(document, &whereabouts, &self.settings.stages);
        check(&handoff, &self.settings.stages, None, &around)
    }

    /// Judges the description of a pull request.
    pub fn check_pull_request(&self, document: &Document) -> CheckFindings {
        let around = surroundings::DocumentSurroundings::for_root(self);
        midstride_core::handoff::check::check_pull_request(document, &around)
    }

    /// Replaces a document by its next text.
    pub fn replace(&self, shelved: &StoredHandoff, text: &CleanText) -> Result<(), FileError> {
        self.replace_bytes(shelved, text.as_str().as_bytes())
    }

    /// The same for bytes that are no text; their secrets were taken out as far as they can be read.
    pub(crate) fn replace_bytes(
        &self,
        shelved: &StoredHandoff,
        bytes: &[u8],
    ) -> Result<(), FileError> {
        let root = shelved.folder.map_or(&self.root, |index| self.folders[index].root());
        self.known_artifacts().clear();
        root.replace(&shelved.relative_path, &shelved.bytes, bytes)
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The folders for what is never committed, where they exist: the one that all worktrees share
/// where there is git, and the one beneath the root of the project from before there was.
fn open_private(root: &Root, repository: Option<&Repository>) -> Result<Vec<Root>, FileError> {
    let shared = repository.map(|repository| repository.common_dir().join(PRIVATE_IN_GIT));
    let shared = shared.filter(|folder| files::is_folder(folder));
    let shared = shared.map(|folder| Root::open(&folder)).transpose()?;
    Ok(shared.into_iter().chain(root.open_below(Path::new(PRIVATE))?).collect())
}

/// Does something with each item, on as many threads as there are cores; the order is kept.
pub(crate) fn map_on_all_cores<T: Sync, U: Send>(
    items: &[T],
    each: impl Fn(&T) -> U + Sync,
) -> Vec<U> {
    const WORTH_A_THREAD: usize = 16;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if items.len() < WORTH_A_THREAD || cores == 1 {
        return items.iter().map(each).collect();
    }
    let each = &each;
    std::thread::scope(|scope| {
        let share = items.len().div_ceil(cores);
        let workers: Vec<_> = items
            .chunks(share)
            .map(|chunk| scope.spawn(move || chunk.iter().map(each).collect::<Vec<U>>()))
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("a worker does nothing that panics"))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_on_all_cores_keeps_its_order() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(
            map_on_all_cores(&items, |item| item * 2),
            (0..2000).step_by(2).collect::<Vec<_>>()
        );
    }
}
