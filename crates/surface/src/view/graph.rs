//! Renders how handoffs are connected: as trees, as Mermaid, as JSON.

mod json;
mod mermaid;
mod tree;

pub use json::json;
pub use mermaid::mermaid;
pub use tree::tree;

use super::shell_word;
use super::table::line_width;
use midstride::workspace::Workspace;
use midstride_core::handoff::graph::{DanglingReference, Edge, Graph, GraphNode};
use midstride_core::text::id::nearest_match;

/// With more dangling references than this, no similar names are suggested, because each one is
/// compared with every handoff.
const SUGGESTED_MAX: usize = 100;

/// The hint for handoffs without connections.
const ORPHANS_HINT: &str =
    "list what they build on under `dependencies.upstream`; an unconnected handoff is not an error";

/// A part of the graph, with the whole graph it comes from.
pub struct GraphView<'g> {
    /// The project, for paths.
    pub workspace: &'g Workspace,
    /// The graph of all handoffs, for suggested names.
    pub whole: &'g Graph,
    /// The handoffs to show.
    pub part: &'g Graph,
    /// The width of the terminal, if there is one. Only the tree depends on it.
    pub terminal: Option<usize>,
}

impl GraphView<'_> {
    fn width(&self) -> usize {
        line_width(self.terminal)
    }

    fn node(&self, node: usize) -> &GraphNode {
        &self.part.nodes[node]
    }

    fn key(&self, node: usize) -> String {
        super::one_line(&self.node(node).key.to_string(), usize::MAX)
    }

    fn orphans(&self) -> Vec<usize> {
        (0..self.part.nodes.len()).filter(|node| self.node(*node).is_orphan).collect()
    }

    fn edit_command(&self, node: usize) -> String {
        format!("midstride edit {}", shell_word(&self.node(node).key.to_string()))
    }

    /// The hint for a cycle.
    fn cycle_hint(&self, edges: &[&Edge]) -> String {
        let last = edges.iter().filter_map(|edge| edge.location).next_back();
        let edit = last
            .map_or_else(String::new, |location| format!(": {}", self.edit_command(location.node)));
        format!("decide which came first, and remove the other reference{edit}")
    }

    /// The hint for a dangling reference.
    fn dangling_hint(&self, dangling: &DanglingReference) -> String {
        let edit = self.edit_command(dangling.location.node);
        if !dangling.candidates.is_empty() {
            return format!("choose one of {}: {edit}", dangling.candidates.join(", "));
        }
        let keys: Vec<String> = match self.part.dangling.len() {
            0..=SUGGESTED_MAX => self.whole.nodes.iter().map(|n| n.key.to_string()).collect(),
            _ => Vec::new(),
        };
        match nearest_match(&dangling.written, keys.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`? {edit}"),
            None => format!("create it, or correct the name: {edit}"),
        }
    }
}

/// What is wrong with a dangling reference.
fn dangling_problem(dangling: &DanglingReference) -> String {
    let what = format!("{}: `{}`", dangling.kind.word(), dangling.written);
    match dangling.candidates.len() {
        0 => format!("{what} does not exist"),
        several => format!("{what} matches {several} handoffs"),
    }
}

/// The status of a handoff, or `note`.
fn status_word(node: &GraphNode) -> String {
    node.status.map_or_else(|| "note".to_owned(), |status| status.to_string())
}
