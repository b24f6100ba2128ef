//! Agent sessions: capture one, list them, compare them with their handoff.

pub(in crate::verbs) mod checkpoint;
pub(in crate::verbs) mod coverage;
pub(in crate::verbs) mod plans;
pub(in crate::verbs) mod sessions;
