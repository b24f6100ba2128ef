//! Tests of the lifecycle commands: start, answer, review, resolve.

use super::{shop, without_history};

const FILE: &str = ".midstride/handoffs/market-page-perf.md";

#[test]
fn a_handoff_is_started_once() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run(["start", "feat-042/request", "--by", "planner"]), @"
    exit 0
    ----- stderr -----
    feat-042/request@2: started
    ");
    let text = sandbox.read(".midstride/handoffs/feat-042/request.md");
    assert!(text.contains("  status: in_progress\n"), "{text}");
    assert!(text.contains(" by: planner, verb: start, reason: started, was: "), "{text}");
    insta::assert_snapshot!(sandbox.run(["start", "feat-042/request"]), @"
    exit 2
    ----- stderr -----
    error: `feat-042/request` is already in progress
    hint: `midstride show feat-042/request` shows its status
    ");
    insta::assert_snapshot!(sandbox.run(["start", "login-loop"]), @"
    exit 2
    ----- stderr -----
    error: `login-loop` is already resolved
    hint: reopen it with midstride reopen login-loop
    ");
}

#[test]
fn every_command_prints_json_of_what_it_recorded() {
    let sandbox = shop();
    let steps: [&[&str]; 6] = [
        &["start", "feat-042/request"],
        &["answer", "market", "q1", "Yes"],
        &["review", "market", "--by", "eve", "--challenged", "x", "--verdict", "corrected"],
        &["edit", "market", "--reason", "shorter", "--body", "HANDOFF.md"],
        &["undo", "market"],
        &["resolve", "market", "--outcome", "done"],
    ];
    for (step, revision) in steps.iter().zip([2, 3, 4, 5, 6, 7]) {
        let run = sandbox.run([*step, &["--json"]].concat()).exits(0);
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(json["revision"], revision, "{run}");
        assert_eq!(run.stderr, "", "{run}");
    }
}

#[test]
fn a_stage_does_not_supersede_itself() {
    let run = shop().run(["resolve", "feat-042/request", "--by", "feat-042/request"]).exits(2);
    assert!(run.stderr.contains("cannot supersede itself"), "{run}");
}

#[test]
fn an_answer_unblocks() {
    let sandbox = shop();
    sandbox.run(["check", "market", "--quiet"]).exits(1);
    insta::assert_snapshot!(sandbox.run(["answer", "market", "q1", "Yes, ten minutes"]), @"
    exit 0
    ----- stderr -----
    market-page-perf@3: answered q1
    ");
    insta::assert_snapshot!(sandbox.run(["answer", "market", "a1", "--holds"]), @"
    exit 0
    ----- stderr -----
    market-page-perf@4: a1 holds
    ");
    sandbox.run(["check", "market", "--quiet"]).exits(0);
    assert!(
        sandbox
            .read(FILE)
            .contains("      suggested_owner: product\n      answer: Yes, ten minutes\n")
    );
    insta::assert_snapshot!(sandbox.run(["answer", "market", "q1", "No"]), @r#"
    exit 0
    ----- stderr -----
    market-page-perf@5: answered q1
    Previously, the answer was "Yes, ten minutes" (see `market-page-perf@4`)
    "#);
    insta::assert_snapshot!(sandbox.run(["answer", "market", "q7", "x"]), @"
    exit 2
    ----- stderr -----
    error: `market-page-perf` was not changed: it has 2 questions; there is no q7
    hint: `midstride show market-page-perf` shows its status
    ");
    insta::assert_snapshot!(sandbox.run(["answer", "market", "q1"]), @r#"
    exit 2
    ----- stderr -----
    error: q1 is a question and takes only an answer
    hint: midstride answer market q1 "the answer"
    "#);
    insta::assert_snapshot!(sandbox.run(["answer", "market", "z1", "x"]), @"
    exit 2
    ----- stderr -----
    error: `z1` is neither a question nor an assumption
    hint: q1 is the first question; a1 is the first assumption
    ");
}

#[test]
fn a_review_is_recorded_with_its_verdict() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run(["review", "market", "--by", "eve", "--challenged", "the code path", "--verdict", "corrected"]), @"
    exit 0
    ----- stderr -----
    market-page-perf@3: reviewed: the code path (corrected)
    Next: midstride edit market-page-perf --reason 'the code path'
    ");
    let text = sandbox.read(FILE);
    assert!(text.contains("      by: eve\n      challenged: the code path\n      verdict: corrected\n      revision: 2\n"), "{text}");
}

#[test]
fn a_correction_is_one_revision_with_its_wrong_turn_and_its_text() {
    let sandbox = shop();
    let first = sandbox.read(FILE);
    let review = ["review", "market", "--by", "eve", "--challenged", "the code path", "--verdict"];
    let dropped = ["--dropped", "Caching the page", "--because", "Purges are the problem"];
    let instead = ["--instead", "Pages of twenty rows", "--body", "-"];
    let correction = [&review[..], &["corrected"], &dropped, &instead].concat();
    insta::assert_snapshot!(sandbox.run_with_input(&correction, "## Plan\n\n1. Measure `app/market.py:16`, then test.\n"), @"
    exit 0
    ----- stderr -----
    market-page-perf@3: reviewed: the code path (corrected)
    Next: see what changed with midstride diff market-page-perf
    ");
    insta::assert_snapshot!(sandbox.run(["diff", "market"]), @r#"
    exit 0
    ----- stdout -----
    --- market-page-perf@2
    +++ market-page-perf@3
    @@ -1,6 +1,7 @@
     ---
     handoff:
       id: market-page-perf
    +  uid: [UID]
       title: Market pages take 14 s
       kind: investigation
       status: in_progress
    @@ -15,6 +16,9 @@
       wrong_turns:
         - tried: Blaming _fetch_market_data()
           why_wrong: Another function serves the pages
    +    - tried: Caching the page
    +      why_wrong: Purges are the problem
    +      replaced_by: Pages of twenty rows
       open_questions:
         - question: May the weather be ten minutes old?
           blocking: true
    @@ -27,19 +31,22 @@
           validation_needed: true
       landmines:
         - The coin balance is looked up on every page
    +  reviews:
    +    - at: 2026-03-21T17:24:00Z
    +      by: eve
    +      challenged: the code path
    +      verdict: corrected
    +      revision: 2
       revisions:
         - at: 2026-03-22T08:00:00Z
           reason: wrong code path
    +    - {at: 2026-03-21T17:24:00Z, by: eve, verb: review, reason: "reviewed: the code path (corrected)", was: [COMMIT]}
     ---
    -
    -## Diagnosis
     
    -Austin takes 14,290 ms.
    +## Plan
     
    -## Root causes
    -
    -- The query in `app/market.py:16` loads everything.
    +1. Measure `app/market.py:16`, then test.
     
    -## Plan
    -
    -1. Paginate; check the number of rows.
    +<!-- midstride:anchors 1
    +4feffc663748 nothing app/market.py:16
    +-->
    "#);
    let text = sandbox.read(FILE);
    assert!(
        text.contains(
            "---\n\n## Plan\n\n1. Measure `app/market.py:16`, then test.\n\n<!-- midstride"
        ),
        "{text}"
    );
    insta::assert_snapshot!(sandbox.run(["undo", "market"]), @"
    exit 0
    ----- stderr -----
    market-page-perf@4: undo of @3: reviewed: the code path (corrected)
    ");
    assert_eq!(without_history(&sandbox.read(FILE)), without_history(&first));
}

#[test]
fn a_correction_may_bring_a_header_or_come_later() {
    let sandbox = shop();
    let review = ["review", "market", "--by", "eve", "--challenged", "14 s", "--verdict"];
    let whole = sandbox.read(FILE).replace("14,290 ms", "14,300 ms");
    let corrected = [&review[..], &["corrected", "--body", "-"]].concat();
    sandbox.run_with_input(&corrected, &whole).exits(0);
    let text = sandbox.read(FILE);
    assert!(
        text.contains("Austin takes 14,300 ms.") && text.contains("challenged: 14 s"),
        "{text}"
    );
    insta::assert_snapshot!(sandbox.run([&review[..], &["corrected", "--dropped", "One city is enough"]].concat()), @"
    exit 0
    ----- stderr -----
    market-page-perf@4: reviewed: 14 s (corrected)
    Next: midstride edit market-page-perf --reason '14 s'
    ");
    assert!(sandbox.read(FILE).contains("    - tried: One city is enough\n"));
    insta::assert_snapshot!(sandbox.run_with_input(&corrected, &sandbox.read(FILE)), @"
    exit 0
    ----- stderr -----
    market-page-perf@5: reviewed: 14 s (corrected)
    Next: midstride edit market-page-perf --reason '14 s'
    ");
    insta::assert_snapshot!(sandbox.run([&review[..], &["rejected", "--dropped", "All of it"]].concat()), @"
    exit 0
    ----- stderr -----
    market-page-perf@6: reviewed: 14 s (rejected)
    ");
}

#[test]
fn blank_values_are_refused() {
    let sandbox = shop();
    let before = sandbox.read(FILE);
    insta::assert_snapshot!(sandbox.run(["review", "market", "--by", "", "--challenged", "", "--verdict", "held"]), @"
    exit 2
    ----- stderr -----
    error: invalid value '' for '--by <WHO>': it is blank

    For more information, try '--help'.
    ");
    let review = ["review", "market", "--verdict", "corrected", "--by", "eve", "--challenged"];
    let spoken: [&[&str]; 17] = [
        &["start", "feat-042/request", "--by", " "],
        &["answer", "market", "q1", " "],
        &["answer", "market", "q1", "Yes", "--by", ""],
        &[&review[..], &["\t"]].concat(),
        &[&review[..], &["x", "--dropped", " "]].concat(),
        &[&review[..], &["x", "--dropped", "y", "--because", " "]].concat(),
        &[&review[..], &["x", "--dropped", "y", "--instead", " "]].concat(),
        &["edit", "market", "--body", "HANDOFF.md", "--reason", " "],
        &["edit", "market", "--body", "HANDOFF.md", "--reason", "r", "--by", " "],
        &["resolve", "market", "--outcome", " "],
        &["resolve", "market", "--abandon", " "],
        &["resolve", "market", "--commit", " "],
        &["resolve", "market", "--by", " "],
        &["advance", "feat-042", "--to", "discovery", "--force", "--reason", " "],
        &["undo", "market", "--by", " "],
        &["share", "market", "--by", " "],
        &["new", "X", "--by", " "],
    ];
    for typed in spoken {
        let run = sandbox.run(typed).exits(2);
        assert!(run.stderr.contains("it is blank"), "{typed:?}: {run}");
    }
    assert_eq!(sandbox.read(FILE), before);
}

#[test]
fn a_review_that_held_cannot_change_the_text() {
    let sandbox = shop();
    let before = sandbox.read(FILE);
    let review = ["review", "market", "--by", "eve", "--challenged", "x", "--verdict", "held"];
    insta::assert_snapshot!(sandbox.run([&review[..], &["--dropped", "y"]].concat()), @"
    exit 2
    ----- stderr -----
    error: `market-page-perf` was not changed: a review with the verdict `held` cannot drop or correct anything
    hint: omit `--dropped` and `--body`, or give `--verdict corrected`
    ");
    insta::assert_snapshot!(sandbox.run_with_input(&[&review[..], &["--body", "-"]].concat(), "## Plan\n"), @"
    exit 2
    ----- stderr -----
    error: `market-page-perf` was not changed: a review with the verdict `held` cannot drop or correct anything
    hint: omit `--dropped` and `--body`, or give `--verdict corrected`
    ");
    insta::assert_snapshot!(sandbox.run([&review[..], &["--because", "y"]].concat()), @"
    exit 2
    ----- stderr -----
    error: the following required arguments were not provided:
      --dropped <TEXT>

    Usage: midstride review --by <WHO> --challenged <TEXT> --verdict <VERDICT> --dropped <TEXT> --because <TEXT> <HANDOFF>

    For more information, try '--help'.
    ");
    assert_eq!(sandbox.read(FILE), before);
    insta::assert_snapshot!(sandbox.run(["review", "HANDOFF", "--by", "eve", "--challenged", "x", "--verdict", "corrected", "--dropped", "y"]), @"
    exit 2
    ----- stderr -----
    error: `HANDOFF.md` has no handoff header, so midstride cannot record its history
    hint: `midstride new --from HANDOFF.md` turns it into a handoff
    hint: `midstride dismiss HANDOFF.md` keeps it out of briefings
    ");
}

#[test]
fn a_resolution_needs_a_commit_successor_or_reason() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run(["resolve", "market"]), @"
    exit 2
    ----- stderr -----
    error: specify exactly one way to close the handoff
    hint: use --commit COMMIT, --outcome TEXT, --by ID or --abandon REASON
    ");
    insta::assert_snapshot!(sandbox.run(["resolve", "market", "--commit", "feedbee"]), @"
    exit 2
    ----- stderr -----
    error: there is no commit `feedbee` in this repository
    hint: commit first, or give `--outcome` instead
    ");
    let measured = ["--measured", "Austin, cold=14290:108 ms"];
    insta::assert_snapshot!(sandbox.run([&["resolve", "market", "--commit", "HEAD"], &measured[..]].concat()), @r#"
    exit 0
    ----- stderr -----
    market-page-perf@3: resolved
    1 blocking question is open:
      market-page-perf q1 (product): May the weather be ten minutes old?
    Next: midstride answer market-page-perf q1 "the answer"
    "#);
    let shown = sandbox.run(["show", "market"]).exits(0).stdout;
    assert!(shown.contains("Austin, cold: 14290 → 108 ms (132×)"), "{shown}");
    assert!(shown.contains("· resolved ·"), "{shown}");
    insta::assert_snapshot!(sandbox.run(["resolve", "market", "--outcome", "again"]), @"
    exit 2
    ----- stderr -----
    error: `market-page-perf` is already resolved
    hint: reopen it with midstride reopen market-page-perf
    ");
    sandbox.run(["resolve", "feat-042/request", "--by", "market"]).exits(0);
    sandbox.run(["check", "--fail-on", "error"]).exits(0);
    let text = sandbox.read(".midstride/handoffs/feat-042/request.md");
    assert!(text.contains("  superseded_by: market-page-perf\n"), "{text}");
}

#[test]
fn resolving_records_the_measurement_after() {
    let sandbox = shop();
    let before = "  measurements:\n    - name: Austin, cold\n      before: 14290\n      unit: ms\n";
    let text = sandbox.read(FILE).replace("  revisions:\n", &format!("{before}  revisions:\n"));
    sandbox.write(FILE, text);
    let resolve = ["resolve", "market", "--outcome", "Paginated", "--measured"];
    insta::assert_snapshot!(sandbox.run([&resolve[..], &["Austin, cold=15000:108"]].concat()), @"
    exit 2
    ----- stderr -----
    error: `market-page-perf` was not changed: `Austin, cold` has `before: 14290`, not 15000
    hint: give only the new number: `--measured 'Austin, cold=AFTER'`
    ");
    sandbox.run([&resolve[..], &["Austin, cold=108 ms"]].concat()).exits(0);
    let text = sandbox.read(FILE);
    let both = "      before: 14290\n      after: 108\n      unit: ms\n";
    assert!(text.contains(both), "{text}");
    assert_eq!(text.matches("name: Austin").count(), 1, "{text}");
}

#[test]
fn every_revision_can_be_shown() {
    let sandbox = shop();
    let first = sandbox.read(FILE);
    sandbox.run(["answer", "market", "q1", "Yes"]).exits(0);
    sandbox.run(["resolve", "market", "--abandon", "no budget"]).exits(0);
    assert_eq!(sandbox.run(["show", "market@2"]).exits(0).stdout, first);
    let diff = sandbox.run(["diff", "market@3", "market@4"]).exits(0).stdout;
    assert!(diff.contains("+    reason: no budget\n"), "{diff}");
}

#[test]
fn any_sequence_of_steps_is_undone_one_by_one() {
    let sandbox = shop();
    let steps: [&[&str]; 4] = [
        &["answer", "market", "q1", "Yes"],
        &["review", "market", "--by", "eve", "--challenged", "x", "--verdict", "held"],
        &["answer", "market", "a1", "--fails"],
        &["resolve", "market", "--abandon", "no budget", "--measured", "a=1:2 s"],
    ];
    let mut texts = vec![sandbox.read(FILE)];
    for step in steps {
        sandbox.run(step).exits(0);
        texts.push(sandbox.read(FILE));
    }
    for expected in texts.iter().rev().skip(1) {
        sandbox.run(["undo", "market"]).exits(0);
        assert_eq!(without_history(&sandbox.read(FILE)), without_history(expected));
    }
    sandbox.run(["answer", "market", "q1", "No"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["undo", "market"]), @"
    exit 0
    ----- stderr -----
    market-page-perf@12: undo of @11: answered q1
    ");
    assert_eq!(without_history(&sandbox.read(FILE)), without_history(&texts[0]));
    insta::assert_snapshot!(sandbox.run(["undo", "login-loop"]), @"
    exit 2
    ----- stderr -----
    error: nothing is left to undo in `login-loop`
    hint: `midstride show login-loop` shows what happened to it
    ");
}

#[test]
fn a_private_handoff_is_shared() {
    let sandbox = shop();
    sandbox.run(["new", "Afternoon", "--kind", "session"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["share", "afternoon"]), @"
    exit 0
    ----- stderr -----
    afternoon is now in the committed folder: .midstride/handoffs/afternoon.md
    Next: git add and commit it
    ");
    let text = sandbox.read(".midstride/handoffs/afternoon.md");
    assert!(text.contains(" reason: shared, "), "{text}");
    assert!(!sandbox.root().join(".git/midstride/handoffs/afternoon.md").exists());
    assert!(sandbox.run(["show", "afternoon@1"]).exits(0).stdout.contains("title: Afternoon"));
    insta::assert_snapshot!(sandbox.run(["share", "afternoon"]), @"
    exit 2
    ----- stderr -----
    error: `.midstride/handoffs/afternoon.md` is not in the private folder
    hint: only handoffs in the private folder need to be shared
    ");
    assert_eq!(sandbox.git(&["diff", "--cached", "--name-only"]), "");
}

#[test]
fn undo_after_sharing_does_not_publish_private_texts() {
    let sandbox = shop();
    sandbox.run(["new", "Afternoon", "--kind", "session", "--summary", "the prompt"]).exits(0);
    let path = sandbox.root().join(".git/midstride/handoffs/afternoon.md");
    let text = std::fs::read_to_string(path).unwrap();
    sandbox.write("clean.md", text.replace("the prompt", "what came of it"));
    sandbox.run(["edit", "afternoon", "--reason", "clean", "--body", "clean.md"]).exits(0);
    sandbox.run(["share", "afternoon"]).exits(0);
    sandbox.run(["start", "afternoon"]).exits(0);
    sandbox.run(["undo", "afternoon"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["undo", "afternoon"]), @"
    exit 2
    ----- stderr -----
    error: changes made to `afternoon` before the share cannot be undone
    hint: `midstride show afternoon --history` lists its revisions; restore one with `midstride edit`
    ");
    assert!(!sandbox.read(".midstride/handoffs/afternoon.md").contains("the prompt"));
}

#[test]
fn suggested_commands_can_be_pasted() {
    let sandbox = shop();
    let said = "say \"hi\" $(touch owned) it's";
    let review = ["review", "market", "--by", "eve", "--challenged", said, "--verdict"];
    let run = sandbox.run([&review[..], &["corrected"]].concat()).exits(0);
    let next = run.stderr.split("Next: midstride ").nth(1).unwrap().trim();
    let script = format!("printf '%s\\n' {next}");
    let printed = sandbox.command("sh").args(["-c", &script]).output().unwrap();
    let expected = format!("edit\nmarket-page-perf\n--reason\n{said}\n");
    assert_eq!(String::from_utf8_lossy(&printed.stdout), expected);
    assert!(!sandbox.root().join("owned").exists());
    let odd = "---\nhandoff:\n  id: $(touch owned)\n  status: resolved\n---\n";
    sandbox.write(".midstride/handoffs/odd one.md", odd);
    insta::assert_snapshot!(sandbox.run(["start", ".midstride/handoffs/odd one.md"]), @"
    exit 2
    ----- stderr -----
    error: `$(touch owned)` is already resolved
    hint: reopen it with midstride reopen '$(touch owned)'
    ");
    sandbox.write("docs/handoffs/a note.md", "# A note\n");
    insta::assert_snapshot!(sandbox.run(["undo", "docs/handoffs/a note.md"]), @"
    exit 2
    ----- stderr -----
    error: nothing is left to undo in `a note`
    hint: `midstride show 'a note'` shows what happened to it
    ");
    insta::assert_snapshot!(sandbox.run(["answer", "docs/handoffs/a note.md", "q1"]), @r#"
    exit 2
    ----- stderr -----
    error: q1 is a question and takes only an answer
    hint: midstride answer 'docs/handoffs/a note.md' q1 "the answer"
    "#);
    insta::assert_snapshot!(sandbox.run(["answer", "docs/handoffs/a note.md", "q1", "x"]), @"
    exit 2
    ----- stderr -----
    error: `a note` was not changed: it has no questions; there is no q1
    hint: `midstride show 'a note'` shows its status
    ");
}
