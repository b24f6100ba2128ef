//! Tests of sessions that are killed in the middle of a write: every complete record is recovered.
//!
//! The client is a real process. It writes a real session record by record to where its client
//! stores it, registers as the client does, and is killed with half a record written.

use midstride_testkit::{Sandbox, fixtures, json_items};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

const ID: &str = "5e550001-4c00-7000-8000-00000000dead";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Client {
    ClaudeCode,
    Codex,
}

/// A project in which a client works.
struct Desk {
    sandbox: Sandbox,
    client: Client,
}

/// A running client: a shell that appends its input to the transcript.
struct Working {
    process: Child,
    asked: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// Reads a number of bytes, appends them and confirms. The file stays open as long as it runs.
const WRITE: &str = r#"
exec 3>>"$1"
while read -r bytes; do
    dd bs=1 count="$bytes" status=none >&3
    echo written
done
"#;

impl Desk {
    fn new(client: Client) -> Self {
        let desk = Self { sandbox: crate::sandbox().repository(), client };
        desk.sandbox.as_user().run(["init", "--private"]).exits(0);
        std::fs::create_dir_all(desk.place().parent().unwrap()).unwrap();
        desk
    }

    /// The path of the client's transcript.
    fn place(&self) -> PathBuf {
        let home = self.sandbox.home();
        match self.client {
            Client::ClaudeCode => {
                let root = self.sandbox.root().display().to_string();
                let slug = root.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
                home.join(".claude/projects").join(slug).join(format!("{ID}.jsonl"))
            }
            Client::Codex => home
                .join(".codex/sessions/2026/03/22")
                .join(format!("rollout-2026-03-22T10-00-00-{ID}.jsonl")),
        }
    }

    /// The records of a session in this project.
    fn records(&self) -> Vec<String> {
        let file = match self.client {
            Client::ClaudeCode => "claude-code/cache.jsonl",
            Client::Codex => "codex/login.jsonl",
        };
        let text = std::fs::read_to_string(fixtures("transcripts").join(file)).unwrap();
        let text = text
            .replace("/home/dev/shop", &self.sandbox.root().display().to_string())
            .replace("2026-03-20", "2026-03-22")
            .replace("c0de-0001", ID);
        text.split_inclusive('\n').map(str::to_owned).collect()
    }

    fn start(&self) -> Working {
        let mut process = self
            .sandbox
            .command("sh")
            .args(["-c", WRITE, "sh"])
            .arg(self.place())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (asked, answers) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        if self.client == Client::ClaudeCode {
            self.register(process.id(), &started(process.id()));
        }
        Working { process, asked, answers: BufReader::new(answers) }
    }

    /// Registers the process of a session, as Claude Code does.
    fn register(&self, pid: u32, start: &str) {
        let folder = self.sandbox.home().join(".claude/sessions");
        std::fs::create_dir_all(&folder).unwrap();
        let text = format!("{{\"pid\":{pid},\"sessionId\":\"{ID}\",\"procStart\":\"{start}\"}}");
        std::fs::write(folder.join(format!("{pid}.json")), text).unwrap();
    }

    fn recover(&self) -> String {
        self.sandbox.run(["session", "recover"]).exits(0).stderr
    }

    fn state(&self) -> String {
        let run = self.sandbox.run(["session", "list", "--json"]).exits(0);
        let list: Value = json_items(&run.stdout);
        format!("runs {}, captured {}", list[0]["runs"], list[0]["captured"].as_str().unwrap())
    }

    /// What is stored of the session, without the path that the sandbox replaces.
    fn stored(&self) -> Value {
        let run = self.sandbox.run(["session", "show", ID, "--json"]).exits(0);
        let shown: Value = serde_json::from_str(&run.stdout).unwrap();
        shown["session"].clone()
    }
}

impl Working {
    fn write(&mut self, text: &str) {
        writeln!(self.asked, "{}", text.len()).unwrap();
        self.asked.write_all(text.as_bytes()).unwrap();
        self.asked.flush().unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        assert_eq!(answer, "written\n");
    }

    fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// The start time of a process, as the system counts it.
fn started(pid: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().to_owned()
}

/// A session with the same records that ended normally.
fn whole(client: Client, count: usize) -> Value {
    let desk = Desk::new(client);
    std::fs::write(desk.place(), desk.records()[..count].concat()).unwrap();
    desk.recover();
    desk.stored()
}

#[test]
fn every_complete_record_of_a_killed_session_is_recovered() {
    for client in [Client::ClaudeCode, Client::Codex] {
        let desk = Desk::new(client);
        let records = desk.records();
        // In mid-turn: a call was made and has not returned.
        let count = match client {
            Client::ClaudeCode => 6,
            Client::Codex => 9,
        };
        let mut working = desk.start();
        for record in &records[..count] {
            working.write(record);
        }
        working.write(&records[count][..records[count].len() / 2]);
        // While it runs, it is named and left alone.
        assert_eq!(desk.state(), "runs true, captured no", "{client:?}");
        let told = desk.recover();
        assert!(told.contains("1 session still running"), "{told}");
        assert!(told.contains("Nothing to recover"), "{told}");
        working.kill();
        assert_eq!(desk.state(), "runs false, captured no", "{client:?}");
        let told = desk.recover();
        assert!(told.contains("ended"), "{told}");
        assert_eq!(desk.state(), "runs false, captured whole", "{client:?}");
        let stored = desk.stored();
        assert_eq!(stored["counts"]["seen"], count, "{client:?}");
        assert_eq!(stored["counts"]["skipped"], serde_json::json!({}), "{client:?}");
        assert_eq!(stored, whole(client, count), "{client:?}: item for item");
        assert!(desk.recover().contains("Nothing to recover"));
    }
}

#[test]
fn a_killed_session_can_be_resumed() {
    let desk = Desk::new(Client::ClaudeCode);
    let records = desk.records();
    let mut working = desk.start();
    working.write(&records[..6].concat());
    working.write(&records[6][..40]);
    working.kill();
    desk.recover();
    // The client continues in the same file, after the partial record.
    let mut again = desk.start();
    again.write(&format!("\n{}", records[7..20].concat()));
    assert_eq!(desk.state(), "runs true, captured in part");
    again.kill();
    desk.recover();
    let counts = desk.stored()["counts"].clone();
    assert_eq!(counts["seen"], 20, "{counts}");
    assert_eq!(counts["skipped"]["cut off"], 1, "{counts}");
}

#[test]
fn a_reused_process_id_is_not_the_session() {
    let desk = Desk::new(Client::ClaudeCode);
    std::fs::write(desk.place(), desk.records().concat()).unwrap();
    let own = std::process::id();
    desk.register(own, &started(own));
    assert_eq!(desk.state(), "runs true, captured no");
    desk.register(own, "1");
    assert_eq!(desk.state(), "runs false, captured no");
    desk.recover();
    assert_eq!(desk.state(), "runs false, captured whole");
}

#[test]
fn a_zombie_process_counts_as_killed() {
    let desk = Desk::new(Client::ClaudeCode);
    let mut working = desk.start();
    working.write(&desk.records().concat());
    // Its parent has not waited for it, so its process id is still in use.
    let Working { mut process, answers: mut end, asked } = working;
    process.kill().unwrap();
    // Its output ends when it has exited.
    std::io::copy(&mut end, &mut std::io::sink()).unwrap();
    drop(asked);
    let stat = format!("/proc/{}/stat", process.id());
    while !std::fs::read_to_string(&stat).unwrap().contains(") Z ") {
        std::thread::yield_now();
    }
    assert_eq!(desk.state(), "runs false, captured no");
    process.wait().unwrap();
}

#[test]
fn reading_a_transcript_does_not_count_as_running() {
    let desk = Desk::new(Client::Codex);
    std::fs::write(desk.place(), desk.records().concat()).unwrap();
    let looking = std::fs::File::open(desk.place()).unwrap();
    assert_eq!(desk.state(), "runs false, captured no");
    let writing = std::fs::OpenOptions::new().append(true).open(desk.place()).unwrap();
    assert_eq!(desk.state(), "runs true, captured no");
    drop((looking, writing));
}
