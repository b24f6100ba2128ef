//! One worker: it runs commands of every kind, one after the other, and kills some of them.

use midstride_testkit::{Random, Sandbox, fixtures, json_items};
use serde_json::json;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_midstride");
/// A command is killed within this time, which is about as long as it takes.
const KILL_WITHIN_MICROSECONDS: usize = 150_000;

/// A write that exited with 0.
#[derive(Clone, Debug)]
pub(super) enum Acknowledged {
    /// A handoff had this text.
    Text { id: String, text: String },
    /// A task was added, and perhaps done.
    Task { subject: String, is_done: bool },
    /// The shared task got a note.
    Note { text: String },
}

/// What a worker did.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) acknowledged: Vec<Acknowledged>,
    /// Commands that failed, without the killed ones and conflicts.
    pub(super) refused: Vec<String>,
    pub(super) killed: usize,
    pub(super) conflicts: usize,
}

/// What a worker does next.
#[derive(Clone, Copy, Debug)]
enum Verb {
    New,
    Revise,
    ReviseShared,
    Save,
    Resolve,
    TaskAdd,
    TaskDone,
    TaskNote,
    Read,
    Hook,
    Sync,
    DeleteIndex,
}

/// The verbs, as often as they are chosen.
const VERBS: [Verb; 20] = [
    Verb::New,
    Verb::New,
    Verb::Revise,
    Verb::Revise,
    Verb::Revise,
    Verb::ReviseShared,
    Verb::Save,
    Verb::Resolve,
    Verb::TaskAdd,
    Verb::TaskAdd,
    Verb::TaskAdd,
    Verb::TaskDone,
    Verb::TaskNote,
    Verb::Read,
    Verb::Read,
    Verb::Hook,
    Verb::Hook,
    Verb::Hook,
    Verb::Sync,
    Verb::DeleteIndex,
];

/// How a command ended.
enum Ending {
    Done(String),
    Killed,
    Failed(String),
}

pub(super) struct Worker<'s> {
    sandbox: &'s Sandbox,
    number: usize,
    random: Random,
    /// How many commands it started; makes texts and names unique.
    count: usize,
    /// Its handoffs that are not resolved.
    open: Vec<String>,
    /// Its tasks that are not done, by id and subject.
    tasks: Vec<(String, String)>,
    report: Report,
}

impl<'s> Worker<'s> {
    pub(super) fn new(sandbox: &'s Sandbox, seed: u64, number: usize) -> Self {
        let random = Random::seeded(seed << 32 | number as u64);
        let (open, tasks, report) = (Vec::new(), Vec::new(), Report::default());
        Self { sandbox, number, random, count: 0, open, tasks, report }
    }

    pub(super) fn work(mut self, is_over: impl Fn(usize) -> bool) -> Report {
        while !is_over(self.count) {
            self.count += 1;
            let verb = self.random.pick(&VERBS);
            self.act(verb);
        }
        self.report
    }

    fn act(&mut self, verb: Verb) {
        let (worker, count) = (self.number, self.count);
        let text = format!("text {count} of worker {worker} ends here");
        let own = format!("case-{worker}");
        match verb {
            Verb::New => {
                let id = format!("new-{worker}-{count}");
                let words = ["new", &text, "--id", &id, "--body", "-"];
                if self.write(&words, &text, &id) {
                    self.open.push(id);
                }
            }
            Verb::Revise | Verb::ReviseShared => {
                let id = if matches!(verb, Verb::Revise) { own.as_str() } else { "shared" };
                let words = ["edit", id, "--reason", "it moved on", "--body", "-"];
                self.write(&words, &text, id);
            }
            Verb::Save => {
                let id = format!("saved-{worker}");
                let words =
                    ["save", "--no-session", "--id", &id, "--summary", &text, "--accept", "enough"];
                self.write(&words, &text, &id);
            }
            Verb::Resolve => {
                let Some(id) = self.open.pop() else { return };
                self.write(&["resolve", &id, "--outcome", &text], &text, &id);
            }
            Verb::TaskAdd => {
                if let Some(id) = self.run(verb, &["task", "add", &text], "") {
                    let write = Acknowledged::Task { subject: text.clone(), is_done: false };
                    self.report.acknowledged.push(write);
                    self.tasks.push((id.trim().to_owned(), text));
                }
            }
            Verb::TaskDone => {
                let Some((id, subject)) = self.tasks.pop() else { return };
                if self.run(verb, &["task", "done", &id], "").is_some() {
                    self.report.acknowledged.push(Acknowledged::Task { subject, is_done: true });
                }
            }
            Verb::TaskNote => self.note(&text),
            Verb::Read => self.read(),
            Verb::Hook => self.call_hook(),
            Verb::Sync => {
                self.run(verb, &["sync"], "");
            }
            Verb::DeleteIndex => {
                for name in ["index.db", "index.db-wal", "index.db-shm"] {
                    let path = self.sandbox.root().join(".git/midstride").join(name);
                    let _ = std::fs::remove_file(path);
                }
            }
        }
    }

    /// Runs a command that writes a text; returns whether that is acknowledged.
    fn write(&mut self, words: &[&str], text: &str, id: &str) -> bool {
        let is_done = self.run(Verb::New, words, &format!("{text}\n")).is_some();
        if is_done {
            let (id, text) = (id.to_owned(), text.to_owned());
            self.report.acknowledged.push(Acknowledged::Text { id, text });
        }
        is_done
    }

    fn note(&mut self, text: &str) {
        let Some(list) = self.run(Verb::Read, &["task", "list", "--json"], "") else { return };
        let tasks: Vec<serde_json::Value> = serde_json::from_value(json_items(&list)).unwrap();
        let shared = tasks.iter().find(|task| task["subject"] == "everybody's").unwrap();
        let id = shared["id"].as_str().unwrap();
        if self.run(Verb::TaskNote, &["task", "note", id, text], "").is_some() {
            self.report.acknowledged.push(Acknowledged::Note { text: text.to_owned() });
        }
    }

    /// Reads while others write.
    fn read(&mut self) {
        let own = format!("case-{}", self.number);
        let choices: [&[&str]; 6] = [
            &["brief"],
            &["search", "worker"],
            &["list", "--all"],
            &["show", &own],
            &["task", "list"],
            &["events"],
        ];
        let words = self.random.pick(&choices);
        self.run(Verb::Read, words, "");
    }

    /// Calls a hook of a session of its own, which has a transcript.
    fn call_hook(&mut self) {
        let session = format!("5e55{:04x}-4c00-7000-8000-00000000{:04x}", self.count, self.number);
        let transcript = self.transcript(&session);
        let events =
            ["SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd", "SessionEnd"];
        let call = json!({
            "session_id": session,
            "transcript_path": transcript,
            "cwd": self.sandbox.root(),
            "hook_event_name": self.random.pick(&events),
            "source": "startup",
            "prompt": "go on",
            "reason": "other",
        });
        self.run(Verb::Hook, &["hook", "claude-code"], &call.to_string());
    }

    fn transcript(&self, session: &str) -> PathBuf {
        let root = self.sandbox.root().display().to_string();
        let slug = root.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let folder = self.sandbox.home().join(".claude/projects").join(slug);
        std::fs::create_dir_all(&folder).unwrap();
        let text = std::fs::read_to_string(fixtures("transcripts/claude-code/cache.jsonl"));
        let text = text.unwrap().replace("/home/dev/shop", &root).replace("c0de-0001", session);
        let path = folder.join(format!("{session}.jsonl"));
        std::fs::write(&path, text.replace("2026-03-20", "2026-03-22")).unwrap();
        path
    }

    /// Runs a command, and kills every fourth. Returns its output if it exited with 0.
    fn run(&mut self, verb: Verb, words: &[&str], input: &str) -> Option<String> {
        let file = self.sandbox.home().join(format!("input-{}", self.number));
        std::fs::write(&file, input).unwrap();
        let mut command = self.sandbox.child_command(PROGRAM);
        command.args(words).stdin(File::open(&file).unwrap());
        // Generous, because the machine is busy.
        command.env("MIDSTRIDE_HOOK_MILLISECONDS", "20000");
        let kill = self.random.below(4) == 0;
        match run_and_kill(&mut command, kill.then_some(&mut self.random)) {
            Ending::Done(output) => return Some(output),
            Ending::Killed => self.report.killed += 1,
            Ending::Failed(said) if is_conflict(&said) => self.report.conflicts += 1,
            Ending::Failed(said) => self.report.refused.push(format!("{verb:?} {words:?}: {said}")),
        }
        None
    }
}

/// Whether a refusal says that another process changed the same thing first.
fn is_conflict(said: &str) -> bool {
    said.contains("`shared` changed in the meantime, and both versions edit the same parts")
}

/// Runs a command to its end, or kills it at a random moment: the process, or its children too.
fn run_and_kill(command: &mut Command, kill: Option<&mut Random>) -> Ending {
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    if let Some(random) = kill {
        let moment = Duration::from_micros(random.below(KILL_WITHIN_MICROSECONDS) as u64);
        let whole_group = random.below(2) == 0;
        let begun = Instant::now();
        while begun.elapsed() < moment {
            std::thread::yield_now();
        }
        kill_child(&mut child, whole_group);
    }
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(0) => Ending::Done(String::from_utf8_lossy(&output.stdout).into_owned()),
        Some(code) => Ending::Failed(format!("exit {code}: {said}")),
        None => Ending::Killed,
    }
}

fn kill_child(child: &mut Child, whole_group: bool) {
    if whole_group {
        let group = rustix::process::Pid::from_child(child);
        // It may have exited already.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    } else {
        let _ = child.kill();
    }
}
