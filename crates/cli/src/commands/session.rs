use super::checkpoint::{ClientArg, session_id, tell_besides};
use super::{Outcome, tell_redacted, tell_unread};
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view::{session as view, shell_word, shown_path};
use clap::Subcommand;
use midstride::sys::files::FileError;
use midstride::verbs;
use midstride::workspace::project::Project;

/// Sessions of agent clients in this project
///
/// A session is found by its transcript, and belongs to the project that its records name.
#[derive(Debug, clap::Args)]
pub(crate) struct SessionArgs {
    #[command(subcommand)]
    command: SessionCommand,

    /// Only sessions of this client
    #[arg(long, value_enum, global = true)]
    client: Option<ClientArg>,
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
    /// Write down sessions that ended without being written down to their end
    ///
    /// A session has ended when its process is gone. The newest three are written down, unless all
    /// are wanted; sessions from before midstride was set up here are left alone.
    Recover {
        /// All of them
        #[arg(long)]
        all: bool,

        /// Print what was written down, and what was not, as JSON
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn session(
    ui: &mut Ui,
    project: &Project,
    args: SessionArgs,
) -> Result<Outcome, Diagnostic> {
    let client = args.client.map(ClientArg::client);
    match args.command {
        SessionCommand::List { json } => {
            let (list, unread) = verbs::sessions(project, client)?;
            if json {
                ui.json(&view::list_json(&list))?;
            } else if list.is_empty() {
                ui.say("No session of an agent client worked in this project yet.")?;
            } else {
                let table = view::table_of(&list);
                ui.print(&table.text)?;
            }
            tell_strays(ui, project, unread)
        }
        SessionCommand::Show { session, json } => {
            super::observe(project);
            let shown = verbs::session(project, &session, client)?;
            if json {
                ui.json(&shown.checkpoint.to_marked_value())?;
                return Ok(Outcome::Clean);
            }
            ui.print(&view::page(project, &shown.checkpoint))?;
            for remark in view::passed_over(&shown.checkpoint) {
                ui.say(&remark)?;
            }
            if !shown.is_stored {
                let id = shell_word(shown.checkpoint.session_id());
                ui.say(&format!("Not written down yet: midstride checkpoint --session {id}"))?;
            }
            Ok(Outcome::Clean)
        }
        SessionCommand::Promote { session, id } => {
            let promoted = verbs::promote(project, &session, client, id)?;
            let key = promoted.shelved.handoff(project).key();
            let path = shown_path(project, &promoted.shelved.path);
            ui.say(&match promoted.is_new {
                true => format!("{key}: made of the session, facts only, in {path}"),
                false => format!("{key}: the handoff of the session is there already, in {path}"),
            })?;
            tell_redacted(ui, &promoted.redacted)?;
            let key = shell_word(&key.to_string());
            ui.say(&format!("Next: midstride edit {key} says what the facts mean"))?;
            Ok(Outcome::Clean)
        }
        SessionCommand::Recover { all, json } => recover(ui, project, all, json),
    }
}

/// Says what could not be read. What is no file at all is no transcript either, and nothing is missed.
fn tell_strays(
    ui: &mut Ui,
    project: &Project,
    unread: Vec<FileError>,
) -> Result<Outcome, Diagnostic> {
    let only_strays = unread.iter().all(FileError::is_no_file);
    let outcome = tell_unread(ui, project, unread)?;
    Ok(if only_strays { Outcome::Clean } else { outcome })
}

fn recover(ui: &mut Ui, project: &Project, all: bool, json: bool) -> Result<Outcome, Diagnostic> {
    super::observe(project);
    let recovered = verbs::recover(project, all)?;
    let remarks = view::besides_recovered(&recovered);
    if json {
        ui.json(&view::recovered_json(&recovered))?;
    }
    let mut outcome = tell_strays(ui, project, recovered.unread)?;
    for done in recovered.checkpoints {
        if !json {
            ui.say(&view::recovered(&done))?;
        }
        if tell_besides(ui, done)? == Outcome::Incomplete {
            outcome = Outcome::Incomplete;
        }
    }
    for (session, error) in recovered.failed {
        ui.say(&format!("session {session} could not be written down:"))?;
        Diagnostic::from(error).warn(ui)?;
        outcome = Outcome::Incomplete;
    }
    for remark in remarks.iter().filter(|_| !json) {
        ui.say(remark)?;
    }
    Ok(outcome)
}
