//! Tests of where a handoff can be: without git, before there is git, in a bare repository, on a
//! detached HEAD; and of missing ones.

use crate::sandbox;
use midstride_testkit::Sandbox;

const FILE: &str = ".midstride/handoffs/find.md";

/// A project with one handoff that was revised once.
fn revised(sandbox: Sandbox) -> Sandbox {
    sandbox.as_user().run(["init"]).exits(0);
    sandbox.run_with_input(&["new", "Find", "--body", "-"], "## Plan\n\nOne.\n").exits(0);
    revise(&sandbox, "Two.");
    sandbox
}

fn revise(sandbox: &Sandbox, text: &str) {
    let body = format!("## Plan\n\n{text}\n");
    sandbox.run_with_input(&["edit", "find", "--reason", text, "--body", "-"], &body).exits(0);
}

/// Asserts that the texts of the handoff end with these words, oldest first.
#[track_caller]
fn assert_texts(sandbox: &Sandbox, ends: &[&str]) {
    for (index, end) in ends.iter().enumerate() {
        let shown = sandbox.run(["show", &format!("find@{}", index + 1)]).exits(0).stdout;
        assert!(shown.ends_with(&format!("\n\n{end}\n")), "@{}: {shown}", index + 1);
    }
}

/// Runs every verb that changes a handoff, and the way back.
fn live(sandbox: &Sandbox) {
    let review = ["review", "find", "--by", "eve", "--challenged", "x", "--verdict", "held"];
    let steps: [&[&str]; 7] = [
        &["start", "find"],
        &review,
        &["undo", "find"],
        &["fmt", "find"],
        &["resolve", "find", "--abandon", "no budget"],
        &["diff", "find"],
        &["check", "find"],
    ];
    for step in steps {
        let run = sandbox.run(step);
        assert!(run.code < Some(2), "{step:?}: {run}");
    }
}

#[test]
fn without_git_everything_works() {
    let sandbox = revised(sandbox());
    live(&sandbox);
    assert_texts(&sandbox, &["One.", "Two.", "Two.", "Two.", "Two."]);
    insta::assert_snapshot!(sandbox.run(["resolve", "find", "--commit", "HEAD"]), @"
    exit 2
    ----- stderr -----
    error: there is no commit `HEAD` in this repository
    hint: commit first, or give `--outcome` instead
    ");
}

#[test]
fn everything_works_on_a_detached_head() {
    let sandbox = revised(sandbox().repository());
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "-m", "set up"]);
    sandbox.git(&["checkout", "--quiet", "--detach"]);
    live(&sandbox);
    assert_texts(&sandbox, &["One.", "Two.", "Two.", "Two.", "Two."]);
    sandbox.run(["new", "Second", "--no-edit"]).exits(0);
    sandbox.run(["resolve", "second", "--commit", "HEAD"]).exits(0);
}

#[test]
fn texts_stored_before_git_are_still_available() {
    let sandbox = revised(sandbox());
    sandbox.run(["new", "Afternoon", "--kind", "session", "--no-edit"]).exits(0);
    let sandbox = sandbox.repository();
    assert_texts(&sandbox, &["One.", "Two."]);
    revise(&sandbox, "Three.");
    assert_texts(&sandbox, &["One.", "Two.", "Three."]);
    for (undo, end) in [("Two", "Two."), ("One", "One.")] {
        sandbox.run(["undo", "find"]).exits(0);
        assert!(sandbox.read(FILE).ends_with(&format!("\n\n{end}\n")), "{undo}");
    }
    // Private handoffs are found, stay private, and can be shared.
    sandbox.run(["start", "afternoon"]).exits(0);
    let references = sandbox.git(&["for-each-ref", "--format=%(refname)", "refs/midstride"]);
    assert_eq!(references.lines().count(), 1, "only `find` is for everybody: {references}");
    sandbox.run(["share", "afternoon"]).exits(0);
    assert!(sandbox.read(".midstride/handoffs/afternoon.md").contains("reason: shared"));
}

#[test]
fn a_private_project_stays_private_when_git_is_added() {
    let sandbox = sandbox();
    sandbox.as_user().run(["init", "--private"]).exits(0);
    sandbox.run(["new", "Find", "--no-edit"]).exits(0);
    let sandbox = sandbox.repository();
    assert!(sandbox.run(["list"]).exits(0).stdout.contains("find"));
    sandbox.run(["new", "Second", "--no-edit"]).exits(0);
    assert!(!sandbox.root().join(".midstride/handoffs").exists());
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_bare_repository_is_reported() {
    let sandbox = sandbox();
    sandbox.git(&["init", "--quiet", "--bare", "--initial-branch=main"]);
    let before = std::fs::read_dir(sandbox.root()).unwrap().count();
    insta::assert_snapshot!(sandbox.as_user().run(["init"]), @"
    exit 2
    ----- stderr -----
    error: `[ROOT]` is a bare repository: it has no working tree
    hint: check it out with `git worktree add ../work`, then run midstride there
    ");
    for arguments in [&["list"][..], &["new", "Find"], &["-C", "refs/heads", "check"], &[]] {
        let run = sandbox.run(arguments).exits(2);
        assert!(run.stderr.contains("is a bare repository"), "{run}");
    }
    assert_eq!(std::fs::read_dir(sandbox.root()).unwrap().count(), before, "nothing is written");
    // A worktree of it is a regular project, even inside.
    sandbox.git(&["worktree", "add", "--quiet", "--orphan", "-b", "main", "work"]);
    sandbox.as_user().run(["-C", "work", "init"]).exits(0);
    sandbox.run(["-C", "work", "new", "Find", "--no-edit"]).exits(0);
    sandbox.run(["-C", "work", "start", "find"]).exits(0);
}

#[test]
fn a_deleted_document_is_reported() {
    let sandbox = revised(sandbox().repository());
    let script = format!("echo more >> \"$1\"; rm {}", sandbox.root().join(FILE).display());
    let run = sandbox.run_with_editor(&["edit", "find"], &script).exits(2);
    let said: Vec<&str> = run.stderr.lines().collect();
    insta::assert_snapshot!(said[..2].join("\n"), @"
    error: `[ROOT]/.midstride/handoffs/find.md` was deleted in the meantime
    hint: restore the file, for example with `git restore`, then run the command again
    ");
    let kept = said[2].strip_prefix("hint: your text is in `[HOME]/").unwrap();
    let kept = sandbox.home().join(kept.trim_end_matches('`'));
    assert!(std::fs::read_to_string(kept).unwrap().ends_with("Two.\nmore\n"));
    assert!(!sandbox.root().join(FILE).exists(), "it does not come back by itself");
}

#[test]
fn a_missing_text_is_reported() {
    let sandbox = revised(sandbox().repository());
    insta::assert_snapshot!(sandbox.run(["show", "find@0"]), @"
    exit 2
    ----- stderr -----
    error: `find` has 2 revisions; there is no `find@0`
    hint: the newest one is `find@2`
    ");
    insta::assert_snapshot!(sandbox.run(["show", "find@3"]), @"
    exit 2
    ----- stderr -----
    error: `find` has 2 revisions; there is no `find@3`
    hint: the newest one is `find@2`
    ");
    insta::assert_snapshot!(sandbox.run(["diff", "find@1", "find@7"]), @"
    exit 2
    ----- stderr -----
    error: `find` has 2 revisions; there is no `find@7`
    hint: the newest one is `find@2`
    ");
    insta::assert_snapshot!(sandbox.run(["show", "find@two"]), @"
    exit 2
    ----- stderr -----
    error: there is no handoff `find@two`
    hint: did you mean `find`?
    ");
    insta::assert_snapshot!(sandbox.run(["resolve", "find", "--commit", "0123456789"]), @"
    exit 2
    ----- stderr -----
    error: there is no commit `0123456789` in this repository
    hint: commit first, or give `--outcome` instead
    ");
    insta::assert_snapshot!(sandbox.run(["resolve", "find", "--commit", "HEAD:README.md"]), @"
    exit 2
    ----- stderr -----
    error: there is no commit `HEAD:README.md` in this repository
    hint: commit first, or give `--outcome` instead
    ");
}
