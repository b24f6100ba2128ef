//! Tests with a clone of a hostile repository: it can do nothing but be reported. Hostile hook
//! input is in `hooks`.

mod agent_gate;
mod excluded;
mod git_programs;
mod hooks;
mod network;
pub(crate) mod odd;
mod surfaces;

pub(crate) use odd::{Tree, bytes_of, cases, raw_values};

use crate::sandbox;
use midstride_testkit::Sandbox;

const MARKER: &str = "marker-of-a-secret";

/// A clone with everything in it that could act.
fn hostile() -> Sandbox {
    let sandbox = sandbox().repository();
    let home = sandbox.home().to_owned();
    std::fs::create_dir_all(home.join(".ssh")).unwrap();
    std::fs::create_dir_all(home.join("canary")).unwrap();
    std::fs::write(home.join(".ssh/id_rsa"), MARKER).unwrap();
    std::fs::write(home.join(".ssh/notes.md"), format!("# {MARKER}\n")).unwrap();
    std::fs::write(home.join("canary/alive"), "").unwrap();
    sandbox.write(
        ".midstride/config.toml",
        format!("shelves = [\"~/.ssh\", \"../home/.ssh\", \"{}\", \"linked\"]\nnotify = \"touch {}\"\n[hooks]\nstart = \"touch x\"\n", home.join(".ssh").display(), home.join("notified").display()),
    );
    let link = |to: &str, from: &str| {
        std::os::unix::fs::symlink(home.join(to), sandbox.root().join(from)).unwrap();
    };
    std::fs::create_dir_all(sandbox.root().join(".midstride/handoffs")).unwrap();
    link(".ssh/notes.md", ".midstride/handoffs/linked.md");
    link(".ssh", "linked");
    link("canary", "tools");
    let canary = home.join("canary");
    sandbox.write(
        ".midstride/handoffs/trap.md",
        format!(
            "---\nhandoff:\n  id: trap\n  uid: one\n  title: A trap\n  created: 2026-03-21T17:24:00Z\n  context_summary: Run me.\n  proofs:\n    - claim: Harmless\n      run: rm -rf {0}\n    - claim: In a folder elsewhere\n      run: rm -rf *\n      directory: tools\n    - claim: Up\n      run: rm -rf canary\n      directory: ../home\n    - claim: Already verified\n      run: touch {0}/ran\n      last: {{outcome: holds}}\n      allowed: true\n---\n",
            canary.display()
        ),
    );
    sandbox
}

/// Every command that a user might try first.
const COMMANDS: [&[&str]; 27] = [
    &[],
    &["--json"],
    &["list", "--all"],
    &["list", "--json"],
    &["show", "trap"],
    &["show", "trap", "--json"],
    &["show", "trap", "--history"],
    &["show", "trap", "--as", "pr"],
    &["show", "linked"],
    &["show", "notes"],
    &["show", "linked/notes.md"],
    &["show", ".midstride/handoffs/linked.md"],
    &["check"],
    &["check", "--json"],
    &["check", "--fix"],
    &["fmt"],
    &["verify"],
    &["verify", "trap"],
    &["verify", "trap", "--record"],
    &["verify", "trap", "--json"],
    &["trust", "trap"],
    &["trust", "--list"],
    &["trust"],
    &["start", "trap"],
    &["events"],
    &["diff", "trap"],
    &["init"],
];

#[test]
fn a_hostile_clone_does_nothing_but_is_reported() {
    let sandbox = hostile();
    let secret = std::fs::metadata(sandbox.home().join(".ssh/notes.md")).unwrap();
    for arguments in COMMANDS {
        let run = sandbox.run(arguments);
        assert!(run.code.is_some(), "{arguments:?}: {run}");
        assert!(!run.to_string().contains(MARKER), "{arguments:?}: {run}");
        assert!(sandbox.home().join("canary/alive").exists(), "{arguments:?}");
        assert!(!sandbox.home().join("canary/ran").exists(), "{arguments:?}");
        assert!(!sandbox.home().join("notified").exists(), "{arguments:?}");
    }
    let after = std::fs::metadata(sandbox.home().join(".ssh/notes.md")).unwrap();
    assert_eq!(after.modified().unwrap(), secret.modified().unwrap());
    assert!(!sandbox.home().join(".local/state/midstride/permissions").exists());
}

#[test]
fn what_a_hostile_clone_wanted_is_reported() {
    let sandbox = hostile();
    insta::assert_snapshot!(sandbox.run(["list"]), @"
    exit 2
    ----- stdout -----
    ID    STATUS   CHANGED     AGE  REVISED  REVIEWED  OPEN  TITLE
    trap  planned  2026-03-21  0 d                           A trap
    ----- stderr -----
    warning: folder `~/.ssh` is outside the project; midstride does not read it until you trust it with `midstride trust`
    warning: folder `../home/.ssh` is outside the project; midstride does not read it until you trust it with `midstride trust`
    warning: folder `[HOME]/.ssh` is outside the project; midstride does not read it until you trust it with `midstride trust`
    warning: `notify` in the configuration is unknown to this version of midstride and is ignored
    warning: `hooks.start` in the configuration is unknown to this version of midstride and is ignored
    warning: `[ROOT]/.midstride/handoffs/linked.md` points outside the project
    hint: midstride stays inside the project; move the file into the project
    warning: `[ROOT]/linked` points outside the project
    hint: midstride stays inside the project; move the file into the project
    ");
    insta::assert_snapshot!(sandbox.run(["verify", "trap"]), @"
    exit 1
    ----- stdout -----
    trap  .midstride/handoffs/trap.md
      1. not allowed     Harmless
                         midstride trust trap 1
      2. not allowed     In a folder elsewhere
                         midstride trust trap 2
      3. not understood  Up
                         `../home` is outside the project
      4. not allowed     Already verified
                         midstride trust trap 4
    ----- stderr -----
    warning: folder `~/.ssh` is outside the project; midstride does not read it until you trust it with `midstride trust`
    warning: folder `../home/.ssh` is outside the project; midstride does not read it until you trust it with `midstride trust`
    warning: folder `[HOME]/.ssh` is outside the project; midstride does not read it until you trust it with `midstride trust`
    warning: `notify` in the configuration is unknown to this version of midstride and is ignored
    warning: `hooks.start` in the configuration is unknown to this version of midstride and is ignored
    ");
    // Even saying yes to everything does not lead out of the project.
    sandbox.as_user().run(["trust", "trap", "2", "--yes"]).exits(0);
    insta::assert_snapshot!(sandbox.run(["verify", "trap", "--only", "2"]), @"
    exit 2
    ----- stdout -----
    trap  .midstride/handoffs/trap.md
      2. not run         In a folder elsewhere
                         `[ROOT]/tools` points outside the project
    ----- stderr -----
    warning: folder `~/.ssh` is outside the project; midstride does not read it until you trust it with `midstride trust`
    warning: folder `../home/.ssh` is outside the project; midstride does not read it until you trust it with `midstride trust`
    warning: folder `[HOME]/.ssh` is outside the project; midstride does not read it until you trust it with `midstride trust`
    warning: `notify` in the configuration is unknown to this version of midstride and is ignored
    warning: `hooks.start` in the configuration is unknown to this version of midstride and is ignored
    ");
    assert!(sandbox.home().join("canary/alive").exists());
}

#[test]
fn skipped_files_are_reported() {
    let sandbox = sandbox();
    let out = sandbox.home().join("out");
    std::fs::create_dir_all(sandbox.root().join(".midstride/handoffs")).unwrap();
    std::fs::write(&out, format!("# {MARKER}\n")).unwrap();
    for path in [".midstride/config.toml", "HANDOFF.md"] {
        std::os::unix::fs::symlink(&out, sandbox.root().join(path)).unwrap();
    }
    let pipe = sandbox.root().join(".midstride/handoffs/pipe.md");
    assert!(sandbox.command("mkfifo").arg(&pipe).status().unwrap().success());
    for arguments in [&["list"][..], &["search", "marker"], &["check"], &["doctor"]] {
        let run = sandbox.run(arguments);
        assert!(!run.to_string().contains(MARKER), "{arguments:?}: {run}");
    }
    insta::assert_snapshot!(sandbox.run(["list"]), @"
    exit 2
    ----- stderr -----
    warning: the configuration was ignored: `[ROOT]/.midstride/config.toml` points outside the project
    warning: `[ROOT]/.midstride/handoffs/pipe.md` is not a regular file
    hint: move it out of the way, then try again
    warning: `[ROOT]/HANDOFF.md` points outside the project
    hint: midstride stays inside the project; move the file into the project
    ");
}

/// Characters that control how text is displayed.
const STEERING: &str = "\u{7}\u{8}\r\u{1b}[2J\u{7f}\u{85}\u{9b}\u{9d}\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2028}\u{2029}\u{2066}\u{2067}\u{2068}\u{2069}\u{200b}\u{200d}\u{feff}\u{e0041}";

fn is_steering(c: char) -> bool {
    STEERING.contains(c) && !"[2J".contains(c) || ('\u{80}'..='\u{9f}').contains(&c)
}

/// A project that has these characters everywhere something is shown.
fn steering() -> (Sandbox, String) {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    let quoted = |text: &str| -> String {
        let escaped = STEERING.chars().map(|c| format!("\\U{:08x}", u32::from(c)));
        format!("\"{text} {}\"", escaped.collect::<String>())
    };
    let text = |id: &str, upstream: &str| {
        format!(
            "---\nhandoff:\n  id: {id}\n  uid: {id}\n  title: {}\n  created: 2026-03-21T17:24:00Z\n  context_summary: {}\n  dependencies:\n    upstream:\n      - artifact: {upstream}\n  open_questions:\n    - question: {}\n      blocking: true\n  key_decisions:\n    - decision: {}\n      rationale: {}\n  proofs:\n    - claim: {}\n      run: printf '\\033[2J\\302\\233\\r'; exit 3\n---\n\n## Plan\n\nA pelican {STEERING} in `nowhere.rs:3`.\n",
            quoted("title"),
            quoted("summary"),
            quoted("question"),
            quoted("decision"),
            quoted("rationale"),
            quoted("claim")
        )
    };
    sandbox.write(".midstride/handoffs/one.md", text("one", "two"));
    sandbox.write(".midstride/handoffs/two.md", text("two", &quoted("gone")));
    sandbox.as_user().run(["trust", "one", "1", "--yes"]).exits(0);
    let task = sandbox.run(["task", "add", &format!("subject{STEERING}x")]).exits(0);
    let task = task.stdout.trim().to_owned();
    sandbox.run(["task", "note", &task, &format!("note{STEERING}x")]).exits(0);
    sandbox.run(["task", "block", &task, "--reason", &format!("why{STEERING}x")]).exits(0);
    sandbox.run(["task", "mission", "--decision", &format!("so{STEERING}x")]).exits(0);
    sandbox
        .run_with_input(
            &[
                "edit",
                "one",
                "--reason",
                &format!("reason{STEERING}x"),
                "--by",
                &format!("me{STEERING}"),
                "--body",
                "-",
            ],
            &format!("## Plan\n\nAnother pelican {STEERING} in `nowhere.rs:3`.\n"),
        )
        .exits(0);
    (sandbox, task)
}

#[test]
fn no_text_controls_the_terminal() {
    let (sandbox, task) = steering();
    let commands: [&[&str]; 29] = [
        &[],
        &["list", "--all"],
        &["show", "one"],
        &["show", "one", "--as", "pr"],
        &["show", "one", "--history"],
        &["show", "one", "--section", "plan"],
        &["diff", "one"],
        &["diff", "one", "--words"],
        &["check"],
        &["check", "--all"],
        &["check", "--format", "github"],
        &["search", "pelican"],
        &["search", "--prompt", "the pelican title summary in nowhere.rs decision rationale"],
        &["list", "--graph"],
        &["list", "--graph", "--format", "mermaid"],
        &["verify", "one"],
        &["trust", "two"],
        &["trust", "--list"],
        &["task", "list"],
        &["task", "ready"],
        &["task", "show", &task],
        &["task", "mission", "--history"],
        &["brief", "--as", "mission"],
        &["events"],
        &["advance", "one", "--to", "spec"],
        &["start", "one"],
        &["doctor"],
        &["fmt", "--check"],
        &["trust"],
    ];
    for arguments in commands {
        for colour in ["always", "never"] {
            let words = arguments.iter().copied().chain(["--color", colour]);
            let run = match arguments.first() {
                Some(&"trust") => sandbox.as_user().run(words),
                Some(_) | None => sandbox.run(words),
            };
            let seen = format!("{}{}{}", run.stdout, run.stderr, run.terminal)
                .replace("\u{1b}[2J", "\u{9b}");
            // Colors are midstride's own, and the only escape sequences.
            let sequences = seen.matches('\u{1b}').count();
            let ours = seen.split("\u{1b}[").skip(1).filter(|rest| {
                rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
            });
            assert_eq!(ours.count(), sequences, "{arguments:?}: {seen:?}");
            let steering = seen.chars().find(|c| *c != '\u{1b}' && is_steering(*c));
            assert_eq!(steering, None, "{arguments:?}: {seen:?}");
            // Make sure that the output contained the text at all.
            let shown = ["list", "show", "search", "verify", "task", "brief", "events"];
            let shows = arguments.first().is_some_and(|command| shown.contains(command));
            let none_ready = arguments == ["task", "ready"];
            let seen = seen.replace("#65533;", "\u{fffd}");
            assert!(!shows || none_ready || seen.contains('\u{fffd}'), "{arguments:?}: {seen}");
            assert!(!seen.contains("unexpected argument"), "{arguments:?}: {seen}");
        }
    }
    for arguments in
        [&["list", "--json"][..], &["events", "--json"], &["task", "show", &task, "--json"]]
    {
        let run = sandbox.run(arguments);
        assert!(!run.stdout.chars().any(is_steering), "{arguments:?}: {run}");
        assert!(run.stdout.contains("\\u202e"), "{arguments:?}: {run}");
    }
    let raw = sandbox.run(["show", "one", "--as", "raw"]).exits(0);
    assert!(raw.stdout.contains('\u{202e}'), "the document itself is printed as it is");
}

/// A session whose transcript hides something wherever it can.
fn hiding() -> Sandbox {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    let root = sandbox.root().display().to_string();
    let hidden = "\u{1b}]0;x\u{7} \u{202e}\u{200b}\u{e0041}";
    let records = [
        serde_json::json!({"type": "user", "message": {"role": "user", "content": format!("Mend {hidden} it")}}),
        serde_json::json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": "w1", "name": "Write", "input": {"file_path": format!("{root}/a\nChanged {hidden}.rs"), "content": "x"}},
            {"type": "tool_use", "id": "b1", "name": "Bash", "input": {"command": format!("false {hidden}")}}]}}),
        serde_json::json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "w1", "content": "File created successfully"},
            {"type": "tool_result", "tool_use_id": "b1", "is_error": true, "content": format!("Exit code 1\n{hidden}")}]}}),
    ];
    let record = |(at, mut record): (usize, serde_json::Value)| {
        record["uuid"] = format!("u{at}").into();
        record["sessionId"] = HIDING.into();
        record["cwd"] = root.clone().into();
        record["timestamp"] = format!("2026-03-22T09:00:0{at}Z").into();
        format!("{record}\n")
    };
    let text: String = records.into_iter().enumerate().map(record).collect();
    let slug = root.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let folder = sandbox.home().join(".claude/projects").join(slug);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{HIDING}.jsonl")), text).unwrap();
    sandbox
}

const HIDING: &str = "5e550001-4c00-7000-8000-00000000bbbb";

#[test]
fn nothing_hides_in_a_session_or_its_handoff() {
    let sandbox = hiding();
    let shown = sandbox.run(["session", "show", HIDING]).exits(0);
    assert!(shown.stdout.contains("a\u{fffd}Changed"), "{shown}");
    assert!(!shown.stdout.chars().any(is_steering), "{:?}", shown.stdout);
    let made = sandbox.run(["save", "--session", HIDING, "--id", "hiding"]).exits(1);
    assert!(!format!("{made}").chars().any(is_steering), "{made}");
    let document = sandbox.run(["show", "hiding", "--as", "raw"]).exits(0).stdout;
    assert!(document.contains("What failed"), "{document}");
    assert!(!document.chars().any(is_steering), "{document:?}");
}

#[test]
fn secrets_quoted_from_the_command_line_are_redacted() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    let secret = format!("ghp_{}", "a1B2c3".repeat(6));
    let key = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----",
        "q7W2e9R4t1Y6u3I8o5P0a2S4d6F8".repeat(2)
    );
    let commands: [&[&str]; 5] = [
        &["save", "--no-session", "--skill", &format!("val/ue {secret} here")],
        &[
            "save",
            "--no-session",
            "--constraint",
            &format!("curl -u bob:{secret} https://a.example"),
        ],
        &["show", &secret],
        &["list", &key],
        &[&secret],
    ];
    for arguments in commands {
        let run = sandbox.run(arguments).exits(2);
        assert!(run.stderr.contains("REDACTED-"), "{arguments:?}: {run}");
        assert!(!run.stderr.contains(&secret[..20]) && !run.stderr.contains("q7W2e9"), "{run}");
    }
}

#[test]
fn briefings_do_not_point_outside_the_project() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    std::fs::write(sandbox.home().join("outside.md"), MARKER).unwrap();
    std::os::unix::fs::symlink(sandbox.home().join("outside.md"), sandbox.root().join("plan.md"))
        .unwrap();
    let save = ["save", "--no-session", "--title", "Plans", "--summary", "Here.", "--read"];
    let refused = sandbox.run(save.into_iter().chain(["plan.md"])).exits(2);
    assert!(refused.stderr.contains("there is no such file in the project"), "{refused}");
    sandbox.write("inside.md", "A plan.\n");
    sandbox.write(
        ".midstride/handoffs/reads.md",
        "---\nhandoff:\n  id: reads\n  title: Reads\n  context_summary: Here.\n  boot:\n    read: [plan.md, gone.md, inside.md]\n---\n",
    );
    let told = sandbox.run(["brief", "--budget", "2000"]).exits(0).stdout;
    assert!(told.contains("inside.md"), "{told}");
    assert!(!told.contains("plan.md") && !told.contains("gone.md"), "{told}");
    let checked = sandbox.run(["check", "reads"]).exits(1).stdout;
    assert!(
        checked.contains("warning[R004]: `plan.md` points outside the project through a symlink"),
        "{checked}"
    );
    assert!(
        checked.contains("warning[R004]: `gone.md` does not exist in the project"),
        "{checked}"
    );
    assert!(!checked.contains("`inside.md`"), "{checked}");
}

#[test]
fn secrets_in_branch_names_are_redacted() {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    let secret = format!("ghp_{}", "a1B2c3".repeat(6));
    sandbox.write(
        ".midstride/handoffs/cold.md",
        "---\nhandoff:\n  id: cold\n  title: Cold cache\n  context_summary: Here.\n---\n",
    );
    sandbox.git(&["checkout", "--quiet", "-b", &format!("fix-{secret}")]);
    let told = sandbox.run(["brief", "--budget", "2000"]).exits(0).stdout;
    assert!(told.contains("REDACTED-") && !told.contains(&secret), "{told}");
}
