//! What is true about handoffs: values in, values out.
//!
//! Core knows documents, their parts, what is wrong with them and how they may be changed. It never
//! opens a file, asks the time, starts a process or reads the environment; whoever calls it does.
//! The rooms below stand in the order in which they may import each other.
//!
//! ```
//! use midstride_core::format::document::Document;
//! use midstride_core::text::edit::{Edit, Path};
//! use midstride_core::text::yaml::Data;
//!
//! let text = "---\nhandoff:\n  id: search-lag # ours\n  status: PLANNED\n---\n";
//! let document = Document::parse(text.as_bytes());
//! assert_eq!(document.findings()[0].message, "`status` is `PLANNED`, which means planned");
//!
//! let edit = Edit::Append(Path::field("landmines"), Data::text("The index is shared"));
//! let (after, patch) = document.edit(&[edit])?;
//! assert!(after.text().contains("  id: search-lag # ours\n"));
//! assert_eq!(patch.reversed().apply(after.text()).as_deref(), Ok(text));
//! # Ok::<(), midstride_core::format::document::EditRefused>(())
//! ```

pub mod brief;
pub mod format;
pub mod handoff;
pub mod session;
pub mod text;
pub mod work;
