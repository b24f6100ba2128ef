use super::CliOutcome;
use super::client::report_path_problem;
use crate::ui::Ui;
use midstride::clients::install::{InstallNote, InstallScope};
use midstride::clients::{Client, SessionLiveness};
use midstride::store::Store;
use midstride::store::ledger::WaitPolicy;
use midstride::sys::env::Environment;
use midstride::verbs::{self, BriefRequest, Extent, ListedSession, SetupClient, TrustListing};
use midstride::workspace::consent::{ConsentChoice, ConsentError, UserConsent};
use midstride::workspace::{Access, Workspace};
use midstride_surface::diagnostic::{Diagnostic, ErrorCode, withheld_documents};
use midstride_surface::json::JsonList;
use midstride_surface::view::session_cost::SessionCost;
use midstride_surface::view::setup::{self as view, SetupProjectJson, SetupScreen};

/// The width of the screen if the terminal does not report one.
const WIDTH: usize = 80;

/// Set up midstride on this machine
///
/// Finds the clients you use, shows what it will change, and asks once. Then it installs hooks, an
/// MCP server and two commands, imports this repository's past sessions, and prints the briefing
/// that the next session will get. Run it again to repair an installation.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride setup
  midstride setup --yes --client claude-code
  midstride setup --status-line
  midstride setup --undo")]
pub(crate) struct SetupArgs {
    /// Only this client; may be repeated
    #[arg(long, value_parser = super::client_parser(), value_name = "CLIENT")]
    client: Vec<&'static dyn Client>,

    /// Capture in this repository only
    #[arg(long, conflicts_with = "undo")]
    here: bool,

    /// Also show open handoffs and checks in the status line
    #[arg(long, conflicts_with = "undo")]
    status_line: bool,

    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,

    /// Do not trust the documents in this repository
    #[arg(long, conflicts_with = "undo")]
    no_trust: bool,

    /// Show the changes as a diff first
    #[arg(long)]
    diff: bool,

    /// Restore every file that setup changed
    #[arg(long)]
    undo: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Sets up midstride. `cost` estimates what it adds to a session.
pub(crate) fn setup(
    ui: &mut Ui,
    environment: &Environment,
    args: &SetupArgs,
    cost: impl FnOnce() -> SessionCost,
) -> Result<CliOutcome, Diagnostic> {
    if args.undo {
        return undo(ui, environment, args);
    }
    Ui::show_status("looking for clients");
    let clients = verbs::plan_setup(environment, &args.client, args.status_line)?;
    Ui::show_status("");
    let workspace = open_repository(environment);
    let documents = workspace.as_ref().filter(|_| !args.no_trust).and_then(documents_of_others);
    let is_installed = clients.iter().all(|one| one.plan.changes.is_empty());
    if is_installed && documents.is_none() && !args.here {
        return finish(ui, environment, args, &clients);
    }
    if !args.json {
        let screen = SetupScreen {
            clients: &clients,
            home: environment.home.as_deref(),
            documents: documents.as_ref(),
            has_repository: workspace.is_some(),
            retention: workspace.as_ref().map(Workspace::retention).unwrap_or_default(),
            cost: cost(),
            adds_status_line: args.status_line,
        };
        ui.say(view::screen(&screen, Ui::width().unwrap_or(WIDTH)).trim_end())?;
    }
    if args.diff {
        ui.show_lines(environment, &view::diff(&clients, documents.as_ref()))?;
    }
    let Some(agreement) = ask(ui, environment, args, &clients, documents.as_ref())? else {
        ui.say("Nothing was changed.")?;
        return Ok(CliOutcome::Findings);
    };
    verbs::apply_setup(environment, &clients)?;
    if let Some(workspace) = &workspace {
        if agreement.only_here {
            verbs::limit_to_repository(workspace)?;
        }
        if let Some(consent) = &agreement.consent {
            verbs::trust_documents(workspace, consent)?;
        }
    }
    finish(ui, environment, args, &clients)
}

/// The repository of the current folder, if midstride may do something there.
fn open_repository(environment: &Environment) -> Option<Workspace> {
    let workspace = Workspace::discover(environment.clone()).ok()?;
    let is_usable = workspace.repository().is_some() && workspace.exclusion().is_none();
    is_usable.then_some(workspace)
}

/// The documents that the user can trust with the answer.
fn documents_of_others(workspace: &Workspace) -> Option<TrustListing> {
    let is_asked = UserConsent::check(workspace.environment()).is_ok();
    let needs_trust = matches!(workspace.access(), Access::Own { .. });
    (is_asked && needs_trust).then(|| verbs::trust_listing(workspace))
}

/// What the user agreed to.
struct Agreement {
    only_here: bool,
    /// `None` if the user was not asked or declined, so that nothing is trusted.
    consent: Option<UserConsent>,
}

/// Asks the user at the terminal. `None` if they decline.
fn ask(
    ui: &mut Ui,
    environment: &Environment,
    args: &SetupArgs,
    clients: &[SetupClient],
    documents: Option<&TrustListing>,
) -> Result<Option<Agreement>, Diagnostic> {
    let answer = args.yes.then_some(if args.here { 'r' } else { 'a' });
    let mut trusts_documents = documents.is_some();
    loop {
        let (text, others) = match trusts_documents {
            true => ("Set up midstride? [a/r/t/d/q]", &['t', 'd', 'q'][..]),
            false => ("Set up midstride? [a/r/d/q]", &['d', 'q'][..]),
        };
        let agreeing = &['a', 'r'][..];
        let choice = ConsentChoice { text, agreeing, others, answer };
        match UserConsent::choose(environment, choice) {
            Ok(('d', _)) => {
                let trusted = documents.filter(|_| trusts_documents);
                ui.show_lines(environment, &view::diff(clients, trusted))?;
            }
            Ok(('t', _)) => {
                trusts_documents = false;
                ui.say("Trusts   nothing; to trust the documents later, run `midstride trust`")?;
            }
            Ok((_, None)) => return Ok(None),
            Ok((letter, Some(consent))) => {
                let only_here = letter == 'r' || args.here;
                let consent = trusts_documents.then_some(consent);
                return Ok(Some(Agreement { only_here, consent }));
            }
            // Installing only makes clients call midstride; nothing is trusted without the user.
            Err(_) if args.yes => {
                return Ok(Some(Agreement { only_here: args.here, consent: None }));
            }
            Err(error @ (ConsentError::NoTerminal | ConsentError::RequiresUser(_))) => {
                return Err(Diagnostic::from_error(&error).hint("pass `--yes`"));
            }
            Err(error) => return Err(Diagnostic::from_error(&error)),
        }
    }
}

/// Reports what was installed, imports past sessions and prints the briefing.
fn finish(
    ui: &mut Ui,
    environment: &Environment,
    args: &SetupArgs,
    clients: &[SetupClient],
) -> Result<CliOutcome, Diagnostic> {
    if !args.json {
        report_path_problem(ui)?;
        if args.status_line {
            report_other_entries(ui, clients)?;
        }
        for one in clients {
            if one.plan.changes.is_empty() {
                ui.say(&view::unchanged(one))?;
                continue;
            }
            let status = verbs::client_status(environment, one.client, &InstallScope::User)?;
            for line in midstride_surface::view::client::install_remarks(&status) {
                ui.say(&line)?;
            }
        }
    }
    let project = match open_repository(environment) {
        Some(workspace) => Some(import(ui, workspace)?),
        None => None,
    };
    if args.json {
        ui.print_json(&view::json(clients, project))?;
        return Ok(CliOutcome::Clean);
    }
    let Some(project) = project else {
        ui.say("Next: start a session in one of your repositories")?;
        return Ok(CliOutcome::Clean);
    };
    if project.briefing.is_empty() {
        ui.say("No past sessions or open handoffs here. Start a session; the one after it is briefed from it.")?;
    } else {
        ui.say("")?;
        ui.say(&view::found(&project))?;
        ui.print_wrapped(&project.briefing)?;
    }
    if project.withheld > 0 {
        ui.warn(&withheld_documents(project.withheld))?;
    }
    Ok(CliOutcome::Clean)
}

/// Reports user settings that stay instead of midstride's, such as another status line.
fn report_other_entries(ui: &mut Ui, clients: &[SetupClient]) -> Result<(), Diagnostic> {
    for note in clients.iter().flat_map(|one| &one.plan.notes) {
        if matches!(note, InstallNote::OtherEntry(..)) {
            let (message, hint) = midstride_surface::view::client::note(note);
            ui.warn(&Diagnostic::new(message).hint(hint))?;
        }
    }
    Ok(())
}

/// Imports past sessions of a repository, and makes the briefing of the next one.
fn import(ui: &mut Ui, workspace: Workspace) -> Result<SetupProjectJson, Diagnostic> {
    ui.redactor().set_project(&workspace);
    let access = workspace.access();
    let handoffs = verbs::count_documents(&workspace);
    let store = Store::new(workspace, WaitPolicy::Command);
    verbs::import_sessions(&store, verbs::IMPORTED_MAX, &mut |done, all| {
        ui.show_progress("importing sessions", done, all);
    })?;
    // Without it, the briefing does not say what was committed since.
    drop(verbs::observe(store.workspace()));
    let (sessions, _) = verbs::sessions(&store, None)?;
    let is_past = |one: &&ListedSession| one.life != SessionLiveness::Running;
    let (forgotten, sessions): (Vec<_>, Vec<_>) =
        sessions.iter().filter(is_past).partition(|one| one.extent == Extent::Forgotten);
    let own_view = match access {
        Access::Own { .. } => Some(Store::new(store.workspace().own_view()?, WaitPolicy::Command)),
        Access::Granted | Access::Untrusted { .. } => None,
    };
    let asked = BriefRequest::for_next_session(store.workspace());
    let briefed = verbs::brief(own_view.as_ref().unwrap_or(&store), &asked, &mut |_, _| ());
    Ok(SetupProjectJson {
        sessions: sessions.len(),
        forgotten: forgotten.len(),
        handoffs,
        withheld: access.withheld(),
        briefing: briefed.briefing.text.clone(),
    })
}

/// Restores what setup changed.
fn undo(
    ui: &mut Ui,
    environment: &Environment,
    args: &SetupArgs,
) -> Result<CliOutcome, Diagnostic> {
    let plans = verbs::plan_undo(environment, &args.client)?;
    if args.diff {
        ui.show_lines(environment, &midstride_surface::view::client::changes(&plans))?;
    }
    let has_changes = plans.iter().any(|plan| !plan.changes.is_empty());
    if has_changes && !args.yes {
        if !Ui::is_interactive() {
            return Err(Diagnostic::with_code(
                ErrorCode::RequiresUser,
                "cannot prompt: no terminal",
            )
            .hint("pass `--yes`"));
        }
        let files: usize = plans.iter().map(|plan| plan.changes.len()).sum();
        let files = midstride_surface::view::count(files, "file");
        if !ui.confirm(&format!("Remove midstride from your clients ({files})?"))? {
            ui.say("Nothing was changed.")?;
            return Ok(CliOutcome::Findings);
        }
    }
    for plan in &plans {
        verbs::apply_plan(environment, plan)?;
    }
    let settings = verbs::undo_limit(environment)?;
    if args.json {
        ui.print_json(&JsonList::from_iter(midstride_surface::view::client::plans_json(&plans)))?;
        return Ok(CliOutcome::Clean);
    }
    view::undone(&plans, &settings).iter().try_for_each(|line| ui.say(line))?;
    ui.say("Captured sessions and handoffs are kept. `midstride data` lists them; `midstride forget --all` deletes the sessions")?;
    Ok(CliOutcome::Clean)
}
