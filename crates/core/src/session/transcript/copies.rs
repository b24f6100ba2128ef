//! Copies of records. A session of Claude Code that goes on from another one under an id of its own
//! begins with copies of that one's records: their ids and times are kept, the session's is not.
//! After a summary only what stands behind it is copied, and in another order.

use super::TranscriptLine;
use super::claude_code::ForkOrigin;
use super::lenient::{OneOrMany, Scalar, read_repaired};
use crate::session::RecordIds;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A record, as far as it tells whether it is a copy.
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

/// Looks at a record, if it can be read at all.
fn read_candidate(piece: &TranscriptLine<'_>, look: &mut dyn FnMut(&CopyCandidate<'_>)) {
    let TranscriptLine::Line(line) = piece else { return };
    let line = super::trim_line(line);
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

/// What a transcript begins with, as far as it tells whether that is a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptOpening {
    /// The id of the first record that has one.
    pub record: Option<String>,
    /// When that was written, as it says.
    pub at: Option<Timestamp>,
    /// Whether it follows another one, which then stands in another file.
    pub follows: bool,
    /// The session that it says it was copied from.
    pub from: Option<String>,
    /// The latest time before it: notes of the client, which are never copied.
    pub opened: Option<Timestamp>,
}

impl TranscriptOpening {
    /// Takes in the next piece of a transcript; nothing more once the first record is known.
    pub fn take(&mut self, piece: &TranscriptLine<'_>) {
        if self.record.is_none() {
            read_candidate(piece, &mut |line| self.take_line(line));
        }
    }

    fn take_line(&mut self, line: &CopyCandidate<'_>) {
        let at = time_of(line);
        let Some(id) = line.uuid.text() else {
            self.opened = self.opened.max(at);
            return;
        };
        self.record = Some(id.to_owned());
        self.at = at;
        self.follows = line.parent_uuid.text().or(line.logical_parent_uuid.text()).is_some();
        if let OneOrMany::One(origin) = &line.forked_from {
            self.from = origin.session_id.text().map(str::to_owned);
        }
    }
}

/// Takes the ids in a piece of a transcript in.
pub fn collect_ids(piece: &TranscriptLine<'_>, ids: &mut RecordIds) {
    read_candidate(piece, &mut |line| {
        if let Some(id) = line.uuid.text() {
            ids.add(id);
        }
    });
}

/// The records of a transcript that may begin with copies, in their order: it is read once, however
/// many others it is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordOrder(Vec<(u64, Option<Timestamp>)>);

impl RecordOrder {
    /// Takes in the next piece of the transcript.
    pub fn take(&mut self, piece: &TranscriptLine<'_>) {
        read_candidate(piece, &mut |line| {
            if let Some(id) = line.uuid.text() {
                self.0.push((RecordIds::key(id), time_of(line)));
            }
        });
    }

    /// How far its beginning is another one's.
    pub fn shared_prefix(&self, other: &RecordIds) -> SharedPrefix {
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

/// How many records at the start of a transcript stand in another one too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedPrefix {
    /// So many.
    pub records: u64,
    /// The latest time among them.
    pub latest: Option<Timestamp>,
    /// Whether a record follows that the other one does not have.
    pub has_more: bool,
    /// Whether the other one has records besides these.
    pub other_has_more: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(lines: &[&str]) -> TranscriptOpening {
        let mut opening = TranscriptOpening::default();
        for line in lines {
            opening.take(&TranscriptLine::Line(line.as_bytes()));
        }
        opening
    }

    #[test]
    fn a_transcript_opens_with_its_first_record_that_has_an_id() {
        let told = opening(&[
            r#"{"type":"mode"}"#,
            r#"{"type":"queue-operation","timestamp":"2026-03-01T10:00:05Z"}"#,
            "half a rec",
            r#"{"type":"user","uuid":"a","parentUuid":null,"timestamp":"2026-03-01T10:00:00Z"}"#,
            r#"{"type":"user","uuid":"b","timestamp":"2026-03-01T10:00:09Z"}"#,
        ]);
        assert_eq!(told.record.as_deref(), Some("a"));
        assert_eq!(told.at, "2026-03-01T10:00:00Z".parse().ok());
        assert_eq!(told.opened, "2026-03-01T10:00:05Z".parse().ok());
        assert!(!told.follows && told.from.is_none());
    }

    #[test]
    fn a_first_record_can_follow_one_of_another_file() {
        let boundary = r#"{"uuid":"a","parentUuid":null,"logicalParentUuid":"z"}"#;
        assert!(opening(&[boundary]).follows);
        let told = opening(&[r#"{"uuid":"a","parentUuid":"z","forkedFrom":{"sessionId":"s"}}"#]);
        assert!(told.follows);
        assert_eq!(told.from.as_deref(), Some("s"));
    }

    #[test]
    fn a_run_of_copies_ends_with_the_first_record_that_is_none() {
        let mut ids = RecordIds::default();
        // Half of a letter costs no id.
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
