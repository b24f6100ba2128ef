//! Tests of purging a project's data: what is shown, who may do it, and what is never touched.

use super::shop;
use midstride_testkit::{Run, Sandbox};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

const PURGE: [&str; 5] = ["client", "remove", "--all", "--project", "--purge"];

fn purge(sandbox: &Sandbox, more: &[&str]) -> Run {
    sandbox.as_user().run([&PURGE[..], more].concat())
}

/// A project with handoffs that are committed, changed and untracked in git, a task, earlier texts
/// and a merge driver.
fn used() -> Sandbox {
    let sandbox = shop();
    sandbox.run(["task", "add", "Paginate"]).exits(0);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-q", "-m", "handoffs"]);
    sandbox.as_user().run(["init", "--merge-driver"]).exits(0);
    sandbox.run(["resolve", "market-page-perf", "--outcome", "done"]).exits(0);
    sandbox.write(".midstride/handoffs/new.md", "---\nhandoff:\n  id: new\n---\n");
    sandbox.write(".git/midstride/handoffs/private.md", "---\nhandoff:\n  id: private\n---\n");
    sandbox.write(".midstride/notes.txt", "mine\n");
    sandbox
}

/// Why nothing was done.
fn refused(sandbox: &Sandbox, more: &[&str]) -> String {
    let run = purge(sandbox, more).exits(2);
    run.stderr[run.stderr.find("error: ").unwrap()..].to_owned()
}

fn exists(sandbox: &Sandbox, path: &str) -> bool {
    sandbox.root().join(path).symlink_metadata().is_ok()
}

#[test]
fn a_purge_is_shown_and_unrecoverable_data_needs_confirmation_by_name() {
    let sandbox = used();
    insta::assert_snapshot!(purge(&sandbox, &["--dry-run"]), @"
    exit 0
    ----- stdout -----
    To be deleted in [ROOT]
      [ROOT]/.midstride: 6 files
      [ROOT]/.git/midstride: 12 files
      5 handoffs: 2 committed, 1 changed since the commit, 2 not in git
        .midstride/handoffs/market-page-perf.md: changed since the commit
        .midstride/handoffs/new.md: not in git
        .git/midstride/handoffs/private.md: not in git
        .midstride/notes.txt: not in git
      1 task and 0 captured sessions, in the ledger
      1 reference in git to earlier handoff revisions
      the merge driver, in .gitattributes and in git's configuration
    Not deleted
      [ROOT]/HANDOFF.md: 1 document
      data that `midstride sync` sent to a remote
    ");
    // Scripts and agents cannot do it without explicit flags.
    insta::assert_snapshot!(sandbox.run([&PURGE[..], &["--yes", "--uncommitted"]].concat()), @"
    exit 2
    ----- stderr -----
    error: cannot prompt: no terminal
    hint: run this in a terminal: midstride -C [ROOT] client remove --all --project --purge --uncommitted
    ");
    insta::assert_snapshot!(refused(&sandbox, &["--yes"]), @"
    error: deleting 4 files, 1 task and earlier handoff revisions cannot be undone; nothing was changed
    hint: commit what you want to keep, or copy it elsewhere
    hint: `--uncommitted` deletes it anyway; it cannot be recovered
    ");
    let mut inside = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    inside.args(PURGE).args(["--yes", "--uncommitted"]).env("CLAUDECODE", "1");
    insta::assert_snapshot!(sandbox.finish(&mut inside), @"
    exit 2
    ----- stderr -----
    error: this command requires the user, but it is running inside Claude Code
    hint: ask the user to run this in a terminal: midstride -C [ROOT] client remove --all --project --purge --uncommitted
    ");
    sandbox.as_user().types("y\n").run(PURGE).exits(1);
    assert!(exists(&sandbox, ".midstride/handoffs/new.md"));
    let run = sandbox.as_user().types("delete\n").run(PURGE).exits(0);
    let said = run.stderr.replace(sandbox.root().to_str().unwrap(), "[ROOT]");
    insta::assert_snapshot!(said.split_once("Not deleted\n").unwrap().1, @"
      [ROOT]/HANDOFF.md: 1 document
      data that `midstride sync` sent to a remote
    Deleted.
    To restore committed files: git -C [ROOT] restore .midstride
    The deletion is not committed: clones of this repository keep these files until you commit it.
    ");
    for path in [".midstride", ".git/midstride", ".gitattributes"] {
        assert!(!exists(&sandbox, path), "{path}");
    }
    assert_eq!(sandbox.git(&["for-each-ref", "refs/midstride", "refs/midstride-private"]), "");
    assert!(exists(&sandbox, "HANDOFF.md"), "what others wrote elsewhere stays");
    sandbox.git(&["restore", ".midstride"]);
    assert!(exists(&sandbox, ".midstride/handoffs/login-loop.md"));
    let again = purge(&sandbox, &["--yes"]).exits(0);
    assert!(again.stderr.contains("3 handoffs: 3 committed"), "{again}");
    insta::assert_snapshot!(purge(&sandbox, &["--yes"]), @"
    exit 0
    ----- stderr -----
    This project has no midstride data.
    Not deleted
      [ROOT]/HANDOFF.md: 1 document
    ");
}

#[test]
fn a_script_gets_json_and_must_confirm_explicitly() {
    let sandbox = used();
    let value = |run: Run| -> Value { serde_json::from_str(&run.stdout).unwrap() };
    let shown = value(purge(&sandbox, &["--dry-run", "--json"]).exits(0));
    assert_eq!(shown["clients"], json!([]), "{shown:#}");
    let purge_of = &shown["purge"];
    assert_eq!(
        (&purge_of["tasks"], &purge_of["irreplaceable"]),
        (
            &json!(1),
            &json!({"files": 4, "tasks": 1, "sessions": 0, "earlier_texts": true, "unread_ledger": false})
        )
    );
    assert_eq!(purge_of["handoffs"].as_array().unwrap().len(), 5, "{shown:#}");
    let changed = json!({"path": ".midstride/handoffs/market-page-perf.md", "in_git": "changed"});
    assert!(purge_of["handoffs"].as_array().unwrap().contains(&changed), "{shown:#}");
    assert!(exists(&sandbox, ".midstride"));
    let done = purge(&sandbox, &["--yes", "--uncommitted", "--json"]).exits(0);
    assert_eq!(value(done), shown);
    assert!(!exists(&sandbox, ".midstride") && !exists(&sandbox, ".git/midstride"));
}

#[test]
fn without_purge_project_data_stays() {
    let sandbox = used();
    let more = ["client", "remove", "claude-code", "codex", "--yes"];
    sandbox.run([&more[..], &["--project"]].concat()).exits(0);
    sandbox.run(more).exits(0);
    sandbox.run(["client", "remove", "codex", "--yes", "--uncommitted"]).exits(2);
    assert!(exists(&sandbox, ".midstride/handoffs/new.md") && exists(&sandbox, ".git/midstride"));
}

#[test]
fn symlinks_are_removed_without_their_targets() {
    let sandbox = shop();
    let outside = sandbox.home().join("notes");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("mine.md"), "mine\n").unwrap();
    symlink(&outside, sandbox.root().join(".midstride/handoffs/notes")).unwrap();
    purge(&sandbox, &["--yes", "--uncommitted"]).exits(0);
    assert!(!exists(&sandbox, ".midstride"));
    assert!(outside.join("mine.md").exists());
    // The private folder next to git may be a symlink as well.
    std::fs::write(outside.join("config.toml"), "").unwrap();
    symlink(&outside, sandbox.root().join(".git/midstride")).unwrap();
    purge(&sandbox, &["--yes"]).exits(0);
    assert!(!exists(&sandbox, ".git/midstride") && outside.join("config.toml").exists());
    // The folder itself may be one; one that leads outside the project is not midstride's.
    sandbox.write("elsewhere/config.toml", "shelves = []\n");
    symlink("elsewhere", sandbox.root().join(".midstride")).unwrap();
    let run = purge(&sandbox, &["--yes"]).exits(0);
    assert!(run.stderr.contains("[ROOT]/.midstride: a link; its target is kept"), "{run}");
    assert!(!exists(&sandbox, ".midstride") && exists(&sandbox, "elsewhere/config.toml"));
    symlink(&outside, sandbox.root().join(".midstride")).unwrap();
    let run = purge(&sandbox, &["--yes", "--uncommitted"]).exits(2);
    assert!(run.stderr.contains("points outside the project"), "{run}");
    assert!(outside.join("mine.md").exists());
}

#[test]
fn data_used_by_another_worktree_stays_until_it_is_purged_too() {
    let sandbox = used();
    sandbox.git(&["worktree", "add", "-q", "../second", "HEAD"]);
    let second = sandbox.root().parent().unwrap().join("second");
    let run = purge(&sandbox, &["--yes", "--uncommitted"]).exits(0);
    assert!(run.stderr.contains("second also has midstride and shares them"), "{run}");
    assert!(!exists(&sandbox, ".midstride"));
    assert!(exists(&sandbox, ".git/midstride/handoffs/private.md"), "{run}");
    assert!(second.join(".midstride/handoffs/login-loop.md").exists());
    let there = [&["-C", second.to_str().unwrap()], &PURGE[..], &["--yes"]].concat();
    sandbox.as_user().run(there.clone()).exits(2);
    sandbox.as_user().run([&there[..], &["--uncommitted"]].concat()).exits(0);
    assert!(!exists(&sandbox, ".git/midstride") && !second.join(".midstride").exists());
}

#[test]
fn private_setup_belongs_to_every_worktree() {
    let sandbox = crate::sandbox().repository();
    sandbox.as_user().run(["init", "--private"]).exits(0);
    sandbox.run(["new", "A title"]).exits(0);
    sandbox.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    sandbox.git(&["worktree", "add", "-q", "../second", "HEAD"]);
    let second = sandbox.root().parent().unwrap().join("second");
    let there = [&["-C", second.to_str().unwrap()], &PURGE[..], &["--yes"]].concat();
    let run = sandbox.as_user().run([&there[..], &["--uncommitted"]].concat()).exits(0);
    assert!(run.stderr.contains("[ROOT] also has midstride and shares them"), "{run}");
    assert!(exists(&sandbox, ".git/midstride/handoffs/title.md"), "{run}");
}

#[test]
fn data_used_by_another_project_of_the_repository_stays() {
    let sandbox = used();
    sandbox.write("apps/web/.midstride/config.toml", "shelves = []\n");
    let there = [&["-C", "apps/web"], &PURGE[..], &["--yes", "--uncommitted"]].concat();
    let run = sandbox.as_user().run(there).exits(0);
    assert!(run.stderr.contains("To be deleted in [ROOT]/apps/web\n"), "{run}");
    assert!(run.stderr.contains(": [ROOT] also has midstride and shares them"), "{run}");
    assert!(!exists(&sandbox, "apps/web/.midstride"));
    assert!(exists(&sandbox, ".midstride/handoffs/new.md") && exists(&sandbox, ".git/midstride"));
}

#[test]
fn project_files_that_still_call_midstride_are_named() {
    let sandbox = used();
    sandbox.run(["client", "add", "codex", "--project", "--yes"]).exits(0);
    let more = ["client", "remove", "codex", "--purge", "--yes", "--uncommitted"];
    let run = sandbox.as_user().run(more).exits(0);
    let next = "installed in this project. Next: midstride client remove codex --project\n";
    assert!(run.stderr.ends_with(next), "{run}");
    assert!(exists(&sandbox, ".codex/hooks.json"));
}

#[test]
fn projects_without_git_private_and_broken_ones_are_purged() {
    let plain = crate::sandbox();
    plain.as_user().run(["init"]).exits(0);
    plain.run(["task", "add", "Paginate"]).exits(0);
    let run = purge(&plain, &["--yes"]).exits(2);
    assert!(run.stderr.contains("deleting 1 task cannot be undone; nothing was changed"), "{run}");
    purge(&plain, &["--yes", "--uncommitted"]).exits(0);
    assert!(!exists(&plain, ".midstride"));
    let unused = crate::sandbox();
    unused.as_user().run(["init"]).exits(0);
    purge(&unused, &["--yes"]).exits(0);
    assert!(!exists(&unused, ".midstride"), "there was nothing that anybody wrote");
    // Private data from before there was git is not lost either.
    let later = crate::sandbox();
    later.as_user().run(["init", "--private"]).exits(0);
    later.run(["new", "A title"]).exits(0);
    let later = later.repository();
    purge(&later, &["--yes"]).exits(2);
    let private = crate::sandbox().repository();
    private.as_user().run(["init", "--private"]).exits(0);
    private.run(["new", "A title"]).exits(0);
    purge(&private, &["--yes"]).exits(2);
    purge(&private, &["--yes", "--uncommitted"]).exits(0);
    assert!(!exists(&private, ".git/midstride"));
    let broken = shop();
    broken.write(".midstride/config.toml", "shelves = [");
    purge(&broken, &["--yes", "--uncommitted"]).exits(0);
    assert!(!exists(&broken, ".midstride"));
}

#[test]
fn only_the_permissions_of_the_project_are_deleted() {
    let sandbox = shop();
    sandbox.write(".midstride/config.toml", "shelves = [\"../elsewhere\"]\n");
    sandbox.as_user().run(["trust", "--yes"]).exits(0);
    let folder = sandbox.home().join(".local/state/midstride/permissions");
    let other = folder.join("other.json");
    std::fs::write(&other, "{\"kind\": \"proof\", \"project\": \"/elsewhere\"}").unwrap();
    let run = purge(&sandbox, &["--yes", "--uncommitted"]).exits(0);
    assert!(run.stderr.contains("1 permission that you granted here"), "{run}");
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|one| one.unwrap().path()).collect();
    assert_eq!(left, [other]);
}
