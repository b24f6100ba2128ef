//! Tests of the permissions that a user grants.

use super::verify::{document, proofs};
use midstride_testkit::{Run, Sandbox, json_items};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

const FILE: &str = ".midstride/handoffs/pages.md";
const ONE: &str = "    - claim: It is green
      run: touch ran
";

/// Whether the only proof runs.
fn runs(sandbox: &Sandbox) -> bool {
    let _ = std::fs::remove_file(sandbox.root().join("ran"));
    sandbox.run(["verify", "pages"]);
    sandbox.root().join("ran").exists()
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is one listing")]
fn each_command_is_shown_exactly() {
    let sandbox = proofs(
        "    - claim: It is fast
      run: \"make bench\\e[2K\\r\\u202e\\n  && rm -rf build\"
      directory: tools
      timeout: 30
      expect: {exit: any, contains: [ok], matches: 'p50=(\\d+)', min: 1, max: 9}
      measures: Austin
    - claim: No one knows
      expect: 7
    - claim: It is green
      run: make test
",
    );
    insta::assert_snapshot!(sandbox.as_user().run(["trust", "pages", "--all", "--yes"]), @r"
    exit 1
    ----- stderr -----
    A permission does not cover scripts that a command calls. Read them too.
    Proof 1: It is fast
      runs      make bench\u{1b}[2K\r\u{202e}
                  && rm -rf build
      in        tools
      at most   30 s
      expects   any exit code
      expects   output that contains `ok`
      expects   output that matches `p50=(\d+)`
      expects   a number of at least 1
      expects   a number of at most 9
      measures  Austin
    Proof 1 is allowed.
    Proof 2: No one knows
      not understood: it has no command
    Proof 3: It is green
      runs      make test
      in        the project root
      at most   120 s
      expects   exit code 0
    Proof 3 is allowed.
    Next: midstride verify pages
    ----- terminal -----
    Allow proof 1 exactly as shown? [y/N] y (--yes)
    Allow proof 3 exactly as shown? [y/N] y (--yes)
    ");
    insta::assert_snapshot!(sandbox.run(["trust", "--list"]), @r"
    exit 0
    ----- stdout -----
    2026-03-21  [ROOT]
      1 document that sessions would be briefed from: 1 not committed
      .midstride/handoffs: 1 document
        pages.md  not committed
    2026-03-21  pages
      make bench\u{1b}[2K\r\u{202e}
        && rm -rf build
    2026-03-21  pages
      make test
    ");
    insta::assert_snapshot!(sandbox.as_user().run(["trust", "pages", "3"]), @"
    exit 0
    ----- stderr -----
    Already allowed.
    Next: midstride verify pages
    ");
    insta::assert_snapshot!(sandbox.run(["trust", "pages", "3", "--revoke", "--json"]), @r#"
    exit 0
    ----- stdout -----
    {
      "schema": "proofs/1",
      "key": "pages",
      "proofs": [
        {
          "number": 3,
          "claim": "It is green",
          "test": {
            "command": "make test",
            "directory": "",
            "timeout": null,
            "expect": {
              "exit": 0,
              "contains": [],
              "matches": null,
              "min": null,
              "max": null
            },
            "measures": null
          },
          "not_understood": null,
          "allowed": false
        }
      ]
    }
    ----- stderr -----
    Proof 3 is no longer allowed.
    "#);
    let listed = sandbox.run(["trust", "--list", "--json"]).exits(0).stdout;
    let listed: serde_json::Value = json_items(&listed);
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    assert_eq!(listed[0]["kind"], "documents");
    assert_eq!(listed[1]["shown"], "make bench\u{1b}[2K\r\u{202e}\n  && rm -rf build");
    insta::assert_snapshot!(sandbox.as_user().run(["trust", "pages", "9", "--yes"]), @"
    exit 2
    ----- stderr -----
    error: `pages` has no proof 9
    hint: it has 1, 2, 3
    ");
}

#[test]
fn nothing_is_allowed_without_a_terminal() {
    let sandbox = proofs(ONE);
    for arguments in [
        &["trust", "pages"][..],
        &["trust", "pages", "--all"],
        &["trust", "pages", "--all", "--yes"],
    ] {
        let run = sandbox.run_with_input(arguments, "y\n").exits(2);
        assert!(run.stderr.starts_with("error: cannot prompt: no terminal"), "{run}");
    }
    assert!(!runs(&sandbox));
}

#[test]
fn agents_and_proofs_cannot_allow_anything() {
    let sandbox = proofs(ONE);
    let inside = |variable: &str, arguments: &[&str]| {
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
        sandbox.finish(command.args(arguments).env(variable, "1"))
    };
    insta::assert_snapshot!(inside("CLAUDECODE", &["trust", "pages", "--all", "--yes"]), @"
    exit 2
    ----- stderr -----
    error: this command requires the user, but it is running inside Claude Code
    hint: ask the user to run this in a terminal: midstride -C [ROOT] trust pages --all
    ");
    assert!(!runs(&sandbox));
    sandbox.as_user().run(["trust", "pages", "--all", "--yes"]).exits(0);
    // Anyone may revoke, and run what is allowed.
    inside("CLAUDECODE", &["verify", "pages"]).exits(0);
    inside("CLAUDECODE", &["trust", "pages", "--revoke"]).exits(0);
    // An allowed proof cannot allow another one.
    let program = env!("CARGO_BIN_EXE_midstride");
    let sandbox = proofs(&format!(
        "    - claim: c\n      run: {program} trust pages 2 --yes\n    - claim: d\n      run: touch ran\n"
    ));
    sandbox.as_user().run(["trust", "pages", "1", "--yes"]).exits(0);
    let run = sandbox.run(["verify", "pages", "--only", "1"]).exits(1);
    assert!(run.stdout.contains("it is running inside a proof"), "{run}");
    assert!(!runs(&sandbox));
}

#[test]
fn whatever_changes_is_asked_again() {
    let sandbox = proofs(ONE);
    sandbox.as_user().run(["trust", "pages", "--all", "--yes"]).exits(0);
    assert!(runs(&sandbox));
    let changes = [
        ONE.replace("touch ran", "touch ran; touch more"),
        format!("{ONE}      directory: .midstride\n"),
        format!("{ONE}      timeout: 7\n"),
        format!("{ONE}      expect: 1\n"),
        format!("{ONE}      measures: files\n"),
    ];
    for change in changes {
        sandbox.write(FILE, document(&change));
        assert!(!runs(&sandbox) && !sandbox.root().join(".midstride/ran").exists(), "{change}");
    }
    sandbox.write(FILE, document(ONE).replace("uid: one", "uid: two"));
    assert!(!runs(&sandbox), "another handoff");
    // Neither a changed claim nor another worktree makes a difference.
    sandbox.write(FILE, document(&ONE.replace("It is green", "It is still green")));
    assert!(runs(&sandbox));
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "all"]);
    sandbox.git(&["worktree", "add", "--quiet", "../second"]);
    sandbox.run(["-C", "../second", "verify", "pages"]).exits(0);
    // Another clone is another project.
    sandbox.git(&["clone", "--quiet", ".", "../clone"]);
    let run = sandbox.run(["-C", "../clone", "verify", "pages"]).exits(1);
    assert!(run.stdout.contains("not allowed"), "{run}");
    sandbox.run(["trust", "pages", "--revoke"]).exits(0);
    assert!(!runs(&sandbox));
    // A permission for a changed command can be revoked as well.
    sandbox.as_user().run(["trust", "pages", "--all", "--yes"]).exits(0);
    sandbox.write(FILE, document(&ONE.replace("touch ran", "true")));
    let run = sandbox.run(["trust", "--revoke"]).exits(0);
    assert!(run.stderr.contains("Revoked 1 proof command.\n"), "{run}");
    sandbox.write(FILE, document(ONE));
    assert!(!runs(&sandbox));
}

fn permissions(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folder = sandbox.home().join(".local/state/midstride/permissions");
    let mode = std::fs::metadata(&folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn permissions_cannot_be_forged() {
    let sandbox = proofs(ONE);
    sandbox.as_user().run(["trust", "pages", "--all", "--yes"]).exits(0);
    let files = permissions(&sandbox);
    let [file] = files.as_slice() else { panic!("{files:?}") };
    let mode = |path: &PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(file), 0o600);
    // The mode that a checkout would give it.
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(!runs(&sandbox));
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(runs(&sandbox));
    // The file name alone is not a permission.
    std::fs::write(file, "{}").unwrap();
    assert!(!runs(&sandbox));
}

#[test]
fn a_secret_in_a_command_is_not_kept() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let sandbox = proofs(&ONE.replace("touch ran", &format!("touch ran && true {token}")));
    sandbox.as_user().run(["trust", "pages", "--all", "--yes"]).exits(0);
    let kept = std::fs::read_to_string(&permissions(&sandbox)[0]).unwrap();
    assert!(kept.contains("REDACTED-github-token") && !kept.contains(&token), "{kept}");
    assert!(runs(&sandbox));
}

/// Runs the program with a terminal and typed input.
pub(super) fn at_a_terminal(sandbox: &Sandbox, arguments: &[&str], typed: &str) -> Run {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    command.args(arguments);
    with_a_terminal(command, typed)
}

/// Runs a command with a terminal and typed input.
pub(super) fn with_a_terminal(mut command: Command, typed: &str) -> Run {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let name = PathBuf::from(name.to_str().unwrap());
    let terminal = || std::fs::OpenOptions::new().read(true).write(true).open(&name).unwrap();
    let (input, output) = (terminal(), terminal());
    let mut master = std::fs::File::from(master);
    master.write_all(typed.as_bytes()).unwrap();
    command.stdin(input).stdout(output).stderr(std::process::Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    Run { code: output.status.code(), stdout: String::new(), stderr, terminal: String::new() }
}

#[test]
fn the_user_is_prompted() {
    let sandbox = proofs(&format!("{ONE}    - claim: second\n      run: touch second\n"));
    insta::assert_snapshot!(sandbox.as_user().types("y\nn\n").run(["trust", "pages"]), @"
    exit 1
    ----- stderr -----
    A permission does not cover scripts that a command calls. Read them too.
    Proof 1: It is green
      runs      touch ran
      in        the project root
      at most   120 s
      expects   exit code 0
    Proof 1 is allowed.
    Proof 2: second
      runs      touch second
      in        the project root
      at most   120 s
      expects   exit code 0
    Next: midstride verify pages
    ----- terminal -----
    Allow proof 1 exactly as shown? [y/N] Allow proof 2 exactly as shown? [y/N]
    ");
    sandbox.run(["verify", "pages"]).exits(1);
    assert!(sandbox.root().join("ran").exists());
    assert!(!sandbox.root().join("second").exists());
}
