//! Tests of checking what documents build on: each document is checked once.

use crate::open;
use midstride::store::Store;
use midstride::workspace::Catalog;
use midstride_core::format::finding::Code;
use midstride_testkit::Sandbox;

/// A document that builds on others; `broken` gives it an error of its own.
fn document(id: &str, upstream: &[String], broken: bool) -> String {
    let artifacts: String =
        upstream.iter().map(|name| format!("      - artifact: {name}\n")).collect();
    let upstream =
        if upstream.is_empty() { String::new() } else { format!("    upstream:\n{artifacts}") };
    let wrong = if broken { "  status: nonsense\n" } else { "" };
    format!(
        "---\nhandoff:\n  id: {id}\n  title: T of {id}\n{wrong}  created: 2026-03-21T17:24:00Z\n  \
         context_summary: Something else\n  dependencies:\n{upstream}---\n\n## Plan\n\n1. Test it.\n"
    )
}

fn store(documents: &[(&str, Vec<&str>, bool)]) -> (Sandbox, Store) {
    let sandbox = Sandbox::new("nobody-runs-it");
    for (id, upstream, broken) in documents {
        let upstream: Vec<String> = upstream.iter().map(|name| (*name).to_owned()).collect();
        let text = document(id, &upstream, *broken);
        sandbox.write(&format!(".midstride/handoffs/{id}.md"), text);
    }
    let store = open(sandbox.root());
    (sandbox, store)
}

/// The documents whose upstream is incomplete, with the reason, in the order they are checked.
fn incomplete(store: &Store, ids: &[&str]) -> Vec<String> {
    let found = ids.iter().flat_map(|id| {
        let verdict = Catalog::new(store.workspace()).check(&store.workspace().find(id).unwrap());
        let findings = verdict.findings.into_iter();
        let findings = findings.filter(|finding| finding.code == Code::UpstreamIncomplete);
        findings.map(|finding| format!("{id}: {}", finding.message)).collect::<Vec<_>>()
    });
    found.collect()
}

#[test]
fn fully_connected_layers_are_checked_once_each() {
    // There is a path for every choice in each layer: 5^40 of them.
    let sandbox = Sandbox::new("nobody-runs-it");
    let name = |layer: usize, place: usize| format!("l{layer}-{place}");
    for layer in 0..40 {
        for place in 0..5 {
            // Some are named by id and some by path.
            let below = |other| match (layer, other) {
                (_, 0 | 1) => format!("{}.md", name(layer - 1, other)),
                _ => name(layer - 1, other),
            };
            let upstream = if layer == 0 { vec![] } else { (0..5).map(below).collect() };
            let text = document(&name(layer, place), &upstream, (layer, place) == (0, 3));
            sandbox.write(&format!(".midstride/handoffs/{}.md", name(layer, place)), text);
        }
    }
    let store = open(sandbox.root());
    let found = incomplete(&store, &["l39-0", "l1-0", "l0-0"]);
    let errors = "the upstream artifact is incomplete: it has 5 errors";
    let mut wanted = vec![format!("l39-0: {errors}"); 5];
    wanted.push("l1-0: the upstream artifact is incomplete: it has an error".to_owned());
    assert_eq!(found, wanted);
}

#[test]
fn a_chain_of_all_documents_is_followed_to_its_end() {
    let sandbox = Sandbox::new("nobody-runs-it");
    for number in 0..1500 {
        let upstream = if number == 0 { vec![] } else { vec![format!("c{}", number - 1)] };
        let text = document(&format!("c{number}"), &upstream, number == 0);
        sandbox.write(&format!(".midstride/handoffs/c{number}.md"), text);
    }
    let store = open(sandbox.root());
    assert_eq!(incomplete(&store, &["c1499"]).len(), 1);
}

#[test]
fn documents_in_a_cycle_are_incomplete_in_any_order() {
    let documents = [
        ("a", vec!["b"], false),
        ("b", vec!["c"], false),
        ("c", vec!["a", "e"], false),
        ("d", vec!["b"], false),
        ("e", vec![], false),
        ("f", vec!["f"], false),
    ];
    let orders: [&[&str]; 4] = [
        &["a", "b", "c", "d", "e", "f"],
        &["d", "c", "b", "a", "f", "e"],
        &["c", "d", "a", "e", "b", "f"],
        &["f", "e", "b", "a", "d", "c"],
    ];
    for order in orders {
        let (_sandbox, store) = store(&documents);
        let mut found = incomplete(&store, order);
        found.sort();
        let error = "the upstream artifact is incomplete: it has an error";
        let mut wanted: Vec<String> =
            ["a", "b", "c", "d"].iter().map(|id| format!("{id}: {error}")).collect();
        wanted.push(
            "f: the upstream artifact is incomplete: it in turn builds on this document".to_owned(),
        );
        assert_eq!(found, wanted, "{order:?}");
    }
}

#[test]
fn a_cycle_that_one_document_allows_is_open_in_any_order() {
    let allowing = document("b", &["a".to_owned()], false).replace(
        "  dependencies:",
        "  # midstride: allow S007 They were written together\n  dependencies:",
    );
    for order in [["a", "b", "d"], ["b", "a", "d"], ["d", "b", "a"], ["d", "a", "b"]] {
        let (sandbox, _) = store(&[("a", vec!["b"], false), ("d", vec!["a", "b"], false)]);
        sandbox.write(".midstride/handoffs/b.md", &allowing);
        let store = open(sandbox.root());
        assert_eq!(incomplete(&store, &order), Vec::<String>::new(), "{order:?}");
    }
}
