//! What a summary must keep when it replaces a context, and what an existing summary is missing.

use crate::brief::BriefItem;
use crate::session::checkpoint::{FROM_SUMMARY, Highlight, HighlightKind as Kind, SessionSummary};
use crate::text::words::{is_distinctive, words};
use std::collections::{BTreeMap, BTreeSet};

/// The items of a session that a summary must keep, or `None` if there are none.
pub fn required_in_summary(session: &SessionSummary) -> Option<SessionSummary> {
    filter_items(session, |_| true)
}

/// The same without statements of the agent, which a summary would repeat as facts. Only the user's
/// words and recorded facts remain.
pub fn without_agent_statements(session: &SessionSummary) -> Option<SessionSummary> {
    filter_items(session, |item| {
        // A goal taken from a summary is not the user's own words.
        let is_summarized = item.state.as_deref() == Some(FROM_SUMMARY);
        !is_summarized && (item.kind != Kind::Unchecked || is_external_checkbox(item))
    })
}

/// Whether an unchecked box comes from a text outside the session, which its state names. Other
/// boxes come from reports of the agent.
fn is_external_checkbox(item: &Highlight) -> bool {
    item.state.is_some()
}

/// The items that a summary must keep and that none of these texts mention.
pub fn missing_from_texts(session: &SessionSummary, texts: &[&str]) -> Option<SessionSummary> {
    let known: Vec<ContextText> = texts.iter().map(|text| ContextText::new(text)).collect();
    filter_items(session, |item| !known.iter().any(|known| known.mentions(&item.text)))
}

/// The session without the items that a summary covers.
pub fn without_summary(session: &SessionSummary, summary: &str) -> SessionSummary {
    let covered = ContextText::new(summary);
    let items = session.items.iter().filter(|item| !covered.covers(item)).cloned().collect();
    SessionSummary { items, ..session.clone() }
}

/// The items that a text in the context does not mention.
pub fn items_missing_from_text(items: Vec<BriefItem>, text: &str) -> Vec<BriefItem> {
    let context = ContextText::new(text);
    items.into_iter().filter(|item| !context.mentions(&item.text)).collect()
}

/// Whether a word identifies one specific thing: a path, a number, a commit or code.
fn is_identifier(word: &str) -> bool {
    let has = |is: fn(char) -> bool| word.chars().any(is);
    let inner_capital = word.chars().skip(1).any(char::is_uppercase) && has(char::is_lowercase);
    word.chars().count() > 2
        && (has(|c| c.is_ascii_digit()) || has(|c| "/_.#:".contains(c)) || inner_capital)
}

/// The identifiers of a text, as written.
fn identifiers(text: &str) -> BTreeSet<String> {
    let trimmed = |word: &str| {
        let edge = |c: char| !c.is_alphanumeric();
        word.trim_matches(edge).to_owned()
    };
    let words = text.split(|c: char| c.is_whitespace() || "`\"'()[]{}<>,;*|".contains(c));
    words.map(trimmed).filter(|word| is_identifier(word)).collect()
}

/// Whether a summary must keep this kind: the user's words and unfinished work. Changed files are
/// on disk anyway.
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
    session: &SessionSummary,
    is_wanted: impl Fn(&Highlight) -> bool,
) -> Option<SessionSummary> {
    let items = session.items.iter().filter(|item| is_needed(item.kind) && is_wanted(item));
    let items: Vec<Highlight> = items.cloned().collect();
    let left_out = BTreeMap::new();
    (!items.is_empty()).then(|| SessionSummary { items, left_out, ..session.clone() })
}

/// A text in the context, prepared for lookups.
struct ContextText {
    /// The text as written.
    text: String,
    /// All words, joined with spaces.
    joined_words: String,
    /// The words of each line and the line after it.
    line_words: Vec<BTreeSet<String>>,
}

impl ContextText {
    fn new(text: &str) -> Self {
        let lines: Vec<BTreeSet<String>> = text.lines().map(word_set).collect();
        let behind = lines.iter().skip(1).chain([const { &BTreeSet::new() }]);
        let line_words = lines.iter().zip(behind).map(|(line, next)| line | next).collect();
        Self { text: text.to_owned(), joined_words: join_words(text), line_words }
    }

    /// Whether the text covers a highlight: it contains every identifier, or, if there are none,
    /// mentions its text.
    fn covers(&self, item: &Highlight) -> bool {
        let detail = item.detail.as_deref().unwrap_or_default();
        let wanted = identifiers(&format!("{} {detail}", item.text));
        match wanted.is_empty() {
            true => self.mentions(&item.text),
            false => wanted.iter().all(|one| self.text.contains(one.as_str())),
        }
    }

    /// Whether the text mentions another one: in the same words, or with most of its distinctive
    /// words in one place.
    fn mentions(&self, text: &str) -> bool {
        let own = join_words(text);
        if own.trim().is_empty() || self.joined_words.contains(&own) {
            return true;
        }
        let distinctive: BTreeSet<String> =
            word_set(text).into_iter().filter(|word| is_distinctive(word)).collect();
        // With only a few words, each one may change the meaning, so all of them must occur.
        let enough = if distinctive.len() > 3 {
            (distinctive.len() * 2).div_ceil(3)
        } else {
            distinctive.len()
        };
        let has = |place: &BTreeSet<String>| place.intersection(&distinctive).count() >= enough;
        enough > 0 && self.line_words.iter().any(has)
    }
}

fn word_set(text: &str) -> BTreeSet<String> {
    words(text).into_iter().map(|word| word.text).collect()
}

/// The words with a space on both sides, so that none matches inside another.
fn join_words(text: &str) -> String {
    let words: Vec<String> = words(text).into_iter().map(|word| word.text).collect();
    format!(" {} ", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mentions(text: &str, statement: &str) -> bool {
        ContextText::new(text).mentions(statement)
    }

    #[test]
    fn a_summary_may_mention_something_in_other_words() {
        let correction = "Do not touch the pages, only the cache.";
        assert!(mentions("The user said: do not touch the pages, only the cache!", correction));
        assert!(mentions("Constraint: touch only the cache,\nnever the pages.", correction));
        assert!(!mentions("We talked about the pages.\n\n\nThe cache is purged.", correction));
        assert!(!mentions("", correction));
        assert!(mentions("anything", "…"));
    }

    #[test]
    fn an_item_whose_identifiers_are_in_the_summary_is_covered() {
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
    fn the_summarizer_gets_no_statements_of_the_agent() {
        let item = |kind, state: Option<&str>| Highlight {
            kind,
            text: format!("{} {}", kind.word(), state.unwrap_or_default()),
            detail: None,
            state: state.map(str::to_owned),
            seen: None,
            remark: None,
            weight: 0,
        };
        let statements = [
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
        let mut items: Vec<Highlight> = statements.map(|kind| item(kind, None)).to_vec();
        items.extend(shown.map(|kind| item(kind, None)));
        items.push(item(Kind::Unchecked, None));
        items.push(item(Kind::Unchecked, Some("in the pull request")));
        let session = SessionSummary { items, ..SessionSummary::sample("5e550001") };
        let kinds: Vec<Kind> =
            without_agent_statements(&session).unwrap().items.iter().map(|one| one.kind).collect();
        assert_eq!(kinds, [&shown[..], &[Kind::Unchecked]].concat());
        assert_eq!(
            without_agent_statements(&SessionSummary {
                items: vec![item(Kind::Report, None)],
                ..session
            }),
            None
        );
    }

    #[test]
    fn a_word_does_not_match_inside_another() {
        assert!(!mentions("The cachet of pageships", "cache pages"));
    }
}
