//! Judge documents, each for itself and all against each other.

use crate::files::FileError;
use crate::project::{Project, Shelved};
use midstride_core::check::{Claim, Verdict, one_id_two_uids};

/// A document and what was found in it.
#[derive(Debug)]
pub struct Judged {
    /// The document.
    pub shelved: Shelved,
    /// What was found.
    pub verdict: Verdict,
}

/// Judges every document of a project.
pub fn check_all(project: &Project) -> Vec<Result<Judged, FileError>> {
    let mut judged = project.with_all(|shelved| judge(project, shelved));
    let claims: Vec<Option<Claim>> = judged
        .iter()
        .map(|judged| judged.as_ref().ok().and_then(|judged| claim(project, &judged.shelved)))
        .collect();
    let held: Vec<Claim> = claims.iter().flatten().cloned().collect();
    for judged in judged.iter_mut().flatten() {
        against(project, judged, &held);
    }
    judged
}

/// Judges some documents, each against all others.
pub fn check_these(project: &Project, documents: Vec<Shelved>) -> Vec<Judged> {
    let mut judged: Vec<Judged> =
        documents.into_iter().map(|shelved| judge(project, shelved)).collect();
    // Only a document with an identity can clash with another.
    if judged.iter().any(|judged| claim(project, &judged.shelved).is_some()) {
        let held = project.with_all(|shelved| claim(project, &shelved));
        let held: Vec<Claim> = held.into_iter().filter_map(Result::ok).flatten().collect();
        for judged in &mut judged {
            against(project, judged, &held);
        }
    }
    judged
}

fn judge(project: &Project, shelved: Shelved) -> Judged {
    let verdict = project.judge(&shelved);
    Judged { shelved, verdict }
}

fn claim(project: &Project, shelved: &Shelved) -> Option<Claim> {
    let handoff = shelved.handoff(project);
    let (uid, id) = (handoff.uid()?.value.to_owned(), handoff.node("id")?);
    let path = shelved.path.display().to_string();
    Some(Claim { key: handoff.key(), uid, at: id.at, path })
}

fn against(project: &Project, judged: &mut Judged, held: &[Claim]) {
    let Some(own) = claim(project, &judged.shelved) else { return };
    if let Some(finding) = one_id_two_uids(&own, held) {
        judged.verdict.add(&judged.shelved.document, finding);
    }
}
