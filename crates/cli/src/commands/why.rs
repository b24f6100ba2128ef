use super::{CliOutcome, report_unread};
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, CommitTarget};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::why as view;

/// Show why a commit or line was written
///
/// Prints the commit, the handoffs that name it or its session, and the session that made it, with
/// that session's request, report, decisions and wrong turns. A session is shown only if its
/// records show the commit.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride why HEAD
  midstride why app/market.py:20")]
pub(crate) struct WhyArgs {
    /// Commit, or `FILE:LINE`
    #[arg(value_name = "COMMIT", value_parser = super::parse_text)]
    target: String,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn why(ui: &mut Ui, store: &Store, args: &WhyArgs) -> Result<CliOutcome, Diagnostic> {
    Ui::show_status("reading sessions");
    let reason = verbs::why(store, &CommitTarget::parse(&args.target));
    Ui::show_status("");
    let reason = reason?;
    match args.json {
        true => ui.print_json(&view::json(&reason))?,
        false => ui.print(&view::text(&reason, Ui::width()))?,
    }
    let is_explained = reason.session.is_some() || !reason.handoffs.is_empty();
    let outcome = report_unread(ui, store.workspace(), reason.unread)?;
    Ok(if is_explained { outcome } else { CliOutcome::Findings })
}
