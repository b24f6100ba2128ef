//! Determines the result of a check from the output of known tools.

use super::kinds::{CheckKind, CheckResult};
use std::borrow::Cow;

/// The maximum number of bytes read from the start, and from the end, of an output.
const OUTPUT_BYTES_MAX: usize = 64 << 10;
/// The maximum length of a summary line; longer lines are ignored.
const LINE_BYTES_MAX: usize = 400;

/// Returns the lines of an output without colors; only the start and the end of a long one.
pub(super) fn output_lines(output: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let (head, tail) = head_and_tail(output);
    head.lines().chain(tail.lines()).map(strip_escapes)
}

fn head_and_tail(output: &str) -> (&str, &str) {
    if output.len() <= 2 * OUTPUT_BYTES_MAX {
        return (output, "");
    }
    let head = &output[..output.floor_char_boundary(OUTPUT_BYTES_MAX)];
    (head, &output[output.ceil_char_boundary(output.len() - OUTPUT_BYTES_MAX)..])
}

/// Removes escape sequences from a line.
fn strip_escapes(line: &str) -> Cow<'_, str> {
    if !line.as_bytes().contains(&0x1b) {
        return line.trim_end().into();
    }
    let mut text = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            text.push(c);
            continue;
        }
        if chars.next_if_eq(&'[').is_some() {
            // A sequence ends with a letter.
            while chars.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
        }
    }
    text.trim_end().to_owned().into()
}

/// Returns the result of a check of this kind according to its output, or `Unknown` if the output
/// does not say. If other checks ran beside it, `task` is set, and a task failure counts only if it
/// names that task.
pub(super) fn check_result(kind: CheckKind, output: &str, task: Option<&str>) -> CheckResult {
    let mut passed = false;
    for line in output_lines(output) {
        match line_result(kind, &line, task) {
            CheckResult::Failed => return CheckResult::Failed,
            CheckResult::Passed => passed = true,
            CheckResult::Unknown => {}
        }
    }
    if passed { CheckResult::Passed } else { CheckResult::Unknown }
}

/// Whether the output says that the command did not run properly: it does not exist, its arguments
/// are invalid, or it timed out.
pub(super) fn has_not_started(output: &str) -> bool {
    const MARKS: [&str; 16] = [
        "command not found",
        "No module named",
        "Missing script",
        "No rule to make target",
        "unrecognized arguments",
        "unexpected argument",
        "no such command",
        "no such subcommand",
        "unknown option",
        "Unknown option",
        "unknown flag",
        "Unknown command",
        "could not determine executable to run",
        "Command timed out",
        "command timed out",
        "is not recognized as",
    ];
    let start = &output[..output.floor_char_boundary(2_000.min(output.len()))];
    MARKS.iter().any(|mark| start.contains(mark))
}

/// Whether a line is the failure message of a task runner, whatever the task is.
fn task_failed(line: &str) -> bool {
    const STARTS: [&str; 12] = [
        "make: ***",
        "gmake: ***",
        "npm ERR!",
        "npm error",
        "error: Recipe `",
        "task: Failed to run task",
        "error: script \"",
        "error Command failed with exit code",
        "rake aborted!",
        "FAILURE: Build failed",
        "BUILD FAILED",
        "ninja: build stopped",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
        || line.contains("ERROR task failed")
        || line.contains("ELIFECYCLE")
        || line.contains("BUILD FAILURE")
        || (line.starts_with("make[") && line.contains("]: *** "))
}

fn line_result(kind: CheckKind, line: &str, task: Option<&str>) -> CheckResult {
    if line.is_empty() || line.len() > LINE_BYTES_MAX {
        return CheckResult::Unknown;
    }
    let trimmed = line.trim_start();
    if task_failed(trimmed) {
        let is_it = task.is_none_or(|task| !task.is_empty() && names_task(trimmed, task));
        return if is_it { CheckResult::Failed } else { CheckResult::Unknown };
    }
    let by_words = match kind {
        CheckKind::Test => test(line, trimmed),
        CheckKind::Lint => lint(trimmed),
        CheckKind::Types => types(trimmed),
        CheckKind::Build => build(trimmed),
        CheckKind::Script => CheckResult::Unknown,
    };
    if by_words != CheckResult::Unknown || kind == CheckKind::Script {
        return by_words;
    }
    counted_result(kind, trimmed)
}

/// Whether a line names a task: `[lint] ERROR task failed`, `make: *** [Makefile:9: lint] Error 1`.
fn names_task(line: &str, task: &str) -> bool {
    line.split(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '`' | '"' | '(' | ')'))
        .any(|word| word == task)
}

fn first_of(line: &str, failed: &[&str], passed: &[&str]) -> CheckResult {
    if failed.iter().any(|mark| line.starts_with(mark)) {
        return CheckResult::Failed;
    }
    match passed.iter().any(|mark| line.starts_with(mark)) {
        true => CheckResult::Passed,
        false => CheckResult::Unknown,
    }
}

fn test(line: &str, trimmed: &str) -> CheckResult {
    const FAILED: [&str; 20] = [
        "--- FAIL",
        "FAIL\t",
        "FAIL ",
        "FAILED ",
        "test result: FAILED",
        "error: test failed",
        "error: could not compile",
        "error[E",
        "FAILURES!",
        "ERRORS!",
        "not ok ",
        "** TEST FAILED **",
        "Some tests failed",
        "Failed!  - Failed",
        "Test Run Failed",
        "evaluation failed :(",
        "INTERNALERROR",
        "thread 'main' panicked",
        "[build failed]",
        "panic: ",
    ];
    const PASSED: [&str; 11] = [
        "ok  \t",
        "ok \t",
        "test result: ok",
        "OK (",
        "All tests passed",
        "100% tests passed",
        "** TEST SUCCEEDED **",
        "Passed!  - Failed:     0",
        "Test Run Successful",
        "congratulations :)",
        "ok | ",
    ];
    match line {
        "FAIL" => return CheckResult::Failed,
        "PASS" | "OK" => return CheckResult::Passed,
        _ => {}
    }
    if trimmed.contains("[build failed]") || trimmed.contains("[setup failed]") {
        return CheckResult::Failed;
    }
    first_of(trimmed, &FAILED, &PASSED)
}

fn lint(line: &str) -> CheckResult {
    const PASSED: [&str; 8] = [
        "0 issues.",
        "All checks passed!",
        "All matched files use Prettier",
        "No issues found",
        "Success: no issues found",
        "Finished `",
        "Finished dev",
        "no issues found",
    ];
    const FAILED: [&str; 7] = [
        "would reformat ",
        "[warn] Code style issues",
        "error[E",
        "error: could not compile",
        "Diff in ",
        "error: ",
        "Would reformat",
    ];
    if line.contains("mods/funs, found ") {
        let is_clean = line.ends_with(", found no issues.");
        return if is_clean { CheckResult::Passed } else { CheckResult::Failed };
    }
    if line.contains("files would be left unchanged") && !line.contains("would be reformatted") {
        return CheckResult::Passed;
    }
    if line.ends_with("....Failed") {
        return CheckResult::Failed;
    }
    first_of(line, &FAILED, &PASSED)
}

fn types(line: &str) -> CheckResult {
    if line.contains("error TS") || line.contains(": error: ") {
        return CheckResult::Failed;
    }
    first_of(
        line,
        &["error[E", "done (warnings were emitted)"],
        &["Success: no issues found", "Found 0 errors", "done (passed successfully)"],
    )
}

fn build(line: &str) -> CheckResult {
    const FAILED: [&str; 8] = [
        "error[E",
        "error: could not compile",
        "error: aborting",
        "Build FAILED",
        "Failed to compile",
        "** BUILD FAILED **",
        "Build failed",
        "collect2: error",
    ];
    const PASSED: [&str; 9] = [
        "Finished `",
        "Finished dev",
        "Finished release",
        "BUILD SUCCESS",
        "[INFO] BUILD SUCCESS",
        "Build succeeded",
        "Build complete!",
        "✓ Compiled successfully",
        "** BUILD SUCCEEDED **",
    ];
    if line.contains("error TS") || line.contains(": error: ") || line.contains(": fatal error:") {
        return CheckResult::Failed;
    }
    if line.contains("✓ built in ") {
        return CheckResult::Passed;
    }
    first_of(line, &FAILED, &PASSED)
}

/// Whether a line may be a summary with numbers. Most lines are not, so they are not split into
/// words.
fn may_count(kind: CheckKind, line: &str) -> bool {
    let names: &[&str] = match kind {
        CheckKind::Test => &["fail", "Fail", "pass", "error", "tests", "examples"],
        CheckKind::Lint | CheckKind::Types => {
            let is_summary = line.starts_with("Found ")
                || line.starts_with(['✖', '✘'])
                || line.ends_with("issues:")
                || line.ends_with("warnings")
                || line.ends_with("informations")
                || line.contains("offense");
            return is_summary;
        }
        CheckKind::Build | CheckKind::Script => return false,
    };
    line.bytes().any(|byte| byte.is_ascii_digit()) && names.iter().any(|name| line.contains(name))
}

/// Returns the result from a summary with numbers: `3 failed, 5 passed`, `✖ 3 problems (1 error, 2
/// warnings)`.
fn counted_result(kind: CheckKind, line: &str) -> CheckResult {
    if !may_count(kind, line) {
        return CheckResult::Unknown;
    }
    let words: Vec<&str> = line
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(24)
        .collect();
    let number_at = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let at = |names: &[&str]| -> Vec<usize> {
        let is_named = |word: &str| names.iter().any(|name| name.eq_ignore_ascii_case(word));
        words.iter().enumerate().filter(|(_, word)| is_named(word)).map(|(at, _)| at).collect()
    };
    let before =
        |names: &[&str]| at(names).into_iter().find_map(|at| number_at(at.checked_sub(1)?));
    let after = |names: &[&str]| at(names).into_iter().find_map(|at| number_at(at + 1));
    match kind {
        CheckKind::Test => {
            let failed = before(&["failed", "failing", "failures", "failure", "fail"])
                .or_else(|| after(&["failures", "failed"]))
                .or_else(|| node_count(line, "fail"));
            let errors = before(&["error", "errors"]).filter(|_| line.contains(" in "));
            let passed = before(&["passed", "passing", "pass", "tests", "examples"])
                .filter(|_| counts_passed_only(line))
                .or_else(|| node_count(line, "pass"));
            if failed.unwrap_or(0) + errors.unwrap_or(0) > 0 {
                return CheckResult::Failed;
            }
            if passed.unwrap_or(0) > 0 { CheckResult::Passed } else { CheckResult::Unknown }
        }
        CheckKind::Lint | CheckKind::Types => {
            let wrong = before(&["error", "errors"])
                .or_else(|| before(&["problem", "problems", "issue", "issues", "offenses"]));
            match wrong {
                Some(0) => CheckResult::Passed,
                Some(_) => CheckResult::Failed,
                None if line.contains("no offenses") => CheckResult::Passed,
                None => CheckResult::Unknown,
            }
        }
        CheckKind::Build | CheckKind::Script => CheckResult::Unknown,
    }
}

/// Returns the count from `# pass 5` or `ℹ fail 0`, as Node prints them.
fn node_count(line: &str, name: &str) -> Option<u64> {
    let rest = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "))?;
    rest.strip_prefix(name)?.trim().parse().ok()
}

/// Whether a line counts passed tests rather than all tests.
fn counts_passed_only(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    lower.contains("pass") || lower.contains(", 0 failures") || lower.contains("with 0 failures")
}
