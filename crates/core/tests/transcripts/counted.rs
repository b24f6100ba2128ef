//! What a transcript holds, counted plainly with whole values and without the readers.

use midstride_core::session::Client;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What is compared.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) records: u64,
    pub(super) tool_calls: u64,
    /// Each command, as far as [`start`] tells.
    pub(super) commands: Vec<String>,
    /// What each agent was started for, as far as [`start`] tells.
    pub(super) agents: Vec<String>,
    pub(super) compactions: u64,
    /// Each task, and how far it is.
    pub(super) tasks: Vec<(String, String)>,
    pub(super) changed: BTreeSet<String>,
}

/// Texts are cut when they are kept; so much of each is.
pub(super) fn start(text: &str) -> String {
    text.trim().chars().take(200).collect()
}

/// What files of transcripts an index of the corpus names, and what its maker counted in them.
pub(super) struct Indexed {
    pub(super) path: PathBuf,
    pub(super) records: u64,
    pub(super) compactions: u64,
    pub(super) agents: u64,
}

impl Indexed {
    /// The transcripts of the clients that we read.
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

/// Whose transcript a file is; `None` where we do not read that client's yet.
pub(crate) fn client_of(path: &Path, bytes: &[u8]) -> Option<Client> {
    let path = path.display().to_string();
    let foreign = ["gemini", "copilot", "opencode", "exec-json-stdout"];
    if foreign.iter().any(|name| path.rsplit("transcripts/").next().unwrap().contains(name)) {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let mut records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let codex = records.any(|record| record.get("payload").is_some());
    Some(if codex { Client::Codex } else { Client::ClaudeCode })
}

impl Counted {
    pub(super) fn of(client: Client, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        // A line without its end is still being written.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines: Vec<&str> = whole.lines().filter(|line| !line.trim().is_empty()).collect();
        let records: Vec<Value> = lines
            .iter()
            .map(|line| line.replace("\\ud83d\"", "\""))
            .filter_map(|line| serde_json::from_str(&line).ok())
            .collect();
        let mut counted = match client {
            Client::ClaudeCode => claude_code(&records),
            Client::Codex => codex(&records),
        };
        counted.records = u64::try_from(lines.len()).unwrap();
        counted
    }
}

fn text<'v>(value: &'v Value, place: &str) -> Option<&'v str> {
    value.pointer(place).and_then(Value::as_str)
}

fn list<'v>(value: &'v Value, place: &str) -> Vec<&'v Value> {
    value.pointer(place).and_then(Value::as_array).map(|l| l.iter().collect()).unwrap_or_default()
}

fn claude_code(records: &[Value]) -> Counted {
    let mut counted = Counted::default();
    let mut seen = BTreeSet::new();
    let mut calls: BTreeMap<&str, &Value> = BTreeMap::new();
    let mut todos: Vec<(String, String)> = Vec::new();
    let mut made: BTreeMap<String, (String, String)> = BTreeMap::new();
    let mut made_in_order: Vec<String> = Vec::new();
    for record in records {
        if text(record, "/uuid").is_some_and(|uuid| !seen.insert(uuid)) {
            continue;
        }
        match text(record, "/type") {
            Some("system") if text(record, "/subtype") == Some("compact_boundary") => {
                counted.compactions += 1;
            }
            Some("assistant") if text(record, "/message/model") != Some("<synthetic>") => {
                for block in list(record, "/message/content") {
                    if text(block, "/type") != Some("tool_use") {
                        continue;
                    }
                    let (id, name) = (text(block, "/id").unwrap(), text(block, "/name").unwrap());
                    calls.insert(id, block);
                    counted.tool_calls += 1;
                    if name == "Bash" {
                        let command = text(block, "/input/command").unwrap_or_default();
                        counted.commands.push(start(command));
                    }
                    if name == "Task" || name == "Agent" {
                        counted
                            .agents
                            .push(start(text(block, "/input/prompt").unwrap_or_default()));
                    }
                }
            }
            Some("user") => {
                for block in list(record, "/message/content") {
                    let id = text(block, "/tool_use_id").unwrap_or_default();
                    let failed = block.get("is_error") == Some(&Value::Bool(true));
                    let Some(call) = calls.remove(id).filter(|_| !failed) else { continue };
                    match text(call, "/name").unwrap() {
                        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => {
                            let path = text(call, "/input/file_path");
                            let path = path.or(text(call, "/input/notebook_path")).unwrap();
                            counted.changed.insert(path.to_owned());
                        }
                        "TodoWrite" => {
                            todos = list(call, "/input/todos")
                                .iter()
                                .filter_map(|todo| {
                                    let status = text(todo, "/status").unwrap_or_default();
                                    Some((text(todo, "/content")?.to_owned(), word(status)))
                                })
                                .collect();
                        }
                        "TaskCreate" => {
                            let id = text(record, "/toolUseResult/task/id").unwrap().to_owned();
                            made_in_order.push(id.clone());
                            let subject = text(call, "/input/subject").unwrap().to_owned();
                            made.insert(id, (subject, word("pending")));
                        }
                        "TaskUpdate" => {
                            let id = text(call, "/input/taskId").unwrap();
                            let Some(task) = made.get_mut(id) else { continue };
                            if let Some(subject) = text(call, "/input/subject") {
                                subject.clone_into(&mut task.0);
                            }
                            if let Some(status) = text(call, "/input/status") {
                                task.1 = word(status);
                            }
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    counted.tasks = todos;
    counted.tasks.extend(made_in_order.iter().map(|id| made[id].clone()));
    counted
}

/// A status as we say it.
fn word(status: &str) -> String {
    status.replace('_', " ")
}

/// What a shell is given to do.
fn script(command: &Value) -> String {
    let words: Vec<&str> =
        command.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    match (command.as_str(), &words[..]) {
        (Some(text), _) => text.to_owned(),
        (None, [_, "-lc" | "-c", script]) => (*script).to_owned(),
        (None, words) => words.join(" "),
    }
}

fn codex(records: &[Value]) -> Counted {
    let mut counted = Counted::default();
    let mut calls: BTreeMap<String, &Value> = BTreeMap::new();
    let mut returned = BTreeSet::new();
    let mut cwd = String::new();
    for record in records {
        let payload = &record["payload"];
        if let Some(folder) = text(payload, "/cwd") {
            cwd = folder.to_owned();
        }
        match (text(record, "/type"), text(payload, "/type")) {
            (Some("compacted"), _) => counted.compactions += 1,
            (Some("response_item"), Some("web_search_call")) => counted.tool_calls += 1,
            (Some("response_item"), Some("function_call" | "custom_tool_call")) => {
                let name = text(payload, "/name").unwrap();
                calls.insert(text(payload, "/call_id").unwrap().to_owned(), payload);
                counted.tool_calls += 1;
                let given = text(payload, "/arguments").unwrap_or("{}");
                let given: Value = serde_json::from_str(given).unwrap_or_default();
                match name {
                    "exec_command" => counted.commands.push(start(&script(&given["cmd"]))),
                    "shell" | "shell_command" => {
                        counted.commands.push(start(&script(&given["command"])));
                    }
                    "spawn_agent" => {
                        counted.agents.push(start(text(&given, "/message").unwrap_or_default()));
                    }
                    _ => {}
                }
                if text(payload, "/status") == Some("failed") {
                    returned.insert(text(payload, "/call_id").unwrap().to_owned());
                }
            }
            (Some("response_item"), Some("function_call_output" | "custom_tool_call_output")) => {
                let id = text(payload, "/call_id").unwrap();
                let Some(call) = calls.get(id).filter(|_| returned.insert(id.to_owned())) else {
                    continue;
                };
                if text(payload, "/output").unwrap_or_default().starts_with("unsupported call") {
                    continue;
                }
                let given = text(call, "/arguments").unwrap_or("{}");
                let given: Value = serde_json::from_str(given).unwrap_or_default();
                match text(call, "/name").unwrap() {
                    "update_plan" => {
                        counted.tasks = list(&given, "/plan")
                            .iter()
                            .map(|step| {
                                let status = text(step, "/status").unwrap_or_default();
                                (text(step, "/step").unwrap().to_owned(), word(status))
                            })
                            .collect();
                    }
                    "apply_patch" => {
                        let patch = text(call, "/input").or(text(&given, "/patch")).unwrap();
                        counted.changed.extend(named_in(patch, &cwd));
                    }
                    _ => {}
                }
            }
            (Some("event_msg"), Some("patch_apply_end")) => {
                let id = text(payload, "/call_id").unwrap().to_owned();
                returned.insert(id);
                if payload["success"] == Value::Bool(true) {
                    counted.changed.extend(payload["changes"].as_object().unwrap().keys().cloned());
                }
            }
            (Some("event_msg"), Some("item_completed")) => {
                let item = &payload["item"];
                let id = text(item, "/id").unwrap_or_default().to_owned();
                match text(item, "/type").unwrap() {
                    "CommandExecution" if !calls.contains_key(&id) => {
                        counted.tool_calls += 1;
                        counted.commands.push(start(&script(&item["command"])));
                    }
                    "McpToolCall" if !calls.contains_key(&id) => counted.tool_calls += 1,
                    "FileChange" => {
                        counted.tool_calls += u64::from(!calls.contains_key(&id));
                        returned.insert(id);
                        let paths = item["changes"].as_object().unwrap().keys().cloned();
                        counted.changed.extend(paths);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    counted
}

fn named_in(patch: &str, cwd: &str) -> Vec<String> {
    let marks = ["*** Add File: ", "*** Update File: ", "*** Delete File: "];
    let path =
        |line: &str| marks.iter().find_map(|mark| line.strip_prefix(mark)).map(str::to_owned);
    let whole = |path: String| if path.starts_with('/') { path } else { format!("{cwd}/{path}") };
    patch.lines().filter_map(path).map(whole).collect()
}
