//! Finds the session that another one continues if the client copied its records. Claude Code
//! copies them under the id of the new session and does not name the old one.

use super::copies::{RecordOrder, SharedPrefix, collect_ids};
use super::places::sessions_in;
use crate::clients::client::{
    SourceSession, TranscriptCandidate, TranscriptInfo, TranscriptOpening,
};
use crate::clients::heads::{HeadCache, TranscriptHead};
use crate::sys::files::{FileError, FileStream};
use crate::workspace::Workspace;
use jiff::Timestamp;
use midstride_core::session::transcript::{LineSplitter, TranscriptLine};
use midstride_core::session::{RecordIds, Session};
use midstride_core::text::id::SessionId;
use std::cmp::Reverse;
use std::path::Path;

/// How many transcripts are compared, most recently changed first.
const COMPARED_MAX: usize = 64;
/// How many bytes of them are read in total; a transcript that is named is read whatever its size.
const COMPARED_BYTES_MAX: u64 = 512 << 20;

/// A transcript that starts with the same record, or that may contain the first record of the
/// other.
struct RelatedTranscript {
    candidate: TranscriptCandidate,
    opening: TranscriptOpening,
}

/// The session whose records a transcript starts with; `None` for most.
pub(super) fn find_source(
    workspace: &Workspace,
    found: &TranscriptInfo,
    captured: &dyn Fn(&Path) -> Result<Option<Session>, FileError>,
) -> Result<Option<SourceSession>, FileError> {
    let Some((own, others)) = related_transcripts(workspace, found)? else { return Ok(None) };
    if others.is_empty() {
        return Ok(None);
    }
    let mut order = RecordOrder::default();
    each_piece(&found.path, &mut |piece| order.take(piece))?;
    let mut best: Option<(u64, SourceSession, TranscriptAge)> = None;
    for other in others {
        let mut ids = RecordIds::default();
        let read = each_piece(&other.candidate.path, &mut |piece| collect_ids(piece, &mut ids));
        if FileError::unless_disk_fails(read)?.is_none() {
            continue;
        }
        let run = order.shared_prefix(&ids);
        if run.records == 0 {
            continue;
        }
        let captured = captured(&other.candidate.path)?;
        let age = TranscriptAge::for_other(&other, &own, &run, captured.as_ref());
        if age >= TranscriptAge::for_own(&own, &other, &run) {
            continue;
        }
        // The one with the most shared records; of several with the same number, the one that wrote
        // them.
        let is_better = best.as_ref().is_none_or(|(records, _, oldest)| {
            run.records > *records || run.records == *records && age < *oldest
        });
        if is_better {
            let session = other.candidate.session();
            best = Some((run.records, SourceSession { session, ids }, age));
        }
    }
    Ok(best.map(|(_, origin, _)| origin))
}

/// A transcript and the transcripts in its folder to compare it with.
fn related_transcripts(
    workspace: &Workspace,
    found: &TranscriptInfo,
) -> Result<Option<(RelatedTranscript, Vec<RelatedTranscript>)>, FileError> {
    let Some(folder) = found.path.parent() else { return Ok(None) };
    let all = sessions_in(folder)?;
    let (mut own, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|one| one.path == found.path);
    let Some(own) = own.pop().filter(|_| !others.is_empty()) else { return Ok(None) };
    let mut beginnings = HeadCache::load(workspace);
    let opening = beginnings.get(&own)?.opening;
    if opening.record.is_none() {
        return Ok(None);
    }
    let mut related = Vec::new();
    for candidate in others {
        let head = FileError::unless_disk_fails(beginnings.get(&candidate))?;
        let Some(head) = head else { continue };
        if may_be_related(&opening, &candidate, &head) {
            related.push(RelatedTranscript { candidate, opening: head.opening });
        }
    }
    beginnings.save(workspace);
    let related = worth_comparing(opening.from.as_ref(), related);
    Ok(Some((RelatedTranscript { candidate: own, opening }, related)))
}

/// Selects the transcripts to compare. If the one named as the source exists, others count only if
/// they name the same source: a copy of a copy can still name the first one.
fn worth_comparing(
    from: Option<&SessionId>,
    mut related: Vec<RelatedTranscript>,
) -> Vec<RelatedTranscript> {
    let is_named = |one: &RelatedTranscript| Some(&one.candidate.session()) == from;
    if related.iter().any(is_named) {
        related.retain(|one| is_named(one) || one.opening.from.as_ref() == from);
    }
    let newest_first = |one: &RelatedTranscript| Reverse(one.candidate.entry.changed);
    related.sort_by_key(|one| (!is_named(one), newest_first(one)));
    related.truncate(COMPARED_MAX);
    let mut left = COMPARED_BYTES_MAX;
    related.retain(|one| {
        let rest = left.checked_sub(one.candidate.entry.bytes);
        left = rest.unwrap_or(left);
        rest.is_some() || is_named(one)
    });
    related
}

/// Whether two transcripts may share records. They do if they start with the same record. Records
/// copied after a summary start in the middle of the other transcript, which was then active at
/// that time.
fn may_be_related(
    opening: &TranscriptOpening,
    other: &TranscriptCandidate,
    head: &TranscriptHead,
) -> bool {
    let was_at_work =
        || head.began <= opening.at && opening.at.is_none_or(|at| other.entry.changed >= Some(at));
    head.opening.record == opening.record || opening.follows && was_at_work()
}

/// Reads a transcript line by line.
fn each_piece(path: &Path, each: &mut dyn FnMut(&TranscriptLine<'_>)) -> Result<(), FileError> {
    let mut lines = LineSplitter::default();
    FileStream::open(path)?.each_chunk(0, None, &mut |chunk| lines.feed(chunk, each))
}

/// Evidence of which of two transcripts had the records first; the lesser is the older. The result
/// is the same whichever of them is captured first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TranscriptAge {
    /// What the transcript itself says, in some versions.
    claimed: CopyEvidence,
    /// When it was opened, if that was after the last shared record was written: then those records
    /// are copies.
    opened_later: Option<Timestamp>,
    /// An earlier capture decides it the same way again, or the records would count twice or not at
    /// all.
    captured_as: CopyEvidence,
    /// Whether it has records after the shared ones: the copy continued.
    has_later_records: bool,
    /// When it was opened, or else the time of its first record.
    noted: Option<Timestamp>,
    /// Creation time of the file. Copying or restoring the file changes it.
    created: Option<Timestamp>,
    session: SessionId,
}

/// Evidence about one of two transcripts.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CopyEvidence {
    Original,
    Unknown,
    Copy,
}

impl CopyEvidence {
    fn from_flags(is_original: bool, is_copy: bool) -> Self {
        match (is_original, is_copy) {
            (true, _) => Self::Original,
            (false, true) => Self::Copy,
            (false, false) => Self::Unknown,
        }
    }
}

impl TranscriptAge {
    /// The age of the transcript being captured, which has had nothing but copies so far.
    fn for_own(own: &RelatedTranscript, other: &RelatedTranscript, run: &SharedPrefix) -> Self {
        let opening = &own.opening;
        Self {
            claimed: CopyEvidence::Unknown,
            opened_later: opening.opened.filter(|opened| Some(*opened) > run.latest),
            captured_as: CopyEvidence::Unknown,
            has_later_records: run.has_more && opening.record == other.opening.record,
            noted: opening.opened.or(opening.at),
            created: own.candidate.entry.created,
            session: own.candidate.session(),
        }
    }

    fn for_other(
        other: &RelatedTranscript,
        own: &RelatedTranscript,
        run: &SharedPrefix,
        captured: Option<&Session>,
    ) -> Self {
        let (session, opening) = (other.candidate.session(), &other.opening);
        let own_session = own.candidate.session();
        let is_named = own.opening.from.as_ref() == Some(&session);
        let names_own = opening.from.as_ref() == Some(&own_session);
        let is_captured_original = captured
            .is_some_and(|captured| !captured.can_have_copies() && captured.forked_after.is_none());
        let is_captured_copy = captured.is_some_and(|captured| {
            captured.forked_after.is_some() && captured.forked_from.as_ref() == Some(&own_session)
        });
        Self {
            claimed: CopyEvidence::from_flags(is_named, names_own),
            opened_later: opening.opened.filter(|opened| Some(*opened) > run.latest),
            captured_as: CopyEvidence::from_flags(is_captured_original, is_captured_copy),
            // A transcript that starts in the middle of the other cannot be compared this way.
            has_later_records: run.other_has_more && opening.record == own.opening.record,
            noted: opening.opened.or(opening.at),
            created: other.candidate.entry.created,
            session,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::claude_code::ClaudeCode;
    use crate::sys::files::FolderEntry;

    fn relative(session: &str, from: Option<&str>, bytes: u64, changed: i64) -> RelatedTranscript {
        let entry = FolderEntry {
            name: format!("{session}.jsonl"),
            is_folder: false,
            bytes,
            changed: Timestamp::from_second(changed).ok(),
            created: None,
            inode: 0,
        };
        let path = Path::new("/p").join(&entry.name);
        let opening =
            TranscriptOpening { from: from.map(SessionId::new), ..TranscriptOpening::default() };
        RelatedTranscript {
            candidate: TranscriptCandidate { client: &ClaudeCode, path, entry },
            opening,
        }
    }

    fn compared(from: Option<&str>, related: Vec<RelatedTranscript>) -> Vec<String> {
        let compared = worth_comparing(from.map(SessionId::new).as_ref(), related);
        compared.iter().map(|one| one.candidate.session().to_string()).collect()
    }

    #[test]
    fn the_named_source_and_its_copies_are_compared() {
        let all = || {
            vec![
                relative("other", None, 1, 9),
                relative("named", None, COMPARED_BYTES_MAX + 1, 1),
                relative("copy", Some("named"), 1, 5),
            ]
        };
        assert_eq!(compared(Some("named"), all()), ["named", "copy"]);
        assert_eq!(compared(Some("gone"), all()), ["other", "copy"]);
    }

    #[test]
    fn the_newest_transcripts_are_compared_up_to_the_byte_limit() {
        let half = COMPARED_BYTES_MAX / 2;
        let related = vec![
            relative("old", None, 1, 1),
            relative("long", None, half + 1, 2),
            relative("newest", None, half, 4),
            relative("newer", None, half - 1, 3),
        ];
        assert_eq!(compared(None, related), ["newest", "newer", "old"]);
    }
}
