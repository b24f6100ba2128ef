use super::entries::EntryArgs;
use super::{ArgumentError, CliOutcome, report_redacted};
use crate::ui::Ui;
use clap::ArgAction;
use midstride::clients::Client;
use midstride::journal::{RecordedRevision, RevisionInfo};
use midstride::store::Store;
use midstride::verbs::{
    self, EditOutcome, SaveChange, SaveOutcome, SaveRequest, SaveSource, SessionChoice,
};
use midstride::workspace::Workspace;
use midstride_core::format::header::StartupKind;
use midstride_core::session::author_notes::{AuthorNotes, Reflection, ReflectionAnswer};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::Surface;
use midstride_surface::view::dismissable::instruction_hint;
use midstride_surface::view::save as view;
use std::path::{Path, PathBuf};

/// Save this session for the next one
///
/// Collects facts from the transcript, git and the tasks. Add what they mean with flags, in
/// Markdown or JSON (`--body -`), or in your editor. Saving again updates the same handoff and
/// keeps your text. If something is missing, lists it and exits with 1; the handoff is saved either
/// way, and `--accept REASON` accepts it as is. An agent is asked for missing parts only once.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride save --summary 'The cache works; the build fails' --next 'Fix the build'
  midstride save --session 5e55
  midstride save --body - < notes.md")]
pub(crate) struct SaveArgs {
    /// Session id or prefix [default: the current session, else the session of `--id`, else the
    /// newest]
    #[arg(long, value_name = "ID", conflicts_with = "transcript")]
    session: Option<String>,

    /// The session recorded in this transcript
    #[arg(long, value_name = "PATH")]
    transcript: Option<PathBuf>,

    /// Use only facts from git and the tasks
    #[arg(long, conflicts_with_all = ["session", "transcript", "client"])]
    no_session: bool,

    /// Only this client's sessions
    #[arg(long, value_parser = super::client_parser())]
    client: Option<&'static dyn Client>,

    /// The handoff to save into [default: the session's, or a new one]
    #[arg(long)]
    id: Option<String>,

    #[command(flatten)]
    said: AuthorNotesArgs,

    /// Read your notes from this file, or from stdin with `-`: Markdown or JSON
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,

    /// Accept what is missing, for this reason
    #[arg(long, value_name = "REASON", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    accept: Option<String>,

    /// Would you inherit this confidently with zero context? `yes`, or `no: why`
    #[arg(long, value_name = "ANSWER", value_parser = answer, help_heading = "Review questions")]
    inherit: Option<ReflectionAnswer>,

    /// Would the resuming agent find and read the plan documents before working? `yes`, or `no: why`
    #[arg(long, value_name = "ANSWER", value_parser = answer, help_heading = "Review questions")]
    finds_plans: Option<ReflectionAnswer>,

    /// The author
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    by: Option<String>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// The author's notes, given as flags.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Your notes")]
struct AuthorNotesArgs {
    /// The title
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    title: Option<String>,

    /// One to three sentences for the next session
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    summary: Option<String>,

    #[command(flatten)]
    entries: EntryArgs,

    /// What to do next, in order; may be repeated; replaces earlier steps
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    next: Vec<String>,

    /// A constraint for the next session; may be repeated
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    constraint: Vec<String>,

    /// A skill to load first, with its arguments; may be repeated
    #[arg(long, value_name = "NAME [ARGUMENTS]", value_parser = super::parse_text)]
    skill: Vec<String>,

    /// A document to read first; may be repeated
    #[arg(long, value_name = "PATH", value_parser = super::parse_text, action = ArgAction::Append)]
    read: Vec<String>,

    /// Your role
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    role: Option<String>,

    /// How you work: alone, with agents, in a pipeline
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    pattern: Option<String>,

    /// What the work is waiting for
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    waiting_for: Option<String>,
}

fn answer(typed: &str) -> Result<ReflectionAnswer, ArgumentError> {
    let wrong = || {
        ArgumentError::new(
            "answer yes or no, optionally with a reason, such as `no: the plan is not here`",
        )
    };
    ReflectionAnswer::parse(typed).ok_or_else(wrong)
}

impl AuthorNotesArgs {
    fn into_author_notes(self) -> AuthorNotes {
        let of = |kind: StartupKind, texts: Vec<String>| {
            texts.into_iter().map(move |text| (kind, kind.normalize(&text)))
        };
        let steps = of(StartupKind::Skill, self.skill)
            .chain(of(StartupKind::Read, self.read))
            .chain(of(StartupKind::Constraint, self.constraint));
        let notes = AuthorNotes {
            title: self.title,
            summary: self.summary,
            boot: steps.collect(),
            next: self.next,
            role: self.role,
            pattern: self.pattern,
            waiting_for: self.waiting_for,
            ..AuthorNotes::default()
        };
        self.entries.add_to(notes)
    }
}

pub(crate) fn save(ui: &mut Ui, store: &Store, args: SaveArgs) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let json = args.json;
    let watched = Ui::is_interactive() && !json;
    let flags = args.said.into_author_notes();
    let reflection = Reflection { inherit: args.inherit, finds_plans: args.finds_plans };
    let flags = flags.merge(AuthorNotes { reflection, ..AuthorNotes::default() });
    let silent = flags.is_empty() && args.accept.is_none();
    verbs::check_agent_project(workspace)?;
    if let Some(path) = &args.transcript {
        verbs::check_agent_transcript(workspace, path)?;
    }
    let given = args.body.as_deref().map(|body| read_author_notes(workspace, body)).transpose()?;
    let unsaid = given.is_none() && silent;
    let in_editor = unsaid && watched && workspace.environment().editor().is_some();
    let source = match (args.no_session, args.session, args.transcript) {
        (true, _, _) => SaveSource::NoSession,
        (false, Some(id), _) => SaveSource::Session(SessionChoice::Id(id)),
        (false, None, Some(path)) => SaveSource::Session(SessionChoice::Transcript(path)),
        (false, None, None) => SaveSource::Session(SessionChoice::Current),
    };
    let wanted = SaveRequest {
        source,
        client: args.client,
        author_notes: given.unwrap_or_default().merge(flags),
        id: args.id,
        accept: args.accept,
        by: args.by,
        is_agent: workspace.environment().automation().is_some_and(|caller| caller.is_agent()),
    };
    super::observe(workspace);
    let mut saved = verbs::save(store, &wanted)?;
    report_redacted(ui, &saved.redacted)?;
    if watched {
        saved = finish_interactively(ui, store, &wanted, saved, in_editor)?;
    }
    if unsaid && !in_editor && !json {
        ui.say(
            "Saved facts only. Add a summary with --summary, or pass your notes on standard input with `--body -`.",
        )?;
    }
    let outcome = report(ui, workspace, &saved, json)?;
    if !json && let Some(offer) = instruction_hint(&verbs::unwritten_instructions(store)?) {
        ui.say(&offer)?;
    }
    Ok(outcome)
}

/// Reads the author's notes from a file or standard input. Standard input is read only on request,
/// because clients may leave it open, and reading would never end.
fn read_author_notes(workspace: &Workspace, body: &Path) -> Result<AuthorNotes, Diagnostic> {
    let bytes = match body.as_os_str() == "-" {
        true => super::read_input(workspace, body)?,
        false => verbs::read_body(workspace, body)?,
    };
    Ok(AuthorNotes::parse(&super::decode_utf8(body, bytes)?)?)
}

/// At a terminal, lets the user edit the handoff and accept what is missing.
fn finish_interactively(
    ui: &mut Ui,
    store: &Store,
    wanted: &SaveRequest,
    mut saved: SaveOutcome,
    in_editor: bool,
) -> Result<SaveOutcome, Diagnostic> {
    let workspace = store.workspace();
    let mut wanted = SaveRequest { author_notes: AuthorNotes::default(), ..wanted.clone() };
    wanted.id = Some(saved.stored.handoff(workspace).key().id);
    if in_editor {
        match verbs::edit(store, &saved.stored, &RevisionInfo::edited(None))? {
            EditOutcome::Unchanged => {}
            EditOutcome::Saved(redacted) => report_redacted(ui, &redacted)?,
            EditOutcome::Revised { recorded, .. } => {
                super::report_record_problems(ui, &recorded)?;
                let revision = RecordedRevision {
                    redacted: Vec::new(),
                    has_outside_edit: false,
                    ledger_error: None,
                    ..recorded
                };
                saved.change = SaveChange::Revised(revision);
            }
        }
        saved = save_again(ui, store, &wanted, saved)?;
    }
    if !saved.quality.passes() && saved.accepted.is_none() {
        ui.say(&view::missing_text(&saved.quality, Surface::Terminal))?;
        let key = saved.stored.handoff(workspace).key();
        wanted.accept =
            ui.prompt(&format!("Reason to accept {key} without this [press Enter to decline]:"))?;
    }
    if wanted.accept.is_some() {
        saved = save_again(ui, store, &wanted, saved)?;
    }
    Ok(saved)
}

/// Saves again. If nothing changes, keeps the earlier outcome.
fn save_again(
    ui: &mut Ui,
    store: &Store,
    wanted: &SaveRequest,
    before: SaveOutcome,
) -> Result<SaveOutcome, Diagnostic> {
    let saved = verbs::save(store, wanted)?;
    report_redacted(ui, &saved.redacted)?;
    Ok(match saved.change {
        SaveChange::Unchanged => SaveOutcome { change: before.change, ..saved },
        SaveChange::New | SaveChange::Revised(_) => saved,
    })
}

fn report(
    ui: &mut Ui,
    workspace: &Workspace,
    saved: &SaveOutcome,
    json: bool,
) -> Result<CliOutcome, Diagnostic> {
    let complete = saved.is_complete();
    let outcome = if complete { CliOutcome::Clean } else { CliOutcome::Findings };
    if json {
        ui.print_json(&view::json(workspace, saved))?;
        return Ok(outcome);
    }
    // A complete handoff reports its path at the end.
    if !complete || matches!(saved.change, SaveChange::Unchanged) {
        ui.say(&view::written_text(workspace, saved))?;
    }
    if let SaveChange::Revised(recorded) = &saved.change {
        super::report_record_problems(ui, recorded)?;
    }
    if !complete {
        ui.say(&view::missing_text(&saved.quality, Surface::Terminal))?;
    }
    for remark in view::remarks(saved) {
        ui.say(&remark)?;
    }
    if !complete {
        ui.say(&view::how_to_add(workspace, saved))?;
        return Ok(outcome);
    }
    ui.print(&view::completion_text(workspace, saved, Surface::Terminal))?;
    Ok(outcome)
}
