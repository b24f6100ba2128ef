//! The mission: what was captured, and what the tasks and handoffs tell now.

use super::{count, one_line};
use midstride::project::{Project, Shelved};
use midstride_core::mission::{AGENT, Mission, Standing};
use midstride_core::task::{Task, TaskStatus, Tasks};
use midstride_core::time;
use serde::Serialize;

use super::task::OpenQuestion;

/// So many tasks are named in a line; the rest is counted.
const NAMED_MAX: usize = 10;

#[derive(Serialize)]
pub(crate) struct MissionJson {
    subject: String,
    created_at: Option<String>,
    by: Option<String>,
    mode: Option<String>,
    decisions: Vec<String>,
    questions: Vec<String>,
    next: Vec<String>,
}

#[derive(Serialize)]
pub(crate) struct BriefJson {
    #[serde(flatten)]
    mission: MissionJson,
    completed: usize,
    in_progress: Vec<InFlightJson>,
    blocked: Vec<String>,
    waiting_on: Vec<String>,
    pending: Vec<String>,
    binding_decisions: Vec<QuotedJson>,
    open_questions: Vec<QuotedJson>,
}

#[derive(Serialize)]
struct InFlightJson {
    id: String,
    agent_id: Option<String>,
}

/// What a handoff says.
#[derive(Serialize)]
struct QuotedJson {
    handoff: String,
    number: Option<usize>,
    blocking: Option<bool>,
    text: String,
}

/// Everything a briefing is made of.
pub(crate) struct Briefing<'a> {
    pub(crate) mission: Option<&'a Mission>,
    pub(crate) tasks: &'a Tasks,
    pub(crate) binding: Vec<Binding>,
    pub(crate) questions: Vec<OpenQuestion<'a>>,
}

/// A decision that a successor may not depart from, and where it stands.
pub(crate) struct Binding {
    handoff: String,
    text: String,
}

/// The binding decisions of open handoffs.
pub(crate) fn binding(project: &Project, all: &[Shelved]) -> Vec<Binding> {
    let open = all.iter().map(|shelved| shelved.handoff(project));
    let open = open.filter(|handoff| handoff.status().is_open());
    open.flat_map(|handoff| {
        let key = handoff.key().to_string();
        let binding = handoff.decisions().into_iter().filter(|decision| decision.binding);
        let texts = binding.filter_map(|decision| Some(decision.decision?.value.to_owned()));
        texts.map(|text| Binding { handoff: key.clone(), text }).collect::<Vec<_>>()
    })
    .collect()
}

/// `MISSION STATE - 2026-03-21T17:24:00Z`.
fn subject(mission: Option<&Mission>) -> String {
    let when = mission.map_or_else(|| "not captured".to_owned(), |state| time::write(state.at));
    format!("MISSION STATE - {when}")
}

pub(crate) fn mission_json(mission: Option<&Mission>) -> MissionJson {
    MissionJson {
        subject: subject(mission),
        created_at: mission.map(|state| time::write(state.at)),
        by: mission.map(|state| state.by.clone()),
        mode: mission.and_then(|state| state.mode.clone()),
        decisions: mission.map(|state| state.decisions.clone()).unwrap_or_default(),
        questions: mission.map(|state| state.questions.clone()).unwrap_or_default(),
        next: mission.map(|state| state.next.clone()).unwrap_or_default(),
    }
}

pub(crate) fn json(briefing: &Briefing<'_>) -> BriefJson {
    let standing = Standing::of(briefing.tasks);
    let shorts = |list: &[&Task]| list.iter().map(|task| task.id.short()).collect();
    BriefJson {
        mission: mission_json(briefing.mission),
        completed: standing.completed,
        in_progress: standing
            .in_progress
            .iter()
            .map(|task| InFlightJson {
                id: task.id.short(),
                agent_id: task.metadata.get(AGENT).cloned(),
            })
            .collect(),
        blocked: shorts(&standing.blocked),
        waiting_on: standing.awaited.iter().map(|awaited| awaited.id.short()).collect(),
        pending: shorts(&standing.pending),
        binding_decisions: briefing
            .binding
            .iter()
            .map(|binding| QuotedJson {
                handoff: binding.handoff.clone(),
                number: None,
                blocking: None,
                text: binding.text.clone(),
            })
            .collect(),
        open_questions: briefing
            .questions
            .iter()
            .map(|open| QuotedJson {
                handoff: open.handoff.clone(),
                number: Some(open.number),
                blocking: Some(open.question.blocking),
                text: open.question.question.map_or_else(String::new, |t| t.value.to_owned()),
            })
            .collect(),
    }
}

/// The briefing of whoever takes the mission over.
pub(crate) fn text(briefing: &Briefing<'_>) -> String {
    let standing = Standing::of(briefing.tasks);
    let mode = briefing.mission.and_then(|state| state.mode.as_deref());
    let mode = mode.map_or_else(String::new, |mode| format!(", mode {}", plain(mode)));
    let by = briefing
        .mission
        .map_or_else(String::new, |state| format!("\nCaptured by {}{mode}\n", plain(&state.by)));
    [
        format!("# {}\n{by}\n## Mission Handoff\n", subject(briefing.mission)),
        status_summary(&standing),
        section("Key Decisions", &decisions(briefing)),
        section("Open Questions", &questions(briefing)),
        next_actions(briefing, &standing),
        resumption(&standing),
    ]
    .join("\n")
}

/// Text in one line, as data.
fn plain(text: &str) -> String {
    one_line(&text.split_whitespace().collect::<Vec<_>>().join(" "), usize::MAX)
}

fn section(name: &str, lines: &[String]) -> String {
    let lines: String = match lines {
        [] => "- None currently\n".to_owned(),
        lines => lines.iter().map(|line| format!("- {line}\n")).collect(),
    };
    format!("### {name}\n{lines}")
}

fn status_summary(standing: &Standing<'_>) -> String {
    let details = |list: Vec<String>| match list.as_slice() {
        [] => String::new(),
        list => format!(" ({})", list.join("; ")),
    };
    let waiting = match standing.awaited.as_slice() {
        [] => None,
        some => {
            let ids: Vec<String> = some.iter().map(|awaited| awaited.id.short()).collect();
            Some(format!("waiting on {}", named(&ids, ", ")))
        }
    };
    let reasons = standing
        .blocked
        .iter()
        .filter_map(|task| Some(format!("{}: {}", task.id, plain(task.reason.as_deref()?))));
    let reasons: Vec<String> = reasons.collect();
    let reasons = (!reasons.is_empty()).then(|| named(&reasons, "; "));
    let flight: Vec<String> = standing.in_progress.iter().map(|task| in_flight(task)).collect();
    let flight = if flight.is_empty() { Vec::new() } else { vec![named(&flight, "; ")] };
    section(
        "Status Summary",
        &[
            format!("Completed: {}", count(standing.completed, "task")),
            format!(
                "In Progress: {}{}",
                count(standing.in_progress.len(), "task"),
                details(flight)
            ),
            format!(
                "Blocked: {}{}",
                count(standing.blocked.len(), "task"),
                details(waiting.into_iter().chain(reasons).collect())
            ),
            format!("Pending: {}", count(standing.pending.len(), "task")),
        ],
    )
}

/// `t-004, agent abc123`.
fn in_flight(task: &Task) -> String {
    match task.metadata.get(AGENT) {
        Some(agent) => format!("{}, agent {}", task.id, plain(agent)),
        None => task.id.short(),
    }
}

/// A few names, and how many more there are.
fn named(names: &[String], between: &str) -> String {
    let shown = names.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(between);
    match names.len().saturating_sub(NAMED_MAX) {
        0 => shown,
        more => format!("{shown}{between}and {more} more, see `midstride task list`"),
    }
}

fn decisions(briefing: &Briefing<'_>) -> Vec<String> {
    let own = briefing.mission.map(|state| state.decisions.as_slice()).unwrap_or_default();
    let quoted = briefing.binding.iter().map(|binding| {
        format!("`{}` binds: \"{}\"", plain(&binding.handoff), plain(&binding.text))
    });
    own.iter().map(|text| plain(text)).chain(quoted).collect()
}

fn questions(briefing: &Briefing<'_>) -> Vec<String> {
    let own = briefing.mission.map(|state| state.questions.as_slice()).unwrap_or_default();
    let quoted = briefing.questions.iter().map(|open| {
        let text = open.question.question.map_or("(no text)", |text| text.value);
        let blocks = if open.question.blocking { " blocks" } else { " asks" };
        format!("`{}`{blocks}: \"{}\"", plain(&open.id), plain(text))
    });
    own.iter().map(|text| plain(text)).chain(quoted).collect()
}

/// What was captured; else what the tasks suggest.
fn next_actions(briefing: &Briefing<'_>, standing: &Standing<'_>) -> String {
    let said = briefing.mission.map(|state| state.next.as_slice()).unwrap_or_default();
    let actions: Vec<String> = match said {
        [] => suggested(briefing.tasks, standing),
        said => said.iter().map(|text| plain(text)).collect(),
    };
    let numbered = (1..).zip(actions).map(|(number, text)| format!("{number}. {text}\n"));
    format!("### Next Actions\nWhen resuming:\n{}", numbered.collect::<String>())
}

fn suggested(tasks: &Tasks, standing: &Standing<'_>) -> Vec<String> {
    let mut actions = Vec::new();
    for task in standing.in_progress.iter().take(NAMED_MAX) {
        let who = if task.metadata.contains_key(AGENT) { "agent completed" } else { "is done" };
        actions.push(format!("Check if {} {who}", task.id));
        let follow = tasks.iter().filter(|other| {
            other.status == TaskStatus::Pending && other.depends_on.contains(&task.id)
        });
        let follow: Vec<String> = follow.map(|other| other.id.short()).collect();
        if !follow.is_empty() {
            let follow = named(&follow, ", ");
            actions.push(format!(
                "If complete, verify, then `midstride task done {}` unblocks {follow}",
                task.id
            ));
        }
    }
    if standing.in_progress.len() > NAMED_MAX {
        let more = standing.in_progress.len() - NAMED_MAX;
        actions.push(format!("Check {more} more, see `midstride task list --status in_progress`"));
    }
    actions.push("Begin what `midstride task ready` lists".to_owned());
    actions
}

fn resumption(standing: &Standing<'_>) -> String {
    let flight: Vec<String> = standing
        .in_progress
        .iter()
        .map(|task| match task.metadata.get(AGENT) {
            Some(agent) => format!("{} (agent {})", task.id, plain(agent)),
            None => task.id.short(),
        })
        .collect();
    let flight = match flight.as_slice() {
        [] => "none".to_owned(),
        flight => format!("{} - check for completion", named(flight, ", ")),
    };
    format!(
        "## Handoff Complete\n\n\
         State captured in the task system. To resume:\n\n\
         1. Run `midstride brief --as mission` (in another clone `midstride sync` first)\n\
         2. `midstride task list` tells where every task stands, `midstride task ready` what can be begun\n\
         3. Coordination continues from where we left off\n\n\
         **In-flight work:** {flight}\n"
    )
}

/// The states that were captured with what each said, the newest first; only the first one counts.
pub(crate) fn history(states: &[Mission]) -> String {
    let told = |(index, state): (usize, &Mission)| {
        let active = if index == 0 { "  (active)" } else { "" };
        let mode = state.mode.as_deref();
        let mode = mode.map_or_else(String::new, |mode| format!(", mode {}", plain(mode)));
        let parts = [
            ("Decisions", &state.decisions),
            ("Questions", &state.questions),
            ("Next", &state.next),
        ];
        let parts: String = parts.iter().map(|(name, texts)| numbered(name, texts)).collect();
        let by = plain(&state.by);
        format!("{}  by {by}{mode}{active}\n{parts}", subject(Some(state)))
    };
    states.iter().rev().enumerate().map(told).collect::<Vec<_>>().join("\n")
}

/// A name with numbered lines below it; nothing where there are none.
fn numbered(name: &str, texts: &[String]) -> String {
    if texts.is_empty() {
        return String::new();
    }
    let lines = (1..).zip(texts).map(|(number, text)| format!("    {number}. {}\n", plain(text)));
    format!("  {name}\n{}", lines.collect::<String>())
}
