use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, DismissOutcome};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::{self, dismissable};

/// Close an item or instruction that briefings repeat
///
/// A briefing lists the items that earlier sessions left open, each with a handle such as `kf7q`.
/// An item closes automatically when its check passes or its task is done. Your standing
/// instructions (such as `i-3f09ac`) stay in effect until you revoke them in a prompt or dismiss
/// them here; agents cannot dismiss them.
///
/// A note such as `HANDOFF.md` has no status that could be closed. Dismiss it to keep it out of
/// briefings, and restore it with `--undo`. To close a handoff, use `midstride resolve`.
///
/// Without a handle, lists what can be dismissed and the dismissed notes. Add `--wrong` if the item
/// was not true; `midstride doctor` counts such items.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride dismiss
  midstride dismiss kf7q --wrong
  midstride dismiss HANDOFF.md")]
pub(crate) struct DismissArgs {
    /// The item's handle, as shown in the briefing, or a note
    #[arg(value_parser = super::parse_text)]
    handle: Option<String>,

    /// Record that the item was not true
    #[arg(long, requires = "handle")]
    wrong: bool,

    /// Brief sessions from a dismissed note again
    #[arg(long, requires = "handle", conflicts_with = "wrong")]
    undo: bool,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn dismiss(
    ui: &mut Ui,
    store: &Store,
    args: &DismissArgs,
) -> Result<CliOutcome, Diagnostic> {
    let Some(handle) = &args.handle else { return list(ui, store, args.json) };
    if args.undo {
        let path = verbs::undo_dismiss(store, handle)?;
        let path = view::display_path(store.workspace(), &path);
        match args.json {
            true => ui.print_json(&dismissable::note_dismissal_json(&path, None))?,
            false => ui.say(&format!("Sessions are briefed from {path} again"))?,
        }
        return Ok(CliOutcome::Clean);
    }
    match (verbs::dismiss_named(store, handle, args.wrong)?, args.json) {
        (DismissOutcome::Item(item), true) => {
            ui.print_json(&dismissable::dismissal_json(&item, args.wrong))?;
        }
        (DismissOutcome::Item(item), false) => {
            ui.say(&dismissable::dismissal_text(&item, args.wrong))?;
        }
        (DismissOutcome::Note(path), is_json) => {
            let path = view::display_path(store.workspace(), &path);
            let now = store.workspace().environment().clock.now();
            match is_json {
                true => ui.print_json(&dismissable::note_dismissal_json(&path, Some(now)))?,
                false => ui.say(&dismissable::note_dismissal_text(&path))?,
            }
        }
    }
    Ok(CliOutcome::Clean)
}

fn list(ui: &mut Ui, store: &Store, json: bool) -> Result<CliOutcome, Diagnostic> {
    let items = verbs::dismissable_items(store)?;
    let notes = verbs::dismissed_notes(store.workspace()).into_iter();
    let notes: Vec<(String, _)> =
        notes.map(|(path, at)| (view::display_path(store.workspace(), &path), at)).collect();
    if json {
        ui.print_json(&dismissable::list_json(&items, &notes))?;
        return Ok(CliOutcome::Clean);
    }
    match items.is_empty() {
        true => {
            ui.say("Nothing to dismiss: no open items from earlier sessions, no instructions.")?;
        }
        false => ui.print(&dismissable::render_table(&items, Ui::width()).text)?,
    }
    if !notes.is_empty() {
        ui.say(dismissable::notes_text(&notes).trim_end())?;
    }
    Ok(CliOutcome::Clean)
}
