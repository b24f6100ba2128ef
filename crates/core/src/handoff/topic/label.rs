//! Labels: lines that serve as headings where the author used none.

use super::BodyTopic;
use crate::format::document::Document;
use crate::format::section::{HeadingFit, SectionMeaning};
use crate::text::span::Span;

/// A label has at most this many words; a longer line is a sentence.
const WORDS_MAX: usize = 7;

/// How a label is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LabelStyle {
    /// `**Next steps**`
    Bold,
    /// `Next steps:`
    Colon,
    /// `Next steps`, with a list below.
    Plain,
}

/// A line that looks like a heading.
struct Label {
    style: LabelStyle,
    meaning: Option<(SectionMeaning, HeadingFit)>,
    start: usize,
    /// The start of the text that belongs to it.
    below: usize,
}

/// The topics that labels begin. Each one ends at the next heading, the next label of the same
/// style, or the next label with a known meaning.
pub(super) fn label_topics(document: &Document) -> Vec<BodyTopic> {
    let labels = find_labels(document);
    let headings = document.sections().iter().map(|section| section.at.start);
    let ends: Vec<usize> = headings.chain([document.body().end]).collect();
    let topic = |(index, label): (usize, &Label)| {
        let (meaning, fit) = label.meaning?;
        let ends_topic = |other: &&Label| other.style == label.style || other.meaning.is_some();
        let next = labels[index + 1..].iter().find(ends_topic).map(|other| other.start);
        let ends = ends.iter().copied().filter(|end| *end >= label.below);
        let end = ends.chain(next).min()?;
        let below = Span::new(label.below, end);
        Some(BodyTopic { meaning, fit, start: label.start, below, is_label: true })
    };
    labels.iter().enumerate().filter_map(topic).collect()
}

fn find_labels(document: &Document) -> Vec<Label> {
    let text = document.body().slice(document.text());
    let in_code = |at: usize| document.code().iter().any(|code| code.start < at && at < code.end);
    let mut found = Vec::new();
    let mut at = document.body().start;
    let mut after_blank = true;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        if after_blank && !in_code(at) {
            found.extend(parse_label(line, next, at));
        }
        after_blank = line.trim().is_empty() || line.starts_with('#');
        at += line.len();
    }
    found
}

fn parse_label(line: &str, next: &str, at: usize) -> Option<Label> {
    let content = line.trim_end();
    let first = content.chars().next()?;
    let (style, title, below) = if let Some(rest) = content.strip_prefix("**") {
        let close = rest.find("**")?;
        let after_label = rest[close + 2..].trim_start_matches(':');
        let title = rest[..close].trim_end_matches(':');
        // Text after the label on the same line belongs to the topic.
        let inline = !after_label.trim().is_empty() && !after_label.trim_start().starts_with('(');
        let below =
            if inline { content.len() - after_label.trim_start().len() } else { line.len() };
        (LabelStyle::Bold, title, below)
    } else if !first.is_alphanumeric() || super::step::is_item(content) {
        return None;
    } else if let Some(title) = content.strip_suffix([':', '：']) {
        (LabelStyle::Colon, title, line.len())
    } else if super::step::is_item(next) && !content.ends_with(['.', '!', '?', ',', ';']) {
        (LabelStyle::Plain, content, line.len())
    } else {
        return None;
    };
    if !(1..=WORDS_MAX).contains(&title.split_whitespace().count()) {
        return None;
    }
    let meaning = SectionMeaning::match_title(title)
        .filter(|(_, fit)| *fit != HeadingFit::Weak || style != LabelStyle::Colon);
    // `**Status**: paused` is the status line, not a section about the state.
    let is_status = below < line.len() && matches!(meaning, Some((SectionMeaning::State, _)));
    (!is_status).then(|| Label { style, meaning, start: at, below: at + below })
}
