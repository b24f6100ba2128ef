//! The MCP server, which offers midstride's verbs to agents as tools over standard input and
//! output.
//!
//! Each line is one message, and messages are answered in order. No rule lives here: a tool parses
//! its arguments, calls a verb and renders the result. `docs/decisions/0010-mcp.md` explains why
//! the protocol is implemented by hand.

mod arguments;
mod caller;
mod era;
mod line;
mod message;
mod prompts;
mod reply;
mod resources;
mod roots;
mod server;
mod tools;
mod uri;

use crate::ui::{CliOutcome, Ui};
use line::InputLineReader;
use midstride::clients::skill_headers;
use midstride::sys::env::Environment;
use midstride_core::text::tokens::estimate;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::session_cost::SessionCost;
use serde_json::{Value, json};
use server::McpServer;

/// Serve an agent over standard input and output (MCP)
///
/// Clients start this command after `midstride client add`. Serves tools (brief, save, revise, get,
/// search, check, answer, resolve, tasks, workflow states), handoffs as resources, and prompts.
/// Exits at the end of its input.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride mcp < requests.jsonl")]
pub(crate) struct McpArgs {}

/// The estimated number of tokens that the server and the skills add to a session's context.
pub(crate) fn session_cost() -> SessionCost {
    let list = json!({ "tools": tools::list() });
    let names = list["tools"].as_array().into_iter().flatten().map(|tool| &tool["name"]);
    let names = names.filter_map(Value::as_str).map(|name| format!("mcp__midstride__{name}\n"));
    let skills = skill_headers().map(|(name, description)| format!("{name}: {description}\n"));
    let names: String = names.chain(skills).collect();
    SessionCost {
        tool_list: estimate(&list.to_string()),
        tool_names: estimate(&names) + estimate(server::INSTRUCTIONS),
    }
}

pub(crate) fn mcp(environment: Environment) -> Result<CliOutcome, Diagnostic> {
    let mut server = McpServer::new(environment);
    let mut lines = InputLineReader::new(std::io::stdin().lock());
    while let Some(line) = lines.next_line()? {
        for message in server.handle_line(line) {
            Ui::write_bytes(format!("{message}\n").as_bytes())?;
        }
    }
    Ok(CliOutcome::Clean)
}
