use super::checkpoint::{report_checkpoint_problems, session_id};
use super::{CliOutcome, report_redacted, report_unread};
use crate::ui::Ui;
use clap::Subcommand;
use midstride::clients::Client;
use midstride::store::Store;
use midstride::sys::files::FileError;
use midstride::verbs;
use midstride::workspace::Workspace;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::{display_path, session as view, shell_word};

/// Sessions of agent clients in this project
///
/// A session is found by its transcript, and belongs to the project that its records name.
#[derive(Debug, clap::Args)]
pub(crate) struct SessionArgs {
    #[command(subcommand)]
    command: SessionCommand,

    /// Only sessions of this client
    #[arg(long, value_parser = super::client_parser(), global = true)]
    client: Option<&'static dyn Client>,
}

#[derive(Debug, Subcommand)]
enum SessionCommand {
    /// List the sessions of this project, the newest first
    List {
        /// Print the list as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a session did
    ///
    /// As its transcript has it now, or as it was written down if the transcript is gone. With
    /// `--json` every item with the record that tells it and whose word it is.
    Show {
        /// The session, by its id or the beginning of it
        #[arg(value_parser = session_id)]
        session: String,

        /// Print everything as JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a handoff of a session
    ///
    /// Facts only, on the private shelf; `midstride edit` adds what the facts mean. A session that has
    /// an open handoff keeps that one.
    Promote {
        /// The session, by its id or the beginning of it
        #[arg(value_parser = session_id)]
        session: String,

        /// The id of the handoff; made from what was asked first where none is given
        #[arg(long)]
        id: Option<String>,
    },
    /// Capture sessions that ended without being captured
    ///
    /// A session has ended when its process has exited. Without `--all`, captures the newest three since
    /// midstride was set up here.
    Recover {
        /// Capture all of them, also those from before the setup
        #[arg(long)]
        all: bool,

        /// Print what was written down, and what was not, as JSON
        #[arg(long)]
        json: bool,
    },
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
                ui.say("No session of an agent client worked in this project yet.")?;
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
                ui.print_json(&shown.checkpoint.to_marked_value())?;
                return Ok(CliOutcome::Clean);
            }
            ui.print(&view::page(workspace, &shown.checkpoint))?;
            for remark in view::skipped_remarks(&shown.checkpoint) {
                ui.say(&remark)?;
            }
            if !shown.is_stored {
                let id = shell_word(shown.checkpoint.session_id().as_str());
                ui.say(&format!("Not written down yet: midstride checkpoint --session {id}"))?;
            }
            Ok(CliOutcome::Clean)
        }
        SessionCommand::Promote { session, id } => {
            let promoted = verbs::promote(store, &session, client, id)?;
            let key = promoted.stored.handoff(workspace).key();
            let path = display_path(workspace, &promoted.stored.path);
            ui.say(&match promoted.is_new {
                true => format!("{key}: made of the session, facts only, in {path}"),
                false => format!("{key}: the handoff of the session is there already, in {path}"),
            })?;
            report_redacted(ui, &promoted.redacted)?;
            let key = shell_word(&key.to_string());
            ui.say(&format!("Next: midstride edit {key} says what the facts mean"))?;
            Ok(CliOutcome::Clean)
        }
        SessionCommand::Recover { all, json } => recover_sessions(ui, store, all, json),
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
        ui.say(&format!("session {session} could not be written down:"))?;
        ui.warn(&Diagnostic::from(error))?;
        outcome = CliOutcome::Incomplete;
    }
    for remark in remarks.iter().filter(|_| !json) {
        ui.say(remark)?;
    }
    Ok(outcome)
}
