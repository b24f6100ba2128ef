//! The write path, killed between any two steps.

use crate::open;
use midstride::journal::{Change, Step};
use midstride_core::document::Document;
use midstride_testkit::Sandbox;
use std::path::Path;

/// Where the child is told what to do.
const CRASH: &str = "MIDSTRIDE_TEST_CRASH";
const FILE: &str = ".midstride/handoffs/a.md";

fn record(root: &Path, word: &str, reached: &dyn Fn(Step)) {
    let project = open(root);
    let shelved = project.find("a").unwrap();
    let next = shelved.document.text().replace("word: ", &format!("word: {word}-"));
    let change = Change { reason: word.to_owned(), by: None };
    project.record(&shelved, &Document::parse(next.as_bytes()), &change, reached).unwrap();
}

/// Runs only as a child of the test below, and dies on the way.
#[test]
fn child_that_is_killed() {
    let Some(told) = std::env::var_os(CRASH) else { return };
    let told = told.into_string().unwrap();
    let (step, root) = told.split_once(':').unwrap();
    record(Path::new(root), "killed", &|reached| {
        if format!("{reached:?}") == step {
            std::process::abort();
        }
    });
}

fn kill_at(sandbox: &Sandbox, step: Step) {
    let mut command = sandbox.command(std::env::current_exe().unwrap());
    command.args(["--exact", "journal::child_that_is_killed", "--nocapture"]);
    command.env(CRASH, format!("{step:?}:{}", sandbox.root().display()));
    let run = sandbox.finish(&mut command);
    assert_eq!(run.code, None, "the child is killed by a signal: {run}");
}

fn project() -> Sandbox {
    let sandbox = Sandbox::new("").repository();
    sandbox.write(".midstride/config.toml", "");
    sandbox.write(FILE, "---\nhandoff:\n  id: a\n  uid: one\n---\n\nword: start\n");
    record(sandbox.root(), "first", &|_| ());
    sandbox
}

#[test]
fn killed_at_any_step_nothing_is_lost() {
    for step in Step::ALL {
        let sandbox = project();
        let before = sandbox.read(FILE);
        kill_at(&sandbox, step);
        let after = sandbox.read(FILE);
        match step {
            Step::Kept => assert_eq!(after, before),
            Step::Written | Step::Noted => assert!(after.contains("word: killed-first-start")),
        }
        // The next change goes through, tells no edit that nobody made, and every text is there.
        record(sandbox.root(), "last", &|_| ());
        let text = sandbox.read(FILE);
        assert!(!text.contains("edited outside"), "{step:?}: {text}");
        let project = open(sandbox.root());
        let shelved = project.find("a").unwrap();
        let texts = shelved.handoff(&project).replaced_texts().len() + 1;
        for number in 1..=texts {
            let text = project.text_of(&shelved, number).unwrap();
            assert!(String::from_utf8(text).unwrap().contains("word: "), "{step:?}@{number}");
        }
        let left = std::fs::read_dir(sandbox.root().join(".midstride/handoffs")).unwrap();
        assert_eq!(left.count(), 1, "no draft is left");
    }
}

#[test]
fn of_two_that_revise_one_text_one_is_told() {
    let sandbox = project();
    let project = open(sandbox.root());
    let (mine, theirs) = (project.find("a").unwrap(), project.find("a").unwrap());
    let change = Change { reason: "both".to_owned(), by: None };
    let next = |word: &str| {
        let text = mine.document.text().replace("word: ", &format!("word: {word}-"));
        Document::parse(text.as_bytes())
    };
    project.record(&mine, &next("mine"), &change, &|_| ()).unwrap();
    let refused = project.record(&theirs, &next("theirs"), &change, &|_| ()).unwrap_err();
    assert!(refused.to_string().contains("changed by somebody else"), "{refused}");
    assert!(sandbox.read(FILE).contains("word: mine-first-start"));
}
