//! Finds the lines of an output that best explain a failure.

use super::check_output::output_lines;

/// The maximum number of lines kept.
const LINES_MAX: usize = 3;
/// The maximum length of a kept line, in bytes.
const LINE_BYTES_MAX: usize = 240;

/// Returns the most informative lines of a failure, best first.
pub(crate) fn failure_lines(output: &str) -> Vec<String> {
    let mut found: Vec<(u8, usize, String)> = Vec::new();
    let mut last = None;
    for (at, line) in output_lines(output).enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with("Exit code ") {
            continue;
        }
        let weight = weight(line);
        if weight > 0 {
            found.push((weight, at, line.to_owned()));
        }
        last = Some(line.to_owned());
    }
    let mut picked = pick(found);
    if picked.is_empty() {
        picked.extend(last);
    }
    picked.iter().map(|line| truncate_line(line)).collect()
}

/// Picks the best line, then the best line of another weight (a name needs a location), then the
/// next best.
fn pick(found: Vec<(u8, usize, String)>) -> Vec<String> {
    let mut rest = found;
    rest.sort_by_key(|(weight, at, _)| (u8::MAX - weight, *at));
    rest.dedup_by(|one, other| one.2 == other.2);
    let mut picked: Vec<(u8, usize, String)> = Vec::new();
    while picked.len() < LINES_MAX && !rest.is_empty() {
        let other = match picked.as_slice() {
            [(first, ..)] => rest.iter().position(|(weight, ..)| weight < first && *weight > 2),
            _ => None,
        };
        let next = rest.remove(other.unwrap_or(0));
        if !picked.iter().any(|(_, _, line)| line == &next.2) {
            picked.push(next);
        }
    }
    picked.into_iter().map(|(_, _, line)| line).collect()
}

fn truncate_line(line: &str) -> String {
    if line.len() <= LINE_BYTES_MAX {
        return line.to_owned();
    }
    format!("{}…", &line[..line.floor_char_boundary(LINE_BYTES_MAX)])
}

/// Returns how much a line says about the cause; 0 for nothing.
fn weight(line: &str) -> u8 {
    const NAMES: [&str; 10] = [
        "--- FAIL: ",
        "FAILED ",
        "error[E",
        "CONFLICT (",
        "pull request create failed",
        "! [rejected]",
        "! [remote rejected]",
        "not ok ",
        "panic: ",
        "● ",
    ];
    const WORDS: [&str; 6] =
        ["error: ", "Error: ", "ERROR: ", "fatal: ", "remote: error", "error "];
    const SUMMARIES: [&str; 5] =
        ["make: ***", "npm ERR! ", "test result: FAILED", "BUILD FAILED", "FAIL\t"];
    if NAMES.iter().any(|start| line.starts_with(start)) && line.len() > 10 {
        return 6;
    }
    if line.contains("panicked at") || (line.starts_with("test ") && line.ends_with("FAILED")) {
        return 6;
    }
    if is_exception(line) || line.contains("error TS") || line.starts_with("** (") {
        return 6;
    }
    if is_finding(line) || is_location(line) && !is_frame(line) {
        return 5;
    }
    if line.starts_with("E  ") || line.starts_with(['✗', '×', '✘']) || line.starts_with("FAIL ")
    {
        return 4;
    }
    if WORDS.iter().any(|start| line.starts_with(start)) {
        return 3;
    }
    if SUMMARIES.iter().any(|start| line.starts_with(start)) {
        return 1;
    }
    0
}

/// Whether a line is an exception: `AssertionError: …`, `TypeError: …`,
/// `java.lang.IllegalStateException: …`.
fn is_exception(line: &str) -> bool {
    let line = line.strip_prefix("E ").unwrap_or(line).trim_start();
    let line = line.strip_prefix("Uncaught ").unwrap_or(line);
    let name = line.split(':').next().unwrap_or_default();
    let is_name =
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'$'));
    is_name
        && name.len() > 5
        && name.len() < 80
        && (name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Failure"))
        && line.len() > name.len() + 2
}

/// Whether a line is a Credo finding: `┃ [F] → Function is too complex.`
fn is_finding(line: &str) -> bool {
    let line = line.trim_start_matches(['┃', ' ']);
    let mut parts = line.splitn(3, ' ');
    let kind =
        parts.next().is_some_and(|kind| matches!(kind, "[F]" | "[W]" | "[R]" | "[C]" | "[D]"));
    kind && parts.next().is_some_and(|arrow| matches!(arrow, "↑" | "↗" | "→" | "↘" | "↓"))
}

/// Whether a line is a stack frame, which has a location and no message: `test/queue_test.exs:52:
/// (test)`, `lib/queue.ex:9: Queue.open/1`.
fn is_frame(line: &str) -> bool {
    let Some((_, what)) = line.rsplit_once(": ") else { return false };
    let is_call = what.rsplit_once('/').is_some_and(|(name, arity)| {
        !name.contains(' ') && arity.len() == 1 && arity.bytes().all(|byte| byte.is_ascii_digit())
    });
    is_call || what.starts_with('(') && what.ends_with(')')
}

/// Whether a line is `file:line: message`, `file(line,column): message`, or `file:line:column
/// message`.
fn is_location(line: &str) -> bool {
    let line = line.strip_prefix("--> ").unwrap_or(line);
    let Some((file, rest)) = line.split_once([':', '(']) else { return false };
    let is_file = file.len() < 200
        && !file.contains(' ')
        && !file.starts_with("http")
        && file.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty()
                && !ending.is_empty()
                && ending.len() <= 5
                && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && ending.bytes().any(|byte| byte.is_ascii_alphabetic())
        });
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    is_file && digits > 0 && rest[digits..].starts_with([':', ',', ')', ' '])
}
