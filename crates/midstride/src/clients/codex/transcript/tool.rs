//! Parses Codex tool calls and their outputs.

use super::patch;
use crate::clients::lenient::{OneOrMany, Scalar};
use midstride_core::session::shell::tool_effect_action;
use midstride_core::session::{Todo, ToolDetail, ToolOutcome, ToolUse};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The arguments of all functions, in one struct.
#[derive(Deserialize, Default)]
#[serde(default)]
struct CodexArguments<'a> {
    #[serde(borrow)]
    cmd: Option<&'a RawValue>,
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Scalar<'a>,
    #[serde(borrow)]
    patch: Scalar<'a>,
    #[serde(borrow)]
    path: Scalar<'a>,
    #[serde(borrow)]
    plan: OneOrMany<'a, CodexPlanStep<'a>>,
    #[serde(borrow)]
    agent_type: Scalar<'a>,
    #[serde(borrow)]
    title: Scalar<'a>,
    #[serde(borrow)]
    body: Scalar<'a>,
    #[serde(borrow)]
    message: Scalar<'a>,
    #[serde(borrow)]
    task_name: Scalar<'a>,
    #[serde(borrow)]
    targets: Option<&'a RawValue>,
    #[serde(borrow)]
    ids: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Scalar<'a>,
    #[serde(borrow)]
    target: Scalar<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CodexPlanStep<'a> {
    #[serde(borrow)]
    step: Scalar<'a>,
    #[serde(borrow)]
    status: Scalar<'a>,
}

/// Functions that run a command, across versions.
pub(super) const SHELLS: [&str; 6] =
    ["exec_command", "shell", "shell_command", "container.exec", "bash", "local_shell"];

/// Returns what a function call does.
pub(super) fn parse_call<'a>(
    name: &str,
    arguments: Option<&'a str>,
    input: Option<&'a str>,
    action: Option<&'a RawValue>,
    cwd: &str,
) -> ToolUse<'a> {
    let given = arguments.or(action.map(RawValue::get)).unwrap_or("{}");
    let given: CodexArguments<'a> = serde_json::from_str(given).unwrap_or_default();
    match name {
        shell if SHELLS.contains(&shell) => {
            let words = given.cmd.or(given.command);
            if let Some(text) = patch_inside(words) {
                return ToolUse::Change(patch::parse_patch(&text, cwd));
            }
            ToolUse::Command(command_of(words).unwrap_or_default())
        }
        "apply_patch" => {
            let text = input.or(given.input.text()).or(given.patch.text()).unwrap_or_default();
            ToolUse::Change(patch::parse_patch(text, cwd))
        }
        "update_plan" => {
            let steps = given.plan.many().into_iter().filter_map(|step| {
                let status = step.status.into_text().unwrap_or_default();
                Some(Todo { subject: step.step.into_text()?, status })
            });
            ToolUse::Todos(steps.collect())
        }
        "spawn_agent" => ToolUse::Agent {
            kind: given.agent_type.into_text(),
            about: given.task_name.into_text(),
            prompt: given.message.into_text(),
        },
        "wait_agent" | "wait" | "close_agent" => {
            let list = given.targets.or(given.ids).map_or("[]", RawValue::get);
            let list: Vec<Scalar<'a>> = serde_json::from_str(list).unwrap_or_default();
            let one = given.id.id().or(given.target.id());
            ToolUse::AgentsEnd(list.into_iter().filter_map(Scalar::id).chain(one).collect())
        }
        "request_user_input" => ToolUse::Question,
        "view_image" => given.path.into_text().map_or(ToolUse::Other, ToolUse::Read),
        name => match tool_effect_action(name) {
            Some(action) => ToolUse::External {
                action: action.into(),
                title: given.title.into_text(),
                body: given.body.into_text(),
            },
            None => ToolUse::Other,
        },
    }
}

/// Returns the words of a command, if it is a list.
fn words_of(raw: Option<&RawValue>) -> Option<Vec<Cow<'_, str>>> {
    let words: Vec<Scalar<'_>> = serde_json::from_str(raw?.get()).ok()?;
    Some(words.into_iter().filter_map(Scalar::into_text).collect())
}

fn patch_inside(raw: Option<&RawValue>) -> Option<String> {
    match words_of(raw)?.as_slice() {
        [program, text] if program == "apply_patch" => Some(text.clone().into_owned()),
        _ => None,
    }
}

/// Returns a command as a user would type it: the script passed to a shell, or the words.
pub(super) fn command_of(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    if let Ok(text) = serde_json::from_str::<Scalar<'_>>(raw?.get())
        && let Some(text) = text.into_text()
    {
        return Some(text);
    }
    let words = words_of(raw)?;
    if let [shell, option, script] = words.as_slice()
        && option.starts_with('-')
        && option.ends_with('c')
        && shell.ends_with("sh")
    {
        return Some(script.clone());
    }
    Some(words.join(" ").into())
}

/// The fields of all outputs, in one struct.
#[derive(Deserialize, Default)]
#[serde(default)]
struct CodexOutput<'a> {
    #[serde(borrow)]
    output: Scalar<'a>,
    #[serde(borrow)]
    content: Scalar<'a>,
    #[serde(borrow)]
    text: Scalar<'a>,
    #[serde(borrow)]
    metadata: OneOrMany<'a, CodexOutputMetadata<'a>>,
    #[serde(borrow)]
    agent_id: Scalar<'a>,
    #[serde(borrow)]
    timed_out: Scalar<'a>,
    #[serde(borrow)]
    answers: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CodexOutputMetadata<'a> {
    #[serde(borrow)]
    exit_code: Scalar<'a>,
}

/// Returns the text of an output: a string, a map with one, or a list of them.
pub(super) fn text_of(raw: &RawValue) -> Cow<'_, str> {
    match serde_json::from_str::<OneOrMany<'_, CodexOutput<'_>>>(raw.get()) {
        Ok(OneOrMany::Text(text)) => text,
        Ok(parts @ (OneOrMany::One(_) | OneOrMany::Many(_))) => {
            let texts = parts.many().into_iter().filter_map(|part| {
                part.text.into_text().or(part.content.into_text()).or(part.output.into_text())
            });
            texts.collect::<Vec<_>>().join("\n").into()
        }
        Ok(OneOrMany::Nothing) | Err(_) => Cow::default(),
    }
}

/// Parses the outcome of a call from its output.
pub(super) fn parse_result(text: &str) -> (ToolOutcome<'_>, ToolDetail<'_>) {
    match outcome_of(text) {
        (ToolOutcome::Succeeded, ToolDetail::None) => {
            (ToolOutcome::Succeeded, ToolDetail::Output(command_output(text)))
        }
        other => other,
    }
}

/// Returns what a command printed, without what the client puts before it.
fn command_output(text: &str) -> Cow<'_, str> {
    if text.starts_with('{')
        && let Ok(OneOrMany::One(read)) =
            serde_json::from_str::<OneOrMany<'_, CodexOutput<'_>>>(text)
        && let Some(output) = read.output.into_text()
    {
        return output;
    }
    let head = &text[..text.floor_char_boundary(400.min(text.len()))];
    match head.find("\nOutput:\n") {
        Some(at) => text[at + "\nOutput:\n".len()..].into(),
        None => text.into(),
    }
}

fn outcome_of(text: &str) -> (ToolOutcome<'_>, ToolDetail<'_>) {
    if text.starts_with('{')
        && let Ok(OneOrMany::One(read)) =
            serde_json::from_str::<OneOrMany<'_, CodexOutput<'_>>>(text)
    {
        return read_output(text, *read);
    }
    let head = &text[..text.floor_char_boundary(400.min(text.len()))];
    let code = ["Process exited with code ", "Exit code: ", "exit code: "]
        .iter()
        .find_map(|mark| head.split_once(mark))
        .and_then(|(_, rest)| {
            rest.split(|c: char| !c.is_ascii_digit() && c != '-').next()?.parse::<i64>().ok()
        });
    let lower = head.to_lowercase();
    let outcome = match code {
        Some(0) => ToolOutcome::Succeeded,
        Some(code) => ToolOutcome::Failed { code: Some(code), text: text.into() },
        None if lower.contains("process running with session id") => ToolOutcome::Running,
        None if lower.contains("rejected by user") => ToolOutcome::Rejected { said: None },
        None if lower.starts_with("aborted by user") => ToolOutcome::Interrupted,
        None if FAILED.iter().any(|mark| lower.starts_with(mark)) => {
            ToolOutcome::Failed { code: None, text: text.into() }
        }
        None => ToolOutcome::Succeeded,
    };
    (outcome, ToolDetail::None)
}

/// Returns the number under which a command keeps running.
pub(super) fn running_session(text: &str) -> Option<String> {
    const MARK: &str = "running with session ID ";
    let head = &text[..text.floor_char_boundary(400.min(text.len()))];
    let (_, rest) = head.split_once(MARK)?;
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (!number.is_empty()).then_some(number)
}

/// Returns the number of the command whose output a call polls.
pub(super) fn polled_session(arguments: &str) -> Option<String> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct PollArguments<'a> {
        #[serde(borrow)]
        session_id: Scalar<'a>,
    }
    let asked: PollArguments<'_> = serde_json::from_str(arguments).ok()?;
    asked.session_id.id().map(Cow::into_owned)
}

/// How outputs begin that report a failure without a code.
const FAILED: [&str; 8] = [
    "exec_command failed",
    "execution error",
    "apply_patch verification failed",
    "failed to ",
    "error:",
    "unsupported call",
    "command timed out",
    "tool call failed",
];

fn read_output<'t>(text: &'t str, read: CodexOutput<'t>) -> (ToolOutcome<'t>, ToolDetail<'t>) {
    if let Some(id) = read.agent_id.id() {
        return (ToolOutcome::Succeeded, ToolDetail::Agent { id, running: true, report: None });
    }
    if let Some(answers) = read.answers {
        return (ToolOutcome::Succeeded, ToolDetail::Answers(answers_of(answers)));
    }
    if read.timed_out.is_true() {
        return (ToolOutcome::Interrupted, ToolDetail::None);
    }
    let code = read.metadata.one().and_then(|metadata| metadata.exit_code.integer());
    let outcome = match code {
        None | Some(0) => ToolOutcome::Succeeded,
        code @ Some(_) => {
            let text = read.output.into_text().unwrap_or(text.into());
            ToolOutcome::Failed { code, text }
        }
    };
    (outcome, ToolDetail::None)
}

fn answers_of(raw: &RawValue) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct GivenAnswers<'a> {
        #[serde(borrow)]
        answers: Option<&'a RawValue>,
    }
    let read: Result<BTreeMap<Cow<'_, str>, OneOrMany<'_, GivenAnswers<'_>>>, _> =
        serde_json::from_str(raw.get());
    let answer = |given: OneOrMany<'_, GivenAnswers<'_>>| match given {
        OneOrMany::Text(text) => text.into_owned(),
        given @ (OneOrMany::One(_) | OneOrMany::Many(_) | OneOrMany::Nothing) => {
            let lists = given.all().iter().filter_map(|given| words_of(given.answers));
            lists.flatten().collect::<Vec<_>>().join(", ")
        }
    };
    let pairs = read.unwrap_or_default().into_iter();
    pairs.map(|(question, given)| (question, answer(given).into())).collect()
}
