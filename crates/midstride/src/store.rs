//! Data that midstride stores next to the documents: the ledger, earlier revisions and the index.

pub mod contents;
pub mod index;
mod interrupt;
pub mod ledger;
pub mod merge;
mod private_texts;
pub mod reconcile;
pub mod redaction;
pub mod revisions;
pub(crate) mod sqlite_log;
pub(crate) mod text_refs;
pub mod tombstone;

pub use private_texts::MoveStep;

use crate::sys::git::Repository;
use crate::workspace::Workspace;
use index::{Index, IndexError};
use ledger::{
    AppendError, LedgerError, LocalLedger, ProjectLedger, RecordOutcome, StreamId, WaitPolicy,
};
use midstride_core::work::event::Envelope;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// What midstride stores for a project. Each database is opened on first use, once.
#[derive(Debug)]
pub struct Store {
    workspace: Workspace,
    wait_policy: WaitPolicy,
    ledger: OnceLock<ProjectLedger>,
    /// The repository with the texts of handoffs that are not committed.
    own_texts: OnceLock<Repository>,
    index: Mutex<IndexSlot>,
}

/// The index of a store.
#[derive(Debug, Default)]
enum IndexSlot {
    #[default]
    Unopened,
    Open(Index),
    /// It could not be opened. Opening it again would wait again.
    Unusable,
}

impl IndexSlot {
    fn set(&mut self, opened: Result<Index, IndexError>) -> Option<&mut Index> {
        *self = opened.map_or(Self::Unusable, Self::Open);
        self.get()
    }

    fn get(&mut self) -> Option<&mut Index> {
        match self {
            Self::Open(index) => Some(index),
            Self::Unopened | Self::Unusable => None,
        }
    }
}

impl Store {
    /// The store of a project. Opens nothing yet.
    ///
    /// ```
    /// use midstride::store::Store;
    /// use midstride::store::ledger::{Ledger, WaitPolicy};
    /// # use midstride::sys::clock::Clock;
    /// # use midstride::sys::env::{Invoker, Environment, UserName, Variables};
    /// # use midstride::verbs;
    /// # use midstride::workspace::Workspace;
    /// # let project = tempfile::tempdir()?;
    /// # let environment = Environment {
    /// #     folder: project.path().to_owned(),
    /// #     home: None,
    /// #     state: None,
    /// #     variables: Variables::NONE,
    /// #     editor: None,
    /// #     user: UserName::given("ada"),
    /// #     invoker: Invoker::User,
    /// #     session: None,
    /// #     clock: Clock::Fixed("2026-03-21T17:24:00Z".parse()?),
    /// # };
    /// # verbs::init(&Workspace::discover(environment.clone())?, false, None)?;
    /// # let workspace = Workspace::discover(environment)?;
    ///
    /// let store = Store::new(workspace, WaitPolicy::Command);
    /// let ledger = store.ledger()?;
    /// let hash = ledger.put_blob(b"the text before the edit")?;
    /// assert_eq!(ledger.get_blob(&hash)?.as_deref(), Some(b"the text before the edit".as_slice()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(workspace: Workspace, wait_policy: WaitPolicy) -> Self {
        Self {
            workspace,
            wait_policy,
            ledger: OnceLock::new(),
            own_texts: OnceLock::new(),
            index: Mutex::default(),
        }
    }

    /// A store with this ledger.
    pub fn with_ledger(workspace: Workspace, ledger: ProjectLedger) -> Self {
        let store = Self::new(workspace, ledger.wait_policy());
        Self { ledger: OnceLock::from(ledger), ..store }
    }

    /// The project.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// How long callers can wait for other processes.
    pub(crate) fn wait_policy(&self) -> WaitPolicy {
        self.wait_policy
    }

    /// The ledger, created if it is missing. A command also moves what earlier versions stored
    /// elsewhere.
    pub fn ledger(&self) -> Result<&ProjectLedger, LedgerError> {
        if let Some(ledger) = self.ledger.get() {
            return Ok(ledger);
        }
        let opened = ledger::open(&self.workspace, self.wait_policy)?;
        if self.wait_policy == WaitPolicy::Command && !self.workspace.is_preview() {
            // If this fails, the texts are still found where they are, and the next command tries
            // again. `doctor` reports them.
            let _ = self.move_private_texts(&|_| ());
        }
        Ok(self.ledger.get_or_init(|| opened))
    }

    /// The ledger, or `None` if there is none. Does not create one.
    pub fn existing_ledger(&self) -> Result<Option<&ProjectLedger>, LedgerError> {
        let is_there = self.ledger.get().is_some() || ledger::exists(&self.workspace);
        is_there.then(|| self.ledger()).transpose()
    }

    /// Appends the events that a stream does not have yet. A hook that cannot open the ledger in time
    /// spools them for the next command.
    pub(crate) fn append_or_spool(
        &self,
        stream: &StreamId,
        events: Vec<Envelope>,
    ) -> Result<RecordOutcome, AppendError> {
        let unavailable = |error: LedgerError| AppendError::Unavailable(error.to_string());
        match self.ledger() {
            Ok(ledger) => ledger.append_missing(&[(stream.clone(), events)]),
            Err(error) if self.wait_policy == WaitPolicy::Command => Err(unavailable(error)),
            Err(error) => {
                let spooled = ledger::spool_events(&self.workspace, stream, &events);
                spooled.map(|()| RecordOutcome::Later).map_err(|_| unavailable(error))
            }
        }
    }

    /// Runs a query on the index, and rebuilds it once if it is damaged. Returns `None` if the index
    /// cannot be used or the project is not set up; nothing is written then. The index has all documents
    /// of the project, so a view of the user's own ones reads them instead.
    pub(crate) fn with_index<T>(
        &self,
        mut ask: impl FnMut(&mut Index) -> Result<T, IndexError>,
    ) -> Option<T> {
        if !self.workspace.may_cache() || self.workspace.is_own_view() {
            return None;
        }
        let mut slot = self.index_slot();
        if matches!(*slot, IndexSlot::Unopened) {
            slot.set(Index::open(&self.workspace, self.wait_policy));
        }
        match ask(slot.get()?) {
            Err(error) if error.is_damaged() => {
                *slot = IndexSlot::Unopened;
                ask(slot.set(Index::open_empty(&self.workspace, self.wait_policy))?).ok()
            }
            answer => answer.ok(),
        }
    }

    /// Closes the index, before its file is deleted.
    pub(crate) fn close_index(&self) {
        *self.index_slot() = IndexSlot::Unopened;
    }

    fn index_slot(&self) -> MutexGuard<'_, IndexSlot> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
