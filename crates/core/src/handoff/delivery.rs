//! Delivery records: which sessions were briefed on a handoff, and which acknowledged it.
//!
//! A briefing alone does not close anything.

use crate::text::id::{SessionId, Uid};
use crate::work::event::{DeliveredHandoff, Envelope, Event, SessionEvent};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// The sessions that were briefed on one handoff or acknowledged it; each session once per list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryLog {
    /// The sessions that were briefed, in order of their last briefing.
    pub delivered: Vec<DeliveryRecord>,
    /// The sessions that acknowledged it.
    pub acknowledged: Vec<DeliveryRecord>,
}

/// One session, with the time it was last briefed or acknowledged the handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRecord {
    /// The client that runs the session.
    pub client: String,
    /// The session id.
    pub session: SessionId,
    /// When it happened.
    pub at: Timestamp,
    /// The revision of the handoff that was delivered.
    pub revision: Option<usize>,
}

impl DeliveryLog {
    /// Collects the records of one handoff, identified by its uid, from session events.
    pub fn from_events<'e>(uid: &Uid, events: impl IntoIterator<Item = &'e Envelope>) -> Self {
        let (mut delivered, mut acknowledged) = (BTreeMap::new(), BTreeMap::new());
        let is_it = |one: &&DeliveredHandoff| one.uid.as_ref() == Some(uid);
        for Envelope { time, event, .. } in events {
            let Event::Session(event) = event else { continue };
            let (sessions, client, session, found) = match event {
                SessionEvent::Briefed { client, session, handoffs, .. } => {
                    (&mut delivered, client, session, handoffs.iter().find(is_it))
                }
                SessionEvent::Acknowledged { client, session, handoff, .. } => {
                    (&mut acknowledged, client, session, Some(handoff).filter(is_it))
                }
                SessionEvent::Checkpointed { .. } | SessionEvent::Dismissed { .. } => continue,
            };
            let Some(found) = found else { continue };
            let record = DeliveryRecord {
                client: client.clone(),
                session: session.clone(),
                at: *time,
                revision: found.revision,
            };
            let latest = sessions.entry((client, session)).or_insert_with(|| record.clone());
            if latest.at < record.at {
                *latest = record;
            }
        }
        let in_order = |sessions: BTreeMap<_, DeliveryRecord>| {
            let mut records: Vec<DeliveryRecord> = sessions.into_values().collect();
            records.sort_by_key(|record| record.at);
            records
        };
        Self { delivered: in_order(delivered), acknowledged: in_order(acknowledged) }
    }

    /// Whether no session was briefed or acknowledged it.
    pub fn is_empty(&self) -> bool {
        self.delivered.is_empty() && self.acknowledged.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handoff(uid: &str) -> DeliveredHandoff {
        DeliveredHandoff { uid: Some(Uid::new(uid)), id: "market".to_owned(), revision: Some(2) }
    }

    fn envelope(second: i64, event: SessionEvent) -> Envelope {
        let time = Timestamp::from_second(second).unwrap();
        let event = Event::Session(event);
        Envelope {
            id: second.to_string(),
            time,
            source: "codex".to_owned(),
            received_from: None,
            event,
        }
    }

    fn briefed(second: i64, session: &str, uid: &str) -> Envelope {
        let event = SessionEvent::Briefed {
            client: "codex".to_owned(),
            session: SessionId::new(session),
            source: None,
            handoffs: vec![handoff("other"), handoff(uid)],
            checkpoint: None,
            digest: second.to_string(),
            tokens: 1,
        };
        envelope(second, event)
    }

    #[test]
    fn each_session_is_listed_once() {
        let acknowledged = SessionEvent::Acknowledged {
            client: "codex".to_owned(),
            session: SessionId::new("a"),
            handoff: handoff("u"),
            verb: "start".to_owned(),
        };
        let events = [
            briefed(3, "a", "u"),
            briefed(1, "a", "u"),
            briefed(2, "b", "u"),
            briefed(9, "c", "v"),
            envelope(4, acknowledged),
        ];
        let log = DeliveryLog::from_events(&Uid::new("u"), &events);
        let delivered: Vec<(&str, i64)> = log
            .delivered
            .iter()
            .map(|record| (record.session.as_str(), record.at.as_second()))
            .collect();
        assert_eq!(delivered, [("b", 2), ("a", 3)]);
        assert_eq!(log.acknowledged.len(), 1);
        assert!(DeliveryLog::from_events(&Uid::new("nobody"), &events).is_empty());
    }
}
