use super::{ArgumentError, CliOutcome};
use crate::ui::Ui;
use clap::ValueEnum;
use midstride::clients::Client;
use midstride::store::Store;
use midstride::verbs::{self, CheckpointError, CheckpointOutcome, ListedSession, SessionChoice};
use midstride_core::session::checkpoint::CheckpointMode;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::{session as view, shell_word};
use std::path::PathBuf;

/// Write down what a session did, from its transcript
///
/// Facts only, without a model: what the user asked and corrected, tasks, agents in flight, files,
/// commands and which failed, what git has checked out. Only what is new in the transcript is read.
/// Doing it again when nothing happened changes nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckpointArgs {
    /// The session, by its id or the beginning of it
    #[arg(long, value_name = "ID", value_parser = session_id, conflicts_with_all = ["last", "transcript"])]
    session: Option<String>,

    /// The session of this project whose transcript was changed last; so it is without any option
    /// too, unless this runs in a session whose client tells which one it is
    #[arg(long, conflicts_with = "transcript")]
    last: bool,

    /// The session of this transcript
    #[arg(long, value_name = "PATH")]
    transcript: Option<PathBuf>,

    /// Only sessions of this client
    #[arg(long, value_parser = super::client_parser())]
    client: Option<&'static dyn Client>,

    /// What brings it about
    #[arg(long, value_enum, default_value_t)]
    mode: CheckpointModeArg,

    /// Print what was written as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum CheckpointModeArg {
    /// The client: a compaction, or the end of a session
    Auto,
    /// A snapshot in between
    #[default]
    Checkpoint,
}

pub(crate) fn checkpoint(
    ui: &mut Ui,
    store: &Store,
    args: CheckpointArgs,
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
    super::observe(workspace);
    let done = verbs::checkpoint(store, &which, client, mode)
        .map_err(|error| explain_missing_transcript(store, client, error))?;
    if args.json {
        ui.print_json(&view::checkpoint_json(&done))?;
    } else {
        ui.say(&view::checkpoint_text(&done))?;
    }
    report_checkpoint_problems(ui, done)
}

/// Parses a session id argument.
pub(super) fn session_id(typed: &str) -> Result<String, ArgumentError> {
    let needed = |_| {
        ArgumentError::new(
            "an id is needed, or the beginning of one; `midstride session list` shows them",
        )
    };
    super::parse_text(typed).map_err(needed)
}

/// Explains a session that is listed but has no transcript any more.
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
            Diagnostic::new(format!("the transcript of session `{session}` is gone"))
                .hint(format!("`{show}` shows what was written down of it"))
        }
    }
}

/// Reports problems with a capture. The rest was written.
pub(super) fn report_checkpoint_problems(
    ui: &mut Ui,
    done: CheckpointOutcome,
) -> Result<CliOutcome, Diagnostic> {
    if let Some(cwd) = &done.moved_from {
        ui.warn(&Diagnostic::new(format!("the session worked in `{cwd}`, which is gone")).hint(
            "it was taken for a session of this project; artifacts are compared with this one",
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
