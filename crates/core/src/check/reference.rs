//! Names that must fit together: a file and its id, an id and its uid.

use crate::finding::{Code, Finding};
use crate::handoff::Handoff;
use crate::id::HandoffKey;
use crate::span::Span;
use std::collections::HashMap;

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

/// Finds documents whose name belongs to another handoff, by their position in `claims`.
pub fn one_id_two_uids(claims: &[Claim]) -> Vec<(usize, Finding)> {
    let mut first: HashMap<&HandoffKey, &Claim> = HashMap::new();
    let mut found = Vec::new();
    for (position, claim) in claims.iter().enumerate() {
        let holder = *first.entry(&claim.key).or_insert(claim);
        if holder.uid != claim.uid {
            let message = format!("`{}` is also the id of {}", claim.key, holder.path);
            found.push((position, Finding::new(Code::OneIdTwoUids, claim.at, message)));
        }
    }
    found
}
