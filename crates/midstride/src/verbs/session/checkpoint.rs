//! Captures what a session did in a checkpoint. Repeating it without new activity changes nothing.

use crate::clients::capture::{CaptureOutcome, capture};
use crate::clients::{self, Client, TranscriptInfo};
use crate::store::Store;
use crate::store::ledger::{
    AppendDecision, AppendError, Blob, ExpectedVersion, Ledger, LedgerError, LocalLedger as _,
    ProjectLedger, RecordOutcome, StreamId, decide,
};
use crate::store::tombstone::Tombstone;
use crate::sys::env::SessionName;
use crate::sys::files::{self, FileError, FileProblem, Root};
use crate::sys::ids::sha256;
use crate::verbs::session::plans::plan_documents;
use crate::verbs::task::mirror::{self, MirroredTask};
use crate::verbs::work::instructions;
use crate::workspace::observation::{commits_made, last_work_tree};
use crate::workspace::{SetupMode, Workspace};
use jiff::SignedDuration;
use midstride_core::brief::unsettled;
use midstride_core::session::checkpoint::{
    Checkpoint, CheckpointContext, CheckpointMode, SerializedCheckpoint, SessionSummary,
};
use midstride_core::session::repository::WorkTreeState;
use midstride_core::session::shell::join_folder;
use midstride_core::session::{Provenance, Session, hash};
use midstride_core::text::id::{BlobHash, SessionId};
use midstride_core::text::redact::Redaction;
use midstride_core::work::event::{Envelope, Event, SessionEvent};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How many changed files are compared with the disk.
const COMPARED_MAX: usize = 1_000;
/// The size of the largest file that is compared. A larger file only counts as present.
const COMPARED_BYTES_MAX: u64 = 4 << 20;
/// How recent an observation must be to count as current.
const JUST_NOW: SignedDuration = SignedDuration::from_secs(2);
/// Which session to capture.
#[derive(Clone, Debug, Default)]
pub enum SessionChoice {
    /// The current session, if its client names it, or else the newest.
    #[default]
    Current,
    /// The session whose transcript changed last.
    Newest,
    /// By id, or by an unambiguous prefix of it.
    Id(String),
    /// By the path of its transcript.
    Transcript(PathBuf),
}

/// The result of capturing a session.
#[derive(Debug)]
pub struct CheckpointOutcome {
    /// The captured checkpoint.
    pub checkpoint: Checkpoint,
    /// Its blob: the SHA-256 of its text.
    pub blob: BlobHash,
    /// Whether it has anything new.
    pub is_new: bool,
    /// How many bytes were read for the first time.
    pub new_bytes: u64,
    /// Agent files that could not be read.
    pub unread: Vec<FileError>,
    /// The session's folder, if it is not in this project and no longer exists.
    pub moved_from: Option<String>,
}

/// Why nothing was captured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The project is not set up.
    #[error("this project is not set up")]
    NotSetUp,
    /// There is no session.
    #[error("no session found for this project")]
    NoSession(Vec<FileError>),
    /// The current session has no transcript. Another session is not used instead.
    #[error("{} session `{}` has no transcript in this project", .0.client, .0.id)]
    NoTranscript(SessionName),
    /// No session has this id.
    #[error("there is no session `{0}` in this project")]
    NoSuch(String),
    /// Several sessions match.
    #[error("`{name}` matches several sessions: {}", found.join(", "))]
    Several {
        /// The id that was given.
        name: String,
        /// The sessions that match.
        found: Vec<SessionId>,
    },
    /// The transcript belongs to another project.
    #[error("`{}` is the transcript of a session in `{cwd}`, not in this project", path.display())]
    OtherProject {
        /// The transcript.
        path: PathBuf,
        /// The folder of the session.
        cwd: String,
    },
    /// The file has no known record.
    #[error("`{}` contains no readable {} records", path.display(), client.name())]
    NotUnderstood {
        /// The transcript.
        path: PathBuf,
        /// The client whose format was assumed.
        client: &'static dyn Client,
    },
    /// Exactly this checkpoint was forgotten before.
    #[error("the checkpoint of session `{session}` was forgotten {tombstone}")]
    Forgotten {
        /// The session.
        session: SessionId,
        /// Its tombstone.
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

/// Captures what a session did.
pub fn checkpoint(
    store: &Store,
    which: &SessionChoice,
    client: Option<&'static dyn Client>,
    mode: CheckpointMode,
) -> Result<CheckpointOutcome, CheckpointError> {
    let workspace = store.workspace();
    if workspace.setup() == SetupMode::NotSetUp {
        return Err(CheckpointError::NotSetUp);
    }
    let found = choose_transcript(workspace, which, client)?;
    let ledger = store.ledger()?;
    store_checkpoint(workspace, ledger, &found, mode)
}

/// The session of the transcript its client names.
pub(in crate::verbs) fn find_transcript(
    workspace: &Workspace,
    path: &Path,
    client: &'static dyn Client,
) -> Result<TranscriptInfo, CheckpointError> {
    choose_transcript(workspace, &SessionChoice::Transcript(path.to_owned()), Some(client))
}

/// Captures a session and stores the checkpoint.
pub(in crate::verbs) fn store_checkpoint(
    workspace: &Workspace,
    ledger: &ProjectLedger,
    found: &TranscriptInfo,
    mode: CheckpointMode,
) -> Result<CheckpointOutcome, CheckpointError> {
    let mut ready = PreparedCheckpoint::capture(workspace, ledger, found, mode)?;
    if ready.outcome.is_new {
        // Several processes may capture a running session at once. A capture that read less must
        // not overwrite a longer one, so they take turns.
        let _turn = ledger.lock("checkpoint")?;
        ready.append_alone(workspace, ledger, found)?;
    }
    Ok(ready.outcome)
}

/// A checkpoint that is ready to be recorded in the ledger.
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
    /// Captures a session. Nothing is new if the ledger already has it.
    pub(in crate::verbs) fn capture(
        workspace: &Workspace,
        ledger: &ProjectLedger,
        found: &TranscriptInfo,
        mode: CheckpointMode,
    ) -> Result<Self, CheckpointError> {
        let DraftCheckpoint { serialized: written, agents_bytes, new_bytes, unread } =
            capture_checkpoint(workspace, found, mode)?;
        let SerializedCheckpoint { checkpoint, text } = written;
        // The first records of a transcript do not always name the folder.
        let moved_from = moved_from(workspace, &found.path, checkpoint.session.cwd.as_deref())?;
        let (text, redacted) = workspace.clean_with_added_rules(text);
        let stored = Blob::new(text.into_bytes());
        let highlights = SessionSummary::from_checkpoint(&checkpoint);
        let summary = Blob::new(clean(workspace, &highlights.clone().into_stored()).into_bytes());
        let blobs = (stored.hash().clone(), summary.hash().clone());
        let (mut envelope, stream) =
            checkpoint_event(workspace, &checkpoint, agents_bytes, blobs, &redacted);
        add_summary(workspace, &mut envelope, &highlights);
        let CheckpointHistory { expected, known, longer: further } =
            CheckpointHistory::read(ledger, &stream, &envelope.id, found, checkpoint.bytes)?;
        let tombstone = known.as_ref().map(|blob| Tombstone::find(ledger, blob)).transpose()?;
        if let Some(tombstone) = tombstone.flatten() {
            let session = checkpoint.session_id();
            return Err(CheckpointError::Forgotten { session, tombstone: Box::new(tombstone) });
        }
        let recorded = known.or(further);
        let (is_new, blob) =
            (recorded.is_none(), recorded.unwrap_or_else(|| stored.hash().clone()));
        let tasks = mirror::tasks_of_checkpoint(workspace, &checkpoint);
        let done = CheckpointOutcome { checkpoint, blob, is_new, new_bytes, unread, moved_from };
        Ok(Self { outcome: done, stream, expected, envelope, blob: stored, summary, tasks })
    }

    /// Records the checkpoint, unless another process recorded it or a longer one meanwhile.
    fn append_alone(
        &mut self,
        workspace: &Workspace,
        ledger: &ProjectLedger,
        found: &TranscriptInfo,
    ) -> Result<(), CheckpointError> {
        decide(
            ledger,
            || true,
            || {
                self.refresh(ledger, found)?;
                if !self.outcome.is_new {
                    return Ok(AppendDecision::nothing(()));
                }
                store_blobs(ledger, self)?;
                // Append these first, so that an interrupted capture appends them next time.
                append_tasks_and_instructions(workspace, ledger, [&*self])?;
                let events = vec![self.envelope.clone()];
                Ok(AppendDecision::new(self.stream.clone(), self.expected, events, ()))
            },
        )
    }

    /// Compares with what another process recorded meanwhile.
    fn refresh(
        &mut self,
        ledger: &ProjectLedger,
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

/// What the ledger already has of a session.
struct CheckpointHistory {
    /// The version of its stream.
    expected: ExpectedVersion,
    /// The checkpoint recorded by an event with the same id.
    known: Option<BlobHash>,
    /// A checkpoint that read more of the same transcript.
    longer: Option<BlobHash>,
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
        // A transcript that is shorter now was rewritten, and earlier captures do not count. An
        // empty one does not count as rewritten.
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

/// What a session did, before any of it is stored.
pub(in crate::verbs) struct DraftCheckpoint {
    pub(in crate::verbs) serialized: SerializedCheckpoint,
    agents_bytes: u64,
    new_bytes: u64,
    unread: Vec<FileError>,
}

/// Captures a session. Stores nothing except how far the transcript was read.
pub(in crate::verbs) fn capture_checkpoint(
    workspace: &Workspace,
    found: &TranscriptInfo,
    mode: CheckpointMode,
) -> Result<DraftCheckpoint, CheckpointError> {
    build_checkpoint(workspace, found, capture(workspace, found)?, mode)
}

/// Builds the checkpoint from what was already captured.
pub(in crate::verbs) fn build_checkpoint(
    workspace: &Workspace,
    found: &TranscriptInfo,
    captured: CaptureOutcome,
    mode: CheckpointMode,
) -> Result<DraftCheckpoint, CheckpointError> {
    let CaptureOutcome { mut session, bytes, agents_bytes, new_bytes, unread } = captured;
    let counts = &session.counts;
    // Copied records are valid, but belong to another session.
    let is_understood = counts.understood > 0 || session.forked_after.is_some();
    if !is_understood && counts.seen > 0 {
        let (path, client) = (found.path.clone(), found.client);
        return Err(CheckpointError::NotUnderstood { path, client });
    }
    let context = observe_context(workspace, &session)?;
    let transcript = clean(workspace, &found.path.display().to_string());
    let id = session.id.take().unwrap_or_else(|| found.session.clone());
    session.id = Some(workspace.redact_session_id(id));
    let written = Checkpoint::new_serialized(session, transcript, bytes, mode, context);
    Ok(DraftCheckpoint { serialized: written, agents_bytes, new_bytes, unread })
}

fn clean(workspace: &Workspace, text: &str) -> String {
    workspace.clean(text).0.as_str().to_owned()
}

fn choose_transcript(
    workspace: &Workspace,
    which: &SessionChoice,
    client: Option<&'static dyn Client>,
) -> Result<TranscriptInfo, CheckpointError> {
    if let SessionChoice::Transcript(path) = which {
        let found = clients::read_transcript(&workspace.environment().folder.join(path), client)?;
        let found = clients::owner_transcript(workspace, found)?;
        moved_from(workspace, &found.path, found.cwd.as_deref())?;
        return Ok(found);
    }
    let (all, unread) = clients::transcripts(workspace, client);
    match (which, current_session(workspace, client)) {
        (SessionChoice::Id(name), _) => find_by_id(all, unread, name),
        (SessionChoice::Current, Some(own)) => {
            let is_own =
                |one: &TranscriptInfo| one.session == own.id && one.client.name() == own.client;
            let unread = || read_error_of(unread, own.id.as_str());
            let missing =
                || unread().map_or_else(|| CheckpointError::NoTranscript(own.clone()), Into::into);
            all.into_iter().find(is_own).ok_or_else(missing)
        }
        (SessionChoice::Current | SessionChoice::Newest | SessionChoice::Transcript(_), _) => {
            all.into_iter().next().ok_or(CheckpointError::NoSession(unread))
        }
    }
}

/// The current session, unless the request is for another client.
pub(in crate::verbs) fn current_session<'w>(
    workspace: &'w Workspace,
    client: Option<&'static dyn Client>,
) -> Option<&'w SessionName> {
    let own = workspace.environment().session.as_ref();
    own.filter(|own| client.is_none_or(|client| client.name() == own.client))
}

/// The folder of a session, if it is not in this project and no longer exists.
fn moved_from(
    workspace: &Workspace,
    path: &Path,
    cwd: Option<&str>,
) -> Result<Option<String>, CheckpointError> {
    let Some(cwd) =
        cwd.filter(|cwd| !clients::is_inside(&clients::project_folders(workspace), cwd))
    else {
        return Ok(None);
    };
    // An existing folder belongs to another project. A deleted one may have been this project.
    if files::exists(Path::new(cwd)) {
        let (path, cwd) = (path.to_owned(), cwd.to_owned());
        return Err(CheckpointError::OtherProject { path, cwd });
    }
    Ok(Some(cwd.to_owned()))
}

/// Finds a session by id or by an unambiguous prefix. Returns the read error if its transcript
/// cannot be read.
pub(in crate::verbs) fn find_by_id(
    all: Vec<TranscriptInfo>,
    unread: Vec<FileError>,
    name: &str,
) -> Result<TranscriptInfo, CheckpointError> {
    let (mut exact, others): (Vec<TranscriptInfo>, Vec<TranscriptInfo>) =
        all.into_iter().partition(|found| found.session.as_str() == name);
    if let Some(found) = exact.pop() {
        return Ok(found);
    }
    let mut fitting: Vec<TranscriptInfo> =
        others.into_iter().filter(|found| found.session.as_str().starts_with(name)).collect();
    match (fitting.pop(), fitting.is_empty()) {
        (Some(found), true) if !name.is_empty() => Ok(found),
        (Some(last), _) => {
            let mut found: Vec<SessionId> = fitting.into_iter().map(|one| one.session).collect();
            found.push(last.session);
            Err(CheckpointError::Several { name: name.to_owned(), found })
        }
        (None, _) => {
            let no_such = || CheckpointError::NoSuch(name.to_owned());
            Err(read_error_of(unread, name).map_or_else(no_such, Into::into))
        }
    }
}

/// The read error for the transcript of a session.
fn read_error_of(unread: Vec<FileError>, name: &str) -> Option<FileError> {
    let is_it = |error: &FileError| {
        let file = error.path.file_name().unwrap_or_default().to_string_lossy();
        !name.is_empty() && file.contains(name)
    };
    unread.into_iter().find(is_it)
}

/// What is observed outside the transcript, without starting a process. Fails if the disk does: a file
/// that cannot be read is not a file that is missing.
fn observe_context(
    workspace: &Workspace,
    session: &Session,
) -> Result<CheckpointContext, FileError> {
    let reflog = session.began.map(|began| commits_made(workspace, began, session.ended));
    Ok(CheckpointContext {
        on_disk: read_changed_files(workspace, session)?,
        reflog: reflog.unwrap_or_default(),
        work_tree: current_work_tree(workspace, session),
        ..context_without_session(workspace)?
    })
}

/// The last observation of the working tree, unless the session changed a file after it. Commands
/// observe right before they capture.
fn current_work_tree(workspace: &Workspace, session: &Session) -> Option<WorkTreeState> {
    let state = last_work_tree(workspace)?;
    let now = workspace.environment().clock.now();
    let is_new = now.duration_since(state.at).abs() <= JUST_NOW;
    let changed = session.files.last_change();
    (is_new || changed.is_none_or(|changed| changed <= state.at)).then_some(state)
}

/// What is observed when no client session is involved.
pub(in crate::verbs) fn context_without_session(
    workspace: &Workspace,
) -> Result<CheckpointContext, FileError> {
    let (commit, branch) = match workspace.repository() {
        Some(repository) => (repository.read_head_commit()?, repository.read_branch()?),
        None => (None, None),
    };
    Ok(CheckpointContext {
        at: workspace.environment().clock.now(),
        commit,
        branch: branch.map(|name| clean(workspace, &name)),
        plan_documents: plan_documents(workspace),
        ..CheckpointContext::default()
    })
}

/// The current content of the changed project files, for comparison. Files that may not be read are
/// omitted.
fn read_changed_files(
    workspace: &Workspace,
    session: &Session,
) -> Result<BTreeMap<String, Option<(u64, u64)>>, FileError> {
    let mut tops = Vec::new();
    for top in clients::project_folders(workspace) {
        tops.extend(FileError::unless_disk_fails(Root::open(&top))?);
    }
    let root = workspace.root().path();
    // If the project was moved, its files are at the new path.
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
        let Some((top, inside)) = inside else { continue };
        if let Some(content) = FileError::unless_disk_fails(read_content(top, inside))? {
            found.insert(path.to_owned(), content);
        }
    }
    Ok(found)
}

/// The hash and size of a file; `None` if it is missing.
fn read_content(top: &Root, path: &Path) -> Result<Option<(u64, u64)>, FileError> {
    match top.read_up_to(path, COMPARED_BYTES_MAX) {
        Ok(bytes) => Ok(Some((hash(&bytes), u64::try_from(bytes.len()).unwrap_or_default()))),
        Err(FileError { problem: FileProblem::TooLarge(size), .. }) => Ok(Some((0, size))),
        Err(FileError { problem: FileProblem::NotFound | FileProblem::NotFolder, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The event for a checkpoint. Its id does not depend on who records it. It depends on the
/// redactions, so that a forgotten checkpoint can be captured again without the secret.
fn checkpoint_event(
    workspace: &Workspace,
    checkpoint: &Checkpoint,
    agents_bytes: u64,
    (blob, summary): (BlobHash, BlobHash),
    redacted: &[Redaction],
) -> (Envelope, StreamId) {
    let client = checkpoint.client().as_str();
    let session = checkpoint.session_id();
    let last = checkpoint.session.last_record.as_deref();
    // Agents may write records that add nothing to the checkpoint. Their size still makes the event
    // a new one.
    let agents = (agents_bytes > 0).then(|| agents_bytes.to_string());
    let parts =
        [client, session.as_str(), last.unwrap_or_default(), &checkpoint.digest].into_iter();
    let parts = parts.chain(agents.as_deref()).chain(redacted.iter().map(|one| &*one.kind));
    let parts: Vec<&str> = parts.collect();
    let branch = checkpoint.session.branch.as_deref().or(checkpoint.git.branch.as_deref());
    let event = SessionEvent::Checkpointed {
        client: client.to_owned(),
        session: session.clone(),
        last_record: last.map(str::to_owned),
        digest: checkpoint.digest.clone(),
        blob,
        mode: checkpoint.mode.name().to_owned(),
        bytes: checkpoint.bytes,
        agents_bytes: Some(agents_bytes),
        began: checkpoint.session.began.map(|time| time.to_string()),
        ended: checkpoint.session.ended.map(|time| time.to_string()),
        about: checkpoint.first_request().map(|about| clean(workspace, &about)),
        folder: checkpoint.session.cwd.as_deref().map(|folder| clean(workspace, folder)),
        gist: Some(summary),
        branch: branch.map(|branch| clean(workspace, branch)),
        worked: None,
        open: None,
        edited_below: common_edited_folder(workspace, &checkpoint.session)
            .map(|folder| clean(workspace, &folder).into()),
    };
    let envelope = Envelope {
        id: sha256(parts.join("\0").as_bytes())[..32].to_owned(),
        time: workspace.environment().clock.now(),
        source: client.to_owned(),
        received_from: None,
        event: Event::Session(event),
    };
    (envelope, StreamId::session(client, &session))
}

/// The project files a session changed, relative to the root, each with the record that changed it
/// last.
pub(in crate::verbs) fn changed_files<'s>(
    workspace: &Workspace,
    session: &'s Session,
) -> impl Iterator<Item = (PathBuf, Option<&'s Provenance>)> {
    let root = files::canonical(workspace.root().path());
    session.files.changed().filter_map(move |(path, file)| {
        let whole = join_folder(session.cwd.as_deref(), path);
        let below = Path::new(&whole).strip_prefix(&root).ok()?;
        Some((below.to_owned(), file.changed.last()))
    })
}

/// The common folder of all changed files; `None` if that is the root.
fn common_edited_folder(workspace: &Workspace, session: &Session) -> Option<String> {
    let folder = |(path, _): (PathBuf, _)| path.parent().map(Path::to_owned);
    let folders = changed_files(workspace, session).filter_map(folder);
    let common = folders.reduce(|one, other| {
        let same = one.iter().zip(other.iter()).take_while(|(a, b)| a == b);
        same.map(|(name, _)| name).collect()
    })?;
    Some(common.to_str()?.to_owned()).filter(|folder| !folder.is_empty())
}

/// Records in the event the title of the session and whether it did work, so that hooks do not have
/// to read the summary.
fn add_summary(workspace: &Workspace, envelope: &mut Envelope, summary: &SessionSummary) {
    if let Event::Session(SessionEvent::Checkpointed { worked, open, about, .. }) =
        &mut envelope.event
    {
        let title = summary.short_title().map(|title| clean(workspace, &title));
        *about = title.or(about.take());
        *worked = Some(summary.worked);
        *open = u64::try_from(unsettled::open_count(summary)).ok();
    }
}

/// The checkpoint recorded by an event with this id.
fn known_checkpoint(
    ledger: &dyn Ledger,
    stream: &StreamId,
    id: &str,
) -> Result<Option<BlobHash>, CheckpointError> {
    let records = ledger.read(stream, None)?;
    let mut events = records.iter().flat_map(|record| &record.events);
    match events.find(|known| known.id == id).map(|known| &known.event) {
        Some(Event::Session(SessionEvent::Checkpointed { blob, .. })) => Ok(Some(blob.clone())),
        Some(_) | None => Ok(None),
    }
}

/// Records all new checkpoints in one transaction. Skips what another process recorded meanwhile.
pub(in crate::verbs) fn append_all(
    workspace: &Workspace,
    ledger: &ProjectLedger,
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
    append_tasks_and_instructions(workspace, ledger, new.iter().map(|one| &**one))?;
    let streams: Vec<(StreamId, Vec<Envelope>)> =
        new.iter().map(|one| (one.stream.clone(), vec![one.envelope.clone()])).collect();
    let RecordOutcome::New(appended) = ledger.append_missing(&streams)? else { return Ok(()) };
    if appended < new.len() {
        for one in &mut new {
            let first = known_checkpoint(ledger, &one.stream, &one.envelope.id)?;
            one.outcome.is_new = appended > 0 && first.as_ref() == Some(&one.outcome.blob);
            one.outcome.blob = first.unwrap_or_else(|| BlobHash::new(""));
        }
    }
    Ok(())
}

fn store_blobs(ledger: &dyn Ledger, ready: &PreparedCheckpoint) -> Result<(), CheckpointError> {
    ledger.store_blob(&ready.blob)?;
    // A summary that was forgotten with another checkpoint is not needed: the checkpoint has
    // everything.
    match ledger.store_blob(&ready.summary) {
        Ok(()) | Err(LedgerError::Forgotten(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Records the tasks of these sessions and the instructions their users gave.
fn append_tasks_and_instructions<'r>(
    workspace: &Workspace,
    ledger: &ProjectLedger,
    checkpoints: impl IntoIterator<Item = &'r PreparedCheckpoint>,
) -> Result<(), CheckpointError> {
    for one in checkpoints {
        let mut streams = mirror::task_streams(workspace, ledger, &one.tasks)?;
        // A later session may revoke an instruction that an earlier one was given.
        let given =
            instructions::instructions_given_in(workspace, ledger, &one.outcome.checkpoint)?;
        if !given.is_empty() {
            streams.push((StreamId::instructions(), given));
        }
        if !streams.is_empty() {
            ledger.append_missing(&streams)?;
        }
    }
    Ok(())
}
