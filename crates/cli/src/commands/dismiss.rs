use super::CliOutcome;
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// Close an item or instruction that briefings repeat
///
/// A briefing lists the items that earlier sessions left open, each with a handle such as `kf7q`.
/// An item closes automatically when its check passes or its task is done. Your standing
/// instructions (such as `i-3f09ac`) stay in effect until you revoke them in a prompt or dismiss
/// them here; agents cannot dismiss them.
///
/// Without a handle, lists what can be dismissed. Add `--wrong` if the item was not true;
/// `midstride doctor` counts such items.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride dismiss
  midstride dismiss kf7q --wrong")]
pub(crate) struct DismissArgs {
    /// The item's handle, as shown in the briefing
    #[arg(value_parser = super::parse_text)]
    handle: Option<String>,

    /// Record that the item was not true
    #[arg(long, requires = "handle")]
    wrong: bool,

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
    let item = verbs::dismiss(store, handle, args.wrong)?;
    match args.json {
        true => ui.print_json(&view::dismissable::dismissal_json(&item, args.wrong))?,
        false => ui.say(&view::dismissable::dismissal_text(&item, args.wrong))?,
    }
    Ok(CliOutcome::Clean)
}

fn list(ui: &mut Ui, store: &Store, json: bool) -> Result<CliOutcome, Diagnostic> {
    let items = verbs::dismissable_items(store)?;
    if json {
        ui.print_json(&view::dismissable::list_json(&items))?;
    } else if items.is_empty() {
        ui.say("Nothing to dismiss: no open items from earlier sessions, no instructions.")?;
    } else {
        ui.print(&view::dismissable::render_table(&items, Ui::width()).text)?;
    }
    Ok(CliOutcome::Clean)
}
