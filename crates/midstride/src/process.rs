//! Processes: the only place that starts one.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};

/// Starts a command that is described further by its caller.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// Opens a file in the user's editor and waits for it. The editor may be a command with options.
pub fn edit(editor: &str, file: &Path) -> io::Result<ExitStatus> {
    Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file).status()
}

/// Runs a command, feeding it `input`, and gives back what it wrote.
pub fn exchange(command: &mut Command, input: &[u8]) -> io::Result<Output> {
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
