//! Tests of the complete discovery brief of the pipeline: no errors, one blocking question, and
//! each missing field is found by name.

use crate::sandbox;
use midstride_testkit::{Sandbox, fixtures};
use serde_json::Value;

const BRIEF: &str = ".claude/pipeline/briefs/feat-042-vm-snapshot-management.md";

fn pipeline() -> Sandbox {
    let sandbox = sandbox();
    sandbox.copy(&fixtures("good/pipeline"));
    sandbox
}

/// The codes and messages found in the brief, without hints.
fn found(sandbox: &Sandbox) -> Vec<(String, String)> {
    let run = sandbox.run(["check", "--json", BRIEF]);
    let json: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run}"));
    let findings = json["documents"][0]["findings"].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    findings
        .iter()
        .filter(|finding| finding["severity"] != "advice")
        .map(|finding| (text(&finding["code"]), text(&finding["message"])))
        .collect()
}

#[test]
fn the_complete_brief_has_no_error_and_one_blocking_question() {
    let found = found(&pipeline());
    let codes: Vec<&str> = found.iter().map(|(code, _)| code.as_str()).collect();
    assert_eq!(codes, ["S003", "S005"]);
    assert!(found[0].1.contains("maximum retention period"));
}

/// The text without one field of the header and its value.
fn without(text: &str, field: &str) -> String {
    let start = format!("  {field}:");
    let mut inside = false;
    let mut in_header = true;
    let mut kept = String::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if number > 0 && line.trim_end() == "---" {
            in_header = false;
        }
        if in_header && line.starts_with("  ") && !line.starts_with("   ") {
            inside = line.starts_with(&start);
        }
        if !(in_header && inside) {
            kept.push_str(line);
        }
    }
    kept
}

#[test]
fn removing_a_required_field_gives_exactly_its_finding() {
    let required =
        midstride_core::format::stage::Stages::shipped().stages["discovery"].requires().to_vec();
    assert_eq!(required.len(), 8);
    let sandbox = pipeline();
    let whole = sandbox.read(BRIEF);
    let before = found(&sandbox);
    for field in required {
        sandbox.write(BRIEF, without(&whole, &field));
        let after = found(&sandbox);
        let new: Vec<_> = after.iter().filter(|finding| !before.contains(finding)).collect();
        assert_eq!(new.len(), 1, "{field}: {new:?}");
        assert_eq!(new[0].0, "S001", "{field}");
        assert!(new[0].1.contains(&format!("`{field}`")), "{field}: {}", new[0].1);
    }
}

#[test]
fn without_its_upstream_the_brief_has_an_error() {
    let sandbox = pipeline();
    std::fs::remove_file(
        sandbox.root().join(".claude/pipeline/requests/feat-042-vm-snapshot-management.md"),
    )
    .unwrap();
    let codes: Vec<String> = found(&sandbox).into_iter().map(|(code, _)| code).collect();
    assert!(codes.contains(&"S006".to_owned()), "{codes:?}");
}

const SPEC: &str = ".claude/pipeline/specs/feat-042-vm-snapshot-management.md";

#[test]
fn the_brief_waits_for_exactly_its_one_blocking_question() {
    let sandbox = pipeline();
    sandbox.as_user().run(["init"]).exits(0);
    let before = sandbox.read(BRIEF);
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042", "--to", "spec"]), @r#"
    exit 1
    ----- stdout -----
    warning[S003]: a blocking question is open: What's the maximum retention period?
      --> .claude/pipeline/briefs/feat-042-vm-snapshot-management.md:31:17
       |
    31 |     - question: "What's the maximum retention period?"
       |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       |
       = help: product-planner should answer it: midstride answer feat-042/discovery q2 "the answer"
    ----- stderr -----
    `feat-042/discovery` did not advance to spec: 1 finding blocks it
    Next: midstride answer feat-042/discovery q2 "the answer"
    To advance anyway: midstride advance feat-042/discovery --to spec --force --reason "why"
    "#);
    assert_eq!(sandbox.read(BRIEF), before);
    assert!(!sandbox.root().join(SPEC).exists());
    sandbox.run(["answer", "feat-042/discovery", "q2", "Seven years"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["advance", "feat-042", "--to", "spec"]), @"
    exit 0
    ----- stderr -----
    Wrote feat-042/spec: .claude/pipeline/specs/feat-042-vm-snapshot-management.md
    Builds on feat-042/discovery
    Decided upstream:
      - Snapshots will be project-scoped resources
        because: Aligns with existing resource hierarchy and IAM model
        not: Organization-scoped snapshots
        not: VM-attached snapshots (no separate resource)
      - Automated snapshot policies will be a separate feature
        because: Reduces scope for initial release; manual snapshots first
        not: Include automated policies in v1
    Assumed upstream:
      - GCP persistent disk snapshots as backend (high confidence)
      - Snapshots can be restored to different projects (medium confidence, needs validation)
    feat-042/discovery@3: advanced to spec
    Next: fill it in, then midstride check feat-042/spec
    ");
    // The brief already named its spec; that is where the draft goes.
    let brief = sandbox.read(BRIEF);
    assert_eq!(brief.matches("specs/").count(), 1, "{brief}");
    assert!(brief.contains("  status: resolved\n"), "{brief}");
    let upstream =
        format!("    upstream:\n      - artifact: {BRIEF}\n        relationship: derived_from\n");
    let spec = sandbox.read(SPEC);
    assert!(spec.contains(&upstream), "{spec}");
    let run = sandbox.run(["check", "--json", "feat-042/spec"]);
    assert!(!run.stdout.contains("S006") && !run.stdout.contains("S007"), "{run}");
    sandbox.run(["check", "feat-042/discovery"]).exits(0);
}
