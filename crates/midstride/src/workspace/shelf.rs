//! Shelves: the places where handoffs lie, and what a place tells about a document on it.

pub(crate) mod claude_memory;

use crate::sys::files::{FileError, Look, Root, Seen, Stamp, is_markdown};
use midstride_core::format::stage::Stages;
use midstride_core::handoff::Location;
use midstride_core::text::id::HandoffKey;
use std::path::{Path, PathBuf};

/// How documents lie on a shelf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Ours: `<id>.md`, and `<id>/<stage>.md` for the stages of a pipeline.
    Own,
    /// A folder per stage: `briefs/<id>.md` or `briefs/<id>-<name>.md`.
    Pipeline,
    /// Any Markdown in a folder and below it.
    Folder,
    /// Claude Code's memory of a project: `handoff-<topic>.md`.
    Memory,
}

/// A place where handoffs lie.
#[derive(Debug)]
pub struct Shelf {
    layout: Layout,
    root: Root,
    /// The folder below the root, or the one file.
    inside: PathBuf,
    /// The name of the folders below it that count, where not all do.
    only: Option<String>,
    /// How many documents of it are looked at, where there is a limit.
    most: Option<usize>,
}

/// How many notes of one folder are looked at: agents leave them without end.
const NOTES_MAX: usize = 500;
/// How deep notes lie.
const NOTES_DEPTH: usize = 6;

/// Documents that explain a folder rather than the work.
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

/// Folders of agents that hold instructions rather than notes.
const NOT_NOTES_IN: [&str; 11] = [
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

/// Folders of what is over.
const ARCHIVES: [&str; 6] = ["archive", "archived", "archives", "old", "done", "completed"];

/// Whether a document lies in a folder of what is over.
pub(crate) fn is_archived(path: &Path) -> bool {
    let folders = path.parent().into_iter().flat_map(Path::components);
    let mut names = folders.filter_map(|folder| folder.as_os_str().to_str());
    names.any(|name| ARCHIVES.iter().any(|archive| name.eq_ignore_ascii_case(archive)))
}

impl Shelf {
    /// A shelf that lies at `inside` below a root.
    pub fn new(layout: Layout, root: Root, inside: &str) -> Self {
        Self { layout, root, inside: PathBuf::from(inside), only: None, most: None }
    }

    /// A folder in which everything below folders of one name counts: `thoughts/**/handoffs`.
    pub fn nested(root: Root, inside: &str, only: &str) -> Self {
        let only = Some(only.to_owned());
        Self { only, ..Self::notes(root, inside) }
    }

    /// A folder with notes, of which so many are looked at.
    pub fn notes(root: Root, inside: &str) -> Self {
        Self { most: Some(NOTES_MAX), ..Self::new(Layout::Folder, root, inside) }
    }

    /// The same shelf once more.
    pub fn reopen(&self) -> Result<Self, FileError> {
        let root = Root::open(self.root.path())?;
        let (inside, only) = (self.inside.clone(), self.only.clone());
        Ok(Self { layout: self.layout, root, inside, only, most: self.most })
    }

    /// The folder its paths count from.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The folder below the root, or the one file.
    pub fn inside(&self) -> &Path {
        &self.inside
    }

    /// The same as a configuration names it: `thoughts/**/handoffs`.
    pub fn pattern(&self) -> PathBuf {
        match &self.only {
            Some(only) => self.inside.join("**").join(only),
            None => self.inside.clone(),
        }
    }

    /// How documents lie on it.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Its documents, as paths below its root.
    pub fn documents(&self) -> Result<Vec<PathBuf>, FileError> {
        Ok(self.look(Look::Names)?.paths())
    }

    /// Its documents, and how they look from outside.
    pub fn look(&self, look: Look) -> Result<Seen, FileError> {
        const DEPTH: usize = 8;
        let depth = match self.layout {
            Layout::Own | Layout::Pipeline => 2,
            Layout::Folder if self.most.is_some() => NOTES_DEPTH,
            Layout::Folder => DEPTH,
            Layout::Memory => 1,
        };
        if is_markdown(&self.inside) {
            if let Some(error) = self.root.refusal(&self.inside) {
                return Err(error);
            }
            let stamp = self.root.stamp(&self.inside);
            // Whether it is there is seen like the change of a folder.
            return Ok(Seen {
                files: stamp.map(|stamp| (self.inside.clone(), stamp)).into_iter().collect(),
                folders: vec![(self.inside.clone(), stamp.unwrap_or_default())],
            });
        }
        let mut seen = self.root.look_below(&self.inside, depth, look)?;
        if self.layout == Layout::Memory {
            let named = |(path, _): &(PathBuf, Stamp)| {
                path.file_name()
                    .is_some_and(|name| name.as_encoded_bytes().starts_with(b"handoff-"))
            };
            seen.files.retain(named);
        }
        if self.layout == Layout::Folder {
            seen.files.retain(|(path, _)| self.counts(path));
        }
        if let Some(most) = self.most.filter(|most| seen.files.len() > *most) {
            // Names of notes often begin with their day: the newest are kept.
            let key = |path: &Path| std::cmp::Reverse(path.to_owned());
            seen.files.sort_by_cached_key(|(path, _)| (is_archived(path), key(path)));
            seen.files.truncate(most);
        }
        Ok(seen)
    }

    /// Whether a path below the root lies on this shelf.
    pub fn holds(&self, path: &Path) -> bool {
        let is_document = is_markdown(path) && path != self.inside;
        path.starts_with(&self.inside)
            && (self.layout != Layout::Folder || !is_document || self.counts(path))
    }

    /// Whether a document of a folder can be a handoff: what explains the folder is none, nor what
    /// tells agents how to work.
    fn counts(&self, path: &Path) -> bool {
        let below = path.strip_prefix(&self.inside).unwrap_or(path);
        let name = stem(path).to_lowercase();
        // `README.de` explains the folder too; `index-rebuild` is about something.
        let name = name.trim_start_matches(['_', '.']);
        let is_template = name.starts_with("template") || name.ends_with("template");
        let explains = NOT_NOTES.contains(&name.split('.').next().unwrap_or_default());
        let folders = below.parent().into_iter().flat_map(Path::components);
        let folders: Vec<&str> = folders.filter_map(|one| one.as_os_str().to_str()).collect();
        let is_excluded = self.most.is_some()
            && folders.iter().any(|folder| NOT_NOTES_IN.contains(&folder.to_lowercase().as_str()));
        let is_inside = |only: &String| folders.iter().any(|folder| folder == only);
        !is_template && !explains && !is_excluded && self.only.as_ref().is_none_or(is_inside)
    }

    /// Whether the whole shelf lies in a folder below the root.
    pub fn lies_in(&self, folder: &Path) -> bool {
        self.inside.starts_with(folder)
    }

    /// Where the document of a key lies, or would lie.
    pub fn path_of(&self, key: &HandoffKey) -> PathBuf {
        match &key.stage {
            Some(stage) => self.inside.join(&key.id).join(format!("{stage}.md")),
            None => self.inside.join(format!("{}.md", key.id)),
        }
    }

    /// Where the document of a stage lies in a pipeline.
    pub fn pipeline_path(&self, folder: &str, id: &str, name: Option<&str>) -> PathBuf {
        let stem = name.map_or_else(|| id.to_owned(), |name| format!("{id}-{name}"));
        self.inside.join(folder).join(format!("{stem}.md"))
    }

    /// What the place of a document tells about it.
    pub fn whereabouts(&self, path: &Path, stages: &Stages) -> Location {
        let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        let stage = match self.layout {
            Layout::Pipeline => folder.and_then(|folder| stages.stage_of_folder(folder)),
            Layout::Own | Layout::Folder | Layout::Memory => None,
        };
        let stem = match self.layout {
            Layout::Own => self.key_of_place(path).map(|key| key.id),
            Layout::Memory => stem(path).strip_prefix("handoff-").map(str::to_owned),
            Layout::Pipeline | Layout::Folder => None,
        };
        Location { stem: stem.unwrap_or_else(|| stem_of(path)), stage: stage.map(str::to_owned) }
    }

    /// The key that a place on our own shelf stands for.
    pub fn key_of_place(&self, path: &Path) -> Option<HandoffKey> {
        if self.layout != Layout::Own {
            return None;
        }
        let below = path.strip_prefix(&self.inside).ok()?;
        let stem = stem_of(below);
        match below.parent()?.to_str()? {
            "" => Some(HandoffKey { id: stem, stage: None }),
            id => Some(HandoffKey { id: id.to_owned(), stage: Some(stem) }),
        }
    }

    /// The folder below the root where only handoffs lie, if it is such a one: ours, or a pipeline
    /// that is in use.
    pub fn folder_of_handoffs(&self) -> Option<&Path> {
        let in_use = match self.layout {
            Layout::Own => true,
            Layout::Pipeline => self.root.has_folder(&self.inside),
            Layout::Folder | Layout::Memory => false,
        };
        in_use.then_some(self.inside.as_path())
    }

    /// The folder that references inside a pipeline count from.
    pub fn base(&self) -> Option<&Path> {
        (self.layout == Layout::Pipeline).then_some(self.inside.as_path())
    }
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

fn stem_of(path: &Path) -> String {
    stem(path).to_owned()
}
