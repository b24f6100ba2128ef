//! Renders one handoff.

use super::delivery::{self, DeliveryLogJson};
use super::trust::{self, TrustJson};
use super::{display_title, heading, indent, markdown, review, sanitize, shell_word, wrap_lines};
use crate::json::{JsonAnswer, JsonItem};
use midstride::store::Store;
use midstride::verbs::OtherId;
use midstride::workspace::{StoredHandoff, Workspace};
use midstride_core::format::generated_section::GeneratedSection;
use midstride_core::format::header::{Measurement, Review, RevisionVerb, Validation};
use midstride_core::format::section::SectionMeaning;
use midstride_core::handoff::Handoff;
use midstride_core::handoff::anchor;
use midstride_core::handoff::timeline::{self, TimelineEvent};
use midstride_core::session::short_id;
use midstride_core::text::span::Spanned;
use midstride_core::text::time::{self, Time};
use midstride_core::text::yaml::{YamlNode, YamlValue};
use serde::Serialize;
use serde_json::{Map, Value as Json};

/// The maximum number of revisions shown; `--history` has them all.
const REVISIONS_SHOWN: usize = 10;
/// The width at which a title is truncated, because a summary may stand in for it.
const TITLE_WIDTH: usize = 100;
/// The width of the indent of a part.
const INDENT: usize = 2;

/// A handoff: its header, its sections, and what its lifecycle adds up to.
#[derive(Serialize)]
pub struct HandoffJson {
    key: String,
    id: String,
    uid: Option<String>,
    title: Option<String>,
    description: Option<String>,
    kind: String,
    stage: Option<String>,
    status: String,
    is_handoff: bool,
    path: String,
    from: Option<String>,
    to: Vec<String>,
    created: Option<String>,
    changed: Option<String>,
    revisions: usize,
    reviews: Vec<ReviewJson>,
    trust: TrustJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipts: Option<DeliveryLogJson>,
    edited_outside: bool,
    blocking_questions: Vec<String>,
    summary: Option<String>,
    header: Json,
    sections: Vec<HandoffSectionJson>,
}

impl JsonItem for HandoffJson {
    const LIST_SCHEMA: &'static str = "handoffs/1";
}

impl JsonAnswer for HandoffJson {
    const SCHEMA: &'static str = "handoff/1";
}

#[derive(Serialize)]
struct HandoffSectionJson {
    title: String,
    level: u8,
    meaning: Option<&'static str>,
    line: usize,
}

#[derive(Serialize)]
struct ReviewJson {
    at: Option<String>,
    by: Option<String>,
    challenged: Option<String>,
    verdict: Option<String>,
    revision: Option<usize>,
}

/// A handoff with its delivery records.
pub fn json_with_deliveries(store: &Store, stored: &StoredHandoff) -> HandoffJson {
    let receipts = Some(delivery::json(&delivery::read_delivery_log(store, stored)));
    HandoffJson { receipts, ..json(store, stored) }
}

/// A handoff without its delivery records, which cost a query.
pub fn json(store: &Store, stored: &StoredHandoff) -> HandoffJson {
    let workspace = store.workspace();
    let handoff = stored.handoff(workspace);
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let document = handoff.document();
    HandoffJson {
        key: handoff.key().to_string(),
        id: handoff.id().to_owned(),
        uid: owned(handoff.written_uid().map(|uid| uid.value)),
        title: owned(handoff.title()),
        description: owned(handoff.description()),
        kind: handoff.kind().to_string(),
        stage: owned(handoff.stage()),
        status: handoff.status().to_string(),
        is_handoff: handoff.is_handoff(),
        path: stored.path.display().to_string(),
        from: owned(handoff.from()),
        to: handoff.to().iter().map(|to| to.value.to_owned()).collect(),
        created: handoff.created().map(moment_text),
        changed: handoff.changed().map(moment_text),
        revisions: handoff.revisions().len(),
        reviews: handoff.reviews().iter().map(review_json).collect(),
        trust: trust::json(&trust::read_trust(workspace, &handoff)),
        receipts: None,
        // If the comparison fails, show the rest.
        edited_outside: store.is_edited_outside(stored).unwrap_or(false),
        blocking_questions: blocking_texts(&handoff),
        summary: owned(handoff.summary()),
        header: handoff.header().map_or(Json::Null, |header| yaml_to_json(header.fields())),
        sections: document
            .sections()
            .iter()
            .map(|section| HandoffSectionJson {
                title: section.title.value.clone(),
                level: section.level,
                meaning: section.meaning.map(SectionMeaning::heading),
                line: document.position(section.at.start).line,
            })
            .collect(),
    }
}

fn moment_text(time: Time) -> String {
    time::format_time(time.moment)
}

fn review_json(review: &Review<'_>) -> ReviewJson {
    let owned = |text: Option<Spanned<&str>>| text.map(|text| text.value.to_owned());
    ReviewJson {
        at: review.time.map(|time| {
            let read = Time::parse(time.value);
            read.map_or_else(|| time.value.to_owned(), moment_text)
        }),
        by: owned(review.by),
        challenged: owned(review.challenged),
        verdict: review::verdict_text(review).map(str::to_owned),
        revision: review.revision,
    }
}

fn yaml_to_json(node: &YamlNode) -> Json {
    match &node.value {
        YamlValue::Null | YamlValue::Unreadable(_) => Json::Null,
        YamlValue::Text(text) => match (node.style, text.as_str()) {
            (midstride_core::text::yaml::YamlStyle::Plain, "true") => Json::Bool(true),
            (midstride_core::text::yaml::YamlStyle::Plain, "false") => Json::Bool(false),
            _ => Json::String(text.clone()),
        },
        YamlValue::List(items) => items.iter().map(|item| yaml_to_json(&item.node)).collect(),
        YamlValue::Map(entries) => Json::Object(
            entries
                .iter()
                .map(|e| (e.key.value.clone(), yaml_to_json(&e.node)))
                .collect::<Map<_, _>>(),
        ),
    }
}

fn blocking_texts(handoff: &Handoff<'_>) -> Vec<String> {
    let questions = handoff.questions();
    let blocking = questions.iter().filter(|question| question.blocks());
    blocking.map(|q| text_or_placeholder(q.question).trim().to_owned()).collect()
}

fn text_or_placeholder(text: Option<Spanned<&str>>) -> &str {
    text.map_or("(no text)", |text| text.value)
}

/// The handoff for the terminal. With its width, Markdown is rendered and words are wrapped.
pub fn text(store: &Store, stored: &StoredHandoff, width: Option<usize>) -> String {
    let workspace = store.workspace();
    let handoff = stored.handoff(workspace);
    let fit = |text: &str, width| fit_lines(workspace, text, width);
    let mut out = title_and_facts(workspace, stored, width);
    let trust = trust::line(&trust::read_trust(workspace, &handoff), handoff.is_handoff());
    if !trust.is_empty() {
        out.push_str(&fit(&format!("{trust}\n"), width));
    }
    out.push_str(&fit(&delivery_line(store, stored), width));
    out.push_str(&format!("{}\n", super::display_path(workspace, &stored.path)));
    let mut part = |name: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            out.push('\n');
            out.push_str(&heading(name));
            let width = width.map(|width| width.saturating_sub(INDENT));
            out.push_str(&indent(&fit(&lines.join("\n"), width)));
        }
    };
    let written = handoff.node("context_summary").and_then(YamlNode::text);
    part("Summary", written.map(|text| text.value.trim().to_owned()).into_iter().collect());
    part("Resolution", resolution(&handoff));
    part("Open questions", questions(&handoff));
    part("Wrong turns", wrong_turns(&handoff));
    part("Landmines", handoff.landmines().iter().map(|l| bullet(l.value)).collect());
    part("Decisions", decisions(&handoff));
    part("Assumptions", assumptions(&handoff));
    part("Builds on", upstream(&handoff));
    part("Proofs", proofs(&handoff));
    part("Measured", handoff.measurements().iter().map(|m| bullet(&measurement_text(m))).collect());
    part("Reviews", handoff.reviews().iter().map(review).collect());
    let name = if handoff.reviews().is_empty() { "Revisions" } else { "Other revisions" };
    part(name, revisions(&handoff));
    // Hide anchors and the comments around generated sections, which only programs need.
    let plain = anchor::without_anchors(&stored.document);
    let document = plain.as_ref().unwrap_or(&stored.document);
    let body = GeneratedSection::text_without_markers(document, document.body());
    if !body.trim().is_empty() {
        out.push('\n');
        out.push_str(&body_text(workspace, &body, width));
    }
    out
}

/// Markdown of the body: rendered if there is a width, as it is otherwise.
fn body_text(workspace: &Workspace, body: &str, width: Option<usize>) -> String {
    let text = sanitize(body.trim());
    let text = match width {
        Some(width) => markdown::render(workspace.clean(&text).0.as_str(), width),
        None => text,
    };
    format!("{}\n", text.trim_end())
}

/// The title, status and owners of a handoff.
pub(super) fn title_and_facts(
    workspace: &Workspace,
    stored: &StoredHandoff,
    width: Option<usize>,
) -> String {
    let handoff = stored.handoff(workspace);
    let title = display_title(&handoff, width.unwrap_or(TITLE_WIDTH).min(TITLE_WIDTH));
    heading(&title) + &fit_lines(workspace, &facts_line(&handoff), width)
}

/// The lines of a text, wrapped to a width. Secrets are redacted before that, because half of a secret is
/// not recognized as one.
fn fit_lines(workspace: &Workspace, text: &str, width: Option<usize>) -> String {
    let text = sanitize(text);
    match width {
        Some(width) => wrap_lines(workspace.clean(&text).0.as_str(), width),
        None => text,
    }
}

/// The sessions that were briefed on the handoff, in one line; empty if there are none.
pub(super) fn delivery_line(store: &Store, stored: &StoredHandoff) -> String {
    let line = delivery::line(&delivery::read_delivery_log(store, stored));
    line.map_or_else(String::new, |line| format!("{}\n", sanitize(&line)))
}

fn facts_line(handoff: &Handoff<'_>) -> String {
    let to: Vec<&str> = handoff.to().iter().map(|to| to.value).collect();
    let facts = [
        Some(handoff.key().to_string()),
        Some(if handoff.is_handoff() { handoff.kind().word() } else { "note" }.to_owned()),
        handoff.has_status().then(|| handoff.status().to_string()),
        handoff.from().map(|from| format!("from {from}")),
        (!to.is_empty()).then(|| format!("to {}", to.join(", "))),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    format!("{}\n", sanitize(&facts.join(" · ")))
}

fn bullet(text: &str) -> String {
    format!("- {}", text.trim().replace('\n', "\n  "))
}

fn detail_line(name: &str, text: Option<Spanned<&str>>) -> Option<String> {
    text.map(|text| format!("  {name}: {}", text.value.trim().replace('\n', "\n  ")))
}

/// How and when the handoff was closed.
fn resolution(handoff: &Handoff<'_>) -> Vec<String> {
    let moments = timeline::entries(handoff);
    let ended = moments.iter().rev().find_map(|moment| match &moment.event {
        TimelineEvent::Closed(end) => Some((moment.time, end)),
        TimelineEvent::Captured(_) | TimelineEvent::Challenged(_) | TimelineEvent::Changed(_) => {
            None
        }
    });
    let Some((time, end)) = ended else { return Vec::new() };
    let facts = [
        ("outcome", end.outcome),
        ("reason", end.reason),
        ("superseded by", end.superseded_by),
        ("commit", end.commit),
    ];
    let facts = facts.into_iter().filter_map(|(name, text)| Some(format!("{name}: {}", text?)));
    let when = time.map(|time| format!("{}: {}", end.status, review::format_minute(time)));
    when.into_iter().chain(facts).map(|line| bullet(&line)).collect()
}

fn questions(handoff: &Handoff<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for question in handoff.questions() {
        let mark = match (question.blocks(), question.answer) {
            (true, _) => "BLOCKS: ",
            (false, Some(_)) => "answered: ",
            (false, None) => "",
        };
        lines.push(bullet(&format!("{mark}{}", text_or_placeholder(question.question).trim())));
        lines.extend(detail_line("context", question.context));
        lines.extend(detail_line("who", question.owner));
        lines.extend(detail_line("answer", question.answer));
    }
    lines
}

fn wrong_turns(handoff: &Handoff<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for turn in handoff.wrong_turns() {
        lines.push(bullet(text_or_placeholder(turn.tried)));
        lines.extend(detail_line("wrong because", turn.why_wrong));
        lines.extend(detail_line("instead", turn.replaced_by));
    }
    lines
}

fn decisions(handoff: &Handoff<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for decision in handoff.decisions() {
        let binding = if decision.binding { " (binding)" } else { "" };
        lines.push(format!("{}{binding}", bullet(text_or_placeholder(decision.decision))));
        lines.extend(detail_line("because", decision.rationale));
        for alternative in decision.alternatives {
            lines.push(format!("  not: {}", alternative.value));
        }
    }
    lines
}

fn assumptions(handoff: &Handoff<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for assumption in handoff.assumptions() {
        let confidence = match assumption.confidence {
            Some(midstride_core::format::header::Confidence::High) => "high confidence",
            Some(midstride_core::format::header::Confidence::Medium) => "medium confidence",
            Some(midstride_core::format::header::Confidence::Low) => "low confidence",
            None => "no confidence given",
        };
        let checked = match assumption.validation {
            Validation::Holds => ", validated",
            Validation::Disproved => ", disproved",
            Validation::Pending if assumption.validation_needed => ", needs validation",
            Validation::Pending => "",
        };
        lines.push(format!(
            "{} ({confidence}{checked})",
            bullet(text_or_placeholder(assumption.assumption))
        ));
    }
    lines
}

fn upstream(handoff: &Handoff<'_>) -> Vec<String> {
    let dependencies = handoff.dependencies();
    dependencies
        .upstream
        .iter()
        .map(|dependency| bullet(text_or_placeholder(dependency.artifact)))
        .collect()
}

/// The claims with their commands, numbered as in `verify` and `allow`.
fn proofs(handoff: &Handoff<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, proof) in handoff.proofs() {
        let last = proof.last.as_ref().and_then(|last| Some((last.outcome?, last.time)));
        let outcome = last.map_or_else(
            || "never run".to_owned(),
            |(outcome, time)| {
                let time = time.and_then(|time| Time::parse(time.value));
                let when = time
                    .map_or_else(String::new, |time| format!(", {}", review::format_minute(time)));
                format!("{}{when}", outcome.word().replace('_', " "))
            },
        );
        let claim = text_or_placeholder(proof.claim).trim().replace('\n', "\n   ");
        lines.push(format!("{number}. {claim} ({outcome})"));
        let run = proof.run.map(|run| run.value.trim().replace('\n', "\n        "));
        lines.extend(run.map(|run| format!("   run: {run}")));
    }
    lines
}

/// The values before and after, and the factor between them.
pub(super) fn measurement_text(measured: &Measurement<'_>) -> String {
    let number = |text: Option<Spanned<&str>>| text.map_or("?", |text| text.value).to_owned();
    let unit = measured.unit.map_or_else(String::new, |unit| format!(" {}", unit.value));
    let ratio = measured.ratio().map(|ratio| format!(" ({ratio:.0}×)"));
    format!(
        "{}: {} → {}{unit}{}",
        text_or_placeholder(measured.name),
        number(measured.before),
        number(measured.after),
        ratio.unwrap_or_default()
    )
}

fn review(review: &Review<'_>) -> String {
    let by = review.by.map_or_else(String::new, |by| format!("by {}: ", by.value.trim()));
    let time = review.time.map_or("", |time| time.value);
    bullet(&format!("{time}  {by}{}", review::challenge_parts(review).join(" ")))
}

/// The latest revisions that are not shown as reviews, and how many earlier ones there are.
fn revisions(handoff: &Handoff<'_>) -> Vec<String> {
    let mut all = handoff.revisions();
    if !handoff.reviews().is_empty() {
        all.retain(|revision| revision.verb != Some(RevisionVerb::Review));
    }
    let earlier = all.len().saturating_sub(REVISIONS_SHOWN);
    let more = (earlier > 0).then(|| {
        let key = super::shell_word(&handoff.key().to_string());
        bullet(&format!("{earlier} earlier; to see them: midstride show {key} --history"))
    });
    let last = all[earlier..].iter().map(|r| {
        bullet(&format!(
            "{}  {}",
            r.time.map_or("", |t| t.value),
            r.reason.map_or("(no reason)", |t| t.value)
        ))
    });
    more.into_iter().chain(last).collect()
}

/// What a new document inherits from its upstream handoff.
pub fn inherited_text(workspace: &Workspace, upstream: &StoredHandoff) -> String {
    let handoff = upstream.handoff(workspace);
    let mut out = format!("Builds on {}", handoff.key());
    let blocking = blocking_texts(&handoff);
    let mut part = |name: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            out.push_str(&format!("\n{name}:\n"));
            out.push_str(indent(&sanitize(&lines.join("\n"))).trim_end_matches('\n'));
        }
    };
    part("Decided upstream", decisions(&handoff));
    part("Still blocking upstream", blocking.iter().map(|q| bullet(q)).collect());
    part("Assumed upstream", assumptions(&handoff));
    if handoff.decisions().is_empty() && blocking.is_empty() {
        out.push_str(", which has no decisions yet");
    }
    out
}

/// A section of the body, by its heading or meaning, or a field of the header.
pub fn section(
    workspace: &Workspace,
    stored: &StoredHandoff,
    name: &str,
    width: Option<usize>,
) -> Option<String> {
    let document = &stored.document;
    let plain = name.trim().to_lowercase();
    let by_title = document.sections().iter().find(|s| s.title.value.to_lowercase() == plain);
    let meaning = SectionMeaning::from_title(&plain.replace('_', " "));
    let by_meaning = || meaning.and_then(|meaning| document.sections_about(meaning).next());
    if let Some(section) = by_title.or_else(by_meaning) {
        return Some(body_text(workspace, section.at.slice(document.text()), width));
    }
    let entry = document.header()?.fields().entry(&plain.replace(' ', "_"))?;
    let start = entry.key.at.start;
    let whole =
        midstride_core::text::span::Span::new(start, entry.node.at.end.max(entry.key.at.end + 1));
    let indent = document.position(start).column - 1;
    let text = whole.slice(document.text());
    let dedented: Vec<&str> = text
        .lines()
        .map(|line| line.get(indent..).filter(|_| line.starts_with(' ')).unwrap_or(line))
        .collect();
    Some(format!("{}\n", sanitize(dedented.join("\n").trim_end())))
}

/// The command for an id in a briefing that is not a handoff's.
pub fn other_id_hint(other: &OtherId) -> String {
    match other {
        OtherId::Session(id) => {
            format!("this is a session: midstride session show {}", shell_word(id))
        }
        OtherId::Item(item) => format!(
            "this is an open item ({}) of session {}: `midstride dismiss {}` closes it",
            item.kind,
            short_id(item.session.as_str()),
            shell_word(&item.handle),
        ),
    }
}

/// The names that `section` accepts.
pub fn section_names(stored: &StoredHandoff) -> Vec<String> {
    let document = &stored.document;
    let sections = document.sections().iter().map(|section| format!("`{}`", section.title.value));
    let entries = document.header().map(|header| header.fields().entries()).unwrap_or_default();
    sections.chain(entries.iter().map(|entry| format!("`{}`", entry.key.value))).collect()
}
