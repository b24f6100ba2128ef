//! Checks the substance of a document: a complete form can still say nothing.

mod placeholder;
pub(super) mod prose;
mod vacuous;

use super::{header_key_span, required};
use crate::format::document::Document;
use crate::format::finding::{Code, Finding};
use crate::format::generated_section::{self, GeneratedSection};
use crate::format::header::{HandoffKind, Revision};
use crate::format::section::{Section, SectionMeaning};
use crate::format::stage::Stages;
use crate::handoff::Handoff;
use crate::handoff::anchor::Anchors;
use crate::handoff::citation::is_known_extension;
use crate::text::markdown::MarkdownBlockKind;
use crate::text::span::Span;

/// Longer documents are hard to read in one go. Most useful handoffs have 50 to 150 lines, but a short
/// one may say everything.
const LINES_MAX: usize = 400;

pub(super) fn check(handoff: &Handoff<'_>, stages: &Stages, out: &mut Vec<Finding>) {
    let document = handoff.document();
    check_decisions(handoff, out);
    check_root_causes(document, out);
    check_plan_steps(document, out);
    check_lessons(handoff, out);
    check_length(document, out);
    check_empty_sections(document, out);
    check_summary(handoff, out);
    prose::check(handoff, out);
    vacuous::check(handoff, out);
    check_required_section(handoff, stages, out);
}

fn check_decisions(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    for decision in handoff.decisions().iter().filter(|decision| decision.rationale.is_none()) {
        let at = decision.decision.map_or(decision.at, |text| text.at);
        let what = decision.decision.map_or("(no text)", |text| text.value.trim());
        let message = format!("a decision without a reason: {what}");
        out.push(
            Finding::new(Code::DecisionWithoutRationale, at, message).with_hint("add `rationale`"),
        );
    }
}

/// The entries of a section: its list items and subsections, or else the section as a whole.
fn parts(document: &Document, section: &Section) -> Vec<Span> {
    let below = |other: &&Section| section.at.contains(other.at) && other.at != section.at;
    let direct: Vec<&Section> = document.sections().iter().filter(below).collect();
    let level = direct.iter().map(|section| section.level).min();
    let subsections: Vec<Span> =
        direct.iter().filter(|s| Some(s.level) == level).map(|s| s.at).collect();
    let item = |block: &&crate::text::markdown::MarkdownBlock| {
        block.kind == MarkdownBlockKind::Item && section.own.contains(block.at)
    };
    let items: Vec<Span> = document.blocks().iter().filter(item).map(|block| block.at).collect();
    let entries: Vec<Span> = items.into_iter().chain(subsections).collect();
    match entries.is_empty() {
        true if is_empty(document, section) => Vec::new(),
        true => vec![section.own],
        false => entries,
    }
}

/// The first line of a part. Findings about the part point to it.
fn first_line(document: &Document, part: Span) -> Span {
    let text = part.slice(document.text());
    let lead = text.len() - text.trim_start().len();
    let line = text.trim_start().lines().next().unwrap_or_default().trim_end();
    Span::new(part.start + lead, part.start + lead + line.len())
}

fn check_root_causes(document: &Document, out: &mut Vec<Finding>) {
    for section in document.sections_about(SectionMeaning::RootCauses) {
        for part in parts(document, section) {
            if !names_file(part.slice(document.text())) {
                let at = first_line(document, part);
                let message = "this root cause does not name a file";
                let finding = Finding::new(Code::RootCauseWithoutPlace, at, message);
                out.push(finding.with_hint("name the file and line, such as `src/market.py:120`"));
            }
        }
    }
}

/// Whether a text contains something like `src/market.py`, `market.py:12` or `market_hub()`.
fn names_file(text: &str) -> bool {
    let separator = |c: char| c.is_whitespace() || "`()[]<>,;\"'".contains(c);
    text.contains("()") || text.split(separator).any(looks_like_path)
}

fn looks_like_path(word: &str) -> bool {
    let path = word.trim_end_matches(['.', ':']);
    let (name, line) = path.split_once([':', '#']).unwrap_or((path, ""));
    if name.starts_with("http") {
        return false;
    }
    let (folder, last) = name.rsplit_once('/').unwrap_or(("", name));
    let Some((stem, ending)) = last.rsplit_once('.') else {
        return folder.contains('/') && name.chars().any(char::is_alphanumeric);
    };
    let at_a_line = line.trim_start_matches('L').starts_with(|c: char| c.is_ascii_digit());
    // `Node.js` and `Vue.js` are products, `market.js` is a file.
    let is_product_name = ending == "js" && stem.starts_with(char::is_uppercase);
    let known = is_known_extension(ending) && !is_product_name;
    let plausible = (1..=5).contains(&ending.len())
        && ending.chars().all(|c| c.is_ascii_alphanumeric())
        && !stem.is_empty();
    plausible && (known || !folder.is_empty() || at_a_line)
}

fn check_plan_steps(document: &Document, out: &mut Vec<Finding>) {
    const WORDS: [&str; 18] = [
        "accept", "verif", "test", "check", "expect", "measure", "assert", "confirm", "must",
        "should", "pass", "green", "ensure", "until", "prüf", "vérif", "检查", "验证",
    ];
    let verified = document.sections_about(SectionMeaning::Verification).next().is_some();
    let generated = generated_section::generated_spans(document);
    for section in document.sections_about(SectionMeaning::Plan).filter(|_| !verified) {
        let is_authored =
            |part: &Span| !generated.iter().any(|generated| generated.contains(*part));
        for part in parts(document, section).into_iter().filter(is_authored) {
            let text = part.slice(document.text()).to_lowercase();
            let has_command = text.contains('`') && text.contains("run");
            let has_check = text.split(|c: char| !c.is_alphanumeric()).any(|word| {
                !["checkout", "passport", "passive", "passage"].contains(&word)
                    && WORDS.iter().any(|start| word.starts_with(start))
            });
            let has_check = has_check || text.contains("検証") || text.contains("done when");
            // A placeholder step already has its own finding.
            let item = part.slice(document.text()).trim_start_matches(['-', '*', ' ']);
            if !has_command && !has_check && placeholder::find_placeholder(item).is_none() {
                let at = first_line(document, part);
                let message = "this step does not say how to check that it is done";
                let finding = Finding::new(Code::StepWithoutCheck, at, message);
                out.push(finding.with_hint(
                    "say what must be true afterward, or give a command that checks it",
                ));
            }
        }
    }
}

fn check_lessons(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    let mut revisions = handoff.revisions();
    revisions.retain(Revision::is_correction);
    let document = handoff.document();
    let has_lesson = !handoff.wrong_turns().is_empty()
        || !handoff.landmines().is_empty()
        || document.sections_about(SectionMeaning::WrongTurns).next().is_some()
        || document.sections_about(SectionMeaning::Landmines).next().is_some();
    if let Some(first) = revisions.first()
        && handoff.kind() == HandoffKind::Investigation
        && !has_lesson
    {
        let times = if revisions.len() == 1 { "once" } else { "more than once" };
        let message = format!("revised {times} without recording a wrong turn or landmine");
        out.push(Finding::new(Code::RevisedWithoutLesson, first.at, message));
    }
}

fn check_length(document: &Document, out: &mut Vec<Finding>) {
    // Anchors are not meant for readers, and generated facts may be any length.
    let count = |at: Span| at.slice(document.text()).lines().count();
    let anchors = Anchors::from_document(document).at().map_or(0, count);
    let generated: usize =
        GeneratedSection::all(document).iter().map(|section| count(section.at)).sum();
    let state = document.handoff_header().and_then(|header| header.fields().get("state"));
    let state = state.map_or(0, |state| count(state.at));
    let facts = anchors + generated + state;
    let lines = document.line_count().saturating_sub(facts);
    if lines > LINES_MAX {
        let at = Span::new(0, document.text().lines().next().unwrap_or_default().len());
        let without = if facts > 0 { ", not counting generated facts" } else { "" };
        let message = format!(
            "{lines} lines{without}; beyond {LINES_MAX}, important points are easy to miss"
        );
        out.push(Finding::new(Code::Length, at, message));
    }
}

/// One finding names all empty sections.
fn check_empty_sections(document: &Document, out: &mut Vec<Finding>) {
    let is_leaf = |section: &&Section| section.at.end == section.own.end;
    let leaves = document.sections().iter().filter(is_leaf);
    let empty: Vec<&Section> = leaves.filter(|section| is_empty(document, section)).collect();
    let names: Vec<&str> = empty.iter().map(|section| section.title.value.trim()).collect();
    let message = match &names[..] {
        [] => return,
        [only] => format!("`{only}` is empty"),
        [before @ .., last] => {
            format!("{} sections are empty: {} and {last}", names.len(), before.join(", "))
        }
    };
    let at = first_line(document, empty[0].title.at);
    let hint = match names.len() {
        1 => "fill in the section, or delete its heading",
        _ => "fill in the sections, or delete their headings",
    };
    out.push(Finding::new(Code::EmptySection, at, message).with_hint(hint));
}

/// Whether a section has no text of its own. Comments are not text.
fn is_empty(document: &Document, section: &Section) -> bool {
    without_comments(section.own.slice(document.text())).trim().is_empty()
}

/// A text without its HTML comments.
pub(crate) fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some(open) = rest.find("<!--") {
        out.push_str(&rest[..open]);
        rest = rest[open..].find("-->").map_or("", |close| &rest[open + close + 3..]);
    }
    out + rest
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn check_summary(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    let (Some(title), Some(summary)) = (handoff.title(), handoff.node("context_summary")) else {
        return;
    };
    let summary_text = summary.text().map(|text| text.value.to_lowercase()).unwrap_or_default();
    let title = title.to_lowercase();
    let in_title = |word: &str| words(&title).any(|other| other == word);
    if words(&summary_text).next().is_some() && words(&summary_text).all(in_title) {
        let message = "the summary repeats the title";
        out.push(Finding::new(Code::SummaryRepeatsTitle, summary.at, message));
    }
}

/// Checks that an open handoff has one of the sections that its kind requires.
fn check_required_section(handoff: &Handoff<'_>, stages: &Stages, out: &mut Vec<Finding>) {
    let Some(rule) = stages.kinds.get(handoff.kind().word()) else {
        return;
    };
    let wanted = rule.meanings();
    let has =
        |meaning: &SectionMeaning| handoff.document().sections_about(*meaning).next().is_some();
    // A note was not written for these sections.
    let is_exempt = wanted.is_empty() || handoff.is_adopted();
    if is_exempt || wanted.iter().any(has) || !handoff.status().is_open() {
        return;
    }
    let names: Vec<&str> = wanted.iter().map(|meaning| meaning.heading()).collect();
    let message = format!(
        "{} needs one of these sections: {}",
        required::kind_with_article(handoff.kind()),
        names.join(", ")
    );
    let finding = Finding::new(Code::MissingSection, header_key_span(handoff), message);
    out.push(finding.with_hint("add one of them; any heading with the same meaning works"));
}
