//! Reads what sessions did: from their captures, and from the transcripts of those that did more since.

use super::summary_of_session;
use crate::store::Store;
use crate::store::ledger::LedgerError;
use crate::sys::env::SessionName;
use crate::sys::files::FileError;
use crate::verbs::session::sessions::{Extent, ListedSession, sessions, summarize_transcript};
use crate::workspace::Workspace;
use midstride_core::session::checkpoint::SessionSummary;

/// A longer transcript that was not captured is not read: the user waits.
const TRANSCRIPT_BYTES_MAX: u64 = 64 << 20;
/// How many transcripts are read. Older sessions count as last captured.
const TRANSCRIPTS_MAX: usize = 20;

/// A session and what it did.
#[derive(Debug)]
pub(in crate::verbs) struct SummarizedSession {
    /// The session in the list.
    pub(in crate::verbs) listed: ListedSession,
    /// What it did; `None` if it was not captured.
    pub(in crate::verbs) summary: Option<SessionSummary>,
}

/// The wanted sessions of a project, newest first, and the files that could not be read.
pub(in crate::verbs) fn summarize_sessions(
    store: &Store,
    is_wanted: impl Fn(&ListedSession) -> bool,
) -> Result<(Vec<SummarizedSession>, Vec<FileError>), LedgerError> {
    let (list, unread) = sessions(store, None)?;
    let mut transcripts_left = TRANSCRIPTS_MAX;
    let mut summarized = Vec::new();
    let is_kept = |one: &ListedSession| one.extent != Extent::Forgotten && is_wanted(one);
    for listed in list.into_iter().filter(is_kept) {
        let may_read = listed.extent == Extent::Whole || transcripts_left > 0;
        transcripts_left -= usize::from(may_read && listed.extent != Extent::Whole);
        let summary = match may_read {
            true => summarize_session(store, &listed)?,
            false => read_captured(store, &listed)?,
        };
        summarized.push(SummarizedSession { listed, summary });
    }
    Ok((summarized, unread))
}

/// What a session did: up to now if its transcript can be read, or else up to its last capture.
pub(in crate::verbs) fn summarize_session(
    store: &Store,
    listed: &ListedSession,
) -> Result<Option<SessionSummary>, LedgerError> {
    match summarize_uncaptured(store.workspace(), listed) {
        Some(fresh) => Ok(Some(fresh)),
        None => read_captured(store, listed),
    }
}

/// What a session did up to its last capture.
fn read_captured(
    store: &Store,
    listed: &ListedSession,
) -> Result<Option<SessionSummary>, LedgerError> {
    if listed.blob.is_none() {
        return Ok(None);
    }
    let name = SessionName { client: listed.client.name().to_owned(), id: listed.session.clone() };
    summary_of_session(store.ledger()?, &name)
}

/// Summarizes a session that did more than was captured. An error only means that this is missing.
pub(in crate::verbs) fn summarize_uncaptured(
    workspace: &Workspace,
    one: &ListedSession,
) -> Option<SessionSummary> {
    let found = one.transcript.as_ref().filter(|found| found.bytes <= TRANSCRIPT_BYTES_MAX)?;
    // Reading stores how far it got, which needs a private folder.
    let is_behind = matches!(one.extent, Extent::None | Extent::Part);
    workspace.private().ok().flatten().filter(|_| is_behind)?;
    summarize_transcript(workspace, found).ok()
}
