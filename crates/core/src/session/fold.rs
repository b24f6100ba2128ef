//! The fold: facts come in one after the other, and the session is what they add up to.

use super::Session;
use super::copies::Copies;
use super::fact::{Call, Detail, Fact, Identity, Mark, Outcome};
use super::files::Change;
use super::hash::hash;
use super::intent::{self, Context};
use super::item::{
    Agent, AgentState, Answer, ApiError, Command, Compaction, Correction, Exit, Interrupt,
    PassedLater, Plan, PlanState, Rejection, Said, Seen, Skill, Source, TaskStatus, ToolError,
    TurnEnd, TurnStart, Words,
};
use super::seen::{record_name, seen};
use super::tasks::OwnedTask;
use super::text::{self, COMMAND_BYTES_MAX, PATH_BYTES_MAX, TEXT_BYTES_MAX};
use super::work::OtherEdit;
use serde::{Deserialize, Serialize};

/// Calls that never come back are forgotten in the end.
const PENDING_MAX: usize = 10_000;
/// So many calls that came back are known, so that nothing told twice counts twice.
const DONE_MAX: usize = 4_096;
/// A summary that took the place of a context is kept up to here.
const SUMMARY_BYTES_MAX: usize = 32 << 10;
/// Folders that are kept.
const FOLDERS_MAX: usize = 16;

/// A call that has not come back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pending {
    pub(super) tool: String,
    pub(super) seen: Seen,
    what: Waiting,
}

impl Pending {
    /// Whether it is a call of the session itself.
    pub(super) fn is_own(&self) -> bool {
        !matches!(self.what, Waiting::AgentCommand(_) | Waiting::AgentChange(_))
    }
}

/// What a call was for, as far as its end needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Waiting {
    Command {
        number: u64,
        /// What was typed, where it does more than look.
        script: Option<Script>,
    },
    Outside(Box<Outside>),
    /// A command of an agent.
    AgentCommand(Script),
    /// Files that an agent changes.
    AgentChange(Vec<String>),
    Read(String),
    Change(Vec<Change>),
    Task(OwnedTask),
    Todos(Vec<(String, TaskStatus)>),
    Agent(u64),
    AgentsEnd(Vec<String>),
    Question,
    Plan(u64),
    Other,
}

/// A command line, as far as its end needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Script {
    /// All of it, where more was typed than is kept of a command.
    pub(super) text: Option<String>,
    /// Where it runs.
    pub(super) folder: Option<String>,
}

/// Something that a tool changes outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Outside {
    pub(super) action: String,
    pub(super) title: Option<String>,
    pub(super) boxes: Option<Vec<String>>,
}

impl Session {
    /// Takes a fact in.
    pub fn apply(&mut self, mark: &Mark<'_>, fact: Fact<'_>) {
        if let Fact::Record(linked) = &fact {
            self.counts.seen += 1;
            let is_copy = self.is_copy(mark, linked);
            self.passing_over = !self.chain.add(linked) || is_copy;
            self.counts.duplicates += u64::from(self.passing_over);
            return;
        }
        if self.passing_over {
            return self.heed_copy(mark, &fact);
        }
        match fact {
            Fact::Record(_) => {}
            Fact::Sort(sort) => self.understand(mark, sort),
            Fact::Skipped(reason) => self.counts.skip(reason),
            Fact::Unknown(kind) => {
                let kind = self.name(&kind);
                self.counts.unknown(&kind);
            }
            Fact::Mended => self.counts.mended += 1,
            Fact::Identity(identity) => self.identify(&identity),
            Fact::Asked(text) => self.asked(mark, &text),
            Fact::Noticed => self.start_turn(mark, TurnStart::Notice),
            Fact::Queued(text) => self.queue(mark, &text),
            Fact::Unqueued { fate, text } => self.unqueued(mark, fate, text.as_deref()),
            Fact::Delivered(text) => self.delivered(mark, &text),
            Fact::Said(text) => self.said(mark, &text),
            Fact::TurnOver(is_over) => {
                if mark.agent.is_none() {
                    self.turns.mark_over(is_over);
                }
            }
            Fact::Called { call, tool, what } => self.called(mark, call, tool, what),
            Fact::AgentCalled { call, what } => self.agent_called(mark, call, what),
            Fact::Returned { call, outcome, detail } => {
                self.returned(mark, call, &outcome, &detail);
            }
            Fact::Ended { id, outcome, report } => {
                self.ended(mark, &id, &outcome, report.as_deref());
            }
            Fact::Skill { name, arguments } => self.skill(mark, Source::User, &name, &arguments),
            Fact::Compacted { trigger, before, after, summary } => {
                let trigger = trigger.map(|trigger| self.name(&trigger));
                let seen = seen(mark, Source::Observed);
                let summary = summary.filter(|text| !text.is_empty());
                if let Some(summary) = &summary {
                    self.take_back_words(summary);
                }
                let summary_hash = summary.as_ref().map(|text| shown(text));
                if let Some(text) = &summary {
                    self.summarized(mark, text);
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
                    last.summary_hash = Some(shown(&text));
                }
                self.summarized(mark, &text);
            }
            Fact::ApiError { status, text } => {
                let text = self.tail(&text);
                let seen = seen(mark, Source::Observed);
                self.happen(mark, &seen, TurnEnd::Failed);
                self.api_errors.push(ApiError { seen, status, text });
            }
            Fact::Interrupted => {
                let seen = seen(mark, Source::User);
                self.happen(mark, &seen, TurnEnd::Interrupted);
                self.interrupts.push(Interrupt { seen });
                // A rejection says more than the interrupt that comes with it.
                self.stopped.get_or_insert(Correction::AfterInterrupt);
            }
            Fact::RolledBack(turns) => self.chain.roll_back(turns),
            Fact::Used(used) => self.usage.add(&used, mark.agent.is_some()),
        }
    }

    /// Cleans what was put off. Whoever looks at a session, or stores it, does this first.
    pub fn settle(&mut self) {
        self.passing_over = false;
        self.copies = Copies::None;
        self.words_before = None;
        self.turns.settle(&mut self.redacted);
        if let Some((seen, words)) = self.words.take() {
            let mut redacted = text::Redacted::new();
            let text = text::head(&words, TEXT_BYTES_MAX, &mut redacted);
            self.last_words = Some(Words { seen, text, redacted });
        }
    }

    fn understand(&mut self, mark: &Mark<'_>, sort: &str) {
        self.counts.understood += 1;
        self.counts.sort(sort);
        if let Some(at) = mark.at {
            // Clocks are set back now and then.
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
            self.folder_now = Some(self.name(cwd));
        }
        if let Some(cwd) = cwd.filter(|cwd| self.cwd.as_deref() != Some(*cwd)) {
            let cwd = self.name(cwd);
            let new = self.cwd.as_ref() != Some(&cwd) && !self.other_folders.contains(&cwd);
            if self.cwd.is_none() {
                self.cwd = Some(cwd);
            } else if new && self.other_folders.len() < FOLDERS_MAX {
                self.other_folders.push(cwd);
            }
        }
        // The first one is the session's; copies of records name others.
        for (slot, said) in [(0, session), (1, forked_from), (2, commit), (3, agent_of)] {
            let Some(said) = said else { continue };
            let known = [&self.id, &self.forked_from, &self.commit, &self.agent_of][slot].is_some();
            if !known {
                let said = Some(self.name(said));
                let Self { id, forked_from, commit, agent_of, .. } = &mut *self;
                *[id, forked_from, commit, agent_of][slot] = said;
            }
        }
        for (slot, said) in [(0, version), (1, model), (2, branch), (3, title)] {
            let Some(said) = said.filter(|said| !said.is_empty()) else { continue };
            let now = [&self.version, &self.model, &self.branch, &self.title][slot].as_deref();
            if now != Some(said) {
                let said = Some(self.name(said));
                *[&mut self.version, &mut self.model, &mut self.branch, &mut self.title][slot] =
                    said;
            }
        }
    }

    fn asked(&mut self, mark: &Mark<'_>, text: &str) {
        if mark.agent.is_some() || text.trim().is_empty() {
            return;
        }
        let text = self.head(text, TEXT_BYTES_MAX);
        self.reached(&text);
        self.start_turn(mark, TurnStart::User);
        self.request(mark, text);
    }

    /// The newest summary is kept: it says what the context before it was about.
    fn summarized(&mut self, mark: &Mark<'_>, text: &str) {
        let text = self.head(text, SUMMARY_BYTES_MAX);
        self.summary = Some(Said { seen: seen(mark, Source::Agent), text });
    }

    fn start_turn(&mut self, mark: &Mark<'_>, start: TurnStart) {
        if mark.agent.is_none() {
            self.turns.start(seen(mark, Source::User), start, &mut self.redacted);
        }
    }

    /// Something happens in the running turn; what agents do in theirs says nothing about it.
    fn happen(&mut self, mark: &Mark<'_>, seen: &Seen, end: TurnEnd) {
        if mark.agent.is_none() {
            self.turns.happen(seen, end);
        }
    }

    /// The user asks for something, in a text that is clean.
    pub(super) fn request(&mut self, mark: &Mark<'_>, text: String) -> u64 {
        // The first words of a session that goes on from another one can correct that one.
        let is_first = self.requests.is_empty() && self.forked_after.is_none();
        let previous = self.requests.items.last().map(|last| last.text.as_str());
        let context = Context { is_first, stopped: self.stopped.take(), previous };
        let mut request = intent::request(seen(mark, Source::User), text, context);
        request.branch = self.branch.clone().filter(|_| !request.limits.is_empty());
        request.headless = self.headless;
        self.requests.push(request)
    }

    fn said(&mut self, mark: &Mark<'_>, text: &str) {
        if mark.agent.is_some() || text.trim().is_empty() {
            return;
        }
        self.turns.say(seen(mark, Source::Agent), text);
        let start = text::start_of(text, TEXT_BYTES_MAX);
        if self.words.as_ref().is_some_and(|(_, words)| words != start) {
            std::mem::swap(&mut self.words, &mut self.words_before);
        }
        // The last words are the last ones: what comes before is not worth cleaning.
        match &mut self.words {
            Some((at, words)) => {
                words.clear();
                words.push_str(start);
                *at = seen(mark, Source::Agent);
            }
            None => self.words = Some((seen(mark, Source::Agent), start.to_owned())),
        }
    }

    /// A client that writes its summary down as if it were said to the user said something else last.
    fn take_back_words(&mut self, summary: &str) {
        // Only the beginning of long words is kept.
        let is_cut = |words: &str| words.len() + char::MAX.len_utf8() > TEXT_BYTES_MAX;
        let is_summary = |words: &str| {
            summary.trim_end().ends_with(words.trim()) || (is_cut(words) && summary.contains(words))
        };
        if self.words.as_ref().is_some_and(|(_, words)| is_summary(words)) {
            self.words = self.words_before.take();
        }
        self.turns.take_back(|words| is_summary(words));
    }

    fn skill(&mut self, mark: &Mark<'_>, source: Source, name: &str, arguments: &str) {
        let (name, arguments) = (self.name(name), self.head(arguments, COMMAND_BYTES_MAX));
        self.skills.push(Skill { seen: seen(mark, source), name, arguments });
    }

    fn called(&mut self, mark: &Mark<'_>, call: &str, tool: &str, what: Call<'_>) {
        let id = hash(call.as_bytes());
        if self.pending.contains_key(&id) || self.done.contains(&id) {
            return;
        }
        self.counts.tool_calls += 1;
        if mark.agent.is_none() {
            // It works on, so what the user says next is not about having stopped it.
            self.stopped = None;
        }
        let seen = seen(mark, Source::Observed);
        self.happen(mark, &seen, TurnEnd::Called);
        let what = match what {
            Call::Command(command) => {
                let script = self.script(&command);
                Waiting::Command { number: self.command(&seen, &command), script }
            }
            Call::Outside { action, title, body } => {
                Waiting::Outside(Box::new(self.outside(&action, title.as_deref(), body.as_deref())))
            }
            Call::Read(path) => Waiting::Read(self.name(&path)),
            Call::Change(changes) => Waiting::Change(
                changes.into_iter().map(|change| self.clean_change(change)).collect(),
            ),
            Call::Task(change) => Waiting::Task(self.owned(&change)),
            Call::Todos(todos) => Waiting::Todos(self.todos(&todos)),
            Call::Agent { kind, about, prompt } => {
                let agent = Agent {
                    seen: seen.clone(),
                    id: None,
                    kind: kind.map(|kind| self.name(&kind)),
                    about: about.map(|about| self.head(&about, COMMAND_BYTES_MAX)),
                    prompt: prompt.map(|prompt| self.head(&prompt, TEXT_BYTES_MAX)),
                    state: AgentState::InFlight,
                    ended: None,
                    report: None,
                };
                Waiting::Agent(self.agents.push(agent))
            }
            Call::AgentsEnd(ids) => {
                Waiting::AgentsEnd(ids.iter().take(FOLDERS_MAX).map(|id| self.name(id)).collect())
            }
            Call::Question => Waiting::Question,
            Call::Plan(text) => {
                let text = text.map(|text| self.head(&text, TEXT_BYTES_MAX));
                let (seen, state) = (seen.clone(), PlanState::Proposed);
                Waiting::Plan(self.plans.push(Plan { seen, state, path: None, text }))
            }
            Call::Skill { name, arguments } => {
                self.skill(mark, Source::Agent, &name, &arguments);
                Waiting::Other
            }
            Call::Other => Waiting::Other,
        };
        if self.pending.len() >= PENDING_MAX {
            self.pending.pop_first();
        }
        let tool = self.name(tool);
        self.pending.insert(id, Pending { tool, seen, what });
    }

    /// An agent's call counts for the agent; here only what it does to the project is of interest.
    fn agent_called(&mut self, mark: &Mark<'_>, call: &str, what: Call<'_>) {
        let id = hash(call.as_bytes());
        let what = match what {
            Call::Command(text) => match self.script(&text) {
                Some(script) => {
                    let all = script.text.unwrap_or_else(|| self.head(&text, COMMAND_BYTES_MAX));
                    Waiting::AgentCommand(Script { text: Some(all), ..script })
                }
                None => return,
            },
            Call::Change(changes) => {
                Waiting::AgentChange(changes.iter().map(|one| self.name(one.path())).collect())
            }
            Call::Read(_)
            | Call::Task(_)
            | Call::Todos(_)
            | Call::Agent { .. }
            | Call::AgentsEnd(_)
            | Call::Question
            | Call::Plan(_)
            | Call::Skill { .. }
            | Call::Outside { .. }
            | Call::Other => return,
        };
        if self.pending.len() < PENDING_MAX && !self.done.contains(&id) {
            let seen = seen(mark, Source::Observed);
            self.pending.insert(id, Pending { tool: String::new(), seen, what });
        }
    }

    fn returned(
        &mut self,
        mark: &Mark<'_>,
        call: &str,
        outcome: &Outcome<'_>,
        detail: &Detail<'_>,
    ) {
        let id = hash(call.as_bytes());
        let Some(Pending { tool, seen: called, what }) = self.pending.get(&id).cloned() else {
            return;
        };
        let seen = seen(mark, Source::Observed);
        if let (Outcome::Running, Waiting::Command { number, .. }) = (outcome, &what) {
            // It says more when it ends.
            let Detail::Background(name) = detail else { return };
            let name = self.name(name);
            let Some(command) = self.commands.get_mut(*number) else { return };
            command.background = Some(name);
        }
        self.pending.remove(&id);
        if self.done.len() >= DONE_MAX {
            self.done.pop_front();
        }
        self.done.push_back(id);
        let is_of_agent = matches!(what, Waiting::AgentCommand(_) | Waiting::AgentChange(_));
        if let (Outcome::Rejected { said }, false) = (outcome, is_of_agent) {
            self.rejected(&seen, &tool, &what, said.as_deref());
        }
        if let (Outcome::Denied(rule), false) = (outcome, is_of_agent) {
            self.denied(&seen, &tool, &what, rule);
        }
        match what {
            Waiting::Command { number, script } => {
                self.command_ended(number, &seen, outcome);
                self.command_ran(number, &seen, script, outcome, detail);
            }
            Waiting::Outside(made) => self.outside_ended(&tool, &seen, *made, outcome, detail),
            Waiting::AgentCommand(script) => {
                let text = script.text.as_deref().unwrap_or_default();
                let folder = script.folder.as_deref();
                self.line_ended((&called, &seen), (text, folder), outcome, detail);
            }
            Waiting::AgentChange(paths) => {
                if matches!(outcome, Outcome::Good) {
                    for path in paths {
                        let (seen, path) = (seen.clone(), Some(path));
                        self.other_edits.push(OtherEdit { seen, path, command: None });
                    }
                }
            }
            Waiting::Agent(number) => self.agent_returned(number, &seen, outcome, detail),
            Waiting::Plan(number) => self.decided(number, &seen, outcome, detail),
            Waiting::Question => self.answered(mark, detail),
            Waiting::Read(_)
            | Waiting::Change(_)
            | Waiting::Task(_)
            | Waiting::Todos(_)
            | Waiting::AgentsEnd(_)
            | Waiting::Other => match outcome {
                Outcome::Good | Outcome::Running => self.done_well(&seen, what, detail),
                Outcome::Failed { text, .. } => {
                    let path = about(&what);
                    let text = self.tail(text);
                    self.errors.push(ToolError { seen, tool, path, text });
                }
                Outcome::Rejected { .. } | Outcome::Denied(_) | Outcome::Interrupted => {}
            },
        }
    }

    fn done_well(&mut self, seen: &Seen, what: Waiting, detail: &Detail<'_>) {
        match what {
            Waiting::Read(path) => {
                self.plan_document(&path, PlanState::Read, seen);
                self.files.read(path, seen);
            }
            Waiting::Change(changes) => {
                for change in &changes {
                    self.plan_document(change.path(), PlanState::Written, seen);
                    self.files.change(change, seen);
                }
            }
            Waiting::Task(change) => self.change_task(seen, change, detail),
            Waiting::Todos(todos) => self.replace_tasks(seen, todos),
            Waiting::AgentsEnd(ids) => {
                for id in &ids {
                    self.end_agent(id, seen, AgentState::Ended);
                }
            }
            Waiting::Command { .. }
            | Waiting::Outside(_)
            | Waiting::AgentCommand(_)
            | Waiting::AgentChange(_)
            | Waiting::Agent(_)
            | Waiting::Plan(_)
            | Waiting::Question
            | Waiting::Other => {}
        }
    }

    fn rejected(&mut self, seen: &Seen, tool: &str, what: &Waiting, said: Option<&str>) {
        let said = said.map(|said| self.head(said, TEXT_BYTES_MAX));
        let seen = Seen { source: Source::User, ..seen.clone() };
        match &said {
            Some(text) => {
                let stopped = Some(Correction::AfterRejection);
                let context = Context { stopped, ..Context::default() };
                self.requests.push(intent::request(seen.clone(), text.clone(), context));
            }
            None => self.stopped = Some(Correction::AfterRejection),
        }
        self.reject(seen, tool, what, said);
    }

    fn denied(&mut self, seen: &Seen, tool: &str, what: &Waiting, rule: &str) {
        let said = Some(self.tail(rule));
        self.reject(seen.clone(), tool, what, said);
    }

    fn reject(&mut self, seen: Seen, tool: &str, what: &Waiting, said: Option<String>) {
        let about = match what {
            Waiting::Command { number, .. } => {
                self.commands.get_mut(*number).map(|command| command.text.clone())
            }
            Waiting::Read(_)
            | Waiting::Change(_)
            | Waiting::Task(_)
            | Waiting::Todos(_)
            | Waiting::Agent(_)
            | Waiting::AgentsEnd(_)
            | Waiting::Question
            | Waiting::Plan(_)
            | Waiting::Outside(_)
            | Waiting::AgentCommand(_)
            | Waiting::AgentChange(_)
            | Waiting::Other => about(what),
        };
        self.rejections.push(Rejection { seen, tool: tool.to_owned(), about, said });
    }

    fn command(&mut self, seen: &Seen, text: &str) -> u64 {
        let hash = hash(text.trim().as_bytes());
        let text = self.head(text, COMMAND_BYTES_MAX);
        let before = self.failed_before();
        let left_out = &mut self.failed_left_out;
        let goes = |gone: &[Command]| {
            let failed = gone.iter().filter(|command| command.exit == Exit::Failed).count();
            *left_out = before.map(|before| before + u64::try_from(failed).unwrap_or_default());
        };
        let command = Command {
            seen: seen.clone(),
            text,
            exit: Exit::Running,
            code: None,
            error: None,
            ended: None,
            background: None,
            passed_later: None,
            hash,
        };
        self.commands.push_past(command, goes)
    }

    fn command_ended(&mut self, number: u64, seen: &Seen, outcome: &Outcome<'_>) {
        let (exit, code, error) = match outcome {
            Outcome::Good => (Exit::Passed, None, None),
            Outcome::Failed { code, text } => (Exit::Failed, *code, Some(self.tail(text))),
            Outcome::Rejected { .. } | Outcome::Denied(_) => (Exit::NotAllowed, None, None),
            Outcome::Interrupted => (Exit::Interrupted, None, None),
            Outcome::Running => return,
        };
        let Some(command) = self.commands.get_mut(number) else {
            // It was left out while it ran, and counts all the same.
            let failed = u64::from(exit == Exit::Failed);
            self.failed_left_out = self.failed_left_out.map(|before| before + failed);
            return;
        };
        command.exit = exit;
        command.code = code;
        command.error = error.filter(|error| !error.is_empty());
        command.ended = Some(seen.clone());
        if exit == Exit::Passed {
            let hash = command.hash;
            self.passed(number, hash, seen);
        }
    }

    /// The same command failed before: what changed in between made it pass.
    fn passed(&mut self, number: u64, hash: u64, seen: &Seen) {
        let at = usize::try_from(number.saturating_sub(self.commands.left_out)).unwrap_or_default();
        let earlier = self.commands.items.iter_mut().take(at).rev();
        let mut same = earlier.filter(|command| command.hash == hash);
        let Some(failed) = same.next().filter(|command| command.exit == Exit::Failed) else {
            return;
        };
        let since = failed.ended.as_ref().map_or(failed.seen.number, |ended| ended.number);
        let changed = self.files.changed_between(since, seen.number);
        failed.passed_later = Some(PassedLater { seen: seen.clone(), changed });
    }

    fn agent_returned(
        &mut self,
        number: u64,
        seen: &Seen,
        outcome: &Outcome<'_>,
        detail: &Detail<'_>,
    ) {
        let report = match detail {
            Detail::Agent { report: Some(report), running: false, .. } => {
                Some(self.head(report, TEXT_BYTES_MAX))
            }
            Detail::Agent { .. }
            | Detail::None
            | Detail::Task(_)
            | Detail::Answers(_)
            | Detail::Background(_)
            | Detail::Output(_)
            | Detail::Plan { .. } => None,
        };
        let started = match detail {
            Detail::Agent { id, running, .. } => Some((self.name(id), *running)),
            Detail::None
            | Detail::Task(_)
            | Detail::Answers(_)
            | Detail::Background(_)
            | Detail::Output(_)
            | Detail::Plan { .. } => None,
        };
        let Some(agent) = self.agents.get_mut(number) else { return };
        let running = started.as_ref().is_some_and(|(_, running)| *running);
        agent.id = started.map(|(id, _)| id).or(agent.id.take());
        match outcome {
            Outcome::Good if !running => agent.state = AgentState::Ended,
            Outcome::Good | Outcome::Running => return,
            Outcome::Failed { .. }
            | Outcome::Rejected { .. }
            | Outcome::Denied(_)
            | Outcome::Interrupted => agent.state = AgentState::Failed,
        }
        agent.report = report;
        agent.ended = Some(seen.clone());
    }

    fn decided(&mut self, number: u64, seen: &Seen, outcome: &Outcome<'_>, detail: &Detail<'_>) {
        let told = match detail {
            Detail::Plan { path, text } => (
                path.as_deref().map(|path| self.name(path)),
                text.as_deref().map(|text| self.head(text, TEXT_BYTES_MAX)),
            ),
            Detail::None
            | Detail::Task(_)
            | Detail::Answers(_)
            | Detail::Agent { .. }
            | Detail::Output(_)
            | Detail::Background(_) => (None, None),
        };
        let Some(plan) = self.plans.get_mut(number) else { return };
        plan.path = told.0.or(plan.path.take());
        plan.text = told.1.or(plan.text.take());
        plan.seen = Seen { source: Source::User, ..seen.clone() };
        match outcome {
            Outcome::Good => plan.state = PlanState::Approved,
            Outcome::Rejected { .. } => plan.state = PlanState::Rejected,
            Outcome::Failed { .. }
            | Outcome::Denied(_)
            | Outcome::Interrupted
            | Outcome::Running => {}
        }
    }

    fn answered(&mut self, mark: &Mark<'_>, detail: &Detail<'_>) {
        let Detail::Answers(answers) = detail else { return };
        for (question, answer) in answers {
            let question = self.head(question, COMMAND_BYTES_MAX);
            let answer = self.head(answer, TEXT_BYTES_MAX);
            self.answers.push(Answer { seen: seen(mark, Source::User), question, answer });
        }
    }

    fn ended(&mut self, mark: &Mark<'_>, id: &str, outcome: &Outcome<'_>, report: Option<&str>) {
        let seen = seen(mark, Source::Observed);
        let state = match outcome {
            Outcome::Good => AgentState::Ended,
            Outcome::Failed { .. }
            | Outcome::Rejected { .. }
            | Outcome::Denied(_)
            | Outcome::Interrupted => AgentState::Failed,
            Outcome::Running => return,
        };
        self.end_agent(id, &seen, state);
        if let Some(report) = report.filter(|report| !report.trim().is_empty()) {
            let report = self.head(report, TEXT_BYTES_MAX);
            let agents = self.agents.items.iter_mut().rev();
            let agent = { agents }.find(|agent| agent.id.as_deref() == Some(id));
            if let Some(agent) = agent {
                agent.report = Some(report);
            }
        }
        let is_it = |command: &&mut Command| {
            command.background.as_deref() == Some(id) && command.exit == Exit::Running
        };
        let at = self.commands.items.iter_mut().rev().find(is_it);
        if let Some(command) = at {
            let hash = command.hash;
            let same =
                |other: &Command| other.background.as_deref() == Some(id) && other.hash == hash;
            let Some(at) = self.commands.items.iter().rposition(same) else { return };
            let number = self.commands.left_out + u64::try_from(at).unwrap_or_default();
            self.command_ended(number, &seen, outcome);
            self.command_ran(number, &seen, None, outcome, &Detail::None);
        }
    }

    fn end_agent(&mut self, id: &str, seen: &Seen, state: AgentState) {
        let mut agents = self.agents.items.iter_mut();
        let flying = agents
            .find(|agent| agent.id.as_deref() == Some(id) && agent.state == AgentState::InFlight);
        if let Some(agent) = flying {
            agent.state = state;
            agent.ended = Some(seen.clone());
        }
    }

    fn plan_document(&mut self, path: &str, state: PlanState, seen: &Seen) {
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
                self.plans.push(Plan { seen, state, path, text: None });
            }
        }
    }

    fn clean_change(&mut self, change: Change) -> Change {
        match change {
            Change::Write { path, content } => Change::Write { path: self.name(&path), content },
            Change::Edit { path, parts } => Change::Edit { path: self.name(&path), parts },
            Change::Delete { path } => Change::Delete { path: self.name(&path) },
        }
    }

    pub(super) fn name(&mut self, text: &str) -> String {
        // A path that is kept was cleaned before.
        if self.files.by_path.contains_key(text) {
            return text.to_owned();
        }
        self.head(text, PATH_BYTES_MAX)
    }

    pub(super) fn head(&mut self, text: &str, bytes_max: usize) -> String {
        text::head(text, bytes_max, &mut self.redacted)
    }

    fn tail(&mut self, text: &str) -> String {
        text::tail(text, &mut self.redacted)
    }
}

fn shown(text: &str) -> String {
    format!("{:016x}", hash(text.as_bytes()))
}

/// The file that a call was about.
fn about(what: &Waiting) -> Option<String> {
    match what {
        Waiting::Read(path) => Some(path.clone()),
        Waiting::Change(changes) => changes.first().map(|change| change.path().to_owned()),
        Waiting::Task(change) => change.subject.clone(),
        Waiting::Outside(made) => made.title.clone(),
        Waiting::Command { .. }
        | Waiting::AgentCommand(_)
        | Waiting::AgentChange(_)
        | Waiting::Todos(_)
        | Waiting::Agent(_)
        | Waiting::AgentsEnd(_)
        | Waiting::Question
        | Waiting::Plan(_)
        | Waiting::Other => None,
    }
}

/// Plans lie in a folder of plans, or have the word in their name.
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
