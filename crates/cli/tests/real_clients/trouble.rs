//! Tests of the real clients while something is broken: they do not notice, and nothing is lost for
//! good.

mod disk;
mod ledger;
mod model;
mod stranger;

use super::project;
use midstride_testkit::{ModelServer, Request, Sandbox, Turn, json_items, real_client};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const CLIENTS: [Client; 2] = [Client::ClaudeCode, Client::Codex];

/// A generous timeout for busy machines.
const NO_HURRY: &str = "export MIDSTRIDE_HOOK_MILLISECONDS=60000";

/// A text that only the project's handoff contains.
const LANDMINE: &str = "The balance is looked up on every page";
const HANDOFF: &str = "---\nhandoff:\n  id: slow-pages\n  title: Pages are slow\n  status: planned\n  \
                       context_summary: Cold renders load everything.\n  landmines:\n    \
                       - The balance is looked up on every page\n---\n## Continuation\n\nPaginate \
                       first.\n";

/// The marker for a hook failure in a Claude Code transcript.
const NOTED: &str = "a hook failed";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Client {
    ClaudeCode,
    Codex,
}

impl Client {
    /// The variants to test for this client. Claude Code takes seconds per session, and its hooks
    /// run the same program, so it gets only the first few.
    fn some_of<T>(self, variants: &[T], few: usize) -> &[T] {
        match self {
            Self::ClaudeCode => &variants[..few],
            Self::Codex => variants,
        }
    }
}

/// A project with a client whose hooks call `midstride`, as after an installation.
struct Desk {
    sandbox: Sandbox,
    model: ModelServer,
    client: Client,
}

/// What the user of a client saw of a session.
#[derive(Debug)]
struct Heard {
    code: Option<i32>,
    answer: String,
    /// The messages about hooks.
    complaints: Vec<String>,
}

impl Desk {
    /// A project of this user with a handoff.
    fn new(client: Client) -> Self {
        let sandbox = project();
        sandbox.write(".midstride/handoffs/slow-pages.md", HANDOFF);
        Self::in_folder(sandbox, client)
    }

    fn in_folder(sandbox: Sandbox, client: Client) -> Self {
        let desk = Self { sandbox, model: ModelServer::start([]), client };
        desk.before_each_hook(NO_HURRY);
        let hook = json!([{"hooks": [
            {"type": "command", "command": format!("midstride hook {}", desk.name()), "timeout": 60}
        ]}]);
        let events: &[&str] = match client {
            Client::ClaudeCode => {
                &["SessionStart", "UserPromptSubmit", "TaskCreated", "Stop", "SessionEnd"]
            }
            Client::Codex => &["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"],
        };
        let hooks: serde_json::Map<String, Value> =
            events.iter().map(|event| ((*event).to_owned(), hook.clone())).collect();
        let file = match client {
            Client::ClaudeCode => ".claude/settings.json",
            Client::Codex => ".codex/hooks.json",
        };
        let file = desk.sandbox.home().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, json!({ "hooks": hooks }).to_string()).unwrap();
        desk
    }

    fn name(&self) -> &'static str {
        match self.client {
            Client::ClaudeCode => "claude-code",
            Client::Codex => "codex",
        }
    }

    /// Runs a shell script right before each call of midstride.
    fn before_each_hook(&self, script: &str) {
        let program = env!("CARGO_BIN_EXE_midstride");
        self.stand_in(&format!("#!/bin/sh\n{script}\nexec '{program}' \"$@\"\n"));
    }

    /// Puts a program called `midstride` where the client looks for it.
    fn stand_in(&self, script: &str) {
        let file = self.programs().join("midstride");
        std::fs::create_dir_all(self.programs()).unwrap();
        std::fs::write(&file, script).unwrap();
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn programs(&self) -> PathBuf {
        self.sandbox.home().join("bin")
    }

    fn path(&self) -> OsString {
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let folders = [self.programs()].into_iter().chain(std::env::split_paths(&usual));
        std::env::join_paths(folders).unwrap()
    }

    fn command(&self, prompt: &str) -> Command {
        let mut client = match self.client {
            Client::ClaudeCode => {
                let mut client = real_client::claude_code(&self.sandbox, &self.model);
                client.args(["--dangerously-skip-permissions", "-p"]);
                client
            }
            Client::Codex => {
                let mut client = real_client::codex(&self.sandbox, &self.model);
                client.args(["exec", "--dangerously-bypass-hook-trust", "--json"]);
                client.args(["-s", "workspace-write"]);
                client
            }
        };
        client.arg(prompt).env("PATH", self.path());
        client
    }

    /// A turn that runs a command.
    fn runs(&self, command: &str) -> Turn {
        match self.client {
            Client::ClaudeCode => Turn::calls("Bash", json!({ "command": command })),
            Client::Codex => Turn::calls("exec_command", json!({ "cmd": command })),
        }
    }

    /// Runs a whole session.
    fn session(&self, prompt: &str) -> Heard {
        self.finish(&mut self.command(prompt))
    }

    /// The number of failed hooks in the transcripts of Claude Code.
    fn noted(&self) -> usize {
        let folder = self.sandbox.home().join(".claude/projects");
        let files = if folder.is_dir() { files_below(&folder) } else { Vec::new() };
        let texts = files.iter().filter_map(|file| std::fs::read_to_string(file).ok());
        texts.map(|text| text.matches("\"hook_non_blocking_error\"").count()).sum()
    }

    fn finish(&self, client: &mut Command) -> Heard {
        let before = self.noted();
        let run = self.sandbox.finish(client);
        match self.client {
            Client::ClaudeCode => {
                let mut complaints: Vec<String> = run.stderr.lines().map(str::to_owned).collect();
                let noted = self.noted() - before;
                complaints.extend((noted > 0).then(|| format!("{NOTED} {noted} times")));
                Heard { code: run.code, answer: run.stdout.trim().to_owned(), complaints }
            }
            Client::Codex => {
                let lines = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
                let items: Vec<Value> = lines.map(|line: Value| line["item"].clone()).collect();
                let of = |kind: &str, name: &str| -> Vec<String> {
                    let ours = items.iter().filter(|item| item["type"] == kind);
                    ours.map(|item| item[name].as_str().unwrap().to_owned()).collect()
                };
                // Messages caused by how this test runs the client.
                let usual = |text: &String| {
                    ["dangerously-bypass-hook-trust", "hook timeout to 3s", "Model metadata for"]
                        .iter()
                        .any(|known| text.contains(known))
                };
                let mut complaints = of("error", "message");
                complaints.retain(|text| !usual(text));
                let about_hooks = |line: &&str| line.contains("hook") || line.contains("midstride");
                complaints.extend(run.stderr.lines().filter(about_hooks).map(str::to_owned));
                Heard { code: run.code, answer: of("agent_message", "text").join("\n"), complaints }
            }
        }
    }

    /// Runs a session with one answer and asserts that the user sees that and nothing else. Returns
    /// the request to the model.
    #[track_caller]
    fn undisturbed(&self, prompt: &str) -> Request {
        let before = self.model.requests().len();
        self.model.then([Turn::says("So it is.")]);
        let heard = self.session(prompt);
        assert_eq!(heard.code, Some(0), "{:?}: {heard:?}", self.client);
        assert_eq!(heard.answer, "So it is.", "{:?}: {heard:?}", self.client);
        assert!(heard.complaints.is_empty(), "{:?}: {heard:?}", self.client);
        let mut asked = self.model.requests().split_off(before);
        assert_eq!(asked.len(), 1, "{:?}", self.client);
        asked.remove(0)
    }

    /// The folder with midstride's private data.
    fn private(&self) -> PathBuf {
        self.sandbox.root().join(".git/midstride")
    }

    /// The lines of the log: the event, what was done, and what went wrong.
    fn log(&self) -> Vec<(String, String, String)> {
        let text = std::fs::read_to_string(self.private().join("hooks.log")).unwrap_or_default();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let part = |line: &Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
        lines.map(|line| (part(&line, "event"), part(&line, "did"), part(&line, "error"))).collect()
    }

    /// The first prompt of each session, newest first. Asserts that all are captured completely.
    #[track_caller]
    fn captured(&self) -> Vec<String> {
        let list = self.sandbox.run(["session", "list", "--json"]).exits(0);
        let list: Value = json_items(&list.stdout);
        let about = |one: &Value| {
            assert_eq!(one["captured"], "whole", "{:?}: {list:#}", self.client);
            one["about"].as_str().unwrap().to_owned()
        };
        list.as_array().unwrap().iter().map(about).collect()
    }

    /// Asserts that the handoff is unchanged and no drafts are left.
    #[track_caller]
    fn nothing_is_half_written(&self) {
        assert_eq!(self.sandbox.read(".midstride/handoffs/slow-pages.md"), HANDOFF);
        for folder in [self.private(), self.sandbox.root().join(".midstride")] {
            let drafts: Vec<PathBuf> =
                files_below(&folder).into_iter().filter(|path| is_draft(path)).collect();
            assert!(drafts.is_empty(), "{drafts:?}");
        }
        let ledger = rusqlite::Connection::open(self.private().join("ledger.db")).unwrap();
        let sound: String =
            ledger.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
    }
}

fn is_draft(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "tmp")
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_below(&path));
        }
        found.push(path);
    }
    found.sort();
    found
}

/// The words of a user, as a briefing quotes them.
fn quoted(words: &str) -> String {
    format!("> {words}")
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn an_excluded_repository_stays_unchanged() {
    for client in CLIENTS {
        let sandbox = crate::sandbox().repository();
        sandbox.write("HANDOFF.md", HANDOFF);
        let root = sandbox.root().to_str().unwrap();
        sandbox.as_user().run(["config", "set", "capture.exclude", root]).exits(0);
        let desk = Desk::in_folder(sandbox, client);
        let asked = desk.undisturbed("Why are the pages slow?");
        assert!(!asked.says("midstride briefing") && !asked.says(LANDMINE), "{:#}", asked.body);
        let ours = |path: &PathBuf| path.to_string_lossy().contains("midstride/");
        let root = desk.sandbox.root();
        assert!(!files_below(&root.join(".git")).iter().any(ours));
        assert!(!root.join(".midstride").exists() && !desk.private().exists());
        assert!(!desk.sandbox.home().join(".local").exists(), "nor is anything in the home");
    }
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn disabled_hooks_leave_sessions_unchanged() {
    for client in CLIENTS {
        let desk = Desk::new(client);
        let before = files_below(&desk.private());
        // Inside a run, by a variable, and while a proof runs.
        let variables = ["MIDSTRIDE_ATTEMPT=1", "MIDSTRIDE=off", "MIDSTRIDE_PROOF=1"];
        for variable in client.some_of(&variables, 2) {
            desk.before_each_hook(&format!("{NO_HURRY}; export {variable}"));
            let asked = desk.undisturbed("Hello");
            assert!(!asked.says("midstride briefing"), "{variable}: {:#}", asked.body);
            assert_eq!(files_below(&desk.private()), before, "{variable}");
        }
        // For the project.
        desk.before_each_hook(NO_HURRY);
        desk.sandbox.run(["off"]).exits(0);
        let before = files_below(&desk.private());
        assert!(!desk.undisturbed("Hello").says("midstride briefing"));
        assert_eq!(files_below(&desk.private()), before);
        desk.sandbox.run(["on"]).exits(0);
        let asked = desk.undisturbed("Hello again");
        assert!(asked.says(LANDMINE), "{:#}", asked.body);
        assert!(desk.log().iter().all(|(.., error)| error.is_empty()), "{:?}", desk.log());
    }
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_missing_or_failing_midstride_does_not_break_sessions() {
    for client in CLIENTS {
        let desk = Desk::new(client);
        let scripts = ["#!/bin/sh\nkill -KILL $$\n", "#!/bin/sh\ncat > /dev/null; exit 1\n"];
        let session = |number: usize| {
            desk.model.then([Turn::says("So it is.")]);
            let heard = desk.session(&format!("Write part {number} of the report"));
            let told = (heard.code, heard.answer.as_str());
            assert_eq!(told, (Some(0), "So it is."), "{client:?}: {heard:?}");
            // The client prints one line about the end; that is all its user sees.
            let known = |line: &String| line.is_empty() || line.starts_with("SessionEnd hook [");
            let ours = heard.complaints.iter().filter(|line| !line.starts_with(NOTED));
            assert!(ours.into_iter().all(known), "{client:?}: {heard:?}");
        };
        for (number, script) in scripts.iter().enumerate() {
            desk.stand_in(script);
            session(number);
        }
        std::fs::remove_file(desk.programs().join("midstride")).unwrap();
        session(scripts.len());
        // It works again, and knows all of them.
        desk.before_each_hook(NO_HURRY);
        let asked = desk.undisturbed("Go on");
        assert!(asked.says(&quoted("Write part 2 of the report")), "{:#}", asked.body);
        assert!(asked.says(LANDMINE), "{:#}", asked.body);
        let captured = desk.captured();
        assert_eq!(captured.len(), 4, "{captured:?}");
        desk.nothing_is_half_written();
    }
}
