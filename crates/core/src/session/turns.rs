//! Turns: the agent's messages between one prompt and the next. They are stored as the agent's own
//! words, never as facts.

use super::item::{AgentMessage, Provenance, Turn, TurnEnd, TurnStart};
use super::text::{self, RedactionTally};
use serde::{Deserialize, Serialize};

/// The maximum size of all agent messages of a session. The oldest turns are dropped first.
const AGENT_TEXT_BYTES_MAX: usize = 256 << 10;
/// The maximum stored size of one message.
const SAID_BYTES_MAX: usize = 16 << 10;
/// A shorter message of an earlier turn is kept only if it is the turn's last one: it usually only
/// announces the next call.
const SUBSTANTIAL_BYTES_MIN: usize = 80;
/// The maximum number of messages kept of one turn.
const SAID_MAX: usize = 400;

/// The turns of a session, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turns {
    /// The turns.
    pub items: Vec<Turn>,
    /// How many older turns were dropped with their texts.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub dropped: u64,
    /// Messages of the running turn that are not redacted yet.
    #[serde(skip)]
    raw: Vec<(Provenance, String)>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde asks for")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Turns {
    /// Whether no turn is recorded.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty() && self.raw.is_empty()
    }

    /// The latest turn.
    pub fn last(&self) -> Option<&Turn> {
        self.items.last()
    }

    /// Starts a turn and closes the one before it.
    pub(super) fn start(
        &mut self,
        seen: Provenance,
        start: TurnStart,
        redacted: &mut RedactionTally,
    ) {
        self.close(redacted);
        let (said, end) = (Vec::new(), TurnEnd::Nothing);
        self.items.push(Turn { seen, start, said, end, is_over: None });
        self.drop_oldest();
    }

    /// Adds a message from the agent.
    pub(super) fn add_message(&mut self, seen: Provenance, text: &str) {
        self.note_event(&seen, TurnEnd::Said);
        if self.raw.len() >= SAID_MAX {
            self.raw.remove(0);
        }
        self.raw.push((seen, text::truncate(text, SAID_BYTES_MAX).to_owned()));
    }

    /// Removes the last message if `is_it` matches it.
    pub(super) fn withdraw_last(&mut self, is_it: impl Fn(&str) -> bool) {
        if self.raw.last().is_some_and(|(_, text)| is_it(text)) {
            self.raw.pop();
        }
    }

    /// Records an event in the running turn. Before the first prompt, this starts a turn.
    pub(super) fn note_event(&mut self, seen: &Provenance, end: TurnEnd) {
        match self.items.last_mut() {
            Some(turn) => (turn.end, turn.is_over) = (end, None),
            None => {
                let (seen, start) = (seen.clone(), TurnStart::Client);
                self.items.push(Turn { seen, start, said: Vec::new(), end, is_over: None });
            }
        }
    }

    /// Records whether the client considers the running turn over.
    pub(super) fn mark_over(&mut self, is_over: bool) {
        if let Some(turn) = self.items.last_mut() {
            turn.is_over = Some(is_over);
        }
    }

    /// Redacts the pending messages. The running turn may continue.
    pub(super) fn settle(&mut self, redacted: &mut RedactionTally) {
        let raw = std::mem::take(&mut self.raw);
        let Some(turn) = self.items.last_mut() else { return };
        for (seen, text) in raw {
            let text = text::clean_head(&text, SAID_BYTES_MAX, redacted);
            turn.said.push(AgentMessage { seen, text });
        }
        let more = turn.said.len().saturating_sub(SAID_MAX);
        turn.said.drain(..more);
        self.drop_oldest();
    }

    /// Closes a turn, and drops short remarks between two calls.
    fn close(&mut self, redacted: &mut RedactionTally) {
        let last = self.raw.len().saturating_sub(1);
        let mut at = 0;
        self.raw.retain(|(_, text)| {
            let is_kept = at == last || text.len() >= SUBSTANTIAL_BYTES_MIN;
            at += 1;
            is_kept
        });
        self.settle(redacted);
        if let Some(turn) = self.items.last_mut() {
            let last = turn.said.len().saturating_sub(1);
            let mut at = 0;
            turn.said.retain(|said| {
                let is_kept = at == last || said.text.len() >= SUBSTANTIAL_BYTES_MIN;
                at += 1;
                is_kept
            });
        }
    }

    /// Drops the oldest turns, but never the latest one, until the messages are within the limit.
    fn drop_oldest(&mut self) {
        let mut bytes: usize = self.items.iter().map(Turn::bytes).sum();
        let mut gone = 0;
        while bytes > AGENT_TEXT_BYTES_MAX && gone + 1 < self.items.len() {
            bytes -= self.items[gone].bytes();
            gone += 1;
        }
        self.items.drain(..gone);
        self.dropped += u64::try_from(gone).unwrap_or_default();
        let Some(turn) = self.items.last_mut() else { return };
        while bytes > AGENT_TEXT_BYTES_MAX && turn.said.len() > 1 {
            bytes -= turn.said.remove(0).text.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Attribution;

    fn seen(number: u64) -> Provenance {
        Provenance {
            record: format!("r{number}"),
            number,
            at: None,
            source: Attribution::Agent,
            agent: None,
        }
    }

    fn texts(turn: &Turn) -> Vec<&str> {
        turn.said.iter().map(|message| message.text.as_str()).collect()
    }

    #[test]
    fn an_earlier_turn_keeps_its_last_text_and_long_ones() {
        let mut redacted = RedactionTally::new();
        let mut turns = Turns::default();
        let long = "word ".repeat(80);
        turns.start(seen(1), TurnStart::User, &mut redacted);
        for (number, text) in [(2, "Let me look."), (3, long.as_str()), (4, "Now the tests.")] {
            turns.add_message(seen(number), text);
        }
        turns.add_message(seen(5), "All done.");
        turns.start(seen(6), TurnStart::User, &mut redacted);
        turns.add_message(seen(7), "Looking.");
        turns.add_message(seen(8), "Found it.");
        turns.settle(&mut redacted);
        assert_eq!(texts(&turns.items[0]), [long.trim(), "All done."]);
        assert_eq!(texts(&turns.items[1]), ["Looking.", "Found it."]);
        assert_eq!(turns.items[0].end, TurnEnd::Said);
    }

    #[test]
    fn settling_during_a_turn_changes_nothing() {
        let mut redacted = RedactionTally::new();
        let [mut once, mut often] = [Turns::default(), Turns::default()];
        for turn in 0..4 {
            for turns in [&mut once, &mut often] {
                turns.start(seen(turn * 10), TurnStart::User, &mut redacted);
            }
            for number in 1..6 {
                for turns in [&mut once, &mut often] {
                    turns.add_message(
                        seen(turn * 10 + number),
                        &"text ".repeat(30 * (number % 3) as usize + 1),
                    );
                }
                often.settle(&mut redacted);
            }
        }
        once.settle(&mut redacted);
        assert_eq!(once, often);
    }

    #[test]
    fn the_oldest_turns_are_dropped_and_counted() {
        let mut redacted = RedactionTally::new();
        let mut turns = Turns::default();
        for number in 0..60 {
            turns.start(seen(number), TurnStart::User, &mut redacted);
            turns.add_message(seen(number), &format!("{number} {}", "long text ".repeat(1_000)));
        }
        turns.settle(&mut redacted);
        let bytes: usize = turns.items.iter().map(Turn::bytes).sum();
        assert!(bytes <= AGENT_TEXT_BYTES_MAX, "{bytes}");
        assert_eq!(turns.dropped + turns.items.len() as u64, 60);
        assert!(turns.last().unwrap().said[0].text.starts_with("59 "));
    }

    #[test]
    fn a_secret_in_a_message_is_redacted() {
        let mut redacted = RedactionTally::new();
        let mut turns = Turns::default();
        turns.start(seen(1), TurnStart::User, &mut redacted);
        turns.add_message(seen(2), &format!("The token is ghp_{}.", "a1B2".repeat(10)));
        turns.settle(&mut redacted);
        assert!(!texts(&turns.items[0])[0].contains("ghp_"));
        assert_eq!(redacted["github-token"], 1);
    }
}
