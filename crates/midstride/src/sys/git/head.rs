//! Reads the checked-out commit without starting git.

use super::Repository;
use crate::sys::files;
use midstride_core::session::repository::is_commit_id;
use midstride_core::text::id::CommitId;

/// Maximum number of symbolic references to follow. More are a cycle.
const LINKS_MAX: usize = 5;

impl Repository {
    /// The checked-out commit, or `None` before the first commit.
    pub fn head_commit(&self) -> Option<CommitId> {
        let mut name = "HEAD".to_owned();
        for _ in 0..LINKS_MAX {
            let text = self.reference(&name)?;
            match text.strip_prefix("ref: ") {
                Some(next) => name = next.trim().to_owned(),
                None => return is_commit_id(&text).then(|| CommitId::new(text)),
            }
        }
        None
    }

    pub(super) fn reference(&self, name: &str) -> Option<String> {
        let loose = [&self.git_dir, &self.common_dir]
            .into_iter()
            .find_map(|folder| files::read_small(&folder.join(name)).ok()?);
        loose.map(|text| text.trim().to_owned()).or_else(|| self.packed_reference(name))
    }

    fn packed_reference(&self, name: &str) -> Option<String> {
        let packed = files::read_small(&self.common_dir.join("packed-refs")).ok()??;
        packed.lines().find_map(|line| {
            let (commit, other) = line.split_once(' ')?;
            (other == name).then(|| commit.to_owned())
        })
    }
}
