//! Processes: the only module that starts and inspects them.
#![expect(clippy::disallowed_methods, reason = "the one module for this")]

mod ancestors;
mod bounded;
mod capped_output;
mod conversation;
mod group;

pub(crate) use ancestors::are_ancestors_known;
pub use ancestors::{Ancestor, ancestors, ancestors_of};
pub use bounded::{ProcessLimits, ProcessReport, communicate_bounded, run_bounded};
pub use capped_output::CappedOutput;
pub(crate) use conversation::Conversation;

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

/// What distinguishes this process from every other one, even on another machine or after a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessIdentity {
    /// The name of the machine.
    pub(crate) host: String,
    /// The boot of the machine; empty where the system does not name it.
    pub(crate) boot: String,
    /// The id of the process.
    pub(crate) pid: u32,
}

/// The identity of this process.
pub(crate) fn identity() -> ProcessIdentity {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    ProcessIdentity { host, boot: boot.trim().to_owned(), pid: std::process::id() }
}

/// Creates a command for the caller to configure.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// Opens a file in the user's editor and waits for it. The editor may be a command with options.
pub fn edit(editor: &str, file: &Path) -> io::Result<ExitStatus> {
    Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file).status()
}

/// Shows a file in the user's pager in place of this process, which exits with this code. The pager may
/// be a command with options; if it cannot be started, the text is printed. Returns only if there is
/// no shell.
pub fn page(pager: &str, file: std::fs::File, exit_code: u8) -> io::Error {
    pager_command(pager, file, exit_code).exec()
}

/// Like [`page`], but waits until the user closes the pager. Fails only if there is no shell.
pub fn page_and_wait(pager: &str, file: std::fs::File) -> io::Result<()> {
    pager_command(pager, file, 0).status().map(drop)
}

fn pager_command(pager: &str, file: std::fs::File, exit_code: u8) -> Command {
    // Ctrl-C is for the pager, which handles it itself.
    const SCRIPT: &str = r#"trap '' INT; sh -c "$1"; case $? in 126|127) cat ;; esac; exit "$2""#;
    let mut shell = Command::new("sh");
    shell.args(["-c", SCRIPT, "sh", pager, &exit_code.to_string()]).stdin(file);
    for (name, value) in PAGER_OPTIONS {
        if std::env::var_os(name).is_none() {
            shell.env(name, value);
        }
    }
    shell
}

/// Options for pagers that the user did not set, as in git: they show colors.
const PAGER_OPTIONS: [(&str, &str); 2] = [("LESS", "FRX"), ("LV", "-c")];

/// Runs a program in place of this process, in the same terminal. Returns only if it cannot be started.
pub fn replace_process(words: &[String]) -> io::Error {
    let Some((program, arguments)) = words.split_first() else {
        return io::ErrorKind::InvalidInput.into();
    };
    Command::new(program).args(arguments).exec()
}

/// Starts midstride again with only these variables and does not wait for it. The new process
/// continues after this one exits.
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

/// Restarts this process if a file size limit is set, because exceeding the limit would kill it.
/// The new process runs in a shell that ignores the signal, so that a write only fails. Returns if
/// there is no limit or no shell. The variable tells the new process that it was restarted.
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

/// Starts a new session, so that this process is not killed together with its parent.
pub fn start_new_session() {
    // This fails only for a process group leader, which is not affected anyway.
    let _ = rustix::process::setsid();
}

/// Whether the system has `/proc`.
pub(crate) fn has_proc() -> bool {
    Path::new("/proc/self/stat").exists()
}

/// The start time of a process in system ticks, or `None` if there is no such process or it is a
/// zombie.
pub fn start_time(pid: u64) -> Option<String> {
    const START: usize = 18;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program name is in parentheses and may contain parentheses itself.
    let (_, fields_text) = stat.rsplit_once(')')?;
    let mut fields = fields_text.split_whitespace();
    let state = fields.next()?;
    fields.nth(START).filter(|_| !matches!(state, "Z" | "X" | "x")).map(str::to_owned)
}

/// Whether an ancestor of this process was started with words that `is_it` accepts. Returns `false`
/// if the system has no `/proc`.
pub(crate) fn has_ancestor(is_it: impl Fn(&[&[u8]]) -> bool) -> bool {
    ancestors().into_iter().any(|ancestor| {
        is_it(&ancestor.command_line().split(|byte| *byte == 0).collect::<Vec<_>>())
    })
}

/// The values of a variable in the processes whose parent was started with words that `is_it` accepts.
pub(crate) fn values_below(variable: &str, is_it: impl Fn(&[&[u8]]) -> bool) -> HashSet<String> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let value = |pid: u64| {
        let value = Ancestor { pid }.variable(variable)?;
        let parent = ancestors_of(pid).into_iter().next()?.command_line();
        is_it(&parent.split(|byte| *byte == 0).collect::<Vec<_>>()).then_some(value)
    };
    ids.filter_map(value).collect()
}

/// The files below a folder that one of the user's processes has open for writing.
pub(crate) fn files_being_written(folder: &Path) -> HashSet<PathBuf> {
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

/// Whether a handle, `/proc/<pid>/fd/<number>`, is open for writing. Assumes so if that is unknown.
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

/// Runs a command with `input` and returns its output.
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
            // If the command stops reading early, its exit code says why.
            Ok(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            Ok(_) | Err(_) => Ok(output),
        }
    })
}
