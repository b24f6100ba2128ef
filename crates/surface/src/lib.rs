//! What an outcome looks like to its reader: as text, as JSON, and as an error with hints.
//!
//! The command line, the MCP server and other surfaces render the same outcome through this crate.
//! It prints nothing: callers pass the width of the terminal in and print what they get.

pub mod diagnostic;
pub mod json;
pub mod text;
pub mod view;
