use super::CliOutcome;
use super::entries::EntryArgs;
use crate::ui::Ui;
use clap::ValueEnum;
use midstride::store::Store;
use midstride::verbs::{self, ImportedNote, NewHandoff, TaskError, TaskSnapshot};
use midstride::workspace::Workspace;
use midstride_core::format::header::HandoffKind;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;
use std::path::PathBuf;

/// Write a new handoff
///
/// Fills in the id, the time, the commit and the folder. At a terminal, opens the document in your
/// editor; if you leave it unchanged, nothing is created. A stage document takes its number from
/// its upstream handoff, or uses the next free `feat-NNN`. With `--from NOTE`, turns a note into a
/// handoff: fills in the header from the note and adds the note's text. The note itself is not
/// changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride new 'Market pages take 14 s'
  midstride new 'Search is slow' --body - < notes.md
  midstride new 'Search is slow' --proof 'p95 is below 1 s' 'cargo bench search'
  midstride new 'Adopted plan' --from HANDOFF.md --no-edit")]
pub(crate) struct NewArgs {
    /// The title
    title: Option<String>,

    /// The id [default: keywords from the title]
    #[arg(long)]
    id: Option<String>,

    /// Kind of handoff
    #[arg(long, value_enum, conflicts_with = "stage")]
    kind: Option<NewKindArg>,

    /// The stage of a pipeline document, such as `discovery`
    #[arg(long)]
    stage: Option<String>,

    /// Upstream handoff, or note to adopt, by id or path
    #[arg(long, value_name = "UPSTREAM")]
    from: Option<String>,

    /// One line for search results
    #[arg(long, value_parser = super::parse_text)]
    description: Option<String>,

    /// One to three sentences for the next session
    #[arg(long, value_parser = super::parse_text)]
    summary: Option<String>,

    /// The author
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    by: Option<String>,

    /// The recipient; may be repeated
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    to: Vec<String>,

    /// Read the text from this file, or from stdin with `-`; a header in it is kept
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,

    /// Put it in the private folder [default for sessions]
    #[arg(long, conflicts_with = "committed")]
    private: bool,

    /// Put it in the committed folder
    #[arg(long)]
    committed: bool,

    /// Do not open the editor
    #[arg(long)]
    no_edit: bool,

    /// Print the new handoff as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    entries: EntryArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum NewKindArg {
    /// A problem that was investigated
    Investigation,
    /// A session that ended
    Session,
}

pub(crate) fn new(ui: &mut Ui, store: &Store, args: NewArgs) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let text = args.body.as_deref().map(|path| super::read_text(workspace, path)).transpose()?;
    let watched = Ui::is_interactive() && !args.no_edit && !args.json && text.is_none();
    let wanted = NewHandoff {
        title: args.title,
        id: args.id,
        kind: args.kind.map(|kind| match kind {
            NewKindArg::Investigation => HandoffKind::Investigation,
            NewKindArg::Session => HandoffKind::Session,
        }),
        stage: args.stage,
        description: args.description,
        summary: args.summary,
        by: args.by,
        to: args.to,
        upstream: args.from,
        text,
        entries: args.entries.author_notes(),
        private: if args.private { Some(true) } else { args.committed.then_some(false) },
    };
    let mut created = verbs::new(store, &wanted)?;
    if watched && created.origin.is_none() && workspace.environment().editor().is_some() {
        created.redacted.extend(verbs::fill_in(workspace, &created.stored)?);
    }
    if args.json {
        ui.print_json(&view::handoff::json(store, &created.stored))?;
        return Ok(CliOutcome::Clean);
    }
    let path = view::display_path(workspace, &created.stored.path);
    let key = created.stored.handoff(workspace).key();
    ui.say(&format!("Wrote {key}: {path}"))?;
    if let Some(taken) = &created.taken_id {
        ui.say(&format!("`{taken}` was taken, so the id is `{key}`"))?;
    }
    let key = view::shell_word(&key.to_string());
    super::report_redacted(ui, &created.redacted)?;
    report_tasks(ui, created.task_snapshot)?;
    if let Some(origin) = &created.origin {
        report_origin(ui, workspace, origin)?;
        ui.say(&format!("Next: midstride check {key}"))?;
        return Ok(CliOutcome::Clean);
    }
    for upstream in &created.upstream {
        ui.say(&view::handoff::inherited_text(workspace, upstream))?;
    }
    let fill_in = match verbs::lacks_text(workspace, &workspace.reread(&created.stored)?) {
        true => "fill it in, then ",
        false => "",
    };
    ui.say(&format!("Next: {fill_in}midstride check {key}"))?;
    Ok(CliOutcome::Clean)
}

/// Reports how a note was imported: the handoff has all of it, and the note is unchanged.
fn report_origin(
    ui: &mut Ui,
    workspace: &Workspace,
    origin: &ImportedNote,
) -> Result<(), Diagnostic> {
    let path = match origin.is_referenced {
        true => view::display_path(workspace, &origin.path),
        false => origin.path.display().to_string(),
    };
    ui.say(&format!("The handoff contains every line of {path}"))?;
    if !origin.imported_fields.is_empty() {
        ui.say(&format!("Header fields from the note: {}", origin.imported_fields.join(", ")))?;
    }
    if !origin.skipped_fields.is_empty() {
        ui.say(&format!("Kept only in the text: {}", origin.skipped_fields.join(", ")))?;
    }
    let note = match origin.is_referenced {
        true => {
            "sessions are briefed from the handoff instead, until you delete the handoff. Once you delete \
             the note, remove it from `dependencies.upstream` too"
        }
        false => "it is outside the project, so the handoff does not reference it",
    };
    Ok(ui.say(&format!("The note was not changed; {note}"))?)
}

/// Reports which open tasks the handoff stores.
fn report_tasks(ui: &mut Ui, carries: Result<TaskSnapshot, TaskError>) -> Result<(), Diagnostic> {
    let carries = match carries {
        Ok(carries) => carries,
        Err(error) => {
            let why = Diagnostic::from(error);
            let message = format!("the handoff does not include tasks: {}", why.message());
            return Ok(ui.warn(&why.hints().fold(Diagnostic::new(message), Diagnostic::hint))?);
        }
    };
    if carries.tasks > 0 {
        ui.say(&format!("The handoff includes {}", view::count(carries.tasks, "open task")))?;
    }
    if carries.omitted > 0 {
        let left = view::count(carries.omitted, "open task");
        ui.warn(&Diagnostic::new(format!(
            "omitted {left} that did not fit; `midstride sync` shares all tasks"
        )))?;
    }
    Ok(())
}
