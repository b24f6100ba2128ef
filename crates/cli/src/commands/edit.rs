use super::CliOutcome;
use super::entries::EntryArgs;
use crate::ui::Ui;
use midstride::journal::{RecordedRevision, RevisionInfo};
use midstride::store::Store;
use midstride::verbs::{self, EditOutcome, ReviseOutcome, RevisionEffects};
use midstride::workspace::StoredHandoff;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::findings::{self, HintDisplay};
use midstride_surface::view::{self, Surface};
use std::path::PathBuf;

/// Change a handoff
///
/// Without `--body`, opens a copy in your editor and records the result as a revision. With
/// `--body`, reads the new text from a file; text without a header replaces only the body. Flags
/// such as `--question` add to the header without opening the editor or requiring `--reason`.
/// Concurrent changes are merged. If they conflict, your text is kept in a file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride edit market
  midstride edit market --body HANDOFF.md --reason 'found the cause'
  midstride edit market --body - --reason 'measured again' < HANDOFF.md
  midstride edit market --question 'Is the cache shared?' --landmine 'The purge runs hourly'")]
pub(crate) struct EditArgs {
    /// Id, id prefix, `id/stage`, or path
    handoff: String,

    /// Read the new text from this file, or from stdin with `-`
    #[arg(long, value_name = "FILE", requires = "reason")]
    body: Option<PathBuf>,

    /// Reason for the change; recorded in the history
    #[arg(long, value_parser = super::parse_sentence, allow_hyphen_values = true)]
    reason: Option<String>,

    /// Author of the change
    #[arg(long, value_name = "WHO", value_parser = super::parse_text)]
    by: Option<String>,

    /// Print as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    entries: EntryArgs,
}

pub(crate) fn edit(ui: &mut Ui, store: &Store, args: &EditArgs) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let stored = workspace.find(&args.handoff)?;
    let entries = args.entries.author_notes();
    let change = match &args.reason {
        Some(reason) => RevisionInfo::by_text(reason.clone(), args.by.clone()),
        None if entries.is_empty() => RevisionInfo::edited(args.by.clone()),
        None => verbs::addition_info(&entries, args.by.clone()),
    };
    let text = args.body.as_deref().map(|path| super::read_text(workspace, path)).transpose()?;
    let edited = if text.is_none() && entries.is_empty() {
        verbs::edit(store, &stored, &change)?
    } else {
        match verbs::revise_with_entries(store, &stored, text.as_deref(), &entries, &change)? {
            ReviseOutcome::Unchanged => EditOutcome::Unchanged,
            ReviseOutcome::Recorded(recorded) => {
                EditOutcome::Revised { recorded, reason: change.reason.clone() }
            }
        }
    };
    match edited {
        EditOutcome::Unchanged => ui.say("Nothing changed.")?,
        EditOutcome::Saved(redacted) => {
            super::report_redacted(ui, &redacted)?;
            ui.say(&format!("Saved {}", view::display_path(workspace, &stored.path)))?;
            report_findings(ui, store, &stored, args.json)?;
        }
        EditOutcome::Revised { recorded, reason } => {
            report_revision(ui, store, &stored, &recorded, &reason, args.json)?;
        }
    }
    Ok(CliOutcome::Clean)
}

/// Reports the findings of a note, which has no history to compare with.
fn report_findings(
    ui: &mut Ui,
    store: &Store,
    stored: &StoredHandoff,
    json: bool,
) -> Result<(), Diagnostic> {
    let workspace = store.workspace();
    let checked = verbs::check_documents(store, None, vec![workspace.reread(stored)?]);
    if json {
        ui.print_json(&findings::json(&checked, &[]))?;
        return Ok(());
    }
    let hints = HintDisplay::Counted { show_with: "midstride check -v" };
    ui.print(&findings::human(workspace, &checked, Surface::Terminal, Ui::width(), hints))?;
    ui.say(&findings::summary(&checked, hints))?;
    Ok(())
}

/// Reports a revision, with the findings that the old text did not have.
fn report_revision(
    ui: &mut Ui,
    store: &Store,
    stored: &StoredHandoff,
    recorded: &RecordedRevision,
    reason: &str,
    json: bool,
) -> Result<(), Diagnostic> {
    let workspace = store.workspace();
    let RevisionEffects { after, findings, closed } =
        verbs::revision_effects(workspace, stored, recorded);
    if json {
        let reason = ui.clean(reason);
        let json = view::recorded_change::json(workspace, stored, recorded, &reason);
        let findings = findings::json_for_findings(&after.document, &findings);
        ui.print_json(&json.with_findings(findings))?;
        return Ok(());
    }
    super::report_recorded(ui, workspace, stored, recorded, reason, false)?;
    if let Some(status) = closed {
        ui.say(&view::recorded_change::closed_notice(&after.handoff(workspace).key(), status))?;
    }
    for line in findings::lines(&after.document, &findings, Surface::Terminal) {
        ui.say(&line)?;
    }
    let key = view::shell_word(&stored.handoff(workspace).key().to_string());
    ui.say(&format!("Next: see what changed with midstride diff {key}"))?;
    Ok(())
}
