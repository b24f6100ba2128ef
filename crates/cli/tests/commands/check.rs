use super::shop;
use crate::sandbox;
use midstride_testkit::fixtures;

#[test]
fn findings_show_the_line_and_a_hint() {
    insta::assert_snapshot!(shop().run(["check", "--quiet"]), @r#"
    exit 1
    ----- stdout -----
    warning[S003]: a blocking question is open: May the weather be ten minutes old?
      --> .midstride/handoffs/market-page-perf.md:19:17
       |
    19 |     - question: May the weather be ten minutes old?
       |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
       |
       = help: product should answer it: midstride answer market-page-perf q1 "the answer"

    warning[S005]: an assumption is not validated: The index on city exists
      --> .midstride/handoffs/market-page-perf.md:25:19
       |
    25 |     - assumption: The index on city exists
       |                   ^^^^^^^^^^^^^^^^^^^^^^^^
       |
       = help: validate it and set `validated: true` or `validated: failed`
    ----- stderr -----
    4 documents checked: 2 warnings
    "#);
}

#[test]
fn hints_do_not_fail_a_check_unless_asked_to() {
    let sandbox = sandbox();
    sandbox.write("HANDOFF.md", "# A note\n\ntext\n");
    insta::assert_snapshot!(sandbox.run(["check"]), @"
    exit 0
    ----- stderr -----
    1 document checked: 1 hint (H002); show it with -v
    ");
    for severity in ["hint", "advice"] {
        let run = sandbox.run(["check", "--fail-on", severity]).exits(1);
        assert!(run.stdout.contains("hint[H002]"), "what fails the check is shown: {run}");
    }
    sandbox.run(["check", "--quiet", "--fail-on", "hint"]).exits(0);
}

#[test]
fn hints_are_counted_by_kind_and_listed_on_request() {
    let sandbox = sandbox();
    sandbox.write(".midstride/config.toml", "");
    let text = "---\nhandoff:\n  id: a\n  title: T\n  created: 2026-03-21T17:24:00Z\n  context_summary: Slow pages\n---\n\n## Root causes\n\nThe query.\n\n## Plan\n\n1. Add an index.\n2. Drop the cache.\n3. Deploy it.\n";
    sandbox.write(".midstride/handoffs/a.md", text);
    insta::assert_snapshot!(sandbox.run(["check"]), @"
    exit 0
    ----- stderr -----
    1 document checked: 4 hints (C003 ×3, C002); show them with -v
    ");
    insta::assert_snapshot!(sandbox.run(["check", "-v"]), @"
    exit 0
    ----- stdout -----
    hint[C002]: this root cause does not name a file
      --> .midstride/handoffs/a.md:11:1
       |
    11 | The query.
       | ^^^^^^^^^^
       |
       = help: name the file and line, such as `src/market.py:120`

    hint[C003]: this step does not say how to check that it is done
      --> .midstride/handoffs/a.md:15:1
       |
    15 | 1. Add an index.
       | ^^^^^^^^^^^^^^^^
       |
       = help: say what must be true afterward, or give a command that checks it

    hint[C003]: this step does not say how to check that it is done
      --> .midstride/handoffs/a.md:16:1
       |
    16 | 2. Drop the cache.
       | ^^^^^^^^^^^^^^^^^^
       |
       = help: say what must be true afterward, or give a command that checks it

    hint[C003]: this step does not say how to check that it is done
      --> .midstride/handoffs/a.md:17:1
       |
    17 | 3. Deploy it.
       | ^^^^^^^^^^^^^
       |
       = help: say what must be true afterward, or give a command that checks it
    ----- stderr -----
    1 document checked: 4 hints
    ");
    let run = sandbox.run(["check", "--json"]).exits(0);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(json["documents"][0]["findings"].as_array().unwrap().len(), 4);
    assert_eq!(
        (&json["advice"], &json["documents"][0]["findings"][0]["severity"]),
        (&4.into(), &"advice".into())
    );
}

#[test]
fn an_untouched_draft_gets_one_finding() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    sandbox.run(["new", "Search is slow"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["check"]), @"
    exit 1
    ----- stdout -----
    error[C014]: this draft is untouched: fill in `context_summary`, Diagnosis, Root causes, Plan and Continuation
      --> .midstride/handoffs/search-slow.md:12:19
       |
    12 |   context_summary:
       |                   ^
       |
       = help: run `midstride edit search-slow`
    ----- stderr -----
    1 document checked: 1 error
    ");
    for arguments in [
        &["new", "End of day", "--kind", "session"][..],
        &["new", "--stage", "discovery", "Snapshots"],
        &["new", "Logins loop", "--to", "ops"],
    ] {
        sandbox.run(arguments).exits(0);
    }
    let run = sandbox.run(["check", "--json"]).exits(1);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    for document in json["documents"].as_array().unwrap() {
        let findings = document["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1, "{document}");
        assert_eq!(findings[0]["code"], "C014");
    }
}

#[test]
fn notes_without_a_header_are_counted() {
    let sandbox = sandbox();
    sandbox.write("docs/handoffs/a.md", "# A note\n");
    sandbox.write("docs/handoffs/b.md", "---\ntopic: Another\nstatus: in progress\n---\n");
    insta::assert_snapshot!(sandbox.run(["check"]), @"
    exit 0
    ----- stderr -----
    2 documents checked: 2 hints (H002 ×2); show them with -v
    ");
    insta::assert_snapshot!(sandbox.run(["list"]), @"
    exit 0
    ----- stdout -----
    ID  STATUS       CHANGED  AGE  REVISED  REVIEWED  OPEN  TITLE
    b   in_progress                                         Another
    a   note                                                A note
    ");
    insta::assert_snapshot!(sandbox.run(["show", "a"]), @"
    exit 0
    ----- stdout -----
    A note
    a · note
    docs/handoffs/a.md

    # A note
    ");
    insta::assert_snapshot!(sandbox.run(["check", "c.md"]), @"
    exit 2
    ----- stderr -----
    error: there is no file `c.md`
    hint: paths are relative to the current folder
    ");
}

#[test]
fn json_has_the_location_of_each_finding() {
    let run = shop().run(["check", "--json", "market"]).exits(1);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let findings = json["documents"][0]["findings"].as_array().unwrap();
    let question = findings.iter().find(|finding| finding["code"] == "S003").unwrap();
    assert_eq!((&question["line"], &question["column"]), (&19.into(), &17.into()));
    assert_eq!(question["end_column"], 52);
    assert_eq!(json["errors"], 0);
}

#[test]
fn github_gets_annotations_and_code_scanning_gets_sarif() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run(["check", "--format", "github", "--quiet"]), @r#"
    exit 1
    ----- stdout -----
    ::warning file=.midstride/handoffs/market-page-perf.md,line=19,col=17,title=S003 a blocking question is open::a blocking question is open: May the weather be ten minutes old?%0Aproduct should answer it: midstride answer market-page-perf q1 "the answer"
    ::warning file=.midstride/handoffs/market-page-perf.md,line=25,col=19,title=S005 an assumption is not validated::an assumption is not validated: The index on city exists%0Avalidate it and set `validated: true` or `validated: failed`
    "#);
    let run = sandbox.run(["check", "--format", "sarif", "--quiet"]).exits(1);
    let sarif: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results[0]["ruleId"], "S003");
    assert_eq!(results[0]["locations"][0]["physicalLocation"]["region"]["startLine"], 19);
}

#[test]
fn staged_documents_are_checked_as_they_would_be_committed() {
    let sandbox = shop();
    sandbox.git(&["add", ".midstride"]);
    sandbox.git(&["commit", "--quiet", "-m", "all"]);
    sandbox.run(["check", "--staged"]).exits(0);
    let file = ".midstride/handoffs/login-loop.md";
    let good = sandbox.read(file);
    sandbox.write(file, good.replace("  resolution:\n    commit: 4f2c9d1\n", ""));
    sandbox.git(&["add", file]);
    sandbox.write(file, good);
    let run = sandbox.run(["check", "--staged"]).exits(1);
    assert!(run.stdout.contains("warning[L001]"), "{run}");
    assert!(run.stderr.contains("1 document checked"), "{run}");
}

#[test]
fn fixing_changes_only_what_is_mechanical() {
    let sandbox = sandbox();
    let loose = "---\nhandoff:\n  id: a\n  title: T # keep\n  created: 2026-03-21T17:24\n  to: ops\n  context_summary: TODO\n---\n";
    sandbox.write(".midstride/handoffs/a.md", loose);
    sandbox.write(".midstride/config.toml", "");
    let run = sandbox.run(["check", "--fix", "--quiet"]).exits(1);
    assert!(run.stderr.contains("Fixed .midstride/handoffs/a.md"), "{run}");
    assert!(run.stdout.contains("C006") && !run.stdout.contains("H008"), "{run}");
    let strict = loose.replace("17:24\n", "17:24:00Z\n").replace("to: ops", "to: [ops]");
    let text = sandbox.read(".midstride/handoffs/a.md");
    assert_eq!(super::without_history(&text), strict);
    assert!(text.contains(" reason: formatted, "), "{text}");
}

#[test]
fn fixing_continues_after_a_document_that_cannot_be_fixed() {
    let sandbox = sandbox();
    sandbox.write(".midstride/config.toml", "");
    let token = format!("ghp_{}", "a1B2".repeat(9));
    sandbox.write(".midstride/handoffs/a.md", format!("# Note\n\nThe token is {token}.\n"));
    sandbox.write(".midstride/handoffs/b.md", "---\nhandoff:\n  id: b\n  to: ops\n---\n");
    let run = sandbox.run(["check", "--fix", "--quiet"]).exits(2);
    assert!(run.stderr.contains("Fixed .midstride/handoffs/b.md"), "{run}");
    assert!(run.stderr.contains("a.md` has no handoff header"), "{run}");
    assert!(run.stderr.contains("2 documents checked"), "{run}");
    assert!(sandbox.read(".midstride/handoffs/b.md").contains("to: [ops]"));
}

#[test]
fn a_finding_is_silenced_with_a_reason() {
    let sandbox = sandbox();
    sandbox.write(".midstride/config.toml", "");
    let text = "---\n# midstride: allow C010 an example\n# midstride: allow S001\n# midstride: allow Z999 never\nhandoff:\n  id: a\n---\n";
    sandbox.write(".midstride/handoffs/a.md", text);
    let run = sandbox.run(["check", "--json"]).exits(1);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let codes: Vec<&str> = json["documents"][0]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["code"].as_str().unwrap())
        .collect();
    assert!(
        codes.contains(&"A001") && codes.contains(&"A003") && codes.contains(&"S001"),
        "{codes:?}"
    );
    assert!(!codes.contains(&"C010"));
    assert_eq!(json["documents"][0]["silenced"][0]["reason"], "an example");
}

#[test]
fn the_description_of_a_pull_request_is_checked() {
    let sandbox = sandbox();
    sandbox.write("body.md", "Fixes it.\n\n## Handoff Context\n\n**Feature**: feat-001 - X\n**Design**: designs/none.md\n\n### Deviations from Design\n\n- Deviation: none\n  Reason: x\n");
    insta::assert_snapshot!(sandbox.run(["check", "--pr-body", "body.md"]), @"
    exit 1
    ----- stdout -----
    error[P002]: the handoff context has no `**Implements**:`
     --> body.md:3:1
      |
    3 | ## Handoff Context
      | ^^^^^^^^^^^^^^^^^^
      |
      = help: add `**Implements**:` to the handoff context

    error[P004]: the design `designs/none.md` does not exist
     --> body.md:6:13
      |
    6 | **Design**: designs/none.md
      |             ^^^^^^^^^^^^^^^
      |
      = help: correct the path

    warning[P003]: this entry has no `Impact:`
      --> body.md:10:1
       |
    10 | - Deviation: none
       | ^^^^^^^^^^^^^^^^^
       |
       = help: add `Impact:` to this entry
    ----- stderr -----
    1 document checked: 2 errors, 1 warning
    ");
}

#[test]
fn a_project_defines_its_own_stage() {
    let sandbox = sandbox();
    sandbox.write(".midstride/config.toml", "capabilities = [\"billing\"]\n[stages.threat-model]\nfolder = \"threats\"\nrequires = [\"id\", \"landmines\"]\ncapabilities = true\n");
    sandbox.write(".claude/pipeline/threats/feat-001.md", "---\nhandoff:\n  id: feat-001\n  platform_capabilities:\n    quota:\n      applies: false\n---\n");
    let run = sandbox.run(["check", "--quiet"]).exits(1);
    assert!(run.stdout.contains("a document at the threat-model stage needs `landmines`"), "{run}");
    assert!(run.stdout.contains("no decision is recorded for `billing`"), "{run}");
}

#[test]
fn color_is_used_only_when_asked_for() {
    let sandbox = shop();
    assert!(!sandbox.run(["check"]).stdout.contains('\u{1b}'));
    assert!(sandbox.run(["check", "--color", "always"]).stdout.contains('\u{1b}'));
}

#[test]
fn a_folder_argument_covers_its_handoffs_and_a_name_takes_precedence() {
    let sandbox = shop();
    sandbox.write("docs/other.md", "# no handoff\n");
    sandbox.write("market/x.md", "");
    for name in [".", ".midstride", "market-page-perf", "market"] {
        let run = sandbox.run(["check", "--quiet", name]);
        let expected = i32::from(name != "market");
        assert_eq!(run.code, Some(expected), "{name}: {run}");
    }
    sandbox.run(["check", "docs"]).exits(0);
    sandbox.run(["check", ""]).exits(2);
    let twice = sandbox.run(["check", "login-loop", "login-loop"]);
    assert!(twice.stderr.contains("1 document checked"), "{twice}");
}

#[test]
fn unreadable_documents_do_not_pass() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.run(["check", "--staged"]), @"
    exit 2
    ----- stderr -----
    error: cannot check staged versions: this is not a git repository
    hint: omit `--staged` to check the files on disk
    ");
    insta::assert_snapshot!(sandbox.run(["-C", "typo", "check"]), @"
    exit 2
    ----- stderr -----
    error: there is no folder `typo`
    ");
    insta::assert_snapshot!(sandbox.run(["--json", "list"]), @r#"
    exit 2
    ----- stdout -----
    {
      "schema": "error/1",
      "code": "usage",
      "message": "`--json` must follow the command",
      "hint": "put it after the command: `midstride list --json`"
    }
    "#);
    sandbox.write("notes.txt", "x");
    insta::assert_snapshot!(sandbox.run(["check", "notes.txt"]), @"
    exit 2
    ----- stderr -----
    error: `notes.txt` is not a Markdown file
    hint: a handoff is a file whose name ends in `.md`
    ");
}

#[test]
fn an_upstream_is_complete_only_with_its_own_upstream() {
    let sandbox = sandbox();
    let document = |id: &str, upstream: &str| {
        format!(
            "---\nhandoff:\n  id: {id}\n  title: T of {id}\n  created: 2026-03-21T17:24:00Z\n  context_summary: Something else\n  dependencies:\n    upstream:\n      - artifact: {upstream}\n---\n\n## Plan\n\n1. Test it.\n"
        )
    };
    sandbox.write(".midstride/config.toml", "");
    sandbox.write(".midstride/handoffs/a.md", document("a", "b"));
    sandbox.write(".midstride/handoffs/b.md", document("b", "missing"));
    let run = sandbox.run(["check", "--quiet", "a"]).exits(1);
    assert!(run.stdout.contains("S007"), "{run}");
    sandbox.write(".midstride/handoffs/b.md", document("b", "a"));
    let run = sandbox.run(["check", "--quiet", "a"]).exits(1);
    assert!(run.stdout.contains("S007"), "{run}");
}

#[test]
fn duplicate_ids_are_reported_for_both_handoffs() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    let text =
        |uid: &str, allow: &str| format!("---\n{allow}handoff:\n  id: a\n  uid: {uid}\n---\n");
    sandbox.write(".midstride/handoffs/a.md", text("one", ""));
    sandbox.write("docs/handoffs/a.md", text("two", ""));
    let named = sandbox.run(["check", "docs/handoffs/a.md"]).exits(1);
    assert!(named.stdout.contains("R001"), "{named}");
    sandbox.git(&["add", "docs"]);
    let staged = sandbox.run(["check", "--staged"]).exits(1);
    assert!(staged.stdout.contains("R001"), "{staged}");
    let allow = "# midstride: allow R001 a copy for a test\n";
    sandbox.write("docs/handoffs/a.md", text("two", allow));
    assert!(!sandbox.run(["check"]).stdout.contains("R001"));
}

/// A cached result must never differ from a fresh one.
#[test]
fn citations_are_rechecked_when_anything_they_depend_on_changes() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    let lines: String = (1..=30).map(|line| format!("step_{line}()\n")).collect();
    sandbox.write("src/market.py", &lines);
    sandbox.write("body.md", "## Diagnosis\n\nSlow: src/market.py:12.\n");
    sandbox.run(["new", "Market", "--body", "body.md"]).exits(0);
    let verdict = || {
        let judged = sandbox.run(["check", "--all", "--json", "market"]);
        let judged: serde_json::Value = serde_json::from_str(&judged.stdout).unwrap();
        judged["documents"][0]["citations"][0]["verdict"].as_str().unwrap().to_owned()
    };
    let file = sandbox.root().join("src/market.py");
    let old = std::time::SystemTime::now() - std::time::Duration::from_mins(10);
    let change = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let handle = std::fs::File::options().write(true).open(&file).unwrap();
        handle.set_modified(old).unwrap();
    };
    change(&lines);
    assert_eq!([verdict(), verdict()], ["intact", "intact"]);
    change(&lines.replace("step_12()", "step_xx()"));
    assert_eq!([verdict(), verdict()], ["changed", "changed"]);
    change(&format!("import\n{lines}"));
    assert_eq!(verdict(), "moved");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(verdict(), "deleted");
    sandbox.write("src/hub.py", &lines);
    assert_eq!(verdict(), "renamed");
    sandbox.write("src/market.py", &lines);
    assert_eq!(verdict(), "intact");
}

#[test]
fn an_approving_review_accepts_the_current_code() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    let lines: String = (1..=30).map(|line| format!("step_{line}()\n")).collect();
    sandbox.write("src/market.py", &lines);
    sandbox.git(&["add", "src"]);
    sandbox.git(&["commit", "--quiet", "--message", "code"]);
    sandbox
        .write("body.md", "## Diagnosis\n\nSlow: src/market.py:12.\n\nSlower: src/market.py:20.\n");
    sandbox.run(["new", "Market", "--body", "body.md"]).exits(0);
    let changed = lines.replace("step_12()", "step_12(fast=True)");
    sandbox.write("src/market.py", format!("import x\n\n{changed}"));
    let held = ["review", "market", "--by", "ann", "--challenged", "the loop", "--verdict", "held"];
    sandbox.run(held).exits(0);
    let text = sandbox.read(".midstride/handoffs/market.md");
    assert!(text.contains("Slow: src/market.py:14."), "{text}");
    assert!(text.contains("Slower: src/market.py:22."), "{text}");
    let judged = sandbox.run(["check", "--all", "market"]).stdout;
    assert_eq!(judged.matches("  intact  ").count(), 2, "{judged}");
}

#[test]
fn a_secret_in_a_handoff_is_found_and_redacted_on_request() {
    let sandbox = crate::sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    let text = std::fs::read_to_string(fixtures("findings/X001").join("bad.md")).unwrap();
    sandbox.write(".midstride/handoffs/oauth-clock-drift.md", &text);
    sandbox.git(&["add", "--all"]);
    for arguments in [&["check"][..], &["check", "--staged"], &["check", "--json"]] {
        let run = sandbox.run(arguments).exits(1);
        assert!(run.stdout.contains("X001"), "{run}");
        assert!(!run.to_string().contains("Tr0ub4dor"), "{run}");
    }
    insta::assert_snapshot!(sandbox.run(["check"]), @"
    exit 1
    ----- stdout -----
    error[X001]: this looks like a secret: password
      --> .midstride/handoffs/oauth-clock-drift.md:26:44
       |
    26 | To see it, log in as `probe` with password=*************** on `web-4`.
       |                                            ^^^^^^^^^^^^^^^
       |
       = help: Revoke the secret, then run `midstride check --fix` to redact it here. If it is not a secret, silence this finding.
    ----- stderr -----
    1 document checked: 1 error
    ");
    sandbox.run(["check", "--fix"]);
    let text = sandbox.read(".midstride/handoffs/oauth-clock-drift.md");
    assert!(text.contains("password=REDACTED-password on `web-4`"), "{text}");
    let run = sandbox.run(["check"]);
    assert!(!run.stdout.contains("X001"), "{run}");
    let kept = sandbox.run(["show", "oauth-clock-drift@1"]).exits(0);
    assert!(!kept.stdout.contains("Tr0ub4dor"), "{kept}");
}

#[test]
fn no_finding_prints_a_secret_of_the_header_the_file_name_or_a_commit() {
    let sandbox = crate::sandbox();
    sandbox.write(".midstride/config.toml", "").write("src/a.rs", "fn a() {}\n");
    let sandbox = sandbox.repository();
    let token = format!("ghp_{}", "a1B2c3".repeat(6));
    sandbox.write(
        ".midstride/handoffs/id.md",
        format!("---\nhandoff:\n  id: {token}\n  blocks: {token}x\n---\n\n# A\n"),
    );
    sandbox.write(&format!(".midstride/handoffs/{token}.md"), "# A note\n");
    let body = "Slow: `src/a.rs`.";
    sandbox.run_with_input(&["new", "Slow", "--id", "slow", "--body", "-"], body).exits(0);
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "next"]);
    sandbox.write("src/a.rs", "fn a() { b() }\n");
    sandbox.git(&["add", "--all"]);
    let mut later = sandbox.command("git");
    later.env("GIT_COMMITTER_DATE", "2026-03-25T10:00:00Z");
    let message = format!("Use {token}");
    sandbox.finish(later.args(["commit", "--quiet", "--message", &message])).exits(0);
    for arguments in [
        &["check"][..],
        &["check", "-v"],
        &["check", "--all"],
        &["check", "--staged"],
        &["check", "--json"],
        &["check", "--format", "sarif"],
        &["check", "--format", "github"],
        &["list"],
        &["list", "--json"],
        &["list", "--graph"],
        &[],
    ] {
        let run = sandbox.run(arguments);
        assert!(!run.to_string().contains("a1B2c3"), "{arguments:?}: {run}");
    }
    let told = sandbox.run(["check", "-v"]).exits(1).stdout;
    assert!(told.contains("\"Use REDACTED-github-token\""), "{told}");
    assert!(told.contains("the file name contains a secret: github-token"), "{told}");
    assert!(told.contains("--> .midstride/handoffs/REDACTED-github-token"), "{told}");
}
