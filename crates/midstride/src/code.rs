//! Compares documents with the code they cite.

pub(crate) mod anchoring;
mod code_state;
pub mod drift;

pub use code_state::CodeState;
