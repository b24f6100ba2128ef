//! Rule 2: no question blocks.

use crate::finding::{Code, Finding};
use crate::handoff::Handoff;

pub(super) fn rules(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    for question in handoff.questions().iter().filter(|question| question.blocks()) {
        let text = question.question.map_or("(no text)", |text| text.value.trim());
        let at = question.question.map_or(question.at, |text| text.at);
        let finding = Finding::new(
            Code::BlockingQuestion,
            at,
            format!("a blocking question is open: {text}"),
        );
        out.push(match question.owner {
            Some(owner) => {
                finding.think(format!("{} should answer it, under `answer`", owner.value))
            }
            None => finding.think("answer it under `answer`, or say that it does not block"),
        });
    }
}
