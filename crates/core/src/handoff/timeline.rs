//! The timeline of a handoff: everything that happened to it, in order, each event once.

use crate::format::document::DateStamp;
use crate::format::header::{FromYaml as _, Measurement, Review, Revision, Status};
use crate::handoff::Handoff;
use crate::text::span::Spanned;
use crate::text::time::Time;
use crate::text::yaml::YamlNode;

/// One event in the timeline.
#[derive(Clone, Debug)]
pub struct TimelineEntry<'d> {
    /// When it happened.
    pub time: Option<Time>,
    /// Who did it.
    pub by: Option<&'d str>,
    /// The revision it produced, as in `ID@2`.
    pub text_number: Option<usize>,
    /// What happened.
    pub event: TimelineEvent<'d>,
}

/// What happened to a handoff.
#[derive(Clone, Debug)]
pub enum TimelineEvent<'d> {
    /// It was captured, with this remark.
    Captured(Option<&'d str>),
    /// It was reviewed.
    Challenged(Review<'d>),
    /// It was changed, for this reason.
    Changed(Option<&'d str>),
    /// It was closed.
    Closed(ClosureRecord<'d>),
}

/// How a handoff was closed.
#[derive(Clone, Debug)]
pub struct ClosureRecord<'d> {
    /// Resolved, superseded or abandoned.
    pub status: Status,
    /// The commit that did the work.
    pub commit: Option<&'d str>,
    /// The outcome.
    pub outcome: Option<&'d str>,
    /// Why it was abandoned.
    pub reason: Option<&'d str>,
    /// The handoff that replaces it.
    pub superseded_by: Option<&'d str>,
    /// The measurements before and after.
    pub measurements: Vec<Measurement<'d>>,
}

/// The timeline of a handoff. It always starts with the capture, even if nothing is known about it.
/// Changes follow in the order of their revisions; the rest is sorted in by time.
pub fn entries<'d>(handoff: &Handoff<'d>) -> Vec<TimelineEntry<'d>> {
    let mut entries = revision_entries(handoff);
    let stamps = handoff.document().stamps();
    let stamps_only = unrecorded_stamps(&stamps, &entries);
    // `Revised:` lines are older than midstride's numbering, so the first text has no number then.
    let first = stamps_only.is_empty().then_some(1);
    for entry in stamps_only {
        insert_by_time(&mut entries, entry, None);
    }
    for review in handoff.reviews() {
        add_review(&mut entries, review);
    }
    if !handoff.status().is_open() {
        add_closure(&mut entries, handoff);
    }
    let remark = stamps.iter().find(|stamp| stamp.is_capture).and_then(|stamp| stamp.reason);
    let captured = TimelineEntry {
        time: handoff.created(),
        by: handoff.from(),
        text_number: first,
        event: TimelineEvent::Captured(trimmed_text(remark)),
    };
    entries.insert(0, captured);
    entries
}

fn trimmed_text(text: Option<Spanned<&str>>) -> Option<&str> {
    text.map(|text| text.value.trim()).filter(|text| !text.is_empty())
}

fn parse_time(text: Option<Spanned<&str>>) -> Option<Time> {
    text.and_then(|text| Time::parse(text.value))
}

/// The revisions in the header. The first entry made revision 2. An empty entry counts too, because
/// it replaced a text.
fn revision_entries<'d>(handoff: &Handoff<'d>) -> Vec<TimelineEntry<'d>> {
    let entries = handoff.node("revisions").map(YamlNode::items).unwrap_or_default();
    let numbered = entries.into_iter().enumerate();
    numbered
        .filter_map(|(index, node)| {
            let revision = Revision::read(node)?;
            Some(TimelineEntry {
                time: parse_time(revision.time),
                by: trimmed_text(revision.by),
                text_number: Some(index + 2),
                event: TimelineEvent::Changed(trimmed_text(revision.reason)),
            })
        })
        .collect()
}

/// The `Revised:` lines that are not in the header too.
fn unrecorded_stamps<'d>(
    stamps: &[DateStamp<'d>],
    recorded: &[TimelineEntry<'d>],
) -> Vec<TimelineEntry<'d>> {
    let revised = stamps.iter().filter(|stamp| !stamp.is_capture);
    let lines = revised.map(|stamp| TimelineEntry {
        time: parse_time(Some(stamp.time)),
        by: None,
        text_number: None,
        event: TimelineEvent::Changed(trimmed_text(stamp.reason)),
    });
    let moment = |time: Option<Time>| time.map(|time| time.moment);
    lines.filter(|line| !recorded.iter().any(|one| moment(one.time) == moment(line.time))).collect()
}

/// Inserts an entry before the first later one; without a time, before the first revision after the
/// one it is about.
fn insert_by_time<'d>(
    entries: &mut Vec<TimelineEntry<'d>>,
    entry: TimelineEntry<'d>,
    about: Option<usize>,
) {
    let later = |other: &TimelineEntry<'_>| match (entry.time, about) {
        (Some(time), _) => other.time.is_some_and(|other| other.moment > time.moment),
        (None, Some(about)) => other.text_number.is_some_and(|text| text > about),
        (None, None) => false,
    };
    let place = entries.iter().position(later).unwrap_or(entries.len());
    entries.insert(place, entry);
}

/// Adds a review. `midstride review` also writes a revision, so both become one entry.
fn add_review<'d>(entries: &mut Vec<TimelineEntry<'d>>, review: Review<'d>) {
    let is_its_revision = |entry: &&mut TimelineEntry<'_>| {
        // A review is recorded after the text it is about. An earlier, equal one may have been
        // undone.
        let after = entry.text_number > review.revision;
        match (&entry.event, trimmed_text(review.challenged)) {
            (TimelineEvent::Changed(Some(reason)), Some(challenged)) => {
                after && reason.starts_with("reviewed") && reason.contains(challenged)
            }
            _ => false,
        }
    };
    let (at, by, about) = (parse_time(review.time), trimmed_text(review.by), review.revision);
    if let Some(entry) = entries.iter_mut().find(is_its_revision) {
        entry.time = at.or(entry.time);
        entry.by = by.or(entry.by);
        entry.event = TimelineEvent::Challenged(review);
        return;
    }
    let review_entry =
        TimelineEntry { time: at, by, text_number: None, event: TimelineEvent::Challenged(review) };
    insert_by_time(entries, review_entry, about);
}

/// Adds the closing. `midstride resolve` and `midstride advance` also write a revision, so both
/// become one entry.
fn add_closure<'d>(entries: &mut Vec<TimelineEntry<'d>>, handoff: &Handoff<'d>) {
    let resolution = handoff.resolution();
    let resolution = resolution.as_ref();
    let end = ClosureRecord {
        status: handoff.status(),
        commit: trimmed_text(resolution.and_then(|resolution| resolution.commit)),
        outcome: trimmed_text(resolution.and_then(|resolution| resolution.outcome)),
        reason: trimmed_text(resolution.and_then(|resolution| resolution.reason)),
        superseded_by: trimmed_text(handoff.superseded_by()),
        measurements: handoff.measurements(),
    };
    let reason_text = end.recorded_reason();
    let is_its_revision = |entry: &&mut TimelineEntry<'_>| match &entry.event {
        TimelineEvent::Changed(Some(reason)) => {
            [reason_text.as_deref(), end.outcome].contains(&Some(*reason))
        }
        TimelineEvent::Captured(_)
        | TimelineEvent::Challenged(_)
        | TimelineEvent::Changed(None)
        | TimelineEvent::Closed(_) => false,
    };
    // It may have been closed and undone before; the last closing counts.
    if let Some(entry) = entries.iter_mut().rfind(is_its_revision) {
        entry.event = TimelineEvent::Closed(end);
        return;
    }
    let at = parse_time(resolution.and_then(|resolution| resolution.time));
    insert_by_time(
        entries,
        TimelineEntry { time: at, by: None, text_number: None, event: TimelineEvent::Closed(end) },
        None,
    );
}

impl ClosureRecord<'_> {
    /// The revision reason that `midstride resolve` records. `midstride advance` records the
    /// outcome.
    fn recorded_reason(&self) -> Option<String> {
        match self.status {
            Status::Resolved => Some("resolved".to_owned()),
            Status::Superseded => Some(format!("superseded by {}", self.superseded_by?)),
            Status::Abandoned => Some(format!("abandoned: {}", self.reason?)),
            Status::Planned | Status::InProgress => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::document::Document;
    use crate::format::stage::Stages;
    use crate::handoff::Location;

    /// Each entry as a line: hour, revision, author, event.
    fn told(text: &str) -> Vec<String> {
        let document = Document::parse(text.as_bytes());
        let (location, stages) = (Location::default(), Stages::shipped());
        entries(&Handoff::new(&document, &location, &stages)).iter().map(line).collect()
    }

    fn line(entry: &TimelineEntry<'_>) -> String {
        let hour = |time: Time| time.moment.strftime("%H").to_string();
        let what = match &entry.event {
            TimelineEvent::Captured(remark) => format!("captured {remark:?}"),
            TimelineEvent::Challenged(review) => {
                format!(
                    "challenged {:?} {:?}",
                    trimmed_text(review.challenged),
                    trimmed_text(review.verdict_text)
                )
            }
            TimelineEvent::Changed(reason) => format!("changed {reason:?}"),
            TimelineEvent::Closed(end) => {
                format!("{} {:?} {}", end.status, end.commit, end.measurements.len())
            }
        };
        let text = entry.text_number.map_or_else(String::new, |text| format!("@{text}"));
        format!(
            "{} {text} {} {what}",
            entry.time.map_or_else(|| "?".to_owned(), hour),
            entry.by.unwrap_or("?")
        )
        .replace("Some(", "")
        .replace(')', "")
    }

    #[test]
    fn a_verb_recorded_twice_is_one_entry() {
        let text = "---
handoff:
  id: a
  status: resolved
  from: ann
  created: 2026-03-21T10:00:00Z
  measurements:
    - name: Austin
      before: 14290
      after: 108
  reviews:
    - at: 2026-03-21T12:00:00Z
      by: eve
      challenged: the code path
      verdict: corrected
      revision: 2
  revisions:
    - at: 2026-03-21T11:00:00Z
      by: bob
      reason: started
    - at: 2026-03-21T12:00:01Z
      by: eve
      reason: \"reviewed: the code path (corrected)\"
    - at: 2026-03-21T13:00:00Z
      by: bob
      reason: wrong code path
    - at: 2026-03-21T14:00:00Z
      by: bob
      reason: resolved
    - at: 2026-03-21T15:00:00Z
      reason: typo
  resolution:
    commit: 4f2c9d1
    at: 2026-03-21T14:00:00Z
---
";
        assert_eq!(
            told(text),
            [
                "10 @1 ann captured None",
                "11 @2 bob changed \"started\"",
                "12 @3 eve challenged \"the code path\" \"corrected\"",
                "13 @4 bob changed \"wrong code path\"",
                "14 @5 bob resolved \"4f2c9d1\" 1",
                "15 @6 ? changed \"typo\"",
            ]
        );
    }

    #[test]
    fn advancing_to_the_next_stage_closes_this_one() {
        let text = "---
handoff:
  status: resolved
  revisions:
    - {at: 2026-03-21T11:00:00Z, by: bob, reason: advanced to spec}
    - {at: 2026-03-21T12:00:00Z, by: bob, reason: advanced to pricing}
  resolution: {at: 2026-03-21T11:00:00Z, outcome: advanced to spec}
---
";
        assert_eq!(
            told(text),
            [
                "? @1 ? captured None",
                "11 @2 bob resolved None 0",
                "12 @3 bob changed \"advanced to pricing\"",
            ]
        );
    }

    #[test]
    fn an_undone_review_is_not_confused_with_a_later_one() {
        let text = "---
handoff:
  reviews:
    - {challenged: x, verdict: held, revision: 3}
  revisions:
    - reason: \"reviewed: x (held)\"
    - reason: \"undo of @2: reviewed: x (held)\"
    - reason: \"reviewed: x (held)\"
---
";
        assert_eq!(
            told(text),
            [
                "? @1 ? captured None",
                "? @2 ? changed \"reviewed: x (held\"",
                "? @3 ? changed \"undo of @2: reviewed: x (held\"",
                "? @4 ? challenged \"x\" \"held\"",
            ]
        );
    }

    #[test]
    fn reviews_and_closings_without_a_revision_are_sorted_in() {
        let text = "---
handoff:
  status: DONE
  created: 2026-03-21T10:00:00Z
  reviews:
    - at: 2026-03-21T11:30:00Z
      challenged: early
      verdict: purple
    - challenged: about the second text
      revision: 2
    - whenever
  revisions:
    - at: 2026-03-21T11:00:00Z
    -
    - at: 2026-03-21T12:00:00Z
      reason: last
  resolution: {commit: 4f2c9d1}
---
";
        assert_eq!(
            told(text),
            [
                "10 @1 ? captured None",
                "11 @2 ? changed None",
                "11  ? challenged \"early\" \"purple\"",
                "?  ? challenged \"about the second text\" None",
                "12 @4 ? changed \"last\"",
                "?  ? challenged \"whenever\" None",
                "?  ? resolved \"4f2c9d1\" 0",
            ]
        );
    }

    #[test]
    fn a_closing_merges_with_its_revision_and_an_open_handoff_has_none() {
        let text = |status: &str, end: &str, reason: &str| {
            format!("---\nhandoff:\n  status: {status}\n{end}  revisions:\n    - {reason}\n---\n")
        };
        let abandoned = text("abandoned", "  resolution: {reason: late}\n", "\"abandoned: late\"");
        assert_eq!(told(&abandoned)[1..], ["? @2 ? abandoned None 0"]);
        let superseded = text("superseded", "  superseded_by: b\n", "superseded by b");
        assert_eq!(told(&superseded)[1..], ["? @2 ? superseded None 0"]);
        let open_again = text("planned", "", "resolved");
        assert_eq!(told(&open_again)[1..], ["? @2 ? changed \"resolved\""]);
    }

    #[test]
    fn dates_in_lines_of_older_documents_are_read() {
        let lines = "Captured: 2026-03-21T17:24 (first look)
Revised: 2026-03-21T18:20 (code path)
Revised: 2026-03-25T06:30 (deployed)
";
        assert_eq!(
            told(lines),
            [
                "17  ? captured \"first look\"",
                "18  ? changed \"code path\"",
                "06  ? changed \"deployed\"",
            ]
        );
        let header = "---
handoff:
  created: 2026-03-21T17:24
  revisions:
    - at: 2026-03-25T06:30
      reason: deployed
    - at: 2026-03-26T08:00
      reason: shared
---
";
        assert_eq!(
            told(&format!("{header}{lines}")),
            [
                "17  ? captured \"first look\"",
                "18  ? changed \"code path\"",
                "06 @2 ? changed \"deployed\"",
                "08 @3 ? changed \"shared\"",
            ]
        );
    }

    #[test]
    fn an_empty_document_has_a_capture_entry() {
        assert_eq!(told(""), ["? @1 ? captured None"]);
        assert_eq!(told("---\nhandoff: [\n---\n"), ["? @1 ? captured None"]);
    }
}
