//! Rule 4: what a document builds on is named, is there, and is complete.

use super::{Artifact, Surroundings, heading};
use crate::finding::{Code, Finding};
use crate::handoff::Handoff;
use crate::stage::StageRule;

pub(super) fn rules(
    handoff: &Handoff<'_>,
    stage: Option<&StageRule>,
    around: &dyn Surroundings,
    out: &mut Vec<Finding>,
) {
    complete(handoff, around, out);
    if let Some(rule) = stage {
        named(handoff, rule, out);
    }
}

fn complete(handoff: &Handoff<'_>, around: &dyn Surroundings, out: &mut Vec<Finding>) {
    for dependency in handoff.dependencies().upstream {
        let Some(artifact) = dependency.artifact else {
            continue;
        };
        let replaced = dependency.relationship.is_some_and(|r| r.value == "supersedes");
        match around.artifact(artifact.value.trim()) {
            Artifact::Plain | Artifact::Complete => {}
            Artifact::Missing => {
                let message = format!("the upstream artifact `{}` is not there", artifact.value);
                out.push(Finding::new(Code::UpstreamNotFound, artifact.at, message));
            }
            Artifact::Incomplete { .. } if replaced => {}
            Artifact::Incomplete { name, why } => {
                let message = format!("the upstream artifact is not complete: {why}");
                let finding = Finding::new(Code::UpstreamIncomplete, artifact.at, message);
                out.push(finding.run(["midstride", "check", &name]));
            }
        }
    }
}

fn named(handoff: &Handoff<'_>, rule: &StageRule, out: &mut Vec<Finding>) {
    let required = rule.requires().iter().any(|field| field == "dependencies.upstream");
    let is_named = !handoff.dependencies().upstream.is_empty();
    if let Some(stage) = rule.upstream().first().filter(|_| !required && !is_named) {
        let message = format!("the {stage} this was derived from is not named");
        let finding = Finding::new(Code::NoUpstream, heading(handoff), message);
        out.push(finding.think("name it under `dependencies.upstream`"));
    }
}
