//! Renders how much of its session a handoff covers.

use super::table::{Column, line_width, table};
use super::{count, one_line};
use midstride::verbs::{DocumentCheck, SessionComparison};
use midstride_core::format::document::Document;
use midstride_core::format::finding::Code;
use midstride_core::session::coverage::{Coverage, CoverageItem};
use serde::Serialize;

/// The maximum number of missing items shown; `--json` has them all.
const MISSING_MAX: usize = 10;
/// The width at which names are truncated.
const NAME_WIDTH_MAX: usize = 80;

/// The coverage in full for one document, or in one line each for several.
pub fn human(checks: &[DocumentCheck], terminal: Option<usize>) -> String {
    let mut out = String::new();
    for one in checks {
        let Some(SessionComparison::Compared { session, coverage, .. }) = &one.coverage else {
            continue;
        };
        if coverage.items.is_empty() {
            continue;
        }
        let session = one_line(session.as_str(), NAME_WIDTH_MAX);
        if checks.len() > 1 {
            out.push_str(&coverage_line(one).unwrap_or_default());
            continue;
        }
        out.push_str(&format!("Coverage of session {session}: {}\n", coverage_ratio(coverage)));
        out.push_str(&counts_table(coverage, terminal));
        out.push_str(&missing_text(coverage));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// One line for each document that does not cover what it must; nothing for the others.
pub fn problems(checks: &[DocumentCheck]) -> String {
    let is_problem = |one: &&DocumentCheck| {
        one.verdict.findings.iter().any(|finding| finding.code == Code::SessionNotCovered)
    };
    let lines: String = checks.iter().filter(is_problem).filter_map(coverage_line).collect();
    if lines.is_empty() { lines } else { format!("{lines}\n") }
}

fn coverage_line(one: &DocumentCheck) -> Option<String> {
    let Some(SessionComparison::Compared { session, coverage, .. }) = &one.coverage else {
        return None;
    };
    if coverage.items.is_empty() {
        return None;
    }
    let (key, session) = (&one.key, one_line(session.as_str(), NAME_WIDTH_MAX));
    Some(format!("{key}: coverage of session {session}: {}\n", coverage_ratio(coverage)))
}

/// How many of its required items a handoff covers.
fn coverage_ratio(coverage: &Coverage) -> String {
    let required = coverage.required().count();
    match required - coverage.uncovered().count() {
        _ if required == 0 => "nothing required".to_owned(),
        covered => format!("{covered} of {} covered", count(required, "required item")),
    }
}

fn counts_table(coverage: &Coverage, terminal: Option<usize>) -> String {
    let column = |name| Column { name, drop_order: None };
    let columns = ["what", "happened", "named", "covered"].map(column);
    let rows: Vec<Vec<String>> = coverage
        .counts()
        .iter()
        .map(|count| {
            let numbers = [count.total, count.named, count.covered];
            let numbers = numbers.iter().map(ToString::to_string);
            std::iter::once(count.kind.plural().to_owned()).chain(numbers).collect()
        })
        .collect();
    table(&columns, &rows, line_width(terminal)).text
}

fn missing_text(coverage: &Coverage) -> String {
    let missing: Vec<&CoverageItem> = coverage.missing().collect();
    let mut out = String::new();
    for item in missing.iter().take(MISSING_MAX) {
        let name = one_line(&item.name, NAME_WIDTH_MAX);
        let record = item.seen.as_ref().map(|seen| one_line(&seen.record, NAME_WIDTH_MAX));
        let record = record.map(|record| format!(" (record {record})"));
        let what = item.kind.singular();
        out.push_str(&format!("not covered: {what}: {name}{}\n", record.unwrap_or_default()));
    }
    if missing.len() > MISSING_MAX {
        let more = missing.len() - MISSING_MAX;
        out.push_str(&format!("not covered: {more} more (see --json)\n"));
    }
    out
}

/// The sessions that documents name and that are not on this machine, in one message.
pub fn missing_sessions(checks: &[DocumentCheck]) -> Option<String> {
    let session = |one: &DocumentCheck| match &one.coverage {
        Some(SessionComparison::NotRecorded { session }) => {
            Some(one_line(session.as_str(), NAME_WIDTH_MAX))
        }
        Some(SessionComparison::Compared { .. }) | None => None,
    };
    let sessions: Vec<String> = checks.iter().filter_map(session).collect();
    let first = sessions.first()?;
    Some(match sessions.len() {
        1 => format!(
            "Session {first} is not recorded on this machine; its actions were not compared"
        ),
        many => format!(
            "Session {first} and {} are not recorded on this machine; their actions were not compared",
            count(many - 1, "other")
        ),
    })
}

#[derive(Serialize)]
pub(crate) struct CoverageJson {
    /// Absent if the session is not captured on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    session: String,
    is_here: bool,
    /// The number of items that the handoff must cover, and how many of them it does.
    required: usize,
    covered: usize,
    counts: Vec<CoverageCountJson>,
    items: Vec<CoverageItemJson>,
}

#[derive(Serialize)]
struct CoverageCountJson {
    what: &'static str,
    happened: usize,
    named: usize,
    covered: usize,
}

#[derive(Serialize)]
struct CoverageItemJson {
    what: &'static str,
    name: String,
    required: bool,
    told: &'static str,
    /// The line of the document that covers the item.
    line: Option<usize>,
    /// The transcript record of the item.
    record: Option<String>,
    /// The line of that record.
    record_line: Option<u64>,
}

/// The coverage of one document for programs.
pub(crate) fn json(covering: &SessionComparison, document: &Document) -> CoverageJson {
    match covering {
        SessionComparison::Compared { client, session, coverage } => CoverageJson {
            client: Some(client.to_string()),
            session: session.to_string(),
            is_here: true,
            required: coverage.required().count(),
            covered: coverage.required().count() - coverage.uncovered().count(),
            counts: coverage
                .counts()
                .into_iter()
                .map(|count| CoverageCountJson {
                    what: count.kind.singular(),
                    happened: count.total,
                    named: count.named,
                    covered: count.covered,
                })
                .collect(),
            items: coverage.items.iter().map(|item| item_json(item, document)).collect(),
        },
        SessionComparison::NotRecorded { session } => CoverageJson {
            client: None,
            session: session.clone(),
            is_here: false,
            required: 0,
            covered: 0,
            counts: Vec::new(),
            items: Vec::new(),
        },
    }
}

fn item_json(item: &CoverageItem, document: &Document) -> CoverageItemJson {
    CoverageItemJson {
        what: item.kind.singular(),
        name: item.name.clone(),
        required: item.kind.is_required(),
        told: item.level.word(),
        line: item.at.map(|at| document.position(at.start).line),
        record: item.seen.as_ref().map(|seen| seen.record.clone()),
        record_line: item.seen.as_ref().map(|seen| seen.number),
    }
}
