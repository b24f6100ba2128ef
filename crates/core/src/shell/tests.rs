//! Command lines as agents type them.

use super::*;

/// The commands of a line, each as its words, with `+` where the line's success says that it passed
/// and `-` where the line's failure says that it failed.
fn check(line: &str, expected: &[&str]) {
    let line_read = Line::read(line);
    let shown: Vec<String> = line_read
        .commands
        .iter()
        .map(|one| {
            let passed = if one.tells.passed { "+" } else { "" };
            let failed = if one.tells.failed { "-" } else { "" };
            format!("{passed}{failed} {}", one.words.join(" "))
        })
        .collect();
    assert_eq!(shown, expected, "{line}");
}

#[test]
fn a_line_is_split_into_simple_commands() {
    check("cargo test", &["+- cargo test"]);
    check("cd /x && make lint 2>&1", &["+ cd /x", "+- make lint"]);
    check("make fmt && make lint", &["+ make fmt", "+ make lint"]);
    check("make lint | tail -5", &[" make lint", "+- tail -5"]);
    check("make lint || true", &["- make lint", "- true"]);
    check("make lint; echo $?", &[" make lint", "+- echo $?"]);
    check("a & b", &[" a", "+- b"]);
    check("(cd x && a); b", &[" cd x", " a", "+- b"]);
    check("set -euo pipefail\na\nb | tail", &["+ set -euo pipefail", "+ a", "+ b", "+ tail"]);
    check("A=1 B='x y' env C=2 timeout -k 5 60 npx -y jest a.test.ts", &["+- jest a.test.ts"]);
    check("python3 -m pytest -x 'tests/a b.py'", &["+- pytest -x tests/a b.py"]);
    check("uv run --with x pytest && bundle exec rspec", &["+ pytest", "+ rspec"]);
    check("bash -lc 'cd x && npm test'", &["+ cd x", "+- npm test"]);
    check("docker compose exec -T app pytest -q", &["+- pytest -q"]);
    check("for f in a b; do cargo test $f; done", &[" cargo test $f"]);
    check("if ! make; then exit 1; fi && ls", &[" make", " exit 1", "+- ls"]);
    check("# a comment\nls # more", &["+- ls"]);
    check("x=$(git log -1) && echo \"$x\"", &[" git log -1", "+ echo $x"]);
    check("echo 'a && b; c' \"d | e\"", &["+- echo a && b; c d | e"]);
    check("a \\\n  --b", &["+- a --b"]);
    check("! grep -q x y", &[" grep -q x y"]);
    check("FOO=bar", &[]);
    check("", &[]);
}

#[test]
fn here_documents_are_read_and_are_no_commands() {
    let line = "git commit -m \"$(cat <<'EOF'\nFix (the) \"cache\"\n\nBody; rm -rf x\nEOF\n)\" && git push";
    let read = Line::read(line);
    assert_eq!(read.commands.len(), 2);
    assert_eq!(read.commands[0].words[3], "Fix (the) \"cache\"\n\nBody; rm -rf x");
    assert_eq!(read.commands[0].text, "git commit -m \"$(cat <<'EOF'…");
    let line = "cat > body.md <<EOF\n- [ ] one\nEOF\ngh pr create --body-file body.md";
    let read = Line::read(line);
    assert_eq!(read.commands[0].stdin.as_deref(), Some("- [ ] one\n"));
    assert_eq!(read.commands[0].output_to.as_deref(), Some("body.md"));
    assert_eq!(read.commands[1].words[..3], ["gh", "pr", "create"]);
}

#[test]
fn folders_filters_and_printed_statuses_are_known() {
    let read = Line::read("cd a && cd ../b && make 2>&1 | grep x | tail -3; echo \"exit: $?\"");
    assert_eq!(read.commands[2].folder.as_deref(), Some("b"));
    assert_eq!(read.commands[2].filters, ["grep x", "tail -3"]);
    assert_eq!(read.commands[2].status_after, None);
    let read = Line::read("make > log 2>&1; echo \"exit: $?\"");
    assert_eq!(read.commands[0].status_after.as_deref(), Some("exit: "));
    let read = Line::read("make | tail; echo ${PIPESTATUS[0]}");
    assert_eq!(read.commands[0].status_after.as_deref(), Some(""));
}

#[test]
fn anything_can_be_read() {
    for text in ["'", "\"$(", "$((", "<<", "a <<EOF", ")", "(((", "`", "ü'ß\\", "&>", "}{", "a=("]
    {
        Line::read(text);
        Line::read(&text.repeat(1000));
    }
}
