//! Tests of capturing sessions: finding transcripts, reading what is new, and assigning them to
//! projects.

use crate::set_up;
use midstride::clients::capture::{UnreadAmount, capture, unread_amount};
use midstride::clients::{self, LivenessProbe, SessionLiveness};
use midstride::store::Store;
use midstride::store::index::RefreshLimit;
use midstride::store::ledger::WaitPolicy;
use midstride::sys::env::Environment;
use midstride::verbs::{self, CheckpointError, Extent, SaveRequest, SaveSource, SessionChoice};
use midstride::workspace::Workspace;
use midstride_core::brief::hook::{HookEvent, HookInput};
use midstride_core::session::Session;
use midstride_core::session::author_notes::AuthorNotes;
use midstride_core::session::checkpoint::{Checkpoint, CheckpointMode};
use midstride_core::text::id::SessionId;
use midstride_testkit::{NOW, Sandbox, corpus, fixtures};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ID: &str = "0195b9d2-4c00-7000-8000-00000000aaaa";
const OTHER: &str = "0195b9d2-4c00-7000-8000-00000000bbbb";

struct Shop(Sandbox);

impl Shop {
    fn new() -> Self {
        let shop = Self(Sandbox::new("none").repository());
        set_up(&shop.open());
        shop
    }

    fn open(&self) -> Store {
        Store::new(
            Workspace::discover(self.environment(self.0.root())).unwrap(),
            WaitPolicy::Command,
        )
    }

    fn environment(&self, folder: &Path) -> Environment {
        crate::environment(&self.0, folder)
    }

    /// The fixture as a session in a folder.
    fn text(folder: &Path) -> String {
        let text = std::fs::read(fixtures("transcripts/claude-code").join("cache.jsonl")).unwrap();
        let text = String::from_utf8(text).unwrap();
        text.replace("/home/dev/shop", &folder.display().to_string())
            .replace("2026-03-20", "2026-03-22")
    }

    /// The path of Claude Code's transcript for a session that started in a folder.
    fn place(&self, folder: &Path, id: &str) -> PathBuf {
        let path = folder.display().to_string();
        let slug = path.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        self.0.home().join(".claude/projects").join(slug).join(format!("{id}.jsonl"))
    }

    fn put(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A session in the project.
    fn session(&self, id: &str) -> PathBuf {
        let path = self.place(self.0.root(), id);
        Self::put(&path, &Self::text(self.0.root()));
        path
    }

    fn checkpoint(
        &self,
        which: &SessionChoice,
    ) -> Result<verbs::CheckpointOutcome, CheckpointError> {
        verbs::checkpoint(&self.open(), which, None, CheckpointMode::Checkpoint)
    }
}

#[test]
fn a_long_session_is_captured_in_the_background_when_it_ends() {
    let shop = Shop::new();
    let end = |path: &Path, is_clear: bool| {
        let call = HookInput {
            transcript: Some(path.display().to_string()),
            ..crate::hook_call("SessionEnd", ID, HookEvent::End { is_clear })
        };
        verbs::hook(&shop.open(), &call, RefreshLimit::default())
    };
    let path = shop.session(ID);
    let short = end(&path, false);
    assert_eq!((short.actions, short.is_capture_due), (vec!["captured".to_owned()], false));
    let more = Shop::text(shop.0.root()).repeat(160);
    Shop::put(&path, &more);
    let long = end(&path, false);
    assert_eq!(
        (long.actions, long.is_capture_due),
        (vec!["continues in the background".to_owned()], true)
    );
    // After `/clear`, the next session starts immediately and is briefed on this one.
    let cleared = end(&path, true);
    assert_eq!((cleared.actions, cleared.is_capture_due), (vec!["captured".to_owned()], false));
    assert!(!end(&path, false).is_capture_due, "it is captured");
}

#[test]
fn a_session_is_found_by_the_folder_in_its_records() {
    let shop = Shop::new();
    let root = shop.0.root();
    shop.session(ID);
    // A folder whose name only starts the same, and a matching one with records of another project.
    let sibling = root.with_file_name("project-two");
    std::fs::create_dir(&sibling).unwrap();
    Shop::put(&shop.place(&sibling, OTHER), &Shop::text(&sibling));
    Shop::put(&shop.place(root, "strange"), &Shop::text(&sibling));
    // A session that started in a subfolder of the project.
    let inside = root.join("src");
    std::fs::create_dir(&inside).unwrap();
    Shop::put(&shop.place(&inside, OTHER), &Shop::text(&inside));
    // A session that names no folder.
    Shop::put(&shop.place(root, "nameless"), "{\"type\":\"mode\",\"sessionId\":\"x\"}\n");
    let (found, unread) = clients::transcripts(shop.open().workspace(), None);
    let mut ids: Vec<&str> = found.iter().map(|found| found.session.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [ID, OTHER]);
    assert!(found.iter().any(|found| found.path == shop.place(&inside, OTHER)));
    assert!(unread.is_empty());
    // Nothing falls back to another project's sessions.
    let sibling =
        Store::new(Workspace::discover(shop.environment(&sibling)).unwrap(), WaitPolicy::Command);
    let (found, _) = clients::transcripts(sibling.workspace(), None);
    let paths: Vec<&Path> = found.iter().map(|found| found.path.as_path()).collect();
    assert_eq!(paths, [shop.place(sibling.workspace().root().path(), OTHER)]);
}

#[test]
fn worktrees_of_a_repository_share_their_sessions() {
    let shop = Shop::new();
    let tree = shop.0.root().with_file_name("second");
    let git = |arguments: &[&str]| {
        let done = shop.0.command("git").args(arguments).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    git(&["worktree", "add", "-q", tree.to_str().unwrap()]);
    Shop::put(&shop.place(&tree, OTHER), &Shop::text(&tree));
    let (found, _) = clients::transcripts(shop.open().workspace(), None);
    assert_eq!(found.len(), 1);
}

#[test]
fn only_what_is_new_is_read() {
    let shop = Shop::new();
    let path = shop.session(ID);
    let text = std::fs::read_to_string(&path).unwrap();
    let half = text[..text.len() / 2].rfind('\n').unwrap() + 1;
    std::fs::write(&path, &text[..half + 10]).unwrap();
    let first = shop.checkpoint(&SessionChoice::Newest).unwrap();
    assert_eq!((first.new_bytes, first.is_new), (half as u64, true));
    std::fs::write(&path, &text).unwrap();
    let second = shop.checkpoint(&SessionChoice::Newest).unwrap();
    let whole = text.rfind('\n').unwrap() + 1;
    assert_eq!(second.new_bytes, (whole - half) as u64);
    let again = shop.checkpoint(&SessionChoice::Id(ID[..34].to_owned())).unwrap();
    assert_eq!((again.new_bytes, again.is_new, &again.blob), (0, false, &second.blob));
    // Reading in two pieces gives the same as reading at once.
    let fresh = Shop::new();
    let copy = fresh.session(ID);
    std::fs::write(
        &copy,
        text.replace(&shop.0.root().display().to_string(), &fresh.0.root().display().to_string()),
    )
    .unwrap();
    let at_once = fresh.checkpoint(&SessionChoice::Newest).unwrap();
    assert_eq!(at_once.checkpoint.session.counts, second.checkpoint.session.counts);
    assert_eq!(at_once.checkpoint.session.requests, second.checkpoint.session.requests);
}

#[test]
fn a_truncated_cursor_is_read_again_from_the_transcript() {
    let shop = Shop::new();
    shop.session(ID);
    let first = shop.checkpoint(&SessionChoice::Newest).unwrap();
    let folder = shop.0.root().join(".git/midstride/cursors");
    let cursors: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!cursors.is_empty());
    for part in [0, 2] {
        for path in cursors.iter().filter(|path| path.is_file()) {
            let bytes = std::fs::read(path).unwrap();
            std::fs::write(path, &bytes[..bytes.len() * part / 3]).unwrap();
        }
        let again = shop.checkpoint(&SessionChoice::Newest).unwrap();
        assert_eq!(again.checkpoint.session, first.checkpoint.session);
        assert!(!again.is_new && again.new_bytes > 0);
    }
}

#[test]
fn a_rewritten_transcript_is_read_from_the_start() {
    let shop = Shop::new();
    let path = shop.session(ID);
    let text = std::fs::read_to_string(&path).unwrap();
    shop.checkpoint(&SessionChoice::Newest).unwrap();
    let other = text.replace("Make the market", "Make the search");
    let shorter: String = text.split_inclusive('\n').take(3).collect();
    for replaced in [other, shorter, String::new(), text] {
        std::fs::write(&path, &replaced).unwrap();
        let store = shop.open();
        let found = clients::read_transcript(&path, None).unwrap();
        let captured = capture(store.workspace(), &found).unwrap();
        let lines = replaced.matches('\n').count() - replaced.matches("\n\n").count();
        assert_eq!(captured.session.counts.seen, lines as u64);
        let whole = replaced.rfind('\n').map_or(0, |end| end + 1);
        assert_eq!(captured.bytes, whole as u64);
    }
}

/// Records of numbered user prompts.
fn asked(folder: &Path, numbers: std::ops::Range<usize>) -> String {
    let record = |number: usize| {
        let record = serde_json::json!({
            "type": "user", "uuid": format!("asked-{number}"), "sessionId": ID, "cwd": folder,
            "timestamp": "2026-03-22T10:00:00.000Z", "isSidechain": false,
            "message": {"role": "user", "content": format!("Look at page {number} once more. ").repeat(8)},
        });
        format!("{record}\n")
    };
    numbers.map(record).collect()
}

#[test]
fn a_replaced_transcript_counts_as_new() {
    let shop = Shop::new();
    let path = shop.place(shop.0.root(), ID);
    let text = asked(shop.0.root(), 0..40);
    Shop::put(&path, &text);
    let store = shop.open();
    let found = clients::read_transcript(&path, None).unwrap();
    assert_eq!(
        unread_amount(store.workspace(), &found),
        UnreadAmount::Enough,
        "nothing was read yet"
    );
    capture(store.workspace(), &found).unwrap();
    assert_eq!(unread_amount(store.workspace(), &found), UnreadAmount::Nothing);
    let more = asked(shop.0.root(), 40..41);
    let middle = text.len() / 2;
    assert!(middle > 8 << 10, "{middle}");
    let rewritten = |at: usize| format!("{}X{}", &text[..at], &text[at + 1..]);
    let cut_off = text[..middle].rfind('\n').unwrap() + 1;
    let regrown = format!("{}{}", &text[..cut_off], asked(shop.0.root(), 50..90));
    let other = [
        ("grown", format!("{text}{more}")),
        ("shorter", text[..cut_off].to_owned()),
        ("empty", String::new()),
        ("replaced", asked(shop.0.root(), 100..140)),
        ("cut off and grown again", regrown[..text.len()].to_owned()),
        ("rewritten at its start", rewritten(100)),
        ("rewritten at its end", rewritten(text.len() - 100)),
    ];
    for (how, text) in other {
        std::fs::write(&path, text).unwrap();
        assert_eq!(unread_amount(store.workspace(), &found), UnreadAmount::Enough, "{how}");
    }
    // Clients only append, so a change in the middle is not detected.
    std::fs::write(&path, rewritten(middle)).unwrap();
    assert_eq!(unread_amount(store.workspace(), &found), UnreadAmount::Nothing);
    // The work of an agent is new for its session.
    let agent = path.with_extension("").join("subagents/agent-a1.jsonl");
    Shop::put(&agent, &more);
    assert_eq!(unread_amount(store.workspace(), &found), UnreadAmount::Enough);
    capture(store.workspace(), &found).unwrap();
    assert_eq!(unread_amount(store.workspace(), &found), UnreadAmount::Nothing);
}

#[test]
fn a_small_addition_to_a_long_session_counts_as_little() {
    let shop = Shop::new();
    let path = shop.place(shop.0.root(), ID);
    let text = asked(shop.0.root(), 0..1_000);
    Shop::put(&path, &text);
    let store = shop.open();
    let found = clients::read_transcript(&path, None).unwrap();
    capture(store.workspace(), &found).unwrap();
    let more = asked(shop.0.root(), 1_000..1_001);
    std::fs::write(&path, format!("{text}{more}")).unwrap();
    assert_eq!(unread_amount(store.workspace(), &found), UnreadAmount::Little);
    // An explicit capture reads all of it, but does not update the stored cursor for so little.
    for _ in 0..2 {
        let captured = capture(store.workspace(), &found).unwrap();
        let (new, all) = (captured.new_bytes, captured.session.requests.total());
        assert_eq!((new, all), (more.len() as u64, 1_001));
        assert_eq!(captured.bytes, (text.len() + more.len()) as u64);
    }
    let more = asked(shop.0.root(), 1_000..3_000);
    std::fs::write(&path, format!("{text}{more}")).unwrap();
    assert_eq!(unread_amount(store.workspace(), &found), UnreadAmount::Enough);
    let captured = capture(store.workspace(), &found).unwrap();
    assert_eq!(captured.session.requests.total(), 3_000);
    let again = capture(store.workspace(), &found).unwrap();
    assert_eq!((again.new_bytes, again.session), (0, captured.session));
}

#[test]
fn agents_and_tasks_beside_a_session_belong_to_it() {
    let shop = Shop::new();
    let path = shop.session(ID);
    let agents = path.with_extension("").join("subagents");
    let line = |uuid: &str, rest: &str| {
        format!(
            "{{\"type\":\"assistant\",\"isSidechain\":true,\"agentId\":\"zz\",\"uuid\":\"{uuid}\",\"sessionId\":\"{ID}\",{rest}}}\n"
        )
    };
    let call = r#""message":{"role":"assistant","content":[{"type":"tool_use","id":"z1","name":"Bash","input":{"command":"make bench"}}]}"#;
    let back = line("z2", r#""message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"z1","content":"Exit code 2\nno rule","is_error":true}]}"#)
        .replace("\"type\":\"assistant\"", "\"type\":\"user\"");
    Shop::put(&agents.join("agent-zz.jsonl"), &(line("z1", call) + &back));
    Shop::put(&agents.join("agent-acompact-1.jsonl"), &line("y1", call));
    let tasks = shop.0.home().join(".claude/tasks").join(ID);
    Shop::put(
        &tasks.join("2.json"),
        r#"{"id":"2","subject":"Measure again","status":"completed","blockedBy":[]}"#,
    );
    Shop::put(&tasks.join("3.json"), r#"{"id":"3","subject":"Tell the team","status":"pending"}"#);
    Shop::put(&tasks.join("4.json"), "half a fi");
    let done = shop.checkpoint(&SessionChoice::Newest).unwrap();
    let session = &done.checkpoint.session;
    let command = session.commands.items.last().unwrap();
    assert_eq!((&*command.text, command.code), ("make bench", Some(2)));
    assert_eq!(command.seen.agent.as_deref(), Some("zz"));
    let tasks: Vec<(&str, &str, &str)> = session
        .tasks
        .iter()
        .map(|task| (&*task.subject, task.status.as_str(), &*task.changed.record))
        .collect();
    assert_eq!(
        tasks,
        [
            ("Warm the cache", "in progress", "a31"),
            ("Measure again", "completed", "tasks/2.json"),
            ("Tell the team", "pending", "tasks/3.json"),
        ]
    );
    assert!(!shop.checkpoint(&SessionChoice::Newest).unwrap().is_new);
}

#[test]
fn a_codex_fork_continues_from_its_parent() {
    let shop = Shop::new();
    let root = shop.0.root().display().to_string();
    let text = std::fs::read_to_string(fixtures("transcripts/codex").join("login.jsonl")).unwrap();
    let text = text.replace("/home/dev/shop", &root);
    let day = shop.0.home().join(".codex/sessions/2026/03/22");
    let parent = day.join(format!("rollout-2026-03-22T10-00-00-{ID}.jsonl"));
    Shop::put(&parent, &text);
    let end: usize = text.split_inclusive('\n').take(8).map(str::len).sum();
    let meta = serde_json::json!({"timestamp":"2026-03-22T11:00:00Z","ordinal":8,"type":"session_meta","payload":{
        "id": OTHER, "cwd": root, "forked_from_id": ID,
        "history_base": {"thread_id": ID, "end_ordinal_exclusive": 8, "end_byte_offset": end}}});
    let asked = serde_json::json!({"timestamp":"2026-03-22T11:00:01Z","ordinal":9,"type":"event_msg","payload":{
        "type": "user_message", "message": "Try the other way."}});
    let child = day.join(format!("rollout-2026-03-22T11-00-00-{OTHER}.jsonl"));
    Shop::put(&child, &format!("{meta}\n{asked}\n"));
    let done = shop.checkpoint(&SessionChoice::Id(OTHER.to_owned())).unwrap();
    let session = &done.checkpoint.session;
    assert_eq!(session.id.as_ref().map(SessionId::as_str), Some(OTHER));
    assert_eq!(session.forked_from.as_ref().map(SessionId::as_str), Some(ID));
    let asked: Vec<&str> = session.requests.iter().map(|request| &*request.text).collect();
    assert_eq!(asked, ["Try the other way."], "what was asked before is the other one's");
    assert_eq!(session.forked_after.as_deref(), Some("ordinal 7"));
    assert!(session.tasks.is_empty() && session.commands.is_empty());
    assert_eq!(session.usage.total(), 0);
    assert_eq!((session.counts.seen, session.counts.duplicates), (10, 8));
    // The parent session has everything.
    let left =
        shop.checkpoint(&SessionChoice::Transcript(parent.clone())).unwrap().checkpoint.session;
    assert_eq!(&*left.requests.items[0].text, "Fix the login loop.");
    assert!(!left.tasks.is_empty() && left.forked_from.is_none());
    // If the parent is deleted, what it contained is lost.
    std::fs::remove_file(parent).unwrap();
    let fresh = Shop::new();
    let there = fresh.0.root().join("rollout.jsonl");
    let child = std::fs::read_to_string(child)
        .unwrap()
        .replace(&root, &fresh.0.root().display().to_string());
    Shop::put(&there, &child);
    let done = fresh.checkpoint(&SessionChoice::Transcript(there)).unwrap();
    let session = &done.checkpoint.session;
    assert_eq!(session.requests.total(), 1);
    assert_eq!(
        (session.forked_from.as_ref().map(SessionId::as_str), &session.forked_after),
        (Some(ID), &None)
    );
}

#[test]
fn a_session_of_another_project_is_refused_and_a_moved_one_accepted() {
    let shop = Shop::new();
    let elsewhere = shop.0.home().join("elsewhere");
    let gone = shop.0.home().join("gone");
    std::fs::create_dir(&elsewhere).unwrap();
    let path = shop.0.home().join("t.jsonl");
    Shop::put(&path, &Shop::text(&elsewhere));
    let refused = shop.checkpoint(&SessionChoice::Transcript(path.clone())).unwrap_err();
    assert!(matches!(refused, CheckpointError::OtherProject { .. }), "{refused}");
    Shop::put(&path, &Shop::text(&gone));
    let taken = shop.checkpoint(&SessionChoice::Transcript(path)).unwrap();
    assert_eq!(taken.moved_from, Some(gone.display().to_string()));
}

#[test]
fn a_file_that_is_not_a_transcript_is_rejected() {
    let shop = Shop::new();
    let path = shop.0.home().join("t.jsonl");
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        shop.checkpoint(&SessionChoice::Transcript(path.clone()))
    };
    // UTF-16, binary, prose.
    let wide: Vec<u8> = "{\"type\":\"user\"}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [&wide[..], &[0, 159, 146, 150, b'\n'], b"Dear diary\n"] {
        let error = refused(bytes).unwrap_err();
        assert!(matches!(error, CheckpointError::NotUnderstood { .. }), "{error}");
    }
    // An empty file and a partial record are not errors.
    for bytes in [&b""[..], b"{\"type\":\"us"] {
        assert_eq!(refused(bytes).unwrap().checkpoint.session.counts.seen, 0);
    }
    std::fs::remove_file(&path).unwrap();
    let error = shop.checkpoint(&SessionChoice::Transcript(path.clone())).unwrap_err();
    assert!(matches!(error, CheckpointError::File(_)), "{error}");
    assert!(matches!(
        shop.checkpoint(&SessionChoice::Newest).unwrap_err(),
        CheckpointError::NoSession(_)
    ));
}

#[test]
fn a_session_with_a_live_process_is_running() {
    let shop = Shop::new();
    shop.session(ID);
    let found = clients::transcripts(shop.open().workspace(), None).0.remove(0);
    let life = || LivenessProbe::new(shop.open().workspace().environment()).check(&found);
    assert_eq!(life(), SessionLiveness::Ended);
    let own = std::process::id();
    let started = midstride::sys::process::start_time(u64::from(own)).unwrap();
    let register = |start: &str| {
        let file = shop.0.home().join(format!(".claude/sessions/{own}.json"));
        let text = format!("{{\"pid\":{own},\"sessionId\":\"{ID}\",\"procStart\":\"{start}\"}}");
        Shop::put(&file, &text);
    };
    register(&started);
    assert_eq!(life(), SessionLiveness::Running);
    // The process id now belongs to another process.
    register("1");
    assert_eq!(life(), SessionLiveness::Ended);
}

#[test]
fn a_session_with_an_open_codex_transcript_is_running() {
    let shop = Shop::new();
    let text = std::fs::read_to_string(fixtures("transcripts/codex").join("login.jsonl")).unwrap();
    let text = text.replace("/home/dev/shop", &shop.0.root().display().to_string());
    let path = shop
        .0
        .home()
        .join(format!(".codex/sessions/2026/03/22/rollout-2026-03-22T10-00-00-{ID}.jsonl"));
    Shop::put(&path, &text);
    let found = clients::transcripts(shop.open().workspace(), clients::find("codex")).0.remove(0);
    let open = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    assert_eq!(
        LivenessProbe::new(shop.open().workspace().environment()).check(&found),
        SessionLiveness::Running
    );
    drop(open);
    assert_eq!(
        LivenessProbe::new(shop.open().workspace().environment()).check(&found),
        SessionLiveness::Ended
    );
}

#[test]
fn a_session_killed_mid_turn_is_recovered_to_its_last_complete_record() {
    let shop = Shop::new();
    let path = shop.place(shop.0.root(), ID);
    let source = shop.0.home().join("source.jsonl");
    Shop::put(&path, "");
    Shop::put(&source, &Shop::text(shop.0.root()));
    // Write all records and a partial one, then wait to be killed.
    let script = "cat \"$1\" > \"$2\"; echo ready; read wait";
    let mut writer = Command::new("sh")
        .args(["-c", script, "sh"])
        .args([&source, &path])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = [0; 5];
    std::io::Read::read_exact(writer.stdout.as_mut().unwrap(), &mut said).unwrap();
    let pid = writer.id();
    let started = midstride::sys::process::start_time(u64::from(pid)).unwrap();
    let register = shop.0.home().join(format!(".claude/sessions/{pid}.json"));
    Shop::put(
        &register,
        &format!("{{\"pid\":{pid},\"sessionId\":\"{ID}\",\"procStart\":{started}}}"),
    );
    let live = verbs::recover(&shop.open(), false, &mut |_, _| ()).unwrap();
    assert_eq!((live.checkpoints.len(), live.running), (0, 1));
    writer.kill().unwrap();
    writer.wait().unwrap();
    let recovered = verbs::recover(&shop.open(), false, &mut |_, _| ()).unwrap();
    assert_eq!(recovered.checkpoints.len(), 1);
    let checkpoint = &recovered.checkpoints[0].checkpoint;
    assert_eq!(checkpoint.session.last_record.as_deref(), Some("a52"));
    assert_eq!(checkpoint.in_flight.len(), 1);
    assert_eq!(checkpoint.mode, CheckpointMode::Auto);
    let again = verbs::recover(&shop.open(), false, &mut |_, _| ()).unwrap();
    assert_eq!(again.checkpoints.len(), 0);
    let (list, _) = verbs::sessions(&shop.open(), None).unwrap();
    assert_eq!((list[0].extent, list[0].life), (Extent::Whole, SessionLiveness::Ended));
}

#[test]
fn recovery_starts_with_the_newest_and_skips_sessions_older_than_setup() {
    let shop = Shop::new();
    for number in 0..5 {
        shop.session(&format!("0195b9d2-4c00-7000-8000-00000000000{number}"));
    }
    let old = shop.place(shop.0.root(), ID);
    Shop::put(&old, &Shop::text(shop.0.root()).replace("2026-03-22", "2026-03-19"));
    let first = verbs::recover(&shop.open(), false, &mut |_, _| ()).unwrap();
    assert_eq!((first.checkpoints.len(), first.remaining), (3, 2));
    let rest = verbs::recover(&shop.open(), false, &mut |_, _| ()).unwrap();
    assert_eq!((rest.checkpoints.len(), rest.remaining, rest.older), (2, 0, 1));
    // It can still be captured by name.
    assert!(shop.checkpoint(&SessionChoice::Id(ID.to_owned())).unwrap().is_new);
}

#[test]
fn all_sessions_are_recovered_also_those_from_before_the_setup() {
    let shop = Shop::new();
    // The session began before midstride was set up.
    Shop::put(
        &shop.place(shop.0.root(), ID),
        &asked(shop.0.root(), 0..3).replace("2026-", "2020-"),
    );
    let few = verbs::recover(&shop.open(), false, &mut |_, _| ()).unwrap();
    assert_eq!((few.checkpoints.len(), few.older), (0, 1));
    let mut progress = Vec::new();
    let all =
        verbs::recover(&shop.open(), true, &mut |done, of| progress.push((done, of))).unwrap();
    assert_eq!((all.checkpoints.len(), all.older), (1, 0));
    assert_eq!(progress, [(1, 1)]);
}

#[test]
fn agent_work_after_the_capture_of_its_session_is_recovered() {
    let shop = Shop::new();
    verbs::recover(&shop.open(), true, &mut |_, _| ()).unwrap();
    let path = shop.place(shop.0.root(), ID);
    let late = asked(shop.0.root(), 0..3).replace("2026-03-22", "2100-03-22");
    Shop::put(&path, &late);
    let agent = path.with_extension("").join("subagents/agent-a1.jsonl");
    let more = asked(shop.0.root(), 10..12).replace("2026-03-22", "2100-03-22");
    let half = more.len() / 2;
    let first = more[..half].rfind('\n').unwrap() + 1;
    Shop::put(&agent, &more[..first]);
    assert!(shop.checkpoint(&SessionChoice::Newest).unwrap().is_new);
    let recover = || verbs::recover(&shop.open(), true, &mut |_, _| ()).unwrap().checkpoints;
    assert!(recover().is_empty());
    std::fs::write(&agent, &more).unwrap();
    let (list, _) = verbs::sessions(&shop.open(), None).unwrap();
    assert_eq!(list[0].extent, verbs::Extent::Part);
    let recovered = recover();
    assert!(recovered.len() == 1 && recovered[0].is_new);
    // A partial line at the end adds nothing.
    std::fs::write(&agent, format!("{more}{{\"type\":")).unwrap();
    recover();
    assert!(recover().is_empty());
}

#[test]
fn an_emptied_transcript_deletes_nothing() {
    let shop = Shop::new();
    let path = shop.session(ID);
    let before = shop.checkpoint(&SessionChoice::Newest).unwrap();
    for text in ["", "{\"type\":"] {
        std::fs::write(&path, text).unwrap();
        let which = SessionChoice::Transcript(path.clone());
        let after = shop.checkpoint(&which).unwrap();
        assert_eq!((after.is_new, &after.blob), (false, &before.blob), "{text}");
    }
}

#[test]
fn two_concurrent_captures_both_succeed() {
    let shop = Shop::new();
    let path = shop.session(ID);
    let text = std::fs::read_to_string(&path).unwrap();
    let (start, rest) = text.split_at(text.len() / 8);
    std::fs::write(&path, start).unwrap();
    std::thread::scope(|scope| {
        let capture = || {
            for _ in 0..5 {
                shop.checkpoint(&SessionChoice::Newest).unwrap();
            }
        };
        let captures: Vec<_> = (0..4).map(|_| scope.spawn(capture)).collect();
        // The session continues in the meantime.
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        for piece in rest.as_bytes().chunks(700) {
            std::io::Write::write_all(&mut file, piece).unwrap();
        }
        for capture in captures {
            capture.join().unwrap();
        }
    });
    let last = shop.checkpoint(&SessionChoice::Newest).unwrap();
    assert_eq!(last.checkpoint.session.last_record.as_deref(), Some("a52"));
    assert!(!shop.checkpoint(&SessionChoice::Newest).unwrap().is_new);
}

#[test]
fn a_session_outlives_its_transcript_and_becomes_a_handoff() {
    let shop = Shop::new();
    let path = shop.session(ID);
    let done = shop.checkpoint(&SessionChoice::Newest).unwrap();
    std::fs::remove_file(path).unwrap();
    let shown = verbs::session(&shop.open(), ID, None).unwrap();
    assert!(shown.is_stored);
    assert_eq!(shown.checkpoint.digest, done.checkpoint.digest);
    let request = SaveRequest {
        source: SaveSource::Session(SessionChoice::Id(ID.to_owned())),
        client: None,
        author_notes: AuthorNotes::default(),
        id: Some("cache-session".into()),
        accept: None,
        by: None,
        is_agent: false,
    };
    let saved = verbs::save(&shop.open(), &request).unwrap();
    assert_eq!(saved.stored.path, Path::new(".git/midstride/handoffs/cache-session.md"));
    let text = String::from_utf8(saved.stored.bytes).unwrap();
    for expected in
        ["kind: session", "`npm test` (record a06, exit 1)", "Redis", "ag2", "- [ ] Warm the cache"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn every_corpus_session_is_captured_and_reads_back_unchanged() {
    let folder = corpus("transcripts");
    let shop = Shop::new();
    let store = shop.open();
    let mut captured = 0;
    for path in transcripts_below(&folder) {
        let found = clients::read_transcript(&path, None).unwrap();
        let once: Session = capture(store.workspace(), &found).unwrap().session;
        let again = capture(store.workspace(), &found).unwrap();
        assert_eq!((again.new_bytes, &again.session), (0, &once), "{}", path.display());
        let around = midstride_core::session::checkpoint::CheckpointContext {
            at: NOW.parse().unwrap(),
            commit: None,
            branch: None,
            plan_documents: Vec::new(),
            on_disk: std::collections::BTreeMap::new(),
            ..midstride_core::session::checkpoint::CheckpointContext::default()
        };
        let checkpoint =
            Checkpoint::new(once, String::new(), again.bytes, CheckpointMode::Auto, around);
        let stored = serde_json::to_vec(&checkpoint).unwrap();
        assert_eq!(Checkpoint::parse(&stored).as_ref(), Some(&checkpoint), "{}", path.display());
        captured += 1;
    }
    assert!(captured > 40, "{captured}");
}

fn transcripts_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(transcripts_below(&path));
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            found.push(path);
        }
    }
    found
}
