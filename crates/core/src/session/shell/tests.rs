//! Tests with command lines as agents type them.

use super::*;
use crate::text::id::CommitId;

/// Checks the commands of a line, each shown as its words, with `+` if the line's success means
/// that it passed and `-` if the line's failure means that it failed.
fn check(line: &str, expected: &[&str]) {
    let line_read = ShellLine::parse(line);
    let shown: Vec<String> = line_read
        .commands
        .iter()
        .map(|one| {
            let passed = if one.implied_by_status.passed { "+" } else { "" };
            let failed = if one.implied_by_status.failed { "-" } else { "" };
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
    check("eval 'cd x && npm test'", &["+ cd x", "+- npm test"]);
    check("docker compose exec -T app pytest -q", &["+- pytest -q"]);
    check("for f in a b; do cargo test $f; done", &[" cargo test $f"]);
    check("if ! make; then exit 1; fi && ls", &[" make", " exit 1", "+- ls"]);
    check("# a comment\nls # more", &["+- ls"]);
    check("x=$(git log -1) && echo \"$x\"", &[" git log -1", "+ echo $x"]);
    check("echo 'a && b; c' \"d | e\"", &["+- echo a && b; c d | e"]);
    check("a \\\n  --b", &["+- a --b"]);
    check("! grep -q x y", &[" grep -q x y"]);
    check("make fmt) && make lint", &[" make fmt", "+- make lint"]);
    check("FOO=bar", &[]);
    check("a-b=c make", &["+- a-b=c make"]);
    check("2A=b make", &["+- 2A=b make"]);
    check("", &[]);
}

#[test]
fn here_documents_are_parsed_and_not_run_as_commands() {
    let line = "git commit -m \"$(cat <<'EOF'\nFix (the) \"cache\"\n\nBody; rm -rf x\nEOF\n)\" && git push";
    let read = ShellLine::parse(line);
    assert_eq!(read.commands.len(), 2);
    assert_eq!(read.commands[0].words[3], "Fix (the) \"cache\"\n\nBody; rm -rf x");
    assert_eq!(read.commands[0].text, "git commit -m \"$(cat <<'EOF'…");
    let line = "cat > body.md <<EOF\n- [ ] one\nEOF\ngh pr create --body-file body.md";
    let read = ShellLine::parse(line);
    assert_eq!(read.commands[0].stdin.as_deref(), Some("- [ ] one\n"));
    assert_eq!(read.commands[0].output_to.as_deref(), Some("body.md"));
    assert_eq!(read.commands[1].words[..3], ["gh", "pr", "create"]);
}

#[test]
fn folders_filters_and_printed_statuses_are_recorded() {
    let read =
        ShellLine::parse("cd a && cd ../b && make 2>&1 | grep x | tail -3; echo \"exit: $?\"");
    assert_eq!(read.commands[2].folder.as_deref(), Some("b"));
    assert_eq!(read.commands[2].filters, ["grep x", "tail -3"]);
    assert_eq!(read.commands[2].status_after, None);
    let read = ShellLine::parse("make > log 2>&1; echo \"exit: $?\"");
    assert_eq!(read.commands[0].status_after.as_deref(), Some("exit: "));
    let read = ShellLine::parse("make | tail; echo ${PIPESTATUS[0]}");
    assert_eq!(read.commands[0].status_after.as_deref(), Some(""));
}

#[test]
fn any_text_parses_without_a_panic() {
    for text in ["'", "\"$(", "$((", "<<", "a <<EOF", ")", "(((", "`", "ü'ß\\", "&>", "}{", "a=("]
    {
        ShellLine::parse(text);
        ShellLine::parse(&text.repeat(1000));
    }
}

/// Returns the kind of the first check on a line.
fn kind(line: &str) -> Option<CheckKind> {
    Check::parse_line(line).first().map(|check| check.kind)
}

#[test]
fn checks_are_recognized_by_their_command() {
    use CheckKind::{Build, Lint, Script, Test, Types};
    let table = [
        (Test, "cargo test --workspace"),
        (Test, "cargo +nightly nextest run"),
        (Test, "go test ./... -run X"),
        (Test, "python -m pytest -x"),
        (Test, "poetry run pytest"),
        (Test, "python3 manage.py test shop"),
        (Test, "python -m unittest discover"),
        (Test, "npm test"),
        (Test, "npm run test:ci"),
        (Test, "pnpm --filter web test"),
        (Test, "yarn workspace api test:unit"),
        (Test, "bun test"),
        (Test, "npx playwright test"),
        (Test, "./node_modules/.bin/jest a"),
        (Test, "make test"),
        (Test, "just test-all"),
        (Test, "mise run test:integration"),
        (Test, "task check"),
        (Test, "./gradlew :app:testDebugUnitTest"),
        (Test, "mvn -q verify"),
        (Test, "dotnet test"),
        (Test, "swift test --filter A"),
        (Test, "mix test"),
        (Test, "bundle exec rspec spec/a_spec.rb"),
        (Test, "vendor/bin/phpunit"),
        (Test, "php artisan test"),
        (Test, "ctest --test-dir build"),
        (Test, "bazel test //..."),
        (Test, "./scripts/test"),
        (Test, "bash run_tests.sh"),
        (Test, "node --test"),
        (Test, "deno test -A"),
        (Test, "make -C backend ci"),
        (Lint, "golangci-lint run ./..."),
        (Lint, "npx eslint src"),
        (Lint, "biome check ."),
        (Lint, "ruff check ."),
        (Lint, "cargo clippy --all-targets -- -D warnings"),
        (Lint, "cargo fmt --all -- --check"),
        (Lint, "npm run format:check"),
        (Lint, "black --check ."),
        (Lint, "pre-commit run --all-files"),
        (Lint, "make lint"),
        (Lint, "go vet ./..."),
        (Types, "npx tsc --noEmit"),
        (Types, "mypy src"),
        (Types, "pyright"),
        (Types, "pnpm type-check"),
        (Types, "npm run typecheck"),
        (Build, "cargo build --release"),
        (Build, "go build ./..."),
        (Build, "npm run build"),
        (Build, "npx vite build"),
        (Build, "make build"),
        (Build, "make -j8"),
        (Script, "make generate"),
        (Script, "./scripts/release-notes"),
    ];
    for (expected, line) in table {
        assert_eq!(kind(line), Some(expected), "{line}");
        assert!(is_of_interest(line) || may_change(line), "{line}");
    }
    for line in [
        "ls",
        "cat test.txt",
        "grep -r test .",
        "test -f x",
        "cargo fmt",
        "cargo run",
        "npm install",
        "npm run dev",
        "git status",
        "pytest --help",
        "cargo test -- --list",
        "black .",
        "cd tests",
        "python -c 'import x'",
        "python /tmp/test.py",
        "go run .",
        "rm -rf build",
        "make clean",
        "prettier --write .",
        "curl localhost/test",
        "mkdir build",
        "echo test",
        "npx tsc --version",
        "yarn add jest",
        "pnpm install",
        "mise install",
    ] {
        assert_eq!(kind(line), None, "{line}");
    }
}

#[test]
fn a_wider_run_covers_a_narrower_one() {
    use Relation::{Covers, Different, Narrower, Unclear};
    let table = [
        ("make lint", "make lint", Covers),
        ("mise run lint", "mise run lint 2>&1", Covers),
        ("go test ./pkg -run X", "go test ./...", Covers),
        ("go test ./...", "go test ./pkg -run X", Narrower),
        ("go test -v -run TestA ./pkg/", "go test ./pkg -run 'TestA|TestB'", Covers),
        ("go test ./a/b", "go test ./a/...", Covers),
        ("go test ./a", "go test ./b", Different),
        ("go test -tags=e2e ./...", "go test ./...", Unclear),
        ("go test -race ./...", "go test -race -count=1 ./...", Covers),
        ("cargo test name", "cargo test", Covers),
        ("cargo test", "cargo test name", Narrower),
        ("cargo test -p a", "cargo test -p b", Different),
        ("cargo test -p a", "cargo test --workspace", Covers),
        ("cargo build", "cargo test", Covers),
        ("cargo check", "cargo clippy --all-targets", Covers),
        ("cargo test", "cargo build", Different),
        ("pytest tests/a.py::b", "pytest", Covers),
        ("pytest tests/a.py::b -x", "python -m pytest -q tests/", Covers),
        ("pytest", "pytest tests/a.py", Narrower),
        ("pytest tests/a.py", "pytest tests/b.py", Different),
        ("npm test", "npm run test", Covers),
        ("npx jest src/a.test.ts", "npx jest", Covers),
        ("npx vitest run a.test.ts", "npx vitest run", Covers),
        ("mise run test", "mise run test:ci", Covers),
        ("npm test", "npm run test:unit", Narrower),
        ("go test ./pkg", "mise run test:ci", Unclear),
        ("mise run test", "go test ./...", Unclear),
        ("mise run test", "go test ./pkg", Different),
        ("npx tsc --noEmit", "npm run build", Unclear),
        ("npx tsc --noEmit", "npx tsc", Covers),
        ("make lint", "make test", Different),
        ("eslint src/a.ts", "eslint .", Covers),
        ("bash scripts/test", "./scripts/test", Covers),
        ("./gradlew test --tests X", "./gradlew test", Covers),
    ];
    for (earlier, later, expected) in table {
        let (earlier_check, later_check) =
            (Check::parse_line(earlier).remove(0), Check::parse_line(later).remove(0));
        let relation = later_check.relation_to(&earlier_check);
        assert_eq!(relation, expected, "{earlier} then {later}: {earlier_check:?} {later_check:?}");
    }
}

/// Returns the results of the checks of a line.
fn results(line: &str, status: i64, output: &str) -> Vec<(String, CheckResult)> {
    let ended = if status == 0 { LineStatus::Passed } else { LineStatus::Failed(Some(status)) };
    let found = check_results(&ShellLine::parse(line), ended, output);
    found.into_iter().map(|one| (one.command, one.result)).collect()
}

#[test]
fn check_results_come_from_the_exit_status_or_the_output() {
    use CheckResult::{Failed, Passed, Unknown};
    let table: [(&str, i64, &str, &[CheckResult]); 44] = [
        ("make lint", 0, "", &[Passed]),
        ("make lint", 2, "make: *** [lint] Error 1", &[Failed]),
        ("cd x && make lint", 2, "x.go:1:2: bad", &[Failed]),
        ("cd x && make lint", 1, "bash: cd: x: No such file or directory", &[Unknown]),
        ("make lint | tail -5", 0, "all fine", &[Unknown]),
        ("make lint 2>&1 | tail -5", 0, "0 issues.", &[Passed]),
        ("make lint | tail -5", 0, "[lint] ERROR task failed", &[Failed]),
        ("go test ./... | head -2", 0, "ok  \tx/a\t0.1s\nok  \tx/b\t0.1s", &[Unknown]),
        ("go test ./... | head -5", 0, "ok  \tx/a\t0.1s", &[Passed]),
        ("go test ./... | head -n 5", 0, "ok  \tx/a\t0.1s", &[Passed]),
        ("go test ./... | head -c 5", 0, "ok  \tx/a\t0.1s", &[Unknown]),
        ("mise run lint 2>&1 | head -40", 0, "[lint] $ golangci-lint run\n0 issues.", &[Passed]),
        ("go test ./... | tail -5", 0, "ok  \tx/a\t0.1s", &[Passed]),
        ("go test ./... | tail -5", 0, "ok  \tx/a\t0.1s\nFAIL", &[Failed]),
        ("cargo test 2>&1 | grep 'test result'", 0, "test result: ok. 5 passed", &[Passed]),
        ("cargo test 2>&1 | grep -c ok", 0, "17", &[Unknown]),
        ("pytest || true", 0, "=== 1 failed, 4 passed in 0.12s ===", &[Failed]),
        ("pytest -q || true", 0, "5 passed in 0.12s", &[Passed]),
        ("pytest; echo \"exit: $?\"", 0, "...\nexit: 1", &[Failed]),
        ("pytest; echo $?", 0, "5 passed in 0.1s\n0", &[Passed]),
        ("make fmt && make lint && make test", 1, "[test] ERROR task failed", &[Passed, Failed]),
        ("make fmt && make lint && make test", 1, "[lint] ERROR task failed", &[Failed]),
        ("make fmt && make lint && make test", 1, "make: *** Error 1", &[Unknown, Unknown]),
        ("cargo clippy && cargo test", 101, "test result: FAILED. 1 failed", &[Passed, Failed]),
        ("cargo clippy && cargo test", 101, "error: unused variable", &[Failed]),
        ("npx jest", 127, "sh: jest: command not found", &[Unknown]),
        ("npx vitest run | tail -9", 0, " Tests  3 passed (3)", &[Passed]),
        ("npx jest 2>&1 | tail -9", 0, "Tests:       1 failed, 3 passed, 4 total", &[Failed]),
        ("npx tsc --noEmit | head", 0, "a.ts(1,2): error TS2322: no", &[Failed]),
        ("npx eslint . | tail -3", 0, "✖ 3 problems (0 errors, 3 warnings)", &[Passed]),
        // No output from a tool that prints only problems.
        ("npx tsc --noEmit 2>&1 | head -20", 0, "", &[Passed]),
        ("cd x && go build ./... | tail", 0, "Shell cwd was reset to /x", &[Passed]),
        ("npx tsc --noEmit 2>/dev/null | head", 0, "", &[Unknown]),
        ("npx tsc --noEmit > out.txt; cat x", 0, "", &[Unknown]),
        ("npx tsc --noEmit | grep 'src/a'", 0, "", &[Unknown]),
        ("npm run lint | tail", 0, "", &[Unknown]),
        ("npx tsc | tail; npx eslint . | tail", 0, "", &[Unknown, Unknown]),
        // A line printed by `echo` separates the output.
        ("npx tsc 2>&1 | tail; echo ---; npx eslint . | tail", 0, "---", &[Passed, Passed]),
        ("go build | tail; echo ---; npx eslint . | tail", 0, "---", &[Unknown, Unknown]),
        (
            "mix format --check-formatted 2>&1; echo '---'; mix credo | tail",
            0,
            "---\n9 mods/funs, found no issues.",
            &[Passed, Passed],
        ),
        (
            "make lint 2>&1 | tail; echo ok; pytest | tail",
            0,
            "ok\n1 failed in 1s",
            &[Unknown, Failed],
        ),
        ("tsc 2>&1 | tail; echo x; eslint . | tail", 0, "x\nx", &[Unknown, Unknown]),
        ("mix credo | tail", 0, "9 mods/funs, found 1 code readability issue.", &[Failed]),
        ("mix dialyzer | tail", 0, "done (warnings were emitted)", &[Failed]),
    ];
    for (line, status, output, expected) in table {
        let found: Vec<CheckResult> =
            results(line, status, output).into_iter().map(|(_, result)| result).collect();
        assert_eq!(found, expected, "{line}: {output}");
    }
}

#[test]
fn the_most_informative_failure_lines_come_first() {
    let table: [(&str, &[&str]); 9] = [
        (
            "=== RUN TestA\n    a_test.go:85: no files\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tx/a\t0.4s",
            &["--- FAIL: TestA (0.00s)", "a_test.go:85: no files", "FAIL\tx/a\t0.4s"],
        ),
        (
            "Exit code 1\n[lint] $ golangci-lint run\na/b.go:12:3: bad thing (errcheck)\n\tx()\n1 issues:",
            &["a/b.go:12:3: bad thing (errcheck)"],
        ),
        (
            "error[E0308]: mismatched types\n  --> src/a.rs:3:5\nerror: could not compile `x`",
            &["error[E0308]: mismatched types", "--> src/a.rs:3:5", "error: could not compile `x`"],
        ),
        (
            "E       AssertionError: 1 != 2\ntests/a.py:3: AssertionError\nFAILED tests/a.py::b - no",
            &[
                "E       AssertionError: 1 != 2",
                "tests/a.py:3: AssertionError",
                "FAILED tests/a.py::b - no",
            ],
        ),
        (
            "Auto-merging a\nCONFLICT (content): Merge conflict in a\n",
            &["CONFLICT (content): Merge conflict in a"],
        ),
        (
            "  1) test it opens (QueueTest)\n     ** (RuntimeError) no key\n       test/queue_test.exs:9: (test)\n       lib/queue.ex:9: Queue.open/1\n2 tests, 1 failure",
            &["** (RuntimeError) no key"],
        ),
        (
            "┃ [F] → Function is too complex (13, max is 9).\n┃       lib/queue.ex:9 #(Queue.open)",
            &["┃ [F] → Function is too complex (13, max is 9)."],
        ),
        ("one\ntwo", &["two"]),
        ("", &[]),
    ];
    for (output, expected) in table {
        assert_eq!(failure_lines(output), expected, "{output}");
    }
}

/// Returns the external effects of a line: each action with its target.
fn effects(line: &str) -> Vec<(String, Option<String>)> {
    let line = ShellLine::parse(line);
    let found = line.commands.iter().filter_map(|command| command_effect(command, &line));
    found.map(|one| (one.action, one.target)).collect()
}

#[test]
fn external_effects_are_recognized_by_their_command() {
    let table: [(&str, &str, Option<&str>); 35] = [
        ("git push", "git push", None),
        ("git push -u origin fix/cache 2>&1 | tail -3", "git push", Some("fix/cache")),
        ("git push origin HEAD:main", "git push", Some("main")),
        ("git push --force-with-lease", "git push --force", None),
        ("git push origin --delete old", "git push --delete", Some("old")),
        ("gh pr create --title 'T' --body b", "gh pr create", None),
        ("gh pr merge 12 --squash", "gh pr merge", Some("12")),
        ("gh pr comment https://github.com/o/r/pull/7 -b x", "gh pr comment", Some("7")),
        ("gh pr edit --body x", "gh pr edit", None),
        ("gh issue close 3 -c done", "gh issue close", Some("3")),
        ("gh release create v1.2.0", "gh release create", Some("v1.2.0")),
        (
            "gh api repos/o/r/pulls/9/comments/55/replies -f body='done'",
            "gh api reply to review thread",
            Some("9"),
        ),
        ("gh api -X POST /repos/o/r/issues/4/comments -f body=x", "gh api comment", Some("4")),
        ("gh api repos/o/r/pulls/4 -X PATCH -f body=x", "gh api change pull request", Some("4")),
        (
            "gh api graphql -f query='mutation { resolveReviewThread(input: {threadId: 1}) { x } }'",
            "gh api graphql resolveReviewThread",
            None,
        ),
        ("gh workflow run ci.yml", "gh workflow run", Some("ci.yml")),
        ("glab mr create --title x", "glab mr create", None),
        ("npm publish", "npm publish", None),
        ("cargo publish -p a", "cargo publish", None),
        ("twine upload dist/*", "twine upload", None),
        ("docker push reg/app:1", "docker push", Some("reg/app:1")),
        ("kubectl apply -f k8s/", "kubectl apply", Some("k8s/")),
        ("kubectl rollout restart deploy/api", "kubectl rollout restart", Some("deploy/api")),
        ("helm upgrade --install app chart", "helm upgrade", Some("app")),
        ("terraform apply -auto-approve", "terraform apply", None),
        ("aws s3 sync build s3://site", "aws s3 sync", None),
        ("aws ecs update-service --cluster c", "aws ecs update-service", None),
        ("gcloud run deploy api --image x", "gcloud run deploy", None),
        ("npx vercel --prod", "vercel", None),
        ("fly deploy", "fly deploy", None),
        ("npx prisma migrate deploy", "prisma migrate deploy", None),
        ("python manage.py migrate", "manage.py migrate", None),
        ("bundle exec rails db:migrate", "rails db:migrate", None),
        ("php artisan migrate:fresh", "artisan migrate:fresh", None),
        ("alembic upgrade head", "alembic upgrade", None),
    ];
    for (line, action, target) in table {
        assert_eq!(effects(line), [(action.to_owned(), target.map(str::to_owned))], "{line}");
        assert!(is_of_interest(line), "{line}");
    }
    for line in [
        "git push --dry-run",
        "git push -n",
        "gh pr view 3",
        "gh pr list",
        "gh api repos/o/r/pulls/9/comments",
        "gh api graphql -f query='query { viewer { login } }'",
        "gh pr create --help",
        "terraform plan",
        "npm publish --dry-run",
        "kubectl get pods",
        "kubectl apply --dry-run=client -f x",
        "aws s3 cp s3://a b",
        "aws s3 ls",
        "gcloud config set project x",
        "vercel env pull",
        "echo git push",
        "rails db:migrate:status",
        "php artisan migrate:status",
        "docker build .",
    ] {
        assert!(effects(line).is_empty(), "{line}");
    }
}

#[test]
fn unchecked_boxes_of_a_body_are_listed() {
    let line = "gh pr create --title \"Fix it\" --body \"$(cat <<'EOF'\n## Test plan\n- [x] unit\n- [ ] by hand\n  * [ ] nested\nEOF\n)\"";
    let line = ShellLine::parse(line);
    let found = command_effect(&line.commands[0], &line).unwrap();
    assert_eq!(found.title.as_deref(), Some("Fix it"));
    assert_eq!(found.boxes.unwrap(), ["by hand", "nested"]);
    let line = ShellLine::parse("cat > b.md <<'X'\n- [ ] later\nX\ngh pr edit 5 --body-file b.md");
    let found = command_effect(&line.commands[1], &line).unwrap();
    assert_eq!(found.boxes.unwrap(), ["later"]);
    let line = ShellLine::parse("gh pr comment 5 --body-file other.md");
    assert_eq!(command_effect(&line.commands[0], &line).unwrap().boxes, None);
}

#[test]
fn effect_results_and_urls_come_from_the_output() {
    use EffectResult::{Done, Failed, Unknown};
    let pull = "https://github.com/o/r/pull/201";
    let offer = "remote: Create a pull request: https://github.com/o/r/pull/new/x\n * [new branch]      x -> x";
    let table = [
        ("gh pr create --fill", 0, pull, Done, Some(pull)),
        ("gh pr create --fill | tail -1", 0, pull, Done, Some(pull)),
        ("gh pr create --fill", 1, "pull request create failed: no", Failed, None),
        ("git push", 0, offer, Done, None),
        ("git push 2>&1 | tail -3", 0, "   1a2b3c4..5d6e7f8  x -> x", Done, None),
        ("git push | tail -1", 0, " ! [rejected]  x -> x (fetch first)", Failed, None),
        ("git push | tail -1", 0, "hm", Unknown, None),
        ("git push", 0, "Everything up-to-date", Done, None),
    ];
    for (line, status, output, result, address) in table {
        let ended = if status == 0 { LineStatus::Passed } else { LineStatus::Failed(Some(status)) };
        let line_read = ShellLine::parse(line);
        let command = &line_read.commands[0];
        let found = command_effect(command, &line_read).unwrap();
        assert_eq!(effect_result(command, &found, ended, output), result, "{line}: {output}");
        assert_eq!(url(found.kind, output).as_deref(), address, "{line}");
    }
}

#[test]
fn commits_and_pushes_are_parsed_from_git_output() {
    let output = "[main (root-commit) 1a2b3c4] Start\n 2 files changed, 3 insertions(+)\n[detached HEAD 5d6e7f8a] Fix [it]\n[INFO] x\n[a b c] no";
    let found = printed_commits(output);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].branch.as_deref(), found[0].files), (Some("main"), Some(2)));
    assert_eq!((found[1].branch.as_deref(), &*found[1].subject), (None, "Fix [it]"));
    let refs = pushed_refs(
        "To github.com:o/r.git\n   1a2b3c4..5d6e7f8  fix -> fix\n * [new tag]  v1 -> v1",
    );
    assert_eq!(refs[0].id, Some(CommitId::new("5d6e7f8")));
    assert!(refs[1].is_tag && refs.len() == 2);
    assert!(
        pushed_refs("   1a2b3c4..5d6e7f8  main       -> origin/main\n * branch main -> FETCH_HEAD")
            .is_empty()
    );
    let log = "1a2b3c4 (HEAD -> x) Fix the cache\ncommit 5d6e7f8a9b\nAuthor: a\n\n    Start it\n";
    let expected = [("1a2b3c4", "Fix the cache"), ("5d6e7f8a9b", "Start it")];
    assert_eq!(
        logged_commits(log),
        expected.map(|(id, subject)| (CommitId::new(id), subject.to_owned()))
    );
    let subjects = [
        ("git commit -am 'Fix it'", Some("Fix it")),
        ("git commit -m \"$(cat <<'E'\nOne\n\ntwo\nE\n)\"", Some("One")),
        ("git commit -F - <<E\nFrom stdin\nE", Some("From stdin")),
        ("git commit --no-edit", None),
        ("git commit -m \"$MESSAGE\"", None),
        ("git commit -m \"Release $V\" -m 'Notes'", None),
    ];
    for (line, expected) in subjects {
        let line = ShellLine::parse(line);
        let git = GitCommand::from_command(&line.commands[0]).unwrap();
        let found = commit_message(&line.commands[0], &git, &line);
        assert_eq!(found.as_ref().map(|found| found.subject.as_str()), expected);
    }
    let bodies = [
        ("git commit -m 'Fix it'", None),
        (
            "git commit -m 'Fix it' -m 'The lock was held.' -m 'It is not now.'",
            Some("The lock was held.\n\nIt is not now."),
        ),
        (
            "git add a && git commit -m \"$(cat <<'E'\nOne\n\n- two\n- three: four\n\nCo-Authored-By: A <a@b.c>\nE\n)\"",
            Some("- two\n- three: four"),
        ),
        ("git commit -m 'One\n\nSigned-off-by: A <a@b.c>'", None),
        ("git commit -m 'One\n\nSigned-off-by: A <a@b.c>\nSession-URL: https://b.c/1'", None),
        (
            "git commit -m 'One\n\nWarning: it drops the store\n\nSigned-off-by: A <a@b.c>'",
            Some("Warning: it drops the store"),
        ),
        ("git commit -m One -m 'Follow-up: remove the shim'", Some("Follow-up: remove the shim")),
        ("git commit -m One -m \"Built on $(date)\"", None),
    ];
    for (line, expected) in bodies {
        let line = ShellLine::parse(line);
        let command = line.commands.last().unwrap();
        let found =
            commit_message(command, &GitCommand::from_command(command).unwrap(), &line).unwrap();
        assert_eq!(found.body.as_deref(), expected, "{found:?}");
    }
    assert_eq!(
        conflicts("CONFLICT (content): Merge conflict in a.rs\nAutomatic merge failed"),
        ["CONFLICT (content): Merge conflict in a.rs"]
    );
}

#[test]
fn tools_with_external_effects_are_recognized_by_name() {
    for (tool, expected) in [
        ("mcp__linear__create_issue", Some("linear create_issue")),
        ("mcp__github__github_add_issue_comment", Some("github github_add_issue_comment")),
        ("mcp__slack__postMessage", Some("slack postMessage")),
        ("mcp__linear__list_issues", None),
        ("mcp__github__get_pull_request", None),
        ("mcp__filesystem__create_directory", None),
        ("mcp__playwright__browser_close", None),
        ("Write", None),
    ] {
        assert_eq!(tool_effect_action(tool).as_deref(), expected, "{tool}");
    }
}
