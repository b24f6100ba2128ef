//! The repository of our own with the texts of handoffs that are not committed, and moving texts
//! between it and the project's repository.
//!
//! Earlier versions stored these texts in the project's repository. The next command moves them. If it
//! is killed, every text is still in one of the two, and the command after it finishes the move.

use crate::store::Store;
use crate::store::text_refs::{PRIVATE, SHARED, uid_file_name};
use crate::sys::files::{self, FileError, Lock, Root};
use crate::sys::git::{GitError, LazyObjectReader, RemovalOutcome, Repository};
use midstride_core::text::id::BlobHash;
use std::collections::BTreeSet;
use std::path::Path;

/// The file that says that the drafts of earlier versions were moved, in the private folder.
const DRAFTS_MOVED: &str = "drafts-moved";
/// The file with the ids of texts whose copies have to be removed from the project, in the private
/// folder.
const TO_REMOVE: &str = "texts-to-remove";
/// The file with the ids of texts whose copies are in a pack of the project, in the private folder.
const PACKED: &str = "texts-in-packs";

/// A completed step of moving texts out of the project's repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveStep {
    /// Our own repository has the texts of a handoff.
    Copied,
    /// It is noted that the copies in the project have to be removed.
    Noted,
    /// The project's references to them are removed.
    Dropped,
    /// The copies themselves are removed, except for packed ones.
    Removed,
}

impl MoveStep {
    /// Every step, in order.
    pub const ALL: [Self; 4] = [Self::Copied, Self::Noted, Self::Dropped, Self::Removed];
}

impl Store {
    /// Our own repository, if it exists and can be used.
    pub(crate) fn own_texts(&self) -> Option<&Repository> {
        if let Some(own) = self.own_texts.get() {
            return Some(own);
        }
        let private = self.workspace().repository().and(self.workspace().private().ok()?)?;
        let own = Repository::open_own(&private).ok()??;
        Some(self.own_texts.get_or_init(|| own))
    }

    /// Our own repository, created if it is missing. Only for a project with git.
    pub(crate) fn make_own_texts(&self) -> Result<&Repository, FileError> {
        if let Some(own) = self.own_texts.get() {
            return Ok(own);
        }
        let private = self.workspace().make_private()?;
        let project = self.workspace().repository();
        let own = Repository::make_own(&private, project.expect("texts are blobs only with git"))?;
        Ok(self.own_texts.get_or_init(|| own))
    }

    /// Moves texts of handoffs that are not committed out of the project's repository, where earlier
    /// versions stored them. Calls `reached` after every step.
    pub fn move_private_texts(&self, reached: &dyn Fn(MoveStep)) -> Result<(), GitError> {
        let Some(project) = self.workspace().repository() else { return Ok(()) };
        let has_private = project.may_have_references(PRIVATE);
        let has_shared = || project.may_have_references(SHARED);
        if !files::is_folder(&self.workspace().private_path()) && !has_private && !has_shared() {
            return Ok(());
        }
        let private = self.workspace().make_private()?;
        let has_drafts = !private.exists(Path::new(DRAFTS_MOVED));
        if !has_drafts && !has_private && !private.exists(Path::new(TO_REMOVE)) {
            return Ok(());
        }
        let _turn = Lock::acquire(&private, "texts")?;
        let mut names = if has_private { project.references_below(PRIVATE)? } else { Vec::new() };
        if has_drafts && has_shared() {
            let drafts = self.draft_references()?;
            let shared = project.references_below(SHARED)?.into_iter();
            names.extend(shared.filter(|name| drafts.contains(name)));
        }
        for name in names {
            let own = self.make_own_texts()?;
            let note = |ids: &BTreeSet<BlobHash>| -> Result<(), GitError> {
                reached(MoveStep::Copied);
                add_ids(&private, TO_REMOVE, ids)?;
                reached(MoveStep::Noted);
                Ok(())
            };
            project.move_blobs(&mut LazyObjectReader::new(own), &name, &[], &note)?;
            reached(MoveStep::Dropped);
        }
        self.remove_moved(project, &private)?;
        reached(MoveStep::Removed);
        if has_drafts {
            private.put(Path::new(DRAFTS_MOVED), b"")?;
        }
        Ok(())
    }

    /// Removes the copies of moved texts from the project. Packed ones stay until the user runs
    /// `git gc`.
    fn remove_moved(&self, project: &Repository, private: &Root) -> Result<(), GitError> {
        let noted = read_ids(private, TO_REMOVE);
        if noted.is_empty() {
            return Ok(());
        }
        // Nothing is removed here that is not stored whole in our own repository.
        let own = self.own_texts();
        let moved = own.map(|own| own.loose(&noted)).unwrap_or_default();
        let removed = project.remove_blobs(&moved)?.into_iter();
        let packed = removed.filter(|(_, outcome)| *outcome == RemovalOutcome::Packed);
        add_ids(private, PACKED, &packed.map(|(id, _)| id).collect())?;
        Ok(files::remove_if_exists(&private.path().join(TO_REMOVE))?)
    }

    /// How many texts were moved out of the project, but are still in its packs.
    pub fn packed_private_texts(&self) -> Result<usize, GitError> {
        let Some(project) = self.workspace().repository() else { return Ok(0) };
        let Some(private) = self.workspace().private()? else { return Ok(0) };
        let noted = read_ids(&private, PACKED);
        if noted.is_empty() { Ok(0) } else { Ok(project.unreachable(&noted)?.len()) }
    }

    /// Moves the texts of handoffs that are committed by now to the project's repository. Returns how
    /// many handoffs still wait for their commit.
    pub(crate) fn share_committed_texts(
        &self,
        is_committed: &dyn Fn(&str) -> bool,
    ) -> Result<usize, GitError> {
        let (Some(project), Some(own)) = (self.workspace().repository(), self.own_texts()) else {
            return Ok(0);
        };
        let mut waiting = 0;
        for name in own.references_below(SHARED)? {
            let uid = name.rsplit_once('/').map_or("", |(_, uid)| uid);
            if is_committed(uid) {
                own.move_blobs(&mut LazyObjectReader::new(project), &name, &[], &|_| Ok(()))?;
            } else {
                waiting += 1;
            }
        }
        Ok(waiting)
    }

    /// The ids of texts that are never shared.
    pub(crate) fn private_text_ids(&self) -> Result<BTreeSet<BlobHash>, GitError> {
        let mut ids = BTreeSet::new();
        for repository in self.workspace().repository().into_iter().chain(self.own_texts()) {
            let kept = repository.kept_blobs_below(&[PRIVATE])?.into_iter();
            ids.extend(kept.flat_map(|(_, kept)| kept.ids));
        }
        Ok(ids)
    }

    /// The uids of handoffs in the working tree, as file names: those of committed ones, and the others.
    pub(crate) fn uids_by_commit(&self) -> Result<(BTreeSet<String>, BTreeSet<String>), GitError> {
        let workspace = self.workspace();
        let Some(project) = workspace.repository() else {
            return Ok((BTreeSet::new(), BTreeSet::new()));
        };
        let committed = project.committed_markdown()?;
        let (mut of_committed, mut of_others) = (BTreeSet::new(), BTreeSet::new());
        for read in workspace.read_all() {
            // A document that the disk does not give could be a committed one.
            let Some(stored) = FileError::unless_disk_fails(read)? else { continue };
            let inside = workspace.path_in_work_tree(&stored);
            let (Some(inside), Some(uid)) = (inside, stored.handoff(workspace).uid()) else {
                continue;
            };
            let is_committed = committed.contains(&inside);
            let uids = if is_committed { &mut of_committed } else { &mut of_others };
            uids.insert(uid_file_name(&uid));
        }
        Ok((of_committed, of_others))
    }

    /// The references to texts of handoffs that are not committed.
    fn draft_references(&self) -> Result<BTreeSet<String>, GitError> {
        let (committed, others) = self.uids_by_commit()?;
        Ok(others.difference(&committed).map(|uid| format!("{SHARED}/{uid}")).collect())
    }
}

/// The ids in a file, one per line.
fn read_ids(private: &Root, file: &str) -> BTreeSet<BlobHash> {
    let bytes = private.read(Path::new(file)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let is_id = |line: &&str| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.lines().filter(is_id).map(BlobHash::new).collect()
}

/// Adds ids to a file. The caller holds the lock.
fn add_ids(private: &Root, file: &str, more: &BTreeSet<BlobHash>) -> Result<(), FileError> {
    let before = read_ids(private, file);
    if more.is_subset(&before) {
        return Ok(());
    }
    let lines: String = before.union(more).map(|id| format!("{id}\n")).collect();
    private.put(Path::new(file), lines.as_bytes())
}
