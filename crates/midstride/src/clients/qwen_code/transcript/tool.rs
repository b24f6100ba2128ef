//! Parses Qwen Code tool calls and their results.

use crate::clients::lenient::{OneOrMany, Scalar};
use midstride_core::session::shell::tool_effect_action;
use midstride_core::session::{Todo, ToolDetail, ToolFileChange, ToolOutcome, ToolUse, hash};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Tools whose results say more than that the call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum QwenTool {
    Command,
    Agent,
    /// A tool with an external effect.
    Outside,
}

impl QwenTool {
    pub(super) fn from_call(what: &ToolUse<'_>) -> Option<Self> {
        match what {
            ToolUse::Command(_) => Some(Self::Command),
            ToolUse::Agent { .. } => Some(Self::Agent),
            ToolUse::External { .. } => Some(Self::Outside),
            ToolUse::Read(_)
            | ToolUse::Change(_)
            | ToolUse::Task(_)
            | ToolUse::Todos(_)
            | ToolUse::AgentsEnd(_)
            | ToolUse::Question
            | ToolUse::Plan(_)
            | ToolUse::Skill { .. }
            | ToolUse::Other => None,
        }
    }
}

/// The arguments of all tools, in one struct.
#[derive(Deserialize, Default)]
#[serde(default)]
struct QwenArguments<'a> {
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
    subagent_type: Scalar<'a>,
    #[serde(borrow)]
    description: Scalar<'a>,
    #[serde(borrow)]
    prompt: Scalar<'a>,
    #[serde(borrow)]
    task_id: Scalar<'a>,
    #[serde(borrow)]
    todos: OneOrMany<'a, QwenTodo<'a>>,
    #[serde(borrow)]
    skill: Scalar<'a>,
    #[serde(borrow)]
    name: Scalar<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    title: Scalar<'a>,
    #[serde(borrow)]
    body: Scalar<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct QwenTodo<'a> {
    #[serde(borrow)]
    content: Scalar<'a>,
    #[serde(borrow)]
    status: Scalar<'a>,
}

fn arguments(args: Option<&RawValue>) -> QwenArguments<'_> {
    args.and_then(|args| serde_json::from_str(args.get()).ok()).unwrap_or_default()
}

/// Returns the tool of a call, and what the call does. Tools of MCP servers may be called through
/// `tool_call`.
pub(super) fn parse_call<'a>(
    name: &'a str,
    args: Option<&'a RawValue>,
) -> (Cow<'a, str>, ToolUse<'a>) {
    let given = arguments(args);
    match (name, given.name.text()) {
        ("tool_call", Some(inner)) => {
            let what = external_call(inner, arguments(given.arguments));
            (inner.to_owned().into(), what)
        }
        _ => (name.into(), own_call(name, given)),
    }
}

fn own_call<'a>(name: &str, given: QwenArguments<'a>) -> ToolUse<'a> {
    match name {
        "run_shell_command" => ToolUse::Command(given.command.into_text().unwrap_or_default()),
        "read_file" => given.file_path.into_text().map_or(ToolUse::Other, ToolUse::Read),
        "write_file" | "edit" | "notebook_edit" => parse_change(name, &given),
        "agent" => ToolUse::Agent {
            kind: given.subagent_type.into_text(),
            about: given.description.into_text(),
            prompt: given.prompt.into_text(),
        },
        "task_stop" => given.task_id.id().map_or(ToolUse::Other, |id| ToolUse::AgentsEnd(vec![id])),
        "todo_write" => {
            let todos = given.todos.many().into_iter().filter_map(|entry| {
                let subject = entry.content.into_text()?;
                Some(Todo { subject, status: entry.status.into_text().unwrap_or_default() })
            });
            ToolUse::Todos(todos.collect())
        }
        "skill" => {
            let name = given.skill.into_text().unwrap_or_default();
            ToolUse::Skill { name, arguments: Cow::default() }
        }
        "ask_user_question" => ToolUse::Question,
        other => external_call(other, given),
    }
}

/// The call of an MCP tool, which is of interest if it has an external effect.
fn external_call<'a>(name: &str, given: QwenArguments<'a>) -> ToolUse<'a> {
    match tool_effect_action(name) {
        Some(action) => ToolUse::External {
            action: action.into(),
            title: given.title.into_text(),
            body: given.body.into_text().or(given.description.into_text()),
        },
        None => ToolUse::Other,
    }
}

fn parse_change<'a>(name: &str, given: &QwenArguments<'_>) -> ToolUse<'a> {
    let path = given.file_path.text().or(given.notebook_path.text());
    let Some(path) = path.map(str::to_owned) else { return ToolUse::Other };
    let text_hash = |text: &Scalar<'_>| hash(text.text().unwrap_or_default().as_bytes());
    let length = |text: &str| u64::try_from(text.len()).unwrap_or_default();
    let change = match name {
        "write_file" => {
            let content = given.content.text();
            let content = content.map(|text| (hash(text.as_bytes()), length(text)));
            ToolFileChange::Write { path, content }
        }
        "notebook_edit" => {
            ToolFileChange::Edit { path, parts: vec![(0, text_hash(&given.new_source))] }
        }
        _ => {
            let parts = vec![(text_hash(&given.old_string), text_hash(&given.new_string))];
            ToolFileChange::Edit { path, parts }
        }
    };
    ToolUse::Change(vec![change])
}

/// How the client itself records a result. Agents' transcripts have less of it.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct QwenToolResult<'a> {
    #[serde(borrow)]
    status: Scalar<'a>,
    #[serde(borrow)]
    error_type: Scalar<'a>,
    #[serde(borrow)]
    result_display: OneOrMany<'a, ResultDisplay<'a>>,
}

/// What the client shows of a result: of a command, or of an agent.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ResultDisplay<'a> {
    #[serde(borrow)]
    exit_code: Scalar<'a>,
    #[serde(borrow)]
    output: Scalar<'a>,
    #[serde(borrow)]
    status: Scalar<'a>,
}

/// How a call fails that a permission rule, or the lack of a user to ask, stopped.
const DENIED: &str = "execution_denied";
/// How such a failure starts in an agent's transcript, which does not name its kind.
const DENIED_TEXT: &str = "Qwen Code requires permission to use ";

/// Parses a result: its texts for the model, and how the client records it.
pub(super) fn parse_result<'r>(
    tool: Option<QwenTool>,
    output: Option<&'r str>,
    error: Option<&'r str>,
    detail: Option<&'r QwenToolResult<'_>>,
) -> (ToolOutcome<'r>, ToolDetail<'r>) {
    let display = detail.and_then(|detail| detail.result_display.all().first());
    let is_status = |status: &str| detail.is_some_and(|one| one.status.text() == Some(status));
    if is_status("cancelled") {
        return (ToolOutcome::Interrupted, ToolDetail::None);
    }
    if error.is_some() || is_status("error") {
        let text = error.or(output).unwrap_or_default();
        let named = detail.and_then(|detail| detail.error_type.text());
        return (parse_failure(text, named, display), ToolDetail::None);
    }
    let output = output.unwrap_or_default();
    match tool {
        Some(QwenTool::Command) => command_result(output, display),
        Some(QwenTool::Agent) => (ToolOutcome::Succeeded, agent_detail(output, display)),
        Some(QwenTool::Outside) => (ToolOutcome::Succeeded, ToolDetail::Output(output.into())),
        None => (ToolOutcome::Succeeded, ToolDetail::None),
    }
}

fn parse_failure<'r>(
    text: &'r str,
    error_type: Option<&str>,
    display: Option<&'r ResultDisplay<'_>>,
) -> ToolOutcome<'r> {
    if error_type == Some(DENIED) || text.starts_with(DENIED_TEXT) {
        return ToolOutcome::Denied(text.into());
    }
    let code = display.and_then(|display| display.exit_code.integer());
    let code = code.or_else(|| exit_code(text));
    let output = display.and_then(|display| display.output.text());
    ToolOutcome::Failed { code, text: output.unwrap_or_else(|| printed(text)).into() }
}

fn command_result<'r>(
    output: &'r str,
    display: Option<&'r ResultDisplay<'_>>,
) -> (ToolOutcome<'r>, ToolDetail<'r>) {
    const BACKGROUND: &str = "Background shell started.\nid: ";
    if let Some(rest) = output.strip_prefix(BACKGROUND) {
        let id = rest.lines().next().unwrap_or_default();
        return (ToolOutcome::Running, ToolDetail::Background(id.into()));
    }
    let text = display.and_then(|display| display.output.text());
    (ToolOutcome::Succeeded, ToolDetail::Output(text.unwrap_or_else(|| printed(output)).into()))
}

/// The end of what a command printed, in the text for the model.
const AFTER_OUTPUT: &str = "\nError: ";
const EXIT_CODE: &str = "\nExit Code: ";

/// Returns what a command printed, without what the client puts around it.
fn printed(text: &str) -> &str {
    let Some((_, rest)) = text.split_once("\nOutput: ") else { return text };
    let rest = rest.rfind(AFTER_OUTPUT).map_or(rest, |at| &rest[..at]);
    if rest == "(empty)" { "" } else { rest }
}

fn exit_code(text: &str) -> Option<i64> {
    let at = text.rfind(EXIT_CODE)?;
    text[at + EXIT_CODE.len()..].lines().next()?.trim().parse().ok()
}

fn agent_detail<'r>(output: &'r str, display: Option<&'r ResultDisplay<'_>>) -> ToolDetail<'r> {
    const ID: &str = "\ntask_id: ";
    let running = display.is_some_and(|display| display.status.text() == Some("background"));
    let id = output.split_once(ID).filter(|_| running).map(|(_, rest)| rest);
    let id = id.and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
    // An agent in the foreground has no id in its result, which is its report.
    let report = (!running).then(|| output.into());
    ToolDetail::Agent { id: id.into(), running, report }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: &str = "Command: make\nDirectory: (root)\nOutput: out\nno\nError: (none)\nExit Code: 3\nSignal: (none)\nProcess Group PGID: (none)";

    #[test]
    fn a_command_result_without_details_is_read_from_its_text() {
        let (outcome, _) = parse_result(Some(QwenTool::Command), None, Some(FAILED), None);
        assert!(
            matches!(&outcome, ToolOutcome::Failed { code: Some(3), text } if text == "out\nno"),
            "{outcome:?}"
        );
        let passed =
            "Command: true\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 0";
        let (outcome, detail) = parse_result(Some(QwenTool::Command), Some(passed), None, None);
        assert!(matches!(outcome, ToolOutcome::Succeeded), "{outcome:?}");
        assert!(matches!(&detail, ToolDetail::Output(text) if text.is_empty()), "{detail:?}");
    }

    #[test]
    fn a_call_without_permission_is_denied_not_failed() {
        let text =
            "Qwen Code requires permission to use \"edit\", but that permission was declined.";
        assert!(matches!(parse_failure(text, None, None), ToolOutcome::Denied(_)));
        assert!(matches!(parse_failure("no", Some(DENIED), None), ToolOutcome::Denied(_)));
        assert!(matches!(parse_failure("no", None, None), ToolOutcome::Failed { code: None, .. }));
    }

    #[test]
    fn a_deferred_tool_is_named_not_its_wrapper() {
        let args = r#"{"name":"mcp__github__create_issue","arguments":{"title":"It leaks"}}"#;
        let args = RawValue::from_string(args.to_owned()).unwrap();
        let (name, what) = parse_call("tool_call", Some(&args));
        assert_eq!(name, "mcp__github__create_issue");
        assert!(
            matches!(&what, ToolUse::External { title: Some(title), .. } if title == "It leaks")
        );
    }
}
