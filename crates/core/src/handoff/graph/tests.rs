use super::*;
use crate::format::document::Document;
use crate::format::stage::Stages;
use crate::handoff::{Handoff, Location};

/// The graph of these documents. A reference resolves to the document with that path or name.
fn graph(documents: &[(&str, &str)]) -> Graph {
    let stages = Stages::shipped();
    let facts = documents.iter().map(|(path, text)| {
        let document = Document::parse(text.as_bytes());
        let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md").to_owned();
        let location = Location { stem, stage: None };
        LinkFacts::from_handoff(&Handoff::new(&document, &location, &stages), (*path).to_owned())
    });
    Graph::build(facts.collect(), |_, reference| {
        let written = &reference.written;
        let is_it = |path: &str| path == written || folderless(path) == written;
        match documents.iter().find(|(path, _)| is_it(path)) {
            Some((path, _)) => ReferenceTarget::Document((*path).to_owned()),
            None if written == "plan.txt" => ReferenceTarget::Artifact(written.clone()),
            None => ReferenceTarget::Missing,
        }
    })
}

fn folderless(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md")
}

fn handoff(id: &str, fields: &str, body: &str) -> String {
    format!("---\nhandoff:\n  id: {id}\n{fields}---\n{body}")
}

/// The edges as sentences.
fn told(graph: &Graph) -> Vec<String> {
    let key = |node: usize| graph.nodes[node].key.to_string();
    let sentence = |edge: &Edge| {
        let details = edge.details.join(", ");
        format!("{} {} {} {details}", key(edge.from), edge.kind.word(), key(edge.to))
            .trim_end()
            .to_owned()
    };
    graph.edges.iter().map(sentence).collect()
}

#[test]
fn header_references_set_the_order_from_either_side() {
    let graph = graph(&[
        (
            "h/a.md",
            &handoff(
                "a",
                "  dependencies:\n    downstream:\n      - artifact: b\n        relationship: enables\n  superseded_by: c\n",
                "",
            ),
        ),
        (
            "h/b.md",
            &handoff(
                "b",
                "  dependencies:\n    upstream:\n      - artifact: h/a.md\n        relationship: derived_from\n",
                "",
            ),
        ),
        (
            "h/c.md",
            &handoff(
                "c",
                "  dependencies:\n    upstream:\n      - artifact: a\n        relationship: supersedes\n      - gone\n",
                "",
            ),
        ),
        ("h/d.md", &handoff("d", "", "")),
    ]);
    assert_eq!(
        told(&graph),
        ["a upstream b derived_from", "b downstream a enables", "c supersedes a"]
    );
    let flows: Vec<_> = graph.edges.iter().map(|edge| edge.flow().unwrap()).collect();
    assert_eq!(flows, [(0, 1), (0, 1), (0, 2)]);
    assert_eq!(graph.dangling.len(), 1);
    assert_eq!((graph.dangling[0].written.as_str(), graph.dangling[0].location.line), ("gone", 8));
    let orphans: Vec<bool> = graph.nodes.iter().map(|node| node.is_orphan).collect();
    assert_eq!(orphans, [false, false, false, true]);
    assert_eq!(graph.cycles(), Vec::<Vec<usize>>::new());
}

/// The handoffs that a text mentions.
fn mentioned(body: &str) -> Vec<String> {
    let others = ["market-page-perf", "search", "follow-up", "feat-042"];
    let texts: Vec<(String, String)> =
        others.iter().map(|id| (format!("h/{id}.md"), handoff(id, "", ""))).collect();
    let mut documents: Vec<(&str, &str)> =
        texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    documents.push(("docs/notes/README.md", "# Read me\n"));
    let speaker = handoff("zz", "  revisions:\n    - reason: split off market-page-perf\n", body);
    documents.push(("h/zz.md", &speaker));
    let graph = graph(&documents);
    let key = |node: usize| graph.nodes[node].key.to_string();
    graph.edges.iter().map(|edge| key(edge.to)).collect()
}

#[test]
fn a_text_mentions_only_the_handoffs_it_names() {
    for (body, expected) in [
        ("It began with market-page-perf.", vec!["market-page-perf"]),
        ("See market-page-perf@2, then feat-042's plan.", vec!["feat-042", "market-page-perf"]),
        ("The search is slow; a follow-up is needed.", vec![]),
        ("As `search` and `follow-up@3` say", vec!["follow-up", "search"]),
        ("Run `midstride show search`", vec![]),
        ("See [it](../h/search.md) or h/follow-up.md#plan", vec!["follow-up", "search"]),
        ("See search.md beside this", vec!["search"]),
        ("See market-page-perf-2 and my-market-page-perf", vec![]),
        ("Read README.md", vec![]),
        ("Read notes/README.md", vec!["README"]),
        ("I am `zz`, h/zz.md", vec![]),
        ("```\nmarket-page-perf\n```\n<!-- market-page-perf -->", vec![]),
    ] {
        assert_eq!(mentioned(&format!("\n{body}\n")), expected, "{body}");
    }
}

#[test]
fn a_handoff_without_an_edge_in_the_graph_is_unconnected() {
    let texts = [
        handoff("a", "", ""),
        handoff("b", "", "\nSee h/a.md\n"),
        handoff("c", "", "\nSee h/c.md\n"),
    ];
    let documents = [("h/a.md", &*texts[0]), ("h/b.md", &*texts[1]), ("h/c.md", &*texts[2])];
    assert_eq!(graph(&documents).unconnected(), [2]);
    assert_eq!(graph(&documents[..2]).unconnected(), Vec::<usize>::new());
}

#[test]
fn a_part_of_the_graph_has_locations_of_its_own_nodes() {
    let texts = [handoff("a", "", ""), handoff("b", "", "\nSee h/a.md and h/gone.md\n")];
    let graph = graph(&[("h/a.md", &*texts[0]), ("h/b.md", &*texts[1])]);
    let kinds = vec![EdgeKind::Mentions];
    let part = graph.subgraph(&SubgraphQuery { from: vec![1], depth: Some(0), kinds });
    assert_eq!(part.nodes.len(), 1);
    let dangling = &part.dangling[0];
    assert_eq!((dangling.written.as_str(), dangling.location.node), ("h/gone.md", 0));
    assert_eq!(dangling.location.line, graph.dangling[0].location.line);
}

#[test]
fn a_file_that_is_not_a_document_names_no_handoff() {
    let may_be_name = |text: &str| {
        NameCandidate { text: text.to_owned(), line: 1, is_backquoted: true }.may_be_name()
    };
    for text in ["search", "h/search", "market-page-perf", "docs/old/plan.md"] {
        assert!(may_be_name(text), "{text}");
    }
    for text in ["search.rs", "src/search/index"] {
        assert!(!may_be_name(text), "{text}");
    }
}

#[test]
fn header_statements_count_as_mentions() {
    let a = handoff("market-page-perf", "", "");
    let b = handoff("b", "  landmines:\n    - Undoes market-page-perf\n", "");
    assert_eq!(told(&graph(&[("a.md", &a), ("b.md", &b)])), ["b mentions market-page-perf"]);
}

#[test]
fn a_missing_path_in_a_handoff_folder_is_dangling() {
    let a = handoff("a", "", "\nSee h/gone.md and docs/gone.md, not gone.md.\n");
    let graph = graph(&[("h/a.md", &a)]);
    let written: Vec<_> = graph.dangling.iter().map(|d| (d.kind, d.written.as_str())).collect();
    assert_eq!(written, [(EdgeKind::Mentions, "h/gone.md")]);
}

#[test]
fn shared_files_connect_handoffs_unless_too_many_cite_them() {
    let cites = |id: &str, body: &str| handoff(id, "", &format!("\n{body}\n"));
    let texts = [
        cites("a", "See src/market.py:3, src/b/mod.rs and src/all.rs."),
        cites("b", "See market.py, src/a/mod.rs and ./src/all.rs:9."),
        cites("c", "See app/src/market.py, mod.rs, docs/ and src/all.rs."),
        cites("d", "See src/all.rs, docs/ and `.map`."),
        cites("e", "See src/all.rs and `.map`."),
        cites("f", "See src/all.rs."),
        handoff("g", "  dependencies:\n    upstream: [plan.txt]\n", ""),
        handoff("h", "  dependencies:\n    upstream: [plan.txt]\n", ""),
    ];
    let paths: Vec<String> = (0..texts.len()).map(|n| format!("h/{n}.md")).collect();
    let documents: Vec<(&str, &str)> =
        paths.iter().zip(&texts).map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let graph = graph(&documents);
    assert_eq!(
        told(&graph),
        [
            "a shares b app/src/market.py",
            "a shares c app/src/market.py",
            "b shares c app/src/market.py",
            "g shares h plan.txt",
        ]
    );
    let market = SharedFiles { files: vec!["app/src/market.py".into()], cited_by: vec![0, 1, 2] };
    let plan = SharedFiles { files: vec!["plan.txt".into()], cited_by: vec![6, 7] };
    assert_eq!(graph.shared_files(), [market, plan]);
    assert_eq!(graph.tree_lines(), []);
    let hub = Hub { file: "src/all.rs".into(), cited_by: vec![0, 1, 2, 3, 4, 5] };
    assert_eq!(graph.hubs, [hub]);
}
