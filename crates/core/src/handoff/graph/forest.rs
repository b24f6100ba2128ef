//! The graph as trees: every handoff once that another one names, every such pair once.
//!
//! What came of a handoff stands below it, however long the chain. What only mentions others stands
//! below the first of these, as near to a root as possible. Files that two cite say neither which
//! came first nor that one knows the other: they make no trees, and are told beside them.

use super::{Edge, Graph};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A line of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLine {
    /// The handoff.
    pub node: usize,
    /// The one it stands below, and is connected with.
    pub parent: Option<usize>,
    /// How many it stands below.
    pub depth: usize,
    /// Where its own line is.
    pub placement: LinePlacement,
}

/// Where the line of a handoff is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinePlacement {
    /// This is it.
    Here,
    /// It was before this one.
    Above,
    /// It follows later.
    Below,
}

impl Graph {
    /// The lines of all trees, in the order in which they are read. Handoffs that neither name
    /// another one nor are named are not among them.
    pub fn tree_lines(&self) -> Vec<TreeLine> {
        let pairs = self.bonds_by_node();
        let growth = ForestBuilder::build(self, &pairs);
        growth.lines(&pairs)
    }

    /// The edges by which one of two handoffs names the other, either way.
    pub fn edges_by_pair(&self) -> BTreeMap<(usize, usize), Vec<&Edge>> {
        let mut between: BTreeMap<(usize, usize), Vec<&Edge>> = BTreeMap::new();
        let names = |edge: &&Edge| edge.from != edge.to && edge.flow().is_some();
        for edge in self.edges.iter().filter(names) {
            let pair = (edge.from.min(edge.to), edge.from.max(edge.to));
            between.entry(pair).or_default().push(edge);
        }
        between
    }

    /// Everything that each handoff names or is named by, and whether it came of it.
    fn bonds_by_node(&self) -> Vec<BTreeMap<usize, Bond>> {
        let mut pairs = vec![BTreeMap::new(); self.nodes.len()];
        for ((one, other), edges) in self.edges_by_pair() {
            let comes = |from: usize| {
                edges.iter().any(|edge| {
                    edge.kind.is_strong() && edge.flow().is_some_and(|flow| flow.0 == from)
                })
            };
            let (leads, follows) = (comes(one), comes(other));
            pairs[one].insert(other, Bond { leads, follows });
            pairs[other].insert(one, Bond { leads: follows, follows: leads });
        }
        pairs
    }
}

/// How one handoff is connected with another.
#[derive(Clone, Copy, Debug)]
struct Bond {
    /// The other came of it.
    leads: bool,
    /// It came of the other.
    follows: bool,
}

impl Bond {
    fn is_weak(self) -> bool {
        !self.leads && !self.follows
    }
}

/// Trees while they grow.
struct ForestBuilder {
    roots: Vec<usize>,
    parents: Vec<Option<usize>>,
    is_placed: Vec<bool>,
    /// In the order in which they were placed.
    placed: Vec<usize>,
}

impl ForestBuilder {
    fn build(graph: &Graph, pairs: &[BTreeMap<usize, Bond>]) -> Self {
        let count = pairs.len();
        let mut growth = Self {
            roots: Vec::new(),
            parents: vec![None; count],
            is_placed: vec![false; count],
            placed: Vec::new(),
        };
        let next = graph.strong_successors();
        let leads = |node: &usize| pairs[*node].values().any(|bond| bond.leads);
        let follows = |node: &usize| pairs[*node].values().any(|bond| bond.follows);
        // What turns in a circle has no beginning; it is entered at its first.
        for root in (0..count).filter(|node| leads(node) && !follows(node)).chain(0..count) {
            if leads(&root) {
                growth.place_descendants(root, &next);
            }
        }
        let mentions_others: BTreeSet<usize> =
            graph.edges.iter().filter_map(|edge| Some(edge.flow()?.1)).collect();
        let is_beginning = |node: &usize| !mentions_others.contains(node);
        growth.place_neighbors(pairs);
        for root in (0..count).filter(is_beginning).chain(0..count) {
            if !growth.is_placed[root] && !pairs[root].is_empty() {
                growth.place(root, None);
                growth.place_neighbors(pairs);
            }
        }
        growth
    }

    fn place(&mut self, node: usize, parent: Option<usize>) {
        self.is_placed[node] = true;
        self.placed.push(node);
        self.parents[node] = parent;
        if parent.is_none() {
            self.roots.push(node);
        }
    }

    /// What came of it, and what came of that, before the next one beside it.
    fn place_descendants(&mut self, root: usize, next: &[Vec<usize>]) {
        if self.is_placed[root] {
            return;
        }
        self.place(root, None);
        let mut way = vec![(root, 0)];
        while let Some((node, nth)) = way.pop() {
            let Some(then) = next[node].get(nth).copied() else { continue };
            way.push((node, nth + 1));
            if !self.is_placed[then] {
                self.place(then, Some(node));
                way.push((then, 0));
            }
        }
    }

    /// What is connected with anything placed, the nearest first.
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
                // What came of two is told at each of them, else whoever is read first tells it.
                let is_told_here = is_child || bond.leads || bond.is_weak();
                if is_parent || !is_told_here || (!is_child && !shown.insert(pair)) {
                    continue;
                }
                // Which of the two is known when it is read.
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
