//! Scores how relevant a handoff is to a prompt.

use super::Zone;
use crate::text::words::{SalientTerm, TermKind};
use jiff::Timestamp;

/// Minimum score. Less is a coincidence: one rare word of a prompt that occurs in a body scores 1.
const POINTS_MIN: f64 = 1.5;
/// Points for a document that names a file being worked on.
const FILE_POINTS: f64 = 3.0;
/// Factor for a closed handoff, which may still be worth reading.
const ENDED_FACTOR: f64 = 0.6;
/// The age in days at which a handoff has lost half of what its age can cost.
const AGE_DAYS_HALF: f64 = 90.0;

/// How relevant a handoff is, by factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relevance {
    /// Points from the words of the prompt.
    pub words: f64,
    /// Points from the files being worked on.
    pub files: f64,
    /// The factor that lowers a closed handoff.
    pub status: f64,
    /// The factor that lowers an old handoff.
    pub recency: f64,
}

/// A term and the number of documents that contain it.
#[derive(Clone, Debug)]
pub struct ScoredTerm {
    /// The term.
    pub salient: SalientTerm,
    /// The number of documents that contain it.
    pub documents: usize,
}

/// The number of documents above which a term is too common to distinguish them.
pub fn common_threshold(documents: usize) -> usize {
    const FEW: usize = 20;
    const MANY: usize = 2000;
    (documents / 5).clamp(FEW, MANY)
}

/// The points of a term found in a zone, as (words, files), in a project with this many documents.
pub fn term_points(term: &ScoredTerm, zone: Zone, documents: usize) -> (f64, f64) {
    if term.documents > common_threshold(documents) {
        return (0.0, 0.0);
    }
    #[expect(clippy::cast_precision_loss, reason = "a share need not be exact")]
    let (all, with) = (documents.max(1) as f64, term.documents.max(1) as f64);
    // 1 for a term that only one document contains, less for a more common term.
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

/// Points for a document that the prompt names.
const NAMED_POINTS: f64 = 100.0;

impl Relevance {
    /// The relevance of a document that the prompt names.
    pub fn for_named_document() -> Self {
        Self { words: NAMED_POINTS, files: 0.0, status: 1.0, recency: 1.0 }
    }

    /// Whether the points are more than a coincidence.
    pub fn is_enough((words, files): (f64, f64)) -> bool {
        words + files >= POINTS_MIN
    }

    /// The relevance for a number of points, or `None` if there are too few.
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
        // 1 for today, approaching 0.5 with age.
        let recency = changed.map_or(0.5, |then| 0.5 + 0.5 / (1.0 + days(then) / AGE_DAYS_HALF));
        Some(Self { words, files, status: if is_open { 1.0 } else { ENDED_FACTOR }, recency })
    }

    /// The overall score, for sorting.
    pub fn score(&self) -> f64 {
        (self.words + self.files) * self.status * self.recency
    }
}
