//! Hooks: what a client tells at a moment of a session, what it is answered, and what is decided in
//! between. How a client writes it down is the surface's business.

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
use crate::session::Client;

/// More than so many UTF-16 units of one text Claude Code puts into a file.
pub const UTF16_UNITS_MAX: usize = 10_000;
/// So often in a row a session is kept from stopping.
pub const BLOCKS_MAX: u8 = 2;

/// One call of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookInput {
    /// The client that calls.
    pub client: Client,
    /// The moment as the client names it.
    pub event: String,
    /// The session.
    pub session: Option<String>,
    /// Where its transcript is, or will be.
    pub transcript: Option<String>,
    /// Where it works.
    pub folder: Option<String>,
    /// The agent that it is about, where it is about one.
    pub agent: Option<String>,
    /// The turn that it comes in, where the client names it: each prompt begins another one.
    pub turn: Option<String>,
    /// Whether the client lets its agent do everything without asking, as far as it tells.
    pub is_unrestricted: bool,
    /// What happens.
    pub kind: HookEvent,
}

impl HookInput {
    /// What tells a call from another one that wants the same answer; none where answering it twice
    /// says nothing twice.
    pub fn dedup_key(&self) -> Option<&str> {
        match &self.kind {
            HookEvent::Start(occasion) => Some(occasion.name()),
            HookEvent::Prompt(text) => Some(text),
            HookEvent::Stop { again: false } => Some("first"),
            HookEvent::Stop { again: true } => Some("again"),
            HookEvent::BeforeCompaction => Some(""),
            // Several start at once; one that has no name may be any of them.
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
    /// It starts, or starts over.
    Start(BriefOccasion),
    /// The user asks for this.
    Prompt(String),
    /// Its context is about to be replaced by a summary.
    BeforeCompaction,
    /// It was, by this one where the client tells.
    AfterCompaction(Option<String>),
    /// It starts an agent.
    AgentStart,
    /// An agent comes back.
    AgentStop,
    /// It wrote down a task.
    TaskCreated(ClientTask),
    /// It carried a task out.
    TaskCompleted(ClientTask),
    /// It is about to wait for the user.
    Stop {
        /// Whether it was kept from that just now.
        again: bool,
    },
    /// The user stopped it.
    Interrupt,
    /// It ends.
    End {
        /// Whether the user cleared it, so that another one starts at once.
        is_clear: bool,
    },
    /// Something that nobody here needs to know.
    Other,
}

/// A task, as a client tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientTask {
    /// Its number in the session.
    pub id: String,
    /// What is to be done, in one line.
    pub subject: String,
    /// The rest of it.
    pub description: Option<String>,
}

/// What a client is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookOutput {
    /// What the model reads.
    pub context: Option<String>,
    /// What the user reads, in one line.
    pub user_line: Option<String>,
    /// Why the session must not stop yet.
    pub block: Option<String>,
    /// What whoever writes a summary is to keep to.
    pub instructions: Option<String>,
}

impl HookOutput {
    /// The same, no text longer than a client takes.
    #[must_use]
    pub fn within_limits(self) -> Self {
        let Self { context, user_line, block, instructions } = self;
        let [context, user_line, block, instructions] =
            [context, user_line, block, instructions].map(|text| text.map(truncate));
        Self { context, user_line, block, instructions }
    }
}

/// Whole lines of a text, as many as a client takes.
fn truncate(text: String) -> String {
    const LEFT_OUT: &str = "(The rest is left out: `midstride brief` shows it.)";
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
    fn no_text_is_longer_than_a_client_takes() {
        let line = "é𝄞 told\n";
        let long = line.repeat(2_000);
        let answer =
            HookOutput { context: Some(long.clone()), ..HookOutput::default() }.within_limits();
        let context = answer.context.unwrap();
        assert!(context.encode_utf16().count() <= UTF16_UNITS_MAX);
        let (told, last) = context.rsplit_once('\n').unwrap();
        assert!(long.starts_with(told) && told.len() > 9_000, "{}", told.len());
        assert!(last.contains("midstride brief"));
        let short = HookOutput { block: Some("no".to_owned()), ..HookOutput::default() };
        assert_eq!(short.clone().within_limits(), short);
        let unbroken = HookOutput { context: Some("x".repeat(20_000)), ..HookOutput::default() };
        assert!(unbroken.within_limits().context.unwrap().len() < UTF16_UNITS_MAX);
    }
}
