//! Tests that texts of handoffs that are not committed stay on this machine, whatever git copies.

use crate::sandbox;
use midstride_testkit::Sandbox;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

/// Words that only the earlier texts contain. No redaction rule matches them.
const DRAFT: &str = "zanzibardraft";
const SESSION: &str = "zanzibarsession";
const IGNORED: &str = "zanzibarignored";
const WORDS: [&str; 3] = [DRAFT, SESSION, IGNORED];

const DRAFT_FILE: &str = ".midstride/handoffs/draft.md";

/// A project in which three handoffs that are not committed had another text before.
fn revised(format: &str) -> Sandbox {
    let sandbox = sandbox();
    sandbox.git(&["init", "--quiet", "--initial-branch=main", "--object-format", format]);
    sandbox.write(".gitignore", "scratch/\n");
    sandbox.run(["init"]).exits(0);
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "start"]);
    for (id, option, word) in [("draft", None, DRAFT), ("session", Some("--private"), SESSION)] {
        let new = ["new", id, "--id", id, "--no-edit"].into_iter().chain(option);
        sandbox.run(new).exits(0);
        revise(&sandbox, id, word);
        revise(&sandbox, id, "Something else.");
    }
    sandbox.write("scratch/HANDOFF.md", "---\nhandoff:\n  id: ignored\n---\n\nText.\n");
    sandbox.write(".midstride/config.toml", "folders = [\"scratch\"]\n");
    revise(&sandbox, "ignored", IGNORED);
    revise(&sandbox, "ignored", "Something else.");
    sandbox
}

fn revise(sandbox: &Sandbox, id: &str, text: &str) {
    let revise = ["edit", id, "--reason", "more", "--body", "-"];
    sandbox.run_with_input(&revise, &format!("# {id}\n\n{text}\n")).exits(0);
}

/// What git shows of all objects and references of a repository. Objects are compressed, so git
/// reads them.
fn content(sandbox: &Sandbox, repository: &str) -> String {
    let git = |arguments: &[&str]| {
        let mut git = sandbox.command("git");
        let output = git.args(["-C", repository]).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    git(&["for-each-ref"])
        + &git(&["cat-file", "--batch-all-objects", "--unordered", "--batch=%(objectname)"])
        + &git(&["cat-file", "--batch-all-objects", "--unordered", "--batch"])
}

/// Copies the repository in every way that takes all references along, and returns the copies.
fn copy_everything(sandbox: &Sandbox) -> [(&'static str, String); 5] {
    let format = sandbox.git(&["rev-parse", "--show-object-format"]);
    let format = format!("--object-format={}", format.trim());
    sandbox.git(&["init", "--quiet", "--bare", &format, "../pushed.git"]);
    sandbox.git(&["push", "--quiet", "--mirror", "../pushed.git"]);
    sandbox.git(&["bundle", "create", "--quiet", "../all.bundle", "--all"]);
    sandbox.git(&["clone", "--quiet", "--mirror", "../all.bundle", "../unbundled.git"]);
    let url = format!("file://{}", sandbox.root().display());
    sandbox.git(&["clone", "--quiet", "--mirror", &url, "../fetched.git"]);
    sandbox.git(&["clone", "--quiet", "--mirror", ".", "../linked.git"]);
    let copies = ["pushed", "unbundled", "fetched", "linked"];
    let [pushed, unbundled, fetched, linked] =
        copies.map(|name| content(sandbox, &format!("../{name}.git")));
    [
        ("push --mirror", pushed),
        ("bundle --all", unbundled),
        ("clone --mirror file://", fetched),
        ("clone --mirror", linked),
        ("the repository", content(sandbox, ".")),
    ]
}

#[track_caller]
fn assert_nothing_private_is_copied(sandbox: &Sandbox) {
    for (how, content) in copy_everything(sandbox) {
        assert!(content.contains("refs/heads/main"), "{how}: it is a copy");
        for word in WORDS {
            assert!(!content.contains(word), "{how} takes {word} along");
        }
        assert!(!content.contains("refs/midstride"), "{how} takes references along");
    }
}

/// Asserts that every earlier text can be read.
#[track_caller]
fn assert_nothing_is_lost(sandbox: &Sandbox) {
    for (id, word) in ["draft", "session", "ignored"].into_iter().zip(WORDS) {
        let show = sandbox.run(["show", &format!("{id}@2")]).exits(0);
        assert!(show.stdout.contains(word), "{id}: {show}");
    }
}

#[test]
fn no_mirror_takes_texts_of_uncommitted_handoffs_along() {
    for format in ["sha1", "sha256"] {
        let sandbox = revised(format);
        assert_nothing_is_lost(&sandbox);
        assert_nothing_private_is_copied(&sandbox);
        let diff = sandbox.run(["diff", "session@2", "session@3"]);
        assert!(diff.stdout.contains(SESSION), "{diff}");
        sandbox.run(["undo", "session"]).exits(0);
        let session = sandbox.read(".git/midstride/handoffs/session.md");
        assert!(session.contains(SESSION), "{session}");
    }
}

#[test]
fn garbage_collection_in_the_project_keeps_private_texts() {
    let sandbox = revised("sha1");
    // The current texts were once committed, so the project had the same objects.
    sandbox.git(&["checkout", "--quiet", "-b", "aside"]);
    let text = sandbox.run(["show", "draft@2"]).exits(0).stdout;
    sandbox.write("copy.md", text);
    sandbox.git(&["add", "--force", "copy.md"]);
    sandbox.git(&["commit", "--quiet", "--message", "with a copy"]);
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.git(&["branch", "--quiet", "-D", "aside"]);
    sandbox.git(&["reflog", "expire", "--expire=all", "--all"]);
    sandbox.git(&["gc", "--quiet", "--prune=now"]);
    assert!(!content(&sandbox, ".").contains(DRAFT));
    assert_nothing_is_lost(&sandbox);
    sandbox.git(&["--git-dir", ".git/midstride/texts.git", "fsck", "--full", "--strict"]);
}

#[test]
fn texts_of_a_draft_are_shared_once_it_is_committed() {
    let sandbox = revised("sha1");
    sandbox.git(&["init", "--quiet", "--bare", "../hub.git"]);
    sandbox.git(&["remote", "add", "origin", "../hub.git"]);
    sandbox.as_user().run(["trust", "--yes"]).exits(0);
    let sync = sandbox.run(["sync"]).exits(0);
    assert!(sync.stderr.contains("Revisions of 1 handoff stay here"), "{sync}");
    assert!(!content(&sandbox, "../hub.git").contains(DRAFT));
    sandbox.git(&["add", DRAFT_FILE]);
    sandbox.git(&["commit", "--quiet", "--message", "draft"]);
    let sync = sandbox.run(["sync"]).exits(0);
    assert!(!sync.stderr.contains("stay here"), "{sync}");
    let hub = content(&sandbox, "../hub.git");
    assert!(hub.contains(DRAFT), "every text of the handoff is there");
    assert!(!hub.contains(SESSION) && !hub.contains(IGNORED));
    // Another clone reads the text from before the commit.
    sandbox.git(&["push", "--quiet", "origin", "main"]);
    sandbox.git(&["clone", "--quiet", "--branch=main", "../hub.git", "../other"]);
    sandbox.as_user().run(["-C", "../other", "trust", "--yes"]).exits(0);
    sandbox.run(["-C", "../other", "sync"]).exits(0);
    let show = sandbox.run(["-C", "../other", "show", "draft@2"]).exits(0);
    assert!(show.stdout.contains(DRAFT), "{show}");
}

#[test]
fn a_revision_of_a_committed_draft_brings_its_texts_along() {
    let sandbox = revised("sha1");
    sandbox.git(&["add", DRAFT_FILE]);
    sandbox.git(&["commit", "--quiet", "--message", "draft"]);
    revise(&sandbox, "draft", "A third text.");
    assert!(content(&sandbox, ".").contains(DRAFT));
    assert_nothing_is_lost(&sandbox);
    let references = sandbox.git(&["for-each-ref", "--format=%(refname)", "refs/midstride"]);
    assert_eq!(references.lines().count(), 1, "{references}");
    sandbox.git(&["fsck", "--full", "--strict"]);
}

#[test]
fn a_linked_worktree_and_a_moved_project_find_private_texts() {
    let sandbox = revised("sha1");
    sandbox.git(&["worktree", "add", "--quiet", "../tree"]);
    let show = sandbox.run(["-C", "../tree", "show", "session@2"]).exits(0);
    assert!(show.stdout.contains(SESSION), "{show}");
    let revise = ["-C", "../tree", "edit", "session", "--reason", "more", "--body", "-"];
    sandbox.run_with_input(&revise, "# session\n\nFrom the worktree.\n").exits(0);
    let show = sandbox.run(["show", "session@4"]).exits(0);
    assert!(show.stdout.contains("From the worktree"), "{show}");
    let moved = sandbox.root().parent().unwrap().join("moved");
    std::fs::rename(sandbox.root(), &moved).unwrap();
    std::fs::create_dir(sandbox.root()).unwrap();
    sandbox.as_user().run(["-C", "../moved", "trust", "--yes"]).exits(0);
    let show = sandbox.run(["-C", "../moved", "show", "session@2"]).exits(0);
    assert!(show.stdout.contains(SESSION), "{show}");
    let borrowed = moved.join(".git/midstride/texts.git/objects/info/alternates");
    let borrowed = std::fs::read_to_string(borrowed).unwrap();
    assert!(Path::new(borrowed.trim()).is_relative(), "{borrowed}");
}

#[test]
fn a_private_text_is_forgotten_and_other_clones_do_not_hear_of_it() {
    let sandbox = revised("sha1");
    for (id, word) in [("draft@2", DRAFT), ("session@2", SESSION)] {
        assert!(content(&sandbox, ".git/midstride/texts.git").contains(word));
        let asked = sandbox.run(["forget", id]).exits(2);
        assert!(!asked.stderr.contains("other clones"), "{asked}");
        let done = sandbox.as_user().run(["forget", id, "--yes"]).exits(0);
        assert!(done.stderr.contains("Forgotten: revision of"), "{done}");
        assert!(!content(&sandbox, ".git/midstride/texts.git").contains(word), "{word}");
    }
    sandbox.git(&["--git-dir", ".git/midstride/texts.git", "fsck", "--full", "--strict"]);
}

#[test]
fn a_purge_removes_private_texts() {
    let sandbox = revised("sha1");
    let purge = ["client", "remove", "--all", "--project", "--purge"];
    let shown = sandbox.run([&purge[..], &["--dry-run"]].concat()).exits(0);
    assert!(shown.stdout.contains("earlier handoff revisions"), "{shown}");
    sandbox.as_user().run([&purge[..], &["--yes", "--uncommitted"]].concat()).exits(0);
    assert!(!sandbox.root().join(".git/midstride").exists());
}

/// Puts the texts where earlier versions stored them: under references of the project.
fn store_as_earlier_versions(sandbox: &Sandbox) {
    sandbox.git(&["fetch", "--quiet", ".git/midstride/texts.git", "refs/*:refs/*"]);
    std::fs::remove_dir_all(sandbox.root().join(".git/midstride/texts.git")).unwrap();
    std::fs::remove_file(sandbox.root().join(".git/midstride/drafts-moved")).unwrap();
}

#[test]
fn the_next_command_moves_texts_of_an_earlier_version() {
    let sandbox = revised("sha1");
    store_as_earlier_versions(&sandbox);
    let before = content(&sandbox, ".");
    assert!(WORDS.iter().all(|word| before.contains(word)));
    sandbox.run(["task", "add", "Warm the cache"]).exits(0);
    assert_nothing_is_lost(&sandbox);
    assert_nothing_private_is_copied(&sandbox);
}

#[test]
fn the_doctor_counts_private_texts_in_packs() {
    let sandbox = revised("sha1");
    store_as_earlier_versions(&sandbox);
    sandbox.git(&["gc", "--quiet"]);
    let doctor = sandbox.run(["doctor"]);
    let problem = "git's packs still contain 9 revisions of uncommitted handoffs";
    assert!(doctor.to_string().contains(problem), "{doctor}");
    sandbox.git(&["gc", "--quiet", "--prune=now"]);
    let doctor = sandbox.run(["doctor"]);
    assert!(!doctor.to_string().contains("git's packs"), "{doctor}");
    assert_nothing_is_lost(&sandbox);
    assert_nothing_private_is_copied(&sandbox);
}

#[test]
fn texts_of_a_staged_handoff_are_not_copied_before_its_commit() {
    let sandbox = revised("sha1");
    sandbox.git(&["add", DRAFT_FILE]);
    revise(&sandbox, "draft", "A third text.");
    assert_nothing_private_is_copied(&sandbox);
    assert_nothing_is_lost(&sandbox);
}

#[test]
fn a_planted_hook_does_not_run_and_a_link_is_refused() {
    let sandbox = revised("sha1");
    let own = sandbox.root().join(".git/midstride/texts.git");
    let hook = own.join("hooks/reference-transaction");
    let ran = sandbox.home().join("ran");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", ran.display())).unwrap();
    std::fs::set_permissions(&hook, Permissions::from_mode(0o755)).unwrap();
    revise(&sandbox, "session", "A third text.");
    assert!(!ran.exists(), "midstride ran the hook");
    let update = ["--git-dir", ".git/midstride/texts.git", "update-ref", "-d", "refs/midstride/x"];
    sandbox.finish(sandbox.command("git").args(update));
    assert!(ran.exists(), "plain git runs it");
    let elsewhere = sandbox.home().join("elsewhere");
    std::fs::rename(&own, &elsewhere).unwrap();
    symlink(&elsewhere, &own).unwrap();
    let before = sandbox.read(".git/midstride/handoffs/session.md");
    let run = ["edit", "session", "--reason", "more", "--body", "-"];
    let run = sandbox.run_with_input(&run, "# session\n\nA fourth text.\n").exits(2);
    assert!(run.stderr.contains("texts.git` points outside the project"), "{run}");
    assert_eq!(sandbox.read(".git/midstride/handoffs/session.md"), before);
}
