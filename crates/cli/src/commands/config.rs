use super::CliOutcome;
use crate::ui::Ui;
use clap::Subcommand;
use midstride::sys::env::Environment;
use midstride::verbs::{ConfigError, ConfigFile, SETTING_KEYS, SettingKey, SettingScope};
use midstride::workspace::Workspace;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;
use midstride_surface::view::config::FileSettings;

/// Show and change settings
///
/// Your settings apply to all of your projects. They control where midstride captures sessions and
/// how long it keeps them. A pattern such as `~/clients/**` matches project folders; `~/clients`
/// matches that folder and everything in it.
///
/// Repository settings are in `.midstride/config.toml`, or in `.git/midstride` if midstride commits
/// nothing in the repository. They control which folders contain handoffs, how large briefings may
/// be, and what hooks may do.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride config list
  midstride config set capture.exclude '~/clients/**' '~/secret'
  midstride config set capture.retention 30
  midstride config set brief.budget 800
  midstride config edit
  midstride config edit --repo")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Show all settings
    #[command(after_help = "Examples:
  midstride config list
  midstride config list --json")]
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a setting's values, one per line
    #[command(after_help = "Examples:
  midstride config get capture.retention")]
    Get {
        /// The setting, such as `capture.exclude`
        key: String,
    },
    /// Change a setting
    #[command(after_help = "Examples:
  midstride config set capture.retention 30
  midstride config set capture.exclude '~/clients/**' '~/secret'
  midstride config set folders notes/handoffs")]
    Set {
        /// The setting, such as `capture.exclude`
        key: String,
        /// The new value; a list accepts several
        #[arg(required = true)]
        values: Vec<String>,
    },
    /// Open settings in your editor
    #[command(after_help = "Examples:
  midstride config edit
  midstride config edit --repo")]
    Edit {
        /// Open this repository's settings instead of yours
        #[arg(long)]
        repo: bool,
    },
    /// Remove a setting
    #[command(after_help = "Examples:
  midstride config unset capture.retention")]
    Unset {
        /// The setting, such as `capture.exclude`
        key: String,
    },
}

pub(crate) fn config(
    ui: &mut Ui,
    environment: &Environment,
    args: ConfigArgs,
) -> Result<CliOutcome, Diagnostic> {
    // A broken configuration is repaired with this command.
    let workspace = Workspace::discover_ignoring_settings(environment.clone());
    let file = |scope| match scope {
        SettingScope::User => ConfigFile::read_user(environment),
        SettingScope::Repository => match &workspace {
            Ok(workspace) => ConfigFile::read_repository(workspace),
            Err(_) => Err(ConfigError::NoRepository),
        },
    };
    match args.command {
        ConfigCommand::List { json } => {
            let mut files = vec![settings_in(SettingScope::User, &file(SettingScope::User)?)?];
            match file(SettingScope::Repository) {
                Ok(file) => files.push(settings_in(SettingScope::Repository, &file)?),
                Err(ConfigError::NoRepository) => {}
                Err(error @ ConfigError::Untrusted(_)) => ui.warn(&error.into())?,
                Err(error) => return Err(error.into()),
            }
            if json {
                ui.print_json(&view::config::json(&files))?;
            } else {
                ui.print(&view::config::text(&files))?;
            }
        }
        ConfigCommand::Get { key } => {
            let key = SettingKey::find(&key)?;
            let values = file(key.scope)?.get(key)?;
            if values.is_empty() {
                return Ok(CliOutcome::Findings);
            }
            ui.print(&values.iter().map(|value| format!("{value}\n")).collect::<String>())?;
        }
        ConfigCommand::Edit { repo } => {
            let scope = if repo { SettingScope::Repository } else { SettingScope::User };
            let mut file = file(scope)?;
            if file.edit()? {
                ui.say(&format!("Changed {}", file.path().display()))?;
            } else {
                ui.say("Nothing was changed.")?;
            }
        }
        ConfigCommand::Set { key, values } => {
            let key = SettingKey::find(&key)?;
            change(ui, file(key.scope)?, key, &values)?;
        }
        ConfigCommand::Unset { key } => {
            let key = SettingKey::find(&key)?;
            change(ui, file(key.scope)?, key, &[])?;
        }
    }
    Ok(CliOutcome::Clean)
}

/// The settings in a file, with their values.
fn settings_in(scope: SettingScope, file: &ConfigFile<'_>) -> Result<FileSettings, Diagnostic> {
    let keys = SETTING_KEYS.into_iter().filter(|key| key.scope == scope);
    let settings = keys.map(|key| Ok((key, file.get(key)?)));
    Ok((file.path().to_owned(), settings.collect::<Result<_, ConfigError>>()?))
}

fn change(
    ui: &mut Ui,
    mut file: ConfigFile<'_>,
    key: SettingKey,
    values: &[String],
) -> Result<(), Diagnostic> {
    let has_changed = file.set(key, values)?;
    let path = file.path().display();
    ui.say(&match (has_changed, values) {
        (false, []) => format!("{} is not set", key.name),
        (false, _) => format!("{} already has this value", key.name),
        (true, []) => format!("Removed {} from {path}", key.name),
        (true, _) => format!("Set {} in {path}", key.name),
    })?;
    Ok(())
}
