//! Creates a handoff from a session.

use crate::clients::Client;
use crate::store::Store;
use crate::verbs::handoff::save::{self, PromotedHandoff, SaveError};
use crate::verbs::session::checkpoint::{CheckpointError, store_checkpoint};
use crate::verbs::session::sessions::{find_session, last_checkpoint};
use midstride_core::session::author_notes::AuthorNotes;
use midstride_core::session::checkpoint::CheckpointMode;

/// Why no handoff was created from a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromoteError {
    /// The session could not be captured.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The handoff could not be created.
    #[error(transparent)]
    Save(#[from] SaveError),
}

/// Creates a private handoff from a session, with facts only. If the session already has an open
/// handoff, returns that.
pub fn promote(
    store: &Store,
    name: &str,
    client: Option<&'static dyn Client>,
    id: Option<String>,
) -> Result<PromotedHandoff, PromoteError> {
    let workspace = store.workspace();
    let one = find_session(store, name, client)?;
    let (checkpoint, blob) = match &one.transcript {
        Some(found) => {
            let ledger = store.ledger();
            let ledger = ledger.map_err(CheckpointError::from)?;
            let done = store_checkpoint(workspace, ledger, found, CheckpointMode::Checkpoint)?;
            (done.checkpoint, done.blob)
        }
        None => last_checkpoint(store, &one)?,
    };
    let about = checkpoint.first_request().unwrap_or_else(|| "nothing asked".to_owned());
    let facts = &checkpoint.session;
    let failed = facts.commands.iter().filter(|c| c.error.is_some()).count();
    let summary = format!(
        "A session of {} that was asked: {about} It changed {} files, ran {} commands, {failed} of \
         which failed, and left {} tasks open.",
        facts.client,
        facts.files.changed().count(),
        facts.commands.total(),
        facts.tasks.iter().filter(|task| task.status.is_open()).count(),
    );
    let judgement = AuthorNotes { summary: Some(summary), ..AuthorNotes::default() };
    Ok(save::save_facts_only(store, &checkpoint, &blob, judgement, id)?)
}
