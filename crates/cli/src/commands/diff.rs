use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, NamedRevision};
use midstride_core::text::id::split_revision;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Show what changed between two revisions
///
/// `midstride diff ID` compares the last two revisions; `midstride diff ID@1` compares that
/// revision with the newest one. On a terminal, marks changed words; elsewhere, prints a unified
/// diff.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride diff market
  midstride diff market@1 market@2 --words")]
pub(crate) struct DiffArgs {
    /// Handoff, or one of its revisions such as `ID@1`
    from: String,

    /// Revision to compare it with
    to: Option<String>,

    /// Print a unified diff even on a terminal
    #[arg(long)]
    unified: bool,

    /// Mark changed words even when not on a terminal
    #[arg(long, conflicts_with = "unified")]
    words: bool,

    /// Print the revision names, whether they differ, and a unified diff as JSON
    #[arg(long, conflicts_with_all = ["unified", "words"])]
    json: bool,
}

pub(crate) fn diff(ui: &mut Ui, store: &Store, args: &DiffArgs) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let (name, from) = split_revision(&args.from);
    let stored = workspace.find(name)?;
    let (other, to) = match args.to.as_deref().map(split_revision) {
        Some((name, number)) => (workspace.find(name)?, number),
        None => (workspace.find(name)?, None),
    };
    let (old, new) = verbs::diff(
        store,
        NamedRevision { stored: &stored, number: from },
        NamedRevision { stored: &other, number: to },
    )?;
    let names = (format!("{}@{}", old.key, old.number), format!("{}@{}", new.key, new.number));
    let (old, new) = (String::from_utf8_lossy(&old.text), String::from_utf8_lossy(&new.text));
    if args.json {
        ui.print_json(&view::difference::json(&old, &new, names))?;
        return Ok(CliOutcome::Clean);
    }
    let by_words = args.words || (Ui::is_interactive() && !args.unified);
    ui.print(&if by_words {
        view::difference::word_diff(&old, &new, &names)
    } else {
        view::difference::unified_diff(&old, &new, &names)
    })?;
    Ok(CliOutcome::Clean)
}
