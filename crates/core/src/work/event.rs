//! Events: records of what happened, as versioned data that outlives the code.
//!
//! An event that this version does not know is kept and shown as is, but never acted on.

mod family;
mod handoff;
mod instruction;
mod mission;
mod proof;
mod session;
mod task;
mod text;
mod workflow;

pub use handoff::HandoffEvent;
pub use instruction::InstructionEvent;
pub use mission::MissionEvent;
pub use proof::ProofEvent;
pub use session::{DeliveredHandoff, SessionEvent};
pub use task::{
    CLIENT, CLIENT_TASK, CapturedTask, ClientTaskKey, SESSION, TaskChange, TaskEvent, TaskStatus,
};
pub use text::TextEvent;
pub use workflow::WorkflowEvent;

use crate::text::id::{BlobHash, SessionId};
use family::EventFamily;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// An event about a handoff.
    Handoff(HandoffEvent),
    /// An event about a proof.
    Proof(ProofEvent),
    /// An event about a task.
    Task(TaskEvent),
    /// An event about the mission.
    Mission(MissionEvent),
    /// An event about a session.
    Session(SessionEvent),
    /// An event about a stored text.
    Text(TextEvent),
    /// An event about a workflow.
    Workflow(WorkflowEvent),
    /// An event about a standing instruction of the user.
    Instruction(InstructionEvent),
    /// An event that a newer midstride wrote.
    Unknown(UnknownEvent),
}

/// An event that this version does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEvent {
    /// Its kind.
    pub kind: String,
    /// The version of that kind.
    pub version: u32,
    /// The data of the event.
    pub data: Value,
}

impl Event {
    /// The kind, such as `handoff.revised`.
    pub fn kind(&self) -> &str {
        match self {
            Self::Handoff(event) => event.kind(),
            Self::Proof(event) => event.kind(),
            Self::Task(event) => event.kind(),
            Self::Mission(event) => event.kind(),
            Self::Session(event) => event.kind(),
            Self::Text(event) => event.kind(),
            Self::Workflow(event) => event.kind(),
            Self::Instruction(event) => event.kind(),
            Self::Unknown(unknown) => &unknown.kind,
        }
    }

    /// The version of its kind. The meaning of a kind never changes within a version.
    pub fn version(&self) -> u32 {
        match self {
            Self::Handoff(_) => HandoffEvent::VERSION,
            Self::Proof(_) => ProofEvent::VERSION,
            Self::Task(_) => TaskEvent::VERSION,
            Self::Mission(_) => MissionEvent::VERSION,
            Self::Session(_) => SessionEvent::VERSION,
            Self::Text(_) => TextEvent::VERSION,
            Self::Workflow(_) => WorkflowEvent::VERSION,
            Self::Instruction(_) => InstructionEvent::VERSION,
            Self::Unknown(unknown) => unknown.version,
        }
    }

    /// The data of the event.
    pub fn data(&self) -> Value {
        match self {
            Self::Handoff(event) => event.data(),
            Self::Proof(event) => event.data(),
            Self::Task(event) => event.data(),
            Self::Mission(event) => event.data(),
            Self::Session(event) => event.data(),
            Self::Text(event) => event.data(),
            Self::Workflow(event) => event.data(),
            Self::Instruction(event) => event.data(),
            Self::Unknown(unknown) => unknown.data.clone(),
        }
    }

    /// The kind of an unknown event. A newer midstride wrote it, and it may change what the rest
    /// means.
    pub fn newer_kind(&self) -> Option<&str> {
        match self {
            Self::Unknown(unknown) => Some(&unknown.kind),
            Self::Handoff(_)
            | Self::Proof(_)
            | Self::Task(_)
            | Self::Mission(_)
            | Self::Session(_)
            | Self::Text(_)
            | Self::Workflow(_)
            | Self::Instruction(_) => None,
        }
    }

    /// The event without its quote from a stored text; `None` if it does not quote it.
    pub fn without_text(&self, hash: &BlobHash) -> Option<Self> {
        match self {
            Self::Session(SessionEvent::Checkpointed { blob, about: Some(_), .. })
                if blob == hash =>
            {
                let mut event = self.clone();
                if let Self::Session(SessionEvent::Checkpointed { about, .. }) = &mut event {
                    *about = None;
                }
                Some(event)
            }
            Self::Handoff(_)
            | Self::Proof(_)
            | Self::Task(_)
            | Self::Mission(_)
            | Self::Session(_)
            | Self::Text(_)
            | Self::Workflow(_)
            | Self::Instruction(_)
            | Self::Unknown(_) => None,
        }
    }

    /// The event that replaces this one when a session is forgotten; `None` if it does not quote
    /// that session. A task of the session becomes dropped and its standing instruction dismissed,
    /// without their texts.
    pub fn without_session(&self, client: &str, session: &SessionId) -> Option<Self> {
        match self {
            Self::Task(event) => event.without_session(client, session).map(Self::Task),
            Self::Instruction(event) => {
                event.without_session(client, session).map(Self::Instruction)
            }
            Self::Handoff(_)
            | Self::Proof(_)
            | Self::Mission(_)
            | Self::Session(_)
            | Self::Text(_)
            | Self::Workflow(_)
            | Self::Unknown(_) => None,
        }
    }

    /// Whether it is a stored event that is not in the form of an event at all.
    fn is_unreadable(&self) -> bool {
        matches!(self, Self::Unknown(unknown) if unknown.kind == UNREADABLE)
    }

    /// Parses an event. An event it cannot parse becomes [`Event::Unknown`], so nothing is lost.
    pub fn parse(kind: &str, version: u32, data: Value) -> Self {
        let handoff = || HandoffEvent::parse(kind, version, &data).map(Self::Handoff);
        let proof = || ProofEvent::parse(kind, version, &data).map(Self::Proof);
        let task = || TaskEvent::parse(kind, version, &data).map(Self::Task);
        let mission = || MissionEvent::parse(kind, version, &data).map(Self::Mission);
        let session = || SessionEvent::parse(kind, version, &data).map(Self::Session);
        let text = || TextEvent::parse(kind, version, &data).map(Self::Text);
        let known = handoff().or_else(proof).or_else(task).or_else(mission).or_else(session);
        let workflow = || WorkflowEvent::parse(kind, version, &data).map(Self::Workflow);
        let instruction = || InstructionEvent::parse(kind, version, &data).map(Self::Instruction);
        let known = known.or_else(text).or_else(workflow).or_else(instruction);
        known
            .unwrap_or_else(|| Self::Unknown(UnknownEvent { kind: kind.to_owned(), version, data }))
    }
}

/// An event with its id, time and source, as in CloudEvents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// A globally unique id.
    pub id: String,
    /// When it happened.
    pub time: Timestamp,
    /// Who or what caused it. For an event from a remote, the name that was claimed there.
    pub source: String,
    /// The remote that it came from; `None` if it was recorded here.
    pub received_from: Option<String>,
    /// What happened.
    pub event: Event,
}

/// How far clocks may differ. An event further in the future is not trusted.
const CLOCK_SKEW_MAX: SignedDuration = SignedDuration::from_hours(24);

/// The time for a new event: `now`, but always after `last`. Clocks differ, and an event must sort
/// after the events it is based on. `None` if no later time exists.
pub fn timestamp_after(last: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    let Some(last) = last else { return Some(now) };
    let later = last.checked_add(SignedDuration::from_nanos(1)).ok()?;
    Some(later.max(now))
}

/// The kind of a stored event that is not in the form of an event. No event has it.
const UNREADABLE: &str = "unreadable";

/// The version of the CloudEvents specification.
const CLOUD_EVENTS_VERSION: &str = "1.0";
/// The attribute for the remote that an event came from.
const RECEIVED_FROM: &str = "receivedfrom";
/// The prefix of all our event types.
const TYPE_PREFIX: &str = "midstride.";

/// A name, with the remote that claims it.
pub fn attribute(source: &str, received_from: Option<&str>) -> String {
    match received_from {
        Some(remote) => format!("{remote}, as `{source}`"),
        None => source.to_owned(),
    }
}

impl Envelope {
    /// Whether its time is too far in the future, by a clock that shows `now`.
    pub fn is_ahead_of(&self, now: Timestamp) -> bool {
        self.time > now.checked_add(CLOCK_SKEW_MAX).unwrap_or(Timestamp::MAX)
    }

    /// Who to name for it. Anyone who can push to a remote chooses the source of an event there, so the
    /// remote is named too.
    pub fn author(&self) -> String {
        attribute(&self.source, self.received_from.as_deref())
    }

    /// The CloudEvents JSON, with this subject. What could not be read stays as it was stored.
    pub fn to_cloud_event(&self, subject: &str) -> Value {
        if self.event.is_unreadable() {
            return self.event.data();
        }
        let mut event = json!({
            "specversion": CLOUD_EVENTS_VERSION,
            "id": self.id,
            "source": self.source,
            "type": format!("{TYPE_PREFIX}{}.v{}", self.event.kind(), self.event.version()),
            "subject": subject,
            "time": self.time.to_string(),
            "datacontenttype": "application/json",
            "data": self.event.data(),
        });
        if let Some(remote) = &self.received_from {
            event[RECEIVED_FROM] = remote.as_str().into();
        }
        event
    }

    /// Reads a stored event. What is not in the form of an event becomes [`Event::Unknown`] with everything
    /// that was stored, so a record never loses an event, and nothing is decided on a part of it.
    pub fn from_stored(event: Value) -> Self {
        if let Some(envelope) = Self::from_cloud_event(&event) {
            return envelope;
        }
        let text = |name: &str| event.get(name).and_then(Value::as_str);
        Self {
            id: text("id").unwrap_or_default().to_owned(),
            time: text("time").and_then(|time| time.parse().ok()).unwrap_or(Timestamp::UNIX_EPOCH),
            source: text("source").unwrap_or_default().to_owned(),
            received_from: text(RECEIVED_FROM).map(str::to_owned),
            event: Event::Unknown(UnknownEvent {
                kind: UNREADABLE.to_owned(),
                version: 0,
                data: event,
            }),
        }
    }

    /// Whether it was stored in the form of an event, of a known kind or not.
    pub fn is_readable(&self) -> bool {
        !self.event.is_unreadable()
    }

    /// Parses CloudEvents JSON; `None` if it is not one of our events.
    pub fn from_cloud_event(event: &Value) -> Option<Self> {
        let text = |name: &str| event.get(name).and_then(Value::as_str);
        let (kind, version) = text("type")?.strip_prefix(TYPE_PREFIX)?.rsplit_once(".v")?;
        let data = event.get("data").cloned().unwrap_or(Value::Null);
        Some(Self {
            id: text("id")?.to_owned(),
            time: text("time")?.parse().ok()?,
            source: text("source")?.to_owned(),
            received_from: text(RECEIVED_FROM).map(str::to_owned),
            event: Event::parse(kind, version.parse().ok()?, data),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::id::Uid;

    fn envelope(event: Event) -> Envelope {
        let time = "2026-03-21T17:24:00Z".parse().unwrap();
        let (id, source) = ("one".into(), "nightcheck".into());
        Envelope { id, time, source, received_from: None, event }
    }

    #[test]
    fn an_event_from_a_remote_names_it() {
        let mut envelope = envelope(Event::Task(TaskEvent::Noted { text: "so it is".to_owned() }));
        assert_eq!(envelope.author(), "nightcheck");
        assert_eq!(envelope.to_cloud_event("x").get(RECEIVED_FROM), None);
        envelope.received_from = Some("origin".to_owned());
        assert_eq!(envelope.author(), "origin, as `nightcheck`");
        let written = envelope.to_cloud_event("x");
        assert_eq!(Envelope::from_cloud_event(&written), Some(envelope));
    }

    #[test]
    fn what_is_not_an_event_is_kept_as_it_was_stored() {
        for stored in [
            json!({ "id": "one", "type": "other.happened" }),
            json!({ "id": 7, "type": "midstride.task.noted.v1", "source": "x", "time": "never" }),
            json!("torn"),
            Value::Null,
        ] {
            let read = Envelope::from_stored(stored.clone());
            assert!(!read.is_readable(), "{stored}");
            assert_eq!(read.event.newer_kind(), Some(UNREADABLE), "nothing is decided on it");
            assert_eq!(read.to_cloud_event("x"), stored);
        }
        let whole = envelope(Event::Task(TaskEvent::Noted { text: "so it is".to_owned() }));
        assert_eq!(Envelope::from_stored(whole.to_cloud_event("x")), whole);
    }

    #[test]
    fn events_survive_a_round_trip() {
        let revised = HandoffEvent::Revised {
            key: "market".into(),
            path: ".midstride/handoffs/market.md".into(),
            at: Some("2026-03-21T18:20:00Z".into()),
            by: None,
            verb: Some("review".into()),
            reason: Some("wrong code path".into()),
            was: Some(BlobHash::new("aa")),
        };
        let captured = HandoffEvent::Captured { key: "market".into(), path: "market.md".into() };
        let ran = ProofEvent::Ran {
            key: "market".into(),
            number: 2,
            claim: Some("It is fast".into()),
            command: "bench".into(),
            directory: String::new(),
            outcome: "broken".into(),
            why: Some("14290 is over 200".into()),
            exit: Some(0),
            measured: Some("14290".into()),
            milliseconds: 1200,
            commit: None,
            output: "14290 ms".into(),
        };
        let changed = TaskChange {
            status: Some(TaskStatus::Blocked),
            metadata: [("agent_id".to_owned(), None)].into(),
            ..TaskChange::default()
        };
        let events = [
            Event::Handoff(revised),
            Event::Handoff(captured),
            Event::Proof(ran),
            Event::Task(TaskEvent::Changed(changed)),
            Event::Task(TaskEvent::Noted { text: "so it is".into() }),
            Event::Mission(MissionEvent::Stated {
                decisions: vec!["JWT".into()],
                questions: Vec::new(),
                next: Vec::new(),
                mode: None,
                iteration: Some(3),
            }),
            Event::Text(TextEvent::Forgotten {
                hash: BlobHash::new("aa"),
                what: "revision".into(),
                of: Some("market".into()),
                shared: true,
                kept: true,
                reason: None,
            }),
            Event::Text(TextEvent::Redacted {
                hash: BlobHash::new("aa"),
                clean: BlobHash::new("bb"),
            }),
            Event::Session(SessionEvent::Briefed {
                client: "codex".into(),
                session: SessionId::new("s"),
                source: Some("resume".into()),
                handoffs: vec![DeliveredHandoff {
                    uid: Some(Uid::new("u")),
                    id: "market".into(),
                    revision: Some(2),
                }],
                checkpoint: None,
                digest: "aa".into(),
                tokens: 412,
            }),
            Event::Workflow(WorkflowEvent::Saved {
                name: "release".into(),
                blob: BlobHash::new("aa"),
                bytes: 7,
                client: Some("codex".into()),
                session: None,
            }),
            Event::Instruction(InstructionEvent::Given {
                id: "0123456789abcdef0123456789abcdef".into(),
                text: "never touch web/".into(),
                branch: None,
                client: "codex".into(),
                session: SessionId::new("s"),
                record: "r".into(),
                headless: true,
            }),
            Event::Instruction(InstructionEvent::Dismissed { id: "aa".into(), wrong: true }),
            Event::Session(SessionEvent::Acknowledged {
                client: "codex".into(),
                session: SessionId::new("s"),
                handoff: DeliveredHandoff { uid: None, id: "market".into(), revision: None },
                verb: "start".into(),
            }),
        ];
        for event in events {
            let envelope = envelope(event);
            let written = envelope.to_cloud_event("handoff/1");
            assert_eq!(Envelope::from_cloud_event(&written), Some(envelope));
        }
    }

    #[test]
    fn quotes_of_a_forgotten_text_are_removed() {
        let checkpointed = |about: Option<&str>| {
            Event::Session(SessionEvent::Checkpointed {
                client: "codex".into(),
                session: SessionId::new("s"),
                last_record: None,
                digest: "d".into(),
                blob: BlobHash::new("aa"),
                mode: "auto".into(),
                bytes: 7,
                agents_bytes: None,
                began: None,
                ended: None,
                about: about.map(str::to_owned),
                folder: None,
                gist: None,
                branch: None,
                worked: None,
                open: None,
                edited_below: None,
            })
        };
        let quoting = checkpointed(Some("the password is hunter2"));
        assert_eq!(quoting.without_text(&BlobHash::new("aa")), Some(checkpointed(None)));
        assert_eq!(quoting.without_text(&BlobHash::new("bb")), None, "another text");
        assert_eq!(
            checkpointed(None).without_text(&BlobHash::new("aa")),
            None,
            "nothing is left to take out"
        );
    }

    #[test]
    fn a_checkpoint_of_an_older_midstride_is_read() {
        let data = json!({
            "client": "codex", "session": "s", "last_record": null, "digest": "aa", "blob": "bb",
            "mode": "auto", "bytes": 1, "began": null, "ended": null, "about": null,
        });
        let event = Event::parse("session.checkpointed", 1, data.clone());
        let Event::Session(SessionEvent::Checkpointed { gist, folder, agents_bytes, .. }) = &event
        else {
            panic!("{event:?}");
        };
        assert_eq!((gist, folder, agents_bytes), (&None, &None, &None));
        assert_eq!(event.data(), data);
    }

    #[test]
    fn an_event_of_a_newer_version_is_kept_as_is() {
        let data = json!({"what": [1, 2]});
        for (kind, version) in [
            ("handoff.revised", 9),
            ("proof.ran", 1),
            ("task.added", 2),
            ("task.begun", 1),
            ("weather.changed", 1),
        ] {
            let event = Event::parse(kind, version, data.clone());
            assert!(matches!(event, Event::Unknown(_)));
            let written = envelope(event.clone()).to_cloud_event("x");
            assert_eq!(written["type"], format!("midstride.{kind}.v{version}"));
            assert_eq!(Envelope::from_cloud_event(&written).unwrap().event, event);
        }
        assert_eq!(Envelope::from_cloud_event(&json!({"type": "com.example.x.v1"})), None);
    }
}
