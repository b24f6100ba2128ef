//! Topics: finds the parts of a body that say what a reader needs first, such as the next steps.
//!
//! Authors name their sections freely or use no headings at all. A topic is a section or label
//! whose words match a known meaning, with how well they match. If several have the same meaning,
//! the best match wins.

mod label;
mod status_line;
mod step;

pub use status_line::StatusLine;

pub(crate) use status_line::{find_labeled, find_status_line};
pub use step::split_items;
pub(crate) use step::{first_open_step, without_done_steps};

use crate::format::document::Document;
use crate::format::generated_section;
use crate::format::section::{HeadingFit, SectionMeaning};
use crate::text::span::Span;
use std::borrow::Cow;

/// A part of a body with a known meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BodyTopic {
    /// The meaning.
    pub meaning: SectionMeaning,
    /// How well its heading matches the meaning.
    pub fit: HeadingFit,
    /// The start of its heading.
    pub start: usize,
    /// The span below the heading, including nested parts.
    pub below: Span,
    /// Whether a label takes the place of a heading.
    pub is_label: bool,
}

impl BodyTopic {
    /// The sort order of topics with the same meaning, best first: clear matches before weak ones,
    /// then headings before labels.
    fn rank(&self) -> (bool, bool, HeadingFit, usize) {
        (self.fit == HeadingFit::Weak, self.is_label, self.fit, self.start)
    }
}

/// Meanings that are reported separately, even inside another topic.
const STANDALONE_MEANINGS: [SectionMeaning; 7] = [
    SectionMeaning::WrongTurns,
    SectionMeaning::Landmines,
    SectionMeaning::RootCauses,
    SectionMeaning::Questions,
    SectionMeaning::Decisions,
    SectionMeaning::Continuation,
    SectionMeaning::State,
];

/// Up to this many headings may be accidental.
const STRAY_HEADINGS_MAX: usize = 1;
/// How many opening paragraphs describe the document.
const PARAGRAPHS_MAX: usize = 3;

/// The topics of a document.
#[derive(Debug)]
pub struct BodyTopics<'d> {
    document: &'d Document,
    /// The topics, in text order.
    all: Vec<BodyTopic>,
}

impl<'d> BodyTopics<'d> {
    /// Finds the topics of a document.
    pub fn from_document(document: &'d Document) -> Self {
        let sections = document.sections();
        let title = title_index(document);
        let headed = sections.iter().enumerate().filter(|(index, _)| Some(*index) != title);
        let headed = headed.filter_map(|(_, section)| {
            let below = Span::new(section.own.start, section.at.end);
            let (meaning, fit) = (section.meaning?, section.fit?);
            Some(BodyTopic { meaning, fit, start: section.at.start, below, is_label: false })
        });
        let mut all: Vec<BodyTopic> = headed.collect();
        // A `---` below a line makes it a heading, so a single heading does not mean that the
        // author uses them.
        let has_headings = sections.len() > STRAY_HEADINGS_MAX + usize::from(title.is_some());
        let labels = label::label_topics(document).into_iter();
        let labels: Vec<BodyTopic> =
            labels.filter(|one| !has_headings || is_counted_label(one, &all)).collect();
        all.extend(labels);
        all.sort_by_key(|topic| topic.start);
        Self { document, all }
    }

    /// The texts of all topics with this meaning, best match first.
    pub(crate) fn best_texts(&self, meaning: SectionMeaning) -> Vec<(HeadingFit, String)> {
        let about = self.all.iter().filter(|topic| topic.meaning == meaning);
        let mut about: Vec<&BodyTopic> = about.collect();
        about.sort_by_key(|topic| topic.rank());
        let texts = about.into_iter().map(|topic| (topic.fit, self.topic_text(topic)));
        texts.filter(|(_, text)| has_content(text)).collect()
    }

    /// The texts of all topics with this meaning in text order, without nested ones.
    pub(crate) fn all_texts(&self, meaning: SectionMeaning) -> Vec<String> {
        let about = self.all.iter().filter(|topic| topic.meaning == meaning);
        let outermost = about.filter(|topic| {
            let holds = |other: &BodyTopic| {
                other.meaning == meaning
                    && other.start < topic.start
                    && other.below.contains(topic.below)
            };
            !self.all.iter().any(holds)
        });
        let texts = outermost.map(|topic| self.topic_text(topic));
        texts.filter(|text| has_content(text)).collect()
    }

    /// Whether the document clearly says what to do next.
    pub(crate) fn has_next_steps(&self) -> bool {
        let mut clear = self.best_texts(SectionMeaning::Continuation).into_iter();
        clear.any(|(fit, text)| fit != HeadingFit::Weak && without_done_steps(&text).is_some())
    }

    /// The next steps: the best part about them that has open steps, without the done ones.
    pub fn next_steps(&self) -> Option<String> {
        let parts = self.best_texts(SectionMeaning::Continuation).into_iter();
        parts.into_iter().find_map(|(_, text)| without_done_steps(&text))
    }

    /// The status of the work in words: a part about the state, else a summary, else weaker matches
    /// for either, else the opening paragraphs.
    pub fn state(&self) -> Option<String> {
        let states = self.best_texts(SectionMeaning::State);
        let summaries = self.best_texts(SectionMeaning::Summary);
        let first = |texts: &[(HeadingFit, String)], is_weak: bool| {
            let mut fitting = texts.iter().filter(|(fit, _)| (*fit == HeadingFit::Weak) == is_weak);
            fitting.next().map(|(_, text)| text.clone())
        };
        first(&states, false)
            .or_else(|| first(&summaries, false))
            .or_else(|| first(&states, true))
            .or_else(|| first(&summaries, true))
            .or_else(|| preamble(self.document))
    }

    /// Whether the body describes ongoing work: next steps, a state, or a plan in progress.
    pub fn has_work(&self) -> bool {
        let has_state = || {
            self.best_texts(SectionMeaning::State).iter().any(|(fit, _)| *fit != HeadingFit::Weak)
        };
        self.next_steps().is_some() || has_state() || self.has_started_plan()
    }

    /// Whether some steps of a plan are done and others are open.
    fn has_started_plan(&self) -> bool {
        let mut plans = self
            .best_texts(SectionMeaning::Plan)
            .into_iter()
            .filter(|(fit, _)| *fit != HeadingFit::Weak);
        plans.any(|(_, text)| without_done_steps(&text).is_some_and(|left| left != text))
    }

    /// The text of a topic, without nested topics that are reported separately.
    fn topic_text(&self, topic: &BodyTopic) -> String {
        let mut out = String::new();
        let mut from = topic.below.start;
        for inner in self.all.iter().filter(|inner| topic.below.range().contains(&inner.start)) {
            let is_separate =
                inner.meaning != topic.meaning && STANDALONE_MEANINGS.contains(&inner.meaning);
            // Next steps may be phrased as decisions, so only an exact heading counts as separate
            // here.
            let is_wide = matches!(
                topic.meaning,
                SectionMeaning::Continuation | SectionMeaning::Plan | SectionMeaning::State
            );
            let is_clear =
                inner.fit == HeadingFit::Exact || (!is_wide && inner.fit != HeadingFit::Weak);
            if is_separate && is_clear && inner.start >= from {
                out.push_str(&generated_section::author_text(
                    self.document,
                    Span::new(from, inner.start),
                ));
                from = inner.below.end.max(from);
            }
        }
        out.push_str(&generated_section::author_text(
            self.document,
            Span::new(from, topic.below.end.max(from)),
        ));
        let rule = |line: &str| line.len() >= 3 && line.bytes().all(|byte| byte == b'-');
        // A rule between two sections belongs to neither of them.
        let trimmed = out.trim_matches('\n').trim_end();
        let last = trimmed.rfind('\n').map_or(0, |at| at + 1);
        let end = if rule(trimmed[last..].trim()) { last } else { trimmed.len() };
        trimmed[..end].trim_end().to_owned()
    }
}

/// Whether a label counts in a document with headings. There, `**Purpose:**` is usually about its
/// own section.
fn is_counted_label(label: &BodyTopic, headed: &[BodyTopic]) -> bool {
    match label.meaning {
        SectionMeaning::Continuation
        | SectionMeaning::WrongTurns
        | SectionMeaning::Landmines
        | SectionMeaning::RootCauses
        | SectionMeaning::Questions => true,
        SectionMeaning::State => headed.iter().any(|topic| {
            let is_about = matches!(topic.meaning, SectionMeaning::State | SectionMeaning::Summary);
            is_about && topic.below.contains(label.below)
        }),
        SectionMeaning::Summary
        | SectionMeaning::Diagnosis
        | SectionMeaning::Plan
        | SectionMeaning::Decisions
        | SectionMeaning::Assumptions
        | SectionMeaning::Verification
        | SectionMeaning::References
        | SectionMeaning::Handoff => false,
    }
}

/// The index of the heading that is the title of the whole document.
fn title_index(document: &Document) -> Option<usize> {
    let sections = document.sections();
    let tops = sections.iter().filter(|section| section.level == 1).count();
    let is_title = tops == 1 && sections.len() > 1 && sections[0].level == 1;
    is_title.then_some(0)
}

/// Whether a text has words. Comments and rules are not content.
fn has_content(text: &str) -> bool {
    without_comments(text).contains(char::is_alphanumeric)
}

/// A text without HTML comments, which are for authors. A comment in code is kept.
pub(crate) fn without_comments(text: &str) -> Cow<'_, str> {
    const OPEN: &str = "<!--";
    const CLOSE: &str = "-->";
    if !text.contains(OPEN) {
        return text.into();
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(OPEN) {
        let is_code = is_in_code(&out, &rest[..at]);
        let (before, comment) = rest.split_at(at);
        out.push_str(before);
        let end = comment.find(CLOSE).map_or(comment.len(), |close| close + CLOSE.len());
        if is_code {
            out.push_str(&comment[..end]);
        }
        rest = &comment[end..];
    }
    out.push_str(rest);
    out.into()
}

/// Whether the end of a text in two parts is inside of a code block or a code span.
fn is_in_code(first: &str, second: &str) -> bool {
    let text = [first, second].concat();
    let fences = text.lines().filter(|line| line.trim_start().starts_with("```")).count();
    let line = text.rsplit('\n').next().unwrap_or_default();
    fences % 2 == 1 || line.matches('`').count() % 2 == 1
}

/// The opening paragraphs, before the first heading after the title.
fn preamble(document: &Document) -> Option<String> {
    let first = document.sections().first();
    let titled = title_index(document).and(first).map(|section| section.own);
    let before = first.map_or(document.body().end, |section| section.at.start);
    let before = Span::new(document.body().start, before);
    let texts = titled
        .into_iter()
        .chain([before])
        .map(|part| generated_section::author_text(document, part));
    let mut beginnings = texts.map(|text| {
        let paragraphs = text.split("\n\n").map(str::trim);
        let with_content = paragraphs.filter(|one| has_content(one) && !is_date(one));
        with_content.take(PARAGRAPHS_MAX).collect::<Vec<&str>>().join("\n\n")
    });
    beginnings.find(|text| !text.is_empty())
}

/// Whether a paragraph only contains dates.
pub(crate) fn is_date(paragraph: &str) -> bool {
    const NAMES: [&str; 6] = ["date", "updated", "last updated", "created", "captured", "revised"];
    paragraph.lines().all(|line| {
        let name = line.split(':').next().unwrap_or_default();
        let name = name.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        NAMES.contains(&name.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Document {
        Document::parse(text.as_bytes())
    }

    #[test]
    fn the_best_matching_section_gives_the_next_steps() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(
                BodyTopics::from_document(&read(text)).next_steps().as_deref(),
                expected,
                "{text}"
            );
        };
        check(
            "# T\n\n## Resume command\n\n```sh\nmake resume\n```\n\n## Next steps\n\n1. Ship it\n",
            Some("1. Ship it"),
        );
        check("# T\n\n## Next steps for ops\n\n- b\n\n## Next steps\n\n- a\n", Some("- a"));
        check("# T\n\n**Next**: b\n\n## Next session priorities\n\n- a\n", Some("- a"));
        check("# T\n\n## Resume\n\n```sh\nmake go\n```\n", Some("```sh\nmake go\n```"));
        check("# Next session\n\nText.\n\n## Files\n\n- a.rs\n", None);
        check("# Next\n\n- Fix the build\n", Some("- Fix the build"));
        check("# T\n\n## Next\n\n- [x] a\n\n## Pending work\n\n- b\n", Some("- b"));
        check("# T\n\n## Next\n\n<!-- what comes next -->\n", None);
        check("# T\n\n## Next\n\nRun it.\n\n### Open questions\n\n- Why?\n", Some("Run it."));
        check("# T\n\n## Next\n\nRun it.\n\n---\n\n## Files\n", Some("Run it."));
    }

    #[test]
    fn comments_are_removed_outside_of_code() {
        let check =
            |text: &str, expected: &str| assert_eq!(without_comments(text).trim(), expected);
        check("<!-- steps -->\n\n1. Ship it <!-- soon\nor not -->", "1. Ship it");
        check("Add `<!-- x -->`.", "Add `<!-- x -->`.");
        check("```\n<!-- x -->\n```\n<!-- y -->", "```\n<!-- x -->\n```");
        check("<!-- never closed", "");
    }

    #[test]
    fn a_plan_in_progress_is_work() {
        let has_work = |text: &str| BodyTopics::from_document(&read(text)).has_work();
        assert!(has_work("# T\n\n## Plan\n\n1. ✅ first\n2. [x] second\n3. third\n"));
        assert!(!has_work("# T\n\n## Plan\n\n1. ✅ first\n2. [x] second\n"));
        assert!(!has_work("# T\n\n## Plan\n\n1. first\n2. second\n"));
    }

    #[test]
    fn labels_are_read_like_headings() {
        let check = |text: &str, expected: &str| {
            assert_eq!(
                BodyTopics::from_document(&read(text)).next_steps().as_deref(),
                Some(expected),
                "{text}"
            );
        };
        check("Handoff 3\n\nSummary\n- a\n\nNext steps\n- b\n- c\n\nFiles\n- x\n", "- b\n- c");
        check("**Done:**\n- a\n\n**Next steps:**\n1. b\n\n**Files**\n- c\n", "1. b");
        check("Text.\n\n**Next**: run the tests\n\nMore.\n", "run the tests\n\nMore.");
        check("Next steps:\n\n- one\n\nNotes:\n- two\n", "- one");
        check("**Next steps** (this week)\n- b\n\n**Files**\n- c\n", "- b");
        assert_eq!(
            BodyTopics::from_document(&read("```\nNext steps:\n- x\n```\n")).next_steps(),
            None
        );
        assert_eq!(
            BodyTopics::from_document(&read("Next steps were discussed with ops at length.\n"))
                .next_steps(),
            None
        );
    }

    #[test]
    fn the_state_is_preferred_over_a_summary() {
        let check = |text: &str, expected: &str| {
            assert_eq!(
                BodyTopics::from_document(&read(text)).state().as_deref(),
                Some(expected),
                "{text}"
            );
        };
        check("# T\n\n## Summary\n\ns\n\n## Current state\n\nc\n", "c");
        check("# T\n\n## What was done\n\nd\n\n## Summary\n\ns\n", "s");
        check("# T\n\n## Context\n\nx\n\n## What was done\n\nd\n", "d");
        check("# T\n\nDate: today\n\nAll of it runs.\n\n## Files\n\n- a\n", "All of it runs.");
        check("# T\n\nIt runs.\n\n## Parser\n\n**Purpose:** to parse\n\n## Files\n", "It runs.");
    }

    #[test]
    fn a_nested_topic_is_reported_once() {
        let text = "# T\n\n## Findings\n\nf\n\n### Root cause: a lock\n\nr\n\n## Gotchas\n\ng\n\n### Known issues\n\nk\n";
        let document = read(text);
        let topics = BodyTopics::from_document(&document);
        assert_eq!(topics.all_texts(SectionMeaning::Diagnosis), ["f"]);
        assert_eq!(topics.all_texts(SectionMeaning::RootCauses), ["r"]);
        assert_eq!(topics.all_texts(SectionMeaning::Landmines), ["g\n\n### Known issues\n\nk"]);
    }
}
