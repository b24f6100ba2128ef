//! Follow what moved: write the lines where cited places are now. What `check --fix` does.

use crate::drift::{Drift, Ground};
use crate::journal::{Change, JournalError, Recorded};
use crate::project::{Project, Shelved};
use midstride_core::citation::{self, LineRange};
use midstride_core::document::EditRefused;
use midstride_core::drift::{Judgement, Verdict};
use midstride_core::header::Verb;
use midstride_core::span::Span;

/// What came of following.
#[derive(Debug)]
pub struct Followed {
    /// How many places were written anew.
    pub places: usize,
    /// The revision that has them.
    pub recorded: Recorded,
}

/// Writes where moved places are now, as one revision; `None` where nothing moved.
pub fn follow(project: &Project, shelved: &Shelved) -> Result<Option<Followed>, JournalError> {
    if shelved.document.handoff_header().is_none() {
        return Ok(None);
    }
    let mut places = 0;
    let recorded = project.record_in_turn::<_, JournalError>(shelved, |now| {
        let drift = Drift::against(project, Ground::WorkTree)?;
        let moved = moved(&drift.judge(now));
        if moved.is_empty() {
            return Ok(Ok(None));
        }
        places = moved.len();
        let refused = || EditRefused::WouldHarm("a citation".to_owned());
        let next = citation::with_lines(&now.document, &moved).ok_or_else(refused);
        let change = Change::by_verb(Verb::Fix, "lines brought up to date", None);
        Ok(project.record(now, &next?, &change, &|_| ()).map(Some))
    })?;
    Ok(recorded.map(|recorded| Followed { places, recorded }))
}

fn moved(judged: &[Judgement]) -> Vec<(Span, LineRange)> {
    let moved = judged.iter().filter(|one| one.verdict == Verdict::Moved);
    moved.filter_map(|one| Some((one.place.at, one.now.as_ref()?.lines?))).collect()
}
