mod capture;
mod state;

pub(crate) use capture::{CaptureArgs, capture};

use super::{ArgumentError, CliOutcome, report_unread};
use crate::ui::Ui;
use clap::Subcommand;
use midstride::clients::Client;
use midstride::store::Store;
use midstride::sys::files::FileError;
use midstride::verbs::{self, CheckpointOutcome};
use midstride::workspace::Workspace;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::{session as view, shell_word};

/// List, show and capture agent sessions
///
/// midstride finds a session by its transcript. A session belongs to the project in which it
/// worked.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride session list
  midstride session show 5e55")]
pub(crate) struct SessionArgs {
    #[command(subcommand)]
    command: SessionCommand,

    /// Only this client's sessions
    #[arg(long, value_parser = super::client_parser(), global = true)]
    client: Option<&'static dyn Client>,
}

#[derive(Debug, Subcommand)]
enum SessionCommand {
    /// List the sessions of this project, newest first
    #[command(after_help = "Examples:
  midstride session list
  midstride session list --json")]
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a session did
    ///
    /// Reads the transcript, or the capture if the transcript was deleted. `--json` prints every
    /// item with its record and source.
    #[command(after_help = "Examples:
  midstride session show 5e55
  midstride session show 5e55 --json")]
    Show {
        /// Session id or prefix
        #[arg(value_parser = session_id)]
        session: String,

        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    Capture(CaptureArgs),
    /// Capture sessions that ended without being captured
    ///
    /// A session counts as ended once its process has exited. Without `--all`, captures the three
    /// newest sessions since midstride was set up here.
    #[command(after_help = "Examples:
  midstride session recover
  midstride session recover --all --json")]
    Recover {
        /// Capture all of them, including those from before setup
        #[arg(long)]
        all: bool,

        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    State(state::StateArgs),
}

pub(crate) fn session(
    ui: &mut Ui,
    store: &Store,
    args: SessionArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let client = args.client;
    match args.command {
        SessionCommand::List { json } => {
            let (list, unread) = verbs::sessions(store, client)?;
            if json {
                ui.print_json(&view::list_json(&list))?;
            } else if list.is_empty() {
                ui.say("No agent session has worked in this project yet.")?;
            } else {
                let table = view::render_table(&list, Ui::width());
                ui.print(&table.text)?;
            }
            report_unread_transcripts(ui, workspace, unread)
        }
        SessionCommand::Show { session, json } => {
            super::observe(workspace);
            let shown = verbs::session(store, &session, client)?;
            if json {
                ui.print_json(&view::session_json(&shown.checkpoint))?;
                return Ok(CliOutcome::Clean);
            }
            ui.print(&view::page(workspace, &shown.checkpoint))?;
            for remark in view::skipped_remarks(&shown.checkpoint) {
                ui.say(&remark)?;
            }
            if !shown.is_stored {
                let id = shell_word(shown.checkpoint.session_id().as_str());
                ui.say(&format!("Not captured yet: midstride session capture --session {id}"))?;
            }
            Ok(CliOutcome::Clean)
        }
        SessionCommand::Capture(args) => capture(ui, store, args),
        SessionCommand::Recover { all, json } => recover_sessions(ui, store, all, json),
        SessionCommand::State(args) => state::state(ui, store, &args),
    }
}

/// Reports transcripts that could not be read. An entry that is not a file is not a transcript
/// either.
fn report_unread_transcripts(
    ui: &mut Ui,
    workspace: &Workspace,
    unread: Vec<FileError>,
) -> Result<CliOutcome, Diagnostic> {
    let only_strays = unread.iter().all(FileError::is_not_a_file);
    let outcome = report_unread(ui, workspace, unread)?;
    Ok(if only_strays { CliOutcome::Clean } else { outcome })
}

fn recover_sessions(
    ui: &mut Ui,
    store: &Store,
    all: bool,
    json: bool,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    super::observe(workspace);
    let recovered =
        verbs::recover(store, all, &mut |done, of| ui.show_progress("capturing", done, of))?;
    let remarks = view::recovery_remarks(&recovered);
    if json {
        ui.print_json(&view::recovery_json(&recovered))?;
    }
    let mut outcome = report_unread_transcripts(ui, workspace, recovered.unread)?;
    for done in recovered.checkpoints {
        if !json {
            ui.say(&view::recovered_text(&done))?;
        }
        if report_checkpoint_problems(ui, done)? == CliOutcome::Incomplete {
            outcome = CliOutcome::Incomplete;
        }
    }
    for (session, error) in recovered.failed {
        ui.say(&format!("session {session} could not be captured:"))?;
        ui.warn(&Diagnostic::from(error))?;
        outcome = CliOutcome::Incomplete;
    }
    for remark in remarks.iter().filter(|_| !json) {
        ui.say(remark)?;
    }
    Ok(outcome)
}

/// Parses a session id argument.
fn session_id(typed: &str) -> Result<String, ArgumentError> {
    let needed =
        |_| ArgumentError::new("give an id or a prefix; `midstride session list` shows the ids");
    super::parse_text(typed).map_err(needed)
}

/// Reports problems with a capture. The rest was written.
fn report_checkpoint_problems(
    ui: &mut Ui,
    done: CheckpointOutcome,
) -> Result<CliOutcome, Diagnostic> {
    if let Some(cwd) = &done.moved_from {
        ui.warn(&Diagnostic::new(format!("the session worked in `{cwd}`, which no longer exists")).hint(
            "midstride treats it as one of this project's sessions and compares artifacts with this project",
        ))?;
    }
    for remark in view::skipped_remarks(&done.checkpoint).iter().filter(|_| done.is_new) {
        ui.say(remark)?;
    }
    let outcome = if done.unread.is_empty() { CliOutcome::Clean } else { CliOutcome::Incomplete };
    for error in done.unread {
        ui.warn(&Diagnostic::from(error))?;
    }
    Ok(outcome)
}
