//! Finds placeholders and vague references in the text of a handoff.

use super::looks_like_path;
use crate::format::document::Document;
use crate::format::finding::{Code, Finding};
use crate::handoff::Handoff;
use crate::text::markdown::MarkdownBlockKind;
use crate::text::span::{Span, Spanned};
use crate::text::yaml::{YamlNode, YamlValue};
use std::borrow::Cow;

pub(super) fn check(handoff: &Handoff<'_>, out: &mut Vec<Finding>) {
    let mut texts: Vec<Spanned<Cow<'_, str>>> = Vec::new();
    // The quality gate records quote the findings, placeholders included.
    let recorded = handoff.node("state.quality_gates").map(|node| node.at);
    if let Some(header) = handoff.header() {
        collect_texts(header.fields(), &mut texts);
    }
    texts.retain(|text| recorded.is_none_or(|recorded| !recorded.contains(text.at)));
    texts.extend(prose_lines(handoff.document()));
    let text = handoff.document().text();
    for Spanned { value, at } in texts {
        check_placeholder(text, &value, at, out);
        if let Some(vague) = find_vague_pointer(&value) {
            let message = format!("\"{vague}\" does not say where");
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

fn check_placeholder(text: &str, value: &str, at: Span, out: &mut Vec<Finding>) {
    let Some(mark) = find_placeholder(value) else { return };
    let message = format!("`{mark}` is a placeholder");
    out.push(Finding::new(Code::Placeholder, span_of_words(text, at, &mark), message));
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

/// The placeholder in a text: the whole text, its value after a colon, or a part in brackets.
pub(super) fn find_placeholder(text: &str) -> Option<String> {
    const WORDS: [&str; 4] = ["TODO", "TBD", "FIXME", "XXX"];
    let text = without_list_number(text.trim()).trim_start_matches("[ ] ");
    if !may_have_placeholder(text) {
        return None;
    }
    let value = text.rsplit_once(": ").map_or(text, |(_, value)| value);
    if matches!(value, "..." | "…" | "[...]" | "{...}") {
        return Some(value.to_owned());
    }
    if let Some(word) = WORDS.iter().find(|word| is_used_as_value(text, word)) {
        return Some((*word).to_owned());
    }
    if let Some(word) = ["Lorem ipsum", "lorem ipsum"].iter().find(|word| text.contains(**word)) {
        return Some((*word).to_owned());
    }
    let name = |inner: &str| {
        inner == "NNN"
            || (inner.contains('-') && inner.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
    };
    let words = |inner: &str| {
        inner.trim() == inner
            && inner.contains(' ')
            && inner.chars().all(|c| c.is_alphanumeric() || " -_,'…".contains(c))
    };
    let value = value.trim_end_matches('.');
    find_bracketed(text, '{', '}', name)
        .or_else(|| find_bracketed(text, '<', '>', words))
        .or_else(|| template_variable(text))
        .or_else(|| bracket_content(value).filter(|inner| words(inner)).map(|_| value.to_owned()))
}

/// A line without its list number.
fn without_list_number(line: &str) -> &str {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after_number = line[digits..].strip_prefix(['.', ')']);
    after_number.filter(|_| digits > 0).and_then(|rest| rest.strip_prefix(' ')).unwrap_or(line)
}

/// Finds a `{{name}}` template variable. `${{ secrets.KEY }}` is a real expression.
fn template_variable(text: &str) -> Option<String> {
    let start = text.find("{{")?;
    let length = text[start..].find("}}")? + 2;
    let inner = text[start + 2..start + length - 2].trim();
    let is_name =
        !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || "_-. ".contains(c));
    (is_name && !text[..start].ends_with('$')).then(|| text[start..start + length].to_owned())
}

/// The content of a value that is entirely in brackets: `[Next step 1]`.
fn bracket_content(value: &str) -> Option<&str> {
    value.trim().strip_prefix('[')?.strip_suffix(']')
}

/// A quick scan over the bytes, so that most lines skip the closer look.
fn may_have_placeholder(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().zip(bytes.iter().skip(1)).any(|(first, second)| match first {
        b'{' | b'<' | b'[' => true,
        b'T' => matches!(second, b'O' | b'B'),
        b'F' => *second == b'I',
        b'X' => *second == b'X',
        b'.' => *second == b'.',
        // "lorem ipsum", and the bytes of an ellipsis.
        b'p' => *second == b's',
        0xe2 => *second == 0x80,
        _ => false,
    })
}

/// Whether a word opens the text or follows a colon, a bracket or a table border.
fn is_used_as_value(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].trim_end();
        let after = &text[at + word.len()..];
        let opens = before.is_empty() || before.ends_with([':', '(', '[', '|']);
        opens && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
    })
}

fn find_bracketed(
    text: &str,
    open: char,
    close: char,
    fits: impl Fn(&str) -> bool,
) -> Option<String> {
    text.match_indices(open).find_map(|(at, _)| {
        let inner = &text[at + 1..at + text[at..].find(close)?];
        // `Vec<dyn Any>` and `/users/{user-id}` are code without backticks.
        let in_code =
            text[..at].ends_with(|c: char| c == '/' || (open == '<' && c.is_alphanumeric()));
        (!in_code && !inner.is_empty() && fits(inner)).then(|| format!("{open}{inner}{close}"))
    })
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
    fn placeholders_are_distinguished_from_words() {
        for text in [
            "TODO",
            "TODO: write",
            "TBD",
            "...",
            "feat-{NNN}",
            "{agent-name}",
            "<fill this in>",
            "1. TBD",
            "[Next step 1]",
            "2. [Describe the next step]",
            "Next: [first thing to do]",
            "{{x}}",
            "Deploy {{ service_name }} first",
        ] {
            assert!(find_placeholder(text).is_some(), "{text}");
        }
        assert_eq!(find_placeholder("Then Lorem ipsum dolor").as_deref(), Some("Lorem ipsum"));
        for text in [
            "The TODO list",
            "TODOs",
            "{x}",
            "a < b > c",
            "<b>",
            "Vec<u8>",
            "and so on...",
            "[the plan](plan.md)",
            "[x] Warm the cache",
            "See [the plan] first",
            "[Redis]",
            "${{ secrets.KEY }}",
            "f(x) = {{1, 2}}",
        ] {
            assert_eq!(find_placeholder(text), None, "{text}");
        }
    }

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
            .filter_map(|line| Some((find_placeholder(&line.value)?, line.at.slice(text))))
            .collect();
        assert_eq!(found, [("TBD".to_owned(), "* TBD")]);
    }
}
