//! Compares the index with reading all documents: both give the same results, whatever is written.

use midstride::store::Store;
use midstride::store::index::{Effort, Filter, Index, RefreshLimit, scan};
use midstride::store::ledger::WaitPolicy;
use midstride::verbs::{BriefRequest, PromptSearch, SearchRequest, brief, search, search_prompt};
use midstride_core::brief::search::Query;
use midstride_core::format::header::Status;
use midstride_testkit::Sandbox;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::time::Duration;

/// Few words, so that they coincide; some are case-folded, some are made of others.
const WORDS: [&str; 12] = [
    "cache",
    "Cache",
    "caché",
    "cached",
    "purge",
    "cache_purge",
    "src/cache.rs",
    "日本語",
    "日本",
    "two",
    "Two-Way",
    "a",
];

fn sentence() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..5).prop_map(|words| words.join(" "))
}

#[derive(Clone, Debug)]
struct Written {
    name: usize,
    title: String,
    landmines: Vec<String>,
    body: String,
    day: u8,
    resolved: bool,
}

impl Written {
    fn text(&self) -> String {
        let status = if self.resolved { "resolved" } else { "planned" };
        let landmines: String =
            self.landmines.iter().map(|text| format!("    - \"{text}\"\n")).collect();
        let created = if self.day == 0 {
            String::new()
        } else {
            format!("  created: 2026-03-{:02}T08:00:00Z\n", self.day)
        };
        format!(
            "---\nhandoff:\n  title: \"{}\"\n  status: {status}\n{created}  landmines:\n{landmines}---\n\n{}\n",
            self.title, self.body
        )
    }

    fn path(&self) -> String {
        let shelf = ["docs/handoffs", ".midstride/handoffs", "docs/handoffs/deeper"][self.name % 3];
        format!("{shelf}/note-{}.md", self.name)
    }
}

fn written() -> impl Strategy<Value = Written> {
    let landmines = prop::collection::vec(sentence(), 0..3);
    (0..8_usize, sentence(), landmines, sentence(), 0..5_u8, any::<bool>()).prop_map(
        |(name, title, landmines, body, day, resolved)| Written {
            name,
            title,
            landmines,
            body,
            day,
            resolved,
        },
    )
}

/// Writes a file, in place or as a new one, or removes it.
#[derive(Clone, Debug)]
enum Step {
    Write(Written),
    Exchange(Written),
    Remove(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => written().prop_map(Step::Write),
        2 => written().prop_map(Step::Exchange),
        1 => (0..8_usize).prop_map(Step::Remove),
    ]
}

fn take(sandbox: &Sandbox, step: &Step) {
    match step {
        Step::Write(written) => {
            sandbox.write(&written.path(), written.text());
        }
        Step::Exchange(written) => {
            sandbox.write("draft", written.text());
            let to = sandbox.root().join(written.path());
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::rename(sandbox.root().join("draft"), to).unwrap();
        }
        Step::Remove(name) => {
            for shelf in ["docs/handoffs", ".midstride/handoffs", "docs/handoffs/deeper"] {
                let _ =
                    std::fs::remove_file(sandbox.root().join(format!("{shelf}/note-{name}.md")));
            }
        }
    }
}

const QUERIES: [&str; 12] = [
    "cache",
    "CACHÉ",
    "cac*",
    "\"cache purge\"",
    "cache purge",
    "cache_purge",
    "src/cache.rs",
    "日本",
    "\"two way\"",
    "two cache",
    "a",
    "note",
];

fn store(sandbox: &Sandbox) -> Store {
    sandbox.write(".midstride/config.toml", "");
    crate::open_on_disk(sandbox.root())
}

/// Asserts that the index finds the same as reading all documents, in the same order.
fn compare(store: &Store, index: &mut Index) {
    let freshness = index
        .refresh(store.workspace(), Effort::Command, RefreshLimit::default(), &mut |_, _| ())
        .unwrap();
    assert!(freshness.is_complete && freshness.unread.is_empty());
    let open = Filter { status: Some(Status::Planned), ..Filter::default() };
    let recent = Filter { since: Some(1_772_000_000 + 5 * 86_400), ..Filter::default() };
    for typed in QUERIES {
        let query = Query::parse(typed).unwrap();
        for filter in [&Filter::default(), &open, &recent] {
            let (read, unread) = scan(store.workspace(), &query, filter);
            assert!(unread.is_empty());
            for limit in [1, 3, 100] {
                let found = index
                    .find(store.workspace(), &query, filter, limit, Duration::from_mins(1))
                    .unwrap();
                assert_eq!(found, read[..limit.min(read.len())], "{typed}");
            }
        }
    }
}

#[test]
fn the_index_finds_the_same_as_reading_all_documents() {
    let mut runner =
        TestRunner::new(Config { cases: 12, failure_persistence: None, ..Config::default() });
    let rounds = prop::collection::vec(prop::collection::vec(step(), 1..6), 1..4);
    let hits = std::cell::Cell::new(0);
    runner
        .run(&rounds, |rounds| {
            let sandbox = Sandbox::new("");
            let store = store(&sandbox);
            let mut index = Index::open(store.workspace(), WaitPolicy::Command).unwrap();
            for steps in rounds {
                for step in &steps {
                    take(&sandbox, step);
                }
                compare(&store, &mut index);
            }
            hits.set(hits.get() + index.documents().unwrap());
            // A rebuilt index gives the same results.
            compare(
                &store,
                &mut Index::open_empty(store.workspace(), WaitPolicy::Command).unwrap(),
            );
            Ok(())
        })
        .unwrap();
    assert!(hits.get() > 12, "documents were written");
}

#[test]
fn a_truncated_index_is_rebuilt() {
    let sandbox = Sandbox::new("");
    let store = store(&sandbox);
    for number in 0..20 {
        let text = format!("---\nhandoff:\n  id: h{number}\n---\nThe cache is purged.\n");
        sandbox.write(&format!(".midstride/handoffs/h{number}.md"), text);
    }
    let mut index = Index::open(store.workspace(), WaitPolicy::Command).unwrap();
    compare(&store, &mut index);
    drop(index);
    let query = Query::parse("cache").unwrap();
    let wanted = SearchRequest { query, filter: Filter::default(), limit: 50, fresh: false };
    let find = || search(&crate::open_on_disk(sandbox.root()), &wanted, &mut |_, _| ()).hits.len();
    assert_eq!(find(), 20);
    let private = sandbox.root().join(".midstride/private");
    let is_index = |path: &std::path::Path| path.to_string_lossy().contains("index");
    for part in [0, 1, 2] {
        let files = std::fs::read_dir(&private).unwrap().map(|entry| entry.unwrap().path());
        let files: Vec<_> = files.filter(|path| path.is_file() && is_index(path)).collect();
        assert!(!files.is_empty());
        for path in files {
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(&path, &bytes[..bytes.len() * part / 3]).unwrap();
        }
        assert_eq!(find(), 20);
        let open = Index::open(store.workspace(), WaitPolicy::Command).unwrap();
        assert_eq!(open.documents().unwrap(), 20, "it was rebuilt");
    }
}

/// The matches for a prompt, with their scores.
fn matters(store: &Store) -> Vec<(String, f64)> {
    let text = "Why is the cache purged two-way in src/cache.rs? cache_purge 日本語".to_owned();
    let prompt = PromptSearch {
        text,
        files: vec!["src/cache.rs".into()],
        limit: 5,
        timeout: Duration::from_mins(1),
        effort: Effort::Prompt,
    };
    let matters = search_prompt(store, &prompt).hits.into_iter();
    matters
        .map(|matter| (matter.stored.path.display().to_string(), matter.relevance.score()))
        .collect()
}

#[test]
fn prompt_matches_do_not_depend_on_the_index() {
    let mut runner =
        TestRunner::new(Config { cases: 12, failure_persistence: None, ..Config::default() });
    let found = std::cell::Cell::new(0);
    runner
        .run(&prop::collection::vec(step(), 1..12), |steps| {
            let sandbox = Sandbox::new("");
            for step in &steps {
                take(&sandbox, step);
            }
            // Without a configuration there is no index, so all documents are read.
            let read = matters(&crate::open_on_disk(sandbox.root()));
            assert_eq!(matters(&store(&sandbox)), read);
            found.set(found.get() + read.len());
            Ok(())
        })
        .unwrap();
    assert!(found.get() > 0, "something mattered");
}

#[test]
fn briefings_do_not_depend_on_the_index() {
    let mut runner =
        TestRunner::new(Config { cases: 12, failure_persistence: None, ..Config::default() });
    let rounds = prop::collection::vec(prop::collection::vec(step(), 1..6), 1..4);
    let told = std::cell::Cell::new(0);
    let briefing = |store: &Store| {
        let briefed = brief(store, &BriefRequest::default(), &mut |_, _| ());
        (briefed.briefing, briefed.open)
    };
    runner
        .run(&rounds, |rounds| {
            let sandbox = Sandbox::new("");
            for steps in rounds {
                for step in &steps {
                    take(&sandbox, step);
                }
                let asked = briefing(&store(&sandbox));
                // Without a configuration there is no index, so all documents are read.
                std::fs::remove_file(sandbox.root().join(".midstride/config.toml")).unwrap();
                assert_eq!(briefing(&crate::open_on_disk(sandbox.root())), asked);
                told.set(told.get() + asked.1);
            }
            Ok(())
        })
        .unwrap();
    assert!(told.get() > 12, "something was told");
}

#[test]
fn an_outdated_hit_is_read_again() {
    let sandbox = Sandbox::new("");
    let store = store(&sandbox);
    let wanted = |typed: &str| SearchRequest {
        query: Query::parse(typed).unwrap(),
        filter: Filter::default(),
        limit: 10,
        fresh: false,
    };
    let found = |typed: &str| search(&store, &wanted(typed), &mut |_, _| ()).hits.len();
    sandbox.write("docs/handoffs/one.md", "# Pelican\n");
    assert_eq!(found("pelican"), 1);
    // A secret is neither found nor shown.
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    sandbox.write("docs/handoffs/two.md", format!("# Pelican {secret}\n"));
    assert_eq!((found("pelican"), found(&secret)), (2, 0));
    let hits = search(&store, &wanted("redacted"), &mut |_, _| ()).hits;
    assert_eq!(hits[0].why[0].excerpt, "Pelican REDACTED-github-token");
}
