//! The ledger of a project: its engine, and what an engine on this machine needs from the outside. The
//! contract is in `midstride-ledger`; this is the one place that chooses an engine.

mod append_queue;
mod bell;
mod database_error;
mod folder;
mod health;
pub(crate) mod large_blobs;
mod lease;
mod project;
mod redaction;
mod schema;
mod spool;
mod sqlite;

pub use database_error::DatabaseError;
pub(crate) use folder::LedgerFolder;
pub use health::{LedgerHealth, LedgerState};
pub use midstride_ledger::{
    Append, AppendDecision, AppendError, Blob, Cursor, ExpectedVersion, Lease, LeaseError, Ledger,
    LedgerError, LedgerRecord, LocalLedger, Page, RECORD_BYTES_MAX, RecordOutcome, StreamId,
    Version, decide, encode_record,
};
pub use project::{ProjectLedger, WaitPolicy};
pub use schema::NEWEST_VERSION;
pub(crate) use sqlite::FILE as LEDGER_FILE;
pub use sqlite::SqliteLedger;
pub(in crate::store) use sqlite::require_database;

use crate::store::sqlite_log;
use crate::sys::files::{self, FileError, Root};
use crate::workspace::Workspace;
use midstride_core::work::event::Envelope;
use std::path::Path;
use std::sync::Arc;

/// What the engine stores in its folder: all of it is read through the ledger.
pub(crate) const LEDGER_FILES: [&str; 7] = [
    LEDGER_FILE,
    "ledger.db-wal",
    "ledger.db-shm",
    "ledger.bell",
    sqlite::SET_UP,
    large_blobs::FOLDER,
    spool::FOLDER,
];

/// Opens the ledger of a project, creating it if it is missing. For a command, also appends the
/// spooled events.
pub(in crate::store) fn open(
    workspace: &Workspace,
    wait_policy: WaitPolicy,
) -> Result<ProjectLedger, LedgerError> {
    let folder = LedgerFolder::for_project(workspace).create(workspace)?;
    let ledger = open_in(folder, wait_policy)?;
    if wait_policy == WaitPolicy::Command {
        ledger.drain_spool()?;
        ledger.remove_stale_drafts();
    }
    Ok(ledger)
}

/// Opens the ledger of a store that the user took back, with what was spooled for it.
pub(in crate::store) fn open_to_merge(folder: &Path) -> Result<ProjectLedger, LedgerError> {
    let ledger = open_in(Root::open(folder)?.into_private(), WaitPolicy::Command)?;
    ledger.drain_spool()?;
    Ok(ledger)
}

fn open_in(folder: Root, wait_policy: WaitPolicy) -> Result<ProjectLedger, LedgerError> {
    let folder = Arc::new(folder);
    let engine = SqliteLedger::open_in(Arc::clone(&folder), wait_policy)?;
    Ok(ProjectLedger::new(Box::new(engine), folder, wait_policy))
}

/// Whether the project has a ledger.
pub(in crate::store) fn exists(workspace: &Workspace) -> bool {
    let folder = LedgerFolder::for_project(workspace);
    let path = folder.path().join(LEDGER_FILE);
    // A log without its database is no reason to go on as if there were no ledger.
    folder.is_readable(workspace) && (files::is_file(&path) || sqlite_log::has_data(&path))
}

/// Spools events for the next command, without opening the ledger.
pub(in crate::store) fn spool_events(
    workspace: &Workspace,
    stream: &StreamId,
    events: &[Envelope],
) -> Result<(), FileError> {
    let folder = LedgerFolder::for_project(workspace).create(workspace)?;
    spool::put(&folder, stream, events)
}
