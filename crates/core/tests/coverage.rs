//! Coverage: documents that explain score, documents that only look like it do not.

mod hollow;

use crate::transcripts::{client_of, fixture, jsonl_below, read};
use midstride_core::checkpoint::{Around, Checkpoint, Mode};
use midstride_core::coverage::{Coverage, Item, Told, What};
use midstride_core::document::Document;
use midstride_core::handoff::{Handoff, Whereabouts};
use midstride_core::session::{Client, Session};
use midstride_core::stage::Stages;
use midstride_testkit::{corpus, fixtures};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn checkpoint(client: Client, bytes: &[u8]) -> Checkpoint {
    let around = Around {
        at: "2026-03-20T12:00:00Z".parse().unwrap(),
        commit: None,
        branch: Some("main".to_owned()),
        plan_documents: Vec::new(),
        on_disk: BTreeMap::new(),
        ..Around::default()
    };
    Checkpoint::of(read(client, bytes), "t.jsonl".to_owned(), 1, Mode::Auto, around)
}

fn cache() -> Checkpoint {
    checkpoint(Client::ClaudeCode, &fixture("claude-code", "cache.jsonl"))
}

fn login() -> Checkpoint {
    checkpoint(Client::Codex, &fixture("codex", "login.jsonl"))
}

fn coverage(checkpoint: &Checkpoint, text: &str) -> Coverage {
    let document = Document::parse(text.as_bytes());
    let (whereabouts, stages) = (Whereabouts::default(), Stages::shipped());
    Coverage::of(checkpoint, &Handoff::of(&document, &whereabouts, &stages))
}

fn percent(checkpoint: &Checkpoint, text: &str) -> u32 {
    coverage(checkpoint, text).explained_percent().unwrap_or_default()
}

/// Every session that is at hand: ours, and other people's.
fn checkpoints() -> Vec<(String, Checkpoint)> {
    let mut all = vec![("cache".to_owned(), cache()), ("login".to_owned(), login())];
    for path in corpus("transcripts").iter().flat_map(|folder| jsonl_below(folder)) {
        let bytes = std::fs::read(&path).unwrap();
        if let Some(client) = client_of(&path, &bytes) {
            all.push((path.display().to_string(), checkpoint(client, &bytes)));
        }
    }
    all
}

fn good(name: &str) -> String {
    std::fs::read_to_string(fixtures("coverage").join(name)).unwrap()
}

/// What happened, and how a document tells it.
fn table(checkpoint: &Checkpoint, text: &str) -> String {
    let line = |item: &Item| {
        let record = item.seen.as_ref().map_or("", |seen| &seen.record);
        let (what, told) = (item.what.singular(), item.told.word());
        format!("{told:9} {:2} {what}: {} ({record})\n", item.weight, item.name)
    };
    coverage(checkpoint, text).items.iter().map(line).collect()
}

const CACHE: &str = "\
explained  5 failed command: npm test (a06)
explained  8 failed command: npm run build (a36)
explained  8 reverted edit: src/page.tsx (a15)
explained 10 correction: Do not touch the pages, only the cache. (a19)
explained 10 correction: Keep it in one file (a21)
listed     2 changed file: docs/cache-plan.md (a17)
explained  2 changed file: src/cache.ts (a09)
explained  6 decision of the user: Which store? Redis (a23)
explained  6 decision of the user: plan approved: Warm the cache after each deploy. (a25)
explained  4 open task: Warm the cache (a31)
explained  4 open task: Measure again (a29)
explained  5 agent in flight: ag2: bench (a34)
";

const LOGIN: &str = "\
explained  5 failed command: cargo test login (ordinal 8)
explained 10 correction: No, keep the redirect for admins. (ordinal 23)
explained  2 changed file: docs/plans/login.md (ordinal 12)
listed     2 changed file: src/login.rs (ordinal 12)
explained  4 open task: Fix it (ordinal 7)
explained  5 agent in flight: child-1: Look for other loops (ordinal 16)
";

#[test]
fn a_good_handoff_explains_nearly_everything() {
    assert_eq!(table(&cache(), &good("cache.md")), CACHE);
    assert_eq!(table(&login(), &good("login.md")), LOGIN);
    assert!(percent(&cache(), &good("cache.md")) >= 80);
    assert!(percent(&login(), &good("login.md")) >= 80);
    // About another session it says nothing.
    assert!(percent(&login(), &good("cache.md")) <= 5);
}

#[test]
fn an_explanation_may_be_written_in_many_ways() {
    let found = |text: &str, what: What| {
        let found = coverage(&cache(), text);
        let all = found.items.iter().filter(|item| item.what == what);
        all.map(|item| item.told).max().unwrap()
    };
    for explained in [
        "### `npm test` fails\n\nThe store lost its entries because a module was loaded twice.\n",
        "| command | why |\n|---|---|\n| `npm test` | a module that is loaded twice loses its entries |\n",
        "- `npm test`\n  - Symptom: 14 purges\n  - Cause: the store is made anew for every module\n",
        "A module was loaded twice and made its own store. That is why `npm test` failed.\n",
        "Tests are red (cache.test.ts fails): a module is loaded twice, so entries of the store vanish.\n",
        "## Root causes\n\n1. `npm test`: the store is made anew whenever a module is loaded.\n",
        "`npm test` schlug fehl, weil jedes Modul beim Laden einen eigenen Speicher anlegt.\n",
        // As short as people write in a hurry: a thing of its own, and what was the matter with it.
        "`npm test` failed: lazy_html was missing\n",
        "npm test failed because the linker was absent\n",
        "- `npm test` failed (no linker)\n",
        "The disk was full, so `npm test` failed.\n",
        "- `npm test` failed\n  - Cause: `lazy_html` not installed\n",
        "| command | why |\n|---|---|\n| `npm test` | lazy_html was missing |\n",
        "`npm test` schlug fehl, weil der Linker fehlte.\n",
    ] {
        assert_eq!(found(explained, What::FailedCommand), Told::Explained, "{explained}");
    }
    for listed in [
        "`npm test` failed with exit code 1.\n",
        "- `npm test` failed\n\nBecause a module was loaded twice, the store lost its entries.\n",
        "```sh\nnpm test # fails because the store is made anew for every module\n```\n",
        "## Root causes\n\n- `npm test`\n",
        "`npm test` failed: it failed\n",
        "`npm test` failed because of an error\n",
        "`npm test`: was broken\n",
        "`npm test` failed because it was flaky\n",
        "`npm test` failed because of the linker\n",
        "`npm test` failed: something was off with the setup\n",
        "`npm test` failed because npm test was broken\n",
        "## Root causes\n\n- `npm test`: it was red\n",
    ] {
        assert_eq!(found(listed, What::FailedCommand), Told::Listed, "{listed}");
    }
    let named = "The pages of `page.tsx` are slow because every visitor renders them anew.";
    assert_eq!(found(named, What::RevertedEdit), Told::Missing);
}

#[test]
fn what_happened_is_counted_by_sort() {
    let found = coverage(&cache(), "`npm test` and `src/cache.ts`");
    let counts: Vec<_> = found
        .counts()
        .into_iter()
        .map(|count| (count.what, count.happened, count.listed, count.explained))
        .collect();
    let expected = [
        (What::FailedCommand, 2, 1, 0),
        (What::RevertedEdit, 1, 0, 0),
        (What::Correction, 2, 0, 0),
        (What::ChangedFile, 2, 1, 0),
        (What::Decision, 2, 0, 0),
        (What::OpenTask, 2, 0, 0),
        (What::AgentInFlight, 1, 0, 0),
    ];
    assert_eq!(counts, expected);
    let weights: Vec<u32> = found.missing().iter().map(|item| item.weight).collect();
    assert!(weights.is_sorted_by(|one, next| one >= next), "{weights:?}");
    assert_eq!(found.missing()[0].what, What::Correction);
    let nothing = Checkpoint { session: Session::of(Client::Codex), ..login() };
    assert_eq!(coverage(&nothing, "text").explained_percent(), None);
}

#[test]
fn hollow_documents_explain_nothing() {
    let mut looked = 0;
    for (session, checkpoint) in checkpoints() {
        let items = coverage(&checkpoint, "").items;
        for kind in hollow::KINDS.iter().filter(|kind| items.len() >= kind.items_min) {
            let text = (kind.write)(&checkpoint, &items);
            let percent = percent(&checkpoint, &text);
            assert!(percent <= 5, "{percent} % of {session} by {}:\n{text}", kind.name);
            looked += 1;
        }
    }
    assert!(hollow::KINDS.len() >= 15 && looked >= 2 * hollow::KINDS.len(), "{looked}");
}

#[test]
fn a_list_names_nearly_everything() {
    // Hollow documents have to be found out by what they lack, not by not being understood.
    for (session, checkpoint) in checkpoints() {
        let found = coverage(&checkpoint, &checkpoint.page());
        let listed = found.items.iter().filter(|item| item.told >= Told::Listed).count();
        // A page shows thirty things of a sort.
        if found.counts().iter().all(|count| count.happened <= 30) {
            let few = found.missing();
            assert!(listed * 10 >= found.items.len() * 8, "{session}: {few:#?}");
        }
    }
}

/// What the good documents say, statement by statement.
fn statements() -> Vec<String> {
    let both = [good("cache.md"), good("login.md")].concat();
    let document = Document::parse(both.as_bytes());
    let blocks = document.blocks().iter();
    blocks.map(|block| block.at.of(document.text()).trim().to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_statements_does_not_matter(order in Just(statements()).prop_shuffle()) {
        let checkpoint = cache();
        let before = percent(&checkpoint, &statements().join("\n\n"));
        prop_assert!(before > 20);
        prop_assert_eq!(percent(&checkpoint, &order.join("\n\n")), before);
    }

    #[test]
    fn one_more_explanation_never_lowers(
        some in proptest::sample::subsequence(statements(), 0..statements().len()),
        more in proptest::sample::select(statements()),
    ) {
        let checkpoint = cache();
        let before = percent(&checkpoint, &some.join("\n\n"));
        let after = percent(&checkpoint, &[some, vec![more]].concat().join("\n\n"));
        prop_assert!(before <= after, "{before} {after}");
    }

    #[test]
    fn any_document_can_be_compared(text in "(?s).{0,400}") {
        let found = coverage(&cache(), &text);
        prop_assert_eq!(found.items.len(), 12);
        let is_inside = |item: &Item| item.at.is_none_or(|at| at.end <= text.len());
        prop_assert!(found.items.iter().all(is_inside));
    }
}
