//! Renders the tokens that midstride adds to a session: for setup and the doctor, from the same
//! numbers.

use midstride::clients::Client;
use midstride::clients::install::ClientProgram;
use midstride_core::brief::BriefOccasion;

/// The tokens that midstride adds to a session before anything is done with it.
#[derive(Clone, Copy, Debug)]
pub struct SessionCost {
    /// The list of MCP tools, with their descriptions and parameters.
    pub tool_list: u64,
    /// The names of the tools, and what the server and the skills say about themselves.
    pub tool_names: u64,
}

impl SessionCost {
    /// The maximum size of the briefings.
    pub(super) fn briefing_text() -> String {
        let [start, compaction] = [BriefOccasion::Startup, BriefOccasion::Compact]
            .map(|occasion| number(occasion.tokens_max()));
        format!(
            "a briefing of up to {start} tokens per new session ({compaction} after a compaction)"
        )
    }

    pub(super) fn names_text(self) -> String {
        format!("{} tokens for the names of tools and skills", number(self.tool_names))
    }

    /// The size of the list, and when each client sends it.
    pub(super) fn list_text(self, clients: &[FoundClient<'_>]) -> String {
        let titles = |is_at_start: bool| {
            let some = clients.iter().filter(|found| found.sends_tool_list() == is_at_start);
            some.map(|found| found.client.title()).collect::<Vec<_>>().join(" and ")
        };
        let times = [("in each session of", titles(true)), ("on first use in", titles(false))];
        let times = times.into_iter().filter(|(_, titles)| !titles.is_empty());
        let times: Vec<String> = times.map(|(when, titles)| format!("{when} {titles}")).collect();
        format!("{} tokens for the list of MCP tools: {}", number(self.tool_list), times.join(", "))
    }
}

/// A client, and its program if it is on the PATH.
#[derive(Clone, Copy)]
pub(super) struct FoundClient<'p> {
    client: &'static dyn Client,
    program: Option<&'p ClientProgram>,
}

impl<'p> FoundClient<'p> {
    pub(super) fn new(client: &'static dyn Client, program: Option<&'p ClientProgram>) -> Self {
        Self { client, program }
    }

    /// Whether it sends the list of tools with each session.
    fn sends_tool_list(self) -> bool {
        let since = self.client.profile().loads_tools_on_use_since;
        since.is_none_or(|since| {
            self.program.and_then(|program| program.is_older_than(since)).unwrap_or(false)
        })
    }
}

/// A number with a comma between thousands.
fn number(value: u64) -> String {
    match (value / 1_000, value % 1_000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    }
}
