//! Reads and changes the user's settings. Comments and other settings in the file stay as they are.

use crate::sys::env::{Automation, Environment};
use crate::sys::files::{self, FileError, Root, ScratchFolder};
use crate::sys::process;
use crate::workspace::settings::SettingsProblem;
use crate::workspace::user_settings::{self, UserSettings};
use std::io;
use std::path::{Path, PathBuf};
use toml_edit::{Array, DocumentMut, Item, Table, Value};

/// A setting of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingKey {
    /// Its name, as in the file.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    kind: SettingKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SettingKind {
    Patterns,
    Days,
}

/// The settings of the user.
pub const SETTING_KEYS: [SettingKey; 3] = [
    SettingKey {
        name: "capture.exclude",
        about: "projects in which midstride does nothing",
        kind: SettingKind::Patterns,
    },
    SettingKey {
        name: "capture.only",
        about: "the only projects in which midstride does something",
        kind: SettingKind::Patterns,
    },
    SettingKey {
        name: "capture.retention",
        about: "days to keep captured sessions, or `forever`",
        kind: SettingKind::Days,
    },
];

/// Why a setting could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no such setting.
    #[error("there is no setting `{0}`")]
    Unknown(String),
    /// An agent or a proof runs the command.
    #[error("only the user can change these settings, but this runs inside {0}")]
    RequiresUser(Automation),
    /// The user has no home folder.
    #[error("there is no home directory for settings")]
    NoHome,
    /// No editor is set.
    #[error("no editor is set")]
    NoEditor,
    /// The editor could not be started.
    #[error("cannot start the editor: {0}")]
    Editor(io::Error),
    /// The setting takes one value.
    #[error("`{0}` takes one value")]
    OneValue(&'static str),
    /// The setting cannot have this value.
    #[error("invalid value for `{key}`: {}", problem.to_string().lines().last().unwrap_or_default())]
    InvalidValue {
        /// The name of the setting.
        key: &'static str,
        /// What is wrong with it.
        problem: SettingsProblem,
    },
    /// The file is invalid.
    #[error("cannot parse `{}`: {problem}", path.display())]
    Invalid {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with it.
        problem: SettingsProblem,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl SettingKey {
    /// Finds a setting by its name.
    pub fn find(name: &str) -> Result<Self, ConfigError> {
        let found = SETTING_KEYS.into_iter().find(|key| key.name == name);
        found.ok_or_else(|| ConfigError::Unknown(name.to_owned()))
    }

    /// The table and the key in it.
    fn path(self) -> (&'static str, &'static str) {
        self.name.split_once('.').expect("every key is in a table")
    }
}

/// The user's settings file, as it is.
#[derive(Debug)]
pub struct UserConfig {
    path: PathBuf,
    document: DocumentMut,
}

impl UserConfig {
    /// Reads the file; empty if it does not exist.
    pub fn read(environment: &Environment) -> Result<Self, ConfigError> {
        let path = user_settings::user_file(environment).ok_or(ConfigError::NoHome)?;
        let text = files::read_small(&path)?.unwrap_or_default();
        let invalid = |problem| ConfigError::Invalid { path: path.clone(), problem };
        UserSettings::parse(&text).map_err(invalid)?;
        let document = text.parse::<DocumentMut>();
        let document = document.map_err(|error| invalid(SettingsProblem::Syntax(error)))?;
        Ok(Self { path, document })
    }

    /// The path of the file, whether or not it exists.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The values of a setting; empty if it is not set.
    pub fn get(&self, key: SettingKey) -> Vec<String> {
        let (table, name) = key.path();
        let item = self.document.get(table).and_then(|table| table.get(name));
        match item.and_then(Item::as_value) {
            Some(Value::Array(values)) => values.iter().map(plain).collect(),
            Some(value) => vec![plain(value)],
            None => Vec::new(),
        }
    }

    /// Sets a setting, or removes it if there are no values. Returns whether that changed anything.
    /// Only the user may: an exclusion that an agent lifts would let it capture what the user excluded.
    pub fn set(
        &mut self,
        environment: &Environment,
        key: SettingKey,
        values: &[String],
    ) -> Result<bool, ConfigError> {
        if let Some(automation) = environment.automation() {
            return Err(ConfigError::RequiresUser(automation));
        }
        let before = self.document.to_string();
        self.change(key, values)?;
        let after = self.document.to_string();
        UserSettings::parse(&after)
            .map_err(|problem| ConfigError::InvalidValue { key: key.name, problem })?;
        if after == before {
            return Ok(false);
        }
        let folder = self.path.parent().ok_or(ConfigError::NoHome)?;
        let file = self.path.file_name().ok_or(ConfigError::NoHome)?;
        Root::make_owner_only(folder)?.put(Path::new(file), after.as_bytes())?;
        Ok(true)
    }

    /// Opens a copy of the file in the user's editor, and keeps it if it is valid. Returns whether it
    /// changed.
    pub fn edit(environment: &Environment) -> Result<bool, ConfigError> {
        if let Some(automation) = environment.automation() {
            return Err(ConfigError::RequiresUser(automation));
        }
        let path = user_settings::user_file(environment).ok_or(ConfigError::NoHome)?;
        let before = files::read_small(&path)?.unwrap_or_default();
        let editor = environment.editor().ok_or(ConfigError::NoEditor)?;
        let (folder, name) = path.parent().zip(path.file_name()).ok_or(ConfigError::NoHome)?;
        let scratch = ScratchFolder::new("midstride-config")?;
        let copy = scratch.write(name, before.as_bytes())?;
        process::edit(&editor, &copy).map_err(ConfigError::Editor)?;
        let after = files::read_small(&copy)?.unwrap_or_default();
        // If it is invalid, the copy stays, so that what the user typed is not lost.
        UserSettings::parse(&after)
            .map_err(|problem| ConfigError::Invalid { path: copy, problem })?;
        if after != before {
            Root::make_owner_only(folder)?.put(Path::new(name), after.as_bytes())?;
        }
        scratch.remove()?;
        Ok(after != before)
    }

    fn change(&mut self, key: SettingKey, values: &[String]) -> Result<(), ConfigError> {
        let (table, name) = key.path();
        if values.is_empty() {
            if let Some(table) = self.document.get_mut(table).and_then(Item::as_table_like_mut) {
                table.remove(name);
            }
            return Ok(());
        }
        let value = match (key.kind, values) {
            (SettingKind::Patterns, values) => Value::Array(values.iter().collect::<Array>()),
            (SettingKind::Days, [value]) => match value.parse::<i64>() {
                Ok(days) => Value::from(days),
                Err(_) => Value::from(value.as_str()),
            },
            (SettingKind::Days, _) => return Err(ConfigError::OneValue(key.name)),
        };
        let table = self.document.entry(table).or_insert_with(|| Item::Table(Table::new()));
        if let Some(table) = table.as_table_like_mut() {
            table.insert(name, Item::Value(value));
        }
        Ok(())
    }
}

/// A value without quotes.
fn plain(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        // Without the comment behind it.
        None => value.clone().decorated("", "").to_string(),
    }
}
