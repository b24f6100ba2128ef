//! The command line: its arguments, and which command they run.

mod suggestion;

use crate::commands;
use crate::commands::setup::setup;
use crate::demo;
use crate::hooks;
use crate::mcp;
use crate::ui::{CliOutcome, ColorMode, MessageRedactor, Ui};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use midstride::store::Store;
use midstride::store::ledger::WaitPolicy;
use midstride::sys::env::Environment;
use midstride::sys::files;
use midstride::workspace::Workspace;
use midstride_core::text::hidden;
use midstride_surface::diagnostic::{Diagnostic, ErrorCode};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;

/// Hands work from one AI agent session to the next
///
/// Without a command, show this project at a glance, as `midstride status` does.
#[derive(Debug, Parser)]
#[command(name = "midstride", version, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct CommandLine {
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "FOLDER", global = true, help_heading = "Global options")]
    folder: Option<PathBuf>,

    /// When to use color
    #[arg(long, value_enum, default_value_t, global = true, help_heading = "Global options")]
    pub(crate) color: ColorMode,

    /// Do not page long output
    #[arg(long, global = true, help_heading = "Global options")]
    no_pager: bool,

    #[command(flatten)]
    home: commands::status::HomeArgs,

    #[command(subcommand)]
    command: Option<CliCommand>,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    Help(commands::help::HelpArgs),
    Setup(commands::setup::SetupArgs),
    Status(commands::status::StatusArgs),
    Log(commands::log::LogArgs),
    Init(commands::init::InitArgs),
    New(commands::new::NewArgs),
    #[command(visible_alias = "ls")]
    List(commands::list::ListArgs),
    Search(commands::search::SearchArgs),
    Show(commands::show::ShowArgs),
    Edit(commands::edit::EditArgs),
    Start(commands::start::StartArgs),
    Answer(commands::answer::AnswerArgs),
    Review(commands::review::ReviewArgs),
    Advance(commands::advance::AdvanceArgs),
    #[command(visible_alias = "done")]
    Resolve(commands::resolve::ResolveArgs),
    Reopen(commands::reopen::ReopenArgs),
    Undo(commands::undo::UndoArgs),
    Share(commands::share::ShareArgs),
    Diff(commands::diff::DiffArgs),
    Merge(commands::merge::MergeArgs),
    Task(commands::task::TaskArgs),
    Brief(commands::brief::BriefArgs),
    Dismiss(commands::dismiss::DismissArgs),
    Sync(commands::sync::SyncArgs),
    Events(commands::events::EventsArgs),
    Save(Box<commands::save::SaveArgs>),
    /// Capture a session, as `session capture` does
    #[command(hide = true)]
    Checkpoint(commands::session::CaptureArgs),
    Session(commands::session::SessionArgs),
    Why(commands::why::WhyArgs),
    Continue(commands::r#continue::ContinueArgs),
    Check(commands::check::CheckArgs),
    Verify(commands::verify::VerifyArgs),
    Trust(commands::trust::TrustArgs),
    Fmt(commands::fmt::FmtArgs),
    Client(commands::client::ClientArgs),
    Config(commands::config::ConfigArgs),
    Data(commands::data::DataArgs),
    Doctor(commands::doctor::DoctorArgs),
    Off(commands::off::OffArgs),
    On(commands::on::OnArgs),
    Forget(commands::forget::ForgetArgs),
    Redact(commands::redact::RedactArgs),
    Hook(commands::hook::HookArgs),
    Statusline(commands::statusline::StatuslineArgs),
    Mcp(mcp::McpArgs),
    Demo(demo::DemoArgs),
    Schema(commands::schema::SchemaArgs),
    Explain(commands::explain::ExplainArgs),
    Completions(commands::completions::CompletionsArgs),
    Man(commands::man::ManArgs),
    Reference(commands::reference::ReferenceArgs),
}

impl CliCommand {
    /// Whether the output is a text to read, which goes to the pager if it is long.
    fn prints_to_read(&self) -> bool {
        let is_text = matches!(
            self,
            Self::Show(_)
                | Self::List(_)
                | Self::Check(_)
                | Self::Log(_)
                | Self::Diff(_)
                | Self::Events(_)
                | Self::Brief(_)
        );
        let is_whole_help = matches!(self, Self::Help(args) if args.all);
        is_text || is_whole_help || matches!(self, Self::Demo(args) if args.is_full())
    }
}

/// Parses the command line. Prints help and usage errors itself.
pub(crate) fn parse(as_json: bool) -> Result<CommandLine, ExitCode> {
    let typed: Vec<OsString> = std::env::args_os().collect();
    let parsed = parse_words(&typed, as_json)?;
    match &parsed.command {
        Some(CliCommand::Help(args)) if !args.command.is_empty() => {
            Err(print_help_of(&args.command, as_json))
        }
        _ => Ok(parsed),
    }
}

fn parse_words(typed: &[OsString], as_json: bool) -> Result<CommandLine, ExitCode> {
    let mut definition = definition();
    definition = definition.override_help(commands::help::short_page(&CommandLine::command()));
    let parsed = definition.try_get_matches_from_mut(typed).and_then(|mut matches| {
        CommandLine::from_arg_matches_mut(&mut matches)
            .map_err(|error| error.format(&mut definition))
    });
    parsed.map_err(|error| print_parse_error(typed, &error, as_json))
}

/// Prints the help of a command, as its `--help` does.
fn print_help_of(words: &[String], as_json: bool) -> ExitCode {
    let mut command = &definition();
    for (index, word) in words.iter().enumerate() {
        let Some(below) = command.find_subcommand(word) else {
            return report_unknown_command(&words[..index], word, as_json);
        };
        command = below;
    }
    let words = words.iter().map(String::as_str);
    let typed = std::iter::once("midstride").chain(words).chain(["--help"]);
    let typed: Vec<OsString> = typed.map(OsString::from).collect();
    // With `--help`, parsing ends by printing it.
    parse_words(&typed, as_json).err().unwrap_or(ExitCode::SUCCESS)
}

fn print_parse_error(typed: &[OsString], error: &clap::Error, as_json: bool) -> ExitCode {
    if error.kind() == ErrorKind::InvalidSubcommand
        && let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
    {
        let words = typed.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
        let before: Vec<String> = words.take_while(|typed| typed != word).collect();
        return report_unknown_command(&before, word, as_json);
    }
    print_usage_error(error, as_json);
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn report_unknown_command(before: &[String], word: &str, as_json: bool) -> ExitCode {
    let mut ui = Ui::new(ColorMode::Auto);
    if let Some(workspace) = discover_workspace() {
        ui.redactor().set_project(&workspace);
    }
    ui.report(&suggestion::unknown_command(&definition(), before, word), as_json).into()
}

fn discover_workspace() -> Option<Workspace> {
    Workspace::discover(midstride::clients::read_environment().ok()?).ok()
}

/// Whether the arguments ask for JSON. They may not parse, so this looks at the words.
pub(crate) fn is_json_requested(arguments: impl Iterator<Item = OsString>) -> bool {
    let options = arguments.skip(1).take_while(|word| word != "--");
    options.into_iter().any(|word| word == "--json")
}

/// Prints what clap reports. It quotes user input, which may contain a secret or terminal escapes.
/// Then it is redacted and printed without color, because color codes would split the text to
/// match.
fn print_usage_error(error: &clap::Error, as_json: bool) {
    let text = error.render().to_string();
    let mut ui = Ui::new(ColorMode::Never);
    let rules = ui.redactor();
    if let Some(workspace) = discover_workspace() {
        rules.set_project(&workspace);
    }
    if as_json && error.use_stderr() {
        ui.report(&usage_diagnostic(&text), true);
        return;
    }
    let clean = rules.clean(&text);
    // If printing fails, there is no place left to report it.
    let _ = if clean == text && !text.contains(hidden::is_invisible) {
        error.print()
    } else {
        ui.say(clean.trim_end())
    };
}

/// Splits the text that clap prints into a message and hints.
fn usage_diagnostic(text: &str) -> Diagnostic {
    // The last paragraph only names `--help`.
    let text = text.split("\nFor more information").next().unwrap_or_default();
    let mut paragraphs = text.trim().split("\n\n").map(str::trim);
    let first = paragraphs.next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(first);
    let help = paragraphs.map(|paragraph| paragraph.strip_prefix("tip: ").unwrap_or(paragraph));
    help.fold(Diagnostic::with_code(ErrorCode::Usage, message), Diagnostic::hint)
}

/// Runs the command.
pub(crate) fn run(ui: &mut Ui, typed: CommandLine) -> Result<CliOutcome, Diagnostic> {
    let mut environment = midstride::clients::read_environment().map_err(|_| {
        Diagnostic::new("the current folder no longer exists")
            .hint("change to a folder that exists")
    })?;
    if let Some(folder) = typed.folder {
        environment.folder = files::canonical(&environment.folder.join(&folder));
        if !files::is_folder(&environment.folder) {
            return Err(Diagnostic::with_code(
                ErrorCode::NotFound,
                format!("there is no folder `{}`", folder.display()),
            ));
        }
    }
    if let Some(option) = typed.home.given_option().filter(|_| typed.command.is_some()) {
        return Err(Diagnostic::with_code(
            ErrorCode::Usage,
            format!("`{option}` must follow the command"),
        )
        .hint(format!("put it after the command: `midstride list {option}`")));
    }
    let is_paged = typed.command.as_ref().is_some_and(CliCommand::prints_to_read);
    if is_paged && !typed.no_pager && !is_json_requested(std::env::args_os()) {
        ui.start_paging(&environment);
    }
    let opener = Opener { environment, redactor: ui.redactor() };
    match typed.command {
        None => commands::status::status(ui, &opener.open_excluded()?, &typed.home),
        Some(CliCommand::Status(args)) => {
            commands::status::status(ui, &opener.open_excluded()?, &args.home)
        }
        Some(CliCommand::Help(args)) => commands::help::help(ui, &args, &definition()),
        Some(CliCommand::Log(args)) => commands::log::log(ui, &opener.open_excluded()?, &args),
        Some(CliCommand::Setup(args)) => setup(ui, &opener.environment, &args, mcp::session_cost),
        Some(CliCommand::Init(args)) => {
            commands::init::init(ui, opener.open_excluded()?.workspace(), &args)
        }
        Some(CliCommand::New(args)) => commands::new::new(ui, &opener.open()?, args),
        Some(CliCommand::List(args)) => commands::list::list(ui, &opener.open()?, &args),
        Some(CliCommand::Search(args)) => commands::search::search(ui, &opener.open()?, &args),
        Some(CliCommand::Show(args)) => commands::show::show(ui, &opener.open()?, &args),
        Some(CliCommand::Edit(args)) => commands::edit::edit(ui, &opener.open()?, &args),
        Some(CliCommand::Dismiss(args)) => commands::dismiss::dismiss(ui, &opener.open()?, &args),
        Some(CliCommand::Start(args)) => commands::start::start(ui, &opener.open()?, &args),
        Some(CliCommand::Answer(args)) => commands::answer::answer(ui, &opener.open()?, &args),
        Some(CliCommand::Review(args)) => commands::review::review(ui, &opener.open()?, args),
        Some(CliCommand::Share(args)) => commands::share::share(ui, &opener.open()?, &args),
        Some(CliCommand::Undo(args)) => commands::undo::undo(ui, &opener.open()?, &args),
        Some(CliCommand::Advance(args)) => commands::advance::advance(ui, &opener.open()?, args),
        Some(CliCommand::Resolve(args)) => commands::resolve::resolve(ui, &opener.open()?, &args),
        Some(CliCommand::Reopen(args)) => commands::reopen::reopen(ui, &opener.open()?, &args),
        Some(CliCommand::Diff(args)) => commands::diff::diff(ui, &opener.open()?, &args),
        Some(CliCommand::Merge(args)) => commands::merge::merge(ui, &opener.open()?, &args),
        Some(CliCommand::Task(args)) => commands::task::task(ui, &opener.open()?, args),
        Some(CliCommand::Brief(args)) => {
            commands::brief::brief(ui, &opener.open_waiting(args.wait_policy())?, &args)
        }
        Some(CliCommand::Sync(args)) => commands::sync::sync(ui, &opener.open()?, &args),
        Some(CliCommand::Events(args)) => commands::events::events(ui, &opener.open()?, &args),
        Some(CliCommand::Save(args)) => commands::save::save(ui, &opener.open()?, *args),
        Some(CliCommand::Checkpoint(args)) => commands::session::capture(ui, &opener.open()?, args),
        Some(CliCommand::Session(args)) => commands::session::session(ui, &opener.open()?, args),
        Some(CliCommand::Why(args)) => commands::why::why(ui, &opener.open()?, &args),
        Some(CliCommand::Continue(args)) => {
            commands::r#continue::r#continue(ui, &opener.open()?, &args)
        }
        Some(CliCommand::Check(args)) => commands::check::check(ui, &opener.open()?, &args),
        Some(CliCommand::Verify(args)) => commands::verify::verify(ui, &opener.open()?, &args),
        Some(CliCommand::Trust(args)) => {
            commands::trust::trust(ui, opener.open()?.workspace(), &args)
        }
        Some(CliCommand::Fmt(args)) => commands::fmt::fmt(ui, &opener.open()?, &args),
        Some(CliCommand::Client(args)) => commands::client::client(ui, &opener.environment, args),
        Some(CliCommand::Config(args)) => commands::config::config(ui, &opener.environment, args),
        Some(CliCommand::Data(args)) => commands::data::data(ui, &opener.environment, &args),
        Some(CliCommand::Doctor(args)) => {
            commands::doctor::doctor(ui, &opener.open_anyway()?, &args, mcp::session_cost())
        }
        Some(CliCommand::Off(_)) => commands::off::off(ui, opener.open_anyway()?.workspace()),
        Some(CliCommand::On(_)) => commands::on::on(ui, opener.open_anyway()?.workspace()),
        Some(CliCommand::Forget(args)) => {
            commands::forget::forget(ui, &opener.open_excluded()?, &args)
        }
        Some(CliCommand::Redact(args)) => {
            commands::redact::redact(ui, opener.open_excluded()?.workspace(), &args)
        }
        Some(CliCommand::Hook(args)) => Ok(commands::hook::hook(&args)),
        Some(CliCommand::Statusline(_)) => Ok(commands::statusline::statusline()),
        Some(CliCommand::Mcp(_)) => mcp::mcp(opener.environment),
        Some(CliCommand::Demo(args)) => demo::demo(ui, &opener.environment, &args),
        Some(CliCommand::Schema(_)) => {
            commands::schema::schema(ui, opener.open_excluded()?.workspace())
        }
        Some(CliCommand::Explain(args)) => commands::explain::explain(ui, &args),
        Some(CliCommand::Completions(args)) => commands::completions::completions(ui, &args),
        Some(CliCommand::Man(args)) => commands::man::man(ui, &args, &definition()),
        Some(CliCommand::Reference(args)) => {
            commands::reference::reference(ui, &args, &definition())
        }
    }
}

/// Opens the store of the project that a command is started in.
struct Opener {
    environment: Environment,
    redactor: Rc<MessageRedactor>,
}

impl Opener {
    /// The store, unless the project is excluded.
    fn open(&self) -> Result<Store, Diagnostic> {
        self.open_waiting(WaitPolicy::Command)
    }

    fn open_waiting(&self, wait_policy: WaitPolicy) -> Result<Store, Diagnostic> {
        let workspace = Workspace::discover(self.environment.clone())?;
        match workspace.exclusion() {
            Some(exclusion) => Err(exclusion.into()),
            None => Ok(self.store(workspace, wait_policy)),
        }
    }

    /// For commands that store and brief nothing, or that set up or delete.
    fn open_excluded(&self) -> Result<Store, Diagnostic> {
        let workspace = Workspace::discover(self.environment.clone())?;
        Ok(self.store(workspace, WaitPolicy::Command))
    }

    /// For commands that also work when the settings are invalid.
    fn open_anyway(&self) -> Result<Store, Diagnostic> {
        let workspace = Workspace::discover_ignoring_settings(self.environment.clone())?;
        Ok(self.store(workspace, WaitPolicy::Command))
    }

    fn store(&self, workspace: Workspace, wait_policy: WaitPolicy) -> Store {
        self.redactor.set_project(&workspace);
        hooks::spawn_due_redaction(&workspace);
        hooks::spawn_due_retention(&workspace);
        Store::new(workspace, wait_policy)
    }
}

/// The definition of the command line.
pub(crate) fn definition() -> clap::Command {
    CommandLine::command()
}

#[cfg(test)]
mod tests {
    use super::*;
    use commands::help::GROUPS;
    use std::collections::BTreeSet;

    #[test]
    fn the_definition_is_valid() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn the_table_of_groups_has_every_command_once() {
        let definition = definition();
        let defined: Vec<&str> =
            definition.get_subcommands().map(clap::Command::get_name).collect();
        let mut listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|group| group.commands.iter().map(|command| command.name))
            .collect();
        listed.sort_unstable();
        let unique: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(listed.len(), unique.len(), "a command is in the table twice: {listed:?}");
        assert_eq!(unique, defined.into_iter().collect());
    }

    /// Every command with its path.
    fn all_commands(command: &clap::Command, path: &str) -> Vec<(String, clap::Command)> {
        let below = command.get_subcommands();
        let below = below.flat_map(|one| all_commands(one, &format!("{path} {}", one.get_name())));
        std::iter::once((path.to_owned(), command.clone())).chain(below).collect()
    }

    #[test]
    fn every_command_has_a_short_summary_and_examples() {
        for (path, mut command) in all_commands(&definition(), "midstride").into_iter().skip(1) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(!about.is_empty() && about.len() < 60, "{path}: {about}");
            let help = command.render_long_help().to_string();
            assert!(help.contains("\nExamples:\n  midstride"), "{path}: {help}");
        }
    }
}
