//! What is true about handoffs: values in, values out.
//!
//! Core knows documents, their parts, what is wrong with them and how they may be changed. It never
//! opens a file, asks the time, starts a process or reads the environment; whoever calls it does.
//! The rooms below stand in the order in which they may import each other.

pub mod span;

pub mod id;
pub mod time;
pub mod yaml;

pub mod edit;

pub mod finding;
pub mod markdown;
pub mod section;
pub mod shape;
pub mod stage;

pub mod header;

pub mod document;

pub mod handoff;

pub mod check;
pub mod schema;
