//! A project on disk: its settings and permissions, its folders, and the handoffs in them.

pub mod folder;
pub(crate) mod note_dates;
pub mod observation;
pub mod permission;
pub mod project;
pub mod settings;
