//! Judge documents, each for itself and all against each other.

use crate::files::FileError;
use crate::project::{Project, Shelved, on_all_cores};
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
pub fn check_all(project: &Project) -> Result<Vec<Result<Judged, FileError>>, FileError> {
    let spots = project.spots()?;
    let mut judged =
        on_all_cores(&spots, |spot| project.read(spot).map(|shelved| judge(project, shelved)));
    against_each_other(project, &mut judged);
    Ok(judged)
}

/// Judges some documents.
pub fn check_these(project: &Project, documents: Vec<Shelved>) -> Vec<Judged> {
    documents.into_iter().map(|shelved| judge(project, shelved)).collect()
}

fn judge(project: &Project, shelved: Shelved) -> Judged {
    let verdict = project.judge(&shelved);
    Judged { shelved, verdict }
}

fn against_each_other(project: &Project, judged: &mut [Result<Judged, FileError>]) {
    let mut owners = Vec::new();
    let mut claims = Vec::new();
    for (index, judged) in judged.iter().enumerate() {
        let Ok(Judged { shelved, .. }) = judged else {
            continue;
        };
        let handoff = shelved.handoff(project);
        if let (Some(uid), Some(id)) = (handoff.uid(), handoff.node("id")) {
            let path = shelved.path.display().to_string();
            owners.push(index);
            claims.push(Claim { key: handoff.key(), uid: uid.value.to_owned(), at: id.at, path });
        }
    }
    for (claim, finding) in one_id_two_uids(&claims) {
        if let Ok(judged) = &mut judged[owners[claim]] {
            judged.verdict.findings.push(finding);
            judged.verdict.findings.sort_by_key(|finding| (finding.at.start, finding.code));
        }
    }
}
