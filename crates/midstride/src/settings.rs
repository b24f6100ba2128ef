//! Settings: what the environment and the configuration of a project say.
#![expect(clippy::disallowed_methods, reason = "this is the door to the environment")]

use crate::clock::Clock;
use crate::files::{FileError, Root};
use etcetera::BaseStrategy as _;
use midstride_core::stage::{KindRule, StageRule, Stages};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the process was started with.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Where it was started.
    pub folder: PathBuf,
    /// The home of the user.
    pub home: Option<PathBuf>,
    /// Where programs of the user keep their state.
    pub state: Option<PathBuf>,
    /// The editor the user wants.
    pub editor: Option<String>,
    /// Who is working, for the header of new handoffs.
    pub user: Option<String>,
    /// What tells the time.
    pub clock: Clock,
}

impl Environment {
    /// Reads the environment of this process, once.
    pub fn of_process() -> std::io::Result<Self> {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let folders = etcetera::choose_base_strategy().ok();
        let home = folders.as_ref().map(|folders| folders.home_dir().to_owned());
        let state = folders.and_then(|folders| folders.state_dir());
        // A fixed time makes a run repeatable; the tests and the demonstration use it.
        let fixed = text("MIDSTRIDE_NOW").and_then(|moment| moment.parse().ok());
        Ok(Self {
            folder: std::env::current_dir()?,
            home,
            state,
            editor: text("VISUAL").or_else(|| text("EDITOR")),
            user: text("MIDSTRIDE_USER").or_else(|| text("USER")),
            clock: fixed.map_or(Clock::System, Clock::Fixed),
        })
    }
}

/// The name of the shelf that is Claude Code's memory of a project.
pub const CLAUDE_MEMORY: &str = "claude-memory";

/// Places that are read where nothing else is configured.
const SHELVES: [&str; 5] =
    [".claude/pipeline", "docs/handoffs", "HANDOFF.md", "thoughts/shared/handoffs", CLAUDE_MEMORY];

/// The configuration a new project starts with.
pub const TEMPLATE: &str = "\
# midstride: what this project does differently. Everything here is optional.

# Places with handoffs besides `.midstride/handoffs`, read where they are.
# shelves = [\".claude/pipeline\", \"docs/handoffs\", \"HANDOFF.md\", \"thoughts/shared/handoffs\", \"claude-memory\"]

# Capabilities that a discovery or design document decides on.
# capabilities = [\"quota\", \"insights\", \"telemetry\", \"activity\"]

# A stage of your own, or one of ours with other requirements.
# [stages.threat-model]
# folder = \"threats\"
# from = \"security\"
# requires = [\"id\", \"from\", \"to\", \"context_summary\", \"decisions_made\"]
# upstream = [\"design\"]
";

/// What a project has configured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Places with handoffs besides our own.
    pub shelves: Vec<String>,
    /// Kinds and stages.
    pub stages: Stages,
}

/// The file as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    shelves: Option<Vec<String>>,
    capabilities: Option<Vec<String>>,
    may_be_empty: Option<Vec<String>>,
    #[serde(default)]
    kinds: BTreeMap<String, KindRule>,
    #[serde(default)]
    stages: BTreeMap<String, StageRule>,
}

/// Why a configuration could not be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not understood.
    #[error("`{}` is not understood: {message}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// What is wrong, with its line.
        message: String,
    },
}

impl Settings {
    /// What holds without a configuration.
    pub fn standard() -> Self {
        Self { shelves: SHELVES.map(str::to_owned).to_vec(), stages: Stages::shipped() }
    }

    /// Reads the configuration of a project.
    pub fn read(root: &Root, file: &Path) -> Result<Self, SettingsError> {
        let bytes = root.read(file)?;
        let text = String::from_utf8_lossy(&bytes);
        let written: Written = toml_edit::de::from_str(&text).map_err(|error| {
            let message = error.to_string().trim_end().to_owned();
            SettingsError::Text { path: root.path().join(file), message }
        })?;
        let Written { shelves, capabilities, may_be_empty, kinds, stages } = written;
        let standard = Self::standard();
        let stages = standard.stages.with(Stages { capabilities, may_be_empty, kinds, stages });
        if let Some(message) = stages.mistakes().into_iter().next() {
            return Err(SettingsError::Text { path: root.path().join(file), message });
        }
        Ok(Self { shelves: shelves.unwrap_or(standard.shelves), stages })
    }
}
