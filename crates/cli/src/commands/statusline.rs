use crate::hooks;
use crate::ui::CliOutcome;
use midstride::sys::clock::Stopwatch;

/// Print the status line for a client
///
/// Reads one call as JSON from standard input and prints one line with the number of open handoffs,
/// the session's last check, and the size of its briefing. On any error, the line is empty.
#[derive(Debug, clap::Args)]
#[command(
    hide = true,
    after_help = "Examples:
  midstride statusline < call.json"
)]
pub(crate) struct StatuslineArgs {}

pub(crate) fn statusline() -> CliOutcome {
    hooks::print_status_line(Stopwatch::start());
    CliOutcome::Clean
}
