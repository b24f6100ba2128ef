//! What happens to the mission: how the work as a whole stands, as somebody put it.

use super::family::EventFamily;
use serde::{Deserialize, Serialize};

/// What happened to the mission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum MissionEvent {
    /// Its state was captured; the one before is history.
    #[serde(rename = "mission.stated")]
    Stated {
        /// What was decided.
        #[serde(default)]
        decisions: Vec<String>,
        /// What is not known.
        #[serde(default)]
        questions: Vec<String>,
        /// What to do when the work goes on.
        #[serde(default)]
        next: Vec<String>,
        /// How it is being worked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<String>,
        /// The iteration that the work is in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        iteration: Option<u64>,
    },
}

impl EventFamily for MissionEvent {
    const NAME: &'static str = "mission";
    const VERSION: u32 = 1;

    fn kind(&self) -> &'static str {
        match self {
            Self::Stated { .. } => "mission.stated",
        }
    }
}
