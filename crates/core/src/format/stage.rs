//! Requirements for each kind and pipeline stage of a handoff, loaded from a table.

pub(crate) mod verdict;

use crate::format::header::HANDOFF;
use crate::format::section::SectionMeaning;
use crate::text::id::{HandoffId, HandoffKey};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The requirements that ship with midstride.
const SHIPPED: &str = include_str!("stages.toml");

/// All kinds and stages, and what they require.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stages {
    /// The capabilities that each need a decision.
    pub capabilities: Option<Vec<String>>,
    /// The fields in which an empty list means that there are none.
    pub may_be_empty: Option<Vec<String>>,
    /// Requirements by kind.
    #[serde(default)]
    pub kinds: BTreeMap<String, KindRule>,
    /// Requirements by stage.
    #[serde(default)]
    pub stages: BTreeMap<String, StageRule>,
    /// Whether the project uses a pipeline: it has a pipeline folder, or defines stages or
    /// capabilities. Without a pipeline, a document is a stage only if it declares one, and decides on
    /// no capabilities.
    #[serde(skip)]
    pub has_pipeline: bool,
}

/// The requirements of a kind of handoff. Missing values keep the shipped ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct KindRule {
    requires: Option<Vec<String>>,
    sections: Option<Vec<String>>,
}

/// The requirements of a stage. Missing values keep the shipped ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct StageRule {
    /// The pipeline folder that contains its documents.
    pub folder: Option<String>,
    /// The agent that writes it.
    pub from: Option<String>,
    to: Option<Vec<String>>,
    requires: Option<Vec<String>>,
    upstream: Option<Vec<String>>,
    capabilities: Option<bool>,
    verdict: Option<bool>,
}

impl KindRule {
    /// The known keys of a rule.
    pub const KEYS: [&str; 2] = ["requires", "sections"];
}

impl StageRule {
    /// The known keys of a rule.
    pub const KEYS: [&str; 7] =
        ["folder", "from", "to", "requires", "upstream", "capabilities", "verdict"];
}

impl Stages {
    /// The requirements that ship with midstride.
    pub fn shipped() -> Self {
        toml_edit::de::from_str(SHIPPED).expect("the shipped table is read by a test")
    }

    /// Overrides these requirements with those of a project.
    #[must_use]
    pub fn with_project(mut self, project: Self) -> Self {
        self.has_pipeline |= project.capabilities.as_ref().is_some_and(|own| !own.is_empty());
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

    /// The mistakes in the table: invalid names, and fields, sections and stages that do not exist.
    pub fn problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        let kinds = self.kinds.iter().map(|(name, rule)| (name, rule.requires()));
        let stages = self.stages.iter().map(|(name, rule)| (name, rule.requires()));
        for (name, requires) in kinds.chain(stages) {
            for field in requires {
                let first = field.split('.').next().unwrap_or_default();
                if HANDOFF.field(first).is_none() {
                    found.push(format!("`{name}` requires `{field}`, which is not a field"));
                }
            }
        }
        for (name, rule) in &self.kinds {
            for section in rule.sections.iter().flatten() {
                if meaning_of_name(section).is_none() {
                    found.push(format!(
                        "`{name}` requires `{section}`, which is not a known section"
                    ));
                }
            }
        }
        for (name, rule) in &self.stages {
            for part in std::iter::once(name).chain(&rule.folder) {
                if let Err(why) = HandoffId::parse(part) {
                    found.push(format!(
                        "`{part}` cannot be the name of a stage or its folder: {why}"
                    ));
                }
            }
            for upstream in rule.upstream() {
                if !self.stages.contains_key(upstream) {
                    found.push(format!("`{name}` builds on `{upstream}`, which is not a stage"));
                }
            }
        }
        found
    }

    /// The capabilities that each need a decision. A project without a pipeline has none.
    pub fn capabilities(&self) -> &[String] {
        let own = self.capabilities.as_deref().filter(|_| self.has_pipeline);
        own.unwrap_or_default()
    }

    /// Whether an empty list in a field means that there are none.
    pub fn may_be_empty(&self, field: &str) -> bool {
        self.may_be_empty.iter().flatten().any(|name| name == field)
    }

    /// The stage of a pipeline folder.
    pub fn stage_of_folder(&self, folder: &str) -> Option<&str> {
        self.find(|rule| rule.folder.as_deref() == Some(folder))
    }

    /// The stage that an agent writes.
    pub(crate) fn stage_of_agent(&self, agent: &str) -> Option<&str> {
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

    /// Whether a reference points to the document of a stage. It may be the key, the document's
    /// file `id/stage`, or a file with that id in the folder of the stage.
    pub(crate) fn is_reference_to(&self, reference: &str, key: &HandoffKey) -> bool {
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
    /// The required header fields.
    pub fn requires(&self) -> &[String] {
        self.requires.as_deref().unwrap_or_default()
    }

    /// The accepted section meanings. At least one section must have one of them.
    pub(crate) fn meanings(&self) -> Vec<SectionMeaning> {
        self.sections.iter().flatten().filter_map(|name| meaning_of_name(name)).collect()
    }
}

impl StageRule {
    /// The recipients of the document.
    pub fn to(&self) -> &[String] {
        self.to.as_deref().unwrap_or_default()
    }

    /// The required header fields. A dot separates nested fields.
    pub fn requires(&self) -> &[String] {
        self.requires.as_deref().unwrap_or_default()
    }

    /// The stages it builds on.
    pub fn upstream(&self) -> &[String] {
        self.upstream.as_deref().unwrap_or_default()
    }

    /// Whether it decides on a verdict: approved or blocked.
    pub(crate) fn gives_verdict(&self) -> bool {
        self.verdict.unwrap_or(false)
    }

    /// Whether it needs a decision on each capability.
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
                let unknown =
                    rule.as_table_like().unwrap().iter().find(|(key, _)| !keys.contains(key));
                assert!(unknown.is_none(), "{unknown:?}");
            }
        }
    }

    #[test]
    fn the_shipped_table_is_consistent() {
        let stages = Stages::shipped();
        assert_eq!(stages.problems(), Vec::<String>::new());
        assert_eq!(stages.capabilities.as_ref().map(Vec::len), Some(4));
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
    fn a_project_overrides_only_the_stages_it_names() {
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
    fn only_a_project_with_a_pipeline_decides_on_capabilities() {
        assert_eq!(Stages::shipped().capabilities(), [""; 0]);
        let with_folder = Stages { has_pipeline: true, ..Stages::shipped() };
        assert_eq!(with_folder.capabilities().len(), 4);
        let configured =
            |own| Stages::shipped().with_project(toml_edit::de::from_str(own).unwrap());
        assert_eq!(configured("capabilities = [\"billing\"]").capabilities(), ["billing"]);
        assert_eq!(configured("[stages.spec]").capabilities().len(), 4);
        assert!(!configured("capabilities = []").has_pipeline);
    }

    #[test]
    fn mistakes_in_a_stage_table_are_reported() {
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
