//! Tests of `advance`: what blocks, what is drafted, what is recorded.

use super::{shop, without_history};
use midstride_testkit::Sandbox;
use serde_json::Value;

const BRIEF: &str = ".midstride/handoffs/feat-042/discovery.md";
pub(super) const SPEC: &str = ".midstride/handoffs/feat-042/spec.md";

/// A complete brief.
pub(super) const COMPLETE: &str = "\
---
handoff:
  id: feat-042
  uid: brief
  title: Snapshots
  kind: stage
  stage: discovery
  status: in_progress
  from: product-discovery
  to: [product-planner, commercial-strategist]
  created: 2026-03-20T09:00:00Z
  context_summary: Audits ask for the state of a machine on a day.
  decisions_made:
    - decision: Snapshots belong to a project
      rationale: So do machines
  open_questions:
    - question: Do they count against the quota?
    - question: How long are they kept?
      blocking: true
      answer: Seven years
  assumptions:
    - assumption: Disks can be copied while they are in use
      confidence: medium
      validation_needed: true
  dependencies:
    upstream:
      - artifact: .midstride/handoffs/feat-042/request.md
        relationship: derived_from
  platform_capabilities:
    quota: {applies: true, rationale: They take room}
    insights: {applies: false, rationale: Later}
    telemetry: {applies: false, rationale: Later}
    activity: {applies: true, rationale: Audits ask for it}
---
";

/// The configuration of a project with a pipeline.
const CAPABILITIES: &str =
    "capabilities = [\"quota\", \"insights\", \"telemetry\", \"activity\"]\n";

/// The shop with this brief.
pub(super) fn with_brief(brief: &str) -> Sandbox {
    let sandbox = shop();
    sandbox.write(BRIEF, brief);
    sandbox
}

/// The complete brief with one change.
pub(super) fn changed(from: &str, to: &str) -> String {
    assert!(COMPLETE.contains(from), "{from}");
    COMPLETE.replace(from, to)
}

pub(super) fn json(run: &midstride_testkit::Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run}"))
}

/// The codes that keep a brief from becoming a spec. Asserts that nothing was written.
fn blocked_by(sandbox: &Sandbox) -> Vec<String> {
    let before = sandbox.read(BRIEF);
    let run = sandbox.run(["advance", "feat-042", "--to", "spec", "--json"]).exits(1);
    assert_eq!(run.stderr, "", "{run}");
    assert_eq!(sandbox.read(BRIEF), before);
    assert!(!sandbox.root().join(SPEC).exists());
    let told = json(&run);
    assert_eq!(told["advanced"], false);
    let blocking = told["blocking"].as_array().unwrap();
    blocking.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn rule_1_required_fields_are_filled_in() {
    let missing =
        changed("  context_summary: Audits ask for the state of a machine on a day.\n", "");
    assert_eq!(blocked_by(&with_brief(&missing)), ["S001"]);
    let empty = changed("  to: [product-planner, commercial-strategist]\n", "  to: []\n");
    assert_eq!(blocked_by(&with_brief(&empty)), ["S002"]);
}

#[test]
fn rule_2_no_question_blocks() {
    let open = changed("      answer: Seven years\n", "");
    assert_eq!(blocked_by(&with_brief(&open)), ["S003"]);
    // Resolving by hand does not answer the question.
    let resolved = open.replace("in_progress", "resolved\n  resolution: {outcome: done}");
    assert_eq!(blocked_by(&with_brief(&resolved)), ["S003"]);
}

#[test]
fn rule_3_doubtful_assumptions_are_validated_and_others_do_not_block() {
    let low = changed("confidence: medium", "confidence: low");
    assert_eq!(blocked_by(&with_brief(&low)), ["S004"]);
    let sandbox = with_brief(COMPLETE);
    let found = sandbox.run(["check", "feat-042/discovery", "--quiet"]).exits(1);
    assert!(found.stdout.contains("S005"), "{found}");
    sandbox.run(["advance", "feat-042", "--to", "spec"]).exits(0);
}

#[test]
fn rule_4_upstream_documents_exist_and_are_complete() {
    let missing = changed("feat-042/request.md", "feat-042/wish.md");
    assert_eq!(blocked_by(&with_brief(&missing)), ["S006"]);
    let sandbox = with_brief(COMPLETE);
    let request = super::REQUEST
        .replace("open_questions: []", "open_questions: [{question: Who pays?, blocking: true}]");
    for status in ["planned", "resolved"] {
        let ended = format!("status: {status}\n  created");
        sandbox.write(
            ".midstride/handoffs/feat-042/request.md",
            request.replacen("created", &ended, 1),
        );
        assert_eq!(blocked_by(&sandbox), ["S007"], "{status}");
    }
    let told = json(&sandbox.run(["advance", "feat-042", "--to", "spec", "--json"]));
    assert_eq!(told["next"], serde_json::json!(["midstride check feat-042/request"]));
    let found = sandbox.run(["check", "feat-042/request", "--quiet"]).exits(1);
    assert!(found.stdout.contains("S003"), "the command that is named shows why: {found}");
}

#[test]
fn rule_5_each_capability_is_decided() {
    let undecided = changed("    insights: {applies: false, rationale: Later}\n", "");
    let sandbox = with_brief(&undecided);
    sandbox.write(".midstride/config.toml", CAPABILITIES);
    assert_eq!(blocked_by(&sandbox), ["S008"]);
}

#[test]
fn a_project_without_a_pipeline_decides_on_no_capabilities() {
    let without = COMPLETE.split("  platform_capabilities:\n").next().unwrap();
    let sandbox = with_brief(&format!("{without}---\n"));
    sandbox.run(["advance", "feat-042", "--to", "spec"]).exits(0);
    sandbox.run(["new", "--stage", "discovery", "Small library"]).exits(0);
    let draft = sandbox.read(".midstride/handoffs/feat-043/discovery.md");
    assert!(!draft.contains("platform_capabilities"), "{draft}");
    sandbox.write(".midstride/config.toml", CAPABILITIES);
    sandbox.run(["new", "--stage", "discovery", "Large service"]).exits(0);
    let draft = sandbox.read(".midstride/handoffs/feat-044/discovery.md");
    assert!(draft.contains("    quota:\n      applies:\n      rationale:\n"), "{draft}");
}

#[test]
fn blocking_findings_are_shown_with_hints() {
    let brief = changed("      answer: Seven years\n", "")
        .replace("confidence: medium", "confidence: low")
        .replace("    insights: {applies: false, rationale: Later}\n", "");
    let sandbox = with_brief(&brief);
    sandbox.write(".midstride/config.toml", CAPABILITIES);
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042", "--to", "spec"]), @r#"
    exit 1
    ----- stdout -----
    warning[S003]: a blocking question is open: How long are they kept?
      --> .midstride/handoffs/feat-042/discovery.md:18:17
       |
    18 |     - question: How long are they kept?
       |                 ^^^^^^^^^^^^^^^^^^^^^^^
       |
       = help: answer it: midstride answer feat-042/discovery q2 "the answer", or set `blocking: false`

    error[S004]: an assumption is not validated: Disks can be copied while they are in use
      --> .midstride/handoffs/feat-042/discovery.md:21:19
       |
    21 |     - assumption: Disks can be copied while they are in use
       |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       |
       = help: validate it and set `validated: true` or `validated: failed`

    error[S008]: no decision is recorded for `insights`
      --> .midstride/handoffs/feat-042/discovery.md:28:3
       |
    28 |   platform_capabilities:
       |   ^^^^^^^^^^^^^^^^^^^^^
       |
       = help: add `insights:` with `applies` and `rationale`
    ----- stderr -----
    `feat-042/discovery` did not advance to spec: 3 findings block it
    Next: midstride answer feat-042/discovery q2 "the answer"
    Next: midstride answer feat-042/discovery a1 --holds
    Next: midstride edit feat-042/discovery
    To advance anyway: midstride advance feat-042/discovery --to spec --force --reason "why"
    "#);
    assert_eq!(sandbox.read(BRIEF), brief);
    assert!(!sandbox.root().join(SPEC).exists());
    let allowed = brief.replace("handoff:\n", "handoff:\n  # midstride: allow S003 asked again\n");
    sandbox.write(BRIEF, allowed);
    assert_eq!(blocked_by(&sandbox), ["S004", "S008"]);
}

#[test]
fn a_complete_stage_advances() {
    let sandbox = with_brief(COMPLETE);
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042", "--to", "spec"]), @"
    exit 0
    ----- stderr -----
    Wrote feat-042/spec: .midstride/handoffs/feat-042/spec.md
    Builds on feat-042/discovery
    Decided upstream:
      - Snapshots belong to a project
        because: So do machines
    Assumed upstream:
      - Disks can be copied while they are in use (medium confidence, needs validation)
    feat-042/discovery@2: advanced to spec
    Next: fill it in, then midstride check feat-042/spec
    ");
    insta::assert_snapshot!(sandbox.run(["diff", "feat-042/discovery"]), @"
    exit 0
    ----- stdout -----
    --- feat-042/discovery@1
    +++ feat-042/discovery@2
    @@ -5,7 +5,7 @@
       title: Snapshots
       kind: stage
       stage: discovery
    -  status: in_progress
    +  status: resolved
       from: product-discovery
       to: [product-planner, commercial-strategist]
       created: 2026-03-20T09:00:00Z
    @@ -26,9 +26,17 @@
         upstream:
           - artifact: .midstride/handoffs/feat-042/request.md
             relationship: derived_from
    +    downstream:
    +      - artifact: .midstride/handoffs/feat-042/spec.md
    +        relationship: enables
       platform_capabilities:
         quota: {applies: true, rationale: They take room}
         insights: {applies: false, rationale: Later}
         telemetry: {applies: false, rationale: Later}
         activity: {applies: true, rationale: Audits ask for it}
    +  revisions:
    +    - {at: 2026-03-21T17:24:00Z, by: tester, verb: advance, reason: advanced to spec, was: [COMMIT]}
    +  resolution:
    +    at: 2026-03-21T17:24:00Z
    +    outcome: advanced to spec
     ---
    ");
    let spec = sandbox.read(SPEC);
    let shown: Vec<&str> =
        spec.lines().filter(|l| !l.contains("uid:") && !l.contains("at_commit:")).collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    ---
    handoff:
      format: 1
      id: feat-042
      title: Snapshots
      kind: stage
      stage: spec
      status: planned
      from: product-planner
      to: [architect, commercial-strategist]
      created: 2026-03-21T17:24:00Z
      context_summary:
      decisions_made: []
      open_questions: []
      dependencies:
        upstream:
          - artifact: .midstride/handoffs/feat-042/discovery.md
            relationship: derived_from
    ---
    ");
    insta::assert_snapshot!(sandbox.run(["show", "feat-042/discovery", "--history"]), @"
    exit 0
    ----- stdout -----
    Snapshots
    feat-042/discovery · stage · resolved · from product-discovery · to product-planner, commercial-strategist

    2026-03-20 09:00  @1  captured  by product-discovery
    2026-03-21 17:24  @2  resolved  by tester: advanced to spec
    ");
}

#[test]
fn advancing_to_a_second_stage_keeps_the_resolution() {
    let sandbox = with_brief(COMPLETE);
    sandbox.run(["advance", "feat-042", "--to", "spec"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["advance", BRIEF, "--to", "pricing", "--by", "eve"]), @"
    exit 0
    ----- stderr -----
    Wrote feat-042/pricing: .midstride/handoffs/feat-042/pricing.md
    Builds on feat-042/discovery
    Decided upstream:
      - Snapshots belong to a project
        because: So do machines
    Assumed upstream:
      - Disks can be copied while they are in use (medium confidence, needs validation)
    feat-042/discovery@3: advanced to pricing
    Next: fill it in, then midstride check feat-042/pricing
    ");
    let brief = sandbox.read(BRIEF);
    assert!(brief.contains("    outcome: advanced to spec\n"), "{brief}");
    assert!(brief.contains("      - artifact: .midstride/handoffs/feat-042/pricing.md\n"));
    assert!(
        brief.contains(" by: eve, verb: advance, reason: advanced to pricing, was: "),
        "{brief}"
    );
}

#[test]
fn an_interrupted_advance_is_completed_and_not_repeated() {
    let sandbox = with_brief(COMPLETE);
    // As if it was killed between the draft and the record.
    sandbox.run(["new", "--stage", "spec", "--from", "feat-042"]).exits(0);
    let draft = sandbox.read(SPEC);
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042", "--to", "spec"]), @"
    exit 0
    ----- stderr -----
    feat-042/spec already exists: .midstride/handoffs/feat-042/spec.md
    feat-042/discovery@2: advanced to spec
    Next: midstride check feat-042/spec
    ");
    assert_eq!(sandbox.read(SPEC), draft);
    let brief = sandbox.read(BRIEF);
    assert!(brief.contains("  status: resolved\n"), "{brief}");
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042", "--to", "spec"]), @"
    exit 0
    ----- stderr -----
    feat-042/spec already exists: .midstride/handoffs/feat-042/spec.md
    feat-042/discovery already records this; no new revision
    Next: midstride check feat-042/spec
    ");
    assert_eq!(sandbox.read(BRIEF), brief);
}

#[test]
fn advance_can_start_two_stages() {
    let sandbox = with_brief(COMPLETE);
    std::thread::scope(|scope| {
        for to in ["spec", "pricing", "spec", "pricing"] {
            let sandbox = &sandbox;
            scope.spawn(move || sandbox.run(["advance", "feat-042", "--to", to]).exits(0));
        }
    });
    let brief = sandbox.read(BRIEF);
    for to in ["spec", "pricing"] {
        let named = format!("      - artifact: .midstride/handoffs/feat-042/{to}.md\n");
        assert_eq!(brief.matches(&named).count(), 1, "{brief}");
        let told = format!(" reason: advanced to {to}, was: ");
        assert_eq!(brief.matches(&told).count(), 1, "{brief}");
    }
    assert_eq!(brief.matches("  resolution:\n").count(), 1, "{brief}");
}

#[test]
fn force_advances_and_records_who_and_why() {
    let sandbox = with_brief(&changed("      answer: Seven years\n", ""));
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042", "--to", "spec", "--force"]), @"
    exit 2
    ----- stderr -----
    error: the following required arguments were not provided:
      --reason <WHY>

    Usage: midstride advance --to <STAGE> --force --reason <WHY> <HANDOFF>

    For more information, try '--help'.
    ");
    let force = ["advance", "feat-042", "--to", "spec", "--force", "--reason"];
    insta::assert_snapshot!(sandbox.run([&force[..], &[" "]].concat()), @"
    exit 2
    ----- stderr -----
    error: invalid value ' ' for '--reason <WHY>': it is blank

    For more information, try '--help'.
    ");
    let forced = [&force[..], &["the audit is on Monday", "--by", "ann"]].concat();
    insta::assert_snapshot!(sandbox.run(&forced), @"
    exit 0
    ----- stderr -----
    Wrote feat-042/spec: .midstride/handoffs/feat-042/spec.md
    Builds on feat-042/discovery
    Decided upstream:
      - Snapshots belong to a project
        because: So do machines
    Still blocking upstream:
      - How long are they kept?
    Assumed upstream:
      - Disks can be copied while they are in use (medium confidence, needs validation)
    feat-042/discovery@2: advanced to spec with --force: the audit is on Monday (despite S003)
    feat-042/discovery stays in_progress: it is still blocked
    Next: fill it in, then midstride check feat-042/spec
    ");
    let brief = sandbox.read(BRIEF);
    assert!(brief.contains("  status: in_progress\n"), "{brief}");
    assert!(
        brief.contains(" by: ann, verb: advance, reason: \"advanced to spec with --force: the audit is on Monday (despite S003)\", was: "),
        "{brief}"
    );
    let found = sandbox.run(["check", "feat-042/spec", "--quiet"]).exits(1);
    assert!(found.stdout.contains("S007"), "{found}");
    // Once it is answered, the same command closes it.
    sandbox.run(["answer", "feat-042/discovery", "q2", "Seven years"]).exits(0);
    let needless = [&force[..], &["still the audit"]].concat();
    insta::assert_snapshot!(sandbox.run(needless), @"
    exit 0
    ----- stderr -----
    There are no blockers, so --force was not needed and is not recorded
    feat-042/spec already exists: .midstride/handoffs/feat-042/spec.md
    feat-042/discovery@4: advanced to spec
    Next: midstride check feat-042/spec
    ");
    let brief = sandbox.read(BRIEF);
    assert!(
        brief.contains("  status: resolved\n") && !brief.contains("still the audit"),
        "{brief}"
    );
    let found = sandbox.run(["check", "feat-042/spec", "--quiet"]);
    assert!(!found.stdout.contains("S007"), "{found}");
}

#[test]
fn undo_reverts_the_record_and_keeps_the_draft() {
    let sandbox = with_brief(COMPLETE);
    sandbox.run(["advance", "feat-042", "--to", "spec"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["undo", "feat-042/discovery"]), @"
    exit 0
    ----- stderr -----
    feat-042/discovery@3: undo of @2: advanced to spec
    ");
    assert_eq!(without_history(&sandbox.read(BRIEF)), without_history(COMPLETE));
    assert!(sandbox.root().join(SPEC).exists());
    let again = sandbox.run(["advance", "feat-042", "--to", "spec"]).exits(0);
    assert!(again.stderr.contains("feat-042/spec already exists"), "{again}");
    assert!(again.stderr.contains("feat-042/discovery@4: advanced to spec"), "{again}");
}

#[test]
fn unreachable_stages_are_refused() {
    let sandbox = with_brief(COMPLETE);
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042/request", "--to", "spec"]), @"
    exit 2
    ----- stderr -----
    error: `feat-042/request` was not changed: spec builds on discovery, not on request
    hint: try `midstride advance feat-042/request --to discovery`
    ");
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042/discovery", "--to", "request"]), @"
    exit 2
    ----- stderr -----
    error: `feat-042/discovery` was not changed: request does not build on another stage
    hint: create one with `midstride new --stage request`
    ");
    insta::assert_snapshot!(sandbox.run(["advance", "market", "--to", "spec"]), @"
    exit 2
    ----- stderr -----
    error: `market-page-perf` was not changed: spec builds on discovery, but this handoff has no stage
    hint: `midstride new --stage spec --from market-page-perf` drafts one that builds on it
    ");
    insta::assert_snapshot!(sandbox.run(["advance", "HANDOFF.md", "--to", "spec"]), @"
    exit 2
    ----- stderr -----
    error: `HANDOFF` was not changed: spec builds on discovery, but this handoff has no stage
    hint: `midstride new --stage spec --from HANDOFF` drafts one that builds on it
    ");
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042", "--to", "spek"]), @"
    exit 2
    ----- stderr -----
    error: there is no stage `spek`
    hint: did you mean `spec`?
    ");
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042", "--to", "rollout"]), @"
    exit 2
    ----- stderr -----
    error: there is no stage `rollout`
    hint: the stages are design, discovery, pricing, request, review, spec
    ");
    insta::assert_snapshot!(sandbox.run(["advance", "feat-7", "--to", "spec"]), @"
    exit 2
    ----- stderr -----
    error: there is no handoff `feat-7`
    hint: did you mean `feat-042/request`?
    ");
    sandbox.run(["resolve", "feat-042/discovery", "--abandon", "no budget"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042", "--to", "spec"]), @"
    exit 2
    ----- stderr -----
    error: `feat-042/discovery` is already abandoned
    hint: reopen it with midstride reopen feat-042/discovery
    ");
    assert!(!sandbox.root().join(SPEC).exists());
}

#[test]
fn unrecordable_changes_are_detected_before_writing() {
    let sandbox = with_brief(&changed("handoff:\n", "handoff:\n  format: 99\n"));
    let force = ["advance", "feat-042", "--to", "spec", "--force", "--reason", "x"];
    let run = sandbox.run(force).exits(2);
    assert!(run.stderr.contains("the revision cannot be recorded"), "{run}");
    assert!(!sandbox.root().join(SPEC).exists());
}

#[test]
fn an_occupied_path_is_reported() {
    let sandbox = with_brief(COMPLETE);
    sandbox.write(".claude/pipeline/specs/feat-042.md", "# Somebody's note\n");
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042", "--to", "spec"]), @"
    exit 2
    ----- stderr -----
    error: another document already uses `feat-042/spec`'s path, `[ROOT]/.claude/pipeline/specs/feat-042.md`
    hint: move it out of the way, or give it a header with that id and stage
    ");
    assert_eq!(sandbox.read(BRIEF), COMPLETE);
    sandbox.write(BRIEF, changed("id: feat-042", "id: Feat 42!"));
    let force = ["advance", BRIEF, "--to", "pricing", "--force", "--reason", "x"];
    insta::assert_snapshot!(sandbox.run(force), @"
    exit 2
    ----- stderr -----
    error: `Feat 42!` is not a valid id: `F` is not allowed in an id: use a-z, 0-9, `.`, `_` and `-`
    hint: correct the id first, with `midstride edit`
    ");
}

#[test]
fn stages_of_a_private_handoff_are_private() {
    let sandbox = shop();
    let given =
        COMPLETE.replace("feat-042", "feat-043").replace("feat-043/request", "feat-042/request");
    sandbox
        .run_with_input(&["new", "--private", "--stage", "discovery", "--body", "-"], &given)
        .exits(0);
    let run = sandbox.run(["advance", "feat-043", "--to", "spec", "--json"]).exits(0);
    let told = json(&run);
    assert!(
        told["draft"].as_str().unwrap().ends_with(".git/midstride/handoffs/feat-043/spec.md"),
        "{run}"
    );
    let brief = sandbox.read(".git/midstride/handoffs/feat-043/discovery.md");
    assert!(brief.contains("      - artifact: feat-043/spec\n"), "{brief}");
    let spec = sandbox.read(".git/midstride/handoffs/feat-043/spec.md");
    assert!(spec.contains("      - artifact: feat-043/discovery\n"), "{spec}");
    let found = sandbox.run(["check", "feat-043/spec"]);
    assert!(!found.stdout.contains("S006") && !found.stdout.contains("S007"), "{found}");
}

#[test]
fn json_has_the_same_facts() {
    let sandbox = with_brief(&changed("      answer: Seven years\n", ""));
    let advance = ["advance", "feat-042", "--to", "spec", "--json"];
    insta::assert_snapshot!(sandbox.run(advance), @r#"
    exit 1
    ----- stdout -----
    {
      "schema": "blocked-advance/1",
      "advanced": false,
      "from": "feat-042/discovery",
      "to": "spec",
      "blocking": [
        {
          "code": "S003",
          "severity": "warning",
          "title": "a blocking question is open",
          "message": "a blocking question is open: How long are they kept?",
          "line": 18,
          "column": 17,
          "end_line": 18,
          "end_column": 40,
          "start": 466,
          "end": 489,
          "help": "answer it: midstride answer feat-042/discovery q2 \"the answer\", or set `blocking: false`",
          "fixable": false
        }
      ],
      "next": [
        "midstride answer feat-042/discovery q2 \"the answer\""
      ]
    }
    "#);
    let check = json(&sandbox.run(["check", "feat-042/discovery", "--json"]));
    let blocking = json(&sandbox.run(advance))["blocking"].clone();
    let found = check["documents"][0]["findings"].as_array().unwrap();
    assert!(found.contains(&blocking[0]), "{found:?}");
    sandbox.run(["answer", "feat-042/discovery", "q2", "Seven years"]).exits(0);
    insta::assert_snapshot!(sandbox.run(advance), @r#"
    exit 0
    ----- stdout -----
    {
      "schema": "advance/1",
      "advanced": true,
      "from": "feat-042/discovery",
      "to": "spec",
      "key": "feat-042/spec",
      "draft": ".midstride/handoffs/feat-042/spec.md",
      "drafted": true,
      "revision": 3,
      "reason": "advanced to spec",
      "over": [],
      "outside": false,
      "redacted": []
    }
    "#);
    let again = json(&sandbox.run(advance).exits(0));
    assert_eq!((&again["drafted"], &again["revision"]), (&Value::Bool(false), &Value::Null));
}

#[test]
fn the_home_screen_suggests_advancing_a_complete_stage() {
    let sandbox = with_brief(COMPLETE);
    sandbox.run(["answer", "market", "q1", "Yes"]).exits(0);
    sandbox.run(["resolve", "market", "--outcome", "done"]).exits(0);
    let next = json(&sandbox.run(["--json"]))["next"].clone();
    assert_eq!(next, "midstride advance feat-042/discovery --to pricing, or --to spec");
    sandbox.write(BRIEF, changed("confidence: medium", "confidence: low"));
    let next = json(&sandbox.run(["--json"]))["next"].clone();
    assert_eq!(next, "midstride show feat-042/discovery");
}
