//! Tests of trusting a configuration that reaches outside its project.

use crate::sandbox;
use midstride_testkit::Sandbox;

const NOTE: &str = "# Found outside\n\nmarker-outside\n";

fn reaching() -> Sandbox {
    let sandbox = sandbox().repository();
    let folder = sandbox.home().join("notes");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("found.md"), NOTE).unwrap();
    std::fs::write(folder.join("id_rsa"), "marker-key").unwrap();
    std::os::unix::fs::symlink("/etc/hostname", folder.join("out.md")).unwrap();
    sandbox.write(".midstride/config.toml", "shelves = [\"~/notes\", \"../gone\"]\n");
    sandbox
}

#[test]
fn a_folder_outside_is_read_once_it_is_trusted() {
    let sandbox = reaching();
    insta::assert_snapshot!(sandbox.run(["list"]), @r#"
    exit 0
    ----- stderr -----
    There are no handoffs here yet. Next: midstride new "what you found out"
    warning: folder `~/notes` is outside the project; midstride does not read it until you trust it with `midstride trust`
    warning: folder `../gone` is outside the project; midstride does not read it until you trust it with `midstride trust`
    "#);
    insta::assert_snapshot!(sandbox.as_user().run(["trust"]), @"
    exit 1
    ----- stderr -----
    This project is not trusted yet, so sessions are not briefed from its handoffs.
    .midstride/config.toml lists folders outside the project:
      ~/notes  reads *.md under [HOME]/notes
      ../gone  reads *.md under [ROOT]/../gone
    ----- terminal -----
    Trust [ROOT]? [y/N]
    ");
    insta::assert_snapshot!(sandbox.as_user().run(["trust", "--yes", "--json"]), @r#"
    exit 0
    ----- stdout -----
    {
      "schema": "trust/1",
      "configuration": "[ROOT]/.midstride/config.toml",
      "shelves": [
        {
          "name": "~/notes",
          "path": "[HOME]/notes"
        },
        {
          "name": "../gone",
          "path": "[ROOT]/../gone"
        }
      ],
      "redact": [],
      "unread_stores": [],
      "trusted": true,
      "documents": [],
      "proofs": []
    }
    ----- stderr -----
    This project is not trusted yet, so sessions are not briefed from its handoffs.
    .midstride/config.toml lists folders outside the project:
      ~/notes  reads *.md under [HOME]/notes
      ../gone  reads *.md under [ROOT]/../gone
    Trusted. midstride asks again after the configuration changes.
    ----- terminal -----
    Trust [ROOT]? [y/N] y (--yes)
    "#);
    insta::assert_snapshot!(sandbox.run(["list"]), @"
    exit 2
    ----- stdout -----
    ID     STATUS  CHANGED  AGE  REVISED  REVIEWED  OPEN  TITLE
    found  note                                           Found outside
    ----- stderr -----
    warning: folder `../gone` is not read: `[ROOT]/../gone` does not exist
    warning: `[HOME]/notes/out.md` points outside the project
    hint: midstride stays inside the project; move the file into the project
    ");
    assert!(sandbox.run(["show", "found"]).exits(0).stdout.contains("marker-outside"));
    insta::assert_snapshot!(sandbox.run(["trust", "--list"]), @"
    exit 0
    ----- stdout -----
    2026-03-21  [ROOT]
      1 document that sessions would be briefed from: 1 not committed
      [HOME]/notes: 1 document
        found.md  not committed
    2026-03-21  [ROOT]/.midstride/config.toml
      ~/notes, ../gone
    ");
    // A change needs trust again, and so does another clone.
    sandbox.write(".midstride/config.toml", "shelves = [\"~/notes\"] # now\n");
    let run = sandbox.run(["list"]).exits(0);
    assert!(
        !run.stdout.contains("Found outside") && run.stderr.contains("midstride trust"),
        "{run}"
    );
    sandbox.as_user().run(["trust", "--yes"]).exits(0);
    assert!(sandbox.run(["list"]).stdout.contains("Found outside"));
    sandbox.run(["trust", "--revoke"]).exits(0);
    assert!(!sandbox.run(["list"]).stdout.contains("Found outside"));
}

#[test]
fn an_agent_cannot_trust_anything() {
    let sandbox = reaching();
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    let run = sandbox.finish(command.args(["trust", "--yes"]).env("CLAUDECODE", "1")).exits(2);
    assert!(run.stderr.contains("it is running inside Claude Code"), "{run}");
    assert!(sandbox.run(["list"]).stderr.contains("until you trust it with"), "{run}");
}

#[test]
fn a_trusted_project_lists_what_is_trusted() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    insta::assert_snapshot!(sandbox.as_user().run(["trust"]), @"
    exit 0
    ----- stderr -----
    This project is already trusted:
    2026-03-21  [ROOT]
      no documents yet
    To revoke this, run `midstride trust --revoke`
    ");
    sandbox.run(["trust", "--revoke"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["trust", "--list"]), @"
    exit 0
    ----- stderr -----
    Nothing is trusted in this project.
    ");
    sandbox.write("HANDOFF.md", "# Where we are\n\nThe build is green.\n");
    let trusted = sandbox.as_user().run(["trust", "--yes"]).exits(0);
    assert!(trusted.stderr.contains("Trusted. This includes documents that are added later."));
    insta::assert_snapshot!(sandbox.run(["trust", "--list"]), @"
    exit 0
    ----- stdout -----
    2026-03-21  [ROOT]
      1 document that sessions would be briefed from: 1 not committed
      .: 1 document
        HANDOFF.md  not committed
    2026-03-21  [ROOT]/.midstride/config.toml
    ");
    insta::assert_snapshot!(sandbox.as_user().run(["trust"]), @"
    exit 0
    ----- stderr -----
    This project is already trusted:
    2026-03-21  [ROOT]
      1 document that sessions would be briefed from: 1 not committed
      .: 1 document
        HANDOFF.md  not committed
    2026-03-21  [ROOT]/.midstride/config.toml
    To revoke this, run `midstride trust --revoke`
    ");
    let list = sandbox.run(["trust", "--list", "--json"]).exits(0);
    let list: serde_json::Value = serde_json::from_str(&list.stdout).unwrap();
    assert_eq!(list["items"][0]["kind"], "documents");
    assert_eq!(list["items"][0]["shown"], "HANDOFF.md");
}

#[test]
fn only_the_user_sets_up_and_trusts_a_clone_with_documents() {
    let sandbox = sandbox().repository();
    sandbox.write("HANDOFF.md", "# Where we are\n\nThe build is green.\n");
    let mut agent = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    let run = sandbox.finish(agent.arg("init").env("CLAUDECODE", "1")).exits(2);
    assert!(run.stderr.contains("it is running inside Claude Code"), "{run}");
    assert!(!sandbox.root().join(".midstride").exists());
    let is_withheld = || {
        let run = sandbox.run(["brief"]).exits(0);
        let line = "1 document in this repository is not trusted and not included";
        assert!(run.stderr.contains(line) && !run.stdout.contains("The build is green"), "{run}");
    };
    is_withheld();
    // Without a terminal the project is set up and not trusted.
    let run = sandbox.run(["init", "--yes"]).exits(0);
    assert!(run.stderr.contains("Not trusted yet"), "{run}");
    is_withheld();
    // The user is asked.
    let run = sandbox.as_user().types("n\n").run(["init"]).exits(0);
    assert!(run.stderr.contains("1 document that you have not trusted"), "{run}");
    assert_eq!(run.terminal, "Brief sessions from 1 document? [y/N] ");
    is_withheld();
    sandbox.as_user().types("y\n").run(["init"]).exits(0);
    sandbox.run(["brief"]).exits(0);
}

fn commit_as(sandbox: &Sandbox, author: &str) {
    sandbox.git(&["add", "--all"]);
    let mut git = sandbox.command("git");
    git.env("GIT_AUTHOR_NAME", author).env("GIT_AUTHOR_EMAIL", format!("{author}@example.org"));
    sandbox.finish(git.args(["commit", "--quiet", "--message", "x"])).exits(0);
}

/// A project with a private handoff, a task and a captured session, whose record is lost: as if the store
/// had come with an archive, or an earlier version had created it.
fn with_lost_record(sandbox: &Sandbox) {
    sandbox.run(["new", "Own plan", "--kind", "session"]).exits(0);
    sandbox.run(["task", "add", "Descale the kettle"]).exits(0);
    std::fs::remove_dir_all(sandbox.home().join(".local")).unwrap();
}

#[test]
fn trust_lists_everything_that_would_be_read_and_run() {
    let sandbox = sandbox().repository();
    sandbox.write(
        ".midstride/config.toml",
        "folders = [\"docs/handoffs\", \"~/notes\"]\n\n[[redact]]\nkind = \"ticket\"\nbegins = \"TICKET-\"\n\
         then = \"[0-9]+\"\n",
    );
    with_lost_record(&sandbox);
    for number in 1..=22 {
        let text = format!("---\nhandoff:\n  id: h{number:02}\n  status: planned\n---\n");
        sandbox.write(&format!(".midstride/handoffs/h{number:02}.md"), text);
    }
    commit_as(&sandbox, "ada");
    let proof = "---\nhandoff:\n  id: p\n  status: planned\n  proofs:\n    - claim: It builds\n      run: make \
                 all\n---\n";
    sandbox.write("docs/handoffs/p.md", proof);
    commit_as(&sandbox, "mallory");
    sandbox.write("HANDOFF.md", "# Not committed\n");
    sandbox.write(".midstride/handoffs/h01.md", "# Edited\n");
    let config = sandbox.home().join("gitconfig");
    std::fs::write(&config, "[user]\n\temail = ada@example.org\n").unwrap();
    // The repository's own configuration does not say who the user is.
    sandbox.git(&["config", "user.email", "mallory@example.org"]);
    let trust = |more: &[&str]| {
        let user = sandbox.as_user().env("GIT_CONFIG_GLOBAL", &config);
        user.run([&["trust"], more].concat())
    };
    insta::assert_snapshot!(trust(&[]).exits(1).stderr);
    let refused = trust(&["--author", "ada@example.org"]).exits(2);
    insta::assert_snapshot!(refused, @"
    exit 2
    ----- stderr -----
    This project is not trusted yet, so sessions are not briefed from its handoffs.
    error: some documents here were not written by ada@example.org alone
    hint: 1 document by mallory <mallory@example.org>
    hint: 2 documents not committed, or changed since the commit
    hint: run `midstride trust` without `--author` to review all of them
    ");
    let all = trust(&["--yes", "--json"]).exits(0);
    let all: serde_json::Value = serde_json::from_str(&all.stdout).unwrap();
    assert_eq!(all["documents"].as_array().unwrap().len(), 24);
    assert_eq!(all["documents"][0]["path"], ".midstride/handoffs/h01.md");
    assert_eq!(all["proofs"][0]["command"], "make all");
    // The permission for the command is still missing.
    let run = sandbox.run(["verify", "p"]);
    assert!(
        run.stdout.contains("midstride trust p 1") || run.stderr.contains("midstride trust p 1"),
        "{run}"
    );
}

#[test]
fn a_store_of_an_earlier_version_is_named_and_taken_back_once() {
    let sandbox = sandbox().repository();
    sandbox.run(["init", "--private"]).exits(0);
    with_lost_record(&sandbox);
    assert!(!sandbox.run(["list"]).stdout.contains("own-plan"));
    let doctor = sandbox.run(["doctor", "--no-simulation"]);
    assert!(
        doctor.stdout.contains("the private store `[ROOT]/.git/midstride` came from"),
        "{doctor}"
    );
    assert!(doctor.stdout.contains("accept it with `midstride trust`"), "{doctor}");
    let status = sandbox.run(["status"]);
    assert!(status.stderr.contains("accept it with `midstride trust`"), "{status}");
    let call = serde_json::json!({
        "session_id": "0195b9d2-4c00-7000-8000-00000000aaaa", "cwd": sandbox.root(),
        "hook_event_name": "SessionStart", "source": "startup",
    });
    let hook = sandbox.run_with_input(&["hook", "claude-code"], &call.to_string()).exits(0);
    assert!(hook.stdout.contains("run `midstride trust` once in a terminal"), "{hook}");
    sandbox.as_user().run(["trust", "--yes"]).exits(0);
    assert!(sandbox.run(["list"]).stdout.contains("own-plan"));
    assert!(sandbox.run(["task", "list"]).stdout.contains("Descale the kettle"));
    let doctor = sandbox.run(["doctor", "--no-simulation"]);
    assert!(!doctor.stdout.contains("private store"), "{doctor}");
    // A store that was set aside meanwhile is merged.
    std::fs::remove_dir_all(sandbox.home().join(".local")).unwrap();
    sandbox.run(["init", "--private"]).exits(0);
    sandbox.run(["task", "add", "Buy vinegar"]).exits(0);
    assert!(!sandbox.run(["task", "list"]).stdout.contains("Descale the kettle"));
    let doctor = sandbox.run(["doctor", "--no-simulation"]);
    assert!(doctor.stdout.contains("midstride.untrusted-"), "{doctor}");
    sandbox.as_user().run(["trust", "--yes"]).exits(0);
    let tasks = sandbox.run(["task", "list"]).stdout;
    assert!(tasks.contains("Descale the kettle") && tasks.contains("Buy vinegar"), "{tasks}");
    assert!(sandbox.run(["list"]).stdout.contains("own-plan"));
}
