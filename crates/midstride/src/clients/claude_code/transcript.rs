//! Reads Claude Code transcripts: one JSON object per line, one line per block of a message.

mod tool;
mod user_text;

use crate::clients::lenient::{OneOrMany, Scalar, read_repaired, reason};
use midstride_core::session::shell::{is_of_interest, may_change};
use midstride_core::session::transcript::RecordReader;
use midstride_core::session::{
    DequeueReason, Fact, Identity, RecordLink, RecordRef, RecordRole, ResponseUsage, ToolDetail,
    ToolOutcome, ToolUse, hash,
};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use tool::ClaudeTool;
use user_text::{UserText, between};

/// The maximum number of open calls remembered. The result of a call that is not remembered is only
/// checked for failure.
const OPEN_MAX: usize = 10_000;
/// The maximum number of agent calls awaited. Agents run in parallel.
const AGENT_CALLS_MAX: usize = 64;
/// How the entry points of `claude -p` and the SDKs begin.
const SDK: &str = "sdk";
/// The model name of an answer that the client wrote instead of a model.
const SYNTHETIC: &str = "<synthetic>";

/// Reads Claude Code records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClaudeCodeReader {
    /// Calls whose results say more than that they returned, by the hash of their id.
    open: BTreeMap<u64, ClaudeTool>,
    /// Calls of agents that are of interest and have not returned.
    #[serde(default)]
    agent_calls: VecDeque<String>,
}

/// The fields of a record that are of interest.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct ClaudeRecord<'a> {
    #[serde(borrow)]
    r#type: Scalar<'a>,
    #[serde(borrow)]
    subtype: Scalar<'a>,
    #[serde(borrow)]
    uuid: Scalar<'a>,
    #[serde(borrow)]
    parent_uuid: Scalar<'a>,
    #[serde(borrow)]
    logical_parent_uuid: Scalar<'a>,
    #[serde(borrow)]
    session_id: Scalar<'a>,
    #[serde(borrow)]
    timestamp: Scalar<'a>,
    #[serde(borrow)]
    cwd: Scalar<'a>,
    #[serde(borrow)]
    version: Scalar<'a>,
    #[serde(borrow)]
    git_branch: Scalar<'a>,
    #[serde(borrow)]
    entrypoint: Scalar<'a>,
    #[serde(borrow)]
    agent_id: Scalar<'a>,
    #[serde(borrow)]
    is_sidechain: Scalar<'a>,
    #[serde(borrow)]
    is_meta: Scalar<'a>,
    #[serde(borrow)]
    is_compact_summary: Scalar<'a>,
    #[serde(borrow)]
    is_api_error_message: Scalar<'a>,
    #[serde(borrow)]
    api_error_status: Scalar<'a>,
    #[serde(borrow)]
    content: Scalar<'a>,
    #[serde(borrow)]
    operation: Scalar<'a>,
    #[serde(borrow)]
    summary: Scalar<'a>,
    #[serde(borrow)]
    custom_title: Scalar<'a>,
    #[serde(borrow)]
    ai_title: Scalar<'a>,
    #[serde(borrow)]
    forked_from: OneOrMany<'a, ForkOrigin<'a>>,
    #[serde(borrow)]
    message: OneOrMany<'a, ClaudeMessage<'a>>,
    #[serde(borrow)]
    attachment: OneOrMany<'a, Attachment<'a>>,
    #[serde(borrow)]
    compact_metadata: OneOrMany<'a, CompactMetadata<'a>>,
    #[serde(borrow)]
    tool_use_result: Option<&'a RawValue>,
}

/// A record of an agent's progress.
#[derive(Deserialize, Default)]
#[serde(default)]
struct ProgressLine<'a> {
    #[serde(borrow)]
    data: OneOrMany<'a, AgentProgress<'a>>,
}

/// What an agent does while it works.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct AgentProgress<'a> {
    #[serde(borrow)]
    agent_id: Scalar<'a>,
    #[serde(borrow)]
    message: OneOrMany<'a, AgentRecord<'a>>,
}

/// A record of an agent.
#[derive(Deserialize, Default)]
#[serde(default)]
struct AgentRecord<'a> {
    #[serde(borrow)]
    message: OneOrMany<'a, ClaudeMessage<'a>>,
}

/// The session that a record was copied from when its session continued under another id.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ForkOrigin<'a> {
    #[serde(borrow)]
    pub(super) session_id: Scalar<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ClaudeMessage<'a> {
    #[serde(borrow)]
    id: Scalar<'a>,
    #[serde(borrow)]
    model: Scalar<'a>,
    #[serde(borrow)]
    content: OneOrMany<'a, ClaudeContentBlock<'a>>,
    #[serde(borrow)]
    usage: OneOrMany<'a, ClaudeUsage<'a>>,
    #[serde(borrow)]
    stop_reason: Scalar<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ClaudeUsage<'a> {
    #[serde(borrow, rename = "input_tokens")]
    input: Scalar<'a>,
    #[serde(borrow, rename = "cache_creation_input_tokens")]
    cache_creation: Scalar<'a>,
    #[serde(borrow, rename = "cache_read_input_tokens")]
    cache_read: Scalar<'a>,
    #[serde(borrow, rename = "output_tokens")]
    output: Scalar<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ClaudeContentBlock<'a> {
    #[serde(borrow)]
    r#type: Scalar<'a>,
    #[serde(borrow)]
    text: Scalar<'a>,
    #[serde(borrow)]
    id: Scalar<'a>,
    #[serde(borrow)]
    name: Scalar<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Scalar<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    is_error: Scalar<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Attachment<'a> {
    #[serde(borrow)]
    r#type: Scalar<'a>,
    #[serde(borrow)]
    prompt: OneOrMany<'a, ClaudeContentBlock<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct CompactMetadata<'a> {
    #[serde(borrow)]
    trigger: Scalar<'a>,
    #[serde(borrow)]
    pre_tokens: Scalar<'a>,
    #[serde(borrow)]
    post_tokens: Scalar<'a>,
}

type ClaudeFactSink<'o> = dyn FnMut(&RecordRef<'_>, Fact<'_>) + 'o;

impl RecordReader for ClaudeCodeReader {
    fn read_record(&mut self, number: u64, line: &[u8], out: &mut ClaudeFactSink<'_>) {
        let first = match serde_json::from_slice::<ClaudeRecord<'_>>(line) {
            Ok(record) => return self.emit_record(number, record, line, false, out),
            Err(error) => reason(&error),
        };
        let again = &mut |line: &[u8]| match serde_json::from_slice::<ClaudeRecord<'_>>(line) {
            Ok(record) => {
                self.emit_record(number, record, line, true, out);
                true
            }
            Err(_) => false,
        };
        if read_repaired(line, again) {
            return;
        }
        let mark = RecordRef { record: line_name(number), number, at: None, agent: None };
        out(&mark, Fact::Record(RecordLink::default()));
        out(&mark, Fact::Skipped(first));
    }

    fn state(&self) -> serde_json::Result<Box<RawValue>> {
        to_raw_value(self)
    }
}

fn line_name(number: u64) -> Cow<'static, str> {
    format!("line {number}").into()
}

impl ClaudeCodeReader {
    fn emit_record(
        &mut self,
        number: u64,
        mut line: ClaudeRecord<'_>,
        bytes: &[u8],
        repaired: bool,
        out: &mut ClaudeFactSink<'_>,
    ) {
        let kind = std::mem::take(&mut line.r#type);
        let Some(kind) = kind.text() else {
            let mark = RecordRef { record: line_name(number), number, at: None, agent: None };
            out(&mark, Fact::Record(RecordLink::default()));
            return out(&mark, Fact::Skipped("no type"));
        };
        let uuid = std::mem::take(&mut line.uuid);
        let record = uuid.text().map_or_else(|| line_name(number), Cow::Borrowed);
        let agent_id = std::mem::take(&mut line.agent_id);
        let agent =
            line.is_sidechain.is_true().then(|| agent_id.text().unwrap_or("sidechain").into());
        let at = line.timestamp.text().and_then(|text| text.parse().ok());
        let mark = &RecordRef { record, number, at, agent };
        let message = std::mem::take(&mut line.message);
        let (message, words) = match message {
            OneOrMany::One(message) => (Some(*message), None),
            OneOrMany::Text(text) => (None, Some(text)),
            OneOrMany::Nothing | OneOrMany::Many(_) => (None, None),
        };
        let text = user_text::classify(kind, message.as_ref(), &line);
        let boundary = kind == "system" && line.subtype.text() == Some("compact_boundary");
        let parent = line.parent_uuid.text().or(line.logical_parent_uuid.text());
        let role = match kind {
            _ if mark.agent.is_some() => RecordRole::Aside,
            // Text beside a tool result was typed while the call ran, so it does not start a new
            // turn.
            "user" if line.tool_use_result.is_some() => RecordRole::Turn,
            "user" if matches!(text, UserText::Asked(_) | UserText::Slash { asked: true, .. }) => {
                RecordRole::Prompt
            }
            "system" if boundary => RecordRole::Boundary,
            "user" | "assistant" | "system" | "attachment" => RecordRole::Turn,
            _ => RecordRole::Aside,
        };
        out(mark, Fact::Record(RecordLink { id: uuid.text(), parent, role }));
        if repaired {
            out(mark, Fact::Repaired);
        }
        if line.session_id.text().or(line.cwd.text()).is_some() {
            let forked_from = match &line.forked_from {
                OneOrMany::One(origin) => origin.session_id.text(),
                OneOrMany::Nothing | OneOrMany::Text(_) | OneOrMany::Many(_) => None,
            };
            out(
                mark,
                Fact::Identity(Identity {
                    session: line.session_id.text(),
                    forked_from,
                    cwd: line.cwd.text(),
                    version: line.version.text(),
                    branch: line.git_branch.text(),
                    headless: line.entrypoint.text().map(|entrypoint| entrypoint.starts_with(SDK)),
                    ..Identity::default()
                }),
            );
        }
        match kind {
            "user" | "assistant" if message.is_none() && words.is_none() => {
                out(mark, Fact::Skipped("no message"));
            }
            "user" => self.user(mark, &line, message.as_ref(), text, out),
            "assistant" => self.assistant(mark, &line, message.as_ref(), text, out),
            "system" => emit_system(mark, line, out),
            "attachment" => emit_attachment(mark, line, out),
            "progress" => {
                out(mark, Fact::Kind("progress"));
                self.progress(mark, bytes, out);
            }
            _ => emit_aside(mark, kind, &line, out),
        }
    }

    fn user(
        &mut self,
        mark: &RecordRef<'_>,
        line: &ClaudeRecord<'_>,
        message: Option<&ClaudeMessage<'_>>,
        text: UserText<'_>,
        out: &mut ClaudeFactSink<'_>,
    ) {
        let mut results = 0;
        for block in message.map(|message| message.content.all()).unwrap_or_default() {
            if block.r#type.text() == Some("tool_result") {
                results += 1;
                self.result(mark, line, block, out);
            }
        }
        let sort = match &text {
            _ if mark.agent.is_some() => "agent",
            _ if results > 0 => "tool result",
            UserText::Summary(_) => "compact summary",
            UserText::Meta => "meta",
            UserText::LocalOutput => "local output",
            UserText::Hook => "hook",
            UserText::Slash { .. } => "slash command",
            UserText::Notice { .. } => "notification",
            UserText::Interrupted => "interrupt",
            UserText::Asked(_) | UserText::None => "user",
        };
        out(mark, Fact::Kind(sort));
        match text {
            UserText::Summary(text) => out(mark, Fact::Summary(text)),
            UserText::Interrupted => out(mark, Fact::Interrupted),
            UserText::Asked(text) => out(mark, Fact::Asked(text)),
            UserText::Slash { name, arguments, asked } => {
                if asked {
                    out(mark, Fact::Asked(format!("{name} {arguments}").trim().to_owned().into()));
                }
                out(mark, Fact::Skill { name, arguments });
            }
            UserText::Notice { id, outcome, report } => {
                out(mark, Fact::Dequeued { fate: DequeueReason::Notice, text: None });
                out(mark, Fact::Noticed);
                out(mark, Fact::Ended { id, outcome, report });
            }
            UserText::Meta | UserText::LocalOutput | UserText::Hook | UserText::None => {}
        }
    }

    fn result(
        &mut self,
        mark: &RecordRef<'_>,
        line: &ClaudeRecord<'_>,
        block: &ClaudeContentBlock<'_>,
        out: &mut ClaudeFactSink<'_>,
    ) {
        let Some(call) = block.tool_use_id.text() else { return };
        let raw = line.tool_use_result;
        let tool = self.open.remove(&hash(call.as_bytes()));
        if !block.is_error.is_true() {
            let (outcome, mut detail) = tool::parse_result(tool, raw);
            if let ToolDetail::Agent { report, running: false, .. } = &mut detail {
                *report = block.content.map(tool::agent_report);
            }
            let is_read = matches!(tool, Some(ClaudeTool::Watched | ClaudeTool::Outside));
            if is_read && matches!((&outcome, &detail), (ToolOutcome::Succeeded, ToolDetail::None))
            {
                detail =
                    block.content.map(tool::text_of).map_or(ToolDetail::None, ToolDetail::Output);
            }
            return out(mark, Fact::Returned { call, outcome, detail });
        }
        let text = block.content.map(tool::text_of).unwrap_or_default();
        let outcome = tool::parse_failure(text);
        out(mark, Fact::Returned { call, outcome, detail: ToolDetail::None });
    }

    /// Reads what an agent does while it works. Only calls that change or check something are of
    /// interest, and most records have none.
    fn progress(&mut self, mark: &RecordRef<'_>, bytes: &[u8], out: &mut ClaudeFactSink<'_>) {
        if is_stop_hook(bytes) {
            return out(mark, Fact::TurnOver(true));
        }
        if !self.is_of_interest(bytes) {
            return;
        }
        let Ok(line) = serde_json::from_slice::<ProgressLine<'_>>(bytes) else { return };
        let progress = line.data.one().unwrap_or_default();
        let agent = progress.agent_id.text().unwrap_or("agent").to_owned();
        let mark = &RecordRef { agent: Some(agent.into()), ..mark.clone() };
        let record = progress.message.one().unwrap_or_default();
        let message = record.message.one().unwrap_or_default();
        for block in message.content.all() {
            match block.r#type.text() {
                Some("tool_use") => self.agent_call(mark, block, out),
                Some("tool_result") => {
                    let id = block.tool_use_id.text().unwrap_or_default();
                    if self.agent_calls.iter().any(|call| call == id) {
                        self.agent_calls.retain(|call| call != id);
                        self.result(mark, &ClaudeRecord::default(), block, out);
                    }
                }
                Some(_) | None => {}
            }
        }
    }

    /// Whether a progress record has a call that changes something, or the result of one. The kind
    /// is near the start of the record; the rest may be long.
    fn is_of_interest(&self, bytes: &[u8]) -> bool {
        const START: usize = 2 << 10;
        const CONTENT: &str = "\"content\":[";
        let start = &bytes[..bytes.len().min(START)];
        let start = match std::str::from_utf8(start) {
            Ok(start) => start,
            Err(error) => std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default(),
        };
        let is_content = |at: &usize| start[..=*at].ends_with(CONTENT);
        let mut lists = start.match_indices('[').map(|(at, _)| at);
        let Some(at) = lists.find(is_content) else { return false };
        let content = &start[at..];
        let near = &content[..content.floor_char_boundary(200.min(content.len()))];
        let value = |name: &str| near.split_once(name).and_then(|(_, rest)| rest.split('"').next());
        if let Some(id) = value("\"tool_use_id\":\"") {
            return self.agent_calls.iter().any(|call| call == id);
        }
        match value("\"name\":\"") {
            Some("Bash") => is_of_interest(content) || may_change(content),
            name => matches!(name, Some("Edit" | "Write" | "MultiEdit" | "NotebookEdit")),
        }
    }

    fn agent_call(
        &mut self,
        mark: &RecordRef<'_>,
        block: &ClaudeContentBlock<'_>,
        out: &mut ClaudeFactSink<'_>,
    ) {
        let (Some(call), Some(name)) = (block.id.text(), block.name.text()) else { return };
        let what = tool::parse_call(name, block.input);
        let tool = match &what {
            ToolUse::Change(_) => Some(ClaudeTool::AgentChange),
            ToolUse::Command(_) => {
                ClaudeTool::from_call(name, &what).filter(|tool| *tool == ClaudeTool::Watched)
            }
            ToolUse::Read(_)
            | ToolUse::Task(_)
            | ToolUse::Todos(_)
            | ToolUse::Agent { .. }
            | ToolUse::AgentsEnd(_)
            | ToolUse::Question
            | ToolUse::Plan(_)
            | ToolUse::Skill { .. }
            | ToolUse::External { .. }
            | ToolUse::Other => None,
        };
        let Some(tool) = tool.filter(|_| self.open.len() < OPEN_MAX) else { return };
        self.open.insert(hash(call.as_bytes()), tool);
        if self.agent_calls.len() >= AGENT_CALLS_MAX {
            self.agent_calls.pop_front();
        }
        self.agent_calls.push_back(call.to_owned());
        out(mark, Fact::AgentCalled { call, what });
    }

    fn assistant(
        &mut self,
        mark: &RecordRef<'_>,
        line: &ClaudeRecord<'_>,
        message: Option<&ClaudeMessage<'_>>,
        text: UserText<'_>,
        out: &mut ClaudeFactSink<'_>,
    ) {
        let Some(message) = message else {
            return out(mark, Fact::Kind("assistant"));
        };
        let model = message.model.text();
        if line.is_api_error_message.is_true() {
            out(mark, Fact::Kind("API error"));
            let status = line.api_error_status.integer().and_then(|code| u64::try_from(code).ok());
            let text = match text {
                UserText::Asked(text) => text,
                UserText::Slash { .. }
                | UserText::Notice { .. }
                | UserText::Summary(_)
                | UserText::Interrupted
                | UserText::LocalOutput
                | UserText::Hook
                | UserText::Meta
                | UserText::None => Cow::default(),
            };
            return out(mark, Fact::ApiError { status, text });
        }
        if model == Some(SYNTHETIC) {
            return out(mark, Fact::Kind("synthetic"));
        }
        out(mark, Fact::Kind(if mark.agent.is_some() { "agent" } else { "assistant" }));
        if mark.agent.is_none() {
            out(mark, Fact::Identity(Identity { model, ..Identity::default() }));
        }
        if let OneOrMany::One(tokens) = &message.usage {
            let input = tokens.input.count();
            out(
                mark,
                Fact::Used(ResponseUsage {
                    answer: message.id.text(),
                    input: input.saturating_add(tokens.cache_creation.count()),
                    cached: tokens.cache_read.count(),
                    output: tokens.output.count(),
                    window: None,
                }),
            );
        }
        if let OneOrMany::Text(text) = &message.content {
            out(mark, Fact::Said(text.as_ref().into()));
        }
        for block in message.content.all() {
            self.block(mark, block, out);
        }
        // All records of an answer have its stop reason; older clients write none.
        match message.stop_reason.text() {
            Some("tool_use" | "pause_turn") => out(mark, Fact::TurnOver(false)),
            Some("end_turn" | "stop_sequence") => out(mark, Fact::TurnOver(true)),
            Some(_) | None => {}
        }
    }

    fn block(
        &mut self,
        mark: &RecordRef<'_>,
        block: &ClaudeContentBlock<'_>,
        out: &mut ClaudeFactSink<'_>,
    ) {
        match block.r#type.text() {
            Some("text") => {
                if let Some(text) = block.text.text() {
                    out(mark, Fact::Said(text.into()));
                }
            }
            Some("tool_use") => {
                let (Some(call), Some(name)) = (block.id.text(), block.name.text()) else { return };
                let what = tool::parse_call(name, block.input);
                if let Some(tool) = ClaudeTool::from_call(name, &what) {
                    if self.open.len() >= OPEN_MAX {
                        self.open.pop_first();
                    }
                    self.open.insert(hash(call.as_bytes()), tool);
                }
                out(mark, Fact::Called { call, tool: name, what });
            }
            Some(_) | None => {}
        }
    }
}

/// Whether a progress record is about a `Stop` hook, which runs when a turn is over.
fn is_stop_hook(bytes: &[u8]) -> bool {
    const START: usize = 1 << 10;
    let start = &bytes[..bytes.len().min(START)];
    let needle: &[u8] = b"\"hookEvent\":\"Stop\"";
    start.windows(needle.len()).any(|window| window == needle)
}

fn emit_system(mark: &RecordRef<'_>, line: ClaudeRecord<'_>, out: &mut ClaudeFactSink<'_>) {
    const KNOWN: [&str; 4] =
        ["local_command", "informational", "away_summary", "microcompact_boundary"];
    match line.subtype.text() {
        Some("compact_boundary") => {
            let known = line.compact_metadata.one().unwrap_or_default();
            let count = |scalar: &Scalar<'_>| scalar.integer().and_then(|n| u64::try_from(n).ok());
            out(mark, Fact::Kind("compact boundary"));
            out(
                mark,
                Fact::Compacted {
                    before: count(&known.pre_tokens),
                    after: count(&known.post_tokens),
                    trigger: known.trigger.into_text(),
                    summary: None,
                },
            );
        }
        Some("api_error") => {
            out(mark, Fact::Kind("API error"));
            let text = line.content.into_text().unwrap_or_default();
            out(mark, Fact::ApiError { status: None, text });
        }
        Some("stop_hook_summary" | "turn_duration") => {
            out(mark, Fact::Kind("system"));
            out(mark, Fact::TurnOver(true));
        }
        Some(known) if KNOWN.contains(&known) => out(mark, Fact::Kind("system")),
        None => out(mark, Fact::Kind("system")),
        Some(other) => out(mark, Fact::Unknown(format!("system/{other}"))),
    }
}

fn emit_attachment(mark: &RecordRef<'_>, line: ClaudeRecord<'_>, out: &mut ClaudeFactSink<'_>) {
    let attachment = line.attachment.one().unwrap_or_default();
    match attachment.r#type.text() {
        // What the user typed while the agent worked reaches it as an attachment.
        Some("queued_command") => {
            out(mark, Fact::Kind("user"));
            match attachment.prompt {
                OneOrMany::Text(text) => emit_delivered(mark, text, out),
                prompt @ (OneOrMany::One(_) | OneOrMany::Many(_) | OneOrMany::Nothing) => {
                    for text in prompt.many().into_iter().filter_map(|part| part.text.into_text()) {
                        emit_delivered(mark, text, out);
                    }
                }
            }
        }
        Some(kind) if kind.starts_with("hook_") => out(mark, Fact::Kind("hook")),
        Some(_) | None => out(mark, Fact::Kind("attachment")),
    }
}

/// Emits text that reaches the agent while it works: the user's words, or notices from the client.
fn emit_delivered(mark: &RecordRef<'_>, text: Cow<'_, str>, out: &mut ClaudeFactSink<'_>) {
    if !emit_notice(mark, &text, out) {
        out(mark, Fact::Delivered(text));
    }
}

/// Whether a text is a notice from the client. If it is, emits the end of the background task.
fn emit_notice(mark: &RecordRef<'_>, text: &str, out: &mut ClaudeFactSink<'_>) -> bool {
    if let UserText::Notice { id, outcome, report } = user_text::parse_notice(text) {
        out(mark, Fact::Ended { id, outcome, report });
    }
    user_text::is_notice(text)
}

/// Emits what the user types while the agent works, and what becomes of it. The client queues its
/// own notices the same way, although the user did not type them.
fn emit_queue_operation(
    mark: &RecordRef<'_>,
    line: &ClaudeRecord<'_>,
    out: &mut ClaudeFactSink<'_>,
) {
    let text = line.content.text();
    let fate = match (line.operation.text(), text) {
        (Some("enqueue"), Some(text)) => {
            if !emit_notice(mark, text, out) {
                out(mark, Fact::Queued(text.into()));
            }
            return;
        }
        (Some("dequeue"), _) => DequeueReason::Next,
        (Some("remove"), _) => DequeueReason::Delivered,
        (Some("popAll"), _) => DequeueReason::Withdrawn,
        (Some(_) | None, _) => return,
    };
    out(mark, Fact::Dequeued { fate, text: text.map(Cow::from) });
}

/// Emits records outside the conversation.
fn emit_aside(
    mark: &RecordRef<'_>,
    kind: &str,
    line: &ClaudeRecord<'_>,
    out: &mut ClaudeFactSink<'_>,
) {
    const NOTES: [&str; 21] = [
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "worktree-state",
        "agent-name",
        "agent-color",
        "agent-setting",
        "tag",
        "pr-link",
        "content-replacement",
        "attribution-snapshot",
        "fork-context-ref",
        "bridge-session",
        "speculation-accept",
        "api-request",
        "api-request-shape",
        "api-request-blob",
        "tools-used",
        "atis-latch",
        "cost-state",
    ];
    let title = |title| Fact::Identity(Identity { title, ..Identity::default() });
    match kind {
        "summary" => {
            out(mark, Fact::Kind("title"));
            out(mark, title(line.summary.text()));
        }
        "custom-title" | "ai-title" => {
            out(mark, Fact::Kind("title"));
            out(mark, title(line.custom_title.text().or(line.ai_title.text())));
        }
        "queue-operation" => {
            out(mark, Fact::Kind("queue"));
            emit_queue_operation(mark, line, out);
        }
        note if NOTES.contains(&note) => out(mark, Fact::Kind("note")),
        other => out(mark, Fact::Unknown(other.to_owned())),
    }
}

/// Returns the outcome of a background task.
fn background_outcome(text: &str) -> ToolOutcome<'_> {
    let code = text.rsplit_once("exit code ").and_then(|(_, rest)| {
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<i64>().ok()
    });
    match between(text, "<status>", "</status>") {
        Some("completed") if code.unwrap_or(0) == 0 => ToolOutcome::Succeeded,
        Some("running") => ToolOutcome::Running,
        Some(_) | None => {
            let text = between(text, "<summary>", "</summary>").unwrap_or_default().into();
            ToolOutcome::Failed { code, text }
        }
    }
}
