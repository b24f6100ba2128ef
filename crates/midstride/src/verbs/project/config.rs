//! Reads and changes settings: the user's, and those of a repository. Comments and other settings in
//! the file stay as they are.

use crate::sys::env::{Automation, Environment};
use crate::sys::files::{self, FileError, Root, ScratchFolder};
use crate::sys::process;
use crate::workspace::settings::{Settings, SettingsProblem, TEMPLATE};
use crate::workspace::user_settings::{self, UserSettings};
use crate::workspace::{Access, CONFIGURATION, PRIVATE_CONFIGURATION, SetupMode, Workspace};
use SettingScope::{Repository, User};
use std::io;
use std::path::{Path, PathBuf};
use toml_edit::{Array, DocumentMut, Item, RawString, Table, TableLike, Value};

/// A setting that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingKey {
    /// Its name, as in the file.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Which file it is in.
    pub scope: SettingScope,
    takes_several: bool,
}

/// Where a setting applies. Each scope has its own file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingScope {
    /// In all repositories of the user.
    User,
    /// In one repository.
    Repository,
}

const fn one(scope: SettingScope, name: &'static str, about: &'static str) -> SettingKey {
    SettingKey { name, about, scope, takes_several: false }
}

const fn several(scope: SettingScope, name: &'static str, about: &'static str) -> SettingKey {
    SettingKey { name, about, scope, takes_several: true }
}

/// The settings that have a name. Stages and redaction rules of a repository are tables: they are
/// changed in an editor.
pub const SETTING_KEYS: [SettingKey; 8] = [
    several(User, "capture.exclude", "projects that midstride ignores"),
    several(User, "capture.only", "the only projects that midstride runs in"),
    one(User, "capture.retention", "days to keep captured sessions, or `forever`; default: 90"),
    several(Repository, "folders", "additional folders and files with handoffs"),
    one(
        Repository,
        "brief.budget",
        "token budget for a new session's briefing, 0 for none; default: 500",
    ),
    one(Repository, "brief.headless", "whether to brief headless sessions"),
    one(Repository, "hooks.nudge", "whether to remind the agent once to save"),
    one(Repository, "hooks.stop_gate", "whether to keep the agent from stopping until it saves"),
];

/// Why a setting could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// There is no such setting.
    #[error("unknown setting `{0}`")]
    Unknown(String),
    /// An agent or a proof runs the command.
    #[error("only the user can change these settings, but this command is running inside {0}")]
    RequiresUser(Automation),
    /// A setting of a repository, outside of one.
    #[error("this folder is not in a git repository")]
    NoRepository,
    /// The configuration came with a clone that the user does not trust.
    #[error("`{}` is not trusted", .0.display())]
    Untrusted(PathBuf),
    /// The user has no home folder.
    #[error("no home directory to store settings in")]
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

    /// The table it is in, and the key there.
    fn path(self) -> (Option<&'static str>, &'static str) {
        match self.name.split_once('.') {
            Some((table, key)) => (Some(table), key),
            None => (None, self.name),
        }
    }
}

/// A file with settings, as it is.
#[derive(Debug)]
pub struct ConfigFile<'a> {
    place: ConfigPlace<'a>,
    path: PathBuf,
    text: String,
}

#[derive(Clone, Copy, Debug)]
enum ConfigPlace<'a> {
    User(&'a Environment),
    Repository(&'a Workspace),
}

impl<'a> ConfigFile<'a> {
    /// Reads the user's settings; empty if there is no file.
    pub fn read_user(environment: &'a Environment) -> Result<Self, ConfigError> {
        let path = user_settings::user_file(environment).ok_or(ConfigError::NoHome)?;
        let text = files::read_small(&path)?.unwrap_or_default();
        Ok(Self { place: ConfigPlace::User(environment), path, text })
    }

    /// Reads the settings of a repository; empty if there is no file. Those of a clone that the user does
    /// not trust are neither shown nor changed.
    pub fn read_repository(workspace: &'a Workspace) -> Result<Self, ConfigError> {
        let (root, file) = match workspace.setup() {
            SetupMode::NotSetUp => return Err(ConfigError::NoRepository),
            SetupMode::Committed => (Some(Root::open(workspace.root().path())?), CONFIGURATION),
            SetupMode::Private => (workspace.private()?, PRIVATE_CONFIGURATION),
        };
        let folder = root.as_ref().map_or(workspace.private_path(), |root| root.path().to_owned());
        let path = folder.join(file);
        if workspace.setup() == SetupMode::Committed && workspace.access() != Access::Granted {
            return Err(ConfigError::Untrusted(path));
        }
        let text = match root {
            Some(root) if root.try_exists(Path::new(file))? => root.read(Path::new(file))?,
            Some(_) | None => Vec::new(),
        };
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(Self { place: ConfigPlace::Repository(workspace), path, text })
    }

    /// The path of the file, whether or not it exists.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The values of a setting; empty if it is not set.
    pub fn get(&self, key: SettingKey) -> Result<Vec<String>, ConfigError> {
        let document = self.document()?;
        let (table, name) = key.path();
        let item = match table {
            Some(table) => document.get(table).and_then(|table| table.get(name)),
            None => document.get(name),
        };
        Ok(match item.and_then(Item::as_value) {
            Some(Value::Array(values)) => values.iter().map(plain).collect(),
            Some(value) => vec![plain(value)],
            None => Vec::new(),
        })
    }

    /// Sets a setting, or removes it if there are no values. Returns whether that changed anything.
    /// Only the user may: an exclusion that an agent lifts would let it capture what the user excluded.
    pub fn set(&mut self, key: SettingKey, values: &[String]) -> Result<bool, ConfigError> {
        self.check_user()?;
        let mut document = self.document()?;
        change(&mut document, key, values)?;
        let after = document.to_string();
        self.validate(&after)
            .map_err(|problem| ConfigError::InvalidValue { key: key.name, problem })?;
        self.write(after)
    }

    /// Opens a copy of the file in the user's editor, and keeps it if it is valid. Returns whether it
    /// changed. A new file of a repository starts with what can be set.
    pub fn edit(&mut self) -> Result<bool, ConfigError> {
        self.check_user()?;
        let editor = self.environment().editor().ok_or(ConfigError::NoEditor)?;
        let name = self.path.file_name().ok_or(ConfigError::NoHome)?;
        let offered = match self.place {
            ConfigPlace::Repository(_) if self.text.is_empty() => TEMPLATE,
            ConfigPlace::Repository(_) | ConfigPlace::User(_) => &self.text,
        };
        let scratch = ScratchFolder::new("midstride-config")?;
        let copy = scratch.write(name, offered.as_bytes())?;
        process::edit(&editor, &copy).map_err(ConfigError::Editor)?;
        let after = files::read_small(&copy)?.unwrap_or_default();
        // If it is invalid, the copy stays, so that what the user typed is not lost.
        self.validate(&after).map_err(|problem| ConfigError::Invalid { path: copy, problem })?;
        let has_changed = if after == offered { false } else { self.write(after)? };
        scratch.remove()?;
        Ok(has_changed)
    }

    fn environment(&self) -> &Environment {
        match self.place {
            ConfigPlace::User(environment) => environment,
            ConfigPlace::Repository(workspace) => workspace.environment(),
        }
    }

    fn check_user(&self) -> Result<(), ConfigError> {
        self.environment().automation().map_or(Ok(()), |it| Err(ConfigError::RequiresUser(it)))
    }

    /// The settings with their comments.
    fn document(&self) -> Result<DocumentMut, ConfigError> {
        let invalid = |problem| ConfigError::Invalid { path: self.path.clone(), problem };
        self.validate(&self.text).map_err(invalid)?;
        let document = self.text.parse::<DocumentMut>();
        document.map_err(|error| invalid(SettingsProblem::Syntax(error)))
    }

    fn validate(&self, text: &str) -> Result<(), SettingsProblem> {
        match self.place {
            ConfigPlace::User(_) => UserSettings::parse(text).map(drop),
            ConfigPlace::Repository(_) => Settings::parse(text).map(drop),
        }
    }

    /// Removes a file without settings, and the user's folder if nothing else is in it.
    fn remove(&self, root: &Root, file: &Path) -> Result<(), FileError> {
        root.remove(file, self.text.as_bytes())?;
        if let (ConfigPlace::User(_), Some(folder)) = (&self.place, self.path.parent()) {
            files::remove_empty_folder(folder);
        }
        Ok(())
    }

    /// Writes the file if its text is new. Returns whether it was.
    fn write(&mut self, text: String) -> Result<bool, ConfigError> {
        if text == self.text {
            return Ok(false);
        }
        let (root, file) = match self.place {
            ConfigPlace::User(_) => {
                let folder = self.path.parent().ok_or(ConfigError::NoHome)?;
                (Root::make_owner_only(folder)?, self.path.file_name().map(Path::new))
            }
            ConfigPlace::Repository(workspace) if workspace.setup() == SetupMode::Committed => {
                (Root::open(workspace.root().path())?, Some(Path::new(CONFIGURATION)))
            }
            ConfigPlace::Repository(workspace) => {
                (workspace.make_private()?, Some(Path::new(PRIVATE_CONFIGURATION)))
            }
        };
        let file = file.ok_or(ConfigError::NoHome)?;
        match text.trim().is_empty() {
            true => self.remove(&root, file)?,
            false => root.put(file, text.as_bytes())?,
        }
        self.text = text;
        Ok(true)
    }
}

fn change(
    document: &mut DocumentMut,
    key: SettingKey,
    values: &[String],
) -> Result<(), ConfigError> {
    let (table, name) = key.path();
    let value = match values {
        [] => None,
        values if key.takes_several => Some(Value::Array(values.iter().collect::<Array>())),
        [value] => Some(scalar(value)),
        _ => return Err(ConfigError::OneValue(key.name)),
    };
    let settings: Option<&mut dyn TableLike> = match (table, &value) {
        (None, _) => Some(document.as_table_mut()),
        (Some(table), None) => document.get_mut(table).and_then(Item::as_table_like_mut),
        (Some(table), Some(_)) => {
            let table = document.entry(table).or_insert_with(|| Item::Table(Table::new()));
            table.as_table_like_mut()
        }
    };
    match (settings, value) {
        (Some(settings), Some(value)) => settings.insert(name, Item::Value(value)),
        (Some(settings), None) => settings.remove(name),
        (None, _) => None,
    };
    remove_empty_table(document, table);
    Ok(())
}

/// Removes a table without settings and comments.
fn remove_empty_table(document: &mut DocumentMut, name: Option<&str>) {
    let Some((name, Item::Table(table))) = name.and_then(|name| Some((name, document.get(name)?)))
    else {
        return;
    };
    let has_comment = |raw: Option<&RawString>| {
        raw.and_then(RawString::as_str).is_some_and(|text| !text.trim().is_empty())
    };
    let decor = table.decor();
    let rest = document.trailing();
    if table.is_empty()
        && ![decor.prefix(), decor.suffix(), Some(rest)].into_iter().any(has_comment)
    {
        document.remove(name);
    }
}

/// A number, `true` or `false`, or a text.
fn scalar(text: &str) -> Value {
    let number = text.parse::<i64>().map(Value::from);
    number.or_else(|_| text.parse::<bool>().map(Value::from)).unwrap_or_else(|_| text.into())
}

/// A value without quotes.
fn plain(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        // Without the comment behind it.
        None => value.clone().decorated("", "").to_string(),
    }
}
