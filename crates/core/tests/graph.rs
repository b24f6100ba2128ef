//! Properties of every graph, however its handoffs are connected.

use midstride_core::format::header::Status;
use midstride_core::handoff::graph::{
    Edge, EdgeKind, Graph, LinePlacement, LinkFacts, NameCandidate, Reference, ReferenceTarget,
    SubgraphQuery,
};
use midstride_core::text::id::HandoffKey;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::{BTreeMap, BTreeSet};

const COUNT: usize = 12;

fn name(node: usize) -> String {
    format!("case-{node:02}")
}

fn path(name: &str) -> String {
    format!("h/{name}.md")
}

/// Handoffs that randomly refer to each other, to themselves and to nothing.
fn graphs() -> impl Strategy<Value = Graph> {
    let kind = select(EdgeKind::ALL.to_vec());
    let reference = (0..COUNT, 0..COUNT + 2, kind);
    prop::collection::vec(reference, 0..24).prop_map(|said| {
        let facts = (0..COUNT).map(|node| {
            let own: Vec<_> = said.iter().filter(|said| said.0 == node).collect();
            let of = |kind: EdgeKind| own.iter().filter(move |said| said.2 == kind);
            let strong = own.iter().filter(|said| said.2.is_strong());
            LinkFacts {
                key: HandoffKey { id: name(node), stage: None },
                title: None,
                status: Some(if node % 3 == 0 { Status::Resolved } else { Status::Planned }),
                path: path(&name(node)),
                references: strong
                    .map(|(_, other, kind)| Reference {
                        kind: *kind,
                        is_reversed: true,
                        written: name(*other),
                        relationship: None,
                        line: 1,
                    })
                    .collect(),
                candidates: of(EdgeKind::Mentions)
                    .map(|said| NameCandidate { text: name(said.1), line: 2, is_backquoted: false })
                    .collect(),
                files: of(EdgeKind::Shares).map(|said| format!("src/{}.rs", said.1)).collect(),
            }
        });
        Graph::build(facts.collect(), |_, reference| {
            let number: usize = reference.written["case-".len()..].parse().unwrap();
            if number < COUNT {
                ReferenceTarget::Document(path(&reference.written))
            } else {
                ReferenceTarget::Missing
            }
        })
    })
}

fn leads(edges: &[Edge], from: usize, to: usize) -> bool {
    edges.iter().any(|edge| edge.kind.is_strong() && edge.flow() == Some((from, to)))
}

/// Whether a handoff reaches itself, by the simplest search.
fn turns(graph: &Graph, node: usize) -> bool {
    let mut reached: BTreeSet<usize> = BTreeSet::new();
    loop {
        let is_next = |then: &usize| {
            let before = reached.iter().chain([&node]);
            before.into_iter().any(|from| leads(&graph.edges, *from, *then))
        };
        let next: BTreeSet<usize> = (0..COUNT).filter(is_next).collect();
        if next.is_subset(&reached) {
            return reached.contains(&node);
        }
        reached.extend(next);
    }
}

proptest! {
    #[test]
    fn every_cycle_is_real_and_broken_by_removing_any_step(graph in graphs()) {
        let cycles = graph.cycles();
        let distinct: BTreeSet<&Vec<usize>> = cycles.iter().collect();
        prop_assert_eq!(distinct.len(), cycles.len());
        for cycle in &cycles {
            prop_assert_eq!(cycle.iter().collect::<BTreeSet<_>>().len(), cycle.len());
            prop_assert_eq!(cycle.iter().min(), cycle.first());
            let steps: Vec<_> = cycle.iter().zip(cycle.iter().cycle().skip(1)).collect();
            for (from, to) in steps {
                prop_assert!(leads(&graph.edges, *from, *to));
                let mut less = graph.clone();
                less.edges.retain(|edge| {
                    !edge.kind.is_strong() || edge.flow() != Some((*from, *to))
                });
                prop_assert!(!less.cycles().contains(cycle));
            }
            for edge in graph.cycle_edges(cycle) {
                let (from, to) = edge.flow().unwrap();
                prop_assert!(cycle.contains(&from) && cycle.contains(&to));
            }
        }
        for node in 0..COUNT {
            let is_named = cycles.iter().any(|cycle| cycle.contains(&node));
            prop_assert_eq!(is_named, turns(&graph, node));
        }
    }

    #[test]
    fn trees_contain_every_named_handoff_and_every_pair_once(graph in graphs()) {
        let lines = graph.tree_lines();
        let own: Vec<usize> =
            lines.iter().filter(|line| line.placement == LinePlacement::Here).map(|line| line.node).collect();
        let names = |edge: &&Edge| edge.from != edge.to && edge.kind != EdgeKind::Shares;
        let named = graph.edges.iter().filter(names).flat_map(|edge| [edge.from, edge.to]);
        prop_assert_eq!(own.len(), own.iter().collect::<BTreeSet<_>>().len());
        prop_assert_eq!(own.iter().copied().collect::<BTreeSet<_>>(), named.collect());
        let between = graph.edges_by_pair();
        let mut pairs: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (nth, line) in lines.iter().enumerate() {
            match line.parent {
                Some(parent) => {
                    let pair = (parent.min(line.node), parent.max(line.node));
                    *pairs.entry(pair).or_default() += 1;
                    prop_assert!(line.depth > 0);
                    let above = lines[..nth].iter().rfind(|above| above.depth < line.depth);
                    let above = above.unwrap();
                    prop_assert_eq!((above.node, above.depth + 1), (parent, line.depth));
                }
                None => prop_assert_eq!((line.depth, line.placement), (0, LinePlacement::Here)),
            }
            let is_own = |other: &midstride_core::handoff::graph::TreeLine| {
                other.node == line.node && other.placement == LinePlacement::Here
            };
            let place = lines.iter().position(is_own).unwrap();
            let expected = match place.cmp(&nth) {
                std::cmp::Ordering::Less => LinePlacement::Above,
                std::cmp::Ordering::Equal => LinePlacement::Here,
                std::cmp::Ordering::Greater => LinePlacement::Below,
            };
            prop_assert_eq!(line.placement, expected);
        }
        prop_assert!(pairs.values().all(|count| *count == 1), "{:?}", pairs);
        prop_assert!(pairs.keys().eq(between.keys()));
        for shared in graph.shared_files() {
            prop_assert!(shared.cited_by.len() > 1 && !shared.files.is_empty());
        }
    }

    #[test]
    fn a_part_contains_only_what_the_whole_graph_has(
        graph in graphs(),
        from in prop::collection::vec(0..COUNT, 0..3),
        depth in prop::option::of(0_usize..4),
        kinds in prop::collection::vec(select(EdgeKind::ALL.to_vec()), 1..5),
    ) {
        let part = graph.subgraph(&SubgraphQuery { from: from.clone(), depth, kinds: kinds.clone() });
        let keys = |of: &Graph, edge: &Edge| {
            let node = |node: usize| of.nodes[node].key.to_string();
            (node(edge.from), node(edge.to), edge.kind, edge.location.map(|told| node(told.node)))
        };
        let whole: Vec<_> = graph.edges.iter().map(|edge| keys(&graph, edge)).collect();
        for edge in &part.edges {
            prop_assert!(kinds.contains(&edge.kind));
            prop_assert!(whole.contains(&keys(&part, edge)));
        }
        for node in &from {
            prop_assert!(part.nodes.contains(&graph.nodes[*node]));
        }
        for node in &part.nodes {
            prop_assert!(graph.nodes.contains(node));
        }
        let everything = SubgraphQuery { from: (0..COUNT).collect(), depth: None, kinds: EdgeKind::ALL.to_vec() };
        prop_assert_eq!(&graph.subgraph(&everything), &graph);
    }
}

/// The chain is long enough to overflow the stack if the code recursed.
#[test]
fn a_long_chain_is_read_to_its_end() {
    const LONG: usize = 20_000;
    let facts = (0..LONG).map(|node| LinkFacts {
        key: HandoffKey { id: format!("{node:05}"), stage: None },
        title: None,
        status: None,
        path: format!("{node:05}.md"),
        references: vec![Reference {
            kind: EdgeKind::Upstream,
            is_reversed: true,
            written: format!("{:05}.md", (node + 1) % LONG),
            relationship: None,
            line: 1,
        }],
        candidates: Vec::new(),
        files: Vec::new(),
    });
    let graph = Graph::build(facts.collect(), |_, reference| {
        ReferenceTarget::Document(reference.written.clone())
    });
    assert_eq!(graph.cycles().len(), 1);
    let lines = graph.tree_lines();
    // The last step leads back to the root of the tree.
    assert_eq!(lines.len(), LONG + 1);
    assert_eq!(lines.last().map(|line| line.placement), Some(LinePlacement::Above));
}
