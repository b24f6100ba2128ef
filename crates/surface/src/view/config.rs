//! Renders settings.

use super::sanitize;
use crate::json::JsonAnswer;
use midstride::verbs::SettingKey;
use serde::Serialize;
use std::path::PathBuf;

/// The settings in one file, with their values.
pub type FileSettings = (PathBuf, Vec<(SettingKey, Vec<String>)>);

/// The settings as JSON.
#[derive(Serialize)]
pub struct ConfigJson {
    settings: Vec<SettingJson>,
}

impl JsonAnswer for ConfigJson {
    const SCHEMA: &'static str = "config/1";
}

#[derive(Serialize)]
struct SettingJson {
    key: &'static str,
    values: Vec<String>,
    file: String,
}

/// The JSON for settings.
pub fn json(files: &[FileSettings]) -> ConfigJson {
    let in_file = |(file, settings): &FileSettings| -> Vec<SettingJson> {
        let file = file.display().to_string();
        let setting = |(key, values): &(SettingKey, Vec<String>)| SettingJson {
            key: key.name,
            values: values.clone(),
            file: file.clone(),
        };
        settings.iter().map(setting).collect()
    };
    ConfigJson { settings: files.iter().flat_map(in_file).collect() }
}

/// The settings by file, with what each one does.
pub fn text(files: &[FileSettings]) -> String {
    let names = files.iter().flat_map(|(_, settings)| settings).map(|(key, _)| key.name.len());
    let width = names.max().unwrap_or_default();
    let line = |(key, values): &(SettingKey, Vec<String>)| {
        let values = if values.is_empty() { "not set".to_owned() } else { values.join(" ") };
        format!("  {:width$}  {}  ({})\n", key.name, sanitize(&values), key.about)
    };
    let block = |(file, settings): &FileSettings| {
        let lines: String = settings.iter().map(line).collect();
        format!("{}\n{lines}", sanitize(&file.display().to_string()))
    };
    files.iter().map(block).collect::<Vec<String>>().join("\n")
}
