//! Tests of the first index of a clone or worktree: it is built in saved pieces, while briefings
//! use what was read so far.

use crate::{open_on_disk, set_up};
use midstride::store::Store;
use midstride::store::index::{Effort, Filter, Index, IndexProgress, RefreshLimit, scan};
use midstride::store::ledger::WaitPolicy;
use midstride::verbs::{self, BriefOutcome, BriefRequest, HookOutcome, brief, finish_index};
use midstride_core::brief::BriefOccasion;
use midstride_core::brief::hook::HookEvent;
use midstride_core::brief::search::Query;
use midstride_testkit::Sandbox;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

fn path(number: usize) -> String {
    format!(".midstride/handoffs/h-{number:04}.md")
}

fn write(sandbox: &Sandbox, number: usize, status: &str) {
    let text = format!(
        "---\nhandoff:\n  id: h-{number:04}\n  title: Heron {number:04}\n  status: {status}\n  \
         created: 2026-03-{:02}T08:00:00Z\n---\n",
        1 + number / 100
    );
    sandbox.write(&path(number), text);
}

/// A repository with handoffs of which every hundredth, and the last one, is open.
fn repository(handoffs: usize) -> Sandbox {
    let sandbox = Sandbox::new("none").repository();
    set_up(&open_on_disk(sandbox.root()));
    for number in 0..handoffs {
        let is_open = number % 100 == 0 || number + 1 == handoffs;
        write(&sandbox, number, if is_open { "planned" } else { "resolved" });
    }
    sandbox
}

fn start(store: &Store, session: &str, limit: RefreshLimit) -> HookOutcome {
    let call = crate::hook_call("SessionStart", session, HookEvent::Start(BriefOccasion::Startup));
    verbs::hook(&crate::open_in_hook(store.workspace().root().path()), &call, limit)
}

fn briefed(store: &Store, limit: RefreshLimit) -> BriefOutcome {
    let asked = BriefRequest { limit, ..BriefRequest::default() };
    brief(&crate::open_in_hook(store.workspace().root().path()), &asked, &mut |_, _| ())
}

fn refresh(store: &Store, index: &mut Index, limit: RefreshLimit) -> Option<IndexProgress> {
    index.refresh(store.workspace(), Effort::Open, limit, &mut |_, _| ()).unwrap().indexing
}

fn open_names(store: &Store, index: &Index) -> Vec<String> {
    let open = index.open_handoffs(store.workspace()).unwrap().into_iter();
    open.map(|(spot, _)| store.workspace().display_path(&spot).display().to_string()).collect()
}

fn file_of(store: &Store) -> PathBuf {
    Index::facts(store.workspace()).path
}

#[test]
fn a_first_start_is_briefed_before_the_index_is_complete() {
    let sandbox = repository(2_000);
    let store = open_on_disk(sandbox.root());
    let line = "read the newest 400 of 2,000 handoffs";
    let first = start(&store, "one", RefreshLimit::documents(400));
    let context = first.answer.context.unwrap();
    assert!(context.contains("Heron 1999"), "{context}");
    assert!(context.contains(" 1600 unread handoffs"), "{context}");
    assert!(!context.contains("Nothing omitted"), "{context}");
    let user_line = first.answer.user_line.unwrap();
    assert!(
        user_line.ends_with(&format!("midstride is building its index: {line}")),
        "{user_line}"
    );
    assert!(first.is_index_incomplete && first.errors.is_empty(), "{:?}", first.errors);
    // The next one continues where this one stopped.
    let second = start(&store, "two", RefreshLimit::documents(400)).answer.context.unwrap();
    assert!(second.contains(" 1200 unread handoffs"), "{second}");
    assert!(second.contains("Heron 1999"), "{second}");
    assert!(finish_index(store.workspace()).unwrap());
    let third = start(&store, "three", RefreshLimit::documents(400)).answer;
    let (context, user_line) = (third.context.unwrap(), third.user_line.unwrap());
    assert!(context.contains("Heron 1999") && !context.contains("Index"), "{context}");
    assert!(!user_line.contains("index"), "{user_line}");
    assert_eq!(briefed(&store, RefreshLimit::default()).open, 21);
}

#[test]
fn an_interrupted_refresh_keeps_what_it_read_newest_first() {
    let sandbox = repository(200);
    let day = Duration::from_hours(24);
    for number in 0..200 {
        let file = File::options().write(true).open(sandbox.root().join(path(number))).unwrap();
        // The file with the first name is the newest by its time.
        let age = if number == 0 { day } else { day * 2 };
        file.set_modified(SystemTime::now() - age).unwrap();
    }
    let store = open_on_disk(sandbox.root());
    let counts = |limit, expected: &[(usize, &[&str])]| {
        for (read, open) in expected {
            let mut index = Index::open(store.workspace(), WaitPolicy::Hook).unwrap();
            let indexing = refresh(&store, &mut index, limit);
            assert_eq!(indexing.map(|one| (one.read, one.documents)), Some((*read, 200)));
            assert_eq!(index.documents().unwrap(), *read);
            let mut names = open_names(&store, &index);
            names.sort();
            assert_eq!(names, open.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        }
    };
    let [first, middle, last] = [path(0), path(100), path(199)];
    counts(RefreshLimit::documents(1), &[(1, &[&first])]);
    counts(RefreshLimit::documents(40), &[(41, &[&first, &last]), (81, &[&first, &last])]);
    counts(RefreshLimit::documents(70), &[(151, &[&first, &middle, &last])]);
    let mut index = Index::open(store.workspace(), WaitPolicy::Command).unwrap();
    assert_eq!(herons(&store, &index), 0, "of many, only what briefings need was read");
    assert_eq!(refresh(&store, &mut index, RefreshLimit::default()), None);
    assert_eq!((index.documents().unwrap(), herons(&store, &index)), (200, 200));
}

fn herons(store: &Store, index: &Index) -> usize {
    let (query, filter) = (Query::parse("heron").unwrap(), Filter::default());
    index.find(store.workspace(), &query, &filter, 1_000, Duration::from_mins(1)).unwrap().len()
}

#[test]
fn a_changed_configuration_reindexes_all_documents_in_pieces() {
    let sandbox = repository(100);
    let store = open_on_disk(sandbox.root());
    assert_eq!(briefed(&store, RefreshLimit::default()).indexing, None);
    sandbox.write(".midstride/config.toml", "shelves = [\"notes\"]\n");
    let store = open_on_disk(sandbox.root());
    for read in [40, 80] {
        let briefed = briefed(&store, RefreshLimit::documents(40));
        // What was read with the old configuration is briefed meanwhile.
        assert_eq!(
            (briefed.indexing, briefed.open),
            (Some(IndexProgress { read, documents: 100 }), 2)
        );
    }
    assert_eq!(briefed(&store, RefreshLimit::documents(40)).indexing, None);
}

#[test]
fn one_process_at_a_time_finishes_an_index() {
    let sandbox = repository(3);
    let store = open_on_disk(sandbox.root());
    let lock = file_of(&store).file_name().unwrap().to_string_lossy().into_owned();
    let folder = sandbox.root().join(".git/midstride/locks");
    std::fs::create_dir_all(&folder).unwrap();
    let held = File::create(folder.join(format!("{lock}.finish.lock"))).unwrap();
    held.lock().unwrap();
    assert!(!finish_index(store.workspace()).unwrap());
    assert!(
        !start(&store, "one", RefreshLimit::documents(1)).is_index_incomplete,
        "it is being finished"
    );
    // A process that another test starts has the file open too until it runs its program.
    held.unlock().unwrap();
    assert!(start(&store, "two", RefreshLimit::documents(1)).is_index_incomplete);
    assert!(finish_index(store.workspace()).unwrap());
}

#[test]
fn a_briefing_does_not_wait_for_another_index_writer() {
    let sandbox = repository(150);
    let store = open_on_disk(sandbox.root());
    drop(Index::open(store.workspace(), WaitPolicy::Command).unwrap());
    let other = rusqlite::Connection::open(file_of(&store)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let first = briefed(&store, RefreshLimit::documents(40));
    assert_eq!(first.indexing, Some(IndexProgress { read: 40, documents: 150 }));
    assert!(first.is_index_incomplete && first.briefing.text.contains("Heron 0149"));
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(briefed(&store, RefreshLimit::default()).open, 3);
    // Use what is in the index and do not wait for anything new.
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    write(&sandbox, 500, "planned");
    let later = briefed(&store, RefreshLimit::documents(40));
    assert_eq!(later.indexing, Some(IndexProgress { read: 150, documents: 151 }));
    assert_eq!(later.open, 3);
}

/// A second worktree of a repository whose handoffs are committed and indexed.
fn second_worktree(sandbox: &Sandbox) -> PathBuf {
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "handoffs"]);
    assert_eq!(briefed(&open_on_disk(sandbox.root()), RefreshLimit::default()).indexing, None);
    let second = sandbox.root().parent().unwrap().join("second");
    sandbox.git(&["worktree", "add", "--quiet", second.to_str().unwrap()]);
    second
}

fn stages(store: &Store) -> u32 {
    let index = rusqlite::Connection::open(file_of(store)).unwrap();
    let sql = "SELECT count(*) FROM documents WHERE stage = 'copied'";
    index.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn a_second_worktree_does_not_parse_the_same_documents_again() {
    let sandbox = repository(150);
    let second = second_worktree(&sandbox);
    // Mark the rows with a value that is not in the documents, to show which were copied.
    let first = rusqlite::Connection::open(file_of(&open_on_disk(sandbox.root()))).unwrap();
    first.execute_batch("UPDATE documents SET stage = 'copied'").unwrap();
    std::fs::write(second.join(path(100)), "# Heron, no longer open\n").unwrap();
    std::fs::remove_file(second.join(path(7))).unwrap();
    std::fs::copy(second.join(path(0)), second.join(path(800))).unwrap();
    let store = open_on_disk(&second);
    let mut index = Index::open(store.workspace(), WaitPolicy::Hook).unwrap();
    assert_eq!(index.documents().unwrap(), 150);
    assert!(open_names(&store, &index).is_empty(), "nothing was compared here yet");
    // Open handoffs come first.
    let indexing = refresh(&store, &mut index, RefreshLimit::documents(4));
    assert_eq!(indexing, Some(IndexProgress { read: 4, documents: 150 }));
    assert_eq!(open_names(&store, &index).len(), 3);
    drop(index);
    assert!(finish_index(store.workspace()).unwrap());
    assert_eq!(stages(&store), 148);
    let mut names = open_names(&store, &Index::open(store.workspace(), WaitPolicy::Hook).unwrap());
    names.sort();
    assert_eq!(names, [path(0), path(149), path(800)]);
}

#[test]
fn without_time_for_a_copy_open_handoffs_are_read_first() {
    let sandbox = repository(150);
    let second = second_worktree(&sandbox);
    let store = open_on_disk(&second);
    // The holder of this lock makes the copy.
    let name = file_of(&store).file_name().unwrap().to_string_lossy().into_owned();
    let lock = sandbox.root().join(format!(".git/midstride/locks/{name}.lock"));
    let held = File::create(lock).unwrap();
    held.lock().unwrap();
    let first = briefed(&store, RefreshLimit::documents(3));
    assert_eq!(first.indexing, Some(IndexProgress { read: 3, documents: 150 }));
    assert_eq!((first.open, first.is_index_incomplete), (3, true));
    assert!(!file_of(&store).exists());
    drop(held);
    assert!(finish_index(store.workspace()).unwrap());
    assert_eq!(briefed(&store, RefreshLimit::documents(3)).indexing, None);
}

#[test]
fn a_copied_index_finds_the_same_as_reading() {
    let sandbox = repository(60);
    let second = second_worktree(&sandbox);
    std::fs::write(second.join(path(3)), "# Pelican\n").unwrap();
    std::fs::remove_file(second.join(path(4))).unwrap();
    let store = open_on_disk(&second);
    let mut index = Index::open(store.workspace(), WaitPolicy::Command).unwrap();
    assert_eq!(refresh(&store, &mut index, RefreshLimit::default()), None);
    for typed in ["heron", "pelican", "0003", "0004", "0059"] {
        let query = Query::parse(typed).unwrap();
        let filter = Filter::default();
        let (read, _) = scan(store.workspace(), &query, &filter);
        let found =
            index.find(store.workspace(), &query, &filter, 100, Duration::from_mins(1)).unwrap();
        assert_eq!(found, read, "{typed}");
    }
    // The first worktree is unchanged.
    let first = open_on_disk(sandbox.root());
    assert_eq!(Index::facts(first.workspace()).documents, Some(60));
    assert_eq!(Index::facts(store.workspace()).documents, Some(59));
    assert!(!has_draft(file_of(&store).parent().unwrap()));
}

fn has_draft(folder: &Path) -> bool {
    let names = std::fs::read_dir(folder).unwrap();
    names
        .map(|entry| entry.unwrap().file_name())
        .any(|name| name.to_string_lossy().contains("seed"))
}
