//! Reads the sides of a merge conflict from the index.

use super::run::GitReach;
use super::{GitError, Repository};
use midstride_core::text::id::BlobHash;
use std::ffi::OsStr;
use std::path::Path;

/// The versions of a file that git could not merge. A side that deleted the file has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConflictSides {
    /// The common ancestor.
    pub base: Option<Vec<u8>>,
    /// Our version.
    pub ours: Option<Vec<u8>>,
    /// Their version.
    pub theirs: Option<Vec<u8>>,
}

impl Repository {
    /// The versions of a conflicted path below the working tree, or `None` if it has no conflict.
    pub(crate) fn conflict_sides(&self, path: &Path) -> Result<Option<ConflictSides>, GitError> {
        let asked = ["ls-files", "--unmerged", "-z", "--"].map(OsStr::new);
        let listed =
            self.run_within(GitReach::Index, &[&asked[..], &[path.as_os_str()]].concat(), b"")?;
        let mut found = None;
        for entry in listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let text = String::from_utf8_lossy(entry);
            let mut words = text.split('\t').next().unwrap_or_default().split(' ').skip(1);
            let (Some(id), Some(stage)) = (words.next(), words.next()) else { continue };
            let blob = self.blob(&BlobHash::new(id));
            let conflicted = found.get_or_insert_with(ConflictSides::default);
            match stage {
                "1" => conflicted.base = blob,
                "2" => conflicted.ours = blob,
                _ => conflicted.theirs = blob,
            }
        }
        Ok(found)
    }
}
