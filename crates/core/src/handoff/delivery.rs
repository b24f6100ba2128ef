//! Receipts: which sessions were told of a handoff, and which took it over. Being told ends nothing.

use crate::work::event::{DeliveredHandoff, Envelope, Event, SessionEvent};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// Who was told of one handoff, and who took it over; each session once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryLog {
    /// The sessions that were told of it, the one that was told last at the end.
    pub delivered: Vec<DeliveryRecord>,
    /// The sessions that took it over.
    pub acknowledged: Vec<DeliveryRecord>,
}

/// A session and when it was last told, or when it took over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRecord {
    /// The client that runs it.
    pub client: String,
    /// Its id.
    pub session: String,
    /// When.
    pub at: Timestamp,
    /// The number of the text that it was told of.
    pub revision: Option<usize>,
}

impl DeliveryLog {
    /// What events of sessions tell about the handoff of a uid.
    pub fn from_events<'e>(uid: &str, events: impl IntoIterator<Item = &'e Envelope>) -> Self {
        let (mut delivered, mut acknowledged) = (BTreeMap::new(), BTreeMap::new());
        let is_it = |one: &&DeliveredHandoff| one.uid.as_deref() == Some(uid);
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
            let receipt = DeliveryRecord {
                client: client.clone(),
                session: session.clone(),
                at: *time,
                revision: found.revision,
            };
            let latest = sessions.entry((client, session)).or_insert_with(|| receipt.clone());
            if latest.at < receipt.at {
                *latest = receipt;
            }
        }
        let in_order = |sessions: BTreeMap<_, DeliveryRecord>| {
            let mut receipts: Vec<DeliveryRecord> = sessions.into_values().collect();
            receipts.sort_by_key(|receipt| receipt.at);
            receipts
        };
        Self { delivered: in_order(delivered), acknowledged: in_order(acknowledged) }
    }

    /// Whether no session was told.
    pub fn is_empty(&self) -> bool {
        self.delivered.is_empty() && self.acknowledged.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handoff(uid: &str) -> DeliveredHandoff {
        DeliveredHandoff { uid: Some(uid.to_owned()), id: "market".to_owned(), revision: Some(2) }
    }

    fn envelope(second: i64, event: SessionEvent) -> Envelope {
        let time = Timestamp::from_second(second).unwrap();
        let event = Event::Session(event);
        Envelope { id: second.to_string(), time, source: "codex".to_owned(), event }
    }

    fn briefed(second: i64, session: &str, uid: &str) -> Envelope {
        let event = SessionEvent::Briefed {
            client: "codex".to_owned(),
            session: session.to_owned(),
            source: None,
            handoffs: vec![handoff("other"), handoff(uid)],
            checkpoint: None,
            digest: second.to_string(),
            tokens: 1,
        };
        envelope(second, event)
    }

    #[test]
    fn each_session_counts_once() {
        let acknowledged = SessionEvent::Acknowledged {
            client: "codex".to_owned(),
            session: "a".to_owned(),
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
        let receipts = DeliveryLog::from_events("u", &events);
        let told: Vec<(&str, i64)> = receipts
            .delivered
            .iter()
            .map(|receipt| (receipt.session.as_str(), receipt.at.as_second()))
            .collect();
        assert_eq!(told, [("b", 2), ("a", 3)]);
        assert_eq!(receipts.acknowledged.len(), 1);
        assert!(DeliveryLog::from_events("nobody", &events).is_empty());
    }
}
