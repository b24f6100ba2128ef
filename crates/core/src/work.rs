//! Work state built from events: tasks, missions and workflows.

pub mod event;
pub mod mission;
pub mod task;
pub mod workflow;
