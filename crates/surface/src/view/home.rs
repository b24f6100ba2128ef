//! Renders the home screen: a project at a glance, and all projects with unfinished work.

mod hints;
mod json;
mod projects;

pub use json::{HomeJson, all_json, json};
pub use projects::all_text;

use super::{count, inline_name, one_line, shell_word};
use hints::{next_command, problem_text, reopen_command};
use jiff::{SignedDuration, Timestamp};
use midstride::clients::{self, SessionLiveness};
use midstride::verbs::{
    DismissableItem, HomeScreen, LastSession, NewestSession, NextCommand, OpenHandoff,
    ReopenCommand, WaitingItem, WaitingSource,
};
use midstride_core::brief::items::SessionScope;
use midstride_core::session::checkpoint::{HighlightKind, SessionEnding, SessionSummary};
use midstride_core::session::repository::{GitOperation, WorkTreeState};
use midstride_core::session::short_id;
use midstride_core::work::task::TaskStatus;
use std::path::{Path, PathBuf};
use unicode_width::UnicodeWidthStr as _;

/// The maximum number of lines.
const LINES_MAX: usize = 24;
/// The lines of the header, the empty lines and the next command.
const FRAME_LINES: usize = 4;
/// The width of the labels on the left.
const LABEL_WIDTH: usize = 15;
/// The minimum width of the text beside them, however narrow the terminal is.
const TEXT_WIDTH_MIN: usize = 24;
/// The width without a terminal.
const WIDTH: usize = 80;
/// How many entries a section shows if there are few others.
const ENTRIES_MAX: usize = 5;
/// How many lines the open items of sessions get.
const OPEN_MAX: usize = 3;
/// A longer id is truncated, so that something of the title is visible.
const ID_WIDTH_MAX: usize = 32;

/// What the text depends on, other than the project.
#[derive(Clone, Debug)]
pub struct HomeContext {
    /// The current time.
    pub now: Timestamp,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The width of the terminal, if there is one.
    pub width: Option<usize>,
}

impl HomeContext {
    fn width(&self) -> usize {
        self.width.unwrap_or(WIDTH)
    }

    /// The width of the text beside the labels.
    fn text_width(&self) -> usize {
        self.width().saturating_sub(LABEL_WIDTH).max(TEXT_WIDTH_MIN)
    }

    /// How long ago a time was, or its date.
    fn age(&self, time: Timestamp) -> String {
        let age = self.now.duration_since(time);
        let ago = |number: i64, noun| {
            format!("{} ago", count(usize::try_from(number).unwrap_or_default(), noun))
        };
        match (age.as_mins(), age.as_hours()) {
            _ if age.is_negative() || age > SignedDuration::from_hours(14 * 24) => {
                time.strftime("%Y-%m-%d").to_string()
            }
            (0, _) => "just now".to_owned(),
            (minutes, 0) => ago(minutes, "minute"),
            (_, hours @ 1..48) => ago(hours, "hour"),
            (_, hours) => ago(hours / 24, "day"),
        }
    }

    /// A path with `~` for the home folder, truncated at its start.
    fn path(&self, path: &Path, width: usize) -> String {
        let below = self.home.as_ref().and_then(|home| path.strip_prefix(home).ok());
        let shown = match below {
            Some(below) if below.as_os_str().is_empty() => PathBuf::from("~"),
            Some(below) => Path::new("~").join(below),
            None => path.to_owned(),
        };
        let shown = inline_name(&shown.display().to_string());
        let parts: Vec<&str> = shown.split('/').collect();
        let tails = (1..parts.len()).map(|at| format!("…/{}", parts[at..].join("/")));
        let mut shorter = std::iter::once(shown.clone()).chain(tails);
        let is_short = |path: &String| path.width() <= width;
        shorter.find(is_short).unwrap_or_else(|| one_line(&shown, width))
    }
}

/// A labeled part of the screen.
struct HomeSection {
    label: &'static str,
    entries: Vec<String>,
    /// How many entries are shown, if not all are.
    shown: usize,
    /// The command that lists all of them.
    list_command: &'static str,
}

impl HomeSection {
    fn new(label: &'static str, entries: Vec<String>, list_command: &'static str) -> Self {
        Self { label, entries, shown: ENTRIES_MAX, list_command }
    }

    /// How many lines it takes. The count of the others takes one, so the last entry is shown
    /// instead if it is the only other one.
    fn lines(&self) -> usize {
        self.entries.len().min(self.shown + 1)
    }

    fn render(&self, width: usize) -> String {
        let is_whole = self.entries.len() <= self.lines();
        let shown = if is_whole { self.entries.len() } else { self.shown };
        let more = self.entries.len() - shown;
        let to_list = match self.list_command {
            "" => String::new(),
            command => format!(": {command}"),
        };
        let more = (more > 0).then(|| format!("and {more} more{to_list}"));
        let mut out = String::new();
        for (at, line) in self.entries.iter().take(shown).chain(&more).enumerate() {
            let label = if at == 0 { self.label } else { "" };
            let style = anstyle::Style::new();
            let style = if at == 0 { style.bold() } else { style };
            let space = " ".repeat(LABEL_WIDTH.saturating_sub(label.len()));
            out.push_str(&format!("{style}{label}{style:#}{space}{}\n", cut(line, width)));
        }
        out
    }
}

/// The home screen of a project.
pub fn text(home: &HomeScreen, context: &HomeContext) -> String {
    let width = context.text_width();
    let mut sections = sections(home, context);
    let total = |sections: &[HomeSection]| sections.iter().map(HomeSection::lines).sum::<usize>();
    while total(&sections) > LINES_MAX - FRAME_LINES {
        let longest = sections.iter_mut().filter(|one| !one.list_command.is_empty());
        let longest = longest.filter(|one| one.shown > 1 && one.entries.len() > one.shown.min(2));
        let Some(longest) = longest.max_by_key(|one| one.lines()) else { break };
        longest.shown -= 1;
    }
    let branch = home.branch.as_deref().map(|name| format!(" on {}", inline_name(name)));
    let branch = branch.unwrap_or_default();
    let path = context.path(&home.root, context.width().saturating_sub(branch.width()));
    let title = format!("{path}{branch}");
    let mut out = format!("{}\n", cut(&title, context.width()));
    if total(&sections) > 0 {
        out.push('\n');
    }
    for section in &sections {
        out.push_str(&section.render(width));
    }
    out.push_str(&format!("\n{}\n", next_line(home, context)));
    out
}

fn sections(home: &HomeScreen, context: &HomeContext) -> Vec<HomeSection> {
    let width = context.text_width();
    let fixed = |label, lines: Vec<String>| HomeSection {
        shown: usize::MAX - 1,
        ..HomeSection::new(label, lines, "")
    };
    let last = home.last_session.as_ref();
    let reopen = last.and_then(|last| last.reopen.as_ref());
    let reopen = reopen.map(|reopen| reopen_lines(reopen, context)).unwrap_or_default();
    // A session that cannot be reopened can still be read.
    let details = last.filter(|last| last.reopen.is_none() && last.summary.is_some());
    let details = details.map(|last| {
        format!("midstride session show {}", shell_word(short_id(last.session.as_str())))
    });
    let newest =
        home.newest_session.as_ref().map(|newest| newest_line(&newest.summary, home, context));
    let goal = last.and_then(goal).map(|goal| one_line(&goal, usize::MAX));
    let action = home.next_action.as_ref().map(|action| {
        if goal == Some(one_line(&action.text, usize::MAX)) {
            return "finish the request above".to_owned();
        }
        let source = format!(" ({})", inline_name(&action.source));
        let text = cut(&action.text, width.saturating_sub(source.width()));
        format!("{text}{source}")
    });
    let failing = home.failing.iter().map(|check| {
        let error = check.error.as_deref().map(|error| format!(": {}", one_line(error, width)));
        format!("{}{}", one_line(&check.command, width), error.unwrap_or_default())
    });
    let uncommitted = home.work_tree.as_ref().and_then(|tree| uncommitted_line(tree, width));
    let open: Vec<_> = home.open.iter().map(open_row).collect();
    let waiting: Vec<_> = home.waiting.iter().map(waiting_row).collect();
    let handoffs: Vec<_> = home.handoffs.iter().map(handoff_row).collect();
    let tasks = home.tasks.iter().map(|task| {
        let is_started = task.status == TaskStatus::InProgress;
        let state = if is_started { " (in progress)" } else { "" };
        (inline_name(&task.name), format!("{}{state}", one_line(&task.subject, usize::MAX)))
    });
    let problems = home.problems.iter().map(|problem| {
        let (message, fix) = problem_text(problem);
        format!("{message}: {fix}")
    });
    let all = vec![
        fixed(
            last_label(home.newest_session.as_ref()),
            last.map(|last| session_lines(last, context)).unwrap_or_default(),
        ),
        fixed("Reopen", reopen),
        fixed("Details", details.into_iter().collect()),
        fixed("Newest session", newest.into_iter().collect()),
        fixed("Next action", action.into_iter().collect()),
        HomeSection::new("Failing", failing.collect(), "midstride brief"),
        fixed("Uncommitted", uncommitted.into_iter().collect()),
        HomeSection {
            shown: OPEN_MAX - 1,
            ..HomeSection::new("Open", aligned(&open), "midstride dismiss")
        },
        HomeSection::new("Waiting on you", aligned(&waiting), "midstride status --json"),
        HomeSection::new("Handoffs", aligned(&handoffs), "midstride list"),
        HomeSection::new("Tasks", aligned(&tasks.collect::<Vec<_>>()), "midstride task list"),
        HomeSection::new("Problems", problems.collect(), "midstride doctor"),
    ];
    all.into_iter().filter(|section| !section.entries.is_empty()).collect()
}

/// Rows of an id and a text, with the texts below each other.
fn aligned(rows: &[(String, String)]) -> Vec<String> {
    // Rows that are not shown do not count.
    let widths = rows.iter().take(ENTRIES_MAX + 1).map(|(id, _)| id.width().min(ID_WIDTH_MAX));
    let width = widths.max().unwrap_or_default();
    let row = |(id, text): &(String, String)| {
        let id = cut_middle(id, ID_WIDTH_MAX);
        let space = " ".repeat(width.saturating_sub(id.width()) + 2);
        format!("{id}{space}{text}")
    };
    rows.iter().map(row).collect()
}

/// The first line of a text, truncated between two words where possible.
pub(super) fn cut(text: &str, width: usize) -> String {
    let whole = one_line(text, usize::MAX);
    if whole.width() <= width {
        return whole;
    }
    let short = one_line(text, width);
    let end = short.rfind(' ').filter(|end| short[*end..].width() <= width / 2);
    end.map_or(short.clone(), |end| format!("{}…", short[..end].trim_end_matches([' ', ',', ';'])))
}

/// An id, truncated in the middle: similar ids often differ at their end.
fn cut_middle(id: &str, width: usize) -> String {
    if id.width() <= width {
        return id.to_owned();
    }
    let half = width / 2;
    let tails = id.char_indices().map(|(at, _)| &id[at..]);
    let tail = tails.into_iter().find(|tail| tail.width() <= width - half).unwrap_or_default();
    format!("{}{tail}", one_line(id, half))
}

/// What the last session was, what it was about and what it did.
fn session_lines(last: &LastSession, context: &HomeContext) -> Vec<String> {
    let mut parts = vec![last.client.title().to_owned()];
    parts.extend(last.ended.map(|ended| context.age(ended)));
    let used = parts.iter().map(|part| part.width() + 2).sum();
    parts.extend(ending(last, context.text_width().saturating_sub(used)));
    let work = last.summary.as_ref().and_then(work_done);
    std::iter::once(parts.join(", ")).chain(goal(last)).chain(work).collect()
}

/// The label of the last session: where it is the last one.
fn last_label(newest: Option<&NewestSession>) -> &'static str {
    match newest.map(|newest| newest.scope) {
        None => "Last session",
        Some(SessionScope::Branch) => "Last on branch",
        Some(SessionScope::WorkTree | SessionScope::Folder) => "Last here",
    }
}

/// The newest session where it is not the one above.
fn newest_line(summary: &SessionSummary, home: &HomeScreen, context: &HomeContext) -> String {
    let short = inline_name(short_id(summary.session.as_str()));
    let mut parts = vec![format!("{} {short}", clients::title(summary.client.as_str()))];
    parts.extend(summary.ended.map(|ended| context.age(ended)));
    let branch = summary.branch.as_deref().filter(|theirs| Some(*theirs) != home.branch.as_deref());
    parts.extend(branch.map(|branch| format!("on {}", inline_name(branch))));
    let title = summary.title().map(|title| format!(": {}", one_line(&title, usize::MAX)));
    format!("{}{}", parts.join(", "), title.unwrap_or_default())
}

/// What a session was about.
pub(super) fn goal(last: &LastSession) -> Option<String> {
    let goal = last.summary.as_ref().and_then(SessionSummary::title);
    goal.or_else(|| last.about.clone())
}

/// How a session ended, if it is known.
pub(super) fn ending(last: &LastSession, width: usize) -> Option<String> {
    if last.life == SessionLiveness::Running {
        return Some("running".to_owned());
    }
    let summary = last.summary.as_ref()?;
    let running = summary.of_kind(HighlightKind::Running).next();
    match (summary.ending, running) {
        (SessionEnding::Completed, _) => Some("completed".to_owned()),
        (SessionEnding::Asked, _) => Some("ended with a question".to_owned()),
        (SessionEnding::MidTurn, Some(call)) => {
            let words = "stopped while `` was running".len();
            let command = one_line(&call.text, width.saturating_sub(words));
            Some(format!("stopped while `{command}` was running"))
        }
        (SessionEnding::MidTurn, None) => Some("stopped mid-turn".to_owned()),
        (SessionEnding::Interrupted, _) => Some("interrupted".to_owned()),
        (SessionEnding::Failed, _) => Some("stopped by an API error".to_owned()),
        (SessionEnding::Unknown | SessionEnding::Nothing, _) => None,
    }
}

/// What a session did, as counts.
fn work_done(summary: &SessionSummary) -> Option<String> {
    let number = |kind: HighlightKind| {
        summary.of_kind(kind).count() + summary.left_out.get(&kind).copied().unwrap_or_default()
    };
    let counted = [
        (HighlightKind::Commit, "commit"),
        (HighlightKind::Changed, "changed file"),
        (HighlightKind::Effect, "outside effect"),
    ];
    let counted = counted.map(|(kind, noun)| (number(kind), noun));
    let counted = counted.into_iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = counted.map(|(number, noun)| count(number, noun)).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The command that reopens a session, in lines that fit. A command is never truncated.
fn reopen_lines(reopen: &ReopenCommand, context: &HomeContext) -> Vec<String> {
    let command = reopen_command(reopen);
    match &reopen.folder {
        Some(folder) if command.width() > context.text_width() => {
            let words = ReopenCommand { folder: None, ..reopen.clone() };
            vec![
                format!("in {}:", context.path(folder, context.text_width() - 4)),
                reopen_command(&words),
            ]
        }
        _ => vec![command],
    }
}

/// The uncommitted files that fit into a line, and the number of the others.
fn uncommitted_line(tree: &WorkTreeState, width: usize) -> Option<String> {
    let operation = tree.operation.map(|operation| match operation {
        GitOperation::Merge => "merge in progress",
        GitOperation::Rebase => "rebase in progress",
        GitOperation::CherryPick => "cherry-pick in progress",
        GitOperation::Revert => "revert in progress",
        GitOperation::Bisect => "bisect in progress",
    });
    let total = tree.uncommitted.len() + tree.more;
    let mut line = match (operation, total) {
        (None, 0) => return None,
        (Some(operation), 0) => return Some(operation.to_owned()),
        (operation, _) => {
            let operation = operation.map(|text| format!("{text}; ")).unwrap_or_default();
            format!("{operation}{}", count(total, "file"))
        }
    };
    for (at, file) in tree.uncommitted.iter().enumerate() {
        let longer =
            format!("{line}{} {}", if at == 0 { ":" } else { "," }, inline_name(&file.path));
        let is_last = at + 1 == total;
        if longer.width() + if is_last { 0 } else { 3 } > width {
            line.push_str(if at == 0 { "" } else { ", …" });
            break;
        }
        line = longer;
    }
    Some(line)
}

fn waiting_row(item: &WaitingItem) -> (String, String) {
    let id = match &item.source {
        WaitingSource::Question { short_key, number, .. } => format!("{short_key} q{number}"),
        WaitingSource::Session(session) => format!("session {}", short_id(session.as_str())),
        WaitingSource::Task(name) => name.clone(),
        WaitingSource::Review { short_key, .. } => short_key.clone(),
    };
    let text = match &item.source {
        WaitingSource::Review { .. } => format!("review: {}", one_line(&item.text, usize::MAX)),
        WaitingSource::Question { .. } | WaitingSource::Session(_) | WaitingSource::Task(_) => {
            one_line(&item.text, usize::MAX)
        }
    };
    let owner = item.owner.as_deref().map(|owner| format!("for {}: ", one_line(owner, 20)));
    (inline_name(&id), format!("{}{text}", owner.unwrap_or_default()))
}

fn open_row(item: &DismissableItem) -> (String, String) {
    (item.handle.clone(), format!("{}: {}", item.kind, one_line(&item.text, usize::MAX)))
}

fn handoff_row(handoff: &OpenHandoff) -> (String, String) {
    let title = one_line(handoff.title.as_deref().unwrap_or("(no title)"), usize::MAX);
    let note = if handoff.is_note { " (note)" } else { "" };
    (inline_name(&handoff.short_key), format!("{title}{note}"))
}

/// The last line. A command is never truncated; a list names what does not fit.
fn next_line(home: &HomeScreen, context: &HomeContext) -> String {
    let line = format!("Next: {}", next_command(home));
    if line.width() <= context.width() {
        return line;
    }
    match home.next {
        NextCommand::Reopen => "Next: reopen the last session (see above)".to_owned(),
        NextCommand::Answer { .. } => "Next: midstride list --blocked".to_owned(),
        NextCommand::Init
        | NextCommand::Trust
        | NextCommand::Brief
        | NextCommand::Recover
        | NextCommand::Setup
        | NextCommand::Advance { .. }
        | NextCommand::ShowHandoff(_)
        | NextCommand::ShowTask(_)
        | NextCommand::New => "Next: midstride list".to_owned(),
    }
}
