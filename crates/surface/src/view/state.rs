//! Renders workflow states: a single one, and the list of all.

use super::{count, sanitize};
use crate::json::{JsonAnswer, JsonItem, JsonList};
use midstride::verbs::LoadedState;
use midstride_core::text::id::SessionId;
use midstride_core::text::time;
use midstride_core::work::workflow::WorkflowState;
use serde::Serialize;
use serde_json::Value;

/// A saved workflow state, without its content.
#[derive(Serialize)]
pub struct WorkflowStateJson {
    name: String,
    states: usize,
    saved: String,
    by: String,
    bytes: u64,
    session: Option<SessionId>,
}

impl JsonItem for WorkflowStateJson {
    const LIST_SCHEMA: &'static str = "states/1";
}

/// A saved workflow state with its content.
#[derive(Serialize)]
pub struct LoadedStateJson<'s> {
    #[serde(flatten)]
    kept: WorkflowStateJson,
    number: usize,
    state: &'s Value,
}

impl JsonAnswer for LoadedStateJson<'_> {
    const SCHEMA: &'static str = "state/1";
}

fn workflow_state_json(state: &WorkflowState, states: usize) -> WorkflowStateJson {
    WorkflowStateJson {
        name: state.name.clone(),
        states,
        saved: time::format_time(state.at),
        by: state.by.clone(),
        bytes: state.bytes,
        session: state.session.as_ref().map(|(_, session)| session.clone()),
    }
}

/// The JSON for the newest state of each workflow and how many states it has.
pub fn list_json(states: &[(WorkflowState, usize)]) -> JsonList<WorkflowStateJson> {
    states.iter().map(|(state, count)| workflow_state_json(state, *count)).collect()
}

/// `release  3 states, saved 2026-03-21T17:24:00Z by claude-code`
pub fn list(states: &[(WorkflowState, usize)]) -> String {
    if states.is_empty() {
        return "No workflow state is saved. Agents save states with the `state_save` MCP tool.\n"
            .to_owned();
    }
    let line = |(state, number): &(WorkflowState, usize)| {
        let (name, by) = (sanitize(&state.name), sanitize(&state.by));
        format!(
            "{name}  {}, saved {} by {by}\n",
            count(*number, "state"),
            time::format_time(state.at)
        )
    };
    states.iter().map(line).collect()
}

/// The JSON for a loaded state; `None` if its number is out of range.
pub fn json(loaded: &LoadedState) -> Option<LoadedStateJson<'_>> {
    let state = loaded.history.get(loaded.number.checked_sub(1)?)?;
    let kept = workflow_state_json(state, loaded.history.len());
    Some(LoadedStateJson { kept, number: loaded.number, state: &loaded.state })
}

/// The content of a loaded state, as indented JSON.
pub fn text(loaded: &LoadedState) -> String {
    let pretty = serde_json::to_string_pretty(&loaded.state).unwrap_or_default();
    let lines = pretty.lines().map(|line| sanitize(line) + "\n");
    lines.collect()
}
