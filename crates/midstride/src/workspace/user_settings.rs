//! The user's configuration and the machine's policy: in which projects midstride stores and briefs,
//! and for how long it keeps captured sessions. `Workspace` asks once when it opens a project.

use super::settings::{SettingsError, SettingsProblem, unknown_in};
use crate::sys::env::Environment;
use crate::sys::files;
use glob::{MatchOptions, Pattern, PatternError};
use serde::Deserialize;
use serde::de::{self, Deserializer};
use std::fmt;
use std::path::{Path, PathBuf};
use toml_edit::{Document, Item};

/// The file in the user's folder for midstride's configuration.
const FILE: &str = "config.toml";
/// How long captured sessions are kept unless the user says otherwise.
const RETENTION_DAYS: u32 = 90;

/// The user's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct UserSettings {
    /// Where sessions are captured, and for how long they are kept.
    pub capture: CaptureSettings,
}

/// Where sessions are captured, and for how long they are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CaptureSettings {
    /// Patterns of the projects in which midstride does nothing.
    pub exclude: Vec<String>,
    /// If there are any, patterns of the only projects in which midstride does something.
    pub only: Vec<String>,
    /// How long captured sessions are kept.
    pub retention: Option<Retention>,
}

impl CaptureSettings {
    const KEYS: [&str; 3] = ["exclude", "only", "retention"];
}

/// How long captured sessions are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// This number of days.
    Days(u32),
    /// Until the user deletes them.
    Forever,
}

impl Default for Retention {
    fn default() -> Self {
        Self::Days(RETENTION_DAYS)
    }
}

impl fmt::Display for Retention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Days(1) => write!(f, "1 day"),
            Self::Days(days) => write!(f, "{days} days"),
            Self::Forever => write!(f, "forever"),
        }
    }
}

impl<'de> Deserialize<'de> for Retention {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum RetentionValue {
            Days(u32),
            Text(String),
        }
        match RetentionValue::deserialize(deserializer)? {
            RetentionValue::Days(days) if days > 0 => Ok(Self::Days(days)),
            RetentionValue::Text(text) if text == "forever" => Ok(Self::Forever),
            RetentionValue::Days(_) | RetentionValue::Text(_) => {
                Err(de::Error::custom("expected a number of days greater than 0, or \"forever\""))
            }
        }
    }
}

/// The policy of a machine, which an administrator writes. It wins over every other setting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Policy {
    capture: Option<PolicyCapture>,
    /// The projects that `only` allows.
    paths: Vec<String>,
    retention: Option<Retention>,
    sync: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PolicyCapture {
    Off,
    Only,
}

/// Why midstride stores and briefs nothing in a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exclusion {
    /// The policy of this machine, in this file.
    Policy(PathBuf),
    /// A pattern in the user's `capture.exclude`.
    Pattern(String),
    /// The user's `capture.only` lists other projects.
    NotListed,
    /// The project is the user's home folder.
    HomeFolder,
    /// The rules cannot be read, so that it is unknown whether the project is excluded.
    Unreadable(String),
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy(file) => {
                write!(f, "this machine's policy (`{}`) excludes this project", file.display())
            }
            Self::Pattern(pattern) => {
                write!(f, "your `capture.exclude` setting excludes this project (`{pattern}`)")
            }
            Self::NotListed => write!(f, "your `capture.only` setting does not list this project"),
            Self::HomeFolder => {
                write!(f, "this is your home directory, which midstride skips")
            }
            Self::Unreadable(why) => write!(f, "{why}"),
        }
    }
}

/// What the user and the machine allow.
#[derive(Debug)]
pub(super) struct UserRules {
    user: UserSettings,
    policies: Vec<(PathBuf, Policy)>,
    error: Option<(PathBuf, SettingsProblem)>,
}

impl UserRules {
    /// Reads the user's configuration and the policies. The first error is kept: then nothing is
    /// allowed.
    pub(super) fn read(environment: &Environment) -> Self {
        let mut rules = Self { user: UserSettings::default(), policies: Vec::new(), error: None };
        for file in environment.policy_files() {
            match read_file(&file, |text| Ok(toml_edit::de::from_str(text)?)) {
                Ok(policy) => rules.policies.extend(policy.map(|policy| (file, policy))),
                Err(problem) => rules.error = Some((file, problem)),
            }
        }
        if let Some(file) = user_file(environment) {
            match read_file(&file, UserSettings::parse) {
                Ok(user) => rules.user = user.unwrap_or_default(),
                Err(problem) => rules.error = Some((file, problem)),
            }
        }
        rules
    }

    /// Why midstride does nothing in a project with these folders.
    pub(super) fn exclusion(
        &self,
        environment: &Environment,
        folders: &[&Path],
    ) -> Option<Exclusion> {
        if let Some((file, problem)) = &self.error {
            return Some(Exclusion::Unreadable(problem_text(file, problem)));
        }
        let home = environment.home.as_deref();
        let matching = |patterns: &[String]| find_match(patterns, home, folders);
        for (file, policy) in &self.policies {
            let is_allowed = match policy.capture {
                None => true,
                Some(PolicyCapture::Off) => false,
                Some(PolicyCapture::Only) => matching(&policy.paths).is_some(),
            };
            if !is_allowed {
                return Some(Exclusion::Policy(file.clone()));
            }
        }
        let CaptureSettings { exclude, only, .. } = &self.user.capture;
        if let Some(pattern) = matching(exclude) {
            return Some(Exclusion::Pattern(pattern));
        }
        let is_listed = only.is_empty() || matching(only).is_some();
        (!is_listed).then_some(Exclusion::NotListed)
    }

    /// How long captured sessions are kept: the shortest time that the user or a policy sets.
    pub(super) fn retention(&self) -> Retention {
        let policies = self.policies.iter().filter_map(|(_, policy)| policy.retention);
        let user = self.user.capture.retention.unwrap_or_default();
        policies.fold(user, |kept, other| match (kept, other) {
            (Retention::Days(kept), Retention::Days(other)) => Retention::Days(kept.min(other)),
            (Retention::Forever, days) | (days, Retention::Forever) => days,
        })
    }

    /// The policy file that forbids `midstride sync`.
    pub(super) fn forbids_sync(&self) -> Option<&Path> {
        let mut policies = self.policies.iter();
        policies.find(|(_, policy)| policy.sync == Some(false)).map(|(file, _)| file.as_path())
    }

    /// The error, as that of a configuration.
    pub(super) fn take_error(&mut self) -> Option<SettingsError> {
        let (path, problem) = self.error.take()?;
        Some(SettingsError::Text { path, problem })
    }
}

/// The file with the user's configuration, whether or not it exists.
pub fn user_file(environment: &Environment) -> Option<PathBuf> {
    environment.config_folder().map(|folder| folder.join(FILE))
}

fn problem_text(file: &Path, problem: &SettingsProblem) -> String {
    format!("cannot parse `{}`: {problem}", file.display())
}

fn read_file<T>(
    file: &Path,
    parse: impl Fn(&str) -> Result<T, SettingsProblem>,
) -> Result<Option<T>, SettingsProblem> {
    files::read_small(file)?.map(|text| parse(&text)).transpose()
}

impl UserSettings {
    /// Parses the user's configuration.
    pub fn parse(text: &str) -> Result<Self, SettingsProblem> {
        let settings: Self = toml_edit::de::from_str(text)?;
        if let Ok(document) = text.parse::<Document<String>>() {
            unknown_in(text, document.as_table(), "", &["capture"])?;
            if let Some(capture) = document.get("capture").and_then(Item::as_table_like) {
                unknown_in(text, capture, "capture.", &CaptureSettings::KEYS)?;
            }
        }
        for pattern in settings.capture.exclude.iter().chain(&settings.capture.only) {
            parse_pattern(pattern, None).map_err(|error| SettingsProblem::Pattern {
                pattern: pattern.clone(),
                problem: error.msg.to_owned(),
            })?;
        }
        Ok(settings)
    }
}

/// The first pattern that matches one of the folders. A pattern without wildcards matches the folder
/// and everything below it.
fn find_match(patterns: &[String], home: Option<&Path>, folders: &[&Path]) -> Option<String> {
    const OPTIONS: MatchOptions = MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: false,
    };
    let matches = |pattern: &&String| {
        let below = format!("{}/**", pattern.trim_end_matches('/'));
        let is_literal = !pattern.contains(['*', '?', '[']);
        let patterns = [Some(pattern.as_str()), is_literal.then_some(below.as_str())];
        let parsed = patterns.into_iter().flatten().filter_map(|one| parse_pattern(one, home).ok());
        parsed
            .into_iter()
            .any(|parsed| folders.iter().any(|folder| parsed.matches_path_with(folder, OPTIONS)))
    };
    patterns.iter().find(matches).cloned()
}

/// Parses a pattern. Links in its first folders, up to the first wildcard, are resolved, because the
/// folders of projects are.
fn parse_pattern(pattern: &str, home: Option<&Path>) -> Result<Pattern, PatternError> {
    let pattern = match (pattern.strip_prefix('~'), home) {
        (Some(below), Some(home)) if below.is_empty() || below.starts_with('/') => {
            format!("{}{below}", home.display())
        }
        _ => pattern.to_owned(),
    };
    let is_literal = |part: &&str| !part.contains(['*', '?', '[']);
    let parts: Vec<&str> = pattern.split('/').collect();
    let literal = parts.iter().take_while(|part| is_literal(part)).count();
    let start = files::canonical(Path::new(&parts[..literal].join("/")));
    let rest = parts[literal..].join("/");
    let start = Pattern::escape(&start.to_string_lossy());
    Pattern::new(if rest.is_empty() { start } else { format!("{start}/{rest}") }.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, folder: &str) -> bool {
        let patterns = [pattern.to_owned()];
        find_match(&patterns, Some(Path::new("/nowhere/ada")), &[Path::new(folder)]).is_some()
    }

    #[test]
    fn patterns_match_folders() {
        for (pattern, folder, expected) in [
            ("~/clients/**", "/nowhere/ada/clients/acme", true),
            ("~/clients/**", "/nowhere/ada/clients/acme/web", true),
            ("~/clients/**", "/nowhere/ada/clients-old/acme", false),
            ("~/clients/*", "/nowhere/ada/clients/acme/web", false),
            ("~/clients", "/nowhere/ada/clients", true),
            ("~/clients/", "/nowhere/ada/clients/acme/web", true),
            ("~/clients", "/nowhere/ada/clients-old", false),
            ("/nowhere/**/secret", "/nowhere/ada/x/secret", true),
            ("/nowhere/ada/[x]", "/nowhere/ada/x", true),
            ("~bob/clients", "/nowhere/ada/clients", false),
        ] {
            assert_eq!(matches(pattern, folder), expected, "{pattern} {folder}");
        }
    }

    #[test]
    fn retention_is_a_number_of_days_or_forever() {
        let parse = |text: &str| UserSettings::parse(&format!("[capture]\nretention = {text}\n"));
        assert_eq!(parse("30").unwrap().capture.retention, Some(Retention::Days(30)));
        assert_eq!(parse("\"forever\"").unwrap().capture.retention, Some(Retention::Forever));
        for wrong in ["0", "-1", "\"soon\"", "true"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn misspelled_keys_and_patterns_are_errors() {
        for (text, expected) in [
            ("[captures]\n", "did you mean `capture`?"),
            ("[capture]\nexcludes = []\n", "did you mean `exclude`?"),
            ("[capture]\nexclude = [\"~/a**b\"]\n", "`~/a**b`"),
        ] {
            let error = UserSettings::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert!(UserSettings::parse("[later]\nkey = 1\n").is_ok());
    }

    #[test]
    fn the_shortest_retention_wins() {
        let policy = |text: &str| toml_edit::de::from_str::<Policy>(text).unwrap();
        let rules = |user: &str, policies: &[&str]| UserRules {
            user: UserSettings::parse(user).unwrap(),
            policies: policies.iter().map(|text| (PathBuf::new(), policy(text))).collect(),
            error: None,
        };
        assert_eq!(rules("", &[]).retention(), Retention::Days(90));
        let forever = "[capture]\nretention = \"forever\"\n";
        assert_eq!(rules(forever, &[]).retention(), Retention::Forever);
        assert_eq!(rules(forever, &["retention = 7"]).retention(), Retention::Days(7));
        assert_eq!(rules("", &["retention = 120"]).retention(), Retention::Days(90));
    }
}
