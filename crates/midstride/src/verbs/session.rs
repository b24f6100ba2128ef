//! Operations on agent sessions: capture, list, compare with a handoff.

pub(in crate::verbs) mod checkpoint;
pub(in crate::verbs) mod coverage;
pub(in crate::verbs) mod plans;
pub(in crate::verbs) mod sessions;
