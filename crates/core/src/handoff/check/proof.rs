//! Checks that each proof can be run: its command, folder, timeout and expectation.

use crate::format::finding::{Code, Finding};
use crate::format::header::Proof;
use crate::handoff::Handoff;
use crate::handoff::proof::{ProofSpecError, numbered_proofs};
use crate::text::span::Span;

pub(super) fn check(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    for numbered in numbered_proofs(handoff) {
        let Err(why) = numbered.spec else { continue };
        // A value of the wrong type already has a finding.
        let is_reported = |finding: &Finding| {
            finding.code == Code::UnreadableValue && numbered.proof.at.contains(finding.at)
        };
        if !out.iter().any(is_reported) {
            let at = error_span(&numbered.proof, &why);
            out.push(Finding::new(
                Code::InvalidProof,
                at,
                format!("midstride cannot run this proof: {why}"),
            ));
        }
    }
}

fn error_span(proof: &Proof<'_>, why: &ProofSpecError) -> Span {
    let at = match why {
        ProofSpecError::NoCommand => proof.claim.map(|claim| claim.at),
        ProofSpecError::Nul => proof.run.map(|run| run.at),
        ProofSpecError::Directory(_) => proof.directory.map(|directory| directory.at),
        ProofSpecError::Timeout(_) => proof.timeout.map(|timeout| timeout.at),
        ProofSpecError::Expectation(_) => proof.expect.map(|expect| expect.at),
    };
    at.unwrap_or(proof.at)
}
