//! Codex: transcripts sorted by the day they started. One that continues another names it and does
//! not copy it.

mod hooks;
mod install;
mod places;
mod transcript;

use super::client::{
    Client, ClientProfile, CompactionBehavior, FolderListings, HooksSetting, RunningSessions,
    TranscriptCandidate, TranscriptInfo,
};
use super::config::{
    ClientFile, ClientSettings, HookTrust, InstallError, InstallOptions, InstallScope, TargetFile,
};
use super::hook_call::HookFields;
use crate::sys::env::{Environment, SessionVariable};
use crate::sys::files::{self, FileError};
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
use transcript::CodexReader;

/// The name, as the user types it and as it is stored.
const NAME: &str = "codex";
/// The variable that names the client's folder, if the user moved it.
const HOME_VARIABLE: &str = "CODEX_HOME";
/// The client's folder, below the user's home folder.
const HOME_FOLDER: &str = ".codex";
/// The id of the session, in the shells of the client.
const THREAD_VARIABLE: &str = "CODEX_THREAD_ID";

const PROFILE: ClientProfile = ClientProfile {
    name: NAME,
    title: "Codex",
    program: "codex",
    resume_arguments: &["resume"],
    prompt_arguments: &[],
    resumes_in_session_directory: false,
    // The npm package, and the release files.
    executables: &[
        "codex",
        "codex-x86_64-unknown-linux-musl",
        "codex-aarch64-unknown-linux-musl",
        "codex-x86_64-unknown-linux-gnu",
        "codex-aarch64-unknown-linux-gnu",
    ],
    home_variable: HOME_VARIABLE,
    home_folder: HOME_FOLDER,
    mcp_name: "codex-mcp-client",
    shell_variables: &["CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", THREAD_VARIABLE],
    session_variable: Some(SessionVariable { mark: THREAD_VARIABLE, id: THREAD_VARIABLE }),
    hook_utf16_units_max: None,
    tools: StartupTools {
        task_heading: "Task to restore with the update_plan tool",
        ..StartupTools::UNKNOWN
    },
    compaction: CompactionBehavior {
        takes_instructions: false,
        passes_summary: false,
        starts_first: false,
    },
    file_name_has_session_id: false,
    transcript_names_agents: true,
    runs_hooks_of_both_scopes: true,
    reports_headless_end: true,
    hook_timeout_unit: "s",
    asks_for_hook_trust: true,
    accepts_byte_order_mark: false,
    accepts_comments: false,
    loads_tools_on_use_since: None,
    has_status_line: false,
    hooks_setting: HooksSetting {
        off: "`hooks = false`",
        hint: "set `hooks = true` under `[features]` to run hooks again",
    },
    sample_transcript: include_str!("codex/sample.jsonl"),
    sample_hook_fields: &[
        ("model", "simulated"),
        ("turn_id", "00000000-0000-4000-8000-000000000002"),
    ],
};

/// Codex.
#[derive(Debug)]
pub(super) struct Codex;

impl Client for Codex {
    fn profile(&self) -> &'static ClientProfile {
        &PROFILE
    }

    fn transcript_candidates(
        &self,
        environment: &Environment,
        _tops: &[PathBuf],
        unread: &mut Vec<FileError>,
    ) -> Vec<TranscriptCandidate> {
        places::candidates(environment, unread)
    }

    fn session_in_file_name(&self, stem: &str) -> SessionId {
        places::session_id_in(stem)
    }

    fn transcript_path(
        &self,
        home: &Path,
        _folder: &Path,
        session: &SessionId,
        now: Timestamp,
    ) -> PathBuf {
        let (day, time) = (now.strftime("%Y/%m/%d"), now.strftime("%Y-%m-%dT%H-%M-%S"));
        home.join(format!("sessions/{day}/rollout-{time}-{session}.jsonl"))
    }

    fn is_transcript_start(&self, first_line: &str) -> bool {
        first_line.contains("\"payload\":")
    }

    fn new_reader(&self) -> Box<dyn RecordReader> {
        Box::new(CodexReader::default())
    }

    fn restore_reader(&self, state: &RawValue) -> Option<Box<dyn RecordReader>> {
        let reader: CodexReader = serde_json::from_str(state.get()).ok()?;
        Some(Box::new(reader))
    }

    fn agent_transcripts(
        &self,
        workspace: &Workspace,
        found: &TranscriptInfo,
        _listings: &FolderListings,
        unread: &mut Vec<FileError>,
    ) -> Vec<(String, PathBuf)> {
        places::agents(workspace, found, unread)
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
        install::target_files(environment, scope, options)
    }

    fn settings(&self, environment: &Environment, root: &Path) -> ClientSettings {
        install::settings(environment, root)
    }

    /// Whether `codex exec`, which runs for a script, started this process.
    fn is_headless(&self, _environment: &Environment) -> bool {
        process::has_ancestor(is_exec)
    }

    fn running_sessions(&self, environment: &Environment) -> Option<RunningSessions> {
        let folder = self.home(environment).filter(|_| process::has_proc())?;
        let open = process::files_being_written(&files::canonical(&folder));
        Some(RunningSessions::Transcripts(open))
    }

    fn session_of_request(
        &self,
        _environment: &Environment,
        parameters: &Value,
    ) -> Option<SessionId> {
        parameters["_meta"]["threadId"].as_str().map(SessionId::new)
    }

    fn transcript_of(
        &self,
        environment: &Environment,
        near: &Path,
        session: &SessionId,
    ) -> Option<PathBuf> {
        places::transcript_of(environment, near, session)
    }

    fn base_transcript(&self, environment: &Environment, path: &Path) -> Option<(PathBuf, u64)> {
        places::base(environment, path)
    }

    fn hook_trust(
        &self,
        environment: &Environment,
        hooks_file: &ClientFile,
    ) -> Option<Vec<(&'static str, HookTrust)>> {
        install::read_hook_trust(environment, hooks_file)
    }

    fn project_install_notes(&self, _root: &Path) -> Vec<String> {
        vec!["Codex reads project files only after you trust the project.".to_owned()]
    }
}

/// Whether these words start `codex exec`, directly or with an interpreter.
fn is_exec(words: &[&[u8]]) -> bool {
    let is_codex = |word: &&[u8]| {
        let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        name == b"codex" || name == b"codex.js"
    };
    let at = words.iter().take(2).position(is_codex);
    let rest = at.map_or(&[][..], |at| &words[at + 1..]);
    rest.iter().any(|word| *word == b"exec" || *word == b"e")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_runs_codex_exec() {
        let is_exec = |line: &str| is_exec(&line.split(' ').map(str::as_bytes).collect::<Vec<_>>());
        assert!(is_exec("/usr/bin/codex exec fix it"));
        assert!(is_exec("node /opt/bin/codex.js -m x e"));
        assert!(!is_exec("codex resume"));
        assert!(!is_exec("sh -c codex exec"));
    }
}
