//! Clients call `midstride` by its name: what they will find.

use crate::files;
use crate::process::{Bounds, command, run_bounded};
use crate::settings::program_folders;
use std::path::PathBuf;
use std::time::Duration;

/// A program that says its version takes no longer.
const BOUNDS: Bounds = Bounds { time: Duration::from_secs(5), output_bytes: 4096 };

/// What is called when somebody calls `midstride`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnPath {
    /// One of this version.
    Same(PathBuf),
    /// One that says it is another.
    Other(PathBuf, String),
    /// Nothing.
    Missing,
}

/// Looks for it.
pub fn on_path() -> OnPath {
    let places = program_folders().into_iter().map(|folder| folder.join("midstride"));
    let Some(found) = places.into_iter().find(|place| files::is_program(place)) else {
        return OnPath::Missing;
    };
    let mut asked = command(&found);
    asked.arg("--version");
    let said = run_bounded(asked, BOUNDS, &mut |_| ()).map(|run| run.output.text());
    let said = said.unwrap_or_default().trim().to_owned();
    let ours = format!("midstride {}", env!("CARGO_PKG_VERSION"));
    if said == ours { OnPath::Same(found) } else { OnPath::Other(found, said) }
}
