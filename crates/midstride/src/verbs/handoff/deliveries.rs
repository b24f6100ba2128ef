//! Receipts: write down which session was told of which handoff, and which took it over.

use crate::journal::RevisionInfo;
use crate::store::ledger::{
    AppendError, Ledger as _, LedgerError, SqliteLedger, StreamId, WaitPolicy,
};
use crate::verbs::task::content_id;
use crate::workspace::project::{Project, SetupMode, StoredHandoff};
use crate::workspace::settings::SessionName;
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::delivery::DeliveryLog;
use midstride_core::work::event::{DeliveredHandoff, Envelope, Event, SessionEvent};

/// Why no receipt was written.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    /// The project has no place for it.
    #[error("this project is not set up")]
    NotSetUp,
    /// The ledger cannot be read.
    #[error(transparent)]
    Read(#[from] LedgerError),
    /// The ledger cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// Writes down that a session took handoffs over, each once; gives back for how many that is new.
pub fn acknowledge(
    project: &Project,
    session: &SessionName,
    handoffs: &[&StoredHandoff],
    verb: &str,
) -> Result<usize, DeliveryError> {
    if project.setup() == SetupMode::NotSetUp {
        return Err(DeliveryError::NotSetUp);
    }
    let events = handoffs.iter().map(|shelved| {
        let handoff = delivered_handoff(project, shelved);
        let name = handoff.uid.as_deref().unwrap_or(&handoff.id);
        let id = content_id(&[&session.client, &session.id, "acknowledged", name]);
        let SessionName { client, id: session } = session.clone();
        let verb = verb.to_owned();
        session_envelope(project, id, SessionEvent::Acknowledged { client, session, handoff, verb })
    });
    let ledger = SqliteLedger::open(project, WaitPolicy::Command)?;
    let stream = StreamId::deliveries(&session.client, &session.id);
    Ok(ledger.append_missing(&[(stream, events.collect())])?)
}

/// What a session does with a handoff tells that it took it over.
pub(in crate::verbs) fn acknowledge_by_change(
    project: &Project,
    shelved: &StoredHandoff,
    change: &RevisionInfo,
) {
    let taken_over = matches!(
        change.verb,
        Some(RevisionVerb::Start | RevisionVerb::Answer | RevisionVerb::Resolve)
    );
    let (Some(session), Some(verb), true) =
        (&project.environment().session, change.verb, taken_over)
    else {
        return;
    };
    // The change is made; that nobody wrote down who made it is no reason to say otherwise.
    if let Ok(now) = project.reread(shelved) {
        let _ = acknowledge(project, session, &[&now], verb.word());
    }
}

/// Who was told of a handoff, and who took it over.
pub fn delivery_records(
    project: &Project,
    shelved: &StoredHandoff,
) -> Result<DeliveryLog, LedgerError> {
    let handoff = shelved.handoff(project);
    let Some(uid) = handoff.uid() else { return Ok(DeliveryLog::default()) };
    let Some(ledger) = SqliteLedger::open_existing(project, WaitPolicy::Command)? else {
        return Ok(DeliveryLog::default());
    };
    let records = ledger.read_with_prefix(StreamId::DELIVERIES)?;
    Ok(DeliveryLog::from_events(uid.value.trim(), records.iter().flat_map(|record| &record.events)))
}

/// A handoff as a receipt names it.
pub(in crate::verbs) fn delivered_handoff(
    project: &Project,
    shelved: &StoredHandoff,
) -> DeliveredHandoff {
    let clean = |text: &str| project.clean(text).0.as_str().to_owned();
    let handoff = shelved.handoff(project);
    DeliveredHandoff {
        uid: handoff.uid().map(|uid| clean(uid.value.trim())),
        id: clean(&handoff.key().to_string()),
        revision: Some(handoff.replaced_texts().len() + 1),
    }
}

pub(in crate::verbs) fn session_envelope(
    project: &Project,
    id: String,
    event: SessionEvent,
) -> Envelope {
    let (SessionEvent::Checkpointed { client, .. }
    | SessionEvent::Briefed { client, .. }
    | SessionEvent::Dismissed { client, .. }
    | SessionEvent::Acknowledged { client, .. }) = &event;
    let (time, source) = (project.environment().clock.now(), client.clone());
    Envelope { id, time, source, event: Event::Session(event) }
}
