use super::{
    CliOutcome, HandoffKindArg, HandoffStatusArg, path_from_root, report_no_handoffs, report_unread,
};
use crate::ui::Ui;
use midstride::store::Store;
use midstride::workspace::{DocumentSelection, StoredHandoff, Workspace};
use midstride_core::format::header::{HandoffKind, Status};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;
use std::path::PathBuf;

/// List the handoffs of this project
///
/// Open ones first, with what tells how far each can be trusted: its age, how often it was revised
/// and reviewed, and what is open: questions that block, assumptions nobody validated.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Ended ones too
    #[arg(long)]
    all: bool,

    /// Only this status
    #[arg(long, value_enum)]
    status: Option<HandoffStatusArg>,

    /// Only this kind
    #[arg(long, value_enum)]
    kind: Option<HandoffKindArg>,

    /// Only this stage
    #[arg(long)]
    stage: Option<String>,

    /// Only what this person or agent is to take over or to answer
    #[arg(long, value_name = "WHO")]
    owner: Option<String>,

    /// Only what waits for an answer
    #[arg(long)]
    blocked: bool,

    /// Only what lies below this path
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn list(ui: &mut Ui, store: &Store, args: &ListArgs) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let DocumentSelection { documents: stored, unread } = workspace.select(&[])?;
    let below = args.path.as_deref().map(|path| path_from_root(workspace, path)).transpose()?;
    let fits = |stored: &StoredHandoff| {
        matches_filter(workspace, stored, args)
            && below.as_ref().is_none_or(|b| stored.path.starts_with(b))
    };
    let is_open = |stored: &StoredHandoff| stored.handoff(workspace).status().is_open();
    let asked_for_ended = args.all || args.status.is_some();
    let hidden = stored.iter().filter(|s| fits(s) && !is_open(s)).count();
    let mut chosen: Vec<&StoredHandoff> =
        stored.iter().filter(|s| fits(s) && (asked_for_ended || is_open(s))).collect();
    view::list::sort(workspace, &mut chosen);
    if args.json {
        ui.print_json(&chosen.iter().map(|s| view::handoff::json(store, s)).collect::<Vec<_>>())?;
    } else if !stored.is_empty() && chosen.is_empty() {
        ui.say("No handoff fits.")?;
    } else if chosen.is_empty() && unread.is_empty() {
        report_no_handoffs(ui)?;
    } else if !chosen.is_empty() {
        let table = view::list::render_table(workspace, &chosen, Ui::width());
        ui.print(&table.text)?;
        if !table.omitted_columns.is_empty() {
            let names = table.omitted_columns.join(", ");
            ui.say(&format!("No room for {names}; `midstride show ID` or --json tells them"))?;
        }
    }
    if hidden > 0 && !asked_for_ended && !args.json {
        ui.say(&format!("{hidden} ended; `midstride list --all` shows them"))?;
    }
    report_unread(ui, workspace, unread)
}

fn matches_filter(workspace: &Workspace, stored: &StoredHandoff, args: &ListArgs) -> bool {
    let handoff = stored.handoff(workspace);
    let questions = handoff.questions();
    let status = args.status.map(Status::from);
    let kind = args.kind.map(HandoffKind::from);
    let owned = |who: &String| {
        let takes_over = handoff.to().iter().any(|to| to.value == who);
        let answers = |q: &midstride_core::format::header::Question<'_>| {
            q.answer.is_none() && q.owner.is_some_and(|owner| owner.value == who)
        };
        takes_over || questions.iter().any(answers)
    };
    status.is_none_or(|status| handoff.status() == status)
        && kind.is_none_or(|kind| handoff.kind() == kind)
        && args.stage.as_deref().is_none_or(|stage| handoff.stage() == Some(stage))
        && args.owner.as_ref().is_none_or(owned)
        && (!args.blocked || questions.iter().any(midstride_core::format::header::Question::blocks))
}
