//! A session: what one run of a client did, folded from the facts in its transcript.
//!
//! The fold never fails or panics, whatever order the facts arrive in. Texts are redacted and
//! truncated before they are stored. Lists are bounded, and omitted entries are counted. Each item
//! records where it was seen and who said it.

pub mod author_notes;
mod bounded_list;
mod chain;
pub mod checkpoint;
mod command_effects;
mod copies;
mod counts;
pub mod coverage;
mod fact;
mod files;
mod fold;
mod hash;
pub mod instruction;
pub mod intent;
mod item;
mod merge_agent;
mod provenance;
pub mod quality;
mod queue;
pub mod report;
pub mod repository;
pub mod shell;
mod status;
mod tasks;
mod text;
pub mod transcript;
mod turns;
mod work;

pub use bounded_list::BoundedList;
pub use copies::{CopiedRecords, RecordIds};
pub(crate) use counts::context_window;
pub use counts::{RecordCounts, Usage};
pub use fact::{
    DequeueReason, Fact, Identity, RecordLink, RecordRef, RecordRole, ResponseUsage, TaskUpdate,
    Todo, ToolDetail, ToolOutcome, ToolUse,
};
pub use files::{FileRemoval, FileRemovalKind, ToolFileChange, TouchedFile, TouchedFiles};
pub use hash::hash;
pub use item::{
    Agent, AgentMessage, AgentState, ApiError, Attribution, CommandStatus, Compaction, Correction,
    ExecutedCommand, Interrupt, LastMessage, LaterPass, PlanDocument, PlanState, Provenance,
    QueuedPrompt, Rejection, Request, SessionTask, SessionTaskStatus, Skill, ToolError, Turn,
    TurnEnd, TurnStart, UserAnswer,
};
pub use status::{
    CheckState, EffectGroup, FailureFollowUp, OpenFailure, OpenFailureKind, edits_since,
    effect_groups, existing_commits, last_checks, open_failures, unchecked_boxes,
};
pub(crate) use text::display_text;
pub use turns::Turns;
pub use work::{
    CheckRun, CommitState, Effect, GitConflict, IndirectEdit, PushRecord, SessionCommit,
};

use crate::text::id::{ClientName, CommitId, SessionId};
use chain::Chain;
use fold::PendingCall;
use jiff::Timestamp;
use queue::UndeliveredPrompts;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Everything recorded about one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The client that ran the session.
    pub client: ClientName,
    /// The session id, as the client assigns it.
    pub id: Option<SessionId>,
    /// The session that this one was forked from.
    pub forked_from: Option<SessionId>,
    /// The last record copied from the session it was forked from. Records up to this one are not
    /// the session's own. None when the other transcript was missing; copied records then count as
    /// own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub forked_after: Option<String>,
    /// What the user asked in the original session before the fork. Those requests still apply
    /// here.
    #[serde(skip_serializing_if = "BoundedList::is_empty", default)]
    pub asked_before: BoundedList<Request>,
    /// The session that started this one as an agent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent_of: Option<SessionId>,
    /// The task list shared with other sessions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task_list: Option<String>,
    /// The first working directory.
    pub cwd: Option<String>,
    /// The other working directories.
    pub other_folders: Vec<String>,
    /// The version of the client.
    pub version: Option<String>,
    /// The model of the latest response.
    pub model: Option<String>,
    /// The branch checked out last, as the client reported it.
    pub branch: Option<String>,
    /// Whether the latest start was by a script, as in `claude -p` and `codex exec`.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub headless: bool,
    /// The commit checked out at the start, as the client reported it.
    pub commit: Option<CommitId>,
    /// The title given by the client or the user.
    pub title: Option<String>,
    /// The earliest timestamp.
    pub began: Option<Timestamp>,
    /// The latest timestamp.
    pub ended: Option<Timestamp>,
    /// The last record that was parsed.
    pub last_record: Option<String>,
    /// The user's prompts.
    pub requests: BoundedList<Request>,
    /// Prompts the user typed while the client was busy, and that were never delivered.
    pub queued: Vec<QueuedPrompt>,
    /// The user's answers to the client's questions.
    pub answers: BoundedList<UserAnswer>,
    /// Plan documents.
    pub plans: BoundedList<PlanDocument>,
    /// Tasks with their status.
    pub tasks: Vec<SessionTask>,
    /// Agents that the session started.
    pub agents: BoundedList<Agent>,
    /// Files that the session read or changed.
    pub files: TouchedFiles,
    /// Commands that the session ran.
    pub commands: BoundedList<ExecutedCommand>,
    /// How many of the omitted commands failed. None when no command was omitted, or when the
    /// session was stored before these were counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failed_left_out: Option<u64>,
    /// Checks that the session ran: tests, linters, builds.
    #[serde(skip_serializing_if = "BoundedList::is_empty", default)]
    pub checks: BoundedList<CheckRun>,
    /// Commits that the session made.
    #[serde(skip_serializing_if = "BoundedList::is_empty", default)]
    pub commits: BoundedList<SessionCommit>,
    /// Effects outside the project: pushes, pull requests, comments, releases, deployments.
    #[serde(skip_serializing_if = "BoundedList::is_empty", default)]
    pub effects: BoundedList<Effect>,
    /// Merges and rebases that stopped on conflicts.
    #[serde(skip_serializing_if = "BoundedList::is_empty", default)]
    pub conflicts: BoundedList<GitConflict>,
    /// File changes made by commands, and by agents as the client reported them while they ran.
    #[serde(skip_serializing_if = "BoundedList::is_empty", default)]
    pub other_edits: BoundedList<IndirectEdit>,
    /// Failed calls of tools other than the shell.
    pub errors: BoundedList<ToolError>,
    /// Calls that the user or one of their rules rejected.
    pub rejections: BoundedList<Rejection>,
    /// Interrupts by the user.
    pub interrupts: BoundedList<Interrupt>,
    /// Skills and slash commands that were used.
    pub skills: BoundedList<Skill>,
    /// Compactions: the client replaced the context with a summary.
    pub compactions: BoundedList<Compaction>,
    /// Failed requests to the model.
    pub api_errors: BoundedList<ApiError>,
    /// Token usage.
    pub usage: Usage,
    /// The agent's last message.
    pub last_words: Option<LastMessage>,
    /// The latest summary that replaced the context, or that the session started with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub summary: Option<AgentMessage>,
    /// The agent's messages, turn by turn.
    #[serde(skip_serializing_if = "Turns::is_empty", default)]
    pub turns: Turns,
    /// How many records were read, parsed and skipped.
    pub counts: RecordCounts,
    /// Redacted secrets, by kind.
    pub redacted: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Chain::is_empty", default)]
    chain: Chain,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pending: BTreeMap<u64, PendingCall>,
    #[serde(skip_serializing_if = "VecDeque::is_empty", default)]
    done: VecDeque<u64>,
    #[serde(skip)]
    words: Option<(Provenance, String)>,
    /// The message before `words`, restored when `words` turns out to be a summary.
    #[serde(skip)]
    words_before: Option<(Provenance, String)>,
    #[serde(skip)]
    passing_over: bool,
    #[serde(skip)]
    copies: CopiedRecords,
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    is_in_copies: bool,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    stopped: Option<Correction>,
    #[serde(skip_serializing_if = "UndeliveredPrompts::is_empty", default)]
    underway: UndeliveredPrompts,
    /// The client's current working directory, where its records give one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    folder_now: Option<String>,
    /// Scratch repositories that the session created.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    scratch: Vec<String>,
}

impl Session {
    /// Creates an empty session.
    pub fn new(client: ClientName) -> Self {
        Self {
            client,
            id: None,
            forked_from: None,
            agent_of: None,
            task_list: None,
            forked_after: None,
            asked_before: BoundedList::default(),
            cwd: None,
            other_folders: Vec::new(),
            version: None,
            model: None,
            branch: None,
            headless: false,
            commit: None,
            title: None,
            began: None,
            ended: None,
            last_record: None,
            requests: BoundedList::default(),
            queued: Vec::new(),
            answers: BoundedList::default(),
            plans: BoundedList::default(),
            tasks: Vec::new(),
            agents: BoundedList::default(),
            files: TouchedFiles::default(),
            commands: BoundedList::default(),
            failed_left_out: None,
            checks: BoundedList::default(),
            commits: BoundedList::default(),
            effects: BoundedList::default(),
            conflicts: BoundedList::default(),
            other_edits: BoundedList::default(),
            errors: BoundedList::default(),
            rejections: BoundedList::default(),
            interrupts: BoundedList::default(),
            skills: BoundedList::default(),
            compactions: BoundedList::default(),
            api_errors: BoundedList::default(),
            usage: Usage::default(),
            last_words: None,
            summary: None,
            turns: Turns::default(),
            counts: RecordCounts::default(),
            redacted: BTreeMap::new(),
            chain: Chain::default(),
            pending: BTreeMap::new(),
            done: VecDeque::new(),
            words: None,
            words_before: None,
            passing_over: false,
            copies: CopiedRecords::None,
            is_in_copies: false,
            stopped: None,
            underway: UndeliveredPrompts::default(),
            folder_now: None,
            scratch: Vec::new(),
        }
    }

    /// The total number of failed commands. None where that was not counted.
    pub fn failed_commands(&self) -> Option<u64> {
        let kept =
            self.commands.iter().filter(|command| command.exit == CommandStatus::Failed).count();
        Some(self.failed_omitted()? + u64::try_from(kept).unwrap_or_default())
    }

    /// How many of the omitted commands failed, where that was counted.
    fn failed_omitted(&self) -> Option<u64> {
        if self.commands.left_out == 0 { Some(0) } else { self.failed_left_out }
    }

    /// Classifies the requests of a session captured by an older version, which classified nothing
    /// and stored no turns.
    pub(crate) fn classify_older_requests(&mut self) {
        if !self.turns.items.is_empty() {
            return;
        }
        let before = self.asked_before.items.iter_mut();
        before.chain(&mut self.requests.items).for_each(intent::classify_request);
    }

    /// Whether the session did work worth a briefing: it changed something here or outside, called
    /// an MCP server, left something open, stopped during a call, made many calls or wrote a long
    /// report.
    pub fn has_work(&self) -> bool {
        const CALLS_MIN: u64 = 10;
        const REPORT_CHARACTERS_MIN: usize = 400;
        let texts = || self.turns.items.iter().flat_map(|turn| &turn.said);
        self.files.changed().next().is_some()
            || !self.other_edits.items.is_empty()
            || !self.commits.items.is_empty()
            || !self.effects.items.is_empty()
            || !self.in_flight().is_empty()
            || self.tasks.iter().any(|task| task.status.is_open())
            || self.counts.total_mcp_calls() > 0
            || self.counts.tool_calls >= CALLS_MIN
            || texts().any(|message| message.text.chars().count() >= REPORT_CHARACTERS_MIN)
    }

    /// What the user asked, in one line: the request that names the work, or else the first one.
    pub fn about(&self) -> Option<String> {
        let requests = || self.asked_before.iter().chain(self.requests.iter());
        let at = match intent::find_goal(requests().map(|request| request.text.as_str())) {
            Some(intent::Goal::Request(at)) => at,
            Some(intent::Goal::Continuation { from, then }) => then.unwrap_or(from),
            None => 0,
        };
        let goal = requests().nth(at).and_then(|request| checkpoint::title_of(&request.text));
        let first = || requests().find_map(|request| checkpoint::title_of(&request.text));
        goal.or_else(first).map(checkpoint::short_title)
    }

    /// The records that are not on the path from the newest record back to the first: the user went
    /// back and continued from an earlier record.
    pub fn abandoned(&self) -> AbandonedRecords {
        self.chain.abandoned()
    }

    /// Calls without a result, each as the tool and the record that made the call.
    pub fn in_flight(&self) -> Vec<(&str, &Provenance)> {
        let own = self.pending.values().filter(|call| call.is_own());
        let mut waiting: Vec<_> = own.map(|call| (call.tool.as_str(), &call.seen)).collect();
        waiting.sort_by_key(|(_, seen)| seen.number);
        waiting
    }

    /// How full the context is, in percent. None where the window size is unknown.
    pub fn context_percent(&self) -> Option<u64> {
        let window = self.usage.window.or_else(|| context_window(self.model.as_deref()?))?;
        let used = self.usage.context?;
        // More tokens than the window means that the table is wrong for this model.
        (window > 0 && used <= window).then(|| used * 100 / window)
    }

    /// Whether the next records may be copies from another transcript: no record has been read yet,
    /// or only copies have.
    pub fn can_have_copies(&self) -> bool {
        self.is_in_copies || self.chain.is_empty()
    }

    /// Sets which of the next records belong to another session.
    pub fn expect_copies(&mut self, copies: CopiedRecords) {
        self.copies = copies;
    }

    /// Returns the session without the state that is only needed to continue reading.
    #[must_use]
    pub fn without_reading_state(mut self) -> Self {
        self.chain = Chain::default();
        self.pending.clear();
        self.done.clear();
        self.stopped = None;
        self.is_in_copies = false;
        self.underway = UndeliveredPrompts::default();
        self.folder_now = None;
        self.scratch.clear();
        self
    }

    /// Merges a task from the client's task file, which is newer than the transcript.
    pub fn merge_task(&mut self, file: &str, change: &TaskUpdate<'_>) {
        tasks::merge_task(self, file, change);
    }

    /// Merges the work of an agent whose records are in a separate file.
    pub fn merge_agent(&mut self, id: &str, agent: &Self) {
        merge_agent::merge_agent(self, id, agent);
    }
}

/// The records abandoned when the user went back to an earlier prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AbandonedRecords(pub(crate) std::collections::HashSet<u64>);

impl AbandonedRecords {
    /// Builds the set from record ids, as a checkpoint stores them.
    pub(crate) fn from_records<'r>(records: impl IntoIterator<Item = &'r String>) -> Self {
        Self(records.into_iter().map(|record| hash(record.as_bytes())).collect())
    }

    /// Whether the record of an item was abandoned.
    pub fn has(&self, seen: &Provenance) -> bool {
        self.has_record(&seen.record)
    }

    /// Whether a record was abandoned.
    pub fn has_record(&self, record: &str) -> bool {
        !self.0.is_empty() && self.0.contains(&hash(record.as_bytes()))
    }

    /// The number of abandoned records.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no record was abandoned.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The first characters of a session id, enough to identify it. Ids that start with a timestamp
/// need more: sessions of the same minute share the first eight characters.
pub fn short_id(id: &str) -> &str {
    const LETTERS: usize = 8;
    /// The whole timestamp in milliseconds.
    const TIME_LETTERS: usize = 13;
    let is_timed = id.starts_with("01") && id.as_bytes().get(14) == Some(&b'7');
    let letters = if is_timed { TIME_LETTERS } else { LETTERS };
    id.char_indices().nth(letters).map_or(id, |(at, _)| &id[..at])
}

#[cfg(test)]
mod tests {
    use super::short_id;

    #[test]
    fn short_ids_of_sessions_in_the_same_minute_differ() {
        assert_eq!(short_id("0c97beba-1111-4222-8333-444455556666"), "0c97beba");
        assert_eq!(short_id("019a2b3c-4d5e-7000-8000-000000000001"), "019a2b3c-4d5e");
        assert_eq!(short_id("5e55"), "5e55");
    }
}
