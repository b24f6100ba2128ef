//! Tests of Codex agents, whose transcripts are separate files and belong to the session that
//! started them.

use crate::set_up;
use midstride::clients;
use midstride::store::Store;
use midstride::store::ledger::WaitPolicy;
use midstride::verbs::{self, SessionChoice};
use midstride::workspace::Workspace;
use midstride_core::session::Session;
use midstride_core::session::checkpoint::CheckpointMode;
use midstride_core::text::id::SessionId;
use midstride_testkit::Sandbox;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const ROOT: &str = "01a1e8d7-7769-7480-a167-000000000001";
const AGENT: &str = "01a1e8d7-7892-7520-a36f-000000000002";
const BELOW: &str = "01a1e8d7-79aa-7520-a36f-000000000003";

struct Shop(Sandbox);

impl Shop {
    fn new() -> Self {
        let shop = Self(Sandbox::new("none").repository());
        set_up(&shop.open());
        shop
    }

    fn open(&self) -> Store {
        Store::new(
            Workspace::discover(crate::environment(&self.0, self.0.root())).unwrap(),
            WaitPolicy::Command,
        )
    }

    /// A session that runs a command, on a day of March 2026, with extra fields in its first
    /// record.
    fn session(&self, day: u32, id: &str, more: &Value, command: &str) -> PathBuf {
        let mut meta = json!({"id": id, "cwd": self.0.root(), "cli_version": "0.166.0"});
        meta.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let asked = json!({"type": "user_message", "message": format!("Ask of {id}")});
        let mut records = vec![("session_meta", meta), ("event_msg", asked)];
        records.extend(calls(
            "exec_command",
            &json!({"cmd": command}),
            "Process exited with code 0",
        ));
        let folder = format!(".codex/sessions/2026/03/{day:02}");
        let name = format!("rollout-2026-03-{day:02}T18-00-00-{id}.jsonl");
        let path = self.0.home().join(folder).join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "").unwrap();
        add(&path, &records);
        path
    }

    /// A session that starts an agent.
    fn session_with_agent(&self) -> PathBuf {
        let path = self.session(22, ROOT, &json!({}), "echo root");
        let output = json!({"agent_id": AGENT, "nickname": "Hubble"}).to_string();
        add(&path, &calls("spawn_agent", &json!({"message": "Find the callers"}), &output));
        path
    }

    fn sessions(&self) -> Vec<String> {
        let (found, unread) = clients::transcripts(self.open().workspace(), clients::find("codex"));
        assert!(unread.is_empty(), "{unread:?}");
        found.into_iter().map(|one| one.session.to_string()).collect()
    }

    fn captured(&self, path: &Path) -> Session {
        let which = SessionChoice::Transcript(path.to_owned());
        let client = clients::find("codex");
        let done = verbs::checkpoint(&self.open(), &which, client, CheckpointMode::Auto).unwrap();
        done.checkpoint.session
    }
}

fn calls(name: &str, input: &Value, output: &str) -> [(&'static str, Value); 2] {
    let id = format!("call-{name}-{}", output.len());
    let call = json!({
        "type": "function_call", "name": name, "arguments": input.to_string(), "call_id": id
    });
    let result = json!({"type": "function_call_output", "call_id": id, "output": output});
    [("response_item", call), ("response_item", result)]
}

fn add(path: &Path, records: &[(&str, Value)]) {
    let mut text = std::fs::read_to_string(path).unwrap();
    for (kind, payload) in records {
        let number = text.lines().count();
        let at = format!("2026-03-22T18:00:{number:02}.000Z");
        let record = json!({"timestamp": at, "ordinal": number, "type": kind, "payload": payload});
        text.push_str(&format!("{record}\n"));
    }
    std::fs::write(path, text).unwrap();
}

/// The first record of an agent, as Codex 0.166 writes it.
fn agent_of(parent: &str) -> Value {
    json!({"session_id": ROOT, "parent_thread_id": parent, "thread_source": "subagent",
           "source": {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}}})
}

/// Each command with the agent that ran it.
fn commands(session: &Session) -> Vec<(&str, Option<&str>)> {
    let one = session.commands.iter();
    one.map(|one| (one.text.as_str(), one.seen.agent.as_deref())).collect()
}

#[test]
fn codex_agents_and_their_subagents_belong_to_their_session() {
    let shop = Shop::new();
    let root = shop.session_with_agent();
    let agent = shop.session(22, AGENT, &agent_of(ROOT), "echo agent");
    // Older versions name the parent only in the source; this agent started after midnight.
    let older = json!({"source": agent_of(AGENT)["source"]});
    shop.session(23, BELOW, &older, "echo below");
    // Another session of that day is unrelated.
    let other = "01a1e8d7-79aa-7520-a36f-00000000ffff";
    shop.session(22, other, &json!({"source": "exec", "thread_source": "user"}), "echo other");
    let mut sessions = shop.sessions();
    sessions.sort();
    assert_eq!(sessions, [ROOT, other]);
    let expected = [("echo root", None), ("echo agent", Some(AGENT)), ("echo below", Some(BELOW))];
    let session = shop.captured(&root);
    assert_eq!(
        (session.id.as_ref().map(SessionId::as_str), commands(&session)),
        (Some(ROOT), expected.to_vec())
    );
    // Naming the transcript of an agent selects its session.
    let session = shop.captured(&agent);
    assert_eq!(
        (session.id.as_ref().map(SessionId::as_str), commands(&session)),
        (Some(ROOT), expected.to_vec())
    );
}

#[test]
fn an_agent_that_outlives_the_capture_of_its_session_is_recovered() {
    let shop = Shop::new();
    shop.session_with_agent();
    let agent = shop.session(22, AGENT, &agent_of(ROOT), "echo agent");
    let recover = || {
        let recovered = verbs::recover(&shop.open(), false, &mut |_, _| ()).unwrap();
        assert!(recovered.failed.is_empty(), "{:?}", recovered.failed);
        recovered.checkpoints.into_iter().map(|one| one.checkpoint.session).collect::<Vec<_>>()
    };
    assert_eq!(
        recover().iter().map(|one| one.id.as_ref().map(SessionId::as_str)).collect::<Vec<_>>(),
        [Some(ROOT)]
    );
    assert!(recover().is_empty(), "all of it is captured");
    add(
        &agent,
        &calls("exec_command", &json!({"cmd": "echo more"}), "Process exited with code 0."),
    );
    let again = recover();
    let texts: Vec<&str> = commands(&again[0]).into_iter().map(|(text, _)| text).collect();
    assert_eq!(texts, ["echo root", "echo agent", "echo more"]);
    assert!(recover().is_empty());
}

#[test]
fn an_agent_without_its_session_counts_as_a_session() {
    let shop = Shop::new();
    let agent = shop.session(22, AGENT, &agent_of(ROOT), "echo agent");
    assert_eq!(shop.sessions(), [AGENT]);
    assert_eq!(commands(&shop.captured(&agent)), [("echo agent", None)]);
}
