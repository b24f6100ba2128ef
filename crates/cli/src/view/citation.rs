//! Citations: cited places and what has happened to them.

use midstride_core::format::document::Document;
use midstride_core::handoff::drift::{CitationCheck, CitationStatus, CodeLocation, LineChange};
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
    commit: Option<String>,
}

#[derive(Serialize)]
struct CitedChangeJson {
    was: String,
    is: Option<String>,
}

pub(crate) fn citation_json(document: &Document, judged: &CitationCheck) -> CitationJson {
    let position = document.position(judged.place.at.start);
    let (found_by, commit) = judged.origin.word_and_commit();
    CitationJson {
        place: judged.place.value.clone(),
        line: position.line,
        column: position.column,
        statement: statement(document, judged),
        verdict: judged.status.word(),
        now: judged.location.as_ref().map(spot_json),
        baseline: CitationOriginJson { found_by, commit: commit.map(str::to_owned) },
        change: judged.change.as_ref().map(change_json),
        why: judged.doubt.as_ref().map(ToString::to_string),
    }
}

fn spot_json(spot: &CodeLocation) -> CitedSpotJson {
    CitedSpotJson {
        path: spot.path.clone(),
        first_line: spot.lines.map(|lines| lines.first),
        last_line: spot.lines.map(|lines| lines.last),
    }
}

fn change_json(change: &LineChange) -> CitedChangeJson {
    CitedChangeJson { was: change.before.clone(), is: change.after.clone() }
}

/// What is said about the place, in one line.
fn statement(document: &Document, judged: &CitationCheck) -> String {
    let said = judged.statement.slice(document.text()).split_whitespace();
    said.collect::<Vec<_>>().join(" ")
}

/// A cited place in one line.
pub(crate) fn line(document: &Document, judged: &CitationCheck) -> String {
    let line = document.position(judged.place.at.start).line;
    let place = &judged.place.value;
    let word = judged.status.word().replace('_', " ");
    // That a place is where it says goes without saying.
    let named = place.split([':', '#']).next().unwrap_or(place).trim_end_matches('/');
    let is_elsewhere = |now: &&CodeLocation| match judged.status {
        CitationStatus::Moved | CitationStatus::Renamed => true,
        CitationStatus::Changed => false,
        CitationStatus::Intact
        | CitationStatus::Deleted
        | CitationStatus::NeverExisted
        | CitationStatus::Unchecked => now.path != named,
    };
    let now = judged.location.as_ref().filter(is_elsewhere);
    let now = now.map(|now| format!(", now {now}")).unwrap_or_default();
    let why = judged.doubt.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    format!("{line:>5}  {word:<11}  {place}{now}{why}\n")
}
