//! Compares documents with the code they cite.

pub mod drift;
