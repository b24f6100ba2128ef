//! Stores many small files as one tree under a reference of another repository: fetches, lists,
//! extends and pushes it with a constant number of processes.

use super::exchange::{FETCHED, RefUpdate};
use super::{GitError, Repository};
use midstride_core::text::id::BlobHash;

/// The prefix under which fetched trees are recorded. They are never pushed.
const FETCHED_TREES: &str = "refs/midstride-fetched-trees";
/// A temporary reference for building a tree.
const WORKBENCH: &str = "refs/midstride-workbench/tree";

/// What a reference of another repository points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FetchedTree {
    /// The id of the object.
    pub object: String,
    /// The tree, if the object is one or leads to one.
    pub tree: Option<String>,
}

/// A file in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeFile {
    /// Its path, if it is UTF-8.
    pub path: Option<String>,
    /// Its blob, or `None` if it is not a regular file.
    pub blob: Option<BlobHash>,
    /// Its size in bytes.
    pub size: usize,
}

impl Repository {
    /// Fetches the target of a reference of another repository, or returns `None` if it does not
    /// exist.
    pub(crate) fn fetch_tree(
        &self,
        remote: &str,
        reference: &str,
    ) -> Result<Option<FetchedTree>, GitError> {
        // Use a pattern: fetching a plain name that does not exist would be an error.
        let note = format!("{FETCHED_TREES}/{remote}/tree");
        let wanted = format!("+{reference}*:{note}*");
        let options = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--prune"];
        let asked = [&options[..], &["--end-of-options", remote, &wanted]].concat();
        self.fetch(remote, &asked, FETCHED_TREES)?;
        let object = self.run(&["for-each-ref", "--format=%(objectname)", &note], b"")?;
        let object = String::from_utf8_lossy(&object).trim().to_owned();
        if object.is_empty() {
            return Ok(None);
        }
        let peeled = format!("{object}^{{tree}}");
        let tree =
            self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled], b"");
        let tree = tree.ok().map(|id| String::from_utf8_lossy(&id).trim().to_owned());
        Ok(Some(FetchedTree { object, tree }))
    }

    /// Removes references recorded for other repositories and leftovers of interrupted runs.
    pub(crate) fn remove_fetched_refs(&self) -> Result<(), GitError> {
        let noted = [FETCHED, FETCHED_TREES, WORKBENCH];
        let format = "--format=delete %(refname)";
        self.repeat_while_locked(&noted, || {
            let listed = self.run(&[&["for-each-ref", format], &noted[..]].concat(), b"")?;
            if listed.is_empty() {
                return Ok(());
            }
            self.run(&["update-ref", "--stdin"], &listed).map(drop)
        })
    }

    /// All files in a tree, recursively.
    pub(crate) fn files_in_tree(&self, tree: &str) -> Result<Vec<TreeFile>, GitError> {
        let listed = self.run(&["ls-tree", "-r", "-z", "--long", "--full-tree", tree], b"")?;
        let entries = listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        Ok(entries.map(parse_tree_file).collect())
    }

    /// Creates a tree with files added to a base tree. The caller must make sure that no other
    /// process does this at the same time.
    pub(crate) fn tree_with(
        &self,
        base: Option<&str>,
        files: &[(String, Vec<u8>)],
    ) -> Result<String, GitError> {
        let mut stream = format!(
            "feature done\ncommit {WORKBENCH}\ncommitter midstride <midstride> 0 +0000\ndata 0\n"
        );
        stream.extend(base.map(|tree| format!("M 040000 {tree} \"\"\n")));
        let mut stream = stream.into_bytes();
        for (path, bytes) in files {
            stream.extend(format!("M 100644 inline {path}\ndata {}\n", bytes.len()).bytes());
            stream.extend(bytes);
            stream.push(b'\n');
        }
        stream.extend(b"done\n");
        self.run(&["fast-import", "--quiet", "--force"], &stream)?;
        let tree = self.run(&["rev-parse", "--verify", &format!("{WORKBENCH}^{{tree}}")], b"")?;
        self.run(&["update-ref", "-d", WORKBENCH], b"")?;
        Ok(String::from_utf8_lossy(&tree).trim().to_owned())
    }

    /// Pushes a tree to a reference of another repository, unless that changed in the meantime.
    pub(crate) fn push_tree(
        &self,
        remote: &str,
        reference: &str,
        before: Option<&FetchedTree>,
        after: &str,
    ) -> Result<(), GitError> {
        let before = before.map(|fetched| fetched.object.clone());
        self.push(
            remote,
            &[RefUpdate { name: reference.to_owned(), before, after: after.to_owned() }],
        )
    }
}

/// Parses `<mode> <type> <id> <size>\t<path>`.
fn parse_tree_file(entry: &[u8]) -> TreeFile {
    let tab = entry.iter().position(|byte| *byte == b'\t').unwrap_or(entry.len());
    let head = String::from_utf8_lossy(&entry[..tab]).into_owned();
    let path = String::from_utf8(entry.get(tab + 1..).unwrap_or_default().to_vec()).ok();
    let mut words = head.split_whitespace();
    let plain = words.next() == Some("100644") && words.next() == Some("blob");
    let blob = words.next().filter(|_| plain).map(BlobHash::new);
    let size = words.next().and_then(|size| size.parse().ok()).unwrap_or(usize::MAX);
    TreeFile { path, blob, size }
}
