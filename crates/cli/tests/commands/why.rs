//! Tests of `why`: the session and the handoffs behind a commit.

use super::log::Scripted;
use crate::sandbox;
use midstride_testkit::Sandbox;
use serde_json::{Value, json};

const MADE_IT: &str = "5e550001-4c00-7000-8000-00000000aaaa";
const OTHER: &str = "5e550002-4c00-7000-8000-00000000bbbb";

/// A repository with a commit of a session, one of the user, and a handoff that the session wrote.
fn explained() -> Sandbox {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init", "--private"]).exits(0);
    sandbox.write("cache.ts", "export const ttl = 60;\n");
    sandbox.git(&["add", "cache.ts"]);
    sandbox.git(&["commit", "--quiet", "--message", "Cache pages"]);
    let id = sandbox.git(&["log", "-1", "--format=%h %s", "--abbrev=8"]);
    let id = id.split(' ').next().unwrap().to_owned();
    sandbox.write("cache.ts", "export const ttl = 60;\nexport const max = 9;\n");
    sandbox.git(&["commit", "--quiet", "--all", "--message", "Limit the cache"]);
    Scripted::new(&sandbox, MADE_IT, "2026-03-19")
        .ask("Make the market pages fast")
        .say("I look at the pages first.")
        .ask("Now cache them for a minute")
        .run("git commit -m 'Cache pages'", &format!("[main {id}] Cache pages"), false)
        .say("I decided to cache for 60 s, because prices change each minute.")
        .save();
    // The subject alone proves nothing.
    Scripted::new(&sandbox, OTHER, "2026-03-20")
        .ask("Limit the cache")
        .run("git commit -m 'Limit the cache'", "[main 0000000] Limit the cache", false)
        .say("Done.")
        .save();
    let handoff = format!(
        "---\nhandoff:\n  id: cache\n  title: The cache\n  status: resolved\n  decisions_made:\n    \
         - decision: Sixty seconds\n      rationale: Prices change each minute\n  wrong_turns:\n    \
         - tried: Cache forever\n      why_wrong: Prices were stale\n  resolution:\n    \
         outcome: Fast\n    commit: {id}\n---\n\nFast.\n"
    );
    sandbox.write(".git/midstride/handoffs/cache.md", handoff);
    sandbox
}

#[test]
fn a_commit_is_explained_by_the_session_that_made_it() {
    let sandbox = explained();
    let run = sandbox.run(["why", "HEAD~1"]);
    let commit = run.stdout.split(' ').next().unwrap().to_owned();
    insta::assert_snapshot!(run.to_string().replace(&commit, "[SHORT]"), @"
    exit 0
    ----- stdout -----
    [SHORT] Cache pages
      committed 2026-03-21 17:24 UTC

    Session 5e550001 (Claude Code)
      2026-03-19 10:00 UTC to 2026-03-19 10:05 UTC
      Goal
      > Make the market pages fast
      Request before the commit
      > Now cache them for a minute
      Report after the commit
      > I decided to cache for 60 s, because prices change each minute.
      Decisions
      > I decided to cache for 60 s, because prices change each minute.

    Handoff cache: The cache
      Decisions
      > Sixty seconds (Prices change each minute)
      Wrong turns
      > Cache forever (Prices were stale)
    ");
    let run = sandbox.run(["why", "cache.ts:1", "--json"]).exits(0);
    let why: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(why["schema"], "why/1");
    assert_eq!(
        why["line"],
        json!({"path": "cache.ts", "number": 1, "text": "export const ttl = 60;"})
    );
    assert_eq!(why["session"]["request"], "Now cache them for a minute");
    assert_eq!(why["handoffs"][0]["wrong_turns"][0]["tried"], "Cache forever");
    // A deleted transcript changes nothing once the session is captured.
    sandbox.run(["checkpoint", "--session", MADE_IT]).exits(0);
    std::fs::remove_dir_all(sandbox.home().join(".claude")).unwrap();
    let captured = sandbox.run(["why", "cache.ts:1", "--json"]).exits(0);
    assert_eq!(captured.stdout, run.stdout);
}

#[test]
fn a_commit_without_a_session_is_not_guessed() {
    let sandbox = explained();
    let run = sandbox.run(["why", "cache.ts:2"]).exits(1);
    assert!(run.stdout.contains("No captured session shows this commit."), "{run}");
    assert!(!run.stdout.contains("Session 5e55"), "{run}");
}

#[test]
fn what_cannot_be_explained_is_named() {
    let sandbox = explained();
    sandbox.write("cache.ts", "export const ttl = 61;\n");
    sandbox.write("new.ts", "export {};\n");
    let mut all = String::new();
    for target in ["0badc0de", "cache.ts:1", "cache.ts:7", "new.ts:1", "../home/x.ts:1", "no.ts:1"]
    {
        all.push_str(&sandbox.run(["why", target]).exits(2).stderr);
    }
    insta::assert_snapshot!(all, @"
    error: there is no commit `0badc0de`
    hint: give a commit, or a line such as src/app.rs:14
    error: `cache.ts:1` is not committed yet
    hint: commit it first
    error: `cache.ts` ends at line 1
    error: `new.ts` is not in any commit
    hint: commit it first
    error: `[ROOT]/../home/x.ts` points outside the project
    hint: midstride stays inside the project; move the file into the project
    error: `[ROOT]/no.ts` does not exist
    ");
}

#[test]
fn a_commit_without_files_is_explained() {
    let sandbox = sandbox().repository();
    let run = sandbox.run(["why", "HEAD"]).exits(1);
    assert!(run.stdout.contains("start"), "{run}");
}

#[test]
fn a_rebased_commit_is_explained_by_subject_time_and_files() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init", "--private"]).exits(0);
    let commit = |file: &str, time: &str| {
        sandbox.write(file, "export {};\n");
        sandbox.git(&["add", "--all"]);
        sandbox.git(&["commit", "--quiet", "--message", "Cache pages", "--date", time]);
    };
    commit("cache.ts", "2026-03-19T10:02:00Z");
    Scripted::new(&sandbox, MADE_IT, "2026-03-19")
        .ask("Cache the pages")
        .run("git commit -m 'Cache pages'", "[main ad570ac] Cache pages\n 1 file changed", false)
        .say("Cached.")
        .save();
    let run = sandbox.run(["why", "HEAD"]).exits(0);
    assert!(run.stdout.contains("made as ad570ac, before it was rewritten\n"), "{run}");
    assert!(run.stdout.contains("Session 5e550001 (Claude Code)"), "{run}");
    let why: Value =
        serde_json::from_str(&sandbox.run(["why", "HEAD", "--json"]).exits(0).stdout).unwrap();
    assert_eq!(why["session"]["made_as"], "ad570ac");
    // The same subject at another time, and with other files, is another commit.
    commit("other.ts", "2026-03-19T12:00:00Z");
    sandbox.run(["why", "HEAD"]).exits(1);
    sandbox.write("third.ts", "export {};\n");
    commit("fourth.ts", "2026-03-19T10:02:00Z");
    sandbox.run(["why", "HEAD"]).exits(1);
}

#[test]
fn only_choices_about_the_commit_are_decisions() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init", "--private"]).exits(0);
    sandbox.write("cache.ts", "export const ttl = 60;\n");
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "Cache pages"]);
    let id = sandbox.git(&["log", "-1", "--format=%h %s", "--abbrev=8"]);
    let id = id.split(' ').next().unwrap().to_owned();
    Scripted::new(&sandbox, MADE_IT, "2026-03-19")
        .ask("Review the branch")
        .say(
            "I reviewed it.\n\n## Decisions\n\n- Not blocking, just worth thinking about `Loader`\n\
             - I decided to keep `loader.ts`, because the worker imports it\n\
             - I chose a map in `cache.ts`, because keys are strings\n",
        )
        .ask("Now cache the pages for a minute")
        .run("git commit -m 'Cache pages'", &format!("[main {id}] Cache pages"), false)
        .say(
            "The pages are cached.\n\n## Decisions\n\n- I went with 60 s, because prices change \
             each minute\n- `Expiry` could be a setting\n",
        )
        .ask("Now the search")
        .say("Done.\n\n## Decisions\n\n- I decided to search by `prefix`, because it is fast\n")
        .save();
    let why: Value =
        serde_json::from_str(&sandbox.run(["why", "HEAD", "--json"]).exits(0).stdout).unwrap();
    let mut decisions: Vec<&str> = why["session"]["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap())
        .collect();
    decisions.sort_unstable();
    assert_eq!(
        decisions,
        [
            "I chose a map in `cache.ts`, because keys are strings",
            "I went with 60 s, because prices change each minute",
        ]
    );
}
