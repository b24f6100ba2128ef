//! Selects a part of the graph: some handoffs and their neighborhood.

use super::{DanglingReference, Edge, EdgeKind, Graph, Hub, ReferenceLocation};
use std::collections::{BTreeSet, HashMap};

/// Which part of the graph to select.
#[derive(Clone, Debug)]
pub struct SubgraphQuery {
    /// The handoffs to start from.
    pub from: Vec<usize>,
    /// The number of steps from them, over any connection. `None` follows strong connections to the
    /// end and takes one step to mentions and shared files.
    pub depth: Option<usize>,
    /// The kinds of connections to include.
    pub kinds: Vec<EdgeKind>,
}

impl Graph {
    /// The selected part as a separate graph.
    #[must_use]
    pub fn subgraph(&self, query: &SubgraphQuery) -> Self {
        let edges: Vec<&Edge> =
            self.edges.iter().filter(|edge| query.kinds.contains(&edge.kind)).collect();
        let kept = self.reachable(query, &edges);
        let new_index: HashMap<usize, usize> =
            kept.iter().enumerate().map(|(new, old)| (*old, new)).collect();
        let relocate = |location: ReferenceLocation| {
            Some(ReferenceLocation { node: *new_index.get(&location.node)?, ..location })
        };
        let edge = |edge: &&Edge| {
            let (from, to) = (*new_index.get(&edge.from)?, *new_index.get(&edge.to)?);
            Some(Edge { from, to, location: edge.location.and_then(relocate), ..(*edge).clone() })
        };
        let dangling = self.dangling.iter().filter(|d| query.kinds.contains(&d.kind));
        let hub = |hub: &Hub| {
            let cited_by: Vec<usize> =
                hub.cited_by.iter().filter_map(|node| new_index.get(node).copied()).collect();
            let is_here = query.kinds.contains(&EdgeKind::Shares) && !cited_by.is_empty();
            is_here.then(|| Hub { file: hub.file.clone(), cited_by })
        };
        Self {
            nodes: kept.iter().map(|node| self.nodes[*node].clone()).collect(),
            edges: edges.iter().filter_map(edge).collect(),
            dangling: dangling
                .filter_map(|d| {
                    Some(DanglingReference { location: relocate(d.location)?, ..d.clone() })
                })
                .collect(),
            hubs: self.hubs.iter().filter_map(hub).collect(),
        }
    }

    fn reachable(&self, query: &SubgraphQuery, edges: &[&Edge]) -> BTreeSet<usize> {
        let all = |_: &Edge| true;
        let strong = |edge: &Edge| edge.kind.is_strong();
        let start: BTreeSet<usize> = query.from.iter().copied().collect();
        match query.depth {
            Some(depth) => self.reachable_within(&start, edges, all, depth),
            None => {
                let mut reached = self.reachable_within(&start, edges, strong, usize::MAX);
                reached.append(&mut self.reachable_within(&start, edges, all, 1));
                reached
            }
        }
    }

    /// The nodes reachable within `depth` steps, in either direction.
    fn reachable_within(
        &self,
        start: &BTreeSet<usize>,
        edges: &[&Edge],
        counts: impl Fn(&Edge) -> bool,
        depth: usize,
    ) -> BTreeSet<usize> {
        let mut neighbors = vec![Vec::new(); self.nodes.len()];
        for edge in edges.iter().filter(|edge| counts(edge)) {
            neighbors[edge.from].push(edge.to);
            neighbors[edge.to].push(edge.from);
        }
        let mut reached = start.clone();
        let mut frontier: Vec<usize> = start.iter().copied().collect();
        for _ in 0..depth {
            let steps = frontier.iter().flat_map(|node| neighbors[*node].iter().copied());
            frontier = steps.filter(|node| reached.insert(*node)).collect();
            if frontier.is_empty() {
                break;
            }
        }
        reached
    }
}
