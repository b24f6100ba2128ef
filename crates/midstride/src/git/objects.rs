//! Texts as git objects: stored as blobs, kept alive by a reference to a tree of them.

use super::{GitError, Repository};
use std::collections::BTreeSet;

/// Two that keep a text at once meet at the reference; the loser joins the winner's tree.
const TRIES_MAX: usize = 20;

impl Repository {
    /// Stores a text and gives back its id.
    pub fn store_blob(&self, text: &[u8]) -> Result<String, GitError> {
        let id = self.run(&["hash-object", "-w", "--no-filters", "--stdin"], text)?;
        Ok(String::from_utf8_lossy(&id).trim().to_owned())
    }

    /// A text by its id; `None` where it is not on this machine.
    pub fn blob(&self, id: &str) -> Option<Vec<u8>> {
        self.run(&["cat-file", "blob", id], b"").ok()
    }

    /// The whole id of a commit that was named; `None` where there is none.
    pub fn commit(&self, named: &str) -> Option<String> {
        let name = format!("{named}^{{commit}}");
        let id =
            self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &name], b"").ok()?;
        Some(String::from_utf8_lossy(&id).trim().to_owned())
    }

    /// Keeps blobs alive under a reference, besides what it keeps already.
    pub fn keep_blobs(&self, reference: &str, ids: &[String]) -> Result<(), GitError> {
        let mut last = Ok(());
        for _ in 0..TRIES_MAX {
            let before = self.run(&["for-each-ref", "--format=%(objectname)", reference], b"")?;
            let before = String::from_utf8_lossy(&before).trim().to_owned();
            let mut kept: BTreeSet<String> = ids.iter().cloned().collect();
            if !before.is_empty() {
                let listed = self.run(&["ls-tree", "--name-only", &before], b"")?;
                kept.extend(String::from_utf8_lossy(&listed).lines().map(str::to_owned));
            }
            let tree: String = kept.iter().map(|id| format!("100644 blob {id}\t{id}\n")).collect();
            // A clone has references to texts that are not all here.
            let made = self.run(&["mktree", "--missing"], tree.as_bytes())?;
            let made = String::from_utf8_lossy(&made).trim().to_owned();
            if made == before {
                return Ok(());
            }
            let zero = "0".repeat(made.len());
            let expected = if before.is_empty() { &zero } else { &before };
            last = self.run(&["update-ref", reference, &made, expected], b"").map(|_| ());
            if last.is_ok() {
                return last;
            }
        }
        last
    }
}
