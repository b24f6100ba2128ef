//! Which session another one goes on from, where the client copied its records: Claude Code does,
//! under the id of the new session and without a word about the old one.

use super::beginnings::{Beginning, Beginnings};
use super::{Candidate, Found, claude_code};
use crate::files::{FileError, Stream};
use crate::project::Project;
use jiff::Timestamp;
use midstride_core::session::Ids;
use midstride_core::transcript::{Lines, Opening, Piece, Run, collect_ids};
use std::path::Path;

/// So many transcripts are compared, those that were changed last first.
const COMPARED_MAX: usize = 64;

/// A session that another one goes on from.
pub(crate) struct Origin {
    /// Its id.
    pub(crate) session: String,
    /// The ids of all its records.
    pub(crate) ids: Ids,
}

/// A transcript that begins as another one does, or may hold what that one begins with.
struct Relative {
    candidate: Candidate,
    opening: Opening,
}

/// The session whose records a transcript begins with; none for most.
pub(super) fn of(project: &Project, found: &Found) -> Option<Origin> {
    let (own, others) = relatives(project, found)?;
    let mut best: Option<(u64, Origin, Age)> = None;
    for other in others {
        let Ok((ids, run)) = compared(&found.path, &other.candidate.path) else { continue };
        let age = Age::of(&other, &run);
        if run.records == 0 || !is_older(&other, &age, &own, &Age::of(&own, &run)) {
            continue;
        }
        // The one it has most of; of several that have the same, the one that wrote it.
        let is_better = best.as_ref().is_none_or(|(records, _, oldest)| {
            run.records > *records || run.records == *records && age < *oldest
        });
        if is_better {
            let session = other.candidate.session();
            best = Some((run.records, Origin { session, ids }, age));
        }
    }
    best.map(|(_, origin, _)| origin)
}

/// A transcript as it looks beside others, and those beside it to compare it with.
fn relatives(project: &Project, found: &Found) -> Option<(Relative, Vec<Relative>)> {
    let folder = found.path.parent()?;
    let all = claude_code::beside(folder);
    let (mut own, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|one| one.path == found.path);
    let own = own.pop()?;
    if others.is_empty() {
        return None;
    }
    let mut beginnings = Beginnings::kept(project);
    let opening = beginnings.of(&own).ok()?.opening;
    opening.record.as_ref()?;
    let mut related = Vec::new();
    for candidate in others {
        let Ok(told) = beginnings.of(&candidate) else { continue };
        if may_be_related(&opening, &candidate, &told) {
            related.push(Relative { candidate, opening: told.opening });
        }
    }
    beginnings.keep(project);
    related.sort_by_key(|one| std::cmp::Reverse(one.candidate.entry.changed));
    related.truncate(COMPARED_MAX);
    Some((Relative { candidate: own, opening }, related))
}

/// Two that begin with one record are related. What is copied after a summary begins in the middle
/// of the other one, which then was at work at that time.
fn may_be_related(opening: &Opening, other: &Candidate, told: &Beginning) -> bool {
    let was_at_work =
        || told.began <= opening.at && opening.at.is_none_or(|at| other.entry.changed >= Some(at));
    told.opening.record == opening.record || opening.follows && was_at_work()
}

/// The ids of one transcript, and how much of it another one begins with.
fn compared(fork: &Path, other: &Path) -> Result<(Ids, Run), FileError> {
    let mut ids = Ids::default();
    each_piece(other, &mut |piece| {
        collect_ids(piece, &mut ids);
        true
    })?;
    let mut run = Run::default();
    each_piece(fork, &mut |piece| {
        run.take(&ids, piece);
        !run.is_over
    })?;
    Ok((ids, run))
}

/// Reads a transcript as long as somebody wants more of it.
fn each_piece(path: &Path, each: &mut dyn FnMut(&Piece<'_>) -> bool) -> Result<(), FileError> {
    const STEP_BYTES: u64 = 1 << 20;
    let mut stream = Stream::open(path)?;
    let mut lines = Lines::default();
    let (mut from, mut wants_more) = (0, true);
    while wants_more {
        let bytes = stream.window(from, from + STEP_BYTES)?;
        if bytes.is_empty() {
            break;
        }
        from += u64::try_from(bytes.len()).unwrap_or_default();
        lines.feed(&bytes, &mut |piece| wants_more = wants_more && each(piece));
    }
    Ok(())
}

/// What tells which of two transcripts had the records first; the lesser is the older. It says the
/// same whichever of them is captured first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Age {
    /// When it was opened, where that was after the last record they share was written: those
    /// records are copies then.
    opened_later: Option<Timestamp>,
    born: Option<Timestamp>,
    session: String,
}

impl Age {
    fn of(one: &Relative, run: &Run) -> Self {
        Self {
            opened_later: one.opening.opened.filter(|opened| Some(*opened) > run.latest),
            born: one.candidate.entry.born,
            session: one.candidate.session(),
        }
    }
}

/// Some versions say it themselves.
fn is_older(other: &Relative, its_age: &Age, own: &Relative, own_age: &Age) -> bool {
    if own.opening.from.as_ref() == Some(&its_age.session) {
        return true;
    }
    other.opening.from.as_ref() != Some(&own_age.session) && its_age < own_age
}
