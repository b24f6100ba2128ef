//! Tests of concurrent writers of one document: everything that was acknowledged is kept.

use crate::{because, open_on_disk};
use midstride::journal::{JournalError, RecordStep, RecordedRevision};
use midstride::store::Store;
use midstride::sys::files::{FileError, FileProblem};
use midstride::verbs::{
    ApplyError, FmtError, FormatOutcome, ReviewError, ReviewRequest, ReviseError, ReviseOutcome,
    UndoError, apply, fmt, review, revise, undo,
};
use midstride::workspace::StoredHandoff;
use midstride_core::format::document::Document;
use midstride_core::handoff::lifecycle::{self, CloseReason, ReviewVerdict};
use midstride_testkit::{NOW, Sandbox};
use std::path::PathBuf;

const FILE: &str = ".midstride/handoffs/a.md";

/// The verbs that change a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Start,
    Answer,
    Validate,
    Resolve,
    Review,
    Correct,
    Append,
    Shared,
    Title,
    Fmt,
    Undo,
}

const VERBS: [Verb; 11] = [
    Verb::Start,
    Verb::Answer,
    Verb::Validate,
    Verb::Resolve,
    Verb::Review,
    Verb::Correct,
    Verb::Append,
    Verb::Shared,
    Verb::Title,
    Verb::Fmt,
    Verb::Undo,
];

/// Why a write was not acknowledged; each case tells the writer how to continue.
#[derive(Debug)]
enum NotMade {
    /// Another writer was faster: read again and repeat.
    Changed,
    /// Both changed the same place: this file has both texts.
    Conflict(PathBuf),
    /// The verb does not apply to what the other writer made.
    DoesNotFit,
}

/// A text with a separate place for every writer, and one that they share.
fn document(writers: usize) -> String {
    let questions: String = (0..writers).map(|w| format!("    - question: q{w}\n")).collect();
    let parts: String = (0..writers).map(|w| format!("## Writer {w}\n\nBegun {w}.\n\n")).collect();
    format!(
        "---\n# one for all\nhandoff:\n  id: a\n  title: one\n  status: PLANNED # soon\n  open_questions:\n{questions}  assumptions:\n    - assumption: x\n---\n\nShared: nothing.\n\n{parts}## End\n"
    )
}

fn project(sandbox: Sandbox, writers: usize) -> Sandbox {
    sandbox.write(".midstride/config.toml", "").write(FILE, document(writers));
    sandbox
}

fn read(store: &Store) -> StoredHandoff {
    store.workspace().find("a").unwrap()
}

/// What a verb of this writer leaves in the document; `None` if it leaves no text.
fn mark(verb: Verb, writer: usize, words: &str) -> Option<String> {
    match verb {
        Verb::Answer => Some(format!("answer: {words}\n")),
        Verb::Validate => Some("validated: true\n".to_owned()),
        Verb::Review => Some(format!("challenged: {words}\n")),
        Verb::Correct | Verb::Append => Some(format!("## Writer {writer}\n\n{words}.\n\n")),
        Verb::Shared => Some(format!("\nShared: {words}.\n")),
        Verb::Title => Some(format!("title: {words}\n")),
        Verb::Start | Verb::Resolve | Verb::Fmt | Verb::Undo => None,
    }
}

/// Applies a verb to the document as it was read, with these words in it.
fn write(
    verb: Verb,
    store: &Store,
    shelved: &StoredHandoff,
    writer: usize,
    words: &str,
) -> Result<RecordedRevision, NotMade> {
    let change = because(words);
    let now = NOW.parse().unwrap();
    let text = shelved.document.text();
    let heading = format!("## Writer {writer}\n\n");
    let longer = || text.replace(&heading, &format!("{heading}{words}.\n\n"));
    let revised = |text: String| match revise(store, shelved, &text, &change) {
        Ok(ReviseOutcome::Recorded(recorded)) => Ok(recorded),
        Ok(ReviseOutcome::Unchanged) => Err(NotMade::DoesNotFit),
        Err(error) => Err(not_revised(error)),
    };
    let lived = |result: Result<RecordedRevision, ApplyError>| result.map_err(not_lived);
    let reviewed = |verdict, text| {
        let (by, challenged) = ("eve".to_owned(), words.to_owned());
        match review(
            store,
            shelved,
            &ReviewRequest { by, challenged, verdict, dropped: None, text },
        ) {
            Ok(reviewed) => Ok(reviewed.recorded),
            Err(ReviewError::Apply(error)) => Err(not_lived(error)),
            Err(ReviewError::Revise(error)) => Err(not_revised(error)),
            Err(error) => panic!("{error}"),
        }
    };
    match verb {
        Verb::Start => lived(apply(store, shelved, &lifecycle::start, &change)),
        Verb::Answer => {
            lived(apply(store, shelved, &|h| lifecycle::answer(h, writer + 1, words), &change))
        }
        Verb::Validate => {
            lived(apply(store, shelved, &|h| lifecycle::validate(h, 1, true), &change))
        }
        Verb::Resolve => {
            let ending = CloseReason::Abandoned(words.to_owned());
            lived(apply(store, shelved, &|h| lifecycle::resolve(h, &ending, &[], now), &change))
        }
        Verb::Review => reviewed(ReviewVerdict::Held, None),
        Verb::Correct => reviewed(ReviewVerdict::Corrected, Some(longer())),
        Verb::Append => revised(longer()),
        Verb::Shared => revised(replaced_line(text, "Shared: ", &format!("Shared: {words}."))),
        Verb::Title => revised(replaced_line(text, "  title: ", &format!("  title: {words}"))),
        Verb::Fmt => match fmt(store, shelved, true) {
            Ok(FormatOutcome::Changed(_)) => {
                let now = read(store);
                let revision = now.handoff(store.workspace()).replaced_texts().len() + 1;
                Ok(RecordedRevision {
                    revision,
                    document: Box::new(now.document),
                    redacted: Vec::new(),
                    has_outside_edit: false,
                    ledger_error: None,
                })
            }
            Ok(FormatOutcome::Unchanged) => Err(NotMade::DoesNotFit),
            Err(FmtError::Journal(error)) => Err(not_recorded(&error)),
            Err(error @ (FmtError::Refused { .. } | _)) => panic!("{error}"),
        },
        Verb::Undo => match undo(store, shelved, None) {
            Ok((recorded, _)) => Ok(recorded),
            Err(UndoError::Nothing(_) | UndoError::NotUndoable { .. }) => Err(NotMade::DoesNotFit),
            Err(UndoError::Journal(error)) => Err(not_recorded(&error)),
            Err(error) => panic!("{error}"),
        },
    }
}

/// A text in which the line with this prefix is replaced.
fn replaced_line(text: &str, begins: &str, line: &str) -> String {
    let lines = text.split_inclusive('\n');
    let other = |old: &str| match old.starts_with(begins) {
        true => format!("{line}\n"),
        false => old.to_owned(),
    };
    lines.map(other).collect()
}

fn not_recorded(error: &JournalError) -> NotMade {
    if let JournalError::File(FileError { problem: FileProblem::Changed, .. }) = error {
        return NotMade::Changed;
    }
    panic!("{error}")
}

fn not_lived(error: ApplyError) -> NotMade {
    match error {
        ApplyError::Refused { .. } => NotMade::DoesNotFit,
        ApplyError::Journal(error) => not_recorded(&error),
        error @ (ApplyError::NoCommit(_) | _) => panic!("{error}"),
    }
}

fn not_revised(error: ReviseError) -> NotMade {
    match error {
        ReviseError::Conflict { kept, .. } => NotMade::Conflict(kept),
        ReviseError::Journal(error) => not_recorded(&error),
        error @ (ReviseError::OtherHandoff { .. }
        | ReviseError::Header { .. }
        | ReviseError::Empty(_)
        | _) => panic!("{error}"),
    }
}

/// Checks that the conflict file has this writer's text, and removes the file as settling would.
fn settle(kept: &std::path::Path, words: &str) {
    let both = std::fs::read_to_string(kept).unwrap();
    let marked = ["<<<<<<<", "=======", ">>>>>>>"].iter().all(|marker| both.contains(marker));
    assert!(marked && both.contains(words), "{both}");
    std::fs::remove_dir_all(kept.parent().unwrap()).unwrap();
}

/// The reasons in the history, oldest first.
fn reasons(shelved: &StoredHandoff, store: &Store) -> Vec<String> {
    let handoff = shelved.handoff(store.workspace());
    let said = handoff.revisions().into_iter().filter_map(|revision| revision.reason);
    said.map(|reason| reason.value.to_owned()).collect()
}

/// How many times the history has a change with these words.
fn told(reasons: &[String], words: &str) -> usize {
    let exact =
        |reason: &&String| *reason == words || reason.starts_with(&format!("reviewed: {words} ("));
    reasons.iter().filter(exact).count()
}

/// Asserts that nothing is reported twice or made up, every text can be read, and the next change
/// succeeds.
fn assert_sound(sandbox: &Sandbox, about: &str) {
    let store = open_on_disk(sandbox.root());
    let shelved = read(&store);
    let all = reasons(&shelved, &store);
    assert!(!all.iter().any(|reason| reason.contains("outside")), "{about}: {all:?}");
    let texts = shelved.handoff(store.workspace()).replaced_texts();
    let ids: Vec<&str> = texts.iter().map(|text| text.unwrap().value).collect();
    let mut different = ids.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), ids.len(), "{about}: no text is replaced twice: {ids:?}");
    for number in 1..=texts.len() {
        let text = store.revision_text(&shelved, number).unwrap();
        let text = Document::parse(&text);
        let entries = text.handoff_header().unwrap().fields().get("revisions");
        let entries = entries.map_or(0, |revisions| revisions.items().len());
        assert_eq!(entries + 1, number, "{about}: each text has the history up to it");
    }
    let recorded = write(Verb::Review, &store, &shelved, 0, "what comes next").unwrap();
    assert!(!recorded.has_outside_edit, "{about}");
    let left = std::fs::read_dir(sandbox.root().join(".midstride/handoffs")).unwrap();
    assert_eq!(left.count(), 1, "{about}: no draft is left");
}

/// The first writer reads; the second one reads and writes; then the first one writes.
fn one_overtakes_the_other(sandbox: &Sandbox, mine: Verb, theirs: Verb) {
    let about = format!("{mine:?} while {theirs:?}");
    sandbox.write(FILE, document(2));
    let (me, them) = (open_on_disk(sandbox.root()), open_on_disk(sandbox.root()));
    // There must be something to undo.
    write(Verb::Shared, &me, &read(&me), 0, "first").unwrap();
    let stale = read(&me);
    let second = write(theirs, &them, &read(&them), 1, "theirs").unwrap();
    let between = sandbox.read(FILE);
    let first = write(mine, &me, &stale, 0, "mine");
    let now = read(&me);
    let all = reasons(&now, &me);
    match first {
        Ok(first) => {
            assert_eq!((second.revision, first.revision), (3, 4), "{about}");
            let named = [Verb::Fmt, Verb::Undo];
            assert!(named.contains(&mine) || told(&all, "mine") == 1, "{about}: {all:?}");
            if let Some(mark) = mark(mine, 0, "mine") {
                assert!(now.document.text().contains(&mark), "{about}: {}", now.document.text());
            }
        }
        Err(refused) => {
            assert_eq!(sandbox.read(FILE), between, "{about}: nothing is half done");
            assert_eq!(told(&all, "mine"), 0, "{about}");
            match refused {
                NotMade::Conflict(kept) => {
                    assert!([Verb::Shared, Verb::Title].contains(&mine), "{about}");
                    settle(&kept, "mine");
                }
                NotMade::Changed => assert!([Verb::Fmt, Verb::Undo].contains(&mine), "{about}"),
                NotMade::DoesNotFit => {
                    assert!([Verb::Start, Verb::Resolve].contains(&mine), "{about}");
                }
            }
        }
    }
    let same_place = mine == theirs || (mine, theirs) == (Verb::Correct, Verb::Append);
    if let Some(mark) = mark(theirs, 1, "theirs").filter(|_| !same_place) {
        assert!(now.document.text().contains(&mark), "{about}: {}", now.document.text());
    }
    assert_sound(sandbox, &about);
}

#[test]
fn an_overtaken_writer_succeeds_or_gets_an_error() {
    let sandbox = project(Sandbox::new(""), 2);
    for mine in VERBS {
        for theirs in VERBS {
            one_overtakes_the_other(&sandbox, mine, theirs);
        }
    }
}

#[test]
fn an_overtaken_writer_in_a_repository_succeeds_or_gets_an_error() {
    let sandbox = project(Sandbox::new("").repository(), 2);
    for mine in [Verb::Answer, Verb::Correct, Verb::Shared, Verb::Undo] {
        for theirs in [Verb::Review, Verb::Shared, Verb::Undo] {
            one_overtakes_the_other(&sandbox, mine, theirs);
        }
    }
}

/// The first writer stops at a step, the second one writes, then the first one continues.
fn one_stops_for_the_other(sandbox: &Sandbox, stop: RecordStep, theirs: Verb) {
    let about = format!("{theirs:?} at {stop:?}");
    sandbox.write(FILE, document(2));
    let (me, them) = (open_on_disk(sandbox.root()), open_on_disk(sandbox.root()));
    write(Verb::Shared, &me, &read(&me), 0, "first").unwrap();
    let stale = read(&me);
    let next = stale.document.text().replace("Begun 0.", "mine.");
    let next = Document::parse(next.as_bytes());
    let second = std::cell::RefCell::new(None);
    let first = me.record(&stale, &next, &because("mine"), &|reached| {
        if reached == stop {
            let recorded = write(theirs, &them, &read(&them), 1, "theirs").unwrap();
            second.replace(Some(recorded.revision));
        }
    });
    let number = second.take().unwrap();
    let now = read(&me);
    let all = reasons(&now, &me);
    let text = now.document.text();
    if stop == RecordStep::TextsStored {
        let changed = matches!(
            first,
            Err(JournalError::File(FileError { problem: FileProblem::Changed, .. }))
        );
        assert!(changed, "{about}");
        assert_eq!((number, told(&all, "mine")), (3, 0), "{about}");
        assert!(!text.contains("mine"), "{about}: {text}");
    } else {
        assert_eq!((first.unwrap().revision, number), (3, 4), "{about}");
        assert_eq!(told(&all, "mine"), 1, "{about}");
        assert!(theirs == Verb::Undo || text.contains("mine."), "{about}: {text}");
    }
    if let Some(mark) = mark(theirs, 1, "theirs") {
        assert!(text.contains(&mark), "{about}: {text}");
    }
    assert_sound(sandbox, &about);
}

#[test]
fn another_writer_may_run_between_any_two_steps() {
    let sandbox = project(Sandbox::new(""), 2);
    for stop in RecordStep::ALL {
        for theirs in VERBS {
            one_stops_for_the_other(&sandbox, stop, theirs);
        }
    }
}

#[test]
fn another_writer_may_run_between_any_two_steps_in_a_repository() {
    let sandbox = project(Sandbox::new("").repository(), 2);
    for stop in RecordStep::ALL {
        for theirs in [Verb::Answer, Verb::Append, Verb::Undo] {
            one_stops_for_the_other(&sandbox, stop, theirs);
        }
    }
}

#[test]
fn changing_a_deleted_document_is_reported() {
    let sandbox = project(Sandbox::new(""), 2);
    let store = open_on_disk(sandbox.root());
    write(Verb::Shared, &store, &read(&store), 0, "first").unwrap();
    let shelved = read(&store);
    std::fs::remove_file(sandbox.root().join(FILE)).unwrap();
    let change = because("late");
    let refused = [
        apply(&store, &shelved, &lifecycle::start, &change).unwrap_err().to_string(),
        revise(&store, &shelved, "New.\n", &change).unwrap_err().to_string(),
        undo(&store, &shelved, None).unwrap_err().to_string(),
        fmt(&store, &shelved, true).unwrap_err().to_string(),
        store.workspace().reread(&shelved).unwrap_err().to_string(),
    ];
    for error in refused {
        assert!(error.ends_with("a.md` was deleted in the meantime"), "{error}");
    }
    assert!(!sandbox.root().join(FILE).exists(), "it does not come back by itself");
}

/// An acknowledged write of one of many writers.
struct Acknowledged {
    verb: Verb,
    writer: usize,
    words: String,
    revision: usize,
}

/// Writes until every verb was done once, in its own project instance.
fn hammer(sandbox: &Sandbox, writer: usize, rounds: usize) -> Vec<Acknowledged> {
    let store = open_on_disk(sandbox.root());
    let verbs = [Verb::Append, Verb::Shared, Verb::Answer, Verb::Review, Verb::Correct];
    let mut acknowledged = Vec::new();
    for round in 0..rounds {
        for verb in verbs {
            let words = format!("w{writer}r{round}{verb:?}");
            match write(verb, &store, &read(&store), writer, &words) {
                Ok(RecordedRevision { revision, has_outside_edit: outside, .. }) => {
                    assert!(!outside, "{words}: nobody else writes here");
                    acknowledged.push(Acknowledged { verb, writer, words, revision });
                }
                Err(NotMade::Conflict(kept)) => settle(&kept, &words),
                Err(NotMade::Changed) => {}
                Err(NotMade::DoesNotFit) => panic!("{words} fits always"),
            }
        }
    }
    acknowledged
}

fn all_that_was_acknowledged_is_kept(sandbox: Sandbox, writers: usize, rounds: usize) {
    let sandbox = project(sandbox, writers);
    let hammered: Vec<Vec<Acknowledged>> = std::thread::scope(|scope| {
        let sandbox = &sandbox;
        let threads: Vec<_> = (0..writers)
            .map(|writer| scope.spawn(move || hammer(sandbox, writer, rounds)))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut acknowledged: Vec<Acknowledged> = hammered.into_iter().flatten().collect();
    acknowledged.sort_by_key(|one| one.revision);
    assert!(acknowledged.len() > writers, "somebody gets through");
    let store = open_on_disk(sandbox.root());
    let shelved = read(&store);
    let all = reasons(&shelved, &store);
    assert_eq!(all.len(), acknowledged.len(), "only what was acknowledged is told: {all:?}");
    let last = |verb: Verb, writer: Option<usize>| {
        let fits = |one: &&Acknowledged| {
            one.verb == verb && writer.is_none_or(|writer| writer == one.writer)
        };
        acknowledged.iter().rfind(fits).map(|one| one.revision)
    };
    for Acknowledged { verb, writer, words, revision } in &acknowledged {
        assert_eq!(told(&all, words), 1, "{words}: {all:?}");
        let text = String::from_utf8(store.revision_text(&shelved, *revision).unwrap()).unwrap();
        assert!(text.contains(words.as_str()), "{words}@{revision}: {text}");
        // A later write of the same verb replaced this one.
        let shared = *verb == Verb::Shared && last(*verb, None) != Some(*revision);
        let answer = *verb == Verb::Answer && last(*verb, Some(*writer)) != Some(*revision);
        let later = shared || answer;
        let sign = match [Verb::Append, Verb::Correct].contains(verb) {
            true => format!("\n{words}.\n"),
            false => mark(*verb, *writer, words).unwrap(),
        };
        let text = shelved.document.text();
        assert_eq!(text.contains(&sign), !later, "{words}@{revision}: {text}");
    }
    assert_sound(&sandbox, "hammered");
}

#[test]
fn two_writers_keep_every_acknowledged_revision() {
    all_that_was_acknowledged_is_kept(Sandbox::new("").repository(), 2, 2);
    all_that_was_acknowledged_is_kept(Sandbox::new(""), 2, 6);
}

#[test]
fn four_writers_keep_every_acknowledged_revision() {
    all_that_was_acknowledged_is_kept(Sandbox::new("").repository(), 4, 1);
    all_that_was_acknowledged_is_kept(Sandbox::new(""), 4, 3);
}
