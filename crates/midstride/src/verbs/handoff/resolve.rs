//! Closes a handoff: resolved, superseded or abandoned.

use crate::journal::{RecordedRevision, RevisionInfo};
use crate::store::Store;
use crate::verbs::handoff::apply::{ApplyError, apply, commit_id};
use crate::verbs::handoff::blocking::{BlockingQuestion, blocking_questions};
use crate::workspace::{StoredHandoff, Workspace};
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::Handoff;
use midstride_core::handoff::lifecycle::{self, CloseReason, MeasuredValue};
use midstride_core::text::id::HandoffKey;

/// How to close a handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolveRequest {
    /// How it ended.
    pub ending: CloseReason,
    /// Numbers measured after the work.
    pub measured: Vec<MeasuredValue>,
    /// Who closes it.
    pub by: Option<String>,
}

/// How a handoff ended, as the user typed it.
#[derive(Clone, Copy, Debug, Default)]
pub struct TypedEnding<'a> {
    /// The commit that did the work.
    pub commit: Option<&'a str>,
    /// The outcome.
    pub outcome: Option<&'a str>,
    /// The handoff that supersedes it.
    pub superseded_by: Option<&'a HandoffKey>,
    /// Why it was abandoned.
    pub abandoned: Option<&'a str>,
}

/// Why a handoff cannot be closed with this input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveInputError {
    /// It names no ending, or more than one.
    #[error("specify exactly one way to close the handoff")]
    NoSingleEnding,
    /// The commit is not in this repository.
    #[error(transparent)]
    Commit(#[from] ApplyError),
}

/// A handoff that was closed.
#[derive(Debug)]
pub struct ResolveOutcome {
    /// The revision with the new status.
    pub recorded: RecordedRevision,
    /// Its reason.
    pub reason: String,
    /// The blocking questions that are still open, here and upstream. Empty unless the work was
    /// done.
    pub blocking: Vec<BlockingQuestion>,
}

impl ResolveRequest {
    /// Parses what the user typed. A commit and an outcome can be combined; nothing else can.
    pub fn parse(
        workspace: &Workspace,
        typed: TypedEnding<'_>,
        by: Option<String>,
    ) -> Result<Self, ResolveInputError> {
        let ending = match (typed.commit, typed.outcome, typed.superseded_by, typed.abandoned) {
            (None, None, Some(successor), None) => CloseReason::Superseded(successor.to_string()),
            (None, None, None, Some(reason)) => CloseReason::Abandoned(reason.to_owned()),
            (commit, outcome, None, None) if commit.or(outcome).is_some() => {
                CloseReason::Resolved {
                    commit: commit.map(|named| commit_id(workspace, named)).transpose()?,
                    outcome: outcome.map(str::to_owned),
                }
            }
            _ => return Err(ResolveInputError::NoSingleEnding),
        };
        Ok(Self { ending, measured: Vec::new(), by })
    }
}

/// Closes a handoff.
pub fn resolve(
    store: &Store,
    stored: &StoredHandoff,
    request: &ResolveRequest,
) -> Result<ResolveOutcome, ApplyError> {
    let workspace = store.workspace();
    let ResolveRequest { ending, measured, by } = request;
    let now = workspace.environment().clock.now();
    let decide = |handoff: &Handoff<'_>| lifecycle::resolve(handoff, ending, measured, now);
    let change = RevisionInfo::by_verb(RevisionVerb::Resolve, reason(ending), by.clone());
    // Open questions only matter if the work was done.
    let blocking = match ending {
        CloseReason::Resolved { .. } => blocking_questions(workspace, stored),
        CloseReason::Superseded(_) | CloseReason::Abandoned(_) => Vec::new(),
    };
    let recorded = apply(store, stored, &decide, &change)?;
    Ok(ResolveOutcome { recorded, reason: change.reason, blocking })
}

/// The reason for the history.
fn reason(ending: &CloseReason) -> String {
    match ending {
        CloseReason::Resolved { .. } => "resolved".to_owned(),
        CloseReason::Superseded(successor) => format!("superseded by {successor}"),
        CloseReason::Abandoned(why) => format!("abandoned: {why}"),
    }
}
