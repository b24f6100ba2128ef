//! The summary stored beside a checkpoint: its highlights within a size limit. The hook that briefs
//! the next session reads this instead of the whole checkpoint.

use super::Checkpoint;
use super::first_line::{line_of, short_title, title_of};
use super::highlights::{Highlight, HighlightKind, Highlights, SessionEnding};
use crate::text::id::ClientName;
use crate::text::id::{CommitId, SessionId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the stored format. For an older version, the checkpoint has more details.
const SUMMARY_VERSION: u32 = 3;

/// How many highlights of each kind are stored in full. The others get one line.
const FULL_LENGTH_MAX: usize = 8;
/// How many highlights of each kind are stored first. Hooks read only these.
const FIRST_MAX: usize = 64;
/// The maximum total size. Further highlights are counted; a session has a few hundred.
const BYTES_MAX: usize = 256 << 10;
/// The size of a highlight without its texts.
const ITEM_BYTES: usize = 60;

/// The highlights of a session, within a size limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// The version of the stored format.
    pub version: u32,
    /// The client that ran the session.
    pub client: ClientName,
    /// The session id.
    pub session: SessionId,
    /// The digest of the checkpoint.
    pub digest: String,
    /// The working directory.
    pub folder: Option<String>,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// The commit that was checked out when the session was captured, unless that was long after it
    /// ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<CommitId>,
    /// The task list shared with other sessions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task_list: Option<String>,
    /// The time of the first record.
    #[serde(default)]
    pub began: Option<Timestamp>,
    /// The time of the last record.
    pub ended: Option<Timestamp>,
    /// How it ended.
    #[serde(default)]
    pub ending: SessionEnding,
    /// Whether the session did work worth a briefing.
    #[serde(default)]
    pub worked: bool,
    /// Whether the session continued or aborted a merge that had stopped on conflicts.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub settles_conflicts: bool,
    /// Calls of tools of MCP servers, by server and tool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub mcp_calls: BTreeMap<String, u64>,
    /// What is committed and what is not, in midstride's words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tree: Option<String>,
    /// The latest summary that replaced the context.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub summary: Option<String>,
    /// The highlights by kind, newest of each kind first.
    pub items: Vec<Highlight>,
    /// The number of omitted highlights, by kind.
    pub left_out: BTreeMap<HighlightKind, usize>,
    /// The number of things that not even the checkpoint stores.
    #[serde(default)]
    pub not_kept: u64,
}

impl SessionSummary {
    /// Builds the summary of a checkpoint.
    pub fn from_checkpoint(checkpoint: &Checkpoint) -> Self {
        let session = &checkpoint.session;
        let Highlights { ending, tree, kinds } = Highlights::from_checkpoint(checkpoint);
        let mut summary = Self {
            version: SUMMARY_VERSION,
            client: checkpoint.client().clone(),
            session: checkpoint.session_id(),
            digest: checkpoint.digest.clone(),
            folder: session.cwd.clone(),
            // The branch that the client saw; git may have been queried long after.
            branch: session.branch.clone().or_else(|| checkpoint.git.branch.clone()),
            // Long after the session, another commit may be checked out.
            commit: checkpoint.git.commit.clone().filter(|_| !checkpoint.git.late),
            task_list: session.task_list.clone(),
            began: session.began,
            ended: session.ended,
            ending,
            worked: session.has_work(),
            settles_conflicts: session.settles_conflicts(),
            mcp_calls: session.counts.mcp_calls.clone(),
            tree,
            summary: session.summary.as_ref().map(|summary| summary.text.clone()),
            items: Vec::new(),
            left_out: BTreeMap::new(),
            not_kept: session.requests.left_out
                + session.commands.left_out
                + session.agents.left_out
                + session.files.left_out,
        };
        summary.keep_within_limit(kinds);
        summary
    }

    /// Serializes the summary: one line with the first highlights of each kind and a count of the
    /// others, and a second line with the others.
    pub fn into_stored(mut self) -> String {
        let mut counts: BTreeMap<HighlightKind, usize> = BTreeMap::new();
        let (first, rest) = self.items.into_iter().partition(|item| {
            let count = counts.entry(item.kind).or_default();
            *count += 1;
            *count <= FIRST_MAX
        });
        let rest: Vec<Highlight> = rest;
        for item in &rest {
            *self.left_out.entry(item.kind).or_default() += 1;
        }
        self.items = first;
        let mut stored = serde_json::to_string(&self).unwrap_or_default();
        if !rest.is_empty() {
            stored.push('\n');
            stored.push_str(&serde_json::to_string(&rest).unwrap_or_default());
        }
        stored
    }

    /// Parses a stored summary. `None` if a later version wrote it, or it is not a summary.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut summary = Self::parse_first(bytes)?;
        let rest = bytes.iter().position(|byte| *byte == b'\n').map(|end| &bytes[end + 1..]);
        // If this line is damaged, the counts still say how many there are.
        let rest = rest.and_then(|rest| serde_json::from_slice(rest).ok());
        let rest: Vec<Highlight> = rest.unwrap_or_default();
        for item in &rest {
            let more = summary.left_out.entry(item.kind).or_default();
            *more = more.saturating_sub(1);
        }
        summary.left_out.retain(|_, more| *more > 0);
        summary.items.extend(rest);
        summary.items.sort_by_key(|item| item.kind);
        Some(summary)
    }

    /// Parses only the first highlights of each kind. The others are counted.
    pub fn parse_first(bytes: &[u8]) -> Option<Self> {
        let first = bytes.split(|byte| *byte == b'\n').next()?;
        let summary: Self = serde_json::from_slice(first).ok()?;
        (1..=SUMMARY_VERSION).contains(&summary.version).then_some(summary)
    }

    /// Whether this version wrote it, so that it is complete.
    pub fn is_current(&self) -> bool {
        self.version == SUMMARY_VERSION
    }

    /// The title of the session: what the user asked, in one line.
    pub fn title(&self) -> Option<String> {
        self.of_kind(HighlightKind::Goal).find_map(|goal| title_of(&goal.text))
    }

    /// The title as lists store it.
    pub fn short_title(&self) -> Option<String> {
        self.title().map(short_title)
    }

    /// The task list of the session.
    pub fn task_list(&self) -> &str {
        self.task_list.as_deref().unwrap_or(self.session.as_str())
    }

    /// The highlights of one kind.
    pub fn of_kind(&self, kind: HighlightKind) -> impl Iterator<Item = &Highlight> {
        self.items.iter().filter(move |item| item.kind == kind)
    }

    /// Keeps the highlights that fit, in order, and counts the others.
    fn keep_within_limit(&mut self, kinds: Vec<Vec<Highlight>>) {
        let mut bytes_left = BYTES_MAX;
        for items in kinds {
            for (number, item) in items.into_iter().enumerate() {
                let is_long = number < FULL_LENGTH_MAX || is_bounded(item.kind);
                let item = if is_long { item } else { in_a_line(item) };
                match bytes_left.checked_sub(bytes(&item)) {
                    Some(rest) => {
                        bytes_left = rest;
                        self.items.push(item);
                    }
                    None => *self.left_out.entry(item.kind).or_default() += 1,
                }
            }
        }
        self.items.sort_by_key(|item| item.kind);
    }
}

#[cfg(test)]
impl SessionSummary {
    /// A session that did work and left nothing open, for tests to extend.
    pub(crate) fn sample(session: &str) -> Self {
        Self {
            version: SUMMARY_VERSION,
            client: ClientName::new("claude-code"),
            session: SessionId::new(session),
            digest: String::new(),
            folder: None,
            branch: None,
            commit: None,
            task_list: None,
            began: None,
            ended: None,
            ending: SessionEnding::Completed,
            worked: true,
            settles_conflicts: false,
            mcp_calls: BTreeMap::new(),
            tree: None,
            summary: None,
            items: Vec::new(),
            left_out: BTreeMap::new(),
            not_kept: 0,
        }
    }
}

/// Whether highlights of a kind have their own size limit.
fn is_bounded(kind: HighlightKind) -> bool {
    use HighlightKind as Kind;
    matches!(
        kind,
        Kind::Instruction
            | Kind::Report
            | Kind::Summary
            | Kind::Remark
            | Kind::Finding
            | Kind::Decision
            | Kind::DeadEnd
            | Kind::OpenItem
            | Kind::Unchecked
            | Kind::Reverted
            | Kind::Changed
            | Kind::Missing
            | Kind::Plan
    )
}

/// Shortens a highlight to one line. The checkpoint has the details.
fn in_a_line(item: Highlight) -> Highlight {
    let line = |text: &Option<String>| text.as_deref().map(line_of);
    let (detail, remark) = (line(&item.detail), line(&item.remark));
    Highlight { text: line_of(&item.text), detail, remark, ..item }
}

/// The approximate stored size.
fn bytes(item: &Highlight) -> usize {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let seen = item.seen.as_ref();
    let record = seen.map_or(0, |seen| seen.record.len() + length(&seen.agent));
    let texts = [&item.detail, &item.remark, &item.state];
    ITEM_BYTES + item.text.len() + texts.into_iter().map(length).sum::<usize>() + record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_read_the_first_of_each_kind() {
        let item = |kind, number: usize| {
            let text = format!("number {number}");
            Highlight { kind, text, detail: None, remark: None, state: None, seen: None, weight: 0 }
        };
        let of_kind = |kind, count| (0..count).map(move |number| item(kind, number));
        let items = of_kind(HighlightKind::Request, 3).chain(of_kind(HighlightKind::Changed, 100));
        let left_out = [(HighlightKind::Request, 7)].into();
        let summary =
            SessionSummary { items: items.collect(), left_out, ..SessionSummary::sample("s") };
        let stored = summary.clone().into_stored();
        assert_eq!(SessionSummary::parse(stored.as_bytes()), Some(summary.clone()));
        let first = SessionSummary::parse_first(stored.as_bytes()).unwrap();
        assert_eq!(first.of_kind(HighlightKind::Changed).count(), FIRST_MAX);
        assert_eq!(first.items.len(), FIRST_MAX + 3);
        let counts = [(HighlightKind::Request, 7), (HighlightKind::Changed, 36)];
        assert_eq!(first.left_out, counts.into());
        // A short session is one line.
        let short = SessionSummary {
            items: vec![item(HighlightKind::Goal, 1)],
            ..SessionSummary::sample("s")
        };
        assert!(!short.clone().into_stored().contains('\n'));
        assert_eq!(SessionSummary::parse(short.clone().into_stored().as_bytes()), Some(short));
    }

    fn two_lines(kind: HighlightKind) -> Highlight {
        let text = || "first line\nsecond line".to_owned();
        let (detail, remark) = (Some(text()), Some(text()));
        Highlight { kind, text: text(), detail, remark, state: None, seen: None, weight: 0 }
    }

    #[test]
    fn the_first_eight_highlights_of_a_kind_are_stored_in_full() {
        let count_in_full = |kind: HighlightKind| {
            let mut summary = SessionSummary::sample("s");
            summary.keep_within_limit(vec![vec![two_lines(kind); 10]]);
            assert_eq!(summary.items.len(), 10);
            let is_full = |item: &&Highlight| **item == two_lines(kind);
            let full = summary.items.iter().take_while(is_full).count();
            for item in &summary.items[full..] {
                assert_eq!(item.text, "first line …");
                assert_eq!(item.detail.as_deref(), Some("first line …"));
                assert_eq!(item.remark.as_deref(), Some("first line …"));
            }
            full
        };
        assert_eq!(count_in_full(HighlightKind::Failed), 8);
        assert_eq!(count_in_full(HighlightKind::Report), 10, "a report has its own limit");
    }
}
