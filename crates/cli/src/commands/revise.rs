use super::CliOutcome;
use crate::ui::Ui;
use midstride::journal::RevisionInfo;
use midstride::store::Store;
use midstride::verbs::{self, ReviseOutcome, RevisionEffects};
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
    let revised = match &args.body {
        Some(path) => verbs::revise(store, &stored, &super::read_text(workspace, path)?, &change)?,
        None => verbs::revise_in_editor(store, &stored, &change)?,
    };
    let ReviseOutcome::Recorded(recorded) = revised else {
        ui.say("Nothing changed.")?;
        return Ok(CliOutcome::Clean);
    };
    let RevisionEffects { after, findings, closed } =
        verbs::revision_effects(workspace, &stored, &recorded);
    if args.json {
        let reason = ui.clean(&change.reason);
        let json = view::recorded_change::json(workspace, &stored, &recorded, &reason);
        let findings = view::findings::json_for_findings(&after.document, &findings);
        ui.print_json(&json.with_findings(findings))?;
        return Ok(CliOutcome::Clean);
    }
    super::report_recorded(ui, workspace, &stored, &recorded, &change.reason, false)?;
    if let Some(status) = closed {
        ui.say(&view::recorded_change::closed_notice(&after.handoff(workspace).key(), status))?;
    }
    for line in view::findings::lines(&after.document, &findings, Surface::Terminal) {
        ui.say(&line)?;
    }
    let key = view::shell_word(&stored.handoff(workspace).key().to_string());
    ui.say(&format!("Next: midstride diff {key} shows what changed"))?;
    Ok(CliOutcome::Clean)
}
