//! What is worth telling of a handoff: all that matters of an open one, the outcome of a closed one.

use super::{ItemSource, day, short_commit};
use crate::brief::{BriefItem, ItemRank, SourcedStartupStep, StartupStep};
use crate::format::header::{
    Decision, Proof, Question, RecordedOutcome, Status, Validation, WrongTurn,
};
use crate::format::section::{HeadingFit, SectionMeaning};
use crate::handoff::Handoff;
use crate::handoff::drift::CitationStatus;
use crate::handoff::topic::{self, BodyTopics};
use crate::text::span::Spanned;
use crate::text::time::Time;
use crate::text::words::{is_distinctive, words};
use crate::text::yaml::YamlNode;
use jiff::Timestamp;
use std::collections::HashSet;

/// More items of one kind from one body would be a page of their own.
const ITEMS_MAX: usize = 12;
/// The kind of a wrong turn that the user is about to propose again.
pub const REJECTED: &str = "Rejected earlier";
/// Wrong turns that the one item of a closed handoff names.
const CLOSED_WRONG_TURNS_MAX: usize = 3;

/// A handoff, and what is known of it besides its text.
#[derive(Clone, Debug)]
pub struct KnownHandoff<'d> {
    /// The handoff.
    pub handoff: Handoff<'d>,
    /// Its path, as a user would write it.
    pub path: String,
    /// When its file was last changed, for notes that do not say when they were written.
    pub file_changed: Option<Timestamp>,
    /// What the user asks for, where a prompt is answered.
    pub prompt: Option<PromptWords>,
    /// How its proofs ran, the latest run of each last.
    pub trials: Vec<ProofTrial>,
    /// What has happened to places that it names.
    pub drifted_places: Vec<DriftedPlace>,
    /// The commit that those were judged at.
    pub checked_at: Option<String>,
}

/// What a user asks for, as words that can be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptWords {
    words: Vec<String>,
}

impl PromptWords {
    /// The telling words of a prompt.
    pub fn from_prompt(prompt: &str) -> Self {
        Self { words: distinctive_words(prompt) }
    }

    /// Whether the prompt proposes something: it shares two telling words with it, or one of the few
    /// it has. What only says what the handoff is about, as its title does, proposes nothing.
    fn proposes(&self, text: &str, title: &str) -> bool {
        const FEW: usize = 3;
        let theirs = distinctive_words(text);
        let title = distinctive_words(title);
        let has = |words: &[String], word: &String| words.iter().any(|own| is_same_word(own, word));
        let shared: Vec<&String> = theirs.iter().filter(|word| has(&self.words, word)).collect();
        let tells = shared.iter().any(|word| !has(&title, word));
        tells && (shared.len() >= 2 || theirs.len() <= FEW)
    }
}

/// The telling words of a text, each once.
fn distinctive_words(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let all = words(text).into_iter().map(|word| word.text);
    all.filter(|word| is_distinctive(word) && seen.insert(word.clone())).collect()
}

/// Whether two words are the same apart from their endings: `cache` and `cached`.
fn is_same_word(a: &str, b: &str) -> bool {
    const STEM: usize = 4;
    const ENDING: usize = 3;
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.chars().count(), b.chars().count());
    (shared == a && shared == b) || (shared >= STEM && a.max(b) - shared <= ENDING)
}

/// The words by which points of a handoff say where they come from. Many notes have the same name,
/// so a note is called by its path.
pub fn source_name(handoff: &Handoff<'_>, path: &str) -> String {
    if handoff.is_handoff() { format!("handoff {}", handoff.key()) } else { format!("note {path}") }
}

/// A run of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofTrial {
    /// Which proof, counted from one.
    pub number: usize,
    /// The command that was run.
    pub command: String,
    /// What came of it.
    pub outcome: String,
    /// When.
    pub at: Timestamp,
    /// What was checked out.
    pub commit: Option<String>,
}

/// A place that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftedPlace {
    /// As the document writes it.
    pub place: String,
    /// What has happened.
    pub verdict: CitationStatus,
    /// Where it is now, where that is known and somewhere else.
    pub now: Option<String>,
}

/// A handoff while its points are made.
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

    fn item(&self, rank: ItemRank, what: &'static str, text: impl Into<String>) -> BriefItem {
        self.origin.item(rank, what, text)
    }

    /// What the body says about a meaning, item by item.
    fn texts(&self, meaning: SectionMeaning) -> Vec<String> {
        let parts = self.topics.all_texts(meaning).into_iter();
        let items = parts.flat_map(|text| topic::split_items(&text));
        let items = items.map(|text| without_marker(&text).to_owned());
        items.filter(|text| !text.is_empty()).take(ITEMS_MAX).collect()
    }

    /// The same as points.
    fn items_for(
        &self,
        meaning: SectionMeaning,
        rank: ItemRank,
        what: &'static str,
    ) -> Vec<BriefItem> {
        let items = self.texts(meaning).into_iter();
        items.map(|text| self.item(rank, what, text)).collect()
    }
}

/// An item or a heading without the mark in front of it.
fn without_marker(text: &str) -> &str {
    let bare = text.trim().trim_start_matches('#');
    let marks = ["- ", "* ", "+ ", "• "];
    marks.iter().find_map(|mark| bare.strip_prefix(mark)).unwrap_or(bare).trim_start()
}

/// What a session has to know of a handoff, and what it is to do first.
pub fn handoff_items(known: &KnownHandoff<'_>) -> (Vec<SourcedStartupStep>, Vec<BriefItem>) {
    let reading = HandoffItemBuilder::new(known);
    let handoff = &known.handoff;
    if handoff.has_status() && !handoff.status().is_open() && !handoff.is_open() {
        return (Vec::new(), closed_item(&reading).into_iter().collect());
    }
    let mut points = Vec::new();
    add_status(&reading, &mut points);
    add_next_action(&reading, &mut points);
    add_questions(&reading, &mut points);
    add_wrong_turns(&reading, &mut points);
    add_landmines(&reading, &mut points);
    points.extend(reading.items_for(SectionMeaning::RootCauses, ItemRank::Decision, "Root cause"));
    add_decisions(&reading, &mut points);
    points.extend(reading.items_for(SectionMeaning::Diagnosis, ItemRank::Decision, "Finding"));
    add_proofs(known, &reading.origin, &mut points);
    add_drifted_places(known, &reading.origin, &mut points);
    for dependency in handoff.dependencies().upstream {
        let builds = dependency.artifact.map(|text| text.value);
        points.extend(builds.map(|text| reading.item(ItemRank::Read, "It builds on", text)));
    }
    add_assumptions(&reading, &mut points);
    (startup_steps(handoff, &reading.origin), points)
}

fn startup_steps(handoff: &Handoff<'_>, origin: &ItemSource) -> Vec<SourcedStartupStep> {
    let texts = |path: &str| -> Vec<String> {
        let items = handoff.node(path).map(YamlNode::items);
        let texts = items.unwrap_or_default().into_iter().filter_map(YamlNode::text);
        texts.map(|text| text.value.trim().to_owned()).filter(|text| !text.is_empty()).collect()
    };
    let mut boot: Vec<StartupStep> = Vec::new();
    boot.extend(texts("boot.constraint").into_iter().map(StartupStep::Constraint));
    boot.extend(texts("boot.skill").into_iter().map(StartupStep::Skill));
    let mut read = texts("boot.read");
    read.extend(texts("state.documents.must_read"));
    let mut seen = HashSet::new();
    let read = read.into_iter().filter(|path| seen.insert(path.clone()));
    boot.extend(read.map(StartupStep::Read));
    let tasks = texts("boot.tasks");
    boot.extend((!tasks.is_empty()).then_some(StartupStep::Tasks(tasks)));
    boot.into_iter().map(|action| origin.startup_step(action)).collect()
}

/// Its title with where the work stands: as its header sums it up, else as its body says.
fn add_status(reading: &HandoffItemBuilder<'_, '_>, points: &mut Vec<BriefItem>) {
    let handoff = reading.handoff();
    let written = handoff.node("context_summary").and_then(YamlNode::text);
    let written = written.map(|text| text.value.trim()).filter(|text| !text.is_empty());
    let status = handoff.status_line().map(|line| line.text.value);
    let about = written.map(str::to_owned).or_else(|| reading.topics.state());
    let title = handoff.title().map(str::trim).filter(|title| !title.is_empty());
    // What the body says about its status stands in front, unless the state has it anyway.
    let status = status.filter(|status| !about.as_ref().is_some_and(|text| text.contains(status)));
    let status = status.filter(|_| !handoff.is_handoff()).map(|status| format!("Status: {status}"));
    let said: Vec<String> = status.into_iter().chain(about).collect();
    let text = match (title, said.is_empty()) {
        (Some(title), false) => format!("{title}: {}", said.join("\n\n")),
        (Some(title), true) => title.to_owned(),
        (None, false) => said.join("\n\n"),
        (None, true) => return,
    };
    let point = reading.item(ItemRank::Status, "Where it stands", text);
    points.push(point.with_remark(remark(reading.known)));
    // A summary in the header may be older than the state in the body.
    let best = reading.topics.best_texts(SectionMeaning::State).into_iter();
    let state = best.take(1).find(|(fit, _)| *fit != HeadingFit::Weak && written.is_some());
    points.extend(state.map(|(_, text)| reading.item(ItemRank::Status, "State", text)));
}

/// How its life stands, and how old that is.
fn remark(known: &KnownHandoff<'_>) -> String {
    let handoff = &known.handoff;
    let changed = match (handoff.changed(), known.file_changed) {
        (Some(time), _) => format!(", changed {}", day(time.moment)),
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
    format!("{status}{changed}")
}

/// Where to go on, as the handoff says. The first open step of its plan is next where nothing else
/// is, and a task otherwise.
fn add_next_action(reading: &HandoffItemBuilder<'_, '_>, points: &mut Vec<BriefItem>) {
    let next = reading.topics.next_steps();
    let first_line = |text: &str| text.lines().next().unwrap_or_default().trim().to_owned();
    let says = |text: &String| next.as_ref().is_some_and(|next| next.contains(&first_line(text)));
    let step = plan_step(&reading.topics).filter(|step| !says(step));
    let rank = if next.is_some() { ItemRank::Task } else { ItemRank::NextAction };
    points.extend(next.map(|text| reading.item(ItemRank::NextAction, "Next", text)));
    points.extend(step.map(|text| reading.item(rank, "First open step of the plan", text)));
}

/// The first open step of a plan. A part that may be one, such as an approach, counts if it has
/// boxes to check.
fn plan_step(topics: &BodyTopics<'_>) -> Option<String> {
    let plans = topics.best_texts(SectionMeaning::Plan).into_iter();
    let mut plans = plans.filter(|(fit, text)| *fit != HeadingFit::Weak || text.contains("[ ]"));
    plans.find_map(|(_, text)| topic::first_open_step(&text))
}

/// The one item of a closed handoff: what came of it, by which commit, and what was wrong on the
/// way. It is no work, unless the user proposes what was rejected then.
fn closed_item(reading: &HandoffItemBuilder<'_, '_>) -> Option<BriefItem> {
    let handoff = reading.handoff();
    let end = handoff.resolution();
    let outcome = end.as_ref().and_then(|end| end.outcome.or(end.reason));
    let outcome = outcome.map(|text| text.value.trim().to_owned());
    let successor = handoff.superseded_by().map(|id| format!("superseded by {}", id.value.trim()));
    let summary = || handoff.summary().map(str::to_owned).or_else(|| reading.topics.state());
    let came_of_it = outcome.or(successor).or_else(summary);
    let title = handoff.title().map(|title| title.trim().to_owned());
    let mut text = [title, came_of_it].into_iter().flatten().collect::<Vec<String>>().join(": ");
    if let Some(commit) = end.and_then(|end| end.commit) {
        text.push_str(&format!(" (commit {})", commit.value.trim()));
    }
    let (proposed, others) = sorted_wrong_turns(reading);
    let is_proposed = !proposed.is_empty();
    for turn in proposed.into_iter().chain(others).take(CLOSED_WRONG_TURNS_MAX) {
        text.push_str(&format!("\nWrong turn: {turn}"));
    }
    let what = match handoff.status() {
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
    Some(reading.item(rank, what, text).with_remark(remark(reading.known)))
}

/// The text of an entry with what belongs to it.
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

fn add_decisions(reading: &HandoffItemBuilder<'_, '_>, points: &mut Vec<BriefItem>) {
    let text = |one: &Decision<'_>| join_parts(one.decision, &[("because", one.rationale)]);
    let all = reading.handoff().decisions();
    for one in &all {
        let (rank, what) = match one.binding {
            true => (ItemRank::Constraint, "Binding decision"),
            false => (ItemRank::Decision, "Decision"),
        };
        points.extend(text(one).map(|text| reading.item(rank, what, text)));
    }
    if all.is_empty() {
        points.extend(reading.items_for(SectionMeaning::Decisions, ItemRank::Decision, "Decision"));
    }
}

fn add_questions(reading: &HandoffItemBuilder<'_, '_>, points: &mut Vec<BriefItem>) {
    let handoff = reading.handoff();
    let text = |one: &Question<'_>| join_parts(one.question, &[("context", one.context)]);
    for (number, one) in handoff.open_questions() {
        let (rank, what) = match one.blocks() {
            true => (ItemRank::BlockingQuestion, "Blocking question"),
            false => (ItemRank::Rest, "Open question"),
        };
        let place = Some(format!("question {number}"));
        points.extend(text(&one).map(|text| BriefItem { place, ..reading.item(rank, what, text) }));
    }
    if handoff.questions().is_empty() {
        points.extend(reading.items_for(
            SectionMeaning::Questions,
            ItemRank::Rest,
            "Open question",
        ));
    }
}

/// Wrong turns. One that the user is about to propose again comes before everything.
fn add_wrong_turns(reading: &HandoffItemBuilder<'_, '_>, points: &mut Vec<BriefItem>) {
    let (proposed, others) = sorted_wrong_turns(reading);
    let proposed = proposed.into_iter();
    points.extend(proposed.map(|text| reading.item(ItemRank::Rejected, REJECTED, text)));
    let others = others.into_iter();
    points.extend(others.map(|text| reading.item(ItemRank::WrongTurn, "Wrong turn", text)));
}

/// The wrong turns that the prompt proposes, and the others.
fn sorted_wrong_turns(reading: &HandoffItemBuilder<'_, '_>) -> (Vec<String>, Vec<String>) {
    let text = |one: &WrongTurn<'_>| {
        join_parts(one.tried, &[("wrong because", one.why_wrong), ("instead", one.replaced_by)])
    };
    let written = reading.handoff().wrong_turns();
    let tried = |one: &WrongTurn<'_>| one.tried.map(|tried| tried.value.to_owned());
    let written = written.iter().filter_map(|one| Some((tried(one)?, text(one)?)));
    let mut all: Vec<(String, String)> = written.collect();
    if all.is_empty() {
        let said = reading.texts(SectionMeaning::WrongTurns).into_iter();
        // What was tried stands in the first line, the reason often behind it.
        let tried = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        all.extend(said.map(|text| (tried(&text), text)));
    }
    let asked = reading.known.prompt.as_ref();
    let title = reading.handoff().title().unwrap_or_default();
    let (proposed, others): (Vec<_>, Vec<_>) = all
        .into_iter()
        .partition(|(tried, _)| asked.is_some_and(|asked| asked.proposes(tried, title)));
    let texts = |all: Vec<(String, String)>| all.into_iter().map(|(_, text)| text).collect();
    (texts(proposed), texts(others))
}

fn add_landmines(reading: &HandoffItemBuilder<'_, '_>, points: &mut Vec<BriefItem>) {
    let all = reading.handoff().landmines();
    let told = all.iter().map(|text| text.value.trim());
    points.extend(told.map(|text| reading.item(ItemRank::Landmine, "Landmine", text)));
    if all.is_empty() {
        points.extend(reading.items_for(SectionMeaning::Landmines, ItemRank::Landmine, "Landmine"));
    }
}

fn add_assumptions(reading: &HandoffItemBuilder<'_, '_>, points: &mut Vec<BriefItem>) {
    for one in reading.handoff().assumptions() {
        let (rank, what) = match one.validation {
            Validation::Holds => continue,
            Validation::Pending => (ItemRank::Rest, "Assumption, not validated"),
            // Whoever still relies on it goes wrong.
            Validation::Disproved => (ItemRank::WrongTurn, "Assumption, disproved"),
        };
        points.extend(one.assumption.map(|text| reading.item(rank, what, text.value)));
    }
}

/// The claims with what came of them last; those that do not hold come first.
fn add_proofs(known: &KnownHandoff<'_>, origin: &ItemSource, points: &mut Vec<BriefItem>) {
    let told = known.handoff.proofs().into_iter().filter_map(|(number, proof)| {
        let text = proof.claim.or(proof.run)?.value.trim();
        let (holds, remark) = last_outcome(known, number, &proof);
        let point = origin.item(ItemRank::Proof, "Proof", text).with_remark(remark);
        Some((holds, BriefItem { place: Some(format!("proof {number}")), ..point }))
    });
    let mut told: Vec<(bool, BriefItem)> = told.collect();
    told.sort_by_key(|(holds, _)| *holds);
    points.extend(told.into_iter().map(|(_, point)| point));
}

/// Whether a proof held when it was last run, as far as anybody wrote it down, and when.
fn last_outcome(known: &KnownHandoff<'_>, number: usize, proof: &Proof<'_>) -> (bool, String) {
    let command = proof.run.map(|run| run.value.trim());
    let same = |run: &&ProofTrial| run.number == number && Some(run.command.trim()) == command;
    let told = known.trials.iter().rev().find(same);
    let written = proof.last.as_ref().and_then(|last| {
        let at = last.time.and_then(|time| Time::parse(time.value)).map(|time| time.moment);
        Some((last.outcome?, at, last.commit.map(|commit| commit.value)))
    });
    let (outcome, at, commit) = match (told, written) {
        (Some(run), Some((_, Some(at), _))) if at > run.at => return describe_outcome(written),
        (Some(run), _) => (run.outcome.as_str(), Some(run.at), run.commit.as_deref()),
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
    // A header may say anything is a commit; only what looks like one stands in our own words.
    let commit = commit.filter(|commit| commit.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let commit = commit.map_or_else(String::new, |id| format!(" at {}", short_commit(id)));
    (outcome == RecordedOutcome::Holds, format!("{word}{at}{commit}"))
}

/// Places that are not as they were. They were judged earlier, and it is said at which commit.
fn add_drifted_places(known: &KnownHandoff<'_>, origin: &ItemSource, points: &mut Vec<BriefItem>) {
    let judged = known.checked_at.as_deref();
    let judged = judged.map_or_else(String::new, |id| format!(", judged at {}", short_commit(id)));
    for one in &known.drifted_places {
        let text = match &one.now {
            Some(now) => format!("{} → {now}", one.place),
            None => one.place.clone(),
        };
        let remark = format!("{}{judged}", one.verdict.word());
        points.push(origin.item(ItemRank::Proof, "Cited place", text).with_remark(remark));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::document::Document;
    use crate::format::stage::Stages;
    use crate::handoff::Location;

    /// The points of a document, a line each: rank, kind and text.
    fn told(text: &str, prompt: Option<&str>) -> Vec<String> {
        let document = Document::parse(text.as_bytes());
        let whereabouts = Location { stem: "HANDOFF".to_owned(), stage: None };
        let stages = Stages::shipped();
        let known = KnownHandoff {
            handoff: Handoff::new(&document, &whereabouts, &stages),
            path: "docs/HANDOFF.md".to_owned(),
            file_changed: Some("2026-03-01T10:00:00Z".parse().unwrap()),
            prompt: prompt.map(PromptWords::from_prompt),
            trials: Vec::new(),
            drifted_places: Vec::new(),
            checked_at: None,
        };
        let line = |point: BriefItem| {
            format!("{} | {} | {}", point.rank.name(), point.heading, point.text.replace('\n', "⏎"))
        };
        handoff_items(&known).1.into_iter().map(line).collect()
    }

    #[test]
    fn every_part_of_a_note_is_told() {
        let text = "# Import\n\n**Status**: paused\n\n## Summary\n\nOld.\n\n## Current state\n\nHalf of it runs.\n\n## Root cause\n\n- `a.rs:3` locks\n\n## Findings\n\n1. It is slow\n2. It leaks\n\n## Plan\n\n1. ✅ One\n2. Two\n   Acceptance: it is green\n\n## Next steps\n\n```sh\nmake import\n```\n\n## Dead ends\n\n- Threads: deadlock\n\n## Gotchas\n\n- The port is shared\n\n## Decisions\n\n- Use a queue\n\n## Open questions\n\n- Who pays?\n";
        assert_eq!(
            told(text, None),
            [
                "standing | Where it stands | Import: Status: paused⏎⏎Half of it runs.",
                "next-action | Next | ```sh⏎make import⏎```",
                "task | First open step of the plan | 2. Two⏎   Acceptance: it is green",
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
    fn the_plan_says_what_is_next_where_nothing_else_does() {
        let text = "# T\n\n## Plan\n\n- [x] One\n- [ ] Two\n\nAcceptance: it is green.\n";
        let step =
            "next-action | First open step of the plan | - [ ] Two⏎⏎Acceptance: it is green.";
        assert_eq!(told(text, None)[1], step);
        let done = "# T\n\n## Plan\n\n- [x] One\n- ✅ Two\n";
        assert_eq!(told(done, None).len(), 1);
    }

    #[test]
    fn a_closed_handoff_is_one_item_and_no_work() {
        let resolved = "---\nhandoff:\n  id: a\n  title: Slow pages\n  status: resolved\n  wrong_turns:\n    - tried: Cache in Redis\n      why_wrong: It was never warm\n  resolution:\n    commit: 4f2c1ab\n    outcome: Pages take 80 ms\n---\n## Next steps\n\n- Warm the cache\n";
        let told_plain = told(resolved, Some("why are pages slow"));
        assert_eq!(
            told_plain,
            [
                "decision | Resolved earlier | Slow pages: Pages take 80 ms (commit 4f2c1ab)⏎Wrong turn: Cache in Redis — wrong because: It was never warm"
            ]
        );
        let proposed = told(resolved, Some("let us cache the pages in redis"));
        assert!(
            proposed[0].starts_with("rejected | Rejected earlier | Slow pages"),
            "{proposed:?}"
        );
        let note = "# Importer\n\n**Status**: ✅ Complete\n\n## Summary\n\nIt runs.\n\n## Next steps\n\n- Nothing\n";
        assert_eq!(told(note, None), ["decision | Resolved earlier | Importer: It runs."]);
    }

    #[test]
    fn a_wrong_turn_that_is_proposed_again_comes_first() {
        let text = "---\nhandoff:\n  id: a\n  title: T\n  wrong_turns:\n    - tried: Retrying in a loop\n    - tried: A cache in Redis for sessions\n      why_wrong: Evicted\n---\n";
        let first = |prompt: &str| {
            told(text, Some(prompt)).into_iter().find(|line| line.starts_with("rejected"))
        };
        let rejected =
            "rejected | Rejected earlier | A cache in Redis for sessions — wrong because: Evicted";
        assert_eq!(first("Could we not cache sessions?").as_deref(), Some(rejected));
        assert_eq!(first("What about redis caching").as_deref(), Some(rejected));
        assert_eq!(first("Fix the typo in the footer"), None);
        assert_eq!(told(text, None).iter().filter(|one| one.contains("wrong-turn")).count(), 2);
    }

    #[test]
    fn a_disproved_assumption_is_told_as_such() {
        let text = "---\nhandoff:\n  id: a\n  title: T\n  assumptions:\n    - assumption: Disks are fast\n      validated: failed\n    - assumption: Nobody waits\n    - assumption: Known\n      validated: true\n---\n";
        let told = told(text, None);
        assert_eq!(
            told[1..],
            [
                "wrong-turn | Assumption, disproved | Disks are fast",
                "rest | Assumption, not validated | Nobody waits"
            ]
        );
    }
}
