//! Renders the mission: the captured state, and the current tasks and handoffs.

use super::{count, one_line};
use crate::json::{JsonAnswer, JsonItem};
use midstride::verbs::InFlightAgent;
use midstride::workspace::{StoredHandoff, Workspace};
use midstride_core::format::header::HandoffKind;
use midstride_core::text::time;
use midstride_core::work::mission::{AGENT, Mission, OWNER, TaskOverview};
use midstride_core::work::task::{Task, TaskStatus, Tasks};
use serde::Serialize;

use super::task::OpenQuestion;

/// The maximum number of tasks named in a line; the rest are counted.
const NAMED_MAX: usize = 10;

/// A captured mission state.
#[derive(Serialize)]
pub struct MissionJson {
    subject: String,
    created_at: Option<String>,
    by: Option<String>,
    mode: Option<String>,
    iteration: Option<u64>,
    decisions: Vec<String>,
    questions: Vec<String>,
    next: Vec<String>,
}

impl JsonItem for MissionJson {
    const LIST_SCHEMA: &'static str = "missions/1";
}

impl JsonAnswer for MissionJson {
    const SCHEMA: &'static str = "mission/1";
}

/// A mission briefing: the mission state, tasks, agents, decisions and questions.
#[derive(Serialize)]
pub struct MissionBriefJson {
    #[serde(flatten)]
    mission: MissionJson,
    completed: usize,
    in_progress: Vec<InProgressTaskJson>,
    blocked: Vec<String>,
    waiting_on: Vec<String>,
    pending: Vec<String>,
    agents: Vec<TasklessAgentJson>,
    binding_decisions: Vec<QuoteJson>,
    open_questions: Vec<QuoteJson>,
}

impl JsonAnswer for MissionBriefJson {
    const SCHEMA: &'static str = "mission-brief/1";
}

#[derive(Serialize)]
struct InProgressTaskJson {
    id: String,
    name: String,
    agent_id: Option<String>,
    owner: Option<String>,
}

/// An agent in flight that is not working on a task.
#[derive(Serialize)]
struct TasklessAgentJson {
    id: Option<String>,
    about: Option<String>,
}

/// A decision or question quoted from a handoff.
#[derive(Serialize)]
struct QuoteJson {
    handoff: String,
    number: Option<usize>,
    blocking: Option<bool>,
    text: String,
}

/// The input for a mission briefing.
pub struct MissionBriefing<'a> {
    /// The newest mission state, if one was captured.
    pub mission: Option<&'a Mission>,
    /// The tasks of the project.
    pub tasks: &'a Tasks,
    /// The agents that are still running.
    pub agents: &'a [InFlightAgent],
    /// The decisions to include, see [`open_decisions`].
    pub decisions: Vec<HandoffDecision>,
    /// The questions to include.
    pub questions: Vec<OpenQuestion<'a>>,
}

/// A decision of a handoff.
pub struct HandoffDecision {
    handoff: String,
    binding: bool,
    text: String,
    /// Whether to omit the handoff's name, because the page is about that handoff.
    omits_handoff: bool,
}

impl HandoffDecision {
    /// The decision without the name of its handoff.
    pub(crate) fn without_handoff(self) -> Self {
        Self { omits_handoff: true, ..self }
    }
}

/// The decisions of open handoffs: binding ones, and all decisions of session handoffs.
pub fn open_decisions(workspace: &Workspace, all: &[StoredHandoff]) -> Vec<HandoffDecision> {
    let open = all.iter().map(|stored| stored.handoff(workspace));
    let open = open.filter(|handoff| handoff.status().is_open());
    open.flat_map(|handoff| {
        let key = handoff.key().to_string();
        let is_session = handoff.kind() == HandoffKind::Session;
        let decisions = handoff.decisions().into_iter();
        let relevant = decisions.filter(|decision| decision.binding || is_session);
        let one = |(text, binding): (String, bool)| HandoffDecision {
            handoff: key.clone(),
            binding,
            text,
            omits_handoff: false,
        };
        let texts = relevant
            .filter_map(|decision| Some((decision.decision?.value.to_owned(), decision.binding)));
        texts.map(one).collect::<Vec<_>>()
    })
    .collect()
}

/// `MISSION STATE - 2026-03-21T17:24:00Z`.
fn subject(mission: Option<&Mission>) -> String {
    let when =
        mission.map_or_else(|| "not captured".to_owned(), |state| time::format_time(state.at));
    format!("MISSION STATE - {when}")
}

/// The JSON for a mission state; `None` gives one without content.
pub fn mission_json(mission: Option<&Mission>) -> MissionJson {
    MissionJson {
        subject: subject(mission),
        created_at: mission.map(|state| time::format_time(state.at)),
        by: mission.map(|state| state.by.clone()),
        mode: mission.and_then(|state| state.mode.clone()),
        iteration: mission.and_then(|state| state.iteration),
        decisions: mission.map(|state| state.decisions.clone()).unwrap_or_default(),
        questions: mission.map(|state| state.questions.clone()).unwrap_or_default(),
        next: mission.map(|state| state.next.clone()).unwrap_or_default(),
    }
}

/// The JSON for a mission briefing.
pub fn json(briefing: &MissionBriefing<'_>) -> MissionBriefJson {
    let standing = TaskOverview::from_tasks(briefing.tasks);
    let shorts = |list: &[&Task]| list.iter().map(|task| task.id.short()).collect();
    MissionBriefJson {
        mission: mission_json(briefing.mission),
        completed: standing.completed,
        in_progress: standing
            .in_progress
            .iter()
            .map(|task| InProgressTaskJson {
                id: task.id.short(),
                name: briefing.tasks.display_name(task),
                agent_id: task.metadata.get(AGENT).cloned(),
                owner: task.metadata.get(OWNER).cloned(),
            })
            .collect(),
        blocked: shorts(&standing.blocked),
        waiting_on: standing.awaited.iter().map(|awaited| awaited.id.short()).collect(),
        pending: shorts(&standing.pending),
        agents: briefing
            .taskless_agents()
            .map(|agent| TasklessAgentJson { id: agent.id.clone(), about: agent.about.clone() })
            .collect(),
        binding_decisions: briefing
            .decisions
            .iter()
            .filter(|decided| decided.binding)
            .map(|binding| QuoteJson {
                handoff: binding.handoff.clone(),
                number: None,
                blocking: None,
                text: binding.text.clone(),
            })
            .collect(),
        open_questions: briefing
            .questions
            .iter()
            .map(|open| QuoteJson {
                handoff: open.handoff.clone(),
                number: Some(open.number),
                blocking: Some(open.question.blocking),
                text: open.question.question.map_or_else(String::new, |t| t.value.to_owned()),
            })
            .collect(),
    }
}

/// The briefing for the session that resumes the mission.
pub fn text(briefing: &MissionBriefing<'_>) -> String {
    let mode = |state: &Mission| {
        let mode = state.mode.as_deref().map(|mode| format!(", mode {}", plain(mode)));
        let iteration = state.iteration.map(|number| format!(", iteration {number}"));
        mode.unwrap_or_default() + &iteration.unwrap_or_default()
    };
    let by = briefing.mission.map_or_else(String::new, |state| {
        format!("\nCaptured by {}{}\n", plain(&state.by), mode(state))
    });
    let title = format!("# {}\n{by}", subject(briefing.mission));
    [title, handoff_section(briefing), resume_section(briefing)].join("\n")
}

/// The state of the work: tasks, decisions, questions, next actions.
pub(crate) fn handoff_section(briefing: &MissionBriefing<'_>) -> String {
    let standing = TaskOverview::from_tasks(briefing.tasks);
    [
        "## Mission Handoff\n".to_owned(),
        status_summary(briefing.tasks, &standing),
        section("Key Decisions", &decisions(briefing)),
        section("Open Questions", &questions(briefing)),
        next_actions(briefing, &standing),
    ]
    .join("\n")
}

impl MissionBriefing<'_> {
    /// The agents in flight that no task names.
    fn taskless_agents(&self) -> impl Iterator<Item = &InFlightAgent> {
        let named = |agent: &InFlightAgent| {
            let is_its = |task: &Task| task.metadata.get(AGENT) == agent.id.as_ref();
            agent.id.is_some() && self.tasks.iter().any(is_its)
        };
        self.agents.iter().filter(move |agent| !named(agent))
    }
}

/// A text in one line, without formatting.
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

fn status_summary(tasks: &Tasks, standing: &TaskOverview<'_>) -> String {
    let details = |list: Vec<String>| match list.as_slice() {
        [] => String::new(),
        list => format!(" ({})", list.join("; ")),
    };
    let awaited: Vec<String> =
        standing.awaited.iter().map(|awaited| tasks.display_name_of(awaited.id)).collect();
    let waiting =
        (!awaited.is_empty()).then(|| format!("waiting on {}", name_list(&awaited, ", ")));
    let reasons = standing.blocked.iter().filter_map(|task| {
        Some(format!("{}: {}", tasks.display_name(task), plain(task.reason.as_deref()?)))
    });
    let reasons: Vec<String> = reasons.collect();
    let reasons = (!reasons.is_empty()).then(|| name_list(&reasons, "; "));
    let flight: Vec<String> = standing
        .in_progress
        .iter()
        .map(|task| tasks.display_name(task) + &worker_text(task, ", ", ""))
        .collect();
    let flight = if flight.is_empty() { Vec::new() } else { vec![name_list(&flight, "; ")] };
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

/// The agent of a task, or else its owner.
fn worker_text(task: &Task, before: &str, after: &str) -> String {
    let who = super::task::worker(task).map(|who| format!("{before}{who}{after}"));
    who.unwrap_or_default()
}

/// The first few names, and how many more there are.
fn name_list(names: &[String], between: &str) -> String {
    let shown = names.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(between);
    match names.len().saturating_sub(NAMED_MAX) {
        0 => shown,
        more => format!("{shown}{between}and {more} more, see `midstride task list`"),
    }
}

fn decisions(briefing: &MissionBriefing<'_>) -> Vec<String> {
    let own = briefing.mission.map(|state| state.decisions.as_slice()).unwrap_or_default();
    let is_new = |decided: &&HandoffDecision| !own.contains(&decided.text);
    let quoted = briefing.decisions.iter().filter(is_new).map(|decided| {
        if decided.omits_handoff {
            return plain(&decided.text);
        }
        let verb = if decided.binding { "binds" } else { "decided" };
        format!("`{}` {verb}: \"{}\"", plain(&decided.handoff), plain(&decided.text))
    });
    own.iter().map(|text| plain(text)).chain(quoted).collect()
}

fn questions(briefing: &MissionBriefing<'_>) -> Vec<String> {
    let own = briefing.mission.map(|state| state.questions.as_slice()).unwrap_or_default();
    let quoted = briefing.questions.iter().map(|open| {
        let text = open.question.question.map_or("(no text)", |text| text.value);
        let blocks = if open.question.blocking { " blocks" } else { " asks" };
        format!("`{}`{blocks}: \"{}\"", plain(&open.id), plain(text))
    });
    own.iter().map(|text| plain(text)).chain(quoted).collect()
}

/// The captured next actions, or else what the tasks suggest.
fn next_actions(briefing: &MissionBriefing<'_>, standing: &TaskOverview<'_>) -> String {
    let captured = briefing.mission.map(|state| state.next.as_slice()).unwrap_or_default();
    let actions: Vec<String> = match captured {
        [] => suggested_actions(briefing.tasks, standing),
        captured => captured.iter().map(|text| plain(text)).collect(),
    };
    let numbered = (1..).zip(actions).map(|(number, text)| format!("{number}. {text}\n"));
    format!("### Next Actions\nWhen resuming:\n{}", numbered.collect::<String>())
}

fn suggested_actions(tasks: &Tasks, standing: &TaskOverview<'_>) -> Vec<String> {
    let mut actions = Vec::new();
    for task in standing.in_progress.iter().take(NAMED_MAX) {
        let name = tasks.display_name(task);
        let who = if task.metadata.contains_key(AGENT) { "agent completed" } else { "is done" };
        actions.push(format!("Check if {name} {who}"));
        let follow = tasks.iter().filter(|other| {
            other.status == TaskStatus::Pending && other.depends_on.contains(&task.id)
        });
        let follow: Vec<String> = follow.map(|other| tasks.display_name(other)).collect();
        if !follow.is_empty() {
            let follow = name_list(&follow, ", ");
            actions.push(format!(
                "If complete, verify and unblock {follow}: `midstride task done {name}`"
            ));
        }
    }
    if standing.in_progress.len() > NAMED_MAX {
        let more = standing.in_progress.len() - NAMED_MAX;
        actions.push(format!("Check {more} more, see `midstride task list --status in_progress`"));
    }
    actions.push("Continue delegation cycle: start what `midstride task ready` lists".to_owned());
    actions
}

/// The agents that are still working after the session.
pub(crate) fn in_flight_text(briefing: &MissionBriefing<'_>) -> String {
    let standing = TaskOverview::from_tasks(briefing.tasks);
    let with_task = standing.in_progress.iter();
    let with_task =
        with_task.map(|task| briefing.tasks.display_name(task) + &worker_text(task, " (", ")"));
    let alone = briefing.taskless_agents().map(|agent| {
        let id = agent.id.as_deref().map_or_else(
            || "an agent without an id".to_owned(),
            |id| format!("agent {}", plain(id)),
        );
        let about = agent.about.as_deref().map(|about| format!(" ({})", one_line(about, 60)));
        id + &about.unwrap_or_default()
    });
    let flight: Vec<String> = with_task.chain(alone).collect();
    match flight.as_slice() {
        [] => "none".to_owned(),
        flight => format!("{} - check for completion", name_list(flight, ", ")),
    }
}

fn resume_section(briefing: &MissionBriefing<'_>) -> String {
    let flight = in_flight_text(briefing);
    format!(
        "## Handoff Complete\n\n\
         State captured in the task system. To resume:\n\n\
         1. Run `midstride brief --as mission` (in another clone, run `midstride sync` first)\n\
         2. `midstride task list` shows the status of every task; `midstride task ready` lists the tasks that are ready to start\n\
         3. Coordination continues from where we left off\n\n\
         **In-flight work:** {flight}\n"
    )
}

/// The captured states, newest first. Only the first one is active.
pub fn history(states: &[Mission]) -> String {
    let entry = |(index, state): (usize, &Mission)| {
        let active = if index == 0 { "  (active)" } else { "" };
        let mode = state.mode.as_deref();
        let mode = mode.map_or_else(String::new, |mode| format!(", mode {}", plain(mode)));
        let iteration = state.iteration.map(|number| format!(", iteration {number}"));
        let mode = mode + &iteration.unwrap_or_default();
        let parts = [
            ("Decisions", &state.decisions),
            ("Questions", &state.questions),
            ("Next", &state.next),
        ];
        let parts: String = parts.iter().map(|(name, texts)| numbered_list(name, texts)).collect();
        let by = plain(&state.by);
        format!("{}  by {by}{mode}{active}\n{parts}", subject(Some(state)))
    };
    states.iter().rev().enumerate().map(entry).collect::<Vec<_>>().join("\n")
}

/// A heading with a numbered list; empty if the list is empty.
fn numbered_list(name: &str, texts: &[String]) -> String {
    if texts.is_empty() {
        return String::new();
    }
    let lines = (1..).zip(texts).map(|(number, text)| format!("    {number}. {}\n", plain(text)));
    format!("  {name}\n{}", lines.collect::<String>())
}
