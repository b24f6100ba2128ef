//! Tests of `verify`, which runs proofs again.

use crate::sandbox;
use midstride_testkit::Sandbox;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

const FILE: &str = ".midstride/handoffs/pages.md";

/// A project whose only handoff has these proofs.
pub(super) fn proofs(fields: &str) -> Sandbox {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    sandbox.write(FILE, document(fields));
    sandbox
}

pub(super) fn document(fields: &str) -> String {
    format!(
        "---\nhandoff:\n  id: pages\n  uid: one\n  title: Pages are slow\n  created: 2026-03-21T17:24:00Z\n  context_summary: They load everything.\n  proofs:\n{fields}---\n"
    )
}

fn allowed(fields: &str) -> Sandbox {
    let sandbox = proofs(fields);
    sandbox.as_user().run(["trust", "pages", "--all", "--yes"]);
    sandbox
}

const SEVERAL: &str = "    - claim: It is fast
      run: echo median 108 ms
      expect:
        max: 200
      measures: Austin
    - claim: Nothing is missing
      run: |
        for i in 1 2 3; do echo line $i; done
        exit 4
      expect: \"missing: 0\"
    - claim: Nobody can tell
      run: echo hi
      expect: {approve: me}
";

#[test]
fn each_proof_shows_its_result() {
    let sandbox = proofs(SEVERAL);
    insta::assert_snapshot!(sandbox.run(["verify", "pages"]), @"
    exit 1
    ----- stdout -----
    pages  .midstride/handoffs/pages.md
      1. not allowed     It is fast
                         midstride trust pages 1
      2. not allowed     Nothing is missing
                         midstride trust pages 2
      3. not understood  Nobody can tell
                         unknown key `approve`
    ");
    sandbox.as_user().run(["trust", "pages", "1", "--yes"]).exits(0);
    sandbox.as_user().run(["trust", "pages", "2", "--yes"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["verify"]), @"
    exit 1
    ----- stdout -----
    pages  .midstride/handoffs/pages.md
      1. holds           It is fast  (108)
      2. broken          Nothing is missing
                         it exited with 4, not 0
                         | line 1
                         | line 2
                         | line 3
      3. not understood  Nobody can tell
                         unknown key `approve`
    ");
    insta::assert_snapshot!(sandbox.run(["verify", "pages", "--only", "1"]), @"
    exit 0
    ----- stdout -----
    pages  .midstride/handoffs/pages.md
      1. holds           It is fast  (108)
    ");
    insta::assert_snapshot!(sandbox.run(["verify", "pages", "--only", "7"]), @"
    exit 2
    ----- stderr -----
    error: `pages` has no proof 7
    hint: it has 1, 2, 3
    ");
    assert_eq!(sandbox.read(FILE), document(SEVERAL), "nothing is written");
    // The result is an event, and the history of the document continues next to it.
    sandbox.run(["start", "pages"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["events"]), @"
    exit 0
    ----- stdout -----
    2026-03-21 17:24  pages  captured
    2026-03-21 17:24  pages  proof 1 holds: It is fast  (by tester)
    2026-03-21 17:24  pages  proof 2 broken: Nothing is missing  (by tester)
    2026-03-21 17:24  pages  proof 1 holds: It is fast  (by tester)
    2026-03-21 17:24  pages  started  (by tester)
    ");
}

#[test]
fn results_are_available_as_json() {
    let sandbox = proofs(SEVERAL);
    sandbox.as_user().run(["trust", "pages", "1", "--yes"]).exits(0);
    let run = sandbox.run(["verify", "pages", "--json"]).exits(1);
    let mut json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    for proof in json["handoffs"][0]["proofs"].as_array_mut().unwrap() {
        if proof["milliseconds"].is_number() {
            proof["milliseconds"] = "[TIME]".into();
        }
        proof.as_object_mut().unwrap().remove("test");
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).unwrap(), @r#"
    {
      "schema": "verify/1",
      "handoffs": [
        {
          "key": "pages",
          "path": ".midstride/handoffs/pages.md",
          "proofs": [
            {
              "number": 1,
              "claim": "It is fast",
              "output": "median 108 ms\n",
              "state": "holds",
              "why": null,
              "exit": 0,
              "measured": "108",
              "milliseconds": "[TIME]"
            },
            {
              "number": 2,
              "claim": "Nothing is missing",
              "output": null,
              "state": "not_allowed",
              "why": null,
              "exit": null,
              "measured": null,
              "milliseconds": null
            },
            {
              "number": 3,
              "claim": "Nobody can tell",
              "output": null,
              "state": "not_understood",
              "why": "unknown key `approve`",
              "exit": null,
              "measured": null,
              "milliseconds": null
            }
          ],
          "recorded": null,
          "not_recorded": null,
          "untold": null
        }
      ]
    }
    "#);
    let event = sandbox.run(["events", "--json"]).exits(0).stdout;
    let event = event.lines().find(|line| line.contains("midstride.proof.ran.v1")).unwrap();
    let mut event: serde_json::Value = serde_json::from_str(event).unwrap();
    event["data"]["milliseconds"] = "[TIME]".into();
    insta::assert_snapshot!(serde_json::to_string_pretty(&event["data"]).unwrap(), @r#"
    {
      "key": "pages",
      "number": 1,
      "claim": "It is fast",
      "command": "echo median 108 ms",
      "directory": "",
      "outcome": "holds",
      "why": null,
      "exit": 0,
      "measured": "108",
      "milliseconds": "[TIME]",
      "commit": "[COMMIT]",
      "output": "median 108 ms\n"
    }
    "#);
}

#[test]
fn results_are_recorded_on_request() {
    let sandbox = proofs(SEVERAL);
    sandbox.as_user().run(["trust", "pages", "1", "--yes"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["verify", "pages", "--record"]), @"
    exit 1
    ----- stdout -----
    pages  .midstride/handoffs/pages.md
      1. holds           It is fast  (108)
      2. not allowed     Nothing is missing
                         midstride trust pages 2
      3. not understood  Nobody can tell
                         unknown key `approve`
    ----- stderr -----
    pages@2: verified: 1 holds
    ");
    let text = sandbox.read(FILE);
    let head = sandbox.command("git").args(["rev-parse", "HEAD"]).output().unwrap().stdout;
    let head = String::from_utf8(head).unwrap();
    let shown = super::without_history(&text).replace(head.trim(), "[COMMIT]");
    insta::assert_snapshot!(shown, @r#"
    ---
    handoff:
      id: pages
      title: Pages are slow
      created: 2026-03-21T17:24:00Z
      context_summary: They load everything.
      proofs:
        - claim: It is fast
          run: echo median 108 ms
          expect:
            max: 200
          measures: Austin
          last:
            at: 2026-03-21T17:24:00Z
            by: tester
            commit: [COMMIT]
            outcome: holds
            number: 108
        - claim: Nothing is missing
          run: |
            for i in 1 2 3; do echo line $i; done
            exit 4
          expect: "missing: 0"
        - claim: Nobody can tell
          run: echo hi
          expect: {approve: me}
      measurements:
        - name: Austin
          before: 108
    ---
    "#);
    // The work is done; the same proof measures the result.
    sandbox.write(FILE, text.replace("echo median 108 ms", "echo median 8 ms"));
    sandbox.as_user().run(["trust", "pages", "1", "--yes"]).exits(0);
    sandbox.run(["verify", "pages", "--only", "1", "--record", "--by", "bob"]).exits(0);
    let text = sandbox.read(FILE);
    assert!(text.contains("    - name: Austin\n      before: 108\n      after: 8\n"), "{text}");
    assert!(text.contains(" verb: verify, "), "{text}");
    insta::assert_snapshot!(sandbox.run(["show", "pages"]), @"
    exit 0
    ----- stdout -----
    Pages are slow
    pages · investigation · planned
    captured 2026-03-21 (less than a day ago) · revised once · never reviewed · 3 proofs (1 held, 2 never run)
    .midstride/handoffs/pages.md

    Summary
      They load everything.

    Proofs
      1. It is fast (holds, 2026-03-21 17:24)
         run: echo median 8 ms
      2. Nothing is missing (never run)
         run: for i in 1 2 3; do echo line $i; done
              exit 4
      3. Nobody can tell (never run)
         run: echo hi

    Measured
      - Austin: 108 → 8 (14×)

    Revisions
      - 2026-03-21T17:24:00Z  verified: 1 holds
      - 2026-03-21T17:24:00Z  edited outside midstride
      - 2026-03-21T17:24:00Z  verified: 1 holds
    ");
    sandbox.run(["undo", "pages"]).exits(0);
    assert!(!sandbox.read(FILE).contains("after: 8"));
}

#[test]
fn matching_no_proof_is_not_a_success() {
    let sandbox = proofs("");
    insta::assert_snapshot!(sandbox.run(["verify", "pages"]), @"
    exit 1
    ----- stderr -----
    pages has no proofs, so nothing was verified.
    ");
    insta::assert_snapshot!(sandbox.run(["verify"]), @"
    exit 0
    ----- stderr -----
    No open handoff has proofs.
    ");
}

#[test]
fn a_command_gets_no_secrets_and_no_input() {
    let sandbox = allowed(
        "    - claim: c\n      run: env; cat; pwd\n      directory: src\n      expect: never said\n",
    );
    sandbox.write("src/x", "");
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    command
        .args(["verify", "pages", "--json"])
        .env("DEPLOY_TOKEN", "marker-one")
        .env("DATABASE_URL", "postgres://app:marker-two@db/shop")
        .env("HARMLESS", "marker-three")
        .env("GIT_DIR", "/marker-four");
    let run = sandbox.finish(&mut command).exits(1);
    for hidden in ["marker-one", "marker-two", "marker-four", "MIDSTRIDE_NOW"] {
        assert!(!run.stdout.contains(hidden), "{hidden}: {run}");
    }
    assert!(run.stdout.contains("HARMLESS=marker-three"), "{run}");
    assert!(run.stdout.contains("[ROOT]/src"), "{run}");
}

#[test]
fn a_secret_in_the_output_is_not_kept() {
    let sandbox = allowed(
        "    - claim: c\n      run: echo ghp_$(printf a1B2%.0s 1 2 3 4 5 6 7 8 9)\n      expect: 1\n",
    );
    let run = sandbox.run(["verify", "pages"]).exits(1);
    assert!(run.stdout.contains("| REDACTED-github-token"), "{run}");
    let events = sandbox.run(["events", "--json"]).exits(0).stdout;
    assert!(events.contains("REDACTED-github-token") && !events.contains("ghp_a1B2a"), "{events}");
}

#[test]
fn a_proof_cannot_run_proofs() {
    let program = env!("CARGO_BIN_EXE_midstride");
    let sandbox = allowed(&format!("    - claim: c\n      run: {program} verify pages\n"));
    let run = sandbox.run(["verify", "pages"]).exits(1);
    assert!(run.stdout.contains("it exited with 2, not 0"), "{run}");
    assert!(run.stdout.contains("a proof cannot run other proofs"), "{run}");
}

#[test]
fn a_folder_that_is_missing_or_elsewhere_is_refused() {
    let sandbox = allowed(
        "    - claim: missing\n      run: touch here\n      directory: gone\n    - claim: a link out\n      run: touch here\n      directory: link\n    - claim: a file\n      run: touch here\n      directory: README\n",
    );
    sandbox.write("README", "");
    std::os::unix::fs::symlink(sandbox.home(), sandbox.root().join("link")).unwrap();
    insta::assert_snapshot!(sandbox.run(["verify", "pages"]), @"
    exit 2
    ----- stdout -----
    pages  .midstride/handoffs/pages.md
      1. not run         missing
                         there is no `gone` folder in the project
      2. not run         a link out
                         `[ROOT]/link` points outside the project
      3. not run         a file
                         there is no `README` folder in the project
    ");
    assert!(!sandbox.home().join("here").exists());
    assert!(!sandbox.root().join("here").exists());
}

#[test]
fn a_command_that_takes_too_long_is_stopped() {
    let sandbox =
        allowed("    - claim: It ends\n      run: echo begun; sleep 1000\n      timeout: 500\n");
    insta::assert_snapshot!(sandbox.run(["verify", "pages", "--timeout", "1", "--record"]), @"
    exit 1
    ----- stdout -----
    pages  .midstride/handoffs/pages.md
      1. timed out       It ends
                         it was stopped after 1 s
                         | begun
    ----- stderr -----
    pages@2: verified: 1 timed out
    ");
    assert!(sandbox.read(FILE).contains("outcome: timed_out\n"));
}

/// However midstride exits, the processes it started end too.
#[test]
fn nothing_outlives_an_interrupted_run() {
    for signal in ["INT", "TERM", "KILL"] {
        let sandbox = allowed(
            "    - claim: c\n      run: |\n        exec 3>alive\n        trap '' INT TERM HUP\n        (sleep 1000) &\n        echo begun >&3\n        sleep 1000\n",
        );
        let path = sandbox.root().join("alive");
        sandbox.finish(sandbox.command("mkfifo").arg(&path)).exits(0);
        let mut command = sandbox.child_command(env!("CARGO_BIN_EXE_midstride"));
        command.args(["verify", "pages"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut midstride = command.spawn().unwrap();
        let mut alive = BufReader::new(std::fs::File::open(&path).unwrap());
        let mut line = String::new();
        alive.read_line(&mut line).unwrap();
        assert_eq!(line, "begun\n");
        let kill = format!("kill -{signal} {}", midstride.id());
        sandbox.finish(sandbox.command("sh").args(["-c", &kill])).exits(0);
        assert!(!midstride.wait().unwrap().success());
        // The pipe ends when the last of them has exited.
        assert_eq!(alive.read_to_string(&mut line).unwrap(), 0, "{signal}");
    }
}

#[test]
fn each_result_is_printed_before_the_next_proof_runs() {
    let sandbox = allowed(
        "    - claim: It is fast\n      run: echo 7\n      measures: n\n    - claim: It is gentle\n      run: kill -9 $PPID\n",
    );
    insta::assert_snapshot!(sandbox.run(["verify", "pages"]), @"
    killed
    ----- stdout -----
    pages  .midstride/handoffs/pages.md
      1. holds           It is fast  (7)
    ");
    let told = sandbox.run(["events", "--json"]).exits(0);
    assert_eq!(told.stdout.matches("midstride.proof.ran.v1").count(), 1, "{told}");
}
