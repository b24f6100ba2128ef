//! Earlier texts (revisions) of handoffs. In a repository they are blobs that a ref keeps from
//! being garbage-collected: in the project's repository once the handoff is committed, else in our
//! own. Without git they are files in the private folder.

use crate::store::Store;
use crate::store::ledger::LocalLedger as _;
use crate::store::text_refs::{PRIVATE, SHARED};
use crate::store::tombstone::Tombstone;
use crate::sys::files::{FileError, FileProblem};
use crate::sys::git::{GitError, LazyObjectReader, RemovalOutcome, Repository};
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
    #[error("`{key}` has {last} revision{}; there is no `{key}@{wanted}`", if *last == 1 { "" } else { "s" })]
    NotFound {
        /// The handoff.
        key: String,
        /// The requested revision.
        wanted: usize,
        /// The number of its newest revision.
        last: usize,
    },
    /// The revision exists, but its text was never copied to this machine.
    #[error("revision `{key}@{wanted}` is not stored on this machine")]
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
    Blobs(BlobTexts<'p>),
    /// As files in the private folder.
    Files(&'p Store),
}

/// The blobs of one handoff.
pub(crate) struct BlobTexts<'p> {
    store: &'p Store,
    project: &'p Repository,
    /// Reads the objects of the project.
    objects: RefCell<LazyObjectReader<'p>>,
    /// The reference that keeps them, in the project and in our own repository.
    reference: String,
    /// Whether new texts go to the project. Before the handoff is committed, they go to our own
    /// repository.
    is_committed: bool,
}

impl BlobTexts<'_> {
    fn store(&self, text: &[u8]) -> Result<BlobHash, GitError> {
        match self.is_committed {
            true => self.project.store_blob(text),
            false => self.store.make_own_texts()?.store_blob(text),
        }
    }

    /// Keeps stored texts from being garbage-collected. The first texts of a committed handoff bring
    /// those along that waited for the commit.
    fn retain(&self, ids: &[BlobHash]) -> Result<(), GitError> {
        let reference = &self.reference;
        if !self.is_committed {
            let own = self.store.make_own_texts()?;
            return own.keep_blobs(&mut LazyObjectReader::new(own), reference, ids);
        }
        let objects = &mut self.objects.borrow_mut();
        match self.store.own_texts() {
            Some(own) => own.move_blobs(objects, reference, ids, &|_| Ok(())),
            None => self.project.keep_blobs(objects, reference, ids),
        }
    }

    fn blob(&self, id: &BlobHash) -> Result<Option<Vec<u8>>, GitError> {
        let own = self.store.own_texts();
        if let Some(text) = own.and_then(|own| own.loose_blob(id)) {
            return Ok(Some(text));
        }
        let text = self.objects.borrow_mut().blob(id)?;
        Ok(text.or_else(|| own?.blob(id)))
    }

    /// The ids in both repositories. Each may have some: until the texts of a committed handoff are
    /// moved, or those that an earlier version stored.
    fn retained_ids(&self) -> Result<BTreeSet<BlobHash>, GitError> {
        let in_project = self.objects.borrow_mut().kept_blobs(&self.reference)?;
        let in_own = match self.store.own_texts() {
            Some(own) => LazyObjectReader::new(own).kept_blobs(&self.reference)?,
            None => None,
        };
        Ok(in_project.into_iter().chain(in_own).flat_map(|kept| kept.ids).collect())
    }
}

/// Who gets the texts of a handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextAudience {
    /// The handoff is in the checked-out commit: everyone with whom the user shares the repository.
    Everyone,
    /// The handoff can be committed: everyone, once it is.
    EveryoneLater,
    /// The handoff is in the private folder, or git ignores it.
    Nobody,
}

impl TextAudience {
    fn prefix(self) -> &'static str {
        match self {
            Self::Everyone | Self::EveryoneLater => SHARED,
            Self::Nobody => PRIVATE,
        }
    }
}

/// A reference and the texts it keeps.
pub(crate) struct TextRef {
    /// The file name of the handoff's uid.
    pub(crate) uid: String,
    /// Whether `midstride sync` shares the texts.
    pub(crate) is_shared: bool,
    /// The ids of the texts.
    pub(crate) ids: BTreeSet<BlobHash>,
}

impl<'p> TextStore<'p> {
    /// Returns where the texts are stored.
    pub(crate) fn backend(&self) -> &TextBackend<'p> {
        &self.backend
    }

    /// Stores the text that a change is about to replace and returns its id. A forgotten text is not
    /// stored again, so the change is refused: replacing it would lose it.
    pub(crate) fn store_replaced(&self, text: &CleanText) -> Result<BlobHash, RevisionError> {
        self.store(text, "the version to be replaced")
    }

    /// Stores the new text of a document and returns its id.
    pub(crate) fn store_new(&self, text: &CleanText) -> Result<BlobHash, RevisionError> {
        self.store(text, "this exact content")
    }

    fn store(&self, text: &CleanText, description: &str) -> Result<BlobHash, RevisionError> {
        if !self.forgotten.is_empty()
            && let Some(tombstone) = self.forgotten.get(&self.id_of(text))
        {
            let tombstone = Box::new(tombstone.clone());
            return Err(RevisionError::Forgotten { text: description.to_owned(), tombstone });
        }
        match &self.backend {
            TextBackend::Blobs(blobs) => Ok(blobs.store(text.as_str().as_bytes())?),
            TextBackend::Files(store) => Ok(store.store_in_folder(text)?),
        }
    }

    /// Returns the id that a text would have, without storing it.
    pub(crate) fn id_of(&self, text: &CleanText) -> BlobHash {
        match &self.backend {
            TextBackend::Blobs(blobs) => blobs.project.hash_blob(text.as_str().as_bytes()),
            TextBackend::Files(_) => id_in_folder(text),
        }
    }

    /// Keeps stored texts from being garbage-collected.
    pub(crate) fn retain(&self, ids: &[BlobHash]) -> Result<(), RevisionError> {
        match &self.backend {
            TextBackend::Blobs(blobs) => Ok(blobs.retain(ids)?),
            TextBackend::Files(_) => Ok(()),
        }
    }

    /// The id of the committed text of a document below the working tree.
    pub(crate) fn committed_id(&self, path: &Path) -> Option<BlobHash> {
        match &self.backend {
            TextBackend::Blobs(blobs) => {
                let name = format!("HEAD:{}", path.to_str()?);
                blobs.objects.borrow_mut().blob_id(&name).ok()?
            }
            TextBackend::Files(_) => None,
        }
    }

    /// The text of a blob; `None` if it is not on this machine.
    pub(crate) fn blob(&self, id: &BlobHash) -> Result<Option<Vec<u8>>, RevisionError> {
        match &self.backend {
            TextBackend::Blobs(blobs) => Ok(blobs.blob(id)?),
            TextBackend::Files(_) => Ok(None),
        }
    }

    /// The ids of all retained texts, which midstride must have written.
    pub(crate) fn retained_ids(&self) -> Result<BTreeSet<BlobHash>, RevisionError> {
        match &self.backend {
            TextBackend::Blobs(blobs) => Ok(blobs.retained_ids()?),
            TextBackend::Files(_) => Ok(BTreeSet::new()),
        }
    }
}

impl Store {
    /// The text store of a handoff. Texts of a handoff that is not committed are not stored in the
    /// project's repository.
    pub(crate) fn text_store(&self, stored: &StoredHandoff, uid: &str) -> TextStore<'_> {
        let forgotten = self.known_tombstones();
        let backend = match self.workspace().repository() {
            Some(project) => {
                let mut objects = LazyObjectReader::new(project);
                let audience = self.audience(project, &mut objects, stored);
                TextBackend::Blobs(BlobTexts {
                    store: self,
                    project,
                    objects: RefCell::new(objects),
                    reference: format!("{}/{uid}", audience.prefix()),
                    is_committed: audience == TextAudience::Everyone,
                })
            }
            None => TextBackend::Files(self),
        };
        TextStore { backend, forgotten }
    }

    /// The text store of a committed handoff; `None` without git.
    pub(crate) fn shared_text_store(&self, uid: &str) -> Option<TextStore<'_>> {
        let project = self.workspace().repository()?;
        let backend = TextBackend::Blobs(BlobTexts {
            store: self,
            project,
            objects: RefCell::new(LazyObjectReader::new(project)),
            reference: format!("{SHARED}/{uid}"),
            is_committed: true,
        });
        Some(TextStore { backend, forgotten: self.known_tombstones() })
    }

    /// The ids of the texts that stay on this machine, with the stores that have them.
    pub(crate) fn private_texts(
        &self,
    ) -> Result<Vec<(TextStore<'_>, BTreeSet<BlobHash>)>, RevisionError> {
        let store = |backend| TextStore { backend, forgotten: self.known_tombstones() };
        let mut found = Vec::new();
        if let Some(project) = self.workspace().repository() {
            // A handoff that was shared later has its texts in both places.
            let shared = project.kept_blobs_below(&[SHARED])?.into_iter();
            let shared: BTreeSet<BlobHash> = shared.flat_map(|(_, kept)| kept.ids).collect();
            let mut kept = project.kept_blobs_below(&[PRIVATE])?;
            if let Some(own) = self.own_texts() {
                kept.extend(own.kept_blobs_below(&[SHARED, PRIVATE])?);
            }
            for (reference, kept) in kept {
                let backend = TextBackend::Blobs(BlobTexts {
                    store: self,
                    project,
                    objects: RefCell::new(LazyObjectReader::new(project)),
                    reference,
                    is_committed: false,
                });
                found.push((store(backend), kept.ids.difference(&shared).cloned().collect()));
            }
        }
        let in_folder: BTreeSet<BlobHash> = self.texts_in_folder()?.into_iter().collect();
        if !in_folder.is_empty() {
            found.push((store(TextBackend::Files(self)), in_folder));
        }
        Ok(found)
    }

    /// The id under which a text is stored: its own, or the one it got when it was redacted later.
    pub(crate) fn redacted_id(&self, id: &BlobHash) -> BlobHash {
        let ledger = self.existing_ledger().ok().flatten();
        let clean = ledger.and_then(|ledger| ledger.redacted_as(id).ok().flatten());
        clean.unwrap_or_else(|| id.clone())
    }

    /// Whether others receive this document, now or once it is committed, and with it its earlier
    /// texts.
    pub(crate) fn is_shared(&self, stored: &StoredHandoff) -> bool {
        self.workspace().repository().is_some_and(|project| {
            let objects = &mut LazyObjectReader::new(project);
            self.audience(project, objects, stored) != TextAudience::Nobody
        })
    }

    fn audience(
        &self,
        project: &Repository,
        objects: &mut LazyObjectReader<'_>,
        stored: &StoredHandoff,
    ) -> TextAudience {
        let inside = self.workspace().path_in_work_tree(stored);
        let is_private = self.workspace().private_folder_of(stored).is_some();
        let Some(path) = inside.filter(|_| !is_private) else { return TextAudience::Nobody };
        // Texts are read anyway, so this starts no extra process.
        let committed = path.to_str().map(|path| objects.blob_id(&format!("HEAD:{path}")));
        if matches!(committed, Some(Ok(Some(_)))) {
            TextAudience::Everyone
        } else if project.is_ignored(&path) {
            TextAudience::Nobody
        } else {
            TextAudience::EveryoneLater
        }
    }

    /// The project's repository and our own one, where they exist.
    fn text_repositories(&self) -> impl Iterator<Item = &Repository> {
        self.workspace().repository().into_iter().chain(self.own_texts())
    }

    /// Removes texts from all refs, so that nothing keeps them.
    pub(crate) fn drop_texts(&self, ids: &BTreeSet<BlobHash>) -> Result<(), GitError> {
        for repository in self.text_repositories().filter(|_| !ids.is_empty()) {
            for (reference, kept) in repository.kept_blobs_below(&[SHARED, PRIVATE])? {
                if !kept.ids.is_disjoint(ids) {
                    repository.drop_blobs(&reference, ids)?;
                }
            }
        }
        Ok(())
    }

    /// Removes a text that no ref keeps. Returns what git still has of it, or `None` if it had nothing.
    /// An object of the project that our refs did not keep is the user's, even if a document names it.
    pub(crate) fn remove_text(
        &self,
        id: &BlobHash,
        was_kept: bool,
    ) -> Result<Option<RemovalOutcome>, GitError> {
        let ids = BTreeSet::from([id.clone()]);
        let in_project = match self.workspace().repository() {
            Some(project) if was_kept => project.remove_blobs(&ids)?.remove(id),
            Some(project) => project.blob(id).map(|_| RemovalOutcome::NotOurs),
            None => None,
        };
        // Our own repository sees what it borrows too, so what the project has of it comes first.
        let in_own = match self.own_texts() {
            Some(own) => own.remove_blobs(&ids)?.remove(id),
            None => None,
        };
        Ok(in_project.or(in_own))
    }

    /// Whether one of our refs keeps a text.
    pub(crate) fn is_kept_by_ref(&self, id: &BlobHash) -> Result<bool, GitError> {
        for repository in self.text_repositories() {
            let kept = repository.kept_blobs_below(&[SHARED, PRIVATE])?;
            if kept.iter().any(|(_, kept)| kept.ids.contains(id)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The texts that our refs keep.
    pub(crate) fn texts_by_ref(&self) -> Result<Vec<TextRef>, GitError> {
        let mut found = Vec::new();
        for repository in self.text_repositories() {
            let is_in_project = self
                .workspace()
                .repository()
                .is_some_and(|project| project.common_dir() == repository.common_dir());
            for (name, kept) in repository.kept_blobs_below(&[SHARED, PRIVATE])? {
                let is_shared = is_in_project && name.starts_with(SHARED);
                let uid = name.rsplit_once('/').map(|(_, uid)| uid.to_owned());
                let uid = uid.unwrap_or_default();
                found.push(TextRef { uid, is_shared, ids: kept.ids });
            }
        }
        Ok(found)
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
        let folder = match self.workspace().private_folder_without_git()? {
            Some(folder) => folder,
            None => self.workspace().make_private()?,
        };
        match folder.create(&text_path(&id), text.as_str().as_bytes()) {
            Ok(()) | Err(FileError { problem: FileProblem::Exists, .. }) => Ok(id),
            Err(error) => Err(error),
        }
    }

    /// A stored text; `None` if it is not on this machine.
    pub(crate) fn stored_text(&self, id: &BlobHash) -> Result<Option<Vec<u8>>, FileError> {
        if !id.as_str().bytes().all(|byte| byte.is_ascii_hexdigit()) || id.as_str().is_empty() {
            return Ok(None);
        }
        self.text_as_stored(&self.redacted_id(id))
    }

    /// The text under exactly this id, whether or not it was redacted later.
    pub(crate) fn text_as_stored(&self, id: &BlobHash) -> Result<Option<Vec<u8>>, FileError> {
        let own = self.own_texts();
        // Our own repository borrows the project's objects, so it usually finds either.
        let blob = own.and_then(|own| own.loose_blob(id).or_else(|| own.blob(id)));
        let blob = blob.or_else(|| self.workspace().repository()?.blob(id));
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
            let text = format!("revision `{key}@{wanted}`");
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
