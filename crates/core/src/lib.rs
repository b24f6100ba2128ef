//! The domain logic of midstride: parsing, checking and editing handoffs, without side effects.
//!
//! This crate never opens a file, reads the clock, starts a process or reads the environment.
//! Callers pass those values in. ARCHITECTURE.md lists the modules in import order.
//!
//! ```
//! use midstride_core::format::document::Document;
//! use midstride_core::text::edit::{Edit, HeaderPath};
//! use midstride_core::text::yaml::YamlData;
//!
//! let text = "---\nhandoff:\n  id: search-lag # ours\n  status: PLANNED\n---\n";
//! let document = Document::parse(text.as_bytes());
//! assert_eq!(document.findings()[0].message, "`status` is `PLANNED`, which means planned");
//!
//! let edit = Edit::Append(HeaderPath::field("landmines"), YamlData::text("The index is shared"));
//! let (after, patch) = document.edit(&[edit])?;
//! assert!(after.text().contains("  id: search-lag # ours\n"));
//! assert_eq!(patch.reversed().apply(after.text()).as_deref(), Ok(text));
//! # Ok::<(), midstride_core::format::document::DocumentEditError>(())
//! ```

pub mod brief;
pub mod format;
pub mod handoff;
pub mod session;
pub mod text;
pub mod work;
