//! Tests of `save`: facts, author notes, the gate, and the completion text.

use super::allow::with_a_terminal;
use super::session::{put, worked_in};
use super::shop;
use midstride_testkit::{Run, Sandbox, fixtures};
use serde_json::Value;

const FILE: &str = ".git/midstride/handoffs/cache.md";

/// Complete author notes for this session.
const TOLD: &str = r#"{
  "title": "The cache survives deploys",
  "summary": "Pages were slow because every deploy purged the cache. It is warmed now; the build still fails.",
  "decisions": ["Use Redis as the store because the user chose it", "Do not touch the pages, only the cache: the user stopped the edit because visitors saw broken layouts in spring, so every fix has to stay behind the store", "Keep it in one file: the user refused a second module because reviewers lose sight of the purge rules when they are spread out"],
  "wrong_turns": ["The edit of src/page.tsx was taken back because rendering was never slow there, only the purge on deploy was; instead the fix is in src/cache.ts"],
  "landmines": ["npm run build exits with 7 since the cache moved, because the worker misses the store; nobody looked at it yet", "npm test failed because cache.test.ts expected 1 and got 14; editing src/cache.ts made it pass"],
  "next": ["Fix npm run build", "Wait for agent ag2, which benches the cache, then measure again"],
  "constraints": ["Do not touch the pages, only the cache"],
  "role": "fixer",
  "reflection": {"inherit": "yes, all is told", "finds_plans": "yes"}
}"#;

fn saved(sandbox: &Sandbox, arguments: &[&str], input: &str) -> Value {
    let run = sandbox.run_with_input(&[&["save", "--json"], arguments].concat(), input);
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run}"))
}

#[test]
fn a_session_that_is_told_is_complete() {
    let sandbox = worked_in();
    let run = sandbox.run_with_input(&["save", "--id", "cache", "--body", "-"], TOLD);
    insta::assert_snapshot!(run, @r#"
    exit 0
    ----- stdout -----
    ## Mission Handoff

    ### Status Summary
    - Completed: 0 tasks
    - In Progress: 1 task (T-001)
    - Blocked: 0 tasks
    - Pending: 1 task

    ### Key Decisions
    - Use Redis as the store
    - Do not touch the pages, only the cache: the user stopped the edit
    - Keep it in one file: the user refused a second module

    ### Open Questions
    - None currently

    ### Next Actions
    When resuming:
    1. Fix npm run build
    2. Wait for agent ag2, which benches the cache, then measure again

    ## Handoff Complete

    State captured in .git/midstride/handoffs/cache.md (cache@1), read back from disk. To resume:

    1. `midstride brief` briefs a new session
    2. `midstride start cache` starts the work and restores its tasks
    3. `midstride show cache` prints the whole handoff

    **In-flight work:** T-001, agent ag2 (bench) - check for completion
    **Open tasks:** 2
    **Session:** claude-code session 5e550001 "Make the market pages fast again; the cache is purged on ev…"
    "#);
    insta::assert_snapshot!(document(&sandbox));
}

/// The handoff without what differs from run to run.
fn document(sandbox: &Sandbox) -> String {
    let text = sandbox.finish(sandbox.command("cat").arg(FILE)).exits(0).stdout;
    let text = text.split("\n<!-- midstride:anchors").next().unwrap_or_default();
    let line = |line: &str| match line.split_once("checkpoint: ") {
        Some((before, _)) => format!("{before}checkpoint: [CHECKPOINT]\n"),
        None if line.starts_with("<!-- midstride:") && !line.ends_with("end -->") => {
            let words: Vec<&str> = line.split(' ').collect();
            format!("{} [HASH] -->\n", words[..words.len() - 2].join(" "))
        }
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn what_is_missing_is_listed_and_the_handoff_is_saved_all_the_same() {
    let sandbox = worked_in();
    let arguments = ["save", "--id", "cache", "--summary", "Slow pages.", "--next", "Bench it"];
    insta::assert_snapshot!(sandbox.run(arguments), @r#"
    exit 1
    ----- stderr -----
    Wrote cache from claude-code session 5e550001 "Make the market pages fast again; the cache is purged on ev…": .git/midstride/handoffs/cache.md
    6 more items are needed before the next session can resume this:
    1. correction: Keep it in one file (record a21)
       → quote it, or say what the user wants (as a constraint or a decision)
    2. correction: Do not touch the pages, only the cache. (record a19)
       → quote it, or say what the user wants (as a constraint or a decision)
    3. failed command: npm run build (record a38)
       → say why it fails and name the test, file or message that shows it (as a landmine or a wrong turn)
    4. reverted edit: src/page.tsx (record a15)
       → say what was tried there and why it was reverted (as a wrong turn)
    5. open task: Warm the cache (record a31)
       → state its status, or make it a next step
    6. open task: Measure again (record a29)
       → state its status, or make it a next step
    Saved. Add what is missing with midstride save --id cache and --constraint, --decision, --wrong-turn, --landmine, --next or --body -. Or save it as is with --accept REASON.
    "#);
    assert!(sandbox.read(FILE).contains("context_summary: Slow pages."));
    insta::assert_snapshot!(sandbox.run(["save", "--accept", "The user goes on at once"]), @r#"
    exit 0
    ----- stdout -----
    ## Mission Handoff

    ### Status Summary
    - Completed: 0 tasks
    - In Progress: 1 task (T-001)
    - Blocked: 0 tasks
    - Pending: 1 task

    ### Key Decisions
    - None currently

    ### Open Questions
    - None currently

    ### Next Actions
    When resuming:
    1. Check if T-001 is done
    2. Continue delegation cycle: start what `midstride task ready` lists

    ## Handoff Complete

    State captured in .git/midstride/handoffs/cache.md (cache@2), read back from disk. To resume:

    1. `midstride brief` briefs a new session
    2. `midstride start cache` starts the work and restores its tasks
    3. `midstride show cache` prints the whole handoff

    **In-flight work:** T-001, agent ag2 (bench) - check for completion
    **Open tasks:** 2
    **Session:** claude-code session 5e550001 "Make the market pages fast again; the cache is purged on ev…"
    ----- stderr -----
    Accepted as is (correction, failed_command, reverted_edit, open_task): The user goes on at once
    "#);
    let text = sandbox.read(FILE);
    assert!(text.contains("accepted: The user goes on at once"), "{text}");
    assert!(text.contains("findings: [correction"), "{text}");
}

#[test]
fn a_vacuous_handoff_does_not_pass_without_a_transcript_either() {
    let sandbox = shop();
    let gaps = |summary: &str, next: &str, id: &str| {
        let said = ["--title", "Cold cache", "--summary", summary, "--next", next];
        let done = saved(&sandbox, &[&["--no-session", "--id", id][..], &said].concat(), "");
        let codes = done["missing"].as_array().unwrap().iter().map(|gap| gap["code"].to_string());
        (done["complete"].as_bool().unwrap(), codes.collect::<Vec<_>>().join(" "))
    };
    let nothing = |codes: &str| (false, codes.to_owned());
    assert_eq!(gaps("Stuff was done", "Warm the cache", "a"), nothing("\"C013\""));
    assert_eq!(gaps("Deploys purge the cache.", "TBD", "b"), nothing("\"C013\" \"C006\""));
    assert_eq!(
        gaps("Deploys purge the cache.", "[Next step 1]", "c"),
        nothing("\"C013\" \"C006\"")
    );
    assert_eq!(gaps("Deploys purge the cache.", "{{x}}", "d"), nothing("\"C006\""));
    assert_eq!(gaps("{{summary}}", "Warm the cache", "e"), nothing("\"C006\""));
    assert_eq!(gaps("Deploys purge the cache.", "Warm the cache", "f"), (true, String::new()));
}

/// The same command in the shell of an agent.
fn by_agent(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    command.arg("save").args(arguments).env("CLAUDECODE", "1");
    sandbox.finish(&mut command)
}

#[test]
fn an_agent_is_asked_once_and_its_second_save_is_kept_with_what_is_missing() {
    let sandbox = worked_in();
    let arguments = ["--id", "cache", "--summary", "Slow pages.", "--next", "Bench it"];
    insta::assert_snapshot!(by_agent(&sandbox, &arguments), @r#"
    exit 1
    ----- stderr -----
    Wrote cache from claude-code session 5e550001 "Make the market pages fast again; the cache is purged on ev…": .git/midstride/handoffs/cache.md
    6 more items are needed before the next session can resume this:
    1. correction: Keep it in one file (record a21)
       → quote it, or say what the user wants (as a constraint or a decision)
    2. correction: Do not touch the pages, only the cache. (record a19)
       → quote it, or say what the user wants (as a constraint or a decision)
    3. failed command: npm run build (record a38)
       → say why it fails and name the test, file or message that shows it (as a landmine or a wrong turn)
    4. reverted edit: src/page.tsx (record a15)
       → say what was tried there and why it was reverted (as a wrong turn)
    5. open task: Warm the cache (record a31)
       → state its status, or make it a next step
    6. open task: Measure again (record a29)
       → state its status, or make it a next step
    Not answered: Would I inherit this confidently with zero context? (--inherit yes, or --inherit "no: why")
    Not answered: Would the resuming agent find and read the plan documents before working? (--finds-plans yes, or --finds-plans "no: why")
    Saved. Add what is missing with midstride save --id cache and --constraint, --decision, --wrong-turn, --landmine, --next or --body -. You are asked only once; the next save is accepted as is.
    "#);
    let first = sandbox.read(FILE);
    assert!(first.contains("asked: 5e55") && !first.contains("kept: true"), "{first}");
    insta::assert_snapshot!(by_agent(&sandbox, &["--constraint", "Keep it in one file"]), @r#"
    exit 0
    ----- stdout -----
    ## Mission Handoff

    ### Status Summary
    - Completed: 0 tasks
    - In Progress: 1 task (T-001)
    - Blocked: 0 tasks
    - Pending: 1 task

    ### Key Decisions
    - None currently

    ### Open Questions
    - None currently

    ### Next Actions
    When resuming:
    1. Check if T-001 is done
    2. Continue delegation cycle: start what `midstride task ready` lists

    ## Handoff Complete

    State captured in .git/midstride/handoffs/cache.md (cache@2), read back from disk. To resume:

    1. `midstride brief` briefs a new session
    2. `midstride start cache` starts the work and restores its tasks
    3. `midstride show cache` prints the whole handoff

    **In-flight work:** T-001, agent ag2 (bench) - check for completion
    **Open tasks:** 2
    **Session:** claude-code session 5e550001 "Make the market pages fast again; the cache is purged on ev…"
    ----- stderr -----
    Saved as is. The handoff lists 5 missing items.
    "#);
    let second = sandbox.read(FILE);
    let missing = second.split("      missing:\n").nth(1).unwrap();
    let missing: Vec<&str> =
        missing.lines().map(str::trim).take_while(|line| line.starts_with("- ")).collect();
    let expected = [
        "- \"correction: Do not touch the pages, only the cache.\"",
        "- \"failed command: npm run build\"",
        "- \"reverted edit: src/page.tsx\"",
        "- \"open task: Warm the cache\"",
        "- \"open task: Measure again\"",
    ];
    assert_eq!(missing, expected, "{second}");
    assert!(second.contains("kept: true") && second.contains("passed: false"), "{second}");
    // A third save is not asked either, and changes nothing.
    by_agent(&sandbox, &["--constraint", "Keep it in one file"]).exits(0);
    assert_eq!(sandbox.read(FILE), second);
    let json = saved(&sandbox, &["--inherit", "yes"], "");
    assert_eq!((&json["complete"], &json["kept"]), (&false.into(), &false.into()), "{json}");
}

#[test]
fn the_two_questions_are_asked_of_agents_and_not_of_people() {
    let question = "Would I inherit this confidently with zero context?";
    let sandbox = worked_in();
    let person = sandbox.run_with_input(&["save", "--id", "cache", "--summary", "Slow pages."], "");
    assert!(!person.to_string().contains(question), "{person}");
    assert!(!sandbox.read(FILE).contains("reflection:"), "{}", sandbox.read(FILE));
    let agent = by_agent(&sandbox, &["--landmine", "The purge runs at night"]).to_string();
    assert_eq!(agent.matches("Not answered: ").count(), 2, "{agent}");
    assert!(sandbox.read(FILE).contains("finds_plans: not answered"));
    let again = by_agent(&sandbox, &["--landmine", "The purge runs at noon"]).exits(0).to_string();
    assert!(!again.contains("Not answered"), "{again}");
    // In a terminal, only missing items may be accepted.
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    command.args(["save", "--landmine", "The purge runs at dawn"]);
    let attended = with_a_terminal(command, "\n").stderr;
    assert!(attended.contains("Reason to accept cache without this"), "{attended}");
    assert!(!attended.contains(question), "{attended}");
}

#[test]
fn what_midstride_writes_is_neither_judged_nor_shown_with_its_comments() {
    let sandbox = worked_in();
    sandbox.run_with_input(&["save", "--id", "cache", "--body", "-"], TOLD).exits(0);
    let checked = sandbox.run(["check", "cache"]).exits(0).to_string();
    assert!(checked.contains("1 document checked"), "{checked}");
    // No plan step without a check, and not too short.
    assert!(!checked.contains("C003") && !checked.contains("C005"), "{checked}");
    for arguments in [&["show", "cache"][..], &["brief", "--budget", "4000"]] {
        let told = sandbox.run(arguments).exits(0).stdout;
        assert!(told.contains("1. Fix npm run build"), "{told}");
        assert!(!told.contains("midstride:"), "{told}");
    }
}

#[test]
fn what_is_only_named_is_missing_and_check_says_the_same() {
    let sandbox = worked_in();
    let hollow = "npm run build failed because because because; instead because";
    let saved = saved(&sandbox, &["--id", "cache", "--wrong-turn", hollow], "");
    let build = "failed command: npm run build (mentioned but not explained)";
    assert!(saved.to_string().contains(build), "{saved}");
    let checked = sandbox.run(["check", "cache"]);
    let counts: Vec<&str> =
        checked.stdout.lines().filter(|line| line.starts_with("changed files")).collect();
    // The facts list every changed file; the author covers none.
    assert_eq!(counts, ["changed files     3         0      0"], "{checked}");
    assert!(!checked.stdout.contains("C003"), "{checked}");
}

#[test]
fn saving_the_same_again_changes_nothing() {
    let sandbox = worked_in();
    assert_eq!(saved(&sandbox, &["--id", "cache", "--body", "-"], TOLD)["written"], "new");
    let text = sandbox.read(FILE);
    let again = saved(&sandbox, &["--body", "-"], TOLD);
    assert_eq!((&again["written"], &again["key"]), (&"unchanged".into(), &"cache".into()));
    assert_eq!(sandbox.read(FILE), text);
    let later = sandbox
        .command(env!("CARGO_BIN_EXE_midstride"))
        .args(["save", "--inherit", "yes, all is told"])
        .env("MIDSTRIDE_NOW", "2026-03-29T09:00:00Z")
        .output()
        .unwrap();
    assert!(later.status.success(), "{later:?}");
    assert_eq!(sandbox.read(FILE), text);
}

#[test]
fn what_the_author_wrote_stays_and_facts_are_brought_up() {
    let sandbox = worked_in();
    saved(&sandbox, &["--id", "cache", "--body", "-"], TOLD);
    let mine = sandbox
        .read(FILE)
        .replace("## Continuation\n", "## Continuation\n\nBy hand: look at the worker first.\n");
    sandbox.write(FILE, &mine);
    let transcript =
        std::fs::read_to_string(fixtures("transcripts/claude-code").join("cache.jsonl")).unwrap();
    let transcript = transcript.replace("/home/dev/shop", &sandbox.root().display().to_string());
    let transcript = transcript.replace("2026-03-20", "2026-03-22");
    let whole = transcript.rsplit_once('\n').unwrap().0.rsplit_once('\n').unwrap().0;
    let more = r#"{"sessionId": "5e55-0001", "cwd": "ROOT", "type": "user", "uuid": "a54", "parentUuid": "a52", "timestamp": "2026-03-22T09:01:00.000Z", "message": {"role": "user", "content": "Now tell the team."}}"#;
    let more = more.replace("ROOT", &sandbox.root().display().to_string());
    put(&sandbox, "5e550001-4c00-7000-8000-00000000aaaa", &format!("{whole}\n{more}\n"));
    let again = saved(&sandbox, &["--landmine", "The purge runs at night"], "");
    assert_eq!((&again["written"], &again["revision"]), (&"revised".into(), &2.into()), "{again}");
    let text = sandbox.read(FILE);
    for kept in
        ["By hand: look at the worker first.", "Use Redis as the store", "1. Fix npm run build"]
    {
        assert_eq!(text.matches(kept).count(), 1, "{kept}: {text}");
    }
    assert_eq!(text.matches("Now tell the team.").count(), 2, "{text}");
    assert!(
        text.contains("The purge runs at night") && text.contains("last_record: a54"),
        "{text}"
    );
    assert_eq!(text.matches("midstride:facts 1").count(), 1, "{text}");
    sandbox.run(["undo", "cache"]).exits(0);
    assert!(!sandbox.read(FILE).contains("The purge runs at night"));
}

#[test]
fn the_state_leads_back_to_the_checkpoint() {
    let sandbox = worked_in();
    let done = saved(&sandbox, &["--id", "cache", "--body", "-"], TOLD);
    let text = sandbox.read(FILE);
    let checkpoint = done["checkpoint"].as_str().unwrap();
    assert!(
        text.contains(&format!("      checkpoint: {checkpoint}\n"))
            || text.contains(&format!("      checkpoint: \"{checkpoint}\"\n")),
        "{text}"
    );
    assert_eq!(done["in_flight"][0]["id"], "ag2");
    assert_eq!(done["tasks"], 2);
    sandbox.run(["start", "cache"]).exits(0);
    let tasks = sandbox.run(["task", "list"]).exits(0).stdout;
    assert!(tasks.contains("Warm the cache") && tasks.contains("Measure again"), "{tasks}");
    let again = saved(&sandbox, &["--landmine", "x is slow"], "");
    assert_eq!(again["tasks"], 2, "{again}");
}

#[test]
fn secrets_are_not_written() {
    let sandbox = worked_in();
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let run = sandbox.run([
        "save",
        "--id",
        "cache",
        "--summary",
        &format!("The token is {secret}"),
        "--next",
        "Go",
    ]);
    assert!(run.stderr.contains("redacted a secret"), "{run}");
    assert!(!sandbox.read(FILE).contains(&secret));
}

#[test]
fn markdown_is_read_by_meaning() {
    let sandbox = worked_in();
    let text = "# The cache survives deploys\n\nEvery deploy purged it.\n\n## Next steps\n\nFix the build.\n";
    sandbox.run_with_input(&["save", "--id", "cache", "--body", "-"], text);
    let written = sandbox.read(FILE);
    let at = |part: &str| written.find(part).unwrap_or_else(|| panic!("{part}: {written}"));
    assert!(at("title: The cache survives deploys") < at("## Boot"));
    assert!(at("## Context") < at("Every deploy purged it."));
    assert!(at("Every deploy purged it.") < at("midstride:facts"));
    assert!(at("## Continuation") < at("Fix the build."));
}

#[test]
fn a_person_without_a_client_saves_too() {
    let sandbox = shop();
    sandbox.run(["task", "add", "Warm the cache"]).exits(0);
    let arguments = [
        "save",
        "--no-session",
        "--title",
        "Cold cache",
        "--summary",
        "Deploys purge it.",
        "--next",
        "Warm it",
        "--inherit",
        "yes",
        "--finds-plans",
        "no: it is in a mail",
    ];
    let run = sandbox.run(arguments);
    insta::assert_snapshot!(run, @"
    exit 0
    ----- stdout -----
    ## Mission Handoff

    ### Status Summary
    - Completed: 0 tasks
    - In Progress: 0 tasks
    - Blocked: 0 tasks
    - Pending: 1 task

    ### Key Decisions
    - None currently

    ### Open Questions
    - None currently

    ### Next Actions
    When resuming:
    1. Warm it

    ## Handoff Complete

    State captured in .git/midstride/handoffs/cold-cache.md (cold-cache@1), read back from disk. To resume:

    1. `midstride brief` briefs a new session
    2. `midstride start cold-cache` starts the work and restores its tasks
    3. `midstride show cold-cache` prints the whole handoff

    **In-flight work:** none
    **Open tasks:** 1
    ----- stderr -----
    Would the resuming agent find and read the plan documents before working? No: it is in a mail
    ");
    insta::assert_snapshot!(sandbox.run(arguments), @"
    exit 0
    ----- stdout -----
    ## Mission Handoff

    ### Status Summary
    - Completed: 0 tasks
    - In Progress: 0 tasks
    - Blocked: 0 tasks
    - Pending: 1 task

    ### Key Decisions
    - None currently

    ### Open Questions
    - None currently

    ### Next Actions
    When resuming:
    1. Warm it

    ## Handoff Complete

    State captured in .git/midstride/handoffs/cold-cache.md (cold-cache@1), read back from disk. To resume:

    1. `midstride brief` briefs a new session
    2. `midstride start cold-cache` starts the work and restores its tasks
    3. `midstride show cold-cache` prints the whole handoff

    **In-flight work:** none
    **Open tasks:** 1
    ----- stderr -----
    cold-cache: nothing new to save in .git/midstride/handoffs/cold-cache.md
    Would the resuming agent find and read the plan documents before working? No: it is in a mail
    ");
    insta::assert_snapshot!(sandbox.run(["check", "cold-cache"]), @"
    exit 0
    ----- stderr -----
    1 document checked: no problems
    ");
}

#[test]
fn what_cannot_be_saved_says_what_can() {
    let sandbox = shop();
    insta::assert_snapshot!(sandbox.run(["save", "--summary", "Slow."]), @"
    exit 2
    ----- stderr -----
    error: no session found for this project
    hint: for a transcript stored elsewhere or from a project that was moved, use `--transcript`; if a client's home folder is in another location, set CLAUDE_CONFIG_DIR, CODEX_HOME or QWEN_HOME
    hint: `--no-session` saves your text with facts from git and tasks
    ");
    let sandbox = worked_in();
    insta::assert_snapshot!(sandbox.run(["save", "--body", "-"]), @r#"
    exit 2
    ----- stderr -----
    error: invalid input: it is empty
    hint: use flags, as in `midstride save --summary "..." --next "..."`
    hint: or in Markdown or JSON with `--body -`
    "#);
    insta::assert_snapshot!(sandbox.run(["save", "--constraint", "npm ci && npm test"]), @"
    exit 2
    ----- stderr -----
    error: `npm ci && npm test` is not a valid startup step: it looks like a shell command, which is not allowed as a startup step
    hint: write one short sentence; a command that demonstrates something belongs under `proofs`
    ");
    insta::assert_snapshot!(sandbox.run(["save", "--read", "../secrets.md"]), @"
    exit 2
    ----- stderr -----
    error: `../secrets.md` is not a valid startup step: it is not a path under the project root
    hint: `--read` takes the path of a file in the project
    ");
    insta::assert_snapshot!(sandbox.run_with_input(&["save", "--body", "-"], r#"{"desicions": ["A"]}"#), @"
    exit 2
    ----- stderr -----
    error: invalid input: unknown key `desicions`
    hint: did you mean `decisions`?
    ");
    insta::assert_snapshot!(sandbox.run(["save", "--id", "market-page-perf", "--summary", "x"]), @"
    exit 2
    ----- stderr -----
    error: `market-page-perf` has kind investigation, but saving a session requires kind session
    hint: `midstride edit market-page-perf` replaces its text
    hint: omit `--id` to save a new handoff
    ");
    insta::assert_snapshot!(sandbox.run(["save", "--no-session", "--summary", "x"]), @"
    exit 2
    ----- stderr -----
    error: a handoff needs a title or an id
    hint: give it a title with `--title`
    ");
    assert!(!sandbox.root().join(".git/midstride/handoffs").exists());
}

const OWN: &str = "a1a10001-4c00-7000-8000-00000000aaaa";
const OTHER: &str = "b2b20001-4c00-7000-8000-00000000bbbb";

/// A session in the project's folder with one prompt.
fn asked(sandbox: &Sandbox, id: &str, what: &str) {
    let record = r#"{"sessionId": "ID", "cwd": "ROOT", "type": "user", "uuid": "u1 of ID", "parentUuid": null, "timestamp": "2026-03-22T09:00:00.000Z", "message": {"role": "user", "content": "WHAT"}}"#;
    let root = sandbox.root().display().to_string();
    put(
        sandbox,
        id,
        &format!("{}\n", record.replace("ID", id).replace("ROOT", &root).replace("WHAT", what)),
    );
}

/// Runs a command in the shell of a Claude Code session.
fn run_in_session(sandbox: &Sandbox, id: &str, arguments: &[&str]) -> midstride_testkit::Run {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    command.args(arguments).env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", id);
    sandbox.finish(&mut command)
}

#[test]
fn the_session_that_asks_is_the_one_that_is_saved() {
    let sandbox = shop();
    asked(&sandbox, OWN, "Warm the cache");
    asked(&sandbox, OTHER, "Rename the shop");
    for id in [OWN, OTHER] {
        let save = ["save", "--json", "--summary", "Slow.", "--next", "Go on"];
        let run = run_in_session(&sandbox, id, &save);
        let done: Value = serde_json::from_str(&run.stdout).unwrap();
        let run = run_in_session(&sandbox, id, &["session", "capture", "--json"]).exits(0);
        let written: Value = serde_json::from_str(&run.stdout).unwrap();
        let about = if id == OWN { "session-warm-cache" } else { "session-rename-shop" };
        assert_eq!(done["key"], about, "{done}");
        assert_eq!(written["checkpoint"], done["checkpoint"], "{written}");
    }
    let gone = "c3c30001-4c00-7000-8000-00000000cccc";
    insta::assert_snapshot!(run_in_session(&sandbox, gone, &["save", "--summary", "x"]), @"
    exit 2
    ----- stderr -----
    error: claude-code session `[UID]` has no transcript in this project
    hint: use `--session` or `--transcript` to select another session
    hint: `--no-session` saves your text with facts from git and tasks
    ");
    insta::assert_snapshot!(run_in_session(&sandbox, gone, &["session", "capture"]), @"
    exit 2
    ----- stderr -----
    error: claude-code session `[UID]` has no transcript in this project
    hint: use `--session` or `--transcript` to select another session
    ");
    run_in_session(&sandbox, gone, &["session", "capture", "--last"]).exits(0);
}

#[test]
fn many_that_save_one_session_at_once_make_one_handoff() {
    let sandbox = worked_in();
    let program = env!("CARGO_BIN_EXE_midstride");
    let save = |number: usize| {
        let decision = format!("Choose way {number} because it is short");
        let mut command = sandbox.command(program);
        command.args(["save", "--decision", &decision, "--accept", "in a hurry"]);
        command.stdin(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let running: Vec<_> = (0..12).map(save).collect();
    for one in running {
        let done = one.wait_with_output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let folder = sandbox.root().join(".git/midstride/handoffs");
    let mut files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let text = std::fs::read_to_string(files.next().unwrap()).unwrap();
    assert_eq!(files.next(), None);
    for number in 0..12 {
        assert!(text.contains(&format!("Choose way {number}\n")), "{number}: {text}");
    }
}

#[test]
fn an_earlier_session_is_saved_by_its_id_into_one_handoff() {
    let sandbox = worked_in();
    sandbox.run(["save", "--session", "5e55", "--id", "cache"]).exits(1);
    let text = sandbox.read(FILE);
    for part in [
        "  state:\n",
        "    recovery:\n      client: claude-code\n",
        "## Boot",
        "## Context",
        "## Continuation",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let again = sandbox.run(["save", "--session", "5e55", "--json"]).exits(1).stdout;
    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
    assert_eq!((&again["key"], &again["written"]), (&"cache".into(), &"unchanged".into()));
    assert_eq!(sandbox.read(FILE), text);
    let done = saved(&sandbox, &["--body", "-"], TOLD);
    assert_eq!((&done["key"], &done["written"]), (&"cache".into(), &"revised".into()), "{done}");
}

#[test]
fn a_session_is_saved_on_when_its_transcript_is_gone() {
    let sandbox = worked_in();
    let first = saved(&sandbox, &["--id", "cache", "--body", "-"], TOLD);
    std::fs::remove_dir_all(sandbox.home().join(".claude/projects")).unwrap();
    for arguments in
        [["--session", "5e55", "--landmine", "A trap"], ["--id", "cache", "--landmine", "A pit"]]
    {
        let again = saved(&sandbox, &arguments, "");
        assert_eq!(
            (&again["key"], &again["written"]),
            (&"cache".into(), &"revised".into()),
            "{again}"
        );
        assert_eq!(again["checkpoint"], first["checkpoint"], "{again}");
    }
    asked(&sandbox, OTHER, "Rename the shop");
    let again = saved(&sandbox, &["--id", "cache", "--landmine", "A hole"], "");
    assert_eq!(again["checkpoint"], first["checkpoint"], "{again}");
}

#[test]
fn a_text_that_is_too_long_is_refused_and_not_cut() {
    let sandbox = worked_in();
    let text = "x\n".repeat((16 << 20) / 2 + 1);
    insta::assert_snapshot!(sandbox.run_with_input(&["save", "--body", "-"], &text), @"
    exit 2
    ----- stderr -----
    error: standard input exceeds the limit of 16777216 bytes
    hint: move content into separate files and refer to them
    ");
    assert!(!sandbox.root().join(".git/midstride/handoffs").exists());
}

#[test]
fn what_is_missing_is_shown_as_far_as_it_can_be_read() {
    let sandbox = worked_in();
    let text = format!("# Cache\n\nSlow.\n\n{}", "- TODO\n".repeat(30));
    let run = sandbox.run_with_input(&["save", "--body", "-"], &text).exits(1);
    assert_eq!(run.stderr.matches("\n   → ").count(), 20, "{run}");
    assert!(run.stderr.contains("more; `--json` lists them all"), "{run}");
    assert!(run.stderr.contains("failed command: npm run build"), "{run}");
    let all = saved(&sandbox, &["--inherit", "yes"], "");
    assert!(all["missing"].as_array().unwrap().len() > 30, "{all}");
}

#[test]
fn what_its_author_would_not_take_over_is_not_complete() {
    let sandbox = worked_in();
    sandbox.run_with_input(&["save", "--id", "cache", "--body", "-"], TOLD).exits(0);
    let run = sandbox.run(["save", "--inherit", "no: the bench is not described"]).exits(1);
    let said = "the author would not want to inherit this handoff: the bench is not described";
    assert!(run.stderr.contains(said) && !run.stdout.contains("Handoff Complete"), "{run}");
    assert!(sandbox.read(FILE).contains("passed: false"));
    sandbox.run(["save", "--inherit", "yes"]).exits(0);
    assert!(sandbox.read(FILE).contains("passed: true"));
}

#[test]
fn where_nothing_is_said_the_facts_are_saved_and_nobody_waits() {
    let sandbox = worked_in();
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    command.args(["save", "--id", "cache"]).stdin(std::process::Stdio::piped());
    let mut running = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    let left_open = running.stdin.take();
    assert_eq!(running.wait().unwrap().code(), Some(1));
    drop(left_open);
    assert!(sandbox.read(FILE).contains("midstride:facts 1"));
    insta::assert_snapshot!(sandbox.run(["save"]), @r#"
    exit 1
    ----- stderr -----
    Saved facts only. Add a summary with --summary, or pass your notes on standard input with `--body -`.
    cache: nothing new to save from claude-code session 5e550001 "Make the market pages fast again; the cache is purged on ev…" in .git/midstride/handoffs/cache.md
    8 more items are needed before the next session can resume this:
    1. `context_summary` is empty, but a session handoff needs it (S002, line 12)
       → write a summary that says in one to three sentences what this is about and what its status is
    2. correction: Keep it in one file (record a21)
       → quote it, or say what the user wants (as a constraint or a decision)
    3. correction: Do not touch the pages, only the cache. (record a19)
       → quote it, or say what the user wants (as a constraint or a decision)
    4. failed command: npm run build (record a38)
       → say why it fails and name the test, file or message that shows it (as a landmine or a wrong turn)
    5. reverted edit: src/page.tsx (record a15)
       → say what was tried there and why it was reverted (as a wrong turn)
    6. open task: Warm the cache (record a31)
       → state its status, or make it a next step
    7. open task: Measure again (record a29)
       → state its status, or make it a next step
    8. `Continuation` is empty (C007, line 237)
       → say what to do next, in order, and where to begin
    Saved. Add what is missing with midstride save --id cache and --constraint, --decision, --wrong-turn, --landmine, --next or --body -. Or save it as is with --accept REASON.
    "#);
}

#[test]
fn a_text_may_begin_with_a_hyphen() {
    let sandbox = worked_in();
    let arguments =
        ["--id", "cache", "--next", "- run the tests", "--landmine", "--no-verify is used"];
    saved(&sandbox, &arguments, "");
    let text = sandbox.read(FILE);
    for said in ["run the tests", "--no-verify is used"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    insta::assert_snapshot!(sandbox.run(["save", "--summary", "--json"]), @r#"
    exit 2
    ----- stdout -----
    {
      "schema": "error/1",
      "code": "usage",
      "message": "invalid value '--json' for '--summary <TEXT>': it looks like an option; text that begins with a hyphen must contain more than one word",
      "hint": null
    }
    "#);
    let mission =
        ["task", "mission", "--next", "- run the tests", "--decision", "--no-verify is out"];
    sandbox.run(mission).exits(0);
    let id = "market-page-perf";
    sandbox
        .run(["review", id, "--by", "ann", "--challenged", "- the numbers", "--verdict", "held"])
        .exits(0);
    sandbox
        .run_with_input(&["edit", id, "--reason", "- new numbers", "--body", "-"], "Other text.\n")
        .exits(0);
    saved(&sandbox, &["--question", "Which store?"], "");
    sandbox.run(["answer", "cache", "q1", "- the fast one", "--by", "ann"]).exits(0);
    assert!(sandbox.read(FILE).contains("the fast one"));
}

#[test]
fn what_the_editor_brought_is_what_was_saved() {
    let sandbox = worked_in();
    sandbox.run(["save", "--id", "cache", "--summary", "Slow.", "--next", "Measure"]).exits(1);
    let edited = |line: &str| {
        let script = sandbox.home().join("editor.sh");
        std::fs::write(&script, format!("{line}\n")).unwrap();
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
        command.arg("save").env("EDITOR", format!("sh {}", script.display()));
        with_a_terminal(command, "\n\n\n").stderr
    };
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let told = edited(&format!("echo 'By hand: {token}' >> \"$1\""));
    assert!(told.contains("Saved cache@2 from claude-code session 5e550001"), "{told}");
    assert!(told.contains("redacted a secret: github-token"), "{told}");
    assert!(!told.contains("nothing new"), "{told}");
    let text = sandbox.read(FILE);
    assert!(text.contains("By hand: ") && !text.contains(&token), "{text}");
    let told = edited("true");
    assert!(told.contains("cache: nothing new to save"), "{told}");
}

#[test]
fn plans_in_the_usual_places_are_startup_steps_until_they_are_done() {
    let sandbox = shop();
    let open = [
        "docs/plans/a.md",
        "docs/superpowers/plans/b.md",
        "thoughts/shared/plans/c.md",
        "specs/checkout/plan.md",
        "docs/cache-impl.md",
    ];
    for path in open {
        sandbox.write(path, "# A plan\n\n- [x] Begin\n- [ ] Warm the cache\n");
    }
    sandbox.write("docs/plans/done.md", "# Done\n\n- [x] All of it\n");
    sandbox.write("docs/plans/README.md", "# What plans are\n");
    let said =
        ["save", "--no-session", "--id", "cache", "--title", "Cache", "--summary", "It is warm."];
    let run = sandbox.run(said.into_iter().chain(["--skill", "/mission-control --fg"]));
    let document = sandbox.read(FILE);
    let boot = document.split("  boot:").nth(1).unwrap().split("  state:").next().unwrap();
    for path in open {
        assert!(boot.contains(path), "{path}: {boot} {run}");
    }
    assert!(!boot.contains("done.md") && !boot.contains("README"), "{boot}");
    assert!(boot.contains("- mission-control (--fg)"), "{boot}");
    let page = sandbox.run(["brief", "--budget", "4000"]).exits(0).stdout;
    assert!(page.contains("mission-control (--fg)"), "{page}");
}

#[test]
fn only_the_owner_can_read_what_is_stored_privately() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = crate::sandbox().repository();
    sandbox.git(&["config", "core.sharedRepository", "group"]);
    let program = env!("CARGO_BIN_EXE_midstride");
    let script = format!(
        "umask 0; {program} init; {program} new 'A private finding' --id mine --private --no-edit; \
         {program} task add 'Warm the cache'; {program} search finding; \
         echo More | {program} edit mine --reason more --body -; \
         echo '{{}}' | {program} hook claude-code"
    );
    sandbox.finish(sandbox.command("sh").args(["-ec", &script])).exits(0);
    let state = sandbox.home().join(".local/state/midstride");
    let mut folders = vec![sandbox.root().join(".git/midstride"), state];
    let mut seen = Vec::new();
    while let Some(folder) = folders.pop() {
        let mode = std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{}", path.display());
            seen.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    assert!(
        ["ledger.db", "mine.md", "hooks.log", "records.lock"]
            .iter()
            .all(|name| seen.iter().any(|path| path == name)),
        "{seen:?}"
    );
    // A store of an earlier version is restricted by the next command.
    let store = sandbox.root().join(".git/midstride");
    for (path, mode) in [(store.clone(), 0o755), (store.join("ledger.db"), 0o644)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    sandbox.run(["task", "list"]).exits(0);
    for (path, mode) in [(store.clone(), 0o700), (store.join("ledger.db"), 0o600)] {
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode);
    }
}
