//! The configuration of a project: folders, stages, redaction, briefing and hooks.

use crate::sys::files::{FileError, Root};
use crate::sys::ids::sha256;
use midstride_core::format::stage::{KindRule, StageRule, Stages};
use midstride_core::text::id::nearest_match;
use midstride_core::text::redact::{CustomRule, CustomRuleError, RedactionRules};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml_edit::{Document, Item, Key, TableLike};

/// The name of the folder that is Claude Code's memory of a project.
pub(crate) const CLAUDE_MEMORY: &str = "claude-memory";

/// Folders and files that are read by default.
const FOLDERS: [&str; 5] =
    [".claude/pipeline", "docs/handoffs", "HANDOFF.md", "thoughts/**/handoffs", CLAUDE_MEMORY];

/// More folders and files with notes, read if they exist.
const NOTE_PLACES: [&str; 10] = [
    "NEXT_SESSION.md",
    "SESSION_HANDOFF.md",
    ".continue-here.md",
    ".claude/handoffs",
    ".agent",
    ".agents",
    "docs/handoff",
    "handoffs",
    "handoff",
    "memory-bank",
];

/// The initial configuration of a new project.
pub(crate) const TEMPLATE: &str = "\
# midstride settings for this repository. Everything here is optional.

# More folders and files with handoffs. midstride also reads HANDOFF.md, docs/handoffs, .claude/handoffs, .agents,
# thoughts/**/handoffs, memory-bank and others. A folder outside the project, such as \"~/notes\", needs `midstride trust`.
# folders = [\"notes/handoffs\"]

# Platform capabilities that a discovery or design document must decide on.
# capabilities = [\"quota\", \"insights\", \"telemetry\", \"activity\"]

# A custom pipeline stage, or new requirements for a built-in one.
# [stages.threat-model]
# folder = \"threats\"
# from = \"security\"
# requires = [\"id\", \"from\", \"to\", \"context_summary\", \"decisions_made\"]
# upstream = [\"design\"]

# nudge: remind the agent once to save what only it knows. If this is not set, midstride reminds the agent only when the
# context is more than 75% full. stop_gate: keep the agent from stopping until it saves, at most twice.
# [hooks]
# nudge = false
# stop_gate = false

# budget: the maximum size of the briefing for a new session, in tokens; 0 turns it off. headless: also brief sessions
# that a script runs, such as claude -p and codex exec.
# [brief]
# budget = 500
# headless = false

# A kind of secret for midstride to remove: the text it starts with, and a regular expression for the rest.
# [[redact]]
# kind = \"acme-token\"
# begins = \"acme_\"
# then = \"[a-z0-9]{32}\"
";

/// The SHA-256 of the templates that earlier versions wrote.
const EARLIER_TEMPLATES: [&str; 8] = [
    "f57cf8e1feebd956d9fe885e712d7a5a04cd80175995f283c3c6d1e9e56bfac5",
    "accf3aca39b91f6680118c2ecc0c292d5cac02b1f1501fae42cb5123ae1e8cb0",
    "d9f26581ec50b06aaf3dcf572b5b9224db5a1fe58fae32492e8caca00427736f",
    "4c6b5c49a054bdfd60cdb43b583444da6d3ad9940f56c70ea1b79349d1dac94d",
    "3b38ff2d554f9fa7c368df5a5ef50be59e5bac643f6b93e1b5af383d51c03d3d",
    "715e50e29eae5b3ecd2c803ba36d50c395e9014d7c879881c56ba4a64fc76310",
    "04086422595fcbe3109fefafb0a57fb4f170a6c97c5d8d5418c8a1f6a496325e",
    "a4f139ab6bb246b8afd5390b8ac4b432776fa37fdbc7248295fc6458b49018fd",
];

/// Whether a configuration is exactly as `midstride init` wrote it, in this version or an earlier
/// one.
pub(crate) fn is_template(bytes: &[u8]) -> bool {
    bytes == TEMPLATE.as_bytes() || EARLIER_TEMPLATES.contains(&sha256(bytes).as_str())
}

/// The configuration of a project.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folders and files with handoffs, in addition to midstride's own.
    pub folders: Vec<String>,
    /// Folders and files with notes that are read if they exist.
    pub note_places: Vec<String>,
    /// Kinds and stages.
    pub stages: Stages,
    /// Keys that this version does not know.
    pub unknown: Vec<String>,
    /// The file with its SHA-256.
    pub source: Option<(PathBuf, String)>,
    /// The project's redaction rules, in addition to the built-in ones.
    pub redact: Vec<CustomRule>,
    /// What hooks may do.
    pub hooks: HookSettings,
    /// How sessions are briefed.
    pub brief: BriefSettings,
}

/// How sessions are briefed at startup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct BriefSettings {
    /// The token budget of a startup briefing; 0 for none.
    pub budget: Option<u64>,
    /// Whether sessions that run for a script are briefed too.
    pub headless: bool,
}

impl BriefSettings {
    const KEYS: [&str; 2] = ["budget", "headless"];
}

/// What hooks may do beyond briefing and capturing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HookSettings {
    /// Whether to remind the agent once to save what only it knows. By default, only if its context
    /// is nearly full.
    pub nudge: Option<bool>,
    /// Whether to keep the agent from stopping until it has saved.
    pub stop_gate: bool,
}

impl HookSettings {
    const KEYS: [&str; 2] = ["nudge", "stop_gate"];
}

/// The known keys of the file.
const KEYS: [&str; 9] = [
    "folders",
    "shelves",
    "capabilities",
    "may_be_empty",
    "redact",
    "hooks",
    "brief",
    "kinds",
    "stages",
];

/// The file format.
#[derive(Debug, Default, Deserialize)]
struct SettingsFile {
    /// Added to the default folders.
    #[serde(default)]
    folders: Vec<String>,
    /// The older key, which replaces all default folders.
    shelves: Option<Vec<String>>,
    capabilities: Option<Vec<String>>,
    may_be_empty: Option<Vec<String>>,
    #[serde(default)]
    redact: Vec<CustomRule>,
    #[serde(default)]
    hooks: HookSettings,
    #[serde(default)]
    brief: BriefSettings,
    #[serde(default)]
    kinds: BTreeMap<String, KindRule>,
    #[serde(default)]
    stages: BTreeMap<String, StageRule>,
}

/// Why a configuration could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is invalid.
    #[error("cannot parse `{}`: {problem}", path.display())]
    Text {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with it.
        problem: SettingsProblem,
    },
}

/// What is wrong with the text of a configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsProblem {
    /// It is not TOML, or a value has the wrong type. The message has the line.
    #[error("{}", .0.to_string().trim_end())]
    Toml(#[from] toml_edit::de::Error),
    /// A key is almost a known one.
    #[error("unknown key `{key}` on line {line}; did you mean `{near}`?")]
    MisspelledKey {
        /// The key as written.
        key: String,
        /// Its line.
        line: usize,
        /// The known key.
        near: String,
    },
    /// A rule for a kind or a stage is wrong, with this message.
    #[error("{0}")]
    Stages(String),
    /// A redaction rule is invalid.
    #[error(transparent)]
    Redaction(#[from] CustomRuleError),
    /// It is not TOML. The message has the line.
    #[error("{}", .0.to_string().trim_end())]
    Syntax(#[from] toml_edit::TomlError),
    /// A pattern for folders is invalid.
    #[error("`{pattern}` is not a valid pattern: {problem}")]
    Pattern {
        /// The pattern as written.
        pattern: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] FileError),
}

impl Settings {
    /// The settings without a configuration.
    pub fn standard() -> Self {
        Self {
            folders: FOLDERS.map(str::to_owned).to_vec(),
            note_places: NOTE_PLACES.map(str::to_owned).to_vec(),
            stages: Stages::shipped(),
            redact: Vec::new(),
            hooks: HookSettings::default(),
            brief: BriefSettings::default(),
            unknown: Vec::new(),
            source: None,
        }
    }

    /// Reads the configuration of a project.
    pub fn read(root: &Root, file: &Path) -> Result<Self, SettingsError> {
        let bytes = root.read(file)?;
        let path = root.path().join(file);
        let source = Some((path.clone(), sha256(&bytes)));
        let settings = Self::parse(&String::from_utf8_lossy(&bytes));
        let settings = settings.map_err(|problem| SettingsError::Text { path, problem })?;
        Ok(Self { source, ..settings })
    }

    /// Parses a configuration.
    pub(crate) fn parse(text: &str) -> Result<Self, SettingsProblem> {
        let written: SettingsFile = toml_edit::de::from_str(text)?;
        let unknown = unknown_keys(text)?;
        let SettingsFile {
            folders,
            shelves,
            capabilities,
            may_be_empty,
            redact,
            hooks,
            brief,
            kinds,
            stages,
        } = written;
        let standard = Self::standard();
        let own = Stages { capabilities, may_be_empty, kinds, stages, has_pipeline: false };
        // The built-in table needs no check: a test proves that it is valid, and every hook gets
        // here.
        let may_mistake = own != Stages::default();
        let stages = standard.stages.with_project(own);
        let mistakes = if may_mistake { stages.problems() } else { Vec::new() };
        if let Some(mistake) = mistakes.into_iter().next() {
            return Err(SettingsProblem::Stages(mistake));
        }
        if !redact.is_empty() {
            RedactionRules::with_custom(&redact)?;
        }
        let note_places = if shelves.is_none() { standard.note_places } else { Vec::new() };
        let shelves = shelves.unwrap_or(standard.folders);
        let folders = shelves.into_iter().chain(folders).collect();
        Ok(Self { folders, note_places, stages, unknown, source: None, redact, hooks, brief })
    }
}

/// Keys that this version does not know. They are ignored, because a newer midstride may know them.
/// A key that is almost a known one is an error.
fn unknown_keys(text: &str) -> Result<Vec<String>, SettingsProblem> {
    let Ok(document) = text.parse::<Document<String>>() else { return Ok(Vec::new()) };
    let mut unknown = unknown_in(text, document.as_table(), "", &KEYS)?;
    if let Some(hooks) = document.get("hooks").and_then(Item::as_table_like) {
        unknown.extend(unknown_in(text, hooks, "hooks.", &HookSettings::KEYS)?);
    }
    if let Some(brief) = document.get("brief").and_then(Item::as_table_like) {
        unknown.extend(unknown_in(text, brief, "brief.", &BriefSettings::KEYS)?);
    }
    let rules = [("kinds", &KindRule::KEYS[..]), ("stages", &StageRule::KEYS[..])];
    for (table, keys) in rules {
        let named = document.get(table).and_then(Item::as_table_like);
        for (name, rule) in named.into_iter().flat_map(TableLike::iter) {
            let Some(rule) = rule.as_table_like() else { continue };
            unknown.extend(unknown_in(text, rule, &format!("{table}.{name}."), keys)?);
        }
    }
    Ok(unknown)
}

pub(super) fn unknown_in(
    text: &str,
    table: &dyn TableLike,
    prefix: &str,
    known: &[&str],
) -> Result<Vec<String>, SettingsProblem> {
    let mut unknown = Vec::new();
    for (key, _) in table.iter().filter(|(key, _)| !known.contains(key)) {
        if let Some(near) = nearest_match(key, known.iter().copied()) {
            let at = table.key(key).and_then(Key::span).map_or(0, |span| span.start);
            let line = text[..at].matches('\n').count() + 1;
            let (key, near) = (key.to_owned(), near.to_owned());
            return Err(SettingsProblem::MisspelledKey { key, line, near });
        }
        unknown.push(format!("{prefix}{key}"));
    }
    Ok(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::files;

    #[test]
    fn an_unchanged_configuration_is_recognized() {
        assert!(is_template(TEMPLATE.as_bytes()));
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/settings");
        for number in 1..=EARLIER_TEMPLATES.len() {
            let path = folder.join(format!("template-{number}.toml"));
            let text = files::read_small(&path).unwrap().unwrap();
            assert!(is_template(text.as_bytes()), "{number}");
        }
        assert!(!is_template(format!("{TEMPLATE}folders = []\n").as_bytes()));
    }

    #[test]
    fn an_unknown_key_is_ignored_and_a_misspelled_one_is_an_error() {
        assert_eq!(unknown_keys("notify = \"x\"\n[web]\na = 1\n").unwrap(), ["notify", "web"]);
        assert_eq!(
            unknown_keys("shelves = []\n\n[stage.x]\n").unwrap_err().to_string(),
            "unknown key `stage` on line 3; did you mean `stages`?"
        );
        assert_eq!(unknown_keys("[hooks]\nsound = 1\n").unwrap(), ["hooks.sound"]);
        assert_eq!(
            unknown_keys("[hooks]\nstopgate = true\n").unwrap_err().to_string(),
            "unknown key `stopgate` on line 2; did you mean `stop_gate`?"
        );
        let nested = "[stages.audit]\nfrom = \"ann\"\npicture = \"x\"\n[kinds.session]\nx = 1\n";
        assert_eq!(unknown_keys(nested).unwrap(), ["kinds.session.x", "stages.audit.picture"]);
        assert_eq!(
            unknown_keys("stages = {x = {requiers = []}}\n").unwrap_err().to_string(),
            "unknown key `requiers` on line 1; did you mean `requires`?"
        );
    }
}
