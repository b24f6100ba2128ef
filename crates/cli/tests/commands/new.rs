use super::shop;
use crate::sandbox;

#[test]
fn known_facts_are_filled_in() {
    let sandbox = shop();
    let run = sandbox.run([
        "new",
        "Search is stale",
        "--summary",
        "The index lags by an hour.",
        "--to",
        "ops",
    ]);
    insta::assert_snapshot!(run, @"
    exit 0
    ----- stderr -----
    Wrote search-stale: .midstride/handoffs/search-stale.md
    Next: fill it in, then midstride check search-stale
    ");
    let text = sandbox.read(".midstride/handoffs/search-stale.md");
    let commit = sandbox.git(&["rev-parse", "HEAD"]);
    assert!(!commit.is_empty());
    let shown: Vec<&str> =
        text.lines().filter(|l| !l.contains("uid:") && !l.contains("at_commit:")).collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    ---
    handoff:
      format: 1
      id: search-stale
      title: Search is stale
      kind: investigation
      status: planned
      from: tester
      to: [ops]
      created: 2026-03-21T17:24:00Z
      context_summary: The index lags by an hour.
    ---

    ## Diagnosis

    <!-- What was measured or observed, and what it proves. -->

    ## Root causes

    <!-- By impact, each with its file and line. -->

    ## Plan

    <!-- Steps, each with how to tell that it is done. -->

    ## Continuation

    <!-- Where to start. -->
    ");
}

#[test]
fn an_id_is_short_and_a_second_one_is_reported() {
    let sandbox = shop();
    let title = "Fix the y2038 overflow when the parser reads old timestamps";
    sandbox.run(["new", title]).exits(0);
    insta::assert_snapshot!(sandbox.run(["new", title]), @"
    exit 0
    ----- stderr -----
    Wrote y2038-overflow-parser-2: .midstride/handoffs/y2038-overflow-parser-2.md
    `y2038-overflow-parser` was taken, so the id is `y2038-overflow-parser-2`
    Next: fill it in, then midstride check y2038-overflow-parser-2
    ");
    // A whole id is not the start of another one.
    let shown = sandbox.run(["show", "y2038-overflow-parser"]).exits(0);
    assert!(shown.stdout.contains("handoffs/y2038-overflow-parser.md"), "{shown}");
    let shown = sandbox.run(["show", "y2038-overflow-parser-"]).exits(0);
    assert!(shown.stdout.contains("handoffs/y2038-overflow-parser-2.md"), "{shown}");
    insta::assert_snapshot!(sandbox.run(["start", "y2038"]), @"
    exit 2
    ----- stderr -----
    error: `y2038` matches 2 handoffs
    hint: y2038-overflow-parser-2  .midstride/handoffs/y2038-overflow-parser-2.md
    hint: y2038-overflow-parser  .midstride/handoffs/y2038-overflow-parser.md
    hint: specify one of them
    ");
}

#[test]
fn a_stage_inherits_from_its_upstream() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run(["new", "--stage", "discovery", "--from", "feat-042/request"]), @"
    exit 0
    ----- stderr -----
    Wrote feat-042/discovery: .midstride/handoffs/feat-042/discovery.md
    Builds on feat-042/request, which has no decisions yet
    Next: fill it in, then midstride check feat-042/discovery
    ");
    let text = sandbox.read(".midstride/handoffs/feat-042/discovery.md");
    let shown: Vec<&str> =
        text.lines().filter(|l| !l.contains("uid:") && !l.contains("at_commit:")).collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    ---
    handoff:
      format: 1
      id: feat-042
      kind: stage
      stage: discovery
      status: planned
      from: product-discovery
      to: [product-planner, commercial-strategist]
      created: 2026-03-21T17:24:00Z
      context_summary:
      decisions_made: []
      open_questions: []
      assumptions: []
      dependencies:
        upstream:
          - artifact: .midstride/handoffs/feat-042/request.md
            relationship: derived_from
    ---
    ");
    let spec = sandbox.run(["new", "--stage", "spec", "--from", "feat-042"]).exits(0);
    assert!(spec.stderr.contains("Builds on feat-042/discovery"), "{spec}");
    insta::assert_snapshot!(sandbox.run(["new", "Fix it", "--from", "market"]), @"
    exit 0
    ----- stderr -----
    Wrote fix-it: .midstride/handoffs/fix-it.md
    Builds on market-page-perf
    Decided upstream:
      - Paginate in the database
        because: The time grows with the number of companies
        not: Cache the page
    Still blocking upstream:
      - May the weather be ten minutes old?
    Assumed upstream:
      - The index on city exists (medium confidence, needs validation)
    Next: fill it in, then midstride check fix-it
    ");
}

#[test]
fn a_stage_goes_into_the_pipeline_folder_if_there_is_one() {
    let sandbox = shop();
    sandbox
        .write(".claude/pipeline/requests/feat-050-x.md", "---\nhandoff:\n  id: feat-050\n---\n");
    let run = sandbox.run(["new", "Dark mode", "--stage", "request"]).exits(0);
    assert!(run.stderr.contains(".claude/pipeline/requests/feat-051-dark-mode.md"), "{run}");
    let run = sandbox.run(["show", "feat-051"]).exits(0);
    assert!(run.stdout.contains("feat-051/request"), "{run}");
}

#[test]
fn the_files_of_one_feature_are_named_alike() {
    let sandbox = shop();
    let request = "---\nhandoff:\n  id: feat-050\n  title: Dark mode\n---\n";
    sandbox.write(".claude/pipeline/requests/feat-050-night.md", request);
    let run = sandbox.run(["new", "--stage", "discovery", "--from", "feat-050"]).exits(0);
    assert!(run.stderr.contains(".claude/pipeline/briefs/feat-050-night.md"), "{run}");
    let named = ["new", "By its title", "--stage", "spec", "--from", "feat-050"];
    let run = sandbox.run(named).exits(0);
    assert!(run.stderr.contains(".claude/pipeline/specs/feat-050-title.md"), "{run}");
}

#[test]
fn private_files_are_named_by_id() {
    let sandbox = shop();
    sandbox.run(["new", "Afternoon", "--kind", "session"]).exits(0);
    sandbox.run(["new", "Lag", "--from", "afternoon"]).exits(0);
    let text = sandbox.read(".midstride/handoffs/lag.md");
    assert!(text.contains("      - artifact: afternoon\n"), "{text}");
}

#[test]
fn text_comes_from_standard_input_with_or_without_a_header() {
    let sandbox = shop();
    sandbox
        .run_with_input(&["new", "Piped", "--body", "-"], "## Diagnosis\n\nIt leaks.\n")
        .exits(0);
    assert!(
        sandbox
            .read(".midstride/handoffs/piped.md")
            .ends_with("---\n\n## Diagnosis\n\nIt leaks.\n")
    );
    let given = "---\nname: memory # kept\nhandoff:\n  title: Own title # kept too\n  to: ops\n---\n\ntext\n";
    sandbox.run_with_input(&["new", "Other", "--id", "own", "--body", "-"], given).exits(0);
    let text = sandbox.read(".midstride/handoffs/own.md");
    assert!(text.starts_with("---\nname: memory # kept\nhandoff:\n"), "{text}");
    assert!(text.contains("  title: Own title # kept too\n"), "{text}");
    assert!(text.contains("  to: ops\n") && text.contains("  id: own\n"), "{text}");
    let named = "---\nhandoff:\n  id: theirs\n  title: Their title\n  uid: kept\n---\n\ntext\n";
    sandbox.run_with_input(&["new", "--body", "-"], named).exits(0);
    let text = sandbox.read(".midstride/handoffs/theirs.md");
    assert!(text.contains("  uid: kept\n") && text.contains("  title: Their title\n"), "{text}");
    let foreign = "---\ntopic: Lag # theirs\n---\n\ntext\n";
    sandbox.run_with_input(&["new", "Lag", "--body", "-"], foreign).exits(0);
    let text = sandbox.read(".midstride/handoffs/lag.md");
    assert!(
        text.starts_with("---\ntopic: Lag # theirs\nhandoff:\n  format: 1\n  id: lag\n"),
        "{text}"
    );
}

#[test]
fn taken_or_missing_names_are_reported() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run(["new", "X", "--id", "login-loop"]), @"
    exit 2
    ----- stderr -----
    error: handoff `login-loop` already exists: `.midstride/handoffs/login-loop.md`
    hint: to change it, use `midstride edit login-loop`; to choose another name, use `--id`
    ");
    insta::assert_snapshot!(sandbox.run(["new"]), @r#"
    exit 2
    ----- stderr -----
    error: a handoff needs a title or an id
    hint: midstride new "Market pages take 14 s"
    "#);
    insta::assert_snapshot!(sandbox.run(["new", "--stage", "discovry"]), @"
    exit 2
    ----- stderr -----
    error: there is no stage `discovry`
    hint: did you mean `discovery`?
    ");
    insta::assert_snapshot!(sandbox.run(["new", "X", "--from", "nowhere"]), @"
    exit 2
    ----- stderr -----
    error: there is no handoff `nowhere`
    hint: `midstride list --all` lists all handoffs
    ");
    insta::assert_snapshot!(sandbox.run(["new", ""]), @r#"
    exit 2
    ----- stderr -----
    error: a handoff needs a title or an id
    hint: midstride new "Market pages take 14 s"
    "#);
    let long = "a".repeat(120);
    for _ in 0..2 {
        sandbox.run(["new", &long]).exits(0);
    }
    let again = sandbox.run(["new", "Login loop"]).exits(0);
    assert!(again.stderr.contains("login-loop-2"), "{again}");
}

#[test]
fn a_folder_without_git_is_set_up_first() {
    let sandbox = sandbox();
    let run = sandbox.run(["new", "X"]).exits(2);
    assert!(run.stderr.contains("this project is not set up"), "{run}");
    assert_eq!(std::fs::read_dir(sandbox.root()).unwrap().count(), 0);
}

#[test]
fn a_repository_needs_no_setup_and_keeps_handoffs_private() {
    let sandbox = sandbox().repository();
    let run = sandbox.run(["new", "X"]).exits(0);
    assert!(run.stderr.contains("Wrote x: .git/midstride/handoffs/x.md"), "{run}");
    assert_eq!(sandbox.git(&["status", "--porcelain", "--ignored"]), "");
    assert!(sandbox.run(["list"]).exits(0).stdout.contains('X'));
}

#[test]
fn a_session_is_private() {
    let sandbox = shop();
    let run = sandbox.run(["new", "Afternoon", "--kind", "session"]).exits(0);
    assert!(run.stderr.contains(".git/midstride/handoffs/afternoon.md"), "{run}");
    let run = sandbox.run(["new", "Evening", "--kind", "session", "--committed"]).exits(0);
    assert!(run.stderr.contains(" .midstride/handoffs/evening.md"), "{run}");
}

#[test]
fn a_secret_is_neither_in_an_id_nor_in_a_file_name() {
    let sandbox = shop();
    let token = format!("ghp_{}", "abcdef".repeat(6));
    let title = format!("Token {token} leaked");
    insta::assert_snapshot!(sandbox.run(["new", &title]), @"
    exit 0
    ----- stderr -----
    Wrote token-redacted-github: .midstride/handoffs/token-redacted-github.md
    warning: redacted a secret: github-token
    Next: fill it in, then midstride check token-redacted-github
    ");
    insta::assert_snapshot!(sandbox.run(["new", "X", "--id", &format!("k-{token}")]), @"
    exit 2
    ----- stderr -----
    error: the id contains a secret, which would end up in the file name: github-token
    hint: give it another id, or omit the id to generate one from the title
    ");
    let given = format!("---\nhandoff:\n  id: k-{token}\n  title: X\n---\n\ntext\n");
    insta::assert_snapshot!(sandbox.run_with_input(&["new", "--body", "-"], &given), @"
    exit 2
    ----- stderr -----
    error: the id contains a secret, which would end up in the file name: github-token
    hint: give it another id, or omit the id to generate one from the title
    ");
    let given = format!("---\nhandoff:\n  title: {title}\n---\n\ntext\n");
    sandbox.run_with_input(&["new", "--body", "-"], &given).exits(0);
    sandbox.write(&format!("notes/{token}.md"), "text\n");
    sandbox.run(["new", "--from", &format!("notes/{token}.md")]).exits(0);
    sandbox.run(["new", &title, "--stage", "request"]).exits(0);
    sandbox.git(&["add", ".midstride"]);
    let files = sandbox.git(&["ls-files", ".midstride"]);
    assert!(!files.contains(&token), "{files}");
    assert_eq!(
        sandbox.git(&["grep", "--cached", "-l", "REDACTED", ".midstride"]).lines().count(),
        4
    );
    let found = sandbox.command("git").args(["grep", "--cached", &token]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

#[test]
fn a_complete_text_is_not_to_be_filled_in() {
    let sandbox = shop();
    let body = "## Diagnosis\n\nThe index lags.\n\n## Root causes\n\n- `app/search.py:3` runs hourly.\n\n\
                ## Plan\n\n1. Run it each minute; check the lag.\n\n## Continuation\n\nStart in the scheduler.\n";
    sandbox.write("notes.md", body);
    let new = ["new", "Search is stale", "--body", "notes.md"];
    let summary = ["--summary", "The index runs hourly, so searches miss an hour."];
    let run = sandbox.run([new.as_slice(), summary.as_slice()].concat()).exits(0);
    assert!(run.stderr.ends_with("Next: midstride check search-stale\n"), "{run}");
    let run = sandbox.run(new).exits(0);
    assert!(run.stderr.contains("Next: fill it in"), "the summary is missing: {run}");
}
