//! Parses Claude Code tool calls and their results.

use crate::clients::lenient::{OneOrMany, Scalar};
use midstride_core::session::shell::{is_of_interest, tool_effect_action};
use midstride_core::session::{
    TaskUpdate, Todo, ToolDetail, ToolFileChange, ToolOutcome, ToolUse, hash,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Tools whose results say more than that the call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ClaudeTool {
    Command,
    /// A command whose output is of interest.
    Watched,
    /// A tool with an external effect.
    Outside,
    /// A file change by an agent.
    AgentChange,
    Agent,
    Task,
    Question,
    Plan,
}

impl ClaudeTool {
    pub(super) fn from_call(name: &str, what: &ToolUse<'_>) -> Option<Self> {
        Some(match name {
            "Bash" if matches!(what, ToolUse::Command(text) if is_of_interest(text)) => {
                Self::Watched
            }
            "Bash" => Self::Command,
            "Task" | "Agent" => Self::Agent,
            "TaskCreate" => Self::Task,
            "AskUserQuestion" => Self::Question,
            "ExitPlanMode" => Self::Plan,
            _ if matches!(what, ToolUse::External { .. }) => Self::Outside,
            _ => return None,
        })
    }
}

/// The inputs of all tools, in one struct.
#[derive(Deserialize, Default)]
#[serde(default)]
struct ClaudeToolInput<'a> {
    #[serde(borrow)]
    command: Scalar<'a>,
    #[serde(borrow)]
    file_path: Scalar<'a>,
    #[serde(borrow)]
    notebook_path: Scalar<'a>,
    #[serde(borrow)]
    content: Scalar<'a>,
    #[serde(borrow)]
    old_string: Scalar<'a>,
    #[serde(borrow)]
    new_string: Scalar<'a>,
    #[serde(borrow)]
    new_source: Scalar<'a>,
    #[serde(borrow)]
    edits: OneOrMany<'a, StringEdit<'a>>,
    #[serde(borrow)]
    subagent_type: Scalar<'a>,
    #[serde(borrow)]
    description: Scalar<'a>,
    #[serde(borrow)]
    prompt: Scalar<'a>,
    #[serde(borrow)]
    subject: Scalar<'a>,
    #[serde(borrow)]
    status: Scalar<'a>,
    #[serde(borrow, rename = "taskId")]
    task: Scalar<'a>,
    #[serde(borrow)]
    task_id: Scalar<'a>,
    #[serde(borrow, rename = "addBlockedBy")]
    blocked_by: Option<&'a RawValue>,
    #[serde(borrow, rename = "addBlocks")]
    blocks: Option<&'a RawValue>,
    #[serde(borrow)]
    owner: Scalar<'a>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    todos: OneOrMany<'a, ClaudeTodo<'a>>,
    #[serde(borrow)]
    plan: Scalar<'a>,
    #[serde(borrow)]
    skill: Scalar<'a>,
    #[serde(borrow)]
    args: Scalar<'a>,
}

/// The inputs of tools with an external effect.
#[derive(Deserialize, Default)]
#[serde(default)]
struct ExternalToolInput<'a> {
    #[serde(borrow)]
    title: Scalar<'a>,
    #[serde(borrow)]
    subject: Scalar<'a>,
    #[serde(borrow)]
    name: Scalar<'a>,
    #[serde(borrow)]
    body: Scalar<'a>,
    #[serde(borrow)]
    description: Scalar<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct StringEdit<'a> {
    #[serde(borrow)]
    old_string: Scalar<'a>,
    #[serde(borrow)]
    new_string: Scalar<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ClaudeTodo<'a> {
    #[serde(borrow)]
    content: Scalar<'a>,
    #[serde(borrow)]
    status: Scalar<'a>,
}

/// Returns what a tool call does.
pub(super) fn parse_call<'a>(name: &str, input: Option<&'a RawValue>) -> ToolUse<'a> {
    const OF_INTEREST: [&str; 15] = [
        "Bash",
        "Read",
        "NotebookRead",
        "Write",
        "Edit",
        "MultiEdit",
        "NotebookEdit",
        "Task",
        "Agent",
        "TaskCreate",
        "TaskUpdate",
        "TaskStop",
        "TodoWrite",
        "ExitPlanMode",
        "Skill",
    ];
    if name == "AskUserQuestion" {
        return ToolUse::Question;
    }
    if !OF_INTEREST.contains(&name) {
        return parse_external_call(name, input);
    }
    let input =
        input.and_then(|input| serde_json::from_str::<ClaudeToolInput<'_>>(input.get()).ok());
    let input = input.unwrap_or_default();
    match name {
        "Bash" => ToolUse::Command(input.command.into_text().unwrap_or_default()),
        "Read" | "NotebookRead" => {
            let path = input.file_path.into_text().or(input.notebook_path.into_text());
            path.map_or(ToolUse::Other, ToolUse::Read)
        }
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => parse_change(name, input),
        "Task" | "Agent" => ToolUse::Agent {
            kind: input.subagent_type.into_text(),
            about: input.description.into_text(),
            prompt: input.prompt.into_text(),
        },
        "TaskCreate" | "TaskUpdate" => ToolUse::Task(TaskUpdate {
            id: input.task.id(),
            subject: input.subject.into_text(),
            description: input.description.into_text(),
            status: input.status.into_text(),
            blocked_by: ids(input.blocked_by),
            blocks: ids(input.blocks),
            owner: input.owner.into_text(),
            metadata: metadata(input.metadata),
        }),
        "TaskStop" => input.task_id.id().map_or(ToolUse::Other, |id| ToolUse::AgentsEnd(vec![id])),
        "TodoWrite" => {
            let todos = input.todos.many().into_iter().filter_map(|entry| {
                let subject = entry.content.into_text()?;
                Some(Todo { subject, status: entry.status.into_text().unwrap_or_default() })
            });
            ToolUse::Todos(todos.collect())
        }
        "ExitPlanMode" => ToolUse::Plan(input.plan.into_text()),
        _ => {
            let name = input.skill.into_text().or(input.command.into_text()).unwrap_or_default();
            ToolUse::Skill { name, arguments: input.args.into_text().unwrap_or_default() }
        }
    }
}

fn parse_change<'a>(name: &str, input: ClaudeToolInput<'a>) -> ToolUse<'a> {
    let path = input.file_path.into_text().or(input.notebook_path.into_text());
    let Some(path) = path.map(Cow::into_owned) else { return ToolUse::Other };
    let text_hash = |text: &Scalar<'_>| hash(text.text().unwrap_or_default().as_bytes());
    let change = match name {
        "Write" => {
            let content = input
                .content
                .text()
                .map(|text| (hash(text.as_bytes()), u64::try_from(text.len()).unwrap_or_default()));
            ToolFileChange::Write { path, content }
        }
        "MultiEdit" => {
            let edits = input.edits.many();
            let parts = edits.iter().map(|e| (text_hash(&e.old_string), text_hash(&e.new_string)));
            ToolFileChange::Edit { path, parts: parts.collect() }
        }
        "NotebookEdit" => {
            ToolFileChange::Edit { path, parts: vec![(0, text_hash(&input.new_source))] }
        }
        _ => {
            let parts = vec![(text_hash(&input.old_string), text_hash(&input.new_string))];
            ToolFileChange::Edit { path, parts }
        }
    };
    ToolUse::Change(vec![change])
}

/// Parses the call of an MCP tool, which is of interest if it has an external effect.
fn parse_external_call<'a>(name: &str, input: Option<&'a RawValue>) -> ToolUse<'a> {
    let Some(action) = tool_effect_action(name) else { return ToolUse::Other };
    let given =
        input.and_then(|input| serde_json::from_str::<ExternalToolInput<'_>>(input.get()).ok());
    let given = given.unwrap_or_default();
    let title = given.title.into_text().or(given.subject.into_text()).or(given.name.into_text());
    let body = given.body.into_text().or(given.description.into_text());
    ToolUse::External { action: action.into(), title, body }
}

fn ids(list: Option<&RawValue>) -> Vec<Cow<'_, str>> {
    let ids = list.and_then(|list| serde_json::from_str::<Vec<Scalar<'_>>>(list.get()).ok());
    ids.unwrap_or_default().into_iter().filter_map(Scalar::id).collect()
}

/// Returns the metadata entries of a task.
fn metadata(map: Option<&RawValue>) -> Vec<(Cow<'_, str>, Option<Cow<'_, str>>)> {
    let map = map.and_then(|map| serde_json::from_str(map.get()).ok());
    TaskUpdate::entries(map.unwrap_or_default())
}

/// The fields of all results, in one struct.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ClaudeToolResult<'a> {
    #[serde(borrow)]
    task: OneOrMany<'a, CreatedTask<'a>>,
    #[serde(borrow)]
    agent_id: Scalar<'a>,
    #[serde(borrow)]
    status: Scalar<'a>,
    #[serde(borrow)]
    answers: Option<&'a RawValue>,
    #[serde(borrow)]
    plan: Scalar<'a>,
    #[serde(borrow)]
    file_path: Scalar<'a>,
    #[serde(borrow)]
    background_task_id: Scalar<'a>,
    #[serde(borrow)]
    interrupted: Scalar<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CreatedTask<'a> {
    #[serde(borrow)]
    id: Scalar<'a>,
}

/// Parses the result of a call that did not fail.
pub(super) fn parse_result(
    tool: Option<ClaudeTool>,
    result: Option<&RawValue>,
) -> (ToolOutcome<'_>, ToolDetail<'_>) {
    let (Some(tool), Some(raw)) = (tool, result) else {
        return (ToolOutcome::Succeeded, ToolDetail::None);
    };
    if matches!(tool, ClaudeTool::Command | ClaudeTool::Watched) && !has_end_marker(raw.get()) {
        return (ToolOutcome::Succeeded, ToolDetail::None);
    }
    let Ok(result) = serde_json::from_str::<OneOrMany<'_, ClaudeToolResult<'_>>>(raw.get()) else {
        return (ToolOutcome::Succeeded, ToolDetail::None);
    };
    let result = result.one().unwrap_or_default();
    match tool {
        ClaudeTool::Outside | ClaudeTool::AgentChange => (ToolOutcome::Succeeded, ToolDetail::None),
        ClaudeTool::Command | ClaudeTool::Watched => {
            match (result.background_task_id.id(), result.interrupted.is_true()) {
                (Some(id), _) => (ToolOutcome::Running, ToolDetail::Background(id)),
                (None, true) => (ToolOutcome::Interrupted, ToolDetail::None),
                (None, false) => (ToolOutcome::Succeeded, ToolDetail::None),
            }
        }
        ClaudeTool::Agent => {
            let status = result.status.text();
            let running = matches!(status, Some("async_launched" | "running" | "launched"));
            let detail =
                result.agent_id.id().map(|id| ToolDetail::Agent { id, running, report: None });
            (ToolOutcome::Succeeded, detail.unwrap_or_default())
        }
        ClaudeTool::Task => {
            let id = result.task.one().and_then(|task| task.id.id());
            (ToolOutcome::Succeeded, id.map(ToolDetail::Task).unwrap_or_default())
        }
        ClaudeTool::Question => {
            (ToolOutcome::Succeeded, ToolDetail::Answers(answers(result.answers)))
        }
        ClaudeTool::Plan => {
            let (path, text) = (result.file_path.into_text(), result.plan.into_text());
            (ToolOutcome::Succeeded, ToolDetail::Plan { path, text })
        }
    }
}

/// Whether the end of a command's result has one of the markers that matter. The output before them
/// may be long, so it is not searched.
fn has_end_marker(raw: &str) -> bool {
    const END: usize = 400;
    let end = &raw[raw.ceil_char_boundary(raw.len().saturating_sub(END))..];
    end.contains("\"backgroundTaskId\"")
        || end.contains("\"interrupted\":true")
        || end.contains("\"interrupted\": true")
}

fn answers(list: Option<&RawValue>) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    let Some(list) = list else { return Vec::new() };
    let pairs: Result<std::collections::BTreeMap<Cow<'_, str>, Scalar<'_>>, _> =
        serde_json::from_str(list.get());
    let pairs = pairs.unwrap_or_default().into_iter();
    pairs.filter_map(|(question, answer)| Some((question, answer.into_text()?))).collect()
}

const REJECTED: &str = "The user doesn't want to ";
const USER_SAID: &str = "the user said:\n";
/// How the client reports that a permission rule, or the lack of a user to ask, stopped a call.
const REFUSED: [&str; 6] = [
    "Claude requested permissions to ",
    "This command requires approval",
    "This Bash command contains multiple operations. The following part",
    "Permission to use ",
    "Permission for this ",
    "<tool_use_error>Blocked:",
];
const EXIT_CODE: &str = "Exit code ";

/// Returns why a call failed.
pub(super) fn parse_failure(text: Cow<'_, str>) -> ToolOutcome<'_> {
    let start = text.trim_start();
    if start.starts_with(REJECTED) {
        let said = text.split_once(USER_SAID).map(|(_, said)| said.trim().to_owned().into());
        return ToolOutcome::Rejected { said };
    }
    if REFUSED.iter().any(|refused| start.starts_with(refused)) {
        return ToolOutcome::Denied(text);
    }
    if start.starts_with("[Request interrupted by user") {
        return ToolOutcome::Interrupted;
    }
    let code = start.strip_prefix(EXIT_CODE).and_then(|rest| {
        rest.split(|c: char| !c.is_ascii_digit() && c != '-').next()?.parse().ok()
    });
    ToolOutcome::Failed { code, text }
}

/// Returns the text of a result: a string, or a list of blocks with texts.
pub(super) fn text_of(content: &RawValue) -> Cow<'_, str> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct ResultText<'a> {
        #[serde(borrow)]
        text: Scalar<'a>,
    }
    match serde_json::from_str::<OneOrMany<'_, ResultText<'_>>>(content.get()) {
        Ok(OneOrMany::Text(text)) => text,
        Ok(parts @ (OneOrMany::One(_) | OneOrMany::Many(_))) => {
            let texts = parts.many().into_iter().filter_map(|part| part.text.into_text());
            texts.collect::<Vec<_>>().join("\n").into()
        }
        Ok(OneOrMany::Nothing) | Err(_) => Cow::default(),
    }
}

/// Returns the report of an agent, without the client's note after it (its id and its cost).
pub(super) fn agent_report(content: &RawValue) -> Cow<'_, str> {
    let text = text_of(content);
    let Some(at) = text.rfind("\nagentId: ") else { return text };
    let mut rest = text[at..].lines().skip(2).skip_while(|line| line.is_empty());
    let is_note = rest.next().is_none_or(|line| line.starts_with("<usage>"));
    if is_note { text[..at].to_owned().into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_report_excludes_the_clients_note() {
        let note = "agentId: a1b2c3 (for resuming)\n<usage>total_tokens: 12</usage>";
        let blocks = serde_json::json!([
            {"type": "text", "text": "The lock is held.\nNothing else."},
            {"type": "text", "text": note},
        ]);
        let raw = serde_json::value::to_raw_value(&blocks).unwrap();
        assert_eq!(agent_report(&raw), "The lock is held.\nNothing else.");
        let own = "The records look like this:\nagentId: a1b2\nstate: lost";
        let raw = serde_json::value::to_raw_value(own).unwrap();
        assert_eq!(agent_report(&raw), own);
    }

    #[test]
    fn a_call_that_a_rule_refused_is_denied_not_failed() {
        for text in [
            "This command requires approval",
            "Claude requested permissions to write to x, but you haven't granted it yet.",
            "Permission to use Bash with command rm has been denied.",
            "<tool_use_error>Blocked: standalone sleep 65.</tool_use_error>",
        ] {
            assert!(matches!(parse_failure(text.into()), ToolOutcome::Denied(_)), "{text}");
        }
        let failure = parse_failure("Exit code 2\nThis command requires approval".into());
        assert!(matches!(failure, ToolOutcome::Failed { code: Some(2), .. }));
    }
}
