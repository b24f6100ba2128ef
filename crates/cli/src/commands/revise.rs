use super::CliOutcome;
use crate::ui::Ui;
use midstride::journal::{RecordedRevision, RevisionInfo};
use midstride::store::Store;
use midstride::verbs::{self, EditOutcome, ReviseOutcome};
use midstride::workspace::StoredHandoff;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::{self, Surface};
use std::path::PathBuf;

/// Give a handoff its next text, and say why
///
/// The text that is replaced is kept: `midstride show ID@1` shows it, `midstride diff` what changed.
/// Without `--body` the document opens in your editor. A text without a header replaces the body; one
/// whose header cannot be read is refused.
#[derive(Debug, clap::Args)]
pub(crate) struct ReviseArgs {
    /// The handoff: an id, the start of one, `id/stage`, or a path
    handoff: String,

    /// Why it is changed; becomes part of its history
    #[arg(long, value_parser = super::parse_sentence, allow_hyphen_values = true)]
    reason: String,

    /// Who changes it
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    by: Option<String>,

    /// Take the text from a file, or from standard input with `-`
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,

    /// Print what was recorded as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn revise(
    ui: &mut Ui,
    store: &Store,
    args: &ReviseArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let stored = workspace.find(&args.handoff)?;
    let change = RevisionInfo::by_text(args.reason.clone(), args.by.clone());
    let Some(recorded) = record_revision(store, &stored, args, &change)? else {
        ui.say("Nothing changed.")?;
        return Ok(CliOutcome::Clean);
    };
    let (after, faults) = verbs::findings_since(workspace, &stored, &recorded);
    if args.json {
        let reason = ui.clean(&change.reason);
        let json = view::recorded_change::json(workspace, &stored, &recorded, &reason);
        let faults = view::findings::json_for_findings(&after.document, &faults);
        ui.print_json(&json.with_findings(faults))?;
        return Ok(CliOutcome::Clean);
    }
    super::report_recorded(ui, workspace, &stored, &recorded, &change.reason, false)?;
    let was_open = stored.handoff(workspace).status().is_open();
    let ended = view::recorded_change::closed_notice(&after.handoff(workspace));
    if let Some(ended) = ended.filter(|_| !was_open) {
        ui.say(&ended)?;
    }
    for line in view::findings::lines(&after.document, &faults, Surface::Terminal) {
        ui.say(&line)?;
    }
    let key = view::shell_word(&stored.handoff(workspace).key().to_string());
    ui.say(&format!("Next: midstride diff {key} shows what changed"))?;
    Ok(CliOutcome::Clean)
}

/// Records the revision. Returns `None` if the text did not change.
fn record_revision(
    store: &Store,
    stored: &StoredHandoff,
    args: &ReviseArgs,
    change: &RevisionInfo,
) -> Result<Option<RecordedRevision>, Diagnostic> {
    let workspace = store.workspace();
    let Some(path) = &args.body else {
        return Ok(match verbs::edit(store, stored, change)? {
            EditOutcome::Revised(recorded) => Some(recorded),
            EditOutcome::Unchanged | EditOutcome::Saved(_) => None,
        });
    };
    let text = super::read_text(workspace, path)?;
    Ok(match verbs::revise(store, stored, &text, change)? {
        ReviseOutcome::Recorded(recorded) => Some(recorded),
        ReviseOutcome::Unchanged => None,
    })
}
