//! Follows lines from one version of a file to another.

use super::{CitedLineMatch, unambiguous_match};
use crate::handoff::citation::LineRange;
use crate::handoff::code_text::CodeText;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::sync::Arc;

/// The difference between two versions of a file. It is computed once for all cited lines.
#[derive(Debug)]
pub struct LineTracker {
    base: Arc<CodeText>,
    now: Arc<CodeText>,
    /// Lines that both versions have, in order.
    kept: Vec<KeptLines>,
}

/// Lines that both versions have, counted from zero.
#[derive(Clone, Copy, Debug)]
struct KeptLines {
    old: usize,
    new: usize,
    count: usize,
}

impl LineTracker {
    /// Compares two versions.
    pub fn new(base: &Arc<CodeText>, now: &Arc<CodeText>) -> Self {
        let (old, new) = (trimmed_lines(base), trimmed_lines(now));
        let kept = |op: DiffOp| match op {
            DiffOp::Equal { old_index, new_index, len } => {
                Some(KeptLines { old: old_index, new: new_index, count: len })
            }
            DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => None,
        };
        let ops = capture_diff_slices(Algorithm::Histogram, &old, &new);
        let kept = ops.into_iter().filter_map(kept).collect();
        Self { base: Arc::clone(base), now: Arc::clone(now), kept }
    }

    /// Where lines of the older version are now.
    pub fn find(&self, lines: LineRange) -> CitedLineMatch {
        let Some(first) =
            lines.first.checked_sub(1).filter(|_| lines.last <= self.base.line_count())
        else {
            return CitedLineMatch::Missing;
        };
        let before = self.kept.partition_point(|kept| kept.old <= first);
        if let Some(kept) = self.kept[..before].last()
            && lines.last <= kept.old + kept.count
        {
            let there = kept.new + (first - kept.old) + 1;
            return CitedLineMatch::new(lines.starting_at(there), lines);
        }
        // A diff shows a moved block as a deletion and an insertion, so search by hash.
        let cited = self.base.cited(lines);
        let place = cited.and_then(|cited| unambiguous_match(&self.now, lines, cited, false));
        place
            .filter(|place| !self.is_kept(*place))
            .map_or(CitedLineMatch::Missing, |place| CitedLineMatch::new(place, lines))
    }

    /// Whether the lines at a place were there before: they are a twin, not a move.
    fn is_kept(&self, place: LineRange) -> bool {
        let before = self.kept.partition_point(|kept| kept.new < place.first);
        let kept = self.kept[..before].last();
        kept.is_some_and(|kept| place.last <= kept.new + kept.count)
    }

    /// The lines that replaced some lines, for showing the change.
    pub fn replacement(&self, lines: LineRange) -> Option<LineRange> {
        let (first, last) = (lines.first.checked_sub(1)?, lines.last);
        // The nearest kept lines before and after the cited ones.
        let before = self.kept.partition_point(|kept| kept.old < first);
        let from = self.kept[..before]
            .last()
            .map_or(0, |kept| kept.new + kept.count.min(first - kept.old));
        let after = self.kept.partition_point(|kept| kept.old + kept.count <= last);
        let to = self
            .kept
            .get(after)
            .map_or(self.now.line_count(), |kept| kept.new + last.saturating_sub(kept.old));
        (from < to).then_some(LineRange { first: from + 1, last: to })
    }
}

fn trimmed_lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).collect()
}
