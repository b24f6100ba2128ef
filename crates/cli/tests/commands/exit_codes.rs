//! Exit codes are equal everywhere: 0 success, 1 something was found or nothing matched, 2 could not
//! run.

use super::shop;

#[test]
fn exit_codes_are_the_same_for_every_command() {
    let sandbox = shop();
    let table: [(i32, &[&str]); 30] = [
        (0, &["help"]),
        (0, &["--version"]),
        (0, &["status"]),
        (0, &["list"]),
        (0, &["list", "--graph"]),
        (0, &["show", "market"]),
        (0, &["search", "companies"]),
        (0, &["task", "list"]),
        (0, &["explain", "S003"]),
        (0, &["schema"]),
        (0, &["trust", "--list"]),
        (1, &["list", "--status", "superseded"]),
        (1, &["search", "zeppelin"]),
        (1, &["search", "--prompt", "zeppelin"]),
        (1, &["check", "market", "--fail-on", "hint"]),
        (1, &["verify", "market"]),
        (1, &["config", "get", "capture.only"]),
        (2, &["advance", "feat-042", "--to", "brief"]),
        (2, &["show", "zeppelin"]),
        (2, &["list", "--graph", "zeppelin"]),
        (2, &["search"]),
        (2, &["resolve", "login-loop", "--outcome", "x"]),
        (2, &["reopen", "market"]),
        (2, &["edit", "market", "--body", "missing.md", "--reason", "x"]),
        (2, &["session", "show", "zeppelin"]),
        (2, &["session", "capture"]),
        (2, &["task", "show", "t-zzz"]),
        (2, &["explain", "S99"]),
        (2, &["list", "--no-such-option"]),
        (2, &["no-such-command"]),
    ];
    let wrong: Vec<String> = table
        .iter()
        .map(|(code, words)| (code, words, sandbox.run(words.iter())))
        .filter(|(code, _, run)| run.code != Some(**code))
        .map(|(code, words, run)| format!("{words:?} should exit {code}: {run}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
