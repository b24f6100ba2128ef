//! The five rules for advancing: required fields, blocking questions, assumptions, dependencies,
//! capabilities.

use super::{Artifact, Surroundings, heading};
use crate::finding::{Code, Finding};
use crate::handoff::Handoff;
use crate::header::{Confidence, HandoffKind, Header};
use crate::id::{HandoffId, nearest};
use crate::stage::{StageRule, Stages};
use crate::yaml::{Node, Value};

pub(super) fn rules(
    handoff: &Handoff<'_>,
    stages: &Stages,
    around: &dyn Surroundings,
    out: &mut Vec<Finding>,
) {
    let rule = stage_rule(handoff, stages, out);
    let kind = stages.kinds.get(handoff.kind().word());
    let by_kind = kind.map(|rule| rule.requires.as_slice()).unwrap_or_default();
    let required = rule.map_or(by_kind, |rule| rule.requires.as_slice());
    for field in required {
        require(handoff, stages, field, out);
    }
    slug(handoff, out);
    if handoff.status().is_open() {
        questions(handoff, out);
        assumptions(handoff, out);
    }
    upstream(handoff, around, out);
    if let Some(rule) = rule {
        names_upstream(handoff, rule, out);
        if rule.capabilities {
            capabilities(handoff, stages, out);
        }
    }
}

/// The rule of the document's stage, with a finding where the stage is not known.
fn stage_rule<'s>(
    handoff: &Handoff<'_>,
    stages: &'s Stages,
    out: &mut Vec<Finding>,
) -> Option<&'s StageRule> {
    let Some(name) = handoff.stage() else {
        if handoff.kind() == HandoffKind::Stage {
            let message = "a handoff of kind stage names its `stage`";
            out.push(Finding::new(Code::MissingField, heading(handoff), message));
        }
        return None;
    };
    let rule = stages.stages.get(name);
    if rule.is_none() {
        let at = handoff.node("stage").map_or(heading(handoff), |node| node.at);
        let known: Vec<&str> = stages.names().collect();
        let advice = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the known ones are {}", known.join(", ")),
        };
        let message = format!("there is no stage `{name}`");
        out.push(Finding::new(Code::UnknownStage, at, message).think(advice));
    }
    rule
}

fn require(handoff: &Handoff<'_>, stages: &Stages, field: &str, out: &mut Vec<Finding>) {
    let of = match handoff.stage() {
        Some(stage) => format!("a document of the {stage} stage"),
        None => format!("a handoff of kind {}", handoff.kind()),
    };
    let Some(node) = handoff.node(field) else {
        // Some fields are told elsewhere too: in a heading, in a line `Captured:`.
        let told = match field {
            "title" => handoff.title().is_some(),
            "created" => handoff.created().is_some(),
            _ => false,
        };
        if !told {
            let message = format!("{of} needs `{field}`");
            let finding = Finding::new(Code::MissingField, heading(handoff), message);
            out.push(finding.think(format!("add `{field}:` below `handoff:`")));
        }
        return;
    };
    let states_none = stages.may_be_empty.iter().any(|name| name == field)
        && matches!(node.value, Value::List(_));
    if node.is_blank() && !states_none {
        let message = format!("`{field}` says nothing, and {of} needs it");
        out.push(Finding::new(Code::EmptyField, node.at, message));
    }
}

fn slug(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    let Some(id) = handoff.node("id").and_then(Node::text) else {
        return;
    };
    if let Err(why) = HandoffId::parse(id.value)
        && !id.value.trim().is_empty()
    {
        let finding = Finding::new(Code::BadId, id.at, format!("`{}` is not an id", id.value));
        out.push(finding.think(why.to_string()));
    }
}

fn questions(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    for question in handoff.questions().iter().filter(|question| question.blocks()) {
        let text = question.question.map_or("(no text)", |text| text.value.trim());
        let at = question.question.map_or(question.at, |text| text.at);
        let finding = Finding::new(
            Code::BlockingQuestion,
            at,
            format!("a blocking question is open: {text}"),
        );
        out.push(match question.owner {
            Some(owner) => finding.think(format!("{} should answer it", owner.value)),
            None => finding.think("answer it under `answer`, or say that it does not block"),
        });
    }
}

fn assumptions(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    for assumption in handoff.assumptions() {
        if !assumption.validation_needed || assumption.validated {
            continue;
        }
        let code = match assumption.confidence {
            Some(Confidence::Low) => Code::AssumptionUnfounded,
            Some(Confidence::Medium) => Code::AssumptionUnchecked,
            Some(Confidence::High) | None => continue,
        };
        let text = assumption.assumption.map_or("(no text)", |text| text.value.trim());
        let at = assumption.assumption.map_or(assumption.at, |text| text.at);
        let message = format!("an assumption waits for validation: {text}");
        out.push(Finding::new(code, at, message).think("validate it and set `validated: true`"));
    }
}

fn upstream(handoff: &Handoff<'_>, around: &dyn Surroundings, out: &mut Vec<Finding>) {
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
                out.push(finding.run(format!("midstride check {name}")));
            }
        }
    }
}

fn names_upstream(handoff: &Handoff<'_>, rule: &StageRule, out: &mut Vec<Finding>) {
    let required = rule.requires.iter().any(|field| field == "dependencies.upstream");
    let named = !handoff.dependencies().upstream.is_empty();
    if let Some(stage) = rule.upstream.first().filter(|_| !required && !named) {
        let message = format!("the {stage} this was derived from is not named");
        let finding = Finding::new(Code::NoUpstream, heading(handoff), message);
        out.push(finding.think("name it under `dependencies.upstream`"));
    }
}

fn capabilities(handoff: &Handoff<'_>, stages: &Stages, out: &mut Vec<Finding>) {
    let fields = handoff.header().map(Header::fields);
    let Some(entry) = fields.and_then(|fields| fields.entry("platform_capabilities")) else {
        return;
    };
    if entry.node.is_blank() {
        return;
    }
    for name in &stages.capabilities {
        let capability = handoff.capability(name);
        let at = capability.as_ref().map_or(entry.key.at, |capability| capability.at);
        match capability {
            Some(decided) if decided.applies.is_some() => {
                if decided.rationale.is_none() {
                    let message = format!("`{name}` is decided without a rationale");
                    out.push(Finding::new(Code::CapabilityUnexplained, at, message));
                }
            }
            Some(_) | None => {
                let message = format!("nobody decided whether `{name}` applies");
                let finding = Finding::new(Code::CapabilityMissing, at, message);
                out.push(finding.think(format!("add `{name}:` with `applies` and `rationale`")));
            }
        }
    }
}
