//! Where handoffs live: files, git, projects and the verbs that change them.
//!
//! Everything outside goes through one door each; the rooms below stand in the order in which they
//! may import each other. There is no async here.

pub mod clock;
pub mod files;
pub mod ids;
pub mod process;

pub mod git;
pub mod settings;

pub mod permission;
pub mod shelf;

pub mod project;

mod note_dates;

pub mod hook_log;
pub mod observation;

pub mod client;

pub mod capture;

mod sqlite_log;

pub mod ledger;

pub mod tombstone;

pub mod revisions;

pub mod index;
pub mod reconcile;

pub mod drift;

pub mod journal;

pub mod install;

pub mod verbs;
