//! Tests of failing system calls: a command loses nothing, says what went wrong, and works again.
//!
//! `strace` makes one system call of the program, or of a git that it starts, fail as if the disk
//! were broken or full. `MIDSTRIDE_FAULTS` sets how many faults each command meets; `scripts/soak`
//! uses `all`, which is every call of every process.

mod bench;
mod fault;
mod scenario;
mod tree;

use bench::{Bench, State};
use fault::{Fault, InjectedRun};
use scenario::Scenario;

/// How many faults each command meets, or `None` for all of them.
fn fault_count() -> Option<usize> {
    match std::env::var("MIDSTRIDE_FAULTS").ok().as_deref() {
        None => Some(20),
        Some("all") => None,
        Some(number) => Some(number.parse().expect("MIDSTRIDE_FAULTS is a number or `all`")),
    }
}

/// Lets calls of a command fail, one at a time, and asserts that nothing is lost.
#[track_caller]
fn assert_nothing_lost(scenario: Scenario) {
    let bench = Bench::new();
    let before = bench.state();
    assert!(!bench.is_complete(scenario, &before) || scenario.is_exact());
    let untouched = bench.run(scenario, None);
    assert_eq!(untouched.code, Some(0), "{untouched}");
    let after = bench.state();
    assert!(bench.is_complete(scenario, &after), "{scenario:?} is not complete");
    assert!(!scenario.is_exact() || before != after, "{scenario:?} changes nothing");
    let mut failures = Vec::new();
    let mut injected = 0;
    let mut meet = |fault: &Fault| {
        bench.restore();
        let run = bench.run(scenario, Some(fault));
        if run.injected.is_empty() {
            return false;
        }
        injected += 1;
        if let Err(why) = check(&bench, scenario, (&before, &after), &run) {
            failures.push(format!("{fault}: {why}\n{run}"));
        }
        true
    };
    match fault_count() {
        Some(count) => fault::sample(&bench, scenario, count).iter().for_each(|fault| {
            meet(fault);
        }),
        None => fault::every_series(&bench, scenario).for_each(|mut series| {
            while meet(&series) {
                series.number += 1;
            }
        }),
    }
    assert!(injected > 0, "no call of {scenario:?} failed");
    let count = failures.len();
    assert!(failures.is_empty(), "{count} of {injected} faults:\n{}", failures.join("\n"));
}

/// What a fault did to the command and to stored data.
fn check(
    bench: &Bench,
    scenario: Scenario,
    (before, after): (&State, &State),
    run: &InjectedRun,
) -> Result<(), String> {
    run.check_message(scenario)?;
    let now = bench.state();
    now.check_kept(before, after)?;
    bench.check_readable()?;
    let is_complete = bench.is_complete(scenario, after);
    let is_reported = bench.is_reported(scenario) || run.is_impossible();
    if run.code == Some(0) && !is_complete && !is_reported {
        return Err("exit 0, but the work is not done".to_owned());
    }
    if !is_complete {
        let again = bench.run(scenario, None);
        if again.code != Some(0) || !bench.is_complete(scenario, after) {
            return Err(format!("the command does not work again: {again}"));
        }
        bench.state().check_kept(before, after)?;
    }
    bench.check_next_commands()?;
    bench.check_sound()
}

#[test]
#[ignore = "needs strace"]
fn new_loses_nothing() {
    assert_nothing_lost(Scenario::New);
}

#[test]
#[ignore = "needs strace"]
fn revise_loses_nothing() {
    assert_nothing_lost(Scenario::Revise);
}

#[test]
#[ignore = "needs strace"]
fn save_loses_nothing() {
    assert_nothing_lost(Scenario::Save);
}

#[test]
#[ignore = "needs strace"]
fn resolve_loses_nothing() {
    assert_nothing_lost(Scenario::Resolve);
}

#[test]
#[ignore = "needs strace"]
fn task_add_loses_nothing() {
    assert_nothing_lost(Scenario::TaskAdd);
}

#[test]
#[ignore = "needs strace"]
fn sync_loses_nothing() {
    assert_nothing_lost(Scenario::Sync);
}

#[test]
#[ignore = "needs strace"]
fn forget_loses_nothing() {
    assert_nothing_lost(Scenario::Forget);
}

#[test]
#[ignore = "needs strace"]
fn client_add_loses_nothing() {
    assert_nothing_lost(Scenario::ClientAdd);
}

#[test]
#[ignore = "needs strace"]
fn capture_by_a_hook_loses_nothing() {
    assert_nothing_lost(Scenario::Capture);
}
