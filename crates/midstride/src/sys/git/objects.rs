//! Stores texts as git blobs, kept alive by references to trees of blobs.

use super::tree_entries::self_named_blobs;
use super::{GitError, GitObject, LazyObjectReader, Repository};
use crate::sys::clock::Deadline;
use crate::sys::files::{self, Lock, Root};
use midstride_core::text::id::{BlobHash, CommitId};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum number of attempts when git itself changes the reference at the same time.
const TRIES_MAX: usize = 20;
/// Age after which the lock of a reference is stale. Git holds it only for a moment.
const LOCK_AGE_MAX: Duration = Duration::from_secs(10);
/// How long to wait for a lock: longer than until it counts as stale.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(15);

impl LazyObjectReader<'_> {
    /// The blobs that a reference keeps alive, or `None` if there is no such reference.
    pub fn kept_blobs(&mut self, reference: &str) -> Result<Option<KeptBlobs>, GitError> {
        Ok(match self.get(reference)? {
            Some(GitObject::Tree { id: tree, entries }) => {
                let ids = match entries {
                    Some(entries) => self_named_blobs(&entries, tree.len() / 2),
                    None => self
                        .repository()
                        .texts_of_trees(&[&tree])?
                        .remove(&tree)
                        .unwrap_or_default(),
                };
                Some(KeptBlobs { tree, ids })
            }
            Some(GitObject::Blob { .. } | GitObject::Other) | None => None,
        })
    }
}

impl Repository {
    /// Reads a blob, or returns `None` if it does not exist locally.
    pub fn blob(&self, id: &BlobHash) -> Option<Vec<u8>> {
        self.run(&["cat-file", "blob", id.as_str()], b"").ok()
    }

    /// The full id of a commit, or `None` if it does not exist.
    pub(crate) fn resolve_commit(&self, named: &str) -> Option<CommitId> {
        let name = format!("{named}^{{commit}}");
        let id =
            self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name], b"").ok()?;
        Some(CommitId::new(String::from_utf8_lossy(&id).trim()))
    }

    /// Whether git ignores a path below the working tree.
    pub fn is_ignored(&self, path: &Path) -> bool {
        let asked = [OsStr::new("check-ignore"), OsStr::new("--quiet"), OsStr::new("--")];
        let answer = self.run(&[&asked[..], &[path.as_os_str()]].concat(), b"");
        // Exit code 1 means "not ignored". On any other failure, treat the path as ignored to be
        // safe.
        !matches!(answer, Err(GitError::Refused { code: Some(1), .. }))
    }

    /// Adds blobs to those that a reference keeps alive.
    pub fn keep_blobs(
        &self,
        objects: &mut LazyObjectReader<'_>,
        reference: &str,
        ids: &[BlobHash],
    ) -> Result<(), GitError> {
        let more = |kept: &BTreeSet<BlobHash>| kept.iter().chain(ids).cloned().collect();
        self.update_kept_blobs(objects, reference, &more).map(|_| ())
    }

    /// Removes blobs from a reference. Returns whether it kept any of them.
    pub(crate) fn drop_blobs(
        &self,
        reference: &str,
        ids: &BTreeSet<BlobHash>,
    ) -> Result<bool, GitError> {
        let fewer = |kept: &BTreeSet<BlobHash>| kept.difference(ids).cloned().collect();
        let dropped =
            self.update_kept_blobs(&mut LazyObjectReader::new(self), reference, &fewer)?;
        if dropped {
            self.expire_reflog(reference)?;
        }
        Ok(dropped)
    }

    /// Changes the blobs of a reference and returns whether anything changed. A lock serializes
    /// midstride processes, but git itself may still interfere.
    fn update_kept_blobs(
        &self,
        objects: &mut LazyObjectReader<'_>,
        reference: &str,
        change: &dyn Fn(&BTreeSet<BlobHash>) -> BTreeSet<BlobHash>,
    ) -> Result<bool, GitError> {
        let _held = self.lock_references()?;
        // A killed git leaves its lock behind. Wait until that counts as stale, rather than refuse.
        let deadline = Deadline::after(LOCK_WAIT);
        let mut tries = 0;
        loop {
            let before = objects.kept_blobs(reference)?;
            let (tree, kept) =
                before.map_or((None, BTreeSet::new()), |kept| (Some(kept.tree), kept.ids));
            let after = change(&kept);
            if after == kept {
                return Ok(false);
            }
            let made = self.store_tree(&after)?;
            let expected = tree.unwrap_or_else(|| "0".repeat(made.len()));
            if made == expected {
                return Ok(false);
            }
            let updated = self.run(&["update-ref", reference, &made, &expected], b"");
            tries += 1;
            // Git itself waits a moment for the lock.
            let is_waiting = self.is_locked(reference) && !deadline.has_passed();
            if updated.is_ok() || (tries >= TRIES_MAX && !is_waiting) {
                return updated.map(|_| true);
            }
            self.remove_stale_locks(reference);
        }
    }

    /// Makes midstride processes take turns to change references.
    fn lock_references(&self) -> Result<Lock, GitError> {
        Ok(Lock::acquire_folder(&Root::open(self.common_dir())?)?)
    }

    /// Removes a reference with its reflog, if it still points to this tree. Returns whether it did.
    pub(super) fn remove_reference(&self, reference: &str, tree: &str) -> Result<bool, GitError> {
        let _held = self.lock_references()?;
        let deadline = Deadline::after(LOCK_WAIT);
        loop {
            match self.run(&["update-ref", "-d", reference, tree], b"") {
                Ok(_) => return Ok(true),
                Err(_) if self.is_locked(reference) && !deadline.has_passed() => {
                    self.remove_stale_locks(reference);
                }
                Err(error) if error.is_concurrent_update() => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }

    /// Removes the reflog of one of our references, if there is one.
    fn expire_reflog(&self, reference: &str) -> Result<(), GitError> {
        if self.run(&["reflog", "exists", reference], b"").is_err() {
            return Ok(());
        }
        self.run(&["reflog", "expire", "--expire=all", reference], b"").map(|_| ())
    }

    fn is_locked(&self, reference: &str) -> bool {
        self.lock_paths(reference).any(|lock| files::exists(&lock))
    }

    /// The locks that git takes to change a reference. In the project, the lock of the packed
    /// references may belong to a long `git gc` of the user, so only that of our reference counts.
    fn lock_paths(&self, reference: &str) -> impl Iterator<Item = PathBuf> {
        let packed = self.is_own().then(|| self.common_dir().join("packed-refs.lock"));
        packed.into_iter().chain([self.common_dir().join(format!("{reference}.lock"))])
    }

    /// Repeats a change of references that only `sync` uses while a lock of a killed git is in its way,
    /// until the lock counts as stale.
    pub(super) fn repeat_while_locked<T>(
        &self,
        prefixes: &[&str],
        change: impl Fn() -> Result<T, GitError>,
    ) -> Result<T, GitError> {
        let deadline = Deadline::after(LOCK_WAIT);
        loop {
            match change() {
                Err(error) if error.is_concurrent_update() && !deadline.has_passed() => {
                    prefixes.iter().try_for_each(|prefix| self.remove_stale_locks_below(prefix))?;
                }
                changed => return changed,
            }
        }
    }

    /// Removes the stale locks of all references of ours below a prefix.
    pub(super) fn remove_stale_locks_below(&self, prefix: &str) -> Result<(), GitError> {
        let _held = self.lock_references()?;
        let is_lock = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "lock");
        let references = Root::open(self.common_dir())?.files_below(Path::new(prefix))?;
        for lock in references.iter().filter(is_lock) {
            remove_if_stale(&self.common_dir().join(lock));
        }
        Ok(())
    }

    /// Removes the locks that a killed process left behind. The caller holds our own lock, so only one
    /// process does this at a time and never removes a newer lock by mistake.
    fn remove_stale_locks(&self, reference: &str) {
        self.lock_paths(reference).for_each(|lock| remove_if_stale(&lock));
    }
}

fn remove_if_stale(lock: &Path) {
    if files::age(lock).is_some_and(|age| age > LOCK_AGE_MAX) {
        // If this fails, the next attempt reports git's own error.
        let _ = files::remove(lock);
    }
}

/// The blobs that a reference keeps alive.
#[derive(Clone, Debug)]
pub struct KeptBlobs {
    /// The tree it points to.
    pub tree: String,
    /// The blobs in the tree.
    pub ids: BTreeSet<BlobHash>,
}
