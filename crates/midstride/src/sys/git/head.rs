//! Reads the checked-out commit without starting git.

use super::{GitError, Repository};
use crate::sys::files::{self, FileError};
use midstride_core::session::repository::is_commit_id;
use midstride_core::text::id::CommitId;

/// Maximum number of symbolic references to follow. More are a cycle.
const LINKS_MAX: usize = 5;

impl Repository {
    /// The checked-out commit, or `None` before the first commit.
    pub fn head_commit(&self) -> Option<CommitId> {
        self.read_head_commit().ok()?
    }

    /// The same, but fails if it cannot be read.
    pub(crate) fn read_head_commit(&self) -> Result<Option<CommitId>, FileError> {
        let mut name = "HEAD".to_owned();
        for _ in 0..LINKS_MAX {
            let Some(text) = self.read_reference(&name)? else { return Ok(None) };
            match text.strip_prefix("ref: ") {
                Some(next) => name = next.trim().to_owned(),
                None => return Ok(is_commit_id(&text).then(|| CommitId::new(text))),
            }
        }
        Ok(None)
    }

    /// The same from git, which knows every way to store references.
    pub(super) fn checked_out_commit(&self) -> Result<Option<CommitId>, GitError> {
        let asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", "HEAD^{commit}"];
        match self.run(&asked, b"") {
            Ok(id) => Ok(Some(CommitId::new(String::from_utf8_lossy(&id).trim()))),
            // Git answers like this before the first commit, but also if it cannot read the branch.
            Err(GitError::Refused { code: Some(1), .. }) if self.read_head_commit()?.is_none() => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn reference(&self, name: &str) -> Option<String> {
        self.read_reference(name).ok()?
    }

    fn read_reference(&self, name: &str) -> Result<Option<String>, FileError> {
        for folder in [&self.git_dir, &self.common_dir] {
            if let Some(text) = files::read_small(&folder.join(name))? {
                return Ok(Some(text.trim().to_owned()));
            }
        }
        self.packed_reference(name)
    }

    /// Whether a packed reference is below a prefix. An unreadable list may have one.
    pub(super) fn has_packed_reference(&self, prefix: &str) -> bool {
        let packed = match files::read_named(&self.common_dir.join("packed-refs")) {
            Ok(packed) => packed,
            Err(error) => return !error.is_missing(),
        };
        let wanted = format!("{prefix}/");
        packed.split(|byte| *byte == b'\n').any(|line| {
            let name = line.iter().position(|byte| *byte == b' ').map(|at| &line[at + 1..]);
            name.is_some_and(|name| name.starts_with(wanted.as_bytes()))
        })
    }

    fn packed_reference(&self, name: &str) -> Result<Option<String>, FileError> {
        let packed = files::read_small(&self.common_dir.join("packed-refs"))?.unwrap_or_default();
        Ok(packed.lines().find_map(|line| {
            let (commit, other) = line.split_once(' ')?;
            (other == name).then(|| commit.to_owned())
        }))
    }
}
