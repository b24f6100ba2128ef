//! Shelves: the places where handoffs lie, and what a place tells about a document on it.

pub(crate) mod claude_memory;

use crate::files::{FileError, Look, Root, Seen, Stamp, is_markdown};
use midstride_core::handoff::Whereabouts;
use midstride_core::id::HandoffKey;
use midstride_core::stage::Stages;
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
}

impl Shelf {
    /// A shelf that lies at `inside` below a root.
    pub fn new(layout: Layout, root: Root, inside: &str) -> Self {
        Self { layout, root, inside: PathBuf::from(inside) }
    }

    /// The same shelf once more.
    pub fn reopen(&self) -> Result<Self, FileError> {
        let root = Root::open(self.root.path())?;
        Ok(Self { layout: self.layout, root, inside: self.inside.clone() })
    }

    /// The folder its paths count from.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The folder below the root, or the one file.
    pub fn inside(&self) -> &Path {
        &self.inside
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
        Ok(seen)
    }

    /// Whether a path below the root lies on this shelf.
    pub fn holds(&self, path: &Path) -> bool {
        path.starts_with(&self.inside)
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
    pub fn whereabouts(&self, path: &Path, stages: &Stages) -> Whereabouts {
        let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        let stage = match self.layout {
            Layout::Pipeline => folder.and_then(|folder| stages.of_folder(folder)),
            Layout::Own | Layout::Folder | Layout::Memory => None,
        };
        let stem = match self.layout {
            Layout::Own => self.key_of_place(path).map(|key| key.id),
            Layout::Memory => stem(path).strip_prefix("handoff-").map(str::to_owned),
            Layout::Pipeline | Layout::Folder => None,
        };
        Whereabouts { stem: stem.unwrap_or_else(|| stem_of(path)), stage: stage.map(str::to_owned) }
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
