//! Tests that a private store is read only if midstride created it here, or the user took it back.

use crate::{consent, hook_call, without_home};
use midstride::store::Store;
use midstride::store::index::RefreshLimit;
use midstride::store::ledger::{Ledger as _, LocalLedger as _, WaitPolicy};
use midstride::verbs::{self, TaskBoard};
use midstride::workspace::{Access, SetupMode, StoreOwner, Workspace};
use midstride_core::brief::BriefOccasion;
use midstride_core::brief::hook::HookEvent;
use midstride_core::work::task::NewTask;
use midstride_testkit::Sandbox;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const SESSION: &str = "0195b9d2-4c00-7000-8000-00000000aaaa";

fn handoff(id: &str, title: &str) -> String {
    format!("---\nhandoff:\n  id: {id}\n  title: {title}\n  status: planned\n---\n\n# {title}\n")
}

fn open(folder: &Path) -> Store {
    let workspace = Workspace::discover(without_home(folder)).unwrap();
    Store::new(workspace, WaitPolicy::Command)
}

fn owner(folder: &Path) -> StoreOwner {
    open(folder).workspace().store_owner()
}

fn titles(folder: &Path) -> Vec<String> {
    let store = open(folder);
    let read = store.workspace().read_all().into_iter().map(Result::unwrap);
    let mut titles: Vec<String> = read
        .map(|stored| stored.handoff(store.workspace()).title().unwrap_or_default().to_owned())
        .collect();
    titles.sort();
    titles
}

/// A project with a private handoff, a task, a blob and a private setup.
fn project(title: &str) -> Sandbox {
    let sandbox = Sandbox::new("").repository();
    verbs::init(open(sandbox.root()).workspace(), true, Some(&consent())).unwrap();
    sandbox.write(".git/midstride/handoffs/own.md", handoff("own", title));
    add_task(sandbox.root(), title);
    open(sandbox.root()).ledger().unwrap().put_blob(title.as_bytes()).unwrap();
    sandbox
}

fn add_task(folder: &Path, subject: &str) {
    let new = NewTask { subject: subject.to_owned(), ..NewTask::default() };
    verbs::add_session_task(&open(folder), &new, &[], None).unwrap();
}

fn task_subjects(folder: &Path) -> Vec<String> {
    let store = open(folder);
    let board = TaskBoard::open(&store).unwrap();
    let mut subjects: Vec<String> = board.tasks.iter().map(|task| task.subject.clone()).collect();
    subjects.sort();
    subjects
}

fn copy(from: &Path, to: &Path) {
    let status = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(status.unwrap().success());
}

/// The stores that were set aside in a repository.
fn set_aside(folder: &Path) -> Vec<PathBuf> {
    open(folder).workspace().stores_set_aside()
}

/// A repository that someone else packed with its private store.
fn unpacked() -> Sandbox {
    let theirs = project("Theirs");
    let sandbox = Sandbox::new("");
    copy(&theirs.root().join(".git"), sandbox.root());
    sandbox
}

#[test]
fn a_store_that_midstride_created_is_the_users() {
    let sandbox = project("Mine");
    assert_eq!(owner(sandbox.root()), StoreOwner::User);
    assert_eq!(open(sandbox.root()).workspace().setup(), SetupMode::Private);
    assert_eq!(titles(sandbox.root()), ["Mine"]);
    sandbox.write("x", "x");
    sandbox.git(&["add", "x"]);
    sandbox.git(&["commit", "--quiet", "--message", "x"]);
    sandbox.git(&["worktree", "add", "--quiet", "../linked"]);
    let linked = sandbox.root().with_file_name("linked");
    assert_eq!(owner(&linked), StoreOwner::User, "its worktrees share it");
    assert_eq!(titles(&linked), ["Mine"]);
}

#[test]
fn a_store_that_came_with_an_archive_is_not_read() {
    let sandbox = unpacked();
    let root = sandbox.root();
    assert_eq!(owner(root), StoreOwner::Unknown);
    let store = open(root);
    let standard = open(Sandbox::new("").repository().root());
    let settings = |store: &Store| format!("{:?}", store.workspace().settings());
    assert_eq!(settings(&store), settings(&standard), "its configuration is not read");
    assert_eq!(titles(root), [""; 0]);
    assert!(store.existing_ledger().unwrap().is_none());
    assert!(!verbs::is_switched_off(store.workspace()));
    assert!(set_aside(root).is_empty(), "reading changes nothing");
    // An index, a hook log or a spool of theirs are not read either.
    let report = verbs::examine(&store);
    assert_eq!(report.ledger.spooled, 0);
    assert_eq!(report.index.documents, None);
}

#[test]
fn the_first_write_sets_a_foreign_store_aside() {
    let sandbox = unpacked();
    let root = sandbox.root();
    let planted = std::fs::read(root.join(".git/midstride/handoffs/own.md")).unwrap();
    verbs::init(open(root).workspace(), true, Some(&consent())).unwrap();
    assert_eq!(owner(root), StoreOwner::User);
    let aside = set_aside(root);
    assert_eq!(aside.len(), 1);
    assert_eq!(std::fs::read(aside[0].join("handoffs/own.md")).unwrap(), planted);
    add_task(root, "Mine");
    assert_eq!(task_subjects(root), ["Mine"]);
    assert_eq!(titles(root), [""; 0]);
    assert_eq!(set_aside(root).len(), 1, "once");
}

#[test]
fn moved_copied_and_restored_stores_are_foreign() {
    let sandbox = project("Mine");
    let (root, away) = (sandbox.root(), sandbox.root().with_file_name("away"));
    copy(root, &away);
    assert_eq!(owner(&away), StoreOwner::Unknown, "copied with the repository");
    // The store of another repository, which is the user's there.
    let other = project("Other");
    std::fs::remove_dir_all(root.join(".git/midstride")).unwrap();
    copy(&other.root().join(".git/midstride"), &root.join(".git/midstride"));
    assert_eq!(owner(root), StoreOwner::Unknown, "copied into another repository");
    std::fs::remove_dir_all(root.join(".git/midstride")).unwrap();
    add_task_to_new_store(root);
    // A backup of a store that was deleted meanwhile.
    let now = root.join(".git/midstride");
    std::fs::rename(&now, root.join(".git/newer")).unwrap();
    copy(&away.join(".git/midstride"), &now);
    assert_eq!(owner(root), StoreOwner::Unknown, "an older one restored");
    std::fs::remove_dir_all(&now).unwrap();
    std::fs::rename(root.join(".git/newer"), &now).unwrap();
    assert_eq!(owner(root), StoreOwner::User, "the current one");
}

fn add_task_to_new_store(folder: &Path) {
    verbs::init(open(folder).workspace(), true, Some(&consent())).unwrap();
    add_task(folder, "New");
}

#[test]
fn a_link_is_no_store_of_the_user_and_is_not_followed() {
    let sandbox = Sandbox::new("").repository();
    let theirs = project("Theirs");
    let target = theirs.root().join(".git/midstride");
    let before = std::fs::read_dir(&target).unwrap().count();
    symlink(&target, sandbox.root().join(".git/midstride")).unwrap();
    assert_eq!(owner(sandbox.root()), StoreOwner::Unknown);
    let status = verbs::trust_status(open(sandbox.root()).workspace());
    assert!(status.unread_stores[0].contents.is_none(), "nothing behind it is counted");
    assert!(verbs::trust(open(sandbox.root()).workspace(), &consent()).is_err());
    verbs::init(open(sandbox.root()).workspace(), true, Some(&consent())).unwrap();
    assert_eq!(owner(sandbox.root()), StoreOwner::User);
    assert!(!sandbox.root().join(".git/midstride").is_symlink());
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), before);
    // A store that has the id of the current one behind a link.
    let id = sandbox.root().join(".git/midstride/store-id");
    std::fs::rename(&id, sandbox.root().join(".git/midstride/id")).unwrap();
    symlink("id", &id).unwrap();
    assert_eq!(owner(sandbox.root()), StoreOwner::Unknown);
}

#[test]
fn a_git_file_neither_reads_nor_moves_the_store_of_another_repository() {
    let sandbox = project("Mine");
    let pointing = sandbox.root().with_file_name("pointing");
    std::fs::create_dir(&pointing).unwrap();
    let git_dir = sandbox.root().join(".git");
    std::fs::write(pointing.join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
    assert_eq!(owner(&pointing), StoreOwner::Unknown);
    assert_eq!(titles(&pointing), [""; 0]);
    let refused = open(&pointing).workspace().make_private().unwrap_err();
    assert!(refused.to_string().contains("came from elsewhere and is not trusted"), "{refused}");
    assert_eq!(owner(sandbox.root()), StoreOwner::User);
    assert_eq!(titles(sandbox.root()), ["Mine"]);
}

#[test]
fn a_process_killed_while_it_creates_a_store_leaves_nothing_foreign() {
    let sandbox = Sandbox::new("").repository();
    let folder = sandbox.root().join(".git/midstride");
    // The record was written, then the folder, then half of the id.
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join(".midstride.tmp"), "0195").unwrap();
    assert_eq!(owner(sandbox.root()), StoreOwner::Missing);
    open(sandbox.root()).workspace().make_private().unwrap();
    assert_eq!(owner(sandbox.root()), StoreOwner::User);
    assert!(set_aside(sandbox.root()).is_empty());
}

#[test]
fn a_store_that_cannot_be_created_leaves_the_earlier_one_on_record() {
    let sandbox = project("Mine");
    let (folder, away) = (sandbox.root().join(".git/midstride"), sandbox.root().join(".git/away"));
    std::fs::rename(&folder, &away).unwrap();
    std::fs::write(&folder, "no folder").unwrap();
    assert!(open(sandbox.root()).workspace().make_private().is_err());
    std::fs::remove_file(&folder).unwrap();
    std::fs::rename(&away, &folder).unwrap();
    assert_eq!(owner(sandbox.root()), StoreOwner::User);
}

#[test]
fn processes_that_create_a_store_at_once_agree() {
    let sandbox = unpacked();
    let root = sandbox.root();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| open(root).workspace().make_private().unwrap());
        }
    });
    assert_eq!(owner(root), StoreOwner::User);
    assert_eq!(set_aside(root).len(), 1);
}

#[test]
fn trust_takes_a_store_back_where_it_is() {
    let sandbox = unpacked();
    let root = sandbox.root();
    let status = verbs::trust_status(open(root).workspace());
    let contents = status.unread_stores[0].contents.unwrap();
    assert_eq!((contents.handoffs, contents.tasks), (1, Some(1)));
    let outcome = verbs::trust(open(root).workspace(), &consent()).unwrap();
    assert_eq!(outcome.taken_stores, [root.join(".git/midstride")]);
    assert_eq!(owner(root), StoreOwner::User);
    assert_eq!((titles(root), task_subjects(root)), (vec!["Theirs".into()], vec!["Theirs".into()]));
    // A store of an earlier version has no id.
    std::fs::remove_file(root.join(".git/midstride/store-id")).unwrap();
    assert_eq!(owner(root), StoreOwner::Unknown);
    verbs::trust(open(root).workspace(), &consent()).unwrap();
    assert_eq!(owner(root), StoreOwner::User);
    // Trust in the documents is taken back, the store stays the user's.
    verbs::distrust(open(root).workspace()).unwrap();
    assert_eq!(owner(root), StoreOwner::User);
}

#[test]
fn a_store_whose_ledger_lost_its_database_is_not_merged() {
    for is_missing in [true, false] {
        let sandbox = unpacked();
        let root = sandbox.root();
        verbs::init(open(root).workspace(), true, Some(&consent())).unwrap();
        let aside = set_aside(root).remove(0);
        let [database, log] = ["ledger.db", "ledger.db-wal"].map(|name| aside.join(name));
        match is_missing {
            true => std::fs::remove_file(&database).unwrap(),
            false => std::fs::write(&database, "").unwrap(),
        }
        let before = std::fs::read(&log).unwrap();
        let unread = verbs::trust_status(open(root).workspace()).unread_stores;
        assert_eq!(unread[0].contents.unwrap().tasks, None, "they cannot be counted");
        verbs::trust(open(root).workspace(), &consent()).unwrap_err();
        assert!(std::fs::read(&log).unwrap() == before, "the log is the only copy");
    }
}

#[test]
fn trust_merges_a_store_that_was_set_aside() {
    let sandbox = unpacked();
    let root = sandbox.root();
    verbs::init(open(root).workspace(), true, Some(&consent())).unwrap();
    add_task(root, "Mine");
    sandbox.write(".git/midstride/handoffs/own.md", handoff("own", "Mine"));
    let aside = set_aside(root).remove(0);
    std::fs::create_dir_all(aside.join("handoffs/feat-001")).unwrap();
    std::fs::write(aside.join("handoffs/feat-001/spec.md"), handoff("feat-001", "Spec")).unwrap();
    std::fs::write(aside.join("config.toml"), "# theirs\n").unwrap();
    // A link in it is not followed.
    let secret = sandbox.home().join("secret.md");
    std::fs::write(&secret, handoff("secret", "Secret")).unwrap();
    symlink(&secret, aside.join("handoffs/secret.md")).unwrap();
    let copy_of_it = sandbox.root().with_file_name("copy");
    copy(&aside, &copy_of_it);
    let outcome = verbs::trust(open(root).workspace(), &consent()).unwrap();
    assert_eq!(outcome.merged_stores, std::slice::from_ref(&aside));
    assert!(!aside.exists() && set_aside(root).is_empty());
    let merged = || {
        let ledger_has = |text: &str| {
            let store = open(root);
            let ledger = store.ledger().unwrap();
            ledger.blobs_with_prefix("").unwrap().iter().any(|hash| {
                ledger.get_blob(hash).unwrap().is_some_and(|bytes| bytes == text.as_bytes())
            })
        };
        assert_eq!(titles(root), ["Mine", "Spec", "Theirs"]);
        assert_eq!(task_subjects(root), ["Mine", "Theirs"]);
        assert!(ledger_has("Theirs"));
        let files = open(root).workspace().make_private().unwrap();
        let files = files.files_below(Path::new("")).unwrap();
        let named = |start: &str| {
            files.iter().filter(|path| path.display().to_string().starts_with(start)).count()
        };
        assert_eq!((named("config"), named("handoffs")), (2, 3), "{files:?}");
    };
    merged();
    // A process that was killed before the end does it again, and changes nothing.
    copy(&copy_of_it, &aside);
    verbs::trust(open(root).workspace(), &consent()).unwrap();
    assert!(!aside.exists());
    merged();
}

#[test]
fn a_store_that_cannot_be_merged_whole_stays() {
    let sandbox = unpacked();
    let root = sandbox.root();
    verbs::init(open(root).workspace(), true, Some(&consent())).unwrap();
    let aside = set_aside(root).remove(0);
    std::fs::write(aside.join("ledger.db"), "no database at all, but long enough".repeat(50))
        .unwrap();
    let _ = std::fs::remove_file(aside.join("ledger.db-wal"));
    let failed = verbs::trust(open(root).workspace(), &consent()).unwrap_err();
    assert!(failed.to_string().contains("file is not a database"), "{failed}");
    assert!(aside.join("handoffs/own.md").exists());
}

#[test]
fn own_documents_pass_in_an_untrusted_project() {
    let sandbox = project("Mine");
    let root = sandbox.root();
    verbs::distrust(open(root).workspace()).unwrap();
    assert_eq!(open(root).workspace().access(), Access::Granted, "nobody else's are there");
    sandbox.write(".midstride/handoffs/theirs.md", handoff("theirs", "Theirs"));
    sandbox.write("notes.md", "# A note\n");
    let store = open(root);
    assert_eq!(store.workspace().access(), Access::Own { withheld: 1 });
    let view = store.workspace().own_view().unwrap();
    let read = view.read_all().into_iter().map(Result::unwrap);
    let paths: Vec<PathBuf> = read.map(|stored| stored.path).collect();
    assert_eq!(paths, [Path::new(".git/midstride/handoffs/own.md")]);
    for hidden in ["theirs", ".midstride/handoffs/theirs.md", "notes.md"] {
        assert!(view.find(hidden).is_err(), "{hidden}");
        assert!(view.select(&[hidden.to_owned()]).is_err(), "{hidden}");
    }
    let folder = view.select(&[".midstride".to_owned()]);
    assert!(folder.is_err() || folder.unwrap().documents.is_empty());
    verbs::trust(store.workspace(), &consent()).unwrap();
    assert_eq!(open(root).workspace().access(), Access::Granted);
}

#[test]
fn a_hook_captures_into_a_new_store_and_says_so() {
    let sandbox = unpacked();
    let root = sandbox.root();
    sandbox.write(".midstride/config.toml", "");
    sandbox.write(".midstride/handoffs/theirs.md", handoff("theirs", "Theirs"));
    let start = hook_call("SessionStart", SESSION, HookEvent::Start(BriefOccasion::Startup));
    let done = verbs::hook(&open(root), &start, RefreshLimit::default());
    let line = done.answer.user_line.unwrap();
    assert!(line.contains("does not include 1 handoff in this repository"), "{line}");
    assert!(line.contains("run `midstride trust` once"), "{line}");
    assert_eq!(owner(root), StoreOwner::User);
    assert_eq!(set_aside(root).len(), 1);
    assert!(root.join(".git/midstride/hooks").is_dir());
    // A private setup in the foreign store does not make hooks speak of anything else.
    let sandbox = unpacked();
    let done = verbs::hook(&open(sandbox.root()), &start, RefreshLimit::default());
    let line = done.answer.user_line.unwrap();
    assert!(line.contains("run `midstride trust` once"), "{line}");
    assert_eq!(done.answer.context.as_deref(), Some(line.as_str()));
    assert_eq!(owner(sandbox.root()), StoreOwner::Unknown, "nothing is written");
}

#[test]
fn without_a_state_folder_a_store_is_used_and_not_passed_on() {
    let sandbox = Sandbox::new("").repository();
    sandbox.write(".git/midstride/handoffs/own.md", handoff("own", "Mine"));
    let environment =
        midstride::sys::env::Environment { state: None, ..without_home(sandbox.root()) };
    let workspace = Workspace::discover(environment).unwrap();
    assert_eq!(workspace.store_owner(), StoreOwner::Unrecorded);
    assert_eq!(workspace.read_all().len(), 1);
    assert_eq!(workspace.access(), Access::Untrusted { documents: 1 });
    workspace.make_private().unwrap();
    assert!(workspace.stores_set_aside().is_empty());
}

#[test]
fn a_private_store_committed_to_a_repository_is_not_read() {
    let sandbox = Sandbox::new("").repository();
    sandbox.write(".midstride/private/handoffs/planted.md", handoff("planted", "Planted"));
    sandbox.write(".midstride/private/config.toml", "[brief]\nbudget = 777\n");
    sandbox.write(".midstride/private/off", "");
    let store = open(sandbox.root());
    assert_eq!(store.workspace().settings().brief.budget, None);
    assert_eq!(titles(sandbox.root()), [""; 0]);
    assert!(!verbs::is_switched_off(store.workspace()));
    // The user's own one from before the project used git is.
    let sandbox = Sandbox::new("");
    verbs::init(open(sandbox.root()).workspace(), true, Some(&consent())).unwrap();
    sandbox.write(".midstride/private/handoffs/own.md", handoff("own", "Mine"));
    let sandbox = sandbox.repository();
    assert_eq!(titles(sandbox.root()), ["Mine"]);
    assert_eq!(open(sandbox.root()).workspace().setup(), SetupMode::Private);
}
