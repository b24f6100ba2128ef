//! Tests of many concurrent processes: nothing is lost, and no lock errors are reported.

use crate::sandbox;
use midstride_testkit::{Sandbox, json_items};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const PROCESSES: usize = 32;
const TASKS_EACH: usize = 50;
/// How many notes and changes each process makes to one task.
const NOTES_EACH: usize = 2;
const REVISIONS_EACH: usize = 10;

/// The commands of one writer as a shell script; each has to succeed.
fn script(writer: usize, shared: &str) -> String {
    let program = env!("CARGO_BIN_EXE_midstride");
    let mut script = String::from("set -e\n");
    let quietly = |script: &mut String, arguments: &str| {
        let file = format!("said-{writer}");
        writeln!(script, "'{program}' {arguments} 2>{file} || {{ cat {file} >&2; exit 1; }}")
            .unwrap();
    };
    for number in 0..NOTES_EACH {
        quietly(&mut script, &format!("task note {shared} 'note {number} of {writer}'"));
        quietly(&mut script, &format!("task update {shared} --meta w{writer}={number}"));
    }
    for number in 0..TASKS_EACH.max(REVISIONS_EACH) {
        if number < TASKS_EACH {
            writeln!(script, "'{program}' task add 'task {number} of {writer}'").unwrap();
        }
        if number < REVISIONS_EACH {
            let file = format!("said-{writer}");
            let revise = format!("edit case-{writer} --reason r{number} --body -");
            let said = format!("case-{writer}@{}: r{number}", number + 2);
            writeln!(script, "echo 'text {number} of writer {writer}' |").unwrap();
            writeln!(script, "'{program}' {revise} 2>{file} || {{ cat {file} >&2; exit 1; }}")
                .unwrap();
            writeln!(
                script,
                "[ \"$(grep -v '^Next: ' {file})\" = '{said}' ] || {{ cat {file} >&2; exit 1; }}"
            )
            .unwrap();
        }
    }
    script
}

fn project() -> Sandbox {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    for writer in 0..PROCESSES {
        let text = format!("---\nhandoff:\n  id: case-{writer}\n---\n\nbegun\n");
        sandbox.write(&format!(".midstride/handoffs/case-{writer}.md"), text);
    }
    sandbox
}

#[test]
fn thirty_two_processes_lose_nothing_and_wait_for_each_other() {
    let sandbox = project();
    let shared = sandbox.run(["task", "add", "everybody's"]).exits(0).stdout.trim().to_owned();
    let start = |writer| {
        let mut command = sandbox.command("sh");
        command.args(["-c", &script(writer, &shared)]);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        command.spawn().unwrap()
    };
    let writers: Vec<_> = (0..PROCESSES).map(start).collect();
    let mut acknowledged = BTreeSet::new();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "{said}");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        acknowledged.extend(printed.lines().map(str::to_owned));
    }
    assert_eq!(acknowledged.len(), PROCESSES * TASKS_EACH);
    let show = sandbox.run(["task", "show", &shared, "--json"]).exits(0);
    let task: serde_json::Value = serde_json::from_str(&show.stdout).unwrap();
    assert_eq!(task["notes"].as_array().unwrap().len(), PROCESSES * NOTES_EACH);
    let last = (NOTES_EACH - 1).to_string();
    for writer in 0..PROCESSES {
        assert_eq!(task["metadata"][format!("w{writer}")], last.as_str());
    }
    acknowledged.insert(shared);
    let list = sandbox.run(["task", "list", "--json"]).exits(0);
    let list: serde_json::Value = json_items(&list.stdout);
    let listed = list.as_array().unwrap().iter().map(|t| t["id"].as_str().unwrap().to_owned());
    assert_eq!(listed.collect::<BTreeSet<_>>(), acknowledged);
    for writer in 0..PROCESSES {
        for text in 2..=REVISIONS_EACH + 1 {
            let show = sandbox.run(["show", &format!("case-{writer}@{text}")]).exits(0);
            let expected = format!("text {} of writer {writer}", text - 2);
            assert!(show.stdout.contains(&expected), "{show}");
        }
    }
    let told = sandbox.run(["events", "--json"]).exits(0);
    let revised = told.stdout.matches("midstride.handoff.revised.v1").count();
    assert_eq!(revised, PROCESSES * REVISIONS_EACH);
}
