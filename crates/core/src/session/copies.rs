//! Records that a forked session copied from the session it was forked from.

use super::Session;
use super::fact::{Fact, RecordLink, RecordRef};
use super::hash::hash;
use super::intent::{self, PromptContext};
use super::item::Attribution;
use super::provenance::{clean_id, provenance};
use super::text::TEXT_BYTES_MAX;
use std::collections::HashSet;

/// The record ids of a transcript, as hashes of eight bytes each. This takes no more memory than a
/// session's own chain of records, and only while two transcripts are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordIds(HashSet<u64>);

impl RecordIds {
    /// Adds an id.
    pub fn add(&mut self, id: &str) {
        self.0.insert(Self::key(id));
    }

    /// Whether the set contains an id.
    pub fn has(&self, id: &str) -> bool {
        self.has_key(Self::key(id))
    }

    /// The number of ids.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The hash stored for an id.
    pub fn key(id: &str) -> u64 {
        hash(id.as_bytes())
    }

    /// Adds an id by its hash.
    pub fn add_key(&mut self, key: u64) {
        self.0.insert(key);
    }

    /// Whether the set contains the id with this hash.
    pub fn has_key(&self, key: u64) -> bool {
        self.0.contains(&key)
    }
}

/// Which of the next records belong to another session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CopiedRecords {
    /// None.
    #[default]
    None,
    /// Records with these ids, up to the first record with another id.
    WithIds(RecordIds),
    /// All records, until something else is expected.
    All,
}

impl Session {
    /// Describes which session this one was forked from.
    pub fn fork_description(&self) -> Option<String> {
        let from = self.forked_from.as_ref()?;
        Some(match &self.forked_after {
            Some(record) => {
                let yet = if self.has_no_own_work() { "; nothing new yet" } else { "" };
                format!("forked from {from} after record {record}{yet}")
            }
            None => {
                format!("forked from {from}; records copied from it count as this session's own")
            }
        })
    }

    /// Whether the session is a fork with only copied records, and perhaps client notes.
    pub fn is_only_copies(&self) -> bool {
        self.forked_after.is_some() && self.has_no_own_work()
    }

    fn has_no_own_work(&self) -> bool {
        self.requests.is_empty()
            && self.commands.is_empty()
            && self.counts.tool_calls == 0
            && self.last_words.is_none()
    }

    /// Whether a new record is a copy. A copy is linked like any other record, because the
    /// session's own records may follow it.
    pub(super) fn is_copy(&mut self, mark: &RecordRef<'_>, linked: &RecordLink<'_>) -> bool {
        let is_copy = match (&self.copies, linked.id) {
            (CopiedRecords::None, Some(_)) => false,
            (CopiedRecords::WithIds(ids), Some(id)) => ids.has(id),
            (CopiedRecords::All, _) => true,
            // Client notes have no id. They are never copied, and do not end the copies.
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

    /// Applies a copied fact. It belongs to another session, except what later records need: token
    /// counts and the user's prompts, which still apply here and must not be missing from a
    /// summary.
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
