//! Finds the two revisions that `diff` compares.

use crate::store::Store;
use crate::store::revisions::RevisionError;
use crate::workspace::StoredHandoff;
use midstride_core::text::id::HandoffKey;

/// A handoff, and the number of a revision if the user gave one.
#[derive(Clone, Copy, Debug)]
pub struct NamedRevision<'a> {
    /// The handoff.
    pub stored: &'a StoredHandoff,
    /// The number, counted from one.
    pub number: Option<usize>,
}

/// The text of a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionText {
    /// The handoff.
    pub key: HandoffKey,
    /// The number of the revision.
    pub number: usize,
    /// Its text, which may be any bytes.
    pub text: Vec<u8>,
}

/// Why there is nothing to compare.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// The handoff has only one revision, and the user named none.
    #[error("`{0}` was never revised")]
    NeverRevised(HandoffKey),
    /// A text could not be read.
    #[error(transparent)]
    Revision(#[from] RevisionError),
}

/// The old and the new revision. Without numbers, they are the last two.
pub fn diff(
    store: &Store,
    from: NamedRevision<'_>,
    to: NamedRevision<'_>,
) -> Result<(RevisionText, RevisionText), DiffError> {
    let workspace = store.workspace();
    let newest = |stored: &StoredHandoff| stored.handoff(workspace).replaced_texts().len() + 1;
    let old = match (from.number, newest(from.stored)) {
        (Some(number), _) => number,
        (None, 1) => return Err(DiffError::NeverRevised(from.stored.handoff(workspace).key())),
        (None, last) => last - 1,
    };
    let new = to.number.filter(|number| *number > 0).unwrap_or_else(|| newest(to.stored));
    Ok((read_text(store, from.stored, old)?, read_text(store, to.stored, new)?))
}

fn read_text(
    store: &Store,
    stored: &StoredHandoff,
    number: usize,
) -> Result<RevisionText, RevisionError> {
    let key = stored.handoff(store.workspace()).key();
    Ok(RevisionText { key, number, text: store.revision_text(stored, number)? })
}
