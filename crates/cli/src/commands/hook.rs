use crate::hooks;
use crate::ui::CliOutcome;
use midstride::clients::Client;
use midstride::sys::clock::Stopwatch;

/// Answer a hook call from a client
///
/// Reads one call as JSON from standard input and prints the answer in the client's format. Never
/// fails the client: on an error, prints no answer and writes to `hooks.log`. Silent with
/// `MIDSTRIDE=off`, after `midstride off`, and in excluded repositories.
#[derive(Debug, clap::Args)]
#[command(
    hide = true,
    after_help = "Examples:
  midstride hook claude-code < call.json"
)]
pub(crate) struct HookArgs {
    /// The calling client
    #[arg(value_parser = super::client_parser())]
    client: &'static dyn Client,
}

pub(crate) fn hook(args: &HookArgs) -> CliOutcome {
    hooks::answer(args.client, Stopwatch::start());
    CliOutcome::Clean
}
