//! The environment of the process: its variables, the current folder, and what they say about the
//! caller.
#![expect(clippy::disallowed_methods, reason = "the one module that reads the environment")]

use crate::sys::clock::Clock;
use crate::sys::git::LOCAL_VARIABLES;
use etcetera::BaseStrategy as _;
use midstride_core::text::id::SessionId;
use midstride_core::text::redact::is_secret_variable;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The environment of the process.
#[derive(Clone, Debug)]
pub struct Environment {
    /// The folder in which the process was started.
    pub folder: PathBuf,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The folder for programs' state.
    pub state: Option<PathBuf>,
    /// Claude Code's configuration folder.
    pub claude: Option<PathBuf>,
    /// Codex's home folder.
    pub codex: Option<PathBuf>,
    /// The user's editor.
    pub editor: Option<String>,
    /// The user name for the header of new handoffs.
    pub user: Option<String>,
    /// The agent or proof in which the process runs, if it was not started from the user's own
    /// shell.
    pub automation: Option<Automation>,
    /// The session in which the process was started, if its client says.
    pub session: Option<SessionName>,
    /// The source of the current time.
    pub clock: Clock,
}

/// A program that runs commands on its own, so that the user cannot confirm anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Automation {
    /// The shell of an agent client.
    Agent(&'static str),
    /// A proof command of a handoff.
    Proof,
}

/// A session as named by its client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionName {
    /// The client.
    pub client: String,
    /// The session id.
    pub id: SessionId,
}

impl SessionName {
    /// Creates a session name if both parts are valid in the name of a stream.
    pub fn parse(client: &str, id: &str) -> Option<Self> {
        const LENGTH_MAX: usize = 128;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        let is_name =
            |text: &str| (1..=LENGTH_MAX).contains(&text.len()) && text.chars().all(plain);
        let named = is_name(client) && is_name(id);
        named.then(|| Self { client: client.to_owned(), id: SessionId::new(id) })
    }
}

impl fmt::Display for Automation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(client) => write!(f, "the shell of {client}"),
            Self::Proof => f.write_str("a proof that is being run"),
        }
    }
}

/// Variables that clients set in the shells they start. They identify honest agents, but are no
/// protection against an agent that unsets them.
const AGENTS: [(&str, &str); 8] = [
    ("CLAUDECODE", "Claude Code"),
    ("CODEX_SANDBOX", "Codex"),
    ("CODEX_SANDBOX_NETWORK_DISABLED", "Codex"),
    ("CODEX_THREAD_ID", "Codex"),
    ("GEMINI_CLI", "Gemini CLI"),
    ("OPENCODE", "opencode"),
    ("CURSOR_AGENT", "Cursor"),
    ("AI_AGENT", "an agent"),
];

/// The variables that identify an agent. The demo unsets them to act as the user.
pub fn agent_variables() -> impl Iterator<Item = &'static str> {
    AGENTS.into_iter().map(|(variable, _)| variable)
}

/// Clients that expose the session id: the variable that identifies the client, the one with the
/// id, and the client's name. A session variable counts only if its client's variable is set too,
/// because it may have outlived its client.
const SESSIONS: [(&str, &str, &str); 2] = [
    ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "claude-code"),
    ("CODEX_THREAD_ID", "CODEX_THREAD_ID", "codex"),
];

/// Set for the command of a proof.
const PROOF: &str = "MIDSTRIDE_PROOF";
/// The prefix of midstride's own variables.
const OWN_PREFIX: &str = "MIDSTRIDE";

impl Environment {
    /// Reads the environment of this process.
    pub fn from_process() -> std::io::Result<Self> {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let folders = etcetera::choose_base_strategy().ok();
        let home = folders.as_ref().map(|folders| folders.home_dir().to_owned());
        let state = folders.and_then(|folders| folders.state_dir());
        let client = |variable: &str, usual: &str| {
            let set = text(variable).map(PathBuf::from);
            set.or_else(|| home.as_ref().map(|home| home.join(usual)))
        };
        let (claude, codex) =
            (client("CLAUDE_CONFIG_DIR", ".claude"), client("CODEX_HOME", ".codex"));
        // A fixed time makes a run reproducible. The tests and the demo use it.
        let fixed = text("MIDSTRIDE_NOW").and_then(|moment| moment.parse().ok());
        Ok(Self {
            folder: std::env::current_dir()?,
            claude,
            codex,
            home,
            state,
            editor: text("VISUAL").or_else(|| text("EDITOR")),
            user: text("MIDSTRIDE_USER").or_else(|| text("USER")),
            automation: detect_automation(|name| text(name).is_some()),
            session: detect_session(text),
            clock: fixed.map_or(Clock::System, Clock::Fixed),
        })
    }

    /// The path of `.claude.json`: in Claude Code's folder if one is configured, otherwise in the
    /// home folder.
    pub(crate) fn claude_json(&self) -> Option<PathBuf> {
        const NAME: &str = ".claude.json";
        match std::env::var_os("CLAUDE_CONFIG_DIR").filter(|named| !named.is_empty()) {
            Some(_) => self.claude.as_ref().map(|folder| folder.join(NAME)),
            None => self.home.as_ref().map(|home| home.join(NAME)),
        }
    }
}

/// The current folder of the process.
pub(crate) fn current_folder() -> std::io::Result<PathBuf> {
    std::env::current_dir()
}

/// The folders in `PATH`.
pub(crate) fn program_folders() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|all| std::env::split_paths(&all).collect()).unwrap_or_default()
}

fn detect_automation(is_set: impl Fn(&str) -> bool) -> Option<Automation> {
    let agent = || AGENTS.into_iter().find(|(variable, _)| is_set(variable));
    let agent = || agent().map(|(_, client)| Automation::Agent(client));
    if is_set(PROOF) { Some(Automation::Proof) } else { agent() }
}

fn detect_session(text: impl Fn(&str) -> Option<String>) -> Option<SessionName> {
    let mut set = SESSIONS.into_iter().filter(|(client, ..)| text(client).is_some());
    let named = |(_, id, client): (&str, &str, &str)| SessionName::parse(client, &text(id)?);
    set.find_map(named)
}

/// Set for an agent that works on a stage of a run.
const ATTEMPT: &str = "MIDSTRIDE_ATTEMPT";
/// Switches hooks off if it is `off`.
const SWITCH: &str = "MIDSTRIDE";
/// Overrides the time limit of a hook.
const HOOK_MILLISECONDS: &str = "MIDSTRIDE_HOOK_MILLISECONDS";
/// Keeps hooks from starting the background process that runs git, if it is `off`.
pub const OBSERVE: &str = "MIDSTRIDE_OBSERVE";

/// Set for a hook that was restarted because of a file size limit.
pub const RESTARTED: &str = "MIDSTRIDE_STARTED_OVER";

/// Whether this hook was already restarted.
pub fn is_restarted() -> bool {
    std::env::var_os(RESTARTED).is_some()
}

/// Whether sessions started with it are briefed: `0` or `1`.
const BRIEF: &str = "MIDSTRIDE_BRIEF";
/// The task list that Claude Code sessions share, if the user named one.
const CLAUDE_TASK_LIST: &str = "CLAUDE_CODE_TASK_LIST_ID";
/// How Claude Code was started, as passed to its hooks.
const CLAUDE_ENTRYPOINT: &str = "CLAUDE_CODE_ENTRYPOINT";

/// The user's choice in the environment whether sessions are briefed.
pub(crate) fn briefing_choice() -> Option<bool> {
    let value = std::env::var(BRIEF).ok()?;
    match value.trim().to_ascii_lowercase().as_str() {
        "0" | "off" | "false" | "no" => Some(false),
        "1" | "on" | "true" | "yes" => Some(true),
        _ => None,
    }
}

/// The task list that the Claude Code session which started this process shares with others.
pub(crate) fn shared_task_list() -> Option<String> {
    std::env::var(CLAUDE_TASK_LIST).ok().filter(|list| !list.is_empty())
}

/// Whether Claude Code runs for a script (`claude -p` or the SDKs), without a user at the terminal.
pub(crate) fn is_headless_claude() -> bool {
    std::env::var(CLAUDE_ENTRYPOINT).is_ok_and(|entrypoint| entrypoint.starts_with("sdk"))
}

/// Whether hooks stay silent: they are switched off, a run already provides their information, or a
/// proof is running.
pub fn are_hooks_silent() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    are_hooks_switched_off() || set(ATTEMPT).is_some() || set(PROOF).is_some()
}

/// Whether the environment switches hooks off.
pub fn are_hooks_switched_off() -> bool {
    is_off(SWITCH)
}

/// Whether hooks may start the background process that runs git.
pub fn may_observe() -> bool {
    !is_off(OBSERVE)
}

fn is_off(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| value.eq_ignore_ascii_case("off"))
}

/// The variables for running midstride in a simulation. Excludes variables that lead to the user's
/// files, identify an agent or switch something off.
pub fn simulation_variables() -> Vec<(OsString, OsString)> {
    const PASSED: [&str; 7] =
        ["PATH", "TMPDIR", "LANG", "TZ", "LD_LIBRARY_PATH", "MIDSTRIDE_NOW", HOOK_MILLISECONDS];
    PASSED.into_iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?))).collect()
}

/// The time limit of a hook, if it is overridden.
pub fn hook_time() -> Option<Duration> {
    let text = std::env::var(HOOK_MILLISECONDS).ok()?;
    text.trim().parse().ok().map(Duration::from_millis)
}

/// The variables for a proof command: no secrets, no git location variables and none of midstride's
/// own.
pub(crate) fn proof_variables() -> Vec<(OsString, OsString)> {
    let harmless = |(name, value): &(OsString, OsString)| {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        let of_git = LOCAL_VARIABLES.contains(&name.as_ref());
        !of_git && !name.starts_with(OWN_PREFIX) && !is_secret_variable(&name, &value)
    };
    let passed = std::env::vars_os().filter(harmless);
    passed.chain([(PROOF.into(), "1".into())]).collect()
}

/// Variables that locate the files of the user, midstride, git and the clients.
const LOCATION_VARIABLES: [&str; 10] = [
    "HOME",
    "USER",
    "TMPDIR",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
];
/// The search path of programs.
const PATH: &str = "PATH";

/// The variables for a midstride process that continues after its client exits. It only runs git,
/// so it gets none of the client's keys.
pub fn detached_process_variables(project: &Path) -> Vec<(OsString, OsString)> {
    let is_needed = |(name, _): &(OsString, OsString)| {
        let name = name.to_string_lossy();
        name.starts_with(OWN_PREFIX) || LOCATION_VARIABLES.contains(&name.as_ref())
    };
    let path = std::env::var_os(PATH).and_then(|path| path_without_project(&path, project));
    let path = path.map(|path| (PATH.into(), path));
    std::env::vars_os().filter(is_needed).chain(path).collect()
}

/// `PATH` without relative folders and folders inside the project, so that a program in the
/// repository is never run as git.
fn path_without_project(path: &OsStr, project: &Path) -> Option<OsString> {
    let is_outside = |place: &PathBuf| place.is_absolute() && !place.starts_with(project);
    std::env::join_paths(std::env::split_paths(path).filter(is_outside)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_of_an_agent_is_recognized() {
        let of = |set: &'static str| detect_automation(move |name| name == set);
        assert_eq!(of("CLAUDECODE"), Some(Automation::Agent("Claude Code")));
        assert_eq!(of(PROOF), Some(Automation::Proof));
        assert_eq!(of("TERM"), None);
    }

    #[test]
    fn a_session_is_recognized_only_with_its_client() {
        let set = |variables: &'static [(&str, &str)]| {
            detect_session(move |name| {
                let one = variables.iter().find(|(variable, _)| *variable == name);
                one.map(|(_, value)| (*value).to_owned())
            })
        };
        let named = SessionName::parse("claude-code", "5e55");
        assert!(named.is_some());
        assert_eq!(set(&[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "5e55")]), named);
        assert_eq!(set(&[("CLAUDE_CODE_SESSION_ID", "5e55")]), None);
        assert_eq!(set(&[("CODEX_THREAD_ID", "a/../b")]), None);
        assert_eq!(set(&[("CODEX_THREAD_ID", "a-b")]), SessionName::parse("codex", "a-b"));
    }
}
