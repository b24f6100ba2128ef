//! Client hooks: the events that a client reports during a session and the answers it gets.
//! The surface handles each client's wire format.

mod compaction;
mod reminder;

pub use compaction::{
    items_missing_from_text, missing_from_texts, required_in_summary, without_agent_statements,
    without_summary,
};
pub use reminder::{
    HandoffCompleteness, SaveReason, reminder_reason, reminder_text, save_reason, stop_block_reason,
};

use crate::brief::BriefOccasion;
use crate::text::id::ClientName;
use crate::text::id::SessionId;

/// Maximum UTF-16 units of one text. Claude Code writes longer texts to a file instead.
const UTF16_UNITS_MAX: usize = 10_000;
/// Maximum number of times in a row that a session is kept from stopping.
pub const BLOCKS_MAX: u8 = 2;

/// One call of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookInput {
    /// The client that calls.
    pub client: ClientName,
    /// The client's name of the event.
    pub event: String,
    /// The session id.
    pub session: Option<SessionId>,
    /// The path of its transcript, which may not exist yet.
    pub transcript: Option<String>,
    /// Its working directory.
    pub folder: Option<String>,
    /// The subagent that the event is about, if any.
    pub agent: Option<String>,
    /// The turn of the event, if the client names it. Each prompt starts a new turn.
    pub turn: Option<String>,
    /// Whether the client reports that its agent may act without asking.
    pub is_unrestricted: bool,
    /// The event.
    pub kind: HookEvent,
}

impl HookInput {
    /// The key that identifies duplicate calls for the same answer, or `None` if answering twice is
    /// harmless.
    pub fn dedup_key(&self) -> Option<&str> {
        match &self.kind {
            HookEvent::Start(occasion) => Some(occasion.name()),
            HookEvent::Prompt(text) => Some(text),
            HookEvent::Stop { again: false } => Some("first"),
            HookEvent::Stop { again: true } => Some("again"),
            HookEvent::BeforeCompaction => Some(""),
            // Several subagents may start at once. One without an id could be any of them, so it
            // has no key.
            HookEvent::AgentStart => self.agent.as_deref(),
            HookEvent::AfterCompaction(_)
            | HookEvent::AgentStop
            | HookEvent::TaskCreated(_)
            | HookEvent::TaskCompleted(_)
            | HookEvent::Interrupt
            | HookEvent::End { .. }
            | HookEvent::Other => None,
        }
    }
}

/// What happens to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookEvent {
    /// It starts or starts over.
    Start(BriefOccasion),
    /// The user sends this prompt.
    Prompt(String),
    /// Its context is about to be replaced by a summary.
    BeforeCompaction,
    /// Its context was replaced, with the summary if the client provides it.
    AfterCompaction(Option<String>),
    /// It starts a subagent.
    AgentStart,
    /// A subagent finishes.
    AgentStop,
    /// It created a task.
    TaskCreated(ClientTask),
    /// It completed a task.
    TaskCompleted(ClientTask),
    /// It is about to wait for the user.
    Stop {
        /// Whether it was just kept from stopping.
        again: bool,
    },
    /// The user interrupted it.
    Interrupt,
    /// It ends.
    End {
        /// Whether the user cleared it, so that another session starts immediately.
        is_clear: bool,
    },
    /// An event that midstride ignores.
    Other,
}

/// A task as a client reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientTask {
    /// Its number in the session.
    pub id: String,
    /// The task in one line.
    pub subject: String,
    /// The full description.
    pub description: Option<String>,
}

/// The answer to a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookOutput {
    /// Text for the model.
    pub context: Option<String>,
    /// One line for the user.
    pub user_line: Option<String>,
    /// Why the session must not stop yet.
    pub block: Option<String>,
    /// Instructions for the summarizer.
    pub instructions: Option<String>,
}

impl HookOutput {
    /// Truncates each text to what a client accepts.
    #[must_use]
    pub fn within_limits(self) -> Self {
        let Self { context, user_line, block, instructions } = self;
        let [context, user_line, block, instructions] =
            [context, user_line, block, instructions].map(|text| text.map(truncate));
        Self { context, user_line, block, instructions }
    }
}

/// Keeps as many whole lines of a text as a client accepts.
fn truncate(text: String) -> String {
    const LEFT_OUT: &str = "(The rest is omitted. Run `midstride brief` to see it.)";
    let units = |text: &str| text.encode_utf16().count();
    if units(&text) <= UTF16_UNITS_MAX {
        return text;
    }
    let mut room = UTF16_UNITS_MAX - units(LEFT_OUT);
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        match room.checked_sub(units(line)) {
            Some(left) => room = left,
            None => break,
        }
        kept.push_str(line);
    }
    kept + LEFT_OUT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_texts_are_truncated_to_the_client_limit() {
        let line = "é𝄞 told\n";
        let long = line.repeat(2_000);
        let answer =
            HookOutput { context: Some(long.clone()), ..HookOutput::default() }.within_limits();
        let context = answer.context.unwrap();
        assert!(context.encode_utf16().count() <= UTF16_UNITS_MAX);
        let (kept, last) = context.rsplit_once('\n').unwrap();
        assert!(long.starts_with(kept) && kept.len() > 9_000, "{}", kept.len());
        assert!(last.contains("midstride brief"));
        let short = HookOutput { block: Some("no".to_owned()), ..HookOutput::default() };
        assert_eq!(short.clone().within_limits(), short);
        let unbroken = HookOutput { context: Some("x".repeat(20_000)), ..HookOutput::default() };
        assert!(unbroken.within_limits().context.unwrap().len() < UTF16_UNITS_MAX);
    }
}
