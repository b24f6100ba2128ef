//! Where handoffs live: files, git, projects and the verbs that change them.
//!
//! Everything outside goes through one door each; the rooms below stand in the order in which they
//! may import each other. There is no async here.

pub mod clients;
pub mod code;
pub mod journal;
pub mod store;
pub mod sys;
pub mod verbs;
pub mod workspace;
