//! Operations on the work as a whole: mission, workflow states and standing instructions.

pub(in crate::verbs) mod instructions;
pub(in crate::verbs) mod mission;
pub(in crate::verbs) mod workflow;
