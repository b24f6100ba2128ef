use super::{shop, without_history};

const FILE: &str = ".midstride/handoffs/loose.md";
const LOOSE: &str = "---\nhandoff:\n  id: loose\n  title: Loose\n  created: 2026-03-21\n  status: DONE # finally\n  context_summary: It works now, see below.\n  resolution: shipped\n---\n";

#[test]
fn only_loose_syntax_changes() {
    let sandbox = shop();
    sandbox.write(FILE, LOOSE);
    insta::assert_snapshot!(sandbox.run(["fmt", "--check"]), @"
    exit 1
    ----- stdout -----
    .midstride/handoffs/loose.md
    ----- stderr -----
    1 of 5 documents would change
    ");
    assert_eq!(sandbox.read(FILE), LOOSE);
    insta::assert_snapshot!(sandbox.run(["fmt"]), @"
    exit 0
    ----- stdout -----
    .midstride/handoffs/loose.md
    ----- stderr -----
    1 of 5 documents changed
    ");
    insta::assert_snapshot!(without_history(&sandbox.read(FILE)), @"
    ---
    handoff:
      id: loose
      title: Loose
      created: 2026-03-21T00:00:00Z
      status: resolved # finally
      context_summary: It works now, see below.
      resolution:
        outcome: shipped
    ---
    ");
    insta::assert_snapshot!(sandbox.run(["fmt"]), @"
    exit 0
    ----- stderr -----
    0 of 5 documents changed
    ");
    assert_eq!(sandbox.read("HANDOFF.md"), "# Where we are\n\nThe build is green.\n");
}

#[test]
fn a_folder_and_a_name_can_be_given() {
    let sandbox = shop();
    sandbox.write(FILE, LOOSE);
    sandbox.run(["fmt", "--check", "market"]).exits(0);
    sandbox.run(["fmt", "--check", ".midstride"]).exits(1);
    sandbox.run(["fmt", "--check", "loose"]).exits(1);
}

#[test]
fn unsafe_changes_are_skipped_and_reported() {
    let sandbox = shop();
    sandbox.write(FILE, "---\nhandoff:\n  format: 99\n  id: loose\n  status: DONE\n---\n");
    insta::assert_snapshot!(sandbox.run(["fmt"]), @"
    exit 2
    ----- stderr -----
    warning: `.midstride/handoffs/loose.md` was not changed: the document's format is newer than the one this version of midstride writes
    0 of 5 documents changed
    ");
    sandbox.write(FILE, b"---\nhandoff:\n  id: loose\n  status: DONE\n  title: caf\xe9\n---\n");
    insta::assert_snapshot!(sandbox.run(["fmt"]), @"
    exit 2
    ----- stderr -----
    warning: `.midstride/handoffs/loose.md` was not changed: the file is not UTF-8
    0 of 5 documents changed
    ");
}

#[test]
fn formatting_is_not_a_correction_that_needs_a_lesson() {
    let sandbox = shop();
    let text = "---\nhandoff:\n  id: a\n  title: A\n  status: OPEN\n  created: 2026-03-21\n  context_summary: It is slow.\n---\n\n## Plan\n\n1. Mend it; check the log.\n";
    sandbox.write(FILE, text.replace("id: a", "id: loose"));
    sandbox.run(["fmt", "loose"]).exits(0);
    sandbox.run(["start", "loose"]).exits(0);
    assert!(!sandbox.run(["check", "-v", "loose"]).stdout.contains("C004"));
    sandbox.run_with_editor(&["edit", "loose", "--reason", "wrong place"], "echo x >> \"$1\"");
    assert!(sandbox.run(["check", "-v", "loose"]).stdout.contains("C004"));
}
