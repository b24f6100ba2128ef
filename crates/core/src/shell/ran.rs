//! What a line that ran says about each of its checks.

use super::check::Check;
use super::kinds::{CheckKind, CheckResult};
use super::line::{Line, Simple};
use super::marks;
use super::why::why;

/// How a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With status 0.
    Passed,
    /// With another status, which may be known.
    Failed(Option<i64>),
}

/// A check of a line, with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What it checks.
    pub kind: CheckKind,
    /// The simple command, as typed.
    pub command: String,
    /// The folder that `cd` went to before it.
    pub folder: Option<String>,
    /// How it ended.
    pub result: CheckResult,
    /// The most telling lines of a failure.
    pub why: Vec<String>,
}

/// The checks of a line, each with its result.
pub fn checks(line: &Line, ended: Ended, output: &str) -> Vec<Checked> {
    let mut found: Vec<(usize, Check, CheckResult)> = Vec::new();
    for (at, command) in line.commands.iter().enumerate() {
        for check in Check::all_of(command) {
            found.push((at, check, CheckResult::Unknown));
        }
    }
    let kinds: Vec<CheckKind> = found.iter().map(|(_, check, _)| check.kind).collect();
    for (at, check, result) in &mut found {
        let beside = Beside {
            is_one_of_kind: kinds.iter().filter(|kind| **kind == check.kind).count() == 1,
            task: (kinds.len() > 1).then(|| check.task()),
        };
        *result = result_of(&line.commands[*at], check.kind, ended, output, &beside);
    }
    infer_from_chain(line, ended, &mut found);
    let show = |(at, check, result): (usize, Check, CheckResult)| {
        let command = &line.commands[at];
        let is_failed = result == CheckResult::Failed;
        Checked {
            kind: check.kind,
            command: command.text.clone(),
            folder: command.folder.clone(),
            result,
            why: if is_failed { why(output) } else { Vec::new() },
        }
    };
    found.into_iter().map(show).collect()
}

/// In `a && b && c`, whatever stands before one that ran has passed, and what stands behind one that
/// failed never ran.
fn infer_from_chain(line: &Line, ended: Ended, found: &mut Vec<(usize, Check, CheckResult)>) {
    if ended == Ended::Passed {
        return;
    }
    let is_failed = |(at, _, result): &(usize, Check, CheckResult)| {
        (*result == CheckResult::Failed && !line.commands[*at].is_nested)
            .then(|| (*at, line.commands[*at].chain))
    };
    let Some((failed_at, chain)) = found.iter().find_map(is_failed) else { return };
    found.retain(|(at, ..)| *at <= failed_at || line.commands[*at].chain != chain);
    for (at, _, result) in found {
        let command = &line.commands[*at];
        let ran_first = *at < failed_at && command.chain == chain;
        if ran_first && command.filters.is_empty() && !command.is_nested {
            *result = CheckResult::Passed;
        }
    }
}

/// What else ran on the line.
struct Beside<'c> {
    is_one_of_kind: bool,
    /// The name of the task, where others ran beside it.
    task: Option<&'c str>,
}

fn result_of(
    command: &Simple,
    kind: CheckKind,
    ended: Ended,
    output: &str,
    beside: &Beside<'_>,
) -> CheckResult {
    match ended {
        Ended::Passed if command.tells.passed => return CheckResult::Passed,
        Ended::Failed(code) if command.tells.failed => {
            let says = marks::result(kind, output, beside.task);
            let did_not_run = matches!(code, Some(124 | 126 | 127 | 130 | 137 | 143))
                || marks::did_not_run(output)
                || (says != CheckResult::Failed && cd_failed(output));
            let is_test_failure = says == CheckResult::Failed && kind == CheckKind::Test;
            return match did_not_run && !is_test_failure {
                true => CheckResult::Unknown,
                false => CheckResult::Failed,
            };
        }
        Ended::Passed | Ended::Failed(_) => {}
    }
    if let Some(status) = printed_status(command, output) {
        return if status == 0 { CheckResult::Passed } else { CheckResult::Failed };
    }
    // The marks of two checks of one kind cannot be told apart.
    if !beside.is_one_of_kind {
        return CheckResult::Unknown;
    }
    match marks::result(kind, output, beside.task) {
        CheckResult::Passed if !shows_failures(command) => CheckResult::Unknown,
        CheckResult::Passed if matches!(ended, Ended::Failed(_)) && kind != CheckKind::Test => {
            CheckResult::Unknown
        }
        result @ (CheckResult::Passed | CheckResult::Failed | CheckResult::Unknown) => result,
    }
}

fn cd_failed(output: &str) -> bool {
    output.lines().take(3).any(|line| line.contains("cd: "))
}

/// The number that `echo "exit: $?"` printed.
fn printed_status(command: &Simple, output: &str) -> Option<i64> {
    let before = command.status_after.as_deref()?;
    let status = |line: &str| {
        let rest = line.trim().strip_prefix(before.trim_start())?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if before.trim().is_empty() && digits != rest.len() {
            return None;
        }
        rest[..digits].parse::<i64>().ok()
    };
    output.lines().rev().take(40).find_map(status)
}

/// Whether a failure would be seen in what the filters leave of the output.
fn shows_failures(command: &Simple) -> bool {
    let shows = |filter: &String| {
        let program = filter.split_whitespace().next().unwrap_or_default();
        let lower = filter.to_ascii_lowercase();
        match program {
            "tail" | "tee" | "cat" | "sort" => true,
            "grep" | "rg" | "egrep" => {
                !lower.contains(" -v")
                    && ["fail", "test result", "tests:", "passed", "error", "issues"]
                        .iter()
                        .any(|word| lower.contains(word))
            }
            _ => false,
        }
    };
    command.filters.iter().all(shows)
}
