//! Redacts stored data again, after the redaction rules changed: private handoffs and their
//! earlier texts, the files of hooks and captures, and the ledger.
//!
//! Every step can be repeated. After a kill, the next run finds what is left and finishes the work.
//! Committed handoffs belong to the user; `midstride check` reports secrets in them.

use crate::clients::hook_memory::{self, HookMemory};
use crate::clients::{self, capture, hook_log, task_lists};
use crate::journal::{JournalError, RevisionInfo};
use crate::store::Store;
use crate::store::index::{Index, IndexError};
use crate::store::ledger::{LedgerError, LocalLedger, ProjectLedger};
use crate::store::redaction::{RedactionState, redact_json_file};
use crate::store::revisions::{RevisionError, TextStore};
use crate::sys::files::{self, FileError, Lock, Root};
use crate::sys::git::RemovalOutcome;
use crate::verbs::handoff::forget::{ForgetError, remove_text};
use crate::workspace::{StoreOwner, StoredHandoff, Workspace, observation};
use midstride_core::format::document::Document;
use midstride_core::format::header::RevisionVerb;
use midstride_core::text::id::BlobHash;
use midstride_core::text::redact::CleanText;
use std::path::Path;

/// The lock of the process that redacts a store.
const LOCK: &str = "redaction";
/// Who redacts, in the history of a handoff.
const ACTOR: &str = "midstride";
/// Why, in the history of a handoff.
const REASON: &str = "redacted what newer rules recognize as a secret";

/// A completed step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedactStoredStep {
    /// It is recorded that a run has started.
    Started,
    /// Private handoffs have no secret.
    Handoffs,
    /// An earlier text is stored without its secrets, and its old bytes are still there.
    TextStored,
    /// Earlier texts have none.
    Texts,
    /// The files of hooks and captures have none.
    Files,
    /// The records and blobs of the ledger have none.
    Ledger,
    /// No unused page of a database has one.
    Erased,
}

impl RedactStoredStep {
    /// Every step, in order.
    pub const ALL: [Self; 7] = [
        Self::Started,
        Self::Handoffs,
        Self::TextStored,
        Self::Texts,
        Self::Files,
        Self::Ledger,
        Self::Erased,
    ];
}

/// Why not everything was redacted. The next command tries again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedactStoredError {
    /// An earlier text could not be replaced.
    #[error(transparent)]
    Text(#[from] RevisionError),
    /// An earlier text could not be removed.
    #[error(transparent)]
    Removal(#[from] ForgetError),
    /// The ledger failed.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The index could not be removed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Whether the rules changed since everything stored here was redacted.
pub fn is_redaction_due(workspace: &Workspace) -> bool {
    let is_own = workspace.store_owner() == StoreOwner::User;
    let state = if is_own { workspace.redaction_state() } else { None };
    state.is_some_and(|state| state.rules != workspace.rules_version())
}

/// Redacts everything stored here with the current rules, if they changed. Calls `reached` after
/// every step. Returns `None` if there is nothing to do or another process does it.
pub fn redact_stored(
    store: &Store,
    reached: &dyn Fn(RedactStoredStep),
) -> Result<Option<RedactionState>, RedactStoredError> {
    let workspace = store.workspace();
    let Some(private) = workspace.private()? else { return Ok(None) };
    let Some(_turn) = Lock::try_acquire(&private, LOCK)? else { return Ok(None) };
    let version = workspace.rules_version();
    let mut state = RedactionState::read(&private);
    if state.rules == version {
        return Ok(None);
    }
    let was_interrupted = state.start(&version);
    state.save(&private)?;
    reached(RedactStoredStep::Started);
    redact_handoffs(store, &mut state);
    state.save(&private)?;
    reached(RedactStoredStep::Handoffs);
    redact_texts(store, &mut state, reached)?;
    state.save(&private)?;
    reached(RedactStoredStep::Texts);
    redact_files(workspace, &private, &mut state)?;
    state.save(&private)?;
    reached(RedactStoredStep::Files);
    let ledger = store.existing_ledger()?;
    if let Some(ledger) = ledger {
        redact_ledger(workspace, ledger, &mut state)?;
        state.save(&private)?;
    }
    reached(RedactStoredStep::Ledger);
    if state.has_changes() || was_interrupted {
        ledger.map_or(Ok(()), LocalLedger::erase_unused)?;
        // An index has the words of earlier texts.
        store.close_index();
        Index::remove_all(workspace)?;
    }
    reached(RedactStoredStep::Erased);
    (state.rules, state.unfinished) = (version, None);
    state.save(&private)?;
    Ok(Some(state))
}

/// Redacts the private handoffs. One that cannot be changed safely stays, and a check reports it.
fn redact_handoffs(store: &Store, state: &mut RedactionState) {
    let workspace = store.workspace();
    let documents = workspace.read_all().into_iter().filter_map(Result::ok);
    let is_private = |stored: &StoredHandoff| workspace.private_folder_of(stored).is_some();
    for stored in documents.filter(is_private) {
        if workspace.clean(stored.document.text()).1.is_empty() {
            continue;
        }
        match redact_handoff(store, &stored) {
            Ok(()) => state.handoffs += 1,
            Err(_) => state.left += 1,
        }
    }
}

/// Redacts a document through the journal, which proves that nothing but secrets changes.
fn redact_handoff(store: &Store, stored: &StoredHandoff) -> Result<(), JournalError> {
    let by = Some(ACTOR.to_owned());
    let change = RevisionInfo::by_verb(RevisionVerb::Fmt, REASON, by);
    store.record_with_retry::<(), JournalError>(stored, |now| {
        Ok(match store.record(now, &now.document, &change, &|_| ()) {
            // Without a header there is no history to add to.
            Err(JournalError::NoHeader(_)) => {
                let clean = store.workspace().redact(&now.document)?;
                store.workspace().replace(now, &clean.text).map_err(JournalError::from)
            }
            recorded => recorded.map(|_| ()),
        })
    })
}

/// Redacts the earlier texts that stay on this machine.
fn redact_texts(
    store: &Store,
    state: &mut RedactionState,
    reached: &dyn Fn(RedactStoredStep),
) -> Result<(), RedactStoredError> {
    for (texts, ids) in store.private_texts()? {
        for id in ids {
            let Some(clean) = redact_text(store, &id)? else { continue };
            record_clean_text(store, &texts, &id, &clean)?;
            reached(RedactStoredStep::TextStored);
            match remove_text(store, &id, true, &|| ())? {
                RemovalOutcome::Removed => state.texts += 1,
                RemovalOutcome::Packed | RemovalOutcome::Referenced | RemovalOutcome::NotOurs => {
                    state.left += 1;
                }
            }
        }
    }
    Ok(())
}

/// An earlier text without secrets; `None` if it has none.
fn redact_text(store: &Store, id: &BlobHash) -> Result<Option<CleanText>, FileError> {
    let Some(bytes) = store.text_as_stored(id)? else { return Ok(None) };
    let document = Document::parse(&bytes);
    let (clean, found) = store.workspace().clean(document.text());
    if found.is_empty() {
        return Ok(None);
    }
    Ok(Some(store.workspace().redact(&document).map_or(clean, |redacted| redacted.text)))
}

/// Stores a clean text and records that it takes the place of the old one.
fn record_clean_text(
    store: &Store,
    texts: &TextStore<'_>,
    id: &BlobHash,
    clean: &CleanText,
) -> Result<(), RedactStoredError> {
    let new = texts.store_new(clean)?;
    texts.retain(std::slice::from_ref(&new))?;
    let now = store.workspace().environment().clock.now();
    Ok(store.ledger()?.record_redaction(id, &new, now)?)
}

/// Redacts the files that hooks and captures write.
fn redact_files(
    workspace: &Workspace,
    private: &Root,
    state: &mut RedactionState,
) -> Result<(), RedactStoredError> {
    state.files += HookMemory::redact_file_names(workspace)?;
    for name in [hook_log::FILE, task_lists::FILE] {
        state.files += usize::from(redact_json_file(private, Path::new(name), workspace.rules())?);
    }
    for folder in [capture::FOLDER, hook_memory::FOLDER, observation::FOLDER] {
        let Some(below) = private.open_below(Path::new(folder))? else { continue };
        for name in below.names("")? {
            let is_redacted = redact_json_file(&below, &name, workspace.rules())?;
            state.files += usize::from(is_redacted);
            if is_redacted && folder == capture::FOLDER {
                remove_unreadable_cursor(&below, &name)?;
            }
        }
    }
    Ok(())
}

/// Removes a cursor that cannot be read any more. The next capture starts from the beginning.
fn remove_unreadable_cursor(cursors: &Root, name: &Path) -> Result<(), FileError> {
    let is_cursor = name != Path::new(clients::BEGINNINGS);
    let is_readable =
        || cursors.read(name).is_ok_and(|bytes| clients::parse_cursor(&bytes).is_some());
    if is_cursor && !is_readable() {
        return files::remove_if_exists(&cursors.path().join(name));
    }
    Ok(())
}

fn redact_ledger(
    workspace: &Workspace,
    ledger: &ProjectLedger,
    state: &mut RedactionState,
) -> Result<(), LedgerError> {
    let now = workspace.environment().clock.now();
    let redacted = ledger.redact(workspace.rules(), now)?;
    state.records += redacted.records;
    state.blobs += redacted.blobs;
    state.files += redacted.waiting;
    Ok(())
}
