//! Renders sessions: in a list, as a page, and as the result of a capture.

use super::table::{Column, TextTable, line_width, table};
use super::{count, display_path, heading, indent, inline_name, one_line, sanitize, shell_word};
use crate::json::{JsonAnswer, JsonItem, JsonList};
use midstride::clients::SessionLiveness;
use midstride::verbs::{CheckpointOutcome, Extent, ListedSession, RecoveryOutcome};
use midstride::workspace::Workspace;
use midstride_core::session::checkpoint::{
    ArtifactState, Checkpoint, Highlight, HighlightKind, Highlights,
};
use midstride_core::session::{AgentState, CommandStatus, Provenance, Request, Session};
use midstride_core::text::id::{BlobHash, SessionId};
use serde::Serialize;
use std::path::Path;

/// A session in a list.
#[derive(Serialize)]
pub struct ListedSessionJson<'l> {
    client: &'static str,
    session: &'l SessionId,
    began: Option<String>,
    changed: Option<String>,
    runs: Option<bool>,
    captured: &'static str,
    transcript: Option<String>,
    bytes: Option<u64>,
    checkpoint: Option<&'l BlobHash>,
    about: Option<&'l str>,
}

impl JsonItem for ListedSessionJson<'_> {
    const LIST_SCHEMA: &'static str = "sessions/1";
}

/// The JSON for a list of sessions.
pub fn list_json(list: &[ListedSession]) -> JsonList<ListedSessionJson<'_>> {
    list.iter().map(listed_session_json).collect()
}

fn listed_session_json(one: &ListedSession) -> ListedSessionJson<'_> {
    ListedSessionJson {
        client: one.client.name(),
        session: &one.session,
        began: one.began.map(|time| time.to_string()),
        changed: one.changed.map(|time| time.to_string()),
        runs: match one.life {
            SessionLiveness::Running => Some(true),
            SessionLiveness::Ended => Some(false),
            SessionLiveness::Unknown => None,
        },
        captured: extent_word(one.extent),
        transcript: one.transcript.as_ref().map(|found| found.path.display().to_string()),
        bytes: one.transcript.as_ref().map(|found| found.bytes),
        checkpoint: one.blob.as_ref(),
        about: one.about.as_deref(),
    }
}

fn extent_word(extent: Extent) -> &'static str {
    match extent {
        Extent::None => "no",
        Extent::Part => "in part",
        Extent::Whole => "whole",
        Extent::Forgotten => "forgotten",
    }
}

const COLUMNS: [Column; 6] = [
    Column { name: "SESSION", drop_order: None },
    Column { name: "CLIENT", drop_order: Some(1) },
    Column { name: "CHANGED", drop_order: Some(2) },
    Column { name: "STATE", drop_order: None },
    Column { name: "CAPTURED", drop_order: Some(0) },
    Column { name: "ASKED", drop_order: None },
];

/// A table of sessions.
pub fn render_table(list: &[ListedSession], terminal: Option<usize>) -> TextTable {
    let row = |one: &ListedSession| {
        let day = one.changed.map(|time| time.strftime("%Y-%m-%d %H:%M").to_string());
        let state = match one.life {
            SessionLiveness::Running => "running",
            SessionLiveness::Ended => "ended",
            SessionLiveness::Unknown => "",
        };
        vec![
            one_line(one.session.as_str(), usize::MAX),
            one.client.name().to_owned(),
            day.unwrap_or_default(),
            state.to_owned(),
            extent_word(one.extent).to_owned(),
            match (&one.about, one.extent) {
                (Some(about), _) => one_line(about, usize::MAX),
                (None, Extent::Forgotten) => "(forgotten)".to_owned(),
                (None, _) => "(nothing)".to_owned(),
            },
        ]
    };
    let rows: Vec<Vec<String>> = list.iter().map(row).collect();
    table(&COLUMNS, &rows, line_width(terminal))
}

/// Everything that was recorded of a session.
#[derive(Serialize)]
#[serde(transparent)]
pub struct SessionJson {
    checkpoint: serde_json::Value,
}

impl JsonAnswer for SessionJson {
    const SCHEMA: &'static str = "session/1";
}

/// The JSON for everything that was recorded of a session.
pub fn session_json(checkpoint: &Checkpoint) -> SessionJson {
    SessionJson { checkpoint: checkpoint.to_marked_value() }
}

/// A captured session.
#[derive(Serialize)]
pub struct CheckpointJson<'c> {
    client: String,
    session: SessionId,
    last_record: Option<&'c str>,
    digest: &'c str,
    checkpoint: &'c BlobHash,
    new: bool,
    bytes: u64,
    bytes_read: u64,
    seen: u64,
    understood: u64,
    skipped: u64,
    unknown: u64,
    commands: u64,
    failed_commands: Option<u64>,
    redacted: &'c std::collections::BTreeMap<String, u64>,
}

impl JsonAnswer for CheckpointJson<'_> {
    const SCHEMA: &'static str = "checkpoint/1";
}

/// The JSON for a captured session.
pub fn checkpoint_json(done: &CheckpointOutcome) -> CheckpointJson<'_> {
    let checkpoint = &done.checkpoint;
    let counts = &checkpoint.session.counts;
    CheckpointJson {
        client: checkpoint.client().to_string(),
        session: checkpoint.session_id(),
        last_record: checkpoint.session.last_record.as_deref(),
        digest: &checkpoint.digest,
        checkpoint: &done.blob,
        new: done.is_new,
        bytes: checkpoint.bytes,
        bytes_read: done.new_bytes,
        seen: counts.seen,
        understood: counts.understood,
        skipped: counts.total_skipped(),
        unknown: counts.total_unknown(),
        commands: checkpoint.session.commands.total(),
        failed_commands: checkpoint.session.failed_commands(),
        redacted: &checkpoint.session.redacted,
    }
}

/// The sessions that were recovered, and those that were not.
#[derive(Serialize)]
pub struct RecoveryJson<'r> {
    recovered: Vec<CheckpointJson<'r>>,
    failed: Vec<RecoveryFailureJson<'r>>,
    left: usize,
    older: usize,
    off: usize,
    running: usize,
    unknown: usize,
    since: String,
}

impl JsonAnswer for RecoveryJson<'_> {
    const SCHEMA: &'static str = "recovery/1";
}

#[derive(Serialize)]
struct RecoveryFailureJson<'r> {
    session: &'r SessionId,
    error: String,
}

/// The JSON for a recovery.
pub fn recovery_json(recovered: &RecoveryOutcome) -> RecoveryJson<'_> {
    let failed = recovered.failed.iter();
    RecoveryJson {
        recovered: recovered.checkpoints.iter().map(checkpoint_json).collect(),
        failed: failed
            .map(|(session, error)| RecoveryFailureJson { session, error: error.to_string() })
            .collect(),
        left: recovered.remaining,
        older: recovered.older,
        off: recovered.off,
        running: recovered.running,
        unknown: recovered.unknown,
        since: recovered.since.to_string(),
    }
}

/// The result of capturing a session.
pub fn checkpoint_text(done: &CheckpointOutcome) -> String {
    let checkpoint = &done.checkpoint;
    let id = inline_name(checkpoint.session_id().as_str());
    if !done.is_new {
        return format!("{id}: nothing new since the last capture");
    }
    format!("{id}: {}", checkpoint_summary(checkpoint))
}

/// The result of recovering a session.
pub fn recovered_text(done: &CheckpointOutcome) -> String {
    let checkpoint = &done.checkpoint;
    let id = inline_name(checkpoint.session_id().as_str());
    format!("{id} ended and is now captured: {}", checkpoint_summary(checkpoint))
}

/// Remarks about a recovery, and what to do with the newest session.
pub fn recovery_remarks(recovered: &RecoveryOutcome) -> Vec<String> {
    let mut remarks = Vec::new();
    if recovered.checkpoints.is_empty() && recovered.failed.is_empty() {
        let since = recovered.since.strftime("%Y-%m-%d %H:%M");
        remarks.push(format!(
            "Nothing to recover: every session that ended since {since} is captured."
        ));
    }
    if recovered.remaining > 0 {
        let left = count(recovered.remaining, "session");
        remarks.push(format!("{left} more; to capture them: midstride session recover --all"));
    }
    if recovered.older > 0 {
        let older = count(recovered.older, "session");
        remarks.push(format!(
            "{older} skipped (before setup); capture them with midstride session recover --all"
        ));
    }
    if recovered.off > 0 {
        let off = count(recovered.off, "session");
        remarks.push(format!(
            "{off} skipped (while midstride was off); capture one with midstride session capture --session ID"
        ));
    }
    if recovered.running > 0 {
        remarks.push(format!("{} still running", count(recovered.running, "session")));
    }
    if recovered.unknown > 0 {
        let unknown = count(recovered.unknown, "session");
        remarks.push(format!(
            "{unknown} may still be running; capture one with midstride session capture --session ID"
        ));
    }
    if let Some(newest) = recovered.checkpoints.first() {
        let id = shell_word(newest.checkpoint.session_id().as_str());
        remarks
            .push(format!("Next: midstride session show {id}, then midstride save --session {id}"));
    }
    remarks
}

fn checkpoint_summary(checkpoint: &Checkpoint) -> String {
    let session = &checkpoint.session;
    if let Some(from) = session.forked_from.as_ref().filter(|_| session.is_only_copies()) {
        return format!("fork of {}, nothing new yet", inline_name(from.as_str()));
    }
    let failed = session.commands.iter().filter(|c| c.exit == CommandStatus::Failed).count();
    let failed = match session.failed_commands() {
        Some(failed) => format!("{failed} failed"),
        // Only the newest commands are kept when there are very many, and older versions of
        // midstride did not count the rest.
        None => format!("{failed} of the newest {} failed", session.commands.items.len()),
    };
    let all = |total: u64| usize::try_from(total).unwrap_or(usize::MAX);
    let calls = match session.counts.total_mcp_calls() {
        0 => String::new(),
        number => format!("{}, ", count(all(number), "MCP call")),
    };
    let open = session.tasks.iter().filter(|task| task.status.is_open()).count();
    let flying = session.agents.iter().filter(|a| a.state == AgentState::InFlight).count();
    format!(
        "{}, {}, {} ({failed}), {calls}{} open, {} in flight",
        count(all(session.requests.total()), "request"),
        count(session.files.changed().count(), "changed file"),
        count(all(session.commands.total()), "command"),
        count(open, "task"),
        count(flying, "agent"),
    )
}

/// What could not be parsed or was not kept. Nothing is omitted silently.
pub fn skipped_remarks(checkpoint: &Checkpoint) -> Vec<String> {
    let counts = &checkpoint.session.counts;
    let named = |names: &std::collections::BTreeMap<String, u64>| {
        let each: Vec<String> =
            names.iter().map(|(kind, n)| format!("{} {n}", inline_name(kind))).collect();
        each.join(", ")
    };
    let mut remarks = Vec::new();
    let of = |number: u64| format!("{number} of {} records", counts.seen);
    if counts.total_skipped() > 0 {
        let why = named(&counts.skipped);
        remarks.push(format!("{} could not be used: {why}", of(counts.total_skipped())));
    }
    if counts.total_unknown() > 0 {
        let kinds = named(&counts.unknown);
        remarks.push(format!("{} of unknown kinds: {kinds}", of(counts.total_unknown())));
    }
    let mut redacted = checkpoint.session.redacted.clone();
    for (kind, more) in checkpoint.session.last_words.iter().flat_map(|words| &words.redacted) {
        *redacted.entry(kind.clone()).or_default() += more;
    }
    if !redacted.is_empty() {
        remarks.push(format!("secrets removed: {}", named(&redacted)));
    }
    remarks
}

/// A session as a page.
pub fn page(workspace: &Workspace, checkpoint: &Checkpoint) -> String {
    let session = &checkpoint.session;
    let mut out = heading(&format!(
        "{} session {}",
        session.client,
        inline_name(checkpoint.session_id().as_str())
    ));
    out.push_str(&indent(&page_header(checkpoint)));
    let abandoned = |seen: &Provenance| abandoned_mark(checkpoint.is_abandoned(seen));
    let request = |request: &Request| {
        let mark = if request.correction.is_some() { "corrected: " } else { "" };
        format!("{mark}{}{}", short_text(&request.text), abandoned(&request.seen))
    };
    let before: Vec<String> = session.asked_before.iter().map(request).collect();
    section(&mut out, "Asked before the fork", &before);
    let requests: Vec<String> = session.requests.iter().map(request).collect();
    section(&mut out, "Asked", &requests);
    let answers: Vec<String> = session
        .answers
        .iter()
        .map(|answer| {
            let (question, reply) = (short_text(&answer.question), short_text(&answer.answer));
            format!("{question} → {reply}{}", abandoned(&answer.seen))
        })
        .collect();
    section(&mut out, "Answered", &answers);
    let tasks: Vec<String> = session
        .tasks
        .iter()
        .map(|task| {
            format!("{:<12}{}", inline_name(task.status.as_str()), short_text(&task.subject))
        })
        .collect();
    section(&mut out, "Tasks", &tasks);
    let flying = session.agents.iter().filter(|agent| {
        agent.state == AgentState::InFlight && !checkpoint.is_abandoned(&agent.seen)
    });
    let agents: Vec<String> = flying
        .map(|agent| {
            let asked = agent.about.as_deref().or(agent.prompt.as_deref()).unwrap_or_default();
            format!(
                "{}  {}",
                inline_name(agent.id.as_deref().unwrap_or("(no id)")),
                short_text(asked)
            )
        })
        .collect();
    section(&mut out, "Agents in flight", &agents);
    let called = checkpoint.in_flight.iter().map(|call| {
        let runs = checkpoint.command_for(call).map(|text| format!(": {}", short_text(text)));
        format!("{}{}", sanitize(&call.tool), runs.unwrap_or_default())
    });
    section(&mut out, "Calls without a result", &called.collect::<Vec<_>>());
    let mcp_calls = session.counts.mcp_calls.iter().map(|(tool, number)| {
        let times = if *number > 1 { format!(" ×{number}") } else { String::new() };
        format!("{}{times}", inline_name(tool))
    });
    section(&mut out, "MCP calls", &mcp_calls.collect::<Vec<_>>());
    section(&mut out, "Failed", &failures(checkpoint));
    section(&mut out, "Changed files", &files(workspace, checkpoint));
    section(&mut out, "Plan documents", &plans(workspace, checkpoint));
    if let Some(words) = &session.last_words {
        section(&mut out, "Last message", &[short_text(&words.text)]);
    }
    push_highlights(&mut out, &Highlights::from_checkpoint(checkpoint));
    out
}

/// Appends what the session did and what its agent said. A briefing may show only a part of it.
fn push_highlights(out: &mut String, highlights: &Highlights) {
    let line = |one: &Highlight| {
        let detail = one.detail.as_deref().map(|detail| format!("{} ", inline_name(detail)));
        let state = one.state.as_deref().map(|state| format!(" ({state})"));
        let text = short_text(&one.text);
        format!("{}{text}{}", detail.unwrap_or_default(), state.unwrap_or_default())
    };
    let lines = |kind: HighlightKind| highlights.of_kind(kind).map(line).collect::<Vec<_>>();
    section(out, "Commits", &lines(HighlightKind::Commit));
    section(out, "Outside effects", &lines(HighlightKind::Effect));
    section(out, "Checks that passed", &lines(HighlightKind::Check));
    let failed = |one: &Highlight| {
        let state = one.state.as_deref().unwrap_or_default();
        let why =
            one.detail.as_deref().map(|why| format!(": {}", short_text(why))).unwrap_or_default();
        let remark =
            one.remark.as_deref().map(|remark| format!("; the agent: {}", short_text(remark)));
        format!("{} ({state}){why}{}", short_text(&one.text), remark.unwrap_or_default())
    };
    let failures = |kind| highlights.of_kind(kind).map(failed).collect::<Vec<_>>();
    section(out, "Failing checks", &failures(HighlightKind::Failed));
    section(out, "Fixed along the way", &failures(HighlightKind::Passed));
    for (heading, kind) in QUOTED_SECTIONS {
        let texts: Vec<String> = if kind == HighlightKind::Finding {
            highlights.reported_findings().map(|one| sanitize(&one.text)).collect()
        } else {
            highlights.of_kind(kind).map(|one| sanitize(&one.text)).collect()
        };
        section(out, heading, &texts);
    }
}

/// The sections that quote the user and the agent in full.
const QUOTED_SECTIONS: [(&str, HighlightKind); 13] = [
    ("Standing instructions", HighlightKind::Instruction),
    ("Unchecked checkboxes", HighlightKind::Unchecked),
    ("Question for the user", HighlightKind::Question),
    ("Stated plan", HighlightKind::StatedPlan),
    ("Open items", HighlightKind::OpenItem),
    ("Findings", HighlightKind::Finding),
    ("Decisions", HighlightKind::Decision),
    ("Tried and abandoned", HighlightKind::DeadEnd),
    ("From the compaction summary", HighlightKind::Summary),
    ("Commit messages", HighlightKind::Message),
    ("Reports", HighlightKind::Report),
    ("Remarks between calls", HighlightKind::Remark),
    ("Subagent reports", HighlightKind::AgentReport),
];

fn page_header(checkpoint: &Checkpoint) -> String {
    let session = &checkpoint.session;
    let time = |time: jiff::Timestamp| time.strftime("%Y-%m-%d %H:%M").to_string();
    let mut lines = Vec::new();
    if let (Some(began), Some(ended)) = (session.began, session.ended) {
        lines.push(format!("{} to {}", time(began), time(ended)));
    }
    lines.extend(session.fork_description().map(|sentence| one_line(&sentence, usize::MAX)));
    if let Some(model) = &session.model {
        let full = checkpoint.context_percent.map(|percent| format!(", context {percent}% full"));
        lines.push(format!("{}{}", inline_name(model), full.unwrap_or_default()));
    }
    // Long after the session, git has something else checked out.
    let git = Some(&checkpoint.git).filter(|git| !git.late);
    let commit = git.and_then(|git| git.commit.as_ref()).or(session.commit.as_ref());
    let branch = git.and_then(|git| git.branch.as_ref()).or(session.branch.as_ref());
    match (commit, branch) {
        (Some(commit), Some(branch)) => {
            lines.push(format!("{} on {}", inline_name(commit.as_str()), inline_name(branch)));
        }
        (Some(commit), None) => lines.push(inline_name(commit.as_str())),
        (None, Some(branch)) => lines.push(format!("on {}", inline_name(branch))),
        (None, None) => {}
    }
    if !session.compactions.is_empty() {
        let times = usize::try_from(session.compactions.total()).unwrap_or_default();
        lines.push(count(times, "compaction"));
    }
    lines.join("\n")
}

/// Marks what the user rewound.
fn abandoned_mark(is_left: bool) -> &'static str {
    if is_left { "  (rewound)" } else { "" }
}

fn failures(checkpoint: &Checkpoint) -> Vec<String> {
    let failed = checkpoint.session.commands.iter().filter(|c| c.exit == CommandStatus::Failed);
    let commands = failed.map(|command| {
        let code = command.code.map(|code| format!(" (exit {code})")).unwrap_or_default();
        let later = if command.passed_later.is_some() { ", passed later" } else { "" };
        let left = abandoned_mark(checkpoint.is_abandoned(&command.seen));
        format!("{}{code}{later}{left}", short_text(&command.text))
    });
    let errors = checkpoint.session.errors.iter().map(|error| {
        let path = error.path.as_deref().map(|path| format!(" {}", inline_name(path)));
        let left = abandoned_mark(checkpoint.is_abandoned(&error.seen));
        let (tool, path) = (inline_name(&error.tool), path.unwrap_or_default());
        format!("{tool}{path}: {}{left}", short_text(&error.text))
    });
    let Session { commands: all, failed_left_out, .. } = &checkpoint.session;
    let omitted = omitted_commands(all.left_out, *failed_left_out);
    omitted.into_iter().chain(commands).chain(errors).collect()
}

/// How many commands were counted but not kept, and how many of them failed, if known.
fn omitted_commands(count: u64, failed: Option<u64>) -> Option<String> {
    let failed = failed.map(|failed| format!(", {failed} failed")).unwrap_or_default();
    (count > 0).then(|| format!("{count} older commands were counted but not kept{failed}"))
}

fn files(workspace: &Workspace, checkpoint: &Checkpoint) -> Vec<String> {
    let state = |path: &str| {
        let artifact = checkpoint.artifacts.iter().find(|artifact| artifact.path == path);
        match artifact.map(|artifact| artifact.state) {
            Some(ArtifactState::Partial) => ", changed since",
            Some(ArtifactState::Missing) => ", missing",
            Some(ArtifactState::Match) | None => "",
        }
    };
    let changed = checkpoint.session.files.changed();
    changed
        .map(|(path, file)| {
            let reverted = if file.reverted.is_empty() { "" } else { ", a change was reverted" };
            let shown = inline_name(&display_path(workspace, Path::new(path)));
            let left = abandoned_mark(checkpoint.is_abandoned_file(file));
            format!("{shown}{reverted}{}{left}", state(path))
        })
        .collect()
}

fn plans(workspace: &Workspace, checkpoint: &Checkpoint) -> Vec<String> {
    let named = checkpoint.session.plans.iter().filter_map(|plan| plan.path.as_deref());
    let all = named.chain(checkpoint.plan_documents.iter().map(String::as_str));
    let mut paths: Vec<String> =
        all.map(|path| inline_name(&display_path(workspace, Path::new(path)))).collect();
    if paths.is_empty() {
        paths.push("none found".to_owned());
    }
    paths
}

fn short_text(text: &str) -> String {
    const WIDTH: usize = 90;
    one_line(text, WIDTH)
}

fn section(out: &mut String, name: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    out.push('\n');
    out.push_str(&heading(name));
    out.push_str(&indent(&items.join("\n")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_were_not_kept_are_counted() {
        assert_eq!(omitted_commands(0, None), None);
        assert_eq!(
            omitted_commands(1_000, Some(7)).unwrap(),
            "1000 older commands were counted but not kept, 7 failed"
        );
        let unknown = omitted_commands(1_000, None).unwrap();
        assert_eq!(unknown, "1000 older commands were counted but not kept");
    }
}
