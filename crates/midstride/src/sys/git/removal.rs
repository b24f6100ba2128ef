//! Removes unreachable loose objects that midstride wrote from a repository.
//!
//! Objects reachable from a commit, the index, a reference or a reflog stay. Packed objects stay
//! too, because only git itself rewrites its packs.

use super::run::{GitReach, check_status};
use super::tree_entries::{self_named_blobs, tree_entries};
use super::{GitError, KeptBlobs, Repository};
use crate::sys::files::{self, FileError, FileStamp, Root};
use crate::sys::process;
use midstride_core::text::id::BlobHash;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalOutcome {
    /// It was removed.
    Removed,
    /// It is unreachable but packed.
    Packed,
    /// Something other than our references reaches it, so it was kept.
    Referenced,
    /// None of our references kept it, so it belongs to the user and was not touched.
    NotOurs,
}

/// The reference prefixes that midstride owns.
const OWN_REFERENCES: [&str; 5] = [
    "refs/midstride",
    "refs/midstride-private",
    "refs/midstride-fetched",
    "refs/midstride-fetched-trees",
    "refs/midstride-workbench",
];

impl Repository {
    /// All references that midstride owns.
    pub(crate) fn our_references(&self) -> Result<Vec<String>, GitError> {
        let format = "--format=%(refname)";
        let listed = self.run(&[&["for-each-ref", format], &OWN_REFERENCES[..]].concat(), b"")?;
        Ok(String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect())
    }

    /// The references below a prefix.
    pub(crate) fn references_below(&self, prefix: &str) -> Result<Vec<String>, GitError> {
        self.list_references("--format=%(refname)", &[prefix])
    }

    /// The references below some prefixes, a line for each. Git omits what it cannot read: a
    /// reference with a warning, which is an error here, and a folder without one. So references are
    /// listed until the list is the same twice, or others keep changing it.
    pub(super) fn list_references(
        &self,
        format: &str,
        prefixes: &[&str],
    ) -> Result<Vec<String>, GitError> {
        const LISTS_MAX: usize = 10;
        let asked = [&["for-each-ref", format], prefixes].concat();
        let list = || {
            let mut command = self.command(GitReach::Local, &asked)?;
            let output = process::communicate(&mut command, b"").map_err(GitError::NotStarted)?;
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            if said.contains("ignoring broken ref") {
                let (command, code) = (asked.join(" "), output.status.code());
                return Err(GitError::Refused { command, message: said, code });
            }
            let listed = check_status(&asked, output)?;
            Ok(String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect())
        };
        let mut listed: Vec<String> = list()?;
        for _ in 1..LISTS_MAX {
            let again = list()?;
            if again == listed {
                break;
            }
            listed = again;
        }
        Ok(listed)
    }

    /// Removes all references that midstride owns. Git's garbage collection removes what only they
    /// kept alive.
    pub(crate) fn remove_our_references(&self) -> Result<(), GitError> {
        let ours = self.our_references()?;
        let asked: String = ours.iter().map(|name| format!("delete {name}\n")).collect();
        if asked.is_empty() {
            return Ok(());
        }
        self.run(&["update-ref", "--stdin"], asked.as_bytes()).map(|_| ())
    }

    /// The references below some prefixes with the blobs that each one keeps alive. Starts two
    /// processes, regardless of the number of references.
    pub(crate) fn kept_blobs_below(
        &self,
        prefixes: &[&str],
    ) -> Result<Vec<(String, KeptBlobs)>, GitError> {
        let format = "--format=%(objectname) %(objecttype) %(refname)";
        let listed = self.run(&[&["for-each-ref", format], prefixes].concat(), b"")?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let named = listed.lines().filter_map(|line| {
            let mut words = line.splitn(3, ' ');
            let (id, kind, name) = (words.next()?, words.next()?, words.next()?);
            (kind == "tree").then(|| (id.to_owned(), name.to_owned()))
        });
        let (trees, names): (Vec<String>, Vec<String>) = named.unzip();
        let texts: BTreeMap<String, Vec<u8>> = self.read_objects(&trees)?.into_iter().collect();
        let kept = |(tree, name): (String, String)| {
            let ids = texts.get(&tree).map(|raw| self_named_blobs(raw, tree.len() / 2));
            (name, KeptBlobs { tree, ids: ids.unwrap_or_default() })
        };
        Ok(trees.into_iter().zip(names).map(kept).collect())
    }

    /// Which of the objects are loose.
    pub fn loose(&self, ids: &BTreeSet<BlobHash>) -> BTreeSet<BlobHash> {
        ids.iter().filter(|id| files::is_file(&self.loose_path(id.as_str()))).cloned().collect()
    }

    /// Removes unreachable loose blobs, together with unreachable loose trees that contain them.
    /// Returns the outcome for each blob that existed.
    pub(crate) fn remove_blobs(
        &self,
        ids: &BTreeSet<BlobHash>,
    ) -> Result<BTreeMap<BlobHash, RemovalOutcome>, GitError> {
        let there = self.present(ids)?;
        if there.is_empty() {
            return Ok(BTreeMap::new());
        }
        // Git touches an object before it reuses it. Objects touched after this point are kept.
        let mut seen = self.stamps(there.iter().map(BlobHash::as_str));
        seen.extend(self.stamps(self.loose_trees_with(&there)?.iter().map(String::as_str)));
        let reached = self.reachable_objects()?;
        // Remove trees first: if the process is killed in between, no tree refers to a missing
        // blob.
        let (blobs, trees): (Vec<_>, Vec<_>) =
            seen.into_iter().partition(|(id, _)| there.contains(id.as_str()));
        for (id, stamp) in trees.into_iter().chain(blobs) {
            if !reached.contains(&id) && self.stamp_of(&id).is_some_and(|now| now.is_same(&stamp)) {
                files::remove(&self.loose_path(&id))?;
            }
        }
        let still = self.present(&there)?;
        let left = |id: BlobHash| {
            let left = match (still.contains(&id), reached.contains(id.as_str())) {
                (false, _) => RemovalOutcome::Removed,
                (true, true) => RemovalOutcome::Referenced,
                (true, false) => RemovalOutcome::Packed,
            };
            (id, left)
        };
        Ok(there.into_iter().map(left).collect())
    }

    /// Which of the objects exist, loose or packed. Fails if git does not find one that is there: it
    /// calls an object missing that it cannot read.
    fn present(&self, ids: &BTreeSet<BlobHash>) -> Result<BTreeSet<BlobHash>, GitError> {
        let kinds = self.kinds(ids.iter().map(BlobHash::as_str))?;
        let found: BTreeSet<BlobHash> =
            kinds.into_iter().map(|(id, _)| BlobHash::new(id)).collect();
        let missing: BTreeSet<BlobHash> = ids.difference(&found).cloned().collect();
        match self.loose(&missing).first() {
            None => Ok(found),
            Some(unread) => {
                let error = io::Error::other("git cannot read this object");
                Err(FileError::new(self.loose_path(unread.as_str()), error).into())
            }
        }
    }

    /// Which of the objects exist although nothing reaches them.
    pub(crate) fn unreachable(
        &self,
        ids: &BTreeSet<BlobHash>,
    ) -> Result<BTreeSet<BlobHash>, GitError> {
        let mut there = self.present(ids)?;
        if !there.is_empty() {
            let reached = self.reachable_objects()?;
            there.retain(|id| !reached.contains(id.as_str()));
        }
        Ok(there)
    }

    /// The kinds of those objects that exist.
    fn kinds<'i>(
        &self,
        ids: impl Iterator<Item = &'i str>,
    ) -> Result<Vec<(String, String)>, GitError> {
        let asked: String = ids.map(|id| format!("{id}\n")).collect();
        let format = "--batch-check=%(objectname) %(objecttype)";
        let listed = self.run(&["cat-file", format], asked.as_bytes())?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let kind = |line: &str| {
            let (id, kind) = line.split_once(' ')?;
            // Skips `<id> missing` and anything else that is not an object.
            matches!(kind, "blob" | "tree" | "commit" | "tag")
                .then(|| (id.to_owned(), kind.to_owned()))
        };
        Ok(listed.lines().filter_map(kind).collect())
    }

    /// All objects reachable from branches, tags, worktrees, reflogs and the index.
    fn reachable_objects(&self) -> Result<BTreeSet<String>, GitError> {
        // In a clone, references may lead to objects that were not fetched.
        let asked = ["rev-list", "--objects", "--no-object-names", "--missing=allow-any"];
        let from = ["--all", "--reflog", "--indexed-objects"];
        let listed = self.run_within(GitReach::Index, &[&asked[..], &from].concat(), b"")?;
        Ok(String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect())
    }

    /// The loose trees that contain one of the objects.
    fn loose_trees_with(&self, ids: &BTreeSet<BlobHash>) -> Result<BTreeSet<String>, GitError> {
        let loose = self.loose_objects()?;
        let kinds = self.kinds(loose.iter().map(String::as_str))?.into_iter();
        let trees: Vec<String> =
            kinds.filter(|(_, kind)| kind == "tree").map(|(id, _)| id).collect();
        let names_one = |tree: &str, raw: &[u8]| {
            tree_entries(raw, tree.len() / 2).iter().any(|(_, _, id)| ids.contains(id.as_str()))
        };
        let trees = self.read_objects(&trees)?.into_iter();
        Ok(trees.filter(|(tree, raw)| names_one(tree, raw)).map(|(tree, _)| tree).collect())
    }

    /// The ids of all loose objects.
    fn loose_objects(&self) -> Result<Vec<String>, GitError> {
        let folder = Root::open(&self.objects_path())?;
        let mut found = Vec::new();
        for shard in folder.entries(Path::new(""))?.iter().filter(|entry| entry.name.len() == 2) {
            let inside = folder.entries(Path::new(&shard.name))?;
            found.extend(inside.iter().map(|entry| format!("{}{}", shard.name, entry.name)));
        }
        found.retain(|id| id.bytes().all(|byte| byte.is_ascii_hexdigit()));
        Ok(found)
    }

    fn stamps<'i>(&self, ids: impl Iterator<Item = &'i str>) -> BTreeMap<String, FileStamp> {
        ids.filter_map(|id| Some((id.to_owned(), self.stamp_of(id)?))).collect()
    }

    fn stamp_of(&self, id: &str) -> Option<FileStamp> {
        let path = self.loose_path(id);
        Root::open(path.parent()?).ok()?.stamp(Path::new(path.file_name()?))
    }

    fn objects_path(&self) -> PathBuf {
        self.common_dir().join("objects")
    }

    fn loose_path(&self, id: &str) -> PathBuf {
        let (shard, rest) = id.split_at(id.len().min(2));
        self.objects_path().join(shard).join(rest)
    }
}
