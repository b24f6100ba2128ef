//! Texts that a handoff had before. In a repository they are blobs that a reference keeps alive;
//! without git they are files in the private folder.

use crate::files::{FileError, Problem};
use crate::git::GitError;
use crate::project::{Project, Shelved};
use midstride_core::redact::Clean;
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};

/// Why a text could not be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    /// The handoff has fewer revisions.
    #[error("`{key}` has {last} revisions, there is no `{key}@{wanted}`")]
    NoSuch {
        /// The handoff.
        key: String,
        /// What was asked for.
        wanted: usize,
        /// The number of its newest text.
        last: usize,
    },
    /// The text was made elsewhere and never came here.
    #[error("the text of `{key}@{wanted}` is not on this machine")]
    NotHere {
        /// The handoff.
        key: String,
        /// What was asked for.
        wanted: usize,
    },
    /// Git did not keep it.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Project {
    /// Keeps texts of a handoff and gives back their ids.
    pub(crate) fn keep_texts(
        &self,
        uid: &str,
        texts: &[&Clean],
    ) -> Result<Vec<String>, RevisionError> {
        let Some(repository) = self.repository() else {
            let stored = texts.iter().map(|text| self.store_in_folder(text));
            return stored.collect::<Result<_, _>>().map_err(RevisionError::from);
        };
        let mut ids = Vec::new();
        for text in texts {
            ids.push(repository.store_blob(text.as_str().as_bytes())?);
        }
        repository.keep_blobs(&format!("refs/midstride/handoffs/{uid}"), &ids)?;
        Ok(ids)
    }

    fn store_in_folder(&self, text: &Clean) -> Result<String, FileError> {
        let digest = Sha256::digest(text.as_str().as_bytes());
        let id: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        match self.make_private()?.create(&text_path(&id), text.as_str().as_bytes()) {
            Ok(()) | Err(FileError { problem: Problem::Exists, .. }) => Ok(id),
            Err(error) => Err(error),
        }
    }

    /// A kept text; `None` where it is not on this machine.
    fn kept_text(&self, id: &str) -> Result<Option<Vec<u8>>, FileError> {
        if !id.bytes().all(|byte| byte.is_ascii_hexdigit()) || id.is_empty() {
            return Ok(None);
        }
        if let Some(repository) = self.repository() {
            return Ok(repository.blob(id));
        }
        match self.make_private()?.read(&text_path(id)) {
            Ok(text) => Ok(Some(text)),
            Err(FileError { problem: Problem::NotFound, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The text of a revision, counted from one; the last one is the document as it is.
    pub fn text_of(&self, shelved: &Shelved, wanted: usize) -> Result<Vec<u8>, RevisionError> {
        let handoff = shelved.handoff(self);
        let key = handoff.key().to_string();
        let replaced = handoff.replaced_texts();
        let last = replaced.len() + 1;
        if wanted == last {
            return Ok(shelved.bytes.clone());
        }
        let id = wanted.checked_sub(1).and_then(|index| replaced.get(index));
        let id = id.ok_or_else(|| RevisionError::NoSuch { key: key.clone(), wanted, last })?;
        let text = id.map(|id| self.kept_text(id.value.trim())).transpose()?.flatten();
        text.ok_or(RevisionError::NotHere { key, wanted })
    }
}

fn text_path(id: &str) -> PathBuf {
    Path::new("texts").join(id)
}
