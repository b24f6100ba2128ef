use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::store::ledger::{Cursor, Ledger as _};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;
use std::time::Duration;

/// How many records are read at once.
const PAGE_SIZE: usize = 500;
/// How often `--follow` checks for events, even without a notification.
const POLL_INTERVAL: Duration = Duration::from_mins(1);

/// Print events from the ledger
///
/// First records document changes that are not in the ledger yet. With `--json`, prints one
/// CloudEvent per line; pass an event's `sequence` to `--after` to see only later events.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride events
  midstride events --json --after 3")]
pub(crate) struct EventsArgs {
    /// Keep printing new events
    #[arg(long)]
    follow: bool,

    /// Only events after this sequence number
    #[arg(long, value_name = "SEQUENCE")]
    after: Option<String>,

    /// Print one CloudEvent per line
    #[arg(long)]
    json: bool,
}

pub(crate) fn events(
    ui: &mut Ui,
    store: &Store,
    args: &EventsArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let ledger = store.ledger()?;
    // Watch before the first read, so that no event in between is missed.
    let mut watch = ledger.watch()?;
    for stored in workspace.read_all().into_iter().filter_map(Result::ok) {
        store.reconcile(ledger, &stored)?;
    }
    let mut cursor = args.after.as_deref().map_or(Cursor::START, Cursor::from_engine);
    loop {
        let page = ledger.read_all(&cursor, PAGE_SIZE)?;
        cursor = page.next;
        for record in &page.records {
            let lines = view::events::lines(record, args.json);
            if args.json { ui.print_json_text(&lines)? } else { ui.print(&lines)? }
        }
        if !page.records.is_empty() {
            continue;
        }
        if !args.follow {
            return Ok(CliOutcome::Clean);
        }
        watch.wait(POLL_INTERVAL);
    }
}
