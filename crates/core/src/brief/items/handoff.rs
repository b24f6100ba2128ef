//! Builds briefing items from a handoff: all relevant parts of an open one, the outcome of a closed
//! one.

use super::{ItemSource, day, short_commit};
use crate::brief::quote;
use crate::brief::{BriefItem, ItemRank, SourcedStartupStep, StartupStep};
use crate::format::header::{
    Decision, Proof, Question, RecordedOutcome, Status, Validation, WrongTurn,
};
use crate::format::section::{HeadingFit, SectionMeaning};
use crate::handoff::Handoff;
use crate::handoff::drift::{CitationCheck, CitationStatus};
use crate::handoff::topic::{self, BodyTopics};
use crate::text::id::CommitId;
use crate::text::span::Spanned;
use crate::text::time::Time;
use crate::text::words::{is_distinctive, words};
use crate::text::yaml::YamlNode;
use jiff::Timestamp;
use std::collections::HashSet;

/// Maximum number of items of one kind from one body.
const ITEMS_MAX: usize = 12;
/// The heading of a wrong turn that the user is about to propose again.
pub const REJECTED: &str = "Rejected earlier";
/// Maximum number of wrong turns in the item of a closed handoff.
const CLOSED_WRONG_TURNS_MAX: usize = 3;

/// A handoff with what is known about it beyond its text.
#[derive(Clone, Debug)]
pub struct KnownHandoff<'d> {
    /// The handoff.
    pub handoff: Handoff<'d>,
    /// Its path, as a user would write it.
    pub path: String,
    /// When its file was last modified, for notes without a date.
    pub file_changed: Option<Timestamp>,
    /// The user's prompt, if the briefing answers one.
    pub prompt: Option<PromptWords>,
    /// Recorded runs of its proofs, the latest run of each last.
    pub trials: Vec<ProofTrial>,
    /// Cited places that have changed.
    pub drifted_places: Vec<DriftedPlace>,
    /// The commit at which those places were checked.
    pub checked_at: Option<CommitId>,
    /// The citations that led nowhere at the last check.
    pub missing: MissingCitations,
}

/// What a document cites that did not exist at the last check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingCitations {
    /// The citations, as written.
    pub places: Vec<String>,
    /// How many distinct paths it cites.
    pub paths: usize,
    /// How many of those did not exist.
    pub missing_paths: usize,
}

impl MissingCitations {
    /// Finds the missing ones among checked citations.
    pub fn from_checks(checks: &[CitationCheck]) -> Self {
        let path = |check: &CitationCheck| check.cited_path().to_owned();
        let paths: HashSet<String> = checks.iter().map(path).collect();
        let lacks_path = |check: &&CitationCheck| check.lacks_path();
        let missing: HashSet<String> = checks.iter().filter(lacks_path).map(path).collect();
        let is_broken = |check: &&CitationCheck| check.lacks_path() || check.lacks_lines();
        let mut places: Vec<String> =
            checks.iter().filter(is_broken).map(|check| check.place.value.clone()).collect();
        places.dedup();
        Self { places, paths: paths.len(), missing_paths: missing.len() }
    }

    /// Whether most of what the document cites did not exist.
    pub fn is_most(&self) -> bool {
        const PATHS_MIN: usize = 5;
        self.paths >= PATHS_MIN && self.missing_paths * 2 > self.paths
    }
}

/// The distinctive words of a prompt, for comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptWords {
    words: Vec<String>,
}

impl PromptWords {
    /// Extracts the distinctive words of a prompt.
    pub fn from_prompt(prompt: &str) -> Self {
        Self { words: distinctive_words(prompt) }
    }

    /// Whether the prompt proposes the text: they share two distinctive words, or one if the text
    /// has only a few. Words of the handoff's title alone do not count, since they only name its
    /// subject.
    fn proposes(&self, text: &str, title: &str) -> bool {
        const FEW: usize = 3;
        let theirs = distinctive_words(text);
        let title = distinctive_words(title);
        let has = |words: &[String], word: &String| words.iter().any(|own| is_same_word(own, word));
        let shared: Vec<&String> = theirs.iter().filter(|word| has(&self.words, word)).collect();
        let is_specific = shared.iter().any(|word| !has(&title, word));
        is_specific && (shared.len() >= 2 || theirs.len() <= FEW)
    }
}

/// The distinctive words of a text, without duplicates.
fn distinctive_words(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let all = words(text).into_iter().map(|word| word.text);
    all.filter(|word| is_distinctive(word) && seen.insert(word.clone())).collect()
}

/// Whether two words are equal except for their endings: `cache` and `cached`.
fn is_same_word(a: &str, b: &str) -> bool {
    const STEM: usize = 4;
    const ENDING: usize = 3;
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.chars().count(), b.chars().count());
    (shared == a && shared == b) || (shared >= STEM && a.max(b) - shared <= ENDING)
}

/// The source name of a handoff's items. Notes are named by path, because many share a file name.
pub fn source_name(handoff: &Handoff<'_>, path: &str) -> String {
    if handoff.is_handoff() { format!("handoff {}", handoff.key()) } else { format!("note {path}") }
}

/// A run of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofTrial {
    /// The number of the proof, starting at 1.
    pub number: usize,
    /// The command that was run.
    pub command: String,
    /// The outcome.
    pub outcome: String,
    /// When it ran.
    pub at: Timestamp,
    /// The commit that was checked out.
    pub commit: Option<CommitId>,
}

/// A cited place that has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftedPlace {
    /// The citation as the document writes it.
    pub place: String,
    /// What happened to the place.
    pub verdict: CitationStatus,
    /// The new location, if it is known and differs.
    pub now: Option<String>,
}

/// Builds the items of one handoff.
struct HandoffItemBuilder<'k, 'd> {
    known: &'k KnownHandoff<'d>,
    topics: BodyTopics<'d>,
    origin: ItemSource,
}

impl<'k, 'd> HandoffItemBuilder<'k, 'd> {
    fn new(known: &'k KnownHandoff<'d>) -> Self {
        let handoff = &known.handoff;
        let key = handoff.key().to_string();
        let name = if handoff.is_handoff() { &key } else { &known.path };
        let origin =
            ItemSource::new(source_name(handoff, &known.path), &["midstride", "show", name]);
        Self { known, topics: BodyTopics::from_document(handoff.document()), origin }
    }

    fn handoff(&self) -> &'k Handoff<'d> {
        &self.known.handoff
    }

    fn item(&self, rank: ItemRank, heading: &'static str, text: impl Into<String>) -> BriefItem {
        self.origin.item(rank, heading, text)
    }

    /// The list items of the body's sections with a meaning.
    fn texts(&self, meaning: SectionMeaning) -> Vec<String> {
        let parts = self.topics.all_texts(meaning).into_iter();
        let items = parts.flat_map(|text| topic::split_items(&text));
        let items = items.map(|text| without_marker(&text).to_owned());
        items.filter(|text| !text.is_empty()).take(ITEMS_MAX).collect()
    }

    /// The same texts as briefing items.
    fn items_for(
        &self,
        meaning: SectionMeaning,
        rank: ItemRank,
        heading: &'static str,
    ) -> Vec<BriefItem> {
        let items = self.texts(meaning).into_iter();
        items.map(|text| self.item(rank, heading, text)).collect()
    }
}

/// Removes the list or heading marker from an item.
fn without_marker(text: &str) -> &str {
    let bare = text.trim().trim_start_matches('#');
    let marks = ["- ", "* ", "+ ", "• "];
    marks.iter().find_map(|mark| bare.strip_prefix(mark)).unwrap_or(bare).trim_start()
}

/// The startup steps and briefing items of a handoff.
pub fn handoff_items(known: &KnownHandoff<'_>) -> (Vec<SourcedStartupStep>, Vec<BriefItem>) {
    let builder = HandoffItemBuilder::new(known);
    let handoff = &known.handoff;
    if handoff.has_status() && !handoff.status().is_open() && !handoff.is_open() {
        return (Vec::new(), closed_item(&builder).into_iter().collect());
    }
    let mut items = Vec::new();
    add_status(&builder, &mut items);
    add_next_action(&builder, &mut items);
    add_questions(&builder, &mut items);
    add_wrong_turns(&builder, &mut items);
    add_landmines(&builder, &mut items);
    items.extend(builder.items_for(SectionMeaning::RootCauses, ItemRank::Decision, "Root cause"));
    add_decisions(&builder, &mut items);
    items.extend(builder.items_for(SectionMeaning::Diagnosis, ItemRank::Decision, "Finding"));
    add_proofs(known, &builder.origin, &mut items);
    add_drifted_places(known, &builder.origin, &mut items);
    for dependency in handoff.dependencies().upstream {
        let builds = dependency.artifact.map(|text| text.value);
        items.extend(builds.map(|text| builder.item(ItemRank::Read, "Builds on", text)));
    }
    add_assumptions(&builder, &mut items);
    for item in &mut items {
        item.text = topic::without_comments(&item.text).trim().to_owned();
    }
    items.retain(|item| !item.text.is_empty());
    mark_missing_places(known, &mut items);
    (startup_steps(handoff, &builder.origin), items)
}

/// Marks items that cite a place that did not exist at the last check. A document with many of them is
/// marked once.
fn mark_missing_places(known: &KnownHandoff<'_>, items: &mut [BriefItem]) {
    const PLACE_LENGTH_MAX: usize = 60;
    if known.missing.is_most() {
        return;
    }
    let cites = |text: &str, place: &str| {
        let mut found = text.match_indices(place);
        found.any(|(at, _)| {
            let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '/' | '_');
            !text[at + place.len()..].starts_with(goes_on) && !text[..at].ends_with(goes_on)
        })
    };
    for item in items.iter_mut().filter(|item| item.heading != "Cited place") {
        let places = &known.missing.places;
        let Some(place) = places.iter().find(|place| cites(&item.text, place)) else { continue };
        let place = quote::code(place, PLACE_LENGTH_MAX);
        let mark = format!("cites {place}, which did not exist at the last check");
        item.remark = Some(match item.remark.take() {
            Some(remark) => format!("{remark}, {mark}"),
            None => mark,
        });
    }
}

fn startup_steps(handoff: &Handoff<'_>, origin: &ItemSource) -> Vec<SourcedStartupStep> {
    let texts = |path: &str| -> Vec<String> {
        let items = handoff.node(path).map(YamlNode::items);
        let texts = items.unwrap_or_default().into_iter().filter_map(YamlNode::text);
        texts.map(|text| text.value.trim().to_owned()).filter(|text| !text.is_empty()).collect()
    };
    let mut steps: Vec<StartupStep> = Vec::new();
    steps.extend(texts("boot.constraint").into_iter().map(StartupStep::Constraint));
    steps.extend(texts("boot.skill").into_iter().map(StartupStep::Skill));
    let mut read = texts("boot.read");
    read.extend(texts("state.documents.must_read"));
    let mut seen = HashSet::new();
    let read = read.into_iter().filter(|path| seen.insert(path.clone()));
    steps.extend(read.map(StartupStep::Read));
    let tasks = texts("boot.tasks");
    steps.extend((!tasks.is_empty()).then_some(StartupStep::Tasks(tasks)));
    steps.into_iter().map(|step| origin.startup_step(step)).collect()
}

/// Adds the title with the status of the work, from the header's summary if there is one, otherwise
/// from the body.
fn add_status(builder: &HandoffItemBuilder<'_, '_>, items: &mut Vec<BriefItem>) {
    let handoff = builder.handoff();
    let written = handoff.node("context_summary").and_then(YamlNode::text);
    let written = written.map(|text| text.value.trim()).filter(|text| !text.is_empty());
    let status = handoff.status_line().map(|line| line.text.value);
    let about = written.map(str::to_owned).or_else(|| builder.topics.state());
    let title = handoff.title().map(str::trim).filter(|title| !title.is_empty());
    // The body's status line comes first, unless the state text already contains it.
    let status = status.filter(|status| !about.as_ref().is_some_and(|text| text.contains(status)));
    let status = status.filter(|_| !handoff.is_handoff()).map(|status| format!("Status: {status}"));
    let parts: Vec<String> = status.into_iter().chain(about).collect();
    let text = match (title, parts.is_empty()) {
        (Some(title), false) => format!("{title}: {}", parts.join("\n\n")),
        (Some(title), true) => title.to_owned(),
        (None, false) => parts.join("\n\n"),
        (None, true) => return,
    };
    let item = builder.item(ItemRank::Status, "Status", text);
    items.push(item.with_remark(remark(builder.known)));
    // A summary in the header may be older than the state in the body, so add that too.
    let best = builder.topics.best_texts(SectionMeaning::State).into_iter();
    let state = best.take(1).find(|(fit, _)| *fit != HeadingFit::Weak && written.is_some());
    items.extend(state.map(|(_, text)| builder.item(ItemRank::Status, "State", text)));
}

/// The status of the handoff and the date of its last change.
fn remark(known: &KnownHandoff<'_>) -> String {
    let handoff = &known.handoff;
    let stated = handoff.stated_date().filter(|_| !handoff.is_handoff());
    let stated = stated.map(|time| format!(", dated {}", day(time.moment)));
    let changed = match (handoff.changed(), known.file_changed) {
        (Some(time), _) => format!(", changed {}", day(time.moment)),
        (None, _) if stated.is_some() => stated.unwrap_or_default(),
        (None, Some(time)) if !handoff.is_handoff() => format!(", changed {}", day(time)),
        (None, _) => String::new(),
    };
    let status = handoff.status().word().replace('_', " ");
    let status = match (handoff.is_handoff(), handoff.has_status()) {
        (true, _) => status,
        (false, true) if !handoff.status().is_open() => format!("note marked {status}"),
        (false, true) => format!("note, {status}"),
        (false, false) => "note".to_owned(),
    };
    let missing = match &known.missing {
        missing if missing.is_most() => format!(
            ", cites {} paths; {} were not in this repository at the last check",
            missing.paths, missing.missing_paths
        ),
        _ => String::new(),
    };
    format!("{status}{changed}{missing}")
}

/// Adds the next steps. The first open step of the plan is the next action if the handoff names
/// none, and a task otherwise.
fn add_next_action(builder: &HandoffItemBuilder<'_, '_>, items: &mut Vec<BriefItem>) {
    let next = builder.topics.next_steps();
    let first_line = |text: &str| text.lines().next().unwrap_or_default().trim().to_owned();
    let mentions =
        |text: &String| next.as_ref().is_some_and(|next| next.contains(&first_line(text)));
    let step = plan_step(&builder.topics).filter(|step| !mentions(step));
    let rank = if next.is_some() { ItemRank::Task } else { ItemRank::NextAction };
    items.extend(next.map(|text| builder.item(ItemRank::NextAction, "Next", text)));
    items.extend(step.map(|text| builder.item(rank, "First open plan step", text)));
}

/// The first open step of a plan. A section that only might be a plan, such as an approach, counts
/// if it has checkboxes.
fn plan_step(topics: &BodyTopics<'_>) -> Option<String> {
    let plans = topics.best_texts(SectionMeaning::Plan).into_iter();
    let mut plans = plans.filter(|(fit, text)| *fit != HeadingFit::Weak || text.contains("[ ]"));
    plans.find_map(|(_, text)| topic::first_open_step(&topic::without_comments(&text)))
}

/// The single item of a closed handoff: its outcome, the commit, and its wrong turns. It ranks as a
/// decision, unless the user proposes one of the wrong turns.
fn closed_item(builder: &HandoffItemBuilder<'_, '_>) -> Option<BriefItem> {
    let handoff = builder.handoff();
    let end = handoff.resolution();
    let outcome = end.as_ref().and_then(|end| end.outcome.or(end.reason));
    let outcome = outcome.map(|text| text.value.trim().to_owned());
    let successor = handoff.superseded_by().map(|id| format!("superseded by {}", id.value.trim()));
    let summary = || handoff.summary().map(str::to_owned).or_else(|| builder.topics.state());
    let result = outcome.or(successor).or_else(summary);
    let title = handoff.title().map(|title| title.trim().to_owned());
    let mut text = [title, result].into_iter().flatten().collect::<Vec<String>>().join(": ");
    if let Some(commit) = end.and_then(|end| end.commit) {
        text.push_str(&format!(" (commit {})", commit.value.trim()));
    }
    let (proposed, others) = sorted_wrong_turns(builder);
    let is_proposed = !proposed.is_empty();
    for turn in proposed.into_iter().chain(others).take(CLOSED_WRONG_TURNS_MAX) {
        text.push_str(&format!("\nWrong turn: {turn}"));
    }
    let heading = match handoff.status() {
        _ if is_proposed => REJECTED,
        Status::Resolved => "Resolved earlier",
        Status::Superseded => "Superseded",
        Status::Abandoned => "Abandoned",
        Status::Planned | Status::InProgress => return None,
    };
    let rank = if is_proposed { ItemRank::Rejected } else { ItemRank::Decision };
    if text.is_empty() {
        return None;
    }
    Some(builder.item(rank, heading, text).with_remark(remark(builder.known)))
}

/// Joins the main text of an entry with its labeled parts.
pub(super) fn join_parts(
    main: Option<Spanned<&str>>,
    more: &[(&str, Option<Spanned<&str>>)],
) -> Option<String> {
    let mut text = main?.value.trim().to_owned();
    for (name, part) in more {
        if let Some(part) = part {
            text.push_str(&format!(" — {name}: {}", part.value.trim()));
        }
    }
    Some(text)
}

fn add_decisions(builder: &HandoffItemBuilder<'_, '_>, items: &mut Vec<BriefItem>) {
    let text = |one: &Decision<'_>| join_parts(one.decision, &[("because", one.rationale)]);
    let all = builder.handoff().decisions();
    for one in &all {
        let (rank, heading) = match one.binding {
            true => (ItemRank::Constraint, "Binding decision"),
            false => (ItemRank::Decision, "Decision"),
        };
        items.extend(text(one).map(|text| builder.item(rank, heading, text)));
    }
    if all.is_empty() {
        items.extend(builder.items_for(SectionMeaning::Decisions, ItemRank::Decision, "Decision"));
    }
}

fn add_questions(builder: &HandoffItemBuilder<'_, '_>, items: &mut Vec<BriefItem>) {
    let handoff = builder.handoff();
    let text = |one: &Question<'_>| join_parts(one.question, &[("context", one.context)]);
    for (number, one) in handoff.open_questions() {
        let (rank, heading) = match one.blocks() {
            true => (ItemRank::BlockingQuestion, "Blocking question"),
            false => (ItemRank::Rest, "Open question"),
        };
        let place = Some(format!("question {number}"));
        items.extend(
            text(&one).map(|text| BriefItem { place, ..builder.item(rank, heading, text) }),
        );
    }
    if handoff.questions().is_empty() {
        items.extend(builder.items_for(SectionMeaning::Questions, ItemRank::Rest, "Open question"));
    }
}

/// Adds the wrong turns. Those that the user is about to propose again get the highest rank.
fn add_wrong_turns(builder: &HandoffItemBuilder<'_, '_>, items: &mut Vec<BriefItem>) {
    let (proposed, others) = sorted_wrong_turns(builder);
    let proposed = proposed.into_iter();
    items.extend(proposed.map(|text| builder.item(ItemRank::Rejected, REJECTED, text)));
    let others = others.into_iter();
    items.extend(others.map(|text| builder.item(ItemRank::WrongTurn, "Wrong turn", text)));
}

/// The wrong turns that the prompt proposes, and the others.
fn sorted_wrong_turns(builder: &HandoffItemBuilder<'_, '_>) -> (Vec<String>, Vec<String>) {
    let text = |one: &WrongTurn<'_>| {
        join_parts(one.tried, &[("wrong because", one.why_wrong), ("instead", one.replaced_by)])
    };
    let written = builder.handoff().wrong_turns();
    let tried = |one: &WrongTurn<'_>| one.tried.map(|tried| tried.value.to_owned());
    let written = written.iter().filter_map(|one| Some((tried(one)?, text(one)?)));
    let mut all: Vec<(String, String)> = written.collect();
    if all.is_empty() {
        let texts_found = builder.texts(SectionMeaning::WrongTurns).into_iter();
        // The first line says what was tried; the reason often follows.
        let tried = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        all.extend(texts_found.map(|text| (tried(&text), text)));
    }
    let asked = builder.known.prompt.as_ref();
    let title = builder.handoff().title().unwrap_or_default();
    let (proposed, others): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|(tried, _)| asked.is_some_and(|asked| asked.proposes(tried, title)));
    let texts = |all: Vec<(String, String)>| all.into_iter().map(|(_, text)| text).collect();
    (texts(proposed), texts(others))
}

fn add_landmines(builder: &HandoffItemBuilder<'_, '_>, items: &mut Vec<BriefItem>) {
    let all = builder.handoff().landmines();
    let texts = all.iter().map(|text| text.value.trim());
    items.extend(texts.map(|text| builder.item(ItemRank::Landmine, "Landmine", text)));
    if all.is_empty() {
        items.extend(builder.items_for(SectionMeaning::Landmines, ItemRank::Landmine, "Landmine"));
    }
}

fn add_assumptions(builder: &HandoffItemBuilder<'_, '_>, items: &mut Vec<BriefItem>) {
    for one in builder.handoff().assumptions() {
        let (rank, heading) = match one.validation {
            Validation::Holds => continue,
            Validation::Pending => (ItemRank::Rest, "Assumption, not validated"),
            // Work that still relies on the assumption would fail.
            Validation::Disproved => (ItemRank::WrongTurn, "Assumption, disproved"),
        };
        items.extend(one.assumption.map(|text| builder.item(rank, heading, text.value)));
    }
}

/// Adds the proofs with their last outcome. Those that do not hold come first.
fn add_proofs(known: &KnownHandoff<'_>, origin: &ItemSource, items: &mut Vec<BriefItem>) {
    let ranked = known.handoff.proofs().into_iter().filter_map(|(number, proof)| {
        let text = proof.claim.or(proof.run)?.value.trim();
        let (holds, remark) = last_outcome(known, number, &proof);
        let item = origin.item(ItemRank::Proof, "Proof", text).with_remark(remark);
        Some((holds, BriefItem { place: Some(format!("proof {number}")), ..item }))
    });
    let mut ranked: Vec<(bool, BriefItem)> = ranked.collect();
    ranked.sort_by_key(|(holds, _)| *holds);
    items.extend(ranked.into_iter().map(|(_, item)| item));
}

/// Whether a proof held in its last recorded run, with a remark that says when.
fn last_outcome(known: &KnownHandoff<'_>, number: usize, proof: &Proof<'_>) -> (bool, String) {
    let command = proof.run.map(|run| run.value.trim());
    let same = |run: &&ProofTrial| run.number == number && Some(run.command.trim()) == command;
    let trial = known.trials.iter().rev().find(same);
    let written = proof.last.as_ref().and_then(|last| {
        let at = last.time.and_then(|time| Time::parse(time.value)).map(|time| time.moment);
        Some((last.outcome?, at, last.commit.map(|commit| commit.value)))
    });
    let (outcome, at, commit) = match (trial, written) {
        (Some(run), Some((_, Some(at), _))) if at > run.at => return describe_outcome(written),
        (Some(run), _) => {
            (run.outcome.as_str(), Some(run.at), run.commit.as_ref().map(CommitId::as_str))
        }
        (None, _) => return describe_outcome(written),
    };
    let word = [RecordedOutcome::Holds, RecordedOutcome::Broken, RecordedOutcome::TimedOut];
    let outcome = word.into_iter().find(|one| one.word() == outcome);
    describe_outcome(outcome.map(|outcome| (outcome, at, commit)))
}

fn describe_outcome(
    run: Option<(RecordedOutcome, Option<Timestamp>, Option<&str>)>,
) -> (bool, String) {
    let Some((outcome, at, commit)) = run else { return (false, "never run".to_owned()) };
    let word = match outcome {
        RecordedOutcome::Holds => "held",
        RecordedOutcome::Broken => "broken",
        RecordedOutcome::TimedOut => "timed out",
    };
    let at = at.map_or_else(String::new, |at| format!(" {}", day(at)));
    // The header may contain anything here. Only a hexadecimal id may appear unquoted in a remark.
    let commit = commit.filter(|commit| commit.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let commit = commit.map_or_else(String::new, |id| format!(" at {}", short_commit(id)));
    (outcome == RecordedOutcome::Holds, format!("{word}{at}{commit}"))
}

/// Adds the cited places that have changed, with the commit at which they were checked.
fn add_drifted_places(known: &KnownHandoff<'_>, origin: &ItemSource, items: &mut Vec<BriefItem>) {
    let checked_at = known.checked_at.as_ref().map(CommitId::as_str);
    let checked_at =
        checked_at.map_or_else(String::new, |id| format!(", checked at {}", short_commit(id)));
    for one in &known.drifted_places {
        let text = match &one.now {
            Some(now) => format!("{} → {now}", one.place),
            None => one.place.clone(),
        };
        let remark = format!("{}{checked_at}", one.verdict.word());
        items.push(origin.item(ItemRank::Proof, "Cited place", text).with_remark(remark));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::document::Document;
    use crate::format::stage::Stages;
    use crate::handoff::Location;

    /// The items of a document, one line each: rank, heading and text.
    fn lines_for(text: &str, prompt: Option<&str>) -> Vec<String> {
        let document = Document::parse(text.as_bytes());
        let location = Location { stem: "HANDOFF".to_owned(), stage: None };
        let stages = Stages::shipped();
        let known = KnownHandoff {
            handoff: Handoff::new(&document, &location, &stages),
            path: "docs/HANDOFF.md".to_owned(),
            file_changed: Some("2026-03-01T10:00:00Z".parse().unwrap()),
            prompt: prompt.map(PromptWords::from_prompt),
            trials: Vec::new(),
            drifted_places: Vec::new(),
            checked_at: None,
            missing: MissingCitations::default(),
        };
        let line = |item: BriefItem| {
            format!("{} | {} | {}", item.rank.name(), item.heading, item.text.replace('\n', "⏎"))
        };
        handoff_items(&known).1.into_iter().map(line).collect()
    }

    #[test]
    fn every_section_of_a_note_becomes_items() {
        let text = "# Import\n\n**Status**: paused\n\n## Summary\n\nOld.\n\n## Current state\n\nHalf of it runs.\n\n## Root cause\n\n- `a.rs:3` locks\n\n## Findings\n\n1. It is slow\n2. It leaks\n\n## Plan\n\n1. ✅ One\n2. Two\n   Acceptance: it is green\n\n## Next steps\n\n```sh\nmake import\n```\n\n## Dead ends\n\n- Threads: deadlock\n\n## Gotchas\n\n- The port is shared\n\n## Decisions\n\n- Use a queue\n\n## Open questions\n\n- Who pays?\n";
        assert_eq!(
            lines_for(text, None),
            [
                "standing | Status | Import: Status: paused⏎⏎Half of it runs.",
                "next-action | Next | ```sh⏎make import⏎```",
                "task | First open plan step | 2. Two⏎   Acceptance: it is green",
                "rest | Open question | Who pays?",
                "wrong-turn | Wrong turn | Threads: deadlock",
                "landmine | Landmine | The port is shared",
                "decision | Root cause | `a.rs:3` locks",
                "decision | Decision | Use a queue",
                "decision | Finding | 1. It is slow",
                "decision | Finding | 2. It leaks",
            ]
        );
    }

    #[test]
    fn the_plan_gives_the_next_action_if_nothing_else_does() {
        let text = "# T\n\n## Plan\n\n- [x] One\n- [ ] Two\n\nAcceptance: it is green.\n";
        let step = "next-action | First open plan step | - [ ] Two⏎⏎Acceptance: it is green.";
        assert_eq!(lines_for(text, None)[1], step);
        // Instructions in a template are not quoted.
        let template = "# T\n\n## Plan\n\n<!-- Steps. -->\n\n## Root causes\n\n<!-- By impact. -->\n\nA lock <!-- why? -->\n";
        assert_eq!(lines_for(template, None)[1..], ["decision | Root cause | A lock"]);
        let done = "# T\n\n## Plan\n\n- [x] One\n- ✅ Two\n";
        assert_eq!(lines_for(done, None).len(), 1);
    }

    #[test]
    fn a_closed_handoff_is_a_single_item() {
        let resolved = "---\nhandoff:\n  id: a\n  title: Slow pages\n  status: resolved\n  wrong_turns:\n    - tried: Cache in Redis\n      why_wrong: It was never warm\n  resolution:\n    commit: 4f2c1ab\n    outcome: Pages take 80 ms\n---\n## Next steps\n\n- Warm the cache\n";
        let unrelated = lines_for(resolved, Some("why are pages slow"));
        assert_eq!(
            unrelated,
            [
                "decision | Resolved earlier | Slow pages: Pages take 80 ms (commit 4f2c1ab)⏎Wrong turn: Cache in Redis — wrong because: It was never warm"
            ]
        );
        let proposed = lines_for(resolved, Some("let us cache the pages in redis"));
        assert!(
            proposed[0].starts_with("rejected | Rejected earlier | Slow pages"),
            "{proposed:?}"
        );
        let note = "# Importer\n\n**Status**: ✅ Complete\n\n## Summary\n\nIt runs.\n\n## Next steps\n\n- Nothing\n";
        assert_eq!(lines_for(note, None), ["decision | Resolved earlier | Importer: It runs."]);
    }

    #[test]
    fn a_wrong_turn_that_the_prompt_proposes_is_rejected() {
        let text = "---\nhandoff:\n  id: a\n  title: T\n  wrong_turns:\n    - tried: Retrying in a loop\n    - tried: A cache in Redis for sessions\n      why_wrong: Evicted\n---\n";
        let first = |prompt: &str| {
            lines_for(text, Some(prompt)).into_iter().find(|line| line.starts_with("rejected"))
        };
        let rejected =
            "rejected | Rejected earlier | A cache in Redis for sessions — wrong because: Evicted";
        assert_eq!(first("Could we not cache sessions?").as_deref(), Some(rejected));
        assert_eq!(first("What about redis caching").as_deref(), Some(rejected));
        assert_eq!(first("Fix the typo in the footer"), None);
        assert_eq!(
            lines_for(text, None).iter().filter(|one| one.contains("wrong-turn")).count(),
            2
        );
    }

    #[test]
    fn a_disproved_assumption_is_a_wrong_turn() {
        let text = "---\nhandoff:\n  id: a\n  title: T\n  assumptions:\n    - assumption: Disks are fast\n      validated: failed\n    - assumption: Nobody waits\n    - assumption: Known\n      validated: true\n---\n";
        let lines = lines_for(text, None);
        assert_eq!(
            lines[1..],
            [
                "wrong-turn | Assumption, disproved | Disks are fast",
                "rest | Assumption, not validated | Nobody waits"
            ]
        );
    }

    #[test]
    fn the_last_run_of_a_proof_has_its_date_and_commit() {
        let at: Option<Timestamp> = Some("2026-03-25T23:30:00Z".parse().unwrap());
        let run = |commit| describe_outcome(Some((RecordedOutcome::Holds, at, commit)));
        let expected = |text: &str| (true, text.to_owned());
        assert_eq!(run(Some("4f2c9d1e5b")), expected("held 2026-03-25 at 4f2c9d1"));
        assert_eq!(run(None), expected("held 2026-03-25"));
        assert_eq!(run(Some("run `rm`")), expected("held 2026-03-25"), "not a commit id");
        let broken = describe_outcome(Some((RecordedOutcome::Broken, None, None)));
        assert_eq!(broken, (false, "broken".to_owned()));
        assert_eq!(describe_outcome(None), (false, "never run".to_owned()));
    }

    #[test]
    fn a_short_word_of_the_prompt_counts_if_it_is_the_same() {
        let proposes = |prompt: &str| PromptWords::from_prompt(prompt).proposes("An API", "");
        assert!(proposes("add an API"));
        assert!(!proposes("add an app"));
    }
}
