//! Finds programs on the PATH: the `midstride` that clients call, and the clients themselves.

use crate::clients::client::Client;
use crate::sys::env::program_folders;
use crate::sys::files;
use crate::sys::process::{ProcessLimits, command, run_bounded};
use std::path::{Path, PathBuf};
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

/// Finds the program of a client and runs it to get its version.
pub(crate) fn find_client_program(client: &'static dyn Client) -> Option<ClientProgram> {
    let path = find_program(client.profile().program)?;
    // Other output comes before the version.
    let version = version(&path).lines().last().map(str::to_owned);
    Some(ClientProgram { path, version })
}

fn find_program(name: &str) -> Option<PathBuf> {
    let places = program_folders().into_iter().map(|folder| folder.join(name));
    places.into_iter().find(|place| files::is_executable(place))
}

fn version(program: &Path) -> String {
    let mut process = command(program);
    process.arg("--version");
    let output = run_bounded(process, BOUNDS, &mut |_| ()).map(|run| run.output.text());
    output.unwrap_or_default().trim().to_owned()
}
