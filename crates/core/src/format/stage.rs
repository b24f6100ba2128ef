//! Kinds and stages of handoffs: what each must contain, as data.

pub(crate) mod verdict;

use crate::format::header::HANDOFF;
use crate::format::section::SectionMeaning;
use crate::text::id::{HandoffId, HandoffKey};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The table that ships with midstride.
const SHIPPED: &str = include_str!("stages.toml");

/// What kinds and stages there are and what they require.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stages {
    /// Capabilities that are decided one by one.
    pub capabilities: Option<Vec<String>>,
    /// Fields in which an empty list states that there are none.
    pub may_be_empty: Option<Vec<String>>,
    /// Requirements by kind.
    #[serde(default)]
    pub kinds: BTreeMap<String, KindRule>,
    /// Requirements by stage.
    #[serde(default)]
    pub stages: BTreeMap<String, StageRule>,
    /// Whether the project uses a pipeline: it has a pipeline folder, or it defines stages. Without
    /// one, no document is taken for a stage unless it says that it is one.
    #[serde(skip)]
    pub has_pipeline: bool,
}

/// What a kind of handoff requires. What is not said is as it ships.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct KindRule {
    requires: Option<Vec<String>>,
    sections: Option<Vec<String>>,
}

/// What a stage requires. What is not said is as it ships.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct StageRule {
    /// The pipeline's folder it lies in.
    pub folder: Option<String>,
    /// Who writes it.
    pub from: Option<String>,
    to: Option<Vec<String>>,
    requires: Option<Vec<String>>,
    upstream: Option<Vec<String>>,
    capabilities: Option<bool>,
    verdict: Option<bool>,
}

impl KindRule {
    /// The keys that are known in one.
    pub const KEYS: [&str; 2] = ["requires", "sections"];
}

impl StageRule {
    /// The keys that are known in one.
    pub const KEYS: [&str; 7] =
        ["folder", "from", "to", "requires", "upstream", "capabilities", "verdict"];
}

impl Stages {
    /// The table that ships with midstride.
    pub fn shipped() -> Self {
        toml_edit::de::from_str(SHIPPED).expect("the shipped table is read by a test")
    }

    /// This table with what a project says over it.
    #[must_use]
    pub fn with_project(mut self, project: Self) -> Self {
        self.capabilities = project.capabilities.or(self.capabilities);
        self.may_be_empty = project.may_be_empty.or(self.may_be_empty);
        for (name, own) in project.kinds {
            let shipped = self.kinds.remove(&name).unwrap_or_default();
            let rule = KindRule {
                requires: own.requires.or(shipped.requires),
                sections: own.sections.or(shipped.sections),
            };
            self.kinds.insert(name, rule);
        }
        self.has_pipeline |= project.has_pipeline || !project.stages.is_empty();
        for (name, own) in project.stages {
            let shipped = self.stages.remove(&name).unwrap_or_default();
            let rule = StageRule {
                folder: own.folder.or(shipped.folder),
                from: own.from.or(shipped.from),
                to: own.to.or(shipped.to),
                requires: own.requires.or(shipped.requires),
                upstream: own.upstream.or(shipped.upstream),
                capabilities: own.capabilities.or(shipped.capabilities),
                verdict: own.verdict.or(shipped.verdict),
            };
            self.stages.insert(name, rule);
        }
        self
    }

    /// What in the table cannot be meant: names that are no names, fields and stages that do not
    /// exist.
    pub fn problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        let kinds = self.kinds.iter().map(|(name, rule)| (name, rule.requires()));
        let stages = self.stages.iter().map(|(name, rule)| (name, rule.requires()));
        for (name, requires) in kinds.chain(stages) {
            for field in requires {
                let first = field.split('.').next().unwrap_or_default();
                if HANDOFF.field(first).is_none() {
                    found.push(format!("`{name}` requires `{field}`, which is no field"));
                }
            }
        }
        for (name, rule) in &self.kinds {
            for section in rule.sections.iter().flatten() {
                if meaning_of_name(section).is_none() {
                    found.push(format!("`{name}` wants a section `{section}`, which is not known"));
                }
            }
        }
        for (name, rule) in &self.stages {
            for part in std::iter::once(name).chain(&rule.folder) {
                if let Err(why) = HandoffId::parse(part) {
                    found.push(format!("`{part}` cannot name a stage or its folder: {why}"));
                }
            }
            for upstream in rule.upstream() {
                if !self.stages.contains_key(upstream) {
                    found.push(format!("`{name}` builds on `{upstream}`, which is no stage"));
                }
            }
        }
        found
    }

    /// Capabilities that are decided one by one.
    pub fn capabilities(&self) -> &[String] {
        self.capabilities.as_deref().unwrap_or_default()
    }

    /// Whether an empty list in a field states that there are none.
    pub fn may_be_empty(&self, field: &str) -> bool {
        self.may_be_empty.iter().flatten().any(|name| name == field)
    }

    /// The stage that lies in a folder of the pipeline.
    pub fn stage_of_folder(&self, folder: &str) -> Option<&str> {
        self.find(|rule| rule.folder.as_deref() == Some(folder))
    }

    /// The stage that an agent writes.
    pub fn stage_of_agent(&self, agent: &str) -> Option<&str> {
        self.find(|rule| rule.from.as_deref() == Some(agent))
    }

    fn find(&self, fits: impl Fn(&StageRule) -> bool) -> Option<&str> {
        self.stages.iter().find(|(_, rule)| fits(rule)).map(|(name, _)| name.as_str())
    }

    /// The stages that are derived from this one.
    pub fn derived_from<'s>(&'s self, stage: &str) -> impl Iterator<Item = &'s str> {
        let derived = move |rule: &StageRule| rule.upstream().iter().any(|name| name == stage);
        self.stages.iter().filter(move |(_, rule)| derived(rule)).map(|(name, _)| name.as_str())
    }

    /// Whether a reference leads to the document of a stage: it is its key, its file on a shelf of
    /// ours, or a file of that id in the folder of the stage.
    pub fn is_reference_to(&self, reference: &str, key: &HandoffKey) -> bool {
        let reference = reference.split('#').next().unwrap_or_default().trim();
        if reference == key.to_string() {
            return true;
        }
        let Some(stage) = key.stage.as_deref().filter(|_| !reference.contains("://")) else {
            return false;
        };
        let path = Path::new(reference);
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let parent = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        let behind_id = stem.strip_prefix(&key.id);
        let is_of_id = behind_id.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        let folder = self.stages.get(stage).and_then(|rule| rule.folder.as_deref());
        let is_own = parent == Some(key.id.as_str()) && stem == stage;
        is_own || (is_of_id && parent.is_some() && parent == folder)
    }

    /// The names of all stages.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.stages.keys().map(String::as_str)
    }
}

impl KindRule {
    /// Fields of the header.
    pub fn requires(&self) -> &[String] {
        self.requires.as_deref().unwrap_or_default()
    }

    /// The meanings of which at least one section must have one.
    pub fn meanings(&self) -> Vec<SectionMeaning> {
        self.sections.iter().flatten().filter_map(|name| meaning_of_name(name)).collect()
    }
}

impl StageRule {
    /// For whom it is written.
    pub fn to(&self) -> &[String] {
        self.to.as_deref().unwrap_or_default()
    }

    /// Fields of the header; a dot leads into a field.
    pub fn requires(&self) -> &[String] {
        self.requires.as_deref().unwrap_or_default()
    }

    /// Stages it builds on, all of them.
    pub fn upstream(&self) -> &[String] {
        self.upstream.as_deref().unwrap_or_default()
    }

    /// Whether its decision is a verdict: approved or blocked.
    pub fn gives_verdict(&self) -> bool {
        self.verdict.unwrap_or(false)
    }

    /// Whether each capability is decided here.
    pub fn decides_capabilities(&self) -> bool {
        self.capabilities.unwrap_or(false)
    }
}

fn meaning_of_name(name: &str) -> Option<SectionMeaning> {
    SectionMeaning::from_title(&name.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_has_known_keys_only() {
        let table: toml_edit::DocumentMut = SHIPPED.parse().unwrap();
        let known = [("kinds", &KindRule::KEYS[..]), ("stages", &StageRule::KEYS[..])];
        for (name, keys) in known {
            let rules = table[name].as_table_like().unwrap();
            for (_, rule) in rules.iter() {
                let strange =
                    rule.as_table_like().unwrap().iter().find(|(key, _)| !keys.contains(key));
                assert!(strange.is_none(), "{strange:?}");
            }
        }
    }

    #[test]
    fn the_shipped_table_is_whole() {
        let stages = Stages::shipped();
        assert_eq!(stages.problems(), Vec::<String>::new());
        assert_eq!(stages.capabilities().len(), 4);
        assert!(stages.stages.values().all(|rule| !rule.requires().is_empty()));
        assert_eq!(stages.stage_of_folder("briefs"), Some("discovery"));
        assert_eq!(stages.stage_of_agent("architect"), Some("design"));
        assert_eq!(stages.derived_from("discovery").collect::<Vec<_>>(), ["pricing", "spec"]);
        assert_eq!(stages.stages["design"].upstream(), ["spec", "pricing"]);
        let every = stages.names().filter(|name| *name != "review");
        let ends: Vec<&str> =
            every.filter(|name| stages.derived_from(name).next().is_none()).collect();
        assert!(ends.is_empty(), "{ends:?} lead nowhere");
        assert_eq!(stages.derived_from("review").count(), 0);
    }

    #[test]
    fn a_project_adds_and_changes_what_it_names() {
        let own = r#"
            capabilities = []
            [stages.threat-model]
            folder = "threats"
            requires = ["id"]
            [stages.discovery]
            requires = ["id", "landmines"]
        "#;
        let stages = Stages::shipped().with_project(toml_edit::de::from_str(own).unwrap());
        assert!(stages.capabilities().is_empty());
        assert_eq!(stages.stage_of_folder("threats"), Some("threat-model"));
        assert_eq!(stages.stage_of_folder("briefs"), Some("discovery"));
        assert_eq!(stages.stages["discovery"].requires(), ["id", "landmines"]);
        assert_eq!(stages.stages["discovery"].upstream(), ["request"]);
    }

    #[test]
    fn what_cannot_be_meant_is_told() {
        let own = r#"
            [stages."../x"]
            folder = "../../y"
            requires = ["idd"]
            upstream = ["nowhere"]
            [kinds.investigation]
            sections = ["diagnossis"]
        "#;
        let stages = Stages::shipped().with_project(toml_edit::de::from_str(own).unwrap());
        assert_eq!(stages.problems().len(), 5, "{:?}", stages.problems());
    }
}
