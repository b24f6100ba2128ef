//! Renders the user's settings.

use super::sanitize;
use crate::json::JsonAnswer;
use midstride::verbs::SettingKey;
use serde::Serialize;
use std::path::Path;

/// The settings as JSON.
#[derive(Serialize)]
pub struct ConfigJson {
    file: String,
    settings: Vec<SettingJson>,
}

impl JsonAnswer for ConfigJson {
    const SCHEMA: &'static str = "config/1";
}

#[derive(Serialize)]
struct SettingJson {
    key: &'static str,
    values: Vec<String>,
}

/// The JSON for the settings in a file.
pub fn json(file: &Path, settings: &[(SettingKey, Vec<String>)]) -> ConfigJson {
    let setting = |(key, values): &(SettingKey, Vec<String>)| SettingJson {
        key: key.name,
        values: values.clone(),
    };
    ConfigJson {
        file: file.display().to_string(),
        settings: settings.iter().map(setting).collect(),
    }
}

/// The settings in a file, with what each one does.
pub fn text(file: &Path, settings: &[(SettingKey, Vec<String>)]) -> String {
    let width = settings.iter().map(|(key, _)| key.name.len()).max().unwrap_or_default();
    let line = |(key, values): &(SettingKey, Vec<String>)| {
        let values = if values.is_empty() { "not set".to_owned() } else { values.join(" ") };
        format!("  {:width$}  {}  ({})\n", key.name, sanitize(&values), key.about)
    };
    let lines: String = settings.iter().map(line).collect();
    format!("{}\n{lines}", sanitize(&file.display().to_string()))
}
