//! `midstride list --graph`: how handoffs are connected.

use super::ListArgs;
use crate::commands::{CliOutcome, report_no_handoffs, report_unread};
use crate::ui::Ui;
use clap::ValueEnum;
use midstride::verbs::{self, ProjectGraph};
use midstride::workspace::Workspace;
use midstride_core::handoff::graph::{EdgeKind, Graph, SubgraphQuery};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::{count, graph as view};

/// The options of `--graph`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "With --graph")]
pub(super) struct GraphArgs {
    /// Start at these handoffs or paths [default: open handoffs]
    #[arg(requires = "graph", conflicts_with = "all")]
    handoffs: Vec<String>,

    /// Show connections as trees, with files that handoffs share
    #[arg(long, conflicts_with_all = ["status", "kind", "stage", "owner", "blocked", "path"])]
    pub(super) graph: bool,

    /// Maximum number of steps from the start
    #[arg(long, value_name = "STEPS", requires = "graph", conflicts_with = "all")]
    depth: Option<usize>,

    /// Only this kind of connection; may be repeated
    #[arg(long, value_enum, requires = "graph")]
    link: Vec<EdgeKindArg>,

    /// Output format
    #[arg(long, value_enum, requires = "graph", conflicts_with = "json")]
    format: Option<GraphFormatArg>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EdgeKindArg {
    /// Handoffs it builds on
    Upstream,
    /// Handoffs it leads to
    Downstream,
    /// Handoffs it replaces
    Supersedes,
    /// Handoffs named in its text
    Mentions,
    /// Handoffs that cite the same file
    Shares,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum GraphFormatArg {
    /// Text
    #[default]
    Tree,
    /// A Mermaid diagram
    Mermaid,
    /// JSON
    Json,
}

/// Prints the connections. They are not rated, so the exit code is 0 unless something could not be
/// read.
pub(super) fn graph(
    ui: &mut Ui,
    workspace: &Workspace,
    list: &ListArgs,
) -> Result<CliOutcome, Diagnostic> {
    let args = &list.graph;
    let ProjectGraph { graph: whole, named, unread } = verbs::graph(workspace, &args.handoffs)?;
    let from = if args.handoffs.is_empty() { start_nodes(&whole, list.all) } else { named };
    let part = whole.subgraph(&SubgraphQuery { from, depth: args.depth, kinds: edge_kinds(args) });
    let shown = view::GraphView { workspace, whole: &whole, part: &part, terminal: Ui::width() };
    let format = if list.json { Some(GraphFormatArg::Json) } else { args.format };
    match format.unwrap_or_default() {
        GraphFormatArg::Tree if whole.nodes.is_empty() && unread.is_empty() => {
            report_no_handoffs(ui)?;
        }
        GraphFormatArg::Tree => {
            ui.print(&view::tree(&shown))?;
            report_omitted(ui, &whole, &part, args)?;
        }
        GraphFormatArg::Mermaid => ui.print(&view::mermaid(&shown))?,
        GraphFormatArg::Json => ui.print_json(&view::json(&shown, &unread))?,
    }
    report_unread(ui, workspace, unread)
}

/// All nodes, or those that are not closed.
fn start_nodes(graph: &Graph, all: bool) -> Vec<usize> {
    (0..graph.nodes.len()).filter(|node| all || !graph.nodes[*node].is_closed()).collect()
}

fn edge_kinds(args: &GraphArgs) -> Vec<EdgeKind> {
    if args.link.is_empty() {
        return EdgeKind::ALL.to_vec();
    }
    let kind = |kind: &EdgeKindArg| match kind {
        EdgeKindArg::Upstream => EdgeKind::Upstream,
        EdgeKindArg::Downstream => EdgeKind::Downstream,
        EdgeKindArg::Supersedes => EdgeKind::Supersedes,
        EdgeKindArg::Mentions => EdgeKind::Mentions,
        EdgeKindArg::Shares => EdgeKind::Shares,
    };
    args.link.iter().map(kind).collect()
}

/// Reports what is not in the trees.
fn report_omitted(
    ui: &mut Ui,
    whole: &Graph,
    part: &Graph,
    args: &GraphArgs,
) -> Result<(), Diagnostic> {
    let is_lone = |node: &usize| !part.nodes[*node].is_orphan;
    match part.unconnected().into_iter().filter(is_lone).count() {
        0 => {}
        lone => {
            ui.say(&format!("{} without any connection of this kind", count(lone, "handoff")))?;
        }
    }
    let left_out = whole.nodes.len() - part.nodes.len();
    if left_out > 0 {
        let why = match args.handoffs.is_empty() {
            true => "closed, with no connection to an open handoff",
            false => "too many steps away, or not connected at all",
        };
        ui.say(&format!(
            "{left_out} not shown: {why}; increase --depth to go further, or use --all to show all of them"
        ))?;
    }
    Ok(())
}
