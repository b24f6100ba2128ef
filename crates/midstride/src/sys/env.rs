//! The environment of the process: its variables, the current folder, and what they say about the
//! caller.
#![expect(clippy::disallowed_methods, reason = "the one module that reads the environment")]

mod invoker;
mod terminal;
mod user_name;

pub(crate) use invoker::DetectAutomation;
pub use invoker::{Automation, Invoker, InvokerLookup};
pub use terminal::{chosen_width, is_terminal_dumb, pager};
pub use user_name::{GitNameLookup, UserName};

use crate::sys::clock::Clock;
use crate::sys::files::{self, ScratchFolder};
use crate::sys::git::LOCAL_VARIABLES;
use etcetera::BaseStrategy as _;
use midstride_core::text::id::SessionId;
use midstride_core::text::redact::is_secret_variable;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
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
    /// The editor that a variable names.
    pub editor: Option<String>,
    /// The name of the user, for what they write.
    pub user: UserName,
    /// Who started the process.
    pub invoker: Invoker,
    /// The session in which the process was started, if its client says.
    pub session: Option<SessionName>,
    /// The source of the current time.
    pub clock: Clock,
    /// Variables that other programs define.
    pub variables: Variables,
}

/// Where the values of variables come from.
#[derive(Clone, Debug)]
pub enum Variables {
    /// Those of this process.
    Process,
    /// Only these.
    Fixed(BTreeMap<String, String>),
}

impl Variables {
    /// No variables.
    pub const NONE: Self = Self::Fixed(BTreeMap::new());

    /// The value of a variable, unless it is blank.
    fn get(&self, name: &str) -> Option<String> {
        let value = match self {
            Self::Process => std::env::var(name).ok(),
            Self::Fixed(values) => values.get(name).cloned(),
        };
        value.filter(|value| !value.trim().is_empty())
    }
}

/// The variable with the id of a session.
#[derive(Clone, Copy, Debug)]
pub struct SessionVariable {
    /// A variable that must be set too, because the id may outlive its client.
    pub mark: &'static str,
    /// The variable with the id.
    pub id: &'static str,
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
        let id = SessionId::new(id);
        let named = is_name(client) && is_name(id.as_str());
        named.then(|| Self { client: client.to_owned(), id })
    }
}

/// Set for the command of a proof.
pub(crate) const PROOF: &str = "MIDSTRIDE_PROOF";
/// The policy of a machine.
const POLICY: &str = "/etc/midstride/policy.toml";
/// Names another policy, such as that of a container.
const ADDED_POLICY: &str = "MIDSTRIDE_POLICY";
/// The prefix of midstride's own variables.
const OWN_PREFIX: &str = "MIDSTRIDE";

impl Environment {
    /// Reads the environment of this process. `detect` finds out whether an agent or a proof started
    /// it, when that is needed.
    pub(crate) fn from_process(detect: DetectAutomation) -> std::io::Result<Self> {
        let variables = Variables::Process;
        let text = |name: &str| variables.get(name);
        let folders = etcetera::choose_base_strategy().ok();
        let home = folders.as_ref().map(|folders| folders.home_dir().to_owned());
        let state = folders.and_then(|folders| folders.state_dir());
        // A fixed time makes a run reproducible. The tests and the demo use it.
        let fixed = text("MIDSTRIDE_NOW").and_then(|moment| moment.parse().ok());
        Ok(Self {
            folder: std::env::current_dir()?,
            home,
            state,
            editor: text("VISUAL").or_else(|| text("EDITOR")),
            user: UserName::from_variables(&variables),
            invoker: Invoker::process(detect),
            session: None,
            clock: fixed.map_or(Clock::System, Clock::Fixed),
            variables,
        })
    }

    /// An environment in which only the folder is set.
    #[cfg(test)]
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            home: None,
            state: None,
            editor: None,
            user: UserName::Account,
            invoker: Invoker::User,
            session: None,
            clock: Clock::System,
            variables: Variables::NONE,
        }
    }

    /// The environment of the user in a temporary folder of this process, with the project, the home
    /// and the state at these paths below it. What is allowed there is deleted with the folder.
    pub fn in_scratch(scratch: &ScratchFolder, [project, home, state]: [&str; 3]) -> Self {
        let base = files::canonical(scratch.path());
        Self {
            folder: base.join(project),
            home: Some(base.join(home)),
            state: Some(base.join(state)),
            editor: None,
            user: UserName::Account,
            invoker: Invoker::User,
            session: None,
            clock: Clock::System,
            variables: Variables::NONE,
        }
    }

    /// The agent or proof that started this process; `None` if the user did.
    pub fn automation(&self) -> Option<Automation> {
        self.invoker.automation(self)
    }

    /// The author to record for a change: the given one, otherwise the agent that runs the command,
    /// otherwise the user. An agent that gives the name of the user is recorded with its own.
    pub fn author(&self, given: Option<&str>) -> String {
        match (self.automation(), given) {
            (Some(inside), Some(given)) if self.names_user(given) => {
                format!("{} as {given}", inside.name())
            }
            (_, Some(given)) => given.to_owned(),
            (Some(inside), None) => inside.name().to_owned(),
            (None, None) => self.user.resolve(&self.folder, &self.variables),
        }
    }

    /// Whether a name means the user: a word for them, the name they chose, or the name of their
    /// account, which no variable changes.
    pub fn names_user(&self, name: &str) -> bool {
        const WORDS: [&str; 5] = ["user", "the user", "human", "the human", "you"];
        let name = name.trim().trim_start_matches('@').to_lowercase();
        let is_it = |other: String| other.to_lowercase() == name;
        WORDS.contains(&name.as_str())
            || self.variables.get("USER").is_some_and(is_it)
            || user_name::login_name().is_some_and(is_it)
            || self.user.chosen(&self.folder).is_some_and(is_it)
    }

    /// The value of a variable that another program defines, unless it is blank.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name)
    }

    /// The user's folder for midstride's configuration.
    pub fn config_folder(&self) -> Option<PathBuf> {
        Some(self.program_folder("XDG_CONFIG_HOME", ".config")?.join("midstride"))
    }

    /// The policies of this machine. The variable can add one, which only forbids more.
    pub(crate) fn policy_files(&self) -> Vec<PathBuf> {
        let added = self.variable(ADDED_POLICY).map(PathBuf::from);
        std::iter::once(PathBuf::from(POLICY)).chain(added).collect()
    }

    /// The folder of another program: the one that a variable names, otherwise the usual one in the
    /// home folder.
    pub(crate) fn program_folder(&self, variable: &str, usual: &str) -> Option<PathBuf> {
        let named = self.variable(variable).map(PathBuf::from);
        named.or_else(|| self.home.as_ref().map(|home| home.join(usual)))
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
/// The user's choice in the environment whether sessions are briefed.
pub(crate) fn briefing_choice() -> Option<bool> {
    let value = std::env::var(BRIEF).ok()?;
    match value.trim().to_ascii_lowercase().as_str() {
        "0" | "off" | "false" | "no" => Some(false),
        "1" | "on" | "true" | "yes" => Some(true),
        _ => None,
    }
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

/// Whether hooks may start the background processes that ask git and import past sessions.
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

/// Variables that locate the files of the user, midstride and git.
const LOCATION_VARIABLES: [&str; 8] = [
    "HOME",
    "USER",
    "TMPDIR",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];
/// The search path of programs.
const PATH: &str = "PATH";

/// The variables for a midstride process that continues after its client exits: those of these
/// names, and those that locate files. It only runs git, so it gets none of the client's keys.
pub(crate) fn detached_process_variables(
    project: &Path,
    names: &[&str],
) -> Vec<(OsString, OsString)> {
    let is_needed = |(name, _): &(OsString, OsString)| {
        let name = name.to_string_lossy();
        name.starts_with(OWN_PREFIX)
            || LOCATION_VARIABLES.contains(&name.as_ref())
            || names.contains(&name.as_ref())
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
    fn a_program_folder_is_in_the_home_folder_unless_a_variable_names_it() {
        let home = Some("/home/dev".into());
        let mut environment = Environment { home, ..Environment::in_folder(Path::new("/shop")) };
        let folder = |environment: &Environment| environment.program_folder("X_HOME", ".x");
        assert_eq!(folder(&environment), Some("/home/dev/.x".into()));
        let named = |value: &str| Variables::Fixed([("X_HOME".into(), value.into())].into());
        environment.variables = named("/elsewhere");
        assert_eq!(folder(&environment), Some("/elsewhere".into()));
        (environment.variables, environment.home) = (named(" "), None);
        assert_eq!(folder(&environment), None);
    }
}
