//! Storage and operations for handoffs: files, git, projects, and the verbs that change them.
//!
//! All access to the outside world goes through `sys`. There is no async code here.

pub mod clients;
pub mod code;
pub mod journal;
pub mod store;
pub mod sys;
pub mod verbs;
pub mod workspace;
