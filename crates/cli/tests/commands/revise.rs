use super::shop;
use midstride_testkit::Sandbox;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

const FILE: &str = ".midstride/handoffs/market-page-perf.md";

fn revised() -> Sandbox {
    let sandbox = shop();
    let text =
        sandbox.read(FILE).replace("Austin takes 14,290 ms.", "Austin takes 14,290 ms, Tokyo 381.");
    sandbox
        .run_with_input(&["edit", "market", "--reason", "measured more", "--body", "-"], &text)
        .exits(0);
    sandbox
}

#[test]
fn a_revision_keeps_the_text_it_replaces() {
    let sandbox = shop();
    let first = sandbox.read(FILE);
    let text = first.replace("14 s", "14.3 s");
    let run = sandbox.run_with_input(
        &["edit", "market", "--reason", "exact number", "--by", "reviewer", "--body", "-"],
        &text,
    );
    insta::assert_snapshot!(run, @"
    exit 0
    ----- stderr -----
    market-page-perf@3: exact number
    Next: see what changed with midstride diff market-page-perf
    ");
    let now = sandbox.read(FILE);
    assert!(now.contains("title: Market pages take 14.3 s"), "{now}");
    assert!(now.contains(" by: reviewer, reason: exact number, was: "), "{now}");
    assert_eq!(sandbox.run(["show", "market@2"]).exits(0).stdout, first);
    assert_eq!(
        sandbox.run(["show", "market@3"]).exits(0).stdout.lines().count(),
        now.lines().count()
    );
    sandbox.git(&["gc", "--prune=now", "--quiet"]);
    assert_eq!(sandbox.run(["show", "market@2"]).exits(0).stdout, first);
    insta::assert_snapshot!(sandbox.run(["show", "market@9"]), @"
    exit 2
    ----- stderr -----
    error: `market-page-perf` has 3 revisions; there is no `market-page-perf@9`
    hint: the newest one is `market-page-perf@3`
    ");
    insta::assert_snapshot!(sandbox.run(["show", "market@1"]), @"
    exit 2
    ----- stderr -----
    error: revision `market-page-perf@1` is not stored on this machine
    hint: `midstride sync` fetches the revisions that others have shared with it
    ");
}

#[test]
fn a_body_alone_replaces_the_body_and_an_editor_works_too() {
    let sandbox = shop();
    sandbox
        .run_with_input(
            &["edit", "market", "--reason", "rewritten", "--body", "-"],
            "## Plan\n\nDo it, test it.\n",
        )
        .exits(0);
    let text = sandbox.read(FILE);
    assert!(text.ends_with("---\n\n## Plan\n\nDo it, test it.\n"), "{text}");
    assert!(text.contains("title: Market pages take 14 s\n"));
    sandbox
        .run_with_editor(
            &["edit", "market", "--reason", "typo"],
            "sed -i 's/Do it/Carry it out/' \"$1\"",
        )
        .exits(0);
    assert!(sandbox.read(FILE).contains("Carry it out, test it."));
    let same = sandbox.run_with_editor(&["edit", "market", "--reason", "none"], "true").exits(0);
    assert_eq!(same.stderr, "Nothing changed.\n");
}

#[test]
fn a_body_gets_the_line_endings_of_its_document() {
    let sandbox = shop();
    let words = ["edit", "market", "--reason", "rewritten", "--body", "-"];
    let windows = sandbox.read(FILE).replace('\n', "\r\n");
    sandbox.write(FILE, windows);
    sandbox.run_with_input(&words, "## Plan\n\nCarry it out.\n").exits(0);
    let text = sandbox.read(FILE);
    assert!(text.ends_with("---\r\n\r\n## Plan\r\n\r\nCarry it out.\r\n"), "{text:?}");
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
    sandbox.write(FILE, text.replace("\r\n", "\n"));
    sandbox.run_with_input(&words, "\r\n## Plan\r\n\r\nTest it.\r\n").exits(0);
    let text = sandbox.read(FILE);
    assert!(text.ends_with("---\n\n## Plan\n\nTest it.\n"), "{text:?}");
}

#[test]
fn an_outside_edit_becomes_a_separate_revision() {
    let sandbox = revised();
    let ours = sandbox.read(FILE);
    sandbox.write(FILE, ours.replace("Tokyo 381", "Tokyo 390"));
    let text = sandbox.read(FILE).replace("Tokyo 390", "Tokyo 391");
    let run = sandbox
        .run_with_input(&["edit", "market", "--reason", "again", "--body", "-"], &text)
        .exits(0);
    assert!(run.stderr.contains("Recorded an edit made outside midstride"), "{run}");
    let now = sandbox.read(FILE);
    assert!(now.contains("reason: edited outside midstride"), "{now}");
    assert!(sandbox.run(["show", "market@3"]).exits(0).stdout.contains("Tokyo 381"));
    assert!(sandbox.run(["show", "market@4"]).exits(0).stdout.contains("Tokyo 390"));
    assert!(sandbox.run(["show", "market@5"]).exits(0).stdout.contains("Tokyo 391"));
}

#[test]
fn what_changed_is_shown_by_words_and_for_tools() {
    let sandbox = revised();
    insta::assert_snapshot!(sandbox.run(["diff", "market@2", "market@3", "--words"]), @"
    exit 0
    ----- stdout -----
    market-page-perf@2 → market-page-perf@3
      …
      ---
      handoff:
        id: market-page-perf
        {+uid: [UID]+}
        title: Market pages take 14 s
        kind: investigation
        status: in_progress
      …
        revisions:
          - at: 2026-03-22T08:00:00Z
            reason: wrong code path
          {+- {at: 2026-03-21T17:24:00Z, by: tester, reason: measured more, was: [COMMIT]}+}
      ---
      
      ## Diagnosis
      
      Austin takes 14,290 [-ms.-]{+ms, Tokyo 381.+}
      
      ## Root causes
    ");
    let unified = sandbox.run(["diff", "market"]).exits(0).stdout;
    assert!(unified.starts_with("--- market-page-perf@2\n+++ market-page-perf@3\n"), "{unified}");
    assert!(unified.contains("\n-Austin takes 14,290 ms.\n+Austin takes 14,290 ms, Tokyo 381.\n"));
    insta::assert_snapshot!(sandbox.run(["diff", "login-loop"]), @"
    exit 2
    ----- stderr -----
    error: `login-loop` was never revised
    hint: `midstride edit` adds a second revision
    ");
}

#[test]
fn secrets_are_not_written() {
    let sandbox = shop();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let text = format!("## Plan\n\nTest with {token}.\n");
    let run =
        sandbox.run_with_input(&["edit", "market", "--reason", "r", "--body", "-"], &text).exits(0);
    assert!(run.stderr.contains("redacted a secret: github-token"), "{run}");
    let new = sandbox.run_with_input(&["new", "Leak", "--body", "-"], &text).exits(0);
    assert!(new.stderr.contains("redacted a secret: github-token"), "{new}");
    let script = format!("echo {token} >> \"$1\"");
    let edited = sandbox.run_with_editor(&["edit", "login-loop"], &script).exits(0);
    assert!(edited.stderr.contains("redacted a secret: github-token"), "{edited}");
    for file in [FILE, ".midstride/handoffs/leak.md", ".midstride/handoffs/login-loop.md"] {
        assert!(!sandbox.read(file).contains(&token));
    }
}

#[test]
fn without_git_texts_are_kept_in_a_folder() {
    let sandbox = crate::sandbox();
    sandbox.as_user().run(["init"]).exits(0);
    sandbox.run_with_input(&["new", "Find", "--body", "-"], "## Plan\n\nOne.\n").exits(0);
    sandbox
        .run_with_input(&["edit", "find", "--reason", "two", "--body", "-"], "## Plan\n\nTwo.\n")
        .exits(0);
    assert!(sandbox.run(["show", "find@1"]).exits(0).stdout.ends_with("One.\n"));
    assert!(sandbox.run(["show", "find@2"]).exits(0).stdout.ends_with("Two.\n"));
}

#[test]
fn a_note_has_no_history() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run_with_input(&["edit", "HANDOFF", "--reason", "x", "--body", "-"], "# New\n"), @"
    exit 2
    ----- stderr -----
    error: `HANDOFF.md` has no handoff header, so midstride cannot record its history
    hint: `midstride new --from HANDOFF.md` turns it into a handoff
    hint: `midstride dismiss HANDOFF.md` keeps it out of briefings
    ");
    insta::assert_snapshot!(sandbox.run_with_input(&["edit", "market", "--reason", " ", "--body", "-"], "x\n"), @"
    exit 2
    ----- stderr -----
    error: invalid value ' ' for '--reason <REASON>': it is blank

    For more information, try '--help'.
    ");
}

#[test]
fn a_new_text_keeps_history_and_reviews() {
    let sandbox = shop();
    let first = sandbox.read(FILE);
    sandbox.run(["review", "market", "--by", "eve", "--challenged", "all", "--verdict", "held"]);
    let whole = first.replace("14,290 ms", "14,291 ms");
    sandbox.write(
        "whole.md",
        whole.replace(
            "  revisions:\n    - at: 2026-03-22T08:00:00Z\n      reason: wrong code path\n",
            "",
        ),
    );
    sandbox.run(["edit", "market", "--reason", "rounding", "--body", "whole.md"]).exits(0);
    let text = sandbox.read(FILE);
    for part in ["14,291 ms", "by: eve", "reason: wrong code path", "(held)", "reason: rounding"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_text_started_before_the_last_change_is_merged_with_it() {
    let sandbox = shop();
    sandbox.run(["answer", "market", "a1", "--holds"]).exits(0);
    let begun = sandbox.read(FILE);
    sandbox.run(["answer", "market", "q1", "Ten minutes"]).exits(0);
    sandbox.write("mine.md", begun.replace("14,290 ms", "14,291 ms"));
    sandbox.run(["edit", "market", "--reason", "rounding", "--body", "mine.md"]).exits(0);
    let text = sandbox.read(FILE);
    assert!(text.contains("14,291 ms") && text.contains("answer: Ten minutes"), "{text}");
    // Both changed the same place: the caller gets an error, and both texts are stored.
    sandbox.write("theirs.md", begun.replace("14,290 ms", "15 s"));
    let run = sandbox.run(["edit", "market", "--reason", "seconds", "--body", "theirs.md"]);
    let said = "the new text is based on `market-page-perf@3`, but `market-page-perf` has changed since, and both versions edit the same parts: Austin takes 14,291 ms.";
    assert!(run.stderr.contains(said), "{run}");
    let kept = kept_text(&sandbox, &run.stderr);
    let both = std::fs::read_to_string(&kept).unwrap();
    assert!(both.contains("14,291 ms") && both.contains("15 s"), "{both}");
    assert_eq!(sandbox.read(FILE), text);
    let settled: Vec<&str> = both.lines().filter(|l| !l.starts_with(['<', '=', '>'])).collect();
    std::fs::write(&kept, settled.join("\n") + "\n").unwrap();
    sandbox.run(["edit", "market", "--reason", "settled", "--body", &kept]).exits(0);
    assert!(sandbox.read(FILE).contains("15 s"));
}

#[test]
fn an_earlier_text_can_be_restored() {
    let sandbox = shop();
    sandbox.run(["answer", "market", "a1", "--holds"]).exits(0);
    sandbox.run(["answer", "market", "q1", "Ten minutes"]).exits(0);
    let review = ["review", "market", "--by", "eve", "--challenged", "x", "--verdict", "held"];
    sandbox.run(review).exits(0);
    for (number, answered) in [(2, false), (3, false), (4, true), (5, true)] {
        let name = format!("market@{number}");
        let old = exact(&sandbox, &name);
        sandbox.write("old.md", &old);
        let run = sandbox.run(["edit", "market", "--reason", "back", "--body", "old.md"]).exits(0);
        assert!(!run.stderr.contains("Nothing changed"), "{number}: {run}");
        let text = sandbox.read(FILE);
        assert_eq!(text.contains("answer: Ten minutes"), answered, "{text}");
        assert_eq!(old.contains("validated: true"), text.contains("validated: true"), "{text}");
        // The history stays: who challenged it, and every change.
        for part in ["by: eve", "reason: a1 holds", "reason: answered q1", "reason: back"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    let now = sandbox.read(FILE);
    sandbox.write("now.md", &now);
    let run = sandbox.run(["edit", "market", "--reason", "same", "--body", "now.md"]).exits(0);
    assert_eq!((run.stderr.as_str(), sandbox.read(FILE)), ("Nothing changed.\n", now));
}

/// A text unchanged, with its uid and the ids of its texts.
fn exact(sandbox: &Sandbox, name: &str) -> String {
    let program = env!("CARGO_BIN_EXE_midstride");
    let shown = sandbox.command(program).args(["show", name]).output().unwrap();
    String::from_utf8(shown.stdout).unwrap()
}

#[test]
fn a_conflict_is_kept_without_its_secrets() {
    let sandbox = shop();
    sandbox.run(["answer", "market", "a1", "--holds"]).exits(0);
    let begun = sandbox.read(FILE);
    sandbox.write("mine.md", begun.replace("14,290 ms", "14,291 ms"));
    sandbox.run(["edit", "market", "--reason", "rounding", "--body", "mine.md"]).exits(0);
    let token = format!("ghp_{}", "a1B2".repeat(9));
    sandbox.write("mine.md", begun.replace("Austin takes 14,290 ms", &token));
    let run = sandbox.run(["edit", "market", "--reason", "r", "--body", "mine.md"]).exits(2);
    assert!(run.stderr.contains("hint: redacted a secret: github-token"), "{run}");
    assert!(!run.stderr.contains(&token), "{run}");
    let kept = std::fs::read_to_string(kept_text(&sandbox, &run.stderr)).unwrap();
    assert!(kept.contains("REDACTED-github-token") && !kept.contains(&token), "{kept}");
}

/// The path of the file with both texts of a conflict.
fn kept_text(sandbox: &Sandbox, said: &str) -> String {
    let kept =
        said.split("` contains both versions between").next().unwrap().rsplit('`').next().unwrap();
    kept.replace("[HOME]", sandbox.home().to_str().unwrap())
}

#[test]
fn an_outside_edit_is_reported_immediately_and_recorded_with_the_next_change() {
    let sandbox = shop();
    sandbox.run(["start", "feat-042/request"]).exits(0);
    assert_eq!(sandbox.run(["show", "feat-042/request"]).exits(0).stderr, "");
    sandbox.run(["start", "market"]).exits(2);
    sandbox.run(["answer", "market", "q1", "Ten minutes"]).exits(0);
    let written = sandbox.read(FILE);
    sandbox.write(FILE, written.replace("14,290 ms", "14,291 ms"));
    insta::assert_snapshot!(sandbox.run(["show", "market", "--section", "diagnosis"]), @"
    exit 0
    ----- stdout -----
    ## Diagnosis

    Austin takes 14,291 ms.
    ----- stderr -----
    Edited outside midstride since its last revision; the next change records it.
    ");
    let json = sandbox.run(["show", "market", "--json"]).exits(0).stdout;
    assert!(json.contains("\"edited_outside\": true"), "{json}");
    // A text that midstride wrote earlier is not an edit: another branch may bring it back.
    sandbox.write(FILE, sandbox.read(FILE).replace("14,291 ms", "14,290 ms"));
    assert_eq!(sandbox.run(["show", "market", "--section", "plan"]).exits(0).stderr, "");
    sandbox.run(["answer", "market", "a1", "--holds"]).exits(0);
    sandbox.write(FILE, &written);
    assert_eq!(sandbox.run(["show", "market", "--section", "plan"]).exits(0).stderr, "");
    let run =
        sandbox.run(["review", "market", "--by", "eve", "--challenged", "x", "--verdict", "held"]);
    assert!(!run.stderr.contains("outside"), "{run}");
}

#[test]
fn a_text_started_before_the_first_change_is_merged_with_it() {
    let sandbox = shop();
    sandbox.run(["new", "Case", "--summary", "It is slow", "--no-edit"]).exits(0);
    let file = ".midstride/handoffs/case.md";
    let begun = sandbox.read(file);
    sandbox.run(["start", "case"]).exits(0);
    sandbox.write("mine.md", begun.replace("It is slow", "It is very slow"));
    sandbox.run(["edit", "case", "--reason", "how slow", "--body", "mine.md"]).exits(0);
    let text = sandbox.read(file);
    assert!(text.contains("It is very slow") && text.contains("status: in_progress"), "{text}");
}

#[test]
fn a_text_of_another_handoff_is_refused_by_its_uid_or_its_name() {
    let sandbox = shop();
    sandbox.run(["start", "feat-042/request"]).exits(0);
    sandbox.run(["answer", "market", "q1", "Yes"]).exits(0);
    let before = sandbox.read(FILE);
    let request = sandbox.read(".midstride/handoffs/feat-042/request.md");
    let revise = ["edit", "market", "--reason", "r", "--body", "-"];
    insta::assert_snapshot!(sandbox.run_with_input(&revise, &request), @"
    exit 2
    ----- stderr -----
    error: the text belongs to another handoff: its uid does not match `market-page-perf`
    hint: specify the handoff that the text belongs to
    hint: without its header, the text replaces only the body of `market-page-perf`
    ");
    let without = |name: &str, text: &str| -> String {
        let named = format!("  {name}: ");
        text.split_inclusive('\n').filter(|line| !line.starts_with(&named)).collect()
    };
    let nameless = without("uid", &request);
    insta::assert_snapshot!(sandbox.run_with_input(&revise, &nameless), @"
    exit 2
    ----- stderr -----
    error: the text belongs to another handoff: its id is `feat-042`, not `market-page-perf`
    hint: specify the handoff that the text belongs to
    hint: without its header, the text replaces only the body of `market-page-perf`
    ");
    insta::assert_snapshot!(sandbox.run_with_input(&revise, &without("id", &nameless)), @"
    exit 2
    ----- stderr -----
    error: the text belongs to another handoff: its stage is `request`, but `market-page-perf` has none
    hint: specify the handoff that the text belongs to
    hint: without its header, the text replaces only the body of `market-page-perf`
    ");
    let review = ["review", "market", "--by", "eve", "--challenged", "x", "--verdict"];
    let review = [&review[..], &["corrected", "--body", "-"]].concat();
    sandbox.run_with_input(&review, &nameless).exits(2);
    assert_eq!(sandbox.read(FILE), before);
    // With its own uid it is renamed; in the editor it is clear which handoff is meant.
    let renamed = before.replace("  id: market-page-perf\n", "  id: market-pages\n");
    sandbox.run_with_input(&revise, &renamed).exits(0);
    assert!(sandbox.read(FILE).contains("  id: market-pages\n"));
    let rename = "sed -i 's/^  id: login-loop/  id: login-loops/' \"$1\"";
    sandbox.run_with_editor(&["edit", "login-loop"], rename).exits(0);
    assert!(sandbox.read(".midstride/handoffs/login-loop.md").contains("  id: login-loops\n"));
}

#[test]
fn handoffs_with_odd_uids_do_not_mix() {
    let sandbox = shop();
    let uids = ["a/b".to_owned(), "a.b".to_owned(), "A-b".to_owned(), "x".repeat(300)];
    for (number, uid) in uids.iter().enumerate() {
        let text = format!("---\nhandoff:\n  id: odd-{number}\n  uid: {uid}\n---\n\ntext\n");
        sandbox.write(&format!(".midstride/handoffs/odd-{number}.md"), text);
    }
    for number in 0..uids.len() {
        sandbox.run(["start", &format!("odd-{number}")]).exits(0);
    }
    for number in 0..uids.len() {
        let show = sandbox.run(["show", &format!("odd-{number}")]).exits(0);
        assert_eq!(show.stderr, "");
    }
    let references = |folder: &str| {
        let list = ["--git-dir", folder, "for-each-ref", "refs/midstride"];
        sandbox.git(&list).lines().count()
    };
    assert_eq!(references(".git/midstride/texts.git"), uids.len());
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "all"]);
    for number in 0..uids.len() {
        sandbox.run(["resolve", &format!("odd-{number}"), "--outcome", "done"]).exits(0);
    }
    assert_eq!(references(".git"), uids.len());
}

#[test]
fn an_empty_text_and_an_unfinished_merge_are_refused() {
    let sandbox = shop();
    let revise = ["edit", "market", "--reason", "r", "--body", "-"];
    let before = sandbox.read(FILE);
    let emptied = sandbox.run_with_editor(&["edit", "market"], ": > \"$1\"").exits(2);
    assert!(emptied.stderr.contains("the new text for `market-page-perf` is empty"), "{emptied}");
    assert_eq!(sandbox.read(FILE), before);
    insta::assert_snapshot!(sandbox.run_with_input(&revise, "\n"), @"
    exit 2
    ----- stderr -----
    error: the new text for `market-page-perf` is empty
    hint: abandon it with midstride resolve market-page-perf --abandon REASON
    ");
    let torn = "## Plan\n\n<<<<<<< one\na\n=======\nb\n>>>>>>> two\n";
    insta::assert_snapshot!(sandbox.run_with_input(&revise, torn), @"
    exit 2
    ----- stderr -----
    error: `.midstride/handoffs/market-page-perf.md` has an unresolved merge conflict
    hint: run midstride merge .midstride/handoffs/market-page-perf.md to merge what can be merged
    hint: resolve the remaining conflicts, then run the command again
    ");
}

#[test]
fn an_unreadable_header_is_refused() {
    let sandbox = shop();
    let revise = ["edit", "market", "--reason", "r", "--body", "-"];
    let before = sandbox.read(FILE);
    let torn = "---\nhandoff:\n  status: in_progress\n\n## Plan\n\nPaginate.\n";
    insta::assert_snapshot!(sandbox.run_with_input(&revise, torn), @"
    exit 2
    ----- stderr -----
    error: `market-page-perf` was not changed, because the new text's header cannot be read: line 3: the header has no closing `---` after this line
    hint: Add a `---` line between the header and the text.
    ");
    let torn = "---\nhandoff:\n  status: in_progress\n  title: [a\n---\n\n## Plan\n\nPaginate.\n";
    insta::assert_snapshot!(sandbox.run_with_input(&revise, torn), @"
    exit 2
    ----- stderr -----
    error: `market-page-perf` was not changed, because the new text's header cannot be read: line 4: unclosed bracket '['
    hint: Fix the marked line. Quote text that contains a colon and a space, or that starts with a special character.
    ");
    let other = "---\ntitle: Of another tool\n---\n\n## Plan\n\nPaginate.\n";
    insta::assert_snapshot!(sandbox.run_with_input(&revise, other), @"
    exit 2
    ----- stderr -----
    error: `market-page-perf` was not changed, because the new text's header cannot be read: line 1: it has no `handoff:`
    hint: put the header's values under `handoff:`, or omit the header to replace only the body
    ");
    let edited =
        sandbox.run_with_editor(&["edit", "market"], "printf -- '---\\nhandoff:\\n' > \"$1\"");
    assert!(edited.stderr.contains("your text is in"), "{edited}");
    assert_eq!(sandbox.read(FILE), before);
    // A horizontal rule is not a header.
    let ruled = "---\n\n## Plan\n\nPaginate.\n";
    sandbox.run_with_input(&revise, ruled).exits(0);
    assert!(sandbox.read(FILE).ends_with(ruled));
}

#[test]
fn problems_of_the_new_text_are_reported() {
    let sandbox = shop();
    let revise = ["edit", "market", "--reason", "r", "--body", "-"];
    let odd = "---\nhandoff:\n  status: finished\n  created: soon\n---\n\n## Plan\n\nPaginate.\n";
    insta::assert_snapshot!(sandbox.run_with_input(&revise, odd), @"
    exit 0
    ----- stderr -----
    market-page-perf@3: r
    error[S001] on line 2: an investigation handoff needs `id`; add `id:` under `handoff:`
    error[S001] on line 2: an investigation handoff needs `title`; add `title:` under `handoff:`
    error[S001] on line 2: an investigation handoff needs `context_summary`; add `context_summary:` under `handoff:`
    error[H009] on line 3: `status` cannot be `finished`; write one of planned, in_progress, resolved, superseded, abandoned
    error[H009] on line 4: `created` is not a time: `soon`; write it as 2026-03-21T17:24:00Z
    Next: see what changed with midstride diff market-page-perf
    ");
    let revise = ["edit", "market", "--reason", "r", "--json", "--body", "-"];
    let odd = odd.replace("finished", "perhaps");
    let told = sandbox.run_with_input(&revise, &odd).exits(0).stdout;
    assert!(told.contains("`status` cannot be `perhaps`"), "{told}");
    // Earlier problems are not reported again.
    assert!(!told.contains("is not a time"), "{told}");
}

#[test]
fn a_long_history_shows_its_end_and_says_so() {
    let sandbox = shop();
    for number in 0..12 {
        sandbox.run(["answer", "market", "q1", &format!("answer {number}")]).exits(0);
    }
    let shown = sandbox.run(["show", "market"]).exits(0).stdout;
    assert!(
        shown.contains("- 3 earlier; to see them: midstride show market-page-perf --history\n"),
        "{shown}"
    );
    assert_eq!(shown.matches("answered q1").count(), 10, "{shown}");
}

#[test]
fn a_rewritten_header_keeps_what_it_does_not_name() {
    let sandbox = shop();
    sandbox.run(["new", "Login loops forever"]).exits(0);
    sandbox.run(["resolve", "login-loops-forever", "--outcome", "The cookie was stale"]).exits(0);
    let text = "---\nhandoff:\n  id: login-loops-forever\n  tags: [login]\n---\n\n# T\n\nBody.\n";
    let revise = ["edit", "login-loops-forever", "--reason", "typo", "--body", "-"];
    sandbox.run_with_input(&revise, text).exits(0);
    let shown = sandbox.run(["show", "login-loops-forever", "--json"]).exits(0).stdout;
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["status"], "resolved", "{shown:#}");
    assert_eq!(shown["title"], "Login loops forever", "{shown:#}");
    let brief = sandbox.run(["brief", "--budget", "2000"]).exits(0).stdout;
    assert!(!brief.contains("login-loops-forever"), "{brief}");
}

/// The git commands that a revision of a handoff starts.
fn git_calls(sandbox: &Sandbox, handoff: &str, text: &str) -> Vec<String> {
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&usual).collect();
    let git = folders.iter().map(|folder| folder.join("git")).find(|git| git.is_file()).unwrap();
    let (bin, log) = (sandbox.home().join("bin"), sandbox.home().join("git-calls"));
    std::fs::create_dir_all(&bin).unwrap();
    let script =
        format!("#!/bin/sh\necho \"$*\" >> '{}'\nexec '{}' \"$@\"\n", log.display(), git.display());
    std::fs::write(bin.join("git"), script).unwrap();
    std::fs::set_permissions(bin.join("git"), Permissions::from_mode(0o755)).unwrap();
    folders.insert(0, bin);
    std::fs::write(&log, "").unwrap();
    sandbox.write("next.md", text);
    let mut revise = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    revise.args(["edit", handoff, "--reason", "more", "--body", "next.md"]);
    sandbox.finish(revise.env("PATH", std::env::join_paths(folders).unwrap())).exits(0);
    std::fs::read_to_string(&log).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_revision_starts_at_most_three_git_processes() {
    let sandbox = revised();
    sandbox.write("src/market.rs", "fn market() {}\n");
    let check = |handoff: &str, number: usize| {
        let text = format!("# Text {number}\n\nIt is slow in `src/market.rs:1`.\n");
        let calls = git_calls(&sandbox, handoff, &text);
        assert!((1..=3).contains(&calls.len()), "{calls:#?}");
    };
    check("market", 1);
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "-m", "all"]);
    check("market", 2);
    sandbox.write(FILE, sandbox.read(FILE) + "\nEdited by hand.\n");
    check("market", 3);
    sandbox.write("new.md", "# Never committed\n\nIt is slow in `src/market.rs:1`.\n");
    sandbox.run(["new", "Never committed", "--private", "--body", "new.md"]).exits(0);
    check("never-committed", 4);
    check("never-committed", 5);
}

#[test]
fn what_git_keeps_is_as_private_as_the_user_wants() {
    let sandbox = shop();
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "all"]);
    sandbox.write(FILE, sandbox.read(FILE) + "\nNot committed.\n");
    let text = sandbox.read(FILE) + "\nOne more line.\n";
    sandbox.write("next.md", text);
    let script = format!(
        "umask 077; {} edit market --reason more --body next.md",
        env!("CARGO_BIN_EXE_midstride")
    );
    let before = objects(&sandbox);
    sandbox.finish(sandbox.command("sh").args(["-c", &script])).exits(0);
    let new: Vec<PathBuf> =
        objects(&sandbox).into_iter().filter(|path| !before.contains(path)).collect();
    assert!(new.len() >= 3, "{new:?}");
    for path in new {
        let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o400, "{}", path.display());
    }
}

/// The loose objects of a repository.
fn objects(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(sandbox.root().join(".git/objects")).unwrap();
    let folders = folders.map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten());
    files.map(|entry| entry.unwrap().path()).collect()
}
