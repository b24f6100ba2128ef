//! Tests of projects that the user or the policy of the machine excluded: nothing is stored or
//! briefed there, by any surface.

use super::odd::Tree;
use super::surfaces::{SESSION, run_commands, run_hooks, run_tools};
use crate::commands::session::put;
use crate::sandbox;
use midstride_testkit::Sandbox;
use std::path::PathBuf;

/// A word of the session and of each document.
const WORD: &str = "pelican";

/// How a project is excluded.
#[derive(Clone, Copy, Debug)]
enum Excluded {
    ByPattern,
    NotListed,
    ByPolicy,
    NotInPolicy,
    Unreadable,
}

impl Excluded {
    /// Excludes the project of a sandbox that was used before.
    fn apply(self, sandbox: &Sandbox) {
        let config = sandbox.home().join(".config/midstride");
        std::fs::create_dir_all(&config).unwrap();
        let policy = sandbox.home().join("policy.toml");
        let (file, text) = match self {
            Self::ByPattern => {
                let pattern = sandbox.root().parent().unwrap().join("*");
                (
                    config.join("config.toml"),
                    format!("[capture]\nexclude = ['{}']\n", pattern.display()),
                )
            }
            Self::NotListed => {
                (config.join("config.toml"), "[capture]\nonly = [\"~/other/**\"]\n".to_owned())
            }
            Self::ByPolicy => (policy, "capture = \"off\"\n".to_owned()),
            Self::NotInPolicy => (policy, "capture = \"only\"\npaths = [\"~/other\"]\n".to_owned()),
            Self::Unreadable => (config.join("config.toml"), "[capture\n".to_owned()),
        };
        std::fs::write(file, text).unwrap();
    }
}

/// A project with a captured session, committed and private handoffs, and a task.
pub(super) fn worked_in(sandbox: Sandbox) -> Sandbox {
    let policy = sandbox.home().join("policy.toml");
    let sandbox = sandbox.with_variable("MIDSTRIDE_POLICY", policy).repository();
    sandbox.as_user().run(["init"]).exits(0);
    let start = sandbox.git(&["log", "-1", "--format=%h", "--abbrev=12"]);
    let start = start.trim();
    let handoff = format!(
        "---\nhandoff:\n  id: market\n  title: A {WORD} in the market\n  status: in_progress\n  \
         resolution:\n    commit: {start}\n  open_questions:\n    - id: q1\n      question: Where is the {WORD}?\n---\n\nThe {WORD} flew.\n"
    );
    sandbox.write(".midstride/handoffs/market.md", handoff);
    sandbox.write("body.md", "Nothing.\n");
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "handoff"]);
    let line = format!(
        "{{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"{SESSION}\",\"cwd\":\"{}\",\
         \"timestamp\":\"2026-03-20T10:00:00Z\",\"message\":{{\"role\":\"user\",\
         \"content\":\"Find the {WORD}.\"}}}}\n",
        sandbox.root().display()
    );
    put(&sandbox, SESSION, &line);
    sandbox.run(["session", "capture", "--session", SESSION]).exits(0);
    sandbox.run(["task", "add", &format!("Feed the {WORD}")]).exits(0);
    let brief = sandbox.run(["brief"]).exits(0);
    assert!(brief.stdout.contains(WORD), "{brief}");
    sandbox
}

/// Everything around the project, and the references of git.
fn stored(sandbox: &Sandbox) -> (Tree, String) {
    // What the test itself writes, and where an unreadable configuration is reported.
    let elsewhere = ["request", "standard-input", ".local/state/midstride/hooks.log"];
    let elsewhere = elsewhere.map(|name| sandbox.home().join(name));
    // SQLite counts readers there.
    let private = std::fs::read_dir(sandbox.root().join(".git/midstride"));
    let files = private.into_iter().flatten().map(|entry| entry.unwrap().path());
    let counters = files.filter(|path| path.to_string_lossy().ends_with("-shm"));
    let elsewhere: Vec<PathBuf> = elsewhere.into_iter().chain(counters).collect();
    (Tree::around(sandbox, &elsewhere), sandbox.git(&["for-each-ref"]))
}

/// Commands that only the user runs to delete, or that change the user's own files.
const CHANGING: [&str; 4] =
    ["midstride forget", "midstride client", "midstride config", "midstride setup"];

#[test]
fn an_excluded_project_is_neither_stored_nor_briefed() {
    for excluded in [
        Excluded::ByPattern,
        Excluded::NotListed,
        Excluded::ByPolicy,
        Excluded::NotInPolicy,
        Excluded::Unreadable,
    ] {
        let sandbox = worked_in(sandbox());
        excluded.apply(&sandbox);
        let mut before = stored(&sandbox);
        let mut surfaces = 0;
        let mut note = |surface: &str, output: &str| {
            surfaces += 1;
            // The user sees what they delete.
            let is_passed_on = output.contains(WORD) && !surface.starts_with("midstride forget");
            assert!(!is_passed_on, "{excluded:?}: {surface} passed it on: {output}");
            let after = stored(&sandbox);
            if !CHANGING.iter().any(|changing| surface.starts_with(changing)) {
                after.0.is_as_before(&before.0, &format!("{excluded:?}: {surface}"));
                assert_eq!(after.1, before.1, "{excluded:?}: {surface}");
            }
            before = after;
        };
        run_tools(&sandbox, &mut note);
        run_hooks(&sandbox, &mut note);
        // All go through one function, so two are enough for the slow part.
        if matches!(excluded, Excluded::ByPattern | Excluded::ByPolicy) {
            run_commands(&sandbox, &mut note);
            assert!(surfaces > 100, "{surfaces}");
        }
    }
}
