//! The fold: applies facts one by one to build up the session.

use super::Session;
use super::copies::CopiedRecords;
use super::fact::{Fact, Identity, RecordRef, ToolDetail, ToolOutcome, ToolUse};
use super::files::ToolFileChange;
use super::hash::hash;
use super::intent::{self, PromptContext};
use super::item::{
    Agent, AgentMessage, AgentState, ApiError, Attribution, CommandStatus, Compaction, Correction,
    ExecutedCommand, Interrupt, LastMessage, LaterPass, PlanDocument, PlanState, Provenance,
    Rejection, SessionTaskStatus, Skill, ToolError, TurnEnd, TurnStart, UserAnswer,
};
use super::provenance::{provenance, record_name};
use super::shell::mcp_tool_name;
use super::tasks::OwnedTaskUpdate;
use super::text::{self, COMMAND_BYTES_MAX, PATH_BYTES_MAX, TEXT_BYTES_MAX};
use super::work::IndirectEdit;
use crate::text::id::{CommitId, SessionId};
use serde::{Deserialize, Serialize};

/// The maximum number of calls without a result that are remembered.
const PENDING_MAX: usize = 10_000;
/// How many finished calls are remembered, so that a repeated record does not count twice.
const DONE_MAX: usize = 4_096;
/// The maximum stored size of a summary that replaced the context.
const SUMMARY_BYTES_MAX: usize = 32 << 10;
/// The maximum number of directories kept.
const FOLDERS_MAX: usize = 16;

/// A call without a result yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PendingCall {
    pub(super) tool: String,
    pub(super) seen: Provenance,
    what: PendingAction,
}

impl PendingCall {
    /// Whether the session itself made the call.
    pub(super) fn is_own(&self) -> bool {
        !matches!(self.what, PendingAction::AgentCommand(_) | PendingAction::AgentChange(_))
    }
}

/// What a call is for, as much as its result needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum PendingAction {
    Command {
        number: u64,
        /// The command line, if the command may change something.
        script: Option<Script>,
    },
    Outside(Box<PendingEffect>),
    /// A command run by an agent.
    AgentCommand(Script),
    /// Files that an agent changes.
    AgentChange(Vec<String>),
    Read(String),
    Change(Vec<ToolFileChange>),
    Task(OwnedTaskUpdate),
    Todos(Vec<(String, SessionTaskStatus)>),
    Agent(u64),
    AgentsEnd(Vec<String>),
    Question,
    Plan(u64),
    Other,
}

/// A command line, as much as its result needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Script {
    /// The whole text, if it is longer than what is stored of a command.
    pub(super) text: Option<String>,
    /// The directory in which it runs.
    pub(super) folder: Option<String>,
}

/// An effect outside the project by a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PendingEffect {
    pub(super) action: String,
    pub(super) title: Option<String>,
    pub(super) boxes: Option<Vec<String>>,
}

impl Session {
    /// Applies a fact.
    pub fn apply(&mut self, mark: &RecordRef<'_>, fact: Fact<'_>) {
        if let Fact::Record(linked) = &fact {
            self.counts.seen += 1;
            let is_copy = self.is_copy(mark, linked);
            self.passing_over = !self.chain.add(linked) || is_copy;
            self.counts.duplicates += u64::from(self.passing_over);
            return;
        }
        if self.passing_over {
            return self.apply_copy(mark, &fact);
        }
        match fact {
            Fact::Record(_) => {}
            Fact::Kind(sort) => self.count_understood(mark, sort),
            Fact::Skipped(reason) => self.counts.count_skipped(reason),
            Fact::Unknown(kind) => {
                let kind = self.clean_name(&kind);
                self.counts.count_unknown(&kind);
            }
            Fact::Repaired => self.counts.mended += 1,
            Fact::Identity(identity) => self.identify(&identity),
            Fact::Asked(text) => self.add_prompt(mark, &text),
            Fact::Noticed => self.start_turn(mark, TurnStart::Notice),
            Fact::Queued(text) => self.queue(mark, &text),
            Fact::Dequeued { fate, text } => self.dequeue(mark, fate, text.as_deref()),
            Fact::Delivered(text) => self.deliver_queued(mark, &text),
            Fact::Said(text) => self.add_message(mark, &text),
            Fact::TurnOver(is_over) => {
                if mark.agent.is_none() {
                    self.turns.mark_over(is_over);
                }
            }
            Fact::Called { call, tool, what } => self.start_call(mark, call, tool, what),
            Fact::AgentCalled { call, what } => self.start_agent_call(mark, call, what),
            Fact::Returned { call, outcome, detail } => {
                self.finish_call(mark, call, &outcome, &detail);
            }
            Fact::Ended { id, outcome, report } => {
                self.finish_background(mark, &id, &outcome, report.as_deref());
            }
            Fact::Skill { name, arguments } => {
                self.add_skill(mark, Attribution::User, &name, &arguments);
            }
            Fact::Compacted { trigger, before, after, summary } => {
                let trigger = trigger.map(|trigger| self.clean_name(&trigger));
                let seen = provenance(mark, Attribution::Observed);
                let summary = summary.filter(|text| !text.is_empty());
                if let Some(summary) = &summary {
                    self.drop_summary_words(summary);
                }
                let summary_hash = summary.as_ref().map(|text| hash_text(text));
                if let Some(text) = &summary {
                    self.set_summary(mark, text);
                }
                self.compactions.push(Compaction {
                    seen,
                    trigger,
                    tokens_before: before,
                    tokens_after: after,
                    summary_hash,
                });
            }
            Fact::Summary(text) => {
                if let Some(last) = self.compactions.items.last_mut() {
                    last.summary_hash = Some(hash_text(&text));
                }
                self.set_summary(mark, &text);
            }
            Fact::ApiError { status, text } => {
                let text = self.clean_tail(&text);
                let seen = provenance(mark, Attribution::Observed);
                self.note_turn_event(mark, &seen, TurnEnd::Failed);
                self.api_errors.push(ApiError { seen, status, text });
            }
            Fact::Interrupted => {
                let seen = provenance(mark, Attribution::User);
                self.note_turn_event(mark, &seen, TurnEnd::Interrupted);
                self.interrupts.push(Interrupt { seen });
                // A rejection says more than the interrupt that comes with it.
                self.stopped.get_or_insert(Correction::AfterInterrupt);
            }
            Fact::RolledBack(turns) => self.chain.roll_back(turns),
            Fact::Used(used) => self.usage.add(&used, mark.agent.is_some()),
        }
    }

    /// Redacts the pending texts. Call this before you read or store a session.
    pub fn settle(&mut self) {
        self.passing_over = false;
        self.copies = CopiedRecords::None;
        self.words_before = None;
        self.turns.settle(&mut self.redacted);
        if let Some((seen, words)) = self.words.take() {
            let mut redacted = text::RedactionTally::new();
            let text = text::clean_head(&words, TEXT_BYTES_MAX, &mut redacted);
            self.last_words = Some(LastMessage { seen, text, redacted });
        }
    }

    fn count_understood(&mut self, mark: &RecordRef<'_>, sort: &str) {
        self.counts.understood += 1;
        self.counts.count_kind(sort);
        if let Some(at) = mark.at {
            // Clocks may be set back.
            self.began = Some(self.began.map_or(at, |began| began.min(at)));
            self.ended = Some(self.ended.map_or(at, |ended| ended.max(at)));
        }
        match &mut self.last_record {
            Some(last) if *last == mark.record => {}
            Some(last) => {
                last.clear();
                last.push_str(&record_name(mark));
            }
            None => self.last_record = Some(record_name(mark).into_owned()),
        }
    }

    fn identify(&mut self, identity: &Identity<'_>) {
        let Identity { session, forked_from, agent_of, cwd, version, model, branch, .. } = identity;
        let Identity { commit, title, headless, .. } = identity;
        self.headless = headless.unwrap_or(self.headless);
        if let Some(cwd) = cwd.filter(|cwd| self.folder_now.as_deref() != Some(*cwd)) {
            self.folder_now = Some(self.clean_name(cwd));
        }
        if let Some(cwd) = cwd.filter(|cwd| self.cwd.as_deref() != Some(*cwd)) {
            let cwd = self.clean_name(cwd);
            let new = self.cwd.as_ref() != Some(&cwd) && !self.other_folders.contains(&cwd);
            if self.cwd.is_none() {
                self.cwd = Some(cwd);
            } else if new && self.other_folders.len() < FOLDERS_MAX {
                self.other_folders.push(cwd);
            }
        }
        // The first value is the session's own; copied records name other sessions.
        for (slot, value) in [(0, session), (1, forked_from), (2, agent_of)] {
            let Some(value) = value else { continue };
            let known = [&self.id, &self.forked_from, &self.agent_of][slot].is_some();
            if !known {
                // An id with a secret becomes another id before its text is bounded.
                let value = SessionId::new(*value);
                let value = Some(SessionId::new(self.clean_name(value.as_str())));
                let Self { id, forked_from, agent_of, .. } = &mut *self;
                *[id, forked_from, agent_of][slot] = value;
            }
        }
        if let Some(commit) = commit.filter(|_| self.commit.is_none()) {
            self.commit = Some(CommitId::new(self.clean_name(commit)));
        }
        for (slot, value) in [(0, version), (1, model), (2, branch), (3, title)] {
            let Some(value) = value.filter(|value| !value.is_empty()) else { continue };
            let now = [&self.version, &self.model, &self.branch, &self.title][slot].as_deref();
            if now != Some(value) {
                let value = Some(self.clean_name(value));
                *[&mut self.version, &mut self.model, &mut self.branch, &mut self.title][slot] =
                    value;
            }
        }
    }

    fn add_prompt(&mut self, mark: &RecordRef<'_>, text: &str) {
        if mark.agent.is_some() || text.trim().is_empty() {
            return;
        }
        let text = self.clean_head(text, TEXT_BYTES_MAX);
        self.match_queued_prompt(&text);
        self.start_turn(mark, TurnStart::User);
        self.add_request(mark, text);
    }

    /// Stores the newest summary, which describes the context before it.
    fn set_summary(&mut self, mark: &RecordRef<'_>, text: &str) {
        let text = self.clean_head(text, SUMMARY_BYTES_MAX);
        self.summary = Some(AgentMessage { seen: provenance(mark, Attribution::Agent), text });
    }

    fn start_turn(&mut self, mark: &RecordRef<'_>, start: TurnStart) {
        if mark.agent.is_none() {
            self.turns.start(provenance(mark, Attribution::User), start, &mut self.redacted);
        }
    }

    /// Records an event in the running turn. Events of agents do not affect it.
    fn note_turn_event(&mut self, mark: &RecordRef<'_>, seen: &Provenance, end: TurnEnd) {
        if mark.agent.is_none() {
            self.turns.note_event(seen, end);
        }
    }

    /// Adds a prompt with redacted text as a request.
    pub(super) fn add_request(&mut self, mark: &RecordRef<'_>, text: String) -> u64 {
        // The first prompt of a forked session can correct the session it was forked from.
        let is_first = self.requests.is_empty() && self.forked_after.is_none();
        let previous = self.requests.items.last().map(|last| last.text.as_str());
        let context = PromptContext { is_first, stopped: self.stopped.take(), previous };
        let mut request = intent::new_request(provenance(mark, Attribution::User), text, context);
        request.branch = self.branch.clone().filter(|_| !request.limits.is_empty());
        request.headless = self.headless;
        self.requests.push(request)
    }

    fn add_message(&mut self, mark: &RecordRef<'_>, text: &str) {
        if mark.agent.is_some() || text.trim().is_empty() {
            return;
        }
        self.turns.add_message(provenance(mark, Attribution::Agent), text);
        let start = text::truncate(text, TEXT_BYTES_MAX);
        if self.words.as_ref().is_some_and(|(_, words)| words != start) {
            std::mem::swap(&mut self.words, &mut self.words_before);
        }
        // Only the last message is redacted; redacting each earlier one would be wasted work.
        match &mut self.words {
            Some((at, words)) => {
                words.clear();
                words.push_str(start);
                *at = provenance(mark, Attribution::Agent);
            }
            None => self.words = Some((provenance(mark, Attribution::Agent), start.to_owned())),
        }
    }

    /// Drops the last message if it is the summary: some clients record the summary as if it were a
    /// message to the user.
    fn drop_summary_words(&mut self, summary: &str) {
        // Long messages are truncated here.
        let is_cut = |words: &str| words.len() + char::MAX.len_utf8() > TEXT_BYTES_MAX;
        let is_summary = |words: &str| {
            summary.trim_end().ends_with(words.trim()) || (is_cut(words) && summary.contains(words))
        };
        if self.words.as_ref().is_some_and(|(_, words)| is_summary(words)) {
            self.words = self.words_before.take();
        }
        self.turns.withdraw_last(|words| is_summary(words));
    }

    fn add_skill(
        &mut self,
        mark: &RecordRef<'_>,
        source: Attribution,
        name: &str,
        arguments: &str,
    ) {
        let (name, arguments) =
            (self.clean_name(name), self.clean_head(arguments, COMMAND_BYTES_MAX));
        self.skills.push(Skill { seen: provenance(mark, source), name, arguments });
    }

    fn start_call(&mut self, mark: &RecordRef<'_>, call: &str, tool: &str, what: ToolUse<'_>) {
        let id = hash(call.as_bytes());
        if self.pending.contains_key(&id) || self.done.contains(&id) {
            return;
        }
        self.counts.tool_calls += 1;
        if mark.agent.is_none() {
            // The agent continues, so the next prompt is not about the interrupt.
            self.stopped = None;
        }
        let seen = provenance(mark, Attribution::Observed);
        self.note_turn_event(mark, &seen, TurnEnd::Called);
        let what = match what {
            ToolUse::Command(command) => {
                let script = self.pending_script(&command);
                PendingAction::Command { number: self.start_command(&seen, &command), script }
            }
            ToolUse::External { action, title, body } => PendingAction::Outside(Box::new(
                self.pending_effect(&action, title.as_deref(), body.as_deref()),
            )),
            ToolUse::Read(path) => PendingAction::Read(self.clean_name(&path)),
            ToolUse::Change(changes) => PendingAction::Change(
                changes.into_iter().map(|change| self.clean_change(change)).collect(),
            ),
            ToolUse::Task(change) => PendingAction::Task(self.owned_update(&change)),
            ToolUse::Todos(todos) => PendingAction::Todos(self.clean_todos(&todos)),
            ToolUse::Agent { kind, about, prompt } => {
                let agent = Agent {
                    seen: seen.clone(),
                    id: None,
                    kind: kind.map(|kind| self.clean_name(&kind)),
                    about: about.map(|about| self.clean_head(&about, COMMAND_BYTES_MAX)),
                    prompt: prompt.map(|prompt| self.clean_head(&prompt, TEXT_BYTES_MAX)),
                    state: AgentState::InFlight,
                    ended: None,
                    report: None,
                };
                PendingAction::Agent(self.agents.push(agent))
            }
            ToolUse::AgentsEnd(ids) => PendingAction::AgentsEnd(
                ids.iter().take(FOLDERS_MAX).map(|id| self.clean_name(id)).collect(),
            ),
            ToolUse::Question => PendingAction::Question,
            ToolUse::Plan(text) => {
                let text = text.map(|text| self.clean_head(&text, TEXT_BYTES_MAX));
                let (seen, state) = (seen.clone(), PlanState::Proposed);
                PendingAction::Plan(self.plans.push(PlanDocument { seen, state, path: None, text }))
            }
            ToolUse::Skill { name, arguments } => {
                self.add_skill(mark, Attribution::Agent, &name, &arguments);
                PendingAction::Other
            }
            ToolUse::Other => PendingAction::Other,
        };
        if self.pending.len() >= PENDING_MAX {
            self.pending.pop_first();
        }
        let tool = self.clean_name(tool);
        if let Some(name) = mcp_tool_name(&tool) {
            self.counts.count_mcp_calls(&name, 1);
        }
        self.pending.insert(id, PendingCall { tool, seen, what });
    }

    /// Records an agent's call. It counts for the agent; here only its effect on the project
    /// matters.
    fn start_agent_call(&mut self, mark: &RecordRef<'_>, call: &str, what: ToolUse<'_>) {
        let id = hash(call.as_bytes());
        let what = match what {
            ToolUse::Command(text) => match self.pending_script(&text) {
                Some(script) => {
                    let all =
                        script.text.unwrap_or_else(|| self.clean_head(&text, COMMAND_BYTES_MAX));
                    PendingAction::AgentCommand(Script { text: Some(all), ..script })
                }
                None => return,
            },
            ToolUse::Change(changes) => PendingAction::AgentChange(
                changes.iter().map(|one| self.clean_name(one.path())).collect(),
            ),
            ToolUse::Read(_)
            | ToolUse::Task(_)
            | ToolUse::Todos(_)
            | ToolUse::Agent { .. }
            | ToolUse::AgentsEnd(_)
            | ToolUse::Question
            | ToolUse::Plan(_)
            | ToolUse::Skill { .. }
            | ToolUse::External { .. }
            | ToolUse::Other => return,
        };
        if self.pending.len() < PENDING_MAX && !self.done.contains(&id) {
            let seen = provenance(mark, Attribution::Observed);
            self.pending.insert(id, PendingCall { tool: String::new(), seen, what });
        }
    }

    fn finish_call(
        &mut self,
        mark: &RecordRef<'_>,
        call: &str,
        outcome: &ToolOutcome<'_>,
        detail: &ToolDetail<'_>,
    ) {
        let id = hash(call.as_bytes());
        let Some(PendingCall { tool, seen: called, what }) = self.pending.get(&id).cloned() else {
            return;
        };
        let seen = provenance(mark, Attribution::Observed);
        if let (ToolOutcome::Running, PendingAction::Command { number, .. }) = (outcome, &what) {
            // The final result follows later.
            let ToolDetail::Background(name) = detail else { return };
            let name = self.clean_name(name);
            let Some(command) = self.commands.get_mut(*number) else { return };
            command.background = Some(name);
        }
        self.pending.remove(&id);
        if self.done.len() >= DONE_MAX {
            self.done.pop_front();
        }
        self.done.push_back(id);
        let is_of_agent =
            matches!(what, PendingAction::AgentCommand(_) | PendingAction::AgentChange(_));
        if let (ToolOutcome::Rejected { said }, false) = (outcome, is_of_agent) {
            self.add_user_rejection(&seen, &tool, &what, said.as_deref());
        }
        if let (ToolOutcome::Denied(rule), false) = (outcome, is_of_agent) {
            self.add_denial(&seen, &tool, &what, rule);
        }
        match what {
            PendingAction::Command { number, script } => {
                self.finish_command(number, &seen, outcome);
                self.apply_command(number, &seen, script, outcome, detail);
            }
            PendingAction::Outside(made) => {
                self.finish_effect(&tool, &seen, *made, outcome, detail);
            }
            PendingAction::AgentCommand(script) => {
                let text = script.text.as_deref().unwrap_or_default();
                let folder = script.folder.as_deref();
                self.apply_line((&called, &seen), (text, folder), outcome, detail);
            }
            PendingAction::AgentChange(paths) => {
                if matches!(outcome, ToolOutcome::Succeeded) {
                    for path in paths {
                        let (seen, path) = (seen.clone(), Some(path));
                        self.other_edits.push(IndirectEdit { seen, path, command: None });
                    }
                }
            }
            PendingAction::Agent(number) => self.finish_agent_call(number, &seen, outcome, detail),
            PendingAction::Plan(number) => self.finish_plan(number, &seen, outcome, detail),
            PendingAction::Question => self.add_answers(mark, detail),
            PendingAction::Read(_)
            | PendingAction::Change(_)
            | PendingAction::Task(_)
            | PendingAction::Todos(_)
            | PendingAction::AgentsEnd(_)
            | PendingAction::Other => match outcome {
                ToolOutcome::Succeeded | ToolOutcome::Running => {
                    self.apply_success(&seen, what, detail);
                }
                ToolOutcome::Failed { text, .. } => {
                    let path = subject_of_call(&what);
                    let text = self.clean_tail(text);
                    self.errors.push(ToolError { seen, tool, path, text });
                }
                ToolOutcome::Rejected { .. }
                | ToolOutcome::Denied(_)
                | ToolOutcome::Interrupted => {}
            },
        }
    }

    fn apply_success(&mut self, seen: &Provenance, what: PendingAction, detail: &ToolDetail<'_>) {
        match what {
            PendingAction::Read(path) => {
                self.note_plan_document(&path, PlanState::Read, seen);
                self.files.read(path, seen);
            }
            PendingAction::Change(changes) => {
                for change in &changes {
                    self.note_plan_document(change.path(), PlanState::Written, seen);
                    self.files.change(change, seen);
                }
            }
            PendingAction::Task(change) => self.change_task(seen, change, detail),
            PendingAction::Todos(todos) => self.replace_tasks(seen, todos),
            PendingAction::AgentsEnd(ids) => {
                for id in &ids {
                    self.end_agent(id, seen, AgentState::Ended);
                }
            }
            PendingAction::Command { .. }
            | PendingAction::Outside(_)
            | PendingAction::AgentCommand(_)
            | PendingAction::AgentChange(_)
            | PendingAction::Agent(_)
            | PendingAction::Plan(_)
            | PendingAction::Question
            | PendingAction::Other => {}
        }
    }

    fn add_user_rejection(
        &mut self,
        seen: &Provenance,
        tool: &str,
        what: &PendingAction,
        said: Option<&str>,
    ) {
        let said = said.map(|said| self.clean_head(said, TEXT_BYTES_MAX));
        let seen = Provenance { source: Attribution::User, ..seen.clone() };
        match &said {
            Some(text) => {
                let stopped = Some(Correction::AfterRejection);
                let context = PromptContext { stopped, ..PromptContext::default() };
                self.requests.push(intent::new_request(seen.clone(), text.clone(), context));
            }
            None => self.stopped = Some(Correction::AfterRejection),
        }
        self.push_rejection(seen, tool, what, said);
    }

    fn add_denial(&mut self, seen: &Provenance, tool: &str, what: &PendingAction, rule: &str) {
        let said = Some(self.clean_tail(rule));
        self.push_rejection(seen.clone(), tool, what, said);
    }

    fn push_rejection(
        &mut self,
        seen: Provenance,
        tool: &str,
        what: &PendingAction,
        said: Option<String>,
    ) {
        let about = match what {
            PendingAction::Command { number, .. } => {
                self.commands.get_mut(*number).map(|command| command.text.clone())
            }
            PendingAction::Read(_)
            | PendingAction::Change(_)
            | PendingAction::Task(_)
            | PendingAction::Todos(_)
            | PendingAction::Agent(_)
            | PendingAction::AgentsEnd(_)
            | PendingAction::Question
            | PendingAction::Plan(_)
            | PendingAction::Outside(_)
            | PendingAction::AgentCommand(_)
            | PendingAction::AgentChange(_)
            | PendingAction::Other => subject_of_call(what),
        };
        self.rejections.push(Rejection { seen, tool: tool.to_owned(), about, said });
    }

    fn start_command(&mut self, seen: &Provenance, text: &str) -> u64 {
        let hash = hash(text.trim().as_bytes());
        let text = self.clean_head(text, COMMAND_BYTES_MAX);
        let before = self.failed_omitted();
        let left_out = &mut self.failed_left_out;
        let goes = |gone: &[ExecutedCommand]| {
            let failed =
                gone.iter().filter(|command| command.exit == CommandStatus::Failed).count();
            *left_out = before.map(|before| before + u64::try_from(failed).unwrap_or_default());
        };
        let command = ExecutedCommand {
            seen: seen.clone(),
            text,
            exit: CommandStatus::Running,
            code: None,
            error: None,
            ended: None,
            background: None,
            passed_later: None,
            hash,
        };
        self.commands.push_evicting(command, goes)
    }

    fn finish_command(&mut self, number: u64, seen: &Provenance, outcome: &ToolOutcome<'_>) {
        let (exit, code, error) = match outcome {
            ToolOutcome::Succeeded => (CommandStatus::Passed, None, None),
            ToolOutcome::Failed { code, text } => {
                (CommandStatus::Failed, *code, Some(self.clean_tail(text)))
            }
            ToolOutcome::Rejected { .. } | ToolOutcome::Denied(_) => {
                (CommandStatus::NotAllowed, None, None)
            }
            ToolOutcome::Interrupted => (CommandStatus::Interrupted, None, None),
            ToolOutcome::Running => return,
        };
        let Some(command) = self.commands.get_mut(number) else {
            // The command was omitted while it ran, and still counts.
            let failed = u64::from(exit == CommandStatus::Failed);
            self.failed_left_out = self.failed_left_out.map(|before| before + failed);
            return;
        };
        command.exit = exit;
        command.code = code;
        command.error = error.filter(|error| !error.is_empty());
        command.ended = Some(seen.clone());
        if exit == CommandStatus::Passed {
            let hash = command.hash;
            self.note_later_pass(number, hash, seen);
        }
    }

    /// Records that a command passed after it failed, with the files that changed in between.
    fn note_later_pass(&mut self, number: u64, hash: u64, seen: &Provenance) {
        let at = usize::try_from(number.saturating_sub(self.commands.left_out)).unwrap_or_default();
        let earlier = self.commands.items.iter_mut().take(at).rev();
        let mut same = earlier.filter(|command| command.hash == hash);
        let Some(failed) = same.next().filter(|command| command.exit == CommandStatus::Failed)
        else {
            return;
        };
        let since = failed.ended.as_ref().map_or(failed.seen.number, |ended| ended.number);
        let changed = self.files.changed_between(since, seen.number);
        failed.passed_later = Some(LaterPass { seen: seen.clone(), changed });
    }

    fn finish_agent_call(
        &mut self,
        number: u64,
        seen: &Provenance,
        outcome: &ToolOutcome<'_>,
        detail: &ToolDetail<'_>,
    ) {
        let report = match detail {
            ToolDetail::Agent { report: Some(report), running: false, .. } => {
                Some(self.clean_head(report, TEXT_BYTES_MAX))
            }
            ToolDetail::Agent { .. }
            | ToolDetail::None
            | ToolDetail::Task(_)
            | ToolDetail::Answers(_)
            | ToolDetail::Background(_)
            | ToolDetail::Output(_)
            | ToolDetail::Plan { .. } => None,
        };
        let started = match detail {
            ToolDetail::Agent { id, running, .. } => Some((self.clean_name(id), *running)),
            ToolDetail::None
            | ToolDetail::Task(_)
            | ToolDetail::Answers(_)
            | ToolDetail::Background(_)
            | ToolDetail::Output(_)
            | ToolDetail::Plan { .. } => None,
        };
        let Some(agent) = self.agents.get_mut(number) else { return };
        let running = started.as_ref().is_some_and(|(_, running)| *running);
        agent.id = started.map(|(id, _)| id).or(agent.id.take());
        match outcome {
            ToolOutcome::Succeeded if !running => agent.state = AgentState::Ended,
            ToolOutcome::Succeeded | ToolOutcome::Running => return,
            ToolOutcome::Failed { .. }
            | ToolOutcome::Rejected { .. }
            | ToolOutcome::Denied(_)
            | ToolOutcome::Interrupted => agent.state = AgentState::Failed,
        }
        agent.report = report;
        agent.ended = Some(seen.clone());
    }

    fn finish_plan(
        &mut self,
        number: u64,
        seen: &Provenance,
        outcome: &ToolOutcome<'_>,
        detail: &ToolDetail<'_>,
    ) {
        let found = match detail {
            ToolDetail::Plan { path, text } => (
                path.as_deref().map(|path| self.clean_name(path)),
                text.as_deref().map(|text| self.clean_head(text, TEXT_BYTES_MAX)),
            ),
            ToolDetail::None
            | ToolDetail::Task(_)
            | ToolDetail::Answers(_)
            | ToolDetail::Agent { .. }
            | ToolDetail::Output(_)
            | ToolDetail::Background(_) => (None, None),
        };
        let Some(plan) = self.plans.get_mut(number) else { return };
        plan.path = found.0.or(plan.path.take());
        plan.text = found.1.or(plan.text.take());
        plan.seen = Provenance { source: Attribution::User, ..seen.clone() };
        match outcome {
            ToolOutcome::Succeeded => plan.state = PlanState::Approved,
            ToolOutcome::Rejected { .. } => plan.state = PlanState::Rejected,
            ToolOutcome::Failed { .. }
            | ToolOutcome::Denied(_)
            | ToolOutcome::Interrupted
            | ToolOutcome::Running => {}
        }
    }

    fn add_answers(&mut self, mark: &RecordRef<'_>, detail: &ToolDetail<'_>) {
        let ToolDetail::Answers(answers) = detail else { return };
        for (question, answer) in answers {
            let question = self.clean_head(question, COMMAND_BYTES_MAX);
            let answer = self.clean_head(answer, TEXT_BYTES_MAX);
            self.answers.push(UserAnswer {
                seen: provenance(mark, Attribution::User),
                question,
                answer,
            });
        }
    }

    fn finish_background(
        &mut self,
        mark: &RecordRef<'_>,
        id: &str,
        outcome: &ToolOutcome<'_>,
        report: Option<&str>,
    ) {
        let seen = provenance(mark, Attribution::Observed);
        let state = match outcome {
            ToolOutcome::Succeeded => AgentState::Ended,
            ToolOutcome::Failed { .. }
            | ToolOutcome::Rejected { .. }
            | ToolOutcome::Denied(_)
            | ToolOutcome::Interrupted => AgentState::Failed,
            ToolOutcome::Running => return,
        };
        self.end_agent(id, &seen, state);
        if let Some(report) = report.filter(|report| !report.trim().is_empty()) {
            let report = self.clean_head(report, TEXT_BYTES_MAX);
            let agents = self.agents.items.iter_mut().rev();
            let agent = { agents }.find(|agent| agent.id.as_deref() == Some(id));
            if let Some(agent) = agent {
                agent.report = Some(report);
            }
        }
        let is_it = |command: &&mut ExecutedCommand| {
            command.background.as_deref() == Some(id) && command.exit == CommandStatus::Running
        };
        let at = self.commands.items.iter_mut().rev().find(is_it);
        if let Some(command) = at {
            let hash = command.hash;
            let same = |other: &ExecutedCommand| {
                other.background.as_deref() == Some(id) && other.hash == hash
            };
            let Some(at) = self.commands.items.iter().rposition(same) else { return };
            let number = self.commands.left_out + u64::try_from(at).unwrap_or_default();
            self.finish_command(number, &seen, outcome);
            self.apply_command(number, &seen, None, outcome, &ToolDetail::None);
        }
    }

    fn end_agent(&mut self, id: &str, seen: &Provenance, state: AgentState) {
        let mut agents = self.agents.items.iter_mut();
        let flying = agents
            .find(|agent| agent.id.as_deref() == Some(id) && agent.state == AgentState::InFlight);
        if let Some(agent) = flying {
            agent.state = state;
            agent.ended = Some(seen.clone());
        }
    }

    fn note_plan_document(&mut self, path: &str, state: PlanState, seen: &Provenance) {
        if !is_plan_path(path) {
            return;
        }
        let known = self.plans.items.iter_mut().find(|plan| plan.path.as_deref() == Some(path));
        match known {
            Some(plan) if plan.state == PlanState::Read && state == PlanState::Written => {
                plan.state = state;
                plan.seen = seen.clone();
            }
            Some(_) => {}
            None => {
                let (seen, path) = (seen.clone(), Some(path.to_owned()));
                self.plans.push(PlanDocument { seen, state, path, text: None });
            }
        }
    }

    fn clean_change(&mut self, change: ToolFileChange) -> ToolFileChange {
        match change {
            ToolFileChange::Write { path, content } => {
                ToolFileChange::Write { path: self.clean_name(&path), content }
            }
            ToolFileChange::Edit { path, parts } => {
                ToolFileChange::Edit { path: self.clean_name(&path), parts }
            }
            ToolFileChange::Delete { path } => {
                ToolFileChange::Delete { path: self.clean_name(&path) }
            }
        }
    }

    pub(super) fn clean_name(&mut self, text: &str) -> String {
        // A stored path is already redacted.
        if self.files.by_path.contains_key(text) {
            return text.to_owned();
        }
        self.clean_head(text, PATH_BYTES_MAX)
    }

    pub(super) fn clean_head(&mut self, text: &str, bytes_max: usize) -> String {
        text::clean_head(text, bytes_max, &mut self.redacted)
    }

    fn clean_tail(&mut self, text: &str) -> String {
        text::clean_tail(text, &mut self.redacted)
    }
}

fn hash_text(text: &str) -> String {
    format!("{:016x}", hash(text.as_bytes()))
}

/// The file, task or title that a call is about.
fn subject_of_call(what: &PendingAction) -> Option<String> {
    match what {
        PendingAction::Read(path) => Some(path.clone()),
        PendingAction::Change(changes) => changes.first().map(|change| change.path().to_owned()),
        PendingAction::Task(change) => change.subject.clone(),
        PendingAction::Outside(made) => made.title.clone(),
        PendingAction::Command { .. }
        | PendingAction::AgentCommand(_)
        | PendingAction::AgentChange(_)
        | PendingAction::Todos(_)
        | PendingAction::Agent(_)
        | PendingAction::AgentsEnd(_)
        | PendingAction::Question
        | PendingAction::Plan(_)
        | PendingAction::Other => None,
    }
}

/// Whether a path is a plan: it is in a `plans` directory, or its name says so.
fn is_plan_path(path: &str) -> bool {
    let lower = path.to_lowercase();
    let Some(stem) = lower.strip_suffix(".md") else { return false };
    let name = stem.rsplit('/').next().unwrap_or_default();
    let ends = |end: &str| name.ends_with(end);
    lower.contains("/plans/")
        || ends("-impl")
        || ends("-design")
        || name.split(|c: char| !c.is_alphanumeric()).any(|word| word == "plan" || word == "plans")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::id::ClientName;

    /// A session to which facts are applied, each as a separate record.
    fn session_of(facts: Vec<Fact<'_>>) -> Session {
        let mut session = Session::new(ClientName::new("claude-code"));
        for (number, fact) in (1..).zip(facts) {
            let record = format!("r{number}").into();
            session.apply(&RecordRef { record, number, at: None, agent: None }, fact);
        }
        session.settle();
        session
    }

    #[test]
    fn a_call_that_is_recorded_twice_counts_once() {
        let run = || Fact::Called {
            call: "c1",
            tool: "Bash",
            what: ToolUse::Command("make test".into()),
        };
        let passed = || Fact::Returned {
            call: "c1",
            outcome: ToolOutcome::Succeeded,
            detail: ToolDetail::None,
        };
        let once = session_of(vec![run(), passed()]);
        // Resumed sessions repeat earlier records under new ids.
        for repeated in [
            vec![run(), run(), passed()],
            vec![run(), passed(), run()],
            vec![run(), passed(), run(), passed()],
        ] {
            let session = session_of(repeated);
            assert_eq!(session.counts.tool_calls, 1);
            assert_eq!(session.commands.items.len(), 1);
            assert_eq!(session.checks.items.len(), once.checks.items.len());
            assert!(session.in_flight().is_empty());
        }
    }

    #[test]
    fn a_call_of_an_mcp_tool_is_work_unless_the_server_is_midstride() {
        let call = |tool| Fact::Called { call: tool, tool, what: ToolUse::Other };
        let session = session_of(vec![call("mcp__n8n__execute_workflow")]);
        assert_eq!(session.counts.mcp_calls, [("n8n execute_workflow".to_owned(), 1)].into());
        assert!(session.without_reading_state().has_work());
        let own = session_of(vec![call("mcp__plugin_midstride_midstride__brief"), call("Read")]);
        assert_eq!(own.counts.total_mcp_calls(), 0);
        assert!(!own.without_reading_state().has_work());
    }

    #[test]
    fn a_call_of_an_agent_that_is_recorded_twice_counts_once() {
        let edit = || Fact::AgentCalled {
            call: "c1",
            what: ToolUse::Change(vec![ToolFileChange::Delete { path: "/shop/a.rs".into() }]),
        };
        let done = || Fact::Returned {
            call: "c1",
            outcome: ToolOutcome::Succeeded,
            detail: ToolDetail::None,
        };
        let once = session_of(vec![edit(), done()]);
        let twice = session_of(vec![edit(), done(), edit(), done()]);
        assert_eq!(once.other_edits.items.len(), 1);
        assert_eq!(twice.other_edits, once.other_edits);
    }

    #[test]
    fn a_summary_is_stored_up_to_its_limit() {
        let stored = |length: usize| {
            let text = "word ".repeat(length / 5);
            let session = session_of(vec![Fact::Summary(text.trim().to_owned().into())]);
            session.summary.unwrap().text
        };
        assert_eq!(stored(30_000), "word ".repeat(6_000).trim());
        let long = stored(50_000);
        assert!(long.len() < (32 << 10) + 100, "{}", long.len());
        assert!(long.starts_with(&"word ".repeat(6_500)));
        assert!(long.ends_with("… (cut; 49999 bytes in all)"), "{}", &long[long.len() - 40..]);
    }

    #[test]
    fn the_first_folder_and_sixteen_others_are_kept() {
        let folders: Vec<String> = (0..20).map(|number| format!("/work/{number}")).collect();
        let identity = |cwd| Fact::Identity(Identity { cwd: Some(cwd), ..Identity::default() });
        let twice = folders.iter().flat_map(|folder| [folder, folder]).chain(&folders);
        let session = session_of(twice.map(|folder| identity(folder.as_str())).collect());
        assert_eq!(session.cwd.as_deref(), Some("/work/0"));
        assert_eq!(session.other_folders, folders[1..17]);
    }
}
