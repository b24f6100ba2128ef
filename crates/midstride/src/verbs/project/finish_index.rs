//! Finishes the index of a project after a hook that ran out of time.

use crate::store::index::{Effort, Index, IndexError, RefreshLimit};
use crate::store::ledger::WaitPolicy;
use crate::workspace::Workspace;

/// Indexes every document that is still missing. Returns `false` if another process is already
/// doing that.
pub fn finish_index(workspace: &Workspace) -> Result<bool, IndexError> {
    // The index has all documents of the project, which a view of the user's own ones does not.
    if workspace.is_own_view() {
        return Ok(false);
    }
    let Some(_turn) = Index::lock_to_finish(workspace)? else { return Ok(false) };
    let finish = |index: Result<Index, IndexError>| {
        index?
            .refresh(workspace, Effort::Open, RefreshLimit::default(), &mut |_, _| ())
            .map(|_| true)
    };
    match finish(Index::open(workspace, WaitPolicy::Command)) {
        Err(error) if error.is_damaged() => {
            finish(Index::open_empty(workspace, WaitPolicy::Command))
        }
        finished => finished,
    }
}
