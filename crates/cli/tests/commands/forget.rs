//! Tests of `forget`: it asks, records a tombstone, and removes the text in every clone.

use super::log::Scripted;
use super::shop;
use super::terminal::at_terminal;
use midstride_testkit::{Run, Sandbox, json_items};

const PROGRAM: &str = env!("CARGO_BIN_EXE_midstride");
/// A word that no redaction rule matches.
const SECRET: &str = "zanzibarquux";

/// Runs midstride in a folder next to the project.
fn run_in(sandbox: &Sandbox, folder: &str, arguments: &[&str]) -> Run {
    let mut command = sandbox.command(PROGRAM);
    sandbox.finish(command.current_dir(sandbox.root().join(folder)).args(arguments))
}

fn run_as_user(sandbox: &Sandbox, folder: &str, arguments: &[&str]) -> Run {
    sandbox.as_user().run(["-C", folder].iter().chain(arguments))
}

/// A run without the ids of texts and commits, which differ from run to run.
fn steady(run: &Run) -> String {
    const LENGTH: usize = 12;
    let text = run.to_string();
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let steady = words.map(|word| {
        let plain = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_id = plain.len() == LENGTH && plain.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_id { word.replace(plain, "[ID]") } else { word.to_owned() }
    });
    steady.collect()
}

/// A committed handoff whose second text contained the secret; it is revised now.
fn revised() -> Sandbox {
    let sandbox = shop();
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "first texts"]);
    let said = format!("The word is {SECRET}.\n");
    for (reason, body) in [("said it", said.as_str()), ("took it out", "It is out.\n")] {
        let asked = ["edit", "login-loop", "--reason", reason, "--body", "-"];
        sandbox.run_with_input(&asked, body).exits(0);
    }
    sandbox
}

/// The same in two clones, with a bare repository between them that has the text too.
fn two_clones() -> Sandbox {
    let sandbox = revised();
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "handoffs"]);
    sandbox.git(&["init", "--quiet", "--bare", "--initial-branch=main", "../hub.git"]);
    sandbox.git(&["remote", "add", "origin", "../hub.git"]);
    sandbox.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    sandbox.git(&["clone", "--quiet", "../hub.git", "../second"]);
    sandbox.as_user().run(["-C", "../second", "trust", "--yes"]).exits(0);
    for folder in [".", "../second"] {
        run_in(&sandbox, folder, &["sync"]).exits(0);
        assert!(has_secret(&sandbox, folder));
    }
    sandbox
}

/// Whether any object in a repository contains the secret.
fn has_secret(sandbox: &Sandbox, folder: &str) -> bool {
    let all = ["-C", folder, "cat-file", "--batch-all-objects", "--batch"];
    let output = sandbox.command("git").args(all).output().unwrap();
    assert!(!output.stdout.is_empty());
    output.stdout.windows(SECRET.len()).any(|window| window == SECRET.as_bytes())
}

/// The trees in the other repository, by reference.
fn references(sandbox: &Sandbox) -> String {
    let output = sandbox.command("git").args(["-C", "../hub.git", "for-each-ref"]).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

#[test]
fn a_text_is_shown_before_it_is_forgotten_and_reported_afterwards() {
    let sandbox = revised();
    insta::assert_snapshot!(steady(&sandbox.as_user().run(["forget", "login-loop@2"])), @"
    exit 1
    ----- stderr -----
    login-loop@2, replaced 2026-03-21 17:24, 400 bytes
      [COMMIT]
      Login loops on Safari
    Its text will be permanently deleted; the history will still list it. A tombstone will remain, and `midstride sync` will propose the deletion to other clones.
    Nothing was changed.
    ----- terminal -----
    Permanently delete login-loop@2? [y/N]
    ");
    let asked = ["forget", "login-loop@2", "--yes", "--reason", "the word"];
    insta::assert_snapshot!(steady(&sandbox.run(asked)), @"
    exit 2
    ----- stderr -----
    login-loop@2, replaced 2026-03-21 17:24, 400 bytes
      [COMMIT]
      Login loops on Safari
    error: cannot prompt: no terminal
    hint: run this in a terminal: midstride -C [ROOT] forget login-loop@2 --reason 'the word'
    ");
    insta::assert_snapshot!(steady(&sandbox.as_user().run(asked)), @"
    exit 0
    ----- stderr -----
    login-loop@2, replaced 2026-03-21 17:24, 400 bytes
      [COMMIT]
      Login loops on Safari
    Forgotten: revision of login-loop ([ID]), on 2026-03-21 by tester: the word
    Other stored copies may contain it too. To remove them: midstride forget login-loop@1
    ----- terminal -----
    Permanently delete login-loop@2? [y/N] y (--yes)
    ");
    insta::assert_snapshot!(steady(&sandbox.as_user().run(["forget", "login-loop@2"])), @"
    exit 0
    ----- stderr -----
    Already forgotten: revision of login-loop ([ID]), on 2026-03-21 by tester: the word
    Other stored copies may contain it too. To remove them: midstride forget login-loop@1
    ");
    insta::assert_snapshot!(steady(&sandbox.run(["show", "login-loop@2"])), @"
    exit 2
    ----- stderr -----
    error: revision `login-loop@2` was forgotten on 2026-03-21 by tester: the word
    hint: the history still lists it, but its text was permanently deleted
    ");
    insta::assert_snapshot!(steady(&sandbox.run(["diff", "login-loop@2"])), @"
    exit 2
    ----- stderr -----
    error: revision `login-loop@2` was forgotten on 2026-03-21 by tester: the word
    hint: the history still lists it, but its text was permanently deleted
    ");
    insta::assert_snapshot!(steady(&sandbox.as_user().run(["forget", "login-loop@3"])), @"
    exit 2
    ----- stderr -----
    error: `login-loop@3` is the current document, which midstride does not delete
    hint: remove it first: midstride edit login-loop
    hint: then midstride forget login-loop@3
    ");
    insta::assert_snapshot!(steady(&sandbox.as_user().run(["forget", "login"])), @"
    exit 2
    ----- stderr -----
    error: `login` is not the id of a stored version
    hint: an id is hexadecimal; type at least 4 digits
    hint: `ID@2` is the second revision of a handoff
    ");
    insta::assert_snapshot!(steady(&sandbox.as_user().run(["forget", "00000000"])), @"
    exit 2
    ----- stderr -----
    error: no stored version has an id that starts with `00000000`
    hint: `midstride events --json` lists the ids, in `was` and `blob`
    hint: `ID@2` is the second revision of a handoff
    ");
    assert!(!has_secret(&sandbox, "."));
    let events = sandbox.run(["events"]).exits(0);
    assert!(events.stdout.contains("forgotten: the word"), "{events}");
    let doctor = sandbox.run(["doctor", "--json"]);
    let doctor: serde_json::Value = serde_json::from_str(&doctor.stdout).unwrap();
    assert_eq!(doctor["ledger"]["forgotten"], 1);
}

#[test]
fn an_ambiguous_prefix_lists_its_candidates() {
    let sandbox = shop();
    let was = |digit: &str| format!("abcd{}", digit.repeat(36));
    let text = format!(
        "---\nhandoff:\n  id: two\n  uid: two\n  revisions:\n    - {{was: {}}}\n    - {{was: {}}}\n---\n",
        was("1"),
        was("2"),
    );
    sandbox.write(".midstride/handoffs/two.md", text);
    insta::assert_snapshot!(steady(&sandbox.as_user().run(["forget", "abcd", "--yes"])), @"
    exit 2
    ----- stderr -----
    error: `abcd` matches several stored versions
    hint: [COMMIT]  two@1
    hint: [COMMIT]  two@2
    hint: type more of the id
    ");
    let run = sandbox.as_user().run(["forget", "ABCD1", "--yes", "--json"]).exits(0);
    let done: serde_json::Value = json_items(&run.stdout);
    assert_eq!((&done[0]["new"], &done[0]["names"][0]), (&true.into(), &"two@1".into()), "{run}");
}

#[test]
fn committed_text_is_named_and_stays() {
    let sandbox = shop();
    let said = format!("The word is {SECRET}.\n");
    let asked = ["edit", "login-loop", "--reason", "said it", "--body", "-"];
    sandbox.run_with_input(&asked, &said).exits(0);
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "with it"]);
    let asked = ["edit", "login-loop", "--reason", "took it out", "--body", "-"];
    sandbox.run_with_input(&asked, "It is out.\n").exits(0);
    insta::assert_snapshot!(steady(&sandbox.as_user().run(["forget", "login-loop@2", "--yes"])), @"
    exit 1
    ----- stderr -----
    login-loop@2, replaced 2026-03-21 17:24, 400 bytes
      [COMMIT]
      Login loops on Safari
    Forgotten: revision of login-loop ([ID]), on 2026-03-21 by tester
    warning: git still references it; midstride does not change that
    hint: [ID]  .midstride/handoffs/login-loop.md  with it
    hint: staged: .midstride/handoffs/login-loop.md
    hint: rotate the secret; only rewriting the history removes it from git
    Other stored copies may contain it too. To remove them: midstride forget login-loop@1
    ----- terminal -----
    Permanently delete login-loop@2? [y/N] y (--yes)
    ");
    sandbox.git(&["fsck", "--full", "--no-dangling"]);
}

#[test]
fn what_one_clone_forgets_is_proposed_to_the_other() {
    let sandbox = two_clones();
    insta::assert_snapshot!(steady(&sandbox.as_user().run(["forget", "login-loop@2", "--yes", "--reason", "word"])), @"
    exit 0
    ----- stderr -----
    login-loop@2, replaced 2026-03-21 17:24, 400 bytes
      [COMMIT]
      Login loops on Safari
    Forgotten: revision of login-loop ([ID]), on 2026-03-21 by tester: word
    Other stored copies may contain it too. To remove them: midstride forget login-loop@1
    Next: run midstride sync to remove all references to it from the remote repository
    Its data remains there until `git gc --prune=now` runs in that repository
    ----- terminal -----
    Permanently delete login-loop@2? [y/N] y (--yes)
    ");
    insta::assert_snapshot!(steady(&run_in(&sandbox, ".", &["sync"])), @"
    exit 0
    ----- stderr -----
    Sent tombstones for 1 forgotten item to origin; other clones ask before they delete anything
    0 revisions received from origin, 0 revisions sent
    Both sides now have every revision of 1 handoff
    ");
    insta::assert_snapshot!(steady(&run_in(&sandbox, "../second", &["sync"])), @"
    exit 0
    ----- stderr -----
    Forgotten in another clone, still here: revision of login-loop ([ID]), on 2026-03-21 by origin, as `tester`: word
    Next: run midstride forget --review to remove it here too
    0 revisions received from origin, 0 revisions sent
    Both sides now have every revision of 1 handoff
    ");
    assert!(has_secret(&sandbox, "../second"));
    run_in(&sandbox, "../second", &["show", "login-loop@2"]).exits(0);
    let again = run_in(&sandbox, "../second", &["sync"]).exits(0);
    assert!(!again.stderr.contains("login-loop"), "a proposal is announced once: {again}");
    insta::assert_snapshot!(steady(&run_as_user(&sandbox, "../second", &["forget", "--review"])), @"
    exit 1
    ----- stderr -----
    Forgotten in another clone: revision of login-loop ([ID]), on 2026-03-21 by origin, as `tester`: word
    login-loop@2, replaced 2026-03-21 17:24, 400 bytes
      [COMMIT]
      Login loops on Safari
    Its text will be permanently deleted; the history will still list it. A tombstone will remain, and `midstride sync` will propose the deletion to other clones.
    Kept here.
    ----- terminal -----
    Permanently delete login-loop@2? [y/N]
    ");
    insta::assert_snapshot!(steady(&run_as_user(&sandbox, "../second", &["forget", "--review", "--yes"])), @"
    exit 0
    ----- stderr -----
    Forgotten in another clone: revision of login-loop ([ID]), on 2026-03-21 by origin, as `tester`: word
    login-loop@2, replaced 2026-03-21 17:24, 400 bytes
      [COMMIT]
      Login loops on Safari
    Forgotten: revision of login-loop ([ID]), on 2026-03-21 by tester: word
    Other stored copies may contain it too. To remove them: midstride forget login-loop@1
    Next: run midstride sync to remove all references to it from the remote repository
    Its data remains there until `git gc --prune=now` runs in that repository
    ----- terminal -----
    Permanently delete login-loop@2? [y/N] y (--yes)
    ");
    insta::assert_snapshot!(steady(&run_as_user(&sandbox, "../second", &["forget", "--review"])), @"
    exit 0
    ----- stderr -----
    Everything forgotten in other clones is also deleted here.
    ");
    for folder in [".", "../second"] {
        assert!(!has_secret(&sandbox, folder), "{folder}");
        let shown = run_in(&sandbox, folder, &["show", "login-loop@2"]).exits(2);
        assert!(shown.stderr.contains("was forgotten on 2026-03-21 by tester: word"), "{shown}");
        run_in(&sandbox, folder, &["show", "login-loop@1"]).exits(0);
    }
    sandbox.git(&["-C", "../hub.git", "gc", "--quiet", "--prune=now"]);
    assert!(!has_secret(&sandbox, "../hub.git"), "the other repository can let go of it");
    for folder in [".", "../second"] {
        run_in(&sandbox, folder, &["sync"]).exits(0);
    }
    let before = references(&sandbox);
    for folder in [".", "../second"] {
        run_in(&sandbox, folder, &["sync"]).exits(0);
    }
    assert_eq!(references(&sandbox), before, "nothing is left to do");
}

/// Pushes a tombstone for a text, as anyone with access to the remote can.
fn push_tombstone(sandbox: &Sandbox, hash: &str) {
    let event = serde_json::json!({
        "specversion": "1.0", "id": "0a-1", "source": "the user", "type": "midstride.text.forgotten.v1",
        "subject": format!("text/{hash}"), "time": "2026-03-21T17:24:00Z",
        "data": {"kind": "text.forgotten", "hash": hash, "what": "revision", "shared": true, "kept": true},
    });
    sandbox.write("../event.json", event.to_string());
    let script = format!(
        "set -e; cd ../hub.git; blob=$(git hash-object -w ../event.json); \
         leaf=$(printf '100644 blob %s\\t0a-1\\n' $blob | git mktree); \
         mid=$(printf '040000 tree %s\\t{hash}\\n' $leaf | git mktree); \
         top=$(printf '040000 tree %s\\t{}\\n' $mid | git mktree); \
         git update-ref refs/midstride/forgotten $top",
        &hash[..2]
    );
    sandbox.finish(sandbox.command("sh").args(["-c", &script])).exits(0);
}

#[test]
fn a_tombstone_from_the_remote_removes_nothing() {
    let sandbox = two_clones();
    sandbox.write("dangling.txt", "an object of the user that nothing refers to\n");
    sandbox.git(&["hash-object", "-w", "dangling.txt"]);
    let hash = |path: &str| {
        let output = sandbox.command("git").args(["hash-object", path]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let dangling = hash("dangling.txt");
    let current = hash(".midstride/handoffs/login-loop.md");
    for hash in [&current, &dangling] {
        push_tombstone(&sandbox, hash);
        let said = run_in(&sandbox, ".", &["sync"]).exits(0).stderr;
        assert!(said.contains("Forgotten in another clone, still here:"), "{said}");
        assert!(said.contains("by origin, as `the user`"), "{said}");
        let events = sandbox.run(["events"]).exits(0).stdout;
        assert!(
            events.contains("proposed to forget ") && events.contains("(by origin, as `the user`)"),
            "{events}"
        );
        assert!(!events.contains(" forgotten"), "{events}");
        sandbox.git(&["cat-file", "-e", hash]);
    }
    let asked = ["edit", "login-loop", "--reason", "more", "--body", "-"];
    sandbox.run_with_input(&asked, "More.\n").exits(0);
    let id = hash(".midstride/handoffs/login-loop.md");
    assert_ne!(id, current, "the document has its new text");
    sandbox.git(&["cat-file", "-e", &current]);
    assert!(
        sandbox.run(["show", "login-loop@3"]).exits(0).stdout.contains("Login loops on Safari")
    );
    // A text that is not ours stays even if the user confirms.
    sandbox.as_user().run(["forget", "--review", "--yes"]);
    sandbox.git(&["cat-file", "-e", &dangling]);
}

#[test]
fn a_clone_that_syncs_first_does_not_restore_the_text() {
    let sandbox = two_clones();
    let trees = references(&sandbox);
    run_as_user(&sandbox, ".", &["forget", "login-loop@2", "--yes"]).exits(0);
    // The other clone forgets it at the same time for another reason, and syncs first.
    run_as_user(&sandbox, "../second", &["forget", "login-loop@2", "--yes", "--reason", "mine"])
        .exits(0);
    for folder in ["../second", ".", "../second"] {
        run_in(&sandbox, folder, &["sync"]).exits(0);
        assert!(!has_secret(&sandbox, folder), "{folder}");
    }
    // A user with an older midstride pushes their texts, merged by union.
    let mut restored = 0;
    for line in trees.lines() {
        let mut words = line.split_whitespace();
        let (tree, name) = (words.next().unwrap(), words.nth(1).unwrap());
        if name.starts_with("refs/midstride/handoffs/") {
            // The sandbox hides ids, so git is run directly.
            let restore = ["-C", "../hub.git", "update-ref", name, tree];
            assert!(sandbox.command("git").args(restore).status().unwrap().success());
            restored += 1;
        }
    }
    assert!(restored > 0 && has_secret(&sandbox, "../hub.git"));
    for folder in [".", "../second"] {
        run_in(&sandbox, folder, &["sync"]).exits(0);
        assert!(!has_secret(&sandbox, folder), "{folder}");
        sandbox.git(&["-C", folder, "fsck", "--full", "--no-dangling"]);
    }
    sandbox.git(&["-C", "../hub.git", "gc", "--quiet", "--prune=now"]);
    assert!(!has_secret(&sandbox, "../hub.git"));
}

#[test]
fn private_tombstones_are_not_shared() {
    let sandbox = two_clones();
    let new = ["new", "Mine", "--private", "--no-edit", "--summary", "For me"];
    sandbox.run(new).exits(0);
    let asked = ["edit", "mine", "--reason", "more", "--body", "-"];
    sandbox.run_with_input(&asked, "More.\n").exits(0);
    sandbox.as_user().run(["forget", "mine@1", "--yes"]).exits(0);
    sandbox.as_user().run(["forget", "mine@1", "--yes"]).exits(0);
    sandbox.run(["sync"]).exits(0);
    assert!(!references(&sandbox).contains("forgotten"));
}

#[test]
fn sessions_to_delete_stay_in_columns_in_a_narrow_terminal() {
    let sandbox = shop();
    let id = "5e550009-4c00-7000-8000-00000000dddd";
    Scripted::new(&sandbox, id, "2026-03-20")
        .ask("Make the pages of the market fast again, and then look at the search page, too")
        .run("npm test", "Tests: 3 passed", false)
        .save();
    sandbox.run(["session", "capture", "--session", id]).exits(0);
    let run = at_terminal(&sandbox, 72, &["forget", "--all"], &[]);
    let rows: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("  2026-")).collect();
    assert!(rows.len() == 1 && rows[0].chars().count() <= 72, "{run}");
    assert!(rows[0].contains("5e550009  Make the pages of the market"), "{run}");
    assert!(rows[0].ends_with('…'), "{run}");
}
