//! `midstride help`: the pages that list the commands in groups.

mod groups;

pub(crate) use groups::GROUPS;

use super::CliOutcome;
use crate::ui::Ui;
use anstyle::Style;
use clap::Command;
use midstride_surface::diagnostic::Diagnostic;

/// Show help for midstride or a command
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride help
  midstride help --all
  midstride help session list")]
pub(crate) struct HelpArgs {
    /// A command, and its subcommand
    #[arg(conflicts_with = "all")]
    pub(crate) command: Vec<String>,

    /// List every command
    #[arg(long)]
    pub(crate) all: bool,
}

pub(crate) fn help(
    ui: &mut Ui,
    args: &HelpArgs,
    definition: &Command,
) -> Result<CliOutcome, Diagnostic> {
    ui.print(&if args.all { full_page(definition) } else { short_page(definition) })?;
    Ok(CliOutcome::Clean)
}

/// The commands that everyone needs. Fits a terminal of 80 columns and 24 lines.
pub(crate) fn short_page(definition: &Command) -> String {
    let mut page = format!("{}\n\n", about(definition));
    add_groups(&mut page, definition, |command| command.is_short);
    page.push_str("\nAll commands: midstride help --all   One command: midstride help COMMAND\n");
    page
}

/// Every command, the options that all commands take, and the exit codes.
fn full_page(definition: &Command) -> String {
    let mut page = format!("{}\n\nUsage: midstride [OPTIONS] [COMMAND]\n\n", about(definition));
    add_groups(&mut page, definition, |_| true);
    page.push_str(&format!(
        "{}\n  -C FOLDER     Work as if started in this folder\n  \
         --color WHEN  auto, always or never\n  \
         -h, --help    Show help for midstride or a command\n  \
         --version     Show the version\n",
        heading("Global options")
    ));
    page.push_str(&format!("{}\n{EXIT_CODES}", heading("Exit codes")));
    page
}

/// What the exit codes mean.
pub(crate) const EXIT_CODES: &str = "  \
     0  success, no findings\n  \
     1  findings, or nothing matched\n  \
     2  could not run: usage error or other error\n";

fn add_groups(
    page: &mut String,
    definition: &Command,
    is_shown: impl Fn(&groups::GroupedCommand) -> bool,
) {
    let all = GROUPS.iter().flat_map(|group| group.commands);
    let width = all.map(|command| command.name.len()).max().unwrap_or_default();
    for group in &GROUPS {
        let mut rows = group.commands.iter().filter(|command| is_shown(command)).peekable();
        if rows.peek().is_some() {
            page.push_str(&heading(group.title));
            page.push('\n');
        }
        for command in rows {
            let about = definition.find_subcommand(command.name).map(about).unwrap_or_default();
            page.push_str(&format!("  {:<width$}  {about}\n", command.name));
        }
    }
}

fn heading(title: &str) -> String {
    let bold = Style::new().bold();
    format!("{bold}{title}{bold:#}")
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}
