//! The spool: files with events that a hook could not append in time. The next command appends
//! them.

use super::{LedgerError, LocalLedger, StreamId};
use crate::store::redaction::redact_json_file;
use crate::sys::files::{FileError, FileProblem, Root};
use midstride_core::text::redact::RedactionRules;
use midstride_core::work::event::Envelope;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(super) const FOLDER: &str = "spool";

/// The path of a ledger's spool.
pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join(FOLDER)
}

/// The path of a ledger's spool, the number of files waiting in it, and how many cannot be read.
pub(super) fn count_files(folder: &Path) -> (PathBuf, usize, usize) {
    let path = path(folder);
    let spool = Root::open(&path).ok();
    let count = |ending| {
        spool.as_ref().and_then(|spool| spool.names(ending).ok()).map_or(0, |names| names.len())
    };
    let (waiting, unreadable) = (count(".json"), count(".unreadable"));
    (path, waiting, unreadable)
}

/// Spools events atomically.
pub(super) fn put(folder: &Root, stream: &StreamId, events: &[Envelope]) -> Result<(), FileError> {
    let spool = folder.make_below(Path::new(FOLDER))?;
    let events: Vec<Value> =
        events.iter().map(|event| event.to_cloud_event(stream.as_str())).collect();
    let name = events.first().and_then(|event| event["id"].as_str()).unwrap_or_default();
    let text = json!({ "stream": stream.as_str(), "events": events }).to_string();
    spool.put(&PathBuf::from(format!("{name}.json")), text.as_bytes())
}

/// Appends the spooled events. An unreadable file is renamed and skipped.
pub(super) fn drain(folder: &Root, ledger: &dyn LocalLedger) -> Result<usize, LedgerError> {
    let Some(spool) = folder.open_below(Path::new(FOLDER))? else { return Ok(0) };
    let mut drained = 0;
    for name in spool.names(".json")? {
        let bytes = match spool.read(&name) {
            Ok(bytes) => bytes,
            // Another process is draining the spool too.
            Err(FileError { problem: FileProblem::NotFound, .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        let Some((stream, events)) = read(&bytes) else {
            unless_missing(spool.rename(&name, &name.with_extension("unreadable")))?;
            continue;
        };
        // What cannot be appended now stays for the next command.
        if ledger.append_missing(&[(stream, events)]).is_ok() {
            unless_missing(spool.remove(&name, &bytes))?;
            drained += 1;
        }
    }
    Ok(drained)
}

/// Redacts the files that could not be appended; returns how many had a secret.
pub(super) fn redact(folder: &Root, rules: &RedactionRules) -> Result<usize, FileError> {
    let Some(spool) = folder.open_below(Path::new(FOLDER))? else { return Ok(0) };
    let mut redacted = 0;
    for name in spool.names("")? {
        redacted += usize::from(redact_json_file(&spool, &name, rules)?);
    }
    Ok(redacted)
}

/// Ignores that a file is missing: another process that drains the spool was faster, and appending the
/// same events twice changes nothing.
fn unless_missing(done: Result<(), FileError>) -> Result<(), FileError> {
    done.or_else(|error| if error.is_missing() { Ok(()) } else { Err(error) })
}

fn read(bytes: &[u8]) -> Option<(StreamId, Vec<Envelope>)> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let stream = StreamId::from_name(value.get("stream")?.as_str()?);
    let events: Option<Vec<Envelope>> =
        value.get("events")?.as_array()?.iter().map(Envelope::from_cloud_event).collect();
    Some((stream, events?))
}
