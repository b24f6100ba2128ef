//! Tests of coverage: which highlights of a session a handoff covers.

mod hollow;

use crate::transcripts::{client_of, fixture, jsonl_below, read};
use crate::work;
use midstride_core::format::document::Document;
use midstride_core::format::stage::Stages;
use midstride_core::handoff::{Handoff, Location};
use midstride_core::session::Session;
use midstride_core::session::checkpoint::{
    Checkpoint, CheckpointContext, CheckpointMode, Highlight, HighlightKind, Highlights,
};
use midstride_core::session::coverage::{Coverage, CoverageItem, CoverageKind, CoverageLevel};
use midstride_core::text::id::ClientName;
use midstride_testkit::{corpus, fixtures};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) fn checkpoint_of(session: Session) -> Checkpoint {
    let around = CheckpointContext {
        at: "2026-03-20T12:00:00Z".parse().unwrap(),
        commit: None,
        branch: Some("main".to_owned()),
        plan_documents: Vec::new(),
        on_disk: BTreeMap::new(),
        ..CheckpointContext::default()
    };
    Checkpoint::new(session, "t.jsonl".to_owned(), 1, CheckpointMode::Auto, around)
}

fn checkpoint(client: &str, bytes: &[u8]) -> Checkpoint {
    checkpoint_of(read(client, bytes))
}

fn cache() -> Checkpoint {
    checkpoint("claude-code", &fixture("claude-code", "cache.jsonl"))
}

fn login() -> Checkpoint {
    checkpoint("codex", &fixture("codex", "login.jsonl"))
}

fn compared(highlights: &Highlights, text: &str) -> Coverage {
    let document = Document::parse(text.as_bytes());
    let (whereabouts, stages) = (Location::default(), Stages::shipped());
    Coverage::compare(highlights, &Handoff::new(&document, &whereabouts, &stages))
}

fn coverage(checkpoint: &Checkpoint, text: &str) -> Coverage {
    compared(&Highlights::from_checkpoint(checkpoint), text)
}

/// Highlights with a single item.
fn only(kind: HighlightKind, text: &str, detail: Option<&str>) -> Highlights {
    let one = Highlight {
        kind,
        text: text.to_owned(),
        detail: detail.map(str::to_owned),
        state: None,
        seen: None,
        remark: None,
        weight: 0,
    };
    Highlights { kinds: vec![vec![one]], ..Highlights::default() }
}

/// How a text covers the only item of some highlights.
fn told(highlights: &Highlights, text: &str) -> CoverageLevel {
    let found = compared(highlights, text).items;
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].level
}

fn constraint(text: &str) -> String {
    format!("---\nhandoff:\n  id: a\n  boot:\n    constraint:\n      - {text}\n---\n")
}

/// The sessions of the corpus.
fn corpus_checkpoints() -> Vec<(String, Checkpoint)> {
    let read = |path: PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        let client = client_of(&path, &bytes)?;
        Some((path.display().to_string(), checkpoint(client, &bytes)))
    };
    jsonl_below(&corpus("transcripts")).into_iter().filter_map(read).collect()
}

fn good(name: &str) -> String {
    std::fs::read_to_string(fixtures("coverage").join(name)).unwrap()
}

/// Each item, and how a document covers it.
fn table(checkpoint: &Checkpoint, text: &str) -> String {
    let line = |item: &CoverageItem| {
        let record = item.seen.as_ref().map_or("", |seen| &seen.record);
        format!("{:7} {}: {} ({record})\n", item.level.word(), item.kind.singular(), item.name)
    };
    coverage(checkpoint, text).items.iter().map(line).collect()
}

const CACHE: &str = "\
covered correction: Keep it in one file (a21)
covered correction: Do not touch the pages, only the cache. (a19)
covered failed command: npm run build (a38)
covered reverted edit: src/page.tsx (a15)
covered open task: Warm the cache (a31)
covered open task: Measure again (a29)
covered user decision: Which store? Redis (a23)
covered agent in flight: ag2: bench (a34)
covered changed file: docs/cache-plan.md (a17)
covered changed file: src/page.tsx (a15)
covered changed file: src/cache.ts (a09)
";

const LOGIN: &str = "\
covered correction: No, keep the redirect for admins. (ordinal 23)
covered open task: Fix it (ordinal 7)
covered agent in flight: child-1: Look for other loops (ordinal 16)
covered changed file: docs/plans/login.md (ordinal 12)
covered changed file: src/login.rs (ordinal 12)
";

#[test]
fn a_good_handoff_covers_its_session() {
    assert_eq!(table(&cache(), &good("cache.md")), CACHE);
    assert_eq!(table(&login(), &good("login.md")), LOGIN);
    // It covers nothing of another session.
    let other = coverage(&login(), &good("cache.md"));
    assert!(other.items.iter().all(|item| item.level == CoverageLevel::Missing), "{other:?}");
}

const CORRECTION: &str = "No! Do not touch the pages, only the cache. I mean it.";

#[test]
fn a_verbatim_quote_of_a_correction_covers_it() {
    let correction = only(HighlightKind::Correction, CORRECTION, None);
    for quote in [
        constraint("\"No! Do not touch the pages, only the cache. I mean it.\""),
        constraint("Do not touch the pages, only the cache"),
        "The user said \"do not touch the pages, only the cache\".\n".to_owned(),
        "> Do not touch the pages, only the cache.\n".to_owned(),
    ] {
        assert_eq!(told(&correction, &quote), CoverageLevel::Covered, "{quote}");
    }
    // Without a meaningful word, only a verbatim quote covers it.
    let bare = only(HighlightKind::Correction, "No, not like that", None);
    assert_eq!(told(&bare, &constraint("\"No, not like that\"")), CoverageLevel::Covered);
    assert_eq!(told(&bare, &constraint("Do it the other way round")), CoverageLevel::Missing);
}

#[test]
fn a_paraphrase_that_shares_the_key_words_of_a_correction_covers_it() {
    let correction = only(HighlightKind::Correction, CORRECTION, None);
    for paraphrase in [
        constraint("Leave the pages alone; changes belong in the cache"),
        "## Decisions\n\n- Pages are not touched: another team rewrites the templates.\n"
            .to_owned(),
        "The user wants us to stay in the cache and not to touch any page.\n".to_owned(),
    ] {
        assert_eq!(told(&correction, &paraphrase), CoverageLevel::Covered, "{paraphrase}");
    }
    for other in [
        constraint("Follow the instructions of the user"),
        constraint("Do not touch anything"),
        "The user corrected the agent twice.\n".to_owned(),
        "The cache is slow.\n\nPages load twice.\n".to_owned(),
    ] {
        assert_eq!(told(&correction, &other), CoverageLevel::Missing, "{other}");
    }
    let tabs = only(HighlightKind::Correction, "No, use tabs", None);
    assert_eq!(told(&tabs, &constraint("Indent with tabs")), CoverageLevel::Missing);
    assert_eq!(told(&tabs, &constraint("Use tabs to indent")), CoverageLevel::Covered);
}

/// A session in which `git push` failed and was not resolved.
fn failed_push() -> Checkpoint {
    checkpoint_of(work::session(&[
        "~ /home/dev/shop/src/cache.ts",
        "! git push\n> fatal: The current branch fix-cache has no upstream branch.",
    ]))
}

/// A session with failing tests and their output.
fn failing() -> Checkpoint {
    checkpoint_of(work::session(&[
        "! cargo test\n> thread 'login_redirects' panicked at tests/login.rs:20:5:",
        "! npm run build\n> src/page.tsx(3,7): error TS2304: Cannot find name 'market'.",
        "~ /home/dev/shop/src/cache.ts",
    ]))
}

#[test]
fn a_nonsense_cause_does_not_explain_a_failure() {
    let push = Highlights::from_checkpoint(&failed_push());
    let failure = push.of_kind(HighlightKind::Failed).next().unwrap();
    let push = only(HighlightKind::Failed, &failure.text, failure.detail.as_deref());
    for nonsense in [
        "`git push` failed because the branch was haunted.\n",
        "- `git push` failed: the branch was haunted by old spirits\n",
        "## Root causes\n\n`git push`: the moon stood in the seventh house.\n",
        "---\nhandoff:\n  id: a\n  landmines:\n    - git push fails because the branch was haunted\n---\n",
    ] {
        assert_eq!(told(&push, nonsense), CoverageLevel::Named, "{nonsense}");
    }
    for explained in [
        "`git push` failed because nobody set the upstream of fix-cache; push with -u.\n",
        "- `git push` still fails: no upstream branch is set, the remote has to be chosen first\n",
        "---\nhandoff:\n  id: a\n  landmines:\n    - Pushing needs `-u origin`, the upstream of this branch is missing\n---\n",
    ] {
        assert_eq!(told(&push, explained), CoverageLevel::Covered, "{explained}");
    }
    assert_eq!(told(&push, "The branch was haunted.\n"), CoverageLevel::Missing);
}

#[test]
fn a_failure_is_explained_by_what_it_printed_and_something_more() {
    let printed = Some("login_redirects panicked at tests/login.rs:20: left == right");
    let failure = only(HighlightKind::Failed, "cd web && cargo test -q 2>&1 | tail -5", printed);
    for explained in [
        "`cargo test` fails: login_redirects still expects the old address.\n",
        "### `cargo test` fails\n\nThe assertion in `tests/login.rs` compares stale cookies.\n",
        "| check | why |\n|---|---|\n| `cargo test` | login.rs:20 compares cookies of two sessions |\n",
    ] {
        assert_eq!(told(&failure, explained), CoverageLevel::Covered, "{explained}");
    }
    for named in [
        "`cargo test` failed.\n",
        "`cargo test` failed because of an error.\n",
        "- cargo test failed: login_redirects panicked at tests/login.rs:20\n",
        "```sh\ncargo test # login_redirects fails since stale cookies are compared\n```\n",
        "`cargo test` was flaky because the machine was busy.\n",
    ] {
        assert_eq!(told(&failure, named), CoverageLevel::Named, "{named}");
    }
    // A sentence about the same file that is not about a failure does not explain this one.
    assert_eq!(
        told(&failure, "tests/login.rs has a new helper for cookies.\n"),
        CoverageLevel::Missing
    );
    // A failure without output can only be named by its command.
    let silent = only(HighlightKind::Failed, "npm run build", None);
    let said = "`npm run build` fails since the bundler asks for a terminal.\n";
    assert_eq!(told(&silent, said), CoverageLevel::Covered);
    assert_eq!(told(&silent, "`npm run build` failed with exit code 7.\n"), CoverageLevel::Named);
}

#[test]
fn open_tasks_are_required() {
    let found = coverage(&cache(), "");
    let tasks: Vec<&str> = found
        .uncovered()
        .filter(|item| item.kind == CoverageKind::OpenTask)
        .map(|item| item.name.as_str())
        .collect();
    assert_eq!(tasks, ["Warm the cache", "Measure again"]);
    let task = only(HighlightKind::Task, "Warm the cache after each deploy", None);
    assert_eq!(told(&task, "Next: warm the cache once a deploy is out.\n"), CoverageLevel::Covered);
    assert_eq!(told(&task, "Next: read the cache code.\n"), CoverageLevel::Missing);
    // Startup steps are not statements of the author.
    let boot = "---\nhandoff:\n  id: a\n  boot:\n    tasks:\n      - Warm the cache after each deploy\n---\n";
    assert_eq!(told(&task, boot), CoverageLevel::Missing);
}

#[test]
fn the_cause_of_a_fixed_failure_is_not_required() {
    let fixed = checkpoint_of(work::session(&[
        "! npm test\n> FAIL src/cache.test.ts\n> expected 1, got 14",
        "~ /home/dev/shop/src/cache.ts",
        "$ npm test\n> 12 passed",
    ]));
    let found = coverage(&fixed, "");
    let failures = found.items.iter().filter(|item| item.kind == CoverageKind::FailedCommand);
    assert_eq!(failures.count(), 0, "{found:?}");
    assert_eq!(found.uncovered().count(), 0, "{found:?}");
}

#[test]
fn a_reverted_file_needs_what_was_tried() {
    let reverted = only(HighlightKind::Reverted, "src/page.tsx", None);
    let turn = "---\nhandoff:\n  id: a\n  wrong_turns:\n    - tried: Caching in src/page.tsx\n      why_wrong: every visitor renders it\n---\n";
    assert_eq!(told(&reverted, turn), CoverageLevel::Covered);
    assert_eq!(
        told(&reverted, "page.tsx was put back: rendering was never slow.\n"),
        CoverageLevel::Covered
    );
    assert_eq!(told(&reverted, "src/page.tsx was reverted.\n"), CoverageLevel::Named);
    assert_eq!(told(&reverted, "`src/page.tsx` renders the market.\n"), CoverageLevel::Missing);
}

#[test]
fn items_are_counted_by_kind() {
    let found = coverage(&cache(), "`npm run build` and `src/cache.ts`");
    let counts: Vec<_> = found
        .counts()
        .into_iter()
        .map(|count| (count.kind, count.total, count.named, count.covered))
        .collect();
    let expected = [
        (CoverageKind::Correction, 2, 0, 0),
        (CoverageKind::FailedCommand, 1, 1, 0),
        (CoverageKind::RevertedEdit, 1, 0, 0),
        (CoverageKind::OpenTask, 2, 0, 0),
        (CoverageKind::Decision, 1, 0, 0),
        (CoverageKind::AgentInFlight, 1, 0, 0),
        (CoverageKind::ChangedFile, 3, 1, 1),
    ];
    assert_eq!(counts, expected);
    assert_eq!((found.required().count(), found.uncovered().count()), (6, 6));
    let nothing = Checkpoint { session: Session::new(ClientName::new("codex")), ..login() };
    assert_eq!(coverage(&nothing, "text").items, []);
}

#[test]
fn hollow_documents_explain_nothing() {
    let own =
        [("cache", cache()), ("login", login()), ("push", failed_push()), ("tests", failing())];
    let own = own.map(|(name, checkpoint)| (name.to_owned(), checkpoint));
    let causes = check_hollow_documents(own.into());
    assert!(hollow::KINDS.len() >= 30 && causes >= 4 * hollow::KINDS.len(), "{causes}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn hollow_documents_about_corpus_sessions_explain_nothing() {
    let sessions = corpus_checkpoints();
    assert!(sessions.len() > 30, "{}", sessions.len());
    check_hollow_documents(sessions);
}

/// Checks hollow documents about sessions, and returns how many causes they leave unexplained.
fn check_hollow_documents(sessions: Vec<(String, Checkpoint)>) -> usize {
    let mut causes = 0;
    for (session, checkpoint) in sessions {
        let highlights = Highlights::from_checkpoint(&checkpoint);
        let items = coverage(&checkpoint, "").items;
        for kind in hollow::KINDS {
            let text = (kind.write)(&checkpoint, &items);
            let found = compared(&highlights, &text);
            // Without output, a program cannot tell a cause from a phrase.
            let is_silent = |name: &str| {
                let mut failed = highlights.of_kind(HighlightKind::Failed);
                let printed =
                    failed.find(|one| one.text == name).and_then(|one| one.detail.as_ref());
                printed.is_none_or(|printed| printed.starts_with("Background command "))
            };
            let is_cause = |item: &&CoverageItem| match item.kind {
                CoverageKind::FailedCommand => !is_silent(&item.name),
                CoverageKind::RevertedEdit => true,
                CoverageKind::Correction
                | CoverageKind::OpenTask
                | CoverageKind::Decision
                | CoverageKind::AgentInFlight
                | CoverageKind::ChangedFile => false,
            };
            causes += found.items.iter().filter(is_cause).count();
            let covered = found.items.iter().filter(|item| item.level == CoverageLevel::Covered);
            let explained: Vec<&CoverageItem> = covered.filter(is_cause).collect();
            assert!(explained.is_empty(), "{session}, {}:\n{text}\n{explained:#?}", kind.name);
        }
    }
    causes
}

/// The statements of the good documents.
fn statements() -> Vec<String> {
    let both = [good("cache.md"), good("login.md")].concat();
    let document = Document::parse(both.as_bytes());
    let blocks = document.blocks().iter();
    blocks.map(|block| block.at.slice(document.text()).trim().to_owned()).collect()
}

/// The number of items a document covers.
fn covered(checkpoint: &Checkpoint, text: &str) -> usize {
    let items = coverage(checkpoint, text).items;
    items.iter().filter(|item| item.level == CoverageLevel::Covered).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_statements_does_not_matter(order in Just(statements()).prop_shuffle()) {
        let checkpoint = cache();
        let before = covered(&checkpoint, &statements().join("\n\n"));
        prop_assert!(before > 5);
        prop_assert_eq!(covered(&checkpoint, &order.join("\n\n")), before);
    }

    #[test]
    fn adding_a_statement_never_lowers_coverage(
        some in proptest::sample::subsequence(statements(), 0..statements().len()),
        more in proptest::sample::select(statements()),
    ) {
        let checkpoint = cache();
        let before = covered(&checkpoint, &some.join("\n\n"));
        let after = covered(&checkpoint, &[some, vec![more]].concat().join("\n\n"));
        prop_assert!(before <= after, "{before} {after}");
    }

    #[test]
    fn any_document_can_be_compared(text in "(?s).{0,400}") {
        let found = coverage(&cache(), &text);
        prop_assert_eq!(found.items.len(), 11);
        let is_inside = |item: &CoverageItem| item.at.is_none_or(|at| at.end <= text.len());
        prop_assert!(found.items.iter().all(is_inside));
    }
}
