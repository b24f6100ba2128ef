//! Tests of the real clients with what `client add` installed: they accept it, and they call
//! midstride.

use crate::sandbox;
use midstride_testkit::{ModelServer, Sandbox, Turn, real_client, repository_root};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

/// A stand-in that logs its arguments and prints nothing.
const STANDS_IN: &str = "#!/bin/sh
case \"$1\" in
  --version) echo midstride 0 ;;
  hook) printf '%s %s\\n' \"$2\" \"$(cat)\" >> \"$HOME/calls\" ;;
  mcp) echo 'mcp {}' >> \"$HOME/calls\"; exit 1 ;;
esac
";

/// A repository, and a program called `midstride` on the PATH.
fn project() -> Sandbox {
    let sandbox = sandbox().repository();
    sandbox.write("bin/midstride", STANDS_IN);
    let program = sandbox.root().join("bin/midstride");
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    sandbox
}

fn path(sandbox: &Sandbox) -> OsString {
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let folders = [sandbox.root().join("bin")].into_iter().chain(std::env::split_paths(&usual));
    std::env::join_paths(folders).unwrap()
}

/// Runs a client to its end and returns the hook calls in order.
fn calls(sandbox: &Sandbox, client: &mut Command) -> Vec<String> {
    let log = sandbox.home().join("calls");
    let _ = std::fs::remove_file(&log);
    let run = sandbox.finish(client.env("PATH", path(sandbox)));
    assert_eq!(run.code, Some(0), "{run}");
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    text.lines()
        .map(|line| {
            let (who, input) = line.split_once(' ').unwrap();
            let input: Value = serde_json::from_str(input).unwrap();
            format!("{who} {}", input["hook_event_name"].as_str().unwrap_or_default())
        })
        .collect()
}

fn has_all(calls: &[String], who: &str, events: &[&str]) {
    for event in events {
        let call = format!("{who} {event}");
        assert_eq!(calls.iter().filter(|made| **made == call).count(), 1, "{call} in {calls:?}");
    }
}

const OF_A_TURN: [&str; 4] = ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"];

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn claude_code_calls_what_was_installed() {
    let sandbox = project();
    let model = ModelServer::start([(); 4].map(|()| Turn::says("Yes.")));
    let mut client = real_client::claude_code(&sandbox, &model);
    let install = |more: &[&str]| {
        sandbox.run([&["client", "add", "claude-code", "--yes"], more].concat()).exits(0);
    };
    install(&["--allow", "save"]);
    let made = calls(&sandbox, client.args(["-p", "Hello"]));
    has_all(&made, "claude-code", &OF_A_TURN);
    assert!(made.contains(&"mcp ".to_owned()), "{made:?}");
    // The client wrote its own file since; midstride's entries are removed, and the rest stays.
    let state = || std::fs::read_to_string(sandbox.home().join(".claude.json")).unwrap();
    assert!(state().contains("mcpServers") && state().contains("firstStartTime"), "{}", state());
    sandbox.run(["client", "remove", "claude-code", "--yes"]).exits(0);
    assert!(!state().contains("midstride\"") && state().contains("firstStartTime"), "{}", state());
    let made = calls(&sandbox, client.args(["-p", "Hello"]));
    assert!(made.is_empty(), "{made:?}");
    // A comment makes the client ignore the whole file, which `client add` warns about.
    let settings = sandbox.home().join(".claude/settings.json");
    std::fs::write(&settings, "{ \"model\": \"sonnet\" /* why */ }").unwrap();
    install(&[]);
    let made = calls(&sandbox, &mut client);
    assert_eq!(made, ["mcp "], "{made:?}");
    std::fs::remove_file(settings).unwrap();
    sandbox.run(["client", "remove", "claude-code", "--yes"]).exits(0);
    // In a project, from its root.
    install(&["--project"]);
    has_all(&calls(&sandbox, &mut client), "claude-code", &OF_A_TURN);
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn codex_calls_what_was_installed_once_it_is_trusted() {
    let sandbox = project();
    let model = ModelServer::start([(); 4].map(|()| Turn::says("Yes.")));
    let start = |more: &[&str]| {
        let mut client = real_client::codex(&sandbox, &model);
        client.args(["exec", "--json"]).args(more).arg("Hello");
        calls(&sandbox, &mut client)
    };
    let before = start(&[]);
    assert!(before.is_empty(), "{before:?}");
    let configuration = sandbox.home().join(".codex/config.toml");
    let settings = std::fs::read_to_string(&configuration).unwrap();
    sandbox.run(["client", "add", "codex", "--yes"]).exits(0);
    let untrusted = start(&[]);
    assert_eq!(untrusted, ["mcp "], "without trust, hooks are left out");
    let made = start(&["--dangerously-bypass-hook-trust"]);
    has_all(&made, "codex", &OF_A_TURN);
    sandbox.run(["client", "add", "codex", "--trust-hooks", "--yes"]).exits(0);
    let listed = sandbox.run(["client", "list"]).exits(0);
    assert!(listed.stdout.contains("hooks trusted by Codex: 7 of 7"), "{listed}");
    let made = start(&[]);
    has_all(&made, "codex", &OF_A_TURN);
    sandbox.run(["client", "remove", "codex", "--yes"]).exits(0);
    assert_eq!(std::fs::read_to_string(configuration).unwrap(), settings);
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn qwen_code_calls_what_was_installed() {
    let sandbox = project();
    let model = ModelServer::start([(); 3].map(|()| Turn::says("Yes.")));
    let start = || {
        let mut client = real_client::qwen_code(&sandbox, &model);
        calls(&sandbox, client.args(["-y", "Hello"]))
    };
    let before = start();
    assert!(before.is_empty(), "{before:?}");
    let file = sandbox.home().join(".qwen/settings.json");
    let settings = std::fs::read_to_string(&file).unwrap();
    for scope in ["--user", "--project"] {
        let options = ["client", "add", "qwen-code", scope, "--allow", "save", "--yes"];
        sandbox.run(options).exits(0);
        let made = start();
        // The client never reports the end of a headless session.
        has_all(&made, "qwen-code", &OF_A_TURN[..3]);
        assert!(made.contains(&"mcp ".to_owned()), "{made:?}");
        sandbox.run(["client", "remove", "qwen-code", scope, "--yes"]).exits(0);
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), settings);
    // The client wrote its version into the file of the project, which stays.
    let left = sandbox.read(".qwen/settings.json");
    assert!(left.contains("$version") && !left.contains("midstride"), "{left}");
    assert!(!sandbox.root().join(".qwen/skills").exists());
}

/// A repository that is set up, with midstride itself on the PATH.
fn with_midstride() -> Sandbox {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    std::fs::create_dir_all(sandbox.root().join("bin")).unwrap();
    let program = sandbox.root().join("bin/midstride");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_midstride"), program).unwrap();
    sandbox
}

/// Which of these texts the last request of a model contains.
fn heard<'t>(model: &ModelServer, texts: &[&'t str]) -> Vec<&'t str> {
    let requests = model.requests();
    let last = requests.last().expect("it was asked");
    texts.iter().copied().filter(|text| last.says(text)).collect()
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_headless_claude_code_saves_only_what_was_allowed() {
    let refused = ["requested permissions to use mcp__midstride__save", "requires approval"];
    let saved = ["tool@1", "command@1"];
    let runs = |allow: &str| {
        let sandbox = with_midstride();
        let said =
            json!({"title": "By tool", "summary": "The purge goes by tag.", "next": ["Bench it"]});
        let command = "midstride save --no-session --title 'By command' --summary 'The purge goes by tag.' --next 'Bench it'";
        let model = ModelServer::start([
            Turn::calls("mcp__midstride__save", said),
            Turn::calls("Bash", json!({ "command": command })),
            Turn::says("Done."),
        ]);
        let mut client = real_client::claude_code(&sandbox, &model);
        let settings = sandbox.home().join(".claude/settings.json");
        std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
        let before = "{\n  \"permissions\": {\"allow\": [\"Bash(ls:*)\"]}\n}\n";
        std::fs::write(&settings, before).unwrap();
        sandbox.run(["client", "add", "claude-code", "--yes", "--allow", allow]).exits(0);
        client.env("PATH", path(&sandbox)).env("MCP_CONNECTION_NONBLOCKING", "0");
        let run = sandbox.finish(client.args(["-p", "Save"]));
        assert_eq!(run.code, Some(0), "{run}");
        let texts = [refused, saved].concat();
        let heard = heard(&model, &texts);
        sandbox.run(["client", "remove", "claude-code", "--yes"]).exits(0);
        assert_eq!(std::fs::read_to_string(&settings).unwrap(), before);
        heard
    };
    let heard = runs("none");
    assert_eq!(heard, refused);
    assert_eq!(runs("read"), refused);
    assert_eq!(runs("save"), saved);
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_headless_codex_saves_only_what_was_allowed() {
    let refused = "requires approval, but approval policy is never";
    let texts = [refused, "tool@1"];
    let runs = |allow: &str| {
        let sandbox = with_midstride();
        let said = json!({"title": "By tool", "summary": "The purge goes by tag.", "next": ["Bench it"], "session": "none"});
        let model = ModelServer::start([Turn::calls("midstride/save", said), Turn::says("Done.")]);
        let mut client = real_client::codex(&sandbox, &model);
        let configuration = sandbox.home().join(".codex/config.toml");
        let before = std::fs::read_to_string(&configuration).unwrap();
        sandbox.run(["client", "add", "codex", "--yes", "--allow", allow]).exits(0);
        client.env("PATH", path(&sandbox)).args(["exec", "--json", "Save"]);
        let run = sandbox.finish(&mut client);
        assert_eq!(run.code, Some(0), "{run}");
        let heard = heard(&model, &texts);
        sandbox.run(["client", "remove", "codex", "--yes"]).exits(0);
        assert_eq!(std::fs::read_to_string(&configuration).unwrap(), before);
        heard
    };
    let heard = runs("read");
    assert_eq!(heard, [refused]);
    assert_eq!(runs("save"), ["tool@1"]);
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_headless_qwen_code_saves_only_what_was_allowed() {
    let refused =
        ["permission to use \"mcp__midstride__save\"", "permission to use \"run_shell_command\""];
    let saved = ["tool@1", "command@1"];
    let runs = |allow: &str| {
        let sandbox = with_midstride();
        let said =
            json!({"title": "By tool", "summary": "The purge goes by tag.", "next": ["Bench it"]});
        let command = "midstride save --no-session --title 'By command' --summary 'The purge goes by tag.' --next 'Bench it'";
        let model = ModelServer::start([
            Turn::calls("mcp__midstride__save", said).and_calls(
                "run_shell_command",
                json!({"command": command, "is_background": false}),
            ),
            Turn::says("Done."),
        ]);
        let mut client = real_client::qwen_code(&sandbox, &model);
        let settings = sandbox.home().join(".qwen/settings.json");
        let before = std::fs::read_to_string(&settings).unwrap();
        sandbox.run(["client", "add", "qwen-code", "--yes", "--allow", allow]).exits(0);
        let run = sandbox.finish(client.env("PATH", path(&sandbox)).arg("Save"));
        assert_eq!(run.code, Some(0), "{run}");
        let texts = [refused, saved].concat();
        let heard = heard(&model, &texts);
        sandbox.run(["client", "remove", "qwen-code", "--yes"]).exits(0);
        assert_eq!(std::fs::read_to_string(&settings).unwrap(), before);
        heard
    };
    let heard = runs("read");
    assert_eq!(heard, refused);
    assert_eq!(runs("save"), saved);
}

/// Sends requests to a Codex server and waits for its answer.
fn ask(client: &mut Command, questions: &[Value]) -> Value {
    let mut server = client
        .arg("app-server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut asking = server.stdin.take().unwrap();
    for question in questions {
        writeln!(asking, "{question}").unwrap();
    }
    let last = &questions.last().unwrap()["id"];
    let lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let answers = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let answer = answers.into_iter().find(|answer| answer["id"] == *last);
    server.kill().unwrap();
    server.wait().unwrap();
    answer.expect("it answers")
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn codex_reports_every_hook_as_trusted() {
    let sandbox = project();
    let model = ModelServer::start([]);
    let mut client = real_client::codex(&sandbox, &model);
    // Foreign hooks come before midstride's, so that midstride's have other indices.
    let theirs = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#;
    std::fs::write(sandbox.home().join(".codex/hooks.json"), theirs).unwrap();
    let arguments = ["client", "add", "codex", "--trust-hooks", "--allow", "save", "--yes"];
    sandbox.run(arguments).exits(0);
    let about = json!({"clientInfo": {"name": "test", "title": "test", "version": "0"}});
    let answer = ask(
        &mut client,
        &[
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}),
            json!({"jsonrpc": "2.0", "method": "initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "hooks/list", "params": {"cwds": [sandbox.root()]}}),
        ],
    );
    let hooks = answer["result"]["data"][0]["hooks"].as_array().unwrap();
    let trust = |hook: &Value| {
        (hook["command"] == "midstride hook codex", hook["trustStatus"] == "trusted")
    };
    let ours = hooks.iter().map(trust).filter(|hook| *hook == (true, true)).count();
    assert_eq!((hooks.len(), ours), (8, 7), "{answer:#}");
    let warnings = answer["result"]["data"][0]["warnings"].as_array().map(Vec::len);
    assert_eq!(warnings, Some(0), "{answer:#}");
    let mut client = real_client::codex(&sandbox, &model);
    let listed = sandbox.finish(client.args(["mcp", "list", "--json"])).exits(0);
    let servers: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!((&servers[0]["name"], &servers[0]["enabled"]), (&json!("midstride"), &json!(true)));
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn claude_code_takes_the_plugin() {
    let sandbox = project();
    let model = ModelServer::start([(); 2].map(|()| Turn::says("Yes.")));
    let mut client = real_client::claude_code(&sandbox, &model);
    let plugin = repository_root().join("plugin");
    for folder in [&plugin, &repository_root()] {
        let mut validate = real_client::claude_code(&sandbox, &model);
        let run = sandbox.finish(validate.args(["plugin", "validate"]).arg(folder));
        assert_eq!(run.code, Some(0), "{run}");
        assert!(!run.to_string().to_lowercase().contains("warning"), "{run}");
    }
    let made = calls(&sandbox, client.args(["-p", "Hello", "--plugin-dir"]).arg(plugin));
    has_all(&made, "claude-code", &OF_A_TURN);
    assert!(made.contains(&"mcp ".to_owned()), "{made:?}");
    // From the marketplace, as the README says.
    let claude = |arguments: &[&str]| {
        let mut client = real_client::claude_code(&sandbox, &model);
        client.args(arguments);
        client
    };
    let top = repository_root().display().to_string();
    sandbox.finish(&mut claude(&["plugin", "marketplace", "add", &top])).exits(0);
    sandbox.finish(&mut claude(&["plugin", "install", "midstride@midstride"])).exits(0);
    let made = calls(&sandbox, &mut claude(&["-p", "Hello"]));
    has_all(&made, "claude-code", &OF_A_TURN);
}
