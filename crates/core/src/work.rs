//! Work as the fold of events: tasks, the mission and workflow states.

pub mod event;
pub mod mission;
pub mod task;
pub mod workflow;
