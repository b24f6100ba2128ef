//! Saves a session: its facts, its author's notes, and the result of the quality check.
//!
//! Saving never fails because something is missing. What is missing is reported and recorded.
//! Saving the same content again changes nothing.

use crate::clients::{self, Client};
use crate::journal::{JournalError, RecordedRevision, RevisionInfo};
use crate::store::Store;
use crate::sys::files::{FileError, Lock};
use crate::sys::git::Repository;
use crate::verbs::handoff::new::{CreatedHandoff, NewError, NewHandoff, existing_path, new};
use crate::verbs::session::checkpoint::{
    CheckpointError, CheckpointOutcome, SessionChoice, checkpoint, context_without_session,
    current_session,
};
use crate::verbs::session::coverage::measure_coverage;
use crate::verbs::session::plans::plans_to_read;
use crate::verbs::session::sessions::{last_captured, read_checkpoint};
use crate::verbs::task::mirror;
use crate::verbs::task::transfer::tasks_of_session;
use crate::verbs::task::{TaskBoard, TaskError};
use crate::verbs::work::mission::missions;
use crate::workspace::{Catalog, FindError, SetupMode, StoredHandoff, Workspace};
use midstride_core::format::document::{Document, DocumentEditError};
use midstride_core::format::header::{HandoffKind, Header, RevisionVerb, StartupKind, Status};
use midstride_core::handoff::Handoff;
use midstride_core::session::AgentState;
use midstride_core::session::author_notes::{AuthorNotes, Reflection, SessionFacts};
use midstride_core::session::checkpoint::{self as core_checkpoint, Checkpoint, CheckpointMode};
use midstride_core::session::coverage::Coverage;
use midstride_core::session::quality::{self, QualityReport, QualityStamp};
use midstride_core::text::edit::{Edit, HeaderPath};
use midstride_core::text::id::{BlobHash, HandoffKey, SessionId, nearest_match};
use midstride_core::text::redact::Redaction;
use midstride_core::text::time;
use midstride_core::text::yaml::{YamlData, YamlNode};
use midstride_core::work::mission::Mission;
use midstride_core::work::task::{Task, Tasks};
use std::path::PathBuf;

/// How many tasks are listed as startup steps. The handoff stores all of them.
const STARTUP_TASKS_MAX: usize = 10;
/// Client commands that look like skills but are not.
const BUILT_IN_COMMANDS: [&str; 16] = [
    "agents", "clear", "compact", "config", "context", "cost", "exit", "help", "init", "login",
    "logout", "memory", "model", "resume", "status", "usage",
];

/// Where the facts come from.
#[derive(Clone, Debug)]
pub enum SaveSource {
    /// A session.
    Session(SessionChoice),
    /// A session, or git and the tasks if it has no transcript.
    SessionIfFound(SessionChoice),
    /// No client ran it. The facts come from git and the tasks.
    NoSession,
}

/// What to save.
#[derive(Clone, Debug)]
pub struct SaveRequest {
    /// Where the facts come from.
    pub source: SaveSource,
    /// Only sessions of this client.
    pub client: Option<&'static dyn Client>,
    /// The author's notes.
    pub author_notes: AuthorNotes,
    /// The id of the handoff. If not set, the session's handoff is used.
    pub id: Option<String>,
    /// Why the author accepts what is missing.
    pub accept: Option<String>,
    /// The author.
    pub by: Option<String>,
    /// Whether an agent saves. An agent is asked once for what is missing; the user is not.
    pub is_agent: bool,
}

/// Whether the author is asked for what is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorRequest {
    /// The user saves. What is missing is shown.
    NotAsked,
    /// The agent is asked now.
    AskedNow,
    /// The agent was asked before. The handoff is kept as it is.
    AskedBefore,
}

/// How the handoff was written.
#[derive(Debug)]
pub enum SaveChange {
    /// A new handoff.
    New,
    /// A revision of an existing handoff.
    Revised(RecordedRevision),
    /// The handoff already had everything.
    Unchanged,
}

/// An agent that is still running.
#[derive(Clone, Debug)]
pub struct InFlightAgent {
    /// Its id, if known.
    pub id: Option<String>,
    /// Its task, in a few words.
    pub about: Option<String>,
}

/// A saved session, as read back from disk.
#[derive(Debug)]
pub struct SaveOutcome {
    /// The handoff, as it is on disk.
    pub stored: StoredHandoff,
    /// How it was written.
    pub change: SaveChange,
    /// The result of the quality check.
    pub quality: QualityReport,
    /// Whether the author is asked for what is missing.
    pub author_request: AuthorRequest,
    /// Why the author accepts what is missing.
    pub accepted: Option<String>,
    /// The author's answers, from now or before.
    pub reflection: Reflection,
    /// How much of what happened the author covers.
    pub coverage: Option<Coverage>,
    /// The captured session.
    pub captured: Option<CheckpointOutcome>,
    /// Whether the session has no transcript, so that the facts come from git and the tasks.
    pub is_transcript_missing: bool,
    /// Agents that are still running.
    pub in_flight: Vec<InFlightAgent>,
    /// The tasks of the project, including those of the session.
    pub board: Tasks,
    /// The mission, combined from its last capture and the tasks.
    pub mission: Option<Mission>,
    /// How many open tasks the handoff stores.
    pub tasks: usize,
    /// How many open tasks did not fit.
    pub tasks_omitted: usize,
    /// Secrets that were not written.
    pub redacted: Vec<Redaction>,
    /// For a new handoff with a given id, an existing id that may have been meant.
    pub similar_id: Option<String>,
}

impl SaveOutcome {
    /// Whether nothing more is asked of the author.
    pub fn is_complete(&self) -> bool {
        self.quality.passes()
            || self.accepted.is_some()
            || self.author_request == AuthorRequest::AskedBefore
    }
}

/// Why a session was not saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// The project is not set up.
    #[error("this project is not set up")]
    NotSetUp,
    /// An agent tried to save into a project other than its own.
    #[error("an agent can save only to the project its shell is in")]
    OtherProject,
    /// An agent tried to save a text from outside its project.
    #[error("`{}` is outside this project", .0.display())]
    BodyOutside(PathBuf),
    /// An agent tried to save a session of another project.
    #[error("`{}` is not a transcript from this project", .0.display())]
    TranscriptOutside(PathBuf),
    /// A startup step is invalid.
    #[error("`{text}` is not a valid startup step: {why}")]
    StartupStep {
        /// Its kind.
        kind: StartupKind,
        /// Its text.
        text: String,
        /// Why it is invalid.
        why: &'static str,
    },
    /// The session could not be captured.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Several handoffs belong to this session.
    #[error("session `{session}` has several handoffs: {}", keys.join(", "))]
    Several {
        /// The session.
        session: SessionId,
        /// The handoffs.
        keys: Vec<String>,
    },
    /// The handoff has another kind.
    #[error("`{key}` has kind {kind}, but saving a session requires kind session")]
    OtherKind {
        /// The handoff.
        key: String,
        /// Its kind.
        kind: HandoffKind,
    },
    /// The handoff is closed.
    #[error("`{key}` is already {status}")]
    Closed {
        /// The handoff.
        key: String,
        /// Its status.
        status: Status,
    },
    /// The handoff was not found.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The handoff could not be created.
    #[error(transparent)]
    New(#[from] NewError),
    /// The tasks could not be read.
    #[error(transparent)]
    Tasks(#[from] TaskError),
    /// The handoff cannot be edited safely.
    #[error("cannot update the handoff: {0}")]
    Refused(#[from] DocumentEditError),
    /// The handoff could not be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The file on disk differs from what was written.
    #[error("`{}` was written but does not match when read back: {why}", path.display())]
    NotReadBack {
        /// The file.
        path: PathBuf,
        /// How it differs.
        why: String,
    },
    /// A file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Saves a session.
pub fn save(store: &Store, wanted: &SaveRequest) -> Result<SaveOutcome, SaveError> {
    let SaveSource::SessionIfFound(which) = &wanted.source else {
        return save_from_source(store, wanted);
    };
    let from = |source, client| SaveRequest { source, client, ..wanted.clone() };
    match save_from_source(store, &from(SaveSource::Session(which.clone()), wanted.client)) {
        // A client without a transcript can still save its notes.
        Err(SaveError::Checkpoint(CheckpointError::NoSession(_) | CheckpointError::NoSuch(_))) => {
            let saved = save_from_source(store, &from(SaveSource::NoSession, None))?;
            Ok(SaveOutcome { is_transcript_missing: true, ..saved })
        }
        saved => saved,
    }
}

fn save_from_source(store: &Store, wanted: &SaveRequest) -> Result<SaveOutcome, SaveError> {
    let workspace = store.workspace();
    if workspace.setup() == SetupMode::NotSetUp {
        return Err(SaveError::NotSetUp);
    }
    if let Some((kind, text, why)) = wanted.author_notes.refused_startup_step() {
        return Err(SaveError::StartupStep { kind, text: text.to_owned(), why });
    }
    let is_there = |path: &str| workspace.root().has_file(std::path::Path::new(path.trim()));
    let mut reads = wanted.author_notes.boot.iter().filter(|(kind, _)| *kind == StartupKind::Read);
    if let Some((kind, text)) = reads.find(|(_, path)| !is_there(path)) {
        let why = "there is no such file in the project";
        return Err(SaveError::StartupStep { kind: *kind, text: text.to_owned(), why });
    }
    let captured = capture_session(store, wanted)?;
    // Use the stored checkpoint, so that a later reader sees the same facts.
    let kept =
        captured.as_ref().map(|done| read_checkpoint(store, &done.blob)).transpose()?.flatten();
    let checkpoint = kept.or_else(|| captured.as_ref().map(|done| done.checkpoint.clone()));
    let _lock = lock_saving(workspace)?;
    let board = open_board(store, checkpoint.as_ref())?;
    let blob = captured.as_ref().map(|done| &done.blob);
    let making = SaveContext {
        store,
        request: wanted,
        checkpoint: checkpoint.as_ref(),
        blob,
        board: &board,
    };
    let existing = making.find_existing()?;
    let asking = making.author_request(existing.as_ref().map(|stored| &stored.document));
    let (stored, written, redacted) = match existing {
        Some(stored) => making.revise(&stored)?,
        None => making.create()?,
    };
    let similar = match written {
        SaveChange::New => making.find_similar_id(),
        SaveChange::Revised(_) | SaveChange::Unchanged => None,
    };
    let reflection = quality::recorded_reflection(&stored.document);
    let (gate, coverage) = assess_quality(workspace, &stored.document, checkpoint.as_ref());
    let gate = gate.with_reflection(&reflection);
    let tasks = stored.handoff(workspace).node("state.tasks").map_or(0, |node| node.items().len());
    Ok(SaveOutcome {
        accepted: accepted_reason(&stored.document),
        reflection,
        in_flight: checkpoint.as_ref().map(in_flight_agents).unwrap_or_default(),
        mission: current_mission(store, wanted, &board.tasks)?,
        tasks_omitted: tasks_of_session(&board.tasks, None).1,
        stored,
        change: written,
        quality: gate,
        author_request: asking,
        coverage,
        captured,
        is_transcript_missing: false,
        tasks,
        redacted,
        similar_id: similar,
        board: board.tasks,
    })
}

/// The tasks of the project, including those of the session.
fn open_board<'s>(
    store: &'s Store,
    checkpoint: Option<&Checkpoint>,
) -> Result<TaskBoard<'s>, TaskError> {
    let workspace = store.workspace();
    let mut board = TaskBoard::open(store)?;
    if let Some(checkpoint) = checkpoint {
        mirror::append_tasks(workspace, board.ledger(), checkpoint)?;
        board.reload()?;
    }
    Ok(board)
}

/// The mission at the time of saving. The author's notes decide what is next.
fn current_mission(
    store: &Store,
    wanted: &SaveRequest,
    tasks: &Tasks,
) -> Result<Option<Mission>, TaskError> {
    let workspace = store.workspace();
    let mission = Mission::combine(missions(store)?.last(), tasks);
    let next = &wanted.author_notes.next;
    if next.is_empty() {
        return Ok(mission);
    }
    let (at, by) = (workspace.environment().clock.now(), wanted.by.clone().unwrap_or_default());
    let none = Mission {
        at,
        by,
        decisions: Vec::new(),
        questions: Vec::new(),
        next: Vec::new(),
        mode: None,
        iteration: None,
    };
    Ok(Some(Mission { next: next.clone(), ..mission.unwrap_or(none) }))
}

/// Locks saving, because two processes that save one session at once must not create two handoffs.
fn lock_saving(workspace: &Workspace) -> Result<Lock, SaveError> {
    Ok(Lock::acquire(&workspace.make_private()?, "save")?)
}

/// Captures the session up to now. If its transcript is deleted, returns the last capture.
fn capture_session(
    store: &Store,
    wanted: &SaveRequest,
) -> Result<Option<CheckpointOutcome>, SaveError> {
    let workspace = store.workspace();
    let SaveSource::Session(which) = &wanted.source else { return Ok(None) };
    let is_open = matches!(which, SessionChoice::Current)
        && current_session(workspace, wanted.client).is_none();
    let of_handoff = if is_open { session_of_handoff(workspace, wanted)? } else { None };
    let (which, client) = match of_handoff {
        Some((client, session)) => (&SessionChoice::Id(session), Some(client)),
        None => (which, wanted.client),
    };
    let done = checkpoint(store, which, client, CheckpointMode::Checkpoint);
    let gone = match &done {
        Err(CheckpointError::NoSuch(name)) => name.as_str(),
        Err(CheckpointError::NoTranscript(own)) => own.id.as_str(),
        Ok(_) | Err(_) => return Ok(Some(done?)),
    };
    match last_captured(store, gone, client) {
        Err(CheckpointError::NoSuch(_)) => Ok(Some(done?)),
        last => Ok(Some(last?)),
    }
}

/// The session that the named handoff belongs to.
fn session_of_handoff(
    workspace: &Workspace,
    wanted: &SaveRequest,
) -> Result<Option<(&'static dyn Client, String)>, SaveError> {
    let Some(stored) = find_named(workspace, wanted)? else { return Ok(None) };
    let handoff = stored.handoff(workspace);
    let client = header_text(&handoff, "state.recovery.client").and_then(clients::find);
    let client = client.filter(|client| wanted.client.is_none_or(|want| want == *client));
    let session = header_text(&handoff, "state.recovery.session").map(str::to_owned);
    Ok(client.zip(session))
}

/// The named handoff, if it exists and can be written to.
fn find_named(
    workspace: &Workspace,
    wanted: &SaveRequest,
) -> Result<Option<StoredHandoff>, SaveError> {
    let Some(id) = wanted.id.as_ref().or(wanted.author_notes.id.as_ref()) else { return Ok(None) };
    let key = HandoffKey { id: id.clone(), stage: None };
    if existing_path(workspace, &key)?.is_none() {
        return Ok(None);
    }
    let stored = workspace.find(id)?;
    let handoff = stored.handoff(workspace);
    let (key, kind, status) = (handoff.key().to_string(), handoff.kind(), handoff.status());
    match (kind, status.is_open()) {
        (HandoffKind::Session, true) => Ok(Some(stored)),
        (HandoffKind::Session, false) => Err(SaveError::Closed { key, status }),
        (kind, _) => Err(SaveError::OtherKind { key, kind }),
    }
}

fn in_flight_agents(checkpoint: &Checkpoint) -> Vec<InFlightAgent> {
    let agents = checkpoint.session.agents.iter();
    let flying = agents.filter(|agent| agent.state == AgentState::InFlight);
    flying.map(|agent| InFlightAgent { id: agent.id.clone(), about: agent.about.clone() }).collect()
}

/// The reason in the document for accepting what is missing.
fn accepted_reason(document: &Document) -> Option<String> {
    let reason = quality::quality_node(document)?.get("accepted")?.text()?.value;
    Some(reason.trim().to_owned())
}

/// Runs the quality check on a document.
fn assess_quality(
    workspace: &Workspace,
    document: &Document,
    checkpoint: Option<&Checkpoint>,
) -> (QualityReport, Option<Coverage>) {
    let verdict = Catalog::new(workspace).check_text(document);
    let coverage = checkpoint.map(|checkpoint| measure_coverage(workspace, checkpoint, document));
    (QualityReport::check(document, &verdict, coverage.as_ref()), coverage)
}

/// Everything a handoff is saved from.
struct SaveContext<'m> {
    store: &'m Store,
    request: &'m SaveRequest,
    checkpoint: Option<&'m Checkpoint>,
    blob: Option<&'m BlobHash>,
    board: &'m TaskBoard<'m>,
}

impl SaveContext<'_> {
    /// The handoff to write to: the named one, the session's, or the one with the same title.
    fn find_existing(&self) -> Result<Option<StoredHandoff>, SaveError> {
        let judgement = &self.request.author_notes;
        if self.request.id.is_some() || judgement.id.is_some() {
            return find_named(self.store.workspace(), self.request);
        }
        match (self.checkpoint, &judgement.title) {
            (Some(checkpoint), _) => self.find_of_session(checkpoint),
            (None, Some(title)) => self.expect_one(self.find_open(title, &|handoff| {
                handoff.title() == Some(title.trim()) && handoff.node("state.recovery").is_none()
            })),
            (None, None) => Ok(None),
        }
    }

    /// The open handoff of a session.
    fn find_of_session(&self, checkpoint: &Checkpoint) -> Result<Option<StoredHandoff>, SaveError> {
        let session = checkpoint.session_id();
        self.expect_one(self.find_open(session.as_str(), &|handoff| {
            header_text(handoff, "state.recovery.session") == Some(session.as_str())
                && header_text(handoff, "state.recovery.client")
                    == Some(checkpoint.client().as_str())
        }))
    }

    fn expect_one(
        &self,
        mut found: Vec<StoredHandoff>,
    ) -> Result<Option<StoredHandoff>, SaveError> {
        if found.len() > 1 {
            let key =
                |stored: &StoredHandoff| stored.handoff(self.store.workspace()).key().to_string();
            let session = self.checkpoint.map(Checkpoint::session_id);
            let session = session.unwrap_or_else(|| SessionId::new(""));
            return Err(SaveError::Several { session, keys: found.iter().map(key).collect() });
        }
        Ok(found.pop())
    }

    /// The open private session handoffs that match.
    fn find_open(
        &self,
        text: &str,
        fits: &(dyn Fn(&Handoff<'_>) -> bool + Sync),
    ) -> Vec<StoredHandoff> {
        let workspace = self.store.workspace();
        let mentions = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(text.trim());
        let chosen = workspace.map_matching(mentions, |stored| {
            let handoff = stored.handoff(workspace);
            let is_it = handoff.is_handoff()
                && handoff.kind() == HandoffKind::Session
                && handoff.status().is_open()
                && workspace.private_folder_of(&stored).is_some()
                && fits(&handoff);
            is_it.then_some(stored)
        });
        chosen.into_iter().filter_map(Result::ok).flatten().collect()
    }

    /// The open handoff with an id similar to the named one.
    fn find_similar_id(&self) -> Option<String> {
        let named = self.request.id.as_ref().or(self.request.author_notes.id.as_ref())?;
        let open = self.find_open("", &|handoff| handoff.id() != named);
        let ids: Vec<String> = open
            .iter()
            .map(|stored| stored.handoff(self.store.workspace()).id().to_owned())
            .collect();
        nearest_match(named, ids.iter().map(String::as_str)).map(str::to_owned)
    }

    /// The facts of the session, relative to an existing handoff.
    fn facts(&self, before: Option<&Handoff<'_>>) -> Result<SessionFacts, FileError> {
        let workspace = self.store.workspace();
        let tops = clients::project_folders(workspace);
        let tops: Vec<&std::path::Path> = tops.iter().map(PathBuf::as_path).collect();
        let (mut state, page) = match self.checkpoint {
            Some(checkpoint) => (checkpoint.state(self.blob, &tops), checkpoint.page()),
            None => {
                let context = context_without_session(workspace)?;
                (core_checkpoint::state_without_session(&context), context.page())
            }
        };
        let from_top =
            |page: String, top: &&std::path::Path| page.replace(&format!("{}/", top.display()), "");
        let page = tops.iter().fold(page, from_top);
        let (tasks, _) = tasks_of_session(&self.board.tasks, before);
        if let YamlData::Map(entries) = &mut state {
            entries.push(("tasks".to_owned(), YamlData::List(tasks)));
        }
        let (open, ended) = self.tasks();
        let clean = |text: String| workspace.clean(&text).0.as_str().to_owned();
        let reads =
            self.checkpoint.map(|checkpoint| checkpoint.must_read(&tops)).unwrap_or_default();
        let plans = plans_to_read(workspace).into_iter().filter(|path| !reads.contains(path));
        let plans: Vec<String> = plans.collect();
        let reads = reads.into_iter().chain(plans);
        let reads = reads.filter(|path| workspace.root().has_file(std::path::Path::new(path)));
        let steps = self.skills().into_iter().map(|skill| (StartupKind::Skill, skill));
        let steps = steps.chain(reads.map(|path| (StartupKind::Read, path)));
        let steps = steps.chain(open.into_iter().map(|task| (StartupKind::Task, task)));
        let steps = steps.map(|(kind, text)| (kind, clean(text)));
        Ok(SessionFacts {
            state,
            page: clean(page),
            boot: steps.filter(|(kind, text)| kind.rejection_reason(text).is_none()).collect(),
            ended_tasks: ended,
            title: self.checkpoint.and_then(Checkpoint::title),
        })
    }

    fn skills(&self) -> Vec<String> {
        let mut skills: Vec<(&str, &str)> = Vec::new();
        for skill in self.checkpoint.iter().flat_map(|checkpoint| checkpoint.session.skills.iter())
        {
            let (name, given) = (skill.name.trim_start_matches('/'), skill.arguments.trim());
            match skills.iter_mut().find(|(other, _)| *other == name) {
                // Load the skill with the arguments used last.
                Some((_, before)) if !given.is_empty() => *before = given,
                Some(_) => {}
                None if BUILT_IN_COMMANDS.contains(&name) => {}
                None => skills.push((name, given)),
            }
        }
        let whole = |(name, given): (&str, &str)| {
            let whole = StartupKind::Skill.normalize(&format!("{name} {given}"));
            let is_refused = StartupKind::Skill.rejection_reason(&whole).is_some();
            if is_refused { name.to_owned() } else { whole }
        };
        skills.into_iter().map(whole).collect()
    }

    /// The open tasks and the closed ones, as startup steps list them.
    fn tasks(&self) -> (Vec<String>, Vec<String>) {
        let (open, ended): (Vec<&Task>, Vec<&Task>) =
            self.board.tasks.iter().partition(|task| task.status.is_open());
        let text = |task: &Task| format!("{} {}", task.id.short(), task.subject);
        let open: Vec<String> = open.into_iter().take(STARTUP_TASKS_MAX).map(text).collect();
        // Older versions of midstride wrote client tasks without an id.
        let ended = ended.into_iter().flat_map(|task| [text(task), task.subject.clone()]);
        let over = ended.filter(|task| !open.contains(task)).collect();
        (open, over)
    }

    /// The session of the agent that saves; `None` if the user saves.
    fn agent_session(&self) -> Option<SessionId> {
        let session = || self.checkpoint.map(Checkpoint::session_id);
        self.request.is_agent.then(|| session().unwrap_or_else(|| SessionId::new("none")))
    }

    /// Whether to ask the author for what is missing, according to the handoff.
    fn author_request(&self, document: Option<&Document>) -> AuthorRequest {
        match self.agent_session() {
            None => AuthorRequest::NotAsked,
            Some(agent) if document.and_then(quality::asked_session) == Some(agent.as_str()) => {
                AuthorRequest::AskedBefore
            }
            Some(_) => AuthorRequest::AskedNow,
        }
    }

    /// Adds the result of the quality check to a document.
    fn with_quality_record(&self, document: &Document) -> Result<Document, DocumentEditError> {
        let (gate, coverage) = assess_quality(
            self.store.workspace(),
            &with_default_fields(self.store.workspace(), document)?,
            self.checkpoint,
        );
        let reflection = self
            .request
            .author_notes
            .reflection
            .clone()
            .or_earlier(quality::recorded_reflection(document));
        let gate = gate.with_reflection(&reflection);
        let environment = self.store.workspace().environment();
        let by = environment.author(self.request.by.as_deref());
        let agent = self.agent_session();
        let (at, by) = (environment.clock.now(), Some(by.as_str()));
        let occasion = QualityStamp { at, by, agent: agent.as_ref() };
        let edit = quality::record_edit(
            document,
            &gate,
            coverage.as_ref(),
            self.request.accept.as_deref(),
            &self.request.author_notes.reflection,
            &occasion,
        );
        document.edit(edit.as_slice()).map(|(document, _)| document)
    }

    fn create(&self) -> Result<(StoredHandoff, SaveChange, Vec<Redaction>), SaveError> {
        let created = self.write_new(&self.with_quality_record(&self.skeleton()?)?)?;
        let stored = self.store.workspace().reread(&created.stored)?;
        if stored.bytes != created.stored.bytes {
            return Err(not_read_back(&stored.path, "the text differs"));
        }
        Ok((stored, SaveChange::New, created.redacted))
    }

    /// A new document. [`new`] fills in the blank fields.
    fn skeleton(&self) -> Result<Document, SaveError> {
        let repository = self.store.workspace().repository();
        let committed =
            repository.map(Repository::read_head_commit).transpose()?.flatten().is_some();
        let mut blank = vec!["format", "id", "uid", "kind", "status", "created", "from"];
        blank.extend(committed.then_some("at_commit"));
        Ok(self.request.author_notes.new_document(&self.facts(None)?, &blank)?)
    }

    fn author(&self) -> String {
        let client = self.checkpoint.map(|checkpoint| checkpoint.client().to_string());
        let given = self.request.by.as_deref().or(client.as_deref());
        self.store.workspace().environment().author(given)
    }

    fn write_new(&self, document: &Document) -> Result<CreatedHandoff, SaveError> {
        let wanted = NewHandoff {
            id: self.request.id.clone().or_else(|| self.request.author_notes.id.clone()),
            kind: Some(HandoffKind::Session),
            by: Some(self.author()),
            text: Some(document.text().to_owned()),
            private: Some(true),
            ..NewHandoff::default()
        };
        Ok(new(self.store, &wanted)?)
    }

    fn revise(
        &self,
        stored: &StoredHandoff,
    ) -> Result<(StoredHandoff, SaveChange, Vec<Redaction>), SaveError> {
        let workspace = self.store.workspace();
        let change =
            RevisionInfo::by_verb(RevisionVerb::Save, self.reason(), self.request.by.clone());
        let recorded: Option<RecordedRevision> = self.store.record_with_retry(stored, |now| {
            let facts = self.facts(Some(&now.handoff(workspace)))?;
            let next = self.request.author_notes.merge_into_document(&now.document, &facts)?;
            let next = self.with_quality_record(&next)?;
            if next.text() == now.document.text() {
                return Ok::<_, SaveError>(Ok(None));
            }
            Ok(self.store.record(now, &next, &change, &|_| ()).map(Some))
        })?;
        let read = workspace.reread(stored)?;
        let Some(mut recorded) = recorded else {
            return Ok((read, SaveChange::Unchanged, Vec::new()));
        };
        self.verify_read_back(stored, &read, &recorded)?;
        let redacted = std::mem::take(&mut recorded.redacted);
        Ok((read, SaveChange::Revised(recorded), redacted))
    }

    /// Compares what was read back with what was written.
    fn verify_read_back(
        &self,
        before: &StoredHandoff,
        read: &StoredHandoff,
        recorded: &RecordedRevision,
    ) -> Result<(), SaveError> {
        let (old, now) =
            (before.handoff(self.store.workspace()), read.handoff(self.store.workspace()));
        if old.uid().is_some() && old.uid() != now.uid() {
            return Err(not_read_back(&read.path, "it is a different handoff"));
        }
        // Another process may have added a revision since. It then comes after ours.
        if now.replaced_texts().len() + 1 < recorded.revision {
            return Err(not_read_back(&read.path, "its revision is missing"));
        }
        if self.store.is_edited_outside(read)? {
            return Err(not_read_back(&read.path, "the text differs"));
        }
        Ok(())
    }

    fn reason(&self) -> String {
        let session = self.checkpoint.map(Checkpoint::session_id);
        session.map_or_else(|| "saved".to_owned(), |session| format!("saved session {session}"))
    }
}

fn not_read_back(path: &std::path::Path, why: &str) -> SaveError {
    SaveError::NotReadBack { path: path.to_owned(), why: why.to_owned() }
}

fn header_text<'d>(handoff: &Handoff<'d>, place: &str) -> Option<&'d str> {
    handoff.node(place).and_then(YamlNode::text).map(|text| text.value.trim())
}

/// Adds the fields [`new`] will fill in, so that the check sees the document as it will be.
fn with_default_fields(
    workspace: &Workspace,
    document: &Document,
) -> Result<Document, DocumentEditError> {
    let now = YamlData::Bare(time::format_time(workspace.environment().clock.now()));
    let will_have = [
        ("id", YamlData::text("new")),
        ("kind", YamlData::Bare("session".to_owned())),
        ("created", now),
    ];
    let fields = document.handoff_header().map(Header::fields);
    let is_blank =
        |name: &str| fields.and_then(|fields| fields.get(name)).is_none_or(YamlNode::is_blank);
    let missing = will_have.into_iter().filter(|(name, _)| is_blank(name));
    let edits: Vec<Edit> =
        missing.map(|(name, value)| Edit::Set(HeaderPath::field(name), value)).collect();
    document.edit(&edits).map(|(document, _)| document)
}
