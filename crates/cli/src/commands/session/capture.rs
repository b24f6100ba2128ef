//! `midstride session capture`.

use super::{CliOutcome, report_checkpoint_problems, session_id};
use crate::ui::Ui;
use clap::ValueEnum;
use midstride::clients::Client;
use midstride::store::Store;
use midstride::verbs::{self, CheckpointError, ListedSession, SessionChoice};
use midstride_core::session::checkpoint::CheckpointMode;
use midstride_surface::diagnostic::{Diagnostic, ErrorCode};
use midstride_surface::view::{session as view, shell_word};
use std::path::PathBuf;

/// Capture what a session did, from its transcript
///
/// Captures only facts, without using a model: requests and corrections, tasks, running agents,
/// files, commands, failures, and the git state. Reads only what is new in the transcript. Without
/// options, captures the session that this command runs in, or else the newest one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride session capture
  midstride session capture --session 5e55
  midstride session capture --last --json")]
pub(crate) struct CaptureArgs {
    /// Session id or prefix
    #[arg(long, value_name = "ID", value_parser = session_id, conflicts_with_all = ["last", "transcript"])]
    session: Option<String>,

    /// The session whose transcript changed most recently
    #[arg(long, conflicts_with = "transcript")]
    last: bool,

    /// The session recorded in this transcript
    #[arg(long, value_name = "PATH")]
    transcript: Option<PathBuf>,

    /// Only this client's sessions
    #[arg(long, value_parser = crate::commands::client_parser())]
    client: Option<&'static dyn Client>,

    /// What triggered the capture
    #[arg(long, value_enum, default_value_t)]
    mode: CheckpointModeArg,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum CheckpointModeArg {
    /// A compaction, or the end of a session
    Auto,
    /// A manual snapshot
    #[default]
    Checkpoint,
}

pub(crate) fn capture(
    ui: &mut Ui,
    store: &Store,
    args: CaptureArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let which = match (args.session, args.transcript) {
        (Some(id), _) => SessionChoice::Id(id),
        (None, Some(path)) => SessionChoice::Transcript(path),
        (None, None) if args.last => SessionChoice::Newest,
        (None, None) => SessionChoice::Current,
    };
    let mode = match args.mode {
        CheckpointModeArg::Auto => CheckpointMode::Auto,
        CheckpointModeArg::Checkpoint => CheckpointMode::Checkpoint,
    };
    let client = args.client;
    crate::commands::observe(workspace);
    let done = verbs::checkpoint(store, &which, client, mode)
        .map_err(|error| explain_missing_transcript(store, client, error))?;
    if args.json {
        ui.print_json(&view::checkpoint_json(&done))?;
    } else {
        ui.say(&view::checkpoint_text(&done))?;
    }
    report_checkpoint_problems(ui, done)
}

/// Explains a session that is listed but no longer has a transcript.
fn explain_missing_transcript(
    store: &Store,
    client: Option<&'static dyn Client>,
    error: CheckpointError,
) -> Diagnostic {
    let CheckpointError::NoSuch(name) = &error else { return error.into() };
    let (list, _) = verbs::sessions(store, client).unwrap_or_default();
    let is_meant =
        |one: &&ListedSession| one.transcript.is_none() && one.session.as_str().starts_with(name);
    match list.iter().find(is_meant) {
        None => error.into(),
        Some(ListedSession { session, .. }) => {
            let show = format!("midstride session show {}", shell_word(session.as_str()));
            Diagnostic::with_code(
                ErrorCode::NotFound,
                format!("the transcript of session `{session}` no longer exists"),
            )
            .hint(format!("`{show}` shows what was captured from it"))
        }
    }
}
