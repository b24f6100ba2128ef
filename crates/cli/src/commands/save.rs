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

/// Save this session for whoever goes on from here
///
/// The facts come from the transcript, git and the tasks; you say what they mean: with flags, in
/// Markdown or JSON (`--body -`, without which standard input is not read), or in your editor. Where
/// nothing is said, the facts alone are saved. Saving again adds to the same handoff: facts are
/// brought up to date, and what you wrote stays. Then it says exactly what is missing. Nothing is
/// lost by that: the handoff is saved, with exit code 1, and `--accept REASON` saves it as it is. An
/// agent is asked once; its second save is kept as it is, and the handoff lists what is missing.
#[derive(Debug, clap::Args)]
pub(crate) struct SaveArgs {
    /// The session, by its id or the beginning of it; else the one this runs in, where its client
    /// tells, the one of the named handoff, or the one whose transcript changed last
    #[arg(long, value_name = "ID", conflicts_with = "transcript")]
    session: Option<String>,

    /// The session of this transcript
    #[arg(long, value_name = "PATH")]
    transcript: Option<PathBuf>,

    /// No client ran it: facts from git and the tasks only
    #[arg(long, conflicts_with_all = ["session", "transcript", "client"])]
    no_session: bool,

    /// Only sessions of this client
    #[arg(long, value_parser = super::client_parser())]
    client: Option<&'static dyn Client>,

    /// The handoff to save into; else the one of the session, or a new one
    #[arg(long)]
    id: Option<String>,

    #[command(flatten)]
    said: AuthorNotesArgs,

    /// Take what you say from a file, or from standard input with `-`: Markdown, with or without a
    /// header, or JSON
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,

    /// Save it with what is missing, for this reason
    #[arg(long, value_name = "REASON", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    accept: Option<String>,

    /// Would you inherit this confidently with zero context? `yes`, or `no: why`
    #[arg(long, value_name = "ANSWER", value_parser = answer, help_heading = "Looking at it from outside")]
    inherit: Option<ReflectionAnswer>,

    /// Would the resuming agent find and read the plan documents before working? `yes`, or `no: why`
    #[arg(long, value_name = "ANSWER", value_parser = answer, help_heading = "Looking at it from outside")]
    finds_plans: Option<ReflectionAnswer>,

    /// Who saves it
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    by: Option<String>,

    /// Print what was saved and what is missing as JSON
    #[arg(long)]
    json: bool,
}

/// What an author says with flags.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What you say")]
struct AuthorNotesArgs {
    /// What it is about, in one line
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    title: Option<String>,

    /// One to three sentences for whoever comes next
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    summary: Option<String>,

    /// What was decided, as `X because Y`; may be given several times
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    decision: Vec<String>,

    /// What was tried and was wrong, as `X because Y; instead Z`; may be given several times
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    wrong_turn: Vec<String>,

    /// What will bite whoever works here next; may be given several times
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    landmine: Vec<String>,

    /// What is not known; may be given several times
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    question: Vec<String>,

    /// What the work has to wait for; may be given several times
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    blocking_question: Vec<String>,

    /// What to do next, in order; may be given several times, and is said anew each time
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    next: Vec<String>,

    /// What whoever goes on has to keep to; may be given several times
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    constraint: Vec<String>,

    /// A skill to load first, with its arguments; may be given several times
    #[arg(long, value_name = "NAME [ARGUMENTS]", value_parser = super::parse_text)]
    skill: Vec<String>,

    /// A document to read first; may be given several times
    #[arg(long, value_name = "PATH", value_parser = super::parse_text, action = ArgAction::Append)]
    read: Vec<String>,

    /// In which role you work
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    role: Option<String>,

    /// How the work is done: alone, with agents, in a pipeline
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    pattern: Option<String>,

    /// What the work waits for
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    waiting_for: Option<String>,
}

fn answer(typed: &str) -> Result<ReflectionAnswer, ArgumentError> {
    let wrong = || ArgumentError::new("say yes or no, then why: `no: the plan is not here`");
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
        let judgement = AuthorNotes {
            title: self.title,
            summary: self.summary,
            boot: steps.collect(),
            next: self.next,
            role: self.role,
            pattern: self.pattern,
            waiting_for: self.waiting_for,
            ..AuthorNotes::default()
        };
        let judgement = self.decision.iter().fold(judgement, |all, one| all.with_decision(one));
        let judgement = self.wrong_turn.iter().fold(judgement, |all, one| all.with_wrong_turn(one));
        let judgement = self.landmine.iter().fold(judgement, |all, one| all.with_landmine(one));
        let judgement =
            self.question.iter().fold(judgement, |all, one| all.with_question(one, false));
        self.blocking_question.iter().fold(judgement, |all, one| all.with_question(one, true))
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
    let in_editor = unsaid && watched && workspace.environment().editor.is_some();
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
            "Nothing was said, so the facts stand alone; standard input is read with `--body -`.",
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
        wanted.accept =
            ui.prompt("Why may that be missing? (a reason accepts it, Enter leaves it)")?;
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
