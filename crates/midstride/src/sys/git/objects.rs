//! Texts as git objects: stored as blobs, kept alive by a reference to a tree of them.

use super::{GitError, Repository};
use crate::sys::files::{self, Lock, Root};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

/// Who is overtaken by git itself joins the tree that is there now.
const TRIES_MAX: usize = 20;
/// Git holds the lock of a reference for a moment; after so long nobody is left who holds it.
const LOCK_AGE_MAX: Duration = Duration::from_secs(10);

impl Repository {
    /// Stores a text and gives back its id.
    pub fn store_blob(&self, text: &[u8]) -> Result<String, GitError> {
        let id = self.run(&["hash-object", "-w", "--no-filters", "--stdin"], text)?;
        Ok(String::from_utf8_lossy(&id).trim().to_owned())
    }

    /// The id that a text would have.
    pub fn hash_blob(&self, text: &[u8]) -> Result<String, GitError> {
        let id = self.run(&["hash-object", "--no-filters", "--stdin"], text)?;
        Ok(String::from_utf8_lossy(&id).trim().to_owned())
    }

    /// A text by its id; `None` where it is not on this machine.
    pub fn blob(&self, id: &str) -> Option<Vec<u8>> {
        self.run(&["cat-file", "blob", id], b"").ok()
    }

    /// The id of the text that is committed at a path below the working tree.
    pub fn committed_blob(&self, path: &Path) -> Option<String> {
        let name = [OsStr::new("HEAD:"), path.as_os_str()].into_iter().collect::<OsString>();
        let asked = ["rev-parse", "--verify", "--quiet", "--end-of-options"].map(OsStr::new);
        let id = self.run(&[&asked[..], &[&name]].concat(), b"").ok()?;
        Some(String::from_utf8_lossy(&id).trim().to_owned())
    }

    /// The whole id of a commit that was named; `None` where there is none.
    pub fn resolve_commit(&self, named: &str) -> Option<String> {
        let name = format!("{named}^{{commit}}");
        let id =
            self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name], b"").ok()?;
        Some(String::from_utf8_lossy(&id).trim().to_owned())
    }

    /// Whether git is told to leave a path below the working tree alone.
    pub fn is_ignored(&self, path: &Path) -> bool {
        let asked = [OsStr::new("check-ignore"), OsStr::new("--quiet"), OsStr::new("--")];
        let answer = self.run(&[&asked[..], &[path.as_os_str()]].concat(), b"");
        // Only a plain no counts: what git cannot say is not told to anybody.
        !matches!(answer, Err(GitError::Refused { code: Some(1), .. }))
    }

    /// What a reference keeps alive; `None` where there is no such reference.
    pub fn kept_blobs(&self, reference: &str) -> Result<Option<KeptBlobs>, GitError> {
        let tree = self.run(&["for-each-ref", "--format=%(objectname)", reference], b"")?;
        let tree = String::from_utf8_lossy(&tree).trim().to_owned();
        if tree.is_empty() {
            return Ok(None);
        }
        let ids = self.blobs_in_tree(&tree)?;
        Ok(Some(KeptBlobs { tree, ids }))
    }

    /// The blobs of a tree that keeps texts. A tree may come from elsewhere: an entry that is not
    /// named after its own blob would lend a name to a text that nobody gave away.
    pub(super) fn blobs_in_tree(&self, tree: &str) -> Result<BTreeSet<String>, GitError> {
        let listed = self.run(&["ls-tree", tree], b"")?;
        let entry = |line: &str| {
            let (object, name) = line.split_once('\t')?;
            (object == format!("100644 blob {name}")).then(|| name.to_owned())
        };
        Ok(String::from_utf8_lossy(&listed).lines().filter_map(entry).collect())
    }

    /// A tree that keeps blobs.
    pub(super) fn make_tree(&self, ids: &BTreeSet<String>) -> Result<String, GitError> {
        let entries: String = ids.iter().map(|id| format!("100644 blob {id}\t{id}\n")).collect();
        // A clone has references to texts that are not all here.
        let made = self.run(&["mktree", "--missing"], entries.as_bytes())?;
        Ok(String::from_utf8_lossy(&made).trim().to_owned())
    }

    /// Keeps blobs alive under a reference, besides what it keeps already.
    pub fn keep_blobs(&self, reference: &str, ids: &[String]) -> Result<(), GitError> {
        let more = |kept: &BTreeSet<String>| kept.iter().chain(ids).cloned().collect();
        self.update_kept_blobs(reference, &more).map(|_| ())
    }

    /// Keeps blobs alive no longer under a reference; says whether it kept any of them.
    pub fn drop_blobs(&self, reference: &str, ids: &BTreeSet<String>) -> Result<bool, GitError> {
        let fewer = |kept: &BTreeSet<String>| kept.difference(ids).cloned().collect();
        let dropped = self.update_kept_blobs(reference, &fewer)?;
        if dropped {
            self.expire_reflog(reference)?;
        }
        Ok(dropped)
    }

    /// Changes what a reference keeps; says whether it did. Those of us who do so wait for each
    /// other; git itself may come in between.
    fn update_kept_blobs(
        &self,
        reference: &str,
        change: &dyn Fn(&BTreeSet<String>) -> BTreeSet<String>,
    ) -> Result<bool, GitError> {
        let folder = Root::make(&self.common_dir().join("midstride"))?;
        let _held = Lock::acquire(&folder, "references")?;
        let mut last = Ok(false);
        for _ in 0..TRIES_MAX {
            let before = self.kept_blobs(reference)?;
            let (tree, kept) =
                before.map_or((None, BTreeSet::new()), |kept| (Some(kept.tree), kept.ids));
            let after = change(&kept);
            if after == kept {
                return Ok(false);
            }
            let made = self.make_tree(&after)?;
            let expected = tree.unwrap_or_else(|| "0".repeat(made.len()));
            if made == expected {
                return Ok(false);
            }
            last = self.run(&["update-ref", reference, &made, &expected], b"").map(|_| true);
            if last.is_ok() {
                return last;
            }
            self.remove_stale_lock(reference);
        }
        last
    }

    /// Makes git forget what a reference of ours pointed at before, where it is told to remember.
    fn expire_reflog(&self, reference: &str) -> Result<(), GitError> {
        if self.run(&["reflog", "exists", reference], b"").is_err() {
            return Ok(());
        }
        self.run(&["reflog", "expire", "--expire=all", reference], b"").map(|_| ())
    }

    /// Takes away the lock of a reference that somebody left who was killed. Only one of us does so
    /// at a time, so nobody takes away the lock of whoever came after it.
    fn remove_stale_lock(&self, reference: &str) {
        let lock = self.common_dir().join(format!("{reference}.lock"));
        if files::age(&lock).is_some_and(|age| age > LOCK_AGE_MAX) {
            // If it will not go, git says so once more, with the way out.
            let _ = files::remove(&lock);
        }
    }
}

/// What a reference keeps alive.
#[derive(Clone, Debug)]
pub struct KeptBlobs {
    /// The tree that it points at.
    pub tree: String,
    /// The blobs in it.
    pub ids: BTreeSet<String>,
}
