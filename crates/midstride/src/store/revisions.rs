//! Texts that a handoff had before. In a repository they are blobs that a reference keeps alive;
//! without git they are files in the private folder.

use crate::store::tombstone::Tombstone;
use crate::sys::files::{FileError, FileProblem};
use crate::sys::git::{GitError, Repository};
use crate::sys::ids::sha256;
use crate::workspace::project::{Project, StoredHandoff};
use midstride_core::text::redact::CleanText;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// References to the texts of handoffs that everybody may read; `midstride sync` shares them.
pub const SHARED: &str = "refs/midstride/handoffs";
/// References to the texts of handoffs that are not committed; they stay on this machine.
pub const PRIVATE: &str = "refs/midstride-private/handoffs";

/// Why a text could not be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    /// The handoff has fewer revisions.
    #[error("`{key}` has {last} text{}, there is no `{key}@{wanted}`", if *last == 1 { "" } else { "s" })]
    NotFound {
        /// The handoff.
        key: String,
        /// What was asked for.
        wanted: usize,
        /// The number of its newest text.
        last: usize,
    },
    /// The text was made elsewhere and never came here.
    #[error("the text of `{key}@{wanted}` is not on this machine")]
    NotLocal {
        /// The handoff.
        key: String,
        /// What was asked for.
        wanted: usize,
    },
    /// Somebody had it removed for good.
    #[error("{text} was forgotten {tombstone}")]
    Forgotten {
        /// Which text, in words.
        text: String,
        /// What is left of it.
        tombstone: Box<Tombstone>,
    },
    /// Git did not keep it.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The texts of one handoff, and what of all texts was forgotten.
pub(crate) struct TextStore<'p> {
    backend: TextBackend<'p>,
    forgotten: BTreeMap<String, Tombstone>,
}

/// Where the texts of one handoff are kept.
pub(crate) enum TextBackend<'p> {
    /// As blobs under a reference.
    Blobs { repository: &'p Repository, reference: String },
    /// As files in the private folder.
    Files(&'p Project),
}

impl<'p> TextStore<'p> {
    /// Where they are kept.
    pub(crate) fn backend(&self) -> &TextBackend<'p> {
        &self.backend
    }

    /// Stores a text and gives back its id. One that was forgotten is only named.
    pub(crate) fn store(&self, text: &CleanText) -> Result<String, RevisionError> {
        if !self.forgotten.is_empty() {
            let id = self.id_of(text)?;
            if self.forgotten.contains_key(&id) {
                return Ok(id);
            }
        }
        match &self.backend {
            TextBackend::Blobs { repository, .. } => {
                Ok(repository.store_blob(text.as_str().as_bytes())?)
            }
            TextBackend::Files(project) => Ok(project.store_in_folder(text)?),
        }
    }

    /// The same for a text that a document is about to have: one that was forgotten is refused.
    pub(crate) fn store_new(&self, text: &CleanText) -> Result<String, RevisionError> {
        let id = self.store(text)?;
        match self.forgotten.get(&id) {
            Some(tombstone) => {
                let tombstone = Box::new(tombstone.clone());
                Err(RevisionError::Forgotten { text: "exactly this text".to_owned(), tombstone })
            }
            None => Ok(id),
        }
    }

    /// The id that a text would have.
    pub(crate) fn id_of(&self, text: &CleanText) -> Result<String, RevisionError> {
        match &self.backend {
            TextBackend::Blobs { repository, .. } => {
                Ok(repository.hash_blob(text.as_str().as_bytes())?)
            }
            TextBackend::Files(_) => Ok(id_in_folder(text)),
        }
    }

    /// Keeps stored texts for good, but for what was forgotten.
    pub(crate) fn retain(&self, ids: &[String]) -> Result<(), RevisionError> {
        let lasting = ids.iter().filter(|id| !self.forgotten.contains_key(*id));
        let lasting: Vec<String> = lasting.cloned().collect();
        match &self.backend {
            TextBackend::Blobs { repository, reference } => {
                Ok(repository.keep_blobs(reference, &lasting)?)
            }
            TextBackend::Files(_) => Ok(()),
        }
    }

    /// The ids of all texts that were kept before, and so were written by midstride.
    pub(crate) fn retained_ids(&self) -> Result<BTreeSet<String>, RevisionError> {
        match &self.backend {
            TextBackend::Blobs { repository, reference } => {
                Ok(repository.kept_blobs(reference)?.map(|kept| kept.ids).unwrap_or_default())
            }
            TextBackend::Files(_) => Ok(BTreeSet::new()),
        }
    }
}

impl Project {
    /// Where the texts of a handoff are kept: apart where nobody else is meant to read it.
    pub(crate) fn text_store(&self, shelved: &StoredHandoff, uid: &str) -> TextStore<'_> {
        let place = match self.repository() {
            Some(repository) => {
                let prefix = if self.is_committed(repository, shelved) { SHARED } else { PRIVATE };
                TextBackend::Blobs { repository, reference: format!("{prefix}/{uid}") }
            }
            None => TextBackend::Files(self),
        };
        TextStore { backend: place, forgotten: self.known_tombstones() }
    }

    /// Where the texts of a committed handoff are kept; `None` without git.
    pub(crate) fn shared_text_store(&self, uid: &str) -> Option<TextStore<'_>> {
        let repository = self.repository()?;
        let place = TextBackend::Blobs { repository, reference: format!("{SHARED}/{uid}") };
        Some(TextStore { backend: place, forgotten: self.known_tombstones() })
    }

    /// Whether others get a document, and so the texts that it had before.
    pub(crate) fn is_shared(&self, shelved: &StoredHandoff) -> bool {
        self.repository().is_some_and(|repository| self.is_committed(repository, shelved))
    }

    /// Whether a document goes to everybody who has the repository.
    fn is_committed(&self, repository: &Repository, shelved: &StoredHandoff) -> bool {
        let inside = self.path_in_work_tree(shelved);
        let private = self.private_folder_of(shelved).is_some();
        !private && inside.is_some_and(|path| !repository.is_ignored(&path))
    }

    /// Keeps texts alive no longer under any reference.
    pub(crate) fn drop_texts(&self, ids: &BTreeSet<String>) -> Result<(), GitError> {
        let Some(repository) = self.repository().filter(|_| !ids.is_empty()) else {
            return Ok(());
        };
        for (reference, kept) in repository.kept_blobs_below(&[SHARED, PRIVATE])? {
            if !kept.ids.is_disjoint(ids) {
                repository.drop_blobs(&reference, ids)?;
            }
        }
        Ok(())
    }

    /// The ids of the texts that lie in the folder.
    pub(crate) fn texts_in_folder(&self) -> Result<Vec<String>, FileError> {
        let Some(folder) = self.private_folder_without_git()? else { return Ok(Vec::new()) };
        let entries = folder.entries(Path::new(TEXTS_FOLDER))?.into_iter();
        Ok(entries.filter(|entry| !entry.is_folder).map(|entry| entry.name).collect())
    }

    /// Removes a text from the folder; says whether it was there.
    pub(crate) fn remove_from_folder(&self, id: &str) -> Result<bool, FileError> {
        let Some(folder) = self.private_folder_without_git()? else { return Ok(false) };
        match folder.read(&text_path(id)) {
            Ok(text) => folder.remove(&text_path(id), &text).map(|()| true),
            Err(FileError { problem: FileProblem::NotFound, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn store_in_folder(&self, text: &CleanText) -> Result<String, FileError> {
        let id = id_in_folder(text);
        match self.make_private()?.create(&text_path(&id), text.as_str().as_bytes()) {
            Ok(()) | Err(FileError { problem: FileProblem::Exists, .. }) => Ok(id),
            Err(error) => Err(error),
        }
    }

    /// A kept text; `None` where it is not on this machine.
    pub(crate) fn stored_text(&self, id: &str) -> Result<Option<Vec<u8>>, FileError> {
        if !id.bytes().all(|byte| byte.is_ascii_hexdigit()) || id.is_empty() {
            return Ok(None);
        }
        let blob = self.repository().and_then(|repository| repository.blob(id));
        if blob.is_some() {
            return Ok(blob);
        }
        // Texts from the time before there was a repository lie in the folder.
        let Some(folder) = self.private_folder_without_git()? else { return Ok(None) };
        match folder.read(&text_path(id)) {
            Ok(text) => Ok(Some(text)),
            Err(FileError { problem: FileProblem::NotFound, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The text of a revision, counted from one; the last one is the document as it is.
    pub fn revision_text(
        &self,
        shelved: &StoredHandoff,
        wanted: usize,
    ) -> Result<Vec<u8>, RevisionError> {
        let handoff = shelved.handoff(self);
        let key = handoff.key().to_string();
        let replaced = handoff.replaced_texts();
        let last = replaced.len() + 1;
        if wanted == last {
            return Ok(shelved.bytes.clone());
        }
        let id = wanted.checked_sub(1).and_then(|index| replaced.get(index));
        let id = id.ok_or_else(|| RevisionError::NotFound { key: key.clone(), wanted, last })?;
        let Some(id) = id.map(|id| id.value.trim()) else {
            return Err(RevisionError::NotLocal { key, wanted });
        };
        if let Some(tombstone) = self.tombstone(id).map(Box::new) {
            let text = format!("the text of `{key}@{wanted}`");
            return Err(RevisionError::Forgotten { text, tombstone });
        }
        self.stored_text(id)?.ok_or(RevisionError::NotLocal { key, wanted })
    }

    /// Whether a handoff had exactly this text before.
    pub(crate) fn had_text(
        &self,
        shelved: &StoredHandoff,
        text: &CleanText,
    ) -> Result<bool, RevisionError> {
        let replaced = shelved.handoff(self).replaced_texts();
        if replaced.iter().flatten().next().is_none() {
            return Ok(false);
        }
        let blob = self.repository().map(|git| git.hash_blob(text.as_str().as_bytes()));
        let known = [Some(id_in_folder(text)), blob.transpose()?];
        let mut ids = replaced.iter().flatten().map(|id| id.value.trim());
        Ok(ids.any(|id| known.iter().flatten().any(|known| known == id)))
    }
}

fn id_in_folder(text: &CleanText) -> String {
    sha256(text.as_str().as_bytes())
}

/// The folder of the texts, with what is never committed.
const TEXTS_FOLDER: &str = "texts";

fn text_path(id: &str) -> PathBuf {
    Path::new(TEXTS_FOLDER).join(id)
}
