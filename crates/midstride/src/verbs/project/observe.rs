//! Ask git what is uncommitted, and read what it said last.

pub use crate::workspace::observation::{
    branch_state, commits_made, last_observation, observe, observe_in_background,
};
