//! Redacts what the database already stores. Each record and each blob is replaced in one transaction;
//! after a kill, running it again finishes the work.

use super::sqlite::{SqliteLedger, append_missing_in};
use super::{AppendError, Blob, DatabaseError, Ledger as _, LedgerError, large_blobs};
use jiff::Timestamp;
use midstride_core::text::id::BlobHash;
use midstride_core::text::redact::RedactionRules;
use midstride_ledger::redaction::{redact_bytes, redact_record, redaction_event};
use rusqlite::{Connection, TransactionBehavior};

/// How many records are read at once.
const RECORDS_AT_ONCE: i64 = 200;

/// A record as it is stored.
struct RedactionRow {
    position: i64,
    stream: String,
    events: String,
}

impl SqliteLedger {
    /// Redacts all records; returns how many had a secret.
    pub(super) fn redact_records(&self, rules: &RedactionRules) -> Result<usize, LedgerError> {
        let secure = self.connection().pragma_update(None, "secure_delete", "ON");
        secure.map_err(|error| self.unreadable(&error))?;
        let (mut after, mut redacted) = (0, 0);
        loop {
            let some = stored_records(&self.connection(), after);
            let some = some.map_err(|error| self.unreadable(&error))?;
            let Some(last) = some.last() else { return Ok(redacted) };
            after = last.position;
            for record in &some {
                let Some((stream, events)) = redact_record(&record.stream, &record.events, rules)
                else {
                    continue;
                };
                let replaced = replace_record(&mut self.connection(), record, &stream, &events);
                redacted += usize::from(replaced.map_err(|error| self.unreadable(&error))?);
            }
        }
    }

    /// Redacts a blob; returns whether it had a secret.
    pub(super) fn redact_blob(
        &self,
        hash: &BlobHash,
        rules: &RedactionRules,
        is_state: bool,
        now: Timestamp,
    ) -> Result<bool, LedgerError> {
        let bytes = match self.get_blob(hash) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(false),
            // A file may be truncated. Its session is captured again from its transcript.
            Err(error) if is_damaged(&error) => return Ok(false),
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

fn is_damaged(error: &LedgerError) -> bool {
    matches!(error.engine(), Some(DatabaseError::Damaged { .. }))
}

#[expect(clippy::needless_pass_by_value, reason = "it converts the error of a call")]
fn unavailable(error: AppendError) -> LedgerError {
    LedgerError::Unavailable(error.to_string())
}

fn stored_records(connection: &Connection, after: i64) -> rusqlite::Result<Vec<RedactionRow>> {
    let sql = "SELECT position, stream, events FROM records
               WHERE position > ?1 ORDER BY position LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((after, RECORDS_AT_ONCE), |row| {
        Ok(RedactionRow { position: row.get(0)?, stream: row.get(1)?, events: row.get(2)? })
    })?;
    rows.collect()
}

/// Replaces a record, unless another process changed it. If the stream has another name now, the
/// record is the last one of that stream.
fn replace_record(
    connection: &mut Connection,
    record: &RedactionRow,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ledger::{Cursor, ExpectedVersion, LocalLedger as _, StreamId, WaitPolicy};
    use crate::sys::files::{self, Root, ScratchFolder};
    use midstride_core::text::id::SessionId;
    use midstride_core::text::redact::CustomRule;
    use midstride_core::work::event::{Envelope, Event, SessionEvent};
    use midstride_ledger::LedgerRedaction;
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
        assert_eq!(done, LedgerRedaction { records: 3, blobs: 2, waiting: 0 });
        ledger.erase_unused().unwrap();
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
        assert_eq!(ledger.read_all(&Cursor::START, 10).unwrap().records.len(), 5);
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
        let numbers: Vec<u64> = records.iter().map(|record| record.version.to_engine()).collect();
        assert_eq!(numbers, [1, 2]);
        assert!(files::exists(folder.path()));
        drop(ledger);
        folder.remove().unwrap();
    }
}
