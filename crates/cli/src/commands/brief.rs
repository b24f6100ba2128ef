use super::search::PROGRESS_BAR_MIN;
use super::{ArgumentError, CliOutcome, report_unread};
use crate::ui::Ui;
use clap::ValueEnum;
use midstride::clients::{self, Client};
use midstride::store::Store;
use midstride::store::ledger::WaitPolicy;
use midstride::sys::env::SessionName;
use midstride::verbs::{
    self, BUDGET, BriefOutcome, BriefRequest, Delivery, LostSessions, TaskBoard,
};
use midstride::workspace::{Access, DocumentSelection, Workspace};
use midstride_core::brief::BriefOccasion;
use midstride_core::work::mission::Mission;
use midstride_surface::diagnostic::{Diagnostic, ErrorCode, untrusted_project, withheld_documents};
use midstride_surface::text::sanitize;
use midstride_surface::view;
use midstride_surface::view::trust_listing::authors_text;

/// Print the briefing for the next session
///
/// The briefing starts with your standing instructions, the goal, the status (commits, outside
/// effects, the last result of each check) and the next step. Corrections, wrong turns, open
/// failures, open tasks, findings and the agent's reports follow. Items come from the last session
/// that did work, open handoffs, tasks and the mission. Items that exceed the budget are counted by
/// kind. The briefing goes to standard output; the line on standard error is for you. A larger
/// `--budget` prints more than a session gets.
///
/// With `--session`, records which session was briefed; `midstride show ID` lists that session.
/// Printing a briefing changes nothing else.
///
/// `--as markdown` omits session ids, local paths and midstride commands, so that you can paste the
/// briefing into a pull request, a chat or another agent.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride brief
  midstride brief --budget 20000
  midstride brief --budget 2000 --json
  midstride brief market --as markdown
  midstride brief --last")]
pub(crate) struct BriefArgs {
    /// Session or handoff [default: the last session and open handoffs]
    #[arg(
        value_name = "SESSION",
        value_parser = super::parse_text,
        conflicts_with_all = ["acknowledge", "last", "skip_next"]
    )]
    subject: Option<String>,

    /// Maximum tokens [default: what a session gets; 2000 for SESSION]
    #[arg(long, value_name = "TOKENS", value_parser = budget)]
    budget: Option<u64>,

    /// List handoffs for this role first
    #[arg(long = "for", value_name = "ROLE", value_parser = super::parse_text)]
    role: Option<String>,

    /// Client to brief
    #[arg(long, value_parser = super::client_parser())]
    client: Option<&'static dyn Client>,

    /// How the session started
    #[arg(long, value_enum)]
    source: Option<BriefSourceArg>,

    /// Record the delivery to this session (with --client)
    #[arg(long, value_name = "ID", value_parser = super::parse_text)]
    session: Option<String>,

    /// Record that the session picked up these handoffs
    #[arg(long, value_name = "HANDOFF", num_args = 1.., conflicts_with_all = ["budget", "role", "source"])]
    acknowledge: Vec<String>,

    /// Print exactly what the newest session was briefed with
    #[arg(long, conflicts_with_all = ["budget", "role", "client", "source", "session", "acknowledge", "form"])]
    last: bool,

    /// Start the next session without a briefing
    #[arg(long, conflicts_with_all = ["budget", "role", "client", "source", "session", "acknowledge", "form", "last"])]
    skip_next: bool,

    /// Output format
    #[arg(
        long = "as",
        value_enum,
        value_name = "FORM",
        conflicts_with_all = ["role", "client", "source", "session", "acknowledge"]
    )]
    form: Option<BriefFormArg>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum BriefFormArg {
    /// Task status, decisions, open questions and next actions
    Mission,
    /// A page for readers without midstride
    Markdown,
    /// The first prompt for a session that continues the work
    Prompt,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum BriefSourceArg {
    Startup,
    Resume,
    Clear,
    Compact,
}

impl BriefSourceArg {
    fn occasion(self) -> BriefOccasion {
        match self {
            Self::Startup => BriefOccasion::Startup,
            Self::Resume => BriefOccasion::Resume,
            Self::Clear => BriefOccasion::Clear,
            Self::Compact => BriefOccasion::Compact,
        }
    }
}

impl BriefArgs {
    /// If `--source` is given, a client is waiting for its hook.
    pub(crate) fn wait_policy(&self) -> WaitPolicy {
        if self.source.is_some() { WaitPolicy::Hook } else { WaitPolicy::Command }
    }
}

fn budget(typed: &str) -> Result<u64, ArgumentError> {
    let (least, most) = (BUDGET.start(), BUDGET.end());
    let tokens = typed.parse().ok().filter(|tokens| BUDGET.contains(tokens));
    let wrong = || ArgumentError::new(format!("the budget must be from {least} to {most} tokens"));
    tokens.ok_or_else(wrong)
}

pub(crate) fn brief(
    ui: &mut Ui,
    store: &Store,
    args: &BriefArgs,
) -> Result<CliOutcome, Diagnostic> {
    let Some(view) = allowed_store(store, args.wait_policy())? else {
        return print_brief(ui, store, args);
    };
    let done = print_brief(ui, &view, args)?;
    ui.warn(&withheld_documents(store.workspace().access().withheld()))?;
    Ok(done)
}

/// The project without other people's documents, or `None` if nothing must be withheld.
pub(super) fn allowed_store(
    store: &Store,
    wait_policy: WaitPolicy,
) -> Result<Option<Store>, Diagnostic> {
    match store.workspace().access() {
        Access::Granted => Ok(None),
        Access::Own { .. } => Ok(Some(Store::new(store.workspace().own_view()?, wait_policy))),
        Access::Untrusted { documents } => {
            let refused = untrusted_project(documents);
            // Author names can be any text, so an agent does not get them.
            if store.workspace().environment().automation().is_some() {
                return Err(refused);
            }
            let authors = authors_text(&verbs::trust_listing(store.workspace()));
            Err(refused.hint(format!("authors in git: {authors}")))
        }
    }
}

/// Prints from a project or view with nothing to withhold.
fn print_brief(ui: &mut Ui, store: &Store, args: &BriefArgs) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    match args.form {
        Some(BriefFormArg::Mission) => return print_mission(ui, store, args),
        Some(form) => return print_form(ui, store, args, form),
        None => {}
    }
    if !args.acknowledge.is_empty() {
        return acknowledge(ui, store, args);
    }
    if args.last {
        return print_last(ui, workspace, args.json);
    }
    if args.skip_next {
        return skip_next(ui, workspace, args.json);
    }
    // Without a budget, this is what the next session starts with.
    let next = match args.budget.is_none() && args.subject.is_none() && args.source.is_none() {
        true => BriefRequest::for_next_session(workspace),
        false => BriefRequest::default(),
    };
    let asked = BriefRequest {
        occasion: args.source.map(BriefSourceArg::occasion).or(next.occasion),
        client: args.client,
        role: args.role.clone(),
        session: args.session.as_deref().map(|id| session_name(workspace, args, id)).transpose()?,
        tokens: args.budget.or(next.tokens),
        ..next
    };
    super::observe(workspace);
    let subject = args.subject.as_deref().map(|name| verbs::find_subject(store, Some(name)));
    let subject = subject.transpose()?;
    let mut progress = |done, all| {
        if all >= PROGRESS_BAR_MIN {
            ui.show_progress("indexing", done, all);
        }
    };
    let briefed = match &subject {
        Some(subject) => verbs::brief_subject(store, &asked, subject, &mut progress),
        None => verbs::brief(store, &asked, &mut progress),
    };
    match args.json {
        true => ui.print_json(&view::brief::json(&briefed))?,
        false => ui.print_wrapped(&briefed.briefing.text)?,
    }
    report(ui, store, briefed)
}

/// Prints the briefing of the newest session.
fn print_last(ui: &mut Ui, workspace: &Workspace, json: bool) -> Result<CliOutcome, Diagnostic> {
    let Some((session, text)) = verbs::last_briefing(workspace)? else {
        return Err(Diagnostic::with_code(
            ErrorCode::NotFound,
            "no session has been briefed here yet",
        )
        .hint("midstride doctor shows whether hooks run in this project"));
    };
    match json {
        true => ui.print_json(&view::brief::last_briefing_json(&session, &text))?,
        false => {
            ui.print_wrapped(&text)?;
            ui.say(&view::brief::last_briefing_line(&session))?;
        }
    }
    Ok(CliOutcome::Clean)
}

fn skip_next(ui: &mut Ui, workspace: &Workspace, json: bool) -> Result<CliOutcome, Diagnostic> {
    let is_new = verbs::skip_next_briefing(workspace)?;
    match json {
        true => ui.print_json(&view::brief::skipped_brief_json(is_new))?,
        false => ui.say("The next session starts without a briefing. Capture continues.")?,
    }
    Ok(CliOutcome::Clean)
}

/// The options that name a client, for a hint.
fn client_options() -> String {
    clients::ALL.map(|client| format!("--client {}", client.name())).join(", or ")
}

/// The session with the given id, of the given client or the client this runs in.
fn session_name(
    workspace: &Workspace,
    args: &BriefArgs,
    id: &str,
) -> Result<SessionName, Diagnostic> {
    let current = workspace.environment().session.as_ref().map(|session| session.client.as_str());
    let client = args.client.map(Client::name).or(current);
    let client = client.ok_or_else(|| {
        Diagnostic::with_code(
            ErrorCode::Usage,
            format!("cannot tell which client session `{}` belongs to", sanitize(id)),
        )
        .hint(format!("add {}", client_options()))
    })?;
    SessionName::parse(client, id).ok_or_else(|| {
        Diagnostic::with_code(
            ErrorCode::InvalidInput,
            format!("`{}` is not a session id", sanitize(id)),
        )
        .hint("a session id contains only letters, digits and hyphens")
        .hint("midstride session list shows the ids in this project")
    })
}

/// Reports what was briefed, and whether the delivery was recorded.
fn report(ui: &mut Ui, store: &Store, briefed: BriefOutcome) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    for line in view::brief::remarks(&briefed, view::Surface::Terminal) {
        ui.say(&line)?;
    }
    if briefed.briefing.text.is_empty() && briefed.ledger_error.is_none() {
        hint_recovery(ui, store)?;
    }
    if let Some(error) = briefed.ledger_error {
        ui.warn(&Diagnostic::from(error).hint("sessions, tasks and proofs are not included"))?;
    }
    if let Delivery::Failed(error) = briefed.delivery {
        ui.warn(
            &Diagnostic::from(error)
                .hint("the briefing is complete; only its delivery record is missing"),
        )?;
    }
    report_unread(ui, workspace, briefed.unread)
}

/// Hints at ended sessions that are not captured. A hook captures them at the next start.
fn hint_recovery(ui: &mut Ui, store: &Store) -> Result<(), Diagnostic> {
    let (sessions, _) = verbs::sessions(store, None)?;
    let LostSessions { all, older } = verbs::lost_sessions(store.workspace(), &sessions);
    let lost = match all {
        0 => return Ok(()),
        1 => "1 ended session is not captured".to_owned(),
        lost => format!("{lost} ended sessions are not captured"),
    };
    // Without --all, sessions from before setup are not captured.
    let all = if older > 0 { " --all" } else { "" };
    Ok(ui.say(&format!("hint: {lost}; run midstride session recover{all}"))?)
}

fn acknowledge(ui: &mut Ui, store: &Store, args: &BriefArgs) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let session = match (&args.session, &workspace.environment().session) {
        (Some(id), _) => session_name(workspace, args, id)?,
        (None, Some(session)) => session.clone(),
        (None, None) => {
            return Err(Diagnostic::with_code(
                ErrorCode::Usage,
                "cannot tell which session picked them up",
            )
            .hint(format!("add --session ID {}", client_options()))
            .hint("no option is needed inside a client that passes its session id"));
        }
    };
    let found = args.acknowledge.iter().map(|name| workspace.find(name));
    let found = found.collect::<Result<Vec<_>, _>>()?;
    let handoffs: Vec<_> = found.iter().collect();
    let new = verbs::acknowledge(store, &session, &handoffs, "brief")?;
    match args.json {
        true => ui.print_json(&view::brief::acknowledgment_json(&session, new))?,
        false => ui.say(&view::brief::acknowledgment_text(&session, handoffs.len(), new))?,
    }
    Ok(CliOutcome::Clean)
}

/// Prints a briefing on one session or handoff in another form.
fn print_form(
    ui: &mut Ui,
    store: &Store,
    args: &BriefArgs,
    form: BriefFormArg,
) -> Result<CliOutcome, Diagnostic> {
    let subject = verbs::find_subject(store, args.subject.as_deref())?;
    let text = match form {
        BriefFormArg::Prompt => verbs::continuation_prompt(store, &subject, args.budget),
        BriefFormArg::Markdown | BriefFormArg::Mission => {
            verbs::portable_markdown(store, &subject, args.budget)
        }
    };
    match args.json {
        true => ui.print_json(&view::brief::form_json(&text))?,
        false => ui.print(&text)?,
    }
    Ok(CliOutcome::Clean)
}

fn print_mission(ui: &mut Ui, store: &Store, args: &BriefArgs) -> Result<CliOutcome, Diagnostic> {
    if args.budget.is_some() || args.subject.is_some() {
        return Err(Diagnostic::new(
            "`--as mission` shows the whole mission and does not accept a budget, session or handoff",
        )
        .hint("midstride brief --as mission"));
    }
    let (workspace, json) = (store.workspace(), args.json);
    let states = verbs::missions(store)?;
    let tasks = TaskBoard::open(store)?.tasks;
    let agents = verbs::agents_in_flight(store)?;
    let DocumentSelection { documents, unread } = workspace.select(&[])?;
    let mission = Mission::combine(states.last(), &tasks);
    let briefing = view::mission::MissionBriefing {
        mission: mission.as_ref(),
        tasks: &tasks,
        agents: &agents,
        decisions: view::mission::open_decisions(workspace, &documents),
        questions: view::task::open_questions(workspace, &documents),
    };
    match json {
        true => ui.print_json(&view::mission::json(&briefing))?,
        false => ui.print_wrapped(&view::mission::text(&briefing))?,
    }
    if mission.is_none() && !json {
        ui.say("No mission state was captured; this is based on the tasks and handoffs.")?;
        ui.say("Next: midstride task mission --decision \"...\" --next \"...\"")?;
    }
    report_unread(ui, workspace, unread)
}
