//! Substance: a document that is complete in form can still say nothing.

pub(super) mod prose;
mod vacuous;

use super::heading;
use crate::format::document::Document;
use crate::format::finding::{Code, Finding};
use crate::format::header::{HandoffKind, Revision};
use crate::format::insert::{self, Insert};
use crate::format::section::{Meaning, Section};
use crate::format::stage::Stages;
use crate::handoff::Handoff;
use crate::handoff::anchor::Anchors;
use crate::handoff::citation::is_ending;
use crate::text::markdown::BlockKind;
use crate::text::span::Span;

/// Most useful handoffs have this many lines.
const LINES_MIN: usize = 50;
const LINES_MAX: usize = 150;

pub(super) fn rules(handoff: &Handoff<'_>, stages: &Stages, out: &mut Vec<Finding>) {
    let document = handoff.document();
    decisions(handoff, out);
    root_causes(document, out);
    plan_steps(document, out);
    lessons(handoff, out);
    length(document, out);
    empty_sections(document, out);
    summary(handoff, out);
    prose::rules(handoff, out);
    vacuous::rules(handoff, out);
    missing_section(handoff, stages, out);
}

fn decisions(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    for decision in handoff.decisions().iter().filter(|decision| decision.rationale.is_none()) {
        let at = decision.decision.map_or(decision.at, |text| text.at);
        let what = decision.decision.map_or("(no text)", |text| text.value.trim());
        let message = format!("decided without a reason: {what}");
        out.push(
            Finding::new(Code::DecisionWithoutRationale, at, message).think("add `rationale`"),
        );
    }
}

/// The parts of a section that are told one by one: its list items and subsections, else the
/// section as a whole.
fn parts(document: &Document, section: &Section) -> Vec<Span> {
    let below = |other: &&Section| section.at.contains(other.at) && other.at != section.at;
    let direct: Vec<&Section> = document.sections().iter().filter(below).collect();
    let level = direct.iter().map(|section| section.level).min();
    let subsections: Vec<Span> =
        direct.iter().filter(|s| Some(s.level) == level).map(|s| s.at).collect();
    let item = |block: &&crate::text::markdown::Block| {
        block.kind == BlockKind::Item && section.own.contains(block.at)
    };
    let items: Vec<Span> = document.blocks().iter().filter(item).map(|block| block.at).collect();
    let told: Vec<Span> = items.into_iter().chain(subsections).collect();
    match told.is_empty() {
        true if section.own.of(document.text()).trim().is_empty() => Vec::new(),
        true => vec![section.own],
        false => told,
    }
}

/// The first line of a part, where a finding about it points.
fn first_line(document: &Document, part: Span) -> Span {
    let text = part.of(document.text());
    let lead = text.len() - text.trim_start().len();
    let line = text.trim_start().lines().next().unwrap_or_default().trim_end();
    Span::new(part.start + lead, part.start + lead + line.len())
}

fn root_causes(document: &Document, out: &mut Vec<Finding>) {
    for section in document.sections_about(Meaning::RootCauses) {
        for part in parts(document, section) {
            if !names_a_place(part.of(document.text())) {
                let at = first_line(document, part);
                let message = "this root cause names no file";
                let finding = Finding::new(Code::RootCauseWithoutPlace, at, message);
                out.push(finding.think("name the file and line, such as `src/market.py:120`"));
            }
        }
    }
}

/// Whether a text has something like `src/market.py`, `market.py:12` or `market_hub()` in it.
fn names_a_place(text: &str) -> bool {
    let separator = |c: char| c.is_whitespace() || "`()[]<>,;\"'".contains(c);
    text.contains("()") || text.split(separator).any(is_place)
}

fn is_place(word: &str) -> bool {
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
    // `Node.js` and `Vue.js` are names of things, `market.js` is a file.
    let product = ending == "js" && stem.starts_with(char::is_uppercase);
    let known = is_ending(ending) && !product;
    let plausible = (1..=5).contains(&ending.len())
        && ending.chars().all(|c| c.is_ascii_alphanumeric())
        && !stem.is_empty();
    plausible && (known || !folder.is_empty() || at_a_line)
}

fn plan_steps(document: &Document, out: &mut Vec<Finding>) {
    const WORDS: [&str; 18] = [
        "accept", "verif", "test", "check", "expect", "measure", "assert", "confirm", "must",
        "should", "pass", "green", "ensure", "until", "prüf", "vérif", "检查", "验证",
    ];
    let verified = document.sections_about(Meaning::Verification).next().is_some();
    let unsaid = insert::unsaid(document);
    for section in document.sections_about(Meaning::Plan).filter(|_| !verified) {
        let is_said = |part: &Span| !unsaid.iter().any(|unsaid| unsaid.contains(*part));
        for part in parts(document, section).into_iter().filter(is_said) {
            let text = part.of(document.text()).to_lowercase();
            let has_command = text.contains('`') && text.contains("run");
            let told = text.split(|c: char| !c.is_alphanumeric()).any(|word| {
                !["checkout", "passport", "passive", "passage"].contains(&word)
                    && WORDS.iter().any(|start| word.starts_with(start))
            });
            let told = told || text.contains("検証") || text.contains("done when");
            // A step that is a placeholder is told as one.
            let item = part.of(document.text()).trim_start_matches(['-', '*', ' ']);
            if !has_command && !told && prose::placeholder(item).is_none() {
                let at = first_line(document, part);
                let message = "this step does not say how to tell that it is done";
                let finding = Finding::new(Code::StepWithoutCheck, at, message);
                out.push(finding.think("say what must hold, or the command that shows it"));
            }
        }
    }
}

fn lessons(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    let mut revisions = handoff.revisions();
    revisions.retain(Revision::corrects);
    let document = handoff.document();
    let told = !handoff.wrong_turns().is_empty()
        || !handoff.landmines().is_empty()
        || document.sections_about(Meaning::WrongTurns).next().is_some()
        || document.sections_about(Meaning::Landmines).next().is_some();
    if let Some(first) = revisions.first()
        && handoff.kind() == HandoffKind::Investigation
        && !told
    {
        let times = if revisions.len() == 1 { "once" } else { "more than once" };
        let message = format!("revised {times}, but no wrong turn or landmine is recorded");
        out.push(Finding::new(Code::RevisedWithoutLesson, first.at, message));
    }
}

fn length(document: &Document, out: &mut Vec<Finding>) {
    // Anchors are read by nobody else, and what a session did is as long as it is.
    let count = |at: Span| at.of(document.text()).lines().count();
    let anchors = Anchors::of(document).at().map_or(0, count);
    let inserts: usize = Insert::all(document).iter().map(|insert| count(insert.at)).sum();
    let state = document.handoff_header().and_then(|header| header.fields().get("state"));
    let state = state.map_or(0, |state| count(state.at));
    let facts = anchors + inserts + state;
    let lines = document.line_count().saturating_sub(facts);
    // A session that is told in a few lines is not short: what it did stands below them.
    if lines > LINES_MAX || (lines < LINES_MIN && inserts == 0) {
        let at = Span::new(0, document.text().lines().next().unwrap_or_default().len());
        let besides = if facts > 0 { " besides the facts" } else { "" };
        let message =
            format!("{lines} lines{besides}; most handoffs have {LINES_MIN} to {LINES_MAX}");
        out.push(Finding::new(Code::Length, at, message));
    }
}

fn empty_sections(document: &Document, out: &mut Vec<Finding>) {
    for section in document.sections() {
        let text = section.own.of(document.text());
        let leaf = section.at.end == section.own.end;
        if leaf && without_comments(text).trim().is_empty() {
            let message = format!("`{}` has nothing below it", section.title.value);
            let at = first_line(document, section.title.at);
            out.push(Finding::new(Code::EmptySection, at, message));
        }
    }
}

/// A text without what is not shown to whoever reads it.
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

fn summary(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    let (Some(title), Some(summary)) = (handoff.title(), handoff.node("context_summary")) else {
        return;
    };
    let summary_text = summary.text().map(|text| text.value.to_lowercase()).unwrap_or_default();
    let title = title.to_lowercase();
    let in_title = |word: &str| words(&title).any(|other| other == word);
    if words(&summary_text).next().is_some() && words(&summary_text).all(in_title) {
        let message = "the summary says nothing that the title does not say";
        out.push(Finding::new(Code::SummaryRepeatsTitle, summary.at, message));
    }
}

/// The section without which a document of its kind hands nothing over.
fn missing_section(handoff: &Handoff<'_>, stages: &Stages, out: &mut Vec<Finding>) {
    let Some(rule) = stages.kinds.get(handoff.kind().word()) else {
        return;
    };
    let wanted = rule.meanings();
    let has = |meaning: &Meaning| handoff.document().sections_about(*meaning).next().is_some();
    if wanted.is_empty() || wanted.iter().any(has) || !handoff.status().is_open() {
        return;
    }
    let names: Vec<&str> = wanted.iter().map(|meaning| meaning.heading()).collect();
    let message = format!(
        "a handoff of kind {} has none of the sections {}",
        handoff.kind(),
        names.join(", ")
    );
    out.push(Finding::new(Code::MissingSection, heading(handoff), message));
}
