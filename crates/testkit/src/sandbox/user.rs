//! The user of a sandbox: runs the program at a terminal, with no agent among its ancestors.

use super::{Run, Sandbox, detached};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use tempfile::TempDir;

/// The user of a sandbox. Standard output and error go to files, so that they can be distinguished from what is
/// written to the terminal.
#[derive(Debug)]
pub struct SandboxUser<'s> {
    sandbox: &'s Sandbox,
    program: &'s Path,
    typed: String,
    variables: Vec<(OsString, OsString)>,
}

impl<'s> SandboxUser<'s> {
    pub(super) fn new(sandbox: &'s Sandbox, program: &'s Path) -> Self {
        detached::assert_no_agent();
        Self { sandbox, program, typed: String::new(), variables: Vec::new() }
    }

    /// What the user types, with line ends.
    pub fn types(mut self, typed: &str) -> Self {
        typed.clone_into(&mut self.typed);
        self
    }

    /// Sets a variable.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Runs the program.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        let folder =
            TempDir::with_prefix("midstride-user-").expect("a temporary folder can be made");
        let [line, input, stdout, stderr] =
            ["line", "input", "stdout", "stderr"].map(|name| folder.path().join(name));
        let quote = |word: &OsStr| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"));
        let mut words = vec![quote(self.program.as_os_str())];
        words.extend(arguments.into_iter().map(|word| quote(word.as_ref())));
        let [to_stdout, to_stderr] = [&stdout, &stderr].map(|path| quote(path.as_os_str()));
        let typed_line = format!("exec {} >{to_stdout} 2>{to_stderr}\n", words.join(" "));
        std::fs::write(&line, typed_line).expect("the folder is ours");
        std::fs::write(&input, &self.typed).expect("the folder is ours");
        let mut script = self.sandbox.detached_command("script");
        script
            .args(["--echo", "never", "-qec"])
            .arg(format!("sh {}", quote(line.as_os_str())))
            .arg("/dev/null");
        script.envs(self.variables.iter().map(|(name, value)| (name, value)));
        script.stdin(std::fs::File::open(&input).expect("it was just written"));
        let run = self.sandbox.finish(&mut script);
        assert!(run.stderr.is_empty(), "script of util-linux runs: {run}");
        let read = |path: &Path| self.sandbox.tidy(&std::fs::read(path).unwrap_or_default());
        Run {
            code: run.code,
            stdout: read(&stdout),
            stderr: read(&stderr),
            terminal: run.stdout.replace("\r\n", "\n"),
        }
    }
}
