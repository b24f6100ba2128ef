//! Checks documents, each on its own and against all others.

use crate::code::CodeState;
use crate::code::drift::{DriftChecker, LaterCommitsQuery};
use crate::store::Store;
use crate::sys::files::FileError;
use crate::verbs::session::checkpoint::CheckpointError;
use crate::verbs::session::coverage::{
    ComparedSession, SessionComparison, SessionLookup, read_session,
};
use crate::workspace::{Catalog, DocumentPlace, StoredHandoff, Workspace};
use midstride_core::format::document::Document;
use midstride_core::format::finding::Finding;
use midstride_core::handoff::Handoff;
use midstride_core::handoff::check::{
    CheckFindings, IdClaim, duplicate_id_finding, secret_findings, secret_name_finding,
};
use midstride_core::handoff::drift::{
    self, CitationCheck, CitationOutcome, HandoffActivity, LaterCommit,
};
use midstride_core::text::id::HandoffKey;
use std::path::{Path, PathBuf};

/// A document and its findings.
#[derive(Debug)]
pub struct DocumentCheck {
    /// The path, relative to the project root.
    pub path: PathBuf,
    /// Its name.
    pub key: HandoffKey,
    /// The findings.
    pub verdict: CheckFindings,
    /// The checked citations: those that drifted, or all of them.
    pub citations: Vec<CitationCheck>,
    /// How well it covers its session, if it names one.
    pub coverage: Option<SessionComparison>,
    /// Kept only with findings when many documents are checked: a thousand clean ones would fill
    /// the memory.
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
    /// Whether to report everything, including intact citations and closed handoffs.
    all: bool,
}

impl<'p> Comparison<'p> {
    /// Compares with the working tree or with a commit.
    pub fn against(store: &'p Store, ground: CodeState, all: bool) -> Result<Self, FileError> {
        let drift = DriftChecker::new(store, ground)?;
        Ok(Self { drift, sessions: SessionLookup::default(), all })
    }

    /// Also compares every document with one session, whatever session it names.
    pub fn with_session(
        self,
        store: &Store,
        session: &ComparedSession,
    ) -> Result<Self, CheckpointError> {
        Ok(Self { sessions: SessionLookup::only(read_session(store, session)?), ..self })
    }

    /// Whether lines a document cites have moved.
    pub fn has_moved(&self, stored: &StoredHandoff) -> bool {
        let checks = self.drift.check(stored);
        let is_moved = |one: &CitationCheck| matches!(one.outcome, CitationOutcome::Moved(_));
        checks.iter().any(|one| is_moved(one) && one.is_fixable)
    }

    /// Compares with the session of a document. A session the user named is always compared.
    fn compare_session(&self, store: &Store, handoff: &Handoff<'_>) -> Option<SessionComparison> {
        let wanted = self.sessions.is_fixed() || self.concerns(handoff);
        wanted.then(|| self.sessions.compare(store, handoff)).flatten()
    }

    /// A closed handoff is history and is skipped.
    fn concerns(&self, handoff: &Handoff<'_>) -> bool {
        self.all || !handoff.has_status() || handoff.status().is_open()
    }
}

impl DocumentCheck {
    /// The document, for showing findings in context.
    pub fn document(&self) -> &Document {
        self.document.as_ref().expect("the caller has a finding of this document")
    }
}

/// Checks every document of a project.
pub fn check_all(store: &Store, with: &Comparison<'_>) -> Vec<Result<DocumentCheck, FileError>> {
    let workspace = store.workspace();
    let catalog = Catalog::new(workspace);
    let check =
        |stored| check_document(store, &catalog, Some(with), stored, DocumentRetention::IfFindings);
    let mut checked = workspace.map_all(check);
    let held: Vec<IdClaim> =
        checked.iter().flatten().filter_map(|checked| checked.claim.clone()).collect();
    let later = later_commits(with, checked.iter().flatten());
    for (result, later) in checked.iter_mut().filter(|result| result.is_ok()).zip(later) {
        let Ok(one) = result else { continue };
        for finding in one.compare(&held, &later) {
            if let Err(error) = one.add_finding(workspace, finding) {
                *result = Err(error);
                break;
            }
        }
    }
    checked
}

/// Checks some documents, each against all others.
pub fn check_documents(
    store: &Store,
    with: Option<&Comparison<'_>>,
    documents: Vec<StoredHandoff>,
) -> Vec<DocumentCheck> {
    let workspace = store.workspace();
    let catalog = Catalog::new(workspace);
    let check = |stored| check_document(store, &catalog, with, stored, DocumentRetention::Always);
    let mut checked: Vec<DocumentCheck> = documents.into_iter().map(check).collect();
    let ids: Vec<String> =
        checked.iter().filter_map(|checked| Some(checked.claim.as_ref()?.key.id.clone())).collect();
    // Only a document that contains the id can claim it.
    let mentions = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        ids.iter().any(|id| text.contains(id.as_str()))
    };
    let held = match ids.is_empty() {
        true => Vec::new(),
        false => workspace.map_matching(mentions, |stored| claim(workspace, &stored)),
    };
    let held: Vec<IdClaim> = held.into_iter().filter_map(Result::ok).flatten().collect();
    let later = with.map_or_else(Vec::new, |with| later_commits(with, checked.iter()));
    let later = later.into_iter().chain(std::iter::repeat(Vec::new()));
    for (one, later) in checked.iter_mut().zip(later) {
        for finding in one.compare(&held, &later) {
            // Documents are always kept here, so this reads no file and cannot fail.
            let _ = one.add_finding(workspace, finding);
        }
    }
    checked
}

/// Checks the description of a pull request.
pub fn check_pull_request(workspace: &Workspace, path: &Path, bytes: &[u8]) -> DocumentCheck {
    let document = Document::parse(bytes);
    let verdict = Catalog::new(workspace).check_pull_request(&document);
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

/// Whether a checked document stays in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DocumentRetention {
    Always,
    IfFindings,
}

fn check_document(
    store: &Store,
    catalog: &Catalog<'_>,
    with: Option<&Comparison<'_>>,
    stored: StoredHandoff,
    keep: DocumentRetention,
) -> DocumentCheck {
    let workspace = store.workspace();
    let mut verdict = catalog.check(&stored);
    let path = stored.path.display().to_string();
    let named = secret_name_finding(&path, workspace.rules());
    for finding in secret_findings(&stored.document, workspace.rules()).into_iter().chain(named) {
        verdict.add(&stored.document, finding);
    }
    let handoff = stored.handoff(workspace);
    let key = handoff.key();
    let coverage = with.and_then(|with| with.compare_session(store, &handoff));
    let with = with.filter(|with| with.concerns(&handoff));
    let citations = with.map(|with| with.drift.check(&stored)).unwrap_or_default();
    let named = handoff.is_handoff().then(|| key.to_string());
    for finding in drift::findings(named.as_deref(), &stored.document, &citations) {
        verdict.add(&stored.document, finding);
    }
    let repository = workspace.repository().filter(|repository| !repository.is_shallow());
    let has_commit = |id: &str| Some(repository?.resolve_commit(id).is_some());
    let other = drift::other_repository_finding(&stored.document, &citations, has_commit);
    if let Some(finding) = other {
        verdict.add(&stored.document, finding);
    }
    let measured = coverage.as_ref().and_then(SessionComparison::coverage);
    for finding in measured.map(|measured| measured.findings(&handoff)).unwrap_or_default() {
        verdict.add(&stored.document, finding);
    }
    let open =
        with.and_then(|_| HandoffActivity::for_open(&handoff, workspace.environment().clock.now()));
    let changed = open.and_then(|open| open.changed);
    let cited = with
        .zip(changed)
        .and_then(|(with, changed)| with.drift.later_commits_query(&stored, changed, &citations));
    let all = with.is_some_and(|with| with.all);
    let is_shown = |one: &CitationCheck| all || !matches!(one.outcome, CitationOutcome::Intact(_));
    let citations: Vec<CitationCheck> = citations.into_iter().filter(is_shown).collect();
    let claim = claim(workspace, &stored);
    let found = !verdict.findings.is_empty() || !verdict.silenced.is_empty();
    let kept =
        found || keep == DocumentRetention::Always || !citations.is_empty() || coverage.is_some();
    let spot = Some(stored.document_place());
    let document = kept.then_some(stored.document);
    let path = stored.path;
    DocumentCheck { path, key, verdict, citations, coverage, document, claim, spot, open, cited }
}

/// For each checked document, the commits that changed the cited code since.
fn later_commits<'j>(
    with: &Comparison<'_>,
    checked: impl Iterator<Item = &'j DocumentCheck>,
) -> Vec<Vec<LaterCommit>> {
    let checked: Vec<&DocumentCheck> = checked.collect();
    let asked: Vec<LaterCommitsQuery> =
        checked.iter().filter_map(|one| one.cited.clone()).collect();
    let mut answers = with.drift.later_commits(&asked).into_iter();
    let answer = |one: &&DocumentCheck| one.cited.as_ref().and_then(|_| answers.next());
    checked.iter().map(answer).map(Option::unwrap_or_default).collect()
}

fn claim(workspace: &Workspace, stored: &StoredHandoff) -> Option<IdClaim> {
    let handoff = stored.handoff(workspace);
    let (uid, id) = (handoff.written_uid()?.value.to_owned(), handoff.node("id")?);
    let path = stored.path.display().to_string();
    Some(IdClaim { key: handoff.key(), uid, at: id.at, path })
}

impl DocumentCheck {
    /// The findings from comparing it with other documents and with the history.
    fn compare(&self, held: &[IdClaim], later: &[LaterCommit]) -> Vec<Finding> {
        let clash = self.claim.as_ref().and_then(|claim| duplicate_id_finding(claim, held));
        let done = self.open.and_then(|open| open.possibly_done_finding(later));
        [clash, done].into_iter().flatten().collect()
    }

    /// Adds a finding. A document that was clean so far has to be read again.
    fn add_finding(&mut self, workspace: &Workspace, finding: Finding) -> Result<(), FileError> {
        let document = match (self.document.take(), &self.spot) {
            (Some(document), _) => document,
            (None, Some(place)) => workspace.read(place)?.document,
            (None, None) => return Ok(()),
        };
        self.verdict.add(&document, finding);
        self.document = Some(document);
        Ok(())
    }
}
