//! Asks git what is uncommitted, and reads the last answer.

pub use crate::workspace::observation::{
    branch_state, commits_made, last_observation, observe, observe_in_background,
};
