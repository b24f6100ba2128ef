//! Tests of `new --from NOTE`, which turns a foreign note into a handoff without losing a sentence.

use super::shop;
use midstride_testkit::Sandbox;

/// A document without what differs from run to run.
fn shown(sandbox: &Sandbox, path: &str) -> String {
    let text = sandbox.read(path);
    let differs = |line: &&str| line.contains("uid:") || line.contains("at_commit:");
    text.lines().filter(|line| !differs(line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn plain_markdown_becomes_a_handoff() {
    let sandbox = shop();
    let before = sandbox.read("HANDOFF.md");
    insta::assert_snapshot!(sandbox.run(["new", "--from", "HANDOFF.md"]), @"
    exit 0
    ----- stderr -----
    Wrote where-we-are: .midstride/handoffs/where-we-are.md
    The handoff contains every line of HANDOFF.md
    Header fields from the note: title, context_summary
    The note was not changed; sessions are briefed from the handoff instead, until you delete the handoff. Once you delete the note, remove it from `dependencies.upstream` too
    Next: midstride check where-we-are
    ");
    insta::assert_snapshot!(shown(&sandbox, ".midstride/handoffs/where-we-are.md"), @"
    ---
    handoff:
      format: 1
      id: where-we-are
      title: Where we are
      kind: investigation
      status: planned
      context_summary: The build is green.
      dependencies:
        upstream:
          - artifact: HANDOFF.md
            relationship: derived_from
    ---

    # Where we are

    The build is green.
    ");
    assert_eq!(sandbox.read("HANDOFF.md"), before);
    insta::assert_snapshot!(sandbox.run(["check", "where-we-are"]), @"
    exit 0
    ----- stderr -----
    1 document checked: no problems
    ");
}

#[test]
fn another_tools_header_is_read_and_kept() {
    let sandbox = shop();
    let note = "---\ndate: 2025-10-24T21:16:45-07:00\nresearcher: Claude # theirs\ngit_commit: 11fc8dd2f2158e7015ad98e631093e068de74d74\ntopic: \"Phase 4 is complete\"\ntags: [vst3, clap]\nstatus: complete\n---\n\n# Handoff\n\n## Summary\n\nThe plugin no longer crashes.\n";
    sandbox.write("thoughts/shared/handoffs/general/2025-10-24_phase-4.md", note);
    insta::assert_snapshot!(sandbox.run(["new", "--from", "thoughts/shared/handoffs/general/2025-10-24_phase-4.md"]), @"
    exit 0
    ----- stderr -----
    Wrote phase-4-complete: .midstride/handoffs/phase-4-complete.md
    The handoff contains every line of thoughts/shared/handoffs/general/2025-10-24_phase-4.md
    Header fields from the note: title, status, from, created, at_commit, context_summary
    The note was not changed; sessions are briefed from the handoff instead, until you delete the handoff. Once you delete the note, remove it from `dependencies.upstream` too
    Next: midstride check phase-4-complete
    ");
    insta::assert_snapshot!(shown(&sandbox, ".midstride/handoffs/phase-4-complete.md"), @r#"
    ---
    date: 2025-10-24T21:16:45-07:00
    researcher: Claude # theirs
    git_commit: 11fc8dd2f2158e7015ad98e631093e068de74d74
    topic: "Phase 4 is complete"
    tags: [vst3, clap]
    status: complete
    handoff:
      format: 1
      id: phase-4-complete
      title: Phase 4 is complete
      kind: investigation
      status: resolved
      from: Claude
      created: 2025-10-25T04:16:45Z
      context_summary: The plugin no longer crashes.
      dependencies:
        upstream:
          - artifact: thoughts/shared/handoffs/general/2025-10-24_phase-4.md
            relationship: derived_from
    ---

    # Handoff

    ## Summary

    The plugin no longer crashes.
    "#);
    let text = sandbox.read(".midstride/handoffs/phase-4-complete.md");
    assert!(text.contains("  at_commit: 11fc8dd2f2158e7015ad98e631093e068de74d74\n"), "{text}");
}

#[test]
fn older_forms_fill_the_header_and_stay() {
    let sandbox = shop();
    let note = "# Search lags\n\nCaptured: 2026-03-01 08:00\nRevised: 2026-03-02 09:00 (an hour, not a day)\n\n## Handoff\n\n- **Status**: In Progress\n- **To**: ops\n- **Stage**: design\n\n## Plan\n\n1. Reindex.\n";
    sandbox.write("notes/lag.md", note);
    insta::assert_snapshot!(sandbox.run(["new", "--from", "notes/lag.md", "--by", "eve"]), @"
    exit 0
    ----- stderr -----
    Wrote search-lags: .midstride/handoffs/search-lags.md
    The handoff contains every line of notes/lag.md
    Header fields from the note: title, status, to, created, revisions
    Kept only in the text: stage
    The note was not changed; sessions are briefed from the handoff instead, until you delete the handoff. Once you delete the note, remove it from `dependencies.upstream` too
    Next: midstride check search-lags
    ");
    insta::assert_snapshot!(shown(&sandbox, ".midstride/handoffs/search-lags.md"), @r#"
    ---
    handoff:
      format: 1
      id: search-lags
      title: Search lags
      kind: investigation
      status: in_progress
      from: eve
      to: [ops]
      created: 2026-03-01T08:00:00Z
      context_summary: Made from the note `notes/lag.md`.
      dependencies:
        upstream:
          - artifact: notes/lag.md
            relationship: derived_from
      revisions:
        - {at: 2026-03-02T09:00:00Z, reason: "an hour, not a day"}
    ---

    # Search lags

    Captured: 2026-03-01 08:00
    Revised: 2026-03-02 09:00 (an hour, not a day)

    ## Handoff

    - **Status**: In Progress
    - **To**: ops
    - **Stage**: design

    ## Plan

    1. Reindex.

    <!-- midstride:anchors 1
    b41e2a9074ea 7f7eea919cae88bba72999de032dcdd1a998c86a notes/lag.md
    -->
    "#);
}

#[test]
fn arguments_take_precedence_over_the_note() {
    let sandbox = shop();
    sandbox.write("docs/lag_of_search.md", "It lags.\n");
    let typed = ["--summary", "An hour.", "--to", "ops", "--kind", "session", "--committed"];
    sandbox.run([&["new", "--from", "docs/lag_of_search.md"], &typed[..]].concat()).exits(0);
    insta::assert_snapshot!(shown(&sandbox, ".midstride/handoffs/lag-search.md"), @"
    ---
    handoff:
      format: 1
      id: lag-search
      title: Lag of search
      kind: session
      status: planned
      to: [ops]
      context_summary: An hour.
      dependencies:
        upstream:
          - artifact: docs/lag_of_search.md
            relationship: derived_from
    ---

    It lags.
    ");
    let json = sandbox.run(["new", "Own title", "--from", "docs/lag_of_search.md", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.exits(0).stdout).unwrap();
    assert_eq!(json["title"], "Own title");
    assert_eq!(json["header"]["dependencies"]["upstream"][0]["artifact"], "docs/lag_of_search.md");
}

#[test]
fn a_note_outside_the_project_is_read_but_not_named() {
    let sandbox = shop();
    std::fs::write(sandbox.home().join("note.md"), "# Far away\n\nText.\n").unwrap();
    let path = sandbox.home().join("note.md").display().to_string();
    insta::assert_snapshot!(sandbox.run(["new", "--from", &path]), @"
    exit 0
    ----- stderr -----
    Wrote far-away: .midstride/handoffs/far-away.md
    The handoff contains every line of [HOME]/note.md
    Header fields from the note: title, context_summary
    The note was not changed; it is outside the project, so the handoff does not reference it
    Next: midstride check far-away
    ");
    let text = sandbox.read(".midstride/handoffs/far-away.md");
    assert!(!text.contains("dependencies"), "{text}");
    std::fs::write(sandbox.home().join("ours.md"), "---\nhandoff:\n  id: x\n---\n").unwrap();
    insta::assert_snapshot!(sandbox.run(["new", "X", "--from", "../home/ours.md"]), @"
    exit 2
    ----- stderr -----
    error: `../home/ours.md` is outside the project
    hint: midstride works only inside the current project; run it in the file's project, or specify that project with `-C`
    ");
}

#[test]
fn a_stage_still_builds_on_a_note() {
    let sandbox = shop();
    let run = sandbox.run(["new", "--stage", "request", "--from", "HANDOFF.md"]).exits(0);
    assert!(run.stderr.contains("Builds on HANDOFF"), "{run}");
    assert!(!sandbox.read(".midstride/handoffs/feat-043/request.md").contains("green"));
}

#[test]
fn a_name_that_is_taken_gets_a_number() {
    let sandbox = shop();
    sandbox.write("docs/handoffs/lag.md", "---\nid: lag\n---\n\n# Search lags\n");
    let run = sandbox.run(["new", "--from", "lag"]).exits(0);
    assert!(run.stderr.contains("Wrote lag-2: "), "{run}");
}

#[test]
fn a_note_is_not_mistaken_for_the_handoff_of_its_name() {
    let sandbox = shop();
    sandbox.write("lag.md", "# Lag\n\n## Summary\n\nThe index lags.\n\n## Plan\n\n1. Reindex.\n");
    sandbox.run(["new", "--from", "lag.md"]).exits(0);
    let text = sandbox.read(".midstride/handoffs/lag.md");
    assert!(text.contains("      - artifact: \"../../lag.md\"\n"), "{text}");
    sandbox.run(["check", "lag", "--fail-on", "error"]).exits(0);
}

#[test]
fn secrets_of_a_note_are_not_written() {
    let sandbox = shop();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    sandbox.write("note.md", format!("# Leak {token}\n\nTest with {token}.\n"));
    insta::assert_snapshot!(sandbox.run(["new", "--from", "note.md"]), @"
    exit 0
    ----- stderr -----
    Wrote leak-redacted-github: .midstride/handoffs/leak-redacted-github.md
    warning: redacted a secret: github-token
    warning: redacted a secret: github-token
    The handoff contains every line of note.md
    Header fields from the note: title, context_summary
    The note was not changed; sessions are briefed from the handoff instead, until you delete the handoff. Once you delete the note, remove it from `dependencies.upstream` too
    Next: midstride check leak-redacted-github
    ");
    let text = sandbox.read(".midstride/handoffs/leak-redacted-github.md");
    assert!(!text.contains(&token), "{text}");
}

#[test]
fn unusable_notes_are_reported() {
    let sandbox = shop();
    sandbox.write("latin.md", b"# Gr\xf6\xdfe\n");
    sandbox.write("notes/one.md", "# One\n");
    sandbox.write("notes.txt", "One\n");
    sandbox.write("huge.md", vec![b'a'; (16 << 20) + 1]);
    let refused = |arguments: &[&str]| sandbox.run_with_input(arguments, "text\n").exits(2).stderr;
    insta::assert_snapshot!(refused(&["new", "--from", "latin.md"]), @"
    error: `latin.md` is not UTF-8
    hint: convert it, for instance with `iconv -f latin1 -t utf-8`
    ");
    insta::assert_snapshot!(refused(&["new", "--from", "notes"]), @"
    error: `notes` is a folder
    hint: specify a file in it
    ");
    insta::assert_snapshot!(refused(&["new", "--from", "notes.txt"]), @"
    error: `notes.txt` is not a Markdown file
    hint: a handoff is a file whose name ends in `.md`
    hint: `midstride new TITLE --body FILE` takes any text
    ");
    insta::assert_snapshot!(refused(&["new", "--from", "nowhere.md"]), @"
    error: there is no file `nowhere.md`
    hint: paths are relative to the current folder
    ");
    insta::assert_snapshot!(refused(&["new", "--from", "huge.md"]), @"
    error: `[ROOT]/huge.md` is 16777217 bytes; the maximum is 16777216
    hint: move some of the content into separate files and link to them
    ");
    insta::assert_snapshot!(refused(&["new", "X", "--from", "notes/one.md", "--body", "-"]), @"
    error: the text was given twice; `notes/one.md` already provides it
    hint: omit either `--from` or `--body`
    ");
}

#[test]
fn a_note_is_not_briefed_next_to_the_handoff_made_from_it() {
    let sandbox = shop();
    sandbox.write("HANDOFF.md", "# Where we are\n\nTea is late.\n\n## Next\n\nWarm the kettle.\n");
    let briefed = || sandbox.run(["brief"]).exits(0).stdout;
    assert!(briefed().contains("HANDOFF.md, note"), "{}", briefed());
    sandbox.run(["new", "--from", "HANDOFF.md"]).exits(0);
    assert!(!briefed().contains("HANDOFF.md, note"), "{}", briefed());
    assert_eq!(briefed().matches("Warm the kettle").count(), 1, "{}", briefed());
    // The state of the handoff decides.
    sandbox.run(["resolve", "where-we-are", "--abandon", "not needed"]).exits(0);
    assert!(!briefed().contains("Warm the kettle"), "{}", briefed());
    std::fs::remove_file(sandbox.root().join(".midstride/handoffs/where-we-are.md")).unwrap();
    assert!(briefed().contains("HANDOFF.md, note"), "{}", briefed());
}
