//! Names that must fit together: a file and its id, an id and its uid.

use crate::format::finding::{Code, Finding};
use crate::handoff::Handoff;
use crate::text::id::HandoffKey;
use crate::text::span::Span;

pub(super) fn rules(handoff: &Handoff<'_>, place: Option<&HandoffKey>, out: &mut Vec<Finding>) {
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
pub struct Claim {
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
pub fn one_id_two_uids(own: &Claim, held: &[Claim]) -> Option<Finding> {
    let first = held.iter().find(|claim| claim.key == own.key)?;
    (first.uid != own.uid).then(|| {
        let message = format!("`{}` is also the id of {}", own.key, first.path);
        Finding::new(Code::OneIdTwoUids, own.at, message)
    })
}
