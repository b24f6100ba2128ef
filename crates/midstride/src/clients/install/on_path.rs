//! Finds programs on the PATH: the `midstride` that clients call, and the clients themselves.

use crate::clients::client::{Client, ClientProfile};
use crate::sys::env::program_folders;
use crate::sys::files::{self, ScratchFolder};
use crate::sys::process::{ProcessLimits, command, run_bounded};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Limits for running a program with `--version`.
const BOUNDS: ProcessLimits = ProcessLimits { time: Duration::from_secs(5), output_bytes: 4096 };

/// The `midstride` that a client would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathLookup {
    /// This version.
    Same(PathBuf),
    /// Another version, with its output.
    Other(PathBuf, String),
    /// None on the PATH.
    Missing,
}

/// Finds `midstride` on the PATH.
pub fn find_on_path() -> PathLookup {
    let Some(found) = find_program("midstride") else { return PathLookup::Missing };
    let output = version(&found);
    let ours = format!("midstride {}", env!("CARGO_PKG_VERSION"));
    if output == ours { PathLookup::Same(found) } else { PathLookup::Other(found, output) }
}

/// The program of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientProgram {
    /// Its path.
    pub path: PathBuf,
    /// Its version output; `None` if it printed nothing in time.
    pub version: Option<String>,
}

impl ClientProgram {
    /// The number in its version output.
    pub fn version_number(&self) -> Option<&str> {
        let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
        self.version.as_deref()?.split_whitespace().find(is_number)
    }

    /// Whether it is older than a version. `None` if its version is unknown.
    pub fn is_older_than(&self, version: [u32; 3]) -> Option<bool> {
        let numbers = self.version_number()?.split(['.', '-', '+']);
        let numbers: Vec<u32> = numbers.map_while(|number| number.parse().ok()).take(3).collect();
        (!numbers.is_empty()).then(|| numbers.as_slice() < version.as_slice())
    }
}

/// Finds the program of a client and runs it to get its version. A client may write to its folder
/// whenever it runs, so it gets another one.
pub(crate) fn find_client_program(client: &'static dyn Client) -> Option<ClientProgram> {
    let ClientProfile { program, home_variable, .. } = client.profile();
    let path = find_program(program)?;
    let run = |scratch: ScratchFolder| {
        let mut process = command(&path);
        process.env(home_variable, scratch.path());
        let output = version_in(process);
        // What is left in the temporary folder does not matter.
        let _ = scratch.remove();
        // Other output comes before the version.
        output.lines().last().map(str::to_owned)
    };
    let version = ScratchFolder::new("midstride-version").ok().and_then(run);
    Some(ClientProgram { path, version })
}

fn find_program(name: &str) -> Option<PathBuf> {
    let places = program_folders().into_iter().map(|folder| folder.join(name));
    places.into_iter().find(|place| files::is_executable(place))
}

fn version(program: &Path) -> String {
    version_in(command(program))
}

fn version_in(mut process: Command) -> String {
    process.arg("--version");
    let output = run_bounded(process, BOUNDS, &mut |_| ()).map(|run| run.output.text());
    output.unwrap_or_default().trim().to_owned()
}
