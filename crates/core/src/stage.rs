//! Kinds and stages of handoffs: what each must contain, as data.

use crate::section::Meaning;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The table that ships with midstride.
const SHIPPED: &str = include_str!("stages.toml");

/// What kinds and stages there are and what they require.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stages {
    /// Capabilities that are decided one by one.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// Fields in which an empty list states that there are none.
    #[serde(default)]
    pub may_be_empty: Vec<String>,
    /// Requirements by kind.
    #[serde(default)]
    pub kinds: BTreeMap<String, KindRule>,
    /// Requirements by stage.
    #[serde(default)]
    pub stages: BTreeMap<String, StageRule>,
}

/// What a kind of handoff requires.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindRule {
    /// Fields of the header.
    #[serde(default)]
    pub requires: Vec<String>,
    /// Meanings of which at least one section must have one.
    #[serde(default)]
    pub sections: Vec<String>,
}

/// What a stage requires.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageRule {
    /// The pipeline's folder it lies in.
    pub folder: Option<String>,
    /// Who writes it.
    pub from: Option<String>,
    /// For whom.
    #[serde(default)]
    pub to: Vec<String>,
    /// Fields of the header; a dot leads into a field.
    #[serde(default)]
    pub requires: Vec<String>,
    /// Stages it is derived from.
    #[serde(default)]
    pub upstream: Vec<String>,
    /// Whether each capability is decided here.
    #[serde(default)]
    pub capabilities: bool,
}

impl Stages {
    /// The table that ships with midstride.
    pub fn shipped() -> Self {
        toml_edit::de::from_str(SHIPPED).expect("the shipped table is read by a test")
    }

    /// This table with a project's own entries over it, entry by entry.
    #[must_use]
    pub fn with(mut self, project: Self) -> Self {
        if !project.capabilities.is_empty() {
            self.capabilities = project.capabilities;
        }
        if !project.may_be_empty.is_empty() {
            self.may_be_empty = project.may_be_empty;
        }
        self.kinds.extend(project.kinds);
        self.stages.extend(project.stages);
        self
    }

    /// The stage that lies in a folder of the pipeline.
    pub fn of_folder(&self, folder: &str) -> Option<&str> {
        self.find(|rule| rule.folder.as_deref() == Some(folder))
    }

    /// The stage that an agent writes.
    pub fn of_agent(&self, agent: &str) -> Option<&str> {
        self.find(|rule| rule.from.as_deref() == Some(agent))
    }

    fn find(&self, fits: impl Fn(&StageRule) -> bool) -> Option<&str> {
        self.stages.iter().find(|(_, rule)| fits(rule)).map(|(name, _)| name.as_str())
    }

    /// The names of all stages.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.stages.keys().map(String::as_str)
    }
}

impl KindRule {
    /// The meanings of which at least one section must have one.
    pub fn meanings(&self) -> Vec<Meaning> {
        self.sections.iter().filter_map(|name| Meaning::of(&name.replace('_', " "))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_is_whole() {
        let stages = Stages::shipped();
        assert_eq!(stages.capabilities.len(), 4);
        for (name, rule) in &stages.stages {
            assert!(!rule.requires.is_empty(), "{name}");
            for upstream in &rule.upstream {
                assert!(stages.stages.contains_key(upstream), "{name} → {upstream}");
            }
        }
        for (name, rule) in &stages.kinds {
            assert_eq!(rule.meanings().len(), rule.sections.len(), "{name}");
        }
        assert_eq!(stages.of_folder("briefs"), Some("discovery"));
        assert_eq!(stages.of_agent("architect"), Some("design"));
    }

    #[test]
    fn a_project_adds_and_replaces_entries() {
        let own = r#"
            capabilities = ["billing"]
            [stages.threat-model]
            folder = "threats"
            requires = ["id"]
        "#;
        let stages = Stages::shipped().with(toml_edit::de::from_str(own).unwrap());
        assert_eq!(stages.capabilities, ["billing"]);
        assert_eq!(stages.of_folder("threats"), Some("threat-model"));
        assert_eq!(stages.of_folder("briefs"), Some("discovery"));
    }
}
