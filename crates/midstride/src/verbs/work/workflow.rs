//! Saves and loads workflow states, which an agent stores under a name for the next session. Every
//! save adds a state; none is overwritten.

use crate::store::Store;
use crate::store::ledger::{
    AppendError, Ledger, LedgerError, LedgerRecord, ProjectLedger, StreamId, Version,
};
use crate::sys::ids::sha256;
use crate::verbs::task::decision::{DecidedEvent, append_decided};
use crate::verbs::task::redactor::Redactor;
use crate::verbs::task::{TaskError, actor, open_ledger};
use crate::workspace::Workspace;
use jiff::Timestamp;
use midstride_core::text::id::{BlobHash, HandoffId, HandoffIdError, nearest_match};
use midstride_core::text::redact::Redaction;
use midstride_core::work::event::{Envelope, Event, WorkflowEvent};
use midstride_core::work::workflow::{WorkflowState, apply_merge_patch, history};
use serde_json::Value;
use std::collections::BTreeMap;

/// The maximum size of a state. A model reads it, so larger data belongs in files that the state
/// names.
pub const STATE_BYTES_MAX: usize = 1 << 20;

/// How to change a state.
#[derive(Clone, Debug)]
pub enum StateChange {
    /// Replaces it.
    Whole(Value),
    /// Applies this merge patch to it.
    Patch(Value),
}

/// The result of saving a state.
#[derive(Debug)]
pub struct SavedState {
    /// The state that was written.
    pub state: Value,
    /// Its number, counted from one.
    pub number: usize,
    /// Whether it differs from the previous one.
    pub is_new: bool,
    /// Secrets that were not written.
    pub redacted: Vec<Redaction>,
}

/// The result of loading a state.
#[derive(Debug)]
pub struct LoadedState {
    /// The state.
    pub state: Value,
    /// Its number, counted from one.
    pub number: usize,
    /// All saved states, oldest first.
    pub history: Vec<WorkflowState>,
}

/// Why a state was not saved or loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkflowError {
    /// The name is invalid.
    #[error("`{name}` is not a valid workflow name: {why}")]
    Name {
        /// The name that was given.
        name: String,
        /// Why it is invalid.
        why: HandoffIdError,
    },
    /// The name has a secret, of this kind. It would be the name of a stream.
    #[error("the workflow name contains a secret: {0}")]
    SecretName(String),
    /// The state is not an object.
    #[error("a state must be a JSON object")]
    NoObject,
    /// The state is too large.
    #[error("the state is {0} bytes; the maximum is {STATE_BYTES_MAX}")]
    TooLarge(usize),
    /// Nothing was saved under that name.
    #[error("no state is saved under `{name}`")]
    NoSuch {
        /// The name that was given.
        name: String,
        /// The name that may have been meant.
        nearest: Option<String>,
    },
    /// No state has this number.
    #[error("`{name}` has no state {number} (stored states: {has})")]
    NoNumber {
        /// The workflow.
        name: String,
        /// The number that was given.
        number: usize,
        /// How many there are.
        has: usize,
    },
    /// The state was forgotten.
    #[error("state {number} of `{name}` was forgotten")]
    Forgotten {
        /// The workflow.
        name: String,
        /// Its number.
        number: usize,
    },
    /// The redacted state is not valid JSON.
    #[error("the state contains a secret that cannot be redacted")]
    Unwritable,
    /// A newer version of midstride wrote an event that may change the meaning of the others.
    #[error("the workflow contains `{0}`, which was written by a newer version of midstride")]
    Newer(String),
    /// The ledger failed.
    #[error(transparent)]
    Task(#[from] TaskError),
}

impl From<AppendError> for WorkflowError {
    fn from(error: AppendError) -> Self {
        Self::Task(error.into())
    }
}

impl From<LedgerError> for WorkflowError {
    fn from(error: LedgerError) -> Self {
        Self::Task(error.into())
    }
}

/// Saves a state and keeps the previous ones. Saving the same state again changes nothing.
pub fn save_state(
    store: &Store,
    name: &str,
    change: &StateChange,
    by: Option<&str>,
) -> Result<SavedState, WorkflowError> {
    let workspace = store.workspace();
    let (StateChange::Whole(given) | StateChange::Patch(given)) = change;
    if !given.is_object() {
        return Err(WorkflowError::NoObject);
    }
    let id = parse_name(name)?;
    if let Some(secret) = workspace.clean(name).1.first() {
        return Err(WorkflowError::SecretName(secret.kind.to_string()));
    }
    let ledger = open_ledger(store)?;
    let next = NextState::prepare(store, ledger, &id, change)?;
    if next.is_known() {
        let NextState { state, before, redacted, .. } = next;
        return Ok(SavedState { state, number: before.len(), is_new: false, redacted });
    }
    let source = Redactor::for_project(workspace).clean(&actor(workspace, by));
    let mut written = next;
    append_decided(workspace, ledger, &source, || {
        written = NextState::prepare(store, ledger, &id, change)?;
        ledger.put_blob(written.text.as_bytes())?;
        Ok::<_, WorkflowError>(written.decided_event(workspace, &id))
    })?;
    let NextState { state, before, redacted, .. } = written;
    Ok(SavedState { state, number: before.len() + 1, is_new: true, redacted })
}

/// Loads the last state, or an earlier one by number.
pub fn load_state(
    store: &Store,
    name: &str,
    number: Option<usize>,
) -> Result<LoadedState, WorkflowError> {
    let id = parse_name(name)?;
    let ledger = open_ledger(store)?;
    let records = ledger.read(&StreamId::workflow(&id), None)?;
    let history = history(events(&records));
    if history.is_empty() {
        return Err(no_such(store, name)?);
    }
    let number = number.unwrap_or(history.len());
    let state = read_state(ledger, name, &history, number)?;
    Ok(LoadedState { state, number, history })
}

/// The last state of each workflow, with its number, sorted by name.
pub fn states(store: &Store) -> Result<Vec<(WorkflowState, usize)>, WorkflowError> {
    Ok(newest_states(open_ledger(store)?)?)
}

/// Reads the last state of each workflow from a ledger. Each record has one state, so the state's number is
/// that of the records in its stream.
pub(in crate::verbs) fn newest_states(
    ledger: &dyn Ledger,
) -> Result<Vec<(WorkflowState, usize)>, LedgerError> {
    let mut all: BTreeMap<StreamId, (Option<WorkflowState>, usize)> = BTreeMap::new();
    for record in ledger.read_with_prefix(StreamId::WORKFLOWS)? {
        let (last, number) = all.entry(record.stream).or_default();
        *number += 1;
        // An event from a newer version has no state. Use the one before it.
        *last = history(&record.events).pop().or(last.take());
    }
    let states = all.into_values().filter_map(|(last, number)| Some((last?, number)));
    let mut states: Vec<(WorkflowState, usize)> = states.collect();
    states.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
    Ok(states)
}

/// A state to be saved, and the history it was decided on.
struct NextState {
    state: Value,
    text: String,
    before: Vec<WorkflowState>,
    version: Option<Version>,
    last: Option<Timestamp>,
    redacted: Vec<Redaction>,
}

impl NextState {
    fn prepare(
        store: &Store,
        ledger: &ProjectLedger,
        id: &HandoffId,
        change: &StateChange,
    ) -> Result<Self, WorkflowError> {
        let workspace = store.workspace();
        let records = ledger.read(&StreamId::workflow(id), None)?;
        if let Some(kind) = events(&records).find_map(|envelope| envelope.event.newer_kind()) {
            return Err(WorkflowError::Newer(kind.to_owned()));
        }
        let before = history(events(&records));
        let state = match change {
            StateChange::Whole(state) => state.clone(),
            StateChange::Patch(_) if before.is_empty() => {
                return Err(no_such(store, id.as_str())?);
            }
            StateChange::Patch(patch) => {
                apply_merge_patch(read_state(ledger, id.as_str(), &before, before.len())?, patch)
            }
        };
        let (state, text, redacted) = redact_state(workspace, &state)?;
        let last = events(&records).map(|envelope| envelope.time).max();
        let version = records.last().map(|record| record.version);
        Ok(Self { state, text, before, version, last, redacted })
    }

    /// Whether the last saved state is the same.
    fn is_known(&self) -> bool {
        self.before.last().is_some_and(|last| last.blob.as_str() == sha256(self.text.as_bytes()))
    }

    fn decided_event(&self, workspace: &Workspace, id: &HandoffId) -> DecidedEvent {
        let session = workspace.environment().session.clone();
        let event = Event::Workflow(WorkflowEvent::Saved {
            name: id.as_str().to_owned(),
            blob: BlobHash::new(sha256(self.text.as_bytes())),
            bytes: u64::try_from(self.text.len()).unwrap_or(u64::MAX),
            client: session.as_ref().map(|session| session.client.clone()),
            session: session.map(|session| session.id),
        });
        let stream = StreamId::workflow(id);
        DecidedEvent { stream, version: self.version, last: self.last, event }
    }
}

fn parse_name(name: &str) -> Result<HandoffId, WorkflowError> {
    HandoffId::parse(name).map_err(|why| WorkflowError::Name { name: name.to_owned(), why })
}

fn no_such(store: &Store, name: &str) -> Result<WorkflowError, WorkflowError> {
    let all = states(store)?;
    let near = nearest_match(name, all.iter().map(|(state, _)| state.name.as_str()));
    Ok(WorkflowError::NoSuch { name: name.to_owned(), nearest: near.map(str::to_owned) })
}

fn events(records: &[LedgerRecord]) -> impl Iterator<Item = &Envelope> {
    records.iter().flat_map(|record| &record.events)
}

fn read_state(
    ledger: &ProjectLedger,
    name: &str,
    history: &[WorkflowState],
    number: usize,
) -> Result<Value, WorkflowError> {
    let name = || name.to_owned();
    let kept = number.checked_sub(1).and_then(|index| history.get(index));
    let has = history.len();
    let kept = kept.ok_or_else(|| WorkflowError::NoNumber { name: name(), number, has })?;
    let bytes = ledger.get_blob(&kept.blob)?;
    let state = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    state.ok_or_else(|| WorkflowError::Forgotten { name: name(), number })
}

/// Redacts a state. Also returns its text.
fn redact_state(
    workspace: &Workspace,
    state: &Value,
) -> Result<(Value, String, Vec<Redaction>), WorkflowError> {
    let mut redactor = Redactor::for_project(workspace);
    // Redact each string by itself, because JSON escapes some characters. Then redact the whole
    // text, because a key can reveal that its value is a secret.
    let state = redact_value(state, &mut redactor);
    let text = redactor.clean(&state.to_string());
    let state = serde_json::from_str(&text).map_err(|_| WorkflowError::Unwritable)?;
    if text.len() > STATE_BYTES_MAX {
        return Err(WorkflowError::TooLarge(text.len()));
    }
    Ok((state, text, redactor.redactions))
}

fn redact_value(value: &Value, redactor: &mut Redactor<'_>) -> Value {
    match value {
        Value::String(text) => Value::String(redactor.clean(text)),
        Value::Array(items) => items.iter().map(|item| redact_value(item, redactor)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (redactor.clean(key), redact_value(value, redactor)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
