//! Finds the status line of a body: `**Status**: ✅ Complete`.

use crate::format::document::Document;
use crate::format::header::Status;
use crate::format::section::SectionMeaning;
use crate::text::span::{Span, Spanned};

/// How many lines from the top to search. Further down, a status is about a part of the work.
const LINES_MAX: usize = 30;

/// The maximum length of a name in `NAMES`, in bytes.
const NAME_LENGTH_MAX: usize = 20;

/// The names of the status line.
const NAMES: [&str; 15] = [
    "status",
    "current status",
    "overall status",
    "project status",
    "session status",
    "work status",
    "stato",
    "estado",
    "statut",
    "статус",
    "ステータス",
    "状态",
    "狀態",
    "状態",
    "stand",
];

/// Informal words for a status, and words in other languages.
#[rustfmt::skip] // a line per status
const WORDS: [(Status, &[&str]); 3] = [
    (Status::Resolved, &[
        "fixed", "finished", "all done", "fully complete", "fully implemented", "abgeschlossen",
        "erledigt", "fertig", "terminé", "completado", "terminado", "concluído", "completato",
        "completata", "завершено", "готово", "完了", "完成", "已完成",
    ]),
    (Status::InProgress, &[
        "ongoing", "on going", "working", "underway", "paused", "on hold", "in review",
        "in arbeit", "en cours", "en curso", "em andamento", "in corso", "в работе", "進行中",
        "进行中", "未完了",
    ]),
    (Status::Planned, &["not started", "not yet started", "queued", "geplant", "à faire"]),
];

/// Words that show that work described as done is not done after all.
const NOT_DONE_WORDS: [&str; 19] = [
    "except",
    "but",
    "pending",
    "remaining",
    "remains",
    "awaiting",
    "waiting",
    "partial",
    "partially",
    "not",
    "next",
    "untested",
    "todo",
    "needs",
    "need",
    "blocked",
    "unverified",
    "ready for",
    "left",
];

/// The status line of a body.
#[derive(Clone, Copy, Debug)]
pub struct StatusLine<'d> {
    /// The value, without its name and markup.
    pub text: Spanned<&'d str>,
    /// The status it means, if that is clear.
    pub status: Option<Status>,
}

/// Finds the status line in the first lines, or in a section about the state or summary.
pub(crate) fn find_status_line(document: &Document) -> Option<StatusLine<'_>> {
    let body = document.body();
    let text = body.slice(document.text());
    let head = text.split_inclusive('\n').take(LINES_MAX).map(str::len).sum::<usize>();
    let head = Span::new(body.start, body.start + head);
    let about = document.sections().iter().filter(|section| {
        matches!(section.meaning, Some(SectionMeaning::State | SectionMeaning::Summary))
    });
    let mut places = std::iter::once(head).chain(about.map(|section| section.own));
    places.find_map(|place| find_in_span(document, place)).or_else(|| find_below_heading(document))
}

/// Finds the value of a line with one of these lowercase names in the first lines: `**Date:** 2026-05-15`.
pub(crate) fn find_labeled<'d>(document: &'d Document, names: &[&str]) -> Option<&'d str> {
    let text = document.body().slice(document.text());
    let code = document.code();
    let is_code = |at: usize| code.iter().any(|span| span.start <= at && at < span.end);
    let mut at = document.body().start;
    let mut lines = text.split_inclusive('\n').take(LINES_MAX).peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        if let Some(value) = parse_value(line, next, names).filter(|_| !is_code(at)) {
            return Some(value);
        }
        at += line.len();
    }
    None
}

/// Finds a heading `Status` whose first line is a status: `✅ Complete`.
fn find_below_heading(document: &Document) -> Option<StatusLine<'_>> {
    let is_status = |heading: &str| {
        let name = heading.trim_matches(|c: char| !c.is_alphanumeric());
        name.len() <= NAME_LENGTH_MAX && NAMES.contains(&name.to_lowercase().as_str())
    };
    let text = document.text();
    let sections = document.sections().iter();
    let mut sections = sections.filter(|section| is_status(&section.title.value));
    sections.find_map(|section| {
        let own = section.own.slice(text);
        let line = own.lines().find(|line| !line.trim().is_empty())?;
        let value = line.trim().trim_matches(['*', '_', ' ', '>', '-']);
        let start = section.own.start + value.as_ptr() as usize - own.as_ptr() as usize;
        let status = Some(parse_status(value)?);
        Some(StatusLine {
            text: Spanned::new(value, Span::new(start, start + value.len())),
            status,
        })
    })
}

fn find_in_span(document: &Document, place: Span) -> Option<StatusLine<'_>> {
    let code = document.code();
    let is_code = |at: usize| code.iter().any(|span| span.start <= at && at < span.end);
    let mut at = place.start;
    let mut lines = place.slice(document.text()).split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        if let Some(value) = parse_value(line, next, &NAMES).filter(|_| !is_code(at)) {
            let start = at + value.as_ptr() as usize - line.as_ptr() as usize;
            let text = Spanned::new(value, Span::new(start, start + value.len()));
            return Some(StatusLine { text, status: parse_status(value) });
        }
        at += line.len();
    }
    None
}

/// The value of a line, if it has one of these names.
fn parse_value<'l>(line: &'l str, next: &str, names: &[&str]) -> Option<&'l str> {
    let content = line.trim().trim_start_matches(['>', '-', '*', '+', '#', ' ', '•']);
    let (name, value) = if let Some(row) = content.strip_prefix('|') {
        let is_separator =
            |text: &str| text.contains("--") && !text.contains(char::is_alphanumeric);
        let mut cells = row.trim_end_matches('|').split('|').map(str::trim);
        let (name, value) = (cells.next()?, cells.next()?);
        if is_separator(next) || cells.next().is_some() {
            return None;
        }
        (name, value)
    } else {
        let colon = content.find([':', '：'])?;
        let width = content[colon..].chars().next().map_or(1, char::len_utf8);
        (&content[..colon], &content[colon + width..])
    };
    let name = name.trim_matches(|c: char| !c.is_alphanumeric());
    // A quick check that rules out nearly every line.
    if name.len() > NAME_LENGTH_MAX {
        return None;
    }
    let name = name.to_lowercase();
    let value = value.trim().trim_matches(['*', '_', ' ']).trim();
    (names.contains(&name.as_str()) && !value.is_empty()).then_some(value)
}

/// The status that a value means, if it is clear.
fn parse_status(value: &str) -> Option<Status> {
    let is_letter = |c: char| c.is_alphanumeric();
    let marks: String = value.chars().take_while(|c| !is_letter(*c)).collect();
    let words = value.trim_start_matches(|c: char| !is_letter(c));
    let words = words.trim_end_matches(|c: char| !is_letter(c) && c != ')');
    let words = words.replace(['*', '`', '"'], "").to_lowercase();
    let is_in_progress = ["🚧", "⏳", "🔄", "🟡", "⏸"].iter().any(|mark| marks.contains(mark));
    let status = if words.is_empty() {
        ["✅", "☑", "✔"].iter().any(|mark| marks.contains(mark)).then_some(Status::Resolved)
    } else {
        status_from_words(&words)
    };
    match status {
        Some(status) if !status.is_open() && (is_in_progress || mentions_open_work(&words)) => {
            Some(Status::InProgress)
        }
        None if is_in_progress => Some(Status::InProgress),
        status => status,
    }
}

fn status_from_words(words: &str) -> Option<Status> {
    let starts = |name: &&str| {
        let rest = words.strip_prefix(*name);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
    };
    let known = WORDS.iter().find(|(_, names)| names.iter().any(starts));
    if let Some((status, _)) = known {
        return Some(*status);
    }
    // "Ready to merge" is neither planned nor done.
    let is_ready = words.starts_with("ready");
    Status::parse(words).filter(|_| !is_ready)
}

/// Whether a text says that there is more to do.
fn mentions_open_work(words: &str) -> bool {
    let is_word = |word: &&str| {
        words.match_indices(*word).any(|(at, _)| {
            let end = at + word.len();
            let is_letter = |c: char| c.is_alphanumeric();
            !words[..at].ends_with(is_letter) && !words[end..].starts_with(is_letter)
        })
    };
    let counts = words.split(|c: char| !c.is_ascii_digit() && c != '/');
    let mut shares = counts.filter_map(|share| share.split_once('/'));
    let is_part = |(some, all): (&str, &str)| matches!((some.parse::<u32>(), all.parse::<u32>()), (Ok(some), Ok(all)) if some < all);
    NOT_DONE_WORDS.iter().any(is_word) || shares.any(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_status_line_is_read() {
        let check = |text: &str, expected: Option<(&str, Option<Status>)>| {
            let document = Document::parse(text.as_bytes());
            let line = find_status_line(&document);
            if let Some(StatusLine { text: value, .. }) = line {
                assert_eq!(value.at.slice(text), value.value, "{text}");
            }
            let found = line.map(|line| (line.text.value, line.status));
            assert_eq!(found, expected, "{text}");
        };
        let done = Some(Status::Resolved);
        let open = Some(Status::InProgress);
        check("# T\n\n**Status**: ✅ Complete\n", Some(("✅ Complete", done)));
        check("# T\n\n**Status:** done\n", Some(("done", done)));
        check("# T\n\n**Status: COMPLETE ✅**\n", Some(("COMPLETE ✅", done)));
        check("Status: in progress\n", Some(("in progress", open)));
        check("- Status: PENDING\n", Some(("PENDING", Some(Status::Planned))));
        check(
            "> **Status:** Superseded by ADR-7\n",
            Some(("Superseded by ADR-7", Some(Status::Superseded))),
        );
        check("| Date | 2026-01-01 |\n| Status | 🚧 WIP |\n", Some(("🚧 WIP", open)));
        check("| Status | Meaning |\n|---|---|\n| done | over |\n", None);
        check("Status: ✅\n", Some(("✅", done)));
        check("Status: done, waiting for review\n", Some(("done, waiting for review", open)));
        check("Status: complete (3/5)\n", Some(("complete (3/5)", open)));
        check("**Status**: ✅ Ready to merge\n", Some(("✅ Ready to merge", None)));
        check("**Status: PHASE 1 COMPLETE ✅**\n", Some(("PHASE 1 COMPLETE ✅", None)));
        check("Stato: completato\n", Some(("completato", done)));
        check("ステータス： 完了\n", Some(("完了", done)));
        check("```\nStatus: done\n```\n", None);
        check("# T\n\n## Status\n\n✅ Complete\n\n## Next\n\n- x\n", Some(("✅ Complete", done)));
        check("# T\n\n## Status\n\nThe queue drains.\n", None);
        check("The status: nobody knows.\n", None);
        let far = format!("# T\n{}\n- Status: done\n", "\n".repeat(LINES_MAX));
        check(&far, None);
        let headed = format!("# T\n{}\n## Current state\n\nStatus: done\n", "\n".repeat(LINES_MAX));
        check(&headed, Some(("done", done)));
    }
}
