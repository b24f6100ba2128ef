//! Tests of the verbs that change the status of a handoff and answer its questions: what each one
//! returns, and what it refuses.

use crate::{open, set_up};
use midstride::journal::JournalError;
use midstride::store::Store;
use midstride::verbs::{
    self, AnswerInputError, AnswerRequest, ApplyError, FixOutcome, NumberedAnswer, PreviousValue,
    ResolveInputError, ResolveRequest, TypedEnding,
};
use midstride::workspace::StoredHandoff;
use midstride_core::format::header::Status;
use midstride_core::handoff::lifecycle::{CloseReason, LifecycleRefusal, MeasuredValue};
use midstride_core::text::id::HandoffKey;
use midstride_testkit::Sandbox;

const FILE: &str = ".midstride/handoffs/slow.md";

/// A planned handoff with a question, an assumption and a task.
const SLOW: &str = "---
handoff:
  id: slow
  title: Market pages take 14 s
  status: planned
  created: 2026-03-21T17:24:00Z
  context_summary: The market page is slow
  open_questions:
    - question: Which index?
      blocking: true
      suggested_owner: ann
    - question: Which cache?
  assumptions:
    - assumption: The cache is cold
      confidence: low
  state:
    tasks:
      - id: t1
        subject: Add the index
---

## Plan

1. Measure it.
";

fn project() -> Sandbox {
    let sandbox = Sandbox::new("nobody-runs-it").repository();
    sandbox.write(".midstride/config.toml", "");
    sandbox.write(FILE, SLOW);
    sandbox
}

fn slow(store: &Store) -> StoredHandoff {
    store.workspace().find("slow").unwrap()
}

fn status(store: &Store) -> Status {
    slow(store).handoff(store.workspace()).status()
}

fn refusal(error: ApplyError) -> LifecycleRefusal {
    match error {
        ApplyError::Refused { why, .. } => why,
        ApplyError::NoCommit(_) | ApplyError::Journal(_) | _ => panic!("{error}"),
    }
}

fn answer(which: &str, text: Option<&str>, holds: Option<bool>) -> AnswerRequest {
    AnswerRequest::parse(which, text, holds, Some("ann".to_owned())).unwrap()
}

#[test]
fn start_returns_blocking_questions_and_imported_tasks() {
    let sandbox = project();
    let store = open(sandbox.root());
    set_up(&store);
    let started = verbs::start(&store, &slow(&store), Some("ann".to_owned())).unwrap();
    assert_eq!((started.recorded.revision, started.reason.as_str()), (2, "started"));
    assert_eq!(status(&store), Status::InProgress);
    let blocking = &started.blocking;
    assert_eq!((blocking.len(), blocking[0].number), (1, 1));
    assert_eq!(blocking[0].owner.as_deref(), Some("ann"));
    assert_eq!(started.imported.unwrap().created.len(), 1);
    assert!(sandbox.read(FILE).contains("by: ann"));
}

#[test]
fn a_started_handoff_cannot_be_started_again() {
    let sandbox = project();
    let store = open(sandbox.root());
    verbs::start(&store, &slow(&store), None).unwrap();
    let before = sandbox.read(FILE);
    let error = verbs::start(&store, &slow(&store), None).unwrap_err();
    assert_eq!(refusal(error), LifecycleRefusal::AlreadyStarted);
    assert_eq!(sandbox.read(FILE), before);
}

#[test]
fn a_handoff_starts_even_if_its_tasks_cannot_be_imported() {
    let sandbox = Sandbox::new("nobody-runs-it").repository();
    sandbox.write("docs/handoffs/slow.md", SLOW);
    let store = open(sandbox.root());
    let started = verbs::start(&store, &slow(&store), None).unwrap();
    assert_eq!(
        started.imported.unwrap_err().to_string(),
        "the tasks in `docs/handoffs/slow.md` were not created, because the handoff is not trusted"
    );
    assert_eq!(status(&store), Status::InProgress);
}

#[test]
fn an_answer_returns_the_one_it_replaces() {
    let sandbox = project();
    let store = open(sandbox.root());
    let first =
        verbs::answer(&store, &slow(&store), &answer("q1", Some("by city"), None), None).unwrap();
    assert_eq!((first.reason.as_str(), first.previous, first.closed), ("answered q1", None, None));
    let second =
        verbs::answer(&store, &slow(&store), &answer("q1", Some("by state"), None), None).unwrap();
    let previous = second.previous.unwrap();
    assert_eq!((previous.key.to_string(), previous.revision), ("slow".to_owned(), 2));
    assert_eq!(previous.value, PreviousValue::Text("by city".to_owned()));
    let same = verbs::answer(&store, &slow(&store), &answer("q1", Some("by state"), None), None);
    assert_eq!(refusal(same.unwrap_err()), LifecycleRefusal::AlreadyAnswered(1));
}

#[test]
fn a_validated_assumption_can_be_disproved_later() {
    let sandbox = project();
    let store = open(sandbox.root());
    let holds =
        verbs::answer(&store, &slow(&store), &answer("a1", None, Some(true)), None).unwrap();
    assert_eq!((holds.reason.as_str(), holds.previous), ("a1 holds", None));
    let fails =
        verbs::answer(&store, &slow(&store), &answer("a1", None, Some(false)), None).unwrap();
    assert_eq!(fails.reason, "a1 is disproved");
    assert_eq!(fails.previous.unwrap().value, PreviousValue::Holds);
    let missing = verbs::answer(&store, &slow(&store), &answer("a7", None, Some(true)), None);
    let why = refusal(missing.unwrap_err());
    assert_eq!(why, LifecycleRefusal::NoAssumption { wanted: 7, has: 1 });
}

#[test]
fn an_answer_to_a_closed_handoff_returns_its_status() {
    let sandbox = project();
    let store = open(sandbox.root());
    let request = ResolveRequest {
        ending: CloseReason::Abandoned("not needed".to_owned()),
        measured: Vec::new(),
        by: None,
    };
    verbs::resolve(&store, &slow(&store), &request).unwrap();
    let late =
        verbs::answer(&store, &slow(&store), &answer("q2", Some("none"), None), None).unwrap();
    assert_eq!(late.closed, Some(Status::Abandoned));
}

#[test]
fn an_answer_is_parsed_from_a_name_and_a_text_or_a_verdict() {
    let parse = |which, text, holds| AnswerRequest::parse(which, text, holds, None);
    let answer = |which, text, holds| parse(which, text, holds).map(|request| request.answer);
    let name = |name: &str| name.to_owned();
    assert_eq!(answer("q2", Some("x"), None), Ok(NumberedAnswer::Question(2, name("x"))));
    assert_eq!(answer("a1", None, Some(false)), Ok(NumberedAnswer::Assumption(1, false)));
    assert_eq!(parse("q02", Some("x"), None).unwrap().name, "q02");
    assert_eq!(answer("q2", None, None), Err(AnswerInputError::NoText(name("q2"))));
    assert_eq!(answer("q2", Some("x"), Some(true)), Err(AnswerInputError::NoText(name("q2"))));
    assert_eq!(answer("a1", Some("x"), None), Err(AnswerInputError::NoVerdict(name("a1"))));
    for unknown in ["", "1", "q", "qq1", "Q1", "b1"] {
        let error = answer(unknown, Some("x"), None).unwrap_err();
        assert_eq!(error, AnswerInputError::UnknownName(name(unknown)));
    }
}

#[test]
fn resolve_records_the_commit_and_returns_open_blocking_questions() {
    let sandbox = project();
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "all"]);
    let store = open(sandbox.root());
    let typed = TypedEnding { commit: Some("HEAD"), ..TypedEnding::default() };
    let request = ResolveRequest::parse(store.workspace(), typed, None).unwrap();
    let measured = vec![MeasuredValue::parse("cold=14290:108 ms").unwrap()];
    let request = ResolveRequest { measured, ..request };
    let resolved = verbs::resolve(&store, &slow(&store), &request).unwrap();
    assert_eq!((resolved.recorded.revision, resolved.reason.as_str()), (2, "resolved"));
    assert_eq!(resolved.blocking.len(), 1);
    let text = sandbox.read(FILE);
    let CloseReason::Resolved { commit: Some(commit), .. } = &request.ending else { panic!() };
    assert!(text.contains(&format!("commit: {}", commit.as_str())), "{text}");
    assert!(text.contains("after: 108"), "{text}");
    let again = verbs::resolve(&store, &slow(&store), &request).unwrap_err();
    assert_eq!(refusal(again), LifecycleRefusal::AlreadyClosed(Status::Resolved));
}

#[test]
fn blocking_questions_do_not_matter_for_work_that_was_not_done() {
    let sandbox = project();
    let store = open(sandbox.root());
    let successor = HandoffKey::parse("fast").unwrap();
    let typed = TypedEnding { superseded_by: Some(&successor), ..TypedEnding::default() };
    let request = ResolveRequest::parse(store.workspace(), typed, None).unwrap();
    let resolved = verbs::resolve(&store, &slow(&store), &request).unwrap();
    assert_eq!(resolved.reason, "superseded by fast");
    assert!(resolved.blocking.is_empty());
}

#[test]
fn a_handoff_has_exactly_one_ending() {
    let sandbox = project();
    let store = open(sandbox.root());
    let successor = HandoffKey::parse("fast").unwrap();
    let parse = |typed| ResolveRequest::parse(store.workspace(), typed, None);
    let both =
        TypedEnding { outcome: Some("done"), abandoned: Some("no"), ..TypedEnding::default() };
    let two = TypedEnding {
        superseded_by: Some(&successor),
        abandoned: Some("no"),
        ..TypedEnding::default()
    };
    for typed in [TypedEnding::default(), both, two] {
        let error = parse(typed).unwrap_err();
        assert!(matches!(error, ResolveInputError::NoSingleEnding), "{error}");
    }
    let unknown = TypedEnding { commit: Some("no-such"), ..TypedEnding::default() };
    let error = parse(unknown).unwrap_err();
    assert_eq!(error.to_string(), "there is no commit `no-such` in this repository");
}

#[test]
fn fix_formats_documents_and_leaves_broken_ones_unchanged() {
    let sandbox = project();
    sandbox.write(FILE, SLOW.replace("status: planned", "status: Planned"));
    let broken = "---\nhandoff:\n  id: [\n---\n\n## Plan\n";
    sandbox.write(".midstride/handoffs/broken.md", broken);
    let store = open(sandbox.root());
    let documents = store.workspace().select(&[]).unwrap().documents;
    assert_eq!(documents.len(), 2);
    let FixOutcome { fixed, unwritten, unfixed } = verbs::fix(&store, &documents).unwrap();
    assert!(unwritten.is_empty() && unfixed.is_empty());
    assert_eq!(fixed.len(), 1, "{fixed:?}");
    assert_eq!(fixed[0].key.to_string(), "slow");
    assert!(fixed[0].formatted.as_ref().is_some_and(Vec::is_empty));
    assert!(fixed[0].citations.is_none());
    assert_eq!(sandbox.read(".midstride/handoffs/broken.md"), broken);
    let documents = store.workspace().select(&[]).unwrap().documents;
    assert!(verbs::fix(&store, &documents).unwrap().fixed.is_empty());
}

#[test]
fn fix_continues_after_a_note_without_a_header() {
    let sandbox = project();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    sandbox.write(".midstride/handoffs/a-note.md", format!("# Note\n\nThe token is {token}.\n"));
    sandbox.write(FILE, SLOW.replace("status: planned", "status: Planned"));
    let store = open(sandbox.root());
    let documents = store.workspace().select(&[]).unwrap().documents;
    assert_eq!(documents.len(), 2);
    let FixOutcome { fixed, unfixed, .. } = verbs::fix(&store, &documents).unwrap();
    assert!(matches!(unfixed[..], [JournalError::NoHeader(_)]), "{unfixed:?}");
    assert_eq!(fixed.len(), 1, "{fixed:?}");
    assert_eq!(fixed[0].key.to_string(), "slow");
}

#[test]
fn fix_updates_citations_whose_code_moved() {
    let sandbox = project();
    let body = "It is slow in `src/market.rs:2`.\n";
    sandbox.write("src/market.rs", "fn head() {}\nfn load_all_the_markets() {}\nfn tail() {}\n");
    sandbox.write(FILE, format!("{SLOW}\n## Root cause\n\n{body}"));
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "all"]);
    let store = open(sandbox.root());
    verbs::start(&store, &slow(&store), None).unwrap();
    let moved =
        "fn one() {}\nfn two() {}\nfn head() {}\nfn load_all_the_markets() {}\nfn tail() {}\n";
    sandbox.write("src/market.rs", moved);
    let outcome = verbs::fix(&store, &[slow(&store)]).unwrap();
    let [fixed] = outcome.fixed.as_slice() else { panic!("{outcome:?}") };
    let update = fixed.citations.as_ref().unwrap();
    assert_eq!(update.citations, 1);
    assert!(sandbox.read(FILE).contains("`src/market.rs:4`"), "{}", sandbox.read(FILE));
}
