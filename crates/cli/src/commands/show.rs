use super::CliOutcome;
use crate::ui::Ui;
use clap::ValueEnum;
use midstride::store::Store;
use midstride::verbs;
use midstride::workspace::StoredHandoff;
use midstride_core::text::id::split_revision;
use midstride_surface::diagnostic::{Diagnostic, ErrorCode};
use midstride_surface::view;

/// Show one handoff
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride show market
  midstride show market --history
  midstride show market --as pr")]
pub(crate) struct ShowArgs {
    /// Id, id prefix, `id/stage`, or path; `ID@1` for an earlier revision
    handoff: String,

    /// Only this section: a heading, or a field such as `decisions_made`
    #[arg(long, value_name = "NAME")]
    section: Option<String>,

    /// Show the history; `midstride show ID@2` shows revision 2
    #[arg(long, conflicts_with_all = ["section", "form"])]
    history: bool,

    /// Output format
    #[arg(long = "as", value_enum, value_name = "FORM")]
    form: Option<ShowFormArg>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ShowFormArg {
    /// The "Handoff Context" section for a pull request
    Pr,
    /// The file as is, without rendering Markdown
    Raw,
}

pub(crate) fn show(ui: &mut Ui, store: &Store, args: &ShowArgs) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let (name, revision) = split_revision(&args.handoff);
    if revision.is_some() && args.history {
        return Err(Diagnostic::with_code(
            ErrorCode::Usage,
            format!("`{}` is a single revision and has no history", args.handoff),
        )
        .hint(format!(
            "`midstride show {} --history` shows how it changed",
            view::shell_word(name)
        )));
    }
    let stored = workspace.find(name).map_err(|error| {
        let other = verbs::find_other_id(store, name);
        let hint = other.map(|other| view::handoff::other_id_hint(&other));
        hint.into_iter().fold(Diagnostic::from(error), Diagnostic::hint)
    })?;
    if let Some(number) = revision {
        return show_text(ui, store, args, stored, number);
    }
    if !args.json && store.is_edited_outside(&stored)? {
        ui.say("Edited outside midstride since its last revision; the next change records it.")?;
    }
    if args.history {
        return show_history(ui, store, &stored, args.json);
    }
    if args.json {
        ui.print_json(&view::handoff::json_with_deliveries(store, &stored))?;
        return Ok(CliOutcome::Clean);
    }
    show_form(ui, store, args, &stored)
}

/// Shows one revision of the handoff, a section of it, or another format.
fn show_text(
    ui: &mut Ui,
    store: &Store,
    args: &ShowArgs,
    stored: StoredHandoff,
    number: usize,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let text = store.revision_text(&stored, number)?;
    if args.json {
        ui.print_json(&view::revision::json(workspace, &stored, number, &text))?;
        return Ok(CliOutcome::Clean);
    }
    if args.section.is_some() || args.form.is_some() {
        return show_form(ui, store, args, &stored.with_text(text));
    }
    ui.print_raw(&text)?;
    Ok(CliOutcome::Clean)
}

fn show_form(
    ui: &mut Ui,
    store: &Store,
    args: &ShowArgs,
    stored: &StoredHandoff,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let text = match (&args.section, args.form) {
        (Some(name), _) => view::handoff::section(workspace, stored, name, Ui::width())
            .ok_or_else(|| {
                let known = view::handoff::section_names(stored);
                Diagnostic::with_code(
                    ErrorCode::NotFound,
                    format!(
                        "`{}` has no `{name}` section",
                        view::display_path(workspace, &stored.path)
                    ),
                )
                .hint(format!("it has {}", known.join(", ")))
            })?,
        (None, Some(ShowFormArg::Raw)) => {
            ui.print_raw(&stored.bytes)?;
            return Ok(CliOutcome::Clean);
        }
        (None, Some(ShowFormArg::Pr)) => view::pull_request::text(workspace, stored),
        (None, None) => view::handoff::text(store, stored, Ui::width()),
    };
    ui.print(&text)?;
    Ok(CliOutcome::Clean)
}

fn show_history(
    ui: &mut Ui,
    store: &Store,
    stored: &StoredHandoff,
    json: bool,
) -> Result<CliOutcome, Diagnostic> {
    if json {
        ui.print_json(&view::history::json(store, stored))?;
    } else {
        ui.print(&view::history::text(store, stored, Ui::width()))?;
    }
    Ok(CliOutcome::Clean)
}
