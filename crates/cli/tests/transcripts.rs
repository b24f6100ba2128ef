//! Tests of damaged and unusual transcripts: torn, huge, in the wrong encoding, moved, deleted, or
//! of another project. Each is reported clearly, and what can be captured is.

use midstride_testkit::{Run, Sandbox};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

const ID: &str = "5e550001-4c00-7000-8000-00000000bad0";

/// A project, and the folder where Claude Code has its transcripts.
struct Desk(Sandbox);

impl Desk {
    fn new() -> Self {
        let desk = Self(crate::sandbox().repository());
        desk.0.as_user().run(["init", "--private"]).exits(0);
        desk
    }

    fn folder(&self) -> PathBuf {
        let path = self.0.root().display().to_string();
        let slug = path.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let folder = self.0.home().join(".claude/projects").join(slug);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn place(&self) -> PathBuf {
        self.folder().join(format!("{ID}.jsonl"))
    }

    fn put(&self, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.place(), bytes).unwrap();
    }

    /// A record of a user prompt.
    fn asked(&self, number: usize, text: &str) -> String {
        request(self.0.root(), number, text).to_string()
    }

    /// Numbered prompts, one per line.
    fn lines(&self, numbers: std::ops::Range<usize>) -> String {
        numbers.fold(String::new(), |mut text, number| {
            writeln!(text, "{}", self.asked(number, &format!("Ask {number}"))).unwrap();
            text
        })
    }

    fn checkpoint(&self) -> Value {
        let run = self.0.run(["session", "capture", "--json"]).exits(0);
        serde_json::from_str(&run.stdout).unwrap()
    }

    /// The captured session.
    fn session(&self) -> Value {
        let run = self.0.run(["session", "show", ID, "--json"]).exits(0);
        serde_json::from_str::<Value>(&run.stdout).unwrap()["session"].take()
    }

    /// The captured prompts.
    fn requests(&self) -> Vec<String> {
        let session = self.session();
        let items = session["requests"]["items"].as_array().unwrap().iter();
        items.map(|item| item["text"].as_str().unwrap().to_owned()).collect()
    }

    fn captures(&self) -> usize {
        let events = self.0.run(["events"]).exits(0).stdout;
        events.matches("claude-code session captured").count()
    }
}

fn request(folder: &Path, number: usize, text: &str) -> Value {
    json!({
        "type": "user", "uuid": format!("r{number}"), "sessionId": ID, "cwd": folder,
        "timestamp": format!("2026-03-22T10:{:02}:{:02}Z", number / 60 % 60, number % 60),
        "message": {"role": "user", "content": text},
    })
}

#[test]
fn whatever_stands_between_records_costs_itself() {
    let desk = Desk::new();
    let (one, two) = (desk.asked(1, "First"), desk.asked(2, "Second"));
    let nested = "[".repeat(200_000) + &"]".repeat(200_000);
    let with = |place: &str, value: &str| two.replacen(place, value, 1);
    let wide: Vec<u8> = format!("{two}\n").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin = two.as_bytes().split_at(two.find("Second").unwrap());
    let latin = [latin.0, b"caf\xe9 ", latin.1].concat();
    // What is between the records, what of it is captured, and why the rest is not.
    let cases: Vec<(&str, Vec<u8>, &[&str], Value)> = vec![
        ("ends of lines as on Windows", format!("{two}\r\n\r\n").into(), &["Second"], json!({})),
        ("a mark of the encoding", format!("\u{feff}{two}\n").into(), &["Second"], json!({})),
        ("blank lines", format!("\n  \n\t\r\n{two}\n\n").into(), &["Second"], json!({})),
        (
            "zeros before a record",
            format!("{}{two}\n", "\0".repeat(9_000)).into(),
            &["Second"],
            json!({}),
        ),
        (
            "a line of zeros",
            format!("{}\n{two}\n", "\0".repeat(9_000)).into(),
            &["Second"],
            json!({}),
        ),
        ("zeros within", two.replace("Second", "Sec\0ond").into(), &[], json!({"not JSON": 1})),
        ("Latin-1", latin, &["caf\u{fffd} Second"], json!({})),
        ("UTF-16", wide, &[], json!({"not JSON": 1})),
        ("half a record", two[..60].into(), &[], json!({"cut off": 1})),
        ("prose", b"Dear diary".into(), &[], json!({"not JSON": 1})),
        ("another shape", b"[1,2,{\"type\":\"user\"}]".into(), &[], json!({"no type": 1})),
        (
            "deep in what nobody reads",
            with("{", &format!("{{\"extra\":{nested},")).into(),
            &["Second"],
            json!({}),
        ),
        (
            "deep in what is read",
            with("\"Second\"", &nested).into(),
            &[],
            json!({"nested too deep": 1}),
        ),
        (
            "deep and never closed",
            with("\"Second\"", &"[".repeat(200_000)).into(),
            &[],
            json!({"nested too deep": 1}),
        ),
        (
            "a key twice",
            with("{", "{\"type\":\"assistant\",\"uuid\":7,").into(),
            &["Second"],
            json!({}),
        ),
        (
            "a number too large",
            with("{", "{\"apiErrorStatus\":1e999,\"gitBranch\":-2E+4000,").into(),
            &["Second"],
            json!({}),
        ),
        (
            "a number without end",
            with("{", &format!("{{\"apiErrorStatus\":{},", "9".repeat(5_000))).into(),
            &["Second"],
            json!({}),
        ),
        (
            "a field of another type",
            with("{", "{\"isMeta\":{\"a\":[1]},\"gitBranch\":7,").into(),
            &["Second"],
            json!({}),
        ),
    ];
    for (name, between, captured, skipped) in cases {
        let last = desk.asked(3, "Third");
        desk.put([one.as_bytes(), b"\n", &between, b"\n", last.as_bytes(), b"\n"].concat());
        let session = desk.session();
        let texts: Vec<&str> =
            ["First"].iter().chain(captured).chain(&["Third"]).copied().collect();
        let items = session["requests"]["items"].as_array().unwrap().iter();
        let found: Vec<&str> = items.map(|item| item["text"].as_str().unwrap()).collect();
        assert_eq!(found, texts, "{name}");
        assert_eq!(session["counts"]["skipped"], skipped, "{name}");
        // And the command says so.
        let told = desk.0.run(["session", "capture"]).exits(0);
        let told = told.stderr.contains("could not be used");
        assert_eq!(told, skipped != json!({}), "{name}");
    }
}

#[test]
fn nothing_is_invented_for_a_file_without_records() {
    let desk = Desk::new();
    let file = desk.0.root().join("t.jsonl");
    let wide: Vec<u8> = desk.lines(0..2).encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [&b""[..], b"\n\n \r\n\n", &vec![0; 70_000], b"{\"type\":\"us"] {
        std::fs::write(&file, bytes).unwrap();
        let run = desk.0.run(["session", "capture", "--transcript", "t.jsonl", "--json"]).exits(0);
        let done: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((&done["seen"], &done["understood"]), (&json!(0), &json!(0)), "{run}");
    }
    for bytes in [&wide[..], b"Dear diary\n", b"\x89PNG\r\n\x1a\n"] {
        std::fs::write(&file, bytes).unwrap();
        let run = desk.0.run(["session", "capture", "--transcript", "t.jsonl"]).exits(2);
        assert!(run.stderr.contains("`[ROOT]/t.jsonl` contains no readable "), "{run}");
        assert!(run.stderr.contains("UTF-8 transcript"), "{run}");
    }
}

#[test]
fn an_incomplete_line_is_captured_once_it_is_complete() {
    let desk = Desk::new();
    let text = desk.lines(0..4);
    let mut last_end = 0;
    // Cut at every kind of place: in a name, in a text, before the line break, after it.
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    for cut in [ends[0] + 9, ends[1] - 30, ends[1], ends[1] + 1, ends[2] + 1, text.len()] {
        desk.put(&text[..cut]);
        let whole = text[..cut].rfind('\n').map_or(0, |end| end + 1);
        let done = desk.checkpoint();
        assert_eq!(done["bytes"], whole, "{cut}");
        assert_eq!(done["bytes_read"], whole - last_end, "{cut}: nothing is read twice");
        assert_eq!(done["seen"], text[..whole].lines().count(), "{cut}");
        last_end = whole;
    }
    assert_eq!(desk.requests(), ["Ask 0", "Ask 1", "Ask 2", "Ask 3"]);
}

#[test]
fn an_overlong_record_is_skipped_with_little_memory() {
    const LONG: usize = 60 << 20;
    const KILOBYTES_MAX: u64 = 200 << 10;
    let desk = Desk::new();
    let mut file = std::fs::File::create(desk.place()).unwrap();
    writeln!(file, "{}", desk.asked(1, "First")).unwrap();
    let long = desk.asked(2, "@");
    let (start, end) = long.split_once('@').unwrap();
    file.write_all(start.as_bytes()).unwrap();
    for _ in 0..LONG >> 20 {
        file.write_all(&vec![b'x'; 1 << 20]).unwrap();
    }
    writeln!(file, "{end}\n{}", desk.asked(3, "Third")).unwrap();
    drop(file);
    // The memory limit covers the program, its code and its files.
    let script = format!("ulimit -v {KILOBYTES_MAX}; exec \"$@\"");
    let program = env!("CARGO_BIN_EXE_midstride");
    let mut limited = desk.0.command("sh");
    limited.args(["-c", &script, "sh", program, "session", "capture"]);
    let run: Run = desk.0.finish(&mut limited).exits(0);
    assert!(run.stderr.contains("1 of 3 records could not be used: too long 1"), "{run}");
    assert_eq!(desk.requests(), ["First", "Third"]);
}

#[test]
fn a_session_that_starts_with_an_image_is_found() {
    let desk = Desk::new();
    let picture = json!([
        {"type": "image", "source": {"type": "base64", "data": "iVBO".repeat(200_000)}},
        {"type": "text", "text": "What is wrong with this page?"},
    ]);
    let mut first = request(desk.0.root(), 1, "");
    first["message"]["content"] = picture;
    desk.put(format!("{{\"type\":\"mode\",\"sessionId\":\"{ID}\"}}\n{first}\n"));
    let list = desk.0.run(["session", "list"]).exits(0).stdout;
    assert!(list.contains("What is wrong with this page?"), "{list}");
    assert_eq!(desk.requests(), ["What is wrong with this page?"]);
}

#[test]
fn very_many_small_records_are_all_counted() {
    const MANY: usize = 100_000;
    let desk = Desk::new();
    let mut text = desk.lines(0..1);
    for number in 1..MANY {
        writeln!(text, "{{\"type\":\"mode\",\"uuid\":\"u{number}\"}}").unwrap();
    }
    text.push_str(&desk.lines(MANY..MANY + 1));
    desk.put(text);
    let done = desk.checkpoint();
    assert_eq!((&done["seen"], &done["understood"]), (&json!(MANY + 1), &json!(MANY + 1)));
    assert_eq!(desk.requests(), ["Ask 0", &format!("Ask {MANY}")]);
}

#[test]
fn clocks_running_backwards_do_not_change_the_order() {
    let desk = Desk::new();
    let times =
        ["2026-03-22T10:00:05Z", "2026-03-22T10:00:01Z", "2026-03-22T10:00:03Z", "yesterday"];
    let lines = (0..).zip(times).map(|(number, time)| {
        let mut record = request(desk.0.root(), number, &format!("Ask {number}"));
        record["timestamp"] = time.into();
        format!("{record}\n")
    });
    desk.put(lines.collect::<String>());
    let session = desk.session();
    assert_eq!(session["began"], "2026-03-22T10:00:01Z");
    assert_eq!(session["ended"], "2026-03-22T10:00:05Z");
    assert_eq!(session["last_record"], "r3");
    assert_eq!(desk.requests(), ["Ask 0", "Ask 1", "Ask 2", "Ask 3"]);
}

#[test]
fn a_replaced_file_is_read_from_its_start() {
    let desk = Desk::new();
    let place = desk.place();
    let inode = || std::fs::metadata(desk.place()).unwrap().ino();
    desk.put(desk.lines(0..5));
    assert_eq!(desk.checkpoint()["seen"], 5);
    let first = inode();
    // Truncated, and continued differently.
    desk.put(desk.lines(0..2));
    assert_eq!(desk.checkpoint()["seen"], 2);
    desk.put(desk.lines(0..2) + &desk.lines(7..9));
    assert_eq!(desk.checkpoint()["bytes_read"], desk.lines(7..9).len());
    assert_eq!(desk.requests(), ["Ask 0", "Ask 1", "Ask 7", "Ask 8"]);
    // The same file with other words of the same length.
    desk.put(desk.lines(0..4).replace("Ask", "Say"));
    assert_eq!(inode(), first);
    assert_eq!(desk.requests(), ["Say 0", "Say 1", "Say 2", "Say 3"]);
    // Another file, longer than the previous one.
    let other = place.with_extension("new");
    std::fs::write(&other, desk.lines(3..9)).unwrap();
    std::fs::rename(other, &place).unwrap();
    assert_ne!(inode(), first);
    assert_eq!(desk.checkpoint()["seen"], 6);
    assert_eq!(desk.requests().first().unwrap(), "Ask 3");
    let list = desk.0.run(["session", "list"]).exits(0).stdout;
    assert!(list.contains("Ask 3"), "what it was about is told anew: {list}");
    // Deleted: what was captured is still there.
    std::fs::remove_file(&place).unwrap();
    assert_eq!(desk.requests().len(), 6);
    let run = desk.0.run(["session", "capture"]).exits(2);
    assert!(run.stderr.contains("no session found for this project"), "{run}");
}

#[test]
fn two_concurrent_captures_make_one_event() {
    let desk = Desk::new();
    desk.put(desk.lines(0..3_000));
    let start = || {
        let program = env!("CARGO_BIN_EXE_midstride");
        let mut command = desk.0.command(program);
        command.args(["session", "capture", "--json"]).stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    let processes: Vec<_> = (0..4).map(|_| start()).collect();
    let done: Vec<Value> = processes
        .into_iter()
        .map(|process| {
            let output = process.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            serde_json::from_slice(&output.stdout).unwrap()
        })
        .collect();
    assert_eq!(done.iter().filter(|one| one["new"] == true).count(), 1);
    assert!(done.iter().all(|one| one["checkpoint"] == done[0]["checkpoint"]));
    assert_eq!(desk.captures(), 1);
}

#[test]
fn a_project_that_moved_keeps_its_sessions() {
    let desk = Desk::new();
    let old = desk.0.home().join("old-place");
    let mut write = request(&old, 2, "");
    write["type"] = "assistant".into();
    write["message"] = json!({"content": [{"type": "tool_use", "id": "w1", "name": "Write",
        "input": {"file_path": old.join("notes.txt"), "content": "as written\n"}}]});
    let mut back = request(&old, 3, "");
    back["message"]["content"] =
        json!([{"type": "tool_result", "tool_use_id": "w1", "content": "ok"}]);
    let text = format!("{}\n{write}\n{back}\n", request(&old, 1, "Take notes."));
    desk.0.write("t.jsonl", text).write("notes.txt", "as written\n");
    let run = desk.0.run(["session", "capture", "--transcript", "t.jsonl"]);
    insta::assert_snapshot!(run, @"
    exit 0
    ----- stderr -----
    [UID]: 1 request, 1 changed file, 0 commands (0 failed), 0 tasks open, 0 agents in flight
    warning: the session worked in `[HOME]/old-place`, which no longer exists
    hint: midstride treats it as one of this project's sessions and compares artifacts with this project
    ");
    let shown = desk.0.run(["session", "show", ID, "--json"]);
    assert_eq!(shown.code, Some(0), "{shown}");
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["artifacts"][0]["state"], "match", "{}", shown["artifacts"]);
    // Another project is there now.
    std::fs::create_dir(&old).unwrap();
    let run = desk.0.run(["session", "capture", "--transcript", "t.jsonl"]);
    insta::assert_snapshot!(run, @"
    exit 2
    ----- stderr -----
    error: `[ROOT]/t.jsonl` is the transcript of a session in `[HOME]/old-place`, not in this project
    hint: capture it there: `midstride -C [HOME]/old-place`
    ");
}

#[test]
fn a_transcript_that_names_another_project_late_is_refused() {
    let desk = Desk::new();
    let elsewhere = desk.0.home().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut text = "x".repeat(40 << 20);
    writeln!(text, "\n{}", request(&elsewhere, 1, "Secret work.")).unwrap();
    desk.0.write("t.jsonl", text);
    let run = desk.0.run(["session", "capture", "--transcript", "t.jsonl"]).exits(2);
    assert!(run.stderr.contains("not in this project"), "{run}");
    assert_eq!(desk.captures(), 0);
}

#[test]
fn other_file_types_in_place_of_a_transcript_are_reported() {
    let desk = Desk::new();
    desk.put(desk.lines(0..2));
    std::fs::create_dir(desk.folder().join("folder.jsonl")).unwrap();
    let closed = desk.folder().join("5e550002-4c00-7000-8000-00000000bad0.jsonl");
    std::fs::write(&closed, desk.lines(3..4)).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
    let is_closed = std::fs::File::open(&closed).is_err();
    for arguments in [&["session", "list"][..], &["session", "recover"]] {
        // A folder is not a missed transcript.
        let run = desk.0.run(arguments).exits(if is_closed { 2 } else { 0 });
        assert!(run.stderr.contains("folder.jsonl` is a folder"), "{run}");
        assert_eq!(run.stderr.contains("5e550002"), is_closed, "{run}");
    }
    assert_eq!(desk.requests(), ["Ask 0", "Ask 1"], "the others are captured");
    // Root can read everything.
    if is_closed {
        let run = desk.0.run(["session", "capture", "--session", "5e550002"]).exits(2);
        assert!(run.stderr.contains("may not be read"), "{run}");
    }
    let run = desk.0.run(["session", "capture", "--transcript", "."]).exits(2);
    assert!(run.stderr.contains("is a folder"), "{run}");
}

#[test]
fn unreadable_agents_lose_only_their_own_records() {
    let desk = Desk::new();
    desk.put(desk.lines(0..2));
    let agents = desk.folder().join(ID).join("subagents");
    std::fs::create_dir_all(agents.join("agent-a1.jsonl")).unwrap();
    std::fs::create_dir(desk.folder().join("agent-b2.jsonl")).unwrap();
    let run = desk.0.run(["session", "capture"]).exits(2);
    for name in ["agent-a1.jsonl` is a folder", "agent-b2.jsonl` is a folder", "2 requests"] {
        assert!(run.stderr.contains(name), "{name}: {run}");
    }
}

#[test]
fn a_link_to_a_transcript_is_followed() {
    let desk = Desk::new();
    let kept = desk.0.home().join("archive/one.jsonl");
    std::fs::create_dir(kept.parent().unwrap()).unwrap();
    std::fs::write(&kept, desk.lines(0..2)).unwrap();
    std::os::unix::fs::symlink(&kept, desk.place()).unwrap();
    std::os::unix::fs::symlink("nowhere", desk.folder().join("dangling.jsonl")).unwrap();
    assert_eq!(desk.requests(), ["Ask 0", "Ask 1"]);
    assert_eq!(desk.checkpoint()["session"], "[UID]");
    std::os::unix::fs::symlink(&kept, desk.0.root().join("named.jsonl")).unwrap();
    desk.0.run(["session", "capture", "--transcript", "named.jsonl"]).exits(0);
    let circle = desk.0.root().join("circle.jsonl");
    std::os::unix::fs::symlink(&circle, &circle).unwrap();
    let run = desk.0.run(["session", "capture", "--transcript", "circle.jsonl"]).exits(2);
    assert!(run.stderr.contains("circle"), "{run}");
}
