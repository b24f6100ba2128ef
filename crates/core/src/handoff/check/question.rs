//! Rule 2: no open question blocks.

use crate::format::finding::{Code, Finding};
use crate::format::header::{FromYaml, Question};
use crate::handoff::Handoff;
use crate::text::id::HandoffId;
use crate::text::yaml::YamlNode;

/// Finds questions that do not say whether they block.
pub(super) fn check_blocking_flag(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    let items = handoff.node("open_questions").map(YamlNode::items).unwrap_or_default();
    for (number, item) in (1..).zip(items) {
        let Some(question) = Question::read(item).filter(|one| one.answer.is_none()) else {
            continue;
        };
        // An unreadable value has its own finding.
        if item.get("blocking").is_some_and(|node| !node.is_blank()) {
            continue;
        }
        let at = question.question.map_or(question.at, |text| text.at);
        let message = format!("q{number} does not say whether it blocks");
        let finding = Finding::new(Code::QuestionUnclear, at, message);
        out.push(finding.with_hint("add `blocking: true` or `blocking: false`"));
    }
}

pub(super) fn check(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    for question in handoff.questions().iter().filter(|question| question.blocks()) {
        let text = question.question.map_or("(no text)", |text| text.value.trim());
        let at = question.question.map_or(question.at, |text| text.at);
        let message = format!("a blocking question is open: {text}");
        let finding = Finding::new(Code::BlockingQuestion, at, message);
        let how = answer_hint(handoff, question);
        out.push(match question.owner {
            Some(owner) => finding.with_hint(format!("{} should answer it{how}", owner.value)),
            None => finding.with_hint(format!("answer it{how}, or set `blocking: false`")),
        });
    }
}

/// The command that answers a question, with the number that `answer` expects.
fn answer_hint(handoff: &Handoff<'_>, question: &Question<'_>) -> String {
    let items = handoff.node("open_questions").map(YamlNode::items).unwrap_or_default();
    let index = items.iter().position(|item| item.at == question.at);
    let named =
        |index| format!(": midstride answer {} q{} \"the answer\"", handoff.key(), index + 1);
    // A note has no verbs yet, and a key that is not a slug cannot be pasted into a shell.
    let key = handoff.key();
    let mut parts = std::iter::once(&key.id).chain(&key.stage);
    let can_be_typed = handoff.is_handoff() && parts.all(|part| HandoffId::parse(part).is_ok());
    index.filter(|_| can_be_typed).map_or_else(|| " under `answer`".to_owned(), named)
}
