//! A project on disk: its place, settings and permissions, its folders, and the handoffs in them.

mod access;
mod catalog;
pub mod consent;
pub(crate) mod dismissed_notes;
mod documents;
mod find_handoff;
pub mod folder;
pub(crate) mod note_dates;
pub mod observation;
mod outside_folders;
pub mod permission;
mod private_store;
mod select;
pub mod settings;
mod skipped_setting;
mod trust;
pub(crate) mod trusted_remotes;
pub mod user_settings;

pub use access::Access;
pub use catalog::Catalog;
use documents::DocumentScope;
pub use documents::{DocumentPlace, StoredHandoff};
pub(crate) use documents::{DocumentScan, map_on_all_cores};
pub use find_handoff::FindError;
pub use outside_folders::OutsideFolder;
pub use private_store::StoreOwner;
pub use select::DocumentSelection;
pub use skipped_setting::SkippedSetting;

use crate::sys::env::Environment;
use crate::sys::files::{self, FileError, FileProblem, Root, ScratchFolder};
use crate::sys::git::Repository;
use crate::workspace::folder::{FolderLayout, HandoffFolder, claude_memory};
use crate::workspace::settings::{CLAUDE_MEMORY, Settings, SettingsError};
use midstride_core::format::document::{Document, DocumentEditError, RedactedDocument};
use midstride_core::text::id::SessionId;
use midstride_core::text::redact::{CleanText, CustomRule, Redaction, RedactionRules};
use outside_folders::is_outside;
use private_store::PrivateStore;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use trust::TrustSubject;
pub(crate) use trust::recorded_projects;
use user_settings::{Exclusion, Retention, UserRules};

/// midstride's folder in a project.
pub const FOLDER: &str = ".midstride";
/// The folder of committed handoffs.
pub const HANDOFFS: &str = ".midstride/handoffs";
/// The private folder outside of git. It is never committed.
const PRIVATE: &str = ".midstride/private";
/// The private folder in the git directory. It is never committed.
const PRIVATE_IN_GIT: &str = "midstride";
/// The path of the configuration.
pub(crate) const CONFIGURATION: &str = ".midstride/config.toml";
/// The configuration in the private folder.
pub(crate) const PRIVATE_CONFIGURATION: &str = "config.toml";

/// The position of the committed handoffs among the folders.
const COMMITTED: usize = 0;
/// The position of the private folder that is written to.
const PRIVATE_FIRST: usize = 1;

/// An open project: its place, its settings and the rules that follow from them. Nothing in it
/// changes once it is open, and what it reads is read from disk each time.
#[derive(Debug)]
pub struct Workspace {
    root: Root,
    repository: Option<Repository>,
    environment: Environment,
    settings: Settings,
    /// Why the configuration is ignored.
    settings_error: Option<SettingsError>,
    setup: SetupMode,
    /// Why midstride does nothing here.
    exclusion: Option<Exclusion>,
    user_rules: UserRules,
    scope: DocumentScope,
    /// The private stores: the one that is written to, and the one from before the project used git.
    stores: Vec<Arc<PrivateStore>>,
    /// The temporary folder with the private store, if this is a preview.
    preview: Option<PathBuf>,
    folders: Vec<HandoffFolder>,
    skipped_settings: Vec<SkippedSetting>,
    /// The project's redaction rules, if the user trusts them.
    added_rules: Vec<CustomRule>,
    rules: OnceLock<RedactionRules>,
}

/// How a project was set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupMode {
    /// A folder without git that is not set up. Existing documents are still read.
    NotSetUp,
    /// With a folder that is committed.
    Committed,
    /// Only in the private folder, so that nothing is committed. Every git repository is set up like
    /// this from the start; the first write creates the folder.
    Private,
}

/// Why a project could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// A file or folder could not be opened.
    #[error(transparent)]
    File(#[from] FileError),
    /// The configuration is invalid.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The repository is bare.
    #[error("`{}` is a bare repository: it has no working tree", .0.display())]
    Bare(PathBuf),
}

impl Workspace {
    /// Opens the project that contains the folder in which the process was started.
    ///
    /// A program passes `clients::read_environment()?`. A test names every value:
    ///
    /// ```
    /// use midstride::sys::clock::Clock;
    /// use midstride::sys::env::{Invoker, Environment, UserName, Variables};
    /// use midstride::verbs;
    /// use midstride::workspace::{SetupMode, Workspace};
    ///
    /// # let project = tempfile::tempdir()?;
    /// let environment = Environment {
    ///     folder: project.path().to_owned(),
    ///     home: None,
    ///     state: None,
    ///     editor: None,
    ///     user: UserName::given("ada"),
    ///     invoker: Invoker::User,
    ///     session: None,
    ///     clock: Clock::Fixed("2026-03-21T17:24:00Z".parse()?),
    ///     variables: Variables::NONE,
    /// };
    /// let workspace = Workspace::discover(environment.clone())?;
    /// assert_eq!(workspace.setup(), SetupMode::NotSetUp);
    ///
    /// verbs::init(&workspace, false, None)?;
    /// assert_eq!(Workspace::discover(environment)?.setup(), SetupMode::Committed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn discover(environment: Environment) -> Result<Self, WorkspaceError> {
        let mut workspace = Self::discover_ignoring_settings(environment)?;
        workspace.settings_error.take().map_or(Ok(workspace), |broken| Err(broken.into()))
    }

    /// The same, but ignores an invalid configuration. For commands that must work anyway, such as
    /// diagnosing, switching off and uninstalling.
    pub fn discover_ignoring_settings(environment: Environment) -> Result<Self, WorkspaceError> {
        Self::discover_scope(environment, DocumentScope::All, None)
    }

    /// The same project with its private store in a temporary folder, so that storing something changes
    /// no file in the repository and in the user's folders.
    pub fn preview_in(&self, scratch: &ScratchFolder) -> Result<Self, WorkspaceError> {
        let folder = files::canonical(scratch.path());
        Self::discover_scope(self.environment.clone(), self.scope, Some(&folder))
    }

    /// Whether this is such a preview.
    pub(crate) fn is_preview(&self) -> bool {
        self.preview.is_some()
    }

    fn discover_scope(
        environment: Environment,
        scope: DocumentScope,
        preview: Option<&Path>,
    ) -> Result<Self, WorkspaceError> {
        let folder = environment.folder.clone();
        if let Some(bare) = Repository::find_bare(&folder)? {
            return Err(WorkspaceError::Bare(bare.to_owned()));
        }
        let repository = Repository::discover(&folder)?;
        let top = repository.as_ref().map(|repository| repository.work_tree().to_owned());
        let has_folder = |path: &&Path| files::is_folder(&path.join(FOLDER));
        let within = |path: &&Path| top.as_ref().is_none_or(|top| path.starts_with(top));
        let own = folder.ancestors().take_while(within).find(has_folder).map(Path::to_owned);
        let root = Root::open(&own.or(top).unwrap_or(folder))?;
        Self::open(root, repository, environment, scope, preview)
    }

    fn open(
        root: Root,
        repository: Option<Repository>,
        environment: Environment,
        scope: DocumentScope,
        preview: Option<&Path>,
    ) -> Result<Self, WorkspaceError> {
        let stores = match preview {
            Some(folder) => vec![PrivateStore::in_preview(folder)],
            None => private_stores(&root, repository.as_ref(), environment.state.as_deref()),
        };
        let private_roots = open_stores(&stores)?;
        let private_file = Path::new(PRIVATE_CONFIGURATION);
        let mut private_settings = None;
        for folder in &private_roots {
            if private_settings.is_none() && folder.try_exists(private_file)? {
                private_settings = Some(folder);
            }
        }
        let (read, setup) = if root.try_exists(Path::new(CONFIGURATION))? {
            (Settings::read(&root, Path::new(CONFIGURATION)), SetupMode::Committed)
        } else if let Some(folder) = private_settings {
            (Settings::read(folder, private_file), SetupMode::Private)
        } else if repository.is_some() {
            (Ok(Settings::standard()), SetupMode::Private)
        } else {
            (Ok(Settings::standard()), SetupMode::NotSetUp)
        };
        let (settings, broken) = match read {
            Ok(settings) => (settings, None),
            Err(broken) => (Settings::standard(), Some(broken)),
        };
        let mut user_rules = UserRules::read(&environment);
        let main = repository.as_ref().map(|git| files::canonical(git.main_work_tree()));
        let folder = files::canonical(root.path());
        let folders: Vec<&Path> =
            [&folder].into_iter().chain(&main).map(PathBuf::as_path).collect();
        let is_configured = setup == SetupMode::Committed || private_settings.is_some();
        let is_home =
            || environment.home.as_ref().is_some_and(|home| files::canonical(home) == folder);
        let exclusion = user_rules
            .exclusion(&environment, &folders)
            .or_else(|| (!is_configured && is_home()).then_some(Exclusion::HomeFolder));
        let broken = broken.or_else(|| user_rules.take_error());
        // The configuration of a project that is not trusted sets nothing.
        let is_own = scope == DocumentScope::All || setup == SetupMode::Private;
        let (settings, broken) =
            if is_own { (settings, broken) } else { (Settings::standard(), None) };
        let mut workspace = Self {
            root,
            repository,
            environment,
            settings,
            settings_error: broken,
            setup,
            exclusion,
            user_rules,
            scope,
            stores,
            preview: preview.map(Path::to_owned),
            folders: Vec::new(),
            skipped_settings: Vec::new(),
            added_rules: Vec::new(),
            rules: OnceLock::new(),
        };
        workspace.add_rules();
        if let Some(error) = workspace.root.access_error(Path::new(CONFIGURATION)) {
            workspace.skipped_settings.push(SkippedSetting::Configuration(error.to_string()));
        }
        workspace.add_folders()?;
        let Settings { source, unknown, .. } = &workspace.settings;
        let file = source.as_ref().map(|(path, _)| path.clone()).unwrap_or_default();
        let unknown = unknown.iter().cloned();
        let unknown = unknown.map(|key| SkippedSetting::UnknownKey { key, file: file.clone() });
        workspace.skipped_settings.extend(unknown);
        Ok(workspace)
    }

    fn add_folders(&mut self) -> Result<(), WorkspaceError> {
        let own_root = Root::open(self.root.path())?;
        self.folders.push(HandoffFolder::new(FolderLayout::Own, own_root, HANDOFFS));
        // A handoff may be written before the private folder exists.
        for (index, store) in self.stores.iter().enumerate() {
            if index > 0 && store.open()?.is_none() {
                continue;
            }
            self.folders.push(HandoffFolder::new(FolderLayout::Own, store.open_late(), "handoffs"));
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
        for index in 0..self.folders.len() {
            if self.scope == DocumentScope::Own && !self.is_own_folder(index) {
                self.folders[index].withhold();
            }
        }
        Ok(())
    }

    /// Adds the project's redaction rules. A rule that came with a clone could remove any text, so
    /// the user must trust the configuration first.
    fn add_rules(&mut self) {
        if self.settings.redact.is_empty() {
            return;
        }
        if self.trusts_configuration() {
            self.added_rules.clone_from(&self.settings.redact);
        } else {
            let count = self.settings.redact.len();
            self.skipped_settings.push(SkippedSetting::UntrustedRules(count));
        }
    }

    /// Adds Claude Code's memory folder. All worktrees of a repository share one.
    fn add_memory_folder(&mut self) {
        let top = self.repository.as_ref().map_or(self.root.path(), Repository::main_work_tree);
        let Some(folder) = claude_memory::folder(&self.environment, &files::canonical(top)) else {
            return;
        };
        if let Ok(root) = Root::open(&folder) {
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
        let added = &self.added_rules;
        self.rules.get_or_init(|| {
            RedactionRules::with_custom(added).expect("the settings were read with them")
        })
    }

    /// The project's own redaction rules. Empty until the user trusts the configuration.
    pub fn added_rules(&self) -> &[CustomRule] {
        &self.added_rules
    }

    /// Whether redaction rules of the project are in use.
    pub(crate) fn has_added_rules(&self) -> bool {
        !self.added_rules.is_empty()
    }

    /// The id of a session that may be stored in this project. The shipped rules have been applied to
    /// it, so most projects have nothing left to apply.
    pub(crate) fn redact_session_id(&self, id: SessionId) -> SessionId {
        if self.has_added_rules() { id.redacted(self.rules()) } else { id }
    }

    /// Removes secrets from a text. Returns the clean text and what was removed.
    pub fn clean(&self, text: &str) -> (CleanText, Vec<Redaction>) {
        self.rules().clean(text)
    }

    /// Removes secrets from a document that is about to be written. Refuses if that would damage
    /// its header.
    pub(crate) fn redact(
        &self,
        document: &Document,
    ) -> Result<RedactedDocument, DocumentEditError> {
        document.redact(self.rules())
    }

    /// Removes secrets from a JSON text that was already redacted with the built-in rules: only the
    /// project's own rules are applied.
    pub(crate) fn clean_with_added_rules(&self, json: String) -> (String, Vec<Redaction>) {
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

    /// Why midstride stores and briefs nothing in this project, if it does not. Every surface asks.
    pub fn exclusion(&self) -> Option<&Exclusion> {
        self.exclusion.as_ref()
    }

    /// How long captured sessions are kept.
    pub fn retention(&self) -> Retention {
        self.user_rules.retention()
    }

    /// The policy file that forbids `midstride sync`.
    pub fn sync_policy(&self) -> Option<&Path> {
        self.user_rules.forbids_sync()
    }

    /// Whether reading may leave an index and caches. In a repository in which midstride has stored
    /// nothing, it leaves nothing.
    pub(crate) fn may_cache(&self) -> bool {
        match self.setup {
            SetupMode::NotSetUp => false,
            SetupMode::Committed => true,
            SetupMode::Private => matches!(self.private(), Ok(Some(_))),
        }
    }

    /// The folders with handoffs.
    pub fn folders(&self) -> &[HandoffFolder] {
        &self.folders
    }

    /// The folder of committed handoffs.
    pub(crate) fn committed_folder(&self) -> &HandoffFolder {
        &self.folders[COMMITTED]
    }

    /// The folder of private handoffs, whether or not it exists.
    pub(crate) fn private_folder(&self) -> &HandoffFolder {
        &self.folders[PRIVATE_FIRST]
    }

    /// Settings that are ignored, and why.
    pub fn skipped_settings(&self) -> &[SkippedSetting] {
        &self.skipped_settings
    }

    /// The path of the private folder, whether or not it exists.
    pub fn private_path(&self) -> PathBuf {
        self.stores[0].path()
    }

    /// The path of the private folder, if it exists and is the user's own.
    pub fn private_folder_in_use(&self) -> Option<PathBuf> {
        Some(self.private().ok()??.path().to_owned())
    }

    /// The private folder, if it exists and is the user's own.
    pub(crate) fn private(&self) -> Result<Option<Root>, FileError> {
        // A private folder from before the project used git comes last.
        Ok(open_stores(&self.stores)?.into_iter().next())
    }

    /// The private folder, created if it is missing or not the user's own. Outside of git it is part of
    /// the project, so it gets a `.gitignore` in case the project uses git later.
    pub fn make_private(&self) -> Result<Root, FileError> {
        let root = self.stores[0].make()?;
        let ignore = Path::new(".gitignore");
        // Check first: finding out by writing would cost milliseconds on every search.
        if self.repository.is_some() || root.exists(ignore) {
            return Ok(root);
        }
        match root.create(ignore, b"*\n") {
            Ok(()) | Err(FileError { problem: FileProblem::Exists, .. }) => Ok(root),
            Err(error) => Err(error),
        }
    }

    /// The private folder from before the project used git.
    pub(crate) fn private_folder_without_git(&self) -> Result<Option<Root>, FileError> {
        self.stores.last().map_or(Ok(None), |store| store.open())
    }
}

/// The private stores that a project can have: the one in the git directory that all worktrees share,
/// and the one below the project root, from before the project used git.
fn private_stores(
    root: &Root,
    repository: Option<&Repository>,
    state: Option<&Path>,
) -> Vec<Arc<PrivateStore>> {
    let in_git = repository.map(|git| {
        let subject = TrustSubject::repository(state, git);
        PrivateStore::new(git.common_dir(), PRIVATE_IN_GIT, subject)
    });
    let subject = TrustSubject::folder(state, root.path());
    let in_project = PrivateStore::new(root.path(), PRIVATE, subject);
    in_git.into_iter().chain([in_project]).collect()
}

/// Opens the stores that exist and are the user's own.
fn open_stores(stores: &[Arc<PrivateStore>]) -> Result<Vec<Root>, FileError> {
    stores.iter().filter_map(|store| store.open().transpose()).collect()
}
