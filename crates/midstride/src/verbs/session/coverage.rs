//! Compares a handoff with what its session did.

use crate::clients;
use crate::store::Store;
use crate::store::ledger::Ledger as _;
use crate::verbs::session::checkpoint::{CheckpointError, capture_checkpoint};
use crate::verbs::session::sessions::session;
use crate::workspace::{SetupMode, Workspace};
use midstride_core::format::document::Document;
use midstride_core::format::header::Recovery;
use midstride_core::handoff::{Handoff, Location};
use midstride_core::session::checkpoint::{Checkpoint, CheckpointMode, Highlights};
use midstride_core::session::coverage::Coverage;
use midstride_core::session::quality;
use midstride_core::text::id::{BlobHash, ClientName, SessionId};
use std::path::PathBuf;

/// A session to compare with every handoff, whatever session it names.
#[derive(Clone, Debug)]
pub enum ComparedSession {
    /// By id, or by an unambiguous prefix of it.
    Session(String),
    /// By the path of its transcript.
    Transcript(PathBuf),
}

/// The result of comparing a handoff with its session.
#[derive(Debug)]
pub enum SessionComparison {
    /// The session was compared.
    Compared {
        /// The name of the client that ran it.
        client: ClientName,
        /// Its id.
        session: SessionId,
        /// What happened, and how much of it the handoff covers.
        coverage: Coverage,
    },
    /// The session is not recorded on this machine.
    NotRecorded {
        /// Its id, or that of its checkpoint.
        session: String,
    },
}

impl SessionComparison {
    /// The coverage, if the session could be compared.
    pub fn coverage(&self) -> Option<&Coverage> {
        match self {
            Self::Compared { coverage, .. } => Some(coverage),
            Self::NotRecorded { .. } => None,
        }
    }
}

/// Looks up the sessions that handoffs name.
#[derive(Default)]
pub(in crate::verbs) struct SessionLookup {
    given: Option<Checkpoint>,
}

impl SessionLookup {
    /// Uses one session for every handoff.
    pub(in crate::verbs) fn only(checkpoint: Checkpoint) -> Self {
        Self { given: Some(checkpoint) }
    }

    /// Whether every handoff is compared with one session.
    pub(in crate::verbs) fn is_fixed(&self) -> bool {
        self.given.is_some()
    }

    /// Compares a handoff with its session; `None` if it names none.
    pub(in crate::verbs) fn compare(
        &self,
        store: &Store,
        handoff: &Handoff<'_>,
    ) -> Option<SessionComparison> {
        let workspace = store.workspace();
        if let Some(checkpoint) = &self.given {
            return Some(compare_checkpoint(workspace, checkpoint, handoff));
        }
        let Recovery { session, checkpoint: blob, .. } = handoff.recovery()?;
        Some(match read_stored(store, &blob) {
            Some(checkpoint) => compare_checkpoint(workspace, &checkpoint, handoff),
            None => SessionComparison::NotRecorded {
                session: session.map_or_else(|| blob.to_string(), |session| session.to_string()),
            },
        })
    }
}

/// A checkpoint in the ledger. A lookup does not create a ledger.
fn read_stored(store: &Store, blob: &BlobHash) -> Option<Checkpoint> {
    let ledger = store.existing_ledger().ok()??;
    ledger.get_blob(blob).ok().flatten().and_then(|bytes| Checkpoint::parse(&bytes))
}

/// How much of a session a document covers, counting only what its author wrote, not what midstride
/// added.
pub(in crate::verbs) fn measure_coverage(
    workspace: &Workspace,
    checkpoint: &Checkpoint,
    document: &Document,
) -> Coverage {
    let authored = quality::author_document(document, checkpoint.title().as_deref());
    let whereabouts = Location::default();
    let handoff = Handoff::new(&authored, &whereabouts, &workspace.settings().stages);
    Coverage::compare(&Highlights::from_checkpoint(checkpoint), &handoff)
}

fn compare_checkpoint(
    workspace: &Workspace,
    checkpoint: &Checkpoint,
    handoff: &Handoff<'_>,
) -> SessionComparison {
    SessionComparison::Compared {
        client: checkpoint.client().clone(),
        session: checkpoint.session_id(),
        coverage: measure_coverage(workspace, checkpoint, handoff.document()),
    }
}

/// Reads the session to compare handoffs with, from this project or another.
pub(in crate::verbs) fn read_session(
    store: &Store,
    compared: &ComparedSession,
) -> Result<Checkpoint, CheckpointError> {
    let workspace = store.workspace();
    if workspace.setup() == SetupMode::NotSetUp {
        return Err(CheckpointError::NotSetUp);
    }
    match compared {
        ComparedSession::Session(id) => Ok(session(store, id, None)?.checkpoint),
        ComparedSession::Transcript(path) => {
            let found = clients::read_transcript(&workspace.environment().folder.join(path), None)?;
            Ok(capture_checkpoint(workspace, &found, CheckpointMode::Checkpoint)?
                .serialized
                .checkpoint)
        }
    }
}
