//! Finish the index of a project, after a hook that had no time for it.

use crate::store::index::{Effort, Index, IndexError, RefreshLimit};
use crate::store::ledger::WaitPolicy;
use crate::workspace::project::Project;

/// Reads every document that the index does not have yet. Returns `false` while another process does
/// that.
pub fn finish_index(project: &Project) -> Result<bool, IndexError> {
    let Some(_turn) = Index::lock_to_finish(project)? else { return Ok(false) };
    let finish = |index: Result<Index, IndexError>| {
        index?.refresh(project, Effort::Open, RefreshLimit::default(), &mut |_, _| ()).map(|_| true)
    };
    match finish(Index::open(project, WaitPolicy::Command)) {
        Err(error) if error.is_damaged() => finish(Index::open_empty(project, WaitPolicy::Command)),
        finished => finished,
    }
}
