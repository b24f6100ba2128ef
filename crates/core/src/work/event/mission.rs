//! Events about the mission, the state of the work as a whole.

use super::family::EventFamily;
use serde::{Deserialize, Serialize};

/// An event about the mission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
#[non_exhaustive]
pub enum MissionEvent {
    /// Its state was captured. It replaces the previous state.
    #[serde(rename = "mission.stated")]
    Stated {
        /// The decisions.
        #[serde(default)]
        decisions: Vec<String>,
        /// The open questions.
        #[serde(default)]
        questions: Vec<String>,
        /// The next actions.
        #[serde(default)]
        next: Vec<String>,
        /// The mode of work, such as `--fg`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<String>,
        /// The current iteration.
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
