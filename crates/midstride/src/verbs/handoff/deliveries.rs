//! Delivery records: which session was briefed on which handoff, and which one picked it up.

use crate::journal::RevisionInfo;
use crate::store::Store;
use crate::store::ledger::{
    AppendError, Ledger as _, LedgerError, LocalLedger as _, RecordOutcome, StreamId,
};
use crate::sys::env::SessionName;
use crate::verbs::task::content_id;
use crate::workspace::{SetupMode, StoredHandoff, Workspace};
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::delivery::DeliveryLog;
use midstride_core::text::id::Uid;
use midstride_core::work::event::{DeliveredHandoff, Envelope, Event, SessionEvent};

/// Why no delivery record was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeliveryError {
    /// The project is not set up.
    #[error("this project is not set up")]
    NotSetUp,
    /// The ledger cannot be read.
    #[error(transparent)]
    Read(#[from] LedgerError),
    /// The ledger cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// Records that a session picked up handoffs, each once. Returns how many of them are new.
pub fn acknowledge(
    store: &Store,
    session: &SessionName,
    handoffs: &[&StoredHandoff],
    verb: &str,
) -> Result<usize, DeliveryError> {
    let workspace = store.workspace();
    if workspace.setup() == SetupMode::NotSetUp {
        return Err(DeliveryError::NotSetUp);
    }
    let events = handoffs.iter().map(|stored| {
        let handoff = delivered_handoff(workspace, stored);
        let name = handoff.uid.as_ref().map_or(handoff.id.as_str(), Uid::as_str);
        let id = content_id(&[&session.client, session.id.as_str(), "acknowledged", name]);
        let SessionName { client, id: session } = session.clone();
        let verb = verb.to_owned();
        session_envelope(
            workspace,
            id,
            SessionEvent::Acknowledged { client, session, handoff, verb },
        )
    });
    let ledger = store.ledger()?;
    let stream = StreamId::deliveries(&session.client, &session.id);
    match ledger.append_missing(&[(stream, events.collect())])? {
        RecordOutcome::New(count) => Ok(count),
        RecordOutcome::Later => Ok(handoffs.len()),
    }
}

/// Starting, answering, resolving or reopening a handoff records that the session picked it up.
pub(in crate::verbs) fn acknowledge_by_change(
    store: &Store,
    stored: &StoredHandoff,
    change: &RevisionInfo,
) {
    let workspace = store.workspace();
    let taken_over = matches!(
        change.verb,
        Some(
            RevisionVerb::Start
                | RevisionVerb::Answer
                | RevisionVerb::Resolve
                | RevisionVerb::Reopen
        )
    );
    let (Some(session), Some(verb), true) =
        (&workspace.environment().session, change.verb, taken_over)
    else {
        return;
    };
    // The change itself succeeded. A missing delivery record must not report it as failed.
    if let Ok(now) = workspace.reread(stored) {
        let _ = acknowledge(store, session, &[&now], verb.word());
    }
}

/// Which sessions were briefed on a handoff, and which picked it up.
pub fn delivery_records(store: &Store, stored: &StoredHandoff) -> Result<DeliveryLog, LedgerError> {
    let workspace = store.workspace();
    let handoff = stored.handoff(workspace);
    let Some(uid) = handoff.uid() else { return Ok(DeliveryLog::default()) };
    let Some(ledger) = store.existing_ledger()? else {
        return Ok(DeliveryLog::default());
    };
    let records = ledger.read_with_prefix(StreamId::DELIVERIES)?;
    Ok(DeliveryLog::from_events(&uid, records.iter().flat_map(|record| &record.events)))
}

/// A handoff as delivery records name it.
pub(in crate::verbs) fn delivered_handoff(
    workspace: &Workspace,
    stored: &StoredHandoff,
) -> DeliveredHandoff {
    let clean = |text: &str| workspace.clean(text).0.as_str().to_owned();
    let handoff = stored.handoff(workspace);
    DeliveredHandoff {
        uid: handoff.uid().map(|uid| Uid::new(clean(uid.as_str()))),
        id: clean(&handoff.key().to_string()),
        revision: Some(handoff.replaced_texts().len() + 1),
    }
}

pub(in crate::verbs) fn session_envelope(
    workspace: &Workspace,
    id: String,
    event: SessionEvent,
) -> Envelope {
    let (time, source) = (workspace.environment().clock.now(), event.client().to_owned());
    Envelope { id, time, source, received_from: None, event: Event::Session(event) }
}
