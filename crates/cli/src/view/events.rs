//! What the ledger tells.

use super::tame;
use midstride::ledger::Recorded;
use midstride_core::event::{Envelope, Event, HandoffEvent, ProofEvent};

/// A line per event.
pub(crate) fn lines(record: &Recorded, json: bool) -> String {
    let line = |envelope: &Envelope| if json { cloud(record, envelope) } else { human(envelope) };
    record.events.iter().map(|envelope| format!("{}\n", line(envelope))).collect()
}

fn cloud(record: &Recorded, envelope: &Envelope) -> String {
    let mut event = envelope.cloud_event(record.stream.as_str());
    event["sequence"] = record.cursor.0.to_string().into();
    event.to_string()
}

fn human(envelope: &Envelope) -> String {
    let (about, what) = match &envelope.event {
        Event::Handoff(HandoffEvent::Captured { key, .. }) => (key.clone(), "captured".to_owned()),
        Event::Handoff(HandoffEvent::Revised { key, reason, .. }) => {
            (key.clone(), reason.clone().unwrap_or_else(|| "changed".to_owned()))
        }
        Event::Proof(ProofEvent::Ran { key, number, claim, outcome, .. }) => {
            let claim = claim.as_deref().map_or_else(String::new, |claim| format!(": {claim}"));
            (key.clone(), format!("proof {number} {}{claim}", outcome.replace('_', " ")))
        }
        Event::Unknown(unknown) => {
            (unknown.kind.clone(), "written by a newer midstride".to_owned())
        }
    };
    let time = envelope.time.strftime("%Y-%m-%d %H:%M");
    tame(&format!("{time}  {about}  {what}  (by {})", envelope.source))
}
