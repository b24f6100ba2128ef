//! Flags that add entries to the header: questions, proofs, decisions and the like.

use super::shop;

const MARKET: &str = ".midstride/handoffs/market-page-perf.md";

/// The lines of the header from this field on, up to the next field.
fn field(text: &str, name: &str) -> String {
    let start = format!("  {name}:");
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&start));
    let first = lines.next().unwrap_or("(missing)");
    let rest = lines.take_while(|line| line.starts_with("   "));
    std::iter::once(first).chain(rest).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_new_handoff_starts_with_the_entries_of_its_flags() {
    let sandbox = shop();
    let run = sandbox.run([
        "new",
        "Search is stale",
        "--question",
        "Who owns the index?",
        "--blocking-question",
        "May it be rebuilt?",
        "--assumption",
        "The index is rebuilt hourly",
        "--proof",
        "p95: below 1 s",
        "cargo bench --bench 'search: p95'",
        "--proof",
        "It builds",
        "cargo build",
        "--landmine",
        "- the purge runs hourly",
        "--decision",
        "Rebuild at night because the day is busy",
        "--wrong-turn",
        "A second index because it was near; instead fix the first",
    ]);
    run.exits(0);
    let text = sandbox.read(".midstride/handoffs/search-stale.md");
    let header: Vec<&str> =
        text.lines().skip_while(|line| !line.contains("context_summary")).collect();
    let header = header.split(|line| *line == "---").next().unwrap();
    insta::assert_snapshot!(header.join("\n"), @r#"
    context_summary:
    decisions_made:
      - decision: Rebuild at night
        rationale: the day is busy
    wrong_turns:
      - tried: A second index
        why_wrong: it was near
        replaced_by: fix the first
    open_questions:
      - question: Who owns the index?
        blocking: false
      - question: May it be rebuilt?
        blocking: true
    assumptions:
      - assumption: The index is rebuilt hourly
    landmines:
      - "- the purge runs hourly"
    proofs:
      - claim: "p95: below 1 s"
        run: "cargo bench --bench 'search: p95'"
      - claim: It builds
        run: cargo build
    "#);
    let checked = sandbox.run(["check", "search-stale"]);
    assert!(!checked.stdout.contains("C014"), "the draft has content: {checked}");
}

#[test]
fn edit_adds_entries_without_the_editor_and_keeps_the_rest() {
    let sandbox = shop();
    let before = sandbox.read(MARKET);
    let question =
        ["edit", "market", "--question", "Is the cache shared?", "--landmine", "A purge"];
    insta::assert_snapshot!(sandbox.run(question), @"
    exit 0
    ----- stderr -----
    market-page-perf@3: added to open_questions, landmines
    Next: see what changed with midstride diff market-page-perf
    ");
    let after = sandbox.read(MARKET);
    let body = |text: &str| text.split("---\n").nth(2).unwrap().to_owned();
    assert_eq!(body(&before), body(&after));
    insta::assert_snapshot!(field(&after, "open_questions"), @"
    open_questions:
      - question: May the weather be ten minutes old?
        blocking: true
        suggested_owner: product
      - question: Who owns the cache?
        answer: The platform team
      - question: Is the cache shared?
        blocking: false
    ");
    insta::assert_snapshot!(field(&after, "landmines"), @"
    landmines:
      - The coin balance is looked up on every page
      - A purge
    ");
    let again = sandbox.run(question).exits(0);
    assert!(again.stderr.contains("Nothing changed."), "{again}");
    assert_eq!(sandbox.read(MARKET), after);

    sandbox.write("text.md", "## Diagnosis\n\nThe cache is cold.\n");
    sandbox
        .run(["edit", "market", "--body", "text.md", "--reason", "why", "--assumption", "Cold"])
        .exits(0);
    let after = sandbox.read(MARKET);
    assert!(after.ends_with("## Diagnosis\n\nThe cache is cold.\n"), "{after}");
    assert!(field(&after, "assumptions").contains("- assumption: Cold"), "{after}");
}

#[test]
fn an_answer_and_what_it_leads_to_are_one_revision() {
    let sandbox = shop();
    sandbox
        .run(["answer", "market", "q1", "Redis", "--decision", "Cache in Redis because shared"])
        .exits(0);
    let text = sandbox.read(MARKET);
    insta::assert_snapshot!(field(&text, "decisions_made"), @"
    decisions_made:
      - decision: Paginate in the database
        rationale: The time grows with the number of companies
        alternatives_considered: [Cache the page]
      - decision: Cache in Redis
        rationale: shared
    ");
    insta::assert_snapshot!(field(&text, "open_questions"), @"
    open_questions:
      - question: May the weather be ten minutes old?
        blocking: true
        suggested_owner: product
        answer: Redis
      - question: Who owns the cache?
        answer: The platform team
    ");
    let revisions = field(&text, "revisions");
    assert_eq!(revisions.matches("reason: answered q1").count(), 1, "{revisions}");
    assert_eq!(revisions.matches("reason:").count(), 2, "one before, and this one: {revisions}");
}

#[test]
fn a_proof_needs_both_a_claim_and_a_command() {
    let sandbox = shop();
    let before = sandbox.read(MARKET);
    insta::assert_snapshot!(sandbox.run(["edit", "market", "--proof", "It builds"]), @"
    exit 2
    ----- stderr -----
    error: 2 values required for '--proof <CLAIM> <COMMAND>' but 1 was provided

    Usage: midstride edit [OPTIONS] <HANDOFF>

    For more information, try '--help'.
    ");
    let run = sandbox.run(["edit", "market", "--proof", "It builds", "--question", "Why?"]);
    assert!(run.exits(2).stderr.contains("--proof"), "no flag is taken for the command");
    assert_eq!(sandbox.read(MARKET), before);
}

#[test]
fn a_note_takes_no_entries() {
    let sandbox = shop();
    let before = sandbox.read("HANDOFF.md");
    insta::assert_snapshot!(sandbox.run(["edit", "HANDOFF.md", "--question", "Why?"]), @"
    exit 2
    ----- stderr -----
    error: `HANDOFF.md` has no handoff header, so midstride cannot record its history
    hint: `midstride new --from HANDOFF.md` turns it into a handoff
    hint: `midstride dismiss HANDOFF.md` keeps it out of briefings
    ");
    assert_eq!(sandbox.read("HANDOFF.md"), before);
}
