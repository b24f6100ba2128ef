//! A part of the graph: some handoffs, and what they are connected with.

use super::{DanglingReference, Edge, EdgeKind, Graph, Hub, ReferenceLocation};
use std::collections::{BTreeSet, HashMap};

/// Which part is wanted.
#[derive(Clone, Debug)]
pub struct SubgraphQuery {
    /// The handoffs to begin with.
    pub from: Vec<usize>,
    /// How many steps away from them, over any connection. Without a number: as far as one came of
    /// the other, and a single step to what mentions them or shares a file with them.
    pub depth: Option<usize>,
    /// Only these kinds of connections.
    pub kinds: Vec<EdgeKind>,
}

impl Graph {
    /// A part of the graph, as a graph of its own.
    #[must_use]
    pub fn subgraph(&self, wanted: &SubgraphQuery) -> Self {
        let edges: Vec<&Edge> =
            self.edges.iter().filter(|edge| wanted.kinds.contains(&edge.kind)).collect();
        let kept = self.reachable(wanted, &edges);
        let place: HashMap<usize, usize> =
            kept.iter().enumerate().map(|(new, old)| (*old, new)).collect();
        let told = |told: ReferenceLocation| {
            Some(ReferenceLocation { node: *place.get(&told.node)?, ..told })
        };
        let edge = |edge: &&Edge| {
            let (from, to) = (*place.get(&edge.from)?, *place.get(&edge.to)?);
            Some(Edge { from, to, location: edge.location.and_then(told), ..(*edge).clone() })
        };
        let dangling = self.dangling.iter().filter(|d| wanted.kinds.contains(&d.kind));
        let hub = |hub: &Hub| {
            let cited_by: Vec<usize> =
                hub.cited_by.iter().filter_map(|node| place.get(node).copied()).collect();
            let is_here = wanted.kinds.contains(&EdgeKind::Shares) && !cited_by.is_empty();
            is_here.then(|| Hub { file: hub.file.clone(), cited_by })
        };
        Self {
            nodes: kept.iter().map(|node| self.nodes[*node].clone()).collect(),
            edges: edges.iter().filter_map(edge).collect(),
            dangling: dangling
                .filter_map(|d| {
                    Some(DanglingReference { location: told(d.location)?, ..d.clone() })
                })
                .collect(),
            hubs: self.hubs.iter().filter_map(hub).collect(),
        }
    }

    fn reachable(&self, wanted: &SubgraphQuery, edges: &[&Edge]) -> BTreeSet<usize> {
        let all = |_: &Edge| true;
        let strong = |edge: &Edge| edge.kind.is_strong();
        let start: BTreeSet<usize> = wanted.from.iter().copied().collect();
        match wanted.depth {
            Some(depth) => self.reachable_within(&start, edges, all, depth),
            None => {
                let mut reached = self.reachable_within(&start, edges, strong, usize::MAX);
                reached.append(&mut self.reachable_within(&start, edges, all, 1));
                reached
            }
        }
    }

    /// What is reached in so many steps, in either direction.
    fn reachable_within(
        &self,
        start: &BTreeSet<usize>,
        edges: &[&Edge],
        counts: impl Fn(&Edge) -> bool,
        depth: usize,
    ) -> BTreeSet<usize> {
        let mut beside = vec![Vec::new(); self.nodes.len()];
        for edge in edges.iter().filter(|edge| counts(edge)) {
            beside[edge.from].push(edge.to);
            beside[edge.to].push(edge.from);
        }
        let mut reached = start.clone();
        let mut rim: Vec<usize> = start.iter().copied().collect();
        for _ in 0..depth {
            let steps = rim.iter().flat_map(|node| beside[*node].iter().copied());
            rim = steps.filter(|node| reached.insert(*node)).collect();
            if rim.is_empty() {
                break;
            }
        }
        reached
    }
}
