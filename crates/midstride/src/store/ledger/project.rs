//! The ledger that verbs use: an engine, and a spool for what a hook cannot append in time.

use super::{
    Append, AppendError, Blob, Cursor, Lease, LeaseError, Ledger, LedgerError, LedgerRecord,
    LocalLedger, Page, RecordOutcome, StreamId, Version, spool,
};
use crate::sys::clock::Deadline;
use crate::sys::files::{Lock, Root};
use jiff::Timestamp;
use midstride_core::text::id::{BlobHash, SessionId};
use midstride_core::text::redact::RedactionRules;
use midstride_core::work::event::Envelope;
use midstride_ledger::{LedgerRedaction, LedgerWatch};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long to wait for other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitPolicy {
    /// A user waits.
    Command,
    /// A client waits for its hook: what cannot be appended quickly is spooled.
    Hook,
}

impl WaitPolicy {
    pub(super) fn timeout(self) -> Duration {
        match self {
            Self::Command => Duration::from_secs(30),
            Self::Hook => Duration::from_millis(50),
        }
    }
}

/// The ledger of a project. For a hook, events that do not depend on state are spooled if the engine
/// cannot append them in time.
pub struct ProjectLedger {
    engine: Box<dyn LocalLedger>,
    folder: Arc<Root>,
    wait_policy: WaitPolicy,
}

impl fmt::Debug for ProjectLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProjectLedger").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl ProjectLedger {
    /// A ledger whose spool and locks are in this folder.
    pub fn new(
        engine: Box<dyn LocalLedger>,
        folder: impl Into<Arc<Root>>,
        wait_policy: WaitPolicy,
    ) -> Self {
        Self { engine, folder: folder.into(), wait_policy }
    }

    /// How long callers of this ledger can wait.
    pub(crate) fn wait_policy(&self) -> WaitPolicy {
        self.wait_policy
    }

    /// Waits for a turn among the processes of this machine. A hook waits only briefly, because a client
    /// waits for it.
    pub(crate) fn lock(&self, name: &str) -> Result<Lock, LedgerError> {
        lock(&self.folder, name, self.wait_policy)
    }

    /// Appends the spooled events.
    pub(super) fn drain_spool(&self) -> Result<usize, LedgerError> {
        spool::drain(&self.folder, &*self.engine)
    }

    /// Removes what killed processes left in the folder of the ledger and the folders in it.
    pub(super) fn remove_stale_drafts(&self) {
        let inside = self.folder.entries(Path::new("")).unwrap_or_default();
        let folders = inside.iter().filter(|entry| entry.is_folder);
        self.folder.remove_stale_draft(Path::new(""));
        folders.for_each(|entry| self.folder.remove_stale_draft(Path::new(&entry.name)));
    }
}

/// Waits for a lock of the ledger, a hook only briefly.
pub(super) fn lock(
    folder: &Root,
    name: &str,
    wait_policy: WaitPolicy,
) -> Result<Lock, LedgerError> {
    if wait_policy == WaitPolicy::Command {
        return Ok(Lock::acquire(folder, name)?);
    }
    let deadline = Deadline::after(wait_policy.timeout());
    loop {
        if let Some(turn) = Lock::try_acquire(folder, name)? {
            return Ok(turn);
        }
        if deadline.has_passed() {
            let message = format!("another process holds its lock `{name}`");
            return Err(LedgerError::Unavailable(message));
        }
        std::thread::yield_now();
    }
}

impl Ledger for ProjectLedger {
    fn append_all(&self, appends: &[Append<'_>]) -> Vec<Result<Version, AppendError>> {
        self.engine.append_all(appends)
    }

    fn read_page(
        &self,
        stream: &StreamId,
        after: Option<Version>,
        max: usize,
    ) -> Result<Vec<LedgerRecord>, LedgerError> {
        self.engine.read_page(stream, after, max)
    }

    fn read_all(&self, after: &Cursor, max: usize) -> Result<Page, LedgerError> {
        self.engine.read_all(after, max)
    }

    fn read_prefix_page(
        &self,
        prefix: &str,
        after: &Cursor,
        max: usize,
    ) -> Result<Page, LedgerError> {
        self.engine.read_prefix_page(prefix, after, max)
    }

    fn last_per_stream_page(
        &self,
        prefix: &str,
        after: &Cursor,
        max: usize,
    ) -> Result<Page, LedgerError> {
        self.engine.last_per_stream_page(prefix, after, max)
    }

    fn watch(&self) -> Result<Box<dyn LedgerWatch>, LedgerError> {
        self.engine.watch()
    }

    fn acquire_lease(&self, name: &str) -> Result<Lease, LeaseError> {
        self.engine.acquire_lease(name)
    }

    fn store_blob(&self, blob: &Blob<'_>) -> Result<(), LedgerError> {
        self.engine.store_blob(blob)
    }

    fn get_blob(&self, hash: &BlobHash) -> Result<Option<Vec<u8>>, LedgerError> {
        self.engine.get_blob(hash)
    }
}

impl LocalLedger for ProjectLedger {
    fn append_missing(
        &self,
        streams: &[(StreamId, Vec<Envelope>)],
    ) -> Result<RecordOutcome, AppendError> {
        match self.engine.append_missing(streams) {
            Err(AppendError::Busy(why) | AppendError::Unavailable(why))
                if self.wait_policy == WaitPolicy::Hook =>
            {
                for (stream, events) in streams {
                    let spooled = spool::put(&self.folder, stream, events);
                    spooled.map_err(|error| AppendError::Unavailable(format!("{why}; {error}")))?;
                }
                Ok(RecordOutcome::Later)
            }
            appended => appended,
        }
    }

    fn latest_with_prefix(
        &self,
        prefix: &str,
        max: usize,
    ) -> Result<Vec<LedgerRecord>, LedgerError> {
        self.engine.latest_with_prefix(prefix, max)
    }

    fn blobs_with_prefix(&self, beginning: &str) -> Result<Vec<BlobHash>, LedgerError> {
        self.engine.blobs_with_prefix(beginning)
    }

    fn forgotten_blobs(&self) -> Result<BTreeSet<BlobHash>, LedgerError> {
        self.engine.forgotten_blobs()
    }

    fn forget_blob(&self, hash: &BlobHash) -> Result<(), LedgerError> {
        self.engine.forget_blob(hash)
    }

    fn forget_session(&self, client: &str, session: &SessionId) -> Result<usize, LedgerError> {
        self.engine.forget_session(client, session)
    }

    fn redact(
        &self,
        rules: &RedactionRules,
        now: Timestamp,
    ) -> Result<LedgerRedaction, LedgerError> {
        let redacted = self.engine.redact(rules, now)?;
        let waiting = spool::redact(&self.folder, rules)?;
        Ok(LedgerRedaction { waiting, ..redacted })
    }

    fn erase_unused(&self) -> Result<(), LedgerError> {
        self.engine.erase_unused()
    }
}
