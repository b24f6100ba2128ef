//! Finds cycles: handoffs that depend on each other.

use super::{Edge, Graph};
use std::collections::{HashMap, HashSet, VecDeque};

impl Graph {
    /// The cycles, each starting at its smallest node. Every node that is on a cycle appears in at
    /// least one of the results.
    pub fn cycles(&self) -> Vec<Vec<usize>> {
        let next = self.strong_successors();
        let mut named: HashSet<usize> = HashSet::new();
        let mut cycles = Vec::new();
        for circle in strong_components(self.nodes.len(), &next) {
            let inside: HashSet<usize> = circle.iter().copied().collect();
            for node in circle {
                if named.contains(&node) {
                    continue;
                }
                if let Some(cycle) = shortest_cycle(node, &next, &inside) {
                    named.extend(&cycle);
                    cycles.push(rotate_to_smallest(cycle));
                }
            }
        }
        cycles.sort();
        cycles
    }

    /// The edges between consecutive nodes of a cycle.
    pub fn cycle_edges(&self, cycle: &[usize]) -> Vec<&Edge> {
        let steps = cycle.iter().zip(cycle.iter().cycle().skip(1));
        let steps: HashSet<(usize, usize)> = steps.map(|(from, to)| (*from, *to)).collect();
        let is_step = |edge: &&Edge| {
            edge.kind.is_strong() && edge.flow().is_some_and(|flow| steps.contains(&flow))
        };
        self.edges.iter().filter(is_step).collect()
    }

    /// The nodes that come after each node, by strong edges.
    pub(super) fn strong_successors(&self) -> Vec<Vec<usize>> {
        let mut next = vec![Vec::new(); self.nodes.len()];
        for edge in self.edges.iter().filter(|edge| edge.kind.is_strong()) {
            if let Some((first, then)) = edge.flow() {
                next[first].push(then);
            }
        }
        for list in &mut next {
            list.sort_unstable();
            list.dedup();
        }
        next
    }
}

/// The strongly connected components that contain a cycle. Uses Tarjan's algorithm without
/// recursion, because chains of handoffs can be long.
fn strong_components(count: usize, next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = CycleSearch {
        number: vec![None; count],
        low: vec![0; count],
        open: Vec::new(),
        is_open: vec![false; count],
        next_number: 0,
    };
    let mut found = Vec::new();
    for start in 0..count {
        if search.number[start].is_some() {
            continue;
        }
        search.enter(start);
        let mut stack = vec![(start, 0)];
        while let Some((node, nth)) = stack.pop() {
            let Some(then) = next[node].get(nth).copied() else {
                found.extend(search.leave(node));
                if let Some((before, _)) = stack.last() {
                    search.low[*before] = search.low[*before].min(search.low[node]);
                }
                continue;
            };
            stack.push((node, nth + 1));
            match search.number[then] {
                None => {
                    search.enter(then);
                    stack.push((then, 0));
                }
                Some(number) if search.is_open[then] => {
                    search.low[node] = search.low[node].min(number);
                }
                Some(_) => {}
            }
        }
    }
    let has_cycle = |group: &Vec<usize>| group.len() > 1 || next[group[0]].contains(&group[0]);
    found.retain(has_cycle);
    found
}

struct CycleSearch {
    number: Vec<Option<usize>>,
    low: Vec<usize>,
    open: Vec<usize>,
    is_open: Vec<bool>,
    next_number: usize,
}

impl CycleSearch {
    fn enter(&mut self, node: usize) {
        self.number[node] = Some(self.next_number);
        self.low[node] = self.next_number;
        self.next_number += 1;
        self.open.push(node);
        self.is_open[node] = true;
    }

    /// Pops the component that ends at this node, if the node is its root.
    fn leave(&mut self, node: usize) -> Option<Vec<usize>> {
        if self.number[node] != Some(self.low[node]) {
            return None;
        }
        let start = self.open.iter().rposition(|open| *open == node)?;
        let mut group = self.open.split_off(start);
        for closed in &group {
            self.is_open[*closed] = false;
        }
        group.sort_unstable();
        Some(group)
    }
}

/// The shortest path from a node back to itself.
fn shortest_cycle(node: usize, next: &[Vec<usize>], inside: &HashSet<usize>) -> Option<Vec<usize>> {
    let mut before: HashMap<usize, usize> = HashMap::new();
    let mut queue = VecDeque::from([node]);
    while let Some(here) = queue.pop_front() {
        for then in next[here].iter().filter(|then| inside.contains(then)) {
            if *then == node {
                let path = std::iter::successors(Some(here), |at| before.get(at).copied());
                let mut cycle: Vec<usize> = path.collect();
                cycle.reverse();
                return Some(cycle);
            }
            if !before.contains_key(then) {
                before.insert(*then, here);
                queue.push_back(*then);
            }
        }
    }
    None
}

/// The same cycle, rotated so that its smallest node comes first.
fn rotate_to_smallest(mut cycle: Vec<usize>) -> Vec<usize> {
    let first = (0..cycle.len()).min_by_key(|at| cycle[*at]).unwrap_or(0);
    cycle.rotate_left(first);
    cycle
}
