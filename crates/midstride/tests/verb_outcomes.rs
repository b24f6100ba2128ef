//! Tests of what verbs return beyond the change itself, so that every surface shows the same.

use crate::{because, open};
use midstride::store::Store;
use midstride::store::index::Filter;
use midstride::verbs::{
    self, DiffError, EditError, ListFilter, NamedRevision, ReviseOutcome, SaveError, SaveRequest,
    SaveSource, SessionChoice, TaskBoard, TaskChangeRequest,
};
use midstride::workspace::StoredHandoff;
use midstride_core::brief::search::Query;
use midstride_core::format::header::Status;
use midstride_core::session::author_notes::AuthorNotes;
use midstride_core::work::task::{NewTask, TaskPatch, TaskStatus};
use midstride_testkit::Sandbox;

fn document(id: &str, fields: &str) -> String {
    format!(
        "---\nhandoff:\n  id: {id}\n  title: T of {id}\n{fields}  created: 2026-03-21T17:24:00Z\n  \
         context_summary: Something\n---\n\n## Plan\n\n1. Test it.\n"
    )
}

fn project(documents: &[(&str, &str)]) -> (Sandbox, Store) {
    let sandbox = Sandbox::new("nobody-runs-it").repository();
    sandbox.write(".midstride/config.toml", "");
    for (id, fields) in documents {
        sandbox.write(&format!(".midstride/handoffs/{id}.md"), document(id, fields));
    }
    let store = open(sandbox.root());
    (sandbox, store)
}

fn revise(store: &Store, stored: &StoredHandoff, text: &str) -> ReviseOutcome {
    verbs::revise(store, stored, text, &because("measured")).unwrap()
}

#[test]
fn diff_compares_the_last_two_revisions() {
    let (_sandbox, store) = project(&[("a", "")]);
    let find = || store.workspace().find("a").unwrap();
    let stored = find();
    let named = |stored, number| NamedRevision { stored, number };
    let error = verbs::diff(&store, named(&stored, None), named(&stored, None)).unwrap_err();
    assert!(matches!(&error, DiffError::NeverRevised(key) if key.id == "a"), "{error}");
    for step in ["one", "two"] {
        revise(&store, &find(), &format!("## Plan\n\n1. Step {step}.\n"));
    }
    let stored = find();
    let numbers = |from, to| {
        let (old, new) = verbs::diff(&store, named(&stored, from), named(&stored, to)).unwrap();
        assert_ne!(old.text, new.text);
        (old.number, new.number)
    };
    assert_eq!(numbers(None, None), (2, 3));
    assert_eq!(numbers(Some(1), None), (1, 3));
    assert_eq!(numbers(Some(1), Some(2)), (1, 2));
    let error = verbs::diff(&store, named(&stored, Some(9)), named(&stored, None)).unwrap_err();
    assert!(matches!(error, DiffError::Revision(_)), "{error}");
}

#[test]
fn a_revision_of_a_closed_handoff_returns_its_status_and_new_findings() {
    let (_sandbox, store) = project(&[("a", "  status: abandoned\n"), ("b", "")]);
    let effects = |id: &str, text: &str| {
        let stored = store.workspace().find(id).unwrap();
        let ReviseOutcome::Recorded(recorded) = revise(&store, &stored, text) else { panic!() };
        verbs::revision_effects(store.workspace(), &stored, &recorded)
    };
    let body = "## Plan\n\n1. Look at `src/none.rs:7`.\n";
    assert_eq!(effects("a", body).closed, Some(Status::Abandoned));
    let open = effects("b", body);
    assert_eq!(open.closed, None);
    assert!(open.after.document.text().contains("src/none.rs:7"));
}

#[test]
fn without_an_editor_nothing_is_edited() {
    let (_sandbox, store) = project(&[("a", "")]);
    let stored = store.workspace().find("a").unwrap();
    let edited = verbs::edit(&store, &stored, &because("measured"));
    assert!(matches!(edited, Err(EditError::NoEditor)));
}

#[test]
fn only_open_handoffs_with_proofs_are_verifiable() {
    let proofs = "  proofs:\n    - command: cargo test\n";
    let (_sandbox, store) = project(&[
        ("open", proofs),
        ("closed", &format!("  status: abandoned\n{proofs}")),
        ("bare", ""),
    ]);
    let found = verbs::verifiable_handoffs(store.workspace()).unwrap().documents;
    let keys: Vec<String> =
        found.iter().map(|stored| stored.handoff(store.workspace()).key().to_string()).collect();
    assert_eq!(keys, ["open"]);
}

#[test]
fn a_changed_task_returns_its_previous_status_and_the_tasks_that_became_ready() {
    let (_sandbox, store) = project(&[]);
    let add = |subject: &str, before: &[String]| {
        let new = NewTask { subject: subject.to_owned(), ..NewTask::default() };
        verbs::add_session_task(&store, &new, before, None).unwrap().task.id
    };
    let first = add("first", &[]);
    let second = add("second", &[first.to_string()]);
    add("unrelated", &[]);
    let patch = TaskPatch { status: Some(TaskStatus::Done), ..TaskPatch::default() };
    let done = TaskChangeRequest { patch, ..TaskChangeRequest::default() };
    let mut board = TaskBoard::open(&store).unwrap();
    let change = |board: &mut TaskBoard<'_>, name: &str| {
        verbs::change_task(store.workspace(), board, name, &done, None)
    };
    let changed = change(&mut board, &first.to_string()).unwrap();
    assert_eq!(changed.task.id, first);
    assert_eq!(changed.previous_status, Some(TaskStatus::Pending));
    assert_eq!(changed.newly_ready, [second]);
    let error = change(&mut board, &first.to_string()).unwrap_err();
    assert!(error.to_string().contains("was not changed: it is already done"), "{error}");
}

#[test]
fn a_filter_matches_no_sessions() {
    let filter = Filter { status: Some(Status::Planned), ..Filter::default() };
    assert!(!filter.is_empty() && Filter::default().is_empty());
    let (_sandbox, store) = project(&[]);
    let query = Query::parse("market").unwrap();
    assert!(verbs::search_sessions(&store, &query, &filter, 10).unwrap().is_empty());
}

#[test]
fn notes_are_saved_without_a_transcript_only_if_that_is_allowed() {
    let (_sandbox, store) = project(&[]);
    let request = |source| SaveRequest {
        source,
        client: None,
        author_notes: AuthorNotes {
            title: Some("Market pages".to_owned()),
            summary: Some("They are slow.".to_owned()),
            ..AuthorNotes::default()
        },
        id: None,
        accept: None,
        by: None,
        is_agent: true,
    };
    let which = SessionChoice::Newest;
    let error = verbs::save(&store, &request(SaveSource::Session(which.clone()))).unwrap_err();
    assert!(matches!(error, SaveError::Checkpoint(_)), "{error}");
    let saved = verbs::save(&store, &request(SaveSource::SessionIfFound(which))).unwrap();
    assert!(saved.is_transcript_missing && saved.captured.is_none());
    let plain = verbs::save(&store, &request(SaveSource::NoSession)).unwrap();
    assert!(!plain.is_transcript_missing);
}

#[test]
fn a_list_has_the_open_handoffs_and_counts_the_others() {
    let (_sandbox, store) = project(&[
        ("a", "  status: planned\n  to: ann\n"),
        ("b", "  status: in_progress\n"),
        ("c", "  status: resolved\n"),
        (
            "d",
            "  status: planned\n  open_questions:\n    - question: Which?\n      suggested_owner: ann\n",
        ),
    ]);
    let keys = |filter: &ListFilter| {
        let listing = verbs::list(store.workspace(), filter).unwrap();
        let key = |stored: &StoredHandoff| stored.handoff(store.workspace()).key().to_string();
        let keys: Vec<String> = listing.handoffs.iter().map(key).collect();
        (keys.join(" "), listing.hidden, listing.documents)
    };
    let all = ListFilter::default();
    assert_eq!(keys(&all), ("b a d".to_owned(), 1, 4));
    assert_eq!(
        keys(&ListFilter { includes_closed: true, ..all.clone() }),
        ("b a d c".to_owned(), 0, 4)
    );
    let status = Some(Status::Resolved);
    assert_eq!(keys(&ListFilter { status, ..all.clone() }), ("c".to_owned(), 0, 4));
    let owner = Some("ann".to_owned());
    assert_eq!(keys(&ListFilter { owner, ..all.clone() }), ("a d".to_owned(), 0, 4));
    let below = Some("elsewhere".into());
    assert_eq!(keys(&ListFilter { below, ..all }), (String::new(), 0, 4));
}
