//! Drives a client that stays open, as in a terminal: it gets a prompt, answers, and waits.

use midstride_testkit::{ModelServer, Request, Sandbox, json_items, real_client};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The messages that a model received, one text each, without the client's own preamble.
pub(super) fn heard(request: &Request) -> Vec<String> {
    const OWN_WORDS: [&str; 3] =
        ["You are a coding agent", "<skills_instructions>", "<environment"];
    let body = &request.body;
    let said = if body["input"].is_null() { &body["messages"] } else { &body["input"] };
    let of = |value: &Value| Request { body: value.clone(), ..request.clone() };
    let texts = said.as_array().into_iter().flatten().map(|one| of(one).texts().join("\n"));
    texts.filter(|text| !OWN_WORDS.iter().any(|own| text.contains(own))).collect()
}

/// How many times a model received a text.
pub(super) fn times(heard: &[String], text: &str) -> usize {
    heard.iter().map(|one| one.matches(text).count()).sum()
}

/// How many times a briefing quotes a user's words, after `>` or in quotes.
pub(super) fn quotes(heard: &[String], text: &str) -> usize {
    times(heard, &format!("> {text}\n")) + times(heard, &format!("\"{text}\""))
}

/// Claude Code in streaming mode, which takes one prompt after the other.
pub(super) struct Talk {
    child: Child,
    asking: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Talk {
    pub(super) fn start(client: &mut Command) -> Self {
        let forms = ["--input-format", "stream-json", "--output-format", "stream-json"];
        let mut child = client
            .args(["-p", "--verbose"])
            .args(forms)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the client starts");
        let asking = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, asking, answers }
    }

    /// Sends a prompt without waiting for the answer.
    pub(super) fn ask(&mut self, text: &str) {
        let message = json!({"role": "user", "content": text});
        let line = json!({"type": "user", "message": message});
        writeln!(self.asking.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Waits for the answer to a prompt and returns the id of its session.
    pub(super) fn answer(&mut self) -> String {
        let mut answers = self.answers.by_ref().map(|line| {
            let line = line.unwrap();
            serde_json::from_str::<Value>(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
        });
        let end = answers.find(|answer| answer["type"] == "result").expect("it comes to an end");
        assert_eq!(end["is_error"], false, "{end:#}");
        end["session_id"].as_str().unwrap().to_owned()
    }

    pub(super) fn say(&mut self, text: &str) -> String {
        self.ask(text);
        self.answer()
    }

    /// Closes the client and waits until it has exited.
    pub(super) fn end(mut self) {
        drop(self.asking.take());
        self.answers.by_ref().for_each(drop);
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // A failed test must not leave a process behind.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A client in the background. It is killed with the test.
pub(super) struct Running(Child);

impl Running {
    pub(super) fn start(client: &mut Command) -> Self {
        Self(super::start(client))
    }

    pub(super) fn wait(mut self) -> Option<i32> {
        self.0.wait().unwrap().code()
    }

    pub(super) fn interrupt(&self, sandbox: &Sandbox) {
        let id = self.0.id().to_string();
        sandbox.finish(sandbox.command("kill").args(["-INT", &id])).exits(0);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The ids of the sessions of a project, newest first.
pub(super) fn ids(sandbox: &Sandbox) -> Vec<String> {
    let list = sessions(sandbox);
    list.iter().map(|one| one["session"].as_str().unwrap().to_owned()).collect()
}

/// The sessions of a project, newest first.
pub(super) fn sessions(sandbox: &Sandbox) -> Vec<Value> {
    let mut list = sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    let list = list.args(["session", "list", "--json"]).output().unwrap();
    serde_json::from_value(json_items(&list.stdout)).unwrap()
}

/// Codex as an editor drives it: one thread that takes requests.
pub(super) struct Server {
    child: Child,
    asking: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
    thread: String,
    asked: u64,
}

impl Server {
    pub(super) fn start(sandbox: &Sandbox, model: &ModelServer) -> Self {
        let mut client = real_client::codex(sandbox, model);
        // The app server skips untrusted hooks, whatever the flags.
        sandbox.run(["client", "add", "codex", "--trust-hooks", "--yes"]).exits(0);
        let program = Path::new(env!("CARGO_BIN_EXE_midstride"));
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let folders = program.parent().into_iter().map(Path::to_owned);
        let folders = folders.chain(std::env::split_paths(&usual));
        let mut child = client
            .arg("app-server")
            .env("PATH", std::env::join_paths(folders).unwrap())
            .env("MIDSTRIDE_HOOK_MILLISECONDS", "60000")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the client starts");
        let asking = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut server = Self { child, asking, answers, thread: String::new(), asked: 0 };
        let about = json!({"clientInfo": {"name": "test", "title": "test", "version": "0"}});
        server.ask("initialize", about);
        server.write(&json!({"jsonrpc": "2.0", "method": "initialized"}));
        let wanted =
            json!({"cwd": sandbox.root(), "approvalPolicy": "never", "sandbox": "workspace-write"});
        let answer = server.ask("thread/start", wanted);
        server.thread =
            answer["thread"]["id"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned();
        server
    }

    fn write(&mut self, message: &Value) {
        writeln!(self.asking.as_mut().unwrap(), "{message}").unwrap();
    }

    fn read(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.answers.next().expect("it goes on").unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if is_it(&message) {
                return message;
            }
        }
    }

    /// Makes a request about the thread and waits for the answer.
    pub(super) fn ask(&mut self, method: &str, mut parameters: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        if !self.thread.is_empty() {
            parameters["threadId"] = json!(self.thread);
        }
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        let answer = self.read(|message| message["id"] == id && message["method"].is_null());
        assert!(answer["error"].is_null(), "{method}: {answer:#}");
        answer["result"].clone()
    }

    pub(super) fn wait_for(&mut self, event: &str) {
        self.read(|message| message["method"] == event);
    }

    /// Starts a turn and returns its id.
    pub(super) fn begin(&mut self, text: &str) -> String {
        let input = json!([{"type": "text", "text": text}]);
        let answer = self.ask("turn/start", json!({ "input": input }));
        answer["turn"]["id"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned()
    }

    pub(super) fn say(&mut self, text: &str) {
        self.begin(text);
        self.wait_for("turn/completed");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server exits when its input is closed.
        drop(self.asking.take());
        self.answers.by_ref().for_each(drop);
        drop(self.child.wait());
    }
}
