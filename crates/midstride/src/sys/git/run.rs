//! Runs the git command line, isolated from hooks, locks and environment variables, and without
//! the programs that a repository's configuration names.

use super::Repository;
use super::programs::{ConfiguredPrograms, VALUES, may_configure_hooks};
use crate::sys::files::{self, FileError};
use crate::sys::process;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Output};

/// Variables that point git to a repository, an index or a configuration. midstride runs inside
/// hooks and merge drivers, where they are set for another process.
pub(crate) const LOCAL_VARIABLES: [&str; 15] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
];

/// Why a git command failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// Git could not be started.
    #[error("cannot start git: {0}")]
    NotStarted(#[source] io::Error),
    /// Git died while it was asked for objects, or took too long.
    #[error("git did not respond: {0}")]
    Died(#[source] io::Error),
    /// Git exited with an error.
    #[error("git {command} failed: {message}")]
    Refused {
        /// The command.
        command: String,
        /// The error message.
        message: String,
        /// The exit code, or `None` if a signal ended it.
        code: Option<i32>,
    },
    /// Git does not have an object, or cannot read it.
    #[error("git cannot read the object {id}")]
    Unreadable {
        /// The id of the object.
        id: String,
    },
    /// The repository's own configuration names a program that connects to a remote.
    #[error("the repository's configuration sets a program that midstride does not run: {setting}")]
    RepositoryProgram {
        /// The setting.
        setting: String,
    },
    /// A remote has URLs on this machine and elsewhere, which need different options.
    #[error("remote `{remote}` has push URLs both on this machine and elsewhere")]
    MixedRemote {
        /// The name of the remote.
        remote: String,
    },
    /// The lock could not be acquired.
    #[error(transparent)]
    File(#[from] FileError),
}

/// What a call may use in addition to the objects, references and files of the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GitReach<'r> {
    /// Nothing.
    Local,
    /// The index that the environment names. Inside a commit hook, that is the index of the commit
    /// in progress.
    Index,
    /// A remote, with the ssh and the credential helpers of the user.
    Remote(&'r str),
}

impl Repository {
    /// Runs git in the working tree and returns its output.
    pub(super) fn run<S: AsRef<OsStr>>(
        &self,
        arguments: &[S],
        input: &[u8],
    ) -> Result<Vec<u8>, GitError> {
        self.run_within(GitReach::Local, arguments, input)
    }

    /// Runs git, which may use more than the repository.
    pub(super) fn run_within<S: AsRef<OsStr>>(
        &self,
        reach: GitReach<'_>,
        arguments: &[S],
        input: &[u8],
    ) -> Result<Vec<u8>, GitError> {
        let mut command = self.command(reach, arguments)?;
        let output = process::communicate(&mut command, input).map_err(GitError::NotStarted)?;
        check_status(arguments, output)
    }

    /// Creates a git command that runs no program of the repository.
    pub(super) fn command<S: AsRef<OsStr>>(
        &self,
        reach: GitReach<'_>,
        arguments: &[S],
    ) -> Result<Command, GitError> {
        let mut command = command(&self.work_tree, reach);
        command.args(self.place_options());
        let name_at = arguments.iter().step_by(2).take_while(|word| word.as_ref() == "-c").count();
        let (settings, rest) = arguments.split_at((name_at * 2).min(arguments.len()));
        let name = rest.first().and_then(|name| name.as_ref().to_str()).unwrap_or_default();
        if !NO_FILES.contains(&name) || self.may_configure_hooks() {
            let programs = self.configured_programs()?;
            if let GitReach::Remote(remote) = reach
                && let Some(setting) = programs.network_setting(remote)
            {
                return Err(GitError::RepositoryProgram { setting });
            }
            command.args(programs.overrides()).envs(VALUES);
        }
        command.args(settings).args(rest.first()).args(safe_options(name));
        command.args(rest.iter().skip(1));
        Ok(command)
    }

    /// The programs in the configuration. Reads it once.
    fn configured_programs(&self) -> Result<&ConfiguredPrograms, GitError> {
        self.configured_programs_by(|mut command, asked| {
            let output = process::communicate(&mut command, b"").map_err(GitError::NotStarted)?;
            check_status(asked, output)
        })
    }

    /// The same with a function that runs the command.
    pub(super) fn configured_programs_by(
        &self,
        run: impl FnOnce(Command, &[&str]) -> Result<Vec<u8>, GitError>,
    ) -> Result<&ConfiguredPrograms, GitError> {
        if let Some(programs) = self.programs.get() {
            return Ok(programs);
        }
        let asked = ["config", "--list", "--show-scope", "-z"];
        let mut command = command(&self.work_tree, GitReach::Local);
        command.args(self.place_options()).args(asked);
        let listing = run(command, &asked)?;
        Ok(self.programs.get_or_init(|| ConfiguredPrograms::parse(&listing)))
    }

    /// The options that name the repository. Without them, git searches upward for one with a working
    /// tree, and it may refuse a bare one.
    fn place_options(&self) -> &'static [&'static str] {
        if self.is_own { &["--git-dir=."] } else { &[] }
    }

    /// Whether the repository's own configuration can name hooks. Unreadable files can.
    fn may_configure_hooks(&self) -> bool {
        let places = [self.common_dir.join("config"), self.git_dir.join("config.worktree")];
        places.iter().any(|file| match files::read_named(file) {
            Ok(text) => may_configure_hooks(&text),
            Err(error) => !error.is_missing(),
        })
    }
}

/// Runs git in a folder without a repository and returns its output, successful or not.
pub(super) fn output_outside(folder: &Path, arguments: &[&str]) -> Result<Output, GitError> {
    let mut command = command(folder, GitReach::Local);
    // A folder above may be a repository of another user.
    command.env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap_or(folder));
    process::communicate(command.args(arguments), b"").map_err(GitError::NotStarted)
}

/// Asks a remote outside of any repository, whose configuration could name another place for the URL.
pub(super) fn remote_output_outside(url: &str, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
    let mut command = command(Path::new("/"), GitReach::Remote(url));
    let output = process::communicate(command.args(arguments), b"");
    check_status(arguments, output.map_err(GitError::NotStarted)?)
}

/// A git command for a repository of our own, where midstride shows how to use git.
pub fn demo_command(folder: &Path) -> Command {
    command(folder, GitReach::Local)
}

/// Commands that read or write objects, references and the index, but no files that filters could
/// apply to, and that connect to no remote. Others read the configuration first.
const NO_FILES: [&str; 13] = [
    "cat-file",
    "check-ignore",
    "config",
    "fast-import",
    "for-each-ref",
    "hash-object",
    "log",
    "ls-files",
    "ls-tree",
    "reflog",
    "rev-list",
    "rev-parse",
    "update-ref",
];

/// Settings for every call. They replace programs, and turn off what would start one.
const SETTINGS: [&str; 19] = [
    "core.fsmonitor=false",
    // A path that cannot hold hooks.
    "core.hooksPath=/dev/null",
    "core.virtualFilesystem=",
    "core.alternateRefsCommand=true",
    "log.showSignature=false",
    "push.gpgSign=false",
    "gpg.program=false",
    "gpg.openpgp.program=false",
    "gpg.ssh.program=false",
    "gpg.ssh.defaultKeyCommand=false",
    "gpg.x509.program=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    // A submodule has another configuration, which is not checked.
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "status.submoduleSummary=false",
    "diff.submodule=short",
];

/// Settings for calls that connect to no remote.
const OFFLINE_SETTINGS: [&str; 3] =
    ["core.askPass=", "core.sshCommand=false", "credential.helper="];

/// Variables for every call: no pager, no editor, nothing fetched on the way.
const VARIABLES: [(&str, &str); 6] = [
    // Error messages are parsed, so they must be in English.
    ("LC_ALL", "C"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_MERGE_AUTOEDIT", "no"),
    ("GIT_NO_LAZY_FETCH", "1"),
];

/// Variables for calls that connect to no remote. A version of git that does not know
/// `GIT_NO_LAZY_FETCH` cannot fetch either, because it finds no protocol that it may use.
const OFFLINE_VARIABLES: [(&str, &str); 6] = [
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS", ""),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_PROXY_COMMAND", ""),
];

/// Variables with settings for a single call of git, which the user may have set for `sync`.
const COMMAND_SCOPE: [&str; 2] = ["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"];

/// Creates every git command.
fn command(folder: &Path, reach: GitReach<'_>) -> Command {
    let mut command = process::command("git");
    command.current_dir(folder).args(["--no-pager", "--no-optional-locks"]);
    command.args(SETTINGS.iter().flat_map(|setting| ["-c", *setting]));
    command.envs(VARIABLES).env_remove("GIT_EXTERNAL_DIFF");
    let is_offline = !matches!(reach, GitReach::Remote(_));
    if is_offline {
        command.args(OFFLINE_SETTINGS.iter().flat_map(|setting| ["-c", *setting]));
        command.envs(OFFLINE_VARIABLES);
    }
    let is_kept = |variable: &str| match reach {
        GitReach::Local => false,
        GitReach::Index => variable == "GIT_INDEX_FILE",
        GitReach::Remote(_) => COMMAND_SCOPE.contains(&variable),
    };
    for variable in LOCAL_VARIABLES.into_iter().filter(|variable| !is_kept(variable)) {
        command.env_remove(variable);
    }
    command
}

/// Options that keep a command from running programs or entering submodules.
fn safe_options(command: &str) -> &'static [&'static str] {
    match command {
        "log" | "show" => &["--no-show-signature", "--no-ext-diff", "--no-textconv"],
        "diff" => &["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"],
        "blame" | "grep" => &["--no-textconv"],
        "status" => &["--ignore-submodules=dirty"],
        "fetch" => &["--no-recurse-submodules", "--no-auto-maintenance"],
        "push" => &["--no-verify", "--no-signed", "--recurse-submodules=no"],
        _ => &[],
    }
}

/// Returns the output of git, or an error if it failed.
pub(super) fn check_status<S: AsRef<OsStr>>(
    arguments: &[S],
    output: Output,
) -> Result<Vec<u8>, GitError> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let asked: Vec<String> =
        arguments.iter().map(|word| word.as_ref().to_string_lossy().into_owned()).collect();
    let message = match String::from_utf8_lossy(&output.stderr).trim() {
        "" => output.status.to_string(),
        message => message.to_owned(),
    };
    Err(GitError::Refused { command: asked.join(" "), message, code: output.status.code() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a command does with a variable: sets it, removes it (`None`), or keeps it (`"kept"`).
    fn variable(reach: GitReach<'_>, name: &str) -> Option<String> {
        let command = command(Path::new("/"), reach);
        let mut all = command.get_envs();
        let found = all.find(|(key, _)| *key == name);
        found.map_or(Some("kept".to_owned()), |(_, value)| {
            value.map(|value| value.to_str().unwrap().to_owned())
        })
    }

    #[test]
    fn only_a_call_that_asks_for_it_uses_the_index_of_the_environment() {
        assert_eq!(variable(GitReach::Local, "GIT_INDEX_FILE"), None);
        assert_eq!(variable(GitReach::Remote("origin"), "GIT_INDEX_FILE"), None);
        assert_eq!(variable(GitReach::Index, "GIT_INDEX_FILE").as_deref(), Some("kept"));
        assert_eq!(variable(GitReach::Index, "GIT_DIR"), None);
    }

    #[test]
    fn only_a_call_to_a_remote_may_connect_and_ask() {
        let names = ["GIT_ALLOW_PROTOCOL", "GIT_ASKPASS", "GIT_SSH_COMMAND", "GIT_TERMINAL_PROMPT"];
        for name in names {
            for reach in [GitReach::Local, GitReach::Index] {
                let set = variable(reach, name);
                assert!(set.is_some_and(|value| value != "kept"), "{name} {reach:?}");
            }
            assert_eq!(variable(GitReach::Remote("x"), name).as_deref(), Some("kept"), "{name}");
        }
        for reach in [GitReach::Local, GitReach::Index, GitReach::Remote("x")] {
            assert_eq!(variable(reach, "GIT_NO_LAZY_FETCH").as_deref(), Some("1"));
        }
    }
}
