//! Settings: what the environment and the configuration of a project say.
#![expect(clippy::disallowed_methods, reason = "this is the door to the environment")]

use crate::sys::clock::Clock;
use crate::sys::files::{FileError, Root};
use crate::sys::git::LOCAL_VARIABLES;
use crate::sys::ids::sha256;
use etcetera::BaseStrategy as _;
use midstride_core::format::stage::{KindRule, StageRule, Stages};
use midstride_core::text::id::nearest_match;
use midstride_core::text::redact::{CustomRule, RedactionRules, is_secret_variable};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml_edit::{Document, Item, Key, TableLike};

/// What the process was started with.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Where it was started.
    pub folder: PathBuf,
    /// The home of the user.
    pub home: Option<PathBuf>,
    /// Where programs of the user keep their state.
    pub state: Option<PathBuf>,
    /// Where Claude Code keeps what it writes.
    pub claude: Option<PathBuf>,
    /// Where Codex keeps what it writes.
    pub codex: Option<PathBuf>,
    /// The editor the user wants.
    pub editor: Option<String>,
    /// Who is working, for the header of new handoffs.
    pub user: Option<String>,
    /// What it was started inside of, where that is not a person's own shell.
    pub automation: Option<Automation>,
    /// The session it was started in, where its client tells.
    pub session: Option<SessionName>,
    /// What tells the time.
    pub clock: Clock,
}

/// Something that starts commands by itself: no person says yes in there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Automation {
    /// The shell of an agent client.
    Agent(&'static str),
    /// A command that was run for a handoff.
    Proof,
}

/// A session, as its client names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionName {
    /// The client.
    pub client: String,
    /// The id.
    pub id: String,
}

impl SessionName {
    /// A session whose names can stand in the name of a stream.
    pub fn parse(client: &str, id: &str) -> Option<Self> {
        const LENGTH_MAX: usize = 128;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        let is_name =
            |text: &str| (1..=LENGTH_MAX).contains(&text.len()) && text.chars().all(plain);
        let named = is_name(client) && is_name(id);
        named.then(|| Self { client: client.to_owned(), id: id.to_owned() })
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

/// Variables that clients set in the shells they start. This tells an honest agent from its user; it
/// is no wall against one that takes them away.
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

/// The variables that tell that an agent is at work; who plays a person's part takes them away.
pub fn agent_variables() -> impl Iterator<Item = &'static str> {
    AGENTS.into_iter().map(|(variable, _)| variable)
}

/// Clients that tell which session a shell belongs to: the variable that tells the client, the one
/// that has the id, and the name of the client. A variable that outlived its client tells nothing.
const SESSIONS: [(&str, &str, &str); 2] = [
    ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "claude-code"),
    ("CODEX_THREAD_ID", "CODEX_THREAD_ID", "codex"),
];

/// Set for the command of a proof.
const PROOF: &str = "MIDSTRIDE_PROOF";
/// What our own variables start with.
const OWN_PREFIX: &str = "MIDSTRIDE";

impl Environment {
    /// Reads the environment of this process, once.
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
        // A fixed time makes a run repeatable; the tests and the demonstration use it.
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

    /// The file in which Claude Code keeps what it knows of this user: in its folder where one was
    /// named, else beside it.
    pub fn claude_json(&self) -> Option<PathBuf> {
        const NAME: &str = ".claude.json";
        match std::env::var_os("CLAUDE_CONFIG_DIR").filter(|named| !named.is_empty()) {
            Some(_) => self.claude.as_ref().map(|folder| folder.join(NAME)),
            None => self.home.as_ref().map(|home| home.join(NAME)),
        }
    }
}

/// The folder of the shell that started this process, whatever was typed.
pub(crate) fn current_folder() -> std::io::Result<PathBuf> {
    std::env::current_dir()
}

/// The folders in which programs are looked for by their names.
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

/// Set for whoever works on a stage of a run.
const ATTEMPT: &str = "MIDSTRIDE_ATTEMPT";
/// Switches hooks off for everything that is started with it.
const SWITCH: &str = "MIDSTRIDE";
/// How long a hook may take, where that is not what it should be.
const HOOK_MILLISECONDS: &str = "MIDSTRIDE_HOOK_MILLISECONDS";
/// Keeps hooks from starting the process that asks git, if it is `off`.
pub const OBSERVE: &str = "MIDSTRIDE_OBSERVE";

/// Set for a hook that was started over because of a limit on the size of files.
pub const RESTARTED: &str = "MIDSTRIDE_STARTED_OVER";

/// Whether this is such a hook: once is enough.
pub fn is_restarted() -> bool {
    std::env::var_os(RESTARTED).is_some()
}

/// Says whether sessions that are started with it are briefed: `0` or `1`.
const BRIEF: &str = "MIDSTRIDE_BRIEF";
/// The task list that sessions of Claude Code share, where the user names one.
const CLAUDE_TASK_LIST: &str = "CLAUDE_CODE_TASK_LIST_ID";
/// How Claude Code was started, as it tells its hooks.
const CLAUDE_ENTRYPOINT: &str = "CLAUDE_CODE_ENTRYPOINT";

/// Whether the user said in the environment that sessions are, or are not, briefed.
pub fn briefing_choice() -> Option<bool> {
    let value = std::env::var(BRIEF).ok()?;
    match value.trim().to_ascii_lowercase().as_str() {
        "0" | "off" | "false" | "no" => Some(false),
        "1" | "on" | "true" | "yes" => Some(true),
        _ => None,
    }
}

/// The task list that the session of Claude Code which started this process shares with others.
pub fn shared_task_list() -> Option<String> {
    std::env::var(CLAUDE_TASK_LIST).ok().filter(|list| !list.is_empty())
}

/// Whether Claude Code runs for a script: `claude -p` and the SDKs, where no user is at the terminal.
pub fn is_headless_claude() -> bool {
    std::env::var(CLAUDE_ENTRYPOINT).is_ok_and(|entrypoint| entrypoint.starts_with("sdk"))
}

/// Whether hooks are silent here: they were switched off, or what they would tell is told by a run,
/// or a proof is being run.
pub fn are_hooks_silent() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    are_hooks_switched_off() || set(ATTEMPT).is_some() || set(PROOF).is_some()
}

/// Whether the environment switches hooks off.
pub fn are_hooks_switched_off() -> bool {
    is_off(SWITCH)
}

/// Whether hooks may start the process that asks git.
pub fn may_observe() -> bool {
    !is_off(OBSERVE)
}

fn is_off(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| value.eq_ignore_ascii_case("off"))
}

/// The variables with which our own program is tried out: nothing that leads to files of the user,
/// tells that an agent is at work, or switches anything off.
pub fn simulation_variables() -> Vec<(OsString, OsString)> {
    const PASSED: [&str; 7] =
        ["PATH", "TMPDIR", "LANG", "TZ", "LD_LIBRARY_PATH", "MIDSTRIDE_NOW", HOOK_MILLISECONDS];
    PASSED.into_iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?))).collect()
}

/// How long a hook may take, if somebody says.
pub fn hook_time() -> Option<Duration> {
    let text = std::env::var(HOOK_MILLISECONDS).ok()?;
    text.trim().parse().ok().map(Duration::from_millis)
}

/// The variables that a command from a document gets: without secrets, without what points git
/// elsewhere, and without ours.
pub(crate) fn proof_variables() -> Vec<(OsString, OsString)> {
    let harmless = |(name, value): &(OsString, OsString)| {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        let of_git = LOCAL_VARIABLES.contains(&name.as_ref());
        !of_git && !name.starts_with(OWN_PREFIX) && !is_secret_variable(&name, &value)
    };
    let passed = std::env::vars_os().filter(harmless);
    passed.chain([(PROOF.into(), "1".into())]).collect()
}

/// Variables that say where the user, our state, git and the clients keep what they write.
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
/// Where programs are looked for.
const PATH: &str = "PATH";

/// The variables that a process of ours needs when it goes on after its client. It starts git alone
/// and asks no one, so the keys that a client was given stay with the client.
pub fn detached_process_variables(project: &Path) -> Vec<(OsString, OsString)> {
    let is_needed = |(name, _): &(OsString, OsString)| {
        let name = name.to_string_lossy();
        name.starts_with(OWN_PREFIX) || LOCATION_VARIABLES.contains(&name.as_ref())
    };
    let path = std::env::var_os(PATH).and_then(|path| path_without_project(&path, project));
    let path = path.map(|path| (PATH.into(), path));
    std::env::vars_os().filter(is_needed).chain(path).collect()
}

/// The places of programs that do not depend on where one stands, nor lie in a project: what a
/// repository brings is not started as git.
fn path_without_project(path: &OsStr, project: &Path) -> Option<OsString> {
    let is_outside = |place: &PathBuf| place.is_absolute() && !place.starts_with(project);
    std::env::join_paths(std::env::split_paths(path).filter(is_outside)).ok()
}

/// The name of the shelf that is Claude Code's memory of a project.
pub const CLAUDE_MEMORY: &str = "claude-memory";

/// Places that are read where nothing else is configured.
const FOLDERS: [&str; 5] =
    [".claude/pipeline", "docs/handoffs", "HANDOFF.md", "thoughts/**/handoffs", CLAUDE_MEMORY];

/// More places where people and agents leave notes; read where they exist.
const NOTE_PLACES: [&str; 10] = [
    "NEXT_SESSION.md",
    "SESSION_HANDOFF.md",
    ".continue-here.md",
    ".claude/handoffs",
    ".agent",
    ".agents",
    "docs/handoff",
    "handoffs",
    "handoff",
    "memory-bank",
];

/// The configuration a new project starts with.
pub const TEMPLATE: &str = "\
# midstride: what this project does differently. Everything here is optional.

# Folders and files with handoffs and notes, in addition to the usual ones (HANDOFF.md, docs/handoffs, .claude/handoffs,
# .agents, thoughts/**/handoffs, memory-bank ...). One outside the project, such as \"~/notes\", is read after `midstride trust`.
# folders = [\"notes/handoffs\"]

# Capabilities that a discovery or design document decides on.
# capabilities = [\"quota\", \"insights\", \"telemetry\", \"activity\"]

# A stage of your own, or one of ours with other requirements.
# [stages.threat-model]
# folder = \"threats\"
# from = \"security\"
# requires = [\"id\", \"from\", \"to\", \"context_summary\", \"decisions_made\"]
# upstream = [\"design\"]

# What hooks do besides briefing and capturing. nudge: remind the agent once to save what only it knows; without it,
# only when its context is more than 75 % full. stop_gate: keep it from stopping, twice at most, until it has.
# [hooks]
# nudge = false
# stop_gate = false

# What a session is briefed with when it starts: at most so many tokens, 0 for no briefing. Sessions that run for a
# script (claude -p, codex exec) are not briefed unless you say so.
# [brief]
# budget = 500
# headless = false

# A secret of your own: the letters it begins with, and an expression for what follows them.
# [[redact]]
# kind = \"acme-token\"
# begins = \"acme_\"
# then = \"[a-z0-9]{32}\"
";

/// What the part about folders was called before, in a configuration that nobody changed.
const OLD_FOLDERS_TEMPLATE: &str = "\
# Places with handoffs besides `.midstride/handoffs`, read where they are. One outside the project, such as
# \"~/notes\", is read once you said `midstride trust`.
# shelves = [\".claude/pipeline\", \"docs/handoffs\", \"HANDOFF.md\", \"thoughts/shared/handoffs\", \"claude-memory\"]

";

/// What the part about hooks said before.
const OLD_HOOKS_TEMPLATE: &str = "\
# What hooks may do besides telling and capturing: remind the agent once to save what only it knows, and keep it
# from stopping, twice at most, while it has not.
# [hooks]
# nudge = true
# stop_gate = false

";

/// Whether a configuration is as `midstride init` wrote it, in this version or an earlier one.
pub fn is_template(bytes: &[u8]) -> bool {
    let with = |template: &str, from: &str, to: &str, part: &str| {
        let (start, end) = (template.find(from)?, template.find(to)?);
        Some(format!("{}{part}{}", &template[..start], &template[end..]))
    };
    let hooks = with(TEMPLATE, "# What hooks do", "# What a session is", OLD_HOOKS_TEMPLATE);
    let shelves = hooks.as_deref().and_then(|template| {
        with(template, "# Folders and files", "# Capabilities", OLD_FOLDERS_TEMPLATE)
    });
    let mut known = [Some(TEMPLATE.to_owned()), hooks, shelves].into_iter().flatten();
    known.any(|template| template.as_bytes() == bytes)
}

/// What a project has configured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Places with handoffs besides our own.
    pub folders: Vec<String>,
    /// Places that are read where they exist.
    pub note_places: Vec<String>,
    /// Kinds and stages.
    pub stages: Stages,
    /// Keys that this version does nothing with.
    pub unknown: Vec<String>,
    /// The file they were read from, and the SHA-256 of what it says.
    pub source: Option<(PathBuf, String)>,
    /// What the project recognises as a secret besides what ships with midstride.
    pub redact: Vec<CustomRule>,
    /// What hooks may do.
    pub hooks: HookSettings,
    /// What sessions are briefed with.
    pub brief: BriefSettings,
}

/// What sessions are briefed with when they start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct BriefSettings {
    /// The tokens of a startup briefing; 0 for none.
    pub budget: Option<u64>,
    /// Whether sessions that run for a script are briefed too.
    pub headless: bool,
}

impl BriefSettings {
    const KEYS: [&str; 2] = ["budget", "headless"];
}

/// What hooks may do besides telling and capturing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HookSettings {
    /// Whether the agent is reminded once to save what only it knows; where nothing is said, only when
    /// its context is nearly full.
    pub nudge: Option<bool>,
    /// Keep the agent from stopping while it has not.
    pub stop_gate: bool,
}

impl HookSettings {
    const KEYS: [&str; 2] = ["nudge", "stop_gate"];
}

/// The keys of the file.
const KEYS: [&str; 9] = [
    "folders",
    "shelves",
    "capabilities",
    "may_be_empty",
    "redact",
    "hooks",
    "brief",
    "kinds",
    "stages",
];

/// The file as it is written.
#[derive(Debug, Default, Deserialize)]
struct SettingsFile {
    /// Added to the usual places.
    #[serde(default)]
    folders: Vec<String>,
    /// The older key, which stands for all places.
    shelves: Option<Vec<String>>,
    capabilities: Option<Vec<String>>,
    may_be_empty: Option<Vec<String>>,
    #[serde(default)]
    redact: Vec<CustomRule>,
    #[serde(default)]
    hooks: HookSettings,
    #[serde(default)]
    brief: BriefSettings,
    #[serde(default)]
    kinds: BTreeMap<String, KindRule>,
    #[serde(default)]
    stages: BTreeMap<String, StageRule>,
}

/// Why a configuration could not be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not understood.
    #[error("`{}` is not understood: {message}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// What is wrong, with its line.
        message: String,
    },
}

impl Settings {
    /// What holds without a configuration.
    pub fn standard() -> Self {
        Self {
            folders: FOLDERS.map(str::to_owned).to_vec(),
            note_places: NOTE_PLACES.map(str::to_owned).to_vec(),
            stages: Stages::shipped(),
            redact: Vec::new(),
            hooks: HookSettings::default(),
            brief: BriefSettings::default(),
            unknown: Vec::new(),
            source: None,
        }
    }

    /// Reads the configuration of a project.
    pub fn read(root: &Root, file: &Path) -> Result<Self, SettingsError> {
        let bytes = root.read(file)?;
        let path = root.path().join(file);
        let wrong = |message: String| SettingsError::Text { path: path.clone(), message };
        let text = String::from_utf8_lossy(&bytes);
        let written: SettingsFile = toml_edit::de::from_str(&text)
            .map_err(|error| wrong(error.to_string().trim_end().to_owned()))?;
        let unknown = unknown_keys(&text).map_err(wrong)?;
        let SettingsFile {
            folders,
            shelves,
            capabilities,
            may_be_empty,
            redact,
            hooks,
            brief,
            kinds,
            stages,
        } = written;
        let standard = Self::standard();
        let own = Stages { capabilities, may_be_empty, kinds, stages, has_pipeline: false };
        // A test proves that the shipped table has none, and every hook reads this.
        let may_mistake = own != Stages::default();
        let stages = standard.stages.with_project(own);
        let mistakes = if may_mistake { stages.problems() } else { Vec::new() };
        let unusable =
            if redact.is_empty() { None } else { RedactionRules::with_custom(&redact).err() };
        if let Some(message) = mistakes.into_iter().next().or(unusable) {
            return Err(wrong(message));
        }
        let note_places = if shelves.is_none() { standard.note_places } else { Vec::new() };
        let shelves = shelves.unwrap_or(standard.folders);
        let shelves = shelves.into_iter().chain(folders).collect();
        let source = Some((path.clone(), sha256(&bytes)));
        Ok(Self { folders: shelves, note_places, stages, unknown, source, redact, hooks, brief })
    }
}

/// Keys that are not known here. A newer midstride may know them, so they do no harm; one that is
/// nearly a known one is a mistake.
fn unknown_keys(text: &str) -> Result<Vec<String>, String> {
    let Ok(document) = text.parse::<Document<String>>() else { return Ok(Vec::new()) };
    let mut unknown = unknown_in(text, document.as_table(), "", &KEYS)?;
    if let Some(hooks) = document.get("hooks").and_then(Item::as_table_like) {
        unknown.extend(unknown_in(text, hooks, "hooks.", &HookSettings::KEYS)?);
    }
    if let Some(brief) = document.get("brief").and_then(Item::as_table_like) {
        unknown.extend(unknown_in(text, brief, "brief.", &BriefSettings::KEYS)?);
    }
    let rules = [("kinds", &KindRule::KEYS[..]), ("stages", &StageRule::KEYS[..])];
    for (table, keys) in rules {
        let named = document.get(table).and_then(Item::as_table_like);
        for (name, rule) in named.into_iter().flat_map(TableLike::iter) {
            let Some(rule) = rule.as_table_like() else { continue };
            unknown.extend(unknown_in(text, rule, &format!("{table}.{name}."), keys)?);
        }
    }
    Ok(unknown)
}

fn unknown_in(
    text: &str,
    table: &dyn TableLike,
    prefix: &str,
    known: &[&str],
) -> Result<Vec<String>, String> {
    let mut unknown = Vec::new();
    for (key, _) in table.iter().filter(|(key, _)| !known.contains(key)) {
        if let Some(near) = nearest_match(key, known.iter().copied()) {
            let at = table.key(key).and_then(Key::span).map_or(0, |span| span.start);
            let line = text[..at].matches('\n').count() + 1;
            return Err(format!("`{key}` in line {line} is not known; did you mean `{near}`?"));
        }
        unknown.push(format!("{prefix}{key}"));
    }
    Ok(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shell_of_an_agent_is_known() {
        let of = |set: &'static str| detect_automation(move |name| name == set);
        assert_eq!(of("CLAUDECODE"), Some(Automation::Agent("Claude Code")));
        assert_eq!(of(PROOF), Some(Automation::Proof));
        assert_eq!(of("TERM"), None);
    }

    #[test]
    fn a_session_is_known_where_its_client_is() {
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

    #[test]
    fn a_configuration_that_nobody_changed_is_recognized() {
        assert!(is_template(TEMPLATE.as_bytes()));
        let with = |text: &str, from: &str, to: &str, part: &str| {
            let (start, end) = (text.find(from).unwrap(), text.find(to).unwrap());
            [&text[..start], part, &text[end..]].concat()
        };
        let before = with(TEMPLATE, "# What hooks", "# What a session", OLD_HOOKS_TEMPLATE);
        assert!(before.contains("# nudge = true") && is_template(before.as_bytes()));
        let before = with(&before, "# Folders", "# Capabilities", OLD_FOLDERS_TEMPLATE);
        assert!(before.contains("# shelves = ") && is_template(before.as_bytes()));
        assert!(!is_template(format!("{TEMPLATE}folders = []\n").as_bytes()));
    }

    #[test]
    fn an_unknown_key_is_passed_over_and_a_misspelt_one_is_not() {
        assert_eq!(unknown_keys("notify = \"x\"\n[web]\na = 1\n").unwrap(), ["notify", "web"]);
        assert_eq!(
            unknown_keys("shelves = []\n\n[stage.x]\n").unwrap_err(),
            "`stage` in line 3 is not known; did you mean `stages`?"
        );
        assert_eq!(unknown_keys("[hooks]\nsound = 1\n").unwrap(), ["hooks.sound"]);
        assert_eq!(
            unknown_keys("[hooks]\nstopgate = true\n").unwrap_err(),
            "`stopgate` in line 2 is not known; did you mean `stop_gate`?"
        );
        let nested = "[stages.audit]\nfrom = \"ann\"\npicture = \"x\"\n[kinds.session]\nx = 1\n";
        assert_eq!(unknown_keys(nested).unwrap(), ["kinds.session.x", "stages.audit.picture"]);
        assert_eq!(
            unknown_keys("stages = {x = {requiers = []}}\n").unwrap_err(),
            "`requiers` in line 1 is not known; did you mean `requires`?"
        );
    }
}
