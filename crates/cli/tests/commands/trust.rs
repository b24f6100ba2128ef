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
    warning: shelf `~/notes` lies outside the project; it is not read before `midstride trust`
    warning: shelf `../gone` lies outside the project; it is not read before `midstride trust`
    "#);
    insta::assert_snapshot!(sandbox.as_user().run(["trust"]), @"
    exit 1
    ----- stderr -----
    This project is not trusted yet: sessions are not briefed from its handoffs.
    .midstride/config.toml names folders outside the project:
      ~/notes  reads *.md below [HOME]/notes
      ../gone  reads *.md below [ROOT]/../gone
    ----- terminal -----
    Trust this project? [y/N]
    ");
    insta::assert_snapshot!(sandbox.as_user().run(["trust", "--yes", "--json"]), @r#"
    exit 0
    ----- stdout -----
    {
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
      "trusted": true
    }
    ----- stderr -----
    This project is not trusted yet: sessions are not briefed from its handoffs.
    .midstride/config.toml names folders outside the project:
      ~/notes  reads *.md below [HOME]/notes
      ../gone  reads *.md below [ROOT]/../gone
    Trusted, until the configuration changes.
    ----- terminal -----
    Trust this project? [y/N] y (--yes)
    "#);
    insta::assert_snapshot!(sandbox.run(["list"]), @"
    exit 2
    ----- stdout -----
    ID     STATUS  CHANGED  AGE  REVISED  REVIEWED  OPEN  TITLE
    found  note                                           Found outside
    ----- stderr -----
    warning: shelf `../gone` is not read: `[ROOT]/../gone` does not exist
    warning: `[HOME]/notes/out.md` leads out of the project
    hint: midstride stays inside the project: move the file in, or name it from there
    ");
    assert!(sandbox.run(["show", "found"]).exits(0).stdout.contains("marker-outside"));
    insta::assert_snapshot!(sandbox.run(["trust", "--list"]), @"
    exit 0
    ----- stdout -----
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
    assert!(run.stderr.contains("it runs inside Claude Code"), "{run}");
    assert!(sandbox.run(["list"]).stderr.contains("not read before"), "{run}");
}

#[test]
fn a_project_without_outside_folders_needs_no_trust() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    insta::assert_snapshot!(sandbox.as_user().run(["trust"]), @"
    exit 0
    ----- stderr -----
    The configuration needs no trust: it names no folder outside the project and no redaction rule.
    ");
}

#[test]
fn only_the_user_sets_up_and_trusts_a_clone_with_documents() {
    let sandbox = sandbox().repository();
    sandbox.write("HANDOFF.md", "# Where we are\n\nThe build is green.\n");
    let mut agent = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    let run = sandbox.finish(agent.arg("init").env("CLAUDECODE", "1")).exits(2);
    assert!(run.stderr.contains("it runs inside Claude Code"), "{run}");
    assert!(!sandbox.root().join(".midstride").exists());
    sandbox.run(["brief"]).exits(2);
    // Without a terminal the project is set up and not trusted.
    let run = sandbox.run(["init", "--yes"]).exits(0);
    assert!(run.stderr.contains("Not trusted yet"), "{run}");
    sandbox.run(["brief"]).exits(2);
    // The user is asked.
    let run = sandbox.as_user().types("n\n").run(["init"]).exits(0);
    assert!(run.stderr.contains("1 document that you have not trusted"), "{run}");
    assert_eq!(run.terminal, "Brief sessions from them? [y/N] ");
    sandbox.run(["brief"]).exits(2);
    sandbox.as_user().types("y\n").run(["init"]).exits(0);
    sandbox.run(["brief"]).exits(0);
}
