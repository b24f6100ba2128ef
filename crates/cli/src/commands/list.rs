mod graph;

use super::{
    CliOutcome, HandoffKindArg, HandoffStatusArg, path_from_root, report_no_handoffs, report_unread,
};
use crate::ui::Ui;
use midstride::store::Store;
use midstride::verbs::{self, HandoffListing, ListFilter};
use midstride::workspace::{StoredHandoff, Workspace};
use midstride_core::format::header::{HandoffKind, Status};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::json::JsonList;
use midstride_surface::view;
use std::path::PathBuf;

/// List the handoffs of this project
///
/// Lists open handoffs first, with indicators of how reliable each one is: age, revisions, reviews,
/// blocking questions and untested assumptions. With `--graph`, shows how handoffs are connected:
/// what they build on, mention and replace, which files they share, and suspicious cycles and
/// references.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride list
  midstride list --all --kind session
  midstride list --graph
  midstride list --graph market --depth 2 --format mermaid")]
pub(crate) struct ListArgs {
    /// Include closed handoffs
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

    /// Only handoffs for this user or agent, or with a question for them
    #[arg(long, value_name = "WHO")]
    owner: Option<String>,

    /// Only handoffs with an open blocking question
    #[arg(long)]
    blocked: bool,

    /// Only handoffs under this path
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,

    #[command(flatten)]
    graph: graph::GraphArgs,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn list(ui: &mut Ui, store: &Store, args: &ListArgs) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    if args.graph.graph {
        return graph::graph(ui, workspace, args);
    }
    let filter = args.filter(workspace)?;
    let HandoffListing { handoffs, hidden, documents, unread } = verbs::list(workspace, &filter)?;
    let handoffs: Vec<&StoredHandoff> = handoffs.iter().collect();
    if args.json {
        ui.print_json(
            &handoffs.iter().map(|s| view::handoff::json(store, s)).collect::<JsonList<_>>(),
        )?;
    } else if documents > 0 && handoffs.is_empty() {
        ui.say("No handoff matches.")?;
    } else if handoffs.is_empty() && unread.is_empty() {
        report_no_handoffs(ui)?;
    } else if !handoffs.is_empty() {
        let table = view::list::render_table(workspace, &handoffs, Ui::width());
        ui.print(&table.text)?;
        if !table.omitted_columns.is_empty() {
            let names = table.omitted_columns.join(", ");
            ui.say(&format!("Columns omitted: {names} (see `midstride show ID` or --json)"))?;
        }
    }
    if hidden > 0 && !args.json {
        ui.say(&format!("{hidden} closed; `midstride list --all` shows them"))?;
    }
    let outcome = report_unread(ui, workspace, unread)?;
    let is_filtered = documents > 0 && handoffs.is_empty() && hidden == 0;
    Ok(if is_filtered { outcome.or_nothing_matched() } else { outcome })
}

impl ListArgs {
    fn filter(&self, workspace: &Workspace) -> Result<ListFilter, Diagnostic> {
        let below = self.path.as_deref().map(|path| path_from_root(workspace, path));
        Ok(ListFilter {
            includes_closed: self.all,
            status: self.status.map(Status::from),
            kind: self.kind.map(HandoffKind::from),
            stage: self.stage.clone(),
            owner: self.owner.clone(),
            is_blocked: self.blocked,
            below: below.transpose()?,
        })
    }
}
