//! Redacts what the ledger already stores, with rules that are newer than the stored text.
//!
//! A blob is stored again under the hash of its clean text, and a `text.redacted` event leads from
//! the old hash to the new one, so a reference to the old hash reads the clean text. Each record and
//! each blob is replaced in one transaction; after a kill, running it again finishes the work.

use super::sqlite::{SqliteLedger, append_missing_in};
use super::{AppendError, Blob, Ledger as _, LedgerError, StreamId, large_blobs, spool};
use crate::sys::ids::sha256;
use jiff::Timestamp;
use midstride_core::text::id::{BlobHash, SessionId};
use midstride_core::text::redact::RedactionRules;
use midstride_core::work::event::{Envelope, Event, TextEvent, WorkflowEvent};
use rusqlite::{Connection, TransactionBehavior};
use serde_json::Value;
use std::collections::BTreeSet;

/// How many records are read at once.
const RECORDS_AT_ONCE: i64 = 200;
/// How many redactions may lead on from each other. Every upgrade of the rules can add one.
const REDACTIONS_MAX: usize = 64;
/// The fields of an event that name a session.
const SESSION_FIELDS: [&str; 3] = ["session", "by_session", "list"];

/// What was redacted in a ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LedgerRedaction {
    /// Records with events that had a secret.
    pub(crate) records: usize,
    /// Blobs that had a secret.
    pub(crate) blobs: usize,
    /// Spooled files that had a secret.
    pub(crate) spooled: usize,
}

/// A record as it is stored.
struct StoredRecord {
    position: i64,
    stream: String,
    events: String,
}

impl SqliteLedger {
    /// Redacts all records and blobs. The old bytes stay in unused pages until
    /// [`SqliteLedger::erase_unused_pages`].
    pub(crate) fn redact(
        &self,
        rules: &RedactionRules,
        now: Timestamp,
    ) -> Result<LedgerRedaction, LedgerError> {
        let secure = self.connection().pragma_update(None, "secure_delete", "ON");
        secure.map_err(|error| self.unreadable(&error))?;
        let records = self.redact_records(rules)?;
        let states = self.workflow_blobs()?;
        let mut blobs = 0;
        for hash in self.blobs_with_prefix("")? {
            blobs += usize::from(self.redact_blob(&hash, rules, states.contains(&hash), now)?);
        }
        let spooled = spool::redact(self.folder(), rules)?;
        Ok(LedgerRedaction { records, blobs, spooled })
    }

    /// Overwrites what deleted rows left behind, in the database and in its log.
    pub(crate) fn erase_unused_pages(&self) -> Result<(), LedgerError> {
        self.rewrite_pages(&self.connection())
    }

    /// How many blobs and texts were redacted after they were stored.
    pub(crate) fn count_redacted(&self) -> Result<usize, LedgerError> {
        let sql = "SELECT count(DISTINCT stream) FROM records
                   WHERE stream >= ?1 AND stream < ?1 || char(1114111)";
        let connection = self.connection();
        let count = connection.query_row(sql, [StreamId::REDACTIONS], |row| row.get::<_, i64>(0));
        let count = count.map_err(|error| self.unreadable(&error))?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// The id under which a redacted blob or text is stored now; `None` if it was not redacted.
    pub(crate) fn redacted_as(&self, hash: &BlobHash) -> Result<Option<BlobHash>, LedgerError> {
        let mut last = None;
        for _ in 0..REDACTIONS_MAX {
            let now = last.as_ref().unwrap_or(hash);
            let records = self.read(&StreamId::redaction(now), None)?;
            let mut events = records.into_iter().flat_map(|record| record.events).rev();
            let Some(next) = events.find_map(|envelope| clean_hash(envelope.event)) else { break };
            last = Some(next);
        }
        Ok(last)
    }

    /// Records that a text is stored under another id now.
    pub(crate) fn record_redaction(
        &self,
        hash: &BlobHash,
        clean: &BlobHash,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let (stream, event) = redaction_event(hash, clean, now);
        self.append_missing(&[(stream, vec![event])]).map(drop).map_err(unavailable)
    }

    fn redact_records(&self, rules: &RedactionRules) -> Result<usize, LedgerError> {
        let (mut after, mut redacted) = (0, 0);
        loop {
            let some = stored_records(&self.connection(), after);
            let some = some.map_err(|error| self.unreadable(&error))?;
            let Some(last) = some.last() else { return Ok(redacted) };
            after = last.position;
            for record in &some {
                let Some((stream, events)) = redact_record(record, rules) else { continue };
                let replaced = replace_record(&mut self.connection(), record, &stream, &events);
                redacted += usize::from(replaced.map_err(|error| self.unreadable(&error))?);
            }
        }
    }

    /// The blobs with states of workflows. Their keys are not midstride's own, so a key can reveal
    /// that its value is a secret.
    fn workflow_blobs(&self) -> Result<BTreeSet<BlobHash>, LedgerError> {
        let records = self.read_with_prefix(StreamId::WORKFLOWS)?;
        let events = records.into_iter().flat_map(|record| record.events);
        Ok(events.filter_map(|envelope| state_blob(envelope.event)).collect())
    }

    /// Redacts a blob; returns whether it had a secret.
    fn redact_blob(
        &self,
        hash: &BlobHash,
        rules: &RedactionRules,
        is_state: bool,
        now: Timestamp,
    ) -> Result<bool, LedgerError> {
        let bytes = match self.get_blob(hash) {
            Ok(Some(bytes)) => bytes,
            // A file may be truncated. Its session is captured again from its transcript.
            Ok(None) | Err(LedgerError::Damaged { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let Some(clean) = redact_bytes(&bytes, rules, is_state) else { return Ok(false) };
        let clean = Blob::new(clean);
        self.store_blob(&clean)?;
        let (stream, event) = redaction_event(hash, clean.hash(), now);
        let failed = |error: rusqlite::Error| self.unreadable(&error);
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = transaction.map_err(failed)?;
        let deleted = transaction.execute("DELETE FROM blobs WHERE hash = ?1", [hash.as_str()]);
        deleted.map_err(failed)?;
        append_missing_in(&transaction, &stream, &[event]).map_err(unavailable)?;
        transaction.commit().map_err(failed)?;
        drop(connection);
        large_blobs::remove(self.folder(), hash)?;
        Ok(true)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it converts the error of a call")]
fn unavailable(error: AppendError) -> LedgerError {
    LedgerError::Unavailable(error.to_string())
}

/// The hash of the text without a secret, in the event of a redaction.
fn clean_hash(event: Event) -> Option<BlobHash> {
    if let Event::Text(TextEvent::Redacted { clean, .. }) = event { Some(clean) } else { None }
}

/// The blob of a saved state.
fn state_blob(event: Event) -> Option<BlobHash> {
    if let Event::Workflow(WorkflowEvent::Saved { blob, .. }) = event { Some(blob) } else { None }
}

fn redaction_event(hash: &BlobHash, clean: &BlobHash, now: Timestamp) -> (StreamId, Envelope) {
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

fn stored_records(connection: &Connection, after: i64) -> rusqlite::Result<Vec<StoredRecord>> {
    let sql = "SELECT position, stream, events FROM records
               WHERE position > ?1 ORDER BY position LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((after, RECORDS_AT_ONCE), |row| {
        Ok(StoredRecord { position: row.get(0)?, stream: row.get(1)?, events: row.get(2)? })
    })?;
    rows.collect()
}

/// The stream and the events of a record without secrets; `None` if it has none.
fn redact_record(record: &StoredRecord, rules: &RedactionRules) -> Option<(String, String)> {
    let stream = redact_stream(&record.stream, rules);
    let (events, found) = rules.clean_json(&record.events);
    if found.is_empty() && stream == record.stream {
        return None;
    }
    // The id of a session becomes what it is everywhere else, not only a redaction mark.
    let named = serde_json::from_str(&record.events).ok().map(|mut events: Value| {
        redact_names(&mut events, &stream, rules);
        rules.clean_json(&events.to_string()).0
    });
    Some((stream, named.unwrap_or(events).as_str().to_owned()))
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

/// Replaces a record, unless another process changed it. If the stream has another name now, the
/// record is the last one of that stream.
fn replace_record(
    connection: &mut Connection,
    record: &StoredRecord,
    stream: &str,
    events: &str,
) -> rusqlite::Result<bool> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let sql = "UPDATE records SET events = ?1 WHERE position = ?2 AND events = ?3";
    let replaced = transaction.execute(sql, (events, record.position, &record.events))? > 0;
    if replaced && stream != record.stream {
        let sql = "UPDATE records SET stream = ?1, number =
                       (SELECT coalesce(max(number), 0) + 1 FROM records WHERE stream = ?1)
                   WHERE position = ?2";
        transaction.execute(sql, (stream, record.position))?;
    }
    transaction.commit()?;
    Ok(replaced)
}

/// The bytes without secrets; `None` if they have none.
fn redact_bytes(bytes: &[u8], rules: &RedactionRules, is_state: bool) -> Option<Vec<u8>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ledger::{ExpectedVersion, LogPosition, WaitPolicy};
    use crate::sys::files::{self, Root, ScratchFolder};
    use midstride_core::text::redact::CustomRule;
    use midstride_core::work::event::SessionEvent;
    use std::path::Path;

    const TOKEN: &str = "acme_q7w2e9r4t1y6u3i8";

    fn rules() -> RedactionRules {
        let rule = CustomRule {
            kind: "acme-token".to_owned(),
            begins: "acme_".to_owned(),
            then: "[a-z0-9]{16}".to_owned(),
            multiline: false,
        };
        RedactionRules::with_custom(&[rule]).unwrap()
    }

    fn open(folder: &ScratchFolder) -> SqliteLedger {
        SqliteLedger::open_in(Root::open(folder.path()).unwrap(), WaitPolicy::Command).unwrap()
    }

    fn checkpointed(session: &str, blob: &BlobHash) -> Envelope {
        let data = serde_json::json!({
            "client": "codex", "session": session, "last_record": null, "digest": "aa",
            "blob": blob.as_str(), "mode": "auto", "bytes": 1, "began": null, "ended": null,
            "about": format!("use {TOKEN} here"),
        });
        Envelope {
            id: format!("event of {}", session.len()),
            time: Timestamp::UNIX_EPOCH,
            source: "codex".to_owned(),
            received_from: None,
            event: Event::parse("session.checkpointed", 1, data),
        }
    }

    fn has_token(folder: &Path) -> bool {
        let root = Root::open(folder).unwrap();
        let entries = root.entries(Path::new("")).unwrap();
        entries.iter().any(|entry| {
            let has =
                |bytes: Vec<u8>| bytes.windows(TOKEN.len()).any(|part| part == TOKEN.as_bytes());
            let in_content = match entry.is_folder {
                true => has_token(&folder.join(&entry.name)),
                false => has(root.read(Path::new(&entry.name)).unwrap()),
            };
            in_content || entry.name.contains(TOKEN)
        })
    }

    #[test]
    fn records_blobs_and_streams_are_redacted_and_references_still_read_the_text() {
        let folder = ScratchFolder::new("midstride-redaction").unwrap();
        let ledger = open(&folder);
        let small = format!("{{\"said\":\"{TOKEN} it is\"}}");
        let large = format!("{{\"said\":\"{}{TOKEN}\"}}", "word ".repeat(20_000));
        let (small, large) = (ledger.put_blob(small.as_bytes()), ledger.put_blob(large.as_bytes()));
        let (small, large) = (small.unwrap(), large.unwrap());
        let plain = ledger.put_blob(b"nothing to hide").unwrap();
        for (session, blob) in [("s1", &small), (TOKEN, &large)] {
            let stream = StreamId::from_name(&format!("session/codex/{session}"));
            let event = checkpointed(session, blob);
            ledger.append(&stream, ExpectedVersion::NoStream, &[event]).unwrap();
        }
        let task = StreamId::from_name("task/1");
        let added = serde_json::json!({ "subject": format!("Return {TOKEN}"), "depends_on": [] });
        let added = Event::parse("task.added", 1, added);
        let added = Envelope { event: added, ..checkpointed("task", &plain) };
        ledger.append(&task, ExpectedVersion::NoStream, &[added]).unwrap();
        assert!(has_token(folder.path()));
        let done = ledger.redact(&rules(), Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(done, LedgerRedaction { records: 3, blobs: 2, spooled: 0 });
        ledger.erase_unused_pages().unwrap();
        assert!(!has_token(folder.path()));
        let text = |hash| String::from_utf8(ledger.get_blob(hash).unwrap().unwrap()).unwrap();
        assert_eq!(text(&small), "{\"said\":\"REDACTED-acme-token it is\"}");
        assert!(text(&large).ends_with("word REDACTED-acme-token\"}"));
        assert_eq!(text(&plain), "nothing to hide");
        let records = ledger.read_with_prefix(StreamId::SESSIONS).unwrap();
        let id = SessionId::new(TOKEN).redacted(&rules());
        let streams: Vec<&str> = records.iter().map(|record| record.stream.as_str()).collect();
        assert_eq!(streams, [format!("session/codex/{id}").as_str(), "session/codex/s1"]);
        let Event::Session(SessionEvent::Checkpointed { session, blob, about, .. }) =
            &records[0].events[0].event
        else {
            panic!("{records:?}");
        };
        assert_eq!((session, blob), (&id, &large));
        assert_eq!(about.as_deref(), Some("use REDACTED-acme-token here"));
        let task = &ledger.read(&task, None).unwrap()[0].events[0].event;
        assert_eq!(task.data()["subject"], "Return REDACTED-acme-token");
        // A second run finds nothing, and what was redacted can be forgotten by its old hash.
        assert_eq!(
            ledger.redact(&rules(), Timestamp::UNIX_EPOCH).unwrap(),
            LedgerRedaction::default()
        );
        assert_eq!(ledger.count_redacted().unwrap(), 2);
        ledger.forget_blob(&small).unwrap();
        assert_eq!(ledger.get_blob(&small).unwrap(), None);
        let clean = Blob::new("{\"said\":\"REDACTED-acme-token it is\"}".as_bytes());
        assert_eq!(ledger.get_blob(clean.hash()).unwrap(), None);
        assert_eq!(ledger.read_all(LogPosition::default(), 10).unwrap().len(), 5);
        drop(ledger);
        folder.remove().unwrap();
    }

    #[test]
    fn records_of_two_names_for_one_session_become_one_stream() {
        let folder = ScratchFolder::new("midstride-redaction").unwrap();
        let ledger = open(&folder);
        let id = SessionId::new(TOKEN).redacted(&rules());
        let hash = BlobHash::new("aa");
        for name in [id.as_str(), TOKEN] {
            let stream = StreamId::from_name(&format!("session/codex/{name}"));
            let event = checkpointed(name, &hash);
            ledger.append(&stream, ExpectedVersion::NoStream, &[event]).unwrap();
        }
        ledger.redact(&rules(), Timestamp::UNIX_EPOCH).unwrap();
        let records = ledger.read(&StreamId::session("codex", &id), None).unwrap();
        let numbers: Vec<u64> = records.iter().map(|record| record.number).collect();
        assert_eq!(numbers, [1, 2]);
        assert!(files::exists(folder.path()));
        drop(ledger);
        folder.remove().unwrap();
    }
}
