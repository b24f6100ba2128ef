//! Earlier texts (revisions) of handoffs. In a repository they are blobs that a ref keeps from
//! being garbage-collected; without git they are files in the private folder.

use crate::store::Store;
use crate::store::text_refs::{PRIVATE, SHARED};
use crate::store::tombstone::Tombstone;
use crate::sys::files::{FileError, FileProblem};
use crate::sys::git::{GitError, LazyObjectReader, Repository};
use crate::sys::ids::sha256;
use crate::workspace::StoredHandoff;
use midstride_core::text::id::BlobHash;
use midstride_core::text::redact::CleanText;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Why a text could not be stored or found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RevisionError {
    /// The handoff has fewer revisions.
    #[error("`{key}` has {last} text{}, there is no `{key}@{wanted}`", if *last == 1 { "" } else { "s" })]
    NotFound {
        /// The handoff.
        key: String,
        /// The requested revision.
        wanted: usize,
        /// The number of its newest revision.
        last: usize,
    },
    /// The revision exists, but its text was never copied to this machine.
    #[error("the text of `{key}@{wanted}` is not on this machine")]
    NotLocal {
        /// The handoff.
        key: String,
        /// The requested revision.
        wanted: usize,
    },
    /// The text was deleted for good with `midstride forget`.
    #[error("{text} was forgotten {tombstone}")]
    Forgotten {
        /// A description of the text.
        text: String,
        /// Its tombstone.
        tombstone: Box<Tombstone>,
    },
    /// Git failed to read or store the text.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The texts of one handoff, plus the tombstones of all forgotten texts.
pub(crate) struct TextStore<'p> {
    backend: TextBackend<'p>,
    forgotten: BTreeMap<BlobHash, Tombstone>,
}

/// Where the texts of one handoff are stored.
pub(crate) enum TextBackend<'p> {
    /// As blobs under a reference.
    Blobs { repository: &'p Repository, reference: String, objects: RefCell<LazyObjectReader<'p>> },
    /// As files in the private folder.
    Files(&'p Store),
}

impl<'p> TextStore<'p> {
    /// Returns where the texts are stored.
    pub(crate) fn backend(&self) -> &TextBackend<'p> {
        &self.backend
    }

    /// Stores the text that a change is about to replace and returns its id. A forgotten text is not
    /// stored again, so the change is refused: replacing it would lose it.
    pub(crate) fn store_replaced(&self, text: &CleanText) -> Result<BlobHash, RevisionError> {
        self.store(text, "the text that would be replaced")
    }

    /// Stores the new text of a document and returns its id.
    pub(crate) fn store_new(&self, text: &CleanText) -> Result<BlobHash, RevisionError> {
        self.store(text, "exactly this text")
    }

    fn store(&self, text: &CleanText, description: &str) -> Result<BlobHash, RevisionError> {
        if !self.forgotten.is_empty()
            && let Some(tombstone) = self.forgotten.get(&self.id_of(text))
        {
            let tombstone = Box::new(tombstone.clone());
            return Err(RevisionError::Forgotten { text: description.to_owned(), tombstone });
        }
        match &self.backend {
            TextBackend::Blobs { repository, .. } => {
                Ok(repository.store_blob(text.as_str().as_bytes())?)
            }
            TextBackend::Files(store) => Ok(store.store_in_folder(text)?),
        }
    }

    /// Returns the id that a text would have, without storing it.
    pub(crate) fn id_of(&self, text: &CleanText) -> BlobHash {
        match &self.backend {
            TextBackend::Blobs { repository, .. } => repository.hash_blob(text.as_str().as_bytes()),
            TextBackend::Files(_) => id_in_folder(text),
        }
    }

    /// Keeps stored texts from being garbage-collected.
    pub(crate) fn retain(&self, ids: &[BlobHash]) -> Result<(), RevisionError> {
        match &self.backend {
            TextBackend::Blobs { repository, reference, objects } => {
                Ok(repository.keep_blobs(&mut objects.borrow_mut(), reference, ids)?)
            }
            TextBackend::Files(_) => Ok(()),
        }
    }

    /// The id of the committed text of a document below the working tree.
    pub(crate) fn committed_id(&self, path: &Path) -> Option<BlobHash> {
        match &self.backend {
            TextBackend::Blobs { objects, .. } => {
                let name = format!("HEAD:{}", path.to_str()?);
                objects.borrow_mut().blob_id(&name).ok()?
            }
            TextBackend::Files(_) => None,
        }
    }

    /// The text of a blob; `None` if it is not on this machine.
    pub(crate) fn blob(&self, id: &BlobHash) -> Result<Option<Vec<u8>>, RevisionError> {
        match &self.backend {
            TextBackend::Blobs { objects, .. } => Ok(objects.borrow_mut().blob(id)?),
            TextBackend::Files(_) => Ok(None),
        }
    }

    /// The ids of all retained texts, which midstride must have written.
    pub(crate) fn retained_ids(&self) -> Result<BTreeSet<BlobHash>, RevisionError> {
        match &self.backend {
            TextBackend::Blobs { reference, objects, .. } => {
                let kept = objects.borrow_mut().kept_blobs(reference)?;
                Ok(kept.map(|kept| kept.ids).unwrap_or_default())
            }
            TextBackend::Files(_) => Ok(BTreeSet::new()),
        }
    }
}

impl Store {
    /// The text store of a handoff. A handoff that is not committed uses refs that are never
    /// shared.
    pub(crate) fn text_store(&self, stored: &StoredHandoff, uid: &str) -> TextStore<'_> {
        let backend = match self.workspace().repository() {
            Some(repository) => {
                let mut objects = LazyObjectReader::new(repository);
                let is_committed = self.is_committed(repository, &mut objects, stored);
                let prefix = if is_committed { SHARED } else { PRIVATE };
                let (reference, objects) = (format!("{prefix}/{uid}"), RefCell::new(objects));
                TextBackend::Blobs { repository, reference, objects }
            }
            None => TextBackend::Files(self),
        };
        TextStore { backend, forgotten: self.known_tombstones() }
    }

    /// The text store of a committed handoff; `None` without git.
    pub(crate) fn shared_text_store(&self, uid: &str) -> Option<TextStore<'_>> {
        let repository = self.workspace().repository()?;
        let objects = RefCell::new(LazyObjectReader::new(repository));
        let backend =
            TextBackend::Blobs { repository, reference: format!("{SHARED}/{uid}"), objects };
        Some(TextStore { backend, forgotten: self.known_tombstones() })
    }

    /// Whether others receive this document, and with it its earlier texts.
    pub(crate) fn is_shared(&self, stored: &StoredHandoff) -> bool {
        self.workspace().repository().is_some_and(|repository| {
            self.is_committed(repository, &mut LazyObjectReader::new(repository), stored)
        })
    }

    /// Whether the document is committed, so that everyone with the repository has it.
    fn is_committed(
        &self,
        repository: &Repository,
        objects: &mut LazyObjectReader<'_>,
        stored: &StoredHandoff,
    ) -> bool {
        let inside = self.workspace().path_in_work_tree(stored);
        let private = self.workspace().private_folder_of(stored).is_some();
        // Git does not ignore a file that is in its index. Texts are read anyway, so this starts no
        // extra process.
        let mut is_tracked = |path: &Path| {
            let name = path.to_str().map(|path| format!(":./{path}"));
            name.is_some_and(|name| matches!(objects.blob_id(&name), Ok(Some(_))))
        };
        !private && inside.is_some_and(|path| is_tracked(&path) || !repository.is_ignored(&path))
    }

    /// Removes texts from all refs, so that git can garbage-collect them.
    pub(crate) fn drop_texts(&self, ids: &BTreeSet<BlobHash>) -> Result<(), GitError> {
        let Some(repository) = self.workspace().repository().filter(|_| !ids.is_empty()) else {
            return Ok(());
        };
        for (reference, kept) in repository.kept_blobs_below(&[SHARED, PRIVATE])? {
            if !kept.ids.is_disjoint(ids) {
                repository.drop_blobs(&reference, ids)?;
            }
        }
        Ok(())
    }

    /// Whether one of our refs keeps a text.
    pub(crate) fn is_kept_by_ref(&self, id: &BlobHash) -> Result<bool, GitError> {
        let Some(repository) = self.workspace().repository() else { return Ok(false) };
        let kept = repository.kept_blobs_below(&[SHARED, PRIVATE])?;
        Ok(kept.iter().any(|(_, kept)| kept.ids.contains(id)))
    }

    /// The ids of the texts in the private folder.
    pub(crate) fn texts_in_folder(&self) -> Result<Vec<BlobHash>, FileError> {
        let Some(folder) = self.workspace().private_folder_without_git()? else {
            return Ok(Vec::new());
        };
        let entries = folder.entries(Path::new(TEXTS_FOLDER))?.into_iter();
        Ok(entries
            .filter(|entry| !entry.is_folder)
            .map(|entry| BlobHash::new(entry.name))
            .collect())
    }

    /// Removes a text from the private folder; returns whether it existed.
    pub(crate) fn remove_from_folder(&self, id: &BlobHash) -> Result<bool, FileError> {
        let Some(folder) = self.workspace().private_folder_without_git()? else { return Ok(false) };
        match folder.read(&text_path(id)) {
            Ok(text) => folder.remove(&text_path(id), &text).map(|()| true),
            Err(FileError { problem: FileProblem::NotFound, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn store_in_folder(&self, text: &CleanText) -> Result<BlobHash, FileError> {
        let id = id_in_folder(text);
        match self.workspace().make_private()?.create(&text_path(&id), text.as_str().as_bytes()) {
            Ok(()) | Err(FileError { problem: FileProblem::Exists, .. }) => Ok(id),
            Err(error) => Err(error),
        }
    }

    /// A stored text; `None` if it is not on this machine.
    pub(crate) fn stored_text(&self, id: &BlobHash) -> Result<Option<Vec<u8>>, FileError> {
        if !id.as_str().bytes().all(|byte| byte.is_ascii_hexdigit()) || id.as_str().is_empty() {
            return Ok(None);
        }
        let blob = self.workspace().repository().and_then(|repository| repository.blob(id));
        if blob.is_some() {
            return Ok(blob);
        }
        // A text stored before the project became a repository is in the private folder.
        let Some(folder) = self.workspace().private_folder_without_git()? else { return Ok(None) };
        match folder.read(&text_path(id)) {
            Ok(text) => Ok(Some(text)),
            Err(FileError { problem: FileProblem::NotFound, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The text of a revision, counted from 1; the last revision is the current document.
    pub fn revision_text(
        &self,
        stored: &StoredHandoff,
        wanted: usize,
    ) -> Result<Vec<u8>, RevisionError> {
        let handoff = stored.handoff(self.workspace());
        let key = handoff.key().to_string();
        let replaced = handoff.replaced_texts();
        let last = replaced.len() + 1;
        if wanted == last {
            return Ok(stored.bytes.clone());
        }
        let id = wanted.checked_sub(1).and_then(|index| replaced.get(index));
        let id = id.ok_or_else(|| RevisionError::NotFound { key: key.clone(), wanted, last })?;
        let Some(id) = id.map(|id| BlobHash::new(id.value.trim())) else {
            return Err(RevisionError::NotLocal { key, wanted });
        };
        if let Some(tombstone) = self.tombstone(&id).map(Box::new) {
            let text = format!("the text of `{key}@{wanted}`");
            return Err(RevisionError::Forgotten { text, tombstone });
        }
        self.stored_text(&id)?.ok_or(RevisionError::NotLocal { key, wanted })
    }

    /// Whether a handoff had exactly this text before.
    pub(crate) fn had_text(&self, stored: &StoredHandoff, text: &CleanText) -> bool {
        let replaced = stored.handoff(self.workspace()).replaced_texts();
        if replaced.iter().flatten().next().is_none() {
            return false;
        }
        let blob = self.workspace().repository().map(|git| git.hash_blob(text.as_str().as_bytes()));
        let known = [Some(id_in_folder(text)), blob];
        let mut ids = replaced.iter().flatten().map(|id| id.value.trim());
        ids.any(|id| known.iter().flatten().any(|known| known.as_str() == id))
    }
}

fn id_in_folder(text: &CleanText) -> BlobHash {
    BlobHash::new(sha256(text.as_str().as_bytes()))
}

/// The folder of the texts, inside the private folder.
const TEXTS_FOLDER: &str = "texts";

fn text_path(id: &BlobHash) -> PathBuf {
    Path::new(TEXTS_FOLDER).join(id.as_str())
}
