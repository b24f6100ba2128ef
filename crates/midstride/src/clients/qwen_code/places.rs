//! Where Qwen Code keeps transcripts, agents and the register of its sessions.

use super::{QwenCode, SESSION_VARIABLE};
use crate::clients::client::Client as _;
use crate::clients::client::{TranscriptCandidate, TranscriptInfo, list_or_report};
use crate::sys::env::Environment;
use crate::sys::files::{self, FileError, FolderEntry, Root};
use crate::sys::process;
use midstride_core::text::id::SessionId;
use serde::Deserialize;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Limit for the client's small files; a larger file is something else.
const SMALL_FILE_BYTES_MAX: u64 = 1 << 20;
/// How many words may come before the client's script: the interpreter and its options.
const WORDS_MAX: usize = 4;
/// The folder of the transcripts, inside the folder of a project.
const CHATS: &str = "chats";
/// The folder of the agents' transcripts beside it, by session.
const AGENTS: &str = "subagents";

/// The folder where a client with this home stores the transcripts of sessions started in `folder`.
pub(super) fn transcript_folder(home: &Path, folder: &Path) -> PathBuf {
    let name = slug(&files::canonical(folder).to_string_lossy());
    home.join("projects").join(name).join(CHATS)
}

/// The client's folder name for a project: every UTF-16 unit that is not an ASCII letter or digit becomes
/// a hyphen. A path of 251 units was not cut.
fn slug(path: &str) -> String {
    let letter = |unit: u16| char::from_u32(u32::from(unit)).filter(char::is_ascii_alphanumeric);
    path.encode_utf16().map(|unit| letter(unit).unwrap_or('-')).collect()
}

/// The transcripts in folders with a matching name: that of the project, of a folder below it, or
/// of another one that only starts the same.
pub(super) fn candidates(
    environment: &Environment,
    tops: &[PathBuf],
    unread: &mut Vec<FileError>,
) -> Vec<TranscriptCandidate> {
    let Some(home) = QwenCode.home(environment) else { return Vec::new() };
    let projects = home.join("projects");
    let starts: Vec<String> = tops.iter().map(|top| slug(&top.to_string_lossy())).collect();
    let fits = |name: &str| starts.iter().any(|start| name.starts_with(start));
    let folders: Vec<PathBuf> = list_or_report(&projects, fits, unread)
        .into_iter()
        .filter(|entry| entry.is_folder)
        .map(|entry| projects.join(entry.name).join(CHATS))
        .collect();
    let mut found = Vec::new();
    for folder in folders {
        let sessions = list_or_report(&folder, is_transcript, unread).into_iter();
        found.extend(sessions.map(|entry| candidate(&folder, entry)));
    }
    found
}

fn candidate(folder: &Path, entry: FolderEntry) -> TranscriptCandidate {
    TranscriptCandidate { client: &QwenCode, path: folder.join(&entry.name), entry }
}

fn is_transcript(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "jsonl")
}

/// The agents of a session, in a folder with its id.
pub(super) fn agents(
    found: &TranscriptInfo,
    unread: &mut Vec<FileError>,
) -> Vec<(String, PathBuf)> {
    let project = found.path.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    let folder = project.join(AGENTS).join(found.session.as_str());
    let is_agent = |name: &str| agent_id(name).is_some();
    let entries = list_or_report(&folder, is_agent, unread).into_iter();
    let agent =
        |entry: FolderEntry| Some((agent_id(&entry.name)?.to_owned(), folder.join(&entry.name)));
    entries.filter_map(agent).collect()
}

fn agent_id(name: &str) -> Option<&str> {
    name.strip_prefix("agent-")?.strip_suffix(".jsonl")
}

/// A session in a terminal, as the client registers it under the id of its process.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RegisteredTerminal {
    pid: u64,
    session_id: SessionId,
    proc_start: Option<String>,
}

/// The sessions whose processes exist. Headless sessions are not registered; what they start, such as
/// their MCP servers, names them.
pub(super) fn running_sessions(environment: &Environment) -> HashSet<SessionId> {
    let named = process::values_below(SESSION_VARIABLE, is_client);
    let mut running: HashSet<SessionId> = named.into_iter().map(SessionId::new).collect();
    let Some(root) = register(environment) else { return running };
    let names = root.names(".json").unwrap_or_default();
    let read = |name: &PathBuf| read_registered(&root, name).filter(is_running);
    running.extend(names.iter().filter_map(read).map(|one| one.session_id));
    running
}

/// Whether these words start the client: its script, or a link to it, with or without the interpreter.
pub(super) fn is_client(words: &[&[u8]]) -> bool {
    let paths = || words.iter().map(|word| Path::new(OsStr::from_bytes(word)));
    let is_script = |path: &Path| {
        let folder = path.parent().unwrap_or(path);
        path.ends_with("qwen")
            || folder.ends_with("qwen-code") && path.extension().is_some_and(|end| end == "js")
    };
    let starts_node = paths().next().is_some_and(|program| program.ends_with("node"));
    paths().take(if starts_node { WORDS_MAX } else { 1 }).any(is_script)
}

/// The current session of the client that started this process.
pub(super) fn current_session(environment: &Environment) -> Option<SessionId> {
    process::ancestors().into_iter().find_map(|above| registered_session(environment, above.pid))
}

/// The session for which the client registered this process, if it is still the same process.
pub(super) fn registered_session(environment: &Environment, pid: u64) -> Option<SessionId> {
    let file = PathBuf::from(format!("{pid}.json"));
    let one = read_registered(&register(environment)?, &file)?;
    (one.pid == pid && is_running(&one)).then_some(one.session_id)
}

fn register(environment: &Environment) -> Option<Root> {
    Root::open(&QwenCode.home(environment)?.join("sessions")).ok()
}

fn read_registered(root: &Root, name: &Path) -> Option<RegisteredTerminal> {
    serde_json::from_slice(&root.read_up_to(name, SMALL_FILE_BYTES_MAX).ok()?).ok()
}

/// Whether the registered process exists. Without `/proc` it counts as running.
fn is_running(one: &RegisteredTerminal) -> bool {
    let started = process::start_time(one.pid);
    started.map_or(!process::has_proc(), |started| is_same_start(one, &started))
}

/// Whether a process is the registered one. Process ids are reused; start times are not. The client
/// writes the id of the boot before it. A start time in another format cannot be compared and counts
/// as the same.
fn is_same_start(one: &RegisteredTerminal, started: &str) -> bool {
    let written = one.proc_start.as_deref().and_then(|text| text.rsplit(':').next());
    let comparable = |text: &&str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    written.filter(comparable).is_none_or(|written| written == started)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::qwen_code::HOME_VARIABLE;
    use crate::sys::env::Variables;
    use crate::sys::files::ScratchFolder;

    #[test]
    fn the_slug_matches_the_clients_folder_name() {
        assert_eq!(slug("/home/dev/shop"), "-home-dev-shop");
        assert_eq!(slug("/tmp/odd_x.y-Ünï-Very"), "-tmp-odd-x-y--n--Very");
        assert_eq!(slug(&format!("/{}", "a".repeat(250))).len(), 251);
    }

    #[test]
    fn the_client_is_recognized_by_its_script() {
        let is_client =
            |line: &str| is_client(&line.split(' ').map(str::as_bytes).collect::<Vec<_>>());
        assert!(is_client(
            "node --expose-gc /opt/node_modules/@qwen-code/qwen-code/cli.js -y Hello"
        ));
        assert!(is_client("node /usr/local/bin/qwen") && is_client("/usr/local/bin/qwen -i x"));
        assert!(!is_client("vim /home/dev/qwen") && !is_client("sh /home/dev/qwen-code/run.sh"));
        assert!(!is_client("node server.js"));
        assert!(!is_client("/lib/systemd/systemd --user"));
    }

    #[test]
    fn a_reused_process_id_is_detected_by_its_start_time() {
        let registered = |start: Option<&str>| RegisteredTerminal {
            pid: 7,
            session_id: SessionId::new("5e55"),
            proc_start: start.map(str::to_owned),
        };
        let boot = "4d98ef24-6d5e-4428-bfc9-e3f5806da378";
        assert!(is_same_start(&registered(Some(&format!("{boot}:8812"))), "8812"));
        assert!(!is_same_start(&registered(Some(&format!("{boot}:8813"))), "8812"));
        assert!(is_same_start(&registered(Some("Mon Mar 16")), "8812"));
        assert!(is_same_start(&registered(None), "8812"));
    }

    #[test]
    fn transcripts_of_a_project_are_found_without_the_clients_notes_beside_them() {
        let scratch = ScratchFolder::new("midstride-qwen").unwrap();
        for name in ["-shop/chats/5e55.jsonl", "-shop/chats/5e55.runtime.json", "-x/chats/a.jsonl"]
        {
            scratch.write(format!("projects/{name}"), b"").unwrap();
        }
        let home = scratch.path().to_string_lossy().into_owned();
        let variables = Variables::Fixed([(HOME_VARIABLE.to_owned(), home)].into());
        let environment = Environment { variables, ..Environment::in_folder(scratch.path()) };
        let found = candidates(&environment, &[PathBuf::from("/shop")], &mut Vec::new());
        let sessions: Vec<SessionId> = found.iter().map(TranscriptCandidate::session).collect();
        assert_eq!(sessions, [SessionId::new("5e55")]);
        scratch.remove().unwrap();
    }
}
