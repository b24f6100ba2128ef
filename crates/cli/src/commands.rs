//! Commands, one file each: what is typed, one function, resolve → do → tell.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod edit;
pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod inbox;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod new;
pub(crate) mod reference;
pub(crate) mod schema;
pub(crate) mod show;

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is well: exit 0.
    Clean,
    /// Something was found: exit 1.
    Findings,
    /// Part of it could not run: exit 2.
    Incomplete,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Clean => 0,
            Outcome::Findings => 1,
            Outcome::Incomplete => 2,
        })
    }
}
