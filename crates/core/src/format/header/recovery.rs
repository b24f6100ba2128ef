//! The session whose work is handed over, as `state.recovery` names it.

use super::{Lenient, text};
use crate::text::yaml::Node;

/// Where the facts of a session are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// The client that ran it.
    pub client: Option<String>,
    /// Its id.
    pub session: Option<String>,
    /// The SHA-256 of its checkpoint.
    pub checkpoint: String,
}

impl<'d> Lenient<'d> for Recovery {
    fn read(node: &'d Node) -> Option<Self> {
        let said = |key| text(node, key, "checkpoint").map(|text| text.value.trim().to_owned());
        let checkpoint = said("checkpoint")?;
        Some(Self { client: said("client"), session: said("session"), checkpoint })
    }
}
