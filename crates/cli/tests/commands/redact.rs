use crate::sandbox;
use midstride_core::text::hidden::is_invisible;
use midstride_testkit::Sandbox;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

/// A token that no rule takes for a placeholder.
fn token() -> String {
    format!("ghp_{}", "a1B2c3".repeat(6))
}

#[test]
fn secrets_in_a_stream_are_redacted_and_counted() {
    let input = format!(
        "use {0} twice: {0}\n{{\"content\":\"DB_PASSWORD=x7kPq9Zt\\nurl postgres://u:hunter22@h/db\"}}\n",
        token()
    );
    insta::assert_snapshot!(sandbox().run_with_input(&["redact"], &input), @r#"
    exit 0
    ----- stdout -----
    use REDACTED-github-token twice: REDACTED-github-token
    {"content":"DB_PASSWORD=REDACTED-password\nurl postgres://u:REDACTED-url-password@h/db"}
    ----- stderr -----
    github-token: 2
    password: 1
    url-password: 1
    "#);
}

#[test]
fn checking_prints_nothing_and_sets_the_exit_code() {
    let sandbox = sandbox();
    sandbox.write("log.txt", format!("Authorization: Bearer {}\n", token()));
    insta::assert_snapshot!(sandbox.run(["redact", "--check", "log.txt"]), @"
    exit 1
    ----- stderr -----
    github-token: 1
    ");
    sandbox.write("log.txt", "commit 4f2c9d1e0b7a63c58d2f1e9a0c4b7d6e5f8a9b0c\n");
    insta::assert_snapshot!(sandbox.run(["redact", "--check", "log.txt"]), @"exit 0");
    insta::assert_snapshot!(sandbox.run(["redact", "none.txt"]), @"
    exit 2
    ----- stderr -----
    error: `[ROOT]/none.txt` does not exist
    ");
}

#[test]
fn project_rules_apply_wherever_text_is_written() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    let rule =
        "[[redact]]\nkind = \"acme-badge\"\nbegins = \"acme:\"\nthen = \"[0-9]{4}-[0-9]{4}\"\n";
    sandbox.write(".midstride/config.toml", rule);
    sandbox.as_user().run(["trust", "--yes"]).exits(0);
    insta::assert_snapshot!(sandbox.run_with_input(&["redact"], "badge acme:1234-5678, acme: none\n"), @"
    exit 0
    ----- stdout -----
    badge REDACTED-acme-badge, acme: none
    ----- stderr -----
    acme-badge: 1
    ");
    sandbox.write("note.md", "# Doors\n\nThe badge acme:1234-5678 opens all of them.\n");
    sandbox.run(["new", "--from", "note.md", "--id", "doors", "--committed"]).exits(0);
    let text = sandbox.read(".midstride/handoffs/doors.md");
    assert!(text.contains("The badge REDACTED-acme-badge opens"), "{text}");
    sandbox.run(["task", "add", "Return acme:1234-5678"]).exits(0);
    sandbox.run(["task", "mission", "--next", "ask for acme:1234-5678"]).exits(0);
    let proof = "---\nhandoff:\n  id: locks\n  proofs:\n    - claim: it opens\n      \
                 run: echo acme:1234-567$((4 + 4))\n      expect: closed\n---\n";
    sandbox.write("locks.md", proof);
    sandbox.run(["new", "Locks", "--body", "locks.md"]).exits(0);
    sandbox.as_user().run(["trust", "locks", "1", "--yes"]).exits(0);
    let ran = sandbox.run(["verify", "locks"]).exits(1);
    assert!(ran.stdout.contains("| REDACTED-acme-badge"), "{ran}");
    let told = sandbox.run(["events", "--json"]).exits(0).stdout;
    assert_eq!(told.matches("REDACTED-acme-badge").count(), 3, "{told}");
    assert!(!told.contains("acme:1234-5678"), "{told}");
}

#[test]
fn a_log_is_followed_line_by_line_and_a_private_key_waits_for_its_end() {
    let sandbox = sandbox();
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    let command = command.arg("redact").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    // Each line is read back before the next one is written.
    for (line, told) in [
        ("started".to_owned(), "started"),
        (format!("token {} used", token()), "token REDACTED-github-token used"),
        ("DB_PASSWORD=hunter2".to_owned(), "DB_PASSWORD=REDACTED-password"),
    ] {
        writeln!(input, "{line}").unwrap();
        assert_eq!(output.next().unwrap().unwrap(), told);
    }
    writeln!(input, "-----BEGIN PRIVATE KEY-----").unwrap();
    for _ in 0..3 {
        writeln!(input, "{}", "q7W2e9R4t1Y6u3I8".repeat(4)).unwrap();
    }
    writeln!(input, "-----END PRIVATE KEY-----\nended").unwrap();
    assert_eq!(output.next().unwrap().unwrap(), "REDACTED-private-key");
    assert_eq!(output.next().unwrap().unwrap(), "ended");
    drop(input);
    assert!(output.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn error_messages_are_redacted_by_project_rules() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    let rule =
        "[[redact]]\nkind = \"acme-badge\"\nbegins = \"acme:\"\nthen = \"[0-9]{4}-[0-9]{4}\"\n";
    sandbox.write(".midstride/config.toml", rule);
    sandbox.as_user().run(["trust", "--yes"]).exits(0);
    let told = sandbox.run(["show", "acme:1234-5678"]).exits(2).stderr;
    assert!(told.contains("REDACTED-acme-badge") && !told.contains("1234-5678"), "{told}");
    let told = sandbox.run(["list", "--acme:1234-5678"]).exits(2).stderr;
    assert!(told.contains("REDACTED-acme-badge") && !told.contains("1234-5678"), "{told}");
    sandbox.run(["new", "Slow pages", "--id", "slow"]).exits(0);
    let told = sandbox.run(["resolve", "slow", "--abandon", "badge acme:1234-5678 is gone"]);
    assert!(told.stderr.contains("REDACTED-acme-badge"), "{told}");
    assert!(!told.to_string().contains("1234-5678"), "{told}");
    // JSON reveals no more either: this link leads outside the project, and is named.
    sandbox.write("docs/handoffs/one.md", "One.");
    let link = sandbox.root().join("docs/handoffs/acme:1234-5678.md");
    std::os::unix::fs::symlink("/etc/passwd", link).unwrap();
    let told = sandbox.run(["fmt", "--json"]).exits(2).stdout;
    assert!(told.contains("REDACTED-acme-badge") && !told.contains("1234-5678"), "{told}");
}

#[test]
fn an_unusable_rule_is_reported() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    for (kind, begins, then, said) in [
        ("Acme", "acme:", "[0-9]{4}", "the kind `Acme` must consist of lowercase letters"),
        ("acme", "a", "[0-9]{4}", "`begins` for kind `acme` must be 3 to"),
        ("acme", "REDACTED", "[0-9]{4}", "is the start of midstride's placeholder for a secret"),
        ("acme", "acme:", "[0-9", "`acme`: regex parse error"),
        ("acme", "acme:", "[0-9]*", "`then` after `acme:` must not match empty text"),
    ] {
        let rule =
            format!("[[redact]]\nkind = \"{kind}\"\nbegins = \"{begins}\"\nthen = \"{then}\"\n");
        sandbox.write(".midstride/config.toml", rule);
        let run = sandbox.run(["list"]);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

const SWALLOWING: &str =
    "[[redact]]\nkind = \"all\"\nbegins = \"par\"\nthen = \"(?s).+\"\nmultiline = true\n";

#[test]
fn an_untrusted_rule_of_the_project_removes_nothing() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    sandbox.run(["new", "The parser is slow", "--id", "good", "--committed"]).exits(0);
    sandbox.write(".midstride/config.toml", SWALLOWING);
    sandbox.run(["start", "good"]).exits(0);
    let text = sandbox.read(".midstride/handoffs/good.md");
    assert!(text.contains("title: The parser is slow") && !text.contains("REDACTED"), "{text}");
    assert_eq!(text.matches("\n---\n").count(), 1, "{text}");
    insta::assert_snapshot!(sandbox.as_user().run(["trust"]), @"
    exit 1
    ----- stderr -----
    1 document that sessions would be briefed from: 1 not committed
    .midstride/handoffs: 1 document
      good.md  not committed
    .midstride/config.toml removes text from what midstride writes:
      all  redacts `par` followed by `(?s).+`, across several lines
    ----- terminal -----
    Trust [ROOT]? [y/N]
    ");
}

#[test]
fn a_trusted_rule_cannot_remove_the_end_of_the_header() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    sandbox.run(["new", "The parser is slow", "--id", "good", "--committed"]).exits(0);
    let before = sandbox.read(".midstride/handoffs/good.md");
    sandbox.write(".midstride/config.toml", SWALLOWING);
    sandbox.as_user().run(["trust", "--yes"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["start", "good"]), @"
    exit 2
    ----- stderr -----
    error: the revision cannot be recorded: redacting the `all` on line 6 would damage the header
    hint: remove the secret by hand, or fix the rule in `.midstride/config.toml`
    ");
    assert_eq!(sandbox.read(".midstride/handoffs/good.md"), before);
    let one_line = SWALLOWING.replace("multiline = true\n", "");
    sandbox.write(".midstride/config.toml", one_line);
    sandbox.as_user().run(["trust", "--yes"]).exits(0);
    sandbox.run(["start", "good"]).exits(0);
    let text = sandbox.read(".midstride/handoffs/good.md");
    assert!(text.contains("title: The REDACTED-all\n"), "{text}");
    assert_eq!(text.matches("\n---\n").count(), 1, "{text}");
}

#[test]
fn the_next_command_redacts_what_was_stored_before_a_rule() {
    let sandbox = sandbox().repository();
    sandbox.run(["init"]).exits(0);
    sandbox.run(["task", "add", "Return acme:1234-5678"]).exits(0);
    sandbox.write("note.md", "# Doors\n\nThe badge acme:1234-5678 opens all of them.\n");
    sandbox.run(["new", "--from", "note.md", "--id", "doors", "--kind", "session"]).exits(0);
    std::fs::remove_file(sandbox.root().join("note.md")).unwrap();
    let rule =
        "[[redact]]\nkind = \"acme-badge\"\nbegins = \"acme:\"\nthen = \"[0-9]{4}-[0-9]{4}\"\n";
    sandbox.write(".midstride/config.toml", rule);
    sandbox.as_user().run(["trust", "--yes"]).exits(0);
    let with_badge = || {
        let mut grep = sandbox.command("grep");
        sandbox.finish(grep.args(["-rlaF", "acme:1234-5678", ".git/midstride"])).stdout
    };
    // A hook has no time for that.
    let start = r#"{"session_id": "5e55-0001", "hook_event_name": "SessionStart"}"#;
    sandbox.run_with_input(&["hook", "claude-code"], start).exits(0);
    assert!(with_badge().contains("ledger.db"), "{}", with_badge());
    let mut list = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    sandbox.finish(list.env_remove("MIDSTRIDE_OBSERVE").arg("list")).exits(0);
    let log = sandbox.root().join(".git/midstride/hooks.log");
    let is_done = || {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        text.contains("redacted stored data")
    };
    while !is_done() {
        std::thread::yield_now();
    }
    assert_eq!(with_badge(), "");
    let shown = sandbox.run(["show", "doors"]).exits(0).stdout;
    assert!(shown.contains("The badge REDACTED-acme-badge opens"), "{shown}");
    let told = sandbox.run(["doctor", "--no-simulation"]).stdout;
    assert!(told.contains("stored items redacted again with newer rules"), "{told}");
    let tasks = sandbox.run(["task", "list"]).exits(0).stdout;
    assert!(tasks.contains("Return REDACTED-acme-badge"), "{tasks}");
}

/// The part of a token behind what splits it. No rule finds it alone.
const TAIL: &str = "de0IgxLd6GncfBAepfJBd0Kh8oOOL8d";

/// A token with something hidden in it.
fn split_token(hidden: &str) -> String {
    format!("ghp_u8jzP{hidden}{TAIL}")
}

#[test]
fn a_split_secret_is_neither_stored_nor_printed() {
    for hidden in
        ["\u{200b}", "\u{202e}", "\u{85}", "\u{9b}31m", "\u{1b}[31m", "\u{1b}]0;title\u{7}"]
    {
        let sandbox = sandbox().repository();
        sandbox.as_user().run(["init"]).exits(0);
        let secret = &split_token(hidden);
        let (title, summary) = (format!("t {secret}"), format!("uses {secret}"));
        let told = [
            &["save", "--no-session", "--id", "one", "--title", &title, "--summary", &summary][..],
            &["save", "--no-session", "--id", "one", "--landmine", secret, "--question", secret],
            &["save", "--no-session", "--id", "one", "--accept", secret],
            &["answer", "one", "q1", secret],
            &["edit", "one", "--reason", secret, "--body", "-"],
            &["task", "add", &title],
            &["list"],
            &["list", "--json"],
            &["show", "one"],
            &["show", "one", "--as", "raw"],
            &["show", "one", "--json"],
            &["show", "one", "--history"],
            &["show", "one@1"],
            &["search", "uses"],
            &["search", "uses", "--json"],
            &["task", "list"],
            &["events"],
            &["events", "--json"],
            &[],
            &["brief"],
            &["resolve", "one", "--outcome", secret],
            &["check"],
        ]
        .map(|arguments| {
            let run = sandbox.run_with_input(arguments, "# New\n\nA body.\n");
            assert!(!run.to_string().contains(TAIL), "{hidden:?} {arguments:?}: {run}");
            assert!(!run.to_string().contains("unexpected argument"), "{arguments:?}: {run}");
            run.stdout
        });
        assert!(told.concat().contains("REDACTED-github-token"), "{hidden:?}");
        let text = sandbox.read(".git/midstride/handoffs/one.md");
        assert!(!text.contains(TAIL), "{hidden:?}: {text}");
        assert!(text.contains("t REDACTED-github-token"), "{hidden:?}: {text}");
        assert!(!told[21].contains("X001"), "{hidden:?}: {}", told[21]);
    }
}

/// Writes a handoff by hand, with a secret in it for each invisible character.
fn write_split_secrets(sandbox: &Sandbox) -> usize {
    let is_sampled = |c: &char| u32::from(*c) < 0xe000 || u32::from(*c).is_multiple_of(251);
    let hidden = (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| is_invisible(*c));
    // The first three end a word or a line, the others take the next letter with them.
    let others = ['\r', '\u{b}', '\u{c}', '\u{1b}', '\u{9b}'];
    let hidden = hidden.filter(|c| !others.contains(c)).filter(is_sampled);
    let mut count = 0;
    let mut text = format!(
        "---\nhandoff:\n  id: one\n  title: \"t {}\"\n  kind: session\n  status: in_progress\n  landmines:\n",
        split_token("\\U0000200B")
    );
    for c in hidden {
        let secret = split_token(&format!("\\U{:08X}", u32::from(c)));
        writeln!(text, "    - \"bite {secret}\"").unwrap();
        count += 1;
    }
    for written in ["\\x85", "\\x9b31m", "\\u200b", "\\U0000001B[31m", "\\e[0m", "\\x1b[0m"] {
        writeln!(text, "    - \"bite {}\"", split_token(written)).unwrap();
        count += 1;
    }
    text.push_str("---\n\n# Body\n\n");
    for sequence in ["\u{200b}", "\u{1b}[31m", "\u{9b}K", "\u{0}", "\\u{200b}"] {
        writeln!(text, "The body bites {}\n", split_token(sequence)).unwrap();
        count += 1;
    }
    sandbox.write(".midstride/handoffs/one.md", text);
    count + 1
}

#[test]
fn no_invisible_character_hides_a_secret_from_the_output() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    let count = write_split_secrets(&sandbox);
    sandbox.git(&["add", "--all"]);
    for arguments in [
        &["list"][..],
        &["list", "--json"],
        &["show", "one"],
        &["show", "one", "--as", "raw"],
        &["show", "one", "--json"],
        &["show", "one", "--section", "landmines"],
        &["search", "bite"],
        &["search", "bite", "--json"],
        &["brief"],
        &["list", "--graph"],
        &[],
        &["--json"],
        &["check"],
        &["check", "--json"],
        &["check", "--format", "sarif"],
        &["check", "--format", "github"],
    ] {
        for color in ["never", "always"] {
            let run = sandbox.run([&["--color", color], arguments].concat());
            assert!(!run.to_string().contains(TAIL), "{arguments:?}: {run}");
            if arguments.contains(&"--json") {
                let read = serde_json::from_str::<serde_json::Value>(&run.stdout);
                assert!(read.is_ok(), "{arguments:?}: {run}");
            }
        }
    }
    let found = sandbox.run(["check"]).exits(1).stdout;
    assert_eq!(found.matches("error[X001]").count(), count, "{found}");
    sandbox.run(["check", "--fix"]);
    let text = sandbox.read(".midstride/handoffs/one.md");
    assert!(!text.contains(TAIL), "{text}");
}
