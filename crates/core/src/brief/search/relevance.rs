//! How much a handoff matters for a prompt.

use super::Zone;
use crate::text::words::{SalientTerm, TermKind};
use jiff::Timestamp;

/// What has fewer points is there by chance: one rare word of a prompt in a body has one.
const POINTS_MIN: f64 = 1.5;
/// A file that is worked on is named in it.
const FILE_POINTS: f64 = 3.0;
/// What has ended is still worth reading.
const ENDED_FACTOR: f64 = 0.6;
/// A handoff loses half of what its age can cost in this time.
const AGE_DAYS_HALF: f64 = 90.0;

/// How much a handoff matters, and from what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relevance {
    /// From the words of the prompt.
    pub words: f64,
    /// From the files that are worked on.
    pub files: f64,
    /// By which an ended one is lowered.
    pub status: f64,
    /// By which an old one is lowered.
    pub recency: f64,
}

/// A term with how many documents have it.
#[derive(Clone, Debug)]
pub struct ScoredTerm {
    /// What is looked for.
    pub salient: SalientTerm,
    /// How many documents have it.
    pub documents: usize,
}

/// From so many documents on, a term tells none of them apart.
pub fn common_threshold(documents: usize) -> usize {
    const FEW: usize = 20;
    const MANY: usize = 2000;
    (documents / 5).clamp(FEW, MANY)
}

/// The points of one term that stands in a zone, in a project with so many documents: words, files.
pub fn term_points(term: &ScoredTerm, zone: Zone, documents: usize) -> (f64, f64) {
    if term.documents > common_threshold(documents) {
        return (0.0, 0.0);
    }
    #[expect(clippy::cast_precision_loss, reason = "a share need not be exact")]
    let (all, with) = (documents.max(1) as f64, term.documents.max(1) as f64);
    // One for a term that one document has, less the more have it.
    let rare = (1.0 + all / with).ln() / (1.0 + all).ln();
    let sort = match term.salient.kind {
        TermKind::Path => return (0.0, FILE_POINTS),
        TermKind::Name => 2.0,
        TermKind::Word => 1.0,
    };
    let place = match zone {
        Zone::Name => 2.0,
        Zone::Header => 1.2,
        Zone::Body => 1.0,
    };
    (rare * sort * place, 0.0)
}

/// A prompt that names a document is about it.
const NAMED_POINTS: f64 = 100.0;

impl Relevance {
    /// Of a document that the prompt names.
    pub fn for_named_document() -> Self {
        Self { words: NAMED_POINTS, files: 0.0, status: 1.0, recency: 1.0 }
    }

    /// Whether so many points are not there by chance.
    pub fn is_enough((words, files): (f64, f64)) -> bool {
        words + files >= POINTS_MIN
    }

    /// What the points come to; `None` where it does not matter.
    pub fn from_points(
        (words, files): (f64, f64),
        is_open: bool,
        changed: Option<Timestamp>,
        now: Timestamp,
    ) -> Option<Self> {
        if !Self::is_enough((words, files)) {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "an age in days need not be exact")]
        let days = |then: Timestamp| (now.duration_since(then).as_hours() as f64 / 24.0).max(0.0);
        // One for today, towards a half with the years.
        let recency = changed.map_or(0.5, |then| 0.5 + 0.5 / (1.0 + days(then) / AGE_DAYS_HALF));
        Some(Self { words, files, status: if is_open { 1.0 } else { ENDED_FACTOR }, recency })
    }

    /// All of it in one number, to sort by.
    pub fn score(&self) -> f64 {
        (self.words + self.files) * self.status * self.recency
    }
}
