//! Prompts that the user types while the client is busy.
//!
//! A queued prompt starts the next turn as a prompt, is delivered into the running turn, or is
//! withdrawn by the user. For a delivered prompt, some client versions only record that it left the
//! queue.

use super::Session;
use super::fact::{DequeueReason, RecordRef};
use super::item::{Attribution, QueuedPrompt};
use super::provenance::provenance;
use super::text::TEXT_BYTES_MAX;
use serde::{Deserialize, Serialize};

const QUEUED_MAX: usize = 200;

/// Prompts that left the queue, and whose delivery was not seen yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UndeliveredPrompts {
    /// How many prompts are expected to follow.
    next: u32,
    /// Numbers of requests that another record may repeat.
    told: Vec<u64>,
}

impl UndeliveredPrompts {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Slash commands are not delivered into a turn, and have records when they run.
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
                // The prompt that follows shows which one it is.
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

    /// Handles a queued prompt that reaches the agent during a turn. If an earlier record already
    /// added it as a request, this only updates its position in the conversation.
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

    /// Matches a prompt that starts a turn with the queue. If one was expected and no queued prompt
    /// has this text, the client changed its wording, so the first in the queue is removed.
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
