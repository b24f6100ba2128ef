//! Tests of running commands with limits, with real processes.

use midstride::sys::process::{
    ProcessLimits, ProcessReport, command, communicate_bounded, run_bounded,
};
use midstride_core::handoff::proof::TrialEnd;
use midstride_testkit::Sandbox;
use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

/// Long enough never to be the reason why something ends.
const LONG: Duration = Duration::from_mins(5);
const SHORT: Duration = Duration::from_millis(300);

fn run_for(time: Duration, script: &str) -> ProcessReport {
    let mut shell = command("/bin/sh");
    shell.arg("-c").arg(script);
    run_bounded(shell, ProcessLimits { time, output_bytes: 1000 }, &mut |_| ()).unwrap()
}

/// A named pipe. Reading it to its end shows that all writers are gone.
fn fifo(sandbox: &Sandbox) -> PathBuf {
    let path = sandbox.root().join("alive");
    sandbox.finish(sandbox.command("mkfifo").arg(&path)).exits(0);
    path
}

/// Reads the lines of a pipe in the background, until no process holds it open.
fn listen(path: PathBuf) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        std::fs::File::open(path).unwrap().read_to_string(&mut text).unwrap();
        text
    })
}

#[test]
fn a_command_exits_and_its_output_is_captured() {
    let run = run_for(LONG, "echo out; echo err >&2; cat; exit 3");
    assert_eq!(run.ended, TrialEnd::Exit(3));
    assert_eq!(run.output.text(), "out\nerr\n");
    assert_eq!(run_for(LONG, "kill -KILL $$").ended, TrialEnd::Signal(9));
    let run = run_for(LONG, "no-such-command-anywhere");
    assert_eq!(run.ended, TrialEnd::Exit(127));
    assert!(run.output.text().contains("no-such-command-anywhere"), "{}", run.output.text());
    assert_eq!(run_for(LONG, r"printf 'a\377b'").output.text(), "a\u{fffd}b");
}

#[test]
fn a_missing_folder_is_reported() {
    let mut shell = command("/bin/sh");
    shell.arg("-c").arg("true").current_dir("/no/such/folder");
    let error = run_bounded(shell, ProcessLimits { time: LONG, output_bytes: 10 }, &mut |_| ());
    assert_eq!(error.unwrap_err().kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn an_endless_command_times_out() {
    let run = run_for(SHORT, "yes");
    assert_eq!(run.ended, TrialEnd::TimedOut);
    assert!(run.output.dropped() > 100_000, "{}", run.output.dropped());
    assert!(run.output.text().len() < 1100);
    assert_eq!(
        run_for(SHORT, "trap '' TERM INT HUP; while :; do sleep 100; done").ended,
        TrialEnd::TimedOut
    );
}

#[test]
fn a_terminated_command_can_clean_up() {
    let run = run_for(SHORT, "trap 'echo tidied; exit 0' TERM; while :; do sleep 0.05; done");
    assert_eq!(run.ended, TrialEnd::TimedOut);
    assert!(run.output.text().ends_with("tidied\n"), "{}", run.output.text());
}

/// Children and grandchildren that ignore all signals they can and hold the pipe.
const BROOD: &str = "
exec 3>alive
trap '' TERM INT HUP
for i in 1 2 3 4 5; do (for j in 1 2 3; do (echo here >&3; sleep 1000) & done; sleep 1000) & done
while [ $(cat count 2>/dev/null | wc -l) -lt 15 ]; do sleep 0.01; done
";

#[test]
fn no_child_process_is_left_behind() {
    for end in ["exit 0", "sleep 1000"] {
        let sandbox = Sandbox::new("");
        let heard = listen(fifo(&sandbox));
        let mut shell = command("/bin/sh");
        // Each grandchild reports that it runs before anything ends.
        let script = BROOD.replace("echo here >&3", "echo here >&3; echo x >>count");
        shell.arg("-c").arg(format!("{script}\n{end}")).current_dir(sandbox.root());
        let time = if end == "exit 0" { LONG } else { Duration::from_secs(5) };
        let run =
            run_bounded(shell, ProcessLimits { time, output_bytes: 10 }, &mut |_| ()).unwrap();
        let wanted = if end == "exit 0" { TrialEnd::Exit(0) } else { TrialEnd::TimedOut };
        assert_eq!(run.ended, wanted);
        // The pipe stays open as long as one of them is alive.
        let heard = heard.join().unwrap().lines().count();
        assert!(heard == 15 || run.ended == TrialEnd::TimedOut, "{heard}");
    }
}

#[test]
fn a_process_outside_the_group_does_not_block() {
    let sandbox = Sandbox::new("");
    let path = fifo(&sandbox);
    let mut shell = command("/bin/sh");
    // It waits for the pipe to be opened, and holds the output open until then.
    let script = "setsid sh -c ': >left; echo gone >alive' &
        while [ ! -e left ]; do sleep 0.01; done; echo done";
    shell.arg("-c").arg(script).current_dir(sandbox.root());
    let run =
        run_bounded(shell, ProcessLimits { time: LONG, output_bytes: 100 }, &mut |_| ()).unwrap();
    assert_eq!((run.ended, run.output.text().as_str()), (TrialEnd::Exit(0), "done\n"));
    assert_eq!(listen(path).join().unwrap(), "gone\n");
}

#[test]
fn the_watcher_is_called_while_the_command_runs() {
    let mut told = 0;
    let mut shell = command("/bin/sh");
    shell.arg("-c").arg("sleep 1000");
    let bounds = ProcessLimits { time: Duration::from_millis(1200), output_bytes: 10 };
    run_bounded(shell, bounds, &mut |_| told += 1).unwrap();
    assert!(told > 0);
}

#[test]
fn a_command_gets_input_and_may_ignore_it() {
    let input = "told\n".repeat(100_000);
    let run = |time, script: &str| {
        let mut shell = command("/bin/sh");
        shell.arg("-c").arg(script);
        let bounds = ProcessLimits { time, output_bytes: input.len() };
        communicate_bounded(shell, input.clone().into_bytes(), bounds).unwrap()
    };
    let all = run(LONG, "cat");
    assert_eq!((all.ended, all.output.text() == input), (TrialEnd::Exit(0), true));
    let none = run(LONG, "exit 4");
    assert_eq!((none.ended, none.output.text().as_str()), (TrialEnd::Exit(4), ""));
    assert_eq!(run(SHORT, "read -r line; sleep 300").ended, TrialEnd::TimedOut);
    let both = run(LONG, "echo answer; echo complaint >&2");
    assert_eq!((both.output.text(), both.errors.text()), ("answer\n".into(), "complaint\n".into()));
}
