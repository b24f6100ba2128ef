//! Arranges the graph as trees: each connected handoff and each connected pair appears once.
//!
//! A handoff is placed below the one it came from, however long the chain. A handoff that only
//! mentions others is placed below the first of them, as close to a root as possible. Shared files
//! have no direction, so they form no trees and are listed separately.

use super::{Edge, Graph};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A line of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLine {
    /// The handoff.
    pub node: usize,
    /// The handoff it is placed below.
    pub parent: Option<usize>,
    /// The number of ancestors in the tree.
    pub depth: usize,
    /// Whether this is the handoff's own line or a reference to it.
    pub placement: LinePlacement,
}

/// Where a handoff's own line is, relative to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinePlacement {
    /// This is its own line.
    Here,
    /// Its own line is above.
    Above,
    /// Its own line is below.
    Below,
}

impl Graph {
    /// The lines of all trees, in display order. Handoffs that neither name another one nor are
    /// named are left out.
    pub fn tree_lines(&self) -> Vec<TreeLine> {
        let pairs = self.bonds_by_node();
        let forest = ForestBuilder::build(self, &pairs);
        forest.lines(&pairs)
    }

    /// The edges between each pair of handoffs where one names the other, in either direction.
    pub fn edges_by_pair(&self) -> BTreeMap<(usize, usize), Vec<&Edge>> {
        let mut between: BTreeMap<(usize, usize), Vec<&Edge>> = BTreeMap::new();
        let names = |edge: &&Edge| edge.from != edge.to && edge.flow().is_some();
        for edge in self.edges.iter().filter(names) {
            let pair = (edge.from.min(edge.to), edge.from.max(edge.to));
            between.entry(pair).or_default().push(edge);
        }
        between
    }

    /// For each handoff, the handoffs it is connected with and the direction.
    fn bonds_by_node(&self) -> Vec<BTreeMap<usize, Bond>> {
        let mut pairs = vec![BTreeMap::new(); self.nodes.len()];
        for ((one, other), edges) in self.edges_by_pair() {
            let leads_from = |from: usize| {
                edges.iter().any(|edge| {
                    edge.kind.is_strong() && edge.flow().is_some_and(|flow| flow.0 == from)
                })
            };
            let (leads, follows) = (leads_from(one), leads_from(other));
            pairs[one].insert(other, Bond { leads, follows });
            pairs[other].insert(one, Bond { leads: follows, follows: leads });
        }
        pairs
    }
}

/// How one handoff is connected with another.
#[derive(Clone, Copy, Debug)]
struct Bond {
    /// The other came from this one.
    leads: bool,
    /// This one came from the other.
    follows: bool,
}

impl Bond {
    fn is_weak(self) -> bool {
        !self.leads && !self.follows
    }
}

/// The trees under construction.
struct ForestBuilder {
    roots: Vec<usize>,
    parents: Vec<Option<usize>>,
    is_placed: Vec<bool>,
    /// The nodes placed since the last call of `place_neighbors`, in order.
    placed: Vec<usize>,
}

impl ForestBuilder {
    fn build(graph: &Graph, pairs: &[BTreeMap<usize, Bond>]) -> Self {
        let count = pairs.len();
        let mut forest = Self {
            roots: Vec::new(),
            parents: vec![None; count],
            is_placed: vec![false; count],
            placed: Vec::new(),
        };
        let next = graph.strong_successors();
        let leads = |node: &usize| pairs[*node].values().any(|bond| bond.leads);
        let follows = |node: &usize| pairs[*node].values().any(|bond| bond.follows);
        // A cycle has no start; begin at its smallest node.
        for root in (0..count).filter(|node| leads(node) && !follows(node)).chain(0..count) {
            if leads(&root) {
                forest.place_descendants(root, &next);
            }
        }
        let mentions_others: BTreeSet<usize> =
            graph.edges.iter().filter_map(|edge| Some(edge.flow()?.1)).collect();
        let is_beginning = |node: &usize| !mentions_others.contains(node);
        forest.place_neighbors(pairs);
        for root in (0..count).filter(is_beginning).chain(0..count) {
            if !forest.is_placed[root] && !pairs[root].is_empty() {
                forest.place(root, None);
                forest.place_neighbors(pairs);
            }
        }
        forest
    }

    fn place(&mut self, node: usize, parent: Option<usize>) {
        self.is_placed[node] = true;
        self.placed.push(node);
        self.parents[node] = parent;
        if parent.is_none() {
            self.roots.push(node);
        }
    }

    /// Places everything that came from `root`, depth first.
    fn place_descendants(&mut self, root: usize, next: &[Vec<usize>]) {
        if self.is_placed[root] {
            return;
        }
        self.place(root, None);
        let mut stack = vec![(root, 0)];
        while let Some((node, nth)) = stack.pop() {
            let Some(then) = next[node].get(nth).copied() else { continue };
            stack.push((node, nth + 1));
            if !self.is_placed[then] {
                self.place(then, Some(node));
                stack.push((then, 0));
            }
        }
    }

    /// Places everything connected with the placed nodes, breadth first.
    fn place_neighbors(&mut self, pairs: &[BTreeMap<usize, Bond>]) {
        let mut queue: VecDeque<usize> = std::mem::take(&mut self.placed).into();
        while let Some(node) = queue.pop_front() {
            for other in pairs[node].keys() {
                if !self.is_placed[*other] {
                    self.place(*other, Some(node));
                    queue.push_back(*other);
                }
            }
        }
        self.placed.clear();
    }

    /// The lines, from the roots down.
    fn lines(&self, pairs: &[BTreeMap<usize, Bond>]) -> Vec<TreeLine> {
        let mut lines = Vec::new();
        let mut is_read = vec![false; pairs.len()];
        let mut shown: BTreeSet<(usize, usize)> = BTreeSet::new();
        let line =
            |node, parent, depth| TreeLine { node, parent, depth, placement: LinePlacement::Here };
        let mut waiting: Vec<TreeLine> =
            self.roots.iter().rev().map(|r| line(*r, None, 0)).collect();
        while let Some(mut here) = waiting.pop() {
            if here.placement != LinePlacement::Here {
                here.placement =
                    if is_read[here.node] { LinePlacement::Above } else { LinePlacement::Below };
                lines.push(here);
                continue;
            }
            lines.push(here);
            is_read[here.node] = true;
            let mut beneath = Vec::new();
            for (other, bond) in &pairs[here.node] {
                let is_child = self.parents[*other] == Some(here.node);
                let is_parent = self.parents[here.node] == Some(*other);
                let pair = (here.node.min(*other), here.node.max(*other));
                // A node with two origins is listed under both. A weak pair is listed where it is
                // read first.
                let is_listed_here = is_child || bond.leads || bond.is_weak();
                if is_parent || !is_listed_here || (!is_child && !shown.insert(pair)) {
                    continue;
                }
                // `Below` is a stand-in: whether it is above or below is known when this line is
                // read.
                let seen = if is_child { LinePlacement::Here } else { LinePlacement::Below };
                let next =
                    TreeLine { placement: seen, ..line(*other, Some(here.node), here.depth + 1) };
                beneath.push((bond.is_weak(), next));
            }
            beneath.sort_by_key(|(is_weak, line)| (*is_weak, line.node));
            waiting.extend(beneath.into_iter().rev().map(|(_, line)| line));
        }
        lines
    }
}
