//! Programs by their names: what clients find when they call `midstride`, and the clients themselves.

use crate::sys::files;
use crate::sys::process::{ProcessLimits, command, run_bounded};
use crate::workspace::settings::program_folders;
use midstride_core::session::Client;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A program that says its version takes no longer.
const BOUNDS: ProcessLimits = ProcessLimits { time: Duration::from_secs(5), output_bytes: 4096 };

/// What is called when somebody calls `midstride`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathLookup {
    /// One of this version.
    Same(PathBuf),
    /// One that says it is another.
    Other(PathBuf, String),
    /// Nothing.
    Missing,
}

/// Looks for it.
pub fn find_on_path() -> PathLookup {
    let Some(found) = find_program("midstride") else { return PathLookup::Missing };
    let said = version(&found);
    let ours = format!("midstride {}", env!("CARGO_PKG_VERSION"));
    if said == ours { PathLookup::Same(found) } else { PathLookup::Other(found, said) }
}

/// The program of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientProgram {
    /// Where it is.
    pub path: PathBuf,
    /// What it says of its version; nothing where it says nothing in time.
    pub version: Option<String>,
}

/// Looks for the program of a client, and asks for its version.
pub fn find_client_program(client: Client) -> Option<ClientProgram> {
    let path = find_program(match client {
        Client::ClaudeCode => "claude",
        Client::Codex => "codex",
    })?;
    // What it has to say besides comes first.
    let version = version(&path).lines().last().map(str::to_owned);
    Some(ClientProgram { path, version })
}

fn find_program(name: &str) -> Option<PathBuf> {
    let places = program_folders().into_iter().map(|folder| folder.join(name));
    places.into_iter().find(|place| files::is_executable(place))
}

fn version(program: &Path) -> String {
    let mut asked = command(program);
    asked.arg("--version");
    let said = run_bounded(asked, BOUNDS, &mut |_| ()).map(|run| run.output.text());
    said.unwrap_or_default().trim().to_owned()
}
