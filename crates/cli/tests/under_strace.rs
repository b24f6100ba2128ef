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
use fault::{FaultSeries, InjectedRun};
use scenario::Scenario;
use std::sync::Mutex;
use std::thread;

/// How many faults each command meets, or `None` for all of them.
fn fault_count() -> Option<usize> {
    match std::env::var("MIDSTRIDE_FAULTS").ok().as_deref() {
        None => Some(20),
        Some("all") => None,
        Some(number) => Some(number.parse().expect("MIDSTRIDE_FAULTS is a number or `all`")),
    }
}

/// Maximum number of projects in which faults happen at the same time. Most of the time is spent waiting
/// for the lock of a killed git to count as stale.
const WORKERS: usize = 32;

/// Lets calls of a command fail, one at a time, and asserts that nothing is lost.
#[track_caller]
#[expect(clippy::print_stdout, reason = "a long run shows its figures")]
fn assert_nothing_lost(scenario: Scenario) {
    let bench = Bench::new();
    let (series, workers) = match fault_count() {
        Some(count) => (fault::sample(&bench, scenario, count), 1),
        None => (fault::every_series(&bench, scenario), WORKERS),
    };
    let series = Mutex::new(series.into_iter());
    let next = || {
        let mut series = series.lock().unwrap();
        // A long run shows how far it is.
        let left = series.len();
        if left > 0 && left % 50 == 0 {
            println!("{scenario:?}: {left} series left");
        }
        series.next()
    };
    let work = || FaultRuns::of_series(scenario, next);
    let runs: Vec<FaultRuns> = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let injected: usize = runs.iter().map(|runs| runs.injected).sum();
    println!("{scenario:?}: {injected} faults");
    assert!(injected > 0, "no call of {scenario:?} failed");
    let failures: Vec<String> = runs.into_iter().flat_map(|runs| runs.failures).collect();
    let count = failures.len();
    assert!(failures.is_empty(), "{count} of {injected} faults:\n{}", failures.join("\n"));
}

/// The faults that happened in one project.
struct FaultRuns {
    injected: usize,
    failures: Vec<String>,
}

impl FaultRuns {
    /// Lets the calls of each series fail until there is no such call.
    fn of_series(scenario: Scenario, next: impl Fn() -> Option<FaultSeries>) -> Self {
        let bench = Bench::new();
        let before = bench.state();
        assert!(!bench.is_complete(scenario, &before) || scenario.is_exact());
        let untouched = bench.run(scenario, None);
        assert_eq!(untouched.code, Some(0), "{untouched}");
        let after = bench.state();
        assert!(bench.is_complete(scenario, &after), "{scenario:?} is not complete");
        assert!(!scenario.is_exact() || before != after, "{scenario:?} changes nothing");
        let mut runs = Self { injected: 0, failures: Vec::new() };
        while let Some(series) = next() {
            for fault in series.faults() {
                bench.restore();
                let run = bench.run(scenario, Some(&fault));
                if run.injected.is_empty() {
                    break;
                }
                runs.injected += 1;
                if let Err(why) = check(&bench, scenario, (&before, &after), &run) {
                    runs.failures.push(format!("{fault}: {why}\n{run}"));
                }
            }
        }
        runs
    }
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
