//! Faults: which call of which process fails, and what the command did then.

use super::bench::Bench;
use super::scenario::Scenario;
use midstride_testkit::Random;
use std::collections::BTreeMap;
use std::fmt;

/// The calls that fail, grouped by what they do. A question mark allows a name that the machine does
/// not have.
pub(super) const CALLS: [&str; 11] = [
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "?rename,renameat,renameat2",
    "openat",
    "openat2",
    "?link,linkat",
    "?unlink,unlinkat",
    "?mkdir,mkdirat",
    "ftruncate",
];
const ERRORS: [&str; 2] = ["EIO", "ENOSPC"];
/// The seed of the sample, so that it is the same in every run.
const SEED: u64 = 16;

/// Which process has the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The program, and every process that it starts, each with its own count.
    Program,
    /// One call of git, counted from 1, and what it starts.
    Git(usize),
}

/// One call that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) target: Target,
    pub(super) calls: &'static str,
    pub(super) error: &'static str,
    /// The number of the call in its process, counted from 1.
    pub(super) number: usize,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, calls, error, number } = self;
        write!(f, "{target:?}: {calls} {number} fails with {error}")
    }
}

impl Fault {
    /// The options of `strace`.
    pub(super) fn options(&self) -> [String; 4] {
        let Self { calls, error, number, .. } = self;
        let inject = format!("inject={calls}:error={error}:when={number}");
        // The first call that is logged names the process of the program.
        ["-e".to_owned(), format!("trace=execve,{calls}"), "-e".to_owned(), inject]
    }
}

/// What a command did while a call failed.
#[derive(Debug)]
pub(super) struct InjectedRun {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// The calls that failed, as `strace` logs them.
    pub(super) injected: Vec<String>,
    /// The calls of the program itself that failed, without the processes that it started.
    pub(super) own: Vec<String>,
}

impl fmt::Display for InjectedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  exit {:?}", self.code)?;
        let texts = [("stdout", &self.stdout), ("stderr", &self.stderr)];
        for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            let short: String = text.trim_end().chars().take(600).collect();
            writeln!(f, "  {name}: {}", short.replace('\n', "\n    "))?;
        }
        self.injected.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

impl InjectedRun {
    /// Whether a pipe between processes failed, which no disk can cause. Git does not report it.
    pub(super) fn is_impossible(&self) -> bool {
        let is_pipe = |line: &&String| line.contains("<pipe:") && !self.own.contains(line);
        self.injected.iter().any(|line| is_pipe(&line))
    }

    /// Checks the exit code and that the message is clear.
    pub(super) fn check_message(&self, scenario: Scenario) -> Result<(), String> {
        if self.stderr.contains("panicked") {
            return Err("it panicked".to_owned());
        }
        // The dynamic linker found no library: the program did not start.
        let has_started = !self.stderr.contains("error while loading shared libraries");
        let is_told =
            |file: &str| self.own.iter().any(|line| line.contains(&format!(" write({file}<")));
        match self.code {
            None => Err("a signal killed it".to_owned()),
            Some(127) if !has_started => Ok(()),
            Some(0) if scenario != Scenario::Capture && is_told("1") => {
                Err("exit 0, but the output was not printed".to_owned())
            }
            Some(0) => Ok(()),
            Some(code) if scenario == Scenario::Capture => Err(format!("a hook exits with {code}")),
            // A warning names what is left to do.
            Some(1) if self.stderr.contains("warning: ") => Ok(()),
            Some(1 | 2) if self.stderr.contains("error: ") || is_told("2") => Ok(()),
            Some(1 | 2) => Err("no error message".to_owned()),
            Some(code) => Err(format!("exit {code}")),
        }
    }
}

/// The targets of a command: the program, and each git that it starts.
fn targets(bench: &Bench, scenario: Scenario) -> Vec<Target> {
    let gits = (1..=bench.count_gits(scenario)).map(Target::Git);
    std::iter::once(Target::Program).chain(gits).collect()
}

/// Faults that differ in the number of the call. A series is over when a number is not reached.
pub(super) struct FaultSeries {
    first: Fault,
    last: usize,
}

impl FaultSeries {
    /// The faults, up to the last number.
    pub(super) fn faults(&self) -> impl Iterator<Item = Fault> {
        let first = self.first;
        (first.number..=self.last).map(move |number| Fault { number, ..first })
    }
}

/// The series of every call. The long ones are cut into several, because they run at the same time.
pub(super) fn every_series(bench: &Bench, scenario: Scenario) -> Vec<FaultSeries> {
    const LENGTH: usize = 16;
    let mut series = Vec::new();
    for target in targets(bench, scenario) {
        let counted = most_calls(&bench.trace(scenario, target));
        for (calls, error) in CALLS.into_iter().flat_map(|calls| ERRORS.map(|error| (calls, error)))
        {
            let most = counted.iter().find(|(name, _)| *name == calls).map_or(0, |(_, most)| *most);
            let mut number = 1;
            let fault = |number| Fault { target, calls, error, number };
            while number <= most {
                series.push(FaultSeries { first: fault(number), last: number + LENGTH - 1 });
                number += LENGTH;
            }
            // The faults may lead to more calls than an untouched run has.
            series.push(FaultSeries { first: fault(number), last: usize::MAX });
        }
    }
    series
}

/// A number of faults, spread over the targets and the kinds of calls.
pub(super) fn sample(bench: &Bench, scenario: Scenario, count: usize) -> Vec<FaultSeries> {
    let mut random = Random::seeded(SEED);
    let counted: Vec<(Target, Vec<(&'static str, usize)>)> = targets(bench, scenario)
        .into_iter()
        .map(|target| (target, most_calls(&bench.trace(scenario, target))))
        .collect();
    let (program, gits) = counted.split_first().expect("the program is a target");
    let mut chosen = Vec::new();
    for index in 0..count {
        // Every fourth fault is in a git, if there is one.
        let from_git =
            (index % 4 == 3 && !gits.is_empty()).then(|| &gits[random.below(gits.len())]);
        let (target, calls) = from_git.unwrap_or(program);
        let (calls, most) = random.pick(calls);
        let number = 1 + random.below(most);
        let fault = Fault { target: *target, calls, error: random.pick(&ERRORS), number };
        chosen.push(FaultSeries { first: fault, last: number });
    }
    chosen
}

/// For each group of calls, how many of them the busiest process makes.
fn most_calls(log: &str) -> Vec<(&'static str, usize)> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in log.lines() {
        let Some((process, call)) = line.split_once(' ') else { continue };
        let Some((name, _)) = call.trim_start().split_once('(') else { continue };
        *counts.entry((process, name)).or_default() += 1;
    }
    let most = |calls: &str| {
        let names: Vec<&str> = calls.trim_start_matches('?').split(',').collect();
        let counts = counts.iter().filter(|((_, name), _)| names.contains(name));
        counts.map(|(_, count)| *count).max().unwrap_or_default()
    };
    CALLS.into_iter().map(|calls| (calls, most(calls))).filter(|(_, most)| *most > 0).collect()
}
