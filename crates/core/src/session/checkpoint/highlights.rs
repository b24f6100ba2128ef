//! The highlights of a session: what the next session may need, built once from the checkpoint.
//! Stored summaries, pages, coverage and views all use them.

mod statements;
mod work;

pub(crate) use statements::{BEFORE_EDITS, FROM_SUMMARY, NO_REPORT};
pub(crate) use work::{NO_EDITS, NO_EDITS_SINCE, PUSHED};

use super::{ArtifactState, Checkpoint};
use crate::session::report::announces_more;
use crate::session::{
    AbandonedRecords, Agent, AgentState, Correction, OpenFailure, OpenFailureKind, PlanState,
    Provenance, Request, SessionTask, SessionTaskStatus, Turn, TurnEnd, TurnStart, UserAnswer,
    display_text, open_failures,
};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// One item of a session that the next session may need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Highlight {
    /// The kind of item.
    #[serde(alias = "sort")]
    pub kind: HighlightKind,
    /// What was said, run or changed. This is quoted text.
    pub text: String,
    /// Details: an error, a question, an id. This is quoted text too.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
    /// What the agent said right after it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remark: Option<String>,
    /// Its state, in midstride's words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub state: Option<String>,
    /// The record that shows it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seen: Option<Provenance>,
    /// How important a statement of the agent is when space is short. Zero for everything else.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub weight: u8,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde asks for")]
fn is_zero(weight: &u8) -> bool {
    *weight == 0
}

/// The kind of a highlight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HighlightKind {
    /// A sentence of the user that limits all further work.
    Instruction,
    /// The goal of the session.
    Goal,
    /// The unfinished request.
    OpenRequest,
    /// An answered request.
    Request,
    /// A correction by the user.
    Correction,
    /// A queued prompt that was never delivered.
    Queued,
    /// The user's answer to a question of the agent.
    Answer,
    /// A commit that the session made.
    Commit,
    /// An effect outside the repository.
    Effect,
    /// The last run of a check.
    Check,
    /// A check that failed and has not passed since.
    Failed,
    /// The agent's question to the user at the end.
    Question,
    /// What the agent said it would do next.
    StatedPlan,
    /// The status of the work, according to the agent.
    Status,
    /// A call that was running when the session stopped.
    Running,
    /// An open task.
    Task,
    /// An agent that has not reported.
    Agent,
    /// An unchecked box.
    Unchecked,
    /// An open item, according to the agent.
    OpenItem,
    /// What the agent found out, or why it did something.
    Finding,
    /// A decision of the agent.
    Decision,
    /// What the agent tried and gave up.
    DeadEnd,
    /// The agent's report at the end of a turn.
    Report,
    /// A statement from the summary that replaced the context.
    Summary,
    /// A remark of the agent between two calls.
    Remark,
    /// A commit message of the agent.
    Message,
    /// The report of an agent that the session started.
    AgentReport,
    /// A file with a reverted change.
    Reverted,
    /// A changed file.
    Changed,
    /// A file that the session left and that is missing.
    Missing,
    /// A plan document.
    Plan,
    /// A check that failed and passed since.
    Passed,
    /// What was said or started before the user went back.
    TakenBack,
}

impl HighlightKind {
    /// The name of one highlight of this kind.
    pub fn word(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::Goal => "goal",
            Self::OpenRequest => "unfinished request",
            Self::Request => "answered request",
            Self::Correction => "correction",
            Self::Queued => "queued prompt",
            Self::Answer => "user answer",
            Self::Commit => "commit",
            Self::Effect => "outside effect",
            Self::Check => "check",
            Self::Failed => "failure",
            Self::Question => "question",
            Self::StatedPlan => "stated plan",
            Self::Status => "status",
            Self::Running => "running call",
            Self::Task => "open task",
            Self::Agent => "agent in flight",
            Self::Unchecked => "unchecked item",
            Self::OpenItem => "open item",
            Self::Finding => "finding",
            Self::Decision => "decision",
            Self::DeadEnd => "dead end",
            Self::Report => "report",
            Self::Summary => "summary statement",
            Self::Remark => "remark",
            Self::Message => "commit message",
            Self::AgentReport => "subagent report",
            Self::Reverted => "reverted file",
            Self::Changed => "changed file",
            Self::Missing => "missing file",
            Self::Plan => "plan document",
            Self::Passed => "fixed failure",
            Self::TakenBack => "withdrawn request",
        }
    }
}

/// How a session ended, according to its records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionEnding {
    /// The records do not show it: an older version captured the session.
    #[default]
    Unknown,
    /// The user asked nothing.
    Nothing,
    /// The last turn has a final report.
    Completed,
    /// The last turn ended with a question to the user.
    Asked,
    /// It stopped in the middle of a turn.
    MidTurn,
    /// The user interrupted the last turn.
    Interrupted,
    /// The last request to the model failed.
    Failed,
}

impl SessionEnding {
    /// Whether a request is unanswered.
    pub fn is_open(self) -> bool {
        matches!(self, Self::MidTurn | Self::Interrupted | Self::Failed)
    }

    fn from_turns(turns: &[Turn], question: bool) -> Self {
        let Some((turn, before)) = turns.split_last() else { return Self::Unknown };
        // A client that marks the end of turns marks each of them.
        let marks_ends = || before.iter().any(|turn| turn.is_over == Some(true));
        match turn.end {
            TurnEnd::Nothing if turn.start == TurnStart::Client => Self::Nothing,
            TurnEnd::Said if turn.is_over == Some(false) => Self::MidTurn,
            TurnEnd::Said if turn.is_over.is_none() && marks_ends() => Self::Unknown,
            TurnEnd::Said if question => Self::Asked,
            // The announced call was never made.
            TurnEnd::Said if turn.said.last().is_some_and(|last| announces_more(&last.text)) => {
                Self::MidTurn
            }
            TurnEnd::Said => Self::Completed,
            TurnEnd::Nothing | TurnEnd::Called => Self::MidTurn,
            TurnEnd::Interrupted => Self::Interrupted,
            TurnEnd::Failed => Self::Failed,
        }
    }
}

/// Going back in a conversation does not always restore the files, so the file may be in either
/// state.
const ABANDONED_STATE: &str = "in a part that the user rewound; check the file on disk";

/// The highlights of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Highlights {
    /// How it ended.
    pub ending: SessionEnding,
    /// What is committed and what is not, in midstride's words.
    pub tree: Option<String>,
    /// The highlights by kind, most urgent kind first, newest of each kind first.
    pub kinds: Vec<Vec<Highlight>>,
}

impl Highlights {
    /// Builds the highlights of a checkpoint.
    pub fn from_checkpoint(checkpoint: &Checkpoint) -> Self {
        let session = &checkpoint.session;
        let left: HashSet<&str> = checkpoint.abandoned.iter().map(String::as_str).collect();
        let folder = session.cwd.as_deref().unwrap_or_default();
        let abandoned = AbandonedRecords::from_records(&checkpoint.abandoned);
        HighlightReader { checkpoint, folder, abandoned_ids: left, abandoned }.highlights()
    }

    /// The findings from reports. What a remark between two calls takes for a fact may be refuted by
    /// the next call.
    pub fn reported_findings(&self) -> impl Iterator<Item = &Highlight> {
        let record = |one: &Highlight| one.seen.as_ref().map(|seen| seen.record.clone());
        let remarks: HashSet<_> = self.of_kind(HighlightKind::Remark).filter_map(record).collect();
        let findings = self.of_kind(HighlightKind::Finding);
        findings.filter(move |one| record(one).is_none_or(|record| !remarks.contains(&record)))
    }

    /// The highlights of one kind.
    pub fn of_kind(&self, kind: HighlightKind) -> impl Iterator<Item = &Highlight> {
        self.kinds.iter().flatten().filter(move |one| one.kind == kind)
    }
}

/// Builds highlights from a checkpoint.
struct HighlightReader<'c> {
    checkpoint: &'c Checkpoint,
    folder: &'c str,
    /// Records that the user went back before.
    abandoned_ids: HashSet<&'c str>,
    abandoned: AbandonedRecords,
}

impl HighlightReader<'_> {
    fn highlights(&self) -> Highlights {
        let question = self.question();
        let mut ending = SessionEnding::from_turns(self.turns(), question.is_some());
        let failures = open_failures(&self.checkpoint.session, &self.abandoned);
        if ending == SessionEnding::Completed && self.is_unfinished(&failures) {
            ending = SessionEnding::Unknown;
        }
        let mut asked = self.requests_by_state(ending);
        if asked.goal.is_empty() {
            asked.goal.extend(self.summarized_goal());
        }
        let [changed, reverted] = self.changed_and_reverted();
        let statements = self.statements(ending);
        let kinds = vec![
            self.instructions(),
            asked.goal,
            asked.open,
            self.corrections(),
            self.queued(),
            question.into_iter().collect(),
            self.commits(),
            self.effects(),
            self.checks(),
            work::open_failure_highlights(&failures),
            self.running(ending),
            self.agents(),
            self.tasks(),
            self.answers(),
            statements.plan,
            statements.status,
            self.unchecked_boxes(),
            statements.unchecked,
            statements.open,
            statements.dead_ends,
            statements.findings,
            statements.summary,
            self.messages(&failures),
            statements.reports,
            statements.remarks,
            self.agent_reports(),
            reverted,
            self.missing(),
            plans(self.checkpoint, &|path| self.short_path(path)),
            changed,
            asked.answered,
            self.fixed_checks(&failures),
            self.withdrawn(),
        ];
        Highlights { ending, tree: self.tree_status(), kinds }
    }

    fn is_current(&self, seen: &Provenance) -> bool {
        !self.abandoned_ids.contains(seen.record.as_str())
    }

    /// A path relative to the working directory of the session.
    fn short_path(&self, path: &str) -> String {
        let below = path.strip_prefix(self.folder).and_then(|rest| rest.strip_prefix('/'));
        below.unwrap_or(path).to_owned()
    }

    /// The user's requests, including those of the session that this one was forked from.
    fn requests(&self) -> impl DoubleEndedIterator<Item = (&Request, bool)> {
        let session = &self.checkpoint.session;
        let before = session.asked_before.iter().map(|one| (one, true));
        let all = before.chain(session.requests.iter().map(|one| (one, false)));
        all.filter(move |(one, _)| self.is_current(&one.seen))
    }

    /// Prompts, and reasons for rejecting a call, that the agent never handled.
    fn queued(&self) -> Vec<Highlight> {
        let session = &self.checkpoint.session;
        let queued = session.queued.iter().rev();
        // Prompts that clients queue themselves start with a tag.
        let queued = queued.filter(|one| !one.text.starts_with('<'));
        let queued = queued.map(|one| (&one.text, &one.seen));
        let message = session.turns.last().and_then(|turn| turn.said.last()).map(|last| &last.seen);
        let called = session.commands.iter().next_back().map(|command| &command.seen);
        let is_last = |seen: &Provenance| {
            { [message, called] }.into_iter().flatten().all(|one| one.number < seen.number)
        };
        let refused = self.requests().next_back().map(|(one, _)| one);
        let refused = refused
            .filter(|one| one.correction == Some(Correction::AfterRejection) && is_last(&one.seen));
        let refused = refused.map(|one| (&one.text, &one.seen));
        let item = |(text, seen): (&String, &Provenance)| {
            Highlight::new(HighlightKind::Queued, text).with_seen(seen)
        };
        queued.chain(refused).map(item).collect()
    }

    fn answers(&self) -> Vec<Highlight> {
        let answers = self.checkpoint.session.answers.iter().rev();
        let answers = answers.filter(|answer| self.is_current(&answer.seen));
        let item = |one: &UserAnswer| {
            let detail = Some(one.question.clone());
            Highlight::new(HighlightKind::Answer, &one.answer)
                .with_seen(&one.seen)
                .with_detail(detail)
        };
        answers.map(item).collect()
    }

    fn tasks(&self) -> Vec<Highlight> {
        let open = self.checkpoint.session.tasks.iter().filter(|task| task.status.is_open());
        let tasks = open.map(|task| {
            let item = Highlight::new(HighlightKind::Task, &task.subject).with_seen(&task.changed);
            match &task.status {
                // The client's own word is quoted, so it goes into the detail.
                SessionTaskStatus::Other(word) => item.with_detail(Some(word.clone())),
                SessionTaskStatus::Pending
                | SessionTaskStatus::InProgress
                | SessionTaskStatus::Completed
                | SessionTaskStatus::Deleted => item.with_state(task.status.as_str()),
            }
        });
        tasks.collect()
    }

    fn agents_in_flight(&self) -> impl DoubleEndedIterator<Item = &Agent> {
        self.checkpoint.session.agents.iter().filter(|one| one.state == AgentState::InFlight)
    }

    fn agents(&self) -> Vec<Highlight> {
        let flying = self.agents_in_flight().rev().filter(|one| self.is_current(&one.seen));
        let item = |agent: &Agent| {
            let item = Highlight::new(HighlightKind::Agent, agent_request(agent));
            item.with_seen(&agent.seen).with_detail(agent.id.clone())
        };
        flying.map(item).collect()
    }

    fn agent_reports(&self) -> Vec<Highlight> {
        let agents = self.checkpoint.session.agents.iter().rev();
        let reports = agents.filter(|agent| self.is_current(&agent.seen)).filter_map(|agent| {
            let report = agent.report.as_deref().filter(|report| !report.trim().is_empty())?;
            let seen = agent.ended.as_ref().unwrap_or(&agent.seen);
            let item = Highlight::new(HighlightKind::AgentReport, report).with_seen(seen);
            Some(item.with_detail(Some(agent_request(agent).to_owned())))
        });
        reports.collect()
    }

    /// The turns of the session, without unanswered client notices at the end.
    fn turns(&self) -> &[Turn] {
        let turns = &self.checkpoint.session.turns.items;
        let is_answered =
            |turn: &Turn| turn.start != TurnStart::Notice || turn.end != TurnEnd::Nothing;
        let last = turns.iter().rposition(is_answered);
        last.map_or(turns, |last| &turns[..=last])
    }

    /// Whether the last turn looks unfinished: a merge waits for its commit. If the client does not
    /// mark the turn as over, a failing check or a task in progress counts too.
    fn is_unfinished(&self, failures: &[OpenFailure<'_>]) -> bool {
        let session = &self.checkpoint.session;
        let Some(turn) = self.turns().last() else { return false };
        let is_of_turn = |seen: &Provenance| seen.number > turn.seen.number;
        let is_unsure = turn.is_over.is_none();
        let is_failing = |what: OpenFailureKind| what == OpenFailureKind::Merge || is_unsure;
        let is_begun = |task: &SessionTask| {
            task.status == SessionTaskStatus::InProgress && is_of_turn(&task.changed)
        };
        failures.iter().any(|one| is_failing(one.kind) && is_of_turn(one.seen))
            || is_unsure && session.tasks.iter().any(is_begun)
    }

    /// The call that was running when the session stopped.
    fn running(&self, ending: SessionEnding) -> Vec<Highlight> {
        if ending != SessionEnding::MidTurn {
            return Vec::new();
        }
        let calls = self.checkpoint.in_flight.iter().rev();
        let calls = calls.filter(|call| call.seen.agent.is_none() && self.is_current(&call.seen));
        let running = calls.map(|call| {
            let text = self.checkpoint.command_for(call).unwrap_or(&call.tool);
            Highlight::new(HighlightKind::Running, text).with_seen(&call.seen)
        });
        running.take(1).collect()
    }

    /// Changed files, and files with a reverted change.
    fn changed_and_reverted(&self) -> [Vec<Highlight>; 2] {
        let number = |seen: Option<&Provenance>| seen.map_or(0, |seen| seen.number);
        let mut changed: Vec<_> = self.checkpoint.session.files.changed().collect();
        changed.sort_by_key(|(path, file)| {
            let left = self.checkpoint.is_abandoned_file(file);
            (left, std::cmp::Reverse(number(file.changed.last())), path.to_owned())
        });
        let reverted = changed.iter().filter_map(|(path, file)| {
            let seen = file.reverted.last()?;
            let item =
                Highlight::new(HighlightKind::Reverted, &self.short_path(path)).with_seen(seen);
            Some(if self.is_current(seen) { item } else { item.with_state(ABANDONED_STATE) })
        });
        let reverted = reverted.collect();
        let changed = changed.iter().map(|(path, file)| {
            let item = Highlight::new(HighlightKind::Changed, &self.short_path(path));
            let item = file.changed.last().map_or(item.clone(), |seen| item.with_seen(seen));
            if self.checkpoint.is_abandoned_file(file) {
                item.with_state(ABANDONED_STATE)
            } else {
                item
            }
        });
        [changed.collect(), reverted]
    }

    fn missing(&self) -> Vec<Highlight> {
        let artifacts = self.checkpoint.artifacts.iter();
        let missing = artifacts.filter(|one| one.state == ArtifactState::Missing);
        let item = |path: &str| Highlight::new(HighlightKind::Missing, &self.short_path(path));
        missing.map(|one| item(&one.path)).collect()
    }

    /// Requests and agents from before the user went back, which no longer apply.
    fn withdrawn(&self) -> Vec<Highlight> {
        let item = |text: &str, seen: &Provenance| {
            Highlight::new(HighlightKind::TakenBack, text).with_seen(seen)
        };
        let requests = self.checkpoint.session.requests.iter();
        let requests = requests.map(|one| (one.text.as_str(), &one.seen));
        let agents = self.agents_in_flight().map(|one| (agent_request(one), &one.seen));
        let gone = requests.chain(agents).filter(|(_, seen)| !self.is_current(seen));
        gone.map(|(text, seen)| item(text, seen)).collect()
    }
}

/// What an agent was asked: the short description, or else the prompt.
fn agent_request(agent: &Agent) -> &str {
    agent.about.as_deref().or(agent.prompt.as_deref()).unwrap_or_default()
}

/// The plans of the session, each once with its state, then those found in the project.
fn plans(checkpoint: &Checkpoint, short: &dyn Fn(&str) -> String) -> Vec<Highlight> {
    let mut seen = HashSet::new();
    let mut items = Vec::new();
    for plan in checkpoint.session.plans.iter().rev() {
        let state = plan.state.description();
        let Some(path) = plan.path.as_deref().map(short) else { continue };
        // The client names a file for every plan, even if it was never written.
        let mut of_path = checkpoint.session.plans.iter().filter(|one| one.path == plan.path);
        let has_text = of_path.any(|one| {
            one.text.is_some() || matches!(one.state, PlanState::Read | PlanState::Written)
        });
        if plan.state != PlanState::Rejected && has_text && seen.insert(path.clone()) {
            items.push(
                Highlight::new(HighlightKind::Plan, &path).with_seen(&plan.seen).with_state(state),
            );
        }
    }
    for path in checkpoint.plan_documents.iter().map(|path| short(path)) {
        if seen.insert(path.clone()) {
            items.push(
                Highlight::new(HighlightKind::Plan, &path).with_state("found in the project"),
            );
        }
    }
    items
}

impl Highlight {
    /// Whether only abandoned records show it.
    pub fn is_abandoned(&self) -> bool {
        self.state.as_deref() == Some(ABANDONED_STATE)
    }

    fn new(kind: HighlightKind, text: &str) -> Self {
        let text = display_text(text);
        Self { kind, text, detail: None, remark: None, state: None, seen: None, weight: 0 }
    }

    fn with_seen(self, seen: &Provenance) -> Self {
        Self { seen: Some(seen.clone()), ..self }
    }

    fn with_detail(self, detail: Option<String>) -> Self {
        Self { detail, ..self }
    }

    fn with_state(self, state: &str) -> Self {
        Self { state: Some(state.to_owned()), ..self }
    }
}
