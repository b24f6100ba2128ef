//! Redacts what a ledger already stores, with rules that are newer than what is stored.
//!
//! A blob is stored again under the hash of its clean text, and a `text.redacted` event leads from
//! the old hash to the new one, so a reference to the old hash reads the clean text.

use crate::blob::sha256;
use crate::{LedgerError, LedgerRecord, StreamId};
use jiff::Timestamp;
use midstride_core::text::id::{BlobHash, SessionId};
use midstride_core::text::redact::RedactionRules;
use midstride_core::work::event::{Envelope, Event, TextEvent, WorkflowEvent};
use serde_json::Value;
use std::collections::BTreeSet;

/// How many redactions may lead on from each other. Every upgrade of the rules can add one.
const REDACTIONS_MAX: usize = 64;
/// The fields of an event that name a session.
const SESSION_FIELDS: [&str; 3] = ["session", "by_session", "list"];

/// What was redacted in a ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerRedaction {
    /// Records with events that had a secret.
    pub records: usize,
    /// Blobs that had a secret.
    pub blobs: usize,
    /// Events that wait to be recorded and had a secret.
    pub waiting: usize,
}

/// The hash under which a redacted blob is stored now, by reading the streams of redactions; `None` if it
/// was not redacted.
pub fn redacted_as(
    hash: &BlobHash,
    read: impl Fn(&StreamId) -> Result<Vec<LedgerRecord>, LedgerError>,
) -> Result<Option<BlobHash>, LedgerError> {
    let mut last = None;
    for _ in 0..REDACTIONS_MAX {
        let now = last.as_ref().unwrap_or(hash);
        let mut events =
            read(&StreamId::redaction(now))?.into_iter().flat_map(|it| it.events).rev();
        let Some(next) = events.find_map(|envelope| clean_hash(envelope.event)) else { break };
        last = Some(next);
    }
    Ok(last)
}

/// The blobs with states of workflows. Their keys are not midstride's own, so a key can reveal that its
/// value is a secret.
pub fn state_blobs(records: Vec<LedgerRecord>) -> BTreeSet<BlobHash> {
    let events = records.into_iter().flat_map(|record| record.events);
    events.filter_map(|envelope| state_blob(envelope.event)).collect()
}

/// The hash of the text without a secret, in the event of a redaction.
fn clean_hash(event: Event) -> Option<BlobHash> {
    if let Event::Text(TextEvent::Redacted { clean, .. }) = event { Some(clean) } else { None }
}

/// The blob of a saved state.
fn state_blob(event: Event) -> Option<BlobHash> {
    if let Event::Workflow(WorkflowEvent::Saved { blob, .. }) = event { Some(blob) } else { None }
}

/// The event that leads from a redacted blob to its clean text, and its stream.
pub fn redaction_event(hash: &BlobHash, clean: &BlobHash, now: Timestamp) -> (StreamId, Envelope) {
    let parts = [hash.as_str(), "redacted", clean.as_str()];
    let envelope = Envelope {
        id: sha256(parts.join("\0").as_bytes())[..32].to_owned(),
        time: now,
        source: "midstride".to_owned(),
        received_from: None,
        event: Event::Text(TextEvent::Redacted { hash: hash.clone(), clean: clean.clone() }),
    };
    (StreamId::redaction(hash), envelope)
}

/// The stream and the events of a record without secrets; `None` if it has none.
pub fn redact_record(
    stream: &str,
    events: &str,
    rules: &RedactionRules,
) -> Option<(String, String)> {
    let clean_stream = redact_stream(stream, rules);
    let (clean_events, found) = rules.clean_json(events);
    if found.is_empty() && clean_stream == stream {
        return None;
    }
    // The id of a session becomes what it is everywhere else, not only a redaction mark.
    let named = serde_json::from_str(events).ok().map(|mut events: Value| {
        redact_names(&mut events, &clean_stream, rules);
        rules.clean_json(&events.to_string()).0
    });
    Some((clean_stream, named.unwrap_or(clean_events).as_str().to_owned()))
}

/// The name of a stream without a secret in the id of its session or the name of its workflow.
fn redact_stream(stream: &str, rules: &RedactionRules) -> String {
    let redact = |id: &str| SessionId::new(id).redacted(rules);
    if let Some(name) = stream.strip_prefix(StreamId::WORKFLOWS) {
        let name = redact(name).as_str().to_ascii_lowercase();
        return format!("{}{name}", StreamId::WORKFLOWS);
    }
    let of_session = [StreamId::SESSIONS, StreamId::DELIVERIES];
    let found = of_session.iter().find_map(|prefix| {
        let (client, id) = stream.strip_prefix(prefix)?.split_once('/')?;
        Some(format!("{prefix}{client}/{}", redact(id)))
    });
    found.unwrap_or_else(|| stream.to_owned())
}

/// Replaces names with secrets in events: that of their stream, of their workflow and of sessions.
fn redact_names(events: &mut Value, stream: &str, rules: &RedactionRules) {
    let workflow = stream.strip_prefix(StreamId::WORKFLOWS);
    for event in events.as_array_mut().into_iter().flatten() {
        if let Some(subject) = event.get_mut("subject") {
            *subject = Value::from(stream);
        }
        let Some(data) = event.get_mut("data") else { continue };
        if let Some((name, workflow)) = data.get_mut("name").zip(workflow) {
            *name = Value::from(workflow);
        }
        redact_sessions(data, rules);
    }
}

/// Replaces ids of sessions that have a secret.
fn redact_sessions(value: &mut Value, rules: &RedactionRules) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| redact_sessions(item, rules)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str().filter(|_| SESSION_FIELDS.contains(&key.as_str())) {
                    Some(id) => *value = Value::from(SessionId::new(id).redacted(rules).as_str()),
                    None => redact_sessions(value, rules),
                }
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The bytes without secrets; `None` if they have none.
pub fn redact_bytes(bytes: &[u8], rules: &RedactionRules, is_state: bool) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(bytes);
    let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
    let (mut clean, mut found) = match is_json {
        true => rules.clean_json(&text),
        false => rules.clean(&text),
    };
    if is_state {
        let (whole, more) = rules.clean(clean.as_str());
        if serde_json::from_str::<serde::de::IgnoredAny>(whole.as_str()).is_ok() {
            clean = whole;
            found.extend(more);
        }
    }
    (!found.is_empty()).then(|| clean.as_str().as_bytes().to_vec())
}
