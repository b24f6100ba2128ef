//! Workflow states: what an agent keeps under a name, so that whoever goes on finds it. A state is a
//! checkpoint; saving one replaces none.

use crate::store::ledger::{
    Ledger, LedgerError, LedgerRecord, SqliteLedger, StreamId, StreamVersion,
};
use crate::sys::ids::sha256;
use crate::verbs::task::decision::{DecidedEvent, append_decided};
use crate::verbs::task::redactor::Redactor;
use crate::verbs::task::{TaskError, actor, open_ledger};
use crate::workspace::project::Project;
use jiff::Timestamp;
use midstride_core::text::id::{HandoffId, HandoffIdError, nearest_match};
use midstride_core::text::redact::Redaction;
use midstride_core::work::event::{Envelope, Event, WorkflowEvent};
use midstride_core::work::workflow::{WorkflowState, apply_merge_patch, history};
use serde_json::Value;

/// A state is read by a model; what is larger belongs in files that it names.
pub const STATE_BYTES_MAX: usize = 1 << 20;

/// What is to become of a state.
#[derive(Clone, Debug)]
pub enum StateChange {
    /// It is this.
    Whole(Value),
    /// It is what it was, with this merge patch laid over it.
    Patch(Value),
}

/// A state that was saved.
#[derive(Debug)]
pub struct SavedState {
    /// What was written.
    pub state: Value,
    /// Its number, counted from one.
    pub number: usize,
    /// Whether it differs from the one before.
    pub is_new: bool,
    /// Secrets that were not written.
    pub redacted: Vec<Redaction>,
}

/// A state that was loaded.
#[derive(Debug)]
pub struct LoadedState {
    /// What was saved.
    pub state: Value,
    /// Its number, counted from one.
    pub number: usize,
    /// All that are kept, the oldest first.
    pub history: Vec<WorkflowState>,
}

/// Why a state was not saved or loaded.
#[derive(Debug, thiserror::Error)]
pub enum WorkflowError {
    /// The name is none.
    #[error("`{name}` names no workflow: {why}")]
    Name {
        /// What was given.
        name: String,
        /// What is wrong with it.
        why: HandoffIdError,
    },
    /// A state has keys.
    #[error("a state is a JSON object")]
    NoObject,
    /// It does not fit.
    #[error("the state has {0} bytes, at most {STATE_BYTES_MAX} are kept")]
    TooLarge(usize),
    /// Nothing was saved under that name.
    #[error("no state is saved under `{name}`")]
    NoSuch {
        /// What was given.
        name: String,
        /// What may have been meant.
        nearest: Option<String>,
    },
    /// There are not so many.
    #[error("`{name}` has no state {number}: {has} are kept")]
    NoNumber {
        /// The workflow.
        name: String,
        /// What was asked for.
        number: usize,
        /// How many there are.
        has: usize,
    },
    /// Somebody had it removed for good.
    #[error("state {number} of `{name}` was forgotten")]
    Forgotten {
        /// The workflow.
        name: String,
        /// Its number.
        number: usize,
    },
    /// Without its secrets it is no JSON any longer.
    #[error("the state has a secret that cannot be taken out of it")]
    Unwritable,
    /// A newer midstride wrote something that may change what the rest means.
    #[error("the workflow has `{0}`, which a newer midstride wrote")]
    Newer(String),
    /// The ledger cannot be used.
    #[error(transparent)]
    Task(#[from] TaskError),
}

impl From<LedgerError> for WorkflowError {
    fn from(error: LedgerError) -> Self {
        Self::Task(error.into())
    }
}

/// Saves a state; what it was before is kept. Saving the same again changes nothing.
pub fn save_state(
    project: &Project,
    name: &str,
    change: &StateChange,
    by: Option<&str>,
) -> Result<SavedState, WorkflowError> {
    let (StateChange::Whole(given) | StateChange::Patch(given)) = change;
    if !given.is_object() {
        return Err(WorkflowError::NoObject);
    }
    let id = parse_name(name)?;
    let ledger = open_ledger(project)?;
    let next = NextState::prepare(project, &ledger, &id, change)?;
    if next.is_known() {
        let NextState { state, before, redacted, .. } = next;
        return Ok(SavedState { state, number: before.len(), is_new: false, redacted });
    }
    let source = Redactor::for_project(project).clean(actor(project, by));
    let mut written = next;
    append_decided(project, &ledger, &source, || {
        written = NextState::prepare(project, &ledger, &id, change)?;
        ledger.put_blob(written.text.as_bytes())?;
        Ok::<_, WorkflowError>(written.decided_event(project, &id))
    })?;
    let NextState { state, before, redacted, .. } = written;
    Ok(SavedState { state, number: before.len() + 1, is_new: true, redacted })
}

/// Loads a state: the last one, or an earlier one by its number.
pub fn load_state(
    project: &Project,
    name: &str,
    number: Option<usize>,
) -> Result<LoadedState, WorkflowError> {
    let id = parse_name(name)?;
    let ledger = open_ledger(project)?;
    let records = ledger.read(&StreamId::workflow(&id), None)?;
    let history = history(events(&records));
    if history.is_empty() {
        return Err(no_such(project, name)?);
    }
    let number = number.unwrap_or(history.len());
    let state = read_state(&ledger, name, &history, number)?;
    Ok(LoadedState { state, number, history })
}

/// The last state of each workflow, with its number, by name.
pub fn states(project: &Project) -> Result<Vec<(WorkflowState, usize)>, WorkflowError> {
    Ok(newest_states(&open_ledger(project)?)?)
}

/// The same of a ledger. One record of each workflow is read, however often its state was saved: each
/// record has one state, so its number in the stream is the number of the state.
pub(in crate::verbs) fn newest_states(
    ledger: &dyn Ledger,
) -> Result<Vec<(WorkflowState, usize)>, LedgerError> {
    let mut all: Vec<(WorkflowState, usize)> = Vec::new();
    for record in ledger.last_per_stream(StreamId::WORKFLOWS)? {
        let number = usize::try_from(record.number).unwrap_or(usize::MAX);
        let last = match history(&record.events).pop() {
            // What a newer midstride wrote says nothing here; what came before it does.
            None => history(events(&ledger.read(&record.stream, None)?)).pop(),
            last => last,
        };
        all.extend(last.map(|state| (state, number)));
    }
    all.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
    Ok(all)
}

/// A state that is about to be saved, and what it was decided on.
struct NextState {
    state: Value,
    text: String,
    before: Vec<WorkflowState>,
    version: Option<StreamVersion>,
    last: Option<Timestamp>,
    redacted: Vec<Redaction>,
}

impl NextState {
    fn prepare(
        project: &Project,
        ledger: &SqliteLedger,
        id: &HandoffId,
        change: &StateChange,
    ) -> Result<Self, WorkflowError> {
        let records = ledger.read(&StreamId::workflow(id), None)?;
        if let Some(kind) = events(&records).find_map(|envelope| envelope.event.newer_kind()) {
            return Err(WorkflowError::Newer(kind.to_owned()));
        }
        let before = history(events(&records));
        let state = match change {
            StateChange::Whole(state) => state.clone(),
            StateChange::Patch(_) if before.is_empty() => {
                return Err(no_such(project, id.as_str())?);
            }
            StateChange::Patch(patch) => {
                apply_merge_patch(read_state(ledger, id.as_str(), &before, before.len())?, patch)
            }
        };
        let (state, text, redacted) = redact_state(project, &state)?;
        let last = events(&records).map(|envelope| envelope.time).max();
        let version = records.last().map(|record| record.version);
        Ok(Self { state, text, before, version, last, redacted })
    }

    /// Whether the last state is this one.
    fn is_known(&self) -> bool {
        self.before.last().is_some_and(|last| last.blob == sha256(self.text.as_bytes()))
    }

    fn decided_event(&self, project: &Project, id: &HandoffId) -> DecidedEvent {
        let session = project.environment().session.clone();
        let event = Event::Workflow(WorkflowEvent::Saved {
            name: id.as_str().to_owned(),
            blob: sha256(self.text.as_bytes()),
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

fn no_such(project: &Project, name: &str) -> Result<WorkflowError, WorkflowError> {
    let all = states(project)?;
    let near = nearest_match(name, all.iter().map(|(state, _)| state.name.as_str()));
    Ok(WorkflowError::NoSuch { name: name.to_owned(), nearest: near.map(str::to_owned) })
}

fn events(records: &[LedgerRecord]) -> impl Iterator<Item = &Envelope> {
    records.iter().flat_map(|record| &record.events)
}

fn read_state(
    ledger: &SqliteLedger,
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

/// A state without its secrets, and as it is written.
fn redact_state(
    project: &Project,
    state: &Value,
) -> Result<(Value, String, Vec<Redaction>), WorkflowError> {
    let mut sieve = Redactor::for_project(project);
    // Each text as it is read, because JSON writes some characters differently; then all of it,
    // because the name of a key can tell what its value is.
    let state = redact_value(state, &mut sieve);
    let text = sieve.clean(&state.to_string());
    let state = serde_json::from_str(&text).map_err(|_| WorkflowError::Unwritable)?;
    if text.len() > STATE_BYTES_MAX {
        return Err(WorkflowError::TooLarge(text.len()));
    }
    Ok((state, text, sieve.redactions))
}

fn redact_value(value: &Value, sieve: &mut Redactor<'_>) -> Value {
    match value {
        Value::String(text) => Value::String(sieve.clean(text)),
        Value::Array(items) => items.iter().map(|item| redact_value(item, sieve)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (sieve.clean(key), redact_value(value, sieve)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
