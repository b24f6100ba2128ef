//! Tests of the work found in sessions: fixtures in detail, and the corpus against an independent
//! reader.
#![expect(clippy::disallowed_types, reason = "the other reader is started")]

use crate::coverage::checkpoint_of;
use crate::transcripts::{client_of, jsonl_below, read};
use midstride_core::session::checkpoint::{HighlightKind, Highlights, SessionEnding};
use midstride_core::session::shell::CheckResult;
use midstride_core::session::{
    AgentMessage, CommitState, FailureFollowUp, OpenFailure, OpenFailureKind, Session,
    effect_groups, existing_commits, last_checks, open_failures, unchecked_boxes,
};
use midstride_core::text::id::CommitId;
use midstride_testkit::{corpus, repository_root};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;

/// What Claude Code records when the user refuses a call and gives a reason.
const REFUSED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it \
    was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n";

/// A Claude Code session from a short notation: `$ command` passes, `! command` fails, `% command`
/// does not end, `- command` is refused with the words after it, `~ path` changes a file, `# text`
/// is said by the agent, `? text` by the user; what follows is the output.
pub(crate) fn session(steps: &[&str]) -> Session {
    let mut lines = String::new();
    let mut add = |mut record: Value, number: usize| {
        record["uuid"] = json!(format!("r{number:03}"));
        record["parentUuid"] = json!(format!("r{:03}", number - 1));
        record["sessionId"] = json!("5e55-0009");
        record["cwd"] = json!("/home/dev/shop");
        record["gitBranch"] = json!("fix-cache");
        record["timestamp"] =
            json!(format!("2026-03-20T09:{:02}:{:02}Z", number / 60, number % 60));
        lines.push_str(&format!("{record}\n"));
    };
    for (at, step) in steps.iter().enumerate() {
        let (mark, rest) = step.split_at(2);
        if mark == "? " {
            let message = json!({"role": "user", "content": rest});
            add(json!({"type": "user", "message": message}), 2 * at + 1);
            continue;
        }
        if mark == "# " {
            let message = json!({"id": format!("m{at}"), "role": "assistant", "content": [{"type": "text", "text": rest}]});
            add(json!({"type": "assistant", "message": message}), 2 * at + 1);
            continue;
        }
        let (what, output) = rest.split_once("\n> ").unwrap_or((rest, ""));
        let (name, input) = match mark {
            "~ " => (
                "Edit",
                json!({"file_path": what, "old_string": format!("{at}"), "new_string": "x"}),
            ),
            "& " => ("mcp__linear__create_issue", json!({"title": what})),
            _ => ("Bash", json!({"command": what})),
        };
        let id = format!("toolu_{at}");
        let call = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        let message = json!({"id": format!("m{at}"), "role": "assistant", "content": [call]});
        add(json!({"type": "assistant", "message": message}), 2 * at + 1);
        if mark == "% " {
            continue;
        }
        let failed = matches!(mark, "! " | "- ");
        let text = match mark {
            "! " => format!("Exit code 1\n{output}"),
            "- " => format!("{REFUSED}{output}"),
            _ => output.to_owned(),
        };
        let result =
            json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed});
        let message = json!({"role": "user", "content": [result]});
        add(json!({"type": "user", "message": message}), 2 * at + 2);
    }
    read("claude-code", lines.as_bytes())
}

#[test]
fn a_session_with_an_edit_a_commit_or_an_outside_effect_has_work() {
    let committed = "$ git commit -qm x && git log -1 --oneline\n> 1a2b3c4 x";
    let reported = "$ gh issue create --title x\n> https://github.com/a/b/issues/7";
    for (step, has_work) in [
        ("$ cat a.txt\n> one", false),
        ("! make lint\n> a.go:1:2: bad", false),
        ("~ a.go", true),
        ("$ echo draft > report.txt", true),
        (committed, true),
        (reported, true),
    ] {
        assert_eq!(session(&[step]).has_work(), has_work, "{step}");
    }
    // A call without a result, as in a session that was killed while it ran.
    let call =
        json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "cat a"}});
    let message = json!({"id": "m", "role": "assistant", "content": [call]});
    let record = json!({"type": "assistant", "uuid": "r", "sessionId": "5e55", "message": message});
    assert!(read("claude-code", format!("{record}\n").as_bytes()).has_work());
}

fn open(session: &Session) -> Vec<&str> {
    open_failures(session, &session.abandoned()).iter().map(|failure| failure.command).collect()
}

#[test]
fn a_failure_is_open_until_an_equal_or_wider_run_passes() {
    let table: [(&[&str], &[&str]); 33] = [
        (&["! make lint\n> a.go:1:2: bad"], &["make lint"]),
        (&["! make lint", "$ make fmt && make lint"], &[]),
        (&["! make lint", "$ make lint | tail -3\n> fine"], &["make lint"]),
        (&["! make lint", "$ make lint | tail -3\n> 0 issues."], &[]),
        (&["! make lint", "$ make lint || true"], &["make lint"]),
        (&["! mix credo", "$ mix credo | tail -2\n> 88 mods/funs, found no issues."], &[]),
        (&["! mix dialyzer", "$ mix dialyzer | tail -1\n> done (passed successfully)"], &[]),
        (&["! go test ./a -run X\n> --- FAIL: X", "$ go test ./..."], &[]),
        (&["! go test ./...\n> FAIL", "$ go test ./a"], &["go test ./..."]),
        (&["! go test ./a\n> FAIL", "$ go test ./b"], &["go test ./a"]),
        (&["! pytest a.py b.py\n> 2 failed", "$ pytest a.py", "$ pytest b.py"], &[]),
        (&["! go test ./a\n> FAIL", "$ make test"], &[]),
        (&["! npm test\n> FAIL", "! npm test\n> FAIL", "$ npm run lint"], &["npm test"]),
        (&["$ pytest | tail -2\n> 3 failed, 2 passed in 1s"], &["pytest"]),
        (&["! pytest\n> bash: pytest: command not found"], &[]),
        (&["! grep -r x src", "! ls nope", "! cat a", "! curl localhost", "! python -c 'x'"], &[]),
        (&["! git merge main\n> CONFLICT (content): Merge conflict in a"], &["git merge main"]),
        (
            &[
                "! git merge main\n> CONFLICT (content): x",
                "$ git commit --no-edit\n> [x 1a2b3c4] Merge",
            ],
            &[],
        ),
        (&["! git rebase main\n> CONFLICT (content): x", "$ git rebase --abort"], &[]),
        (&["! git push\n> fatal: no upstream", "$ git push --set-upstream origin fix-cache"], &[]),
        (&["! git push\n> error: failed to push some refs"], &["git push"]),
        (
            &[
                "! gh pr create --fill\n> pull request create failed",
                "$ gh pr create --fill\n> https://github.com/o/r/pull/3",
            ],
            &[],
        ),
        (&["~ /home/dev/shop/try.py", "! pytest try.py\n> 1 failed", "$ rm try.py"], &[]),
        (&["! cargo build\n> error[E0308]: no", "$ cargo test\n> test result: ok"], &[]),
        (&["! git stash && make test\n> FAIL"], &[]),
        (&["! git commit -m x\n> hook: lint failed"], &["git commit -m x"]),
        (
            &["! git add -A && git commit -m x\n> no", "! git commit -m x --no-verify\n> no"],
            &["git commit -m x --no-verify"],
        ),
        (&["! git commit -m x\n> hook: no", "$ git commit -m y\n> [main 1a2b3c4] y"], &[]),
        (&["! git commit -m x\n> nothing to commit, working tree clean"], &[]),
        (&["! git commit -qm x && cargo test\n> test result: FAILED"], &["cargo test"]),
        (&["! git commit -qm x && ls nope\n> ls: cannot access 'nope'"], &[]),
        (
            &[
                "! git merge main\n> CONFLICT (content): x",
                "! git commit -m x\n> error: Committing is not possible because you have unmerged files.",
            ],
            &["git merge main", "git commit -m x"],
        ),
        (&["! gh pr create --fill\n> a pull request for branch \"x\" already exists:"], &[]),
    ];
    for (steps, expected) in table {
        assert_eq!(open(&session(steps)), expected, "{steps:?}");
    }
}

#[test]
fn an_open_failure_says_why_and_what_passed_since() {
    let session = session(&[
        "! go test ./...\n> === RUN TestA\n    a_test.go:8: got 1\n--- FAIL: TestA (0.0s)\nFAIL\tx/a\nFAIL",
        "$ go test ./b\n> ok  \tx/b\t0.1s",
    ]);
    let failures = open_failures(&session, &session.abandoned());
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].why[..2], ["--- FAIL: TestA (0.0s)", "a_test.go:8: got 1"]);
    assert!(matches!(failures[0].kind, OpenFailureKind::Check(_)));
    assert!(
        matches!(failures[0].follow_up, FailureFollowUp::NarrowerPassed(run) if run.command == "go test ./b")
    );
    assert_eq!(failures[0].seen.number, 2);
}

#[test]
fn a_run_without_a_visible_result_still_counts() {
    let since = |steps: &[&str]| -> Vec<String> {
        let session = session(steps);
        let open = open_failures(&session, &session.abandoned());
        let name = |failure: &OpenFailure<'_>| match failure.follow_up {
            FailureFollowUp::Nothing => "nothing".to_owned(),
            FailureFollowUp::NarrowerPassed(run) => run.command.clone(),
            FailureFollowUp::RanAgain(seen) => format!("record {}", seen.number),
            FailureFollowUp::MayHaveRun => "may have run".to_owned(),
        };
        open.iter().map(name).collect()
    };
    let table: [(&[&str], &[&str]); 11] = [
        (&["! make lint"], &["nothing"]),
        (&["$ make lint | tail\n> fine", "! make lint"], &["nothing"]),
        (&["! make lint", "$ make lint | tail\n> fine"], &["record 3"]),
        (&["! go test ./a -run X", "$ go test ./... | head -1\n> ok  \tx/b\t1s"], &["record 3"]),
        (&["! go test ./...", "$ go test ./a | head -1\n> ok  \tx/a\t1s"], &["nothing"]),
        (&["! go test ./a", "$ make test | head -1\n> x"], &["may have run"]),
        (&["! make lint", "$ cd web && make lint | tail\n> fine"], &["may have run"]),
        (&["! make lint", "$ cd .worktrees/two && make lint"], &["nothing"]),
        (&["! make test", "$ cd web && make test:unit"], &["nothing"]),
        // It was running when the session stopped.
        (&["! make lint", "% make lint"], &["record 3"]),
        (&["! git push\n> fatal: no upstream", "% git push -u origin x"], &["record 3"]),
    ];
    for (steps, expected) in table {
        assert_eq!(since(steps), expected, "{steps:?}");
    }
    let stale = session(&["$ make test", "~ /home/dev/shop/a.go", "$ make test | head -1\n> fine"]);
    let states = last_checks(&stale, &stale.abandoned());
    assert_eq!(states[0].ran_again.unwrap().number, 5);
}

#[test]
fn the_last_check_run_lists_later_edits() {
    let shown = |steps: &[&str]| -> Vec<(String, CheckResult, usize)> {
        let session = session(steps);
        let states = last_checks(&session, &session.abandoned());
        states
            .iter()
            .map(|state| (state.run.command.clone(), state.run.result, state.edits_since.len()))
            .collect()
    };
    let steps = [
        "! make lint\n> a.go:1:2: bad",
        "~ /home/dev/shop/a.go",
        "$ make lint",
        "$ make test",
        "~ /home/dev/shop/a.go",
        "~ /home/dev/shop/README.md",
    ];
    let passed = |command: &str, edits| (command.to_owned(), CheckResult::Passed, edits);
    assert_eq!(shown(&steps), [passed("make test", 1), passed("make lint", 1)]);
    let by_command = |command: &str| {
        let session = session(&["$ make test", command]);
        let states = last_checks(&session, &session.abandoned());
        (states[0].edits_since.len(), states[0].commands_since.len())
    };
    assert_eq!(by_command("$ cat > a.go <<E\nx\nE"), (1, 0));
    assert_eq!(by_command("$ sed -i s/a/b/ a.go b.go"), (2, 0));
    assert_eq!(by_command("$ git merge main\n> Fast-forward"), (0, 1));
    assert_eq!(by_command("$ git pull\n> Already up to date."), (0, 0));
    assert_eq!(by_command("$ ls > /tmp/list"), (0, 0));
    let steps = ["! go test ./...\n> FAIL", "~ /home/dev/shop/a.go", "$ go test ./a"];
    let failed = ("go test ./...".to_owned(), CheckResult::Failed, 1);
    assert_eq!(shown(&steps), [passed("go test ./a", 0), failed]);
}

#[test]
fn commits_are_named_only_while_they_exist() {
    let made = |steps: &[&str]| -> Vec<(Option<CommitId>, Option<String>, bool)> {
        let session = session(steps);
        let commits = existing_commits(&session);
        let show = |commit: &&midstride_core::session::SessionCommit| {
            (commit.id.clone(), commit.subject.clone(), commit.pushed.is_some())
        };
        commits.iter().map(show).collect()
    };
    let known = |id: &str, subject: &str, pushed| {
        (Some(CommitId::new(id)), Some(subject.to_owned()), pushed)
    };
    let first = "$ git add -A && git commit -m 'One'\n> [fix-cache 1a2b3c4] One\n 2 files changed";
    let second = "$ git commit -m Two\n> [fix-cache 5d6e7f8] Two";
    let push = "$ git push\n>    0000000..5d6e7f8  fix-cache -> fix-cache";
    assert_eq!(
        made(&[first, second, push]),
        [known("1a2b3c4", "One", true), known("5d6e7f8", "Two", true)]
    );
    assert!(!made(&[first, push, second])[1].2);
    let amended = "$ git commit --amend --no-edit\n> [fix-cache 9a9b9c9] One";
    assert_eq!(made(&[first, amended]), [known("9a9b9c9", "One", false)]);
    assert_eq!(
        made(&[first, second, "$ git reset --soft HEAD~1"]),
        [known("1a2b3c4", "One", false)]
    );
    assert_eq!(made(&[first, "$ git reset --hard HEAD"]).len(), 1);
    assert_eq!(made(&[first, "$ git reset HEAD src/a.rs"]).len(), 1);
    let rebased = "$ git rebase main\n> Successfully rebased and updated refs/heads/fix-cache.";
    assert_eq!(made(&[first, rebased]), [(None, Some("One".to_owned()), false)]);
    let log = "$ git log --oneline -3\n> 7e7f7a7 (HEAD -> fix-cache) One\nabcdef1 Older";
    assert_eq!(made(&[first, rebased, log]), [known("7e7f7a7", "One", false)]);
    assert_eq!(made(&[log]), []);
    let quiet = "$ git commit -qm 'Quiet one'";
    assert_eq!(made(&[quiet]), [(None, Some("Quiet one".to_owned()), false)]);
    assert_eq!(
        made(&[quiet, "$ git rev-parse HEAD\n> 7e7f7a7e7f7a7e7f7a7e7f7a7e7f7a7e7f7a7e7f"])[0].0,
        Some(CommitId::new("7e7f7a7e7f7a7e7f7a7e7f7a7e7f7a7e7f7a7e7f"))
    );
    assert_eq!(made(&["! git commit -m x\n> nothing to commit"]), []);
    assert_eq!(made(&["$ git commit -m x || true\n> nothing to commit"]), []);
    assert_eq!(made(&["$ git commit -m x | tail -1\n>  1 file changed, 1 insertion(+)"]).len(), 1);
    assert_eq!(made(&["$ cd /tmp/t && git init && git commit -m x\n> [main 1a2b3c4] x"]), []);
    assert_eq!(made(&["$ git merge main\n> Merge made by the 'ort' strategy."]).len(), 1);
    assert_eq!(made(&["$ git merge main\n> Updating 1a2b3c4..5d6e7f8\nFast-forward"]), []);
}

#[test]
fn a_commit_keeps_its_message() {
    let body = |steps: &[&str]| {
        let session = session(steps);
        let commits = existing_commits(&session);
        commits.last().and_then(|commit| commit.body.clone())
    };
    let made = "$ git commit -m 'One' -m 'The cache was stale.'\n> [fix-cache 1a2b3c4] One";
    assert_eq!(body(&[made]).as_deref(), Some("The cache was stale."));
    let kept = "$ git commit --amend --no-edit\n> [fix-cache 9a9b9c9] One";
    assert_eq!(body(&[made, kept]).as_deref(), Some("The cache was stale."));
    let other = "$ git commit --amend -m Two\n> [fix-cache 9a9b9c9] Two";
    assert_eq!(body(&[made, other]), None);
    let quiet = "$ git commit -qm 'One' -m 'The cache was stale.'";
    assert_eq!(body(&[quiet]).as_deref(), Some("The cache was stale."));
    // A hook changed the message, so the commit may not say what was typed.
    assert_eq!(body(&["$ git commit -m One -m why\n> [fix-cache 1a2b3c4] [ci] One"]), None);
    let same = "$ git commit --amend -m One\n> [fix-cache 9a9b9c9] One";
    assert_eq!(body(&[made, same]), None);
    // A secret in pieces becomes whole when the shell joins them.
    let (start, end) = ("ghp_a1B2a1B2a1B2a1B2", "a1B2a1B2a1B2a1B2a1B2");
    let split = format!("$ git commit -m One -m 'with {start}''{end}'\n> [fix-cache 1a2b3c4] One");
    assert!(!body(&[split.as_str()]).unwrap().contains(end));
    let title = format!(
        "$ gh issue create --title 'with {start}''{end}'\n> https://github.com/a/b/issues/7"
    );
    let session = session(&[title.as_str()]);
    assert!(!effect_groups(&session)[0].title.unwrap().contains(end));
    let secret = format!(
        "$ git commit -m One -m 'with ghp_{}'\n> [fix-cache 1a2b3c4] One",
        "a1B2".repeat(9)
    );
    assert!(!body(&[secret.as_str()]).unwrap().contains("ghp_a1"));
}

#[test]
fn a_plan_that_refers_to_a_list_includes_it() {
    let plan = |steps: &[&str]| {
        let highlights = Highlights::from_checkpoint(&checkpoint_of(session(steps)));
        let plan = highlights.of_kind(HighlightKind::StatedPlan).next();
        plan.map(|plan| plan.text.clone())
    };
    let list = "# Two of the threads are right:\n1. `open()` leaks\n2. `close()` is late\n\nLet me fix both (1, 2).";
    let listed = "Let me fix both (1, 2).\n1. `open()` leaks\n2. `close()` is late";
    let apply = "# Good. Now apply the fixes.";
    assert_eq!(plan(&[list, "$ ls", apply, "$ ls"]).as_deref(), Some(listed));
    assert_eq!(plan(&[apply, "$ ls"]).as_deref(), Some("Now apply the fixes."));
    // A step that says what it is about needs no list, and list items that were changed since may
    // be done.
    let step = "# Let me look at `queue.rs`.";
    let own = plan(&[list, "$ ls", step, "$ ls"]);
    assert_eq!(own.as_deref(), Some("Let me look at `queue.rs`."));
    let later = plan(&[list, "~ /home/dev/shop/a.go", apply, "$ ls"]);
    assert_eq!(later.as_deref(), Some("Now apply the fixes."));
    // A list of what passed is not a list of steps.
    let green = "# All green:\n- 65 tests\n- `credo`\n\nNow let me close all the tasks and commit.";
    let close = "Now let me close all the tasks and commit.";
    assert_eq!(plan(&[green, "$ ls"]).as_deref(), Some(close));
    let commit = "$ git commit -m x\n> [fix-cache 1a2b3c4] x";
    assert_eq!(plan(&[green, commit]), None);
    assert_eq!(plan(&["# Let me take their version.", commit, "$ ls"]), None);
    let push = "Let me commit and push.";
    assert_eq!(plan(&[&format!("# {push}"), commit, "$ ls"]).as_deref(), Some(push));
}

#[test]
fn a_report_includes_its_request() {
    let report = |topic: &str| format!("# {topic} {}", "It waits for the lock. ".repeat(10));
    let (first, second, third) = (report("One."), report("Two."), report("Three."));
    let steps = [
        "? make the queue fast",
        &first,
        "? is it safe?\nalso for readers",
        &second,
        "? commit",
        &third,
    ];
    let highlights = Highlights::from_checkpoint(&checkpoint_of(session(&steps)));
    let reports = highlights.of_kind(HighlightKind::Report);
    let requests: Vec<Option<&str>> = reports.map(|one| one.detail.as_deref()).collect();
    assert_eq!(
        requests,
        [None, Some("is it safe? also for readers"), Some("make the queue fast")],
        "one word says nothing"
    );
}

#[test]
fn a_gap_closed_by_an_edit_is_not_a_finding() {
    let lacks =
        "# I looked at it:\n- `drain()` has no test coverage yet\n- `drain()` waits for `lock`\n";
    let findings = |steps: &[&str]| {
        let highlights = Highlights::from_checkpoint(&checkpoint_of(session(steps)));
        let findings = highlights.of_kind(HighlightKind::Finding);
        findings.map(|one| one.text.clone()).collect::<Vec<_>>()
    };
    let edited = ["? review it", lacks, "? add it", "~ /home/dev/shop/a.go", "# Added to `a.go`."];
    assert!(!findings(&edited).iter().any(|one| one.contains("coverage")), "{edited:?}");
    assert!(findings(&edited).iter().any(|one| one.contains("waits for")), "{edited:?}");
    let only_read = ["? review it", lacks, "? thanks", "# You are welcome."];
    assert!(findings(&only_read).iter().any(|one| one.contains("coverage")), "{only_read:?}");
}

#[test]
fn items_done_by_later_work_are_not_open() {
    let said = "# Two of four tasks are done.\n\n## Remaining\n- shop-4te.4: spans in the `drain` controller\n- Write the operations guide\n";
    let open = |steps: &[&str]| {
        let all = [&["? build the tracing", said, "? go on"], steps].concat();
        let highlights = Highlights::from_checkpoint(&checkpoint_of(session(&all)));
        let open = highlights.of_kind(HighlightKind::OpenItem);
        open.map(|one| one.text.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (task, guide) = ("shop-4te.4", "Write the operations guide");
    assert_eq!(open(&["$ ls", "# I looked around."]), [task, guide]);
    assert_eq!(open(&["$ bd close shop-4te.4", "# Closed."]), [guide]);
    assert_eq!(open(&["~ /home/dev/shop/drain.go", "# The spans of `drain` are in."]), [guide]);
    let commit = "$ git commit -m 'Add spans to drain'\n> [main 1a2b3c4] Add spans to drain";
    assert!(open(&[commit, "# Committed."]).is_empty());
    // The last report says itself what is open.
    let last = Highlights::from_checkpoint(&checkpoint_of(session(&["? build it", commit, said])));
    assert_eq!(last.of_kind(HighlightKind::OpenItem).count(), 2);
}

#[test]
fn a_text_of_an_unfinished_turn_is_not_called_a_report() {
    let said = format!(
        "# The lock is held {}by `drain`.",
        "for the whole request, and then again ".repeat(5)
    );
    let state = |steps: &[&str]| {
        let highlights = Highlights::from_checkpoint(&checkpoint_of(session(steps)));
        highlights.of_kind(HighlightKind::Report).next().unwrap().state.clone()
    };
    assert_eq!(state(&["? look at it", &said, "$ ls"]).as_deref(), Some("in an unfinished turn"));
    assert_eq!(state(&["? look at it", "$ ls", &said]), None);
}

#[test]
fn a_plan_document_that_was_never_written_is_not_named() {
    let plans = |plan: Value| {
        let path = "/home/dev/.claude/plans/drain.md";
        let call = json!({"type": "tool_use", "id": "p", "name": "ExitPlanMode", "input": {}});
        let result = json!({"type": "tool_result", "tool_use_id": "p", "content": "Approved."});
        let records = [
            json!({"type": "assistant", "uuid": "a", "message": {"id": "m", "role": "assistant", "content": [call]}}),
            json!({"type": "user", "uuid": "b", "parentUuid": "a", "message": {"role": "user", "content": [result]},
                "toolUseResult": {"plan": plan, "filePath": path}}),
        ];
        let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
        let session = read("claude-code", lines.as_bytes());
        Highlights::from_checkpoint(&checkpoint_of(session)).of_kind(HighlightKind::Plan).count()
    };
    assert_eq!(plans(json!("# Drain the queue\n1. Lock it")), 1);
    assert_eq!(plans(Value::Null), 0);
}

#[test]
fn the_request_that_was_running_is_the_unfinished_one() {
    let open = |steps: &[&str]| {
        let highlights = Highlights::from_checkpoint(&checkpoint_of(session(steps)));
        let open = highlights.of_kind(HighlightKind::OpenRequest).next().unwrap().clone();
        (open.text, open.detail)
    };
    let asks = "# There are two ways: a lock or a queue. Which one do you prefer?";
    let (text, question) = open(&["? make it fast", asks, "? the first", "$ ls"]);
    assert_eq!(text, "the first");
    assert!(question.unwrap().contains("Which one do you prefer?"));
    let stopped = "? [Request interrupted by user]";
    let after =
        |said: &str| open(&["? make it fast", "$ ls", stopped, &format!("? {said}"), "$ ls"]).0;
    assert_eq!(after("search the web for the scroll bug"), "search the web for the scroll bug");
    assert_eq!(after("no, that is not what I meant"), "make it fast");
    // What a user says when refusing a call, or types during the work, is what the agent is working
    // on.
    let refused = |said: &str| {
        let refusal = format!("- git merge main\n> {said}");
        open(&["? make it fast", "# Let me merge main first.", &refusal, "$ ls"]).0
    };
    assert_eq!(
        refused("merge from origin fix/state-2 instead"),
        "merge from origin fix/state-2 instead"
    );
    assert_eq!(refused("can we write a new patch for it?"), "can we write a new patch for it?");
    assert_eq!(refused("main is clean"), "make it fast");
    assert_eq!(refused("don't merge anything into this branch"), "make it fast");
    assert_eq!(refused("wait"), "make it fast");
    let denied = "No, not a page cache: one visitor would see the balance of another.";
    assert_eq!(refused(denied), "make it fast");
    let typed = "ah crap, we still have merge issues with the parent branch?";
    assert_eq!(open(&["? review it", "# It is fine.", &format!("? {typed}"), "$ ls"]).0, typed);
}

#[test]
fn the_last_words_of_the_user_are_not_lost() {
    let queued = |steps: &[&str]| {
        let highlights = Highlights::from_checkpoint(&checkpoint_of(session(steps)));
        let queued = highlights.of_kind(HighlightKind::Queued);
        queued.map(|one| one.text.clone()).collect::<Vec<_>>()
    };
    let refused = "- git merge main\n> wait, let's discuss";
    assert_eq!(queued(&["? fix it", "# Let me merge.", refused]), ["wait, let's discuss"]);
    assert!(queued(&["? fix it", refused, "# What do you want to discuss?"]).is_empty());
}

#[test]
fn a_request_to_continue_is_not_a_goal() {
    let goal = |asked: &str| {
        let steps =
            [format!("? {asked}"), "~ /home/dev/shop/a.go".to_owned(), "# Done.".to_owned()];
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let highlights = Highlights::from_checkpoint(&checkpoint_of(session(&steps)));
        highlights.of_kind(HighlightKind::Goal).next().map(|goal| goal.text.clone())
    };
    assert_eq!(goal("continue"), None);
    assert_eq!(goal("release it").as_deref(), Some("release it"));
    let named = "continue the handoff in docs/handoffs/queue.md";
    assert_eq!(goal(named).as_deref(), Some(named));
}

#[test]
fn a_plan_that_the_user_refused_is_not_next() {
    let plan = |steps: &[&str]| {
        let all =
            [&["? make it fast", "# I found the lock. Let me merge main first."], steps].concat();
        let highlights = Highlights::from_checkpoint(&checkpoint_of(session(&all)));
        let plan = highlights.of_kind(HighlightKind::StatedPlan).next();
        plan.map(|plan| plan.state.clone().unwrap_or_default())
    };
    assert_eq!(plan(&["% git merge main"]).as_deref(), Some(""));
    assert_eq!(plan(&["$ git merge main", "% ls"]).as_deref(), Some("before later commands"));
    assert_eq!(plan(&["~ /home/dev/shop/a.go", "% ls"]).as_deref(), Some("before later edits"));
    assert_eq!(plan(&["- git merge main\n> main is clean", "% ls"]), None);
    assert_eq!(plan(&["? merge the other branch", "% ls"]), None);
    // It was done outside.
    let reply = "$ gh pr comment 7 -b done\n> https://github.com/o/r/pull/7#issuecomment-1";
    assert_eq!(plan(&[reply, "% ls"]), None);
}

#[test]
fn a_plan_that_the_client_keeps_is_not_uncommitted() {
    let tree =
        |steps: &[&str]| Highlights::from_checkpoint(&checkpoint_of(session(steps))).tree.unwrap();
    let commit = "$ git commit -m 'Drain'\n> [main 1a2b3c4] Drain";
    let plan = "~ /home/dev/.claude/plans/drain.md";
    assert!(tree(&[commit, plan]).starts_with("no edits since the last commit"));
    assert!(tree(&[commit, plan, "~ /home/dev/shop/a.go"]).starts_with("1 file edited since"));
}

#[test]
fn a_turn_ends_when_the_client_says_so() {
    let ending = |mut records: Vec<Value>| {
        for (at, record) in records.iter_mut().enumerate() {
            record["uuid"] = json!(format!("r{at}"));
        }
        let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
        let session = read("claude-code", lines.as_bytes());
        Highlights::from_checkpoint(&checkpoint_of(session)).ending
    };
    let asked = |text: &str| json!({"type": "user", "message": {"role": "user", "content": text}});
    let said = |reason: Value| {
        let content = json!([{"type": "text", "text": "The lock is held by `drain`."}]);
        let message =
            json!({"id": "m", "role": "assistant", "content": content, "stop_reason": reason});
        json!({"type": "assistant", "message": message})
    };
    let notice = "<task-notification><task-id>b1</task-id></task-notification>";
    let hook = json!({"type": "progress", "data": {"type": "hook_progress", "hookEvent": "Stop"}});
    let system = |subtype: &str| json!({"type": "system", "subtype": subtype});
    let first = || vec![asked("make it fast"), said(Value::Null)];
    assert_eq!(ending(vec![asked("x"), said(json!("tool_use"))]), SessionEnding::MidTurn);
    assert_eq!(ending(vec![asked("x"), said(json!("end_turn"))]), SessionEnding::Completed);
    // Older clients give no reason. One that runs hooks shows them after each turn.
    assert_eq!(ending(first()), SessionEnding::Completed);
    for over in [hook, system("stop_hook_summary"), system("turn_duration")] {
        let second = [first(), vec![over.clone()], first()].concat();
        assert_eq!(ending(second.clone()), SessionEnding::Unknown, "{over}");
        assert_eq!(ending([second.clone(), vec![over.clone()]].concat()), SessionEnding::Completed);
        // A notice after it changes nothing.
        assert_eq!(ending([second, vec![over, asked(notice)]].concat()), SessionEnding::Completed);
    }
    // Nor does work on a notice that came while the agent answered.
    let (call, over) = (
        json!([{"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "ls"}}]),
        system("turn_duration"),
    );
    let call =
        json!({"type": "assistant", "message": {"id": "c", "role": "assistant", "content": call}});
    let records =
        [asked("make it fast"), asked(notice), said(Value::Null), over, asked(notice), call];
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    let noticed = read("claude-code", format!("{}\n", lines.join("\n")).as_bytes());
    let highlights = Highlights::from_checkpoint(&checkpoint_of(noticed));
    assert_eq!(highlights.of_kind(HighlightKind::OpenRequest).count(), 0);
    let content = json!([{"type": "text", "text": "Shall I push it?"}]);
    let message =
        json!({"id": "q", "role": "assistant", "content": content, "stop_reason": "end_turn"});
    let question = json!({"type": "assistant", "message": message});
    assert_eq!(ending(vec![asked("x"), question, asked(notice)]), SessionEnding::Asked);
}

#[test]
fn a_turn_with_a_failing_check_or_started_task_is_unfinished() {
    let ending =
        |steps: &[&str]| Highlights::from_checkpoint(&checkpoint_of(session(steps))).ending;
    let said = "# Three lint issues to fix: the import, the name, the test.";
    assert_eq!(ending(&["? fix it", "$ make lint", said]), SessionEnding::Completed);
    assert_eq!(ending(&["? fix it", "! make lint\n> a.go:1:2: bad", said]), SessionEnding::Unknown);
    assert_eq!(
        ending(&["? run it", "! make lint\n> a.go:1:2: bad", "# It fails.", "? ok", said]),
        SessionEnding::Completed
    );
}

#[test]
fn a_remark_that_only_announces_a_call_is_not_kept() {
    let steps = [
        "? drain it",
        "# Good. Now let me look at all the places that could possibly wait for the lock in there.",
        "$ ls",
        "# The parents are merged into the other branch already, so the base has to be another one.",
        "$ ls",
        "# Drained.",
        "? and now?",
        "# Nothing.",
    ];
    let highlights = Highlights::from_checkpoint(&checkpoint_of(session(&steps)));
    let remarks = highlights.of_kind(HighlightKind::Remark);
    let first = |text: &str| text.split(' ').next().map(str::to_owned);
    let remarks: Vec<String> = remarks.filter_map(|one| first(&one.text)).collect();
    assert_eq!(remarks, ["Drained.", "The"]);
}

#[test]
fn a_session_without_requests_takes_the_goal_of_its_summary() {
    let summary = "1. Primary Request and Intent:\n   - Drain the `queue` on exit\n   - Keep the lock\n\n\
                   2. Current Work:\n   - Reading `lock.rs`";
    let goals = |after: &[&str]| {
        let mut session = session(&[&["# Reading on."], after].concat());
        let seen = session.turns.items[0].said[0].seen.clone();
        session.summary = Some(AgentMessage { seen, text: summary.to_owned() });
        let highlights = Highlights::from_checkpoint(&checkpoint_of(session));
        let goals = highlights.of_kind(HighlightKind::Goal);
        goals.map(|one| (one.text.clone(), one.state.clone())).collect::<Vec<_>>()
    };
    let text = "Drain the `queue` on exit\nKeep the lock".to_owned();
    assert_eq!(goals(&[]), [(text, Some("from the summary".to_owned()))]);
    let asked = goals(&["? rename the lock in all files"]);
    assert_eq!(asked, [("rename the lock in all files".to_owned(), None)]);
}

#[test]
fn a_turn_whose_last_words_announce_a_call_is_not_finished() {
    let ending =
        |steps: &[&str]| Highlights::from_checkpoint(&checkpoint_of(session(steps))).ending;
    let announced = ["$ ls", "# All green. Let me commit the merge and push."];
    assert_eq!(ending(&announced), SessionEnding::MidTurn);
    for next in
        ["# Now rename all of the test files.", "# The fix is to keep the lock, but not to wait:"]
    {
        assert_eq!(ending(&["$ ls", next]), SessionEnding::MidTurn, "{next}");
    }
    for done in [
        "# All is done. Let me know if it helps.",
        "# Done:\n- let me out",
        "# Now all tests pass.",
    ] {
        assert_eq!(ending(&["$ ls", done]), SessionEnding::Completed, "{done}");
    }
}

#[test]
fn text_between_parallel_calls_is_not_marked_as_rewound() {
    let call = |id: &str| json!([{"type": "tool_use", "id": id, "name": "Edit", "input": {"file_path": format!("/w/{id}")}}]);
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
    let said = json!({"type": "text", "text": "Do we need to fix the callers too?"});
    let records = [
        ("user", 0, json!("Merge the two branches into one.")),
        ("assistant", 1, call("a")),
        ("assistant", 2, call("b")),
        ("user", 2, json!([result("a"), said])),
        ("user", 3, json!([result("b")])),
        ("assistant", 5, json!([{"type": "text", "text": "Yes, two of them."}])),
    ];
    let mut lines = String::new();
    for (at, (kind, parent, content)) in records.into_iter().enumerate() {
        let mut record = json!({"type": kind, "uuid": format!("r{}", at + 1), "parentUuid": format!("r{parent}"),
            "sessionId": "5e55-0009", "cwd": "/w", "message": {"id": format!("m{at}"), "role": kind, "content": content}});
        if matches!(at, 3 | 4) {
            record["toolUseResult"] = json!({"filePath": "/w"});
        }
        lines.push_str(&format!("{record}\n"));
    }
    let session = read("claude-code", lines.as_bytes());
    assert_eq!(session.requests.items.len(), 2);
    let highlights = Highlights::from_checkpoint(&checkpoint_of(session));
    assert_eq!(highlights.of_kind(HighlightKind::TakenBack).count(), 0);
}

#[test]
fn the_status_is_what_was_said_after_the_last_change() {
    let report = "# Pushed. All checks pass, and the merge with `main` is complete now.";
    let status = |steps: &[&str]| {
        let highlights = Highlights::from_checkpoint(&checkpoint_of(session(steps)));
        highlights.of_kind(HighlightKind::Status).count()
    };
    let asked = "? Merge it";
    assert_eq!(status(&[asked, "$ ls", report]), 1);
    assert_eq!(status(&[asked, report, "? And the rest", "~ /home/dev/shop/a.go", "# Fine."]), 0);
}

#[test]
fn an_open_remark_is_not_a_later_finding() {
    let found = |steps: &[&str]| -> Vec<String> {
        let highlights = Highlights::from_checkpoint(&checkpoint_of(session(steps)));
        highlights.of_kind(HighlightKind::Finding).map(|one| one.text.clone()).collect()
    };
    let remark = "# Two lint issues:\n1. `Init` in `clean.go` needs to be checked\n2. `exec` in `run.go` has no context";
    let done = "# Both are fixed, and `make lint` passes.";
    let findings = found(&["? Fix the linter", remark, "~ /home/dev/shop/clean.go", done]);
    assert!(!findings.iter().any(|one| one.contains("needs to be")), "{findings:?}");
    assert!(findings.iter().any(|one| one.contains("has no context")), "{findings:?}");
}

#[test]
fn findings_come_from_reports_and_not_from_remarks_or_table_rows() {
    let remark = "# `drain()` is called in `queue.rs` twice per host.";
    let report = "# It is fast now.\n\n| file | change |\n|---|---|\n| `queue.rs` | 20 lines in `drain()` |\n\n## Issues\n- `lock()` is never released in `pool.rs`";
    let steps = ["? Make it fast", remark, "$ grep drain queue.rs", report];
    let highlights = Highlights::from_checkpoint(&checkpoint_of(session(&steps)));
    let findings = highlights.reported_findings();
    let findings: Vec<&str> = findings.map(|one| one.text.as_str()).collect();
    assert_eq!(findings, ["`lock()` is never released in `pool.rs`"]);
}

#[test]
fn a_call_without_a_command_is_named_by_its_tool() {
    let highlights = Highlights::from_checkpoint(&checkpoint_of(session(&["? Go", "% "])));
    let running = highlights.of_kind(HighlightKind::Running).map(|one| one.text.as_str());
    assert_eq!(running.collect::<Vec<_>>(), ["Bash"]);
}

#[test]
fn a_check_of_another_folder_names_it() {
    let steps = ["$ cd /home/dev/other && make test", "$ cd /home/dev/shop/web && make lint"];
    let highlights = Highlights::from_checkpoint(&checkpoint_of(session(&steps)));
    let checks = highlights.of_kind(HighlightKind::Check);
    let folders: Vec<_> = checks.map(|one| (&*one.text, one.detail.as_deref())).collect();
    let expected = [("make test", Some("/home/dev/other")), ("make lint", None)];
    assert_eq!(folders.iter().filter(|one| expected.contains(one)).count(), 2, "{folders:?}");
}

#[test]
fn a_stopped_merge_has_changed_files_and_needs_a_commit() {
    let merge = "! git merge main\n> CONFLICT (content): Merge conflict in a.go";
    let session = session(&["$ make test", merge, "$ git checkout --theirs a.go"]);
    let checks = last_checks(&session, &session.abandoned());
    assert_eq!(checks[0].commands_since, ["git merge main", "git checkout --theirs a.go"]);
    let highlights = Highlights::from_checkpoint(&checkpoint_of(session));
    let failed = highlights.of_kind(HighlightKind::Failed).next().unwrap();
    let state = failed.state.as_deref().unwrap();
    assert!(state.starts_with("stopped on conflicts at 09:00, neither committed"), "{state}");
    assert_eq!(highlights.of_kind(HighlightKind::Reverted).count(), 0);
}

#[test]
fn a_fixed_failure_includes_the_agents_remark() {
    let steps = [
        "! make test\n> --- FAIL: TestOpen (0.01s)",
        "# `open()` fails because the key is missing. Let me add it.",
        "! make test\n> --- FAIL: TestClose (0.01s)",
        "$ ls",
        "# `close()` is never called.",
        "! make lint\n> a.go:1:2: unused",
        "$ make lint",
        "! make test\n> --- FAIL: TestOpen (0.02s)",
        "$ make test",
    ];
    let highlights = Highlights::from_checkpoint(&checkpoint_of(session(&steps)));
    let fixed = highlights.of_kind(HighlightKind::Passed);
    let shown: Vec<_> =
        fixed.map(|one| (one.detail.as_deref().unwrap(), one.remark.as_deref())).collect();
    let said = Some("`open()` fails because the key is missing.");
    // After the agent looked elsewhere, what it said may be about something else.
    let expected = [
        ("--- FAIL: TestOpen (0.02s)", None),
        ("--- FAIL: TestClose (0.01s)", None),
        ("--- FAIL: TestOpen (0.01s)", said),
        ("a.go:1:2: unused", None),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn the_message_of_a_refused_commit_describes_uncommitted_work() {
    let refused = "! git commit -m 'Drain it' -m 'One queue per host.'\n> hook: error: no license";
    let messages = |steps: &[&str]| -> Vec<(String, Option<String>)> {
        let highlights = Highlights::from_checkpoint(&checkpoint_of(session(steps)));
        let messages = highlights.of_kind(HighlightKind::Message);
        messages.map(|one| (one.text.clone(), one.state.clone())).collect()
    };
    let told =
        |state: Option<&str>| vec![("One queue per host.".to_owned(), state.map(str::to_owned))];
    assert_eq!(messages(&[refused]), told(Some("not committed")));
    let made =
        "$ git commit -m 'Drain it' -m 'One queue per host.'\n> [fix-cache 1a2b3c4] Drain it";
    assert_eq!(messages(&[refused, made]), told(None));
}

#[test]
fn outside_effects_are_grouped() {
    let reply = |n: u32| {
        format!(
            "$ gh api repos/o/r/pulls/9/comments/{n}/replies -f body=done\n> {{\"html_url\": \"https://github.com/o/r/pull/9#discussion_r{n}\"}}"
        )
    };
    let replies: Vec<String> = (0..5).map(reply).collect();
    let mut steps: Vec<&str> = vec![
        "$ git push -u origin fix-cache\n> remote: https://github.com/o/r/pull/new/fix-cache\n * [new branch]      fix-cache -> fix-cache",
        "$ gh pr create --title 'Fix it' --body \"- [x] a\n- [ ] by hand\"\n> https://github.com/o/r/pull/9",
        "& Later work\n> {\"identifier\":\"ENG-5\"}",
        "$ git push --dry-run",
    ];
    steps.extend(replies.iter().map(String::as_str));
    let session = session(&steps);
    let done: Vec<(&str, usize, Option<&str>, Option<&str>)> = effect_groups(&session)
        .iter()
        .map(|one| (&*one.effect.action, one.count, one.effect.target.as_deref(), one.url))
        .collect();
    assert_eq!(
        done,
        [
            ("git push", 1, Some("fix-cache"), None),
            ("gh pr create", 1, Some("9"), Some("https://github.com/o/r/pull/9")),
            ("linear create_issue", 1, Some("ENG-5"), None),
            (
                "gh api reply to review thread",
                5,
                Some("9"),
                Some("https://github.com/o/r/pull/9#discussion_r4")
            ),
        ]
    );
    assert_eq!(unchecked_boxes(&session)[0].1, ["by hand"]);
    steps.push("$ gh pr edit 9 --body '- [x] by hand'\n> https://github.com/o/r/pull/9");
    assert!(unchecked_boxes(&self::session(&steps)).is_empty());
}

#[test]
fn a_running_codex_command_ends_when_its_output_is_polled() {
    let call = |id: &str, name: &str, arguments: Value| json!({"type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": id});
    let output = |id: &str, text: &str| json!({"type": "function_call_output", "call_id": id, "output": text});
    let records = [
        call("c1", "exec_command", json!({"cmd": "cargo test"})),
        output(
            "c1",
            "Chunk ID: 1\nWall time: 10 seconds\nProcess running with session ID 77\nOutput:\n",
        ),
        call("c2", "write_stdin", json!({"session_id": 77, "chars": ""})),
        output("c2", "Chunk ID: 2\nProcess running with session ID 77\nOutput:\n"),
        call("c3", "write_stdin", json!({"session_id": 77, "chars": ""})),
        output("c3", "Chunk ID: 3\nProcess exited with code 101\nOutput:\ntest a ... FAILED"),
    ];
    let line =
        |payload: &Value| format!("{}\n", json!({"type": "response_item", "payload": payload}));
    let text: String = records.iter().map(line).collect();
    let session = read("codex", text.as_bytes());
    assert_eq!(open(&session), ["cargo test"]);
    assert_eq!(session.checks.items[0].why, ["test a ... FAILED"]);
    assert!(session.in_flight().is_empty());
}

#[test]
fn secrets_in_command_output_are_not_kept() {
    let secret = format!("ghp_{}", "a1B2".repeat(10));
    let session = session(&[&format!("! make lint\n> a.go:1:2: token {secret}")]);
    let stored = serde_json::to_string(&session).unwrap();
    assert!(!stored.contains(&secret));
    assert!(stored.contains("a.go:1:2"));
}

/// What the Python reader finds in transcripts; `None` if there is no Python.
fn read_by_python(transcripts: &[(&str, PathBuf)]) -> Option<Vec<Value>> {
    let script = repository_root().join("crates/core/tests/transcripts/work.py");
    let named = transcripts.iter().map(|(client, path)| format!("{}={}", client, path.display()));
    let output = match Command::new("python3").arg("-B").arg(script).args(named).output() {
        Ok(output) => output,
        Err(_) if std::env::var_os("CI").is_none() => return None,
        Err(error) => panic!("python3: {error}"),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// A command without redirections, as the independent reader compares it.
fn plain(command: &str) -> String {
    command.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn every_corpus_transcript_matches_an_independent_reader() {
    let folders = [corpus("transcripts"), corpus("fidelity")];
    let all: Vec<(&'static str, PathBuf)> = folders
        .into_iter()
        .flat_map(|folder| jsonl_below(&folder))
        .filter_map(|path| Some((client_of(&path, &std::fs::read(&path).unwrap())?, path)))
        .collect();
    let Some(expected) = read_by_python(&all) else { return };
    let (mut commits, mut failures) = (0, 0);
    for ((client, path), expected) in all.iter().zip(expected) {
        let session = read(client, &std::fs::read(path).unwrap());
        for made in expected["commits"].as_array().unwrap() {
            let (id, subject) = (made[0].as_str().unwrap(), made[1].as_str().unwrap());
            let is_it = |one: &midstride_core::session::SessionCommit| {
                one.id.as_ref().is_some_and(|one| one.as_str() == id)
                    || (one.subject.as_deref() == Some(subject)
                        && one.state != CommitState::Scratch)
            };
            assert!(session.commits.iter().any(is_it), "{}: {id} {subject}", path.display());
            commits += 1;
        }
        for failure in open_failures(&session, &session.abandoned()) {
            failures += 1;
            let (number, command) = (failure.seen.number, plain(failure.command));
            let cured = expected["passes"].as_array().unwrap().iter().any(|pass| {
                pass[0].as_u64().unwrap() > number && pass[1].as_str() == Some(&command)
            });
            let settled = failure.kind == OpenFailureKind::Merge
                && expected["settled"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|at| at.as_u64().unwrap() > number);
            assert!(!cured && !settled, "{}: {number} {command}", path.display());
        }
    }
    assert!(commits >= 30, "{commits}");
    // Open failures are rare, because anything that may have been settled does not count.
    assert!(failures < 20, "{failures}");
}
