//! Tests of file system problems: a clear error that names the path and what to do, and nothing
//! lost.

use crate::sandbox;
use midstride_testkit::{Sandbox, json_items};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::fs::symlink;
use std::process::Stdio;

const LOOSE: &str = "---\nhandoff:\n  id: a\n  status: PLANNED\n---\n";
const FILE: &str = ".midstride/handoffs/a.md";

fn project() -> Sandbox {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    sandbox
}

#[test]
fn a_read_only_file_stays_unchanged() {
    let sandbox = project();
    sandbox.write(FILE, LOOSE);
    let path = sandbox.root().join(FILE);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    insta::assert_snapshot!(sandbox.run(["fmt"]), @"
    exit 2
    ----- stderr -----
    warning: `[ROOT]/.midstride/handoffs/a.md` is read-only
    hint: make it writable with `chmod u+w`, then try again
    0 of 1 document changed
    ");
    assert_eq!(sandbox.read(FILE), LOOSE);
}

#[test]
fn permissions_survive_a_rewrite() {
    let sandbox = project();
    sandbox.write(FILE, LOOSE);
    let path = sandbox.root().join(FILE);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    sandbox.run(["fmt"]).exits(0);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(sandbox.read(FILE).contains("status: planned"));
}

#[test]
fn a_full_disk_loses_nothing_and_leaves_no_draft() {
    let sandbox = project();
    sandbox.write(FILE, LOOSE);
    // A file size limit simulates a full disk.
    let script = format!("trap '' XFSZ; ulimit -f 0; exec {} fmt", env!("CARGO_BIN_EXE_midstride"));
    let run = sandbox.finish(sandbox.command("sh").args(["-c", &script]));
    insta::assert_snapshot!(run, @"
    exit 2
    ----- stderr -----
    warning: no space left to write `[ROOT]/.git/midstride/texts.git/config`
    hint: free some disk space and try again; nothing was changed
    0 of 1 document changed
    ");
    assert_eq!(sandbox.read(FILE), LOOSE);
    // The texts of a committed handoff are written to the project's repository.
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "--message", "all"]);
    let run = sandbox.finish(sandbox.command("sh").args(["-c", &script]));
    let said = "no space left to write `[ROOT]/.git/objects/";
    assert!(run.stderr.contains(said) && run.code == Some(2), "{run}");
    assert_eq!(sandbox.read(FILE), LOOSE);
    for folder in [".midstride/handoffs", ".git/objects", ".git/midstride/texts.git"] {
        let entries = std::fs::read_dir(sandbox.root().join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let drafts = names.filter(|name| name.starts_with("tmp_") || name.starts_with('.'));
        assert_eq!(drafts.count(), 0, "{folder}");
    }
}

#[test]
fn a_folder_in_place_of_a_file_is_reported() {
    let sandbox = project();
    std::fs::create_dir_all(sandbox.root().join(".midstride/handoffs/a.md")).unwrap();
    std::fs::create_dir_all(sandbox.root().join("HANDOFF.md")).unwrap();
    insta::assert_snapshot!(sandbox.run(["check", "HANDOFF.md"]), @"
    exit 2
    ----- stderr -----
    error: `[ROOT]/HANDOFF.md` is a folder, not a file
    hint: move it out of the way, then try again
    ");
    insta::assert_snapshot!(sandbox.run(["show", "a"]), @r"
    exit 2
    ----- stderr -----
    error: `[ROOT]/.midstride/handoffs/a.md` is a folder, not a file
    hint: move it out of the way, then try again
    ");
    insta::assert_snapshot!(sandbox.run(["new", "A", "--id", "a"]), @"
    exit 2
    ----- stderr -----
    error: `[ROOT]/.midstride/handoffs/a.md` is a folder, not a file
    hint: move it out of the way, then try again
    ");
}

#[test]
fn symlinks_out_of_the_project_are_not_followed() {
    let sandbox = project();
    let secret = sandbox.home().join("secret.md");
    std::fs::write(&secret, "# Secret\n").unwrap();
    symlink(&secret, sandbox.root().join(".midstride/handoffs/leak.md")).unwrap();
    let run = sandbox.run(["list"]);
    assert!(!run.to_string().contains("Secret"), "{run}");
    insta::assert_snapshot!(run, @r#"
    exit 2
    ----- stderr -----
    warning: `[ROOT]/.midstride/handoffs/leak.md` points outside the project
    hint: midstride stays inside the project; move the file into the project
    "#);
    let run = sandbox.run(["show", "leak"]).exits(2);
    assert!(!run.to_string().contains("Secret"), "{run}");
}

#[test]
fn symlinks_inside_the_project_are_followed_and_stay_symlinks() {
    let sandbox = project();
    sandbox.write("docs/handoffs/real.md", LOOSE);
    let link = sandbox.root().join(FILE);
    symlink("../../docs/handoffs/real.md", &link).unwrap();
    sandbox.run(["fmt", "a"]).exits(0);
    assert!(link.is_symlink());
    assert!(sandbox.read("docs/handoffs/real.md").contains("status: planned"));
}

#[test]
fn circular_symlinks_are_reported() {
    let sandbox = project();
    let folder = sandbox.root().join(".midstride/handoffs");
    symlink("b.md", folder.join("a.md")).unwrap();
    symlink("a.md", folder.join("b.md")).unwrap();
    symlink(&folder, folder.join("again")).unwrap();
    insta::assert_snapshot!(sandbox.run(["check"]), @"
    exit 2
    ----- stderr -----
    0 documents checked: no problems
    warning: `[ROOT]/.midstride/handoffs/a.md` contains a symlink loop
    hint: remove the link
    warning: `[ROOT]/.midstride/handoffs/b.md` contains a symlink loop
    hint: remove the link
    ");
}

#[test]
fn a_header_of_ten_megabytes_is_a_finding() {
    let sandbox = project();
    let header = "  note: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n".repeat(190_000);
    sandbox.write(FILE, format!("---\nhandoff:\n{header}---\n"));
    let run = sandbox.run(["check"]).exits(1);
    assert!(run.stdout.contains("error[H013]"), "{run}");
    sandbox.write(FILE, vec![b'x'; 17 << 20]);
    insta::assert_snapshot!(sandbox.run(["check"]), @"
    exit 2
    ----- stderr -----
    0 documents checked: no problems
    warning: `[ROOT]/.midstride/handoffs/a.md` is 17825792 bytes; the maximum is 16777216
    hint: move some of the content into separate files and link to them
    ");
}

#[test]
fn invalid_ids_are_refused() {
    let sandbox = project();
    for (id, says) in [
        ("../../x", "`/` is not allowed"),
        ("CON", "`C` is not allowed"),
        ("con", "device"),
        ("..", "must start with"),
    ] {
        let run = sandbox.run(["new", "X", "--id", id]).exits(2);
        assert!(run.stderr.contains(says), "{id}: {run}");
        sandbox.run(["show", id]).exits(2);
    }
    let before: Vec<_> = std::fs::read_dir(sandbox.root().parent().unwrap()).unwrap().collect();
    assert_eq!(before.len(), 2, "nothing was written beside the project");
}

#[test]
fn thirty_two_processes_get_thirty_two_documents() {
    let sandbox = project();
    let program = env!("CARGO_BIN_EXE_midstride");
    let children: Vec<_> = (0..32)
        .map(|number| {
            let mut command = sandbox.command(program);
            match number % 2 {
                0 => command.args(["new", "--stage", "request"]),
                _ => command.args(["new", "The same title", "--no-edit"]),
            };
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let list: serde_json::Value = json_items(&sandbox.run(["list", "--json"]).exits(0).stdout);
    let mut keys: Vec<&str> =
        list.as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap()).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 32, "{keys:?}");
    assert!(keys.contains(&"feat-016/request"));
    assert!(keys.contains(&"same-title-16"));
}

#[test]
fn thirty_two_processes_rewrite_their_own_documents() {
    let sandbox = project();
    for number in 0..32 {
        let text = LOOSE.replace("id: a", &format!("id: d{number}"));
        sandbox.write(&format!(".midstride/handoffs/d{number}.md"), text);
    }
    let program = env!("CARGO_BIN_EXE_midstride");
    let children: Vec<_> = (0..32)
        .map(|number| {
            let mut command = sandbox.command(program);
            command
                .args(["fmt", &format!("d{number}")])
                .stdout(Stdio::null())
                .stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    sandbox.run(["fmt", "--check"]).exits(0);
}

#[test]
fn twelve_processes_change_one_document() {
    let sandbox = project();
    let writers = 0..4;
    let questions: String = writers.clone().map(|w| format!("    - question: q{w}\n")).collect();
    let parts: String = writers.clone().map(|w| format!("Part {w}.\n\n")).collect();
    let header = format!("---\nhandoff:\n  id: a\n  open_questions:\n{questions}---\n\n");
    sandbox.write(FILE, format!("{header}{parts}"));
    let start = |arguments: &[String]| {
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
        // Each writer's editor changes its own part.
        let editor = format!("sed -i 's/^Part {0}.$/Done {0}./'", arguments[arguments.len() - 1]);
        command.args(&arguments[..arguments.len() - 1]).env("EDITOR", editor);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let words = |text: String| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let children: Vec<_> = writers
        .clone()
        .flat_map(|w| {
            let question = w + 1;
            [
                words(format!("answer a q{question} yes{w} {w}")),
                words(format!("review a --by eve --challenged c{w} --verdict held {w}")),
                words(format!("edit a --reason r{w} {w}")),
            ]
        })
        .map(|arguments| start(&arguments))
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let text = sandbox.read(FILE);
    for w in writers {
        let said = [
            format!("answer: yes{w}\n"),
            format!(" reason: answered q{}, ", w + 1),
            format!("challenged: c{w}\n"),
            format!(" reason: r{w}, "),
            format!("\nDone {w}.\n"),
        ];
        for said in said {
            assert_eq!(text.matches(&said).count(), 1, "{said}: {text}");
        }
    }
    assert_eq!(text.matches(" was: ").count(), 12, "{text}");
    for number in 1..=13 {
        sandbox.run(["show", &format!("a@{number}")]).exits(0);
    }
}

#[test]
fn ten_thousand_documents_are_handled() {
    let sandbox = project();
    for number in 0..10_000 {
        let text = format!("---\nhandoff:\n  id: d{number}\n  title: Number {number}\n---\n");
        sandbox.write(&format!(".midstride/handoffs/d{number}.md"), text);
    }
    let run = sandbox.run(["list", "--json"]).exits(0);
    let list: serde_json::Value = json_items(&run.stdout);
    assert_eq!(list.as_array().unwrap().len(), 10_000);
    assert!(sandbox.run(["show", "d7777"]).exits(0).stdout.starts_with("Number 7777\n"));
    assert!(sandbox.run(["show", "d77777"]).exits(2).stderr.contains("did you mean"));
}

#[test]
fn one_bad_file_does_not_stop_the_others() {
    let sandbox = project();
    sandbox.write(FILE, LOOSE);
    sandbox.write(".midstride/handoffs/b.md", LOOSE.replace("id: a", "id: b"));
    symlink("nowhere.md", sandbox.root().join(".midstride/handoffs/c.md")).unwrap();
    let path = sandbox.root().join(FILE);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    for arguments in [&["fmt"][..], &["check", "--fix", "--quiet"]] {
        let run = sandbox.run(arguments).exits(2);
        assert!(run.stderr.contains("a.md` is read-only"), "{run}");
        assert!(run.stderr.contains("c.md` does not exist"), "{run}");
    }
    assert!(sandbox.read(".midstride/handoffs/b.md").contains("status: planned"));
}

#[test]
fn a_private_folder_that_leads_out_is_not_used() {
    let sandbox = sandbox();
    sandbox.write(".midstride/config.toml", "");
    let outside = sandbox.home().join("outside");
    std::fs::create_dir_all(outside.join("handoffs")).unwrap();
    std::fs::write(outside.join("handoffs/secret.md"), "# Secret\n").unwrap();
    symlink(&outside, sandbox.root().join(".midstride/private")).unwrap();
    for arguments in [&["list"][..], &["show", "secret"], &["new", "S", "--kind", "session"]] {
        let run = sandbox.run(arguments).exits(2);
        assert!(run.stderr.contains("points outside the project"), "{run}");
        assert!(!run.stdout.contains("Secret"), "{run}");
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn private_data_stays_private_when_git_is_added_later() {
    let sandbox = sandbox();
    sandbox.as_user().run(["init"]).exits(0);
    sandbox.run(["new", "Session", "--kind", "session"]).exits(0);
    let sandbox = sandbox.repository();
    assert!(!sandbox.git(&["ls-files"]).contains("private"));
}

#[test]
fn a_document_cannot_control_the_terminal() {
    let sandbox = project();
    sandbox.write(
        FILE,
        "---\nhandoff:\n  id: a\n  title: \"x \\e]0;pwn\\a\"\n---\n\nbody \u{1b}[2J\n",
    );
    for arguments in [&["show", "a"][..], &["list"], &["check"], &[]] {
        let run = sandbox.run(arguments);
        assert!(!run.stdout.contains(['\u{1b}', '\u{7}']), "{run}");
    }
    assert!(sandbox.run(["show", "a", "--as", "raw"]).stdout.contains('\u{1b}'));
}

#[test]
fn commands_do_not_block_on_a_pipe() {
    let sandbox = project();
    sandbox.finish(sandbox.command("mkfifo").arg("HANDOFF.md")).exits(0);
    let run = sandbox.run(["list"]).exits(2);
    assert!(run.stderr.contains("HANDOFF.md` is not a regular file"), "{run}");
}

#[test]
fn two_worktrees_do_not_get_the_same_number() {
    let sandbox = project();
    sandbox.git(&["add", "--all"]);
    sandbox.git(&["commit", "--quiet", "-m", "set up"]);
    sandbox.git(&["worktree", "add", "--quiet", "../second"]);
    let one = sandbox.run(["new", "--stage", "request"]).exits(0);
    assert!(one.stderr.contains("feat-001/request"), "{one}");
    let two = sandbox.run(["-C", "../second", "new", "--stage", "request"]).exits(0);
    assert!(two.stderr.contains("feat-002/request"), "{two}");
}
