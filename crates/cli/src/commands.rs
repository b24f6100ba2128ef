//! The commands, one file each: arguments, then one function that resolves, runs and reports.

pub(crate) mod advance;
pub(crate) mod answer;
pub(crate) mod brief;
pub(crate) mod check;
pub(crate) mod client;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod r#continue;
pub(crate) mod data;
pub(crate) mod diff;
pub(crate) mod dismiss;
pub(crate) mod doctor;
pub(crate) mod edit;
mod entries;
pub(crate) mod events;
pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod forget;
pub(crate) mod help;
pub(crate) mod hook;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod new;
pub(crate) mod off;
pub(crate) mod on;
pub(crate) mod redact;
pub(crate) mod reference;
pub(crate) mod reopen;
pub(crate) mod resolve;
pub(crate) mod review;
pub(crate) mod save;
pub(crate) mod schema;
pub(crate) mod search;
pub(crate) mod session;
pub(crate) mod setup;
pub(crate) mod share;
pub(crate) mod show;
pub(crate) mod start;
pub(crate) mod status;
pub(crate) mod statusline;
pub(crate) mod sync;
pub(crate) mod task;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod verify;
pub(crate) mod why;

use crate::ui::{CliOutcome, Ui};
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use midstride::clients::{self, Client};
use midstride::journal::RecordedRevision;
use midstride::sys::files::{self, FileError};
use midstride::verbs::{self, BlockingQuestion, TaskImport};
use midstride::workspace::{FindError, StoredHandoff, Workspace};
use midstride_core::format::header::{HandoffKind, Status};
use midstride_core::text::redact::Redaction;
use midstride_surface::diagnostic::{CONVERT_HINT, Diagnostic, ErrorCode};
use midstride_surface::view;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Asks git what is uncommitted, for the next briefing or capture. A failure only means that this
/// is missing.
fn observe(workspace: &Workspace) {
    drop(verbs::observe(workspace));
}

/// Reports what was recorded, and what was redacted.
fn report_recorded(
    ui: &mut Ui,
    workspace: &Workspace,
    stored: &StoredHandoff,
    recorded: &RecordedRevision,
    reason: &str,
    json: bool,
) -> Result<CliOutcome, Diagnostic> {
    // The reason may be user input. A secret in it was redacted in the file, so redact it here,
    // too.
    let reason = &ui.clean(reason);
    if json {
        ui.print_json(&view::recorded_change::json(workspace, stored, recorded, reason))?;
        return Ok(CliOutcome::Clean);
    }
    let key = stored.handoff(workspace).key();
    ui.say(&format!("{key}@{}: {reason}", recorded.revision))?;
    report_record_problems(ui, recorded)?;
    Ok(CliOutcome::Clean)
}

/// Names the questions that block the work.
fn report_blocking(ui: &mut Ui, questions: &[BlockingQuestion]) -> Result<(), Diagnostic> {
    match view::recorded_change::blocking_text(questions) {
        Some(text) => Ok(ui.say(&ui.clean(&text))?),
        None => Ok(()),
    }
}

/// Reports what was found while recording, and what was redacted.
fn report_record_problems(ui: &mut Ui, recorded: &RecordedRevision) -> Result<(), Diagnostic> {
    if recorded.has_outside_edit {
        ui.say("Recorded an edit made outside midstride as a separate revision.")?;
    }
    report_redacted(ui, &recorded.redacted)?;
    if let Some(why) = &recorded.ledger_error {
        let hint = "the document was written; the next change or `midstride events` will record it in the ledger";
        ui.warn(&Diagnostic::new(format!("the ledger was not updated: {why}")).hint(hint))?;
    }
    Ok(())
}

/// Reports every redaction, so that nothing is removed silently.
fn report_redacted(ui: &mut Ui, redacted: &[Redaction]) -> Result<(), Diagnostic> {
    for secret in redacted {
        ui.warn(&Diagnostic::new(format!("redacted a secret: {}", secret.kind)))?;
    }
    Ok(())
}

/// A status argument.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum HandoffStatusArg {
    Planned,
    InProgress,
    Resolved,
    Superseded,
    Abandoned,
}

impl From<HandoffStatusArg> for Status {
    fn from(typed: HandoffStatusArg) -> Self {
        match typed {
            HandoffStatusArg::Planned => Self::Planned,
            HandoffStatusArg::InProgress => Self::InProgress,
            HandoffStatusArg::Resolved => Self::Resolved,
            HandoffStatusArg::Superseded => Self::Superseded,
            HandoffStatusArg::Abandoned => Self::Abandoned,
        }
    }
}

/// A kind argument.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum HandoffKindArg {
    Investigation,
    Session,
    Stage,
}

impl From<HandoffKindArg> for HandoffKind {
    fn from(typed: HandoffKindArg) -> Self {
        match typed {
            HandoffKindArg::Investigation => Self::Investigation,
            HandoffKindArg::Session => Self::Session,
            HandoffKindArg::Stage => Self::Stage,
        }
    }
}

/// The given path, relative to the project root.
fn path_from_root(workspace: &Workspace, path: &Path) -> Result<PathBuf, Diagnostic> {
    let outside = || FindError::Outside(path.display().to_string());
    let place = workspace.place_of_path(path).ok_or_else(outside)?;
    Ok(workspace.display_path(&place))
}

/// Reports which tasks of a handoff were imported.
fn report_imported(ui: &mut Ui, imported: &TaskImport) -> Result<(), Diagnostic> {
    let TaskImport { created, existing: here, unreadable, unknown, redacted } = imported;
    if !created.is_empty() {
        let came = view::count(created.len(), "task");
        ui.say(&format!("{came} imported with the handoff: {}", view::task::joined_ids(created)))?;
    }
    if !here.is_empty() {
        let there = view::count(here.len(), "task");
        ui.say(&format!("Already here and unchanged: {there}"))?;
    }
    if *unreadable > 0 {
        let left = view::count(*unreadable, "item");
        ui.warn(&Diagnostic::new(format!("{left} in `state.tasks` cannot be read as a task")))?;
    }
    if !unknown.is_empty() {
        ui.warn(
            &Diagnostic::new(format!(
                "tasks that they wait for are missing: {}",
                unknown.join(", ")
            ))
            .hint("`midstride sync` fetches shared tasks"),
        )?;
    }
    report_redacted(ui, redacted)
}

/// Why the value of an argument is invalid. Clap prints it after the value.
#[derive(Debug)]
struct ArgumentError {
    message: String,
}

impl ArgumentError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl std::fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ArgumentError {}

/// Parses the name of a client.
fn client_parser() -> impl TypedValueParser<Value = &'static dyn Client> {
    let names = clients::ALL.map(|client| PossibleValue::new(client.name()).help(client.title()));
    PossibleValuesParser::new(names).try_map(|name| {
        clients::find(&name).ok_or_else(|| ArgumentError::new("there is no such client"))
    })
}

/// Parses a text argument. It must not be blank.
fn parse_text(typed: &str) -> Result<String, ArgumentError> {
    let text = typed.trim();
    if text.is_empty() { Err(ArgumentError::new("it is blank")) } else { Ok(text.to_owned()) }
}

/// Like [`parse_text`], for a text that may begin with a hyphen, such as a list. If the value was
/// forgotten, clap would take the next option for it.
fn parse_sentence(typed: &str) -> Result<String, ArgumentError> {
    let text = parse_text(typed)?;
    if text.starts_with('-') && !text.contains(char::is_whitespace) {
        return Err(ArgumentError::new(
            "it looks like an option; text that begins with a hyphen must contain more than one word",
        ));
    }
    Ok(text)
}

/// Reads a file the user named, or standard input.
fn read_input(workspace: &Workspace, path: &Path) -> Result<Vec<u8>, Diagnostic> {
    if path.as_os_str() != "-" {
        return Ok(files::read_named(&workspace.environment().folder.join(path))?);
    }
    let mut bytes = Vec::new();
    std::io::stdin().take(files::FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|size| size <= files::FILE_BYTES_MAX) {
        return Ok(bytes);
    }
    // A truncated input is not what the user meant.
    let most = files::FILE_BYTES_MAX;
    Err(Diagnostic::with_code(
        ErrorCode::InvalidInput,
        format!("standard input exceeds the limit of {most} bytes"),
    )
    .hint("move content into separate files and refer to them"))
}

/// Reads the same as text.
fn read_text(workspace: &Workspace, path: &Path) -> Result<String, Diagnostic> {
    decode_utf8(path, read_input(workspace, path)?)
}

fn decode_utf8(path: &Path, bytes: Vec<u8>) -> Result<String, Diagnostic> {
    String::from_utf8(bytes).map_err(|_| {
        Diagnostic::with_code(ErrorCode::InvalidInput, format!("`{}` is not UTF-8", path.display()))
            .hint(CONVERT_HINT)
    })
}

/// Says that there are no handoffs yet, and how to start.
fn report_no_handoffs(ui: &mut Ui) -> Result<(), Diagnostic> {
    ui.say("There are no handoffs here yet. Next: midstride new \"what you found out\"")?;
    Ok(())
}

/// Reports the files that could not be read. The rest was shown.
fn report_unread(
    ui: &mut Ui,
    workspace: &Workspace,
    unread: Vec<FileError>,
) -> Result<CliOutcome, Diagnostic> {
    for text in workspace.skipped_settings() {
        ui.warn(&Diagnostic::new(text.to_string()))?;
    }
    let outcome = if unread.is_empty() { CliOutcome::Clean } else { CliOutcome::Incomplete };
    for error in unread {
        ui.warn(&Diagnostic::from(error))?;
    }
    Ok(outcome)
}
