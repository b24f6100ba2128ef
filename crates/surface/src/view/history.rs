//! Renders the history of a handoff, as text and as JSON.

use super::delivery::DeliveryLogJson;
use super::review::{challenge_parts, format_minute, verdict_text};
use super::trust::TrustJson;
use super::{delivery, handoff, sanitize, table, trust, wrap};
use crate::json::JsonAnswer;
use midstride::store::Store;
use midstride::workspace::StoredHandoff;
use midstride_core::format::header::Measurement;
use midstride_core::handoff::timeline::{self, ClosureRecord, TimelineEntry, TimelineEvent};
use midstride_core::text::time;
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

/// The minimum text width and the maximum line width, to keep the text readable in any terminal.
const TEXT_WIDTH_MIN: usize = 30;
const LINE_WIDTH_MAX: usize = 100;

/// The timeline of a handoff.
#[derive(Serialize)]
pub struct HistoryJson {
    key: String,
    title: Option<String>,
    status: String,
    trust: TrustJson,
    receipts: DeliveryLogJson,
    history: Vec<HistoryMomentJson>,
}

impl JsonAnswer for HistoryJson {
    const SCHEMA: &'static str = "history/1";
}

#[derive(Serialize)]
struct HistoryMomentJson {
    at: Option<String>,
    by: Option<String>,
    /// The number of the revision that this entry created.
    text: Option<usize>,
    #[serde(flatten)]
    event: HistoryEventJson,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum HistoryEventJson {
    Captured {
        reason: Option<String>,
    },
    Challenged {
        challenged: Option<String>,
        verdict: Option<String>,
        /// The number of the revision that was reviewed.
        revision: Option<usize>,
    },
    Changed {
        reason: Option<String>,
    },
    Ended {
        status: String,
        commit: Option<String>,
        outcome: Option<String>,
        reason: Option<String>,
        superseded_by: Option<String>,
        measurements: Vec<MeasurementJson>,
    },
}

#[derive(Serialize)]
struct MeasurementJson {
    name: Option<String>,
    before: Option<String>,
    after: Option<String>,
    unit: Option<String>,
    ratio: Option<f64>,
}

/// The JSON for the history of a handoff.
pub fn json(store: &Store, stored: &StoredHandoff) -> HistoryJson {
    let workspace = store.workspace();
    let handoff = stored.handoff(workspace);
    HistoryJson {
        key: handoff.key().to_string(),
        title: handoff.title().map(str::to_owned),
        status: handoff.status().to_string(),
        trust: trust::json(&trust::read_trust(workspace, &handoff)),
        receipts: delivery::json(&delivery::read_delivery_log(store, stored)),
        history: timeline::entries(&handoff).iter().map(moment_json).collect(),
    }
}

fn moment_json(moment: &TimelineEntry<'_>) -> HistoryMomentJson {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let event = match &moment.event {
        TimelineEvent::Captured(remark) => HistoryEventJson::Captured { reason: owned(*remark) },
        TimelineEvent::Challenged(review) => HistoryEventJson::Challenged {
            challenged: owned(review.challenged.map(|text| text.value)),
            verdict: verdict_text(review).map(str::to_owned),
            revision: review.revision,
        },
        TimelineEvent::Changed(reason) => HistoryEventJson::Changed { reason: owned(*reason) },
        TimelineEvent::Closed(end) => HistoryEventJson::Ended {
            status: end.status.to_string(),
            commit: owned(end.commit),
            outcome: owned(end.outcome),
            reason: owned(end.reason),
            superseded_by: owned(end.superseded_by),
            measurements: end.measurements.iter().map(measurement_json).collect(),
        },
    };
    let at = moment.time.map(|time| time::format_time(time.moment));
    HistoryMomentJson { at, by: owned(moment.by), text: moment.text_number, event }
}

fn measurement_json(measured: &Measurement<'_>) -> MeasurementJson {
    let owned =
        |text: Option<midstride_core::text::span::Spanned<&str>>| text.map(|t| t.value.to_owned());
    MeasurementJson {
        name: owned(measured.name),
        before: owned(measured.before),
        after: owned(measured.after),
        unit: owned(measured.unit),
        ratio: measured.ratio(),
    }
}

/// The history for the terminal.
pub fn text(store: &Store, stored: &StoredHandoff, terminal: Option<usize>) -> String {
    let workspace = store.workspace();
    let mut out = handoff::title_and_facts(workspace, stored, terminal);
    out.push_str(&handoff::delivery_line(store, stored));
    out.push('\n');
    let moments = timeline::entries(&stored.handoff(workspace));
    let rows: Vec<[String; 3]> = moments.iter().map(columns).collect();
    let widest = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths = [widest(0), widest(1), widest(2)];
    // Omit the column for revision numbers if there are none.
    let widths = widths.map(|width| if width == 0 { 0 } else { width + table::COLUMN_GAP });
    let indent: usize = widths.iter().sum();
    let left =
        table::line_width(terminal).min(LINE_WIDTH_MAX).saturating_sub(indent).max(TEXT_WIDTH_MIN);
    for (row, moment) in rows.iter().zip(&moments) {
        let wrapped: Vec<String> =
            moment_parts(moment).iter().flat_map(|part| wrap(&sanitize(part), left)).collect();
        let first = row.iter().zip(widths).map(|(cell, width)| pad(cell, width));
        let lines = wrapped.join(&format!("\n{}", " ".repeat(indent)));
        out.push_str(format!("{}{lines}", first.collect::<String>()).trim_end());
        out.push('\n');
    }
    out
}

/// The columns of an entry: the time, the revision number, and the kind of event.
fn columns(moment: &TimelineEntry<'_>) -> [String; 3] {
    let word = match &moment.event {
        TimelineEvent::Captured(_) => "captured".to_owned(),
        TimelineEvent::Challenged(_) => "challenged".to_owned(),
        TimelineEvent::Changed(_) => "changed".to_owned(),
        TimelineEvent::Closed(end) => end.status.to_string(),
    };
    let text = moment.text_number.map_or_else(String::new, |number| format!("@{number}"));
    [moment.time.map_or_else(|| "(no time)".to_owned(), format_minute), text, word]
}

/// The author and the details of an entry; each part starts on a new line.
fn moment_parts(moment: &TimelineEntry<'_>) -> Vec<String> {
    let mut parts = match &moment.event {
        TimelineEvent::Captured(remark) => remark.iter().map(|&remark| remark.to_owned()).collect(),
        TimelineEvent::Challenged(review) => challenge_parts(review).into(),
        TimelineEvent::Changed(reason) => vec![reason.unwrap_or("(no reason)").to_owned()],
        TimelineEvent::Closed(end) => end_parts(end),
    };
    match (moment.by.map(str::trim), parts.first_mut()) {
        (Some(by), Some(first)) => *first = format!("by {by}: {first}"),
        (Some(by), None) => parts.push(format!("by {by}")),
        (None, _) => {}
    }
    parts
}

fn end_parts(end: &ClosureRecord<'_>) -> Vec<String> {
    let details = [
        end.outcome.map(str::to_owned),
        end.reason.map(str::to_owned),
        end.superseded_by.map(|successor| format!("replaced by {successor}")),
        end.commit.map(|commit| format!("commit {commit}")),
    ];
    details
        .into_iter()
        .flatten()
        .chain(end.measurements.iter().map(handoff::measurement_text))
        .collect()
}

fn pad(cell: &str, width: usize) -> String {
    format!("{cell}{}", " ".repeat(width.saturating_sub(cell.width())))
}
