//! A checkpoint: the stored facts of a session, taken without a model. Observations from outside
//! the transcript have the time at which they were made.

mod first_line;
mod highlights;
mod page;
mod state;
mod summary;

pub use state::state_without_session;

pub(crate) use state::refresh_state;

pub(crate) use first_line::{request_line, short_title, title_of};
pub(crate) use highlights::{
    BEFORE_EDITS, FROM_SUMMARY, NO_EDITS, NO_EDITS_SINCE, NO_REPORT, PUSHED,
};
pub use highlights::{Highlight, HighlightKind, Highlights, SessionEnding};
pub use summary::SessionSummary;

use crate::session::repository::{ReflogCommit, WorkTreeState};
use crate::session::{AbandonedRecords, CommandStatus, Provenance, Session, TouchedFile};
use crate::text::id::{ClientName, CommitId, SessionId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;

/// The version of the stored format.
const CHECKPOINT_VERSION: u32 = 1;

/// An observation this long after the last record may differ from the state at the end of the
/// session.
const LATE_SECONDS: i64 = 5 * 60;

/// What triggered a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckpointMode {
    /// The client: a compaction, or the end of the session.
    Auto,
    /// A snapshot during the session.
    #[default]
    Checkpoint,
}

impl CheckpointMode {
    /// The name of the mode.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Checkpoint => "checkpoint",
        }
    }
}

/// A commit belongs to a session that was active at most this long before it.
const ACTIVE_SECONDS: i64 = 10 * 60;
/// Clients and git round timestamps.
const ROUNDING_SECONDS: i64 = 2;

/// Observations from outside the transcript.
#[derive(Clone, Debug, Default)]
pub struct CheckpointContext {
    /// When they were made.
    pub at: Timestamp,
    /// The commit that is checked out.
    pub commit: Option<CommitId>,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// Plan documents found in the project.
    pub plan_documents: Vec<String>,
    /// The current content of changed files: hash and length, or `None` for a missing file.
    pub on_disk: BTreeMap<String, Option<(u64, u64)>>,
    /// The working tree when git was last queried.
    pub work_tree: Option<WorkTreeState>,
    /// Commits made in this worktree between the start and the end of the session.
    pub reflog: Vec<ReflogCommit>,
}

impl CheckpointContext {
    /// Renders the body of a handoff for work without a client session.
    pub fn page(&self) -> String {
        page::render_without_session(self)
    }
}

/// What git had checked out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitFacts {
    /// When git was queried.
    pub observed_at: Timestamp,
    /// Whether that was long after the last record.
    pub late: bool,
    /// The commit.
    pub commit: Option<CommitId>,
    /// The branch.
    pub branch: Option<String>,
}

/// A file that the session changed, compared with the file on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointArtifact {
    /// The file.
    pub path: String,
    /// The expected content.
    pub expected: ExpectedContent,
    /// The content on disk.
    pub actual: ActualContent,
    /// How the two compare.
    pub state: ArtifactState,
    /// The record that changed it last.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seen: Option<Provenance>,
}

/// The content that a session left at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectedContent {
    /// Exactly the text that it wrote.
    Text,
    /// A file with some parts replaced.
    File,
    /// No file.
    Nothing,
}

/// The content found at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActualContent {
    /// The text that was written.
    Text,
    /// A file with other content.
    File,
    /// No file.
    Nothing,
}

/// How the file on disk compares with the expected content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArtifactState {
    /// It matches.
    Match,
    /// It differs.
    Partial,
    /// It is missing.
    Missing,
}

/// A call without a result yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlightCall {
    /// The record of the call.
    pub seen: Provenance,
    /// The tool.
    pub tool: String,
}

/// The stored facts of a session. While it is built, `session` is already serialized: serializing a
/// long session takes time, so it is done once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint<S = Session> {
    /// The version of the stored format.
    pub version: u32,
    /// What triggered it.
    pub mode: CheckpointMode,
    /// When it was taken.
    pub taken_at: Timestamp,
    /// The transcript.
    pub transcript: String,
    /// How many bytes of the transcript it covers.
    pub bytes: u64,
    /// Identifies the content. Observation times are not part of it.
    pub digest: String,
    /// The session from the transcript.
    pub session: S,
    /// Calls without a result.
    pub in_flight: Vec<InFlightCall>,
    /// The abandoned records that items refer to.
    pub abandoned: Vec<String>,
    /// How full the context is. None where the window of the model is unknown.
    pub context_percent: Option<u64>,
    /// What git had checked out.
    pub git: GitFacts,
    /// Plan documents found in the project.
    pub plan_documents: Vec<String>,
    /// Changed files, compared with the files on disk.
    pub artifacts: Vec<CheckpointArtifact>,
    /// Commits made in this worktree while the session was active.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub reflog: Vec<ReflogCommit>,
    /// The working tree when git was last queried.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub work_tree: Option<WorkTreeState>,
}

/// A checkpoint with its serialized form, which is what gets stored.
#[derive(Clone, Debug, PartialEq)]
pub struct SerializedCheckpoint {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// The checkpoint as JSON.
    pub text: String,
}

impl<S> Checkpoint<S> {
    /// Replaces the session and keeps everything else.
    fn with_session<T>(self, session: T) -> Checkpoint<T> {
        Checkpoint {
            version: self.version,
            mode: self.mode,
            taken_at: self.taken_at,
            transcript: self.transcript,
            bytes: self.bytes,
            digest: self.digest,
            session,
            in_flight: self.in_flight,
            abandoned: self.abandoned,
            context_percent: self.context_percent,
            git: self.git,
            plan_documents: self.plan_documents,
            artifacts: self.artifacts,
            reflog: self.reflog,
            work_tree: self.work_tree,
        }
    }
}

impl Checkpoint {
    /// Creates a checkpoint from a settled session and its context.
    pub fn new(
        session: Session,
        transcript: String,
        bytes: u64,
        mode: CheckpointMode,
        context: CheckpointContext,
    ) -> Self {
        Self::new_serialized(session, transcript, bytes, mode, context).checkpoint
    }

    /// Like `new`, and also returns the serialized form.
    pub fn new_serialized(
        session: Session,
        transcript: String,
        bytes: u64,
        mode: CheckpointMode,
        context: CheckpointContext,
    ) -> SerializedCheckpoint {
        let CheckpointContext { at, commit, branch, plan_documents, on_disk, work_tree, reflog } =
            context;
        let reflog = commits_during_session(&session, reflog);
        let since = session.ended.map_or(0, |ended| at.duration_since(ended).as_secs());
        let calls = session.in_flight();
        let in_flight: Vec<InFlightCall> = calls
            .into_iter()
            .map(|(tool, seen)| InFlightCall { seen: seen.clone(), tool: tool.to_owned() })
            .collect();
        // Files that were not looked at are omitted: whether they exist is unknown. A file that a
        // command of the session removed is not missing.
        let is_expected = |touched: &TouchedFile| touched.deleted || touched.put_away.is_none();
        let changed = session.files.changed().filter(|(_, touched)| is_expected(touched));
        let artifacts = changed.filter_map(|(path, touched)| {
            on_disk.get(path).map(|there| artifact(path, touched, *there))
        });
        let artifacts = artifacts.collect();
        let abandoned = session.abandoned();
        let session = session.without_reading_state();
        let serialized = serde_json::value::to_raw_value(&session);
        // The digest must not depend on observation times and the mode, so they are set after it.
        let mut checkpoint = Checkpoint {
            version: CHECKPOINT_VERSION,
            mode: CheckpointMode::default(),
            taken_at: Timestamp::UNIX_EPOCH,
            transcript,
            bytes,
            digest: String::new(),
            in_flight,
            abandoned: Vec::new(),
            context_percent: session.context_percent(),
            git: GitFacts { observed_at: Timestamp::UNIX_EPOCH, late: false, commit, branch },
            plan_documents,
            artifacts,
            reflog,
            work_tree: None,
            session: serialized.unwrap_or_else(|_| RawValue::NULL.to_owned()),
        };
        checkpoint.abandoned = abandoned_references(&checkpoint, &abandoned);
        checkpoint.digest = digest_of(&checkpoint);
        checkpoint.mode = mode;
        checkpoint.taken_at = at;
        checkpoint.git.observed_at = at;
        checkpoint.git.late = since > LATE_SECONDS;
        checkpoint.work_tree = work_tree;
        let text = to_json(&checkpoint);
        SerializedCheckpoint { checkpoint: checkpoint.with_session(session), text }
    }

    /// Parses a stored checkpoint. `None` if it has another version or is not a checkpoint.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut checkpoint: Self = serde_json::from_slice(bytes).ok()?;
        checkpoint.session.classify_older_requests();
        (checkpoint.version == CHECKPOINT_VERSION).then_some(checkpoint)
    }

    /// The task list of the session: its own, or one shared with other sessions.
    pub fn task_list(&self) -> &str {
        let own = self.session.id.as_ref().map_or(&*self.transcript, SessionId::as_str);
        self.session.task_list.as_deref().unwrap_or(own)
    }

    /// The id of the session, or its transcript if it has none.
    pub fn session_id(&self) -> SessionId {
        self.session.id.clone().unwrap_or_else(|| SessionId::new(&*self.transcript))
    }

    /// The client that ran the session.
    pub fn client(&self) -> &ClientName {
        &self.session.client
    }

    /// The command that a call runs, if its record started only one.
    pub fn command_for(&self, call: &InFlightCall) -> Option<&str> {
        let commands = self.session.commands.iter();
        let mut runs = commands.filter(|command| {
            command.exit == CommandStatus::Running && command.seen.record == call.seen.record
        });
        let first = runs.next()?;
        // Some clients do not record what they run.
        let text = Some(first.text.as_str()).filter(|text| !text.trim().is_empty());
        text.filter(|_| runs.next().is_none())
    }

    /// What the user asked, in one line.
    pub fn first_request(&self) -> Option<String> {
        self.session.about()
    }

    /// The title of the session's handoff when the author gives none.
    pub fn title(&self) -> Option<String> {
        self.first_request().map(|about| format!("Session: {}", about.trim_end_matches('.')))
    }

    /// Renders the body of a handoff: facts for the next session, with all messages quoted.
    pub fn page(&self) -> String {
        page::render_checkpoint(self)
    }

    /// Whether the record of an item was abandoned.
    pub fn is_abandoned(&self, seen: &Provenance) -> bool {
        self.abandoned.contains(&seen.record)
    }

    /// Whether the user went back before every change of a file.
    pub fn is_abandoned_file(&self, touched: &TouchedFile) -> bool {
        let mut changes = touched.changed.iter();
        !touched.changed.is_empty() && changes.all(|seen| self.is_abandoned(seen))
    }

    /// Converts to JSON, with each abandoned item marked.
    pub fn to_marked_value(&self) -> Value {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        let left: HashSet<&str> = self.abandoned.iter().map(String::as_str).collect();
        visit_maps(&mut value, &mut |map| {
            let record = map.get("seen").and_then(|seen| seen.get("record"));
            if record.and_then(Value::as_str).is_some_and(|record| left.contains(record)) {
                map.insert("abandoned".to_owned(), Value::Bool(true));
            }
        });
        value
    }
}

fn to_json(checkpoint: &Checkpoint<Box<RawValue>>) -> String {
    // The session makes up most of the text.
    let mut bytes = Vec::with_capacity(checkpoint.session.get().len() * 5 / 4);
    let _ = serde_json::to_writer(&mut bytes, checkpoint);
    String::from_utf8(bytes).unwrap_or_default()
}

/// The abandoned records that items refer to.
fn abandoned_references(
    checkpoint: &Checkpoint<Box<RawValue>>,
    left: &AbandonedRecords,
) -> Vec<String> {
    if left.is_empty() {
        return Vec::new();
    }
    let text = to_json(checkpoint);
    let left: BTreeSet<String> =
        referenced_records(&text).filter(|one| left.has_record(one)).collect();
    left.into_iter().collect()
}

/// The records that items refer to in serialized JSON. Quotes inside strings are escaped, so this
/// always matches the name of a field.
fn referenced_records(text: &str) -> impl Iterator<Item = String> {
    const FIELD: &str = "\"record\":";
    let values = text.match_indices(FIELD).map(|(at, _)| &text[at + FIELD.len()..]);
    values.filter_map(|value| serde_json::Deserializer::from_str(value).into_iter().next()?.ok())
}

fn digest_of(checkpoint: &Checkpoint<Box<RawValue>>) -> String {
    let mut digesting = DigestWriter(Sha256::new());
    // Writing to this writer cannot fail.
    let _ = serde_json::to_writer(&mut digesting, checkpoint);
    digesting.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Hashes what is written without storing it, since a long session is megabytes.
struct DigestWriter(Sha256);

impl io::Write for DigestWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn artifact(path: &str, touched: &TouchedFile, there: Option<(u64, u64)>) -> CheckpointArtifact {
    let expected = match (touched.deleted, touched.content) {
        (true, _) => ExpectedContent::Nothing,
        (false, Some(_)) => ExpectedContent::Text,
        (false, None) => ExpectedContent::File,
    };
    let actual = match there {
        None => ActualContent::Nothing,
        found if found == touched.content => ActualContent::Text,
        Some(_) => ActualContent::File,
    };
    let state = match (expected, actual) {
        (ExpectedContent::Text, ActualContent::Text)
        | (ExpectedContent::File, ActualContent::File | ActualContent::Text)
        | (ExpectedContent::Nothing, ActualContent::Nothing) => ArtifactState::Match,
        (ExpectedContent::Text | ExpectedContent::File, ActualContent::Nothing) => {
            ArtifactState::Missing
        }
        (ExpectedContent::Text, ActualContent::File)
        | (ExpectedContent::Nothing, ActualContent::File | ActualContent::Text) => {
            ArtifactState::Partial
        }
    };
    let seen = touched.changed.last().cloned();
    CheckpointArtifact { path: path.to_owned(), expected, actual, state, seen }
}

/// Commits made while a session was active. While it was idle, or before it was resumed, someone
/// else may have committed in the worktree.
fn commits_during_session(session: &Session, mut commits: Vec<ReflogCommit>) -> Vec<ReflogCommit> {
    if commits.is_empty() {
        return commits;
    }
    let commands = session.commands.iter().map(|command| &command.seen);
    let requests = session.requests.iter().map(|request| &request.seen);
    let changes = session.files.changed().flat_map(|(_, touched)| &touched.changed);
    let seen = commands.chain(requests).chain(changes);
    let mut times: Vec<i64> = seen.filter_map(|seen| Some(seen.at?.as_second())).collect();
    times.sort_unstable();
    commits.retain(|commit| {
        let at = commit.at.as_second() + ROUNDING_SECONDS;
        let before = &times[..times.partition_point(|time| *time <= at)];
        before.last().is_some_and(|last| at - last <= ACTIVE_SECONDS)
    });
    commits
}

fn visit_maps(value: &mut Value, look: &mut dyn FnMut(&mut serde_json::Map<String, Value>)) {
    match value {
        Value::Object(map) => {
            look(map);
            map.values_mut().for_each(|value| visit_maps(value, look));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| visit_maps(value, look)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
