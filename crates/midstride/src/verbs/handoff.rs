//! Operations on handoffs, one file per verb.

pub(in crate::verbs) mod advance;
pub(in crate::verbs) mod agent_save;
pub(in crate::verbs) mod allow;
pub(in crate::verbs) mod apply;
pub(in crate::verbs) mod blocking;
pub(in crate::verbs) mod check;
pub(in crate::verbs) mod deliveries;
pub(in crate::verbs) mod edit;
pub(in crate::verbs) mod fmt;
pub(in crate::verbs) mod forget;
pub(in crate::verbs) mod graph;
pub(in crate::verbs) mod merge;
pub(in crate::verbs) mod merge_driver;
pub(in crate::verbs) mod new;
pub(in crate::verbs) mod promote;
pub(in crate::verbs) mod review;
pub(in crate::verbs) mod revise;
pub(in crate::verbs) mod save;
pub(in crate::verbs) mod search;
pub(in crate::verbs) mod share;
pub(in crate::verbs) mod undo;
pub(in crate::verbs) mod update_citations;
pub(in crate::verbs) mod verify;
