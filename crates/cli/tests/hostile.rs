//! A clone of somebody else's repository does nothing but say so.

use crate::sandbox;
use midstride_testkit::Sandbox;

const MARKER: &str = "marker-of-a-secret";

/// A clone with everything in it that could act.
fn hostile() -> Sandbox {
    let sandbox = sandbox().repository();
    let home = sandbox.home().to_owned();
    std::fs::create_dir_all(home.join(".ssh")).unwrap();
    std::fs::create_dir_all(home.join("canary")).unwrap();
    std::fs::write(home.join(".ssh/id_rsa"), MARKER).unwrap();
    std::fs::write(home.join(".ssh/notes.md"), format!("# {MARKER}\n")).unwrap();
    std::fs::write(home.join("canary/alive"), "").unwrap();
    sandbox.write(
        ".midstride/config.toml",
        format!("shelves = [\"~/.ssh\", \"../home/.ssh\", \"{}\", \"linked\"]\nnotify = \"touch {}\"\n[hooks]\nstart = \"touch x\"\n", home.join(".ssh").display(), home.join("notified").display()),
    );
    let link = |to: &str, from: &str| {
        std::os::unix::fs::symlink(home.join(to), sandbox.root().join(from)).unwrap();
    };
    std::fs::create_dir_all(sandbox.root().join(".midstride/handoffs")).unwrap();
    link(".ssh/notes.md", ".midstride/handoffs/linked.md");
    link(".ssh", "linked");
    link("canary", "tools");
    let canary = home.join("canary");
    sandbox.write(
        ".midstride/handoffs/trap.md",
        format!(
            "---\nhandoff:\n  id: trap\n  uid: one\n  title: A trap\n  created: 2026-03-21T17:24:00Z\n  context_summary: Run me.\n  proofs:\n    - claim: Harmless\n      run: rm -rf {0}\n    - claim: In a folder elsewhere\n      run: rm -rf *\n      directory: tools\n    - claim: Up\n      run: rm -rf canary\n      directory: ../home\n    - claim: Already verified\n      run: touch {0}/ran\n      last: {{outcome: holds}}\n      allowed: true\n---\n",
            canary.display()
        ),
    );
    sandbox
}

/// Every command that somebody might try first.
const COMMANDS: [&[&str]; 27] = [
    &[],
    &["--json"],
    &["list", "--all"],
    &["list", "--json"],
    &["show", "trap"],
    &["show", "trap", "--json"],
    &["show", "trap", "--history"],
    &["show", "trap", "--as", "pr"],
    &["show", "linked"],
    &["show", "notes"],
    &["show", "linked/notes.md"],
    &["show", ".midstride/handoffs/linked.md"],
    &["check"],
    &["check", "--json"],
    &["check", "--fix"],
    &["fmt"],
    &["verify"],
    &["verify", "trap"],
    &["verify", "trap", "--record"],
    &["verify", "trap", "--json"],
    &["allow", "trap"],
    &["allow", "--list"],
    &["trust"],
    &["start", "trap"],
    &["events"],
    &["diff", "trap"],
    &["init"],
];

#[test]
fn a_hostile_clone_does_nothing_but_say_so() {
    let sandbox = hostile();
    let secret = std::fs::metadata(sandbox.home().join(".ssh/notes.md")).unwrap();
    for arguments in COMMANDS {
        let run = sandbox.run(arguments);
        assert!(run.code.is_some(), "{arguments:?}: {run}");
        assert!(!run.to_string().contains(MARKER), "{arguments:?}: {run}");
        assert!(sandbox.home().join("canary/alive").exists(), "{arguments:?}");
        assert!(!sandbox.home().join("canary/ran").exists(), "{arguments:?}");
        assert!(!sandbox.home().join("notified").exists(), "{arguments:?}");
    }
    let after = std::fs::metadata(sandbox.home().join(".ssh/notes.md")).unwrap();
    assert_eq!(after.modified().unwrap(), secret.modified().unwrap());
    assert!(!sandbox.home().join(".local/state/midstride/permissions").exists());
}

#[test]
fn what_a_hostile_clone_wanted_is_said() {
    let sandbox = hostile();
    insta::assert_snapshot!(sandbox.run(["list"]), @"
    exit 2
    ----- stdout -----
    ID    STATUS   CHANGED     AGE  REVISED  REVIEWED  OPEN  TITLE
    trap  planned  2026-03-21  0 d                           A trap
    ----- stderr -----
    warning: shelf `~/.ssh` lies outside the project; it is not read before `midstride trust`
    warning: shelf `../home/.ssh` lies outside the project; it is not read before `midstride trust`
    warning: shelf `[HOME]/.ssh` lies outside the project; it is not read before `midstride trust`
    warning: `notify` in the configuration is not known to this midstride; nothing is done with it
    warning: `hooks` in the configuration is not known to this midstride; nothing is done with it
    warning: `[ROOT]/.midstride/handoffs/linked.md` leads out of the project
    hint: midstride stays inside the project: move the file in, or name it from there
    warning: `[ROOT]/linked` leads out of the project
    hint: midstride stays inside the project: move the file in, or name it from there
    ");
    insta::assert_snapshot!(sandbox.run(["verify", "trap"]), @"
    exit 1
    ----- stdout -----
    trap  .midstride/handoffs/trap.md
      1. not allowed     Harmless
                         midstride allow trap 1
      2. not allowed     In a folder elsewhere
                         midstride allow trap 2
      3. not understood  Up
                         `../home` leads out of the project
      4. not allowed     Already verified
                         midstride allow trap 4
    ----- stderr -----
    warning: shelf `~/.ssh` lies outside the project; it is not read before `midstride trust`
    warning: shelf `../home/.ssh` lies outside the project; it is not read before `midstride trust`
    warning: shelf `[HOME]/.ssh` lies outside the project; it is not read before `midstride trust`
    warning: `notify` in the configuration is not known to this midstride; nothing is done with it
    warning: `hooks` in the configuration is not known to this midstride; nothing is done with it
    ");
    // Even who says yes to everything is not led out of the project.
    sandbox.run(["allow", "trap", "2", "--yes"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["verify", "trap", "--only", "2"]), @"
    exit 2
    ----- stdout -----
    trap  .midstride/handoffs/trap.md
      2. not run         In a folder elsewhere
                         `[ROOT]/tools` leads out of the project
    ----- stderr -----
    warning: shelf `~/.ssh` lies outside the project; it is not read before `midstride trust`
    warning: shelf `../home/.ssh` lies outside the project; it is not read before `midstride trust`
    warning: shelf `[HOME]/.ssh` lies outside the project; it is not read before `midstride trust`
    warning: `notify` in the configuration is not known to this midstride; nothing is done with it
    warning: `hooks` in the configuration is not known to this midstride; nothing is done with it
    ");
    assert!(sandbox.home().join("canary/alive").exists());
}

#[test]
fn what_is_passed_over_is_said() {
    let sandbox = sandbox();
    let out = sandbox.home().join("out");
    std::fs::create_dir_all(sandbox.root().join(".midstride/handoffs")).unwrap();
    std::fs::write(&out, format!("# {MARKER}\n")).unwrap();
    for path in [".midstride/config.toml", "HANDOFF.md"] {
        std::os::unix::fs::symlink(&out, sandbox.root().join(path)).unwrap();
    }
    let pipe = sandbox.root().join(".midstride/handoffs/pipe.md");
    assert!(sandbox.command("mkfifo").arg(&pipe).status().unwrap().success());
    for arguments in [&["list"][..], &["search", "marker"], &["check"], &["doctor"]] {
        let run = sandbox.run(arguments);
        assert!(!run.to_string().contains(MARKER), "{arguments:?}: {run}");
    }
    insta::assert_snapshot!(sandbox.run(["list"]), @"
    exit 2
    ----- stderr -----
    warning: the configuration is not read: `[ROOT]/.midstride/config.toml` leads out of the project
    warning: `[ROOT]/.midstride/handoffs/pipe.md` is no ordinary file
    hint: move it away, then try again
    warning: `[ROOT]/HANDOFF.md` leads out of the project
    hint: midstride stays inside the project: move the file in, or name it from there
    ");
}
