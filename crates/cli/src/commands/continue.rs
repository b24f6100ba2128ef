use super::CliOutcome;
use super::brief::allowed_store;
use crate::ui::Ui;
use midstride::clients::Client;
use midstride::store::Store;
use midstride::store::ledger::WaitPolicy;
use midstride::verbs;
use midstride_surface::diagnostic::{Diagnostic, withheld_documents};
use midstride_surface::view::continuation as view;

/// Continue a session or handoff in a new session
///
/// Starts a client in this terminal with the briefing as its first prompt. By default, continues
/// the last session in the same client, even if that session is still open.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride continue
  midstride continue --in codex
  midstride continue --print")]
pub(crate) struct ContinueArgs {
    /// Session or handoff [default: the last session]
    #[arg(value_name = "SESSION", value_parser = super::parse_text)]
    subject: Option<String>,

    /// Client to start
    #[arg(long = "in", value_parser = super::client_parser(), value_name = "CLIENT")]
    client: Option<&'static dyn Client>,

    /// Print the command without running it
    #[arg(long)]
    print: bool,

    /// Print the command and the prompt as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn r#continue(
    ui: &mut Ui,
    store: &Store,
    args: &ContinueArgs,
) -> Result<CliOutcome, Diagnostic> {
    let own = allowed_store(store, WaitPolicy::Command)?;
    if own.is_some() {
        ui.warn(&withheld_documents(store.workspace().access().withheld()))?;
    }
    let store = own.as_ref().unwrap_or(store);
    let subject = verbs::find_subject(store, args.subject.as_deref())?;
    let client = args.client.or(subject.client()).ok_or_else(|| {
        Diagnostic::new(format!("no session is known for handoff {}", subject.name()))
            .hint("use --in to specify the client to start")
    })?;
    if args.json {
        let prompt = verbs::continuation_prompt(store, &subject, None);
        ui.print_json(&view::json(client, &subject, &prompt))?;
        return Ok(CliOutcome::Clean);
    }
    if args.print {
        ui.print(&format!("{}\n", view::command(client, &subject)))?;
        return Ok(CliOutcome::Clean);
    }
    if !Ui::is_interactive() {
        return Err(Diagnostic::new(format!("cannot start {}: no terminal", client.title()))
            .hint("midstride continue --print prints the command to type"));
    }
    let prompt = verbs::continuation_prompt(store, &subject, None);
    ui.say(&format!("Starting {} to continue {}", client.title(), subject.name()))?;
    Err(verbs::start_client(store.workspace().environment(), client, &prompt).into())
}
