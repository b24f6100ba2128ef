//! Names that must fit together: a file and its id, an id and its uid.

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
        let message = format!("the file stands for `{place}`, the document says `{key}`");
        out.push(Finding::new(Code::FileNameDiffers, id.at, message));
    }
}

/// A document's claim to a name.
#[derive(Clone, Debug)]
pub struct IdClaim {
    /// The name.
    pub key: HandoffKey,
    /// Who claims it; documents without a uid claim nothing.
    pub uid: String,
    /// Where the id is written.
    pub at: Span,
    /// What the document is called in messages.
    pub path: String,
}

/// The finding for a document whose name another handoff has taken before it.
pub fn duplicate_id_finding(own: &IdClaim, held: &[IdClaim]) -> Option<Finding> {
    let first = held.iter().find(|claim| claim.key == own.key)?;
    (first.uid != own.uid).then(|| {
        let message = format!("`{}` is also the id of {}", own.key, first.path);
        Finding::new(Code::DuplicateId, own.at, message)
    })
}
