//! Merges bodies by paragraph. A paragraph that one side changed is taken from it, one that both
//! changed conflicts, and additions of both sides are kept.

use super::ConflictMarkers;
use crate::format::document::Document;
use crate::text::markdown::MarkdownBlockKind;
use crate::text::span::{line_end, line_start};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::VecDeque;

/// A piece of a body that is merged as a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct BodyPiece<'d> {
    text: &'d str,
    kind: PieceKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum PieceKind {
    Paragraph,
    Heading,
    Item,
    /// A line of anything else.
    Line,
}

impl BodyPiece<'_> {
    fn is_blank(self) -> bool {
        self.text.trim().is_empty()
    }
}

/// The merged body of two documents.
pub(super) fn merge(
    (base, first, second): (Option<&Document>, &Document, &Document),
    marks: &ConflictMarkers,
    conflicts: &mut Vec<String>,
) -> String {
    let base = base.map(pieces).unwrap_or_default();
    let (first, second) = (pieces(first), pieces(second));
    merge_pieces([&base, &first, &second], AdditionPolicy::KeepBoth, marks, conflicts).text
}

/// What to do when both sides add at the same position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AdditionPolicy {
    /// Keep both, one after the other.
    KeepBoth,
    /// Report a conflict, because the meaning of the lines is unknown.
    Conflict,
}

/// A merged text, and the two texts that result from resolving all conflicts to one side.
pub(super) struct BodyMerge {
    pub(super) text: String,
    pub(super) resolved: [String; 2],
}

/// Merges three texts line by line.
pub(super) fn merge_lines(
    (base, first, second): (&str, &str, &str),
    marks: &ConflictMarkers,
    conflicts: &mut Vec<String>,
) -> BodyMerge {
    let lines = |text| -> Vec<BodyPiece<'_>> { line_pieces(text).collect() };
    let sides = [&lines(base)[..], &lines(first), &lines(second)];
    merge_pieces(sides, AdditionPolicy::Conflict, marks, conflicts)
}

fn line_pieces(text: &str) -> impl Iterator<Item = BodyPiece<'_>> {
    text.split_inclusive('\n').map(|text| BodyPiece { text, kind: PieceKind::Line })
}

/// Splits a body: paragraphs and list items whole, everything else by line.
fn pieces(document: &Document) -> Vec<BodyPiece<'_>> {
    let (text, body) = (document.text(), document.body());
    let mut pieces = Vec::new();
    let mut from = body.start;
    for block in document.blocks() {
        let kind = match block.kind {
            MarkdownBlockKind::Paragraph => PieceKind::Paragraph,
            MarkdownBlockKind::Item => PieceKind::Item,
            MarkdownBlockKind::Code | MarkdownBlockKind::Table | MarkdownBlockKind::Html => {
                continue;
            }
        };
        let start = line_start(text, block.at.start).max(body.start);
        // A list item block includes the blank lines after it; they become separate pieces.
        let last = block.at.start + block.at.slice(text).trim_end().len();
        let end = line_end(text, last).min(body.end);
        if start < from || end <= start {
            continue;
        }
        pieces.extend(line_pieces(&text[from..start]));
        pieces.push(BodyPiece { text: &text[start..end], kind });
        from = end;
    }
    pieces.extend(line_pieces(&text[from..body.end]));
    let is_code = |at: usize| document.code().iter().any(|code| code.start <= at && at < code.end);
    let mut at = body.start;
    for piece in &mut pieces {
        if piece.kind == PieceKind::Line && piece.text.starts_with('#') && !is_code(at) {
            piece.kind = PieceKind::Heading;
        }
        at += piece.text.len();
    }
    pieces
}

/// A run of base pieces that a side replaced. The run is empty if the side only added.
#[derive(Clone, Copy, Debug)]
struct MergeHunk<'s, 'd> {
    start: usize,
    end: usize,
    new: &'s [BodyPiece<'d>],
}

impl MergeHunk<'_, '_> {
    fn is_addition(self) -> bool {
        self.start == self.end
    }

    /// Whether two hunks touch the same pieces or add at the same position. Adjacent hunks do not
    /// overlap.
    fn overlaps(self, other: Self, base: &MergeBase<'_, '_>) -> bool {
        let overlap = self.start < other.end && other.start < self.end;
        overlap
            || (self.is_addition()
                && other.is_addition()
                && base.is_same_position(self.start, other.start))
    }
}

/// The common base of both sides.
struct MergeBase<'s, 'd> {
    pieces: &'s [BodyPiece<'d>],
    policy: AdditionPolicy,
}

impl MergeBase<'_, '_> {
    /// Whether two positions are the same. Blank lines between them do not count, unless lines are
    /// merged one by one.
    fn is_same_position(&self, a: usize, b: usize) -> bool {
        let between = &self.pieces[a.min(b)..a.max(b)];
        match self.policy {
            AdditionPolicy::KeepBoth => between.iter().all(|piece| piece.is_blank()),
            AdditionPolicy::Conflict => between.is_empty(),
        }
    }
}

fn hunks<'s, 'd>(base: &[BodyPiece<'d>], side: &'s [BodyPiece<'d>]) -> Vec<MergeHunk<'s, 'd>> {
    let ops = capture_diff_slices(Algorithm::Myers, base, side);
    let changed = ops.into_iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    let hunk = |op: DiffOp| {
        let (old, new) = (op.old_range(), op.new_range());
        MergeHunk { start: old.start, end: old.end, new: &side[new] }
    };
    changed.map(hunk).collect()
}

/// Walks through the base and applies the changes of both sides.
fn merge_pieces(
    [base, first, second]: [&[BodyPiece<'_>]; 3],
    policy: AdditionPolicy,
    marks: &ConflictMarkers,
    conflicts: &mut Vec<String>,
) -> BodyMerge {
    let mut left = [hunks(base, first), hunks(base, second)].map(VecDeque::from);
    let resolved = [String::new(), String::new()];
    let mut out = MergeOutput { text: String::new(), resolved, policy, markers: marks, conflicts };
    let mut at = 0;
    while let Some(cluster) = next_cluster(&mut left, &MergeBase { pieces: base, policy }) {
        let (start, end) = cluster.range();
        out.extend(&base[at..start]);
        let [first, second] = [0, 1].map(|side| cluster.apply_side(side, base));
        out.push_merged(&base[start..end], &first, &second);
        at = end;
    }
    out.extend(&base[at..]);
    BodyMerge { text: out.text, resolved: out.resolved }
}

/// Changes of both sides that overlap, directly or through each other.
#[derive(Debug, Default)]
struct Cluster<'s, 'd> {
    sides: [Vec<MergeHunk<'s, 'd>>; 2],
}

fn next_cluster<'s, 'd>(
    left: &mut [VecDeque<MergeHunk<'s, 'd>>; 2],
    base: &MergeBase<'_, '_>,
) -> Option<Cluster<'s, 'd>> {
    let mut cluster = Cluster::default();
    let begin =
        |side: &VecDeque<MergeHunk<'_, '_>>| side.front().map(|hunk| (hunk.start, hunk.end));
    let first = match (begin(&left[0]), begin(&left[1])) {
        (Some(a), Some(b)) => usize::from(b < a),
        (Some(_), None) => 0,
        (None, _) => 1,
    };
    cluster.sides[first].push(left[first].pop_front()?);
    loop {
        let before = cluster.len();
        for side in [0, 1] {
            let (_, end) = cluster.range();
            let meets = |hunk: &MergeHunk<'s, 'd>| {
                // A third change may touch the blank lines between two additions.
                hunk.start < end || cluster.sides[1 - side].iter().any(|o| o.overlaps(*hunk, base))
            };
            if left[side].front().is_some_and(meets) {
                cluster.sides[side].extend(left[side].pop_front());
            }
        }
        if cluster.len() == before {
            return Some(cluster);
        }
    }
}

impl<'d> Cluster<'_, 'd> {
    fn len(&self) -> usize {
        self.sides.iter().map(Vec::len).sum()
    }

    fn range(&self) -> (usize, usize) {
        let all = || self.sides.iter().flatten();
        let start = all().map(|hunk| hunk.start).min().unwrap_or_default();
        (start, all().map(|hunk| hunk.end).max().unwrap_or_default())
    }

    /// The base pieces of this cluster with the changes of one side.
    fn apply_side(&self, side: usize, base: &[BodyPiece<'d>]) -> Vec<BodyPiece<'d>> {
        let (mut at, end) = self.range();
        let mut pieces = Vec::new();
        for hunk in &self.sides[side] {
            pieces.extend_from_slice(&base[at..hunk.start]);
            pieces.extend_from_slice(hunk.new);
            at = hunk.end;
        }
        pieces.extend_from_slice(&base[at..end]);
        pieces
    }
}

/// What a side added, split into chunks that make sense alone.
struct Addition<'s, 'd> {
    chunks: Vec<Chunk<'s, 'd>>,
    /// The blank lines at its end.
    trailing_blanks: &'s [BodyPiece<'d>],
}

/// A paragraph, a heading, a list item, or the lines between two of them.
struct Chunk<'s, 'd> {
    /// The heading above it, if that was added too.
    heading: Option<BodyPiece<'d>>,
    /// The blank lines before it.
    blanks: &'s [BodyPiece<'d>],
    pieces: &'s [BodyPiece<'d>],
}

impl<'s, 'd> Addition<'s, 'd> {
    /// What identifies each chunk. Trailing whitespace does not count.
    fn chunk_ids(&self) -> Vec<(Option<&'d str>, Vec<&'d str>)> {
        let trimmed = |piece: &BodyPiece<'d>| piece.text.trim_end();
        let name = |chunk: &Chunk<'s, 'd>| {
            (chunk.heading.as_ref().map(trimmed), chunk.pieces.iter().map(trimmed).collect())
        };
        self.chunks.iter().map(name).collect()
    }

    fn from_pieces(mut pieces: &'s [BodyPiece<'d>]) -> Self {
        let mut chunks = Vec::new();
        let mut heading = None;
        loop {
            let blank = pieces.iter().take_while(|piece| piece.is_blank()).count();
            let (blanks, rest) = pieces.split_at(blank);
            let Some(first) = rest.first() else {
                return Self { chunks, trailing_blanks: blanks };
            };
            let lines = rest.iter().take_while(|piece| piece.kind == PieceKind::Line).count();
            let last_text = rest[..lines].iter().rposition(|piece| !piece.is_blank());
            let (own, rest) = rest.split_at(last_text.map_or(1, |last| last + 1));
            if first.kind == PieceKind::Heading {
                heading = Some(*first);
            }
            chunks.push(Chunk { heading, blanks, pieces: own });
            pieces = rest;
        }
    }
}

struct MergeOutput<'o> {
    text: String,
    resolved: [String; 2],
    policy: AdditionPolicy,
    markers: &'o ConflictMarkers,
    conflicts: &'o mut Vec<String>,
}

impl MergeOutput<'_> {
    fn push(&mut self, piece: BodyPiece<'_>) {
        self.markers.end_line(&mut self.text);
        self.text.push_str(piece.text);
        self.push_resolved(0, piece.text);
        self.push_resolved(1, piece.text);
    }

    fn push_resolved(&mut self, side: usize, text: &str) {
        self.markers.end_line(&mut self.resolved[side]);
        self.resolved[side].push_str(text);
    }

    fn extend(&mut self, pieces: &[BodyPiece<'_>]) {
        for piece in pieces {
            self.push(*piece);
        }
    }

    fn push_merged(
        &mut self,
        base: &[BodyPiece<'_>],
        first: &[BodyPiece<'_>],
        second: &[BodyPiece<'_>],
    ) {
        if first == second || base == second {
            return self.extend(first);
        }
        if base == first {
            return self.extend(second);
        }
        if self.policy == AdditionPolicy::KeepBoth && base.iter().all(|piece| piece.is_blank()) {
            return self.push_both(first, second);
        }
        let before = first.iter().zip(second).take_while(|(a, b)| a == b).count();
        let (head, first, second) = (&first[..before], &first[before..], &second[before..]);
        let ends = first.iter().rev().zip(second.iter().rev());
        let same_at_end = ends.take_while(|(a, b)| a == b).count();
        let (first, tail) = first.split_at(first.len() - same_at_end);
        let second = &second[..second.len() - same_at_end];
        self.extend(head);
        self.push_conflict(first, second);
        self.extend(tail);
    }

    /// Writes the additions of both sides one after the other, with a blank line where they would
    /// run together. An addition that both sides made appears once.
    fn push_both(&mut self, first: &[BodyPiece<'_>], second: &[BodyPiece<'_>]) {
        let (first, second) = (Addition::from_pieces(first), Addition::from_pieces(second));
        let (ours, theirs) = (first.chunk_ids(), second.chunk_ids());
        let mut last = None;
        for op in capture_diff_slices(Algorithm::Myers, &ours, &theirs) {
            let added = if matches!(op, DiffOp::Equal { .. }) {
                &[]
            } else {
                &second.chunks[op.new_range()]
            };
            for chunk in first.chunks[op.old_range()].iter().chain(added) {
                self.push_chunk(chunk, last);
                last = chunk.pieces.last();
            }
        }
        let first_is_longer = first.trailing_blanks.len() >= second.trailing_blanks.len();
        self.extend(if first_is_longer { first.trailing_blanks } else { second.trailing_blanks });
    }

    /// Writes a chunk after another one, which may come from the other side.
    fn push_chunk(&mut self, chunk: &Chunk<'_, '_>, last: Option<&BodyPiece<'_>>) {
        let items = |piece: Option<&BodyPiece<'_>>| piece.is_none_or(|p| p.kind == PieceKind::Item);
        let runs_together = chunk.blanks.is_empty() && last.is_some();
        if runs_together && !(items(last) && items(chunk.pieces.first())) {
            self.push(BodyPiece { text: self.markers.line_break, kind: PieceKind::Line });
        }
        self.extend(chunk.blanks);
        self.extend(chunk.pieces);
    }

    fn push_conflict(&mut self, first: &[BodyPiece<'_>], second: &[BodyPiece<'_>]) {
        let whole = |pieces: &[BodyPiece<'_>]| pieces.iter().map(|p| p.text).collect::<String>();
        let start = |pieces: &[BodyPiece<'_>]| {
            let first_text =
                pieces.iter().map(|piece| piece.text.trim()).find(|text| !text.is_empty());
            first_text.map(|text| text.lines().next().unwrap_or_default().to_owned())
        };
        self.conflicts.push(start(first).or_else(|| start(second)).unwrap_or_default());
        let (first, second) = (whole(first), whole(second));
        self.markers.write_conflict(&mut self.text, &first, &second);
        self.push_resolved(0, &first);
        self.push_resolved(1, &second);
    }
}
