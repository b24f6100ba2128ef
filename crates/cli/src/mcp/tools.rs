//! Tools, one file each: what it is called, what it takes, and the verb that it calls.

mod answer;
mod brief;
mod check;
mod get;
mod resolve;
mod revise;
mod save;
mod search;
mod state_load;
mod state_save;
mod state_update;
mod tasks;

use super::arguments::{Arguments, Kind, Parameter, schema};
use super::caller::{self, Caller};
use super::reply::Reply;
use crate::diagnostic::Diagnostic;
use midstride::journal::Recorded;
use midstride::workspace::project::{Project, Shelved};
use serde_json::{Value, json};

/// A tool.
pub(super) struct Tool {
    pub(super) name: &'static str,
    says: &'static str,
    /// Whether it changes nothing but receipts.
    only_reads: bool,
    pub(super) parameters: &'static [Parameter],
    pub(super) call: fn(&Caller, &Arguments) -> Result<Reply, Diagnostic>,
}

/// All of them.
pub(super) const ALL: [Tool; 12] = [
    brief::TOOL,
    save::TOOL,
    revise::TOOL,
    get::TOOL,
    search::TOOL,
    check::TOOL,
    answer::TOOL,
    resolve::TOOL,
    tasks::TOOL,
    state_save::TOOL,
    state_load::TOOL,
    state_update::TOOL,
];

/// The handoff that is meant.
const HANDOFF: Parameter = Parameter::needed("handoff", Kind::Text, "Its id");
/// Where the next page begins.
const OFFSET: Parameter = Parameter::new("offset", Kind::Number, "As the page before says");

/// What a client is told of them.
pub(super) fn list() -> Vec<Value> {
    ALL.iter().map(told).collect()
}

fn told(tool: &Tool) -> Value {
    let mut told = json!({
        "name": tool.name,
        "description": tool.says,
        "inputSchema": schema(tool.parameters),
    });
    // Clients take for granted that a tool changes things.
    if tool.only_reads {
        told["annotations"] = json!({"readOnlyHint": true});
    }
    told
}

/// The handoff that was named, to be changed.
fn handoff(project: &Project, arguments: &Arguments) -> Result<Shelved, Diagnostic> {
    caller::find_to_change(project, arguments.needed("handoff"))
}

/// Says what was recorded, and what was not written.
fn recorded(project: &Project, shelved: &Shelved, recorded: &Recorded, reason: &str) -> Reply {
    let key = shelved.handoff(project).key();
    let reason = project.clean(reason).0;
    let reply = Reply::says(format!("{key}@{}: {}", recorded.revision, reason.as_str()));
    let reply = match recorded.outside {
        true => reply.and("An edit made outside midstride was kept as a revision of its own."),
        false => reply,
    };
    let reply = match &recorded.untold {
        Some(why) => reply.and(format!("It is written; the ledger is told later: {why}")),
        None => reply,
    };
    reply.without(&recorded.redacted)
}
