//! Renders why a commit was made.

use super::table::line_width;
use super::{heading, inline_name, one_line, sanitize, wrap};
use crate::json::JsonAnswer;
use midstride::verbs::{CitingHandoff, CommitReason, CommitSession};
use midstride_core::session::checkpoint::Highlight;
use midstride_core::session::short_id;
use midstride_core::text::time::format_time;
use serde::Serialize;

/// The width of the text without a terminal.
const WIDTH: usize = 100;
/// The letters of a commit id.
const COMMIT_LENGTH: usize = 12;
/// The marker before each line that the user or an agent wrote.
const QUOTE: &str = "  > ";
/// What the answer is if no session made the commit.
const NO_SESSION: &str = "No captured session shows this commit.";

/// The answer as text.
pub fn text(reason: &CommitReason, terminal: Option<usize>) -> String {
    let width = terminal.map_or(WIDTH, |width| line_width(Some(width)));
    let commit = &reason.commit;
    let id: String = commit.commit.as_str().chars().take(COMMIT_LENGTH).collect();
    let subject = one_line(&commit.subject, width.saturating_sub(COMMIT_LENGTH + 1));
    let mut out = heading(&format!("{id} {subject}"));
    out.push_str(&format!("  committed {}\n", utc(commit.time)));
    if let Some(made_as) = reason.session.as_ref().and_then(|session| session.made_as.as_deref()) {
        let made_as: String = made_as.chars().take(COMMIT_LENGTH).collect();
        out.push_str(&format!("  made as {}, before it was rewritten\n", inline_name(&made_as)));
    }
    if let Some(line) = &reason.line {
        let place = format!("{}:{}", inline_name(&line.path.display().to_string()), line.number);
        out.push_str(&format!("  wrote {place}\n"));
        push_quote(&mut out, &line.text, width);
    }
    match &reason.session {
        Some(session) => push_session(&mut out, session, width),
        None => out.push_str(&format!("\n{NO_SESSION}\n")),
    }
    for handoff in &reason.handoffs {
        push_handoff(&mut out, handoff, width);
    }
    out
}

fn push_session(out: &mut String, session: &CommitSession, width: usize) {
    let summary = &session.summary;
    let name = short_id(summary.session.as_str());
    let times: Vec<String> = summary.began.into_iter().chain(summary.ended).map(utc).collect();
    let title = format!("Session {} ({})", inline_name(name), session.client.title());
    out.push('\n');
    out.push_str(&heading(&title));
    if !times.is_empty() {
        out.push_str(&format!("  {}\n", times.join(" to ")));
    }
    let parts = [
        ("Goal", &session.goal),
        ("Request before the commit", &session.request),
        ("Report after the commit", &session.report),
    ];
    for (label, part) in parts {
        push_quotes(out, label, part.iter().map(|one| one.text.as_str()), width);
    }
    let choices =
        [("Decisions", &session.decisions), ("Tried and abandoned", &session.wrong_turns)];
    for (label, choices) in choices {
        push_quotes(out, label, choices.iter().map(|one| one.text.as_str()), width);
    }
}

fn utc(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

fn push_handoff(out: &mut String, handoff: &CitingHandoff, width: usize) {
    let title = handoff.title.as_deref().map(|title| format!(": {title}")).unwrap_or_default();
    out.push('\n');
    out.push_str(&heading(&one_line(&format!("Handoff {}{title}", handoff.key), width)));
    let with_reason = |text: &str, why: Option<&String>| {
        why.map_or_else(|| text.to_owned(), |why| format!("{text} ({why})"))
    };
    let decisions = handoff.decisions.iter();
    let decisions: Vec<String> =
        decisions.map(|(decision, why)| with_reason(decision, why.as_ref())).collect();
    push_quotes(out, "Decisions", decisions.iter().map(String::as_str), width);
    let wrong = handoff.wrong_turns.iter();
    let wrong: Vec<String> =
        wrong.map(|turn| with_reason(&turn.tried, turn.why_wrong.as_ref())).collect();
    push_quotes(out, "Wrong turns", wrong.iter().map(String::as_str), width);
}

fn push_quotes<'t>(
    out: &mut String,
    label: &str,
    texts: impl Iterator<Item = &'t str>,
    width: usize,
) {
    for (at, text) in texts.enumerate() {
        if at == 0 {
            out.push_str(&format!("  {label}\n"));
        }
        push_quote(out, text, width);
    }
}

fn push_quote(out: &mut String, text: &str, width: usize) {
    for line in wrap(&sanitize(text), width.saturating_sub(QUOTE.len())) {
        out.push_str(format!("{QUOTE}{line}").trim_end());
        out.push('\n');
    }
}

/// The result of `midstride why --json`.
#[derive(Serialize)]
pub struct WhyJson<'r> {
    commit: ExplainedCommitJson<'r>,
    line: Option<BlamedLineJson<'r>>,
    session: Option<CommitSessionJson<'r>>,
    handoffs: Vec<CitingHandoffJson<'r>>,
}

impl JsonAnswer for WhyJson<'_> {
    const SCHEMA: &'static str = "why/1";
}

#[derive(Serialize)]
struct ExplainedCommitJson<'r> {
    id: &'r str,
    subject: &'r str,
    time: String,
}

#[derive(Serialize)]
struct BlamedLineJson<'r> {
    path: String,
    number: usize,
    text: &'r str,
}

#[derive(Serialize)]
struct CommitSessionJson<'r> {
    client: &'static str,
    session: &'r str,
    began: Option<String>,
    ended: Option<String>,
    made_as: Option<&'r str>,
    goal: Option<&'r str>,
    request: Option<&'r str>,
    report: Option<&'r str>,
    decisions: Vec<&'r str>,
    wrong_turns: Vec<&'r str>,
}

#[derive(Serialize)]
struct CitingHandoffJson<'r> {
    handoff: &'r str,
    path: String,
    title: Option<&'r str>,
    decisions: Vec<CitedDecisionJson<'r>>,
    wrong_turns: Vec<CitedWrongTurnJson<'r>>,
}

#[derive(Serialize)]
struct CitedDecisionJson<'r> {
    decision: &'r str,
    rationale: Option<&'r str>,
}

#[derive(Serialize)]
struct CitedWrongTurnJson<'r> {
    tried: &'r str,
    why_wrong: Option<&'r str>,
}

/// The answer as JSON.
pub fn json(reason: &CommitReason) -> WhyJson<'_> {
    let commit = &reason.commit;
    WhyJson {
        commit: ExplainedCommitJson {
            id: commit.commit.as_str(),
            subject: &commit.subject,
            time: format_time(commit.time),
        },
        line: reason.line.as_ref().map(|line| BlamedLineJson {
            path: line.path.display().to_string(),
            number: line.number,
            text: &line.text,
        }),
        session: reason.session.as_ref().map(session_json),
        handoffs: reason.handoffs.iter().map(handoff_json).collect(),
    }
}

fn session_json(session: &CommitSession) -> CommitSessionJson<'_> {
    fn text(one: Option<&Highlight>) -> Option<&str> {
        one.map(|one| one.text.as_str())
    }
    let summary = &session.summary;
    CommitSessionJson {
        client: session.client.name(),
        session: summary.session.as_str(),
        began: summary.began.map(format_time),
        ended: summary.ended.map(format_time),
        made_as: session.made_as.as_deref(),
        goal: text(session.goal.as_ref()),
        request: text(session.request.as_ref()),
        report: text(session.report.as_ref()),
        decisions: texts(&session.decisions),
        wrong_turns: texts(&session.wrong_turns),
    }
}

fn texts(all: &[Highlight]) -> Vec<&str> {
    all.iter().map(|one| one.text.as_str()).collect()
}

fn handoff_json(handoff: &CitingHandoff) -> CitingHandoffJson<'_> {
    let decisions = handoff.decisions.iter().map(|(decision, rationale)| CitedDecisionJson {
        decision,
        rationale: rationale.as_deref(),
    });
    let wrong_turns = handoff.wrong_turns.iter().map(|turn| CitedWrongTurnJson {
        tried: &turn.tried,
        why_wrong: turn.why_wrong.as_deref(),
    });
    CitingHandoffJson {
        handoff: &handoff.key,
        path: handoff.path.display().to_string(),
        title: handoff.title.as_deref(),
        decisions: decisions.collect(),
        wrong_turns: wrong_turns.collect(),
    }
}
