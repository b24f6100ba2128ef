//! Reads Qwen Code transcripts: one JSON object per line, one line per message, with parts as in the API
//! of Gemini.

mod tool;
mod user_text;

use crate::clients::lenient::{OneOrMany, Scalar, read_repaired, reason};
use midstride_core::session::transcript::RecordReader;
use midstride_core::session::{
    DequeueReason, Fact, Identity, RecordLink, RecordRef, RecordRole, ResponseUsage, hash,
};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use tool::QwenTool;
use user_text::QwenText;

/// The maximum number of open calls remembered. Of the result of a call that is not remembered, only its
/// failure is read.
const OPEN_MAX: usize = 10_000;

/// Reads Qwen Code records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct QwenCodeReader {
    /// Calls whose results say more than that they returned, by the hash of their id.
    open: BTreeMap<u64, QwenTool>,
}

/// The fields of a record that are of interest.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct QwenRecord<'a> {
    #[serde(borrow)]
    r#type: Scalar<'a>,
    #[serde(borrow)]
    subtype: Scalar<'a>,
    #[serde(borrow)]
    provenance: Scalar<'a>,
    #[serde(borrow)]
    uuid: Scalar<'a>,
    #[serde(borrow)]
    parent_uuid: Scalar<'a>,
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
    model: Scalar<'a>,
    #[serde(borrow)]
    agent_id: Scalar<'a>,
    #[serde(borrow)]
    is_sidechain: Scalar<'a>,
    #[serde(borrow)]
    message: OneOrMany<'a, QwenMessage<'a>>,
    #[serde(borrow)]
    usage_metadata: OneOrMany<'a, QwenUsage<'a>>,
    #[serde(borrow)]
    tool_call_result: OneOrMany<'a, tool::QwenToolResult<'a>>,
    #[serde(borrow)]
    system_payload: OneOrMany<'a, SystemPayload<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct QwenMessage<'a> {
    #[serde(borrow)]
    parts: OneOrMany<'a, QwenPart<'a>>,
}

/// A part of a message: a text, a call, or the result of one.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct QwenPart<'a> {
    #[serde(borrow)]
    text: Scalar<'a>,
    /// Whether the text is the model's reasoning.
    #[serde(borrow)]
    thought: Scalar<'a>,
    #[serde(borrow)]
    function_call: OneOrMany<'a, FunctionCall<'a>>,
    #[serde(borrow)]
    function_response: OneOrMany<'a, FunctionResponse<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct FunctionCall<'a> {
    #[serde(borrow)]
    id: Scalar<'a>,
    #[serde(borrow)]
    name: Scalar<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct FunctionResponse<'a> {
    #[serde(borrow)]
    id: Scalar<'a>,
    #[serde(borrow)]
    response: OneOrMany<'a, ResponseText<'a>>,
}

/// What the model reads of a result.
#[derive(Deserialize, Default)]
#[serde(default)]
struct ResponseText<'a> {
    #[serde(borrow)]
    output: Scalar<'a>,
    #[serde(borrow)]
    error: Scalar<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct QwenUsage<'a> {
    /// Includes the tokens read from the cache.
    #[serde(borrow, rename = "promptTokenCount")]
    input: Scalar<'a>,
    #[serde(borrow, rename = "candidatesTokenCount")]
    output: Scalar<'a>,
    #[serde(borrow, rename = "cachedContentTokenCount")]
    cached: Scalar<'a>,
}

/// What the client notes beside the conversation.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct SystemPayload<'a> {
    /// A prompt as the user typed it.
    #[serde(borrow)]
    display_text: Scalar<'a>,
    #[serde(borrow)]
    info: OneOrMany<'a, CompressionInfo<'a>>,
    #[serde(borrow)]
    compressed_history: OneOrMany<'a, QwenMessage<'a>>,
    #[serde(borrow)]
    ui_event: OneOrMany<'a, UiEvent<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct CompressionInfo<'a> {
    #[serde(borrow)]
    trigger_reason: Scalar<'a>,
    #[serde(borrow)]
    original_token_count: Scalar<'a>,
    #[serde(borrow)]
    new_token_count: Scalar<'a>,
}

/// An event that the client also counts. Only failed requests to the model are nowhere else.
#[derive(Deserialize, Default)]
#[serde(default)]
struct UiEvent<'a> {
    #[serde(borrow, rename = "event.name")]
    name: Scalar<'a>,
    #[serde(borrow)]
    status_code: Scalar<'a>,
    #[serde(borrow)]
    error_message: Scalar<'a>,
}

type QwenFactSink<'o> = dyn FnMut(&RecordRef<'_>, Fact<'_>) + 'o;

impl RecordReader for QwenCodeReader {
    fn read_record(&mut self, number: u64, line: &[u8], out: &mut QwenFactSink<'_>) {
        let first = match serde_json::from_slice::<QwenRecord<'_>>(line) {
            Ok(record) => return self.emit_record(number, &record, false, out),
            Err(error) => reason(&error),
        };
        let again = &mut |line: &[u8]| match serde_json::from_slice::<QwenRecord<'_>>(line) {
            Ok(record) => {
                self.emit_record(number, &record, true, out);
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

impl QwenCodeReader {
    fn emit_record(
        &mut self,
        number: u64,
        line: &QwenRecord<'_>,
        repaired: bool,
        out: &mut QwenFactSink<'_>,
    ) {
        let Some(kind) = line.r#type.text() else {
            let mark = RecordRef { record: line_name(number), number, at: None, agent: None };
            out(&mark, Fact::Record(RecordLink::default()));
            return out(&mark, Fact::Skipped("no type"));
        };
        let record = line.uuid.text().map_or_else(|| line_name(number), Cow::Borrowed);
        let agent = || line.agent_id.text().unwrap_or("sidechain").into();
        let agent = line.is_sidechain.is_true().then(agent);
        let at = line.timestamp.text().and_then(|text| text.parse().ok());
        let mark = &RecordRef { record, number, at, agent };
        let role = role(kind, line);
        let (id, parent) = (line.uuid.text(), line.parent_uuid.text());
        out(mark, Fact::Record(RecordLink { id, parent, role }));
        if repaired {
            out(mark, Fact::Repaired);
        }
        emit_identity(mark, line, out);
        match (kind, line.message.all().first()) {
            ("user" | "assistant" | "tool_result", None) => out(mark, Fact::Skipped("no message")),
            ("user", Some(_)) => emit_user(mark, line, out),
            ("assistant", Some(message)) => self.assistant(mark, line, message, out),
            ("tool_result", Some(message)) => self.results(mark, line, message, out),
            ("system", _) => emit_system(mark, line, out),
            (other, _) => out(mark, Fact::Unknown(other.to_owned())),
        }
    }

    fn assistant(
        &mut self,
        mark: &RecordRef<'_>,
        line: &QwenRecord<'_>,
        message: &QwenMessage<'_>,
        out: &mut QwenFactSink<'_>,
    ) {
        out(mark, Fact::Kind(if mark.agent.is_some() { "agent" } else { "assistant" }));
        emit_usage(mark, line, out);
        let mut is_over = true;
        for part in message.parts.all() {
            if let Some(text) = part.text.text().filter(|_| !part.thought.is_true()) {
                out(mark, Fact::Said(text.into()));
            }
            if let Some(call) = part.function_call.all().first() {
                is_over = false;
                self.call(mark, call, out);
            }
        }
        // An agent writes its answer in several records.
        if mark.agent.is_none() {
            out(mark, Fact::TurnOver(is_over));
        }
    }

    fn call(&mut self, mark: &RecordRef<'_>, given: &FunctionCall<'_>, out: &mut QwenFactSink<'_>) {
        let (Some(call), Some(name)) = (given.id.text(), given.name.text()) else { return };
        let (name, what) = tool::parse_call(name, given.args);
        if let Some(tool) = QwenTool::from_call(&what) {
            if self.open.len() >= OPEN_MAX {
                self.open.pop_first();
            }
            self.open.insert(hash(call.as_bytes()), tool);
        }
        out(mark, Fact::Called { call, tool: &name, what });
    }

    fn results(
        &mut self,
        mark: &RecordRef<'_>,
        line: &QwenRecord<'_>,
        message: &QwenMessage<'_>,
        out: &mut QwenFactSink<'_>,
    ) {
        out(mark, Fact::Kind("tool result"));
        let detail = line.tool_call_result.all().first();
        let parts = message.parts.all().iter();
        for given in parts.filter_map(|part| part.function_response.all().first()) {
            let Some(call) = given.id.text() else { continue };
            let tool = self.open.remove(&hash(call.as_bytes()));
            let text = given.response.all().first();
            let output = text.and_then(|text| text.output.text());
            let error = text.and_then(|text| text.error.text());
            let (outcome, detail) = tool::parse_result(tool, output, error, detail);
            out(mark, Fact::Returned { call, outcome, detail });
        }
    }
}

/// The role of a record. The client's notes are in the chain of records too.
fn role(kind: &str, line: &QwenRecord<'_>) -> RecordRole {
    match kind {
        _ if line.is_sidechain.is_true() => RecordRole::Aside,
        "user" if user_text::classify(line).is_prompt() => RecordRole::Prompt,
        "system" if line.subtype.text() == Some(COMPRESSION) => RecordRole::Boundary,
        _ => RecordRole::Turn,
    }
}

fn emit_identity(mark: &RecordRef<'_>, line: &QwenRecord<'_>, out: &mut QwenFactSink<'_>) {
    if line.session_id.text().or(line.cwd.text()).is_none() {
        return;
    }
    let model = line.model.text().filter(|_| mark.agent.is_none());
    let (session, cwd) = (line.session_id.text(), line.cwd.text());
    let (version, branch) = (line.version.text(), line.git_branch.text());
    let identity = Identity { session, cwd, version, branch, model, ..Identity::default() };
    out(mark, Fact::Identity(identity));
}

fn emit_user(mark: &RecordRef<'_>, line: &QwenRecord<'_>, out: &mut QwenFactSink<'_>) {
    let text = user_text::classify(line);
    out(mark, Fact::Kind(if mark.agent.is_some() { "agent" } else { text.kind() }));
    match text {
        QwenText::Asked(text) => out(mark, Fact::Asked(text)),
        QwenText::Skill { name, arguments } => {
            out(mark, Fact::Asked(format!("/{name} {arguments}").trim().to_owned().into()));
            out(mark, Fact::Skill { name: format!("/{name}").into(), arguments });
        }
        QwenText::Notice { id, outcome, report } => {
            out(mark, Fact::Dequeued { fate: DequeueReason::Notice, text: None });
            out(mark, Fact::Noticed);
            out(mark, Fact::Ended { id, outcome, report });
        }
        QwenText::Meta => {}
    }
}

fn emit_usage(mark: &RecordRef<'_>, line: &QwenRecord<'_>, out: &mut QwenFactSink<'_>) {
    let Some(tokens) = line.usage_metadata.all().first() else { return };
    let cached = tokens.cached.count();
    out(
        mark,
        Fact::Used(ResponseUsage {
            answer: line.uuid.text(),
            input: tokens.input.count().saturating_sub(cached),
            cached,
            output: tokens.output.count(),
            window: None,
        }),
    );
}

/// The subtype of a compaction.
const COMPRESSION: &str = "chat_compression";

fn emit_system(mark: &RecordRef<'_>, line: &QwenRecord<'_>, out: &mut QwenFactSink<'_>) {
    let payload = line.system_payload.all().first();
    match line.subtype.text() {
        Some(COMPRESSION) => {
            out(mark, Fact::Kind("compaction"));
            let info = payload.and_then(|payload| payload.info.all().first());
            let tokens = |count: &Scalar<'_>| count.integer().and_then(|n| u64::try_from(n).ok());
            let trigger = info.and_then(|info| info.trigger_reason.text()).map(Cow::from);
            let before = info.and_then(|info| tokens(&info.original_token_count));
            let after = info.and_then(|info| tokens(&info.new_token_count));
            let history = payload.and_then(|payload| payload.compressed_history.all().first());
            let summary = history.and_then(|message| message.parts.all().first()?.text.text());
            let summary = summary.map(Cow::from);
            out(mark, Fact::Compacted { trigger, before, after, summary });
        }
        Some("ui_telemetry") => {
            let event = payload.and_then(|payload| payload.ui_event.all().first());
            let failed = |event: &&UiEvent<'_>| {
                event.name.text().is_some_and(|name| name.ends_with(".api_error"))
            };
            let Some(event) = event.filter(failed) else { return out(mark, Fact::Kind("note")) };
            out(mark, Fact::Kind("API error"));
            let status = event.status_code.integer().and_then(|code| u64::try_from(code).ok());
            let text = event.error_message.text().unwrap_or_default();
            out(mark, Fact::ApiError { status, text: text.into() });
        }
        Some(_) | None => out(mark, Fact::Kind("note")),
    }
}
