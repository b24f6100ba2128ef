//! Extracts handoff header fields from a note that is being converted.

use crate::format::document::Document;
use crate::format::finding::{Finding, Severity};
use crate::format::header::{HANDOFF, HandoffKind, Header, Status};
use crate::format::section::SectionMeaning;
use crate::handoff::Handoff;
use crate::handoff::topic::is_date;
use crate::text::id::HandoffId;
use crate::text::markdown::MarkdownBlockKind;
use crate::text::time::{self, Time};
use crate::text::yaml::{YamlData, YamlNode};

/// The length of an abbreviated or full git commit id.
const COMMIT_LENGTH: std::ops::RangeInclusive<usize> = 7..=64;

/// The header fields found in a note.
#[derive(Clone, Debug, Default)]
pub struct NoteFields {
    /// The fields, with normalized values.
    pub fields: Vec<(&'static str, YamlData)>,
    /// Fields that the note has but whose values cannot be converted. They stay in its text.
    pub unconverted: Vec<&'static str>,
}

impl NoteFields {
    /// The value of this field.
    pub fn get(&self, name: &str) -> Option<&YamlData> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value)
    }

    /// The value of this field, if it is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            YamlData::Text(text) | YamlData::Bare(text) => Some(text),
            YamlData::Null | YamlData::List(_) | YamlData::Map(_) => None,
        }
    }
}

/// Extracts the header fields of a note.
pub fn extract_fields(note: &Handoff<'_>) -> NoteFields {
    let mut extracted = NoteFields::default();
    // The new document gets its own format and uid.
    let names = HANDOFF.fields.iter().map(|field| field.name);
    for name in names.filter(|name| !matches!(*name, "format" | "uid")) {
        let has = || note.header()?.get(name).filter(|node| !node.is_blank());
        match extract_field(note, name).and_then(|value| normalize_value(name, value)) {
            Some(value) => extracted.fields.push((name, value)),
            None if has().is_some() => extracted.unconverted.push(name),
            None => {}
        }
    }
    extracted
}

/// Extracts the header fields of a note that becomes a handoff, also from what its text states.
pub fn extract_for_adoption(note: &Handoff<'_>) -> NoteFields {
    let mut extracted = extract_fields(note);
    let stated = [
        ("from", note.stated_author().map(one_line).map(YamlData::Text)),
        ("created", note.stated_date().map(time_data)),
        ("context_summary", first_paragraph(note.document()).map(YamlData::text)),
    ];
    for (name, value) in stated {
        let value = value.filter(|_| extracted.get(name).is_none());
        let value = value.and_then(|value| normalize_value(name, value));
        extracted.fields.extend(value.map(|value| (name, value)));
    }
    let order = |name: &str| HANDOFF.fields.iter().position(|field| field.name == name);
    extracted.fields.sort_by_key(|(name, _)| order(name));
    extracted
}

fn extract_field(note: &Handoff<'_>, name: &str) -> Option<YamlData> {
    let text = || note.header()?.text(name).map(|text| text.value.trim());
    match name {
        // A stage is more than a word: `--stage` also sets the path and the number.
        "stage" => None,
        "id" => text().filter(|id| HandoffId::parse(id).is_ok()).map(YamlData::text),
        "title" => note.title().map(one_line).filter(|title| !title.is_empty()).map(YamlData::Text),
        "description" => note.description().map(one_line).map(YamlData::Text),
        "kind" => {
            let kind = text().and_then(HandoffKind::parse);
            kind.filter(|kind| *kind != HandoffKind::Stage).map(|kind| word_data(kind.word()))
        }
        "status" => {
            let from_status_line = || note.status_line().and_then(|line| line.status);
            let status = text().and_then(Status::parse).or_else(from_status_line);
            status.map(|status| word_data(status.word()))
        }
        "from" => note.from().map(one_line).map(YamlData::Text),
        "created" => note.created().map(time_data),
        "updated" => text().and_then(Time::parse).map(time_data),
        "at_commit" => text().filter(|text| is_commit(text)).map(YamlData::text),
        "context_summary" => summary(note).map(YamlData::text),
        "revisions" => written_field(note.header(), name).or_else(|| revisions_from_stamps(note)),
        _ => written_field(note.header(), name),
    }
}

fn time_data(time: Time) -> YamlData {
    YamlData::Bare(time::format_time(time.moment))
}

fn word_data(word: &str) -> YamlData {
    YamlData::Bare(word.to_owned())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_commit(text: &str) -> bool {
    COMMIT_LENGTH.contains(&text.len()) && text.chars().all(|c| c.is_ascii_hexdigit())
}

/// A field under exactly our name. A similar field of another tool may mean something else.
fn written_field(header: Option<&Header>, name: &str) -> Option<YamlData> {
    let node = header?.fields().get(name)?;
    (!node.is_blank()).then(|| node.data())
}

/// The summary from the header, or the opening paragraph of a summary section. A list, a table, or
/// the line that introduces one does not count.
fn summary<'d>(note: &Handoff<'d>) -> Option<&'d str> {
    if let Some(written) = note.header().and_then(|header| header.text("context_summary")) {
        return Some(written.value.trim());
    }
    let document = note.document();
    let section = document.sections_about(SectionMeaning::Summary).next()?;
    let first = document.blocks().iter().find(|block| section.own.contains(block.at))?;
    let text = first.at.slice(document.text()).trim();
    let is_summary =
        first.kind == MarkdownBlockKind::Paragraph && !text.is_empty() && !text.ends_with(':');
    is_summary.then_some(text)
}

/// The first paragraph that is neither an introduction of a list nor a block of labels such as
/// `**Date:** 2026-05-15`.
fn first_paragraph(document: &Document) -> Option<&str> {
    let body = document.body();
    let is_paragraph = |kind: MarkdownBlockKind| kind == MarkdownBlockKind::Paragraph;
    let blocks = document.blocks().iter();
    let blocks = blocks.filter(|block| is_paragraph(block.kind) && body.contains(block.at));
    let mut texts = blocks.map(|block| block.at.slice(document.text()).trim());
    let is_label =
        |line: &str| line.starts_with("**") && line.contains(":*") || line.contains("**:");
    texts.find(|text| {
        let has_words = text.contains(char::is_alphanumeric) && !text.starts_with("<!--");
        has_words && !text.ends_with(':') && !is_date(text) && !text.lines().all(is_label)
    })
}

/// Revisions from the `Revised:` lines of the text.
fn revisions_from_stamps(note: &Handoff<'_>) -> Option<YamlData> {
    let entry = |stamp: crate::format::document::DateStamp<'_>| {
        let at = time_data(Time::parse(stamp.time.value)?);
        let reason = stamp.reason.map(|reason| ("reason", YamlData::text(reason.value)));
        Some(YamlData::map([("at", at)].into_iter().chain(reason)))
    };
    let stamps = note.document().stamps().into_iter().filter(|stamp| !stamp.is_capture);
    let entries: Vec<YamlData> = stamps.filter_map(entry).collect();
    (!entries.is_empty()).then_some(YamlData::List(entries))
}

/// A value in normalized form; `None` if it cannot be parsed.
fn normalize_value(name: &str, value: YamlData) -> Option<YamlData> {
    let alone = Document::compose(&[(name, value)], "").format().ok()?;
    let wrong = |finding: &Finding| finding.code.rule().severity == Severity::Error;
    let value = alone.handoff_header()?.fields().get(name).map(YamlNode::data);
    value.filter(|_| !alone.findings().iter().any(wrong))
}

/// A title made from a file name: `2026-03-21_search_lag` becomes `Search lag`.
pub fn title_from_name(stem: &str) -> Option<String> {
    let spaced = one_line(&stem.replace(['-', '_'], " "));
    let first = spaced.find(char::is_alphabetic)?;
    let mut letters = spaced[first..].chars();
    let capital = letters.next()?.to_uppercase();
    Some(capital.chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::stage::Stages;
    use crate::handoff::Location;

    /// The header made from a note, the unconverted fields, and the whole document.
    fn becomes(text: &str) -> (String, Vec<&'static str>, Document) {
        let note = Document::parse(text.as_bytes());
        let (location, stages) = (Location::default(), Stages::shipped());
        let extracted = extract_fields(&Handoff::new(&note, &location, &stages));
        let whole = note.with_header(&extracted.fields).unwrap();
        assert!(whole.handoff_header().is_some(), "{}", whole.text());
        (Document::compose(&extracted.fields, "").text().to_owned(), extracted.unconverted, whole)
    }

    #[test]
    fn lines_and_headings_fill_the_header() {
        let text = "# Search  lags\n\nCaptured: 2026-03-21 17:24\nRevised: 2026-03-22 (an hour)\n\n## Context\n\nThe index lags\nby an hour.\n\nMore.\n";
        let (header, left, whole) = becomes(text);
        assert_eq!(
            header,
            "---\nhandoff:\n  title: Search lags\n  created: 2026-03-21T17:24:00Z\n  context_summary: |-\n    The index lags\n    by an hour.\n  revisions:\n    - {at: 2026-03-22T00:00:00Z, reason: an hour}\n---\n"
        );
        assert!(left.is_empty());
        assert!(whole.text().ends_with(&format!("---\n\n{text}")), "{}", whole.text());
    }

    #[test]
    fn a_handoff_section_fills_the_header_and_stays() {
        let text = "---\ntopic: theirs\n---\n# Lag\n\n## Handoff\n\n```yaml\nhandoff:\n  id: lag\n  status: PLANNED\n  stage: design\n  to: ops\n  decisions_made:\n    - Reindex at night\n  open_questions:\n    - question: Who?\n      blocking: perhaps\n```\n";
        let (header, left, whole) = becomes(text);
        assert_eq!(
            header,
            "---\nhandoff:\n  id: lag\n  title: Lag\n  status: planned\n  to: [ops]\n  decisions_made:\n    - decision: Reindex at night\n---\n"
        );
        assert_eq!(left, ["stage", "open_questions"]);
        assert!(whole.text().starts_with("---\ntopic: theirs\nhandoff:\n  id: lag\n"));
        assert!(whole.text().ends_with(&text["---\ntopic: theirs\n".len()..]));
    }

    #[test]
    fn a_broken_header_of_another_tool_becomes_text() {
        for front in ["---\na: [1\nb: 2\n---\n", "---\na: 1\na: 2\n---\n", "---\na: 1\n\n"] {
            let text = format!("\u{feff}{front}Text without an end");
            let (_, _, whole) = becomes(&text);
            assert!(
                whole.text().ends_with(&format!("---\n\n{}\n", &text[3..])),
                "{}",
                whole.text()
            );
            assert_eq!(whole.findings().len(), 0, "{:?}", whole.findings());
        }
    }

    #[test]
    fn line_breaks_of_the_note_are_kept() {
        let (_, _, whole) = becomes("# A\r\n\r\nText\r\n");
        assert_eq!(whole.text().matches('\n').count(), whole.text().matches("\r\n").count());
    }

    #[test]
    fn a_list_or_its_introduction_is_not_a_summary() {
        for text in ["## Summary\n\n- one\n", "## Context\n\nThere were two:\n\n- one\n"] {
            assert_eq!(becomes(text).0, "---\nhandoff:\n---\n");
        }
    }

    #[test]
    fn stated_dates_authors_and_the_first_paragraph_fill_the_header() {
        let text = "# Lag\n\n**Date:** 2026-05-15. Master: `b04d2fe`.\n**From:** Leah\n\nThe index lags.\n";
        let note = Document::parse(text.as_bytes());
        let (location, stages) = (Location::default(), Stages::shipped());
        let extracted = extract_for_adoption(&Handoff::new(&note, &location, &stages));
        assert_eq!(
            Document::compose(&extracted.fields, "").text(),
            "---\nhandoff:\n  title: Lag\n  from: Leah\n  created: 2026-05-15T00:00:00Z\n  context_summary: The index lags.\n---\n"
        );
    }

    #[test]
    fn values_that_cannot_be_parsed_are_left_unconverted() {
        let (header, left, _) = becomes("---\ncommit: no-commit\nstatus: green\n---\ntext\n");
        assert_eq!(header, "---\nhandoff:\n---\n");
        assert_eq!(left, ["status", "at_commit"]);
    }

    #[test]
    fn a_file_name_becomes_a_title() {
        assert_eq!(title_from_name("2026-03-21_search-lag").as_deref(), Some("Search lag"));
        assert_eq!(title_from_name("HANDOFF").as_deref(), Some("HANDOFF"));
        assert_eq!(title_from_name("42"), None);
    }
}
