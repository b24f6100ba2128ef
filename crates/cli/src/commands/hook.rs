use crate::hooks;
use crate::ui::CliOutcome;
use midstride::clients::Client;
use midstride::sys::clock::Stopwatch;

/// Answer a client that calls its hook
///
/// Reads one call as JSON from standard input and answers it in the form of the client on standard
/// output. It never fails the client: on any error it answers nothing, and what went wrong stands in
/// `hooks.log` with what is never committed. In a repository without midstride it is silent, and so it
/// is with `MIDSTRIDE=off` and after `midstride off`.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct HookArgs {
    /// The client that calls
    #[arg(value_parser = super::client_parser())]
    client: &'static dyn Client,
}

pub(crate) fn hook(args: &HookArgs) -> CliOutcome {
    hooks::answer(args.client, Stopwatch::start());
    CliOutcome::Clean
}
