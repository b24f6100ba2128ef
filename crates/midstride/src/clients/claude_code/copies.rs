//! Detects records that were copied from another transcript.
//!
//! A Claude Code session that continues another one under a new id starts with copies of that
//! session's records. The copies keep their ids and times, but get the new session's id. After a
//! compaction summary, only the records after it are copied, and in another order.

use super::transcript::ForkOrigin;
use crate::clients::client::TranscriptOpening;
use crate::clients::lenient::{OneOrMany, Scalar, read_repaired};
use jiff::Timestamp;
use midstride_core::session::RecordIds;
use midstride_core::session::transcript::{TranscriptLine, trim_line};
use midstride_core::text::id::SessionId;
use serde::Deserialize;

/// The fields of a record that show whether it is a copy.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct CopyCandidate<'a> {
    #[serde(borrow)]
    uuid: Scalar<'a>,
    #[serde(borrow)]
    parent_uuid: Scalar<'a>,
    #[serde(borrow)]
    logical_parent_uuid: Scalar<'a>,
    #[serde(borrow)]
    timestamp: Scalar<'a>,
    #[serde(borrow)]
    forked_from: OneOrMany<'a, ForkOrigin<'a>>,
}

/// Passes a record to `look`, if it can be parsed.
fn read_candidate(piece: &TranscriptLine<'_>, look: &mut dyn FnMut(&CopyCandidate<'_>)) {
    let TranscriptLine::Line(line) = piece else { return };
    let line = trim_line(line);
    let mut try_it = |line: &[u8]| {
        let read: Option<CopyCandidate<'_>> = serde_json::from_slice(line).ok();
        read.as_ref().map(&mut *look).is_some()
    };
    if !line.is_empty() && !try_it(line) {
        read_repaired(line, &mut try_it);
    }
}

fn time_of(line: &CopyCandidate<'_>) -> Option<Timestamp> {
    line.timestamp.text().and_then(|text| text.parse().ok())
}

/// Adds the next line of a transcript to what is known of its start; does nothing once the first
/// record is known.
pub(super) fn read_opening(piece: &TranscriptLine<'_>, opening: &mut TranscriptOpening) {
    if opening.record.is_none() {
        read_candidate(piece, &mut |line| take_line(opening, line));
    }
}

fn take_line(opening: &mut TranscriptOpening, line: &CopyCandidate<'_>) {
    let at = time_of(line);
    let Some(id) = line.uuid.text() else {
        opening.opened = opening.opened.max(at);
        return;
    };
    opening.record = Some(id.to_owned());
    opening.at = at;
    opening.follows = line.parent_uuid.text().or(line.logical_parent_uuid.text()).is_some();
    if let OneOrMany::One(origin) = &line.forked_from {
        opening.from = origin.session_id.text().map(SessionId::new);
    }
}

/// Adds the record id of a transcript line to `ids`, if it has one.
pub(super) fn collect_ids(piece: &TranscriptLine<'_>, ids: &mut RecordIds) {
    read_candidate(piece, &mut |line| {
        if let Some(id) = line.uuid.text() {
            ids.add(id);
        }
    });
}

/// The records of a transcript that may start with copies, in order. The transcript is read once,
/// however many others it is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordOrder(Vec<(u64, Option<Timestamp>)>);

impl RecordOrder {
    /// Reads the next line of the transcript.
    pub(super) fn take(&mut self, piece: &TranscriptLine<'_>) {
        read_candidate(piece, &mut |line| {
            if let Some(id) = line.uuid.text() {
                self.0.push((RecordIds::key(id), time_of(line)));
            }
        });
    }

    /// Returns how much of its beginning another transcript has too.
    pub(super) fn shared_prefix(&self, other: &RecordIds) -> SharedPrefix {
        let mut run = SharedPrefix::default();
        let mut shared = RecordIds::default();
        for (key, at) in &self.0 {
            if !other.has_key(*key) {
                run.has_more = true;
                break;
            }
            shared.add_key(*key);
            run.records += 1;
            run.latest = run.latest.max(*at);
        }
        run.other_has_more = other.count() > shared.count();
        run
    }
}

/// The records at the start of a transcript that another one has too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SharedPrefix {
    /// The number of records.
    pub records: u64,
    /// The latest time among them.
    pub latest: Option<Timestamp>,
    /// Whether a record follows that the other transcript lacks.
    pub has_more: bool,
    /// Whether the other transcript has further records.
    pub other_has_more: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(lines: &[&str]) -> TranscriptOpening {
        let mut opening = TranscriptOpening::default();
        for line in lines {
            read_opening(&TranscriptLine::Line(line.as_bytes()), &mut opening);
        }
        opening
    }

    #[test]
    fn the_opening_is_the_first_record_with_an_id() {
        let start = opening(&[
            r#"{"type":"mode"}"#,
            r#"{"type":"queue-operation","timestamp":"2026-03-01T10:00:05Z"}"#,
            "half a rec",
            r#"{"type":"user","uuid":"a","parentUuid":null,"timestamp":"2026-03-01T10:00:00Z"}"#,
            r#"{"type":"user","uuid":"b","timestamp":"2026-03-01T10:00:09Z"}"#,
        ]);
        assert_eq!(start.record.as_deref(), Some("a"));
        assert_eq!(start.at, "2026-03-01T10:00:00Z".parse().ok());
        assert_eq!(start.opened, "2026-03-01T10:00:05Z".parse().ok());
        assert!(!start.follows && start.from.is_none());
    }

    #[test]
    fn a_first_record_can_follow_a_record_in_another_file() {
        let boundary = r#"{"uuid":"a","parentUuid":null,"logicalParentUuid":"z"}"#;
        assert!(opening(&[boundary]).follows);
        let start = opening(&[r#"{"uuid":"a","parentUuid":"z","forkedFrom":{"sessionId":"s"}}"#]);
        assert!(start.follows);
        assert_eq!(start.from.as_ref().map(SessionId::as_str), Some("s"));
    }

    #[test]
    fn the_shared_prefix_ends_at_the_first_new_record() {
        let mut ids = RecordIds::default();
        // A lone surrogate does not cost the record its id.
        for line in [r#"{"uuid":"a"}"#, "{\"uuid\":\"b\",\"x\":\"\\ud83d\"}", r#"{"uuid":"c"}"#] {
            collect_ids(&TranscriptLine::Line(line.as_bytes()), &mut ids);
        }
        let mut order = RecordOrder::default();
        for id in ["c", "a", "b", "own", "c"] {
            order.take(&TranscriptLine::Line(format!("{{\"uuid\":\"{id}\"}}").as_bytes()));
            order.take(&TranscriptLine::Line(b"{\"type\":\"mode\"}"));
        }
        let run = order.shared_prefix(&ids);
        assert_eq!((run.records, run.has_more, run.other_has_more), (3, true, false));
        collect_ids(&TranscriptLine::Line(br#"{"uuid":"further"}"#), &mut ids);
        assert!(order.shared_prefix(&ids).other_has_more);
    }
}
