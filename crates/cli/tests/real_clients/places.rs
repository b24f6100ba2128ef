//! Tests of sessions in a subfolder of the project, and in worktrees next to it and inside it.

use super::hooks::{claude_code, codex, did, finish, handoff, last};
use super::project;
use super::talk::{heard, ids, quotes, times};
use midstride_testkit::{ModelServer, Sandbox, Turn};
use std::path::{Path, PathBuf};
use std::process::Command;

const LANDMINE: &str = "The balance is looked up on every page";

/// A project with a handoff, fully committed.
fn committed() -> Sandbox {
    let sandbox = project();
    handoff(&sandbox);
    sandbox.git(&["add", "."]);
    sandbox.git(&["commit", "-q", "-m", "set up"]);
    sandbox
}

/// What the model received when a client was prompted in a folder.
fn asked_in(
    sandbox: &Sandbox,
    model: &ModelServer,
    client: &mut Command,
    folder: &Path,
) -> Vec<String> {
    model.then([Turn::says("I see.")]);
    finish(sandbox, client.current_dir(folder));
    heard(&last(model))
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_session_in_a_subfolder_belongs_to_the_project() {
    let sandbox = committed();
    let folder = sandbox.root().join("reports/2026");
    std::fs::create_dir_all(&folder).unwrap();
    let model = ModelServer::start([]);
    let mut client = claude_code(&sandbox, &model);
    let told = asked_in(&sandbox, &model, client.args(["-p", "Sum up the invoices"]), &folder);
    assert_eq!(times(&told, LANDMINE), 1, "{told:#?}");
    let mut client = codex(&sandbox, &model);
    let told = asked_in(&sandbox, &model, client.arg("Sum up the receipts"), &folder);
    assert_eq!(quotes(&told, "Sum up the invoices"), 1, "{told:#?}");
    // A session at the root is briefed on both, and they are captured there.
    let mut client = claude_code(&sandbox, &model);
    let told = asked_in(&sandbox, &model, client.args(["-p", "Go on"]), sandbox.root());
    assert_eq!(quotes(&told, "Sum up the receipts"), 1, "{told:#?}");
    assert_eq!(quotes(&told, "Sum up the invoices"), 1, "{told:#?}");
    assert_eq!(ids(&sandbox).len(), 3);
    assert_eq!(did(&sandbox).iter().filter(|one| *one == "SessionEnd: captured").count(), 3);
    assert!(!folder.join(".midstride").exists() && !folder.join(".git").exists());
}

/// Asserts that the prompt of a session on another branch appears in one line with the branch, and
/// nowhere else.
fn is_only_named(told: &[String], asked: &str, branch: &str) {
    let line = format!("\"{asked}\" (branch {branch})\n");
    assert_eq!((times(told, &line), times(told, asked)), (1, 1), "{told:#?}");
}

/// Sessions in a second worktree and in the first: each is briefed on the work in its own.
fn each_in_its_own(tree: impl Fn(&Sandbox) -> PathBuf) {
    let sandbox = committed();
    let tree = tree(&sandbox);
    let path = tree.display().to_string();
    sandbox.git(&["worktree", "add", "-q", "-b", "audit", &path]);
    let model = ModelServer::start([]);
    let mut client = claude_code(&sandbox, &model);
    asked_in(&sandbox, &model, client.args(["-p", "Repair the importer"]), sandbox.root());
    let claude = |text: &str, folder: &Path| {
        let mut client = claude_code(&sandbox, &model);
        asked_in(&sandbox, &model, client.args(["-p", text]), folder)
    };
    let told = claude("Check the ledgers", &tree);
    assert_eq!(times(&told, "branch audit"), 1, "{told:#?}");
    assert_eq!(times(&told, LANDMINE), 1, "{told:#?}");
    is_only_named(&told, "Repair the importer", "master");
    let mut client = codex(&sandbox, &model);
    let told = asked_in(&sandbox, &model, client.arg("Go on there"), &tree);
    assert_eq!(quotes(&told, "Check the ledgers"), 1, "{told:#?}");
    is_only_named(&told, "Repair the importer", "master");
    let told = claude("Go on here", sandbox.root());
    assert_eq!(quotes(&told, "Repair the importer"), 1, "{told:#?}");
    is_only_named(&told, "Check the ledgers", "audit");
    is_only_named(&told, "Go on there", "audit");
    // They share one ledger.
    assert_eq!(ids(&sandbox).len(), 4);
    let did = did(&sandbox);
    assert_eq!(did.iter().filter(|one| *one == "SessionEnd: captured").count(), 4, "{did:?}");
    assert!(!did.iter().any(|one| one.contains("recovered")), "{did:?}");
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_session_in_a_worktree_is_briefed_on_that_worktree() {
    each_in_its_own(|sandbox| sandbox.root().with_file_name("audit"));
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_nested_worktree_is_separate() {
    // The place where Claude Code creates worktrees.
    each_in_its_own(|sandbox| sandbox.root().join(".claude/worktrees/audit"));
}
