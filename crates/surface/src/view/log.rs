//! Renders the log of sessions: one line each, as Markdown, and as JSON.

use super::home::{HomeContext, cut, ending, goal};
use super::table::line_width;
use super::{count, inline_name, one_line};
use crate::json::{JsonItem, JsonList};
use midstride::clients::SessionLiveness;
use midstride::verbs::{LoggedSession, SessionLog};
use midstride_core::session::checkpoint::{HighlightKind, SessionEnding};
use midstride_core::session::short_id;
use midstride_core::text::portable::MachineNames;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;
use unicode_width::UnicodeWidthStr;

/// The minimum width of the goal. Narrow terminals drop other parts first.
const GOAL_WIDTH_MIN: usize = 24;
/// A longer command is only counted.
const COMMAND_WIDTH_MAX: usize = 24;
/// The width that an ending without a command may have.
const ENDING_WIDTH_MIN: usize = 24;
/// The maximum width of a text in Markdown.
const MARKDOWN_WIDTH_MAX: usize = 200;
/// The maximum width of the name of a project.
const PROJECT_WIDTH_MAX: usize = 20;
const NO_GOAL: &str = "(no request captured)";

/// Which projects are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogScope {
    /// The current one.
    Project,
    /// All, each line with the name of its project.
    All,
}

/// The log for users, one line per session.
pub fn text(log: &SessionLog, scope: LogScope, context: &HomeContext) -> String {
    let width = line_width(context.width);
    let prefixes: Vec<[String; 3]> = log.sessions.iter().map(|one| prefix(one, scope)).collect();
    let column = |at: usize| prefixes.iter().map(|parts| parts[at].width()).max().unwrap_or(0);
    let widths = [column(0), column(1), column(2)];
    // The log is sorted by time, so sessions of one day are neighbors.
    let has_times = log.sessions.windows(2).any(|pair| day(&pair[0]) == day(&pair[1]));
    let line = |(one, parts): (&LoggedSession, &[String; 3])| {
        let padded = |at: usize| match widths[at] {
            0 => String::new(),
            width => format!("{}{}  ", parts[at], " ".repeat(width - parts[at].width())),
        };
        let time = if has_times { format!(" {}", time(one)) } else { String::new() };
        let date = format!("{}{time}  ", day(one));
        log_line(one, &date, &[padded(0), padded(1), padded(2)], width)
    };
    log.sessions.iter().zip(&prefixes).map(line).collect()
}

/// The name of the project, if it is shown, the id, and the client.
fn prefix(one: &LoggedSession, scope: LogScope) -> [String; 3] {
    let project = match scope {
        LogScope::Project => String::new(),
        LogScope::All => cut(&project_name(one), PROJECT_WIDTH_MAX),
    };
    let id = inline_name(short_id(one.session.session.as_str()));
    [project, id, one.session.client.title().to_owned()]
}

fn project_name(one: &LoggedSession) -> String {
    let name = one.root.file_name().unwrap_or(one.root.as_os_str());
    inline_name(&name.to_string_lossy())
}

fn log_line(one: &LoggedSession, date: &str, prefix: &[String; 3], width: usize) -> String {
    let [project, id, client] = prefix;
    let facts = facts(one, width);
    let whole = |facts: &[String]| match facts {
        [] => String::new(),
        facts => format!(" ({})", facts.join(", ")),
    };
    // The first form that leaves enough width for the goal.
    let mut forms = vec![(client.as_str(), whole(&facts)), ("", whole(&facts))];
    forms.extend((1..=facts.len()).map(|from| ("", whole(&facts[from..]))));
    let left = |(client, facts): &(&str, String)| {
        let used = [date, project, id, client, facts.as_str()].map(UnicodeWidthStr::width);
        width.saturating_sub(used.iter().sum())
    };
    let goal = goal(&one.session).unwrap_or_else(|| NO_GOAL.to_owned());
    let goal_width = one_line(&goal, usize::MAX).width().min(GOAL_WIDTH_MIN);
    let form = forms.iter().find(|form| left(form) >= goal_width).or(forms.last());
    let Some(form) = form else { return String::new() };
    let dim = anstyle::Style::new().dimmed();
    let goal = cut(&goal, left(form));
    format!("{dim}{date}{dim:#}{project}{id}{}{goal}{}\n", form.0, form.1)
}

fn time(one: &LoggedSession) -> String {
    let time = one.session.ended.map(|ended| ended.strftime("%H:%M").to_string());
    time.unwrap_or_else(|| " ".repeat("00:00".len()))
}

fn day(one: &LoggedSession) -> String {
    let day = one.session.ended.map(|ended| ended.strftime("%Y-%m-%d").to_string());
    day.unwrap_or_else(|| "unknown   ".to_owned())
}

/// What a session did and how it ended, least important first.
fn facts(one: &LoggedSession, width: usize) -> Vec<String> {
    let checks = |kind, verb: &str| match &of_kind(one, kind)[..] {
        [] => None,
        [only] if only.0.width() <= COMMAND_WIDTH_MAX => {
            Some(format!("{} {verb}", inline_name(&only.0)))
        }
        more => Some(format!("{} {verb}", count(more.len(), "check"))),
    };
    let failing = checks(HighlightKind::Failed, "failing");
    let passed = checks(HighlightKind::Check, "passed").filter(|_| failing.is_none());
    let commits = total(one, HighlightKind::Commit);
    let commits = (commits > 0).then(|| count(commits, "commit"));
    let is_long = |ending: &String| ending.width() > (width / 3).max(ENDING_WIDTH_MIN);
    let ending = ending(&one.session, usize::MAX);
    // Only the command that was running can make it long.
    let ending =
        ending.map(|ending| if is_long(&ending) { "stopped mid-turn".to_owned() } else { ending });
    [commits, passed, failing, ending].into_iter().flatten().collect()
}

/// The texts and details of the highlights of a kind.
fn of_kind(one: &LoggedSession, kind: HighlightKind) -> Vec<(String, Option<String>)> {
    let summary = one.session.summary.iter();
    let items = summary.flat_map(|summary| summary.of_kind(kind));
    items.map(|item| (one_line(&item.text, usize::MAX), item.detail.clone())).collect()
}

/// How many highlights of a kind there are, with those that the summary only counts.
fn total(one: &LoggedSession, kind: HighlightKind) -> usize {
    let Some(summary) = &one.session.summary else { return 0 };
    summary.of_kind(kind).count() + summary.left_out.get(&kind).copied().unwrap_or_default()
}

/// The log as Markdown that makes sense anywhere: without ids of sessions and paths of this machine.
pub fn markdown(log: &SessionLog, scope: LogScope, home: Option<&Path>) -> String {
    let names = machine_names(log, home);
    let mut out = String::new();
    let mut last_day = String::new();
    for one in &log.sessions {
        let day = day(one);
        if day != last_day {
            let space = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{space}## {}\n\n", day.trim_end()));
            last_day = day;
        }
        push_markdown(&mut out, one, scope, &names);
    }
    out
}

fn push_markdown(out: &mut String, one: &LoggedSession, scope: LogScope, names: &MachineNames) {
    let plain = |text: &str| markdown_text(&cut(&names.remove_from(text), MARKDOWN_WIDTH_MAX));
    let code = |text: &str| {
        let text = cut(&names.remove_from(text), MARKDOWN_WIDTH_MAX);
        format!("`{}`", text.replace('`', "'"))
    };
    let project = match scope {
        LogScope::Project => String::new(),
        LogScope::All => format!("**{}**: ", markdown_text(&project_name(one))),
    };
    let goal = plain(&goal(&one.session).unwrap_or_else(|| NO_GOAL.to_owned()));
    let ending = ending(&one.session, usize::MAX).map(|ending| names.remove_from(&ending));
    let ending = ending.map(|ending| format!(", {ending}")).unwrap_or_default();
    out.push_str(&format!("- {project}{goal} ({}{ending})\n", one.session.client.title()));
    for (subject, id) in of_kind(one, HighlightKind::Commit) {
        let id = id.map(|id| format!("{} ", code(&id))).unwrap_or_default();
        out.push_str(&format!("  - commit {id}{}\n", plain(&subject)));
    }
    for (kind, label) in [(HighlightKind::Failed, "failing"), (HighlightKind::Check, "passed")] {
        let checks: Vec<String> =
            of_kind(one, kind).iter().map(|(command, _)| code(command)).collect();
        if !checks.is_empty() {
            out.push_str(&format!("  - {label}: {}\n", checks.join(", ")));
        }
    }
}

/// What only means something on this machine.
fn machine_names(log: &SessionLog, home: Option<&Path>) -> MachineNames {
    let roots = log.sessions.iter().map(|one| one.root.display().to_string());
    let folders = log.sessions.iter().filter_map(|one| one.folder.clone());
    let roots: BTreeSet<String> = roots.chain(folders).collect();
    let sessions = log.sessions.iter().flat_map(|one| {
        let id = one.session.session.as_str();
        [id.to_owned(), short_id(id).to_owned()]
    });
    MachineNames {
        roots: roots.into_iter().collect(),
        home: home.map(|home| home.display().to_string()),
        sessions: sessions.collect(),
    }
}

/// A text that Markdown shows as it is.
pub(super) fn markdown_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\<[*_".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A session in the result of `midstride log --json`.
#[derive(Serialize)]
pub struct LoggedSessionJson {
    root: String,
    client: &'static str,
    session: String,
    began: Option<String>,
    ended: Option<String>,
    branch: Option<String>,
    goal: Option<String>,
    /// False if this is all that is known: the session was not captured.
    captured: bool,
    running: Option<bool>,
    ending: Option<SessionEnding>,
    commits: Vec<LoggedCommitJson>,
    passed: Vec<String>,
    failing: Vec<String>,
    changed_files: usize,
}

impl JsonItem for LoggedSessionJson {
    const LIST_SCHEMA: &'static str = "log/1";
}

#[derive(Serialize)]
struct LoggedCommitJson {
    id: Option<String>,
    subject: String,
}

/// The JSON for the log.
pub fn json(log: &SessionLog) -> JsonList<LoggedSessionJson> {
    log.sessions.iter().map(session_json).collect()
}

fn session_json(one: &LoggedSession) -> LoggedSessionJson {
    let session = &one.session;
    let summary = session.summary.as_ref();
    let texts = |kind| of_kind(one, kind).into_iter().map(|(text, _)| text).collect();
    let commits = of_kind(one, HighlightKind::Commit).into_iter();
    LoggedSessionJson {
        root: one.root.display().to_string(),
        client: session.client.name(),
        session: session.session.to_string(),
        began: summary.and_then(|summary| summary.began).map(|time| time.to_string()),
        ended: session.ended.map(|time| time.to_string()),
        branch: summary.and_then(|summary| summary.branch.clone()),
        goal: goal(session),
        captured: summary.is_some(),
        running: match session.life {
            SessionLiveness::Running => Some(true),
            SessionLiveness::Ended => Some(false),
            SessionLiveness::Unknown => None,
        },
        ending: summary.map(|summary| summary.ending),
        commits: commits.map(|(subject, id)| LoggedCommitJson { id, subject }).collect(),
        passed: texts(HighlightKind::Check),
        failing: texts(HighlightKind::Failed),
        changed_files: total(one, HighlightKind::Changed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use midstride::clients::{self, SessionLiveness};
    use midstride::verbs::LastSession;
    use midstride_core::text::id::SessionId;

    fn logged(goal: &str, failing: &[&str]) -> LoggedSession {
        let item = |kind: &str, text: &str| serde_json::json!({"kind": kind, "text": text});
        let items: Vec<_> = std::iter::once(item("goal", goal))
            .chain(failing.iter().map(|command| item("failed", command)))
            .chain([item("commit", "Cache pages"), item("running", "cargo test --workspace")])
            .collect();
        let summary = serde_json::json!({
            "version": 3, "client": "codex", "session": "s1", "digest": "", "folder": null,
            "branch": null, "ended": null, "ending": "mid-turn", "items": items, "left_out": {},
        });
        let session = LastSession {
            client: clients::ALL[0],
            session: SessionId::new("s1"),
            ended: "2026-03-21T10:00:00Z".parse().ok(),
            life: SessionLiveness::Ended,
            about: None,
            summary: serde_json::from_value(summary).unwrap(),
            reopen: None,
        };
        LoggedSession { root: "/work/shop".into(), folder: None, session }
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_or_breaks_a_word() {
        let goal = "Make the market pages of every city fast again and keep them warm";
        let sessions =
            vec![logged(goal, &["npm test"]), logged("Short", &[]), logged(goal, &["a", "b"])];
        let log = SessionLog { sessions, ..SessionLog::default() };
        for scope in [LogScope::Project, LogScope::All] {
            for width in 40..160 {
                let context = HomeContext {
                    now: "2026-03-21T17:24:00Z".parse().unwrap(),
                    home: None,
                    width: Some(width),
                };
                let text = text(&log, scope, &context);
                let text = text.replace("\u{1b}[2m", "").replace("\u{1b}[0m", "");
                assert_eq!(text.lines().count(), 3);
                for line in text.lines() {
                    assert!(line.width() <= width, "{width}: {line}");
                    let Some((before, _)) = line.split_once('…') else { continue };
                    let last = before.rsplit(' ').next().unwrap();
                    let all = format!("{goal} cargo test --workspace");
                    assert!(all.split(' ').any(|word| word == last), "{width}: {line}");
                }
            }
        }
    }
}
