//! Tests of hostile hook input: the client is not failed, and nothing is written but midstride's
//! own data.

use super::{Tree, bytes_of, cases, raw_values};
use crate::sandbox;
use midstride_testkit::{Random, Sandbox, fixtures};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const SESSION: &str = "11111111-1111-4111-8111-111111111111";

/// The memory limit for a payload of 50 MB, in the kilobytes that `ulimit -v` counts: four times
/// its size.
const KILOBYTES_MAX: &str = "200000";

/// A project and its surroundings: a home with files that are not transcripts, another project, and
/// a repository that was not set up.
struct Ground {
    sandbox: Sandbox,
    /// Where midstride may write.
    ours: Vec<PathBuf>,
    before: Tree,
}

impl Ground {
    fn new() -> Self {
        let sandbox = sandbox().repository();
        sandbox.as_user().run(["init"]).exits(0);
        sandbox.write(
            ".midstride/handoffs/market.md",
            "---\nhandoff:\n  id: market\n  title: Market pages\n  status: in_progress\n  context_summary: Slow.\n  landmines: [The balance is looked up]\n---\n",
        );
        sandbox.write(".midstride/config.toml", "[hooks]\nstop_gate = true\n");
        let base = sandbox.root().parent().unwrap().to_owned();
        std::fs::write(base.join("canary.json"), "{}\n").unwrap();
        std::fs::write(sandbox.home().join("canary.jsonl"), "{\"type\": \"user\"}\n").unwrap();
        for name in ["other", "stranger"] {
            let folder = base.join(name);
            std::fs::create_dir(&folder).unwrap();
            let mut git = sandbox.command("git");
            sandbox.finish(git.current_dir(&folder).args(["init", "--quiet"])).exits(0);
        }
        sandbox.as_user().run(["-C", base.join("other").to_str().unwrap(), "init"]).exits(0);
        put_transcripts(&sandbox);
        let ours = vec![
            sandbox.root().join(".git/midstride"),
            base.join("other/.git/midstride"),
            base.join("stranger/.git/midstride"),
            sandbox.home().join(".local/state/midstride"),
            // What the test itself writes.
            sandbox.home().join("call"),
        ];
        let before = Tree::around(&sandbox, &ours);
        Self { sandbox, ours, before }
    }

    fn path(&self, name: &str) -> String {
        self.sandbox.root().parent().unwrap().join(name).display().to_string()
    }

    /// The calls that a client makes, as fields with raw values.
    fn calls(&self, client: &str) -> Vec<Fields> {
        let events: &[(&str, &str)] = match client {
            "claude-code" => &CLAUDE_CODE,
            _ => &CODEX,
        };
        let base = json!({
            "session_id": SESSION,
            "transcript_path": transcripts(&self.sandbox).join(format!("{SESSION}.jsonl")),
            "cwd": self.sandbox.root(),
        });
        let one = |(event, more): &(&str, &str)| {
            let more: Value = serde_json::from_str(more).unwrap();
            let named = json!({ "hook_event_name": event });
            let all = [&base, &named, &more].map(|part| part.as_object().unwrap().clone());
            let all = all.into_iter().flatten();
            Fields(all.map(|(name, value)| (name, value.to_string().into_bytes())).collect())
        };
        events.iter().map(one).collect()
    }

    fn command(&self, client: &str) -> Command {
        let mut command = self.sandbox.command(env!("CARGO_BIN_EXE_midstride"));
        command.args(["hook", client]).env("MIDSTRIDE_HOOK_MILLISECONDS", "60000");
        command
    }

    /// Makes a call and checks everything that must always hold.
    #[track_caller]
    fn call(&self, client: &str, bytes: &[u8]) {
        self.run(client, &mut self.command(client), bytes);
    }

    #[track_caller]
    fn run(&self, client: &str, command: &mut Command, bytes: &[u8]) {
        let file = self.sandbox.home().join("call");
        std::fs::write(&file, bytes).unwrap();
        let log = self.sandbox.root().join(".git/midstride/hooks.log");
        let _ = std::fs::remove_file(&log);
        let run = self.sandbox.finish(command.stdin(File::open(&file).unwrap()));
        let start = &bytes[..bytes.len().min(2_000)];
        let about = format!("{client} {}: {run}", String::from_utf8_lossy(start));
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{about}");
        assert!(is_answer(client, &run.stdout), "{about}");
        match std::fs::read_to_string(&log) {
            Ok(log) => assert!(!log.contains("it panicked"), "{about}\n{log}"),
            // A call for this project must be logged. Only one that leads elsewhere is not.
            Err(_) => assert!(leads_elsewhere(bytes, &self.sandbox), "nothing is logged: {about}"),
        }
        Tree::around(&self.sandbox, &self.ours).is_as_before(&self.before, &about);
    }
}

/// Where Claude Code keeps the transcripts of a project.
fn transcripts(sandbox: &Sandbox) -> PathBuf {
    let slug = sandbox.root().display().to_string();
    let slug = slug.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    sandbox.home().join(".claude/projects").join(slug)
}

/// One transcript, and many other files next to it.
fn put_transcripts(sandbox: &Sandbox) {
    let folder = transcripts(sandbox);
    std::fs::create_dir_all(folder.join("folder.jsonl")).unwrap();
    symlink("/dev/zero", folder.join("endless.jsonl")).unwrap();
    symlink("/etc/passwd", folder.join("passwd.jsonl")).unwrap();
    symlink("circle.jsonl", folder.join("circle.jsonl")).unwrap();
    let pipe = folder.join("22222222-1111-4111-8111-111111111111.jsonl");
    assert!(sandbox.command("mkfifo").arg(pipe).status().unwrap().success());
    let text = std::fs::read_to_string(fixtures("transcripts/claude-code").join("cache.jsonl"));
    let text = text.unwrap().replace("/home/dev/shop", &sandbox.root().display().to_string());
    std::fs::write(folder.join(format!("{SESSION}.jsonl")), text).unwrap();
    let broken = b"\xff\xfe{\"type\":\"user\"\n{}\n[1]\n".repeat(50);
    std::fs::write(folder.join("33333333-1111-4111-8111-111111111111.jsonl"), broken).unwrap();
}

/// The fields that the clients send in addition to the common ones.
pub(super) const CLAUDE_CODE: [(&str, &str); 12] = [
    ("SessionStart", r#"{"source": "startup"}"#),
    ("SessionStart", r#"{"source": "compact"}"#),
    (
        "UserPromptSubmit",
        r#"{"permission_mode": "default", "prompt": "Why are market pages slow?"}"#,
    ),
    ("PreCompact", r#"{"trigger": "manual", "custom_instructions": "focus on the parser"}"#),
    ("PostCompact", r#"{"trigger": "manual", "compact_summary": "<summary>S</summary>"}"#),
    ("SubagentStart", r#"{"agent_id": "a87dc945e57ad4b16", "agent_type": "general-purpose"}"#),
    (
        "SubagentStop",
        r#"{"agent_id": "a87dc945e57ad4b16", "agent_type": "general-purpose", "agent_transcript_path": "/home/dev/agent.jsonl"}"#,
    ),
    ("TaskCreated", r#"{"task_id": "1", "task_subject": "Warm", "task_description": "All"}"#),
    ("TaskCompleted", r#"{"task_id": "1", "task_subject": "Warm", "task_description": "All"}"#),
    ("Stop", r#"{"stop_hook_active": false, "effort": {"level": "high"}, "session_crons": []}"#),
    ("SessionEnd", r#"{"reason": "other"}"#),
    ("PostToolBatch", r#"{"tool_calls": [{"tool_name": "Bash", "tool_input": {}}]}"#),
];
pub(super) const CODEX: [(&str, &str); 8] = [
    ("SessionStart", r#"{"model": "told", "permission_mode": "default", "source": "startup"}"#),
    ("UserPromptSubmit", r#"{"turn_id": "t", "prompt": "Why are market pages slow?"}"#),
    ("PreCompact", r#"{"turn_id": "t", "trigger": "auto"}"#),
    ("PostCompact", r#"{"turn_id": "t", "trigger": "auto"}"#),
    ("Stop", r#"{"stop_hook_active": true, "last_assistant_message": "final"}"#),
    ("Interrupt", r#"{"turn_id": "t", "model": "told"}"#),
    ("SessionEnd", r#"{"reason": "other"}"#),
    ("PreModelRequest", r#"{"turn_id": "t"}"#),
];
const CLIENTS: [&str; 2] = ["claude-code", "codex"];

/// A call of which every value may be replaced by invalid JSON.
#[derive(Clone)]
struct Fields(Vec<(String, Vec<u8>)>);

impl Fields {
    fn with(mut self, name: &str, value: &[u8]) -> Self {
        self.0.retain(|(other, _)| other != name);
        self.0.push((name.to_owned(), value.to_vec()));
        self
    }

    fn says(&self, name: &str, value: &str) -> bool {
        let value = json!(value).to_string().into_bytes();
        self.0.iter().any(|(other, said)| other == name && *said == value)
    }

    /// Applies a random mutation to a field.
    fn mutated(mut self, values: &[Vec<u8>], random: &mut Random) -> Self {
        let at = random.below(self.0.len());
        match random.below(6) {
            0 => drop(self.0.remove(at)),
            1 => self.0.push((self.0[at].0.clone(), values[random.below(values.len())].clone())),
            2 => self.0[at].1 = self.0[random.below(self.0.len())].1.clone(),
            3 => self.0[at].0 = self.0[random.below(self.0.len())].0.clone(),
            _ => self.0[at].1 = values[random.below(values.len())].clone(),
        }
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let field = |(name, value): &(String, Vec<u8>)| {
            [json!(name).to_string().as_bytes(), b": ", value].concat()
        };
        let fields: Vec<Vec<u8>> = self.0.iter().map(field).collect();
        [b"{".to_vec(), fields.join(&b", "[..]), b"}".to_vec()].concat()
    }
}

/// Whether the output is empty, a JSON object that the client accepts, or the text for a summary.
fn is_answer(client: &str, text: &str) -> bool {
    if text.is_empty() {
        return true;
    }
    let Ok(answer) = serde_json::from_str::<Value>(text) else {
        return client == "claude-code" && text.starts_with("The summary must include ");
    };
    let known = ["systemMessage", "decision", "reason", "hookSpecificOutput"];
    let events = CLAUDE_CODE.iter().chain(&CODEX).map(|(event, _)| *event);
    let told = &answer["hookSpecificOutput"];
    let is_named = told.is_null()
        || told["additionalContext"].is_string()
            && events.into_iter().any(|event| told["hookEventName"] == event);
    is_named && answer.as_object().is_some_and(|all| all.keys().all(|key| known.contains(&&**key)))
}

/// Whether a call parses and names a folder elsewhere.
fn leads_elsewhere(bytes: &[u8], sandbox: &Sandbox) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let call: Value = serde_json::from_str(&text).unwrap_or_default();
    let folder = call["cwd"].as_str().map(PathBuf::from);
    folder.is_some_and(|folder| folder.is_dir() && folder != sandbox.root())
}

#[test]
fn whatever_a_call_is_made_of_the_client_is_not_failed() {
    let ground = Ground::new();
    let values = raw_values();
    for seed in 0..cases(160) {
        let mut random = Random::seeded(seed as u64);
        let client = random.pick(&CLIENTS);
        let calls = ground.calls(client);
        let mut call = calls[random.below(calls.len())].clone();
        for _ in 0..=random.below(3) {
            if !call.0.is_empty() {
                call = call.mutated(&values, &mut random);
            }
        }
        ground.call(client, &bytes_of(call.bytes(), &mut random));
    }
}

#[test]
fn in_whatever_order_wherever_and_whenever_calls_come_the_client_is_not_failed() {
    let ground = Ground::new();
    let deep = ground.sandbox.root().join("sub/deep");
    std::fs::create_dir_all(&deep).unwrap();
    let ground = Ground { before: Tree::around(&ground.sandbox, &ground.ours), ..ground };
    let folders = [ground.path("project"), deep.display().to_string()];
    let folders = folders.each_ref().map(String::as_str);
    let sessions = [SESSION, "nobody-knows-this-one"];
    let times = ["-009999-01-02T01:59:59Z", "1970-01-01T00:00:00Z", "9999-12-30T22:00:00Z", "noon"];
    for seed in 0..cases(60) {
        let mut random = Random::seeded(seed as u64);
        let client = random.pick(&CLIENTS);
        let calls = ground.calls(client);
        let call = calls[random.below(calls.len())].clone();
        let call = call.with("session_id", json!(random.pick(&sessions)).to_string().as_bytes());
        let call = call.with("cwd", json!(random.pick(&folders)).to_string().as_bytes());
        let mut command = ground.command(client);
        command.env("MIDSTRIDE_NOW", random.pick(&times));
        ground.run(client, &mut command, &call.bytes());
    }
}

#[test]
fn a_private_folder_that_leads_out_of_the_project_is_not_used() {
    for folder in [".midstride", ".midstride/private", ".midstride/handoffs"] {
        for has_git in [true, false] {
            let sandbox = sandbox();
            let sandbox = if has_git { sandbox.repository() } else { sandbox };
            let outside = sandbox.home().join("outside");
            let place = sandbox.root().join(folder);
            std::fs::create_dir_all(outside.join("handoffs")).unwrap();
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            symlink(&outside, &place).unwrap();
            for name in ["config.toml", "off", "home", "handoffs/market.md"] {
                std::fs::write(outside.join(name), "# Market pages are slow\n").unwrap();
            }
            if folder != ".midstride" {
                sandbox.write(".midstride/config.toml", "");
            }
            let ours = [".git/midstride", ".midstride/private"].map(|at| sandbox.root().join(at));
            let at_home = ["call", ".local"].map(|at| sandbox.home().join(at));
            let ours = [ours, at_home].concat();
            let ground = Ground { before: Tree::around(&sandbox, &ours), sandbox, ours };
            for client in CLIENTS {
                for call in ground.calls(client) {
                    let file = ground.sandbox.home().join("call");
                    std::fs::write(&file, call.bytes()).unwrap();
                    let mut command = ground.command(client);
                    let run = ground.sandbox.finish(command.stdin(File::open(&file).unwrap()));
                    // If only the folder of handoffs leads out, sessions are captured.
                    let is_first = folder == ".midstride/handoffs"
                        && run.stdout.contains("midstride remembers sessions");
                    let expected = if is_first { run.stdout.as_str() } else { "" };
                    assert_eq!(
                        (run.code, run.stdout.as_str()),
                        (Some(0), expected),
                        "{folder}: {run}"
                    );
                    assert!(!run.stdout.contains("Market pages"), "{folder}: {run}");
                }
            }
            Tree::around(&ground.sandbox, &ground.ours).is_as_before(&ground.before, folder);
        }
    }
}

#[test]
fn a_truncated_call_is_not_a_call() {
    let ground = Ground::new();
    for client in CLIENTS {
        for call in ground.calls(client) {
            ground.call(client, &call.bytes());
        }
        let whole = ground.calls(client).swap_remove(1).bytes();
        for end in (0..whole.len()).step_by(whole.len() / 15) {
            ground.call(client, &whole[..end]);
        }
    }
}

#[test]
fn no_name_and_no_path_in_a_call_leads_out_of_the_project() {
    let ground = Ground::new();
    let home = ground.sandbox.home().to_owned();
    let pipe = home.join("call-pipe");
    assert!(ground.sandbox.command("mkfifo").arg(&pipe).status().unwrap().success());
    symlink("/dev/zero", home.join("zero")).unwrap();
    symlink(&pipe, home.join("to-pipe")).unwrap();
    let ground = Ground { before: Tree::around(&ground.sandbox, &ground.ours), ..ground };
    let at = |name: &str| ground.path(name);
    let values = [
        "../../x".to_owned(),
        "../../../canary".to_owned(),
        "..".to_owned(),
        ".".to_owned(),
        "/".to_owned(),
        "~/canary.jsonl".to_owned(),
        "/etc/passwd".to_owned(),
        "/dev/zero".to_owned(),
        "/nowhere/at/all".to_owned(),
        "x".repeat(10_000),
        "a\0b".to_owned(),
        at("canary.json"),
        at("home/canary.jsonl"),
        at("home/call-pipe"),
        at("home/to-pipe"),
        at("home/zero"),
        at("home"),
        at("other"),
        at("stranger"),
        at("stranger/.git"),
        at("project/.git/midstride/ledger.db"),
        at("project/../home/canary.jsonl"),
    ];
    let places = [
        ("claude-code", "UserPromptSubmit", "session_id"),
        ("claude-code", "SessionEnd", "transcript_path"),
        ("claude-code", "SubagentStop", "agent_id"),
        ("claude-code", "TaskCreated", "task_id"),
        ("claude-code", "SessionStart", "cwd"),
        ("codex", "Stop", "session_id"),
        ("codex", "PreCompact", "transcript_path"),
        ("codex", "SessionEnd", "cwd"),
    ];
    for (client, event, field) in places {
        let mut calls = ground.calls(client).into_iter();
        let call = calls.find(|call| call.says("hook_event_name", event)).unwrap();
        for value in &values {
            let call = call.clone().with(field, json!(value).to_string().as_bytes());
            ground.call(client, &call.bytes());
        }
    }
}

/// Tokens that a client could give as any of its names.
fn tokens() -> [String; 3] {
    [
        format!("ghp_{}", "a1B2c3".repeat(6)),
        format!("sk-ant-api03-{}", "q7W2e9R4t1Y6u3I8o5P0".repeat(4)),
        format!("glpat-{}", "x7Kp2mQ9vT4nR6sW8yZ1"),
    ]
}

#[test]
fn a_token_as_session_id_is_not_stored() {
    for token in tokens() {
        let ground = Ground::new();
        let (sandbox, folder) = (&ground.sandbox, transcripts(&ground.sandbox));
        let text = std::fs::read_to_string(folder.join(format!("{SESSION}.jsonl"))).unwrap();
        let own = folder.join(format!("{token}.jsonl"));
        std::fs::write(&own, text.replace("5e55-0001", &token)).unwrap();
        let codex = sandbox.home().join(".codex/sessions/2026/03/21");
        std::fs::create_dir_all(&codex).unwrap();
        let text = std::fs::read_to_string(fixtures("transcripts/codex").join("login.jsonl"));
        let text = text.unwrap().replace("/home/dev/shop", &sandbox.root().display().to_string());
        let text = text.replace("c0de-0001", &token);
        let rollout = codex.join(format!("rollout-2026-03-21T10-00-00-{token}.jsonl"));
        std::fs::write(&rollout, text).unwrap();
        let name = json!(token).to_string();
        for client in CLIENTS {
            for call in ground.calls(client) {
                let path = if client == "codex" { &rollout } else { &own };
                let call = call.with("session_id", name.as_bytes());
                let call = call.with("transcript_path", json!(path).to_string().as_bytes());
                let call = call.with("agent_id", name.as_bytes());
                let call = call.with("turn_id", name.as_bytes());
                let call = call.with("task_id", name.as_bytes());
                let file = sandbox.home().join("call");
                std::fs::write(&file, call.bytes()).unwrap();
                let mut command = ground.command(client);
                command.env("CLAUDE_CODE_TASK_LIST_ID", &token);
                sandbox.finish(command.stdin(File::open(&file).unwrap())).exits(0);
            }
        }
        let shell = |arguments: &[&str]| {
            let mut command = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
            command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", &token);
            sandbox.finish(command.args(arguments))
        };
        // What is saved has open questions, which the exit code says.
        shell(&["save"]).exits(1);
        shell(&["task", "add", "Warm the cache"]).exits(0);
        let captured = sandbox.run(["events", "--json"]).exits(0);
        assert!(captured.stdout.contains("REDACTED-"), "{captured}");
        std::fs::remove_file(sandbox.home().join("call")).unwrap();
        let found = sandbox.finish(sandbox.command("grep").args(["-rlaF", &token, ".git", "."]));
        assert_eq!(found.stdout, "", "{token}");
        let ours = sandbox.home().join(".local");
        let found = sandbox.finish(sandbox.command("grep").args(["-rlaF", &token]).arg(&ours));
        assert_eq!(found.stdout, "", "{token}");
        for base in [sandbox.root(), &ours] {
            let name = format!("*{token}*");
            let found = sandbox.finish(sandbox.command("find").arg(base).args(["-name", &name]));
            assert_eq!(found.stdout, "", "{token}");
        }
    }
}

#[test]
fn fifty_megabytes_take_at_most_four_times_the_memory() {
    let ground = Ground::new();
    let limited = |client: &str| {
        let mut command = ground.sandbox.command("sh");
        let run = "ulimit -v \"$1\"; exec \"$2\" hook \"$3\"";
        command.args(["-c", run, "sh", KILOBYTES_MAX, env!("CARGO_BIN_EXE_midstride"), client]);
        command.env("MIDSTRIDE_HOOK_MILLISECONDS", "60000");
        command
    };
    let text = |bytes: usize| format!("\"{}\"", "x y ".repeat(bytes / 4)).into_bytes();
    let long = text(50_000_000);
    let many = "\"field\": \"value\", ".repeat(2_500_000);
    // As many fields as fit in what is read, each with a different name.
    let different: String = (0..1_300_000).map(|at| format!("\"{at:x}\":\"\",")).collect();
    for client in CLIENTS {
        let mut calls = ground.calls(client).into_iter();
        let call = calls.find(|call| call.says("hook_event_name", "UserPromptSubmit")).unwrap();
        let whole = String::from_utf8(call.bytes()).unwrap();
        let inputs = [
            call.clone().with("prompt", &long).bytes(),
            call.clone().with("session_id", &long).bytes(),
            whole.replacen('{', &format!("{{{many}"), 1).into_bytes(),
            whole.replacen('{', &format!("{{{different}"), 1).into_bytes(),
            // The maximum size that is read.
            call.clone().with("prompt", &text(16_000_000)).bytes(),
        ];
        for input in inputs {
            ground.run(client, &mut limited(client), &input);
        }
    }
}

#[test]
fn hooks_do_not_wait_for_open_input() {
    let ground = Ground::new();
    for client in CLIENTS {
        let mut command = ground.sandbox.command(env!("CARGO_BIN_EXE_midstride"));
        command.args(["hook", client]);
        let run = ground.sandbox.finish(command.stdin(File::open("/dev/zero").unwrap())).exits(0);
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""), "{run}");
        // A complete call, and a pipe that stays open.
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut held = child.stdin.take().unwrap();
        held.write_all(&ground.calls(client)[0].bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        drop(held);
        assert_eq!((output.status.code(), output.stdout), (Some(0), Vec::new()));
    }
    Tree::around(&ground.sandbox, &ground.ours).is_as_before(&ground.before, "endless");
}
