//! Substance: a document that is complete in form can still say nothing.

use super::heading;
use crate::document::Document;
use crate::finding::{Code, Finding};
use crate::handoff::Handoff;
use crate::header::HandoffKind;
use crate::markdown::BlockKind;
use crate::section::{Meaning, Section};
use crate::span::{At, Span};
use crate::stage::Stages;
use crate::yaml::{Node, Value};

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
    placeholders(handoff, out);
    empty_sections(document, out);
    summary(handoff, out);
    vague_pointers(handoff, out);
    heart(handoff, stages, out);
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

/// The parts of a section that are told one by one: its subsections, else its list items, else
/// the section as a whole.
fn parts(document: &Document, section: &Section) -> Vec<Span> {
    let below = |other: &&Section| section.at.contains(other.at) && other.at != section.at;
    let direct: Vec<&Section> = document.sections().iter().filter(below).collect();
    let level = direct.iter().map(|section| section.level).min();
    let subsections: Vec<Span> =
        direct.iter().filter(|s| Some(s.level) == level).map(|s| s.at).collect();
    if !subsections.is_empty() {
        return subsections;
    }
    let item = |block: &&crate::markdown::Block| {
        block.kind == BlockKind::Item && section.own.contains(block.at)
    };
    let items: Vec<Span> = document.blocks().iter().filter(item).map(|block| block.at).collect();
    match items.is_empty() {
        true if section.own.of(document.text()).trim().is_empty() => Vec::new(),
        true => vec![section.own],
        false => items,
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
    text.split(separator).any(is_place) || text.contains("()")
}

fn is_place(word: &str) -> bool {
    let path = word.trim_end_matches(['.', ':']);
    let name = path.split([':', '#']).next().unwrap_or_default();
    let last = name.rsplit('/').next().unwrap_or_default();
    let known_ending = last.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=5).contains(&ending.len())
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
            && stem.chars().last().is_some_and(|c| c.is_alphanumeric() || c == '_')
    });
    let url = name.starts_with("http");
    let deep = name.matches('/').count() >= 2 && name.chars().any(char::is_alphanumeric);
    !url && (known_ending || deep)
}

fn plan_steps(document: &Document, out: &mut Vec<Finding>) {
    const WORDS: [&str; 18] = [
        "accept",
        "verif",
        "test",
        "check",
        "expect",
        "measure",
        "assert",
        "confirm",
        "done when",
        "must ",
        "should ",
        "passes",
        "green",
        "ensure",
        "prüf",
        "vérif",
        "検証",
        "验证",
    ];
    let verified = document.sections_about(Meaning::Verification).next().is_some();
    for section in document.sections_about(Meaning::Plan).filter(|_| !verified) {
        for part in parts(document, section) {
            let text = part.of(document.text()).to_lowercase();
            let has_command = text.contains('`') && text.contains("run");
            if !has_command && !WORDS.iter().any(|word| text.contains(word)) {
                let at = first_line(document, part);
                let message = "this step does not say how to tell that it is done";
                let finding = Finding::new(Code::StepWithoutCheck, at, message);
                out.push(finding.think("say what must hold, or the command that shows it"));
            }
        }
    }
}

fn lessons(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    let revisions = handoff.revisions();
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
    let lines = document.line_count();
    if !(LINES_MIN..=LINES_MAX).contains(&lines) {
        let at = Span::new(0, document.text().lines().next().unwrap_or_default().len());
        let message = format!("{lines} lines; most handoffs have {LINES_MIN} to {LINES_MAX}");
        out.push(Finding::new(Code::Length, at, message));
    }
}

fn placeholders(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    let mut found: Vec<At<String>> = Vec::new();
    if let Some(header) = handoff.header() {
        texts(header.fields(), &mut |text| {
            if let Some(mark) = placeholder(text.value) {
                found.push(At::new(mark, text.at));
            }
        });
    }
    for (line, at) in prose_lines(handoff.document()) {
        let content = line.trim_start_matches(['-', '*', '+', ' ', '#', '>', '\t']);
        let content = content.trim_start_matches("[ ] ");
        if let Some(mark) = placeholder(content) {
            found.push(At::new(mark, at));
        }
    }
    for At { value, at } in found {
        out.push(Finding::new(Code::Placeholder, at, format!("`{value}` is a placeholder")));
    }
}

/// The placeholder a text is, or starts with, or carries in brackets.
fn placeholder(text: &str) -> Option<String> {
    const WORDS: [&str; 4] = ["TODO", "TBD", "FIXME", "XXX"];
    let text = text.trim();
    if matches!(text, "..." | "…" | "[...]" | "{...}") {
        return Some(text.to_owned());
    }
    let starts = |word: &&&str| {
        text.strip_prefix(**word)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
    };
    if let Some(word) = WORDS.iter().find(starts) {
        return Some((*word).to_owned());
    }
    if text.to_lowercase().contains("lorem ipsum") {
        return Some("lorem ipsum".to_owned());
    }
    bracketed(text, '{', '}', |inner| {
        inner == "NNN"
            || (inner.contains('-') && inner.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
    })
    .or_else(|| {
        bracketed(text, '<', '>', |inner| {
            inner.contains(' ')
                && inner.chars().all(|c| c.is_alphanumeric() || " -_,'…".contains(c))
        })
    })
}

fn bracketed(text: &str, open: char, close: char, fits: impl Fn(&str) -> bool) -> Option<String> {
    text.match_indices(open).find_map(|(at, _)| {
        let inner = &text[at + 1..at + text[at..].find(close)?];
        (!inner.is_empty() && fits(inner)).then(|| format!("{open}{inner}{close}"))
    })
}

/// Every text of a tree.
fn texts<'d>(node: &'d Node, each: &mut impl FnMut(At<&'d str>)) {
    match &node.value {
        Value::Text(text) => each(At::new(text.as_str(), node.at)),
        Value::List(items) => items.iter().for_each(|item| texts(&item.node, each)),
        Value::Map(entries) => entries.iter().for_each(|entry| texts(&entry.node, each)),
        Value::Null | Value::Unreadable => {}
    }
}

/// The lines of the body that are no code.
fn prose_lines(document: &Document) -> Vec<(&str, Span)> {
    let code: Vec<Span> = document
        .blocks()
        .iter()
        .filter(|block| matches!(block.kind, BlockKind::Code | BlockKind::Html))
        .map(|block| block.at)
        .chain(document.code().iter().copied())
        .collect();
    let body = document.body();
    let mut at = body.start;
    let mut lines = Vec::new();
    for line in body.of(document.text()).split_inclusive('\n') {
        let content = line.trim();
        let start = at + (line.len() - line.trim_start().len());
        let span = Span::new(start, start + content.len());
        let is_code = code.iter().any(|code| code.start <= span.start && span.start < code.end);
        if !content.is_empty() && !is_code {
            lines.push((content, span));
        }
        at += line.len();
    }
    lines
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

fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some(open) = rest.find("<!--") {
        out.push_str(&rest[..open]);
        rest = rest[open..].find("-->").map_or("", |close| &rest[open + close + 3..]);
    }
    out + rest
}

fn summary(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    let (Some(title), Some(summary)) = (handoff.title(), handoff.node("context_summary")) else {
        return;
    };
    let words = |text: &str| -> Vec<String> {
        let lower = text.to_lowercase();
        lower
            .split(|c: char| !c.is_alphanumeric())
            .filter(|w| !w.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let title = words(title);
    let summary_words = summary.text().map(|text| words(text.value)).unwrap_or_default();
    if !summary_words.is_empty() && summary_words.iter().all(|word| title.contains(word)) {
        let message = "the summary says nothing that the title does not say";
        out.push(Finding::new(Code::SummaryRepeatsTitle, summary.at, message));
    }
}

fn vague_pointers(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    const VAGUE: [&str; 18] = [
        "see design doc",
        "see the design doc",
        "see the doc",
        "see docs",
        "see documentation",
        "see the documentation",
        "see the code",
        "see code",
        "see above",
        "see below",
        "see slack",
        "see the thread",
        "see the ticket",
        "as discussed",
        "see conversation",
        "see earlier",
        "refer to the documentation",
        "refer to the design doc",
    ];
    let mut look = |text: &str, at: Span| {
        let lower = text.to_lowercase();
        let leads = lower.contains("](")
            || lower.contains("http")
            || lower.contains('§')
            || text.split(|c: char| c.is_whitespace() || "`()".contains(c)).any(is_place);
        if let Some(vague) = VAGUE.iter().find(|vague| lower.contains(*vague)).filter(|_| !leads) {
            let message = format!("\"{vague}\" does not say where");
            out.push(
                Finding::new(Code::VaguePointer, at, message)
                    .think("name the file, section or link"),
            );
        }
    };
    if let Some(header) = handoff.header() {
        texts(header.fields(), &mut |text| look(text.value, text.at));
    }
    for (line, at) in prose_lines(handoff.document()) {
        look(line, at);
    }
}

/// The section without which a document of its kind hands nothing over.
fn heart(handoff: &Handoff<'_>, stages: &Stages, out: &mut Vec<Finding>) {
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
