//! Labels: lines that stand for a heading where the writer used none.

use super::BodyTopic;
use crate::format::document::Document;
use crate::format::section::{HeadingFit, SectionMeaning};
use crate::text::span::Span;

/// A longer line is a sentence.
const WORDS_MAX: usize = 7;

/// How a line stands out.
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
    /// Where what it is about begins.
    below: usize,
}

/// The topics that labels begin. Each goes on until the next heading, the next label of its style,
/// or the next label that means something.
pub(super) fn label_topics(document: &Document) -> Vec<BodyTopic> {
    let labels = find_labels(document);
    let headings = document.sections().iter().map(|section| section.at.start);
    let ends: Vec<usize> = headings.chain([document.body().end]).collect();
    let topic = |(index, label): (usize, &Label)| {
        let (meaning, fit) = label.meaning?;
        let closes = |other: &&Label| other.style == label.style || other.meaning.is_some();
        let next = labels[index + 1..].iter().find(closes).map(|other| other.start);
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
        let behind = rest[close + 2..].trim_start_matches(':');
        let title = rest[..close].trim_end_matches(':');
        // What stands behind the label in its line is the beginning of what it is about.
        let inline = !behind.trim().is_empty() && !behind.trim_start().starts_with('(');
        let below = if inline { content.len() - behind.trim_start().len() } else { line.len() };
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
    let named = SectionMeaning::match_title(title)
        .filter(|(_, fit)| *fit != HeadingFit::Weak || style != LabelStyle::Colon);
    // `**Status**: paused` is the status line, not where the state is told.
    let is_status = below < line.len() && matches!(named, Some((SectionMeaning::State, _)));
    (!is_status).then(|| Label { style, meaning: named, start: at, below: at + below })
}
