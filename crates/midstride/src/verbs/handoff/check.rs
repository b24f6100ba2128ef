//! Judge documents, each for itself and all against each other.

use crate::code::drift::{CodeState, DriftChecker, LaterCommitsQuery};
use crate::sys::files::FileError;
use crate::verbs::session::checkpoint::CheckpointError;
use crate::verbs::session::coverage::{
    ComparedSession, SessionComparison, SessionLookup, read_session,
};
use crate::workspace::project::{DocumentPlace, Project, StoredHandoff};
use midstride_core::format::document::Document;
use midstride_core::format::finding::Finding;
use midstride_core::handoff::Handoff;
use midstride_core::handoff::check::{CheckFindings, IdClaim, duplicate_id_finding};
use midstride_core::handoff::drift::{self, CitationCheck, HandoffActivity, LaterCommit};
use midstride_core::text::id::HandoffKey;
use std::path::{Path, PathBuf};

/// A document and what was found in it.
#[derive(Debug)]
pub struct DocumentCheck {
    /// The path, from the root of the project.
    pub path: PathBuf,
    /// Its name.
    pub key: HandoffKey,
    /// What was found.
    pub verdict: CheckFindings,
    /// The places it names, judged: those that are not as they were, or all of them.
    pub citations: Vec<CitationCheck>,
    /// How much it tells of its session, where it names one.
    pub coverage: Option<SessionComparison>,
    /// Of many, kept only where something was found: a thousand clean ones would fill the memory.
    document: Option<Document>,
    claim: Option<IdClaim>,
    spot: Option<DocumentPlace>,
    open: Option<HandoffActivity>,
    cited: Option<LaterCommitsQuery>,
}

/// What documents are compared with.
pub struct Comparison<'p> {
    drift: DriftChecker<'p>,
    sessions: SessionLookup,
    /// Whether everything is told: places that are as they were, and handoffs that have ended.
    all: bool,
}

impl<'p> Comparison<'p> {
    /// With the working tree, or with a commit.
    pub fn against(project: &'p Project, ground: CodeState, all: bool) -> Result<Self, FileError> {
        let drift = DriftChecker::new(project, ground)?;
        Ok(Self { drift, sessions: SessionLookup::default(), all })
    }

    /// The same, and every document with one session, whatever it names.
    pub fn with_session(
        self,
        project: &Project,
        told: &ComparedSession,
    ) -> Result<Self, CheckpointError> {
        Ok(Self { sessions: SessionLookup::only(read_session(project, told)?), ..self })
    }

    /// Whether lines that a document cites stand elsewhere now.
    pub fn has_moved(&self, shelved: &StoredHandoff) -> bool {
        self.drift.check(shelved).iter().any(|one| one.status == drift::CitationStatus::Moved)
    }

    /// A session that somebody names is compared in any case.
    fn compare_session(
        &self,
        project: &Project,
        handoff: &Handoff<'_>,
    ) -> Option<SessionComparison> {
        let wanted = self.sessions.is_fixed() || self.concerns(handoff);
        wanted.then(|| self.sessions.compare(project, handoff)).flatten()
    }

    /// What a handoff says is history when it has ended.
    fn concerns(&self, handoff: &Handoff<'_>) -> bool {
        self.all || !handoff.has_status() || handoff.status().is_open()
    }
}

impl DocumentCheck {
    /// The document, for showing what was found in it.
    pub fn document(&self) -> &Document {
        self.document.as_ref().expect("whoever asks has a finding of this document")
    }
}

/// Judges every document of a project.
pub fn check_all(
    project: &Project,
    with: &Comparison<'_>,
) -> Vec<Result<DocumentCheck, FileError>> {
    let judge =
        |shelved| check_document(project, Some(with), shelved, DocumentRetention::IfFindings);
    let mut judged = project.map_all(judge);
    let held: Vec<IdClaim> =
        judged.iter().flatten().filter_map(|judged| judged.claim.clone()).collect();
    let later = later_commits(with, judged.iter().flatten());
    for (result, later) in judged.iter_mut().filter(|result| result.is_ok()).zip(later) {
        let Ok(one) = result else { continue };
        for finding in one.compare(&held, &later) {
            if let Err(error) = one.add_finding(project, finding) {
                *result = Err(error);
                break;
            }
        }
    }
    judged
}

/// Judges some documents, each against all others.
pub fn check_documents(
    project: &Project,
    with: Option<&Comparison<'_>>,
    documents: Vec<StoredHandoff>,
) -> Vec<DocumentCheck> {
    let judge = |shelved| check_document(project, with, shelved, DocumentRetention::Always);
    let mut judged: Vec<DocumentCheck> = documents.into_iter().map(judge).collect();
    let ids: Vec<String> =
        judged.iter().filter_map(|judged| Some(judged.claim.as_ref()?.key.id.clone())).collect();
    // Only a document that has the id somewhere in it can claim it.
    let mentions = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        ids.iter().any(|id| text.contains(id.as_str()))
    };
    let held = match ids.is_empty() {
        true => Vec::new(),
        false => project.map_matching(mentions, |shelved| claim(project, &shelved)),
    };
    let held: Vec<IdClaim> = held.into_iter().filter_map(Result::ok).flatten().collect();
    let later = with.map_or_else(Vec::new, |with| later_commits(with, judged.iter()));
    let later = later.into_iter().chain(std::iter::repeat(Vec::new()));
    for (one, later) in judged.iter_mut().zip(later) {
        for finding in one.compare(&held, &later) {
            // They are all kept, so that nothing is read.
            let _ = one.add_finding(project, finding);
        }
    }
    judged
}

/// Judges the description of a pull request.
pub fn check_pull_request(project: &Project, path: &Path, bytes: &[u8]) -> DocumentCheck {
    let document = Document::parse(bytes);
    let verdict = project.check_pull_request(&document);
    let key = HandoffKey { id: path.display().to_string(), stage: None };
    let document = Some(document);
    DocumentCheck {
        path: path.to_owned(),
        key,
        verdict,
        citations: Vec::new(),
        coverage: None,
        document,
        claim: None,
        spot: None,
        open: None,
        cited: None,
    }
}

/// Whether a judged document stays in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DocumentRetention {
    Always,
    IfFindings,
}

fn check_document(
    project: &Project,
    with: Option<&Comparison<'_>>,
    shelved: StoredHandoff,
    keep: DocumentRetention,
) -> DocumentCheck {
    let mut verdict = project.check(&shelved);
    let handoff = shelved.handoff(project);
    let key = handoff.key();
    let coverage = with.and_then(|with| with.compare_session(project, &handoff));
    let with = with.filter(|with| with.concerns(&handoff));
    let citations = with.map(|with| with.drift.check(&shelved)).unwrap_or_default();
    let named = handoff.is_handoff().then(|| key.to_string());
    for finding in drift::findings(named.as_deref(), &citations) {
        verdict.add(&shelved.document, finding);
    }
    let told = coverage.as_ref().and_then(SessionComparison::coverage);
    for finding in told.map(|told| told.findings(&handoff)).unwrap_or_default() {
        verdict.add(&shelved.document, finding);
    }
    let open =
        with.and_then(|_| HandoffActivity::for_open(&handoff, project.environment().clock.now()));
    let changed = open.and_then(|open| open.changed);
    let cited = with
        .zip(changed)
        .and_then(|(with, changed)| with.drift.later_commits_query(&shelved, changed, &citations));
    let all = with.is_some_and(|with| with.all);
    let is_told = |one: &CitationCheck| all || one.status != drift::CitationStatus::Intact;
    let citations: Vec<CitationCheck> = citations.into_iter().filter(is_told).collect();
    let claim = claim(project, &shelved);
    let found = !verdict.findings.is_empty() || !verdict.silenced.is_empty();
    let kept =
        found || keep == DocumentRetention::Always || !citations.is_empty() || coverage.is_some();
    let spot = Some(shelved.document_place());
    let document = kept.then_some(shelved.document);
    let path = shelved.path;
    DocumentCheck { path, key, verdict, citations, coverage, document, claim, spot, open, cited }
}

/// For each judged document the commits that changed what it cites since.
fn later_commits<'j>(
    with: &Comparison<'_>,
    judged: impl Iterator<Item = &'j DocumentCheck>,
) -> Vec<Vec<LaterCommit>> {
    let judged: Vec<&DocumentCheck> = judged.collect();
    let asked: Vec<LaterCommitsQuery> = judged.iter().filter_map(|one| one.cited.clone()).collect();
    let mut answers = with.drift.later_commits(&asked).into_iter();
    let answer = |one: &&DocumentCheck| one.cited.as_ref().and_then(|_| answers.next());
    judged.iter().map(answer).map(Option::unwrap_or_default).collect()
}

fn claim(project: &Project, shelved: &StoredHandoff) -> Option<IdClaim> {
    let handoff = shelved.handoff(project);
    let (uid, id) = (handoff.uid()?.value.to_owned(), handoff.node("id")?);
    let path = shelved.path.display().to_string();
    Some(IdClaim { key: handoff.key(), uid, at: id.at, path })
}

impl DocumentCheck {
    /// What comparing it with others and with the history tells.
    fn compare(&self, held: &[IdClaim], later: &[LaterCommit]) -> Vec<Finding> {
        let clash = self.claim.as_ref().and_then(|claim| duplicate_id_finding(claim, held));
        let done = self.open.and_then(|open| open.possibly_done_finding(later));
        [clash, done].into_iter().flatten().collect()
    }

    /// It may have been clean so far, and has to be read again.
    fn add_finding(&mut self, project: &Project, finding: Finding) -> Result<(), FileError> {
        let document = match (self.document.take(), &self.spot) {
            (Some(document), _) => document,
            (None, Some(spot)) => project.read(spot)?.document,
            (None, None) => return Ok(()),
        };
        self.verdict.add(&document, finding);
        self.document = Some(document);
        Ok(())
    }
}
