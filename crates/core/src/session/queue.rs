//! What the user types while the client is busy, and how it reaches the agent.
//!
//! It begins the next turn, as a prompt of its own; or it is put into the turn that goes on, of which
//! some versions of a client write nothing but that it waits no longer; or the user takes it back.

use super::Session;
use super::fact::{DequeueReason, RecordRef};
use super::item::{Attribution, QueuedPrompt};
use super::provenance::provenance;
use super::text::TEXT_BYTES_MAX;
use serde::{Deserialize, Serialize};

const QUEUED_MAX: usize = 200;

/// What waits no longer, and has not been seen at the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UndeliveredPrompts {
    /// So many prompts are to follow.
    next: u32,
    /// Requests that another record may tell again, by number.
    told: Vec<u64>,
}

impl UndeliveredPrompts {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Commands of the client are not put into a turn, and tell of themselves when they run.
fn is_slash_command(queued: &QueuedPrompt) -> bool {
    queued.text.starts_with('/')
}

impl Session {
    pub(super) fn queue(&mut self, mark: &RecordRef<'_>, text: &str) {
        let text = self.clean_head(text, TEXT_BYTES_MAX);
        if self.queued.len() < QUEUED_MAX {
            self.queued.push(QueuedPrompt { seen: provenance(mark, Attribution::User), text });
        }
    }

    pub(super) fn dequeue(
        &mut self,
        mark: &RecordRef<'_>,
        fate: DequeueReason,
        text: Option<&str>,
    ) {
        let text = text.map(|text| self.clean_head(text, TEXT_BYTES_MAX));
        let named = |queued: &QueuedPrompt| text.as_ref().is_none_or(|text| queued.text == *text);
        match fate {
            DequeueReason::Next => {
                // Which one it is, the prompt that follows tells.
                match self.queued.first().filter(|first| is_slash_command(first)) {
                    Some(_) => drop(self.queued.remove(0)),
                    None => self.underway.next = self.underway.next.saturating_add(1),
                }
            }
            DequeueReason::Delivered => {
                let mut waiting = self.queued.iter();
                let typed = waiting.position(|one| named(one) && !is_slash_command(one));
                let at = typed.or_else(|| self.queued.iter().position(named));
                let Some(queued) = at.map(|at| self.queued.remove(at)) else { return };
                if !is_slash_command(&queued) {
                    let number = self.add_request(mark, queued.text);
                    self.underway.told.push(number);
                    let more = self.underway.told.len().saturating_sub(QUEUED_MAX);
                    self.underway.told.drain(..more);
                }
            }
            DequeueReason::Withdrawn => self.queued.retain(|queued| !named(queued)),
            DequeueReason::Notice => self.underway.next = self.underway.next.saturating_sub(1),
        }
    }

    /// A text that was typed earlier reaches the agent in the middle of a turn. A record may have
    /// told so before; this one says where in the conversation.
    pub(super) fn deliver_queued(&mut self, mark: &RecordRef<'_>, text: &str) {
        if mark.agent.is_some() || text.trim().is_empty() {
            return;
        }
        let text = self.clean_head(text, TEXT_BYTES_MAX);
        let Self { requests, underway, .. } = self;
        let is_it = |number: &u64| requests.get_mut(*number).is_some_and(|one| one.text == text);
        if let Some(at) = underway.told.iter().position(is_it) {
            let number = underway.told.remove(at);
            if let Some(request) = requests.get_mut(number) {
                request.seen = provenance(mark, Attribution::User);
            }
            return;
        }
        self.take_from_queue(&text);
        self.add_request(mark, text);
    }

    /// A prompt begins a turn. Where something was to follow and nothing that waits has these words,
    /// they were put in another form on the way.
    pub(super) fn match_queued_prompt(&mut self, text: &str) {
        let was_next = self.underway.next > 0;
        self.underway.next = self.underway.next.saturating_sub(1);
        if !self.take_from_queue(text) && was_next && !self.queued.is_empty() {
            self.queued.remove(0);
        }
    }

    fn take_from_queue(&mut self, text: &str) -> bool {
        let at = self.queued.iter().position(|queued| queued.text == text);
        at.map(|at| self.queued.remove(at)).is_some()
    }
}
