//! Rule 4: the documents that a handoff builds on are named, exist and are complete.

use super::{CheckContext, ReferencedArtifact, header_key_span};
use crate::format::finding::{Code, Finding};
use crate::format::stage::{StageRule, Stages};
use crate::handoff::Handoff;
use crate::text::id::HandoffKey;

pub(super) fn check(
    handoff: &Handoff<'_>,
    stages: &Stages,
    stage: Option<&StageRule>,
    context: &dyn CheckContext,
    out: &mut Vec<Finding>,
) {
    check_complete(handoff, context, out);
    if let Some(rule) = stage {
        check_named(handoff, stages, rule, out);
    }
}

/// Checks that the named documents exist and are complete.
pub(super) fn check_complete(
    handoff: &Handoff<'_>,
    context: &dyn CheckContext,
    out: &mut Vec<Finding>,
) {
    for dependency in handoff.dependencies().upstream {
        let Some(artifact) = dependency.artifact else {
            continue;
        };
        let replaced = dependency.relationship.is_some_and(|r| r.value == "supersedes");
        match context.artifact(artifact.value.trim()) {
            ReferencedArtifact::Plain | ReferencedArtifact::Complete => {}
            ReferencedArtifact::Missing => {
                let message = format!("the upstream artifact `{}` does not exist", artifact.value);
                out.push(Finding::new(Code::UpstreamNotFound, artifact.at, message));
            }
            ReferencedArtifact::Incomplete { .. } if replaced => {}
            ReferencedArtifact::Incomplete { name, why } => {
                let message = format!("the upstream artifact is incomplete: {why}");
                let finding = Finding::new(Code::UpstreamIncomplete, artifact.at, message);
                out.push(finding.with_command(["midstride", "check", &name]));
            }
        }
    }
}

/// Checks that a stage names a document for each stage it builds on. An artifact whose stage is not
/// clear from its path may count for any of them.
fn check_named(handoff: &Handoff<'_>, stages: &Stages, rule: &StageRule, out: &mut Vec<Finding>) {
    let upstream = handoff.dependencies().upstream;
    let artifacts: Vec<&str> =
        upstream.iter().filter_map(|one| Some(one.artifact?.value.trim())).collect();
    let required = rule.requires().iter().any(|field| field == "dependencies.upstream");
    if artifacts.is_empty() && required {
        return;
    }
    let is_of = |artifact: &str, stage: &str| {
        let key = HandoffKey { id: handoff.id().to_owned(), stage: Some(stage.to_owned()) };
        stages.is_reference_to(artifact, &key)
    };
    let wanted = rule.upstream();
    let missing = wanted.iter().filter(|stage| !artifacts.iter().any(|one| is_of(one, stage)));
    let missing: Vec<&str> = missing.map(String::as_str).collect();
    let others = artifacts.iter().filter(|one| !wanted.iter().any(|stage| is_of(one, stage)));
    if missing.len() > others.count() {
        let message = format!(
            "this builds on {} but does not list {} as upstream",
            wanted.join(" and "),
            missing.join(" and ")
        );
        let finding = Finding::new(Code::NoUpstream, header_key_span(handoff), message);
        out.push(finding.with_hint("list it under `dependencies.upstream`"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::document::Document;
    use crate::handoff::Location;

    /// The message for a design with this upstream.
    fn said(artifacts: &[&str]) -> Option<String> {
        let entries: String =
            artifacts.iter().map(|one| format!("      - artifact: {one}\n")).collect();
        let text = format!(
            "---\nhandoff:\n  id: feat-042\n  stage: design\n  dependencies:\n    upstream:\n{entries}---\n"
        );
        let document = Document::parse(text.as_bytes());
        let (location, stages) = (Location::default(), Stages::shipped());
        let mut found = Vec::new();
        let handoff = Handoff::new(&document, &location, &stages);
        check_named(&handoff, &stages, &stages.stages["design"], &mut found);
        found.pop().map(|finding| finding.message)
    }

    #[test]
    fn a_design_names_its_spec_and_its_pricing() {
        let both = "this builds on spec and pricing but does not list spec and pricing as upstream";
        assert_eq!(said(&[]).as_deref(), Some(both));
        let pricing = "this builds on spec and pricing but does not list pricing as upstream";
        assert_eq!(said(&["feat-042/spec"]).as_deref(), Some(pricing));
        assert_eq!(said(&["specs/feat-042-snapshots.md"]).as_deref(), Some(pricing));
        let own = [".midstride/handoffs/feat-042/spec.md", "../pricing/feat-042.md#tiers"];
        assert_eq!(said(&own), None);
        // An artifact with an unclear path may be the pricing.
        assert_eq!(said(&["feat-042/spec", "docs/tiers.md"]), None);
    }
}
