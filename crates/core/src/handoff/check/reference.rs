//! Checks that names agree: the file name with the id, and the id with the uid.

use crate::format::finding::{Code, Finding};
use crate::handoff::Handoff;
use crate::text::id::HandoffKey;
use crate::text::span::Span;

pub(super) fn check(handoff: &Handoff<'_>, place: Option<&HandoffKey>, out: &mut Vec<Finding>) {
    let key = handoff.key();
    if let (Some(place), Some(id)) = (place, handoff.node("id"))
        && *place != key
        && !id.is_blank()
    {
        let message = format!("the file name says `{place}`, but the document says `{key}`");
        out.push(Finding::new(Code::FileNameDiffers, id.at, message));
    }
}

/// A document that uses a key.
#[derive(Clone, Debug)]
pub struct IdClaim {
    /// The key.
    pub key: HandoffKey,
    /// The uid of the document. Documents without a uid make no claim.
    pub uid: String,
    /// The span of the `id`.
    pub at: Span,
    /// The document's path, for messages.
    pub path: String,
}

/// The finding for a document whose key already belongs to another handoff.
pub fn duplicate_id_finding(own: &IdClaim, held: &[IdClaim]) -> Option<Finding> {
    let first = held.iter().find(|claim| claim.key == own.key)?;
    (first.uid != own.uid).then(|| {
        let message = format!("`{}` is also the id of {}", own.key, first.path);
        Finding::new(Code::DuplicateId, own.at, message)
    })
}
