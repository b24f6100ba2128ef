use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Show what changed between two revisions
///
/// `midstride diff ID` compares the last two, `midstride diff ID@1` that one with the newest,
/// `midstride diff ID@1 ID@3` these two. On a terminal the changed words are marked; elsewhere it is
/// a unified diff.
#[derive(Debug, clap::Args)]
pub(crate) struct DiffArgs {
    /// A handoff, or a revision of it such as `ID@1`
    from: String,

    /// The revision to compare with
    to: Option<String>,

    /// A unified diff, on a terminal too
    #[arg(long)]
    unified: bool,

    /// Mark the changed words, elsewhere too
    #[arg(long, conflicts_with = "unified")]
    words: bool,

    /// Print the names, whether they differ, and a unified diff as JSON
    #[arg(long, conflicts_with_all = ["unified", "words"])]
    json: bool,
}

pub(crate) fn diff(ui: &mut Ui, store: &Store, args: &DiffArgs) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let (name, from) = super::split_revision(&args.from);
    let stored = workspace.find(name)?;
    let last = stored.handoff(workspace).replaced_texts().len() + 1;
    let (other, to) = match args.to.as_deref().map(super::split_revision) {
        Some((name, number)) => (workspace.find(name)?, number.unwrap_or(0)),
        None => (workspace.find(name)?, 0),
    };
    let from = match (from, last) {
        (Some(number), _) => number,
        (None, 1) => {
            let key = stored.handoff(workspace).key();
            return Err(Diagnostic::new(format!("`{key}` was never revised"))
                .hint("`midstride revise` gives it a second text"));
        }
        (None, last) => last - 1,
    };
    let newest = other.handoff(workspace).replaced_texts().len() + 1;
    let to = if to == 0 { newest } else { to };
    let old = store.revision_text(&stored, from)?;
    let new = store.revision_text(&other, to)?;
    let (old, new) = (String::from_utf8_lossy(&old), String::from_utf8_lossy(&new));
    let names = (
        format!("{}@{from}", stored.handoff(workspace).key()),
        format!("{}@{to}", other.handoff(workspace).key()),
    );
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
