//! Reads Codex rollouts: one record per line, with a kind and a payload.
//!
//! Newer versions record some events twice, as the model saw them and as the client did them. Each
//! event counts once.

mod patch;
mod tool;

use crate::clients::lenient::{OneOrMany, Scalar, read_repaired, reason};
use midstride_core::session::transcript::RecordReader;
use midstride_core::session::{
    Fact, Identity, RecordLink, RecordRef, RecordRole, ResponseUsage, ToolDetail, ToolFileChange,
    ToolOutcome, ToolUse, hash,
};
use midstride_core::text::redact::CleanText;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use std::collections::VecDeque;

/// The originator of `codex exec`.
const EXEC: &str = "codex_exec";

/// The maximum number of calls remembered. A call and what the client records about it are close
/// together.
const KNOWN_MAX: usize = 512;

/// Reads Codex records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CodexReader {
    /// The folder that relative paths in patches start from.
    cwd: String,
    /// The calls already emitted, and whether each is a patch.
    known: VecDeque<(u64, bool)>,
    /// Running commands: the number under which their output is polled, and their call.
    #[serde(default)]
    running: VecDeque<(String, String)>,
    /// Calls that poll the output of such a command.
    #[serde(default)]
    polls: VecDeque<(u64, String)>,
    /// The hash of the last prompt, until the agent acts on it.
    prompt: Option<u64>,
    ordinal: Option<i64>,
}

/// A record.
#[derive(Deserialize, Default)]
#[serde(default)]
struct CodexRecord<'a> {
    #[serde(borrow)]
    timestamp: Scalar<'a>,
    #[serde(borrow)]
    ordinal: Scalar<'a>,
    #[serde(borrow)]
    r#type: Scalar<'a>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

/// The fields of all payloads, in one struct.
#[derive(Deserialize, Default)]
#[serde(default)]
struct CodexPayload<'a> {
    #[serde(borrow)]
    r#type: Scalar<'a>,
    #[serde(borrow)]
    originator: Scalar<'a>,
    #[serde(borrow)]
    id: Scalar<'a>,
    #[serde(borrow)]
    forked_from_id: Scalar<'a>,
    #[serde(borrow)]
    parent_thread_id: Scalar<'a>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Scalar<'a>,
    #[serde(borrow)]
    cli_version: Scalar<'a>,
    #[serde(borrow)]
    model: Scalar<'a>,
    #[serde(borrow)]
    git: OneOrMany<'a, CodexGit<'a>>,
    #[serde(borrow)]
    role: Scalar<'a>,
    #[serde(borrow)]
    content: OneOrMany<'a, CodexContentBlock<'a>>,
    #[serde(borrow)]
    name: Scalar<'a>,
    #[serde(borrow)]
    arguments: Scalar<'a>,
    #[serde(borrow)]
    input: Scalar<'a>,
    #[serde(borrow)]
    call_id: Scalar<'a>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Scalar<'a>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Scalar<'a>,
    #[serde(borrow)]
    item: OneOrMany<'a, CodexItem<'a>>,
    #[serde(borrow)]
    info: OneOrMany<'a, CodexTokenInfo<'a>>,
    #[serde(borrow)]
    error: OneOrMany<'a, CodexError<'a>>,
    #[serde(borrow)]
    changes: Option<&'a RawValue>,
    #[serde(borrow)]
    success: Scalar<'a>,
    #[serde(borrow)]
    stderr: Scalar<'a>,
    #[serde(borrow)]
    num_turns: Scalar<'a>,
    #[serde(borrow)]
    model_context_window: Scalar<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CodexGit<'a> {
    #[serde(borrow)]
    commit_hash: Scalar<'a>,
    #[serde(borrow)]
    branch: Scalar<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CodexContentBlock<'a> {
    #[serde(borrow)]
    text: Scalar<'a>,
}

/// An action that the client completed.
#[derive(Deserialize, Default)]
#[serde(default)]
struct CodexItem<'a> {
    #[serde(borrow)]
    r#type: Scalar<'a>,
    #[serde(borrow)]
    id: Scalar<'a>,
    #[serde(borrow)]
    content: OneOrMany<'a, CodexContentBlock<'a>>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    aggregated_output: Scalar<'a>,
    #[serde(borrow)]
    exit_code: Scalar<'a>,
    #[serde(borrow)]
    status: Scalar<'a>,
    #[serde(borrow)]
    changes: Option<&'a RawValue>,
    #[serde(borrow)]
    server: Scalar<'a>,
    #[serde(borrow)]
    tool: Scalar<'a>,
    #[serde(borrow)]
    error: OneOrMany<'a, CodexError<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CodexError<'a> {
    #[serde(borrow)]
    message: Scalar<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CodexTokenInfo<'a> {
    #[serde(borrow)]
    total_token_usage: OneOrMany<'a, CodexUsage<'a>>,
    #[serde(borrow)]
    last_token_usage: OneOrMany<'a, CodexUsage<'a>>,
    #[serde(borrow)]
    model_context_window: Scalar<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CodexUsage<'a> {
    #[serde(borrow, rename = "input_tokens")]
    input: Scalar<'a>,
    #[serde(borrow, rename = "cached_input_tokens")]
    cached: Scalar<'a>,
    #[serde(borrow, rename = "output_tokens")]
    output: Scalar<'a>,
    #[serde(borrow, rename = "total_tokens")]
    total: Scalar<'a>,
}

type CodexFactSink<'o> = dyn FnMut(&RecordRef<'_>, Fact<'_>) + 'o;

impl RecordReader for CodexReader {
    fn read_record(&mut self, number: u64, line: &[u8], out: &mut CodexFactSink<'_>) {
        let first = match self.try_record(number, line, false, out) {
            Ok(()) => return,
            Err(reason) => reason,
        };
        if read_repaired(line, &mut |line| self.try_record(number, line, true, out).is_ok()) {
            return;
        }
        let mark =
            RecordRef { record: format!("line {number}").into(), number, at: None, agent: None };
        out(&mark, Fact::Record(RecordLink::default()));
        out(&mark, Fact::Skipped(first));
    }

    fn state(&self) -> serde_json::Result<Box<RawValue>> {
        to_raw_value(self)
    }
}

impl CodexReader {
    fn try_record(
        &mut self,
        number: u64,
        bytes: &[u8],
        repaired: bool,
        out: &mut CodexFactSink<'_>,
    ) -> Result<(), &'static str> {
        let line: CodexRecord<'_> =
            serde_json::from_slice(bytes).map_err(|error| reason(&error))?;
        // The oldest versions write the payload without a wrapper.
        let raw = line.payload.map_or(bytes, |payload| payload.get().as_bytes());
        let payload: OneOrMany<'_, CodexPayload<'_>> =
            serde_json::from_slice(raw).map_err(|error| reason(&error))?;
        let kind = line.r#type.text().ok_or("no type")?;
        let payload = payload.one().ok_or("no payload")?;
        let kind = if line.payload.is_none() { "response_item" } else { kind };
        let ordinal = line.ordinal.integer().filter(|now| self.ordinal.is_none_or(|o| o < *now));
        self.ordinal = ordinal.or(self.ordinal);
        let record = match ordinal {
            Some(ordinal) => format!("ordinal {ordinal}"),
            None => format!("line {number}"),
        };
        let at = line.timestamp.text().and_then(|text| text.parse().ok());
        let mark = &RecordRef { record: record.as_str().into(), number, at, agent: None };
        let asked = self.new_prompt(kind, &payload);
        let role = if asked.is_some() { RecordRole::Prompt } else { RecordRole::Turn };
        out(mark, Fact::Record(RecordLink { id: Some(&record), parent: None, role }));
        if repaired {
            out(mark, Fact::Repaired);
        }
        match kind {
            "session_meta" | "turn_context" => self.identify(mark, &payload, out),
            "response_item" => self.response(mark, &payload, asked, out),
            "event_msg" => self.event(mark, &payload, asked, out),
            "compacted" => {
                out(mark, Fact::Kind("compaction"));
                let summary = payload.message.into_text();
                out(mark, Fact::Compacted { trigger: None, before: None, after: None, summary });
            }
            "world_state" | "token_usage_record" => out(mark, Fact::Kind("note")),
            other => out(mark, Fact::Unknown(other.to_owned())),
        }
        Ok(())
    }

    /// Returns the user's prompt in this record, unless it was already recorded just before.
    fn new_prompt(&mut self, kind: &str, payload: &CodexPayload<'_>) -> Option<String> {
        let text = match (kind, payload.r#type.text()) {
            ("response_item", Some("message")) if payload.role.text() == Some("user") => {
                user_words(&payload.content)
            }
            ("event_msg", Some("user_message")) => {
                payload.message.text().filter(|text| !is_injected(text)).map(str::to_owned)
            }
            ("event_msg", Some("item_completed")) => {
                let item = payload.item.all().first();
                let user = item.filter(|item| item.r#type.text() == Some("UserMessage"));
                user.and_then(|item| user_words(&item.content))
            }
            _ => None,
        }?;
        let this = hash(text.trim().as_bytes());
        let new = self.prompt != Some(this);
        self.prompt = Some(this);
        new.then_some(text)
    }

    fn identify(
        &mut self,
        mark: &RecordRef<'_>,
        payload: &CodexPayload<'_>,
        out: &mut CodexFactSink<'_>,
    ) {
        if let Some(cwd) = payload.cwd.text() {
            self.cwd = CleanText::redact(cwd).0.as_str().to_owned();
        }
        let git = payload.git.all().first();
        let spawned = payload.source.and_then(spawned_by);
        out(mark, Fact::Kind("identity"));
        out(
            mark,
            Fact::Identity(Identity {
                session: payload.id.text(),
                forked_from: payload.forked_from_id.text(),
                agent_of: payload.parent_thread_id.text().or(spawned.as_deref()),
                cwd: payload.cwd.text(),
                version: payload.cli_version.text(),
                model: payload.model.text(),
                branch: git.and_then(|git| git.branch.text()),
                commit: git.and_then(|git| git.commit_hash.text()),
                title: None,
                headless: payload.originator.text().map(|originator| originator == EXEC),
            }),
        );
    }

    fn response(
        &mut self,
        mark: &RecordRef<'_>,
        payload: &CodexPayload<'_>,
        asked: Option<String>,
        out: &mut CodexFactSink<'_>,
    ) {
        let call = payload.call_id.text();
        match payload.r#type.text() {
            Some("message") => self.message(mark, payload, asked, out),
            Some("reasoning" | "additional_tools" | "ghost_snapshot" | "compaction") => {
                out(mark, Fact::Kind("note"));
            }
            Some("function_call" | "custom_tool_call" | "local_shell_call") => {
                self.prompt = None;
                out(mark, Fact::Kind("tool call"));
                let Some(call) = call.or(payload.id.text()) else { return };
                let name = payload.name.text().unwrap_or("local_shell");
                let (arguments, input) = (payload.arguments.text(), payload.input.text());
                let what = tool::parse_call(name, arguments, input, payload.action, &self.cwd);
                self.remember_call(call, matches!(what, ToolUse::Change(_)));
                if name == "write_stdin" {
                    self.poll(call, arguments);
                }
                out(mark, Fact::Called { call, tool: name, what });
                // A call that the client could not make has no result.
                if payload.status.text() == Some("failed") {
                    let outcome = ToolOutcome::Failed { code: None, text: "".into() };
                    out(mark, Fact::Returned { call, outcome, detail: ToolDetail::None });
                }
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                out(mark, Fact::Kind("tool result"));
                if let (Some(call), Some(output)) = (call, payload.output) {
                    let text = tool::text_of(output);
                    let (outcome, detail) = tool::parse_result(&text);
                    self.continue_command(mark, call, &text, &outcome, &detail, out);
                    out(mark, Fact::Returned { call, outcome, detail });
                }
            }
            Some("web_search_call" | "image_generation_call") => {
                out(mark, Fact::Kind("tool call"));
                let call = call.or(payload.id.text()).unwrap_or(&mark.record);
                out(mark, Fact::Called { call, tool: "web_search", what: ToolUse::Other });
                let (outcome, detail) = (ToolOutcome::Succeeded, ToolDetail::None);
                out(mark, Fact::Returned { call, outcome, detail });
            }
            Some(other) => out(mark, Fact::Unknown(format!("response_item/{other}"))),
            None => out(mark, Fact::Skipped("no type")),
        }
    }

    /// Remembers a call that polls the output of a running command.
    fn poll(&mut self, call: &str, arguments: Option<&str>) {
        let Some(session) = arguments.and_then(tool::polled_session) else { return };
        let command = self.running.iter().rev().find(|(of, _)| *of == session);
        if let Some((_, command)) = command {
            push_bounded(&mut self.polls, (hash(call.as_bytes()), command.clone()));
        }
    }

    /// Remembers a command that keeps running, or emits the result of a command that a poll saw
    /// end.
    fn continue_command(
        &mut self,
        mark: &RecordRef<'_>,
        call: &str,
        text: &str,
        outcome: &ToolOutcome<'_>,
        detail: &ToolDetail<'_>,
        out: &mut CodexFactSink<'_>,
    ) {
        let id = hash(call.as_bytes());
        let polled = self.polls.iter().position(|(poll, _)| *poll == id);
        let polled = polled.and_then(|at| self.polls.remove(at)).map(|(_, command)| command);
        match (outcome, polled) {
            (ToolOutcome::Running, Some(_)) => {}
            (ToolOutcome::Running, None) => {
                if let Some(session) = tool::running_session(text) {
                    push_bounded(&mut self.running, (session, call.to_owned()));
                }
            }
            (outcome, Some(command)) => {
                self.running.retain(|(_, of)| *of != command);
                let (outcome, detail) = (outcome.clone(), detail.clone());
                out(mark, Fact::Returned { call: &command, outcome, detail });
            }
            (_, None) => {}
        }
    }

    fn message(
        &mut self,
        mark: &RecordRef<'_>,
        payload: &CodexPayload<'_>,
        asked: Option<String>,
        out: &mut CodexFactSink<'_>,
    ) {
        match (payload.role.text(), asked) {
            (_, Some(text)) => {
                out(mark, Fact::Kind("user"));
                out(mark, Fact::Asked(text.into()));
            }
            (Some("assistant"), None) => {
                self.prompt = None;
                out(mark, Fact::Kind("assistant"));
                if let Some(text) = text(&payload.content) {
                    out(mark, Fact::Said(text.into()));
                }
            }
            (Some("user"), None) => {
                out(mark, Fact::Kind("meta"));
                for skill in payload.content.all().iter().filter_map(|block| block.text.text()) {
                    if let Some(name) = skill_name(skill) {
                        out(mark, Fact::Skill { name: name.into(), arguments: "".into() });
                    }
                }
            }
            (Some(_) | None, None) => out(mark, Fact::Kind("meta")),
        }
    }

    fn event(
        &mut self,
        mark: &RecordRef<'_>,
        payload: &CodexPayload<'_>,
        asked: Option<String>,
        out: &mut CodexFactSink<'_>,
    ) {
        const NOTES: [&str; 10] = [
            "task_started",
            "turn_started",
            "agent_reasoning",
            "agent_reasoning_raw_content",
            "thread_settings_applied",
            "context_compacted",
            "exec_command_begin",
            "patch_apply_begin",
            "entered_review_mode",
            "exited_review_mode",
        ];
        if let Some(text) = asked {
            out(mark, Fact::Kind("user"));
            return out(mark, Fact::Asked(text.into()));
        }
        match payload.r#type.text() {
            Some("user_message") => out(mark, Fact::Kind("repeated")),
            Some("agent_message") => {
                self.prompt = None;
                out(mark, Fact::Kind("assistant"));
                if let Some(text) = payload.message.text() {
                    out(mark, Fact::Said(text.into()));
                }
            }
            Some("token_count") => Self::tokens(mark, payload, out),
            Some("task_complete" | "turn_complete") => {
                self.prompt = None;
                out(mark, Fact::Kind("note"));
                out(mark, Fact::TurnOver(true));
                let trouble = payload.error.all().first();
                if let Some(text) = trouble.and_then(|error| error.message.text()) {
                    out(mark, Fact::ApiError { status: None, text: text.into() });
                }
            }
            Some("turn_aborted") => {
                self.prompt = None;
                out(mark, Fact::Kind("interrupt"));
                out(mark, Fact::Interrupted);
            }
            Some("error" | "stream_error") => {
                out(mark, Fact::Kind("API error"));
                let text = payload.message.text().unwrap_or_default().into();
                out(mark, Fact::ApiError { status: None, text });
            }
            Some("thread_rolled_back") => {
                out(mark, Fact::Kind("note"));
                out(mark, Fact::RolledBack(payload.num_turns.count()));
            }
            Some("patch_apply_end") => {
                out(mark, Fact::Kind("tool result"));
                let failed = payload.success == Scalar::Flag(false);
                let text = payload.stderr.text().unwrap_or_default();
                self.emit_patch(mark, payload.call_id.text(), payload.changes, (failed, text), out);
            }
            Some("item_completed") => match payload.item.all().first() {
                Some(item) => self.item(mark, item, out),
                None => out(mark, Fact::Skipped("no item")),
            },
            Some(note) if NOTES.contains(&note) => {
                out(mark, Fact::Kind("note"));
                let window = payload.model_context_window.integer();
                if let Some(window) = window.and_then(|window| u64::try_from(window).ok()) {
                    out(
                        mark,
                        Fact::Used(ResponseUsage {
                            window: Some(window),
                            ..ResponseUsage::default()
                        }),
                    );
                }
            }
            Some(other) => out(mark, Fact::Unknown(format!("event_msg/{other}"))),
            None => out(mark, Fact::Skipped("no type")),
        }
    }

    fn item(&mut self, mark: &RecordRef<'_>, item: &CodexItem<'_>, out: &mut CodexFactSink<'_>) {
        let (Some(kind), Some(id)) = (item.r#type.text(), item.id.text()) else {
            return out(mark, Fact::Skipped("no type"));
        };
        match kind {
            "AgentMessage" => {
                self.prompt = None;
                out(mark, Fact::Kind("assistant"));
                if let Some(text) = text(&item.content) {
                    out(mark, Fact::Said(text.into()));
                }
            }
            "UserMessage" => out(mark, Fact::Kind("repeated")),
            "Reasoning" | "ContextCompaction" | "WebSearch" => out(mark, Fact::Kind("note")),
            "HookPrompt" => out(mark, Fact::Kind("hook")),
            "CommandExecution" => {
                out(mark, Fact::Kind("tool result"));
                let command = tool::command_of(item.command).unwrap_or_default();
                self.call_once(mark, id, "exec_command", ToolUse::Command(command), out);
                let code = item.exit_code.integer();
                let output = item.aggregated_output.text().unwrap_or_default();
                let outcome = match (code, item.status.text()) {
                    (Some(0), _) | (None, Some("completed")) => ToolOutcome::Succeeded,
                    (None, Some("in_progress")) => ToolOutcome::Running,
                    (None, Some("declined")) => ToolOutcome::Rejected { said: None },
                    (code, _) => ToolOutcome::Failed { code, text: output.into() },
                };
                let is_good = matches!(outcome, ToolOutcome::Succeeded);
                let detail =
                    if is_good { ToolDetail::Output(output.into()) } else { ToolDetail::None };
                out(mark, Fact::Returned { call: id, outcome, detail });
            }
            "FileChange" => {
                out(mark, Fact::Kind("tool result"));
                let failed = matches!(item.status.text(), Some("failed" | "declined"));
                self.emit_patch(mark, Some(id), item.changes, (failed, ""), out);
            }
            "McpToolCall" => {
                out(mark, Fact::Kind("tool result"));
                // The name under which the model calls the tool.
                let server = item.server.text().map(|server| format!("mcp__{server}__"));
                let tool = item.tool.text().unwrap_or("mcp");
                let tool = format!("{}{tool}", server.unwrap_or_default());
                self.call_once(mark, id, &tool, ToolUse::Other, out);
                let error = item.error.all().first().and_then(|error| error.message.text());
                let outcome = match error {
                    Some(text) => ToolOutcome::Failed { code: None, text: text.into() },
                    None => ToolOutcome::Succeeded,
                };
                out(mark, Fact::Returned { call: id, outcome, detail: ToolDetail::None });
            }
            other => out(mark, Fact::Unknown(format!("item/{other}"))),
        }
    }

    /// Emits a call that the client recorded, unless the model's record of it came first.
    fn call_once(
        &mut self,
        mark: &RecordRef<'_>,
        call: &str,
        tool: &str,
        what: ToolUse<'_>,
        out: &mut CodexFactSink<'_>,
    ) {
        if self.known_call(call).is_none() {
            self.remember_call(call, false);
            out(mark, Fact::Called { call, tool, what });
        }
    }

    /// Emits file changes: by a patch call, or by a command with a patch inside.
    fn emit_patch(
        &mut self,
        mark: &RecordRef<'_>,
        call: Option<&str>,
        changes: Option<&RawValue>,
        (failed, text): (bool, &str),
        out: &mut CodexFactSink<'_>,
    ) {
        let Some(call) = call else { return };
        let outcome = || match failed {
            true => ToolOutcome::Failed { code: None, text: text.to_owned().into() },
            false => ToolOutcome::Succeeded,
        };
        let name: Cow<'_, str> = match self.known_call(call) {
            Some(true) => call.into(),
            known @ (Some(false) | None) => {
                let name = match known {
                    Some(_) => Cow::Owned(format!("{call}/patch")),
                    None => call.into(),
                };
                self.remember_call(&name, true);
                let what = ToolUse::Change(patch::parse_changes(changes));
                out(mark, Fact::Called { call: &name, tool: "apply_patch", what });
                name
            }
        };
        out(mark, Fact::Returned { call: &name, outcome: outcome(), detail: ToolDetail::None });
    }

    fn tokens(mark: &RecordRef<'_>, payload: &CodexPayload<'_>, out: &mut CodexFactSink<'_>) {
        out(mark, Fact::Kind("note"));
        let Some(info) = payload.info.all().first() else { return };
        let window = info.model_context_window.integer().and_then(|w| u64::try_from(w).ok());
        let last = info.last_token_usage.all().first();
        let total = info.total_token_usage.all().first().map_or(0, |all| all.total.count());
        // Sent again whenever a limit changes; the total shows whether tokens were used.
        let answer = total.to_string();
        let used = last.map_or(ResponseUsage { window, ..ResponseUsage::default() }, |tokens| {
            ResponseUsage {
                answer: Some(&answer),
                input: tokens.input.count().saturating_sub(tokens.cached.count()),
                cached: tokens.cached.count(),
                output: tokens.output.count(),
                window,
            }
        });
        out(mark, Fact::Used(used));
    }

    fn remember_call(&mut self, call: &str, is_patch: bool) {
        if self.known.len() >= KNOWN_MAX {
            self.known.pop_front();
        }
        self.known.push_back((hash(call.as_bytes()), is_patch));
    }

    fn known_call(&self, call: &str) -> Option<bool> {
        let this = hash(call.as_bytes());
        self.known.iter().rev().find(|(call, _)| *call == this).map(|(_, patch)| *patch)
    }
}

/// Returns the session that started this one as an agent. Older versions name it in `source`.
fn spawned_by(source: &RawValue) -> Option<String> {
    let source = source.get().starts_with('{').then(|| source.get())?;
    let source: serde_json::Value = serde_json::from_str(source).ok()?;
    let parent = source.pointer("/subagent/thread_spawn/parent_thread_id")?;
    parent.as_str().map(str::to_owned)
}

/// Adds an entry to a list with a maximum length.
fn push_bounded<T>(list: &mut VecDeque<T>, entry: T) {
    const RUNNING_MAX: usize = 64;
    if list.len() >= RUNNING_MAX {
        list.pop_front();
    }
    list.push_back(entry);
}

/// How the texts begin that the client writes in the user's name.
const INJECTED: [&str; 14] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<turn_aborted>",
    "<skill>",
    "<skills_instructions>",
    "<permissions",
    "<subagent_notification>",
    "<hook_prompt",
    "<user_shell_command>",
    "<model_switch>",
    "<collaboration_mode>",
    "<recommended_plugins>",
];

fn is_injected(text: &str) -> bool {
    let start = text.trim_start();
    start.is_empty() || INJECTED.iter().any(|mark| start.starts_with(mark))
}

/// Returns the user's own words, without what the client adds.
fn user_words(content: &OneOrMany<'_, CodexContentBlock<'_>>) -> Option<String> {
    if let OneOrMany::Text(text) = content {
        return Some(text.clone().into_owned()).filter(|text| !is_injected(text));
    }
    let texts = content.all().iter().filter_map(|block| block.text.text());
    let own: Vec<&str> = texts.filter(|text| !is_injected(text)).collect();
    (!own.is_empty()).then(|| own.join("\n"))
}

fn text(content: &OneOrMany<'_, CodexContentBlock<'_>>) -> Option<String> {
    match content {
        OneOrMany::Text(text) => Some(text.clone().into_owned()),
        OneOrMany::Nothing => None,
        OneOrMany::One(_) | OneOrMany::Many(_) => {
            let texts: Vec<&str> =
                content.all().iter().filter_map(|block| block.text.text()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
    }
}

fn skill_name(text: &str) -> Option<&str> {
    let (_, rest) = text.trim_start().strip_prefix("<skill>")?.split_once("<name>")?;
    rest.split_once("</name>").map(|(name, _)| name.trim())
}

/// Resolves a relative path against the working directory.
fn absolute_path(path: &str, cwd: &str) -> String {
    if path.starts_with('/') || cwd.is_empty() {
        return path.to_owned();
    }
    format!("{}/{}", cwd.trim_end_matches('/'), path.trim_start_matches("./"))
}

/// A change to a file whose new content is unknown.
fn unknown_write(path: String) -> ToolFileChange {
    ToolFileChange::Write { path, content: None }
}
