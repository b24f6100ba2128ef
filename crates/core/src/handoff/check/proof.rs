//! A proof says what to run, where, and what must come of it.

use crate::format::finding::{Code, Finding};
use crate::format::header::Proof;
use crate::handoff::Handoff;
use crate::handoff::proof::{NotUnderstood, proofs};
use crate::text::span::Span;

pub(super) fn rules(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    for numbered in proofs(handoff) {
        let Err(why) = numbered.test else { continue };
        // A value of the wrong kind is told already.
        let told = |finding: &Finding| {
            finding.code == Code::UnreadableValue && numbered.proof.at.contains(finding.at)
        };
        if !out.iter().any(told) {
            let at = place(&numbered.proof, &why);
            out.push(Finding::new(
                Code::ProofNotUnderstood,
                at,
                format!("a proof is not run: {why}"),
            ));
        }
    }
}

fn place(proof: &Proof<'_>, why: &NotUnderstood) -> Span {
    let at = match why {
        NotUnderstood::NoCommand => proof.claim.map(|claim| claim.at),
        NotUnderstood::Nul => proof.run.map(|run| run.at),
        NotUnderstood::Directory(_) => proof.directory.map(|directory| directory.at),
        NotUnderstood::Timeout(_) => proof.timeout.map(|timeout| timeout.at),
        NotUnderstood::Expectation(_) => proof.expect.map(|expect| expect.at),
    };
    at.unwrap_or(proof.at)
}
