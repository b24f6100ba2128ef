//! Judge documents, each for itself and all against each other.

use crate::code::drift::{Cited, Drift, Ground};
use crate::sys::files::FileError;
use crate::verbs::session::checkpoint::CheckpointError;
use crate::verbs::session::cover::{Covering, Sessions, Told, named};
use crate::workspace::project::{Project, Shelved, Spot};
use midstride_core::format::document::Document;
use midstride_core::format::finding::Finding;
use midstride_core::handoff::Handoff;
use midstride_core::handoff::check::{CheckFindings, IdClaim, duplicate_id_finding};
use midstride_core::handoff::drift::{self, CitationCheck, HandoffActivity, LaterCommit};
use midstride_core::text::id::HandoffKey;
use std::path::{Path, PathBuf};

/// A document and what was found in it.
#[derive(Debug)]
pub struct Judged {
    /// The path, from the root of the project.
    pub path: PathBuf,
    /// Its name.
    pub key: HandoffKey,
    /// What was found.
    pub verdict: CheckFindings,
    /// The places it names, judged: those that are not as they were, or all of them.
    pub citations: Vec<CitationCheck>,
    /// How much it tells of its session, where it names one.
    pub coverage: Option<Covering>,
    /// Of many, kept only where something was found: a thousand clean ones would fill the memory.
    document: Option<Document>,
    claim: Option<IdClaim>,
    spot: Option<Spot>,
    open: Option<HandoffActivity>,
    cited: Option<Cited>,
}

/// What documents are compared with.
pub struct Comparison<'p> {
    drift: Drift<'p>,
    sessions: Sessions,
    /// Whether everything is told: places that are as they were, and handoffs that have ended.
    all: bool,
}

impl<'p> Comparison<'p> {
    /// With the working tree, or with a commit.
    pub fn with(project: &'p Project, ground: Ground, all: bool) -> Result<Self, FileError> {
        let drift = Drift::against(project, ground)?;
        Ok(Self { drift, sessions: Sessions::default(), all })
    }

    /// The same, and every document with one session, whatever it names.
    pub fn and_session(self, project: &Project, told: &Told) -> Result<Self, CheckpointError> {
        Ok(Self { sessions: Sessions::only(named(project, told)?), ..self })
    }

    /// Whether lines that a document cites stand elsewhere now.
    pub fn has_moved(&self, shelved: &Shelved) -> bool {
        self.drift.judge(shelved).iter().any(|one| one.status == drift::CitationStatus::Moved)
    }

    /// A session that somebody names is compared in any case.
    fn covering(&self, project: &Project, handoff: &Handoff<'_>) -> Option<Covering> {
        let wanted = self.sessions.is_given() || self.concerns(handoff);
        wanted.then(|| self.sessions.cover(project, handoff)).flatten()
    }

    /// What a handoff says is history when it has ended.
    fn concerns(&self, handoff: &Handoff<'_>) -> bool {
        self.all || !handoff.has_status() || handoff.status().is_open()
    }
}

impl Judged {
    /// The document, for showing what was found in it.
    pub fn document(&self) -> &Document {
        self.document.as_ref().expect("whoever asks has a finding of this document")
    }
}

/// Judges every document of a project.
pub fn check_all(project: &Project, with: &Comparison<'_>) -> Vec<Result<Judged, FileError>> {
    let judge = |shelved| judge(project, Some(with), shelved, Keep::IfFound);
    let mut judged = project.with_all(judge);
    let held: Vec<IdClaim> =
        judged.iter().flatten().filter_map(|judged| judged.claim.clone()).collect();
    let later = later_commits(with, judged.iter().flatten());
    for (result, later) in judged.iter_mut().filter(|result| result.is_ok()).zip(later) {
        let Ok(one) = result else { continue };
        for finding in one.compared(&held, &later) {
            if let Err(error) = one.add(project, finding) {
                *result = Err(error);
                break;
            }
        }
    }
    judged
}

/// Judges some documents, each against all others.
pub fn check_these(
    project: &Project,
    with: Option<&Comparison<'_>>,
    documents: Vec<Shelved>,
) -> Vec<Judged> {
    let judge = |shelved| judge(project, with, shelved, Keep::Always);
    let mut judged: Vec<Judged> = documents.into_iter().map(judge).collect();
    let ids: Vec<String> =
        judged.iter().filter_map(|judged| Some(judged.claim.as_ref()?.key.id.clone())).collect();
    // Only a document that has the id somewhere in it can claim it.
    let mentions = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        ids.iter().any(|id| text.contains(id.as_str()))
    };
    let held = match ids.is_empty() {
        true => Vec::new(),
        false => project.with_those(mentions, |shelved| claim(project, &shelved)),
    };
    let held: Vec<IdClaim> = held.into_iter().filter_map(Result::ok).flatten().collect();
    let later = with.map_or_else(Vec::new, |with| later_commits(with, judged.iter()));
    let later = later.into_iter().chain(std::iter::repeat(Vec::new()));
    for (one, later) in judged.iter_mut().zip(later) {
        for finding in one.compared(&held, &later) {
            // They are all kept, so that nothing is read.
            let _ = one.add(project, finding);
        }
    }
    judged
}

/// Judges the description of a pull request.
pub fn check_pull_request(project: &Project, path: &Path, bytes: &[u8]) -> Judged {
    let document = Document::parse(bytes);
    let verdict = project.judge_pull_request(&document);
    let key = HandoffKey { id: path.display().to_string(), stage: None };
    let document = Some(document);
    Judged {
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
enum Keep {
    Always,
    IfFound,
}

fn judge(project: &Project, with: Option<&Comparison<'_>>, shelved: Shelved, keep: Keep) -> Judged {
    let mut verdict = project.judge(&shelved);
    let handoff = shelved.handoff(project);
    let key = handoff.key();
    let coverage = with.and_then(|with| with.covering(project, &handoff));
    let with = with.filter(|with| with.concerns(&handoff));
    let citations = with.map(|with| with.drift.judge(&shelved)).unwrap_or_default();
    let named = handoff.is_handoff().then(|| key.to_string());
    for finding in drift::findings(named.as_deref(), &citations) {
        verdict.add(&shelved.document, finding);
    }
    let told = coverage.as_ref().and_then(Covering::coverage);
    for finding in told.map(|told| told.findings(&handoff)).unwrap_or_default() {
        verdict.add(&shelved.document, finding);
    }
    let open =
        with.and_then(|_| HandoffActivity::for_open(&handoff, project.environment().clock.now()));
    let changed = open.and_then(|open| open.changed);
    let cited = with
        .zip(changed)
        .and_then(|(with, changed)| with.drift.cited(&shelved, changed, &citations));
    let all = with.is_some_and(|with| with.all);
    let is_told = |one: &CitationCheck| all || one.status != drift::CitationStatus::Intact;
    let citations: Vec<CitationCheck> = citations.into_iter().filter(is_told).collect();
    let claim = claim(project, &shelved);
    let found = !verdict.findings.is_empty() || !verdict.silenced.is_empty();
    let kept = found || keep == Keep::Always || !citations.is_empty() || coverage.is_some();
    let spot = Some(shelved.spot());
    let document = kept.then_some(shelved.document);
    let path = shelved.path;
    Judged { path, key, verdict, citations, coverage, document, claim, spot, open, cited }
}

/// For each judged document the commits that changed what it cites since.
fn later_commits<'j>(
    with: &Comparison<'_>,
    judged: impl Iterator<Item = &'j Judged>,
) -> Vec<Vec<LaterCommit>> {
    let judged: Vec<&Judged> = judged.collect();
    let asked: Vec<Cited> = judged.iter().filter_map(|one| one.cited.clone()).collect();
    let mut answers = with.drift.later_commits(&asked).into_iter();
    let answer = |one: &&Judged| one.cited.as_ref().and_then(|_| answers.next());
    judged.iter().map(answer).map(Option::unwrap_or_default).collect()
}

fn claim(project: &Project, shelved: &Shelved) -> Option<IdClaim> {
    let handoff = shelved.handoff(project);
    let (uid, id) = (handoff.uid()?.value.to_owned(), handoff.node("id")?);
    let path = shelved.path.display().to_string();
    Some(IdClaim { key: handoff.key(), uid, at: id.at, path })
}

impl Judged {
    /// What comparing it with others and with the history tells.
    fn compared(&self, held: &[IdClaim], later: &[LaterCommit]) -> Vec<Finding> {
        let clash = self.claim.as_ref().and_then(|claim| duplicate_id_finding(claim, held));
        let done = self.open.and_then(|open| open.possibly_done_finding(later));
        [clash, done].into_iter().flatten().collect()
    }

    /// It may have been clean so far, and has to be read again.
    fn add(&mut self, project: &Project, finding: Finding) -> Result<(), FileError> {
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
