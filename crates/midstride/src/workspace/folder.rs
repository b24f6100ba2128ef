//! Folders that contain handoffs, and what the location of a document says about it.

pub(crate) mod claude_memory;

use crate::sys::files::{
    FileError, FileStamp, FolderScan, LateRoot, Root, ScanDetail, is_markdown,
};
use midstride_core::format::stage::Stages;
use midstride_core::handoff::Location;
use midstride_core::text::id::HandoffKey;
use std::path::{Path, PathBuf};

/// How documents are arranged in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderLayout {
    /// midstride's own: `<id>.md`, and `<id>/<stage>.md` for the stages of a pipeline.
    Own,
    /// One folder per stage: `briefs/<id>.md` or `briefs/<id>-<name>.md`.
    Pipeline,
    /// Any Markdown in a folder and below it.
    Folder,
    /// Claude Code's memory of a project: `handoff-<topic>.md`.
    Memory,
}

/// A folder or a single file with handoffs.
#[derive(Debug)]
pub struct HandoffFolder {
    layout: FolderLayout,
    root: LateRoot,
    /// The path of the folder or file below the root.
    path: PathBuf,
    /// The name of the subfolders that count, if not all do.
    only_below: Option<String>,
    /// Maximum number of documents, if there is a limit.
    documents_max: Option<usize>,
}

/// Maximum number of notes in one folder. Agents can leave any number of them.
const NOTES_MAX: usize = 500;
/// Maximum depth of notes.
const NOTES_DEPTH: usize = 6;

/// Names of documents that describe a folder rather than work.
const NOT_NOTES: [&str; 9] = [
    "readme",
    "index",
    "changelog",
    "license",
    "contributing",
    "agents",
    "claude",
    "gemini",
    "skill",
];

/// Names of agents' folders that contain instructions rather than notes.
const NOT_NOTES_FOLDERS: [&str; 11] = [
    "skills",
    "rules",
    "workflows",
    "commands",
    "prompts",
    "templates",
    "agents",
    "hooks",
    "plugins",
    "personas",
    "searchable",
];

/// Names of archive folders.
const ARCHIVES: [&str; 6] = ["archive", "archived", "archives", "old", "done", "completed"];

/// Whether a document is in an archive folder.
pub(crate) fn is_archived(path: &Path) -> bool {
    let folders = path.parent().into_iter().flat_map(Path::components);
    let mut names = folders.filter_map(|folder| folder.as_os_str().to_str());
    names.any(|name| ARCHIVES.iter().any(|archive| name.eq_ignore_ascii_case(archive)))
}

impl HandoffFolder {
    /// A folder at `inside` below a root.
    pub fn new(layout: FolderLayout, root: impl Into<LateRoot>, inside: &str) -> Self {
        let root = root.into();
        Self { layout, root, path: PathBuf::from(inside), only_below: None, documents_max: None }
    }

    /// A folder in which only documents below subfolders of one name count: `thoughts/**/handoffs`.
    pub fn nested(root: Root, inside: &str, only: &str) -> Self {
        let only_below = Some(only.to_owned());
        Self { only_below, ..Self::notes(root, inside) }
    }

    /// A folder with notes, with a limited number of documents.
    pub fn notes(root: Root, inside: &str) -> Self {
        Self { documents_max: Some(NOTES_MAX), ..Self::new(FolderLayout::Folder, root, inside) }
    }

    /// Makes it a folder whose documents are not read.
    pub(super) fn withhold(&mut self) {
        self.root = LateRoot::untrusted(self.root.path().to_owned());
    }

    /// The folder that its paths are relative to, if it exists.
    pub fn root(&self) -> Result<&Root, FileError> {
        self.root.get()
    }

    /// The path of that folder, whether or not it exists.
    pub(crate) fn root_path(&self) -> &Path {
        self.root.path()
    }

    /// Whether something exists at a path below the root.
    pub fn exists(&self, path: &Path) -> bool {
        self.root.get().is_ok_and(|root| root.exists(path))
    }

    /// The path of the folder or file below the root.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same as written in a configuration: `thoughts/**/handoffs`.
    pub fn pattern(&self) -> PathBuf {
        match &self.only_below {
            Some(only) => self.path.join("**").join(only),
            None => self.path.clone(),
        }
    }

    /// How its documents are arranged.
    pub fn layout(&self) -> FolderLayout {
        self.layout
    }

    /// Its documents, as paths below its root.
    pub fn documents(&self) -> Result<Vec<PathBuf>, FileError> {
        Ok(self.scan(ScanDetail::Names)?.into_paths())
    }

    /// Its documents with their metadata.
    pub fn scan(&self, detail: ScanDetail) -> Result<FolderScan, FileError> {
        const DEPTH: usize = 8;
        let depth = match self.layout {
            FolderLayout::Own | FolderLayout::Pipeline => 2,
            FolderLayout::Folder if self.documents_max.is_some() => NOTES_DEPTH,
            FolderLayout::Folder => DEPTH,
            FolderLayout::Memory => 1,
        };
        let root = match self.root.get() {
            Ok(root) => root,
            Err(error) if error.is_missing() => {
                let folders = vec![(self.path.clone(), FileStamp::default())];
                return Ok(FolderScan { files: Vec::new(), folders });
            }
            Err(error) => return Err(error),
        };
        if is_markdown(&self.path) {
            if let Some(error) = root.access_error(&self.path) {
                return Err(error);
            }
            let stamp = root.stamp(&self.path);
            // Listed as a folder too, so that creating or deleting the file is detected like a
            // folder change.
            return Ok(FolderScan {
                files: stamp.map(|stamp| (self.path.clone(), stamp)).into_iter().collect(),
                folders: vec![(self.path.clone(), stamp.unwrap_or_default())],
            });
        }
        let mut seen = root.scan_below(&self.path, depth, detail)?;
        if self.layout == FolderLayout::Memory {
            let named = |(path, _): &(PathBuf, FileStamp)| {
                path.file_name()
                    .is_some_and(|name| name.as_encoded_bytes().starts_with(b"handoff-"))
            };
            seen.files.retain(named);
        }
        if self.layout == FolderLayout::Folder {
            seen.files.retain(|(path, _)| self.is_candidate(path));
        }
        if let Some(most) = self.documents_max.filter(|most| seen.files.len() > *most) {
            // Names of notes often start with a date, so this keeps the newest.
            let key = |path: &Path| std::cmp::Reverse(path.to_owned());
            seen.files.sort_by_cached_key(|(path, _)| (is_archived(path), key(path)));
            seen.files.truncate(most);
        }
        Ok(seen)
    }

    /// Whether a path below the root belongs to this folder.
    pub fn contains(&self, path: &Path) -> bool {
        let is_document = is_markdown(path) && path != self.path;
        path.starts_with(&self.path)
            && (self.layout != FolderLayout::Folder || !is_document || self.is_candidate(path))
    }

    /// Whether a document can be a handoff. Descriptions of the folder and instructions for agents
    /// are excluded.
    fn is_candidate(&self, path: &Path) -> bool {
        let below = path.strip_prefix(&self.path).unwrap_or(path);
        let name = stem(path).to_lowercase();
        // `README.de` also describes the folder; `index-rebuild` does not.
        let name = name.trim_start_matches(['_', '.']);
        let is_template = name.starts_with("template") || name.ends_with("template");
        let explains = NOT_NOTES.contains(&name.split('.').next().unwrap_or_default());
        let folders = below.parent().into_iter().flat_map(Path::components);
        let folders: Vec<&str> = folders.filter_map(|one| one.as_os_str().to_str()).collect();
        let is_excluded = self.documents_max.is_some()
            && folders
                .iter()
                .any(|folder| NOT_NOTES_FOLDERS.contains(&folder.to_lowercase().as_str()));
        let is_inside = |only: &String| folders.iter().any(|folder| folder == only);
        !is_template && !explains && !is_excluded && self.only_below.as_ref().is_none_or(is_inside)
    }

    /// Whether this folder is inside a folder below the root.
    pub(crate) fn is_in(&self, folder: &Path) -> bool {
        self.path.starts_with(folder)
    }

    /// The path of the document with a key, whether or not it exists.
    pub(crate) fn path_of(&self, key: &HandoffKey) -> PathBuf {
        match &key.stage {
            Some(stage) => self.path.join(&key.id).join(format!("{stage}.md")),
            None => self.path.join(format!("{}.md", key.id)),
        }
    }

    /// The path of the document of a stage in a pipeline.
    pub(crate) fn pipeline_path(&self, folder: &str, id: &str, name: Option<&str>) -> PathBuf {
        let stem = name.map_or_else(|| id.to_owned(), |name| format!("{id}-{name}"));
        self.path.join(folder).join(format!("{stem}.md"))
    }

    /// What the location of a document says about it.
    pub(crate) fn location_of(&self, path: &Path, stages: &Stages) -> Location {
        let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        let stage = match self.layout {
            FolderLayout::Pipeline => folder.and_then(|folder| stages.stage_of_folder(folder)),
            FolderLayout::Own | FolderLayout::Folder | FolderLayout::Memory => None,
        };
        let stem = match self.layout {
            FolderLayout::Own => self.key_for_path(path).map(|key| key.id),
            FolderLayout::Memory => stem(path).strip_prefix("handoff-").map(str::to_owned),
            FolderLayout::Pipeline | FolderLayout::Folder => None,
        };
        Location { stem: stem.unwrap_or_else(|| stem_of(path)), stage: stage.map(str::to_owned) }
    }

    /// The key for a path in midstride's own folder.
    pub(crate) fn key_for_path(&self, path: &Path) -> Option<HandoffKey> {
        if self.layout != FolderLayout::Own {
            return None;
        }
        let below = path.strip_prefix(&self.path).ok()?;
        let stem = stem_of(below);
        match below.parent()?.to_str()? {
            "" => Some(HandoffKey { id: stem, stage: None }),
            id => Some(HandoffKey { id: id.to_owned(), stage: Some(stem) }),
        }
    }

    /// The folder below the root, if it contains nothing but handoffs: midstride's own, or a
    /// pipeline that is in use.
    pub(crate) fn handoffs_only_folder(&self) -> Option<&Path> {
        let in_use = match self.layout {
            FolderLayout::Own => true,
            FolderLayout::Pipeline => self.root().is_ok_and(|root| root.has_folder(&self.path)),
            FolderLayout::Folder | FolderLayout::Memory => false,
        };
        in_use.then_some(self.path.as_path())
    }

    /// The folder that references inside a pipeline are relative to.
    pub(crate) fn reference_base(&self) -> Option<&Path> {
        (self.layout == FolderLayout::Pipeline).then_some(self.path.as_path())
    }
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

fn stem_of(path: &Path) -> String {
    stem(path).to_owned()
}
