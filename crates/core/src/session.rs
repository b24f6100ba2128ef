//! A session: what one run of a client did, folded from the facts that its transcript tells.
//!
//! The fold never fails and never panics, whatever order facts come in. Texts are cleaned of secrets
//! and cut before they are kept, lists have a limit, and what was left out is counted. Each item
//! says which record tells it and whose word it is.

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
pub use counts::{RecordCounts, Usage, context_window};
pub use fact::{
    DequeueReason, Fact, Identity, RecordLink, RecordRef, RecordRole, ResponseUsage, TaskUpdate,
    Todo, ToolDetail, ToolOutcome, ToolUse,
};
pub use files::{FileRemoval, FileRemovalKind, ToolFileChange, TouchedFile, TouchedFiles};
pub use hash::hash;
pub use item::{
    Agent, AgentMessage, AgentState, ApiError, Attribution, Client, CommandStatus, Compaction,
    Correction, ExecutedCommand, Interrupt, LastMessage, LaterPass, PlanDocument, PlanState,
    Provenance, QueuedPrompt, Rejection, Request, SessionTask, SessionTaskStatus, Skill, ToolError,
    Turn, TurnEnd, TurnStart, UserAnswer,
};
pub use status::{
    CheckState, EffectGroup, FailureFollowUp, OpenFailure, OpenFailureKind, edits_since,
    effect_groups, existing_commits, last_checks, open_failures, unchecked_boxes,
};
pub(crate) use text::display_text;
pub use text::{COMMAND_BYTES_MAX, PATH_BYTES_MAX, TEXT_BYTES_MAX};
pub use turns::{AGENT_TEXT_BYTES_MAX, Turns};
pub use work::{
    CheckRun, CommitState, Effect, GitConflict, IndirectEdit, PushRecord, SessionCommit,
};

use chain::Chain;
use fold::PendingCall;
use jiff::Timestamp;
use queue::UndeliveredPrompts;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// What a session did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The client that ran it.
    pub client: Client,
    /// Its id, as the client gives it.
    pub id: Option<String>,
    /// The session that this one goes on from.
    pub forked_from: Option<String>,
    /// The last record of that one it goes on from. What was told up to there is not its own; where
    /// nothing stands here, the other transcript was not there, and what was copied from it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub forked_after: Option<String>,
    /// What the user asked there, before this session forked. It is that session's, and holds here.
    #[serde(skip_serializing_if = "BoundedList::is_empty", default)]
    pub asked_before: BoundedList<Request>,
    /// The session that started this one as an agent of its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent_of: Option<String>,
    /// The task list that it shares with other sessions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task_list: Option<String>,
    /// Where it worked first.
    pub cwd: Option<String>,
    /// Where it worked besides.
    pub other_folders: Vec<String>,
    /// The version of the client.
    pub version: Option<String>,
    /// The model that answered last.
    pub model: Option<String>,
    /// The branch that was checked out last, as the client saw it.
    pub branch: Option<String>,
    /// Whether a script started it last, as in `claude -p` and `codex exec`.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub headless: bool,
    /// The commit that was checked out at its start, as the client saw it.
    pub commit: Option<String>,
    /// What the client or the user calls it.
    pub title: Option<String>,
    /// The earliest time in it.
    pub began: Option<Timestamp>,
    /// The latest time in it.
    pub ended: Option<Timestamp>,
    /// The last record that was understood.
    pub last_record: Option<String>,
    /// What the user asked for.
    pub requests: BoundedList<Request>,
    /// What the user typed while the client was busy, and it did not get to.
    pub queued: Vec<QueuedPrompt>,
    /// What the user answered to the client's questions.
    pub answers: BoundedList<UserAnswer>,
    /// Plan documents.
    pub plans: BoundedList<PlanDocument>,
    /// Tasks with their status.
    pub tasks: Vec<SessionTask>,
    /// Agents that it started.
    pub agents: BoundedList<Agent>,
    /// Files that it read or changed.
    pub files: TouchedFiles,
    /// Commands that it ran.
    pub commands: BoundedList<ExecutedCommand>,
    /// How many of the commands that were left out failed; none: none was left out, or it was written
    /// down before they were counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failed_left_out: Option<u64>,
    /// Checks that it ran: tests, linters, builds.
    #[serde(skip_serializing_if = "BoundedList::is_empty", default)]
    pub checks: BoundedList<CheckRun>,
    /// Commits that it made.
    #[serde(skip_serializing_if = "BoundedList::is_empty", default)]
    pub commits: BoundedList<SessionCommit>,
    /// What it did outside: pushes, pull requests, comments, releases, deployments.
    #[serde(skip_serializing_if = "BoundedList::is_empty", default)]
    pub effects: BoundedList<Effect>,
    /// Merges and rebases that stopped on conflicts.
    #[serde(skip_serializing_if = "BoundedList::is_empty", default)]
    pub conflicts: BoundedList<GitConflict>,
    /// Changes of files by commands, and by agents as they were told while these worked.
    #[serde(skip_serializing_if = "BoundedList::is_empty", default)]
    pub other_edits: BoundedList<IndirectEdit>,
    /// Calls of other tools that failed.
    pub errors: BoundedList<ToolError>,
    /// Calls that the user, or a rule of theirs, did not allow.
    pub rejections: BoundedList<Rejection>,
    /// Moments at which the user stopped it.
    pub interrupts: BoundedList<Interrupt>,
    /// Skills and commands of the client that were used.
    pub skills: BoundedList<Skill>,
    /// When its context was replaced by a summary.
    pub compactions: BoundedList<Compaction>,
    /// When the model could not be reached or refused.
    pub api_errors: BoundedList<ApiError>,
    /// Tokens.
    pub usage: Usage,
    /// What the agent said last.
    pub last_words: Option<LastMessage>,
    /// The summary that took the place of the context last, or that the session started with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub summary: Option<AgentMessage>,
    /// What the agent said, turn by turn.
    #[serde(skip_serializing_if = "Turns::is_empty", default)]
    pub turns: Turns,
    /// What was read, understood and passed over.
    pub counts: RecordCounts,
    /// Secrets that were not kept, by kind.
    pub redacted: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Chain::is_empty", default)]
    chain: Chain,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pending: BTreeMap<u64, PendingCall>,
    #[serde(skip_serializing_if = "VecDeque::is_empty", default)]
    done: VecDeque<u64>,
    #[serde(skip)]
    words: Option<(Provenance, String)>,
    /// What was said before those: they may turn out to be a summary.
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
    /// The folder that the client works in now, where its records say so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    folder_now: Option<String>,
    /// Repositories that it made for a trial.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    scratch: Vec<String>,
}

impl Session {
    /// A session of which nothing is known yet.
    pub fn new(client: Client) -> Self {
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

    /// How many commands failed in all; none where that was not counted.
    pub fn failed_commands(&self) -> Option<u64> {
        let kept =
            self.commands.iter().filter(|command| command.exit == CommandStatus::Failed).count();
        Some(self.failed_omitted()? + u64::try_from(kept).unwrap_or_default())
    }

    /// How many of the commands that were left out failed, as far as that was counted.
    fn failed_omitted(&self) -> Option<u64> {
        if self.commands.left_out == 0 { Some(0) } else { self.failed_left_out }
    }

    /// Judges what the user asked, where an older version captured it: that one judged nothing, and kept
    /// no turns.
    pub(crate) fn classify_older_requests(&mut self) {
        if !self.turns.items.is_empty() {
            return;
        }
        let before = self.asked_before.items.iter_mut();
        before.chain(&mut self.requests.items).for_each(intent::classify_request);
    }

    /// Whether it did work worth a briefing: it changed something here or outside, left something open,
    /// was in the middle of a call, looked at a lot or reported at length.
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
            || self.counts.tool_calls >= CALLS_MIN
            || texts().any(|said| said.text.chars().count() >= REPORT_CHARACTERS_MIN)
    }

    /// Which records are not on the way from the newest one back to the beginning: the user went
    /// back and took another way.
    pub fn abandoned(&self) -> AbandonedRecords {
        self.chain.abandoned()
    }

    /// Calls that were made and have not come back, as the tool and the record that made them.
    pub fn in_flight(&self) -> Vec<(&str, &Provenance)> {
        let own = self.pending.values().filter(|call| call.is_own());
        let mut waiting: Vec<_> = own.map(|call| (call.tool.as_str(), &call.seen)).collect();
        waiting.sort_by_key(|(_, seen)| seen.number);
        waiting
    }

    /// How full the context is, in percent; none where the window is not known.
    pub fn context_percent(&self) -> Option<u64> {
        let window = self.usage.window.or_else(|| context_window(self.model.as_deref()?))?;
        let used = self.usage.context?;
        // A table that the transcript contradicts is wrong.
        (window > 0 && used <= window).then(|| used * 100 / window)
    }

    /// Whether the next records may be copies out of another transcript: none has come yet, or
    /// nothing but copies.
    pub fn can_have_copies(&self) -> bool {
        self.is_in_copies || self.chain.is_empty()
    }

    /// Says which records belong to another session, if they come next.
    pub fn expect_copies(&mut self, copies: CopiedRecords) {
        self.copies = copies;
    }

    /// The same without what only reading on needs.
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

    /// Takes in a task as the client keeps it in a file, which is newer than the transcript.
    pub fn merge_task(&mut self, file: &str, change: &TaskUpdate<'_>) {
        tasks::merge_task(self, file, change);
    }

    /// Takes in what agents did whose records lie in files of their own.
    pub fn merge_agent(&mut self, id: &str, agent: &Self) {
        merge_agent::merge_agent(self, id, agent);
    }
}

/// The records that were left behind when the user went back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AbandonedRecords(pub(crate) std::collections::HashSet<u64>);

impl AbandonedRecords {
    /// The records of these ids, as a checkpoint keeps them.
    pub fn from_records<'r>(records: impl IntoIterator<Item = &'r String>) -> Self {
        Self(records.into_iter().map(|record| hash(record.as_bytes())).collect())
    }

    /// Whether what is seen there was left behind.
    pub fn has(&self, seen: &Provenance) -> bool {
        self.has_record(&seen.record)
    }

    /// Whether a record was left behind.
    pub fn has_record(&self, record: &str) -> bool {
        !self.0.is_empty() && self.0.contains(&hash(record.as_bytes()))
    }

    /// How many records that are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the conversation went one way.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Enough of an id to know a session by. Ids that begin with their time need more of it: sessions
/// of the same minute share the first eight letters.
pub fn short_id(id: &str) -> &str {
    const LETTERS: usize = 8;
    /// The whole time in milliseconds.
    const TIME_LETTERS: usize = 13;
    let is_timed = id.starts_with("01") && id.as_bytes().get(14) == Some(&b'7');
    let letters = if is_timed { TIME_LETTERS } else { LETTERS };
    id.char_indices().nth(letters).map_or(id, |(at, _)| &id[..at])
}

#[cfg(test)]
mod tests {
    use super::short_id;

    #[test]
    fn a_short_id_tells_sessions_of_one_minute_apart() {
        assert_eq!(short_id("0c97beba-1111-4222-8333-444455556666"), "0c97beba");
        assert_eq!(short_id("019a2b3c-4d5e-7000-8000-000000000001"), "019a2b3c-4d5e");
        assert_eq!(short_id("5e55"), "5e55");
    }
}
