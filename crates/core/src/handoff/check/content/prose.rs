//! Finds placeholders and vague references in the text of a handoff.

use super::{looks_like_path, placeholder};
use crate::format::document::Document;
use crate::format::finding::{Code, Finding};
use crate::format::generated_section;
use crate::handoff::Handoff;
use crate::text::markdown::MarkdownBlockKind;
use crate::text::span::{Span, Spanned};
use crate::text::yaml::{YamlNode, YamlValue};
use std::borrow::Cow;

pub(super) fn check(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    let mut texts: Vec<Spanned<Cow<'_, str>>> = Vec::new();
    // midstride writes the state and the generated sections. They quote the session and earlier
    // findings, placeholders included.
    let state = handoff.node("state").map(|node| node.at);
    let generated = generated_section::generated_spans(handoff.document());
    if let Some(header) = handoff.header() {
        collect_texts(header.fields(), &mut texts);
    }
    texts.extend(prose_lines(handoff.document()));
    let is_authored =
        |at: Span| !state.iter().chain(&generated).any(|generated| generated.contains(at));
    texts.retain(|text| is_authored(text.at));
    let text = handoff.document().text();
    for Spanned { value, at } in texts {
        check_placeholder(text, &value, at, out);
        if let Some(vague) = find_vague_pointer(&value) {
            let message = format!("\"{vague}\" does not say where to look");
            let finding = Finding::new(Code::VaguePointer, span_of_words(text, at, vague), message);
            out.push(finding.with_hint("name the file, section or link"));
        }
    }
}

/// Finds placeholders in the body.
pub(in crate::handoff::check) fn check_placeholders(document: &Document, out: &mut Vec<Finding>) {
    for Spanned { value, at } in prose_lines(document) {
        check_placeholder(document.text(), &value, at, out);
    }
}

/// Finds values of a template that were never filled in. A note may list its TODOs and speak of
/// `<T>` and `{name}`, so nothing else counts there.
pub(in crate::handoff::check) fn check_unfilled(document: &Document, out: &mut Vec<Finding>) {
    for Spanned { value, at } in prose_lines(document) {
        report_placeholder(document.text(), placeholder::find_unfilled(&value), at, out);
    }
}

fn check_placeholder(text: &str, value: &str, at: Span, out: &mut Vec<Finding>) {
    report_placeholder(text, placeholder::find_placeholder(value), at, out);
}

fn report_placeholder(text: &str, mark: Option<String>, at: Span, out: &mut Vec<Finding>) {
    let Some(mark) = mark.filter(|mark| !is_link_label(text, mark)) else { return };
    let message = format!("`{mark}` is a placeholder");
    out.push(Finding::new(Code::Placeholder, span_of_words(text, at, &mark), message));
}

/// Whether a text in brackets is a link that the document defines elsewhere: `[the plan]: plan.md`.
fn is_link_label(text: &str, mark: &str) -> bool {
    let defines = |line: &str| {
        let target = line.trim_start().strip_prefix(mark).and_then(|rest| rest.strip_prefix(':'));
        target.is_some_and(|target| {
            !target.trim_start().starts_with('[') && !target.trim().is_empty()
        })
    };
    mark.starts_with('[') && text.lines().any(defines)
}

/// The span of some words within `at`, or `at` itself if they are not found.
fn span_of_words(text: &str, at: Span, words: &str) -> Span {
    let found = at.slice(text).find(words).map(|offset| at.start + offset);
    found.map_or(at, |start| Span::new(start, start + words.len()))
}

/// Collects every text in a YAML tree.
fn collect_texts<'d>(node: &'d YamlNode, out: &mut Vec<Spanned<Cow<'d, str>>>) {
    match &node.value {
        YamlValue::Text(text) => out.push(Spanned::new(Cow::Borrowed(text.as_str()), node.at)),
        YamlValue::List(items) => items.iter().for_each(|item| collect_texts(&item.node, out)),
        YamlValue::Map(entries) => entries.iter().for_each(|entry| collect_texts(&entry.node, out)),
        YamlValue::Null | YamlValue::Unreadable(_) => {}
    }
}

/// The lines of the body without bullets. Code is not prose and is blanked out.
fn prose_lines(document: &Document) -> Vec<Spanned<Cow<'_, str>>> {
    let html = document.blocks().iter().filter(|block| block.kind == MarkdownBlockKind::Html);
    let mut code: Vec<Span> =
        document.code().iter().copied().chain(html.map(|block| block.at)).collect();
    code.sort_unstable();
    let mut passed = 0;
    let body = document.body();
    let mut end = body.start;
    let mut lines = Vec::new();
    for line in body.slice(document.text()).split_inclusive('\n') {
        let start = end;
        end += line.len();
        let mut text = Cow::Borrowed(line);
        while code.get(passed).is_some_and(|span| span.end <= start) {
            passed += 1;
        }
        for span in code[passed..].iter().take_while(|span| span.start < end) {
            let (from, to) = (span.start.max(start) - start, span.end.min(end) - start);
            if from < to {
                text.to_mut().replace_range(from..to, &" ".repeat(to - from));
            }
        }
        let bullets = ['-', '*', '+', ' ', '#', '>', '\t'];
        let content = match &text {
            Cow::Borrowed(line) => Cow::Borrowed(line.trim_start_matches(bullets)),
            Cow::Owned(line) => Cow::Owned(line.trim_start_matches(bullets).to_owned()),
        };
        // A heading such as "TODO list" may be about TODOs.
        let is_heading = line.trim_start().starts_with('#') && content.trim().contains(' ');
        if content.trim().is_empty() || is_heading {
            continue;
        }
        let lead = line.len() - line.trim_start().len();
        let at = Span::new(start + lead, start + line.trim_end().len());
        lines.push(Spanned::new(content, at));
    }
    lines
}

/// Finds words that refer to something without saying where it is.
fn find_vague_pointer(text: &str) -> Option<&str> {
    const VAGUE: [&str; 12] = [
        "see the design doc",
        "see design doc",
        "see the doc",
        "see doc",
        "see the code",
        "see slack",
        "see the thread",
        "see the ticket",
        "see the conversation",
        "refer to the doc",
        "refer to the design doc",
        "as discussed",
    ];
    // Every entry of the list contains one of these, whatever the case of its first letter. Most
    // lines contain none and skip the search.
    if !["ee ", "efer to ", "iscussed"].iter().any(|piece| text.contains(piece)) {
        return None;
    }
    // ASCII lowercasing keeps byte offsets, so a match in `lower` is a match in `text`.
    let lower = text.to_ascii_lowercase();
    let word = |c: char| c.is_whitespace() || "`()".contains(c);
    let names_target = ["](", "http", "§"].iter().any(|sign| lower.contains(sign))
        || lower.split(word).any(looks_like_path);
    if names_target {
        return None;
    }
    VAGUE.iter().find_map(|vague| {
        let at = lower.find(vague)?;
        let end = at + vague.len();
        let tail = text[end..].find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len() - end);
        (!text[..at].ends_with(char::is_alphanumeric)).then(|| &text[at..end + tail])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_that_names_its_target_is_accepted() {
        for text in ["See the docs for the rest", "as discussed, we go on", "(see design doc)"] {
            assert!(find_vague_pointer(text).is_some(), "{text}");
        }
        for text in [
            "See the docs in docs/format.md",
            "see the doc at https://example.org",
            "see the [design doc](design.md)",
            "we foresee documents",
            "see design §4",
        ] {
            assert_eq!(find_vague_pointer(text), None, "{text}");
        }
    }

    #[test]
    fn code_is_not_prose() {
        let text = "- say `TODO` here\n\n```\nTODO\n\nTBD\n```\n\nthe `feat-{NNN}`\n\n* TBD\n";
        let document = Document::parse(text.as_bytes());
        let found: Vec<(String, &str)> = prose_lines(&document)
            .into_iter()
            .filter_map(|line| {
                Some((placeholder::find_placeholder(&line.value)?, line.at.slice(text)))
            })
            .collect();
        assert_eq!(found, [("TBD".to_owned(), "* TBD")]);
    }
}
