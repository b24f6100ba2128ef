//! Finding one handoff by what a person typed: a path, a key, an id or the start of one.

use super::{DocumentPlace, Project, StoredHandoff};
use crate::sys::files::{self, FileError};
use crate::workspace::folder::HandoffFolder;
use midstride_core::text::id::{HandoffId, HandoffKey, nearest_match};
use std::path::{Path, PathBuf};

/// Why no single handoff was found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Nothing fits.
    #[error("there is no handoff `{wanted}`")]
    NotFound {
        /// What was typed.
        wanted: String,
        /// What may have been meant.
        nearest: Option<String>,
    },
    /// Several fit.
    #[error("`{wanted}` can mean {} handoffs", candidates.len())]
    Several {
        /// What was typed.
        wanted: String,
        /// What it can mean, with the place of each.
        candidates: Vec<(HandoffKey, PathBuf)>,
    },
    /// The path leads to something that is no Markdown.
    #[error("`{0}` is no Markdown file")]
    NotMarkdown(String),
    /// The path leads out of the project.
    #[error("`{0}` lies outside the project")]
    Outside(String),
    /// A file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Project {
    /// Finds the one handoff that is meant.
    pub fn find(&self, wanted: &str) -> Result<StoredHandoff, FindError> {
        let typed = self.environment.folder.join(wanted);
        if wanted.contains('.') && !self.is_path(wanted) && files::is_file(&typed) {
            return Err(FindError::NotMarkdown(wanted.to_owned()));
        }
        if self.is_path(wanted) {
            let spot = self.place_of_path(Path::new(wanted));
            return Ok(self.read(&spot.ok_or_else(|| FindError::Outside(wanted.to_owned()))?)?);
        }
        if let Some(shelved) = self.find_by_place(wanted)? {
            return Ok(shelved);
        }
        self.find_by_reading(wanted)
    }

    /// The place of the document that a word names: by its path, counted from where the user is or
    /// from the root, or by the name of its file without its ending.
    pub(crate) fn place_named(&self, word: &str) -> Option<DocumentPlace> {
        let is_there = |spot: &DocumentPlace| {
            spot.folder.is_some() && self.root_of(spot).exists(&spot.relative_path)
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
        let at = |(index, shelf): (usize, &HandoffFolder)| {
            let inside = shelf.path_of(&key);
            let is_ours = shelf.contains(&inside) && shelf.root().exists(&inside);
            is_ours.then_some(DocumentPlace { folder: Some(index), relative_path: inside })
        };
        self.folders.iter().enumerate().find_map(at)
    }

    /// The only document whose path ends as a word says.
    pub(crate) fn place_ending_with(
        &self,
        word: &str,
        spots: &[DocumentPlace],
    ) -> Option<DocumentPlace> {
        let mut fitting = spots.iter().filter(|spot| self.display_path(spot).ends_with(word));
        let first = fitting.next()?;
        fitting.next().is_none().then(|| first.clone())
    }

    /// Something that looks like a path and is one.
    fn is_path(&self, wanted: &str) -> bool {
        let path = Path::new(wanted);
        let looks = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
        looks && files::exists(&self.environment.folder.join(path))
    }

    /// The document whose place says its key: no other document is looked at, however many there
    /// are.
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
        for (index, shelf) in self.folders.iter().enumerate() {
            if shelf.key_for_path(&shelf.path_of(&key)).is_some() {
                let inside = shelf.path_of(&key);
                if shelf.root().exists(&inside) {
                    found.push(DocumentPlace { folder: Some(index), relative_path: inside });
                }
            }
        }
        match found.as_slice() {
            [] => Ok(None),
            [one] => {
                let shelved = self.read(one)?;
                // A file that was renamed by hand says another id than its place.
                Ok(Some(shelved).filter(|shelved| shelved.handoff(self).id() == id))
            }
            several => {
                let candidates = several.iter().map(|spot| (key.clone(), self.display_path(spot)));
                Err(FindError::Several {
                    wanted: wanted.to_owned(),
                    candidates: candidates.collect(),
                })
            }
        }
    }

    /// Reads all documents: the exact key, else the exact id, else the start of one.
    fn find_by_reading(&self, wanted: &str) -> Result<StoredHandoff, FindError> {
        let mut all: Vec<StoredHandoff> =
            self.read_all().into_iter().filter_map(Result::ok).collect();
        let keys: Vec<HandoffKey> = all.iter().map(|shelved| shelved.handoff(self).key()).collect();
        let fitting = |fits: &dyn Fn(&HandoffKey) -> bool| -> Vec<usize> {
            (0..keys.len()).filter(|index| fits(&keys[*index])).collect()
        };
        let ways: [&dyn Fn(&HandoffKey) -> bool; 3] =
            [&|key| key.to_string() == wanted, &|key| key.id == wanted, &|key| {
                key.to_string().starts_with(wanted) && !wanted.is_empty()
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
