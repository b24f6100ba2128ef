//! Lists the blocking questions for a handoff: its own, and those of the handoffs it builds on.

use crate::workspace::{StoredHandoff, Workspace};
use midstride_core::format::header::Status;
use midstride_core::text::id::HandoffKey;

/// A question that blocks the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockingQuestion {
    /// The handoff that asks it.
    pub handoff: HandoffKey,
    /// Its number there, as `answer` counts them.
    pub number: usize,
    /// The question, redacted.
    pub question: String,
    /// Who should answer it.
    pub owner: Option<String>,
}

/// The open blocking questions of a handoff, then those of the handoffs it builds on. A resolved
/// upstream still counts; a superseded or abandoned one does not.
pub fn blocking_questions(workspace: &Workspace, stored: &StoredHandoff) -> Vec<BlockingQuestion> {
    let upstream = workspace.upstream_handoffs(stored);
    std::iter::once(stored)
        .chain(&upstream)
        .flat_map(|one| own_blocking_questions(workspace, one))
        .collect()
}

fn own_blocking_questions(workspace: &Workspace, stored: &StoredHandoff) -> Vec<BlockingQuestion> {
    let handoff = stored.handoff(workspace);
    if matches!(handoff.status(), Status::Superseded | Status::Abandoned) {
        return Vec::new();
    }
    let clean = |text: &str| workspace.clean(text.trim()).0.as_str().replace('\n', " ");
    let numbered = (1..).zip(handoff.questions()).filter(|(_, question)| question.blocks());
    let blocking = numbered.map(|(number, question)| BlockingQuestion {
        handoff: handoff.key(),
        number,
        question: question.question.map_or_else(String::new, |text| clean(text.value)),
        owner: question.owner.map(|owner| clean(owner.value)),
    });
    blocking.collect()
}
