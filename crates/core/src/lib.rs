//! What is true about handoffs: values in, values out.
//!
//! Core knows documents, their parts, what is wrong with them and how they may be changed. It never
//! opens a file, asks the time, starts a process or reads the environment; whoever calls it does.
//! The rooms below stand in the order in which they may import each other.
//!
//! ```
//! use midstride_core::document::Document;
//! use midstride_core::edit::{Edit, Path};
//! use midstride_core::yaml::Data;
//!
//! let text = "---\nhandoff:\n  id: search-lag # ours\n  status: PLANNED\n---\n";
//! let document = Document::parse(text.as_bytes());
//! assert_eq!(document.findings()[0].message, "`status` is `PLANNED`, which means planned");
//!
//! let edit = Edit::Append(Path::field("landmines"), Data::text("The index is shared"));
//! let (after, patch) = document.edit(&[edit])?;
//! assert!(after.text().contains("  id: search-lag # ours\n"));
//! assert_eq!(patch.reversed().apply(after.text()).as_deref(), Ok(text));
//! # Ok::<(), midstride_core::document::EditRefused>(())
//! ```

pub mod span;

pub mod hidden;
pub mod id;
pub mod redact;
pub mod time;
pub mod tokens;
pub mod yaml;

pub mod edit;

pub mod event;
pub mod finding;
pub mod markdown;
pub mod section;
pub mod shape;
pub mod task;

pub mod mission;
pub mod workflow;

pub mod header;
pub mod stage;

pub mod document;

pub mod insert;

pub mod citation;
pub mod topic;

pub mod handoff;

pub mod anchor;

pub mod drift;
pub mod proof;

pub mod merge;

pub mod check;
pub mod graph;
pub mod life;
pub mod note;
pub mod receipt;
pub mod report;
pub mod repository;
pub mod schema;
pub mod search;
pub mod shell;

pub mod session;
pub mod story;
pub mod trust;

pub mod instruction;
pub mod transcript;

pub mod checkpoint;

pub mod briefing;
pub mod coverage;
pub mod judgement;

pub mod gate;

pub mod hook;
