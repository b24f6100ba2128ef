//! Receipts: write down which session was told of which handoff, and which took it over.

use crate::journal::Change;
use crate::store::ledger::{
    AppendError, Ledger as _, LedgerError, Patience, SqliteLedger, StreamId,
};
use crate::verbs::task::named;
use crate::workspace::project::{Project, SetUp, Shelved};
use crate::workspace::settings::SessionName;
use midstride_core::format::header::RevisionVerb;
use midstride_core::handoff::receipt::DeliveryLog;
use midstride_core::work::event::{DeliveredHandoff, Envelope, Event, SessionEvent};

/// Why no receipt was written.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptError {
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
    handoffs: &[&Shelved],
    verb: &str,
) -> Result<usize, ReceiptError> {
    if project.set_up() == SetUp::Not {
        return Err(ReceiptError::NotSetUp);
    }
    let events = handoffs.iter().map(|shelved| {
        let handoff = delivered(project, shelved);
        let name = handoff.uid.as_deref().unwrap_or(&handoff.id);
        let id = named(&[&session.client, &session.id, "acknowledged", name]);
        let SessionName { client, id: session } = session.clone();
        let verb = verb.to_owned();
        envelope(project, id, SessionEvent::Acknowledged { client, session, handoff, verb })
    });
    let ledger = SqliteLedger::open(project, Patience::Command)?;
    let stream = StreamId::receipts(&session.client, &session.id);
    Ok(ledger.unite(&[(stream, events.collect())])?)
}

/// What a session does with a handoff tells that it took it over.
pub(in crate::verbs) fn acknowledge_by_doing(
    project: &Project,
    shelved: &Shelved,
    change: &Change,
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
pub fn receipts(project: &Project, shelved: &Shelved) -> Result<DeliveryLog, LedgerError> {
    let handoff = shelved.handoff(project);
    let Some(uid) = handoff.uid() else { return Ok(DeliveryLog::default()) };
    let Some(ledger) = SqliteLedger::open_existing(project, Patience::Command)? else {
        return Ok(DeliveryLog::default());
    };
    let records = ledger.read_below(StreamId::RECEIPTS)?;
    Ok(DeliveryLog::from_events(uid.value.trim(), records.iter().flat_map(|record| &record.events)))
}

/// A handoff as a receipt names it.
pub(in crate::verbs) fn delivered(project: &Project, shelved: &Shelved) -> DeliveredHandoff {
    let clean = |text: &str| project.clean(text).0.as_str().to_owned();
    let handoff = shelved.handoff(project);
    DeliveredHandoff {
        uid: handoff.uid().map(|uid| clean(uid.value.trim())),
        id: clean(&handoff.key().to_string()),
        revision: Some(handoff.replaced_texts().len() + 1),
    }
}

pub(in crate::verbs) fn envelope(project: &Project, id: String, event: SessionEvent) -> Envelope {
    let (SessionEvent::Checkpointed { client, .. }
    | SessionEvent::Briefed { client, .. }
    | SessionEvent::Dismissed { client, .. }
    | SessionEvent::Acknowledged { client, .. }) = &event;
    let (time, source) = (project.environment().clock.now(), client.clone());
    Envelope { id, time, source, event: Event::Session(event) }
}
