//! Judge documents, each for itself and all against each other.

use crate::files::FileError;
use crate::project::{Project, Shelved, Spot};
use midstride_core::check::{Claim, Verdict, one_id_two_uids};
use midstride_core::document::Document;
use midstride_core::finding::Finding;
use midstride_core::id::HandoffKey;
use std::path::{Path, PathBuf};

/// A document and what was found in it.
#[derive(Debug)]
pub struct Judged {
    /// The path, from the root of the project.
    pub path: PathBuf,
    /// Its name.
    pub key: HandoffKey,
    /// What was found.
    pub verdict: Verdict,
    /// Of many, kept only where something was found: a thousand clean ones would fill the memory.
    document: Option<Document>,
    claim: Option<Claim>,
    spot: Option<Spot>,
}

impl Judged {
    /// The document, for showing what was found in it.
    pub fn document(&self) -> &Document {
        self.document.as_ref().expect("whoever asks has a finding of this document")
    }
}

/// Judges every document of a project.
pub fn check_all(project: &Project) -> Vec<Result<Judged, FileError>> {
    let mut judged = project.with_all(|shelved| judge(project, shelved, Keep::IfFound));
    let held: Vec<Claim> =
        judged.iter().flatten().filter_map(|judged| judged.claim.clone()).collect();
    for result in &mut judged {
        let Ok(one) = result else { continue };
        // It may have been clean so far, and has to be read again.
        let Some(finding) = one.clash(&held) else { continue };
        match one.spot.as_ref().map(|spot| project.read(spot)) {
            Some(Ok(shelved)) => one.add(shelved.document, finding),
            Some(Err(error)) => *result = Err(error),
            None => {}
        }
    }
    judged
}

/// Judges some documents, each against all others.
pub fn check_these(project: &Project, documents: Vec<Shelved>) -> Vec<Judged> {
    let mut judged: Vec<Judged> =
        documents.into_iter().map(|shelved| judge(project, shelved, Keep::Always)).collect();
    let ids: Vec<String> =
        judged.iter().filter_map(|judged| Some(judged.claim.as_ref()?.key.id.clone())).collect();
    if ids.is_empty() {
        return judged;
    }
    // Only a document that has the id somewhere in it can claim it.
    let mentions = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        ids.iter().any(|id| text.contains(id.as_str()))
    };
    let held = project.with_those(mentions, |shelved| claim(project, &shelved));
    let held: Vec<Claim> = held.into_iter().filter_map(Result::ok).flatten().collect();
    for one in &mut judged {
        if let Some(finding) = one.clash(&held)
            && let Some(document) = one.document.take()
        {
            one.add(document, finding);
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
    Judged { path: path.to_owned(), key, verdict, document, claim: None, spot: None }
}

/// Whether a judged document stays in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    Always,
    IfFound,
}

fn judge(project: &Project, shelved: Shelved, keep: Keep) -> Judged {
    let verdict = project.judge(&shelved);
    let key = shelved.handoff(project).key();
    let claim = claim(project, &shelved);
    let found = !verdict.findings.is_empty() || !verdict.silenced.is_empty();
    let spot = Some(shelved.spot());
    let document = (found || keep == Keep::Always).then_some(shelved.document);
    Judged { path: shelved.path, key, verdict, document, claim, spot }
}

fn claim(project: &Project, shelved: &Shelved) -> Option<Claim> {
    let handoff = shelved.handoff(project);
    let (uid, id) = (handoff.uid()?.value.to_owned(), handoff.node("id")?);
    let path = shelved.path.display().to_string();
    Some(Claim { key: handoff.key(), uid, at: id.at, path })
}

impl Judged {
    /// The finding that somebody else has its name.
    fn clash(&self, held: &[Claim]) -> Option<Finding> {
        one_id_two_uids(self.claim.as_ref()?, held)
    }

    fn add(&mut self, document: Document, finding: Finding) {
        self.verdict.add(&document, finding);
        self.document = Some(document);
    }
}
