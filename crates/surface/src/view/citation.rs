//! Renders citations: the cited locations and their status.

use midstride_core::format::document::Document;
use midstride_core::handoff::drift::{CitationCheck, CitationOutcome, CodeLocation, LineChange};
use midstride_core::text::id::CommitId;
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct CitationJson {
    place: String,
    line: usize,
    column: usize,
    statement: String,
    verdict: &'static str,
    now: Option<CitedSpotJson>,
    baseline: CitationOriginJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<CitedChangeJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Serialize)]
struct CitedSpotJson {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_line: Option<usize>,
}

#[derive(Serialize)]
struct CitationOriginJson {
    found_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<CommitId>,
}

#[derive(Serialize)]
struct CitedChangeJson {
    was: String,
    is: Option<String>,
}

pub(crate) fn citation_json(document: &Document, check: &CitationCheck) -> CitationJson {
    let position = document.position(check.place.at.start);
    let (found_by, commit) = check.origin.word_and_commit();
    CitationJson {
        place: check.place.value.clone(),
        line: position.line,
        column: position.column,
        statement: statement(document, check),
        verdict: check.outcome.status().word(),
        now: check.outcome.location().map(spot_json),
        baseline: CitationOriginJson { found_by, commit: commit.cloned() },
        change: check.outcome.change().map(change_json),
        why: check.doubt.as_ref().map(ToString::to_string),
    }
}

fn spot_json(location: &CodeLocation) -> CitedSpotJson {
    CitedSpotJson {
        path: location.path.clone(),
        first_line: location.lines.map(|lines| lines.first),
        last_line: location.lines.map(|lines| lines.last),
    }
}

fn change_json(change: &LineChange) -> CitedChangeJson {
    CitedChangeJson { was: change.before.clone(), is: change.after.clone() }
}

/// The statement that cites the location, in one line.
fn statement(document: &Document, check: &CitationCheck) -> String {
    let words = check.statement.slice(document.text()).split_whitespace();
    words.collect::<Vec<_>>().join(" ")
}

/// A citation in one line.
pub(crate) fn line(document: &Document, check: &CitationCheck) -> String {
    let line = document.position(check.place.at.start).line;
    let place = &check.place.value;
    let word = check.outcome.status().word().replace('_', " ");
    // Show the current location only if it differs from the cited one.
    let named = place.split([':', '#']).next().unwrap_or(place).trim_end_matches('/');
    let now = match &check.outcome {
        CitationOutcome::Moved(now) | CitationOutcome::Renamed(now) => Some(now),
        CitationOutcome::Intact(now) => Some(now).filter(|now| now.path != named),
        CitationOutcome::Changed { .. }
        | CitationOutcome::Deleted
        | CitationOutcome::NeverExisted
        | CitationOutcome::Unchecked => None,
    };
    let now = now.map(|now| format!(", now {now}")).unwrap_or_default();
    let why = check.doubt.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    format!("{line:>5}  {word:<11}  {place}{now}{why}\n")
}
