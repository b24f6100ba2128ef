//! The outside world, one module for each thing: the time, identities, files, processes, git.

pub mod clock;
pub mod files;
pub mod git;
pub mod ids;
pub mod process;
