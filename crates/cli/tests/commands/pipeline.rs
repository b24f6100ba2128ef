//! Tests of a feature in the pipeline: what each stage waits for, inherits and may not do.

use super::advance::{COMPLETE, SPEC, changed, json, with_brief};
use super::shop;
use crate::sandbox;
use midstride_testkit::Sandbox;
use serde_json::Value;

const PRICING: &str = ".midstride/handoffs/feat-042/pricing.md";
const DESIGN: &str = ".midstride/handoffs/feat-042/design.md";

/// What a product planner adds to the drafted spec.
const SPEC_FILLED: &str = "  decisions_made:
    - decision: A snapshot is a resource with a name
      rationale: Audits refer to it by name
  open_questions:
    - question: May a snapshot be renamed?
      blocking: false
";

/// What a commercial strategist adds to the drafted pricing.
const PRICING_FILLED: &str = "  decisions_made:
    - decision: By the gigabyte and month
      rationale: Cost grows with it
  assumptions:
    - assumption: Few keep more than ten
      confidence: high
";

/// Fills in a drafted stage: its summary, and these lists in place of the empty ones.
fn fill_in(sandbox: &Sandbox, file: &str, lists: &str) {
    let mut text = sandbox.read(file).replace("context_summary:\n", "context_summary: Written.\n");
    for list in ["decisions_made", "open_questions", "assumptions"] {
        text = text.replace(&format!("  {list}: []\n"), "");
    }
    let (header, rest) = text.split_once("\n---\n").unwrap();
    sandbox.write(file, format!("{header}\n{lists}---\n{rest}"));
}

#[test]
fn design_waits_for_spec_and_pricing() {
    let sandbox = with_brief(COMPLETE);
    sandbox.run(["advance", "feat-042", "--to", "spec"]).exits(0);
    fill_in(&sandbox, SPEC, SPEC_FILLED);
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042", "--to", "design"]), @r#"
    exit 1
    ----- stdout -----
    error[S006]: design also builds on pricing, but `feat-042/pricing` does not exist
     --> .midstride/handoffs/feat-042/spec.md:2:1
      |
    2 | handoff:
      | ^^^^^^^^
      |
      = help: run `midstride advance feat-042/discovery --to pricing`
    ----- stderr -----
    `feat-042/spec` did not advance to design: 1 finding blocks it
    Next: midstride advance feat-042/discovery --to pricing
    To advance anyway: midstride advance feat-042/spec --to design --force --reason "why"
    "#);
    sandbox.run(["advance", "feat-042/discovery", "--to", "pricing"]).exits(0);
    // The draft exists but is still empty.
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042/spec", "--to", "design"]), @r#"
    exit 1
    ----- stdout -----
    error[S007]: design also builds on pricing, but `feat-042/pricing` is incomplete: it has an error
     --> .midstride/handoffs/feat-042/spec.md:2:1
      |
    2 | handoff:
      | ^^^^^^^^
      |
      = help: run `midstride check feat-042/pricing`
    ----- stderr -----
    `feat-042/spec` did not advance to design: 1 finding blocks it
    Next: midstride check feat-042/pricing
    To advance anyway: midstride advance feat-042/spec --to design --force --reason "why"
    "#);
    assert!(!sandbox.root().join(DESIGN).exists());
    fill_in(&sandbox, PRICING, PRICING_FILLED);
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042/spec", "--to", "design"]), @"
    exit 0
    ----- stderr -----
    Wrote feat-042/design: .midstride/handoffs/feat-042/design.md
    Builds on feat-042/spec
    Decided upstream:
      - A snapshot is a resource with a name
        because: Audits refer to it by name
    Builds on feat-042/pricing
    Decided upstream:
      - By the gigabyte and month
        because: Cost grows with it
    Assumed upstream:
      - Few keep more than ten (high confidence)
    feat-042/spec@2: advanced to design
    feat-042/pricing is still open. To advance it too: midstride advance feat-042/pricing --to design
    Next: fill it in, then midstride check feat-042/design
    ");
    let design = sandbox.read(DESIGN);
    for stage in ["spec", "pricing"] {
        let named = format!("      - artifact: .midstride/handoffs/feat-042/{stage}.md\n");
        assert_eq!(design.matches(&named).count(), 1, "{design}");
    }
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042/pricing", "--to", "design"]), @"
    exit 0
    ----- stderr -----
    feat-042/design already exists: .midstride/handoffs/feat-042/design.md
    feat-042/pricing@2: advanced to design
    Next: midstride check feat-042/design
    ");
    for file in [SPEC, PRICING] {
        let text = sandbox.read(file);
        assert!(text.contains("  status: resolved\n"), "{text}");
        assert!(text.contains("      - artifact: .midstride/handoffs/feat-042/design.md\n"));
    }
    // A design that names only one of them gets a finding.
    let pricing = "      - artifact: .midstride/handoffs/feat-042/pricing.md\n        relationship: derived_from\n";
    let summary = "  context_summary: A snapshot is a copy of the disks.\n";
    let design = design.replace("  context_summary:\n", summary);
    sandbox.write(DESIGN, design.replace(pricing, ""));
    let found = sandbox.run(["check", "feat-042/design", "--quiet"]);
    let message = "this builds on spec and pricing but does not list pricing as upstream";
    assert!(found.stdout.contains(message), "{found}");
}

#[test]
fn the_next_stage_is_briefed_with_more_than_the_one_before() {
    let sandbox = with_brief(COMPLETE);
    for name in ["market-page-perf.md", "login-loop.md", "feat-042/request.md"] {
        sandbox.run(["resolve", &format!(".midstride/handoffs/{name}"), "--abandon", "other work"]);
    }
    std::fs::remove_file(sandbox.root().join("HANDOFF.md")).unwrap();
    let briefed = || json(&sandbox.run(["brief", "--budget", "2000", "--json"]).exits(0));
    let tokens = |briefed: &Value| briefed["tokens"].as_u64().unwrap();
    let text = |briefed: &Value| briefed["text"].as_str().unwrap().to_owned();
    let before = briefed();
    sandbox.run(["advance", "feat-042", "--to", "spec"]).exits(0);
    let spec = briefed();
    let inherited = [
        "Snapshots belong to a project",
        "Do they count against the quota?",
        "Disks can be copied while they are in use",
    ];
    for item in inherited {
        assert!(text(&spec).contains(item), "{item} is missing in\n{}", text(&spec));
    }
    assert!(tokens(&spec) >= tokens(&before), "{} < {}", tokens(&spec), tokens(&before));
    fill_in(&sandbox, SPEC, SPEC_FILLED);
    sandbox.run(["advance", "feat-042/discovery", "--to", "pricing"]).exits(0);
    fill_in(&sandbox, PRICING, PRICING_FILLED);
    let both = briefed();
    sandbox.run(["advance", "feat-042/spec", "--to", "design"]).exits(0);
    sandbox.run(["advance", "feat-042/pricing", "--to", "design"]).exits(0);
    let design = briefed();
    let new = ["A snapshot is a resource with a name", "By the gigabyte", "May a snapshot be"];
    for item in inherited.iter().chain(&new).chain(&["Few keep more than ten"]) {
        let told = text(&design);
        assert_eq!(told.matches(item).count(), 1, "{item} in\n{told}");
    }
    assert!(tokens(&design) >= tokens(&spec), "{} < {}", tokens(&design), tokens(&spec));
    assert!(tokens(&both) > tokens(&spec));
}

#[test]
fn a_private_stage_is_briefed_with_what_it_builds_on() {
    let sandbox = shop();
    let given =
        COMPLETE.replace("feat-042", "feat-043").replace("feat-043/request", "feat-042/request");
    sandbox
        .run_with_input(&["new", "--private", "--stage", "discovery", "--body", "-"], &given)
        .exits(0);
    sandbox.run(["advance", "feat-043", "--to", "spec"]).exits(0);
    let briefed = sandbox.run(["brief", "--budget", "2000"]).exits(0);
    assert!(briefed.stdout.contains("Upstream decision"), "{briefed}");
    assert!(briefed.stdout.contains("Snapshots belong to a project"), "{briefed}");
}

#[test]
fn start_and_resolve_name_the_blocking_questions() {
    let sandbox =
        with_brief(&changed("      answer: Seven years\n", "      suggested_owner: legal\n"));
    let force = ["advance", "feat-042", "--to", "spec", "--force", "--reason", "the audit"];
    sandbox.run(force).exits(0);
    fill_in(&sandbox, SPEC, &SPEC_FILLED.replace("blocking: false", "blocking: true"));
    insta::assert_snapshot!(sandbox.run(["start", "feat-042/spec"]), @r#"
    exit 0
    ----- stderr -----
    feat-042/spec@2: started
    2 blocking questions are open:
      feat-042/spec q1: May a snapshot be renamed?
      feat-042/discovery q2 (legal): How long are they kept?
    Next: midstride answer feat-042/spec q1 "the answer"
    "#);
    let done = ["resolve", "feat-042/spec", "--outcome", "written"];
    insta::assert_snapshot!(sandbox.run(done), @r#"
    exit 0
    ----- stderr -----
    feat-042/spec@3: resolved
    2 blocking questions are open:
      feat-042/spec q1: May a snapshot be renamed?
      feat-042/discovery q2 (legal): How long are they kept?
    Next: midstride answer feat-042/spec q1 "the answer"
    "#);
    sandbox.run(["undo", "feat-042/spec"]).exits(0);
    let told = json(&sandbox.run([&done[..], &["--json"]].concat()).exits(0));
    assert_eq!(told["blocking_questions"][0]["handoff"], "feat-042/spec");
    assert_eq!(told["blocking_questions"][1]["question"], "q2");
    assert_eq!(told["blocking_questions"][1]["owner"], "legal");
    sandbox.run(["undo", "feat-042/spec"]).exits(0);
    let given_up = sandbox.run(["resolve", "feat-042/spec", "--abandon", "no budget"]).exits(0);
    assert!(!given_up.stderr.contains("blocking"), "{given_up}");
}

const REVIEW: &str = "\
---
handoff:
  id: feat-042
  kind: stage
  stage: review
  status: in_progress
  from: code-reviewer
  to: [sre]
  context_summary: Restoring reads the permissions of the source.
  decisions_made:
    - decision: Review blocked
      rationale: The permissions are copied
  open_questions: []
---
";

#[test]
fn a_review_that_blocks_cannot_be_resolved() {
    let sandbox = shop();
    let file = ".midstride/handoffs/feat-042/review.md";
    sandbox.write(file, REVIEW);
    let resolve = ["resolve", "feat-042/review", "--outcome", "reviewed"];
    insta::assert_snapshot!(sandbox.run(resolve), @"
    exit 2
    ----- stderr -----
    error: `feat-042/review` was not changed: the review is blocking: Review blocked
    hint: answer its blocking questions, and record the new verdict with `midstride edit feat-042/review`
    hint: or close it with `--by ID` or `--abandon REASON`
    ");
    assert_eq!(sandbox.read(file), REVIEW);
    sandbox.write(file, REVIEW.replace("Review blocked", "Review approved"));
    sandbox.run(resolve).exits(0);
}

#[test]
fn a_design_gives_a_pull_request_its_context() {
    let sandbox = with_brief(COMPLETE);
    let design = "\
---
handoff:
  id: feat-042
  title: Snapshots
  kind: stage
  stage: design
  status: in_progress
  from: architect
  to: [api-dev]
  context_summary: Snapshots as a resource.
  decisions_made:
    - decision: Copy on write
  open_questions:
    - question: Which region first?
      blocking: false
---
## Storage

Blocks.

## API

One resource.
";
    sandbox.write(DESIGN, design);
    let run = sandbox.run(["show", "feat-042/design", "--as", "pr"]);
    insta::assert_snapshot!(run, @"
    exit 0
    ----- stdout -----
    ## Handoff Context

    **Feature**: feat-042 - Snapshots
    **Design**: .midstride/handoffs/feat-042/design.md
    **Implements**: Storage, API

    ### Decisions Made During Implementation

    <!-- Write each as `- Decision:` with a `Rationale:` below it. -->

    ### Deviations from Design

    <!-- Write each as `- Deviation:` with `Reason:` and `Impact:`. -->

    ### Open Questions for Review

    - Question: Which region first?
      Context: q1 of feat-042/design
    ");
    sandbox.write("body.md", &run.stdout);
    sandbox.run(["check", "--pr-body", "body.md", "--fail-on", "hint"]).exits(0);
    // So does a draft that is not filled in yet.
    sandbox.write(DESIGN, design.split("## Storage").next().unwrap());
    let run = sandbox.run(["show", "feat-042/design", "--as", "pr"]).exits(0);
    sandbox.write("body.md", &run.stdout);
    sandbox.run(["check", "--pr-body", "body.md", "--fail-on", "hint"]).exits(0);
}

#[test]
fn stages_apply_only_where_a_pipeline_is_used() {
    let sandbox = sandbox();
    sandbox.write(".midstride/config.toml", "");
    let file = ".midstride/handoffs/feat-012.md";
    let note = "---\nhandoff:\n  id: feat-012\n  title: Dark mode\n  from: architect\n  stage: beta\n  status: planned\n  created: 2026-03-20T09:00:00Z\n  context_summary: Colors are fixed in two places.\n---\n## Diagnosis\n\nTwo places.\n";
    sandbox.write(file, note);
    let codes = || -> Vec<String> {
        let told = json(&sandbox.run(["check", "--json", file]));
        let findings = told["documents"][0]["findings"].as_array().unwrap().clone();
        let code = |finding: &Value| finding["code"].as_str().unwrap().to_owned();
        findings.iter().map(code).filter(|code| code.starts_with('S')).collect()
    };
    assert_eq!(codes(), Vec::<String>::new());
    // A pipeline folder or a custom stage shows that a pipeline is used.
    sandbox.write(".claude/pipeline/requests/feat-1.md", "# Later\n");
    assert_eq!(codes(), ["S011"]);
    let of_author = note.replace("  stage: beta\n", "");
    sandbox.write(file, &of_author);
    assert!(codes().contains(&"S001".to_owned()), "{:?}", codes());
    std::fs::remove_dir_all(sandbox.root().join(".claude")).unwrap();
    assert_eq!(codes(), Vec::<String>::new());
    sandbox.write(".midstride/config.toml", "[stages.beta]\nrequires = [\"landmines\"]\n");
    sandbox.write(file, note);
    assert_eq!(codes(), ["S001"]);
}
