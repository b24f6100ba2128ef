//! Checks that a closed status has what it needs: a commit, an outcome, a successor or a reason.

use super::{CheckContext, header_key_span};
use crate::format::finding::{Code, Finding};
use crate::format::header::Status;
use crate::handoff::Handoff;

pub(super) fn check(handoff: &Handoff<'_>, context: &dyn CheckContext, out: &mut Vec<Finding>) {
    let at = handoff.node("status").map_or(header_key_span(handoff), |node| node.at);
    let resolution = handoff.resolution();
    let successor = handoff.superseded_by();
    match handoff.status() {
        Status::Resolved => {
            let is_explained =
                resolution.is_some_and(|r| r.commit.is_some() || r.outcome.is_some());
            if !is_explained {
                let message = "resolved, but no commit or outcome is given";
                out.push(Finding::new(Code::ResolvedWithoutCommit, at, message));
            }
            if let Some(why) = handoff.review_block_reason() {
                let message = format!("resolved, but the review is blocking: {why}");
                out.push(Finding::new(Code::ResolvedButBlocked, at, message));
            }
        }
        Status::Superseded => {
            if successor.is_none() {
                let message = "superseded, but `superseded_by` does not name a handoff";
                out.push(Finding::new(Code::SupersededWithoutSuccessor, at, message));
            }
        }
        Status::Abandoned => {
            let is_explained =
                resolution.is_some_and(|r| r.reason.is_some() || r.outcome.is_some());
            if !is_explained {
                let message = "abandoned, but `resolution` gives no reason";
                out.push(Finding::new(Code::AbandonedWithoutReason, at, message));
            }
        }
        Status::Planned | Status::InProgress => {
            let end = match (&resolution, successor) {
                (Some(resolution), _) => Some((resolution.at, "has a resolution")),
                (None, Some(successor)) => Some((successor.at, "was superseded")),
                (None, None) => None,
            };
            if let Some((at, how)) = end {
                let message = format!("the handoff {how}, but its status is {}", handoff.status());
                out.push(Finding::new(Code::ClosedButOpen, at, message));
            }
        }
    }
    if let Some(successor) =
        successor.filter(|successor| !context.has_handoff(successor.value.trim()))
    {
        let message =
            format!("`superseded_by` refers to `{}`, which does not exist", successor.value);
        out.push(Finding::new(Code::UnknownReference, successor.at, message));
    }
}
