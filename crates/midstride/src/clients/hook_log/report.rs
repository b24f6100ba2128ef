//! Reads the hook log: what each hook of each client did, and whether it failed.

use super::FILE;
use crate::sys::files::{FileError, FileProblem, FileStream};
use jiff::Timestamp;
use midstride_core::text::id::SessionId;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How much of the end of the log is read. midstride keeps the log shorter than this.
const TAIL_BYTES: u64 = 512 << 10;

/// A summary of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookLogReport {
    /// The hooks that ran, by client and event.
    pub hooks: Vec<HookStats>,
    /// Number of lines that cannot be parsed.
    pub unreadable: usize,
    /// Per client, the time of the first call in the log and the sessions that called hooks.
    pub callers: BTreeMap<String, HookCallers>,
}

/// The sessions that called a hook of one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCallers {
    /// The time of the first call still in the log.
    pub since: Timestamp,
    /// The session ids.
    pub sessions: BTreeSet<SessionId>,
}

/// What one hook of one client did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookStats {
    /// The client, or `midstride` for background work.
    pub client: String,
    /// The event name that the client uses.
    pub event: String,
    /// Number of calls.
    pub count: usize,
    /// Time of the last call.
    pub last: Timestamp,
    /// What the last call did.
    pub did: String,
    /// The error of the last call.
    pub error: Option<String>,
    /// Median duration in milliseconds.
    pub median: u64,
    /// Longest duration in milliseconds.
    pub worst: u64,
    /// Tokens given to the model by the last call.
    pub tokens: u64,
    /// Tokens given to the model by all calls.
    pub total_tokens: u64,
    /// Number of calls with an error.
    pub failures: usize,
    /// Time and error of the last failure.
    pub failed: Option<(Timestamp, String)>,
}

/// A line of the log.
#[derive(Deserialize)]
struct HookLogEntry {
    at: Timestamp,
    client: String,
    event: String,
    #[serde(default)]
    session: Option<SessionId>,
    milliseconds: u64,
    tokens: u64,
    did: String,
    error: Option<String>,
}

/// Reads the end of the log in a folder; empty if there is none.
pub fn read_report(private: &Path) -> Result<HookLogReport, FileError> {
    let mut stream = match FileStream::open(&private.join(FILE)) {
        Ok(stream) => stream,
        Err(FileError { problem: FileProblem::NotFound | FileProblem::NotFolder, .. }) => {
            return Ok(HookLogReport::default());
        }
        Err(error) => return Err(error),
    };
    let end = stream.bytes();
    let from = end.saturating_sub(TAIL_BYTES);
    let bytes = stream.read_range(from, end)?;
    let text = String::from_utf8_lossy(&bytes);
    // The tail starts in the middle of a line, so that part is skipped.
    let text = if from == 0 { &text } else { text.split_once('\n').map_or("", |(_, rest)| rest) };
    Ok(parse_report(text))
}

fn parse_report(text: &str) -> HookLogReport {
    let mut calls: BTreeMap<(String, String), Vec<HookLogEntry>> = BTreeMap::new();
    let mut called: BTreeMap<String, HookCallers> = BTreeMap::new();
    let mut unreadable = 0;
    for line in text.split_inclusive('\n').filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str::<HookLogEntry>(line) {
            Ok(call) => {
                let first = HookCallers { since: call.at, sessions: BTreeSet::new() };
                let known = called.entry(call.client.clone()).or_insert(first);
                known.sessions.extend(call.session.clone());
                calls.entry((call.client.clone(), call.event.clone())).or_default().push(call);
            }
            // Another process is still writing this line.
            Err(_) if !line.ends_with('\n') => {}
            Err(_) => unreadable += 1,
        }
    }
    HookLogReport {
        hooks: calls.into_values().filter_map(hook_stats).collect(),
        unreadable,
        callers: called,
    }
}

/// Summarizes the calls of one hook; the last line is the last call.
fn hook_stats(mut calls: Vec<HookLogEntry>) -> Option<HookStats> {
    let mut times: Vec<u64> = calls.iter().map(|call| call.milliseconds).collect();
    times.sort_unstable();
    let failed = |call: &HookLogEntry| Some((call.at, call.error.clone()?));
    let failures: Vec<(Timestamp, String)> = calls.iter().filter_map(failed).collect();
    let (count, total_tokens) = (calls.len(), calls.iter().map(|call| call.tokens).sum());
    let last = calls.pop()?;
    Some(HookStats {
        client: last.client,
        event: last.event,
        count,
        last: last.at,
        did: last.did,
        error: last.error,
        median: times[(count - 1) / 2],
        worst: times[count - 1],
        tokens: last.tokens,
        total_tokens,
        failures: failures.len(),
        failed: failures.into_iter().next_back(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(event: &str, minute: u8, milliseconds: u64, error: &str) -> String {
        format!(
            "{{\"at\":\"2026-03-21T17:{minute:02}:00Z\",\"client\":\"codex\",\"event\":\"{event}\",\
             \"session\":null,\"milliseconds\":{milliseconds},\"tokens\":{minute},\"did\":\"briefed\",\
             \"error\":{error}}}\n"
        )
    }

    #[test]
    fn calls_of_a_hook_are_summarized() {
        let report = parse_report(
            &[
                line("Stop", 1, 9, "null"),
                line("SessionStart", 2, 30, "null"),
                line("SessionStart", 3, 10, "\"the disk is full\""),
                line("SessionStart", 4, 20, "null"),
                line("SessionStart", 5, 11, "null"),
            ]
            .concat(),
        );
        assert_eq!(report.unreadable, 0);
        let [start, stop] = &report.hooks[..] else { panic!("{report:?}") };
        assert_eq!((start.event.as_str(), start.count, stop.count), ("SessionStart", 4, 1));
        assert_eq!((start.median, start.worst), (11, 30));
        assert_eq!((start.tokens, start.total_tokens), (5, 14));
        assert_eq!((start.failures, &start.error), (1, &None));
        let (at, why) = start.failed.as_ref().unwrap();
        assert_eq!(
            (at.to_string().as_str(), why.as_str()),
            ("2026-03-21T17:03:00Z", "the disk is full")
        );
        assert_eq!((stop.median, stop.worst, &stop.failed), (9, 9, &None));
    }

    #[test]
    fn unparsable_lines_are_counted() {
        let half = line("Stop", 1, 9, "null");
        let text = format!("no\n\n{{}}\n{}{}", half, &half[..half.len() - 5]);
        let report = parse_report(&text);
        assert_eq!((report.unreadable, report.hooks.len()), (2, 1), "{report:?}");
        assert_eq!(parse_report(""), HookLogReport::default());
    }
}
