//! Processes: the only place that starts one.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

mod bounded;
mod capped_output;
mod group;

pub use bounded::{ProcessLimits, ProcessReport, communicate_bounded, run_bounded};
pub use capped_output::CappedOutput;

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufReader, Write};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio};

/// Starts a command that is described further by its caller.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// Opens a file in the user's editor and waits for it. The editor may be a command with options.
pub fn edit(editor: &str, file: &Path) -> io::Result<ExitStatus> {
    Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file).status()
}

/// Starts this program once more, with these variables and no others, and does not wait for it: it
/// goes on when we are gone.
pub fn spawn_detached(
    arguments: &[&OsStr],
    folder: &Path,
    variables: Vec<(OsString, OsString)>,
) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments).current_dir(folder).env_clear().envs(variables);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop)
}

/// Starts over where a limit on the size of files is set, which ends whoever writes beyond it: a
/// shell ignores that for us, and then a write only fails. Comes back where there is no such limit,
/// or no shell. The variable tells the new start what it is.
pub fn ignore_file_size_limit(variable: &str) {
    const SCRIPT: &str = "trap '' XFSZ; exec \"$0\" \"$@\"";
    if rustix::process::getrlimit(rustix::process::Resource::Fsize).current.is_none() {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", SCRIPT]).arg(program).args(std::env::args_os().skip(1)).env(variable, "1");
    let _ = shell.exec();
}

/// Leaves the session of whoever started us, so that we are not ended with it.
pub fn start_new_session() {
    // Who leads a group already cannot, and is not ended with another.
    let _ = rustix::process::setsid();
}

/// Whether the system tells about its processes as files.
pub fn has_proc() -> bool {
    Path::new("/proc/self/stat").exists()
}

/// When a process was started, in the system's own count; `None` where there is none of that number,
/// or only its name is left until somebody asks how it ended.
pub fn start_time(pid: u64) -> Option<String> {
    const START: usize = 18;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program stands in parentheses, and may have any in it.
    let (_, behind) = stat.rsplit_once(')')?;
    let mut fields = behind.split_whitespace();
    let state = fields.next()?;
    fields.nth(START).filter(|_| !matches!(state, "Z" | "X" | "x")).map(str::to_owned)
}

/// The processes that this one was started by, the nearest first.
pub fn ancestors() -> Vec<u64> {
    const MOST: usize = 8;
    let nearest = rustix::process::getppid().and_then(|pid| u64::try_from(pid.as_raw_pid()).ok());
    let parent = |pid: &u64| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    std::iter::successors(nearest, parent).take_while(|pid| *pid > 1).take(MOST).collect()
}

/// Whether this process was started by `codex exec`, which runs for a script. Where the system does not
/// tell, it was not.
pub fn is_below_codex_exec() -> bool {
    ancestors().into_iter().any(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        let is_codex = |word: &&[u8]| {
            let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            name == b"codex" || name == b"codex.js"
        };
        let at = words.iter().take(2).position(is_codex);
        let rest = at.map_or(&[][..], |at| &words[at + 1..]);
        rest.iter().any(|word| *word == b"exec" || *word == b"e")
    })
}

/// The files below a folder that some process of ours has open to write to. Whoever only reads one
/// does not work on it.
pub fn files_being_written(folder: &Path) -> HashSet<PathBuf> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let handles = processes
        .filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit))
        .filter_map(|entry| std::fs::read_dir(entry.path().join("fd")).ok());
    let below = handles.flatten().flatten().filter_map(|handle| {
        let file =
            std::fs::read_link(handle.path()).ok().filter(|file| file.starts_with(folder))?;
        is_writable_handle(&handle.path()).then_some(file)
    });
    below.collect()
}

/// Whether a handle, `/proc/<pid>/fd/<number>`, can be written to; one that tells nothing can.
fn is_writable_handle(handle: &Path) -> bool {
    const WRITES: u32 = 0o3;
    let process = handle.parent().and_then(Path::parent).unwrap_or(handle);
    let facts = process.join("fdinfo").join(handle.file_name().unwrap_or_default());
    let facts = std::fs::read_to_string(facts).unwrap_or_default();
    let flags = facts.lines().find_map(|line| line.strip_prefix("flags:"));
    flags
        .and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok())
        .is_none_or(|flags| flags & WRITES != 0)
}

/// Runs a command, feeding it `input`, and gives back what it wrote.
pub fn communicate(command: &mut Command, input: &[u8]) -> io::Result<Output> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let stdin = child.stdin.take();
    std::thread::scope(|scope| {
        let feeder = scope.spawn(move || match stdin {
            Some(mut stdin) => stdin.write_all(input),
            None => Ok(()),
        });
        let output = child.wait_with_output()?;
        match feeder.join() {
            // A command that stops reading early says why with its exit code.
            Ok(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            Ok(_) | Err(_) => Ok(output),
        }
    })
}

/// A process that answers what it is asked, again and again, until it is dropped.
#[derive(Debug)]
pub struct Conversation {
    child: Child,
    stdin: Option<ChildStdin>,
    /// What it answers.
    pub answers: BufReader<ChildStdout>,
}

impl Conversation {
    /// Starts a command to talk to.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let asking = child.stdin.take();
        let answers = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, stdin: asking, answers: BufReader::new(answers) })
    }

    /// Asks something; the answer is read from `answers`.
    pub fn ask(&mut self, question: &[u8]) -> io::Result<()> {
        let asking = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        asking.write_all(question)?;
        asking.flush()
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        // It ends when nobody asks any more; one that does not is of no use to anybody.
        drop(self.stdin.take());
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
