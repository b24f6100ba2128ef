//! The private store of a project: the folder with the ledger, session handoffs, cursors and what hooks
//! remember. This module alone decides whether it is the user's own.
//!
//! midstride gives each store it creates a random id and adds the id to the trust record of the
//! repository. A store whose id is not in that record came with an archive, a copied `.git` or a backup,
//! or an earlier version created it. It is treated as missing, and the first write sets it aside: it is
//! renamed, never deleted, and nothing in it is opened. `midstride trust` takes it back.

use super::trust::TrustSubject;
use crate::sys::files::{FileError, FileProblem, LateRoot, Root};
use crate::sys::ids::random_id;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The store of a preview, below its temporary folder.
const PREVIEW: &str = "store";
/// The records of a preview.
const PREVIEW_STATE: &str = "state";
/// The file with the random id of a store.
const STORE_ID: &str = "store-id";
/// A store id is a UUID.
const STORE_ID_BYTES_MAX: u64 = 64;
/// What the name of a store that was set aside ends with, before a random part.
const SET_ASIDE: &str = ".untrusted-";
/// The length of that random part.
const SET_ASIDE_LENGTH: usize = 8;

/// Whose a private store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreOwner {
    /// There is no store.
    Missing,
    /// midstride created it here for this user, or the user took it back.
    User,
    /// It came from elsewhere, or from an earlier version.
    Unknown,
    /// The user has no state folder, so that nothing can be recorded. The store is used, but surfaces
    /// do not pass on its documents.
    Unrecorded,
}

/// The place of a private store, and who decides about it.
#[derive(Debug)]
pub(super) struct PrivateStore {
    /// A folder that is never left.
    parent: PathBuf,
    /// The path of the store below it.
    inside: PathBuf,
    /// The folder whose record lists the store.
    subject: TrustSubject,
    /// Set once the store is known to be the user's own, which does not change.
    is_own: OnceLock<()>,
}

impl PrivateStore {
    pub(super) fn new(parent: &Path, inside: &str, subject: TrustSubject) -> Arc<Self> {
        let (parent, inside) = (parent.to_owned(), PathBuf::from(inside));
        Arc::new(Self { parent, inside, subject, is_own: OnceLock::new() })
    }

    /// The store of a preview, with its record beside it in a temporary folder of this process.
    pub(super) fn in_preview(folder: &Path) -> Arc<Self> {
        let subject = TrustSubject::folder(Some(&folder.join(PREVIEW_STATE)), folder);
        Self::new(folder, PREVIEW, subject)
    }

    pub(super) fn path(&self) -> PathBuf {
        self.parent.join(&self.inside)
    }

    /// Whose the store is.
    pub(super) fn owner(&self) -> Result<StoreOwner, FileError> {
        Ok(self.look()?.0)
    }

    /// The store, unless it is missing or not the user's.
    pub(super) fn open(&self) -> Result<Option<Root>, FileError> {
        let (owner, folder) = match self.look() {
            // What may not be accessed is not read. The documents of the project still are.
            Err(FileError { problem: FileProblem::Denied, .. }) => return Ok(None),
            looked => looked?,
        };
        let is_used = matches!(owner, StoreOwner::User | StoreOwner::Unrecorded);
        Ok(folder.filter(|_| is_used))
    }

    /// The same for a handoff folder, which may be created later.
    pub(super) fn open_late(self: &Arc<Self>) -> LateRoot {
        let store = Arc::clone(self);
        LateRoot::new(self.path(), move || store.open())
    }

    fn look(&self) -> Result<(StoreOwner, Option<Root>), FileError> {
        let parent = Root::open(&self.parent)?;
        let is_link = parent.is_link(&self.inside);
        // A link is not followed in the git directory, and in a project it must not lead out.
        if is_link && self.is_in_git() {
            return Ok((StoreOwner::Unknown, None));
        }
        let Some(folder) = parent.open_below(&self.inside)?.map(Root::into_private) else {
            return Ok((StoreOwner::Missing, None));
        };
        let owner = match () {
            () if !self.subject.can_be_recorded() => StoreOwner::Unrecorded,
            () if is_link => StoreOwner::Unknown,
            () if self.is_own.get().is_some() => StoreOwner::User,
            () => self.compare(&folder)?,
        };
        Ok((owner, Some(folder)))
    }

    fn is_in_git(&self) -> bool {
        self.inside.components().count() == 1
    }

    /// Compares the id in a folder with the record.
    fn compare(&self, folder: &Root) -> Result<StoreOwner, FileError> {
        let id = store_id(folder)?;
        let listed = if id.is_some() { self.subject.read()? } else { None };
        if listed.zip(id.as_ref()).is_some_and(|(record, id)| record.stores.contains(id)) {
            self.is_own.get_or_init(|| ());
            return Ok(StoreOwner::User);
        }
        // A process was killed before it wrote the id. There is nothing in it that others wrote.
        let is_empty = id.is_none() && folder.is_empty()?;
        Ok(if is_empty { StoreOwner::Missing } else { StoreOwner::Unknown })
    }

    /// The store, created if it is missing. Sets a store aside that is not the user's.
    pub(super) fn make(&self) -> Result<Root, FileError> {
        if matches!(self.owner()?, StoreOwner::Missing | StoreOwner::Unknown)
            && self.subject.can_be_recorded()
        {
            self.create()?;
        }
        self.make_folder()
    }

    fn make_folder(&self) -> Result<Root, FileError> {
        // Outside of git, the folder above it belongs to the project.
        if let Some(above) = self.inside.parent().filter(|_| !self.is_in_git()) {
            Root::open(&self.parent)?.make_below(above)?;
        }
        Root::make_private(&self.path())
    }

    /// Creates a store. The record comes first: a process that is killed in between leaves an id that
    /// no store has, or an empty folder.
    fn create(&self) -> Result<(), FileError> {
        let records = self.subject.lock()?;
        match self.owner()? {
            StoreOwner::Missing => {}
            StoreOwner::Unknown => self.set_aside()?,
            // Another process was faster.
            StoreOwner::User | StoreOwner::Unrecorded => return Ok(()),
        }
        let id = random_id();
        records.change(|record| record.stores.push(id.clone()))?;
        let put = |folder: Root| folder.put(Path::new(STORE_ID), id.as_bytes());
        let created = self.make_folder().and_then(put);
        // If there is no new store, the user may restore the one that was moved away.
        records.change(|record| record.stores.retain(|known| (*known == id) == created.is_ok()))?;
        created?;
        self.is_own.get_or_init(|| ());
        Ok(())
    }

    /// Renames a store that is not the user's.
    fn set_aside(&self) -> Result<(), FileError> {
        // The git directory may be another repository's, which uses its store.
        if !self.subject.owns_work_tree() {
            return Err(FileError { path: self.path(), problem: FileProblem::Untrusted });
        }
        let name = self.inside.file_name().unwrap_or_default().to_string_lossy();
        let id = random_id();
        let name = format!("{name}{SET_ASIDE}{}", &id[..SET_ASIDE_LENGTH]);
        Root::open(&self.parent)?.rename(&self.inside, &self.inside.with_file_name(name))
    }

    /// The stores that were set aside, without links.
    pub(super) fn stores_set_aside(&self) -> Result<Vec<PathBuf>, FileError> {
        let beside = self.inside.parent().unwrap_or(Path::new(""));
        let name = self.inside.file_name().unwrap_or_default().to_string_lossy();
        let prefix = format!("{name}{SET_ASIDE}");
        let parent = Root::open(&self.parent)?;
        let entries = parent.entries(beside)?.into_iter();
        let entries = entries.filter(|entry| entry.is_folder && entry.name.starts_with(&prefix));
        let inside = entries.map(|entry| beside.join(entry.name));
        let folders = inside.filter(|inside| !parent.is_link(inside));
        Ok(folders.map(|inside| self.parent.join(inside)).collect())
    }

    /// Records that the store is the user's own. The caller has their consent. Returns whether it was
    /// not before.
    pub(super) fn take_back(&self) -> Result<bool, FileError> {
        if self.owner()? != StoreOwner::Unknown {
            return Ok(false);
        }
        let parent = Root::open(&self.parent)?;
        // The target of a link can be anything.
        let is_link = parent.is_link(&self.inside);
        let folder = if is_link { None } else { parent.open_below(&self.inside)? };
        let outside = || FileError { path: self.path(), problem: FileProblem::Outside };
        let folder = folder.ok_or_else(outside)?.into_private();
        let records = self.subject.lock()?;
        let known = store_id(&folder)?;
        let id = known.clone().unwrap_or_else(random_id);
        records.change(|record| record.stores = vec![id.clone()])?;
        if known.is_none() {
            folder.put(Path::new(STORE_ID), id.as_bytes())?;
        }
        Ok(true)
    }
}

/// The id of the store in a folder. An id that a link leads to is not its own. Fails if it cannot be
/// read: a store must not be set aside because of that.
fn store_id(folder: &Root) -> Result<Option<String>, FileError> {
    let path = Path::new(STORE_ID);
    if folder.is_link(path) {
        return Ok(None);
    }
    let bytes = match folder.read_up_to(path, STORE_ID_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(error) if error.is_disk_failure() => return Err(error),
        Err(error @ FileError { problem: FileProblem::Denied, .. }) => return Err(error),
        Err(_) => return Ok(None),
    };
    let id = String::from_utf8(bytes).ok().map(|id| id.trim().to_owned());
    Ok(id.filter(|id| !id.is_empty()))
}
