use super::CliOutcome;
use crate::ui::Ui;
use clap::Subcommand;
use midstride::sys::env::Environment;
use midstride::verbs::{SETTING_KEYS, SettingKey, UserConfig};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Show and change your settings
///
/// The settings apply to all of your projects: where midstride captures sessions, and how long it
/// keeps them. A pattern such as `~/clients/**` matches the folders of projects; `~/clients` matches
/// that folder and everything below it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride config list
  midstride config set capture.exclude '~/clients/**' '~/secret'
  midstride config set capture.retention 30
  midstride config edit")]
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
    /// Print the value of a setting, one per line
    #[command(after_help = "Examples:
  midstride config get capture.retention")]
    Get {
        /// The setting, such as `capture.exclude`
        key: String,
    },
    /// Change a setting
    #[command(after_help = "Examples:
  midstride config set capture.retention 30
  midstride config set capture.exclude '~/clients/**' '~/secret'")]
    Set {
        /// The setting, such as `capture.exclude`
        key: String,
        /// The new value; a list takes several
        #[arg(required = true)]
        values: Vec<String>,
    },
    /// Open the settings in your editor
    #[command(after_help = "Examples:
  midstride config edit")]
    Edit,
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
    let find = |name: &str| SettingKey::find(name).map_err(Diagnostic::from);
    match args.command {
        ConfigCommand::List { json } => {
            let config = UserConfig::read(environment)?;
            let settings = SETTING_KEYS.map(|key| (key, config.get(key)));
            if json {
                ui.print_json(&view::config::json(config.path(), &settings))?;
            } else {
                ui.print(&view::config::text(config.path(), &settings))?;
            }
        }
        ConfigCommand::Get { key } => {
            let values = UserConfig::read(environment)?.get(find(&key)?);
            if values.is_empty() {
                return Ok(CliOutcome::Findings);
            }
            ui.print(&values.iter().map(|value| format!("{value}\n")).collect::<String>())?;
        }
        ConfigCommand::Edit => {
            if !UserConfig::edit(environment)? {
                ui.say("Nothing was changed.")?;
            }
        }
        ConfigCommand::Set { key, values } => change(ui, environment, find(&key)?, &values)?,
        ConfigCommand::Unset { key } => change(ui, environment, find(&key)?, &[])?,
    }
    Ok(CliOutcome::Clean)
}

fn change(
    ui: &mut Ui,
    environment: &Environment,
    key: SettingKey,
    values: &[String],
) -> Result<(), Diagnostic> {
    let mut config = UserConfig::read(environment)?;
    let has_changed = config.set(environment, key, values)?;
    let path = config.path().display();
    ui.say(&match (has_changed, values) {
        (false, _) => format!("{} was already set this way", key.name),
        (true, []) => format!("Removed {} from {path}", key.name),
        (true, _) => format!("Set {} in {path}", key.name),
    })?;
    Ok(())
}
