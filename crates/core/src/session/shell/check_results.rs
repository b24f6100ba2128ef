//! Determines the result of each check on a command line that ran.

use super::check::Check;
use super::check_output;
use super::failure_lines::failure_lines;
use super::kinds::{CheckKind, CheckResult};
use super::lex::StderrTarget;
use super::line::{ShellLine, SimpleCommand};

/// The exit status of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineStatus {
    /// It exited with status 0.
    Passed,
    /// It exited with another status, if known.
    Failed(Option<i64>),
}

/// A check of a line, with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckedCommand {
    /// The kind of check.
    pub kind: CheckKind,
    /// The simple command, as typed.
    pub command: String,
    /// The folder that `cd` changed to before it.
    pub folder: Option<String>,
    /// Its result.
    pub result: CheckResult,
    /// The most informative lines of a failure.
    pub why: Vec<String>,
}

/// Returns the checks of a line, each with its result.
pub(crate) fn check_results(
    line: &ShellLine,
    ended: LineStatus,
    output: &str,
) -> Vec<CheckedCommand> {
    let mut found: Vec<(usize, Check, CheckResult)> = Vec::new();
    for (at, command) in line.commands.iter().enumerate() {
        for check in Check::all_from_command(command) {
            found.push((at, check, CheckResult::Unknown));
        }
    }
    let parts = output_parts(line, output);
    let beside: Vec<(usize, CheckKind)> =
        found.iter().map(|(at, check, _)| (parts[*at].first, check.kind)).collect();
    for (at, check, result) in &mut found {
        let part = &parts[*at];
        let of_part = || beside.iter().filter(|(first, _)| *first == part.first);
        let printed = CheckOutput {
            text: part.text,
            is_one_of_kind: of_part().filter(|(_, kind)| *kind == check.kind).count() == 1,
            task: (of_part().count() > 1).then(|| check.task()),
            is_silent: check.is_silent() && part.commands == 1,
        };
        *result = result_of(&line.commands[*at], check.kind, ended, &printed);
    }
    infer_from_chain(line, ended, &mut found);
    let show = |(at, check, result): (usize, Check, CheckResult)| {
        let command = &line.commands[at];
        let is_failed = result == CheckResult::Failed;
        CheckedCommand {
            kind: check.kind,
            command: command.text.clone(),
            folder: command.folder.clone(),
            result,
            why: if is_failed { failure_lines(parts[at].text) } else { Vec::new() },
        }
    };
    found.into_iter().map(show).collect()
}

/// Infers results in `a && b && c`: if one command ran, those before it passed; if one failed,
/// those after it never ran.
fn infer_from_chain(
    line: &ShellLine,
    ended: LineStatus,
    found: &mut Vec<(usize, Check, CheckResult)>,
) {
    if ended == LineStatus::Passed {
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

/// The output of the commands between two `echo`s.
#[derive(Clone, Copy)]
struct OutputPart<'o> {
    text: &'o str,
    /// The index of its first command on the line.
    first: usize,
    /// The number of commands that may have printed it.
    commands: usize,
}

/// Returns the part of the output that each command printed. A line printed by `echo` between two
/// commands separates their output, unless stderr may appear elsewhere.
fn output_parts<'o>(line: &ShellLine, output: &'o str) -> Vec<OutputPart<'o>> {
    let mut parts = Vec::with_capacity(line.commands.len());
    let (mut rest, mut first) = (output, 0);
    let prints = |one: &&SimpleCommand| !one.is_filter && !matches!(one.program(), "cd" | "echo");
    let mut close = |text: &'o str, from: usize, to: usize| {
        let commands = line.commands[from..to].iter().filter(prints).count();
        parts.resize(to, OutputPart { text, first: from, commands });
    };
    for (at, command) in line.commands.iter().enumerate() {
        if prints(&command) && command.errors == StderrTarget::Beside {
            break;
        }
        if let Some((before, after)) = printed_line(command).and_then(|text| split_at(rest, &text))
        {
            close(before, first, at + 1);
            (rest, first) = (after, at + 1);
        }
    }
    close(rest, first, line.commands.len());
    parts
}

/// Returns the line that a plain `echo "--- lint ---"` prints.
fn printed_line(command: &SimpleCommand) -> Option<String> {
    let is_plain = command.program() == "echo"
        && !command.is_nested
        && command.filters.is_empty()
        && command.output_to.is_none();
    let text = is_plain.then(|| command.args().join(" "))?;
    (!text.trim().is_empty() && !text.contains(['$', '`', '\\', '\n'])).then_some(text)
}

/// Splits an output at a line that occurs exactly once.
fn split_at<'o>(output: &'o str, line: &str) -> Option<(&'o str, &'o str)> {
    let mut found = None;
    let mut at = 0;
    for one in output.split_inclusive('\n') {
        if one.trim_end() == line.trim_end() {
            if found.is_some() {
                return None;
            }
            found = Some((&output[..at], &output[at + one.len()..]));
        }
        at += one.len();
    }
    found
}

/// The output of a check, and what else may have printed it.
struct CheckOutput<'c> {
    text: &'c str,
    is_one_of_kind: bool,
    /// The name of the task, if other checks ran beside it.
    task: Option<&'c str>,
    /// Whether the check ran alone and prints nothing when it passes.
    is_silent: bool,
}

fn result_of(
    command: &SimpleCommand,
    kind: CheckKind,
    ended: LineStatus,
    printed: &CheckOutput<'_>,
) -> CheckResult {
    let output = printed.text;
    match ended {
        LineStatus::Passed if command.implied_by_status.passed => return CheckResult::Passed,
        LineStatus::Failed(code) if command.implied_by_status.failed => {
            let says = check_output::check_result(kind, output, printed.task);
            let did_not_run = matches!(code, Some(124 | 126 | 127 | 130 | 137 | 143))
                || check_output::has_not_started(output)
                || (says != CheckResult::Failed && cd_failed(output));
            let is_test_failure = says == CheckResult::Failed && kind == CheckKind::Test;
            return match did_not_run && !is_test_failure {
                true => CheckResult::Unknown,
                false => CheckResult::Failed,
            };
        }
        LineStatus::Passed | LineStatus::Failed(_) => {}
    }
    if let Some(status) = printed_status(command, output) {
        return if status == 0 { CheckResult::Passed } else { CheckResult::Failed };
    }
    if printed.is_silent && ended == LineStatus::Passed && shows_all(command, output) {
        let is_empty = !output.lines().any(|line| !is_client_line(line) && !line.trim().is_empty());
        if is_empty {
            return CheckResult::Passed;
        }
    }
    // The results of two checks of one kind cannot be distinguished in one output.
    if !printed.is_one_of_kind {
        return CheckResult::Unknown;
    }
    match check_output::check_result(kind, output, printed.task) {
        CheckResult::Passed if !shows_failures(command, output) => CheckResult::Unknown,
        CheckResult::Passed
            if matches!(ended, LineStatus::Failed(_)) && kind != CheckKind::Test =>
        {
            CheckResult::Unknown
        }
        result @ (CheckResult::Passed | CheckResult::Failed | CheckResult::Unknown) => result,
    }
}

/// Whether Claude Code added a line to the output.
fn is_client_line(line: &str) -> bool {
    line.starts_with("Shell cwd was reset to ")
}

fn cd_failed(output: &str) -> bool {
    output.lines().take(3).any(|line| line.contains("cd: "))
}

/// Returns the number that `echo "exit: $?"` printed.
fn printed_status(command: &SimpleCommand, output: &str) -> Option<i64> {
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

/// Whether the output contains everything that a command printed.
fn shows_all(command: &SimpleCommand, output: &str) -> bool {
    let shows = |filter: &String| match filter.split_whitespace().next() {
        Some("tail" | "tee" | "cat") => true,
        Some("head") => is_within_head(filter, output),
        _ => false,
    };
    let is_shown =
        command.errors != StderrTarget::Hidden && command.output_to.is_none() && !command.is_nested;
    is_shown && command.filters.iter().all(shows)
}

/// Whether a failure would still show after the filters.
fn shows_failures(command: &SimpleCommand, output: &str) -> bool {
    let shows = |filter: &String| {
        let program = filter.split_whitespace().next().unwrap_or_default();
        let lower = filter.to_ascii_lowercase();
        match program {
            "tail" | "tee" | "cat" | "sort" => true,
            "head" => is_within_head(filter, output),
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

/// Whether `head` had fewer lines than its limit, so that it cut nothing.
fn is_within_head(filter: &str, output: &str) -> bool {
    let lines_max = match filter.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["head"] => Some(10),
        ["head", "-n" | "--lines", count] => count.parse().ok(),
        ["head", option] => {
            let count = option.trim_start_matches("--lines=").trim_start_matches("-n");
            count.trim_start_matches('-').parse().ok()
        }
        _ => None,
    };
    lines_max.is_some_and(|lines_max: usize| output.lines().count() < lines_max)
}
