//! What a client is: its profile, and what only its own folder knows how to do.

use super::config::{
    ClientFile, ClientSettings, HookTrust, InstallError, InstallOptions, InstallScope, TargetFile,
};
use super::hook_call::{HookFields, format_object};
use crate::sys::env::{Environment, SessionVariable};
use crate::sys::files::{self, FileError, FolderEntry};
use crate::workspace::Workspace;
use jiff::Timestamp;
use midstride_core::brief::StartupTools;
use midstride_core::brief::hook::{HookInput, HookOutput};
use midstride_core::session::transcript::{RecordReader, TranscriptCursor, TranscriptLine};
use midstride_core::session::{RecordIds, Session, TaskUpdate};
use midstride_core::text::id::{ClientName, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};

/// A program that runs agent sessions. What midstride does differently for one client is in the
/// folder of its implementation.
pub trait Client: fmt::Debug + Sync {
    /// The facts that need no code.
    fn profile(&self) -> &'static ClientProfile;

    /// The name, as the user types it and as it is stored.
    fn name(&self) -> &'static str {
        self.profile().name
    }

    /// The name as core stores it.
    fn stored_name(&self) -> ClientName {
        ClientName::new(self.name())
    }

    /// The name of the product.
    fn title(&self) -> &'static str {
        self.profile().title
    }

    /// A cursor at the start of a transcript.
    fn new_cursor(&self) -> TranscriptCursor {
        TranscriptCursor::new(self.stored_name(), self.new_reader())
    }

    /// The client's folder for this user, whether or not it exists.
    fn home(&self, environment: &Environment) -> Option<PathBuf> {
        let ClientProfile { home_variable, home_folder, .. } = self.profile();
        environment.program_folder(home_variable, home_folder)
    }

    /// The files that may be transcripts of a project with these folders. Errors go to `unread`.
    fn transcript_candidates(
        &self,
        environment: &Environment,
        tops: &[PathBuf],
        unread: &mut Vec<FileError>,
    ) -> Vec<TranscriptCandidate>;

    /// The session id in the file name of a transcript, given without its extension.
    fn session_in_file_name(&self, stem: &str) -> SessionId;

    /// The path at which a client with this home stores the transcript of a session that starts now
    /// in `folder`.
    fn transcript_path(
        &self,
        home: &Path,
        folder: &Path,
        session: &SessionId,
        now: Timestamp,
    ) -> PathBuf;

    /// Whether a transcript that starts with this line is in the client's format.
    fn is_transcript_start(&self, first_line: &str) -> bool;

    /// A reader at the start of a transcript.
    fn new_reader(&self) -> Box<dyn RecordReader>;

    /// A reader with a stored state; `None` if the state is not one of this client's.
    fn restore_reader(&self, state: &RawValue) -> Option<Box<dyn RecordReader>>;

    /// The transcripts of the agents that a session started, with their ids. Errors go to `unread`.
    fn agent_transcripts(
        &self,
        workspace: &Workspace,
        found: &TranscriptInfo,
        listings: &FolderListings,
        unread: &mut Vec<FileError>,
    ) -> Vec<(String, PathBuf)>;

    /// Parses a hook call.
    fn parse_hook_call(&self, fields: &HookFields) -> HookInput;

    /// Formats the answer to a hook call. Empty if there is nothing to say.
    fn format_hook_answer(&self, call: &HookInput, answer: &HookOutput) -> String {
        format_object(call, answer)
    }

    /// The files that midstride wants in the client, in display order, the one with the hooks
    /// first.
    fn target_files(
        &self,
        environment: &Environment,
        scope: &InstallScope,
        options: InstallOptions,
    ) -> Result<Vec<TargetFile>, InstallError>;

    /// The client's own settings for the project at `root`. Unreadable files are skipped here;
    /// other checks report them.
    fn settings(&self, environment: &Environment, root: &Path) -> ClientSettings;

    /// The words of the command that reopens a session.
    fn resume_command(&self, session: &SessionId) -> Vec<String> {
        let ClientProfile { program, resume_arguments, .. } = self.profile();
        let words = [program].into_iter().chain(*resume_arguments).map(|word| (*word).to_owned());
        words.chain([session.as_str().to_owned()]).collect()
    }

    /// The words of the command that starts a session in a terminal with a first prompt.
    fn prompt_command(&self, prompt: &str) -> Vec<String> {
        let ClientProfile { program, prompt_arguments, .. } = self.profile();
        let words = [program].into_iter().chain(*prompt_arguments).map(|word| (*word).to_owned());
        words.chain([prompt.to_owned()]).collect()
    }

    /// Whether a session runs headless, for a script, so that no user can answer a prompt.
    fn is_headless(&self, environment: &Environment) -> bool;

    /// The sessions that are running; `None` if the system does not say.
    fn running_sessions(&self, environment: &Environment) -> Option<RunningSessions>;

    /// Whether the client registered this process as the one of a running session. Most clients keep
    /// no such register.
    fn is_session_process(&self, _environment: &Environment, _pid: u64) -> bool {
        false
    }

    /// The session to which an MCP request belongs, if it is known. The server's environment is not
    /// enough: the client may have started another session since.
    fn session_of_request(
        &self,
        environment: &Environment,
        parameters: &Value,
    ) -> Option<SessionId>;

    /// The transcript of another session: next to `near`, or anywhere.
    fn transcript_of(
        &self,
        _environment: &Environment,
        _near: &Path,
        _session: &SessionId,
    ) -> Option<PathBuf> {
        None
    }

    /// The transcript that another one continues, and up to which byte.
    fn base_transcript(&self, _environment: &Environment, _path: &Path) -> Option<(PathBuf, u64)> {
        None
    }

    /// Adds what a line of a transcript says about how the transcript starts.
    fn read_opening(&self, _line: &TranscriptLine<'_>, _opening: &mut TranscriptOpening) {}

    /// The session whose records a transcript starts with, if the client copied them. `captured`
    /// returns what was captured so far from the transcript at a path. Fails if the disk does: then
    /// it is unknown whose the records are.
    fn source_session(
        &self,
        _workspace: &Workspace,
        _found: &TranscriptInfo,
        _captured: &dyn Fn(&Path) -> Result<Option<Session>, FileError>,
    ) -> Result<Option<SourceSession>, FileError> {
        Ok(None)
    }

    /// The tasks of a list that the client stores in files.
    fn tasks(&self, _environment: &Environment, _list: &str) -> Vec<TaskFile> {
        Vec::new()
    }

    /// The task list that the session which started this process shares with others.
    fn shared_task_list(&self, _environment: &Environment) -> Option<String> {
        None
    }

    /// The trust in each of midstride's hooks in a file; `None` if the client does not ask for it, or
    /// a file cannot be read.
    fn hook_trust(
        &self,
        _environment: &Environment,
        _hooks_file: &ClientFile,
    ) -> Option<Vec<(&'static str, HookTrust)>> {
        None
    }

    /// The files of midstride's plugin for the client, as paths in a repository.
    fn plugin_files(&self) -> Vec<(PathBuf, String)> {
        Vec::new()
    }

    /// Whether settings of the client enable midstride's plugin.
    fn has_plugin(&self, _settings: &Value) -> bool {
        false
    }

    /// What the user should know after installing for the project at `root`.
    fn project_install_notes(&self, root: &Path) -> Vec<String>;
}

/// The facts about a client that need no code.
#[derive(Debug)]
pub struct ClientProfile {
    /// The name, as the user types it and as it is stored.
    pub name: &'static str,
    /// The name of the product.
    pub title: &'static str,
    /// The program that users start.
    pub program: &'static str,
    /// The arguments of the program that reopen a session, without its id.
    pub resume_arguments: &'static [&'static str],
    /// The arguments of the program that start a session in a terminal with a first prompt, without
    /// the prompt.
    pub prompt_arguments: &'static [&'static str],
    /// Whether the client finds a session only from the directory that the session worked in.
    pub resumes_in_session_directory: bool,
    /// How the paths of the client's programs end: file names, or several names with `*` for any.
    /// A program above a command means that an agent runs the command.
    pub executables: &'static [&'static str],
    /// The variable that names the client's folder, if the user moved it.
    pub home_variable: &'static str,
    /// The client's folder, below the user's home folder.
    pub home_folder: &'static str,
    /// The client's name in the MCP handshake.
    pub mcp_name: &'static str,
    /// The variables that are set in the shells that the client starts.
    pub shell_variables: &'static [&'static str],
    /// The variable with the session id in these shells, if there is one.
    pub session_variable: Option<SessionVariable>,
    /// Maximum UTF-16 units that the client accepts from a hook, if it limits them.
    pub hook_utf16_units_max: Option<u64>,
    /// The tools with which the client's model follows startup steps.
    pub tools: StartupTools,
    /// What the client does at a compaction. The doctor simulates one.
    pub compaction: CompactionBehavior,
    /// Whether the file name of a transcript has the id of its session even where records copied
    /// from another session do not.
    pub file_name_has_session_id: bool,
    /// Whether a transcript shows if the session started agents. Searching for their files takes
    /// long.
    pub transcript_names_agents: bool,
    /// Whether the client runs a hook twice that is installed for the user and in the project.
    pub runs_hooks_of_both_scopes: bool,
    /// Whether the client calls a hook when a headless session ends. If not, the session is captured
    /// whenever it stops.
    pub reports_headless_end: bool,
    /// The unit of the timeouts in the client's hooks.
    pub hook_timeout_unit: &'static str,
    /// Whether the client runs a hook only if the user trusts it.
    pub asks_for_hook_trust: bool,
    /// Whether the client reads JSON that starts with a byte order mark.
    pub accepts_byte_order_mark: bool,
    /// Whether the client reads JSON with comments and trailing commas.
    pub accepts_comments: bool,
    /// The oldest version known to send only the names of a server's MCP tools, and their list once a
    /// tool is used. `None` if the client sends the list with each session.
    pub loads_tools_on_use_since: Option<[u32; 3]>,
    /// Whether the client shows a status line that a command prints.
    pub has_status_line: bool,
    /// The setting that switches all hooks off.
    pub hooks_setting: HooksSetting,
    /// A short transcript, with `{folder}`, `{session}`, `{time}`, `{request}` and `{correction}` to
    /// replace. The doctor simulates a session with it.
    pub sample_transcript: &'static str,
    /// Further fields of the client's hook calls, for the simulation.
    pub sample_hook_fields: &'static [(&'static str, &'static str)],
}

/// What a client does when it compacts a session.
#[derive(Debug)]
pub struct CompactionBehavior {
    /// Whether it takes instructions for the summary.
    pub takes_instructions: bool,
    /// Whether it passes the summary to the hook after the compaction.
    pub passes_summary: bool,
    /// Whether the hook of the new start comes before the one after the compaction.
    pub starts_first: bool,
}

/// The setting of a client that switches all hooks off.
#[derive(Debug)]
pub struct HooksSetting {
    /// The setting, as in the client's file.
    pub off: &'static str,
    /// How to run hooks again.
    pub hint: &'static str,
}

impl PartialEq for dyn Client {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Client {}

/// The traces that running sessions of a client leave.
#[derive(Debug)]
pub enum RunningSessions {
    /// Their ids.
    Ids(HashSet<SessionId>),
    /// The transcripts that are open for writing.
    Transcripts(HashSet<PathBuf>),
}

/// A transcript and what its first records say.
#[derive(Clone, Debug)]
pub struct TranscriptInfo {
    /// The client that wrote it.
    pub client: &'static dyn Client,
    /// The id of the session.
    pub session: SessionId,
    /// The session that started it as a subagent.
    pub agent_of: Option<SessionId>,
    /// The path of the file.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it last changed.
    pub changed: Option<Timestamp>,
    /// When the session started.
    pub began: Option<Timestamp>,
    /// Its working directory.
    pub cwd: Option<String>,
}

/// A file that may be a transcript, before it is opened.
#[derive(Clone, Debug)]
pub struct TranscriptCandidate {
    /// The client that would have written it.
    pub client: &'static dyn Client,
    /// The path of the file.
    pub path: PathBuf,
    /// Its folder entry.
    pub entry: FolderEntry,
}

impl TranscriptCandidate {
    /// The session id in its file name.
    pub(crate) fn session(&self) -> SessionId {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        self.client.session_in_file_name(&stem)
    }
}

/// The start of a transcript, with what shows whether it is a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptOpening {
    /// The id of the first record that has one.
    pub record: Option<String>,
    /// The time that record was written, as it says.
    pub at: Option<Timestamp>,
    /// Whether it follows another record, which must then be in another file.
    pub follows: bool,
    /// The session it says it was copied from.
    pub from: Option<SessionId>,
    /// The latest time before it. Those records are notes of the client, which are never copied.
    pub opened: Option<Timestamp>,
}

/// A session that another one continues.
#[derive(Debug)]
pub struct SourceSession {
    /// Its id.
    pub session: SessionId,
    /// The ids of all its records.
    pub ids: RecordIds,
}

/// A task that a client stores in a file.
#[derive(Debug)]
pub struct TaskFile {
    /// The file name, for messages.
    pub name: String,
    /// Its content.
    pub change: TaskUpdate<'static>,
}

/// Files in the folders of transcripts, by folder. Each folder is listed once, for all its sessions.
#[derive(Debug, Default)]
pub struct FolderListings(RefCell<HashMap<PathBuf, Vec<FolderEntry>>>);

impl FolderListings {
    /// The entries of a folder whose names are wanted. Every call for one folder must want the same
    /// names.
    pub(crate) fn list(
        &self,
        folder: &Path,
        is_wanted: fn(&str) -> bool,
        unread: &mut Vec<FileError>,
    ) -> Vec<FolderEntry> {
        let list = || list_or_report(folder, is_wanted, unread);
        self.0.borrow_mut().entry(folder.to_owned()).or_insert_with(list).clone()
    }
}

/// The entries of a folder whose names are wanted. An error goes to `unread`.
pub(crate) fn list_or_report(
    folder: &Path,
    is_wanted: impl Fn(&str) -> bool,
    unread: &mut Vec<FileError>,
) -> Vec<FolderEntry> {
    files::list_folder(folder, is_wanted).unwrap_or_else(|error| {
        unread.push(error);
        Vec::new()
    })
}
