use super::CliOutcome;
use crate::ui::Ui;
use clap::ValueEnum;
use midstride::store::Store;
use midstride::verbs::{self, ReviewOutcome, ReviewRequest};
use midstride::workspace::{StoredHandoff, Workspace};
use midstride_core::handoff::lifecycle::{ReviewCorrection, ReviewVerdict};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;
use std::path::PathBuf;

/// Record that somebody called a handoff into question, and what came of it
///
/// What was wrong can be corrected in the same step: `--body` gives the text, `--dropped` what
/// becomes a wrong turn, and all of it is one revision. In a terminal a correction opens in your
/// editor.
#[derive(Debug, clap::Args)]
pub(crate) struct ReviewArgs {
    /// The handoff: an id, the start of one, `id/stage`, or a path
    handoff: String,

    /// Who looked at it
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    by: String,

    /// What was called into question
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    challenged: String,

    /// What came of it
    #[arg(long, value_enum)]
    verdict: ReviewVerdictArg,

    /// What was tried or believed, and is dropped; becomes a wrong turn
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    dropped: Option<String>,

    /// Why that was wrong
    #[arg(long, value_name = "TEXT", requires = "dropped", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    because: Option<String>,

    /// What takes its place
    #[arg(long, value_name = "TEXT", requires = "dropped", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    instead: Option<String>,

    /// Take the corrected text from a file, or from standard input with `-`
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,

    /// Print what was recorded as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReviewVerdictArg {
    /// The handoff was right
    Held,
    /// Something in it was wrong and is corrected
    Corrected,
    /// It was wrong
    Rejected,
}

pub(crate) fn review(
    ui: &mut Ui,
    store: &Store,
    args: ReviewArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let stored = workspace.find(&args.handoff)?;
    let given = args.body.as_deref().map(|path| super::read_text(workspace, path)).transpose()?;
    // A correction is written in the editor if a user is at a terminal.
    let in_editor = given.is_none()
        && args.verdict == ReviewVerdictArg::Corrected
        && Ui::is_interactive()
        && !args.json
        && workspace.environment().editor.is_some();
    let draft = in_editor.then(|| verbs::open_draft(workspace, &stored)).transpose()?;
    let (why_wrong, replaced_by) = (args.because, args.instead);
    let review = ReviewRequest {
        by: args.by,
        challenged: args.challenged,
        verdict: match args.verdict {
            ReviewVerdictArg::Held => ReviewVerdict::Held,
            ReviewVerdictArg::Corrected => ReviewVerdict::Corrected,
            ReviewVerdictArg::Rejected => ReviewVerdict::Rejected,
        },
        dropped: args.dropped.map(|tried| ReviewCorrection { tried, why_wrong, replaced_by }),
        text: given.or_else(|| draft.as_ref().map(|draft| draft.text.clone())),
    };
    let reviewed = verbs::review(store, &stored, &review);
    let reviewed = match (reviewed, draft) {
        (Err(error), Some(draft)) => {
            let kept = format!("your text is in `{}`", draft.path.display());
            return Err(Diagnostic::from(error).hint(kept));
        }
        (reviewed, None) => reviewed?,
        (Ok(reviewed), Some(draft)) => {
            draft.discard()?;
            reviewed
        }
    };
    report(ui, workspace, &stored, &review, &reviewed, args.json)
}

fn report(
    ui: &mut Ui,
    workspace: &Workspace,
    stored: &StoredHandoff,
    review: &ReviewRequest,
    reviewed: &ReviewOutcome,
    json: bool,
) -> Result<CliOutcome, Diagnostic> {
    let (recorded, reason) = (&reviewed.recorded, &reviewed.reason);
    let outcome = super::report_recorded(ui, workspace, stored, recorded, reason, json)?;
    let key = view::shell_word(&stored.handoff(workspace).key().to_string());
    if json {
        return Ok(outcome);
    }
    if reviewed.has_correction {
        ui.say(&format!("Next: midstride diff {key} shows what changed"))?;
    } else if review.verdict == ReviewVerdict::Corrected {
        let reason = view::shell_word(&review.challenged);
        ui.say(&format!("Next: midstride edit {key} --reason {reason}"))?;
    }
    Ok(outcome)
}
