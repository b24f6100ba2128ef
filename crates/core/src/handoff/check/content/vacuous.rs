//! Finds texts so generic that they would fit any work.

use super::{without_comments, words};
use crate::format::document::Document;
use crate::format::finding::{Code, Finding};
use crate::format::generated_section;
use crate::format::section::SectionMeaning;
use crate::handoff::Handoff;
use crate::text::span::Span;
use crate::text::yaml::YamlNode;

/// Words that would fit any work.
const GENERIC_WORDS: &str = " \
 a about above according again ahead all also an and any anything applicable are as asked at be been before being below \
 better bit bits bunch by can carried carry change changed changes code complete completed completely completing continue \
 continued continues continuing did do does doing done etc every everything expected few file files fine finish \
 finished finishing fix fixed fixes fixing for forward from further get go goes going good got had handled has have how i if \
 implement implementation implemented improve improved improvements in is issue issues it its job just keep kept later left \
 like lot lots made make many misc miscellaneous more most move much my n na need needed needs new next no none not nothing \
 now of ok okay on one ongoing or other our out part pending please point problem problems proceed progress progressed \
 project remain remaining remains request requested rest same see session several so some something soon started status \
 step steps still stuff successfully sure task tasks tbd that the their them then there these thing things this those \
 through to todo up update updated updates user various was way we well went were what where which while will wip with \
 work worked working works yet you your ";

/// Whether every word of a text is generic. An empty text has its own finding.
fn is_vacuous(text: &str) -> bool {
    let text = text.to_lowercase();
    let is_generic = |word: &str| {
        word.chars().all(|c| c.is_ascii_digit()) || GENERIC_WORDS.contains(&format!(" {word} "))
    };
    words(&text).next().is_some() && words(&text).all(is_generic)
}

pub(super) fn check(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    let mut found = |at, what: &str| {
        let message = format!("{what} is generic and would fit any work");
        out.push(Finding::new(Code::VagueSummary, at, message));
    };
    let summary = handoff.node("context_summary");
    let text = summary.and_then(YamlNode::text);
    if let Some(text) = text.filter(|text| is_vacuous(text.value)) {
        found(text.at, "the summary");
    }
    let document = handoff.document();
    for section in document.sections_about(SectionMeaning::Continuation) {
        if is_vacuous(&author_text(document, section.own)) {
            found(section.title.at, &format!("`{}`", section.title.value.trim()));
        }
    }
}

/// The text below a heading that the author wrote.
fn author_text(document: &Document, part: Span) -> String {
    without_comments(&generated_section::author_text(document, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_generic_words_is_vacuous() {
        for text in [
            "Stuff was done.",
            "Various fixes and improvements",
            "Work in progress",
            "1. Continue\n2. Finish the remaining tasks",
            "TBD",
            "Keep going",
            "Everything went fine, see above.",
        ] {
            assert!(is_vacuous(text), "{text}");
        }
        for text in [
            "Slow pages.",
            "Fix npm run build",
            "Deploys purge it.",
            "Warm it",
            "Go on with y2038",
            "Alles erledigt",
            "",
            "…",
        ] {
            assert!(!is_vacuous(text), "{text}");
        }
    }

    #[test]
    fn every_listed_word_is_recognized() {
        assert!(GENERIC_WORDS.split_whitespace().all(is_vacuous));
    }
}
