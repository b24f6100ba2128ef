//! Write down what a session did. Doing it again when nothing happened changes nothing.

use crate::clients::capture::{CaptureOutcome, capture};
use crate::clients::{self, TranscriptInfo};
use crate::store::ledger::{
    AppendError, Blob, ExpectedVersion, Ledger, LedgerError, SqliteLedger, StreamId, WaitPolicy,
};
use crate::store::tombstone::Tombstone;
use crate::sys::files::{self, FileError, Root};
use crate::sys::git::Repository;
use crate::sys::ids::sha256;
use crate::verbs::session::plans::plan_documents;
use crate::verbs::task::mirror::{self, MirroredTask};
use crate::verbs::work::instructions;
use crate::workspace::observation::{commits_made, last_work_tree};
use crate::workspace::project::{Project, SetupMode};
use crate::workspace::settings::SessionName;
use jiff::SignedDuration;
use midstride_core::brief::unsettled;
use midstride_core::session::checkpoint::{
    Checkpoint, CheckpointContext, CheckpointMode, SerializedCheckpoint, SessionSummary,
};
use midstride_core::session::repository::WorkTreeState;
use midstride_core::session::shell::join_folder;
use midstride_core::session::{Client, Provenance, Session, hash};
use midstride_core::text::redact::Redaction;
use midstride_core::work::event::{Envelope, Event, SessionEvent};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// So many changed files are compared with what is there.
const COMPARED_MAX: usize = 1_000;
/// A larger file is there, and is not read.
const COMPARED_BYTES_MAX: u64 = 4 << 20;
/// What was observed so shortly before is what is there.
const JUST_NOW: SignedDuration = SignedDuration::from_secs(2);
/// Which session.
#[derive(Clone, Debug, Default)]
pub enum SessionChoice {
    /// The one that asks, where its client tells; else the newest.
    #[default]
    Current,
    /// The one whose transcript was changed last.
    Newest,
    /// By its id, or a beginning of it that no other has.
    Id(String),
    /// By the path of its transcript.
    Transcript(PathBuf),
}

/// A session that was written down.
#[derive(Debug)]
pub struct CheckpointOutcome {
    /// What was written.
    pub checkpoint: Checkpoint,
    /// Where: the SHA-256 of its text.
    pub blob: String,
    /// Whether something is in it that was not there before.
    pub is_new: bool,
    /// Bytes that had not been read before.
    pub new_bytes: u64,
    /// Files of agents that could not be read.
    pub unread: Vec<FileError>,
    /// Where the session worked, if that is not this project and is gone.
    pub moved_from: Option<String>,
}

/// Why nothing was written down.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The project has no place for it.
    #[error("this project is not set up")]
    NotSetUp,
    /// There is no session.
    #[error("no session of this project was found")]
    NoSession(Vec<FileError>),
    /// The session that asks left nothing to read. Another one is not meant.
    #[error("this runs in session `{}` of {}, which has no transcript in this project", .0.id, .0.client)]
    NoTranscript(SessionName),
    /// There is none of that id.
    #[error("there is no session `{0}` in this project")]
    NoSuch(String),
    /// There are several.
    #[error("`{name}` means several sessions: {}", found.join(", "))]
    Several {
        /// What was typed.
        name: String,
        /// What it fits.
        found: Vec<String>,
    },
    /// The records name another project.
    #[error("`{}` is the transcript of a session in `{cwd}`, not of this project", path.display())]
    OtherProject {
        /// The transcript.
        path: PathBuf,
        /// Where the session worked.
        cwd: String,
    },
    /// Nothing in it is a record.
    #[error("nothing in `{}` is understood as a record of {}", path.display(), client.name())]
    NotUnderstood {
        /// The transcript.
        path: PathBuf,
        /// As whose it was read.
        client: Client,
    },
    /// Exactly this was written down before, and somebody had it removed for good.
    #[error("the checkpoint of session `{session}` was forgotten {tombstone}")]
    Forgotten {
        /// The session.
        session: String,
        /// What is left of the checkpoint.
        tombstone: Box<Tombstone>,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The ledger cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The ledger cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
}

/// Writes down what a session did.
pub fn checkpoint(
    project: &Project,
    which: &SessionChoice,
    client: Option<Client>,
    mode: CheckpointMode,
) -> Result<CheckpointOutcome, CheckpointError> {
    if project.setup() == SetupMode::NotSetUp {
        return Err(CheckpointError::NotSetUp);
    }
    let found = choose_transcript(project, which, client)?;
    let ledger = SqliteLedger::open(project, WaitPolicy::Command)?;
    store_checkpoint(project, &ledger, &found, mode)
}

/// The session of a transcript that its client names.
pub(in crate::verbs) fn find_transcript(
    project: &Project,
    path: &Path,
    client: Client,
) -> Result<TranscriptInfo, CheckpointError> {
    choose_transcript(project, &SessionChoice::Transcript(path.to_owned()), Some(client))
}

/// Captures a session and stores the checkpoint.
pub(in crate::verbs) fn store_checkpoint(
    project: &Project,
    ledger: &SqliteLedger,
    found: &TranscriptInfo,
    mode: CheckpointMode,
) -> Result<CheckpointOutcome, CheckpointError> {
    let mut ready = PreparedCheckpoint::capture(project, ledger, found, mode)?;
    if ready.outcome.is_new {
        // A session that is at work is captured by several at once. Who read less of it and comes
        // later must not have the last word, so they tell one after the other.
        let _turn = ledger.lock("checkpoint")?;
        ready.refresh(ledger, found)?;
        ready.append_alone(project, ledger, found)?;
    }
    Ok(ready.outcome)
}

/// A checkpoint that the ledger is about to be told of.
pub(in crate::verbs) struct PreparedCheckpoint {
    pub(in crate::verbs) outcome: CheckpointOutcome,
    stream: StreamId,
    expected: ExpectedVersion,
    envelope: Envelope,
    blob: Blob<'static>,
    summary: Blob<'static>,
    tasks: Vec<MirroredTask>,
}

impl PreparedCheckpoint {
    /// Captures a session. What the ledger knows already is not new.
    pub(in crate::verbs) fn capture(
        project: &Project,
        ledger: &SqliteLedger,
        found: &TranscriptInfo,
        mode: CheckpointMode,
    ) -> Result<Self, CheckpointError> {
        let DraftCheckpoint { serialized: written, agents_bytes, new_bytes, unread } =
            capture_checkpoint(project, found, mode)?;
        let SerializedCheckpoint { checkpoint, text } = written;
        // The beginning of a transcript does not always tell.
        let moved_from = moved_from(project, &found.path, checkpoint.session.cwd.as_deref())?;
        let (text, redacted) = project.clean_with_added_rules(text);
        let stored = Blob::new(text.into_bytes());
        let highlights = SessionSummary::from_checkpoint(&checkpoint);
        let gist = Blob::new(clean(project, &highlights.clone().into_stored()).into_bytes());
        let blobs = (stored.hash().to_owned(), gist.hash().to_owned());
        let (mut envelope, stream) =
            checkpoint_event(project, &checkpoint, agents_bytes, blobs, &redacted);
        add_work_counts(&mut envelope, &highlights);
        let CheckpointHistory { expected, known, longer: further } =
            CheckpointHistory::read(ledger, &stream, &envelope.id, found, checkpoint.bytes)?;
        let tombstone = known.as_ref().map(|blob| Tombstone::find(ledger, blob)).transpose()?;
        if let Some(tombstone) = tombstone.flatten() {
            let session = checkpoint.session_id().to_owned();
            return Err(CheckpointError::Forgotten { session, tombstone: Box::new(tombstone) });
        }
        let told = known.or(further);
        let (is_new, blob) = (told.is_none(), told.unwrap_or_else(|| stored.hash().to_owned()));
        let tasks = mirror::tasks_of_checkpoint(project, &checkpoint);
        let done = CheckpointOutcome { checkpoint, blob, is_new, new_bytes, unread, moved_from };
        Ok(Self { outcome: done, stream, expected, envelope, blob: stored, summary: gist, tasks })
    }

    /// Tells the ledger, unless somebody who does not wait for a turn tells more meanwhile.
    fn append_alone(
        &mut self,
        project: &Project,
        ledger: &SqliteLedger,
        found: &TranscriptInfo,
    ) -> Result<(), CheckpointError> {
        while self.outcome.is_new {
            store_blobs(ledger, self)?;
            // First, so that a capture that is cut off tells them next time.
            append_tasks_and_instructions(project, ledger, [&*self])?;
            let event = std::slice::from_ref(&self.envelope);
            match ledger.append(&self.stream, self.expected, event) {
                Ok(_) => return Ok(()),
                Err(AppendError::Conflict { .. }) => self.refresh(ledger, found)?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Compares with what somebody else told meanwhile.
    fn refresh(
        &mut self,
        ledger: &SqliteLedger,
        found: &TranscriptInfo,
    ) -> Result<(), CheckpointError> {
        let bytes = self.outcome.checkpoint.bytes;
        let now = CheckpointHistory::read(ledger, &self.stream, &self.envelope.id, found, bytes)?;
        self.expected = now.expected;
        if let Some(blob) = now.known.or(now.longer) {
            (self.outcome.is_new, self.outcome.blob) = (false, blob);
        }
        Ok(())
    }
}

/// What the ledger knows of a session already.
struct CheckpointHistory {
    /// Where its stream stands.
    expected: ExpectedVersion,
    /// The checkpoint that an event of the same id told of.
    known: Option<String>,
    /// One that read further in the same transcript.
    longer: Option<String>,
}

impl CheckpointHistory {
    fn read(
        ledger: &dyn Ledger,
        stream: &StreamId,
        id: &str,
        found: &TranscriptInfo,
        read: u64,
    ) -> Result<Self, CheckpointError> {
        let records = ledger.read(stream, None)?;
        let expected = ExpectedVersion::after(records.last().map(|record| record.version));
        // A transcript that is shorter now was written anew, and what it was does not count, unless it
        // tells nothing at all.
        let size = files::size(&found.path).unwrap_or_default();
        let (mut known, mut further) = (None, None);
        for envelope in records.iter().flat_map(|record| &record.events) {
            let Event::Session(SessionEvent::Checkpointed { blob, bytes, .. }) = &envelope.event
            else {
                continue;
            };
            if envelope.id == id {
                known.get_or_insert_with(|| blob.clone());
            }
            if *bytes > read && (*bytes <= size || read == 0) {
                further = Some(blob.clone());
            }
        }
        Ok(Self { expected, known, longer: further })
    }
}

/// What a session did, before anything of it is stored.
pub(in crate::verbs) struct DraftCheckpoint {
    pub(in crate::verbs) serialized: SerializedCheckpoint,
    agents_bytes: u64,
    new_bytes: u64,
    unread: Vec<FileError>,
}

/// Captures a session; nothing is stored but how far it was read.
pub(in crate::verbs) fn capture_checkpoint(
    project: &Project,
    found: &TranscriptInfo,
    mode: CheckpointMode,
) -> Result<DraftCheckpoint, CheckpointError> {
    build_checkpoint(project, found, capture(project, found)?, mode)
}

/// The same of what was captured already.
pub(in crate::verbs) fn build_checkpoint(
    project: &Project,
    found: &TranscriptInfo,
    captured: CaptureOutcome,
    mode: CheckpointMode,
) -> Result<DraftCheckpoint, CheckpointError> {
    let CaptureOutcome { mut session, bytes, agents_bytes, new_bytes, unread } = captured;
    let counts = &session.counts;
    // Copies are understood, and belong to another session.
    let is_understood = counts.understood > 0 || session.forked_after.is_some();
    if !is_understood && counts.seen > 0 {
        let (path, client) = (found.path.clone(), found.client);
        return Err(CheckpointError::NotUnderstood { path, client });
    }
    let around = observe_context(project, &session);
    let transcript = clean(project, &found.path.display().to_string());
    session.id.get_or_insert_with(|| clean(project, &found.session));
    let written = Checkpoint::new_serialized(session, transcript, bytes, mode, around);
    Ok(DraftCheckpoint { serialized: written, agents_bytes, new_bytes, unread })
}

fn clean(project: &Project, text: &str) -> String {
    project.clean(text).0.as_str().to_owned()
}

fn choose_transcript(
    project: &Project,
    which: &SessionChoice,
    client: Option<Client>,
) -> Result<TranscriptInfo, CheckpointError> {
    if let SessionChoice::Transcript(path) = which {
        let found = clients::read_transcript(&project.environment().folder.join(path), client)?;
        let found = clients::owner_transcript(project, found)?;
        moved_from(project, &found.path, found.cwd.as_deref())?;
        return Ok(found);
    }
    let (all, unread) = clients::transcripts(project, client);
    match (which, current_session(project, client)) {
        (SessionChoice::Id(name), _) => find_by_id(all, unread, name),
        (SessionChoice::Current, Some(own)) => {
            let is_own =
                |one: &TranscriptInfo| one.session == own.id && one.client.name() == own.client;
            let unread = || read_error_of(unread, &own.id);
            let missing =
                || unread().map_or_else(|| CheckpointError::NoTranscript(own.clone()), Into::into);
            all.into_iter().find(is_own).ok_or_else(missing)
        }
        (SessionChoice::Current | SessionChoice::Newest | SessionChoice::Transcript(_), _) => {
            all.into_iter().next().ok_or(CheckpointError::NoSession(unread))
        }
    }
}

/// The session that asks, unless only those of another client are wanted.
pub(in crate::verbs) fn current_session(
    project: &Project,
    client: Option<Client>,
) -> Option<&SessionName> {
    let own = project.environment().session.as_ref();
    own.filter(|own| client.is_none_or(|client| client.name() == own.client))
}

/// Where a session worked, if that is not this project and is gone.
fn moved_from(
    project: &Project,
    path: &Path,
    cwd: Option<&str>,
) -> Result<Option<String>, CheckpointError> {
    let Some(cwd) = cwd.filter(|cwd| !clients::is_inside(&clients::project_folders(project), cwd))
    else {
        return Ok(None);
    };
    // A folder that is there is somebody else's; one that is gone may have been this one.
    if files::exists(Path::new(cwd)) {
        let (path, cwd) = (path.to_owned(), cwd.to_owned());
        return Err(CheckpointError::OtherProject { path, cwd });
    }
    Ok(Some(cwd.to_owned()))
}

/// The session of an id, or of a beginning that no other has. One whose transcript cannot be read
/// says so.
pub(in crate::verbs) fn find_by_id(
    all: Vec<TranscriptInfo>,
    unread: Vec<FileError>,
    name: &str,
) -> Result<TranscriptInfo, CheckpointError> {
    let (mut exact, others): (Vec<TranscriptInfo>, Vec<TranscriptInfo>) =
        all.into_iter().partition(|found| found.session == name);
    if let Some(found) = exact.pop() {
        return Ok(found);
    }
    let mut fitting: Vec<TranscriptInfo> =
        others.into_iter().filter(|found| found.session.starts_with(name)).collect();
    match (fitting.pop(), fitting.is_empty()) {
        (Some(found), true) if !name.is_empty() => Ok(found),
        (Some(last), _) => {
            let mut found: Vec<String> = fitting.into_iter().map(|one| one.session).collect();
            found.push(last.session);
            Err(CheckpointError::Several { name: name.to_owned(), found })
        }
        (None, _) => {
            let no_such = || CheckpointError::NoSuch(name.to_owned());
            Err(read_error_of(unread, name).map_or_else(no_such, Into::into))
        }
    }
}

/// Why the transcript of a session could not be read.
fn read_error_of(unread: Vec<FileError>, name: &str) -> Option<FileError> {
    let is_it = |error: &FileError| {
        let file = error.path.file_name().unwrap_or_default().to_string_lossy();
        !name.is_empty() && file.contains(name)
    };
    unread.into_iter().find(is_it)
}

/// What is seen besides the transcript. No process is started for it.
fn observe_context(project: &Project, session: &Session) -> CheckpointContext {
    let reflog = session.began.map(|began| commits_made(project, began, session.ended));
    CheckpointContext {
        on_disk: read_changed_files(project, session),
        reflog: reflog.unwrap_or_default(),
        work_tree: current_work_tree(project, session),
        ..context_without_session(project)
    }
}

/// The working tree as git was last asked, unless the session changed a file after that. A command
/// asks just before.
fn current_work_tree(project: &Project, session: &Session) -> Option<WorkTreeState> {
    let state = last_work_tree(project)?;
    let now = project.environment().clock.now();
    let is_new = now.duration_since(state.at).abs() <= JUST_NOW;
    let changed = session.files.last_change();
    (is_new || changed.is_none_or(|changed| changed <= state.at)).then_some(state)
}

/// What is seen where no client worked.
pub(in crate::verbs) fn context_without_session(project: &Project) -> CheckpointContext {
    let repository = project.repository();
    CheckpointContext {
        at: project.environment().clock.now(),
        commit: repository.and_then(Repository::head_commit),
        branch: repository.and_then(Repository::branch).map(|name| clean(project, &name)),
        plan_documents: plan_documents(project),
        ..CheckpointContext::default()
    }
}

/// What the changed files of the project hold now.
fn read_changed_files(
    project: &Project,
    session: &Session,
) -> BTreeMap<String, Option<(u64, u64)>> {
    let tops: Vec<Root> =
        clients::project_folders(project).iter().filter_map(|top| Root::open(top).ok()).collect();
    let root = project.root().path();
    // A project that was moved has its files where it is now.
    let old = session.cwd.as_deref().map(Path::new);
    let old = old.filter(|old| !tops.iter().any(|top| old.starts_with(top.path())));
    let old = old.filter(|old| !files::exists(old));
    let mut found = BTreeMap::new();
    for (path, _) in session.files.changed().take(COMPARED_MAX) {
        let moved = old.and_then(|old| Path::new(path).strip_prefix(old).ok());
        let whole = root.join(moved.unwrap_or(Path::new(path)));
        let inside = tops.iter().rev().find_map(|top| {
            Some((top, whole.strip_prefix(top.path()).ok().filter(|p| files::stays_inside(p))?))
        });
        if let Some((top, inside)) = inside {
            found.insert(path.to_owned(), read_content(top, inside));
        }
    }
    found
}

fn read_content(top: &Root, path: &Path) -> Option<(u64, u64)> {
    match top.read_up_to(path, COMPARED_BYTES_MAX) {
        Ok(bytes) => Some((hash(&bytes), u64::try_from(bytes.len()).unwrap_or_default())),
        Err(FileError { problem: files::FileProblem::TooLarge(size), .. }) => Some((0, size)),
        Err(_) => None,
    }
}

/// The event, whose id is the same whoever tells it. A rule that takes something out makes it another
/// one: what was forgotten can be written down again without it.
fn checkpoint_event(
    project: &Project,
    checkpoint: &Checkpoint,
    agents_bytes: u64,
    (blob, gist): (String, String),
    redacted: &[Redaction],
) -> (Envelope, StreamId) {
    let client = checkpoint.client().name();
    let session = checkpoint.session_id();
    let last = checkpoint.session.last_record.as_deref();
    // Agents may have written what nothing comes of; how much was looked at is told all the same.
    let agents = (agents_bytes > 0).then(|| agents_bytes.to_string());
    let parts = [client, session, last.unwrap_or_default(), &checkpoint.digest].into_iter();
    let parts = parts.chain(agents.as_deref()).chain(redacted.iter().map(|one| &*one.kind));
    let parts: Vec<&str> = parts.collect();
    let branch = checkpoint.session.branch.as_deref().or(checkpoint.git.branch.as_deref());
    let event = SessionEvent::Checkpointed {
        client: client.to_owned(),
        session: session.to_owned(),
        last_record: last.map(str::to_owned),
        digest: checkpoint.digest.clone(),
        blob,
        mode: checkpoint.mode.name().to_owned(),
        bytes: checkpoint.bytes,
        agents_bytes: Some(agents_bytes),
        began: checkpoint.session.began.map(|time| time.to_string()),
        ended: checkpoint.session.ended.map(|time| time.to_string()),
        about: checkpoint.first_request().map(|about| clean(project, &about)),
        folder: checkpoint.session.cwd.as_deref().map(|folder| clean(project, folder)),
        gist: Some(gist),
        branch: branch.map(|branch| clean(project, branch)),
        worked: None,
        open: None,
        edited_below: common_edited_folder(project, &checkpoint.session)
            .map(|folder| clean(project, &folder).into()),
    };
    let envelope = Envelope {
        id: sha256(parts.join("\0").as_bytes())[..32].to_owned(),
        time: project.environment().clock.now(),
        source: client.to_owned(),
        event: Event::Session(event),
    };
    (envelope, StreamId::session(client, session))
}

/// The files that a session changed in its project, from the top of it, with the record that changed each
/// last.
pub(in crate::verbs) fn changed_files<'s>(
    project: &Project,
    session: &'s Session,
) -> impl Iterator<Item = (PathBuf, Option<&'s Provenance>)> {
    let root = files::canonical(project.root().path());
    session.files.changed().filter_map(move |(path, file)| {
        let whole = join_folder(session.cwd.as_deref(), path);
        let below = Path::new(&whole).strip_prefix(&root).ok()?;
        Some((below.to_owned(), file.changed.last()))
    })
}

/// The folder that has all of them; none where that is the top.
fn common_edited_folder(project: &Project, session: &Session) -> Option<String> {
    let folder = |(path, _): (PathBuf, _)| path.parent().map(Path::to_owned);
    let folders = changed_files(project, session).filter_map(folder);
    let common = folders.reduce(|one, other| {
        let same = one.iter().zip(other.iter()).take_while(|(a, b)| a == b);
        same.map(|(name, _)| name).collect()
    })?;
    Some(common.to_str()?.to_owned()).filter(|folder| !folder.is_empty())
}

/// Says in the event whether the session is worth a briefing, so that a hook need not read it to know.
fn add_work_counts(envelope: &mut Envelope, gist: &SessionSummary) {
    if let Event::Session(SessionEvent::Checkpointed { worked, open, .. }) = &mut envelope.event {
        *worked = Some(gist.worked);
        *open = u64::try_from(unsettled::open_count(gist)).ok();
    }
}

/// The checkpoint that an event of this id told of.
fn known_checkpoint(
    ledger: &dyn Ledger,
    stream: &StreamId,
    id: &str,
) -> Result<Option<String>, CheckpointError> {
    let records = ledger.read(stream, None)?;
    let mut events = records.iter().flat_map(|record| &record.events);
    match events.find(|known| known.id == id).map(|known| &known.event) {
        Some(Event::Session(SessionEvent::Checkpointed { blob, .. })) => Ok(Some(blob.clone())),
        Some(_) | None => Ok(None),
    }
}

/// Tells the ledger what is new, all of it in one turn. What somebody else told meanwhile is not.
pub(in crate::verbs) fn append_all(
    project: &Project,
    ledger: &SqliteLedger,
    ready: &mut [PreparedCheckpoint],
) -> Result<(), CheckpointError> {
    let mut new: Vec<&mut PreparedCheckpoint> =
        ready.iter_mut().filter(|one| one.outcome.is_new).collect();
    if new.is_empty() {
        return Ok(());
    }
    for one in &new {
        store_blobs(ledger, one)?;
    }
    append_tasks_and_instructions(project, ledger, new.iter().map(|one| &**one))?;
    let streams: Vec<(StreamId, Vec<Envelope>)> =
        new.iter().map(|one| (one.stream.clone(), vec![one.envelope.clone()])).collect();
    let told = ledger.append_missing(&streams)?;
    if told < new.len() {
        for one in &mut new {
            let first = known_checkpoint(ledger, &one.stream, &one.envelope.id)?;
            one.outcome.is_new = told > 0 && first.as_ref() == Some(&one.outcome.blob);
            one.outcome.blob = first.unwrap_or_default();
        }
    }
    Ok(())
}

fn store_blobs(ledger: &dyn Ledger, ready: &PreparedCheckpoint) -> Result<(), CheckpointError> {
    ledger.store_blob(&ready.blob)?;
    // A gist that was forgotten with another checkpoint is missed by nobody: the whole tells.
    match ledger.store_blob(&ready.summary) {
        Ok(()) | Err(LedgerError::Forgotten(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Tells how the tasks of these sessions are, and which instructions their users gave.
fn append_tasks_and_instructions<'r>(
    project: &Project,
    ledger: &SqliteLedger,
    told: impl IntoIterator<Item = &'r PreparedCheckpoint>,
) -> Result<(), CheckpointError> {
    for one in told {
        let mut streams = mirror::task_streams(project, ledger, &one.tasks)?;
        // A later session may take back what an earlier one of these was given.
        let given = instructions::instructions_given_in(project, ledger, &one.outcome.checkpoint)?;
        if !given.is_empty() {
            streams.push((StreamId::instructions(), given));
        }
        if !streams.is_empty() {
            ledger.append_all_missing_or_spool(&streams)?;
        }
    }
    Ok(())
}
