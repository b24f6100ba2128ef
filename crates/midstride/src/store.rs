//! Data that midstride stores next to the documents: the ledger, earlier revisions and the index.

pub mod index;
pub mod ledger;
pub mod reconcile;
pub mod revisions;
pub(crate) mod sqlite_log;
pub mod tombstone;
