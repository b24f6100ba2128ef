//! Tests of moving texts of uncommitted handoffs out of the project's repository, where earlier
//! versions stored them.

use crate::{because, consent, open_in_hook, open_on_disk};
use midstride::store::{MoveStep, Store};
use midstride::verbs;
use midstride_core::format::document::Document;
use midstride_testkit::Sandbox;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Stdio;

/// A handoff of an earlier version: its file, its uid, the reference to its texts, a word that only
/// its earlier text contains, and whether that text is private.
struct Stored {
    file: &'static str,
    uid: &'static str,
    reference: &'static str,
    word: &'static str,
    is_private: bool,
}

const STORED: [Stored; 3] = [
    Stored {
        file: ".git/midstride/handoffs/session.md",
        uid: "session",
        reference: "refs/midstride-private/handoffs/session",
        word: "zanzibarsession",
        is_private: true,
    },
    Stored {
        file: ".midstride/handoffs/draft.md",
        uid: "draft",
        reference: "refs/midstride/handoffs/draft",
        word: "zanzibardraft",
        is_private: true,
    },
    Stored {
        file: ".midstride/handoffs/committed.md",
        uid: "committed",
        reference: "refs/midstride/handoffs/committed",
        word: "zanzibarcommitted",
        is_private: false,
    },
];

/// Runs git with some input and returns its output. The sandbox would hide ids.
fn git(sandbox: &Sandbox, arguments: &[&str], input: &str) -> String {
    let mut git = sandbox.command("git");
    let mut git = git.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    git.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = git.wait_with_output().unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// A project whose texts an earlier version stored, by git's own commands.
fn stored_by_an_earlier_version(format: &str) -> Sandbox {
    let sandbox = Sandbox::new("");
    sandbox.git(&["init", "--quiet", "--initial-branch=main", "--object-format", format]);
    sandbox.write(".midstride/config.toml", "");
    for Stored { file, uid, reference, word, .. } in STORED {
        let header = format!("---\nhandoff:\n  id: {uid}\n  uid: {uid}\n");
        let earlier = format!("{header}---\n\nIt is {word}.\n");
        let id = git(&sandbox, &["hash-object", "-w", "--stdin"], &earlier);
        let now = format!(
            "{header}  revisions:\n    - {{at: 2026-03-21T17:24:00Z, reason: r, was: \"{id}\"}}\n---\n\nText.\n"
        );
        let written = git(&sandbox, &["hash-object", "-w", "--stdin"], &now);
        let mut ids = [id, written];
        ids.sort();
        let tree = ids.map(|id| format!("100644 blob {id}\t{id}\n")).concat();
        let tree = git(&sandbox, &["mktree"], &tree);
        sandbox.git(&["update-ref", reference, &tree]);
        sandbox.write(file, now);
    }
    sandbox.git(&["add", ".midstride/handoffs/committed.md"]);
    sandbox.git(&["commit", "--quiet", "--message", "start"]);
    // A store that no record names is not read before that.
    verbs::trust(open_on_disk(sandbox.root()).workspace(), &consent()).unwrap();
    sandbox
}

/// Everything git shows of the project: references and objects.
fn content(sandbox: &Sandbox) -> String {
    git(sandbox, &["for-each-ref"], "")
        + &git(sandbox, &["cat-file", "--batch-all-objects", "--batch"], "")
}

#[track_caller]
fn assert_readable(store: &Store, about: &str) {
    for Stored { uid, word, .. } in STORED {
        let found = store.workspace().find(uid).unwrap();
        let text = String::from_utf8(store.revision_text(&found, 1).unwrap()).unwrap();
        assert!(text.contains(word), "{about}: {text}");
    }
}

#[track_caller]
fn assert_moved(sandbox: &Sandbox, about: &str) {
    let content = content(sandbox);
    for Stored { reference, word, is_private, .. } in STORED {
        assert_eq!(content.contains(word), !is_private, "{about}: {word}");
        assert_eq!(content.contains(reference), !is_private, "{about}: {reference}");
    }
    for repository in [".git", ".git/midstride/texts.git"] {
        let fsck = ["--git-dir", repository, "fsck", "--full", "--strict", "--no-dangling"];
        assert_eq!(git(sandbox, &fsck, ""), "", "{about}");
    }
    assert_readable(&open_on_disk(sandbox.root()), about);
}

#[test]
fn the_next_command_moves_texts_of_an_earlier_version_and_a_hook_does_not() {
    for format in ["sha1", "sha256"] {
        for prepare in [&["status"][..], &["pack-refs", "--all", "--prune"]] {
            let sandbox = stored_by_an_earlier_version(format);
            sandbox.git(prepare);
            let hook = open_in_hook(sandbox.root());
            hook.ledger().unwrap();
            assert_readable(&hook, format);
            assert!(content(&sandbox).contains(STORED[0].word), "a hook has no time for it");
            open_on_disk(sandbox.root()).ledger().unwrap();
            assert_moved(&sandbox, format);
            // The process that opened the project earlier finds the texts too.
            assert_readable(&hook, format);
        }
    }
}

#[test]
fn a_move_that_was_killed_at_any_step_is_finished_by_the_next_command() {
    for step in MoveStep::ALL {
        let sandbox = stored_by_an_earlier_version("sha1");
        let store = open_on_disk(sandbox.root());
        let die = |reached| {
            if reached == step {
                resume_unwind(Box::new(()));
            }
        };
        let died = catch_unwind(AssertUnwindSafe(|| store.move_private_texts(&die)));
        assert!(died.is_err(), "it got past {step:?}");
        let about = format!("{step:?}");
        assert_readable(&open_in_hook(sandbox.root()), &about);
        open_on_disk(sandbox.root()).ledger().unwrap();
        assert_moved(&sandbox, &about);
    }
}

#[test]
fn processes_that_move_and_write_at_once_lose_nothing() {
    let sandbox = stored_by_an_earlier_version("sha1");
    std::thread::scope(|threads| {
        for number in 0..4 {
            let root = sandbox.root();
            threads.spawn(move || {
                let store = open_on_disk(root);
                store.move_private_texts(&|_| ()).unwrap();
                let text = format!("---\nhandoff:\n  id: mine{number}\n  uid: mine{number}\n---\n");
                let file = root.join(format!(".git/midstride/handoffs/mine{number}.md"));
                std::fs::write(&file, &text).unwrap();
                let found = store.workspace().find(&format!("mine{number}")).unwrap();
                let next = Document::parse(format!("{text}\nNext.\n").as_bytes());
                store.record(&found, &next, &because("more"), &|_| ()).unwrap();
            });
        }
    });
    let store = open_on_disk(sandbox.root());
    for number in 0..4 {
        let found = store.workspace().find(&format!("mine{number}")).unwrap();
        assert!(store.revision_text(&found, 1).is_ok(), "{number}");
    }
    assert_moved(&sandbox, "at once");
}

#[test]
fn packed_texts_are_counted_until_git_removes_them() {
    let sandbox = stored_by_an_earlier_version("sha1");
    sandbox.git(&["gc", "--quiet"]);
    let store = open_on_disk(sandbox.root());
    assert_eq!(store.packed_private_texts().unwrap(), 0);
    store.ledger().unwrap();
    assert!(!content(&sandbox).contains("refs/midstride-private"));
    // Two texts of each of the two handoffs.
    assert_eq!(store.packed_private_texts().unwrap(), 4);
    sandbox.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(store.packed_private_texts().unwrap(), 0);
    assert_moved(&sandbox, "after gc");
}

#[test]
fn a_reference_of_the_user_is_left_alone() {
    let sandbox = stored_by_an_earlier_version("sha1");
    let other = "refs/midstride-private/handoffs/not-a-tree";
    sandbox.git(&["update-ref", other, "HEAD"]);
    open_on_disk(sandbox.root()).ledger().unwrap();
    assert!(content(&sandbox).contains(other));
    sandbox.git(&["update-ref", "-d", other]);
    assert_moved(&sandbox, "beside it");
}
