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

/// Record a review and its verdict
///
/// A review can include a correction: `--body` supplies the new text and `--dropped` adds a wrong
/// turn, all in one revision. At a terminal, `--verdict corrected` without `--body` opens your
/// editor.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride review market --by ada --challenged 'the code path' --verdict held
  midstride review market --by ada --challenged '14 s' --verdict corrected")]
pub(crate) struct ReviewArgs {
    /// Id, id prefix, `id/stage`, or path
    handoff: String,

    /// The reviewer
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    by: String,

    /// The challenged claim
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    challenged: String,

    /// The verdict
    #[arg(long, value_enum)]
    verdict: ReviewVerdictArg,

    /// A wrong belief; recorded as a wrong turn
    #[arg(long, value_name = "TEXT", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    dropped: Option<String>,

    /// Why that was wrong
    #[arg(long, value_name = "TEXT", requires = "dropped", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    because: Option<String>,

    /// What replaces it
    #[arg(long, value_name = "TEXT", requires = "dropped", value_parser = super::parse_sentence, allow_hyphen_values = true)]
    instead: Option<String>,

    /// Read the corrected text from this file, or from stdin with `-`
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReviewVerdictArg {
    /// The handoff was right
    Held,
    /// Something in it was wrong and has been corrected
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
        && workspace.environment().editor().is_some();
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
    let closed = verbs::revision_effects(workspace, stored, recorded).closed;
    if let Some(status) = closed {
        let key = stored.handoff(workspace).key();
        ui.say(&view::recorded_change::closed_notice(&key, status))?;
    }
    if reviewed.has_correction {
        ui.say(&format!("Next: see what changed with midstride diff {key}"))?;
    } else if review.verdict == ReviewVerdict::Corrected {
        let reason = view::shell_word(&review.challenged);
        ui.say(&format!("Next: midstride edit {key} --reason {reason}"))?;
    }
    Ok(outcome)
}
