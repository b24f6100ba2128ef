//! Qwen Code: one folder of transcripts per working directory, agents in a separate folder, and one
//! file per session in a terminal. Its hooks and settings follow Claude Code's.

mod hooks;
mod install;
mod places;
mod transcript;

use super::client::{
    Client, ClientProfile, CompactionBehavior, FolderListings, HooksSetting, RunningSessions,
    TranscriptCandidate, TranscriptInfo,
};
use super::config::{ClientSettings, InstallError, InstallOptions, InstallScope, TargetFile};
use super::hook_call::HookFields;
use crate::sys::env::{Environment, SessionVariable};
use crate::sys::files::FileError;
use crate::sys::process;
use crate::workspace::Workspace;
use jiff::Timestamp;
use midstride_core::brief::StartupTools;
use midstride_core::brief::hook::HookInput;
use midstride_core::session::transcript::RecordReader;
use midstride_core::text::id::SessionId;
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};
use transcript::QwenCodeReader;

/// The name, as the user types it and as it is stored.
const NAME: &str = "qwen-code";
/// The variable that names the client's folder, if the user moved it.
const HOME_VARIABLE: &str = "QWEN_HOME";
/// The client's folder, below the user's home folder.
const HOME_FOLDER: &str = ".qwen";
/// Set in the shells of the client.
const MARK: &str = "QWEN_CODE";
/// The id of the session, in shells, hooks and MCP servers of the client.
const SESSION_VARIABLE: &str = "QWEN_CODE_SESSION_ID";

const PROFILE: ClientProfile = ClientProfile {
    name: NAME,
    title: "Qwen Code",
    program: "qwen",
    resume_arguments: &["--resume"],
    // A prompt without the option is answered once, even at a terminal.
    prompt_arguments: &["--prompt-interactive"],
    resumes_in_session_directory: true,
    // The npm package runs as `node`, so its variables and its register of processes identify it.
    executables: &["qwen"],
    home_variable: HOME_VARIABLE,
    home_folder: HOME_FOLDER,
    // The client adds the name of the server to its own.
    mcp_name: "qwen-cli-mcp-client-midstride",
    shell_variables: &[MARK, SESSION_VARIABLE],
    session_variable: Some(SessionVariable { mark: SESSION_VARIABLE, id: SESSION_VARIABLE }),
    // A context of 100,000 characters reached the model.
    hook_utf16_units_max: None,
    tools: StartupTools {
        skill_heading: "Load first with the skill tool",
        read_heading: "Read first with the read_file tool",
        ..StartupTools::UNKNOWN
    },
    compaction: CompactionBehavior {
        takes_instructions: false,
        passes_summary: false,
        starts_first: false,
    },
    file_name_has_session_id: true,
    transcript_names_agents: true,
    // It runs a command once even if both scopes have it.
    runs_hooks_of_both_scopes: false,
    // Only sessions in a terminal report their end.
    reports_headless_end: false,
    hook_timeout_unit: "ms",
    asks_for_hook_trust: false,
    accepts_byte_order_mark: true,
    accepts_comments: true,
    loads_tools_on_use_since: Some([0, 24, 4]),
    has_status_line: false,
    hooks_setting: HooksSetting {
        off: "`disableAllHooks`",
        hint: "remove `disableAllHooks` to run hooks again",
    },
    sample_transcript: include_str!("qwen_code/sample.jsonl"),
    sample_hook_fields: &[("model", "simulated"), ("permission_mode", "default")],
};

/// Qwen Code.
#[derive(Debug)]
pub(super) struct QwenCode;

impl Client for QwenCode {
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

    /// Only this client's messages have `parts`, and only its records a `provenance`.
    fn is_transcript_start(&self, first_line: &str) -> bool {
        first_line.contains("\"sessionId\":")
            && ["\"provenance\":", "\"parts\":"].iter().any(|mark| first_line.contains(mark))
    }

    fn new_reader(&self) -> Box<dyn RecordReader> {
        Box::new(QwenCodeReader::default())
    }

    fn restore_reader(&self, state: &RawValue) -> Option<Box<dyn RecordReader>> {
        let reader: QwenCodeReader = serde_json::from_str(state.get()).ok()?;
        Some(Box::new(reader))
    }

    fn agent_transcripts(
        &self,
        _workspace: &Workspace,
        found: &TranscriptInfo,
        _listings: &FolderListings,
        unread: &mut Vec<FileError>,
    ) -> Vec<(String, PathBuf)> {
        places::agents(found, unread)
    }

    fn parse_hook_call(&self, fields: &HookFields) -> HookInput {
        hooks::parse_call(fields)
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

    /// Only a session in a terminal registers its process, before its first hook runs.
    fn is_headless(&self, environment: &Environment) -> bool {
        process::has_ancestor(places::is_client) && places::current_session(environment).is_none()
    }

    fn running_sessions(&self, environment: &Environment) -> Option<RunningSessions> {
        process::has_proc().then(|| RunningSessions::Ids(places::running_sessions(environment)))
    }

    fn is_session_process(&self, environment: &Environment, pid: u64) -> bool {
        places::registered_session(environment, pid).is_some()
    }

    /// The registered session, because the environment of a server does not follow when the user
    /// starts another session in the same terminal.
    fn session_of_request(
        &self,
        environment: &Environment,
        _parameters: &Value,
    ) -> Option<SessionId> {
        let named = || environment.variable(SESSION_VARIABLE).map(SessionId::new);
        places::current_session(environment).or_else(named)
    }

    fn project_install_notes(&self, root: &Path) -> Vec<String> {
        vec![format!(
            "Qwen Code reads project hooks only when it is started in {}; hooks installed without `--project` run everywhere.",
            root.display()
        )]
    }
}
