//! Counts of records, by how they were handled, and of tokens.

use super::fact::ResponseUsage;
use super::hash::hash;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Names come from the transcript, so their number and length are limited.
const NAMES_MAX: usize = 64;
const NAME_LENGTH_MAX: usize = 64;
/// Records of one response are close together, so only the latest responses are remembered.
const ANSWERS_MAX: usize = 16;

/// How many records were read, parsed and skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordCounts {
    /// All records.
    pub seen: u64,
    /// Parsed records.
    pub understood: u64,
    /// Duplicate records: already seen in this session or in the one it was forked from.
    pub duplicates: u64,
    /// Records that were repaired before parsing: half of a surrogate pair, invalid UTF-8.
    pub mended: u64,
    /// Records that could not be used, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Records of an unknown kind, by name.
    pub unknown: BTreeMap<String, u64>,
    /// Parsed records, by kind.
    pub sorts: BTreeMap<String, u64>,
    /// Tool calls.
    pub tool_calls: u64,
    /// Calls of tools of MCP servers, by server and tool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub mcp_calls: BTreeMap<String, u64>,
}

impl RecordCounts {
    pub(super) fn count_skipped(&mut self, reason: &str) {
        *self.skipped.entry(reason.to_owned()).or_default() += 1;
    }

    pub(super) fn count_unknown(&mut self, kind: &str) {
        count_named(&mut self.unknown, kind);
    }

    pub(super) fn count_kind(&mut self, sort: &str) {
        // There are few kinds, so this avoids an allocation for most records.
        match self.sorts.get_mut(sort) {
            Some(count) => *count += 1,
            None => count_named(&mut self.sorts, sort),
        }
    }

    pub(super) fn count_mcp_calls(&mut self, tool: &str, number: u64) {
        add_named(&mut self.mcp_calls, tool, number);
    }

    /// The number of calls of tools of MCP servers.
    pub fn total_mcp_calls(&self) -> u64 {
        self.mcp_calls.values().sum()
    }

    /// The number of records that could not be used.
    pub fn total_skipped(&self) -> u64 {
        self.skipped.values().sum()
    }

    /// The number of records of an unknown kind.
    pub fn total_unknown(&self) -> u64 {
        self.unknown.values().sum()
    }
}

fn count_named(counts: &mut BTreeMap<String, u64>, name: &str) {
    add_named(counts, name, 1);
}

fn add_named(counts: &mut BTreeMap<String, u64>, name: &str, number: u64) {
    let name: String = name.chars().take(NAME_LENGTH_MAX).collect();
    let full = counts.len() >= NAMES_MAX && !counts.contains_key(&name);
    *counts.entry(if full { "others".to_owned() } else { name }).or_default() += number;
}

/// Token usage, as the client counts it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Uncached input tokens.
    pub input: u64,
    /// Input tokens read from the cache.
    pub cached: u64,
    /// Output tokens.
    pub output: u64,
    /// All tokens used by agents.
    pub by_agents: u64,
    /// Tokens in the context at the latest response.
    pub context: Option<u64>,
    /// The size of the model's context window, where the client gives it.
    pub window: Option<u64>,
    recent: VecDeque<(u64, u64, u64, u64)>,
}

impl Usage {
    pub(super) fn add(&mut self, used: &ResponseUsage<'_>, by_agent: bool) {
        self.window = used.window.or(self.window);
        let mut add = (used.input, used.cached, used.output);
        if let Some(answer) = used.answer.map(|answer| hash(answer.as_bytes())) {
            // Each record of a response repeats its tokens. The last one is right.
            if let Some(at) = self.recent.iter().position(|entry| entry.0 == answer) {
                let (_, input, cached, output) = self.recent[at];
                self.recent[at] = (answer, add.0, add.1, add.2);
                let more = |new: u64, old: u64| new.saturating_sub(old);
                add = (more(add.0, input), more(add.1, cached), more(add.2, output));
            } else {
                if self.recent.len() >= ANSWERS_MAX {
                    self.recent.pop_front();
                }
                self.recent.push_back((answer, add.0, add.1, add.2));
            }
        }
        if by_agent {
            let sum = add.0.saturating_add(add.1).saturating_add(add.2);
            self.by_agents = self.by_agents.saturating_add(sum);
            return;
        }
        self.input = self.input.saturating_add(add.0);
        self.cached = self.cached.saturating_add(add.1);
        self.output = self.output.saturating_add(add.2);
        let context = used.input.saturating_add(used.cached).saturating_add(used.output);
        if context > 0 {
            self.context = Some(context);
        }
    }

    /// Remembers a response of another session, so that a repeated record of it does not count.
    pub(super) fn note_copied(&mut self, used: &ResponseUsage<'_>) {
        let Some(answer) = used.answer.map(|answer| hash(answer.as_bytes())) else { return };
        self.recent.retain(|entry| entry.0 != answer);
        if self.recent.len() >= ANSWERS_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back((answer, used.input, used.cached, used.output));
    }

    /// The total tokens of the session and its agents.
    pub fn total(&self) -> u64 {
        self.input
            .saturating_add(self.cached)
            .saturating_add(self.output)
            .saturating_add(self.by_agents)
    }
}

/// Context windows of models that have only one. Models offered with several windows are missing:
/// the transcript does not say which one was used.
const WINDOWS: [(&str, u64); 6] = [
    ("claude-3", 200_000),
    ("claude-haiku-4-5", 200_000),
    ("claude-opus-4-2025", 200_000),
    ("claude-opus-4-1", 200_000),
    ("claude-opus-4-5", 200_000),
    ("gpt-4o", 128_000),
];

/// The context window of a model, where its name determines it.
pub(crate) fn context_window(model: &str) -> Option<u64> {
    if model.ends_with("[1m]") {
        return Some(1_000_000);
    }
    WINDOWS.iter().find(|(name, _)| model.starts_with(name)).map(|(_, window)| *window)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_records_of_a_response_count_its_tokens_once() {
        let mut usage = Usage::default();
        let used = |answer, output| ResponseUsage {
            answer: Some(answer),
            input: 10,
            cached: 100,
            output,
            window: None,
        };
        for (answer, output) in [("a", 1), ("a", 5), ("b", 2), ("a", 5)] {
            usage.add(&used(answer, output), false);
        }
        assert_eq!((usage.input, usage.cached, usage.output), (20, 200, 7));
        usage.add(&used("c", 0), true);
        assert_eq!((usage.by_agents, usage.context), (110, Some(115)));
        usage.add(&ResponseUsage { input: u64::MAX, cached: u64::MAX, ..used("d", 1) }, false);
        assert_eq!(usage.total(), u64::MAX);
    }

    #[test]
    fn the_number_and_length_of_unknown_names_are_limited() {
        let mut counts = RecordCounts::default();
        for number in 0..1000 {
            counts.count_unknown(&format!("{number}{}", "x".repeat(1000)));
        }
        assert_eq!(counts.total_unknown(), 1000);
        assert!(counts.unknown.len() <= NAMES_MAX + 1);
        assert!(counts.unknown.keys().all(|name| name.len() <= NAME_LENGTH_MAX));
    }
}
