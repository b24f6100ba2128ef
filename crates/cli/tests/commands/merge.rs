//! Tests of merge and sync, with real branches, clones and remotes.

use super::shop;
use midstride_testkit::Sandbox;

const FILE: &str = ".midstride/handoffs/market-page-perf.md";

const LATIN: &str = ".midstride/handoffs/latin.md";

/// The shop with everything committed and the merge driver installed.
fn driven() -> Sandbox {
    let sandbox = shop();
    sandbox.as_user().run(["init", "--merge-driver"]).exits(0);
    // A first revision, so that the handoff has the same uid everywhere.
    sandbox.run(["answer", "market", "a1", "--holds"]).exits(0);
    commit(&sandbox, "all");
    sandbox
}

fn commit(sandbox: &Sandbox, message: &str) {
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "-m", message]);
}

/// Two branches that changed the same handoff: `main` answered, `other` added to the text.
fn two_branches(sandbox: &Sandbox) -> (String, String) {
    sandbox.git(&["checkout", "--quiet", "-b", "other"]);
    let text = sandbox.read(FILE).replace("14,290 ms.", "14,290 ms. Tokyo takes 381 ms.");
    sandbox.write("next.md", text);
    sandbox.run(["edit", "market", "--reason", "Tokyo too", "--by", "eve", "--body", "next.md"]);
    std::fs::remove_file(sandbox.root().join("next.md")).unwrap();
    commit(sandbox, "Tokyo");
    let theirs = shown(sandbox);
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.run(["answer", "market", "q1", "Ten minutes", "--by", "product"]).exits(0);
    commit(sandbox, "answered");
    (shown(sandbox), theirs)
}

/// The document as the sandbox shows it, without what differs from run to run.
fn shown(sandbox: &Sandbox) -> String {
    sandbox.finish(sandbox.command("cat").arg(FILE)).exits(0).stdout
}

/// Asserts that both sides' work is in the document and every text can be read by its number.
fn has_both(sandbox: &Sandbox, ours: &str, theirs: &str) {
    let text = sandbox.read(FILE);
    assert!(text.contains("      answer: Ten minutes\n"), "{text}");
    assert!(text.contains("Tokyo takes 381 ms."), "{text}");
    assert!(!text.contains("<<<<<<<"), "{text}");
    let all = texts(sandbox, ".");
    for side in [ours, theirs] {
        assert!(all.iter().any(|text| text == side), "a side is lost");
    }
    let history = sandbox.run(["show", "market", "--history"]).exits(0).stdout;
    for reason in ["Tokyo too", "answered q1", "merged"] {
        assert_eq!(history.matches(reason).count(), 1, "{history}");
    }
    sandbox.run(["check", "market", "--fail-on", "error"]).exits(0);
}

/// The texts of all revisions but the first, which is not stored.
fn texts(sandbox: &Sandbox, folder: &str) -> Vec<String> {
    let shown = |number: usize| sandbox.run(["-C", folder, "show", &format!("market@{number}")]);
    let is_there = |number: &usize| !shown(*number).stderr.contains("there is no");
    (2..=99).take_while(is_there).map(|number| shown(number).exits(0).stdout).collect()
}

#[test]
fn git_merges_handoffs_by_meaning() {
    let sandbox = driven();
    let (ours, theirs) = two_branches(&sandbox);
    sandbox.git(&["merge", "--quiet", "--no-edit", "other"]);
    has_both(&sandbox, &ours, &theirs);
    let merged = sandbox.read(FILE);
    // Merging in the other direction gives the same text.
    sandbox.git(&["checkout", "--quiet", "other"]);
    sandbox.git(&["merge", "--quiet", "--no-edit", "main^"]);
    assert_eq!(sandbox.read(FILE), merged);
    // The next change continues from there and reports no outside edit.
    let run =
        sandbox.run(["review", "market", "--by", "eve", "--challenged", "x", "--verdict", "held"]);
    assert!(!run.stderr.contains("outside"), "{run}");
    let history = sandbox.run(["show", "market", "--history"]).stdout;
    assert_eq!(history.matches("@6").count(), 1, "{history}");
}

#[test]
fn a_rebase_merges_handoffs_by_meaning() {
    let sandbox = driven();
    let (ours, theirs) = two_branches(&sandbox);
    sandbox.git(&["checkout", "--quiet", "other"]);
    sandbox.git(&["rebase", "--quiet", "main"]);
    has_both(&sandbox, &ours, &theirs);
}

#[test]
fn a_cherry_pick_merges_handoffs_by_meaning() {
    let sandbox = driven();
    let (ours, theirs) = two_branches(&sandbox);
    sandbox.git(&["cherry-pick", "other"]);
    has_both(&sandbox, &ours, &theirs);
}

#[test]
fn conflicts_are_reported_and_can_be_settled() {
    let sandbox = driven();
    sandbox.git(&["checkout", "--quiet", "-b", "other"]);
    sandbox.run(["answer", "market", "q1", "An hour", "--by", "eve"]).exits(0);
    commit(&sandbox, "no");
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.run(["answer", "market", "q1", "Ten minutes", "--by", "bob"]).exits(0);
    commit(&sandbox, "yes");
    let run = sandbox.finish(sandbox.command("git").args(["merge", "other"])).exits(1);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(said.contains("both sides changed open_questions[0].answer"), "{said}");
    let found = sandbox.run(["check", "market", "--quiet"]).exits(1).stdout;
    assert!(found.contains("error[H006]"), "{found}");
    insta::assert_snapshot!(sandbox.run(["check", "market", "--quiet"]), @"
    exit 1
    ----- stdout -----
    error[H006]: unresolved merge conflict
      --> .midstride/handoffs/market-page-perf.md:23:1
       |
    23 | <<<<<<< eve, 2026-03-21T17:24:00Z
       | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       |
       = help: Run `midstride merge PATH` to merge everything that can be merged automatically. Then choose one side of each remaining conflict and delete the conflict markers.
    ----- stderr -----
    1 document checked: 1 error
    ");
    insta::assert_snapshot!(sandbox.run(["merge", FILE]), @"
    exit 1
    ----- stderr -----
    .midstride/handoffs/market-page-perf.md: both sides changed open_questions[0].answer
    Its previous text is kept; to see it: git show [COMMIT]
    Next: resolve the conflicts between the markers, then git add the file
    ");
    let text = sandbox.read(FILE);
    let lines = text.lines().filter(|line| !line.starts_with(['<', '=', '>']));
    let settled: Vec<&str> = lines.filter(|line| *line != "      answer: An hour").collect();
    sandbox.write(FILE, settled.join("\n") + "\n");
    insta::assert_snapshot!(sandbox.run(["merge", FILE]), @"
    exit 2
    ----- stderr -----
    error: `.midstride/handoffs/market-page-perf.md` no longer has conflict markers
    hint: git add .midstride/handoffs/market-page-perf.md
    ");
    sandbox.run(["check", "market", "--fail-on", "error"]).exits(0);
}

#[test]
fn without_the_driver_a_conflicted_file_is_repaired_from_the_index() {
    let sandbox = driven();
    sandbox.as_user().run(["init", "--no-merge-driver"]).exits(0);
    commit(&sandbox, "no driver");
    let (ours, theirs) = two_branches(&sandbox);
    // Both added a history entry at the same place, which git cannot merge.
    sandbox.finish(sandbox.command("git").args(["merge", "other"])).exits(1);
    assert!(sandbox.read(FILE).contains("<<<<<<<"));
    insta::assert_snapshot!(sandbox.run(["merge", FILE]), @"
    exit 0
    ----- stderr -----
    Its previous text is kept; to see it: git show [COMMIT]
    Merged .midstride/handoffs/market-page-perf.md
    Next: git add .midstride/handoffs/market-page-perf.md
    ");
    has_both(&sandbox, &ours, &theirs);
    assert!(sandbox.git(&["status", "--short"]).contains("UU "), "nothing is staged by us");
    insta::assert_snapshot!(sandbox.run(["merge", ".midstride/handoffs/login-loop.md"]), @"
    exit 2
    ----- stderr -----
    error: git reports no conflict in `.midstride/handoffs/login-loop.md`
    hint: run `midstride check .midstride/handoffs/login-loop.md` to see what remains
    ");
    insta::assert_snapshot!(sandbox.run(["merge", "nowhere.md"]), @"
    exit 2
    ----- stderr -----
    error: `[ROOT]/nowhere.md` does not exist
    ");
}

#[test]
fn non_utf8_files_are_merged_like_git_does() {
    let sandbox = driven();
    let write = |title: &str, text: &str| {
        let head = format!("---\nhandoff:\n  id: latin\n  uid: one\n  title: {title}\n---\n\n");
        let bytes = [head.as_bytes(), b"Caf\xe9.\n\n", text.as_bytes(), b"\n"].concat();
        std::fs::write(sandbox.root().join(LATIN), bytes).unwrap();
        commit(&sandbox, title);
    };
    write("t", "Text.");
    sandbox.git(&["checkout", "--quiet", "-b", "other"]);
    write("t", "Theirs.");
    sandbox.git(&["checkout", "--quiet", "main"]);
    write("mine", "Text.");
    sandbox.git(&["merge", "--quiet", "--no-edit", "other"]);
    let bytes = || std::fs::read(sandbox.root().join(LATIN)).unwrap();
    let merged = b"  title: mine\n---\n\nCaf\xe9.\n\nTheirs.\n";
    assert!(bytes().ends_with(merged), "{:?}", String::from_utf8_lossy(&bytes()));

    // If both changed the same line, both sides stay, and git still reports a conflict.
    sandbox.git(&["reset", "--quiet", "--hard", "HEAD^"]);
    write("mine", "Mine.");
    let run = sandbox.finish(sandbox.command("git").args(["merge", "other"])).exits(1);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(said.contains("both sides changed Mine."), "{said}");
    let marked = b"Caf\xe9.\n\n<<<<<<< ours\nMine.\n=======\nTheirs.\n>>>>>>> theirs\n";
    assert!(bytes().ends_with(marked), "{:?}", String::from_utf8_lossy(&bytes()));
    assert!(sandbox.git(&["status", "--short"]).contains("UU "));
    insta::assert_snapshot!(sandbox.run(["merge", LATIN]), @"
    exit 1
    ----- stderr -----
    .midstride/handoffs/latin.md: both sides changed Mine.
    Its previous text is kept; to see it: git show [COMMIT]
    Next: resolve the conflicts between the markers, then git add the file
    ");
    assert!(bytes().ends_with(marked), "{:?}", String::from_utf8_lossy(&bytes()));
}

#[test]
fn binary_files_stay_unchanged() {
    let sandbox = driven();
    let write = |text: &[u8]| {
        std::fs::write(sandbox.root().join(LATIN), text).unwrap();
        commit(&sandbox, "binary");
    };
    write(b"\xff\0base\n");
    sandbox.git(&["checkout", "--quiet", "-b", "other"]);
    write(b"\xff\0theirs\n");
    sandbox.git(&["checkout", "--quiet", "main"]);
    write(b"\xff\0ours\n");
    let run = sandbox.finish(sandbox.command("git").args(["merge", "other"])).exits(1);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(said.contains("cannot be merged line by line"), "{said}");
    assert_eq!(std::fs::read(sandbox.root().join(LATIN)).unwrap(), b"\xff\0ours\n");
}

#[test]
fn two_handoffs_with_one_id_are_not_fused() {
    let sandbox = driven();
    let file = ".midstride/handoffs/twice.md";
    let text =
        |uid: &str| format!("---\nhandoff:\n  id: twice\n  uid: {uid}\n---\n\nText of {uid}.\n");
    sandbox.git(&["checkout", "--quiet", "-b", "other"]);
    sandbox.write(file, text("one"));
    commit(&sandbox, "one");
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.write(file, text("two"));
    commit(&sandbox, "two");
    let run = sandbox.finish(sandbox.command("git").args(["merge", "other"])).exits(1);
    let said = "twice.md: two different handoffs have the id `twice`";
    assert!(run.stderr.contains(said), "{run}");
    let both = sandbox.read(file);
    assert!(both.contains("uid: one") && both.contains("uid: two"), "{both}");
    insta::assert_snapshot!(sandbox.run(["check", file, "--quiet"]), @"
    exit 1
    ----- stdout -----
    error[H006]: the conflict is between two handoffs with the same id
     --> .midstride/handoffs/twice.md:1:1
      |
    1 | <<<<<<< one side
      | ^^^^^^^^^^^^^^^^
      |
      = help: keep one here and move the other to its own file, named after its new `id`

    error[S001]: an investigation handoff needs `created`
     --> .midstride/handoffs/twice.md:3:1
      |
    3 | handoff:
      | ^^^^^^^
      |
      = help: add `created:` under `handoff:`

    error[S001]: an investigation handoff needs `context_summary`
     --> .midstride/handoffs/twice.md:3:1
      |
    3 | handoff:
      | ^^^^^^^
      |
      = help: add `context_summary:` under `handoff:`
    ----- stderr -----
    1 document checked: 3 errors
    ");
    insta::assert_snapshot!(sandbox.run(["merge", file]), @"
    exit 1
    ----- stderr -----
    .midstride/handoffs/twice.md: two different handoffs have the id `twice`; midstride does not merge them
    Next: run git checkout --ours .midstride/handoffs/twice.md to keep ours under this name
    Next: run git show :3:./.midstride/handoffs/twice.md to print the other one, and give it a new `id`
    Next: save each in a file named after its id, then git add both
    ");
    // The hint works.
    sandbox.git(&["checkout", "--ours", file]);
    let theirs = sandbox.git(&["show", &format!(":3:./{file}")]);
    sandbox.write(".midstride/handoffs/once.md", theirs.replace("id: twice", "id: once"));
    commit(&sandbox, "both");
    for (id, uid) in [("twice", "two"), ("once", "one")] {
        let shown = sandbox.run(["show", id]).exits(0).stdout;
        assert!(shown.contains(&format!("Text of {uid}.")), "{shown}");
    }
}

#[test]
fn the_driver_is_installed_and_removed() {
    let sandbox = shop();
    sandbox.write(".gitattributes", "*.png binary");
    std::fs::create_dir_all(sandbox.root().join(".claude/pipeline/briefs")).unwrap();
    let run = sandbox.as_user().run(["init", "--merge-driver"]).exits(0);
    assert!(run.stderr.contains(".git/config  merge.midstride.driver = '"), "{run}");
    insta::assert_snapshot!(sandbox.read(".gitattributes"), @"
    *.png binary
    .midstride/handoffs/**/*.md merge=midstride
    .claude/pipeline/**/*.md merge=midstride
    ");
    let config = sandbox.read(".git/config");
    assert!(config.contains("[merge \"midstride\"]"), "{config}");
    // Installing twice changes nothing.
    sandbox.as_user().run(["init", "--merge-driver"]).exits(0);
    assert_eq!(sandbox.read(".git/config"), config);
    insta::assert_snapshot!(sandbox.as_user().run(["init", "--no-merge-driver"]), @"
    exit 0
    ----- stderr -----
    .gitattributes  - .midstride/handoffs/**/*.md merge=midstride
    .gitattributes  - .claude/pipeline/**/*.md merge=midstride
    git now merges handoffs like any other text file
    ");
    assert_eq!(sandbox.read(".gitattributes"), "*.png binary\n");
    assert!(!sandbox.read(".git/config").contains("midstride"));
}

#[test]
fn two_clones_share_every_revision() {
    let sandbox = driven();
    sandbox.git(&["init", "--quiet", "--bare", "--initial-branch=main", "../hub.git"]);
    sandbox.git(&["remote", "add", "origin", "../hub.git"]);
    sandbox.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    sandbox.git(&["clone", "--quiet", "../hub.git", "../second"]);
    sandbox.as_user().run(["-C", "../second", "trust", "--yes"]).exits(0);
    sandbox.as_user().run(["-C", "../second", "init", "--merge-driver"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["-C", "../second", "show", "market@2"]), @"
    exit 2
    ----- stderr -----
    error: revision `market-page-perf@2` is not stored on this machine
    hint: `midstride sync` fetches the revisions that others have shared with it
    ");

    // Each revises twice and commits once, and the second one pulls.
    for answer in ["Perhaps", "Yes"] {
        sandbox.run(["answer", "market", "q1", answer]).exits(0);
    }
    commit(&sandbox, "answered");
    sandbox.git(&["push", "--quiet"]);
    for reason in ["Tokyo", "Lima"] {
        let second = sandbox.root().join("../second").join(FILE);
        let text = std::fs::read_to_string(&second).unwrap();
        let text = text.replace("14,290 ms.", &format!("14,290 ms. {reason} is fast."));
        std::fs::write(sandbox.home().join("next.md"), text).unwrap();
        let body = sandbox.home().join("next.md");
        let words = ["-C", "../second", "edit", "market", "--reason", reason, "--body"];
        sandbox.run(words.iter().copied().chain([body.to_str().unwrap()])).exits(0);
    }
    sandbox.git(&["-C", "../second", "commit", "--quiet", "--all", "-m", "more"]);
    sandbox.git(&["-C", "../second", "pull", "--quiet", "--no-rebase", "--no-edit"]);
    sandbox.git(&["-C", "../second", "push", "--quiet"]);
    sandbox.git(&["pull", "--quiet"]);

    // Without a sync, each names the texts that it does not have: those that were never committed.
    let missing = |folder: &str| -> Vec<usize> {
        let text = |number| sandbox.run(["-C", folder, "show", &format!("market@{number}")]);
        (2..=8)
            .filter(|number| text(*number).stderr.contains("is not stored on this machine"))
            .collect()
    };
    assert_eq!((missing("."), missing("../second")), (vec![6], vec![2, 4]));
    insta::assert_snapshot!(sandbox.run(["show", "market@6"]), @"
    exit 2
    ----- stderr -----
    error: revision `market-page-perf@6` is not stored on this machine
    hint: `midstride sync` fetches the revisions that others have shared with it
    ");

    insta::assert_snapshot!(sandbox.run(["sync"]), @"
    exit 0
    ----- stderr -----
    0 revisions received from origin, 4 revisions sent
    Both sides now have every revision of 1 handoff
    ");
    insta::assert_snapshot!(sandbox.run(["-C", "../second", "sync"]), @"
    exit 0
    ----- stderr -----
    2 revisions received from origin, 2 revisions sent
    Both sides now have every revision of 1 handoff
    ");
    insta::assert_snapshot!(sandbox.run(["sync", "origin", "--json"]), @r#"
    exit 0
    ----- stdout -----
    {
      "schema": "sync/1",
      "remote": "origin",
      "handoffs": 1,
      "received": 2,
      "sent": 0,
      "kept_back": 0,
      "proposals": [],
      "tasks": {
        "here": 0,
        "received": 0,
        "sent": 0,
        "skipped": 0,
        "newer": 0,
        "early": 0,
        "withheld": false
      }
    }
    "#);
    assert_eq!((missing("."), missing("../second")), (Vec::new(), Vec::new()));
    assert_eq!(texts(&sandbox, "."), texts(&sandbox, "../second"));
    assert_eq!(texts(&sandbox, ".").len(), 7);
    insta::assert_snapshot!(sandbox.run(["sync"]), @"
    exit 0
    ----- stderr -----
    0 revisions received from origin, 0 revisions sent
    Both sides now have every revision of 1 handoff
    ");
}

/// All objects of a repository, as one text.
fn everything_in(sandbox: &Sandbox, repository: &str) -> String {
    let words = ["-C", repository, "cat-file", "--batch-all-objects", "--batch", "--unordered"];
    sandbox.git(&words)
}

fn hub(sandbox: &Sandbox) {
    sandbox.git(&["init", "--quiet", "--bare", "--initial-branch=main", "../hub.git"]);
    sandbox.git(&["remote", "add", "origin", "../hub.git"]);
}

#[test]
fn private_texts_are_not_shared() {
    let sandbox = driven();
    hub(&sandbox);
    sandbox.run(["new", "Afternoon", "--kind", "session", "--summary", "the prompt"]).exits(0);
    sandbox.run(["start", "afternoon"]).exits(0);
    sandbox.write(".gitignore", "thoughts/\n");
    let ignored = "---\nhandoff:\n  id: x\n  uid: ignored\n  title: the diary\n---\n";
    sandbox.write("thoughts/shared/handoffs/x.md", ignored);
    sandbox.run(["start", "x"]).exits(0);
    // An uncommitted draft is not shared yet.
    sandbox.run(["new", "Draft", "--summary", "the secret plan", "--no-edit"]).exits(0);
    sandbox.run(["start", "draft"]).exits(0);
    sandbox.run(["share", "afternoon"]).exits(0);
    sandbox.git(&["add", ".midstride/handoffs/afternoon.md"]);
    sandbox.run(["resolve", "afternoon", "--outcome", "done"]).exits(0);
    sandbox.run(["sync"]).exits(0);
    let there = sandbox.git(&["ls-remote", "../hub.git"]);
    assert_eq!(there.lines().count(), 1, "only the market handoff is committed: {there}");
    sandbox.git(&["commit", "--quiet", "--message", "shared"]);
    sandbox.run(["sync"]).exits(0);
    let there = sandbox.git(&["ls-remote", "../hub.git"]);
    assert_eq!(there.lines().count(), 2, "the market handoff and the shared one: {there}");
    let all = everything_in(&sandbox, "../hub.git");
    for private in ["kind: session\n  status: planned", "the diary", "the secret plan"] {
        assert!(!all.contains(private), "{private}");
    }
    assert!(all.contains("outcome: done"), "what was written since it was shared");
}

#[test]
fn a_remote_cannot_ask_for_a_private_text() {
    let sandbox = driven();
    hub(&sandbox);
    sandbox.run(["new", "Afternoon", "--kind", "session", "--summary", "the prompt"]).exits(0);
    sandbox.run(["start", "afternoon"]).exits(0);
    let path = sandbox.root().join(".git/midstride/handoffs/afternoon.md");
    let text = std::fs::read_to_string(path).unwrap();
    let private = text.split("was: ").nth(1).unwrap().split_whitespace().next().unwrap();
    // A tree that gives an empty blob the name of the private one.
    let script = "empty=$(git hash-object -w --stdin </dev/null); \
                  tree=$(printf \"100644 blob $empty\\t$1\\n\" | git mktree); \
                  git update-ref refs/midstride/handoffs/evil $tree; \
                  git update-ref refs/midstride/handoffs/odd $empty";
    let mut command = sandbox.command("sh");
    command.args(["-c", script, "sh", private]).current_dir(sandbox.root().join("../hub.git"));
    sandbox.finish(&mut command).exits(0);
    let run = sandbox.run(["sync"]).exits(0);
    assert!(
        run.stderr.contains("left `odd` in origin unchanged: it contains no handoff revisions"),
        "{run}"
    );
    assert!(!everything_in(&sandbox, "../hub.git").contains("the prompt"));
}

#[test]
fn paths_with_unknown_git_status_are_private() {
    let sandbox = driven();
    hub(&sandbox);
    // The handoffs are in a separate repository that this one only points to.
    sandbox.git(&["init", "--quiet", "docs/handoffs"]);
    sandbox.git(&["-C", "docs/handoffs", "commit", "--quiet", "--allow-empty", "-m", "x"]);
    sandbox.git(&["-c", "advice.addEmbeddedRepo=false", "add", "docs/handoffs"]);
    sandbox.git(&["commit", "--quiet", "-m", "a submodule"]);
    let inner = "---\nhandoff:\n  id: inner\n  uid: inner\n  title: of the inner one\n---\n";
    sandbox.write("docs/handoffs/inner.md", inner);
    sandbox.run(["start", "inner"]).exits(0);
    sandbox.run(["sync"]).exits(0);
    assert!(!everything_in(&sandbox, "../hub.git").contains("of the inner one"));
}

#[test]
fn sync_says_what_it_needs() {
    let sandbox = crate::sandbox();
    sandbox.as_user().run(["init"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["sync"]), @"
    exit 2
    ----- stderr -----
    error: this is not a git repository, so there is no remote to share with
    hint: create one with `git init`
    ");
    sandbox.git(&["init", "--quiet"]);
    insta::assert_snapshot!(sandbox.run(["sync"]), @"
    exit 2
    ----- stderr -----
    error: this repository has no remote
    hint: add one with `git remote add origin URL`, then run it again
    ");
    sandbox.git(&["remote", "add", "one", "../nowhere"]);
    sandbox.git(&["remote", "add", "two", "../nowhere"]);
    insta::assert_snapshot!(sandbox.run(["sync"]), @"
    exit 2
    ----- stderr -----
    error: which remote: one, two?
    hint: choose one: midstride sync one
    ");
    insta::assert_snapshot!(sandbox.run(["sync", "three"]), @"
    exit 2
    ----- stderr -----
    error: there is no remote `three`
    hint: the remotes are one, two
    ");
    sandbox.as_user().run(["trust", "--yes"]).exits(0);
    let run = sandbox.run(["sync", "two"]).exits(2);
    assert!(run.stderr.contains("does not appear to be a git repository"), "{run}");
    assert!(run.stderr.contains("hint: nothing is lost"), "{run}");
}

#[test]
fn a_rebase_of_several_commits_keeps_every_number() {
    let sandbox = driven();
    sandbox.git(&["checkout", "--quiet", "-b", "topic"]);
    let mut texts_of_topic = Vec::new();
    for answer in ["One", "Two", "Three"] {
        sandbox.run(["answer", "market", "q1", answer]).exits(0);
        commit(&sandbox, answer);
        texts_of_topic.push(shown(&sandbox));
    }
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.run(["review", "market", "--by", "eve", "--challenged", "x", "--verdict", "held"]);
    commit(&sandbox, "reviewed");
    texts_of_topic.push(shown(&sandbox));
    sandbox.git(&["checkout", "--quiet", "topic"]);
    sandbox.git(&["rebase", "--quiet", "main"]);
    let all = texts(&sandbox, ".");
    for text in &texts_of_topic {
        assert!(all.contains(text), "a text has no number");
    }
    assert_eq!(all.last(), Some(&shown(&sandbox)));
    // Each number is the text that its entry created.
    let history = sandbox.run(["show", "market", "--history", "--json"]).exits(0).stdout;
    let history: serde_json::Value = serde_json::from_str(&history).unwrap();
    let moments = history["history"].as_array().unwrap_or_else(|| panic!("{history}")).clone();
    assert_eq!(moments.len(), all.len() + 1, "{history}");
}

#[test]
fn a_single_commit_keeps_the_history_it_is_based_on() {
    let sandbox = driven();
    let first = shown(&sandbox);
    sandbox.git(&["checkout", "--quiet", "-b", "topic"]);
    sandbox.run(["answer", "market", "q1", "Ten minutes"]).exits(0);
    commit(&sandbox, "one");
    sandbox.run(["answer", "market", "q2", "Nobody"]).exits(0);
    commit(&sandbox, "two");
    sandbox.git(&["checkout", "--quiet", "main"]);
    sandbox.run(["review", "market", "--by", "eve", "--challenged", "x", "--verdict", "held"]);
    commit(&sandbox, "reviewed");
    sandbox.git(&["cherry-pick", "topic"]);
    // The text before both lines of work keeps its number.
    assert_eq!(texts(&sandbox, ".")[1], first);
    assert!(sandbox.read(FILE).contains("answer: Nobody"));
    assert!(!sandbox.read(FILE).contains("answer: Ten minutes"));
}

#[test]
fn a_merge_settled_by_hand_claims_no_unknown_text() {
    let sandbox = driven();
    sandbox.as_user().run(["init", "--no-merge-driver"]).exits(0);
    commit(&sandbox, "no driver");
    two_branches(&sandbox);
    let ours = sandbox.read(FILE);
    sandbox.finish(sandbox.command("git").args(["merge", "other"])).exits(1);
    sandbox.git(&["checkout", "--quiet", "--theirs", FILE]);
    // The user takes theirs and adds our answer and our history entry by hand.
    let entry = ours.split("    - at: ").last().unwrap().split("---").next().unwrap();
    let both = sandbox
        .read(FILE)
        .replace(
            "      suggested_owner: product\n",
            "      suggested_owner: product\n      answer: Ten minutes\n",
        )
        .replacen("---\n\n## Diagnosis", &format!("    - at: {entry}---\n\n## Diagnosis"), 1);
    sandbox.write(FILE, &both);
    commit(&sandbox, "settled by hand");
    // Two entries led to the same text, so the text of the first is unknown.
    let run = sandbox.run(["show", "market@4"]).exits(2);
    assert!(run.stderr.contains("is not stored on this machine"), "{run}");
    let undone = sandbox.run(["undo", "market"]);
    assert!(!sandbox.read(FILE).contains("<<<<"), "{undone}");
    assert!(sandbox.read(FILE).contains("Tokyo takes 381 ms."), "{undone}");
    assert!(sandbox.read(FILE).contains("answer: Ten minutes"), "{undone}");
}

#[test]
fn an_unfinished_merge_blocks_changes_and_loses_no_edit() {
    let sandbox = driven();
    sandbox.as_user().run(["init", "--no-merge-driver"]).exits(0);
    commit(&sandbox, "no driver");
    two_branches(&sandbox);
    sandbox.finish(sandbox.command("git").args(["merge", "other"])).exits(1);
    insta::assert_snapshot!(sandbox.run(["answer", "market", "q2", "Nobody"]), @"
    exit 2
    ----- stderr -----
    error: `.midstride/handoffs/market-page-perf.md` has an unresolved merge conflict
    hint: run midstride merge .midstride/handoffs/market-page-perf.md to merge what can be merged
    hint: resolve the remaining conflicts, then run the command again
    ");
    let edited = sandbox.read(FILE).replace("1. Paginate", "1. Paginate, by hand");
    sandbox.write(FILE, edited);
    let run = sandbox.run(["merge", FILE]).exits(0);
    assert!(run.stderr.contains("Its previous text is kept; to see it: git show "), "{run}");
    let kept = sandbox.finish(sandbox.command("sh").args([
        "-c",
        "git for-each-ref --format='%(objectname)' refs/midstride | xargs -n1 git ls-tree | \
         cut -d' ' -f3 | cut -f1 | xargs -n1 git cat-file blob",
    ]));
    assert!(kept.stdout.contains("by hand"), "the edit is kept");
}

#[test]
fn an_outside_edit_is_reported_only_where_it_was_made() {
    let sandbox = driven();
    sandbox.run(["answer", "market", "q1", "Ten minutes"]).exits(0);
    commit(&sandbox, "answered");
    let said = |folder: &str| sandbox.run(["-C", folder, "show", "market"]).exits(0).stderr;
    let edit = |folder: &str| {
        let path = sandbox.root().join(folder).join(FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, text.replace("14,290 ms", "14,291 ms")).unwrap();
    };
    sandbox.git(&["clone", "--quiet", ".", "../clone"]);
    sandbox.git(&["worktree", "add", "--quiet", "../tree", "HEAD~1"]);
    for folder in ["../clone", "../tree"] {
        assert_eq!(said(folder), "", "nobody edited it: {folder}");
        edit(folder);
        assert!(said(folder).contains("Edited outside midstride"), "{folder}");
    }
    // An older text on another branch is not an edit.
    sandbox.git(&["checkout", "--quiet", "--detach", "HEAD~1"]);
    assert_eq!(said("."), "");
    let run =
        sandbox.run(["review", "market", "--by", "eve", "--challenged", "x", "--verdict", "held"]);
    assert!(!run.stderr.contains("outside"), "{run}");
}

#[test]
fn uncommitted_handoffs_are_reported_and_sync_leaves_nothing_behind() {
    let sandbox = driven();
    hub(&sandbox);
    sandbox.write(
        ".midstride/handoffs/draft.md",
        "---\nhandoff:\n  id: draft\n  uid: draft\n  title: Not yet\n---\n",
    );
    sandbox.run(["start", "draft"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["sync"]), @"
    exit 0
    ----- stderr -----
    Revisions of 1 handoff stay here, because uncommitted handoffs are not sent
    0 revisions received from origin, 2 revisions sent
    Both sides now have every revision of 1 handoff
    ");
    sandbox.run(["task", "add", "Write the schema"]).exits(0);
    commit(&sandbox, "draft");
    sandbox.git(&["update-ref", "refs/midstride-fetched-trees/gone/tree", "HEAD"]);
    sandbox.git(&["update-ref", "refs/midstride-workbench/tree", "HEAD"]);
    for _ in 0..2 {
        let run = sandbox.run(["sync"]).exits(0);
        assert!(!run.stderr.contains("stay here"), "{run}");
        let references = sandbox.git(&["for-each-ref", "--format=%(refname)"]);
        for helper in ["midstride-fetched", "midstride-workbench"] {
            assert!(!references.contains(helper), "{references}");
        }
    }
}

#[test]
fn a_repository_that_git_cannot_read_is_not_blamed_on_the_other_one() {
    let sandbox = crate::sandbox();
    sandbox.write(".git/HEAD", "ref: refs/heads/main\n");
    let run = sandbox.run(["sync"]).exits(2);
    assert!(!run.stderr.contains("other repository"), "{run}");
}

#[test]
fn sync_fails_where_git_ignores_a_broken_reference() {
    let sandbox = driven();
    hub(&sandbox);
    let folder = sandbox.root().join(".git/midstride/texts.git/refs/midstride/handoffs");
    let reference = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let id = std::fs::read_to_string(&reference).unwrap();
    std::fs::write(&reference, "not an id\n").unwrap();
    let run = sandbox.run(["sync"]).exits(2);
    assert!(run.stderr.contains("ignoring broken ref refs/midstride/handoffs/"), "{run}");
    std::fs::write(&reference, &id).unwrap();
    let run = sandbox.run(["sync"]).exits(0);
    assert!(run.stderr.contains("2 revisions sent"), "{run}");
}
