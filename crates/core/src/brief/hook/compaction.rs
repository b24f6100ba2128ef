//! What must not be lost where a context is replaced by a summary, and what was.

use crate::brief::BriefItem;
use crate::session::checkpoint::{FROM_SUMMARY, Highlight, HighlightKind as Kind, SessionSummary};
use crate::text::words::{is_distinctive, words};
use std::collections::{BTreeMap, BTreeSet};

/// What of a session a summary has to keep; none where there is nothing.
pub fn required_in_summary(gist: &SessionSummary) -> Option<SessionSummary> {
    filter_items(gist, |_| true)
}

/// The same without statements of the agent, which a summary would repeat as facts: what is left are words of
/// the user and what the records of the session show.
pub fn without_agent_statements(gist: &SessionSummary) -> Option<SessionSummary> {
    filter_items(gist, |item| {
        // A summary is not the user's word.
        let is_summarized = item.state.as_deref() == Some(FROM_SUMMARY);
        !is_summarized && (item.kind != Kind::Unchecked || is_external_checkbox(item))
    })
}

/// Whether an unchecked box is in a text that was written outside, which is named there. The others are in
/// what the agent reports.
fn is_external_checkbox(item: &Highlight) -> bool {
    item.state.is_some()
}

/// What of it none of these texts tells.
pub fn missing_from_texts(gist: &SessionSummary, texts: &[&str]) -> Option<SessionSummary> {
    let told: Vec<ContextText> = texts.iter().map(|text| ContextText::new(text)).collect();
    filter_items(gist, |item| !told.iter().any(|told| told.mentions(&item.text)))
}

/// The same without what a summary says: what is left is what the summary lost or cannot know.
pub fn without_summary(gist: &SessionSummary, summary: &str) -> SessionSummary {
    let told = ContextText::new(summary);
    let items = gist.items.iter().filter(|item| !told.covers(item)).cloned().collect();
    SessionSummary { items, ..gist.clone() }
}

/// Points of which a text in the context tells nothing.
pub fn items_missing_from_text(points: Vec<BriefItem>, text: &str) -> Vec<BriefItem> {
    let told = ContextText::new(text);
    points.into_iter().filter(|point| !told.mentions(&point.text)).collect()
}

/// Whether a word names one thing and no other: a path, a number, a commit, code.
fn is_identifier(word: &str) -> bool {
    let has = |is: fn(char) -> bool| word.chars().any(is);
    let inner_capital = word.chars().skip(1).any(char::is_uppercase) && has(char::is_lowercase);
    word.chars().count() > 2
        && (has(|c| c.is_ascii_digit()) || has(|c| "/_.#:".contains(c)) || inner_capital)
}

/// The identifiers of a text, as they are written.
fn identifiers(text: &str) -> BTreeSet<String> {
    let trimmed = |word: &str| {
        let edge = |c: char| !c.is_alphanumeric();
        word.trim_matches(edge).to_owned()
    };
    let words = text.split(|c: char| c.is_whitespace() || "`\"'()[]{}<>,;*|".contains(c));
    words.map(trimmed).filter(|word| is_identifier(word)).collect()
}

/// The words of the user, and what is not done yet. What was changed is on the disk.
fn is_needed(kind: Kind) -> bool {
    match kind {
        Kind::Instruction
        | Kind::Goal
        | Kind::OpenRequest
        | Kind::Correction
        | Kind::Queued
        | Kind::Answer
        | Kind::Commit
        | Kind::Effect
        | Kind::Failed
        | Kind::Task
        | Kind::Agent
        | Kind::Unchecked
        | Kind::Plan => true,
        Kind::Request
        | Kind::Check
        | Kind::Question
        | Kind::StatedPlan
        | Kind::Status
        | Kind::Running
        | Kind::OpenItem
        | Kind::Finding
        | Kind::Decision
        | Kind::DeadEnd
        | Kind::Summary
        | Kind::Remark
        | Kind::Report
        | Kind::AgentReport
        | Kind::Message
        | Kind::Reverted
        | Kind::Changed
        | Kind::Missing
        | Kind::Passed
        | Kind::TakenBack => false,
    }
}

fn filter_items(
    gist: &SessionSummary,
    is_wanted: impl Fn(&Highlight) -> bool,
) -> Option<SessionSummary> {
    let items = gist.items.iter().filter(|item| is_needed(item.kind) && is_wanted(item));
    let items: Vec<Highlight> = items.cloned().collect();
    let left_out = BTreeMap::new();
    (!items.is_empty()).then(|| SessionSummary { items, left_out, ..gist.clone() })
}

/// A text, ready to be asked what it tells.
struct ContextText {
    /// All of it, as it is written.
    text: String,
    /// All of it, the words in a row.
    joined_words: String,
    /// The words of each line and the one behind it.
    line_words: Vec<BTreeSet<String>>,
}

impl ContextText {
    fn new(text: &str) -> Self {
        let lines: Vec<BTreeSet<String>> = text.lines().map(word_set).collect();
        let behind = lines.iter().skip(1).chain([const { &BTreeSet::new() }]);
        let line_words = lines.iter().zip(behind).map(|(line, next)| line | next).collect();
        Self { text: text.to_owned(), joined_words: join_words(text), line_words }
    }

    /// Whether it says what a highlight says: every identifier of it, or where it has none, most of its
    /// words in one place.
    fn covers(&self, item: &Highlight) -> bool {
        let detail = item.detail.as_deref().unwrap_or_default();
        let wanted = identifiers(&format!("{} {detail}", item.text));
        match wanted.is_empty() {
            true => self.mentions(&item.text),
            false => wanted.iter().all(|one| self.text.contains(one.as_str())),
        }
    }

    /// Whether it tells something: in its own words, or with most of those that tell it, in one place.
    fn mentions(&self, text: &str) -> bool {
        let own = join_words(text);
        if own.trim().is_empty() || self.joined_words.contains(&own) {
            return true;
        }
        let telling: BTreeSet<String> =
            word_set(text).into_iter().filter(|word| is_distinctive(word)).collect();
        // Of a few words each may turn it around.
        let enough =
            if telling.len() > 3 { (telling.len() * 2).div_ceil(3) } else { telling.len() };
        let has = |place: &BTreeSet<String>| place.intersection(&telling).count() >= enough;
        enough > 0 && self.line_words.iter().any(has)
    }
}

fn word_set(text: &str) -> BTreeSet<String> {
    words(text).into_iter().map(|word| word.text).collect()
}

/// The words with a space on each side, so that none is found inside another.
fn join_words(text: &str) -> String {
    let words: Vec<String> = words(text).into_iter().map(|word| word.text).collect();
    format!(" {} ", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, said: &str) -> bool {
        ContextText::new(text).mentions(said)
    }

    #[test]
    fn a_summary_tells_what_it_says_in_its_own_words() {
        let correction = "Do not touch the pages, only the cache.";
        assert!(told("The user said: do not touch the pages, only the cache!", correction));
        assert!(told("Constraint: touch only the cache,\nnever the pages.", correction));
        assert!(!told("We talked about the pages.\n\n\nThe cache is purged.", correction));
        assert!(!told("", correction));
        assert!(told("anything", "…"));
    }

    #[test]
    fn what_a_summary_names_is_not_said_again() {
        let summary = "Fixed `discardSession` in cmd/sessions_fix.go, see #201. Lint passes.";
        let item = |text: &str| Highlight {
            kind: Kind::Finding,
            text: text.to_owned(),
            detail: None,
            state: None,
            seen: None,
            remark: None,
            weight: 0,
        };
        let has = |text: &str| ContextText::new(summary).covers(&item(text));
        assert!(has("`discardSession` lost its check, see #201"));
        assert!(!has("`discardSession` lost its check, see #202"));
        assert!(!has("reset.go still asks go-git"));
        assert!(has("Lint passes."));
        assert!(!has("The manual test was not run."));
    }

    #[test]
    fn the_summarizer_gets_no_statement_of_the_agent() {
        let item = |kind, state: Option<&str>| Highlight {
            kind,
            text: format!("{} {}", kind.word(), state.unwrap_or_default()),
            detail: None,
            state: state.map(str::to_owned),
            seen: None,
            remark: None,
            weight: 0,
        };
        let said = [
            Kind::Question,
            Kind::StatedPlan,
            Kind::Status,
            Kind::OpenItem,
            Kind::Finding,
            Kind::Decision,
            Kind::DeadEnd,
            Kind::Summary,
            Kind::Remark,
            Kind::Report,
            Kind::AgentReport,
        ];
        let shown = [
            Kind::Instruction,
            Kind::Goal,
            Kind::OpenRequest,
            Kind::Correction,
            Kind::Queued,
            Kind::Answer,
            Kind::Commit,
            Kind::Effect,
            Kind::Failed,
            Kind::Task,
            Kind::Agent,
            Kind::Plan,
        ];
        let mut items: Vec<Highlight> = said.map(|kind| item(kind, None)).to_vec();
        items.extend(shown.map(|kind| item(kind, None)));
        items.push(item(Kind::Unchecked, None));
        items.push(item(Kind::Unchecked, Some("in the pull request")));
        let gist = SessionSummary { items, ..SessionSummary::sample("5e550001") };
        let told: Vec<Kind> =
            without_agent_statements(&gist).unwrap().items.iter().map(|one| one.kind).collect();
        assert_eq!(told, [&shown[..], &[Kind::Unchecked]].concat());
        assert_eq!(
            without_agent_statements(&SessionSummary {
                items: vec![item(Kind::Report, None)],
                ..gist
            }),
            None
        );
    }

    #[test]
    fn a_word_inside_another_is_not_that_word() {
        assert!(!told("The cachet of pageships", "cache pages"));
    }
}
