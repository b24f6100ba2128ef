//! The tree of records in a transcript.
//!
//! A conversation branches when the user goes back and asks something else. The branch that is not
//! continued is abandoned.

use super::AbandonedRecords;
use super::fact::{RecordLink, RecordRole};
use super::hash::hash;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// No known parent.
const NONE: u32 = u32::MAX;

/// Every record by its hash, with the record it follows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PackedChain", into = "PackedChain")]
pub(super) struct Chain {
    ids: Vec<u64>,
    parents: Vec<u32>,
    prompts: Vec<u32>,
    leaf: Option<u32>,
    rolled_back: Vec<(u32, u32)>,
    known: RecordIndex,
}

/// The position of each record, by hash. It is built when the next record is added: a session that
/// is only read never needs it, and a long session that continues adds few records.
#[derive(Clone, Debug, Default)]
struct RecordIndex {
    /// The records known when the index was built, sorted by hash.
    sorted: Vec<(u64, u32)>,
    /// Records added since.
    added: HashMap<u64, u32>,
}

impl RecordIndex {
    /// Rebuilds the index when it covers fewer records than `ids`.
    fn extend_to(&mut self, ids: &[u64]) {
        if self.sorted.len() + self.added.len() < ids.len() {
            self.added.clear();
            self.sorted = ids.iter().copied().zip(0..NONE).collect();
            self.sorted.sort_unstable();
        }
    }

    fn position(&self, id: u64) -> Option<u32> {
        let known = self.sorted.binary_search_by_key(&id, |(id, _)| *id);
        let known = known.ok().map(|found| self.sorted[found].1);
        known.or_else(|| self.added.get(&id).copied())
    }
}

/// Derived from the records, so it does not affect equality.
impl PartialEq for RecordIndex {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for RecordIndex {}

/// The stored form. It lists only parents that differ from the record before.
#[derive(Serialize, Deserialize)]
struct PackedChain {
    ids: String,
    parents: Vec<(u32, u32)>,
    prompts: Vec<u32>,
    leaf: Option<u32>,
    rolled_back: Vec<(u32, u32)>,
}

impl Chain {
    /// Adds a record. Returns `false` if it was already there.
    pub(super) fn add(&mut self, linked: &RecordLink<'_>) -> bool {
        let Some(id) = linked.id.map(|id| hash(id.as_bytes())) else { return true };
        let Ok(at) = u32::try_from(self.ids.len()) else { return true };
        self.known.extend_to(&self.ids);
        if self.known.position(id).is_some() {
            return false;
        }
        let parent = linked.parent.and_then(|id| self.known.position(hash(id.as_bytes())));
        // The parent of a summary may be an id that no record has.
        let parent = parent.or(match linked.role {
            RecordRole::Boundary => at.checked_sub(1),
            RecordRole::Prompt | RecordRole::Turn | RecordRole::Aside => None,
        });
        self.known.added.insert(id, at);
        self.ids.push(id);
        self.parents.push(parent.unwrap_or(NONE));
        match linked.role {
            RecordRole::Prompt => {
                self.prompts.push(at);
                self.leaf = Some(at);
            }
            RecordRole::Turn | RecordRole::Boundary => self.leaf = Some(at),
            RecordRole::Aside => {}
        }
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Rolls back the last `turns` prompts and everything after them.
    pub(super) fn roll_back(&mut self, turns: u64) {
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        let Some(from) = self.prompts.len().checked_sub(turns.max(1)).or(Some(0)) else { return };
        let Some(&first) = self.prompts.get(from) else { return };
        self.prompts.truncate(from);
        self.rolled_back.push((first, u32::try_from(self.ids.len()).unwrap_or(NONE)));
    }

    pub(super) fn abandoned(&self) -> AbandonedRecords {
        let mut on_path = vec![false; self.ids.len()];
        let mut next = self.leaf;
        while let Some(at) = next {
            let slot = &mut on_path[at as usize];
            if std::mem::replace(slot, true) {
                break;
            }
            // A record never follows a later one, so this loop ends.
            next = self.parent(at).filter(|parent| *parent < at);
        }
        // A new prompt after an already answered record abandons that answer.
        let mut asked_again = vec![NONE; self.ids.len()];
        for prompt in self.prompts.iter().copied().filter(|prompt| on_path[*prompt as usize]) {
            if let Some(parent) = self.parent(prompt) {
                asked_again[parent as usize] = prompt;
            }
        }
        let mut prompts = self.prompts.iter().copied().peekable();
        let mut left = vec![false; self.ids.len()];
        let mut connected = on_path.clone();
        for at in 0..u32::try_from(self.ids.len()).unwrap_or(NONE) {
            while prompts.next_if(|prompt| *prompt < at).is_some() {}
            let is_prompt = prompts.peek() == Some(&at);
            let here = at as usize;
            let Some(parent) = self.parent(at).filter(|parent| *parent < at) else { continue };
            let parent = parent as usize;
            let is_asked_again = asked_again[parent] != NONE && at < asked_again[parent];
            // Results of parallel calls and hook output branch off too. Only another prompt
            // abandons a branch.
            connected[here] |= connected[parent];
            let is_other_way = left[parent] || is_prompt || is_asked_again;
            left[here] = !on_path[here] && connected[here] && is_other_way;
        }
        for (from, to) in &self.rolled_back {
            let (from, to) = (*from as usize, (*to as usize).min(left.len()));
            left[from.min(to)..to].fill(true);
        }
        AbandonedRecords(
            self.ids.iter().zip(left).filter(|(_, left)| *left).map(|(id, _)| *id).collect(),
        )
    }

    fn parent(&self, at: u32) -> Option<u32> {
        self.parents.get(at as usize).copied().filter(|parent| *parent != NONE)
    }
}

/// The parent that the stored form leaves out: the record before.
fn default_parent(at: u32) -> u32 {
    at.checked_sub(1).unwrap_or(NONE)
}

impl From<Chain> for PackedChain {
    fn from(chain: Chain) -> Self {
        let numbered = (0..NONE).zip(&chain.parents);
        Self {
            ids: chain.ids.iter().flat_map(|id| id.to_be_bytes()).flat_map(hex_digits).collect(),
            parents: numbered
                .filter(|(at, parent)| **parent != default_parent(*at))
                .map(|(at, parent)| (at, *parent))
                .collect(),
            prompts: chain.prompts,
            leaf: chain.leaf,
            rolled_back: chain.rolled_back,
        }
    }
}

impl From<PackedChain> for Chain {
    fn from(packed: PackedChain) -> Self {
        let ids: Vec<u64> =
            packed.ids.as_bytes().chunks_exact(16).filter_map(parse_hex_id).collect();
        let count = u32::try_from(ids.len()).unwrap_or(NONE);
        let mut parents: Vec<u32> = (0..count).map(default_parent).collect();
        for (at, parent) in packed.parents {
            if let Some(slot) = parents.get_mut(at as usize) {
                *slot = parent;
            }
        }
        let leaf = packed.leaf.filter(|leaf| *leaf < count);
        let PackedChain { prompts, rolled_back, .. } = packed;
        Self { ids, parents, prompts, leaf, rolled_back, known: RecordIndex::default() }
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

fn hex_digits(byte: u8) -> [char; 2] {
    [byte >> 4, byte & 15].map(|digit| char::from(DIGITS[usize::from(digit)]))
}

/// The value of each byte as a hex digit; 16 for any other byte.
const VALUES: [u8; 256] = {
    let mut values = [16; 256];
    let mut value = 0;
    while value < 16 {
        values[DIGITS[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// Parses a hash of sixteen hex digits.
fn parse_hex_id(digits: &[u8]) -> Option<u64> {
    let (mut id, mut all) = (0, 0);
    for digit in digits {
        let value = VALUES[usize::from(*digit)];
        id = (id << 4) | u64::from(value);
        all |= value;
    }
    // A byte that is not a hex digit has the value 16.
    (all < 16).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(records: &[(&str, Option<&str>, RecordRole)]) -> Chain {
        let mut chain = Chain::default();
        for (id, parent, role) in records {
            chain.add(&RecordLink { id: Some(id), parent: *parent, role: *role });
        }
        chain
    }

    fn left(chain: &Chain, names: &str) -> String {
        let abandoned = chain.abandoned();
        names.chars().filter(|c| abandoned.0.contains(&hash(c.to_string().as_bytes()))).collect()
    }

    #[test]
    fn going_back_to_an_earlier_record_abandons_the_later_branch() {
        use RecordRole::{Aside, Prompt, Turn};
        let chain = chain(&[
            ("a", None, Prompt),
            ("b", Some("a"), Turn),
            ("c", Some("b"), Prompt),
            ("d", Some("c"), Turn),
            ("x", Some("d"), Aside),
            ("e", Some("b"), Prompt),
            ("f", Some("e"), Turn),
        ]);
        assert_eq!(left(&chain, "abcdxef"), "cdx");
        let stored = serde_json::to_string(&chain).unwrap();
        assert_eq!(serde_json::from_str::<Chain>(&stored).unwrap(), chain);
    }

    #[test]
    fn going_back_before_an_answer_abandons_the_answer() {
        use RecordRole::{Prompt, Turn};
        let chain = chain(&[
            ("a", None, Prompt),
            ("b", Some("a"), Turn),
            ("c", Some("b"), Turn),
            ("d", Some("c"), Prompt),
            ("e", Some("a"), Prompt),
            ("f", Some("e"), Turn),
            ("g", Some("e"), Turn),
        ]);
        assert_eq!(left(&chain, "abcdefg"), "bcd");
    }

    #[test]
    fn results_that_branch_off_are_not_abandoned() {
        use RecordRole::{Boundary, Prompt, Turn};
        let chain = chain(&[
            ("a", None, Prompt),
            ("b", Some("a"), Turn),
            ("c", Some("b"), Turn),
            ("r", Some("b"), Turn),
            ("s", Some("c"), Turn),
            ("k", Some("nowhere"), Boundary),
            ("l", Some("k"), Turn),
            ("m", Some("l"), Prompt),
        ]);
        assert_eq!(left(&chain, "abcrsklm"), "");
    }

    #[test]
    fn cycles_and_unknown_parents_abandon_nothing() {
        use RecordRole::{Prompt, Turn};
        let chain = chain(&[
            ("a", Some("b"), Prompt),
            ("b", Some("a"), Turn),
            ("c", Some("c"), Turn),
            ("d", Some("gone"), Prompt),
        ]);
        assert_eq!(left(&chain, "abcd"), "");
    }

    #[test]
    fn rolled_back_turns_are_abandoned() {
        use RecordRole::{Prompt, Turn};
        let mut chain = chain(&[("a", None, Prompt), ("b", None, Turn), ("c", None, Prompt)]);
        chain.roll_back(1);
        chain.add(&RecordLink { id: Some("d"), parent: None, role: Prompt });
        assert_eq!(left(&chain, "abcd"), "c");
        chain.roll_back(u64::MAX);
        assert_eq!(left(&chain, "abcd"), "abcd");
    }
}
