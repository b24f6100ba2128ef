use super::{CliOutcome, report_unread};
use crate::ui::Ui;
use clap::ValueEnum;
use jiff::Timestamp;
use midstride::store::Store;
use midstride::verbs::{self, LogFilter};
use midstride::workspace::{SetupMode, Workspace};
use midstride_core::text::since::parse_since;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::text::sanitize;
use midstride_surface::view::home::HomeContext;
use midstride_surface::view::log::{self as view, LogScope};

/// List what your sessions did
///
/// Prints one line per session, newest first, with the date, client, goal, commits, checks and how
/// the session ended. Dates are in UTC. `--as markdown` omits session ids and local paths, for use
/// in a stand-up or a pull request.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride log
  midstride log --since friday --all
  midstride log --since yesterday --as markdown")]
pub(crate) struct LogArgs {
    /// Only sessions since a date, a weekday or "3 days"
    #[arg(long, value_name = "WHEN", value_parser = super::parse_text)]
    since: Option<String>,

    /// List sessions in every repository on this machine
    #[arg(long)]
    all: bool,

    /// Only sessions on this branch
    #[arg(long, value_name = "BRANCH", value_parser = super::parse_text)]
    branch: Option<String>,

    /// Output format
    #[arg(long = "as", value_enum, value_name = "FORM", conflicts_with = "json")]
    form: Option<LogFormArg>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormArg {
    /// A list for a stand-up or a pull request
    Markdown,
}

pub(crate) fn log(ui: &mut Ui, store: &Store, args: &LogArgs) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let filter = filter(workspace, args)?;
    let is_project = workspace.repository().is_some() || workspace.setup() != SetupMode::NotSetUp;
    let scope = if args.all || !is_project { LogScope::All } else { LogScope::Project };
    let log = match (scope, workspace.exclusion()) {
        (LogScope::All, _) => {
            Ui::show_status("reading the sessions of your repositories");
            let log = verbs::log_everywhere(workspace.environment(), &filter);
            Ui::show_status("");
            log
        }
        (LogScope::Project, Some(exclusion)) => return Err(exclusion.into()),
        (LogScope::Project, None) => verbs::log(store, &filter)?,
    };
    let environment = workspace.environment();
    match (args.json, args.form) {
        (true, _) => ui.print_json(&view::json(&log))?,
        (false, Some(LogFormArg::Markdown)) => {
            ui.print(&view::markdown(&log, scope, environment.home.as_deref()))?;
        }
        (false, None) => {
            let (now, home) = (environment.clock.now(), environment.home.clone());
            let context = HomeContext { now, home, width: Ui::width() };
            ui.print(&view::text(&log, scope, &context))?;
        }
    }
    if let Some(error) = log.ledger_error {
        ui.warn(&Diagnostic::from(error).hint("sessions are missing from the log"))?;
        return Ok(CliOutcome::Incomplete);
    }
    let is_empty = log.sessions.is_empty();
    if is_empty {
        let whole = LogFilter::default();
        let newest = match (scope, filter.since.is_some() || filter.branch.is_some()) {
            (_, false) => None,
            (LogScope::All, true) => {
                verbs::log_everywhere(environment, &whole).sessions.into_iter().next()
            }
            (LogScope::Project, true) => verbs::log(store, &whole)?.sessions.into_iter().next(),
        };
        report_empty(ui, args, newest.and_then(|newest| newest.session.ended))?;
    }
    let outcome = report_unread(ui, workspace, log.unread)?;
    Ok(if is_empty { CliOutcome::Findings } else { outcome })
}

fn filter(workspace: &Workspace, args: &LogArgs) -> Result<LogFilter, Diagnostic> {
    let now = workspace.environment().clock.now();
    let parse = |text: &String| {
        let unknown = || {
            let message = format!("`{}` is not a date", sanitize(text));
            Diagnostic::new(message).hint("write it as 2026-03-21, friday, yesterday or \"3 days\"")
        };
        parse_since(text, now).ok_or_else(unknown)
    };
    let since = args.since.as_ref().map(parse).transpose()?;
    Ok(LogFilter { since, branch: args.branch.clone() })
}

/// Says that the log is empty, and what to try. `newest` is when the newest session without the
/// filter ended.
fn report_empty(ui: &mut Ui, args: &LogArgs, newest: Option<Timestamp>) -> Result<(), Diagnostic> {
    let given = [("--since", &args.since), ("--branch", &args.branch)];
    let given = given.into_iter().filter(|(_, value)| value.is_some());
    let given: Vec<String> = given.map(|(option, _)| format!("`{option}`")).collect();
    let (message, hint) = match (given.as_slice(), args.all, newest) {
        ([_, ..], _, Some(newest)) => (
            format!("No session matches; the newest one ended on {}", newest.strftime("%Y-%m-%d")),
            format!("hint: drop {}", given.join(" or ")),
        ),
        (_, true, _) => (
            "No sessions yet".to_owned(),
            "hint: `midstride setup` imports past sessions".to_owned(),
        ),
        (_, false, _) => (
            "No sessions to list".to_owned(),
            "hint: `midstride log --all` lists every repository".to_owned(),
        ),
    };
    ui.say(&message)?;
    Ok(ui.say(&hint)?)
}
