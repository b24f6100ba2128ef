//! Runs the git command line, isolated from hooks, locks and environment variables.

use super::Repository;
use crate::sys::files::FileError;
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
    #[error("git could not be started: {0}")]
    NotStarted(#[source] io::Error),
    /// Git died while it was asked for objects.
    #[error("git ended without an answer: {0}")]
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
    /// The lock could not be acquired.
    #[error(transparent)]
    File(#[from] FileError),
}

impl Repository {
    /// Runs git in the working tree and returns its output.
    pub(super) fn run<S: AsRef<OsStr>>(
        &self,
        arguments: &[S],
        input: &[u8],
    ) -> Result<Vec<u8>, GitError> {
        check_status(arguments, output(&self.work_tree, arguments, input)?)
    }
}

/// Runs git in a folder and returns its output, successful or not.
pub(super) fn output<S: AsRef<OsStr>>(
    folder: &Path,
    arguments: &[S],
    input: &[u8],
) -> Result<Output, GitError> {
    process::communicate(&mut command(folder, arguments), input).map_err(GitError::NotStarted)
}

/// Creates a git command for a folder.
pub(super) fn command<S: AsRef<OsStr>>(folder: &Path, arguments: &[S]) -> Command {
    let mut command = process::command("git");
    // Error messages are parsed, so they must be in English.
    command.env("LC_ALL", "C");
    command.current_dir(folder).args([
        "--no-optional-locks",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
    ]);
    command.args(arguments);
    for variable in LOCAL_VARIABLES {
        // Inside a commit hook, this variable names the index of the commit in progress.
        if variable != "GIT_INDEX_FILE" {
            command.env_remove(variable);
        }
    }
    command
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
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(GitError::Refused { command: asked.join(" "), message, code: output.status.code() })
}
