//! An isolated folder to run the program in.

mod detached;
mod user;

pub use user::SandboxUser;

use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The fixed time of every sandbox.
pub const NOW: &str = "2026-03-21T17:24:00Z";

/// A folder with its own HOME. Both are deleted when it is dropped.
#[derive(Debug)]
pub struct Sandbox {
    // Deletes the folder on drop.
    _whole: TempDir,
    root: PathBuf,
    home: PathBuf,
    program: PathBuf,
    /// The search path of programs.
    path: OsString,
    /// More variables of the environment.
    variables: Vec<(OsString, OsString)>,
}

impl Sandbox {
    /// Creates an empty folder in which `program` is run.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let whole =
            TempDir::with_prefix("midstride-test-").expect("a temporary folder can be made");
        // Resolve symlinks, so that the paths in the output match.
        let base = whole.path().canonicalize().expect("it was just made");
        Self::below(whole, &base, program.into())
    }

    /// Like [`Sandbox::new`], with a path of exactly `bytes` bytes up to the directory that holds
    /// the folder and HOME. Stored data with paths and byte offsets can be moved there.
    pub fn with_path_length(program: impl Into<PathBuf>, bytes: usize) -> Self {
        let whole =
            TempDir::with_prefix("midstride-test-").expect("a temporary directory can be made");
        let base = whole.path().canonicalize().expect("it was just made");
        let padding = bytes.saturating_sub(base.as_os_str().len() + 1);
        assert!(padding > 0, "`{}` is too long: use a shorter TMPDIR", base.display());
        let base = base.join("x".repeat(padding));
        Self::below(whole, &base, program.into())
    }

    fn below(whole: TempDir, base: &Path, program: PathBuf) -> Self {
        let (root, home) = (base.join("project"), base.join("home"));
        for directory in [&root, &home] {
            std::fs::create_dir_all(directory).expect("the directory is ours");
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self { _whole: whole, root, home, program, path, variables: Vec::new() }
    }

    /// Puts a program before all others on the PATH, under this name.
    pub fn with_program(mut self, name: &str, target: &Path) -> Self {
        let folder = self.home.join("bin");
        std::fs::create_dir_all(&folder).expect("the home is ours");
        std::os::unix::fs::symlink(target, folder.join(name)).expect("the name is free");
        let folders = std::iter::once(folder).chain(std::env::split_paths(&self.path));
        self.path = std::env::join_paths(folders).expect("the names have no colon");
        self
    }

    /// Runs another program instead, such as a wrapper of the first one.
    pub fn with_main_program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// The program that is run.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Sets a variable for everything that runs in the sandbox.
    pub fn with_variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// The folder the program is run in.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The user's home directory.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Writes a file in the folder and creates the parent folders it needs.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.root.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("the folder is ours");
        }
        std::fs::write(&path, content)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self
    }

    /// Reads a file in the folder.
    pub fn read(&self, path: &str) -> String {
        let path = self.root.join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Copies the content of another folder into this one.
    pub fn copy(&self, from: &Path) -> &Self {
        copy_below(from, &self.root);
        self
    }

    /// A command with the sandbox's environment and nothing else. If it runs the program, that is not
    /// a child of this process but detached: see `detached`.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        match program.as_ref() == self.program {
            true => self.prepare(detached::command(&self.program)),
            false => self.child_command(program),
        }
    }

    /// Like [`Sandbox::command`], but always a child of this process, for a test that needs its process
    /// id.
    pub fn child_command(&self, program: impl AsRef<OsStr>) -> Command {
        self.prepare(Command::new(program))
    }

    /// The user of the sandbox, at a terminal.
    pub fn as_user(&self) -> SandboxUser<'_> {
        SandboxUser::new(self, &self.program)
    }

    /// The user of the sandbox, who runs the program through another one.
    pub fn as_user_of<'s>(&'s self, program: &'s Path) -> SandboxUser<'s> {
        SandboxUser::new(self, program)
    }

    /// Like [`Sandbox::command`], but detached whatever the program is.
    pub fn detached_command(&self, program: impl AsRef<OsStr>) -> Command {
        self.prepare(detached::command(program))
    }

    fn prepare(&self, mut command: Command) -> Command {
        command
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", &self.home)
            .env("TMPDIR", &self.home)
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env("COLUMNS", "100")
            .env("MIDSTRIDE_NOW", NOW)
            .env("MIDSTRIDE_USER", "tester")
            // A background process would outlive the test.
            .env("MIDSTRIDE_OBSERVE", "off")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_AUTHOR_NAME", "tester")
            .env("GIT_AUTHOR_EMAIL", "tester@example.org")
            .env("GIT_COMMITTER_NAME", "tester")
            .env("GIT_COMMITTER_EMAIL", "tester@example.org")
            .env("GIT_AUTHOR_DATE", NOW)
            .env("GIT_COMMITTER_DATE", NOW)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Runs the program.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        self.finish(self.command(&self.program).args(arguments))
    }

    /// Runs the program with standard input.
    pub fn run_with_input(&self, arguments: &[&str], input: &str) -> Run {
        let file = self.home.join("standard-input");
        std::fs::write(&file, input).expect("the home is ours");
        let file = std::fs::File::open(&file).expect("it was just written");
        self.finish(self.command(&self.program).args(arguments).stdin(file))
    }

    /// Runs the program with an editor that runs a shell script on its file, `$1`.
    pub fn run_with_editor(&self, arguments: &[&str], script: &str) -> Run {
        let file = self.home.join("editor.sh");
        std::fs::write(&file, script).expect("the home is ours");
        let editor = format!("sh {}", file.display());
        self.finish(self.command(&self.program).args(arguments).env("EDITOR", editor))
    }

    /// Runs a command that was prepared with [`Sandbox::command`].
    pub fn finish(&self, command: &mut Command) -> Run {
        let output = command.output().expect("the program starts");
        Run {
            code: output.status.code(),
            stdout: self.tidy(&output.stdout),
            stderr: self.tidy(&output.stderr),
            terminal: String::new(),
        }
    }

    /// Replaces what differs from run to run in the output.
    fn tidy(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let text = text.replace(&self.root.display().to_string(), "[ROOT]");
        let text = text.replace(&self.home.display().to_string(), "[HOME]");
        replace_words(&text)
    }
}

/// The result of running the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The exit code; `None` if a signal killed it.
    pub code: Option<i32>,
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
    /// What else the user saw at the terminal, with [`Sandbox::as_user`].
    pub terminal: String,
}

impl Run {
    /// Asserts the exit code and returns the run.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }
}

/// The items of an answer that is a list.
pub fn json_items(answer: impl AsRef<[u8]>) -> Value {
    let mut answer: Value = serde_json::from_slice(answer.as_ref()).unwrap();
    let items = answer["items"].take();
    assert!(items.is_array(), "not a list: {answer}");
    items
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => writeln!(f, "exit {code}")?,
            None => writeln!(f, "killed")?,
        }
        for (name, text) in
            [("stdout", &self.stdout), ("stderr", &self.stderr), ("terminal", &self.terminal)]
        {
            if !text.is_empty() {
                writeln!(f, "----- {name} -----\n{}", text.trim_end())?;
            }
        }
        Ok(())
    }
}

/// Replaces uids and commit hashes with placeholders.
fn replace_words(text: &str) -> String {
    let is_hex = |c: char| c.is_ascii_hexdigit() || c == '-';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_hex) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c| !is_hex(c)).unwrap_or(from.len());
        let word = &from[..end];
        let plain_hex = word.len() == 40 && !word.contains('-');
        out.push_str(before);
        out.push_str(match (word.len() == 36 && word.matches('-').count() == 4, plain_hex) {
            (true, _) => "[UID]",
            (_, true) => "[COMMIT]",
            (false, false) => word,
        });
        rest = &from[end..];
    }
    out.push_str(rest);
    out
}

fn copy_below(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the folder is ours");
    let entries = std::fs::read_dir(from).unwrap_or_else(|e| panic!("{}: {e}", from.display()));
    for entry in entries {
        let entry = entry.expect("the folder can be read");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("it has a type").is_dir() {
            copy_below(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("the file can be copied");
        }
    }
}
