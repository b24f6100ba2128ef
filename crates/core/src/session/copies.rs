//! Records of another session, which one that goes on from it has before its own.

use super::Session;
use super::fact::{Fact, RecordLink, RecordRef};
use super::hash::hash;
use super::intent::{self, PromptContext};
use super::item::Attribution;
use super::provenance::{clean_id, provenance};
use super::text::TEXT_BYTES_MAX;
use std::collections::HashSet;

/// The ids of the records of a transcript, eight bytes each: no more than a session's own chain of
/// records holds, and only while another transcript is compared with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordIds(HashSet<u64>);

impl RecordIds {
    /// Adds one.
    pub fn add(&mut self, id: &str) {
        self.0.insert(Self::key(id));
    }

    /// Whether it is one of them.
    pub fn has(&self, id: &str) -> bool {
        self.has_key(Self::key(id))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// What is kept of an id.
    pub(crate) fn key(id: &str) -> u64 {
        hash(id.as_bytes())
    }

    pub(crate) fn add_key(&mut self, key: u64) {
        self.0.insert(key);
    }

    pub(crate) fn has_key(&self, key: u64) -> bool {
        self.0.contains(&key)
    }
}

/// Which of the next records are another session's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CopiedRecords {
    /// None.
    #[default]
    None,
    /// Those with these ids, up to the first that has another.
    WithIds(RecordIds),
    /// All, until something else is expected.
    All,
}

impl Session {
    /// Which session it goes on from, in a sentence.
    pub fn fork_description(&self) -> Option<String> {
        let from = self.forked_from.as_deref()?;
        Some(match &self.forked_after {
            Some(record) => {
                let yet = if self.has_no_own_work() { "; nothing of its own yet" } else { "" };
                format!("forked from {from} after record {record}{yet}")
            }
            None => format!("forked from {from}; what was copied from it counts as its own"),
        })
    }

    /// Whether it is a fork that has nothing but what was copied, and perhaps notes of the client.
    pub fn is_only_copies(&self) -> bool {
        self.forked_after.is_some() && self.has_no_own_work()
    }

    fn has_no_own_work(&self) -> bool {
        self.requests.is_empty()
            && self.commands.is_empty()
            && self.counts.tool_calls == 0
            && self.last_words.is_none()
    }

    /// Whether a record that begins is a copy. It is linked like any other: what follows it may be
    /// this session's own.
    pub(super) fn is_copy(&mut self, mark: &RecordRef<'_>, linked: &RecordLink<'_>) -> bool {
        let is_copy = match (&self.copies, linked.id) {
            (CopiedRecords::None, Some(_)) => false,
            (CopiedRecords::WithIds(ids), Some(id)) => ids.has(id),
            (CopiedRecords::All, _) => true,
            // Notes of the client are never copied, and do not end the copies.
            (CopiedRecords::None | CopiedRecords::WithIds(_), None) => return false,
        };
        if is_copy {
            self.forked_after = Some(clean_id(&mark.record).into_owned());
        } else {
            self.copies = CopiedRecords::None;
        }
        self.is_in_copies = is_copy;
        is_copy
    }

    /// What a copy tells is another session's, except what is needed to understand what follows. The
    /// words of the user hold on: a summary of this session must not lose them.
    pub(super) fn apply_copy(&mut self, mark: &RecordRef<'_>, fact: &Fact<'_>) {
        if !self.is_in_copies {
            return;
        }
        if let Fact::Used(used) = fact {
            self.usage.note_copied(used);
        }
        if let Fact::Asked(text) | Fact::Delivered(text) = fact
            && mark.agent.is_none()
            && !text.trim().is_empty()
        {
            let text = self.clean_head(text, TEXT_BYTES_MAX);
            let context = PromptContext {
                is_first: self.asked_before.is_empty(),
                ..PromptContext::default()
            };
            self.asked_before.push(intent::new_request(
                provenance(mark, Attribution::User),
                text,
                context,
            ));
        }
    }
}
