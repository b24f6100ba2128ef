use super::shop;

#[test]
fn a_handoff_is_shown_for_a_person() {
    insta::assert_snapshot!(shop().run(["show", "market-page-perf"]), @"
    exit 0
    ----- stdout -----
    Market pages take 14 s
    market-page-perf · investigation · in_progress · from nightcheck · to implementer · captured 2026-03-21 · revised once
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
      - The index on city exists (medium confidence, to be validated)

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
fn names_are_found_by_their_start_their_stage_and_their_path() {
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
    hint: `midstride list --all` shows what there is
    ");
    sandbox.write(
        ".midstride/handoffs/feat-042/discovery.md",
        "---\nhandoff:\n  id: feat-042\n  stage: discovery\n---\n",
    );
    insta::assert_snapshot!(sandbox.run(["show", "feat-042"]), @"
    exit 2
    ----- stderr -----
    error: `feat-042` can mean 2 handoffs
    hint: feat-042/discovery  .midstride/handoffs/feat-042/discovery.md
    hint: feat-042/request  .midstride/handoffs/feat-042/request.md
    hint: name one of them
    ");
}

#[test]
fn paths_are_told_from_where_one_stands() {
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
    error: `[HOME]/x.md` lies outside the project
    hint: midstride stays inside the project: start it there, or name the project with `-C`
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
    error: `.midstride/handoffs/market-page-perf.md` has no section `zebra`
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
