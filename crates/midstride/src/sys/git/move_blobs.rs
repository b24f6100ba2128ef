//! Moves the blobs that a reference keeps to another repository.
//!
//! The reference here is removed last, and only if it did not change. If the process is killed before,
//! the blobs are in both repositories, and moving them again finishes the work.

use super::{GitError, GitObject, KeptBlobs, LazyObjectReader, Repository};
use crate::sys::files::{self, FileError, FileProblem};
use midstride_core::text::id::BlobHash;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Maximum number of attempts when other processes change the reference.
const TRIES_MAX: usize = 20;

impl Repository {
    /// Moves the blobs of a reference to the same reference of another repository, which also keeps
    /// `more` from then on. Calls `copied` with the ids before the reference here is removed.
    pub(crate) fn move_blobs(
        &self,
        to: &mut LazyObjectReader<'_>,
        reference: &str,
        more: &[BlobHash],
        copied: &dyn Fn(&BTreeSet<BlobHash>) -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        let mut objects = LazyObjectReader::new(self);
        for _ in 0..TRIES_MAX {
            let kept = objects.kept_blobs(reference)?;
            let Some(KeptBlobs { tree, ids }) = kept else {
                return to.repository().keep_blobs(to, reference, more);
            };
            copy_blobs(&mut objects, to, &ids)?;
            let all: Vec<BlobHash> = ids.iter().chain(more).cloned().collect();
            to.repository().keep_blobs(to, reference, &all)?;
            copied(&ids)?;
            if self.remove_reference(reference, &tree)? {
                return Ok(());
            }
        }
        Err(FileError { path: self.common_dir().join(reference), problem: FileProblem::Changed }
            .into())
    }

    /// Whether there may be references below a prefix. Asks no git, so it says yes where git does not
    /// store references as files.
    pub(crate) fn may_have_references(&self, prefix: &str) -> bool {
        let folder = files::list_folder(&self.common_dir().join(prefix), |_| true);
        folder.is_ok_and(|names| !names.is_empty())
            || files::is_folder(&self.common_dir().join("reftable"))
            || self.has_packed_reference(prefix)
    }
}

/// Whether a repository itself has an object, not only one it borrows from.
fn has_whole(objects: &mut LazyObjectReader<'_>, id: &BlobHash) -> Result<bool, GitError> {
    let repository = objects.repository();
    match repository.is_own() {
        true => Ok(repository.loose_blob(id).is_some()),
        false => Ok(objects.get(id.as_str())?.is_some()),
    }
}

/// Copies blobs and checks that they arrived. Those that are not on this machine are skipped.
fn copy_blobs(
    from: &mut LazyObjectReader<'_>,
    to: &mut LazyObjectReader<'_>,
    ids: &BTreeSet<BlobHash>,
) -> Result<(), GitError> {
    for id in ids {
        let bytes = match from.get(id.as_str())? {
            Some(GitObject::Blob { bytes, .. }) => bytes,
            Some(GitObject::Tree { .. } | GitObject::Other) | None => continue,
        };
        let failed = |problem| FileError { path: PathBuf::from(id.as_str()), problem };
        let bytes = bytes.ok_or_else(|| failed(FileProblem::TooLarge(files::FILE_BYTES_MAX)))?;
        to.repository().store_blob(&bytes)?;
        if !has_whole(to, id)? {
            return Err(failed(FileProblem::NotFound).into());
        }
    }
    Ok(())
}
