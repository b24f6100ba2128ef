//! Rule 1: the fields that a document's kind or stage requires are present and not empty.

use super::header_key_span;
use crate::format::finding::{Code, Finding};
use crate::format::header::HandoffKind;
use crate::format::stage::{KindRule, StageRule, Stages};
use crate::handoff::Handoff;
use crate::text::id::{HandoffId, nearest_match};
use crate::text::yaml::{YamlNode, YamlValue};

pub(super) fn check(
    handoff: &Handoff<'_>,
    stages: &Stages,
    stage: Option<&StageRule>,
    out: &mut Vec<Finding>,
) {
    for field in required_fields(handoff, stages, stage) {
        check_field(handoff, stages, field, out);
    }
    check_id(handoff, out);
}

/// The required fields that have no value yet.
pub(super) fn unfilled_fields<'s>(handoff: &Handoff<'_>, stages: &'s Stages) -> Vec<&'s str> {
    let stage = handoff.stage().and_then(|name| stages.stages.get(name));
    let is_unfilled = |field: &&str| match handoff.node(field) {
        Some(node) => has_no_value(node) && !states_none(stages, field, node),
        None => !is_elsewhere(handoff, field),
    };
    required_fields(handoff, stages, stage).filter(is_unfilled).collect()
}

/// The fields that the stage requires, or else the kind. Without capabilities there is nothing to
/// decide about them.
fn required_fields<'s>(
    handoff: &Handoff<'_>,
    stages: &'s Stages,
    stage: Option<&'s StageRule>,
) -> impl Iterator<Item = &'s str> {
    let kind = stages.kinds.get(handoff.kind().word());
    let by_kind = kind.map(KindRule::requires).unwrap_or_default();
    let requires = stage.map_or(by_kind, StageRule::requires).iter().map(String::as_str);
    let is_asked =
        |field: &&str| *field != "platform_capabilities" || !stages.capabilities().is_empty();
    requires.filter(is_asked)
}

/// Whether a document says in another place what a missing field would. A title may be a heading,
/// and the date a `Captured:` line.
fn is_elsewhere(handoff: &Handoff<'_>, field: &str) -> bool {
    match field {
        "title" => handoff.title().is_some(),
        // A note that does not state its date stays without one.
        "created" => handoff.created().is_some() || handoff.is_adopted(),
        _ => false,
    }
}

/// Whether an empty list means that there are none.
fn states_none(stages: &Stages, field: &str, node: &YamlNode) -> bool {
    stages.may_be_empty(field) && matches!(&node.value, YamlValue::List(items) if items.is_empty())
}

/// The rule of the document's stage. Adds a finding if the stage is unknown.
pub(super) fn stage_rule<'s>(
    handoff: &Handoff<'_>,
    stages: &'s Stages,
    out: &mut Vec<Finding>,
) -> Option<&'s StageRule> {
    let Some(name) = handoff.stage() else {
        if handoff.kind() == HandoffKind::Stage {
            let message = "a stage handoff needs a `stage` field";
            out.push(Finding::new(Code::MissingField, header_key_span(handoff), message));
        }
        return None;
    };
    let rule = stages.stages.get(name);
    if rule.is_none() {
        let at = handoff.node("stage").map_or(header_key_span(handoff), |node| node.at);
        let known: Vec<&str> = stages.names().collect();
        let hint = match nearest_match(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known stages: {}", known.join(", ")),
        };
        let message = format!("unknown stage `{name}`");
        out.push(Finding::new(Code::UnknownStage, at, message).with_hint(hint));
    }
    rule
}

/// Whether a value is empty in all its parts, such as `quota: {applies: , rationale: }`.
pub(super) fn has_no_value(node: &YamlNode) -> bool {
    match &node.value {
        YamlValue::Map(entries) => entries.iter().all(|entry| has_no_value(&entry.node)),
        YamlValue::Null | YamlValue::Text(_) | YamlValue::List(_) | YamlValue::Unreadable(_) => {
            node.is_blank()
        }
    }
}

/// A handoff of this kind, for messages.
pub(super) fn kind_with_article(kind: HandoffKind) -> &'static str {
    match kind {
        HandoffKind::Investigation => "an investigation handoff",
        HandoffKind::Session => "a session handoff",
        HandoffKind::Stage => "a stage handoff",
    }
}

fn check_field(handoff: &Handoff<'_>, stages: &Stages, field: &str, out: &mut Vec<Finding>) {
    let subject = match handoff.stage() {
        Some(stage) => format!("a document at the {stage} stage"),
        None => kind_with_article(handoff.kind()).to_owned(),
    };
    let Some(node) = handoff.node(field) else {
        if !is_elsewhere(handoff, field) {
            let message = format!("{subject} needs `{field}`");
            let finding = Finding::new(Code::MissingField, header_key_span(handoff), message);
            out.push(finding.with_hint(format!("add `{field}:` under `handoff:`")));
        }
        return;
    };
    if node.is_blank() && !states_none(stages, field, node) {
        let message = format!("`{field}` is empty, but {subject} needs it");
        out.push(Finding::new(Code::EmptyField, node.at, message));
    }
}

fn check_id(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    let Some(id) = handoff.node("id").and_then(YamlNode::text) else {
        return;
    };
    if let Err(why) = HandoffId::parse(id.value)
        && !id.value.trim().is_empty()
    {
        let finding = Finding::new(Code::BadId, id.at, format!("`{}` is not a valid id", id.value));
        out.push(finding.with_hint(why.to_string()));
    }
}
