//! Rule 3: assumptions that ask for validation got it, the shakier the sooner.

use crate::finding::{Code, Finding};
use crate::handoff::Handoff;
use crate::header::Confidence;

pub(super) fn rules(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    for assumption in handoff.assumptions() {
        if !assumption.validation_needed || assumption.validated {
            continue;
        }
        let code = match assumption.confidence {
            Some(Confidence::Low) => Code::AssumptionUnfounded,
            Some(Confidence::Medium) | None => Code::AssumptionUnchecked,
            Some(Confidence::High) => continue,
        };
        let text = assumption.assumption.map_or("(no text)", |text| text.value.trim());
        let at = assumption.assumption.map_or(assumption.at, |text| text.at);
        let message = format!("an assumption waits for validation: {text}");
        out.push(Finding::new(code, at, message).think("validate it and set `validated: true`"));
    }
}
