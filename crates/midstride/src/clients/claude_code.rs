//! Claude Code: one folder of transcripts per working directory, agents next to their session,
//! tasks in files, and one file per running process.

mod copies;
mod hooks;
mod install;
mod places;
mod plugin;
mod source_session;
mod transcript;

use super::client::{
    Client, ClientProfile, CompactionBehavior, FolderListings, HooksSetting, RunningSessions,
    SourceSession, TaskFile, TranscriptCandidate, TranscriptInfo, TranscriptOpening,
};
use super::config::{ClientSettings, InstallError, InstallOptions, InstallScope, TargetFile};
use super::hook_call::HookFields;
use crate::sys::env::{Environment, SessionVariable};
use crate::sys::files::FileError;
use crate::sys::process;
use crate::workspace::Workspace;
use crate::workspace::folder::claude_memory::{HOME_FOLDER, HOME_VARIABLE};
use jiff::Timestamp;
use midstride_core::brief::StartupTools;
use midstride_core::brief::hook::{HookInput, HookOutput};
use midstride_core::session::Session;
use midstride_core::session::transcript::{RecordReader, TranscriptLine};
use midstride_core::text::id::SessionId;
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};
use transcript::ClaudeCodeReader;

/// The name, as the user types it and as it is stored.
const NAME: &str = "claude-code";
/// Set in the shells and hooks of the client.
const MARK: &str = "CLAUDECODE";
/// The task list that sessions share, if the user named one.
const TASK_LIST_VARIABLE: &str = "CLAUDE_CODE_TASK_LIST_ID";
/// How the client was started, as passed to its hooks.
const ENTRYPOINT_VARIABLE: &str = "CLAUDE_CODE_ENTRYPOINT";

const PROFILE: ClientProfile = ClientProfile {
    name: NAME,
    title: "Claude Code",
    program: "claude",
    resume_arguments: &["--resume"],
    prompt_arguments: &[],
    resumes_in_session_directory: true,
    // The npm package, and the native installer, which names the program after its version.
    executables: &["claude", "claude.exe", "claude/versions/*"],
    home_variable: HOME_VARIABLE,
    home_folder: HOME_FOLDER,
    mcp_name: "claude-code",
    shell_variables: &[MARK],
    session_variable: Some(SessionVariable { mark: MARK, id: "CLAUDE_CODE_SESSION_ID" }),
    hook_utf16_units_max: Some(10_000),
    tools: StartupTools {
        skill_heading: "Load first with the Skill tool",
        read_heading: "Read first with the Read tool",
        task_heading: "Task to restore with the TaskCreate tool",
    },
    compaction: CompactionBehavior {
        takes_instructions: true,
        passes_summary: true,
        starts_first: true,
    },
    file_name_has_session_id: true,
    transcript_names_agents: false,
    runs_hooks_of_both_scopes: false,
    reports_headless_end: true,
    hook_timeout_unit: "s",
    asks_for_hook_trust: false,
    accepts_byte_order_mark: true,
    accepts_comments: false,
    // 2.1.197 still sends the list; the versions between were not measured.
    loads_tools_on_use_since: Some([2, 1, 325]),
    has_status_line: true,
    hooks_setting: HooksSetting {
        off: "`disableAllHooks`",
        hint: "remove `disableAllHooks` to run hooks again",
    },
    sample_transcript: include_str!("claude_code/sample.jsonl"),
    sample_hook_fields: &[],
};

/// Claude Code.
#[derive(Debug)]
pub(super) struct ClaudeCode;

impl Client for ClaudeCode {
    fn profile(&self) -> &'static ClientProfile {
        &PROFILE
    }

    fn transcript_candidates(
        &self,
        environment: &Environment,
        tops: &[PathBuf],
        unread: &mut Vec<FileError>,
    ) -> Vec<TranscriptCandidate> {
        places::candidates(environment, tops, unread)
    }

    fn session_in_file_name(&self, stem: &str) -> SessionId {
        SessionId::new(stem)
    }

    fn transcript_path(
        &self,
        home: &Path,
        folder: &Path,
        session: &SessionId,
        _now: Timestamp,
    ) -> PathBuf {
        places::transcript_folder(home, folder).join(format!("{session}.jsonl"))
    }

    /// Clients that follow this one's format name the session too, but their records have further marks.
    fn is_transcript_start(&self, first_line: &str) -> bool {
        first_line.contains("\"sessionId\":")
            && !["\"provenance\":", "\"parts\":"].iter().any(|mark| first_line.contains(mark))
    }

    fn new_reader(&self) -> Box<dyn RecordReader> {
        Box::new(ClaudeCodeReader::default())
    }

    fn restore_reader(&self, state: &RawValue) -> Option<Box<dyn RecordReader>> {
        let reader: ClaudeCodeReader = serde_json::from_str(state.get()).ok()?;
        Some(Box::new(reader))
    }

    fn agent_transcripts(
        &self,
        workspace: &Workspace,
        found: &TranscriptInfo,
        listings: &FolderListings,
        unread: &mut Vec<FileError>,
    ) -> Vec<(String, PathBuf)> {
        places::agents(workspace, found, listings, unread)
    }

    fn parse_hook_call(&self, fields: &HookFields) -> HookInput {
        hooks::parse_call(fields)
    }

    fn format_hook_answer(&self, call: &HookInput, answer: &HookOutput) -> String {
        hooks::format_answer(call, answer)
    }

    fn target_files(
        &self,
        environment: &Environment,
        scope: &InstallScope,
        options: InstallOptions,
    ) -> Result<Vec<TargetFile>, InstallError> {
        install::target_files(environment, scope, options).ok_or(InstallError::NoHome)
    }

    fn settings(&self, environment: &Environment, root: &Path) -> ClientSettings {
        install::settings(environment, root)
    }

    fn is_headless(&self, environment: &Environment) -> bool {
        let entrypoint = environment.variable(ENTRYPOINT_VARIABLE);
        entrypoint.is_some_and(|entrypoint| entrypoint.starts_with("sdk"))
    }

    fn running_sessions(&self, environment: &Environment) -> Option<RunningSessions> {
        process::has_proc().then(|| RunningSessions::Ids(places::running_sessions(environment)))
    }

    fn is_session_process(&self, environment: &Environment, pid: u64) -> bool {
        places::registered_session(environment, pid).is_some()
    }

    fn session_of_request(
        &self,
        environment: &Environment,
        _parameters: &Value,
    ) -> Option<SessionId> {
        places::current_session(environment)
    }

    fn read_opening(&self, line: &TranscriptLine<'_>, opening: &mut TranscriptOpening) {
        copies::read_opening(line, opening);
    }

    fn source_session(
        &self,
        workspace: &Workspace,
        found: &TranscriptInfo,
        captured: &dyn Fn(&Path) -> Result<Option<Session>, FileError>,
    ) -> Result<Option<SourceSession>, FileError> {
        source_session::find_source(workspace, found, captured)
    }

    fn tasks(&self, environment: &Environment, list: &str) -> Vec<TaskFile> {
        places::tasks(environment, list)
    }

    fn shared_task_list(&self, environment: &Environment) -> Option<String> {
        environment.variable(TASK_LIST_VARIABLE)
    }

    fn plugin_files(&self) -> Vec<(PathBuf, String)> {
        plugin::plugin_files()
    }

    fn has_plugin(&self, settings: &Value) -> bool {
        plugin::is_enabled(settings)
    }

    fn project_install_notes(&self, root: &Path) -> Vec<String> {
        vec![
            format!(
                "Claude Code reads project hooks only when it is started in {}; hooks installed without `--project` run everywhere.",
                root.display()
            ),
            "Claude Code asks each user once whether to start the server.".to_owned(),
        ]
    }
}
