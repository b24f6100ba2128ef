//! The session whose work is handed over, as `state.recovery` names it.

use super::{FromYaml, text_of_key};
use crate::text::yaml::YamlNode;

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

impl<'d> FromYaml<'d> for Recovery {
    fn read(node: &'d YamlNode) -> Option<Self> {
        let said =
            |key| text_of_key(node, key, "checkpoint").map(|text| text.value.trim().to_owned());
        let checkpoint = said("checkpoint")?;
        Some(Self { client: said("client"), session: said("session"), checkpoint })
    }
}
