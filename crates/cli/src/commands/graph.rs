use super::{CliOutcome, report_no_handoffs, report_unread};
use crate::ui::Ui;
use clap::ValueEnum;
use midstride::verbs::{self, ProjectGraph};
use midstride::workspace::Workspace;
use midstride_core::handoff::graph::{EdgeKind, Graph, SubgraphQuery};
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::{count, graph as view};

/// Show how handoffs are connected
///
/// As trees: below each handoff stands what came of it and what mentions it. Then the files that
/// some of them cite together, and what may be wrong: cycles, references that lead nowhere, handoffs that stand alone.
/// Without names: the open ones, what they came of and what came of them, and what they are
/// otherwise connected with. Nothing is judged here, so the exit code is 0 whatever there is; 2 if
/// something could not be read.
#[derive(Debug, clap::Args)]
pub(crate) struct GraphArgs {
    /// Handoffs or paths to begin with; the open ones where none is given
    handoffs: Vec<String>,

    /// Only what is so many steps away from them, over any connection
    #[arg(long, value_name = "STEPS")]
    depth: Option<usize>,

    /// Only connections of this kind; can be given again
    #[arg(long, value_enum)]
    kind: Vec<EdgeKindArg>,

    /// Every handoff, ended ones too
    #[arg(long, conflicts_with_all = ["handoffs", "depth"])]
    all: bool,

    /// How to print the graph
    #[arg(long, value_enum, default_value_t)]
    format: GraphFormatArg,

    /// The same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EdgeKindArg {
    /// What a handoff says that it builds on
    Upstream,
    /// What a handoff says that it leads to
    Downstream,
    /// What took the place of another
    Supersedes,
    /// What the text of another names
    Mentions,
    /// What cites the same file
    Shares,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum GraphFormatArg {
    /// For people
    #[default]
    Tree,
    /// A drawing, for Markdown pages that show Mermaid
    Mermaid,
    /// For programs
    Json,
}

pub(crate) fn graph(
    ui: &mut Ui,
    workspace: &Workspace,
    args: &GraphArgs,
) -> Result<CliOutcome, Diagnostic> {
    let ProjectGraph { graph: whole, named, unread } = verbs::graph(workspace, &args.handoffs)?;
    let from = if args.handoffs.is_empty() { start_nodes(&whole, args.all) } else { named };
    let part = whole.subgraph(&SubgraphQuery { from, depth: args.depth, kinds: edge_kinds(args) });
    let shown = view::GraphView { workspace, whole: &whole, part: &part, terminal: Ui::width() };
    match if args.json { GraphFormatArg::Json } else { args.format } {
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
    if args.kind.is_empty() {
        return EdgeKind::ALL.to_vec();
    }
    let kind = |kind: &EdgeKindArg| match kind {
        EdgeKindArg::Upstream => EdgeKind::Upstream,
        EdgeKindArg::Downstream => EdgeKind::Downstream,
        EdgeKindArg::Supersedes => EdgeKind::Supersedes,
        EdgeKindArg::Mentions => EdgeKind::Mentions,
        EdgeKindArg::Shares => EdgeKind::Shares,
    };
    args.kind.iter().map(kind).collect()
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
        lone => ui.say(&format!("{} without a connection of this kind", count(lone, "handoff")))?,
    }
    let left_out = whole.nodes.len() - part.nodes.len();
    if left_out > 0 {
        let why = match args.handoffs.is_empty() {
            true => "ended, with no connection to an open one",
            false => "further away, or not connected at all",
        };
        ui.say(&format!("{left_out} {why}; --depth reaches further, --all shows every one"))?;
    }
    Ok(())
}
