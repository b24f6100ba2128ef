//! The repository of our own with the texts of handoffs that are not committed, and sharing them once
//! their handoff is committed.

use crate::store::Store;
use crate::store::text_refs::{PRIVATE, SHARED, uid_file_name};
use crate::sys::files::FileError;
use crate::sys::git::{GitError, LazyObjectReader, Repository};
use crate::workspace::StoredHandoff;
use midstride_core::text::id::BlobHash;
use std::collections::BTreeSet;

impl Store {
    /// Our own repository, if it exists and can be used.
    pub(crate) fn own_texts(&self) -> Option<&Repository> {
        if let Some(own) = self.own_texts.get() {
            return Some(own);
        }
        let private = self.workspace().repository().and(self.workspace().private().ok()?)?;
        let own = Repository::open_own(&private).ok()??;
        Some(self.own_texts.get_or_init(|| own))
    }

    /// Our own repository, created if it is missing. Only for a project with git.
    pub(crate) fn make_own_texts(&self) -> Result<&Repository, FileError> {
        if let Some(own) = self.own_texts.get() {
            return Ok(own);
        }
        let private = self.workspace().make_private()?;
        let project = self.workspace().repository();
        let own = Repository::make_own(&private, project.expect("texts are blobs only with git"))?;
        Ok(self.own_texts.get_or_init(|| own))
    }

    /// Moves the texts of handoffs that are committed by now to the project's repository. Returns how
    /// many handoffs still wait for their commit.
    pub(crate) fn share_committed_texts(
        &self,
        is_committed: &dyn Fn(&str) -> bool,
    ) -> Result<usize, GitError> {
        let (Some(project), Some(own)) = (self.workspace().repository(), self.own_texts()) else {
            return Ok(0);
        };
        let mut waiting = 0;
        for name in own.references_below(SHARED)? {
            let uid = name.rsplit_once('/').map_or("", |(_, uid)| uid);
            if is_committed(uid) {
                own.move_blobs(&mut LazyObjectReader::new(project), &name, &[])?;
            } else {
                waiting += 1;
            }
        }
        Ok(waiting)
    }

    /// The ids of texts that are never shared.
    pub(crate) fn private_text_ids(&self) -> Result<BTreeSet<BlobHash>, GitError> {
        let mut ids = BTreeSet::new();
        for repository in self.workspace().repository().into_iter().chain(self.own_texts()) {
            let kept = repository.kept_blobs_below(&[PRIVATE])?.into_iter();
            ids.extend(kept.flat_map(|(_, kept)| kept.ids));
        }
        Ok(ids)
    }

    /// The uids of committed handoffs, as file names.
    pub(crate) fn committed_uids(&self) -> Result<BTreeSet<String>, GitError> {
        let workspace = self.workspace();
        let Some(project) = workspace.repository() else { return Ok(BTreeSet::new()) };
        let committed = project.committed_markdown()?;
        let uid_of = |stored: StoredHandoff| {
            let inside = workspace.path_in_work_tree(&stored)?;
            let uid = stored.handoff(workspace).uid()?;
            committed.contains(&inside).then(|| uid_file_name(&uid))
        };
        Ok(workspace.read_all().into_iter().filter_map(Result::ok).filter_map(uid_of).collect())
    }
}
