use super::log::Scripted;
use super::shop;
use midstride_testkit::{Run, Sandbox, json_items};

/// Runs the program at another time than the fixed one of the sandbox.
fn run_at(sandbox: &Sandbox, now: &str, arguments: &[&str]) -> Run {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    sandbox.finish(command.env("MIDSTRIDE_NOW", now).args(arguments))
}

#[test]
fn a_handoff_is_shown_in_the_terminal() {
    insta::assert_snapshot!(shop().run(["show", "market-page-perf"]), @"
    exit 0
    ----- stdout -----
    Market pages take 14 s
    market-page-perf · investigation · in_progress · from nightcheck · to implementer
    captured 2026-03-21 (less than a day ago) · changed 2026-03-22 · revised once · never reviewed · 1 blocking question · 1 assumption not validated
    .midstride/handoffs/market-page-perf.md

    Summary
      Cold renders load every company of a city.

    Open questions
      - BLOCKS: May the weather be ten minutes old?
        who: product
      - answered: Who owns the cache?
        answer: The platform team

    Wrong turns
      - Blaming _fetch_market_data()
        wrong because: Another function serves the pages

    Landmines
      - The coin balance is looked up on every page

    Decisions
      - Paginate in the database
        because: The time grows with the number of companies
        not: Cache the page

    Assumptions
      - The index on city exists (medium confidence, needs validation)

    Revisions
      - 2026-03-22T08:00:00Z  wrong code path

    ## Diagnosis

    Austin takes 14,290 ms.

    ## Root causes

    - The query in `app/market.py:16` loads everything.

    ## Plan

    1. Paginate; check the number of rows.
    ");
}

#[test]
fn handoffs_are_found_by_prefix_stage_and_path() {
    let sandbox = shop();
    for name in ["market", "market-page-perf", ".midstride/handoffs/market-page-perf.md"] {
        assert!(sandbox.run(["show", name]).exits(0).stdout.starts_with("Market pages"), "{name}");
    }
    assert!(sandbox.run(["show", "feat-042/request"]).exits(0).stdout.contains("Snapshots"));
    assert!(sandbox.run(["show", "feat-042"]).exits(0).stdout.contains("Snapshots"));
    insta::assert_snapshot!(sandbox.run(["show", "markt-page-perf"]), @"
    exit 2
    ----- stderr -----
    error: there is no handoff `markt-page-perf`
    hint: did you mean `market-page-perf`?
    ");
    insta::assert_snapshot!(sandbox.run(["show", "zebra"]), @"
    exit 2
    ----- stderr -----
    error: there is no handoff `zebra`
    hint: `midstride list --all` lists all handoffs
    ");
    sandbox.write(
        ".midstride/handoffs/feat-042/discovery.md",
        "---\nhandoff:\n  id: feat-042\n  stage: discovery\n---\n",
    );
    insta::assert_snapshot!(sandbox.run(["show", "feat-042"]), @"
    exit 2
    ----- stderr -----
    error: `feat-042` matches 2 handoffs
    hint: feat-042/discovery  .midstride/handoffs/feat-042/discovery.md
    hint: feat-042/request  .midstride/handoffs/feat-042/request.md
    hint: specify one of them
    ");
}

#[test]
fn paths_are_relative_to_the_current_directory() {
    let sandbox = shop();
    sandbox.write("app/web/x.py", "");
    let run = sandbox.run(["-C", "app/web", "show", "market"]).exits(0);
    assert!(run.stdout.contains("\n../../.midstride/handoffs/market-page-perf.md\n"), "{run}");
    let run = sandbox.run(["-C", ".midstride", "check", "handoffs/market-page-perf.md"]).exits(1);
    assert!(run.stdout.contains("--> handoffs/market-page-perf.md:19:17"), "{run}");
    let outside = sandbox.home().join("x.md");
    std::fs::write(&outside, "# Outside\n").unwrap();
    insta::assert_snapshot!(sandbox.run(["show", outside.to_str().unwrap()]), @"
    exit 2
    ----- stderr -----
    error: `[HOME]/x.md` is outside the project
    hint: midstride works only inside the current project; run it in the file's project, or specify that project with `-C`
    ");
}

#[test]
fn one_section_or_field_is_shown_alone() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run(["show", "market", "--section", "root causes"]), @"
    exit 0
    ----- stdout -----
    ## Root causes

    - The query in `app/market.py:16` loads everything.
    ");
    insta::assert_snapshot!(sandbox.run(["show", "market", "--section", "wrong_turns"]), @"
    exit 0
    ----- stdout -----
    wrong_turns:
      - tried: Blaming _fetch_market_data()
        why_wrong: Another function serves the pages
    ");
    insta::assert_snapshot!(sandbox.run(["show", "market", "--section", "zebra"]), @"
    exit 2
    ----- stderr -----
    error: `.midstride/handoffs/market-page-perf.md` has no `zebra` section
    hint: it has `Diagnosis`, `Root causes`, `Plan`, `id`, `title`, `kind`, `status`, `from`, `to`, `created`, `context_summary`, `decisions_made`, `wrong_turns`, `open_questions`, `assumptions`, `landmines`, `revisions`
    ");
}

#[test]
fn a_pull_request_gets_its_context() {
    let sandbox = shop();
    let run = sandbox.run(["show", "market", "--as", "pr"]);
    insta::assert_snapshot!(run, @"
    exit 0
    ----- stdout -----
    ## Handoff Context

    **Feature**: market-page-perf - Market pages take 14 s
    **Design**: .midstride/handoffs/market-page-perf.md
    **Implements**:

    ### Decisions Made During Implementation

    - Decision: Paginate in the database
      Rationale: The time grows with the number of companies

    ### Deviations from Design

    None.

    ### Open Questions for Review

    - Question: May the weather be ten minutes old?
      Context:
    ");
    let filled = run.stdout.replace("**Implements**:", "**Implements**: Plan, step 1");
    sandbox.write("body.md", filled);
    sandbox.run(["check", "--pr-body", "body.md", "--fail-on", "error"]).exits(0);
}

#[test]
fn json_has_the_header_and_the_facts() {
    let run = shop().run(["show", "market", "--json"]).exits(0);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["key"], "market-page-perf");
    assert_eq!(json["changed"], "2026-03-22T08:00:00Z");
    assert_eq!(json["blocking_questions"][0], "May the weather be ten minutes old?");
    assert_eq!(json["header"]["open_questions"][0]["blocking"], true);
    assert_eq!(json["sections"][1]["meaning"], "Root causes");
}

/// A handoff that was challenged, corrected and implemented.
fn lived() -> Sandbox {
    let sandbox = crate::sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    let new = ["new", "Market pages take 14 s", "--id", "market", "--by", "nightcheck"];
    sandbox.run([&new[..], &["--no-edit"]].concat()).exits(0);
    sandbox.write("body.md", "## Diagnosis\n\nmarket_hub() paginates in Python.\n");
    let review = ["review", "market", "--by", "eve", "--verdict", "corrected", "--challenged"];
    let path = "the code path: market_hub() serves the slow pages";
    let partials = "HTMX partials for Apple Maps, which signs its URLs on the server and asks nobody, \
                    and for tier counts, which belong into one aggregation";
    let reason = "wrong code path, unnecessary HTMX";
    let revise = ["edit", "market", "--by", "nightcheck", "--body", "body.md", "--reason"];
    let outcome = "The query fix is deployed";
    let resolve = ["resolve", "market", "--commit", "HEAD", "--outcome", outcome];
    let measured = ["--measured", "Austin, cold=14290:108 ms", "--measured", "Tokyo=381:97 ms"];
    for (now, step) in [
        ("2026-03-21T18:05:00Z", [&review[..], &[path]].concat()),
        ("2026-03-21T18:10:00Z", [&review[..], &[partials]].concat()),
        ("2026-03-21T18:20:00Z", [&revise[..], &[reason]].concat()),
        ("2026-03-25T05:00:00Z", vec!["start", "market", "--by", "implementer"]),
        ("2026-03-25T06:30:00Z", [&resolve[..], &measured].concat()),
    ] {
        run_at(&sandbox, now, &step).exits(0);
    }
    sandbox
}

#[test]
fn the_history_is_shown_as_a_timeline() {
    let sandbox = lived();
    insta::assert_snapshot!(sandbox.run(["show", "market", "--history"]), @"
    exit 0
    ----- stdout -----
    Market pages take 14 s
    market · investigation · resolved · from nightcheck

    2026-03-21 17:24  @1  captured    by nightcheck
    2026-03-21 18:05  @2  challenged  by eve: the code path: market_hub() serves the slow pages
                                      → corrected
    2026-03-21 18:10  @3  challenged  by eve: HTMX partials for Apple Maps, which signs its URLs on the
                                      server and asks nobody, and for tier counts, which belong into one
                                      aggregation
                                      → corrected
    2026-03-21 18:20  @4  changed     by nightcheck: wrong code path, unnecessary HTMX
    2026-03-25 05:00  @5  changed     by implementer: started
    2026-03-25 06:30  @6  resolved    by tester: The query fix is deployed
                                      commit [COMMIT]
                                      Austin, cold: 14290 → 108 ms (132×)
                                      Tokyo: 381 → 97 ms (4×)
    ");
    assert!(sandbox.run(["show", "market@4"]).exits(0).stdout.contains("market_hub() paginates"));
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is one answer")]
fn the_history_is_available_as_json() {
    insta::assert_snapshot!(lived().run(["show", "market", "--history", "--json"]), @r#"
    exit 0
    ----- stdout -----
    {
      "schema": "history/1",
      "key": "market",
      "title": "Market pages take 14 s",
      "status": "resolved",
      "trust": {
        "age_days": 0,
        "unchanged_days": null,
        "revisions": 3,
        "reviews": {
          "held": 0,
          "corrected": 2,
          "rejected": 0,
          "unclear": 0
        },
        "proofs": {
          "hold": 0,
          "broken": 0,
          "timed_out": 0,
          "never_run": 0
        },
        "blocking_questions": 0,
        "unvalidated_assumptions": 0,
        "disproved_assumptions": 0,
        "ended": true
      },
      "receipts": {
        "delivered": [],
        "acknowledged": []
      },
      "history": [
        {
          "at": "2026-03-21T17:24:00Z",
          "by": "nightcheck",
          "text": 1,
          "event": "captured",
          "reason": null
        },
        {
          "at": "2026-03-21T18:05:00Z",
          "by": "eve",
          "text": 2,
          "event": "challenged",
          "challenged": "the code path: market_hub() serves the slow pages",
          "verdict": "corrected",
          "revision": 1
        },
        {
          "at": "2026-03-21T18:10:00Z",
          "by": "eve",
          "text": 3,
          "event": "challenged",
          "challenged": "HTMX partials for Apple Maps, which signs its URLs on the server and asks nobody, and for tier counts, which belong into one aggregation",
          "verdict": "corrected",
          "revision": 2
        },
        {
          "at": "2026-03-21T18:20:00Z",
          "by": "nightcheck",
          "text": 4,
          "event": "changed",
          "reason": "wrong code path, unnecessary HTMX"
        },
        {
          "at": "2026-03-25T05:00:00Z",
          "by": "implementer",
          "text": 5,
          "event": "changed",
          "reason": "started"
        },
        {
          "at": "2026-03-25T06:30:00Z",
          "by": "tester",
          "text": 6,
          "event": "ended",
          "status": "resolved",
          "commit": "[COMMIT]",
          "outcome": "The query fix is deployed",
          "reason": null,
          "superseded_by": null,
          "measurements": [
            {
              "name": "Austin, cold",
              "before": "14290",
              "after": "108",
              "unit": "ms",
              "ratio": 132.3148148148148
            },
            {
              "name": "Tokyo",
              "before": "381",
              "after": "97",
              "unit": "ms",
              "ratio": 3.9278350515463916
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn trust_is_shown_as_facts() {
    let sandbox = lived();
    insta::assert_snapshot!(run_at(&sandbox, "2026-04-01T12:00:00Z", &["show", "market"]), @"
    exit 0
    ----- stdout -----
    Market pages take 14 s
    market · investigation · resolved · from nightcheck
    captured 2026-03-21 (10 days ago) · changed 2026-03-25 (7 days ago) · revised 3 times · reviewed twice (2 corrected)
    .midstride/handoffs/market.md

    Resolution
      - resolved: 2026-03-25 06:30
      - outcome: The query fix is deployed
      - commit: [COMMIT]

    Measured
      - Austin, cold: 14290 → 108 ms (132×)
      - Tokyo: 381 → 97 ms (4×)

    Reviews
      - 2026-03-21T18:05:00Z  by eve: the code path: market_hub() serves the slow pages → corrected
      - 2026-03-21T18:10:00Z  by eve: HTMX partials for Apple Maps, which signs its URLs on the server and asks nobody, and for tier counts, which belong into one aggregation → corrected

    Other revisions
      - 2026-03-21T18:20:00Z  wrong code path, unnecessary HTMX
      - 2026-03-25T05:00:00Z  started
      - 2026-03-25T06:30:00Z  resolved

    ## Diagnosis

    market_hub() paginates in Python.
    ");
    let run = run_at(&sandbox, "2026-04-01T12:00:00Z", &["show", "market", "--json"]).exits(0);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&json["trust"]).unwrap(), @r#"
    {
      "age_days": 10,
      "unchanged_days": 7,
      "revisions": 3,
      "reviews": {
        "held": 0,
        "corrected": 2,
        "rejected": 0,
        "unclear": 0
      },
      "proofs": {
        "hold": 0,
        "broken": 0,
        "timed_out": 0,
        "never_run": 0
      },
      "blocking_questions": 0,
      "unvalidated_assumptions": 0,
      "disproved_assumptions": 0,
      "ended": true
    }
    "#);
    assert_eq!(json["reviews"][0]["verdict"], "corrected");
    assert_eq!(json["reviews"][0]["at"], "2026-03-21T18:05:00Z");
    assert_eq!(json["reviews"][1]["revision"], 2);
}

#[test]
fn a_history_is_shown_for_any_document() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run(["show", "market", "--history"]), @"
    exit 0
    ----- stdout -----
    Market pages take 14 s
    market-page-perf · investigation · in_progress · from nightcheck · to implementer

    2026-03-21 17:24  @1  captured  by nightcheck
    2026-03-22 08:00  @2  changed   wrong code path
    ");
    insta::assert_snapshot!(sandbox.run(["show", "login-loop", "--history"]), @"
    exit 0
    ----- stdout -----
    Login loops on Safari
    login-loop · investigation · resolved

    2026-03-01 08:00  @1  captured
    (no time)             resolved  commit 4f2c9d1
    ");
    insta::assert_snapshot!(sandbox.run(["show", "HANDOFF", "--history"]), @"
    exit 0
    ----- stdout -----
    Where we are
    HANDOFF · note

    (no time)  @1  captured
    ");
    sandbox.write(
        "HANDOFF.md",
        "# Slow pages\n\n- Captured: 2026-03-21T17:24 (original investigation)\n\
         - Revised: 2026-03-21T18:20 (wrong code path)\n- Revised: 2026-03-25 (deployed)\n",
    );
    insta::assert_snapshot!(sandbox.run(["show", "HANDOFF", "--history"]), @"
    exit 0
    ----- stdout -----
    Slow pages
    HANDOFF · note

    2026-03-21 17:24  captured  original investigation
    2026-03-21 18:20  changed   wrong code path
    2026-03-25        changed   deployed
    ");
    sandbox.write(
        ".midstride/handoffs/odd.md",
        "---\nhandoff:\n  id: odd\n  created: once\n  from: \"\\e[2Jme\"\n  reviews:\n    - \"\\e[31mred\"\n    \
         - verdict: \"pur\\e[0mple\"\n  revisions: [\"\\e[1mbold\", {by: x}]\n---\n",
    );
    insta::assert_snapshot!(sandbox.run(["show", "odd", "--history"]), @"
    exit 0
    ----- stdout -----
    (no title)
    odd · investigation · planned · from �[2Jme

    (no time)  @1  captured    by �[2Jme
    (no time)  @2  changed     �[1mbold
    (no time)  @3  changed     by x: (no reason)
    (no time)      challenged  �[31mred
                               → (no verdict)
    (no time)      challenged  (no text)
                               → pur�[0mple
    ");
}

#[test]
fn an_earlier_revision_has_no_history() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run(["show", "market@2", "--history"]), @"
    exit 2
    ----- stderr -----
    error: `market@2` is a single revision and has no history
    hint: `midstride show market --history` shows how it changed
    ");
    insta::assert_snapshot!(sandbox.run(["show", "market", "--history", "--as", "raw"]), @"
    exit 2
    ----- stderr -----
    error: the argument '--history' cannot be used with '--as <FORM>'

    Usage: midstride show --history <HANDOFF>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run(["show", "market", "--history", "--section", "plan"]), @"
    exit 2
    ----- stderr -----
    error: the argument '--history' cannot be used with '--section <NAME>'

    Usage: midstride show --history <HANDOFF>

    For more information, try '--help'.
    ");
}

#[test]
fn a_resolution_is_shown_with_its_outcome() {
    let sandbox = shop();
    let ended = |id: &str| {
        let shown = sandbox.run(["show", id]).exits(0).stdout;
        let part = shown.split("\nResolution\n").nth(1).unwrap_or_else(|| panic!("{shown}"));
        part.split("\n\n").next().unwrap().to_owned()
    };
    insta::assert_snapshot!(ended("login-loop"), @"  - commit: 4f2c9d1");
    let resolve = ["resolve", "market", "--commit", "HEAD", "--outcome", "Pages of twenty"];
    sandbox.run(resolve).exits(0);
    insta::assert_snapshot!(ended("market"), @"
    - resolved: 2026-03-21 17:24
    - outcome: Pages of twenty
    - commit: [COMMIT]
    ");
    sandbox.run(["resolve", "feat-042/request", "--by", "market"]).exits(0);
    insta::assert_snapshot!(ended("feat-042/request"), @"
    - superseded: 2026-03-21 17:24
    - superseded by: market-page-perf
    ");
    sandbox.run(["new", "Lag"]).exits(0);
    sandbox.run(["resolve", "lag", "--abandon", "no budget"]).exits(0);
    insta::assert_snapshot!(ended("lag"), @"
    - abandoned: 2026-03-21 17:24
    - reason: no budget
    ");
}

#[test]
fn an_earlier_text_is_shown_as_json_and_by_section() {
    let sandbox = shop();
    sandbox.run(["answer", "market", "a1", "--holds"]).exits(0);
    let body = "## Plan\n\n1. Another plan.\n";
    let revise = ["edit", "market", "--reason", "new plan", "--by", "ann", "--body", "-"];
    sandbox.run_with_input(&revise, body).exits(0);
    let json = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_str(&sandbox.run(arguments).exits(0).stdout).unwrap()
    };
    let three = json(&["show", "market@3", "--json"]);
    assert_eq!(three["key"], "market-page-perf");
    assert_eq!(three["revision"], 3);
    assert_eq!(three["by"], "tester");
    assert_eq!(three["reason"], "a1 holds");
    assert!(three["text"].as_str().unwrap().contains("Austin takes 14,290 ms."), "{three}");
    let four = json(&["show", "market@4", "--json"]);
    assert_eq!((&four["by"], &four["reason"]), (&"ann".into(), &"new plan".into()));
    sandbox.run_with_input(&["new", "Lag", "--by", "bob", "--body", "-"], "text\n").exits(0);
    sandbox.run(["start", "lag"]).exits(0);
    let one = json(&["show", "lag@1", "--json"]);
    assert_eq!((&one["by"], &one["reason"]), (&"bob".into(), &serde_json::Value::Null));
    assert_eq!(one["at"], "2026-03-21T17:24:00Z");
    insta::assert_snapshot!(sandbox.run(["show", "market@3", "--section", "plan"]), @"
    exit 0
    ----- stdout -----
    ## Plan

    1. Paginate; check the number of rows.
    ");
    let raw = sandbox.run(["show", "market@3", "--as", "raw"]).exits(0);
    assert_eq!(raw, sandbox.run(["show", "market@3"]));
    let pr = sandbox.run(["show", "market@3", "--as", "pr"]).exits(0);
    assert!(pr.stdout.starts_with("## Handoff Context\n"), "{pr}");
    let same = json(&["diff", "market@3", "market@3", "--json"]);
    assert_eq!((&same["differs"], &same["unified"]), (&false.into(), &"".into()));
    let differs = json(&["diff", "market", "--json"]);
    assert_eq!(differs["from"], "market-page-perf@3");
    assert_eq!(differs["to"], "market-page-perf@4");
    assert_eq!(differs["differs"], true);
    assert!(differs["unified"].as_str().unwrap().contains("\n+1. Another plan.\n"), "{differs}");
}

#[test]
fn a_disproved_assumption_is_shown_as_disproved() {
    let sandbox = shop();
    sandbox.run(["answer", "market", "a1", "--fails"]).exits(0);
    let shown = sandbox.run(["show", "market"]).exits(0).stdout;
    let line = "  - The index on city exists (medium confidence, disproved)\n";
    assert!(shown.contains(line), "{shown}");
    let brief = sandbox.run(["brief", "market"]).exits(0).stdout;
    let item = "Assumption, disproved (market-page-perf):\n> The index on city exists\n";
    assert!(brief.contains(item), "{brief}");
}

#[test]
fn an_id_of_a_session_or_an_open_item_names_its_command() {
    let sandbox = shop();
    let id = "5e550009-4c00-7000-8000-00000000dddd";
    Scripted::new(&sandbox, id, "2026-03-20")
        .ask("Speed up the cache. Never touch web/.")
        .run("npm test", "Exit code 1\nFAIL src/cache.test.ts", true)
        .save();
    sandbox.run(["session", "capture", "--session", id]).exits(0);
    let run = sandbox.run(["show", "5e550009"]).exits(2);
    assert!(
        run.stderr.contains("hint: this is a session: midstride session show 5e550009"),
        "{run}"
    );
    let list = sandbox.run(["dismiss", "--json"]).exits(0).stdout;
    let handle = json_items(&list)[0]["handle"].as_str().unwrap().to_owned();
    let run = sandbox.run(["show", &handle]).exits(2);
    assert!(run.stderr.contains(&format!("`midstride dismiss {handle}` closes it")), "{run}");
    let run = sandbox.run(["show", "kzzz"]).exits(2);
    assert!(!run.stderr.contains("dismiss"), "{run}");
}
