//! Access to the outside world: the clock, ids, files, processes, the terminal and git.

pub mod clock;
pub mod env;
pub mod files;
pub mod git;
pub mod ids;
pub mod process;
pub(crate) mod terminal;
