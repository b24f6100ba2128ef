//! Independent counts of transcripts: by a program in another language, and from the index of the
//! corpus.
#![expect(clippy::disallowed_types, reason = "the other program is started")]

use midstride_testkit::repository_root;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The counts that are compared.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) records: u64,
    pub(super) tool_calls: u64,
    /// The start of each command, see [`start`].
    pub(super) commands: Vec<String>,
    /// The start of each agent's task, see [`start`].
    pub(super) agents: Vec<String>,
    pub(super) compactions: u64,
    /// Each task with its status.
    pub(super) tasks: Vec<(String, String)>,
    pub(super) changed: BTreeSet<String>,
}

/// The start of a text. Stored texts are truncated, so only this much of each is compared.
pub(super) fn start(text: &str) -> String {
    text.trim().chars().take(200).collect()
}

/// A transcript in the index of the corpus, with the counts of the index.
pub(super) struct Indexed {
    pub(super) path: PathBuf,
    pub(super) records: u64,
    pub(super) compactions: u64,
    pub(super) agents: u64,
}

impl Indexed {
    /// The transcripts of supported clients.
    pub(super) fn all(folder: &Path) -> Vec<Self> {
        let text = std::fs::read_to_string(folder.join("index.csv")).unwrap();
        let mut lines = text.lines();
        let names =
            "repo,ref,path,client,version,size,records,compactions,todo_calls,subagent_calls";
        assert_eq!(lines.next(), Some(names));
        let rows = lines.map(|line| line.split(',').collect::<Vec<_>>());
        let ours = rows.filter(|row| ["claude-code", "codex"].contains(&row[3]));
        let number = |text: &str| text.parse().unwrap();
        ours.map(|row| Self {
            path: folder.join(row[0]).join(row[2]),
            records: number(row[6]),
            compactions: number(row[7]),
            agents: number(row[9]),
        })
        .collect()
    }
}

/// The client of a transcript; `None` if it is not supported yet.
pub(crate) fn client_of(path: &Path, bytes: &[u8]) -> Option<&'static str> {
    let path = path.display().to_string();
    let foreign = ["gemini", "copilot", "opencode", "exec-json-stdout"];
    if foreign.iter().any(|name| path.rsplit("transcripts/").next().unwrap().contains(name)) {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let mut records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let codex = records.any(|record| record.get("payload").is_some());
    Some(if codex { "codex" } else { "claude-code" })
}

/// The counts of a Python program. If there is no Python, prints a line and returns `None`.
pub(super) fn counted_by_python(transcripts: &[(&str, PathBuf)]) -> Option<Vec<Counted>> {
    let script = repository_root().join("crates/core/tests/transcripts/count.py");
    let named = transcripts.iter().map(|(client, path)| {
        let mut named = OsString::from(format!("{client}="));
        named.push(path);
        named
    });
    let run = Command::new("python3").arg(script).args(named).output();
    let output = match run {
        Ok(output) => output,
        Err(_) if std::env::var_os("CI").is_none() => {
            let line = "left out: transcripts counted by another program (there is no python3)\n";
            drop(std::io::stderr().write_all(line.as_bytes()));
            return None;
        }
        Err(error) => panic!("python3: {error}"),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    let all: Vec<Counted> = text.lines().map(Counted::read).collect();
    assert_eq!(all.len(), transcripts.len(), "{said}");
    Some(all)
}

impl Counted {
    fn read(line: &str) -> Self {
        let value: Value = serde_json::from_str(line).unwrap();
        let texts = |key: &str| -> Vec<String> {
            let list = value[key].as_array().unwrap().iter();
            list.map(|text| text.as_str().unwrap().to_owned()).collect()
        };
        let starts = |key: &str| texts(key).iter().map(|text| start(text)).collect();
        let task = |task: &Value| {
            let word = |at: usize| task[at].as_str().unwrap().to_owned();
            (word(0), word(1))
        };
        Self {
            records: value["records"].as_u64().unwrap(),
            tool_calls: value["tool_calls"].as_u64().unwrap(),
            commands: starts("commands"),
            agents: starts("agents"),
            compactions: value["compactions"].as_u64().unwrap(),
            tasks: value["tasks"].as_array().unwrap().iter().map(task).collect(),
            changed: texts("changed").into_iter().collect(),
        }
    }
}
