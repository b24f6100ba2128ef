//! Finds one handoff by what the user typed: a path, a key, an id or the start of one.

use super::{DocumentPlace, StoredHandoff, Workspace};
use crate::sys::files::{self, FileError, Root};
use crate::workspace::folder::HandoffFolder;
use midstride_core::text::id::{HandoffId, HandoffKey, nearest_match};
use std::path::{Path, PathBuf};

/// Why no single handoff was found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// Nothing matches.
    #[error("there is no handoff `{wanted}`")]
    NotFound {
        /// What was typed.
        wanted: String,
        /// The closest match.
        nearest: Option<String>,
    },
    /// Several match.
    #[error("`{wanted}` matches {} handoffs", candidates.len())]
    Several {
        /// What was typed.
        wanted: String,
        /// The matches with their paths.
        candidates: Vec<(HandoffKey, PathBuf)>,
    },
    /// The path is not a Markdown file.
    #[error("`{0}` is not a Markdown file")]
    NotMarkdown(String),
    /// The path leads out of the project.
    #[error("`{0}` is outside the project")]
    Outside(String),
    /// A file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Workspace {
    /// Finds the one handoff that matches.
    pub fn find(&self, wanted: &str) -> Result<StoredHandoff, FindError> {
        let typed = self.environment.folder.join(wanted);
        if wanted.contains('.') && !self.is_path(wanted) && files::is_file(&typed) {
            return Err(FindError::NotMarkdown(wanted.to_owned()));
        }
        if self.is_path(wanted) {
            let place = self.place_of_path(Path::new(wanted));
            return Ok(self.read(&place.ok_or_else(|| FindError::Outside(wanted.to_owned()))?)?);
        }
        if let Some(stored) = self.find_by_place(wanted)? {
            return Ok(stored);
        }
        self.find_by_reading(wanted)
    }

    /// The place of the document that a word names: by its path, relative to the current folder or
    /// the root, or by its file name without extension.
    pub(crate) fn place_named(&self, word: &str) -> Option<DocumentPlace> {
        let is_there = |place: &DocumentPlace| {
            let exists = |root: &Root| root.exists(&place.relative_path);
            place.folder.is_some() && self.root_of(place).is_ok_and(exists)
        };
        if files::is_markdown(Path::new(word)) {
            let from_root = self.root.path().join(word);
            let ways = [Path::new(word), &from_root].into_iter();
            return ways.filter_map(|path| self.place_of_path(path)).find(is_there);
        }
        let (id, stage) = word.split_once('/').map_or((word, None), |(id, rest)| (id, Some(rest)));
        let safe = |text: &str| HandoffId::parse(&text.to_lowercase()).is_ok();
        if !safe(id) || !stage.is_none_or(safe) {
            return None;
        }
        let key = HandoffKey { id: id.to_owned(), stage: stage.map(str::to_owned) };
        let at = |(index, folder): (usize, &HandoffFolder)| {
            let inside = folder.path_of(&key);
            let is_ours = folder.contains(&inside) && folder.exists(&inside);
            is_ours.then_some(DocumentPlace { folder: Some(index), relative_path: inside })
        };
        self.folders.iter().enumerate().find_map(at)
    }

    /// The key that the place of a document determines, without reading it.
    pub(crate) fn key_of_place(&self, place: &DocumentPlace) -> Option<HandoffKey> {
        self.folders.get(place.folder?)?.key_for_path(&place.relative_path)
    }

    /// The document whose path ends with a word, if there is exactly one.
    pub(crate) fn place_ending_with(
        &self,
        word: &str,
        places: &[DocumentPlace],
    ) -> Option<DocumentPlace> {
        let mut fitting = places.iter().filter(|place| self.display_path(place).ends_with(word));
        let first = fitting.next()?;
        fitting.next().is_none().then(|| first.clone())
    }

    /// Whether the text looks like a Markdown path and exists.
    fn is_path(&self, wanted: &str) -> bool {
        let path = Path::new(wanted);
        let looks = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
        looks && files::exists(&self.environment.folder.join(path))
    }

    /// The document whose place determines its key. Reads no other document, regardless of their
    /// number.
    fn find_by_place(&self, wanted: &str) -> Result<Option<StoredHandoff>, FindError> {
        let (id, stage) = match wanted.split_once('/') {
            Some((id, stage)) => (id, Some(stage.to_owned())),
            None => (wanted, None),
        };
        let safe = |text: &str| HandoffId::parse(text).is_ok();
        if !safe(id) || !stage.as_deref().is_none_or(safe) {
            return Ok(None);
        }
        let key = HandoffKey { id: id.to_owned(), stage };
        let mut found = Vec::new();
        for (index, folder) in self.folders.iter().enumerate() {
            if folder.key_for_path(&folder.path_of(&key)).is_some() {
                let inside = folder.path_of(&key);
                if folder.exists(&inside) {
                    found.push(DocumentPlace { folder: Some(index), relative_path: inside });
                }
            }
        }
        match found.as_slice() {
            [] => Ok(None),
            [one] => {
                let stored = self.read(one)?;
                // A file that was renamed by hand has a different id than its place.
                Ok(Some(stored).filter(|stored| stored.handoff(self).id() == id))
            }
            several => {
                let candidates =
                    several.iter().map(|place| (key.clone(), self.display_path(place)));
                Err(FindError::Several {
                    wanted: wanted.to_owned(),
                    candidates: candidates.collect(),
                })
            }
        }
    }

    /// Reads all documents and matches the exact key, else the exact id, else the start of a key.
    fn find_by_reading(&self, wanted: &str) -> Result<StoredHandoff, FindError> {
        let mut all: Vec<StoredHandoff> =
            self.read_all().into_iter().filter_map(Result::ok).collect();
        let keys: Vec<HandoffKey> = all.iter().map(|stored| stored.handoff(self).key()).collect();
        let fitting = |fits: &dyn Fn(&HandoffKey) -> bool| -> Vec<usize> {
            (0..keys.len()).filter(|index| fits(&keys[*index])).collect()
        };
        let ways: [&dyn Fn(&HandoffKey) -> bool; 3] =
            [&|key| key.to_string() == wanted, &|key| key.id == wanted, &|key| {
                key.has_prefix(wanted)
            }];
        let found = ways.iter().map(|way| fitting(*way)).find(|found| !found.is_empty());
        match found.unwrap_or_default().as_slice() {
            [] => {
                let names: Vec<String> = keys.iter().map(ToString::to_string).collect();
                let near =
                    nearest_match(wanted, names.iter().map(String::as_str)).map(str::to_owned);
                Err(FindError::NotFound { wanted: wanted.to_owned(), nearest: near })
            }
            [one] => Ok(all.swap_remove(*one)),
            several => {
                let candidates = several.iter().map(|i| (keys[*i].clone(), all[*i].path.clone()));
                Err(FindError::Several {
                    wanted: wanted.to_owned(),
                    candidates: candidates.collect(),
                })
            }
        }
    }
}
