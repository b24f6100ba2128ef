//! Operations on a whole project: show, set up, examine, sync, purge.

pub(in crate::verbs) mod config;
pub(in crate::verbs) mod configuration_trust;
pub(in crate::verbs) mod data;
pub(in crate::verbs) mod doctor;
pub(in crate::verbs) mod finish_index;
pub(in crate::verbs) mod forget_sessions;
pub(in crate::verbs) mod home;
pub(in crate::verbs) mod init;
pub(in crate::verbs) mod observe;
pub(in crate::verbs) mod purge;
pub(in crate::verbs) mod redact_stored;
pub(in crate::verbs) mod setup;
pub(in crate::verbs) mod subject;
pub(in crate::verbs) mod suggest;
pub(in crate::verbs) mod sync;
pub(in crate::verbs) mod trust_listing;
pub(in crate::verbs) mod why;
