//! A project on disk: its place, settings and permissions, its folders, and the handoffs in them.

mod catalog;
mod find_handoff;
pub mod folder;
pub(crate) mod note_dates;
pub mod observation;
mod outside_folders;
pub mod permission;
mod select;
pub mod settings;
mod skipped_setting;
mod surroundings;
mod upstream;

pub use find_handoff::FindError;
pub use outside_folders::OutsideFolder;
pub use select::DocumentSelection;
pub use skipped_setting::SkippedSetting;

use crate::sys::env::Environment;
use crate::sys::files::{self, FileError, FileProblem, FileStamp, Root, ScanDetail};
use crate::sys::git::Repository;
use crate::workspace::folder::{FolderLayout, HandoffFolder, claude_memory, is_archived};
use crate::workspace::settings::{CLAUDE_MEMORY, Settings, SettingsError};
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

/// midstride's folder in a project.
pub const FOLDER: &str = ".midstride";
/// The folder of committed handoffs.
pub const HANDOFFS: &str = ".midstride/handoffs";
/// The private folder outside of git. It is never committed.
const PRIVATE: &str = ".midstride/private";
/// The private folder in the git directory. It is never committed.
const PRIVATE_IN_GIT: &str = "midstride";
/// The path of the configuration.
pub const CONFIGURATION: &str = ".midstride/config.toml";

/// An open project.
#[derive(Debug)]
pub struct Workspace {
    root: Root,
    repository: Option<Repository>,
    environment: Environment,
    settings: Settings,
    /// Why the configuration is ignored.
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
    /// Not set up. Existing documents are still read.
    NotSetUp,
    /// With a folder that is committed.
    Committed,
    /// Only in the git directory, so that nothing is committed.
    Private,
}

/// A document and its location.
#[derive(Debug)]
pub struct StoredHandoff {
    /// The path from the root of the project, as a user would write it.
    pub path: PathBuf,
    /// The bytes as read.
    pub bytes: Vec<u8>,
    /// The parsed document.
    pub document: Document,
    /// What the location says about the document.
    pub location: Location,
    /// The key that the location stands for.
    pub place_key: Option<HandoffKey>,
    folder: Option<usize>,
    relative_path: PathBuf,
}

impl StoredHandoff {
    /// The path below the root of its folder.
    pub(crate) fn relative_path(&self) -> &Path {
        &self.relative_path
    }

    pub(crate) fn document_place(&self) -> DocumentPlace {
        DocumentPlace { folder: self.folder, relative_path: self.relative_path.clone() }
    }

    /// The same handoff with another text.
    #[must_use]
    pub fn with_text(self, bytes: Vec<u8>) -> Self {
        Self { document: Document::parse(&bytes), bytes, ..self }
    }

    /// The document as a handoff.
    pub fn handoff<'d>(&'d self, workspace: &'d Workspace) -> Handoff<'d> {
        Handoff::new(&self.document, &self.location, &workspace.settings.stages)
    }
}

/// The location of a document that has not been read yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DocumentPlace {
    folder: Option<usize>,
    relative_path: PathBuf,
}

impl DocumentPlace {
    /// The path below the root of its folder.
    pub(crate) fn relative_path(&self) -> &Path {
        &self.relative_path
    }

    /// Whether it is in an archive folder.
    pub(crate) fn is_archived(&self) -> bool {
        is_archived(&self.relative_path)
    }
}

/// The result of scanning all folders.
#[derive(Debug, Default)]
pub(crate) struct DocumentScan {
    /// The documents, without duplicates.
    pub(crate) documents: Vec<(DocumentPlace, FileStamp)>,
    /// The folders that contain them.
    pub(crate) folders: Vec<(DocumentPlace, FileStamp)>,
    /// The folders that could not be scanned.
    pub(crate) unread: Vec<FileError>,
}

/// Why a project could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// A file or folder could not be opened.
    #[error(transparent)]
    File(#[from] FileError),
    /// The configuration is invalid.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The repository is bare.
    #[error("`{}` is a bare repository: it has no files to work on", .0.display())]
    Bare(PathBuf),
}

impl Workspace {
    /// Opens the project that contains the folder in which the process was started.
    pub fn discover(environment: Environment) -> Result<Self, WorkspaceError> {
        let mut workspace = Self::discover_ignoring_settings(environment)?;
        workspace.settings_error.take().map_or(Ok(workspace), |broken| Err(broken.into()))
    }

    /// The same, but ignores an invalid configuration. For commands that must work anyway, such as
    /// diagnosing, switching off and uninstalling.
    pub fn discover_ignoring_settings(environment: Environment) -> Result<Self, WorkspaceError> {
        let folder = environment.folder.clone();
        if let Some(bare) = Repository::find_bare(&folder) {
            return Err(WorkspaceError::Bare(bare.to_owned()));
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
    ) -> Result<Self, WorkspaceError> {
        let private_roots = open_private(&root, repository.as_ref())?;
        let private_file = Path::new("config.toml");
        let (read, setup) = if root.has_folder(Path::new(FOLDER))
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
        let mut workspace = Self {
            root,
            repository,
            environment,
            settings,
            settings_error: broken,
            setup,
            folders: Vec::new(),
            skipped_settings: Vec::new(),
            catalog: OnceLock::new(),
            rules: OnceLock::new(),
            artifacts: Mutex::default(),
        };
        if let Some(error) = workspace.root.access_error(Path::new(CONFIGURATION)) {
            workspace.skipped_settings.push(SkippedSetting::Configuration(error.to_string()));
        }
        workspace.add_folders(private_roots)?;
        let Settings { source, unknown, .. } = &workspace.settings;
        let file = source.as_ref().map(|(path, _)| path.clone()).unwrap_or_default();
        let unknown = unknown.iter().cloned();
        let unknown = unknown.map(|key| SkippedSetting::UnknownKey { key, file: file.clone() });
        workspace.skipped_settings.extend(unknown);
        Ok(workspace)
    }

    fn add_folders(&mut self, private: Vec<Root>) -> Result<(), WorkspaceError> {
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
            // Most projects have only a few of these, and hooks have no time to scan the others.
            if self.root.exists(Path::new(inside)) {
                let root = Root::open(self.root.path())?;
                self.folders.push(HandoffFolder::notes(root, inside));
            }
        }
        Ok(())
    }

    /// Adds Claude Code's memory folder. All worktrees of a repository share one.
    fn add_memory_folder(&mut self) {
        let Some(claude) = &self.environment.claude else {
            return;
        };
        let top = self.repository.as_ref().map_or(self.root.path(), Repository::main_work_tree);
        if let Ok(root) = Root::open(&claude_memory::folder(claude, &files::canonical(top))) {
            self.folders.push(HandoffFolder::new(FolderLayout::Memory, root, ""));
        }
    }

    /// The identity of this project on the machine. Its worktrees share it.
    pub(crate) fn identity(&self) -> String {
        let repository = self.repository.as_ref().map(Repository::common_dir);
        files::canonical(repository.unwrap_or(self.root.path())).to_string_lossy().into_owned()
    }

    /// The root folder.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The repository of the project, if any.
    pub fn repository(&self) -> Option<&Repository> {
        self.repository.as_ref()
    }

    /// The environment of the process.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The redaction rules of this project.
    pub fn rules(&self) -> &RedactionRules {
        if !self.has_added_rules() {
            return RedactionRules::shipped();
        }
        let added = &self.settings.redact;
        self.rules.get_or_init(|| {
            RedactionRules::with_custom(added).expect("the settings were read with them")
        })
    }

    /// Whether the project has redaction rules of its own.
    pub fn has_added_rules(&self) -> bool {
        !self.settings.redact.is_empty()
    }

    /// Removes secrets from a text. Returns the clean text and what was removed.
    pub fn clean(&self, text: &str) -> (CleanText, Vec<Redaction>) {
        self.rules().clean(text)
    }

    /// Removes secrets from a JSON text that was already redacted with the built-in rules: only the
    /// project's own rules are applied.
    pub fn clean_with_added_rules(&self, json: String) -> (String, Vec<Redaction>) {
        if !self.has_added_rules() {
            return (json, Vec::new());
        }
        let (clean, redacted) = self.rules().clean_json(&json);
        (clean.as_str().to_owned(), redacted)
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Why the configuration is ignored, if the project was opened anyway.
    pub fn broken_configuration(&self) -> Option<&SettingsError> {
        self.settings_error.as_ref()
    }

    /// How the project was set up.
    pub fn setup(&self) -> SetupMode {
        self.setup
    }

    /// The folders with handoffs.
    pub fn folders(&self) -> &[HandoffFolder] {
        &self.folders
    }

    /// Settings that are ignored, and why.
    pub fn skipped_settings(&self) -> &[SkippedSetting] {
        &self.skipped_settings
    }

    /// The path of the private folder, whether or not it exists.
    pub fn private_path(&self) -> PathBuf {
        match &self.repository {
            Some(repository) => repository.common_dir().join(PRIVATE_IN_GIT),
            None => self.root.path().join(PRIVATE),
        }
    }

    /// The private folder, if it exists.
    pub(crate) fn private(&self) -> Result<Option<Root>, FileError> {
        // A private folder from before the project used git comes last.
        Ok(open_private(&self.root, self.repository.as_ref())?.into_iter().next())
    }

    /// The private folder, created if it is missing. Outside of git it is part of the project, so
    /// it gets a `.gitignore` in case the project uses git later.
    pub fn make_private(&self) -> Result<Root, FileError> {
        match &self.repository {
            Some(repository) => Root::make(&repository.common_dir().join(PRIVATE_IN_GIT)),
            None => {
                let root = self.root.make_below(Path::new(PRIVATE))?;
                let ignore = Path::new(".gitignore");
                // Check first: finding out by writing would cost milliseconds on every search.
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

    /// The private folder from before the project used git.
    pub(crate) fn private_folder_without_git(&self) -> Result<Option<Root>, FileError> {
        self.root.open_below(Path::new(PRIVATE))
    }

    /// The places of all documents, and the folders that could not be scanned. A document that is
    /// in two folders is listed once.
    pub fn document_places(&self) -> Vec<Result<DocumentPlace, FileError>> {
        let DocumentScan { documents, unread, .. } = self.scan(ScanDetail::Names);
        let mut places: Vec<DocumentPlace> =
            documents.into_iter().map(|(place, _)| place).collect();
        places.sort_unstable_by(|a, b| {
            (a.folder, &a.relative_path).cmp(&(b.folder, &b.relative_path))
        });
        places.into_iter().map(Ok).chain(unread.into_iter().map(Err)).collect()
    }

    /// Scans all folders and returns documents and folders with their metadata.
    pub(crate) fn scan(&self, detail: ScanDetail) -> DocumentScan {
        let mut scan = DocumentScan::default();
        let mut seen = std::collections::HashSet::new();
        for (index, folder) in self.folders.iter().enumerate() {
            let found = match folder.scan(detail) {
                Ok(found) => found,
                Err(error) => {
                    scan.unread.push(error);
                    continue;
                }
            };
            let here = found.files.into_iter();
            // Compare as bytes: comparing paths by component takes ten times as long.
            let whole =
                |relative_path: &Path| folder.root().path().join(relative_path).into_os_string();
            let here = here.filter(|(relative_path, _)| seen.insert(whole(relative_path)));
            let place = |relative_path| DocumentPlace { folder: Some(index), relative_path };
            scan.documents.extend(here.map(|(relative_path, stamp)| (place(relative_path), stamp)));
            let folders = found.folders.into_iter();
            scan.folders
                .extend(folders.map(|(relative_path, stamp)| (place(relative_path), stamp)));
        }
        scan
    }

    /// The metadata of the file or folder at a place.
    pub(crate) fn stamp(&self, place: &DocumentPlace) -> Option<FileStamp> {
        self.root_of(place).stamp(&place.relative_path)
    }

    fn root_of(&self, place: &DocumentPlace) -> &Root {
        place.folder.map_or(&self.root, |index| self.folders[index].root())
    }

    /// The root of a place and the path below it.
    pub(crate) fn root_and_path<'s>(&'s self, place: &'s DocumentPlace) -> (&'s Path, &'s Path) {
        (self.root_of(place).path(), &place.relative_path)
    }

    /// The place of a path below the root of a folder.
    pub(crate) fn place_below(&self, root: &Path, inside: &Path) -> Option<DocumentPlace> {
        let holds =
            |folder: &HandoffFolder| folder.root().path() == root && folder.contains(inside);
        let folder = self.folders.iter().position(holds)?;
        Some(DocumentPlace { folder: Some(folder), relative_path: inside.to_owned() })
    }

    /// Reads the document at a place.
    pub fn read(&self, place: &DocumentPlace) -> Result<StoredHandoff, FileError> {
        Ok(self.stored_handoff(place.clone(), self.bytes(place)?))
    }

    /// The bytes of the document at a place.
    pub(crate) fn bytes(&self, place: &DocumentPlace) -> Result<Vec<u8>, FileError> {
        self.root_of(place).read(&place.relative_path)
    }

    /// A document at a place, from bytes that were already read.
    pub(crate) fn stored_handoff(&self, place: DocumentPlace, bytes: Vec<u8>) -> StoredHandoff {
        let document = Document::parse(&bytes);
        let folder = place.folder.map(|index| &self.folders[index]);
        let location = match folder {
            Some(folder) => folder.location_of(&place.relative_path, &self.settings.stages),
            None => Location { stem: stem(&place.relative_path), stage: None },
        };
        let place_key = folder.and_then(|folder| folder.key_for_path(&place.relative_path));
        let path = self.display_path(&place);
        let DocumentPlace { folder, relative_path } = place;
        StoredHandoff { path, bytes, document, location, place_key, folder, relative_path }
    }

    /// The path of a place as a user would write it.
    pub fn display_path(&self, place: &DocumentPlace) -> PathBuf {
        let whole = self.root_of(place).path().join(&place.relative_path);
        whole.strip_prefix(self.root.path()).map(Path::to_owned).unwrap_or(whole)
    }

    /// Reads all documents in parallel, in the order of the folders.
    pub fn read_all(&self) -> Vec<Result<StoredHandoff, FileError>> {
        self.map_all(|stored| stored)
    }

    /// Reads all documents and maps each one, in parallel.
    pub fn map_all<T: Send>(
        &self,
        each: impl Fn(StoredHandoff) -> T + Sync,
    ) -> Vec<Result<T, FileError>> {
        self.map_matching(|_| true, each)
    }

    /// The same, but only for documents whose bytes are wanted.
    pub fn map_matching<T: Send>(
        &self,
        wanted: impl Fn(&[u8]) -> bool + Sync,
        each: impl Fn(StoredHandoff) -> T + Sync,
    ) -> Vec<Result<T, FileError>> {
        let (places, unread): (Vec<_>, Vec<_>) =
            self.document_places().into_iter().partition(Result::is_ok);
        let places: Vec<DocumentPlace> = places.into_iter().filter_map(Result::ok).collect();
        let done = map_on_all_cores(&places, |place| {
            let bytes = self.bytes(place)?;
            Ok(wanted(&bytes).then(|| each(self.stored_handoff(place.clone(), bytes))))
        });
        let unread = unread.into_iter().filter_map(Result::err).map(Err);
        done.into_iter().filter_map(Result::transpose).chain(unread).collect()
    }

    /// The place of a path that the user named. It need not be in a handoff folder.
    pub fn place_of_path(&self, path: &Path) -> Option<DocumentPlace> {
        let whole = files::canonical(&self.environment.folder.join(path));
        for (index, folder) in self.folders.iter().enumerate() {
            if let Ok(inside) = whole.strip_prefix(files::canonical(folder.root().path()))
                && folder.contains(inside)
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

    /// The staged documents with their staged content.
    pub fn staged(
        &self,
        repository: &Repository,
    ) -> Result<Vec<StoredHandoff>, crate::sys::git::GitError> {
        let staged = repository.staged_markdown()?;
        let places = staged.into_iter().filter_map(|(path, bytes)| {
            let whole = repository.work_tree().join(path);
            let inside = whole.strip_prefix(self.root.path()).ok()?.to_owned();
            let folder = self.folders.iter().position(|folder| {
                folder.root().path() == self.root.path() && folder.contains(&inside)
            })?;
            Some((DocumentPlace { folder: Some(folder), relative_path: inside }, bytes))
        });
        Ok(places.map(|(place, bytes)| self.stored_handoff(place, bytes)).collect())
    }

    /// The path of a document relative to the working tree, or `None` if it is outside or there is
    /// no repository.
    pub(crate) fn path_in_work_tree(&self, stored: &StoredHandoff) -> Option<PathBuf> {
        let whole = self.root.path().join(&stored.path);
        whole.strip_prefix(self.repository.as_ref()?.work_tree()).map(Path::to_owned).ok()
    }

    /// Reads a document again that existed before.
    pub fn reread(&self, stored: &StoredHandoff) -> Result<StoredHandoff, FileError> {
        self.read(&stored.document_place()).map_err(FileError::into_deleted)
    }

    /// The private folder, if it contains the document.
    pub(crate) fn private_folder_of(&self, stored: &StoredHandoff) -> Option<&HandoffFolder> {
        let folder = &self.folders[stored.folder?];
        let private = [self.private_path(), self.root.path().join(PRIVATE)];
        private.iter().any(|path| folder.root().path() == path).then_some(folder)
    }

    /// Checks a document in its context.
    pub fn check(&self, stored: &StoredHandoff) -> CheckFindings {
        let context = surroundings::DocumentSurroundings::new(self, stored);
        check(&stored.handoff(self), &self.settings.stages, stored.place_key.as_ref(), &context)
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

    /// What a reference in the document at a place leads to, resolved as in a check.
    pub fn resolve_reference(&self, place: &DocumentPlace, reference: &str) -> ReferenceTarget {
        surroundings::DocumentSurroundings::for_place(self, place).resolve(reference)
    }

    /// The design that a piece of work implements: its upstream design document, or else the
    /// document itself.
    pub fn design_of(&self, stored: &StoredHandoff) -> PathBuf {
        let context = surroundings::DocumentSurroundings::new(self, stored);
        let handoff = stored.handoff(self);
        let upstream = handoff.dependencies().upstream;
        let artifacts = upstream.iter().filter_map(|dependency| dependency.artifact);
        let mut found = artifacts.filter_map(|artifact| context.find(artifact.value.trim()));
        let design = found.find(|found| found.handoff(self).stage() == Some("design"));
        design.map_or_else(|| stored.path.clone(), |design| design.path)
    }

    /// Checks a document that is not stored yet.
    pub fn check_text(&self, document: &Document) -> CheckFindings {
        let (context, location) =
            (surroundings::DocumentSurroundings::for_root(self), Location::default());
        let handoff = Handoff::new(document, &location, &self.settings.stages);
        check(&handoff, &self.settings.stages, None, &context)
    }

    /// Checks the description of a pull request.
    pub fn check_pull_request(&self, document: &Document) -> CheckFindings {
        let context = surroundings::DocumentSurroundings::for_root(self);
        midstride_core::handoff::check::check_pull_request(document, &context)
    }

    /// Replaces a document with a new text.
    pub fn replace(&self, stored: &StoredHandoff, text: &CleanText) -> Result<(), FileError> {
        self.replace_bytes(stored, text.as_str().as_bytes())
    }

    /// The same for bytes that are not UTF-8. Secrets were removed from the readable parts.
    pub(crate) fn replace_bytes(
        &self,
        stored: &StoredHandoff,
        bytes: &[u8],
    ) -> Result<(), FileError> {
        let root = stored.folder.map_or(&self.root, |index| self.folders[index].root());
        self.known_artifacts().clear();
        root.replace(&stored.relative_path, &stored.bytes, bytes)
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The private folders that exist: the one in the git directory that all worktrees share, and the
/// one below the project root from before the project used git.
fn open_private(root: &Root, repository: Option<&Repository>) -> Result<Vec<Root>, FileError> {
    let shared = repository.map(|repository| repository.common_dir().join(PRIVATE_IN_GIT));
    let shared = shared.filter(|folder| files::is_folder(folder));
    let shared = shared.map(|folder| Root::open(&folder)).transpose()?;
    Ok(shared.into_iter().chain(root.open_below(Path::new(PRIVATE))?).collect())
}

/// Maps items on all cores and keeps their order.
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
    fn parallel_mapping_keeps_the_order() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(
            map_on_all_cores(&items, |item| item * 2),
            (0..2000).step_by(2).collect::<Vec<_>>()
        );
    }
}
